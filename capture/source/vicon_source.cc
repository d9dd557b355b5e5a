#include "capture/source/vicon_source.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/thread/thread.hpp>

#include "capture/source/frame_sequencer.h"
#include "capture/source/vicon_client.h"
#include "capture/wire/cancel.h"
#include "capture/wire/resolve.h"
#include "capture/wire/schedule.h"
#include "capture/wire/socket.h"
#include "capture/wire/vicon_stream.h"
#include "database/base/check.h"
#include "database/recording/clip.h"

namespace handhold::capture {
namespace {

using recording::GapCause;
using recording::StreamInfo;

constexpr Duration kWatchPeriod = Duration::Milliseconds(20);
/// How long a server that listens is given to say the first word; the vendor's library then waits
/// on.
constexpr Duration kGreeting = Duration::Milliseconds(250);
/// How long a connection is given for its first three frames.
constexpr Duration kFirstFrames = Duration::Seconds(5);
constexpr double kMostLatency_s = 10.0;
/// More unlabelled points than any volume has; a frame with more counts as bad and keeps the first
/// ones.
constexpr int kMaxPoints = 4096;

class ViconSource : public Source {
 public:
  explicit ViconSource(ViconSourceOptions options) : options_(std::move(options)) {}
  ~ViconSource() override { Stop(); }

  const std::string& name() const override { return options_.name; }
  Result<std::vector<StreamInfo>> Probe(Duration timeout) override;
  std::vector<recording::ForceSensor> ForceSensors() const override;
  std::vector<std::string> Warnings() const override;
  Status Start(Sink* sink) override;
  void Stop() override;
  SourceHealth Health() const override;

 private:
  Result<std::string> FindServer(Timestamp deadline) const;
  void Run();
  void Watch();
  Status Connect();
  void ReadFrames();
  bool ReadAll();
  bool TakeFrame(bool first_of_connection, Duration busy);
  void Announce(ViconLayout layout);
  void Gap(int64_t first_frame, int64_t frames, GapCause cause) noexcept;
  void Deliver(int64_t counter, Timestamp host) noexcept;
  int stream_count() const;
  int SamplesPerFrame(int stream) const;
  void Say(bool connected, const std::string& text);
  std::vector<std::string> WarningsOf(const ViconLayout& layout) const;
  std::string Who() const { return "Vicon '" + options_.name + "'"; }

  const ViconSourceOptions options_;
  mutable std::mutex layout_mutex_;  ///< guards layout_ for other threads; not taken on the sample
                                     ///< path
  ViconLayout layout_;
  bool announced_ = false;

  std::atomic<bool> stop_{false};
  boost::thread thread_, watcher_;
  std::mutex client_mutex_;  ///< guards the pointer client_; not taken on the sample path
  std::unique_ptr<ViconClient> client_;
  std::atomic<bool> waiting_{false};  ///< the source's thread may be inside the SDK's GetFrame

  // Of the source's thread.
  boost::this_thread::disable_interruption* uninterrupted_ = nullptr;  ///< Run's; lifted to wait
  ViconStreamOrder order_;                                             ///< of layout_
  Sink* sink_ = nullptr;
  int base_ = 0;
  FrameSequencer sequencer_{1.0};
  std::vector<double> xyz_m_, ids_, points_;
  std::vector<std::vector<double>> analog_;
  std::array<double, 6> timecode_{};
  std::array<int32_t, 1> point_count_{};
  int64_t latency_ns_ = 0;
  std::string said_;

