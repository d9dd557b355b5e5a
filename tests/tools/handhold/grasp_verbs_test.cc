// The verbs of grasps as a user types them: tests and figures in every format, regrasps that hold
// and that do not, labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "database/text/json.h"
#include "tests/database/store/clip_fixture.h"
#include "tests/tools/handhold/run_binary.h"

namespace handhold::testing::grasp_verbs_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GraspVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(RunHandhold({"library", "create", folder_.path() + "/lab"}).exit_code, 0);
  }
  RunResult Run(std::vector<std::string> words) {
    words.insert(words.end(), {"--library", folder_.path() + "/lab"});
    return RunHandhold(words);
  }
  store::TempDir folder_;
};

TEST_F(GraspVerbs, FiguresOfAGraspSurviveEveryFormat) {
  // Without friction the margin is infinite: the others must stay.
  const std::vector<std::string> words = {"evaluate", "hand57_cylinder", "--friction", "0",
                                          "--no-tests"};
  std::vector<std::string> as_json = words, as_csv = words;
  as_json.insert(as_json.end(), {"--format", "json"});
  as_csv.insert(as_csv.end(), {"--format", "csv"});
  const RunResult json = Run(as_json);
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const auto parsed = text::ParseJson(json.out);
  ASSERT_TRUE(parsed) << json.out;
  const text::Json* const figures = parsed->elements()[0].Find("figures");
  ASSERT_NE(figures, nullptr);
  ASSERT_TRUE(figures->Find("depth_m") != nullptr && figures->Find("depth_m")->number());
  std::set<std::string> named;
  for (const text::JsonMember& member : figures->members()) named.insert(member.key);

  const RunResult csv = Run(as_csv);
  std::istringstream lines(csv.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "what,protocol,engine,outcome,cause,figure,value");
  std::set<std::string> rows;
  while (std::getline(lines, line)) {
    const size_t value = line.rfind(','), figure = line.rfind(',', value - 1);
    rows.insert(line.substr(figure + 1, value - figure - 1));
  }
  EXPECT_EQ(rows, named);
}

