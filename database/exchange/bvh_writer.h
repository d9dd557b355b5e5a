/// A hand's motion as BVH: joint turns that every animation program reads.
///
/// A BVH file knows no units, axes or rest, so they are said here: centimetres, Y up, degrees,
/// rotations in the order Z X Y. Joints have the names of our .glb (gltf_hand.h), with an end site
/// at each frame "*.end". The rest pose, where every rotation is 0, is the hand's zero
/// configuration: of our hands straight and palm down, pointing along +X. The first joint has its
/// place as channels, too. Two hands hang on one joint "hands" that stands still, since few
/// programs read two roots. Skin, prop and contacts have no place in the format: a .glb holds them.
/// Tests: tests/database/exchange/bvh_writer_test.cc.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::exchange {

struct BvhHand {
  const model::Skeleton* skeleton = nullptr;  ///< not owned, not null
  const Eigen::MatrixXd* q = nullptr;         ///< a column per time; not owned, not null
  std::string prefix = {};                    ///< of every joint's name
};

struct BvhOptions {
  double frames_per_s = 60.0;
};

/// The text of a .bvh whose frames are at even times from the first time on; between given times
/// the joints go the shortest way. kInvalid when times do not ascend, something is not finite, or
/// hands do not fit.
Result<std::string> WriteBvh(const std::vector<BvhHand>& hands, const std::vector<double>& times_s,
                             const BvhOptions& options = {});

}  // namespace handhold::exchange
