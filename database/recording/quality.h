/// How good a take is, measured while it was recorded: values with thresholds, and whether each was
/// ever exceeded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "database/base/time.h"

namespace handhold::recording {

/// One health figure of one stream (or of the machine), over a whole take.
struct QualityItem {
  std::string stream;      ///< its name; empty: of the whole recorder (disk time left)
  std::string what;        ///< "rate_Hz", "last_sample_age_s", "jitter_p99_s", "lost_samples",
                           ///< "visible_fraction", "saturated_samples", "clock_residual_p99_s",
                           ///< "ring_fill_fraction", "disk_left_s", "import_loss"
  double value = 0.0;      ///< at the end of the take
  double worst = 0.0;      ///< the worst seen
  double threshold = 0.0;  ///< red beyond this, in the direction `what` implies
  bool red = false;        ///< ever beyond: sticky until acknowledged
  bool acknowledged = false;
  Timestamp clip_first_red;
  std::string cause;  ///< for people: what it means and what to do
  bool operator==(const QualityItem&) const = default;
};

struct QualityRecord {
  std::vector<QualityItem> items;
  bool keep = true;    ///< the recorder's own advice
  std::string advice;  ///< one sentence

  const QualityItem* Find(std::string_view stream, std::string_view what) const {
    for (const QualityItem& item : items) {
      if (item.stream == stream && item.what == what) return &item;
    }
    return nullptr;
  }
  bool operator==(const QualityRecord&) const = default;
};

}  // namespace handhold::recording
