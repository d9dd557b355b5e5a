#include "capture/source/net_ft_source.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "capture/source/net_ft_config.h"
#include "capture/source/rdt_decoder.h"
#include "capture/wire/cancel.h"
#include "capture/wire/claim.h"
#include "capture/wire/resolve.h"
#include "capture/wire/schedule.h"
#include "database/base/check.h"
#include "database/recording/clip.h"

namespace handhold::capture {
namespace {

using recording::Channel;
using recording::GapCause;
using recording::StreamInfo;
using recording::StreamKind;

constexpr Duration kDiscoveryTime = Duration::Seconds(1);
/// Records that may still be under way when the bias is asked for, and those then looked at.
constexpr int kBeforeZero = 20, kLookedAtForZero = 100;
/// A zero may be off by this many standard deviations of its noise, and counts.
constexpr double kZeroDeviations = 6.0, kZeroCounts = 20.0;
/// Longer states are cut: their room is made at the start, for what is said on the sample path.
constexpr size_t kMostSaid = 512;
constexpr int kWrench = 0, kStatus = 1;  // order of the streams

class NetFtSource : public Source {
 public:
  explicit NetFtSource(NetFtSourceOptions options) : options_(std::move(options)) {}
  ~NetFtSource() override { Stop(); }

  const std::string& name() const override { return options_.name; }
  Result<std::vector<StreamInfo>> Probe(Duration timeout) override;
  std::vector<recording::ForceSensor> ForceSensors() const override;
  Status Start(Sink* sink) override;
  void Stop() override;
  SourceHealth Health() const override;

 private:
  /// `set_rate`: first asks the device for options_.rate_hz, which it then keeps.
  Result<NetFtConfig> Discover(Timestamp deadline, bool set_rate);
  Status TakeClaim();
  Status OpenSocket();
  std::vector<StreamInfo> Streams(const NetFtConfig& config) const;
  void Run();
  bool Connect();
  void Announce(const NetFtConfig& config);
  void ReceiveUntilSilent();
  /// Whether it holds records.
  bool OnDatagram(std::span<const uint8_t> bytes, const wire::Datagram& datagram) noexcept;
  void Deliver(int count, const wire::Datagram& datagram) noexcept;
  void AskForZero();
  void LookForZero(const RdtRecord& record) noexcept;
  void Gap(int64_t first, int64_t count, GapCause cause) noexcept;
  void WaitABit(Duration time);
  void Say(bool connected, std::string_view text);

  const NetFtSourceOptions options_;
  mutable std::mutex config_mutex_;  ///< guards config_, claim_; never taken on the sample path
  wire::Claim claim_;                ///< from the first question to Stop
  NetFtConfig config_;
  bool configured_ = false;

  std::thread thread_;
  std::atomic<bool> stop_{false};

  // Of the source's thread, set before streaming.
  Sink* sink_ = nullptr;
  wire::Address rdt_, http_;
  wire::UdpSocket socket_;
  int base_ = 0;
  recording::Rate rate_;
  std::unique_ptr<RdtSequencer> sequencer_;
  RdtRecords records_;
  std::array<int64_t, wire::rdt::kMaxRecordsPerDatagram> counters_{};
  std::array<double, 6 * wire::rdt::kMaxRecordsPerDatagram> values_{};
  std::array<double, wire::rdt::kMaxRecordsPerDatagram> status_{};
  int64_t kernel_drops_seen_ = 0;
  /// The zero that bias_on_start asks for: whether it is still to be asked for, what came since, of
  /// how many records.
  bool zero_wanted_ = false;
  int zero_records_ = -1;  ///< -1: nothing to look at
  std::array<double, 3> zero_sum_{}, zero_squares_{};
  double newtons_per_count_ = 0.0;
  std::string said_;  ///< the last state told: not repeated
  bool away_ = true;  ///< the next gap is an absence, not a loss

