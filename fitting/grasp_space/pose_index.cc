#include "fitting/grasp_space/pose_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "database/base/check.h"

namespace handhold::fitting {

int PoseIndex::Add(const Eigen::MatrixXd& shapes_v, std::span<const Timestamp> times) {
  CHECK_EQ(shapes_v.rows(), dofs_);
  CHECK_EQ(static_cast<size_t>(shapes_v.cols()), times.size());
  shapes_.insert(shapes_.end(), shapes_v.data(), shapes_v.data() + shapes_v.size());
  for (size_t i = 0; i < times.size(); ++i)
    where_.push_back({takes_, static_cast<int>(i), times[i]});
  return takes_++;
}

std::vector<LikePose> PoseIndex::Nearest(const Eigen::VectorXd& shape_v,
                                         const LikeOptions& options) const {
  CHECK_EQ(shape_v.size(), dofs_);
  std::vector<double> squared(where_.size());
  for (size_t i = 0; i < where_.size(); ++i) {
    const Eigen::Map<const Eigen::VectorXd> one(shapes_.data() + i * static_cast<size_t>(dofs_),
                                                dofs_);
    squared[i] = (one - shape_v).squaredNorm();
  }
  std::vector<LikePose> found;
  const auto near = [&](const Where& w, int take, Timestamp time) {
    const Duration apart = w.time < time ? time - w.time : w.time - time;
    return w.take == take && apart < options.apart;
  };
  // The next nearest again and again: few are asked for, many may have to be passed over.
  std::vector<size_t> order(where_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto less = [&](size_t a, size_t b) {
    return squared[a] != squared[b] ? squared[a] < squared[b] : a < b;
  };
  size_t sorted = 0;
  for (size_t i = 0; i < order.size() && static_cast<int>(found.size()) < options.limit; ++i) {
    if (i == sorted) {
      const size_t to = std::min(order.size(), std::max<size_t>(256, 4 * sorted));
      std::nth_element(order.begin() + static_cast<std::ptrdiff_t>(sorted),
                       order.begin() + static_cast<std::ptrdiff_t>(to - 1), order.end(), less);
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(sorted),
                order.begin() + static_cast<std::ptrdiff_t>(to), less);
      sorted = to;
    }
    const Where& w = where_[order[i]];
    if (options.own_take >= 0 && near(w, options.own_take, options.own_time)) continue;
    if (std::ranges::any_of(found, [&](const LikePose& f) { return near(w, f.take, f.time); }))
      continue;
    found.push_back(
        {w.take, w.frame, w.time, std::sqrt(squared[order[i]] / static_cast<double>(dofs_))});
  }
  return found;
}

}  // namespace handhold::fitting
