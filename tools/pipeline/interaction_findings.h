/// What a motion of "synth.interaction" says in its summary: figures, and what a reader must know.
/// Internal to the pipeline.
#pragma once

#include <string>

#include "database/artefact/contact_track.h"
#include "database/artefact/motion.h"
#include "database/base/result.h"

namespace handhold::pipeline {

/// Figures by name: peak_force_N (of the sum of the hands' contact forces' sizes), contact_share
/// (of the frames), slip_share (of the hands' contact rows: faster than 1 mm/s),
/// equilibrium_residual_max_rad, lcp_residual_max, lcp_failures; where hands touch nothing and it
/// is known nearest_approach_m; table_top_m; turned_rad.NAME of what is on a pivot; of the judged
/// thing in its hold lifted_m, creep_m_per_s (second half of it), and shift_m.NAME of what is free
/// besides: how far it moved against the judged one. Those that are there already stay.
/// kInvalid: hands or things without models.
Status AddFigures(artefact::Motion* motion);

/// What the motion itself tells, between its ends: out of balance, no touch, steps that were not
/// solved; of a captured first hand (else null) also gaps of the trajectory that it played, and
/// jams against the forces that were captured. After AddFigures.
void AddFindings(const artefact::InteractionTrajectory* played,
                 const artefact::ContactTrack* captured, artefact::Motion* motion);
/// The captured surface as it was captured: what that shows, and what it does not.
void TellAsCaptured(artefact::Motion* motion);

/// How `changed` differs from `motion`, both of the same first hand.
artefact::MotionVariant Difference(const artefact::Motion& motion, const artefact::Motion& changed,
                                   double factor, std::string hash);

}  // namespace handhold::pipeline
