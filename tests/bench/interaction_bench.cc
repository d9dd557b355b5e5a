// interaction.*: whole replays of scripted hands on free objects on a table, 500 Hz, 8 directions
// of friction, one core: finding, assembly, solving and recording. Kry & Pai 2006 say of theirs:
// slightly slower than real time.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "database/geometry/mesh.h"
#include "database/model/kinematics.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/bench.h"
#include "tests/support/pinch_scene.h"

namespace {

using namespace handhold;
using namespace handhold::testing;
using geometry::RigidTransform;
using geometry::Vec3;

/// The box of 3 x 5 x 7 cm as a mesh: 12 n^2 triangles.
geometry::Mesh BoxMesh(int n, const Vec3& size_m) {
  geometry::Mesh mesh;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-0.5, 0.5}) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
      for (int i = 0; i <= n; ++i) {
        for (int j = 0; j <= n; ++j) {
          Vec3 p;
          p[axis] = side * size_m[axis];
          p[u] = (static_cast<double>(i) / n - 0.5) * size_m[u];
          p[v] = (static_cast<double>(j) / n - 0.5) * size_m[v];
          mesh.vertices.push_back(p);
        }
      }
      const auto at = [&](int i, int j) {
        return first + static_cast<std::uint32_t>(i * (n + 1) + j);
      };
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const std::uint32_t a = at(i, j), b = at(i + 1, j), c = at(i + 1, j + 1),
                              d = at(i, j + 1);
          if (side > 0) {
            mesh.triangles.push_back({a, b, c});
            mesh.triangles.push_back({a, c, d});
          } else {
            mesh.triangles.push_back({a, c, b});
            mesh.triangles.push_back({a, d, c});
          }
        }
      }
    }
  }
  return mesh;
}

/// A board with ten knobs, each under a bone of a flat hand, and the hand pressed on it: ten
/// contacts with the hand and four with the table.
struct TenKnobs {
  model::Prop board;
  artefact::InteractionTrajectory press;

  TenKnobs() {
    const model::Skeleton& hand = PinchHand();
    Eigen::VectorXd q = hand.ZeroConfiguration();
    q[hand.q_index(1) + 2] = 0.1;
    model::KinematicsData data(hand);
    model::ComputePoses<double>(hand, q, &data);
    board = PinchBox(0.2);
    board.name = "knobs";
    board.shapes.clear();
    for (int b = 1; b < hand.body_count() && board.shapes.size() < 10; ++b) {
      const std::string& name = hand.body(b).name;
      const bool bone = name.ends_with(".prx") || name.ends_with(".mid") || name == "middle.dst" ||
                        name == "ring.dst";
      if (!bone || name.starts_with("thumb")) continue;
      if (hand.body(b).shapes.empty()) continue;
      const auto& shape = hand.body(b).shapes.front();
      const auto* capsule = std::get_if<geometry::Capsule>(&shape.shape);
      if (capsule == nullptr) continue;
      const RigidTransform X_WS = data.X_WB[static_cast<size_t>(b)] * shape.X_BS;
      // Two millimetres below the middle of the bone.
      const double radius_m = 0.006;
      board.shapes.push_back(
          {"knob " + name,
           RigidTransform::Translation(X_WS.p - Vec3(0, 0, capsule->radius_m + radius_m + 0.002)),
           geometry::Sphere{radius_m}, ""});
    }
    if (board.shapes.size() != 10) throw std::runtime_error("not ten knobs");
    double low = 1.0;
    Vec3 middle = Vec3::Zero();
    for (const model::PropShape& knob : board.shapes) {
      low = std::min(low, knob.X_PS.p.z());
      middle += 0.1 * knob.X_PS.p;
    }
    low -= 0.06;  // the board's top: well below the knobs, and the thumb
    middle.z() = 0.5 * low;
    board.shapes.push_back(
        {"board", RigidTransform::Translation(middle), geometry::Box{Vec3(0.25, 0.2, low)}, ""});
    board.mass = geometry::Transformed(
        RigidTransform::Translation(middle),
        geometry::WithTotalMass(
            geometry::MassOf(geometry::Box{Vec3(0.25, 0.2, low)}, 1000.0).value(), 0.2));
    constexpr int kFrames = 1501;
    press.dof_names = hand.dof_names();
    press.q_reference.resize(hand.nq(), kFrames);
    for (int k = 0; k < kFrames; ++k) {
      const double t_s = 0.002 * k;
      press.times.push_back(Timestamp::FromSeconds(t_s));
      q[hand.q_index(1) + 2] = 0.1 - 0.005 * std::min(1.0, t_s / 0.2);
      q[hand.q_index(1)] = 0.002 * std::sin(2 * M_PI * t_s);
      press.q_reference.col(k) = q;
    }
    press.q = press.q_reference_dynamic = press.q_reference;
    // A stiff hand: with the planted compliances the first knob of a finger lifts it off the
    // others.
    const Eigen::VectorXd C = 0.01 * synthesis::PlantedCompliance(hand).value();
    press.compliance_rad_per_Nm = C.replicate(1, kFrames);
    press.time_constant_s = Eigen::VectorXd::Constant(kFrames, 0.014);
  }
};

