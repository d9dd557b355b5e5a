/// Step "synth.reference": a scripted hand (scripted_reference.h, gaiting_reference.h).
#pragma once

#include <optional>
#include <string>

#include "database/artefact/interaction_trajectory.h"
#include "database/model/prop.h"
#include "database/step/about.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "synthesis/interaction/gaiting_reference.h"
#include "synthesis/interaction/scripted_reference.h"

namespace handhold::synthesis {

/// The result is an artefact::InteractionTrajectory whose compliances are all planted.
struct SynthReferenceStep {
  static constexpr step::Title kStep{
      "synth.reference", kScriptedReferenceVersion + 1,
      "script a hand that grasps a prop: fingertips, joint angles, planted compliances"};
  std::string program = "pinch";  ///< or tripod, power, gaiting
  step::Given<step::Hand> skeleton = "hand27";
  step::Given<model::Prop> prop = {};
  /// Empty: as its file has it, its lowest point at z = 0, 30 cm in front of the origin.
  std::optional<geometry::RigidTransform> X_WProp = {};
  /// Where it is gripped above its middle; empty: 0.35 of its height, of what is no box between two
  /// of its faces. Gaiting: above the prop's origin; empty: there.
  std::optional<double> above_middle_m = {};
  /// Of a grip: horizontally along the faces, to the left as seen from the fingers' face towards
  /// the thumb's.
  double along_faces_m = 0.0;
  std::optional<double> depth_m = {};      ///< of the program; empty: its options'
  std::optional<double> clearance_m = {};  ///< of the program; empty: its options'
  PinchOptions options = {};               ///< its grip is the program's
  double ball_radius_m = 0.0335;           ///< what gaiting is made on
  GaitingOptions gaiting = {};
  TimeRange hold = {};  ///< when the prop should hang from the hand; Complete says it
};
template <typename A>
void Visit(A& a, SynthReferenceStep& s) {
  using artefact::About;
  using step::Role;
  a.Field("program", s.program,
          About{.help = "from above: pinch: thumb against index and middle finger; tripod: the "
                        "three round it; power: thumb against four; gaiting: two pairs in turn "
                        "turn a ball",
                .choices = "pinch tripod power gaiting",
                .first = true,
                .needed = true});
  a.Input("skeleton", s.skeleton,
          Role{.help = "a hand of ours with a free root, a .json file or an artefact"});
  a.Input("prop", s.prop,
          Role{.help = "a prop of ours, a .json prop, a .stl, .obj or .ply mesh, or an artefact"});
  a.Field("X_WProp", s.X_WProp,
          About{.help = "\"x y z [qw qx qy qz]\", metres; default: standing at z = 0",
                .word = "prop-pose",
                .value = "POSE"});
  a.Field("above_middle_m", s.above_middle_m,
          About{.help = "above the prop's middle; default: of a box 0.35 of its height, else "
                        "between two of its faces",
                .word = "above",
                .value = "M",
                .least = -1,
                .most = 1});
  a.Field("along_faces_m", s.along_faces_m,
          About{.help = "horizontally along the gripped faces, left as seen from the fingers' face",
                .word = "along",
                .value = "M",
                .least = -1,
                .most = 1});
  a.Field("depth_m", s.depth_m,
          About{.help = "closed fingertips inside each face; default: 0.012",
                .value = "M",
                .least = 0,
                .most = 0.1});
  a.Field("clearance_m", s.clearance_m,
          About{.help = "open fingertips off each face; default: 0.018, of gaiting 0.008",
                .value = "M",
                .least = 0,
                .most = 0.2});
  a.Field("options", s.options);
  a.Field("ball_radius_m", s.ball_radius_m,
          About{.help = "radius of the ball that gaiting is made on",
                .word = "ball",
                .value = "M",
                .least = 0.005,
                .most = 0.2});
  a.Field("gaiting", s.gaiting);
  a.Field("hold_ns", s.hold);
}

/// Where the prop stands, and when it should hang.
Status Complete(SynthReferenceStep& s, step::Work& work);
Status Check(const SynthReferenceStep& s);
Result<artefact::InteractionTrajectory> Compute(const SynthReferenceStep& s, step::Work& work);

}  // namespace handhold::synthesis
