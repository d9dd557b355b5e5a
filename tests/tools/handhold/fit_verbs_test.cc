// The verbs of the chain as a user types them: defaults chosen and told, formats, exit codes,
// errors that name the thing and the command that helps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "database/text/json.h"
#include "tests/tools/handhold/run_binary.h"
#include "tests/tools/pipeline/pipeline_fixture.h"

namespace handhold::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FitVerbs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new store::TempDir();
    auto library = store::Library::Create(folder_->path() + "/lab");
    ASSERT_TRUE(library) << library.error().message;
    Keep(**library, lab::MakeClip(ShortFeed()), "stroke_001");
  }
  static void TearDownTestSuite() { delete folder_; }
  static RunResult Run(std::vector<std::string> words) {
    words.insert(words.end(), {"--library", folder_->path() + "/lab"});
    return RunHandhold(words);
  }
  static std::string Hash(const RunResult& run, const std::string& section) {
    const auto json = text::ParseJson(run.out);
    EXPECT_TRUE(json) << run.out << run.err;
    if (!json) return "";
    const text::Json* record = json->Find(section);
    return record != nullptr ? *record->Find("artefact")->string() : "";
  }
  static store::TempDir* folder_;
};
store::TempDir* FitVerbs::folder_ = nullptr;

// One story, since each verb needs what the one before it made.
TEST_F(FitVerbs, TheChainIsTypedWithTheClipsNameOnly) {
  const RunResult early = Run({"fit", "pose", "stroke_001"});
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_EQ(early.out, "");
  EXPECT_THAT(early.err, HasSubstr("handhold fit skeleton stroke_001"));
  EXPECT_EQ(Run({"fit", "poes", "stroke_001"}).exit_code, 2);
  EXPECT_EQ(Run({"fit", "pose"}).exit_code, 2);
  EXPECT_THAT(Run({"fit", "pose", "strok_001"}).err, HasSubstr("stroke_001"));

  const RunResult dry = Run({"fit", "skeleton", "stroke_001", "--dry-run", "--json"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_EQ(Run({"artefact", "list", "--format", "csv"}).out.find("fit.skeleton"),
            std::string::npos);
  const RunResult skeleton = Run({"fit", "skeleton", "stroke_001", "--json"});
  EXPECT_EQ(skeleton.exit_code, 0) << skeleton.err;
  EXPECT_EQ(Hash(skeleton, "skeleton"), Hash(dry, "skeleton"));
  EXPECT_THAT(skeleton.err, HasSubstr("using template 'finger4'"));
  EXPECT_THAT(skeleton.out, HasSubstr("\"lengths\""));

  const RunResult pose = Run({"fit", "pose", "stroke_001", "--fast"});
  EXPECT_EQ(pose.exit_code, 0) << pose.err;
  EXPECT_THAT(pose.err, HasSubstr("using skeleton " + Hash(skeleton, "skeleton").substr(0, 8)));
  EXPECT_THAT(pose.out, HasSubstr("R.index.mcp.flex"));
  const RunResult again = Run({"fit", "pose", "stroke_001", "--fast"});
  EXPECT_THAT(again.out, HasSubstr("there already"));

  const RunResult wrong = Run({"fit", "contact", "stroke_001", "--surface-pose", "here", "--json"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("--surface-pose"), HasSubstr("x y z")));
  const RunResult contact = Run({"fit", "contact", "stroke_001", "--format", "csv"});
  EXPECT_EQ(contact.exit_code, 0) << contact.err;
  EXPECT_THAT(contact.out, HasSubstr("exploring"));

  const RunResult compliance = Run({"fit", "compliance", "stroke_001"});
  EXPECT_EQ(compliance.exit_code, 0) << compliance.err;
  EXPECT_THAT(compliance.out,
              AllOf(HasSubstr("dynamic"), HasSubstr("paper"), HasSubstr("R.index.dip.flex")));

  const RunResult none = Run({"synth", "interaction", "stroke_001", "--assume-compliance", "none"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("--assume-compliance"));
  const RunResult garbled =
      Run({"synth", "interaction", "stroke_001", "--assume-compliance", "R.index.dip.flex"});
  EXPECT_EQ(garbled.exit_code, 2);
  EXPECT_THAT(garbled.err, HasSubstr("JOINT=RAD_PER_NM"));
  for (const std::vector<std::string>& beyond :
       {std::vector<std::string>{"synth", "interaction", "stroke_001", "--friction", "-1"},
        {"synth", "interaction", "stroke_001", "--surface-compliance", "2"},
        {"synth", "interaction", "stroke_001", "--from", "2s", "--to", "1s"},
        {"fit", "pose", "stroke_001", "--from", "2s", "--to", "1s"},
        {"fit", "skeleton", "stroke_001", "--scale", "11"}}) {
    EXPECT_EQ(Run(beyond).exit_code, 2) << beyond[3];
  }
  const RunResult friction = Run({"synth", "interaction", "stroke_001", "--friction", "-1"});
  EXPECT_THAT(friction.err, HasSubstr("--friction: expected 0 to 10, found '-1'"));
  const RunResult noise = RunHandhold(
      {"lab", "make", folder_->path() + "/none", "--plan", "brief", "--marker-noise-mm", "-1"});
  EXPECT_EQ(noise.exit_code, 2);
  EXPECT_THAT(noise.err, HasSubstr("--marker-noise-mm: expected at least 0, found '-1'"));
  const RunResult unknown = Run({"synth", "interaction", "stroke_001", "--prop", "bumped_plat"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("bumped_plate"));
  const RunResult motion = Run({"synth", "interaction", "stroke_001", "--prop", "bumped_plate",
                                "--friction", "0.3", "--json"});
  EXPECT_EQ(motion.exit_code, 0) << motion.err;
  EXPECT_THAT(motion.err, HasSubstr("assumed (refused by the fit)"));
  EXPECT_THAT(motion.out, HasSubstr("if_assumed_otherwise"));
  const text::Json replay = *text::ParseJson(motion.out);
  ASSERT_NE(replay.Find("assumed"), nullptr);
  bool dip = false;
  for (const text::Json& assumed : replay.Find("assumed")->elements()) {
    dip = dip || *assumed.Find("dof")->string() == "R.index.dip.flex";
    EXPECT_EQ(*assumed.Find("task")->string(), "exploring");
    EXPECT_GT(*assumed.Find("compliance_rad_per_Nm")->number(), 0.0);
    EXPECT_GT(*assumed.Find("asked_rad_per_Nm")->number(), 0.0);
  }
  EXPECT_TRUE(dip);
  const std::string hash = Hash(motion, "motion");

  const RunResult list = Run({"artefact", "list", "--clip", "stroke_001", "--kind", "motion"});
  EXPECT_THAT(list.out, HasSubstr(hash.substr(0, 12)));
  for (const char* variant : {", assumed ", ", assumed x0.5 ", ", assumed x2 "})
    EXPECT_THAT(list.out, HasSubstr(variant));
  const RunResult lineage = Run({"artefact", "lineage", hash.substr(0, 10)});
  EXPECT_EQ(lineage.exit_code, 0) << lineage.err;
  EXPECT_THAT(lineage.out, AllOf(HasSubstr("contact_track"), HasSubstr("stroke_001"),
                                 HasSubstr("bumped_plate")));
  const RunResult show = Run({"artefact", "show", hash.substr(0, 10), "--json"});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out, AllOf(HasSubstr("\"friction\""), HasSubstr("peak_force_N")));
  EXPECT_EQ(Run({"artefact", "show", "ffffffffffffffff"}).exit_code, 1);
  const std::string csv = folder_->path() + "/motion.csv";
  EXPECT_EQ(Run({"artefact", "export", hash.substr(0, 10), csv}).exit_code, 0);
  std::ifstream table(csv);
  std::string header;
  std::getline(table, header);
  EXPECT_THAT(header,
              AllOf(::testing::StartsWith("time_s,R.wrist.flex_rad"), HasSubstr("f_onHand_z_N")));
  EXPECT_EQ(Run({"artefact", "export", hash.substr(0, 10), csv + ".xlsx"}).exit_code, 2);
  const RunResult into = Run({"artefact", "lineage", Hash(skeleton, "skeleton"), "--made-into"});
  EXPECT_THAT(into.out, HasSubstr("motion"));

  // A result that is damaged: the file and what makes it again are named, and it does.
  const std::string track = Hash(Run({"fit", "pose", "stroke_001", "--fast", "--json"}), "pose");
  const std::string file = folder_->path() + "/lab/derived/" + track + ".art";
  std::ofstream(file, std::ios::trunc) << "rubbish";
  const RunResult damaged = Run({"fit", "pose", "stroke_001", "--fast"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, AllOf(HasSubstr("`rm " + file + "` removes it"),
                                 HasSubstr("`handhold fit pose stroke_001` makes it again")));
  EXPECT_EQ(Run({"library", "rebuild"}).exit_code, 3);
  EXPECT_EQ(Run({"query", "keep or not keep"}).exit_code, 3);
  ASSERT_TRUE(std::filesystem::remove(file));
  EXPECT_EQ(Run({"fit", "pose", "stroke_001", "--fast"}).exit_code, 0);
  EXPECT_EQ(Run({"query", "keep or not keep"}).exit_code, 0) << "without another rebuild";
}

}  // namespace
}  // namespace handhold::testing
