#include "database/artefact/stage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "database/base/check.h"
#include "database/base/names.h"
#include "database/geometry/inertia.h"
#include "database/geometry/rotation.h"
#include "database/recording/force_sensor.h"
#include "database/recording/thing.h"

namespace handhold::artefact {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using Is = StageThing::Is;

template <typename T>
std::string FreeName(const std::vector<T>& list, const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; FindNamed(list, name) != nullptr; ++n) name = wanted + "." + std::to_string(n);
  return name;
}

bool IsPose(const RigidTransform& X) { return X.p.allFinite() && recording::IsRotation(X.R); }
bool IsUnit(const Vec3& v) { return std::abs(v.norm() - 1.0) < 1e-6; }
bool IsNumber(double v) { return std::isfinite(v) && v >= 0.0; }

/// Says who is meant, once.
class Finding {
 public:
  Finding(const char* what, const std::string& name)
      : who_(std::string(what) + " '" + name + "': ") {}
  Error operator()(const std::string& what) const { return {ErrorCode::kInvalid, who_ + what}; }

 private:
  std::string who_;
};

template <typename T>
Status CheckNames(const std::vector<T>& list, const char* what) {
  std::set<std::string> names;
  for (const T& one : list) {
    if (one.name.empty())
      return Error{ErrorCode::kInvalid, std::string("a ") + what + " without a name"};
    if (!names.insert(one.name).second)
      return Error{ErrorCode::kInvalid,
                   std::string("two ") + what + "s are called '" + one.name + "'"};
  }
  return {};
}

Status CheckSlider(const StageSlider& slider, const Finding& wrong) {
  if (!IsUnit(slider.axis_P)) return wrong("the axis of its slider is not of length 1");
  if (!IsNumber(slider.damping_Ns_per_m) || !IsNumber(slider.dry_friction_N))
    return wrong("damping and dry friction of its slider are finite and not below 0");
  const double lower = slider.lower_m.value_or(0.0), upper = slider.upper_m.value_or(0.0);
  if (!(lower <= 0.0) || !(upper >= 0.0) || !std::isfinite(lower) || !std::isfinite(upper))
    return wrong("it begins outside the ends of its slider");
  return {};
}

Status CheckThing(const StageThing& thing) {
  const Finding wrong("thing", thing.name);
  if (thing.X_WP && !IsPose(*thing.X_WP)) return wrong("its pose is no pose");
  if (!thing.omega_P.allFinite() || !thing.v_P.allFinite())
    return wrong("its first velocity is not finite");
  if (!(thing.scale > 0.0) || !std::isfinite(thing.scale)) return wrong("its scale is not above 0");
  if (thing.mass_kg && !IsNumber(*thing.mass_kg)) return wrong("its mass is no mass");
  if (thing.friction && !IsNumber(*thing.friction)) return wrong("its friction is below 0");
  if (thing.compliance_m_per_N && !IsNumber(*thing.compliance_m_per_N))
    return wrong("the compliance of its surface is below 0");
  switch (thing.is) {
    case Is::kUnknown:
    case Is::kFixed:
    case Is::kFree:
      return {};
    case Is::kPivot:
      if (!IsUnit(thing.pivot.axis_P)) return wrong("the axis of its pivot is not of length 1");
      if (!thing.pivot.p_P.allFinite() || !IsNumber(thing.pivot.damping_Nms_per_rad))
        return wrong("its pivot's place and damping are finite, the damping not below 0");
      return {};
    case Is::kSlider:
      return CheckSlider(thing.slider, wrong);
    case Is::kTrack:
      if (!thing.track.said()) return wrong("it goes along a track: say which");
      return {};
    case Is::kMeasured:
      if (thing.measured.stream.empty() || thing.measured.items.empty())
        return wrong("it was measured: say in which stream, and which items of it");
      return {};
  }
  return {};
}

