#include "capture/session/session_encoder.h"

#include <algorithm>

#include "capture/wire/schedule.h"
#include "database/base/check.h"

namespace handhold::capture {
namespace {

constexpr Duration kPassPeriod = Duration::Milliseconds(4);
constexpr Duration kRetryPeriod = Duration::Milliseconds(50);
constexpr Duration kLookPeriod = Duration::Milliseconds(200);
constexpr Duration kPublishPeriod = Duration::Milliseconds(150);
constexpr Duration kMostLate = Duration::Milliseconds(500);
constexpr Duration kQualityPeriod = Duration::Seconds(10);
/// Records handled before the lock is given to others: a long backlog does not shut them out.
constexpr int kRecordsPerPass = 20'000;

// Real time, whatever clock the session runs on.
void Sleep(Duration time) {
  const timespec pause{static_cast<time_t>(time.ns() / 1'000'000'000),
                       static_cast<long>(time.ns() % 1'000'000'000)};
  nanosleep(&pause, nullptr);
}

/// The instant a record speaks of, for the pre-roll.
Timestamp InstantOf(const RingRecord& record) {
  return Timestamp::FromNanoseconds(record.kind == RecordKind::kSamples
                                        ? record.clock.host_ns - record.clock.latency_ns
                                        : record.written_host_ns);
}

/// What a take says of itself until it ends.
recording::QualityRecord NotEnded(std::vector<recording::QualityItem> items) {
  recording::QualityRecord quality;
  quality.items = std::move(items);
  quality.keep = false;
  quality.advice =
      "The recorder ended before the take did: look at how it ends, and record it again if you "
      "can.";
  return quality;
}

}  // namespace

SessionEncoder::SessionEncoder(std::vector<std::unique_ptr<Feed>>* feeds,
                               const RecorderOptions& options, std::string directory)
    : feeds_(*feeds), options_(options), directory_(std::move(directory)), board_(options.limits) {
  for (const auto& feed : feeds_) {
    for (recording::StreamInfo& stream : feed->probed)
      stream.name = names_.For(feed->index, feed->name(), stream.name);
    for (const recording::ForceSensor& sensor : feed->recorded.source->ForceSensors())
      sensor_names_.For(feed->index, feed->name(), sensor.name);
    snapshot_.sources.push_back({feed->name(), false, feed->recorded.required, ""});
  }
  snapshot_.host = options_.now();
}

void SessionEncoder::Start() {
  stop_ = false;
  encoder_ = std::thread([this] { EncoderLoop(); });
  watch_ = std::thread([this] { WatchLoop(); });
}

void SessionEncoder::Stop() {
  stop_ = true;
  if (encoder_.joinable()) encoder_.join();
  if (watch_.joinable()) watch_.join();
}

void SessionEncoder::EncoderLoop() {
  wire::AskForRealTime(wire::Urgency::kEncoder);
  while (!stop_) {
    Pass();
    bool trouble = false;
    {
      const std::lock_guard lock(published_mutex_);
      trouble = !trouble_.empty();
    }
    Sleep(trouble ? kRetryPeriod : kPassPeriod);
  }
}

void SessionEncoder::WatchLoop() {
  while (!stop_) {
    Judge(options_.now());
    Sleep(kLookPeriod);
  }
}

void SessionEncoder::Pass() {
  const std::lock_guard lock(work_);
  if (take_ && options_.injected_stall) {
    if (const Duration stall = options_.injected_stall(); stall > Duration()) Sleep(stall);
  }
  const Timestamp now = options_.now();
  Status status;
  for (const auto& feed : feeds_) {
    if (status) status = Drain(*feed, nullptr);
    if (!take_ && !keep_all_) ReleaseOld(*feed, now);
  }
  if (take_) {
    if (status) status = WriteEvents();
    if (status) status = take_->CommitWhatWaits(now);
    NoteTrouble(status);
    if (status) WriteQuality(now);
  }
  if (HostNow() - figures_made_ >= kPublishPeriod) PublishFigures();
}

void SessionEncoder::NoteTrouble(const Status& status) {
  const std::lock_guard lock(published_mutex_);
  if (status) {
    trouble_.clear();
  } else {
    if (trouble_.empty()) trouble_since_ = options_.now();
    trouble_ = status.error().message;
  }
}

Status SessionEncoder::Drain(Feed& feed, const RecordRing::Position* until) {
  for (int n = 0; until != nullptr || n < kRecordsPerPass; ++n) {
    if (until != nullptr && feed.read == *until) return {};
    const RingRecord* record = RecordRing::At(feed.read);
    if (record == nullptr) return {};
    if (take_) take_->EndAt(Timestamp::FromNanoseconds(end_ns_));
    HANDHOLD_TRY(Handle(feed, *record));
    RecordRing::Advance(feed.read, *record);
    RecordRing::MarkRead(feed.read);
    if (take_) {
      feed.released = feed.read;
      feed.announcement_released = feed.announcement;
      RecordRing::Release(feed.released);
    }
  }
  return {};
}

Status SessionEncoder::HandleStreams(Feed& feed, const RingRecord& record, Take* take) {
  const auto [announced, sensors] = feed.Announced(record.stream, names_, sensor_names_);
  if (take != nullptr) HANDHOLD_TRY(take->Streams(feed.index, announced, sensors));
  feed.Meter(announced, sensors);
  feed.announcement = record.stream;
  return {};
}

void SessionEncoder::HandleState(Feed& feed, const RingRecord& record) {
  feed.connected = record.connected;
  feed.text = record.text();
}

Status SessionEncoder::Handle(Feed& feed, const RingRecord& record) {
  switch (record.kind) {
    case RecordKind::kPad:
      return {};
    case RecordKind::kStreams:
      return HandleStreams(feed, record, take_.get());
    case RecordKind::kState:
      HandleState(feed, record);
      return {};
    default:
      break;
  }
  const auto meter = feed.by_number.find(record.stream);
  if (meter == feed.by_number.end()) return {};
  if (record.kind == RecordKind::kSamples) {
    Take::Taken taken = Take::Taken::kYes;
    if (take_) {
      HANDHOLD_ASSIGN(const int64_t untold, take_->UntoldGap(feed.index, record));
      meter->second->Gap(untold);
      HANDHOLD_ASSIGN(taken, take_->Samples(feed.index, record));
    }
    if (taken == Take::Taken::kYes) meter->second->Samples(record);
    if (taken == Take::Taken::kRefused) meter->second->Gap(record.count);
  } else if (record.kind == RecordKind::kGap) {
    int64_t missing = record.gap_count;
    if (take_) {
      HANDHOLD_ASSIGN(missing, take_->Gap(feed.index, record));
    }
    meter->second->Gap(missing);
  } else if (record.kind == RecordKind::kReset) {
    if (take_) take_->ClockReset(feed.index, record);
    meter->second->ClockReset();
  }
  return {};
}

void SessionEncoder::ReleaseOld(Feed& feed, Timestamp now) {
  bool moved = false;
  while (!(feed.released == feed.read)) {
    RecordRing::Position at = feed.released;
    const RingRecord* record = RecordRing::At(at);
    if (record == nullptr) break;
    const uint64_t held = at.ring->written() - at.at;
    const bool fits = held <= at.ring->capacity() / 4 * 3;
    if (now - InstantOf(*record) < options_.pre_roll) {
      if (fits) break;
      feed.cut = true;
    }
    if (record->kind == RecordKind::kStreams) feed.announcement_released = record->stream;
    RecordRing::Advance(at, *record);
    feed.released = at;
    moved = true;
  }
  if (moved) RecordRing::Release(feed.released);
}

Timestamp SessionEncoder::TakeBegin() {
  const std::lock_guard lock(work_);
  const Timestamp now = options_.now();
  Timestamp begin = now;
  // The encoder may be behind, after a disk that refused for long: what devices said before the
  // take's begin must not become a layout of the take.
  for (const auto& feed : feeds_) {
    const RecordRing::Position target = feed->sink->end();
    (void)Drain(*feed, &target).has_value();  // without a take nothing refuses
    ReleaseOld(*feed, now);
  }
  keep_all_ = true;
  for (const auto& feed : feeds_) {
    RecordRing::Position at = feed->released;
    while (!(at == feed->read)) {
      const RingRecord* record = RecordRing::At(at);
      if (record == nullptr) break;
      const Timestamp instant = InstantOf(*record) - feed->recorded.delay;
      if (record->kind == RecordKind::kSamples && now - instant <= options_.pre_roll) {
        begin = std::min(begin, instant);
        break;
      }
      RecordRing::Advance(at, *record);
    }
  }
  return begin;
}

void SessionEncoder::LetGo() {
  const std::lock_guard lock(work_);
  keep_all_ = false;
}

Status SessionEncoder::BeginTake(std::unique_ptr<Take> take, const std::string& path,
                                 const std::string& name) {
  const std::lock_guard lock(work_);
  CHECK(take_ == nullptr);
  take_ = std::move(take);
  end_ns_ = INT64_MAX;
  keep_all_ = false;
  Status status;
  for (const auto& feed : feeds_) {
    feed->ClearMeters();
    feed->at_take_begin = feed->recorded.source->Health();
    feed->read = feed->released;
    feed->announcement = feed->announcement_released;
    if (feed->announcement < 0) continue;
    // Meters for every feed, whatever becomes of the take: its announcement does not come again.
    const auto [announced, sensors] = feed->Announced(feed->announcement, names_, sensor_names_);
    feed->Meter(announced, sensors);
    if (status) status = take_->Streams(feed->index, announced, sensors);
    if (feed->cut) {
      take_->Note(feed->name() +
                  ": its pre-roll is shorter than asked: a quarter of the ring is kept for what is "
                  "new; ask for less, or allow fewer unlabelled points");
    }
    feed->cut = false;
  }
  if (status) status = take_->writer().SetQuality(NotEnded({}));
  if (!status) {
    take_.reset();
    return status;
  }
  quality_written_ = options_.now();
  clocks_due_ = Timestamp();
  {
    const std::lock_guard published(published_mutex_);
    path_ = path;
    take_name_ = name;
    trouble_.clear();
  }
  {
    const std::lock_guard health(health_mutex_);
    board_.Clear();
  }
  PublishFigures();
  return {};
}

SessionEncoder::Ended SessionEncoder::EndTake(Duration patience) {
  Ended ended;
  const Timestamp now = options_.now();
  end_ns_ = now.ns();
  std::unique_lock lock(work_);
  CHECK(take_ != nullptr);
  take_->EndAt(now);
  ended.end = take_->end();
  const Timestamp give_up = HostNow() + patience;
  Status status;
  // Now: what comes while one device waits for the disk is not another's loss.
  std::vector<RecordRing::Position> targets;
  for (const auto& feed : feeds_) targets.push_back(feed->sink->end());
  for (const auto& feed : feeds_) {
    RecordRing::Position& target = targets[feed->index];
    for (;;) {
      status = Drain(*feed, &target);
      NoteTrouble(status);
      if (!status && HostNow() < give_up) {
        Sleep(kRetryPeriod);
        continue;
      }
      // What found no room is said as soon as there is some: with the next packet.
      if (status && feed->sink->waiting() > 0 && HostNow() < give_up && feed->connected) {
        Sleep(kPassPeriod);
        target = feed->sink->end();
        continue;
      }
      break;
    }
    if (!status) CountUnwritten(*feed, target, ended);
  }
  if (status) status = WaitForTheLate();
  if (status) status = WriteEvents();
  if (status) status = take_->writer().Commit(true);
  if (!status) CountUncommitted(ended);
  if (auto silent = take_->AddTrailingGaps(); silent) {
    for (const auto& [name, count] : *silent) {
      // What found no room on the disk is a part of it, and counted.
      const auto at = ended.unwritten.find(name);
      const int64_t more = count - (at == ended.unwritten.end() ? 0 : at->second);
      if (more <= 0) continue;
      for (const auto& feed : feeds_) {
        if (const auto meter = feed->meters.find(name); meter != feed->meters.end())
          meter->second->Gap(more);
      }
    }
  }
  PublishFigures();
  lock.unlock();
  Judge(now);
  lock.lock();
  {
    const std::lock_guard published(published_mutex_);
    for (const Published::Stream& s : published_.streams) ended.figures.push_back(s.figures);
  }
  for (const auto& feed : feeds_)
    ended.sources.emplace_back(feed->name(),
                               Since(feed->recorded.source->Health(), feed->at_take_begin));
  if (status) status = take_->FitClocks();
  std::vector<JudgedClock> clocks;
  for (const Take::ClockSummary& clock : take_->clocks()) {
    const auto of = std::find_if(ended.figures.begin(), ended.figures.end(),
                                 [&](const auto& f) { return f.stream == clock.stream; });
    clocks.push_back({clock.stream, clock.map, of == ended.figures.end() || of->required});
  }
  {
    const std::lock_guard health(health_mutex_);
    ended.quality = JudgeTake(board_.items(), ended.figures, clocks, ended.end - take_->begin());
  }
  if (status) status = take_->Finish(ended.quality);
  if (!status) {
    ended.quality.keep = false;
    ended.quality.advice = "The end of the take could not be written: " + status.error().message;
    // On a full disk there may still be room for this; else what was written at the begin stays.
    NoteTrouble(take_->writer().SetQuality(ended.quality));
  }
  ended.notes.insert(ended.notes.begin(), take_->notes().begin(), take_->notes().end());
  for (const auto& [stream, late] : take_->LateBegins())
    ended.notes.push_back(stream + " began " + FormatSeconds(late) + " after the take");
  for (const auto& feed : feeds_) {
    if (feed->meters.empty())
      ended.notes.push_back(feed->name() +
                            " (optional) was never there: nothing of it is recorded");
  }
  if (!status) ended.notes.push_back(status.error().message);
  ended.take = std::move(take_);
  {
    // Their text stands nowhere else.
    const std::lock_guard events(events_mutex_);
    for (const recording::Event& event : events_) {
      ended.notes.push_back("could not be written: " + event.kind + " at " +
                            FormatSeconds(event.clip_time - Timestamp()) +
                            (event.text.empty() ? "" : ": " + event.text));
    }
    events_.clear();
  }
  NoteTrouble({});
  PublishFigures();
  return ended;
}

// The disk took no more: what the rings hold of the take is lost, and said to be.
void SessionEncoder::CountUnwritten(Feed& feed, const RecordRing::Position& until, Ended& ended) {
  std::map<StreamMeter*, int64_t> lost;
  while (!(feed.read == until)) {
    const RingRecord* record = RecordRing::At(feed.read);
    if (record == nullptr) break;
    // What a device said of itself holds for the next take all the same: it does not say it again.
    if (record->kind == RecordKind::kStreams) {
      (void)HandleStreams(feed, *record, nullptr).has_value();
    } else if (record->kind == RecordKind::kState) {
      HandleState(feed, *record);
    } else if (const auto meter = feed.by_number.find(record->stream);
               meter != feed.by_number.end()) {
      if (record->kind == RecordKind::kSamples) lost[meter->second] += record->count;
      if (record->kind == RecordKind::kGap) lost[meter->second] += record->gap_count;
      if (record->kind == RecordKind::kReset) meter->second->ClockReset();
    }
    RecordRing::Advance(feed.read, *record);
  }
  RecordRing::MarkRead(feed.read);
  for (const auto& [meter, count] : lost) {
    meter->Gap(count);
    ended.unwritten[meter->info().name] += count;
    ended.notes.push_back(meter->info().name + ": the last " + std::to_string(count) +
                          " samples could not be written");
  }
}

// Taken by the writer, and never on the disk: not recorded but lost.
void SessionEncoder::CountUncommitted(Ended& ended) {
  for (const auto& [name, count] : take_->uncommitted()) {
    if (count <= 0) continue;
    for (const auto& feed : feeds_) {
      if (const auto meter = feed->meters.find(name); meter != feed->meters.end())
        meter->second->Lost(count);
    }
    ended.notes.push_back(name + ": " + std::to_string(count) +
                          " samples before that could not be written either");
  }
}

// Packets on their way when the take ends: whether they come says what is late and what is lost.
Status SessionEncoder::WaitForTheLate() {
  const Timestamp give_up = HostNow() + kMostLate;
  Status status;
  while (status && take_->AwaitsMore() && HostNow() < give_up) {
    Sleep(kPassPeriod);
    for (const auto& feed : feeds_) {
      const RecordRing::Position target = feed->sink->end();
      if (status) status = Drain(*feed, &target);
    }
  }
  return status;
}

Status SessionEncoder::WriteEvents() {
  std::vector<recording::Event> events;
  {
    const std::lock_guard lock(events_mutex_);
    events.swap(events_);
  }
  for (size_t i = 0; i < events.size(); ++i) {
    if (Status added = take_->Event(events[i]); !added) {
      const std::lock_guard lock(events_mutex_);
      events_.insert(events_.begin(), events.begin() + static_cast<std::ptrdiff_t>(i),
                     events.end());
      return added;
    }
  }
  return {};
}

// A recorder that dies leaves what was known of the take's quality and clocks until then.
void SessionEncoder::WriteQuality(Timestamp now) {
  if (now - quality_written_ < kQualityPeriod) return;
  quality_written_ = now;
  std::vector<recording::QualityItem> items;
  {
    const std::lock_guard lock(health_mutex_);
    items = board_.items();
  }
  NoteTrouble(take_->writer().SetQuality(NotEnded(std::move(items))));
  // Ever more seldom: the longer the take, the less a map changes.
  if (now < clocks_due_) return;
  clocks_due_ = now + (now - take_->begin());
  NoteTrouble(take_->FitClocks());
}

Status SessionEncoder::Mark(recording::Event event, Timestamp at_host) {
  Timestamp begin;
  {
    const std::lock_guard lock(published_mutex_);
    if (!published_.in_take)
      return Error{ErrorCode::kInvalid, "no take is running: events belong to takes"};
    begin = published_.take_begin;
  }
  if (at_host.ns() == 0) at_host = options_.now();
  if (at_host < begin)
    return Error{ErrorCode::kInvalid, "event '" + event.kind + "' lies before the take"};
  event.clip_time = Timestamp::FromNanoseconds((at_host - begin).ns());
  const std::lock_guard lock(events_mutex_);
  events_.push_back(std::move(event));
  return {};
}

}  // namespace handhold::capture
