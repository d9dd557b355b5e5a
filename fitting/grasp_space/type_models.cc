#include "fitting/grasp_space/type_models.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <Eigen/Cholesky>

#include "database/artefact/space_density.h"
#include "database/model/grasp_taxonomy.h"

namespace handhold::fitting {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Result<TypeModels> TypeModels::Build(const artefact::GraspSpace& space, std::string_view taxonomy) {
  if (std::ranges::find(model::Taxonomies(), taxonomy) == model::Taxonomies().end())
    return Error{ErrorCode::kInvalid, "no taxonomy '" + std::string(taxonomy) + "'"};
  TypeModels out;
  out.mean_ = space.mean;
  out.basis_ = space.basis;
  const Index d = space.basis.cols();
  std::map<std::string, std::vector<VectorXd>> by_type;
  for (const artefact::GraspTemplate& t : space.templates) {
    if (!t.type.empty())
      by_type[t.type].push_back(space.basis.transpose() * (t.pose_v - space.mean));
  }
  std::erase_if(by_type, [](const auto& entry) { return entry.second.size() < 2; });
  if (by_type.empty()) {
    return Error{
        ErrorCode::kUnidentifiable,
        "no grasp type has two shapes in the grasp space: label clips first ('clip label')"};
  }
  std::map<std::string, MatrixXd> scatter;
  std::map<std::string, VectorXd> means;
  MatrixXd pooled = MatrixXd::Zero(d, d);
  for (const auto& [type, points] : by_type) {
    VectorXd mean = VectorXd::Zero(d);
    for (const VectorXd& a : points) mean += a / static_cast<double>(points.size());
    MatrixXd c = MatrixXd::Zero(d, d);
    for (const VectorXd& a : points)
      c += (a - mean) * (a - mean).transpose() / static_cast<double>(points.size() - 1);
    pooled += c / static_cast<double>(by_type.size());
    means[type] = mean;
    scatter[type] = c;
  }
  pooled.diagonal().array() += 1e-4;
  for (const auto& [type, points] : by_type) {
    // As if 2 d shapes of the common kind had been seen beside its own.
    const auto n = static_cast<double>(points.size());
    const double keep = n / (n + 2.0 * static_cast<double>(d));
    const MatrixXd c = keep * scatter[type] + (1 - keep) * pooled;
    const Eigen::LLT<MatrixXd> llt(c);
    if (llt.info() != Eigen::Success)
      return Error{ErrorCode::kCorrupt,
                   "grasp space: shapes of type '" + type + "' are not finite"};
    const MatrixXd L = llt.matrixL();
    Model m;
    m.mean = means[type];
    m.whitening = L.triangularView<Eigen::Lower>().solve(MatrixXd(MatrixXd::Identity(d, d)));
    m.log_factor = -L.diagonal().array().log().sum();
    const model::GraspTypeRow* row = model::FindFeix(type);
    const std::string name = row == nullptr ? type : std::string(model::NameIn(*row, taxonomy));
    auto at = std::ranges::find(out.types_, name);
    if (at == out.types_.end()) at = out.types_.insert(out.types_.end(), name);
    m.of = static_cast<int>(at - out.types_.begin());
    out.models_.push_back(std::move(m));
  }
  return out;
}

std::vector<TypeGuess> TypeModels::Guess(const VectorXd& shape_v) const {
  const VectorXd a = basis_.transpose() * (shape_v - mean_);
  VectorXd logs(static_cast<Index>(models_.size()));
  for (size_t k = 0; k < models_.size(); ++k) {
    logs[static_cast<Index>(k)] =
        models_[k].log_factor - 0.5 * (models_[k].whitening * (a - models_[k].mean)).squaredNorm();
  }
  const double total = artefact::LogSumExp(logs);
  std::vector<TypeGuess> guesses;
  for (const std::string& type : types_) guesses.push_back({type, 0.0});
  for (size_t k = 0; k < models_.size(); ++k) {
    guesses[static_cast<size_t>(models_[k].of)].probability +=
        std::exp(logs[static_cast<Index>(k)] - total);
  }
  std::ranges::stable_sort(guesses, std::ranges::greater(), &TypeGuess::probability);
  return guesses;
}

}  // namespace handhold::fitting
