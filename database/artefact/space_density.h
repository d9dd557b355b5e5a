/// A grasp space at work: shapes to coordinates and back (eqs. 1-2 of Ben Amor 2008), and how
/// likely coordinates are (eqs. 3-4).
///
/// Made once of a GraspSpace, const, shared by any number of threads. Pinned by
/// tests/database/artefact/space_density_test.cc.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/artefact/grasp_space.h"
#include "database/base/result.h"

namespace handhold::artefact {

class SpaceDensity {
 public:
  /// kCorrupt: sizes that do not agree, weights that do not sum to 1 within 1e-6, a covariance that
  /// is not positive definite.
  static Result<SpaceDensity> Build(const GraspSpace& space);
  /// With another mixture in the space's coordinates: one type's (GraspSpace::type_models).
  static Result<SpaceDensity> Build(const GraspSpace& space,
                                    const std::vector<MixtureComponent>& mixture);

  int dimensions() const { return static_cast<int>(basis_.cols()); }
  int components() const { return static_cast<int>(parts_.size()); }
  const Eigen::VectorXd& mean() const { return mean_; }
  const Eigen::MatrixXd& basis() const { return basis_; }
  double log_threshold() const { return log_threshold_; }

  /// a = basis^T (shape - mean).
  Eigen::VectorXd Project(const Eigen::VectorXd& shape_v) const {
    return basis_.transpose() * (shape_v - mean_);
  }
  /// Eq. 2: shape = mean + sum a_i e_i.
  Eigen::VectorXd Expand(const Eigen::VectorXd& a) const { return mean_ + basis_ * a; }

  /// log p(a) of eq. 3, with the factor (2 pi)^(-d/2) in eq. 4 (the printed sqrt(2 pi^d) is a
  /// slip).
  double LogLikelihood(const Eigen::VectorXd& a) const;
  /// Its gradient d log p / d a.
  Eigen::VectorXd LogLikelihoodGradient(const Eigen::VectorXd& a) const;
  /// The component most answerable for a.
  int Nearest(const Eigen::VectorXd& a) const;
  const Eigen::VectorXd& component_mean(int k) const { return parts_[static_cast<size_t>(k)].mean; }
  /// L^-1 of component k, C = L L^T: its rows times (a - mean) are standard deviations.
  const Eigen::MatrixXd& whitening(int k) const { return parts_[static_cast<size_t>(k)].whitening; }

 private:
  struct Part {
    Eigen::VectorXd mean;
    Eigen::MatrixXd whitening;
    double log_factor = 0.0;  ///< log weight - d/2 log 2 pi - log sqrt det C
  };
  Eigen::VectorXd Logs(const Eigen::VectorXd& a) const;
  Eigen::VectorXd mean_;
  Eigen::MatrixXd basis_;
  std::vector<Part> parts_;
  double log_threshold_ = 0.0;
};

/// log(sum exp(x_i)) without overflow.
double LogSumExp(const Eigen::VectorXd& x);

}  // namespace handhold::artefact
