#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "database/base/units.h"
#include "tools/report/fill_parts.h"
#include "tools/report/html.h"

namespace handhold::report {
namespace {

// Table 1 of Kry & Pai 2006, as printed: rad/Nm, MP for flexion and extension.
std::string Published(const std::string& joint, const std::string& task) {
  static const std::map<std::string, std::pair<std::string, std::string>> table = {
      {"Wrist", {"0.3488", "0.1531"}},
      {"MP", {"0.9882", "0.4788"}},
      {"PIP", {"0.6715", "< 0.8426"}},
      {"DIP", {"2.0052", "< 0.8432"}},
  };
  const auto row = table.find(joint);
  if (row == table.end()) return "";
  return task == "exploring" ? row->second.first : task == "scratching" ? row->second.second : "";
}

ComplianceCell CellOf(const artefact::JointCompliance& joint) {
  ComplianceCell cell;
  cell.value_rad_per_Nm = joint.compliance_rad_per_Nm;
  cell.lower_rad_per_Nm = joint.lower_rad_per_Nm;
  cell.upper_rad_per_Nm = joint.upper_rad_per_Nm;
  cell.refusal = joint.refusal;
  if (cell.refusal.ends_with(";")) cell.refusal.pop_back();
  return cell;
}

std::vector<std::string> TasksOf(const std::vector<artefact::ComplianceFit>& fits) {
  std::vector<std::string> tasks;
  for (const auto& fit : fits) {
    if (std::find(tasks.begin(), tasks.end(), fit.task) == tasks.end()) tasks.push_back(fit.task);
  }
  return tasks;
}

// What synthesis used for a refused joint, the trajectory's own value in that task's contacts;
// NaN: nothing.
double Assumed(const ReportSources& s, size_t dof, const std::string& task) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!s.trajectory || dof >= s.trajectory->assumed.size() || !s.trajectory->assumed[dof] ||
      !s.contact)
    return kNone;
  for (size_t k = 0; k < s.contact_frames.touch.size(); ++k) {
    const int p = s.contact_frames.touch[k];
    if (p < 0 || s.contact->touches[static_cast<size_t>(p)].task != task) continue;
    return s.trajectory->compliance_rad_per_Nm(static_cast<Eigen::Index>(dof),
                                               static_cast<Eigen::Index>(k));
  }
  return kNone;
}

EstimatorLine LineOf(const artefact::ComplianceFit& fit, const lab::PlantedImpedance* planted) {
  EstimatorLine line;
  line.task = fit.task, line.estimator = fit.estimator;
  line.events_used = fit.events_used, line.discarded = static_cast<int>(fit.discarded.size());
  line.chi2_per_dof = fit.chi2_per_dof;
  line.time_constant_s = fit.time_constant_s, line.inertia_scale = fit.inertia_scale,
  line.time_shift_s = fit.time_shift_s, line.palm_inertia_scale = fit.palm_inertia_scale;
  if (planted) line.planted_time_constant_s = planted->time_constant_s.mean();
  std::map<std::string, int> reasons;  // told apart by what comes before the figures
  for (const auto& d : fit.discarded) {
    ++reasons[(d.dof.empty() ? "" : JointTitle(d.dof) + ": ") +
              d.reason.substr(0, d.reason.find_first_of(":;("))];
  }
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [reason, count] : reasons) order.emplace_back(-count, reason);
  std::sort(order.begin(), order.end());
  for (const auto& [count, reason] : order)
    line.discard_reasons.push_back(std::to_string(-count) + " × " + reason);
  return line;
}

// Straight line of slope C through 0, as far as the torques of a panel go.
void AddSlope(const std::string& name, Role role, double compliance, double low_mNm,
              double high_mNm, Panel* panel) {
  const double scale = RadiansToDegrees(compliance) * 1e-3;
  panel->curves.push_back(
      {name, role, {low_mNm, high_mNm}, {scale * low_mNm, scale * high_mNm}, false});
}

