// Whole hands in a World: reruns and restored worlds to the bit, who meets whom, and a grip that
// turns with its object.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <set>

#include "tests/support/grip_scene.h"

namespace handhold::synthesis::snapshot_test {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;
using handhold::testing::GripScene;

/// Everything that can be read of a world, in one row.
std::vector<double> Readings(const World& world) {
  std::vector<double> all = {world.time_s()};
  const auto push = [&](const auto& m) { all.insert(all.end(), m.data(), m.data() + m.size()); };
  for (int b = 1; b < world.body_count(); ++b) {
    push(world.X_WB(b).R), push(world.X_WB(b).p), push(world.omega_W(b)), push(world.v_W(b));
  }
  for (int j = 0; j < world.joint_count(); ++j)
    push(world.joint_reading(j).f_onChild_W), push(world.joint_reading(j).t_onChild_W);
  for (const ContactReading& c : world.contacts()) {
    all.push_back(c.body_a), all.push_back(c.body_b), all.push_back(c.feature);
    push(c.p_W), push(c.f_onA_W), push(c.slip_W);
  }
  return all;
}

class BothSteppers : public ::testing::TestWithParam<Stepper> {};
INSTANTIATE_TEST_SUITE_P(World, BothSteppers, ::testing::Values(Stepper::kExact, Stepper::kQuick));

void Advance(GripScene* scene, int steps) {
  for (int i = 0; i < steps; ++i) {
    const Status ok = scene->Step(2e-3);
    ASSERT_TRUE(ok) << ok.error().message;
  }
}

TEST_P(BothSteppers, RunsRepeatToTheBit) {
  GripScene first({.stepper = GetParam()});
  Advance(&first, 150);
  // Beside another world that draws random numbers of its own.
  GripScene second({.stepper = GetParam()}), other({.stepper = Stepper::kQuick});
  for (int i = 0; i < 150; ++i) {
    Advance(&second, 1);
    if (i % 3 == 0) Advance(&other, 1);
  }
  EXPECT_GE(second.Contacts().first, 4);
  EXPECT_EQ(Readings(*first.world), Readings(*second.world));
}

TEST(QuickStep, DrawsFromItsSeed) {
  const auto end = [](std::uint32_t seed) {
    auto world =
        std::move(
            World::Create({.stepper = Stepper::kQuick, .quick_iterations = 20, .quick_seed = seed}))
            .value();
    const model::Skeleton hand = model::LoadHand("hand57").value();
    SkeletonInWorld in = SkeletonInWorld::Add(hand, world.get()).value();
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(world->Step(2e-3));
    return Readings(*world);
  };
  EXPECT_EQ(end(7), end(7));
  EXPECT_NE(end(7), end(8));
}

TEST_P(BothSteppers, ARestoredWorldGoesOnAsTheOriginal) {
  GripScene scene({.stepper = GetParam()});
  Advance(&scene, 120);
  ASSERT_GE(scene.Contacts().first, 3);
  ASSERT_TRUE(scene.world->AddForce(scene.object, {0.3, 0.1, 0}, {0.1, 0, 0}));  // still waiting
  const std::vector<double> at_save = Readings(*scene.world);
  const Snapshot saved = scene.world->Save();
  EXPECT_EQ(saved.time_s(), scene.world->time_s());
  Advance(&scene, 80);
  const std::vector<double> end = Readings(*scene.world);
  ASSERT_NE(at_save, end);

  ASSERT_TRUE(scene.world->Restore(saved));
  EXPECT_EQ(Readings(*scene.world), at_save);
  Advance(&scene, 80);
  EXPECT_EQ(Readings(*scene.world), end);

  GripScene twin({.stepper = GetParam()});  // made the same way, with another past
  Advance(&twin, 37);
  ASSERT_TRUE(twin.world->Restore(saved));
  EXPECT_EQ(Readings(*twin.world), at_save);
  Advance(&twin, 80);
  EXPECT_EQ(Readings(*twin.world), end);
}

TEST(Snapshot, HoldsDrivesLimitsTargetsAndPlaces) {
  auto world = std::move(World::Create()).value();
  const geometry::MassProperties mass{0.1, {0.02, 0, 0}, 1e-4 * Mat3::Identity()};
  const int palm = world->AddBody("palm", mass, {}).value();
  const int rod = world->AddBody("rod", mass, {}).value();
  const int joint = world->AddHinge({"hinge", palm, rod, {0, 0, 0}, Vec3::UnitY()}).value();
  const int plate = world
                        ->AddCollider({.name = "plate",
                                       .X_BS = RigidTransform::Translation({0, 0, -1}),
                                       .shape = geometry::Box{{1, 1, 0.1}}})
                        .value();
  world
      ->AddCollider({.name = "rod",
                     .body = rod,
                     .shape = geometry::Sphere{0.03},
                     .mask = ColliderMask::Hand()})
      .value();
  ASSERT_TRUE(world->SetKinematic(palm, true));
  ASSERT_TRUE(world->SetDrive(joint, 0, {0.4, 0, 1, 0.01}));
  ASSERT_TRUE(world->SetLimits(joint, 0, -0.1, 0.3));
  ASSERT_TRUE(world->MoveTo(palm, RigidTransform::Translation({0, 0, 0.001})));
  ASSERT_TRUE(world->MoveFixedCollider(plate, RigidTransform::Translation({0, 0, -0.078})));
  const Snapshot saved = world->Save();
  const auto run = [&] {
    for (int i = 0; i < 50; ++i) {
      const Status ok = world->Step(2e-3);
      EXPECT_TRUE(ok) << ok.error().message;
    }
    return Readings(*world);
  };
  const std::vector<double> end = run();
  ASSERT_FALSE(world->contacts().empty());
  EXPECT_NEAR(world->angle_rad(joint), 0.3, 1e-3);
  world->ClearDrive(joint);
  ASSERT_TRUE(world->SetLimits(joint, 0, -3, 3));
  ASSERT_TRUE(world->SetKinematic(palm, false));
  ASSERT_TRUE(world->MoveFixedCollider(plate, RigidTransform::Translation({0, 0, -1})));
  run();
  ASSERT_TRUE(world->Restore(saved));
  EXPECT_TRUE(world->kinematic(palm));
  EXPECT_EQ(run(), end);

  auto other = std::move(World::Create()).value();
  for (const Snapshot& foreign : {saved, Snapshot()}) {
    const Status refused = other->Restore(foreign);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  }
}

// Joints of one name and number but of another kind are another world.
TEST(Snapshot, OfAnotherKindOfJointOrOfNumbersThatAreNoneIsRefused) {
  const geometry::MassProperties mass{0.1, {0.02, 0, 0}, 1e-4 * Mat3::Identity()};
  const auto make = [&](bool hinge, int* body) {
    auto world = std::move(World::Create()).value();
    *body = world->AddBody("rod", mass, {}).value();
    if (hinge) {
      EXPECT_TRUE(world->AddHinge({"joint", kFixedBody, *body, {0, 0, 0}, Vec3::UnitY()}));
    } else {
      EXPECT_TRUE(world->AddBall({"joint", kFixedBody, *body, {0, 0, 0}}));
    }
    return world;
  };
  int body = 0;
  const auto hinge = make(true, &body), twin = make(true, &body), ball = make(false, &body);
  const Snapshot saved = hinge->Save();
  EXPECT_TRUE(twin->Restore(saved));
  const Status other = ball->Restore(saved);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kInvalid);
  // Finite forces whose sum is not.
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(hinge->AddForce(body, {1.7e308, 0, 0}, hinge->com_W(body)));
  const Status infinite = twin->Restore(hinge->Save());
  ASSERT_FALSE(infinite);
  EXPECT_EQ(infinite.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(infinite.error().message, ::testing::HasSubstr("rod"));
  EXPECT_TRUE(twin->Step(1e-3));  // it harmed nothing
}

TEST(Snapshot, RevivesAWorldThatRanAway) {
  auto world = std::move(World::Create()).value();
  const int body =
      world->AddBody("runaway", {0.1, Vec3::Zero(), 1e-4 * Mat3::Identity()}, {}).value();
  ASSERT_TRUE(world->Step(1e-3));
  const Snapshot saved = world->Save();
  ASSERT_TRUE(world->SetVelocity(body, {0, 0, 0}, {1e5, 0, 0}));
  const Status gone = world->Step(1e-3);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kNotConverged);
  EXPECT_THAT(gone.error().message, ::testing::HasSubstr("runaway"));
  EXPECT_FALSE(world->Step(1e-3));
  ASSERT_TRUE(world->Restore(saved));
  EXPECT_TRUE(world->Step(1e-3));
  EXPECT_NEAR(world->v_W(body).z(), -9.81 * 2e-3, 1e-12);
}

