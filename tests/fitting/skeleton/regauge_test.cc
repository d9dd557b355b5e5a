/// Conventions chosen after a fit: no marker moves, origins, zeros and masses read like the
/// template.
#include "fitting/skeleton/regauge.h"

#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "database/model/hand_library.h"
#include "fitting/skeleton/pose_fit.h"
#include "fitting/skeleton/skeleton_fit.h"
#include "tests/support/marker_motion.h"

namespace handhold::fitting::regauge_test {
namespace {

using geometry::Vec3;
using test_support::MarkerPlaces;

model::Skeleton Finger() { return model::LoadHand("finger4").value(); }

Eigen::Matrix3d About(const Vec3& axis, double degrees) {
  return Eigen::AngleAxisd(degrees * M_PI / 180, axis.normalized()).toRotationMatrix();
}

/// Someone whose axes are tilted and whose bones meet at other angles than the template's at the
/// same zeros: each body's contents turned about its joint.
model::Skeleton Somebody(double bent_deg, double tilt_deg) {
  const model::Skeleton hand = Finger();
  model::SkeletonDraft draft = hand.draft();
  for (size_t b = 1; b < draft.bodies.size(); ++b) {
    const double sign = b % 2 == 0 ? 1 : -1;
    const Eigen::Matrix3d turn = About(Vec3::UnitY(), sign * bent_deg);
    draft.bodies[b].joint.X_PJp.R =
        draft.bodies[b].joint.X_PJp.R * About(Vec3(1, 0, 0.3), sign * tilt_deg);
    for (auto& child : draft.bodies) {
      if (child.parent == static_cast<int>(b) + 1) child.joint.X_PJp.p = turn * child.joint.X_PJp.p;
    }
    for (auto& m : draft.markers) {
      if (m.body == static_cast<int>(b) + 1) m.p_BM = turn * m.p_BM;
    }
    for (auto& f : draft.frames) {
      if (f.body == static_cast<int>(b) + 1) f.X_BF.p = turn * f.X_BF.p;
    }
  }
  return model::Skeleton::Build(std::move(draft)).value();
}

int TipOf(const model::Skeleton& hand) { return hand.FindFrame("index.tip"); }

TEST(RegaugeTest, NoMarkerMovesInAnyPoseAndTheTemplateStaysAsItIs) {
  const model::Skeleton hand = Finger();
  const auto same = Regauge(hand, hand, TipOf(hand));
  ASSERT_TRUE(same);
  EXPECT_LT(same->angle_change.cwiseAbs().maxCoeff(), 1e-12);
  model::Skeleton fitted = Somebody(20, 4);
  model::SkeletonDraft beside = fitted.draft();  // ... laid 12 mm beside the finger
  for (auto& m : beside.markers) m.p_BM.y() += 0.012;
  for (auto& f : beside.frames) f.X_BF.p.y() += 0.012;
  fitted = model::Skeleton::Build(std::move(beside)).value();
  const auto made = Regauge(fitted, hand, TipOf(hand));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_GT(made->angle_change.cwiseAbs().maxCoeff(), 0.3);
  const test_support::SmoothMotion motion(hand, 0.6, 3);
  for (double t = 0; t < 2; t += 0.23) {
    const Eigen::VectorXd q = motion.At(t);
    EXPECT_LT((MarkerPlaces(fitted, q) -
               MarkerPlaces(made->skeleton, fitted.Integrate(q, made->angle_change)))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-12);
  }
}

// The finger's axes are a few degrees off its bodies' Y, along which markers are laid here.
TEST(RegaugeTest, OriginsLieInTheFingerAndBonesWhereTheTemplateHasThem) {
  const model::Skeleton hand = Finger();
  model::SkeletonDraft beside = Somebody(20, 0).draft();
  for (auto& m : beside.markers) m.p_BM.y() += 0.012;
  for (auto& f : beside.frames) f.X_BF.p.y() += 0.012;
  const model::Skeleton fitted = model::Skeleton::Build(std::move(beside)).value();
  const auto made = Regauge(fitted, hand, TipOf(hand));
  ASSERT_TRUE(made) << made.error().message;
  for (int b = 2; b < hand.body_count(); ++b) {
    EXPECT_NEAR(std::abs(made->origin_moved_m[static_cast<size_t>(b)]), 0.012, 5e-4) << b;
    const Vec3 there = made->skeleton.body(b).joint.X_PJp.p;
    const bool on_the_finger = b == 2 || (there - hand.body(b).joint.X_PJp.p).norm() < 1e-3;
    EXPECT_TRUE(on_the_finger) << b;
    EXPECT_GT(BoneTurn(made->skeleton, hand, b, TipOf(hand)).trace(), 3 - 1e-3);
  }
  for (size_t m = 0; m < hand.markers().size(); ++m)
    EXPECT_LT((made->skeleton.markers()[m].p_BM - hand.markers()[m].p_BM).norm(), 1e-3);
}

// A template laid beside the hand, its bones at other angles: lengths within their sd, masses on
// the bones, and the hand's own limits hold no frame.
TEST(RegaugeTest, AFitReadsLikeItsTemplate) {
  const model::Skeleton somebody = Somebody(15, 6);
  const test_support::SmoothMotion motion(somebody, 0.6, 5);
  const auto clip = test_support::MarkerClip(
      somebody, [&](double t) { return motion.At(t); }, 3000, 5e-5, 1,
      [](int, int) { return false; });
  model::SkeletonDraft beside = Finger().draft();
  for (auto& b : beside.bodies) {
    if (b.parent == 0) b.joint.X_PJp.p.y() -= 0.012;
  }
  const model::Skeleton begin = model::Skeleton::Build(std::move(beside)).value();
  SkeletonFitOptions options;
  options.frames = 80;
  const auto fit = FitSkeleton(clip, begin, options);
  ASSERT_TRUE(fit) << fit.error().message;
  const double truth_m[] = {0.080, 0.045, 0.026};
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(fit->summary.lengths[i].length_m, truth_m[i],
                3 * fit->summary.lengths[i].sd_m + 5e-5)
        << fit->summary.lengths[i].name << " sd " << fit->summary.lengths[i].sd_m;
  for (int b = 2; b + 1 < somebody.body_count(); ++b) {
    const model::Body& body = fit->skeleton.body(b);
    const Vec3 bone = fit->skeleton.body(b + 1).joint.X_PJp.p;
    EXPECT_LT(body.mass.p_BCom.normalized().cross(bone.normalized()).norm(), 1e-6)
        << body.name << ": its centre of mass lies off its bone";
    EXPECT_NEAR(fit->skeleton.body(b + 1).joint.X_PJp.p.y(), 0, 0.004) << "the origin is beside";
  }
}

// A hand whose limits hold it says so, and where.
TEST(RegaugeTest, FramesHeldAtALimitAreCounted) {
  const model::Skeleton hand = Finger();
  const test_support::SmoothMotion motion(hand, 0.6, 5);
  const auto clip = test_support::MarkerClip(
      hand, [&](double t) { return motion.At(t); }, 600, 5e-5, 1, [](int, int) { return false; });
  const auto free = FitPose(clip, hand);
  ASSERT_TRUE(free) << free.error().message;
  EXPECT_EQ(free->summary.frames_at_limit, 0);
  EXPECT_TRUE(free->summary.issues.empty());
  model::SkeletonDraft draft = hand.draft();
  const int pip = hand.FindBody("index.mid");
  draft.bodies[static_cast<size_t>(pip - 1)].joint.upper_rad[0] = 0.2;
  draft.bodies[static_cast<size_t>(pip - 1)].joint.lower_rad[0] = -0.8;
  const model::Skeleton held = model::Skeleton::Build(std::move(draft)).value();
  const auto fit = FitPose(clip, held);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_GT(fit->summary.frames_at_limit, 30);
  bool told = false;
  for (const Issue& issue : fit->summary.issues) {
    told = told ||
           (issue.where == "limits" && issue.what.find("R.index.pip.flex") != std::string::npos &&
            issue.what.find(std::to_string(fit->summary.frames_at_limit) + " of") == 0);
  }
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace handhold::fitting::regauge_test
