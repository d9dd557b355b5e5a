/// What the criteria of the one-finger chain ask, measured: fits and replays of a lab subject
/// against its truth (issue "One finger, the whole chain", section 4). Numbers only; tests decide.
///
/// Works on fits in memory, without a library: tests/support/chain_criteria.h judges the artefacts
/// of one. Truth is read from tools/lab's records; the estimators under test never see this.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/contact_track.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/motion.h"
#include "database/artefact/pose_track.h"
#include "synthesis/evaluate/motion_score.h"
#include "synthesis/interaction/replay.h"
#include "tools/lab/truth.h"

namespace handhold::testing {

/// Every length of the hand times `factor`: what somebody else's hand looks like.
model::Skeleton Scaled(const model::Skeleton& hand, double factor);

using synthesis::Quantile;

/// Criterion 5. Angles less one constant per joint, per velocity, degrees RMS over all frames;
/// lengths between joint axes, fitted - planted, from the second joint on.
struct PoseErrors {
  std::vector<double> length_m;
  Eigen::VectorXd angle_rms_deg;
};
PoseErrors MeasurePose(const lab::Truth& truth, const model::Skeleton& fitted,
                       const artefact::PoseTrack& pose);

/// Criterion 6. `false_touches`: touches without a planted touch within 20 ms, anywhere in the
/// take; `matched`: planted touches that have a touch within 20 ms. Torque: RMS as share of its
/// peak, per velocity.
struct ContactErrors {
  int planted = 0, touches = 0, matched = 0, false_touches = 0;
  double onset_p90_s = 0.0, point_p95_m = 0.0;
  Eigen::VectorXd torque_share;
};
ContactErrors MeasureContact(const lab::Truth& truth, const artefact::ContactTrack& contact);

/// Criterion 7. One answer: a joint of a task.
struct ComplianceAnswer {
  std::string task, dof, refusal;
  int joint = 0;
  double planted = 0.0, sd_log = 0.0;
  double lower_rad_per_Nm = 0.0, upper_rad_per_Nm = 0.0;  ///< 95 %, of refused ones too
  bool accepted = false, covered = false;  ///< covered: that interval holds the planted value
  bool bounded = false;                    ///< the interval ends
  double error = 0.0;                      ///< fitted / planted - 1; accepted ones only
};
std::vector<ComplianceAnswer> MeasureCompliance(const lab::Truth& truth,
                                                const std::vector<artefact::ComplianceFit>& fits);

/// Criterion 8. Median over strokes of the reference's RMS error of wrist and MP, degrees, after
/// the first 50 ms of contact; joint zeros (a gauge) are taken from the 40 ms before the onset.
double ReferenceError_deg(const lab::Truth& truth, const artefact::PoseTrack& pose,
                          const artefact::ContactTrack& contact, const Eigen::MatrixXd& reference);

/// Criterion 9. Shares are of the stroke's planted peak normal force in the run compared with.
struct StrokeReplay {
  double force_late = 0.0;   ///< whole force, RMS after the first 50 ms of contact
  double plane_late = 0.0;   ///< the same in the plane of flexion (without the sideways force)
  double force_early = 0.0;  ///< RMS in the first 50 ms
  double tip_m = 0.0;        ///< RMS over contact time
  double peak_N = 0.0;
  bool jam = false;  ///< peak above twice that on the flat plate
  /// Samples of 2 ms after 50 ms of contact, by slip = tangential speed > 1 mm/s, in the engine and
  /// in the replay.
  int slip_slip = 0, slip_stick = 0, stick_slip = 0, stick_stick = 0;
};
struct RunReplay {
  std::vector<StrokeReplay> strokes;  ///< without jams
  int jams = 0, lcp_failures = 0;
  double Median(double StrokeReplay::*what) const;
  double P90(double StrokeReplay::*what) const;
  double SlipAgreement() const;  ///< share of pooled time
  double StickRecall() const;    ///< of the engine's sticking time, how much the replay sticks
};

/// The plate of the flat runs, and the stage of a stroke of a run (flat or bumped), as rough as
/// `friction`; below 0: as the run.
model::Prop PlateOf(const lab::Truth& truth);
artefact::Stage StageOf(const lab::Truth& truth, const lab::TruthRun& run, int stroke,
                        double friction = -1.0);
/// The true reference with planted compliance and time constant, over the stroke.
artefact::InteractionTrajectory PlantedTrajectory(const lab::Truth& truth,
                                                  const lab::TruthStroke& stroke);
StrokeReplay CompareReplay(const lab::Truth& truth, const lab::TruthRun& run,
                           const lab::TruthStroke& stroke, const model::Skeleton& hand,
                           const artefact::Motion& motion);
/// Replays every stroke of a run with the planted trajectory; `friction` < 0: the run's own.
RunReplay ReplayPlanted(const lab::Truth& truth, const std::string& run, synthesis::ReplayForm form,
                        double compliance_scale = 1.0, double friction = -1.0);
/// The same with a fitted hand and trajectory; strokes are cut out of it by the truth's times.
RunReplay ReplayFitted(const lab::Truth& truth, const std::string& run, const model::Skeleton& hand,
                       const artefact::InteractionTrajectory& trajectory,
                       synthesis::ReplayForm form, double compliance_scale = 1.0);
/// One line for people.
std::string Describe(const std::string& name, const RunReplay& replay);

}  // namespace handhold::testing
