// What must hold before a verb runs: with an SQLite that corrupts recordings none touches a
// library.
#include "tools/handhold/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/store/sqlite.h"
#include "tests/tools/handhold/frame/sample_verbs.h"

namespace handhold::cli::verbs_test {
namespace {

using ::testing::HasSubstr;

TEST(StartChecks, AnSqliteThatCorruptsRecordingsEndsEveryVerbThatTouchesALibrary) {
  Program program = HandholdProgram();
  ASSERT_EQ(program.start_checks.size(), 1u) << "the program itself asks";
  EXPECT_TRUE(program.start_checks[0]()) << "and the SQLite linked in is good";
  for (const int bad : {3'040'001, 3'051'002}) {
    program.start_checks = StartChecks(bad);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"library", "info"}, {"query", "keep"}, {"library", "create", "/nonexistent/x"}}) {
      MemoryFile out, err;
      EXPECT_EQ(cli::Run(program, words, {.out = out.get(), .err = err.get()}), kExitFailed);
      EXPECT_EQ(out.Text(), "");
      EXPECT_THAT(err.Text(), HasSubstr(bad == 3'051'002 ? "SQLite 3.51.2" : "SQLite 3.40.1"));
      EXPECT_THAT(err.Text(), HasSubstr("3.51.3 or newer"));
    }
    MemoryFile out, err;
    EXPECT_EQ(cli::Run(program, std::vector<std::string>{"version"},
                       {.out = out.get(), .err = err.get()}),
              kExitDone)
        << "what needs no library still runs";
  }
  EXPECT_TRUE(StartChecks(3'051'003)[0]());
  EXPECT_TRUE(StartChecks(store::LinkedSqliteVersion())[0]());
}

}  // namespace
}  // namespace handhold::cli::verbs_test
