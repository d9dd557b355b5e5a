/// Joint compliance as Kry & Pai 2006 estimate it (section 3.3), faithfully, its discards included
/// (section 4.3, Fig. 8).
///
/// At each contact event: low-degree polynomials through the joint angle just before and just after
/// the onset, and through the torque after it; C = (d theta_after/dt - d theta_before/dt) / (d
/// tau/dt), all at the onset. It assumes that the joint answers at once: where mass and damping
/// resemble the paper's Table 2 it is biased by 20 % to several hundred % and often negative
/// (reference study, E1). It is stored beside the dynamic estimator to show that. Tests:
/// tests/fitting/compliance/paper_estimator_test.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "database/artefact/contact_track.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/pose_track.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

inline constexpr int kPaperEstimatorVersion = 1;

struct PaperEstimatorOptions {
  Duration before = Duration::Milliseconds(30);  ///< window that ends at the onset
  Duration after = Duration::Milliseconds(30);   ///< window that begins `skip` after it
  Duration skip;                                 ///< 0 in the paper
  int degree = 1;  ///< 1 or 2: "linear or quadratic depending on data quality"
  /// A slope within this many standard deviations of 0 is not told from 0. The sd is that of the
  /// polynomial's own misfit, which in the first 30 ms is the impact rather than noise: 2 would
  /// leave no exploring event at all.
  double undetermined_sd = 1.0;
};

/// One joint's answer to one event: a value, or the reason why none.
struct PaperEstimate {
  double compliance_rad_per_Nm = 0.0;  ///< also when discarded, where a division was possible; else
                                       ///< NaN
  double sd_rad_per_Nm = 0.0;
  double angle_slope = 0.0, torque_slope = 0.0;  ///< rad/s and Nm/s: the two derivatives divided
  std::string discarded;  ///< empty: kept; "negative: extrapolation suggests ... (Fig. 8)", "torque
                          ///< slope not told from 0", ...
};

/// The estimator for one joint and one event. Times relative to the onset, seconds; NaN samples are
/// left out.
PaperEstimate EstimateByExtrapolation(std::span<const double> time_s,
                                      std::span<const double> theta_rad,
                                      std::span<const double> tau_Nm,
                                      const PaperEstimatorOptions& options);

/// One fit per task, in order of first appearance; estimator "paper". Kept events are pooled by
/// regressing slope on slope (ratios are never averaged); sd_log is the event-clustered one. A
/// joint with no event kept is refused with the reasons counted. Fails with kInvalid when pose and
/// contact do not share their times.
Result<std::vector<artefact::ComplianceFit>> FitPaperCompliance(
    const model::Skeleton& skeleton, const artefact::PoseTrack& pose,
    const artefact::ContactTrack& contact, const PaperEstimatorOptions& options = {});

template <typename A>
void Visit(A& a, PaperEstimatorOptions& o) {
  a.Field("before_ns", o.before);
  a.Field("after_ns", o.after);
  a.Field("skip_ns", o.skip);
  a.Field("degree", o.degree);
  a.Field("undetermined_sd", o.undetermined_sd);
}

}  // namespace handhold::fitting
