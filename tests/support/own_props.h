/// The meshes of our own props (schemas/props): closed, hand-sized, thin walls and sharp edges
/// among them, and always there, which the data that a laboratory shares is not.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "database/geometry/mesh.h"
#include "database/geometry/mesh_tree.h"
#include "database/geometry/shape.h"
#include "database/model/prop.h"

namespace handhold::testing {

struct NamedMesh {
  std::string name;  ///< "light_bulb.bulb": prop and shape
  geometry::Mesh mesh;
};

/// Every mesh and hull of every prop, in the order of their names.
inline std::vector<NamedMesh> OwnPropMeshes() {
  std::vector<NamedMesh> out;
  for (const std::string& name : model::PropNames().value()) {
    const model::Prop prop = model::LoadLibraryProp(name).value();
    for (const model::PropShape& shape : prop.shapes) {
      const geometry::MeshTree* tree = nullptr;
      if (const auto* mesh = std::get_if<geometry::TriangleMesh>(&shape.shape)) {
        tree = mesh->surface.get();
      } else if (const auto* hull = std::get_if<geometry::ConvexHull>(&shape.shape)) {
        tree = hull->surface.get();
      }
      if (tree != nullptr) out.push_back({name + "." + shape.name, tree->mesh()});
    }
  }
  return out;
}

}  // namespace handhold::testing
