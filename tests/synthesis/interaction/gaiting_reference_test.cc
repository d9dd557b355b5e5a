// Finger gaiting: the scripted program, and a light bulb turned on its pivot by it.
#include "synthesis/interaction/gaiting_reference.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/kinematics.h"
#include "synthesis/interaction/replay.h"
#include "tests/support/bulb_scene.h"

namespace handhold::synthesis::gaiting_reference_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

const model::Skeleton& Hand() { return testing::BulbHand(); }
GaitingPlace Place() { return testing::BulbPlace(); }

Result<artefact::Motion> Turn(const GaitingOptions& program, double friction,
                              double damping_Nms_per_rad = 2e-3) {
  HANDHOLD_ASSIGN(const auto reference, GaitingReference(Hand(), Place(), program));
  return ReplayInteraction(Hand(), reference, testing::BulbOnPivot(friction, damping_Nms_per_rad),
                           testing::BulbReplay());
}

constexpr double kTipRadius_m[] = {0.0095, 0.0075, 0.0075, 0.0070};  // thumb, index, middle, ring

TEST(Gaiting, TipsGoRoundTheBallInPairsInTurn) {
  const GaitingOptions o;
  const auto reference = GaitingReference(Hand(), Place(), o);
  ASSERT_TRUE(reference) << reference.error().message;
  model::KinematicsData data(Hand());
  const auto tip = [&](Timestamp t, const char* name) -> Vec3 {
    const auto k = static_cast<Eigen::Index>(std::llround((t - Timestamp()).seconds() / o.frame_s));
    model::ComputePoses<double>(Hand(), reference->q_reference.col(k), &data);
    return model::FramePose<double>(Hand(), data, Hand().FindFrame(name)).p - Place().p_W;
  };
  const char* const names[] = {"thumb.tip", "index.tip", "middle.tip", "ring.tip"};
  for (int n = 0; n < o.strokes; ++n) {
    const TimeRange stroke = GaitingStroke(o, n);
    for (int i = 0; i < 4; ++i) {
      const Vec3 begin = tip(stroke.begin, names[i]), end = tip(stroke.end, names[i]);
      const double turned = std::atan2(begin.cross(end).z(), begin.dot(end));
      const bool turns = (i % 2) == (n % 2);
      const double skin_m = begin.norm() - kTipRadius_m[i] - 0.0335;
      EXPECT_NEAR(begin.z(), 0.0, 2e-5);
      EXPECT_NEAR(begin.norm(), end.norm(), 1e-4);
      if (turns) {
        EXPECT_NEAR(skin_m, -o.depth_m, 1e-4) << names[i] << n;
        EXPECT_NEAR(turned, 2 * o.swing_rad, 1e-3) << names[i] << n;
      } else {
        EXPECT_NEAR(skin_m, o.clearance_m, 1e-4) << names[i] << n;
        // Back, once it has turned.
        EXPECT_NEAR(turned, n == 0 ? 0.0 : -2 * o.swing_rad, 1e-3) << names[i] << n;
      }
    }
  }
}

// Tips that roll without slipping: (R + r) / R, of the four tips' mean radius.
TEST(Gaiting, ALightBulbOnItsPivotIsTurnedAsRollingTipsTurnIt) {
  const GaitingOptions program;
  const auto motion = Turn(program, 0.5);
  ASSERT_TRUE(motion) << motion.error().message;
  EXPECT_EQ(UnsolvedSteps(*motion), 0);
  double mean_m = 0;
  for (const double r : kTipRadius_m) mean_m += 0.25 * r;
  const double rolled_rad = GaitingTurn(program, testing::kBulbRadius_m, mean_m);
  EXPECT_NEAR(rolled_rad, 6 * 0.6283185 * (1 + mean_m / 0.03), 1e-6);
  RecordProperty("turned_deg", std::to_string(testing::BulbTurned_rad(*motion) * 180 / M_PI));
  EXPECT_NEAR(testing::BulbTurned_rad(*motion), rolled_rad, 0.03 * rolled_rad);
  // Three strokes of each pair: every finger comes three times.
  for (const char* finger : {"thumb", "index", "middle", "ring"})
    EXPECT_EQ(testing::BulbContactsOf(*motion, finger), 3) << finger;
  EXPECT_EQ(testing::BulbContactsOf(*motion, "little"), 0);
  // The pivot stays where it is.
  for (const RigidTransform& X : motion->objects[0].X_WP) {
    ASSERT_NEAR((X.p - Place().p_W).norm(), 0.0, 1e-12);
    ASSERT_NEAR(X.R(2, 2), 1.0, 1e-12);
  }
}

TEST(Gaiting, AStiffBearingSlipsInTheFingers) {
  const auto loose = Turn({}, 0.5), stiff = Turn({}, 0.5, 0.05), smooth = Turn({}, 0.02);
  ASSERT_TRUE(loose && stiff && smooth);
  EXPECT_LT(testing::BulbTurned_rad(*stiff), 0.7 * testing::BulbTurned_rad(*loose));
  EXPECT_LT(testing::BulbTurned_rad(*smooth), 0.9 * testing::BulbTurned_rad(*loose));
  EXPECT_EQ(UnsolvedSteps(*stiff) + UnsolvedSteps(*smooth), 0);
}

TEST(Gaiting, TheOtherHandTurnsTheSameWay) {
  const model::Skeleton left = model::Mirrored(Hand());
  GaitingOptions program;
  program.strokes = 1;
  const auto reference = GaitingReference(left, Place(), program);
  ASSERT_TRUE(reference) << reference.error().message;
  EXPECT_EQ(reference->hand, "L");
  model::KinematicsData data(left);
  const auto thumb = [&](Timestamp t) -> Vec3 {
    const auto k =
        static_cast<Eigen::Index>(std::llround((t - Timestamp()).seconds() / program.frame_s));
    model::ComputePoses<double>(left, reference->q_reference.col(k), &data);
    return model::FramePose<double>(left, data, left.FindFrame("thumb.tip")).p - Place().p_W;
  };
  const TimeRange stroke = GaitingStroke(program, 0);
  EXPECT_GT(thumb(stroke.begin).cross(thumb(stroke.end)).z(), 0.0);
}

TEST(Gaiting, RefusesWhatIsNoSense) {
  GaitingPlace place = Place();
  place.radius_m = 0.2;
  EXPECT_EQ(GaitingReference(Hand(), place, {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(GaitingReference(Hand(), Place(), {.strokes = 0}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(GaitingReference(Hand(), Place(), {.stroke_s = 0.0}).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis::gaiting_reference_test
