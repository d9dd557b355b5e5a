/// What friction needs to know of a contact of the step before: how far its surface was stretched,
/// the last force and the last slip, kept in the axes of the object that is touched.
///
/// The object is side b: what a hand holds, what a body lies on, the other hand. In its axes,
/// because hand and object turn together while a grip is held: kept in the world's the stretch
/// would lag behind, and the forces with it. A new normal turns the stretch with the surface: its
/// length is kept. synthesis/world has the same rule, written apart; world_memory_test.cc compares
/// the two. Pinned by tests/synthesis/contact/contact_memory_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/contact/contact_set.h"

namespace handhold::synthesis {

/// Of one contact, in the world as it is posed now.
struct Remembered {
  geometry::Vec3 stretch_W = geometry::Vec3::Zero();  ///< of a's surface against b's, tangential, m
  geometry::Vec3 f_onA_W = geometry::Vec3::Zero();    ///< last force, N
  geometry::Vec3 slip_W = geometry::Vec3::Zero();     ///< of a against b over the last step, m
};

class ContactMemory {
 public:
  /// What was stored for the contact's feature, turned to where its object is now; nullopt when the
  /// feature is new.
  std::optional<Remembered> Recall(const Contact& contact, const ContactPoses& poses) const;
  /// Replaces everything by one entry per contact, measured at `poses`: those at which contacts
  /// were found. Does not allocate once it has grown.
  void Store(std::span<const Contact> contacts, std::span<const Remembered> now,
             const ContactPoses& poses);
  void Clear() { entries_.clear(); }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t feature = 0;
    Remembered in_object;  ///< vectors in the object's axes
  };
  std::vector<Entry> entries_;  ///< sorted by feature
};

}  // namespace handhold::synthesis
