/// Inside synthesis/world only: ODE's handles, its process-wide start, and how its failures become
/// errors.
#pragma once

#include <ode/ode.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "synthesis/world/world.h"

namespace handhold::synthesis::internal {

static_assert(std::is_same_v<dReal, double>, "ODE must be built in double precision");

/// Thrown by our handlers out of ODE, caught by Guard; nobody else sees it.
struct OdeFailure {
  std::string text;
};

/// Starts ODE on first use and installs the handlers. kUnsupported on any thread but the first that
/// came here.
Status EnterEngine();

/// Where ODE's messages go while a Guard is open.
extern std::vector<std::string>* message_sink;

/// Calls `function` with ODE's error handlers turned into exceptions, and those into an Error that
/// begins with `what`.
template <typename F>
Status Guard(const std::string& what, std::vector<std::string>* messages, F&& function) {
  std::vector<std::string>* const outer = std::exchange(message_sink, messages);
  Status status;
  try {
    std::forward<F>(function)();
  } catch (const OdeFailure& failure) {
    status = Error{ErrorCode::kNotConverged, what + ": the engine stopped: " + failure.text};
  }
  message_sink = outer;
  return status;
}

inline geometry::Vec3 ToVec(const dReal* v) { return {v[0], v[1], v[2]}; }
/// ODE's row-major 3x4.
inline geometry::Mat3 ToMat(const dReal* m) {
  geometry::Mat3 R;
  R << m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10];
  return R;
}
struct OdeMatrix {
  dMatrix3 m;
  explicit OdeMatrix(const geometry::Mat3& R)
      : m{R(0, 0), R(0, 1), R(0, 2), 0,       R(1, 0), R(1, 1),
          R(1, 2), 0,       R(2, 0), R(2, 1), R(2, 2), 0} {}
};

/// ERP and CFM with which a constraint row is the spring-damper k, b, implicit over a step h.
struct SoftRow {
  double erp, cfm;
  SoftRow(double k, double b, double h) : erp(h * k / (h * k + b)), cfm(1.0 / (h * k + b)) {}
};

struct BodyData {
  std::string name;
  dBodyID id = nullptr;  // null: the fixed world
  geometry::Vec3 p_BCom = geometry::Vec3::Zero();
  double mass_kg = 0.0;
  bool kinematic = false;
  std::optional<geometry::RigidTransform> next_X_WB = std::nullopt;  // of a kinematic body

  bool moved_by_forces() const { return id != nullptr && !kinematic; }
};

enum class JointKind { kHinge, kUniversal, kBall, kSoftRoot };
struct Limits {
  double lower_rad, upper_rad;
};
struct BallLimits {
  geometry::Vec3 lower_rad, upper_rad;
};
/// What a caller may set on a joint, and what a Snapshot keeps of it.
struct JointSettings {
  std::optional<JointDrive> drive[2];
  std::optional<Limits> limits[2];
  std::optional<BallDrive> ball_drive;
  std::optional<BallLimits> ball_limits;
  std::optional<SoftRootDrive> soft_root;
};
/// A one-sided row: the child may turn about `axis_W` (unit, against the parent) back by gap_rad
/// and no more by the end of the step.
struct LimitRow {
  geometry::Vec3 axis_W;
  double gap_rad;  // < 0: beyond the limit
};
struct JointData {
  std::string name;
  JointKind kind = JointKind::kHinge;
  dJointID id = nullptr;
  // Angular motors of the same two bodies: three rows of a ball's drive, and rows of limits.
  dJointID motor = nullptr, limiter[2] = {nullptr, nullptr};
  int parent = kFixedBody, child = 0;
  // Axes of the joint frames in the parent's and the child's body frames: balls and soft roots.
  geometry::Mat3 R_PJp = geometry::Mat3::Identity(), R_CJc = geometry::Mat3::Identity();
  JointSettings settings;
  // Of a ball, for its limits: the speed that its drive asks for in this step; the pose at which
  // the rows are linearised and the velocity in Jp that led there; the least gap at the step's
  // start.
  double driven_rad_per_s = 0.0;
  geometry::Mat3 R_then = geometry::Mat3::Identity();
  geometry::Vec3 omega_then_Jp = geometry::Vec3::Zero();
  double gap_before_rad = 0.0;
  dJointFeedback feedback{}, motor_feedback{}, limiter_feedback[2] = {};
  geometry::Vec3 anchor_before_W = geometry::Vec3::Zero(), com_before_W = geometry::Vec3::Zero();
  JointReading reading;
  int axis_count() const {
    return kind == JointKind::kHinge ? 1 : kind == JointKind::kUniversal ? 2 : 0;
  }
};

struct ColliderData {
  std::string name;
  int body = kFixedBody;
  dGeomID geom = nullptr;
  std::optional<ContactLaw> law;
  int max_contacts = 8;
  ColliderMask mask;
  dTriMeshDataID mesh = nullptr;
  // ODE keeps pointers into these.
  std::vector<double> vertices;
  std::vector<dTriIndex> indices;
};

