#include "synthesis/evaluate/grasp_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "database/geometry/distance.h"
#include "database/model/kinematics.h"
#include "database/model/site.h"
#include "synthesis/contact/force_feasibility.h"

namespace handhold::synthesis {
namespace {

using geometry::Bounds;
using geometry::RigidTransform;
using geometry::Shape;
using geometry::Vec3;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kP1Acceleration = 10.0;

/// A shape of the hand, posed in the prop's frame.
struct HandShape {
  int body = 0;
  Shape shape;
  RigidTransform X_PS;
  double distance_m = kInfinity;  ///< to the prop, signed
};

Result<std::vector<HandShape>> Posed(const model::Skeleton& hand, const Eigen::VectorXd& q,
                                     const RigidTransform& X_PH) {
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, q, &data);
  std::vector<HandShape> shapes;
  for (int b = 1; b < hand.body_count(); ++b) {
    for (const model::BodyShape& s : hand.body(b).shapes) {
      if (!std::holds_alternative<geometry::Sphere>(s.shape) &&
          !std::holds_alternative<geometry::Capsule>(s.shape)) {
        return Error{ErrorCode::kUnsupported,
                     "'" + hand.body(b).name + "/" + s.name + "' is neither sphere nor capsule"};
      }
      shapes.push_back({b, s.shape, X_PH * data.X_WB[static_cast<size_t>(b)] * s.X_BS, kInfinity});
    }
  }
  return shapes;
}

/// "thumb" of "thumb.prx"; the palm with what it carries of the four fingers' metacarpals.
std::string FingerOf(const std::string& body) {
  const std::string finger = body.substr(0, body.find('.'));
  const bool metacarpal = body.size() > 4 && body.ends_with(".mtc");
  return metacarpal && finger != "thumb" ? "palm" : finger;
}

Result<double> SelfDepth(const model::Skeleton& hand, const std::vector<HandShape>& now) {
  // As the engine's hand: bodies that are joined, or that overlap at q = 0, do not meet.
  HANDHOLD_ASSIGN(const std::vector<HandShape> zero,
                  Posed(hand, hand.ZeroConfiguration(), RigidTransform()));
  const auto overlap = [](const HandShape& a, const HandShape& b) -> Result<double> {
    HANDHOLD_ASSIGN(const geometry::ShapeDistance d,
                    geometry::Distance(a.shape, a.X_PS, b.shape, b.X_PS));
    return -d.distance_m;
  };
  std::map<std::pair<int, int>, bool> apart_at_zero;
  for (size_t i = 0; i < zero.size(); ++i) {
    for (size_t k = i + 1; k < zero.size(); ++k) {
      HANDHOLD_ASSIGN(const double depth, overlap(zero[i], zero[k]));
      const auto key = std::minmax(zero[i].body, zero[k].body);
      auto [it, added] = apart_at_zero.try_emplace(key, true);
      it->second = it->second && depth <= 0.0;
    }
  }
  double deepest = 0.0;
  for (size_t i = 0; i < now.size(); ++i) {
    for (size_t k = i + 1; k < now.size(); ++k) {
      const int a = now[i].body, b = now[k].body;
      if (a == b || hand.body(a).parent == b || hand.body(b).parent == a ||
          !apart_at_zero[std::minmax(a, b)])
        continue;
      HANDHOLD_ASSIGN(const double depth, overlap(now[i], now[k]));
      deepest = std::max(deepest, depth);
    }
  }
  return deepest;
}

bool Inside(const Shape& shape, const RigidTransform& X_PS, const Vec3& p_P) {
  return geometry::SignedDistance(shape, X_PS.Inverse() * p_P).distance_m < 0.0;
}

Bounds BoundsIn(const Shape& shape, const RigidTransform& X_PS) {
  const Bounds local = geometry::BoundsOf(shape);
  Bounds bounds;
  for (int corner = 0; corner < 8; ++corner) {
    bounds.Include(X_PS * Vec3((corner & 1) != 0 ? local.max.x() : local.min.x(),
                               (corner & 2) != 0 ? local.max.y() : local.min.y(),
                               (corner & 4) != 0 ? local.max.z() : local.min.z()));
  }
  return bounds;
}

/// Voxels of a grid through P's origin whose centre lies in hand and prop, each counted once.
double VolumeInside(const std::vector<HandShape>& hand, const model::Prop& prop, double pitch_m) {
  Bounds object;
  for (const model::PropShape& s : prop.shapes) {
    const Bounds b = BoundsIn(s.shape, s.X_PS);
    object.Include(b.min);
    object.Include(b.max);
  }
  long count = 0;
  for (size_t i = 0; i < hand.size(); ++i) {
    if (hand[i].distance_m >= 0.0) continue;
    const Bounds b = BoundsIn(hand[i].shape, hand[i].X_PS);
    const Vec3 low = b.min.cwiseMax(object.min) / pitch_m,
               high = b.max.cwiseMin(object.max) / pitch_m;
    const auto first = [](double x) { return static_cast<int>(std::ceil(x - 0.5)); };
    const auto last = [](double x) { return static_cast<int>(std::floor(x - 0.5)); };
    for (int x = first(low.x()); x <= last(high.x()); ++x) {
      for (int y = first(low.y()); y <= last(high.y()); ++y) {
        for (int z = first(low.z()); z <= last(high.z()); ++z) {
          const Vec3 p_P = pitch_m * Vec3(x + 0.5, y + 0.5, z + 0.5);
          if (!Inside(hand[i].shape, hand[i].X_PS, p_P)) continue;
          const bool counted = std::any_of(
              hand.begin(), hand.begin() + static_cast<long>(i), [&](const HandShape& before) {
                return before.distance_m < 0.0 && Inside(before.shape, before.X_PS, p_P);
              });
          if (counted) continue;
          count += std::any_of(prop.shapes.begin(), prop.shapes.end(),
                               [&](const auto& s) { return Inside(s.shape, s.X_PS, p_P); });
        }
      }
    }
  }
  return static_cast<double>(count) * pitch_m * pitch_m * pitch_m;
}

/// Whether every push of `force_N` along an axis can be answered within the total.
bool Carries(const std::vector<ForceContact>& contacts, double force_N, double friction_scale,
             ForceOptions options) {
  options.friction_scale = friction_scale;
  ForceWorkspace workspace;
  ForceAnswer answer;
  for (Eigen::Index axis = 3; axis < 6; ++axis) {
    for (const double sign : {1.0, -1.0}) {
      SolveLeastForce(contacts, sign * force_N * geometry::Vec6::Unit(axis), options, &workspace,
                      &answer);
      if (answer.outcome != ForceOutcome::kBalanced) return false;
    }
  }
  return true;
}

/// Epsilon, dfc and the margin; contacts' forces act on the object.
void Closure(const GraspMetricsOptions& options, const model::Prop& prop, GraspMetrics* out) {
  if (out->contacts.empty()) {
    out->margin = {0.0, kInfinity};
    return;
  }
  Vec3 mean = Vec3::Zero();
  for (const auto& c : out->contacts) mean += c.p_P / static_cast<double>(out->contacts.size());
  double radius = 0.0;
  for (const auto& c : out->contacts)
    radius += (c.p_P - mean).norm() / static_cast<double>(out->contacts.size());
  const auto about = [&](const Vec3& centre) {
    std::vector<ForceContact> contacts;
    for (const auto& c : out->contacts)
      contacts.push_back({c.p_P - centre, -c.normal_P, options.friction});
    return contacts;
  };
  ForceOptions force;
  force.length_m = std::max(radius, 1e-3);
  force.max_total_N = options.max_total_N;
  ForceWorkspace workspace;
  const GraspScores scores = ScoreGrasp(about(mean), force, &workspace);
  out->epsilon = scores.epsilon;
  out->dfc = scores.dfc;

  const std::vector<ForceContact> at_com = about(prop.mass.p_BCom);
  const double fmax_N = ScoreGrasp(at_com, force, &workspace).fmax_N;
  out->margin.acceleration_m_per_s2 = std::isfinite(fmax_N) && fmax_N > 0.0
                                          ? options.max_total_N / (options.mass_kg * fmax_N)
                                          : 0.0;
  const double push_N = options.mass_kg * kP1Acceleration;
  double low = 0.0, high = 2.0;
  if (!Carries(at_com, push_N, high, force)) {
    out->margin.friction = kInfinity;
    return;
  }
  for (int i = 0; i < 10; ++i) {
    const double middle = 0.5 * (low + high);
    (Carries(at_com, push_N, middle, force) ? high : low) = middle;
  }
  out->margin.friction = high * options.friction;
}

void Fingers(const model::Skeleton& hand, const std::vector<HandShape>& shapes,
             const GraspMetricsOptions& options, GraspMetrics* out) {
  std::map<std::string, double> nearest;
  for (const HandShape& s : shapes) {
    double& d = nearest.try_emplace(FingerOf(hand.body(s.body).name), kInfinity).first->second;
    d = std::min(d, s.distance_m);
  }
  double sum = 0.0, least = kInfinity, most = 0.0;
  int count = 0;
  for (const auto& [finger, distance] : nearest) {
    out->fingers.push_back({finger, distance});
    if (finger == "palm") continue;
    out->fingers_touching += distance < options.finger_touch_m;
    const double clipped = std::clamp(distance, 0.0, options.clip_m);
    sum += clipped;
    least = std::min(least, clipped);
    most = std::max(most, clipped);
    ++count;
  }
  if (count > 0) {
    out->contact_distance_m = sum / count;
    out->contact_spread_m = most - least;
  }
}

}  // namespace

