#include "synthesis/grasp_search/contact_fit.h"

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "synthesis/grasp_search/closing.h"

namespace handhold::synthesis {
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

// Where a fit ends no small step goes down: with a wrong sign in any row it would. Planes have no
// derivative of their normal, which is left out; nor is there the facing rows' weight to depend on
// distance.
TEST(ContactFit, EndsInAMinimumOfItsEnergy) {
  Scene s;
  const HeldObject box = Thing(geometry::Box{Vec3(0.5, 0.5, 0.05)});
  ContactFitOptions options;
  options.iterations = 200;
  options.far_m = options.near_m = 0.02;
  options.stop_at_step = 1e-9;
  options.facing_weight = 0.0;
  ContactFit fit(s.hand, box, Eigen::VectorXd::Zero(21), s.one, options);
  fit.set_prior(s.rest, Eigen::VectorXd::Constant(21, 0.3));
  HandPlacement at{{geometry::Exp<double>(Vec3(0.2, 0.1, 0.4)), Vec3(0.02, 0.01, 0.085)}, s.rest};
  const double before = fit.Energy(at);
  fit.Fit(&at);
  const double after = fit.Energy(at);
  EXPECT_LT(after, 0.5 * before);
  for (int k = 0; k < 27; ++k) {
    for (const double step : {-2e-3, 2e-3}) {
      HandPlacement moved = at;
      if (k < 3) moved.X_PH.R = at.X_PH.R * geometry::Exp<double>(step * Vec3::Unit(k));
      if (k >= 3 && k < 6) moved.X_PH.p += 0.1 * step * Vec3::Unit(k - 3);
      if (k >= 6) moved.a[k - 6] += step;
      EXPECT_GT(fit.Energy(moved), after - 0.2) << "coordinate " << k;
    }
  }
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
}  // namespace handhold::synthesis
