#include "synthesis/contact/contact_finder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "database/base/check.h"
#include "database/geometry/distance.h"

namespace handhold::synthesis {

using geometry::Bounds;
using geometry::RigidTransform;
using geometry::Shape;
using geometry::Vec3;

namespace {

constexpr size_t kMostCorners = 64;
constexpr int kRimPoints = 8;
/// Places of a manifold, the low bits of a feature.
constexpr std::uint32_t kMiddle = 0, kLowEnd = 1, kHighEnd = 2;
constexpr std::uint32_t kOfA = 0x100, kOfB = 0x200, kEdgesOfA = 0x300;
/// A nearest point this near to a capsule's end is that end's contact; ends this near to it make
/// none of their own.
constexpr double kEndIsNear_m = 3e-3, kEndsApart_m = 4e-3;
// A capsule lies along a face when its axis is within a quarter radian of it, as far as the face's
// normal stays within 5 degrees; the face is flat when it departs less than this from its chord.
constexpr double kAlong_rad = 0.25, kAligned = 0.9962, kRoundedBy_m = 2e-5;
constexpr int kHalvings = 12;
/// A corner no further beyond the border of a face lies on it.
constexpr double kFlush_m = 1e-9;

bool IsRound(const Shape& shape) {
  return std::holds_alternative<geometry::Sphere>(shape) ||
         std::holds_alternative<geometry::Capsule>(shape);
}

double RadiusOf(const Shape& shape) {
  if (const auto* s = std::get_if<geometry::Sphere>(&shape)) return s->radius_m;
  return std::get<geometry::Capsule>(shape).radius_m;
}
double HalfLengthOf(const Shape& shape) {
  const auto* s = std::get_if<geometry::Capsule>(&shape);
  return s != nullptr ? 0.5 * s->length_m : 0.0;
}

const geometry::MeshTree* MeshOf(const Shape& shape) {
  if (const auto* s = std::get_if<geometry::TriangleMesh>(&shape)) return s->surface.get();
  if (const auto* s = std::get_if<geometry::ConvexHull>(&shape)) return s->surface.get();
  return nullptr;
}

/// Of `points` as many as make `out` `most`, each the farthest from all before it.
void Spread(std::span<const Vec3> points, size_t most, std::vector<Vec3>* out) {
  std::vector<double> nearest(points.size(), std::numeric_limits<double>::infinity());
  const auto farthest_from = [&](const Vec3& taken) {
    size_t farthest = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      nearest[i] = std::min(nearest[i], (points[i] - taken).squaredNorm());
      if (nearest[i] > nearest[farthest]) farthest = i;
    }
    return farthest;
  };
  size_t next = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].squaredNorm() > points[next].squaredNorm()) next = i;
  }
  for (const Vec3& taken : *out) next = farthest_from(taken);
  while (out->size() < most && nearest[next] > 0) {
    out->push_back(points[next]);
    next = farthest_from(out->back());
  }
}

/// What a thing stands on: of each side of its box the vertices that reach it, a few spread ones. A
/// narrow foot (the cap of a light bulb) would have but one of the points that are spread over all.
void AddFeet(const geometry::Mesh& mesh, std::vector<Vec3>* out) {
  constexpr double kReaches_m = 2e-4;
  constexpr size_t kPerFoot = 8;
  geometry::Bounds bounds;
  for (const Vec3& v : mesh.vertices) bounds.Include(v);
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side_m : {bounds.min[axis], bounds.max[axis]}) {
      std::vector<Vec3> foot;
      for (const Vec3& v : mesh.vertices)
        if (std::abs(v[axis] - side_m) < kReaches_m) foot.push_back(v);
      Vec3 middle = Vec3::Zero();
      for (const Vec3& v : foot) middle += v / static_cast<double>(foot.size());
      for (Vec3& v : foot) v -= middle;  // the first is then the farthest from the middle
      std::vector<Vec3> chosen;
      Spread(foot, kPerFoot, &chosen);
      for (const Vec3& v : chosen) out->push_back(v + middle);
    }
  }
}

