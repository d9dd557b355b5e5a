/// Simulated traces that must come out the same to the bit, on every build: one per mover, beside
/// the trace that is kept (tests/synthesis/results/*.trace) and its hash. synthesis/DETERMINISM.md
/// says what is promised.
#pragma once

#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "database/geometry/rotation.h"
#include "database/geometry/transform.h"
#include "synthesis/interaction/replay.h"
#include "tests/support/chain_hands.h"
#include "tests/support/closing_hand.h"
#include "tests/support/paths.h"

namespace handhold::testing {

/// Values by name, step by step.
struct Trace {
  std::vector<std::string> names;
  std::vector<std::vector<double>> steps;
};

/// FNV-1a over the bits of every value, in order.
inline std::uint64_t HashOf(const Trace& trace) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::vector<double>& step : trace.steps) {
    for (const double value : step) {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      for (int k = 0; k < 64; k += 8) hash = (hash ^ (bits >> k & 0xff)) * 1099511628211u;
    }
  }
  return hash;
}

/// A line of names, then a line of bits per step.
inline void WriteTrace(const Trace& trace, const std::string& path) {
  std::ofstream file(path);
  for (const std::string& name : trace.names) file << name << ' ';
  for (const std::vector<double>& step : trace.steps) {
    file << '\n';
    for (const double value : step) {
      char bits[20];
      std::snprintf(bits, sizeof bits, "%" PRIx64 " ", std::bit_cast<std::uint64_t>(value));
      file << bits;
    }
  }
  file << '\n';
}
inline Trace ReadTrace(const std::string& path) {
  Trace trace;
  std::ifstream file(path);
  std::string line, word;
  std::getline(file, line);
  for (std::istringstream in(line); in >> word;) trace.names.push_back(word);
  while (std::getline(file, line)) {
    std::vector<double>& step = trace.steps.emplace_back();
    for (std::istringstream in(line); in >> word;)
      step.push_back(std::bit_cast<double>(std::stoull(word, nullptr, 16)));
  }
  return trace;
}

/// "": none. Else the first step and value that differ: "step 12: ball.x is 0.1 (3fb9...), was
/// ...".
inline std::string FirstDifference(const Trace& kept, const Trace& now) {
  if (kept.names != now.names) return "the values have other names";
  for (size_t k = 0; k < std::min(kept.steps.size(), now.steps.size()); ++k) {
    for (size_t i = 0; i < kept.names.size(); ++i) {
      const double a = kept.steps[k].at(i), b = now.steps[k].at(i);
      if (std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b)) continue;
      char text[200];
      std::snprintf(text, sizeof text, "step %zu: %s is %.17g (%a), was %.17g (%a)", k,
                    kept.names[i].c_str(), b, b, a, a);
      return text;
    }
  }
  return kept.steps.size() == now.steps.size() ? "" : "another number of steps";
}

