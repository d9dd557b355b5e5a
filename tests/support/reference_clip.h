/// The storage benches' clip (reference/storage.md): 120 s, 60 markers x (x, y, z, residual) at 500
/// Hz with 0.05 mm white noise and 1 % occlusion, moved by minimum-jerk strokes as the lab's
/// subject makes them, and 24 force channels at 1 kHz on a 16-bit ADC grid. 69.1 MB as raw floats.
/// Pure arithmetic, no libm: the same bytes on every machine, pinned by a hash.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "database/base/digest.h"
#include "database/recording/clip.h"

namespace handhold::testing {

class ReferenceClip {
 public:
  static constexpr int kMarkers = 60, kMarkerRate = 500, kForceChannels = 24, kForceRate = 1000,
                       kSeconds = 120;
  /// SHA-256 of all values as floats, blocks in order.
  static constexpr const char* kHash =
      "f402f07ce4bd4720e7fa2cffa26bad0b9709e0ae81bdd6ec23ac7b13d0d4e6d1";

  /// Blocks of 0.1 s; stream 1 markers, 2 force.
  explicit ReferenceClip(int seconds = kSeconds) {
    for (int b = 0; b < seconds * 10; ++b) {
      markers.push_back(MarkerBlock(b));
      force.push_back(ForceBlock(b));
    }
  }

  static recording::StreamInfo MarkerInfo() {
    recording::StreamInfo info;
    info.name = "vicon/markers";
    info.kind = recording::StreamKind::kMarkers;
    info.rate = {kMarkerRate, 1};
    info.frame = "W";
    for (int m = 0; m < kMarkers; ++m) {
      for (const char* axis : {".x", ".y", ".z", ".residual"})
        info.channels.push_back({"M" + std::to_string(m) + axis, "m", 1e-5});
    }
    return info;
  }
  static recording::StreamInfo ForceInfo() {
    recording::StreamInfo info;
    info.name = "plates/wrench";
    info.kind = recording::StreamKind::kForceTorque;
    info.rate = {kForceRate, 1};
    for (int c = 0; c < kForceChannels; ++c)
      info.channels.push_back({"c" + std::to_string(c), "count", 1.0});
    return info;
  }

  int64_t raw_bytes() const {
    int64_t values = 0;
    for (const auto* list : {&markers, &force}) {
      for (const recording::SampleBlock& block : *list)
        values += static_cast<int64_t>(block.values.size());
    }
    return values * 4;
  }
  std::string Hash() const {
    Sha256 hash;
    std::vector<float> floats;
    for (const auto* list : {&markers, &force}) {
      for (const recording::SampleBlock& block : *list) {
        floats.assign(block.values.begin(), block.values.end());
        for (float& f : floats) f = f == f ? f : -9999.0f;  // NaN has many encodings
        hash.Update(std::as_bytes(std::span(floats)));
      }
    }
    return hash.Finish().ToHex();
  }

  std::vector<recording::SampleBlock> markers, force;

 private:
  double Uniform() {  // [0, 1), SplitMix64
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  double Noise() {  // twelve uniforms: near enough to normal, and exact everywhere
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum;
  }
  /// Back and forth, 0.6 s each way: 0 to 1 along 10 t^3 - 15 t^4 + 6 t^5 (Flash and Hogan 1985).
  static double Stroke(double t_s, double phase) {
    const double x = t_s / 1.2 + phase;
    const double part = 2.0 * (x - static_cast<double>(static_cast<int64_t>(x)));
    const double s = part < 1.0 ? part : 2.0 - part;
    return s * s * s * (10.0 + s * (-15.0 + 6.0 * s));
  }

  recording::SampleBlock MarkerBlock(int b) {
    const int count = kMarkerRate / 10;
    recording::SampleBlock block;
    block.stream_id = 1;
    block.first_index = block.first_counter = static_cast<int64_t>(b) * count;
    block.count = count;
    block.values.resize(static_cast<size_t>(kMarkers) * 4 * count);
    for (int m = 0; m < kMarkers; ++m) {
      // Every marker is away for 50 ms of each 5 s, at its own time: 1 %.
      const int away = (b * 100 + m * 83) % 5000;
      for (int i = 0; i < count; ++i) {
        const double t = static_cast<double>(b * count + i) / kMarkerRate;
        const bool occluded = away + 2 * i >= 1000 && away + 2 * i < 1050;
        for (int k = 0; k < 4; ++k) {
          const double move =
              k < 3 ? 0.1 + 0.02 * k + (0.15 - 0.04 * k) * Stroke(t, 0.013 * m) : 2e-4;
          const double value = move + 5e-5 * Noise();
          block.value(4 * m + k, i) = occluded ? std::numeric_limits<double>::quiet_NaN()
                                               : static_cast<double>(static_cast<float>(value));
        }
      }
    }
    return block;
  }

  recording::SampleBlock ForceBlock(int b) {
    const int count = kForceRate / 10;
    recording::SampleBlock block;
    block.stream_id = 2;
    block.first_index = block.first_counter = static_cast<int64_t>(b) * count;
    block.count = count;
    block.values.resize(static_cast<size_t>(kForceChannels) * count);
    for (int c = 0; c < kForceChannels; ++c) {
      for (int i = 0; i < count; ++i) {
        const double t = static_cast<double>(b * count + i) / kForceRate;
        const double counts = 4000.0 * Stroke(t, 0.07 * c) + 4.0 * Noise();
        block.value(c, i) = static_cast<double>(static_cast<int64_t>(counts + 32768.5) - 32768);
      }
    }
    return block;
  }

  uint64_t state_ = 20261118;
};

}  // namespace handhold::testing