/// Points of the surface by which a mesh meets what is not round: its vertices; of many, what it
/// stands on and spread ones; where they are few, also points along its edges and over its faces,
/// or a long box would lie on nothing that its corners are not above.
std::vector<Vec3> SurfacePoints(const geometry::Mesh& mesh) {
  std::vector<Vec3> out;
  if (mesh.vertices.size() > kMostCorners) {
    AddFeet(mesh, &out);
    Spread(mesh.vertices, kMostCorners, &out);
    return out;
  }
  out.assign(mesh.vertices.begin(), mesh.vertices.end());
  // Of an edge. A prime, so that round sizes seldom put a point just on the other's border, where
  // its side is as near as its face.
  constexpr int kParts = 13;
  std::vector<Vec3> between;
  for (const auto& t : mesh.triangles) {
    const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
    for (int i = 0; i <= kParts; ++i) {
      for (int j = 0; i + j <= kParts; ++j)
        between.push_back((i * a + j * b + (kParts - i - j) * c) / kParts);
    }
  }
  Spread(between, kMostCorners, &out);
  return out;
}

std::vector<Vec3> CornersOf(const Shape& shape) {
  std::vector<Vec3> corners;
  if (const auto* box = std::get_if<geometry::Box>(&shape)) {
    for (int i = 0; i < 8; ++i) {
      corners.push_back(
          0.5 * box->size_m.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
    }
  } else if (const auto* cylinder = std::get_if<geometry::Cylinder>(&shape)) {
    for (int i = 0; i < 2 * kRimPoints; ++i) {
      const double angle = 2 * M_PI * (i / 2) / kRimPoints;
      corners.emplace_back(cylinder->radius_m * std::cos(angle),
                           cylinder->radius_m * std::sin(angle),
                           (i & 1 ? 0.5 : -0.5) * cylinder->length_m);
    }
  } else if (const geometry::MeshTree* tree = MeshOf(shape)) {
    corners = SurfacePoints(tree->mesh());
  }
  return corners;
}

Bounds Moved(const Bounds& local, const RigidTransform& X) {
  const Vec3 half = X.R.cwiseAbs() * (0.5 * (local.max - local.min));
  const Vec3 middle = X * local.centre();
  Bounds box;
  box.Include(middle - half);
  box.Include(middle + half);
  return box;
}

/// A lower bound of the distance between two boxes.
double Apart(const Bounds& a, const Bounds& b) {
  return (a.min - b.max).cwiseMax(b.min - a.max).cwiseMax(0.0).norm();
}

/// The face of a box that another box is most outside of, or least inside: by all of the other, not
/// by its middle, which for a plank across two blocks lies beside both.
struct BoxFace {
  int axis = 0;
  double side = 1.0;  ///< outwards along the axis: +-1
  double separation_m = 0.0;
};
BoxFace FaceTowards(const Vec3& half_m, const RigidTransform& X_BoxOther,
                    const Vec3& half_of_other_m) {
  BoxFace face;
  face.separation_m = (X_BoxOther.p.cwiseAbs() - half_m - X_BoxOther.R.cwiseAbs() * half_of_other_m)
                          .maxCoeff(&face.axis);
  face.side = X_BoxOther.p[face.axis] > 0 ? 1.0 : -1.0;
  return face;
}

/// The face of box `onto` on which box `from` lies; nothing where they are apart, or where it is an
/// edge or a corner of `onto` that reaches into `from`.
std::optional<BoxFace> FaceUnder(const Shape& onto, const Shape& from, const RigidTransform& X_OF) {
  const auto* box_o = std::get_if<geometry::Box>(&onto);
  const auto* box_f = std::get_if<geometry::Box>(&from);
  if (box_o == nullptr || box_f == nullptr) return std::nullopt;
  const Vec3 half_o = 0.5 * box_o->size_m, half_f = 0.5 * box_f->size_m;
  const BoxFace face = FaceTowards(half_o, X_OF, half_f);
  const BoxFace other = FaceTowards(half_f, X_OF.Inverse(), half_o);
  const bool flat = -face.side * other.side * X_OF.R(face.axis, other.axis) >= kAligned;  // face to
                                                                                          // face
  if (face.separation_m >= 0.0 || (!flat && face.separation_m < other.separation_m))
    return std::nullopt;
  return face;
}

int Rank(const ContactSide& side) {
  return side.kind == ContactSide::Kind::kLink ? 0 : side.kind == ContactSide::Kind::kBody ? 1 : 2;
}

std::uint64_t FeatureOf(int a, int b, std::uint32_t place) {
  return static_cast<std::uint64_t>(a) << 40 | static_cast<std::uint64_t>(b) << 16 | place;
}

}  // namespace

