// The conventions of README.md and of Kry & Pai section 6.1, each sign pinned by something
// physical: power, moving points, and Newton's second law on separate point masses.
#include "database/geometry/transform.h"

#include <random>
#include <vector>

#include <gmock/gmock.h>

#include "database/base/units.h"
#include "database/geometry/inertia.h"

namespace handhold::geometry::transform_test {
namespace {

std::mt19937_64 Rng(int seed) { return std::mt19937_64(seed); }

Vec3 RandomVec3(std::mt19937_64& rng) {
  std::normal_distribution<double> gauss;
  const double x = gauss(rng), y = gauss(rng), z = gauss(rng);
  return {x, y, z};
}
Vec6 RandomVec6(std::mt19937_64& rng) {
  Vec6 v;
  v << RandomVec3(rng), RandomVec3(rng);
  return v;
}
RigidTransform RandomPose(std::mt19937_64& rng) {
  const Vec3 w = RandomVec3(rng);
  return {Exp<double>(w), RandomVec3(rng)};
}

TEST(RigidTransform, ComposesAndInvertsInMonogramOrder) {
  auto rng = Rng(1);
  for (int i = 0; i < 100; ++i) {
    const RigidTransform X_AB = RandomPose(rng), X_BC = RandomPose(rng);
    const Vec3 p_C = RandomVec3(rng);
    EXPECT_LT(((X_AB * X_BC) * p_C - X_AB * (X_BC * p_C)).norm(), 1e-14);
    EXPECT_LT((X_AB.Inverse() * (X_AB * p_C) - p_C).norm(), 1e-14);
  }
  // B stands at (1, 0, 0) in A, its x axis along A's y: the point 2 along B's x is at (1, 2, 0) in
  // A.
  const RigidTransform X_AB{AxisAngle<double>(Vec3::UnitZ(), kPi / 2), Vec3(1, 0, 0)};
  EXPECT_LT((X_AB * Vec3(2, 0, 0) - Vec3(1, 2, 0)).norm(), 1e-15);
}

TEST(Adjoint, TakesTheTwistOfOneBodyFromFrameToFrame) {
  // A body turns about its own z at the origin of B; seen from A, whose origin is at distance 2,
  // the point of the body at A's origin moves.
  const RigidTransform X_AB = RigidTransform::Translation({2, 0, 0});
  Vec6 twist_B;
  twist_B << 0, 0, 3, 0, 0, 0;
  const Vec6 twist_A = Adjoint(X_AB) * twist_B;
  EXPECT_LT((twist_A.head<3>() - Vec3(0, 0, 3)).norm(), 1e-15);
  EXPECT_LT((twist_A.tail<3>() - Vec3(0, -6, 0)).norm(), 1e-15);  // omega x (origin of A - centre)

  auto rng = Rng(2);
  for (int i = 0; i < 100; ++i) {
    const RigidTransform X = RandomPose(rng), Y = RandomPose(rng);
    EXPECT_LT((Adjoint(X * Y) - Adjoint(X) * Adjoint(Y)).norm(), 1e-13);
    // Any material point has the same velocity, described in either frame.
    const Vec6 t_B = RandomVec6(rng);
    const Vec3 p_B = RandomVec3(rng);
    EXPECT_LT(
        (Gamma<double>(X * p_B) * (Adjoint(X) * t_B) - X.R * (Gamma<double>(p_B) * t_B)).norm(),
        1e-13);
  }
}

TEST(TransformWrench, KeepsPowerAndIsTheInverseTranspose) {
  auto rng = Rng(3);
  for (int i = 0; i < 100; ++i) {
    const RigidTransform X_AB = RandomPose(rng);
    const Vec6 w_B = RandomVec6(rng), t_B = RandomVec6(rng);
    const Vec6 w_A = TransformWrench(X_AB, w_B);
    EXPECT_NEAR(w_A.dot(Adjoint(X_AB) * t_B), w_B.dot(t_B), 1e-12);
    EXPECT_LT((w_A - Adjoint(X_AB).inverse().transpose() * w_B).norm(), 1e-12);
    // The plain transpose, which the text copy of the paper shows, is not it.
    EXPECT_GT((w_A - Adjoint(X_AB).transpose() * w_B).norm(), 1e-3);
  }
  // A force along y at the origin of B, which stands at x = 2 in A, turns about A's origin by +z.
  Vec6 push;
  push << 0, 0, 0, 0, 5, 0;
  const Vec6 seen = TransformWrench(RigidTransform::Translation({2, 0, 0}), push);
  EXPECT_LT((seen.head<3>() - Vec3(0, 0, 10)).norm(), 1e-15);
}

TEST(Gamma, IsPointVelocityAndItsTransposeTheWrenchOfAForce) {
  auto rng = Rng(4);
  const Vec3 r = RandomVec3(rng), f = RandomVec3(rng);
  const Vec6 twist = RandomVec6(rng);
  const Vec3 omega = twist.head<3>(), v = twist.tail<3>();
  EXPECT_LT((Gamma<double>(r) * twist - (v + omega.cross(r))).norm(), 1e-14);
  const Vec6 wrench = Gamma<double>(r).transpose() * f;
  EXPECT_LT((wrench.head<3>() - r.cross(f)).norm(), 1e-14);
  EXPECT_LT((wrench.tail<3>() - f).norm(), 1e-14);
}

/// Pose at time t of a body that starts at X0 and has the body twist phi + t dphi, to third order
/// in t (midpoint rule).
RigidTransformT<long double> Moved(const RigidTransform& X0, const Vec6& phi, const Vec6& dphi,
                                   long double t) {
  using V = Vec3T<long double>;
  RigidTransformT<long double> X = X0.Cast<long double>();
  constexpr int kSteps = 64;
  for (int i = 0; i < kSteps; ++i) {
    const long double h = t / kSteps, mid = (i + 0.5L) * h;
    const Vec6T<long double> twist = phi.cast<long double>() + mid * dphi.cast<long double>();
    const V w = h * twist.head<3>(), u = h * twist.tail<3>();
    // exp of the twist over a short step: rotation, and displacement V(w) u with V = I + [w]/2 +
    // [w]^2/6.
    const Mat3T<long double> k = Skew<long double>(w);
    const V p = u + 0.5L * k * u + k * k * u / 6.0L;
    X = X * RigidTransformT<long double>{Exp<long double>(w), p};
  }
  return X;
}

TEST(SpatialCross, IsTheRateOfATwistCarriedAlong) {
  auto rng = Rng(5);
  for (int i = 0; i < 20; ++i) {
    // d/dt Ad(X_WB(t)) = [phi_W] Ad(X_WB), phi_W the twist of B in W.
    const RigidTransform X = RandomPose(rng);
    const Vec6 phi_B = RandomVec6(rng);
    const long double h = 1e-5L;
    const Mat6T<long double> rate =
        (Adjoint(Moved(X, phi_B, Vec6::Zero(), h)) - Adjoint(Moved(X, phi_B, Vec6::Zero(), -h))) /
        (2 * h);
    const Vec6 phi_W = Adjoint(X) * phi_B;
    EXPECT_LT((rate.cast<double>() - SpatialCross(phi_W) * Adjoint(X)).norm(), 1e-6);
    EXPECT_LT((SpatialCross(phi_W) * phi_W).norm(), 1e-13);
  }
}

TEST(NewtonEuler, OfTheBodyIsNewtonsSecondLawOfItsPointMasses) {
  // w = M dphi - [phi]^T M phi (Kry & Pai eq. 3) against sum of m a and r x m a by differences of
  // positions.
  auto rng = Rng(6);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<MassProperties> points;
    for (int i = 0; i < 5; ++i) points.push_back({0.5 + i, RandomVec3(rng), Mat3::Zero()});
    const Mat6 M = SpatialInertia(Composed(points));
    const RigidTransform X_WB = RandomPose(rng);
    const Vec6 phi = RandomVec6(rng), dphi = RandomVec6(rng);
    const Vec6 w_B = M * dphi - SpatialCross(phi).transpose() * M * phi;

    const long double h = 1e-4L;
    const auto before = Moved(X_WB, phi, dphi, -h), after = Moved(X_WB, phi, dphi, h),
               now = X_WB.Cast<long double>();
    Vec6 expected_W = Vec6::Zero();
    for (const MassProperties& m : points) {
      const Vec3T<long double> p = m.p_BCom.cast<long double>();
      const Vec3 a =
          Vec3T<long double>((after * p - 2.0L * (now * p) + before * p) / (h * h)).cast<double>();
      expected_W += Gamma<double>(X_WB * m.p_BCom).transpose() * Vec3(m.mass_kg * a);
    }
    EXPECT_LT((TransformWrench(X_WB, w_B) - expected_W).norm(), 1e-5 * expected_W.norm()) << trial;
    // The other sign of the quadratic term would be noticed.
    const Vec6 wrong = M * dphi + SpatialCross(phi).transpose() * M * phi;
    EXPECT_GT((TransformWrench(X_WB, wrong) - expected_W).norm(), 1e-2 * expected_W.norm());
  }
}

TEST(Pressing, DownOnATableGivesAnExtendingTorqueAtTheKnuckle) {
  // A finger along +x from a knuckle at the origin, flexing about +y (which turns x towards -z:
  // down). The table pushes the tip up. Twist of the flexion axis at the origin: (y, 0).
  // Generalised torque of the force on the hand: J^T f.
  Vec6 flexion;
  flexion << 0, 1, 0, 0, 0, 0;
  const Vec3 tip(0.08, 0, 0);
  EXPECT_LT(Vec3(Gamma<double>(tip) * flexion).z(), 0);  // flexion moves the tip down
  const Vec3 f_onHand_W(0, 0, 2.0);
  const double torque = (Gamma<double>(tip) * flexion).dot(f_onHand_W);
  EXPECT_NEAR(torque, -0.16, 1e-15);  // against flexion: extending
}

}  // namespace
}  // namespace handhold::geometry::transform_test
