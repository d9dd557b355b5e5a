// Every free prop, one scripted pinch and one scripted power grasp, at 50 g and at its own mass:
// lifted or not, by the replay; where the replay did not lift it by the engine with its own
// colliders, and by the engine with exact contacts (OdeGripOptions::replay_contacts).
// `props_study PROPS_FOLDER [PROP [pinch|power]]`: all, one, or one varied; results:
// tests/synthesis/interaction/results/props.md.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "database/model/hand_library.h"
#include "tests/support/contact_audit.h"
#include "tests/support/ode_grip_truth.h"
#include "tests/support/prop_lift.h"

namespace {

using namespace handhold;
using synthesis::ScriptedGrip;

std::string Verdict(const model::Skeleton& hand, const artefact::Motion& motion,
                    const synthesis::PinchOptions& program) {
  synthesis::VerdictOptions judge;
  judge.object = motion.objects.back().name;
  judge.hold = synthesis::PinchHold(program);
  const auto verdict = synthesis::JudgeHold(hand, motion, judge);
  if (!verdict) return verdict.error().message;
  char text[64];
  std::snprintf(text, sizeof text, ", up %.0f mm",
                1e3 * program.lift_m * testing::LiftedShare(motion, program));
  return std::string(artefact::VerdictName(verdict->kind)) + text;
}

/// The widest pair of faces that the hand's fingertips reach with this script, opened too.
double Span_m(const model::Skeleton& hand, synthesis::PinchPlace place,
              const synthesis::PinchOptions& program) {
  double reached = 0.0, missed = 0.2;
  while (missed - reached > 2e-4) {
    place.width_m = 0.5 * (reached + missed);
    (synthesis::PinchReference(hand, place, program) ? reached : missed) = place.width_m;
  }
  return reached;
}

/// Why there is no replay, by measures: of the hand and the faces, or of the bone that is inside.
void SayKinematics(const model::Skeleton& hand, const model::Prop& prop, ScriptedGrip grip) {
  const auto X_WP = geometry::RigidTransform::Translation(
      geometry::Vec3(0.3, 0, -model::LowestAlong(prop, {}, geometry::Vec3::UnitZ())));
  const auto place = synthesis::PinchBetweenFaces(prop, X_WP);
  if (!place) {
    const auto any = synthesis::PinchBetweenFaces(prop, X_WP, 1.0);
    const geometry::Vec3 size = model::BoundsOf(prop).max - model::BoundsOf(prop).min;
    std::printf("%.0f x %.0f x %.0f mm; ", 1e3 * size.x(), 1e3 * size.y(), 1e3 * size.z());
    if (any) {
      std::printf("its upright faces are %.0f mm apart, 90 asked", 1e3 * any->width_m);
    } else {
      std::printf("no two faces within 18 deg of upright look away from each other");
    }
    return;
  }
  const synthesis::PinchOptions program = testing::LiftProgram(grip);
  const double span_m = Span_m(hand, *place, program);
  std::printf("faces %.0f mm apart; the script, open by %.0f mm, spans %.0f mm",
              1e3 * place->width_m, 1e3 * program.clearance_m, 1e3 * span_m);
  const auto lift = testing::ScriptLift(hand, prop, grip);
  if (!lift) return;
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, lift->script.q_reference_dynamic.col(0), &data);
  const testing::Nearest deepest = testing::NearestOfHand(hand, data, prop, X_WP);
  const double top_m = model::BoundsOf(prop, X_WP).max.z();
  std::printf("; open, %s begins %.1f mm inside, %.0f mm under its top",
              hand.body(deepest.body).name.c_str(), -1e3 * deepest.distance_m,
              1e3 * (top_m - deepest.p_W.z()));
}

/// The engine's contacts of a run with its own colliders against exact distances at its poses.
void SayColliders(const model::Skeleton& hand, const model::Prop& prop,
                  const artefact::Motion& truth) {
  const testing::ContactAudit audit = testing::AuditContacts(hand, prop, truth);
  std::printf(
      "; its colliders: %d of %d touches press by more than 10 %% + 0.15 N too much or too "
      "little, at most %.1f N; points jump by up to %.1f mm in a frame",
      audit.wrong, audit.touches, audit.worst_N, 1e3 * audit.jump_m);
}

