/// A synthesised motion: hand, objects and contact forces over time.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"

namespace handhold::artefact {

/// One contact at one step.
struct MotionContact {
  int frame = 0;    ///< index into Motion::times
  int body = 0;     ///< of the skeleton
  int object = -1;  ///< index into Motion::objects; -1: the fixed surface
  geometry::Vec3 p_W = geometry::Vec3::Zero();
  geometry::Vec3 normal_W = geometry::Vec3::UnitZ();  ///< outward normal of the touched surface
  geometry::Vec3 f_onHand_W = geometry::Vec3::Zero();
  double slip_m_per_s = 0.0;  ///< tangential speed of the hand's point against the object's
};

struct MotionObject {
  std::string prop;
  std::vector<geometry::RigidTransform> X_WP;  ///< per frame
};

struct Motion {
  Provenance provenance;
  /// What the synthesis said about itself (canonical JSON: brief, issues, figures), kept with its
  /// result.
  std::string summary_json = "{}";
  std::string skeleton_hash;
  std::string surface;  ///< prop name of the fixed surface
  std::vector<std::string> dof_names;
  std::vector<std::string> assumed_dofs;  ///< dofs whose compliance was assumed, not fitted
  std::vector<Timestamp> times;
  Eigen::MatrixXd q;  ///< nq x frames
  std::vector<MotionObject> objects;
  std::vector<MotionContact> contacts;
  Eigen::VectorXd equilibrium_residual_rad;  ///< |theta_err| of Kry & Pai eq. 7 per frame
  Eigen::VectorXd lcp_residual;              ///< complementarity residual per frame, newtons
  int lcp_failures = 0;  ///< steps that nobody solved: their forces are not in balance
};

}  // namespace handhold::artefact
