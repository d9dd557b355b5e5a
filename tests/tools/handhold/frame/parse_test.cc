#include "tools/handhold/frame/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/tools/handhold/frame/sample_verbs.h"

namespace handhold::cli::parse_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Verb>& Verbs() {
  static const std::vector<Verb> kVerbs = SampleVerbs();
  return kVerbs;
}

Result<Invocation> Parse(const std::vector<std::string>& words) {
  return ParseCommandLine(words, Verbs());
}

std::string ErrorOf(const std::vector<std::string>& words) {
  const auto parsed = Parse(words);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(Parse, FindsVerbOptionsAndPositionalsInAnyOrder) {
  const Invocation i = *Parse({"clip", "import", "--tag", "a", "p07", "--reader=ezc3d", "x.c3d",
                               "--tag=b", "y.c3d", "--quantum", "-1e-5"});
  EXPECT_EQ(i.verb->words(), "clip import");
  EXPECT_EQ(i.arguments.Text("SUBJECT"), "p07");
  EXPECT_THAT(i.arguments.All("FILE"), ElementsAre("x.c3d", "y.c3d"));
  EXPECT_THAT(i.arguments.All("--tag"), ElementsAre("a", "b"));
  EXPECT_EQ(i.arguments.Text("--reader"), "ezc3d");
  EXPECT_EQ(i.arguments.Number("--quantum"), -1e-5);
  EXPECT_FALSE(i.arguments.Flag("--dry-run"));
  EXPECT_FALSE(i.arguments.Has("--start"));
}

TEST(Parse, EndOfOptionsDashAndNegativeNumbersArePositional) {
  const Invocation i = *Parse({"clip", "import", "-", "--", "--odd-name", "-7"});
  EXPECT_EQ(i.arguments.Text("SUBJECT"), "-");
  EXPECT_THAT(i.arguments.All("FILE"), ElementsAre("--odd-name", "-7"));
  EXPECT_EQ(Parse({"query", "-1 < x"})->arguments.Text("QUERY"), "-1 < x");
}

TEST(Parse, FallbackYieldsToEnvironmentYieldsToCommandLine) {
  unsetenv("HANDHOLD_LIBRARY");
  EXPECT_EQ(Parse({"clip", "list"})->arguments.Text("--library"), ".");
  EXPECT_FALSE(Parse({"clip", "list"})->arguments.Has("--library"));
  setenv("HANDHOLD_LIBRARY", "/from/environment", 1);
  EXPECT_EQ(Parse({"clip", "list"})->arguments.Text("--library"), "/from/environment");
  EXPECT_EQ(Parse({"clip", "list", "--library", "/given"})->arguments.Text("--library"), "/given");
  unsetenv("HANDHOLD_LIBRARY");
  EXPECT_EQ(Parse({"clip", "list"})->arguments.Integer("--limit"), 50);
}

TEST(Parse, ValuesAreCheckedBeforeTheVerbRuns) {
  EXPECT_THAT(ErrorOf({"clip", "list", "--limit", "ten"}),
              HasSubstr("--limit: expected a whole number, found 'ten'"));
  EXPECT_THAT(ErrorOf({"clip", "list", "--limit", "1.5"}), HasSubstr("expected a whole number"));
  EXPECT_THAT(ErrorOf({"clip", "list", "--limit", "99999999999999999999"}),
              HasSubstr("expected a whole number"));
  EXPECT_THAT(ErrorOf({"clip", "import", "s", "f", "--quantum", "nan"}),
              HasSubstr("expected a number, found 'nan'"));
  EXPECT_THAT(ErrorOf({"clip", "import", "s", "f", "--start", "3sec"}),
              HasSubstr("unknown unit of time in '3sec'"));
  EXPECT_THAT(ErrorOf({"clip", "import", "s", "f", "--reader", "ezc"}),
              HasSubstr("unknown value 'ezc': did you mean 'ezc3d'?"));
  EXPECT_THAT(ErrorOf({"clip", "import", "s", ""}), HasSubstr("FILE: an empty path"));
}

TEST(Parse, ValuesOutsideTheirRangeAreRefusedWithIt) {
  const auto with = [](const std::string& option, const std::string& value) {
    return ErrorOf({"clip", "import", "s", "f", option, value});
  };
  EXPECT_EQ(with("--share", "-0.1"), "--share: expected 0 to 0.5, found '-0.1'");
  EXPECT_EQ(with("--share", "0.500001"), "--share: expected 0 to 0.5, found '0.500001'");
  EXPECT_EQ(with("--jobs", "0"), "--jobs: expected at least 1, found '0'");
  EXPECT_EQ(with("--wait", "0s"), "--wait: expected above 0 s, at most 3600 s, found '0s'");
  EXPECT_EQ(with("--wait", "61min"), "--wait: expected above 0 s, at most 3600 s, found '61min'");
  for (const char* share : {"0", "0.5"}) EXPECT_EQ(with("--share", share), "accepted");
  EXPECT_EQ(with("--wait", "1h"), "accepted");
  EXPECT_EQ(with("--quantum", "-1e300"), "accepted") << "without a range";
}

TEST(Parse, AnEmptyWordIsNoArgument) {
  EXPECT_EQ(ErrorOf({"clip", "import", "", "x.c3d"}), "SUBJECT: an empty word");
  EXPECT_EQ(ErrorOf({"query", ""}), "QUERY: an empty word");
  EXPECT_EQ(ErrorOf({"clip", "import", "s", "f", "--tag", ""}), "accepted");
}

TEST(Parse, MissingAndSurplusAreNamedWithAnExample) {
  EXPECT_EQ(
      ErrorOf({"clip", "import", "p07"}),
      "'clip import' needs FILE (what to import); for example: handhold clip import walk.c3d");
  EXPECT_EQ(ErrorOf({"live", "record"}),
            "'live record' needs --rig FILE; for example: handhold live record --rig demo");
  EXPECT_EQ(ErrorOf({"query", "a", "b"}), "'query' takes no further argument, found 'b'");
  EXPECT_EQ(ErrorOf({"clip", "list", "--library"}), "'--library' needs a value: --library DIR");
  EXPECT_THAT(ErrorOf({"clip", "list", "--library", "--limit"}),
              HasSubstr("needs a value before '--limit'"));
  EXPECT_EQ(ErrorOf({"clip", "list", "--limit", "1", "--limit", "2"}), "'--limit' is given twice");
  EXPECT_EQ(ErrorOf({"clip", "import", "s", "f", "--dry-run=yes"}), "'--dry-run' takes no value");
}

TEST(Parse, WrongWordsGetTheNearestRightOne) {
  EXPECT_EQ(ErrorOf({"clp", "list"}), "unknown verb 'clp': did you mean 'clip'?");
  EXPECT_EQ(ErrorOf({"clip", "lsit"}), "unknown verb 'clip lsit': did you mean 'list'?");
  EXPECT_EQ(ErrorOf({"record"}), "unknown verb 'record': did you mean 'live record'?");
  EXPECT_EQ(ErrorOf({"clip", "list", "--libary", "x"}),
            "'clip list' has no option '--libary': did you mean '--library'?");
  EXPECT_THAT(ErrorOf({"clip", "list", "--dry-run"}),
              HasSubstr("'clip list' has no option '--dry-run'"))
      << "a reader takes none";
  EXPECT_THAT(ErrorOf({"__secre"}), ::testing::Not(HasSubstr("__secret")))
      << "a hidden verb is not suggested";
  EXPECT_THAT(ErrorOf({"clip", "list", "-x"}), HasSubstr("unknown option '-x'"));
  EXPECT_THAT(ErrorOf({"--format", "json"}), HasSubstr("the verb comes first"));
}

// "handhold --json clip list": what every verb takes may stand before it.
TEST(Parse, CommonOptionsMayStandBeforeTheVerb) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--json", "clip", "list", "--limit", "3"},
        {"--format", "json", "clip", "list", "--limit", "3"},
        {"-v", "--format=json", "clip", "list", "--limit", "3"}}) {
    const auto parsed = ParseCommandLine(words, Verbs());
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->verb->words(), "clip list");
    EXPECT_EQ(parsed->common.format, Format::kJson);
    EXPECT_EQ(parsed->arguments.Integer("--limit"), 3);
  }
  EXPECT_EQ(Parse({"-v", "query", "x"})->common.verbosity, 1);
  EXPECT_EQ(Parse({"--json", "help", "clip", "list"})->kind, Invocation::Kind::kVerbHelp);
  EXPECT_THAT(ErrorOf({"--library", "lab", "clip", "list"}), HasSubstr("the verb comes first"));
}

