#include "capture/session/take.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/base/check.h"

namespace handhold::capture {
namespace {

using recording::GapCause;
using recording::StreamInfo;

constexpr Duration kWaitBeforeCommit = Duration::Milliseconds(100);
/// A stream silent for longer at the end is not waited for.
constexpr Duration kSilent = Duration::Milliseconds(500);
/// A stream that begins later than this after its take is said to.
constexpr Duration kLateBegin = Duration::Seconds(1);
/// How much faster than its nominal rate a stream may seem: clocks are 100 times better.
constexpr double kRateSlack = 1e-3;

/// The same stream goes on: nothing that a reader sees of it has changed.
bool SameStream(const StreamInfo& a, StreamInfo b) {
  b.id = a.id;
  b.epoch = a.epoch;
  b.name = a.name;
  return a == b;
}

/// Whatever a reader computes with; not the stream that it reads.
bool SameSensor(const recording::ForceSensor& a, const recording::ForceSensor& b) {
  return a.name == b.name && a.calibration.cols() == b.calibration.cols() &&
         a.calibration == b.calibration && a.bias.size() == b.bias.size() && a.bias == b.bias &&
         a.sign == b.sign && a.mounted_on == b.mounted_on && a.X_MS.R == b.X_MS.R &&
         a.X_MS.p == b.X_MS.p && a.normal_S == b.normal_S && a.full_scale_N == b.full_scale_N &&
         a.serial == b.serial;
}

constexpr double kPaceSlice_s = 0.2;
constexpr size_t kLeastSteps = 5;

}  // namespace

void Pace::Add(double nominal_s, double late_s) {
  if (count_ == 0 || nominal_s - opened_s_ >= kPaceSlice_s) {
    const size_t closed = std::min(count_, kSlices);
    if (closed > kLeastSteps) {
      std::array<double, kSlices> steps;
      size_t n = 0;
      for (size_t k = count_ - closed + 1; k < count_; ++k) {
        const Least &a = slices_[(k - 1) % kSlices], &b = slices_[k % kSlices];
        if (b.nominal_s > a.nominal_s)
          steps[n++] = (b.late_s - a.late_s) / (b.nominal_s - a.nominal_s);
      }
      const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(n / 2);
      std::nth_element(steps.begin(), middle, steps.begin() + static_cast<std::ptrdiff_t>(n));
      if (n > 0) slope_ = *middle;
    }
    opened_s_ = nominal_s;
    slices_[count_++ % kSlices] = {nominal_s, late_s};
    return;
  }
  Least& open = slices_[(count_ - 1) % kSlices];
  // Of a slow device the first packets of a slice are the least late by themselves.
  if (late_s - slope_ * (nominal_s - open.nominal_s) < open.late_s) open = {nominal_s, late_s};
}

double Pace::LeastLate(double nominal_s) const {
  double least_s = std::numeric_limits<double>::infinity();
  for (size_t k = count_ - std::min(count_, kSlices); k < count_; ++k) {
    const Least& at = slices_[k % kSlices];
    least_s = std::min(least_s, at.late_s + slope_ * (nominal_s - at.nominal_s));
  }
  return least_s;
}

Take::Take(std::unique_ptr<store::ClipWriter> writer, std::vector<TakeSource> sources,
           Timestamp begin, Timestamp end)
    : writer_(std::move(writer)),
      sources_(std::move(sources)),
      begin_(begin),
      end_(end),
      numbers_(sources_.size()) {
  CHECK(writer_ != nullptr);
}

Result<Take::Stream*> Take::AddStream(size_t source, StreamInfo info) {
  // Clocks go on over a change of channels, as long as counters mean the same time: not over
  // another rate in between, after which counters begin anew.
  Stream* previous = nullptr;
  for (const auto& s : streams_) {
    if (s->source == source && s->info.name == info.name)
      previous = s->track->rate == info.rate ? s.get() : nullptr;
  }
  HANDHOLD_ASSIGN(info.id, writer_->AddStream(info));
  info.epoch = 0;
  for (const auto& s : streams_) info.epoch += s->info.name == info.name ? 1 : 0;
  auto track = previous != nullptr ? previous->track : std::make_shared<Track>(info.rate);
  auto stream = std::make_unique<Stream>();
  stream->source = source;
  stream->info = std::move(info);
  stream->block.stream_id = stream->info.id;
  stream->track = std::move(track);
  stream->previous = previous;
  streams_.push_back(std::move(stream));
  CHECK_EQ(streams_.back()->info.id, static_cast<int>(streams_.size()));
  return streams_.back().get();
}

const recording::ForceSensor* Take::SensorOf(const Stream& stream, const std::string& name) {
  for (const recording::ForceSensor& sensor : stream.sensors) {
    if (sensor.name == name) return &sensor;
  }
  return nullptr;
}

Status Take::Streams(size_t source, const RingSink::Announcement& announcement,
                     const std::vector<recording::ForceSensor>& sensors) {
  std::map<int, Stream*>& numbers = numbers_[source];
  std::map<int, Stream*> fresh;
  for (size_t i = 0; i < announcement.streams.size(); ++i) {
    StreamInfo info = announcement.streams[i];
    // The newest of that name; two of one announcement never share one.
    Stream* found = nullptr;
    for (const auto& s : streams_) {
      if (s->source == source && s->info.name == info.name) found = s.get();
    }
    const bool in_use = std::any_of(fresh.begin(), fresh.end(),
                                    [&](const auto& entry) { return entry.second == found; });
    if (found != nullptr && in_use) {
      info.name += "~" + std::to_string(i);
      found = nullptr;
    }
    // Counts of another calibration are another stream: all of one are scaled by one sensor.
    bool recalibrated = false;
    for (const recording::ForceSensor& sensor : sensors) {
      if (found == nullptr || sensor.stream_id != static_cast<int>(i) + 1) continue;
      const recording::ForceSensor* told = SensorOf(*found, sensor.name);
      if (told == nullptr || SameSensor(*told, sensor)) continue;
      recalibrated = true;
    }
    if (found == nullptr || recalibrated || !SameStream(found->info, info)) {
      auto added = AddStream(source, std::move(info));
      if (!added && added.error().code != ErrorCode::kInvalid) return added.error();
      if (!added) {  // no disk's fault: asked again it would be refused again, and hold up the rest
        notes_.push_back("not recorded: " + added.error().message);
        continue;
      }
      found = *added;
      if (recalibrated) {
        notes_.push_back(found->info.name +
                         ": its sensor came back with another calibration; a new epoch begins");
      }
    }
    // Beside the stream, not with it: when one fails, the call made again adds it.
    for (const recording::ForceSensor& sensor : sensors) {
      if (sensor.stream_id != static_cast<int>(i) + 1 || SensorOf(*found, sensor.name) != nullptr)
        continue;
      recording::ForceSensor placed = sensor;
      placed.stream_id = found->info.id;
      if (Status added = writer_->AddForceSensor(placed); !added) {
        if (added.error().code != ErrorCode::kInvalid) return added.error();
        notes_.push_back(added.error().message);
      }
      found->sensors.push_back(std::move(placed));
    }
    fresh[announcement.base + static_cast<int>(i)] = found;
  }
  numbers.merge(fresh);
  return {};
}

Take::Stream* Take::Find(size_t source, int number) {
  const auto at = numbers_[source].find(number);
  return at == numbers_[source].end() ? nullptr : at->second;
}

Timestamp Take::InstantOf(size_t source, const RingRecord& record) const {
  return Timestamp::FromNanoseconds(record.clock.host_ns - record.clock.latency_ns) -
         sources_[source].delay;
}

bool Take::Holds(size_t source, const RingRecord& record, Stream& stream) const {
  const Timestamp instant = InstantOf(source, record);
  if (instant < end_) return begin_ <= instant;
  if (!stream.any) return false;
  // Measured before the end and held up on the way: the take's.
  if (Silent(stream) && record.first_counter >= stream.next_counter &&
      DueAt(stream, record.first_counter) < end_)
    return true;
  if (stream.goes_on_at < 0) stream.goes_on_at = record.first_counter;
  return false;
}

Timestamp Take::DueAt(const Stream& stream, int64_t counter) {
  return stream.next_due +
         Duration::OfSamples(counter - stream.next_counter, stream.info.rate.hz());
}

Duration Take::Slack(const Stream& stream) {
  return std::max(Duration::OfSamples(1, stream.info.rate.hz()), stream.packet);
}

bool Take::Silent(const Stream& stream) const {
  if (!stream.any || stream.info.rate.hz() <= 0) return false;
  return DueAt(stream, std::max(stream.next_counter, stream.told_to)) + Slack(stream) < end_;
}

// The least late packets tell when the next is due.
void Take::NoteTime(size_t source, const RingRecord& record, Stream* stream) {
  const double rate = stream->info.rate.hz();
  if (rate <= 0) return;
  stream->packet = Duration::OfSamples(record.count, rate);
  Timestamp due = InstantOf(source, record) + stream->packet;
  if (!stream->any || stream->starts_anew) stream->pace = Pace();
  const Duration nominal = Duration::OfSamples(record.first_counter + record.count, rate);
  const double nominal_s = nominal.seconds();
  const double late_s = (due - begin_ - nominal).seconds();
  stream->pace.Add(nominal_s, late_s);
  if (stream->pace.slope() > kRateSlack) {
    // A device that samples slower than it says is not behind by what it never sampled.
    const double held_up_s = late_s - stream->pace.LeastLate(nominal_s);
    due = due - Duration::FromSeconds(std::max(0.0, held_up_s));
  } else if (stream->any && !stream->starts_anew) {
    const Duration passed =
        Duration::OfSamples(record.first_counter + record.count - stream->next_counter, rate);
    const Timestamp by_counter =
        stream->next_due + Duration::FromSeconds(passed.seconds() * (1.0 + kRateSlack));
    due = std::min(due, by_counter);
  }
  stream->starts_anew = false;
  stream->next_due = due;
}

Result<int64_t> Take::UntoldGap(size_t source, const RingRecord& record) {
  Stream* stream = Find(source, record.stream);
  if (stream == nullptr || stream->info.rate.hz() <= 0 || !Holds(source, record, *stream))
    return int64_t{0};
  Stream* last = stream;
  int64_t told_to = stream->told_to;
  while (last != nullptr && !last->any) {
    last = last->previous;
    if (last != nullptr) told_to = std::max(told_to, last->told_to);
  }
  if (last == nullptr) return int64_t{0};
  const int64_t first = std::max(last->next_counter, told_to);
  const int64_t count = record.first_counter - first;
  if (count <= 0) return int64_t{0};
  HANDHOLD_TRY(writer_->AddGap({last->info.id, first, count, GapCause::kDisconnected, {}, {}}));
  stream->told_to = record.first_counter;
  return count;
}

Result<Take::Taken> Take::Samples(size_t source, const RingRecord& record) {
  Stream* stream = Find(source, record.stream);
  if (stream == nullptr) {  // announced, and refused by the file: said there
    const Timestamp instant = InstantOf(source, record);
    return begin_ <= instant && instant < end_ ? Taken::kRefused : Taken::kNotTheTakes;
  }
  if (!Holds(source, record, *stream)) return Taken::kNotTheTakes;
  if (stream->any && record.first_counter < stream->next_counter) {
    // Counters never go back while a source lives; one that does begins a new epoch, not an error.
    HANDHOLD_ASSIGN(Stream * next, AddStream(source, stream->info));
    notes_.push_back(stream->info.name + ": its counter went back; a new epoch begins");
    next->track = std::make_shared<Track>(stream->info.rate);
    next->previous = nullptr;
    numbers_[source][record.stream] = next;
    stream = next;
  }
  recording::SampleBlock& block = stream->block;
  block.first_counter = record.first_counter;
  block.count = record.count;
  block.values.assign(record.values().begin(), record.values().end());
  block.point_counts.assign(record.point_counts().begin(), record.point_counts().end());
  if (stream->info.rate.numerator == 0) {
    block.host_times.assign(static_cast<size_t>(record.count),
                            Timestamp::FromNanoseconds(record.clock.host_ns));
  }
  if (Status appended = writer_->Append(block); !appended) {
    if (appended.error().code != ErrorCode::kInvalid) return appended.error();
    // A block that does not fit its stream is lost, and said to be.
    notes_.push_back(appended.error().message);
    HANDHOLD_TRY(writer_->AddGap(
        {stream->info.id, record.first_counter, record.count, GapCause::kDeviceSkipped, {}, {}}));
    stream->told_to = record.first_counter + record.count;
    return Taken::kRefused;
  }
  block.first_index += record.count;
  HANDHOLD_TRY(writer_->AddClockPairs(stream->info.id, std::span(&record.clock, 1)));
  stream->track->thinner.Add(record.clock, record.Covers(stream->track->rate));
  NoteTime(source, record, stream);
  if (!stream->any) stream->begins = InstantOf(source, record);
  stream->any = true;
  stream->next_counter = record.first_counter + record.count;
  stream->newest_host_ns = record.clock.host_ns;
  bytes_taken_ += record.bytes;
  return Taken::kYes;
}

Result<int64_t> Take::Gap(size_t source, const RingRecord& record) {
  Stream* stream = Find(source, record.stream);
  if (stream == nullptr || Timestamp::FromNanoseconds(record.written_host_ns) < begin_)
    return int64_t{0};
  int64_t first = record.first_counter, count = record.gap_count;
  if (stream->any && first < stream->next_counter) {
    count -= stream->next_counter - first;
    first = stream->next_counter;
  }
  const int64_t to = first + count;
  // One that began before the take is the take's from there on: no sample tells yet where that is.
  if (const double rate = stream->info.rate.hz(); !stream->any && rate > 0) {
    const Duration within = Timestamp::FromNanoseconds(record.written_host_ns) - begin_;
    const auto most = static_cast<int64_t>(std::ceil(within.seconds() * rate));
    first = to - std::min(count, most);
    count = to - first;
  }
  // One that goes on after the end is the take's up to the end.
  if (stream->any && stream->info.rate.hz() > 0 && DueAt(*stream, to) - Slack(*stream) > end_)
    count = std::min(count, MissingAtEnd(*stream, first));
  if (count > 0)
    HANDHOLD_TRY(writer_->AddGap({stream->info.id, first, count, record.cause, {}, {}}));
  stream->told_to = std::max(stream->told_to, to);
  return std::max<int64_t>(0, count);
}

void Take::ClockReset(size_t source, const RingRecord& record) {
  if (Stream* stream = Find(source, record.stream)) {
    stream->track->told_breaks.push_back(
        {record.first_counter,
         recording::DeviceTimeOfCounter(record.first_counter, stream->track->rate)});
    stream->track->thinner.Break(record.first_counter);
    stream->starts_anew = true;
  }
}

Status Take::CommitWhatWaits(Timestamp now) {
  const int64_t commits = writer_->health().commits;
  if (commits != commits_seen_) {
    commits_seen_ = commits;
    oldest_waiting_ = now;
    return {};
  }
  if (now - oldest_waiting_ < kWaitBeforeCommit) return {};
  oldest_waiting_ = now;
  return durable_age() > Duration() ? writer_->Commit(true) : Status();
}

Duration Take::durable_age() const {
  const auto durable = writer_->durable();
  if (!durable) return {};
  Duration longest;
  for (const store::Durable& d : *durable) {
    const Stream& stream = *streams_[static_cast<size_t>(d.stream_id) - 1];
    if (!stream.any) continue;
    const int64_t from = d.newest_host.ns() == 0 ? begin_.ns() : d.newest_host.ns();
    longest = std::max(longest, Duration::Nanoseconds(stream.newest_host_ns - from));
  }
  return longest;
}

std::vector<std::pair<std::string, int64_t>> Take::uncommitted() const {
  std::vector<std::pair<std::string, int64_t>> list;
  const auto durable = writer_->durable();
  if (!durable) return list;
  for (const store::Durable& d : *durable) {
    const Stream& stream = *streams_[static_cast<size_t>(d.stream_id) - 1];
    list.emplace_back(stream.info.name, stream.block.first_index - d.durable_index);
  }
  return list;
}

int64_t Take::MissingAtEnd(const Stream& stream, int64_t first) const {
  const double left_s = (end_ - DueAt(stream, first)).seconds();
  return left_s <= 0 ? 0 : static_cast<int64_t>(std::ceil(left_s * stream.info.rate.hz()));
}

// An earlier epoch ended where the next began.
bool Take::IsNewest(const Stream& stream) const {
  return std::none_of(streams_.begin(), streams_.end(), [&](const auto& s) {
    return s->info.name == stream.info.name && s->info.epoch > stream.info.epoch;
  });
}

bool Take::AwaitsMore() const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& s) {
    return IsNewest(*s) && s->goes_on_at < 0 && Silent(*s) && end_ - s->next_due < kSilent;
  });
}

