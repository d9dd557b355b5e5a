#include "database/artefact/touch.h"

namespace handhold::artefact {

Eigen::Matrix3Xd ForceOnHand(const std::vector<Touch>& touches, const std::vector<ContactRow>& rows,
                             size_t frames, const std::string& hand) {
  Eigen::Matrix3Xd sum = Eigen::Matrix3Xd::Zero(3, static_cast<Eigen::Index>(frames));
  for (const ContactRow& row : rows) {
    const Touch& touch = touches[static_cast<size_t>(row.touch)];
    const auto mine = [&](const Side& side) {
      return side.is_hand() && (hand.empty() || side.name == hand);
    };
    // A hand on the other side feels the opposite.
    if (mine(touch.a)) sum.col(row.frame) += row.f_onA_W;
    if (mine(touch.b) && !(hand.empty() && touch.a.is_hand())) sum.col(row.frame) -= row.f_onA_W;
  }
  return sum;
}

Status CheckRows(const std::vector<Touch>& touches, const std::vector<ContactRow>& rows,
                 size_t frames) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const ContactRow& row = rows[i];
    if (row.frame >= 0 && static_cast<size_t>(row.frame) < frames && row.touch >= 0 &&
        static_cast<size_t>(row.touch) < touches.size())
      continue;
    return Error{ErrorCode::kCorrupt,
                 "contact row " + std::to_string(i) + " is of frame " + std::to_string(row.frame) +
                     " of " + std::to_string(frames) + " and touch " + std::to_string(row.touch) +
                     " of " + std::to_string(touches.size())};
  }
  return {};
}

}  // namespace handhold::artefact
