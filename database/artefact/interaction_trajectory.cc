#include "database/artefact/interaction_trajectory.h"

#include <cstdio>

namespace handhold::artefact {

std::string DynamicSummary::Brief() const {
  std::string text =
      "compliance: " + std::to_string(used) + " of " + std::to_string(events) + " events used";
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

std::string ReferenceSummary::Brief() const {
  char text[256];
  std::snprintf(text, sizeof text,
                "reference: steps at onset %.4f, at release %.4f rad; against extrapolation %.4f "
                "rad (median); %d refused, %d assumed",
                onset_jump_rad, release_jump_rad, extrapolation_median_rad,
                static_cast<int>(refused.size()), static_cast<int>(assumed.size()));
  return text;
}

std::string ComplianceSummary::Brief() const {
  return (dynamic ? dynamic->Brief() + "; " : "") + reference.Brief();
}

}  // namespace handhold::artefact
