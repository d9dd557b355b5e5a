#include "capture/source/vicon_client.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <DataStreamClient.h>

#include "database/base/units.h"

namespace handhold::capture {
namespace {

namespace sdk = ViconDataStreamSDK::CPP;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

sdk::Direction::Enum Direction(ViconAxis axis) {
  switch (axis) {
    case ViconAxis::kForward:
      return sdk::Direction::Forward;
    case ViconAxis::kBackward:
      return sdk::Direction::Backward;
    case ViconAxis::kLeft:
      return sdk::Direction::Left;
    case ViconAxis::kRight:
      return sdk::Direction::Right;
    case ViconAxis::kUp:
      return sdk::Direction::Up;
    case ViconAxis::kDown:
      return sdk::Direction::Down;
  }
  return sdk::Direction::Up;
}

std::string UnitName(sdk::Unit::Enum unit) {
  switch (unit) {
    case sdk::Unit::Volt:
      return "V";
    case sdk::Unit::Newton:
      return "N";
    case sdk::Unit::NewtonMeter:
      return "N m";
    case sdk::Unit::Meter:
      return "m";
    case sdk::Unit::Kilogram:
      return "kg";
    case sdk::Unit::Second:
      return "s";
    case sdk::Unit::Ampere:
      return "A";
    case sdk::Unit::Kelvin:
      return "K";
    case sdk::Unit::Radian:
      return "rad";
    case sdk::Unit::MeterPerSecond:
      return "m/s";
    case sdk::Unit::MeterPerSecondSquared:
      return "m/s2";
    case sdk::Unit::RadianPerSecond:
      return "rad/s";
    case sdk::Unit::Hertz:
      return "Hz";
    case sdk::Unit::Pascal:
      return "Pa";
    default:
      return "1";
  }
}

bool IsWrench(const ViconOutput& out) {
  static const std::set<std::string> names{"Fx", "Fy", "Fz", "Mx", "My", "Mz"};
  return (out.unit == "N" || out.unit == "N m") && names.contains(out.component);
}

}  // namespace

struct ViconClient::Impl {
  sdk::Client client;
  bool Ok(sdk::Result::Enum result) const { return result == sdk::Result::Success; }
};

ViconClient::ViconClient() : impl_(std::make_unique<Impl>()) {}
ViconClient::~ViconClient() = default;

bool ViconClient::IsConnected() const { return impl_->client.IsConnected().Connected; }

Status ViconClient::Connect(const std::string& numeric_host, const ViconSourceOptions& options,
                            Timestamp deadline, const std::atomic<bool>& stop) {
  sdk::Client& client = impl_->client;
  client.SetBufferSize(options.buffer_frames);
  if (!impl_->Ok(client.Connect(numeric_host).Result)) {
    return Error{ErrorCode::kIo, "the Vicon SDK could not connect to " + numeric_host};
  }
  client.EnableMarkerData();
  if (options.unlabelled) client.EnableUnlabeledMarkerData();
  if (options.devices) client.EnableDeviceData();
  client.SetAxisMapping(Direction(options.x), Direction(options.y), Direction(options.z));
  // The client sends what was enabled only after it has read a packet. Frame 1 may lack everything;
  // the request is then sent before frame 2 is read; frame 3, asked for after that, is made by a
  // server that has read it.
  client.SetStreamMode(sdk::StreamMode::ClientPull);
  for (int pulled = 0; pulled < 3;) {
    if (stop) return Error{ErrorCode::kCancelled, "stopped while " + numeric_host + " was asked"};
    const Frame frame = GetFrame();
    if (frame == Frame::kDisconnected)
      return Error{ErrorCode::kIo, numeric_host + " ended the connection at once"};
    if (frame == Frame::kOk) {
      ++pulled;
    } else if (HostNow() > deadline) {
      return Error{
          ErrorCode::kTimeout,
          "the server at " + numeric_host +
              " sends no frames: is Vicon live, and is the port that of the DataStream (801)?"};
    }
  }
  client.SetStreamMode(sdk::StreamMode::ServerPush);
  return {};
}

ViconClient::Frame ViconClient::GetFrame() {
  const auto result = impl_->client.GetFrame().Result;
  if (impl_->Ok(result)) return Frame::kOk;
  return IsConnected() && result != sdk::Result::NotConnected ? Frame::kNone : Frame::kDisconnected;
}

bool ViconClient::FrameId(uint32_t* id) const {
  const auto number = impl_->client.GetFrameNumber();
  *id = number.FrameNumber - 1;
  return impl_->Ok(number.Result);
}

double ViconClient::ServerLatency_s() const {
  const auto count = impl_->client.GetLatencySampleCount();
  if (!impl_->Ok(count.Result)) return 0.0;
  double sum_s = 0.0;
  for (unsigned int i = 0; i < count.Count; ++i) {
    const auto name = impl_->client.GetLatencySampleName(i);
    if (!impl_->Ok(name.Result) || std::string(name.Name) == "Network Transmission") continue;
    const auto value = impl_->client.GetLatencySampleValue(name.Name);
    if (impl_->Ok(value.Result) && std::isfinite(value.Value)) sum_s += value.Value;
  }
  return sum_s;
}

bool ViconClient::YUp() const {
  return impl_->client.GetServerOrientation().Orientation == sdk::ServerOrientation::YUp;
}

Result<ViconLayout> ViconClient::ReadLayout() const {
  const sdk::Client& client = impl_->client;
  ViconLayout layout;
  layout.rate = ViconRate(client.GetFrameRate().FrameRateHz);
  if (layout.rate.numerator <= 0)
    return Error{ErrorCode::kCorrupt, "the server names no frame rate"};
  const auto timecode = client.GetTimecode();
  layout.timecode = impl_->Ok(timecode.Result) && timecode.Standard != sdk::TimecodeStandard::None;
  std::set<std::string> seen;
  const unsigned subjects = client.GetSubjectCount().SubjectCount;
  layout.subject_count = static_cast<int>(subjects);
  for (unsigned s = 0; s < subjects; ++s) {
    ViconSubject subject{.name = client.GetSubjectName(s).SubjectName, .markers = {}, .listed = 0};
    if (!seen.insert(subject.name).second) {
      layout.unreachable.push_back("subject '" + subject.name + "'");
      continue;
    }
    const unsigned markers = client.GetMarkerCount(subject.name).MarkerCount;
    subject.listed = static_cast<int>(markers);
    std::set<std::string> names;
    for (unsigned m = 0; m < markers; ++m) {
      const std::string marker = client.GetMarkerName(subject.name, m).MarkerName;
      if (names.insert(marker).second) {
        subject.markers.push_back(marker);
      } else {
        layout.unreachable.push_back("marker '" + subject.name + ":" + marker + "'");
      }
    }
    layout.subjects.push_back(std::move(subject));
  }
  seen.clear();
  layout.device_count = static_cast<int>(client.GetDeviceCount().DeviceCount);
  for (int d = 0; d < layout.device_count; ++d) {
    const std::string device = client.GetDeviceName(d).DeviceName;
    const unsigned outputs = client.GetDeviceOutputCount(device).DeviceOutputCount;
    layout.device_output_count.push_back(static_cast<int>(outputs));
    if (!seen.insert(device).second) {
      layout.unreachable.push_back("device '" + device + "'");
      continue;
    }
    const bool plate = client.GetDeviceName(d).DeviceType == sdk::DeviceType::ForcePlate;
    for (unsigned o = 0; o < outputs; ++o) {
      const auto named = client.GetDeviceOutputComponentName(device, o);
      const ViconOutput out{.output = named.DeviceOutputName,
                            .component = named.DeviceOutputComponentName,
                            .unit = UnitName(named.DeviceOutputUnit)};
      const auto subsamples = client.GetDeviceOutputSubsamples(device, out.output, out.component);
      const int n = subsamples.Occluded ? 0 : static_cast<int>(subsamples.DeviceOutputSubsamples);
      if (n < 1) {  // nothing is known of its rate yet; Matches sees it begin
        layout.silent.push_back({.device = device, .outputs = {out}, .samples_per_frame = 0});
        continue;
      }
      const bool wrench = plate && IsWrench(out), cop = plate && out.unit == "m";
      const auto same = [&](const ViconAnalog& a) {
        return a.device == device && a.samples_per_frame == n && a.wrench == wrench && a.cop == cop;
      };
      auto at = std::find_if(layout.analogs.begin(), layout.analogs.end(), same);
      if (at == layout.analogs.end()) {
        layout.analogs.push_back({.device = device,
                                  .wrench = wrench,
                                  .cop = cop,
                                  .outputs = {},
                                  .samples_per_frame = n});
        at = layout.analogs.end() - 1;
      }
      at->outputs.push_back(out);
    }
  }
  return layout;
}

bool ViconClient::Matches(const ViconLayout& layout) const {
  const sdk::Client& client = impl_->client;
  // Counters and times are told by the layout's rate: another one is another layout.
  if (!(ViconRate(client.GetFrameRate().FrameRateHz) == layout.rate)) return false;
  if (static_cast<int>(client.GetSubjectCount().SubjectCount) != layout.subject_count) return false;
  for (const ViconSubject& subject : layout.subjects) {
    if (static_cast<int>(client.GetMarkerCount(subject.name).MarkerCount) != subject.listed)
      return false;
  }
  for (const ViconAnalog& silent : layout.silent) {
    const ViconOutput& out = silent.outputs[0];
    const auto begun = client.GetDeviceOutputSubsamples(silent.device, out.output, out.component);
    if (impl_->Ok(begun.Result) && !begun.Occluded && begun.DeviceOutputSubsamples > 0)
      return false;
  }
  return static_cast<int>(client.GetDeviceCount().DeviceCount) == layout.device_count;
}

bool ViconClient::ReadMarkers(const ViconLayout& layout, std::span<double> xyz_m,
                              std::span<double> ids) {
  const sdk::Client& client = impl_->client;
  const unsigned labelled = client.GetLabeledMarkerCount().MarkerCount;
  unsigned next = 0;  // the server lists labelled markers in the order of their names: the search
                      // is one step, mostly
  size_t m = 0;
  for (const ViconSubject& subject : layout.subjects) {
    for (const std::string& marker : subject.markers) {
      const auto got = client.GetMarkerGlobalTranslation(subject.name, marker);
      if (!impl_->Ok(got.Result)) return false;
      double* out = &xyz_m[3 * m];
      std::fill_n(out, 3, kNan);
      ids[m] = kNan;
      if (!got.Occluded) {
        for (int axis = 0; axis < 3; ++axis) out[axis] = MillimetresToMetres(got.Translation[axis]);
        for (unsigned tried = 0; tried < labelled; ++tried) {
          const auto candidate = client.GetLabeledMarkerGlobalTranslation(next);
          next = next + 1 < labelled ? next + 1 : 0;
          if (std::equal(candidate.Translation, candidate.Translation + 3, got.Translation)) {
            ids[m] = candidate.MarkerID;
            break;
          }
        }
      }
      ++m;
    }
  }
  return true;
}

int ViconClient::ReadPoints(std::span<double> xyz_id) const {
  const sdk::Client& client = impl_->client;
  const int count = static_cast<int>(client.GetUnlabeledMarkerCount().MarkerCount);
  for (int p = 0; p < count && 4 * p + 3 < static_cast<int>(xyz_id.size()); ++p) {
    const auto got = client.GetUnlabeledMarkerGlobalTranslation(static_cast<unsigned>(p));
    for (int axis = 0; axis < 3; ++axis)
      xyz_id[4 * p + axis] = MillimetresToMetres(got.Translation[axis]);
    xyz_id[4 * p + 3] = got.MarkerID;
  }
  return count;
}

bool ViconClient::ReadAnalog(const ViconAnalog& analog, std::span<double> values) const {
  const sdk::Client& client = impl_->client;
  const auto n = static_cast<unsigned>(analog.samples_per_frame);
  for (size_t c = 0; c < analog.outputs.size(); ++c) {
    const ViconOutput& out = analog.outputs[c];
    const auto subsamples =
        client.GetDeviceOutputSubsamples(analog.device, out.output, out.component);
    if (!impl_->Ok(subsamples.Result)) return false;
    if (!subsamples.Occluded && subsamples.DeviceOutputSubsamples != n) return false;
    for (unsigned s = 0; s < n; ++s) {
      const auto got = client.GetDeviceOutputValue(analog.device, out.output, out.component, s);
      // Of a channel that exists, a subsample outside the frame is merely absent.
      const bool absent = got.Result == sdk::Result::InvalidIndex;
      if (!absent && !impl_->Ok(got.Result)) return false;
      values[c * n + s] = absent || got.Occluded ? kNan : got.Value;
    }
  }
  return true;
}

void ViconClient::ReadTimecode(std::span<double, 6> parts) const {
  const auto t = impl_->client.GetTimecode();
  const double read[6] = {double(t.Hours),  double(t.Minutes),  double(t.Seconds),
                          double(t.Frames), double(t.SubFrame), double(t.Standard)};
  std::copy(read, read + 6, parts.begin());
}

std::string ViconSdkVersion() {
  const auto version = sdk::Client().GetVersion();
  return std::to_string(version.Major) + "." + std::to_string(version.Minor) + "." +
         std::to_string(version.Point);
}

}  // namespace handhold::capture
