#include "fitting/skeleton/skeleton_fit.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/support/marker_motion.h"

namespace handhold::fitting::skeleton_fit_test {
namespace {

using test_support::MarkerClip;
using test_support::SmoothMotion;

/// Every length times `factor`, markers moved by up to 2 mm: a template that is not this hand.
model::Skeleton Template(const model::Skeleton& hand, double factor) {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> u(-0.002, 0.002);
  model::SkeletonDraft draft = hand.draft();
  for (auto& b : draft.bodies) b.joint.X_PJp.p *= factor;
  for (auto& m : draft.markers)
    m.p_BM = factor * m.p_BM + geometry::Vec3(u(random), u(random), u(random));
  for (auto& f : draft.frames) f.X_BF.p *= factor;
  for (auto& b : draft.bodies) {
    for (auto& s : b.shapes) s.X_BS.p *= factor;
  }
  return *model::Skeleton::Build(draft);
}

model::Skeleton Finger() {
  auto hand = model::LoadHand("finger4");
  EXPECT_TRUE(hand) << hand.error().message;
  return *hand;
}

TEST(SkeletonFitTest, LengthsComeBackFromATemplateTenPercentWrong) {
  const model::Skeleton hand = Finger();
  const SmoothMotion motion(hand, 0.5, 1);
  const auto clip = MarkerClip(
      hand, [&](double t) { return motion.At(t); }, 3000, 5e-5, 1, [](int, int) { return false; });
  for (const double factor : {1.1, 0.9}) {
    SkeletonFitOptions options;
    options.frames = 60;
    auto fit = FitSkeleton(clip, Template(hand, factor), options);
    ASSERT_TRUE(fit) << fit.error().message;
    const double truth[] = {0.080, 0.045, 0.026};
    ASSERT_EQ(fit->summary.lengths.size(), 4u) << fit->summary.Brief();
    for (size_t i = 0; i < 3; ++i) {
      const SegmentLength& l = fit->summary.lengths[i];
      EXPECT_NEAR(l.length_m, truth[i], 1e-3) << l.name;
      EXPECT_NEAR(l.length_m, truth[i], 4 * l.sd_m + 1e-4) << l.name;
      EXPECT_LT(l.sd_m, 5e-4);
      EXPECT_EQ(l.source, "markers") << l.name;
    }
    EXPECT_EQ(fit->summary.lengths[3].source, "template")
        << "the end segment is not seen by markers, and that is said";
    ASSERT_FALSE(fit->summary.undetermined.empty());
    EXPECT_NE(fit->summary.undetermined.back().find("tip"), std::string::npos);
    EXPECT_EQ(fit->summary.undetermined.size(), 1u) << fit->summary.undetermined.front();
    EXPECT_NEAR(fit->summary.marker_sd_m, 5e-5, 5e-6);
    EXPECT_FALSE(fit->summary.gauges.empty());
    // Nobody can take a fitted number for the template's.
    const int pip = hand.FindBody("index.mid"), mcp = hand.FindBody("index.prx");
    EXPECT_TRUE(fit->skeleton.body(pip).joint.source.ends_with("; fitted"));
    EXPECT_TRUE(fit->skeleton.body(mcp).source.ends_with("; following the fit"));
    EXPECT_TRUE(fit->skeleton.markers()[0].source.ends_with("; fitted"));
    const double over = fit->skeleton.body(mcp).length_m / hand.body(mcp).length_m;
    EXPECT_NEAR(over, 1 / factor, 0.03) << "length_m follows the joints";
    // What stood still keeps its source: the forearm, fixed in the world.
    EXPECT_EQ(fit->skeleton.body(1).source, hand.body(1).source);
  }
}

TEST(SkeletonFitTest, AJointThatDidNotMoveIsNamed) {
  const model::Skeleton hand = Finger();
  const SmoothMotion motion(hand, 0.5, 2);
  const int pip = hand.FindDof("R.index.pip.flex");
  auto stiff = [&](double t) {
    Eigen::VectorXd q = motion.At(t);
    q[pip] = 0.3;
    return q;
  };
  const auto clip = MarkerClip(hand, stiff, 2000, 5e-5, 2, [](int, int) { return false; });
  SkeletonFitOptions options;
  options.frames = 50;
  auto fit = FitSkeleton(clip, Template(hand, 1.1), options);
  ASSERT_TRUE(fit) << fit.error().message;
  bool named = false;
  for (const std::string& u : fit->summary.undetermined)
    named = named || u.find("R.index.pip") != std::string::npos;
  EXPECT_TRUE(named) << fit->summary.Brief();
  options.require_all = true;
  auto refused = FitSkeleton(clip, Template(hand, 1.1), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnidentifiable);
}

TEST(SkeletonFitTest, WhatIsMissingIsSaid) {
  const model::Skeleton hand = Finger();
  const SmoothMotion motion(hand, 0.5, 2);
  EXPECT_EQ(FitSkeleton(recording::Clip(recording::ClipInfo{}), hand).error().code,
            ErrorCode::kNotFound);
  const auto blind = MarkerClip(
      hand, [&](double t) { return motion.At(t); }, 50, 5e-5, 2, [](int, int m) { return m < 4; });
  EXPECT_EQ(FitSkeleton(blind, hand).error().code, ErrorCode::kUnidentifiable);
  EXPECT_NE(FitSkeleton(blind, hand).error().message.find("never enough at once"),
            std::string::npos);
  SkeletonFitOptions options;
  options.range = TimeRange{Timestamp::FromSeconds(100), Timestamp::FromSeconds(110)};
  const auto elsewhere = FitSkeleton(blind, hand, options);
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, ErrorCode::kInvalid);
  EXPECT_NE(elsewhere.error().message.find("--from"), std::string::npos);
  // One marker that is never seen takes nothing from the others, and is named.
  const auto but_one = MarkerClip(
      hand, [&](double t) { return motion.At(t); }, 400, 5e-5, 2,
      [](int, int m) { return m == 4; });
  const auto fit = FitSkeleton(but_one, hand, {.frames = 40});
  ASSERT_TRUE(fit) << fit.error().message;
  bool named = false;
  for (const std::string& u : fit->summary.undetermined)
    named = named || u.find(hand.markers()[4].name + ".") != std::string::npos;
  EXPECT_TRUE(named) << fit->summary.Brief();
  options = {};
  options.frames = 2;
  EXPECT_EQ(FitSkeleton(blind, hand, options).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::fitting::skeleton_fit_test
