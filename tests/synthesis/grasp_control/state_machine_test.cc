// Figure 3 and eqs. 10-12, 15, 16 of Pollard & Zordan 2005.
#include "synthesis/grasp_control/state_machine.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::synthesis::state_machine_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

auto Is(double b0, double b1, double b2, double b3, double b4, double b5) {
  const auto near = [](double x) { return DoubleNear(x, 1e-12); };
  return ElementsAre(near(b0), near(b1), near(b2), near(b3), near(b4), near(b5));
}

TEST(StateMachine, ReachGripReleaseRetreatIsFigure3) {
  GraspStateMachine fsm({.open_while_closing = false});  // Table 1: 0, 0.05, 0.3
  EXPECT_EQ(fsm.Advance(0.4), GraspState::kNeutral);
  EXPECT_THAT(fsm.blend(0.5), Is(1, 0, 0, 0, 0, 0));
  EXPECT_EQ(fsm.Advance(0.175), GraspState::kOpeningI);
  EXPECT_THAT(fsm.blend(0.5), Is(0.5, 0.5, 0, 0, 0, 0));
  EXPECT_EQ(fsm.Advance(0.0125), GraspState::kClosing);
  EXPECT_THAT(fsm.blend(0.5), Is(0, 0.25, 0.75, 0, 0, 0));  // a = 0.75
  EXPECT_EQ(fsm.Advance(0.0), GraspState::kGripping);
  EXPECT_THAT(fsm.blend(0.0), Is(0, 0, 1, 0, 0, 0));
  EXPECT_THAT(fsm.blend(0.5), Is(0, -0.5, 1.5, 0, 0, 0));
  fsm.Command(GraspCommand::kRelease);
  EXPECT_EQ(fsm.state(), GraspState::kReleasing);
  EXPECT_THAT(fsm.blend(0.5), Is(0, 0, 0, 1, 0, 0));
  fsm.Command(GraspCommand::kAutomatic);
  EXPECT_EQ(fsm.Advance(0.0), GraspState::kReleasing);
  EXPECT_EQ(fsm.Advance(0.0125), GraspState::kOpeningII);
  EXPECT_THAT(fsm.blend(0.5), Is(0, 0, 0, 0.75, 0.25, 0));
  EXPECT_EQ(fsm.Advance(0.175), GraspState::kRelaxing);
  EXPECT_THAT(fsm.blend(0.5), Is(0, 0, 0, 0, 0.5, 0.5));
  EXPECT_EQ(fsm.Advance(0.35), GraspState::kNeutralAgain);
  EXPECT_THAT(fsm.blend(0.5), Is(0, 0, 0, 0, 0, 1));
  EXPECT_EQ(fsm.Advance(0.2), GraspState::kOpeningI);  // and once more
}

TEST(StateMachine, GraspsStayOpenWhileClosing) {
  GraspStateMachine fsm;
  fsm.Advance(0.01);
  EXPECT_EQ(fsm.state(), GraspState::kClosing);
  EXPECT_THAT(fsm.blend(1.0), Is(0, 1, 0, 0, 0, 0));
}

TEST(StateMachine, AWaveringWristDoesNotWaverTheState) {
  GraspStateMachine fsm;
  fsm.Advance(0.049);
  for (const double d : {0.053, 0.049, 0.0549}) EXPECT_EQ(fsm.Advance(d), GraspState::kClosing);
  EXPECT_EQ(fsm.Advance(0.056), GraspState::kOpeningI);
  fsm.Advance(-0.001);
  for (const double d : {0.01, 0.03, -0.02}) EXPECT_EQ(fsm.Advance(d), GraspState::kGripping);
  // The wrist retreats: whatever it held is let go.
  EXPECT_EQ(fsm.Advance(0.06), GraspState::kRelaxing);
}

TEST(StateMachine, BlendsAlwaysSumToOne) {
  for (const bool open : {false, true}) {
    GraspStateMachine fsm({.open_while_closing = open});
    const auto check = [&] {
      const Blend b = fsm.blend(0.7);
      EXPECT_NEAR(std::accumulate(b.begin(), b.end(), 0.0), 1.0, 1e-12);
    };
    for (double d = 0.5; d > -0.02; d -= 0.003) fsm.Advance(d), check();
    for (double d = -0.02; d < 0.5; d += 0.003) fsm.Advance(d), check();
    for (const GraspCommand c : {GraspCommand::kNeutral, GraspCommand::kOpen, GraspCommand::kClose,
                                 GraspCommand::kRelease}) {
      fsm.Command(c), check();
    }
  }
}

}  // namespace
}  // namespace handhold::synthesis::state_machine_test
