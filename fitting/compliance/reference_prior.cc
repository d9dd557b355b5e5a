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
  Eigen::VectorXd inverse = Eigen::VectorXd::Zero(terms);
  for (const WindowFit& f : fits) {
    if (f.speed < median) continue;
    ++prior.windows;
    prior.variance += f.coefficient.cwiseAbs2();
    inverse += f.inverse_diagonal;
  }
  prior.variance /= prior.windows;
  inverse /= prior.windows;
  for (int j = 0; j < skeleton.nv(); ++j) {
    const double noise = 1.0 / pose.information_diagonal.row(j).array().max(1e-12).mean();
    for (Eigen::Index k = 0; k < terms; ++k) {
      const double whole = prior.variance(j, k);
      prior.variance(j, k) = std::max({whole - noise * inverse[k], 0.2 * whole, 1e-14});
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
