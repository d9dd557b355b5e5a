// Protocols in ODE on grasps whose outcome is known: a hand that envelops a cylinder holds it by P1
// and lifts it, and each way to fail has its cause.
#include "synthesis/evaluate/hand_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/artefact/grasp_file.h"
#include "database/model/hand_library.h"
#include "synthesis/evaluate/p1.h"
#include "tests/support/closing_hand.h"

namespace handhold::synthesis::hand_scene_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand57");
  return hand;
}

// A cylinder enveloped by closing on it while it is held; squeezed by half a radian and more.
const artefact::Grasp& Envelops() {
  static const artefact::Grasp grasp = [] {
    testing::ClosingHand scene("hand57");
    EXPECT_TRUE(scene.Close(0.5, true));
    artefact::Grasp g;
    g.name = "envelops";
    const Placement at = scene.world->Unplaced(0, scene.world->q(0));
    g.q = at.q;
    g.X_PH = scene.world->X_WP(0).Inverse() * at.X_WH;
    g.q_squeeze = scene.world->Unplaced(0, scene.q_closed).q;
    return g;
  }();
  return grasp;
}

std::unique_ptr<HandScene> Scene(const HandSceneOptions& options = {}) {
  auto scene = HandScene::Create(Hand(), testing::CylinderProp(0.04, 0.14, 0.1, 0.6), options);
  EXPECT_TRUE(scene) << (scene ? "" : scene.error().message);
  return std::move(*scene);
}

TEST(HandScene, OptionsDescribeThemselves) { artefact::CheckDescribed<HandSceneOptions>(); }

TEST(HandScene, AnEnvelopingGraspPassesP1) {
  const auto scene = Scene();
  ASSERT_EQ(*scene->Form(Envelops()), GraspFault::kNone) << scene->cause();
  EXPECT_LT(scene->depths().object_m, 3e-3);
  const P1Result result = *RunP1({}, scene.get());
  EXPECT_TRUE(result.passed()) << result.cause;
  EXPECT_EQ(result.held(), 6);
  EXPECT_EQ(result.engine, "ode exact");
  // A short one twice: to the bit.
  P1Options brief;
  brief.hold_s = 0.1;
  const P1Result first = *RunP1(brief, scene.get()), again = *RunP1(brief, scene.get());
  EXPECT_EQ(first.worst, again.worst);
}

TEST(HandScene, AHeavyLoadShiftsOrTurnsIt) {
  HandSceneOptions options;
  options.mass_kg = 3.0;
  const auto scene = Scene(options);
  ASSERT_EQ(*scene->Form(Envelops()), GraspFault::kNone) << scene->cause();
  P1Options p1;
  p1.mass_kg = 3.0;
  const P1Result result = *RunP1(p1, scene.get());
  EXPECT_TRUE(result.fault == GraspFault::kShifted || result.fault == GraspFault::kTurned)
      << GraspFaultName(result.fault);
}

TEST(HandScene, AnOpenHandIsNotTouchingAndALimpOneIsLoose) {
  const auto scene = Scene();
  artefact::Grasp away = Envelops();
  away.X_PH.p += Vec3(0, 0, 0.5);
  EXPECT_EQ(*scene->Form(away), GraspFault::kNotTouched);
  EXPECT_FALSE(scene->cause().empty());
  // Opened as soon as it is let go.
  artefact::Grasp opens = Envelops();
  opens.q_squeeze = Hand().ZeroConfiguration();
  const GraspFault fault = *scene->Form(opens);
  EXPECT_TRUE(fault == GraspFault::kLoose || fault == GraspFault::kNotTouched)
      << GraspFaultName(fault);
  // What failed before does not stay: the next one forms as the first.
  EXPECT_EQ(*scene->Form(Envelops()), GraspFault::kNone);
}

TEST(HandScene, TorquesSqueezeAsTheirSpringsWould) {
  // The torques of the springs at q, given instead of q_squeeze: the same target to rounding.
  const auto scene = Scene();
  ASSERT_TRUE(scene->Reset());
  const artefact::Grasp& grasp = Envelops();
  ASSERT_TRUE(scene->world().SetHand(0, scene->world().Placed(0, grasp.q, grasp.X_PH)));
  const auto& outboard = scene->world().OutboardOf(0);
  artefact::Grasp torques = grasp;
  torques.q_squeeze.resize(0);
  torques.tau_squeeze_Nm.setZero(Hand().nv());
  const Eigen::VectorXd turn = 0.3 * Hand().Difference(grasp.q, grasp.q_squeeze);
  for (int b = 1; b < Hand().body_count(); ++b) {
    if (Hand().body(b).joint.type != model::JointType::kBall) continue;
    const int v = Hand().v_index(b);
    torques.tau_squeeze_Nm.segment<3>(v) =
        4000.0 *
        (outboard[static_cast<size_t>(b)].AboutJoint_Jc() + 1e-5 * geometry::Mat3::Identity()) *
        turn.segment<3>(v);
  }
  artefact::Grasp target = grasp;
  target.q_squeeze = Hand().Integrate(grasp.q, turn);
  ASSERT_EQ(*scene->Form(target), GraspFault::kNone);
  const double by_target = scene->world().GripOn(0, 0).normal_N;
  ASSERT_EQ(*scene->Form(torques), GraspFault::kNone);
  EXPECT_NEAR(scene->world().GripOn(0, 0).normal_N, by_target, 1e-3 * by_target);
  torques.tau_squeeze_Nm.resize(0);
  EXPECT_EQ(scene->Form(torques).error().code, ErrorCode::kInvalid);
}

