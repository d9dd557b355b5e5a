#include "fitting/signal/series.h"

#include <cmath>
#include <limits>

#include "database/base/check.h"
#include "fitting/signal/missing.h"
#include "fitting/signal/polynomial.h"

namespace handhold::fitting {
namespace {

double Slope(std::span<const Timestamp> t, std::span<const double> y, size_t a, size_t b) {
  return (y[b] - y[a]) / (t[b] - t[a]).seconds();
}

}  // namespace

std::vector<double> Derivative(std::span<const Timestamp> times, std::span<const double> values) {
  CHECK_EQ(times.size(), values.size());
  const size_t n = values.size();
  std::vector<double> out(n, kMissing);
  auto finite = [&](size_t i) { return i < n && std::isfinite(values[i]); };
  for (size_t i = 0; i < n; ++i) {
    if (!finite(i)) continue;
    const bool before = i > 0 && finite(i - 1);
    const bool after = finite(i + 1);
    if (before && after) {
      const double h0 = (times[i] - times[i - 1]).seconds();
      const double h1 = (times[i + 1] - times[i]).seconds();
      out[i] =
          (Slope(times, values, i - 1, i) * h1 + Slope(times, values, i, i + 1) * h0) / (h0 + h1);
    } else if (before || after) {
      // One-sided parabola where a third sample exists, else the chord.
      const size_t j = before ? i - 1 : i + 1;
      const bool third = before ? (i >= 2 && finite(i - 2)) : finite(i + 2);
      out[i] = Slope(times, values, i, j);
      if (third) {
        const size_t k = before ? i - 2 : i + 2;
        const double h0 = (times[j] - times[i]).seconds();
        const double h1 = (times[k] - times[i]).seconds();
        out[i] = (Slope(times, values, i, j) * h1 - Slope(times, values, i, k) * h0) / (h1 - h0);
      }
    }
  }
  return out;
}

std::vector<double> SmoothDerivative(std::span<const Timestamp> times,
                                     std::span<const double> values, Duration half_window,
                                     int degree, int order) {
  CHECK_EQ(times.size(), values.size());
  CHECK(order >= 0 && order <= 2 && order <= degree);
  const size_t n = values.size();
  std::vector<double> out(n, kMissing);
  size_t begin = 0, end = 0;
  std::vector<double> t, y;
  for (size_t i = 0; i < n; ++i) {
    while (begin < n && times[begin] < times[i] - half_window) ++begin;
    while (end < n && times[end] <= times[i] + half_window) ++end;
    if (!std::isfinite(values[i])) continue;
    t.clear();
    y.clear();
    for (size_t k = begin; k < end; ++k) {
      t.push_back((times[k] - times[i]).seconds());
      y.push_back(values[k]);
    }
    auto fit = FitPolynomial(t, y, degree, 0.0);
    if (fit) out[i] = fit->coefficient[order] * (order == 2 ? 2.0 : 1.0);
  }
  return out;
}

std::vector<double> ResampleAt(std::span<const Timestamp> times, std::span<const double> values,
                               std::span<const Timestamp> query, Duration max_gap) {
  CHECK_EQ(times.size(), values.size());
  std::vector<double> out(query.size(), kMissing);
  size_t i = 0;
  for (size_t q = 0; q < query.size(); ++q) {
    while (i + 1 < times.size() && times[i + 1] <= query[q]) ++i;
    if (times.empty() || query[q] < times[0] || query[q] > times.back()) continue;
    if (query[q] == times[i]) {
      out[q] = values[i];
    } else if (i + 1 < times.size() && times[i + 1] - times[i] <= max_gap) {
      const double u = (query[q] - times[i]).seconds() / (times[i + 1] - times[i]).seconds();
      out[q] = values[i] + u * (values[i + 1] - values[i]);
    }
  }
  return out;
}

FilledSeries FillShortGaps(std::span<const Timestamp> times, std::span<const double> values,
                           Duration max_gap) {
  CHECK_EQ(times.size(), values.size());
  const size_t n = values.size();
  FilledSeries out;
  out.values.assign(values.begin(), values.end());
  out.origins.assign(n, recording::SampleOrigin::kMeasured);
  auto finite = [&](size_t i) { return std::isfinite(values[i]); };
  size_t i = 0;
  while (i < n) {
    if (finite(i)) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < n && !finite(end)) ++end;
    const bool fillable = i > 0 && end < n && times[end] - times[i - 1] <= max_gap;
    for (size_t k = i; k < end; ++k) {
      out.origins[k] =
          fillable ? recording::SampleOrigin::kInterpolated : recording::SampleOrigin::kMissing;
      out.values[k] = kMissing;
    }
    if (fillable) {
      const size_t a = i - 1, b = end;
      const double h = (times[b] - times[a]).seconds();
      const double chord = Slope(times, values, a, b);
      const double s0 = a > 0 && finite(a - 1) ? Slope(times, values, a - 1, a) : chord;
      const double s1 = b + 1 < n && finite(b + 1) ? Slope(times, values, b, b + 1) : chord;
      for (size_t k = i; k < end; ++k) {
        const double u = (times[k] - times[a]).seconds() / h;
        const double v = 1.0 - u;  // cubic Hermite
        out.values[k] = v * v * (1 + 2 * u) * values[a] + u * u * (3 - 2 * u) * values[b] +
                        h * u * v * (v * s0 - u * s1);
      }
    }
    i = end;
  }
  return out;
}

}  // namespace handhold::fitting
