#include "synthesis/grasp_search/contact_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>

#include "database/base/check.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

/// Geman-McClure: rho = d^2 / (2 (1 + (d/s)^2)); its weight rho'/d = 1 / (1 + (d/s)^2)^2.
double Rho(double d, double s) { return 0.5 * d * d / (1.0 + d * d / (s * s)); }
double RhoWeight(double d, double s) {
  const double k = 1.0 + d * d / (s * s);
  return 1.0 / (k * k);
}

}  // namespace

ContactFit::ContactFit(const HandSurface& hand, const HeldObject& object, Eigen::VectorXd offset,
                       Eigen::MatrixXd basis, const ContactFitOptions& options)
    : hand_(hand),
      object_(object),
      offset_(std::move(offset)),
      basis_(std::move(basis)),
      options_(options),
      data_(hand.skeleton()) {
  CHECK_EQ(offset_.size(), hand.shape_size());
  CHECK_EQ(basis_.rows(), hand.shape_size());
}

void ContactFit::set_prior(const Eigen::VectorXd& mean, const Eigen::VectorXd& sd) {
  prior_mean_ = mean;
  prior_weight_ = sd.array().square().inverse();
}

void ContactFit::Feel(const Vec3& centre_P, double radius_m, Felt* felt) {
  const double reach = options_.reach_m + radius_m;
  const double moved = (centre_P - felt->centre_P).norm();
  if (felt->at_least_m >= 0 && felt->at_least_m - moved > reach) {
    felt->answer.distance_m = std::numeric_limits<double>::infinity();
    felt->at_least_m -= moved;
    felt->centre_P = centre_P;
    return;
  }
  double bound = 1.25 * reach;  // farther than needed: what is known to be far is not asked again
  if (felt->at_least_m >= 0 && std::isfinite(felt->answer.distance_m))
    bound = std::min(bound, (felt->at_least_m + moved) * (1 + 1e-9) + 1e-9);
  ++queries_;
  felt->answer = object_.Closest(centre_P, bound);
  felt->centre_P = centre_P;
  felt->beside = object_.has_place() && std::isfinite(felt->answer.distance_m) &&
                 !object_.InPlace(felt->answer.p_P);
  felt->at_least_m =
      std::isfinite(felt->answer.distance_m) ? std::abs(felt->answer.distance_m) : bound;
}

