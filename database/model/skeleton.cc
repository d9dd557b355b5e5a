#include "database/model/skeleton.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <utility>

#include "database/base/check.h"
#include "database/model/configuration.h"
#include "database/model/shape_json.h"

namespace handhold::model {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

/// Collects findings so that a file with five mistakes is told five.
class Findings {
 public:
  void Add(const std::string& where, const std::string& what) {
    if (++count_ <= 20) text_ += (text_.empty() ? "" : "; ") + where + ": " + what;
  }
  bool empty() const { return count_ == 0; }
  Error ToError(const std::string& name) const {
    std::string more = count_ > 20 ? "; and " + std::to_string(count_ - 20) + " more" : "";
    return {ErrorCode::kInvalid, "skeleton '" + name + "': " + text_ + more};
  }

 private:
  std::string text_;
  int count_ = 0;
};

class UniqueNames {
 public:
  UniqueNames(std::string kind, Findings* findings) : kind_(std::move(kind)), findings_(findings) {}
  void Add(const std::string& name, size_t index) {
    const std::string where = kind_ + " " + std::to_string(index);
    if (name.empty()) {
      findings_->Add(where, "has no name");
    } else if (!seen_.insert(name).second) {
      findings_->Add(where, "the name '" + name + "' is used twice");
    }
  }

