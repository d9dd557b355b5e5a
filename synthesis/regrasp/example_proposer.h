/// Grasp control as a proposer (Pollard & Zordan 2005, and the search round it that the paper
/// leaves to the animator): wrist poses on the prop's surface, from which the hand of one example
/// closes as it closed there.
///
/// A pose: a surface point by area with its normal; roll along the way the surface runs there, as
/// the example's prop ran in its hand; then
/// - an example whose palm lies on its prop (enveloping) comes down along the normal with the open
///   hand until it is 2 mm away, and is refused where the thumb or another part meets the prop long
///   before the palm;
/// - one that holds by its fingers (a pinch) is put with its fingers either side of the material
///   there, and backs off until it is clear.
/// The prop is held still while the hand closes. Every candidate has a generator of its own from
/// (seed, number), so parts of the work add up. Pinned by
/// tests/synthesis/regrasp/example_proposer_test.cc.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "database/artefact/grasp.h"
#include "synthesis/regrasp/proposer.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns its candidates.
inline constexpr int kExampleProposerVersion = 1;

struct ExampleProposerOptions {
  double close_s = 0.46;      ///< 0.1 s + 4.5 damping / stiffness of the springs
  double clearance_m = 2e-3;  ///< of the open hand when it begins to close
  /// The palm may begin to close so much further from the prop than it ended on the example's.
  double palm_further_m = 0.03;
  double enveloping_m = 0.012;  ///< a palm nearer to its example's prop than this envelops it
  double roll_rad = 0.3, tilt_rad = 0.25, shift_m = 0.012;  ///< how far poses scatter, either way
  double free_roll = 0.25;    ///< share of poses whose roll is anything
  int places = 8;             ///< tried per candidate until one can be reached
  int min_contacts = 3;       ///< fewer after closing is refused as "loose"
  double depth_m = 0.01;      ///< deeper after closing is refused as "too deep"
  double region_share = 0.5;  ///< of the contacts in the region, where one is wished
  double step_s = 2e-3;
  bool quick = true;
  int quick_iterations = 50;
  double stiffness_per_s2 = 4000.0, damping_per_s = 316.0, inertia_floor_kgm2 = 1e-5;
  double mass_kg = 0.1, friction = 0.6;
};

class ExampleProposer : public Proposer {
 public:
  /// `example`: of `hand`, with q, q_open, q_squeeze and its contacts on `example_prop`. kInvalid
  /// says what is missing.
  static Result<std::unique_ptr<ExampleProposer>> Create(
      const model::Skeleton& hand, const artefact::Grasp& example, const model::Prop& example_prop,
      const ExampleProposerOptions& options = {});
  ~ExampleProposer() override;
  std::string_view name() const override { return "control"; }
  Result<ProposerReport> Propose(const GraspRequest& request, const ProposerSink& sink) override;
  bool envelops() const;  ///< how poses are sampled

 private:
  struct Impl;
  explicit ExampleProposer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

template <typename A>
void Visit(A& a, ExampleProposerOptions& o) {
  a.Field("close_s", o.close_s);
  a.Field("clearance_m", o.clearance_m);
  a.Field("palm_further_m", o.palm_further_m);
  a.Field("enveloping_m", o.enveloping_m);
  a.Field("roll_rad", o.roll_rad);
  a.Field("tilt_rad", o.tilt_rad);
  a.Field("shift_m", o.shift_m);
  a.Field("free_roll", o.free_roll);
  a.Field("places", o.places);
  a.Field("min_contacts", o.min_contacts);
  a.Field("depth_m", o.depth_m);
  a.Field("region_share", o.region_share);
  a.Field("step_s", o.step_s);
  a.Field("quick", o.quick);
  a.Field("quick_iterations", o.quick_iterations);
  a.Field("stiffness_per_s2", o.stiffness_per_s2);
  a.Field("damping_per_s", o.damping_per_s);
  a.Field("inertia_floor_kgm2", o.inertia_floor_kgm2);
  a.Field("mass_kg", o.mass_kg);
  a.Field("friction", o.friction);
}

}  // namespace handhold::synthesis
