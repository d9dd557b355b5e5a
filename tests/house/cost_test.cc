// No object of the product takes so long to compile that it holds up everybody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/command.h"

namespace handhold::house::cost_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kMost_s = 20.0;  // processor seconds
// On a crowded machine a processor second does less: such lines say nothing.
constexpr double kMostLoadPerCore = 1.3;

/// What tools/cmake/launch wrote, "SECONDS LOAD OBJECT" a line; the last word on an object counts.
std::vector<std::string> TooCostly(std::istream& log, double cores) {
  std::map<std::string, double> last;
  double seconds = 0, load = 0;
  for (std::string object; log >> seconds >> load && std::getline(log >> std::ws, object);)
    if (load <= kMostLoadPerCore * cores) last[object] = seconds;
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
// To measure again on a quiet machine: tools/build-cost.
TEST(Cost, NoObjectOfTheProductTakesMoreThanTwentySeconds) {
  EXPECT_THAT(HANDHOLD_LAUNCHER, ::testing::HasSubstr("tools/cmake/launch")) << "nobody measures";
  std::ifstream log(HANDHOLD_COST_LOG);
  std::vector<std::string> found = TooCostly(log, std::thread::hardware_concurrency());
  const std::filesystem::path build = std::filesystem::path(HANDHOLD_COST_LOG).parent_path();
  std::erase_if(found, [&](const std::string& line) {  // objects of sources that have gone
    return !std::filesystem::exists(build / line.substr(0, line.rfind(": ")));
  });
  EXPECT_THAT(found, IsEmpty()) << "smaller batches or sources: handhold_module";
}

TEST(CostCanary, ACostlyObjectIsNamedAndItsMendedFormIsNot) {
  std::istringstream log(
      "31 2.0 fitting/a.o\n24 2.1 synthesis/b.o\n90 1 tests/c.o\n7 2 fitting/a.o\n40 9.5 "
      "fitting/d.o\n");
  EXPECT_THAT(TooCostly(log, 2), ElementsAre("synthesis/b.o: 24 s"));
}

// Every unit test of preset release runs under such a bound (house_test;
// tests/support/test_main.cc).
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
