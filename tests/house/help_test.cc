// Every script of tools/ tells what it does when asked, and that is no failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::help_test {
namespace {

using support::RunCommand;

TEST(Help, EveryScriptOfToolsTellsWhatItDoes) {
  int scripts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(support::SourceDir() + "/tools")) {
    if (!entry.is_regular_file()) continue;
    std::string first;
    std::getline(std::ifstream(entry.path()) >> std::ws, first);
    if (!first.starts_with("#!")) continue;
    ++scripts;
    const std::string name = "tools/" + entry.path().filename().string();
    for (const char* option : {"--help", "-h"}) {
      const auto told = RunCommand(entry.path().string() + " " + option + " 2>/dev/null");
      EXPECT_EQ(told.exit_code, 0) << name << " " << option;
      EXPECT_THAT(told.output, ::testing::HasSubstr("  " + name)) << name << " " << option;
    }
    // What it does not know is a mistake, told where mistakes are told.
    EXPECT_EQ(RunCommand(entry.path().string() + " --no-such-option >/dev/null").exit_code, 2);
    EXPECT_EQ(RunCommand(entry.path().string() + " --no-such-option 2>/dev/null").output, "")
        << name;
  }
  EXPECT_GE(scripts, 7);
}

}  // namespace
}  // namespace handhold::help_test