  std::atomic<bool> connected_{false}, real_time_{false};
  std::atomic<int64_t> frames_{0}, lost_{0}, bad_{0}, duplicates_{0}, resets_{0}, reconnects_{0},
      last_host_ns_{0};
};

Result<std::string> ViconSource::FindServer(Timestamp deadline) const {
  const auto address = wire::Resolve(options_.host, wire::vicon::kDefaultPort, deadline);
  if (!address) return address.error().Within(Who());
  auto stream = wire::TcpStream::Connect(*address, deadline);
  if (!stream) {
    Error error = stream.error().Within(Who());
    if (!error.message.ends_with('?')) error.message += '.';
    error.message += address->port == wire::vicon::kDefaultPort
                         ? " Is Vicon running there, live and with its DataStream on?"
                         : " Is Vicon running there, live and with its DataStream on? As installed "
                           "it listens on port 801.";
    return error;
  }
  // The server speaks first. One that says something else is told from one that says nothing.
  std::array<uint8_t, 4> greeting{};
  size_t got = 0;
  const Timestamp patience = std::min(deadline, HostNow() + kGreeting);
  while (got < greeting.size()) {
    const wire::IoResult read = stream->Read(std::span(greeting).subspan(got), patience);
    if (read.status != wire::IoStatus::kOk) break;
    got += read.bytes;
  }
  uint32_t magic = 0;
  for (size_t k = 0; k < got; ++k) magic |= uint32_t{greeting[k]} << (8 * k);
  if (got == greeting.size() && magic != wire::vicon::kPacketMagic) {
    return Error{ErrorCode::kCorrupt,
                 Who() + ": what answers at " + address->ToString() +
                     " is no Vicon DataStream (3883 is VRPN); as installed it listens on port 801"};
  }
  return address->ToString();
}

Result<std::vector<StreamInfo>> ViconSource::Probe(Duration timeout) {
  {
    const std::lock_guard lock(layout_mutex_);
    if (announced_) return ViconStreams(options_.name, layout_);
  }
  const Timestamp deadline = HostNow() + timeout;
  HANDHOLD_ASSIGN(const std::string host, FindServer(deadline));
  ViconClient client;
  if (auto connected = client.Connect(host, options_, deadline, wire::CancelFlag()); !connected)
    return connected.error().Within(Who());
  HANDHOLD_ASSIGN(ViconLayout layout, client.ReadLayout());
  const std::lock_guard lock(layout_mutex_);
  layout_ = std::move(layout);
  return ViconStreams(options_.name, layout_);
}

std::vector<std::string> ViconSource::Warnings() const {
  const std::lock_guard lock(layout_mutex_);
  return WarningsOf(layout_);
}

std::vector<std::string> ViconSource::WarningsOf(const ViconLayout& layout) const {
  std::vector<std::string> out;
  for (const std::string& name : layout.unreachable) {
    out.push_back(Who() + " has more than one " + name +
                  ": the vendor's library answers by name, so only the first can be recorded; "
                  "rename the others");
  }
  return out;
}

std::vector<recording::ForceSensor> ViconSource::ForceSensors() const {
  const std::lock_guard lock(layout_mutex_);
  std::vector<recording::ForceSensor> sensors;
  for (const ViconAnalog& analog : layout_.analogs) {
    if (!analog.wrench || analog.outputs.size() != 6) continue;
    recording::ForceSensor sensor;
    sensor.name = analog.device;
    sensor.calibration.setIdentity(6, 6);  // Vicon sends N and N m already
    sensor.bias.setZero(6);
    sensors.push_back(std::move(sensor));
  }
  return sensors;
}

Status ViconSource::Start(Sink* sink) {
  CHECK(sink != nullptr);
  if (thread_.joinable()) return Error{ErrorCode::kBusy, Who() + " is already started"};
  sink_ = sink;
  stop_ = false;
  // A sink of another session was told nothing yet: neither streams nor state, and no counter.
  {
    const std::lock_guard lock(layout_mutex_);
    announced_ = false;
  }
  said_.clear();
  sequencer_ = FrameSequencer(1.0);
  points_.assign(4 * kMaxPoints, 0.0);
  thread_ = boost::thread([this] { Run(); });
  watcher_ = boost::thread([this] { Watch(); });
  return {};
}

void ViconSource::Stop() {
  stop_ = true;
  if (watcher_.joinable()) watcher_.join();
  if (thread_.joinable()) thread_.join();
  // What it had may have changed: the next Probe asks it.
  const std::lock_guard lock(layout_mutex_);
  announced_ = false;
}

SourceHealth ViconSource::Health() const {
  SourceHealth health;
  health.connected = connected_;
  health.packets = frames_;
  health.lost_samples = lost_;
  health.bad_packets = bad_;
  health.duplicates = duplicates_;
  health.clock_resets = resets_;
  health.reconnects = reconnects_;
  health.last_packet_host = Timestamp::FromNanoseconds(last_host_ns_);
  health.real_time = real_time_;
  health.real_time_asked = true;
  return health;
}

void ViconSource::Say(bool connected, const std::string& text) {
  if (text == said_) return;
  said_ = text;
  sink_->OnState(connected, text);
}

// The SDK waits up to a second for a frame even when the connection has ended or we are to stop.
// boost's interruption ends that wait and nothing else: the source's thread allows it around
// GetFrame only.
void ViconSource::Watch() {
  for (;;) {
    if (waiting_) {
      const std::lock_guard lock(client_mutex_);
      if (stop_ || (client_ && !client_->IsConnected())) thread_.interrupt();
    }
    if (stop_ && !waiting_) return;
    wire::SleepUntil(HostNow() + kWatchPeriod);
  }
}

void ViconSource::Run() {
  const wire::CancelScope scope(stop_);  // a server that does not greet holds up no Stop
  boost::this_thread::disable_interruption uninterrupted;
  uninterrupted_ = &uninterrupted;
  // The SDK's own threads, started from here, inherit it.
  real_time_ = wire::AskForRealTime(wire::Urgency::kSource);
  bool was_connected = false;
  while (!stop_) {
    if (auto connected = Connect(); !connected) {
      if (!stop_) Say(false, connected.error().message);
      wire::SleepUntil(HostNow() + options_.reconnect_period);
      continue;
    }
    if (was_connected) ++reconnects_;
    was_connected = true;
    connected_ = true;
    Say(true, Who() + " streams");
    ReadFrames();
    connected_ = false;
    if (!stop_) Say(false, Who() + " ended the connection: waiting for it to return");
  }
  const std::lock_guard lock(client_mutex_);
  client_.reset();
}

Status ViconSource::Connect() {
  HANDHOLD_ASSIGN(const std::string host, FindServer(HostNow() + options_.connect_timeout));
  auto client = std::make_unique<ViconClient>();
  ViconClient* raw = client.get();
  {
    const std::lock_guard lock(client_mutex_);
    client_.reset();  // joins the old connection's threads: before the new one is asked anything
  }
  Status connected;
  waiting_ = true;
  try {
    const boost::this_thread::restore_interruption allowed(*uninterrupted_);
    connected = raw->Connect(host, options_, HostNow() + kFirstFrames, stop_);
  } catch (const boost::thread_interrupted&) {
    connected = Error{ErrorCode::kCancelled, "interrupted while " + host + " was asked"};
  }
  waiting_ = false;
  if (!connected) return connected.error().Within(Who());
  const std::lock_guard lock(client_mutex_);
  client_ = std::move(client);
  return {};
}

void ViconSource::ReadFrames() {
  bool first = true;
  Timestamp returned = HostNow();
  while (!stop_) {
    ViconClient::Frame frame = ViconClient::Frame::kNone;
    const Duration busy = HostNow() - returned;
    waiting_ = true;
    try {
      const boost::this_thread::restore_interruption allowed(*uninterrupted_);
      frame = client_->GetFrame();
    } catch (const boost::thread_interrupted&) {
      frame =
          client_->IsConnected() ? ViconClient::Frame::kNone : ViconClient::Frame::kDisconnected;
    }
    waiting_ = false;
    returned = HostNow();
    if (frame == ViconClient::Frame::kDisconnected) return;
    if (frame == ViconClient::Frame::kOk && TakeFrame(first, busy)) first = false;
  }
}

/// Reads the frame into our buffers; false: it has another layout, or the connection ended and
/// nothing can be read.
bool ViconSource::ReadAll() {
  if (!client_->Matches(layout_) || !client_->ReadMarkers(layout_, xyz_m_, ids_)) return false;
  for (size_t a = 0; a < analog_.size(); ++a) {
    if (!client_->ReadAnalog(layout_.analogs[a], analog_[a])) return false;
  }
  const int points = options_.unlabelled ? client_->ReadPoints(points_) : 0;
  if (points > kMaxPoints) ++bad_;
  point_count_[0] = std::min(points, kMaxPoints);
  if (layout_.timecode) client_->ReadTimecode(timecode_);
  // A latency that no system has would move the sample's time by as much.
  const double latency_s = client_->ServerLatency_s();
  if (latency_s >= 0 && latency_s <= kMostLatency_s) {
    latency_ns_ = std::llround(latency_s * 1e9);
  } else {
    ++bad_;  // the last good one stands: the clock does not jump, nor is a NaN made a time
  }
  return client_->IsConnected();
}

/// `busy`: how long we had kept the SDK waiting. Returns whether the frame was dealt with.
bool ViconSource::TakeFrame(bool first_of_connection, Duration busy) {
  const Timestamp host = HostNow();
  uint32_t id = 0;
  if (!client_->FrameId(&id)) return false;
  const bool known = announced_ && !first_of_connection && ReadAll();
  ViconLayout fresh;
  bool changed = false;
  if (!known) {  // a new connection or another layout: off the sample path
    auto layout = client_->ReadLayout();
    if (!layout) {
      ++bad_;
      return false;
    }
    fresh = *std::move(layout);
    changed = !announced_ || !(fresh == layout_);
    sequencer_.SetRate(fresh.rate.hz());
  }
  const FrameVerdict verdict = sequencer_.Next(id, host, first_of_connection && announced_);
  if (!verdict.accept) {
    ++duplicates_;
    return true;
  }
  // What was missed before this frame was missed from the streams that there were before it.
  if (verdict.gap > 0 && announced_) {
    const bool overrun = busy.seconds() * layout_.rate.hz() > 0.9 * options_.buffer_frames;
    Gap(verdict.counter - verdict.gap, verdict.gap,
        first_of_connection ? GapCause::kDisconnected
        : overrun           ? GapCause::kOverrun
                            : GapCause::kDeviceSkipped);
  }
  if (changed) Announce(std::move(fresh));
  if (verdict.clock_reset) {
    ++resets_;
    for (int s = 0; s < stream_count(); ++s)
      sink_->OnClockReset(base_ + s, verdict.counter * SamplesPerFrame(s));
  }
  if (!known && !ReadAll()) {
    Gap(verdict.counter, 1, GapCause::kDisconnected);
    return false;
  }
  Deliver(verdict.counter, host);
  return true;
}

void ViconSource::Announce(ViconLayout layout) {
  for (const std::string& warning : WarningsOf(layout)) Say(true, warning);
  if (client_->YUp() && options_.z == ViconAxis::kUp && options_.y == ViconAxis::kLeft) {
    Say(true, Who() +
                  " is set to Y up: positions are mapped to Z up by the SDK's axis mapping; check "
                  "a known marker");
  }
  {
    const std::lock_guard lock(layout_mutex_);
    layout_ = std::move(layout);
    announced_ = true;
  }
  order_ = StreamOrder(layout_);
  xyz_m_.assign(3 * static_cast<size_t>(layout_.marker_count()), 0.0);
  ids_.assign(static_cast<size_t>(layout_.marker_count()), 0.0);
  analog_.clear();
  for (const ViconAnalog& analog : layout_.analogs) {
    analog_.emplace_back(analog.outputs.size() * static_cast<size_t>(analog.samples_per_frame),
                         0.0);
  }
  base_ = sink_->OnStreams(ViconStreams(options_.name, layout_));
}

int ViconSource::stream_count() const {
  return order_.analogs + static_cast<int>(layout_.analogs.size()) + (layout_.timecode ? 1 : 0);
}

int ViconSource::SamplesPerFrame(int stream) const {
  const int analog = stream - order_.analogs;
  return analog >= 0 && analog < static_cast<int>(layout_.analogs.size())
             ? layout_.analogs[analog].samples_per_frame
             : 1;
}

void ViconSource::Gap(int64_t first_frame, int64_t frames, GapCause cause) noexcept {
  lost_ += frames;
  for (int s = 0; s < stream_count(); ++s) {
    const int64_t n = SamplesPerFrame(s);
    sink_->OnGap(base_ + s, first_frame * n, frames * n, cause);
  }
}

void ViconSource::Deliver(int64_t counter, Timestamp host) noexcept {
  ++frames_;
  last_host_ns_ = host.ns();
  SampleView view;
  view.first_counter = counter;
  view.count = 1;
  view.clock = {.counter = counter,
                .device_ns = recording::DeviceTimeOfCounter(counter, layout_.rate),
                .host_ns = host.ns(),
                .latency_ns = latency_ns_};
  if (order_.markers >= 0) {
    view.stream = base_ + order_.markers;
    view.values = xyz_m_;
    sink_->OnSamples(view);
    view.stream = base_ + order_.trajectories;
    view.values = ids_;
    sink_->OnSamples(view);
  }
  view.stream = base_ + order_.points;
  view.values = std::span(points_).first(4 * static_cast<size_t>(point_count_[0]));
  view.point_counts = point_count_;
  sink_->OnSamples(view);
  view.point_counts = {};
  if (layout_.timecode) {
    view.stream = base_ + stream_count() - 1;
    view.values = timecode_;
    sink_->OnSamples(view);
  }
  for (size_t a = 0; a < analog_.size(); ++a) {
    const int n = layout_.analogs[a].samples_per_frame;
    view.stream = base_ + order_.analogs + static_cast<int>(a);
    view.first_counter = counter * n;
    view.clock.counter = counter * n;
    view.count = n;
    view.values = analog_[a];
    sink_->OnSamples(view);
  }
}

}  // namespace

Result<std::unique_ptr<Source>> MakeViconSource(ViconSourceOptions options) {
  // Unit vectors in Vicon's own frame: forward is x, left is y, up is z.
  const auto vector = [](ViconAxis axis) -> std::array<int, 3> {
    switch (axis) {
      case ViconAxis::kForward:
        return {1, 0, 0};
      case ViconAxis::kBackward:
        return {-1, 0, 0};
      case ViconAxis::kLeft:
        return {0, 1, 0};
      case ViconAxis::kRight:
        return {0, -1, 0};
      case ViconAxis::kUp:
        return {0, 0, 1};
      case ViconAxis::kDown:
        return {0, 0, -1};
    }
    return {0, 0, 0};
  };
  const auto x = vector(options.x), y = vector(options.y), z = vector(options.z);
  const int determinant = x[0] * (y[1] * z[2] - y[2] * z[1]) - x[1] * (y[0] * z[2] - y[2] * z[0]) +
                          x[2] * (y[0] * z[1] - y[1] * z[0]);
  if (determinant != 1) {
    return Error{
        ErrorCode::kInvalid,
        "Vicon '" + options.name + "': the axis mapping is not right-handed; forward, left, up is"};
  }
  return std::unique_ptr<Source>(std::make_unique<ViconSource>(std::move(options)));
}

}  // namespace handhold::capture
