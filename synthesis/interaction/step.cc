#include "synthesis/interaction/step.h"

#include <cmath>
#include <string>

#include "database/base/check.h"

namespace handhold::synthesis {

using geometry::Vec3;

namespace {

Error BadPart(const char* what, size_t index, const std::string& why) {
  return {ErrorCode::kInvalid, what + (" " + std::to_string(index)) + ": " + why};
}

Status CheckBodies(std::span<const MovingBody> bodies) {
  for (size_t b = 0; b < bodies.size(); ++b) {
    const MovingBody& body = bodies[b];
    if (Status s = geometry::CheckMass(body.mass); !s) return BadPart("body", b, s.error().message);
    if (!body.X_WB.R.allFinite() || !body.X_WB.p.allFinite() || !body.V_B.allFinite() ||
        !body.w_external_B.allFinite())
      return BadPart("body", b, "its pose, velocity or wrench is not finite");
  }
  return {};
}

Status CheckContacts(std::span<const Contact> contacts) {
  for (size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (!c.p_W.allFinite() || !std::isfinite(c.separation_m) || !c.normal_W.allFinite())
      return BadPart("contact", i, "its point, normal or separation is not finite");
    // Infinite stiffness is the rigid surface.
    if (!(c.law.stiffness_N_per_m > 0) || !(c.law.damping_Ns_per_m >= 0) ||
        !(c.law.friction >= 0) || !std::isfinite(c.law.damping_Ns_per_m + c.law.friction))
      return BadPart("contact", i,
                     "its surface needs a stiffness > 0, finite damping and friction >= 0");
  }
  return {};
}

}  // namespace

InteractionStepper::InteractionStepper(const model::Skeleton& skeleton, StepOptions options)
    : skeleton_(skeleton),
      options_(options),
      tree_(skeleton, 0, {.step_s = options.step_s, .limits = options.limits},
            options.root_compliance_m_per_N) {
  poses_.trees.push_back(tree_.X_WB());
}

void InteractionStepper::Reset() {
  tree_.ResetRoot();
  memory_.Clear();
  bend_before_.resize(0);
  limit_torque_.resize(0);
}

Result<StepResult> InteractionStepper::Step(const HandStep& hand, std::span<const Contact> contacts,
                                            std::span<MovingBody> bodies) {
  if (hand.q.size() != skeleton_.nq() || !hand.q.allFinite()) {
    return Error{ErrorCode::kInvalid, "the hand's step does not fit skeleton '" + skeleton_.name() +
                                          "', or has angles that are not finite"};
  }
  HANDHOLD_TRY(CheckBodies(bodies));
  HANDHOLD_TRY(CheckContacts(contacts));
  if (hand.q != tree_.q()) tree_.SetConfiguration(hand.q);
  step_.q_reference = hand.q_reference;
  step_.q_reference_next = hand.q_reference_next;
  step_.compliance_rad_per_Nm = hand.compliance_rad_per_Nm;
  step_.time_constant_s = hand.time_constant_s;
  HANDHOLD_TRY(tree_.Prepare(step_));

  if (bodies_.size() != bodies.size()) {
    bodies_.clear();
    for (size_t b = 0; b < bodies.size(); ++b) {
      bodies_.emplace_back(bodies[b], static_cast<int>(b),
                           BodyOptions{options_.step_s, options_.gravity_W});
    }
    models_ = {&tree_};
    poses_.bodies.clear();
    for (FreeBody& body : bodies_) {
      models_.push_back(&body);
      poses_.bodies.push_back(&body.X_WB());
    }
  }
  if (models_.empty()) models_ = {&tree_};
  for (size_t b = 0; b < bodies.size(); ++b) {
    bodies_[b].SetState(bodies[b]);
    bodies_[b].Prepare();
  }

  problem_.Assemble(models_, contacts, memory_, poses_, options_.step_s);
  StepResult result;
  result.solve = problem_.Solve(options_.solve);

  // theta_err of eq. 7 at the contacts of now, with the limits' and the damper's share: the last
  // step solved the same balance with the Jacobian of the posture before.
  const Eigen::VectorXd bend = skeleton_.Difference(hand.q_reference, hand.q);
  if (bend_before_.size() != bend.size()) bend_before_ = bend;
  Eigen::VectorXd torque = problem_.RememberedForce(0).head(skeleton_.nv());
  if (limit_torque_.size() > 0) torque += limit_torque_;
  limit_torque_ = problem_.LimitForce(0).head(skeleton_.nv());
  Eigen::VectorXd off_balance = bend - hand.compliance_rad_per_Nm.cwiseProduct(torque);
  if (hand.time_constant_s.size() > 0)
    off_balance += hand.time_constant_s.cwiseProduct(bend - bend_before_) / options_.step_s;
  result.equilibrium_residual_rad = off_balance.norm();
  bend_before_ = bend;

  problem_.Advance(&memory_);
  result.q = tree_.q();
  for (size_t b = 0; b < bodies.size(); ++b) bodies[b] = bodies_[b].state();
  result.forces.reserve(contacts.size());
  for (const ContactForce& force : problem_.forces())
    result.forces.push_back({force.f_onA_W, force.slip_W.norm() / options_.step_s});
  return result;
}

}  // namespace handhold::synthesis
