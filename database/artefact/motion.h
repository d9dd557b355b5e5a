/// A synthesised motion: its stage, what hands and things did on it, contacts over time, and what
/// became of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/artefact/stage.h"
#include "database/artefact/touch.h"
#include "database/base/issue.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"

namespace handhold::artefact {

/// What a hand of the stage did.
struct MotionHand {
  std::string name = "R";              ///< on the stage; sides of touches name it
  std::vector<std::string> dof_names;  ///< nv names, in order
  Eigen::MatrixXd q;                   ///< nq x frames
};

/// What a thing of the stage did.
struct MotionObject {
  std::string name;  ///< on the stage; sides of touches name it
  /// One per frame, or a single one: it stands still.
  std::vector<geometry::RigidTransform> X_WP;
  const geometry::RigidTransform& pose(size_t frame) const {
    return X_WP.size() == 1 ? X_WP.front() : X_WP[frame];
  }
  bool stands_still() const { return X_WP.size() == 1; }
};

/// What is being done from `range.begin` to before `range.end`: one of these, or another word.
namespace phase {
inline constexpr const char* kReach = "reach";
inline constexpr const char* kClose = "close";
inline constexpr const char* kSqueeze = "squeeze";
inline constexpr const char* kSettle = "settle";
inline constexpr const char* kLift = "lift";
inline constexpr const char* kHold = "hold";
inline constexpr const char* kRelease = "release";
}  // namespace phase
struct Phase {
  std::string name;
  TimeRange range;
};

/// A number per frame that one method has to say: "equilibrium_residual", "rad".
struct Series {
  std::string name;
  std::string unit;
  Eigen::VectorXd values;  ///< one per frame; NaN: none
};

/// What became of the objects that the hands held.
struct Verdict {
  enum class Kind {
    kNotJudged,
    kHeld,     ///< to the end, within the judge's limits
    kSlipped,  ///< still held, but it slid or turned beyond them
    kDropped,
    kJammed,  ///< pressed far beyond what was asked or captured
    kLost,    ///< the computation could not go on
  };
  Kind kind = Kind::kNotJudged;
  Timestamp when;     ///< of the event; of kHeld the end
  std::string cause;  ///< in words, naming object and limit; empty where there is nothing to say
};
std::string_view VerdictName(Verdict::Kind kind);  ///< "not judged", "held", "slipped", ...

/// How a motion changes when something assumed is otherwise.
struct MotionVariant {
  double factor = 1.0;        ///< on the assumed compliances: 0.5, 2
  std::string motion;         ///< artefact of the variant
  double force_rms_N = 0.0;   ///< RMS difference of the whole contact force, over frames in contact
                              ///< in either
  double site_rms_m = 0.0;    ///< of the touching sites' place, over the same frames
  double peak_force_N = 0.0;  ///< of the variant
};

/// What the synthesis says about its motion.
struct MotionSummary {
  /// By name with unit: "peak_force_N", "contact_share", "slip_share".
  std::map<std::string, double> figures;
  std::vector<MotionVariant> variants;
  Issues issues;
};

struct Motion {
  Provenance provenance;
  MotionSummary summary;
  Stage stage;                ///< as it was before the first frame
  std::vector<Phase> phases;  ///< ascending, none within another; may leave gaps, or be empty
  std::vector<Timestamp> times;
  std::vector<MotionHand> hands;      ///< of the stage's, in order
  std::vector<MotionObject> objects;  ///< of the stage's things, in order; fixed ones too
  /// Each pair of sides once; onset and release are its first and last contact.
  std::vector<Touch> touches;
  std::vector<ContactRow> rows;
  std::vector<Series> series;
  Verdict verdict;

  /// Null: there is none of that name.
  const Series* FindSeries(std::string_view name) const;
  const MotionHand* FindHand(std::string_view name) const;
  const MotionObject* FindObject(std::string_view name) const;
  const Phase* FindPhase(std::string_view name) const;  ///< the first of that name
  /// Puts a hand or a thing on the stage, under a name that is free there, and gives it a track: of
  /// a thing its place, if it has one.
  MotionHand& Add(StageHand hand);
  MotionObject& Add(StageThing thing);
  /// The touch of these two sides, added when it is new, with onset `now`; its release becomes
  /// `now`.
  int TouchBetween(const Side& a, const Side& b, Timestamp now);
};

/// kCorrupt where parts do not fit together: frames of hands, objects and series, rows, names, what
/// is on the stage, phases.
Status CheckMotion(const Motion& motion);

/// The stage as it is in one frame: hands and things where they are then, nothing that leads them.
Stage StageAt(const Motion& motion, size_t frame);

template <typename A>
void Visit(A& a, MotionHand& h) {
  a.Field("name", h.name);
  a.Field("dof_names", h.dof_names);
  a.Field("q", h.q);
}
template <typename A>
void Visit(A& a, MotionObject& o) {
  a.Field("name", o.name);
  a.Field("X_WP", o.X_WP);
}
template <typename A>
void Visit(A& a, Phase& p) {
  a.Field("name", p.name);
  a.Field("range_ns", p.range);
}
template <typename A>
void Visit(A& a, Series& s) {
  a.Field("name", s.name);
  a.Field("unit", s.unit);
  a.Field("values", s.values);
}
template <typename A>
void Visit(A& a, Verdict& v) {
  a.Choice("kind", v.kind, {"not judged", "held", "slipped", "dropped", "jammed", "lost"});
  a.Field("when_ns", v.when);
  a.Field("cause", v.cause);
}
template <typename A>
void Visit(A& a, MotionVariant& v) {
  a.Field("factor", v.factor);
  a.Field("motion", v.motion);
  a.Field("force_rms_N", v.force_rms_N);
  a.Field("site_rms_m", v.site_rms_m);
  a.Field("peak_force_N", v.peak_force_N);
}
template <typename A>
void Visit(A& a, MotionSummary& s) {
  a.Field("figures", s.figures);
  a.Field("variants", s.variants);
  a.Field("issues", s.issues);
}
template <typename A>
void Visit(A& a, Motion& m) {
  a.Skip(m.provenance);
  a.Field("summary", m.summary);
  a.Field("stage", m.stage);
  a.Field("phases", m.phases);
  a.Field("times", m.times);
  a.Field("hands", m.hands);
  a.Field("objects", m.objects);
  a.Field("touches", m.touches);
  a.Field("rows", m.rows);
  a.Field("series", m.series);
  a.Field("verdict", m.verdict);
}

}  // namespace handhold::artefact
