#include "tools/handhold/frame/progress.h"

#include <algorithm>
#include <cmath>

#include "database/text/json.h"

namespace handhold::cli {
namespace {

constexpr Duration kRedraw = Duration::Milliseconds(200);
/// Of less than this no rate can be told: what was done before the first look is no measure.
constexpr Duration kLeastRated = Duration::Milliseconds(500);

}  // namespace

std::string FormatClock(Duration d) {
  const int64_t seconds = std::max<int64_t>(0, d.ns() / 1'000'000'000);
  char out[48];
  if (seconds >= 3600) {
    std::snprintf(out, sizeof out, "%lld:%02lld:%02lld", static_cast<long long>(seconds / 3600),
                  static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
  } else {
    std::snprintf(out, sizeof out, "%lld:%02lld", static_cast<long long>(seconds / 60),
                  static_cast<long long>(seconds % 60));
  }
  return out;
}

Progress::Progress(FILE* err, ProgressMode mode, std::function<Timestamp()> now)
    : err_(err), mode_(mode), now_(std::move(now)) {}

Progress::~Progress() { End(); }

void Progress::Begin(std::string what, int64_t total, std::string unit) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  unit_ = std::move(unit);
  total_ = total;
  done_ = 0;
  begin_ = now_();
  drawn_ = begin_ - kRedraw;
  active_ = true;
}

void Progress::Update(int64_t done) {
  const std::lock_guard lock(mutex_);
  if (!active_) return;
  done_ = done;
  if (now_() - drawn_ >= kRedraw) Draw(false);
}

void Progress::End() {
  const std::lock_guard lock(mutex_);
  if (!active_) return;
  active_ = false;
  if (mode_ == ProgressMode::kJson) Draw(true);
  if (line_shown_) std::fputs("\r\x1b[K", err_);
  line_shown_ = false;
  std::fflush(err_);
}

void Progress::Note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (quiet_) return;
  if (line_shown_) std::fputs("\r\x1b[K", err_);
  line_shown_ = false;
  std::fprintf(err_, "%.*s\n", static_cast<int>(text.size()), text.data());
  if (active_ && mode_ == ProgressMode::kLine) Draw(false);
}

void Progress::Draw(bool last) {
  if (mode_ == ProgressMode::kOff || quiet_) return;
  drawn_ = now_();
  const double elapsed_s = (drawn_ - begin_).seconds();
  const bool rated = drawn_ - begin_ >= kLeastRated && done_ > 0;
  const double rate = rated ? static_cast<double>(done_) / elapsed_s : 0;
  const bool bounded = rated && total_ > 0 && !last;
  const double left_s =
      bounded ? std::clamp(static_cast<double>(total_ - done_) / rate, 0.0, 3.6e8) : 0;
  if (mode_ == ProgressMode::kJson) {
    text::Json json =
        text::Json::Object({{"progress", what_}, {"done", done_}, {"unit", unit_}, {"last", last}});
    if (total_ > 0) json.Set("total", total_);
    if (rated) json.Set("rate_per_s", rate);
    if (bounded) json.Set("left_ns", std::to_string(Duration::FromSeconds(left_s).ns()));
    const Result<std::string> text = text::WriteJson(json);
    if (text) std::fprintf(err_, "%s\n", text->c_str());
    return;
  }
  std::string line = what_ + "  " + std::to_string(done_);
  if (total_ > 0) line += " of " + std::to_string(total_);
  line += " " + unit_ + (total_ == 1 || unit_ == "%" ? "" : "s");
  if (rated) {
    char text[48];
    std::snprintf(text, sizeof text, "  %.3g/s", rate);
    line += text;
  }
  if (bounded) line += "  " + FormatClock(Duration::FromSeconds(left_s)) + " left";
  std::fprintf(err_, "\r\x1b[K%s", line.c_str());
  std::fflush(err_);
  line_shown_ = true;
}

}  // namespace handhold::cli
