/// Why a grasp failed a test: one list of causes for every protocol, method and engine.
#pragma once

#include <string_view>

namespace handhold::synthesis {

enum class GraspFault {
  kNone,
  kTooDeep,      ///< the hand begins deeper in the object than the protocol allows
  kSelfTooDeep,  ///< the hand begins deeper in itself
  kNotTouched,   ///< no contact of hand and object
  kLoose,        ///< let go after closing, the object left the hand: nothing was tested
  kShifted,      ///< it moved further than the protocol allows
  kTurned,       ///< it turned further
  kNotLifted,    ///< it did not follow the hand up, or lies on the table again
  kLost,         ///< the engine gave up
};

/// "none", "too deep", ...: stable, for files and machine-readable output. Pinned by
/// tests/synthesis/evaluate/p1_test.cc.
std::string_view GraspFaultName(GraspFault fault);

}  // namespace handhold::synthesis
