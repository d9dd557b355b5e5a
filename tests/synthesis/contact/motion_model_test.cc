#include "synthesis/contact/motion_model.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "synthesis/contact/contact_problem.h"
#include "tests/support/chain_hands.h"

namespace handhold::synthesis::motion_model_test {
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

// Thrown, it turns a tenth of a turn a step: its angular momentum stays to rounding, so that its
// energy is bounded, and near what it was.
TEST(MotionModel, AThrownBodyKeepsItsMomentum) {
  MovingBody state = Block(0.012, Vec3(0.03, 0.05, 0.07), Vec3(0, 0, 0));
  state.mass.p_BCom = Vec3(0.01, -0.02, 0.005);
  state.V_B.head<3>() = Vec3(20, 300, 30);  // near the middle axis, about which nothing spins long
  FreeBody free(state, 0, {.step_s = 2e-3, .gravity_W = Vec3::Zero()});
  const geometry::Mat3& I = state.mass.I_BCom_B;
  const auto momentum_W = [&] { return Vec3(free.X_WB().R * (I * free.state().V_B.head<3>())); };
  const auto energy = [&] {
    const Vec3 omega = free.state().V_B.head<3>();
    return 0.5 * omega.dot(I * omega);
  };
  const Vec3 com_velocity_B =
      state.V_B.tail<3>() + Vec3(state.V_B.head<3>()).cross(state.mass.p_BCom);
  const Vec3 first_W = momentum_W();
  const double first_J = energy();
  double least_J = first_J, most_J = first_J;
  for (int k = 0; k < 5000; ++k) {
    free.Prepare();
    free.Advance(free.free_motion());
    ASSERT_LT((momentum_W() - first_W).norm(), 1e-9 * first_W.norm()) << k;
    least_J = std::min(least_J, energy());
    most_J = std::max(most_J, energy());
  }
  EXPECT_GT(least_J, 0.5 * first_J);
  EXPECT_LT(most_J, 2.0 * first_J);
  const Vec3 now_W = free.X_WB().R * (free.state().V_B.tail<3>() +
                                      Vec3(free.state().V_B.head<3>()).cross(state.mass.p_BCom));
  EXPECT_LT((now_W - com_velocity_B).norm(), 1e-9 * com_velocity_B.norm());
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
}  // namespace handhold::synthesis::motion_model_test
