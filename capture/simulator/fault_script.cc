#include "capture/simulator/fault_script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "database/base/names.h"

namespace handhold::capture {
namespace {

constexpr std::array<std::pair<FaultKind, std::string_view>, 11> kNames{{
    {FaultKind::kStall, "stall"},
    {FaultKind::kHold, "hold"},
    {FaultKind::kLose, "lose"},
    {FaultKind::kDuplicate, "duplicate"},
    {FaultKind::kRestart, "restart"},
    {FaultKind::kDisconnect, "disconnect"},
    {FaultKind::kOcclude, "occlude"},
    {FaultKind::kSwap, "swap"},
    {FaultKind::kGhost, "ghost"},
    {FaultKind::kHideSubject, "hide"},
    {FaultKind::kSaturate, "saturate"},
}};

/// The words of one line, taken one by one; after the first failure every answer is a default and
/// the error stays.
class Words {
 public:
  Words(std::string_view line, int number) : rest_(line), number_(number) {}

  std::string_view Next() {
    const size_t begin = rest_.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return rest_ = {};
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r"));
    rest_.remove_prefix(word.size());
    return word;
  }
  bool AtEnd() const { return rest_.find_first_not_of(" \t\r") == std::string_view::npos; }

  void Expect(std::string_view wanted) {
    const std::string_view got = Next();
    if (got != wanted)
      Fail("expected '" + std::string(wanted) + "', found '" + std::string(got) + "'");
  }
  int Integer() {
    const std::string_view word = Next();
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 0 ||
        value > 1'000'000) {
      Fail("expected a whole number, found '" + std::string(word) + "'");
      return 0;
    }
    return value;
  }
  Duration Time() {
    const std::string_view word = Next();
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !(value >= 0) || value > 1e6) {
      Fail("expected a time, found '" + std::string(word) + "'");
      return {};
    }
    const std::string_view unit = Next();
    if (unit == "s") return Duration::FromSeconds(value);
    if (unit == "ms") return Duration::FromSeconds(value * 1e-3);
    if (unit == "us") return Duration::FromSeconds(value * 1e-6);
    Fail("expected s, ms or us after " + std::string(word) + ", found '" + std::string(unit) + "'");
    return {};
  }
  void Fail(const std::string& what) {
    if (!error_) {
      error_ =
          Error{ErrorCode::kInvalid, "fault script line " + std::to_string(number_) + ": " + what};
    }
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view rest_;
  int number_;
  std::optional<Error> error_;
};

Fault ParseFault(Words& words) {
  Fault fault;
  words.Expect("at");
  fault.at = words.Time();
  const std::string_view name = words.Next();
  const auto* known =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& n) { return n.second == name; });
  if (known == kNames.end()) {
    std::vector<std::string> names;
    for (const auto& [kind, known_name] : kNames) names.emplace_back(known_name);
    words.Fail("unknown fault '" + std::string(name) + "'" + DidYouMean(std::string(name), names));
    return fault;
  }
  fault.kind = known->first;
  if (fault.kind == FaultKind::kLose || fault.kind == FaultKind::kDuplicate) {
    fault.count = words.Integer();
    return fault;
  }
  fault.length = words.Time();
  if (fault.kind == FaultKind::kOcclude) {
    words.Expect("marker");
    fault.first = words.Integer();
    if (!words.AtEnd()) fault.count = words.Integer();
  } else if (fault.kind == FaultKind::kSwap) {
    words.Expect("markers");
    fault.first = words.Integer();
    fault.second = words.Integer();
  } else if (fault.kind == FaultKind::kGhost) {
    fault.count = words.Integer();
  } else if (fault.kind == FaultKind::kHideSubject) {
    words.Expect("subject");
    fault.first = words.Integer();
  }
  return fault;
}

/// First index at or after `t`; a time meant to fall on a sample does, in spite of rounding.
int64_t IndexAtOrAfter(Duration t, double rate_hz) {
  return static_cast<int64_t>(std::ceil(t.seconds() * rate_hz - 1e-6));
}

}  // namespace

