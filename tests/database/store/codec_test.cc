#include "database/store/codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "database/store/crc32c.h"

namespace handhold::store::codec_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> RoundTrip(const std::vector<double>& values, int columns,
                              std::vector<double> quanta, bool lossless) {
  FrameEncoder encoder;
  FrameDecoder decoder;
  const int count = static_cast<int>(values.size()) / columns;
  Bytes frame;
  encoder.EncodeValues(values.data(), static_cast<size_t>(count), count, quanta, lossless, frame);
  std::vector<int> wanted(static_cast<size_t>(columns));
  std::iota(wanted.begin(), wanted.end(), 0);
  std::vector<double> back(values.size(), -77.0);
  const Status status = decoder.DecodeValues(frame, quanta, count, wanted, 0, count, back.data(),
                                             static_cast<size_t>(count));
  EXPECT_TRUE(status) << status.error().message;
  return back;
}

void ExpectSameBits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i])) {
      ASSERT_TRUE(std::isnan(b[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<uint64_t>(a[i]), std::bit_cast<uint64_t>(b[i]))
          << i << ": " << a[i] << " became " << b[i];
    }
  }
}

void ExpectWithinHalfQuantum(const std::vector<double>& a, const std::vector<double>& b,
                             double quantum) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) || std::isinf(a[i])) {
      ASSERT_EQ(std::isnan(a[i]), std::isnan(b[i])) << i;
      if (std::isinf(a[i])) {
        ASSERT_EQ(a[i], b[i]) << i;
      }
      continue;
    }
    ASSERT_LE(std::abs(a[i] - b[i]), 0.5 * quantum + 2.5e-16 * std::abs(a[i]))
        << i << ": " << a[i] << " became " << b[i];
  }
}

/// A random column of one of many shapes, the nasty ones included.
std::vector<double> Column(std::mt19937_64& rng, int count) {
  std::uniform_int_distribution<int> shape(0, 11);
  std::normal_distribution<double> noise;
  std::uniform_int_distribution<uint64_t> bits;
  const int s = shape(rng);
  const double scale = std::pow(10.0, static_cast<double>(bits(rng) % 13) - 6.0);
  std::vector<double> v(static_cast<size_t>(count));
  double walk = noise(rng) * scale;
  for (int i = 0; i < count; ++i) {
    double& x = v[static_cast<size_t>(i)];
    switch (s) {
      case 0:
        x = 0.3 * std::sin(0.01 * i) + 5e-5 * noise(rng);
        break;  // a marker
      case 1:
        x = std::floor(2000 * std::sin(0.02 * i) + 3 * noise(rng));
        break;  // an ADC
      case 2:
        x = std::bit_cast<double>(bits(rng));
        break;  // any double at all
      case 3:
        x = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits(rng))));
        break;
      case 4:
        x = kNaN;
        break;
      case 5:
        x = bits(rng) % 3 == 0 ? kNaN : noise(rng) * scale;
        break;
      case 6:
        x = bits(rng) % 7 == 0 ? (bits(rng) % 2 == 0 ? kInf : -kInf) : noise(rng);
        break;
      case 7:
        x = std::numeric_limits<double>::denorm_min() * static_cast<double>(bits(rng) % 1000);
        break;
      case 8:
        x = bits(rng) % 2 == 0 ? 0.0 : -0.0;
        break;
      case 9:
        x = walk += noise(rng) * scale;
        break;
      case 10:
        x = 0.005e-3 * static_cast<double>(bits(rng) % 4001);
        break;  // exactly on the ties of 0.01 mm
      default:
        x = 42.0;
    }
  }
  return v;
}

TEST(Crc32c, KnownVectors) {
  // RFC 3720, appendix B.4.
  const Bytes zeros(32, 0), ones(32, 0xff);
  Bytes up(32), down(32);
  std::iota(up.begin(), up.end(), uint8_t{0});
  for (size_t i = 0; i < 32; ++i) down[i] = static_cast<uint8_t>(31 - i);
  const std::string digits = "123456789";
  const Bytes nine(digits.begin(), digits.end());
  for (const auto& crc : {&Crc32c, &Crc32cPortable}) {
    EXPECT_EQ(crc(zeros, 0), 0x8A9136AAu);
    EXPECT_EQ(crc(ones, 0), 0x62A8AB43u);
    EXPECT_EQ(crc(up, 0), 0x46DD794Eu);
    EXPECT_EQ(crc(down, 0), 0x113FDB5Cu);
    EXPECT_EQ(crc(nine, 0), 0xE3069283u);
    EXPECT_EQ(crc({}, 0), 0u);
  }
}

TEST(Crc32c, HardwareAndTablesAgreeAtEveryLengthAndSplit) {
  std::mt19937_64 rng(1);
  Bytes data(300);
  for (uint8_t& b : data) b = static_cast<uint8_t>(rng());
  for (size_t n = 0; n <= data.size(); ++n) {
    const std::span<const uint8_t> all(data.data(), n);
    ASSERT_EQ(Crc32c(all), Crc32cPortable(all)) << n;
    ASSERT_EQ(Crc32c(all.subspan(n / 3), Crc32c(all.first(n / 3))), Crc32c(all)) << n;
  }
}

