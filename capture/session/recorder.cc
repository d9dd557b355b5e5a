#include "capture/session/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "capture/session/session_encoder.h"
#include "capture/session/take_page.h"
#include "capture/wire/cancel.h"
#include "database/base/check.h"
#include "database/base/names.h"
#include "database/store/clip_reader.h"

namespace handhold::capture {
namespace {

constexpr Timestamp kNever = Timestamp::FromNanoseconds(INT64_MAX);
/// How long the end of a take waits for a disk that refuses.
constexpr Duration kPatience = Duration::Seconds(3);

Error WrongState(std::string_view call, SessionState state) {
  return Error{ErrorCode::kInvalid, std::string(call) + " is not possible while the session is " +
                                        std::string(SessionStateName(state))};
}

/// Whether takes could be stored there: asked while nobody waits for a take yet.
Status TryToWrite(const std::string& directory) {
  if (directory.empty() || ::access(directory.c_str(), F_OK) != 0) return {};
  std::string path = directory + "/.handhold-tries-XXXXXX";
  const int fd = ::mkstemp(path.data());
  if (fd < 0) {
    return Error{ErrorCode::kIo, "takes cannot be stored in '" + directory +
                                     "': " + std::strerror(errno) +
                                     "; free space, mount it for writing or name another library"};
  }
  ::close(fd);
  ::unlink(path.c_str());
  return {};
}

class SessionRecorder final : public Recorder {
 public:
  SessionRecorder(std::vector<RecordedSource> sources, TakeTarget target, RecorderOptions options)
      : target_(std::move(target)), options_(std::move(options)) {
    for (RecordedSource& source : sources) {
      feeds_.push_back(std::make_unique<Feed>());
      feeds_.back()->recorded = std::move(source);
      feeds_.back()->index = feeds_.size() - 1;
    }
  }
  ~SessionRecorder() override {
    if (state_ == SessionState::kRecording) (void)Stop({}).has_value();
    (void)Disarm().has_value();
  }

  Result<std::vector<CheckLine>> Check(const std::function<bool()>& cancelled) override;
  std::vector<recording::StreamInfo> FoundStreams() const override;
  Status Arm() override;
  Status Start(recording::ClipInfo info) override;
  Result<TakeResult> Stop(const std::function<void(double share)>& storing) override;
  bool wants_stop() const override {
    const auto encoder = Encoder();
    return encoder && encoder->wants_stop();
  }
  Status Disarm() override;
  Status Mark(recording::Event event, Timestamp at_host) override {
    if (state_ != SessionState::kRecording) return WrongState("Mark", state_);
    return encoder_->Mark(std::move(event), at_host);
  }
  HealthSnapshot Health() const override;
  void Acknowledge() override {
    if (const auto encoder = Encoder()) encoder->Acknowledge();
  }

 private:
  void CheckSource(const Feed& feed, const Result<std::vector<recording::StreamInfo>>& found,
                   std::vector<CheckLine>* lines) const;
  /// Full names that must flow.
  static std::vector<std::string> RequiredStreams(const Feed& feed);
  void Describe(SessionEncoder::Ended& ended, TakeResult* result) const;

