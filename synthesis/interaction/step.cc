#include "synthesis/interaction/step.h"

#include <array>
#include <cmath>
#include <string>

#include "database/base/check.h"
#include "database/model/configuration.h"

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

Status CheckPivots(std::span<const std::optional<Pivot>> pivots) {
  for (size_t b = 0; b < pivots.size(); ++b) {
    if (!pivots[b]) continue;
    const Pivot& p = *pivots[b];
    if (!p.p_W.allFinite() || !(std::abs(p.axis_W.norm() - 1.0) < 1e-9) ||
        !(p.damping_Nms_per_rad >= 0) || !std::isfinite(p.damping_Nms_per_rad))
      return BadPart("body", b, "its pivot needs a place, a unit axis and a damping >= 0");
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

InteractionStepper::Hand::Hand(const SteppedHand& hand, int number, const StepOptions& options)
    : skeleton(*hand.skeleton),
      tree(*hand.skeleton, number, {.step_s = options.step_s, .limits = options.limits},
           hand.root_compliance_m_per_N) {}

InteractionStepper::InteractionStepper(const model::Skeleton& skeleton, const StepOptions& options)
    : InteractionStepper(std::array{SteppedHand{&skeleton, options.root_compliance_m_per_N}},
                         options) {}

InteractionStepper::InteractionStepper(std::span<const SteppedHand> hands,
                                       const StepOptions& options)
    : options_(options) {
  CHECK(!hands.empty());
  for (const SteppedHand& hand : hands) {
    hands_.push_back(std::make_unique<Hand>(hand, static_cast<int>(hands_.size()), options));
    models_.push_back(&hands_.back()->tree);
    poses_.trees.push_back(hands_.back()->tree.X_WB());
  }
}

void InteractionStepper::Reset() {
  memory_.Clear();
  MakeBodies({});
  for (const auto& hand : hands_) {
    hand->tree.ResetRoot();
    hand->bend_before.resize(0);
    hand->limit_torque.resize(0);
  }
}

void InteractionStepper::MakeBodies(std::span<const MovingBody> bodies) {
  const BodyOptions options{options_.step_s, options_.gravity_W};
  bodies_.clear();
  bodies_.resize(bodies.size());
  models_.resize(hands_.size());
  poses_.bodies.clear();
  for (size_t b = 0; b < bodies.size(); ++b) {
    const int index = static_cast<int>(b);
    if (b < pivots_.size() && pivots_[b]) {
      const Pivot& at = *pivots_[b];
      PivotBody& body = bodies_[b].pivot.emplace(bodies[b], index, at.p_W, at.axis_W,
                                                 at.damping_Nms_per_rad, 0.0, options);
      body.SetState(0.0, at.axis_W.dot(bodies[b].X_WB.R * bodies[b].V_B.head<3>()));
      models_.push_back(&body);
      poses_.bodies.push_back(&body.X_WB());
    } else {
      FreeBody& body = bodies_[b].free.emplace(bodies[b], index, options);
      models_.push_back(&body);
      poses_.bodies.push_back(&body.X_WB());
    }
  }
}

// theta_err of eq. 7 at the contacts of now, with the limits' and the damper's share: the last step
// solved the same balance with the Jacobian of the posture before.
double InteractionStepper::OffBalance(int model, const HandStep& step, Hand* hand) const {
  const int nv = hand->skeleton.nv();
  Eigen::VectorXd &bend = hand->bend, &torque = hand->torque, &off_balance = hand->off_balance;
  bend.resize(nv);
  model::DifferenceInto(hand->skeleton, step.q_reference, step.q, bend);
  if (hand->bend_before.size() != bend.size()) hand->bend_before = bend;
  torque.setZero(hand->tree.dofs());
  problem_.AddRememberedForce(model, torque);
  if (hand->limit_torque.size() > 0) torque += hand->limit_torque;
  hand->limit_torque.setZero(hand->tree.dofs());
  problem_.AddLimitForce(model, hand->limit_torque);
  off_balance = bend - step.compliance_rad_per_Nm.cwiseProduct(torque.head(nv));
  if (step.time_constant_s.size() > 0)
    off_balance += step.time_constant_s.cwiseProduct(bend - hand->bend_before) / options_.step_s;
  hand->bend_before = bend;
  return off_balance.norm();
}

Status InteractionStepper::Step(std::span<const HandStep> hands, std::span<const Contact> contacts,
                                std::span<MovingBody> bodies, StepResult* result) {
  if (hands.size() != hands_.size())
    return Error{ErrorCode::kInvalid, "a step of " + std::to_string(hands.size()) + " hands for " +
                                          std::to_string(hands_.size())};
  for (size_t i = 0; i < hands.size(); ++i) {
    const model::Skeleton& skeleton = hands_[i]->skeleton;
    if (hands[i].q.size() != skeleton.nq() || !hands[i].q.allFinite()) {
      return Error{ErrorCode::kInvalid, "the hand's step does not fit skeleton '" +
                                            skeleton.name() +
                                            "', or has angles that are not finite"};
    }
  }
  HANDHOLD_TRY(CheckBodies(bodies));
  HANDHOLD_TRY(CheckPivots(pivots_));
  HANDHOLD_TRY(CheckContacts(contacts));
  for (size_t i = 0; i < hands.size(); ++i) {
    Hand& hand = *hands_[i];
    if (hands[i].q != hand.tree.q()) hand.tree.SetConfiguration(hands[i].q);
    hand.step.q_reference = hands[i].q_reference;
    hand.step.q_reference_next = hands[i].q_reference_next;
    hand.step.compliance_rad_per_Nm = hands[i].compliance_rad_per_Nm;
    hand.step.time_constant_s = hands[i].time_constant_s;
    HANDHOLD_TRY(hand.tree.Prepare(hand.step));
  }
  if (bodies_.size() != bodies.size()) MakeBodies(bodies);
  for (size_t b = 0; b < bodies.size(); ++b) {
    if (bodies_[b].free) {
      bodies_[b].free->SetState(bodies[b]);
      bodies_[b].free->Prepare();
    } else {
      bodies_[b].pivot->Prepare();
    }
  }

  problem_.Assemble(models_, contacts, memory_, poses_, options_.step_s);
  result->solve = problem_.Solve(options_.solve);
  result->equilibrium_residual_rad = 0.0;
  for (size_t i = 0; i < hands.size(); ++i) {
    const double off = OffBalance(static_cast<int>(i), hands[i], hands_[i].get());
    // Not std::max: NaN shows.
    if (!(off <= result->equilibrium_residual_rad)) result->equilibrium_residual_rad = off;
  }

  problem_.Advance(&memory_);
  result->q = hands_[0]->tree.q();
  result->q_others.resize(hands.size() - 1);
  for (size_t i = 1; i < hands.size(); ++i) result->q_others[i - 1] = hands_[i]->tree.q();
  for (size_t b = 0; b < bodies.size(); ++b) {
    if (bodies_[b].free) {
      bodies[b] = bodies_[b].free->state();
      continue;
    }
    const PivotBody& body = *bodies_[b].pivot;
    const Vec3 omega_W = body.rate() * pivots_[b]->axis_W;
    bodies[b].X_WB = body.X_WB();
    bodies[b].V_B.head<3>() = body.X_WB().R.transpose() * omega_W;
    bodies[b].V_B.tail<3>() =
        body.X_WB().R.transpose() * omega_W.cross(body.X_WB().p - pivots_[b]->p_W);
  }
  result->forces.clear();
  for (const ContactForce& force : problem_.forces())
    result->forces.push_back({force.f_onA_W, force.slip_W.norm() / options_.step_s});
  return {};
}

}  // namespace handhold::synthesis
