/// The mass matrix of a hand and the part of it that is the palm's, so that a palm may weigh other
/// than the template's palm relative to its fingers.
///
/// Palm: what only the joint nearest the root carries of those that move the touching body; of a
/// whole hand its other fingers belong to it. The mass matrix is linear in its mass. Internal to
/// the compliance fits. Tests: tests/fitting/compliance/model_doubts_test.cc.
#pragma once

#include <optional>

#include <Eigen/Core>

#include "database/model/dynamics.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

class PalmMass {
 public:
  /// `skeleton` must outlive it.
  PalmMass(const model::Skeleton& skeleton, int touching_body);

  /// Whether there is a palm: at least two joints one after the other.
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

}  // namespace handhold::fitting
