/// A motion as a table that any program reads: CSV with units in its header.
#pragma once

#include <string>

#include "database/artefact/motion.h"

namespace handhold::pipeline {

/// One line per frame: time_s; a column per coordinate of every hand ("R.index.mcp.flex_rad" where
/// every joint is a hinge, else "q0", "q1", ... as the skeleton orders them; of several hands after
/// "R:"); f_onHand_x_N, _y, _z: the sum of all contact forces on the hands, world axes; contacts:
/// how many; slip_m_per_s: of the fastest; every series, its unit after its name; per object its
/// name, position and quaternion (w x y z). Numbers read back to the same bits.
std::string MotionToCsv(const artefact::Motion& motion);

}  // namespace handhold::pipeline
