// Rigid fit of point sets: exact recovery, optimality, and refusal of what the points leave open.
#include "database/geometry/fit.h"

#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>

namespace handhold::geometry::fit_test {
namespace {

using ::testing::HasSubstr;

std::vector<Vec3> Cloud(std::mt19937_64& rng, int n, const Vec3& size) {
  std::normal_distribution<double> gauss;
  std::vector<Vec3> p;
  for (int i = 0; i < n; ++i) {
    const double x = gauss(rng), y = gauss(rng), z = gauss(rng);
    p.push_back(size.cwiseProduct(Vec3(x, y, z)));
  }
  return p;
}

std::vector<Vec3> Moved(const RigidTransform& X, const std::vector<Vec3>& p) {
  std::vector<Vec3> out;
  for (const Vec3& q : p) out.push_back(X * q);
  return out;
}

double Cost(const RigidTransform& X, const std::vector<Vec3>& a, const std::vector<Vec3>& b,
            const std::vector<double>& w) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += w[i] * (a[i] - X * b[i]).squaredNorm();
  return sum;
}

TEST(FitRigid, RecoversAnyPoseExactlyFromSolidFlatAndTinyClouds) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 200; ++i) {
    const double scale = std::pow(10.0, i % 5 - 3);
    const Vec3 size = scale * (i % 3 == 0 ? Vec3(1, 0.3, 0) : Vec3(1, 0.5, 0.2));
    const std::vector<Vec3> p_B = Cloud(rng, 3 + i % 6, size);
    const Vec3 turn = Cloud(rng, 1, Vec3::Constant(2))[0];
    const RigidTransform X{Exp<double>(turn), Cloud(rng, 1, Vec3::Constant(scale))[0]};
    const RigidFit fit = FitRigid(Moved(X, p_B), p_B).value();
    // The cross-covariance squares how thin the cloud is.
    const double thin = std::pow(fit.spread_m[0] / fit.spread_m[1], 2);
    EXPECT_LT((fit.X_AB.R - X.R).norm(), 1e-14 * thin) << i;
    EXPECT_LT((fit.X_AB.p - X.p).norm(), 1e-14 * thin * scale) << i;
    EXPECT_LT(fit.rms_m, 1e-14 * scale * 10);
  }
}

TEST(FitRigid, NeverAnswersAReflection) {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 50; ++i) {
    const std::vector<Vec3> p_B = Cloud(rng, 8, Vec3(1, 0.7, 0.3));
    std::vector<Vec3> mirrored;
    for (const Vec3& p : p_B) mirrored.push_back(Vec3(-p.x(), p.y(), p.z()));
    const auto fit = FitRigid(mirrored, p_B);
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->X_AB.R.determinant(), 1, 1e-12);
    EXPECT_GT(fit->rms_m, 0.1);
  }
}

TEST(FitRigid, IsTheWeightedLeastSquaresMinimum) {
  std::mt19937_64 rng(3);
  for (int i = 0; i < 30; ++i) {
    const std::vector<Vec3> p_B = Cloud(rng, 7, Vec3(0.05, 0.03, 0.01));
    std::vector<Vec3> p_A =
        Moved({Exp<double>(Cloud(rng, 1, Vec3::Ones())[0]), Vec3(1, 2, 3)}, p_B);
    const std::vector<Vec3> noise = Cloud(rng, 7, Vec3::Constant(0.005));
    std::vector<double> w;
    for (std::size_t k = 0; k < p_A.size(); ++k) {
      p_A[k] += noise[k];
      w.push_back(0.1 + static_cast<double>(k));
    }
    const RigidFit fit = FitRigid(p_A, p_B, w).value();
    double total = 0;
    for (const double x : w) total += x;
    EXPECT_NEAR(fit.rms_m, std::sqrt(Cost(fit.X_AB, p_A, p_B, w) / total), 1e-12);
    for (int k = 0; k < 50; ++k) {
      RigidTransform other = fit.X_AB;
      other.R = other.R * Exp<double>(Cloud(rng, 1, Vec3::Constant(k < 25 ? 1e-3 : 1.0))[0]);
      other.p += Cloud(rng, 1, Vec3::Constant(k < 25 ? 1e-4 : 0.1))[0];
      EXPECT_GE(Cost(other, p_A, p_B, w), Cost(fit.X_AB, p_A, p_B, w) * (1 - 1e-12));
    }
  }
}

