/// The mass matrix of a hand and the part of it that is the palm's, so that a palm may weigh other
/// than the template's palm relative to its fingers.
///
/// Palm: what moves with the joint nearest the root of those that move the touching bodies, and
/// with no further one; of a whole hand the fingers that touch nothing belong to it. That joint may
/// be a free one (hand27): its six coordinates are then unknown forces' and nobody's compliance,
/// and the palm gives way by its mass alone (LetFloat). The mass matrix is linear in the palm's
/// mass. Internal to the compliance fits. Tests: tests/fitting/compliance/palm_mass_test.cc.
#pragma once

#include <optional>
#include <vector>

#include <Eigen/Core>

#include "database/model/dynamics.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

class PalmMass {
 public:
  /// `skeleton` must outlive it.
  PalmMass(const model::Skeleton& skeleton, const std::vector<int>& touching_bodies);

  /// Whether there is a palm: one joint that carries all touching bodies and further ones.
  bool apart() const { return twice_.has_value(); }
  /// M(q), nv x nv.
  Eigen::MatrixXd All(const Eigen::VectorXd& q);
  /// Its share that is the palm's; zero where there is none.
  Eigen::MatrixXd Palm(const Eigen::VectorXd& q);

 private:
  const model::Skeleton& skeleton_;
  model::DynamicsData data_;
  std::optional<model::Skeleton> twice_;  ///< with a palm of twice the mass
  std::optional<model::DynamicsData> data_twice_;
};

/// Frees the last `floating` coordinates: mass and torque (a column per instant) of the others once
/// those follow without a force of their own,
///   M_dd - M_db M_bb^-1 M_bd,   tau_d - M_db M_bb^-1 tau_b.
void LetFloat(int floating, Eigen::MatrixXd* mass, Eigen::MatrixXd* tau);

}  // namespace handhold::fitting
