/// What touches in a physical world, as a motion's touches and contact rows: the one way for every
/// run that is stored.
///
/// Pinned by tests/synthesis/grasp_control/contact_rows_test.cc.
#pragma once

#include "database/artefact/motion.h"
#include "synthesis/grasp_control/hand_world.h"

namespace handhold::synthesis {

/// Appends the contacts that acted in the last step, as rows of frame `frame` by touch: of the
/// motion's first hand with its things (a touch per site of the hand), and of its first thing with
/// what is fixed (the first fixed thing stands for all). The motion's things are the world's, in
/// order; further ones of the world are left out. Touches get their peak of the force's size.
/// Answers the sum of the hand's normal forces on the first thing, N.
double AddContactRows(const HandWorld& world, int frame, Timestamp now, artefact::Motion* motion);

}  // namespace handhold::synthesis
