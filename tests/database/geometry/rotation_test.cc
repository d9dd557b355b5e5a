// Rotations against their definitions in long double: the power series of the matrix exponential,
// and finite differences of it.
#include "database/geometry/rotation.h"

#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>

#include "database/base/units.h"

namespace handhold::geometry::rotation_test {
namespace {

using Real = long double;
using Vec3L = Vec3T<Real>;
using Mat3L = Mat3T<Real>;

/// exp([w]) by its power series: nothing in common with the closed form under test.
Mat3L SeriesExp(const Vec3L& w) {
  Mat3L k;
  k << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
  Mat3L sum = Mat3L::Identity(), term = Mat3L::Identity();
  for (int n = 1; n < 60; ++n) {
    term = (term * k / Real(n)).eval();
    sum += term;
  }
  return sum;
}

Vec3 RandomUnit(std::mt19937_64& rng) {
  std::normal_distribution<double> gauss;
  const double x = gauss(rng), y = gauss(rng), z = gauss(rng);
  return Vec3(x, y, z).normalized();
}

// From far below the root of the rounding error up to just below and at pi, and the seams of the
// series.
const double kAngles[] = {0.0,  1e-300,     1e-160,     1e-20,      1e-12,       1e-9,       1e-8,
                          1e-5, 9.9e-5,     1.01e-4,    1e-3,       0.0099,      0.0101,     0.1,
                          0.5,  0.999,      1.001,      1.57,       2.0,         2.5,        3.0,
                          3.14, kPi - 1e-4, kPi - 1e-7, kPi - 1e-9, kPi - 1e-12, kPi - 1e-15};

TEST(Exp, IsTheMatrixExponentialAtEveryAngle) {
  std::mt19937_64 rng(1);
  for (const double angle : kAngles) {
    const Vec3 w = angle * RandomUnit(rng);
    const Mat3 R = Exp<double>(w);
    EXPECT_LT((R - SeriesExp(w.cast<Real>()).cast<double>()).cwiseAbs().maxCoeff(), 1e-15) << angle;
    EXPECT_LT((R * R.transpose() - Mat3::Identity()).cwiseAbs().maxCoeff(), 2e-15) << angle;
    // Small rotations keep relative precision in the part that says so.
    const Vec3 vee = 0.5 * Vec3(R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1));
    if (angle < 0.1) {
      EXPECT_LE((vee - std::sin(angle) / (angle > 0 ? angle : 1) * w).norm(), 4e-16 * angle)
          << angle;
    }
  }
}

TEST(Exp, TurnsXTowardsYAboutZ) {
  EXPECT_LT((Exp<double>(Vec3(0, 0, kPi / 2)) * Vec3::UnitX() - Vec3::UnitY()).norm(), 1e-15);
  EXPECT_LT((AxisAngle<double>(Vec3::UnitZ(), kPi / 2) * Vec3::UnitX() - Vec3::UnitY()).norm(),
            1e-15);
  EXPECT_EQ(Skew<double>(Vec3::UnitX()) * Vec3::UnitY(), Vec3(Vec3::UnitZ()));
}

TEST(Log, UndoesExpAtEveryAngleToRounding) {
  std::mt19937_64 rng(2);
  for (const double angle : kAngles) {
    for (int i = 0; i < 200; ++i) {
      const Vec3 w = i < 6 ? Vec3(angle * (i % 2 ? -1.0 : 1.0) * Vec3::Unit(i / 2))
                           : Vec3(angle * RandomUnit(rng));
      const Vec3 back = Log(Exp<double>(w));
      const double tolerance = angle < 0.1 ? 1e-15 * angle : 2e-15;
      // Within rounding of pi both signs are the same rotation.
      const double error =
          kPi - angle < 1e-14 ? std::min((back - w).norm(), (back + w).norm()) : (back - w).norm();
      ASSERT_LE(error, tolerance) << angle << " rad about " << w.transpose();
      ASSERT_LE(back.norm(), kPi * (1 + 1e-15));
    }
  }
}

TEST(Log, AtPiChoosesTheSignOfTheLargestComponent) {
  for (const Vec3& axis :
       {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(0.6, 0.8, 0), Vec3(0, -0.6, 0.8)}) {
    const Mat3 R = 2 * axis * axis.transpose() - Mat3::Identity();
    EXPECT_LT((Log(R) - kPi * axis).norm(), 2e-15) << axis.transpose();
    EXPECT_LT((Log(Exp<double>(kPi * axis)).cwiseAbs() - kPi * axis.cwiseAbs()).norm(), 2e-15);
  }
}

TEST(LeftJacobian, IsTheDerivativeOfExp) {
  std::mt19937_64 rng(3);
  for (const double angle : kAngles) {
    for (int i = 0; i < 5; ++i) {
      const Vec3 w = angle * RandomUnit(rng);
      const Vec3L wl = w.cast<Real>();
      Mat3L J;
      const Real h = 1e-5L;
      for (int k = 0; k < 3; ++k) {
        // Fourth-order difference of Exp(w + d) Exp(w)^T: truncation 1e-20, rounding 1e-14.
        Mat3L sum = Mat3L::Zero();
        for (const auto& [step, weight] :
             {std::pair{1, 8.0L / 12}, {-1, -8.0L / 12}, {2, -1.0L / 12}, {-2, 1.0L / 12}}) {
          sum += weight *
                 (SeriesExp(wl + Real(step) * h * Vec3L::Unit(k)) * SeriesExp(wl).transpose());
        }
        J.col(k) =
            Vec3L(sum(2, 1) - sum(1, 2), sum(0, 2) - sum(2, 0), sum(1, 0) - sum(0, 1)) / (2 * h);
      }
      EXPECT_LT((LeftJacobian(w) - J.cast<double>()).cwiseAbs().maxCoeff(), 1e-13) << angle;
      // The right Jacobian, Exp(w + d) = Exp(w) Exp(J_r d), is the transpose.
      EXPECT_LT((LeftJacobian(-w) - LeftJacobian(w).transpose()).cwiseAbs().maxCoeff(), 1e-15);
      EXPECT_LT((LeftJacobian(w) * LeftJacobianInverse(w) - Mat3::Identity()).cwiseAbs().maxCoeff(),
                3e-15)
          << angle;
    }
  }
}

TEST(LeftJacobian, CoefficientsKeepAllDigitsAtSmallAngles) {
  // J = I + a [w] + b [w]^2. About Z the entries (1,0) and (0,0) show a t and 1 - b t^2 apart; b
  // itself is read from the power series in long double.
  for (const double t : {1e-6, 1e-4, 0.0099, 0.0101, 0.03, 0.3, 0.999, 1.001, 2.0}) {
    const Real x = t;
    Real a = 0, b = 0, term = 1;  // term = (-1)^n t^2n / (2n)!
    for (int n = 0; n < 20; ++n) {
      a += term / ((2 * n + 1) * (2 * n + 2));
      b += term / (Real(2 * n + 1) * (2 * n + 2) * (2 * n + 3));
      term *= -x * x / ((2 * n + 1) * (2 * n + 2));
    }
    const Mat3 J = LeftJacobian(Vec3(0, 0, t));
    EXPECT_NEAR(J(1, 0) / t, static_cast<double>(a), 4e-16) << t;
    EXPECT_NEAR(J(0, 0), static_cast<double>(1 - b * x * x), 3e-16) << t;
    const Mat3 inverse = LeftJacobianInverse(Vec3(0, 0, t));
    const Real c = (1 - (1 - b * x * x) / (2 * a)) / (x * x);  // cot(t/2) = sin t / (1 - cos t)
    if (t > 1e-2) {
      EXPECT_NEAR(inverse(0, 0), static_cast<double>(1 - c * x * x), 3e-16) << t;
    }
  }
}

TEST(LeftJacobianInverse, HoldsUpToTwoPi) {
  std::mt19937_64 rng(4);
  for (const double angle : {3.5, 5.0, 6.0, 6.28}) {
    const Vec3 w = angle * RandomUnit(rng);
    const double bound = angle > 6.2 ? 1e-11 : 1e-13;
    EXPECT_LT((LeftJacobian(w) * LeftJacobianInverse(w) - Mat3::Identity()).cwiseAbs().maxCoeff(),
              bound);
  }
}

TEST(Quaternion, IsScalarFirstAndRoundTrips) {
  const Eigen::Vector4d q = ToQuaternion(AxisAngle<double>(Vec3::UnitX(), 0.4));
  EXPECT_NEAR(q[0], std::cos(0.2), 1e-16);
  EXPECT_NEAR(q[1], std::sin(0.2), 1e-16);
  std::mt19937_64 rng(5);
  for (const double angle : kAngles) {
    const Mat3 R = Exp<double>(angle * RandomUnit(rng));
    const Eigen::Vector4d p = ToQuaternion(R);
    EXPECT_GE(p[0], 0.0);
    EXPECT_LT((FromQuaternion<double>(p[0], p[1], p[2], p[3]) - R).cwiseAbs().maxCoeff(), 2e-15);
  }
}

TEST(NearestRotation, IsNearestAmongRotationsEvenForAReflection) {
  std::mt19937_64 rng(6);
  std::normal_distribution<double> gauss;
  for (int i = 0; i < 200; ++i) {
    Mat3 M;
    for (int k = 0; k < 9; ++k) M(k / 3, k % 3) = gauss(rng);
    const Mat3 R = NearestRotation(M);
    EXPECT_NEAR(R.determinant(), 1.0, 1e-14);
    EXPECT_LT((R * R.transpose() - Mat3::Identity()).cwiseAbs().maxCoeff(), 1e-14);
    for (int j = 0; j < 20; ++j) {
      const Mat3 other = R * Exp<double>((j < 10 ? 1e-3 : 1.0) * RandomUnit(rng));
      EXPECT_GE((other - M).norm(), (R - M).norm() - 1e-14);
    }
  }
  EXPECT_EQ(NearestRotation(Mat3::Zero()), Mat3::Identity());
  EXPECT_EQ(NearestRotation(Vec3(1, 2, 3) * Vec3(3, 2, 1).transpose()), Mat3::Identity());
  EXPECT_EQ(NearestRotation(Mat3::Constant(std::nan(""))), Mat3::Identity());
}

}  // namespace
}  // namespace handhold::geometry::rotation_test
