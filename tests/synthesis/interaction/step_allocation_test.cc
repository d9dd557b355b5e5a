// A step allocates nothing once its arrays have grown, whatever contacts come and go.
#include <vector>

#include <gtest/gtest.h>

#include "synthesis/contact/contact_finder.h"
#include "synthesis/interaction/step.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/pinch_scene.h"

namespace handhold::synthesis::step_allocation_test {
namespace {

using testing::AllocationsOfThisThread;

/// A scripted pinch of the 12 g box: closing, lifted, held, put down, opened.
struct Pinch {
  artefact::InteractionTrajectory program =
      PinchReference(testing::PinchHand(), testing::PinchBoxPlace(),
                     testing::PinchProgram(0.012, 0.1))
          .value();
  artefact::Stage scene = testing::OnTable(testing::PinchBox(0.012));
  const artefact::StageThing &table = scene.things[0], &box = scene.things[1];
  ReplayOptions options = testing::PinchReplay();
  ContactFinder finder;
  InteractionStepper stepper;
  std::vector<MovingBody> bodies;
  ContactPoses poses;
  ContactSet contacts;
  HandStep step;
  StepResult result;
  size_t most_contacts = 0, fewest_contacts = 100, allocations = 0;

  explicit Pinch(bool limits) : stepper(testing::PinchHand(), WithLimits(options.step, limits)) {
    EXPECT_TRUE(finder.AddSkeleton(testing::PinchHand(), 0, false, 1.5e-4));
    EXPECT_TRUE(finder.AddProp(*table.prop, ContactSide::Fixed(0)));
    EXPECT_TRUE(finder.AddProp(*box.prop, ContactSide::Body(0)));
    bodies.resize(1);
    poses.trees.push_back(stepper.X_WB());
    poses.bodies.push_back(&bodies[0].X_WB);
    poses.fixed.push_back(*table.X_WP);
  }
  static StepOptions WithLimits(StepOptions step, bool limits) {
    step.limits = limits;
    return step;
  }

  /// From the beginning to the end, two steps per frame; the highest the box came.
  double Play() {
    stepper.Reset();
    bodies[0] = {box.prop->mass, *box.X_WP, geometry::Vec6::Zero(), geometry::Vec6::Zero()};
    step.q = step.q_reference_next = program.q_reference_dynamic.col(0);
    step.compliance_rad_per_Nm = program.compliance_rad_per_Nm.col(0);
    step.time_constant_s.setConstant(testing::PinchHand().nv(), 0.014);
    stepper.SetConfiguration(step.q);
    double highest_m = 0.0;
    size_t before = 0;
    for (Eigen::Index k = 0; k < 2 * program.q_reference_dynamic.cols(); ++k) {
      if (k == 1) before = AllocationsOfThisThread();  // the first step makes the bodies' models
      step.q_reference = step.q_reference_next;
      step.q_reference_next = program.q_reference_dynamic.col(k / 2);
      EXPECT_TRUE(finder.Find(poses, options.margin_m, &contacts));
      EXPECT_TRUE(stepper.Step({&step, 1}, contacts, bodies, &result));
      EXPECT_TRUE(result.solve.solved());
      step.q = result.q;
      most_contacts = std::max(most_contacts, contacts.size());
      fewest_contacts = std::min(fewest_contacts, contacts.size());
      highest_m = std::max(highest_m, bodies[0].X_WB.p.z() - box.X_WP->p.z());
    }
    allocations = AllocationsOfThisThread() - before;
    return highest_m;
  }
};

TEST(StepAllocation, NoneOnceEverythingHasGrown) {
  for (const bool limits : {false, true}) {
    Pinch pinch(limits);
    const double highest_m = pinch.Play();
    EXPECT_GT(pinch.allocations, 0u);      // the counter counts
    EXPECT_GT(highest_m, 0.09);            // it is a lift,
    EXPECT_GE(pinch.most_contacts, 7u);    // with contacts that come
    EXPECT_LE(pinch.fewest_contacts, 4u);  // and go
    EXPECT_EQ(pinch.Play(), highest_m);
    EXPECT_EQ(pinch.allocations, 0u) << limits;
  }
}

// What is handed back by value costs its own few vectors, and says the same.
TEST(StepAllocation, ByValueItIsTheSameStep) {
  Pinch a(true), b(true);
  for (Pinch* p : {&a, &b}) {
    p->Play();
    p->stepper.Reset();
    EXPECT_TRUE(p->finder.Find(p->poses, p->options.margin_m, &p->contacts));
  }
  const auto by_value = a.stepper.Step(a.step, a.contacts, a.bodies);
  ASSERT_TRUE(by_value);
  ASSERT_TRUE(b.stepper.Step({&b.step, 1}, b.contacts, b.bodies, &b.result));
  EXPECT_EQ(by_value->q, b.result.q);
  EXPECT_EQ(by_value->equilibrium_residual_rad, b.result.equilibrium_residual_rad);
  ASSERT_EQ(by_value->forces.size(), b.result.forces.size());
  for (size_t i = 0; i < b.result.forces.size(); ++i)
    EXPECT_EQ(by_value->forces[i].f_onHand_W, b.result.forces[i].f_onHand_W);
}

}  // namespace
}  // namespace handhold::synthesis::step_allocation_test