  const TakeTarget target_;
  const RecorderOptions options_;
  std::vector<std::unique_ptr<Feed>> feeds_;
  std::atomic<SessionState> state_{SessionState::kConfigured};
  /// While armed or recording. Other threads may hold it for the length of a call.
  std::shared_ptr<SessionEncoder> Encoder() const {
    const std::lock_guard lock(encoder_mutex_);
    return encoder_;
  }
  void SetEncoder(std::shared_ptr<SessionEncoder> encoder) {
    const std::lock_guard lock(encoder_mutex_);
    encoder_ = std::move(encoder);
  }
  mutable std::mutex encoder_mutex_;
  std::shared_ptr<SessionEncoder> encoder_;  ///< after feeds_
  recording::ClipInfo info_;                 ///< of the running take
  std::string path_;
};

void SessionRecorder::CheckSource(const Feed& feed,
                                  const Result<std::vector<recording::StreamInfo>>& found,
                                  std::vector<CheckLine>* lines) const {
  const RecordedSource& source = feed.recorded;
  const std::string& name = feed.name();
  if (!found) {
    lines->push_back({name, "", false, source.required, found.error().message, found.error().code});
    return;
  }
  lines->push_back(
      {name, "", true, source.required, std::to_string(found->size()) + " streams", {}});
  std::vector<std::string> names;
  for (const recording::StreamInfo& stream : *found) {
    names.push_back(stream.name);
    const bool required =
        source.required && (source.required_streams.empty() ||
                            std::count(source.required_streams.begin(),
                                       source.required_streams.end(), stream.name) > 0);
    char rate[32];
    std::snprintf(rate, sizeof rate, "%.6g", stream.rate.hz());
    lines->push_back({name, stream.name, true, required,
                      std::string(recording::StreamKindName(stream.kind)) + ", " +
                          std::to_string(stream.channel_count()) + " channels at " + rate + " Hz"});
  }
  for (const std::string& wanted : source.required_streams) {
    if (std::count(names.begin(), names.end(), wanted) > 0) continue;
    lines->push_back({name, wanted, false, source.required,
                      "the device does not offer this stream" + DidYouMean(wanted, names)});
  }
  for (std::string& warning : source.source->Warnings())
    lines->push_back({name, "", false, false, std::move(warning)});
  std::vector<std::string> sensors;
  for (const recording::ForceSensor& sensor : source.source->ForceSensors())
    sensors.push_back(sensor.name);
  for (const recording::ForceSensor& rig : source.sensor_overrides) {
    if (std::count(sensors.begin(), sensors.end(), rig.name) > 0) continue;
    lines->push_back({name, "", false, source.required,
                      "the rig places a sensor '" + rig.name + "' that the device does not have" +
                          DidYouMean(rig.name, sensors)});
  }
}

Result<std::vector<CheckLine>> SessionRecorder::Check(const std::function<bool()>& cancelled) {
  if (state_ != SessionState::kConfigured && state_ != SessionState::kChecked)
    return WrongState("Check", state_);
  std::vector<Result<std::vector<recording::StreamInfo>>> found(
      feeds_.size(), Error{ErrorCode::kTimeout, "was not asked"});
  {
    // At once: the operator waits for the slowest, not for the sum.
    std::vector<std::thread> probes;
    std::atomic<bool> cancel{false};
    std::atomic<size_t> asked{0};
    for (size_t i = 0; i < feeds_.size(); ++i) {
      probes.emplace_back([this, i, &found, &cancel, &asked] {
        const wire::CancelScope scope(cancel);
        found[i] = feeds_[i]->recorded.source->Probe(options_.probe_timeout);
        ++asked;
      });
    }
    while (cancelled && !cancel && asked < feeds_.size()) {
      cancel = cancelled();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (std::thread& probe : probes) probe.join();
    if (cancel) return Error{ErrorCode::kCancelled, "stopped while the devices were asked"};
  }
  std::vector<CheckLine> lines;
  for (size_t i = 0; i < feeds_.size(); ++i) {
    feeds_[i]->probed = found[i] ? *found[i] : std::vector<recording::StreamInfo>();
    CheckSource(*feeds_[i], found[i], &lines);
  }
  const bool ok = std::all_of(lines.begin(), lines.end(),
                              [](const CheckLine& line) { return line.ok || !line.required; });
  state_ = ok ? SessionState::kChecked : SessionState::kConfigured;
  return lines;
}

std::vector<recording::StreamInfo> SessionRecorder::FoundStreams() const {
  std::vector<recording::StreamInfo> all;
  for (const auto& feed : feeds_) all.insert(all.end(), feed->probed.begin(), feed->probed.end());
  return all;
}

Status SessionRecorder::Arm() {
  if (state_ != SessionState::kChecked) return WrongState("Arm", state_);
  HANDHOLD_TRY(TryToWrite(target_.directory));
  for (const auto& feed : feeds_) feed->Reset(options_.ring + options_.pre_roll, options_.now);
  SetEncoder(std::make_shared<SessionEncoder>(&feeds_, options_, target_.directory));
  for (size_t i = 0; i < feeds_.size(); ++i) {
    Feed& feed = *feeds_[i];
    const Status started = feed.recorded.source->Start(feed.sink.get());
    if (started) continue;
    if (!feed.recorded.required) {
      feed.text = started.error().message;
      continue;
    }
    for (size_t k = 0; k < i; ++k) feeds_[k]->recorded.source->Stop();
    SetEncoder(nullptr);
    return started.error();
  }
  encoder_->Start();
  state_ = SessionState::kArmed;
  return {};
}

Status SessionRecorder::Disarm() {
  if (state_ != SessionState::kArmed) return WrongState("Disarm", state_);
  for (const auto& feed : feeds_) feed->recorded.source->Stop();
  encoder_->Stop();
  SetEncoder(nullptr);
  state_ = SessionState::kChecked;
  return {};
}

std::vector<std::string> SessionRecorder::RequiredStreams(const Feed& feed) {
  std::vector<std::string> names;
  for (const recording::StreamInfo& stream : feed.probed)
    if (feed.Requires(stream.name)) names.push_back(stream.name);
  return names;
}

Status SessionRecorder::Start(recording::ClipInfo info) {
  if (state_ != SessionState::kArmed) return WrongState("Start", state_);
  std::string missing;
  for (const auto& feed : feeds_) {
    const std::string cause = encoder_->NotFlowing(*feed, RequiredStreams(*feed));
    if (!cause.empty()) missing += (missing.empty() ? "" : "; ") + cause;
  }
  if (!missing.empty()) return Error{ErrorCode::kNotFound, "the take cannot start: " + missing};

  const Timestamp pressed = options_.now();
  const Timestamp begin = encoder_->TakeBegin();
  struct Keeping {  // until BeginTake took over, or whatever failed
    SessionEncoder& encoder;
    ~Keeping() { encoder.LetGo(); }
  } const keeping{*encoder_};
  info.host_start_ns = begin.ns();
  info.utc_start = UtcNow() - (options_.now() - begin);
  for (const auto& feed : feeds_) {
    // What this machine granted, for whoever asks later why something was lost.
    const SourceHealth health = feed->recorded.source->Health();
    info.properties["real_time." + feed->name()] = health.real_time ? "granted" : "not granted";
    if (health.receive_buffer_asked == 0) continue;
    info.properties["receive_buffer_bytes." + feed->name()] =
        std::to_string(health.receive_buffer_bytes) + " granted, " +
        std::to_string(health.receive_buffer_asked) + " asked";
  }
  HANDHOLD_ASSIGN(auto placed, target_.new_take(std::move(info)));
  store::ClipWriterOptions write;
  write.vfs = options_.vfs;
  HANDHOLD_ASSIGN(auto writer, store::ClipWriter::Create(placed.second, placed.first, write));
  std::vector<TakeSource> sources;
  for (const auto& feed : feeds_)
    sources.push_back({feed->name(), feed->recorded.delay, feed->recorded.delay_sd});
  const Timestamp end = options_.stop_after > Duration() ? pressed + options_.stop_after : kNever;
  if (Status begun = encoder_->BeginTake(
          std::make_unique<Take>(std::move(writer), std::move(sources), begin, end), placed.second,
          placed.first.name);
      !begun) {
    // No sample is in it: a stub would only be taken for a take that was cut off.
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
      ::unlink((placed.second + suffix).c_str());
    return begun;
  }
  info_ = placed.first;
  path_ = placed.second;
  state_ = SessionState::kRecording;
  return {};
}

Result<TakeResult> SessionRecorder::Stop(const std::function<void(double share)>& storing) {
  if (state_ != SessionState::kRecording) return WrongState("Stop", state_);
  SessionEncoder::Ended ended = encoder_->EndTake(kPatience);
  state_ = SessionState::kStored;
  TakeResult result;
  result.info = info_;
  result.path = path_;
  result.quality = ended.quality;
  result.length = ended.end - ended.take->begin();
  const std::unique_ptr<store::ClipWriter> writer = ended.take->TakeWriter();
  const Status closed = writer->Close(storing);
  result.closed = closed.has_value();
  if (!closed) ended.notes.push_back(closed.error().message);
  if (closed && target_.stored) {
    if (Status stored = target_.stored(result.info, result.path); !stored)
      ended.notes.push_back(stored.error().message);
  }
  Describe(ended, &result);
  state_ = SessionState::kArmed;
  return result;
}

void SessionRecorder::Describe(SessionEncoder::Ended& ended, TakeResult* result) const {
  TakePageInput page;
  // What is on disk is what the page speaks of.
  if (auto clip = store::ClipReader::Open(result->path); clip) {
    result->gaps = (*clip)->gaps();
    page.streams = (*clip)->streams();
    Timestamp last;
    for (const recording::StreamInfo& stream : page.streams)
      last = std::max(last, (*clip)->Extent(stream.id).end);
    for (const recording::Gap& gap : result->gaps) last = std::max(last, gap.clip_end);
    result->length = last - Timestamp();
  } else {
    ended.notes.push_back(clip.error().message);
    result->readable = false;
    result->quality.keep = false;
    result->quality.advice = "The clip cannot be read back: " + clip.error().message;
  }
  page.take = result;
  page.figures = ended.figures;
  page.clocks = ended.take->clocks();
  page.sources = ended.sources;
  page.notes = ended.notes;
  result->page = TakePage(page);
}

HealthSnapshot SessionRecorder::Health() const {
  HealthSnapshot snapshot;
  if (const auto encoder = Encoder()) {
    snapshot = encoder->Health();
  } else {
    snapshot.host = options_.now();
    for (const auto& feed : feeds_)
      snapshot.sources.push_back({feed->name(), false, feed->recorded.required, ""});
  }
  snapshot.state = state_;
  return snapshot;
}

}  // namespace

std::string_view SessionStateName(SessionState state) {
  switch (state) {
    case SessionState::kConfigured:
      return "configured";
    case SessionState::kChecked:
      return "checked";
    case SessionState::kArmed:
      return "armed";
    case SessionState::kRecording:
      return "recording";
    case SessionState::kStored:
      return "stored";
  }
  return "?";
}

Result<std::unique_ptr<Recorder>> Recorder::Make(std::vector<RecordedSource> sources,
                                                 TakeTarget target, RecorderOptions options) {
  if (sources.empty())
    return Error{ErrorCode::kInvalid, "a session without sources: name at least one in the rig"};
  if (!target.new_take) return Error{ErrorCode::kInvalid, "a session needs a place for its takes"};
  if (options.ring <= Duration() || options.pre_roll < Duration() ||
      options.stop_after < Duration())
    return Error{ErrorCode::kInvalid,
                 "ring must be positive, pre_roll and stop_after not negative"};
  std::set<std::string> names;
  for (const RecordedSource& source : sources) {
    CHECK(source.source != nullptr);
    if (!names.insert(source.source->name()).second) {
      return Error{ErrorCode::kInvalid,
                   "two sources are called '" + source.source->name() + "': rename one in the rig"};
    }
  }
  return std::unique_ptr<Recorder>(
      std::make_unique<SessionRecorder>(std::move(sources), std::move(target), std::move(options)));
}

}  // namespace handhold::capture
