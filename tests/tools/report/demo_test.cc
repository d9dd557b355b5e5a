// tools/demo, shortened: a subject goes the whole way from simulated devices to the
// page.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/command.h"
#include "tests/support/paths.h"
#include "tests/tools/report/well_formed.h"

namespace handhold::report::demo_test {
namespace {

using ::testing::HasSubstr;

TEST(DemoTest, RegraspEndsWithAPageAndAFileForBlender) {
  const std::string out = ::testing::TempDir() + "/demo_regrasp_test";
  std::filesystem::remove_all(out);
  const auto run = support::RunCommand(support::SourceDir() + "/tools/demo --regrasp --program " +
                                       support::Binary() + " --to " + out);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("passed"));
  EXPECT_GT(std::filesystem::file_size(out + "/grasps.html"), 100'000u);
  EXPECT_GT(std::filesystem::file_size(out + "/grasp.glb"), 100'000u);
}

TEST(DemoTest, EndsWithThePageAndTheLibrary) {
  const std::string out = ::testing::TempDir() + "/demo_test";
  std::filesystem::remove_all(out);
  const auto run = support::RunCommand(support::SourceDir() + "/tools/demo --quick --program " +
                                       support::Binary() + " --to " + out);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  for (const char* said : {"report.html", "study.html", "library", "criteria 4 to 9", "Try next:"})
    EXPECT_THAT(run.output, HasSubstr(said));

  std::ifstream in(out + "/study.html");
  std::stringstream page;
  page << in.rdbuf();
  const testing::Reading reading = testing::Read(page.str());
  ASSERT_EQ(reading.error, "");
  for (const char* id : {"stroke", "take", "motion", "compliance", "replay", "criteria"})
    EXPECT_EQ(reading.ids.count(id), 1u) << id;
  EXPECT_GE(reading.tags.at("image"), 4) << "the stroke's pictures";
  EXPECT_THAT(reading.text, HasSubstr("fit.compliance"));
  // The truth was placed in time where the take was: else no angle would fit.
  const size_t angle = reading.text.find("Wrist angle per frame");
  ASSERT_NE(angle, std::string::npos);
  const std::string verdict = reading.text.substr(angle, 160);
  EXPECT_LT(verdict.find("\u2713 met"), verdict.find("not met")) << verdict;

  // The three commands that it names work.
  std::istringstream lines(run.output.substr(run.output.find("Try next:")));
  std::string line, cd;
  int tried = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("  cd ")) cd = line;
    if (line.find(support::Binary()) == std::string::npos) continue;
    const auto next = support::RunCommand(cd + " && " + line);
    EXPECT_EQ(next.exit_code, 0) << line << "\n" << next.output;
    ++tried;
  }
  EXPECT_EQ(tried, 3);
}

TEST(DemoTest, RefusesToWriteOverSomething) {
  const auto run = support::RunCommand(support::SourceDir() + "/tools/demo --program " +
                                       support::Binary() + " --to /tmp");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("is there already"));
}

}  // namespace
}  // namespace handhold::report::demo_test
