#include "database/model/marker_map.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "database/base/names.h"
#include "database/model/hand_library.h"
#include "database/model/schemas.h"
#include "database/model/shape_json.h"
#include "database/text/json_view.h"

namespace handhold::model {
namespace {

using text::Json;
using text::JsonView;

constexpr char kFolder[] = "markers";

Result<MappedMarker> MarkerFromJson(const JsonView& json) {
  HANDHOLD_TRY(json.RequireKnownKeys({"label", "marker", "body", "p_m", "source"}));
  MappedMarker marker;
  HANDHOLD_ASSIGN(marker.label, json.Get<std::string>("label"));
  HANDHOLD_ASSIGN(marker.marker, json.GetOr<std::string>("marker", ""));
  HANDHOLD_ASSIGN(marker.body, json.GetOr<std::string>("body", ""));
  HANDHOLD_ASSIGN(marker.source, json.GetOr<std::string>("source", ""));
  if (marker.marker.empty() == marker.body.empty()) {
    return json.Fail("label '" + marker.label + "' needs its place once: marker, or body and p_m");
  }
  if (marker.body.empty() == json.Has("p_m"))
    return json.Fail("p_m goes with body: label '" + marker.label + "'");
  if (json.Has("p_m")) {
    HANDHOLD_ASSIGN(marker.p_BM, internal::Vec3FromJson(json, "p_m"));
    if (marker.p_BM.norm() > 1.0)
      return json.Fail("p_m lies beyond 1 m from the body: is this in mm? lengths are in m");
  }
  return marker;
}

Result<MappedHand> HandFromJson(const JsonView& json) {
  HANDHOLD_TRY(json.RequireKnownKeys({"name", "hand", "side", "scale", "prefix", "markers"}));
  MappedHand hand;
  HANDHOLD_ASSIGN(hand.name, json.Get<std::string>("name"));
  HANDHOLD_ASSIGN(hand.hand, json.GetOr<std::string>("hand", kDefaultHand));
  HANDHOLD_ASSIGN(hand.side, json.GetOr<std::string>("side", "right"));
  HANDHOLD_ASSIGN(hand.scale, json.GetOr<double>("scale", 1.0));
  HANDHOLD_ASSIGN(hand.prefix, json.GetOr<std::string>("prefix", ""));
  HANDHOLD_ASSIGN(const std::vector<JsonView> markers, json.GetItems("markers"));
  for (const JsonView& item : markers) {
    HANDHOLD_ASSIGN(MappedMarker marker, MarkerFromJson(item));
    hand.markers.push_back(std::move(marker));
  }
  return hand;
}

Status CheckLabels(const JsonView& root, const MarkerMap& map) {
  std::set<std::string> labels, hands;
  const auto once = [&](const std::string& label) -> Status {
    if (labels.insert(label).second) return {};
    return root.Fail("label '" + label + "' is mapped twice");
  };
  for (const MappedHand& hand : map.hands) {
    if (!hands.insert(hand.name).second)
      return root.Fail("two hands are called '" + hand.name + "'");
    for (const MappedMarker& marker : hand.markers) HANDHOLD_TRY(once(hand.prefix + marker.label));
  }
  for (const std::string& label : map.ignored) HANDHOLD_TRY(once(label));
  return {};
}

Result<MarkerMap> MapFromJson(const Json& json, const std::string& source) {
  const JsonView root(json, source);
  HANDHOLD_TRY(root.RequireKnownKeys(
      {"format", "version", "name", "source", "sources", "hands", "ignored"}));
  HANDHOLD_TRY(internal::CheckFormat(root, "handhold.marker_map"));
  MarkerMap map;
  HANDHOLD_ASSIGN(map.name, root.Get<std::string>("name"));
  HANDHOLD_ASSIGN(map.source, root.GetOr<std::string>("source", ""));
  HANDHOLD_ASSIGN(map.sources, internal::SourcesFromJson(root));
  HANDHOLD_ASSIGN(map.ignored, root.GetOr<std::vector<std::string>>("ignored", {}));
  HANDHOLD_ASSIGN(const std::vector<JsonView> hands, root.GetItems("hands"));
  for (const JsonView& item : hands) {
    HANDHOLD_ASSIGN(MappedHand hand, HandFromJson(item));
    map.hands.push_back(std::move(hand));
  }
  HANDHOLD_TRY(CheckLabels(root, map));
  return map;
}

}  // namespace

Result<std::vector<std::string>> MarkerMapNames() { return LibraryNames(kFolder); }

Result<MarkerMap> LoadMarkerMap(const std::string& key) {
  std::filesystem::path path = key;
  if (!key.ends_with(".json")) {
    HANDHOLD_ASSIGN(path, LibraryFile(kFolder, "marker map", key));
  }
  HANDHOLD_ASSIGN(const Json json, text::ReadJsonFile(path));
  HANDHOLD_TRY(internal::RequireSchema(json, "marker_map", path));
  return MapFromJson(json, path.string());
}

Json MarkerMapToJson(const MarkerMap& map) {
  Json json = Json::Object({{"format", "handhold.marker_map"}, {"version", 1}, {"name", map.name}});
  if (!map.source.empty()) json.Set("source", map.source);
  internal::SourcesIntoJson(map.sources, &json);
  Json hands = Json::Array();
  for (const MappedHand& hand : map.hands) {
    Json item = Json::Object(
        {{"name", hand.name}, {"hand", hand.hand}, {"side", hand.side}, {"scale", hand.scale}});
    if (!hand.prefix.empty()) item.Set("prefix", hand.prefix);
    Json markers = Json::Array();
    for (const MappedMarker& m : hand.markers) {
      Json marker = Json::Object({{"label", m.label}});
      if (!m.marker.empty()) {
        marker.Set("marker", m.marker);
      } else {
        marker.Set("body", m.body);
        marker.Set("p_m", internal::Vec3ToJson(m.p_BM));
      }
      if (!m.source.empty()) marker.Set("source", m.source);
      markers.Push(std::move(marker));
    }
    item.Set("markers", std::move(markers));
    hands.Push(std::move(item));
  }
  json.Set("hands", std::move(hands));
  if (!map.ignored.empty()) json.Set("ignored", Json::Array(map.ignored));
  return json;
}

Result<MappedHand> FindHand(const MarkerMap& map, const std::string& name) {
  std::vector<std::string> names;
  std::string told;
  for (const MappedHand& hand : map.hands) {
    if (hand.name == name || (name.empty() && map.hands.size() == 1)) return hand;
    names.push_back(hand.name);
    told += (told.empty() ? "" : ", ") + hand.name;
  }
  if (name.empty()) {
    return Error{ErrorCode::kInvalid,
                 "marker map '" + map.name + "' has several hands (" + told + "): say which"};
  }
  return Error{ErrorCode::kNotFound, "marker map '" + map.name + "' has no hand '" + name + "' (" +
                                         told + ")" + DidYouMean(name, names)};
}

Result<Skeleton> WearingMap(const MarkerMap& map, const MappedHand& entry) {
  HANDHOLD_ASSIGN(Skeleton hand, LoadHand(entry.hand));
  // Points of the map are a right hand's, of the template's size: they are placed first.
  SkeletonDraft draft = hand.draft();
  draft.markers.clear();
  draft.marker_sets.clear();
  std::vector<std::string> worn;
  for (const MappedMarker& mapped : entry.markers) {
    MarkerAttachment marker;
    // Under a right hand's name until it is mirrored: a label is not to be read as a side.
    marker.name = "map." + std::to_string(draft.markers.size());
    marker.source = mapped.source.empty() ? "marker map " + map.name : mapped.source;
    if (!mapped.marker.empty()) {
      const int m = hand.FindMarker(mapped.marker);
      if (m < 0) {
        std::vector<std::string> known;
        for (const MarkerAttachment& k : hand.markers()) known.push_back(k.name);
        return Error{ErrorCode::kNotFound, "marker map '" + map.name + "': '" + entry.hand +
                                               "' has no marker '" + mapped.marker + "'" +
                                               DidYouMean(mapped.marker, known)};
      }
      marker.body = hand.markers()[static_cast<size_t>(m)].body;
      marker.p_BM = hand.markers()[static_cast<size_t>(m)].p_BM;
    } else {
      marker.body = hand.FindBody(mapped.body);
      if (marker.body < 1) {
        std::vector<std::string> known;
        for (int b = 1; b < hand.body_count(); ++b) known.push_back(hand.body(b).name);
        return Error{ErrorCode::kNotFound, "marker map '" + map.name + "': '" + entry.hand +
                                               "' has no body '" + mapped.body + "'" +
                                               DidYouMean(mapped.body, known)};
      }
      marker.p_BM = mapped.p_BM;
    }
    worn.push_back(entry.prefix + mapped.label);
    draft.markers.push_back(std::move(marker));
  }
  HANDHOLD_ASSIGN(Skeleton wearing, Skeleton::Build(std::move(draft)));
  if (entry.side == "left") wearing = Mirrored(wearing);
  HANDHOLD_ASSIGN(wearing, ScaledUniformly(wearing, entry.scale));
  draft = wearing.draft();
  for (size_t m = 0; m < worn.size(); ++m) draft.markers[m].name = worn[m];
  draft.marker_sets = {{map.name, worn}};
  return Skeleton::Build(std::move(draft));
}

}  // namespace handhold::model
