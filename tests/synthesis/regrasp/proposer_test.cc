#include "synthesis/regrasp/proposer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"

namespace handhold::synthesis::proposer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What the contract asks of every proposer, with candidates that are only numbered.
class Counting : public Proposer {
 public:
  std::string_view name() const override { return "counting"; }
  Result<ProposerReport> Propose(const GraspRequest& request, const ProposerSink& sink) override {
    HANDHOLD_TRY(CheckWishes(request.wishes));
    ProposerReport report;
    if (!TypeMatches({{"feix", "tripod"}}, request.wishes.type)) {
      report.no_match = "no example of type '" + request.wishes.type + "': it has tripod";
      return report;
    }
    for (int k = request.wishes.part; k < request.wishes.poses; k += request.wishes.parts)
      ++report.done.planned;
    for (int k = request.wishes.part; k < request.wishes.poses; k += request.wishes.parts) {
      ++report.done.tried;
      if (k % 2 == 1) {
        ++report.refused["loose"];
      } else {
        artefact::Grasp grasp;
        grasp.proposer = name();
        grasp.scores["candidate"] = k;
        ++report.done.proposed;
        if (sink.propose && !sink.propose(std::move(grasp))) report.stopped = true;
      }
      if (sink.progress && !sink.progress(report.done)) report.stopped = true;
      if (report.stopped) break;
    }
    return report;
  }
};

struct Asked {
  model::Skeleton hand = *model::LoadHand("hand27");
  model::Prop prop;
  std::vector<int> got;
  ProposerReport Ask(const GraspWishes& wishes, int stop_after = 1000) {
    Counting proposer;
    got.clear();
    ProposerSink sink;
    sink.propose = [&](artefact::Grasp grasp) {
      got.push_back(static_cast<int>(grasp.scores.at("candidate")));
      return static_cast<int>(got.size()) < stop_after;
    };
    return *proposer.Propose({hand, "", prop, "", wishes}, sink);
  }
};

TEST(Proposer, PartsTogetherAreTheWhole) {
  Asked asked;
  GraspWishes wishes;
  wishes.poses = 7;
  const ProposerReport whole = asked.Ask(wishes);
  EXPECT_THAT(asked.got, ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(whole.refused.at("loose"), 3);
  EXPECT_EQ(whole.done.tried, 7);
  std::vector<int> parts;
  wishes.parts = 3;
  for (wishes.part = 0; wishes.part < 3; ++wishes.part) {
    asked.Ask(wishes);
    parts.insert(parts.end(), asked.got.begin(), asked.got.end());
  }
  EXPECT_THAT(parts, ::testing::UnorderedElementsAre(0, 2, 4, 6));
}

TEST(Proposer, ASinkStopsItAndKeepsWhatCame) {
  Asked asked;
  const ProposerReport report = asked.Ask({}, 2);
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(asked.got.size(), 2u);
}

TEST(Proposer, ATypeWithoutAMatchSaysSo) {
  Asked asked;
  GraspWishes wishes;
  wishes.type = "lateral";
  const ProposerReport report = asked.Ask(wishes);
  EXPECT_THAT(report.no_match, HasSubstr("lateral"));
  EXPECT_EQ(report.done.tried, 0);
}

TEST(Wishes, TypesMatchUnderAnyTaxonomyOrTheNamedOne) {
  const std::map<std::string, std::string> types = {{"feix", "tripod"}, {"cutkosky", "thumb-2"}};
  EXPECT_TRUE(TypeMatches(types, ""));
  EXPECT_TRUE(TypeMatches(types, "tripod"));
  EXPECT_TRUE(TypeMatches(types, "feix:tripod"));
  EXPECT_FALSE(TypeMatches(types, "cutkosky:tripod"));
  EXPECT_FALSE(TypeMatches(types, "feix"));
  EXPECT_FALSE(TypeMatches({}, "tripod"));
}

TEST(Wishes, RegionsByNameOrPoint) {
  model::Prop prop;
  prop.name = "mug";
  prop.grasp_regions.push_back({"handle", {0.05, 0, 0}, 0.02, -geometry::Vec3::UnitX(), "test"});
  EXPECT_EQ(RegionNamed(prop, "handle")->radius_m, 0.02);
  const auto point = RegionNamed(prop, "0.1,-0.2,0.3,0.04");
  ASSERT_TRUE(point);
  EXPECT_EQ(point->p_P, geometry::Vec3(0.1, -0.2, 0.3));
  EXPECT_EQ(point->radius_m, 0.04);
  EXPECT_EQ(point->approach_P.norm(), 0.0);
  const auto missing = RegionNamed(prop, "spout");
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("handle"));
  for (const char* bad : {"1,2,3", "1,2,3,4,5", "1,2,x,4", "1,2,3,-1", "1,2,3,0", "1,2,3,4 "})
    EXPECT_EQ(RegionNamed(prop, bad).error().code, ErrorCode::kInvalid) << bad;
}

TEST(Wishes, ShareOfContactsInARegion) {
  artefact::Grasp grasp;
  const model::GraspRegion region{"r", {0, 0, 0}, 0.01, geometry::Vec3::UnitZ(), ""};
  EXPECT_EQ(ShareInRegion(grasp, region), 0.0);
  grasp.contacts.resize(4);
  grasp.contacts[3].p_P = {0.02, 0, 0};
  EXPECT_EQ(ShareInRegion(grasp, region), 0.75);
}

TEST(Wishes, NonsenseIsRefused) {
  const auto code = [](auto change) {
    GraspWishes wishes;
    change(wishes);
    const Status status = CheckWishes(wishes);
    return !status && status.error().code == ErrorCode::kInvalid;
  };
  EXPECT_TRUE(CheckWishes({}));
  EXPECT_TRUE(code([](auto& w) { w.poses = 0; }));
  EXPECT_TRUE(code([](auto& w) { w.parts = 0; }));
  EXPECT_TRUE(code([](auto& w) { w.part = 1; }));
  EXPECT_TRUE(code([](auto& w) { w.seconds = -1; }));
  EXPECT_TRUE(code([](auto& w) { w.region = model::GraspRegion(); }));
}

}  // namespace
}  // namespace handhold::synthesis::proposer_test
