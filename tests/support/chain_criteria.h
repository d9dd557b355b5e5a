/// The criteria of the one-finger chain (issue "One finger, the whole chain", section 4) against a
/// subject's truth: what a library's results got right, and whether that is enough.
///
/// Two halves. Gather* read results and truth into Evidence: raw errors, one entry per stroke,
/// joint, frame or touch, so that evidence adds up (Add). Judge turns evidence into criteria with
/// their bounds. Used by tests/end_to_end_test.cc and end_to_end_wire_test.cc (one subject each);
/// shares and percentiles over subjects are tests/chain/subjects_test.cc's. Not product code: it
/// reads truth.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/contact_track.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/pose_track.h"
#include "database/model/skeleton.h"
#include "synthesis/interaction/replay.h"
#include "tools/lab/truth.h"
#include "tools/pipeline/step.h"

namespace handhold::live {
class Rehearsal;
}

namespace handhold::chain {

/// One judged figure. `number` is the issue's, `name` stable within it.
struct Criterion {
  int number = 0;
  std::string name;
  std::string unit;
  double value = 0.0;  ///< NaN: nothing to judge (never met)
  double bound = 0.0;  ///< NaN: reported, not judged (always met)
  bool at_most = true;
  bool met = false;
};
/// True when a judged criterion of this number whose name begins with `prefix` is not met.
bool Fails(const std::vector<Criterion>& list, int number, const std::string& prefix = "");
/// One line each, those not met marked; to stdout.
void Print(const std::vector<Criterion>& list);

/// Both estimators' answers beside what was planted; to stdout.
void PrintFits(const lab::Truth& truth, const artefact::InteractionTrajectory& trajectory);

/// How the chain is run on a clip.
struct ChainOptions {
  std::string clip = {};
  std::string template_hand = {};  ///< "finger4"; empty: by markers
  double template_scale = 1.1;
  std::string contact_clip = {};  ///< where the fingertip touches, when the range of motion is
                                  ///< another
  std::string skeleton = {};      ///< an artefact to use instead of fitting one
  bool fast_pose = true;
  enum class Until { kPose, kContact, kAll } until = Until::kAll;
  double compliance_factor = 1.0;  ///< of the reference trajectory: 2 is a canary
};
/// Hashes of what a run of the steps left in the library.
struct ChainArtefacts {
  std::string skeleton, pose, contact, trajectory;
  std::string assumed;  ///< the trajectory with Table 1's values where refused; = trajectory if
                        ///< none
};
/// fit skeleton -> pose -> contact -> compliance, by tools/pipeline. Stops at the first error; the
/// fields after it stay empty and `error` says why.
struct ChainRun {
  ChainArtefacts made;
  std::optional<Error> error;
};
ChainRun RunChain(const pipeline::StepContext& context, const ChainOptions& options);

/// What was loaded of them.
struct ChainResults {
  std::optional<model::Skeleton> skeleton;
  artefact::PoseTrack pose;
  artefact::ContactTrack contact;
  artefact::InteractionTrajectory trajectory, assumed;
};
Result<ChainResults> LoadChain(const store::Library& library, const ChainArtefacts& made);

/// One joint's answer for one task of one subject (criterion 7).
struct ComplianceSample {
  uint64_t seed = 0;
  std::string task, dof;
  int joint = 0;  ///< 0 wrist, 1 MP, 2 PIP, 3 DIP
  double planted = 0.0;
  std::optional<double> fitted;  ///< empty: refused
  double lower = 0.0, upper = 0.0;
  std::optional<double> paper;  ///< the paper's estimator, when it kept any event
};

/// One stroke replayed on one surface, against the engine's own run there (criterion 9).
struct ReplaySample {
  std::string inputs;  ///< "planted", "fitted"
  bool damped = false;
  std::string run;             ///< "captured", "friction_0.1", "friction_1.0", "bump"
  double peak_N = 0.0;         ///< of the engine's normal force in this stroke
  double late_in_plane = 0.0;  ///< force RMS / peak after the first 50 ms of contact, without the
                               ///< component across the finger's plane
  double late_whole = 0.0;     ///< of the whole force
  double early_whole = 0.0;    ///< in the first 50 ms
  double early_in_plane = 0.0;
  double tip_m = 0.0;               ///< fingertip RMS over contact time
  bool jam = false;                 ///< the engine's force exceeds twice the flat peak
  int frames = 0, slip_agrees = 0;  ///< in contact in both; slip means > 1 mm/s
  int stick_frames = 0, stick_found = 0;
  int lcp_failures = 0;
  double equilibrium_residual_rad = 0.0;  ///< largest
};

/// Everything measured against truth. Plain lists: Add appends.
struct Evidence {
  // 1, 2: of takes recorded over the wire
  bool over_the_wire = false;
  int gaps_injected = 0;
  std::vector<std::string> gap_differences;  ///< between injected and reported, one line each
  std::vector<double> alignment_p99_s;       ///< per take
  // 4
  int query_strokes = 0;    ///< asked about, over all thresholds
  int query_wrong = 0;      ///< answered and not planted, or planted and not answered
  int query_set_aside = 0;  ///< planted peak within 0.1 N of the threshold
  // 5
  std::vector<std::pair<std::string, double>> length_error_m;  ///< between joint axes, fitted -
                                                               ///< true
  std::vector<std::vector<double>> angle_rms_rad;              ///< per subject: wrist, MP, PIP, DIP
  // 6
  std::vector<double> onset_error_s, point_error_m;
  std::vector<std::vector<double>> torque_rms_share;  ///< per subject and joint, of its peak
  int touches_planted = 0, touches_found = 0;         ///< found: planted ones that were
  int false_touches = 0;
  // 7
  std::vector<ComplianceSample> compliance;
  struct Shift {
    double fitted_s = 0.0, sd_s = 0.0;
  };
  std::vector<Shift> shifts;  ///< E4's, per task
  // 8, RMS over wrist and MP per stroke, rad
  std::vector<double> reference_eq1, reference_dynamic, reference_none, reference_half,
      reference_double;
  // 9
  std::vector<ReplaySample> replays;

