#include "tools/report/take_summary.h"

#include <algorithm>
#include <cmath>

#include "tools/report/html.h"

namespace handhold::report {
namespace {

const std::string kGap = "\xE2\x80\xAF";  // narrow, between a figure and its unit: never broken

std::string DeviceOf(const std::string& stream) { return stream.substr(0, stream.find('/')); }

/// "vicon/markers" alone, "vicon (4 streams)" together.
std::string StreamsText(const std::string& first, int count) {
  if (first.empty()) return "recorder";
  return count > 1 ? DeviceOf(first) + " (" + std::to_string(count) + " streams)" : first;
}

/// Rows that are `same` as an earlier one of the same device join it; order is kept.
template <typename Row, typename Same>
std::vector<std::pair<Row, int>> Joined(const std::vector<Row>& rows, const Same& same) {
  std::vector<std::pair<Row, int>> out;
  for (const Row& row : rows) {
    const auto earlier = std::find_if(out.begin(), out.end(), [&](const auto& other) {
      return DeviceOf(other.first.stream) == DeviceOf(row.stream) &&
             other.first.stream != row.stream && same(other.first, row);
    });
    if (earlier != out.end()) {
      ++earlier->second;
    } else {
      out.emplace_back(row, 1);
    }
  }
  return out;
}

std::string SecondsText(double s) {
  const double size = std::abs(s);
  if (size == 0) return "0" + kGap + "ms";
  if (size < 1e-4) return Significant(1e6 * s, 2) + kGap + "µs";
  if (size < 1) return Significant(1e3 * s, 2) + kGap + "ms";
  if (size < 3600) return Significant(s, 3) + kGap + "s";
  return Fixed(s / 3600, 1) + kGap + "h";
}

}  // namespace

std::vector<GapRow> MergedGaps(const TakeSection& take) {
  std::vector<GapRow> gaps;
  for (const auto& [gap, count] : Joined(take.gaps, [](const GapRow& a, const GapRow& b) {
         return a.begin_s == b.begin_s && a.samples == b.samples && a.cause == b.cause;
       })) {
    gaps.push_back(gap);
    gaps.back().stream = StreamsText(gap.stream, count);
  }
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const GapRow& a, const GapRow& b) { return a.begin_s < b.begin_s; });
  return gaps;
}

std::vector<HealthLine> HealthLines(const TakeSection& take) {
  std::vector<HealthLine> lines;
  for (const auto& [q, count] : Joined(take.health, [](const HealthRow& a, const HealthRow& b) {
         return a.what == b.what && a.value == b.value && a.worst == b.worst && a.red == b.red;
       })) {
    std::string figure = q.what;
    for (const char* unit : {"_s", "_Hz", "_fraction"}) {
      if (figure.ends_with(unit)) figure.resize(figure.size() - std::string(unit).size());
    }
    std::replace(figure.begin(), figure.end(), '_', ' ');
    lines.push_back({StreamsText(q.stream, count), std::move(figure), QuantityText(q.what, q.value),
                     QuantityText(q.what, q.worst), QuantityText(q.what, q.threshold), q.cause,
                     q.red});
  }
  std::stable_partition(lines.begin(), lines.end(), [](const HealthLine& l) { return l.red; });
  return lines;
}

std::string QuantityText(const std::string& name, double value) {
  if (!std::isfinite(value)) return Plain(value);
  if (name.ends_with("_Hz")) return Plain(std::round(10 * value) / 10) + kGap + "Hz";
  if (name.ends_with("_fraction")) return Fixed(100 * value, 1) + kGap + "%";
  if (name.ends_with("_s")) return SecondsText(value);
  return value == std::round(value) ? Grouped(std::llround(value)) : Plain(value);
}

}  // namespace handhold::report
