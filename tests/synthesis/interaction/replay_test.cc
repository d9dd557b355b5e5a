#include "synthesis/interaction/replay.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chain_hands.h"

namespace handhold::synthesis::replay_test {
namespace {

using artefact::Placed;
using artefact::Stage;
using artefact::StageThing;
using geometry::Vec3;

// The two-segment finger 50 mm above the plate dips: the reference goes smoothly from above the
// surface to 3 mm below.
artefact::InteractionTrajectory Dip(const model::Skeleton& hand, double sideways_rad) {
  artefact::InteractionTrajectory t;
  t.dof_names = hand.dof_names();
  const int frames = 400;
  t.q_reference.resize(2, frames);
  t.compliance_rad_per_Nm = Eigen::MatrixXd::Constant(2, frames, 0.4);
  for (int k = 0; k < frames; ++k) {
    t.times.push_back(Timestamp::FromNanoseconds(k * 2'000'000LL));
    const double phase = 0.5 - 0.5 * std::cos(2 * M_PI * k / (frames - 1));
    t.q_reference(0, k) = 0.25 + 0.12 * phase;
    t.q_reference(1, k) = 0.5 + sideways_rad * phase;
  }
  t.q = t.q_reference;
  return t;
}

Stage OnPlate(const model::Prop& plate, double top_z_m) {
  Stage stage;
  stage.Add(Placed(plate, geometry::RigidTransform::Translation(Vec3(0.1, 0, top_z_m))));
  return stage;
}

// Static balance by Newton on eq. 1 with its own kinematics of the planar chain: the oracle of the
// replay's end state.
Eigen::Vector2d PlanarBalance(const Eigen::Vector2d& reference, const Eigen::Vector2d& C, double L1,
                              double L2, double radius, double top_z, double k) {
  Eigen::Vector2d q = reference;
  for (int it = 0; it < 20000; ++it) {
    const double z = -L1 * std::sin(q[0]) - L2 * std::sin(q[0] + q[1]) - radius;
    const double f = std::max(0.0, k * (top_z - z));
    const Eigen::Vector2d dz(-L1 * std::cos(q[0]) - L2 * std::cos(q[0] + q[1]),
                             -L2 * std::cos(q[0] + q[1]));
    const Eigen::Vector2d next = reference + C.cwiseProduct(dz * f);
    q += 0.02 * (next - q);
  }
  return q;
}

TEST(ReplayTest, OnAFrictionlessPlateTheFingerStandsWhereTheSpringsBalance) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  const double top = -0.075;
  artefact::InteractionTrajectory t = Dip(hand, 0.1);
  ReplayOptions options;
  options.step.root_compliance_m_per_N = 1e-9;
  const auto motion =
      ReplayInteraction(hand, t, OnPlate(testing::Plate(0.0, 1.0 / 5000), top), options);
  ASSERT_TRUE(motion) << motion.error().message;
  EXPECT_EQ(UnsolvedSteps(*motion), 0);
  ASSERT_FALSE(motion->rows.empty());
  int checked = 0;
  for (const artefact::ContactRow& c : motion->rows) {
    if (c.frame % 20 != 0 || c.f_onA_W.z() < 0.2) continue;
    const Eigen::Vector2d q = PlanarBalance(t.q_reference.col(c.frame), Eigen::Vector2d(0.4, 0.4),
                                            0.08, 0.06, 0.006, top, 5000);
    EXPECT_LE((motion->hands[0].q.col(c.frame) - q).norm(), 1.5e-3) << c.frame;
    ++checked;
  }
  EXPECT_GE(checked, 3);
}

TEST(ReplayTest, SlipsOnIceAndHoldsOnRubber) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  const auto slip_share = [&](double friction) {
    const auto motion = ReplayInteraction(hand, Dip(hand, 0.06),
                                          OnPlate(testing::Plate(friction, 2e-4), -0.075), {})
                            .value();
    int slipping = 0;
    for (const auto& c : motion.rows) slipping += c.slip_m_per_s > 1e-3;
    return static_cast<double>(slipping) / static_cast<double>(motion.rows.size());
  };
  EXPECT_GT(slip_share(0.02), 0.75);  // the finger also stands still for a moment at the deepest
                                      // point
  EXPECT_LT(slip_share(5.0), 0.2);
}