  void Add(const Evidence& other);
};

/// Criteria 1 and 2: what a take reports of its gaps and its clocks against what the rehearsal it
/// was recorded from injected, and its simulators' own clocks. In chain_wire.cc.
Evidence GatherWire(const live::Rehearsal& rehearsal, const recording::ClipSource& clip);

/// The results as if clip time began with the session: a take over the wire begins before it.
/// `start_s`: clip time of the session's begin (report::SessionStart). In chain_wire.cc.
void ToSessionTime(double start_s, ChainResults* results);

/// Criterion 4: hard contacts by query, at the quartiles of the planted peaks. Strokes are matched
/// by the number of the operator's "stroke" event.
Result<Evidence> GatherQueries(const lab::Truth& truth, const store::Library& library,
                               const std::string& clip);

/// Criteria 5 to 8. `results` may be partial: what is missing is not gathered (and Judge then finds
/// nothing to judge, which is not met).
Evidence GatherFits(const lab::Truth& truth, const ChainResults& results);

/// Criterion 9: every stroke of `run`, replayed with the planted or the fitted inputs.
struct ReplayPlan {
  std::string run = {};
  bool damped = false;
  double compliance_scale = 1.0;        ///< 2: a canary
  std::optional<double> friction = {};  ///< empty: the run's own; else a canary
};
Evidence GatherPlantedReplay(const lab::Truth& truth, const ReplayPlan& plan);
/// `results.assumed` is played: eq. 1's reference quasi-statically, the dynamic one damped.
Evidence GatherFittedReplay(const lab::Truth& truth, const ChainResults& results,
                            const ReplayPlan& plan);

/// The fits with every compliance twice as large: canary of 7.
void DoubleCompliance(artefact::InteractionTrajectory* trajectory);

/// Judges what there is evidence of, by what one short subject can decide of it.
std::vector<Criterion> Judge(const Evidence& evidence);

}  // namespace handhold::chain