void Try(const model::Skeleton& hand, const model::Prop& prop, ScriptedGrip grip) {
  std::printf("| %s | %g | %s | ", prop.name.c_str(), 1e3 * prop.mass.mass_kg,
              grip == ScriptedGrip::kPinch ? "pinch" : "power");
  testing::OdeGripOptions with;
  with.limits = true;
  const auto lift = testing::ScriptLift(hand, prop, grip);
  const auto free_run = lift ? testing::OdeFreeRun(hand, lift->script, with) : Error{};
  const auto motion =
      free_run ? synthesis::ReplayInteraction(hand, *free_run, lift->stage, testing::LiftOptions())
               : Error{};
  if (!motion) {
    std::printf("- | | | kinematic: ");
    SayKinematics(hand, prop, grip);
    std::printf(" |\n");
    return;
  }
  const std::string ours = Verdict(hand, *motion, lift->program);
  std::printf("%s | ", ours.c_str());
  if (ours.starts_with("held")) {
    std::printf(" | | %s |\n", synthesis::UnsolvedSteps(*motion) > 0 ? "steps unsolved" : "");
    return;
  }
  const auto truth = testing::OdeGripRun(hand, lift->script, lift->stage, with);
  with.replay_contacts = true;
  const auto exact = testing::OdeGripRun(hand, lift->script, lift->stage, with);
  if (!truth || !exact) {
    std::printf("%s | | |\n", (truth ? exact : truth).error().message.c_str());
    return;
  }
  const std::string engine = Verdict(hand, *truth, lift->program),
                    bodies = Verdict(hand, *exact, lift->program);
  const auto kind = [](const std::string& verdict) { return verdict.substr(0, verdict.find(',')); };
  std::printf("%s | %s | ", engine.c_str(), bodies.c_str());
  if (kind(engine) == kind(ours)) {
    std::printf("physics: the engine says the same");
  } else if (kind(bodies) == kind(ours)) {
    std::printf("contacts, not the solver: the engine with exact contacts says the same");
    SayColliders(hand, prop, *truth);
  } else {
    std::printf("open");
  }
  std::printf("%s |\n", synthesis::UnsolvedSteps(*motion) > 0 ? "; steps unsolved" : "");
  std::fflush(stdout);
}

/// One script with friction, mass or depth varied: who lifts it.
void Vary(const model::Skeleton& hand, const model::Prop& prop, ScriptedGrip grip) {
  struct Variation {
    const char* name;
    double friction, mass, depth;
  };
  for (const Variation& v : {Variation{"as it is", 1, 1, 1},
                             {"friction x 0.8", 0.8, 1, 1},
                             {"friction x 0.9", 0.9, 1, 1},
                             {"friction x 1.1", 1.1, 1, 1},
                             {"friction x 1.2", 1.2, 1, 1},
                             {"20 % lighter", 1, 0.8, 1},
                             {"20 % heavier", 1, 1.2, 1},
                             {"20 % less deep", 1, 1, 0.8},
                             {"20 % deeper", 1, 1, 1.2}}) {
    model::Prop varied = testing::WithMass(prop, v.mass * prop.mass.mass_kg);
    varied.friction *= v.friction;
    auto lift = testing::ScriptLift(hand, varied, grip, v.depth);
    if (!lift) return;
    testing::OdeGripOptions with;
    with.limits = true;
    const auto free_run = testing::OdeFreeRun(hand, lift->script, with);
    const auto own = testing::OdeGripRun(hand, lift->script, lift->stage, with);
    with.replay_contacts = true;
    const auto exact = testing::OdeGripRun(hand, lift->script, lift->stage, with);
    const auto ours =
        synthesis::ReplayInteraction(hand, *free_run, lift->stage, testing::LiftOptions());
    std::printf("| %s | %g | %s | %s | %s | %s | %s |\n", prop.name.c_str(),
                1e3 * prop.mass.mass_kg, grip == ScriptedGrip::kPinch ? "pinch" : "power", v.name,
                Verdict(hand, *ours, lift->program).c_str(),
                Verdict(hand, *own, lift->program).c_str(),
                Verdict(hand, *exact, lift->program).c_str());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "../shared/data/props";
  const std::string only = argc > 2 ? argv[2] : "";
  const model::Skeleton hand = *model::LoadHand("hand27");
  std::vector<model::Prop> props;
  const auto ours = model::PropNames();
  for (const std::string& name : *ours) {
    const model::Prop prop = *model::LoadLibraryProp(name);
    if (prop.mass.mass_kg > 0.0) props.push_back(prop);
  }
  std::vector<std::filesystem::path> meshes;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory()) meshes.push_back(entry.path());
  std::sort(meshes.begin(), meshes.end());
  for (const auto& mesh : meshes) {
    const std::string name = mesh.filename().string();
    auto prop = model::PropFromMesh((mesh / (name + ".stl")).string(), 1.0);
    if (!prop) continue;
    prop->name = name + ".stl";
    props.push_back(*prop);
    if (name != "lightbulb") continue;
    prop->name = "lightbulb.stl on its cap";
    prop->shapes.front().X_PS.R = geometry::Exp(geometry::Vec3(0, -0.5 * M_PI, 0));
    props.push_back(*prop);
  }
  std::printf(argc > 3 ? "| prop | g | grip | varied | replay | engine | engine, exact contacts |\n"
                         "|---|---|---|---|---|---|---|\n"
                       : "| prop | g | grip | replay | engine | engine, exact contacts | cause |\n"
                         "|---|---|---|---|---|---|---|\n");
  for (const model::Prop& prop : props) {
    if (!only.empty() && prop.name != only) continue;
    if (argc > 3) {
      const bool pinch = std::string(argv[3]) == "pinch";
      for (const double mass_kg : {0.05, prop.mass.mass_kg}) {
        if (mass_kg > 0.0)
          Vary(hand, testing::WithMass(prop, mass_kg),
               pinch ? ScriptedGrip::kPinch : ScriptedGrip::kPower);
      }
      continue;
    }
    for (const ScriptedGrip grip : {ScriptedGrip::kPinch, ScriptedGrip::kPower}) {
      Try(hand, testing::WithMass(prop, 0.05), grip);
      if (prop.mass.mass_kg > 0.0 && std::abs(prop.mass.mass_kg - 0.05) > 1e-6)
        Try(hand, prop, grip);
    }
  }
  return 0;
}
