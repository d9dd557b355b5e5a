#include "tools/handhold/frame/complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/handhold/frame/sample_verbs.h"

namespace handhold::cli::complete_test {
namespace {

std::vector<std::string> Words(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const auto& [word, description] : Complete(words, SampleVerbs())) out.push_back(word);
  return out;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Complete, Verbs) {
  EXPECT_THAT(Words({}), ElementsAre("clip", "query", "live", "help"));
  EXPECT_THAT(Words({""}), ElementsAre("clip", "query", "live", "help"));
  EXPECT_THAT(Words({"cl"}), ElementsAre("clip"));
  EXPECT_THAT(Words({"clip", ""}), ElementsAre("list", "import"));
  EXPECT_THAT(Words({"help", "clip", "i"}), ElementsAre("import"));
  EXPECT_THAT(Words({"nonsense", ""}), IsEmpty());
  EXPECT_EQ(Complete(std::vector<std::string>{"clip", "l"}, SampleVerbs())[0].second,
            "list the clips of a library");
}

TEST(Complete, OptionsThatAreNotGivenYet) {
  EXPECT_THAT(Words({"clip", "list", "--li"}), ElementsAre("--library", "--limit"));
  EXPECT_THAT(Words({"clip", "list", "--limit", "3", "--li"}), ElementsAre("--library"));
  EXPECT_THAT(Words({"clip", "import", "--tag", "a", "--ta"}), ElementsAre("--tag"))
      << "may be repeated";
  EXPECT_THAT(Words({"clip", "list", "--dry"}), IsEmpty()) << "a reader has none";
  EXPECT_THAT(Words({"live", "record", "--dry"}), ElementsAre("--dry-run"));
}

TEST(Complete, ValuesHoweverTheShellSplitsThem) {
  EXPECT_THAT(Words({"clip", "import", "--reader", ""}), ElementsAre("own", "ezc3d"));
  EXPECT_THAT(Words({"clip", "import", "--reader=e"}), ElementsAre("--reader=ezc3d"));
  EXPECT_THAT(Words({"clip", "import", "--reader", "="}), ElementsAre("own", "ezc3d"));
  EXPECT_THAT(Words({"clip", "import", "--reader", "=", "o"}), ElementsAre("own"));
  EXPECT_THAT(Words({"clip", "list", "--library", ""}), IsEmpty()) << "the shell offers files";
  EXPECT_THAT(Words({"clip", "import", "p07", ""}), IsEmpty());
}

TEST(CompletionScript, IsThereForThreeShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(*CompletionScript(shell), ::testing::HasSubstr("__complete")) << shell;
  }
  EXPECT_FALSE(CompletionScript("tcsh"));
}

}  // namespace
}  // namespace handhold::cli::complete_test
