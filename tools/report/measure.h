/// How far fits and replays are from the planted truth of a virtual subject: the figures behind the
/// criteria of the one-finger chain (issue "One finger, the whole chain", section 4).
///
/// Only measures: reads truth (tools/lab/truth.h) after the fits are made and never feeds anything
/// back. Session times of the truth are turned into clip times by `start_s`, the clip time of
/// session time 0. Tests: tests/tools/report/measure_test.cc.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "database/artefact/contact_track.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/motion.h"
#include "database/artefact/pose_track.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "synthesis/evaluate/motion_score.h"
#include "synthesis/interaction/replay.h"
#include "tools/lab/truth.h"

namespace handhold::report {

using synthesis::Quantile;

/// Clip time of session time 0: by what a rehearsal left in the clip (tools/lab/session_begin.h),
/// else that of marker frame 0, by the marker stream's counters and the clip's own clock map.
/// kNotFound without markers, kCorrupt when the property is no number.
Result<double> SessionStart(const recording::ClipSource& clip);

/// How far recorded markers lie from where the truth's captured run has them, over frames spread
/// over the session.
struct MarkerDistance {
  double median_m = 0.0, p99_m = 0.0;
};
/// kNotFound when the clip has no marker of the truth's hand within the session.
Result<MarkerDistance> MarkersFromTruth(const recording::ClipSource& clip, const lab::Truth& truth,
                                        double start_s);

struct LengthScore {
  std::string segment;  ///< "mcp-pip", "dip-tip"
  double fitted_m = 0.0, planted_m = 0.0;
};
/// Lengths across the joints' axes, so that the origin's place along a hinge plays no part.
/// `planted` may be null: planted_m is then NaN.
std::vector<LengthScore> CompareLengths(const model::Skeleton& fitted,
                                        const model::Skeleton* planted);

/// RMS of each angle's error less one constant per joint (its zero is a gauge), rad, per dof.
Eigen::VectorXd AngleErrors(const artefact::PoseTrack& pose, const lab::Truth& truth,
                            double start_s);

struct ContactScore {
  int planted = 0;  ///< contacts whose peak exceeds 0.3 N, within the pose track
  int missed = 0, invented = 0;
  std::vector<double> onset_errors_s;  ///< signed, per found contact
  std::vector<double> point_errors_m;  ///< where the engine's normal force exceeds 0.3 N
  Eigen::VectorXd torque_rms_of_peak;  ///< per dof, over contact time
};
ContactScore CompareContact(const artefact::ContactTrack& contact, const lab::Truth& truth,
                            double start_s);

/// The largest planted normal force, N, within 0.2 s of a contact_on (schemas/README.md: at 0.5 N,
/// anew once below 0.25 N for more than 20 ms), by stroke number as queries count them, from 1.
/// Strokes without a contact_on: 0; strokes without contact columns are left out.
std::map<int64_t, double> HardnessOfStrokes(const lab::Truth& truth);

/// Per stroke, RMS over the first `dofs` joints of (reference - true reference) after the first 50
/// ms of contact, rad; joint zeros taken from the 40 ms before the onset.
std::vector<double> ReferenceErrors(const artefact::PoseTrack& pose,
                                    const artefact::ContactTrack& contact,
                                    const Eigen::MatrixXd& reference, const lab::Truth& truth,
                                    double start_s, int dofs);

/// What a replay plays on the surface of one run of the truth.
struct ReplayCase {
  std::string run;  ///< "captured", "friction_0.1", "bump"
  synthesis::ReplayForm form = synthesis::ReplayForm::kDamped;
  double compliance_scale = 1.0;
  double friction = -1.0;                 ///< negative: the run's own; else another one (a canary)
  int max_strokes = 0;                    ///< the first so many with contact; 0: all
  std::function<bool()> keep_going = {};  ///< asked before each stroke; false: kCancelled
};

/// Traces of one stroke for plots and pictures, at the replay's steps; session time.
struct ReplayExample {
  int stroke = -1;
  std::vector<double> time_s, engine_normal_N, replay_normal_N, engine_tangent_N, replay_tangent_N;
  Eigen::Matrix3Xd engine_tip_W, replay_tip_W;
  Eigen::MatrixXd q;                             ///< of the replay, nq x frames
  std::vector<geometry::Vec3> f_onHand_W, p_WC;  ///< of the replay; p NaN without contact
  artefact::Stage stage;
};

struct ReplayScore {
  /// Per stroke, by synthesis::ScoreMotion.
  std::vector<double> force_late, force_early, tip_m;
  std::vector<int> jams;  ///< strokes whose engine peak exceeds twice the flat one: not in the
                          ///< above
  int lcp_failures = 0;
  double equilibrium_rad = 0.0;
  int64_t contact_samples = 0, slip_agrees = 0, stuck = 0, stuck_found = 0;
  ReplayExample example;  ///< of `example_stroke`, when it was replayed
  double slip_agreement() const;
  double stick_recall() const;
};

/// The interaction trajectory of one stroke in clip time; who calls decides whether it is planted
/// or fitted.
using TrajectoryOf = std::function<artefact::InteractionTrajectory(const lab::TruthStroke&)>;

/// The planted one: true reference, compliance and time constant, session time.
artefact::InteractionTrajectory PlantedTrajectory(const lab::Truth& truth,
                                                  const lab::TruthStroke& stroke);

/// The surface of a run, with the planted surface compliance. `friction` < 0: the run's.
Result<artefact::Stage> StageOf(const lab::Truth& truth, const lab::TruthRun& run, int stroke,
                                double friction = -1.0);

/// Replays each stroke with contact and compares force and fingertip with the engine's. `hand`:
/// the one the trajectory belongs to; `start_s`: clip time of session time 0 in the trajectory's
/// times (0 for planted ones). Fails as ReplayInteraction does, with kNotFound for a run that the
/// truth does not hold, and with kCancelled.
Result<ReplayScore> ScoreReplay(const lab::Truth& truth, const model::Skeleton& hand,
                                const TrajectoryOf& trajectory_of, double start_s,
                                const ReplayCase& replay_case, int example_stroke);

}  // namespace handhold::report
