#include "synthesis/interaction/scripted_reference.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "tests/support/chain_hands.h"

namespace handhold::synthesis::scripted_reference_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using ::testing::HasSubstr;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

PinchPlace Place() {
  return {.p_W = Vec3(0.3, 0.1, 0.05), .axis_W = Vec3(0.6, 0.8, 0), .width_m = 0.03};
}

Vec3 TipAt(const Eigen::VectorXd& q, const char* name) {
  model::KinematicsData data(Hand());
  model::ComputePoses<double>(Hand(), q, &data);
  return model::FramePose<double>(Hand(), data, Hand().FindFrame(name)).p;
}

Eigen::Index FrameAt(const PinchOptions& options, double t_s) {
  return static_cast<Eigen::Index>(std::llround(t_s / options.frame_s));
}

// Distance of a tip's skin to its face, outwards; the thumb's face is the one along +axis.
double Gap(const Eigen::VectorXd& q, const char* name, double radius_m, double lift_m = 0) {
  const Vec3 from_middle = TipAt(q, name) - Place().p_W - Vec3(0, 0, lift_m);
  const double side = std::string(name) == "thumb.tip" ? 1.0 : -1.0;
  return side * from_middle.dot(Place().axis_W) - 0.5 * Place().width_m - radius_m;
}

TEST(ScriptedReference, TipsAreWhereTheProgramWantsThem) {
  const PinchOptions o;
  const auto reference = PinchReference(Hand(), Place(), o);
  ASSERT_TRUE(reference) << reference.error().message;
  const Eigen::MatrixXd& q = reference->q_reference;
  ASSERT_EQ(q.cols(), static_cast<Eigen::Index>(reference->times.size()));
  const TimeRange hold = PinchHold(o);
  const Eigen::Index middle_of_hold =
      FrameAt(o, 0.5 * ((hold.begin - Timestamp()).seconds() + (hold.end - Timestamp()).seconds()));
  constexpr double kReached_m = 1e-5;
  for (const auto& [name, radius_m] :
       {std::pair{"thumb.tip", 0.0095}, {"index.tip", 0.0075}, {"middle.tip", 0.0075}}) {
    EXPECT_NEAR(Gap(q.col(0), name, radius_m), o.clearance_m, kReached_m) << name;
    EXPECT_NEAR(Gap(q.col(q.cols() - 1), name, radius_m), o.clearance_m, kReached_m) << name;
    EXPECT_NEAR(Gap(q.col(middle_of_hold), name, radius_m, o.lift_m), -o.depth_m, kReached_m)
        << name;
    // At half the closing minimum jerk is half done.
    EXPECT_NEAR(Gap(q.col(FrameAt(o, o.wait_s + 0.5 * o.close_s)), name, radius_m),
                0.5 * (o.clearance_m - o.depth_m), kReached_m)
        << name;
    EXPECT_NEAR(TipAt(q.col(middle_of_hold), name).z(), Place().p_W.z() + o.lift_m, kReached_m);
  }
  EXPECT_NEAR((TipAt(q.col(0), "index.tip") - TipAt(q.col(0), "middle.tip")).norm(),
              o.finger_spacing_m, 2 * kReached_m);
  // The wrist comes from above.
  model::KinematicsData data(Hand());
  model::ComputePoses<double>(Hand(), q.col(0), &data);
  EXPECT_GT(data.X_WB[1].p.z(), Place().p_W.z() + 0.08);
}