std::string_view FaultKindName(FaultKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "unknown";
}

Result<std::vector<Fault>> ParseFaultScript(std::string_view text) {
  std::vector<Fault> faults;
  int number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    Words words(line, ++number);
    if (words.AtEnd()) continue;
    const Fault fault = ParseFault(words);
    if (!words.AtEnd()) words.Fail("unexpected '" + std::string(words.Next()) + "' at the end");
    if (words.error()) return *words.error();
    faults.push_back(fault);
  }
  return faults;
}

FaultTimeline::FaultTimeline(std::span<const Fault> faults, double rate_hz) {
  for (const Fault& fault : faults) {
    const int64_t begin = IndexAtOrAfter(fault.at, rate_hz);
    const bool counted = fault.kind == FaultKind::kLose || fault.kind == FaultKind::kDuplicate;
    const int64_t end =
        counted ? begin + fault.count : IndexAtOrAfter(fault.at + fault.length, rate_hz);
    spans_.push_back({fault, {begin, end}});
    if (fault.kind == FaultKind::kStall || fault.kind == FaultKind::kLose)
      missing_.push_back({begin, end});
  }
  std::sort(missing_.begin(), missing_.end(),
            [](const IndexRange& a, const IndexRange& b) { return a.begin < b.begin; });
  std::vector<IndexRange> merged;
  for (const IndexRange& range : missing_) {
    if (range.count() <= 0) continue;
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  missing_ = std::move(merged);
}

const FaultTimeline::Span* FaultTimeline::Within(FaultKind kind, int64_t i) const {
  for (const Span& span : spans_) {
    if (span.fault.kind == kind && span.range.Contains(i)) return &span;
  }
  return nullptr;
}

bool FaultTimeline::Missing(int64_t i) const {
  return std::any_of(missing_.begin(), missing_.end(),
                     [&](const IndexRange& r) { return r.Contains(i); });
}

int64_t FaultTimeline::SendIndex(int64_t i) const {
  const Span* hold = Within(FaultKind::kHold, i);
  return hold != nullptr ? hold->range.end : i;
}

bool FaultTimeline::Occluded(int64_t i, int marker) const {
  return std::any_of(spans_.begin(), spans_.end(), [&](const Span& s) {
    return s.fault.kind == FaultKind::kOcclude && s.range.Contains(i) && marker >= s.fault.first &&
           marker < s.fault.first + s.fault.count;
  });
}

int FaultTimeline::SwappedWith(int64_t i, int marker) const {
  for (const Span& span : spans_) {
    if (span.fault.kind != FaultKind::kSwap || !span.range.Contains(i)) continue;
    if (marker == span.fault.first) return span.fault.second;
    if (marker == span.fault.second) return span.fault.first;
  }
  return marker;
}

int FaultTimeline::Ghosts(int64_t i) const {
  int count = 0;
  for (const Span& span : spans_) {
    if (span.fault.kind == FaultKind::kGhost && span.range.Contains(i)) count += span.fault.count;
  }
  return count;
}

bool FaultTimeline::Hidden(int64_t i, int subject) const {
  return std::any_of(spans_.begin(), spans_.end(), [&](const Span& s) {
    return s.fault.kind == FaultKind::kHideSubject && s.range.Contains(i) &&
           s.fault.first == subject;
  });
}

const IndexRange* FaultTimeline::Away(int64_t i) const {
  const Span* span = Within(FaultKind::kRestart, i);
  if (span == nullptr) span = Within(FaultKind::kDisconnect, i);
  return span != nullptr ? &span->range : nullptr;
}

int64_t FaultTimeline::CounterBase(int64_t i) const {
  int64_t base = 0;
  for (const Span& span : spans_) {
    if (span.fault.kind == FaultKind::kRestart && span.range.end <= i)
      base = std::max(base, span.range.end);
  }
  return base;
}

}  // namespace handhold::capture
