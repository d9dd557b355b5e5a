// What free movement teaches about references: how joints bend together, whatever the markers'
// noise says about them.
#include "fitting/compliance/reference_prior.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "database/model/hand_library.h"

namespace handhold::fitting::reference_prior_test {
namespace {

double Wave(double t, double phase) {
  return 0.2 * std::sin(2 * M_PI * 2.1 * t + phase) + 0.05 * std::sin(2 * M_PI * 5.3 * t + phase) +
         0.02 * std::sin(2 * M_PI * 9.7 * t + 2 * phase);
}

/// 12 s at 500 Hz: wrist and PIP bend against each other, DIP with PIP, MP for itself; noise in
/// which PIP and DIP are told only as their sum.
artefact::PoseTrack Movement(double noise_rad) {
  const Eigen::Index frames = 6000;
  std::mt19937_64 random(5);
  std::normal_distribution<double> white;
  artefact::PoseTrack track;
  track.q.resize(4, frames);
  track.information_diagonal.setOnes(4, frames);
  for (Eigen::Index k = 0; k < frames; ++k) {
    const double t = 0.002 * static_cast<double>(k);
    track.times.push_back(Timestamp::FromSeconds(t));
    const double common = Wave(t, 0.3), own = Wave(1.37 * t, 1.9),
                 apart = noise_rad * white(random);
    track.q.col(k) << common, own, -0.7 * common + apart, -0.5 * common - 0.9 * apart;
  }
  return track;
}

ReferencePrior Learned(double noise_rad) {
  const model::Skeleton hand = model::LoadHand("finger4").value();
  const TimeRange all{Timestamp::FromSeconds(0), Timestamp::FromSeconds(12)};
  auto prior =
      LearnReferencePrior(hand, Movement(noise_rad), {all}, Duration::Milliseconds(160), 9);
  EXPECT_TRUE(prior) << prior.error().message;
  return *std::move(prior);
}

TEST(ReferencePriorTest, JointsThatBendTogetherAreSaidTo) {
  for (const double noise : {1e-6, 3e-3}) {
    const Eigen::MatrixXd r = Learned(noise).correlation;
    ASSERT_EQ(r.rows(), 4);
    EXPECT_TRUE(r.isApprox(r.transpose(), 1e-12));
    for (int j = 0; j < 4; ++j) EXPECT_DOUBLE_EQ(r(j, j), 1.0);
    // Shrunk by a tenth; with noise, what it correlates is taken off.
    EXPECT_NEAR(r(0, 2), -0.9, 0.05) << noise;
    EXPECT_NEAR(r(2, 3), 0.9, 0.05) << noise;
    EXPECT_LT(std::abs(r(0, 1)), 0.45) << noise;
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(r).eigenvalues()[0], 0.05);
  }
}

// What stands out of the noise falls off fast here; the highest degree, which does not, is
// continued slowly all the same: too tight a prior biases.
TEST(ReferencePriorTest, DegreesBelowTheNoiseFallOffSlowly) {
  const Eigen::MatrixXd variance = Learned(3e-3).variance;
  EXPECT_GT(variance.minCoeff(), 0);
  for (const int j : {2, 3}) {
    EXPECT_LT(variance(j, 8), 0.25 * variance(j, 7)) << j;
    EXPECT_GE(variance(j, 9), 0.29 * variance(j, 8)) << j;
  }
}

/// Strokes of 0.8 s one after the other, the last of them touching.
recording::Clip Strokes(int count, artefact::ContactTrack* contact) {
  recording::Clip clip{recording::ClipInfo{}};
  for (int s = 0; s < count; ++s) {
    recording::Event event;
    event.kind = "stroke";
    event.clip_time = Timestamp::FromSeconds(0.8 * s);
    event.length = Duration::FromSeconds(0.8);
    clip.AddEvent(event);
  }
  artefact::Touch touch;
  touch.onset = Timestamp::FromSeconds(0.8 * count - 0.4);
  touch.release = touch.onset + Duration::Milliseconds(200);
  contact->touches = {touch};
  return clip;
}

ReferencePrior OfTake(int strokes) {
  artefact::ContactTrack contact;
  const recording::Clip clip = Strokes(strokes, &contact);
  auto prior = ReferencePriorOfTake(clip, model::LoadHand("finger4").value(), Movement(1e-6),
                                    contact, Duration::Milliseconds(160), 9);
  EXPECT_TRUE(prior) << prior.error().message;
  return *std::move(prior);
}

TEST(ReferencePriorTest, StrokesInTheAirThatTaughtItAreCounted) {
  EXPECT_EQ(Learned(1e-6).strokes_in_the_air, 0) << "any free movement";
  int before = 0;
  for (const int strokes : {4, 8, 12}) {
    const ReferencePrior prior = OfTake(strokes);
    EXPECT_EQ(prior.strokes_in_the_air, strokes - 1) << "the last one touches";
    EXPECT_GT(prior.windows, before) << strokes;
    before = prior.windows;
  }
  // Too few windows in one stroke: all free movement has to do.
  const ReferencePrior fallback = OfTake(2);
  EXPECT_EQ(fallback.strokes_in_the_air, 0);
  EXPECT_GT(fallback.windows, 20);
}

}  // namespace
}  // namespace handhold::fitting::reference_prior_test
