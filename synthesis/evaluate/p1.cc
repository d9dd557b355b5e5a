#include "synthesis/evaluate/p1.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "database/geometry/rotation.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kDegrees = 180.0 / M_PI;

template <typename... T>
std::string Words(const char* format, T... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// How deep it may start; fills fault and cause.
template <typename R>
bool StartsTooDeep(double limit_m, R* result) {
  if (result->depths.object_m > limit_m) {
    result->fault = GraspFault::kTooDeep;
    result->cause = Words("the hand starts %.1f mm deep in the object, limit %.0f mm",
                          1e3 * result->depths.object_m, 1e3 * limit_m);
  } else if (result->depths.table_m > limit_m) {
    result->fault = GraspFault::kTooDeep;
    result->cause = Words("the hand starts %.1f mm deep in the table, limit %.0f mm",
                          1e3 * result->depths.table_m, 1e3 * limit_m);
  } else if (result->depths.self_m > limit_m) {
    result->fault = GraspFault::kSelfTooDeep;
    result->cause = Words("the hand starts %.1f mm deep in itself, limit %.0f mm",
                          1e3 * result->depths.self_m, 1e3 * limit_m);
  }
  return result->fault != GraspFault::kNone;
}

Vec3 Centre(const GraspScene& scene) { return scene.X_WO() * scene.p_OCom(); }

double Turned(const RigidTransform& X_from, const RigidTransform& X_to) {
  return geometry::Log(geometry::Mat3(X_from.R.transpose() * X_to.R)).norm();
}

P1Push Push(const P1Options& options, const Vec3& direction_W, GraspScene* scene) {
  P1Push push;
  push.tried = true;
  push.direction_W = direction_W;
  if (!scene->Restart()) {
    push.fault = GraspFault::kLost;
    return push;
  }
  const RigidTransform X_start = scene->X_WO();
  const Vec3 centre = Centre(*scene);
  const Vec3 force = options.mass_kg * options.acceleration_m_per_s2 * direction_W;
  const int steps = static_cast<int>(std::lround(options.hold_s / scene->step_s()));
  double half_shift = 0.0;
  for (int k = 0; k < steps; ++k) {
    if (!scene->Step(force, 0.0)) {
      push.fault = GraspFault::kLost;
      return push;
    }
    const double shift = (Centre(*scene) - centre).norm();
    push.shift_m = std::max(push.shift_m, shift);
    push.turn_rad = std::max(push.turn_rad, Turned(X_start, scene->X_WO()));
    push.held_s = (k + 1) * scene->step_s();
    if (push.shift_m > options.shift_m) push.fault = GraspFault::kShifted;
    if (push.turn_rad > options.turn_rad) push.fault = GraspFault::kTurned;
    if (push.fault != GraspFault::kNone) return push;
    if (k == steps / 2) half_shift = shift;
    if (k == steps - 1 && steps > 1)
      push.creep_m_per_s = (shift - half_shift) / ((steps - 1 - steps / 2) * scene->step_s());
  }
  return push;
}

const char* DirectionName(const Vec3& d) {
  if (d.x() != 0.0) return d.x() > 0.0 ? "+X" : "-X";
  if (d.y() != 0.0) return d.y() > 0.0 ? "+Y" : "-Y";
  return d.z() > 0.0 ? "+Z" : "-Z";
}

std::string CauseOf(const P1Push& push) {
  switch (push.fault) {
    case GraspFault::kShifted:
      return Words("pushed along %s it moved %.0f mm in %.2f s", DirectionName(push.direction_W),
                   1e3 * push.shift_m, push.held_s);
    case GraspFault::kTurned:
      return Words("pushed along %s it turned %.1f degrees in %.2f s",
                   DirectionName(push.direction_W), push.turn_rad * kDegrees, push.held_s);
    case GraspFault::kLost:
      return Words("pushed along %s the engine gave up at %.2f s", DirectionName(push.direction_W),
                   push.held_s);
    default:
      return "";
  }
}

}  // namespace

std::string_view GraspFaultName(GraspFault fault) {
  switch (fault) {
    case GraspFault::kNone:
      return "none";
    case GraspFault::kTooDeep:
      return "too deep";
    case GraspFault::kSelfTooDeep:
      return "too deep in itself";
    case GraspFault::kNotTouched:
      return "not touched";
    case GraspFault::kLoose:
      return "loose";
    case GraspFault::kShifted:
      return "shifted";
    case GraspFault::kTurned:
      return "turned";
    case GraspFault::kNotLifted:
      return "not lifted";
    case GraspFault::kLost:
      return "lost";
  }
  return "";
}

int P1Result::held() const {
  int n = 0;
  for (const P1Push& push : pushes) n += push.tried && push.fault == GraspFault::kNone;
  return n;
}

