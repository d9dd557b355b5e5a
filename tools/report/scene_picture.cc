#include "tools/report/scene_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "database/base/check.h"
#include "database/geometry/shape.h"
#include "database/model/kinematics.h"
#include "tools/report/html.h"

namespace handhold::report {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kFar = 1e9;
const Vec3 kLight = Vec3(-0.45, -0.55, 1.0).normalized();  // towards the light, W
const Vec3 kFill = Vec3(0.8, -0.6, 0.25).normalized();

struct Axes3 {
  Vec3 right, down, forward;
};

Axes3 AxesOf(const Camera& camera) {
  const Vec3 forward = (camera.target_W - camera.eye_W).normalized();
  const Vec3 right = forward.cross(Vec3::UnitZ()).normalized();
  return {right, forward.cross(right), forward};
}

double FocalPixels(const Camera& camera) {
  return 0.5 * camera.width / std::tan(0.5 * camera.field_of_view_deg * M_PI / 180.0);
}

// All points within `radius` of the segment a-b, in W.
struct Bone {
  Vec3 a, b;
  double radius = 0.0;
};

// A shape that is not round, drawn by its distance.
struct Solid {
  geometry::Shape shape;
  RigidTransform X_SW;
};

double Distance(const Bone& bone, const Vec3& p) {
  const Vec3 ab = bone.b - bone.a, ap = p - bone.a;
  const double length2 = ab.squaredNorm();
  const double t = length2 > 0 ? std::clamp(ap.dot(ab) / length2, 0.0, 1.0) : 0.0;
  return (ap - t * ab).norm() - bone.radius;
}

// One posed hand as a distance field: its shapes, rounded over where they meet.
class HandField {
 public:
  HandField(const model::Skeleton& skeleton, const Eigen::VectorXd& q, bool markers) {
    CHECK_EQ(q.size(), skeleton.nq());
    model::KinematicsData data(skeleton);
    model::ComputePoses<double>(skeleton, q, &data);
    for (int i = 1; i < skeleton.body_count(); ++i) AddBody(skeleton, data, i);
    if (markers) {
      std::vector<Vec3> p_WM;
      model::MarkerPositions<double>(skeleton, data, &p_WM);
      for (const Vec3& p : p_WM) markers_.push_back({p, p, 0.0022});
    }
    for (const auto* bones : {&bones_, &markers_}) {
      for (const Bone& bone : *bones) {
        for (const Vec3& p : {bone.a, bone.b}) {
          lower_ = lower_.cwiseMin(p - Vec3::Constant(bone.radius + 2e-3));
          upper_ = upper_.cwiseMax(p + Vec3::Constant(bone.radius + 2e-3));
        }
      }
    }
  }

  double Skin(const Vec3& p) const {
    constexpr double kBlend_m = 0.007;
    double d = kFar;
    for (const Bone& bone : bones_) {
      const double other = Distance(bone, p);
      const double h = std::max(kBlend_m - std::abs(d - other), 0.0) / kBlend_m;
      d = std::min(d, other) - 0.25 * h * h * kBlend_m;
    }
    for (const Solid& solid : solids_)
      d = std::min(d, geometry::SignedDistance(solid.shape, solid.X_SW * p).distance_m);
    return d;
  }
  double Marker(const Vec3& p) const {
    double d = kFar;
    for (const Bone& bone : markers_) d = std::min(d, Distance(bone, p));
    return d;
  }
  double operator()(const Vec3& p) const { return std::min(Skin(p), Marker(p)); }