// Two balls that overlap, with the masks given: do they meet?
bool Meet(const ColliderMask& a, const ColliderMask& b, bool ignore = false) {
  auto world = std::move(World::Create({.gravity_W = Vec3::Zero()})).value();
  const geometry::MassProperties mass{0.1, Vec3::Zero(), 1e-4 * Mat3::Identity()};
  int colliders[2];
  for (int i = 0; i < 2; ++i) {
    const std::string name = i == 0 ? "a" : "b";
    const int body =
        world->AddBody(name, mass, RigidTransform::Translation({0.019 * i, 0, 0})).value();
    colliders[i] = world
                       ->AddCollider({.name = name,
                                      .body = body,
                                      .shape = geometry::Sphere{0.01},
                                      .mask = i == 0 ? a : b})
                       .value();
  }
  EXPECT_TRUE(world->Overlap(colliders[0], colliders[1]));
  if (ignore) world->IgnorePair(colliders[1], colliders[0]);
  EXPECT_TRUE(world->Step(1e-3));
  return !world->contacts().empty();
}

TEST(Masks, HandsMeetObjectsAndOtherHandsAndThemselvesWhenAsked) {
  const ColliderMask object = ColliderMask::Object(), right = ColliderMask::Hand(0),
                     left = ColliderMask::Hand(1), itself = ColliderMask::Hand(0, true);
  EXPECT_TRUE(Meet(object, object));
  EXPECT_TRUE(Meet(right, object));
  EXPECT_TRUE(Meet(object, left));
  EXPECT_TRUE(Meet(right, left));
  EXPECT_FALSE(Meet(right, right));
  EXPECT_TRUE(Meet(itself, itself));
  EXPECT_FALSE(Meet(itself, right));  // both must want to
  EXPECT_FALSE(Meet({.is = 4, .meets = 8}, {.is = 8, .meets = 2}));
  EXPECT_FALSE(Meet(object, object, true));
}

