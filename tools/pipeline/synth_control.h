/// Step "synth.control": a physical hand grasps a prop by setpoints (synthesis/grasp_control), its
/// palm along a path, sequenced by distance or by keys.
///
/// A Grasp gives setpoints, hand and place. On another prop, or a hand of another size or side, the
/// open hand comes along the example's direction until 2 mm are left; whether it then holds is what
/// the motion shows: nothing here searches (regrasp does). Pinned by
/// tests/tools/pipeline/synth_control_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "database/artefact/grasp.h"
#include "synthesis/evaluate/verdict.h"
#include "synthesis/grasp_control/grasp_run.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// Where the palm goes.
enum class PalmStory {
  /// From 32 cm away to the grip, then up by lift_m: along the palm's normal, or, where the open
  /// hand would run into the prop on it, along the least tilted way that is clear.
  kReach,
  kStill,  ///< at the grip all along
  kTrack,  ///< as the palm of a stored motion
};

/// The result is an artefact::Motion with its verdict (from when the prop was let go, or half of
/// the motion, to the end). Inputs: grasp or setpoints, skeleton (as loaded), hand (its root free),
/// prop and, if any, track and table. Figures: peak_force_N, lifted_m, grip_N (mean normal force
/// after letting go), let_go_s, gain_factor, inertia_floor_kgm2, alpha, mass_kg, friction.
struct SynthControlStep {
  std::string source = {};  ///< a grasp as FindGrasp, or an artefact of setpoints
  std::string prop = {};    ///< as FindProp; empty: the grasp's own
  double metres_per_unit = kMeshMetresPerUnit;
  HandChoice hand = {};  ///< key empty: the grasp's; side and scale change it
  /// Pose of the palm's body in the prop when it grips; empty: the grasp's.
  std::optional<geometry::RigidTransform> X_PPalm = {};
  geometry::RigidTransform X_WP = {};
  std::optional<double> mass_kg = {}, friction = {};  ///< of the prop; empty: its own
  bool table = false;                                 ///< a fixed one just below the prop
  geometry::Vec3 gravity_W = geometry::Vec3::Zero();
  PalmStory story = PalmStory::kReach;
  std::string track = {};  ///< of kTrack: a motion's artefact
  double reach_s = 0.9, wait_s = 0.9, lift_m = 0.1, lift_s = 0.5;
  /// k_S, k_D, k_JL, as the setpoints say or as here; 0: as they say.
  double stiffness_per_s2 = 0.0, damping_per_s = 0.0, limit_stiffness_per_s2 = 0.0;
  synthesis::GraspRunOptions run = {};

  Result<StepResult> Run(const StepContext& context) const;
  /// Runs it for somebody who presses keys: `tick` is called after each step and may press, steer
  /// and wait; false ends it. Saves nothing; answers the step whose Run makes the same motion to
  /// the bit: its keys are those that were pressed, its length that of the play.
  Result<SynthControlStep> Play(const StepContext& context,
                                const std::function<bool(synthesis::GraspRun&)>& tick) const;

 private:
  struct Prepared;
  Result<Prepared> Prepare(const StepContext& context) const;
  Result<synthesis::PalmPath> PathTo(const StepContext& context,
                                     const geometry::RigidTransform& X_WGrip,
                                     const geometry::Vec3& way,
                                     std::vector<artefact::ProvenanceInput>* more) const;
};

}  // namespace handhold::pipeline
