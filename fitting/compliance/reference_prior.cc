#include "fitting/compliance/reference_prior.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Cholesky>

#include "fitting/signal/polynomial.h"

namespace handhold::fitting {
namespace {

struct WindowFit {
  Eigen::MatrixXd coefficient;  ///< nv x terms
  double speed = 0.0;
  Eigen::VectorXd inverse_diagonal;  ///< of the normal matrix, per degree
  Eigen::VectorXd noise;  ///< per velocity: variance of what the polynomial leaves, rad^2
};

}  // namespace

Result<ReferencePrior> LearnReferencePrior(const model::Skeleton& skeleton,
                                           const artefact::PoseTrack& pose,
                                           const std::vector<TimeRange>& free, Duration window,
                                           int degree) {
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
      fit.coefficient = normal.solve(a.transpose() * y).transpose();
      fit.inverse_diagonal = normal.solve(Eigen::MatrixXd::Identity(terms, terms)).diagonal();
      fit.noise = (y - a * fit.coefficient.transpose()).colwise().squaredNorm().transpose() /
                  static_cast<double>(count - terms);
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
  prior.window = window;
  prior.variance.setZero(skeleton.nv(), terms);
  // The noise of an angle is what the polynomials leave, not 1 / its information: that of the end
  // joints is several times larger, since markers tell only sums of angles well.
  Eigen::MatrixXd noise = Eigen::MatrixXd::Zero(skeleton.nv(), terms);
  for (const WindowFit& f : fits) {
    if (f.speed < median) continue;
    ++prior.windows;
    prior.variance += f.coefficient.cwiseAbs2();
    noise += f.noise * f.inverse_diagonal.transpose();
  }
  prior.variance /= prior.windows;
  noise /= prior.windows;
  // Windows overlap fourfold, so that a hundred of them know a variance to about 30 % of its noise.
  // Terms below that are not read off but continued: the coefficients of a smooth movement fall off
  // geometrically with their degree, at the pace of the last two that stand out.
  for (int j = 0; j < skeleton.nv(); ++j) {
    double pace = 0.5;
    bool told = true;
    for (Eigen::Index k = 0; k < terms; ++k) {
      const double left = prior.variance(j, k) - noise(j, k), bound = 0.3 * noise(j, k);
      told = told && (k < 2 || left > bound);
      if (told) {
        if (k > 2) pace = std::clamp(left / prior.variance(j, k - 1), 0.05, 0.5);
        prior.variance(j, k) = std::max(left, bound);
      } else {
        prior.variance(j, k) = std::clamp(pace * prior.variance(j, k - 1), 1e-12, bound);
      }
    }
  }
  prior.source = std::to_string(prior.windows) + " windows of free movement";
  return prior;
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
