/// Contacts between a hand and what it touches, and the generator that finds them: geometry only,
/// no engine.
#pragma once

#include <vector>

#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// One contact candidate between a body of the hand and an object.
struct Contact {
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
using ContactSet = std::vector<Contact>;

}  // namespace handhold::synthesis
