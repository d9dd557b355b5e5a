#include "synthesis/grasp_search/hand_surface.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "database/base/check.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr std::string_view kDigits[] = {"thumb", "index", "middle", "ring", "little"};

int DigitOf(const std::string& body) {
  for (int d = 0; d < 5; ++d) {
    if (body.rfind(std::string(kDigits[d]) + ".", 0) == 0) return d;
  }
  return -1;
}

/// Connected bodies' capsules overlap at the joint: that is no contact.
bool Connected(const model::Skeleton& s, int a, int b) {
  return a == b || s.body(a).parent == b || s.body(b).parent == a;
}

}  // namespace

double SegmentDistance(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1, double* s,
                       double* t) {
  const Vec3 u = a1 - a0, v = b1 - b0, w = a0 - b0;
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), uw = u.dot(w),
               vw = v.dot(w);
  const double determinant = uu * vv - uv * uv;
  *s =
      determinant > 1e-12 * uu * vv ? std::clamp((uv * vw - vv * uw) / determinant, 0.0, 1.0) : 0.0;
  *t = vv > 0 ? std::clamp((uv * *s + vw) / vv, 0.0, 1.0) : 0.0;
  *s = uu > 0 ? std::clamp((uv * *t - uw) / uu, 0.0, 1.0) : 0.0;
  return (w + *s * u - *t * v).norm();
}

Result<HandSurface> HandSurface::Build(const model::Skeleton& skeleton) {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::kUnsupported,
                 "hand '" + skeleton.name() + "' cannot be searched with: " + why};
  };
  if (skeleton.body_count() < 2 || skeleton.body(1).joint.type != model::JointType::kFree)
    return refuse("its first body has no free joint to the world (hand27 has)");
  HandSurface hand(skeleton);
  hand.lower_.resize(hand.shape_size());
  hand.upper_.resize(hand.shape_size());
  hand.flexion_.resize(5);
  for (int b = 2; b < skeleton.body_count(); ++b) {
    const model::Joint& joint = skeleton.body(b).joint;
    if (joint.type == model::JointType::kBall || joint.type == model::JointType::kFree)
      return refuse("joint '" + joint.name + "' is neither fixed, a hinge nor universal");
    for (int k = 0; k < joint.nv(); ++k) {
      const int at = skeleton.v_index(b) + k;
      hand.lower_[at - 6] = joint.lower_rad[k];
      hand.upper_[at - 6] = joint.upper_rad[k];
      const int digit = DigitOf(skeleton.body(b).name);
      const bool flexes = std::abs(joint.axes[k].y()) > 0.7;
      if (digit >= 0 && flexes) hand.flexion_[static_cast<size_t>(digit)].push_back(at);
    }
  }
  hand.chains_.resize(static_cast<size_t>(skeleton.body_count()));
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Body& body = skeleton.body(b);
    for (int dof = 0; dof < skeleton.nv(); ++dof) {
      if (skeleton.DofMovesBody(dof, b)) hand.chains_[static_cast<size_t>(b)].push_back(dof);
    }
    const int digit = DigitOf(body.name);
    // A metacarpal that is fixed to the palm is palm; the thumb's moves.
    const bool moves = hand.chains_[static_cast<size_t>(b)].size() > 6;
    const bool palm = digit < 0 || !moves || (digit > 0 && body.name.ends_with(".mtc"));
    const HandGroup group = palm         ? HandGroup::kPalm
                            : digit == 0 ? HandGroup::kThumb
                                         : HandGroup::kFingers;
    for (const model::BodyShape& shape : body.shapes) {
      Vec3 a = shape.X_BS.p, e = a;
      double radius = 0.0;
      if (const auto* sphere = std::get_if<geometry::Sphere>(&shape.shape)) {
        radius = sphere->radius_m;
      } else if (const auto* capsule = std::get_if<geometry::Capsule>(&shape.shape)) {
        radius = capsule->radius_m;
        const Vec3 half = 0.5 * capsule->length_m * shape.X_BS.R.col(2);
        a = shape.X_BS.p - half;
        e = shape.X_BS.p + half;
      } else {
        continue;
      }
      // From the proximal end.
      if (e.x() < a.x() - 1e-9) std::swap(a, e);
      const int number = static_cast<int>(hand.capsules_.size());
      hand.capsules_.push_back({b, a, e, radius, group, palm ? -1 : digit});
      const double length = (e - a).norm();
      for (const auto& [spacing, spheres] :
           {std::pair{1.25, &hand.spheres_}, {0.6, &hand.fine_spheres_}}) {
        const int count = std::max(1, static_cast<int>(std::ceil(length / (spacing * radius))));
        // The proximal end of a moving phalanx is the distal end of the one before.
        const bool shared =
            !palm && length > 0 && hand.chains_[static_cast<size_t>(body.parent)].size() > 6;
        for (int i = shared ? 1 : 0; i <= (length > 0 ? count : 0); ++i) {
          SkinSphere s;
          s.body = b;
          s.capsule = number;
          s.p_B = a + (e - a) * (static_cast<double>(i) / count);
          s.radius_m = radius;
          s.group = group;
          s.digit = palm ? -1 : digit;
          spheres->push_back(s);
        }
      }
    }
  }
  const auto has = [&](HandGroup g) {
    return std::ranges::any_of(hand.spheres_, [&](const SkinSphere& s) { return s.group == g; });
  };
  if (!has(HandGroup::kThumb) || !has(HandGroup::kFingers))
    return refuse("it has no thumb or no finger with capsules");
  const auto& c = hand.capsules_;
  for (int i = 0; i < static_cast<int>(c.size()); ++i) {
    for (int j = i + 1; j < static_cast<int>(c.size()); ++j) {
      const SkinCapsule &x = c[static_cast<size_t>(i)], &y = c[static_cast<size_t>(j)];
      if (x.group == HandGroup::kPalm && y.group == HandGroup::kPalm) continue;
      if (Connected(skeleton, x.body, y.body)) continue;
      // Neighbouring links fold onto each other two joints apart: flesh, no contact of the plan.
      if (x.digit == y.digit && x.digit >= 0) continue;
      // The root of a digit beside its neighbour, and beside the palm, overlaps in every posture.
      const auto root = [&](const SkinCapsule& k) {
        const int parent = skeleton.body(k.body).parent;
        return k.digit >= 0 && hand.chains_[static_cast<size_t>(parent)].size() == 6;
      };
      if (root(x) && (y.group == HandGroup::kPalm || root(y))) continue;
      if (root(y) && x.group == HandGroup::kPalm) continue;
      hand.self_pairs_.emplace_back(i, j);
    }
  }
  return hand;
}

