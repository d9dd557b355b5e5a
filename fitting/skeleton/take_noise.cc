#include "fitting/skeleton/take_noise.h"

#include <algorithm>
#include <cmath>

namespace handhold::fitting {
namespace {

constexpr double kLeast_m = 1e-9, kRatio = 1.1;
constexpr double kQuartile = 0.31864;  // of |x| of a standard normal
constexpr int kEnough = 20;

}  // namespace

void TakeNoise::Add(Timestamp t, const Eigen::Matrix3Xd& p_WM) {
  const auto count = static_cast<size_t>(p_WM.cols());
  if (markers_.size() != count) markers_.assign(count, Histogram{}), run_ = 0;
  const Duration step = t - last_;
  // In a row: steps alike within a fifth.
  if (run_ > 1 && ((step - step_) * 5 > step_ || (step_ - step) * 5 > step_)) run_ = 0;
  step_ = step;
  last_ = t;
  if (run_ >= 3) {
    const Eigen::Matrix3Xd d = before_[0] - 3 * before_[1] + 3 * before_[2] - p_WM;
    for (Eigen::Index m = 0; m < d.cols(); ++m) {
      for (const double x : d.col(m)) {
        if (!std::isfinite(x)) continue;
        const double bin = std::log(std::max(std::abs(x) / kLeast_m, 1.0)) / std::log(kRatio);
        ++markers_[static_cast<size_t>(m)]
                  [static_cast<size_t>(std::min(bin, static_cast<double>(kBins - 1)))];
      }
    }
  }
  before_[0].swap(before_[1]);
  before_[1].swap(before_[2]);
  before_[2] = p_WM;
  ++run_;
}

double TakeNoise::LowerQuartileSd(const Histogram& h) {
  int total = 0;
  for (const int n : h) total += n;
  if (total < kEnough) return 0.0;
  int below = 0;
  for (int i = 0; i < kBins; ++i) {
    const int n = h[static_cast<size_t>(i)];
    if (4 * (below + n) >= total) {
      const double within = n > 0 ? (0.25 * total - below) / n : 0.0;
      return kLeast_m * std::pow(kRatio, i + within) / kQuartile / std::sqrt(20.0);
    }
    below += n;
  }
  return 0.0;
}

double TakeNoise::sd_m() const {
  Histogram all{};
  for (const Histogram& h : markers_) {
    for (size_t i = 0; i < all.size(); ++i) all[i] += h[i];
  }
  return LowerQuartileSd(all);
}

double TakeNoise::sd_m(int marker) const {
  return LowerQuartileSd(markers_[static_cast<size_t>(marker)]);
}

}  // namespace handhold::fitting
