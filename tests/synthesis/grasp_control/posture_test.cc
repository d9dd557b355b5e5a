#include "synthesis/grasp_control/posture.h"

#include <random>

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/support/ball_limits.h"

namespace handhold::synthesis::posture_test {
namespace {

TEST(Posture, ClampedIsWithinEveryLimitAndTheRestIsLeftAlone) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> some(-1.2, 1.2);
  for (const char* name : {"hand57", "hand27"}) {
    const model::Skeleton hand = model::LoadHand(name).value();
    for (int run = 0; run < 20; ++run) {
      Eigen::VectorXd v(hand.nv());
      for (double& x : v) x = some(random);
      const Eigen::VectorXd q = hand.Integrate(hand.ZeroConfiguration(), v);
      const Eigen::VectorXd clamped = ClampedToLimits(hand, q);
      for (int b = 1; b < hand.body_count(); ++b) {
        const model::Joint& j = hand.body(b).joint;
        const int k = hand.q_index(b);
        if (j.type == model::JointType::kBall) {
          const auto R = [&](const Eigen::VectorXd& at) {
            return geometry::FromQuaternion(at[k], at[k + 1], at[k + 2], at[k + 3]);
          };
          EXPECT_LT(testing::OutsideBallLimits(R(clamped), j.lower_rad, j.upper_rad), 1e-6);
          if (testing::OutsideBallLimits(R(q), j.lower_rad, j.upper_rad) < -1e-6) {
            EXPECT_EQ(R(q), R(clamped));
          }
        } else if (j.type != model::JointType::kFixed && j.type != model::JointType::kFree) {
          for (int a = 0; a < j.nq(); ++a) {
            EXPECT_GE(clamped[k + a], j.lower_rad[a]);
            EXPECT_LE(clamped[k + a], j.upper_rad[a]);
            if (q[k + a] > j.lower_rad[a] && q[k + a] < j.upper_rad[a]) {
              EXPECT_EQ(clamped[k + a], q[k + a]);
            }
          }
        }
      }
      EXPECT_EQ(ClampedToLimits(hand, clamped).size(), hand.nq());
      EXPECT_LT(hand.Difference(clamped, ClampedToLimits(hand, clamped)).norm(), 1e-9);
    }
  }
}

TEST(Posture, BetweenGoesOnBeyondTheSecond) {
  const model::Skeleton hand = model::LoadHand("hand57").value();
  const Eigen::VectorXd q0 = hand.ZeroConfiguration();
  Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
  v[hand.FindDof("R.index.pip.flex")] = 0.5;
  const Eigen::VectorXd q1 = hand.Integrate(q0, v);
  EXPECT_LT(hand.Difference(Between(hand, q0, q1, 1.5), hand.Integrate(q0, 1.5 * v)).norm(), 1e-12);
  EXPECT_LT(hand.Difference(Between(hand, q0, q1, 0.0), q0).norm(), 1e-12);
  EXPECT_NEAR(hand.Difference(q0, Between(hand, q0, q1, 100)).norm(), 175.0 * M_PI / 180, 1e-9);
}

}  // namespace
}  // namespace handhold::synthesis::posture_test
