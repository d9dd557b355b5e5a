#include "database/text/json_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::text::json_view_test {
namespace {

using ::testing::HasSubstr;

const Json& Hand() {
  static const Json kHand = *ParseJson(R"({
  "name": "finger4",
  "rate_Hz": 500,
  "bodies": [
    {"mass_kg": 0.3, "position_m": [0.1, 0, -2e-3]},
    {"mass_kg": "x", "position_m": [0.1, 0]},
    {"mass/kg": 1, "list": [1, 2, "three"]}
  ]
})");
  return kHand;
}

template <typename T>
std::string ErrorOf(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(JsonView, TypedGettersReturnTheValue) {
  const JsonView hand(Hand());
  EXPECT_EQ(*hand.Get<std::string>("name"), "finger4");
  EXPECT_EQ(*hand.Get<int>("rate_Hz"), 500);
  EXPECT_EQ(*hand.Get<double>("rate_Hz"), 500.0);
  EXPECT_EQ(*hand.GetOr<double>("absent", 2.5), 2.5);
  const auto bodies = *hand.GetItems("bodies");
  ASSERT_EQ(bodies.size(), 3u);
  EXPECT_EQ(*bodies[0].GetFixed<3>("position_m"), (std::array<double, 3>{0.1, 0, -2e-3}));
  EXPECT_TRUE(hand.GetItems("absent")->empty());
  EXPECT_EQ(hand.Members()->at(1).first, "rate_Hz");
  EXPECT_EQ(bodies[2].Members()->at(0).second.path(), "/bodies/2/mass~1kg");
}

TEST(JsonView, ErrorsNameFileLinePathExpectedAndFound) {
  const JsonView hand(Hand(), "hand.json");
  const auto bodies = *hand.GetItems("bodies");
  EXPECT_EQ(ErrorOf(bodies[1].Get<double>("mass_kg")),
            "hand.json:6: /bodies/1/mass_kg: expected a number, found string \"x\"");
  EXPECT_EQ(ErrorOf(bodies[1].GetFixed<3>("position_m")),
            "hand.json:6: /bodies/1/position_m: expected 3 numbers, found 2");
  EXPECT_EQ(ErrorOf(bodies[2].Get<std::vector<double>>("list")),
            "hand.json:7: /bodies/2/list/2: expected a number, found string \"three\"");
  EXPECT_EQ(ErrorOf(hand.Get<double>("rate_hz")),
            "hand.json:1: the key 'rate_hz' is missing: did you mean 'rate_Hz'?");
  EXPECT_THAT(ErrorOf(hand.GetOr<bool>("name", true)),
              HasSubstr("/name: expected true or false, found string \"finger4\""));
  EXPECT_THAT(ErrorOf(hand.Get<std::string>("rate_Hz")),
              HasSubstr("expected a string, found integer 500"));
  EXPECT_THAT(ErrorOf(hand.At(size_t{0})), HasSubstr("expected an array, found object of 3"));
  EXPECT_THAT(ErrorOf((*hand.At("bodies")).At(7)),
              HasSubstr("/bodies: element 7 is missing: the array has 3"));
  const Json built(1);
  EXPECT_EQ(JsonView(built).Fail("wrong").message, "wrong");
}

TEST(JsonView, AnIntIsRangeChecked) {
  const Json json = Json::Array({int64_t{1} << 40, 1.5});
  EXPECT_THAT(ErrorOf(JsonView(json).At(size_t{0})->As<int>()),
              HasSubstr("/0: expected an integer of 32 bits"));
  EXPECT_THAT(ErrorOf(JsonView(json).At(1)->As<int64_t>()),
              HasSubstr("/1: expected an integer, found number 1.5"));
}

TEST(JsonView, UnknownKeysAreRefusedWithTheNearest) {
  const JsonView hand(Hand(), "hand.json");
  EXPECT_TRUE(hand.RequireKnownKeys({"name", "rate_Hz", "bodies", "other"}));
  EXPECT_EQ(ErrorOf(hand.RequireKnownKeys({"name", "rates_Hz", "bodies"})),
            "hand.json:3: unknown key 'rate_Hz': did you mean 'rates_Hz'?");
}

}  // namespace
}  // namespace handhold::text::json_view_test
