/// What a motion says of a hold, in figures: how hard, how deep, how much it slips and creeps.
///
/// From rows and poses alone, beside the verdict (verdict.h) and with its words for the object and
/// the hold. Pinned by tests/synthesis/evaluate/motion_figures_test.cc on a motion whose figures
/// are formulas.
#pragma once

#include <map>
#include <string>

#include "database/artefact/motion.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "synthesis/evaluate/verdict.h"

namespace handhold::synthesis {

struct MotionFigures {
  double peak_force_N = 0.0;   ///< of the sum of the hands' contact forces' sizes, whole motion
  double mean_force_N = 0.0;   ///< of the same, over the hold
  double deepest_m = 0.0;      ///< overlap of a hand with the object, whole motion; 0: none known
  double slip_m_per_s = 0.0;   ///< fastest of hand contacts that carry 0.05 N, over the hold
  double creep_m_per_s = 0.0;  ///< of the object in the hand's first body, over the hold's last
                               ///< half
  double lifted_m = 0.0;       ///< LiftedBy at the hold's end
  double hold_s = 0.0;
};

/// How far a motion's object has risen from its first frame to frame `until` or, if no hand touches
/// it there, to the last frame before in which one did: where it was dropped, not how deep it fell
/// since. 0: no hand touched it. Along Z of W, metres.
double LiftedBy(const artefact::Motion& motion, const artefact::MotionObject& object, size_t until);

/// `options`: object and hold as JudgeHold takes them. Errors as JudgeHold's.
Result<MotionFigures> MeasureMotion(const model::Skeleton& hand, const artefact::Motion& motion,
                                    const VerdictOptions& options = {});

/// By the names of the members.
std::map<std::string, double> FiguresOf(const MotionFigures& figures);

}  // namespace handhold::synthesis
