#include "capture/session/ring_sink.h"

#include <algorithm>
#include <cstring>

#include "database/base/check.h"

namespace handhold::capture {
namespace {

using recording::GapCause;

constexpr size_t kReserve = 64 << 10;
constexpr size_t kSlack = 64 << 10;       // announcements, states, the unused end of the ring
constexpr size_t kFirstRing = 256 << 10;  // before streams are known: states only
constexpr size_t kLeastRing = 2 << 20;
/// 5 s of 53 MB/s, ten times the densest rig: a device that claims more does not get the machine's
/// memory for it.
constexpr size_t kMostRing = 256 << 20;
constexpr double kPointsGuessed = 64;

}  // namespace

double RingBytesPerSecond(std::span<const recording::StreamInfo> streams) {
  double bytes = 0;
  for (const recording::StreamInfo& stream : streams) {
    const double values = stream.kind == recording::StreamKind::kUnlabelledPoints
                              ? 4 * kPointsGuessed + 1
                              : static_cast<double>(stream.channels.size());
    bytes += stream.rate.hz() * (static_cast<double>(sizeof(RingRecord)) + 8 * values);
  }
  return bytes;
}

RingSink::RingSink(Duration length, std::function<Timestamp()> now, const Source* source)
    : length_(length),
      now_(std::move(now)),
      source_(source),
      first_(std::make_unique<RecordRing>(kFirstRing, kReserve)),
      ring_(first_.get()) {}

int RingSink::OnStreams(std::span<const recording::StreamInfo> streams) {
  const double wanted =
      std::min(RingBytesPerSecond(streams) * length_.seconds(), static_cast<double>(kMostRing));
  const size_t capacity = std::max(kLeastRing, static_cast<size_t>(wanted) + kReserve + kSlack);
  RecordRing* ring = ring_.load(std::memory_order_relaxed);
  int index = 0, base = 0;
  std::vector<recording::ForceSensor> sensors;
  if (source_ != nullptr) sensors = source_->ForceSensors();
  {
    const std::lock_guard lock(mutex_);
    base = static_cast<int>(owned_.size());
    index = static_cast<int>(announcements_.size());
    announcements_.push_back(std::make_unique<Announcement>());
    announcements_.back()->base = base;
    announcements_.back()->streams.assign(streams.begin(), streams.end());
    announcements_.back()->sensors = std::move(sensors);
    for (size_t s = 0; s < streams.size(); ++s) {
      owned_.push_back(std::make_unique<StreamState>());
      states_.push_back(owned_.back().get());
    }
    if (capacity > ring->capacity()) {
      larger_.push_back(std::make_unique<RecordRing>(capacity, kReserve));
    }
  }
  SayWaiting(true);
  if (capacity > ring->capacity()) {
    RecordRing* larger = larger_.back().get();
    ring->ContinueIn(larger);
    ring_.store(larger, std::memory_order_release);
    ring = larger;
  }
  // Not on the sample path: waits for room rather than lose what all later records refer to.
  RingRecord* record = ring->Reserve(0, 0, true);
  while (record == nullptr) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    record = ring->Reserve(0, 0, true);
  }
  record->kind = RecordKind::kStreams;
  record->stream = index;
  record->written_host_ns = now_().ns();
  ring->Publish();
  return base;
}

const RingSink::Announcement& RingSink::announcement(int index) const {
  const std::lock_guard lock(mutex_);
  return *announcements_[static_cast<size_t>(index)];
}

int64_t RingSink::newest_host_ns(int stream) const {
  const std::lock_guard lock(mutex_);
  return owned_[static_cast<size_t>(stream)]->newest_host_ns.load(std::memory_order_relaxed);
}

RecordRing::Position RingSink::end() const {
  RecordRing* ring = ring_.load(std::memory_order_acquire);
  return {ring, ring->written()};
}

double RingSink::TakeFullest() {
  RecordRing* ring = ring_.load(std::memory_order_acquire);
  const double now =
      static_cast<double>(ring->unread()) / static_cast<double>(ring->capacity() - kReserve);
  const double peak = 1e-3 * fullest_permille_.exchange(0, std::memory_order_relaxed);
  return std::min(1.0, std::max(now, peak));
}

void RingSink::NoteFill() noexcept {
  const RecordRing& ring = *ring_.load(std::memory_order_relaxed);
  const auto permille = static_cast<uint32_t>(
      std::min<uint64_t>(1000, 1000 * ring.unread() / (ring.capacity() - kReserve)));
  // Lost updates against TakeFullest's exchange cost one look of 0.2 s, no more.
  if (permille > fullest_permille_.load(std::memory_order_relaxed))
    fullest_permille_.store(permille, std::memory_order_relaxed);
}

void RingSink::OnSamples(const SampleView& samples) noexcept {
  if (samples.count <= 0) return;
  CHECK_LT(static_cast<size_t>(samples.stream), states_.size());
  StreamState& state = *states_[static_cast<size_t>(samples.stream)];
  state.newest_host_ns.store(samples.clock.host_ns, std::memory_order_relaxed);
  // A stream that misses something goes on only after that has been said.
  RingRecord* record = nullptr;
  if (waiting_.load(std::memory_order_relaxed) == 0 || SayWaiting(false)) {
    record = ring_.load(std::memory_order_relaxed)
                 ->Reserve(samples.values.size(), 4 * samples.point_counts.size(), false);
  }
  if (record == nullptr) {
    overflowed_.fetch_add(samples.count, std::memory_order_relaxed);
    fullest_permille_.store(1000, std::memory_order_relaxed);
    Miss(samples.stream, samples.first_counter, samples.count, GapCause::kRingOverflow);
    return;
  }
  record->kind = RecordKind::kSamples;
  record->stream = samples.stream;
  record->count = samples.count;
  record->saturated = samples.saturated;
  record->first_counter = samples.first_counter;
  record->clock = samples.clock;
  record->tail_count = static_cast<uint32_t>(samples.point_counts.size());
  auto* values = reinterpret_cast<double*>(record + 1);
  if (!samples.values.empty())
    std::memcpy(values, samples.values.data(), samples.values.size_bytes());
  if (!samples.point_counts.empty()) {
    std::memcpy(values + samples.values.size(), samples.point_counts.data(),
                samples.point_counts.size_bytes());
  }
  RecordRing* ring = ring_.load(std::memory_order_relaxed);
  ring->Publish();
  NoteFill();
}

