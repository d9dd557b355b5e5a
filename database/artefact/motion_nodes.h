/// A motion's hands and things as frames that shapes hang on, each where it is over time: the one
/// walk from which pages, glTF and other pictures of a motion are written.
///
/// Bodies stand in their parents, things and roots in W. Pinned by
/// tests/database/artefact/motion_nodes_test.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/motion.h"
#include "database/base/result.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::artefact {

struct MotionNode {
  enum class Of { kHand, kThing };
  Of of = Of::kThing;
  size_t index = 0;       ///< into the motion's hands or objects
  std::string name = {};  ///< of the body or the thing
  int parent = -1;        ///< an earlier node; -1: W
  /// One per frame asked for, or a single one: it keeps it.
  std::vector<geometry::RigidTransform> X_PN = {};
  std::vector<geometry::PosedShape> shapes = {};  ///< in its own frame
};

/// The bodies of a skeleton that follows q (nq x frames), at columns `frames`; numbered from 0.
/// What never moves in its parent, but for rounding, keeps one place there.
std::vector<MotionNode> BodiesOf(const model::Skeleton& skeleton, const Eigen::MatrixXd& q,
                                 std::span<const int> frames);
std::vector<geometry::PosedShape> ShapesOf(const model::Prop& prop);

/// All of the motion's, hands before things; a thing whose prop was not looked up has no shapes.
/// kInvalid: a hand whose skeleton was not, or has another number of coordinates.
Result<std::vector<MotionNode>> NodesOf(const Motion& motion, std::span<const int> frames);

}  // namespace handhold::artefact
