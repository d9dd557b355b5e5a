/// Everything one report says, as plain values: what the page is written from and what its tests
/// compare the page with.
///
/// Made by FillReport (fill.h) in one run; nothing here is typed in but the published Table 1. What
/// a library does not hold is absent and named in `missing`, with the command that makes it: the
/// page never fills a hole. SI and radians; the page converts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/report/figure.h"

namespace handhold::report {

struct StreamRow {
  std::string name, kind;
  double rate_Hz = 0.0;
  int channels = 0;
  int64_t samples = 0;
  double length_s = 0.0;
  int gaps = 0;
  int64_t missing_samples = 0;
  double missing_share = 0.0;  ///< of values within received samples: occlusions
  double clock_ppm = 0.0;      ///< device clock against host, + = the device runs fast
  double clock_sd_s = 0.0;     ///< of the fitted map
  double clock_p99_s = 0.0;  ///< 99th percentile of packets' lateness; NaN: no packets (synthetic)
};

struct GapRow {
  std::string stream;
  double begin_s = 0.0, length_s = 0.0;
  int64_t samples = 0;
  std::string cause;
};

struct HealthRow {
  std::string stream, what, cause;
  double value = 0.0, worst = 0.0, threshold = 0.0;
  bool red = false;
};

struct TakeSection {
  std::string clip_id, name, subject, task;
  double length_s = 0.0;
  std::vector<StreamRow> streams;
  std::vector<GapRow> gaps;
  std::vector<HealthRow> health;
  bool judged = false;  ///< a recorder left its advice
  bool keep = true;
  std::string advice;
};

struct LengthRow {
  std::string segment;
  double fitted_m = 0.0;
  std::optional<double> planted_m;
};

/// One joint, one task, one estimator.
struct ComplianceCell {
  std::optional<double> value_rad_per_Nm;                 ///< empty: refused
  double lower_rad_per_Nm = 0.0, upper_rad_per_Nm = 0.0;  ///< 95 %
  std::string refusal;
  std::optional<double> assumed_rad_per_Nm;  ///< what synthesis took instead, by name
};

struct ComplianceRow {
  std::string dof, joint, task;  ///< "R.index.mcp.flex", "MP"
  std::string published;         ///< Table 1 as printed, "< 0.8426"; empty: not in it
  std::optional<double> planted_rad_per_Nm;
  std::optional<ComplianceCell> paper, dynamic;  ///< empty: the estimator was not run for this task
};

struct EstimatorLine {
  std::string task, estimator;
  int events_used = 0, discarded = 0;
  double chi2_per_dof = 0.0;
  std::optional<double> time_constant_s, planted_time_constant_s, inertia_scale, time_shift_s;
  std::optional<double> palm_inertia_scale;
  std::vector<std::string> discard_reasons;  ///< "12 x negative ...", most frequent first
};

/// Replays of many strokes on one surface against what the engine did there.
struct ReplayRow {
  std::string surface;     ///< "flat plate, friction 0.1"
  std::string inputs;      ///< "planted", "fitted", "fitted, assumed C halved"
  std::string form;        ///< "quasi-static" or "damped"
  bool tautology = false;  ///< fitted values on the captured surface: self-consistency, no proof
  std::string assumed;     ///< "PIP, DIP": given a compliance where the fit refused it; empty: none
  int strokes = 0, jams = 0, lcp_failures = 0;
  /// RMS of the whole force after 50 ms, as share of the stroke's peak.
  double force_median = 0.0, force_p90 = 0.0;
  double early_median = 0.0;  ///< of the first 50 ms
  double tip_median_m = 0.0, tip_p90_m = 0.0;
  double slip_agreement = 0.0, stick_recall = 0.0;  ///< NaN: the engine never stuck, or no contact
  double equilibrium_rad = 0.0;                     ///< largest |theta_err| of eq. 7
  std::string failure;  ///< why there is no replay; the figures are then NaN
};

struct Criterion {
  std::string number;         ///< "6" of the issue
  std::string what;           ///< "onset, 90th percentile"
  std::string bound, figure;  ///< with units
  enum class Verdict { kMet, kNotMet, kUndecided } verdict = Verdict::kUndecided;
  std::string note;  ///< why undecided, or how far one subject decides it
};

struct StepRow {
  std::string step, hash, made_utc, tool, parameters_json;
  int version = 0;
  std::vector<std::string> inputs;  ///< "clip exploring 4f2a..."
};

struct ReportData {
  std::string title = "One finger, captured, fitted, replayed";
  std::string made_utc, tool;
  std::string truth_note;  ///< where the truth came from, its seed and plan; empty: no truth given
  TakeSection take;
  std::vector<Picture> stroke;  ///< instants of one stroke, in order
  std::string stroke_caption;
  std::vector<LengthRow> lengths;
  std::string skeleton_line, pose_line, contact_line;  ///< one sentence each with its figures
  std::vector<Figure> contact_figures;                 ///< like Fig. 3
  std::vector<ComplianceRow> compliance;               ///< like Table 1
  std::vector<EstimatorLine> estimators;
  std::vector<Figure> compliance_figures;
  std::vector<Picture> resynthesis;  ///< like Fig. 4
  std::string resynthesis_caption;
  std::string assumed_note;  ///< what the replays rest on beside the fit; empty: nothing
  std::vector<ReplayRow> replays;
  std::vector<Figure> replay_figures;
  std::vector<Criterion> criteria;
  std::vector<StepRow> steps;
  std::vector<std::string> commands;
  std::vector<std::string> missing;  ///< "no compliance fit: handhold fit compliance CLIP"
  std::vector<std::string> issues;   ///< what was noticed on the way
};

/// One self-contained page: no network, no script, pictures and style inside.
std::string RenderReport(const ReportData& data);

}  // namespace handhold::report
