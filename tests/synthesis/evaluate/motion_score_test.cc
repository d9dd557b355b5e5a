#include "synthesis/evaluate/motion_score.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/geometry/rotation.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"

namespace handhold::synthesis::motion_score_test {
namespace {

using artefact::ContactRow;
using artefact::Motion;
using artefact::Side;
using geometry::RigidTransform;
using geometry::Vec3;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("finger4");
  return hand;
}
std::string TipOf(const model::Skeleton& hand) {
  for (const auto& frame : hand.frames()) {
    if (frame.name.ends_with("tip")) return frame.name;
  }
  return "";
}

constexpr int kFrames = 400;
double TimeOf(int k) { return 10.0 + 0.002 * k; }

struct Made {
  Motion motion;
  std::vector<ReferenceSample> reference;  // per frame
};

// Random everything: 0 to 3 contacts a frame, some unloaded, some of another hand.
Made Random(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit;
  const auto vec = [&] { return Vec3(normal(random), normal(random), normal(random)); };
  Made made;
  Motion& motion = made.motion;
  artefact::MotionHand& hand = motion.Add(artefact::StageHand{});
  hand.dof_names = Hand().dof_names();
  hand.q.resize(Hand().nq(), kFrames);
  motion.Add(artefact::StageThing{.name = "box"});
  for (int k = 0; k < kFrames; ++k) motion.times.push_back(Timestamp::FromSeconds(TimeOf(k)));
  const Side box{Side::Kind::kThing, "box", "", 0};
  const int mine = motion.TouchBetween({Side::Kind::kHand, "R", "", 4}, box, motion.times[0]);
  const int other = motion.TouchBetween({Side::Kind::kHand, "L", "", 4}, box, motion.times[0]);
  for (int k = 0; k < kFrames; ++k) {
    for (int j = 0; j < Hand().nq(); ++j) hand.q(j, k) = 0.3 * normal(random);
    const int rows = static_cast<int>(4 * unit(random));
    for (int r = 0; r < rows; ++r) {
      ContactRow row;
      row.frame = k;
      row.touch = unit(random) < 0.8 ? mine : other;
      row.f_onA_W = unit(random) < 0.2 ? Vec3(1e-5 * vec()) : vec();
      row.p_W = vec();
      row.slip_m_per_s = 2e-3 * unit(random);
      motion.rows.push_back(row);
    }
    motion.objects[0].X_WP.push_back({geometry::Exp(vec()), vec()});
    ReferenceSample& sample = made.reference.emplace_back();
    sample.f_onHand_W = vec();
    sample.p_W = vec();
    if (unit(random) < 0.8) sample.slip_m_per_s = 2e-3 * unit(random);
    sample.X_WO = RigidTransform{geometry::Exp(vec()), vec()};
  }
  return made;
}

MotionReference ReferenceOf(const Made& made, double from_s, double to_s) {
  return [&made, from_s, to_s](double t) -> std::optional<ReferenceSample> {
    if (t < from_s || t > to_s) return std::nullopt;
    return made.reference[static_cast<size_t>(std::lround((t + 3.0 - 10.0) / 0.002))];
  };
}

MotionScoreOptions Options() {
  MotionScoreOptions options;
  options.hand = "R";
  options.frame = TipOf(Hand());
  options.object = "box";
  options.start_s = 3.0;  // the reference's clock began at 3 s of the motion's
  options.onset_s = 7.1;
  options.release_s = 7.55;
  options.early_s = 0.12;
  options.peak_N = 2.5;
  options.across_W = Vec3::UnitY();
  return options;
}

TEST(MotionScore, OptionsDescribeThemselvesWithTheEarlyWindow) {
  artefact::CheckDescribed<MotionScoreOptions>();
  EXPECT_EQ(MotionScoreOptions().early_s, 0.050);
  EXPECT_EQ(kGripEarly_s, 0.150);
}

// Everything again, by sums over frames found by their numbers, from the rows themselves.
TEST(MotionScore, EqualsSumsWrittenOut) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Made made = Random(seed);
    const MotionScore score =
        *ScoreMotion(Hand(), made.motion, ReferenceOf(made, 7.0, 7.5), Options());
    double whole[2] = {}, plane[2] = {}, tip = 0, place = 0, turn = 0;
    int count[2] = {}, slips[2][2] = {};
    model::KinematicsData data(Hand());
    // Onset 7.1 s is motion time 10.1: frame 50; the early window ends before 10.22: frame 110;
    // the reference ends at 7.5: frame 250.
    for (int k = 50; k <= 250; ++k) {
      Vec3 force = Vec3::Zero();
      double fastest = -1;
      for (const ContactRow& row : made.motion.rows) {
        if (row.frame != k || made.motion.touches[static_cast<size_t>(row.touch)].a.name != "R")
          continue;
        force += row.f_onA_W;
        if (row.f_onA_W.norm() > 1e-3) fastest = std::max(fastest, row.slip_m_per_s);
      }
      const ReferenceSample& meant = made.reference[static_cast<size_t>(k)];
      const Vec3 d = force - meant.f_onHand_W;
      const int late = k >= 110;
      whole[late] += d.x() * d.x() + d.y() * d.y() + d.z() * d.z();
      plane[late] += d.x() * d.x() + d.z() * d.z();
      ++count[late];
      model::ComputePoses<double>(Hand(), made.motion.hands[0].q.col(k), &data);
      const int frame = Hand().FindFrame(TipOf(Hand()));
      tip += (model::FramePose<double>(Hand(), data, frame).p - meant.p_W).squaredNorm();
      const RigidTransform& X = made.motion.objects[0].X_WP[static_cast<size_t>(k)];
      place += (X.p - meant.X_WO->p).squaredNorm();
      const double cosine = 0.5 * ((meant.X_WO->R.transpose() * X.R).trace() - 1);
      turn += std::pow(std::acos(std::clamp(cosine, -1.0, 1.0)), 2);
      if (late && fastest >= 0 && std::isfinite(meant.slip_m_per_s))
        ++slips[meant.slip_m_per_s > 1e-3][fastest > 1e-3];
    }
    EXPECT_EQ(score.early_frames, 60);
    EXPECT_EQ(score.late_frames, 141);
    EXPECT_NEAR(score.force_early, std::sqrt(whole[0] / count[0]) / 2.5, 1e-12);
    EXPECT_NEAR(score.force_late, std::sqrt(whole[1] / count[1]) / 2.5, 1e-12);
    EXPECT_NEAR(score.plane_early, std::sqrt(plane[0] / count[0]) / 2.5, 1e-12);
    EXPECT_NEAR(score.plane_late, std::sqrt(plane[1] / count[1]) / 2.5, 1e-12);
    EXPECT_NEAR(score.point_m, std::sqrt(tip / 201), 1e-12);
    EXPECT_NEAR(score.object_m, std::sqrt(place / 201), 1e-12);
    EXPECT_NEAR(score.object_rad, std::sqrt(turn / 201), 1e-7);
    EXPECT_EQ(score.stick_stick, slips[0][0]);
    EXPECT_EQ(score.stick_slip, slips[0][1]);
    EXPECT_EQ(score.slip_stick, slips[1][0]);
    EXPECT_EQ(score.slip_slip, slips[1][1]);
    EXPECT_GT(score.both_touch(), 40);
  }
}