Result<std::vector<std::pair<std::string, int64_t>>> Take::AddTrailingGaps() {
  std::vector<std::pair<std::string, int64_t>> added;
  for (const auto& stream : streams_) {
    if (!IsNewest(*stream) || !stream->any || stream->info.rate.hz() <= 0) continue;
    const int64_t from = std::max(stream->next_counter, stream->told_to);
    int64_t count = MissingAtEnd(*stream, from);
    GapCause cause = GapCause::kDisconnected;
    if (stream->goes_on_at >= 0) {  // what came next says what is missing
      count = std::min(count, stream->goes_on_at - from);
      cause = GapCause::kDeviceSkipped;
    } else if (!Silent(*stream)) {
      continue;
    }
    if (count <= 0) continue;
    HANDHOLD_TRY(writer_->AddGap({stream->info.id, from, count, cause, {}, {}}));
    stream->told_to = from + count;
    added.emplace_back(stream->info.name, count);
  }
  return added;
}

std::vector<std::pair<std::string, Duration>> Take::LateBegins() const {
  std::vector<std::pair<std::string, Duration>> late;
  for (const auto& stream : streams_) {
    if (stream->any && stream->info.epoch == 0 && stream->begins - begin_ > kLateBegin)
      late.emplace_back(stream->info.name, stream->begins - begin_);
  }
  return late;
}

