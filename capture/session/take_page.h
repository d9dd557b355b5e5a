/// One page of text after a take: whether to keep it, what was recorded, what is missing, how good
/// the times are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capture/session/recorder.h"
#include "capture/session/stream_meter.h"
#include "capture/session/take.h"

namespace handhold::capture {

struct TakePageInput {
  const TakeResult* take = nullptr;            ///< all but its page
  std::vector<recording::StreamInfo> streams;  ///< of the clip
  std::vector<StreamFigures> figures;
  std::vector<Take::ClockSummary> clocks;
  std::vector<std::pair<std::string, SourceHealth>> sources;  ///< counts of the take
  std::vector<std::string> notes;  ///< anything that went wrong in writing
};

/// At most about 60 lines of at most 100 columns; the verdict comes first. Clocks: ppm that the
/// device runs fast (+), and one standard deviation of the offset, as on the report's page.
std::string TakePage(const TakePageInput& input);

}  // namespace handhold::capture