Status CheckHand(const StageHand& hand) {
  const Finding wrong("hand", hand.name);
  if (!IsPose(hand.X_WH)) return wrong("the pose of its world is no pose");
  if (!hand.q.allFinite()) return wrong("where it begins is not finite");
  if (!(hand.scale > 0.0) || !std::isfinite(hand.scale)) return wrong("its scale is not above 0");
  const int leaders = (hand.trajectory.said() ? 1 : 0) + (hand.poses.said() ? 1 : 0) +
                      (hand.impedance.q_rest.size() > 0 ? 1 : 0);
  if (leaders > 1)
    return wrong("its joints follow a trajectory, given poses or springs: say one of them");
  if (hand.wrist.empty() == hand.wrist_track.said())
    return wrong("a body that is led and the track that leads it are said together");
  const StageImpedance& springs = hand.impedance;
  for (const Eigen::VectorXd* gains :
       {&springs.stiffness_Nm_per_rad, &springs.damping_Nms_per_rad}) {
    if (gains->size() > 0 && (!gains->allFinite() || gains->minCoeff() < 0.0))
      return wrong("stiffness and damping of its joints are finite and not below 0");
  }
  if (!springs.q_rest.allFinite()) return wrong("where its springs pull to is not finite");
  if (hand.root_compliance_m_per_N && !IsNumber(*hand.root_compliance_m_per_N))
    return wrong("the compliance of its root is below 0");
  return {};
}

/// The sizes of what is said against the skeleton that is there.
Status CheckHandFits(const StageHand& hand) {
  const Finding wrong("hand", hand.name);
  if (!hand.skeleton.there()) return wrong("its skeleton has not been looked up");
  const model::Skeleton& skeleton = *hand.skeleton;
  const auto fits = [](const Eigen::VectorXd& v, int n) { return v.size() == 0 || v.size() == n; };
  if (!fits(hand.q, skeleton.nq()) || !fits(hand.impedance.q_rest, skeleton.nq()) ||
      !fits(hand.impedance.stiffness_Nm_per_rad, skeleton.nv()) ||
      !fits(hand.impedance.damping_Nms_per_rad, skeleton.nv()) ||
      !fits(hand.time_constant_s, skeleton.nv()))
    return wrong("its numbers do not fit '" + skeleton.name() + "'");
  if (!hand.wrist.empty() && skeleton.FindBody(hand.wrist) < 0)
    return wrong("'" + skeleton.name() + "' has no body '" + hand.wrist + "'");
  const bool led = hand.trajectory.there() || hand.poses.there();
  if (hand.trajectory.said() && !hand.trajectory.there())
    return wrong("its trajectory has not been looked up");
  if (hand.poses.said() && !hand.poses.there()) return wrong("its poses have not been looked up");
  if (hand.wrist_track.said() && !hand.wrist_track.there())
    return wrong("the track of its wrist has not been looked up");
  if (!led && hand.q.size() == 0) return wrong("nobody says where it begins");
  return {};
}

Status CheckThingPlays(const StageThing& thing) {
  const Finding wrong("thing", thing.name);
  if (!thing.prop.there()) return wrong("its prop has not been looked up");
  if (thing.is == Is::kUnknown) return wrong("nobody said where it is");
  if (thing.is == Is::kMeasured)
    return wrong("it was measured in '" + thing.measured.stream + "': fit its track first");
  if (thing.is == Is::kTrack) {
    if (!thing.track.there()) return wrong("its track has not been looked up");
    const ObjectTrack& track = *thing.track;
    if (track.times.empty() || track.X_WT.size() != track.times.size())
      return wrong("its track has no frame");
  } else if (!thing.X_WP) {
    return wrong("nobody said where it is");
  }
  if (!thing.yields()) return {};
  if (!(thing.prop->mass.mass_kg > 0.0))
    return wrong("it has no mass: give it one, or place it as fixed");
  if (const Status mass = geometry::CheckMass(thing.prop->mass); !mass)
    return wrong(mass.error().message);
  return {};
}

