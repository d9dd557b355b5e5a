/// Rigid bodies, joints and contacts in ODE, behind values, SI units and Results: the only place
/// that knows the engine.
///
/// The engine's own rules are kept out of sight: stops, ERP and CFM are computed from springs and
/// dampers for the step in hand, a joint's child is always its first body, friction bounds follow
/// each contact's last normal force, and a failing step leaves an error and a dead world instead of
/// a dead process (README.md, Decisions). Pinned by tests/synthesis/world. The values that go in
/// and come out are in world_types.h.
///
/// Bodies. Body 0 is the fixed world; others are numbered as added. A body's frame B is the
/// caller's; the centre of mass may lie anywhere in it. Joints and colliders are numbered apart,
/// from 0. Passing an index that was never given is a bug: CHECK.
///
/// Thread: none but the one that made the process's first World (ODE keeps globals); work in
/// parallel by process.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/geometry/transform.h"
#include "synthesis/world/world_types.h"

namespace handhold::synthesis {

class World {
 public:
  struct Impl;  ///< the engine side, inside this module

  static Result<std::unique_ptr<World>> Create(const WorldOptions& options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// kInvalid, naming the body, for a mass the engine cannot move (zero, not finite, not physical).
  Result<int> AddBody(const std::string& name, const geometry::MassProperties& mass_B,
                      const geometry::RigidTransform& X_WB);
  Result<int> AddHinge(const HingeSpec& spec);
  Result<int> AddUniversal(const UniversalSpec& spec);
  Result<int> AddBall(const BallSpec& spec);
  /// A joint as the others, to the fixed world, that yields: joint_reading is its pull about F.
  Result<int> AddSoftRoot(const SoftRootSpec& spec);
  Result<int> AddCollider(const ColliderSpec& spec);
  /// These two colliders never meet.
  void IgnorePair(int collider_a, int collider_b);
  /// True when the two overlap where they are now, by the engine's own test and whatever their
  /// masks.
  bool Overlap(int collider_a, int collider_b) const;

  /// Puts a collider of kFixedBody elsewhere; what it touched is forgotten. Precondition: it
  /// belongs to kFixedBody.
  Status MoveFixedCollider(int collider, const geometry::RigidTransform& X_WS);
  /// Puts a body elsewhere; what it touched is forgotten.
  Status SetPose(int body, const geometry::RigidTransform& X_WB);
  /// Velocity of B's origin and angular velocity, in W.
  Status SetVelocity(int body, const geometry::Vec3& omega_W, const geometry::Vec3& v_W);
  /// Adds to the force on `body` for the next step, acting at p_W.
  Status AddForce(int body, const geometry::Vec3& f_W, const geometry::Vec3& p_W);
  Status AddTorque(int body, const geometry::Vec3& t_W);
  /// Adds t_W to the torque on a joint's child and takes it from its parent's, for the next step:
  /// what a motor in the joint does. Any joint.
  Status AddJointTorque(int joint, const geometry::Vec3& t_W);

  /// A kinematic body moves as told and by no force; it comes to rest when it becomes one. Contacts
  /// between two bodies that forces do not move are left out.
  Status SetKinematic(int body, bool kinematic);
  bool kinematic(int body) const;
  /// Where a kinematic body (CHECK) shall be, exactly, at the end of the next step; it goes there
  /// at the constant velocity that its contacts and joints then see. Without MoveTo before a step
  /// it rests for that step.
  Status MoveTo(int body, const geometry::RigidTransform& X_WB);

  /// Axis 0 of a hinge; 0 or 1 of a universal joint. A target out of reach of the engine's angles,
  /// |target + T rate| >= pi, is refused: ODE would wind up silently. Precondition: such a joint.
  Status SetDrive(int joint, int axis, const JointDrive& drive);
  /// Precondition: a ball joint.
  Status SetBallDrive(int joint, const BallDrive& drive);
  /// Precondition: a soft root.
  Status SetSoftRoot(int joint, const SoftRootDrive& drive);
  /// Takes the drives off every axis of a joint.
  void ClearDrive(int joint);

  /// Limits of a hinge or universal axis, hard, with or without a drive on it: a joint that would
  /// pass one within the step is stopped at it, not thrown back behind it. lower > upper is refused
  /// (ODE would go limp silently), and so is a range without an angle between -pi and pi; a limit
  /// beyond half a turn is none. Test: Limits.*
  Status SetLimits(int joint, int axis, double lower_rad, double upper_rad);
  /// The same for a ball joint, as in database/model/skeleton.h: twist about x, and swing about y
  /// and z within the elliptic cone around the middle of their ranges. A range below 0.1 degrees is
  /// taken as 0.1 degrees; +-infinity: free.
  Status SetBallLimits(int joint, const geometry::Vec3& lower_rad, const geometry::Vec3& upper_rad);

  /// Advances by h_s seconds: contacts at the present poses, then the engine. With a generator the
  /// engine's colliders are not asked. An error (kNotConverged: numbers that stopped being
  /// finite, a body beyond 10 km/s or 1e6 rad/s, a failure inside ODE) names the body and the time
  /// and ends this world: later steps return it again.
  Status Step(double h_s, const ContactGenerator& generator = nullptr);

  /// Everything that later steps depend on but what the world consists of: poses and velocities to
  /// the bit, forces waiting for the next step, drives, limits and targets, contact memory and
  /// readings, places of fixed colliders, the time and QuickStep's seed.
  Snapshot Save() const;
  /// Back to it: what follows is what followed then, bit by bit. Also into another world made the
  /// same way in this process, and into one that an error ended, unless the failure was inside ODE.
  /// kInvalid: the snapshot is of a world with other bodies, joints or colliders, or holds numbers
  /// that are not finite (saved after a step that failed), or this world cannot be revived.
  Status Restore(const Snapshot& snapshot);

  double time_s() const;   ///< sum of the steps
  int body_count() const;  ///< with the fixed world
  int joint_count() const;
  const std::string& body_name(int body) const;
  geometry::RigidTransform X_WB(int body) const;
  geometry::Vec3 omega_W(int body) const;
  geometry::Vec3 v_W(int body) const;                                       ///< of B's origin
  geometry::Vec3 PointVelocity(int body, const geometry::Vec3& p_W) const;  ///< of the material at
                                                                            ///< p_W
  geometry::Vec3 com_W(int body) const;
  double mass_kg(int body) const;
  /// Of a ball joint: rotation of the child's joint frame in the parent's.
  geometry::Mat3 R_JpJc(int joint) const;
  double angle_rad(int joint, int axis = 0) const;  ///< in (-pi, pi]. Precondition: a hinge or
                                                    ///< universal axis
  double rate_rad_per_s(int joint, int axis = 0) const;
  geometry::Vec3 anchor_W(int joint) const;  ///< as the parent sees it
  geometry::Vec3 axis_W(int joint, int axis = 0) const;
  /// Distance between the anchor as parent and child see it: the engine's drift. Of a soft root 0.
  double drift_m(int joint) const;
  const JointReading& joint_reading(int joint) const;
  std::span<const ContactReading> contacts() const;  ///< of the last step, in a fixed order
  /// What ODE had to say in messages that did not stop it (none in healthy use).
  std::span<const std::string> warnings() const;

 private:
  explicit World(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace handhold::synthesis
