#include "database/artefact/space_density.h"

#include <cmath>

#include <Eigen/Cholesky>

namespace handhold::artefact {

double LogSumExp(const Eigen::VectorXd& x) {
  const double most = x.maxCoeff();
  return std::isfinite(most) ? most + std::log((x.array() - most).exp().sum()) : most;
}

Result<SpaceDensity> SpaceDensity::Build(const GraspSpace& space) {
  return Build(space, space.mixture);
}

Result<SpaceDensity> SpaceDensity::Build(const GraspSpace& space,
                                         const std::vector<MixtureComponent>& mixture) {
  const auto corrupt = [](const std::string& what) {
    return Error{ErrorCode::kCorrupt, "grasp space: " + what};
  };
  SpaceDensity density;
  density.mean_ = space.mean;
  density.basis_ = space.basis;
  density.log_threshold_ = space.log_threshold;
  const Eigen::Index d = space.basis.cols();
  if (space.basis.rows() != space.mean.size() || d == 0)
    return corrupt("the basis does not have a row per coordinate of the mean");
  if (mixture.empty()) return corrupt("no mixture");
  double weights = 0.0;
  for (const MixtureComponent& c : mixture) {
    if (c.mean.size() != d || c.covariance.rows() != d || c.covariance.cols() != d)
      return corrupt("a component of another dimension than the basis");
    const Eigen::LLT<Eigen::MatrixXd> llt(c.covariance);
    if (llt.info() != Eigen::Success) return corrupt("a covariance is not positive definite");
    const Eigen::MatrixXd L = llt.matrixL();
    Part part;
    part.mean = c.mean;
    part.whitening =
        L.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd(Eigen::MatrixXd::Identity(d, d)));
    part.log_factor = std::log(c.weight) - 0.5 * static_cast<double>(d) * std::log(2 * M_PI) -
                      L.diagonal().array().log().sum();
    weights += c.weight;
    density.parts_.push_back(std::move(part));
  }
  if (!(std::abs(weights - 1.0) < 1e-6)) return corrupt("weights do not sum to 1");
  return density;
}

Eigen::VectorXd SpaceDensity::Logs(const Eigen::VectorXd& a) const {
  Eigen::VectorXd logs(static_cast<Eigen::Index>(parts_.size()));
  for (size_t k = 0; k < parts_.size(); ++k) {
    logs[static_cast<Eigen::Index>(k)] =
        parts_[k].log_factor - 0.5 * (parts_[k].whitening * (a - parts_[k].mean)).squaredNorm();
  }
  return logs;
}

double SpaceDensity::LogLikelihood(const Eigen::VectorXd& a) const { return LogSumExp(Logs(a)); }

Eigen::VectorXd SpaceDensity::LogLikelihoodGradient(const Eigen::VectorXd& a) const {
  const Eigen::VectorXd logs = Logs(a);
  const double total = LogSumExp(logs);
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(a.size());
  for (size_t k = 0; k < parts_.size(); ++k) {
    const Eigen::MatrixXd& w = parts_[k].whitening;
    gradient -= std::exp(logs[static_cast<Eigen::Index>(k)] - total) *
                (w.transpose() * (w * (a - parts_[k].mean)));
  }
  return gradient;
}

int SpaceDensity::Nearest(const Eigen::VectorXd& a) const {
  Eigen::Index at = 0;
  Logs(a).maxCoeff(&at);
  return static_cast<int>(at);
}

}  // namespace handhold::artefact
