/// What the hands must do for the object to move as it does: the wrench of each frame, what the
/// environment can give, and where a hand is needed at all.
///
/// G of Ye & Liu 2012, eq. 5. Everything in the object's frame O, torques about its origin;
/// wrenches are (torque, force). Pinned by tests/synthesis/contact_sampling/required_load_test.cc.
#pragma once

#include <vector>

#include "synthesis/contact/force_feasibility.h"
#include "synthesis/contact_sampling/hand_task.h"

namespace handhold::synthesis {

struct LoadOptions {
  /// Standard deviation of the window in which poses are fitted by a parabola, before they are
  /// differentiated twice.
  double smoothing_s = 0.04;
  double rest_speed_m_per_s = 0.03;
  double rest_rate_rad_per_s = 0.3;
  double support_within_m = 1.5e-3;  ///< of a plane: what touches it
  double slides_above_m_per_s = 5e-3;
  double support_weight = 0.01;  ///< w_i of eq. 4: a table costs nothing
};

struct FrameLoad {
  geometry::Vec6 w_O = geometry::Vec6::Zero();  ///< all contacts together, on the object
  std::vector<ForceContact> supports;           ///< what the environment touches
  bool at_rest = false;     ///< then the acceleration is 0: noise would ask for a hand
  bool needs_hand = false;  ///< the supports alone cannot balance w_O
};

/// Frames [first, last].
struct FrameRange {
  int first = 0, last = 0;
  int count() const { return last - first + 1; }
};

/// One per frame. Precondition: CheckTask(task).
std::vector<FrameLoad> RequiredLoads(const HandTask& task, const LoadOptions& options = {});

/// Where hands are needed, without the pauses up to max_pause frames; pieces of fewer than
/// least_frames are left out. Between them the object lies by itself: takes are cut there.
std::vector<FrameRange> HeldPieces(const std::vector<FrameLoad>& loads, int max_pause = 12,
                                   int least_frames = 6);

/// What torques are divided by: half of the half diagonal of the object's box.
double TorqueLengthOf(const model::Prop& prop);

}  // namespace handhold::synthesis
