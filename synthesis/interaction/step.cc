#include "synthesis/interaction/step.h"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include "database/base/check.h"
#include "database/base/units.h"

namespace handhold::synthesis {
namespace {

using geometry::Vec3;
using geometry::Vec6;

// Unit vectors that complete n to an orthonormal frame, the first along `slip` where that has a
// tangential part.
void TangentFrame(const Vec3& n, const Vec3& slip, Vec3* t1, Vec3* t2) {
  const Vec3 along = slip - n * n.dot(slip);
  if (along.norm() > 1e-3 * slip.norm() && along.norm() > 1e-12) {
    *t1 = along.normalized();
  } else {
    *t1 = n.cross(std::abs(n.z()) < 0.9 ? Vec3::UnitZ() : Vec3::UnitX()).normalized();
  }
  *t2 = n.cross(*t1);
}

Vec6 GravityWrench(const MovingBody& body, const Vec3& gravity_W) {
  const Vec3 weight_B = body.mass.mass_kg * (body.X_WB.R.transpose() * gravity_W);
  Vec6 w;
  w << body.mass.p_BCom.cross(weight_B), weight_B;
  return w;
}

// Eq. 3 without contacts: [phi]^T M phi + w_ext, the wrench that accelerates the body by M^-1.
Vec6 FreeWrench(const MovingBody& body, const geometry::Mat6& M, const Vec3& gravity_W) {
  return geometry::SpatialCross<double>(body.V_B).transpose() * (M * body.V_B) + body.w_external_B +
         GravityWrench(body, gravity_W);
}

}  // namespace

InteractionStepper::InteractionStepper(const model::Skeleton& skeleton, StepOptions options)
    : skeleton_(skeleton), options_(options), kinematics_(skeleton) {
  CHECK_GT(options_.step_s, 0.0);
  CHECK_GE(options_.sides, 4);
  CHECK_EQ(options_.sides % 2, 0);
  CHECK_GE(options_.root_compliance_m_per_N, 0.0);
}

const InteractionStepper::Memory* InteractionStepper::Remember(int feature) const {
  for (const Memory& m : memory_) {
    if (m.feature == feature) return &m;
  }
  return nullptr;
}

void InteractionStepper::Reset() {
  root_offset_W_.setZero();
  memory_.clear();
  bend_before_.resize(0);
}

void InteractionStepper::Assemble(const HandStep& hand, const HandContactSet& contacts,
                                  std::span<const MovingBody> bodies) {
  const auto n = static_cast<Eigen::Index>(contacts.size());
  const double a = hand.time_constant_s / (hand.time_constant_s + options_.step_s);
  effective_compliance_ = (1.0 - a) * hand.compliance_rad_per_Nm;
  q_target_ = hand.q_reference_next;
  if (a > 0.0) {
    q_target_ = skeleton_.Integrate(q_target_, a * skeleton_.Difference(hand.q_reference, hand.q));
  }
  // Where the joints go when all contact forces vanish. With eq. 7 this is the paper's J (dtheta_r
  // + theta_err) - G f^k: theta_r^{k+1} - theta^k = dtheta_r + theta_err - C J^T f^k
  // (StepTest.TheAbsoluteFormIsThePapers).
  dq_ = skeleton_.Difference(hand.q, q_target_);
  model::ComputeJacobian<double>(skeleton_, hand.q, &kinematics_);
  J_.setZero(3 * n, skeleton_.nv());
  for (Eigen::Index i = 0; i < n; ++i) {
    const HandContact& c = contacts[static_cast<size_t>(i)];
    model::PointJacobian<double>(skeleton_, kinematics_, c.body, c.p_W, J_.middleRows(3 * i, 3));
  }
  G_.noalias() = J_ * effective_compliance_.asDiagonal() * J_.transpose();  // eq. 5
  u_.noalias() = J_ * dq_;
  for (Eigen::Index i = 0; i < n; ++i) {
    const HandContact& c = contacts[static_cast<size_t>(i)];
    u_.segment<3>(3 * i) -= root_offset_W_;
    // The surface gives sideways as it does downwards: it springs back by what the last friction
    // force had stretched it, and is stretched by the new one; the rest of the motion is slip.
    const geometry::Mat3 tangent = geometry::Mat3::Identity() - c.normal_W * c.normal_W.transpose();
    G_.block<3, 3>(3 * i, 3 * i) += c.surface_compliance_m_per_N * tangent;
    if (const Memory* last = Remember(c.feature))
      u_.segment<3>(3 * i) -= c.surface_compliance_m_per_N * (tangent * last->f_onHand_W);
    for (Eigen::Index j = 0; j < n; ++j) {
      G_.block<3, 3>(3 * i, 3 * j).diagonal().array() += options_.root_compliance_m_per_N;
    }
  }
  AddBodyMotion(contacts, bodies);
}

// Subtracts U_phi f + u_phi of eq. 10: the motion of the contact points on the free bodies.
void InteractionStepper::AddBodyMotion(const HandContactSet& contacts,
                                       std::span<const MovingBody> bodies) {
  const double h = options_.step_s;
  const auto n = static_cast<Eigen::Index>(contacts.size());
  for (size_t b = 0; b < bodies.size(); ++b) {
    const MovingBody& body = bodies[b];
    const geometry::Mat6 M = geometry::SpatialInertia(body.mass);
    const geometry::Mat6 M_inverse = M.inverse();
    const geometry::Mat6 Ad_WB = geometry::Adjoint<double>(body.X_WB);
    const Vec6 V_free = body.V_B + h * (M_inverse * FreeWrench(body, M, options_.gravity_W));
    // Gamma Ad, per contact on this body.
    std::vector<std::pair<Eigen::Index, Eigen::Matrix<double, 3, 6>>> rows;
    for (Eigen::Index i = 0; i < n; ++i) {
      const HandContact& c = contacts[static_cast<size_t>(i)];
      if (c.object != static_cast<int>(b)) continue;
      rows.emplace_back(i, geometry::Gamma<double>(c.p_W) * Ad_WB);
      u_.segment<3>(3 * i) -= h * (rows.back().second * V_free);
    }
    for (const auto& [i, gi] : rows) {
      for (const auto& [j, gj] : rows) {
        G_.block<3, 3>(3 * i, 3 * j) += h * h * (gi * M_inverse * gj.transpose());  // - U_phi
      }
    }
  }
}

// The complementarity problem of section 7.1.3.
void InteractionStepper::BuildLcp(const HandContactSet& contacts) {
  const auto n = static_cast<Eigen::Index>(contacts.size());
  const Eigen::Index per = options_.sides + 1;
  D_.setZero(3 * n, n * per);
  for (Eigen::Index i = 0; i < n; ++i) {
    const HandContact& c = contacts[static_cast<size_t>(i)];
    Vec3 t1, t2;
    // A polyhedral cone is exact only along its own directions: one of them is laid along where the
    // surface was stretched and slid in the last step, or, at a new contact, along where the point
    // would go without friction.
    const Memory* last = Remember(c.feature);
    Vec3 pull = Vec3::Zero();
    if (last != nullptr) pull = last->slip_W - c.surface_compliance_m_per_N * last->f_onHand_W;
    pull -= c.normal_W * c.normal_W.dot(pull);
    const Vec3 free_motion = u_.segment<3>(3 * i);
    TangentFrame(c.normal_W, pull.norm() > 1e-9 ? pull : free_motion, &t1, &t2);
    D_.block<3, 1>(3 * i, i * per) = c.normal_W;
    for (Eigen::Index j = 0; j < options_.sides; j += 2) {
      const double angle = kPi * static_cast<double>(j) / static_cast<double>(options_.sides);
      const Vec3 t = std::cos(angle) * t1 + std::sin(angle) * t2;
      D_.block<3, 1>(3 * i, i * per + 1 + j) = t;
      D_.block<3, 1>(3 * i, i * per + 2 + j) = -t;
    }
  }
  M_.setZero(n * (per + 1), n * (per + 1));
  q_lcp_.setZero(n * (per + 1));
  M_.topLeftCorner(n * per, n * per).noalias() = D_.transpose() * G_ * D_;
  q_lcp_.head(n * per).noalias() = D_.transpose() * u_;
  for (Eigen::Index i = 0; i < n; ++i) {
    const HandContact& c = contacts[static_cast<size_t>(i)];
    M_(i * per, i * per) += c.surface_compliance_m_per_N;
    q_lcp_[i * per] += c.separation_m + c.normal_W.dot(root_offset_W_);
    M_(n * per + i, i * per) = c.friction;  // F_i
    M_.block(n * per + i, i * per + 1, 1, options_.sides).setConstant(-1.0);
    M_.block(i * per + 1, n * per + i, options_.sides, 1).setConstant(1.0);  // -E_i^T
  }
}

// Eq. 3 integrated twice with the forces found: phi^{k+1}, then the pose.
void InteractionStepper::AdvanceBodies(const HandContactSet& contacts,
                                       std::span<MovingBody> bodies) {
  const double h = options_.step_s;
  for (size_t b = 0; b < bodies.size(); ++b) {
    MovingBody& body = bodies[b];
    const geometry::Mat6 M = geometry::SpatialInertia(body.mass);
    Vec6 w_B = FreeWrench(body, M, options_.gravity_W);
    for (size_t i = 0; i < contacts.size(); ++i) {
      if (contacts[i].object != static_cast<int>(b)) continue;
      const Vec6 w_W = geometry::Gamma<double>(contacts[i].p_W).transpose() *
                       -f_.segment<3>(3 * static_cast<Eigen::Index>(i));  // on the body: minus the
                                                                          // hand's
      w_B += geometry::TransformWrench<double>(body.X_WB.Inverse(), w_W);
    }
    body.V_B += h * (M.ldlt().solve(w_B));
    body.X_WB.p += h * (body.X_WB.R * body.V_B.tail<3>());
    body.X_WB.R = geometry::NearestRotation(body.X_WB.R *
                                            geometry::Exp<double>(h * Vec3(body.V_B.head<3>())));
  }
}

Result<StepResult> InteractionStepper::Step(const HandStep& hand, const HandContactSet& contacts,
                                            std::span<MovingBody> bodies) {
  if (hand.q.size() != skeleton_.nq() || hand.q_reference_next.size() != skeleton_.nq() ||
      hand.q_reference.size() != skeleton_.nq() ||
      hand.compliance_rad_per_Nm.size() != skeleton_.nv()) {
    return Error{ErrorCode::kInvalid,
                 "the hand's step does not fit skeleton '" + skeleton_.name() + "'"};
  }
  if (!hand.q.allFinite() || !hand.q_reference.allFinite() || !hand.q_reference_next.allFinite() ||
      !hand.compliance_rad_per_Nm.allFinite() || hand.compliance_rad_per_Nm.minCoeff() < 0.0) {
    return Error{ErrorCode::kInvalid,
                 "the hand's step has angles that are not finite or compliances that are not >= 0"};
  }
  Assemble(hand, contacts, bodies);
  BuildLcp(contacts);
  StepResult result;
  result.lcp = SolveLcp(M_, q_lcp_, options_.lcp, &lcp_workspace_, &z_);
  const auto n = static_cast<Eigen::Index>(contacts.size());
  Eigen::VectorXd f_last = Eigen::VectorXd::Zero(3 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Memory* last = Remember(contacts[static_cast<size_t>(i)].feature);
    if (last != nullptr) f_last.segment<3>(3 * i) = last->f_onHand_W;
  }
  if (result.lcp.outcome == LcpOutcome::kSolved) {
    f_.noalias() = D_ * z_.head(n * (options_.sides + 1));
  } else {
    f_ = f_last;
  }
  // theta_err of eq. 7 at the contacts of now, with the damper's share: the last step solved the
  // same balance with the Jacobian of the posture before.
  const Eigen::VectorXd bend = skeleton_.Difference(hand.q_reference, hand.q);
  const Eigen::VectorXd bend_before = bend_before_.size() == bend.size() ? bend_before_ : bend;
  const Eigen::VectorXd off_balance =
      bend + (hand.time_constant_s / options_.step_s) * (bend - bend_before) -
      hand.compliance_rad_per_Nm.cwiseProduct(J_.transpose() * f_last);
  result.equilibrium_residual_rad = off_balance.norm();
  bend_before_ = bend;

  const Eigen::VectorXd motion = u_ + G_ * f_;  // of the hand's points against the objects', over
                                                // the step
  const Eigen::VectorXd dq = effective_compliance_.cwiseProduct(J_.transpose() * f_);
  result.q = skeleton_.Integrate(q_target_, dq);
  AdvanceBodies(contacts, bodies);
  root_offset_W_.setZero();
  memory_.clear();
  for (Eigen::Index i = 0; i < n; ++i) {
    const HandContact& c = contacts[static_cast<size_t>(i)];
    HandForce force;
    force.f_onHand_W = f_.segment<3>(3 * i);
    const Vec3 du = motion.segment<3>(3 * i);
    const Vec3 slip_W = du - c.normal_W * c.normal_W.dot(du);
    force.slip_m_per_s = slip_W.norm() / options_.step_s;
    root_offset_W_ += options_.root_compliance_m_per_N * force.f_onHand_W;
    memory_.push_back({c.feature, force.f_onHand_W, slip_W});
    result.forces.push_back(force);
  }
  return result;
}

}  // namespace handhold::synthesis