Result<int> ContactFinder::Add(Collider collider) {
  HANDHOLD_TRY(geometry::CheckShape(collider.shape));
  if (collider.law &&
      (!(collider.law->friction >= 0) || !(collider.law->stiffness_N_per_m > 0) ||
       !(collider.law->damping_Ns_per_m >= 0) || !std::isfinite(collider.law->friction) ||
       !std::isfinite(collider.law->damping_Ns_per_m))) {
    return Error{ErrorCode::kInvalid,
                 "a collider's surface needs friction and damping >= 0 and a stiffness > 0"};
  }
  CHECK_LT(colliders_.size(), size_t{1} << 23);
  Placed placed;
  placed.local = geometry::BoundsOf(collider.shape);
  placed.corners_S = CornersOf(collider.shape);
  placed.collider = std::move(collider);
  colliders_.push_back(std::move(placed));
  pairs_made_ = false;
  return static_cast<int>(colliders_.size()) - 1;
}

Result<std::vector<std::string>> ContactFinder::AddSkeleton(const model::Skeleton& skeleton,
                                                            int tree, bool meet_self,
                                                            double goes_over_m) {
  std::vector<std::string> unusable;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Body& body = skeleton.body(b);
    for (const model::BodyShape& shape : body.shapes) {
      if (!IsRound(shape.shape)) {
        unusable.push_back(body.name + "/" + shape.name);
        continue;
      }
      Collider collider;
      collider.side = ContactSide::Link(tree, b);
      collider.shape = shape.shape;
      collider.X_BS = shape.X_BS;
      collider.goes_over_m = goes_over_m;
      HANDHOLD_ASSIGN([[maybe_unused]] const int number, Add(std::move(collider)));
    }
    if (meet_self) {
      Ignore(ContactSide::Link(tree, b), ContactSide::Link(tree, body.parent));
    } else {
      for (int other = 1; other < b; ++other)
        Ignore(ContactSide::Link(tree, b), ContactSide::Link(tree, other));
    }
  }
  return unusable;
}

Status ContactFinder::AddProp(const model::Prop& prop, const ContactSide& side, double friction,
                              double stiffness_N_per_m) {
  SurfaceLaw law;
  law.friction = friction >= 0 ? friction : prop.friction;
  law.stiffness_N_per_m = prop.surface_compliance_m_per_N > 0
                              ? 1.0 / prop.surface_compliance_m_per_N
                              : stiffness_N_per_m;
  for (const model::PropShape& shape : prop.shapes) {
    Collider collider;
    collider.side = side;
    collider.shape = shape.shape;
    collider.X_BS = shape.X_PS;
    collider.law = law;
    HANDHOLD_ASSIGN([[maybe_unused]] const int number, Add(std::move(collider)));
  }
  return {};
}

void ContactFinder::Ignore(const ContactSide& a, const ContactSide& b) {
  ignored_.push_back(std::minmax(a, b));
  pairs_made_ = false;
}

bool ContactFinder::MayMeet(const Placed& a, const Placed& b) const {
  const Collider &x = a.collider, &y = b.collider;
  if (x.side == y.side || (x.side.fixed() && y.side.fixed())) return false;
  if ((x.group & y.meets) == 0 || (y.group & x.meets) == 0) return false;
  return !std::binary_search(ignored_.begin(), ignored_.end(),
                             std::pair<ContactSide, ContactSide>(std::minmax(x.side, y.side)));
}

