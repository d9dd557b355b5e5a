#include "tools/report/html.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/tools/report/well_formed.h"

namespace handhold::report::html_test {
namespace {

TEST(HtmlTest, TextCannotBecomeMarkup) {
  Html html;
  html.Open("p", {{"title", "\"><script>alert(1)</script>"}})
      .Text("a < b & c > 'd' <img onerror=x>")
      .Close("p");
  const std::string page = html.Take();
  EXPECT_EQ(page.find("<script"), page.npos);
  EXPECT_EQ(page.find("<img"), page.npos);
  const testing::Reading reading = testing::Read(page);
  EXPECT_EQ(reading.error, "");
  EXPECT_NE(reading.text.find("a < b & c > 'd' <img onerror=x>"), std::string::npos);
}

TEST(HtmlTest, BrokenBytesBecomeTheReplacementCharacter) {
  EXPECT_EQ(Escape("a\xFF"
                   "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(Escape(std::string_view("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(Escape("\xC3\xA9 \xE2\x82\xAC"), "\xC3\xA9 \xE2\x82\xAC");
  EXPECT_EQ(Escape("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(HtmlDeathTest, WrongNestingIsOurBug) {
  Html html;
  html.Open("p").Open("b");
  EXPECT_DEATH(html.Close("p"), "open_.back");
  EXPECT_DEATH(html.Take(), "open_.empty");
}

TEST(HtmlTest, NumbersReadAsWritten) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Fixed(1.005, 1), "1.0");
  EXPECT_EQ(Fixed(-0.001, 2), "0.00");
  EXPECT_EQ(Fixed(-1.25, 1),
            "\xE2\x88\x92"
            "1.2");
  EXPECT_EQ(Fixed(nan, 2), "\xE2\x80\x93");
  EXPECT_EQ(Fixed(INFINITY, 2), "\xE2\x80\x93");
  EXPECT_EQ(Significant(0.34882, 3), "0.349");
  EXPECT_EQ(Significant(0.09996, 3), "0.100");
  EXPECT_EQ(Significant(99.96, 3), "100");
  EXPECT_EQ(Significant(1234.5, 3), "1234");
  EXPECT_EQ(Significant(0, 3), "0");
  EXPECT_EQ(Significant(1.5e-7, 2), "1.5·10⁻⁷");
  EXPECT_EQ(Plain(500), "500");
  EXPECT_EQ(Plain(0.5), "0.5");
  EXPECT_EQ(Grouped(9999), "9999");
  EXPECT_EQ(Grouped(1234567),
            "1\xE2\x80\xAF"
            "234\xE2\x80\xAF"
            "567");
}

// The reader the other tests rely on must itself notice.
TEST(WellFormedCanary, NoticesWhatIsWrong) {
  for (const char* wrong : {"<p><b></p></b>", "<p>", "<p>a & b</p>", "<p class=x></p>",
                            "<p onclick=\"x\"></p>", "<p>a > b</p>"}) {
    EXPECT_NE(testing::Read(wrong).error, "") << wrong;
  }
  EXPECT_EQ(testing::Read("<!DOCTYPE html>\n<p a=\"1\">x<br/>&amp;</p>").error, "");
  EXPECT_EQ(testing::Read("<svg role=\"img\"></svg>").unnamed.size(), 1u);
}

}  // namespace
}  // namespace handhold::report::html_test
