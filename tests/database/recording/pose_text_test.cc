#include "database/recording/pose_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::recording::pose_text_test {
namespace {

using ::testing::HasSubstr;

TEST(PoseText, ThreeNumbersAreAPlaceAndSevenAPose) {
  const auto place = ParsePose("0.12, 0 -75e-3");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->p, geometry::Vec3(0.12, 0, -0.075));
  EXPECT_TRUE(place->R.isIdentity(0));
  // A quarter turn about z, scalar first: x goes to y.
  const auto turned = ParsePose("1 2 3  0.70710678 0 0 0.70710678");
  ASSERT_TRUE(turned);
  EXPECT_LT((turned->R * geometry::Vec3::UnitX() - geometry::Vec3::UnitY()).norm(), 1e-12);
}

TEST(PoseText, WhatIsWrittenIsRead) {
  geometry::RigidTransform X;
  X.p = {0.1, -1.0 / 3, 1e-9};
  X.R = geometry::Exp<double>(geometry::Vec3(0.3, -1.2, 2.1));
  const auto back = ParsePose(FormatPose(X));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->p, X.p);
  EXPECT_LT((back->R - X.R).norm(), 1e-14);
}

TEST(PoseText, WhatIsNoPoseIsRefusedWithTheFormThatIsExpected) {
  for (const char* text : {"", "1 2", "1 2 3 4", "1 2 x", "1 2 nan", "0 0 0 0 0 0 0",
                           "0 0 0 2 0 0 0", "1 2 3 1 0 0 0 0", "1 2 3m"}) {
    const auto parsed = ParsePose(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("x y z"));
  }
}

}  // namespace
}  // namespace handhold::recording::pose_text_test
