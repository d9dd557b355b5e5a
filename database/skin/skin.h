/// The skin of a hand: one closed, human-looking mesh made from the hand's own contact shapes, so
/// that what is seen to touch is what touches.
///
/// MakeSkin is a pure function of the skeleton: same hand, same bytes. Shapes grow together into a
/// smooth field (internal/field.h); its zero surface becomes about 4,000 triangles
/// (internal/surface.h, internal/collapse.h); each vertex follows up to four joints
/// (internal/weights.h). A left hand's skin is the mirrored skin of its right hand.
///
/// Frame R, "root": that of body 1, the first one. Lengths in metres. The rest is the zero
/// configuration with fingers spread and slightly bent (Skin::q_rest): it is where the skin is made
/// and bound. Between two bodies that bend, a half joint turns half as far: without it a bent
/// knuckle falls in. Tests: tests/database/skin/skin_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::skin {

struct SkinOptions {
  bool half_joints = true;
  bool nails = true;
  int triangles = 4000;  ///< about as many; nails come on top
};

/// What vertices follow. Joint k < body_count - 1 is body k + 1; half joints come after.
struct SkinJoint {
  std::string name;                       ///< the body's, or "index.mid-half"
  int body = 0;                           ///< the body; of a half joint: the outer one of the two
  int inner = 0;                          ///< the body in which it is placed; 0: the world
  bool half = false;                      ///< turns half as far as `body` does in `inner`
  geometry::RigidTransform X_RJ_rest;     ///< where it is bound
  geometry::RigidTransform X_inner_rest;  ///< of `body` in `inner`, at rest
};

struct Skin {
  std::vector<geometry::Vec3> p_R;                      ///< at rest
  std::vector<geometry::Vec3> normal_R;                 ///< unit, outward
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< counter-clockwise from outside
  /// Four per vertex, heaviest first. Shares of 65,535: their sum is exactly that.
  std::vector<std::array<std::uint16_t, 4>> joint;
  std::vector<std::array<std::uint16_t, 4>> weight;
  /// From here on vertices and triangles are nails: patches of another colour, not closed.
  std::size_t first_nail_vertex = 0;
  std::size_t first_nail_triangle = 0;
  std::vector<SkinJoint> joints;
  Eigen::VectorXd q_rest;
};

/// kInvalid when the hand has no shape, or more than 65,535 joints.
Result<Skin> MakeSkin(const model::Skeleton& skeleton, const SkinOptions& options = {});

/// Where the skin's joints are when the bodies are at X_WB (KinematicsData::X_WB, the world first).
/// One entry per joint.
std::vector<geometry::RigidTransform> JointPoses(const Skin& skin,
                                                 std::span<const geometry::RigidTransform> X_WB);

/// The vertices where the joints are at X_WJ: linear blend skinning, as viewers do it.
std::vector<geometry::Vec3> DeformedVertices(const Skin& skin,
                                             std::span<const geometry::RigidTransform> X_WJ);

}  // namespace handhold::skin
