// Judges evidence by the bounds of tools/report/criteria.h.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "database/base/units.h"
#include "tests/support/chain_criteria.h"
#include "tools/report/criteria.h"

namespace handhold::chain {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
const char* const kJoint[4] = {"wrist", "MP", "PIP", "DIP"};

double Quantile(std::vector<double> v, double share) {
  if (v.empty()) return kNone;
  const auto at = v.begin() + static_cast<std::ptrdiff_t>(
                                  std::lround(share * static_cast<double>(v.size() - 1)));
  std::nth_element(v.begin(), at, v.end());
  return *at;
}

class Judgement {
 public:
  void AtMost(int number, std::string name, double value, double bound, std::string unit) {
    list.push_back({number, std::move(name), std::move(unit), value, bound, true, value <= bound});
  }
  void AtLeast(int number, std::string name, double value, double bound, std::string unit) {
    list.push_back({number, std::move(name), std::move(unit), value, bound, false, value >= bound});
  }
  void Report(int number, std::string name, double value, std::string unit) {
    list.push_back({number, std::move(name), std::move(unit), value, kNone, true, true});
  }
  std::vector<Criterion> list;
};

void JudgeWire(const Evidence& e, Judgement* j) {
  if (!e.over_the_wire) return;
  j->AtLeast(1, "gaps injected", e.gaps_injected, 1, "");
  j->AtMost(1, "gaps reported otherwise than injected",
            static_cast<double>(e.gap_differences.size()), 0, "");
  j->AtMost(2, "marker-to-force alignment, p99", 1e6 * Quantile(e.alignment_p99_s, 1.0),
            1e6 * criteria::kAlignmentP99_s, "us");
}

void JudgeQueries(const Evidence& e, Judgement* j) {
  if (e.query_strokes == 0) return;
  j->AtMost(4, "hard strokes answered wrongly", e.query_wrong, 0, "");
  j->AtMost(4, "strokes set aside", 100.0 * e.query_set_aside / e.query_strokes,
            100 * criteria::kQuerySetAsideShare, "%");
}

void JudgePose(const Evidence& e, Judgement* j) {
  std::map<std::string, double> lengths;
  for (const auto& [name, error] : e.length_error_m)
    lengths[name] = std::max(lengths[name], std::abs(error));
  const double bound_mm = 1e3 * criteria::kLength_m;
  for (const auto& [name, error] : lengths)
    j->AtMost(5, "length " + name, 1e3 * error, bound_mm, "mm");
  if (lengths.empty()) j->AtMost(5, "lengths", kNone, bound_mm, "mm");
  for (size_t joint = 0; joint < 4; ++joint) {
    double worst = e.angle_rms_rad.empty() ? kNone : 0.0;
    for (const auto& subject : e.angle_rms_rad)
      worst = joint < subject.size() ? std::max(worst, RadiansToDegrees(subject[joint])) : kNone;
    j->AtMost(5, std::string("angle ") + kJoint[joint], worst,
              RadiansToDegrees(criteria::AngleRms_rad(static_cast<int>(joint))), "degrees");
  }
}

void JudgeContact(const Evidence& e, Judgement* j) {
  const double found =
      e.touches_planted > 0 ? static_cast<double>(e.touches_found) / e.touches_planted : kNone;
  j->AtLeast(6, "touches found", 100 * found, 100, "%");
  j->AtMost(6, "touches nobody made", e.false_touches, 0, "");
  j->AtMost(6, "onset p90", 1e3 * Quantile(e.onset_error_s, 0.9), 1e3 * criteria::kOnsetP90_s,
            "ms");
  j->AtMost(6, "contact point p95", 1e3 * Quantile(e.point_error_m, 0.95),
            1e3 * criteria::kContactPointP95_m, "mm");
  for (size_t joint = 0; joint < 4; ++joint) {
    double worst = e.torque_rms_share.empty() ? kNone : 0.0;
    for (const auto& subject : e.torque_rms_share)
      worst = joint < subject.size() ? std::max(worst, subject[joint]) : kNone;
    j->AtMost(6, std::string("torque ") + kJoint[joint], 100 * worst,
              100 * criteria::kTorqueRmsShare, "% of peak");
  }
}

/// What every single subject must meet; shares and percentiles over many are tests/chain's.
void JudgeCompliance(const Evidence& e, Judgement* j) {
  std::vector<double> error;
  int far = 0, covered = 0;
  double always = e.compliance.empty() ? kNone : 100.0;
  std::map<std::string, std::pair<double, double>> pip;  // task: accepted, all
  std::map<std::pair<uint64_t, int>, std::map<std::string, double>> ratio;
  for (const ComplianceSample& s : e.compliance) {
    auto& [accepted, all] = pip[s.task];
    if (s.joint == 2) all += 1, accepted += s.fitted.has_value();
    if (!s.fitted) {
      if (s.joint < 2) always = 0;
      continue;
    }
    const double off = *s.fitted / s.planted - 1;
    error.push_back(std::abs(off));
    far += std::abs(off) > criteria::kComplianceFar;
    covered += s.lower <= s.planted && s.planted <= s.upper;
    ratio[{s.seed, s.joint}][s.task] = *s.fitted / s.planted;
  }
  j->AtLeast(7, "wrist and MP accepted", always, 100, "%");
  // A short subject has a third of the events: the study's p90 at 5-20 events, not its median.
  j->AtMost(7, "accepted, median error", 100 * Quantile(error, 0.5), 100 * criteria::kComplianceP90,
            "%");
  j->AtMost(7, "accepted, p90", 100 * Quantile(error, 0.9), 100 * criteria::kComplianceFar, "%");
  j->AtMost(7, "off by more than 20 %", error.empty() ? kNone : far, 0, "");
  const double coverage =
      error.empty() ? kNone : 100.0 * covered / static_cast<double>(error.size());
  j->Report(7, "95 % intervals that cover", coverage, "%");
  std::vector<double> ratios;
  for (const auto& [key, tasks] : ratio) {
    if (key.second < 2 && tasks.contains("exploring") && tasks.contains("scratching"))
      ratios.push_back(std::abs(tasks.at("exploring") / tasks.at("scratching") - 1));
  }
  j->AtMost(7, "exploring to scratching, wrist and MP", 100 * Quantile(ratios, 1.0),
            100 * criteria::kRatio, "%");
  for (const auto& [task, counts] : pip) {
    const double share = counts.second > 0 ? 100 * counts.first / counts.second : kNone;
    j->Report(7, "PIP accepted, " + task, share, "%");
  }
  std::vector<double> paper;
  for (const ComplianceSample& s : e.compliance) {
    if (s.paper) paper.push_back(std::abs(*s.paper / s.planted - 1));
  }
  j->Report(7, "the paper's estimator, median error", 100 * Quantile(paper, 0.5), "%");
}

void JudgeReference(const Evidence& e, Judgement* j) {
  const auto median = [](const std::vector<double>& v) {
    return RadiansToDegrees(Quantile(v, 0.5));
  };
  const double bound = RadiansToDegrees(criteria::kReferenceMedian_rad);
  j->AtMost(8, "eq. 1", median(e.reference_eq1), bound, "degrees");
  j->AtMost(8, "dynamic", median(e.reference_dynamic), bound, "degrees");
  // Controls: what must not meet the bound.
  j->AtLeast(8, "control: no reference", median(e.reference_none), bound, "degrees");
  j->AtLeast(8, "control: half the compliance", median(e.reference_half), bound, "degrees");
  j->AtLeast(8, "control: twice the compliance", median(e.reference_double), bound, "degrees");
}

struct ReplayGroup {
  std::vector<double> plane, whole, early, early_plane, tip;
  double residual_rad = 0;  // of eq. 7, largest
  double jams = 0, all = 0, frames = 0, agrees = 0, stick = 0, stick_found = 0, failures = 0;
};

ReplayGroup GroupOf(const Evidence& e, const std::string& inputs, bool damped,
                    const std::string& run) {
  ReplayGroup g;
  for (const ReplaySample& s : e.replays) {
    if (s.inputs != inputs || s.damped != damped || s.run != run) continue;
    g.all += 1;
    g.residual_rad = std::max(g.residual_rad, s.equilibrium_residual_rad);
    g.failures += s.lcp_failures;
    if (s.jam) {
      g.jams += 1;
      continue;
    }
    g.plane.push_back(100 * s.late_in_plane), g.whole.push_back(100 * s.late_whole);
    g.early.push_back(100 * s.early_whole), g.early_plane.push_back(100 * s.early_in_plane);
    g.tip.push_back(1e3 * s.tip_m);
    g.frames += s.frames, g.agrees += s.slip_agrees;
    g.stick += s.stick_frames, g.stick_found += s.stick_found;
  }
  return g;
}

/// Both readings of "force", the whole one and the one in the finger's plane, each judged; then
/// the fingertip.
void JudgeMotion(const std::string& name, const ReplayGroup& g, const criteria::ReplayBounds& bound,
                 Judgement* j) {
  const auto force = [&](const std::string& what, const std::vector<double>& percent, double share,
                         const std::optional<double>& most) {
    if (most) j->AtMost(9, name + what, Quantile(percent, share), 100 * *most, "% of peak");
  };
  force("force in plane, median", g.plane, 0.5, bound.force_median);
  force("force whole, median", g.whole, 0.5, bound.force_median);
  force("force in plane, p90", g.plane, 0.9, bound.force_p90);
  force("force whole, p90", g.whole, 0.9, bound.force_p90);
  force("first 50 ms in plane, median", g.early_plane, 0.5, bound.early_median);
  force("first 50 ms whole, median", g.early, 0.5, bound.early_median);
  if (bound.tip_median_m)
    j->AtMost(9, name + "fingertip, median", Quantile(g.tip, 0.5), 1e3 * *bound.tip_median_m, "mm");
  if (bound.tip_p90_m)
    j->AtMost(9, name + "fingertip, p90", Quantile(g.tip, 0.9), 1e3 * *bound.tip_p90_m, "mm");
}

void JudgeReplays(const Evidence& e, Judgement* j) {
  std::set<std::tuple<std::string, bool, std::string>> groups;
  for (const ReplaySample& s : e.replays) groups.insert({s.inputs, s.damped, s.run});
  for (const auto& [inputs, damped, run] : groups) {
    const ReplayGroup g = GroupOf(e, inputs, damped, run);
    const std::string name = inputs + (damped ? ", damped, " : ", quasi-static, ") + run + ": ";
    const bool bump = run == "bump";
    JudgeMotion(name, g, criteria::ReplayBoundsOf(inputs == "planted", damped, run), j);
    if (bump)
      j->AtMost(9, name + "jams", 100 * g.jams / std::max(1.0, g.all), 100 * criteria::kJamShare,
                "%");
    if (!bump && run != "friction_0.1") {
      j->AtLeast(9, name + "slip agrees", 100 * g.agrees / g.frames, 100 * criteria::kSlipAgreement,
                 "% of time");
      j->AtLeast(9, name + "stick found", 100 * g.stick_found / g.stick,
                 100 * criteria::kStickRecall, "%");
    }
    if (!damped)  // the damped form is not in eq. 7's balance while it moves
      j->Report(9, name + "equilibrium residual, largest", 1e3 * g.residual_rad, "mrad");
    j->AtMost(9, name + "LCPs not solved", g.failures, 0, "");
  }
}

}  // namespace