// Wrong words of a verb point at that verb's own help.
TEST(Parse, TheVerbThatWasMeantIsKnown) {
  const std::vector<std::string> wrong = {"clip", "list", "--libary", "x"};
  EXPECT_EQ(VerbMeant(wrong, Verbs())->words(), "clip list");
  const std::vector<std::string> behind = {"--oops", "clip", "import"};
  EXPECT_EQ(VerbMeant(behind, Verbs())->words(), "clip import");
  const std::vector<std::string> none = {"clap"};
  EXPECT_EQ(VerbMeant(none, Verbs()), nullptr);
}

TEST(Parse, CommonOptions) {
  EXPECT_EQ(Parse({"query"})->common.format, Format::kText);
  EXPECT_EQ(Parse({"query", "--json"})->common.format, Format::kJson);
  EXPECT_EQ(Parse({"query", "--format", "ndjson"})->common.format, Format::kNdjson);
  EXPECT_THAT(ErrorOf({"query", "--json", "--format", "csv"}),
              HasSubstr("contradicts '--format csv'"));
  EXPECT_EQ(Parse({"query", "--json", "--format", "json"})->common.format, Format::kJson);
  EXPECT_EQ(Parse({"query", "-vvvv"})->common.verbosity, 2);
  EXPECT_EQ(Parse({"query", "-q"})->common.verbosity, -1);
  EXPECT_EQ(Parse({"query"})->common.progress, std::nullopt);
  EXPECT_EQ(Parse({"query", "--progress", "json"})->common.progress, ProgressMode::kJson);
}

