#include "fitting/grasp_space/gaussian_mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Cholesky>

#include "database/base/random.h"

namespace handhold::fitting {
namespace {

using artefact::MixtureComponent;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// log of weight times density of one component at every point.
VectorXd LogJoint(const MixtureComponent& c, const MatrixXd& points) {
  const auto d = static_cast<double>(points.rows());
  const Eigen::LLT<MatrixXd> llt(c.covariance);
  if (llt.info() != Eigen::Success || !(c.weight > 0))
    return VectorXd::Constant(points.cols(), -kInfinity);
  const MatrixXd L = llt.matrixL();
  const MatrixXd z = L.triangularView<Eigen::Lower>().solve(points.colwise() - c.mean);
  const double factor =
      std::log(c.weight) - 0.5 * d * std::log(2 * M_PI) - L.diagonal().array().log().sum();
  return (factor - 0.5 * z.colwise().squaredNorm().array()).matrix().transpose();
}

/// Log joint of all components, N x K.
MatrixXd LogJoints(const std::vector<MixtureComponent>& components, const MatrixXd& points) {
  MatrixXd logs(points.cols(), static_cast<Index>(components.size()));
  for (size_t k = 0; k < components.size(); ++k)
    logs.col(static_cast<Index>(k)) = LogJoint(components[k], points);
  return logs;
}

/// log sum exp of every row.
VectorXd RowSums(const MatrixXd& logs) {
  const VectorXd most = logs.rowwise().maxCoeff();
  return most.array() + (logs.colwise() - most).array().exp().rowwise().sum().log();
}

/// k-means++ (Arthur, Vassilvitskii 2007), then ten rounds of k-means: who belongs to whom.
std::vector<Index> Begin(const MatrixXd& points, int components, Random* random) {
  const Index n = points.cols();
  MatrixXd centres(points.rows(), components);
  VectorXd nearest = VectorXd::Constant(n, kInfinity);
  for (int k = 0; k < components; ++k) {
    Index pick = static_cast<Index>(random->Unit() * static_cast<double>(n));
    if (k > 0 && nearest.sum() > 0) {
      double at = random->Unit() * nearest.sum();
      for (pick = 0; pick + 1 < n && at >= nearest[pick]; ++pick) at -= nearest[pick];
    }
    centres.col(k) = points.col(std::min(pick, n - 1));
    nearest =
        nearest.cwiseMin((points.colwise() - centres.col(k)).colwise().squaredNorm().transpose());
  }
  std::vector<Index> of(static_cast<size_t>(n), 0);
  for (int round = 0; round < 10; ++round) {
    for (Index i = 0; i < n; ++i) {
      (centres.colwise() - points.col(i))
          .colwise()
          .squaredNorm()
          .minCoeff(&of[static_cast<size_t>(i)]);
    }
    MatrixXd sum = MatrixXd::Zero(points.rows(), components);
    VectorXd count = VectorXd::Zero(components);
    for (Index i = 0; i < n; ++i) {
      sum.col(of[static_cast<size_t>(i)]) += points.col(i);
      count[of[static_cast<size_t>(i)]] += 1;
    }
    for (int k = 0; k < components; ++k) {
      if (count[k] > 0) centres.col(k) = sum.col(k) / count[k];
    }
  }
  return of;
}

/// Maximisation: weights, means, covariances of what each component answers for (N x K).
std::vector<MixtureComponent> Maximise(const MatrixXd& points, const MatrixXd& share,
                                       double ridge) {
  std::vector<MixtureComponent> out;
  for (Index k = 0; k < share.cols(); ++k) {
    const double mass = share.col(k).sum();
    MixtureComponent c;
    c.weight = mass / static_cast<double>(points.cols());
    c.mean = mass > 0 ? VectorXd(points * share.col(k) / mass) : VectorXd(points.col(0));
    const MatrixXd off = points.colwise() - c.mean;
    c.covariance = MatrixXd::Zero(points.rows(), points.rows());
    if (mass > 0) c.covariance = off * share.col(k).asDiagonal() * off.transpose() / mass;
    c.covariance.diagonal().array() += ridge;
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace

int MixtureParameters(int components, int dimensions) {
  return components - 1 + components * dimensions + components * dimensions * (dimensions + 1) / 2;
}

double Bic(double log_likelihood, int components, int dimensions, Index points) {
  return MixtureParameters(components, dimensions) * std::log(static_cast<double>(points)) -
         2 * log_likelihood;
}

double LogLikelihood(const std::vector<MixtureComponent>& components, const MatrixXd& points) {
  return RowSums(LogJoints(components, points)).sum();
}

Result<MixtureFit> FitMixture(const MatrixXd& points, int components,
                              const MixtureOptions& options) {
  const Index n = points.cols();
  const auto needed = static_cast<Index>(
      std::ceil(options.points_per_dimension * static_cast<double>(points.rows() * components)));
  if (components < 1 || points.rows() < 1)
    return Error{ErrorCode::kInvalid, "a mixture needs a component and a dimension"};
  if (n < needed) {
    return Error{ErrorCode::kUnidentifiable,
                 std::to_string(n) + " poses do not determine " + std::to_string(components) +
                     " Gaussians in " + std::to_string(points.rows()) +
                     " dimensions: " + std::to_string(needed - n) + " are missing"};
  }
  if (!points.allFinite()) return Error{ErrorCode::kInvalid, "poses that are not finite"};
  MixtureFit best;
  best.log_likelihood = -kInfinity;
  Random random(options.seed * 7919 + static_cast<std::uint64_t>(components));
  for (int restart = 0; restart < options.restarts; ++restart) {
    MatrixXd share = MatrixXd::Zero(n, components);
    const std::vector<Index> of = Begin(points, components, &random);
    for (Index i = 0; i < n; ++i) share(i, of[static_cast<size_t>(i)]) = 1.0;
    std::vector<MixtureComponent> now = Maximise(points, share, options.ridge);
    double before = -kInfinity, total = -kInfinity;
    for (int i = 0; i < options.iterations; ++i) {
      const MatrixXd logs = LogJoints(now, points);
      const VectorXd sums = RowSums(logs);
      total = sums.sum();
      if (!(total - before > options.tolerance * static_cast<double>(n))) break;
      before = total;
      share = (logs.colwise() - sums).array().exp();
      now = Maximise(points, share, options.ridge);
    }
    total = LogLikelihood(now, points);
    if (std::isfinite(total) && total > best.log_likelihood) {
      best.log_likelihood = total;
      best.components = std::move(now);
    }
    if (components == 1) break;  // there is one answer
  }
  if (best.components.empty())
    return Error{ErrorCode::kNotConverged,
                 "no mixture of " + std::to_string(components) + " Gaussians has a likelihood"};
  // Heaviest first, so that the order says nothing of the beginnings.
  std::ranges::stable_sort(best.components, std::ranges::greater(), &MixtureComponent::weight);
  best.bic = Bic(best.log_likelihood, components, static_cast<int>(points.rows()), n);
  return best;
}

Result<MixtureChoice> ChooseMixture(const MatrixXd& points, const MixtureOptions& options,
                                    const std::function<bool(double)>& progress) {
  const double each = options.points_per_dimension * static_cast<double>(points.rows());
  const int most = std::max(
      1, std::min(options.max_components,
                  static_cast<int>(std::floor(static_cast<double>(points.cols()) / each))));
  MixtureChoice choice;
  choice.best.bic = kInfinity;
  for (int k = 1; k <= most; ++k) {
    HANDHOLD_ASSIGN(MixtureFit fit, FitMixture(points, k, options));
    choice.bic.push_back({k, fit.bic});
    if (fit.bic < choice.best.bic) choice.best = std::move(fit);
    if (progress && !progress(static_cast<double>(k) / most))
      return Error{ErrorCode::kCancelled, "stopped while fitting a mixture"};
  }
  return choice;
}

}  // namespace handhold::fitting
