#include "database/base/shell.h"

#include <gtest/gtest.h>

namespace handhold::shell_test {
namespace {

TEST(ShellWord, IsItselfWhereNothingInItMeansAnything) {
  EXPECT_EQ(ShellWord("stroke_007"), "stroke_007");
  EXPECT_EQ(ShellWord("/data/lab-2/x.csv"), "/data/lab-2/x.csv");
}

TEST(ShellWord, IsQuotedWhereAShellWouldReadMore) {
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("my lab"), "'my lab'");
  EXPECT_EQ(ShellWord("$(rm *)"), "'$(rm *)'");
  EXPECT_EQ(ShellWord("Ana's lab"), "'Ana'\\''s lab'");
}

}  // namespace
}  // namespace handhold::shell_test
