/// How things move under contact forces within one step: all that differs between the methods.
///
/// Over a step of h seconds a model moves by x = x0 + W J^T f: x0 its motion when no contact
/// pushes, W (symmetric, positive semi-definite) how it yields, J the motion of contact points per
/// unit of x, f the contact forces on it. Kry & Pai 2006 in one line: their G is J W J^T for the
/// compliant hand, and - U_phi of eq. 10 the same for a free body. Use, per step: Prepare (each
/// model has its own), ContactProblem::Assemble, Solve, Advance.
///
/// Units: x is what the model's coordinates change by in a step (rad, m), f newtons, so W is rad/Nm
/// and m/N. Every model has state; none is thread-safe; none allocates after it was made. Pinned by
/// tests/synthesis/contact/motion_model_test.cc and, against ODE,
/// tests/synthesis/contact/motion_model_ode_test.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/model/dynamics.h"
#include "database/model/kinematics.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/contact_set.h"

namespace handhold::synthesis {

/// A limit near enough to matter: row . x + gap >= 0, held by a force >= 0 along row^T (N m).
struct LimitRow {
  int first = 0;                                ///< first entry of x that it concerns
  int count = 1;                                ///< 1 (hinge, universal) or 3 (ball)
  geometry::Vec3 row = geometry::Vec3::Zero();  ///< its first `count` entries
  double gap = 0.0;                             ///< rad; negative: violated
};

class MotionModel {
 public:
  virtual ~MotionModel() = default;
  virtual int dofs() const = 0;
  /// Whether a side is a part of this model (its tree, its body).
  virtual bool Owns(const ContactSide& side) const = 0;
  /// Motion in W of the point of `side` that is at p_W now, per unit of x: 3 x dofs, every entry
  /// written.
  virtual void PointRows(const ContactSide& side, const geometry::Vec3& p_W,
                         Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> rows) const = 0;
  virtual const Eigen::VectorXd& free_motion() const = 0;  ///< x0
  /// y = W a, columns alike.
  virtual void ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
                      Eigen::Ref<Eigen::MatrixXd> y) const = 0;
  virtual void AddLimits(std::vector<LimitRow>* rows) const { (void)rows; }
  /// Moves by x: what the step came to.
  virtual void Advance(const Eigen::Ref<const Eigen::VectorXd>& x) = 0;
};

/// Joint limits that a posture comes near: what both trees add. Hinges and universals are held
/// exactly; a ball's swing and twist to second order in the motion of a step, so give the joints a
/// time constant.
/// `within_rad`: limits further away than this (and than the free motion would go) are left out.
void AddJointLimits(const model::Skeleton& skeleton, const Eigen::VectorXd& q,
                    const Eigen::VectorXd& x0, double within_rad, std::vector<LimitRow>* rows);

struct TreeOptions {
  double step_s = 0.002;  ///< h
  bool limits = false;    ///< joint limits as rows (Kry & Pai's section 8.3 left them out)
  double limit_within_rad = 0.05;
};

/// What a compliant tree is asked to do in one step.
struct CompliantStep {
  Eigen::VectorXd q_reference, q_reference_next;  ///< theta_r^k, theta_r^{k+1}
  Eigen::VectorXd compliance_rad_per_Nm;  ///< C per velocity (m/N for a free root's linear ones)
  /// T = damping x compliance per velocity, seconds; empty: 0, the paper's quasi-static form. With
  /// a = T / (T + h) the compliance of a step is C (1 - a) and its target theta_r' (+) a (theta -
  /// theta_r): theta + T theta' = theta_r + T theta_r' + C tau, implicitly.
  Eigen::VectorXd time_constant_s;
};

/// A hand in quasi-static balance with its joints' springs (Kry & Pai 2006, section 6): x =
/// (dtheta; motion of a sprung root, 3). W = diag(C (1 - a)), x0 = Difference(theta, target).
/// Advance: theta' = Integrate(theta, x), not Integrate(target, C J^T f): rotations do not commute,
/// and with the latter a held object creeps for ever (CompliantTree.AHeldObjectDoesNotCreep).
class CompliantTree : public MotionModel {
 public:
  /// `tree`: its number in ContactSide. `root_compliance_m_per_N` > 0 puts the skeleton's base on a
  /// spring of that compliance, the same in all directions (section 6.2); a free root joint with a
  /// C of its own needs none. `skeleton` must outlive it.
  CompliantTree(const model::Skeleton& skeleton, int tree, TreeOptions options = {},
                double root_compliance_m_per_N = 0.0);