TEST(MotionScore, AMotionIsItsOwnReference) {
  Made made = Random(5);
  const FrameContacts found = ContactsByFrame(made.motion, "R", 1e-3);
  for (int k = 0; k < kFrames; ++k) {
    ReferenceSample& s = made.reference[static_cast<size_t>(k)];
    s.f_onHand_W = found.f_onHand_W[static_cast<size_t>(k)];
    s.slip_m_per_s = found.slip_m_per_s[static_cast<size_t>(k)];
    s.X_WO = made.motion.objects[0].X_WP[static_cast<size_t>(k)];
    s.p_W.setConstant(std::nan(""));
  }
  const MotionScore score =
      *ScoreMotion(Hand(), made.motion, ReferenceOf(made, 7.0, 7.79), Options());
  EXPECT_EQ(score.force_early, 0.0);
  EXPECT_EQ(score.force_late, 0.0);
  EXPECT_TRUE(std::isnan(score.point_m)) << "never known";
  EXPECT_NEAR(score.object_m, 0.0, 1e-12);
  EXPECT_EQ(score.slip_agrees(), score.both_touch());
}

TEST(MotionScore, WhatIsNotThereIsRefused) {
  const Made made = Random(1);
  const auto reference = ReferenceOf(made, 7.0, 7.5);
  const auto code = [&](auto change) {
    MotionScoreOptions options = Options();
    change(options);
    const auto score = ScoreMotion(Hand(), made.motion, reference, options);
    return !score && score.error().code == ErrorCode::kInvalid;
  };
  EXPECT_TRUE(code([](auto& o) { o.hand = "X"; }));
  EXPECT_TRUE(code([](auto& o) { o.frame = "nose"; }));
  EXPECT_TRUE(code([](auto& o) { o.object = "mug"; }));
  EXPECT_TRUE(code([](auto& o) { o.peak_N = 0.0; }));
  EXPECT_FALSE(ScoreMotion(*model::LoadHand("hand27"), made.motion, reference, Options()));
}

TEST(Quantile, IsTheLowerOfTwoNeighbours) {
  EXPECT_EQ(Quantile({3, 1, 2, 4}, 0.5), 2);
  EXPECT_EQ(Quantile({3, 1, 2, 4}, 0.0), 1);
  EXPECT_EQ(Quantile({3, 1, 2, 4}, 1.0), 4);
  EXPECT_TRUE(std::isnan(Quantile({}, 0.5)));
}

}  // namespace
}  // namespace handhold::synthesis::motion_score_test
