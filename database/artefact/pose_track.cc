#include "database/artefact/pose_track.h"

#include <cstdio>

namespace handhold::artefact {

std::string PoseSummary::Brief() const {
  char text[256];
  std::snprintf(text, sizeof text,
                "pose: %d of %d frames, markers %.3f mm RMS (one axis %.3f), %d outliers, %d not "
                "determined, %d at a limit",
                fitted, frames, 1e3 * marker_rms_m, 1e3 * marker_sd_m, outliers,
                frames_underdetermined, frames_at_limit);
  return text;
}

}  // namespace handhold::artefact
