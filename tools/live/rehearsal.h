/// A rehearsal: the devices of a rig played by simulators on this machine, with what goes wrong
/// written down, so that what a recording reports can be compared with what happened.
///
/// The feed is surrounded by stretches in which nothing is touched (its first half second and the
/// rest at its end, played to and fro), so that a recorder can connect and start before the session
/// begins and stop after it ended, as operators do; how late it stops changes nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/session/rig.h"
#include "capture/simulator/simulator_host.h"
#include "database/base/result.h"
#include "database/recording/clip.h"
#include "database/text/json.h"
#include "tools/lab/subject.h"

namespace handhold::live {

/// What goes wrong at the device called `source` in the rig; times count from the session's begin.
struct RigFaults {
  std::string source;
  std::vector<capture::Fault> faults;
};

/// A script (capture/simulator/fault_script.h) whose lines begin with the source's name:
///   vicon at 5 s stall 300 ms
///   plate at 7 s lose 3
/// The error names file, line and the word that does not fit.
Result<std::vector<RigFaults>> ParseRigFaults(std::string_view text, const capture::Rig& rig,
                                              const std::string& source_name);

/// The rehearsal's own set, placed by the session's length: one 300 ms stall of the motion capture
/// after which it goes on at the live frame, one 200 ms hold after which all frames come in a
/// burst, 3 single datagrams of the force sensor lost.
std::vector<RigFaults> StandardFaults(const capture::Rig& rig, Duration session);

/// `none`, `standard`, or the path of a script.
Result<std::vector<RigFaults>> LoadFaults(const std::string& given, const capture::Rig& rig,
                                          Duration session);

/// A feed with `lead` before and `tail` after it, rounded to whole frames and samples.
class SurroundedFeed : public capture::SimulatorFeed {
 public:
  /// `inner` must outlive this.
  SurroundedFeed(const capture::SimulatorFeed& inner, Duration lead, Duration tail);

  double marker_rate_hz() const override { return inner_.marker_rate_hz(); }
  const std::string& subject() const override { return inner_.subject(); }
  const std::vector<std::string>& marker_names() const override { return inner_.marker_names(); }
  int64_t frame_count() const override { return frames_.lead + frames_.count + frames_.tail; }
  void Markers(int64_t frame, std::span<double> xyz_m) const override {
    inner_.Markers(frames_.Inner(frame), xyz_m);
  }
  double force_rate_hz() const override { return inner_.force_rate_hz(); }
  int64_t force_count() const override { return samples_.lead + samples_.count + samples_.tail; }
  void Wrench(int64_t sample, std::span<double, 6> wrench_S) const override {
    inner_.Wrench(samples_.Inner(sample), wrench_S);
  }
  double marker_clock_ppm() const override { return inner_.marker_clock_ppm(); }
  double force_clock_ppm() const override { return inner_.force_clock_ppm(); }
  std::vector<capture::FeedSubject> subjects() const override { return inner_.subjects(); }
  uint32_t TrajectoryId(int64_t frame, int marker) const override {
    return inner_.TrajectoryId(frames_.Inner(frame), marker);
  }
  int Unlabelled(int64_t frame, std::span<capture::FeedPoint> points) const override {
    return inner_.Unlabelled(frames_.Inner(frame), points);
  }
  std::vector<capture::FeedDevice> devices() const override { return inner_.devices(); }
  void Analog(int device, int64_t frame, std::span<double> values) const override {
    inner_.Analog(device, frames_.Inner(frame), values);
  }

  int64_t lead_frames() const { return frames_.lead; }
  int64_t lead_samples() const { return samples_.lead; }

 private:
  struct Padding {
    int64_t lead = 0, count = 0, tail = 0, swing = 1, rest = 1;
    int64_t Inner(int64_t i) const;
  };
  const capture::SimulatorFeed& inner_;
  Padding frames_, samples_;
};

/// Samples that a device was made not to deliver, counted from the session's first.
struct InjectedGap {
  std::string source;
  int64_t first_index = 0;
  int64_t count = 0;
  Timestamp host_begin;  ///< instant of the first of them, by the simulator's clock: the truth
  double rate_hz = 0.0;
  bool operator==(const InjectedGap&) const = default;
};

/// How far a clip's times lie from the simulators' own clocks, over the session.
struct ClockAgreement {
  struct OfDevice {
    std::string source;
    double mean_s = 0.0;  ///< of recorded - true: mostly what the wire takes at least, which no
                          ///< clock fit can see (the rig's delay_ms)
    double p99_s = 0.0;   ///< of |recorded - true|
  };
  std::vector<OfDevice> devices;
  double between_p99_s = 0.0;  ///< of the difference of the two devices: the alignment
  /// The same net of the difference's median: what the fit itself leaves. The median is the
  /// constant that no fit can see, what the wire takes at least beyond what the rig states.
  double between_net_p99_s = 0.0;
};

struct RehearsalOptions {
  Duration lead = Duration::Seconds(5), tail = Duration::Seconds(5);
  std::vector<RigFaults> faults = {};
  bool loop = false;       ///< begin again after the tail, for ever
  bool rig_ports = false;  ///< listen where the rig says, else at free ports
};

/// The servers of a rig, in a child process that ends with this object.
class Rehearsal {
 public:
  /// Forks: call it before this process starts threads. `feed` must outlive the rehearsal. The rig
  /// must hold at most one vicon and one net_ft source. kBusy names a port that is taken and what
  /// to do.
  static Result<std::unique_ptr<Rehearsal>> Start(const capture::Rig& rig,
                                                  const capture::SimulatorFeed& feed,
                                                  RehearsalOptions options);

  /// The rig with the simulators' addresses in place of its own.
  const capture::Rig& rig() const { return rig_; }
  /// Host instants between which the feed itself is played; with `loop`, the first time.
  TimeRange session() const { return session_; }
  const std::vector<InjectedGap>& gaps() const { return gaps_; }
  /// Everything that was injected, as a file: clocks, faults, gaps, where the session begins.
  text::Json ToJson() const;
  /// kNotFound when the clip holds nothing of a device within the session.
  Result<ClockAgreement> CompareClocks(const recording::ClipSource& clip) const;
  pid_t pid() const { return process_->pid(); }
  /// An error once the servers' process has ended.
  Status Alive() const;

 private:
  Rehearsal() = default;
  Status AddDevice(const capture::RigSource& source, double rate_hz, double ppm, int64_t lead,
                   const std::vector<capture::Fault>& faults);

  capture::Rig rig_;
  RehearsalOptions options_;
  std::unique_ptr<SurroundedFeed> feed_;
  std::unique_ptr<capture::SimulatorProcess> process_;
  TimeRange session_;
  std::vector<InjectedGap> gaps_;
  struct Device {
    std::string source;
    double ppm = 0.0, rate_hz = 0.0;
  };
  std::vector<Device> devices_;
};

/// What differs between the gaps that were injected and those that a clip reports, one line each;
/// empty: they are equal, sample for sample, in every stream of every simulated source.
std::vector<std::string> CompareGaps(const std::vector<InjectedGap>& injected,
                                     const capture::Rig& rig, const recording::ClipSource& clip);

/// How many of the injected gaps the clip should report: those of a device that fall within its
/// take, each once however many streams the device has. What came before or after is not counted.
int InjectedWithin(const std::vector<InjectedGap>& injected, const capture::Rig& rig,
                   const recording::ClipSource& clip);

/// As written by Rehearsal::ToJson, read from a file: for tests and the demo.
Result<std::vector<InjectedGap>> ReadInjectedGaps(const std::string& path);

}  // namespace handhold::live
