/// Finds the contacts between a posed hand and props: nearest points of every pair of shapes closer
/// than a margin.
///
/// Geometry only (database/geometry), never an engine's contacts: the replay must not share its
/// collider with the truth it is checked against. Pinned by
/// tests/synthesis/contact/contact_generator_test.cc.
#pragma once

#include <span>
#include <vector>

#include "database/base/result.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/contact_set.h"

namespace handhold::synthesis {

/// A prop in the scene.
struct PlacedProp {
  const model::Prop* prop = nullptr;
  geometry::RigidTransform X_WP;
  int object = -1;         ///< index of the free body it is, -1: fixed in the world
  double friction = -1.0;  ///< Coulomb coefficient to use; negative: the prop's own
};

struct ContactOptions {
  /// Pairs further apart than this are left out. It must exceed the fastest approach in one step.
  double margin_m = 5e-3;
};

/// Contacts of every sphere and capsule of the hand's bodies with every shape of the props, nearest
/// points of each pair.
///
/// A prop is the union of its shapes: a contact whose point lies inside another shape of the same
/// prop (deeper than 1e-9 m) is on no surface and is left out, unless that would leave a
/// penetrating hand shape without contact: then the shallowest stays. `feature` numbers the pair
/// (hand shape, prop, prop shape), so that a contact can be followed. Body shapes other than
/// spheres and capsules are skipped: UnusableHandShapes names them. Preconditions: `data` holds the
/// poses (ComputePoses) of `skeleton`.
Result<ContactSet> GenerateContacts(const model::Skeleton& skeleton,
                                    const model::KinematicsData& data,
                                    std::span<const PlacedProp> props,
                                    const ContactOptions& options);

/// Names of body shapes that GenerateContacts cannot use (boxes, meshes): "palm/box". Said once by
/// whoever replays.
std::vector<std::string> UnusableHandShapes(const model::Skeleton& skeleton);

}  // namespace handhold::synthesis
