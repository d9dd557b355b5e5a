// Frames per second of whole hands with 30 markers, one core, both ways of solving the same
// residuals: chain.pose_* of hand57 with its palm fixed, hand.pose_* of hand27 with a free wrist.
// The same frames through OpenSim: opensim_bench.cc.
#include <stdexcept>
#include <string>

#include "fitting/skeleton/pose_solver.h"
#include "tests/bench/pose_frames.h"
#include "tests/support/bench.h"

namespace {

using handhold::fitting::PoseMethod;
using handhold::fitting::PoseSolver;

/// Frames per second of both ways of solving, each frame from the one before, as in a take.
void MeasurePoses(handhold::bench::Reporter& reporter, const handhold::model::Skeleton& hand,
                  const std::string& fast, const std::string& ceres) {
  using namespace handhold::bench;
  if (!reporter.wants(fast) && !reporter.wants(ceres)) return;
  const PoseFrames frames(hand);
  PoseSolver solver(hand, {.marker_sd_m = kPoseNoise_m});
  // Both ways must find the same pose.
  Eigen::VectorXd check_fast = frames.start, check_ceres = check_fast;
  for (int k = 1; k <= 50; ++k) {
    const Eigen::VectorXd start = check_fast;
    const Eigen::Matrix3Xd& seen = frames.seen[static_cast<size_t>(k)];
    check_fast = solver.SolvePoseOnly(seen, start, PoseMethod::kFast).q;
    check_ceres = solver.SolvePoseOnly(seen, start, PoseMethod::kCeres).q;
    if (hand.Difference(check_fast, check_ceres).cwiseAbs().maxCoeff() > 1e-6)
      throw std::runtime_error("the two solvers disagree");
  }
  const auto report = [&](const std::string& mark, PoseMethod method, double goal) {
    if (!reporter.wants(mark)) return;
    const auto rate = Repeat(7, [&] {
      Eigen::VectorXd q = frames.start;
      return frames.count / Seconds([&] {
               for (int k = 1; k <= frames.count; ++k)
                 q = solver.SolvePoseOnly(frames.seen[static_cast<size_t>(k)], q, method).q;
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
