/// How poses, shapes and masses are written in the JSON of skeletons and props (schemas/exchange).
/// Internal to this module.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"
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
/// "to_m", a hull of "points_m", a closed mesh of "revolution" about Z (its profile must not
/// touch itself: quadratic in its points, at most 1000), a mesh "file" with
/// "metres_per_unit", relative to `folder`.
Result<PosedShape> ShapeFromJson(const text::JsonView& object, const std::filesystem::path& folder);

/// `source` is written unless it is empty; MassSourceFromJson reads it.
text::Json MassToJson(const geometry::MassProperties& mass, const std::string& source);
Result<std::string> MassSourceFromJson(const text::JsonView& object);
/// {"mass_kg", "com_m", "inertia_kg_m2": [nine numbers]}, or, computed from `shapes` as if each
/// were solid and none overlapped: {"from_shapes": true} with "mass_kg" (one number, or one for
/// each shape) or "density_kg_m3".
Result<geometry::MassProperties> MassFromJson(const text::JsonView& object,
                                              std::span<const PosedShape> shapes);

/// Finite, orthonormal to 1e-9 and right-handed.
bool IsPose(const geometry::RigidTransform& X);

/// Checks `json`, read from `path`, against schemas/exchange/KIND.schema.json; every breach is told
/// with line and path. Of a version this program does not know, kVersion is returned instead.
/// kNotFound when the schemas folder is not found.
Status RequireSchema(const text::Json& json, const std::string& kind,
                     const std::filesystem::path& path);

/// "format" is `format` and "version" is 1.
Status CheckFormat(const text::JsonView& root, const std::string& format);

/// "sources": {key: text}.
Result<std::vector<SourceNote>> SourcesFromJson(const text::JsonView& root);
void SourcesIntoJson(const std::vector<SourceNote>& sources, text::Json* object);

}  // namespace handhold::model::internal
