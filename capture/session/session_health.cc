// The looking half of SessionEncoder: figures, ages, disk, and what a person sees of them.
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "capture/session/session_encoder.h"

namespace handhold::capture {
namespace {

/// Of the fullest ring, while the file cannot be written: the rest is for what comes while the take
/// ends.
constexpr double kMostFillInTrouble = 0.75;

/// "the take ends in about 7 s": the rings fill as they did since the trouble began.
std::string TimeLeft(double fill, Duration in_trouble) {
  if (in_trouble < Duration::Seconds(1) || fill <= 0.0) return "";
  const double left_s = std::max(0.0, kMostFillInTrouble / fill - 1.0) * in_trouble.seconds();
  if (left_s > 3600) return "";
  return "the take ends in about " + std::to_string(std::lround(left_s)) + " s: ";
}

int64_t FileBytes(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

int64_t FreeBytes(const std::string& path) {
  struct statvfs info;
  std::string at = path;
  while (!at.empty() && ::statvfs(at.c_str(), &info) != 0)
    at = std::filesystem::path(at).parent_path().string();
  if (at.empty()) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

}  // namespace

SourceHealth SessionEncoder::Since(const SourceHealth& now, const SourceHealth& then) {
  SourceHealth out = now;
  out.packets -= then.packets;
  out.lost_samples -= then.lost_samples;
  out.kernel_drops -= then.kernel_drops;
  out.bad_packets -= then.bad_packets;
  out.duplicates -= then.duplicates;
  out.late_packets -= then.late_packets;
  out.saturated_samples -= then.saturated_samples;
  out.clock_resets -= then.clock_resets;
  out.reconnects -= then.reconnects;
  return out;
}

void SessionEncoder::PublishFigures() {
  figures_made_ = HostNow();
  Published out;
  for (const auto& feed : feeds_) {
    std::vector<recording::StreamInfo> streams;
    for (const auto& [name, meter] : feed->meters) {
      out.streams.push_back(
          {meter->Figures(), meter->Newest(), feed->index, feed->newest_number.at(name)});
      out.streams.back().figures.required = feed->Requires(name);
      streams.push_back(meter->info());
    }
    out.nominal_bytes_per_second += RingBytesPerSecond(streams);
    out.states.emplace_back(feed->connected, feed->text);
    out.armed_at.push_back(feed->armed_at);
  }
  if (take_) {
    out.in_take = true;
    out.durable_age = take_->durable_age();
    out.take_begin = take_->begin();
    out.take_end = take_->end();
  }
  const std::lock_guard lock(published_mutex_);
  published_ = std::move(out);
}

// Closing writes a second, compacted file beside the first: what is free must hold both.
double SessionEncoder::DiskLeft_s(const std::string& path, double bytes_per_second,
                                  int64_t bytes) const {
  const int64_t free = options_.free_bytes ? options_.free_bytes(path) : FreeBytes(path);
  if (free == std::numeric_limits<int64_t>::max() || bytes_per_second <= 0) return 1e9;
  return std::clamp(static_cast<double>(free - bytes) / (2 * bytes_per_second), 0.0, 1e9);
}

void SessionEncoder::Judge(Timestamp now) {
  Published seen;
  std::string trouble, name, path;
  Timestamp trouble_since;
  {
    const std::lock_guard lock(published_mutex_);
    seen = published_;
    trouble = trouble_;
    trouble_since = trouble_since_;
    name = take_name_;
    path = path_;
  }
  const Timestamp clip =
      seen.in_take ? Timestamp::FromNanoseconds((now - seen.take_begin).ns()) : Timestamp();
  const int64_t bytes = path.empty() ? 0 : FileBytes(path) + FileBytes(path + "-wal");
  double rate = 0.5 * seen.nominal_bytes_per_second;  // a guess, on the large side
  if (const double elapsed = (now - seen.take_begin).seconds(); seen.in_take && elapsed > 2)
    rate = static_cast<double>(bytes) / elapsed;

  const std::lock_guard lock(health_mutex_);
  snapshot_.newest.clear();
  for (const Published::Stream& s : seen.streams) {
    const Feed& feed = *feeds_[s.feed];
    int64_t newest = feed.sink->newest_host_ns(s.number);
    if (newest == 0) newest = std::max(seen.armed_at[s.feed], seen.take_begin).ns();
    const double age_s = 1e-9 * static_cast<double>(now.ns() - newest);
    board_.JudgeStream(s.figures, std::max(0.0, age_s), clip);
    snapshot_.newest.push_back(s.newest);
    snapshot_.newest.back().age_s = std::max(0.0, age_s);
  }
  double fullest = 0.0;
  for (const auto& feed : feeds_) {
    const double fill = feed->sink->TakeFullest();
    fullest = std::max(fullest, fill);
    board_.JudgeRing(feed->name(), fill, clip);
  }
  fullest_ = fullest;
  const std::string at = path.empty() ? directory_ : path;
  if (!at.empty()) board_.JudgeDisk(DiskLeft_s(at, rate, seen.in_take ? bytes : 0), clip);

  HealthSnapshot& out = snapshot_;
  out.host = now;
  out.recorded = seen.in_take ? std::min(now, seen.take_end) - seen.take_begin : Duration();
  out.durable_age = seen.durable_age;
  out.bytes = bytes;
  out.take = name;
  out.trouble = trouble.empty() ? "" : TimeLeft(fullest, now - trouble_since) + trouble;
  out.sources.clear();
  for (const auto& feed : feeds_) {
    const auto [connected, text] = feed->index < seen.states.size()
                                       ? seen.states[feed->index]
                                       : std::pair<bool, std::string>(false, "");
    out.sources.push_back({feed->name(), connected, feed->recorded.required, text});
  }
  out.clocks.clear();
  for (const Published::Stream& s : seen.streams)
    if (s.figures.clock_known)
      out.clocks.push_back({s.figures.stream, s.figures.clock_uncertainty_s});
  out.items = board_.items();
}

HealthSnapshot SessionEncoder::Health() const {
  const std::lock_guard lock(health_mutex_);
  return snapshot_;
}

void SessionEncoder::Acknowledge() {
  const std::lock_guard lock(health_mutex_);
  board_.Acknowledge();
  snapshot_.items = board_.items();
}

bool SessionEncoder::wants_stop() const {
  const Timestamp now = options_.now();
  const std::lock_guard lock(published_mutex_);
  if (!published_.in_take) return false;
  return now >= published_.take_end || (!trouble_.empty() && fullest_ >= kMostFillInTrouble);
}

std::string SessionEncoder::NotFlowing(const Feed& feed, const std::vector<std::string>& names) {
  const std::lock_guard lock(work_);
  const Timestamp now = options_.now();
  std::string missing;
  for (const std::string& name : names) {
    const auto number = feed.newest_number.find(name);
    bool flows = false;
    if (number != feed.newest_number.end()) {
      const double rate = feed.meters.at(name)->info().rate.hz();
      const double limit = std::max(options_.limits.last_sample_age_s, rate > 0 ? 3.0 / rate : 1e9);
      const int64_t newest = feed.sink->newest_host_ns(number->second);
      flows = newest > 0 && 1e-9 * static_cast<double>(now.ns() - newest) <= limit;
    }
    if (!flows) missing += (missing.empty() ? "" : ", ") + name;
  }
  if (missing.empty()) return "";
  return missing + (missing.find(',') == std::string::npos ? " does" : " do") + " not flow" +
         (feed.text.empty() ? "" : " (" + feed.text + ")");
}

}  // namespace handhold::capture