Result<GraspMetrics> MeasureGrasp(const model::Skeleton& hand, const Eigen::VectorXd& q,
                                  const RigidTransform& X_PH, const model::Prop& prop,
                                  const GraspMetricsOptions& options) {
  if (q.size() != hand.nq()) {
    return Error{ErrorCode::kInvalid, "the grasp's posture has " + std::to_string(q.size()) +
                                          " numbers; '" + hand.name() + "' has " +
                                          std::to_string(hand.nq())};
  }
  if (prop.shapes.empty())
    return Error{ErrorCode::kInvalid, "prop '" + prop.name + "' has no shapes"};
  HANDHOLD_ASSIGN(std::vector<HandShape> shapes, Posed(hand, q, X_PH));
  GraspMetrics out;
  std::vector<char> touches(static_cast<size_t>(hand.body_count()), 0);
  for (HandShape& s : shapes) {
    geometry::ShapeDistance nearest;
    nearest.distance_m = kInfinity;
    for (const model::PropShape& p : prop.shapes) {
      HANDHOLD_ASSIGN(const geometry::ShapeDistance d,
                      geometry::Distance(s.shape, s.X_PS, p.shape, p.X_PS));
      if (d.distance_m < nearest.distance_m) nearest = d;
    }
    s.distance_m = nearest.distance_m;
    out.depth_m = std::max(out.depth_m, -s.distance_m);
    if (s.distance_m > options.touch_m) continue;
    touches[static_cast<size_t>(s.body)] = 1;
    artefact::GraspContact contact;
    contact.body = s.body;
    contact.p_P = nearest.p_WB;
    contact.normal_P = nearest.normal_W;
    out.contacts.push_back(contact);
  }
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, q, &data);
  for (artefact::GraspContact& contact : out.contacts) {
    const RigidTransform X_PB = X_PH * data.X_WB[static_cast<size_t>(contact.body)];
    const int site =
        model::SiteAt(hand, contact.body, X_PB.R.transpose() * Vec3(-contact.normal_P));
    if (site >= 0) contact.site = hand.sites()[static_cast<size_t>(site)].name;
  }
  out.contact_number = static_cast<int>(std::count(touches.begin(), touches.end(), 1));
  HANDHOLD_ASSIGN(out.self_depth_m, SelfDepth(hand, shapes));
  Fingers(hand, shapes, options, &out);
  Closure(options, prop, &out);
  out.volume_m3 = VolumeInside(shapes, prop, options.voxel_m);
  if (options.fine_voxel_m > 0.0)
    out.fine_volume_m3 = VolumeInside(shapes, prop, options.fine_voxel_m);
  return out;
}

std::map<std::string, double> ScoresOf(const GraspMetrics& m) {
  return {{"depth_m", m.depth_m},
          {"self_depth_m", m.self_depth_m},
          {"contact_number", m.contact_number},
          {"contact_distance_m", m.contact_distance_m},
          {"contact_spread_m", m.contact_spread_m},
          {"epsilon", m.epsilon},
          {"dfc", m.dfc},
          {"margin_acceleration_m_per_s2", m.margin.acceleration_m_per_s2},
          {"margin_friction", m.margin.friction},
          {"fingers_touching", m.fingers_touching},
          {"penetration_volume_m3", m.volume_m3},
          {"penetration_volume_fine_m3", m.fine_volume_m3}};
}

}  // namespace handhold::synthesis
