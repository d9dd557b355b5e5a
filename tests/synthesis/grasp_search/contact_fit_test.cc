#include "synthesis/grasp_search/contact_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include <Eigen/QR>

#include "database/model/hand_library.h"
#include "synthesis/grasp_search/closing.h"

namespace handhold::synthesis::contact_fit_test {
namespace {

using geometry::Vec3;

HeldObject Thing(geometry::Shape shape) {
  model::Prop prop;
  prop.name = "thing";
  prop.shapes.push_back({"shape", {}, std::move(shape), ""});
  return *HeldObject::Build(prop);
}

struct Scene {
  HandSurface hand = *HandSurface::Build(*model::LoadHand("hand27"));
  Eigen::VectorXd rest = [this] {
    Eigen::VectorXd shape = Eigen::VectorXd::Zero(21);
    for (size_t i = 0; i < 21; ++i) {
      const std::string name = hand.shape_names()[i];
      if (name.ends_with(".flex")) shape[static_cast<Eigen::Index>(i)] = 0.5;
    }
    return shape;
  }();
  Eigen::MatrixXd one = Eigen::MatrixXd::Identity(21, 21);
};

HandPlacement Moved(const HandPlacement& at, int k, double step) {
  HandPlacement to = at;
  if (k < 3) to.X_PH.R = at.X_PH.R * geometry::Exp<double>(step * Vec3::Unit(k));
  if (k >= 3 && k < 6) to.X_PH.p += step * at.X_PH.R * Vec3::Unit(k - 3);
  if (k >= 6) to.a[k - 6] += step;
  return to;
}

/// Every entry of the gradient against central differences of the energy, within 1e-6 of the
/// largest (what rounding leaves); answers the gradient.
Eigen::VectorXd CheckGradient(ContactFit& fit, const HandPlacement& at,
                              const geometry::RigidTransform& X_start, const char* term) {
  const Eigen::VectorXd g = fit.SlopeAt(at, X_start).gradient;
  const double scale = std::max(1.0, g.cwiseAbs().maxCoeff());
  const double h = 1e-6;
  for (Eigen::Index k = 0; k < g.size(); ++k) {
    const auto energy = [&](double step) {
      return fit.SlopeAt(Moved(at, static_cast<int>(k), step), X_start).energy;
    };
    EXPECT_NEAR(g[k] / scale, (energy(h) - energy(-h)) / (2 * h) / scale, 2e-6)
        << term << ", coordinate " << k;
  }
  return g;
}
/// The curvature of a term whose residuals are linear is that of its energy.
void CheckCurvature(ContactFit& fit, const HandPlacement& at,
                    const geometry::RigidTransform& X_start, const char* term) {
  const Eigen::MatrixXd H = fit.SlopeAt(at, X_start).curvature;
  const double h = 1e-5, scale = std::max(1.0, H.cwiseAbs().maxCoeff());
  for (Eigen::Index k = 6; k < H.cols(); ++k) {
    const auto gradient = [&](double step) {
      return fit.SlopeAt(Moved(at, static_cast<int>(k), step), X_start).gradient;
    };
    EXPECT_LT(((gradient(h) - gradient(-h)) / (2 * h) - H.col(k)).tail(H.rows() - 6).norm() / scale,
              1e-6)
        << term << ", coordinate " << k;
  }
}

/// All weights off; a term under test turns its own on. A scale s so large that its weight is 1.
ContactFitOptions Nothing() {
  ContactFitOptions o;
  o.far_m = o.near_m = 1e4;
  o.penetration_weight = o.facing_weight = o.self_weight = o.limit_weight = o.prior_weight =
      o.placement_weight = 0.0;
  return o;
}

/// A closed hand over things, coordinates of a reduced basis: no joint stands alone in a row.
struct Slopes : Scene {
  Slopes() {
    std::srand(5);
    basis = Eigen::HouseholderQR<Eigen::MatrixXd>(Eigen::MatrixXd::Random(21, 21)).householderQ() *
            Eigen::MatrixXd::Identity(21, 7);
    at.a = 0.1 * Eigen::VectorXd::Random(7);
    at.X_PH = {geometry::Exp<double>(Vec3(0.2, 0.1, 0.4)), Vec3(0.02, 0.01, 0.075)};
    // Twice as far from the start as placements count: 2 cm, 0.4 rad.
    X_start = at.X_PH * geometry::RigidTransform{geometry::Exp<double>(Vec3(0.3, -0.2, 0.1)),
                                                 Vec3(0.01, -0.015, 0.01)};
  }
  ContactFit Fit(const HeldObject& object, const ContactFitOptions& options, bool skin) {
    ContactFit fit(hand, object, rest, basis, options);
    if (!skin) fit.set_sphere_weights(std::vector<double>(hand.spheres().size(), 0.0));
    return fit;
  }
  Eigen::MatrixXd basis;
  HandPlacement at;
  geometry::RigidTransform X_start;
  HeldObject plate = Thing(geometry::Box{Vec3(0.6, 0.6, 0.1)});  // its top is 5 cm up, flat all
                                                                 // over
  HeldObject ball = Thing(geometry::Sphere{0.06});
};

// Contact: Geman-McClure of the distance to anything smooth.
TEST(ContactFitGradient, OfContactRows) {
  Slopes s;
  ContactFitOptions options = Nothing();
  options.far_m = 0.02;
  for (const HeldObject* object : {&s.plate, &s.ball}) {
    ContactFit fit = s.Fit(*object, options, true);
    const Eigen::VectorXd g = CheckGradient(fit, s.at, s.X_start, "contact");
    EXPECT_GT(g.head<6>().cwiseAbs().minCoeff(), 1.0);
    EXPECT_GT(g.tail(7).cwiseAbs().minCoeff(), 1.0);
  }
}

TEST(ContactFitGradient, OfPenetrationRows) {
  Slopes s;
  s.at.X_PH.p.z() = 0.055;  // fingers go through the top
  ContactFitOptions options = Nothing();
  options.penetration_weight = 25.0;
  ContactFit fit = s.Fit(s.plate, options, false);
  EXPECT_GT(CheckGradient(fit, s.at, s.X_start, "penetration").norm(), 100.0);
}

// The palmar side against a plane, whose normal does not turn.
TEST(ContactFitGradient, OfFacingRows) {
  Slopes s;
  ContactFitOptions options = Nothing();
  options.facing_weight = 4.0;
  ContactFit with = s.Fit(s.plate, options, true);
  const Eigen::VectorXd g = CheckGradient(with, s.at, s.X_start, "facing");
  options.facing_weight = 0.0;
  ContactFit without = s.Fit(s.plate, options, true);
  EXPECT_GT((g - without.SlopeAt(s.at, s.X_start).gradient).head<3>().norm(), 1.0);
}

TEST(ContactFitGradient, OfSiteRows) {
  Slopes s;
  ContactFitOptions options = Nothing();
  options.facing_weight = 4.0;
  ContactFit fit = s.Fit(s.plate, options, false);
  std::vector<SiteTarget> sites;
  for (const char* name : {"R.thumb.pad", "R.index.pad", "R.palm"}) {
    const auto& site =
        s.hand.skeleton().sites()[static_cast<size_t>(s.hand.skeleton().FindSite(name))];
    sites.push_back({site.body, site.p_BS, site.normal_B, 1.5});
  }
  fit.set_sites(sites);
  const Eigen::VectorXd g = CheckGradient(fit, s.at, s.X_start, "sites");
  EXPECT_GT(g.cwiseAbs().minCoeff(), 1e-3);
}

TEST(ContactFitGradient, OfSelfContactRows) {
  Slopes s;
  s.at.X_PH.p.z() = 2.0;
  // Fingers cross one another, the thumb lies in the palm.
  for (const auto& [dof, angle] : {std::pair{"R.index.mcp.abd", -0.3},
                                   {"R.middle.mcp.abd", 0.3},
                                   {"R.thumb.cmc.flex", 0.6},
                                   {"R.thumb.mcp.flex", 0.9}})
    s.rest[s.hand.skeleton().FindDof(dof) - 6] = angle;
  s.at.a.setZero();
  ContactFitOptions options = Nothing();
  options.self_weight = 25.0;
  ContactFit fit = s.Fit(s.plate, options, false);
  const Eigen::VectorXd g = CheckGradient(fit, s.at, s.X_start, "self-contact");
  EXPECT_GT(g.tail(7).norm(), 10.0);
  EXPECT_LT(g.head<6>().norm(), 1e-6 * g.norm());  // inside the hand
}

TEST(ContactFitGradient, OfLimitRows) {
  Slopes s;
  s.at.X_PH.p.z() = 2.0;
  ContactFitOptions options = Nothing();
  options.limit_weight = 400.0;
  // Beyond upper limits, and beyond lower ones.
  for (const double way : {1.0, -1.0}) {
    s.rest = way > 0 ? s.hand.upper() : s.hand.lower();
    s.rest.array() += 0.2 * way;
    s.at.a.setZero();
    ContactFit fit = s.Fit(s.plate, options, false);
    const Eigen::VectorXd g = CheckGradient(fit, s.at, s.X_start, "limits");
    EXPECT_LT(
        (g.tail(7) - 400 * 0.2 * way * s.basis.transpose() * Eigen::VectorXd::Ones(21)).norm(),
        1e-9);
    CheckCurvature(fit, s.at, s.X_start, "limits");
  }
}

TEST(ContactFitGradient, OfPriorsMixtureAndPlacement) {
  Slopes s;
  s.at.X_PH.p.z() = 2.0;
  ContactFitOptions options = Nothing();
  options.prior_weight = 0.3;
  {
    ContactFit fit = s.Fit(s.plate, options, false);
    fit.set_prior(Eigen::VectorXd::Constant(7, 0.05), Eigen::VectorXd::LinSpaced(7, 0.1, 0.5));
    EXPECT_GT(CheckGradient(fit, s.at, s.X_start, "prior").tail(7).cwiseAbs().minCoeff(), 1e-3);
    CheckCurvature(fit, s.at, s.X_start, "prior");
  }
  artefact::GraspSpace space;
  space.mean = s.rest;
  space.basis = s.basis;
  const auto gaussian = [&](double weight, double middle) {
    const Eigen::MatrixXd r = Eigen::MatrixXd::Random(7, 7);
    return artefact::MixtureComponent{
        weight, Eigen::VectorXd::Constant(7, middle),
        0.02 * r * r.transpose() + 0.03 * Eigen::MatrixXd::Identity(7, 7)};
  };
  for (const bool two : {false, true}) {
    space.mixture = {gaussian(two ? 0.4 : 1.0, 0.1)};
    if (two) space.mixture.push_back(gaussian(0.6, -0.05));
    const auto density = *artefact::SpaceDensity::Build(space);
    ContactFit fit = s.Fit(s.plate, options, false);
    fit.set_mixture(&density);
    EXPECT_GT(CheckGradient(fit, s.at, s.X_start, "mixture").tail(7).norm(), 0.1);
    if (!two) CheckCurvature(fit, s.at, s.X_start, "mixture");
  }
  options.prior_weight = 0.0;
  options.placement_weight = 0.7;
  ContactFit fit = s.Fit(s.plate, options, false);
  const ContactFit::Slope slope = fit.SlopeAt(s.at, s.X_start);
  CheckGradient(fit, s.at, s.X_start, "placement");
  EXPECT_GT(slope.gradient.head<6>().cwiseAbs().minCoeff(), 0.1);
  // Per (1 cm)^2 and (0.2 rad)^2.
  EXPECT_NEAR(slope.energy,
              0.35 * ((s.at.X_PH.p - s.X_start.p).squaredNorm() / 1e-4 +
                      Vec3(0.3, -0.2, 0.1).squaredNorm() / 0.04),
              1e-9);
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(13);
  expected.head<3>().setConstant(0.7 / 0.04);
  expected.segment<3>(3).setConstant(0.7 / 1e-4);
  EXPECT_LT((slope.curvature.diagonal() - expected).norm(), 1e-9);
}

// Where a fit ends the slope is flat: all rows together, limits among them.
TEST(ContactFit, EndsWhereItsEnergyIsFlat) {
  Scene s;
  const HeldObject box = Thing(geometry::Box{Vec3(0.5, 0.5, 0.05)});
  ContactFitOptions options;
  options.iterations = 200;
  options.far_m = options.near_m = 0.02;
  options.stop_at_step = 1e-9;
  options.facing_weight = 0.0;
  options.placement_weight = 0.3;
  ContactFit fit(s.hand, box, Eigen::VectorXd::Zero(21), s.one, options);
  // The prior pulls two joints beyond their limits.
  Eigen::VectorXd mean = s.rest;
  mean[3] = s.hand.upper()[3] + 0.5;
  mean[7] = s.hand.lower()[7] - 0.5;
  fit.set_prior(mean, Eigen::VectorXd::Constant(21, 0.3));
  HandPlacement at{{geometry::Exp<double>(Vec3(0.2, 0.1, 0.4)), Vec3(0.02, 0.01, 0.09)}, s.rest};
  const geometry::RigidTransform X_start = at.X_PH;
  const ContactFit::Slope before = fit.SlopeAt(at, X_start);
  fit.Fit(&at);
  const ContactFit::Slope after = fit.SlopeAt(at, X_start);
  EXPECT_LT(after.energy, 0.5 * before.energy);
  EXPECT_GT(s.hand.BeyondLimits(at.a), 0.01);  // limit rows hold against others
  // What is left, as a step: what the fit would still do.
  const Eigen::VectorXd step =
      (after.curvature + 1e-9 * Eigen::MatrixXd::Identity(27, 27)).ldlt().solve(after.gradient);
  EXPECT_LT(step.cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT(after.gradient.norm(), 1e-4 * before.gradient.norm());
}

TEST(ContactFit, LaysTheHandOnACylinderWithoutEnteringIt) {
  Scene s;
  const HeldObject cylinder = Thing(geometry::Cylinder{0.03, 0.3});
  ContactFit fit(s.hand, cylinder, Eigen::VectorXd::Zero(21), s.one);
  fit.set_prior(s.rest, Eigen::VectorXd::Constant(21, 0.5));
  // The cylinder across the palm, 2 cm below it.
  geometry::RigidTransform X_HO{geometry::Exp<double>(Vec3(-M_PI / 2, 0, 0)),
                                Vec3(0.075, 0, -0.067)};
  HandPlacement at{X_HO.Inverse(), s.rest};
  fit.Fit(&at);
  Closer closer(s.hand, cylinder);
  const Eigen::VectorXd shape = fit.ShapeOf(at.a);
  EXPECT_LT(closer.Penetration(at.X_PH, shape), 0.002);
  const auto contacts = closer.Contacts(at.X_PH, shape, 0.004);
  int fingers = 0, palm = 0;
  for (const SkinContact& c : contacts) fingers += c.digit > 0, palm += c.digit < 0;
  EXPECT_GE(fingers, 6);
  EXPECT_GE(palm, 1);
}

TEST(ContactFit, NamedSitesTouchFacingTheSurface) {
  Scene s;
  const HeldObject sphere = Thing(geometry::Sphere{0.012});
  ContactFit fit(s.hand, sphere, Eigen::VectorXd::Zero(21), s.one,
                 {.iterations = 100, .prior_weight = 0.3, .stop_at_step = 1e-6});
  fit.set_prior(s.rest, Eigen::VectorXd::Constant(21, 0.4));
  fit.set_sphere_weights(std::vector<double>(s.hand.spheres().size(), 0.0));
  std::vector<SiteTarget> sites;
  for (const char* name : {"R.thumb.pad", "R.index.pad"}) {
    const auto& site =
        s.hand.skeleton().sites()[static_cast<size_t>(s.hand.skeleton().FindSite(name))];
    sites.push_back({site.body, site.p_BS, site.normal_B, 1.0});
  }
  fit.set_sites(sites);
  // A pinch to begin from, the sphere halfway between the two pads.
  for (const auto& [dof, angle] : {std::pair{"R.thumb.cmc.flex", 0.15},
                                   {"R.thumb.cmc.abd", 0.25},
                                   {"R.thumb.mcp.flex", 0.3},
                                   {"R.index.mcp.flex", 0.8},
                                   {"R.index.pip.flex", 0.9}})
    s.rest[s.hand.skeleton().FindDof(dof) - 6] = angle;
  fit.set_prior(s.rest, Eigen::VectorXd::Constant(21, 0.4));
  model::KinematicsData data(s.hand.skeleton());
  model::ComputePoses(s.hand.skeleton(), s.hand.Configuration({}, s.rest), &data);
  Vec3 middle = Vec3::Zero();
  for (const SiteTarget& site : sites)
    middle += 0.5 * (data.X_WB[static_cast<size_t>(site.body)] * site.p_B);
  HandPlacement at{geometry::RigidTransform::Translation(-middle), s.rest};
  fit.Fit(&at);
  model::ComputePoses(s.hand.skeleton(), s.hand.Configuration(at.X_PH, at.a), &data);
  for (const SiteTarget& site : sites) {
    const auto& X = data.X_WB[static_cast<size_t>(site.body)];
    const Vec3 p = X * site.p_B;
    EXPECT_NEAR(p.norm(), 0.012, 0.001);
    EXPECT_LT((X.R * site.normal_B).dot(p.normalized()), -0.8);
  }
}

// Only the place asked for pulls; the rest may still not be entered.
TEST(ContactFit, WhatLiesBesideThePlacePullsNothing) {
  Slopes s;
  model::Prop prop;
  prop.name = "thing";
  prop.shapes.push_back({"shape", {}, geometry::Box{Vec3(0.6, 0.6, 0.1)}, ""});
  const HeldObject beside =
      *HeldObject::Build(prop, {.point_P = Vec3(0.25, 0.25, 0.05), .radius_m = 0.02});
  ContactFitOptions options = Nothing();
  options.far_m = 0.02;
  EXPECT_EQ(s.Fit(beside, options, true).SlopeAt(s.at, s.X_start).gradient.norm(), 0.0);
  const HeldObject all = *HeldObject::Build(prop, {.point_P = Vec3::Zero(), .radius_m = 1.0});
  EXPECT_EQ(s.Fit(all, options, true).SlopeAt(s.at, s.X_start).gradient,
            s.Fit(s.plate, options, true).SlopeAt(s.at, s.X_start).gradient);
  s.at.X_PH.p.z() = 0.055;
  options.penetration_weight = 25.0;
  ContactFit fit = s.Fit(beside, options, true);
  EXPECT_GT(CheckGradient(fit, s.at, s.X_start, "penetration beside the place").norm(), 100.0);
}

TEST(ContactFit, AsksLittleWhereNothingIsInReach) {
  Scene s;
  const HeldObject sphere = Thing(geometry::Sphere{0.02});
  ContactFit fit(s.hand, sphere, Eigen::VectorXd::Zero(21), s.one);
  fit.set_prior(s.rest, Eigen::VectorXd::Constant(21, 0.4));
  HandPlacement far{geometry::RigidTransform::Translation(Vec3(1, 0, 0)), s.rest};
  fit.Fit(&far);
  EXPECT_LE(fit.queries(), 2 * static_cast<long>(s.hand.spheres().size()));
}

}  // namespace
}  // namespace handhold::synthesis::contact_fit_test
