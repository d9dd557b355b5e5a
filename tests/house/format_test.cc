// Every C++ file is formatted by the pinned clang-format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::format_test {
namespace {

using support::RunCommand;
using ::testing::HasSubstr;

const std::string kFormat = support::SourceDir() + "/tools/format";

TEST(Format, IsTheProjects) {
  const auto result = RunCommand(kFormat + " --all --check");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const std::size_t end = result.output.find(" files are formatted");
  ASSERT_NE(end, std::string::npos) << result.output;
  const std::size_t begin = result.output.rfind(' ', end - 1) + 1;
  EXPECT_GE(std::stoi(result.output.substr(begin, end - begin)), 100);
}

TEST(FormatCanary, AnUnformattedFileIsFound) {
  const auto result = RunCommand(kFormat + " --check tests/house/canary/unformatted.txt");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("unformatted.txt:3:"));
  EXPECT_THAT(result.output, HasSubstr("-Wclang-format-violations"));
}

TEST(FormatCanary, TheFormatterIsThePinnedOne) {
  const auto result = RunCommand(support::Prefix() + "/oracles/python/bin/clang-format --version");
  EXPECT_THAT(result.output, HasSubstr("clang-format version 18.1.8"));
}

}  // namespace
}  // namespace handhold::format_test
