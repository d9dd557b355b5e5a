// A whole grasp over time: reach, close, hold, by distance or by keys; the same keys, the same
// bits.
#include "synthesis/grasp_control/grasp_run.h"

#include <cmath>

#include <gtest/gtest.h>

#include "database/artefact/grasp_file.h"
#include "database/model/hand_library.h"
#include "synthesis/grasp_control/setpoints.h"

namespace handhold::synthesis::grasp_run_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

struct Story {
  artefact::Grasp grasp;
  model::Skeleton hand;
  model::Prop prop;
  artefact::SetpointSet set;
  PalmPath path;
  RigidTransform X_WGrip;

  explicit Story(const std::string& name)
      : grasp(artefact::LoadLibraryGrasp(name).value()),
        hand(model::LoadHand(grasp.skeleton_name).value()),
        prop(model::LoadLibraryProp(grasp.prop).value()),
        set(SetpointsOf(hand, grasp).value()) {
    // Of our hands the palm is the skeleton's world at zero.
    X_WGrip = grasp.X_PH;
    const RigidTransform away{X_WGrip.R, X_WGrip.p + 0.32 * X_WGrip.R.col(2)};
    path = Reach(away, X_WGrip, 0.1, 0.9);
    const RigidTransform up{X_WGrip.R, X_WGrip.p + Vec3(0, 0, 0.1)};
    Append(up, 0.9, 0.5, &path);
  }
  /// 100 g of it, with friction 0.6.
  artefact::Stage Stage(bool weightless = true) const {
    artefact::Stage stage;
    if (weightless) stage.gravity_W.setZero();
    artefact::StageHand staged;
    staged.skeleton.value = std::make_shared<const model::Skeleton>(hand);
    staged.q = hand.ZeroConfiguration();
    stage.Add(staged);
    stage.Add(artefact::Placed(prop, {}, artefact::StageThing::Is::kFree, 0.1, 0.6));
    return stage;
  }
  std::unique_ptr<GraspRun> Begin(const GraspRunOptions& options, bool weightless = true) const {
    return GraspRun::Create({Stage(weightless), set, X_WGrip, path}, options).value();
  }
};

TEST(GraspRun, ReachesClosesLiftsByDistanceAlone) {
  for (const char* name : {"hand57_cylinder", "hand27_cylinder"}) {
    const Story story(name);
    GraspRunOptions options;
    options.seconds = 3.0;
    const auto run = story.Begin(options, false);
    std::vector<GraspState> states = {run->state()};
    while (!run->done()) {
      ASSERT_TRUE(run->Step()) << name;
      if (run->state() != states.back()) states.push_back(run->state());
    }
    EXPECT_EQ(states, (std::vector<GraspState>{GraspState::kNeutral, GraspState::kOpeningI,
                                               GraspState::kClosing, GraspState::kGripping}))
        << name;
    ASSERT_TRUE(run->let_go_s()) << name;
    const artefact::Motion motion = run->TakeMotion();
    ASSERT_TRUE(artefact::CheckMotion(motion));
    EXPECT_EQ(motion.times.size(), 301u);
    EXPECT_GT(motion.objects.front().X_WP.back().p.z(), 0.08) << name;  // lifted with the palm
    EXPECT_FALSE(motion.touches.empty());
    ASSERT_EQ(motion.phases.size(), 3u);
    EXPECT_EQ(motion.phases[0].name, artefact::phase::kReach);
    EXPECT_EQ(motion.phases[1].name, artefact::phase::kClose);
    EXPECT_EQ(motion.phases[2].name, artefact::phase::kHold);
    EXPECT_EQ(motion.phases[2].range.end, motion.times.back());
    EXPECT_GT(motion.FindSeries("grip")->values[300], 1.0);
    // Forces of the last frame carry the weight.
    Vec3 sum = Vec3::Zero();
    for (const artefact::ContactRow& row : motion.rows)
      if (row.frame == 300) sum += row.f_onA_W;
    EXPECT_NEAR(sum.z(), -0.1 * 9.81, 0.15) << name;
  }
}

