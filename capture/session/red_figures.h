/// What is red, as a person reads it: one cause makes every stream of a device red together, and is
/// one line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "database/recording/quality.h"

namespace handhold::capture {

struct RedFigure {
  std::string name;  ///< the stream's; of several "plate (3 streams)"; empty: the machine
  recording::QualityItem item;  ///< of the stream that is farthest beyond its limit
  Timestamp clip_first_red;     ///< of the first of them
  bool acknowledged = true;     ///< all of them
};

/// The red items by device and figure, in the order of the first of each.
std::vector<RedFigure> RedFigures(std::span<const recording::QualityItem> items);

}  // namespace handhold::capture