  std::atomic<bool> connected_{false};
  std::atomic<int64_t> packets_{0}, lost_{0}, kernel_drops_{0}, bad_{0}, duplicates_{0}, late_{0},
      saturated_{0};
  std::atomic<int64_t> resets_{0}, reconnects_{0}, last_host_ns_{0}, granted_{0};
  std::atomic<uint32_t> device_status_{0};
  std::atomic<bool> real_time_{false};
};

// Two programs that ask take the stream from each other: before anything is asked of the device.
Status NetFtSource::TakeClaim() {
  const std::lock_guard lock(config_mutex_);
  if (claim_.held()) return {};
  auto claim = wire::Claim::Take("net_ft " + rdt_.ToString());
  if (!claim) {
    Error error =
        claim.error().Within("force sensor '" + options_.name + "' at " + rdt_.ToString());
    error.message += ": end that first, or watch the take there";
    return error;
  }
  claim_ = *std::move(claim);
  return {};
}

Result<NetFtConfig> NetFtSource::Discover(Timestamp deadline, bool set_rate) {
  const auto resolved = wire::Resolve(options_.host, options_.rdt_port, deadline);
  if (!resolved) return resolved.error().Within("force sensor '" + options_.name + "'");
  rdt_ = *resolved;
  http_ = {rdt_.ipv4, options_.http_port};
  HANDHOLD_TRY(TakeClaim());
  if (set_rate && options_.rate_hz > 0) {
    const std::string path = std::string(wire::rdt::kCommPath) +
                             "?comrdtrate=" + std::to_string(std::llround(options_.rate_hz));
    const auto set = HttpGet(http_, path, deadline);
    if (!set) return set.error().Within("force sensor '" + options_.name + "'");
  }
  auto config = DiscoverNetFt(http_, deadline);
  if (!config) {
    Error error = config.error().Within("force sensor '" + options_.name + "'");
    if (error.code != ErrorCode::kCorrupt)
      error.message += ". Is it on, and does its page open at http://" + http_.ToString() + "/ ?";
    return error;
  }
  return config;
}

Result<std::vector<StreamInfo>> NetFtSource::Probe(Duration timeout) {
  // Who looks changes nothing: the rate is asked for when samples are.
  HANDHOLD_ASSIGN(NetFtConfig config, Discover(HostNow() + timeout, false));
  if (options_.rate_hz > 0) config.rate_hz = options_.rate_hz;
  const std::lock_guard lock(config_mutex_);
  config_ = config;
  configured_ = true;
  return Streams(config);
}

std::vector<StreamInfo> NetFtSource::Streams(const NetFtConfig& config) const {
  StreamInfo wrench;
  wrench.name = options_.name + "/wrench";
  wrench.kind = StreamKind::kForceTorque;
  wrench.device = options_.name;
  wrench.rate = {std::llround(config.rate_hz), 1};
  for (const char* axis : {"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"})
    wrench.channels.push_back({axis, "count", 1.0});
  wrench.frame = "S:" + options_.name;
  wrench.sign = "hand_on_object";
  StreamInfo status;
  status.name = options_.name + "/status";
  status.kind = StreamKind::kAnalog;
  status.device = options_.name;
  status.rate = wrench.rate;
  status.channels.push_back({"status", "1", 1.0});
  return {wrench, status};
}

std::vector<recording::ForceSensor> NetFtSource::ForceSensors() const {
  const std::lock_guard lock(config_mutex_);
  if (!configured_) return {};
  recording::ForceSensor sensor;
  sensor.name = options_.name;
  sensor.calibration.setZero(6, 6);
  for (int axis = 0; axis < 6; ++axis) {
    sensor.calibration(axis, axis) =
        axis < 3 ? config_.newtons_per_count : config_.newton_metres_per_count;
  }
  sensor.bias.setZero(6);
  sensor.sign = options_.sign;
  sensor.serial = config_.serial;
  return {sensor};
}

Status NetFtSource::OpenSocket() {
  HANDHOLD_ASSIGN(socket_, wire::UdpSocket::Bind({0, 0}));
  granted_ = socket_.SetReceiveBuffer(options_.receive_buffer_bytes);
  kernel_drops_seen_ = 0;
  return socket_.Connect(rdt_);
}

Status NetFtSource::Start(Sink* sink) {
  CHECK(sink != nullptr);
  if (thread_.joinable())
    return Error{ErrorCode::kBusy, "force sensor '" + options_.name + "' is already started"};
  sink_ = sink;
  stop_ = false;
  // A sink of another session was told nothing yet; and the load of its start is not this one's.
  sequencer_.reset();
  said_.clear();
  said_.reserve(kMostSaid);
  packets_ = 0;
  zero_wanted_ = options_.bias_on_start;
  zero_records_ = -1;
  thread_ = std::thread([this] { Run(); });
  return {};
}

void NetFtSource::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(config_mutex_);
  claim_.Release();
}

SourceHealth NetFtSource::Health() const {
  SourceHealth health;
  health.connected = connected_;
  health.packets = packets_;
  health.lost_samples = lost_;
  health.kernel_drops = kernel_drops_;
  health.bad_packets = bad_;
  health.duplicates = duplicates_;
  health.late_packets = late_;
  health.saturated_samples = saturated_;
  health.keeps_zero = true;
  health.clock_resets = resets_;
  health.reconnects = reconnects_;
  health.last_packet_host = Timestamp::FromNanoseconds(last_host_ns_);
  health.device_status = device_status_;
  health.receive_buffer_bytes = granted_;
  health.receive_buffer_asked = options_.receive_buffer_bytes;
  health.real_time = real_time_;
  health.real_time_asked = true;
  return health;
}

void NetFtSource::Say(bool connected, std::string_view text) {
  text = text.substr(0, kMostSaid);
  if (text == said_) return;
  said_.assign(text);
  sink_->OnState(connected, text);
}

void NetFtSource::WaitABit(Duration time) {
  const Timestamp until = HostNow() + time;
  while (!stop_ && HostNow() < until)
    wire::SleepUntil(std::min(until, HostNow() + wire::kCancelPeriod));
}

void NetFtSource::Run() {
  const wire::CancelScope scope(stop_);  // a page that comes slowly holds up no Stop
  real_time_ = wire::AskForRealTime(wire::Urgency::kSource);
  while (!stop_) {
    if (!Connect()) {
      WaitABit(Duration::Milliseconds(100));
      continue;
    }
    const int64_t bad_before = bad_;
    ReceiveUntilSilent();
    if (stop_) break;
    away_ = true;
    if (bad_ > bad_before) {
      connected_ = false;
      Say(false, "datagrams arrive from " + rdt_.ToString() +
                     " that are no RDT records: is force " + "sensor '" + options_.name +
                     "' there, or another device? Asking again");
    } else if (connected_.exchange(false)) {
      Say(false, "force sensor '" + options_.name + "' at " + rdt_.ToString() +
                     " fell silent: check its power and network cable; asking again");
    } else if (packets_ == 0) {
      Say(false, "force sensor '" + options_.name + "' answers HTTP but sends no data from " +
                     rdt_.ToString() +
                     ": is RDT enabled on its Communications page, and does a firewall stop UDP?");
    }
  }
  if (socket_.valid()) socket_.Send(EncodeRdtRequest(wire::rdt::kStop, 0));
  socket_.Close();
  connected_ = false;
}

bool NetFtSource::Connect() {
  auto config = Discover(HostNow() + kDiscoveryTime, true);
  if (config) {
    if (!sequencer_ || !(*config == config_)) Announce(*config);
  } else if (!sequencer_) {
    Say(false, config.error().message);
    return false;
  }
  // A device whose web page does not answer may stream all the same: its calibration is known from
  // before. The socket is kept, so that what was under way during a silence is not lost by asking
  // again.
  if (!socket_.valid()) {
    if (auto opened = OpenSocket(); !opened) {
      Say(false, opened.error().message);
      return false;
    }
  }
  if (zero_wanted_) AskForZero();
  socket_.Send(
      EncodeRdtRequest(options_.buffered ? wire::rdt::kBuffered : wire::rdt::kRealTime, 0));
  return true;
}

// One datagram, which nobody acknowledges: whether it was heard is seen in what comes.
void NetFtSource::AskForZero() {
  const wire::IoStatus sent = socket_.Send(EncodeRdtRequest(wire::rdt::kBias, 0));
  zero_records_ = 0;
  zero_sum_ = zero_squares_ = {};
  if (sent == wire::IoStatus::kOk) return;
  Say(false, "force sensor '" + options_.name + "' at " + rdt_.ToString() +
                 ": the zero (bias) could not be asked for; asking again");
}

void NetFtSource::LookForZero(const RdtRecord& record) noexcept {
  zero_wanted_ = false;  // it streams: the load from here on is the experiment's
  if (++zero_records_ <= kBeforeZero) return;
  for (size_t axis = 0; axis < 3; ++axis) {
    const double counts = record.counts[axis];
    zero_sum_[axis] += counts;
    zero_squares_[axis] += counts * counts;
  }
  if (zero_records_ < kBeforeZero + kLookedAtForZero) return;
  zero_records_ = -1;
  double off = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const double mean = zero_sum_[axis] / kLookedAtForZero;
    const double sd =
        std::sqrt(std::max(0.0, zero_squares_[axis] / kLookedAtForZero - mean * mean));
    if (std::abs(mean) > kZeroDeviations * sd + kZeroCounts) off = std::max(off, std::abs(mean));
  }
  if (off == 0) return;
  char text[kMostSaid];
  std::snprintf(text, sizeof text,
                "force sensor '%s' streams, but did not take the zero (bias): it reads %.3g N just "
                "after it. Was it touched? Arm again with nothing on it",
                options_.name.c_str(), off * newtons_per_count_);
  Say(true, text);
}

