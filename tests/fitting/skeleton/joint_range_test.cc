#include "fitting/skeleton/joint_range.h"

#include <gtest/gtest.h>

#include <cmath>

#include "database/base/units.h"
#include "database/geometry/rotation.h"
#include "database/model/hand_library.h"

namespace handhold::fitting::joint_range_test {
namespace {

TEST(JointRangeTest, OnlyNarrowRangesCount) {
  const model::Skeleton hand = *model::LoadHand("hand57");
  const NarrowRanges ranges(hand);
  EXPECT_TRUE(ranges.any());
  const int rot = hand.FindDof("R.index.dip.rot"), flex = hand.FindDof("R.index.dip.flex");
  EXPECT_TRUE(ranges.narrow(rot));
  EXPECT_FALSE(ranges.narrow(flex));
  EXPECT_NEAR(1 / ranges.weight()[rot], DegreesToRadians(10) / std::sqrt(12.0), 1e-12);
  EXPECT_EQ(ranges.weight()[flex], 0.0);
  EXPECT_FALSE(NarrowRanges(*model::LoadHand("finger4")).any());
}

TEST(JointRangeTest, TheMiddleLeavesWideCoordinatesAlone) {
  const model::Skeleton hand = *model::LoadHand("hand57");
  const NarrowRanges ranges(hand);
  const int body = hand.FindBody("ring.mtc"), iq = hand.q_index(body);
  // Ring CMC: rot +-4, flex -3 .. 12, abd +-4 degrees: all narrow. Index DIP: flex is not.
  const int dip = hand.FindBody("index.dst"), iq_dip = hand.q_index(dip);
  Eigen::VectorXd q = hand.ZeroConfiguration();
  const geometry::Mat3 R = geometry::Exp<double>(geometry::Vec3(0, 0.7, 0.04)) *
                           geometry::Exp<double>(geometry::Vec3(0.06, 0, 0));
  q.segment<4>(iq_dip) = geometry::ToQuaternion(R);
  const Eigen::VectorXd middle = ranges.Middle(hand, q);
  const auto angles = [](const Eigen::VectorXd& at, int i) {
    return model::SwingTwist(
        geometry::FromQuaternion<double>(at[i], at[i + 1], at[i + 2], at[i + 3]));
  };
  EXPECT_LT((angles(middle, iq_dip) - Eigen::Vector3d(0, 0.7, 0)).norm(), 1e-9);
  EXPECT_LT((angles(middle, iq) - Eigen::Vector3d(0, DegreesToRadians(4.5), 0)).norm(), 1e-9);
}

}  // namespace
}  // namespace handhold::fitting::joint_range_test
