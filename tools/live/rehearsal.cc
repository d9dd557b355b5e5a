#include "tools/live/rehearsal.h"

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "capture/simulator/device_clock.h"
#include "capture/wire/rdt.h"
#include "capture/wire/resolve.h"
#include "database/base/check.h"
#include "database/base/names.h"
#include "database/base/shell.h"
#include "database/text/file.h"
#include "database/text/json_view.h"

namespace handhold::live {
namespace {

using capture::Fault;
using capture::FaultKind;
using capture::Rig;
using capture::RigSource;
using text::Json;

constexpr double kSwing_s = 0.5;
/// At the end no longer than the hand rests there: what was done before would be done backwards, a
/// touch that nobody made, in a take that is ended a little late.
constexpr double kRest_s = 0.05;
/// What a frame takes from the instant it shows to its arrival, and what the server says of it: the
/// two agree, so that markers and force of one instant are recorded as of one instant.
constexpr Duration kViconLatency = Duration::Milliseconds(2);
/// From the fork to the servers' first sample.
constexpr Duration kForkTime = Duration::Milliseconds(300);
/// What a name server may take.
constexpr Duration kLookUp = Duration::Seconds(5);

const RigSource* FirstOf(const Rig& rig, RigSource::Kind kind) {
  for (const RigSource& source : rig.sources)
    if (source.kind == kind) return &source;
  return nullptr;
}

std::vector<std::string> SourceNames(const Rig& rig) {
  std::vector<std::string> names;
  for (const RigSource& source : rig.sources) names.push_back(source.name);
  return names;
}

Status CheckPlayable(const Rig& rig) {
  std::set<RigSource::Kind> kinds;
  for (const RigSource& source : rig.sources) {
    const std::string where =
        rig.path + ":" + std::to_string(source.line) + ": source '" + source.name + "': ";
    if (source.kind == RigSource::Kind::kPlayback)
      return Error{ErrorCode::kUnsupported, where + "a playback needs no simulator: record it"};
    if (!kinds.insert(source.kind).second) {
      return Error{ErrorCode::kUnsupported, where + "a second " +
                                                std::string(RigSourceKindName(source.kind)) +
                                                " source; the simulator plays one of each kind: "
                                                "rehearse with a copy of the rig without it"};
    }
  }
  return {};
}

Result<capture::wire::Address> ListenAt(const Rig& rig, const RigSource& source, int port) {
  const std::string where =
      rig.path + ":" + std::to_string(source.line) + ": source '" + source.name + "': ";
  HANDHOLD_ASSIGN(
      const capture::wire::Address address,
      capture::wire::Resolve(source.host, static_cast<uint16_t>(port), HostNow() + kLookUp));
  if (address.ipv4 >> 24 != 127) {
    return Error{ErrorCode::kInvalid,
                 where + "its host " + source.host +
                     " is another machine; simulators serve on this one: simulate with --rig demo, "
                     "or rehearse this rig with `handhold live record --rig " +
                     ShellWord(rig.Word()) + " --simulate pattern`"};
  }
  return address;
}

std::vector<Fault> FaultsOf(const std::vector<RigFaults>& all, const std::string& source,
                            Duration lead) {
  std::vector<Fault> faults;
  for (const RigFaults& of : all) {
    if (of.source != source) continue;
    for (Fault fault : of.faults) {
      fault.at += lead;
      faults.push_back(fault);
    }
  }
  return faults;
}

/// The servers' message, with what to do when a port is taken.
Error Explained(const Error& error) {
  if (error.message.find("in use") == std::string::npos) return error;
  return {ErrorCode::kBusy, error.message +
                                ": another program listens there, perhaps another `handhold live "
                                "simulate`; end it, or change the port in the rig file"};
}

}  // namespace

int64_t SurroundedFeed::Padding::Inner(int64_t i) const {
  const int64_t at = i - lead;
  if (at >= 0 && at < count) return at;
  // To and fro over the samples next to the feed's end: continuous in position.
  const int64_t away = at < 0 ? -at : at - count + 1;
  const int64_t reach = at < 0 ? swing : rest;
  const int64_t k = away % (2 * reach);
  const int64_t swung = std::min(k <= reach ? k : 2 * reach - k, count - 1);
  return at < 0 ? swung : count - 1 - swung;
}

SurroundedFeed::SurroundedFeed(const capture::SimulatorFeed& inner, Duration lead, Duration tail)
    : inner_(inner) {
  const auto pad = [&](double rate, int64_t count) {
    return Padding{std::llround(lead.seconds() * rate), count, std::llround(tail.seconds() * rate),
                   std::max<int64_t>(1, std::llround(kSwing_s * rate)),
                   std::max<int64_t>(1, std::llround(kRest_s * rate))};
  };
  frames_ = pad(inner.marker_rate_hz(), inner.frame_count());
  samples_ = pad(inner.force_rate_hz(), inner.force_count());
}

Result<std::vector<RigFaults>> ParseRigFaults(std::string_view text, const Rig& rig,
                                              const std::string& source_name) {
  std::vector<RigFaults> all;
  int number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    line = line.substr(0, line.find('#'));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    line.remove_prefix(begin);
    const std::string source(line.substr(0, line.find_first_of(" \t")));
    const std::string where = source_name + ":" + std::to_string(number) + ": ";
    const std::vector<std::string> names = SourceNames(rig);
    if (rig.Find(source) == nullptr) {
      return Error{ErrorCode::kInvalid, where + "no source '" + source + "' in rig '" + rig.name +
                                            "'" + DidYouMean(source, names) + "; a line reads: " +
                                            names.front() + " at 5 s stall 300 ms"};
    }
    auto parsed = capture::ParseFaultScript(line.substr(source.size()));
    if (!parsed) {
      // The parser counted one line; the file's number is ours.
      std::string message = parsed.error().message;
      constexpr std::string_view kTheirs = "fault script line 1: ";
      if (message.starts_with(kTheirs)) message = message.substr(kTheirs.size());
      return Error{ErrorCode::kInvalid, where + message};
    }
    all.push_back({source, *std::move(parsed)});
  }
  return all;
}

