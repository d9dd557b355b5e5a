#include "fitting/compliance/reference_prior.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "fitting/signal/polynomial.h"

namespace handhold::fitting {
namespace {

/// Of the variance, per degree, where it is continued: the references of touching strokes fall off
/// by 0.2-0.6 from degree 4 up.
constexpr double kSlowestFall = 0.3;
/// Of the joints' correlation, towards none: how far free strokes speak for touching ones.
constexpr double kShrinkage = 0.1;
/// The degrees whose coefficients stand out of the noise in all joints.
constexpr Eigen::Index kToldDegrees[] = {3, 4};

struct WindowFit {
  Timestamp stretch;            ///< where the one it lies in begins
  Eigen::MatrixXd coefficient;  ///< nv x terms
  double speed = 0.0;
  Eigen::VectorXd inverse_diagonal;  ///< of the normal matrix, per degree
  Eigen::MatrixXd noise;             ///< covariance of what the polynomial leaves, rad^2
};

/// How joints bend together, from the faster windows' coefficients less what noise makes of them.
Eigen::MatrixXd Correlation(const std::vector<WindowFit>& fits, double median_speed) {
  const Eigen::Index nv = fits.front().noise.rows(), terms = fits.front().coefficient.cols();
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(nv, nv);
  for (const Eigen::Index k : kToldDegrees) {
    if (k >= terms) continue;
    Eigen::MatrixXd of_degree = Eigen::MatrixXd::Zero(nv, nv);
    for (const WindowFit& f : fits) {
      if (f.speed < median_speed) continue;
      of_degree +=
          f.coefficient.col(k) * f.coefficient.col(k).transpose() - f.noise * f.inverse_diagonal[k];
    }
    const Eigen::VectorXd scale = of_degree.diagonal().cwiseMax(1e-12).cwiseSqrt().cwiseInverse();
    sum += scale.asDiagonal() * of_degree * scale.asDiagonal();
  }
  // The difference of two covariances need not be one.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(sum);
  const Eigen::MatrixXd positive = eigen.eigenvectors() *
                                   eigen.eigenvalues().cwiseMax(0.0).asDiagonal() *
                                   eigen.eigenvectors().transpose();
  const Eigen::VectorXd scale = positive.diagonal().cwiseMax(1e-12).cwiseSqrt().cwiseInverse();
  Eigen::MatrixXd correlation =
      (1 - kShrinkage) * (scale.asDiagonal() * positive * scale.asDiagonal());
  correlation.diagonal().setOnes();
  return correlation;
}

}  // namespace

Result<ReferencePrior> LearnReferencePrior(const model::Skeleton& skeleton,
                                           const artefact::PoseTrack& pose,
                                           const std::vector<TimeRange>& free, Duration window,
                                           int degree, Stretches kind) {
  const Eigen::Index terms = degree + 1;
  std::vector<WindowFit> fits;
  for (const TimeRange& stretch : free) {
    for (Timestamp begin = stretch.begin; begin + window <= stretch.end; begin += window / 4) {
      const auto first =
          std::lower_bound(pose.times.begin(), pose.times.end(), begin) - pose.times.begin();
      const auto last = std::lower_bound(pose.times.begin(), pose.times.end(), begin + window) -
                        pose.times.begin();
      const Eigen::Index count = last - first;
      if (count < 3 * terms) continue;
      if (pose.times[static_cast<size_t>(last - 1)] - pose.times[static_cast<size_t>(first)] <
          window * 9 / 10)
        continue;
      if ((pose.information_diagonal.middleCols(first, count).array() <= 0).any()) continue;
      Eigen::MatrixXd a(count, terms), y(count, skeleton.nv());
      const Eigen::VectorXd middle = pose.q.col(first + count / 2);
      for (Eigen::Index k = 0; k < count; ++k) {
        const double x =
            2 * (pose.times[static_cast<size_t>(first + k)] - begin).seconds() / window.seconds() -
            1;
        a.row(k) = LegendreBasis(x, degree).transpose();
        y.row(k) = skeleton.Difference(middle, pose.q.col(first + k)).transpose();
      }
      const Eigen::LDLT<Eigen::MatrixXd> normal((a.transpose() * a).eval());
      WindowFit fit;
      fit.stretch = stretch.begin;
      fit.coefficient = normal.solve(a.transpose() * y).transpose();
      fit.inverse_diagonal = normal.solve(Eigen::MatrixXd::Identity(terms, terms)).diagonal();
      const Eigen::MatrixXd left = y - a * fit.coefficient.transpose();
      fit.noise = left.transpose() * left / static_cast<double>(count - terms);
      fit.speed =
          (y.bottomRows(1) - y.topRows(1)).norm() + fit.coefficient.rightCols(terms - 1).norm();
      fits.push_back(std::move(fit));
    }
  }
  if (fits.size() < 20) {
    return Error{ErrorCode::kUnidentifiable,
                 "only " + std::to_string(fits.size()) +
                     " windows of free movement: how free movement bends is missing; record a "
                     "dozen strokes in the air"};
  }
  std::vector<double> speeds;
  for (const WindowFit& f : fits) speeds.push_back(f.speed);
  std::nth_element(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2),
                   speeds.end());
  const double median = speeds[speeds.size() / 2];
  ReferencePrior prior;
  std::set<Timestamp> stretches;
  prior.window = window;
  prior.variance.setZero(skeleton.nv(), terms);
  // The noise of an angle is what the polynomials leave, not 1 / its information: that of the end
  // joints is several times larger, since markers tell only sums of angles well.
  Eigen::MatrixXd noise = Eigen::MatrixXd::Zero(skeleton.nv(), terms);
  for (const WindowFit& f : fits) {
    if (f.speed < median) continue;
    ++prior.windows;
    stretches.insert(f.stretch);
    prior.variance += f.coefficient.cwiseAbs2();
    noise += f.noise.diagonal() * f.inverse_diagonal.transpose();
  }
  prior.variance /= prior.windows;
  noise /= prior.windows;
  // Windows overlap fourfold, so that a hundred of them know a variance to about 30 % of its noise.
  // Terms below that are not read off but continued: the coefficients of a smooth movement fall off
  // with their degree, first fast (the path), then slower (how sharply it turns). The pace of the
  // last two that stand out is the fast one: taken on it would make the highest terms ten times too
  // small.
  for (int j = 0; j < skeleton.nv(); ++j) {
    double pace = 0.5;
    bool told = true;
    for (Eigen::Index k = 0; k < terms; ++k) {
      const double left = prior.variance(j, k) - noise(j, k), bound = 0.3 * noise(j, k);
      told = told && (k < 2 || left > bound);
      if (told) {
        if (k > 2) pace = std::clamp(left / prior.variance(j, k - 1), kSlowestFall, 0.5);
        prior.variance(j, k) = std::max(left, bound);
      } else {
        prior.variance(j, k) = std::clamp(pace * prior.variance(j, k - 1), 1e-12, bound);
      }
    }
  }
  prior.correlation = Correlation(fits, median);
  prior.source = std::to_string(prior.windows) + " windows of free movement";
  if (kind == Stretches::kStrokes) {
    prior.strokes_in_the_air = static_cast<int>(stretches.size());
    prior.source += " (" + std::to_string(stretches.size()) + " strokes in the air)";
  }
  return prior;
}

