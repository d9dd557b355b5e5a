/// Takes of whole hands whose markers come from MuJoCo's tree: a planted hand is moved through a
/// range of motion or a row of grasps and seen by cameras with noise, occlusion and skin motion.
///
/// Nothing here uses model/kinematics or a fit: a skeleton is read as data, MuJoCo places its
/// bodies (mujoco_tree.h). Whoever has configurations of a hand (a grasp space, a search) makes a
/// take of them with Record.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "database/model/skeleton.h"
#include "database/recording/clip.h"

namespace handhold::test_support {

/// Configurations of one hand, one per frame.
struct HandMotion {
  double rate_hz = 100;
  std::vector<Eigen::VectorXd> q;
};

/// The root's way, of a hand with a free base.
struct RootOptions {
  Eigen::Vector3d middle_W = Eigen::Vector3d(0.3, -0.2, 0.9);     ///< m: anywhere but the origin
  Eigen::Vector3d heading_rad = Eigen::Vector3d(0.4, -0.3, 2.0);  ///< rotation vector
  double reach_m = 0.08, turn_rad = 0.4;                          ///< how far it strays
};

/// Every joint through `share` of its range (hinges, universals; balls of theirs), each in its own
/// rhythm, DIP mostly following PIP as in life (0.6 of it, and its own part).
HandMotion RangeOfMotion(const model::Skeleton& hand, int frames, unsigned seed,
                         double rate_hz = 100, double share = 0.85, const RootOptions& root = {});

/// One grasp after the other, open - closed - open: `closed` angles in rad by dof name (those not
/// named stay at 0), `seconds` each.
struct GraspType {
  std::string name;
  std::vector<std::pair<std::string, double>> closed_rad;
};
/// Large wrap, tip pinch, tripod, hook, lateral: angles ours, for dofs of hand27.
std::vector<GraspType> FiveGrasps();
HandMotion Grasps(const model::Skeleton& hand, const std::vector<GraspType>& types, double seconds,
                  double rate_hz = 100, const RootOptions& root = {});

struct HandTakeOptions {
  std::string stream = "cameras/markers";
  double noise_m = 1e-4;    ///< white, one axis
  double occlusion = 0.01;  ///< share of a marker's samples, in stretches of 20 frames
  double skin_m = 0.0;      ///< the farthest a marker slides on its bone, with the joints' angles
  unsigned seed = 1;
  /// Put before each marker's name ("S1:"), and names in place of the skeleton's, by index: a lab's
  /// own.
  std::string prefix = {};
  std::vector<std::string> names = {};
};

struct HandTake {
  recording::Clip clip;
  std::vector<Timestamp> times;
  std::vector<Eigen::VectorXd> q;                  ///< planted
  std::vector<std::vector<Eigen::Vector3d>> p_WJ;  ///< origins of bodies (0: the world), per frame
};

/// The clip of the skeleton's markers, and what was planted.
HandTake Record(const model::Skeleton& hand, const HandMotion& motion,
                const HandTakeOptions& options = {});

/// Adds another hand's markers to the same stream (several hands in one clip): frames of both must
/// be as many.
recording::Clip Together(const HandTake& a, const HandTake& b);

}  // namespace handhold::test_support
