#include "synthesis/contact/contact_set.h"

#include "database/base/check.h"

namespace handhold::synthesis {

SurfaceLaw LawOf(const std::optional<SurfaceLaw>& a, const std::optional<SurfaceLaw>& b) {
  if (a && b) return a->stiffness_N_per_m <= b->stiffness_N_per_m ? *a : *b;
  return a ? *a : b ? *b : SurfaceLaw{};
}

const geometry::RigidTransform& ContactPoses::Of(const ContactSide& side) const {
  static const geometry::RigidTransform kWorld;
  const auto index = static_cast<size_t>(side.index);
  switch (side.kind) {
    case ContactSide::Kind::kFixed:
      return index < fixed.size() ? fixed[index] : kWorld;
    case ContactSide::Kind::kLink: {
      CHECK_LT(static_cast<size_t>(side.tree), trees.size());
      const auto& tree = trees[static_cast<size_t>(side.tree)];
      CHECK_LT(index, tree.size());
      return tree[index];
    }
    case ContactSide::Kind::kBody:
      CHECK_LT(index, bodies.size());
      return *bodies[index];
  }
  return kWorld;
}

}  // namespace handhold::synthesis
