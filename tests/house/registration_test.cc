// The guard that every *_test.cc is registered bites: a project with a forgotten one does not
// configure. (That this project configured at all shows that it keeps the rule.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/house/source_tree.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::house::registration_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// Configures a project of two test files, of which `registered` is told to CMake.
support::CommandResult Configure(const std::string& registered) {
  const fs::path home = fs::path(HANDHOLD_BINARY_DIR) / "registration_canary";
  fs::remove_all(home);
  fs::create_directories(home / "tests/database");
  std::ofstream(home / "tests/database/known_test.cc").put('\n');
  std::ofstream(home / "tests/database/forgotten_test.cc").put('\n');
  std::ofstream(home / "CMakeLists.txt")
      << "cmake_minimum_required(VERSION 3.25)\nproject(canary NONE)\n"
      << "include(\"" << support::SourceDir() << "/tools/cmake/registration.cmake\")\n"
      << "set_property(GLOBAL PROPERTY HANDHOLD_REGISTERED_TESTS \"" << registered << "\")\n"
      << "handhold_check_test_registration()\n";
  return support::RunCommand(std::string(HANDHOLD_CMAKE) + " -S " + home.string() + " -B " +
                             (home / "build").string());
}

TEST(RegistrationCanary, AForgottenTestStopsTheConfigure) {
  const auto result = Configure("database/known_test.cc");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("tests/database/forgotten_test.cc is not registered"));
  EXPECT_THAT(result.output, ::testing::Not(HasSubstr("known_test.cc is not")));
}

TEST(RegistrationCanary, NothingForgottenConfigures) {
  const auto result = Configure("database/known_test.cc;database/forgotten_test.cc");
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

// The guard is called, and last: after the folders have registered their tests.
TEST(Registration, IsCheckedByTheProject) {
  const std::string cmake = ReadText(support::SourceDir() + "/tests/CMakeLists.txt");
  const std::size_t check = cmake.find("\nhandhold_check_test_registration()");
  ASSERT_NE(check, std::string::npos);
  EXPECT_EQ(cmake.find("add_subdirectory", check), std::string::npos);
  int registered = 0;
  for (const auto& [path, file] : LoadTree(support::SourceDir()))
    registered += path.ends_with("_test.cc");
  EXPECT_GE(registered, 20);
}

}  // namespace
}  // namespace handhold::house::registration_test
