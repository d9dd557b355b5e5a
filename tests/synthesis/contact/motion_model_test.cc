#include "synthesis/contact/motion_model.h"

#include <cmath>

#include <gtest/gtest.h>

#include "synthesis/contact/contact_problem.h"
#include "tests/support/chain_hands.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using geometry::Vec6;

MovingBody Block(double mass_kg, const Vec3& size_m, const Vec3& p_W) {
  MovingBody body;
  body.mass.mass_kg = mass_kg;
  body.mass.I_BCom_B = (mass_kg / 12 *
                        Vec3(size_m.y() * size_m.y() + size_m.z() * size_m.z(),
                             size_m.x() * size_m.x() + size_m.z() * size_m.z(),
                             size_m.x() * size_m.x() + size_m.y() * size_m.y()))
                           .asDiagonal();
  body.X_WB.p = p_W;
  return body;
}

// Rows are the derivative of the point's motion: every model, by moving a little.
template <typename Model, typename Point>
void CheckRows(Model& model, const ContactSide& side, const Vec3& p_W, Point&& point) {
  Eigen::Matrix<double, 3, Eigen::Dynamic> rows(3, model.dofs());
  model.PointRows(side, p_W, rows);
  for (int k = 0; k < model.dofs(); ++k) {
    const Vec3 moved = point(1e-6 * Eigen::VectorXd::Unit(model.dofs(), k));
    EXPECT_LE((moved / 1e-6 - rows.col(k)).norm(), 2e-6) << k;
  }
}

TEST(MotionModel, RowsAreHowPointsMove) {
  const Vec3 p_W(0.03, 0.02, -0.01);
  MovingBody state = Block(0.1, Vec3(0.03, 0.05, 0.07), Vec3(0.01, 0, 0.02));
  state.X_WB.R = geometry::Exp<double>(Vec3(0.3, -0.4, 0.2));
  const auto at = [&](auto body) {
    return [body, p_W](const Eigen::VectorXd& x) mutable {
      const Vec3 p_B = body.X_WB().Inverse() * p_W;
      body.Advance(x);
      return Vec3(body.X_WB() * p_B - p_W);
    };
  };
  FreeBody free(state, 0);
  CheckRows(free, ContactSide::Body(0), p_W, at(free));
  PivotBody pivot(state, 0, Vec3(0, 0.1, 0), Vec3(1, 2, -1).normalized());
  CheckRows(pivot, ContactSide::Body(0), p_W, at(pivot));
  SliderBody slider(state, 0, Vec3(1, 2, -1).normalized());
  CheckRows(slider, ContactSide::Body(0), p_W, at(slider));

  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  CompliantTree tree(hand, 0, {}, 1e-3);
  tree.SetConfiguration(Eigen::Vector2d(0.3, 0.5));
  CheckRows(tree, ContactSide::Link(0, 2), p_W, [&](const Eigen::VectorXd& x) {
    CompliantTree moved(hand, 0, {}, 1e-3);
    moved.SetConfiguration(Eigen::Vector2d(0.3, 0.5));
    const Vec3 p_B = moved.X_WB()[2].Inverse() * p_W;
    moved.Advance(x);
    return Vec3(moved.X_WB()[2] * p_B - p_W);
  });
}

TEST(MotionModel, ABodyFallsAPivotSwingsASliderSlides) {
  const MovingBody state = Block(0.2, Vec3(0.03, 0.05, 0.07), Vec3(0.1, 0, 0));
  BodyOptions options;
  options.step_s = 1e-3;
  FreeBody free(state, 0, options);
  PivotBody pivot(state, 0, Vec3::Zero(), Vec3::UnitY(), 0.0, 0.0, options);
  SliderBody slider(state, 0, Vec3(1, 0, -1).normalized(), 0.0, 0.0, options);
  for (int k = 0; k < 100; ++k) {
    for (MotionModel* m : std::initializer_list<MotionModel*>{&free, &pivot, &slider}) {
      if (m == &free) free.Prepare();
      if (m == &pivot) pivot.Prepare();
      if (m == &slider) slider.Prepare();
      m->Advance(m->free_motion());
    }
  }
  EXPECT_NEAR(free.X_WB().p.z(), -0.5 * 9.81 * 0.01, 9.81 * 0.1 * 1e-3);
  EXPECT_NEAR(slider.position(), 0.5 * 9.81 * std::sqrt(0.5) * 0.01, 9.81 * 0.1 * 1e-3);
  // A pendulum let go at the horizontal: energy, to first order in the step.
  const double inertia = 0.2 * (0.03 * 0.03 + 0.07 * 0.07) / 12 + 0.2 * 0.01;
  const double drop = 0.1 * std::sin(pivot.position());
  EXPECT_NEAR(0.5 * inertia * pivot.rate() * pivot.rate(), 0.2 * 9.81 * drop,
              0.02 * 0.2 * 9.81 * drop);
}

TEST(MotionModel, WhatDoesNotFitIsRefused) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  CompliantTree tree(hand, 0);
  CompliantStep step;
  step.q_reference = step.q_reference_next = step.compliance_rad_per_Nm = Eigen::Vector2d(0.1, 0.1);
  EXPECT_TRUE(tree.Prepare(step));
  step.compliance_rad_per_Nm[1] = -1;
  EXPECT_EQ(tree.Prepare(step).error().code, ErrorCode::kInvalid);
  step.compliance_rad_per_Nm = Eigen::VectorXd::Ones(3);
  EXPECT_EQ(tree.Prepare(step).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis
