// Replays of whole scenes: bodies on pivots, several hands, a hand that touches itself, time
// constants per joint. Each against an answer known without the code.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "synthesis/interaction/replay.h"
#include "synthesis/interaction/scripted_reference.h"
#include "tests/support/chain_hands.h"

namespace handhold::synthesis::scene_replay_test {
namespace {

using artefact::Motion;
using artefact::Placed;
using artefact::Stage;
using artefact::StageHand;
using artefact::StageThing;
using geometry::RigidTransform;
using geometry::Vec3;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

model::Prop Solid(const char* name, const geometry::Shape& shape, double mass_kg,
                  const Vec3& inertia) {
  model::Prop prop;
  prop.name = name;
  prop.shapes.push_back({"only", {}, shape, ""});
  prop.mass.mass_kg = mass_kg;
  prop.mass.I_BCom_B = inertia.asDiagonal();
  return prop;
}

model::Prop BoxProp(const char* name, const Vec3& size, double mass_kg) {
  const Vec3 s = size.cwiseAbs2();
  return Solid(name, geometry::Box{size}, mass_kg,
               mass_kg / 12.0 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y()));
}

constexpr StageThing::Is kFree = StageThing::Is::kFree;
StageThing Table() { return artefact::TableAt(Vec3(0.3, 0, 0)); }

ReplayOptions Damped() {
  ReplayOptions options;
  options.form = ReplayForm::kDamped;
  options.margin_m = 4e-3;
  options.step.root_compliance_m_per_N = 0.0;
  return options;
}

// A finger that stays where it is, far from everything, for `seconds`.
artefact::InteractionTrajectory Still(const model::Skeleton& hand, double seconds) {
  artefact::InteractionTrajectory t;
  t.dof_names = hand.dof_names();
  t.times = {Timestamp(), Timestamp::FromSeconds(seconds)};
  t.q = t.q_reference = t.q_reference_dynamic = hand.ZeroConfiguration().replicate(1, 2);
  t.compliance_rad_per_Nm = Eigen::MatrixXd::Constant(hand.nv(), 2, 0.4);
  return t;
}

// I w' = tau - b w: w = tau / b (1 - exp(-b t / I)); by implicit Euler 1 - (1 + h b / I)^-n.
TEST(PivotInAStep, AWheelUnderATorqueReachesTorqueByDamping) {
  const model::Skeleton finger = testing::ChainHand({0.08, 0.06}, 0.006);
  constexpr double kTorque_Nm = 3e-3, kDamping = 2e-3, kInertia = 4e-5, kStep_s = 0.002;
  constexpr int kSteps = 40;  // four time constants of I / b = 20 ms
  InteractionStepper stepper(finger, {.step_s = kStep_s});
  // Off the middle of the body, along its own y: the frame travels on a circle.
  const Vec3 axis_W = Vec3(0.6, 0.0, 0.8), p_W(0.5, 0.2, 0.1);
  MovingBody wheel;
  wheel.mass.mass_kg = 0.05;
  wheel.mass.I_BCom_B = kInertia * geometry::Mat3::Identity();
  wheel.X_WB = {geometry::Exp(Vec3(0.3, -0.2, 0.5)), p_W};
  wheel.w_external_B.head<3>() = wheel.X_WB.R.transpose() * (kTorque_Nm * axis_W);
  stepper.SetPivots({Pivot{p_W, axis_W, kDamping}});
  HandStep hand;
  hand.q = hand.q_reference = hand.q_reference_next = finger.ZeroConfiguration();
  hand.compliance_rad_per_Nm = Eigen::Vector2d(0.4, 0.4);
  double angle_rad = 0;
  for (int k = 1; k <= kSteps; ++k) {
    const RigidTransform before = wheel.X_WB;
    ASSERT_TRUE(stepper.Step(hand, {}, {&wheel, 1}));
    const double discrete =
        kTorque_Nm / kDamping * (1.0 - std::pow(1.0 + kStep_s * kDamping / kInertia, -k));
    const Vec3 omega_W = wheel.X_WB.R * wheel.V_B.head<3>();
    EXPECT_NEAR((omega_W - discrete * axis_W).norm(), 0.0, 1e-9) << k;
    angle_rad += geometry::Log(before.R.transpose() * wheel.X_WB.R).norm();
    EXPECT_NEAR((wheel.X_WB.p - p_W).norm(), 0.0, 1e-12);
  }
  const double t_s = kSteps * kStep_s, tau_s = kInertia / kDamping;
  const double end = kTorque_Nm / kDamping;
  EXPECT_NEAR(angle_rad, end * (t_s - tau_s * (1.0 - std::exp(-t_s / tau_s))), 0.02 * end * t_s);
}

TEST(PivotInAStep, BearingsWithoutAUnitAxisAreRefused) {
  const model::Skeleton finger = testing::ChainHand({0.08, 0.06}, 0.006);
  InteractionStepper stepper(finger, {});
  MovingBody body;
  body.mass.mass_kg = 0.05;
  body.mass.I_BCom_B = 1e-5 * geometry::Mat3::Identity();
  HandStep hand;
  hand.q = hand.q_reference = hand.q_reference_next = finger.ZeroConfiguration();
  hand.compliance_rad_per_Nm = Eigen::Vector2d(0.4, 0.4);
  stepper.SetPivots({Pivot{Vec3::Zero(), Vec3(0, 0, 2), 0.0}});
  EXPECT_EQ(stepper.Step(hand, {}, {&body, 1}).error().code, ErrorCode::kInvalid);
  stepper.SetPivots({Pivot{Vec3::Zero(), Vec3::UnitZ(), -1.0}});
  EXPECT_EQ(stepper.Step(hand, {}, {&body, 1}).error().code, ErrorCode::kInvalid);
}

// A pendulum on a bearing beside its middle: m g l against inertia about the bearing gives the
// period; what it hangs by never moves.
TEST(SceneReplay, APendulumSwingsByItsPeriodAboutAPointThatStands) {
  const model::Skeleton finger = testing::ChainHand({0.08, 0.06}, 0.006);
  const auto still = Still(finger, 2.0);
  Stage scene;
  StageThing rod =
      Placed(BoxProp("rod", Vec3(0.01, 0.01, 0.2), 0.1),
             {geometry::Exp(Vec3(0.1, 0, 0)), Vec3(0.5, 0, 0)}, StageThing::Is::kPivot);
  rod.pivot = {Vec3(0, 0, 0.1), Vec3::UnitX(), 0.0};
  scene.Add(rod);
  ReplayOptions options;
  options.form = ReplayForm::kDamped;
  options.step.step_s = 0.0005;  // implicit Euler damps a swing by its step
  const auto motion = ReplayInteraction(finger, still, scene, options);
  ASSERT_TRUE(motion) << motion.error().message;
  const auto& X_WP = motion->objects[0].X_WP;
  const Vec3 bearing_W = *rod.X_WP * Vec3(0, 0, 0.1);
  std::vector<double> crossings_s;
  for (size_t k = 1; k < X_WP.size(); ++k) {
    EXPECT_NEAR((X_WP[k] * Vec3(0, 0, 0.1) - bearing_W).norm(), 0.0, 1e-12);
    const double before = X_WP[k - 1].R(1, 2), now = X_WP[k].R(1, 2);
    if ((before < 0) != (now < 0))
      crossings_s.push_back((motion->times[k] - Timestamp()).seconds());
  }
  ASSERT_GE(crossings_s.size(), 4u);
  // About the bearing: m L^2 / 3 (and the rod's thickness); arm L / 2.
  const double inertia = 0.1 * (0.04 + 0.0001) / 12 + 0.1 * 0.01;
  const double period_s = 2 * M_PI * std::sqrt(inertia / (0.1 * 9.81 * 0.1));
  EXPECT_NEAR(2 * (crossings_s[3] - crossings_s[0]) / 3, period_s, 0.01 * period_s);
}

TEST(SceneReplay, AnAxisThatIsNoneIsRefused) {
  const model::Skeleton finger = testing::ChainHand({0.08, 0.06}, 0.006);
  Stage scene;
  scene.Add(Placed(BoxProp("rod", Vec3(0.01, 0.01, 0.2), 0.1), {}, StageThing::Is::kPivot));
  scene.things[0].pivot.axis_P = Vec3(0, 0, 0.5);
  const auto motion = ReplayInteraction(finger, Still(finger, 0.1), scene, {});
  ASSERT_FALSE(motion);
  EXPECT_EQ(motion.error().code, ErrorCode::kInvalid);
}

// Things that begin in one another would be thrown apart; those that touch may begin so.
TEST(SceneReplay, ThingsThatBeginInsideOneAnotherAreRefused) {
  const model::Skeleton finger = testing::ChainHand({0.08, 0.06}, 0.006);
  const auto still = Still(finger, 0.1);
  const model::Prop box = BoxProp("box", Vec3(0.05, 0.05, 0.05), 0.1),
                    small = BoxProp("small", Vec3(0.03, 0.03, 0.03), 0.05);
  const auto with = [&](double height_m, double aside_m) {  // 3 m from the finger
    Stage scene;
    scene.Add(artefact::TableAt(Vec3(0, 3, 0)));
    scene.Add(Placed(box, RigidTransform::Translation(Vec3(0, 3, 0.025)), kFree));
    scene.Add(Placed(small, RigidTransform::Translation(Vec3(0, 3 + aside_m, height_m)), kFree));
    return ReplayInteraction(finger, still, scene, Damped());
  };
  const auto beside = with(0.015, 0.05), on_top = with(0.065, 0.0);
  EXPECT_TRUE(beside) << beside.error().message;
  EXPECT_TRUE(on_top) << on_top.error().message;
  const auto too_near = with(0.015, 0.03), in_table = with(0.005, 0.05);  // by 10 mm
  ASSERT_FALSE(too_near);
  EXPECT_EQ(too_near.error().code, ErrorCode::kInvalid);
  ASSERT_FALSE(in_table);
  Stage twice;
  for (int i = 0; i < 2; ++i)
    twice.Add(Placed(box, RigidTransform::Translation(Vec3(0, 3, 0.025)), kFree));
  const auto in_one_place = ReplayInteraction(finger, still, twice, Damped());
  ASSERT_FALSE(in_one_place);
  EXPECT_EQ(in_one_place.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(in_table.error().code, ErrorCode::kInvalid);
}

TEST(SceneReplay, TimeConstantsPerJointAreTheTrajectorysWhereTheyAreEqual) {
  const PinchPlace place{.p_W = Vec3(0.3, 0, 0.06), .width_m = 0.03};
  const PinchOptions program{.hold_s = 0.05};
  const auto reference = PinchReference(Hand(), place, program);
  ASSERT_TRUE(reference);
  Stage scene;
  scene.Add(Table());
  scene.Add(Placed(BoxProp("box", Vec3(0.03, 0.05, 0.07), 0.012),
                   RigidTransform::Translation(Vec3(0.3, 0, 0.035)), kFree));
  StageHand& hand = scene.Add(Following(Hand(), *reference));
  ReplayOptions options = Damped();
  options.range = {Timestamp(), Timestamp::FromSeconds(0.7)};
  const auto with = [&](const Eigen::VectorXd& T_s) {
    hand.time_constant_s = T_s;
    return ReplayInteraction(scene, options).value().hands[0].q;
  };
  const Eigen::MatrixXd one_T = with({}), same_T = with(Eigen::VectorXd::Constant(27, 0.014));
  EXPECT_EQ(one_T, same_T);
  Eigen::VectorXd slow_T = Eigen::VectorXd::Constant(27, 0.014);
  slow_T[Hand().FindDof("R.index.mcp.flex")] = 0.2;
  const Eigen::MatrixXd slow = with(slow_T);
  const int row = Hand().q_index(Hand().FindBody("index.prx"));
  const double bent =
      (one_T.row(row) - reference->q_reference.row(row).leftCols(1).replicate(1, one_T.cols()))
          .cwiseAbs()
          .maxCoeff();
  EXPECT_GT(bent, 0.05);
  EXPECT_GT((slow.row(row) - one_T.row(row)).cwiseAbs().maxCoeff(), 1e-3);
  hand.time_constant_s = Eigen::VectorXd::Constant(3, 0.014);
  EXPECT_EQ(ReplayInteraction(scene, options).error().code, ErrorCode::kInvalid);
}

// Thumb against two fingers with nothing between them: an internal force, which moves no root.
TEST(SceneReplay, APinchOfNothingLeavesTheRootWhereItWas) {
  const PinchPlace place{.p_W = Vec3(0.3, 0, 0.3), .width_m = 0.01};
  PinchOptions program;
  program.depth_m = 0.008;
  program.lift_m = 0.0;
  program.hold_s = 0.5;
  const auto reference = PinchReference(Hand(), place, program);
  ASSERT_TRUE(reference) << reference.error().message;
  Stage stage;
  stage.Add(Following(Hand(), *reference));
  stage.touches_itself = true;
  const auto motion = ReplayInteraction(stage, Damped());
  ASSERT_TRUE(motion) << motion.error().message;
  EXPECT_EQ(UnsolvedSteps(*motion), 0);
  ASSERT_FALSE(motion->touches.empty());
  double peak_N = 0;
  for (const artefact::Touch& touch : motion->touches) {
    EXPECT_TRUE(touch.a.is_hand() && touch.b.is_hand());
    peak_N = std::max(peak_N, touch.peak_force_N);
  }
  EXPECT_GT(peak_N, 0.5);
  double moved_m = 0, turned_rad = 0;
  const Eigen::MatrixXd& q = motion->hands[0].q;
  for (Eigen::Index k = 0; k < q.cols(); ++k) {
    const Eigen::VectorXd off = Hand().Difference(q.col(0), q.col(k));
    moved_m = std::max(moved_m, off.segment<3>(Hand().FindDof("R.base.lin_x")).norm());
    turned_rad = std::max(turned_rad, off.segment<3>(Hand().FindDof("R.base.rot_x")).norm());
  }
  RecordProperty("moved_um", std::to_string(1e6 * moved_m));
  EXPECT_LT(moved_m, 1e-4);
  EXPECT_LT(turned_rad, 1e-3);
  // Without self-contact the fingers pass through each other.
  stage.touches_itself = false;
  EXPECT_TRUE(ReplayInteraction(stage, Damped())->rows.empty());
}

// Two hands lift a long box together; the right lets go in the air and the left carries on.
TEST(SceneReplay, ABoxIsHeldByTwoHandsAndThenByTheSecondAlone) {
  const model::Skeleton left_hand = model::Mirrored(Hand());
  const model::Prop box = BoxProp("beam", Vec3(0.03, 0.16, 0.07), 0.012);
  const RigidTransform X_WBox = RigidTransform::Translation(Vec3(0.3, 0, 0.035));
  PinchOptions program;
  program.hold_s = 0.6;
  const PinchPlace right_place{.p_W = Vec3(0.3, 0.05, 0.06), .width_m = 0.03};
  const PinchPlace left_place{.p_W = Vec3(0.3, -0.05, 0.06), .width_m = 0.03};
  PinchOptions lets_go = program;
  lets_go.opens_in_the_air = true;
  PinchOptions stays = program;
  stays.hold_s = 3.0;
  stays.depth_m = 0.014;
  const auto right = PinchReference(Hand(), right_place, lets_go);
  const auto left = PinchReference(left_hand, left_place, stays);
  ASSERT_TRUE(right && left) << (right ? left : right).error().message;
  Stage scene;
  scene.Add(Table());
  scene.Add(Placed(box, X_WBox, kFree));
  scene.Add(Following(Hand(), *right));
  scene.Add(Following(left_hand, *left));
  ReplayOptions options = Damped();
  options.range = {Timestamp(), PinchHold(stays).end};
  const auto motion = ReplayInteraction(scene, options);
  ASSERT_TRUE(motion) << motion.error().message;
  EXPECT_EQ(UnsolvedSteps(*motion), 0);
  ASSERT_EQ(motion->hands.size(), 2u);
  EXPECT_EQ(motion->hands[0].name, "R");
  EXPECT_EQ(motion->hands[1].name, "L");

  const auto frame = [](Timestamp t) {
    return static_cast<int>(std::llround((t - Timestamp()).seconds() / 0.002));
  };
  const auto carried = [&](int k) {
    Vec3 right_N = Vec3::Zero(), left_N = Vec3::Zero();
    for (const artefact::ContactRow& row : motion->rows) {
      if (row.frame != k) continue;
      const artefact::Touch& touch = motion->touches[static_cast<size_t>(row.touch)];
      EXPECT_EQ(touch.b.name, "beam");
      (touch.a.name == "R" ? right_N : left_N) -= row.f_onA_W;
    }
    return std::pair(right_N, left_N);
  };
  const double weight_N = 9.81 * 0.012;
  const int both = frame(PinchHold(lets_go).end) - 50, alone = frame(PinchHold(stays).end) - 50;
  const auto [right_both, left_both] = carried(both);
  EXPECT_GT(right_both.z(), 0.1 * weight_N);
  EXPECT_GT(left_both.z(), 0.1 * weight_N);
  EXPECT_NEAR((right_both + left_both - Vec3(0, 0, weight_N)).norm(), 0.0, 0.02 * weight_N);
  const auto [right_alone, left_alone] = carried(alone);
  EXPECT_EQ(right_alone.norm(), 0.0);
  EXPECT_NEAR((left_alone - Vec3(0, 0, weight_N)).norm(), 0.0, 0.02 * weight_N);
  const auto& X_WP = motion->objects[1].X_WP;
  EXPECT_GT(X_WP[static_cast<size_t>(alone)].p.z(), 0.1);
  // Nothing creeps any more.
  EXPECT_LT((X_WP[static_cast<size_t>(alone)].p - X_WP[static_cast<size_t>(alone - 100)].p).norm(),
            1e-4);
}

}  // namespace
}  // namespace handhold::synthesis::scene_replay_test
