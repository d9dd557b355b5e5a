#include "database/geometry/fit.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

namespace handhold::geometry {
namespace {

struct Cloud {
  Vec3 mean = Vec3::Zero();
  Vec3 spread_m = Vec3::Zero();  ///< largest first
  Vec3 line = Vec3::UnitX();     ///< direction of the largest spread
};

Cloud Describe(std::span<const Vec3> p, std::span<const double> w, double total) {
  Cloud c;
  for (std::size_t i = 0; i < p.size(); ++i) c.mean += w[i] / total * p[i];
  Mat3 scatter = Mat3::Zero();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Vec3 d = p[i] - c.mean;
    scatter += w[i] / total * d * d.transpose();
  }
  // Singular values of the points themselves would keep widths below 1e-8 of the length; the
  // scatter matrix does not, and such clouds are refused anyway.
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(scatter);
  c.spread_m = eigen.eigenvalues().reverse().cwiseMax(0.0).cwiseSqrt();
  c.line = eigen.eigenvectors().col(2);
  return c;
}

Error Open(const std::string& what) { return {ErrorCode::kUnidentifiable, "rigid fit: " + what}; }

Status CheckCloud(const Cloud& c, const char* name, const RigidFitOptions& options) {
  const double place = 1e-13 * c.mean.norm();  // a cloud this small is rounding of its own
                                               // coordinates
  if (!(c.spread_m[0] > place))
    return Open(std::string("all points of set ") + name + " are at one place");
  // 1e-8: what the scatter matrix can resolve.
  if (!(c.spread_m[1] > std::max(options.min_width_ratio, 2e-8) * c.spread_m[0]) ||
      !(c.spread_m[1] > place)) {
    std::ostringstream what;
    what << "the points of set " << name << " lie on one line; the rotation about ("
         << c.line.transpose() << ") is open: add a point off that line";
    return Open(what.str());
  }
  return {};
}

Status CheckInput(std::span<const Vec3> p_A, std::span<const Vec3> p_B, std::span<const double> w) {
  const auto bad = [](const std::string& what) {
    return Error{ErrorCode::kInvalid, "rigid fit: " + what};
  };
  if (p_A.size() != p_B.size() || w.size() != p_A.size()) {
    return bad("sets of " + std::to_string(p_A.size()) + " and " + std::to_string(p_B.size()) +
               " points with " + std::to_string(w.size()) + " weights");
  }
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (!(std::isfinite(w[i]) && w[i] >= 0))
      return bad("weight " + std::to_string(i) + " is negative or not finite");
    // Above 1e100 squares overflow, and the decompositions below would answer nonsense.
    if (!(p_A[i].cwiseAbs().maxCoeff() < 1e100) || !(p_B[i].cwiseAbs().maxCoeff() < 1e100) ||
        !p_A[i].allFinite() || !p_B[i].allFinite()) {
      return bad("point " + std::to_string(i) + " is not finite: leave missing points out");
    }
  }
  return {};
}

}  // namespace

Result<RigidFit> FitRigid(std::span<const Vec3> p_A, std::span<const Vec3> p_B,
                          std::span<const double> weights, const RigidFitOptions& options) {
  std::vector<double> w(weights.begin(), weights.end());
  if (weights.empty()) w.assign(p_A.size(), 1.0);
  HANDHOLD_TRY(CheckInput(p_A, p_B, w));
  const auto used = std::count_if(w.begin(), w.end(), [](double x) { return x > 0; });
  if (used < 3)
    return Open(std::to_string(used) +
                " points of positive weight; a pose needs three that are not on one line");
  double total = 0;
  for (const double x : w) total += x;
  const Cloud a = Describe(p_A, w, total), b = Describe(p_B, w, total);
  HANDHOLD_TRY(CheckCloud(a, "A", options));
  HANDHOLD_TRY(CheckCloud(b, "B", options));

  Mat3 cross = Mat3::Zero();
  for (std::size_t i = 0; i < w.size(); ++i)
    cross += w[i] / total * (p_A[i] - a.mean) * (p_B[i] - b.mean).transpose();
  const Eigen::JacobiSVD<Mat3> svd(cross, Eigen::ComputeFullU | Eigen::ComputeFullV);
  // Coordinates beyond 1e154 overflow here, and then there are no singular values.
  if (svd.info() != Eigen::Success) return Open("the points lie too far out to be fitted");
  const double sign = svd.matrixU().determinant() * svd.matrixV().determinant() < 0 ? -1.0 : 1.0;
  const Vec3& s = svd.singularValues();
  // Rotating by a small angle about the k-th axis costs (s_i + s_j) with the sign on the last: the
  // smallest such sum must not vanish.
  if (!(s[1] + sign * s[2] > 1e-12 * a.spread_m[0] * b.spread_m[0])) {
    std::ostringstream what;
    what << "several rotations fit equally well; the one about ("
         << svd.matrixU().col(0).transpose()
         << ") is open: the two sets do not correspond, or are mirror images";
    return Open(what.str());
  }
  RigidFit fit;
  fit.X_AB.R = svd.matrixU() * Vec3(1, 1, sign).asDiagonal() * svd.matrixV().transpose();
  fit.X_AB.p = a.mean - fit.X_AB.R * b.mean;
  fit.spread_m = b.spread_m;
  fit.residual_m.reserve(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    // About the means: the difference of two far-away points would drown the residual in rounding.
    const double r = ((p_A[i] - a.mean) - fit.X_AB.R * (p_B[i] - b.mean)).norm();
    fit.residual_m.push_back(r);
    fit.rms_m += w[i] / total * r * r;
    if (w[i] > 0) fit.max_m = std::max(fit.max_m, r);
  }
  fit.rms_m = std::sqrt(fit.rms_m);
  return fit;
}

}  // namespace handhold::geometry