/// What friction needs to know of a contact of the step before. Directions and the place are kept
/// in the axes of body_b, the object, and turn with it: a grip that hand and object carry round
/// together keeps its forces.
struct ContactMemory {
  ContactReading reading;
  geometry::Vec3 p_B = geometry::Vec3::Zero();
  geometry::Vec3 fdir1_B = geometry::Vec3::Zero();
  geometry::Vec3 stretch_B = geometry::Vec3::Zero();  ///< of the friction spring, tangential
};

/// A contact being made into a joint.
struct PendingContact {
  ContactReading reading;
  ContactLaw law;
  geometry::Mat3 R_WB = geometry::Mat3::Identity();  ///< of body_b, at the step's start
  geometry::Vec3 p_B = geometry::Vec3::Zero();
  geometry::Vec3 fdir1_W = geometry::Vec3::Zero();
  geometry::Vec3 stretch_W = geometry::Vec3::Zero();
  dJointFeedback feedback{};
};

/// Makes the geom of `spec` in `space`, placed in its body. kUnsupported or kInvalid name the
/// collider.
Status MakeGeom(const ColliderSpec& spec, const BodyData& body, dSpaceID space,
                ColliderData* collider);
/// Finite, orthonormal within 1e-9, and no reflection.
bool IsRotation(const geometry::Mat3& R);
Status CheckPose(const geometry::RigidTransform& X, const std::string& what);

/// A joint's anchor as the first body, our child, has it: where the joint's force acts on it.
geometry::Vec3 ChildAnchor(const JointData& joint);

/// A body's state as ODE holds it, to the bit.
struct BodyState {
  double position[3], rotation[12], quaternion[4], linear[3], angular[3], force[3], torque[3];
};
BodyState ReadState(dBodyID id);
void WriteState(dBodyID id, const BodyState& state);

}  // namespace handhold::synthesis::internal

namespace handhold::synthesis {

struct World::Impl {
  explicit Impl(const WorldOptions& options);
  ~Impl();

  int AddJoint(internal::JointData joint);
  internal::BodyData& Body(int body) { return bodies[static_cast<size_t>(body)]; }
  const internal::BodyData& Body(int body) const { return bodies[static_cast<size_t>(body)]; }
  internal::JointData& Joint(int joint) { return joints[static_cast<size_t>(joint)]; }
  geometry::Mat3 R_WB(int body) const;
  geometry::Vec3 Omega(int body) const;
  geometry::Mat3 R_JpJc(const internal::JointData& joint) const;
  geometry::Vec3 OmegaJp(const internal::JointData& joint) const;
  Status CheckJoint(const std::string& name, int parent, int child,
                    const geometry::Vec3& p_W) const;
  void Place(int body, const geometry::RigidTransform& X_WB);
  void Forget(const std::function<bool(const ContactReading&)>& which);
  bool Meet(int collider_a, int collider_b) const;
  Status StartKinematic(double h_s);
  void FinishKinematic();
  Status ApplyDrives(double h_s);
  Status ApplyBallDrive(internal::JointData* joint, const BallDrive& drive, double h_s);
  Status ApplySoftRoot(internal::JointData* joint, double h_s);
  void ApplyLimits(internal::JointData* joint, double h_s);
  void AddAxisLimit(const internal::JointData& joint, int axis, double h_s,
                    std::vector<internal::LimitRow>* rows) const;
  void AddBallLimits(internal::JointData* joint, double h_s,
                     std::vector<internal::LimitRow>* rows) const;
  void ForeseeBalls(double h_s);
  bool BallsPassedLimits(double h_s);
  geometry::Mat3 RotationBefore(int body) const;  // at the step's start, from before_step
  void Advance(double h_s);
  Status CollectContacts(const World& world, const ContactGenerator& generator);
  void AddContact(internal::PendingContact contact);
  void MakeContactJoints(double h_s);
  geometry::Vec3 TangentialVelocity(const ContactReading& contact) const;
  void Slip(internal::PendingContact* contact, double h_s) const;
  void ReadBack(double h_s);
  Status CheckState() const;
  Status CheckForces() const;
  std::string FastestBody() const;

  WorldOptions options;
  dWorldID world = nullptr;
  dSpaceID space = nullptr;
  dJointGroupID contact_group = nullptr;
  std::deque<internal::BodyData> bodies;
  std::deque<internal::JointData> joints;
  std::deque<internal::ColliderData> colliders;
  std::deque<internal::PendingContact> pending;
  std::vector<internal::ContactMemory> memory;
  std::vector<ContactReading> contacts;
  std::vector<ContactCandidate> candidates;
  std::vector<std::string> warnings;
  std::vector<std::pair<int, int>> ignored;  // collider pairs, smaller index first, sorted
  std::vector<internal::LimitRow> limit_rows;
  std::vector<internal::BodyState> before_step;
  std::optional<Error> dead;
  bool engine_failed = false;  // an exception left ODE: its memory is not trusted again
  unsigned long seed = 1;
  double time_s = 0.0;
};

}  // namespace handhold::synthesis
