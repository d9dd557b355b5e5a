/// Drives a browser over pages (browse.mjs). For tests of this folder.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "database/text/file.h"
#include "database/text/json.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::testing {

/// One answer per step, {"value", "errors", "requests"}; empty when the browser did not come.
inline text::Json Browse(const text::Json& steps) {
  const std::string file = ::testing::TempDir() + "/browse_" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                           ".json";
  EXPECT_TRUE(text::WriteJsonFile(file, steps));
  const auto run =
      support::RunCommand(support::Node() + " " + support::SourceDir() +
                          "/tests/tools/viewer/browse.mjs " + support::NodeModules() + " " + file);
  EXPECT_EQ(run.exit_code, 0) << run.output;
  const auto answers = text::ParseJson(run.output);
  EXPECT_TRUE(answers) << run.output.substr(0, 2000);
  return answers ? *answers : text::Json::Array();
}

}  // namespace handhold::testing
