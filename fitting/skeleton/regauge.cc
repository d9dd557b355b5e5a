#include "fitting/skeleton/regauge.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <Eigen/Geometry>

// A hinge b on P: X_PB(q) = X_PJp Rot(a, q) X_JcB. For any angle and any s, with A = Trans(s a),
//   X_PB(q) = (X_PJp Rot(a, -psi) A) Rot(a, q + psi + phi) X_JcB [X_BJc Rot(a, -phi) A^-1 X_JcB]
// since A and Rot(a, .) commute: what stands in brackets is the same constant for all q, and goes
// to everything that sits on B.
namespace handhold::fitting {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kShortBone_m = 5e-3;
constexpr double kNarrowHinge_rad = 0.53;  // 30 degrees and a little

/// From a body's joint to what it carries: the mean of the joints on it, else the tip's centre.
std::optional<Vec3> Bone(const model::Skeleton& skeleton, int body, int tip) {
  Vec3 sum = Vec3::Zero();
  int count = 0;
  for (int child = body + 1; child < skeleton.body_count(); ++child) {
    if (skeleton.body(child).parent != body) continue;
    sum += skeleton.body(child).joint.X_PJp.p;
    ++count;
  }
  if (count > 0) sum /= count;
  if (count == 0) {
    if (tip < 0 || skeleton.frames()[static_cast<size_t>(tip)].body != body) return std::nullopt;
    sum = skeleton.frames()[static_cast<size_t>(tip)].X_BF.p;
  }
  const Vec3 bone = sum - skeleton.body(body).joint.X_BJc.p;
  return bone.norm() < kShortBone_m ? std::nullopt : std::optional(bone);
}

/// The angle about `axis` from `from` to `to`, of their parts across it; 0 where one has none.
double AngleAbout(const Vec3& axis, const Vec3& from, const Vec3& to) {
  const Vec3 a = from - axis * axis.dot(from), b = to - axis * axis.dot(to);
  if (a.norm() < kShortBone_m || b.norm() < kShortBone_m) return 0.0;
  return std::atan2(axis.dot(a.cross(b)), a.dot(b));
}

/// Twist of R about `axis`.
double TwistAbout(const Vec3& axis, const Mat3& R) {
  const Eigen::Quaterniond q(R);
  return 2.0 * std::atan2(axis.dot(q.vec()), q.w());
}

RigidTransform Turn(const Vec3& axis, double angle) {
  RigidTransform X;
  X.R = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
  return X;
}

/// How far along its axis, in Jp, a hinge's origin lies from where the template has it in the
/// finger: by the markers of its two segments, else by the parent's frame.
double BesideFinger(const model::Skeleton& now, const model::Skeleton& original, int body) {
  double sum = 0.0;
  int count = 0;
  for (size_t m = 0; m < now.markers().size(); ++m) {
    const int on = now.markers()[m].body;
    if (on != body && (on != now.body(body).parent || on == 0)) continue;
    const auto along = [&](const model::Skeleton& of) {
      const model::Joint& joint = of.body(body).joint;
      const RigidTransform& X_BodyJ = on == body ? joint.X_BJc : joint.X_PJp;
      return (X_BodyJ.R * joint.axes[0]).dot(of.markers()[m].p_BM - X_BodyJ.p);
    };
    sum += along(now) - along(original);
    ++count;
  }
  if (count > 0) return sum / count;
  const model::Joint &joint = now.body(body).joint, &then = original.body(body).joint;
  return (joint.X_PJp.R * joint.axes[0]).dot(then.X_PJp.p - joint.X_PJp.p);
}

/// Everything fitted that sits on `body` seen from a frame that was moved by X_OldNew.
void MoveFrame(int body, const RigidTransform& X_OldNew, int tip, model::SkeletonDraft* draft) {
  const RigidTransform X_NewOld = X_OldNew.Inverse();
  for (model::Body& child : draft->bodies) {
    if (child.parent == body) child.joint.X_PJp = X_NewOld * child.joint.X_PJp;
  }
  for (model::MarkerAttachment& marker : draft->markers) {
    if (marker.body == body) marker.p_BM = X_NewOld * marker.p_BM;
  }
  if (tip >= 0 && draft->frames[static_cast<size_t>(tip)].body == body) {
    model::NamedFrame& frame = draft->frames[static_cast<size_t>(tip)];
    frame.X_BF.p = X_NewOld * frame.X_BF.p;
  }
}

}  // namespace

