/// Something a hand holds or touches: shapes with poses, mass, friction, named grasp regions, its
/// markers.
///
/// A Prop is a plain value; its reference frame P is where its file says (schemas/props: centre of
/// the thing, or for plates the middle of the top face, z up). Everything in metres, kilograms,
/// newtons.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"
#include "database/text/json.h"

namespace handhold::model {

struct PropShape {
  std::string name;
  geometry::RigidTransform X_PS;  ///< pose of the shape in the prop's reference frame P
  geometry::Shape shape;
  std::string source;
};

/// A region one may grasp: a ball around a point, with the direction to approach along.
struct GraspRegion {
  std::string name;
  geometry::Vec3 p_P = geometry::Vec3::Zero();
  double radius_m = 0.0;
  geometry::Vec3 approach_P = -geometry::Vec3::UnitZ();
  std::string source;  ///< who chose the place and the direction
};

/// A marker glued to the prop.
struct PropMarker {
  std::string name;
  geometry::Vec3 p_P = geometry::Vec3::Zero();  ///< its centre, metres
  std::string source;
};

struct Prop {
  std::string name;               ///< "bumped_plate"
  std::vector<PropShape> shapes;  ///< their union is the prop
  geometry::MassProperties mass;  ///< in P; mass 0: fixed in the world
  double friction = 0.5;          ///< Coulomb coefficient against skin
  /// Compliance of the surface under one contact, m/N, downwards and sideways alike: 1/5000 for the
  /// plate of the one-finger chain. 0: not said; syntheses then take their own default.
  double surface_compliance_m_per_N = 0.0;
  std::vector<GraspRegion> grasp_regions;
  std::vector<PropMarker> markers;
  std::string source;               ///< who made it and from what
  std::vector<SourceNote> sources;  ///< what the short names in `source` strings stand for
  // Where the numbers of the same name come from; empty: `source` speaks for them.
  std::string mass_source;
  std::string friction_source;
  std::string surface_compliance_source;
};

/// Names present and unique, shapes and poses sound, mass physical or 0, friction and compliance
/// finite and >= 0, regions with a positive radius and a unit approach. kInvalid with the first
/// finding.
Status CheckProp(const Prop& prop);

/// Least of p . up over the prop's shapes at X, exact; +infinity without shapes.
double LowestAlong(const Prop& prop, const geometry::RigidTransform& X, const geometry::Vec3& up);
/// The least box along the axes of the frame that X takes P to, exact; empty without shapes.
geometry::Bounds BoundsOf(const Prop& prop, const geometry::RigidTransform& X = {});

/// From JSON checked against schemas/exchange/prop.schema.json and by CheckProp; mesh paths are
/// relative to the file's folder. Errors name file, line, path and the nearest valid name.
Result<Prop> LoadProp(const std::string& path);
/// What PropToJson gave, without the schema's check. `path`: of the file it came from, for errors
/// and relative mesh files.
Result<Prop> PropFromJson(const text::Json& json, const std::filesystem::path& path);
/// The prop of our library called `name` ("bumped_plate": schemas/props/bumped_plate.json);
/// kNotFound names near ones.
Result<Prop> LoadLibraryProp(const std::string& name);
/// Names that LoadLibraryProp takes, sorted.
Result<std::vector<std::string>> PropNames();

/// Everything a Prop holds, every `source` included, in SI; loading it again gives the same bits.
text::Json PropToJson(const Prop& prop);
Status SaveProp(const Prop& prop, const std::string& path);

/// A fixed prop from a mesh file of any supported kind (OBJ, STL, PLY); `metres_per_unit` scales
/// it: 0.001 for a file in millimetres. Named as the file; friction 0.5; what the reader noticed
/// (holes) is kept in `source` and, when given, added to `noticed`. Errors as
/// geometry::ReadMeshFile, and kCorrupt, naming what and where, when it had to leave something out.
Result<Prop> PropFromMesh(const std::string& path, double metres_per_unit,
                          Issues* noticed = nullptr);

}  // namespace handhold::model
