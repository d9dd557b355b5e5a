/// An articulated hand as a tree of rigid bodies: what every fit, simulation and picture agrees a
/// hand is.
///
/// A Skeleton is built once (SkeletonDraft -> Build), validated, then const and shared. Body 0 is
/// always the world "W", with no joint. Bodies come parents first. Scratch for computations lives
/// in KinematicsData / DynamicsData (kinematics.h), one per thread.
///
/// Coordinates. q holds the joints' positions in order of bodies, v their velocities:
///   - fixed 0/0
///   - hinge 1/1: rad, + about its axis
///   - universal 2/2: rad, about axis 1 then axis 2
///   - ball 4/3: unit quaternion w x y z of R_JpJc; v = angular velocity of child in parent, in the
///     child's joint frame
///   - free 7/6: p of child in the parent's joint frame, quaternion as ball; v = angular velocity,
///     then linear velocity of the child's joint origin, both in the child's joint frame
/// theta of the papers is q itself where every joint is a hinge or a universal; deviations of a
/// ball joint are rotation vectors in its v-space, so that C (compliance) is always nv x nv and tau
/// always has nv entries.
///
/// Frames of our own hands (schemas/hands): a body's frame starts at its joint to the parent, x
/// points distally along the bone, z dorsally, y = z x x (for a right hand: radially). Rotation
/// about +y is flexion, about +z abduction to the radial side (right hand), about +x axial. World Z
/// is up; a straight right hand, palm down, points along +X. Pinned by
/// tests/database/model/{skeleton,kinematics,hand_library}_test.cc.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"

namespace handhold::model {

enum class JointType { kFixed, kHinge, kUniversal, kBall, kFree };
std::string_view JointTypeName(JointType type);  ///< "fixed", "hinge", "universal", "ball", "free"

/// Joint of a body to its parent. Joint frame Jp is fixed in the parent body P, Jc in the child
/// body B; at q = 0 they coincide.
struct Joint {
  JointType type = JointType::kFixed;
  std::string name;                    ///< "mp", "R.index.mcp"
  std::vector<std::string> dof_names;  ///< one per velocity: "flex", "abd", "rot"
  geometry::RigidTransform X_PJp;  ///< where the joint sits in the parent; its rotation is part of
                                   ///< the joint's zero
  geometry::RigidTransform X_BJc;  ///< where it sits in the child; usually identity: the child's
                                   ///< frame starts at its joint
  /// Unit axes in the joint frame: hinge uses [0], universal [0] (fixed in Jp) and [1] (fixed in
  /// Jc).
  geometry::Vec3 axes[2] = {geometry::Vec3::UnitZ(), geometry::Vec3::UnitX()};
  /// Hinge and universal: per axis. Ball: index 0 is twist about x, 1 and 2 are swing of the
  /// child's x axis about y and z (SwingTwist below; an elliptic cone around the middle of the
  /// ranges). Free joints: unused. Radians; +-infinity: free.
  Eigen::Vector3d lower_rad = Eigen::Vector3d::Constant(-std::numeric_limits<double>::infinity());
  Eigen::Vector3d upper_rad = Eigen::Vector3d::Constant(std::numeric_limits<double>::infinity());
  std::string source;  ///< where placement, axes and limits come from