  void SetConfiguration(const Eigen::VectorXd& q);
  const Eigen::VectorXd& q() const { return q_; }
  /// Poses at q, the root's displacement included: what contacts are found at.
  std::span<const geometry::RigidTransform> X_WB() const { return kinematics_.X_WB; }
  const geometry::Vec3& root_offset_W() const { return root_offset_W_; }
  void ResetRoot();
  /// kInvalid when sizes do not fit, a number is not finite or a compliance or T is negative.
  Status Prepare(const CompliantStep& step);

  int dofs() const override { return static_cast<int>(x0_.size()); }
  bool Owns(const ContactSide& side) const override;
  void PointRows(const ContactSide& side, const geometry::Vec3& p_W,
                 Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> rows) const override;
  const Eigen::VectorXd& free_motion() const override { return x0_; }
  void ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
              Eigen::Ref<Eigen::MatrixXd> y) const override;
  void AddLimits(std::vector<LimitRow>* rows) const override;
  void Advance(const Eigen::Ref<const Eigen::VectorXd>& x) override;

 private:
  void Pose();

  const model::Skeleton& skeleton_;
  int tree_;
  TreeOptions options_;
  double root_compliance_m_per_N_;
  model::KinematicsData kinematics_;
  Eigen::VectorXd q_, W_, x0_;
  Eigen::VectorXd a_, bend_, target_;  ///< scratch: T / (T + h), nv, nq
  geometry::Vec3 root_offset_W_ = geometry::Vec3::Zero();
};

/// What a dynamic tree is asked to do in one step: joints pulled to a reference by stiffness and
/// damping, implicit (both at the end of the step), and torques besides.
struct DynamicStep {
  Eigen::VectorXd q_reference, v_reference;                   ///< at the end of the step
  Eigen::VectorXd stiffness_Nm_per_rad, damping_Nms_per_rad;  ///< per velocity, >= 0
  Eigen::VectorXd torque_Nm;                                  ///< besides; empty: none
  geometry::Vec3 gravity_W = geometry::Vec3(0, 0, -9.81);
};

/// A hand with inertia: W = h^2 (M + h B + h^2 K)^-1, x = h v'. State q, v. With K = B = 0 it is a
/// passive tree.
class DynamicTree : public MotionModel {
 public:
  /// `skeleton` must outlive it; every leaf needs mass.
  DynamicTree(const model::Skeleton& skeleton, int tree, TreeOptions options = {});

  void SetState(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  const Eigen::VectorXd& q() const { return q_; }
  const Eigen::VectorXd& v() const { return v_; }
  std::span<const geometry::RigidTransform> X_WB() const { return kinematics_.X_WB; }
  /// kInvalid as CompliantTree's; kNotConverged when the mass matrix is not positive definite.
  Status Prepare(const DynamicStep& step);

  int dofs() const override { return skeleton_.nv(); }
  bool Owns(const ContactSide& side) const override;
  void PointRows(const ContactSide& side, const geometry::Vec3& p_W,
                 Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> rows) const override;
  const Eigen::VectorXd& free_motion() const override { return x0_; }
  void ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
              Eigen::Ref<Eigen::MatrixXd> y) const override;
  void AddLimits(std::vector<LimitRow>* rows) const override;
  void Advance(const Eigen::Ref<const Eigen::VectorXd>& x) override;

 private:
  const model::Skeleton& skeleton_;
  int tree_;
  TreeOptions options_;
  model::KinematicsData kinematics_;
  model::DynamicsData dynamics_;
  Eigen::MatrixXd A_;
  Eigen::LLT<Eigen::MatrixXd> llt_;
  Eigen::VectorXd q_, v_, x0_, rhs_;
  Eigen::VectorXd bend_;  ///< scratch, nv
};

/// A rigid body that moves: its state, and what pushes it besides contacts.
struct MovingBody {
  geometry::MassProperties mass;  ///< in the body's frame B; mass > 0
  geometry::RigidTransform X_WB;
  geometry::Vec6 V_B = geometry::Vec6::Zero();  ///< spatial velocity, body coordinates (omega, v of
                                                ///< the frame's origin)
  geometry::Vec6 w_external_B = geometry::Vec6::Zero();  ///< wrench besides contacts and gravity,
                                                         ///< body coordinates
};

struct BodyOptions {
  double step_s = 0.002;
  geometry::Vec3 gravity_W = geometry::Vec3(0, 0, -9.81);
};