Result<P1Result> RunP1(const P1Options& options, GraspScene* scene) {
  if (std::abs(scene->mass_kg() - options.mass_kg) > 1e-9 ||
      std::abs(scene->friction() - options.friction) > 1e-9) {
    return Error{ErrorCode::kInvalid,
                 Words("P1 asks for %g kg and friction %g; the scene has %g kg and %g",
                       options.mass_kg, options.friction, scene->mass_kg(), scene->friction())};
  }
  P1Result result;
  result.engine = scene->engine();
  result.depths = scene->depths();
  for (size_t i = 0; i < 6; ++i)
    result.pushes[i].direction_W =
        (i % 2 == 0 ? 1.0 : -1.0) * Vec3::Unit(static_cast<Eigen::Index>(i / 2));
  if (StartsTooDeep(options.depth_m, &result)) return result;
  for (P1Push& slot : result.pushes) {
    slot = Push(options, slot.direction_W, scene);
    // What failed counts as at its limit at least, also where the engine gave up early.
    double worst = std::max(slot.shift_m / options.shift_m, slot.turn_rad / options.turn_rad);
    if (slot.fault == GraspFault::kLost) worst = std::max(worst, 10.0);
    result.worst = std::max(result.worst, worst);
    if (slot.fault == GraspFault::kNone) continue;
    if (result.fault == GraspFault::kNone) {
      result.fault = slot.fault;
      result.cause = CauseOf(slot);
    }
    if (options.stop_at_first) break;
  }
  return result;
}

artefact::GraspTest ToGraspTest(const P1Options& options, const P1Result& result) {
  double shift = 0.0, turn = 0.0, creep = 0.0;
  for (const P1Push& push : result.pushes) {
    shift = std::max(shift, push.shift_m);
    turn = std::max(turn, push.turn_rad);
    creep = std::max(creep, push.creep_m_per_s);
  }
  artefact::GraspTest test;
  test.protocol = "P1";
  test.engine = result.engine;
  test.passed = result.passed();
  if (!test.passed) test.cause = std::string(GraspFaultName(result.fault)) + ": " + result.cause;
  test.figures = {{"mass_kg", options.mass_kg},
                  {"friction", options.friction},
                  {"acceleration_m_per_s2", options.acceleration_m_per_s2},
                  {"hold_s", options.hold_s},
                  {"shift_limit_m", options.shift_m},
                  {"turn_limit_rad", options.turn_rad},
                  {"depth_limit_m", options.depth_m},
                  {"held", result.held()},
                  {"shift_m", shift},
                  {"turn_rad", turn},
                  {"creep_m_per_s", creep},
                  {"depth_m", result.depths.object_m},
                  {"self_depth_m", result.depths.self_m},
                  {"worst", result.worst}};
  return test;
}

Result<LiftResult> RunLift(const LiftOptions& options, GraspScene* scene) {
  LiftResult result;
  result.engine = scene->engine();
  result.depths = scene->depths();
  if (StartsTooDeep(options.depth_m, &result)) return result;
  if (const Status restarted = scene->Restart(); !restarted) {
    result.fault = GraspFault::kLost;
    result.cause = restarted.error().message;
    return result;
  }
  const RigidTransform X_start = scene->X_WO();
  const Vec3 centre = Centre(*scene);
  const int rise = static_cast<int>(std::lround(options.rise_s / scene->step_s()));
  const int steps = rise + static_cast<int>(std::lround(options.hold_s / scene->step_s()));
  for (int k = 1; k <= steps; ++k) {
    // A minimum-jerk rise: no knock at either end.
    const double s = std::min(1.0, static_cast<double>(k) / rise);
    const double up = options.rise_m * s * s * s * (10.0 + s * (-15.0 + 6.0 * s));
    if (const Status stepped = scene->Step(Vec3::Zero(), up); !stepped) {
      result.fault = GraspFault::kLost;
      result.cause = stepped.error().message;
      return result;
    }
    result.held_s = k * scene->step_s();
    result.rose_m = Centre(*scene).z() - centre.z();
    if (k < rise) continue;
    result.shift_m =
        std::max(result.shift_m, (Centre(*scene) - centre - up * Vec3::UnitZ()).norm());
    result.turn_rad = std::max(result.turn_rad, Turned(X_start, scene->X_WO()));
    if (scene->on_table()) {
      result.fault = GraspFault::kNotLifted;
      result.cause = Words("it lies on the table at %.2f s", result.held_s);
    } else if (result.shift_m > options.shift_m) {
      result.fault = GraspFault::kShifted;
      result.cause =
          Words("it moved %.0f mm against the hand by %.2f s", 1e3 * result.shift_m, result.held_s);
    } else if (result.turn_rad > options.turn_rad) {
      result.fault = GraspFault::kTurned;
      result.cause =
          Words("it turned %.1f degrees by %.2f s", result.turn_rad * kDegrees, result.held_s);
    }
    if (result.fault != GraspFault::kNone) return result;
  }
  return result;
}

artefact::GraspTest ToGraspTest(const LiftOptions& options, const LiftResult& result,
                                double mass_kg, double friction) {
  artefact::GraspTest test;
  test.protocol = "lift";
  test.engine = result.engine;
  test.passed = result.passed();
  if (!test.passed) test.cause = std::string(GraspFaultName(result.fault)) + ": " + result.cause;
  test.figures = {{"mass_kg", mass_kg},
                  {"friction", friction},
                  {"gravity_m_per_s2", options.gravity_m_per_s2},
                  {"rise_m", options.rise_m},
                  {"rise_s", options.rise_s},
                  {"hold_s", options.hold_s},
                  {"shift_limit_m", options.shift_m},
                  {"turn_limit_rad", options.turn_rad},
                  {"rose_m", result.rose_m},
                  {"shift_m", result.shift_m},
                  {"turn_rad", result.turn_rad},
                  {"held_s", result.held_s},
                  {"depth_m", result.depths.object_m},
                  {"self_depth_m", result.depths.self_m}};
  return test;
}

}  // namespace handhold::synthesis
