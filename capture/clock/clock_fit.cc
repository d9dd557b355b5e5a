#include "capture/clock/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/base/check.h"

namespace handhold::capture {
namespace {

using recording::ClockMap;
using recording::ClockPair;
using recording::ClockSegment;

struct Point {
  int64_t device_ns;
  int64_t host_ns;  ///< receive time less the reported latency
};

Point PointOf(const ClockPair& pair) { return {pair.device_ns, pair.host_ns - pair.latency_ns}; }

// A line through an exact point, so that large times keep their nanoseconds.
struct Line {
  Point at{0, 0};
  double rate_error = 0.0;
  double Residual(const Point& p) const {
    const int64_t elapsed = p.device_ns - at.device_ns;
    return static_cast<double>(p.host_ns - at.host_ns - elapsed) -
           rate_error * static_cast<double>(elapsed);
  }
};

// Lower convex hull, grown by points of ascending device time.
class LowerHull {
 public:
  void Add(const Point& p) {
    if (!points_.empty() && points_.back().device_ns == p.device_ns) {
      if (p.host_ns >= points_.back().host_ns) return;
      points_.pop_back();
    }
    while (points_.size() >= 2 && !TurnsUp(points_[points_.size() - 2], points_.back(), p))
      points_.pop_back();
    points_.push_back(p);
  }
  size_t size() const { return points_.size(); }
  // The edge above `device_ns`: of all lines under the points the one highest there. Precondition:
  // size() >= 2.
  Line EdgeAt(double device_ns) const {
    size_t i = 1;
    while (i + 1 < points_.size() && static_cast<double>(points_[i].device_ns) < device_ns) ++i;
    return Through(points_[i - 1], points_[i]);
  }

 private:
  static bool TurnsUp(const Point& a, const Point& b, const Point& c) {
    const __int128 left =
        static_cast<__int128>(b.host_ns - a.host_ns) * (c.device_ns - b.device_ns);
    const __int128 right =
        static_cast<__int128>(c.host_ns - b.host_ns) * (b.device_ns - a.device_ns);
    return right > left;
  }
  static Line Through(const Point& a, const Point& b) {
    const auto run = static_cast<double>(b.device_ns - a.device_ns);
    return {a, static_cast<double>((b.host_ns - a.host_ns) - (b.device_ns - a.device_ns)) / run};
  }
  std::vector<Point> points_;
};

// The line under all points; no steeper than crystals are, and then resting on one point.
Line EdgeOf(std::span<const ClockPair> pairs, const ClockFitOptions& options) {
  LowerHull hull;
  double mean = 0.0;
  for (const ClockPair& pair : pairs) {
    hull.Add(PointOf(pair));
    mean += static_cast<double>(pair.device_ns - pairs.front().device_ns) /
            static_cast<double>(pairs.size());
  }
  Line line = hull.EdgeAt(static_cast<double>(pairs.front().device_ns) + mean);
  if (std::abs(line.rate_error) <= options.largest_rate_error) return line;
  line.rate_error = std::copysign(options.largest_rate_error, line.rate_error);
  const auto least =
      std::min_element(pairs.begin(), pairs.end(), [&](const ClockPair& a, const ClockPair& b) {
        return line.Residual(PointOf(a)) < line.Residual(PointOf(b));
      });
  line.at = PointOf(*least);
  return line;
}

// Walks through the pairs and cuts where the lower edge shifts for good.
class BreakFinder {
 public:
  BreakFinder(std::span<const ClockPair> pairs, const ClockFitOptions& options,
              std::span<const ToldBreak> told)
      : pairs_(pairs), options_(options), told_(told) {}

