#include "tools/pipeline/forms.h"

#include <cmath>

namespace handhold::pipeline {

using text::Json;

namespace {

Json Words(const std::vector<std::string>& list) {
  return Json::Array(std::span<const std::string>(list));
}

Json Numbers(const std::vector<double>& list) { return Json::Array(std::span<const double>(list)); }

/// Figures may be NaN (nothing was measured): null.
Json Figure(double x) { return std::isfinite(x) ? Json(x) : Json(); }

Json Figures(const Eigen::MatrixXd& m) {
  Json rows = Json::Array();
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    Json row = Json::Array();
    for (Eigen::Index c = 0; c < m.cols(); ++c) row.Push(Figure(m(r, c)));
    rows.Push(std::move(row));
  }
  return rows;
}

Json Vectors(const std::vector<Eigen::VectorXd>& list) {
  Json array = Json::Array();
  for (const Eigen::VectorXd& v : list) {
    Json row = Json::Array();
    for (Eigen::Index i = 0; i < v.size(); ++i) row.Push(Figure(v[i]));
    array.Push(std::move(row));
  }
  return array;
}

}  // namespace

Json PoseToJson(const geometry::RigidTransform& X) {
  Json R = Json::Array();
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index k = 0; k < 3; ++k) R.Push(X.R(i, k));
  }
  return Json::Object({{"p_m", Json::Array({X.p.x(), X.p.y(), X.p.z()})}, {"R", std::move(R)}});
}

Json RangeToJson(const std::optional<TimeRange>& range) {
  if (!range) return Json();
  return Json::Array({range->begin.ns(), range->end.ns()});
}

Json ToJson(const Issues& issues) {
  Json list = Json::Array();
  for (const Issue& issue : issues) {
    list.Push(Json::Object({{"where", issue.where},
                            {"severity", SeverityName(issue.severity)},
                            {"what", issue.what}}));
  }
  return list;
}

Json ToJson(const std::map<std::string, double>& values) {
  Json object = Json::Object();
  for (const auto& [name, value] : values) object.Set(name, value);
  return object;
}

Json ToJson(const fitting::SkeletonFitOptions& o) {
  return Json::Object({{"marker_stream", o.marker_stream},
                       {"range_ns", RangeToJson(o.range)},
                       {"frames", o.frames},
                       {"marker_sd_m", o.marker_sd_m},
                       {"centre_prior_sd_m", o.centre_prior_sd_m},
                       {"axis_prior_sd_rad", o.axis_prior_sd_rad},
                       {"marker_prior_sd_m", o.marker_prior_sd_m},
                       {"tip_frame", o.tip_frame},
                       {"contact_frames", o.contact_frames},
                       {"contact_force_N", o.contact_force_N},
                       {"require_all", o.require_all}});
}

Json ToJson(const fitting::SkeletonFitSummary& s) {
  Json lengths = Json::Array(), change = Json::Array();
  for (const fitting::SegmentLength& l : s.lengths) {
    lengths.Push(Json::Object({{"name", l.name},
                               {"length_m", Figure(l.length_m)},
                               {"sd_m", Figure(l.sd_m)},
                               {"template_m", Figure(l.template_m)},
                               {"source", l.source}}));
  }
  for (Eigen::Index i = 0; i < s.parameter_change.size(); ++i)
    change.Push(Figure(s.parameter_change[i]));
  return Json::Object({{"brief", s.Brief()},
                       {"issues", ToJson(s.issues)},
                       {"frames", s.frames},
                       {"contact_frames", s.contact_frames},
                       {"contact_distance_rms_m", Figure(s.contact_distance_rms_m)},
                       {"contact_axis_rms_m", Figure(s.contact_axis_rms_m)},
                       {"marker_rms_m", Figure(s.marker_rms_m)},
                       {"marker_sd_m", Figure(s.marker_sd_m)},
                       {"lengths", std::move(lengths)},
                       {"gauges", Words(s.gauges)},
                       {"undetermined", Words(s.undetermined)},
                       {"parameter_names", Words(s.parameter_names)},
                       {"parameter_change", std::move(change)},
                       {"covariance", Figures(s.covariance)}});
}

