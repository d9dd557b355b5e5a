/// One connection of the official SDK behind a face without vendor types. Used by one thread,
/// except IsConnected.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/source/vicon_layout.h"
#include "capture/source/vicon_source.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::capture {

class ViconClient {
 public:
  enum class Frame { kOk, kNone, kDisconnected };

  ViconClient();
  ~ViconClient();
  ViconClient(const ViconClient&) = delete;
  ViconClient& operator=(const ViconClient&) = delete;

  /// Connects, asks for everything, and waits until what was asked for has come: on return frames
  /// are pushed, and the client holds a frame that carries data. `numeric_host`:
  /// "192.168.10.1:801".
  /// Ends with kTimeout at `deadline`, to a second, and with kCancelled when `stop` is set.
  Status Connect(const std::string& numeric_host, const ViconSourceOptions& options,
                 Timestamp deadline, const std::atomic<bool>& stop);
  /// Safe from any thread while the object lives.
  bool IsConnected() const;
  /// Next frame, in order; waits up to 1 s. An interruption point of boost::thread.
  Frame GetFrame();

  // Of the frame got last. False or an error when the connection has ended meanwhile.
  bool FrameId(uint32_t* id) const;  ///< as on the wire
  /// What the server says that it spent on the frame. Without the vendor library's own "Network
  /// Transmission", a running mean of round trips: it wanders by 0.1 ms with this machine's load,
  /// and a clock fitted to arrivals less latency would wander with it.
  double ServerLatency_s() const;
  bool YUp() const;
  Result<ViconLayout> ReadLayout() const;
  /// Whether the frame still has the layout's subjects, markers and devices. Counts only; Read* see
  /// renamed ones.
  bool Matches(const ViconLayout& layout) const;
  /// Metres, three per marker, NaN where occluded; false: the frame has another layout. `ids`:
  /// trajectory ids, NaN where occluded or unknown.
  bool ReadMarkers(const ViconLayout& layout, std::span<double> xyz_m, std::span<double> ids);
  /// x y z id per point, metres; returns the points of the frame, of which min(that, capacity) are
  /// written.
  int ReadPoints(std::span<double> xyz_id) const;
  /// Channel-major; NaN where the server says there is no value; false: the frame has another
  /// layout.
  bool ReadAnalog(const ViconAnalog& analog, std::span<double> values) const;
  void ReadTimecode(std::span<double, 6> parts) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace handhold::capture
