/// Ranges so narrow that they are information: a DIP joint that turns by 5 degrees about its own
/// bone is known to 3 degrees before any marker is seen.
///
/// A range counts when it is at most kNarrowRange_rad wide; it then weighs like a measurement of
/// its middle with the sd of an even distribution over it, width / sqrt(12): in a pose by itself;
/// in the fit of a hand once for the whole take, since its frames are one motion and no independent
/// draws. Wider ranges decide nothing: they only bound (residual/limit_residual.h). Internal to the
/// skeleton and pose fits. Test: tests/fitting/skeleton/joint_range_test.cc.
#pragma once

#include <Eigen/Core>

#include "database/model/skeleton.h"

namespace handhold::fitting {

inline constexpr double kNarrowRange_rad = 0.36;  ///< 20 degrees and a little

class NarrowRanges {
 public:
  explicit NarrowRanges(const model::Skeleton& skeleton);

  bool any() const { return any_; }
  bool narrow(int velocity) const { return weight_[velocity] > 0; }
  /// 1 / sd, rad^-1; 0 where the range is not narrow.
  const Eigen::VectorXd& weight() const { return weight_; }
  /// `q` with its narrow coordinates in the middle of their ranges, the others as they are; of a
  /// ball joint by twist and swing (model::SwingTwist).
  Eigen::VectorXd Middle(const model::Skeleton& skeleton, const Eigen::VectorXd& q) const;

 private:
  bool any_ = false;
  Eigen::VectorXd weight_, middle_;
};

}  // namespace handhold::fitting
