/// What a take lacks is told before anything is fitted, one thing for each lack, and nothing of a
/// take that lacks nothing.
#include "fitting/compliance/take_advice.h"

#include <gtest/gtest.h>

#include "tests/support/finger_take.h"

namespace handhold::fitting::take_advice_test {
namespace {

/// A take of events and touches alone: `air` strokes without a touch, then `touches` with one, the
/// joints `spread_rad` apart from touch to touch.
struct Take {
  model::Skeleton hand = test_support::PlanarHand(test_support::PlanarFinger());
  recording::Clip clip{recording::ClipInfo{}};
  artefact::PoseTrack pose;
  artefact::ContactTrack contact;

  Take(int air, int touches, double spread_rad, double pause_s = 1.0) {
    const int strokes = air + touches;
    const double period_s = 0.4 + pause_s;
    for (int s = 0; s < strokes; ++s) {
      recording::Event event;
      event.kind = "stroke";
      event.clip_time = Timestamp::FromSeconds(period_s * s);
      event.length = Duration::FromSeconds(period_s);
      clip.AddEvent(event);
      for (const double at : {0.0, 0.2, 0.4})
        pose.times.push_back(Timestamp::FromSeconds(period_s * s + at));
      if (s < air) continue;
      artefact::Touch touch;
      touch.a.body = 4;
      touch.task = "exploring";
      touch.onset = Timestamp::FromSeconds(period_s * s + 0.2);
      touch.release = Timestamp::FromSeconds(period_s * s + 0.4);
      contact.touches.push_back(touch);
    }
    contact.times = pose.times;
    pose.q.setZero(4, static_cast<Eigen::Index>(pose.times.size()));
    for (Eigen::Index k = 0; k < pose.q.cols(); ++k)
      pose.q.col(k).setConstant(spread_rad * static_cast<double>((k / 3) % 4));
  }
  Issues Advice() const { return AdviseOnTake(clip, hand, pose, contact); }
};

std::string Only(const Issues& issues) {
  return issues.size() == 1 && issues[0].severity == Severity::kWarning
             ? issues[0].what
             : std::to_string(issues.size()) + " issues";
}

TEST(TakeAdviceTest, ATakeThatLacksNothingIsToldNothing) {
  EXPECT_TRUE(Take(12, 24, 0.1).Advice().empty());
}

TEST(TakeAdviceTest, EachLackIsToldByItself) {
  EXPECT_NE(Only(Take(0, 24, 0.1).Advice()).find("0 strokes in the air"), std::string::npos);
  EXPECT_NE(Only(Take(12, 8, 0.1).Advice()).find("8 touches of 'exploring'"), std::string::npos);
  EXPECT_NE(Only(Take(12, 24, 0.01).Advice()).find("all in one posture"), std::string::npos);
  EXPECT_NE(Only(Take(12, 24, 0.1, -0.12).Advice()).find("23 of 24 touches begin within 100 ms"),
            std::string::npos);
  EXPECT_NE(Only(Take(3, 0, 0.1).Advice()).find("nothing was touched"), std::string::npos);
}

// Eleven of twelve plain subjects were told so, since a wrist that rests varies by nothing.
TEST(TakeAdviceTest, AFingerThatBendsBehindAWristAtRestIsInSeveralPostures) {
  Take take(12, 24, 0.1);
  take.pose.q.row(0).setZero();
  EXPECT_TRUE(take.Advice().empty());
  take.pose.q.row(2).setZero();
  EXPECT_TRUE(take.Advice().empty()) << "one joint that bends is enough";
  take.pose.q.setZero();
  EXPECT_EQ(take.Advice().size(), 1u);
}

TEST(TakeAdviceTest, APriorFromElsewhereNeedsNoStrokesInTheAir) {
  const Take take(0, 24, 0.1);
  DynamicEstimatorOptions options;
  options.reference_prior.variance.setOnes(4, 10);
  options.reference_prior.strokes_in_the_air = 12;
  EXPECT_TRUE(AdviseOnTake(take.clip, take.hand, take.pose, take.contact, options).empty());
  options.reference_prior.strokes_in_the_air = 7;  // of its own
  EXPECT_EQ(AdviseOnTake(take.clip, take.hand, take.pose, take.contact, options).size(), 1u);
}

}  // namespace
}  // namespace handhold::fitting::take_advice_test
