#include "database/base/units.h"

#include <gtest/gtest.h>

namespace handhold::units_test {
namespace {

// Each factor against the definitions it derives from, not against itself: pound 0.45359237 kg,
// inch 0.0254 m, foot 12 inches, standard gravity 9.80665 m/s^2 (NIST SP 811, appendix B.8).
constexpr double kPound_kg = 0.45359237, kInch_m = 0.0254, kGravity = 9.80665;

TEST(Units, FollowTheirDefinitions) {
  EXPECT_DOUBLE_EQ(MillimetresToMetres(1500), 1.5);
  EXPECT_DOUBLE_EQ(DegreesToRadians(180), 3.141592653589793);
  EXPECT_DOUBLE_EQ(NewtonMillimetresToNewtonMetres(1000), 1.0);
  EXPECT_DOUBLE_EQ(GramsToKilograms(12), 0.012);
  EXPECT_DOUBLE_EQ(PoundsForceToNewtons(1), kPound_kg * kGravity);
  EXPECT_DOUBLE_EQ(KilogramsForceToNewtons(1), kGravity);
  EXPECT_DOUBLE_EQ(PoundForceInchesToNewtonMetres(1), kPound_kg * kGravity * kInch_m);
  EXPECT_DOUBLE_EQ(PoundForceFeetToNewtonMetres(1), kPound_kg * kGravity * 12 * kInch_m);
  EXPECT_DOUBLE_EQ(KilogramForceCentimetresToNewtonMetres(1), kGravity * 0.01);
}

TEST(Units, InversesUndo) {
  for (const double value : {0.0, -1.25, 1e-6, 360.0, 1e6}) {
    EXPECT_DOUBLE_EQ(MetresToMillimetres(MillimetresToMetres(value)), value);
    EXPECT_DOUBLE_EQ(RadiansToDegrees(DegreesToRadians(value)), value);
    EXPECT_DOUBLE_EQ(NewtonMetresToNewtonMillimetres(NewtonMillimetresToNewtonMetres(value)),
                     value);
  }
}

}  // namespace
}  // namespace handhold::units_test