  // Indices of the first pair of every segment (0 included), and the breaks between them.
  std::vector<size_t> Run(std::vector<ClockBreak>* breaks) {
    std::vector<size_t> starts = {0};
    Begin(0);
    for (size_t i = 1; i < pairs_.size(); ++i) {
      // Thinned pairs need not hold the very packet: the first at or after it tells of the segment.
      const auto beyond =
          std::upper_bound(told_.begin(), told_.end(), pairs_[i].counter,
                           [](int64_t counter, const ToldBreak& b) { return counter < b.counter; });
      const ToldBreak* told = beyond == told_.begin() ? nullptr : &*(beyond - 1);
      if (told != nullptr && told->counter <= pairs_[i - 1].counter) told = nullptr;
      const size_t cut = told != nullptr ? i : Look(i);
      if (cut == kNone) continue;
      ClockBreak found;
      found.told = told != nullptr;
      found.counter = found.told ? told->counter : pairs_[cut].counter;
      found.device_ns = found.told ? told->device_ns : pairs_[cut].device_ns;
      found.counter_before = pairs_[cut - 1].counter;
      breaks->push_back(found);
      starts.push_back(cut);
      Begin(cut);
      i = cut;
    }
    return starts;
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  void Begin(size_t first) {
    first_ = first;
    hull_ = LowerHull();
    hull_.Add(PointOf(pairs_[first]));
    line_ = {PointOf(pairs_[first]), 0.0};
    line_span_ns_ = 0;
    late_since_ = kNone;
  }

  // Takes pair i into the current segment, or says where it ended.
  size_t Look(size_t i) {
    const Point p = PointOf(pairs_[i]);
    const double residual = line_.Residual(p);
    const auto age = static_cast<double>(p.device_ns - pairs_[first_].device_ns);
    // While the segment is young its rate is known no better than crystals are.
    const double known = std::max(1.0, static_cast<double>(line_span_ns_));
    const double rate_slack = std::min(options_.largest_rate_error,
                                       static_cast<double>(options_.least_step.ns()) / known);
    const double beyond = std::max(0.0, age - static_cast<double>(line_span_ns_));
    const double tolerance = static_cast<double>(options_.least_step.ns()) + rate_slack * beyond;
    if (residual < -tolerance && line_span_ns_ > 0) return i;
    if (residual <= tolerance) {
      late_since_ = kNone;
      hull_.Add(p);
      if (age > 1.25 * static_cast<double>(line_span_ns_) && hull_.size() >= 2 && age > 1e9) {
        line_ = hull_.EdgeAt(static_cast<double>(pairs_[first_].device_ns) + 0.5 * age);
        line_.rate_error =
            std::clamp(line_.rate_error, -options_.largest_rate_error, options_.largest_rate_error);
        line_span_ns_ = p.device_ns - pairs_[first_].device_ns;
      }
      return kNone;
    }
    if (late_since_ == kNone) late_since_ = i;
    // On both clocks: a backlog that comes in a burst is long on the device's only.
    const Point since = PointOf(pairs_[late_since_]);
    if (std::min(p.device_ns - since.device_ns, p.host_ns - since.host_ns) > options_.confirm.ns())
      return late_since_;
    return kNone;
  }

  std::span<const ClockPair> pairs_;
  const ClockFitOptions& options_;
  std::span<const ToldBreak> told_;
  size_t first_ = 0;
  LowerHull hull_;
  Line line_;
  int64_t line_span_ns_ = 0;
  size_t late_since_ = kNone;
};

double Quantile(std::vector<double>* values, double share) {
  const auto k = static_cast<std::ptrdiff_t>(share * static_cast<double>(values->size() - 1));
  std::nth_element(values->begin(), values->begin() + k, values->end());
  return (*values)[static_cast<size_t>(k)];
}

// Takes back the breaks that were lateness: a segment that goes on where an earlier one left off,
// with nothing but late packets between them; and one that begins earlier than the one before
// ended, by more device time than is missing there. A device's clock gains time by leaving out some
// of it; lateness that ends leaves out none.
//
// Cost: at most kLooksPerPair looks at a packet or a stretch for each packet, also where every
// packet is a break; when they are spent, the breaks that are left stay (more segments, each known
// by its own packets). What is merged is measured anew when it has doubled. Memory: the stretches.
class LatenessMerger {
 public:
  LatenessMerger(std::span<const ClockPair> pairs, std::span<const int64_t> steps_ns,
                 const ClockFitOptions& options)
      : pairs_(pairs),
        steps_ns_(steps_ns),
        options_(options),
        looks_left_(kLooksPerPair * static_cast<int64_t>(pairs.size())) {}