void ContactFinder::MakePairs() {
  std::sort(ignored_.begin(), ignored_.end());
  pairs_.clear();
  const int n = collider_count();
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      const Placed &a = colliders_[static_cast<size_t>(i)], &b = colliders_[static_cast<size_t>(j)];
      if (!MayMeet(a, b)) continue;
      const bool swap = Rank(b.collider.side) < Rank(a.collider.side);
      pairs_.push_back({swap ? j : i, swap ? i : j, 0});
    }
  }
  const auto side_b = [&](const Pair& p) { return collider(p.b).side; };
  std::sort(pairs_.begin(), pairs_.end(), [&](const Pair& x, const Pair& y) {
    return std::tuple(x.a, side_b(x), x.b) < std::tuple(y.a, side_b(y), y.b);
  });
  for (size_t i = 1; i < pairs_.size(); ++i) {
    const bool same = pairs_[i].a == pairs_[i - 1].a && side_b(pairs_[i]) == side_b(pairs_[i - 1]);
    pairs_[i].union_of = pairs_[i - 1].union_of + (same ? 0 : 1);
  }
  for (size_t i = 0; i < colliders_.size(); ++i) {
    Placed& placed = colliders_[i];
    placed.siblings.clear();
    if (placed.collider.side.kind == ContactSide::Kind::kLink) continue;
    for (size_t j = 0; j < colliders_.size(); ++j) {
      if (i != j && colliders_[j].collider.side == placed.collider.side)
        placed.siblings.push_back(static_cast<int>(j));
    }
  }
  pairs_made_ = true;
}

// What a round shape cannot reach in the other's own frame, where its box is tight.
bool ContactFinder::CulledInFrame(const Placed& round, const Placed& other, double margin_m) const {
  const RigidTransform X_OS = other.X_WS.Inverse() * round.X_WS;
  const Vec3 half = HalfLengthOf(round.collider.shape) * X_OS.R.col(2);
  Bounds axis;
  axis.Include(X_OS.p - half);
  axis.Include(X_OS.p + half);
  return Apart(axis, other.local) >= margin_m + RadiusOf(round.collider.shape);
}

void ContactFinder::Keep(const Pair& pair, const Vec3& p_W, const Vec3& normal_W,
                         double separation_m, std::uint32_t place) {
  const Collider &a = collider(pair.a), &b = collider(pair.b);
  Candidate candidate;
  candidate.contact = {a.side,
                       b.side,
                       FeatureOf(pair.a, pair.b, place),
                       p_W,
                       normal_W,
                       separation_m,
                       LawOf(a.law, b.law)};
  candidate.a = pair.a;
  candidate.b = pair.b;
  found_.push_back(candidate);
}

