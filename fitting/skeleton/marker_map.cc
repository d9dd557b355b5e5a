#include "fitting/skeleton/marker_map.h"

namespace handhold::fitting {

MarkerMap MapMarkers(const recording::StreamInfo& stream, const model::Skeleton& skeleton) {
  MarkerMap map;
  map.channel.assign(skeleton.markers().size(), -1);
  const std::vector<std::string> names = stream.ItemNames();
  for (size_t i = 0; i < names.size(); ++i) {
    const size_t colon = names[i].rfind(':');
    int m = skeleton.FindMarker(names[i]);
    if (m < 0 && colon != std::string::npos) m = skeleton.FindMarker(names[i].substr(colon + 1));
    if (m < 0) {
      map.unknown.push_back(names[i]);
    } else {
      map.channel[static_cast<size_t>(m)] = static_cast<int>(i) * stream.channels_per_item();
    }
  }
  return map;
}

Status CheckWorn(const std::vector<const recording::StreamInfo*>& streams,
                 const model::Skeleton& skeleton) {
  const size_t all = skeleton.markers().size();
  std::vector<char> there(all, 0);
  for (const recording::StreamInfo* stream : streams) {
    const MarkerMap map = MapMarkers(*stream, skeleton);
    for (size_t m = 0; m < all; ++m) there[m] |= static_cast<char>(map.channel[m] >= 0);
  }
  size_t worn = 0, told = 0;
  std::string missing;
  for (size_t m = 0; m < all; ++m) {
    if (there[m] != 0) {
      ++worn;
    } else if (++told <= 3) {
      missing += (told > 1 ? ", " : "") + skeleton.markers()[m].name;
    } else if (told == 4) {
      missing += ", ...";
    }
  }
  if (2 * worn >= all) return {};
  return Error{ErrorCode::kNotFound, "stream '" + streams.front()->name + "' has " +
                                         std::to_string(worn) + " of the " + std::to_string(all) +
                                         " markers of '" + skeleton.name() + "' (not " + missing +
                                         "): choose the hand that wore them"};
}

}  // namespace handhold::fitting