 private:
  std::string kind_;
  Findings* findings_;
  std::unordered_set<std::string> seen_;
};

void CheckPose(const RigidTransform& X, const std::string& where, const std::string& what,
               Findings* findings) {
  if (!internal::IsPose(X)) findings->Add(where, what + " is not a rigid transform");
}

/// Unit to rounding afterwards; an axis that is unit already keeps its bits, so that saving and
/// loading changes nothing.
void CheckUnit(Vec3* axis, const std::string& where, const std::string& what, Findings* findings) {
  const double n2 = axis->squaredNorm();
  if (!(std::abs(n2 - 1.0) < 2e-6)) {
    findings->Add(where,
                  what + " is not a unit vector (length " + std::to_string(std::sqrt(n2)) + ")");
  } else if (std::abs(n2 - 1.0) > 1e-15) {
    axis->normalize();
  }
}

int LimitCount(JointType type) {
  switch (type) {
    case JointType::kHinge:
      return 1;
    case JointType::kUniversal:
      return 2;
    case JointType::kBall:
      return 3;
    default:
      return 0;
  }
}

std::vector<std::string> DefaultDofNames(JointType type) {
  switch (type) {
    case JointType::kFixed:
      return {};
    case JointType::kHinge:
      return {"flex"};
    case JointType::kUniversal:
      return {"flex", "abd"};
    case JointType::kBall:
      return {"rot", "flex", "abd"};
    case JointType::kFree:
      return {"rot_x", "rot_y", "rot_z", "lin_x", "lin_y", "lin_z"};
  }
  return {};
}

void CheckJoint(Joint* joint, const std::string& where, Findings* findings) {
  if (joint->type != JointType::kFixed && joint->name.empty()) {
    findings->Add(where, "its joint has no name");
  }
  CheckPose(joint->X_PJp, where, "X_PJp", findings);
  CheckPose(joint->X_BJc, where, "X_BJc", findings);
  if (joint->type == JointType::kHinge || joint->type == JointType::kUniversal) {
    CheckUnit(&joint->axes[0], where, "its axis", findings);
  }
  if (joint->type == JointType::kUniversal) {
    CheckUnit(&joint->axes[1], where, "its axis", findings);
    if (joint->axes[0].cross(joint->axes[1]).norm() < 1e-3) {
      findings->Add(where, "the axes of its universal joint are parallel");
    }
  }
  for (int k = 0; k < LimitCount(joint->type); ++k) {
    if (!(joint->lower_rad[k] <= joint->upper_rad[k])) {
      findings->Add(where, "limit " + std::to_string(k) + ": lower is not <= upper");
    }
  }
  // What the type does not use holds no meaning: one value, so that equal skeletons are equal.
  const Joint unused;
  for (int k = LimitCount(joint->type); k < 3; ++k) {
    joint->lower_rad[k] = unused.lower_rad[k];
    joint->upper_rad[k] = unused.upper_rad[k];
  }
  const int axes = joint->type == JointType::kHinge       ? 1
                   : joint->type == JointType::kUniversal ? 2
                                                          : 0;
  for (int k = axes; k < 2; ++k) joint->axes[k] = unused.axes[k];
  if (joint->dof_names.empty()) joint->dof_names = DefaultDofNames(joint->type);
  if (static_cast<int>(joint->dof_names.size()) != joint->nv()) {
    findings->Add(where, "joint '" + joint->name + "' has " + std::to_string(joint->nv()) +
                             " degrees of freedom but " + std::to_string(joint->dof_names.size()) +
                             " dof names");
  }
}

void CheckBody(Body* body, int index, Findings* findings) {
  const std::string where = "body '" + body->name + "'";
  if (body->parent < 0 || body->parent >= index) {
    findings->Add(where, "parent " + std::to_string(body->parent) + " does not come before it");
    body->parent = 0;
  }
  if (!(body->length_m >= 0) || !std::isfinite(body->length_m)) {
    findings->Add(where, "length_m must be >= 0");
  }
  CheckJoint(&body->joint, where, findings);
  const geometry::MassProperties& m = body->mass;
  if (m.mass_kg == 0) {
    if (m.I_BCom_B != Mat3::Zero() || !m.p_BCom.allFinite()) {
      findings->Add(where, "has no mass but an inertia");
    }
  } else if (Status s = geometry::CheckMass(m); !s) {
    findings->Add(where, s.error().message);
  }
  UniqueNames names("shape of " + where, findings);
  for (size_t i = 0; i < body->shapes.size(); ++i) {
    const BodyShape& shape = body->shapes[i];
    names.Add(shape.name, i);
    CheckPose(shape.X_BS, where, "pose of shape '" + shape.name + "'", findings);
    if (Status s = geometry::CheckShape(shape.shape); !s) {
      findings->Add(where, "shape '" + shape.name + "': " + s.error().message);
    }
  }
}

template <typename Items>
int FindByName(const Items& items, std::string_view name) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

void CheckSites(SkeletonDraft* draft, Findings* findings) {
  UniqueNames names("contact site", findings);
  for (size_t i = 0; i < draft->sites.size(); ++i) {
    ContactSite& site = draft->sites[i];
    const std::string where = "contact site '" + site.name + "'";
    names.Add(site.name, i);
    if (!site.p_BS.allFinite()) findings->Add(where, "its position is not finite");
    CheckUnit(&site.normal_B, where, "its normal", findings);
    if (site.body < 1 || site.body > static_cast<int>(draft->bodies.size())) {
      findings->Add(where, "no such body");
      continue;
    }
    const Body& body = draft->bodies[static_cast<size_t>(site.body) - 1];
    if (site.shapes.empty()) findings->Add(where, "has no shapes");
    for (const std::string& shape : site.shapes) {
      if (FindByName(body.shapes, shape) < 0) {
        findings->Add(where, "body '" + body.name + "' has no shape '" + shape + "'");
      }
    }
  }
}

void CheckDraft(SkeletonDraft* draft, Findings* findings) {
  if (draft->name.empty()) findings->Add("skeleton", "has no name");
  if (draft->side != "right" && draft->side != "left" && !draft->side.empty()) {
    findings->Add("side", "must be 'right', 'left' or empty, not '" + draft->side + "'");
  }
  if (draft->bodies.empty()) findings->Add("skeleton", "has no bodies");
  UniqueNames body_names("body", findings), joint_names("joint of body", findings);
  body_names.Add("W", 0);
  for (size_t i = 0; i < draft->bodies.size(); ++i) {
    Body& body = draft->bodies[i];
    body_names.Add(body.name, i + 1);
    CheckBody(&body, static_cast<int>(i) + 1, findings);
    if (!body.joint.name.empty()) joint_names.Add(body.joint.name, i + 1);
  }
  const int body_count = static_cast<int>(draft->bodies.size()) + 1;
  UniqueNames marker_names("marker", findings), frame_names("frame", findings);
  for (size_t i = 0; i < draft->markers.size(); ++i) {
    const MarkerAttachment& m = draft->markers[i];
    marker_names.Add(m.name, i);
    if (m.body < 0 || m.body >= body_count)
      findings->Add("marker '" + m.name + "'", "no such body");
    if (!m.p_BM.allFinite()) findings->Add("marker '" + m.name + "'", "its position is not finite");
  }
  UniqueNames set_names("marker set", findings);
  for (size_t i = 0; i < draft->marker_sets.size(); ++i) {
    const MarkerSet& set = draft->marker_sets[i];
    set_names.Add(set.name, i);
    for (const std::string& name : set.markers) {
      if (FindByName(draft->markers, name) < 0) {
        findings->Add("marker set '" + set.name + "'", "there is no marker '" + name + "'");
      }
    }
  }
  for (size_t i = 0; i < draft->frames.size(); ++i) {
    const NamedFrame& f = draft->frames[i];
    frame_names.Add(f.name, i);
    if (f.body < 0 || f.body >= body_count) findings->Add("frame '" + f.name + "'", "no such body");
    CheckPose(f.X_BF, "frame '" + f.name + "'", "its pose", findings);
  }
  CheckSites(draft, findings);
}

Mat3 RotationOf(const double* quaternion) {
  return geometry::FromQuaternion<double>(quaternion[0], quaternion[1], quaternion[2],
                                          quaternion[3]);
}

/// quaternion <- unit(quaternion * exp(w)).
void TurnQuaternion(const Vec3& w, Eigen::Ref<Eigen::Vector4d> quaternion) {
  const double angle = w.norm();
  // sin(t/2)/t, by series where the quotient loses digits.
  const double s = angle < 1e-4 ? 0.5 - angle * angle / 48 : std::sin(0.5 * angle) / angle;
  const Eigen::Quaterniond q(quaternion[0], quaternion[1], quaternion[2], quaternion[3]);
  const Eigen::Quaterniond d(std::cos(0.5 * angle), s * w.x(), s * w.y(), s * w.z());
  const Eigen::Quaterniond r = (q * d).normalized();
  quaternion = Eigen::Vector4d(r.w(), r.x(), r.y(), r.z());
}

}  // namespace

