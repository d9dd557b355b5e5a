#include "fitting/compliance/model_doubts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace handhold::fitting {

std::vector<CouplingFinding> TestCouplings(const PooledFit& pool, const PooledResult& best,
                                           const std::vector<JointPair>& pairs) {
  std::vector<CouplingFinding> findings;
  const Eigen::Index n = pool.joint_count();
  for (const JointPair& pair : pairs) {
    PooledParameters start = best.parameters;
    start.coupled = pair;
    start.coupling = 0.0;
    const PooledResult coupled = pool.Solve(start);
    const Eigen::Index at = coupled.covariance.rows() - 2;  // the coupling: before the shift
    CouplingFinding finding;
    finding.pair = pair;
    finding.share = coupled.parameters.coupling;
    finding.sd = std::sqrt(coupled.covariance(at, at));
    finding.chi2_gain = (best.chi2 - coupled.chi2) / coupled.chi2_inflation[at];
    finding.log_per_share = coupled.covariance.col(at).head(n) / coupled.covariance(at, at);
    finding.log_moved = coupled.parameters.log_compliance - best.parameters.log_compliance;
    findings.push_back(std::move(finding));
  }
  return findings;
}

CouplingReach ReachOf(const std::vector<CouplingFinding>& findings, int joint, double considered,
                      double quantile, double shown_gain) {
  CouplingReach reach;
  const auto reach_to = [&](double log_c) {
    reach.below = std::min(reach.below, log_c);
    reach.above = std::max(reach.above, log_c);
  };
  for (const CouplingFinding& f : findings) {
    const double open = quantile * f.sd, per_share = f.log_per_share[joint];
    const bool beside = std::any_of(findings.begin(), findings.end(), [&](const auto& other) {
      return other.chi2_gain > shown_gain && !(other.pair == f.pair) &&
             (other.pair.Has(f.pair.first) || other.pair.Has(f.pair.second));
    });
    const double most = beside ? std::max(considered, kBesideShown) : considered;
    const bool shown = f.chi2_gain > quantile * quantile || std::abs(f.share) - open > most;
    // What the other coupling took, this one cannot show: both ways as far as is considered.
    for (const double share :
         beside ? std::array{std::min(f.share - open, -most), std::max(f.share + open, most)}
                : std::array{f.share - open, f.share + open})
      reach_to(per_share * (shown ? share : std::clamp(share, -most, most)));
    // Far from none log C is not a line any more: where it went counts, too.
    if (!shown) continue;
    reach_to(f.log_moved[joint] - open * per_share);
    reach_to(f.log_moved[joint] + open * per_share);
  }
  return reach;
}

double UnexplainedAxis_m(double axis_rms_m, double marker_sd_m) {
  constexpr double kAxisOfNoise = 0.55;
  return std::sqrt(std::max(
      0.0, axis_rms_m * axis_rms_m - kAxisOfNoise * kAxisOfNoise * marker_sd_m * marker_sd_m));
}

double SharedDoubt(const DoubtRule& rule, const Findings& found) {
  const double lacking = std::clamp(
      1.0 - static_cast<double>(found.air_strokes) / std::max(1, rule.enough_air_strokes), 0.0,
      1.0);
  double variance = std::pow(lacking * rule.sd_without_air, 2);
  if (std::abs(found.shift_s) > rule.shift_from_s)
    variance += std::pow(rule.sd_per_shift_ms * 1e3 * found.shift_s, 2);
  if (found.axis_rms_m > rule.axis_from_m) {
    const double beyond2 =
        found.axis_rms_m * found.axis_rms_m - rule.axis_from_m * rule.axis_from_m;
    variance += std::pow(rule.sd_per_axis_mm * 1e3, 2) * beyond2;
  }
  if (found.chi2_per_dof < rule.chi2_from) {
    variance += std::pow(rule.sd_per_chi2 * (1.0 - found.chi2_per_dof), 2);
  } else if (found.chi2_per_dof < rule.chi2_told) {
    // From nothing up to what stands at chi2_from: a soft forearm leaves 0.8 and moves light
    // wrists.
    const double share = (rule.chi2_told - found.chi2_per_dof) / (rule.chi2_told - rule.chi2_from);
    variance += std::pow(share * rule.sd_per_chi2 * (1.0 - rule.chi2_from), 2);
  }
  return std::sqrt(variance);
}

}  // namespace handhold::fitting
