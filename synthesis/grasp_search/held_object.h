/// What is to be held, as a search asks it: how far, how thick, where its surface is.
///
/// The union of a prop's shapes in its frame P. Made once, immutable, shared by any number of
/// threads. A bound carried from the last answer (distance then plus the way since) prunes the
/// search of a mesh (geometry::MeshTree::Closest). Meshes with holes: away from rims the surface
/// that is nearest tells the side (MeshTree::ClosestBySurface), which spares the winding number.
/// Pinned by tests/synthesis/grasp_search/held_object_test.cc.
#pragma once

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/shape.h"
#include "database/model/prop.h"

namespace handhold::synthesis {

/// Where a grasp should be: all that is named must hold.
struct GraspPlace {
  std::string region = {};                               ///< a region of the prop by name
  std::optional<geometry::Vec3> point_P = std::nullopt;  ///< with radius_m
  double radius_m = 0.03;
  /// Unit: palms come along it (a region by name brings its own); 0: from any side.
  geometry::Vec3 approach_P = geometry::Vec3::Zero();
  std::vector<std::uint32_t> faces = {};  ///< triangles of a prop that is one mesh
  bool any() const { return region.empty() && !point_P && faces.empty(); }
};

struct SurfaceSample {
  geometry::Vec3 p_P = geometry::Vec3::Zero();
  geometry::Vec3 normal_P = geometry::Vec3::UnitZ();  ///< unit, outward
  double thickness_m = 0.0;  ///< through the prop along -normal, to the first far wall
  /// Cosine between the far wall's normal and -normal_P: 1 where it faces straight back.
  double far_wall = 0.0;
  /// Unit: the way the surface bends least, of a cylinder its axis.
  geometry::Vec3 along_P = geometry::Vec3::UnitX();
};

class HeldObject {
 public:
  /// kUnsupported: the prop has no shape, or none with a surface. kNotFound: no such region, with
  /// the near ones.
  static Result<HeldObject> Build(const model::Prop& prop, const GraspPlace& place = {});

  struct Answer {
    double distance_m = std::numeric_limits<double>::infinity();  ///< negative inside
    geometry::Vec3 p_P = geometry::Vec3::Zero();
    geometry::Vec3 normal_P = geometry::Vec3::UnitZ();  ///< gradient of the distance
  };
  /// The nearest surface point; infinity when nothing lies within `max_distance_m` (whichever
  /// side).
  Answer Closest(const geometry::Vec3& p_P,
                 double max_distance_m = std::numeric_limits<double>::infinity()) const;

  /// `count` points of the surface within the place, by area, the same for the same seed; fewer (or
  /// none) where the place holds no surface.
  std::vector<SurfaceSample> Sample(int count, std::uint64_t seed) const;

  /// Whether a surface point belongs to the place asked for.
  bool InPlace(const geometry::Vec3& p_P) const;
  const geometry::Vec3& approach_P() const { return approach_P_; }  ///< 0: any
  bool has_place() const { return !balls_.empty() || !face_in_.empty(); }
  const std::string& name() const { return name_; }
  bool watertight() const { return watertight_; }
  size_t triangle_count() const;
  double friction() const { return friction_; }
  geometry::Vec3 middle_P() const { return bounds_.centre(); }
  const geometry::Bounds& bounds() const { return bounds_; }

 private:
  struct Part {
    geometry::RigidTransform X_PS;
    geometry::Shape shape;
    const geometry::MeshTree* mesh = nullptr;        ///< of a mesh or hull: its own
    std::shared_ptr<const geometry::MeshTree> skin;  ///< triangles to sample and to shoot rays at
    bool by_surface = false;   ///< its sides are told by the surface nearest, at rims alone by
                               ///< winding
    std::vector<double> area;  ///< running sums, of triangles within the place
  };
  Answer ClosestOf(const Part& part, const geometry::Vec3& p_P, double max_distance_m) const;

  std::string name_;
  std::vector<Part> parts_;
  geometry::Bounds bounds_;
  bool watertight_ = true;
  double friction_ = 0.5;
  struct Ball {
    geometry::Vec3 p_P;
    double radius_m;
  };
  std::vector<Ball> balls_;
  geometry::Vec3 approach_P_ = geometry::Vec3::Zero();
  std::vector<char> face_in_;  ///< of part 0, where faces were named
};

/// The same surface with fewer triangles: vertices merged in cubes of cell_m and moved to their
/// mean (the paper's low-polygon proxy). Coarser than the cell, thin parts close up: a proxy is for
/// searching, not for what is reported.
geometry::Mesh Coarsened(const geometry::Mesh& mesh, double cell_m);
/// Cells chosen so that about `triangles` remain.
geometry::Mesh Proxy(const geometry::Mesh& mesh, int triangles);
/// Each triangle cut into four at the middles of its edges: the same surface.
geometry::Mesh Subdivided(const geometry::Mesh& mesh);

}  // namespace handhold::synthesis
