#include "synthesis/grasp_search/search_proposer.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/synthesis/grasp_search/scripted_space.h"

namespace handhold::synthesis::search_proposer_test {
namespace {

using geometry::Vec3;

struct Scene {
  HandSurface hand = test_support::Hand27();
  GraspSearcher searcher = *GraspSearcher::Build(
      hand, test_support::ScriptedSpace({"medium-wrap", "tripod", "palmar-pinch"}, 14));
  model::Prop prop = [] {
    model::Prop p;
    p.name = "bar";
    p.friction = 0.6;
    p.shapes.push_back({"bar", {}, geometry::Cylinder{0.018, 0.2}, ""});
    return p;
  }();
  std::vector<artefact::Grasp> Ask(const GraspWishes& wishes, ProposerReport* report = nullptr) {
    SearchProposer proposer(searcher);
    std::vector<artefact::Grasp> got;
    const auto answer = *proposer.Propose({hand.skeleton(), "", prop, "", wishes},
                                          {.propose =
                                               [&](artefact::Grasp g) {
                                                 got.push_back(std::move(g));
                                                 return true;
                                               },
                                           .progress = {}});
    if (report != nullptr) *report = answer;
    return got;
  }
};

TEST(SearchProposer, ProposesWhatTheWishesSay) {
  Scene s;
  ProposerReport report;
  const auto tripods =
      s.Ask({.region = {}, .type = "feix:tripod", .X_PTable = {}, .poses = 6}, &report);
  ASSERT_FALSE(tripods.empty());
  EXPECT_EQ(report.done.tried, 6);
  EXPECT_EQ(report.done.proposed, static_cast<int>(tripods.size()));
  for (const artefact::Grasp& g : tripods) {
    EXPECT_EQ(g.proposer, "search");
    EXPECT_EQ(g.types.at("feix"), "tripod");
    EXPECT_EQ(g.tau_squeeze_Nm.size(), 27);
    EXPECT_EQ(g.q_open.size(), 28);
    EXPECT_GE(g.scores.at("candidate"), 0);
  }
  s.Ask({.region = {}, .type = "hook", .X_PTable = {}, .poses = 6}, &report);
  EXPECT_NE(report.no_match.find("palmar-pinch"), std::string::npos);
}

TEST(SearchProposer, PartsTogetherAreTheWhole) {
  Scene s;
  const auto key = [](const artefact::Grasp& g) {
    return std::pair(g.scores.at("candidate"), g.q[8]);
  };
  std::set<std::pair<double, double>> whole, parts;
  for (const auto& g : s.Ask({.region = {}, .type = {}, .X_PTable = {}, .poses = 9}))
    whole.insert(key(g));
  for (int part = 0; part < 3; ++part) {
    GraspWishes wishes;
    wishes.poses = 9;
    wishes.part = part;
    wishes.parts = 3;
    for (const auto& g : s.Ask(wishes)) {
      EXPECT_EQ(static_cast<int>(g.scores.at("candidate")) % 3, part);
      parts.insert(key(g));
    }
  }
  EXPECT_FALSE(whole.empty());
  EXPECT_EQ(whole, parts);
}

TEST(SearchProposer, KeepsOffTheTable) {
  Scene s;
  GraspWishes wishes;
  wishes.poses = 12;
  wishes.X_PTable = geometry::RigidTransform::Translation(Vec3(0, 0, -0.1));
  for (const auto& g : s.Ask(wishes)) {
    model::KinematicsData data(s.hand.skeleton());
    model::ComputePoses(s.hand.skeleton(), g.q, &data);
    for (const SkinSphere& sphere : s.hand.fine_spheres()) {
      EXPECT_GT((data.X_WB[static_cast<size_t>(sphere.body)] * sphere.p_B).z() - sphere.radius_m,
                -0.1 - 0.0011);
    }
  }
}

}  // namespace
}  // namespace handhold::synthesis::search_proposer_test
