// chain.pose_fast and chain.pose_ceres: frames per second of hand57 with 30 markers, one core, both
// ways of solving the same residuals.
#include <cmath>
#include <random>
#include <stdexcept>

#include "database/model/hand_library.h"
#include "fitting/skeleton/pose_solver.h"
#include "tests/support/bench.h"
#include "tests/support/marker_motion.h"

namespace {

using handhold::fitting::PoseMethod;
using handhold::fitting::PoseSolver;

/// 30 of the hand's markers, spread evenly over its list.
handhold::model::Skeleton WithThirtyMarkers(const handhold::model::Skeleton& hand) {
  handhold::model::SkeletonDraft draft = hand.draft();
  const size_t all = draft.markers.size();
  if (all < 30) throw std::runtime_error("hand57 has fewer than 30 markers");
  std::vector<handhold::model::MarkerAttachment> chosen;
  for (size_t i = 0; i < 30; ++i) chosen.push_back(draft.markers[i * all / 30]);
  draft.markers = chosen;
  auto built = handhold::model::Skeleton::Build(draft);
  if (!built) throw std::runtime_error(built.error().message);
  return *std::move(built);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    auto loaded = handhold::model::LoadHand("hand57");
    if (!loaded) throw std::runtime_error(loaded.error().message);
    const auto hand = WithThirtyMarkers(*loaded);
    const handhold::test_support::SmoothMotion motion(hand, 0.4, 7);
    std::mt19937 random(8);
    std::normal_distribution<double> noise(0, 5e-5);
    const int frames = 500;
    std::vector<Eigen::Matrix3Xd> seen;
    for (int k = 0; k <= frames; ++k) {
      seen.push_back(handhold::test_support::MarkerPlaces(hand, motion.At(k / 500.0)));
      for (double& x : seen.back().reshaped()) x += noise(random);
    }
    PoseSolver solver(hand, {.marker_sd_m = 5e-5});
    // Each frame is solved from the frame before, as in a take; both ways must find the same pose.
    Eigen::VectorXd check_fast = motion.At(0), check_ceres = check_fast;
    for (int k = 1; k <= 50; ++k) {
      const Eigen::VectorXd start = check_fast;
      check_fast = solver.SolvePoseOnly(seen[static_cast<size_t>(k)], start, PoseMethod::kFast).q;
      check_ceres = solver.SolvePoseOnly(seen[static_cast<size_t>(k)], start, PoseMethod::kCeres).q;
      if (hand.Difference(check_fast, check_ceres).cwiseAbs().maxCoeff() > 1e-6)
        throw std::runtime_error("the two solvers disagree");
    }
    auto rate = [&](PoseMethod method) {
      return Repeat(7, [&] {
        Eigen::VectorXd q = motion.At(0);
        return frames / Seconds([&] {
                 for (int k = 1; k <= frames; ++k)
                   q = solver.SolvePoseOnly(seen[static_cast<size_t>(k)], q, method).q;
               });
      });
    };
    if (reporter.wants("chain.pose_fast")) {
      reporter.Report("chain.pose_fast", {.value = rate(PoseMethod::kFast),
                                          .unit = "frames/s",
                                          .better = Better::kHigher,
                                          .goal = Goal::SpeedAtLeast(5000)});
    }
    if (reporter.wants("chain.pose_ceres")) {
      reporter.Report("chain.pose_ceres", {.value = rate(PoseMethod::kCeres),
                                           .unit = "frames/s",
                                           .better = Better::kHigher,
                                           .goal = Goal::SpeedAtLeast(2000)});
    }
  });
}
