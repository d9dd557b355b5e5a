#include <algorithm>
#include <cmath>
#include <map>

#include "database/base/units.h"
#include "fitting/compliance/reference_trajectory.h"
#include "tools/report/criteria.h"
#include "tools/report/fill_parts.h"
#include "tools/report/html.h"

namespace handhold::report {
namespace {

constexpr double kDegree = DegreesToRadians(1.0);

void Undecided(Filling* f, const std::string& number, const std::string& what,
               const std::string& bound, const std::string& why) {
  f->data->criteria.push_back({number, what, bound, "", Criterion::Verdict::kUndecided, why});
}

/// Criterion 4: the strokes above three thresholds, as the library answered and as planted.
void Queries(Filling* f) {
  if (f->from.answers.empty()) {
    Undecided(f, "4", "query returns the strokes above X", "exactly",
              "the library was not asked; decided by tests/end_to_end_test.cc");
    return;
  }
  int wrong = 0, aside = 0, all = 0;
  const std::map<int64_t, double> hardness = HardnessOfStrokes(*f->from.truth);
  for (const ReportSources::Answer& answer : f->from.answers) {
    for (const int64_t stroke : answer.strokes) wrong += !hardness.contains(stroke);
    for (const auto& [stroke, peak_N] : hardness) {
      ++all;
      const bool close = std::abs(peak_N - answer.more_than_N) <= criteria::kQuerySetAside_N;
      aside += close;
      wrong += !close && (peak_N > answer.more_than_N) != answer.strokes.contains(stroke);
    }
  }
  AddCriterion(f, "4",
               "query for strokes above X N, X at the quarters: wrong answers (of " +
                   std::to_string(all) + ")",
               wrong, 0, true, 1, 0, "");
  AddCriterion(f, "4", "of them within 0.1 N of X, set aside",
               static_cast<double>(aside) / std::max(1, all), criteria::kQuerySetAsideShare, true,
               100, 1, "%", "how many peaks lie that near together is the subject's");
  // Nothing that the library got wrong: the subject then decides less than was asked for.
  Criterion& share = f->data->criteria.back();
  if (share.verdict == Criterion::Verdict::kNotMet) {
    share.verdict = Criterion::Verdict::kUndecided;
    share.note = "more of this subject's peaks lie that near together than a decision allows";
  }
}

void Lengths(Filling* f) {
  if (!f->from.skeleton) return;
  const model::Skeleton* planted = f->from.truth ? f->from.truth->skeleton.get() : nullptr;
  double worst = 0;
  for (const LengthScore& length : CompareLengths(*f->from.skeleton, planted)) {
    LengthRow row{length.segment, length.fitted_m, {}};
    if (planted) {
      row.planted_m = length.planted_m;
      if (!length.segment.ends_with("tip"))
        worst = std::max(worst, std::abs(length.fitted_m - length.planted_m));
    }
    f->data->lengths.push_back(std::move(row));
  }
  if (planted)
    AddCriterion(f, "5", "segment lengths between joint axes, worst", worst, criteria::kLength_m,
                 true, 1e3, 2, "mm");
}

void Angles(Filling* f) {
  const ReportSources& s = f->from;
  if (!s.pose) return;
  double square = 0, count = 0;
  for (const double r : s.pose->marker_residual_m.reshaped()) {
    if (std::isfinite(r)) square += r * r, count += 1;
  }
  f->data->pose_line = Grouped(s.pose->frame_count()) + " frames fitted; markers lie " +
                       Fixed(1e3 * std::sqrt(square / std::max(1.0, count)), 3) +
                       " mm RMS from where the fitted hand has them.";
  if (!s.truth) return;
  const Eigen::VectorXd errors = AngleErrors(*s.pose, *s.truth, f->start_s);
  for (Eigen::Index d = 0; d < errors.size(); ++d) {
    const std::string joint = JointTitle(s.pose->dof_names[static_cast<size_t>(d)]);
    AddCriterion(f, "5", joint + " angle per frame less one constant, RMS", errors[d],
                 criteria::AngleRms_rad(static_cast<int>(d)), true, 1 / kDegree, 3, "°");
  }
}

void Contact(Filling* f) {
  const ReportSources& s = f->from;
  if (!s.contact) return;
  double peak = 0;
  for (const auto& touch : s.contact->touches) peak = std::max(peak, touch.peak_force_N);
  f->data->contact_line =
      Grouped(static_cast<long long>(s.contact->touches.size())) +
      (s.contact->touches.size() == 1 ? " contact of " : " contacts, the hardest of ") +
      Fixed(peak, 2) + " N.";
  std::vector<double> offset_m;
  for (const double d : s.contact_frames.offset_m) {
    if (std::isfinite(d)) offset_m.push_back(std::abs(d));
  }
  if (!offset_m.empty()) {
    f->data->contact_line += " The wrench's point lies within " +
                             Fixed(1e3 * Quantile(offset_m, 0.95), 2) +
                             " mm of the fitted fingertip (95 % of the time).";
  }
  if (s.contact->inertia_share.size() > 0) {
    f->data->contact_line += " Inertia and gravity would be";
    for (Eigen::Index d = 0; d < s.contact->inertia_share.size(); ++d) {
      f->data->contact_line +=
          (d ? ", " : " ") + Fixed(100 * s.contact->inertia_share[d], 1) + " %";
    }
    f->data->contact_line += " of the joint torques (RMS, wrist to fingertip).";
  }
  if (!s.truth) return;
  const ContactScore score = CompareContact(*s.contact, *s.truth, f->start_s);
  std::vector<double> onset;
  for (const double e : score.onset_errors_s) onset.push_back(std::abs(e));
  AddCriterion(f, "6", "onset, 90th percentile", Quantile(onset, 0.9), criteria::kOnsetP90_s, true,
               1e3, 2, "ms");
  AddCriterion(f, "6", "contact point above 0.3 N, 95th percentile",
               Quantile(score.point_errors_m, 0.95), criteria::kContactPointP95_m, true, 1e3, 2,
               "mm");
  AddCriterion(f, "6", "torque RMS as share of its peak, worst joint",
               score.torque_rms_of_peak.maxCoeff(), criteria::kTorqueRmsShare, true, 100, 1, "%");
  AddCriterion(f, "6", "contacts found where none was", score.invented, 0, true, 1, 0, "");
  AddCriterion(f, "6", "planted contacts missed (of " + std::to_string(score.planted) + ")",
               score.missed, 0, true, 1, 0, "");
}

const std::string kOneSubject =
    "one subject; the criterion is decided over 20 seeds by tests/chain";

void Compliance(Filling* f) {
  const ReportSources& s = f->from;
  if (!s.truth) return;
  std::vector<double> errors;
  int covered = 0, wrist_mp = 0, wrist_mp_accepted = 0;
  double ratio_worst = 0;
  for (const artefact::ComplianceFit& fit : s.fits) {
    const lab::PlantedImpedance* planted = s.truth->FindImpedance(fit.task);
    if (fit.estimator != "dynamic" || !planted) continue;
    for (size_t d = 0; d < fit.joints.size(); ++d) {
      const artefact::JointCompliance& joint = fit.joints[d];
      const double truth = planted->compliance_rad_per_Nm[static_cast<Eigen::Index>(d)];
      const bool always = d < 2;
      wrist_mp += always;
      if (!joint.compliance_rad_per_Nm) continue;
      wrist_mp_accepted += always;
      errors.push_back(std::abs(*joint.compliance_rad_per_Nm / truth - 1));
      covered += joint.lower_rad_per_Nm <= truth && truth <= joint.upper_rad_per_Nm;
    }
  }
  if (errors.empty()) return;
  AddCriterion(f, "7", "compliance by E4, accepted joints, median error", Quantile(errors, 0.5),
               criteria::kComplianceMedian, true, 100, 1, "%", kOneSubject);
  AddCriterion(f, "7", "compliance by E4, accepted joints, 90th percentile", Quantile(errors, 0.9),
               criteria::kComplianceP90, true, 100, 1, "%", kOneSubject);
  AddCriterion(f, "7", "wrist and MP answered", wrist_mp_accepted, wrist_mp, false, 1, 0, "");
  AddCriterion(
      f, "7",
      "95 % intervals that hold the planted value (of " + std::to_string(errors.size()) + ")",
      static_cast<double>(covered) / static_cast<double>(errors.size()), criteria::kCoverage, false,
      100, 0, "%", kOneSubject);
  const auto *exploring = FindFit(s.fits, "dynamic", "exploring"),
             *scratching = FindFit(s.fits, "dynamic", "scratching");
  if (!exploring || !scratching) return;
  for (size_t d = 0; d < 2 && d < exploring->joints.size(); ++d) {
    const auto &e = exploring->joints[d].compliance_rad_per_Nm,
               &c = scratching->joints[d].compliance_rad_per_Nm;
    if (!e || !c) return;
    const auto i = static_cast<Eigen::Index>(d);
    const double planted = s.truth->FindImpedance("exploring")->compliance_rad_per_Nm[i] /
                           s.truth->FindImpedance("scratching")->compliance_rad_per_Nm[i];
    ratio_worst = std::max(ratio_worst, std::abs(*e / *c / planted - 1));
  }
  AddCriterion(f, "7", "exploring to scratching ratio of wrist and MP, worst error", ratio_worst,
               criteria::kRatio, true, 100, 1, "%", kOneSubject);
}

void Reference(Filling* f) {
  const ReportSources& s = f->from;
  if (!s.truth || !s.trajectory || !s.pose || !s.contact || !s.skeleton) return;
  const auto median = [&](const Eigen::MatrixXd& reference) {
    return Quantile(ReferenceErrors(*s.pose, *s.contact, reference, *s.truth, f->start_s, 2), 0.5);
  };
  const double bound = criteria::kReferenceMedian_rad;
  AddCriterion(f, "8", "reference by eq. 1, wrist and MP after 50 ms, median over strokes",
               median(s.trajectory->q_reference), bound, true, 1 / kDegree, 3, "°");
  if (s.trajectory->q_reference_dynamic.size() > 0) {
    AddCriterion(f, "8", "reference by E4's dynamics, the same",
                 median(s.trajectory->q_reference_dynamic), bound, true, 1 / kDegree, 3, "°");
  }
  // Doing nothing, C/2 and 2C must fail this test, else the test would show nothing.
  AddCriterion(f, "8", "canary: θr := θ must fail it", median(s.pose->q), bound, false, 1 / kDegree,
               3, "°");
  for (const double factor : {0.5, 2.0}) {
    const Eigen::MatrixXd wrong = s.pose->q + factor * (s.trajectory->q_reference - s.pose->q);
    AddCriterion(f, "8", std::string("canary: ") + (factor < 1 ? "C / 2" : "2 C") + " must fail it",
                 median(wrong), bound, false, 1 / kDegree, 3, "°");
  }
}

}  // namespace

void FillCriteria(Filling* f) {
  if (f->from.truth) {
    Undecided(f, "1", "gaps as injected", "exactly",
              "the simulators know what was injected, this page does not: printed by live record "
              "--simulate; decided by tests/end_to_end_wire_test.cc");
    Undecided(f, "2", "marker-to-force alignment, 99th percentile",
              "≤ " + Plain(1e6 * criteria::kAlignmentP99_s) + " µs",
              "needs the simulators' own clocks: printed by live record --simulate; decided by "
              "tests/end_to_end_wire_test.cc");
    Undecided(f, "3", "samples reread within half a quantum", "exactly",
              "needs what was sent: tests/end_to_end_test.cc");
    Queries(f);
  }
  Lengths(f);
  Angles(f);
  Contact(f);
  Compliance(f);
  Reference(f);
}

}  // namespace handhold::report
