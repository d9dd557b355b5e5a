/// What touches what: contact candidates between any two of hands, free bodies and fixed things.
///
/// One kind of row for hand against object, object against table, object against object and hand
/// against hand. Made by ContactFinder (contact_finder.h), read by every method. Geometry only, no
/// engine. Pinned by tests/synthesis/contact/contact_finder_test.cc.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "database/geometry/transform.h"

namespace handhold::synthesis {

/// Whose surface it is.
struct ContactSide {
  enum class Kind : std::uint8_t {
    kFixed,  ///< something that does not move; `index` tells fixed things apart
    kLink,   ///< body `index` of the skeleton of tree `tree` (an articulated hand)
    kBody,   ///< body `index` of the scene: free, on a pivot or on a slider
  };
  Kind kind = Kind::kFixed;
  int tree = 0;  ///< kLink only
  int index = 0;

  static ContactSide Fixed(int thing = 0) { return {Kind::kFixed, 0, thing}; }
  static ContactSide Link(int tree, int body) { return {Kind::kLink, tree, body}; }
  static ContactSide Body(int body) { return {Kind::kBody, 0, body}; }
  bool fixed() const { return kind == Kind::kFixed; }
  auto operator<=>(const ContactSide&) const = default;
};

/// How a surface gives under one contact: a spring and a damper downwards, and the same sideways up
/// to Coulomb's bound. (synthesis/world has a law of its own: the two share no code.)
struct SurfaceLaw {
  double friction = 0.5;              ///< Coulomb coefficient
  double stiffness_N_per_m = 5000.0;  ///< infinity: rigid
  double damping_Ns_per_m = 0.0;
  double compliance_m_per_N() const { return 1.0 / stiffness_N_per_m; }
};
inline constexpr double kRigid_N_per_m = std::numeric_limits<double>::infinity();

/// The law of a contact of two surfaces: the softer one's (its friction too; of equals, `a`'s);
/// where only one has a law that one's; SurfaceLaw's default where none has.
SurfaceLaw LawOf(const std::optional<SurfaceLaw>& a, const std::optional<SurfaceLaw>& b);

/// One contact candidate: nearest points of two surfaces, apart or overlapping.
struct Contact {
  ContactSide a, b;
  /// Names the contact: the same in the next step for the same pair of colliders and the same place
  /// of their manifold.
  std::uint64_t feature = 0;
  geometry::Vec3 p_W = geometry::Vec3::Zero();        ///< on b's surface
  geometry::Vec3 normal_W = geometry::Vec3::UnitZ();  ///< unit, into a (d_i0 of Kry & Pai 7.1.1
                                                      ///< where a is the hand)
  double separation_m = 0.0;                          ///< along the normal; negative: overlapping
  SurfaceLaw law;
};
using ContactSet = std::vector<Contact>;

/// Where everybody is: what a finder measures at and a memory's axes turn with. Points into its
/// owners' arrays, which must outlive it; nothing is copied.
struct ContactPoses {
  std::vector<std::span<const geometry::RigidTransform>> trees;  ///< X_WB of every body of a tree
  std::vector<const geometry::RigidTransform*> bodies;
  std::vector<geometry::RigidTransform> fixed;  ///< fixed thing i; the identity where there is none

  /// X_WS of a side. CHECKs that tree and body exist.
  const geometry::RigidTransform& Of(const ContactSide& side) const;
};

}  // namespace handhold::synthesis