  void Run(std::vector<size_t>* starts, std::vector<ClockBreak>* breaks) {
    std::vector<Stretch> kept;
    std::vector<ClockBreak> kept_breaks;  // kept_breaks[i] lies before kept[i + 1]
    for (size_t s = 0; s < starts->size(); ++s) {
      const size_t last = s + 1 < starts->size() ? (*starts)[s + 1] : pairs_.size();
      const Stretch next = Measure((*starts)[s], last);
      size_t into = kept.size();
      if (s > 0 && !(*breaks)[s - 1].told) {
        for (size_t j = kept.size(); j > 0 && looks_left_ > 0; --j) {
          --looks_left_;
          if (j < kept.size() && kept_breaks[j - 1].told) break;
          if (GoesOn(kept[j - 1], next)) into = j - 1;
        }
      }
      if (into < kept.size()) {
        kept.resize(into + 1);
        kept_breaks.resize(into);
        Stretch& grown = kept.back();
        grown.last = last;
        if (last - grown.first >= 2 * (grown.measured - grown.first))
          grown = Measure(grown.first, last);
      } else {
        if (s > 0) kept_breaks.push_back((*breaks)[s - 1]);
        kept.push_back(next);
      }
      while (kept.size() > 1 && looks_left_ > 0 && !kept_breaks.back().told &&
             WasLate(kept[kept.size() - 2], kept.back())) {
        kept.back().first = kept[kept.size() - 2].first;
        kept.erase(kept.end() - 2);
        kept_breaks.pop_back();
      }
    }
    starts->clear();
    for (const Stretch& stretch : kept) starts->push_back(stretch.first);
    *breaks = std::move(kept_breaks);
  }

 private:
  struct Stretch {
    size_t first = 0, last = 0;  // [first, last)
    Line line;                   // of [line_from, measured), that lasted span_ns
    int64_t span_ns = 0;
    size_t measured = 0;
    size_t line_from = 0;  // from `first` to here packets were late
  };

  Stretch Measure(size_t first, size_t last) const {
    Stretch out{first, last, {PointOf(pairs_[first]), 0.0}, 0, last, first};
    if (pairs_[first].device_ns == pairs_[last - 1].device_ns) return out;
    out.line = EdgeOf(pairs_.subspan(first, last - first), options_);
    out.span_ns = pairs_[last - 1].device_ns - pairs_[first].device_ns;
    return out;
  }

  // How far off the line of a stretch may be for each nanosecond it is extrapolated.
  double RateSlack(const Stretch& known) const {
    const auto span = static_cast<double>(std::max<int64_t>(1, known.span_ns));
    return std::min(options_.largest_rate_error,
                    static_cast<double>(options_.least_step.ns()) / span);
  }

  double LeastResidual(const Line& line, size_t first, size_t last) {
    looks_left_ -= static_cast<int64_t>(last - first);
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = first; i < last; ++i)
      least = std::min(least, line.Residual(PointOf(pairs_[i])));
    return least;
  }

  // Extrapolates the longer of the two, whose rate is known best, over what lies between them.
  bool GoesOn(const Stretch& before, const Stretch& after) {
    const bool forward = before.span_ns >= after.span_ns;
    const Stretch& known = forward ? before : after;
    if (known.span_ns == 0) return false;
    const int64_t end = pairs_[before.last - 1].device_ns, begin = pairs_[after.first].device_ns;
    const double tolerance = static_cast<double>(options_.least_step.ns()) +
                             RateSlack(known) * static_cast<double>(begin - end);
    // The edge of the shorter one, where it is nearest.
    size_t from = after.first, to = after.first;
    if (forward) {
      while (to < after.last && pairs_[to].device_ns - begin <= options_.confirm.ns()) ++to;
    } else {
      from = to = before.last;
      while (from > before.first && end - pairs_[from - 1].device_ns <= options_.confirm.ns())
        --from;
    }
    return std::abs(LeastResidual(known.line, from, to)) <= tolerance &&
           LeastResidual(known.line, before.last, after.first) >= -tolerance;
  }

