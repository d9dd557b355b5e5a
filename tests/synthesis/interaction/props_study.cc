// Every free prop, one scripted pinch and one scripted power grasp, at 50 g and at its own mass:
// lifted or not, by the replay, and by the engine where the replay did not lift it.
// `props_study PROPS_FOLDER`; results: tests/synthesis/interaction/results/props.md.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "database/model/hand_library.h"
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

void Try(const model::Skeleton& hand, const model::Prop& prop, ScriptedGrip grip) {
  std::printf("| %s | %g | %s | ", prop.name.c_str(), 1e3 * prop.mass.mass_kg,
              grip == ScriptedGrip::kPinch ? "pinch" : "power");
  const auto lift = testing::ScriptLift(hand, prop, grip);
  if (!lift) {
    std::printf("no script | | %s |\n", lift.error().message.c_str());
    return;
  }
  const auto free_run = testing::OdeFreeRun(hand, lift->script);
  const auto motion = synthesis::ReplayInteraction(hand, free_run ? *free_run : lift->script,
                                                   lift->scene, testing::LiftOptions());
  if (!motion) {
    std::printf("failed | | %s |\n", motion.error().message.c_str());
    return;
  }
  const std::string ours = Verdict(hand, *motion, lift->program);
  std::printf("%s | ", ours.c_str());
  if (!ours.starts_with("held")) {
    const auto truth = testing::OdeGripRun(hand, lift->script, lift->scene);
    std::printf(
        "%s", truth ? Verdict(hand, *truth, lift->program).c_str() : truth.error().message.c_str());
  }
  std::printf(" | %d |\n", synthesis::UnsolvedSteps(*motion));
  std::fflush(stdout);
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
  std::printf(
      "| prop | g | grip | replay | engine, same script | unsolved steps, or why no script |\n"
      "|---|---|---|---|---|---|\n");
  for (const model::Prop& prop : props) {
    if (!only.empty() && prop.name != only) continue;
    for (const ScriptedGrip grip : {ScriptedGrip::kPinch, ScriptedGrip::kPower}) {
      Try(hand, testing::WithMass(prop, 0.05), grip);
      if (prop.mass.mass_kg > 0.0 && std::abs(prop.mass.mass_kg - 0.05) > 1e-6)
        Try(hand, prop, grip);
    }
  }
  return 0;
}
