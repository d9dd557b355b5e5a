/// What each grasp type's shapes look like in a grasp space, and which type a shape most likely is.
///
/// A model per type of each taxonomy (Ben Amor 2008, "Taxonomy-Based Grasp Synthesis"), stored with
/// the space: `clip label` suggests by them (people label), searches for a type hold to its model.
/// Pinned by tests/fitting/grasp_space/type_models_test.cc.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/grasp_space.h"
#include "database/artefact/space_density.h"
#include "database/base/result.h"

namespace handhold::fitting {

/// Models of every type that a pose is of: `points` (d x N) in the space's coordinates, `types` per
/// column in Feix's names (empty: not labelled). Covariances are shrunk towards the mean one of all
/// types, as if 2 d shapes of it had been seen. A type of fewer than `least` poses has no model and
/// says how many are missing; those of its Feix types that have too few alone count together under
/// a coarser name, if they are enough together.
std::vector<artefact::TypeModel> FitTypeModels(const Eigen::MatrixXd& points,
                                               const std::vector<std::string>& types, int least);

struct TypeGuess {
  std::string type;
  double probability = 0.0;  ///< among the types of the models, each as likely beforehand
};

/// The stored models of one taxonomy at work.
class TypeModels {
 public:
  /// kInvalid: no such taxonomy. kUnidentifiable: no type of it has a model, saying why. kCorrupt:
  /// SpaceDensity's.
  static Result<TypeModels> Build(const artefact::GraspSpace& space,
                                  std::string_view taxonomy = "feix");
  /// Most likely first; sums to 1.
  std::vector<TypeGuess> Guess(const Eigen::VectorXd& shape_v) const;
  const std::vector<std::string>& types() const { return types_; }

 private:
  std::vector<artefact::SpaceDensity> densities_;  ///< per type
  std::vector<std::string> types_;
};

}  // namespace handhold::fitting
