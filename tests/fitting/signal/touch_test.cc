#include "fitting/signal/touch.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "database/base/units.h"

namespace handhold::fitting::touch_test {
namespace {

using recording::Clip;

/// A plate pressed at known instants, drifting and knocked: written in raw counts behind a
/// calibration, 20 s at 7 kHz.
struct Plate {
  std::vector<std::pair<double, double>> presses;  ///< begin, end
  std::vector<double> knocks;
  double drift_N = 0.0;
  double sign = 1.0;
  double length_s = 12.0;
};

const double kCountsPerN = 1000.0;

Clip MakeClip(const Plate& plate) {
  Clip clip(recording::ClipInfo{});
  recording::StreamInfo info;
  info.name = "plate/wrench";
  info.kind = recording::StreamKind::kForceTorque;
  info.rate = {7000, 1};
  for (const char* c : {"fx", "fy", "fz", "tx", "ty", "tz"})
    info.channels.push_back({c, "count", 1});
  const int id = clip.AddStream(info, recording::ClockMap::Identity());
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.stream_id = id;
  sensor.calibration = Eigen::Matrix<double, 6, 6>::Identity() / kCountsPerN;
  sensor.bias = Eigen::VectorXd::Constant(6, 40.0);
  sensor.sign = plate.sign;
  // The sensor's x axis points up in the lab, its origin is 50 mm along the lab's y.
  sensor.X_MS.R << 0, 0, -1, 0, 1, 0, 1, 0, 0;
  sensor.X_MS.p << 0, 0.05, 0;
  sensor.normal_S << 1, 0, 0;
  clip.AddForceSensor(sensor);

  std::mt19937 random(1);
  std::normal_distribution<double> white(0, 0.02);
  const int n = static_cast<int>(plate.length_s * 7000);
  recording::SampleBlock block;
  block.stream_id = id;
  block.count = n;
  block.values.resize(static_cast<size_t>(6 * n));
  for (int i = 0; i < n; ++i) {
    const double t = i / 7000.0;
    double press = 0;
    for (const auto& [a, b] : plate.presses) {
      if (t > a && t < b)
        press += 1.5 * (1 - std::exp(-(t - a) / 0.01)) * (1 - std::exp(-(b - t) / 0.01));
    }
    for (const double k : plate.knocks) {
      if (t > k && t < k + 0.03) press += 0.1 * std::sin(kPi * (t - k) / 0.03);
    }
    const double drift = plate.drift_N * t / plate.length_s;
    // Hand on object: -press along S's x. Torque about S from a press 10 mm along S's y: r x f =
    // (0, .01, 0) x (-p, 0, 0) = (0, 0, .01 p).
    const double w[6] = {-press + drift, 0.3 * drift, 0, 0, 0, 0.01 * press};
    for (int c = 0; c < 6; ++c)
      block.value(c, i) =
          std::round((plate.sign * w[c] + (c < 3 ? white(random) : 0)) * kCountsPerN + 40.0);
  }
  clip.Append(block);
  return clip;
}

TEST(TouchTest, TouchesAreFoundThroughDriftAndKnocksAreNotTouches) {
  const Plate plate{.presses = {{2.0, 2.5}, {4.0003, 4.9}, {6.0, 6.35}},
                    .knocks = {1.0, 5.5, 9.0},
                    .drift_N = 0.2};
  const Clip clip = MakeClip(plate);
  auto signal = ForceSignal::Open(clip, "plate");
  ASSERT_TRUE(signal) << signal.error().message;
  ASSERT_EQ(signal->touches().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(signal->touches()[i].onset.seconds(), plate.presses[i].first, 0.001) << i;
    EXPECT_NEAR(signal->touches()[i].release.seconds(), plate.presses[i].second, 0.001) << i;
    EXPECT_NEAR(signal->touches()[i].peak_N, 1.5, 0.05);
    EXPECT_LT(signal->touches()[i].onset_sd, Duration::Milliseconds(1));
  }
  EXPECT_EQ(signal->knock_count(), 3);
}

TEST(TouchTest, AQuietTakeWithKnocksAndDriftHasNoTouch) {
  const Clip clip = MakeClip({.presses = {}, .knocks = {1.0, 5.5, 9.0}, .drift_N = -0.4});
  auto signal = ForceSignal::Open(clip, "plate");
  ASSERT_TRUE(signal) << signal.error().message;
  EXPECT_TRUE(signal->touches().empty());
}

TEST(TouchTest, ForceActsOnTheHandInTheLabAndItsWrenchAxisPassesThroughTheContact) {
  for (const double sign : {1.0, -1.0}) {
    const Clip clip =
        MakeClip({.presses = {{2.0, 3.0}}, .knocks = {}, .drift_N = 0.3, .sign = sign});
    auto signal = ForceSignal::Open(clip, "");
    ASSERT_TRUE(signal) << signal.error().message;
    auto w = signal->ReadAt({Timestamp::FromSeconds(1.0), Timestamp::FromSeconds(2.5)}, 300);
    ASSERT_TRUE(w);
    EXPECT_NEAR(w->f_onHand_W.col(0).norm(), 0, 0.03);
    // The surface pushes the hand up: the lab's +z.
    EXPECT_NEAR(w->f_onHand_W(2, 1), 1.5, 0.03);
    EXPECT_NEAR(w->normal_N[1], 1.5, 0.03);
    // Contact at p_W = (0, 0.06, 0): m = p x f = (0.06 * 1.5, 0, 0).
    EXPECT_NEAR(w->m_onHand_W(0, 1), 0.06 * 1.5, 0.003);
    EXPECT_NEAR(w->m_onHand_W(1, 1), 0.0, 0.003);
  }
}

TEST(TouchTest, ATakeTooShortForABaselineIsRefused) {
  const Clip clip = MakeClip({.presses = {}, .knocks = {}, .length_s = 0.05});
  auto signal = ForceSignal::Open(clip, "plate");
  ASSERT_FALSE(signal);
  EXPECT_EQ(signal.error().code, ErrorCode::kUnidentifiable);
  EXPECT_EQ(ForceSignal::Open(clip, "table").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace handhold::fitting::touch_test
