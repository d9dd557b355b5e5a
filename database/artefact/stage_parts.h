/// What a stage is made of (stage.h): hands, things, force sensors, and how each is moved.
///
/// Frames: W is the world, right-handed, Z up; P a prop's own; H a skeleton's world. SI and
/// radians.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/object_track.h"
#include "database/artefact/pose_track.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::artefact {

/// Something that is kept elsewhere: by what a person says, by the hash of its artefact, and, once
/// somebody has looked it up, itself (never stored). All may be empty: there is none.
template <typename T>
struct StageLink {
  std::string key = {};   ///< name, file or the beginning of a hash
  std::string hash = {};  ///< empty: not looked up, or of no artefact
  std::shared_ptr<const T> value = {};
  bool said() const { return !key.empty() || !hash.empty() || value != nullptr; }
  bool there() const { return value != nullptr; }
  const T& operator*() const { return *value; }  ///< Precondition: there()
  const T* operator->() const { return value.get(); }
};

/// Holds a thing by the line through p_P along axis_P (unit), which stands still in the world: it
/// turns about it by the right-hand rule, against viscous friction.
struct StagePivot {
  geometry::Vec3 p_P = geometry::Vec3::Zero();
  geometry::Vec3 axis_P = geometry::Vec3::UnitZ();
  double damping_Nms_per_rad = 0.0;
};

/// Leaves a thing one way to go: along axis_P (unit), against viscous and dry friction.
struct StageSlider {
  geometry::Vec3 axis_P = geometry::Vec3::UnitZ();
  double damping_Ns_per_m = 0.0;
  double dry_friction_N = 0.0;
  std::optional<double> lower_m = {}, upper_m = {};  ///< from where it begins; empty: no end
};

/// Where a take measured something: one item of a stream of rigid poses, or three or more markers
/// that sit on it.
struct StageMeasured {
  std::string stream = {};  ///< empty: nowhere
  std::vector<std::string> items = {};
};

struct StageThing {
  enum class Is {
    kUnknown,   ///< nobody said where it is
    kFixed,     ///< it stands at X_WP
    kFree,      ///< moved by contacts and weight
    kPivot,     ///< turns on `pivot`
    kSlider,    ///< goes along `slider`
    kTrack,     ///< goes where `track` says, whatever touches it
    kMeasured,  ///< was where `measured` says; a mover wants the track that is fitted to that
  };
  std::string name = {};  ///< unique among the things: "mug", "table"
  Is is = Is::kFree;
  /// As it is here, scaled and dressed (Dress in stage.h): its mass, friction and compliance are
  /// those below.
  StageLink<model::Prop> prop = {};
  double metres_per_unit = 0.001;  ///< where prop.key is a mesh file
  double scale = 1.0;              ///< on every length of what prop.key names; its mass stays
  /// Where it is, or, of what moves, begins; empty: not known.
  std::optional<geometry::RigidTransform> X_WP = {};
  /// First velocity in its own axes, rad/s and m/s of P; on a pivot its rate about the axis counts.
  geometry::Vec3 omega_P = geometry::Vec3::Zero(), v_P = geometry::Vec3::Zero();
  /// Instead of the prop's own.
  std::optional<double> mass_kg = {};  ///< inertia in proportion
  std::optional<double> friction = {};
  std::optional<double> compliance_m_per_N = {};  ///< of its surface; 0: the mover's own
  StagePivot pivot = {};                          ///< kPivot
  StageSlider slider = {};                        ///< kSlider
  StageLink<ObjectTrack> track = {};              ///< kTrack
  StageMeasured measured = {};                    ///< kMeasured

  /// Whether contacts and weight move it.
  bool yields() const { return is == Is::kFree || is == Is::kPivot || is == Is::kSlider; }
};
std::string_view StageIsName(StageThing::Is is);  ///< "unknown", "fixed", "free", ...

/// Springs and dampers at the joints, towards q_rest.
struct StageImpedance {
  Eigen::VectorXd q_rest = {};                ///< nq; empty: there are none
  Eigen::VectorXd stiffness_Nm_per_rad = {};  ///< nv; empty: the mover's own
  Eigen::VectorXd damping_Nms_per_rad = {};   ///< nv; empty: the mover's own
};

