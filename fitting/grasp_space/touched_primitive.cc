#include "fitting/grasp_space/touched_primitive.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <Eigen/Geometry>

#include "database/model/grasp_taxonomy.h"
#include "database/model/kinematics.h"

namespace handhold::fitting {
namespace {

using artefact::ContactRow;
using artefact::ContactTrack;
using artefact::Touch;
using geometry::Bounds;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr Duration kSameMoment = Duration::Milliseconds(20);
/// Of two sizes across a cylinder or sphere: the smaller at least so much of the larger.
constexpr double kRound = 0.8;

/// The index of the nearest of ascending times; none within kSameMoment: empty.
std::optional<size_t> NearestTime(const std::vector<Timestamp>& times, Timestamp t) {
  const auto after = std::ranges::lower_bound(times, t);
  std::optional<size_t> best;
  Duration least = kSameMoment;
  for (const auto at : {after, after == times.begin() ? after : std::prev(after)}) {
    if (at == times.end()) continue;
    const Duration off = *at < t ? t - *at : *at - t;
    if (off > least) continue;
    least = off;
    best = static_cast<size_t>(at - times.begin());
  }
  return best;
}

geometry::Shape ShapeOf(const Primitive& p) {
  if (p.kind == "sphere") return geometry::Sphere{p.half_size_m.x()};
  if (p.kind == "box") return geometry::Box{2.0 * p.half_size_m};
  return geometry::Cylinder{p.half_size_m.x(), 2.0 * p.half_size_m.z()};
}

Primitive Cylinder(double radius_m, double half_length_m, const RigidTransform& X_SO) {
  return {half_length_m < radius_m ? "disk" : "cylinder", Vec3(radius_m, radius_m, half_length_m),
          X_SO};
}

Primitive OfMesh(const geometry::Mesh& mesh) {
  const Bounds bounds = geometry::BoundsOf(mesh);
  const Vec3 half = 0.5 * (bounds.max - bounds.min);
  const RigidTransform X_SO = RigidTransform::Translation(0.5 * (bounds.min + bounds.max));
  std::vector<Primitive> candidates = {{"box", half, X_SO}};
  for (int axis = 0; axis < 3; ++axis) {
    const double a = half[(axis + 1) % 3], b = half[(axis + 2) % 3];
    if (std::min(a, b) < kRound * std::max(a, b)) continue;
    RigidTransform X = X_SO;
    X.R = Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), Vec3::Unit(axis)).toRotationMatrix();
    candidates.push_back(Cylinder(0.5 * (a + b), half[axis], X));
  }
  if (half.minCoeff() >= kRound * half.maxCoeff())
    candidates.push_back({"sphere", Vec3::Constant(half.mean()), X_SO});
  const Primitive* best = nullptr;
  for (Primitive& one : candidates) {
    const geometry::Shape shape = ShapeOf(one);
    const RigidTransform X_OS = one.X_SO.Inverse();
    const auto off = [&](const Vec3& p_S) {
      return std::abs(geometry::SignedDistance(shape, X_OS * p_S).distance_m);
    };
    double sum = 0.0, area = 0.0;
    for (const auto& triangle : mesh.triangles) {
      const Vec3 &a = mesh.vertices[triangle[0]], &b = mesh.vertices[triangle[1]],
                 &c = mesh.vertices[triangle[2]];
      const double weight = 0.5 * (b - a).cross(c - a).norm();
      sum += weight * (off(a) + off(b) + off(c) + off((a + b + c) / 3.0)) / 4.0;
      area += weight;
    }
    one.off_m = area > 0 ? sum / area : 0.0;
    if (best == nullptr || one.off_m < best->off_m) best = &one;
  }
  return *best;
}

enum class Part { kPalm, kThumb, kFinger };

Part PartOf(const model::Skeleton& skeleton, const artefact::Side& side) {
  const std::string& body = skeleton.body(side.body).name;
  const auto has = [&](std::string_view word) {
    return side.site.find(word) != std::string::npos || body.find(word) != std::string::npos;
  };
  if (has("thumb")) return Part::kThumb;
  const bool digit = has("index") || has("middle") || has("ring") || has("little");
  return digit && !body.ends_with(".mtc") ? Part::kFinger : Part::kPalm;
}

/// The hand's root in the world: where its shape at the root's zero has been moved to.
RigidTransform RootOf(const model::Skeleton& skeleton, const Eigen::VectorXd& q,
                      const Eigen::VectorXd& shape_v) {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(skeleton.nv());
  v.tail(shape_v.size()) = shape_v;
  model::KinematicsData moved(skeleton), at_zero(skeleton);
  model::ComputePoses(skeleton, q, &moved);
  model::ComputePoses(skeleton, skeleton.Integrate(skeleton.ZeroConfiguration(), v), &at_zero);
  return moved.X_WB[1] * at_zero.X_WB[1].Inverse();
}

/// What presses at one moment.
struct Pressing {
  const Touch* touch;
  const ContactRow* row;  ///< null: the sensor has none then
};

}  // namespace

