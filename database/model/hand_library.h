/// Hands by name: "finger4", "hand27" and what else lies in schemas/hands, and how to make them fit
/// a subject: mirrored, scaled, let go, with fewer markers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::model {

/// The hand that is meant where nobody names one: markers determine each of its angles.
inline constexpr const char* kDefaultHand = "hand27";

/// The right hand called `name` ("finger4": SchemasFolder()/hands/finger4.json). An unknown name is
/// kNotFound and tells the near ones.
Result<Skeleton> LoadHand(const std::string& name);
/// Names that LoadHand takes, sorted.
Result<std::vector<std::string>> HandNames();

/// The left hand of a right one, or back: everything reflected in the plane y = 0 of every frame;
/// names "R.x" become "L.x". A hinge or universal coordinate keeps its meaning and sign (flexion
/// stays positive). A ball joint's (w, x, y, z) corresponds to (w, -x, y, -z) and v to (-x, y, -z):
/// flexion keeps its sign, abduction and axial rotation change theirs; MirrorConfiguration does it,
/// and limits are reflected along. `source` strings stay, since the numbers come from the same
/// place; that of the skeleton ends with "; mirrored" (mirrored back: no more).
Skeleton Mirrored(const Skeleton& skeleton);
/// The configuration, and the velocity, of Mirrored(skeleton) that mirror q and v. Each is its own
/// inverse.
Eigen::VectorXd MirrorConfiguration(const Skeleton& skeleton, const Eigen::VectorXd& q);
Eigen::VectorXd MirrorVelocity(const Skeleton& skeleton, const Eigen::VectorXd& v);

/// The same hand with segments of measured length: metres by body name. The frame of each named
/// body is stretched by measured / length_m along x, its bone: joints of its children, markers,
/// frames and the places of shapes move along; radii stay. Its mass grows in proportion, and its
/// inertia is that of the stretched mass. The `source` of each body, mass, shape, marker, frame and
/// site that changed, and of each joint that moved, ends with "; scaled", and the note "scaled"
/// among the skeleton's sources tells which lengths were measured. kNotFound for an unknown body;
/// kInvalid for one without length_m or a length that is not positive.
Result<Skeleton> ScaledToLengths(const Skeleton& skeleton,
                                 const std::map<std::string, double>& length_m);

/// The whole hand larger or smaller: lengths times `factor`, masses by factor^3 (same density),
/// inertias by factor^5. Sources as for ScaledToLengths; a factor of 1 changes none.
Result<Skeleton> ScaledUniformly(const Skeleton& skeleton, double factor);

/// The same hand with its base free to move: the fixed joint of the one body on the world becomes a
/// free one (7 coordinates, 6 velocities, first when that body is the first). For hands whose
/// forearm or palm is not fixed in the laboratory. kInvalid when there is not exactly one body on
/// the world, or its joint is not fixed.
Result<Skeleton> WithFreeBase(const Skeleton& skeleton);

/// The other way: the free joint of the one body on the world becomes a fixed one that holds that
/// body at X_WB. kInvalid when there is not exactly one body on the world, or its joint is not
/// free.
Result<Skeleton> WithFixedBase(const Skeleton& skeleton, const geometry::RigidTransform& X_WB);

/// The same hand wearing only the markers of one of its sets ("22" or "30" of the whole hands).
/// kNotFound tells the sets there are.
Result<Skeleton> WithMarkerSet(const Skeleton& skeleton, const std::string& set);

}  // namespace handhold::model
