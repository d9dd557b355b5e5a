/// A force sensor's stream as fits want it: calibrated, its slow drift removed, in lab coordinates;
/// and when it was touched.
///
/// One pass over the stream in windows finds the baseline (what the sensor reads untouched, which
/// drifts) and the touches; after it, any stretch can be read at the sensor's own rate. Memory: one
/// mean per 5 ms of recording. Pinned by tests/fitting/signal/touch_test.cc.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/base/time.h"
#include "database/recording/clip.h"
#include "fitting/signal/onset.h"

namespace handhold::fitting {

inline constexpr int kTouchVersion = 1;

struct TouchOptions {
  double enter_N = 0.25;  ///< normal force above the baseline that begins a touch: above knocks and
                          ///< drift
  double leave_N = 0.08;  ///< and below which it ends
  Duration shortest = Duration::Milliseconds(40);  ///< a shorter one is a knock, not a touch
  Duration bounce = Duration::Milliseconds(25);    ///< touches parted by less are one
  Duration baseline_reach = Duration::Milliseconds(1500);  ///< the baseline is a line through
                                                           ///< untouched samples within this
  KinkOptions kink;
};

/// One touch of the sensor, in clip time. Where the kink fit did not answer, the sd is the distance
/// to the threshold crossing.
struct Touch {
  Timestamp onset, release;
  Duration onset_sd, release_sd;  ///< half-width of the 68 % interval
  double peak_N = 0.0;            ///< of the normal force, means over 5 ms
};

/// Calibrated wrenches of a stretch, at the sensor's own rate, baseline removed. Columns are
/// samples.
struct WrenchWindow {
  std::vector<Timestamp> times;
  Eigen::Matrix3Xd f_onHand_W;  ///< N: the force that acts on the hand (recording::ForceOnHand)
  Eigen::Matrix3Xd m_onHand_W;  ///< Nm about the world's origin
  Eigen::VectorXd normal_N;     ///< how hard the hand presses; positive into the surface
};

class ForceSignal {
 public:
  /// Reads the stream of `sensor` once. Fails with kNotFound (no such stream), kUnidentifiable
  /// (never untouched: no baseline), or what reading failed with. `clip` must outlive this.
  static Result<ForceSignal> Open(const recording::ClipSource& clip, const std::string& sensor,
                                  const TouchOptions& options = {});

  const std::vector<Touch>& touches() const { return touches_; }
  /// Shorter or weaker disturbances that were seen and not counted as touches.
  int knock_count() const { return knock_count_; }
  const recording::ForceSensor& sensor() const { return *sensor_; }
  double rate_Hz() const { return rate_Hz_; }
  TimeRange extent() const { return extent_; }

  /// Samples with clip time in `range`, as measured (not filtered).
  Result<WrenchWindow> Read(TimeRange range) const;
  /// Zero-phase low-passed at `cutoff_Hz` and read at `query` times (ascending), by straight lines
  /// between samples. NaN where there is none.
  Result<WrenchWindow> ReadAt(const std::vector<Timestamp>& query, double cutoff_Hz) const;
  /// What the sensor reads untouched at `t`, N and Nm in its own frame, as subtracted.
  geometry::Vec6 Baseline(Timestamp t) const;

 private:
  ForceSignal() = default;
  Status ReadMeans();
  Status FindBaseline(const TouchOptions& options);
  void FindFree(const Eigen::VectorXd& normal, const TouchOptions& options,
                std::vector<char>* free) const;
  Status FitBaseline(const std::vector<char>& free, const TouchOptions& options);
  Status FindTouches(const TouchOptions& options);

  const recording::ClipSource* clip_ = nullptr;
  const recording::ForceSensor* sensor_ = nullptr;
  geometry::RigidTransform X_WS_;
  double rate_Hz_ = 0.0;
  TimeRange extent_;
  std::vector<Timestamp> mean_times_;                  ///< middle of each block of about 5 ms
  Eigen::Matrix<double, 6, Eigen::Dynamic> means_;     ///< calibrated, hand on object, in S
  Eigen::Matrix<double, 6, Eigen::Dynamic> baseline_;  ///< at mean_times_
  Eigen::VectorXd mean_normal_;
  std::vector<Touch> touches_;
  int knock_count_ = 0;
};

template <typename A>
void Visit(A& a, TouchOptions& o) {
  a.Field("enter_N", o.enter_N);
  a.Field("leave_N", o.leave_N);
  a.Field("shortest_ns", o.shortest);
  a.Field("bounce_ns", o.bounce);
  a.Field("baseline_reach_ns", o.baseline_reach);
  a.Field("kink", o.kink);
}

}  // namespace handhold::fitting
