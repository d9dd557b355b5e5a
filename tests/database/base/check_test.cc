#include "database/base/check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "database/base/result.h"

namespace handhold::check_test {
namespace {

TEST(Check, PassesInSilence) {
  int evaluated = 0;
  CHECK(++evaluated == 1);
  CHECK_EQ(++evaluated, 2);
  EXPECT_EQ(evaluated, 2) << "an operand was evaluated twice";
}

TEST(Check, AbortsWithFileExpressionAndValues) {
  const int samples = 3, expected = 5;
  EXPECT_DEATH(CHECK(samples > expected), "check_test.cc:[0-9]+: CHECK failed: samples > expected");
  EXPECT_DEATH(CHECK_EQ(samples, expected), "CHECK failed: samples == expected \\(3 against 5\\)");
  EXPECT_DEATH(CHECK_NE(samples, 3), "samples != 3 \\(3 against 3\\)");
  EXPECT_DEATH(CHECK_LT(expected, samples), "expected < samples \\(5 against 3\\)");
  EXPECT_DEATH(CHECK_GE(0.1 + 0.2, 0.4), "0.30000000000000004 against 0.40000000000000002");
}

// Result::value() of a temporary is a reference into it.
TEST(Check, KeepsTemporariesAliveForTheComparison) {
  const auto made = []() -> Result<std::string> { return std::string(100, 'x'); };
  CHECK_EQ(made().value(), std::string(100, 'x'));
  EXPECT_DEATH(CHECK_EQ(made().value(), "y"), "xxxx against y");
}

TEST(Check, NanFailsEveryComparison) {
  EXPECT_DEATH(CHECK_LE(std::nan(""), 1.0), "nan against 1");
  EXPECT_DEATH(CHECK_GT(std::nan(""), 1.0), "nan against 1");
}

// An if/else around the macro must bind as if it were one statement.
TEST(Check, IsOneStatement) {
  bool other = false;
  if (false)
    CHECK_EQ(1, 2);
  else
    other = true;
  EXPECT_TRUE(other);
}

}  // namespace
}  // namespace handhold::check_test
