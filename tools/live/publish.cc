#include "tools/live/publish.h"

#include <array>
#include <cmath>

namespace handhold::live {
namespace {

using capture::HealthSnapshot;
using capture::NewestSample;
using text::Json;

/// JSON has no NaN: what is not known is null.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json ItemsOf(const HealthSnapshot& health, size_t most) {
  Json list = Json::Array();
  for (const recording::QualityItem& i : health.items) {
    if (list.elements().size() >= most) break;
    list.Push(Json::Object({{"stream", i.stream},
                            {"what", i.what},
                            {"value", Number(i.value)},
                            {"worst", Number(i.worst)},
                            {"threshold", Number(i.threshold)},
                            {"red", i.red},
                            {"acknowledged", i.acknowledged},
                            {"cause", i.cause}}));
  }
  return list;
}

Json MarkersOf(const NewestSample& newest, size_t most_names) {
  const std::vector<std::string> names = newest.info.ItemNames();
  const auto per_item = static_cast<size_t>(newest.info.channels_per_item());
  Json hidden = Json::Array();
  int64_t seen = 0;
  for (size_t m = 0; m < names.size(); ++m) {
    if (m * per_item < newest.values.size() && std::isfinite(newest.values[m * per_item])) {
      ++seen;
    } else if (hidden.elements().size() < most_names) {
      hidden.Push(names[m]);
    }
  }
  return Json::Object({{"stream", newest.info.name},
                       {"seen", seen},
                       {"of", names.size()},
                       {"occluded", std::move(hidden)}});
}

Json Make(const HealthSnapshot& health, int64_t sequence, size_t most_items, size_t most_names) {
  Json sources = Json::Array(), forces = Json::Array(), markers = Json::Array();
  for (const capture::SourceStatus& s : health.sources)
    sources.Push(Json::Object({{"name", s.name},
                               {"connected", s.connected},
                               {"required", s.required},
                               {"text", s.text}}));
  for (const NewestSample& n : health.newest) {
    if (!n.sensor.empty())
      forces.Push(Json::Object(
          {{"sensor", n.sensor},
           {"age_s", Number(n.age_s)},
           {"normal_N", Number(n.normal_force_N)},
           {"peak_N", Number(n.peak_normal_force_N)},
           {"f_onObject_W_N", Json::Array({Number(n.f_onObject_W.x()), Number(n.f_onObject_W.y()),
                                           Number(n.f_onObject_W.z())})}}));
    if (n.info.kind == recording::StreamKind::kMarkers && !n.values.empty())
      markers.Push(MarkersOf(n, most_names));
  }
  return Json::Object({{"format", "handhold.live"},
                       {"version", 1},
                       {"sequence", sequence},
                       {"state", health.state_word()},
                       {"at_s", health.host.seconds()},
                       {"take", health.take},
                       {"recorded_s", health.recorded.seconds()},
                       {"durable_age_s", health.durable_age.seconds()},
                       {"bytes", health.bytes},
                       {"trouble", health.trouble},
                       {"sources", std::move(sources)},
                       {"forces", std::move(forces)},
                       {"markers", std::move(markers)},
                       {"items", ItemsOf(health, most_items)}});
}

}  // namespace

Json LiveJson(const HealthSnapshot& health, int64_t sequence) {
  return Make(health, sequence, SIZE_MAX, SIZE_MAX);
}

std::string LiveText(const HealthSnapshot& health, int64_t sequence) {
  for (const size_t most : {size_t{100'000}, size_t{150}, size_t{40}, size_t{0}}) {
    const auto text = text::WriteJson(Make(health, sequence, most, most));
    if (text && text->size() <= kMostLiveBytes) return *text;
  }
  return "";
}

Result<LivePublisher> LivePublisher::Open(uint16_t port) {
  LivePublisher publisher;
  if (port == 0) return publisher;
  HANDHOLD_ASSIGN(publisher.socket_,
                  capture::wire::UdpSocket::Bind(capture::wire::Address::Loopback(0)));
  publisher.port_ = port;
  return publisher;
}

void LivePublisher::Say(const HealthSnapshot& health) {
  if (!socket_) return;
  const std::string text = LiveText(health, ++sequence_);
  if (text.empty()) return;
  // Lost when nobody listens: that is no failure of a recording.
  (void)socket_->SendTo(capture::wire::Address::Loopback(port_),
                        {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

Result<std::unique_ptr<LiveListener>> LiveListener::Open(uint16_t port) {
  auto listener = std::unique_ptr<LiveListener>(new LiveListener());
  HANDHOLD_ASSIGN(listener->socket_,
                  capture::wire::UdpSocket::Bind(capture::wire::Address::Loopback(port)));
  listener->thread_ = std::thread([self = listener.get()] { self->Listen(); });
  return listener;
}

LiveListener::~LiveListener() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void LiveListener::Listen() {
  std::vector<uint8_t> buffer(65'536);
  while (!stop_) {
    capture::wire::Datagram datagram;
    const auto status = socket_.Receive(buffer, HostNow() + Duration::Milliseconds(100), &datagram);
    if (status != capture::wire::IoStatus::kOk || datagram.truncated) continue;
    std::string json(reinterpret_cast<const char*>(buffer.data()), datagram.bytes);
    // Anybody on this machine may send here: only what is ours goes on to a browser.
    const auto parsed = text::ParseJson(json, {.max_bytes = 65'536, .max_depth = 8});
    if (!parsed) continue;
    const text::Json* format = parsed->Find("format");
    if (format == nullptr || format->string() == nullptr || *format->string() != "handhold.live")
      continue;
    const std::lock_guard lock(mutex_);
    newest_ = std::move(json);
    heard_at_ = HostNow();
  }
}

std::optional<LiveListener::Heard> LiveListener::Newest() const {
  const std::lock_guard lock(mutex_);
  if (newest_.empty()) return std::nullopt;
  return Heard{newest_, (HostNow() - heard_at_).seconds()};
}

}  // namespace handhold::live
