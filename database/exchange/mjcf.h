/// A grasp as an MJCF scene: hand, prop and the springs that squeeze, for MuJoCo.
///
/// The hand's root is fixed where it grasps; its joints are MuJoCo's own (ball: three position
/// actuators along the axes of the child's joint frame, on the rotation vector; hinge and
/// universal: hinges). The keyframe "grasp" holds the posture and, as controls, where the springs
/// pull to. The prop is a free body "prop". No gravity; options are those of protocol P1's
/// publication (implicitfast, elliptic cones, impratio 10, 2 noslip iterations, condim 4) but for
/// the step. Meshes collide as their convex hull, or as the convex pieces that are given. Tests:
/// tests/database/exchange/mjcf_test.cc, which compiles it with MuJoCo.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/geometry/mesh.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::exchange {

struct MjcfGrasp {
  const model::Skeleton* hand = nullptr;  ///< not owned
  geometry::RigidTransform X_WH;          ///< of its world
  Eigen::VectorXd q, q_squeeze;           ///< nq; the root of q_squeeze plays no part
  /// nv, per velocity: N m/rad and N m s/rad. What couples axes of a ball is left out.
  Eigen::VectorXd stiffness, damping;
  const model::Prop* prop = nullptr;  ///< not owned
  geometry::RigidTransform X_WP;
  geometry::MassProperties prop_mass;              ///< in P
  double friction = 0.6;                           ///< sideways; 0.02 in torsion
  std::vector<geometry::Mesh> convex_pieces = {};  ///< instead of the prop's meshes, in P
  double step_s = 2e-3;
  bool self_contact = false;
};

/// kInvalid: sizes that do not fit, or a prop mass that is not physical. kUnsupported: a free joint
/// below the root.
Result<std::string> WriteMjcf(const MjcfGrasp& grasp);

}  // namespace handhold::exchange