/// A free rigid body: x = h V' (6), in the axes that B has at the step's start, W = h^2 M^-1, x0 =
/// h (V + h M^-1 w): eq. 3 and U_phi, u_phi of Kry & Pai, but for the axes (motion_model.cc says
/// why). Its centre of mass advances by x, its rotation by exp(x_omega): first order; linear
/// momentum is exact.
class FreeBody : public MotionModel {
 public:
  /// `index`: its number in ContactSide.
  FreeBody(const MovingBody& state, int index, BodyOptions options = {});
  const MovingBody& state() const { return state_; }
  void SetState(const MovingBody& state) { state_ = state; }
  const geometry::RigidTransform& X_WB() const { return state_.X_WB; }
  void Prepare();

  int dofs() const override { return 6; }
  bool Owns(const ContactSide& side) const override;
  void PointRows(const ContactSide& side, const geometry::Vec3& p_W,
                 Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> rows) const override;
  const Eigen::VectorXd& free_motion() const override { return x0_; }
  void ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
              Eigen::Ref<Eigen::MatrixXd> y) const override;
  void Advance(const Eigen::Ref<const Eigen::VectorXd>& x) override;

 private:
  MovingBody state_;
  int index_;
  BodyOptions options_;
  geometry::Mat6 W_ = geometry::Mat6::Zero();
  Eigen::VectorXd x0_ = Eigen::VectorXd::Zero(6);
};

/// A body with one way to move: turning about an axis (PivotBody: a light bulb in its socket, a
/// lever) or sliding along one (SliderBody: a drawer). With S the unit twist, x = h rate (1), W =
/// h^2 / (S^T M S + h b + h^2 k): implicit in the viscous damping b and the spring k.
class OneWayBody : public MotionModel {
 public:
  const geometry::RigidTransform& X_WB() const { return X_WB_; }
  double position() const { return position_; }  ///< rad or m from where it was made
  double rate() const { return rate_; }
  void SetState(double position, double rate);
  void Prepare();

  int dofs() const override { return 1; }
  bool Owns(const ContactSide& side) const override;
  void PointRows(const ContactSide& side, const geometry::Vec3& p_W,
                 Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> rows) const override;
  const Eigen::VectorXd& free_motion() const override { return x0_; }
  void ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
              Eigen::Ref<Eigen::MatrixXd> y) const override;
  void Advance(const Eigen::Ref<const Eigen::VectorXd>& x) override;

 protected:
  /// Viscous damping and spring about the position at making, in N m s/rad and N m/rad (N s/m and
  /// N/m).
  struct Yield {
    double damping = 0.0, stiffness = 0.0;
  };
  OneWayBody(const MovingBody& state, int index, const geometry::Vec3& p_W,
             const geometry::Vec3& axis_W, bool turns, Yield yield, BodyOptions options);

 private:
  void Pose();

  geometry::MassProperties mass_;
  geometry::RigidTransform X_WB0_, X_WB_;
  int index_;
  geometry::Vec3 p_W_, axis_W_;  ///< a point of the axis and its unit direction
  bool turns_;
  Yield yield_;
  BodyOptions options_;
  geometry::Vec6 w_external_B_;
  double inertia_ = 0.0, position_ = 0.0, rate_ = 0.0, W_ = 0.0;
  Eigen::VectorXd x0_ = Eigen::VectorXd::Zero(1);
};

class PivotBody : public OneWayBody {
 public:
  /// Turns about the line through p_W along axis_W (unit), by the right-hand rule.
  PivotBody(const MovingBody& state, int index, const geometry::Vec3& p_W,
            const geometry::Vec3& axis_W, double damping_Nms_per_rad = 0.0,
            double stiffness_Nm_per_rad = 0.0, const BodyOptions& options = {})
      : OneWayBody(state, index, p_W, axis_W, true, {damping_Nms_per_rad, stiffness_Nm_per_rad},
                   options) {}
};

class SliderBody : public OneWayBody {
 public:
  SliderBody(const MovingBody& state, int index, const geometry::Vec3& axis_W,
             double damping_Ns_per_m = 0.0, double stiffness_N_per_m = 0.0,
             const BodyOptions& options = {})
      : OneWayBody(state, index, geometry::Vec3::Zero(), axis_W, false,
                   {damping_Ns_per_m, stiffness_N_per_m}, options) {}
};

}  // namespace handhold::synthesis