  // Whether the end of `before` lies so far above the line of `after` that times would run
  // backwards from one sample to the next.
  bool WasLate(const Stretch& before, const Stretch& after) {
    int64_t most_step = 0;
    looks_left_ -= static_cast<int64_t>(after.line_from - before.last) + 1;
    for (size_t i = before.last; i <= after.line_from; ++i) {
      const int64_t step =
          steps_ns_.empty() ? pairs_[i].device_ns - pairs_[i - 1].device_ns : steps_ns_[i];
      most_step = std::max(most_step, step);
    }
    const int64_t end = pairs_[before.last - 1].device_ns;
    size_t from = before.last;
    while (from > before.first && end - pairs_[from - 1].device_ns <= options_.confirm.ns()) --from;
    const auto away =
        static_cast<double>(pairs_[after.line_from].device_ns - pairs_[from].device_ns);
    const double tolerance =
        0.25 * static_cast<double>(options_.least_step.ns()) + RateSlack(after) * away;
    // A few packets may be nearly on time: the last of a backlog.
    std::vector<double> residuals;
    for (size_t i = from; i < before.last; ++i)
      residuals.push_back(after.line.Residual(PointOf(pairs_[i])));
    looks_left_ -= static_cast<int64_t>(residuals.size());
    double late = Quantile(&residuals, 0.1);
    // A line held at the largest rate error need not touch its packets where it begins.
    if (std::abs(after.line.rate_error) >= options_.largest_rate_error)
      late -= after.line.Residual(PointOf(pairs_[after.line_from]));
    return late > static_cast<double>(most_step) + tolerance;
  }