void RingSink::OnGap(int stream, int64_t first, int64_t count, GapCause cause) noexcept {
  if (count <= 0) return;
  if (waiting_.load(std::memory_order_relaxed) == 0 || SayWaiting(false)) {
    if (WriteGap(stream, {first, first + count, cause})) return;
  }
  Miss(stream, first, count, cause);
}

bool RingSink::WriteGap(int stream, const Missing& gap) noexcept {
  RecordRing* ring = ring_.load(std::memory_order_relaxed);
  RingRecord* record = ring->Reserve(0, 0, true);
  if (record == nullptr) return false;
  record->kind = RecordKind::kGap;
  record->stream = stream;
  record->cause = gap.cause;
  record->first_counter = gap.first;
  record->gap_count = gap.end - gap.first;
  record->written_host_ns = now_().ns();
  ring->Publish();
  return true;
}

void RingSink::Miss(int stream, int64_t first, int64_t count, GapCause cause) noexcept {
  StreamState& state = *states_[static_cast<size_t>(stream)];
  Missing* last = state.missing_count > 0 ? &state.missing[state.missing_count - 1] : nullptr;
  if (last != nullptr && last->cause == cause && last->end == first) {
    last->end = first + count;
    return;
  }
  if (state.missing_count == kWaitingGaps) {
    last->end = std::max(last->end, first + count);
    last->cause = GapCause::kRingOverflow;
    return;
  }
  state.missing[state.missing_count++] = {first, first + count, cause};
  waiting_.fetch_add(1, std::memory_order_release);
}

bool RingSink::SayWaiting(bool at_once) noexcept {
  // Waits for a sixteenth of the ring: a loss is then one gap, not one per packet.
  const RecordRing& ring = *ring_.load(std::memory_order_relaxed);
  if (!at_once && ring.capacity() - ring.held() < kReserve + ring.capacity() / 16) return false;
  if (waiting_state_.waits) {
    if (!WriteState(waiting_state_.connected, {waiting_state_.text, waiting_state_.length}))
      return false;
    waiting_state_.waits = false;
    waiting_.fetch_sub(1, std::memory_order_release);
  }
  for (size_t s = 0; s < states_.size() && waiting_.load(std::memory_order_relaxed) > 0; ++s) {
    if (!SayWaitingOf(static_cast<int>(s))) return false;
  }
  return true;
}

bool RingSink::SayWaitingOf(int stream) noexcept {
  StreamState& state = *states_[static_cast<size_t>(stream)];
  int said = 0;
  while (said < state.missing_count && WriteGap(stream, state.missing[said])) ++said;
  std::copy(state.missing + said, state.missing + state.missing_count, state.missing);
  state.missing_count -= said;
  waiting_.fetch_sub(said, std::memory_order_release);
  if (state.missing_count > 0) return false;
  if (!state.reset_waits) return true;
  if (!WriteReset(stream, state.reset_counter)) return false;
  state.reset_waits = false;
  waiting_.fetch_sub(1, std::memory_order_release);
  return true;
}

void RingSink::OnClockReset(int stream, int64_t first_counter) noexcept {
  resets_.fetch_add(1, std::memory_order_relaxed);
  if (waiting_.load(std::memory_order_relaxed) == 0 || SayWaiting(false)) {
    if (WriteReset(stream, first_counter)) return;
  }
  StreamState& state = *states_[static_cast<size_t>(stream)];
  state.reset_counter = first_counter;
  if (state.reset_waits) return;
  state.reset_waits = true;
  waiting_.fetch_add(1, std::memory_order_release);
}

bool RingSink::WriteReset(int stream, int64_t first_counter) noexcept {
  RecordRing* ring = ring_.load(std::memory_order_relaxed);
  RingRecord* record = ring->Reserve(0, 0, true);
  if (record == nullptr) return false;
  record->kind = RecordKind::kReset;
  record->stream = stream;
  record->first_counter = first_counter;
  record->written_host_ns = now_().ns();
  ring->Publish();
  return true;
}

void RingSink::OnState(bool connected, std::string_view text) noexcept {
  text = text.substr(0, kMostStateText);
  // The newest stands for those that wait.
  if (!waiting_state_.waits && WriteState(connected, text)) return;
  waiting_state_.connected = connected;
  waiting_state_.length = text.size();
  std::memcpy(waiting_state_.text, text.data(), text.size());
  if (waiting_state_.waits) {
    SayWaiting(false);
    return;
  }
  waiting_state_.waits = true;
  waiting_.fetch_add(1, std::memory_order_release);
}

bool RingSink::WriteState(bool connected, std::string_view text) noexcept {
  RecordRing* ring = ring_.load(std::memory_order_relaxed);
  RingRecord* record = ring->Reserve(0, text.size(), true);
  if (record == nullptr) return false;
  record->kind = RecordKind::kState;
  record->connected = connected;
  record->written_host_ns = now_().ns();
  record->tail_count = static_cast<uint32_t>(text.size());
  std::memcpy(record + 1, text.data(), text.size());
  ring->Publish();
  return true;
}

}  // namespace handhold::capture
