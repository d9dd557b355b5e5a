#include "fitting/skeleton/pose_fit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/support/hands.h"
#include "tests/support/marker_motion.h"

namespace handhold::fitting::pose_fit_test {
namespace {

using test_support::EveryJoint;
using test_support::MarkerClip;
using test_support::SmoothMotion;

auto Seen() {
  return [](int, int) { return false; };
}

double WorstError(const model::Skeleton& hand, const SmoothMotion& motion,
                  const artefact::PoseTrack& track) {
  double worst = 0;
  for (int k = 0; k < track.frame_count(); ++k) {
    const Eigen::VectorXd truth = motion.At(track.times[static_cast<size_t>(k)].seconds());
    worst = std::max(worst, hand.Difference(truth, track.q.col(k)).cwiseAbs().maxCoeff());
  }
  return worst;
}

TEST(PoseFitTest, FollowsTheHandFromAColdStartAndTellsItsNoise) {
  const model::Skeleton hand = EveryJoint();
  const SmoothMotion motion(hand, 0.5, 1);
  const auto clip = MarkerClip(hand, [&](double t) { return motion.At(t); }, 400, 5e-5, 1, Seen());
  PoseFitOptions options;
  options.contacts = {{Timestamp::FromSeconds(0.3), Timestamp::FromSeconds(0.4)}};
  auto fit = FitPose(clip, hand, options);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->summary.fitted, 400);
  EXPECT_NEAR(fit->summary.marker_sd_m, 5e-5, 3e-6);
  EXPECT_LT(WorstError(hand, motion, fit->track), 0.04);
  EXPECT_EQ(fit->track.dof_names, hand.dof_names());
  // Whole information from 150 ms before to 150 ms after the contact.
  EXPECT_EQ(fit->track.information.begin()->first, 75);
  EXPECT_EQ(fit->track.information.rbegin()->first, 275);
  EXPECT_NEAR(
      fit->track.information.at(100).diagonal()[3] / fit->track.information_diagonal(3, 100), 1.0,
      1e-9);
  EXPECT_NE(fit->summary.Brief().find("400 of 400"), std::string::npos);
}

TEST(PoseFitTest, AHandThatDoesNotFitIsTold) {
  const model::Skeleton hand = EveryJoint();
  for (const double sd_m : {5e-5, 3e-4, 1e-3}) {
    const auto clip =
        MarkerClip(hand, [&](double) { return hand.ZeroConfiguration(); }, 60, sd_m, 1, Seen());
    const auto fit = FitPose(clip, hand);
    ASSERT_TRUE(fit) << fit.error().message;
    int told = 0;
    for (const Issue& issue : fit->summary.issues)
      told += issue.where == "markers" && issue.what.find("RMS") != std::string::npos ? 1 : 0;
    EXPECT_EQ(told, sd_m > 5e-4 ? 1 : 0) << fit->summary.Brief();
  }
}

// The same finger, pointing elsewhere: not another hand, nor the other side's.
TEST(PoseFitTest, AHandThatOnlyPointsElsewhereIsToldSo) {
  const model::Skeleton hand = model::LoadHand("finger4").value();
  const test_support::SmoothMotion motion(hand, 0.4, 2);
  const auto clip = MarkerClip(hand, [&](double t) { return motion.At(t); }, 300, 5e-5, 1, Seen());
  for (const double degrees : {20.0, 90.0}) {
    model::SkeletonDraft draft = hand.draft();
    for (auto& body : draft.bodies) {
      if (body.parent != 0) continue;
      const Eigen::Matrix3d turn =
          Eigen::AngleAxisd(degrees * M_PI / 180, Eigen::Vector3d::UnitZ()).toRotationMatrix();
      body.joint.X_PJp.R = turn * body.joint.X_PJp.R;
    }
    const model::Skeleton turned = model::Skeleton::Build(std::move(draft)).value();
    const auto fit = FitPose(clip, turned);
    std::string said = fit ? "" : fit.error().message;
    if (fit) {
      for (const Issue& issue : fit->summary.issues) said += issue.what + "\n";
    }
    EXPECT_NE(said.find("this hand, standing or pointing elsewhere"), std::string::npos)
        << degrees << said;
    EXPECT_EQ(said.find("this subject"), std::string::npos) << said;
  }
}

TEST(PoseFitTest, OcclusionIsBridgedAndNamed) {
  const model::Skeleton hand = EveryJoint();
  const SmoothMotion motion(hand, 0.4, 2);
  auto hidden = [](int frame, int marker) {
    return (frame >= 100 && frame < 140 && marker >= 12) ||
           (frame > 200 && frame < 260 && marker == 1);
  };
  const auto clip = MarkerClip(hand, [&](double t) { return motion.At(t); }, 300, 5e-5, 2, hidden);
  auto fit = FitPose(clip, hand);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->summary.fitted, 300);
  EXPECT_EQ(fit->summary.frames_underdetermined, 40);
  const int c = hand.v_index(hand.FindBody("c"));
  EXPECT_EQ(fit->track.information_diagonal(c, 120), 0.0);
  EXPECT_GT(fit->track.information_diagonal(c, 99), 0.0);
  EXPECT_GT(fit->track.information_diagonal(c, 230), 0.0);
  ASSERT_EQ(fit->summary.issues.size(), 1u);
  EXPECT_NE(fit->summary.issues[0].what.find("j.c.flex"), std::string::npos)
      << fit->summary.issues[0].what;
  EXPECT_NE(fit->summary.issues[0].what.find("c.1"), std::string::npos);
  EXPECT_TRUE(std::isnan(fit->track.marker_residual_m(13, 120)));
}

