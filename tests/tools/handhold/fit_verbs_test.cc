// The verbs of the chain as a user types them: defaults chosen and told, formats, exit codes,
// errors that name the thing and the command that helps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "database/text/json.h"
#include "tests/tools/handhold/run_binary.h"
#include "tests/tools/pipeline/pipeline_fixture.h"

namespace handhold::testing::fit_verbs_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

/// The plate of the clip as a mesh file: its top at z = 0.
void WritePlate(const std::string& path, double metres_per_unit) {
  const double x = 0.25 / metres_per_unit, y = 0.15 / metres_per_unit, z = -0.02 / metres_per_unit;
  const double corner[8][3] = {{-x, -y, z}, {x, -y, z}, {x, y, z}, {-x, y, z},
                               {-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
  const int face[12][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                           {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
  std::ofstream out(path);
  out << "solid plate\n";
  for (const auto& f : face) {
    out << "facet normal 0 0 0\nouter loop\n";
    for (const int c : f)
      out << "vertex " << corner[c][0] << " " << corner[c][1] << " " << corner[c][2] << "\n";
    out << "endloop\nendfacet\n";
  }
  out << "endsolid plate\n";
}

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

  // A dry run refuses the names that the run would refuse, each with what there is.
  for (const bool dry_run : {true, false}) {
    const auto refused = [&](std::vector<std::string> words, const char* said) {
      if (dry_run) words.push_back("--dry-run");
      const RunResult run = Run(words);
      EXPECT_EQ(run.exit_code, 1) << words[2] << ' ' << words.back() << run.out;
      EXPECT_EQ(run.out, "");
      EXPECT_THAT(run.err, HasSubstr(said));
    };
    refused({"fit", "contact", "stroke_001", "--sensor", "nope"},
            "no force sensor 'nope' (--sensor): known are 'plate'");
    refused({"fit", "contact", "stroke_001", "--surface", "flat_plat"}, "flat_plate");
    refused({"fit", "pose", "stroke_001", "--skeleton", "finger5"}, "finger4");
    refused({"fit", "pose", "stroke_001", "--skeleton", "hand57"}, "choose the hand");
    refused({"fit", "pose", "stroke_001", "--leave-out", "R.IND.PRX.9"}, "R.IND.PRX.1");
    refused({"fit", "pose", "stroke_001", "--side", "left"}, "name the hand to change");
    refused({"fit", "skeleton", "stroke_001", "--marker-map", "dfky"}, "dfki");
    refused({"fit", "skeleton", "stroke_001", "--marker-map", "dfki"}, "0 of the 13 markers");
    refused({"fit", "skeleton", "stroke_001", "--template", "hand27", "--marker-set", "23"},
            "'22'");
    refused({"fit", "skeleton", "stroke_001", "--side", "left"}, "no hand of ours");
    refused({"fit", "pose", "stroke_001", "--from", "100s"},
            "nothing lies from 100 s on: the mark");
    refused({"fit", "skeleton", "stroke_001", "--from", "100s"}, "nothing lies from 100 s on");
    refused({"fit", "skeleton", "stroke_001", "--template", "hand57"}, "choose the hand");
  }
  // One rule for mesh files wherever one is read.
  const std::string plate = folder_->path() + "/plate.stl",
                    metres = folder_->path() + "/metres.stl";
  WritePlate(plate, 1e-3), WritePlate(metres, 1.0);
  const RunResult mesh = Run({"fit", "contact", "stroke_001", "--surface", plate, "--json"});
  EXPECT_EQ(mesh.exit_code, 0) << mesh.err;
  EXPECT_THAT(mesh.err,
              HasSubstr("plate.stl: 500 x 300 x 20 mm, one unit of the file being 0.001"));
  EXPECT_THAT(mesh.out, HasSubstr("\"exploring\""));
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"fit", "contact", "stroke_001", "--surface"},
        {"fit", "skeleton", "stroke_001", "--surface"}}) {
    std::vector<std::string> small = verb, large = verb, right = verb;
    small.insert(small.end(), {metres, "--dry-run"});
    EXPECT_THAT(Run(small).err, AllOf(HasSubstr("less than 1 mm"), HasSubstr("--mesh-unit m")));
    large.insert(large.end(), {plate, "--mesh-unit", "m", "--dry-run"});
    EXPECT_THAT(Run(large).err, AllOf(HasSubstr("more than 5 m"), HasSubstr("--mesh-unit")));
    right.insert(right.end(), {metres, "--mesh-unit", "m", "--dry-run"});
    EXPECT_THAT(Run(right).err, HasSubstr("metres.stl: 500 x 300 x 20 mm"));
  }
  // The newest contact track is the plate's again.
  EXPECT_EQ(Run({"fit", "contact", "stroke_001"}).exit_code, 0);

  const RunResult compliance = Run({"fit", "compliance", "stroke_001"});
  EXPECT_EQ(compliance.exit_code, 0) << compliance.err;
  EXPECT_THAT(compliance.out, AllOf(HasSubstr("dynamic"), HasSubstr("R.index.dip.flex")));
  EXPECT_THAT(compliance.err, AllOf(HasSubstr("the take: "), HasSubstr("touches of 'exploring'"),
                                    HasSubstr("each for itself")));
  // The answer first: a page of it; all that was discarded with -v, and for programs.
  const auto lines = [](const RunResult& run) {
    return std::count(run.out.begin(), run.out.end(), '\n');
  };
  EXPECT_LE(lines(compliance), 20);
  EXPECT_LE(lines(Run({"fit", "contact", "stroke_001"})), 20);
  const RunResult all = Run({"fit", "compliance", "stroke_001", "-v"});
  EXPECT_GT(lines(all), lines(compliance));
  EXPECT_THAT(all.out, HasSubstr("paper"));

  // Nothing found is told, with the nearest kind.
  const RunResult kind = Run({"artefact", "list", "--kind", "contact_trak"});
  EXPECT_EQ(kind.exit_code, 0);
  EXPECT_THAT(kind.err, AllOf(HasSubstr("0 of "), HasSubstr("did you mean 'contact_track'?")));
  EXPECT_THAT(Run({"artefact", "list", "--kind", "contact_track"}).err, Not(HasSubstr("0 of ")));
  EXPECT_THAT(Run({"sql", "SELECT name FROM clip WHERE name='nobody'"}).err, HasSubstr("0 rows"));
  EXPECT_THAT(Run({"sql", "SELECT name FROM clip"}).err, Not(HasSubstr("0 rows")));

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
  for (const char* how : {"--dry-run", "--json"}) {
    const RunResult late = Run({"synth", "interaction", "stroke_001", "--from", "100s", how});
    EXPECT_EQ(late.exit_code, 1);
    EXPECT_THAT(late.err, HasSubstr("nothing lies from 100 s on: the reference trajectory goes"));
  }
  const RunResult above = Run(
      {"synth", "interaction", "stroke_001", "--prop", "flat_plate", "--prop-pose", "0.1 0 -1"});
  EXPECT_EQ(above.exit_code, 0) << above.err;
  EXPECT_THAT(above.err, AllOf(HasSubstr("the hand never touches 'flat_plate'; it comes no nearer"),
                               HasSubstr("--prop-pose")));
  EXPECT_THAT(above.out, HasSubstr("never touched; nearest, m"));
  const RunResult again_above = Run({"synth", "interaction", "stroke_001", "--prop", "flat_plate",
                                     "--prop-pose", "0.1 0 -1", "--json"});
  const text::Json nothing = *text::ParseJson(again_above.out);
  EXPECT_TRUE(nothing.Find("if_assumed_otherwise")->elements().empty()) << "zeros say nothing";
  EXPECT_NEAR(*nothing.Find("replay")->Find("nearest_approach_m")->number(), 0.9, 0.1);
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

// A plate 1.7 mm off is a warning of the skeleton's fit, and stays one of what is fitted to it.
TEST_F(FitVerbs, WarningsOfEarlierStepsAreCarriedOn) {
  auto library = store::Library::Open(folder_->path() + "/lab");
  ASSERT_TRUE(library) << library.error().message;
  Keep(**library, lab::MakeClip(ShortFeed(3)), "off_001");
  const std::string pose = "0.12 0 -0.0733";
  EXPECT_THAT(Run({"fit", "skeleton", "off_001", "--surface-pose", pose}).err,
              HasSubstr("off the wrench's axis"));
  EXPECT_EQ(Run({"fit", "pose", "off_001", "--fast"}).exit_code, 0);
  EXPECT_EQ(Run({"fit", "contact", "off_001", "--surface-pose", pose}).exit_code, 0);
  const RunResult compliance = Run({"fit", "compliance", "off_001"});
  EXPECT_EQ(compliance.exit_code, 0) << compliance.err;
  EXPECT_THAT(compliance.err,
              AllOf(HasSubstr("fit skeleton, contact: "), HasSubstr("intervals are wider for it")));
  // A hand from elsewhere: of its fit nothing is known, but the poses and the touches tell.
  const RunResult poses =
      Run({"fit", "pose", "off_001", "--fast", "--skeleton", "finger4", "--scale", "1.04"});
  EXPECT_EQ(poses.exit_code, 0) << poses.err;
  EXPECT_THAT(poses.err, HasSubstr("mm RMS from the hand"));
  EXPECT_EQ(Run({"fit", "contact", "off_001", "--surface-pose", pose}).exit_code, 0);
  EXPECT_THAT(Run({"fit", "compliance", "off_001"}).err,
              AllOf(HasSubstr("fit pose, markers: "), HasSubstr("off the wrench's axis")));
}

}  // namespace
}  // namespace handhold::testing::fit_verbs_test