void NetFtSource::Announce(const NetFtConfig& config) {
  {
    const std::lock_guard lock(config_mutex_);
    config_ = config;
    configured_ = true;
  }
  const std::vector<StreamInfo> streams = Streams(config);
  const bool new_rate = !sequencer_ || !(streams[kWrench].rate == rate_);
  // Numbers begin anew at another rate: what is missing until now is missing at the old one.
  if (sequencer_ && new_rate) {
    const int64_t missing = sequencer_->MissingBy(HostNow());
    if (missing > 0) Gap(sequencer_->next_counter(), missing, GapCause::kDisconnected);
  }
  newtons_per_count_ = config.newtons_per_count;
  rate_ = streams[kWrench].rate;
  base_ = sink_->OnStreams(streams);
  if (new_rate) sequencer_ = std::make_unique<RdtSequencer>(rate_.hz(), options_.internal_rate_hz);
}

void NetFtSource::ReceiveUntilSilent() {
  // One byte more than the largest datagram, so that a longer one is seen to be longer.
  std::array<uint8_t, wire::rdt::kMaxRecordsPerDatagram * wire::rdt::kRecordBytes + 1> buffer{};
  wire::Datagram datagram;
  Timestamp last = HostNow();
  while (!stop_) {
    const wire::IoStatus status =
        socket_.Receive(buffer, HostNow() + wire::kCancelPeriod, &datagram);
    if (status == wire::IoStatus::kOk &&
        OnDatagram(std::span(buffer).first(datagram.bytes), datagram)) {
      last = HostNow();
    } else if (HostNow() - last > options_.silence) {
      return;
    } else if (status != wire::IoStatus::kOk && status != wire::IoStatus::kTimeout) {
      wire::SleepUntil(HostNow() + wire::kCancelPeriod);  // nobody listens there (yet)
    }
  }
}

