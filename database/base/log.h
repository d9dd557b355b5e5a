/// Structured log lines on stderr: one line per event, with an event name and named values, for
/// people or for programs.
///
///   Log(LogLevel::kWarning, "stream.late", {{"stream", "netft"}, {"age_ms", 412}});
///   -> 2026-11-18T11:26:03.123Z warning stream.late stream=netft age_ms=412
///
/// Results never go here and log lines never go to stdout. Not for the 500 Hz path: it allocates
/// and locks.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace handhold {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

std::string_view LogLevelName(LogLevel level);

/// One named value of a log line.
struct LogField {
  LogField(std::string_view name, std::string_view value) : key(name), text(value), quoted(true) {}
  LogField(std::string_view name, const char* value) : LogField(name, std::string_view(value)) {}
  LogField(std::string_view name, const std::string& value)
      : LogField(name, std::string_view(value)) {}
  template <std::same_as<bool> B>
  LogField(std::string_view name, B value) : key(name), text(value ? "true" : "false") {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  LogField(std::string_view name, I value) : key(name), text(std::to_string(value)) {}
  LogField(std::string_view name, double value);  ///< shortest text that reads back; NaN and
                                                  ///< infinities as strings

  std::string_view key;  ///< must outlive the call of Log
  std::string text;
  bool quoted = false;  ///< a string rather than a number or boolean
};

/// kText is for people, kJson is one object per line: {"time":...,"level":...,"event":...,FIELDS}.
enum class LogFormat { kText, kJson };

/// What is written: events at `level` and above. Default: warnings and errors, as text.
/// Thread-safe.
void SetLogLevel(LogLevel level);
void SetLogFormat(LogFormat format);
LogLevel log_level();

/// Writes one line, at once and whole, to stderr. Thread-safe. Control characters in values are
/// escaped: a device's name cannot forge a second line.
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

/// The line without its newline. `utc_ns`: nanoseconds since 1970 UTC.
std::string FormatLogLine(LogFormat format, int64_t utc_ns, LogLevel level, std::string_view event,
                          std::initializer_list<LogField> fields);

/// Where lines go instead of stderr; nullptr restores stderr. For tests and for the progress line
/// of tools/handhold.
void SetLogSink(std::function<void(std::string_view line)> sink);

}  // namespace handhold
