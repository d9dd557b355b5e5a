// The front end's types hold (TypeScript's own check), its modules are small, and the check bites.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::viewer::types_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kSource = fs::path(support::SourceDir()) / "tools/viewer";

support::CommandResult Check(const fs::path& source, const std::string& stage) {
  const std::string folder = ::testing::TempDir() + "/viewer_stage_" + stage;
  return support::RunCommand(support::Node() + " " + (kSource / "build.mjs").string() + " " +
                             source.string() + " " + support::NodeModules() + " " + folder + " " +
                             folder + ".stamp --check");
}

TEST(TypesTest, Hold) {
  const auto checked = Check(kSource, "source");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

TEST(TypesTest, APlantedMistakeIsFound) {
  const fs::path copy = fs::path(::testing::TempDir()) / "viewer_types_copy";
  fs::remove_all(copy);
  fs::create_directories(copy);
  for (const char* name : {"src", "index.html", "tsconfig.json", "package.json"})
    fs::copy(kSource / name, copy / name, fs::copy_options::recursive);
  std::ofstream(copy / "src/planted.ts") << "export const n: number = \"no number\";\n";
  const auto checked = Check(copy, "copy");
  EXPECT_NE(checked.exit_code, 0);
  EXPECT_THAT(checked.output, HasSubstr("planted.ts"));
}

TEST(ModulesTest, StaySmall) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kSource / "src")) {
    std::ifstream in(entry.path());
    int lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    EXPECT_LT(lines, 500) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 15);
}

TEST(LockfileTest, HoldsHashesAndNoAddresses) {
  std::ifstream in(kSource / "package-lock.json");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(text, HasSubstr("\"integrity\": \"sha512-"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\"resolved\"")));
}

}  // namespace
}  // namespace handhold::viewer::types_test
