/// What a World is made of and what it answers, as plain values: options, joints and their drives,
/// colliders and their masks, contact candidates and readings, snapshots.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "database/base/result.h"
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
  /// kQuick visits its rows in a random order: of two worlds with the same seed and history every
  /// bit is the same, whatever else runs in the process.
  std::uint32_t quick_seed = 1;
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
/// Give the target of the end of the step too. Test: Drive.*
struct JointDrive {
  double target_rad = 0.0;
  double target_rate_rad_per_s = 0.0;
  double stiffness_Nm_per_rad = 0.0;  ///< > 0 (a compliance of 0, a rigid joint, has no spring:
                                      ///< give a large one)
  double damping_Nms_per_rad = 0.0;   ///< >= 0
};

/// The same for a ball joint: a spring-damper towards a rotation, implicit:
///   torque on the child = K Log(R_JpJc^T target_R) + B (target_rate - omega), in the child's joint
///   frame Jc, at the END of the step (the spring to first order in the turn of one step).
/// omega is the angular velocity of the child in the parent. Give targets of the end of the step.
/// Several springs to several targets are one: K is their sum, target_R = R_JpJc Exp(mean of their
/// errors). Test: BallDrive.*
struct BallDrive {
  geometry::Mat3 target_R = geometry::Mat3::Identity();           ///< R_JpJc wanted
  geometry::Vec3 target_rate_rad_per_s = geometry::Vec3::Zero();  ///< in Jc
  geometry::Mat3 stiffness_Nm_per_rad = geometry::Mat3::Zero();   ///< K, in Jc: symmetric, > 0
  geometry::Mat3 damping_Nms_per_rad = geometry::Mat3::Zero();    ///< B, in Jc: symmetric, >= 0

  /// K and B in proportion to an inertia (SPD, kg m^2, about the joint, in Jc), so that every axis
  /// answers alike: Pollard & Zordan 2005, eqs. 3-5.
  static BallDrive OfInertia(const geometry::Mat3& inertia_kgm2, double stiffness_1_s2,
                             double damping_1_s) {
    return {.stiffness_Nm_per_rad = stiffness_1_s2 * inertia_kgm2,
            .damping_Nms_per_rad = damping_1_s * inertia_kgm2};
  }
};

/// A soft root: six springs that pull a frame F of a body to a moving pose, as a wrist that yields.
///   force on the body at F's origin = -stiffness (p - p_target) - damping (v - v_target)
///   torque on it = K Log(R_WF^T target R) + B (R_WF^T omega_W_target - omega), in F
/// all at the END of the step. Test: SoftRoot.*
struct SoftRootDrive {
  geometry::RigidTransform X_WF = {};               ///< target
  geometry::Vec3 omega_W = geometry::Vec3::Zero();  ///< of the target, rad/s
  geometry::Vec3 v_W = geometry::Vec3::Zero();      ///< of the target's origin, m/s
  double stiffness_N_per_m = 0.0;                   ///< > 0, the same in every direction
  double damping_Ns_per_m = 0.0;                    ///< >= 0
  geometry::Mat3 stiffness_Nm_per_rad = geometry::Mat3::Zero();  ///< K, in F: symmetric, > 0
  geometry::Mat3 damping_Nms_per_rad = geometry::Mat3::Zero();   ///< B, in F: symmetric, >= 0
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
  /// Axes of the joint frames Jp (fixed in the parent) and Jc (fixed in the child), which coincide
  /// at the moment of adding; twist is about x.
  geometry::Mat3 R_WJ = geometry::Mat3::Identity();
};
/// Holds nothing until SetSoftRoot. The frame F is given in the body.
struct SoftRootSpec {
  std::string name;
  int body = 0;
  geometry::RigidTransform X_BF = {};
};

/// Which of the engine's colliders meet, bit by bit: two do when each `is` something that the other
/// `meets`. Never two of one body, of bodies that do not move by forces (the fixed world, kinematic
/// bodies), or of a pair given to IgnorePair.
struct ColliderMask {
  std::uint32_t is = 1u;
  std::uint32_t meets = ~0u;

  /// Meets everything that meets it.
  static constexpr ColliderMask Object() { return {}; }
  /// Hand `number` (0 to 30): meets objects and hands of other numbers, itself only when asked to.
  static constexpr ColliderMask Hand(int number = 0, bool itself = false) {
    const std::uint32_t bit = 2u << static_cast<unsigned>(number);
    return {bit, itself ? ~0u : ~bit};
  }
};

struct ColliderSpec {
  std::string name;
  int body = kFixedBody;
  geometry::RigidTransform X_BS = {};  ///< of the shape in its body; in W for kFixedBody
  geometry::Shape shape;               ///< a hull is taken as its mesh
  ColliderMask mask = ColliderMask::Object();
  /// Law of contacts with this collider. Of two, the one with the smaller stiffness holds; without
  /// any, ContactLaw's default.
  std::optional<ContactLaw> law = std::nullopt;
  /// Contacts kept per pair, deepest first; each brings its own spring. 0: 1 with a mesh, 8 else;
  /// of two, the smaller holds.
  int max_contacts = 0;
};

/// A contact for the next step, from a generator instead of the engine's colliders.
struct ContactCandidate {
  /// Not both kFixedBody. The friction's stretch is remembered in the axes of body_b: give the
  /// object.
  int body_a = 0, body_b = kFixedBody;
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

/// Everything that World::Step depends on, as it was when Save was called; copies share it. See
/// World::Save.
class Snapshot {
 public:
  Snapshot() = default;
  double time_s() const;
  struct State;  ///< the engine side, inside this module

 private:
  friend class World;
  std::shared_ptr<const State> state_;
};

}  // namespace handhold::synthesis
