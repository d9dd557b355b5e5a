#include "database/artefact/motion_nodes.h"

#include <algorithm>

#include "database/model/kinematics.h"

namespace handhold::artefact {

using geometry::RigidTransform;

std::vector<MotionNode> BodiesOf(const model::Skeleton& skeleton, const Eigen::MatrixXd& q,
                                 std::span<const int> frames) {
  const auto bodies = static_cast<size_t>(skeleton.body_count());
  std::vector<MotionNode> nodes;
  for (size_t b = 1; b < bodies; ++b) {
    const model::Body& body = skeleton.body(static_cast<int>(b));
    MotionNode& node = nodes.emplace_back();
    node.of = MotionNode::Of::kHand;
    node.name = body.name;
    node.parent = body.parent - 1;
    for (const model::BodyShape& shape : body.shapes)
      node.shapes.push_back({shape.shape, shape.X_BS});
  }
  // Poses in the parent come from the model's own kinematics: nothing here knows a joint type.
  model::KinematicsData data(skeleton);
  for (const int k : frames) {
    model::ComputePoses<double>(skeleton, q.col(k), &data);
    for (size_t b = 1; b < bodies; ++b) {
      const auto parent = static_cast<size_t>(skeleton.body(static_cast<int>(b)).parent);
      nodes[b - 1].X_PN.push_back(data.X_WB[parent].Inverse() * data.X_WB[b]);
    }
  }
  // Places in the parent come out of products, equal to rounding.
  for (MotionNode& node : nodes) {
    for (RigidTransform& X : node.X_PN)
      if ((X.p - node.X_PN.front().p).norm() < 1e-12) X.p = node.X_PN.front().p;
  }
  return nodes;
}

std::vector<geometry::PosedShape> ShapesOf(const model::Prop& prop) {
  std::vector<geometry::PosedShape> shapes;
  for (const model::PropShape& shape : prop.shapes) shapes.push_back({shape.shape, shape.X_PS});
  return shapes;
}

Result<std::vector<MotionNode>> NodesOf(const Motion& motion, std::span<const int> frames) {
  std::vector<MotionNode> nodes;
  for (size_t i = 0; i < motion.hands.size(); ++i) {
    const StageHand& hand = motion.stage.hands[i];
    if (!hand.skeleton.there() || motion.hands[i].q.rows() != hand.skeleton->nq()) {
      return Error{ErrorCode::kInvalid, "the skeleton of hand '" + hand.name +
                                            "' was not looked up, or is not the motion's"};
    }
    const auto first = static_cast<int>(nodes.size());
    for (MotionNode& node : BodiesOf(*hand.skeleton, motion.hands[i].q, frames)) {
      node.index = i;
      if (node.parent >= 0) node.parent += first;
      nodes.push_back(std::move(node));
    }
  }
  for (size_t i = 0; i < motion.objects.size(); ++i) {
    const MotionObject& object = motion.objects[i];
    MotionNode node{.index = i, .name = object.name};
    if (object.stands_still()) {
      node.X_PN = object.X_WP;
    } else {
      for (const int k : frames) node.X_PN.push_back(object.pose(static_cast<size_t>(k)));
    }
    const StageThing& thing = motion.stage.things[i];
    if (thing.prop.there()) node.shapes = ShapesOf(*thing.prop);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace handhold::artefact
