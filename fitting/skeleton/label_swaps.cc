#include "fitting/skeleton/label_swaps.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include "fitting/skeleton/pose_solver.h"

namespace handhold::fitting {
namespace {

/// Markers whose labels are asked about: those that lie worst.
constexpr size_t kAsked = 10;
constexpr PoseSolverOptions kSolver{.marker_sd_m = 5e-4, .prior_sd_rad = 1.0};

double RmsExchanged(const std::vector<LabelledFrame>& frames, Eigen::Index a, Eigen::Index b,
                    PoseSolver* solver) {
  double squares = 0;
  for (const LabelledFrame& frame : frames) {
    Eigen::Matrix3Xd z_WM = frame.z_WM;
    z_WM.col(a).swap(z_WM.col(b));
    const PoseSolution* s = &solver->Solve(z_WM, frame.q, PoseMethod::kFast);
    const Eigen::VectorXd again = s->q;  // the pull was to a pose that the labels had bent
    s = &solver->Solve(z_WM, again, PoseMethod::kFast);
    const double rms_m = MarkerRms_m(*s);
    squares += rms_m * rms_m;
  }
  return std::sqrt(squares / static_cast<double>(frames.size()));
}

/// Markers by the mean square they are off when each frame is followed as labelled, worst first.
std::vector<Eigen::Index> WorstMarkers(const model::Skeleton& skeleton,
                                       const std::vector<LabelledFrame>& frames, PoseSolver* solver,
                                       double* rms_m) {
  const auto count = static_cast<Eigen::Index>(skeleton.markers().size());
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(count), seen = Eigen::VectorXd::Zero(count);
  double squares = 0;
  for (const LabelledFrame& frame : frames) {
    const PoseSolution& s = solver->Solve(frame.z_WM, frame.q, PoseMethod::kFast);
    squares += std::pow(MarkerRms_m(s), 2);
    for (Eigen::Index m = 0; m < count; ++m) {
      if (!s.residual_m.col(m).allFinite()) continue;
      sum[m] += s.residual_m.col(m).squaredNorm();
      seen[m] += 1;
    }
  }
  *rms_m = std::sqrt(squares / static_cast<double>(frames.size()));
  std::vector<Eigen::Index> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  const auto mean = [&](Eigen::Index m) { return sum[m] / std::max(1.0, seen[m]); };
  std::sort(order.begin(), order.end(),
            [&](Eigen::Index a, Eigen::Index b) { return mean(a) > mean(b); });
  order.resize(std::min(order.size(), kAsked));
  return order;
}

}  // namespace

std::string Describe(const LabelSwap& swap, const model::Skeleton& skeleton) {
  char text[240];
  std::snprintf(text, sizeof text,
                "labels '%s' and '%s' are exchanged: as labelled the hand leaves %.2f mm RMS, the "
                "other way round %.2f mm",
                skeleton.markers()[static_cast<size_t>(swap.a)].name.c_str(),
                skeleton.markers()[static_cast<size_t>(swap.b)].name.c_str(), 1e3 * swap.rms_m,
                1e3 * swap.exchanged_rms_m);
  return text;
}

std::vector<LabelSwap> RankSwaps(const model::Skeleton& skeleton,
                                 const std::vector<LabelledFrame>& frames, size_t most) {
  if (frames.empty()) return {};
  PoseSolver solver(skeleton, kSolver);
  double rms_m = 0;
  const std::vector<Eigen::Index> asked = WorstMarkers(skeleton, frames, &solver, &rms_m);
  std::vector<LabelSwap> swaps;
  for (size_t i = 0; i < asked.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      swaps.push_back({static_cast<int>(std::min(asked[i], asked[k])),
                       static_cast<int>(std::max(asked[i], asked[k])), rms_m,
                       RmsExchanged(frames, asked[i], asked[k], &solver)});
    }
  }
  std::sort(swaps.begin(), swaps.end(), [](const LabelSwap& a, const LabelSwap& b) {
    return a.exchanged_rms_m < b.exchanged_rms_m;
  });
  if (swaps.size() > most) swaps.resize(most);
  return swaps;
}

std::vector<LabelSwap> FindSwaps(const model::Skeleton& skeleton,
                                 std::vector<LabelledFrame> frames) {
  std::vector<LabelSwap> found;
  while (found.size() < 3) {
    const std::vector<LabelSwap> ranked = RankSwaps(skeleton, frames, 1);
    if (ranked.empty() || ranked[0].exchanged_rms_m > kLeastGain * ranked[0].rms_m) break;
    const LabelSwap& swap = ranked[0];
    const bool again = std::any_of(found.begin(), found.end(), [&](const LabelSwap& f) {
      return f.a == swap.a || f.b == swap.b || f.a == swap.b || f.b == swap.a;
    });
    if (again) break;
    for (LabelledFrame& frame : frames) frame.z_WM.col(swap.a).swap(frame.z_WM.col(swap.b));
    found.push_back(swap);
  }
  return found;
}

}  // namespace handhold::fitting