Result<geometry::Shape> Scaled(const geometry::Shape& shape, double factor) {
  geometry::Shape out = shape;
  if (auto* sphere = std::get_if<geometry::Sphere>(&out)) {
    sphere->radius_m *= factor;
  } else if (auto* capsule = std::get_if<geometry::Capsule>(&out)) {
    capsule->radius_m *= factor, capsule->length_m *= factor;
  } else if (auto* box = std::get_if<geometry::Box>(&out)) {
    box->size_m *= factor;
  } else if (auto* cylinder = std::get_if<geometry::Cylinder>(&out)) {
    cylinder->radius_m *= factor, cylinder->length_m *= factor;
  } else if (const auto* hull = std::get_if<geometry::ConvexHull>(&shape)) {
    std::vector<Vec3> points = hull->surface->mesh().vertices;
    for (Vec3& p : points) p *= factor;
    HANDHOLD_ASSIGN(out, geometry::MakeConvexHull(points));
  } else {
    geometry::Mesh mesh = std::get<geometry::TriangleMesh>(shape).surface->mesh();
    for (Vec3& p : mesh.vertices) p *= factor;
    HANDHOLD_ASSIGN(out, geometry::MakeTriangleMesh(std::move(mesh)));
  }
  return out;
}

/// A prop that says no mass, or none that anything can move with, is solid: an open mesh as its
/// hull.
Status Weigh(const StageThing& thing, model::Prop* prop) {
  if (!geometry::CheckMass(prop->mass)) {
    std::vector<geometry::MassProperties> parts;
    for (const model::PropShape& shape : prop->shapes) {
      HANDHOLD_ASSIGN(const geometry::MassProperties part,
                      geometry::MassOf(shape.shape, 1000.0, geometry::OpenMesh::kUseHull));
      parts.push_back(geometry::Transformed(shape.X_PS, part));
    }
    const double known_kg = prop->mass.mass_kg;
    prop->mass = geometry::Composed(parts);
    if (!(prop->mass.mass_kg > 0.0)) {
      return Error{ErrorCode::kInvalid,
                   "'" + prop->name + "' has no volume: it cannot be moved by forces"};
    }
    prop->mass = geometry::WithTotalMass(prop->mass, known_kg > 0.0 ? known_kg : kUnweighed_kg);
  }
  if (thing.mass_kg) prop->mass = geometry::WithTotalMass(prop->mass, *thing.mass_kg);
  return {};
}

}  // namespace

std::string_view StageIsName(Is is) {
  constexpr std::array<std::string_view, 7> kNames = {"unknown", "fixed", "free",    "pivot",
                                                      "slider",  "track", "measured"};
  return kNames[static_cast<size_t>(is)];
}

const StageThing* Stage::FindThing(std::string_view wanted) const {
  return FindNamed(things, wanted);
}
const StageHand* Stage::FindHand(std::string_view wanted) const { return FindNamed(hands, wanted); }

const StageThing* Stage::Judged() const {
  if (!judged.empty()) return FindThing(judged);
  const auto free = std::ranges::find(things, Is::kFree, &StageThing::is);
  return free == things.end() ? nullptr : &*free;
}

StageThing& Stage::Add(StageThing thing) {
  if (thing.name.empty()) thing.name = thing.prop.there() ? thing.prop->name : thing.prop.key;
  thing.name = FreeName(things, thing.name);
  return things.emplace_back(std::move(thing));
}
StageHand& Stage::Add(StageHand hand) {
  hand.name = FreeName(hands, hand.name);
  return hands.emplace_back(std::move(hand));
}

