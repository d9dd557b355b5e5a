// Mesh readers on arbitrary bytes: no crash, no hang, memory in proportion to the input, and what
// is read is usable: it passes CheckMesh and a tree can be built and asked. The first byte chooses
// the extension.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "database/geometry/mesh_io.h"
#include "database/geometry/mesh_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace handhold::geometry;
  if (size == 0) return 0;
  constexpr std::string_view kNames[] = {"fuzz.obj", "fuzz.stl", "fuzz.ply", "fuzz"};
  const std::span<const char> bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto file =
      ReadMesh(bytes, kNames[data[0] % 4], {.metres_per_unit = 1e-3, .weld = data[0] % 8 < 4});
  if (!file) {
    if (file.error().message.empty()) std::abort();
    return 0;
  }
  if (!CheckMesh(file->mesh)) std::abort();
  if (file->mesh.triangles.size() > 2000) return 0;
  const auto tree = MeshTree::Build(file->mesh);
  if (!tree) std::abort();
  const SignedNearestPoint near = (*tree)->Closest({0.1, 0.2, 0.3});
  if (!(std::abs(near.normal_M.norm() - 1) < 1e-6)) std::abort();
  (void)(*tree)->CastRay({0.1, 0.2, 0.3}, {0.3, -0.5, 1});
  (void)(*tree)->ClosestToSegment({0, 0, 0}, {0.1, 0.2, 0.3});
  (void)SplitComponents(file->mesh);
  (void)WeldVertices(file->mesh, 1e-4);
  return 0;
}
