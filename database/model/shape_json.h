/// How poses, shapes and masses are written in the JSON of skeletons and props (schemas/exchange).
/// Internal to this module.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"
#include "database/text/json_view.h"

namespace handhold::model::internal {

struct PosedShape {
  geometry::RigidTransform X;  ///< pose of the shape in its body or prop
  geometry::Shape shape;
};

text::Json Vec3ToJson(const geometry::Vec3& v);
Result<geometry::Vec3> Vec3FromJson(const text::JsonView& object, std::string_view key);

/// {"p_m": [x, y, z], "R": [nine numbers, row by row]}; either may be missing: zero, identity.
/// Instead of R, "rotvec_deg": axis times angle in degrees, for people. Written with R, so that
/// every bit comes back; nothing for the identity.
std::optional<text::Json> PoseToJson(const geometry::RigidTransform& X);
Result<geometry::RigidTransform> PoseFromJson(const text::JsonView& object, std::string_view key);

/// Writes kind and sizes into `object`, and "pose" unless it is the identity.
void ShapeIntoJson(const PosedShape& shape, text::Json* object);
/// Reads what ShapeIntoJson writes, and for people: a capsule or cylinder between "from_m" and
/// "to_m", a hull of "points_m", a mesh "file" with "metres_per_unit", relative to `folder`.
Result<PosedShape> ShapeFromJson(const text::JsonView& object, const std::filesystem::path& folder);

text::Json MassToJson(const geometry::MassProperties& mass);
/// {"mass_kg", "com_m", "inertia_kg_m2": [nine numbers]}, or, computed from `shapes` as if each
/// were solid and none overlapped: {"from_shapes": true} with "mass_kg" or "density_kg_m3".
Result<geometry::MassProperties> MassFromJson(const text::JsonView& object,
                                              std::span<const PosedShape> shapes);

}  // namespace handhold::model::internal
