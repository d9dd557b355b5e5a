#include "database/recording/stream.h"

#include "database/base/check.h"

namespace handhold::recording {

std::string_view StreamKindName(StreamKind kind) {
  switch (kind) {
    case StreamKind::kMarkers:
      return "markers";
    case StreamKind::kUnlabelledPoints:
      return "points";
    case StreamKind::kForceTorque:
      return "force";
    case StreamKind::kAnalog:
      return "analog";
    case StreamKind::kPressureArray:
      return "pressure";
    case StreamKind::kRigidPoses:
      return "poses";
    case StreamKind::kText:
      return "text";
  }
  return "unknown";
}

std::string_view GapCauseName(GapCause cause) {
  switch (cause) {
    case GapCause::kDeviceSkipped:
      return "device skipped";
    case GapCause::kNetworkLoss:
      return "network loss";
    case GapCause::kRingOverflow:
      return "ring overflow";
    case GapCause::kDisconnected:
      return "disconnected";
    case GapCause::kOverrun:
      return "vendor buffer overrun";
  }
  return "unknown";
}

int StreamInfo::FindChannel(std::string_view channel_name) const {
  for (size_t c = 0; c < channels.size(); ++c) {
    if (channels[c].name == channel_name) return static_cast<int>(c);
  }
  return -1;
}

int StreamInfo::channels_per_item() const {
  if (kind == StreamKind::kRigidPoses) return 7;
  CHECK(kind == StreamKind::kMarkers);
  // x y z, then possibly a residual of the same item.
  if (channels.size() < 4) return 3;
  const std::string& fourth = channels[3].name;
  const std::string& first = channels[0].name;
  const bool same_item = fourth.substr(0, fourth.rfind('.')) == first.substr(0, first.rfind('.'));
  return same_item ? 4 : 3;
}

std::vector<std::string> StreamInfo::ItemNames() const {
  std::vector<std::string> names;
  const size_t step = static_cast<size_t>(channels_per_item());
  for (size_t c = 0; c < channels.size(); c += step)
    names.push_back(channels[c].name.substr(0, channels[c].name.rfind('.')));
  return names;
}

}  // namespace handhold::recording
