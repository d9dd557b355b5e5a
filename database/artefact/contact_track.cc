#include "database/artefact/contact_track.h"

#include <cstdio>

namespace handhold::artefact {

std::string ContactSummary::Brief() const {
  char text[256];
  if (touches == 0) {
    std::snprintf(text, sizeof text, "contact: no touch, %d knocks", knocks);
    return text;
  }
  std::snprintf(text, sizeof text,
                "contact: %d touches, %d knocks, peak %.2f N, onset sd %.2f ms (median), point to "
                "fingertip %.2f mm (p95)",
                touches, knocks, peak_force_N, 1e3 * onset_sd_median_s, 1e3 * point_offset_p95_m);
  return text;
}

Result<std::vector<int>> TouchOfFrame(const ContactTrack& track) {
  std::vector<int> touch(track.times.size(), -1);
  for (const ContactRow& row : track.rows) {
    int& mine = touch[static_cast<size_t>(row.frame)];
    if (mine >= 0 && mine != row.touch) {
      return Error{ErrorCode::kUnsupported,
                   "touches " + std::to_string(mine) + " and " + std::to_string(row.touch) +
                       " overlap at " +
                       FormatSeconds(track.times[static_cast<size_t>(row.frame)] - Timestamp()) +
                       "; one touch at a time can be used here"};
    }
    mine = row.touch;
  }
  return touch;
}

Result<ContactFrames> LaidOut(const ContactTrack& track) {
  ContactFrames out;
  HANDHOLD_ASSIGN(out.touch, TouchOfFrame(track));
  const auto frames = static_cast<Eigen::Index>(track.times.size());
  out.f_onHand_W.setZero(3, frames);
  out.p_WC.setConstant(3, frames, ContactRow::kUnknown);
  out.normal_W = out.p_WC;
  out.offset_m.setConstant(frames, ContactRow::kUnknown);
  for (const ContactRow& row : track.rows) {
    out.f_onHand_W.col(row.frame) = row.f_onA_W;
    out.p_WC.col(row.frame) = row.p_W;
    out.normal_W.col(row.frame) = row.normal_W;
    out.offset_m[row.frame] = row.offset_m;
  }
  return out;
}

}  // namespace handhold::artefact
