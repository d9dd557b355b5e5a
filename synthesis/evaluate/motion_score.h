/// How far a motion is from a reference: force, slip and stick, a frame's place, an object's pose.
/// The one definition, for pages, tests and benches.
///
/// The reference is asked at the motion's own times, so it may come from anywhere: an engine's
/// record, a capture, another motion. Frames count from the touch's onset to its release; the first
/// moments (`early_s`) are judged apart, because there the force rises in a few milliseconds and a
/// shift of one step dominates. Pinned by tests/synthesis/evaluate/motion_score_test.cc, by sums
/// written out without the scorer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/motion.h"
#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns these scores.
inline constexpr int kMotionScoreVersion = 1;

/// A finger's force settles within some 30 ms of its touch; of a grip the object is carried before
/// all fingers are there.
inline constexpr double kFingerEarly_s = 0.050, kGripEarly_s = 0.150;

struct MotionScoreOptions {
  std::string hand;      ///< of the motion; empty: its first
  std::string frame;     ///< of the skeleton, whose place is compared ("index.tip"); empty: none
  std::string object;    ///< of the motion, whose pose is compared; empty: none
  double onset_s = 0.0;  ///< frames before it do not count; in the reference's time
  double release_s = 1e300;         ///< nor those after it
  double start_s = 0.0;             ///< the motion's time when the reference's is 0
  double early_s = kFingerEarly_s;  ///< from the onset on
  double slip_m_per_s = 1e-3;       ///< faster is slip
  double loaded_N = 1e-3;           ///< contacts below it say nothing of slip
  double peak_N = 1.0;              ///< forces are shares of it
  /// Normal of the plane of flexion: forces "in the plane" leave out what acts along it. Zero: all
  /// of the force.
  geometry::Vec3 across_W = geometry::Vec3::Zero();
};

/// What the reference says at one time.
struct ReferenceSample {
  geometry::Vec3 f_onHand_W = geometry::Vec3::Zero();
  geometry::Vec3 p_W = geometry::Vec3::Constant(artefact::ContactRow::kUnknown);  ///< of the frame
  double slip_m_per_s = artefact::ContactRow::kUnknown;         ///< NaN: no contact, or not known
  std::optional<geometry::RigidTransform> X_WO = std::nullopt;  ///< of the object
};
/// At a time of its own; nullopt: it does not reach there, the frame does not count.
using MotionReference = std::function<std::optional<ReferenceSample>(double t_s)>;

struct MotionScore {
  int early_frames = 0, late_frames = 0;
  /// RMS of the difference of the whole force on the hand, as shares of the peak; 0 without frames.
  double force_early = 0.0, force_late = 0.0;
  double plane_early = 0.0, plane_late = 0.0;
  /// RMS over early and late frames; NaN: no frame, or neither point nor object was asked for.
  double point_m = artefact::ContactRow::kUnknown;
  double object_m = artefact::ContactRow::kUnknown, object_rad = artefact::ContactRow::kUnknown;
  /// Late frames in which both touch, by slip in the reference and then in the motion.
  int slip_slip = 0, slip_stick = 0, stick_slip = 0, stick_stick = 0;
  int both_touch() const { return slip_slip + slip_stick + stick_slip + stick_stick; }
  int slip_agrees() const { return slip_slip + stick_stick; }
};

/// kInvalid: no hand, frame or object of that name, a skeleton that is not the hand's, or a peak
/// that is not positive.
Result<MotionScore> ScoreMotion(const model::Skeleton& hand, const artefact::Motion& motion,
                                const MotionReference& reference,
                                const MotionScoreOptions& options);

/// A hand's contacts of each frame as one: the sum of forces, and place and slip of the fastest
/// contact that carries `loaded_N` (NaN: none does).
struct FrameContacts {
  std::vector<geometry::Vec3> f_onHand_W, p_W;
  std::vector<double> slip_m_per_s;
};
FrameContacts ContactsByFrame(const artefact::Motion& motion, const std::string& hand,
                              double loaded_N);

/// The value below which `share` of them lie (lower of two neighbours); NaN when there is none.
double Quantile(std::vector<double> values, double share);

template <typename A>
void Visit(A& a, MotionScoreOptions& o) {
  a.Field("hand", o.hand);
  a.Field("frame", o.frame);
  a.Field("object", o.object);
  a.Field("onset_s", o.onset_s);
  a.Field("release_s", o.release_s);
  a.Field("start_s", o.start_s);
  a.Field("early_s", o.early_s);
  a.Field("slip_m_per_s", o.slip_m_per_s);
  a.Field("loaded_N", o.loaded_N);
  a.Field("peak_N", o.peak_N);
  a.Field("across_W", o.across_W);
}

}  // namespace handhold::synthesis
