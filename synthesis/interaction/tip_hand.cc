#include "synthesis/interaction/tip_hand.h"

#include <algorithm>

#include "database/base/check.h"
#include "database/model/kinematics.h"

namespace handhold::synthesis {

using Eigen::VectorXd;
using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

namespace {

struct RestAngle {
  std::string_view dof;
  double rad;
};
// A natural grip, ours: the fingers that shall touch bent towards the opposed thumb, the others
// nearly straight and out of the way.
constexpr RestAngle kThumb[] = {{"thumb.cmc.flex", 0.3},
                                {"thumb.cmc.abd", 0.05},
                                {"thumb.mcp.flex", 0.45},
                                {"thumb.ip.flex", 0.3}};
constexpr RestAngle kBent[] = {{"mcp.flex", 0.8}, {"pip.flex", 0.85}, {"dip.flex", 0.4}};
constexpr RestAngle kAway[] = {{"mcp.flex", 0.1}, {"pip.flex", 0.2}, {"dip.flex", 0.1}};
constexpr std::string_view kFingers[] = {"index", "middle", "ring", "little"};

}  // namespace

Result<TipHand::Tip> TipHand::FindTip(const model::Skeleton& skeleton, const std::string& name) {
  const int frame = skeleton.FindFrame(name);
  if (frame >= 0) {
    const model::NamedFrame& f = skeleton.frames()[static_cast<size_t>(frame)];
    for (const model::BodyShape& shape : skeleton.body(f.body).shapes) {
      if (const auto* capsule = std::get_if<geometry::Capsule>(&shape.shape))
        return Tip{{name, f.body, f.X_BF.p, Vec3::Zero()}, capsule->radius_m};
    }
  }
  return Error{ErrorCode::kInvalid, "skeleton '" + skeleton.name() + "' has no frame '" + name +
                                        "' in a capsule: a scripted hand needs it"};
}

Result<TipHand> TipHand::Make(const model::Skeleton& skeleton,
                              std::span<const std::string_view> fingers, const IkOptions& options) {
  CHECK_GE(fingers.size(), 3u);
  if (skeleton.body_count() < 2 || skeleton.body(1).joint.type != model::JointType::kFree) {
    return Error{ErrorCode::kInvalid, "skeleton '" + skeleton.name() +
                                          "' has no free root: a scripted hand moves by it"};
  }
  TipHand hand(skeleton, options);
  for (const std::string_view finger : fingers) {
    HANDHOLD_ASSIGN(Tip tip, FindTip(skeleton, std::string(finger) + ".tip"));
    hand.tips_.push_back(std::move(tip));
  }
  return hand;
}

VectorXd TipHand::Natural() const {
  VectorXd v = VectorXd::Zero(skeleton_->nv());
  const auto set = [&](std::string_view finger, std::string_view dof, double rad) {
    const std::string tail =
        finger.empty() ? std::string(dof) : std::string(finger) + "." + std::string(dof);
    for (int d = 0; d < skeleton_->nv(); ++d)
      if (skeleton_->dof_names()[static_cast<size_t>(d)].ends_with(tail)) v[d] = rad;
  };
  for (const RestAngle& angle : kThumb) set("", angle.dof, angle.rad);
  for (const std::string_view finger : kFingers) {
    const bool touches = std::any_of(tips_.begin(), tips_.end(), [&](const Tip& tip) {
      return tip.goal.name.starts_with(finger);
    });
    for (const RestAngle& angle : touches ? kBent : kAway) set(finger, angle.dof, angle.rad);
  }
  return skeleton_->Integrate(skeleton_->ZeroConfiguration(), v);
}

std::vector<FingertipGoal> TipHand::Goals(const Places& places) const {
  const std::vector<Vec3> p_W = places(across_W_);
  CHECK_EQ(p_W.size(), tips_.size());
  std::vector<FingertipGoal> goals;
  for (size_t i = 0; i < tips_.size(); ++i) {
    goals.push_back(tips_[i].goal);
    goals.back().p_W = p_W[i];
  }
  return goals;
}

Status TipHand::Place(const Vec3& p_W, const Vec3& axis_W, const Places& touch) {
  VectorXd q = Natural();
  model::KinematicsData data(*skeleton_);
  model::ComputePoses<double>(*skeleton_, q, &data);
  const auto tip = [&](size_t i) -> Vec3 {
    return data.X_WB[static_cast<size_t>(tips_[i].goal.body)] * tips_[i].goal.p_B;
  };
  Vec3 fingers = Vec3::Zero();
  for (size_t i = 1; i < tips_.size(); ++i) fingers += tip(i);
  fingers /= static_cast<double>(tips_.size() - 1);
  const Vec3 middle = 0.5 * (fingers + tip(0));
  const Vec3 axis = (tip(0) - fingers).normalized();
  const RigidTransform X_WH = data.X_WB[1];
  Vec3 down = middle - X_WH.p;
  down = (down - down.dot(axis) * axis).normalized();
  Mat3 hand, world;
  hand << axis, down, axis.cross(down);
  const Vec3 down_W(0, 0, -1);
  world << axis_W, down_W, axis_W.cross(down_W);
  const Mat3 R = world * hand.transpose();
  across_W_ = R * (tip(1) - tip(tips_.size() - 1));
  across_W_ =
      (across_W_ - across_W_.dot(axis_W) * axis_W - across_W_.dot(down_W) * down_W).normalized();
  // The root joint's own pose: X_WH = X_WJ X_q X_JH.
  const RigidTransform X_WH_placed{R * X_WH.R, p_W + R * (X_WH.p - middle)};
  const model::Joint& root = skeleton_->body(1).joint;
  const RigidTransform X_q = root.X_PJp.Inverse() * X_WH_placed * root.X_BJc;
  const int at = skeleton_->q_index(1);
  q.segment<3>(at) = X_q.p;
  const Eigen::Quaterniond turn(X_q.R);
  q.segment<4>(at + 3) << turn.w(), turn.x(), turn.y(), turn.z();
  const VectorXd q_seed = q;
  HANDHOLD_TRY(ReachFingertips(*skeleton_, Goals(touch), q_seed, {}, options_, &q));
  q_rest_ = q;
  root_locked_.assign(static_cast<size_t>(skeleton_->nv()), 0);
  for (int i = 0; i < 6; ++i) root_locked_[static_cast<size_t>(skeleton_->v_index(1) + i)] = 1;
  return {};
}

Result<VectorXd> TipHand::Reach(const Places& places, const VectorXd& begin) const {
  VectorXd q = begin;
  HANDHOLD_TRY(ReachFingertips(*skeleton_, Goals(places), q_rest_, root_locked_, options_, &q));
  return q;
}

VectorXd TipHand::Lifted(VectorXd q, double height_m) const {
  const RigidTransform& X_WJ = skeleton_->body(1).joint.X_PJp;
  q.segment<3>(skeleton_->q_index(1)) += X_WJ.R.transpose() * Vec3(0, 0, height_m);
  return q;
}

}  // namespace handhold::synthesis
