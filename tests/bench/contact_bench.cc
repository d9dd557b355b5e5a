// contact.*: finding contacts round a mesh, a whole step of a grip, a force test.
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "database/geometry/distance.h"
#include "database/model/hand_library.h"
#include "synthesis/contact/contact_finder.h"
#include "synthesis/contact/force_feasibility.h"
#include "tests/support/bench.h"
#include "tests/support/grip_problems.h"

namespace {

using handhold::geometry::RigidTransform;
using handhold::geometry::Vec3;
namespace geometry = handhold::geometry;
namespace synthesis = handhold::synthesis;

/// A bumpy ball of about 35 mm: 2 n (2 n - 2) triangles.
geometry::Mesh BumpyBall(int n) {
  geometry::Mesh mesh;
  const auto at = [](double polar, double round) {
    const double r = 0.035 * (1 + 0.03 * std::cos(5 * round) * std::sin(polar) * std::sin(polar));
    return Vec3(r * std::sin(polar) * std::cos(round), r * std::sin(polar) * std::sin(round),
                r * std::cos(polar));
  };
  for (int i = 1; i < n; ++i) {
    for (int j = 0; j < 2 * n; ++j) mesh.vertices.push_back(at(M_PI * i / n, M_PI * j / n));
  }
  const auto index = [&](int i, int j) {
    return static_cast<std::uint32_t>((i - 1) * 2 * n + j % (2 * n));
  };
  const auto top = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.push_back(at(0, 0));
  mesh.vertices.push_back(at(M_PI, 0));
  for (int j = 0; j < 2 * n; ++j) {
    mesh.triangles.push_back({top, index(1, j), index(1, j + 1)});
    mesh.triangles.push_back({top + 1, index(n - 1, j + 1), index(n - 1, j)});
    for (int i = 1; i + 1 < n; ++i) {
      mesh.triangles.push_back({index(i, j), index(i + 1, j), index(i + 1, j + 1)});
      mesh.triangles.push_back({index(i, j), index(i + 1, j + 1), index(i, j + 1)});
    }
  }
  return mesh;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    if (reporter.wants("contact.find")) {
      // 19 capsules of a hand's size round it: 11 touch, the others are up to 40 mm away.
      const geometry::Shape ball = geometry::MakeTriangleMesh(BumpyBall(39)).value();
      std::vector<RigidTransform> links(20);
      synthesis::ContactFinder finder;
      for (int i = 0; i < 19; ++i) {
        const double z = 1 - 2 * (i + 0.5) / 19, angle = 2.399963 * i, s = std::sqrt(1 - z * z);
        const Vec3 out(s * std::cos(angle), s * std::sin(angle), z);
        const geometry::Shape capsule = geometry::Capsule{0.008, 0.025};
        RigidTransform& X = links[static_cast<size_t>(i) + 1];
        X.R.col(2) = out.unitOrthogonal();
        X.R.col(0) = out;
        X.R.col(1) = X.R.col(2).cross(X.R.col(0));
        double away = 0.05;  // down to the wanted distance, by the distance itself
        const double wanted = i % 7 < 4 ? -3e-4 : 1e-2 + 4e-3 * i / 2;
        for (int k = 0; k < 40; ++k) {
          X.p = away * out;
          away -= 0.8 * (geometry::Distance(capsule, X, ball, {}).value().distance_m - wanted);
        }
        if (!finder.Add({.side = synthesis::ContactSide::Link(0, i + 1), .shape = capsule}))
          throw std::runtime_error("no collider");
        for (int j = 1; j <= i; ++j)
          finder.Ignore(synthesis::ContactSide::Link(0, i + 1), synthesis::ContactSide::Link(0, j));
      }
      if (!finder.Add({.side = synthesis::ContactSide::Body(0), .shape = ball}))
        throw std::runtime_error("no collider");
      RigidTransform body;
      synthesis::ContactPoses poses;
      poses.trees.push_back(links);
      poses.bodies.push_back(&body);
      synthesis::ContactSet contacts;
      const auto find = [&] {
        if (!finder.Find(poses, 4e-3, &contacts)) throw std::runtime_error("not found");
      };
      find();
      int touching = 0;
      for (const synthesis::Contact& c : contacts) touching += c.separation_m < 0;
      if (touching < 9) throw std::runtime_error("only " + std::to_string(touching) + " touch");
      const auto own = Repeat(15, [&] {
        return 1e3 * Seconds([&] {
                 for (int k = 0; k < 20; ++k) find();
               }) /
               20;
      });
      reporter.Report("contact.find",
                      {.value = own, .unit = "ms/step", .goal = Goal::SpeedAtMost(0.3)});
    }
    if (reporter.wants("contact.step")) {
      const auto hand = handhold::model::LoadHand("hand27").value();
      handhold::lab::Random random(15, "contact.step");
      std::vector<handhold::testing::DrawnProblem> problems;
      for (int i = 0; i < 100; ++i)
        problems.push_back(handhold::testing::DrawProblem(hand, 10, &random));
      handhold::testing::GripRig rig(hand);
      const auto own = Repeat(9, [&] {
        std::vector<double> us;
        for (const auto& problem : problems) {
          rig.Load(problem);
          us.push_back(1e3 * Seconds([&] {
                         if (!rig.AssembleAndSolve({}).solved())
                           throw std::runtime_error("a problem was not solved");
                         rig.problem.Advance(&rig.memory);
                       }));
        }
        return Summarise(std::move(us)).median;
      });
      reporter.Report("contact.step",
                      {.value = own, .unit = "ms/step", .goal = Goal::SpeedAtMost(0.6)});
    }
    if (reporter.wants("contact.force_test")) {
      std::mt19937 rng(3);
      std::normal_distribution<double> gauss;
      std::vector<std::vector<synthesis::ForceContact>> grasps;
      for (int i = 0; i < 50; ++i) {
        std::vector<synthesis::ForceContact> contacts;
        for (int k = 0; k < 15; ++k) {
          const Vec3 d = Vec3(gauss(rng), gauss(rng), gauss(rng)).normalized();
          contacts.push_back({.p_O = 0.04 * d, .normal_O = -d, .friction = 0.5});
        }
        grasps.push_back(contacts);
      }
      synthesis::ForceWorkspace workspace;
      synthesis::ForceAnswer answer;
      handhold::geometry::Vec6 w;
      w << 0.003, -0.002, 0.001, 0.3, -0.2, 0.9;
      int balanced = 0;
      for (const auto& grasp : grasps) {
        synthesis::SolveLeastForce(grasp, w, {}, &workspace, &answer);
        balanced += answer.outcome == synthesis::ForceOutcome::kBalanced;
      }
      if (balanced < 45) throw std::runtime_error("most grasps do not balance");
      const auto own = Repeat(15, [&] {
        return 1e6 * Seconds([&] {
                 for (const auto& grasp : grasps)
                   synthesis::SolveLeastForce(grasp, w, {}, &workspace, &answer);
               }) /
               static_cast<double>(grasps.size());
      });
      reporter.Report("contact.force_test",
                      {.value = own, .unit = "us/test", .goal = Goal::SpeedAtMost(10)});
    }
  });
}
