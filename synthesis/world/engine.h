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
};

enum class JointKind { kHinge, kUniversal, kBall };
struct AxisData {
  std::optional<JointDrive> drive;
};
struct JointData {
  std::string name;
  JointKind kind = JointKind::kHinge;
  dJointID id = nullptr;
  int parent = kFixedBody, child = 0;
  AxisData axes[2];
  dJointFeedback feedback{};
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
  dTriMeshDataID mesh = nullptr;
  // ODE keeps pointers into these.
  std::vector<double> vertices;
  std::vector<dTriIndex> indices;
};

/// What friction needs to know of a contact of the step before.
struct ContactMemory {
  ContactReading reading;
  geometry::Vec3 fdir1_W = geometry::Vec3::Zero();
  geometry::Vec3 stretch_W = geometry::Vec3::Zero();  ///< of the friction spring, tangential
};

/// A contact being made into a joint.
struct PendingContact {
  ContactReading reading;
  ContactLaw law;
  geometry::Vec3 fdir1_W = geometry::Vec3::Zero();
  geometry::Vec3 stretch_W = geometry::Vec3::Zero();
  dJointFeedback feedback{};
};

/// Makes the geom of `spec` in `space`, placed in its body. kUnsupported or kInvalid name the
/// collider.
Status MakeGeom(const ColliderSpec& spec, const BodyData& body, dSpaceID space,
                ColliderData* collider);
Status CheckPose(const geometry::RigidTransform& X, const std::string& what);
bool Finite(const geometry::Vec3& v);

}  // namespace handhold::synthesis::internal

namespace handhold::synthesis {

struct World::Impl {
  explicit Impl(const WorldOptions& options);
  ~Impl();

  int AddJoint(internal::JointData joint);
  Status CheckJoint(const std::string& name, int parent, int child,
                    const geometry::Vec3& p_W) const;
  void ApplyDrives(double h_s);
  Status CollectContacts(const World& world, const ContactGenerator& generator);
  void AddContact(internal::PendingContact contact);
  void MakeContactJoints(double h_s);
  geometry::Vec3 TangentialVelocity(const ContactReading& contact) const;
  void Slip(internal::PendingContact* contact, double h_s) const;
  void ReadBack(double h_s);
  Status CheckFinite() const;

  WorldOptions options;
  dWorldID world = nullptr;
  dSpaceID hand_space = nullptr, object_space = nullptr;
  dJointGroupID contact_group = nullptr;
  std::deque<internal::BodyData> bodies;
  std::deque<internal::JointData> joints;
  std::deque<internal::ColliderData> colliders;
  std::deque<internal::PendingContact> pending;
  std::vector<internal::ContactMemory> memory;
  std::vector<ContactReading> contacts;
  std::vector<ContactCandidate> candidates;
  std::vector<std::string> warnings;
  std::optional<Error> dead;
  double time_s = 0.0;
};

}  // namespace handhold::synthesis