  // Where the ray meets it, or kFar.
  double Hit(const Vec3& eye, const Vec3& ray) const {
    double t, end;
    if (!Enters(eye, ray, &t, &end)) return kFar;
    for (int i = 0; i < 96 && t < end; ++i) {
      const double d = (*this)(eye + t * ray);
      if (d < 3e-5) return t;
      t += 0.9 * d;
    }
    return kFar;
  }
  // 1: the light reaches p, 0: it does not, with a penumbra.
  double Light(const Vec3& p) const {
    double t, end, lit = 1.0;
    if (!Enters(p, kLight, &t, &end)) return lit;
    t = std::max(t, 4e-4);
    for (int i = 0; i < 96 && t < end; ++i) {
      const double d = (*this)(p + t * kLight);
      lit = std::min(lit, 0.5 + 0.5 * 9.0 * d / t);
      if (lit < 0) return 0.0;
      t += std::clamp(0.7 * d, 4e-4, 5e-3);
    }
    lit = std::clamp(lit, 0.0, 1.0);
    return lit * lit * (3 - 2 * lit);
  }
  double Openness(const Vec3& p, const Vec3& n) const {  // of the surroundings, 0..1
    double closed = 0.0, weight = 1.0;
    for (int i = 1; i <= 4; ++i) {
      const double h = 0.003 * i;
      closed += weight * std::max(0.0, h - (*this)(p + h * n)) / h;
      weight *= 0.6;
    }
    return std::clamp(1.0 - 0.42 * closed, 0.0, 1.0);
  }
  Vec3 Normal(const Vec3& p) const {
    constexpr double h = 2e-5;
    Vec3 n;
    for (int i = 0; i < 3; ++i) {
      n[i] = (*this)(p + h * Vec3::Unit(i)) - (*this)(p - h * Vec3::Unit(i));
    }
    return n.norm() > 0 ? Vec3(n.normalized()) : Vec3(Vec3::UnitZ());
  }

 private:
  void AddBody(const model::Skeleton& skeleton, const model::KinematicsData& data, int i) {
    const model::Body& body = skeleton.body(i);
    const RigidTransform& X_WB = data.X_WB[static_cast<size_t>(i)];
    bool first = true;
    for (const model::BodyShape& shape : body.shapes) {
      const RigidTransform X_WS = X_WB * shape.X_BS;
      Bone bone;
      if (const auto* sphere = std::get_if<geometry::Sphere>(&shape.shape)) {
        bone = {X_WS.p, X_WS.p, sphere->radius_m};
      } else if (const auto* capsule = std::get_if<geometry::Capsule>(&shape.shape)) {
        const Vec3 half = 0.5 * capsule->length_m * Vec3::UnitZ();
        bone = {X_WS * Vec3(-half), X_WS * half, capsule->radius_m};
      } else {
        solids_.push_back({shape.shape, X_WS.Inverse()});
        const geometry::Bounds bounds = geometry::BoundsOf(shape.shape);
        const double reach = std::max(bounds.min.norm(), bounds.max.norm());
        lower_ = lower_.cwiseMin(X_WS.p - Vec3::Constant(reach));
        upper_ = upper_.cwiseMax(X_WS.p + Vec3::Constant(reach));
        continue;
      }
      bones_.push_back(bone);
      // From the joint to the first shape, so that fingers do not come apart.
      const Vec3 p_joint = (X_WB * body.joint.X_BJc).p;
      const Vec3 near = (bone.a - p_joint).norm() < (bone.b - p_joint).norm() ? bone.a : bone.b;
      if (first && body.joint.type != model::JointType::kFixed &&
          (near - p_joint).norm() > 0.2 * bone.radius) {
        bones_.push_back({p_joint, near, 0.92 * bone.radius});
      }
      first = false;
    }
  }
  bool Enters(const Vec3& origin, const Vec3& ray, double* t0, double* t1) const {
    double a = 0.0, b = kFar;
    for (int i = 0; i < 3; ++i) {
      const double inverse = 1.0 / (std::abs(ray[i]) > 1e-12 ? ray[i] : 1e-12);
      double u = (lower_[i] - origin[i]) * inverse, v = (upper_[i] - origin[i]) * inverse;
      if (u > v) std::swap(u, v);
      a = std::max(a, u), b = std::min(b, v);
    }
    *t0 = a, *t1 = b;
    return a < b;
  }

