/// What a pooled fit takes for granted and cannot see by itself, tested where the events can, and
/// how much wider that makes its answers.
///
/// Joints are taken to give way each for itself. An elastic coupling of neighbours (a tendon across
/// both) is nearly the same as other compliances: 20 % between PIP and DIP makes them 25 to 60 %
/// too large at an unchanged chi-square. So each pair's coupling is fitted in turn; one that the
/// events show refuses its joints, one that they do not exclude widens their intervals. Internal to
/// the dynamic estimator. Tests: tests/fitting/compliance/model_doubts_test.cc.
#pragma once

#include <limits>
#include <vector>

#include <Eigen/Core>

#include "fitting/compliance/pooled_fit.h"

namespace handhold::fitting {

/// Two joints coupled, everything else fitted again.
struct CouplingFinding {
  JointPair pair;
  double share = 0.0, sd = 0.0;  ///< deviation.h
  double chi2_gain = 0.0;        ///< over independent joints, scaled as other rises are
  /// d log C / d share of every joint along what the events leave open.
  Eigen::VectorXd log_per_share;
  /// log C of every joint at `share`, less that of independent joints.
  Eigen::VectorXd log_moved;
};

/// One per pair (NeighbourPairs). Cost: as many fits as pairs.
std::vector<CouplingFinding> TestCouplings(const PooledFit& pool, const PooledResult& best,
                                           const std::vector<JointPair>& pairs);

/// How far log C of `joint` may lie from its independent fit: `below` <= 0 <= `above`.
struct CouplingReach {
  double below = 0.0, above = 0.0;
};
/// By shares of at most `considered` that lie within `quantile` sd of what the events say; of a
/// pair that the events show to be coupled (gain above quantile^2, or no share of at most
/// `considered` lies within) by all that lie within, however large. Grows with the share and with
/// the gain.
/// A pair that shares a joint with one that the events show (gain above `shown_gain`) is no pair of
/// plain joints: of it all shares up to `kBesideShown` are considered, since two couplings at a
/// time hide one another.
inline constexpr double kBesideShown = 0.5;
CouplingReach ReachOf(const std::vector<CouplingFinding>& findings, int joint, double considered,
                      double quantile, double shown_gain = std::numeric_limits<double>::infinity());

/// What other findings add to the sd of log C, in quadrature, all joints alike. Zero where a plain
/// take stays.
struct DoubtRule {
  /// A time shift beyond this is a causal filter as soon as a late clock, and a filter delays by
  /// less where it matters: 200 Hz, 1.35 ms, all joints 3 to 10 % too large.
  double shift_from_s = 1e-3, sd_per_shift_ms = 0.05;
  /// The touched point's distance from the wrench's axis (RMS) beyond what plain takes leave (0.09
  /// to 0.13 mm): crosstalk of 1 and 3 % leaves 0.26 and 0.67 mm, a sensor 1 mm off 0.48.
  double axis_from_m = 1.5e-4, sd_per_axis_mm = 0.3;
  /// Beyond this it is told, too: others' plain takes leave up to 0.27 mm, and a warning that every
  /// take gets is none.
  double axis_told_m = 3e-4;
  /// What a clip's own contacts leave of it on a plain take, whose skeleton was fitted from less of
  /// them: 0.14 to 0.17 mm (seven whole subjects). Taken off in quadrature.
  double contact_axis_plain_m = 1.8e-4;
  /// A chi-square per degree of freedom so far below 1 is noise that the poses claim and the events
  /// do not show: something gives way that the skeleton holds fixed. Plain takes: 0.89 to 1.03.
  double chi2_from = 0.75, sd_per_chi2 = 0.25;
  /// Between the two it is told, and the sd grows up to that: a forearm of 8 kN/m left 0.8 to 0.9
  /// and a light wrist 23 % too large.
  double chi2_told = 0.9;
  /// Of a joint that is not told from 0, to the others: what they take up of its misfit (MP up to
  /// 11 % off beside a rigid PIP or DIP).
  double sd_beside_rigid = 0.05;
  /// Where no stroke in the air taught how references bend (one subject: wrist +6, MP +9 %); less
  /// with each that did, nothing from `enough_air_strokes` on.
  double sd_without_air = 0.04;
  int enough_air_strokes = 8;
};

/// What a fit shows beside its compliances.
struct Findings {
  double shift_s = 0.0, chi2_per_dof = 1.0;
  double axis_rms_m = 0.0;  ///< 0: not known
  int air_strokes = 0;      ///< that taught the reference's prior (ReferencePrior)
};

/// What markers of noise `marker_sd_m` do not explain of the touched point's distance from the
/// wrench's axis in a skeleton's fit: 0.3 mm of noise leave 0.22 mm by themselves.
double UnexplainedAxis_m(double axis_rms_m, double marker_sd_m);

/// sd of log C by the rule, without what stands beside a rigid joint.
double SharedDoubt(const DoubtRule& rule, const Findings& findings);

template <typename A>
void Visit(A& a, DoubtRule& o) {
  a.Field("shift_from_s", o.shift_from_s);
  a.Field("sd_per_shift_ms", o.sd_per_shift_ms);
  a.Field("axis_from_m", o.axis_from_m);
  a.Field("contact_axis_plain_m", o.contact_axis_plain_m);
  a.Field("sd_per_axis_mm", o.sd_per_axis_mm);
  a.Field("chi2_from", o.chi2_from);
  a.Field("sd_per_chi2", o.sd_per_chi2);
  a.Field("chi2_told", o.chi2_told);
  a.Field("axis_told_m", o.axis_told_m);
  a.Field("sd_beside_rigid", o.sd_beside_rigid);
  a.Field("sd_without_air", o.sd_without_air);
  a.Field("enough_air_strokes", o.enough_air_strokes);
}

}  // namespace handhold::fitting