struct StageHand {
  std::string name = "R";                    ///< unique among the hands
  StageLink<model::Skeleton> skeleton = {};  ///< key empty: of what leads it
  double scale = 1.0;                        ///< on every length of what skeleton.key names
  geometry::RigidTransform X_WH = {};        ///< of its skeleton's world
  Eigen::VectorXd q = {};                    ///< nq: where it begins; empty: as what leads it says
  /// What leads its joints, one of three at the most: a reference that they are pulled along and
  /// yield from by their compliances, poses that are given, springs towards one posture.
  StageLink<InteractionTrajectory> trajectory = {};
  StageLink<PoseTrack> poses = {};
  StageImpedance impedance = {};
  /// Body of the skeleton that goes along a track, whatever arm or body is behind it; empty: none.
  std::string wrist = {};
  StageLink<ObjectTrack> wrist_track = {};
  StageMeasured measured = {};
  /// Spring under the skeleton's base; empty: the mover's own.
  std::optional<double> root_compliance_m_per_N = {};
  /// nv, instead of the trajectory's one for all joints; NaN: that one; empty: that one for all.
  Eigen::VectorXd time_constant_s = {};
  std::vector<std::string> assumed_dofs = {};  ///< whose compliance was assumed, not fitted
};

struct StageSensor {
  enum class Kind {
    kSixAxis,  ///< force and moment
    kNormal,   ///< one number: a pad
    kArray     ///< a number per cell
  };
  std::string name = {};  ///< unique among the sensors
  Kind kind = Kind::kSixAxis;
  std::string mounted_on = {};                        ///< a thing of the stage; empty: W
  geometry::RigidTransform X_MS = {};                 ///< in that thing, in W
  geometry::Vec3 normal_S = geometry::Vec3::UnitZ();  ///< unit, out of the touched surface
};

template <typename A, typename T>
void Visit(A& a, StageLink<T>& l) {
  a.Field("key", l.key);
  a.Field("hash", l.hash);
  a.Skip(l.value);
}
template <typename A>
void Visit(A& a, StagePivot& p) {
  a.Field("p_P", p.p_P);
  a.Field("axis_P", p.axis_P);
  a.Field("damping_Nms_per_rad", p.damping_Nms_per_rad);
}
template <typename A>
void Visit(A& a, StageSlider& s) {
  a.Field("axis_P", s.axis_P);
  a.Field("damping_Ns_per_m", s.damping_Ns_per_m);
  a.Field("dry_friction_N", s.dry_friction_N);
  a.Field("lower_m", s.lower_m);
  a.Field("upper_m", s.upper_m);
}
template <typename A>
void Visit(A& a, StageMeasured& m) {
  a.Field("stream", m.stream);
  a.Field("items", m.items);
}
template <typename A>
void Visit(A& a, StageThing& t) {
  a.Field("name", t.name);
  a.Choice("is", t.is, {"unknown", "fixed", "free", "pivot", "slider", "track", "measured"});
  a.Field("prop", t.prop);
  a.Field("metres_per_unit", t.metres_per_unit);
  a.Field("scale", t.scale);
  a.Field("X_WP", t.X_WP);
  a.Field("omega_P", t.omega_P);
  a.Field("v_P", t.v_P);
  a.Field("mass_kg", t.mass_kg);
  a.Field("friction", t.friction);
  a.Field("compliance_m_per_N", t.compliance_m_per_N);
  a.Field("pivot", t.pivot);
  a.Field("slider", t.slider);
  a.Field("track", t.track);
  a.Field("measured", t.measured);
}
template <typename A>
void Visit(A& a, StageImpedance& i) {
  a.Field("q_rest", i.q_rest);
  a.Field("stiffness_Nm_per_rad", i.stiffness_Nm_per_rad);
  a.Field("damping_Nms_per_rad", i.damping_Nms_per_rad);
}
template <typename A>
void Visit(A& a, StageHand& h) {
  a.Field("name", h.name);
  a.Field("skeleton", h.skeleton);
  a.Field("scale", h.scale);
  a.Field("X_WH", h.X_WH);
  a.Field("q", h.q);
  a.Field("trajectory", h.trajectory);
  a.Field("poses", h.poses);
  a.Field("impedance", h.impedance);
  a.Field("wrist", h.wrist);
  a.Field("wrist_track", h.wrist_track);
  a.Field("measured", h.measured);
  a.Field("root_compliance_m_per_N", h.root_compliance_m_per_N);
  a.Field("time_constant_s", h.time_constant_s);
  a.Field("assumed_dofs", h.assumed_dofs);
}
template <typename A>
void Visit(A& a, StageSensor& s) {
  a.Field("name", s.name);
  a.Choice("kind", s.kind, {"six-axis", "normal", "array"});
  a.Field("mounted_on", s.mounted_on);
  a.Field("X_MS", s.X_MS);
  a.Field("normal_S", s.normal_S);
}

}  // namespace handhold::artefact