inline void AddPose(const geometry::RigidTransform& X, std::vector<double>* step) {
  const Eigen::Vector4d q = geometry::ToQuaternion(X.R);
  step->insert(step->end(), {X.p.x(), X.p.y(), X.p.z(), q[0], q[1], q[2], q[3]});
}
inline void NamePose(const std::string& of, Trace* trace) {
  for (const char* part : {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"})
    trace->names.push_back(of + part);
}

/// The compliant mover: a finger comes down on a ball that lies on a plate, presses and rolls it.
inline Trace CompliantTrace() {
  const model::Skeleton hand = ChainHand({0.08, 0.06}, 0.006);
  constexpr int kFrames = 200;
  artefact::InteractionTrajectory t;
  t.dof_names = hand.dof_names();
  t.q_reference.resize(2, kFrames);
  t.compliance_rad_per_Nm = Eigen::MatrixXd::Constant(2, kFrames, 0.4);
  for (int k = 0; k < kFrames; ++k) {
    t.times.push_back(Timestamp::FromNanoseconds(k * 2'000'000LL));
    // A polynomial: no library's sine decides.
    const double s = k / (kFrames - 1.0), down = 4.0 * s * (1.0 - s);
    t.q_reference(0, k) = 0.25 + 0.14 * down;
    t.q_reference(1, k) = 0.5 - 0.2 * s;
  }
  t.q = t.q_reference;
  model::Prop ball;
  ball.name = "ball";
  ball.mass.mass_kg = 0.05;
  ball.mass.I_BCom_B = 0.4 * 0.05 * 0.02 * 0.02 * geometry::Mat3::Identity();
  ball.shapes.push_back({"ball", {}, geometry::Sphere{0.02}, ""});
  artefact::Stage stage;
  const double top_m = -0.115;
  stage.Add(artefact::Placed(Plate(0.5, 0.0),
                             geometry::RigidTransform::Translation(geometry::Vec3(0.1, 0, top_m))));
  stage.Add(artefact::Placed(
      ball, geometry::RigidTransform::Translation(geometry::Vec3(0.118, 0.001, top_m + 0.02)),
      artefact::StageThing::Is::kFree));
  const artefact::Motion motion =
      synthesis::ReplayInteraction(hand, t, std::move(stage), {}).value();
  Trace trace;
  trace.names = {"joint0", "joint1"};
  NamePose("ball", &trace);
  for (const char* name : {"force.x", "force.y", "force.z"}) trace.names.emplace_back(name);
  const Eigen::Matrix3Xd force =
      artefact::ForceOnHand(motion.touches, motion.rows, motion.times.size());
  for (size_t k = 0; k < motion.times.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    std::vector<double>& step = trace.steps.emplace_back();
    step = {motion.hands[0].q(0, i), motion.hands[0].q(1, i)};
    AddPose(motion.FindObject("ball")->pose(k), &step);
    for (Eigen::Index axis = 0; axis < 3; ++axis) step.push_back(force(axis, i));
  }
  return trace;
}

/// ODE: a hand closes on a cylinder that is held, then let go.
inline Trace EngineTrace() {
  ClosingHand scene("hand27");
  synthesis::HandWorld& world = *scene.world;
  CHECK(world.HoldProp(0, true));
  Trace trace;
  for (Eigen::Index i = 0; i < world.q(0).size(); ++i)
    trace.names.push_back("q" + std::to_string(i));
  NamePose("cylinder", &trace);
  trace.names.emplace_back("grip");
  for (int k = 0; k < 180; ++k) {
    if (k == 120) CHECK(world.HoldProp(0, false));
    CHECK(scene.Run(2e-3));
    if (k < 90) continue;  // nothing touches yet
    std::vector<double>& step = trace.steps.emplace_back();
    const Eigen::VectorXd q = world.q(0);
    step.assign(q.begin(), q.end());
    AddPose(world.X_WP(0), &step);
    step.push_back(world.GripOn(0, 0).normal_N);
  }
  return trace;
}

/// With HANDHOLD_KEEP_TRACES set in the environment the trace is written anew: for whoever changes
/// numbers on purpose.
inline void ExpectKept(const Trace& now, const std::string& name, std::uint64_t hash) {
  const std::string path = support::SourceDir() + "/tests/synthesis/results/" + name + ".trace";
  if (std::getenv("HANDHOLD_KEEP_TRACES") != nullptr) WriteTrace(now, path);
  EXPECT_EQ(FirstDifference(ReadTrace(path), now), "") << name;
  char text[20];
  std::snprintf(text, sizeof text, "%016" PRIx64, HashOf(now));
  EXPECT_EQ(HashOf(now), hash) << name << ": 0x" << text;
}

inline void ExpectCompliantTraceKept() {
  const Trace trace = CompliantTrace();
  ASSERT_EQ(trace.steps.size(), 200u);
  double pressed_N = 0;
  for (const auto& step : trace.steps) pressed_N = std::max(pressed_N, step.back());
  EXPECT_GT(pressed_N, 0.2) << "it touches nothing: this shows nothing";
  EXPECT_NE(trace.steps.back()[2], trace.steps.front()[2]) << "the ball does not roll";
  ExpectKept(trace, "compliant", 0x21b958e1b9923a67);
}

inline void ExpectEngineTraceKept() {
  const Trace trace = EngineTrace();
  EXPECT_GT(trace.steps.back().back(), 1.0) << "it holds nothing: this shows nothing";
  ExpectKept(trace, "engine", 0x6b57e4ade3b434b8);
}

}  // namespace handhold::testing
