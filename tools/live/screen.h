/// What a person sees of a session: letters to be read from across the room, and a line per device;
/// and the same as JSON for programs.
#pragma once

#include <string>
#include <string_view>

#include "capture/session/health.h"
#include "capture/session/recorder.h"
#include "database/text/json.h"

namespace handhold::live {

struct ScreenOptions {
  int columns = 80;
  int rows = 0;  ///< of the terminal; 0: as many as it takes
  bool colour = true;
  std::string_view keys = {};  ///< the last line: what the keyboard does
  std::string_view last = {};  ///< what became of the take before, shown while none is recorded
  bool last_is_good = true;
};

/// Several lines, each at most `columns` wide, without a final newline: big letters (REC and the
/// time; ARMED; STORED), a bar that is green or red from edge to edge and says why, a line per
/// source and a line per device and figure that is red, with its cause. At most `rows`, so that the
/// letters stay in view: causes are left out first, then what is last.
std::string Screen(const capture::HealthSnapshot& health, const ScreenOptions& options);

/// One line for logs: "recording 0:12  all good  vicon 500.0 Hz  plate 7000.2 Hz".
std::string ScreenLine(const capture::HealthSnapshot& health);

/// `text` in letters five rows high; letters, digits, ':' '.' '-' and space, upper case; others are
/// left out. Six columns each.
std::string BigText(std::string_view text, int columns);

/// {"type": "health", ...}: keys and units as recording::QualityItem has them, times in ns as
/// strings.
text::Json HealthJson(const capture::HealthSnapshot& health);
/// {"type": "check", ...} of one line.
text::Json CheckJson(const capture::CheckLine& line);

}  // namespace handhold::live
