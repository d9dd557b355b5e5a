/// The C3D file that the exchange marks are measured on: formats.md's, 500 Hz, 60 markers, 24
/// analog channels at 5 kHz, moving as hands do, with 0.05 mm noise, residuals, masks and
/// occlusions.
#pragma once

#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "database/exchange/c3d_number.h"
#include "database/exchange/c3d_parameters.h"

namespace handhold::bench {

inline void MakeC3d(const std::string& path, int frames, bool as_floats, unsigned seed) {
  using namespace handhold::exchange;
  constexpr int kMarkers = 60, kChannels = 24, kRatio = 10;
  constexpr double kScale = 0.05;
  C3dParameters parameters;
  const auto number = [](C3dGroup& group, const char* name, double value) {
    group.parameters.push_back(C3dParameter::OfFloats(name, {}, std::span(&value, 1)));
  };
  const auto whole = [](C3dGroup& group, const char* name, int value) {
    group.parameters.push_back(C3dParameter::OfInts(name, {}, std::span(&value, 1)));
  };
  const auto labels = [](const char* letter, int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) all.push_back(letter + std::to_string(i + 1));
    return all;
  };
  C3dGroup& point = parameters.Group("POINT");
  whole(point, "USED", kMarkers);
  number(point, "SCALE", as_floats ? -kScale : kScale);
  number(point, "RATE", 500);
  // Beyond 16 bits a float is what the guide wants.
  if (frames < 32'768) {
    whole(point, "FRAMES", frames);
  } else {
    number(point, "FRAMES", frames);
  }
  point.parameters.push_back(C3dParameter::OfTexts("UNITS", {"mm"}));
  point.parameters.push_back(C3dParameter::OfTexts("LABELS", labels("M", kMarkers)));
  C3dGroup& analog = parameters.Group("ANALOG");
  whole(analog, "USED", kChannels);
  number(analog, "RATE", 500 * kRatio);
  number(analog, "GEN_SCALE", 1);
  const std::vector<double> scales(kChannels, as_floats ? 1.0 : 0.001);
  analog.parameters.push_back(C3dParameter::OfFloats("SCALE", {kChannels}, scales));
  analog.parameters.push_back(C3dParameter::OfTexts("LABELS", labels("A", kChannels)));
  const auto section = WriteC3dParameters(parameters);
  if (!section) throw std::runtime_error(section.error().message);

  constexpr C3dProcessor kIntel = C3dProcessor::kIntel;
  std::vector<uint8_t> out = {2, 0x50};
  for (const int word : {kMarkers, kChannels * kRatio, 1, std::min(frames, 65'535), 0})
    PutC3dWord(static_cast<uint16_t>(word), kIntel, out);
  PutC3dFloat(static_cast<float>(as_floats ? -kScale : kScale), kIntel, out);
  PutC3dWord(static_cast<uint16_t>(2 + section->size() / 512), kIntel, out);
  PutC3dWord(kRatio, kIntel, out);
  PutC3dFloat(500, kIntel, out);
  out.resize(512);
  out.insert(out.end(), section->begin(), section->end());

  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 0.05f);
  std::uniform_real_distribution<float> phase(0, 6);
  std::vector<float> shift(kMarkers * 3 + kChannels);
  for (float& s : shift) s = phase(random);
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](float value, float scale) {
    if (as_floats) {
      PutC3dFloat(value, kIntel, out);
    } else {
      PutC3dWord(static_cast<uint16_t>(static_cast<int16_t>(std::lround(value / scale))), kIntel,
                 out);
    }
  };
  for (int f = 0; f < frames; ++f) {
    const float t = static_cast<float>(f) / 500;
    for (int m = 0; m < kMarkers; ++m) {
      const bool hidden = (f + 997 * m) % 20'000 < 150;
      for (int k = 0; k < 3; ++k) {
        const float at = 300 * std::sin(1.7f * t + shift[static_cast<size_t>(3 * m + k)]) +
                         40 * std::sin(9 * t + shift[static_cast<size_t>(3 * m)]);
        put(hidden ? 0 : at + noise(random), static_cast<float>(kScale));
      }
      const int word = hidden ? -1 : 256 * (1 + m % 100) + 2 + f % 5;
      if (as_floats) {
        PutC3dFloat(static_cast<float>(word), kIntel, out);
      } else {
        PutC3dWord(static_cast<uint16_t>(word), kIntel, out);
      }
    }
    for (int s = 0; s < kRatio; ++s) {
      const float ts = t + static_cast<float>(s) / 5000;
      // Converters give steps: a 16-bit card's.
      for (int c = 0; c < kChannels; ++c) {
        const float volt =
            2 * std::sin(3 * ts + shift[static_cast<size_t>(180 + c)]) + 0.1f * noise(random);
        put(std::round(volt * 3276.8f) / 3276.8f, 0.001f);
      }
    }
    if (out.size() > (1u << 20) || f + 1 == frames) {
      file.write(reinterpret_cast<const char*>(out.data()),
                 static_cast<std::streamsize>(out.size()));
      out.clear();
    }
  }
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace handhold::bench
