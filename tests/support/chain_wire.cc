// Criteria 1 and 2, and the session's place in a take that was recorded over the wire.
#include <cstdio>

#include "tests/support/chain_criteria.h"
#include "tools/live/rehearsal.h"

namespace handhold::chain {

Evidence GatherWire(const live::Rehearsal& rehearsal, const recording::ClipSource& clip) {
  Evidence out;
  out.over_the_wire = true;
  out.gaps_injected = static_cast<int>(rehearsal.gaps().size());
  out.gap_differences = live::CompareGaps(rehearsal.gaps(), rehearsal.rig(), clip);
  for (const std::string& line : out.gap_differences) std::printf("  %s\n", line.c_str());
  const auto clocks = rehearsal.CompareClocks(clip);
  if (clocks) {
    out.alignment_p99_s.push_back(clocks->between_p99_s);
    for (const auto& device : clocks->devices) {
      std::printf("  %s: %+.1f us on average, p99 %.1f us\n", device.source.c_str(),
                  1e6 * device.mean_s, 1e6 * device.p99_s);
    }
  } else {
    std::printf("  %s\n", clocks.error().message.c_str());  // no evidence: not met
  }
  return out;
}

void ToSessionTime(double start_s, ChainResults* results) {
  const Duration start = Duration::FromSeconds(start_s);
  const auto shift = [start](std::vector<Timestamp>* times) {
    for (Timestamp& t : *times) t = t - start;
  };
  shift(&results->pose.times);
  shift(&results->contact.times);
  shift(&results->trajectory.times);
  shift(&results->assumed.times);
  for (artefact::Touch& touch : results->contact.touches) {
    touch.onset = touch.onset - start;
    touch.release = touch.release - start;
  }
}

}  // namespace handhold::chain
