#include "database/model/grasp_taxonomy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace handhold::model::grasp_taxonomy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Feix 2016, table 1: types 1 to 16 are Cutkosky's, in his order.
TEST(GraspTaxonomy, NumbersAndNamesAreThePublishedOnes) {
  ASSERT_EQ(GraspTypes().size(), 33u);
  std::set<std::string_view> names;
  for (size_t i = 0; i < 33; ++i) {
    EXPECT_EQ(GraspTypes()[i].feix_number, static_cast<int>(i) + 1);
    EXPECT_TRUE(names.insert(GraspTypes()[i].feix).second) << GraspTypes()[i].feix;
    EXPECT_EQ(GraspTypes()[i].cutkosky_published, i < 16);
  }
  EXPECT_EQ(FindFeix("tripod")->feix_number, 14);
  EXPECT_EQ(FindFeix("tip-pinch")->feix_number, 24);
  EXPECT_EQ(FindFeix("ring")->feix_number, 31);
  EXPECT_EQ(FindFeix("inferior-pincer")->feix_number, 33);
  EXPECT_EQ(FindFeix("no-such"), nullptr);
}

TEST(GraspTaxonomy, CutkoskyHasSixteenAndSchlesingerSix) {
  EXPECT_EQ(TypeNames(kFeix).size(), 33u);
  EXPECT_EQ(TypeNames(kCutkosky).size(), 16u);
  EXPECT_THAT(TypeNames(kSchlesinger),
              UnorderedElementsAre("cylindrical", "tip", "hook", "palmar", "spherical", "lateral"));
  EXPECT_TRUE(TypeNames("napier").empty());
}

TEST(GraspTaxonomy, ANameOfACoarseTaxonomyMeansAllTypesUnderIt) {
  EXPECT_THAT(*FeixTypesOf("tripod"), ElementsAre("tripod"));
  EXPECT_THAT(*FeixTypesOf("tripod", kCutkosky),
              ElementsAre("tripod", "writing-tripod", "tripod-variation"));
  EXPECT_THAT(*FeixTypesOf("Tip Pinch"), ElementsAre("tip-pinch"));
  EXPECT_THAT(*FeixTypesOf("tip"), ElementsAre("tip-pinch"));
  EXPECT_THAT(*FeixTypesOf("hook"), ElementsAre("fixed-hook"));
  // Every Feix type is under exactly one name of each taxonomy.
  for (const std::string_view taxonomy : Taxonomies()) {
    std::map<std::string, int> seen;
    for (const std::string& name : TypeNames(taxonomy)) {
      for (const std::string& feix : *FeixTypesOf(name, taxonomy)) ++seen[feix];
    }
    EXPECT_EQ(seen.size(), 33u) << taxonomy;
    for (const auto& [feix, count] : seen) EXPECT_EQ(count, 1) << feix;
  }
}

TEST(GraspTaxonomy, RefusesWithANearName) {
  const auto unknown = FeixTypesOf("tripood");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("'tripod'"));
  EXPECT_EQ(FeixTypesOf("tripod", "napier").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(*CanonicalType("LARGE_diameter", kFeix), "large-diameter");
  EXPECT_EQ(CanonicalType("hook", kFeix).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace handhold::model::grasp_taxonomy_test
