/// A synthesised motion: hands, objects and contacts over time, with what became of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/artefact/touch.h"
#include "database/base/issue.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"

namespace handhold::artefact {

/// One hand of a motion.
struct MotionHand {
  std::string name = "R";  ///< that sides of touches name; one per motion
  std::string skeleton_hash;
  std::vector<std::string> dof_names;     ///< nv names, in order
  std::vector<std::string> assumed_dofs;  ///< whose compliance was assumed, not fitted
  Eigen::MatrixXd q;                      ///< nq x frames
};

/// One thing of a motion's scene.
struct MotionObject {
  std::string name;       ///< that sides of touches name; one per motion
  std::string prop;       ///< its prop's name
  std::string prop_hash;  ///< artefact of the prop; empty: not kept
  /// One per frame, or a single one: it stands still.
  std::vector<geometry::RigidTransform> X_WP;
  const geometry::RigidTransform& pose(size_t frame) const {
    return X_WP.size() == 1 ? X_WP.front() : X_WP[frame];
  }
  bool stands_still() const { return X_WP.size() == 1; }
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
  std::vector<Timestamp> times;
  std::vector<MotionHand> hands;
  std::vector<MotionObject> objects;  ///< fixed ones too
  /// Each pair of sides once; onset and release are its first and last contact.
  std::vector<Touch> touches;
  std::vector<ContactRow> rows;
  std::vector<Series> series;
  Verdict verdict;

  /// Null: there is none of that name.
  const Series* FindSeries(std::string_view name) const;
  const MotionHand* FindHand(std::string_view name) const;
  const MotionObject* FindObject(std::string_view name) const;
  /// The touch of these two sides, added when it is new, with onset `now`; its release becomes
  /// `now`.
  int TouchBetween(const Side& a, const Side& b, Timestamp now);
};

/// kCorrupt where parts do not fit together: frames of hands, objects and series, rows, names.
Status CheckMotion(const Motion& motion);

template <typename A>
void Visit(A& a, MotionHand& h) {
  a.Field("name", h.name);
  a.Field("skeleton_hash", h.skeleton_hash);
  a.Field("dof_names", h.dof_names);
  a.Field("assumed_dofs", h.assumed_dofs);
  a.Field("q", h.q);
}
template <typename A>
void Visit(A& a, MotionObject& o) {
  a.Field("name", o.name);
  a.Field("prop", o.prop);
  a.Field("prop_hash", o.prop_hash);
  a.Field("X_WP", o.X_WP);
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
  a.Field("times", m.times);
  a.Field("hands", m.hands);
  a.Field("objects", m.objects);
  a.Field("touches", m.touches);
  a.Field("rows", m.rows);
  a.Field("series", m.series);
  a.Field("verdict", m.verdict);
}

}  // namespace handhold::artefact