TEST(FitRigid, SpreadPredictsTheRotationErrorOfNoise) {
  // Rotation about axis k moves points by their distance from it: variance sigma^2 / (n (s_i^2 +
  // s_j^2)).
  std::mt19937_64 rng(4);
  const std::vector<Vec3> p_B = Cloud(rng, 12, Vec3(0.06, 0.03, 0.01));
  const double sigma = 1e-4;
  double sum2 = 0;
  constexpr int kTrials = 2000;
  RigidFit fit;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<Vec3> p_A = p_B;
    const std::vector<Vec3> noise = Cloud(rng, 12, Vec3::Constant(sigma));
    for (std::size_t k = 0; k < p_A.size(); ++k) p_A[k] += noise[k];
    fit = FitRigid(p_A, p_B).value();
    sum2 += Log(fit.X_AB.R).squaredNorm();
  }
  const Vec3 s2 = fit.spread_m.cwiseAbs2();
  const double predicted =
      sigma * sigma / 12 * (1 / (s2[0] + s2[1]) + 1 / (s2[1] + s2[2]) + 1 / (s2[2] + s2[0]));
  EXPECT_NEAR(sum2 / kTrials / predicted, 1.0, 0.15);
}

TEST(FitRigid, WeightZeroLeavesAPointOutButReportsItsResidual) {
  std::mt19937_64 rng(5);
  const std::vector<Vec3> p_B = Cloud(rng, 5, Vec3::Ones());
  std::vector<Vec3> p_A = Moved(RigidTransform::Translation({1, 0, 0}), p_B);
  p_A[2] += Vec3(0, 0, 3);
  const RigidFit fit = FitRigid(p_A, p_B, std::vector<double>{1, 1, 0, 1, 1}).value();
  EXPECT_LT((fit.X_AB.p - Vec3(1, 0, 0)).norm(), 1e-14);
  EXPECT_NEAR(fit.residual_m[2], 3, 1e-13);
  EXPECT_LT(fit.max_m, 1e-14);
}

TEST(FitRigid, RefusesWhatThePointsLeaveOpen) {
  std::mt19937_64 rng(6);
  const std::vector<Vec3> good = Cloud(rng, 4, Vec3::Ones());
  const auto refused = [](const auto& result, const char* why) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kUnidentifiable);
    EXPECT_THAT(result.error().message, HasSubstr(why));
  };
  refused(FitRigid({}, {}), "0 points");
  refused(FitRigid(std::vector<Vec3>(good.begin(), good.begin() + 2),
                   std::vector<Vec3>(good.begin(), good.begin() + 2)),
          "2 points");
  refused(FitRigid(good, good, std::vector<double>{1, 0, 1, 0}), "2 points");
  refused(FitRigid(good, std::vector<Vec3>(4, Vec3(1, 2, 3))), "set B are at one place");
  std::vector<Vec3> line;
  for (int i = 0; i < 6; ++i) line.push_back(Vec3(5, 5, 5) + i * Vec3(0.1, 0.2, -0.3));
  refused(FitRigid(line, line), "on one line");
  // The message names the axis: (1, 2, -3) normalised, up to sign.
  const std::string message = FitRigid(line, line).error().message;
  EXPECT_THAT(message, HasSubstr("0.267"));
  EXPECT_THAT(message, HasSubstr("0.801"));
  // A width of one part in ten million is noise, unless the caller says otherwise.
  line[2] += Vec3(1e-8, 0, 0);
  refused(FitRigid(line, line), "on one line");
  line[2] += Vec3(1e-4, 0, 0);
  EXPECT_TRUE(FitRigid(line, line));
  refused(FitRigid(line, line, {}, {.min_width_ratio = 0.1}), "on one line");
  // A regular tetrahedron against its mirror image: no rotation is best.
  const std::vector<Vec3> tetra = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  std::vector<Vec3> opposite;
  for (const Vec3& p : tetra) opposite.push_back(-p);
  refused(FitRigid(opposite, tetra), "several rotations");
}

TEST(FitRigid, RejectsBadInputByName) {
  std::vector<Vec3> p = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  EXPECT_EQ(FitRigid(p, std::vector<Vec3>(2, Vec3::Zero())).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(FitRigid(p, p, std::vector<double>{1, 1}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(FitRigid(p, p, std::vector<double>{1, 1, -1}).error().code, ErrorCode::kInvalid);
  std::vector<Vec3> q = p;
  q[1].y() = std::nan("");
  EXPECT_THAT(FitRigid(p, q).error().message, HasSubstr("point 1"));
  q[1].y() = 1e200;
  EXPECT_THAT(FitRigid(p, q).error().message, HasSubstr("point 1"));
}

}  // namespace
}  // namespace handhold::geometry::fit_test
