/// Clips for the tests of database/exchange: every kind of stream, gaps, events, sensors; and the
/// comparison of two clips.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "database/geometry/rotation.h"
#include "database/recording/clip.h"

namespace handhold::testing {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Markers at 100 Hz (3, with residual, occlusions), a transducer and analog at 1000 Hz, bodies at
/// 200 Hz. Values are multiples of 2^-20 m and 2^-10 N, so that millimetres and floats are exact
/// where a test wants it.
inline recording::Clip MixedClip(int frames = 250) {
  recording::ClipInfo info;
  info.name = "mixed";
  info.subject = "S01";
  info.task = "stroke";
  info.utc_start = Timestamp::FromNanoseconds(1'700'000'000'123'456'789);
  info.host_start_ns = 5'000'000'000;
  info.properties["note"] = "comma, \"quote\", \xC3\xBC";
  recording::Clip clip(info);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto clock = recording::ClockMap::Identity(info.host_start_ns);
  const auto grid = [](double value, double step) { return std::round(value / step) * step; };

  recording::StreamInfo markers;
  markers.name = "vicon/markers";
  markers.kind = recording::StreamKind::kMarkers;
  markers.device = "vicon";
  markers.rate = {100, 1};
  markers.frame = "W";
  for (const char* name : {"RIFT", "RTHT", "back, of hand"}) {
    for (const char* part : {".x", ".y", ".z", ".residual"})
      markers.channels.push_back({std::string(name) + part, "m", 1e-5});
  }
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(markers, clock);
  block.count = frames;
  block.values.resize(12 * static_cast<size_t>(frames));
  for (int i = 0; i < frames; ++i) {
    for (int m = 0; m < 3; ++m) {
      const bool hidden = m == 1 && i >= 40 && i < 57;
      for (int k = 0; k < 4; ++k) {
        const double value = k < 3 ? 0.3 * m + 0.1 * std::sin(0.05 * i + k) + 1e-4 * unit(random)
                                   : 1e-5 * (3 + i % 5);
        block.value(4 * m + k, i) = hidden ? kNan : k < 3 ? grid(value, 0x1p-20) : value;
      }
    }
  }
  clip.Append(block);

  recording::StreamInfo force;
  force.name = "plate/raw";
  force.kind = recording::StreamKind::kForceTorque;
  force.device = "plate";
  force.rate = {1000, 1};
  force.frame = "S:plate";
  force.sign = "hand_on_object";
  for (int c = 0; c < 6; ++c) force.channels.push_back({"ch" + std::to_string(c), "count", 1});
  block = {};
  block.stream_id = clip.AddStream(force, clock);
  block.count = frames * 10;
  block.values.resize(6 * static_cast<size_t>(block.count));
  for (double& value : block.values) value = std::round(1000 * unit(random));
  clip.Append(block);
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.stream_id = block.stream_id;
  sensor.calibration = Eigen::MatrixXd::Identity(6, 6) * 0x1p-10;
  sensor.calibration(0, 1) = 0x1p-12;
  sensor.bias = Eigen::VectorXd::Constant(6, 3.0);
  sensor.sign = -1;
  sensor.X_MS = {geometry::Exp<double>(geometry::Vec3(0.2, -0.4, 0.1)), {0.1, -0.2, 0.75}};
  sensor.full_scale_N = 50;
  sensor.serial = "FT1234";
  clip.AddForceSensor(sensor);

  recording::StreamInfo analog;
  analog.name = "daq/emg";
  analog.device = "daq";
  analog.rate = {1000, 1};
  analog.channels = {{"flexor", "V", 0.0}, {"trigger", "V", 0.0}};
  block = {};
  block.stream_id = clip.AddStream(analog, clock);
  block.count = frames * 10;
  block.values.resize(2 * static_cast<size_t>(block.count));
  for (double& value : block.values) value = static_cast<double>(static_cast<float>(unit(random)));
  clip.Append(block);

  recording::StreamInfo bodies;
  bodies.name = "vicon/bodies";
  bodies.kind = recording::StreamKind::kRigidPoses;
  bodies.device = "vicon";
  bodies.rate = {200, 1};
  bodies.frame = "W";
  for (const char* part : {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"})
    bodies.channels.push_back({std::string("mug") + part, part[1] == 'q' ? "1" : "m", 0.0});
  block = {};
  block.stream_id = clip.AddStream(bodies, clock);
  block.count = frames * 2;
  block.values.resize(7 * static_cast<size_t>(block.count));
  for (int i = 0; i < block.count; ++i) {
    const Eigen::Vector4d q =
        geometry::ToQuaternion(geometry::Exp<double>(geometry::Vec3(0.01 * i, 0.3, -0.002 * i)));
    for (int k = 0; k < 3; ++k) block.value(k, i) = grid(0.1 * k + 0.001 * i, 0x1p-20);
    for (int k = 0; k < 4; ++k) block.value(3 + k, i) = q(k);
    if (i % 97 == 5) {
      for (int k = 0; k < 7; ++k) block.value(k, i) = kNan;
    }
  }
  clip.Append(block);

  clip.AddEvent(
      {Timestamp::FromNanoseconds(1'250'000'000), {}, "touch", "operator", 0, 0, "right"});
  return clip;
}

/// NaN equals NaN.
inline void ExpectSameSamples(const recording::SampleWindow& a, const recording::SampleWindow& b,
                              double tolerance) {
  ASSERT_EQ(a.count(), b.count());
  EXPECT_EQ(a.times, b.times);
  EXPECT_EQ(a.counters, b.counters);
  EXPECT_EQ(a.point_counts, b.point_counts);
  EXPECT_EQ(a.texts, b.texts);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    ASSERT_EQ(std::isnan(a.values[i]), std::isnan(b.values[i])) << i;
    if (std::isnan(a.values[i])) continue;
    if (tolerance == 0) {
      ASSERT_EQ(a.values[i], b.values[i]) << i;
    } else {
      ASSERT_NEAR(a.values[i], b.values[i], tolerance) << i;
    }
  }
}

}  // namespace handhold::testing
