#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "database/base/check.h"
#include "database/base/names.h"
#include "database/geometry/mesh.h"
#include "database/geometry/mesh_tree.h"
#include "database/model/hand_library.h"

namespace handhold::model {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Shape;
using geometry::Vec3;

const Vec3 kMirror(1, -1, 1);

Vec3 MirrorPoint(const Vec3& p) { return kMirror.cwiseProduct(p); }
/// Angular velocities and rotation axes are axial: they turn over once more.
Vec3 MirrorAxial(const Vec3& w) { return -MirrorPoint(w); }
Mat3 MirrorMatrix(const Mat3& m) { return kMirror.asDiagonal() * m * kMirror.asDiagonal(); }
RigidTransform MirrorPose(const RigidTransform& X) { return {MirrorMatrix(X.R), MirrorPoint(X.p)}; }

std::string MirrorName(const std::string& name) {
  if (name.rfind("R.", 0) == 0) return "L." + name.substr(2);
  if (name.rfind("L.", 0) == 0) return "R." + name.substr(2);
  return name;
}

/// The shape with its vertices moved by `move`, when it has any; `turn_over` when move is a
/// reflection.
template <typename Move>
Shape MoveVertices(const Shape& shape, bool turn_over, Move move) {
  const auto moved = [&](const geometry::MeshTree& tree) {
    geometry::Mesh mesh = tree.mesh();
    for (Vec3& v : mesh.vertices) v = move(v);
    if (turn_over) mesh = geometry::TurnedOver(std::move(mesh));
    return geometry::MeshTree::Build(std::move(mesh)).value();
  };
  if (const auto* hull = std::get_if<geometry::ConvexHull>(&shape)) {
    return geometry::ConvexHull{moved(*hull->surface)};
  }
  if (const auto* mesh = std::get_if<geometry::TriangleMesh>(&shape)) {
    return geometry::TriangleMesh{moved(*mesh->surface)};
  }
  return shape;
}

void MirrorJoint(Joint* joint) {
  joint->name = MirrorName(joint->name);
  joint->X_PJp = MirrorPose(joint->X_PJp);
  joint->X_BJc = MirrorPose(joint->X_BJc);
  for (Vec3& axis : joint->axes) axis = MirrorAxial(axis);
  if (joint->type != JointType::kBall) return;
  for (int k : {0, 2}) {  // twist and abduction change sign, and so change places
    std::swap(joint->lower_rad[k], joint->upper_rad[k]);
    joint->lower_rad[k] *= -1;
    joint->upper_rad[k] *= -1;
  }
}

constexpr char kMirroredNote[] = "; mirrored";
constexpr char kScaledKey[] = "scaled";

/// `source` of numbers that scaling changed: what it was, and the key of the note that tells how.
void MarkScaled(std::string* source) {
  const std::string suffix = std::string("; ") + kScaledKey;
  if (*source == kScaledKey || source->ends_with(suffix)) return;
  *source = source->empty() ? kScaledKey : *source + suffix;
}

/// What was done, under the key that MarkScaled writes; a second scaling is told after the first.
void NoteScaling(const std::string& what, SkeletonDraft* draft) {
  for (SourceNote& note : draft->sources) {
    if (note.key != kScaledKey) continue;
    note.text += "; then " + what;
    return;
  }
  draft->sources.push_back({kScaledKey, "from the numbers named before it: " + what});
}

std::string Shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

/// Of a body whose own frame was scaled: its length and mass, unless they have none to scale.
void MarkBodyScaled(Body* body) {
  MarkScaled(&body->source);
  if (!body->mass_source.empty() && body->mass.mass_kg != 0) MarkScaled(&body->mass_source);
  for (BodyShape& shape : body->shapes) MarkScaled(&shape.source);
}

/// One body's own frame stretched along x.
struct Stretch {
  double factor;
  Vec3 operator()(const Vec3& p) const { return {factor * p.x(), p.y(), p.z()}; }
};

geometry::MassProperties StretchMass(const geometry::MassProperties& m, const Stretch& stretch) {
  if (m.mass_kg == 0) return m;
  // The second moments sum(r r^T dm) stretch with the points; inertia is trace - second moments.
  Mat3 second = 0.5 * m.I_BCom_B.trace() * Mat3::Identity() - m.I_BCom_B;
  const Vec3 d(stretch.factor, 1, 1);
  second = (stretch.factor * (d.asDiagonal() * second * d.asDiagonal())).eval();
  geometry::MassProperties out;
  out.mass_kg = stretch.factor * m.mass_kg;
  out.p_BCom = stretch(m.p_BCom);
  out.I_BCom_B = second.trace() * Mat3::Identity() - second;
  return out;
}

/// Points move, radii stay; lengths of what lies along x stretch.
BodyShape StretchShape(BodyShape shape, const Stretch& stretch) {
  const RigidTransform X = shape.X_BS;
  shape.X_BS.p = stretch(X.p);
  const auto along = [&](const Vec3& axis_S) {
    return stretch(X.R * axis_S).norm();  // factor along x, 1 across
  };
  if (auto* capsule = std::get_if<geometry::Capsule>(&shape.shape)) {
    capsule->length_m *= along(Vec3::UnitZ());
  } else if (auto* cylinder = std::get_if<geometry::Cylinder>(&shape.shape)) {
    cylinder->length_m *= along(Vec3::UnitZ());
  } else if (auto* box = std::get_if<geometry::Box>(&shape.shape)) {
    for (int k = 0; k < 3; ++k) box->size_m[k] *= along(Vec3::Unit(k));
  } else {
    const RigidTransform X_SB = shape.X_BS.Inverse();
    shape.shape =
        MoveVertices(shape.shape, false, [&](const Vec3& v) { return X_SB * stretch(X * v); });
  }
  return shape;
}

Shape ScaleShape(const Shape& shape, double f) {
  Shape out = MoveVertices(shape, false, [f](const Vec3& v) -> Vec3 { return f * v; });
  if (auto* s = std::get_if<geometry::Sphere>(&out)) s->radius_m *= f;
  if (auto* b = std::get_if<geometry::Box>(&out)) b->size_m *= f;
  if (auto* c = std::get_if<geometry::Capsule>(&out)) c->radius_m *= f, c->length_m *= f;
  if (auto* c = std::get_if<geometry::Cylinder>(&out)) c->radius_m *= f, c->length_m *= f;
  return out;
}

/// The one body on the world, or null.
Body* OnlyBase(SkeletonDraft* draft) {
  const auto on_world = [](const Body& body) { return body.parent == 0; };
  const auto base = std::find_if(draft->bodies.begin(), draft->bodies.end(), on_world);
  return std::count_if(draft->bodies.begin(), draft->bodies.end(), on_world) == 1 ? &*base
                                                                                  : nullptr;
}

}  // namespace

