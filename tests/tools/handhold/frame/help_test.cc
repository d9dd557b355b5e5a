#include "tools/handhold/frame/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/handhold/frame/sample_verbs.h"

namespace handhold::cli::help_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FrontHelp, ShowsThreeExamplesHeadlinesFirstAndOnlyWhatIsRegistered) {
  const std::string help = FrontHelp(SampleVerbs());
  EXPECT_THAT(
      help,
      HasSubstr(
          "Try:\n  handhold clip list --library lab\n  handhold query 'peak(normal_force) > 5 N'\n"
          "  handhold clip import walk.c3d\n\nVerbs:\n"));
  EXPECT_THAT(
      help, HasSubstr("  clip list|import\n  query             ask the library\n  live record\n"));
  EXPECT_THAT(help, Not(HasSubstr("secret")));
}

TEST(NounHelp, ListsItsVerbsAfterTheirExamples) {
  EXPECT_EQ(
      NounHelp("clip", SampleVerbs()),
      "Examples:\n  handhold clip list --library lab\n  handhold clip import walk.c3d\n\nVerbs:\n"
      "  handhold clip list    list the clips of a library\n"
      "  handhold clip import  add recordings of other programs\n\n'handhold help clip VERB' "
      "explains one.\n");
}

TEST(VerbHelp, SaysWhatEachArgumentTakesAndDefaultsTo) {
  const std::string list = VerbHelp(SampleVerbs()[0]);
  EXPECT_THAT(
      list, HasSubstr("--library DIR  the library's folder (default: $HANDHOLD_LIBRARY, else .)"));
  EXPECT_THAT(list, HasSubstr("--limit N      at most so many (default: 50)"));
  EXPECT_THAT(list, Not(HasSubstr("--dry-run")));
  const std::string import = VerbHelp(SampleVerbs()[1]);
  EXPECT_THAT(import, HasSubstr("Usage: handhold clip import SUBJECT FILE... [options]"));
  EXPECT_THAT(import, HasSubstr("--tag TAG        a tag (may be repeated)"));
  EXPECT_THAT(import, HasSubstr("how much (0 to 0.5)"));
  EXPECT_THAT(import, HasSubstr("at once (at least 1; default: 2)"));
  EXPECT_THAT(import, HasSubstr("--dry-run"));
  EXPECT_THAT(VerbHelp(SampleVerbs()[2]), HasSubstr("query [QUERY] [options]"));
  EXPECT_THAT(VerbHelp(SampleVerbs()[3]), HasSubstr("--rig FILE  the rig (needed)"));
  EXPECT_LT(import.find("Examples:"), import.find("Options:"));
}

TEST(MarkdownHelp, HoldsEveryVerbThatShows) {
  const std::string page = MarkdownHelp(SampleVerbs());
  for (const Verb& verb : SampleVerbs()) {
    const auto expected = HasSubstr("### `handhold " + verb.words() + "`");
    if (verb.hidden) {
      EXPECT_THAT(page, Not(expected));
    } else {
      EXPECT_THAT(page, expected);
    }
  }
}

}  // namespace
}  // namespace handhold::cli::help_test