TEST(Masks, AHandThatMeetsItselfIsQuietAtRestAndMeetsItsThumb) {
  GripScene open({.object = false, .closing = 0.0});
  Advance(&open, 20);
  EXPECT_TRUE(open.world->contacts().empty());
  GripScene fist({.object = false});
  Advance(&fist, 400);
  std::set<std::pair<std::string, std::string>> pairs;
  for (const ContactReading& c : fist.world->contacts())
    pairs.insert({fist.world->body_name(c.body_a), fist.world->body_name(c.body_b)});
  EXPECT_GE(pairs.size(), 2u);
  for (const auto& [a, b] : pairs) EXPECT_NE(a.substr(0, 4), b.substr(0, 4));  // of two digits
}

TEST(Masks, TwoHandsShake) {
  // Two right hands, one turned about, palms facing: they meet and hold each other off.
  auto world = std::move(World::Create({.gravity_W = Vec3::Zero()})).value();
  const model::Skeleton hand = model::WithFreeBase(model::LoadHand("hand57").value()).value();
  const RigidTransform facing{geometry::AxisAngle<double>(Vec3::UnitX(), std::numbers::pi),
                              {0.0, 0.0, -0.055}};
  std::vector<SkeletonInWorld> hands;
  for (int i = 0; i < 2; ++i) {
    hands.push_back(SkeletonInWorld::Add(hand, world.get(),
                                         {.mask = ColliderMask::Hand(i),
                                          .X_WRoot = i == 0 ? RigidTransform{} : facing})
                        .value());
  }
  const int palm = hand.FindBody("palm");
  // One wrist is told where to be, the other is soft.
  ASSERT_TRUE(world->SetKinematic(hands[0].engine_body(palm), true));
  Eigen::VectorXd k = Eigen::VectorXd::Constant(hand.nv(), 0.5), b = 0.02 * k;
  const int root = hand.v_index(palm);
  k.segment<3>(root + 3).setConstant(300.0), b.segment<3>(root + 3).setConstant(10.0);
  Eigen::VectorXd q = hand.ZeroConfiguration();
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(hand.nv());
  int met = 0;
  for (int i = 0; i < 250; ++i) {
    q[2] = -0.03 * std::min(1.0, i / 100.0);  // the first comes down on the second
    ASSERT_TRUE(hands[0].SetDrives(q, rest, k, b));
    ASSERT_TRUE(hands[1].SetDrives(hand.ZeroConfiguration(), rest, k, b));
    const Status ok = world->Step(2e-3);
    ASSERT_TRUE(ok) << ok.error().message;
    for (const ContactReading& c : world->contacts())
      met += (c.body_a <= hand.body_count()) != (c.body_b <= hand.body_count());
  }
  EXPECT_GT(met, 50);
  EXPECT_NEAR(world->X_WB(hands[0].engine_body(palm)).p.z(), -0.03, 1e-12);
  EXPECT_LT(world->X_WB(hands[1].engine_body(palm)).p.z(), -0.056);  // pushed away
}

