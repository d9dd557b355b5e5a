/// Lays a hand on an object: damped Gauss-Newton over the root's pose and the coordinates of a
/// grasp space, so that the skin touches, palmar side first, without entering.
///
/// Rows (metres scaled by scale_m, so that all are comparable): contact of spheres, weighted
/// 1 / (1 + (d/s)^2)^2 with s falling from far_m to near_m (Geman-McClure); penetration; the palmar
/// side against the object's normal; contact of named sites; self-contact; limits; and a prior: the
/// mixture of a grasp space, or a mean with standard deviations. Derivatives are analytic; that of
/// the object's normal is left out. Nearest points are asked with the bound that the last answer
/// gives, and not at all where nothing can be in reach. Not thread-safe: one per thread. Pinned by
/// tests/synthesis/grasp_search/contact_fit_test.cc.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/space_density.h"
#include "synthesis/grasp_search/hand_surface.h"
#include "synthesis/grasp_search/held_object.h"

namespace handhold::synthesis {

struct ContactFitOptions {
  int iterations = 25;
  double scale_m = 0.002;  ///< what counts as 1
  double far_m = 0.030, near_m = 0.008;
  double reach_m = 0.045;  ///< of the skin: farther spheres are not pulled
  double penetration_weight = 25.0;
  double facing_weight = 4.0;  ///< of (1 + palmar . normal)^2, per unit of contact weight
  double self_weight = 25.0;
  double limit_weight = 400.0;    ///< per rad^2
  double prior_weight = 0.3;      ///< per squared standard deviation
  double placement_weight = 0.0;  ///< of keeping the root where it started: per (1 cm)^2, (0.2
                                  ///< rad)^2
  double stop_at_step = 1e-3;     ///< largest coordinate change, m or rad, that ends the fit
};
template <typename A>
void Visit(A& a, ContactFitOptions& o) {
  a.Field("iterations", o.iterations);
  a.Field("scale_m", o.scale_m);
  a.Field("far_m", o.far_m);
  a.Field("near_m", o.near_m);
  a.Field("reach_m", o.reach_m);
  a.Field("penetration_weight", o.penetration_weight);
  a.Field("facing_weight", o.facing_weight);
  a.Field("self_weight", o.self_weight);
  a.Field("limit_weight", o.limit_weight);
  a.Field("prior_weight", o.prior_weight);
  a.Field("placement_weight", o.placement_weight);
  a.Field("stop_at_step", o.stop_at_step);
}

/// A point of the skin that should touch.
struct SiteTarget {
  int body = 0;
  geometry::Vec3 p_B = geometry::Vec3::Zero();
  geometry::Vec3 normal_B = -geometry::Vec3::UnitZ();  ///< unit, out of the hand
  double weight = 1.0;
};

/// Where the fit stands: the root in the object's frame P, and coordinates a with shape = offset +
/// basis a.
struct HandPlacement {
  geometry::RigidTransform X_PH;
  Eigen::VectorXd a;
};

class ContactFit {
 public:
  /// All must outlive the fit. shape = offset + basis a: a grasp space's mean and basis, or 0 and
  /// the identity.
  ContactFit(const HandSurface& hand, const HeldObject& object, Eigen::VectorXd offset,
             Eigen::MatrixXd basis, const ContactFitOptions& options = {});

  /// The mixture holds the coordinates; null: nothing does.
  void set_mixture(const artefact::SpaceDensity* density) { density_ = density; }
  /// A mean and standard deviations hold them (both as a).
  void set_prior(const Eigen::VectorXd& mean, const Eigen::VectorXd& sd);
  /// Pull on each of hand.spheres(), >= 0; empty: 1 on all.
  void set_sphere_weights(std::vector<double> weights) { sphere_weight_ = std::move(weights); }
  void set_sites(std::vector<SiteTarget> sites) { sites_ = std::move(sites); }

  /// Energy of a placement at scale far_m, without moving it.
  double Energy(const HandPlacement& at);
  /// What a step of the fit sees at a placement, at scale far_m, of a fit that began at X_start.
  /// Coordinates: turn and way of the root in its own axes (3 + 3), then a.
  struct Slope {
    double energy = 0.0;
    Eigen::VectorXd gradient;   ///< of the energy, less the normals' derivatives
    Eigen::MatrixXd curvature;  ///< Gauss-Newton's, symmetric
  };
  Slope SlopeAt(const HandPlacement& at, const geometry::RigidTransform& X_start);
  /// Moves the placement; answers its energy at scale near_m.
  double Fit(HandPlacement* placement);

  Eigen::VectorXd ShapeOf(const Eigen::VectorXd& a) const { return offset_ + basis_ * a; }
  /// Nearest-point queries asked so far: what the time goes into.
  long queries() const { return queries_; }

 private:
  struct Felt {
    HeldObject::Answer answer;  ///< of the centre; infinite: out of reach
    geometry::Vec3 centre_P = geometry::Vec3::Zero();
    double at_least_m = -1.0;  ///< |distance| there, at least; < 0: never asked
    bool beside = false;       ///< nearest to what is not in the place asked for: it pulls nothing
  };
  struct State {
    HandPlacement at;
    Eigen::VectorXd q;
    std::vector<Felt> spheres, sites;
    double energy = 0.0;
  };
  void Feel(const geometry::Vec3& centre_P, double radius_m, Felt* felt);
  /// `ask`: nearest points anew; else those that the state has are still good.
  void Evaluate(double s, bool ask, State* state);
  void Linearise(double s, const State& state, Eigen::MatrixXd* H, Eigen::VectorXd* g);
  /// Adds w e^2 / 2 of a residual whose gradient is `w_P` . twist of the body.
  void AddPointRow(int body, const geometry::Vec3& p_P, const geometry::Vec3& n_P, double sign);
  void AddTurnRow(int body, const geometry::Vec3& axis_P);
  void Flush(double residual, double weight, Eigen::MatrixXd* H, Eigen::VectorXd* g);

  const HandSurface& hand_;
  const HeldObject& object_;
  Eigen::VectorXd offset_;
  Eigen::MatrixXd basis_;
  ContactFitOptions options_;
  const artefact::SpaceDensity* density_ = nullptr;
  Eigen::VectorXd prior_mean_, prior_weight_;
  std::vector<double> sphere_weight_;
  std::vector<SiteTarget> sites_;
  geometry::RigidTransform X_start_;
  model::KinematicsData data_;
  Eigen::VectorXd row_;
  long queries_ = 0;
};

}  // namespace handhold::synthesis
