#include "fitting/signal/onset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "database/base/check.h"

namespace handhold::fitting {
namespace {

/// Samples of a window, with time running forwards from the quiet side whatever the direction asked
/// for.
struct Window {
  std::vector<double> t, y;
};

Window Take(std::span<const double> t, std::span<const double> force, double begin, double end,
            bool backwards) {
  Window w;
  const auto first = std::lower_bound(t.begin(), t.end(), begin) - t.begin();
  const auto last = std::upper_bound(t.begin(), t.end(), end) - t.begin();
  for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
    if (!std::isfinite(force[i])) continue;
    w.t.push_back(backwards ? -t[i] : t[i]);
    w.y.push_back(force[i]);
  }
  if (backwards) {
    std::reverse(w.t.begin(), w.t.end());
    std::reverse(w.y.begin(), w.y.end());
  }
  return w;
}

Window Average(const Window& w, size_t block) {
  Window out;
  for (size_t i = 0; i + block <= w.t.size(); i += block) {
    double t = 0, y = 0;
    for (size_t k = i; k < i + block; ++k) t += w.t[k], y += w.y[k];
    out.t.push_back(t / static_cast<double>(block));
    out.y.push_back(y / static_cast<double>(block));
  }
  return out;
}

constexpr int kTerms = 5;  // 1, t; from the kink on: step, slope, curvature
using Basis = Eigen::Matrix<double, kTerms, 1>;

struct Fit {
  double rss = std::numeric_limits<double>::infinity();
  double rise = 0.0;  ///< what the kink adds at the window's end
};

Fit FitAt(const Window& w, double kink, double scale) {
  Eigen::Matrix<double, kTerms, kTerms> ata = Eigen::Matrix<double, kTerms, kTerms>::Zero();
  Basis aty = Basis::Zero(), row = Basis::Zero();
  double yy = 0;
  const double origin = w.t.front();
  const double level = w.y.front();
  for (size_t i = 0; i < w.t.size(); ++i) {
    const double u = (w.t[i] - kink) / scale;
    row << 1.0, (w.t[i] - origin) / scale, 0, 0, 0;
    if (u > 0) row.tail<3>() << 1.0, u, u * u;
    const double y = w.y[i] - level;
    ata.selfadjointView<Eigen::Lower>().rankUpdate(row);
    aty += row * y;
    yy += y * y;
  }
  ata.diagonal().array() += 1e-9;
  Basis c = ata.selfadjointView<Eigen::Lower>().ldlt().solve(aty);
  if (c[2] < 0) {  // a touch never begins by a step down: without the step
    ata.row(2).head<2>().setZero();
    ata.col(2).setZero();
    ata(2, 2) = 1.0;
    aty[2] = 0.0;
    c = ata.selfadjointView<Eigen::Lower>().ldlt().solve(aty);
  }
  Fit fit;
  fit.rss = std::max(0.0, yy - 2 * c.dot(aty) + c.dot(ata.selfadjointView<Eigen::Lower>() * c));
  fit.rise = c.tail<3>().dot(row.tail<3>());
  return fit;
}

double StraightLineRss(const Window& w) {
  const auto n = static_cast<double>(w.t.size());
  double mt = 0, my = 0;
  for (size_t i = 0; i < w.t.size(); ++i) mt += w.t[i] / n, my += w.y[i] / n;
  double tt = 0, ty = 0, yy = 0;
  for (size_t i = 0; i < w.t.size(); ++i) {
    tt += (w.t[i] - mt) * (w.t[i] - mt);
    ty += (w.t[i] - mt) * (w.y[i] - my);
    yy += (w.y[i] - my) * (w.y[i] - my);
  }
  return std::max(0.0, yy - ty * ty / tt);
}

/// The best kink between samples `margin` from both ends, its interval, and whether it stands
/// clear.
struct Scan {
  bool clear = false;
  Kink kink;
};

Scan ScanKinks(const Window& w, size_t margin, double clear_chi2) {
  Scan scan;
  const size_t n = w.t.size();
  if (n < 2 * margin + kTerms + 2) return scan;
  const double scale = (w.t.back() - w.t.front()) / 2;
  const double period = (w.t.back() - w.t.front()) / static_cast<double>(n - 1);
  std::vector<double> at, rss;
  double best = std::numeric_limits<double>::infinity();
  double rise = 0.0;
  for (size_t i = margin; i + margin < n; ++i) {
    const double kink = 0.5 * (w.t[i - 1] + w.t[i]);
    const Fit fit = FitAt(w, kink, scale);
    at.push_back(kink);
    rss.push_back(fit.rss);
    if (fit.rss < best) best = fit.rss, rise = fit.rise, scan.kink.time_s = kink;
  }
  const double variance = std::max(best / static_cast<double>(n - kTerms - 1), 1e-18);
  double low = scan.kink.time_s, high = scan.kink.time_s;
  for (size_t i = 0; i < at.size(); ++i) {
    if (rss[i] <= best + variance) low = std::min(low, at[i]), high = std::max(high, at[i]);
  }
  scan.kink.noise_sd = std::sqrt(variance);
  scan.kink.time_s = 0.5 * (low + high);
  scan.kink.sd_s = std::max(0.5 * (high - low), 0.5 * period);
  scan.clear = rise > 0 && (StraightLineRss(w) - best) / variance > clear_chi2;
  return scan;
}

}  // namespace

Result<Kink> FitKink(std::span<const double> t, std::span<const double> force, double crossing_s,
                     bool backwards, const KinkOptions& options) {
  CHECK_EQ(t.size(), force.size());
  const double direction = backwards ? -1.0 : 1.0;
  auto window = [&](double at, double before, double after) {
    const double a = at - direction * before, b = at + direction * after;
    return Take(t, force, std::min(a, b), std::max(a, b), backwards);
  };
  // Where, roughly: block means over a long stretch that ends just past the crossing.
  const Window wide = window(crossing_s, 4 * options.before_s, 0.005);
  const size_t block = std::max<size_t>(1, wide.t.size() / 160);
  const Scan rough = ScanKinks(Average(wide, block), 4, options.clear_chi2);
  double centre = rough.clear ? direction * rough.kink.time_s : crossing_s;
  for (const double after : options.after_s) {
    Scan scan;
    for (int pass = 0; pass < 2; ++pass) {
      scan = ScanKinks(window(centre, options.before_s, after), 6, options.clear_chi2);
      if (!scan.clear) break;
      centre = direction * scan.kink.time_s;
    }
    if (scan.clear) {
      scan.kink.time_s = centre;
      scan.kink.after_s = after;
      return scan.kink;
    }
  }
  return Error{ErrorCode::kUnidentifiable, "no kink stands clear of the noise near " +
                                               std::to_string(crossing_s) +
                                               " s: the instant of contact is not determined"};
}

}  // namespace handhold::fitting