Skeleton Mirrored(const Skeleton& skeleton) {
  SkeletonDraft draft = skeleton.draft();
  if (!draft.side.empty()) draft.side = draft.side == "right" ? "left" : "right";
  if (draft.source.ends_with(kMirroredNote)) {
    draft.source.resize(draft.source.size() - std::strlen(kMirroredNote));
  } else {
    draft.source += kMirroredNote;
  }
  for (Body& body : draft.bodies) {
    MirrorJoint(&body.joint);
    body.mass.p_BCom = MirrorPoint(body.mass.p_BCom);
    body.mass.I_BCom_B = MirrorMatrix(body.mass.I_BCom_B);
    for (BodyShape& shape : body.shapes) {
      shape.X_BS = MirrorPose(shape.X_BS);
      shape.shape = MoveVertices(shape.shape, true, MirrorPoint);
    }
  }
  for (MarkerAttachment& marker : draft.markers) {
    marker.name = MirrorName(marker.name);
    marker.p_BM = MirrorPoint(marker.p_BM);
  }
  for (MarkerSet& set : draft.marker_sets) {
    for (std::string& name : set.markers) name = MirrorName(name);
  }
  for (NamedFrame& frame : draft.frames) {
    frame.name = MirrorName(frame.name);
    frame.X_BF = MirrorPose(frame.X_BF);
  }
  for (ContactSite& site : draft.sites) {
    site.name = MirrorName(site.name);
    site.p_BS = MirrorPoint(site.p_BS);
    site.normal_B = MirrorPoint(site.normal_B);
  }
  return Skeleton::Build(std::move(draft)).value();
}

