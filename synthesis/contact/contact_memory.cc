#include "synthesis/contact/contact_memory.h"

#include <algorithm>

#include "database/base/check.h"

namespace handhold::synthesis {

using geometry::Mat3;
using geometry::Vec3;

std::optional<Remembered> ContactMemory::Recall(const Contact& contact,
                                                const ContactPoses& poses) const {
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), contact.feature,
      [](const Entry& entry, std::uint64_t feature) { return entry.feature < feature; });
  if (at == entries_.end() || at->feature != contact.feature) return std::nullopt;
  const Mat3& R_WO = poses.Of(contact.b).R;
  Remembered now{R_WO * at->in_object.stretch_W, R_WO * at->in_object.f_onA_W,
                 R_WO * at->in_object.slip_W};
  // The stretch turns with the surface.
  const Vec3 flat = now.stretch_W - contact.normal_W * contact.normal_W.dot(now.stretch_W);
  const double length = flat.norm();
  now.stretch_W = length > 0 ? Vec3(flat * (now.stretch_W.norm() / length)) : Vec3(Vec3::Zero());
  return now;
}

void ContactMemory::Store(std::span<const Contact> contacts, std::span<const Remembered> now,
                          const ContactPoses& poses) {
  CHECK_EQ(contacts.size(), now.size());
  entries_.clear();
  for (size_t i = 0; i < contacts.size(); ++i) {
    const Mat3 R_OW = poses.Of(contacts[i].b).R.transpose();
    entries_.push_back({contacts[i].feature,
                        {R_OW * now[i].stretch_W, R_OW * now[i].f_onA_W, R_OW * now[i].slip_W}});
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& x, const Entry& y) { return x.feature < y.feature; });
}

}  // namespace handhold::synthesis