std::vector<std::string> HandSurface::shape_names() const {
  return {skeleton_.dof_names().begin() + 6, skeleton_.dof_names().end()};
}

Eigen::VectorXd HandSurface::Configuration(const RigidTransform& X_WRoot,
                                           const Eigen::VectorXd& shape) const {
  CHECK_EQ(shape.size(), shape_size());
  Eigen::VectorXd q(skeleton_.nq());
  q.head<3>() = X_WRoot.p;
  q.segment<4>(3) = geometry::ToQuaternion(X_WRoot.R);
  q.tail(shape_size()) = shape;
  return q;
}

RigidTransform HandSurface::Root(const Eigen::VectorXd& q) const {
  return {geometry::FromQuaternion<double>(q[3], q[4], q[5], q[6]), q.head<3>()};
}

double HandSurface::SelfContact(const model::KinematicsData& data) const {
  double deepest = 0.0;
  for (const auto& [i, j] : self_pairs_) {
    const SkinCapsule &x = capsules_[static_cast<size_t>(i)],
                      &y = capsules_[static_cast<size_t>(j)];
    const RigidTransform& X = data.X_WB[static_cast<size_t>(x.body)];
    const RigidTransform& Y = data.X_WB[static_cast<size_t>(y.body)];
    double s = 0, t = 0;
    const double d = SegmentDistance(X * x.a_B, X * x.b_B, Y * y.a_B, Y * y.b_B, &s, &t) -
                     x.radius_m - y.radius_m;
    deepest = std::max(deepest, -d);
  }
  return deepest;
}

double HandSurface::BeyondLimits(const Eigen::VectorXd& shape) const {
  return std::max({0.0, (lower_ - shape).maxCoeff(), (shape - upper_).maxCoeff()});
}

}  // namespace handhold::synthesis
