/// A hand that is moved by its fingertips: where the wrist goes for what they shall reach, and the
/// joint angles for every place of theirs. What scripted references are made with; internal to
/// synthesis/interaction.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "database/base/minimum_jerk.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "synthesis/interaction/fingertip_ik.h"

namespace handhold::synthesis {

class TipHand {
 public:
  /// Places of the tips in the world, in order of the fingers, given the direction from the last to
  /// the first finger beside the thumb (unit, horizontal).
  using Places = std::function<std::vector<geometry::Vec3>(const geometry::Vec3& across_W)>;

  /// `fingers`: the thumb first, then at least two others from index to little: "index". Each needs
  /// a frame "index.tip" in the round end of a capsule; the skeleton a free root at the world.
  /// kInvalid names what is missing. `skeleton` must outlive it.
  static Result<TipHand> Make(const model::Skeleton& skeleton,
                              std::span<const std::string_view> fingers, const IkOptions& options);

  /// Turns the hand's natural grip so that fingers-to-thumb goes along `axis_W` (unit, horizontal)
  /// with the wrist above, its middle at p_W. Then, with the root free, `touch` is solved for:
  /// where the wrist ends up is the wrist's place for the whole program, and the posture there what
  /// the fingers stay near.
  Status Place(const geometry::Vec3& p_W, const geometry::Vec3& axis_W, const Places& touch);

  /// Fingers that reach `places`, the wrist where Place put it. kInvalid names the tips that miss.
  Result<Eigen::VectorXd> Reach(const Places& places, const Eigen::VectorXd& begin) const;
  /// The same posture that much higher.
  Eigen::VectorXd Lifted(Eigen::VectorXd q, double height_m) const;

  const Eigen::VectorXd& rest() const { return q_rest_; }
  double radius_m(size_t finger) const { return tips_[finger].radius_m; }
  size_t size() const { return tips_.size(); }

 private:
  struct Tip {
    FingertipGoal goal;
    double radius_m = 0.0;
  };
  TipHand(const model::Skeleton& skeleton, const IkOptions& options)
      : skeleton_(&skeleton), options_(options) {}
  static Result<Tip> FindTip(const model::Skeleton& skeleton, const std::string& name);
  Eigen::VectorXd Natural() const;
  std::vector<FingertipGoal> Goals(const Places& places) const;

  const model::Skeleton* skeleton_;
  IkOptions options_;
  std::vector<Tip> tips_;
  geometry::Vec3 across_W_ = geometry::Vec3::UnitY();
  Eigen::VectorXd q_rest_;
  std::vector<char> root_locked_;
};

}  // namespace handhold::synthesis
