/// Something a hand holds or touches: shapes with poses, mass, friction, named grasp regions, its
/// markers.
#pragma once

#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"

namespace handhold::model {

struct PropShape {
  std::string name;
  geometry::RigidTransform X_PS;  ///< pose of the shape in the prop's reference frame P
  geometry::Shape shape;
};

/// A region one may grasp: a ball around a point, with the direction to approach along.
struct GraspRegion {
  std::string name;
  geometry::Vec3 p_P = geometry::Vec3::Zero();
  double radius_m = 0.0;
  geometry::Vec3 approach_P = -geometry::Vec3::UnitZ();
};

struct PropMarker {
  std::string name;
  geometry::Vec3 p_P = geometry::Vec3::Zero();
};

struct Prop {
  std::string name;               ///< "bumped_plate"
  std::vector<PropShape> shapes;  ///< their union is the prop
  geometry::MassProperties mass;  ///< in P; mass 0: fixed in the world
  double friction = 0.5;          ///< Coulomb coefficient against skin
  /// Normal compliance of the surface, m/N: 0 is rigid. 1/5000 for the plate of the one-finger
  /// chain.
  double surface_compliance_m_per_N = 0.0;
  std::vector<GraspRegion> grasp_regions;
  std::vector<PropMarker> markers;
  std::string source;  ///< where its numbers come from
};

/// From JSON checked against schemas/exchange/prop.schema.json; mesh paths are relative to the
/// file's folder.
Result<Prop> LoadProp(const std::string& path);
/// A fixed prop from a mesh file of any supported kind (OBJ, STL, PLY); `metres_per_unit` scales
/// it.
Result<Prop> PropFromMesh(const std::string& path, double metres_per_unit);

}  // namespace handhold::model
