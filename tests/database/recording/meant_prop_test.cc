// Which prop of a take a word means, and where it stood.
#include "database/recording/meant_prop.h"

#include <gtest/gtest.h>

#include "database/recording/clip.h"

namespace handhold::recording::meant_prop_test {
namespace {

using geometry::RigidTransform;

Thing Plate() {
  Thing plate{.name = "plate", .model = "flat_plate"};
  plate.pose = Thing::Pose::kFixed;
  plate.X_WT = RigidTransform::Translation({0.1, 0.2, 0.3});
  return plate;
}
Thing Box() { return {.name = "box", .model = "box_3x5x7", .pose = Thing::Pose::kMarkers}; }

Thing Hand() {
  Thing hand;
  hand.name = "R";
  hand.kind = Thing::Kind::kHand;
  return hand;
}

TEST(MeantProp, IsTheOneOfThatNameOrModelOrTheOnlyOne) {
  ClipInfo info;
  EXPECT_EQ(*MeantProp(info, ""), nullptr);
  EXPECT_EQ(*MeantProp(info, "mug"), nullptr);
  info.things = {Plate(), Hand()};
  EXPECT_EQ((*MeantProp(info, ""))->name, "plate") << "a hand is no prop";
  info.things.push_back(Box());
  EXPECT_EQ((*MeantProp(info, "plate"))->name, "plate");
  EXPECT_EQ((*MeantProp(info, "box_3x5x7"))->name, "box");
  ASSERT_FALSE(MeantProp(info, ""));
  EXPECT_EQ(MeantProp(info, "").error().code, ErrorCode::kInvalid);
  info.things.push_back(Thing{.name = "plate2", .model = "flat_plate"});
  EXPECT_FALSE(MeantProp(info, "flat_plate")) << "two of one model";
}

TEST(WhereItStood, IsWhatIsGivenElseWhatTheTakeSays) {
  ClipInfo info;
  info.things = {Plate()};
  const auto taken = WhereItStood(info, "", "flat_plate", {});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->thing, "plate");
  EXPECT_EQ(taken->X_WP.p.z(), 0.3);
  EXPECT_EQ(taken->chosen, "");
  const auto given = WhereItStood(info, "plate", "flat_plate", RigidTransform());
  ASSERT_TRUE(given);
  EXPECT_EQ(given->X_WP.p.z(), 0.0);
  // A scan of it stood where it did, and that is told.
  const auto scan = WhereItStood(info, "scan.stl", "scan", {});
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->thing, "scan");
  EXPECT_EQ(scan->X_WP.p.z(), 0.3);
  EXPECT_NE(scan->chosen, "");
  info.things = {Box()};
  ASSERT_FALSE(WhereItStood(info, "", "box_3x5x7", {})) << "it moves";
  EXPECT_EQ(WhereItStood(info, "", "box_3x5x7", {}).error().code, ErrorCode::kInvalid);
  info.things.clear();
  EXPECT_FALSE(WhereItStood(info, "mug", "mug", {})) << "nobody said where";
  EXPECT_TRUE(WhereItStood(info, "mug", "mug", RigidTransform()));
}

}  // namespace
}  // namespace handhold::recording::meant_prop_test
