// tools/handhold/REFERENCE.md is what the program says of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/paths.h"
#include "tests/tools/handhold/run_binary.h"

namespace handhold::testing::reference_test {
namespace {

TEST(Reference, IsWhatTheProgramSaysOfItself) {
  const RunResult run = RunHandhold({"__reference"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_THAT(run.out, ::testing::HasSubstr("### `handhold version`"));
  std::ifstream in(support::SourceDir() + "/tools/handhold/REFERENCE.md");
  std::stringstream page;
  page << in.rdbuf();
  // Line by line, so that the message names the first difference and not two whole pages.
  std::istringstream said(run.out), kept(page.str());
  std::string said_line, kept_line;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(said, said_line));
    const bool kept_more = static_cast<bool>(std::getline(kept, kept_line));
    ASSERT_TRUE(more == kept_more && said_line == kept_line)
        << "tools/handhold/REFERENCE.md:" << line
        << " is not current; run tools/reference\n  page:    " << (kept_more ? kept_line : "(ends)")
        << "\n  program: " << (more ? said_line : "(ends)");
    if (!more) break;
  }
}

// Every verb that shows has its own part, and what it says there is what its --help says.
TEST(Reference, HoldsEachVerbsHelp) {
  const std::string page = RunHandhold({"__reference"}).out;
  int verbs = 0;
  for (size_t at = page.find("\n### `handhold "); at != std::string::npos;
       at = page.find("\n### `handhold ", at + 1)) {
    const size_t begin = at + 15;
    std::istringstream words(page.substr(begin, page.find('`', begin) - begin));
    std::vector<std::string> command;
    for (std::string word; words >> word;) command.push_back(word);
    command.push_back("--help");
    const RunResult help = RunHandhold(command);
    EXPECT_EQ(help.exit_code, 0);
    const std::string own = help.out.substr(0, help.out.find("\nEvery verb:\n"));
    EXPECT_THAT(page, ::testing::HasSubstr(own));
    ++verbs;
  }
  EXPECT_GE(verbs, 10);
}

}  // namespace
}  // namespace handhold::testing::reference_test
