/// Joint compliance from natural contact by a dynamic fit pooled over events: estimator E4 of the
/// reference study.
///
/// Per event, the joint angles around an onset are explained as reference + deviation. The
/// reference (what the hand would have done) is a polynomial: Legendre degrees 0-2 free, 3-9 with a
/// prior covariance learned from free movement. The deviation follows deviation.h. Angles are
/// weighted by their information matrix, never filtered. Log C per joint, one log T, an inertia
/// scale and a force-to-marker time shift are common to all events of a task; the polynomials are
/// eliminated exactly. A joint is answered only when the data determine it (RefusalRule); else it
/// is refused, with the direction that is missing. Traps and figures:
/// reference/compliance-from-contact.md. Tests: dynamic_estimator_test.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/contact_track.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/pose_track.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "fitting/compliance/model_doubts.h"
#include "fitting/compliance/reference_prior.h"

namespace handhold::fitting {

inline constexpr int kDynamicEstimatorVersion = 7;

/// When a joint's value is given. All terms of sd in quadrature.
struct RefusalRule {
  double max_sd_log = 0.12;
  /// Model floor of sd(log C) by a joint's place on the way from the touching body's tip towards
  /// the root: last, one before, ...; the last entry holds for all further ones. (DIP 7 %, PIP 5 %,
  /// MP and wrist 1 %.)
  std::vector<double> floor_from_tip = {0.07, 0.05, 0.01};
  double max_event_chi2_per_dof = 1.6;  ///< an event beyond is dropped and listed
  double max_fit_chi2_per_dof = 1.35;  ///< a pooled fit beyond is refused whole: the model is wrong
                                       ///< (reflex, lengths, clock)
  /// Shared T against one T per joint, two tests, each with the chance of refusing a fit whose
  /// joints do share T. How much better one T per joint explains the events (more: no joint is
  /// answered), and how far a joint's C moves, in sd and for the number of joints looked at (more:
  /// that joint is not answered).
  double shared_time_constant_chance = 0.001;
  /// A palm further from the skeleton's, in sd of its prior: no joint is answered.
  double max_palm_sd = 3.0;
  double rigid_chi2 = 3.84;  ///< C -> 0 may cost less than this: "not told from 0"
  /// Joints that give way each for itself against a coupling of each pair of neighbours: with this
  /// chance of refusing a pair that is not coupled (more gained: neither is answered). Intervals of
  /// what is answered hold for every coupling up to the share considered that lies as near.
  double coupling_chance = 0.001;
  double coupling_considered = 0.2;
  /// Beside a pair that is shown to be coupled: how far log C may move by a coupling of
  /// kBesideShown to it before the joint is refused, too.
  double most_beside_coupled = 0.25;
};

struct DynamicEstimatorOptions {
  Duration before = Duration::Milliseconds(100);
  /// Reflexes may begin later; and the longer, the more of the stroke's own bend, the same in every
  /// stroke, is left to the polynomials (README, Decisions).
  Duration after = Duration::Milliseconds(60);
  Duration force_before = Duration::Milliseconds(20);  ///< force is taken as 0 earlier than this
                                                       ///< before the onset
  double step_s = 5e-4;
  double cutoff_Hz = 300.0;      ///< zero-phase, of the force
  double pose_cutoff_Hz = 40.0;  ///< zero-phase, of the angles inside J only
  int free_degree = 2;
  int prior_degree = 9;
  double prior_variance_factor = 20.0;  ///< looser than learned: harmless; tighter biases the end
                                        ///< joints
  ReferencePrior reference_prior;  ///< learned elsewhere; empty: from this clip's "stroke" events
                                   ///< without contact, else from all its free movement
  double inertia_sd_log = 0.3;     ///< how far the skeleton's masses may be off; what single events
                                   ///< propagate
  double palm_sd_log = 0.5;        ///< the palm's mass against the fingers', beyond inertia_sd_log
  double free_palm_sd_log = 1.5;   ///< of a hand with a free root: what is behind it holds it, too
  double time_shift_sd_s = 0.002;  ///< how far clocks may be off; the data override it when pooled
  double time_shift_search_s = 0.012;  ///< grid of starting values, both ways
  bool single_events = true;           ///< also fit each event alone, for display
  RefusalRule refusal;
  DoubtRule doubts;
  /// What the skeleton's fit left between the touched point and the wrench's axis and noise does
  /// not explain (UnexplainedAxis_m of its summary): an input of its own. 0: not known.
  double touch_axis_rms_m = 0.0;
  /// Asked at every iteration; false cancels (kCancelled). Empty: always true.
  std::function<bool()> keep_going = {};
};

struct DynamicCompliance {
  std::vector<artefact::ComplianceFit> fits;  ///< one per task, estimator "dynamic"
  artefact::DynamicSummary summary;
};

/// A palm so many times as heavy or as light against the fingers as the skeleton's is told.
inline constexpr double kTellPalmScale = 1.4;
/// An inertia scale or a time shift that ends further from its prior, in the prior's sd, has taken
/// up something else.
inline constexpr double kTellPriorSd = 5.0;

/// Warnings about what a fit with events shows beside its compliances: what DoubtRule acts on, a
/// palm beyond kTellPalmScale, an inertia scale or a time shift beyond kTellPriorSd.
Issues OddNuisances(const artefact::ComplianceFit& fit, const DynamicEstimatorOptions& options);
/// How far the touched point stays from the wrench's axis: what the skeleton's fit says or what the
/// contacts themselves do beyond a plain take's (a skeleton from elsewhere), the larger.
double TouchAxis_m(const DynamicEstimatorOptions& options, const artefact::ContactSummary& contact);
/// The warning about that, or none.
Issues OddTouching(double axis_m, const DynamicEstimatorOptions& options);

/// `pose` needs whole information matrices around the contacts of `contact`. Fails with kNotFound,
/// kInvalid, kUnidentifiable (no event with enough frames: says what is missing). A refused joint
/// is an answer. Cost: seconds for 50 events of a finger.
Result<DynamicCompliance> FitDynamicCompliance(const recording::ClipSource& clip,
                                               const model::Skeleton& skeleton,
                                               const artefact::PoseTrack& pose,
                                               const artefact::ContactTrack& contact,
                                               const DynamicEstimatorOptions& options = {});

template <typename A>
void Visit(A& a, RefusalRule& o) {
  a.Field("max_sd_log", o.max_sd_log);
  a.Field("floor_from_tip", o.floor_from_tip);
  a.Field("max_event_chi2_per_dof", o.max_event_chi2_per_dof);
  a.Field("max_fit_chi2_per_dof", o.max_fit_chi2_per_dof);
  a.Field("shared_time_constant_chance", o.shared_time_constant_chance);
  a.Field("max_palm_sd", o.max_palm_sd);
  a.Field("rigid_chi2", o.rigid_chi2);
  a.Field("coupling_chance", o.coupling_chance);
  a.Field("coupling_considered", o.coupling_considered);
  a.Field("most_beside_coupled", o.most_beside_coupled);
}
template <typename A>
void Visit(A& a, DynamicEstimatorOptions& o) {
  a.Field("before_ns", o.before);
  a.Field("after_ns", o.after);
  a.Field("force_before_ns", o.force_before);
  a.Field("step_s", o.step_s);
  a.Field("cutoff_Hz", o.cutoff_Hz);
  a.Field("pose_cutoff_Hz", o.pose_cutoff_Hz);
  a.Field("free_degree", o.free_degree);
  a.Field("prior_degree", o.prior_degree);
  a.Field("prior_variance_factor", o.prior_variance_factor);
  a.Field("reference_prior", o.reference_prior);
  a.Field("inertia_sd_log", o.inertia_sd_log);
  a.Field("palm_sd_log", o.palm_sd_log);
  a.Field("free_palm_sd_log", o.free_palm_sd_log);
  a.Field("time_shift_sd_s", o.time_shift_sd_s);
  a.Field("time_shift_search_s", o.time_shift_search_s);
  a.Field("single_events", o.single_events);
  a.Field("refusal", o.refusal);
  a.Field("doubts", o.doubts);
  a.Skip(o.touch_axis_rms_m);
  a.Skip(o.keep_going);
}

}  // namespace handhold::fitting