void NetFtSource::Gap(int64_t first, int64_t count, GapCause cause) noexcept {
  lost_ += count;
  sink_->OnGap(base_ + kWrench, first, count, cause);
  sink_->OnGap(base_ + kStatus, first, count, cause);
}

bool NetFtSource::OnDatagram(std::span<const uint8_t> bytes,
                             const wire::Datagram& datagram) noexcept {
  const int count = datagram.truncated ? -1 : DecodeRdtDatagram(bytes, records_);
  if (count < 0) {
    ++bad_;
    return false;
  }
  if (!connected_.exchange(true)) {
    if (packets_ > 0) ++reconnects_;
    Say(true, "force sensor '" + options_.name + "' streams");
  }
  ++packets_;
  last_host_ns_ = datagram.host_receive.ns();
  const bool dropped_here = datagram.kernel_drops != kernel_drops_seen_;
  kernel_drops_ += datagram.kernel_drops - kernel_drops_seen_;
  kernel_drops_seen_ = datagram.kernel_drops;
  const GapCause cause = away_          ? GapCause::kDisconnected
                         : dropped_here ? GapCause::kNetworkLoss
                                        : GapCause::kDeviceSkipped;
  int run = 0;  // accepted records in sequence, delivered together
  for (int k = 0; k < count; ++k) {
    const RdtRecord& record = records_[k];
    const RdtVerdict verdict = sequencer_->Next(record, datagram.host_receive);
    if (verdict.kind == RdtVerdict::kDuplicate) ++duplicates_;
    if (verdict.kind == RdtVerdict::kLate) ++late_;
    if (verdict.kind != RdtVerdict::kAccept) continue;
    if (run > 0 && verdict.counter != counters_[run - 1] + 1) {
      Deliver(run, datagram);
      run = 0;
    }
    if (verdict.gap > 0) Gap(verdict.counter - verdict.gap, verdict.gap, cause);
    if (verdict.clock_reset) {
      ++resets_;
      sink_->OnClockReset(base_ + kWrench, verdict.counter);
      sink_->OnClockReset(base_ + kStatus, verdict.counter);
    }
    away_ = false;
    if (zero_records_ >= 0) LookForZero(record);
    device_status_ = record.status;
    records_[run] = record;  // compacts in place: run <= k
    counters_[run++] = verdict.counter;
  }
  if (run > 0) Deliver(run, datagram);
  return true;
}

void NetFtSource::Deliver(int count, const wire::Datagram& datagram) noexcept {
  SampleView view;
  for (int k = 0; k < count; ++k) {
    for (int axis = 0; axis < 6; ++axis) values_[axis * count + k] = records_[k].counts[axis];
    status_[k] = records_[k].status;
    if ((records_[k].status & wire::rdt::kStatusSaturated) != 0) ++view.saturated;
  }
  saturated_ += view.saturated;
  view.stream = base_ + kWrench;
  view.first_counter = counters_[0];
  view.count = count;
  view.values = std::span(values_).first(6 * count);
  view.clock.counter = counters_[0];
  view.clock.device_ns = recording::DeviceTimeOfCounter(counters_[0], rate_);
  view.clock.host_ns = datagram.host_receive.ns();
  view.clock.latency_ns = recording::DeviceTimeOfCounter(count - 1, rate_);
  sink_->OnSamples(view);
  view.stream = base_ + kStatus;
  view.saturated = 0;  // said with the wrench
  view.values = std::span(status_).first(count);
  sink_->OnSamples(view);
}

}  // namespace

std::unique_ptr<Source> MakeNetFtSource(NetFtSourceOptions options) {
  return std::make_unique<NetFtSource>(std::move(options));
}

}  // namespace handhold::capture