  static constexpr int64_t kLooksPerPair = 256;
  std::span<const ClockPair> pairs_;
  std::span<const int64_t> steps_ns_;
  const ClockFitOptions& options_;
  int64_t looks_left_;
};

// How well the line is known. The gaps that the lower edge leaves in each of sixteen blocks say how
// densely packets of least delay lie; an edge rests on such packets, so it is uncertain by about
// one such gap. A block in which every packet is late by more than a break would be (a backlog, a
// starved machine) is no evidence: it neither widens the gaps nor lengthens the span. When most
// blocks are so, they are evidence that the line rests on too little; of one that was held at the
// largest rate error, that the clock is at the wrong rate: it passes the packets by as much as the
// worst block says.
void SetUncertainty(std::span<const ClockPair> pairs, const Line& line,
                    const ClockFitOptions& options, ClockSegment* segment) {
  constexpr size_t kBlocks = 16;
  constexpr double kShort_ns = 1e9;
  const auto least_step = static_cast<double>(options.least_step.ns());
  const bool bounded = std::abs(line.rate_error) >= options.largest_rate_error;
  struct Block {
    size_t first, last;
    double least;
  };
  std::vector<Block> blocks;
  size_t late = 0;
  for (size_t k = 0; k < kBlocks; ++k) {
    Block block{k * pairs.size() / kBlocks, (k + 1) * pairs.size() / kBlocks,
                std::numeric_limits<double>::infinity()};
    if (block.first == block.last) continue;
    for (size_t i = block.first; i < block.last; ++i)
      block.least = std::min(block.least, line.Residual(PointOf(pairs[i])));
    late += block.least > least_step;
    blocks.push_back(block);
  }
  const bool mostly_late = 2 * late > blocks.size();
  double gaps = 0.0, largest = 0.0;
  int on_time = 0;
  int64_t begin = pairs.back().device_ns, end = pairs.front().device_ns;
  for (const Block& block : blocks) {
    if (block.least > least_step && !mostly_late) continue;
    largest = std::max(largest, block.least);
    gaps += block.least;
    ++on_time;
    begin = std::min(begin, pairs[block.first].device_ns);
    end = std::max(end, pairs[block.last - 1].device_ns);
  }
  const double gap = gaps / std::max(1, on_time) + 1.0;
  const double span = std::max(1.0, static_cast<double>(end - begin));
  segment->offset_sd_ns = 2.0 * gap;
  segment->rate_sd = 3.0 * gap / span;
  if (pairs.size() < options.few_pairs || span < kShort_ns) {
    // All of a few packets may have been late, by what a break must exceed.
    segment->offset_sd_ns = std::max(2.0 * gap, least_step);
    segment->rate_sd =
        std::max(segment->rate_sd, std::min(options.largest_rate_error, least_step / span));
  }
  segment->rate_sd = std::min(segment->rate_sd, options.largest_rate_error);
  const double off_centre = 0.5 * (static_cast<double>(begin - segment->device_begin_ns) +
                                   static_cast<double>(end - segment->device_end_ns));
  segment->offset_sd_ns = std::hypot(segment->offset_sd_ns, segment->rate_sd * off_centre);
  if (bounded) segment->offset_sd_ns = std::max(segment->offset_sd_ns, largest);
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

// `steps_ns[i]`: the most device time between consecutive samples after pair i - 1, up to pair i;
// empty: pairs are all there were.
Result<ClockFit> Fit(std::span<const ClockPair> pairs, std::span<const int64_t> steps_ns,
                     const ClockFitOptions& options, std::span<const ToldBreak> told_breaks) {
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
  ClockFit fit;
  std::vector<size_t> starts = BreakFinder(pairs, options, told_breaks).Run(&fit.breaks);
  LatenessMerger(pairs, steps_ns, options).Run(&starts, &fit.breaks);
  for (size_t s = 0; s < starts.size(); ++s) {
    const size_t first = starts[s], last = s + 1 < starts.size() ? starts[s + 1] : pairs.size();
    std::span<const ClockPair> stretch = pairs.subspan(first, last - first);
    const int64_t length = stretch.back().device_ns - stretch.front().device_ns;
    std::vector<ClockSegment> pieces;
    if (length == 0) {
      // A stretch of one packet: offset from it, nominal rate, and the uncertainty that this means.
      ClockSegment lone;
      lone.device_begin_ns = stretch.front().device_ns;
      lone.device_end_ns = lone.device_begin_ns + 1;
      lone.host_begin_ns = PointOf(stretch.front()).host_ns;
      lone.offset_sd_ns = static_cast<double>(options.least_step.ns());
      lone.rate_sd = options.largest_rate_error;
      lone.pair_count = 1;
      pieces.push_back(lone);
    } else {
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
    }
    if (s > 0) BeginAt(fit.breaks[s - 1].device_ns, &pieces.front());
    for (const ClockSegment& piece : pieces) fit.map.segments.push_back(piece);
    if (s > 0) {
      const size_t before = fit.map.segments.size() - pieces.size() - 1;
      ClockBreak& b = fit.breaks[s - 1];
      b.step_ns = std::llround(HostAt(fit.map.segments[before + 1], b.device_ns) -
                               HostAt(fit.map.segments[before], b.device_ns));
    }
  }
  for (size_t i = 0; i + 1 < fit.map.segments.size(); ++i) {
    fit.map.segments[i].device_end_ns = fit.map.segments[i + 1].device_begin_ns;
  }
  return fit;
}

}  // namespace

Result<ClockFit> FitClock(std::span<const ClockPair> pairs, const ClockFitOptions& options,
                          std::span<const ToldBreak> told_breaks) {
  return Fit(pairs, {}, options, told_breaks);
}

Result<ClockFit> FitClock(const ClockPairThinner& thinner, const ClockFitOptions& options,
                          std::span<const ToldBreak> told_breaks) {
  return Fit(thinner.pairs(), thinner.steps_ns(), options, told_breaks);
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
    const Point p = PointOf(pair);
    const auto offset = static_cast<double>(p.host_ns - p.device_ns);
    return std::abs(offset - HostAt(*after, p.device_ns)) <
           std::abs(offset - HostAt(*before, p.device_ns));
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