TEST(ScriptedReference, KeepsJointsWithinTheirLimitsAndMovesSmoothly) {
  const PinchOptions o;
  const auto reference = PinchReference(Hand(), Place(), o);
  ASSERT_TRUE(reference);
  double fastest_rad_per_s = 0;
  for (Eigen::Index k = 0; k < reference->q_reference.cols(); ++k) {
    const Eigen::VectorXd q = reference->q_reference.col(k);
    for (int b = 2; b < Hand().body_count(); ++b) {
      const model::Joint& joint = Hand().body(b).joint;
      for (int i = 0; i < joint.nv(); ++i) {
        EXPECT_GE(q[Hand().q_index(b) + i], joint.lower_rad[i] - 1e-12) << joint.name;
        EXPECT_LE(q[Hand().q_index(b) + i], joint.upper_rad[i] + 1e-12) << joint.name;
      }
    }
    if (k > 0) {
      const Eigen::VectorXd step = Hand().Difference(reference->q_reference.col(k - 1), q);
      fastest_rad_per_s = std::max(fastest_rad_per_s, step.tail(21).cwiseAbs().maxCoeff());
    }
  }
  // 3 cm in 0.6 s by minimum jerk is 94 mm/s at the most; a finger's lever is some 40 mm.
  fastest_rad_per_s /= o.frame_s;
  EXPECT_GT(fastest_rad_per_s, 0.3);
  EXPECT_LT(fastest_rad_per_s, 3.0);
}

TEST(ScriptedReference, SaysWhatIsPlanted) {
  PinchOptions o;
  o.compliance_scale = 0.5;
  const auto reference = PinchReference(Hand(), Place(), o);
  ASSERT_TRUE(reference);
  const auto C = [&](const char* dof) {
    return reference->compliance_rad_per_Nm(Hand().FindDof(dof), 0);
  };
  EXPECT_DOUBLE_EQ(C("R.index.mcp.flex"), 0.5 * 0.988);
  EXPECT_DOUBLE_EQ(C("R.index.mcp.abd"), 0.5 * 0.6);
  EXPECT_DOUBLE_EQ(C("R.thumb.mcp.flex"), 0.5 * 0.6);
  EXPECT_DOUBLE_EQ(C("R.index.dip.flex"), 0.5 * 2.005);
  EXPECT_DOUBLE_EQ(C("R.middle.dip.flex"), 0.5 * 0.67);
  EXPECT_DOUBLE_EQ(C("R.base.rot_x"), 0.5 * 0.35);
  EXPECT_DOUBLE_EQ(C("R.base.lin_z"), 0.5 * 1e-3);
  EXPECT_EQ(reference->assumed, std::vector<char>(27, 1));
  EXPECT_EQ(reference->time_constant_s.minCoeff(), 0.014);
  EXPECT_EQ(reference->dof_names, Hand().dof_names());
  EXPECT_EQ(reference->q_reference, reference->q_reference_dynamic);
}

TEST(ScriptedReference, SameInputSameBits) {
  const auto a = PinchReference(Hand(), Place(), {}), b = PinchReference(Hand(), Place(), {});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*text::WriteJson(artefact::ToJson(*a)), *text::WriteJson(artefact::ToJson(*b)));
}

