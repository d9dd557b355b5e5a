#include "synthesis/world/engine.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace handhold::synthesis::internal {

std::vector<std::string>* message_sink = nullptr;

namespace {

std::string Format(int number, const char* message, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, message, arguments);
  return "ODE " + std::to_string(number) + ": " + text;
}

// ODE's dError and dDebug must not return. Leaving by an exception is what 0.16.2 survives; the
// world is not used again.
void Fail(int number, const char* message, va_list arguments) {
  std::string text = Format(number, message, arguments);
  if (message_sink == nullptr) {  // outside any Guard: a call of ours that should have been inside
                                  // one
    std::fprintf(stderr, "%s\n", text.c_str());
    std::abort();
  }
  throw OdeFailure{std::move(text)};
}

void Note(int number, const char* message, va_list arguments) {
  constexpr size_t kKept = 100;  // a step that keeps complaining must not fill memory
  if (message_sink != nullptr && message_sink->size() < kKept) {
    message_sink->push_back(Format(number, message, arguments));
  }
}

}  // namespace

Status EnterEngine() {
  static const std::thread::id owner = [] {
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    dSetErrorHandler(&Fail);
    dSetDebugHandler(&Fail);
    dSetMessageHandler(&Note);
    return std::this_thread::get_id();
  }();
  if (owner != std::this_thread::get_id()) {
    return Error{
        ErrorCode::kUnsupported,
        "the physics engine already runs in another thread of this process: use a process per "
        "world instead"};
  }
  return {};
}

bool IsRotation(const geometry::Mat3& R) {
  return R.allFinite() &&
         (R.transpose() * R - geometry::Mat3::Identity()).cwiseAbs().maxCoeff() <= 1e-9 &&
         R.determinant() > 0;
}

Status CheckPose(const geometry::RigidTransform& X, const std::string& what) {
  if (!X.R.allFinite() || !X.p.allFinite())
    return Error{ErrorCode::kInvalid, what + ": its pose is not finite"};
  if (!IsRotation(X.R))
    return Error{ErrorCode::kInvalid, what + ": its pose is not a rotation and a translation"};
  return {};
}

BodyState ReadState(dBodyID id) {
  BodyState s;
  std::memcpy(s.position, dBodyGetPosition(id), sizeof s.position);
  std::memcpy(s.rotation, dBodyGetRotation(id), sizeof s.rotation);
  std::memcpy(s.quaternion, dBodyGetQuaternion(id), sizeof s.quaternion);
  std::memcpy(s.linear, dBodyGetLinearVel(id), sizeof s.linear);
  std::memcpy(s.angular, dBodyGetAngularVel(id), sizeof s.angular);
  std::memcpy(s.force, dBodyGetForce(id), sizeof s.force);
  std::memcpy(s.torque, dBodyGetTorque(id), sizeof s.torque);
  return s;
}

void WriteState(dBodyID id, const BodyState& s) {
  dBodySetPosition(id, s.position[0], s.position[1], s.position[2]);
  dBodySetQuaternion(id, s.quaternion);  // also tells the body's geoms that they moved
  // ODE makes the quaternion unit again and the matrix from it, which changes last bits: put back
  // what was there.
  std::memcpy(const_cast<dReal*>(dBodyGetQuaternion(id)), s.quaternion, sizeof s.quaternion);
  std::memcpy(const_cast<dReal*>(dBodyGetRotation(id)), s.rotation, sizeof s.rotation);
  dBodySetLinearVel(id, s.linear[0], s.linear[1], s.linear[2]);
  dBodySetAngularVel(id, s.angular[0], s.angular[1], s.angular[2]);
  dBodySetForce(id, s.force[0], s.force[1], s.force[2]);
  dBodySetTorque(id, s.torque[0], s.torque[1], s.torque[2]);
}

}  // namespace handhold::synthesis::internal

namespace handhold::synthesis {

World::Impl::Impl(const WorldOptions& given) : options(given) {
  world = dWorldCreate();
  space = dHashSpaceCreate(nullptr);
  seed = options.quick_seed;
  contact_group = dJointGroupCreate(0);
  // Every default is set, whatever it is: the results must not hang on how a distribution built
  // ODE.
  dWorldSetGravity(world, options.gravity_W.x(), options.gravity_W.y(), options.gravity_W.z());
  dWorldSetERP(world, 0.2);
  dWorldSetCFM(world, 1e-10);
  dWorldSetAutoDisableFlag(world, 0);
  dWorldSetLinearDamping(world, 0.0);
  dWorldSetAngularDamping(world, 0.0);
  dWorldSetMaxAngularSpeed(world, dInfinity);
  dWorldSetContactMaxCorrectingVel(world, dInfinity);
  dWorldSetContactSurfaceLayer(world, 0.0);
  dWorldSetQuickStepNumIterations(world, options.quick_iterations);
  bodies.push_back({"W", nullptr, geometry::Vec3::Zero(), 0.0});
}

World::Impl::~Impl() {
  // A dead world's memory is still consistent (the exception leaves ODE between allocations); what
  // fails here again is left.
  (void)internal::Guard("destroying a world", &warnings, [&] {
    dJointGroupDestroy(contact_group);
    dSpaceDestroy(space);
    for (internal::ColliderData& collider : colliders) {
      if (collider.mesh != nullptr) dGeomTriMeshDataDestroy(collider.mesh);
    }
    dWorldDestroy(world);
  });
}

}  // namespace handhold::synthesis
