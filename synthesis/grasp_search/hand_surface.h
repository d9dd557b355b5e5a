/// The skin of a hand as a search sees it: spheres along its capsules, each with the way its palmar
/// side looks, digits, and pairs that must not overlap.
///
/// Made once of a skeleton and then const; any number of threads may share it. Only spheres and
/// capsules count; hands with ball joints are refused, since the search adds to shapes (a ball
/// joint's rotation vector does not add). Pinned by
/// tests/synthesis/grasp_search/hand_surface_test.cc.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/kinematics.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// Opposition groups of Ben Amor 2008, Fig. 3.
enum class HandGroup { kThumb, kFingers, kPalm };

struct SkinSphere {
  int body = 0;
  int capsule = 0;  ///< number of its shape among HandSurface::capsules()
  geometry::Vec3 p_B = geometry::Vec3::Zero();
  double radius_m = 0.0;
  /// Unit, out of the hand on the palmar side: -z of the body, as bones' frames have it.
  geometry::Vec3 palmar_B = -geometry::Vec3::UnitZ();
  HandGroup group = HandGroup::kPalm;
  int digit = -1;  ///< 0 thumb, 1 index .. 4 little; -1: the palm
};

struct SkinCapsule {
  int body = 0;
  geometry::Vec3 a_B = geometry::Vec3::Zero(), b_B = geometry::Vec3::Zero();
  double radius_m = 0.0;
  HandGroup group = HandGroup::kPalm;
  int digit = -1;
};

class HandSurface {
 public:
  /// kUnsupported: no free root as the first body, a ball joint, no thumb or no finger (bodies are
  /// told by their names: "thumb.dst", "index.prx", "palm").
  static Result<HandSurface> Build(const model::Skeleton& skeleton);

  const model::Skeleton& skeleton() const { return skeleton_; }
  /// At most 1.25 radii apart: what a fit feels with.
  const std::vector<SkinSphere>& spheres() const { return spheres_; }
  /// At most 0.6 radii apart: the capsules themselves to 5 % of their radius, for closing and
  /// scoring.
  const std::vector<SkinSphere>& fine_spheres() const { return fine_spheres_; }
  const std::vector<SkinCapsule>& capsules() const { return capsules_; }
  /// Pairs of capsules of different digits, or of a digit and the palm that no joint connects.
  const std::vector<std::pair<int, int>>& self_pairs() const { return self_pairs_; }
  /// Per digit: its flexion dofs from the knuckle out, as indices among velocities.
  const std::vector<std::vector<int>>& flexion() const { return flexion_; }
  /// n: coordinates of the hand's shape (velocities without the root's six).
  int shape_size() const { return skeleton_.nv() - 6; }
  /// Names of these n.
  std::vector<std::string> shape_names() const;
  /// n: limits.
  const Eigen::VectorXd& lower() const { return lower_; }
  const Eigen::VectorXd& upper() const { return upper_; }
  /// Velocities below which no sphere of a body depends: {0..5 and its own chain}, ascending.
  const std::vector<int>& chain(int body) const { return chains_[static_cast<size_t>(body)]; }

  /// nq of a root pose and a shape; and back.
  Eigen::VectorXd Configuration(const geometry::RigidTransform& X_WRoot,
                                const Eigen::VectorXd& shape) const;
  Eigen::VectorXd Shape(const Eigen::VectorXd& q) const { return q.tail(shape_size()); }
  geometry::RigidTransform Root(const Eigen::VectorXd& q) const;

  /// The deepest overlap of two capsules that should not, metres; 0: none. After ComputePoses.
  double SelfContact(const model::KinematicsData& data) const;
  /// The farthest any angle lies beyond its limit, rad; 0: none.
  double BeyondLimits(const Eigen::VectorXd& shape) const;
  Eigen::VectorXd ClampedToLimits(const Eigen::VectorXd& shape) const {
    return shape.cwiseMax(lower_).cwiseMin(upper_);
  }

 private:
  explicit HandSurface(const model::Skeleton& skeleton) : skeleton_(skeleton) {}
  model::Skeleton skeleton_;
  std::vector<SkinSphere> spheres_, fine_spheres_;
  std::vector<SkinCapsule> capsules_;
  std::vector<std::pair<int, int>> self_pairs_;
  std::vector<std::vector<int>> flexion_;
  std::vector<std::vector<int>> chains_;
  Eigen::VectorXd lower_, upper_;
};

/// Nearest points of two segments: parameters along each in [0, 1]; their distance.
double SegmentDistance(const geometry::Vec3& a0, const geometry::Vec3& a1, const geometry::Vec3& b0,
                       const geometry::Vec3& b1, double* s, double* t);

}  // namespace handhold::synthesis