  std::vector<Bone> bones_, markers_;
  std::vector<Solid> solids_;
  Vec3 lower_ = Vec3::Constant(kFar), upper_ = Vec3::Constant(-kFar);
};

struct PropHit {
  double t = kFar;
  Vec3 normal = Vec3::UnitZ();
};

void MeetBox(const Vec3& half, const Vec3& o, const Vec3& d, PropHit* hit) {
  double a = 0.0, b = kFar;
  Vec3 n = Vec3::Zero();
  for (int i = 0; i < 3; ++i) {
    const double inverse = 1.0 / (std::abs(d[i]) > 1e-12 ? d[i] : 1e-12);
    double u = (-half[i] - o[i]) * inverse, v = (half[i] - o[i]) * inverse;
    double side = -1;
    if (u > v) std::swap(u, v), side = 1;
    if (u > a) a = u, n = side * Vec3::Unit(i);
    b = std::min(b, v);
  }
  if (a < b && a > 0 && a < hit->t) *hit = {a, n};
}

void MeetCylinder(double radius, double half, const Vec3& o, const Vec3& d, PropHit* hit) {
  const double a = d.x() * d.x() + d.y() * d.y(), b = o.x() * d.x() + o.y() * d.y();
  const double c = o.x() * o.x() + o.y() * o.y() - radius * radius;
  const double root = b * b - a * c;
  if (root >= 0 && a > 0) {
    const double t = (-b - std::sqrt(root)) / a;
    const Vec3 p = o + t * d;
    if (t > 0 && t < hit->t && std::abs(p.z()) <= half) *hit = {t, Vec3(p.x(), p.y(), 0) / radius};
  }
  if (d.z() == 0) return;
  const double side = d.z() < 0 ? 1.0 : -1.0, t = (side * half - o.z()) / d.z();
  const Vec3 p = o + t * d;
  if (t > 0 && t < hit->t && p.head<2>().squaredNorm() <= radius * radius)
    *hit = {t, side * Vec3::UnitZ()};
}

// Any other shape, by walking its distance.
void MeetByDistance(const geometry::Shape& shape, const Vec3& o, const Vec3& d, PropHit* hit) {
  const geometry::Bounds bounds = geometry::BoundsOf(shape);
  PropHit box;
  const Vec3 middle = 0.5 * (bounds.min + bounds.max);
  MeetBox(0.5 * (bounds.max - bounds.min) + Vec3::Constant(1e-3), o - middle, d, &box);
  if (box.t >= hit->t) return;
  const double end = box.t + 1.8 * (bounds.max - bounds.min).norm();
  for (double t = box.t; t < std::min(end, hit->t);) {
    const geometry::SurfacePoint point = geometry::SignedDistance(shape, o + t * d);
    if (point.distance_m < 5e-5) {
      *hit = {t, point.normal_S};
      return;
    }
    t += point.distance_m;
  }
}

PropHit MeetProps(const PictureScene& scene, const Vec3& eye, const Vec3& ray) {
  PropHit nearest;
  for (const PictureScene::Placed& placed : scene.props) {
    for (const model::PropShape& part : placed.prop->shapes) {
      const RigidTransform X_WS = placed.X_WP * part.X_PS;
      const RigidTransform X_SW = X_WS.Inverse();
      const Vec3 o = X_SW * eye, d = X_SW.R * ray;
      PropHit hit;
      hit.t = nearest.t;
      if (const auto* box = std::get_if<geometry::Box>(&part.shape)) {
        MeetBox(0.5 * box->size_m, o, d, &hit);
      } else if (const auto* cylinder = std::get_if<geometry::Cylinder>(&part.shape)) {
        MeetCylinder(cylinder->radius_m, 0.5 * cylinder->length_m, o, d, &hit);
      } else {
        MeetByDistance(part.shape, o, d, &hit);
      }
      if (hit.t < nearest.t) nearest = {hit.t, X_WS.R * hit.normal};
    }
  }
  return nearest;
}

// Linear light, premultiplied by alpha.
struct Colour {
  Vec3 rgb = Vec3::Zero();
  double alpha = 0.0;
};

void PutOver(const Vec3& rgb, double alpha, Colour* below) {
  below->rgb = alpha * rgb + (1 - alpha) * below->rgb;
  below->alpha = alpha + (1 - alpha) * below->alpha;
}

Vec3 Shade(const Vec3& albedo, const Vec3& n, const Vec3& ray, double lit, double open,
           double gloss) {
  const double sun = std::max(0.0, n.dot(kLight)) * lit;
  const double fill = std::max(0.0, n.dot(kFill));
  const double sky = 0.5 + 0.5 * n.z();
  const Vec3 half = (kLight - ray).normalized();
  const double shine = gloss * std::pow(std::max(0.0, n.dot(half)), 38.0) * lit;
  const double rim = gloss * 0.5 * std::pow(1.0 - std::abs(n.dot(ray)), 4.0) * open;
  const Vec3 light = 0.86 * sun * Vec3(1.0, 0.97, 0.92) + 0.22 * fill * Vec3(0.85, 0.92, 1.0) +
                     open * (0.14 + 0.22 * sky) * Vec3(0.90, 0.96, 1.0);
  return albedo.cwiseProduct(light) + Vec3::Constant(shine + rim);
}

double Step(double lower, double upper, double x) {
  const double t = std::clamp((x - lower) / (upper - lower), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

Colour Trace(const PictureScene& scene, const std::vector<HandField>& hands, const Camera& camera,
             const Vec3& eye, const Vec3& ray) {
  Colour colour;
  const PropHit prop = MeetProps(scene, eye, ray);
  if (prop.t < kFar) {
    const Vec3 p = eye + prop.t * ray;
    double lit = 1.0, open = 1.0;
    for (size_t i = 0; i < hands.size(); ++i) {
      const double weight = scene.hands[i].opacity;
      lit *= 1.0 - weight * (1.0 - hands[i].Light(p + 1e-4 * prop.normal));
      open *= 1.0 - weight * (1.0 - hands[i].Openness(p, prop.normal));
    }
    // A ruled surface: fine lines every centimetre, so that slopes and distances can be seen. Those
    // along x are what a bump bends.
    const auto ruled = [](double at) {
      return std::pow(0.5 + 0.5 * std::cos(2 * M_PI * at / 0.01), 24.0);
    };
    const double line = std::max(0.10 * ruled(p.x()), 0.20 * ruled(p.y()));
    const Vec3 albedo = Vec3(0.50, 0.56, 0.63) * (1.0 - line);
    const double distance = (p - camera.target_W).head<2>().norm();
    const double alpha = 1.0 - Step(scene.fade_begin_m, scene.fade_end_m, distance);
    PutOver(Shade(albedo, prop.normal, ray, lit, open, 0.12), alpha, &colour);
  }
  for (size_t i = 0; i < hands.size(); ++i) {
    const double t = hands[i].Hit(eye, ray);
    if (t >= kFar || t > prop.t) continue;
    const Vec3 p = eye + t * ray, n = hands[i].Normal(p);
    const bool marker = hands[i].Marker(p) < hands[i].Skin(p);
    const Vec3 albedo = marker ? Vec3(0.80, 0.82, 0.85) : Vec3(0.74, 0.40, 0.27);
    const double lit = hands[i].Light(p + 6e-4 * n);
    PutOver(Shade(albedo, n, ray, lit, hands[i].Openness(p, n), marker ? 0.5 : 0.16),
            scene.hands[i].opacity, &colour);
  }
  return colour;
}

uint8_t ToSrgb(double linear) {
  const double v = std::clamp(linear, 0.0, 1.0);
  const double s = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * s));
}

}  // namespace