Status ContactFinder::MeasureRound(const Pair& pair, double margin_m) {
  const Placed &a = colliders_[static_cast<size_t>(pair.a)],
               &b = colliders_[static_cast<size_t>(pair.b)];
  const Shape &shape_a = a.collider.shape, &shape_b = b.collider.shape;
  const double reach = culling_ ? margin_m : std::numeric_limits<double>::infinity();
  HANDHOLD_ASSIGN(const geometry::ShapeDistance d,
                  geometry::Distance(shape_a, a.X_WS, shape_b, b.X_WS, std::max(reach, 0.0)));
  if (!(d.distance_m < margin_m)) return {};
  const int most = std::max(a.collider.max_points, b.collider.max_points);
  if (std::max(a.collider.goes_over_m, b.collider.goes_over_m) > 0.0) return MeasureLying(pair, d);
  const bool ends_of_a = std::holds_alternative<geometry::Capsule>(shape_a);
  const bool ends_of_b = !ends_of_a && std::holds_alternative<geometry::Capsule>(shape_b);
  if (most < 2 || (!ends_of_a && !ends_of_b)) {
    Keep(pair, d.p_WB, d.normal_W, d.distance_m, kMiddle);
    return {};
  }
  const Placed& capsule = ends_of_a ? a : b;
  const Vec3 half = HalfLengthOf(capsule.collider.shape) * capsule.X_WS.R.col(2);
  const double radius = RadiusOf(capsule.collider.shape);
  const Vec3 axis_point =
      ends_of_a ? Vec3(d.p_WA + radius * d.normal_W) : Vec3(d.p_WB - radius * d.normal_W);
  std::uint32_t place = kMiddle;
  if ((axis_point - (capsule.X_WS.p - half)).norm() < kEndIsNear_m) place = kLowEnd;
  if ((axis_point - (capsule.X_WS.p + half)).norm() < kEndIsNear_m) place = kHighEnd;
  Keep(pair, d.p_WB, d.normal_W, d.distance_m, place);
  const Shape ball = geometry::Sphere{radius};
  for (const std::uint32_t end : {kLowEnd, kHighEnd}) {
    const Vec3 p = capsule.X_WS.p + (end == kLowEnd ? -1.0 : 1.0) * half;
    if (end == place || (p - axis_point).norm() < kEndsApart_m) continue;
    const RigidTransform X = RigidTransform::Translation(p);
    HANDHOLD_ASSIGN(const geometry::ShapeDistance e,
                    ends_of_a ? geometry::Distance(ball, X, shape_b, b.X_WS)
                              : geometry::Distance(shape_a, a.X_WS, ball, X));
    if (e.distance_m < margin_m) Keep(pair, e.p_WB, e.normal_W, e.distance_m, end);
  }
  return {};
}

// One point between the two ends of the stretch along which a capsule lies on a face: at the nearer
// end while that is nearer by goes_over_m, in the middle when they are alike.
Status ContactFinder::MeasureLying(const Pair& pair, const geometry::ShapeDistance& nearest) {
  const Placed &a = colliders_[static_cast<size_t>(pair.a)],
               &b = colliders_[static_cast<size_t>(pair.b)];
  const auto keep = [&](const geometry::ShapeDistance& d) {
    Keep(pair, d.p_WB, d.normal_W, d.distance_m, kMiddle);
    return Status();
  };
  const bool of_a = std::holds_alternative<geometry::Capsule>(a.collider.shape);
  const bool of_b = !of_a && std::holds_alternative<geometry::Capsule>(b.collider.shape);
  const Placed& capsule = of_b ? b : a;
  const Vec3 axis_W = capsule.X_WS.R.col(2);
  if ((!of_a && !of_b) || std::abs(axis_W.dot(nearest.normal_W)) > kAlong_rad) return keep(nearest);

  const double half_m = HalfLengthOf(capsule.collider.shape);
  const double radius_m = RadiusOf(capsule.collider.shape);
  const Shape ball = geometry::Sphere{radius_m};
  const auto at = [&](double along_m) {
    const RigidTransform X = RigidTransform::Translation(capsule.X_WS.p + along_m * axis_W);
    return of_a ? geometry::Distance(ball, X, b.collider.shape, b.X_WS)
                : geometry::Distance(a.collider.shape, a.X_WS, ball, X);
  };
  const auto aligned = [&](const geometry::ShapeDistance& d) {
    return d.normal_W.dot(nearest.normal_W) >= kAligned;
  };
  const Vec3 on_axis = of_a ? Vec3(nearest.p_WA + radius_m * nearest.normal_W)
                            : Vec3(nearest.p_WB - radius_m * nearest.normal_W);
  const double nearest_m = std::clamp(axis_W.dot(on_axis - capsule.X_WS.p), -half_m, half_m);
  double along_m[2], distance_m[2];
  for (const size_t end : {0, 1}) {
    double outer_m = end == 0 ? -half_m : half_m;
    along_m[end] = outer_m;
    HANDHOLD_ASSIGN(geometry::ShapeDistance last, at(outer_m));
    if (!aligned(last)) {
      double inner_m = nearest_m;
      for (int i = 0; i < kHalvings; ++i) {
        const double half_way_m = 0.5 * (inner_m + outer_m);
        HANDHOLD_ASSIGN(const geometry::ShapeDistance d, at(half_way_m));
        (aligned(d) ? inner_m : outer_m) = half_way_m;
      }
      along_m[end] = inner_m;
      HANDHOLD_ASSIGN(last, at(inner_m));
    }
    distance_m[end] = last.distance_m;
  }
  HANDHOLD_ASSIGN(const geometry::ShapeDistance middle, at(0.5 * (along_m[0] + along_m[1])));
  const bool flat =
      std::abs(middle.distance_m - 0.5 * (distance_m[0] + distance_m[1])) < kRoundedBy_m;
  if (!flat || along_m[1] - along_m[0] < kEndsApart_m) return keep(nearest);
  const double over_m = std::max(a.collider.goes_over_m, b.collider.goes_over_m);
  const double share = std::clamp(0.5 + 0.5 * (distance_m[0] - distance_m[1]) / over_m, 0.0, 1.0);
  HANDHOLD_ASSIGN(const geometry::ShapeDistance between,
                  at(along_m[0] + share * (along_m[1] - along_m[0])));
  return keep(between);
}

