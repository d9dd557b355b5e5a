#include "fitting/skeleton/marker_map.h"

#include <algorithm>

#include "database/base/asked_range.h"
#include "database/base/names.h"

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

std::vector<std::string> MissingMarkers(const std::vector<const recording::StreamInfo*>& streams,
                                        const model::Skeleton& skeleton) {
  std::vector<char> there(skeleton.markers().size(), 0);
  for (const recording::StreamInfo* stream : streams) {
    const MarkerMap map = MapMarkers(*stream, skeleton);
    for (size_t m = 0; m < there.size(); ++m)
      there[m] = static_cast<char>(there[m] | (map.channel[m] >= 0));
  }
  std::vector<std::string> missing;
  for (size_t m = 0; m < there.size(); ++m) {
    if (there[m] == 0) missing.push_back(skeleton.markers()[m].name);
  }
  return missing;
}

Status CheckWorn(const std::vector<const recording::StreamInfo*>& streams,
                 const model::Skeleton& skeleton) {
  const size_t all = skeleton.markers().size();
  const std::vector<std::string> missing = MissingMarkers(streams, skeleton);
  const size_t worn = all - missing.size();
  if (2 * worn >= all) return {};
  std::string named;
  for (size_t i = 0; i < std::min<size_t>(3, missing.size()); ++i)
    named += (i > 0 ? ", " : "") + missing[i];
  if (missing.size() > 3) named += ", ...";
  return Error{ErrorCode::kNotFound, "stream '" + streams.front()->name + "' has " +
                                         std::to_string(worn) + " of the " + std::to_string(all) +
                                         " markers of '" + skeleton.name() + "' (not " + named +
                                         "): choose the hand that wore them"};
}

Status CheckLeftOut(const std::vector<std::string>& names, const model::Skeleton& skeleton) {
  for (const std::string& name : names) {
    if (skeleton.FindMarker(name) >= 0) continue;
    std::vector<std::string> known;
    for (const model::MarkerAttachment& m : skeleton.markers()) known.push_back(m.name);
    return Error{ErrorCode::kNotFound, "'" + skeleton.name() + "' wears no marker '" + name +
                                           "' to leave out" + DidYouMean(name, known)};
  }
  return {};
}

Status CheckRange(const recording::ClipSource& clip,
                  const std::vector<const recording::StreamInfo*>& streams,
                  const std::optional<TimeRange>& range) {
  if (!range) return {};
  const TimeRange all{clip.Extent(streams.front()->id).begin, clip.Extent(streams.back()->id).end};
  const std::string nothing = NothingWithin(*range, all, "the markers go");
  if (nothing.empty()) return {};
  return Error{ErrorCode::kInvalid, nothing};
}

}  // namespace handhold::fitting
