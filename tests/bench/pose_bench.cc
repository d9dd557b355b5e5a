// Frames per second of whole hands with 30 markers, one core, both ways of solving the same
// residuals: chain.pose_* of hand57 with its palm fixed, hand.pose_* of hand27 with a free wrist.
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>

#include "database/model/hand_library.h"
#include "fitting/skeleton/pose_solver.h"
#include "tests/support/bench.h"
#include "tests/support/marker_motion.h"

namespace {

using handhold::fitting::PoseMethod;
using handhold::fitting::PoseSolver;

/// A hand of ours, let go, wearing its set of 30.
handhold::model::Skeleton FreeHand(const std::string& name) {
  namespace model = handhold::model;
  auto hand = model::LoadHand(name);
  if (!hand) throw std::runtime_error(hand.error().message);
  auto worn = model::WithMarkerSet(*hand, "30");
  if (!worn) throw std::runtime_error(worn.error().message);
  return *std::move(worn);
}

/// Frames per second of both ways of solving, each frame from the one before, as in a take.
void MeasurePoses(handhold::bench::Reporter& reporter, const handhold::model::Skeleton& hand,
                  const std::string& fast, const std::string& ceres) {
  using namespace handhold::bench;
  if (!reporter.wants(fast) && !reporter.wants(ceres)) return;
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
  // Both ways must find the same pose.
  Eigen::VectorXd check_fast = motion.At(0), check_ceres = check_fast;
  for (int k = 1; k <= 50; ++k) {
    const Eigen::VectorXd start = check_fast;
    check_fast = solver.SolvePoseOnly(seen[static_cast<size_t>(k)], start, PoseMethod::kFast).q;
    check_ceres = solver.SolvePoseOnly(seen[static_cast<size_t>(k)], start, PoseMethod::kCeres).q;
    if (hand.Difference(check_fast, check_ceres).cwiseAbs().maxCoeff() > 1e-6)
      throw std::runtime_error("the two solvers disagree");
  }
  const auto report = [&](const std::string& mark, PoseMethod method, double goal) {
    if (!reporter.wants(mark)) return;
    const auto rate = Repeat(7, [&] {
      Eigen::VectorXd q = motion.At(0);
      return frames / Seconds([&] {
               for (int k = 1; k <= frames; ++k)
                 q = solver.SolvePoseOnly(seen[static_cast<size_t>(k)], q, method).q;
             });
    });
    reporter.Report(mark, {.value = rate,
                           .unit = "frames/s",
                           .better = Better::kHigher,
                           .goal = Goal::SpeedAtLeast(goal)});
  };
  report(fast, PoseMethod::kFast, 5000);
  report(ceres, PoseMethod::kCeres, 2000);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    const auto hand57 = handhold::model::LoadHand("hand57");
    if (!hand57) throw std::runtime_error(hand57.error().message);
    MeasurePoses(reporter, *hand57, "chain.pose_fast", "chain.pose_ceres");
    MeasurePoses(reporter, FreeHand("hand27"), "hand.pose_fast", "hand.pose_ceres");
  });
}
