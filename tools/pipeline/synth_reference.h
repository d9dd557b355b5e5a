/// Step "synth.reference": a scripted hand (synthesis/interaction/scripted_reference.h and
/// gaiting_reference.h).
#pragma once

#include <optional>
#include <string>

#include "synthesis/interaction/gaiting_reference.h"
#include "synthesis/interaction/scripted_reference.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// What a scripted trajectory was made for: the parameters of its provenance, "hold_ns" beside
/// them.
struct ScriptedProgram {
  std::string program = "pinch";  ///< pinch, tripod, power, gaiting
  geometry::RigidTransform X_WProp;
  double above_middle_m = 0.0;
  double along_faces_m = 0.0;
  synthesis::PinchOptions options = {};  ///< of a grip
  double ball_radius_m = 0.0335;         ///< what gaiting is made on
  synthesis::GaitingOptions gaiting = {};
};
template <typename A>
void Visit(A& a, ScriptedProgram& p) {
  a.Field("program", p.program);
  a.Field("X_WProp", p.X_WProp);
  a.Field("above_middle_m", p.above_middle_m);
  a.Field("along_faces_m", p.along_faces_m);
  a.Field("options", p.options);
  a.Field("ball_radius_m", p.ball_radius_m);
  a.Field("gaiting", p.gaiting);
}

/// The result is an artefact::InteractionTrajectory whose compliances are all planted. Inputs:
/// skeleton, prop.
struct SynthReferenceStep {
  HandChoice hand = {};
  std::string prop = {};  ///< as FindProp
  double metres_per_unit = kMeshMetresPerUnit;
  std::string program = "pinch";  ///< or tripod, power, gaiting
  /// Empty: as its file has it, its lowest point at z = 0, 30 cm in front of the origin.
  std::optional<geometry::RigidTransform> X_WProp = {};
  /// Where it is gripped above its middle; empty: 0.35 of its height. Gaiting: above the prop's
  /// origin; empty: there.
  std::optional<double> above_middle_m = {};
  /// Of a grip: horizontally along the faces, to the left as seen from the fingers' face towards
  /// the thumb's.
  double along_faces_m = 0.0;
  synthesis::PinchOptions options = {};  ///< its grip is the program's
  double ball_radius_m = 0.0335;
  synthesis::GaitingOptions gaiting = {};

  Result<StepResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline
