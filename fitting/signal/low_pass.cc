#include "fitting/signal/low_pass.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "database/base/units.h"

namespace handhold::fitting {
namespace {

struct Biquad {
  double b0, b1, b2, a1, a2;
};

std::vector<Biquad> Design(double rate_Hz, double cutoff_Hz, int order) {
  std::vector<Biquad> sections;
  const double k = std::tan(kPi * cutoff_Hz / rate_Hz);
  for (int i = 0; i < order / 2; ++i) {
    const double q = 1.0 / (2.0 * std::cos(kPi * (2 * i + 1) / (2.0 * order)));
    const double norm = 1.0 / (1.0 + k / q + k * k);
    sections.push_back({k * k * norm, 2 * k * k * norm, k * k * norm, 2 * (k * k - 1) * norm,
                        (1 - k / q + k * k) * norm});
  }
  return sections;
}

/// One pass in place, started in the steady state of the first value.
void Pass(const std::vector<Biquad>& sections, std::vector<double>* x) {
  for (const Biquad& s : sections) {
    double z1 = x->front() * (1.0 - s.b0);
    double z2 = x->front() * (s.b2 - s.a2);
    for (double& v : *x) {
      const double y = s.b0 * v + z1;
      z1 = s.b1 * v - s.a1 * y + z2;
      z2 = s.b2 * v - s.a2 * y;
      v = y;
    }
  }
}

void FilterRun(const std::vector<Biquad>& sections, size_t pad_wanted, std::span<const double> in,
               std::span<double> out) {
  const size_t n = in.size();
  if (n < 3) {
    std::copy(in.begin(), in.end(), out.begin());
    return;
  }
  const size_t pad = std::min(pad_wanted, n - 1);
  std::vector<double> x;
  x.reserve(n + 2 * pad);
  for (size_t i = pad; i >= 1; --i) x.push_back(2 * in[0] - in[i]);
  x.insert(x.end(), in.begin(), in.end());
  for (size_t i = 1; i <= pad; ++i) x.push_back(2 * in[n - 1] - in[n - 1 - i]);
  Pass(sections, &x);
  std::reverse(x.begin(), x.end());
  Pass(sections, &x);
  std::reverse(x.begin(), x.end());
  std::copy(x.begin() + static_cast<std::ptrdiff_t>(pad),
            x.begin() + static_cast<std::ptrdiff_t>(pad + n), out.begin());
}

}  // namespace

Result<std::vector<double>> LowPass(std::span<const double> values, double rate_Hz,
                                    const LowPassOptions& options) {
  if (!(rate_Hz > 0) || !(options.cutoff_Hz > 0)) {
    return Error{ErrorCode::kInvalid, "low-pass: rate and cutoff must be positive"};
  }
  if (options.order != 2 && options.order != 4)
    return Error{ErrorCode::kInvalid, "low-pass: order must be 2 or 4"};
  // Two passes square the response, so one pass is set wider.
  const double widening = std::pow(std::sqrt(2.0) - 1.0, -1.0 / (2.0 * options.order));
  const double one_pass_Hz = options.cutoff_Hz * widening;
  if (options.cutoff_Hz > 0.45 * rate_Hz || one_pass_Hz >= 0.499 * rate_Hz) {
    return Error{ErrorCode::kInvalid, "low-pass: cutoff " + std::to_string(options.cutoff_Hz) +
                                          " Hz is too near half the rate of " +
                                          std::to_string(rate_Hz) + " Hz; lower the cutoff"};
  }
  const std::vector<Biquad> sections = Design(rate_Hz, one_pass_Hz, options.order);
  const auto pad = static_cast<size_t>(std::ceil(3.0 * rate_Hz / options.cutoff_Hz));
  std::vector<double> out(values.begin(), values.end());
  size_t i = 0;
  while (i < values.size()) {
    if (!std::isfinite(values[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < values.size() && std::isfinite(values[end])) ++end;
    FilterRun(sections, pad, values.subspan(i, end - i),
              std::span<double>(out).subspan(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace handhold::fitting
