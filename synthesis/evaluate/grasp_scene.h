/// What a protocol asks of an engine: an object in a closed hand that can be put back, pushed and
/// carried. Protocols are written once against it and run in any engine (ODE: hand_scene.h;
/// MuJoCo: tests/support).
///
/// A scene is made for one grasp, with the object's mass, friction, gains and gravity settled.
/// Frame W is the engine's; O the object's own (its prop's P).
#pragma once

#include <string>

#include "database/base/result.h"
#include "database/geometry/transform.h"

namespace handhold::synthesis {

/// Depths at the scene's start, before anything moves; by the engine's own colliders.
struct GraspDepths {
  double object_m = 0.0;  ///< deepest of the hand in the object; 0: none overlaps
  double table_m = 0.0;   ///< and in a table
  double self_m = 0.0;  ///< of the hand with itself, bodies that are joined, or that overlap at q =
                        ///< 0, left out
};

class GraspScene {
 public:
  virtual ~GraspScene() = default;

  virtual std::string engine() const = 0;  ///< "ode exact", "ode quick", "mujoco"
  virtual double step_s() const = 0;
  virtual double mass_kg() const = 0;  ///< of the object
  virtual double friction() const = 0;
  virtual GraspDepths depths() const = 0;

  /// Back to the start: hand closed, object in it, to the bit the same each time.
  virtual Status Restart() = 0;
  /// One step with a force (N, in W, at the object's centre of mass) besides what the scene has,
  /// and the wrist `rise_m` above where it started along Z of W.
  virtual Status Step(const geometry::Vec3& f_onObject_W, double rise_m) = 0;

  virtual geometry::RigidTransform X_WO() const = 0;
  virtual geometry::Vec3 p_OCom() const = 0;  ///< the object's centre of mass
  virtual int hand_contacts() const = 0;      ///< of hand and object, at the last step
  virtual bool on_table() const = 0;  ///< the object touched something fixed at the last step
};

}  // namespace handhold::synthesis