Json ToJson(const fitting::PoseFitOptions& o) {
  Json contacts = Json::Array();
  for (const TimeRange& c : o.contacts) contacts.Push(RangeToJson(c));
  return Json::Object({{"marker_stream", o.marker_stream},
                       {"range_ns", RangeToJson(o.range)},
                       {"method", o.method == fitting::PoseMethod::kCeres ? "ceres" : "fast"},
                       {"marker_sd_m", o.solver.marker_sd_m},
                       {"limit_sd_rad", o.solver.limit_sd_rad},
                       {"prior_sd_rad", o.solver.prior_sd_rad},
                       {"prior_sd_m", o.solver.prior_sd_m},
                       {"max_iterations", o.solver.max_iterations},
                       {"step_tolerance", o.solver.step_tolerance},
                       {"estimate_noise", o.estimate_noise},
                       {"outlier_m", o.outlier_m},
                       {"whole_information_ns", o.whole_information.ns()},
                       {"contacts_ns", std::move(contacts)}});
}

Json ToJson(const fitting::PoseFitSummary& s) {
  return Json::Object({{"brief", s.Brief()},
                       {"issues", ToJson(s.issues)},
                       {"frames", s.frames},
                       {"fitted", s.fitted},
                       {"marker_sd_m", Figure(s.marker_sd_m)},
                       {"marker_rms_m", Figure(s.marker_rms_m)},
                       {"marker_p99_m", Figure(s.marker_p99_m)},
                       {"outliers", s.outliers},
                       {"frames_at_limit", s.frames_at_limit},
                       {"frames_not_converged", s.frames_not_converged},
                       {"frames_underdetermined", s.frames_underdetermined},
                       {"unmodelled_markers", Words(s.unmodelled_markers)}});
}

Json ToJson(const fitting::ContactFitOptions& o) {
  const fitting::TouchOptions& t = o.touch;
  Json touch = Json::Object({{"enter_N", t.enter_N},
                             {"leave_N", t.leave_N},
                             {"shortest_ns", t.shortest.ns()},
                             {"bounce_ns", t.bounce.ns()},
                             {"baseline_reach_ns", t.baseline_reach.ns()},
                             {"kink_after_s", Numbers(t.kink.after_s)},
                             {"kink_before_s", t.kink.before_s},
                             {"kink_clear_chi2", t.kink.clear_chi2}});
  return Json::Object(
      {{"force_sensor", o.force_sensor},
       {"body", o.body},
       {"touch", std::move(touch)},
       {"threshold_N", o.threshold_N},
       {"cutoff_Hz", o.cutoff_Hz},
       {"pose_cutoff_Hz", o.pose_cutoff_Hz},
       {"correct_inertia_and_gravity", o.correct_inertia_and_gravity},
       {"gravity_W", Json::Array({o.gravity_W.x(), o.gravity_W.y(), o.gravity_W.z()})}});
}

Json ToJson(const fitting::ContactFitSummary& s) {
  return Json::Object({{"brief", s.Brief()},
                       {"issues", ToJson(s.issues)},
                       {"touches", s.touches},
                       {"knocks", s.knocks},
                       {"onset_sd_median_s", Figure(s.onset_sd_median_s)},
                       {"peak_force_N", Figure(s.peak_force_N)},
                       {"dof_names", Words(s.dof_names)},
                       {"point_offset_p95_m", Figure(s.point_offset_p95_m)},
                       {"torsion_p95_Nm", Figure(s.torsion_p95_Nm)}});
}

Json ToJson(const fitting::PaperEstimatorOptions& o) {
  return Json::Object({{"version", fitting::kPaperEstimatorVersion},
                       {"before_ns", o.before.ns()},
                       {"after_ns", o.after.ns()},
                       {"skip_ns", o.skip.ns()},
                       {"degree", o.degree},
                       {"undetermined_sd", o.undetermined_sd}});
}

