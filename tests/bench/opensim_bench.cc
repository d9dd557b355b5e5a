// hand.opensim.*: the pose of hand27 from the frames of hand.pose_*, by us and by OpenSim's inverse
// kinematics in one run. OpenSim lives in a Python of its own (tools/setup --also opensim) and
// builds the tree itself, from the file of the hand: opensim_peer.py.
//
// Both minimise the same sum of squared distances. What we add (a pull of 0.5 rad towards the frame
// before, limits) is too weak to see here or not active, which is checked: hand.opensim.centres is
// how far apart joints come out where OpenSim's accuracy is set so fine that its tolerance does not
// show, and hand.opensim.centres.default at the accuracy that its InverseKinematicsTool has by
// default. Speeds are against the default, and against the fine one (.fine). Of OpenSim only the
// tracking is timed: no reading, no writing, no model building.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "fitting/skeleton/pose_solver.h"
#include "tests/bench/pose_frames.h"
#include "tests/support/bench.h"
#include "tests/support/command.h"

namespace {

namespace fs = std::filesystem;
using handhold::fitting::PoseMethod;
using handhold::fitting::PoseSolver;
using handhold::model::Skeleton;
using namespace handhold::bench;

constexpr double kDefaultAccuracy = 1e-5, kFineAccuracy = 1e-9;

class Folder {
 public:
  Folder() {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = (fs::temp_directory_path() / "handhold-bench-XXXXXX").string();
};

/// Names on the first line, then x y z of each per frame, m.
void WriteFrames(const std::string& path, const std::vector<std::string>& names,
                 const std::vector<Eigen::Matrix3Xd>& frames) {
  std::ofstream out(path);
  out.precision(17);
  for (const auto& name : names) out << name << ' ';
  for (const auto& frame : frames) {
    out << '\n';
    for (const double x : frame.reshaped()) out << x << ' ';
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

/// Origins of the joints' frames in their parents, world, m.
Eigen::Matrix3Xd JointCentres(const Skeleton& hand, const Eigen::VectorXd& q) {
  const auto poses = handhold::test_support::BodyPoses(hand, q);
  Eigen::Matrix3Xd centres(3, hand.body_count() - 1);
  for (int b = 1; b < hand.body_count(); ++b) {
    const auto& body = hand.body(b);
    centres.col(b - 1) = poses[static_cast<size_t>(body.parent)] * body.joint.X_PJp.p;
  }
  return centres;
}

/// What our fit of all frames says.
struct OurFit {
  std::vector<Eigen::Matrix3Xd> centres;
  double marker_rms_mm = 0.0;
};

OurFit Fit(const Skeleton& hand, const PoseFrames& frames, PoseSolver& solver) {
  OurFit fit{{JointCentres(hand, frames.start)}};
  Eigen::VectorXd q = frames.start;
  double mean_square = 0.0;
  for (int k = 1; k <= frames.count; ++k) {
    const auto& solution = solver.Solve(frames.seen[static_cast<size_t>(k)], q, PoseMethod::kFast);
    // OpenSim's coordinates are let go here: with a limit active it would be another problem.
    if (!solution.converged || solution.at_limit.any())
      throw std::runtime_error("frame " + std::to_string(k) +
                               " did not converge or is at a joint's limit");
    q = solution.q;
    const double rms = handhold::fitting::MarkerRms_m(solution);
    mean_square += rms * rms / frames.count;
    fit.centres.push_back(JointCentres(hand, q));
  }
  fit.marker_rms_mm = 1e3 * std::sqrt(mean_square);
  return fit;
}

/// The line that opensim_peer.py prints.
struct PeersFit {
  std::string version;
  double frames_per_s = 0.0, marker_rms_mm = 0.0, centres_mm = 0.0;
};

class OpenSim {
 public:
  OpenSim(const Skeleton& hand, const PoseFrames& frames, const OurFit& ours) {
    std::vector<std::string> markers, joints;
    for (const auto& marker : hand.markers()) markers.push_back(marker.name);
    for (int b = 1; b < hand.body_count(); ++b) joints.push_back(hand.body(b).joint.name);
    WriteFrames(folder_ / "markers", markers, frames.seen);
    WriteFrames(folder_ / "centres", joints, ours.centres);
  }

  PeersFit Run(double accuracy) const {
    const std::string source = HANDHOLD_SOURCE_DIR;
    const std::string python = HANDHOLD_PREFIX "/peers/opensim/bin/python";
    if (!fs::exists(python))
      throw std::runtime_error("no " + python + ": run tools/setup --also opensim");
    const auto run = handhold::support::RunCommand(
        python + " " + source + "/tests/bench/opensim_peer.py --skeleton " + source +
        "/schemas/hands/hand27.json --marker-set 30 --markers " + (folder_ / "markers") +
        " --centres " + (folder_ / "centres") + " --accuracy " + FormatNumber(accuracy));
    char version[80];
    PeersFit fit;
    if (run.exit_code != 0 ||
        std::sscanf(run.output.c_str(), "%79s %lf %lf %lf", version, &fit.frames_per_s,
                    &fit.marker_rms_mm, &fit.centres_mm) != 4)
      throw std::runtime_error("opensim_peer.py: " + run.output);
    fit.version = "OpenSim " + std::string(version);
    return fit;
  }

 private:
  Folder folder_;
};

void Run(Reporter& reporter) {
  const Skeleton hand = FreeHand("hand27");
  const PoseFrames frames(hand);
  PoseSolver solver(hand, {.marker_sd_m = kPoseNoise_m});
  const OurFit ours = Fit(hand, frames, solver);
  const OpenSim opensim(hand, frames, ours);

  // First that both solve one problem, then how fast.
  const PeersFit fine = opensim.Run(kFineAccuracy);
  const std::string at_fine = fine.version + ", accuracy " + FormatNumber(kFineAccuracy);
  if (!(std::abs(fine.marker_rms_mm - ours.marker_rms_mm) < 1e-3 * ours.marker_rms_mm))
    throw std::runtime_error("marker RMS " + FormatNumber(ours.marker_rms_mm) + " mm, " +
                             FormatNumber(fine.marker_rms_mm) + " of " + at_fine);
  if (!(fine.centres_mm < 0.01))
    throw std::runtime_error("joint centres differ by " + FormatNumber(fine.centres_mm) +
                             " mm from " + at_fine + ": not one problem");
  reporter.Report(
      "hand.opensim.centres",
      {.value = Summarise({fine.centres_mm}), .unit = "mm", .goal = Goal::AtMost(0.01)});
  const PeersFit usual = opensim.Run(kDefaultAccuracy);
  reporter.Report("hand.opensim.centres.default",
                  {.value = Summarise({usual.centres_mm}), .unit = "mm"});
  reporter.Report("hand.opensim.marker_rms", {.value = Summarise({ours.marker_rms_mm}),
                                              .unit = "mm",
                                              .peer = at_fine,
                                              .peer_value = Summarise({fine.marker_rms_mm})});
  reporter.Note("marker RMS of " + usual.version +
                " at its default accuracy: " + FormatNumber(usual.marker_rms_mm) + " mm");
  const auto rate = [&](PoseMethod method) {
    Eigen::VectorXd q = frames.start;
    return frames.count / Seconds([&] {
             for (int k = 1; k <= frames.count; ++k)
               q = solver.SolvePoseOnly(frames.seen[static_cast<size_t>(k)], q, method).q;
           });
  };
  const auto report = [&](const std::string& mark, PoseMethod method, double accuracy, int times) {
    if (!reporter.wants(mark)) return;
    const auto [we, they] = RepeatBoth(
        times, [&] { return rate(method); }, [&] { return opensim.Run(accuracy).frames_per_s; });
    reporter.Report(mark, {.value = we,
                           .unit = "frames/s",
                           .better = Better::kHigher,
                           .peer = usual.version + ", accuracy " + FormatNumber(accuracy),
                           .peer_value = they});
  };
  report("hand.opensim.pose_fast", PoseMethod::kFast, kDefaultAccuracy, 7);
  report("hand.opensim.pose_ceres", PoseMethod::kCeres, kDefaultAccuracy, 7);
  report("hand.opensim.pose_fast.fine", PoseMethod::kFast, kFineAccuracy, 3);
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv, HANDHOLD_BENCH_MARKS, Run); }
