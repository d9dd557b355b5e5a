// Figures that are stated, not required: Fig. 5 on paired starts, Table 1, and whether the type and
// the place asked for come back. `search_study PROPS_FOLDER [TRIALS]` (0: without the first two);
// results: results/study.txt.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "fitting/grasp_space/grasp_space_fit.h"
#include "synthesis/grasp_search/grasp_metric.h"
#include "synthesis/grasp_search/grasp_search.h"
#include "synthesis/grasp_search/preshape.h"

namespace {

using namespace handhold;
using geometry::Vec3;

artefact::GraspSpace SpaceOf(const synthesis::Preshapes& made, int dims) {
  fitting::HandPoses poses;
  fitting::AddTemplates(made.dof_names, made.grasps, &poses).value();
  return *fitting::FitGraspSpace(poses, {.dims = dims});
}

model::Prop PropAt(const std::filesystem::path& folder, const std::string& name) {
  model::Prop prop = *model::PropFromMesh((folder / name / (name + ".stl")).string(), 1.0);
  prop.friction = 0.6;
  return prop;
}

// 2 components, 3 rotations, 3 translations round a start; every optimiser from the same starts.
void Figure5(const synthesis::HandSurface& hand, const artefact::GraspSpace& space,
             const model::Prop& prop, int trials) {
  const auto density = *artefact::SpaceDensity::Build(space);
  const auto object = *synthesis::HeldObject::Build(prop);
  const auto samples = object.Sample(trials, 7);
  for (const int extrinsic : {3, 6}) {
    std::printf(
        "Fig. 5, M of eq. 6, 2 components + %d extrinsic, 600 evaluations, %d paired trials:\n",
        extrinsic, trials);
    for (const auto kind :
         {synthesis::OptimiserKind::kDynamicHillClimbing, synthesis::OptimiserKind::kAnnealing,
          synthesis::OptimiserKind::kGenetic, synthesis::OptimiserKind::kCmaEs}) {
      std::vector<double> found;
      for (int trial = 0; trial < trials; ++trial) {
        const auto& sample = samples[static_cast<size_t>(trial)];
        const auto& t = space.templates[static_cast<size_t>(trial * 37) % space.templates.size()];
        const Eigen::Quaterniond turn =
            Eigen::Quaterniond::FromTwoVectors(t.opposition_H, -sample.normal_P);
        const geometry::RigidTransform start{
            turn.toRotationMatrix(), sample.p_P - 0.5 * sample.thickness_m * sample.normal_P -
                                         turn.toRotationMatrix() * t.X_HO.p};
        const int n = extrinsic + 2;
        Eigen::VectorXd lower(n), upper(n), at = Eigen::VectorXd::Zero(n);
        upper.head<3>().setConstant(0.6);
        if (extrinsic == 6) upper.segment<3>(3).setConstant(0.03);
        upper.tail(2) << 1.5, 1.0;
        lower = -upper;
        at.tail(2) = density.Project(t.pose_v);
        synthesis::GraspMetric metric(hand, object, *synthesis::PaperSensors(hand), &density);
        const auto best = synthesis::Minimise(
            kind,
            [&](const Eigen::VectorXd& x) {
              const Vec3 way = extrinsic == 6 ? Vec3(x.segment<3>(3)) : Vec3::Zero();
              return metric.Evaluate({start.R * geometry::Exp<double>(x.head<3>()), start.p + way},
                                     x.tail(2));
            },
            lower, upper, {at},
            {.evaluations = 600, .seed = static_cast<std::uint64_t>(trial + 1)});
        found.push_back(best.value);
      }
      double mean = 0, sd = 0;
      for (const double m : found) mean += m / static_cast<double>(found.size());
      for (const double m : found)
        sd += (m - mean) * (m - mean) / static_cast<double>(found.size());
      std::ranges::sort(found);
      std::printf("  %-7s mean %8.1f sd %7.1f median %8.1f\n",
                  std::string(synthesis::OptimiserName(kind)).c_str(), mean, std::sqrt(sd),
                  found[found.size() / 2]);
    }
  }
}

// Table 1: what 600 evaluations cost on meshes of the paper's sizes, its proxies and refinements of
// one bunny; 2 components and 3 rotations, dynamic hill climbing. Processor time.
void Table1(const synthesis::HandSurface& hand, const artefact::GraspSpace& space,
            const model::Prop& prop) {
  const auto density = *artefact::SpaceDensity::Build(space);
  const geometry::Mesh& own =
      std::get<geometry::TriangleMesh>(prop.shapes[0].shape).surface->mesh();
  const artefact::GraspTemplate& t = space.templates[400];
  Eigen::VectorXd upper(5), at(5);
  upper << 0.6, 0.6, 0.6, 1.5, 1.5;
  at << 0, 0, 0, density.Project(t.pose_v);
  std::printf("Table 1, processor time of 600 evaluations (median of 15):\n");
  for (const geometry::Mesh& mesh : {synthesis::Proxy(own, 500), synthesis::Proxy(own, 4000),
                                     synthesis::Proxy(synthesis::Subdivided(own), 16000),
                                     synthesis::Subdivided(synthesis::Subdivided(own))}) {
    model::Prop sized = prop;
    sized.shapes[0].shape = *geometry::MakeTriangleMesh(mesh);
    const auto object = *synthesis::HeldObject::Build(sized);
    const geometry::RigidTransform start{geometry::Mat3::Identity(),
                                         object.middle_P() - t.X_HO.p + Vec3(0, 0, 0.02)};
    std::vector<double> ms;
    for (int repeat = 0; repeat < 15; ++repeat) {
      const std::clock_t begin = std::clock();
      synthesis::GraspMetric metric(hand, object, *synthesis::PaperSensors(hand), &density);
      synthesis::Minimise(synthesis::OptimiserKind::kDynamicHillClimbing,
                          [&](const Eigen::VectorXd& x) {
                            return metric.Evaluate(
                                {start.R * geometry::Exp<double>(x.head<3>()), start.p}, x.tail(2));
                          },
                          -upper, upper, {at}, {.evaluations = 600});
      ms.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    std::ranges::sort(ms);
    std::printf("  %6zu triangles %8.1f ms\n", object.triangle_count(), ms[ms.size() / 2]);
  }
}

// Contacts alone: which digits touch, and whether the palm does.
bool IsOfType(const synthesis::FoundGrasp& g) {
  std::set<int> digits;
  for (const auto& c : g.contacts) digits.insert(c.digit);
  const bool palm = digits.contains(-1), thumb = digits.contains(0);
  int fingers = 0;
  for (int d = 1; d < 5; ++d) fingers += digits.contains(d);
  if (g.type == "tripod")
    return thumb && !palm && digits.contains(1) && digits.contains(2) && fingers == 2;
  if (g.type == "palmar-pinch") return thumb && !palm && fingers == 1 && digits.contains(1);
  if (g.type == "prismatic-3-finger") return thumb && !palm && fingers == 3;
  if (g.type == "large-diameter" || g.type == "power-sphere") return palm && thumb && fingers >= 3;
  return palm && fingers >= 3;  // medium wrap, small diameter: the thumb may lie over the fingers
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "../shared/data/props";
  const int trials = argc > 2 ? std::atoi(argv[2]) : 100;
  const auto hand = *synthesis::HandSurface::Build(*model::LoadHand("hand27"));
  const synthesis::Preshapes made = *synthesis::ScriptPreshapes(hand, {});
  if (trials > 0) {
    const artefact::GraspSpace plane = SpaceOf(made, 2);
    const model::Prop bunny = PropAt(folder, "stanfordbunny");
    Figure5(hand, plane, bunny, trials);
    Table1(hand, plane, bunny);
  }
  const auto searcher = *synthesis::GraspSearcher::Build(hand, SpaceOf(made, 8));
  std::printf("first-ranked is of the type asked for, by its contacts; 6 props x 3 seeds:\n");
  for (const char* type : {"tripod", "palmar-pinch", "prismatic-3-finger", "medium-wrap",
                           "small-diameter", "large-diameter", "power-sphere"}) {
    int right = 0, all = 0;
    for (const char* name : {"cylindersmall", "cubesmall", "flashlight", "cylindermedium",
                             "spheremedium", "lightbulb"}) {
      const model::Prop prop = PropAt(folder, name);
      const auto object = *synthesis::HeldObject::Build(prop);
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto found = *searcher.Search(object, synthesis::CentreOf(prop, object),
                                            {.types = {type}, .seed = seed});
        ++all;
        right += !found.grasps.empty() && IsOfType(found.grasps[0]);
      }
    }
    std::printf("  %-20s %2d of %d\n", type, right, all);
  }
  int in = 0, contacts = 0, found_some = 0, asked = 0, first_in = 0, first_contacts = 0;
  for (const char* name : {"hammer", "flashlight", "stanfordbunny", "wineglass"}) {
    const model::Prop prop = PropAt(folder, name);
    const auto whole = *synthesis::HeldObject::Build(prop);
    for (const auto& at : whole.Sample(5, 3)) {
      const synthesis::GraspPlace place{.point_P = at.p_P, .radius_m = 0.04};
      const auto object = *synthesis::HeldObject::Build(prop, place);
      // As `synth grasp` asks where a place is given.
      const auto found = *searcher.Search(object, synthesis::CentreOf(prop, object),
                                          {.starts = 64, .fits = 32, .seed = 1});
      ++asked;
      found_some += !found.grasps.empty();
      for (size_t i = 0; i < found.grasps.size(); ++i) {
        for (const auto& c : found.grasps[i].contacts) {
          const bool inside = (c.p_P - at.p_P).norm() <= 0.04;
          in += inside, ++contacts;
          if (i == 0) first_in += inside, ++first_contacts;
        }
      }
    }
  }
  std::printf(
      "region (ball of 4 cm round a surface point, 4 props x 5): grasps found for %d of %d, "
      "%.3f of all contacts inside, %.3f of the first-ranked grasps'\n",
      found_some, asked, 1.0 * in / contacts, 1.0 * first_in / first_contacts);
  return 0;
}
