/// Finds the contacts between a posed hand and props: nearest points of every pair of shapes closer
/// than a margin.
///
/// Geometry only (database/geometry), never an engine's contacts: the replay must not share its
/// collider with the truth it is checked against. Pinned by
/// tests/synthesis/contact/hand_contacts_test.cc.
#pragma once

#include <span>
#include <vector>

#include "database/base/result.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// One contact candidate between a body of the hand and an object.
struct HandContact {
  int body = 0;     ///< of the skeleton
  int object = -1;  ///< index of the free object, -1: the fixed surface
  int feature = 0;  ///< which pair of shapes: identifies the contact across steps
  geometry::Vec3 p_W = geometry::Vec3::Zero();        ///< contact point, on the object's surface
  geometry::Vec3 normal_W = geometry::Vec3::UnitZ();  ///< outward unit normal of the object (d_i0
                                                      ///< of Kry & Pai 7.1.1)
  double separation_m = 0.0;  ///< s_i0: distance along the normal, negative when they
                              ///< interpenetrate
  double friction = 0.5;
  double surface_compliance_m_per_N = 0.0;
};
using HandContactSet = std::vector<HandContact>;

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
Result<HandContactSet> GenerateContacts(const model::Skeleton& skeleton,
                                        const model::KinematicsData& data,
                                        std::span<const PlacedProp> props,
                                        const ContactOptions& options);

/// Names of body shapes that GenerateContacts cannot use (boxes, meshes): "palm/box". Said once by
/// whoever replays.
std::vector<std::string> UnusableHandShapes(const model::Skeleton& skeleton);

}  // namespace handhold::synthesis