TEST(HandScene, ItIsLiftedFromATableAndALimpHandLeavesItThere) {
  HandSceneOptions options;
  options.table = true;
  options.gravity_m_per_s2 = 9.81;
  const auto scene = Scene(options);
  ASSERT_EQ(*scene->Form(Envelops()), GraspFault::kNone) << scene->cause();
  // Up in W is the back of the hand, up to the nearest axis of the prop.
  EXPECT_GT(scene->world().X_WPalm(0).R(2, 2), 0.7);
  const LiftResult lift = *RunLift({}, scene.get());
  EXPECT_TRUE(lift.passed()) << lift.cause;
  EXPECT_NEAR(lift.rose_m, 0.1, 0.02);
  options.mass_kg = 10.0;
  const auto heavy = Scene(options);
  ASSERT_EQ(*heavy->Form(Envelops()), GraspFault::kNone) << heavy->cause();
  const LiftResult stays = *RunLift({}, heavy.get());
  EXPECT_FALSE(stays.passed());
  EXPECT_NE(stays.fault, GraspFault::kLost) << stays.cause;
}

// Torques that a bent joint's spring could give only beyond half a turn pull as far as it can be
// pulled: the grasp is tried, not lost.
TEST(HandScene, StrongTorquesOfABentFingerAreTried) {
  const model::Skeleton hand = *model::LoadHand("hand27");
  artefact::Grasp grasp = *artefact::LoadLibraryGrasp("hand27_cylinder");
  const auto scene =
      *HandScene::Create(hand, *model::LoadLibraryProp(grasp.prop), HandSceneOptions{});
  grasp.q_squeeze.resize(0);
  grasp.tau_squeeze_Nm.setZero(hand.nv());
  for (const char* finger : {"index.mid", "middle.mid"}) {
    const int pip = hand.FindBody(finger);
    grasp.tau_squeeze_Nm[hand.v_index(pip)] = 1e3;
    grasp.q[hand.q_index(pip)] = 1.75;
  }
  EXPECT_NE(*scene->Form(grasp), GraspFault::kLost) << scene->cause();
}

// What is tested is what the hand has settled to: formed again it moves no more, and the place of
// the prop in the palm is that of the tested grasp.
TEST(HandScene, TheSettledGraspIsTheOneThatIsTested) {
  const auto scene = Scene();
  const artefact::Grasp& given = Envelops();
  ASSERT_EQ(*scene->Form(given), GraspFault::kNone);
  const artefact::Grasp settled = scene->Settled(given);
  const auto in_palm = [&] { return scene->world().X_WPalm(0).Inverse() * scene->world().X_WP(0); };
  const geometry::RigidTransform tested = in_palm();
  EXPECT_GE(settled.contacts.size(), 3u);
  EXPECT_EQ(settled.contacts.size(), static_cast<size_t>(scene->hand_contacts()));
  EXPECT_GT((settled.q - given.q).norm(), 1e-4);
  ASSERT_EQ(*scene->Form(settled), GraspFault::kNone);
  EXPECT_LT((in_palm().p - tested.p).norm(), 1e-3);
  EXPECT_LT((scene->Settled(settled).q - settled.q).cwiseAbs().maxCoeff(), 0.02);
  // Its contacts lie on the prop, normals out of it.
  const model::Prop prop = testing::CylinderProp(0.04, 0.14, 0.1, 0.6);
  const std::vector<geometry::PosedShape> shapes = {{prop.shapes[0].shape, prop.shapes[0].X_PS}};
  for (const artefact::GraspContact& c : settled.contacts) {
    const auto near = geometry::SignedDistanceToUnion(shapes, c.p_P);
    EXPECT_NEAR(near.point.distance_m, 0.0, 3e-3);
    EXPECT_GT(near.point.normal_S.dot(c.normal_P), 0.9);
  }
}

TEST(HandScene, AGraspOfAnotherHandIsRefused) {
  artefact::Grasp other = Envelops();
  other.q.conservativeResize(3);
  EXPECT_EQ(Scene()->Form(other).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis::hand_scene_test
