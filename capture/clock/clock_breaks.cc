#include "capture/clock/clock_breaks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "capture/clock/clock_line.h"

namespace handhold::capture {
namespace {

using recording::ClockPair;

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
  LatenessMerger(const ClockEvidence& evidence, const ClockFitOptions& options)
      : evidence_(evidence),
        pairs_(evidence.pairs),
        options_(options),
        looks_left_(kLooksPerPair * static_cast<int64_t>(evidence.pairs.size())) {}

  void Run(ClockStretches* stretches) {
    std::vector<size_t>* starts = &stretches->starts;
    std::vector<ClockBreak>* breaks = &stretches->breaks;
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
    for (size_t k = 0; k < kept.size(); ++k) {
      if (k > 0 && !kept_breaks[k - 1].told) Place(&kept[k], &kept_breaks[k - 1]);
      starts->push_back(kept[k].first);
    }
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
    for (size_t i = before.last; i <= after.line_from; ++i)
      most_step = std::max(most_step, evidence_.StepInto(i));
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

  // A stretch that begins with lateness begins where the device left out time, if it did.
  void Place(Stretch* stretch, ClockBreak* found) {
    size_t most = stretch->first;
    for (size_t i = most; i <= stretch->line_from; ++i)
      if (evidence_.StepInto(i) > evidence_.StepInto(most)) most = i;
    if (evidence_.LeftOut(most) <= options_.least_step.ns()) return;
    stretch->first = most;
    found->counter = pairs_[most].counter;
    found->device_ns = pairs_[most].device_ns;
    found->counter_before = pairs_[most - 1].counter;
  }

  static constexpr int64_t kLooksPerPair = 256;
  const ClockEvidence& evidence_;
  std::span<const ClockPair> pairs_;
  const ClockFitOptions& options_;
  int64_t looks_left_;
};

}  // namespace

int64_t ClockEvidence::LeftOut(size_t i) const {
  constexpr size_t kAround = 16;
  std::vector<double> around;
  for (size_t k = i > kAround ? i - kAround : 1; k < std::min(pairs.size(), i + kAround + 1); ++k)
    if (k != i) around.push_back(static_cast<double>(StepInto(k)));
  if (around.empty()) return 0;
  return StepInto(i) - std::llround(Quantile(&around, 0.5));
}

ClockStretches FindStretches(const ClockEvidence& evidence, const ClockFitOptions& options,
                             std::span<const ToldBreak> told) {
  ClockStretches out;
  out.starts = BreakFinder(evidence.pairs, options, told).Run(&out.breaks);
  LatenessMerger(evidence, options).Run(&out);
  return out;
}

bool TakeBackImpossible(const ClockEvidence& evidence, bool every, ClockStretches* stretches) {
  // Where the break is placed to the packet, the lines differ by a little more or less.
  constexpr int64_t kNarrow = 10;
  std::vector<size_t> starts = {stretches->starts.front()};
  std::vector<ClockBreak> breaks;
  for (size_t k = 0; k < stretches->breaks.size(); ++k) {
    const ClockBreak& found = stretches->breaks[k];
    const size_t start = stretches->starts[k + 1];
    const int64_t step = evidence.StepInto(start), usual = step - evidence.LeftOut(start);
    if (!found.told && (every || -found.step_ns >= step - usual / kNarrow)) continue;
    starts.push_back(start);
    breaks.push_back(found);
  }
  const bool any = breaks.size() < stretches->breaks.size();
  *stretches = {std::move(starts), std::move(breaks)};
  return any;
}

}  // namespace handhold::capture
