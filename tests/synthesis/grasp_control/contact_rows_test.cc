#include "synthesis/grasp_control/contact_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/closing_hand.h"

namespace handhold::synthesis::contact_rows_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using testing::ClosingHand;

/// A motion of these things and hand "R".
artefact::Motion Named(std::vector<artefact::StageThing> things) {
  artefact::Motion motion;
  motion.Add(artefact::StageHand{});
  for (artefact::StageThing& thing : things) motion.Add(std::move(thing));
  motion.times = {Timestamp()};
  return motion;
}

TEST(ContactRows, SayWhatTheHandTouchesWithWhat) {
  ClosingHand scene("hand27");
  ASSERT_TRUE(scene.Close(0.6));
  artefact::Motion motion = Named({{.name = "mug"}});
  motion.times = {Timestamp(), Timestamp::FromSeconds(0.01)};
  const Timestamp now = motion.times[1];
  const double normal = AddContactRows(*scene.world, 1, now, &motion);
  EXPECT_NEAR(normal, scene.world->GripOn(0, 0).normal_N, 1e-9);
  EXPECT_GT(normal, 1.0);
  ASSERT_TRUE(artefact::CheckRows(motion.touches, motion.rows, 2));
  double sum = 0, most = 0;
  std::set<std::string> sites;
  int last = 0;
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
    EXPECT_EQ(row.frame, 1);
    EXPECT_GE(row.touch, last);
    last = row.touch;
    EXPECT_EQ(touch.a.name, "R");
    EXPECT_EQ(touch.b.name, "mug");
    EXPECT_GE(touch.peak_force_N, row.f_onA_W.norm());
    EXPECT_TRUE(std::isfinite(row.slip_m_per_s));
    sites.insert(touch.a.site);
    sum += row.f_onA_W.dot(row.normal_W);
    most = std::max(most, row.f_onA_W.norm());
  }
  EXPECT_NEAR(sum, normal, 1e-9);  // on the hand: out of the prop
  EXPECT_GE(sites.size(), 3u);
  // A later, lighter frame leaves the peaks; what has no name is left out.
  double peak = 0;
  for (const artefact::Touch& touch : motion.touches) peak = std::max(peak, touch.peak_force_N);
  EXPECT_EQ(peak, most);
  const size_t before = motion.rows.size();
  motion.stage.things.clear();
  EXPECT_EQ(AddContactRows(*scene.world, 1, now, &motion), 0.0);
  EXPECT_EQ(motion.rows.size(), before);
}

// The force on side a, the prop, is what carries it, whichever the engine names first.
TEST(ContactRows, TheGroundCarriesTheProp) {
  ClosingHand scene("hand27", {}, RigidTransform::Translation(Vec3(0, 0, -1)));
  HandWorld& world = *scene.world;
  model::Prop plate;
  plate.name = "plate";
  plate.shapes.push_back({"plate", {}, geometry::Box{Vec3(1, 1, 0.1)}, ""});
  // The cylinder lies: 4 cm thick, 100 g.
  const artefact::StageThing fixed =
      artefact::Placed(plate, RigidTransform::Translation(Vec3(0, 0, -1.07)));
  ASSERT_TRUE(world.AddProp(fixed));
  world.SetGravity({.g_W = Vec3(0, 0, -10)});
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(world.Step(2e-3));
  artefact::Motion motion = Named({{.name = "can"}, fixed});
  AddContactRows(world, 0, Timestamp(), &motion);
  Vec3 carried = Vec3::Zero();
  ASSERT_FALSE(motion.rows.empty());
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
    EXPECT_EQ(touch.a.name, "can");
    EXPECT_EQ(touch.b.name, "plate");
    EXPECT_GT(row.normal_W.z(), 0.9);
    carried += row.f_onA_W;
  }
  EXPECT_NEAR(carried.z(), 1.0, 0.02);
  EXPECT_LT(carried.head<2>().norm(), 0.02);
  motion = Named({{.name = "can"}});
  AddContactRows(world, 0, Timestamp(), &motion);
  EXPECT_TRUE(motion.rows.empty());
}

}  // namespace
}  // namespace handhold::synthesis::contact_rows_test