Vec3 Camera::Project(const Vec3& p_W) const {
  const Axes3 axes = AxesOf(*this);
  const Vec3 p = p_W - eye_W;
  const double depth = p.dot(axes.forward), f = FocalPixels(*this);
  return {0.5 * width + f * p.dot(axes.right) / depth, 0.5 * height + f * p.dot(axes.down) / depth,
          depth};
}

Vec3 Camera::Ray(double x, double y) const {
  const Axes3 axes = AxesOf(*this);
  return (FocalPixels(*this) * axes.forward + (x - 0.5 * width) * axes.right +
          (y - 0.5 * height) * axes.down)
      .normalized();
}

Camera SideView(const Vec3& focus_W, double width_m) {
  Camera camera;
  camera.target_W = focus_W;
  const double distance = 0.5 * width_m / std::tan(0.5 * camera.field_of_view_deg * M_PI / 180.0);
  camera.eye_W = focus_W + distance * Vec3(0.20, -1.0, 0.27).normalized();
  return camera;
}

Image DrawScene(const PictureScene& scene, const Camera& camera) {
  std::vector<HandField> hands;
  if (scene.skeleton != nullptr) {
    for (size_t i = 0; i < scene.hands.size(); ++i) {
      hands.emplace_back(*scene.skeleton, scene.hands[i].q,
                         scene.markers && i + 1 == scene.hands.size());
    }
  }
  Image image;
  image.width = camera.width, image.height = camera.height;
  image.rgba.reserve(4 * static_cast<size_t>(camera.width) * static_cast<size_t>(camera.height));
  constexpr std::array<double, 2> kOffsets = {0.25, 0.75};
  for (int y = 0; y < camera.height; ++y) {
    for (int x = 0; x < camera.width; ++x) {
      Colour sum;
      for (const double dy : kOffsets) {
        for (const double dx : kOffsets) {
          const Colour c = Trace(scene, hands, camera, camera.eye_W, camera.Ray(x + dx, y + dy));
          sum.rgb += 0.25 * c.rgb;
          sum.alpha += 0.25 * c.alpha;
        }
      }
      for (int c = 0; c < 3; ++c) {
        image.rgba.push_back(sum.alpha > 1e-3 ? ToSrgb(sum.rgb[c] / sum.alpha) : 0);
      }
      image.rgba.push_back(sum.alpha > 1e-3 ? static_cast<uint8_t>(std::lround(255 * sum.alpha))
                                            : 0);
    }
  }
  return image;
}