std::string_view JointTypeName(JointType type) {
  switch (type) {
    case JointType::kFixed:
      return "fixed";
    case JointType::kHinge:
      return "hinge";
    case JointType::kUniversal:
      return "universal";
    case JointType::kBall:
      return "ball";
    case JointType::kFree:
      return "free";
  }
  return "fixed";
}

int Joint::nq() const {
  switch (type) {
    case JointType::kFixed:
      return 0;
    case JointType::kHinge:
      return 1;
    case JointType::kUniversal:
      return 2;
    case JointType::kBall:
      return 4;
    case JointType::kFree:
      return 7;
  }
  return 0;
}

int Joint::nv() const { return type == JointType::kBall ? 3 : type == JointType::kFree ? 6 : nq(); }

Eigen::Vector3d SwingTwist(const Mat3& R) {
  const Eigen::Vector4d q = geometry::ToQuaternion(R);  // w x y z, w >= 0
  const double w_swing = std::hypot(q[0], q[1]);
  if (w_swing < 1e-12) {
    const double n = std::hypot(q[2], q[3]);
    return {0.0, M_PI * q[2] / n, M_PI * q[3] / n};
  }
  const double twist = 2 * std::atan2(q[1], q[0]);
  // swing = q * conj(twist); its x component vanishes.
  const double c = q[0] / w_swing, s = q[1] / w_swing;
  const double y = q[2] * c - q[3] * s, z = q[3] * c + q[2] * s;
  const double n = std::hypot(y, z);
  const double scale = n < 1e-9 ? 2.0 / w_swing : 2 * std::atan2(n, w_swing) / n;
  return {twist, scale * y, scale * z};
}

Result<Skeleton> Skeleton::Build(SkeletonDraft draft) {
  Findings findings;
  CheckDraft(&draft, &findings);

  Skeleton s;
  s.bodies_.emplace_back().name = "W";
  s.bodies_.insert(s.bodies_.end(), draft.bodies.begin(), draft.bodies.end());
  for (const Body& body : s.bodies_) {
    s.q_index_.push_back(s.nq_);
    s.v_index_.push_back(s.nv_);
    s.nq_ += body.joint.nq();
    s.nv_ += body.joint.nv();
    const RigidTransform& X = body.joint.X_BJc;
    s.X_JcB_.push_back(X.Inverse());
    s.joint_at_origin_.push_back(X.R == Mat3::Identity() && X.p == Vec3::Zero());
    for (const std::string& dof : body.joint.dof_names) {
      s.dof_names_.push_back(body.joint.name + "." + dof);
    }
  }
  UniqueNames dof_names("dof", &findings);
  for (size_t i = 0; i < s.dof_names_.size(); ++i) dof_names.Add(s.dof_names_[i], i);
  if (!findings.empty()) return findings.ToError(draft.name);

  s.moves_.assign(s.bodies_.size() * static_cast<size_t>(s.nv_), 0);
  for (size_t b = 1; b < s.bodies_.size(); ++b) {
    const size_t nv = static_cast<size_t>(s.nv_), parent = static_cast<size_t>(s.bodies_[b].parent);
    std::copy_n(s.moves_.begin() + static_cast<std::ptrdiff_t>(parent * nv), nv,
                s.moves_.begin() + static_cast<std::ptrdiff_t>(b * nv));
    for (int k = 0; k < s.bodies_[b].joint.nv(); ++k) {
      s.moves_[b * nv + static_cast<size_t>(s.v_index_[b] + k)] = 1;
    }
  }
  s.draft_ = std::move(draft);
  return s;
}

