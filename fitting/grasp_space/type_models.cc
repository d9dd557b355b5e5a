#include "fitting/grasp_space/type_models.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "database/model/grasp_taxonomy.h"

namespace handhold::fitting {
namespace {

using artefact::MixtureComponent;
using artefact::TypeModel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using Columns = std::vector<Index>;

/// One Gaussian of some columns, weight 1, covariance of n - 1.
MixtureComponent GaussianOf(const MatrixXd& points, const Columns& columns) {
  const MatrixXd chosen = points(Eigen::all, columns);
  MixtureComponent c;
  c.weight = 1.0;
  c.mean = chosen.rowwise().mean();
  const MatrixXd off = chosen.colwise() - c.mean;
  c.covariance = off * off.transpose() / static_cast<double>(std::max<Index>(1, chosen.cols() - 1));
  return c;
}

std::string TooFew(size_t have, size_t least) {
  return std::to_string(have) + " poses of " + std::to_string(least) +
         " that a model needs: " + std::to_string(least - have) + " are missing";
}

}  // namespace

std::vector<TypeModel> FitTypeModels(const MatrixXd& points, const std::vector<std::string>& types,
                                     int least) {
  const auto enough = static_cast<size_t>(std::max(2, least));
  std::map<std::string, Columns> by_feix;
  Columns labelled;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].empty()) continue;
    by_feix[types[i]].push_back(static_cast<Index>(i));
    labelled.push_back(static_cast<Index>(i));
  }
  const Index d = points.rows();
  MatrixXd common = MatrixXd::Zero(d, d);
  double modelled = 0;
  for (const auto& [type, columns] : by_feix) {
    if (columns.size() < enough) continue;
    common += GaussianOf(points, columns).covariance;
    modelled += 1;
  }
  if (modelled > 0) common /= modelled;
  if (modelled == 0 && !labelled.empty()) common = GaussianOf(points, labelled).covariance;
  common.diagonal().array() += 1e-4;
  const auto model = [&](const Columns& columns) {
    MixtureComponent c = GaussianOf(points, columns);
    const auto n = static_cast<double>(columns.size());
    const double keep = n / (n + 2.0 * static_cast<double>(d));
    c.covariance = keep * c.covariance + (1 - keep) * common;
    return c;
  };
  std::vector<TypeModel> out;
  for (const std::string_view taxonomy : model::Taxonomies()) {
    std::map<std::string, std::vector<const Columns*>> groups;
    for (const auto& [type, columns] : by_feix) {
      const model::GraspTypeRow* row = model::FindFeix(type);
      groups[row == nullptr ? type : std::string(model::NameIn(*row, taxonomy))].push_back(
          &columns);
    }
    for (const auto& [type, members] : groups) {
      TypeModel& one = out.emplace_back();
      one.taxonomy = taxonomy;
      one.type = type;
      Columns rest;
      double used = 0;
      const auto add = [&](const Columns& columns) {
        one.mixture.push_back(model(columns));
        one.mixture.back().weight = static_cast<double>(columns.size());
        used += one.mixture.back().weight;
      };
      for (const Columns* columns : members) {
        one.poses += static_cast<int>(columns->size());
        if (columns->size() >= enough) {
          add(*columns);
        } else {
          rest.insert(rest.end(), columns->begin(), columns->end());
        }
      }
      if (rest.size() >= enough) add(rest);
      for (MixtureComponent& c : one.mixture) c.weight /= used;
      if (one.mixture.empty()) one.refusal = TooFew(rest.size(), enough);
    }
  }
  return out;
}

Result<TypeModels> TypeModels::Build(const artefact::GraspSpace& space, std::string_view taxonomy) {
  if (std::ranges::find(model::Taxonomies(), taxonomy) == model::Taxonomies().end())
    return Error{ErrorCode::kInvalid, "no taxonomy '" + std::string(taxonomy) + "'"};
  TypeModels out;
  std::string refused;
  for (const TypeModel& one : space.type_models) {
    if (one.taxonomy != taxonomy) continue;
    if (one.mixture.empty()) {
      refused += (refused.empty() ? ": '" : ", '") + one.type + "' has " + one.refusal;
      continue;
    }
    HANDHOLD_ASSIGN(artefact::SpaceDensity density,
                    artefact::SpaceDensity::Build(space, one.mixture));
    out.densities_.push_back(std::move(density));
    out.types_.push_back(one.type);
  }
  if (out.types_.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "no grasp type has a model in the grasp space" +
                     (refused.empty() ? ": label clips first ('clip label')" : refused)};
  }
  return out;
}

std::vector<TypeGuess> TypeModels::Guess(const VectorXd& shape_v) const {
  VectorXd logs(static_cast<Index>(densities_.size()));
  for (size_t k = 0; k < densities_.size(); ++k) {
    logs[static_cast<Index>(k)] = densities_[k].LogLikelihood(densities_[k].Project(shape_v));
  }
  const double total = artefact::LogSumExp(logs);
  std::vector<TypeGuess> guesses;
  for (size_t k = 0; k < types_.size(); ++k)
    guesses.push_back({types_[k], std::exp(logs[static_cast<Index>(k)] - total)});
  std::ranges::stable_sort(guesses, std::ranges::greater(), &TypeGuess::probability);
  return guesses;
}

}  // namespace handhold::fitting