TEST(Codec, LosslessKeepsEveryBitOfRandomColumns) {
  std::mt19937_64 rng(2);
  for (const int count : {1, 2, 3, 4, 5, 6, 49, 50, 1000, 65'537}) {
    for (int trial = 0; trial < (count > 10'000 ? 3 : 60); ++trial) {
      const int columns = 1 + static_cast<int>(rng() % 5);
      std::vector<double> values, quanta;
      for (int c = 0; c < columns; ++c) {
        const std::vector<double> column = Column(rng, count);
        values.insert(values.end(), column.begin(), column.end());
        quanta.push_back(rng() % 2 == 0 ? 0.0 : 1e-5);
      }
      ExpectSameBits(values, RoundTrip(values, columns, quanta, true));
    }
  }
}

TEST(Codec, QuantisedStaysWithinHalfAQuantumAndIsIdempotent) {
  std::mt19937_64 rng(3);
  for (const int count : {1, 2, 4, 5, 50, 1000, 65'537}) {
    for (int trial = 0; trial < (count > 10'000 ? 3 : 60); ++trial) {
      const double quantum = trial % 3 == 0 ? 1e-5 : trial % 3 == 1 ? 1.0 : 2.5e-3;
      const std::vector<double> values = Column(rng, count);
      const std::vector<double> once = RoundTrip(values, 1, {quantum}, false);
      ExpectWithinHalfQuantum(values, once, quantum);
      ExpectSameBits(once, RoundTrip(once, 1, {quantum}, false));
    }
  }
}

TEST(Codec, QuantumZeroMeansExact) {
  std::mt19937_64 rng(4);
  for (int trial = 0; trial < 60; ++trial) {
    const std::vector<double> values = Column(rng, 200);
    ExpectSameBits(values, RoundTrip(values, 1, {0.0}, false));
  }
}

TEST(Codec, IntegerTimesScaleAsFloatIsKeptAsCounts) {
  // What a C3D file of integers holds: int16 times a float scale, computed in float.
  const float scale = 0.0123f;
  std::vector<double> values, noise;
  std::mt19937_64 rng(5);
  for (int i = 0; i < 1000; ++i) {
    const auto count = static_cast<int>(rng() % 4001) - 2000;
    values.push_back(static_cast<double>(static_cast<float>(count) * scale));
  }
  ExpectSameBits(values, RoundTrip(values, 1, {static_cast<double>(scale)}, true));
  FrameEncoder encoder;
  Bytes on_grid, off_grid;
  const double quantum = scale, none = 0.0;
  encoder.EncodeValues(values.data(), values.size(), 1000, {&quantum, 1}, true, on_grid);
  encoder.EncodeValues(values.data(), values.size(), 1000, {&none, 1}, true, off_grid);
  EXPECT_LT(on_grid.size(), off_grid.size() * 2 / 3) << "the grid was not recognised";
}

// A file's millimetres as floats, in metres: four bytes a value, not eight, and every bit.
TEST(Codec, FloatsTimesAThousandthAreKeptAsFloats) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) {
    const auto mm = static_cast<float>(700 * std::sin(0.01 * i) + noise(random));
    values.push_back(i % 50 == 7 ? kNaN : static_cast<double>(mm) * 1e-3);
  }
  values[3] = -0.0;
  values[4] = static_cast<double>(1e-41f) * 1e-3;  // a denormal float
  ExpectSameBits(RoundTrip(values, 1, {0.0}, true), values);
  FrameEncoder encoder;
  Bytes frame;
  encoder.EncodeValues(values.data(), values.size(), 1000, std::vector<double>{0.0}, true, frame);
  EXPECT_LT(frame.size(), 3500u);
  values[500] = std::nextafter(values[500], 1.0);  // one that is none: all as doubles
  ExpectSameBits(RoundTrip(values, 1, {0.0}, true), values);
}

TEST(Codec, WindowsAndChannelSubsetsEqualTheWhole) {
  std::mt19937_64 rng(6);
  const int count = 500, columns = 6;
  std::vector<double> values;
  for (int c = 0; c < columns; ++c) {
    std::vector<double> column = Column(rng, count);
    for (int i = 40 * c; i < 40 * c + 25; ++i) column[static_cast<size_t>(i)] = kNaN;
    values.insert(values.end(), column.begin(), column.end());
  }
  const std::vector<double> quanta(columns, 1e-5);
  FrameEncoder encoder;
  FrameDecoder decoder;
  Bytes frame;
  encoder.EncodeValues(values.data(), count, count, quanta, true, frame);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<int> wanted;
    for (int c = 0; c < columns; ++c) {
      if (rng() % 2 == 0) wanted.push_back(c);
    }
    const int begin = static_cast<int>(rng() % count),
              end = begin + static_cast<int>(rng() % static_cast<uint64_t>(count - begin + 1));
    const auto stride = static_cast<size_t>(end - begin);
    std::vector<double> out(wanted.size() * stride, -77.0), expected;
    ASSERT_TRUE(decoder.DecodeValues(frame, quanta, count, wanted, begin, end, out.data(), stride));
    for (const int c : wanted)
      expected.insert(expected.end(), values.begin() + c * count + begin,
                      values.begin() + c * count + end);
    ExpectSameBits(expected, out);
  }
}

TEST(Codec, IntegersSurviveExactly) {
  std::mt19937_64 rng(7);
  FrameEncoder encoder;
  FrameDecoder decoder;
  for (int trial = 0; trial < 200; ++trial) {
    const int count = 1 + static_cast<int>(rng() % 300), columns = 1 + static_cast<int>(rng() % 3);
    std::vector<int64_t> values(static_cast<size_t>(count * columns));
    int64_t walk = static_cast<int64_t>(rng());
    for (int64_t& v : values)
      v = trial % 3 == 0 ? static_cast<int64_t>(rng()) : walk += static_cast<int64_t>(rng() % 5);
    values[0] =
        trial % 2 == 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    Bytes frame;
    encoder.EncodeIntegers(values.data(), static_cast<size_t>(count), count, columns, frame);
    std::vector<int64_t> back(values.size());
    ASSERT_TRUE(
        decoder.DecodeIntegers(frame, columns, count, back.data(), static_cast<size_t>(count)));
    EXPECT_EQ(values, back);
  }
}

TEST(Codec, BytesSurviveAndTheLimitHolds) {
  FrameEncoder encoder;
  FrameDecoder decoder;
  const std::string text(5000, 'x');
  Bytes frame;
  encoder.EncodeBytes(Bytes(text.begin(), text.end()), frame);
  EXPECT_LT(frame.size(), 100u);
  const Result<Bytes> back = decoder.DecodeBytes(frame, 5000);
  ASSERT_TRUE(back);
  EXPECT_EQ(std::string(back->begin(), back->end()), text);
  EXPECT_EQ(decoder.DecodeBytes(frame, 4999).error().code, ErrorCode::kCorrupt);
}

TEST(Codec, MarkerNoiseCostsNearItsEntropy) {
  // 0.05 mm white noise on 0.01 mm steps carries 4.37 bit a value: stored within 1.3 bit of that,
  // of 32 in raw float.
  std::mt19937_64 rng(8);
  std::normal_distribution<double> noise(0.0, 5e-5);
  std::vector<double> values;
  for (int c = 0; c < 4; ++c) {
    for (int i = 0; i < 1000; ++i) values.push_back(0.2 * std::sin(0.004 * i + c) + noise(rng));
  }
  const std::vector<double> quanta(4, 1e-5);
  FrameEncoder encoder;
  Bytes frame;
  encoder.EncodeValues(values.data(), 1000, 1000, quanta, false, frame);
  EXPECT_LT(8.0 * static_cast<double>(frame.size()) / 4000.0, 5.7);
}

TEST(Codec, HostileFramesAreRefusedOrDecodedNeverMore) {
  // Mutations of good frames and plain rubbish; the sanitizers are the judges. tests/fuzz goes on
  // from here.
  std::mt19937_64 rng(9);
  FrameEncoder encoder;
  FrameDecoder decoder;
  int refused = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const int count = 1 + static_cast<int>(rng() % 100), columns = 1 + static_cast<int>(rng() % 4);
    std::vector<double> values;
    for (int c = 0; c < columns; ++c) {
      const std::vector<double> column = Column(rng, count);
      values.insert(values.end(), column.begin(), column.end());
    }
    const std::vector<double> quanta(static_cast<size_t>(columns), 1e-5);
    Bytes frame;
    encoder.EncodeValues(values.data(), static_cast<size_t>(count), count, quanta, trial % 2 == 0,
                         frame);
    switch (trial % 4) {
      case 0:
        for (int k = 0; k < 3; ++k)
          frame[rng() % frame.size()] ^= static_cast<uint8_t>(1 + rng() % 255);
        break;
      case 1:
        frame.resize(rng() % frame.size());
        break;
      case 2:
        frame.insert(frame.end(), rng() % 9 + 1, static_cast<uint8_t>(rng()));
        break;
      default:
        for (uint8_t& b : frame) b = static_cast<uint8_t>(rng());
        frame[0] = static_cast<uint8_t>(rng() % 3);
    }
    std::vector<int> wanted(static_cast<size_t>(columns));
    std::iota(wanted.begin(), wanted.end(), 0);
    std::vector<double> out(values.size());
    std::vector<int64_t> whole(values.size());
    if (!decoder.DecodeValues(frame, quanta, count, wanted, 0, count, out.data(),
                              static_cast<size_t>(count)))
      ++refused;
    (void)decoder.DecodeIntegers(frame, columns, count, whole.data(), static_cast<size_t>(count))
        .has_value();
    (void)decoder.DecodeBytes(frame, 1 << 16).has_value();
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace handhold::store::codec_test