  int nq() const;
  int nv() const;
};

/// A shape rigidly attached to a body, for contact and pictures.
struct BodyShape {
  std::string name;
  geometry::RigidTransform X_BS;
  geometry::Shape shape;
  std::string source;
};

struct Body {
  std::string name;  ///< "palm", "index.prx"
  int parent = 0;    ///< index in the Skeleton (0 is the world); < own index
  Joint joint;
  geometry::MassProperties mass;  ///< in the body's frame B; zero mass allowed
  std::vector<BodyShape> shapes;
  /// Joint to next joint, for the last segment joint to the end of the finger; what scaling to
  /// measured lengths divides by (hand_library.h). 0: not known.
  double length_m = 0.0;
  std::string source;       ///< where length and mass come from
  std::string mass_source;  ///< where mass, centre and inertia come from, where `source` is silent
};

/// A marker glued to a body.
struct MarkerAttachment {
  std::string name;  ///< "R.IND.PRX.1"
  int body = 0;
  geometry::Vec3 p_BM = geometry::Vec3::Zero();  ///< metres, in the body's frame
  std::string source;
};

/// A named frame on a body: "index.tip" (centre of the fingertip sphere), "index.pad", "palm",
/// "sensor".
struct NamedFrame {
  std::string name;
  int body = 0;
  geometry::RigidTransform X_BF;
  std::string source;
};

/// A part of the hand that touches: "R.index.pad". Contacts, sensors' mounts and grasps name the
/// hand's side of a touch by it. Sites of one body may share a shape (the pad and the side of a
/// phalanx are two sides of one capsule): whoever asks which site a contact belongs to takes, among
/// those of the touched shape, the one whose normal is nearest to the skin's.
struct ContactSite {
  std::string name;                              ///< "R.index.pad", "R.palm"
  int body = 0;                                  ///< never the world
  std::vector<std::string> shapes;               ///< names of shapes of that body, one at least
  geometry::Vec3 p_BS = geometry::Vec3::Zero();  ///< the site's middle, on the skin; metres
  geometry::Vec3 normal_B = geometry::Vec3::UnitZ();  ///< unit, out of the hand
  std::string source;
};

/// Markers worn together: "22" and "30" of the whole hands.
struct MarkerSet {
  std::string name;
  std::vector<std::string> markers;
};

/// A reference that `source` strings name in short.
struct SourceNote {
  std::string key;   ///< "greiner1991"
  std::string text;  ///< what it is, and how far it can be trusted
};

/// What a Skeleton is made from; open to editing until Build.
struct SkeletonDraft {
  std::string name;  ///< "finger4"
  std::string side;  ///< "right", "left", or empty: not a hand
  /// Without the world: bodies[k] becomes body k + 1, parent 0 is the world, parent k is bodies[k -
  /// 1].
  std::vector<Body> bodies;
  std::vector<MarkerAttachment> markers;
  std::vector<MarkerSet> marker_sets;  ///< subsets of the markers; WithMarkerSet (hand_library.h)
  std::vector<NamedFrame> frames;
  std::vector<ContactSite> sites;
  std::vector<SourceNote> sources;
  std::string source;  ///< who made it and from what
};

/// Twist about x, then swing about y and z, of a ball joint's rotation: R = Exp((0, y, z)) *
/// Rx(twist). Returns (twist, y, z) in radians; twist in (-pi, pi]. At a swing of pi the twist is
/// not defined: 0 is returned.
Eigen::Vector3d SwingTwist(const geometry::Mat3& R);

class Skeleton {
 public:
  /// Checks names (unique, not empty), parents, axes, rotations, limits, masses and inertias
  /// (physically possible), markers, frames and sites (their shapes are the body's own), and gives
  /// every joint its place in q and v. All findings in one message, kInvalid. Axes and normals are
  /// made unit when they are within 1e-6 of it; limits and axes that a joint type does not use are
  /// reset; empty dof names become flex (hinge), flex abd (universal), rot flex abd (ball), rot_x
  /// .. lin_z (free).
  static Result<Skeleton> Build(SkeletonDraft draft);

  const std::string& name() const { return draft_.name; }
  const SkeletonDraft& draft() const { return draft_; }
  int nq() const { return nq_; }
  int nv() const { return nv_; }
  /// Bodies including the world at 0.
  int body_count() const { return static_cast<int>(bodies_.size()); }
  const Body& body(int i) const { return bodies_[static_cast<size_t>(i)]; }
  int q_index(int body) const { return q_index_[static_cast<size_t>(body)]; }
  int v_index(int body) const { return v_index_[static_cast<size_t>(body)]; }
  /// True when velocity `dof` moves `body`: the diagonal of S_i, Kry & Pai eq. 4.
  bool DofMovesBody(int dof, int body) const {
    return moves_[static_cast<size_t>(body) * static_cast<size_t>(nv_) +
                  static_cast<size_t>(dof)] != 0;
  }
  /// X_BJc of a body's joint, inverted: constant, used by every pass over the tree.
  const geometry::RigidTransform& X_JcB(int body) const {
    return X_JcB_[static_cast<size_t>(body)];
  }
  /// True when the child's frame is the joint's child frame (X_BJc is the identity).
  bool joint_at_origin(int body) const { return joint_at_origin_[static_cast<size_t>(body)] != 0; }
  const std::vector<MarkerAttachment>& markers() const { return draft_.markers; }
  const std::vector<NamedFrame>& frames() const { return draft_.frames; }
  const std::vector<ContactSite>& sites() const { return draft_.sites; }

  /// Index, or -1.
  int FindBody(std::string_view name) const;
  int FindMarker(std::string_view name) const;
  int FindFrame(std::string_view name) const;
  int FindSite(std::string_view name) const;
  /// "mp.flex": joint name, dot, dof name; one per velocity, in order. Never address a dof by
  /// position across a boundary.
  const std::vector<std::string>& dof_names() const { return dof_names_; }
  int FindDof(std::string_view dof_name) const;

  /// The configuration with every angle 0 and every quaternion identity.
  Eigen::VectorXd ZeroConfiguration() const;
  /// q moved along v for 1 unit: q (+) v. Hinges add; quaternions multiply by exp(v) on the right
  /// and are made unit; a free joint's position moves by R v_lin.
  Eigen::VectorXd Integrate(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const;
  /// The v with Integrate(q0, v) = q1, shortest way. The sign of quaternions plays no part.
  Eigen::VectorXd Difference(const Eigen::VectorXd& q0, const Eigen::VectorXd& q1) const;

 private:
  Skeleton() = default;
  SkeletonDraft draft_;
  std::vector<Body> bodies_;
  std::vector<int> q_index_, v_index_;
  std::vector<geometry::RigidTransform> X_JcB_;
  std::vector<char> joint_at_origin_;
  std::vector<char> moves_;
  std::vector<std::string> dof_names_;
  int nq_ = 0, nv_ = 0;
};

}  // namespace handhold::model
