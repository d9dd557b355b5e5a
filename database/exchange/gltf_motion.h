/// A motion as glTF: its hands and objects, how they move, and where they touch.
///
/// A hand is an armature with a skin (gltf_hand.h; two hands: "right-wrist", "left-wrist"); objects
/// stand beside it as nodes of their own. Below one node "contacts", which an option leaves out, a
/// touch is a node "contact R.index.pad on mug" with a small sphere that is there while it lasts,
/// and a child "force" along +Y, 1 cm per newton, that shows the force on the hand. Times begin at
/// 0. Tests: tests/database/exchange/gltf_motion_test.cc, tests/tools/viewer/gltf_peers_test.cc.
#pragma once

#include <string>

#include "database/artefact/motion.h"
#include "database/exchange/gltf.h"

namespace handhold::exchange {

struct GltfMotionOptions {
  double m_per_N = 0.01;  ///< of the force nodes
  bool contacts = true;
  bool skin = true;
  bool half_joints = true;  ///< of the skin
  bool capsules = false;    ///< the contact shapes of the hands
  std::string generator = "handhold";
};

/// kInvalid when a hand's skeleton was not looked up; a thing whose prop was not is a frame.
Result<GltfFile> GltfOfMotion(const artefact::Motion& motion,
                              const GltfMotionOptions& options = {});

}  // namespace handhold::exchange