std::vector<Mark> ForceMarks(const Camera& camera, const Vec3& p_W, const Vec3& f_W,
                             double m_per_N) {
  const Vec3 from = camera.Project(p_W), to = camera.Project(p_W + m_per_N * f_W);
  Mark arrow{Mark::Kind::kArrow, from.x(), from.y(), to.x(), to.y(), "", Role::kReference};
  Mark dot{Mark::Kind::kDot, from.x(), from.y(), 0, 0, "", Role::kReference};
  // Below the touched point, where no finger is.
  Mark text{Mark::Kind::kText,           from.x() + 6,    from.y() + 20, 0, 0,
            Fixed(f_W.norm(), 1) + " N", Role::kReference};
  return {arrow, dot, text};
}

std::vector<Mark> ProfileMarks(const PictureScene& scene, const Camera& camera, const Vec3& at_W,
                               double half_width_m) {
  constexpr int kPieces = 80;
  constexpr double kAbove_m = 1.0;
  std::vector<Mark> marks;
  std::optional<Vec3> before;
  for (int i = 0; i <= kPieces; ++i) {
    const Vec3 above = at_W + Vec3((2.0 * i / kPieces - 1.0) * half_width_m, 0, kAbove_m);
    const PropHit hit = MeetProps(scene, above, -Vec3::UnitZ());
    if (hit.t >= kFar) {
      before.reset();
      continue;
    }
    const Vec3 p = camera.Project(above - hit.t * Vec3::UnitZ());
    if (before) {
      marks.push_back(
          {Mark::Kind::kOutline, before->x(), before->y(), p.x(), p.y(), "", Role::kMeasured});
    }
    before = p;
  }
  return marks;
}

}  // namespace handhold::report
