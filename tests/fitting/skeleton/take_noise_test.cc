#include "fitting/skeleton/take_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace handhold::fitting::take_noise_test {
namespace {

/// `frames` of two markers at 100 Hz, moving 50 mm at 1 Hz, the second noisier; `spoil` may change
/// a frame.
template <typename Spoil>
TakeNoise Noise(int frames, double sd_m, const Spoil& spoil) {
  std::mt19937 random(3);
  std::normal_distribution<double> white(0, 1);
  TakeNoise noise;
  for (int i = 0; i < frames; ++i) {
    Eigen::Matrix3Xd p(3, 2);
    for (int m = 0; m < 2; ++m) {
      for (int c = 0; c < 3; ++c)
        p(c, m) = 0.05 * std::sin(6.28 * 0.01 * i + c) + (m + 1) * sd_m * white(random);
    }
    spoil(i, &p);
    noise.Add(Timestamp::FromSeconds(0.01 * i), p);
  }
  return noise;
}

TEST(TakeNoiseTest, IsWhatJumpsAndNotWhatMoves) {
  const TakeNoise noise = Noise(2000, 1e-4, [](int, Eigen::Matrix3Xd*) {});
  EXPECT_NEAR(noise.sd_m(0), 1e-4, 1e-5);
  EXPECT_NEAR(noise.sd_m(1), 2e-4, 2e-5);
  // Smooth motion alone is nearly none: (2 pi f / rate)^3 of its amplitude, over sqrt(20).
  EXPECT_LT(Noise(2000, 0.0, [](int, Eigen::Matrix3Xd*) {}).sd_m(), 5e-6);
}

TEST(TakeNoiseTest, GapsAndJumpsDoNotCount) {
  const TakeNoise spoilt = Noise(3000, 1e-4, [](int i, Eigen::Matrix3Xd* p) {
    if (i % 50 < 10) p->col(0).setConstant(std::numeric_limits<double>::quiet_NaN());
    if (i % 100 == 30) p->col(0).array() += 0.02;  // a ghost
  });
  EXPECT_NEAR(spoilt.sd_m(0), 1e-4, 1.5e-5);
  TakeNoise sparse;  // never four frames in a row
  for (int i = 0; i < 300; ++i)
    sparse.Add(Timestamp::FromSeconds(0.01 * i + (i % 3 == 0 ? 0.004 : 0)),
               Eigen::Matrix3Xd::Constant(3, 1, i));
  EXPECT_EQ(sparse.sd_m(), 0.0);
}

}  // namespace
}  // namespace handhold::fitting::take_noise_test
