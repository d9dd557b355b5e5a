/// What a clip says of itself, without its samples, as JSON: the head of our CSV.
///
/// Keys are the fields' names; times are whole nanoseconds. Described in schemas/exchange/csv.md.
#pragma once

#include <string>
#include <vector>

#include "database/recording/clip.h"
#include "database/text/json.h"
#include "database/text/json_view.h"

namespace handhold::exchange {

/// Everything of a clip but samples and clock pairs.
struct ClipHead {
  recording::ClipInfo info;
  std::vector<recording::StreamInfo> streams;
  std::vector<recording::ClockMap> clocks;  ///< parallel to streams
  std::vector<int> given_ids;  ///< parallel: what sensors, events and gaps call them in the text
  std::vector<recording::ForceSensor> sensors;
  std::vector<recording::Event> events;
  std::vector<recording::Gap> gaps;
  recording::QualityRecord quality;
};

/// The info, sensors, events, gaps and quality; streams apart, since each stands before its
/// samples.
text::Json ClipHeadToJson(const recording::ClipSource& clip);
text::Json StreamToJson(const recording::StreamInfo& stream, const recording::ClockMap& clock);

Status ClipHeadFromJson(const text::JsonView& json, ClipHead& head);
/// Appends the stream and its clock; the id is its place.
Status StreamFromJson(const text::JsonView& json, ClipHead& head);
/// Sensors that say no calibration get what their streams' units say
/// (recording::CalibrationByUnits). When all streams are read; sensors of streams that are not
/// there stay without.
Status CalibrateByUnits(ClipHead& head);

}  // namespace handhold::exchange
