/// Plain data shared with the nearest-point traversal, which is compiled once per instruction set.
///
/// Nothing here and nothing in nearest_kernel.inc may be an inline function or template of
/// another header: a copy compiled for AVX2 could be the one the linker keeps for everyone.
#pragma once

#include <cstdint>

namespace handhold::geometry::internal {

/// Rounding allowance of single precision in the scaled frame, relative to 1 + |p|: about sixteen
/// units in the last place.
inline constexpr float kSlack = 1e-6f;

inline constexpr std::int32_t kNoChild = INT32_MIN;

/// Boxes of up to eight children, by coordinate. child >= 0: a node; ~child >= 0: a leaf; kNoChild:
/// empty (an inverted box).
struct alignas(32) Node8 {
  float lo[3][8];
  float hi[3][8];
  std::int32_t child[8];
};

/// Up to eight triangles; unused lanes repeat the last. n is the unit normal, 0 for a triangle
/// without area.
struct alignas(32) Leaf8 {
  float a[3][8];
  float ab[3][8];
  float ac[3][8];
  float n[3][8];
  std::uint32_t first;  ///< position of lane 0 in Bvh::corners
  std::uint32_t count;
};

/// One query on its way through the tree.
struct NearestQuery {
  const Node8* nodes;
  const Leaf8* leaves;
  float p[3];   ///< scaled
  float bound;  ///< squared scaled distance beyond which nothing can be nearest
  /// Measures the triangle at a leaf position exactly and lowers `bound` when it is nearer.
  void (*measure)(NearestQuery& query, std::uint32_t position);
};

using NearestKernel = void (*)(NearestQuery& query);

/// SSE2 on x86-64 (which always has it), plain C++ elsewhere.
void NearestBaseline(NearestQuery& query);
/// Null where this file was not compiled for AVX2.
extern const NearestKernel kNearestAvx2;

}  // namespace handhold::geometry::internal
