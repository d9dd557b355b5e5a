// clang-tidy, with the project's .clang-tidy, finds nothing in the sources that differ from main.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::tidy_test {
namespace {

using support::RunCommand;
using ::testing::HasSubstr;

TEST(Tidy, FindsNothingInWhatChanged) {
  const auto result = RunCommand(support::SourceDir() + "/tools/lint --fast --at-most 8");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  // Looked, or said that there was nothing to look at: a linter that fell over says neither.
  EXPECT_THAT(result.output, ::testing::AnyOf(HasSubstr(" files without findings"),
                                              HasSubstr("no sources to look at")));
}

// Libraries are compiled in batches, which would hide a missing include.
TEST(Alone, WhatChangedCompilesByItself) {
  const auto result = RunCommand(support::SourceDir() + "/tools/lint --alone --at-most 24");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, ::testing::AnyOf(HasSubstr(" files compile by themselves"),
                                              HasSubstr("no sources to look at")));
}

TEST(AloneCanary, AMissingIncludeIsFound) {
  const std::string lint = support::SourceDir() + "/tools/lint --alone ";
  const auto leaning = RunCommand(lint + "tests/house/canary/leaning_header.txt");
  EXPECT_EQ(leaning.exit_code, 1) << leaning.output;
  EXPECT_THAT(leaning.output, HasSubstr("leaning_header.txt does not compile by itself"));
  const auto standing = RunCommand(lint + "tests/house/canary/standing_header.txt");
  EXPECT_EQ(standing.exit_code, 0) << standing.output;
}

support::CommandResult TidyOf(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(::testing::TempDir()) / name;
  std::ofstream(path) << text;
  return RunCommand(support::Prefix() + "/oracles/python/bin/clang-tidy --quiet " +
                    "--config-file=" + support::SourceDir() + "/.clang-tidy " + path.string() +
                    " -- -std=c++20");
}

TEST(TidyCanary, PlantedMistakesAreFoundAndTheirHarmlessTwinsAreNot) {
  const auto planted = TidyOf("planted.cc",
                              "#include <string>\n#include <utility>\n"
                              "std::string Twice(std::string s) {\n"
                              "  std::string t = std::move(s);\n"
                              "  return t + s;\n"
                              "}\n"
                              "class wrong_name { int x = 0; public: int* p() { return 0; } };\n");
  EXPECT_NE(planted.exit_code, 0);
  EXPECT_THAT(planted.output, HasSubstr("planted.cc:5:14: error: 's' used after it was moved"));
  EXPECT_THAT(planted.output, HasSubstr("invalid case style for class 'wrong_name'"));
  EXPECT_THAT(planted.output, HasSubstr("use nullptr"));
  const auto harmless =
      TidyOf("harmless.cc",
             "#include <string>\n#include <utility>\n"
             "std::string Twice(std::string s) {\n"
             "  std::string t = s;\n"
             "  return t + std::move(s);\n"
             "}\n"
             "class RightName { int x_ = 0; public: int* p() { return nullptr; } };\n");
  EXPECT_EQ(harmless.exit_code, 0) << harmless.output;
}

TEST(TidyCanary, TheLinterIsThePinnedOne) {
  const auto result = RunCommand(support::Prefix() + "/oracles/python/bin/clang-tidy --version");
  EXPECT_THAT(result.output, HasSubstr("LLVM version 18.1.8"));
}

}  // namespace
}  // namespace handhold::tidy_test
