/// glTF 2.0 in one binary file (.glb): nodes with shapes that move. A small writer of our own; the
/// form is Khronos' specification 2.0.1.
///
/// What goes in is ours: metres, Z up. What comes out is glTF's: metres, Y up, by one root node
/// that turns everything (-90 degrees about X), so that numbers below it are ours still. Shapes
/// become triangles; a sphere of 1 cm lies within 0.1 mm of its triangles. Tests:
/// tests/database/exchange/gltf_test.cc; oracles: npm gltf-validator and three's GLTFLoader
/// (tests/tools/viewer).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/mesh.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"
#include "database/text/json.h"

namespace handhold::exchange {

struct GltfMaterial {
  std::string name = {};
  std::array<double, 4> rgba = {0.8, 0.8, 0.8, 1.0};  ///< linear, straight alpha
  double roughness = 0.7;
};

struct GltfShape {
  geometry::Shape shape = {};
  geometry::RigidTransform X_NS = {};
  int material = 0;
};

/// A frame, its shapes, and how it moves in its parent.
struct GltfNode {
  std::string name = {};
  int parent = -1;                     ///< an earlier node; -1: the world
  geometry::RigidTransform X_PN = {};  ///< where it is when nothing plays
  std::vector<GltfShape> shapes = {};
  /// One per time of the animation, or none: it keeps X_PN.
  std::vector<geometry::RigidTransform> moves = {};
  /// One per time, or none: sizes along its axes. Zero hides it.
  std::vector<geometry::Vec3> scales = {};
  bool steps = false;      ///< holds each frame until the next, instead of going between them
  text::Json extras = {};  ///< null: none
};

/// A mesh whose vertices follow nodes: linear blend skinning.
struct GltfSkin {
  std::string name = {};
  int root = -1;  ///< a node above all joints: an armature for programs that have them
  std::vector<int> joints = {};                     ///< nodes
  std::vector<geometry::RigidTransform> X_MJ = {};  ///< where the joints are in the mesh, unbent
  std::vector<geometry::Vec3> p_M = {}, normal_M = {};  ///< one per vertex
  /// Places in `joints` and shares of 65,535, four per vertex; unused: 0 and 0.
  std::vector<std::array<std::uint16_t, 4>> joint = {}, weight = {};
  struct Part {
    std::vector<std::array<std::uint32_t, 3>> triangles = {};
    int material = 0;
  };
  std::vector<Part> parts = {};
};

struct GltfFile {
  std::string scene_name = {};
  std::string generator = "handhold";
  std::vector<GltfMaterial> materials = {};
  std::vector<GltfNode> nodes = {};
  std::vector<GltfSkin> skins = {};
  std::vector<double> times_s = {};  ///< of the one animation, ascending from 0; empty: nothing
                                     ///< moves
  text::Json extras = {};            ///< of the scene; null: none
};

/// The bytes of a .glb. kInvalid, naming the node, when parts do not fit together or something is
/// not finite.
Result<std::string> WriteGlb(const GltfFile& file);

/// The shape as triangles, counter-clockwise from outside: round ones with `segments` around.
geometry::Mesh Triangulate(const geometry::Shape& shape, int segments = 24);

}  // namespace handhold::exchange
