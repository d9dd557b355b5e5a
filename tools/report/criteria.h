/// The bounds of the one-finger chain's criteria (issue "One finger, the whole chain", section 4):
/// their one home. The report prints them beside what a run reached, the tests judge by them.
///
/// Only bounds, no measure: replays are measured by synthesis/evaluate/motion_score.h, the rest
/// apart by the report (measure.h) and by the tests (tests/support).
/// SI and radians; a share is of 1.
#pragma once

#include <optional>
#include <string_view>

#include "database/base/units.h"
#include "synthesis/evaluate/motion_score.h"

namespace handhold::criteria {

// 2: the wire.
inline constexpr double kAlignmentP99_s = 50e-6;  ///< markers against force, known delays taken off
// 3: what is stored, in steps of a channel's grid.
inline constexpr double kReread_quanta = 0.5;
// 4: hard contacts by query.
inline constexpr double kQueryWithin_s = 0.2;  ///< of contact_on
inline constexpr double kQuerySetAside_N = 0.1, kQuerySetAsideShare = 0.10;
// 5: the hand and its pose.
inline constexpr double kLength_m = 1e-3;
/// RMS per frame, less one constant per joint. `joint`: 0 wrist, 1 MP, 2 PIP, 3 DIP.
inline constexpr double AngleRms_rad(int joint) { return DegreesToRadians(joint < 2 ? 0.3 : 0.6); }
// 6: contact.
inline constexpr double kOnsetP90_s = 2e-3;
inline constexpr double kContactPointP95_m = 1e-3;
inline constexpr double kCountedForce_N = 0.3;   ///< contacts and points above it are judged
inline constexpr double kTorqueRmsShare = 0.05;  ///< of the torque's peak
// 7: compliance by E4, of the joints it answers.
inline constexpr double kComplianceMedian = 0.05, kComplianceP90 = 0.12;
inline constexpr double kComplianceFar = 0.20;  ///< nothing may be off by more ...
inline constexpr int kComplianceFarCount = 2;   ///< ... but this many, in all seeds together
inline constexpr double kCoverage = 0.90;       ///< of 95 % intervals
inline constexpr double kRatio = 0.15;          ///< exploring to scratching, wrist and MP
/// Share of seeds in which PIP is answered.
inline constexpr double PipAccepted(std::string_view task) {
  return task == "scratching" ? 0.90 : 0.70;
}
// 8: the reference trajectory, wrist and MP, median over strokes.
inline constexpr double kReferenceMedian_rad = DegreesToRadians(0.75);
// 8 and 9: the first moments of contact are judged apart.
inline constexpr double kEarly_s = synthesis::kFingerEarly_s;
// 9: replay.
inline constexpr double kSlip_m_per_s = 1e-3;  ///< faster is slip
inline constexpr double kSlipAgreement = 0.95, kStickRecall = 0.85;
inline constexpr double kJam = 2.0, kJamShare = 0.10;  ///< a jam: this many times the flat peak

/// What a replay must reach on one surface; empty: nothing is asked. Force: RMS as share of the
/// stroke's peak after the first 50 ms.
struct ReplayBounds {
  std::optional<double> force_median = {}, force_p90 = {};
  std::optional<double> early_median = {};  ///< force in the first 50 ms
  std::optional<double> tip_median_m = {}, tip_p90_m = {};
};
/// `run` as the truth names it: "captured", "friction_0.1", "friction_1.0", "bump".
inline constexpr ReplayBounds ReplayBoundsOf(bool planted, bool damped, std::string_view run) {
  const bool bump = run == "bump";
  ReplayBounds b;
  if (planted && damped) {
    b = {.force_median = 0.04, .force_p90 = 0.08, .early_median = 0.15};
    if (bump) b.tip_p90_m = 1.5e-3;
    if (!bump) b.tip_median_m = 0.3e-3;
  } else if (planted) {
    b = {.force_median = 0.10, .force_p90 = 0.15};
  } else {
    b.force_p90 = 0.12;
    if (bump) b.tip_p90_m = 2e-3;
    if (run == "friction_0.1") b.tip_median_m = 0.5e-3, b.tip_p90_m = 1e-3;
  }
  return b;
}

}  // namespace handhold::criteria