Json ToJson(const fitting::DynamicEstimatorOptions& o) {
  const fitting::RefusalRule& r = o.refusal;
  Json refusal = Json::Object({{"max_sd_log", r.max_sd_log},
                               {"floor_from_tip", Numbers(r.floor_from_tip)},
                               {"max_event_chi2_per_dof", r.max_event_chi2_per_dof},
                               {"max_fit_chi2_per_dof", r.max_fit_chi2_per_dof},
                               {"shared_time_constant_chance", r.shared_time_constant_chance},
                               {"rigid_chi2", r.rigid_chi2}});
  Json prior;
  if (!o.reference_prior.empty()) {
    prior = Json::Object({{"variance", Figures(o.reference_prior.variance)},
                          {"correlation", Figures(o.reference_prior.correlation)},
                          {"window_ns", o.reference_prior.window.ns()},
                          {"windows", o.reference_prior.windows},
                          {"source", o.reference_prior.source}});
  }
  return Json::Object({{"version", fitting::kDynamicEstimatorVersion},
                       {"force_sensor", o.force_sensor},
                       {"before_ns", o.before.ns()},
                       {"after_ns", o.after.ns()},
                       {"force_before_ns", o.force_before.ns()},
                       {"step_s", o.step_s},
                       {"cutoff_Hz", o.cutoff_Hz},
                       {"pose_cutoff_Hz", o.pose_cutoff_Hz},
                       {"free_degree", o.free_degree},
                       {"prior_degree", o.prior_degree},
                       {"prior_variance_factor", o.prior_variance_factor},
                       {"reference_prior", std::move(prior)},
                       {"inertia_sd_log", o.inertia_sd_log},
                       {"time_shift_sd_s", o.time_shift_sd_s},
                       {"time_shift_search_s", o.time_shift_search_s},
                       {"single_events", o.single_events},
                       {"refusal", std::move(refusal)}});
}

Json ToJson(const fitting::DynamicEstimatorSummary& s) {
  return Json::Object({{"brief", s.Brief()},
                       {"events", s.events},
                       {"used", s.used},
                       {"notes", Words(s.notes)},
                       {"issues", ToJson(s.issues)},
                       {"log_compliance_own_T", Vectors(s.log_compliance_own_T)},
                       {"sd_own_T", Vectors(s.sd_own_T)},
                       {"chi2_gain_own_T", Json::Array(s.chi2_gain_own_T)}});
}

Json ToJson(const fitting::ReferenceTrajectoryOptions& o) {
  return Json::Object({{"version", fitting::kReferenceTrajectoryVersion},
                       {"estimator", o.estimator},
                       {"assume_compliance_rad_per_Nm", ToJson(o.assume_compliance)},
                       {"assume_within_bounds_rad_per_Nm", ToJson(o.assume_within_bounds)},
                       {"compliance_factor", o.compliance_factor},
                       {"assumed_factor", o.assumed_factor},
                       {"extrapolation_ns", o.extrapolation.ns()},
                       {"extrapolation_from_ns", o.extrapolation_from.ns()},
                       {"settle_ns", o.settle.ns()},
                       {"cutoff_Hz", o.cutoff_Hz}});
}

Json ToJson(const fitting::ReferenceTrajectorySummary& s) {
  return Json::Object({{"brief", s.Brief()},
                       {"issues", ToJson(s.issues)},
                       {"onset_jump_rad", Figure(s.onset_jump_rad)},
                       {"release_jump_rad", Figure(s.release_jump_rad)},
                       {"extrapolation_median_rad", Figure(s.extrapolation_median_rad)},
                       {"refused", Words(s.refused)},
                       {"assumed", Words(s.assumed)}});
}

Json ToJson(const synthesis::StepOptions& o) {
  return Json::Object(
      {{"step_s", o.step_s},
       {"sides", o.solve.sides},
       {"root_compliance_m_per_N", o.root_compliance_m_per_N},
       {"gravity_W", Json::Array({o.gravity_W.x(), o.gravity_W.y(), o.gravity_W.z()})},
       {"limits", o.limits},
       {"lcp_max_pivots", o.solve.lcp.max_pivots},
       {"lcp_tie_tolerance", o.solve.lcp.tie_tolerance}});
}

Result<std::string> Parameters(const Json& json) {
  Result<std::string> text = text::CanonicalJson(json);
  if (!text) return text.error().Within("parameters");
  return text;
}

}  // namespace handhold::pipeline
