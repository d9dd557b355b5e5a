#include "database/model/site.h"

#include <gtest/gtest.h>

#include "database/model/hand_library.h"

namespace handhold::model::site_test {
namespace {

TEST(SiteAt, IsTheSiteThatFacesTheContact) {
  const Skeleton hand = LoadHand("hand27").value();
  const auto named = [&](const char* body, geometry::Vec3 out_B) {
    const int site = SiteAt(hand, hand.FindBody(body), out_B);
    return site < 0 ? std::string() : hand.sites()[static_cast<size_t>(site)].name;
  };
  // Of our hands z is dorsal: the pad looks down.
  EXPECT_EQ(named("index.dst", {0, 0, -1}), "R.index.pad");
  EXPECT_EQ(named("index.dst", {0.3, 0.1, -0.9}), "R.index.pad");
  EXPECT_EQ(named("index.dst", {0, 0, 1}), "");
  EXPECT_EQ(SiteAt(hand, 0, {0, 0, -1}), -1);
}

TEST(OnlyTip, IsAFingersAndNoHands) {
  const Skeleton finger = *LoadHand("finger4");
  ASSERT_GE(OnlyTip(finger), 0);
  EXPECT_EQ(finger.frames()[static_cast<size_t>(OnlyTip(finger))].name, "index.tip");
  EXPECT_EQ(OnlyTip(*LoadHand("hand27")), -1) << "five";
}

}  // namespace
}  // namespace handhold::model::site_test
