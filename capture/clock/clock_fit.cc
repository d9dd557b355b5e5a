#include "capture/clock/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "capture/clock/clock_breaks.h"
#include "capture/clock/clock_line.h"
#include "database/base/check.h"

namespace handhold::capture {
namespace {

using recording::ClockMap;
using recording::ClockPair;
using recording::ClockSegment;

// A sixteenth of a line's packets, and how far above the line the least late of them lies.
struct Block {
  size_t first, last;
  double least;
};

// What of a line's packets is evidence of it.
struct Support {
  double gap = 0.0, largest = 0.0;  // of the blocks that are: the mean and the most of `least`
  int64_t begin_ns = 0, end_ns = 0;
  bool all_in_doubt = false;
};

// The gaps that the lower edge leaves in each of sixteen blocks say how densely packets of least
// delay lie. A block in which every packet is late by more than a break would be (a backlog, a
// starved machine) is no evidence: it neither widens the gaps nor lengthens the span. When most
// blocks are so, or when they do not stand apart from those on time (a line of a wrong rate leaves
// its packets little by little), all are evidence that the line rests on too little.
Support SupportOf(std::span<const ClockPair> pairs, const Line& line,
                  const ClockFitOptions& options) {
  constexpr size_t kBlocks = 16;
  constexpr double kApart = 2.0;
  const auto least_step = static_cast<double>(options.least_step.ns());
  std::vector<Block> blocks;
  size_t late = 0;
  double most_on_time = 0.0, least_late = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < kBlocks; ++k) {
    Block block{k * pairs.size() / kBlocks, (k + 1) * pairs.size() / kBlocks,
                std::numeric_limits<double>::infinity()};
    if (block.first == block.last) continue;
    for (size_t i = block.first; i < block.last; ++i)
      block.least = std::min(block.least, line.Residual(PointOf(pairs[i])));
    if (block.least > least_step) {
      ++late;
      least_late = std::min(least_late, block.least);
    } else {
      most_on_time = std::max(most_on_time, block.least);
    }
    blocks.push_back(block);
  }
  Support out{0.0, 0.0, pairs.back().device_ns, pairs.front().device_ns, false};
  out.all_in_doubt = 2 * late > blocks.size() || least_late < kApart * most_on_time;
  int counted = 0;
  for (const Block& block : blocks) {
    if (block.least > least_step && !out.all_in_doubt) continue;
    out.largest = std::max(out.largest, block.least);
    out.gap += block.least;
    ++counted;
    out.begin_ns = std::min(out.begin_ns, pairs[block.first].device_ns);
    out.end_ns = std::max(out.end_ns, pairs[block.last - 1].device_ns);
  }
  out.gap = out.gap / std::max(1, counted) + 1.0;
  return out;
}

// How well the line is known: an edge rests on packets of least delay, so it is uncertain by about
// a gap between them. One that is in doubt, or was held at the largest rate error, passes the
// packets by as much as the worst block says.
void SetUncertainty(std::span<const ClockPair> pairs, const Line& line,
                    const ClockFitOptions& options, ClockSegment* segment) {
  constexpr double kShort_ns = 1e9;
  const auto least_step = static_cast<double>(options.least_step.ns());
  const bool bounded = std::abs(line.rate_error) >= options.largest_rate_error;
  const Support support = SupportOf(pairs, line, options);
  const double span = std::max(1.0, static_cast<double>(support.end_ns - support.begin_ns));
  segment->offset_sd_ns = 3.0 * support.gap;
  segment->rate_sd = 4.5 * support.gap / span;
  if (pairs.size() < options.few_pairs || span < kShort_ns) {
    // All of a few packets may have been late, by what a break must exceed.
    segment->offset_sd_ns = std::max(segment->offset_sd_ns, least_step);
    segment->rate_sd =
        std::max(segment->rate_sd, std::min(options.largest_rate_error, least_step / span));
  }
  segment->rate_sd = std::min(segment->rate_sd, options.largest_rate_error);
  const double off_centre =
      0.5 * (static_cast<double>(support.begin_ns - segment->device_begin_ns) +
             static_cast<double>(support.end_ns - segment->device_end_ns));
  segment->offset_sd_ns = std::hypot(segment->offset_sd_ns, segment->rate_sd * off_centre);
  if (bounded || support.all_in_doubt)
    segment->offset_sd_ns = std::max(segment->offset_sd_ns, support.largest);
}

ClockSegment FitPiece(std::span<const ClockPair> pairs, const ClockFitOptions& options) {
  const Line line = EdgeOf(pairs, options);
  ClockSegment segment;
  segment.device_begin_ns = pairs.front().device_ns;
  segment.device_end_ns = pairs.back().device_ns;
  segment.rate_error = line.rate_error;
  const int64_t back = pairs.front().device_ns - line.at.device_ns;
  segment.host_begin_ns =
      line.at.host_ns + back + std::llround(line.rate_error * static_cast<double>(back));
  segment.pair_count = static_cast<int64_t>(pairs.size());
  SetUncertainty(pairs, line, options, &segment);
  std::vector<double> residuals;
  residuals.reserve(pairs.size());
  for (const ClockPair& pair : pairs) residuals.push_back(line.Residual(PointOf(pair)));
  segment.residual_p50_ns = Quantile(&residuals, 0.5);
  segment.residual_p90_ns = Quantile(&residuals, 0.9);
  segment.residual_p99_ns = Quantile(&residuals, 0.99);
  segment.residual_max_ns = *std::max_element(residuals.begin(), residuals.end());
  return segment;
}

double HostAt(const ClockSegment& s, int64_t device_ns) {
  const auto elapsed = static_cast<double>(device_ns - s.device_begin_ns);
  return static_cast<double>(s.host_begin_ns - s.device_begin_ns) +
         elapsed * s.rate_error;  // host - device
}

// The same line, held from elsewhere on.
void BeginAt(int64_t device_ns, ClockSegment* s) {
  const int64_t on = device_ns - s->device_begin_ns;
  s->host_begin_ns += on + std::llround(s->rate_error * static_cast<double>(on));
  s->device_begin_ns = device_ns;
}

// Between pieces whose data do not touch: from the end of one to the begin of the other. What both
// say of its middle differs by as much as the clock may have wandered meanwhile.
ClockSegment Bridge(const ClockSegment& before, const ClockSegment& after) {
  ClockSegment s;
  s.device_begin_ns = before.device_end_ns;
  s.device_end_ns = after.device_begin_ns;
  const double from = HostAt(before, s.device_begin_ns), to = HostAt(after, s.device_end_ns);
  const auto length = static_cast<double>(s.device_end_ns - s.device_begin_ns);
  s.host_begin_ns = s.device_begin_ns + std::llround(from);
  s.rate_error = (to - from) / length;
  const int64_t middle = s.device_begin_ns + (s.device_end_ns - s.device_begin_ns) / 2;
  const auto at_end = [](const ClockSegment& piece) {
    return std::hypot(
        piece.offset_sd_ns,
        0.5 * piece.rate_sd * static_cast<double>(piece.device_end_ns - piece.device_begin_ns));
  };
  const double wander = 0.5 * std::abs(HostAt(before, middle) - HostAt(after, middle));
  s.offset_sd_ns = std::hypot(std::max(at_end(before), at_end(after)), wander);
  s.rate_sd = std::max(before.rate_sd, after.rate_sd);
  return s;
}

// Neighbouring pieces of one unbroken stretch are made to meet half way, or, across an outage
// longer than `touch_ns`, are connected by a segment of its own: the map has no jump there, and
// what was measured is not bent to what was extrapolated.
void JoinPieces(int64_t touch_ns, std::vector<ClockSegment>* pieces) {
  std::vector<ClockSegment> joined;
  for (const ClockSegment& piece : *pieces) {
    if (!joined.empty() && piece.device_begin_ns - joined.back().device_end_ns > touch_ns)
      joined.push_back(Bridge(joined.back(), piece));
    joined.push_back(piece);
  }
  std::vector<double> knots;  // host - device at every boundary
  for (size_t i = 0; i <= joined.size(); ++i) {
    if (i == 0) {
      knots.push_back(HostAt(joined.front(), joined.front().device_begin_ns));
    } else if (i == joined.size()) {
      knots.push_back(HostAt(joined.back(), joined.back().device_end_ns));
    } else {
      const int64_t at = joined[i].device_begin_ns;
      knots.push_back(0.5 * (HostAt(joined[i - 1], at) + HostAt(joined[i], at)));
    }
  }
  for (size_t i = 0; i < joined.size(); ++i) {
    ClockSegment& s = joined[i];
    const int64_t end = i + 1 < joined.size() ? joined[i + 1].device_begin_ns : s.device_end_ns;
    // What joining moves, at its ends the most, was not known better.
    const double moved = std::max(std::abs(knots[i] - HostAt(s, s.device_begin_ns)),
                                  std::abs(knots[i + 1] - HostAt(s, end)));
    s.offset_sd_ns = std::hypot(s.offset_sd_ns, moved);
    s.host_begin_ns = s.device_begin_ns + std::llround(knots[i]);
    s.rate_error = (knots[i + 1] - knots[i]) / static_cast<double>(end - s.device_begin_ns);
    s.device_end_ns = end;
  }
  *pieces = std::move(joined);
}

// The lines of one stretch; of one packet: offset from it, nominal rate, and what that means.
std::vector<ClockSegment> FitStretch(std::span<const ClockPair> stretch,
                                     const ClockFitOptions& options) {
  std::vector<ClockSegment> pieces;
  const int64_t length = stretch.back().device_ns - stretch.front().device_ns;
  if (length == 0) {
    ClockSegment lone;
    lone.device_begin_ns = stretch.front().device_ns;
    lone.device_end_ns = lone.device_begin_ns + 1;
    lone.host_begin_ns = PointOf(stretch.front()).host_ns;
    lone.offset_sd_ns = static_cast<double>(options.least_step.ns());
    lone.rate_sd = options.largest_rate_error;
    lone.pair_count = 1;
    return {lone};
  }
  const int64_t count = std::max<int64_t>(1, length / options.piece.ns());
  size_t at = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t end_ns =
        stretch.front().device_ns + (k + 1 == count ? length : length / count * (k + 1));
    size_t end = at;
    while (end < stretch.size() && (stretch[end].device_ns <= end_ns || k + 1 == count)) ++end;
    if (end - at < 2 || stretch[at].device_ns == stretch[end - 1].device_ns)
      continue;  // absorbed by the next
    pieces.push_back(FitPiece(stretch.subspan(at, end - at), options));
    at = end;
  }
  if (pieces.empty()) pieces.push_back(FitPiece(stretch, options));
  // A few pairs apart, or a second: over that, no crystal wanders.
  const int64_t spacing = length / static_cast<int64_t>(stretch.size() - 1);
  JoinPieces(std::max<int64_t>(1'000'000'000, 5 * spacing), &pieces);
  return pieces;
}

// Fits every stretch, and says of every break by how much the clock stepped there. The map's
// segments of stretch k begin at (*begins)[k].
ClockMap FitStretches(std::span<const ClockPair> pairs, const ClockFitOptions& options,
                      ClockStretches* stretches, std::vector<size_t>* begins) {
  ClockMap map;
  begins->clear();
  const std::vector<size_t>& starts = stretches->starts;
  for (size_t k = 0; k < starts.size(); ++k) {
    const size_t last = k + 1 < starts.size() ? starts[k + 1] : pairs.size();
    std::vector<ClockSegment> pieces =
        FitStretch(pairs.subspan(starts[k], last - starts[k]), options);
    if (k > 0) {
      ClockBreak& b = stretches->breaks[k - 1];
      BeginAt(b.device_ns, &pieces.front());
      b.step_ns = std::llround(HostAt(pieces.front(), b.device_ns) -
                               HostAt(map.segments.back(), b.device_ns));
    }
    begins->push_back(map.segments.size());
    map.segments.insert(map.segments.end(), pieces.begin(), pieces.end());
  }
  for (size_t i = 0; i + 1 < map.segments.size(); ++i)
    map.segments[i].device_end_ns = map.segments[i + 1].device_begin_ns;
  return map;
}

// Whether a packet lies nearer to the line of `after` than to that of `before`.
bool LiesNearerTo(const ClockSegment& after, const ClockSegment& before, const ClockPair& pair) {
  const Point p = PointOf(pair);
  const auto offset = static_cast<double>(p.host_ns - p.device_ns);
  return std::abs(offset - HostAt(after, p.device_ns)) <
         std::abs(offset - HostAt(before, p.device_ns));
}

// A small loss of time is seen late, where the line before it is not yet known well: its break
// moves back to the first of the packets that lie nearer to the line after it. Whether any moved.
bool MoveBack(std::span<const ClockPair> pairs, const ClockMap& map,
              const std::vector<size_t>& begins, ClockStretches* stretches) {
  bool any = false;
  for (size_t k = 0; k < stretches->breaks.size(); ++k) {
    ClockBreak& found = stretches->breaks[k];
    size_t& start = stretches->starts[k + 1];
    const size_t was = start;
    const ClockSegment& after = map.segments[begins[k + 1]];
    if (found.told || found.step_ns <= 0) continue;
    while (start > stretches->starts[k] + 1 &&
           LiesNearerTo(after, map.segments[begins[k + 1] - 1], pairs[start - 1]))
      --start;
    if (start == was) continue;
    found.counter = pairs[start].counter;
    found.device_ns = pairs[start].device_ns;
    found.counter_before = pairs[start - 1].counter;
    any = true;
  }
  return any;
}

// Whether the device left out as much time as its clock gained at break `k`: a step beyond doubt.
bool LeftOutAsMuch(const ClockEvidence& evidence, const ClockStretches& stretches, size_t k,
                   double known_ns, const ClockFitOptions& options) {
  const auto gained = static_cast<double>(-stretches.breaks[k].step_ns);
  const auto left_out = static_cast<double>(evidence.LeftOut(stretches.starts[k + 1]));
  return left_out > 0.5 * gained && gained > 0.5 * left_out &&
         std::abs(left_out - gained) <= static_cast<double>(options.least_step.ns()) + known_ns;
}

// A stretch of the map between two breaks.
struct Stretch {
  size_t first, last;  // its segments: [first, last)
  double known_ns;     // how well they are known at their ends
  bool few;            // pairs
  double level_ns;     // above the first stretch of its group, by the steps between
};

// By how much stretch `k` of a group may have been late. The steps are known as well as the lines
// between are; a few packets between stretches of uncertain lines were late as those were.
std::vector<double> LatenessOf(std::span<const Stretch> group) {
  const auto lowest = static_cast<size_t>(
      std::min_element(group.begin(), group.end(),
                       [](const Stretch& a, const Stretch& b) { return a.level_ns < b.level_ns; }) -
      group.begin());
  std::vector<double> late(group.size(), 0.0);
  const auto walk = [&](size_t k, double* known) {
    *known = std::max(*known, group[k].known_ns);
    if (k != lowest) late[k] = group[k].level_ns - group[lowest].level_ns + *known;
  };
  double known = 0.0;
  for (size_t k = lowest; k < group.size(); ++k) walk(k, &known);
  known = 0.0;
  for (size_t k = lowest + 1; k > 0; --k) walk(k - 1, &known);
  for (size_t k = 0; k < group.size(); ++k) {
    if (!group[k].few) continue;
    const double left = k > 0 ? group[k - 1].known_ns : 0.0;
    const double right = k + 1 < group.size() ? group[k + 1].known_ns : 0.0;
    late[k] += std::max(left, right);
  }
  return late;
}

// From arrivals alone nobody can tell a step of the clock from packets that were late on one side
// of it. Of stretches that no step beyond doubt parts, each may have been late by what it lies
// above the lowest: so much more uncertain are its lines.
void AddWhatStepsMayBe(const ClockEvidence& evidence, const ClockFitOptions& options,
                       const ClockStretches& stretches, const std::vector<size_t>& begins,
                       ClockMap* map) {
  std::vector<Stretch> all;
  for (size_t k = 0; k < begins.size(); ++k) {
    Stretch next{begins[k], k + 1 < begins.size() ? begins[k + 1] : map->segments.size(), 0.0,
                 false, 0.0};
    int64_t count = 0;
    for (size_t i = next.first; i < next.last; ++i) {
      const ClockSegment& s = map->segments[i];
      next.known_ns = std::max(next.known_ns, ClockUncertaintyNs(*map, s.device_begin_ns));
      count += s.pair_count;
    }
    next.few = count < static_cast<int64_t>(options.few_pairs);
    all.push_back(next);
  }
  for (size_t from = 0, to = 0; from < all.size(); from = to) {
    for (to = from + 1; to < all.size(); ++to) {
      const double known_ns = all[to - 1].known_ns + all[to].known_ns;
      const ClockBreak& b = stretches.breaks[to - 1];
      if (b.told || LeftOutAsMuch(evidence, stretches, to - 1, known_ns, options)) break;
      all[to].level_ns = all[to - 1].level_ns + static_cast<double>(b.step_ns);
    }
    const std::vector<double> late = LatenessOf(std::span(all).subspan(from, to - from));
    for (size_t k = from; k < to; ++k)
      for (size_t i = all[k].first; i < all[k].last; ++i)
        map->segments[i].offset_sd_ns += 0.5 * late[k - from];
  }
}

Result<ClockFit> Fit(const ClockEvidence& evidence, const ClockFitOptions& options,
                     std::span<const ToldBreak> told_breaks) {
  const std::span<const ClockPair> pairs = evidence.pairs;
  for (size_t i = 1; i < pairs.size(); ++i) {
    if (pairs[i].device_ns < pairs[i - 1].device_ns) {
      return Error{ErrorCode::kInvalid, "device times go back at counter " +
                                            std::to_string(pairs[i].counter) +
                                            ": the source must unwrap counters over a reset"};
    }
  }
  if (pairs.size() < 2 || pairs.front().device_ns == pairs.back().device_ns) {
    return Error{ErrorCode::kUnidentifiable,
                 "fewer than two device times: the clock's rate is not determined"};
  }
  constexpr int kRounds = 8;
  ClockFit fit;
  ClockStretches stretches = FindStretches(evidence, options, told_breaks);
  std::vector<size_t> begins;
  fit.map = FitStretches(pairs, options, &stretches, &begins);
  if (MoveBack(pairs, fit.map, begins, &stretches))
    fit.map = FitStretches(pairs, options, &stretches, &begins);
  for (int round = 1; TakeBackImpossible(evidence, round > kRounds, &stretches); ++round)
    fit.map = FitStretches(pairs, options, &stretches, &begins);
  AddWhatStepsMayBe(evidence, options, stretches, begins, &fit.map);
  fit.breaks = std::move(stretches.breaks);
  return fit;
}

}  // namespace

Result<ClockFit> FitClock(std::span<const ClockPair> pairs, const ClockFitOptions& options,
                          std::span<const ToldBreak> told_breaks) {
  return Fit({pairs, {}}, options, told_breaks);
}

Result<ClockFit> FitClock(const ClockPairThinner& thinner, const ClockFitOptions& options,
                          std::span<const ToldBreak> told_breaks) {
  return Fit({thinner.pairs(), thinner.steps_ns()}, options, told_breaks);
}

void LocateBreak(std::span<const ClockPair> between, size_t which, ClockFit* fit) {
  ClockBreak& found = fit->breaks[which];
  std::vector<ClockSegment>& segments = fit->map.segments;
  const auto after = std::find_if(segments.begin() + 1, segments.end(), [&](const ClockSegment& s) {
    return s.device_begin_ns == found.device_ns;
  });
  CHECK(after != segments.end());
  const auto before = after - 1;
  const auto nearer_after = [&](const ClockPair& pair) {
    return LiesNearerTo(*after, *before, pair);
  };
  auto first = std::find_if(between.begin(), between.end(), nearer_after);
  if (found.step_ns > 0)
    first = std::find_if_not(between.rbegin(), between.rend(), nearer_after).base();
  if (first == between.end()) return;
  found.counter = first->counter;
  found.device_ns = first->device_ns;
  BeginAt(found.device_ns, &*after);
  before->device_end_ns = found.device_ns;
}

double ClockUncertaintyNs(const ClockMap& map, int64_t device_ns) {
  if (!map.valid()) return std::numeric_limits<double>::infinity();
  const ClockSegment& s = map.SegmentAt(device_ns);
  const double middle =
      0.5 * (static_cast<double>(s.device_begin_ns) + static_cast<double>(s.device_end_ns));
  return 2.0 * std::hypot(s.offset_sd_ns, s.rate_sd * (static_cast<double>(device_ns) - middle));
}

}  // namespace handhold::capture
