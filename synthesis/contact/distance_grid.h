/// Signed distance to a mesh from a grid of stored values: one look-up instead of a search.
///
/// For methods that ask for the same object's distance hundreds of thousands of times (Ye & Liu's
/// sampling); contacts that must be exact ask the mesh. Built once, immutable, shared by any number
/// of threads. Pinned by tests/synthesis/contact/distance_grid_test.cc.
#pragma once

#include <span>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/mesh_tree.h"
#include "database/geometry/shape.h"

namespace handhold::synthesis {

class DistanceGrid {
 public:
  /// Cells of cell_m over the mesh's box and margin_m around it, on every side; the distance of
  /// every node is the mesh's own. kInvalid: sizes that are not positive or more than 2^26 nodes.
  /// About 1 us and 4 bytes a node.
  static Result<DistanceGrid> Build(const geometry::MeshTree& tree, double cell_m, double margin_m);
  /// The same of a union of shapes, all in one frame: distances as SignedDistanceToUnion, whose
  /// inside is a lower bound where shapes overlap. kInvalid also: no shape, or one that is unsound.
  static Result<DistanceGrid> Build(std::span<const geometry::PosedShape> shapes, double cell_m,
                                    double margin_m);

  /// Trilinear, with its gradient (not unit where the distance has a crease; may be null). Within
  /// the grid: |At - exact| <= error_bound_m. Beyond it: a lower bound of the exact distance, the
  /// way to the mesh's box, its gradient away from that box.
  double At(const geometry::Vec3& p_M, geometry::Vec3* gradient = nullptr) const;

  /// sqrt(3) / 2 of a cell (and 1e-6 of the largest distance for single precision). Signed distance
  /// has slope 1, so |value at a corner - value at p| <= |corner - p|, and with trilinear weights
  /// w_i sum w_i |corner_i - p| <= sqrt(sum w_i |corner_i - p|^2) <= sqrt(3)/2 cell. Flat surfaces
  /// are exact.
  double error_bound_m() const { return error_bound_m_; }
  const geometry::Bounds& bounds() const { return bounds_; }
  size_t node_count() const { return values_.size(); }

 private:
  /// `distance(p, bound)`: signed, infinite where it is known to be more than `bound` away.
  template <typename Distance>
  static Result<DistanceGrid> Fill(const geometry::Bounds& bounds, double cell_m, double margin_m,
                                   const Distance& distance);

  geometry::Vec3 origin_ = geometry::Vec3::Zero();
  double cell_m_ = 1.0, error_bound_m_ = 0.0;
  Eigen::Vector3i count_ = Eigen::Vector3i::Zero();  ///< nodes per axis
  geometry::Bounds bounds_, mesh_;
  std::vector<float> values_;
};

}  // namespace handhold::synthesis
