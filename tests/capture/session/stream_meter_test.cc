#include "capture/session/stream_meter.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "tests/support/arrival_times.h"
#include "tests/support/scripted_source.h"

namespace handhold::capture::stream_meter_test {
namespace {

using testing::AnalogStream;
using testing::ForceStream;
using testing::MarkerStream;

/// A record in memory of its own.
class Record {
 public:
  Record(const recording::ClockPair& pair, int count, const std::vector<double>& values)
      : memory_(sizeof(RingRecord) / 8 + values.size()) {
    auto* record = new (memory_.data()) RingRecord;
    record->kind = RecordKind::kSamples;
    record->count = count;
    record->first_counter = pair.counter;
    record->clock = pair;
    record->value_count = static_cast<uint32_t>(values.size());
    std::copy(values.begin(), values.end(), memory_.begin() + sizeof(RingRecord) / 8);
  }
  RingRecord* operator->() { return reinterpret_cast<RingRecord*>(memory_.data()); }
  const RingRecord& operator*() const {
    return *reinterpret_cast<const RingRecord*>(memory_.data());
  }

 private:
  std::vector<double> memory_;
};

TEST(StreamMeterTest, WithoutSamplesNothingIsClaimed) {
  const StreamFigures f = StreamMeter(ForceStream("plate/wrench", 1000)).Figures();
  EXPECT_EQ(f.samples, 0);
  EXPECT_FALSE(f.rate_known);
  EXPECT_FALSE(f.clock_known);
  EXPECT_EQ(f.visible_fraction, 1.0);
}

TEST(StreamMeterTest, PlantedArrivalsGiveTheirRateJitterAndClock) {
  testing::PlantedClock planted;
  planted.rate_error = 80e-6;
  const testing::PlantedArrivals arrivals = testing::Arrivals(planted);
  StreamMeter meter(AnalogStream("a/b", 1, 500));
  for (const recording::ClockPair& pair : arrivals.pairs) meter.Samples(*Record(pair, 1, {0.0}));
  const StreamFigures f = meter.Figures();
  EXPECT_EQ(f.samples, 30'000);
  EXPECT_NEAR(f.rate_Hz, 500 / (1 + 80e-6), 500 * 3e-6);
  EXPECT_TRUE(f.rate_known && f.clock_known);
  // p99 of the positive difference of two log-normal delays: below the p99 of one (208 us), of its
  // order.
  EXPECT_GT(f.jitter_p99_s, 50e-6);
  EXPECT_LT(f.jitter_p99_s, 300e-6);
  EXPECT_LT(f.clock_residual_p99_s, 50e-6);
  // The live number covers the truth.
  const double fitted_error_s = std::abs(500 / f.rate_Hz - 1 - 80e-6) * 30.0;  // half the span,
                                                                               // from the middle
  EXPECT_LE(fitted_error_s, f.clock_uncertainty_s + 1e-6);
}

TEST(StreamMeterTest, AHoldIsOneLatePacketAndNoClockError) {
  testing::PlantedClock planted;
  planted.seconds = 20;
  testing::PlantedArrivals arrivals = testing::Arrivals(planted);
  const int64_t release = arrivals.pairs[5'250].host_ns;
  for (size_t i = 5'000; i < 5'250; ++i) arrivals.pairs[i].host_ns = release;
  StreamMeter meter(AnalogStream("a/b", 1, 500));
  for (const recording::ClockPair& pair : arrivals.pairs) meter.Samples(*Record(pair, 1, {0.0}));
  EXPECT_LT(meter.Figures().jitter_p99_s, 1e-3);
  EXPECT_LT(meter.Figures().clock_residual_p99_s, 1e-3);
}

// Three seconds that came at once: late, and the clock none the worse for it.
TEST(StreamMeterTest, ABacklogOfSecondsIsNoClockError) {
  for (const uint64_t seed : {1, 2, 3}) {
    testing::PlantedClock planted;
    planted.seconds = 10;
    planted.seed = seed;
    testing::PlantedArrivals arrivals = testing::Arrivals(planted);
    const int64_t release = arrivals.pairs[2'500].host_ns;
    for (size_t i = 1'000; i < 2'500; ++i) arrivals.pairs[i].host_ns = release;
    StreamMeter meter(AnalogStream("a/b", 1, 500));
    for (const recording::ClockPair& pair : arrivals.pairs) meter.Samples(*Record(pair, 1, {0.0}));
    const StreamFigures f = meter.Figures();
    EXPECT_LT(f.clock_residual_p99_s, 0.4e-3);
    EXPECT_LT(f.clock_uncertainty_s, 0.4e-3);
    EXPECT_NEAR(f.rate_Hz, 500 / (1 + 40e-6), 500 * 10e-6);
  }
}

TEST(StreamMeterTest, AStepOfTheClockShowsUntilItIsTold) {
  for (const bool told : {false, true}) {
    testing::PlantedClock planted;
    planted.seconds = 30;
    testing::PlantedArrivals arrivals = testing::Arrivals(planted);
    StreamMeter meter(AnalogStream("a/b", 1, 500));
    for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
      if (i == 7'500 && told) meter.ClockReset();
      if (i >= 7'500) arrivals.pairs[i].host_ns += 20'000'000;
      meter.Samples(*Record(arrivals.pairs[i], 1, {0.0}));
    }
    EXPECT_EQ(meter.Figures().clock_residual_p99_s > 3e-3, !told);
  }
}

TEST(StreamMeterTest, VisibilityIsOfMarkersOfTheLastSecondAndOfAll) {
  StreamMeter meter(MarkerStream("vicon/markers", 4, 100));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto send = [&](int from, int to, int visible) {
    for (int64_t i = from; i < to; ++i) {
      std::vector<double> values(12, 1.0);
      for (int m = visible; m < 4; ++m) std::fill_n(values.begin() + 3 * m, 3, nan);
      meter.Samples(*Record({i, i * 10'000'000, i * 10'000'000, 0}, 1, values));
    }
  };
  send(0, 300, 4);
  EXPECT_EQ(meter.Figures().visible_fraction, 1.0);
  send(300, 350, 1);
  EXPECT_NEAR(meter.Figures().visible_fraction, 0.6, 0.08);
  send(350, 500, 1);
  EXPECT_EQ(meter.Figures().visible_fraction, 0.25);
  EXPECT_EQ(meter.Figures().visible_in_all_fraction, (300 * 4 + 200 * 1) / (500.0 * 4));
}

TEST(StreamMeterTest, SamplesBeyondFullScaleAreSaturated) {
  StreamMeter meter(ForceStream("plate/wrench", 1000));
  recording::ForceSensor sensor;
  sensor.calibration.setZero(6, 6);
  sensor.calibration.diagonal().setConstant(0.01);
  sensor.bias = Eigen::VectorXd::Constant(6, 500.0);
  sensor.full_scale_N = 100;
  meter.SetSensor(sensor);
  // Two samples, channel-major: Fz is (10 500 - 500) x 0.01 = 100 N, then just below.
  std::vector<double> values(12, 500.0);
  values[4] = 10'500;
  values[5] = 10'499;
  meter.Samples(*Record({0, 0, 1'000'000, 0}, 2, values));
  EXPECT_EQ(meter.Figures().saturated_samples, 1);
  values[4] = -9'500;
  meter.Samples(*Record({2, 2'000'000, 3'000'000, 0}, 2, values));
  EXPECT_EQ(meter.Figures().saturated_samples, 2);
  // What the device says of the same packet is no other loss; of another one it is.
  Record both({4, 4'000'000, 5'000'000, 0}, 2, values);
  both->saturated = 1;
  meter.Samples(*both);
  EXPECT_EQ(meter.Figures().saturated_samples, 3);
  Record device({6, 6'000'000, 7'000'000, 0}, 2, std::vector<double>(12, 500.0));
  device->saturated = 2;
  meter.Samples(*device);
  EXPECT_EQ(meter.Figures().saturated_samples, 5);
}

TEST(StreamMeterTest, TheNewestSampleIsKeptAsForcesWithTheirPeak) {
  StreamMeter meter(ForceStream("plate/wrench", 1000));
  EXPECT_TRUE(meter.Newest().values.empty()) << "nothing came yet";
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.calibration = 0.5 * Eigen::Matrix<double, 6, 6>::Identity();
  sensor.bias = Eigen::VectorXd::Constant(6, 2.0);
  sensor.sign = -1.0;  // it reports the reaction
  sensor.X_MS.p = {1, 2, 3};
  meter.SetSensor(sensor);
  // Two samples, channel by channel: Fz 42, then 12 counts.
  std::vector<double> values(12, 2.0);
  values[4] = 42.0, values[5] = 12.0;
  meter.Samples(*Record({0, 0, 5'000'000'000, 0}, 2, values));
  NewestSample newest = meter.Newest();
  EXPECT_EQ(newest.sensor, "plate");
  ASSERT_EQ(newest.values.size(), 6u);
  EXPECT_EQ(newest.values[2], 12.0);
  // Reaction of +5 N along the normal: the hand presses with 5 N, downwards.
  EXPECT_NEAR(newest.normal_force_N, 5.0, 1e-12);
  EXPECT_NEAR(newest.f_onObject_W.z(), -5.0, 1e-12);
  EXPECT_NEAR(newest.peak_normal_force_N, 20.0, 1e-12) << "the sample before it";
  values.assign(6, 2.0);
  meter.Samples(*Record({2, 2'000'000, 6'500'000'000, 0}, 1, values));
  EXPECT_NEAR(meter.Newest().peak_normal_force_N, 20.0, 1e-12) << "of the second before, too";
  meter.Samples(*Record({3, 3'000'000, 9'000'000'000, 0}, 1, values));
  EXPECT_NEAR(meter.Newest().peak_normal_force_N, 0.0, 1e-12);
  meter.SetInfo(MarkerStream("plate/wrench", 2, 1000));
  EXPECT_TRUE(meter.Newest().values.empty()) << "other channels";
  EXPECT_TRUE(meter.Newest().sensor.empty());
}

TEST(StreamMeterTest, OtherChannelsKeepWhatWasCounted) {
  StreamMeter meter(MarkerStream("vicon/markers", 2, 100));
  meter.Samples(*Record({0, 0, 0, 0}, 1, std::vector<double>(6, 0.0)));
  meter.Gap(5);
  meter.SetInfo(MarkerStream("vicon/markers", 3, 100));
  meter.Samples(*Record({6, 60'000'000, 60'000'000, 0}, 1, std::vector<double>(9, 0.0)));
  EXPECT_EQ(meter.Figures().samples, 2);
  EXPECT_EQ(meter.Figures().lost_samples, 5);
}

}  // namespace
}  // namespace handhold::capture::stream_meter_test
