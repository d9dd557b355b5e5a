// Finger gaiting: the scripted program, and a light bulb turned on its pivot by it.
#include "synthesis/interaction/gaiting_reference.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
#include "synthesis/interaction/replay.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kBulbRadius_m = 0.03;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

// Cap down, its round part's middle 20 cm up.
GaitingPlace Place() { return {.p_W = Vec3(0.3, 0, 0.2)}; }

Result<artefact::Motion> Turn(const GaitingOptions& program, double friction,
                              double damping_Nms_per_rad = 2e-3) {
  HANDHOLD_ASSIGN(const auto reference, GaitingReference(Hand(), Place(), program));
  ReplayScene scene;
  HANDHOLD_ASSIGN(const model::Prop prop, model::LoadLibraryProp("light_bulb"));
  ReplayObject bulb{prop, RigidTransform::Translation(Place().p_W)};
  bulb.pivot = ReplayPivot{Vec3::Zero(), Vec3::UnitZ(), damping_Nms_per_rad};
  scene.objects.push_back(bulb);
  ReplayOptions options;
  options.form = ReplayForm::kDamped;
  options.margin_m = 4e-3;
  options.friction = friction;
  options.step.root_compliance_m_per_N = 0.0;
  return ReplayInteraction(Hand(), reference, scene, options);
}

// Its angle, unwrapped.
double Turned_rad(const artefact::Motion& motion) {
  double angle = 0;
  const auto& X = motion.objects[0].X_WP;
  for (size_t k = 1; k < X.size(); ++k) angle += geometry::Log(X[k - 1].R.transpose() * X[k].R).z();
  return angle;
}

// Times that bodies of `finger` come to touch, breaks shorter than 50 ms overlooked.
int ContactsOf(const artefact::Motion& motion, const std::string& finger) {
  int count = 0, last = -1000;
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Side& side = motion.touches[static_cast<size_t>(row.touch)].a;
    if (!Hand().body(side.body).name.starts_with(finger)) continue;
    if (row.frame - last > 25) ++count;
    last = row.frame;
  }
  return count;
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
  const double rolled_rad = GaitingTurn(program, kBulbRadius_m, mean_m);
  EXPECT_NEAR(rolled_rad, 6 * 0.6283185 * (1 + mean_m / 0.03), 1e-6);
  RecordProperty("turned_deg", std::to_string(Turned_rad(*motion) * 180 / M_PI));
  EXPECT_NEAR(Turned_rad(*motion), rolled_rad, 0.03 * rolled_rad);
  // Three strokes of each pair: every finger comes three times.
  for (const char* finger : {"thumb", "index", "middle", "ring"})
    EXPECT_EQ(ContactsOf(*motion, finger), 3) << finger;
  EXPECT_EQ(ContactsOf(*motion, "little"), 0);
  // The pivot stays where it is.
  for (const RigidTransform& X : motion->objects[0].X_WP) {
    ASSERT_NEAR((X.p - Place().p_W).norm(), 0.0, 1e-12);
    ASSERT_NEAR(X.R(2, 2), 1.0, 1e-12);
  }
}

TEST(Gaiting, AStiffBearingSlipsInTheFingers) {
  const auto loose = Turn({}, 0.5), stiff = Turn({}, 0.5, 0.05), smooth = Turn({}, 0.02);
  ASSERT_TRUE(loose && stiff && smooth);
  EXPECT_LT(Turned_rad(*stiff), 0.7 * Turned_rad(*loose));
  EXPECT_LT(Turned_rad(*smooth), 0.9 * Turned_rad(*loose));
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
}  // namespace handhold::synthesis
