// The long form of regrasp: one example over the shared props and our own, ranked, tested by P1
// exact, lifted. Writes a table; tests/synthesis/regrasp/README says how it is run.
//
//   regrasp_study HAND EXAMPLE POSES[xMARGIN] PROPS_FOLDER [PROP ...]
//
// EXAMPLE: a grasp that ships ("hand57_cylinder") or a .json file.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "database/artefact/grasp_file.h"
#include "database/geometry/mesh_io.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "synthesis/regrasp/example_proposer.h"
#include "synthesis/regrasp/hand_trial.h"
#include "tests/support/mujoco_hand.h"

namespace handhold::synthesis {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Row {
  std::string name;
  int proposed = 0, survived = 0, first_pass = 0, passed = 0, lifted = 0;
  int asked = 0, agreed = 0;  // of those that passed: put to MuJoCo, and passed there
  double search_s = 0.0, exact_s = 0.0;
  std::string why;
};

Result<Row> Study(const model::Skeleton& hand, const artefact::Grasp& example,
                  const model::Prop& example_prop, const model::Prop& prop, int poses,
                  double margin, const std::vector<geometry::Mesh>& pieces) {
  Row row;
  row.name = prop.name;
  HANDHOLD_ASSIGN(const auto proposer, ExampleProposer::Create(hand, example, example_prop));
  HandTrialOptions options;
  options.quick_acceleration = margin;
  HandTrial trial(hand, prop, options);
  std::vector<artefact::Grasp> grasps;
  ProposerSink sink;
  Status tried;
  sink.propose = [&](artefact::Grasp grasp) {
    tried = TryCandidate(&trial, &grasp);
    grasps.push_back(std::move(grasp));
    return tried.has_value();
  };
  GraspWishes wishes;
  wishes.poses = poses;
  const double begin = CpuSeconds();
  HANDHOLD_ASSIGN(const ProposerReport report,
                  proposer->Propose({hand, "", prop, "", wishes}, sink));
  HANDHOLD_TRY(tried);
  row.search_s = CpuSeconds() - begin;
  row.proposed = report.done.proposed;
  std::map<std::string, int> causes;
  for (const auto& grasp : grasps) {
    const std::string& cause = grasp.tests.front().cause;
    ++causes[cause.empty() ? "survived" : cause.substr(0, cause.find(':'))];
  }
  for (const auto& [cause, count] : causes) std::fprintf(stderr, "%s %d, ", cause.c_str(), count);
  for (const auto& [cause, count] : report.refused)
    std::fprintf(stderr, "(%s %d) ", cause.c_str(), count);
  std::fprintf(stderr, "\n");
  for (const auto& grasp : grasps) row.survived += grasp.scores.at("survived") > 0.0;
  std::string first;
  {
    // Which one is first before any exact test.
    std::vector<artefact::Grasp> order = grasps;
    HANDHOLD_TRY(RankGrasps({.exact = 0}, &trial, &order));
    if (!order.empty()) first = order.front().name;
  }
  const double tested = CpuSeconds();
  HANDHOLD_TRY(RankGrasps({}, &trial, &grasps));
  row.exact_s = CpuSeconds() - tested;
  for (const auto& grasp : grasps) {
    const artefact::GraspTest* test = ExactTestOf(grasp);
    if (test == nullptr) continue;
    row.passed += test->passed;
    if (test->passed && grasp.name == first) row.first_pass = 1;
    if (!test->passed && row.why.empty()) row.why = test->cause;
    if (!test->passed) continue;
    HANDHOLD_ASSIGN(const std::string mjcf,
                    testing::MjcfOf(hand, prop, grasp, options.scene, pieces));
    testing::MujocoHand peer(mjcf, options.scene);
    ++row.asked;
    if (peer.Form() != GraspFault::kNone) continue;
    HANDHOLD_ASSIGN(const P1Result there, RunP1({}, &peer));
    row.agreed += there.passed();
  }
  if (row.passed > 0) {
    HANDHOLD_ASSIGN(const artefact::GraspTest lift, trial.Lift(grasps.front()));
    row.lifted = lift.passed;
    if (!lift.passed) row.why = "lift: " + lift.cause;
  } else if (row.why.empty()) {
    for (const auto& [why, count] : report.refused)
      row.why += why + " " + std::to_string(count) + " ";
  }
  return row;
}

/// A shared prop's convex pieces; none where it is convex itself: MuJoCo then takes its hull.
std::vector<geometry::Mesh> PiecesOf(const std::string& folder) {
  std::vector<geometry::Mesh> pieces;
  for (int i = 0;; ++i) {
    const std::string path = folder + "/contact" + std::to_string(i) + ".stl";
    if (!std::filesystem::exists(path)) break;
    if (auto mesh = geometry::ReadMeshFile(path, {.metres_per_unit = 1.0}))
      pieces.push_back(std::move(mesh->mesh));
  }
  if (pieces.size() <= 1) pieces.clear();
  return pieces;
}

int Main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "regrasp_study HAND EXAMPLE POSES PROPS_FOLDER [PROP ...]\n");
    return 2;
  }
  const auto fail = [](const Error& e) {
    std::fprintf(stderr, "%s\n", e.message.c_str());
    return 1;
  };
  const auto hand = model::LoadHand(argv[1]);
  if (!hand) return fail(hand.error());
  const std::string key = argv[2];
  const auto example =
      key.ends_with(".json") ? artefact::LoadGraspFile(key) : artefact::LoadLibraryGrasp(key);
  if (!example) return fail(example.error());
  const auto example_prop = model::LoadLibraryProp(example->prop);
  if (!example_prop) return fail(example_prop.error());
  std::vector<std::string> names(argv + 5, argv + argc);
  if (names.empty()) {
    names = {"bowl",          "cubemedium",   "cubesmall",      "cylindermedium",
             "cylindersmall", "flashlight",   "hammer",         "lightbulb",
             "mug",           "spheremedium", "stanfordbunny",  "wineglass",
             "ours:bottle",   "ours:ball",    "ours:box_3x5x7", "ours:cylinder_50",
             "ours:sphere_60"};
  }
  std::printf("%-16s %8s %8s %6s %7s %7s %7s %9s %9s  %s\n", "prop", "proposed", "survived",
              "first", "passed", "mujoco", "lifted", "search_s", "exact_s", "why not");
  const std::string poses = argv[3];
  const size_t x = poses.find('x');
  const double margin = x == std::string::npos ? HandTrialOptions().quick_acceleration
                                               : std::atof(poses.c_str() + x + 1);
  int passed = 0, lifted = 0, asked = 0, agreed = 0, shared_passed = 0, shared = 0;
  for (const std::string& name : names) {
    const bool ours = name.starts_with("ours:");
    const auto prop =
        ours ? model::LoadLibraryProp(name.substr(5))
             : model::PropFromMesh(std::string(argv[4]) + "/" + name + "/" + name + ".stl", 1.0);
    if (!prop) {
      fail(prop.error());
      continue;
    }
    const auto row =
        Study(*hand, *example, *example_prop, *prop, std::atoi(argv[3]), margin,
              ours ? std::vector<geometry::Mesh>() : PiecesOf(std::string(argv[4]) + "/" + name));
    if (!row) {
      fail(row.error());
      continue;
    }
    std::printf("%-16s %8d %8d %6s %7d %3d / %d %7s %9.1f %9.1f  %s\n", name.c_str(), row->proposed,
                row->survived, row->first_pass ? "yes" : "no", row->passed, row->agreed, row->asked,
                row->lifted ? "yes" : "no", row->search_s, row->exact_s, row->why.c_str());
    std::fflush(stdout);
    passed += row->passed > 0, lifted += row->lifted;
    asked += row->asked, agreed += row->agreed;
    if (!ours) ++shared, shared_passed += row->passed > 0;
  }
  std::printf(
      "passed P1 exact, first three ranks tried: %d of %d shared, %d in all; of these lifted %d\n"
      "MuJoCo agrees with %d of %d grasps that passed\n",
      shared_passed, shared, passed, lifted, agreed, asked);
  return 0;
}

}  // namespace
}  // namespace handhold::synthesis

int main(int argc, char** argv) { return handhold::synthesis::Main(argc, argv); }
