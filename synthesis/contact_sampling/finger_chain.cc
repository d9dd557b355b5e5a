#include "synthesis/contact_sampling/finger_chain.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace handhold::synthesis {

using geometry::RigidTransform;
using geometry::Vec3;

namespace {

constexpr double kRestFlexion_rad = 0.3;

/// Capsules and spheres of a body, in its frame.
std::vector<PalmCapsule> RoundShapesOf(const model::Body& body) {
  std::vector<PalmCapsule> out;
  for (const model::BodyShape& s : body.shapes) {
    if (const auto* capsule = std::get_if<geometry::Capsule>(&s.shape)) {
      const Vec3 half = 0.5 * capsule->length_m * Vec3::UnitZ();
      out.push_back({s.X_BS * Vec3(-half), s.X_BS * half, capsule->radius_m});
    } else if (const auto* sphere = std::get_if<geometry::Sphere>(&s.shape)) {
      out.push_back({s.X_BS.p, s.X_BS.p, sphere->radius_m});
    }
  }
  return out;
}

std::string FingerName(const std::string& body) { return body.substr(0, body.find('.')); }

/// Adds the axes of one body's joint; X is the pose behind the last axis and ends at the body.
Status AddJoint(const model::Skeleton& hand, int body, RigidTransform* X, Finger* finger) {
  const model::Joint& joint = hand.body(body).joint;
  RigidTransform before = *X * joint.X_PJp;
  if (joint.type == model::JointType::kBall || joint.type == model::JointType::kFree) {
    return Error{ErrorCode::kUnsupported, "joint " + joint.name +
                                              " is a ball or free joint: fingers are solved on "
                                              "hinges and universal joints; take hand29"};
  }
  for (int k = 0; k < joint.nv(); ++k) {
    finger->axes.push_back({hand.q_index(body) + k, hand.v_index(body) + k, before, joint.axes[k],
                            joint.lower_rad[k], joint.upper_rad[k],
                            k < static_cast<int>(joint.dof_names.size()) &&
                                joint.dof_names[static_cast<size_t>(k)] == "flex"});
    before = {};
  }
  *X = before * hand.X_JcB(body);
  return {};
}

void SetNeutral(Finger* finger) {
  finger->rest.resize(finger->count());
  for (int k = 0; k < finger->count(); ++k) {
    const FingerAxis& axis = finger->axes[static_cast<size_t>(k)];
    finger->rest[k] =
        std::clamp(axis.flexes ? kRestFlexion_rad : 0.0, axis.lower_rad, axis.upper_rad);
    if (!axis.flexes) continue;
    finger->mcp = finger->pip;
    finger->pip = finger->dip;
    finger->dip = k;
  }
}

}  // namespace

Result<FingerChains> FingerChains::Build(const model::Skeleton& hand, const std::string& palm) {
  FingerChains out;
  out.palm_body = hand.FindBody(palm);
  if (out.palm_body < 0)
    return Error{ErrorCode::kNotFound, "hand " + hand.name() + " has no body called " + palm};
  out.palm = RoundShapesOf(hand.body(out.palm_body));
  for (int first = 1; first < hand.body_count(); ++first) {
    if (hand.body(first).parent != out.palm_body) continue;
    Finger finger;
    finger.name = FingerName(hand.body(first).name);
    RigidTransform X;
    for (int body = first; body >= 0;) {
      HANDHOLD_TRY(AddJoint(hand, body, &X, &finger));
      for (const PalmCapsule& c : RoundShapesOf(hand.body(body))) {
        if (finger.axes.empty()) {
          out.palm.push_back({X * c.a_R, X * c.b_R, c.radius_m});
        } else {
          finger.capsules.push_back(
              {static_cast<int>(finger.links.size()), c.a_R, c.b_R, c.radius_m});
        }
      }
      if (!finger.axes.empty()) finger.links.push_back({body, finger.count(), X});
      int next = -1;
      for (int child = body + 1; child < hand.body_count(); ++child) {
        if (hand.body(child).parent != body) continue;
        if (next >= 0) return Error{ErrorCode::kUnsupported, "finger " + finger.name + " forks"};
        next = child;
      }
      body = next;
    }
    if (finger.count() > kMostAxes || static_cast<int>(finger.links.size()) > kMostLinks) {
      return Error{ErrorCode::kUnsupported,
                   "finger " + finger.name + " has more than 6 axes or 5 links"};
    }
    if (finger.capsules.empty() || finger.capsules.back().link != finger.last_link()) continue;
    finger.tip = static_cast<int>(finger.capsules.size()) - 1;
    SetNeutral(&finger);
    out.fingers.push_back(std::move(finger));
  }
  return out;
}

void PoseFinger(const Finger& finger, const RigidTransform& X_OR, const FingerVector& q,
                FingerPose* pose) {
  RigidTransform X = X_OR;
  size_t link = 0;
  for (size_t k = 0; k < finger.axes.size(); ++k) {
    const FingerAxis& axis = finger.axes[k];
    X = X * axis.X_before;
    pose->axis_O[k] = X.R * axis.axis;
    pose->at_O[k] = X.p;
    X.R = X.R * geometry::AxisAngle(axis.axis, q[static_cast<Eigen::Index>(k)]);
    for (; link < finger.links.size() && finger.links[link].axes == static_cast<int>(k) + 1; ++link)
      pose->X_OL[link] = X * finger.links[link].X_AL;
  }
}

double NearestOfSegments(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1, double* s,
                         double* t) {
  const Vec3 u = a1 - a0, v = b1 - b0, w = a0 - b0;
  const double uu = u.squaredNorm(), uv = u.dot(v), vv = v.squaredNorm();
  const double uw = u.dot(w), vw = v.dot(w);
  const double det = uu * vv - uv * uv;
  double at = det > 1e-12 * uu * vv ? std::clamp((uv * vw - vv * uw) / det, 0.0, 1.0) : 0.0;
  double bt = vv > 0 ? (uv * at + vw) / vv : 0.0;
  if (bt < 0 || bt > 1) {
    bt = std::clamp(bt, 0.0, 1.0);
    at = uu > 0 ? std::clamp((uv * bt - uw) / uu, 0.0, 1.0) : 0.0;
  }
  *s = at;
  *t = bt;
  return (w + at * u - bt * v).norm();
}

}  // namespace handhold::synthesis