// Corners of each against the other's surface; of a cylinder also the lowest points of its rims.
void ContactFinder::MeasureCorners(const Pair& pair, double margin_m) {
  for (const bool of_a : {true, false}) {
    const Placed& from = colliders_[static_cast<size_t>(of_a ? pair.a : pair.b)];
    const Placed& onto = colliders_[static_cast<size_t>(of_a ? pair.b : pair.a)];
    const RigidTransform X_OF = onto.X_WS.Inverse() * from.X_WS;
    const auto under = FaceUnder(onto.collider.shape, from.collider.shape, X_OF);
    const auto corner = [&](const Vec3& p_F, std::uint32_t place) {
      const Vec3 p_O = X_OF * p_F;
      const Vec3 outside = (onto.local.min - p_O).cwiseMax(p_O - onto.local.max).cwiseMax(0.0);
      if (culling_ && outside.norm() >= margin_m) return;
      geometry::SurfacePoint near = geometry::SignedDistance(onto.collider.shape, p_O);
      if (under) {
        // Into the face, even where a side of the box is nearer; beyond its border by its edges.
        const double border_m = onto.local.max[under->axis];
        const double above_m = under->side * p_O[under->axis] - border_m;
        Vec3 beyond = p_O.cwiseAbs() - onto.local.max;
        beyond[under->axis] = 0.0;
        if (above_m < 0.0 && beyond.maxCoeff() > kFlush_m) return;
        if (above_m < 0.0) {
          near.distance_m = above_m;
          near.normal_S = under->side * Vec3::Unit(under->axis);
          near.p_S = p_O;
          near.p_S[under->axis] = under->side * border_m;
        }
      }
      if (!(near.distance_m < margin_m)) return;
      const Vec3 normal_W = onto.X_WS.R * near.normal_S;
      if (of_a) {
        Keep(pair, onto.X_WS * near.p_S, normal_W, near.distance_m, kOfA + place);
      } else {
        Keep(pair, onto.X_WS * p_O, -normal_W, near.distance_m, kOfB + place);
      }
    };
    for (size_t i = 0; i < from.corners_S.size(); ++i)
      corner(from.corners_S[i], static_cast<std::uint32_t>(i));
    if (const auto* cylinder = std::get_if<geometry::Cylinder>(&from.collider.shape)) {
      const geometry::SurfacePoint middle = geometry::SignedDistance(onto.collider.shape, X_OF.p);
      Vec3 down_F = -(X_OF.R.transpose() * middle.normal_S);
      down_F.z() = 0;
      if (down_F.norm() < 0.1) continue;  // it stands
      down_F *= cylinder->radius_m / down_F.norm();
      for (std::uint32_t k = 0; k < 2; ++k) {
        down_F.z() = (k == 0 ? -0.5 : 0.5) * cylinder->length_m;
        corner(down_F, 2 * kRimPoints + k);
      }
    }
  }
}