TEST(ScriptedReference, RefusesWhatItCannotDo) {
  PinchPlace wide = Place();
  wide.width_m = 0.25;
  const auto unreachable = PinchReference(Hand(), wide, {});
  ASSERT_FALSE(unreachable);
  EXPECT_EQ(unreachable.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(unreachable.error().message, HasSubstr(".tip by "));
  PinchPlace tilted = Place();
  tilted.axis_W = Vec3(0, 0.6, 0.8);
  EXPECT_EQ(PinchReference(Hand(), tilted, {}).error().code, ErrorCode::kInvalid);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(PinchReference(Hand(), Place(), {.depth_m = nan}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(PinchReference(Hand(), Place(), {.close_s = 0.0}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(PinchReference(Hand(), Place(), {.frame_s = 1e-9}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(PinchReference(testing::ChainHand({0.08, 0.06}, 0.006), Place(), {}).error().code,
            ErrorCode::kInvalid);
}

TEST(FingertipIk, LockedJointsStayAndTheRestTakesOver) {
  const Eigen::VectorXd zero = Hand().ZeroConfiguration();
  const int frame = Hand().FindFrame("index.tip");
  const model::NamedFrame& tip = Hand().frames()[static_cast<size_t>(frame)];
  std::vector<char> locked(27, 0);
  for (int d = 0; d < 6; ++d) locked[static_cast<size_t>(d)] = 1;
  const int dip = Hand().FindDof("R.index.dip.flex");
  locked[static_cast<size_t>(dip)] = 1;
  const Vec3 there = TipAt(zero, "index.tip") + Vec3(-0.03, 0, -0.04);
  const FingertipGoal goal{"index.tip", tip.body, tip.X_BF.p, there};
  Eigen::VectorXd q = zero;
  ASSERT_TRUE(ReachFingertips(Hand(), {&goal, 1}, zero, locked, {}, &q));
  EXPECT_LE((TipAt(q, "index.tip") - there).norm(), 1e-6);
  const Eigen::VectorXd moved = Hand().Difference(zero, q);
  EXPECT_EQ(moved.head(6).norm(), 0.0);
  EXPECT_EQ(moved[dip], 0.0);
  EXPECT_GT(moved[Hand().FindDof("R.index.pip.flex")], 0.1);
  // Fingers that have nothing to reach stay at rest.
  EXPECT_EQ(moved[Hand().FindDof("R.ring.mcp.flex")], 0.0);
}

TEST(PinchAcrossTest, TakesTheShorterHorizontalExtent) {
  const model::Prop box = *model::LoadLibraryProp("box_3x5x7");
  const Vec3 at(0.2, 0.1, 0.035);
  const auto upright = PinchAcross(box, RigidTransform::Translation(at), 0.02);
  ASSERT_TRUE(upright);
  EXPECT_NEAR(upright->width_m, 0.03, 1e-12);
  EXPECT_NEAR(std::abs(upright->axis_W.x()), 1.0, 1e-12);
  EXPECT_NEAR((upright->p_W - at - Vec3(0, 0, 0.02)).norm(), 0.0, 1e-12);
  // Lying on its 3 x 7 side's neighbour: z is the 3 cm, so 5 cm is what is left to pinch.
  const auto lying =
      PinchAcross(box, {geometry::Exp(Vec3(0, M_PI / 2, 0)), Vec3(0.2, 0.1, 0.015)}, 0.0);
  ASSERT_TRUE(lying);
  EXPECT_NEAR(lying->width_m, 0.05, 1e-12);
  EXPECT_NEAR(std::abs(lying->axis_W.y()), 1.0, 1e-12);
  EXPECT_EQ(PinchAcross(model::Prop{}, {}, 0.0).error().code, ErrorCode::kInvalid);
}

// A light bulb: 3 cm below its top is the middle of its glass.
TEST(PinchBetweenFacesTest, MeasuresTheSurfaceWhereItIsUpright) {
  const model::Prop bulb = *model::LoadLibraryProp("light_bulb");
  const auto glass = PinchBetweenFaces(bulb, RigidTransform::Translation(Vec3(0.2, 0.1, 0.078)));
  ASSERT_TRUE(glass) << glass.error().message;
  EXPECT_NEAR(glass->width_m, 0.06, 1e-3);
  EXPECT_NEAR(glass->p_W.z(), 0.078, 1e-9);
  EXPECT_NEAR((glass->p_W.head<2>() - Eigen::Vector2d(0.2, 0.1)).norm(), 0.0, 1e-4);
  const model::Prop box = *model::LoadLibraryProp("box_3x5x7");
  const auto upright = PinchBetweenFaces(box, RigidTransform::Translation(Vec3(0.2, 0.1, 0.035)));
  ASSERT_TRUE(upright);
  EXPECT_NEAR(upright->width_m, 0.03, 1e-4);
  EXPECT_NEAR(upright->p_W.z(), 0.04, 1e-9);
  EXPECT_EQ(PinchBetweenFaces(*model::LoadLibraryProp("flat_plate"), {}).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace handhold::synthesis::scripted_reference_test
