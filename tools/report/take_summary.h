/// The take's gaps and health as a page shows them: streams of one device that say the same are one
/// line, figures have units that people read. Private to tools/report.
#pragma once

#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/recording/clip.h"
#include "tools/report/report_data.h"

namespace handhold::report {

/// The take's streams, gaps and health, read in windows so that a long take fits.
Result<TakeSection> ReadTake(const recording::ClipSource& clip);

/// Gaps in order of time; those that several streams of one device share at one instant are one,
/// whose stream is "vicon (4 streams)".
std::vector<GapRow> MergedGaps(const TakeSection& take);

/// One figure of the recorder's, ready to print.
struct HealthLine {
  std::string stream;               ///< as above; "recorder" for what is of no stream
  std::string figure;               ///< "jitter p99"
  std::string value, worst, limit;  ///< with units
  std::string cause;
  bool red = false;
};
/// Red ones first, each group in the recorder's order; streams of one device with the same figures
/// are one line.
std::vector<HealthLine> HealthLines(const TakeSection& take);

/// The quantity called "jitter_p99_s" (its unit is its name's end: _s, _Hz, _fraction, none for a
/// count) as people read it: "0.025 ms", "7000 Hz", "8.7 %", "28.2 h".
std::string QuantityText(const std::string& name, double value);

}  // namespace handhold::report