void ContactFit::Evaluate(double s, bool ask, State* state) {
  const double unit = 1.0 / (options_.scale_m * options_.scale_m);
  const Eigen::VectorXd shape = ShapeOf(state->at.a);
  state->q = hand_.Configuration(state->at.X_PH, shape);
  model::ComputePoses(hand_.skeleton(), state->q, &data_);
  double energy = 0.0;
  const auto& spheres = hand_.spheres();
  state->spheres.resize(spheres.size());
  for (size_t i = 0; i < spheres.size(); ++i) {
    const SkinSphere& sphere = spheres[i];
    const RigidTransform& X = data_.X_WB[static_cast<size_t>(sphere.body)];
    Felt& felt = state->spheres[i];
    if (ask) Feel(X * sphere.p_B, sphere.radius_m, &felt);
    const double pull = sphere_weight_.empty() ? 1.0 : sphere_weight_[i];
    const double d = felt.answer.distance_m - sphere.radius_m;
    if (!(d < options_.reach_m) || felt.beside)
      energy += pull * unit * Rho(options_.reach_m, s);  // out of reach costs, and pulls nowhere
    if (!(d < options_.reach_m)) continue;
    if (pull > 0 && !felt.beside) {
      const double facing = 1.0 + felt.answer.normal_P.dot(X.R * sphere.palmar_B);
      energy += pull * (unit * Rho(d, s) +
                        0.5 * options_.facing_weight * RhoWeight(d, s) * facing * facing);
    }
    if (d < 0) energy += 0.5 * options_.penetration_weight * unit * d * d;
  }
  state->sites.resize(sites_.size());
  for (size_t i = 0; i < sites_.size(); ++i) {
    const SiteTarget& site = sites_[i];
    const RigidTransform& X = data_.X_WB[static_cast<size_t>(site.body)];
    Felt& felt = state->sites[i];
    if (ask) {
      ++queries_;
      felt.centre_P = X * site.p_B;
      felt.answer = object_.Closest(felt.centre_P);
    }
    const double d = felt.answer.distance_m;
    const double facing = 1.0 + felt.answer.normal_P.dot(X.R * site.normal_B);
    energy += 0.5 * site.weight * (unit * d * d + options_.facing_weight * facing * facing);
  }
  for (const auto& [i, j] : hand_.self_pairs()) {
    const SkinCapsule &x = hand_.capsules()[static_cast<size_t>(i)],
                      &y = hand_.capsules()[static_cast<size_t>(j)];
    const RigidTransform &X = data_.X_WB[static_cast<size_t>(x.body)],
                         &Y = data_.X_WB[static_cast<size_t>(y.body)];
    double u = 0, v = 0;
    const double d = SegmentDistance(X * x.a_B, X * x.b_B, Y * y.a_B, Y * y.b_B, &u, &v) -
                     x.radius_m - y.radius_m;
    if (d < 0) energy += 0.5 * options_.self_weight * unit * d * d;
  }
  for (Eigen::Index k = 0; k < shape.size(); ++k) {
    const double over = std::max({0.0, hand_.lower()[k] - shape[k], shape[k] - hand_.upper()[k]});
    energy += 0.5 * options_.limit_weight * over * over;
  }
  if (density_ != nullptr) energy -= options_.prior_weight * density_->LogLikelihood(state->at.a);
  if (prior_mean_.size() > 0) {
    energy += 0.5 * options_.prior_weight *
              (state->at.a - prior_mean_).cwiseAbs2().cwiseProduct(prior_weight_).sum();
  }
  if (options_.placement_weight > 0) {
    const Vec3 p = (state->at.X_PH.p - X_start_.p) / 0.01;
    const Vec3 w = geometry::Log(X_start_.R.transpose() * state->at.X_PH.R) / 0.2;
    energy += 0.5 * options_.placement_weight * (p.squaredNorm() + w.squaredNorm());
  }
  state->energy = energy;
}

void ContactFit::AddPointRow(int body, const Vec3& p_P, const Vec3& n_P, double sign) {
  geometry::Vec6 w;
  w << p_P.cross(n_P), n_P;
  for (const int dof : hand_.chain(body)) {
    const double along = sign * w.dot(data_.J_W.col(dof));
    if (dof < 6) {
      row_[dof] += along;
    } else {
      row_.tail(basis_.cols()) += along * basis_.row(dof - 6).transpose();
    }
  }
}

void ContactFit::AddTurnRow(int body, const Vec3& axis_P) {
  for (const int dof : hand_.chain(body)) {
    const double along = axis_P.dot(data_.J_W.col(dof).head<3>());
    if (dof < 6) {
      row_[dof] += along;
    } else {
      row_.tail(basis_.cols()) += along * basis_.row(dof - 6).transpose();
    }
  }
}

void ContactFit::Flush(double residual, double weight, Eigen::MatrixXd* H, Eigen::VectorXd* g) {
  H->selfadjointView<Eigen::Lower>().rankUpdate(row_, weight);
  *g += (weight * residual) * row_;
  row_.setZero();
}