TEST(ReplayTest, AFreeBallIsPushedAwayAndNeverEntered) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  model::Prop ball;
  ball.name = "ball";
  ball.mass.mass_kg = 0.012;
  ball.mass.I_BCom_B = 0.4 * 0.012 * 0.02 * 0.02 * geometry::Mat3::Identity();
  model::PropShape shape;
  shape.name = "ball";
  shape.shape = geometry::Sphere{0.02};
  ball.shapes.push_back(shape);
  Stage stage;
  stage.gravity_W.setZero();
  // Below the tip, which comes down on it.
  stage.Add(Placed(ball, geometry::RigidTransform::Translation(Vec3(0.12, 0.0, -0.091)),
                   StageThing::Is::kFree));
  const auto motion = ReplayInteraction(hand, Dip(hand, 0.0), stage, {});
  ASSERT_TRUE(motion) << motion.error().message;
  ASSERT_FALSE(motion->rows.empty());
  EXPECT_EQ(motion->touches.at(0).b.name, "ball");
  const Vec3 p_end = motion->objects[0].X_WP.back().p;
  EXPECT_LT(p_end.z(), -0.095);  // down and away, and it keeps going without gravity
  model::KinematicsData data(hand);
  for (size_t k = 0; k < motion->times.size(); ++k) {
    model::ComputePoses<double>(hand, motion->hands[0].q.col(static_cast<Eigen::Index>(k)), &data);
    const Vec3 tip = data.X_WB[2] * Vec3(0.06, 0, 0);
    EXPECT_GT((tip - motion->objects[0].X_WP[k].p).norm(), 0.026 - 2e-4) << k;
  }
}

// A replay that begins within a touch begins at its reference, inside the surface: it would answer
// with a force that nobody ever pressed.
TEST(ReplayTest, AHandThatBeginsInsideASurfaceIsRefusedByNameAndDepth) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  const artefact::InteractionTrajectory t = Dip(hand, 0.06);
  const Stage scene = OnPlate(testing::Plate(0.5, 2e-4), -0.075);
  const auto whole = ReplayInteraction(hand, t, scene, {});
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_FALSE(whole->rows.empty());
  ReplayOptions within;
  within.range = TimeRange{t.times[200], t.times.back()};  // the deepest moment
  const auto motion = ReplayInteraction(hand, t, scene, within);
  ASSERT_FALSE(motion);
  EXPECT_EQ(motion.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(motion.error().message, ::testing::AllOf(::testing::HasSubstr("0.400000000 s"),
                                                       ::testing::HasSubstr(" mm inside")));
  // A moment before the touch is free, and presses as the whole does.
  within.range.begin = t.times[static_cast<size_t>(whole->rows.front().frame - 2)];
  const auto later = ReplayInteraction(hand, t, scene, within);
  ASSERT_TRUE(later) << later.error().message;
  const auto peak = [](const artefact::Motion& m) {
    double most_N = 0;
    for (const auto& c : m.rows) most_N = std::max(most_N, c.f_onA_W.norm());
    return most_N;
  };
  EXPECT_NEAR(peak(*later), peak(*whole), 0.02 * peak(*whole));
}

TEST(ReplayTest, ARangeOutsideTheTrajectoryIsToldItsExtent) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  ReplayOptions options;
  options.range = TimeRange{Timestamp::FromSeconds(5), Timestamp::FromSeconds(6)};
  const auto motion =
      ReplayInteraction(hand, Dip(hand, 0.0), OnPlate(testing::Plate(0.5, 2e-4), -0.075), options);
  ASSERT_FALSE(motion);
  EXPECT_THAT(motion.error().message,
              ::testing::HasSubstr("the reference trajectory goes from 0 s to 0.798 s"));
  options.range = TimeRange{Timestamp::FromSeconds(-2), Timestamp::FromSeconds(-1)};
  EXPECT_THAT(CheckRange(Dip(hand, 0.0), options).error().message,
              ::testing::HasSubstr("nothing lies before -1 s"));
  options.range = TimeRange{Timestamp::FromSeconds(0.5), Timestamp::FromSeconds(0.5005)};
  EXPECT_THAT(CheckRange(Dip(hand, 0.0), options).error().message,
              ::testing::HasSubstr("only 0.000500000 s"));
  options.range = TimeRange{Timestamp::FromSeconds(0.5), Timestamp::FromSeconds(100)};
  EXPECT_TRUE(CheckRange(Dip(hand, 0.0), options));
}

