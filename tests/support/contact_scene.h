/// A scene for tests of the contact core: models, colliders and a loop, so that a test says only
/// what is in it.
#pragma once

#include <memory>
#include <vector>

#include "database/base/check.h"
#include "synthesis/contact/contact_finder.h"
#include "synthesis/contact/contact_problem.h"

namespace handhold::testing {

/// A box's mass, inertia and place.
inline synthesis::MovingBody BlockBody(double mass_kg, const geometry::Vec3& size_m,
                                       const geometry::Vec3& p_W) {
  synthesis::MovingBody body;
  body.mass.mass_kg = mass_kg;
  const geometry::Vec3 s = size_m.cwiseProduct(size_m);
  body.mass.I_BCom_B =
      (mass_kg / 12 * geometry::Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal();
  body.X_WB.p = p_W;
  return body;
}
inline synthesis::MovingBody BallBody(double mass_kg, double radius_m, const geometry::Vec3& p_W) {
  synthesis::MovingBody body;
  body.mass.mass_kg = mass_kg;
  body.mass.I_BCom_B = 0.4 * mass_kg * radius_m * radius_m * geometry::Mat3::Identity();
  body.X_WB.p = p_W;
  return body;
}

/// Free bodies and whatever models a test brings; one step after the other.
struct ContactScene {
  synthesis::BodyOptions body_options;
  synthesis::SolveOptions solve;
  double margin_m = 4e-3;
  std::vector<std::unique_ptr<synthesis::FreeBody>> bodies;
  std::vector<synthesis::MotionModel*> models;
  synthesis::ContactFinder finder;
  synthesis::ContactPoses poses;
  synthesis::ContactMemory memory;
  synthesis::ContactProblem problem;
  synthesis::ContactSet contacts;
  synthesis::SolveCounts counts;
  synthesis::ContactSummary last;

  synthesis::FreeBody& AddBody(const synthesis::MovingBody& state, const geometry::Shape& shape,
                               const synthesis::SurfaceLaw& law = {}) {
    const int index = static_cast<int>(poses.bodies.size());
    bodies.push_back(std::make_unique<synthesis::FreeBody>(state, index, body_options));
    models.push_back(bodies.back().get());
    poses.bodies.push_back(&bodies.back()->X_WB());
    CHECK(finder.Add({.side = synthesis::ContactSide::Body(index), .shape = shape, .law = law}));
    return *bodies.back();
  }
  void AddFixed(const geometry::Shape& shape, const geometry::RigidTransform& X_WS,
                const synthesis::SurfaceLaw& law = {}) {
    CHECK(finder.Add({.side = synthesis::ContactSide::Fixed(static_cast<int>(poses.fixed.size())),
                      .shape = shape,
                      .law = law}));
    poses.fixed.push_back(X_WS);
  }
  /// A table whose top is z = 0.
  void AddTable(const synthesis::SurfaceLaw& law = {}) {
    AddFixed(geometry::Box{geometry::Vec3(2, 2, 0.1)},
             geometry::RigidTransform::Translation(geometry::Vec3(0, 0, -0.05)), law);
  }
  /// Bodies are prepared here; other models by the caller.
  void Step() {
    for (const auto& body : bodies) body->Prepare();
    CHECK(finder.Find(poses, margin_m, &contacts));
    problem.Assemble(models, contacts, memory, poses, body_options.step_s);
    last = problem.Solve(solve);
    counts.Count(last);
    problem.Advance(&memory);
  }
};

}  // namespace handhold::testing
