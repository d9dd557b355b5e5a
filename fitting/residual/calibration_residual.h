/// Markers as a function of the hand itself: joint frames and marker offsets beside the pose.
///
/// Parameters are small changes of a template. Joint j has up to six: a twist d = (omega, v) in its
/// parent-side frame Jp,
///   R_PJp = R_template Exp(omega),   p_PJp = p_template + R_template v,
/// restricted to directions that the pose cannot take over: hinge: omega and v across its axis;
/// universal: omega across its first axis, v; ball: v; fixed and free: none. What is left of gauges
/// (turning all that sits on a body about its joint) is listed by GaugeDirections. A marker has
/// three, p_BM = template + d; so does the fingertip's centre. For a point p of a body outboard of
/// joint j
///   dp/dv = R_WP R_template,     dp/domega = -[p - p_WJ] R_WJp J_r(omega)
/// and dp/dq as in marker_residual.h. Test: tests/fitting/residual/calibration_residual_test.cc.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/model/kinematics.h"
#include "fitting/residual/pose_residual.h"

namespace handhold::fitting {

/// Layout of the calibration parameters over a template, and the hand they describe.
class CalibrationModel {
 public:
  /// `tip_frame`: index of the fingertip's frame, or -1 for none.
  CalibrationModel(const model::Skeleton& template_skeleton, int tip_frame);

  int size() const { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  /// 'c' centre, 'h' centre along the first axis of a universal joint that is nearly a hinge, 'a'
  /// axis, 'm' marker, 't' fingertip: which prior and unit a parameter has.
  char kind(int parameter) const { return kinds_[static_cast<size_t>(parameter)]; }
  int tip_frame() const { return tip_frame_; }
  /// First parameter of the fingertip's centre. Precondition: tip_frame() >= 0.
  int tip_parameter() const { return tip_parameter_; }
  const model::Skeleton& template_skeleton() const { return template_; }

  /// The template changed by `x`, shapes, frames and masses not yet followed. Kept until x changes.
  /// Not thread-safe.
  const model::Skeleton& At(const Eigen::VectorXd& x) const;
  /// As At, or null where `x` makes no hand: a trial step that is not finite, or so long that a
  /// place overflows. At's precondition is that there is one.
  const model::Skeleton* TryAt(const Eigen::VectorXd& x) const;
  /// dp_W/dx (3 x size, added to zeros) of a point of `body` at p_W, after ComputePoses of At(x) at
  /// some q.
  void PointDerivative(const Eigen::VectorXd& x, const model::KinematicsData& data, int body,
                       const geometry::Vec3& p_W, Eigen::Ref<Eigen::MatrixXd> out) const;
  /// Directions of x, at x = 0, that only move joint zeros: no marker, in no pose, sees them. One
  /// per hinge and universal, 3 per ball, 6 per free joint. Columns.
  Eigen::MatrixXd GaugeDirections() const;
  /// Parameters that move marker m in the world, ascending: of the joints on its way to the world,
  /// and its own.
  std::vector<Eigen::Index> ParametersOfMarker(int m) const;
  /// Parameters of the joints that carry `bodies` (one flag per body) and of the markers on them.
  std::vector<Eigen::Index> ParametersOfBodies(const std::vector<char>& bodies) const;
  /// x of a hand whose `bodies` are `scale` times as large: their markers and, where the body
  /// before is one of them, their joints lie that much further out. 0 elsewhere.
  Eigen::VectorXd ScaledBodies(const std::vector<char>& bodies, double scale) const;
  /// First parameter of marker m.
  int marker_parameter(int m) const { return marker_parameter_ + 3 * m; }

 private:
  struct JointParameters {
    int body = 0, first = 0;
    Eigen::Matrix3Xd omega, v;  ///< bases, columns are parameters
  };
  /// Adds to `g` the parameters' change when everything on `body` moves by p += omega x p + t (in
  /// the body's frame).
  void MoveContents(int body, const geometry::Vec3& omega, const geometry::Vec3& t,
                    Eigen::Ref<Eigen::VectorXd> g) const;

  const model::Skeleton& template_;
  int tip_frame_, tip_parameter_ = 0, marker_parameter_ = 0;
  std::vector<JointParameters> joints_;
  std::vector<std::string> names_;
  std::vector<char> kinds_;
  mutable Eigen::VectorXd x_;
  mutable std::vector<model::Skeleton> built_;  ///< one, or none yet
};

/// One frame's markers against calibration x (block 0) and pose q (block 1); rows as
/// MarkerResidual.
class CalibrationResidual final : public ceres::CostFunction {
 public:
  /// `calibration` must outlive this. `z_WM`: one column per marker, NaN: missing.
  CalibrationResidual(const CalibrationModel& calibration, const Eigen::Matrix3Xd& z_WM,
                      double marker_sd_m);
  /// Either Jacobian may be null; sized and zeroed here. False, and nothing written, where `x`
  /// makes no hand (CalibrationModel::TryAt).
  [[nodiscard]] bool EvaluateTangent(const Eigen::VectorXd& x, const Eigen::VectorXd& q,
                                     Eigen::VectorXd* r, Eigen::MatrixXd* J_x,
                                     Eigen::MatrixXd* J_v) const;
  /// False, at which Ceres gives a trial step up, where EvaluateTangent is or a residual is not
  /// finite.
  bool Evaluate(double const* const* parameters, double* residuals,
                double** jacobians) const override;

 private:
  const CalibrationModel& calibration_;
  Eigen::Matrix3Xd z_WM_;
  double weight_;
};

}  // namespace handhold::fitting