Status CheckStage(const Stage& stage) {
  HANDHOLD_TRY(CheckNames(stage.hands, "hand"));
  HANDHOLD_TRY(CheckNames(stage.things, "thing"));
  HANDHOLD_TRY(CheckNames(stage.sensors, "sensor"));
  for (const StageHand& hand : stage.hands) HANDHOLD_TRY(CheckHand(hand));
  std::vector<std::string> names, free;
  for (const StageThing& thing : stage.things) {
    HANDHOLD_TRY(CheckThing(thing));
    names.push_back(thing.name);
    if (thing.is == Is::kFree) free.push_back(thing.name);
  }
  for (const StageSensor& sensor : stage.sensors) {
    const Finding wrong("sensor", sensor.name);
    if (!IsPose(sensor.X_MS) || !IsUnit(sensor.normal_S))
      return wrong("its pose is a pose, its normal of length 1");
    if (!sensor.mounted_on.empty() && stage.FindThing(sensor.mounted_on) == nullptr)
      return wrong("it sits on '" + sensor.mounted_on + "', which is not there" +
                   DidYouMean(sensor.mounted_on, names));
  }
  if (!stage.gravity_W.allFinite()) return Error{ErrorCode::kInvalid, "gravity is not finite"};
  if (!stage.judged.empty() && std::ranges::count(free, stage.judged) == 0) {
    return Error{ErrorCode::kInvalid,
                 "judged: no free thing '" + stage.judged + "'" + DidYouMean(stage.judged, free)};
  }
  if (stage.hold && !(stage.hold->end > stage.hold->begin))
    return Error{ErrorCode::kInvalid, "a hold ends after it begins"};
  return {};
}

Status CheckPlayable(const Stage& stage) {
  HANDHOLD_TRY(CheckStage(stage));
  for (const StageHand& hand : stage.hands) HANDHOLD_TRY(CheckHandFits(hand));
  for (const StageThing& thing : stage.things) HANDHOLD_TRY(CheckThingPlays(thing));
  return {};
}

Result<model::Prop> ScaledProp(model::Prop prop, double factor) {
  for (model::PropShape& shape : prop.shapes) {
    HANDHOLD_ASSIGN(shape.shape, Scaled(shape.shape, factor));
    shape.X_PS.p *= factor;
  }
  prop.mass.p_BCom *= factor;
  prop.mass.I_BCom_B *= factor * factor;
  for (model::GraspRegion& region : prop.grasp_regions)
    region.p_P *= factor, region.radius_m *= factor;
  for (model::PropMarker& marker : prop.markers) marker.p_P *= factor;
  char note[48];
  std::snprintf(note, sizeof note, "; scaled by %g", factor);
  prop.source += note;
  return prop;
}

Status Dress(model::Prop prop, StageThing* thing) {
  if (thing->yields()) HANDHOLD_TRY(Weigh(*thing, &prop));
  if (thing->friction) prop.friction = *thing->friction;
  if (thing->compliance_m_per_N) prop.surface_compliance_m_per_N = *thing->compliance_m_per_N;
  if (thing->yields()) thing->mass_kg = prop.mass.mass_kg;
  thing->friction = prop.friction;
  thing->compliance_m_per_N = prop.surface_compliance_m_per_N;
  thing->prop.value = std::make_shared<const model::Prop>(std::move(prop));
  return {};
}

StageThing Placed(const model::Prop& prop, const RigidTransform& X_WP, Is is,
                  std::optional<double> mass_kg, std::optional<double> friction) {
  StageThing thing{
      .name = prop.name, .is = is, .X_WP = X_WP, .mass_kg = mass_kg, .friction = friction};
  thing.prop.key = prop.name;
  const Status dressed = Dress(prop, &thing);
  CHECK(dressed.has_value());
  return thing;
}

model::Prop TableProp() {
  model::Prop table;
  table.name = "table";
  table.source = "Ours: a fixed table of 1 x 1 m, 1 m thick; T is the middle of its top, z up.";
  table.shapes.push_back({"top", RigidTransform::Translation(Vec3(0, 0, -0.5 * kTableSide_m)),
                          geometry::Box{Vec3::Constant(kTableSide_m)}, "ours"});
  return table;
}

StageThing TableAt(const Vec3& p_W) {
  return Placed(TableProp(), RigidTransform::Translation(p_W), Is::kFixed);
}

StageThing TableUnder(const StageThing& thing) {
  const RigidTransform& X = *thing.X_WP;
  return TableAt(Vec3(X.p.x(), X.p.y(), model::LowestAlong(*thing.prop, X, Vec3::UnitZ())));
}

