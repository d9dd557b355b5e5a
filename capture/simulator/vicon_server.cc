#include "capture/simulator/vicon_server.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "capture/simulator/vicon_requests.h"
#include "capture/wire/cancel.h"
#include "capture/wire/schedule.h"
#include "database/base/check.h"
#include "database/base/units.h"

namespace handhold::capture {
namespace {

using namespace wire::vicon;  // ids

constexpr size_t kMaxSessions = 8;
constexpr size_t kMaxUnlabelled = 256;
/// Ghosts stand outside the volume, so that nothing mistakes them for a marker.
constexpr double kGhostBase_m = 2.0;
constexpr uint32_t kGhostTrajectory = 900000;

const std::set<uint32_t>& Supported() {
  static const std::set<uint32_t> ids = {kObjectEnums,
                                         kContents,
                                         kStreamInfo,
                                         kSubjectInfo,
                                         kDeviceInfo,
                                         kChannelInfo,
                                         kFrameInfo,
                                         kLabeledRecons,
                                         kUnlabeledRecons,
                                         kForceFrame,
                                         kMomentFrame,
                                         kCentreOfPressureFrame,
                                         kVoltageFrame,
                                         kForcePlateInfo,
                                         kTimecode,
                                         kLatencyInfo,
                                         kChannelInfoExtra,
                                         kHardwareFrameInfo,
                                         kApplicationInfo,
                                         kDeviceInfoExtra,
                                         kFrameRateInfo,
                                         kObjectQuality,
                                         kPing,
                                         kRequestFrame,
                                         kRequestNextFrame};
  return ids;
}

const std::array<std::vector<std::string>, 3> kPlateChannels{
    {{"Fx", "Fy", "Fz"}, {"Mx", "My", "Mz"}, {"Cx", "Cy", "Cz"}}};

}  // namespace

Result<std::unique_ptr<ViconServer>> ViconServer::Start(const SimulatorFeed& feed,
                                                        ViconServerOptions options) {
  const double period = static_cast<double>(kTicksPerSecond) / feed.marker_rate_hz();
  if (!(feed.marker_rate_hz() > 0) || period != std::floor(period)) {
    return Error{ErrorCode::kInvalid,
                 "a frame rate of " + std::to_string(feed.marker_rate_hz()) +
                     " Hz is no whole number of 135 MHz ticks; 500, 1000 and 2000 Hz are"};
  }
  std::unique_ptr<ViconServer> server(new ViconServer(feed, std::move(options)));
  const auto period_ticks = static_cast<int64_t>(period);
  for (const FeedDevice& device : server->devices_) {
    if (device.samples_per_frame < 1 || period_ticks % device.samples_per_frame != 0) {
      return Error{ErrorCode::kInvalid, "device '" + device.name +
                                            "': " + std::to_string(device.samples_per_frame) +
                                            " samples per frame do not divide the frame's ticks"};
    }
  }
  HANDHOLD_ASSIGN(server->listener_, wire::TcpListener::Listen(server->options_.address));
  server->address_ = server->listener_.address();
  server->accept_thread_ = std::thread([raw = server.get()] { raw->Accept(); });
  return server;
}

ViconServer::ViconServer(const SimulatorFeed& feed, ViconServerOptions options)
    : feed_(feed),
      options_(std::move(options)),
      subjects_(feed.subjects()),
      devices_(feed.devices()),
      timeline_(options_.faults, feed.marker_rate_hz()),
      clock_{options_.host_start == Timestamp() ? HostNow() : options_.host_start,
             feed.marker_rate_hz(), feed.marker_clock_ppm() + options_.clock_ppm_extra} {
  for (const FeedSubject& subject : subjects_) marker_count_ += subject.marker_names.size();
  CHECK_LE(subjects_.size(), 64u);
}

ViconServer::~ViconServer() {
  stop_ = true;
  if (accept_thread_.joinable()) accept_thread_.join();
}

void ViconServer::Accept() {
  while (!stop_) {
    sessions_.remove_if([](const std::unique_ptr<Session>& session) {
      if (!session->done) return false;
      session->thread.join();
      return true;
    });
    if (timeline_.Away(clock_.IndexAt(HostNow())) != nullptr) {
      listener_.Close();
      wire::SleepUntil(HostNow() + Duration::Milliseconds(2));
      continue;
    }
    if (!listener_.valid()) {
      auto again = wire::TcpListener::Listen(address_);
      if (!again) {
        wire::SleepUntil(HostNow() + Duration::Milliseconds(2));
        continue;
      }
      listener_ = *std::move(again);
    }
    auto session = std::make_unique<Session>();
    if (listener_.Accept(HostNow() + Duration::Milliseconds(2), &session->stream) !=
        wire::IoStatus::kOk)
      continue;
    if (sessions_.size() >= kMaxSessions) {
      ++refused_;
      continue;
    }
    ++connections_;
    Session& taken = *session;
    sessions_.push_back(std::move(session));
    taken.thread = std::thread([this, &taken] {
      Serve(taken);
      taken.stream.Close();
      taken.done = true;
    });
  }
  for (const auto& session : sessions_) session->thread.join();
}

void ViconServer::Serve(Session& session) {
  ::prctl(PR_SET_TIMERSLACK, 1);
  wire::AskForRealTime(wire::Urgency::kDevice);
  session.values.resize(3 * marker_count_);
  Link link(options_.link);
  ViconRequestReader reader;
  session.packet.Begin();
  PutObjectEnums(session.packet, Supported());
  if (!Send(session)) return;
  int64_t next = std::max<int64_t>(0, clock_.IndexAt(HostNow()) + 1);
  Timestamp last_send;
  for (; !stop_; ++next) {
    const Timestamp due =
        std::max(clock_.HostOf(timeline_.SendIndex(next)) + link.Delay(), last_send);
    do {
      if (!ReadRequests(session, reader, std::min(due, HostNow() + wire::kCancelPeriod))) return;
    } while (HostNow() < due && !stop_);
    if (stop_ || timeline_.Away(next) != nullptr) return;
    if (!session.streaming && session.owed == 0) continue;
    if (timeline_.Missing(next) || (!options_.loop && next >= feed_.frame_count())) continue;
    if (session.owed > 0) --session.owed;
    BuildFrame(session, next);
    if (!Send(session)) return;
    ++frames_;
    last_send = due;
  }
}

bool ViconServer::ReadRequests(Session& session, ViconRequestReader& reader, Timestamp deadline) {
  std::array<uint8_t, 4096> buffer{};
  const wire::IoResult got = session.stream.Read(buffer, deadline);
  if (got.status == wire::IoStatus::kTimeout) return true;
  if (got.status != wire::IoStatus::kOk) return false;
  std::vector<ViconRequest> requests;
  if (!reader.Feed(std::span(buffer).first(got.bytes), requests)) {
    ++refused_;
    return false;
  }
  for (ViconRequest& request : requests) {
    switch (request.kind) {
      case ViconRequest::kObjects:
        session.wanted = std::move(request.ids);
        session.statics_due = true;
        break;
      case ViconRequest::kFrame:
        session.streaming = request.streaming;
        if (!request.streaming) session.owed = 1;
        break;
      case ViconRequest::kNextFrame:
        session.owed = std::min<int64_t>(session.owed + request.count, 1000);
        break;
      case ViconRequest::kPing:
        // In a packet of its own, at once: echoed within the next frame it would measure the frame
        // period.
        session.packet.Begin();
        PutPing(session.packet, request.ping);
        if (!Send(session)) return false;
        break;
    }
  }
  return true;
}

bool ViconServer::Send(Session& session) {
  std::span<const uint8_t> left = session.packet.Finish();
  while (!left.empty() && !stop_) {
    const wire::IoResult wrote = session.stream.Write(left, HostNow() + wire::kCancelPeriod);
    left = left.subspan(wrote.bytes);
    if (wrote.status != wire::IoStatus::kOk && wrote.status != wire::IoStatus::kTimeout)
      return false;
  }
  return left.empty();
}

uint64_t ViconServer::HiddenAt(int64_t i) const {
  uint64_t hidden = 0;
  for (size_t s = 0; s < subjects_.size(); ++s) {
    if (timeline_.Hidden(i, static_cast<int>(s))) hidden |= uint64_t{1} << s;
  }
  return hidden;
}

void ViconServer::BuildFrame(Session& session, int64_t i) {
  ViconPacket& packet = session.packet;
  packet.Begin();
  const uint64_t hidden = HiddenAt(i);
  if (hidden != session.hidden) {
    session.hidden = hidden;
    session.statics_due = true;
  }
  const auto period =
      static_cast<int64_t>(static_cast<double>(kTicksPerSecond) / feed_.marker_rate_hz());
  if (period != session.period_ticks) {  // a feed may come to say another rate
    session.period_ticks = period;
    session.statics_due = true;
  }
  const auto wants = [&](uint32_t id) { return session.wanted.contains(id); };
  static const std::set<uint32_t> kNone;
  const bool with_statics = session.statics_due;
  session.statics_due = false;
  if (with_statics) {
    PutStatics(packet, session);
    session.statics.clear();
    for (const auto& [id, count] : packet.counts()) session.statics.insert(id);
  }
  const int64_t frame = i - timeline_.CounterBase(i);
  const uint32_t frame_id = options_.first_frame_id + static_cast<uint32_t>(frame);
  const int64_t feed_frame = i % feed_.frame_count();
  PutFrameInfo(packet, frame_id);
  if (wants(kHardwareFrameInfo)) PutHardwareFrameInfo(packet, frame_id);
  if (wants(kTimecode))
    PutTimecode(packet, options_.timecode ? TimecodeOf(frame) : ViconTimecode{});
  if (wants(kLatencyInfo)) PutLatencyInfo(packet, options_.latency_s);
  if (wants(kFrameRateInfo)) PutFrameRateInfo(packet, "System", feed_.marker_rate_hz());
  if (wants(kLabeledRecons) || wants(kUnlabeledRecons)) PutMarkers(session, i, feed_frame);
  if (wants(kDeviceInfo)) PutDevices(session, frame_id, feed_frame);
  if (wants(kContents)) PutContents(packet, with_statics ? kNone : session.statics);
}

void ViconServer::PutStatics(ViconPacket& packet, const Session& session) const {
  const auto wants = [&](uint32_t id) { return session.wanted.contains(id); };
  PutStreamInfo(packet, session.period_ticks);
  if (wants(kApplicationInfo)) PutApplicationInfo(packet, kZUp);
  for (size_t s = 0; s < subjects_.size(); ++s) {
    if ((session.hidden >> s & 1) != 0) continue;
    const auto id = static_cast<uint32_t>(s + 1);
    if (wants(kSubjectInfo))
      PutSubjectInfo(packet, id, subjects_[s].name, subjects_[s].marker_names);
    if (wants(kObjectQuality)) PutObjectQuality(packet, id, 1.0);
  }
  for (size_t d = 0; d < devices_.size() && wants(kDeviceInfo); ++d) {
    const FeedDevice& device = devices_[d];
    const auto id = static_cast<uint32_t>(d + 1);
    PutDeviceInfo(
        packet, id,
        static_cast<uint64_t>(options_.device_period_ticks.value_or(session.period_ticks)),
        device.name);
    PutDeviceInfoExtra(packet, id, 0);
    if (device.force_plate) {
      constexpr std::array<std::string_view, 3> kNames{"Force", "Moment", "CoP"};
      constexpr std::array<std::string_view, 3> kUnits{"newton", "newtonmeter", "meter"};
      for (uint32_t c = 0; c < 3; ++c) {
        PutChannelInfo(packet, id, c + 1, kNames[c], kPlateChannels[c]);
        PutChannelInfoExtra(packet, id, c + 1, kUnits[c], kNames[c]);
      }
      PutForcePlateInfo(packet, id);
    } else {
      for (size_t c = 0; c < device.channel_names.size(); ++c) {
        const auto channel = static_cast<uint32_t>(c + 1);
        PutChannelInfo(packet, id, channel, device.channel_names[c],
                       std::span(&device.channel_names[c], 1));
        PutChannelInfoExtra(packet, id, channel, device.unit, "Voltage");
      }
    }
  }
}

void ViconServer::PutMarkers(Session& session, int64_t i, int64_t feed_frame) const {
  feed_.Markers(feed_frame, session.values);
  session.recons.clear();
  int m = 0;
  for (size_t s = 0; s < subjects_.size(); ++s) {
    for (size_t k = 0; k < subjects_[s].marker_names.size(); ++k, ++m) {
      // A swap exchanges labels, so the positions and the trajectories under two labels.
      const int shown =
          std::clamp(timeline_.SwappedWith(i, m), 0, static_cast<int>(marker_count_) - 1);
      const double* xyz_m = &session.values[3 * shown];
      if ((session.hidden >> s & 1) != 0 || timeline_.Occluded(i, shown) || std::isnan(xyz_m[0]))
        continue;
      ViconRecon recon{.subject_id = static_cast<uint32_t>(s + 1),
                       .marker_id = static_cast<uint32_t>(k + 1)};
      for (int axis = 0; axis < 3; ++axis)
        recon.position_mm[axis] = MetresToMillimetres(xyz_m[axis]);
      recon.trajectory_id = feed_.TrajectoryId(feed_frame, shown);
      session.recons.push_back(recon);
    }
  }
  if (session.wanted.contains(kLabeledRecons)) PutLabeledRecons(session.packet, session.recons);
  if (!session.wanted.contains(kUnlabeledRecons)) return;
  std::array<FeedPoint, kMaxUnlabelled> points;
  const int count = feed_.Unlabelled(feed_frame, points);
  session.recons.clear();
  for (int p = 0; p < count; ++p) {
    ViconRecon recon;
    for (int axis = 0; axis < 3; ++axis)
      recon.position_mm[axis] = MetresToMillimetres(points[p].xyz_m[axis]);
    recon.trajectory_id = points[p].trajectory_id;
    session.recons.push_back(recon);
  }
  for (int g = 0; g < timeline_.Ghosts(i); ++g) {
    ViconRecon ghost;
    for (int axis = 0; axis < 3; ++axis)
      ghost.position_mm[axis] = MetresToMillimetres(kGhostBase_m + 0.01 * g);
    ghost.trajectory_id = kGhostTrajectory + static_cast<uint32_t>(g);
    session.recons.push_back(ghost);
  }
  PutUnlabeledRecons(session.packet, session.recons);
}

void ViconServer::PutDevices(Session& session, uint32_t frame_id, int64_t feed_frame) const {
  std::vector<double> values;
  for (size_t d = 0; d < devices_.size(); ++d) {
    const FeedDevice& device = devices_[d];
    const auto n = static_cast<size_t>(device.samples_per_frame);
    const auto id = static_cast<uint32_t>(d + 1);
    const size_t channels = device.force_plate ? 6 : device.channel_names.size();
    values.assign(channels * n, 0.0);
    feed_.Analog(static_cast<int>(d), feed_frame, values);
    const std::span<const double> all(values);
    // A device that has nothing in a frame is not in it.
    if (std::all_of(all.begin(), all.end(), [](double v) { return std::isnan(v); })) continue;
    if (!device.force_plate) {
      for (size_t c = 0; c < channels; ++c) {
        PutSampleFrame(session.packet, kVoltageFrame, frame_id, id, static_cast<uint32_t>(c + 1),
                       all.subspan(c * n, n));
      }
      continue;
    }
    PutSampleFrame(session.packet, kForceFrame, frame_id, id, 1, all.first(3 * n));
    PutSampleFrame(session.packet, kMomentFrame, frame_id, id, 2, all.subspan(3 * n, 3 * n));
    // Centre of pressure on the plate's surface, metres: where a force alone would make these
    // moments.
    std::vector<double> cop(3 * n, 0.0);
    for (size_t s = 0; s < n; ++s) {
      const double fz = values[2 * n + s];
      if (std::abs(fz) < 1e-9) continue;
      cop[s] = -values[4 * n + s] / fz;
      cop[n + s] = values[3 * n + s] / fz;
    }
    PutSampleFrame(session.packet, kCentreOfPressureFrame, frame_id, id, 3, cop);
  }
}

ViconTimecode ViconServer::TimecodeOf(int64_t frame) const {
  constexpr int64_t kFramesPerSecond = 25;
  const auto per_frame = static_cast<int64_t>(feed_.marker_rate_hz()) / kFramesPerSecond;
  if (per_frame < 1) return {};
  const int64_t pal = frame / per_frame;
  const int64_t seconds = pal / kFramesPerSecond;
  return {.hours = static_cast<uint8_t>(seconds / 3600 % 24),
          .minutes = static_cast<uint8_t>(seconds / 60 % 60),
          .seconds = static_cast<uint8_t>(seconds % 60),
          .frames = static_cast<uint8_t>(pal % kFramesPerSecond),
          .subframe = static_cast<uint16_t>(frame % per_frame),
          .subframes_per_frame = static_cast<uint16_t>(per_frame),
          .standard = kPal};
}

}  // namespace handhold::capture
