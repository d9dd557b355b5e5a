#include "database/base/log.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <mutex>

#include "database/base/time.h"
#include "database/base/utf8.h"

namespace handhold {
namespace {

std::atomic<LogLevel> g_level = LogLevel::kWarning;
std::atomic<LogFormat> g_format = LogFormat::kText;
std::mutex g_sink_mutex;

std::function<void(std::string_view)>& Sink() {
  static auto* sink = new std::function<void(std::string_view)>;  // never destroyed: threads may
                                                                  // log at exit
  return *sink;
}

void AppendEscaped(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const size_t length = Utf8Length(text, at);
    if (length == 2 && static_cast<uint8_t>(c) == 0xC2 &&
        static_cast<uint8_t>(text[at + 1]) < 0xA0) {
      // U+0080 to U+009F: terminals take some of them for the beginning of a command.
      const auto control = static_cast<uint8_t>(text[++at]);
      out += "\\u00";
      out += kHex[control >> 4];
      out += kHex[control & 15];
    } else if (length != 1) {
      out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(at, length);
      if (length > 1) at += length - 1;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7F) {
      out += "\\u00";
      out += kHex[(c >> 4) & 15];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  AppendEscaped(text, out);
  out += '"';
}

bool ReadsAsOneWord(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F || c == '"' || c == '\\' || c == '=')
      return false;
  }
  return true;
}

void WriteToStderr(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

std::string_view LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "unknown";
}

LogField::LogField(std::string_view name, double value) : key(name), quoted(!std::isfinite(value)) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  text.assign(buffer, end);
}

void SetLogLevel(LogLevel level) { g_level = level; }
void SetLogFormat(LogFormat format) { g_format = format; }
LogLevel log_level() { return g_level; }

void SetLogSink(std::function<void(std::string_view)> sink) {
  const std::lock_guard lock(g_sink_mutex);
  Sink() = std::move(sink);
}

std::string FormatLogLine(LogFormat format, int64_t utc_ns, LogLevel level, std::string_view event,
                          std::initializer_list<LogField> fields) {
  const std::string time = FormatUtc(Timestamp::FromNanoseconds(utc_ns));
  std::string out;
  if (format == LogFormat::kJson) {
    out = "{\"time\":\"" + time + "\",\"level\":\"" + std::string(LogLevelName(level)) +
          "\",\"event\":";
    AppendQuoted(event, out);
    for (const LogField& field : fields) {
      out += ',';
      AppendQuoted(field.key, out);
      out += ':';
      if (field.quoted) {
        AppendQuoted(field.text, out);
      } else {
        out += field.text;
      }
    }
    return out + "}";
  }
  out = time.substr(0, 23) + "Z " + std::string(LogLevelName(level)) + " ";
  AppendEscaped(event, out);
  for (const LogField& field : fields) {
    out += ' ';
    out += field.key;
    out += '=';
    if (field.quoted && !ReadsAsOneWord(field.text)) {
      AppendQuoted(field.text, out);
    } else {
      out += field.text;
    }
  }
  return out;
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (level < g_level.load()) return;
  const std::string line = FormatLogLine(g_format, UtcNow().ns(), level, event, fields);
  const std::lock_guard lock(g_sink_mutex);
  if (Sink()) {
    Sink()(line);
  } else {
    WriteToStderr(line + "\n");
  }
}

}  // namespace handhold