TEST(PoseFitTest, AGhostIsLeftOut) {
  const model::Skeleton hand = EveryJoint();
  const SmoothMotion motion(hand, 0.4, 3);
  auto clip = MarkerClip(hand, [&](double t) { return motion.At(t); }, 120, 5e-5, 3, Seen());
  auto window = clip.ReadAll(1);
  recording::Clip haunted(recording::ClipInfo{});
  const int id = haunted.AddStream(clip.streams()[0], recording::ClockMap::Identity());
  recording::SampleBlock block;
  block.stream_id = id;
  block.count = 120;
  block.values = window->values;
  for (int i = 50; i < 60; ++i) block.value(3 * 7, i) += 0.03;
  haunted.Append(block);
  auto fit = FitPose(haunted, hand);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->summary.outliers, 10);
  EXPECT_LT(WorstError(hand, motion, fit->track), 0.04);
}

TEST(PoseFitTest, WhatCannotBeFittedIsRefusedByName) {
  const model::Skeleton hand = EveryJoint();
  const SmoothMotion motion(hand, 0.4, 3);
  EXPECT_EQ(FitPose(recording::Clip(recording::ClipInfo{}), hand).error().code,
            ErrorCode::kNotFound);
  const auto blind = MarkerClip(
      hand, [&](double t) { return motion.At(t); }, 20, 5e-5, 3, [](int, int m) { return m >= 9; });
  auto fit = FitPose(blind, hand);
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().code, ErrorCode::kUnidentifiable);
  EXPECT_NE(fit.error().message.find("j.b.flex"), std::string::npos) << fit.error().message;
}

// A finger's recording and the whole hand: refused at once, not after minutes of guessed joints.
TEST(PoseFitTest, AnotherHandsMarkersAreRefusedByNumber) {
  const auto finger = model::LoadHand("finger4"), whole = model::LoadHand("hand57");
  ASSERT_TRUE(finger && whole);
  const auto clip =
      MarkerClip(*finger, [&](double) { return finger->ZeroConfiguration(); }, 20, 5e-5, 3, Seen());
  const auto fit = FitPose(clip, *whole);
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().code, ErrorCode::kNotFound);
  for (const char* says : {"7 of the 30 markers of 'hand57'", "R.THU.MTC.1"})
    EXPECT_NE(fit.error().message.find(says), std::string::npos) << fit.error().message;
}

}  // namespace
}  // namespace handhold::fitting::pose_fit_test