std::vector<RigFaults> StandardFaults(const Rig& rig, Duration session) {
  std::vector<RigFaults> all;
  const auto at = [&](double share) {
    // On whole tenths of a second: the same instants are frames and samples of every rate.
    return Duration::Milliseconds(100 * std::llround(10 * share * session.seconds()));
  };
  if (const RigSource* vicon = FirstOf(rig, RigSource::Kind::kVicon)) {
    all.push_back(
        {vicon->name,
         {{.kind = FaultKind::kStall, .at = at(0.3), .length = Duration::Milliseconds(300)},
          {.kind = FaultKind::kHold, .at = at(0.6), .length = Duration::Milliseconds(200)}}});
  }
  if (const RigSource* force = FirstOf(rig, RigSource::Kind::kNetFt)) {
    all.push_back({force->name,
                   {{.kind = FaultKind::kLose, .at = at(0.2)},
                    {.kind = FaultKind::kLose, .at = at(0.5)},
                    {.kind = FaultKind::kLose, .at = at(0.8)}}});
  }
  return all;
}

Result<std::vector<RigFaults>> LoadFaults(const std::string& given, const Rig& rig,
                                          Duration session) {
  if (given.empty() || given == "none") return std::vector<RigFaults>();
  if (given == "standard") return StandardFaults(rig, session);
  std::error_code ignored;
  if (!std::filesystem::exists(given, ignored)) {
    const std::vector<std::string> names = {"none", "standard"};
    const std::vector<std::string> near = NearestNames(given, names, 1);
    return Error{ErrorCode::kNotFound,
                 "--faults '" + given +
                     "': " + (near.empty() ? "" : "did you mean '" + near.front() + "'? ") +
                     "give none, standard, or the path of a script (there is no such file) with a "
                     "line as 'vicon at 5 s stall 300 ms' for each"};
  }
  HANDHOLD_ASSIGN(const std::string text, text::ReadTextFile(given, 1 << 20));
  return ParseRigFaults(text, rig, given);
}

Status Rehearsal::AddDevice(const RigSource& source, double rate_hz, double ppm, int64_t lead,
                            const std::vector<Fault>& faults) {
  const capture::DeviceClock clock{session_.begin, rate_hz, ppm};
  const capture::FaultTimeline timeline(faults, rate_hz);
  for (const capture::IndexRange& range : timeline.MissingRanges()) {
    gaps_.push_back({source.name, range.begin - lead, range.count(),
                     clock.HostOf(range.begin - lead), rate_hz});
  }
  devices_.push_back({source.name, ppm, rate_hz});
  return {};
}