void Take::NoteOnce(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

void Take::LocateBreaks(const Track& track, ClockFit* fit) {
  // A clock of more breaks than these has no times that would be better for it.
  constexpr size_t kMostLocated = 256;
  for (size_t i = 0; i < std::min(fit->breaks.size(), kMostLocated); ++i) {
    const ClockBreak& found = fit->breaks[i];
    if (found.told) continue;
    std::vector<recording::ClockPair> between;
    for (const auto& stream : streams_) {
      if (stream->track.get() != &track) continue;
      const auto pairs =
          writer_->ClockPairs(stream->info.id, found.counter_before + 1, found.counter + 1);
      if (!pairs) {  // placed to a fraction of a second only, and no worse than that
        NoteOnce(stream->info.name + ": " + pairs.error().message);
        return;
      }
      between.insert(between.end(), pairs->begin(), pairs->end());
    }
    LocateBreak(between, i, fit);
  }
}

Status Take::FitClocks() {
  clocks_.clear();
  for (const auto& stream : streams_) {
    const Track& track = *stream->track;
    auto fit = FitClock(track.thinner, {}, track.told_breaks);
    if (!fit) {  // fewer than two packets: readers use the earliest pair
      if (fit.error().code != ErrorCode::kUnidentifiable)
        NoteOnce(stream->info.name + " has no clock map: " + fit.error().message);
      continue;
    }
    LocateBreaks(track, &*fit);
    recording::ClockMap map = fit->map;
    map.constant_delay_ns = sources_[stream->source].delay.ns();
    map.constant_delay_sd_ns = sources_[stream->source].delay_sd.ns();
    HANDHOLD_TRY(writer_->SetClockMap(stream->info.id, map));
    clocks_.push_back({stream->info.name, map, fit->breaks});
  }
  return {};
}

Status Take::Finish(const recording::QualityRecord& quality) {
  HANDHOLD_TRY(FitClocks());
  HANDHOLD_TRY(writer_->SetQuality(quality));
  return writer_->Commit(true);
}

}  // namespace handhold::capture