Primitive PrimitiveOf(const geometry::Shape& shape) {
  struct Visitor {
    Primitive operator()(const geometry::Sphere& s) const {
      return {"sphere", Vec3::Constant(s.radius_m), {}};
    }
    Primitive operator()(const geometry::Capsule& s) const {
      Primitive one = Cylinder(s.radius_m, 0.5 * s.length_m + s.radius_m, {});
      if (s.length_m == 0) one = {"sphere", Vec3::Constant(s.radius_m), {}};
      return one;
    }
    Primitive operator()(const geometry::Box& s) const { return {"box", 0.5 * s.size_m, {}}; }
    Primitive operator()(const geometry::Cylinder& s) const {
      return Cylinder(s.radius_m, 0.5 * s.length_m, {});
    }
    Primitive operator()(const geometry::ConvexHull& s) const { return OfMesh(s.surface->mesh()); }
    Primitive operator()(const geometry::TriangleMesh& s) const {
      return OfMesh(s.surface->mesh());
    }
  };
  return std::visit(Visitor{}, shape);
}

Touched TakePrimitive(const model::Skeleton& skeleton, const artefact::PoseTrack& track, int frame,
                      const TakeTouches& touches, artefact::GraspTemplate* grasp) {
  const Timestamp t = track.times[static_cast<size_t>(frame)];
  std::map<std::string, std::vector<Pressing>> by_thing;
  for (const ContactTrack& contacts : touches.contacts) {
    const std::optional<size_t> at = NearestTime(contacts.times, t);
    for (size_t i = 0; i < contacts.touches.size(); ++i) {
      const Touch& touch = contacts.touches[i];
      if (!touch.a.is_hand() || touch.b.is_hand() || t < touch.onset || t > touch.release) continue;
      Pressing pressing{&touch, nullptr};
      for (const ContactRow& row : contacts.rows) {
        if (at && row.touch == static_cast<int>(i) && row.frame == static_cast<int>(*at))
          pressing.row = &row;
      }
      by_thing[touch.b.name].push_back(pressing);
    }
  }
  if (by_thing.empty()) return Touched::kNothing;
  const std::vector<Pressing>* held = nullptr;
  const PlacedThing* thing = nullptr;
  double most = -1.0;
  for (const auto& [name, pressing] : by_thing) {
    const auto placed = touches.things.find(name);
    if (placed == touches.things.end() || placed->second.prop.shapes.empty()) continue;
    double force = 0.0;
    for (const Pressing& p : pressing) force += p.row != nullptr ? p.row->f_onA_W.norm() : 0.0;
    if (force > most) most = force, held = &pressing, thing = &placed->second;
  }
  if (thing == nullptr) return Touched::kUnknown;
  std::optional<size_t> when = 0;
  if (!thing->times.empty()) when = NearestTime(thing->times, t);
  if (!when || *when >= thing->X_WT.size()) return Touched::kUnknown;
  const RigidTransform& X_WT = thing->X_WT[*when];
  const RigidTransform X_HW = RootOf(skeleton, track.q.col(frame), grasp->pose_v).Inverse();

  model::KinematicsData data(skeleton);
  model::ComputePoses(skeleton, track.q.col(frame), &data);
  Vec3 middle_W = Vec3::Zero();
  std::array<Vec3, 3> outward_H = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};  // per Part
  for (const Pressing& p : *held) {
    const auto body = static_cast<size_t>(p.touch->a.body);
    const bool known = p.row != nullptr && p.row->p_W.allFinite();
    const Vec3 p_W = known ? p.row->p_W : data.X_WB[body].p;
    middle_W += p_W / static_cast<double>(held->size());
    // Out of the thing: the contact's normal, else its force on the hand, else from the middle.
    Vec3 out_W = p_W - X_WT.p;
    if (p.row != nullptr && p.row->f_onA_W.norm() > 0) out_W = p.row->f_onA_W;
    if (p.row != nullptr && p.row->normal_W.allFinite()) out_W = p.row->normal_W;
    outward_H[static_cast<size_t>(PartOf(skeleton, p.touch->a))] +=
        X_HW.R * out_W.stableNormalized();
  }
  std::vector<geometry::PosedShape> shapes;
  for (const model::PropShape& s : thing->prop.shapes) shapes.push_back({s.shape, s.X_PS});
  const size_t touched = geometry::SignedDistanceToUnion(shapes, X_WT.Inverse() * middle_W).index;
  const Primitive primitive = PrimitiveOf(shapes[touched].shape);
  grasp->primitive = primitive.kind;
  grasp->half_size_m = primitive.half_size_m;
  grasp->X_HO = X_HW * X_WT * shapes[touched].X_GS * primitive.X_SO;
  const Vec3 &palm = outward_H[0], &thumb = outward_H[1], &fingers = outward_H[2];
  const Vec3 axis_H = palm.norm() > 1e-6    ? Vec3(-palm)
                      : thumb.norm() > 1e-6 ? Vec3(-thumb)
                                            : fingers;
  if (axis_H.norm() > 1e-6) grasp->opposition_H = axis_H.normalized();
  const model::GraspTypeRow* row = model::FindFeix(grasp->type);
  grasp->precision = palm.norm() <= 1e-6 && (row == nullptr || !row->power);
  return Touched::kThing;
}

}  // namespace handhold::fitting