// A reference that jumps by 3 rad while the finger presses: what balances one step is far from
// balance in the next.
TEST(ReplayTest, AHandOutOfBalanceIsNoMotion) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  artefact::InteractionTrajectory t = Dip(hand, 0.06);
  const Stage scene = OnPlate(testing::Plate(0.5, 2e-4), -0.075);
  t.q_reference.rightCols(200).array() += 1.0;
  EXPECT_TRUE(ReplayInteraction(hand, t, scene, {})) << "harsh, but balanced";
  t.q_reference.rightCols(200).array() += 2.0;
  const auto motion = ReplayInteraction(hand, t, scene, {});
  ASSERT_FALSE(motion);
  EXPECT_EQ(motion.error().code, ErrorCode::kNotConverged);
  EXPECT_THAT(motion.error().message, ::testing::HasSubstr("at 0.402000000 s"));
}

TEST(ReplayTest, AnObjectThatFliesBeyondNumbersIsNamedAndOneWithoutInertiaRefused) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  model::Prop prop;
  prop.name = "brick";
  prop.mass.mass_kg = 0.1;
  prop.mass.I_BCom_B = Vec3(1e-4, 1.5e-4, 2e-4).asDiagonal();
  Stage scene;
  StageThing& brick = scene.Add(
      Placed(prop, geometry::RigidTransform::Translation(Vec3(0, 0, 1)), StageThing::Is::kFree));
  brick.omega_P = Vec3(1e200, 1e200, 0);
  EXPECT_TRUE(ReplayInteraction(hand, Dip(hand, 0.0), {}, {}));
  const auto thrown = ReplayInteraction(hand, Dip(hand, 0.0), scene, {});
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code, ErrorCode::kNotConverged);
  EXPECT_THAT(thrown.error().message, ::testing::HasSubstr("'brick'"));
  brick.omega_P.setZero();
  EXPECT_TRUE(ReplayInteraction(hand, Dip(hand, 0.0), scene, {}));
  prop.mass.I_BCom_B.setZero();
  brick.prop.value = std::make_shared<const model::Prop>(prop);
  const auto point = ReplayInteraction(hand, Dip(hand, 0.0), scene, {});
  ASSERT_FALSE(point);
  EXPECT_EQ(point.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(point.error().message, ::testing::HasSubstr("'brick'"));
}

TEST(ReplayTest, ARefusedJointIsNamedWithTheAssumptionThatWouldHelp) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  artefact::InteractionTrajectory t = Dip(hand, 0.0);
  t.compliance_rad_per_Nm.row(1).setConstant(std::numeric_limits<double>::quiet_NaN());
  const auto motion = ReplayInteraction(hand, t, OnPlate(testing::Plate(0.5, 0), -0.075), {});
  ASSERT_FALSE(motion);
  EXPECT_EQ(motion.error().code, ErrorCode::kUnidentifiable);
  EXPECT_THAT(motion.error().message, ::testing::HasSubstr("joint1.flex"));
}

TEST(ReplayTest, TheDampedFormWantsADynamicReference) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  ReplayOptions options;
  options.form = ReplayForm::kDamped;
  const auto motion =
      ReplayInteraction(hand, Dip(hand, 0.0), OnPlate(testing::Plate(0.5, 0), -0.075), options);
  ASSERT_FALSE(motion);
  EXPECT_THAT(motion.error().message, ::testing::HasSubstr("dynamic"));
}

}  // namespace
}  // namespace handhold::synthesis::replay_test
