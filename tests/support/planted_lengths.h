/// Distances between joints of a planted whole hand, by the names that a skeleton's fit lists them
/// under.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "database/model/skeleton.h"

namespace handhold::test_support {

inline std::map<std::string, double> PlantedLengths(const model::Skeleton& planted) {
  std::map<std::string, double> out;
  const auto place = [&](int b) {  // in the moving ancestor
    geometry::RigidTransform X = planted.body(b).joint.X_PJp;
    int at = planted.body(b).parent;
    while (planted.body(at).joint.type == model::JointType::kFixed) {
      X = planted.body(at).joint.X_PJp * X;
      at = planted.body(at).parent;
    }
    return std::pair{at, X.p};
  };
  int before = -1;
  for (int b = 2; b < planted.body_count(); ++b) {
    const model::Joint& joint = planted.body(b).joint;
    if (joint.type == model::JointType::kFixed) continue;
    const auto [parent, p] = place(b);
    const std::string name = joint.name.substr(2);
    if (parent == 1) {
      if (before > 0) {
        out[planted.body(before).joint.name.substr(2) + "-" + name] =
            (p - place(before).second).norm();
      }
      before = b;
      continue;
    }
    geometry::Vec3 from = p;
    if (planted.body(parent).joint.type == model::JointType::kHinge)
      from -= geometry::Vec3::UnitY() * from.y();
    out[planted.body(parent).joint.name.substr(2) + "-" + name.substr(name.rfind('.') + 1)] =
        from.norm();
  }
  return out;
}

}  // namespace handhold::test_support
