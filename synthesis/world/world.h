/// Rigid bodies, joints and contacts in ODE, behind values, SI units and Results: the only place
/// that knows the engine.
///
/// The engine's own rules are kept out of sight: stops, ERP and CFM are computed from springs and
/// dampers for the step in hand, a joint's child is always its first body, friction bounds follow
/// each contact's last normal force, and a failing step leaves an error and a dead world instead of
/// a dead process (README.md, Decisions). Pinned by tests/synthesis/world.
///
/// Bodies. Body 0 is the fixed world; others are numbered as added. A body's frame B is the
/// caller's; the centre of mass may lie anywhere in it. Joints and colliders are numbered apart,
/// from 0. Passing an index that was never given is a bug: CHECK.
///
/// Thread: none but the one that made the process's first World (ODE keeps globals); work in
/// parallel by process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"

namespace handhold::synthesis {

inline constexpr int kFixedBody = 0;

enum class Stepper {
  kExact,  ///< dWorldStep: every constraint to rounding; the one for truth
  kQuick,  ///< dWorldQuickStep: iterative, faster with many contacts; joints and friction creep
};

struct WorldOptions {
  geometry::Vec3 gravity_W = {0.0, 0.0, -9.81};
  Stepper stepper = Stepper::kExact;
  int quick_iterations = 50;
};

/// A surface pressed by one contact: normal force = stiffness x depth - damping x separating speed,
/// both at the end of the step, never pulling. Sideways the same spring and damper, stretched from
/// where the surface was gripped, up to Coulomb's bound; beyond it the grip slides along.
struct ContactLaw {
  double stiffness_N_per_m = 5000.0;
  double damping_Ns_per_m = 4.0;
  double friction = 0.5;
};

/// The spring-damper that pulls a joint axis to a moving target, implicit:
///   torque = -stiffness (theta - target) - damping (theta' - target_rate), theta and theta' at the
///   END of the step.
/// Give the target of the end of the step too. Source: compliance-from-contact.md, "Recipe"; test:
/// Drive.*
struct JointDrive {
  double target_rad = 0.0;
  double target_rate_rad_per_s = 0.0;
  double stiffness_Nm_per_rad = 0.0;  ///< > 0 (a compliance of 0, a rigid joint, has no spring:
                                      ///< give a large one)
  double damping_Nms_per_rad = 0.0;   ///< >= 0
};

/// A joint of the child body `child` to `parent` (may be kFixedBody). The anchor and axes are given
/// in W for the bodies' poses at the moment of adding; that moment is the joint's zero.
struct HingeSpec {
  std::string name;
  int parent = kFixedBody, child = 0;
  geometry::Vec3 p_W = geometry::Vec3::Zero();
  geometry::Vec3 axis_W = geometry::Vec3::UnitZ();  ///< unit; the child turns by the right-hand
                                                    ///< rule about it
};
/// Turns about axis1 (fixed in the parent), then axis2 (fixed in the child); the two at right
/// angles.
struct UniversalSpec {
  std::string name;
  int parent = kFixedBody, child = 0;
  geometry::Vec3 p_W = geometry::Vec3::Zero();
  geometry::Vec3 axis1_W = geometry::Vec3::UnitZ(), axis2_W = geometry::Vec3::UnitX();
};
struct BallSpec {
  std::string name;
  int parent = kFixedBody, child = 0;
  geometry::Vec3 p_W = geometry::Vec3::Zero();
};

/// Which colliders meet: hand with object, object with object. Two colliders of one body, or of the
/// fixed world, never meet.
enum class ColliderGroup { kHand, kObject };

struct ColliderSpec {
  std::string name;
  int body = kFixedBody;
  geometry::RigidTransform X_BS = {};  ///< of the shape in its body; in W for kFixedBody
  geometry::Shape shape;               ///< a hull is taken as its mesh
  ColliderGroup group = ColliderGroup::kObject;
  /// Law of contacts with this collider. Of two, the one with the smaller stiffness holds; without
  /// any, ContactLaw's default.
  std::optional<ContactLaw> law = std::nullopt;
  /// Contacts kept per pair, deepest first; each brings its own spring. 0: 1 with a mesh, 8 else;
  /// of two, the smaller holds.
  int max_contacts = 0;
};

/// A contact for the next step, from a generator instead of the engine's colliders.
struct ContactCandidate {
  int body_a = 0, body_b = kFixedBody;  ///< not both kFixedBody
  int feature = 0;  ///< with the bodies, tells the contact from others across steps
  geometry::Vec3 p_W = geometry::Vec3::Zero();
  geometry::Vec3 normal_W = geometry::Vec3::UnitZ();  ///< unit, into body_a
  double depth_m = 0.0;                               ///< > 0: overlapping; others are ignored
  ContactLaw law = {};
};
class World;
using ContactGenerator = std::function<void(const World&, std::vector<ContactCandidate>*)>;

/// A contact of the last step. The force is constant over the step; stamp it at the step's middle.
struct ContactReading {
  int body_a = 0, body_b = kFixedBody;
  int collider_a = -1, collider_b = -1;  ///< -1: from a generator
  int feature = 0;
  geometry::Vec3 p_W = geometry::Vec3::Zero();  ///< where the force acted, at the step's start
  geometry::Vec3 normal_W = geometry::Vec3::UnitZ();  ///< unit, into body_a
  double depth_m = 0.0;                               ///< at the step's start
  /// How fast a slides on b over the step, m/s: tangential velocity of a's material relative to
  /// b's, less what only stretches the surface. Zero to rounding while it sticks.
  geometry::Vec3 slip_W = geometry::Vec3::Zero();
  geometry::Vec3 f_onA_W = geometry::Vec3::Zero();
  double normal_force_N() const { return f_onA_W.dot(normal_W); }
};

/// What a joint did over the last step: force and torque that it exerted on the child, drive
/// included, about the anchor.
struct JointReading {
  geometry::Vec3 f_onChild_W = geometry::Vec3::Zero();
  geometry::Vec3 t_onChild_W = geometry::Vec3::Zero();
};

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
  Result<int> AddCollider(const ColliderSpec& spec);

