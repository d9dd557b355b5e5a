/// C3D files made byte by byte in a test, by c3d.org's tables and by nothing of database/exchange:
/// truth for its reader. What to write is given as numbers; how, by the six encodings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace handhold::testing {

class C3dBytes {
 public:
  enum Processor { kIntel = 84, kDec = 85, kMips = 86 };

  Processor processor = kIntel;
  bool is_float = true;
  float scale = 0.1f;  ///< mm per count; also of residual bytes
  int points = 3, channels = 2, ratio = 4, frames = 20;
  int first_frame = 1;
  float rate = 100.0f;
  int leading_zero_blocks = 0, blocks_before_parameters = 0, blocks_before_data = 0;
  bool point_frames_as_float = false;
  bool with_trial = false;
  /// Counts of point p, axis k at frame f; the fourth word; analog samples.
  std::function<int(int, int, int)> coordinate = [](int f, int p, int k) {
    return 100 * (p + 1) + 7 * k + f;
  };
  std::function<int(int, int)> word = [](int f, int p) {
    return f == 5 && p == 1 ? -1 : 256 * (p + 3) + (f % 7);
  };
  std::function<int(int, int)> sample = [](int t, int c) { return 2048 + 10 * c - t; };
  std::vector<float> analog_scale = {0.5f, 0.25f};
  std::vector<int> analog_offset = {2048, 2000};
  float gen_scale = 2.0f;
  bool is_unsigned = false;
  std::string unit = "mm";
  std::vector<uint8_t> after_data;

  // Extra parameters: group id, name, type, dimensions, numbers or characters.
  struct Extra {
    int group;
    std::string name;
    int type;
    std::vector<int> dimensions;
    std::vector<double> numbers;
    std::string characters;
  };
  std::vector<std::string> groups = {"POINT",    "ANALOG", "FORCE_PLATFORM", "EVENT",
                                     "ROTATION", "TRIAL",  "SUBJECTS"};
  std::vector<Extra> extras;
  bool default_labels = true;

  void PutWord(std::vector<uint8_t>& out, int value) const {
    const auto w = static_cast<uint16_t>(value);
    const uint8_t low = static_cast<uint8_t>(w & 255), high = static_cast<uint8_t>(w >> 8);
    out.push_back(processor == kMips ? high : low);
    out.push_back(processor == kMips ? low : high);
  }

  /// Bit by bit from the definition: sign, exponent, 23 bits of mantissa.
  void PutFloat(std::vector<uint8_t>& out, double value) const {
    uint32_t bits = 0;
    if (value != 0) {
      int e = 0;
      const double fraction = std::frexp(std::fabs(value), &e);  // [0.5, 1)
      const auto mantissa = static_cast<uint32_t>(std::llround((fraction * 2 - 1) * 8388608));
      const int biased = processor == kDec ? e + 128 : e + 126;
      bits = (value < 0 ? 1u << 31 : 0u) + (static_cast<uint32_t>(biased) << 23) + mantissa;
    }
    const uint8_t b[4] = {static_cast<uint8_t>(bits >> 24), static_cast<uint8_t>(bits >> 16),
                          static_cast<uint8_t>(bits >> 8), static_cast<uint8_t>(bits)};
    static constexpr int kOrder[3][4] = {{3, 2, 1, 0}, {1, 0, 3, 2}, {0, 1, 2, 3}};
    for (const int k : kOrder[processor - kIntel]) out.push_back(b[k]);
  }

  std::vector<uint8_t> Build() const {
    const int parameter_block = 2 + blocks_before_parameters;
    std::vector<uint8_t> section = Section(0);
    const int section_blocks = static_cast<int>(section.size() / 512);
    const int data_block = parameter_block + section_blocks + blocks_before_data;
    section = Section(data_block);

    std::vector<uint8_t> header;
    header.push_back(static_cast<uint8_t>(parameter_block));
    header.push_back(0x50);
    PutWord(header, points);
    PutWord(header, channels * ratio);
    PutWord(header, first_frame);
    PutWord(header, std::min(65535, first_frame + frames - 1));
    PutWord(header, 10);
    PutFloat(header, is_float ? -static_cast<double>(scale) : static_cast<double>(scale));
    PutWord(header, data_block);
    PutWord(header, ratio);
    PutFloat(header, static_cast<double>(rate));
    header.resize(512);

    std::vector<uint8_t> out(static_cast<size_t>(leading_zero_blocks) * 512);
    out.insert(out.end(), header.begin(), header.end());
    out.resize(out.size() + static_cast<size_t>(blocks_before_parameters) * 512, 0xFF);
    out.insert(out.end(), section.begin(), section.end());
    out.resize(out.size() + static_cast<size_t>(blocks_before_data) * 512, 0xFF);
    for (int f = 0; f < frames; ++f) {
      for (int p = 0; p < points; ++p) {
        for (int k = 0; k < 3; ++k) {
          const int count = coordinate(f, p, k);
          if (is_float) {
            PutFloat(out, static_cast<double>(static_cast<float>(count) * scale));
          } else {
            PutWord(out, count);
          }
        }
        is_float ? PutFloat(out, word(f, p)) : PutWord(out, word(f, p));
      }
      for (int s = 0; s < ratio; ++s) {
        for (int c = 0; c < channels; ++c) {
          const int value = sample(f * ratio + s, c);
          is_float ? PutFloat(out, value) : PutWord(out, value);
        }
      }
    }
    out.resize((out.size() + 511) / 512 * 512);
    out.insert(out.end(), after_data.begin(), after_data.end());
    return out;
  }