// Where edges of a box cross the border of the other's face: with the corners, the corners of what
// two boxes that lie on one another share.
void ContactFinder::MeasureEdges(const Pair& pair, double margin_m) {
  const Placed &a = colliders_[static_cast<size_t>(pair.a)],
               &b = colliders_[static_cast<size_t>(pair.b)];
  const auto* box_a = std::get_if<geometry::Box>(&a.collider.shape);
  const auto* box_b = std::get_if<geometry::Box>(&b.collider.shape);
  if (box_a == nullptr || box_b == nullptr) return;
  const RigidTransform X_BA = b.X_WS.Inverse() * a.X_WS;
  const Vec3 half_b = 0.5 * box_b->size_m;
  const int face = FaceTowards(half_b, X_BA, 0.5 * box_a->size_m).axis;
  for (std::uint32_t e = 0; e < 12; ++e) {
    const int along = static_cast<int>(e / 4), u = (along + 1) % 3, v = (along + 2) % 3;
    Vec3 from_A;
    from_A[along] = -0.5 * box_a->size_m[along];
    from_A[u] = (e & 1 ? 0.5 : -0.5) * box_a->size_m[u];
    from_A[v] = (e & 2 ? 0.5 : -0.5) * box_a->size_m[v];
    const Vec3 from = X_BA * from_A, span = box_a->size_m[along] * X_BA.R.col(along);
    double enter = 0.0, leave = 1.0;
    for (int k = 0; k < 3; ++k) {
      if (k == face) continue;
      if (std::abs(span[k]) < 1e-12) {
        if (std::abs(from[k]) > half_b[k]) leave = -1.0;
        continue;
      }
      const double t1 = (-half_b[k] - from[k]) / span[k], t2 = (half_b[k] - from[k]) / span[k];
      enter = std::max(enter, std::min(t1, t2));
      leave = std::min(leave, std::max(t1, t2));
    }
    if (!(enter < leave)) continue;
    for (const bool first : {true, false}) {
      const double t = first ? enter : leave;
      if (t == 0.0 || t == 1.0) continue;  // a corner of a: measured as such
      const Vec3 p_B = from + t * span;
      const double outside = p_B[face] > 0 ? 1.0 : -1.0;
      const double separation = outside * p_B[face] - half_b[face];
      if (!(separation < margin_m) || separation < -half_b[face]) continue;
      Vec3 on_face = p_B;
      on_face[face] = outside * half_b[face];
      Keep(pair, b.X_WS * on_face, outside * b.X_WS.R.col(face), separation,
           kEdgesOfA + 2 * e + (first ? 0 : 1));
    }
  }
}

// Of many candidates the outermost along four directions fixed in `of`, those above the surface
// counting less, and the deepest.
void ContactFinder::KeepSpread(size_t first, const Placed& of, int most) {
  const size_t count = found_.size() - first;
  if (count <= static_cast<size_t>(most)) return;
  Vec3 normal = Vec3::Zero();
  double least = std::numeric_limits<double>::infinity();
  size_t deepest = first;
  for (size_t i = first; i < found_.size(); ++i) {
    normal += found_[i].contact.normal_W;
    if (found_[i].contact.separation_m < least) {
      least = found_[i].contact.separation_m;
      deepest = i;
    }
  }
  normal = normal.norm() > 0 ? Vec3(normal.normalized()) : found_[first].contact.normal_W;
  Vec3 t1 = of.X_WS.R.col(0) - normal * normal.dot(of.X_WS.R.col(0));
  if (t1.norm() < 0.5) t1 = of.X_WS.R.col(1) - normal * normal.dot(of.X_WS.R.col(1));
  t1.normalize();
  const Vec3 t2 = normal.cross(t1);
  std::vector<size_t>& kept = kept_;
  kept.clear();
  for (int k = 0; k < most; ++k) {
    const double angle = 2 * M_PI * (k + 0.5) / most;
    const Vec3 along = std::cos(angle) * t1 + std::sin(angle) * t2;
    size_t best = first;
    double best_score = -std::numeric_limits<double>::infinity();
    for (size_t i = first; i < found_.size(); ++i) {
      const Contact& c = found_[i].contact;
      const double score =
          along.dot(c.p_W) - 10.0 * std::max(0.0, c.separation_m - std::max(0.0, least));
      if (score > best_score + 1e-9) {
        best_score = score;
        best = i;
      }
    }
    if (std::find(kept.begin(), kept.end(), best) == kept.end()) kept.push_back(best);
  }
  double deepest_kept = std::numeric_limits<double>::infinity();
  for (const size_t i : kept) deepest_kept = std::min(deepest_kept, found_[i].contact.separation_m);
  if (least < deepest_kept - 2e-5) kept.push_back(deepest);
  std::sort(kept.begin(), kept.end());
  for (size_t k = 0; k < kept.size(); ++k) found_[first + k] = found_[kept[k]];
  found_.resize(first + kept.size());
}

