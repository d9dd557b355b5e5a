/// What the encoder measures of one stream as its records pass: rate, jitter, visibility, losses,
/// saturation, and how well a straight line describes its clock.
///
/// Pure: all times come with the records. One thread. Allocates in the constructor only, but for
/// Figures. Pinned by tests/capture/session/stream_meter_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/clock/clock_fit.h"
#include "capture/session/ring.h"
#include "database/recording/force_sensor.h"
#include "database/recording/stream.h"

namespace handhold::capture {

struct StreamFigures {
  std::string stream;
  bool required = true;  ///< the take is worth little without it; the meter does not know
  int64_t samples = 0;
  double nominal_Hz = 0.0;
  double rate_Hz = 0.0;     ///< on the host's clock; counts over time until rate_known
  bool rate_known = false;  ///< 5 s have been seen, so that it is the clock's and not a burst's
  /// p99 over the newest 4096 packets of how much later than due after the one before it a packet
  /// came. A hold that ends in a burst is one late packet.
  double jitter_p99_s = 0.0;
  bool has_markers = false;
  double visible_fraction = 1.0;         ///< of markers, over the last second
  double visible_in_all_fraction = 1.0;  ///< of markers, over all samples
  int64_t lost_samples = 0;
  bool has_forces = false;
  /// Beyond the sensor's full scale or said to be by the device; of a packet of which both hold,
  /// the larger number.
  int64_t saturated_samples = 0;
  /// p99 of the distance of the clock's lower edge, minimum per second, from one straight line over
  /// the last minute or two. Seconds in which every packet was late (a backlog after a stall, a
  /// starved machine) do not count once the edge is back on its line.
  double clock_residual_p99_s = 0.0;
  /// How far the map of this line may be off now (ClockUncertaintyNs).
  double clock_uncertainty_s = 0.0;
  bool clock_known = false;  ///< 5 s have been seen
};

/// What a person who watches wants of a stream's newest samples.
struct NewestSample {
  recording::StreamInfo info = {};
  std::vector<double> values = {};  ///< per channel, of the newest sample; NaN: missing. Empty:
                                    ///< none came yet, or the stream is ragged
  double age_s = 0.0;               ///< since the newest sample was received
  /// Of a stream that a sensor reads: its name, how hard it is pressed, the force of the hand on it
  /// (in W), and the hardest it was pressed in the last second or two.
  std::string sensor = {};
  double normal_force_N = 0.0, peak_normal_force_N = 0.0;
  geometry::Vec3 f_onObject_W = geometry::Vec3::Zero();
};

class StreamMeter {
 public:
  explicit StreamMeter(const recording::StreamInfo& info);
  /// The stream goes on with other channels (its next epoch); what was counted stays.
  void SetInfo(const recording::StreamInfo& info);
  /// Beyond this sensor's full scale a sample counts as saturated; its stream is this one.
  void SetSensor(const recording::ForceSensor& sensor);

  void Samples(const RingRecord& record);
  void Gap(int64_t count) { lost_ += count; }
  /// Samples that were counted did not reach the disk.
  void Lost(int64_t count) {
    samples_ -= count;
    lost_ += count;
  }
  void ClockReset();
  StreamFigures Figures() const;
  NewestSample Newest() const;
  const recording::StreamInfo& info() const { return info_; }

 private:
  void CountVisible(const RingRecord& record);
  /// Samples beyond the sensor's full scale.
  int64_t Overloaded(const RingRecord& record) const;
  /// Keeps the newest sample, and the peak of the normal force.
  void KeepNewest(const RingRecord& record);

  recording::StreamInfo info_;
  std::vector<double> newest_;  ///< per channel; room for all of them from the beginning
  bool has_newest_ = false;
  std::optional<recording::ForceSensor> read_by_;
  Eigen::RowVectorXd normal_per_raw_;  ///< newtons of normal force per raw unit
  double normal_bias_N_ = 0.0;
  /// The peak of this second (of host time) and of the one before.
  int64_t peak_slot_ = -1;
  double peak_N_ = 0.0, peak_before_N_ = 0.0;
  std::optional<recording::ForceSensor> sensor_;
  int64_t samples_ = 0, lost_ = 0, saturated_ = 0;
  recording::ClockPair first_, last_;
  bool after_break_ = true;      ///< the next packet has none before it to compare with
  std::vector<float> jitter_s_;  ///< ring of the newest
  size_t jitter_next_ = 0;
  ClockPairThinner edge_;
  struct Seen {
    int64_t slot = -1;  ///< host time / 200 ms
    int64_t visible = 0, all = 0;
  };
  std::array<Seen, 5> seen_;
  int64_t visible_ = 0, markers_ = 0;  ///< seen and all, of all samples
};

}  // namespace handhold::capture