std::vector<TimeRange> StrokesInTheAir(const recording::ClipSource& clip,
                                       const artefact::ContactTrack& contact) {
  std::vector<TimeRange> strokes;
  for (const recording::Event& e : clip.events()) {
    const TimeRange stroke{e.clip_time, e.clip_time + e.length};
    const bool touched = std::any_of(
        contact.touches.begin(), contact.touches.end(), [&](const artefact::Touch& touch) {
          return touch.onset < stroke.end && touch.release > stroke.begin;
        });
    if (e.kind == "stroke" && !touched) strokes.push_back(stroke);
  }
  return strokes;
}

Result<ReferencePrior> ReferencePriorOfTake(const recording::ClipSource& clip,
                                            const model::Skeleton& skeleton,
                                            const artefact::PoseTrack& pose,
                                            const artefact::ContactTrack& contact, Duration window,
                                            int degree) {
  // A range of motion bends far more than a stroke and would teach a prior that says little.
  if (auto prior = LearnReferencePrior(skeleton, pose, StrokesInTheAir(clip, contact), window,
                                       degree, Stretches::kStrokes))
    return prior;
  std::vector<TimeRange> busy;
  for (const artefact::Touch& p : contact.touches) busy.push_back({p.onset, p.release});
  const TimeRange all{pose.times.front(), pose.times.back()};
  return LearnReferencePrior(skeleton, pose, FreeStretches(all, busy, Duration::Milliseconds(120)),
                             window, degree);
}

std::vector<TimeRange> FreeStretches(TimeRange range, std::vector<TimeRange> busy,
                                     Duration margin) {
  std::sort(busy.begin(), busy.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  std::vector<TimeRange> free;
  Timestamp at = range.begin;
  for (const TimeRange& b : busy) {
    if (b.begin - margin > at) free.push_back({at, std::min(b.begin - margin, range.end)});
    at = std::max(at, b.end + margin);
    if (at >= range.end) break;
  }
  if (at < range.end) free.push_back({at, range.end});
  return free;
}

}  // namespace handhold::fitting
