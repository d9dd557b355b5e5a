#include "tools/handhold/verb.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "database/base/check.h"
#include "database/base/names.h"
#include "tools/handhold/frame/interrupt.h"

namespace handhold::cli {
namespace {

const Arguments::Value& Find(const Arguments& arguments, std::string_view name) {
  const auto found = arguments.values.find(name);
  if (found == arguments.values.end())
    CheckFailed(__FILE__, __LINE__,
                "a verb asked for an argument it does not describe:", std::string(name));
  return found->second;
}

template <typename T>
T Read(const Arguments::Value& value) {
  CHECK(!value.texts.empty());
  T out{};
  const std::string& text = value.texts.back();
  CHECK(std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc{});
  return out;
}

}  // namespace

std::string Range::Text() const {
  const auto shown = [this](double value) {
    char digits[400];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed).ptr;
    return std::string(digits, end) + unit;
  };
  const std::string upper = std::isfinite(most) ? shown(most) : "";
  if (!std::isfinite(least)) return upper.empty() ? "" : "at most " + upper;
  if (above) return "above " + shown(least) + (upper.empty() ? "" : ", at most " + upper);
  if (upper.empty()) return "at least " + shown(least);
  return shown(least).substr(0, shown(least).size() - unit.size()) + " to " + upper;
}

Outcome Outcome::Loss(std::string what) {
  Outcome out;
  out.kind_ = Kind::kLoss;
  out.error_.message = std::move(what);
  return out;
}

Outcome Outcome::FromIssues(const Issues& issues) {
  Outcome out;
  out.kind_ = AnyLoss(issues) ? Kind::kLoss : Kind::kDone;
  for (const Issue& issue : issues) {
    // Of a run that is done, "note" is what all of it is called.
    const std::string severity =
        issue.severity == Severity::kNote ? "" : std::string(SeverityName(issue.severity)) + ": ";
    out.error_.message +=
        (out.error_.message.empty() ? "" : "\n") + severity + issue.where + ": " + issue.what;
  }
  return out;
}

Outcome Outcome::Usage(std::string message) {
  Outcome out;
  out.kind_ = Kind::kUsage;
  out.error_ = {ErrorCode::kInvalid, std::move(message)};
  return out;
}

Outcome::Outcome(Error error) : kind_(Kind::kFailed), error_(std::move(error)) {}

bool Arguments::Flag(std::string_view name) const { return Find(*this, name).given; }
bool Arguments::Has(std::string_view name) const { return Find(*this, name).given; }

bool Arguments::Typed(std::string_view name) const {
  const Value& value = Find(*this, name);
  return value.given && !value.from_environment;
}

std::string Arguments::Text(std::string_view name) const {
  const Value& value = Find(*this, name);
  return value.texts.empty() ? "" : value.texts.back();
}

std::vector<std::string> Arguments::All(std::string_view name) const {
  return Find(*this, name).texts;
}
double Arguments::Number(std::string_view name) const { return Read<double>(Find(*this, name)); }
int64_t Arguments::Integer(std::string_view name) const { return Read<int64_t>(Find(*this, name)); }

Duration Arguments::Time(std::string_view name) const {
  CHECK(!Find(*this, name).texts.empty());
  return ParseDuration(Text(name)).value();
}

bool Context::interrupted() const { return Interrupted(); }

std::function<bool(double, std::string_view)> Context::StepProgress(std::string what) {
  progress.Begin(what, 100, "%");
  // "regrasp: trying poses": what a step is at stands after its name.
  return [this, what, said = std::string()](double fraction, std::string_view doing) mutable {
    const size_t at = doing.find(": ");
    const std::string part(at == std::string_view::npos ? "" : doing.substr(at + 2));
    if (part != said) {
      said = part;
      progress.Begin(part.empty() ? what : what + ": " + part, 100, "%");
    }
    progress.Update(std::llround(std::clamp(fraction, 0.0, 1.0) * 100));
    return !interrupted();
  };
}

Option LibraryOption() {
  return {.name = "--library",
          .value_name = "DIR",
          .help = "the library's folder",
          .kind = ValueKind::kPath,
          .fallback = ".",
          .environment = "HANDHOLD_LIBRARY"};
}

Result<Duration> ParseDuration(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  static const std::map<std::string, double, std::less<>> kUnits = {
      {"", 1.0},  {"ns", 1e-9},  {"us", 1e-6}, {"ms", 1e-3},
      {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}};
  const std::string shown = "'" + std::string(text.substr(0, 60)) + "'";
  if (error != std::errc{} || !std::isfinite(number))
    return Error{ErrorCode::kInvalid, "expected a time as 1.25s or 200ms, found " + shown};
  const std::string_view name = text.substr(static_cast<size_t>(end - text.data()));
  const auto unit = kUnits.find(name);
  if (unit == kUnits.end()) {
    std::vector<std::string> names = {"ns", "us", "ms", "s", "min", "h"};
    return Error{ErrorCode::kInvalid, "unknown unit of time in " + shown + DidYouMean(name, names)};
  }
  // Division for the small units: 200 / 1000 is the double nearest to 0.2, 200 * 1e-3 need not be.
  const double seconds =
      unit->second < 1 ? number / std::round(1 / unit->second) : number * unit->second;
  if (std::abs(seconds) >= 9.2e9)
    return Error{ErrorCode::kInvalid, "a time of more than 292 years: " + shown};
  return Duration::FromSeconds(seconds);
}

}  // namespace handhold::cli
