/// Nearest stored hand shapes: every shape of every take in one block of memory, scanned whole.
///
/// Exact: no approximation, no tree (in 21 dimensions a scan is as fast and simpler). The distance
/// is the root mean square over the coordinates, rad. Pinned by
/// tests/fitting/grasp_space/pose_index_test.cc; speed: mark `search.like` (100,000 shapes).
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "database/base/time.h"

namespace handhold::fitting {

struct LikePose {
  int take = 0;   ///< as added
  int frame = 0;  ///< column of that take
  Timestamp time;
  double rms_rad = 0.0;
};

struct LikeOptions {
  int limit = 10;
  /// Of one take, answers lie so far apart at least: else neighbours of one frame fill the list.
  Duration apart = Duration::Milliseconds(250);
  int own_take = -1;  ///< and so far from `own_time` in this take: the shape asked about
  Timestamp own_time = {};
};

class PoseIndex {
 public:
  explicit PoseIndex(Eigen::Index dofs) : dofs_(dofs) {}
  /// Columns are shapes; answers the take's number, 0, 1, ... Precondition: dofs rows, a time each.
  int Add(const Eigen::MatrixXd& shapes_v, std::span<const Timestamp> times);
  size_t size() const { return where_.size(); }
  /// By rising distance, equals in the order added.
  std::vector<LikePose> Nearest(const Eigen::VectorXd& shape_v,
                                const LikeOptions& options = {}) const;

 private:
  struct Where {
    int take, frame;
    Timestamp time;
  };
  Eigen::Index dofs_;
  std::vector<double> shapes_;  ///< shape after shape
  std::vector<Where> where_;
  int takes_ = 0;
};

}  // namespace handhold::fitting