Eigen::VectorXd MirrorConfiguration(const Skeleton& skeleton, const Eigen::VectorXd& q) {
  CHECK_EQ(q.size(), skeleton.nq());
  Eigen::VectorXd out = q;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    int i = skeleton.q_index(b);
    const JointType type = skeleton.body(b).joint.type;
    if (type == JointType::kFree) {
      out[i + 1] *= -1;
      i += 3;
    }
    if (type == JointType::kFree || type == JointType::kBall) {
      out[i + 1] *= -1;
      out[i + 3] *= -1;
    }
  }
  return out;
}

Eigen::VectorXd MirrorVelocity(const Skeleton& skeleton, const Eigen::VectorXd& v) {
  CHECK_EQ(v.size(), skeleton.nv());
  Eigen::VectorXd out = v;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const int i = skeleton.v_index(b);
    const JointType type = skeleton.body(b).joint.type;
    if (type == JointType::kFree || type == JointType::kBall) {
      out[i] *= -1;
      out[i + 2] *= -1;
    }
    if (type == JointType::kFree) out[i + 4] *= -1;
  }
  return out;
}

Result<Skeleton> ScaledToLengths(const Skeleton& skeleton,
                                 const std::map<std::string, double>& length_m) {
  SkeletonDraft draft = skeleton.draft();
  std::vector<std::string> names;
  std::string told;  // what was stretched, for the sources
  std::vector<Stretch> stretches(static_cast<size_t>(skeleton.body_count()), Stretch{1.0});
  for (int b = 1; b < skeleton.body_count(); ++b) names.push_back(skeleton.body(b).name);
  for (const auto& [name, measured_m] : length_m) {
    const int b = skeleton.FindBody(name);
    if (b < 1) {
      return Error{ErrorCode::kNotFound, "no segment '" + name + "' in skeleton '" +
                                             skeleton.name() + "'" + DidYouMean(name, names)};
    }
    const double model_m = skeleton.body(b).length_m;
    if (!(model_m > 0)) {
      return Error{ErrorCode::kInvalid, "segment '" + name + "' of skeleton '" + skeleton.name() +
                                            "' has no length_m to scale from"};
    }
    if (!(measured_m > 0) || !std::isfinite(measured_m)) {
      return Error{ErrorCode::kInvalid,
                   "the measured length of segment '" + name + "' must be positive, in metres"};
    }
    stretches[static_cast<size_t>(b)].factor = measured_m / model_m;
    if (measured_m != model_m) {
      told += (told.empty() ? "stretched along x, the bone, to measured lengths: " : ", ") + name +
              " from " + Shortest(model_m) + " m to " + Shortest(measured_m) + " m";
    }
    draft.bodies[static_cast<size_t>(b) - 1].length_m = measured_m;
  }
  if (told.empty()) return Skeleton::Build(std::move(draft));
  NoteScaling(told, &draft);
  // Where a point moved, its source says so; the stretch of its own frame decides.
  const auto move = [&](int in_body, Vec3* p, std::string* source) {
    const Vec3 to = stretches[static_cast<size_t>(in_body)](*p);
    if (to != *p) MarkScaled(source);
    *p = to;
  };
  for (size_t i = 0; i < draft.bodies.size(); ++i) {
    Body& body = draft.bodies[i];
    const Stretch& own = stretches[i + 1];
    move(body.parent, &body.joint.X_PJp.p, &body.joint.source);
    move(static_cast<int>(i) + 1, &body.joint.X_BJc.p, &body.joint.source);
    if (own.factor == 1.0) continue;
    MarkBodyScaled(&body);
    body.mass = StretchMass(body.mass, own);
    for (BodyShape& shape : body.shapes) shape = StretchShape(std::move(shape), own);
  }
  for (MarkerAttachment& m : draft.markers) move(m.body, &m.p_BM, &m.source);
  for (NamedFrame& f : draft.frames) move(f.body, &f.X_BF.p, &f.source);
  for (ContactSite& s : draft.sites) move(s.body, &s.p_BS, &s.source);
  return Skeleton::Build(std::move(draft));
}