Result<std::unique_ptr<Rehearsal>> Rehearsal::Start(const Rig& rig,
                                                    const capture::SimulatorFeed& feed,
                                                    RehearsalOptions options) {
  HANDHOLD_TRY(CheckPlayable(rig));
  std::unique_ptr<Rehearsal> out(new Rehearsal);
  out->rig_ = rig;
  out->feed_ = std::make_unique<SurroundedFeed>(feed, options.lead, options.tail);
  const SurroundedFeed& played = *out->feed_;
  // Both clocks pass the session's begin at one instant, each after its own count of samples.
  const Timestamp begin = HostNow() + kForkTime + options.lead;
  const double seconds = static_cast<double>(feed.frame_count()) /
                         (feed.marker_rate_hz() * (1.0 + 1e-6 * feed.marker_clock_ppm()));
  out->session_ = {begin, begin + Duration::FromSeconds(seconds)};
  const auto host_start = [&](double rate, double ppm, int64_t lead) {
    return begin - Duration::FromSeconds(static_cast<double>(lead) / (rate * (1.0 + 1e-6 * ppm)));
  };

  capture::SimulatorHostOptions host;
  const RigSource* vicon = FirstOf(rig, RigSource::Kind::kVicon);
  const RigSource* force = FirstOf(rig, RigSource::Kind::kNetFt);
  if (vicon != nullptr) {
    const Duration lead =
        Duration::FromSeconds(static_cast<double>(played.lead_frames()) / feed.marker_rate_hz());
    host.vicon.faults = FaultsOf(options.faults, vicon->name, lead);
    host.vicon.host_start =
        host_start(feed.marker_rate_hz(), feed.marker_clock_ppm(), played.lead_frames());
    host.vicon.loop = options.loop;
    host.vicon.link.minimum = kViconLatency;
    host.vicon.latency_s = {{"Data Collected", 0.75 * kViconLatency.seconds()},
                            {"Reconstruction", 0.25 * kViconLatency.seconds()}};
    if (options.rig_ports) {
      HANDHOLD_ASSIGN(host.vicon.address,
                      ListenAt(rig, *vicon, vicon->port != 0 ? vicon->port : 801));
    }
    HANDHOLD_TRY(out->AddDevice(*vicon, feed.marker_rate_hz(), feed.marker_clock_ppm(),
                                played.lead_frames(), host.vicon.faults));
  }
  if (force != nullptr) {
    const Duration lead =
        Duration::FromSeconds(static_cast<double>(played.lead_samples()) / feed.force_rate_hz());
    host.net_ft.faults = FaultsOf(options.faults, force->name, lead);
    host.net_ft.host_start =
        host_start(feed.force_rate_hz(), feed.force_clock_ppm(), played.lead_samples());
    host.net_ft.loop = options.loop;
    if (options.rig_ports) {
      HANDHOLD_ASSIGN(
          host.net_ft.udp,
          ListenAt(rig, *force, force->port != 0 ? force->port : capture::wire::rdt::kPort));
      HANDHOLD_ASSIGN(
          host.net_ft.http,
          ListenAt(rig, *force,
                   force->http_port != 0 ? force->http_port : capture::wire::rdt::kHttpPort));
    }
    HANDHOLD_TRY(out->AddDevice(*force, feed.force_rate_hz(), feed.force_clock_ppm(),
                                played.lead_samples(), host.net_ft.faults));
  }
  out->options_ = std::move(options);
  auto process = capture::SimulatorProcess::Start(played, host);
  if (!process) return Explained(process.error());
  out->process_ = *std::move(process);
  const capture::SimulatorAddresses& at = out->process_->addresses();
  for (RigSource& source : out->rig_.sources) {
    source.host = "127.0.0.1";
    source.port = source.kind == RigSource::Kind::kVicon ? at.vicon.port : at.net_ft_rdt.port;
    source.http_port = at.net_ft_http.port;
  }
  return out;
}

Status Rehearsal::Alive() const {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == 0) {
    return {};
  }
  return Error{ErrorCode::kIo, "the simulators' process has ended"};
}

Json Rehearsal::ToJson() const {
  Json devices = Json::Array(), faults = Json::Array(), gaps = Json::Array();
  for (const Device& device : devices_) {
    devices.Push(Json::Object(
        {{"source", device.source}, {"rate_hz", device.rate_hz}, {"clock_ppm", device.ppm}}));
  }
  for (const RigFaults& of : options_.faults) {
    for (const Fault& fault : of.faults) {
      faults.Push(Json::Object({{"source", of.source},
                                {"kind", FaultKindName(fault.kind)},
                                {"at_s", fault.at.seconds()},
                                {"length_s", fault.length.seconds()},
                                {"count", fault.count}}));
    }
  }
  for (const InjectedGap& gap : gaps_) {
    gaps.Push(Json::Object({{"source", gap.source},
                            {"first_index", gap.first_index},
                            {"count", gap.count},
                            {"rate_hz", gap.rate_hz},
                            {"host_begin_ns", std::to_string(gap.host_begin.ns())}}));
  }
  return Json::Object({{"format", "handhold.injected"},
                       {"version", 1},
                       {"session_host_begin_ns", std::to_string(session_.begin.ns())},
                       {"session_host_end_ns", std::to_string(session_.end.ns())},
                       {"devices", std::move(devices)},
                       {"faults", std::move(faults)},
                       {"gaps", std::move(gaps)}});
}

}  // namespace handhold::live
