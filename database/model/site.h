/// Which contact site of a hand a contact belongs to.
#pragma once

#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::model {

/// Index among the skeleton's sites of the one on `body` whose outward normal is nearest to
/// `out_B`, the outward direction of the skin at the contact in the body's frame; -1: the body has
/// none within 90 degrees. Pinned by tests/database/model/site_test.cc.
int SiteAt(const Skeleton& skeleton, int body, const geometry::Vec3& out_B);

/// Index of the only frame whose name ends in "tip", a finger's; -1: there is none, or several, and
/// then the one that is meant has to be said.
int OnlyTip(const Skeleton& skeleton);

}  // namespace handhold::model
