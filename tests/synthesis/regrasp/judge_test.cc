#include "synthesis/regrasp/judge.h"

#include <algorithm>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"

namespace handhold::synthesis::judge_test {
namespace {

using artefact::Grasp;
using artefact::GraspTest;
using ::testing::ElementsAre;

// Answers by name: how far each moved in the short trial, and who holds by the protocol.
class Planted : public GraspTrial {
 public:
  std::map<std::string, double> worst;
  std::map<std::string, bool> holds;
  std::vector<std::string> tested;
  Result<GraspTest> Quick(const Grasp& grasp) override {
    GraspTest test;
    test.engine = "planted";
    test.passed = worst.at(grasp.name) < 1.0;
    test.figures["worst"] = worst.at(grasp.name);
    return test;
  }
  Result<Grasp> Settled(const Grasp& grasp) override {
    Grasp settled = grasp;
    settled.X_PH.p.x() += 1.0;  // seen in what is kept
    return settled;
  }
  Result<GraspTest> Exact(const Grasp& grasp) override {
    tested.push_back(grasp.name);
    GraspTest test;
    test.passed = holds.at(grasp.name);
    return test;
  }
};

std::vector<Grasp> Candidates(Planted* trial) {
  std::vector<Grasp> grasps;
  double number = 0;
  for (const auto& [name, worst] : trial->worst) {
    Grasp grasp;
    grasp.name = name;
    grasp.proposer = "control";
    grasp.scores["candidate"] = number++;
    EXPECT_TRUE(TryCandidate(trial, &grasp));
    grasps.push_back(grasp);
  }
  return grasps;
}

std::vector<std::string> Names(const std::vector<Grasp>& grasps) {
  std::vector<std::string> names;
  for (const Grasp& grasp : grasps) names.push_back(grasp.name);
  return names;
}

Planted Five() {
  Planted trial;
  trial.worst = {{"a", 0.1}, {"b", 0.2}, {"c", 0.3}, {"d", 0.4}, {"e", 1.5}};
  trial.holds = {{"a", false}, {"b", true}, {"c", true}, {"d", true}, {"e", true}};
  return trial;
}

TEST(Judge, OptionsDescribeThemselves) { artefact::CheckDescribed<JudgeOptions>(); }

TEST(Judge, PassedFirstThenUntriedThenFailedThenTheRest) {
  Planted trial = Five();
  std::vector<Grasp> grasps = Candidates(&trial);
  ASSERT_TRUE(RankGrasps({}, &trial, &grasps));
  EXPECT_THAT(trial.tested, ElementsAre("a", "b", "c"));
  EXPECT_THAT(Names(grasps), ElementsAre("b", "c", "d", "a", "e"));
  EXPECT_EQ(grasps[0].scores.at("rank"), 1.0);
  EXPECT_EQ(grasps[4].scores.at("rank"), 5.0);
  EXPECT_NEAR(grasps[0].scores.at("margin"), 0.8, 1e-12);
  EXPECT_EQ(grasps[4].scores.at("survived"), 0.0);
  ASSERT_NE(ExactTestOf(grasps[0]), nullptr);
  EXPECT_EQ(ExactTestOf(grasps[2]), nullptr);
}

TEST(Judge, TheOrderTheyCameInDoesNotMatter) {
  Planted trial = Five();
  trial.worst["b"] = trial.worst["c"] = 0.3;  // equals: by candidate
  std::vector<Grasp> grasps = Candidates(&trial), turned = grasps;
  std::reverse(turned.begin(), turned.end());
  ASSERT_TRUE(RankGrasps({}, &trial, &grasps));
  ASSERT_TRUE(RankGrasps({}, &trial, &turned));
  EXPECT_EQ(Names(grasps), Names(turned));
}

TEST(Judge, StopsAtAPassOrWhenTold) {
  Planted trial = Five();
  std::vector<Grasp> grasps = Candidates(&trial);
  ASSERT_TRUE(RankGrasps({.exact = 3, .stop_at_pass = true}, &trial, &grasps));
  EXPECT_THAT(trial.tested, ElementsAre("a", "b"));
  Planted told = Five();
  grasps = Candidates(&told);
  ASSERT_TRUE(RankGrasps({}, &told, &grasps, [] { return false; }));
  EXPECT_TRUE(told.tested.empty());
  EXPECT_THAT(Names(grasps), ElementsAre("a", "b", "c", "d", "e"));
}

TEST(Judge, WhoFailedTheHarderShortTrialIsTestedAfterTheOthersUnlessItWasNeverFormed) {
  Planted trial;
  trial.worst = {{"x", 3.0}, {"y", 1.1}, {"z", kNotFormed}};
  trial.holds = {{"x", true}, {"y", false}};
  std::vector<Grasp> grasps = Candidates(&trial);
  ASSERT_TRUE(RankGrasps({}, &trial, &grasps));
  EXPECT_THAT(trial.tested, ElementsAre("y", "x"));
  EXPECT_THAT(Names(grasps), ElementsAre("x", "y", "z"));
  // Ranking again tests nothing twice.
  ASSERT_TRUE(RankGrasps({}, &trial, &grasps));
  EXPECT_EQ(trial.tested.size(), 2u);
}

TEST(Judge, ASecondShortTrialReplacesTheFirst) {
  Planted trial = Five();
  std::vector<Grasp> grasps = Candidates(&trial);
  trial.worst["a"] = 0.9;
  ASSERT_TRUE(TryCandidate(&trial, &grasps[0]));
  EXPECT_EQ(grasps[0].tests.size(), 1u);
  EXPECT_NEAR(grasps[0].scores.at("margin"), 0.1, 1e-12);
}

}  // namespace
}  // namespace handhold::synthesis::judge_test