void ContactFit::Linearise(double s, const State& state, Eigen::MatrixXd* H, Eigen::VectorXd* g) {
  const double unit = 1.0 / (options_.scale_m * options_.scale_m);
  const Eigen::Index nx = 6 + basis_.cols();
  model::ComputeJacobian(hand_.skeleton(), state.q, &data_);
  H->setZero(nx, nx);
  g->setZero(nx);
  row_.setZero(nx);
  const auto& spheres = hand_.spheres();
  for (size_t i = 0; i < spheres.size(); ++i) {
    const Felt& felt = state.spheres[i];
    const SkinSphere& sphere = spheres[i];
    const RigidTransform& X = data_.X_WB[static_cast<size_t>(sphere.body)];
    const double d = felt.answer.distance_m - sphere.radius_m;
    if (!(d < options_.reach_m)) continue;
    const double pull = felt.beside ? 0.0 : sphere_weight_.empty() ? 1.0 : sphere_weight_[i];
    const double robust = RhoWeight(d, s);
    double weight = pull * unit * robust;
    if (d < 0) weight += options_.penetration_weight * unit;
    const Vec3& n = felt.answer.normal_P;
    if (weight > 1e-4 * unit) {
      AddPointRow(sphere.body, felt.centre_P, n, 1.0);
      Flush(d, weight, H, g);
    }
    if (pull * robust > 1e-3) {
      const Vec3 u = X.R * sphere.palmar_B;
      AddTurnRow(sphere.body, u.cross(n));
      Flush(1.0 + u.dot(n), pull * options_.facing_weight * robust, H, g);
    }
  }
  for (size_t i = 0; i < sites_.size(); ++i) {
    const SiteTarget& site = sites_[i];
    const Felt& felt = state.sites[i];
    const RigidTransform& X = data_.X_WB[static_cast<size_t>(site.body)];
    const Vec3 u = X.R * site.normal_B;
    const Vec3& n = felt.answer.normal_P;
    AddPointRow(site.body, felt.centre_P, n, 1.0);
    Flush(felt.answer.distance_m, site.weight * unit, H, g);
    AddTurnRow(site.body, u.cross(n));
    Flush(1.0 + u.dot(n), site.weight * options_.facing_weight, H, g);
  }
  for (const auto& [i, j] : hand_.self_pairs()) {
    const SkinCapsule &x = hand_.capsules()[static_cast<size_t>(i)],
                      &y = hand_.capsules()[static_cast<size_t>(j)];
    const RigidTransform &X = data_.X_WB[static_cast<size_t>(x.body)],
                         &Y = data_.X_WB[static_cast<size_t>(y.body)];
    const Vec3 x0 = X * x.a_B, x1 = X * x.b_B, y0 = Y * y.a_B, y1 = Y * y.b_B;
    double u = 0, v = 0;
    const double axes = SegmentDistance(x0, x1, y0, y1, &u, &v);
    const double d = axes - x.radius_m - y.radius_m;
    if (!(d < 0) || !(axes > 1e-9)) continue;
    const Vec3 p = x0 + u * (x1 - x0), r = y0 + v * (y1 - y0), n = (p - r) / axes;
    AddPointRow(x.body, p, n, 1.0);
    AddPointRow(y.body, r, n, -1.0);
    Flush(d, options_.self_weight * unit, H, g);
  }
  const Eigen::VectorXd shape = ShapeOf(state.at.a);
  for (Eigen::Index k = 0; k < shape.size(); ++k) {
    const double under = hand_.lower()[k] - shape[k], over = shape[k] - hand_.upper()[k];
    if (under <= 0 && over <= 0) continue;
    row_.tail(basis_.cols()) += basis_.row(k).transpose();
    Flush(over > 0 ? over : -under, options_.limit_weight, H, g);
  }
  if (density_ != nullptr) {
    const Eigen::MatrixXd& w = density_->whitening(density_->Nearest(state.at.a));
    H->bottomRightCorner(basis_.cols(), basis_.cols()) +=
        options_.prior_weight * (w.transpose() * w);
    g->tail(basis_.cols()) -= options_.prior_weight * density_->LogLikelihoodGradient(state.at.a);
  }
  if (prior_mean_.size() > 0) {
    H->diagonal().tail(basis_.cols()) += options_.prior_weight * prior_weight_;
    g->tail(basis_.cols()) +=
        options_.prior_weight * prior_weight_.cwiseProduct(state.at.a - prior_mean_);
  }
  if (options_.placement_weight > 0) {
    // The free joint's velocity is in the root's own axes.
    const Vec3 p = state.at.X_PH.R.transpose() * (state.at.X_PH.p - X_start_.p);
    const Vec3 w = geometry::Log(X_start_.R.transpose() * state.at.X_PH.R);
    const double wp = options_.placement_weight / 1e-4, ww = options_.placement_weight / 0.04;
    H->diagonal().segment<3>(0).array() += ww;
    H->diagonal().segment<3>(3).array() += wp;
    g->segment<3>(0) += ww * w;
    g->segment<3>(3) += wp * p;
  }
}