Result<Regauged> Regauge(const model::Skeleton& fitted, const model::Skeleton& original, int tip) {
  Regauged out{fitted, Eigen::VectorXd::Zero(fitted.nv()),
               std::vector<double>(static_cast<size_t>(fitted.body_count()), 0.0)};
  for (int b = 1; b < fitted.body_count(); ++b) {  // the parent's frame first
    if (fitted.body(b).joint.type != model::JointType::kHinge) continue;
    model::SkeletonDraft draft = out.skeleton.draft();
    model::Joint& joint = draft.bodies[static_cast<size_t>(b - 1)].joint;
    const Vec3 axis = joint.axes[0];
    const double beside_m = BesideFinger(out.skeleton, original, b);
    const double move_m = std::abs(beside_m) >= kLeastOriginMove_m ? beside_m : 0.0;
    const RigidTransform along = RigidTransform::Translation(move_m * axis);
    // psi: the parent's side of the joint turned as near to the template's as a turn about the axis
    // comes.
    const double psi = TwistAbout(axis, original.body(b).joint.X_PJp.R.transpose() * joint.X_PJp.R);
    joint.X_PJp = joint.X_PJp * Turn(axis, -psi) * along;
    // phi: the body's bone in its frame where the template has it.
    const std::optional<Vec3> now = Bone(out.skeleton, b, tip), then = Bone(original, b, tip);
    const Vec3 axis_B = joint.X_BJc.R * axis;
    const double phi = now && then ? AngleAbout(axis_B, *then, *now) : 0.0;
    const RigidTransform& X_BJc = joint.X_BJc;
    MoveFrame(b, X_BJc * Turn(axis, phi) * along * X_BJc.Inverse(), tip, &draft);
    out.angle_change[fitted.v_index(b)] = psi + phi;
    out.origin_moved_m[static_cast<size_t>(b)] = move_m;
    HANDHOLD_ASSIGN(out.skeleton, model::Skeleton::Build(std::move(draft)));
  }
  return out;
}

Result<Regauged> WithinNarrowLimits(const model::Skeleton& fitted,
                                    const std::vector<Eigen::VectorXd>& poses, int tip) {
  Regauged out{fitted, Eigen::VectorXd::Zero(fitted.nv()),
               std::vector<double>(static_cast<size_t>(fitted.body_count()), 0.0)};
  for (int b = 1; b < fitted.body_count(); ++b) {
    const model::Joint& joint = fitted.body(b).joint;
    if (joint.type != model::JointType::kHinge || poses.empty() ||
        !(joint.upper_rad[0] - joint.lower_rad[0] <= kNarrowHinge_rad))
      continue;
    std::vector<double> angles;
    for (const Eigen::VectorXd& q : poses) angles.push_back(q[fitted.q_index(b)]);
    std::sort(angles.begin(), angles.end());
    const size_t rare = angles.size() / 50;  // outliers do not move a zero
    const double least = angles[rare], most = angles[angles.size() - 1 - rare];
    double shift = 0.0;
    if (most - least > joint.upper_rad[0] - joint.lower_rad[0]) {
      shift = 0.5 * (joint.upper_rad[0] + joint.lower_rad[0] - most - least);
    } else if (most > joint.upper_rad[0]) {
      shift = joint.upper_rad[0] - most;
    } else if (least < joint.lower_rad[0]) {
      shift = joint.lower_rad[0] - least;
    }
    if (shift == 0.0) continue;
    model::SkeletonDraft draft = out.skeleton.draft();
    const RigidTransform& X_BJc = joint.X_BJc;
    MoveFrame(b, X_BJc * Turn(joint.axes[0], shift) * X_BJc.Inverse(), tip, &draft);
    out.angle_change[fitted.v_index(b)] = shift;
    HANDHOLD_ASSIGN(out.skeleton, model::Skeleton::Build(std::move(draft)));
  }
  return out;
}

Mat3 BoneTurn(const model::Skeleton& fitted, const model::Skeleton& original, int body, int tip) {
  const std::optional<Vec3> now = Bone(fitted, body, tip), then = Bone(original, body, tip);
  if (!now || !then) return Mat3::Identity();
  return Eigen::Quaterniond::FromTwoVectors(*then, *now).toRotationMatrix();
}

}  // namespace handhold::fitting
