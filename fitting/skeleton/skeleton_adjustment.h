/// Everything of a skeleton fit at once: common parameters y = [calibration x, change of the
/// fingertip's radius] and a pose per frame, by Levenberg steps with the poses eliminated. A frame
/// in contact adds four rows: the fingertip's distance to the surface, and the surface's point
/// below it against the wrench axis. A coordinate whose range is narrow is drawn to the middle of
/// it, by all frames together as much as by one measurement (joint_range.h). Internal to the
/// skeleton fit.
#pragma once

#include <memory>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/shape.h"
#include "fitting/residual/calibration_residual.h"
#include "fitting/skeleton/calibration_frames.h"
#include "fitting/skeleton/joint_range.h"
#include "fitting/skeleton/skeleton_fit.h"

namespace handhold::fitting {

/// `calibration` and `options` must outlive it.
class SkeletonAdjustment {
 public:
  SkeletonAdjustment(const CalibrationModel& calibration, const SkeletonFitOptions& options,
                     double tip_radius_m);

  void Add(CalibrationFrame frame);
  /// Begins at x instead of the template; priors stay about the template. `x` may lack the
  /// fingertip's parameters, which then begin at the template's.
  void StartAt(const Eigen::VectorXd& x) { y_.head(x.size()) = x; }

  /// Fails with kCancelled, or kNotConverged after `most` iterations.
  Status Solve(int most = 200);

  Eigen::VectorXd x() const { return y_.head(calibration_.size()); }
  double radius_change() const { return HasTip() ? y_[y_.size() - 1] : 0.0; }
  /// Of y, poses eliminated, without priors.
  const Eigen::MatrixXd& data_information() const { return information_; }
  /// The same where narrow ranges say nothing of the poses.
  const Eigen::MatrixXd& marker_information() const { return marker_information_; }
  /// RMS of each marker over the frames, m; 0: never seen.
  const Eigen::VectorXd& rms_of_marker_m() const { return rms_of_marker_m_; }
  const Eigen::VectorXd& prior_precision() const { return precision_; }
  const std::vector<CalibrationFrame>& frames() const { return frames_; }
  /// What the data say about small changes of the hand as it is now, without moving it.
  const Eigen::MatrixXd& InformationHere();
  /// Variance found over variance assumed; with skin the assumed one stands, as its least.
  double noise_scale() const { return noise_scale_; }
  /// One axis, from the residual and its degrees of freedom.
  double marker_sd_m() const { return marker_sd_m_; }
  double marker_rms_m() const { return marker_rms_m_; }
  /// Over the frames in contact, 0 without any: fingertip to surface, and touched point to wrench
  /// axis.
  double contact_distance_rms_m() const { return contact_distance_rms_m_; }
  double contact_axis_rms_m() const { return contact_axis_rms_m_; }
  bool HasTip() const { return calibration_.tip_frame() >= 0; }

 private:
  struct Blocks {
    Eigen::MatrixXd H_qq, H_qy;
    Eigen::VectorXd g_q;
  };

  std::vector<Eigen::VectorXd> Poses() const;
  bool Rows(const CalibrationFrame& frame, const CalibrationResidual& residual,
            const Eigen::VectorXd& y, const Eigen::VectorXd& q, Eigen::VectorXd* r,
            Eigen::MatrixXd* J_y, Eigen::MatrixXd* J_v) const;
  void ContactRows(const CalibrationFrame& frame, const Eigen::VectorXd& y,
                   const Eigen::VectorXd& q, Eigen::VectorXd* r, Eigen::MatrixXd* J_y,
                   Eigen::MatrixXd* J_v) const;
  double Cost(const Eigen::VectorXd& y, const std::vector<Eigen::VectorXd>& poses) const;
  /// Squares of what pulls a pose, each in units of its sd; the terms in `r` when not null.
  double PullSquared(size_t f, const Eigen::VectorXd& q, Eigen::VectorXd* r) const;
  void Linearise();
  void AddMarkerRows(const Eigen::VectorXd& r, const Eigen::MatrixXd& J_y,
                     const Eigen::MatrixXd& J_v, Blocks* block);
  void Step(double damping, Eigen::VectorXd* step, std::vector<Eigen::VectorXd>* poses) const;
  double LongestTurn_rad(const Eigen::VectorXd& step) const;
  void Finish();

  const CalibrationModel& calibration_;
  const SkeletonFitOptions& options_;
  double tip_radius_m_;
  NarrowRanges ranges_;
  Eigen::VectorXd pull_;  ///< 1 / sd per velocity
  /// Per marker: parameters of y and velocities that move it.
  std::vector<std::vector<Eigen::Index>> parameters_of_, velocities_of_;
  std::vector<geometry::PosedShape> shapes_;
  std::vector<CalibrationFrame> frames_;
  std::vector<Eigen::VectorXd> starts_;
  std::vector<std::unique_ptr<CalibrationResidual>> residuals_;
  Eigen::VectorXd y_, precision_, g_y_;
  Eigen::MatrixXd H_yy_, information_, marker_information_;
  Eigen::VectorXd rms_of_marker_m_;
  std::vector<Blocks> blocks_;
  double noise_scale_ = 1.0, marker_sd_m_ = 0.0, marker_rms_m_ = 0.0, markers_seen_ = 0.0;
  double contact_distance_rms_m_ = 0.0, contact_axis_rms_m_ = 0.0;
};

}  // namespace handhold::fitting
