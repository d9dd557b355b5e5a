/// A hand taken apart: each finger a serial chain of its own on the palm, so that what a finger
/// must do is solved in four or five unknowns.
///
/// The guiding configuration of Ye & Liu 2012, section 4.1, "when the position and orientation of
/// the wrist is fixed, a finger pose can be approximately determined by a single contact point".
/// Frames: R the palm body, L a link (a body of the finger), O whatever frame the palm's pose is
/// given in: the held object's. Chains are built once and then const. Pinned by
/// tests/synthesis/contact_sampling/finger_chain_test.cc against database/model/kinematics.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

inline constexpr int kMostAxes = 6;   ///< of one finger
inline constexpr int kMostLinks = 5;  ///< of one finger
/// The angles of one finger, in order of its axes.
using FingerVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostAxes, 1>;

struct FingerAxis {
  int q_index = 0, v_index = 0;       ///< in the skeleton's configuration and velocity
  geometry::RigidTransform X_before;  ///< from behind the axis before (or R) to this axis' frame
  geometry::Vec3 axis = geometry::Vec3::UnitY();
  double lower_rad = 0.0, upper_rad = 0.0;
  bool flexes = false;  ///< its dof is called "flex"
};

struct FingerLink {
  int body = 0;
  int axes = 0;                   ///< how many of the finger's axes move it
  geometry::RigidTransform X_AL;  ///< in the frame behind the last of them
};

struct FingerCapsule {
  int link = 0;
  geometry::Vec3 a_L = geometry::Vec3::Zero(), b_L = geometry::Vec3::Zero();
  double radius_m = 0.0;
};

struct Finger {
  std::string name;  ///< "index"
  int hand = 0;      ///< which of the task's hands
  std::vector<FingerAxis> axes;
  std::vector<FingerLink> links;  ///< those that move, proximal first
  std::vector<FingerCapsule> capsules;
  FingerVector rest;  ///< neutral: each flexion at 0.3 rad, all else 0, within limits
  int tip = 0;        ///< capsule of the last link
  int mcp = -1, pip = -1, dip = -1;  ///< its last three flexions, as axes

  int count() const { return static_cast<int>(axes.size()); }
  int last_link() const { return static_cast<int>(links.size()) - 1; }
  /// The first link that is kept out of the object: the last three. What lies before has very
  /// little freedom when the wrist is given (section 4.3).
  int first_felt() const { return last_link() > 2 ? last_link() - 2 : 0; }
};

/// A capsule that is rigid on the palm.
struct PalmCapsule {
  geometry::Vec3 a_R = geometry::Vec3::Zero(), b_R = geometry::Vec3::Zero();
  double radius_m = 0.0;
};

struct FingerChains {
  int palm_body = 0;
  std::vector<Finger> fingers;  ///< in the order of the skeleton's bodies: thumb first
  std::vector<PalmCapsule> palm;

  /// kNotFound: no body called `palm`. kUnsupported: a ball or free joint in a finger, a finger
  /// that forks, or one with more than kMostAxes axes or kMostLinks links.
  static Result<FingerChains> Build(const model::Skeleton& hand, const std::string& palm = "palm");
};

/// Where a finger is: links and axes in O.
struct FingerPose {
  std::array<geometry::RigidTransform, kMostLinks> X_OL;
  std::array<geometry::Vec3, kMostAxes> axis_O, at_O;

  geometry::Vec3 Point(int link, const geometry::Vec3& p_L) const {
    return X_OL[static_cast<size_t>(link)] * p_L;
  }
};
void PoseFinger(const Finger& finger, const geometry::RigidTransform& X_OR, const FingerVector& q,
                FingerPose* pose);

/// Least distance between two segments and where along each, 0 at the first end, 1 at the second.
double NearestOfSegments(const geometry::Vec3& a0, const geometry::Vec3& a1,
                         const geometry::Vec3& b0, const geometry::Vec3& b1, double* s, double* t);

}  // namespace handhold::synthesis
