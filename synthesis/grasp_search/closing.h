/// Closes the digits of a hand on an object in steps that cannot pass through it, and says what
/// then touches.
///
/// A digit's joints turn together; a link that touches stops every joint before it (power) or its
/// whole digit (precision), and so does a touch of another digit. Steps are conservative: no longer
/// than the way to the nearest surface. Pinned by tests/synthesis/grasp_search/closing_test.cc.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "synthesis/contact/force_feasibility.h"
#include "synthesis/grasp_search/contact_fit.h"

namespace handhold::synthesis {

struct ClosingOptions {
  std::array<bool, 5> digits = {true, true, true, true, true};  ///< thumb .. little: those that
                                                                ///< close
  bool precision = false;  ///< a touching link stops its whole digit
  /// Digits that do not close stretch until they are so far off, if that is enough; 0: they stay.
  double keep_off_m = 0.0;
  /// The palm goes to the object first, by at most palm_way_m along its normal; digits in the way
  /// open.
  bool palm = false;
  double palm_way_m = 0.025;
  double touch_m = 3e-4;    ///< counts as touching
  double deepest_m = 2e-4;  ///< digits are opened, then the hand is pushed off, until no skin is
                            ///< deeper
  double most_rad = 2.4;    ///< that any joint turns
};

/// Where the skin touches, in the object's frame.
struct SkinContact {
  int capsule = 0;  ///< of HandSurface::capsules()
  int body = 0;
  int digit = -1;  ///< -1: the palm
  geometry::Vec3 p_P = geometry::Vec3::Zero();
  geometry::Vec3 normal_P = geometry::Vec3::UnitZ();  ///< unit, out of the object
  double distance_m = 0.0;                            ///< negative: it enters
};

class Closer {
 public:
  Closer(const HandSurface& hand, const HeldObject& object);

  /// Opens what enters, pushes the hand off where the palm enters, then closes. Answers false where
  /// the hand stays deeper than 3 mm, and leaves the placement at the best it found.
  bool Close(const ClosingOptions& options, geometry::RigidTransform* X_PH, Eigen::VectorXd* shape);

  /// Per capsule the nearest point and, of a long one, a second that touches 10 mm away or more;
  /// those within `margin_m`.
  std::vector<SkinContact> Contacts(const geometry::RigidTransform& X_PH,
                                    const Eigen::VectorXd& shape, double margin_m);
  /// The deepest that skin lies inside the object, and inside other skin; metres, 0: none.
  double Penetration(const geometry::RigidTransform& X_PH, const Eigen::VectorXd& shape);
  double SelfContact(const geometry::RigidTransform& X_PH, const Eigen::VectorXd& shape);

  const model::KinematicsData& data() const { return data_; }  ///< of the last question

 private:
  void Pose(const geometry::RigidTransform& X_PH, const Eigen::VectorXd& shape);
  double Gap(const SkinSphere& sphere, double reach_m, HeldObject::Answer* answer);
  double SelfGap(int digit) const;

  const HandSurface& hand_;
  const HeldObject& object_;
  model::KinematicsData data_;
  std::vector<std::vector<size_t>> of_digit_;  ///< fine spheres; [5]: the palm
};

/// The contacts as the force core takes them: pushing on the object, about `origin_P`.
std::vector<ForceContact> ForceContactsOf(const std::vector<SkinContact>& contacts,
                                          const geometry::Vec3& origin_P, double friction);

}  // namespace handhold::synthesis
