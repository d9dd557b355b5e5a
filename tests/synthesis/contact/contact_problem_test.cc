#include "synthesis/contact/contact_problem.h"

#include <cmath>

#include <gtest/gtest.h>

#include "synthesis/contact/contact_finder.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

// A ball lying on a table: it sinks in by its weight over the stiffness and stays.
TEST(ContactProblem, ABallOnATableStandsOnItsSpring) {
  MovingBody state;
  state.mass.mass_kg = 0.05;
  state.mass.I_BCom_B = 8e-6 * geometry::Mat3::Identity();
  state.X_WB.p = Vec3(0, 0, 0.02);
  FreeBody ball(state, 0);
  ContactFinder finder;
  ASSERT_TRUE(finder.Add({.side = ContactSide::Body(0), .shape = geometry::Sphere{0.02}}));
  ASSERT_TRUE(finder.Add({.side = ContactSide::Fixed(),
                          .shape = geometry::Box{Vec3(1, 1, 0.1)},
                          .X_BS = RigidTransform::Translation(Vec3(0, 0, -0.05))}));
  ContactPoses poses;
  poses.bodies.push_back(&ball.X_WB());
  for (const ContactSolver solver :
       {ContactSolver::kLemkeThenGaussSeidel, ContactSolver::kGaussSeidel}) {
    ball.SetState(state);
    ContactMemory memory;
    ContactProblem problem;
    ContactSet contacts;
    SolveCounts counts;
    for (int k = 0; k < 500; ++k) {
      ball.Prepare();
      ASSERT_TRUE(finder.Find(poses, 4e-3, &contacts));
      ASSERT_EQ(contacts.size(), 1u);
      MotionModel* models[] = {&ball};
      problem.Assemble(models, contacts, memory, poses, 0.002);
      counts.Count(problem.Solve({.solver = solver}));
      problem.Advance(&memory);
    }
    EXPECT_EQ(counts.nobody, 0);
    EXPECT_EQ(solver == ContactSolver::kGaussSeidel ? counts.gauss_seidel : counts.lemke, 500);
    EXPECT_NEAR(problem.forces()[0].f_onA_W.z(), 0.05 * 9.81, 1e-6);
    EXPECT_NEAR(ball.X_WB().p.z(), 0.02 - 0.05 * 9.81 / 5000, 1e-9);
    EXPECT_LE(ball.state().V_B.norm(), 1e-6);
  }
}

}  // namespace
}  // namespace handhold::synthesis
