// A failure inside the engine ends one world, not the process.
//
// Leaving ODE by an exception costs it a few hundred bytes of its job lists per dead world (a
// program that meets this is about to say so and stop); that leak alone is excused here, and in no
// other test.
#include <gmock/gmock.h>

#include "synthesis/world/world.h"

// The sanitizer's hook; harmless without it.
extern "C" const char* __lsan_default_suppressions() { return "leak:libode\n"; }

namespace handhold::synthesis {
namespace {

const geometry::MassProperties kMass{0.1, {0.05, 0, 0}, geometry::Mat3::Identity() * 1e-4};

TEST(Poison, AFailureInsideTheEngineEndsTheWorldAndNothingElse) {
  for (const double force : {1e308, 1e200, 1e155}) {
    auto world = std::move(World::Create()).value();
    const int body = world->AddBody("rod", kMass, {}).value();
    ASSERT_TRUE(world->AddHinge({"knuckle", kFixedBody, body, {0, 0, 0}, geometry::Vec3::UnitY()}));
    Status status;
    for (int i = 0; i < 20 && status; ++i) {
      ASSERT_TRUE(world->AddForce(body, {force, force, -force}, {0.1, 0.2, 0.3}));
      status = world->Step(1e-3);
    }
    ASSERT_FALSE(status) << force;
    EXPECT_EQ(status.error().code, ErrorCode::kNotConverged);
    const Status again = world->Step(1e-3);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message, status.error().message);
  }
  auto other = std::move(World::Create()).value();
  const int body = other->AddBody("ball", kMass, {}).value();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(other->Step(1e-3));
  EXPECT_NEAR(other->v_W(body).z(), -9.81 * 0.01, 1e-12);
}

}  // namespace
}  // namespace handhold::synthesis
