#include "synthesis/regrasp/judge.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace handhold::synthesis {
namespace {

constexpr const char* kExactProtocol = "P1";
constexpr const char* kQuickProtocol = "P1 quick";

double Score(const artefact::Grasp& grasp, const char* name, double missing) {
  const auto it = grasp.scores.find(name);
  return it == grasp.scores.end() ? missing : it->second;
}

double Figure(const artefact::GraspTest& test, const char* name, double missing) {
  const auto it = test.figures.find(name);
  return it == test.figures.end() ? missing : it->second;
}

void Put(const artefact::GraspTest& test, artefact::Grasp* grasp) {
  std::erase_if(grasp->tests, [&](const auto& old) { return old.protocol == test.protocol; });
  grasp->tests.push_back(test);
}

int GroupOf(const artefact::Grasp& grasp) {
  if (const artefact::GraspTest* test = ExactTestOf(grasp)) return test->passed ? 0 : 2;
  return Score(grasp, "survived", 0.0) > 0.0 ? 1 : 3;
}

auto Key(const artefact::Grasp& grasp) {
  return std::make_tuple(GroupOf(grasp), -Score(grasp, "margin", -1e9),
                         Score(grasp, "candidate", std::numeric_limits<double>::max()),
                         grasp.proposer, grasp.name);
}

void Sort(std::vector<artefact::Grasp>* grasps) {
  std::stable_sort(grasps->begin(), grasps->end(),
                   [](const auto& a, const auto& b) { return Key(a) < Key(b); });
}

void Number(std::vector<artefact::Grasp>* grasps) {
  for (size_t i = 0; i < grasps->size(); ++i)
    (*grasps)[i].scores["rank"] = static_cast<double>(i + 1);
}

}  // namespace

const artefact::GraspTest* ExactTestOf(const artefact::Grasp& grasp) {
  for (const artefact::GraspTest& test : grasp.tests) {
    if (test.protocol == kExactProtocol) return &test;
  }
  return nullptr;
}

Status TryCandidate(GraspTrial* trial, artefact::Grasp* grasp) {
  HANDHOLD_ASSIGN(artefact::GraspTest test, trial->Quick(*grasp));
  test.protocol = kQuickProtocol;
  grasp->scores["margin"] = 1.0 - Figure(test, "worst", kNotFormed);
  grasp->scores["survived"] = test.passed ? 1.0 : 0.0;
  Put(test, grasp);
  return {};
}

Status RankGrasps(const JudgeOptions& options, GraspTrial* trial,
                  std::vector<artefact::Grasp>* grasps, const std::function<bool()>& go_on) {
  Sort(grasps);
  int tested = 0;
  for (artefact::Grasp& grasp : *grasps) {
    if (tested >= options.exact) break;
    // Tested before, or there is nothing to test.
    if (ExactTestOf(grasp) != nullptr || !(Score(grasp, "margin", -1e9) > 1.0 - kNotFormed))
      continue;
    if (go_on && !go_on()) break;
    HANDHOLD_ASSIGN(grasp, trial->Settled(grasp));
    HANDHOLD_ASSIGN(artefact::GraspTest test, trial->Exact(grasp));
    test.protocol = kExactProtocol;
    Put(test, &grasp);
    ++tested;
    if (test.passed && options.stop_at_pass) break;
  }
  Sort(grasps);
  Number(grasps);
  return {};
}

void RankByLift(std::vector<artefact::Grasp>* grasps) {
  const auto group = [](const artefact::Grasp& grasp) {
    const artefact::GraspTest* const exact = ExactTestOf(grasp);
    if (exact == nullptr || !exact->passed) return 3;
    for (const artefact::GraspTest& test : grasp.tests) {
      if (test.protocol == "lift" && test.passed)
        return Score(grasp, "shown_held", 0.0) > 0.0 ? 0 : 1;
    }
    return 2;
  };
  std::stable_sort(grasps->begin(), grasps->end(),
                   [&](const auto& a, const auto& b) { return group(a) < group(b); });
  Number(grasps);
}

}  // namespace handhold::synthesis
