/// What touches in a physical world, as a motion's touches and contact rows: the one way for every
/// run that is stored.
///
/// Pinned by tests/synthesis/grasp_control/contact_rows_test.cc.
#pragma once

#include <string>
#include <vector>

#include "database/artefact/motion.h"
#include "synthesis/grasp_control/hand_world.h"

namespace handhold::synthesis {

struct ContactNames {
  std::string hand;                ///< of the world's first hand
  std::vector<std::string> props;  ///< of the world's props; others are left out
  /// What is fixed in the world, below the first prop; empty: its contacts are left out.
  std::string ground = {};
};

/// Appends the contacts that acted in the last step, as rows of frame `frame` by touch: of the
/// first hand with the props (a touch per site of it), and of the first prop with the ground.
/// Touches get their peak of the force's size. Answers the sum of the hand's normal forces on the
/// first prop, N.
double AddContactRows(const HandWorld& world, const ContactNames& names, int frame, Timestamp now,
                      artefact::Motion* motion);

}  // namespace handhold::synthesis