BearingInWorld BearingOf(const StageThing& thing) {
  CHECK(thing.X_WP.has_value());
  return {*thing.X_WP * thing.pivot.p_P, (thing.X_WP->R * thing.pivot.axis_P).normalized()};
}

Result<RigidTransform> PoseAt(const StageThing& thing, Timestamp t) {
  const Finding wrong("thing", thing.name);
  if (thing.is == Is::kFixed && thing.X_WP) return *thing.X_WP;
  if (thing.is != Is::kTrack || !thing.track.there() || thing.track->times.empty())
    return wrong("nobody says where it is at " + FormatSeconds(t - Timestamp()));
  const ObjectTrack& track = *thing.track;
  const auto after = std::ranges::lower_bound(track.times, t);
  if (after == track.times.begin()) return track.X_WT.front();
  if (after == track.times.end()) return track.X_WT.back();
  const auto k = static_cast<size_t>(after - track.times.begin());
  const RigidTransform &a = track.X_WT[k - 1], &b = track.X_WT[k];
  const double share = static_cast<double>((t - track.times[k - 1]).ns()) /
                       static_cast<double>((track.times[k] - track.times[k - 1]).ns());
  return RigidTransform{
      a.R * geometry::Exp<double>(share * geometry::Log(geometry::Mat3(a.R.transpose() * b.R))),
      a.p + share * (b.p - a.p)};
}

Result<RigidTransform> SensorPoseAt(const Stage& stage, const StageSensor& sensor, Timestamp t) {
  if (sensor.mounted_on.empty()) return sensor.X_MS;
  const StageThing* thing = stage.FindThing(sensor.mounted_on);
  if (thing == nullptr) return Finding("sensor", sensor.name)("what it sits on is not there");
  HANDHOLD_ASSIGN(const RigidTransform X_WT, PoseAt(*thing, t));
  return X_WT * sensor.X_MS;
}

Stage StageOfTake(const recording::ClipInfo& info,
                  const std::vector<recording::ForceSensor>& sensors) {
  using recording::Thing;
  Stage stage{.name = info.name};
  for (const Thing& thing : info.things) {
    const bool measured =
        thing.pose == Thing::Pose::kRigidPoses || thing.pose == Thing::Pose::kMarkers;
    StageMeasured where;
    if (measured) where = {thing.stream, thing.items};
    if (thing.kind == Thing::Kind::kHand) {
      StageHand hand{.name = thing.name, .measured = std::move(where)};
      hand.skeleton.key = thing.model;
      if (thing.pose == Thing::Pose::kFixed) hand.X_WH = thing.X_WT;
      stage.hands.push_back(std::move(hand));
      continue;
    }
    StageThing there{.name = thing.name, .is = Is::kUnknown, .measured = std::move(where)};
    there.prop.key = thing.model;
    if (measured) there.is = Is::kMeasured;
    if (thing.pose == Thing::Pose::kFixed) there.is = Is::kFixed, there.X_WP = thing.X_WT;
    stage.things.push_back(std::move(there));
  }
  for (const recording::ForceSensor& sensor : sensors)
    stage.sensors.push_back({.name = sensor.name,
                             .mounted_on = sensor.mounted_on,
                             .X_MS = sensor.X_MS,
                             .normal_S = sensor.normal_S});
  return stage;
}

Stage StageOfGrasp(const Grasp& grasp) {
  Stage stage{.name = grasp.name, .gravity_W = Vec3::Zero()};
  StageHand hand{.X_WH = grasp.X_PH, .q = grasp.q};
  hand.skeleton = {.key = grasp.skeleton_name, .hash = grasp.skeleton_hash};
  hand.impedance.q_rest = grasp.q_squeeze;
  stage.hands.push_back(std::move(hand));
  StageThing thing{.name = grasp.prop, .is = Is::kFree, .X_WP = RigidTransform()};
  thing.prop = {.key = grasp.prop, .hash = grasp.prop_hash};
  stage.things.push_back(std::move(thing));
  return stage;
}

}  // namespace handhold::artefact
