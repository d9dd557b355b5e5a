/// A lab's own marker names on hands: which label sits where, on which hand, in one file.
///
/// A recording's labels are the lab's ("index_tip", "S1:RIFT"). A map gives each a place on one of
/// our hands: that of a marker of ours, or a body and a point on it, roughly, for the skeleton fit
/// to place. WearingMap answers the hand that wears these markers under the lab's names; from there
/// on nothing translates: fits, tracks and reports speak the lab's language. Several hands of one
/// clip are several entries of one map. Form: schemas/exchange/marker_map.schema.json; maps of ours
/// lie in schemas/markers. Pinned by tests/database/model/marker_map_test.cc.
#pragma once

#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"
#include "database/text/json.h"

namespace handhold::model {

/// One label, by `marker` or by `body` and `p_BM`.
struct MappedMarker {
  std::string label;   ///< as the recording has it, without the hand's prefix
  std::string marker;  ///< a marker of the right hand, whose place it takes: "R.IND.DST.1"
  std::string body;    ///< else this body
  geometry::Vec3 p_BM = geometry::Vec3::Zero();  ///< m, in the body's frame of a right hand of the
                                                 ///< template's size
  std::string source;
};

struct MappedHand {
  std::string name;    ///< "right": how steps ask for it
  std::string hand;    ///< of ours: "hand27"
  std::string side;    ///< "right" or "left": the hand mirrored
  double scale = 1.0;  ///< of the template
  std::string prefix;  ///< before each label: "S1:"
  std::vector<MappedMarker> markers;
};

struct MarkerMap {
  std::string name;
  std::string source;
  std::vector<SourceNote> sources;
  std::vector<MappedHand> hands;
  std::vector<std::string> ignored;  ///< labels of the recording that are on no hand
};

/// By name of one of ours, or by path of a .json file. kNotFound tells the near names; kInvalid a
/// label that is mapped twice, a hand's name used twice, or a place that is said twice or not.
Result<MarkerMap> LoadMarkerMap(const std::string& key);
Result<std::vector<std::string>> MarkerMapNames();
text::Json MarkerMapToJson(const MarkerMap& map);

/// The entry `name`; empty: the only one. kNotFound, kInvalid (several) tell what there is.
Result<MappedHand> FindHand(const MarkerMap& map, const std::string& name);

/// The hand, mirrored and scaled as the entry says, wearing the entry's markers under prefix +
/// label and no others, in one marker set of the map's name. kNotFound for an unknown hand, marker
/// or body.
Result<Skeleton> WearingMap(const MarkerMap& map, const MappedHand& entry);

}  // namespace handhold::model