TEST_F(GraspVerbs, ATestSaysWhatItHangsOn) {
  const RunResult run = Run({"evaluate", "hand27_cylinder", "--quick", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto parsed = text::ParseJson(run.out);
  ASSERT_TRUE(parsed) << run.out;
  ASSERT_EQ(parsed->elements().size(), 3u);  // static, P1 quick, lift
  for (size_t i = 1; i < 3; ++i) {
    const text::Json& test = parsed->elements()[i];
    EXPECT_EQ(*test.Find("outcome")->string(), "passed");
    for (const char* name : {"step_s", "spring_stiffness_per_s2", "spring_damping_per_s",
                             "formed_settled_s", "squeezed_by_torques", "mass_kg", "friction"})
      EXPECT_NE(test.Find("figures")->Find(name), nullptr) << name;
  }
}

TEST_F(GraspVerbs, RegraspKeepsWhatHoldsAndFailsWhereNothingDoes) {
  const RunResult run = Run({"regrasp", "--example", "hand27_cylinder", "--prop", "cylinder_50",
                             "--poses", "4", "--top", "1", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  const auto parsed = text::ParseJson(run.out);
  ASSERT_TRUE(parsed) << run.out;
  const text::Json* const grasps = parsed->Find("grasps");
  ASSERT_EQ(grasps->elements().size(), 1u);
  const text::Json& first = grasps->elements()[0];
  EXPECT_EQ(*first.Find("p1")->string(), "passed");
  // Four tried: the one that is kept, and for each other why not.
  double others = 0;
  for (const text::Json& why : parsed->Find("not_kept")->elements())
    others += *why.Find("poses")->number();
  EXPECT_EQ(others, 3);
  const RunResult shown =
      Run({"artefact", "export", *first.Find("motion")->string(), folder_.path() + "/m.glb"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;

  // A wall of two metres: nothing holds it, and nothing is kept.
  std::ofstream(folder_.path() + "/wall.obj")
      << "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
         "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
  const RunResult none = Run({"regrasp", "--example", "hand27_cylinder", "--prop",
                              folder_.path() + "/wall.obj", "--mesh-unit", "m", "--poses", "3"});
  EXPECT_EQ(none.exit_code, 1) << none.out;
  EXPECT_THAT(none.out, Not(HasSubstr("made")));
  EXPECT_EQ(Run({"regrasp", "--prop", "cylinder_50"}).exit_code, 2);  // from nothing
}

// Labels of two people on one stretch stand side by side; each takes back only their own.
TEST_F(GraspVerbs, LabelsAreSaidListedAndTakenBackByWhoSaidThem) {
  std::ofstream csv(folder_.path() + "/take.csv");
  csv << "#handhold-csv 1\n#clip {\"name\": \"take\"}\n"
         "#stream {\"id\": 1, \"name\": \"lab/markers\", \"kind\": \"markers\", \"rate\": [10, 1], "
         "\"frame\": \"W\", \"channels\": [[\"A.x\", \"m\"], [\"A.y\", \"m\"], [\"A.z\", \"m\"]]}\n"
         "#data 1\ntime_ns,counter,A.x,A.y,A.z\nns,1,m,m,m\n";
  for (int i = 0; i < 40; ++i) csv << 100'000'000ll * i << "," << i << ",0.1,0.2,0.3\n";
  csv.close();
  const RunResult imported = Run({"clip", "import", folder_.path() + "/take.csv"});
  ASSERT_TRUE(imported.exit_code == 0 || imported.exit_code == 3) << imported.err;
  const auto label = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"clip", "label", "take"});
    return Run(more);
  };
  const auto list = [&] { return label({"--format", "csv"}).out; };
  ASSERT_EQ(
      label({"tripod", "--from", "1s", "--to", "2s", "--confidence", "0.4", "--author", "ana"})
          .exit_code,
      0);
  ASSERT_EQ(label({"ring", "--from", "1s", "--to", "2s", "--author", "bob"}).exit_code, 0);
  EXPECT_THAT(list(), AllOf(HasSubstr("tripod"), HasSubstr("0.4"), HasSubstr("ring")));
  EXPECT_EQ(label({"ring", "--from", "1s", "--to", "2s", "--author", "ana", "--remove"}).exit_code,
            1);
  EXPECT_THAT(list(), HasSubstr("ring"));
  // Said anew without a confidence there is none; taken back, the other's stays.
  ASSERT_EQ(label({"lateral", "--from", "1s", "--to", "2s", "--author", "ana"}).exit_code, 0);
  EXPECT_THAT(list(), AllOf(HasSubstr("lateral"), Not(HasSubstr("tripod")), Not(HasSubstr("0.4"))));
  ASSERT_EQ(
      label({"lateral", "--from", "1s", "--to", "2s", "--author", "ana", "--remove"}).exit_code, 0);
  EXPECT_THAT(list(), AllOf(HasSubstr("ring"), Not(HasSubstr("lateral"))));
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--remove"},
                                             {"tripod", "--suggest"},
                                             {"tripod", "--to", "9s", "--author", "ana"},
                                             {"--suggest", "--confidence", "0.5"},
                                             {"--suggest", "--author", "ana"},
                                             {"--from", "1s"},
                                             {"--confidence", "0.5"},
                                             {"--taxonomy", "schlesinger"},
                                             {"--author", "ana"},
                                             {"ring", "--remove", "--from", "1s", "--to", "2s",
                                              "--author", "bob", "--confidence", "0.5"}})
    EXPECT_EQ(label(wrong).exit_code, 2) << wrong[0];
  EXPECT_THAT(list(), HasSubstr("ring"));
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--like", "take"},
                                             {"--like", "take@1s", "--count"},
                                             {"--like", "take@1s", "--by", "clip"},
                                             {"--like", "take@1s", "--offset", "3"}}) {
    std::vector<std::string> words = {"query"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(Run(words).exit_code, 2) << wrong.back();
  }
  EXPECT_EQ(Run({"query", "--like", "take@1s"}).exit_code, 1);  // no poses were fitted to it
}

TEST_F(GraspVerbs, GraspSpacesSayWhatIsWrongWithTheWords) {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--scripted", "--type", "tripott"},
           {"--query", "task = ", "--dims", "2"},
           {"--query", "task = grasp", "--type", "linnaeus:palmar"},
           {"--query", "task = grasp", "--per-type", "40"},
           {"--query", "task = grasp", "--side", "left"},
           {"--query", "task = grasp", "--skeleton", "hand27"},
           {"--query", "task = grasp", "--scripted"}}) {
    std::vector<std::string> words = {"fit", "grasp-space"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(Run(words).exit_code, 2) << wrong[0] << wrong[1];
  }
  // The words are right, but there is nothing: a failure, in a dry run too.
  const std::vector<std::string> few = {"fit",    "grasp-space", "--scripted", "--type",
                                        "tripod", "--per-type",  "4"};
  EXPECT_EQ(Run(few).exit_code, 1);
  std::vector<std::string> dry = few;
  dry.push_back("--dry-run");
  EXPECT_EQ(Run(dry).exit_code, 1);
}