TEST(Parse, HelpInEverySpelling) {
  using Kind = Invocation::Kind;
  EXPECT_EQ(Parse({})->kind, Kind::kFrontHelp);
  EXPECT_EQ(Parse({"help"})->kind, Kind::kFrontHelp);
  EXPECT_EQ(Parse({"-h"})->kind, Kind::kFrontHelp);
  EXPECT_EQ(Parse({"clip"})->kind, Kind::kNounHelp);
  EXPECT_EQ(Parse({"help", "clip"})->noun, "clip");
  for (const auto& words : {std::vector<std::string>{"help", "clip", "list"},
                            {"clip", "list", "--help"},
                            {"clip", "list", "-h", "--limit", "3"}}) {
    const Invocation i = *Parse(words);
    EXPECT_EQ(i.kind, Kind::kVerbHelp);
    EXPECT_EQ(i.verb->words(), "clip list");
  }
  EXPECT_EQ(Parse({"live", "record", "--help"})->kind, Kind::kVerbHelp)
      << "help needs no required option";
  EXPECT_EQ(Parse({"--version"})->kind, Kind::kVersion);
  EXPECT_THAT(ErrorOf({"help", "clip", "lsit"}), HasSubstr("did you mean 'list'?"));
}

TEST(Arguments, AskingForWhatIsNotDescribedIsABug) {
  const Invocation i = *Parse({"clip", "list"});
  EXPECT_DEATH(i.arguments.Text("--libary"), "does not describe.*--libary");
  EXPECT_DEATH(Parse({"clip", "import", "s", "f"})->arguments.Number("--quantum"), "CHECK failed");
}

TEST(ParseDuration, IsExactInEveryUnit) {
  EXPECT_EQ(ParseDuration("1.25s")->ns(), 1'250'000'000);
  EXPECT_EQ(ParseDuration("200ms")->ns(), 200'000'000);
  EXPECT_EQ(ParseDuration("-3us")->ns(), -3'000);
  EXPECT_EQ(ParseDuration("7ns")->ns(), 7);
  EXPECT_EQ(ParseDuration("20min")->ns(), 1'200'000'000'000);
  EXPECT_EQ(ParseDuration("1.5h")->ns(), 5'400'000'000'000);
  EXPECT_EQ(ParseDuration("0s")->ns(), 0);
  EXPECT_EQ(ParseDuration("60")->ns(), 60'000'000'000) << "seconds, as everywhere";
  for (const char* bad :
       {"", "s", "1 s", "1.5.2s", "infs", "nans", "1e300h", "9300000000s", "1m", "--1s"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
}

}  // namespace
}  // namespace handhold::cli::parse_test