// Deviation from the reference against torque, in contact after the first 50 ms.
Panel DeviationPanel(const Filling& f, size_t dof, const std::string& task) {
  const ReportSources& s = f.from;
  const auto row = static_cast<Eigen::Index>(dof);
  Panel panel{JointTitle(s.pose->dof_names[dof]) + ", " + task,
              "torque Jᵀf, mN m",
              "angle off reference, degrees",
              {},
              {},
              true};
  Curve points{s.truth ? "angle − engine's free motion" : "angle − fitted reference",
               Role::kMeasured,
               {},
               {},
               true};
  const lab::TruthSeries* free = s.truth ? &s.truth->FindRun("reference")->session : nullptr;
  double zero = 0, count = 0;
  int last = -1;
  for (size_t k = 0; k < s.contact->times.size(); ++k) {
    const int p = s.contact_frames.touch[k];
    const auto i = static_cast<Eigen::Index>(k);
    const double t = s.contact->times[k].seconds() - f.start_s;
    if (free && (t < free->begin_s || t > free->time_s(free->rows() - 1))) continue;
    const double reference = free ? lab::Interpolate(*free, free->theta, t)[row]
                             : s.trajectory && s.trajectory->q_reference_dynamic.size() > 0
                                 ? s.trajectory->q_reference_dynamic(row, i)
                             : s.trajectory ? s.trajectory->q_reference(row, i)
                                            : NAN;
    if (p != last) {  // joint zeros are a gauge: taken from the frames before each contact
      if (p >= 0 && free) zero = count > 0 ? zero / count : 0.0;
      if (p < 0) zero = count = 0;
      last = p;
    }
    if (p < 0) {
      if (s.contact->times.size() > k + 20 && s.contact_frames.touch[k + 20] >= 0 && free)
        zero += s.pose->q(row, i) - reference, count += 1;
      continue;
    }
    const artefact::Touch& contact = s.contact->touches[static_cast<size_t>(p)];
    if (contact.task != task || s.contact->times[k] < contact.onset + Duration::Milliseconds(50) ||
        k % 5 != 0)
      continue;
    points.x.push_back(1e3 * s.contact->tau_Nm(row, i));
    points.y.push_back(RadiansToDegrees(s.pose->q(row, i) - reference - (free ? zero : 0.0)));
  }
  if (points.x.empty()) return panel;
  const auto [low, high] = std::minmax_element(points.x.begin(), points.x.end());
  const double from = std::min(0.0, *low), to = std::max(0.0, *high);
  double highest = 1e-3;  // degrees; a line of 0 has no steepest end
  for (const double y : points.y) highest = std::max(highest, std::abs(y));
  panel.curves.push_back(points);
  const auto slope = [&](const artefact::ComplianceFit* fit, const std::string& name, Role role) {
    if (fit && fit->joints[dof].compliance_rad_per_Nm)
      AddSlope(name, role, *fit->joints[dof].compliance_rad_per_Nm, from, to, &panel);
  };
  const artefact::ComplianceFit* dynamic = FindFit(s.fits, "dynamic", task);
  slope(FindFit(s.fits, "paper", task), "slope C, paper's estimator", Role::kPaper);
  slope(dynamic, "slope C, dynamic estimator (E4)", Role::kReference);
  // Beside an answer its interval; a refusal is the interval alone, as far as the fit closes it.
  const double lower = dynamic ? dynamic->joints[dof].lower_rad_per_Nm : 0.0;
  const double upper = dynamic ? dynamic->joints[dof].upper_rad_per_Nm : 0.0;
  if (upper > lower) {
    for (const double end : {lower, upper}) {
      // An open end would flatten the points: its line stops a little above them.
      const double steepest = std::max(-from, to) * RadiansToDegrees(end) * 1e-3;
      const double share = steepest > 1.5 * highest ? 1.5 * highest / steepest : 1.0;
      if (std::isfinite(end))
        AddSlope(dynamic->joints[dof].compliance_rad_per_Nm ? "ends of E4's interval"
                                                            : "E4 refused: what it leaves open",
                 Role::kExtrapolated, end, share * from, share * to, &panel);
    }
  }
  if (s.truth) {
    if (const lab::PlantedImpedance* planted = s.truth->FindImpedance(task)) {
      AddSlope("slope C, planted", Role::kTruth, planted->compliance_rad_per_Nm[row], from, to,
               &panel);
    }
  }
  return panel;
}

}  // namespace

void FillCompliance(Filling* f) {
  const ReportSources& s = f->from;
  if (s.fits.empty()) return;
  const std::vector<std::string> tasks = TasksOf(s.fits);
  for (const std::string& task : tasks) {
    const artefact::ComplianceFit* paper = FindFit(s.fits, "paper", task);
    const artefact::ComplianceFit* dynamic = FindFit(s.fits, "dynamic", task);
    const lab::PlantedImpedance* planted = s.truth ? s.truth->FindImpedance(task) : nullptr;
    const artefact::ComplianceFit* any = dynamic ? dynamic : paper;
    if (any == nullptr) continue;
    for (size_t d = 0; d < any->joints.size(); ++d) {
      ComplianceRow row;
      row.dof = any->joints[d].dof, row.joint = JointTitle(row.dof), row.task = task;
      row.published = Published(JointTitle(row.dof), task);
      if (planted)
        row.planted_rad_per_Nm = planted->compliance_rad_per_Nm[static_cast<Eigen::Index>(d)];
      if (paper) row.paper = CellOf(paper->joints[d]);
      if (dynamic) {
        row.dynamic = CellOf(dynamic->joints[d]);
        const double assumed = Assumed(s, d, task);
        if (!row.dynamic->value_rad_per_Nm && std::isfinite(assumed))
          row.dynamic->assumed_rad_per_Nm = assumed;
      }
      f->data->compliance.push_back(std::move(row));
    }
    for (const auto* fit : {paper, dynamic}) {
      if (fit) f->data->estimators.push_back(LineOf(*fit, planted));
    }
  }
  if (!s.pose || !s.contact) return;
  Figure figure;
  figure.id = "figure-compliance", figure.title = "Compliance as a slope";
  for (size_t d = 0; d < s.pose->dof_names.size(); ++d) {
    for (const std::string& task : tasks) {
      Panel panel = DeviationPanel(*f, d, task);
      if (!panel.curves.empty()) figure.panels.push_back(std::move(panel));
    }
  }
  if (figure.panels.empty()) return;
  figure.caption = s.truth ? "How far the joints were bent away from the motion that the engine "
                             "made without the surface, against the "
                             "torque that bent them; every fifth frame of every contact after its "
                             "first 50 ms. The slope is the "
                             "compliance. No estimator saw the free motion."
                           : "How far the joints were bent away from the fitted reference, against "
                             "the torque that bent them; every "
                             "fifth frame of every contact after its first 50 ms. The reference "
                             "comes from the same fit: this shows "
                             "consistency, not proof.";
  figure.alternative = "The slopes are the compliances of Table 1 in this report.";
  f->data->compliance_figures.push_back(std::move(figure));
}

}  // namespace handhold::report
