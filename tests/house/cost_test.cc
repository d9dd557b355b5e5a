// No object of the product takes so long to compile that it holds up everybody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace handhold::house::cost_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kMost_s = 20.0;  // processor seconds

/// What tools/cmake/launch wrote, "SECONDS OBJECT" a line; the last word on an object counts.
std::vector<std::string> TooCostly(std::istream& log) {
  std::map<std::string, double> last;
  double seconds = 0;
  for (std::string object; log >> seconds >> object;) last[object] = seconds;
  std::vector<std::string> found;
  for (const auto& [object, cost] : last) {
    if (cost <= kMost_s || object.starts_with("tests/")) continue;
    std::ostringstream line;
    line << object << ": " << cost << " s";
    found.push_back(line.str());
  }
  return found;
}

// An object that the compiler cache answered costs nothing and says nothing: a first build tells.
TEST(Cost, NoObjectOfTheProductTakesMoreThanTwentySeconds) {
  std::ifstream log(HANDHOLD_COST_LOG);
  EXPECT_THAT(TooCostly(log), IsEmpty()) << "smaller batches or sources: handhold_module";
}

TEST(CostCanary, ACostlyObjectIsNamedAndItsMendedFormIsNot) {
  std::istringstream log(
      "31 fitting/skeleton/a.o\n24 synthesis/b.o\n90 tests/c.o\n7 fitting/skeleton/a.o\n");
  EXPECT_THAT(TooCostly(log), ElementsAre("synthesis/b.o: 24 s"));
}

// Every unit test of preset release runs under such a bound (house_test; tests/support/test_main.cc).
TEST(CostCanary, ATestThatTakesTooLongFails) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string run = self + " --gtest_filter=CostCanary.ACostly*";
  EXPECT_EQ(support::RunCommand("HANDHOLD_MOST_PROCESSOR_S=0.00001 " + run).exit_code, 1);
  EXPECT_EQ(support::RunCommand("HANDHOLD_MOST_PROCESSOR_S=20 " + run).exit_code, 0);
}

// A crash leaves the name of the test that crashed: what ran last in the file that ctest names.
TEST(CostCanary, DISABLED_Crashes) { std::abort(); }
TEST(CostCanary, ACrashNamesItsTest) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto crashed = support::RunCommand(
      self + " --gtest_also_run_disabled_tests --gtest_filter=CostCanary.DISABLED_Crashes");
  EXPECT_NE(crashed.exit_code, 0);
  EXPECT_THAT(crashed.output, ::testing::HasSubstr("RUN      ] CostCanary.DISABLED_Crashes"));
}

}  // namespace
}  // namespace handhold::house::cost_test
