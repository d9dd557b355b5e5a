/// Who touches whom, and the rows that say how: the same in what was captured and in what was
/// synthesised.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"

namespace handhold::artefact {

/// One side of a touch: a hand, by a named site where there is one, or a thing of the take or
/// scene.
struct Side {
  enum class Kind { kHand, kThing };
  Kind kind = Kind::kThing;
  std::string name;  ///< of the hand ("R") or thing ("plate", "mug", "table")
  std::string site;  ///< kHand: a site of its skeleton ("R.index.pad"); empty: none is named
  int body = 0;      ///< kHand: of the skeleton, that touches; 0 where only the hand is known
  bool operator==(const Side&) const = default;
  bool is_hand() const { return kind == Kind::kHand; }
};

/// Two sides that touch. Where one is a hand and the other is not, a is the hand.
struct Touch {
  Side a, b;
  std::string sensor;  ///< force sensor that measured it; empty: none
  Timestamp onset, release;
  Duration onset_sd, release_sd;  ///< half-widths of the 68 % intervals; 0: synthesised
  double peak_force_N = 0.0;      ///< captured: of the normal force, 5 ms means; else of its size
  std::string task;               ///< "exploring", "scratching": what was asked or done
  bool operator==(const Touch&) const = default;
};

/// One contact in one frame. Rows come by frame, then by touch.
struct ContactRow {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  int frame = 0;                                    ///< index into the times of what holds the row
  int touch = 0;                                    ///< index into its touches
  geometry::Vec3 f_onA_W = geometry::Vec3::Zero();  ///< N; on side a: on the hand
  /// Nm, about p_W: what the force through the point does not carry. Where the point is missing
  /// (NaN): about the origin of W.
  geometry::Vec3 m_onA_W = geometry::Vec3::Zero();
  geometry::Vec3 p_W = geometry::Vec3::Constant(kUnknown);       ///< NaN: not known
  geometry::Vec3 normal_W = geometry::Vec3::Constant(kUnknown);  ///< unit, out of b, into a
  /// Distance between the point and the fitted skin of side a (captured), or between the two
  /// surfaces (synthesised; negative: they overlap), m; NaN: not known.
  double offset_m = kUnknown;
  double slip_m_per_s = kUnknown;  ///< tangential speed of a's point against b's; NaN: not known
};

/// Sum over the rows of each of `frames` frames of the force on side a, of touches whose side a is
/// the hand `hand` (empty: of any hand); 3 x frames.
Eigen::Matrix3Xd ForceOnHand(const std::vector<Touch>& touches, const std::vector<ContactRow>& rows,
                             size_t frames, const std::string& hand = "");

/// kCorrupt unless every row names a frame below `frames` and a touch that there is.
Status CheckRows(const std::vector<Touch>& touches, const std::vector<ContactRow>& rows,
                 size_t frames);

template <typename A>
void Visit(A& a, Side& s) {
  a.Choice("kind", s.kind, {"hand", "thing"});
  a.Field("name", s.name);
  a.Field("site", s.site);
  a.Field("body", s.body);
}
template <typename A>
void Visit(A& a, Touch& t) {
  a.Field("a", t.a);
  a.Field("b", t.b);
  a.Field("sensor", t.sensor);
  a.Field("onset_ns", t.onset);
  a.Field("release_ns", t.release);
  a.Field("onset_sd_ns", t.onset_sd);
  a.Field("release_sd_ns", t.release_sd);
  a.Field("peak_force_N", t.peak_force_N);
  a.Field("task", t.task);
}
template <typename A>
void Visit(A& a, ContactRow& r) {
  a.Field("frame", r.frame);
  a.Field("touch", r.touch);
  a.Field("f_onA_W", r.f_onA_W);
  a.Field("m_onA_W", r.m_onA_W);
  a.Field("p_W", r.p_W);
  a.Field("normal_W", r.normal_W);
  a.Field("offset_m", r.offset_m);
  a.Field("slip_m_per_s", r.slip_m_per_s);
}

}  // namespace handhold::artefact