// Words that mean nothing are wrong (2), a place or type without a grasp is a failure (1), one type
// of several without a grasp is a loss (3); what a run refuses a dry run refuses too.
TEST_F(GraspVerbs, SearchesSayWhatHasNoEffectAndWhatWasNotFound) {
  ASSERT_EQ(Run({"fit", "grasp-space", "--scripted", "--type", "tripod", "--type", "lateral",
                 "--per-type", "20", "--dims", "3"})
                .exit_code,
            0);
  const auto search = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"synth",       "grasp",        "--prop",
                                      "cylinder_50", "--candidates", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  };
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--type", ","},
                                             {"--type", "tripott"},
                                             {"--region", ""},
                                             {"--region", "9,9,9"},
                                             {"--region", "0,0,0,-1"},
                                             {"--faces", ","},
                                             {"--faces", "two"},
                                             {"--mesh-unit", "m"}})
    EXPECT_EQ(search(wrong).exit_code, 2) << wrong[0] << " " << wrong[1];
  for (const bool dry : {false, true}) {
    for (std::vector<std::string> none :
         std::vector<std::vector<std::string>>{{"--region", "9,9,9,0.01"},   // no surface there
                                               {"--region", "handle"},       // no such region
                                               {"--faces", "3"},             // of what is no mesh
                                               {"--type", "power-sphere"}})  // the space has none
    {
      if (dry) none.push_back("--dry-run");
      const RunResult run = search(none);
      EXPECT_EQ(run.exit_code, 1) << none[0] << " " << none[1] << dry;
      EXPECT_EQ(run.out, "") << none[1];
    }
  }
  const RunResult some = search({"--type", "tripod,power-sphere", "--format", "csv"});
  EXPECT_EQ(some.exit_code, 3) << some.err;
  EXPECT_THAT(some.out, HasSubstr("tripod"));
  EXPECT_THAT(some.err, HasSubstr("power-sphere"));
  // A coarse name is answered by any type under it.
  EXPECT_EQ(search({"--type", "schlesinger:palmar"}).exit_code, 0);
  EXPECT_EQ(search({"--type", "tripod", "--method", "paper"}).exit_code, 0);
}

// What a grasp and a space are, in a line.
TEST_F(GraspVerbs, GraspsAndSpacesHaveASummary) {
  ASSERT_EQ(Run({"fit", "grasp-space", "--scripted", "--type", "tripod", "--per-type", "20",
                 "--dims", "3"})
                .exit_code,
            0);
  ASSERT_EQ(Run({"synth", "grasp", "--prop", "cylinder_50", "--candidates", "1"}).exit_code, 0);
  const auto made = text::ParseJson(Run({"artefact", "list", "--format", "json"}).out);
  ASSERT_TRUE(made);
  int seen = 0;
  for (const text::Json& row : made->elements()) {
    const std::string kind = *row.Find("kind")->string(), hash = *row.Find("artefact")->string();
    if (kind != "grasp" && kind != "grasp_space") continue;
    ++seen;
    const RunResult text = Run({"artefact", "show", hash});
    const auto shown = text::ParseJson(Run({"artefact", "show", hash, "--format", "json"}).out);
    ASSERT_TRUE(shown);
    const text::Json* summary = shown->Find("artefact")->Find("summary");
    ASSERT_NE(summary, nullptr);
    const std::string brief = *summary->Find("brief")->string();
    EXPECT_THAT(text.out, HasSubstr(brief));
    if (kind == "grasp_space") {
      EXPECT_THAT(brief, HasSubstr("20 scripted poses"));
      continue;
    }
    EXPECT_THAT(brief, AllOf(HasSubstr("tripod"), HasSubstr("cylinder_50"), HasSubstr("rank 1")));
    EXPECT_EQ(*summary->Find("types")->Find("feix")->string(), "tripod");
    EXPECT_NE(summary->Find("scores")->Find("dfc"), nullptr);
  }
  EXPECT_EQ(seen, 2);
}

TEST_F(GraspVerbs, RegraspRanksWhatASearchProposes) {
  const RunResult space = Run({"fit", "grasp-space", "--scripted", "--type", "large-diameter",
                               "--per-type", "20", "--dims", "3"});
  ASSERT_EQ(space.exit_code, 0) << space.err;
  // The space as a picture: 25 hands, and what they vary along.
  const auto made = text::ParseJson(Run({"artefact", "list", "--format", "json"}).out);
  ASSERT_TRUE(made);
  std::string hash;
  for (const text::Json& row : made->elements()) {
    if (*row.Find("kind")->string() == "grasp_space") hash = *row.Find("artefact")->string();
  }
  const RunResult page = Run({"show", hash, "--to", folder_.path() + "/space.html"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  const RunResult run =
      Run({"regrasp", "--space", "newest", "--example", "hand27_cylinder", "--prop", "cylinder_50",
           "--poses", "2", "--top", "1", "--format", "json"});
  ASSERT_TRUE(run.exit_code == 0 || run.exit_code == 3) << run.err << run.out;
  const auto parsed = text::ParseJson(run.out);
  ASSERT_TRUE(parsed) << run.out;
  double seen = static_cast<double>(parsed->Find("grasps")->elements().size());
  for (const text::Json& why : parsed->Find("not_kept")->elements())
    seen += *why.Find("poses")->number();
  EXPECT_EQ(seen, 4);  // two of each proposer
}

}  // namespace
}  // namespace handhold::testing::grasp_verbs_test
