/// How vectors, poses and lists of numbers look in the laboratory's JSON.
#pragma once

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/text/json.h"
#include "database/text/json_view.h"
#include "tools/lab/truth.h"

namespace handhold::lab {

text::Json NumbersToJson(const Eigen::VectorXd& v);
/// {"p_m": [x, y, z], "R": [row by row]}.
text::Json PoseToJson(const geometry::RigidTransform& X);
/// Only what is not zero.
text::Json FaultsToJson(const SensorFaults& faults);
text::Json TakesToJson(const std::vector<TruthTake>& takes);

Result<Eigen::VectorXd> NumbersFromJson(const text::JsonView& view, std::string_view key);
Result<geometry::Vec3> Vec3FromJson(const text::JsonView& view, std::string_view key);
Result<geometry::RigidTransform> PoseFromJson(const text::JsonView& view);
/// What `view` has no member for is zero.
Result<SensorFaults> FaultsFromJson(const text::JsonView& view);
Result<std::vector<TruthTake>> TakesFromJson(const text::JsonView& view, std::string_view key);

}  // namespace handhold::lab
