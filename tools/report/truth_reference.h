/// The engine's record of a virtual subject's stroke as the reference of a motion, and a replay's
/// score against it: what the study's page and the tests of the one-finger chain both ask.
///
/// The comparison is synthesis/evaluate's; here only what the truth has to say is put into its
/// words. Reads truth (tools/lab/truth.h) after the fits are made. Pinned by
/// tests/tools/report/report_test.cc.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "synthesis/evaluate/motion_score.h"
#include "tools/lab/truth.h"
#include "tools/report/criteria.h"

namespace handhold::report {

/// The largest planted normal force of some contacts, N.
inline double PeakOf(const std::vector<lab::TruthContact>& contacts) {
  double peak = 0;
  for (const lab::TruthContact& c : contacts) peak = std::max(peak, c.peak_normal_force_N);
  return peak;
}

/// Linear between the record's samples; nullopt outside it. `series` outlives the answer.
/// Precondition: it has contact columns.
inline synthesis::MotionReference ReferenceOf(const lab::TruthSeries& series) {
  return [&series](double t) -> std::optional<synthesis::ReferenceSample> {
    if (series.rows() < 2 || t < series.begin_s || t > series.time_s(series.rows() - 1))
      return std::nullopt;
    synthesis::ReferenceSample sample;
    sample.f_onHand_W = lab::Interpolate(series, series.f_onHand_W, t);
    sample.p_W = lab::Interpolate(series, series.p_W_tip, t);
    sample.slip_m_per_s = lab::Interpolate(series, series.slip_m_per_s, t)[0];
    return sample;
  };
}

/// A stroke's replay against the engine's run: from its first onset to its last release, fingertip
/// by `tip` (a frame of `hand`), forces as shares of the run's peak. `start_s`: the motion's time
/// at session time 0. Precondition: the stroke has a contact in the run.
inline Result<synthesis::MotionScore> ScoreStroke(const model::Skeleton& hand,
                                                  const std::string& tip, const lab::TruthRun& run,
                                                  int stroke, const artefact::Motion& motion,
                                                  double start_s = 0.0) {
  const auto contacts = run.ContactsOf(stroke);
  synthesis::MotionScoreOptions options;
  options.frame = tip;
  options.onset_s = contacts.front().onset_s;
  options.release_s = contacts.back().release_s;
  options.start_s = start_s;
  options.early_s = criteria::kEarly_s;
  options.slip_m_per_s = criteria::kSlip_m_per_s;
  options.peak_N = PeakOf(contacts);
  // Across the finger's plane it is nearly rigid (its axes lie 2-5 degrees off parallel), and only
  // the surface's own compliance decides.
  options.across_W = geometry::Vec3::UnitY();
  return synthesis::ScoreMotion(hand, motion, ReferenceOf(run.strokes[static_cast<size_t>(stroke)]),
                                options);
}

}  // namespace handhold::report