  /// Puts a collider of kFixedBody elsewhere. Precondition: it belongs to kFixedBody.
  Status MoveFixedCollider(int collider, const geometry::RigidTransform& X_WS);
  Status SetPose(int body, const geometry::RigidTransform& X_WB);
  /// Velocity of B's origin and angular velocity, in W.
  Status SetVelocity(int body, const geometry::Vec3& omega_W, const geometry::Vec3& v_W);
  /// Adds to the force on `body` for the next step, acting at p_W.
  Status AddForce(int body, const geometry::Vec3& f_W, const geometry::Vec3& p_W);
  Status AddTorque(int body, const geometry::Vec3& t_W);
  /// Axis 0 of a hinge; 0 or 1 of a universal joint. Replaces limits on that axis. A target out of
  /// reach of the engine's angles, |target + T rate| >= pi, is refused: ODE would wind up silently.
  /// Balls: kUnsupported.
  Status SetDrive(int joint, int axis, const JointDrive& drive);
  /// Hard stops on an undriven axis; lower > upper is refused (ODE would go limp silently).
  Status SetLimits(int joint, int axis, double lower_rad, double upper_rad);

  /// Advances by h_s seconds: contacts at the present poses, then the engine. With a generator the
  /// engine's colliders are not asked. An error (numbers that stopped being finite, a failure
  /// inside ODE) ends this world: later steps return it again.
  Status Step(double h_s, const ContactGenerator& generator = nullptr);

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
  double angle_rad(int joint, int axis = 0) const;  ///< in (-pi, pi]. Precondition: a hinge or
                                                    ///< universal axis
  double rate_rad_per_s(int joint, int axis = 0) const;
  geometry::Vec3 anchor_W(int joint) const;  ///< as the parent sees it
  geometry::Vec3 axis_W(int joint, int axis = 0) const;
  /// Distance between the anchor as parent and child see it: the engine's drift.
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
