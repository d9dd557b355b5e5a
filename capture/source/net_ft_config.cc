#include "capture/source/net_ft_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "capture/wire/rdt.h"
#include "database/base/units.h"

namespace handhold::capture {
namespace {

struct Unit {
  std::string_view name;
  double si;
};
constexpr Unit kForceUnits[] = {
    {"N", 1.0},
    {"kN", 1e3},
    {"lbf", PoundsForceToNewtons(1.0)},
    {"lb", PoundsForceToNewtons(1.0)},
    {"klbf", PoundsForceToNewtons(1e3)},
    {"klb", PoundsForceToNewtons(1e3)},
    {"kgf", KilogramsForceToNewtons(1.0)},
    {"kg", KilogramsForceToNewtons(1.0)},
};
constexpr Unit kTorqueUnits[] = {
    {"Nm", 1.0},
    {"N-m", 1.0},
    {"Nmm", NewtonMillimetresToNewtonMetres(1.0)},
    {"N-mm", NewtonMillimetresToNewtonMetres(1.0)},
    {"kNm", 1e3},
    {"kN-m", 1e3},
    {"lbf-in", PoundForceInchesToNewtonMetres(1.0)},
    {"lb-in", PoundForceInchesToNewtonMetres(1.0)},
    {"lbf-ft", PoundForceFeetToNewtonMetres(1.0)},
    {"lb-ft", PoundForceFeetToNewtonMetres(1.0)},
    {"kg-cm", KilogramForceCentimetresToNewtonMetres(1.0)},
    {"kgf-cm", KilogramForceCentimetresToNewtonMetres(1.0)},
};

constexpr size_t kMaxTagText = 256;

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Text between <tag> and </tag>, first occurrence; null data when there is none.
std::string_view Tag(std::string_view xml, std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">";
  const std::string close = "</" + std::string(tag) + ">";
  const size_t begin = xml.find(open);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = xml.substr(begin + open.size());
  const size_t end = rest.find(close);
  if (end == std::string_view::npos || end > kMaxTagText) return {};
  return Trim(rest.substr(0, end));
}

Error Bad(std::string_view tag, const std::string& what) {
  return {ErrorCode::kCorrupt, "netftapi2.xml: " + std::string(tag) + " " + what};
}

Result<double> Number(std::string_view xml, std::string_view tag, double low, double high) {
  const std::string_view text = Tag(xml, tag);
  if (text.empty()) return Bad(tag, "is missing");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= low) ||
      !(value <= high)) {
    return Bad(tag, "is '" + std::string(text) + "', which is no number this sensor can have");
  }
  return value;
}

template <size_t n>
Result<double> SiOf(std::string_view tag, std::string_view unit, const Unit (&units)[n]) {
  for (const Unit& known : units) {
    if (known.name == unit) return known.si;
  }
  std::string all;
  for (const Unit& known : units) all += " " + std::string(known.name);
  return Bad(tag, "is '" + std::string(unit) + "', an unknown unit; known:" + all);
}

}  // namespace

Result<NetFtConfig> ParseNetFtConfig(std::string_view xml) {
  NetFtConfig config;
  HANDHOLD_ASSIGN(config.counts_per_force_unit, Number(xml, "cfgcpf", 1e-3, 1e12));
  HANDHOLD_ASSIGN(config.counts_per_torque_unit, Number(xml, "cfgcpt", 1e-3, 1e12));
  config.force_unit = Tag(xml, "scfgfu");
  config.torque_unit = Tag(xml, "scfgtu");
  HANDHOLD_ASSIGN(const double newtons, SiOf("scfgfu", config.force_unit, kForceUnits));
  HANDHOLD_ASSIGN(const double newton_metres, SiOf("scfgtu", config.torque_unit, kTorqueUnits));
  config.newtons_per_count = newtons / config.counts_per_force_unit;
  config.newton_metres_per_count = newton_metres / config.counts_per_torque_unit;
  HANDHOLD_ASSIGN(config.rate_hz, Number(xml, "comrdtrate", 1, 8000));
  if (!Tag(xml, "comrdtbsiz").empty()) {
    HANDHOLD_ASSIGN(const double size,
                    Number(xml, "comrdtbsiz", 1, wire::rdt::kMaxRecordsPerDatagram));
    config.records_per_datagram = static_cast<int>(size);
  }
  config.product = Tag(xml, "prodname");
  config.serial = Tag(xml, "setserial");
  return config;
}

Result<std::string_view> HttpBody(std::string_view response) {
  const std::string_view status = response.substr(0, response.find("\r\n"));
  if (!status.starts_with("HTTP/1.") || status.size() < 12) {
    return Error{ErrorCode::kCorrupt, "the answer is not HTTP"};
  }
  const std::string_view code = status.substr(9, 3);
  if (code != "200" && code != "302") {
    return Error{ErrorCode::kNotFound, "HTTP status " + std::string(code)};
  }
  const size_t end = response.find("\r\n\r\n");
  if (end == std::string_view::npos)
    return Error{ErrorCode::kCorrupt, "the answer ends within its headers"};
  return response.substr(end + 4);
}

Result<std::string> HttpGet(const wire::Address& address, std::string_view path,
                            Timestamp deadline) {
  const std::string what = "GET " + address.ToString() + std::string(path);
  auto stream = wire::TcpStream::Connect(address, deadline);
  if (!stream) return stream.error().Within(what);
  const std::string request = "GET " + std::string(path) +
                              " HTTP/1.0\r\nHost: " + address.ToString() +
                              "\r\nConnection: close\r\n\r\n";
  if (stream->Write({reinterpret_cast<const uint8_t*>(request.data()), request.size()}, deadline)
          .status != wire::IoStatus::kOk) {
    return Error{ErrorCode::kIo, what + ": the device closed the connection"};
  }
  std::string response;
  std::array<uint8_t, 4096> buffer{};
  for (;;) {
    const wire::IoResult got = stream->Read(buffer, deadline);
    if (got.status == wire::IoStatus::kClosed) break;
    if (got.status != wire::IoStatus::kOk) {
      return Error{ErrorCode::kTimeout, what + ": the device did not finish its answer in time"};
    }
    response.append(reinterpret_cast<const char*>(buffer.data()), got.bytes);
    if (response.size() > wire::rdt::kMaxHttpBytes) {
      return Error{ErrorCode::kCorrupt, what + ": the answer is longer than any Net F/T's page"};
    }
  }
  const auto body = HttpBody(response);
  if (!body) return body.error().Within(what);
  return std::string(*body);
}

Result<NetFtConfig> DiscoverNetFt(const wire::Address& http, Timestamp deadline) {
  HANDHOLD_ASSIGN(const std::string xml, HttpGet(http, wire::rdt::kConfigPath, deadline));
  auto config = ParseNetFtConfig(xml);
  if (!config) return config.error().Within(http.ToString());
  return config;
}

}  // namespace handhold::capture