/// Hand contacts of a frame, on average over frames that have some.
double HandContacts(const artefact::Motion& motion) {
  std::vector<int> count(motion.times.size(), 0);
  for (const artefact::ContactRow& row : motion.rows)
    if (motion.touches[static_cast<size_t>(row.touch)].a.is_hand())
      ++count[static_cast<size_t>(row.frame)];
  double sum = 0, frames = 0;
  for (const int c : count) sum += c, frames += c > 0;
  return frames > 0 ? sum / frames : 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    const model::Skeleton& hand = PinchHand();
    const auto pinch =
        synthesis::PinchReference(hand, PinchBoxPlace(), PinchProgram(0.012, 2.0)).value();
    const auto measure = [&](const char* mark, const artefact::InteractionTrajectory& trajectory,
                             const artefact::Stage& scene, double hand_contacts, double goal) {
      if (!reporter.wants(mark)) return;
      const synthesis::ReplayOptions options = PinchReplay();
      artefact::Motion motion;
      const double seconds = (trajectory.times.back() - trajectory.times.front()).seconds();
      const Sample speed = Repeat(7, [&] {
        return seconds / Seconds([&] {
                 motion = synthesis::ReplayInteraction(hand, trajectory, scene, options).value();
               });
      });
      if (synthesis::UnsolvedSteps(motion) != 0) throw std::runtime_error("a step was not solved");
      if (HandContacts(motion) < hand_contacts)
        throw std::runtime_error("the hand touches at " + std::to_string(HandContacts(motion)));
      reporter.Report(mark, {.value = speed,
                             .unit = "x real time",
                             .better = Better::kHigher,
                             .goal = Goal::SpeedAtLeast(goal)});
    };
    measure("interaction.pinch_box", pinch, OnTable(PinchBox(0.012)), 2.9, 15);
    if (reporter.wants("interaction.pinch_mesh")) {
      model::Prop mesh = PinchBox(0.012);
      const Vec3 size_m = std::get<geometry::Box>(mesh.shapes.front().shape).size_m;
      mesh.shapes.front().shape = geometry::MakeTriangleMesh(BoxMesh(23, size_m)).value();
      measure("interaction.pinch_mesh", pinch, OnTable(mesh), 2.9, 10);
    }
    if (reporter.wants("interaction.contacts14")) {
      const TenKnobs knobs;
      measure("interaction.contacts14", knobs.press, OnTable(knobs.board, {}), 9.5, 3);
    }
    if (reporter.wants("interaction.allocations")) {
      // Finding and stepping alone, with the box in the closed hand.
      const artefact::Stage scene = OnTable(PinchBox(0.012));
      const artefact::StageThing &table = scene.things[0], &box = scene.things[1];
      synthesis::ReplayOptions options = PinchReplay();
      const auto whole = synthesis::ReplayInteraction(hand, pinch, scene, options).value();
      const size_t frame = 450;
      synthesis::ContactFinder finder;
      if (!finder.AddSkeleton(hand, 0) ||
          !finder.AddProp(*table.prop, synthesis::ContactSide::Fixed(0)) ||
          !finder.AddProp(*box.prop, synthesis::ContactSide::Body(0)))
        throw std::runtime_error("no collider");
      synthesis::InteractionStepper stepper(hand, options.step);
      std::vector<synthesis::MovingBody> bodies = {
          {box.prop->mass, whole.objects.back().pose(frame), geometry::Vec6::Zero(),
           geometry::Vec6::Zero()}};
      synthesis::ContactPoses poses;
      poses.trees.push_back(stepper.X_WB());
      poses.bodies.push_back(&bodies[0].X_WB);
      poses.fixed.push_back(*table.X_WP);
      synthesis::HandStep step;
      step.q = whole.hands.front().q.col(static_cast<Eigen::Index>(frame));
      step.q_reference = step.q_reference_next =
          pinch.q_reference.col(static_cast<Eigen::Index>(frame / 2));
      step.compliance_rad_per_Nm = pinch.compliance_rad_per_Nm.col(0);
      step.time_constant_s = Eigen::VectorXd::Constant(hand.nv(), 0.014);
      stepper.SetConfiguration(step.q);
      synthesis::ContactSet contacts;
      synthesis::StepResult result;
      const auto steps = [&](int count) {
        for (int k = 0; k < count; ++k) {
          if (!finder.Find(poses, options.margin_m, &contacts) ||
              !stepper.Step({&step, 1}, contacts, bodies, &result))
            throw std::runtime_error("step");
          step.q = result.q;
        }
      };
      steps(500);  // until the box hangs and all has grown
      const size_t before = AllocationsOfThisThread();
      steps(100);
      const double each = static_cast<double>(AllocationsOfThisThread() - before) / 100;
      reporter.Report("interaction.allocations",
                      {.value = {each, 0}, .unit = "per step", .goal = Goal::AtMost(0)});
    }
  });
}