// A fingertip on a soft root presses on a turntable with a sheared grip; both turn together about
// the normal. What the object feels in its own axes must not change.
TEST(Friction, AGripKeepsItsForcesWhenHandAndObjectTurnTogether) {
  for (const double stiffness : {5000.0, 1000.0}) {
    auto world = std::move(World::Create({.gravity_W = Vec3::Zero()})).value();
    const geometry::MassProperties mass{0.02, Vec3::Zero(), 2e-6 * Mat3::Identity()};
    const double r = 0.01;
    const int tip = world->AddBody("tip", mass, RigidTransform::Translation({0, 0, r})).value();
    const int table = world->AddBody("table", {1, Vec3::Zero(), Mat3::Identity()}, {}).value();
    world
        ->AddCollider({.name = "tip",
                       .body = tip,
                       .shape = geometry::Sphere{r},
                       .mask = ColliderMask::Hand()})
        .value();
    world
        ->AddCollider({.name = "table",
                       .body = table,
                       .X_BS = RigidTransform::Translation({0, 0, -0.02}),
                       .shape = geometry::Box{{0.2, 0.2, 0.04}},
                       .law = ContactLaw{stiffness, 5, 0.5}})
        .value();
    ASSERT_TRUE(world->SetKinematic(table, true));
    const int root = world->AddSoftRoot({"root", tip, {}}).value();
    SoftRootDrive drive{.stiffness_N_per_m = 400, .damping_Ns_per_m = 5};
    drive.stiffness_Nm_per_rad = 2.0 * Mat3::Identity();
    drive.damping_Nms_per_rad = 0.01 * Mat3::Identity();
    const double h = 1e-3;
    Vec3 before = Vec3::Zero(), after = Vec3::Zero();
    for (int i = 0; i < 2000; ++i) {
      const double press = std::min(1.0, i / 200.0), shear = std::clamp(i / 200.0 - 1.0, 0.0, 1.0);
      // From 0.8 s to 1.8 s a quarter turn; the grip is made and sheared before.
      const double turn = std::numbers::pi / 2 * std::clamp((i - 800) / 1000.0, 0.0, 1.0);
      const Mat3 R = geometry::AxisAngle<double>(Vec3::UnitZ(), turn);
      drive.X_WF = {R, R * Vec3(0.002 * shear, 0, r - 0.01 * press)};
      ASSERT_TRUE(world->SetSoftRoot(root, drive));
      ASSERT_TRUE(world->MoveTo(table, {R, Vec3::Zero()}));
      ASSERT_TRUE(world->Step(h));
      if (world->contacts().empty()) continue;
      const Vec3 f = R.transpose() * world->contacts()[0].f_onA_W;
      (i < 800 ? before : after) = f;
    }
    EXPECT_GT(before.z(), 2.5);
    EXPECT_GT(before.head<2>().norm(), 0.4);  // sheared, yet inside the cone
    EXPECT_LT(before.head<2>().norm(), 0.4 * before.z());
    EXPECT_LT((after - before).norm(), 0.002) << stiffness;
  }
}

}  // namespace
}  // namespace handhold::synthesis::snapshot_test
