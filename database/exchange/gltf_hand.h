/// A hand as an armature: joints by WebXR's names, a skin that follows them, and how it moves.
///
/// One root node per hand ("right-hand"), below it a node for each body, named as WebXR and OpenXR
/// name hand joints ("wrist", "index-finger-phalanx-proximal", "pinky-finger-metacarpal"), with
/// "..-tip" at each frame "*.end". A node's axes are WebXR's, too: -Z runs to the tip, +Y out of
/// the back. Bodies without such a name keep their own, with "-" for ".". Our names are in the
/// extras:
/// {"body", "joint"}. Half joints (database/skin) are leaves "...-half", marked {"half": true}.
/// Tests: tests/database/exchange/gltf_hand_test.cc, tests/tools/viewer/gltf_peers_test.cc.
#pragma once

#include <string>

#include <Eigen/Core>

#include "database/exchange/gltf.h"
#include "database/model/skeleton.h"

namespace handhold::exchange {

/// "wrist" of "palm", "thumb-phalanx-distal" of "thumb.dst", "index-finger-tip" of "index.end".
std::string GltfJointName(const std::string& ours);

/// X_BN: the axes of a joint's node, as WebXR has them, in those of our body.
geometry::RigidTransform GltfJointAxes();

struct GltfHandOptions {
  std::string name = {};    ///< of the hand, for the extras
  std::string prefix = {};  ///< of every node: "left-" where there are two hands
  bool skin = true;
  bool half_joints = true;  ///< of the skin
  bool capsules = false;    ///< the contact shapes, as children of their joints
  /// Materials of the file.
  int skin_material = 0, nail_material = 0, capsule_material = 0;
};

/// Adds a hand whose configurations are the columns of `q`, one per time of the file. kInvalid when
/// `q` does not fit, or the hand has no shapes for a skin.
Status AddHandToGltf(const model::Skeleton& skeleton, const Eigen::MatrixXd& q,
                     const GltfHandOptions& options, GltfFile* file);

}  // namespace handhold::exchange
