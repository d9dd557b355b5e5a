// P1 over the shared props: search grasps, try every candidate in MuJoCo and the first ranked in
// our ODE as well (HandTrial: springs ten times Table 1 towards what the torques ask, settled
// first), say how often the first ranked holds. `p1_study PROPS_FOLDER [SEEDS] [CANDIDATES]
// [FIRST_SEED]`; a line per grasp on stdout when P1_STUDY_ROWS is set, the table at the end.
// Results: tests/synthesis/grasp_search/results.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "fitting/grasp_space/grasp_space_fit.h"
#include "synthesis/evaluate/p1.h"
#include "synthesis/grasp_search/grasp_search.h"
#include "synthesis/grasp_search/preshape.h"
#include "synthesis/regrasp/hand_trial.h"
#include "tests/support/mujoco_grasp.h"

namespace {

using namespace handhold;

/// Of the processor: what others run beside it does not count.
double Now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "../shared/data/props";
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 5;
  const int candidates = argc > 3 ? std::atoi(argv[3]) : 8;
  const int begin_seed = argc > 4 ? std::atoi(argv[4]) : 1;
  const bool rows = std::getenv("P1_STUDY_ROWS") != nullptr;
  const model::Skeleton skeleton = *model::LoadHand("hand27");
  const synthesis::HandSurface hand = *synthesis::HandSurface::Build(skeleton);
  const synthesis::Preshapes made = *synthesis::ScriptPreshapes(hand, {});
  fitting::HandPoses poses;
  fitting::AddTemplates(made.dof_names, made.grasps, &poses).value();
  const artefact::GraspSpace space = *fitting::FitGraspSpace(poses);
  const synthesis::GraspSearcher searcher = *synthesis::GraspSearcher::Build(hand, space);
  const char* props[] = {"bowl",          "cubemedium",   "cubesmall",     "cylindermedium",
                         "cylindersmall", "flashlight",   "hammer",        "lightbulb",
                         "mug",           "spheremedium", "stanfordbunny", "wineglass"};
  int groups = 0, firsts = 0, in_ode = 0, anys = 0, singles = 0, grasps = 0, natural = 0, sound = 0;
  double search_s = 0.0;
  std::printf("%-16s %7s %7s %7s %7s %9s\n", "prop", "first", "ode", "any", "single", "search_ms");
  for (const char* name : props) {
    const auto where = folder / name;
    if (!std::filesystem::exists(where)) continue;
    model::Prop prop = *model::PropFromMesh((where / (std::string(name) + ".stl")).string(), 1.0);
    prop.friction = 0.6;
    std::vector<std::string> pieces;
    for (const auto& file : std::filesystem::directory_iterator(where)) {
      if (file.path().filename().string().starts_with("contact"))
        pieces.push_back(std::filesystem::absolute(file.path()).string());
    }
    std::ranges::sort(pieces);
    const synthesis::HeldObject object = *synthesis::HeldObject::Build(prop);
    test_support::MujocoGrasp scene(skeleton, pieces);
    synthesis::HandTrial trial(skeleton, prop, {});
    int first = 0, ode = 0, any = 0, single = 0, count = 0;
    double ms = 0.0;
    for (int seed = begin_seed; seed < begin_seed + seeds; ++seed) {
      synthesis::GraspSearchOptions options;
      options.seed = static_cast<std::uint64_t>(seed);
      options.candidates = candidates;
      const double begin = Now();
      const auto found = *searcher.Search(object, synthesis::CentreOf(prop, object), options);
      ms += 1e3 * (Now() - begin);
      bool some = false;
      for (size_t i = 0; i < found.grasps.size(); ++i) {
        const synthesis::FoundGrasp& g = found.grasps[i];
        const artefact::Grasp grasp = searcher.ToGrasp(g, name);
        const bool formed = scene.Form(grasp);
        const auto p1 = synthesis::RunP1({}, &scene);
        const bool held = formed && scene.depths().object_m < 0.01 && p1 && p1->passed();
        if (rows) {
          std::printf(
              "row %s %d %zu %s %d formed %d depth %.1f dfc %.3f fmax %.2f net %.3f minw %.3f "
              "eps %.4f unb %.3f n %.0f energy %.1f\n",
              name, seed, i, g.type.c_str(), held, formed, 1e3 * scene.depths().object_m,
              g.scores.at("dfc"), g.scores.at("fmax_N"), g.scores.at("net"),
              g.scores.at("min_weight"), g.scores.at("epsilon"), g.scores.at("unbalanced"),
              g.scores.at("contacts"), g.scores.at("energy"));
        }
        natural += g.scores.at("natural") > 0;
        sound += g.scores.at("self_depth_m") < 0.003 && hand.BeyondLimits(g.shape) <= 1e-9;
        ++count;
        single += held;
        some |= held;
        if (i > 0) continue;
        first += held;
        const auto ours = trial.Exact(grasp);
        ode += ours && ours->passed;
        if (rows && ours) std::printf("ode %s %d %s\n", name, seed, ours->cause.c_str());
      }
      any += some;
    }
    std::printf("%-16s %4d/%-2d %4d/%-2d %4d/%-2d %4d/%-3d %8.1f\n", name, first, seeds, ode, seeds,
                any, seeds, single, count, ms / seeds);
    std::fflush(stdout);
    groups += seeds, firsts += first, in_ode += ode, anys += any, singles += single,
        grasps += count;
    search_s += 1e-3 * ms;
  }
  std::printf(
      "first-ranked %.3f, in ODE %.3f, any %.3f, single %.3f; above the threshold %.3f; limits and "
      "self-contact %.3f; %d groups, %d grasps, %.1f ms a search (processor)\n",
      1.0 * firsts / groups, 1.0 * in_ode / groups, 1.0 * anys / groups, 1.0 * singles / grasps,
      1.0 * natural / grasps, 1.0 * sound / grasps, groups, grasps, 1e3 * search_s / groups);
  return 0;
}