Result<Skeleton> ScaledUniformly(const Skeleton& skeleton, double factor) {
  if (!(factor > 0) || !std::isfinite(factor)) {
    return Error{ErrorCode::kInvalid, "the scale of a skeleton must be positive"};
  }
  SkeletonDraft draft = skeleton.draft();
  if (factor == 1.0) return Skeleton::Build(std::move(draft));
  NoteScaling("all lengths times " + Shortest(factor) + " at the same density", &draft);
  for (Body& body : draft.bodies) {
    MarkBodyScaled(&body);
    MarkScaled(&body.joint.source);
    body.joint.X_PJp.p *= factor;
    body.joint.X_BJc.p *= factor;
    body.length_m *= factor;
    body.mass = geometry::ScaledLengths(body.mass, factor);
    for (BodyShape& shape : body.shapes) {
      shape.X_BS.p *= factor;
      shape.shape = ScaleShape(shape.shape, factor);
    }
  }
  for (MarkerAttachment& m : draft.markers) {
    MarkScaled(&m.source);
    m.p_BM *= factor;
  }
  for (NamedFrame& f : draft.frames) {
    MarkScaled(&f.source);
    f.X_BF.p *= factor;
  }
  for (ContactSite& s : draft.sites) {
    MarkScaled(&s.source);
    s.p_BS *= factor;
  }
  return Skeleton::Build(std::move(draft));
}

Result<Skeleton> WithFreeBase(const Skeleton& skeleton) {
  SkeletonDraft draft = skeleton.draft();
  Body* base = OnlyBase(&draft);
  if (base == nullptr || base->joint.type != JointType::kFixed) {
    return Error{ErrorCode::kInvalid, "skeleton '" + skeleton.name() +
                                          "': a free base needs exactly one body on the world, "
                                          "joined by a fixed joint"};
  }
  base->joint.type = JointType::kFree;
  base->joint.dof_names.clear();
  if (base->joint.name.empty()) base->joint.name = "base";
  return Skeleton::Build(std::move(draft));
}

Result<Skeleton> WithFixedBase(const Skeleton& skeleton, const RigidTransform& X_WB) {
  SkeletonDraft draft = skeleton.draft();
  Body* base = OnlyBase(&draft);
  if (base == nullptr || base->joint.type != JointType::kFree) {
    return Error{ErrorCode::kInvalid, "skeleton '" + skeleton.name() +
                                          "': a fixed base needs exactly one body on the world, "
                                          "joined by a free joint"};
  }
  base->joint.type = JointType::kFixed;
  base->joint.dof_names.clear();
  base->joint.X_PJp = X_WB * base->joint.X_BJc;
  return Skeleton::Build(std::move(draft));
}

Result<Skeleton> WithMarkerSet(const Skeleton& skeleton, const std::string& set) {
  SkeletonDraft draft = skeleton.draft();
  std::vector<std::string> names;
  for (const MarkerSet& s : draft.marker_sets) names.push_back(s.name);
  const auto found = std::find(names.begin(), names.end(), set);
  if (found == names.end()) {
    return Error{ErrorCode::kNotFound, "skeleton '" + skeleton.name() + "' has no marker set '" +
                                           set + "'" + DidYouMean(set, names)};
  }
  const MarkerSet chosen = draft.marker_sets[static_cast<size_t>(found - names.begin())];
  std::erase_if(draft.markers, [&](const MarkerAttachment& m) {
    return std::find(chosen.markers.begin(), chosen.markers.end(), m.name) == chosen.markers.end();
  });
  draft.marker_sets = {chosen};
  return Skeleton::Build(std::move(draft));
}

}  // namespace handhold::model
