/// Which type a hand shape most likely is: a Gaussian per type of a grasp space's training shapes.
///
/// What `clip label` suggests by. It suggests: people label. Pinned by
/// tests/fitting/grasp_space/type_models_test.cc.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/grasp_space.h"
#include "database/base/result.h"

namespace handhold::fitting {

struct TypeGuess {
  std::string type;
  double probability = 0.0;  ///< among the types of the models, each as likely beforehand
};

class TypeModels {
 public:
  /// In the space's coordinates; `taxonomy`: types are put together under its names
  /// ("schlesinger"). kUnidentifiable: no type has two shapes. Covariances are shrunk towards the
  /// mean one of all types, the more the fewer shapes a type has.
  static Result<TypeModels> Build(const artefact::GraspSpace& space,
                                  std::string_view taxonomy = "feix");
  /// Most likely first; sums to 1.
  std::vector<TypeGuess> Guess(const Eigen::VectorXd& shape_v) const;
  const std::vector<std::string>& types() const { return types_; }

 private:
  struct Model {
    Eigen::VectorXd mean;
    Eigen::MatrixXd whitening;
    double log_factor = 0.0;
    int of = 0;  ///< number of the type
  };
  Eigen::VectorXd mean_;
  Eigen::MatrixXd basis_;
  std::vector<Model> models_;  ///< one per Feix type
  std::vector<std::string> types_;
};

}  // namespace handhold::fitting