std::vector<Criterion> Judge(const Evidence& e) {
  Judgement j;
  JudgeWire(e, &j);
  JudgeQueries(e, &j);
  JudgePose(e, &j);
  JudgeContact(e, &j);
  JudgeCompliance(e, &j);
  JudgeReference(e, &j);
  JudgeReplays(e, &j);
  return std::move(j.list);
}

bool Fails(const std::vector<Criterion>& list, int number, const std::string& prefix) {
  return std::any_of(list.begin(), list.end(), [&](const Criterion& c) {
    return c.number == number && c.name.starts_with(prefix) && !c.met;
  });
}

void PrintFits(const lab::Truth& truth, const artefact::InteractionTrajectory& trajectory) {
  for (const artefact::ComplianceFit& fit : trajectory.fits) {
    const lab::PlantedImpedance* planted = truth.FindImpedance(fit.task);
    if (planted == nullptr) continue;
    std::printf(
        "%s, %s: %d events, chi2/dof %.2f, T %.1f ms, inertia %.3f, shift %+.3f ms, %zu "
        "discarded\n",
        fit.estimator.c_str(), fit.task.c_str(), fit.events_used, fit.chi2_per_dof,
        1e3 * fit.time_constant_s.value_or(0), fit.inertia_scale.value_or(0),
        1e3 * fit.time_shift_s.value_or(0), fit.discarded.size());
    for (size_t j = 0; j < fit.joints.size(); ++j) {
      const artefact::JointCompliance& joint = fit.joints[j];
      const double c = planted->compliance_rad_per_Nm[static_cast<Eigen::Index>(j)];
      if (joint.compliance_rad_per_Nm) {
        std::printf("  %-18s %.4f planted %.4f: %+.1f %%, sd %.1f %%\n", joint.dof.c_str(),
                    *joint.compliance_rad_per_Nm, c, 100 * (*joint.compliance_rad_per_Nm / c - 1),
                    100 * joint.sd_log);
      } else {
        std::printf("  %-18s refused (planted %.4f): %s\n", joint.dof.c_str(), c,
                    joint.refusal.c_str());
      }
    }
  }
}

void Print(const std::vector<Criterion>& list) {
  for (const Criterion& c : list) {
    if (std::isnan(c.bound)) {
      std::printf("  %d  %-58s %9.3f %s\n", c.number, c.name.c_str(), c.value, c.unit.c_str());
    } else {
      std::printf("%s %d  %-58s %9.3f %s %g %s\n", c.met ? " " : "X", c.number, c.name.c_str(),
                  c.value, c.at_most ? "<=" : ">=", c.bound, c.unit.c_str());
    }
  }
}

}  // namespace handhold::chain
