// The commands that the front page shows, run as a newcomer types them: nothing but the built
// program and README.md. Each must end well and leave what the page promises.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/database/exchange/c3d_bytes.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"
#include "tests/support/roof_mesh.h"

namespace handhold::readme_commands_test {
namespace {

using ::testing::HasSubstr;

/// Indented lines are what is to be typed; what follows a '#' is for the reader.
std::vector<std::string> CommandsOf(const std::string& page) {
  std::vector<std::string> commands;
  std::istringstream lines(page);
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with("    ")) continue;
    std::string command = line.substr(4, line.find("  #") - 4);
    command.erase(command.find_last_not_of(' ') + 1);
    if (!command.empty()) commands.push_back(command);
  }
  return commands;
}

TEST(ReadmeCommands, WorkAsTyped) {
  std::ifstream in(support::SourceDir() + "/README.md");
  std::stringstream page;
  page << in.rdbuf();
  const std::filesystem::path folder = ::testing::TempDir() + "/readme_commands";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  testing::WriteRoof(folder / "anything.stl");  // the newcomer's own
  {
    const std::vector<uint8_t> trial = testing::C3dBytes().Build();
    std::ofstream(folder / "trial.c3d", std::ios::binary)
        .write(reinterpret_cast<const char*>(trial.data()),
               static_cast<std::streamsize>(trial.size()));
  }
  const std::string path =
      std::filesystem::path(support::Binary()).parent_path().string() + ":$PATH";
  // What a fresh clone runs anyway: .ci/run is tools/test, which begins with tools/setup; the demo
  // has a test of its own (tests/tools/report/demo_test.cc).
  const std::set<std::string> elsewhere = {"tools/setup", "tools/demo", "tools/demo --regrasp",
                                           "tools/test"};
  std::set<std::string> shown;
  int ran = 0;
  std::string artefact;  // the newest that a command printed: what a reader types for ARTEFACT
  for (std::string command : CommandsOf(page.str())) {
    shown.insert(command);
    if (elsewhere.contains(command)) continue;
    ASSERT_TRUE(command.starts_with("handhold ")) << "nobody runs this: " << command;
    if (const size_t at = command.find(" ARTEFACT"); at != std::string::npos)
      command.replace(at + 1, 8, artefact);
    const auto result =
        support::RunCommand("cd '" + folder.string() + "' && PATH=" + path + " " + command);
    std::printf("$ %s\n%s\n", command.c_str(), result.output.c_str());
    // 3: done, and something was lost on the way, which a busy machine may do to a recording and
    // CSV does to what only C3D has.
    const bool exported = command.starts_with("handhold clip export");
    const bool lost =
        result.exit_code == 3 && (exported || command.starts_with("handhold live record"));
    ASSERT_TRUE(result.exit_code == 0 || lost) << command << ": " << result.exit_code;
    ++ran;
    std::smatch found;
    if (std::regex_search(result.output, found, std::regex("artefact +([0-9a-f]{64})")))
      artefact = found[1];
    if (command.starts_with("handhold query")) {
      EXPECT_THAT(result.output, HasSubstr("stroke_001")) << "no hard contact was found";
    }
    if (command.starts_with("handhold clip list")) {
      EXPECT_THAT(result.output, HasSubstr("trial")) << "not imported, or not tagged";
    }
    if (exported) {
      EXPECT_THAT(result.output, HasSubstr("document 'c3d/parameters.json'"));
    }
    if (command.ends_with("--on table")) {
      EXPECT_THAT(result.output, HasSubstr("held"));
    } else if (command.find(" --scene two_hands_on_beam") != std::string::npos) {
      EXPECT_THAT(result.output, ::testing::ContainsRegex("verdict +held"));
    } else if (command.find(" --scene ") != std::string::npos) {
      EXPECT_THAT(result.output, ::testing::ContainsRegex("bulb +light_bulb +0.0000 +2[67][0-9]"));
    } else if (command.starts_with("handhold synth interaction")) {
      EXPECT_THAT(result.output, HasSubstr("contact_share"));
      EXPECT_THAT(result.output, ::testing::Not(HasSubstr("contact_share         0.000")));
    }
  }
  EXPECT_GE(ran, 15);
  for (const char* verb : {"handhold library create", "handhold clip import", "handhold clip tag",
                           "handhold clip list", "handhold clip export"}) {
    EXPECT_TRUE(std::ranges::any_of(
        shown, [&](const std::string& command) { return command.starts_with(verb); }))
        << verb << " is not on the page";
  }
  EXPECT_GT(std::filesystem::file_size(folder / "trial.csv"), 1000u);
  for (const std::string& command : elsewhere) EXPECT_TRUE(shown.contains(command)) << command;
  EXPECT_GT(std::filesystem::file_size(folder / "report.html"), 100'000u);
}

}  // namespace
}  // namespace handhold::readme_commands_test