double ContactFit::Energy(const HandPlacement& at) {
  State state;
  state.at = at;
  X_start_ = at.X_PH;
  Evaluate(options_.far_m, true, &state);
  return state.energy;
}

ContactFit::Slope ContactFit::SlopeAt(const HandPlacement& at, const RigidTransform& X_start) {
  State state;
  state.at = at;
  X_start_ = X_start;
  Evaluate(options_.far_m, true, &state);
  Slope slope;
  slope.energy = state.energy;
  Linearise(options_.far_m, state, &slope.curvature, &slope.gradient);
  slope.curvature = slope.curvature.selfadjointView<Eigen::Lower>().toDenseMatrix();
  return slope;
}

double ContactFit::Fit(HandPlacement* placement) {
  X_start_ = placement->X_PH;
  State now, trial;
  now.at = *placement;
  double damping = 1e-2;
  Eigen::MatrixXd H, damped;
  Eigen::VectorXd g, step;
  const double ratio = options_.near_m / options_.far_m;
  double s = options_.far_m;
  Evaluate(s, true, &now);
  for (int i = 0; i < options_.iterations; ++i) {
    Linearise(s, now, &H, &g);
    bool moved = false;
    double largest = 0.0;
    for (int tries = 0; tries < 6 && !moved; ++tries) {
      damped = H;
      damped.diagonal().array() += damping * (H.diagonal().array() + 1.0);
      step = -damped.selfadjointView<Eigen::Lower>().llt().solve(g);
      if (!step.allFinite()) break;
      largest = std::max(step.segment<3>(3).cwiseAbs().maxCoeff(),
                         0.1 * std::max(step.head<3>().cwiseAbs().maxCoeff(),
                                        step.tail(basis_.cols()).cwiseAbs().maxCoeff()));
      // Normals hold over a centimetre or two.
      const double most = 0.02;
      if (largest > most) step *= most / largest;
      trial.at.X_PH.R = now.at.X_PH.R * geometry::Exp<double>(step.head<3>());
      trial.at.X_PH.p = now.at.X_PH.p + now.at.X_PH.R * step.segment<3>(3);
      trial.at.a = now.at.a + step.tail(basis_.cols());
      trial.spheres = now.spheres;
      Evaluate(s, true, &trial);
      if (trial.energy < now.energy) {
        moved = true;
        damping = std::max(1e-4, damping * 0.3);
      } else {
        damping *= 6.0;
      }
    }
    if (moved) std::swap(now, trial);
    const bool last_scale = s <= options_.near_m * (1 + 1e-9);
    if (last_scale && (!moved || largest < options_.stop_at_step)) break;
    if (!last_scale) {
      s = std::max(options_.near_m, s * std::pow(ratio, 1.0 / 10));
      Evaluate(s, false, &now);  // the energy at the new scale, from the distances there are
    }
    damping = std::min(damping, 1e2);
  }
  *placement = now.at;
  placement->X_PH.R = geometry::NearestRotation(placement->X_PH.R);
  return now.energy;
}

}  // namespace handhold::synthesis
