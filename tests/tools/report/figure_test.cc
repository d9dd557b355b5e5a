#include "tools/report/figure.h"

#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/report/well_formed.h"
#include "tools/report/html.h"

namespace handhold::report::figure_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TicksTest, AreRoundAndInside) {
  EXPECT_THAT(Ticks(0, 1, 5), ElementsAre(0, 0.2, ::testing::DoubleNear(0.4, 1e-12),
                                          ::testing::DoubleNear(0.6, 1e-12), 0.8, 1));
  EXPECT_THAT(Ticks(-83, 142, 5), ElementsAre(-50, 0, 50, 100));
  EXPECT_EQ(Ticks(3, 3, 5).size(), 1u);
  EXPECT_EQ(Ticks(0, NAN, 5).size(), 1u);
  EXPECT_LE(Ticks(-1e12, 1e12, 5).size(), 12u);
}

std::string Drawn(const Panel& panel) {
  Html html;
  WriteFigure({"figure-x", "Title", "Caption", "In words", {panel}}, 3, &html);
  return html.Take();
}

TEST(FigureTest, SaysUnitsLegendAndWords) {
  const std::string svg =
      Drawn({"Panel <1>",
             "time, ms",
             "force, N",
             {{"measured & kept", Role::kMeasured, {0, 1, 2}, {0, 1, 4}, false}},
             {{0.5, 1.5, "contact"}},
             true});
  const testing::Reading reading = testing::Read(svg);
  EXPECT_EQ(reading.error, "");
  EXPECT_TRUE(reading.unnamed.empty());
  for (const char* part : {"Panel <1>", "time, ms", "force, N", "measured & kept", "contact",
                           "Figure 3. Title.", "Caption", "In words"}) {
    EXPECT_THAT(reading.text, HasSubstr(part));
  }
}

// "−69.5" beside a turned "height, mm": the number begins right of the label's letters.
TEST(FigureTest, NumbersKeepClearOfTheAxisLabel) {
  for (const double from : {-69.5, -0.4, 0.0, -1234.5}) {
    const std::string svg = Drawn({"p",
                                   "x",
                                   "height, mm",
                                   {{"a", Role::kReplay, {0, 1}, {from, from + 3.4}, false}},
                                   {},
                                   false});
    size_t numbers = 0;
    for (size_t at = svg.find("class=\"tick-y\" x=\""); at != std::string::npos;
         at = svg.find("class=\"tick-y\" x=\"", at + 1)) {
      const size_t number = svg.find('"', at + 14) + 1, end = svg.find('>', number);
      const double right = std::stod(svg.substr(number));
      double letters = 0;
      for (size_t i = end + 1; svg[i] != '<'; ++i)
        letters += (static_cast<unsigned char>(svg[i]) & 0xC0) != 0x80;
      EXPECT_GT(right - 6.7 * letters, 17.0) << svg.substr(at, 60);
      ++numbers;
    }
    EXPECT_GE(numbers, 3u);
  }
}

TEST(FigureTest, NaNBreaksACurveAndNothingElse) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = Drawn({"p",
                                 "x",
                                 "y",
                                 {{"a", Role::kReplay, {0, 1, 2, 3, 4}, {0, 1, nan, 1, 0}, false}},
                                 {},
                                 false});
  const size_t path = svg.find("d=\"M");
  ASSERT_NE(path, svg.npos);
  const std::string d = svg.substr(path, svg.find('"', path + 3) - path);
  EXPECT_EQ(std::count(d.begin(), d.end(), 'M'), 2);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  const std::string none =
      Drawn({"p", "x", "y", {{"a", Role::kReplay, {nan}, {nan}, false}}, {}, true});
  EXPECT_EQ(testing::Read(none).error, "");
  EXPECT_THAT(none, Not(HasSubstr("nan")));
}

TEST(FigureTest, APeakOfOneSampleSurvivesThinning) {
  Curve curve{"a", Role::kMeasured, {}, {}, false};
  for (int i = 0; i < 100000; ++i)
    curve.x.push_back(i), curve.y.push_back(i == 54321 ? 100.0 : 0.0);
  const std::string svg = Drawn({"p", "x", "y", {curve}, {}, false});
  EXPECT_LT(svg.size(), 40000u);
  // The top of the panel's data range is 6 % below its frame: y = 26 + 0.06 / 1.12 * 166 = 34.9.
  EXPECT_THAT(svg, HasSubstr(" 34.9"));
}

// What a PNG says, read back with zlib and the filters' definition.
std::vector<uint8_t> Decode(const std::string& png, int width, int height) {
  const size_t idat = png.find("IDAT");
  uint32_t length = 0;
  for (size_t i = 0; i < 4; ++i)
    length = length << 8 | static_cast<unsigned char>(png[idat - 4 + i]);
  const size_t stride = 4 * static_cast<size_t>(width);
  std::vector<uint8_t> rows((stride + 1) * static_cast<size_t>(height)), out;
  uLongf size = rows.size();
  EXPECT_EQ(
      uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(png.data() + idat + 4), length),
      Z_OK);
  EXPECT_EQ(size, rows.size());
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    EXPECT_EQ(rows[y * (stride + 1)], 4);
    for (size_t x = 0; x < stride; ++x) {
      const int a = x >= 4 ? out[y * stride + x - 4] : 0, b = y > 0 ? out[(y - 1) * stride + x] : 0;
      const int c = x >= 4 && y > 0 ? out[(y - 1) * stride + x - 4] : 0, p = a + b - c;
      const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
      const int predicted = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      out.push_back(static_cast<uint8_t>(rows[y * (stride + 1) + 1 + x] + predicted));
    }
  }
  return out;
}

TEST(PngTest, TheSamePixelsComeBack) {
  Image image{17, 5, {}};
  std::mt19937 random(3);
  for (int i = 0; i < 17 * 5 * 4; ++i) image.rgba.push_back(static_cast<uint8_t>(random()));
  const std::string png = EncodePng(image);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(Decode(png, 17, 5), image.rgba);
}

TEST(PngTest, Base64OfTheRfc) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xFF\xFE\xFD"), "//79");
}

}  // namespace
}  // namespace handhold::report::figure_test