TEST(GraspRun, TheLogOfKeysReplaysToTheBit) {
  const Story story("hand27_cylinder");
  GraspRunOptions options;
  options.seconds = 2.0;
  const auto live = story.Begin(options);
  while (!live->done()) {
    const double t = live->time_s();
    if (std::abs(t - 0.3) < 1e-9) {
      ASSERT_TRUE(live->Press("open"));
    }
    if (std::abs(t - 1.1) < 1e-9) {
      ASSERT_TRUE(live->Press("close"));
    }
    if (std::abs(t - 1.4) < 1e-9) {
      ASSERT_TRUE(live->Press("alpha", 0.3));
    }
    if (std::abs(t - 1.5) < 1e-9) {
      ASSERT_TRUE(live->Press("z", 0.02));
    }
    if (std::abs(t - 1.7) < 1e-9) {
      ASSERT_TRUE(live->Press("release"));
    }
    ASSERT_TRUE(live->Step());
  }
  ASSERT_EQ(live->keys().size(), 5u);
  EXPECT_NEAR(live->world().X_WPalm(0).p.z() - story.path.At(2.0).p.z(), 0.02, 1e-3);
  const std::string log = FormatKeys(live->keys(), options.step_s);
  options.keys = ParseKeys(log, options.step_s).value();
  EXPECT_EQ(options.keys, live->keys());
  const auto replay = story.Begin(options);
  while (!replay->done()) ASSERT_TRUE(replay->Step());
  EXPECT_EQ(replay->keys(), live->keys());
  const artefact::Motion a = live->TakeMotion(), b = replay->TakeMotion();
  EXPECT_EQ(a.hands[0].q, b.hands[0].q);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (size_t i = 0; i < a.rows.size(); ++i) EXPECT_EQ(a.rows[i].f_onA_W, b.rows[i].f_onA_W);
  options.keys.pop_back();
  const auto other = story.Begin(options);
  while (!other->done()) ASSERT_TRUE(other->Step());
  EXPECT_NE(a.hands[0].q, other->TakeMotion().hands[0].q);
}

TEST(GraspRun, AHandThatBeginsRoundItsPropBeginsOpen) {
  const Story story("hand57_cylinder");
  GraspRunOptions options;
  options.keys = {{0, "open", 0.0}};
  const auto run =
      GraspRun::Create({story.Stage(), story.set, story.X_WGrip, {{0.0}, {story.X_WGrip}}}, options)
          .value();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(run->Step());
    EXPECT_LT(run->world().GripOn(0, 0).normal_N, 1.0);
    EXPECT_EQ(run->state(), GraspState::kOpeningI);  // as told, though the distance says grip
  }
}

TEST(GraspRun, KeysAreReadOrRefusedByWord) {
  const auto keys = ParseKeys("open@0.4,close@0.9,alpha=0.7@1.2", 2e-3).value();
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(keys[1], (GraspKey{450, "close", 0.0}));
  EXPECT_EQ(keys[2], (GraspKey{600, "alpha", 0.7}));
  EXPECT_TRUE(ParseKeys("", 2e-3)->empty());
  EXPECT_EQ(FormatKeys(keys, 2e-3), "open@0.4,close@0.9,alpha=0.7@1.2");
  for (const char* bad : {"open", "clsoe@1", "w=1@1", "z=a@1", "open@x", "open@-1", "alpha=@1",
                          "open@0.4,,close@1"}) {
    const auto refused = ParseKeys(bad, 2e-3);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  }
}

TEST(GraspRun, ARunThatIsLostKeepsWhatItHas) {
  const Story story("hand27_cylinder");
  GraspRunOptions options;
  options.seconds = 0.5;
  const auto run = story.Begin(options);
  Status status;
  while (!run->done() && status) {
    if (run->time_s() > 0.2) {
      World& world = run->world().world();
      const int tip = run->world().hand_in_world(0).engine_body(run->skeleton().body_count() - 1);
      ASSERT_TRUE(world.AddForce(tip, Vec3(0, 0, 1e9), world.com_W(tip)));
    }
    status = run->Step();
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotConverged);
  const artefact::Motion motion = run->TakeMotion();
  EXPECT_EQ(motion.verdict.kind, artefact::Verdict::Kind::kLost);
  EXPECT_FALSE(motion.verdict.cause.empty());
  EXPECT_GE(motion.times.size(), 20u);
  EXPECT_TRUE(artefact::CheckMotion(motion));
}

TEST(PalmPath, IsSmoothAndAtRestAtBothEnds) {
  const RigidTransform a, b{geometry::Exp<double>(Vec3(0.2, 0.4, 0)), Vec3(0.3, 0, 0.1)};
  const PalmPath path = Reach(a, b, 0.5, 1.0);
  ASSERT_TRUE(CheckPath(path));
  EXPECT_EQ(path.At(0).p, a.p);
  EXPECT_EQ(path.At(2).p, b.p);
  Vec3 last = Vec3::Zero();
  for (double t = 0.4; t < 1.6; t += 1e-3) {
    const Vec3 v = (path.At(t + 1e-3).p - path.At(t).p) / 1e-3;
    EXPECT_LT((v - last).norm(), 0.02) << t;  // below 20 m/s^2 by sampling
    last = v;
  }
  EXPECT_LT((path.At(1.0).p - 0.5 * b.p).norm(), 1e-9);
  PalmPath bad = path;
  bad.times_s[3] = bad.times_s[2];
  EXPECT_FALSE(CheckPath(bad));
}

}  // namespace
}  // namespace handhold::synthesis::grasp_run_test