 private:
  void PutParameter(std::vector<uint8_t>& out, const Extra& extra) const {
    out.push_back(static_cast<uint8_t>(extra.name.size()));
    out.push_back(static_cast<uint8_t>(extra.group));
    out.insert(out.end(), extra.name.begin(), extra.name.end());
    std::vector<uint8_t> body = {static_cast<uint8_t>(extra.type),
                                 static_cast<uint8_t>(extra.dimensions.size())};
    for (const int d : extra.dimensions) body.push_back(static_cast<uint8_t>(d));
    body.insert(body.end(), extra.characters.begin(), extra.characters.end());
    for (const double n : extra.numbers) {
      if (extra.type == 4) PutFloat(body, n);
      if (extra.type == 2) PutWord(body, static_cast<int>(n));
      if (extra.type == 1) body.push_back(static_cast<uint8_t>(n));
    }
    body.push_back(0);  // no description
    PutWord(out, static_cast<int>(body.size()) + 2);
    out.insert(out.end(), body.begin(), body.end());
  }

  std::vector<uint8_t> Section(int data_block) const {
    std::vector<uint8_t> out = {1, 0x50, 0, static_cast<uint8_t>(processor)};
    const double signed_scale = is_float ? -static_cast<double>(scale) : static_cast<double>(scale);
    std::vector<Extra> all = {
        {1, "USED", 2, {}, {static_cast<double>(points)}, ""},
        {1, "SCALE", 4, {}, {signed_scale}, ""},
        {1, "RATE", 4, {}, {static_cast<double>(rate)}, ""},
        {1, "DATA_START", 2, {}, {static_cast<double>(data_block)}, ""},
        {1,
         "FRAMES",
         point_frames_as_float ? 4 : 2,
         {},
         {static_cast<double>(point_frames_as_float ? frames : std::min(frames, 65535))},
         ""},
        {2, "USED", 2, {}, {static_cast<double>(channels)}, ""},
        {2, "RATE", 4, {}, {static_cast<double>(rate) * ratio}, ""},
        {2, "GEN_SCALE", 4, {}, {static_cast<double>(gen_scale)}, ""}};
    if (!unit.empty()) all.push_back({1, "UNITS", -1, {static_cast<int>(unit.size())}, {}, unit});
    if (is_unsigned) all.push_back({2, "FORMAT", -1, {8}, {}, "UNSIGNED"});
    if (channels > 0) {
      Extra s{2, "SCALE", 4, {channels}, {}, ""}, o{2, "OFFSET", 2, {channels}, {}, ""};
      for (int c = 0; c < channels; ++c) {
        s.numbers.push_back(static_cast<double>(analog_scale[static_cast<size_t>(c)]));
        o.numbers.push_back(analog_offset[static_cast<size_t>(c)]);
      }
      all.push_back(s);
      all.push_back(o);
    }
    if (default_labels) {
      AddLabels(all, 1, "P", points);
      AddLabels(all, 2, "C", channels);
    }
    if (with_trial) {
      const int last = first_frame + frames - 1;
      all.push_back(
          {6,
           "ACTUAL_START_FIELD",
           2,
           {2},
           {static_cast<double>(first_frame & 0xFFFF), static_cast<double>(first_frame >> 16)},
           ""});
      all.push_back({6,
                     "ACTUAL_END_FIELD",
                     2,
                     {2},
                     {static_cast<double>(last & 0xFFFF), static_cast<double>(last >> 16)},
                     ""});
    }
    all.insert(all.end(), extras.begin(), extras.end());
    // Groups without parameters are left out: ezc3d refuses an empty ROTATION.
    for (size_t g = 0; g < groups.size(); ++g) {
      const bool used = std::any_of(all.begin(), all.end(), [&](const Extra& extra) {
        return extra.group == static_cast<int>(g) + 1;
      });
      if (!used) continue;
      out.push_back(static_cast<uint8_t>(groups[g].size()));
      out.push_back(static_cast<uint8_t>(-static_cast<int>(g + 1)));
      out.insert(out.end(), groups[g].begin(), groups[g].end());
      PutWord(out, 3);
      out.push_back(0);
    }
    for (const Extra& extra : all) PutParameter(out, extra);
    out.resize((out.size() + 2 + 511) / 512 * 512);
    out[2] = static_cast<uint8_t>(out.size() / 512);
    return out;
  }

  static void AddLabels(std::vector<Extra>& all, int group, const std::string& letter, int count) {
    for (int begin = 0, part = 1; begin < count; begin += 255, ++part) {
      const int n = std::min(255, count - begin);
      std::string text;
      for (int i = 0; i < n; ++i) {
        std::string label = letter + std::to_string(begin + i + 1);
        label.resize(8, ' ');
        text += label;
      }
      all.push_back(
          {group, part == 1 ? "LABELS" : "LABELS" + std::to_string(part), -1, {8, n}, {}, text});
    }
  }
};

}  // namespace handhold::testing
