// The built program as a user meets it: streams, exit codes, suggestions, formats, completion in a
// real shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "database/text/json.h"
#include "tests/support/paths.h"
#include "tests/tools/handhold/run_binary.h"

namespace handhold::testing::binary_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Binary, BarePrintsAShortHelpWithThreeExamplesAtMost) {
  const RunResult run = RunHandhold({});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, StartsWith("handhold - "));
  EXPECT_THAT(run.out, HasSubstr("\nTry:\n  handhold "));
  EXPECT_LT(std::count(run.out.begin(), run.out.end(), '\n'), 40);
  EXPECT_THAT(
      run.out,
      HasSubstr(
          "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 finished with loss, 130 interrupted."));
  EXPECT_EQ(RunHandhold({"help"}).out, run.out);
  EXPECT_EQ(RunHandhold({"--help"}).out, run.out);
  EXPECT_THAT(run.out, ::testing::Not(HasSubstr("__complete"))) << "a hidden verb shows";
}

TEST(Binary, HelpShowsExamplesBeforeOptions) {
  const RunResult run = RunHandhold({"help", "version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_LT(run.out.find("Examples:"), run.out.find("--format"));
  EXPECT_EQ(RunHandhold({"version", "--help"}).out, run.out);
  EXPECT_EQ(RunHandhold({"version", "-h"}).out, run.out);
}

TEST(Binary, MistakesGoToStderrWithTheNearestWordAndExit2) {
  const RunResult verb = RunHandhold({"verison"});
  EXPECT_EQ(verb.exit_code, 2);
  EXPECT_EQ(verb.out, "");
  EXPECT_THAT(verb.err,
              HasSubstr("handhold: error: unknown verb 'verison': did you mean 'version'?"));
  const RunResult option = RunHandhold({"version", "--fromat", "json"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_THAT(option.err,
              HasSubstr("'version' has no option '--fromat': did you mean '--format'?"));
  const RunResult value = RunHandhold({"version", "--format", "jsn"});
  EXPECT_EQ(value.exit_code, 2);
  EXPECT_THAT(value.err, HasSubstr("--format: unknown value 'jsn': did you mean 'json'?"));
  EXPECT_EQ(RunHandhold({"completion", "tcsh"}).exit_code, 2);
  EXPECT_EQ(RunHandhold({"completion"}).exit_code, 2);
  EXPECT_EQ(RunHandhold({"version", "more"}).exit_code, 2);
}

// The second word of a verb, mistyped; and what can be told before the work.
TEST(Binary, WhatIsMeantIsGuessedAndWhatCannotWorkIsSaidAtOnce) {
  const auto err = [](const std::vector<std::string>& words) {
    const RunResult run = RunHandhold(words);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(err({"recrd"}), HasSubstr("did you mean 'live record'?"));
  EXPECT_THAT(err({"complianc"}), HasSubstr("'fit compliance'"));
  EXPECT_THAT(err({"report", "x", "--to", "/nowhere/at/all.html"}),
              HasSubstr("no folder '/nowhere/at'"));
  EXPECT_THAT(err({"report", "x", "--to", "/tmp"}), HasSubstr("/tmp/report.html"));
  EXPECT_THAT(err({"artefact", "export", "1f0c2a9b", "m.bvh"}),
              AllOf(HasSubstr("name it m.csv"), Not(HasSubstr("m.bvh.csv"))));
}

TEST(Binary, EveryFormatHoldsTheSameValues) {
  const std::string json = RunHandhold({"version", "--format", "json"}).out;
  const Result<text::Json> record = text::ParseJson(json);
  ASSERT_TRUE(record) << json;
  const std::string version = *record->Find("version")->string();
  EXPECT_EQ(RunHandhold({"version", "--json"}).out, json);
  EXPECT_EQ(*text::ParseJson(RunHandhold({"version", "--format=ndjson"}).out), *record);
  EXPECT_THAT(RunHandhold({"version", "--format", "csv"}).out,
              StartsWith("version,compiler,build\n" + version + ","));
  EXPECT_THAT(RunHandhold({"version"}).out, StartsWith("version   " + version + "\n"));
  EXPECT_EQ(RunHandhold({"--version"}).out, "handhold " + version + "\n");
}

TEST(Binary, NoColourAndNoProgressIntoAPipe) {
  for (const auto& words : {std::vector<std::string>{"version"}, {"nonsense"}, {}}) {
    const RunResult run = RunHandhold(words, {.environment = {"TERM=xterm"}});
    EXPECT_EQ((run.out + run.err).find('\x1b'), std::string::npos);
  }
}

TEST(Binary, AFullDiskIsAFailureAndAReaderThatLeftIsNot) {
  const RunResult full = RunHandhold({"version"}, {.out_file = "/dev/full"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write the results: No space left on device"));
  EXPECT_EQ(RunHandhold({"version"}, {.close_out = true}).exit_code, 0);
  EXPECT_EQ(RunHandhold({"help"}, {.out_file = "/dev/full"}).exit_code, 1);
}

TEST(Binary, ASubjectsSeedIsNotNegative) {
  const std::string folder = ::testing::TempDir() + "handhold_no_such_subject";
  const RunResult run = RunHandhold({"lab", "make", folder, "--seed", "-1"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--seed: expected at least 0, found '-1'"));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Binary, CompletionWorksInARealBash) {
  if (std::system("command -v bash >/dev/null") != 0) GTEST_SKIP() << "no bash here";
  // What bash does on TAB: the words so far, the index of the current one, then _handhold.
  const std::string script =
      std::string("handhold() { ") + support::Binary() +
      " \"$@\"; }; source <(handhold completion bash); "
      "ask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _handhold; echo \"${COMPREPLY[*]}\"; "
      "}; "
      "ask handhold ver; ask handhold version --fo; ask handhold version --format ''; ask handhold "
      "version --format = js; "
      "ask handhold completion ''; ask handhold help comp; ask handhold nonsense x";
  const auto file = std::filesystem::path(::testing::TempDir()) / "completion_test.sh";
  std::ofstream(file) << script;
  FILE* bash = popen(("bash " + file.string()).c_str(), "r");
  ASSERT_NE(bash, nullptr);
  std::string out;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, bash)) out += buffer;
  pclose(bash);
  EXPECT_EQ(out, "version\n--format\ntext json ndjson csv\njson\nbash zsh fish\ncompletion\n\n");
}

}  // namespace
}  // namespace handhold::testing::binary_test
