#include "database/base/utf8.h"

#include <gtest/gtest.h>

namespace handhold::utf8_test {
namespace {

TEST(Utf8, EveryCodePointRoundTrips) {
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    AppendUtf8(code, text);
    ASSERT_EQ(Utf8Length(text, 0), text.size()) << code;
    ASSERT_EQ(text.size(), code < 0x80 ? 1u : code < 0x800 ? 2u : code < 0x10000 ? 3u : 4u);
  }
}

// The counts follow from the definition: 2^7, 1920, 61440 (less 2048 surrogates) and 2^20 code
// points.
TEST(Utf8, AcceptsExactlyTheWellFormedSequences) {
  size_t one = 0, two = 0, three = 0;
  for (int a = 0; a < 256; ++a) {
    if (Utf8Length(std::string{static_cast<char>(a)}, 0) == 1) ++one;
    for (int b = 0; b < 256; ++b) {
      const std::string pair = {static_cast<char>(a), static_cast<char>(b)};
      if (Utf8Length(pair, 0) == 2) ++two;
      if (a < 0xE0 || a > 0xEF) continue;
      for (int c = 0; c < 256; ++c) {
        if (Utf8Length(pair + static_cast<char>(c), 0) == 3) ++three;
      }
    }
  }
  EXPECT_EQ(one, 128u);
  EXPECT_EQ(two, 1920u);
  EXPECT_EQ(three, 63488u - 2048u);
}

TEST(Utf8, RefusesTruncatedOverlongSurrogateAndTooLarge) {
  for (const char* bad :
       {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80",
        "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80", "\xFF"}) {
    EXPECT_EQ(Utf8Length(bad, 0), 0u);
  }
  std::string out;
  EXPECT_DEATH(AppendUtf8(0xD800, out), "CHECK failed");
  EXPECT_DEATH(AppendUtf8(0x110000, out), "CHECK failed");
}

TEST(Utf8, PrintableHasNoControls) {
  EXPECT_EQ(Printable("a\x1b[2Jb\xC2\x9B\xFF\n\x7F \xC3\xBC"),
            "a\\x1b[2Jb\\xc2\\xff\\x0a\\x7f \xC3\xBC");
}

}  // namespace
}  // namespace handhold::utf8_test