Status ContactFinder::Measure(const Pair& pair, double margin_m) {
  const Placed &a = colliders_[static_cast<size_t>(pair.a)],
               &b = colliders_[static_cast<size_t>(pair.b)];
  const bool round_a = IsRound(a.collider.shape), round_b = IsRound(b.collider.shape);
  if (culling_) {
    if (Apart(a.box_W, b.box_W) >= margin_m) return {};
    ++stats_.near;
    if (round_a && CulledInFrame(a, b, margin_m)) return {};
    if (round_b && CulledInFrame(b, a, margin_m)) return {};
  } else {
    ++stats_.near;
  }
  ++stats_.measured;
  if (round_a || round_b) return MeasureRound(pair, margin_m);
  const size_t first = found_.size();
  MeasureCorners(pair, margin_m);
  MeasureEdges(pair, margin_m);
  const int asked = std::max(a.collider.max_points, b.collider.max_points);
  KeepSpread(first, a, asked > 0 ? asked : 4);
  return {};
}

// Inside another shape of the same thing a point is on no surface.
bool ContactFinder::Hidden(const Candidate& candidate) const {
  const auto inside = [&](int of, const Vec3& p_W) {
    for (const int s : colliders_[static_cast<size_t>(of)].siblings) {
      const Placed& other = colliders_[static_cast<size_t>(s)];
      const Vec3 p_S = other.X_WS.Inverse() * p_W;
      if (((other.local.min - p_S).cwiseMax(p_S - other.local.max)).maxCoeff() > 0) continue;
      if (geometry::SignedDistance(other.collider.shape, p_S).distance_m < -1e-9) return true;
    }
    return false;
  };
  const Contact& c = candidate.contact;
  if (inside(candidate.b, c.p_W)) return true;
  return !IsRound(collider(candidate.a).shape) &&
         inside(candidate.a, c.p_W + c.separation_m * c.normal_W);
}

Status ContactFinder::Find(const ContactPoses& poses, double margin_m, ContactSet* contacts) {
  CHECK(std::isfinite(margin_m));
  if (!pairs_made_) MakePairs();
  contacts->clear();
  found_.clear();
  stats_ = {static_cast<int>(pairs_.size()), 0, 0};
  for (Placed& placed : colliders_) {
    placed.X_WS = poses.Of(placed.collider.side) * placed.collider.X_BS;
    placed.box_W = Moved(placed.local, placed.X_WS);
  }
  const auto flush = [&] {  // one collider against the union of one side's shapes
    bool any_shown = false;
    for (Candidate& c : found_) {
      c.hidden = Hidden(c);
      any_shown |= !c.hidden;
    }
    if (!any_shown && !found_.empty()) {
      const auto shallowest =
          std::max_element(found_.begin(), found_.end(), [](const auto& x, const auto& y) {
            return x.contact.separation_m < y.contact.separation_m;
          });
      if (shallowest->contact.separation_m < 0) contacts->push_back(shallowest->contact);
    }
    for (const Candidate& c : found_) {
      if (!c.hidden) contacts->push_back(c.contact);
    }
    found_.clear();
  };
  for (size_t i = 0; i < pairs_.size(); ++i) {
    if (i > 0 && pairs_[i].union_of != pairs_[i - 1].union_of) flush();
    HANDHOLD_TRY(Measure(pairs_[i], margin_m));
  }
  flush();
  return {};
}

}  // namespace handhold::synthesis
