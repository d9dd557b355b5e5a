/// A motion as glTF: its hands and objects, how they move, and where they touch.
///
/// A hand is an armature with a skin (gltf_hand.h; two hands: "right-wrist", "left-wrist"); objects
/// stand beside it as nodes of their own. Below one node "contacts", which an option leaves out, a
/// touch is a node "contact R.index.pad on mug" with a small sphere that is there while it lasts,
/// and a child "force" along +Y, 1 cm per newton, that shows the force on the hand. Times begin at
/// 0. Tests: tests/database/exchange/gltf_motion_test.cc, tests/tools/viewer/gltf_peers_test.cc.
#pragma once

#include <vector>

#include "database/artefact/motion.h"
#include "database/exchange/gltf.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::exchange {

struct GltfMotionParts {
  std::vector<const model::Skeleton*> hands;  ///< of motion.hands, in order; not owned, not null
  std::vector<const model::Prop*> props;      ///< of motion.objects, in order; null: nothing to see
};

struct GltfMotionOptions {
  double m_per_N = 0.01;  ///< of the force nodes
  bool contacts = true;
  bool skin = true;
  bool half_joints = true;  ///< of the skin
  bool capsules = false;    ///< the contact shapes of the hands
  std::string generator = "handhold";
};

/// kInvalid when the parts are not the motion's.
Result<GltfFile> GltfOfMotion(const artefact::Motion& motion, const GltfMotionParts& parts,
                              const GltfMotionOptions& options = {});

}  // namespace handhold::exchange