int Skeleton::FindBody(std::string_view name) const { return FindByName(bodies_, name); }
int Skeleton::FindMarker(std::string_view name) const { return FindByName(draft_.markers, name); }
int Skeleton::FindFrame(std::string_view name) const { return FindByName(draft_.frames, name); }
int Skeleton::FindSite(std::string_view name) const { return FindByName(draft_.sites, name); }

int Skeleton::FindDof(std::string_view dof_name) const {
  const auto it = std::find(dof_names_.begin(), dof_names_.end(), dof_name);
  return it == dof_names_.end() ? -1 : static_cast<int>(it - dof_names_.begin());
}

Eigen::VectorXd Skeleton::ZeroConfiguration() const {
  Eigen::VectorXd q = Eigen::VectorXd::Zero(nq_);
  for (int b = 1; b < body_count(); ++b) {
    if (body(b).joint.type == JointType::kBall) q[q_index(b)] = 1.0;
    if (body(b).joint.type == JointType::kFree) q[q_index(b) + 3] = 1.0;
  }
  return q;
}

void IntegrateInto(const Skeleton& skeleton, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& v, Eigen::Ref<Eigen::VectorXd> out) {
  CHECK_EQ(q.size(), skeleton.nq());
  CHECK_EQ(v.size(), skeleton.nv());
  CHECK_EQ(out.size(), skeleton.nq());
  if (out.data() != q.data()) out = q;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const int iq = skeleton.q_index(b), iv = skeleton.v_index(b);
    switch (skeleton.body(b).joint.type) {
      case JointType::kFixed:
        break;
      case JointType::kUniversal:
        out[iq + 1] += v[iv + 1];
        [[fallthrough]];
      case JointType::kHinge:
        out[iq] += v[iv];
        break;
      case JointType::kBall:
        TurnQuaternion(v.segment<3>(iv), out.segment<4>(iq));
        break;
      case JointType::kFree:
        // Its quaternion is still that of q.
        out.segment<3>(iq) += RotationOf(out.data() + iq + 3) * v.segment<3>(iv + 3);
        TurnQuaternion(v.segment<3>(iv), out.segment<4>(iq + 3));
        break;
    }
  }
}

void DifferenceInto(const Skeleton& skeleton, const Eigen::Ref<const Eigen::VectorXd>& q0,
                    const Eigen::Ref<const Eigen::VectorXd>& q1, Eigen::Ref<Eigen::VectorXd> out) {
  CHECK_EQ(q0.size(), skeleton.nq());
  CHECK_EQ(q1.size(), skeleton.nq());
  CHECK_EQ(out.size(), skeleton.nv());
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const int iq = skeleton.q_index(b), iv = skeleton.v_index(b);
    switch (skeleton.body(b).joint.type) {
      case JointType::kFixed:
        break;
      case JointType::kUniversal:
        out[iv + 1] = q1[iq + 1] - q0[iq + 1];
        [[fallthrough]];
      case JointType::kHinge:
        out[iv] = q1[iq] - q0[iq];
        break;
      case JointType::kBall: {
        const Mat3 R0 = RotationOf(q0.data() + iq), R1 = RotationOf(q1.data() + iq);
        out.segment<3>(iv) = geometry::Log(R0.transpose() * R1);
        break;
      }
      case JointType::kFree: {
        const Mat3 R0 = RotationOf(q0.data() + iq + 3), R1 = RotationOf(q1.data() + iq + 3);
        out.segment<3>(iv) = geometry::Log(R0.transpose() * R1);
        out.segment<3>(iv + 3) = R0.transpose() * (q1.segment<3>(iq) - q0.segment<3>(iq));
        break;
      }
    }
  }
}

Eigen::VectorXd Skeleton::Integrate(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const {
  Eigen::VectorXd out(nq_);
  IntegrateInto(*this, q, v, out);
  return out;
}

Eigen::VectorXd Skeleton::Difference(const Eigen::VectorXd& q0, const Eigen::VectorXd& q1) const {
  Eigen::VectorXd v(nv_);
  DifferenceInto(*this, q0, q1, v);
  return v;
}

}  // namespace handhold::model
