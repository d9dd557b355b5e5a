#include "database/base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::names_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EditDistance, CountsInsertionDeletionSubstitutionAndSwap) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("mass", "mas"), 1u);
  EXPECT_EQ(EditDistance("mass", "maxs"), 1u);
  EXPECT_EQ(EditDistance("inof", "info"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("ca", "abc"), 3u)
      << "optimal string alignment, not the unrestricted distance (2)";
  EXPECT_EQ(EditDistance("sitting", "kitten"), EditDistance("kitten", "sitting"));
}

TEST(NearestNames, FindsWhatAPersonMeant) {
  const std::vector<std::string> keys = {"mass_kg", "name", "joints", "position_m", "rate_Hz"};
  EXPECT_THAT(NearestNames("mas_kg", keys), ElementsAre("mass_kg"));
  EXPECT_THAT(NearestNames("mass-kg", keys), ElementsAre("mass_kg"));
  EXPECT_THAT(NearestNames("MASS_KG", keys), ElementsAre("mass_kg"));
  EXPECT_THAT(NearestNames("mass", keys), ElementsAre("mass_kg"));
  EXPECT_THAT(NearestNames("nmae", keys), ElementsAre("name"));
  EXPECT_THAT(NearestNames("colour", keys), IsEmpty());
  EXPECT_THAT(NearestNames("", keys), IsEmpty());
  EXPECT_THAT(NearestNames("x", std::vector<std::string>{"y"}), IsEmpty())
      << "two names that share nothing are not near";
}

TEST(NearestNames, NearestFirstTiesInOrderAndNoMoreThanAsked) {
  const std::vector<std::string> markers = {"RIFX", "RIFT", "RIFD", "LIFT", "RTHT"};
  EXPECT_THAT(NearestNames("RIFT", markers, 1), ElementsAre("RIFT"));
  EXPECT_THAT(NearestNames("RIFS", markers), ElementsAre("RIFX", "RIFT", "RIFD"));
}

TEST(NearestNames, AVeryLongNameCostsNothing) {
  const std::vector<std::string> keys(1000, std::string(200, 'k'));
  EXPECT_THAT(NearestNames(std::string(10'000'000, 'k'), keys), IsEmpty());
}

TEST(DidYouMean, SuggestsOrListsWhatIsKnown) {
  const std::vector<std::string> verbs = {"list", "show", "import"};
  EXPECT_EQ(DidYouMean("lsit", verbs), ": did you mean 'list'?");
  EXPECT_EQ(DidYouMean("frobnicate", verbs), ": known are 'list', 'show', 'import'");
  EXPECT_EQ(DidYouMean("x", std::vector<std::string>{}), "");
  EXPECT_EQ(DidYouMean("RIFS", std::vector<std::string>{"RIFX", "RIFT"}),
            ": did you mean 'RIFX' or 'RIFT'?");
  std::vector<std::string> many;
  for (int i = 0; i < 15; ++i) many.push_back("name" + std::to_string(i));
  EXPECT_THAT(DidYouMean("other", many), ::testing::EndsWith("'name11' and 3 more"));
}

}  // namespace
}  // namespace handhold::names_test
