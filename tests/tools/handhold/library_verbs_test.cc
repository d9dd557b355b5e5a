// Verbs of the library as a user meets them: what they print in each format, how they end, and that
// --dry-run writes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "database/store/clip_writer.h"
#include "database/text/json.h"
#include "tests/database/store/query_oracle.h"
#include "tests/tools/handhold/run_binary.h"

namespace handhold::testing::library_verbs_test {
namespace {

namespace fs = std::filesystem;
using store::TempDir;
using store::oracle::World;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

text::Json Json(const RunResult& run) {
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Result<text::Json> json = text::ParseJson(run.out);
  EXPECT_TRUE(json) << run.out;
  return json ? *json : text::Json();
}
std::string Text(const text::Json& object, std::string_view key) {
  const text::Json* value = object.Find(key);
  if (value == nullptr) return "(no " + std::string(key) + ")";
  return value->string() ? *value->string() : text::WriteJson(*value).value();
}
std::string Tags(const text::Json& object) {
  const text::Json* tags = object.Find("tags");
  EXPECT_TRUE(tags != nullptr && tags->is_array());
  return tags == nullptr ? "" : text::WriteJson(*tags).value();
}
size_t Lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}
/// Every file under a folder with its bytes: what a dry run must leave as it is.
std::map<std::string, std::string> Snapshot(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().string()] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  return files;
}

/// A library of six takes, made once; tests that change something make their own.
struct Lab {
  TempDir dir;
  World world;
  std::string path;
  explicit Lab(int takes) : path(dir / "lab") { world = store::oracle::MakeWorld(path, takes, 3); }
};
Lab& TheLab() {
  static Lab* lab = new Lab(6);
  return *lab;
}
RunResult Ask(std::vector<std::string> words, const std::string& library = TheLab().path) {
  words.insert(words.end(), {"--library", library});
  return RunHandhold(words);
}

TEST(LibraryVerbs, CreateMakesALibraryOnceAndSaysWhatItWouldDo) {
  const TempDir dir;
  const std::string path = dir / "new";
  const RunResult dry = RunHandhold({"library", "create", path, "--dry-run", "--json"});
  EXPECT_EQ(Text(Json(dry), "created"), "false");
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(Text(Json(RunHandhold({"library", "create", path, "--contact-on", "0.3",
                                   "--contact-off", "0.1", "--json"})),
                 "created"),
            "true");
  const text::Json info = Json(Ask({"library", "info", "--json"}, path));
  EXPECT_EQ(Text(info, "clips"), "0");
  EXPECT_EQ(info.Find("contact_on_N")->number(), 0.3);
  for (const auto& extra : {std::vector<std::string>{}, {"--dry-run"}}) {
    std::vector<std::string> words = {"library", "create", path};
    words.insert(words.end(), extra.begin(), extra.end());
    const RunResult again = RunHandhold(words);
    EXPECT_EQ(again.exit_code, 1) << "a dry run fails where the run would";
    EXPECT_EQ(again.out, "");
    EXPECT_THAT(again.err, HasSubstr("there is a library already"));
  }
  const RunResult wrong =
      RunHandhold({"library", "create", dir / "x", "--contact-on", "0.1", "--contact-off", "0.2"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_FALSE(fs::exists(dir / "x"));
  const RunResult none = Ask({"library", "info"}, dir / "none");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("handhold library create"));
  EXPECT_EQ(
      RunHandhold({"library", "info"}, {.environment = {"HANDHOLD_LIBRARY=" + path}}).exit_code, 0);
  // The settings outlive the catalogue, which is a cache.
  fs::remove(path + "/catalogue.db");
  EXPECT_EQ(Json(Ask({"library", "info", "--json"}, path)).Find("contact_on_N")->number(), 0.3);
}

TEST(LibraryVerbs, InfoAndListSayTheSameInEveryFormat) {
  const text::Json info = Json(Ask({"library", "info", "--json"}));
  EXPECT_EQ(Text(info, "clips"), "6");
  EXPECT_EQ(Text(info, "unfinished_clips"), "0");
  EXPECT_NEAR(std::stod(Text(info, "recorded_ns")), 24e9, 1e6) << "a time is a string of ns";
  EXPECT_THAT(Ask({"library", "info"}).out, HasSubstr("never closed"));

  const text::Json list = Json(Ask({"clip", "list", "--json"}));
  ASSERT_EQ(list.elements().size(), 6u);
  const text::Json& newest = list.elements()[0];
  EXPECT_EQ(Text(newest, "name"), "stroke_006") << "newest first";
  EXPECT_EQ(Text(newest, "length_ns").find_first_not_of("0123456789"), std::string::npos);
  const std::string csv = Ask({"clip", "list", "--format", "csv"}).out;
  EXPECT_EQ(Lines(csv), 7u);
  EXPECT_THAT(csv, StartsWith("name,id,subject,task,prop,utc_start_ns,length_ns,"));
  EXPECT_THAT(csv, HasSubstr("\nstroke_006," + Text(newest, "id") + ","));
  const std::string lines = Ask({"clip", "list", "--format", "ndjson"}).out;
  EXPECT_EQ(Lines(lines), 6u);
  EXPECT_EQ(*text::ParseJson(lines.substr(0, lines.find('\n'))), newest);
  EXPECT_THAT(Ask({"clip", "list"}).out, HasSubstr("stroke_006"));
  EXPECT_EQ(
      Json(Ask({"clip", "list", "--limit", "2", "--offset", "1", "--json"})).elements().size(), 2u);
  size_t of_s01 = 0;
  for (const auto& take : TheLab().world.takes) of_s01 += take.clip.info().subject == "S01" ? 1 : 0;
  EXPECT_EQ(Json(Ask({"clip", "list", "--subject", "S01", "--json"})).elements().size(), of_s01);
  EXPECT_EQ(Json(Ask({"clip", "list", "--tag", "nonesuch", "--json"})).elements().size(), 0u);
}

TEST(LibraryVerbs, ShowTellsAllOfAClipAndNamesTheNearest) {
  const text::Json clip = Json(Ask({"clip", "show", "stroke_001", "--json"}));
  const auto& take = TheLab().world.takes[0];
  EXPECT_EQ(Text(*clip.Find("clip"), "name"), "stroke_001");
  EXPECT_EQ(Text(*clip.Find("clip"), "id"), take.clip.info().id.ToString());
  EXPECT_EQ(clip.Find("streams")->elements().size(), take.clip.streams().size());
  EXPECT_EQ(clip.Find("force_sensors")->elements().size(), take.clip.force_sensors().size());
  EXPECT_EQ(clip.Find("events")->elements().size(), take.clip.events().size());
  const std::string id = take.clip.info().id.ToString();
  EXPECT_EQ(Json(Ask({"clip", "show", id, "--json"})), clip);
  const RunResult wrong = Ask({"clip", "show", "stroke_0001"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'stroke_001'"));
  EXPECT_EQ(Ask({"clip", "show"}).exit_code, 2);
  EXPECT_THAT(Ask({"clip", "shwo", "x"}).err, HasSubstr("did you mean 'show'"));
}

TEST(LibraryVerbs, TagAndRateAreKeptWithTheirAuthorAndADryRunIsNot) {
  Lab lab(1);
  const auto before = Snapshot(lab.path);
  const RunResult dry =
      Ask({"clip", "tag", "stroke_001", "sharp", "--author", "ben", "--dry-run"}, lab.path);
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("sharp")) << "says what the tags would be";
  EXPECT_EQ(
      Ask({"clip", "rate", "stroke_001", "2", "--author", "ben", "--dry-run"}, lab.path).exit_code,
      0);
  EXPECT_EQ(Snapshot(lab.path), before) << "a dry run writes nothing";

  // Lists, wherever tags are printed; a tag may be two words.
  const text::Json tagged = Json(Ask(
      {"clip", "tag", "stroke_001", "sharp", "two words", "--author", "ben", "--json"}, lab.path));
  EXPECT_THAT(Tags(tagged), AllOf(HasSubstr("\"sharp\""), HasSubstr("\"two words\"")));
  EXPECT_EQ(Tags(*Json(Ask({"clip", "show", "stroke_001", "--json"}, lab.path)).Find("clip")),
            Tags(tagged));
  EXPECT_EQ(Tags(Json(Ask({"clip", "list", "--tag", "sharp", "--json"}, lab.path)).elements()[0]),
            Tags(tagged));
  EXPECT_THAT(Ask({"clip", "show", "stroke_001"}, lab.path).out, HasSubstr("sharp, two words"));
  EXPECT_THAT(Tags(Json(Ask({"clip", "tag", "stroke_001", "two words", "--remove", "--author",
                             "eva", "--json"},
                            lab.path))),
              AllOf(HasSubstr("\"sharp\""), Not(HasSubstr("two"))));
  EXPECT_EQ(
      Text(Json(Ask({"clip", "rate", "stroke_001", "5", "--author", "ben", "--json"}, lab.path)),
           "rating"),
      "5");
  EXPECT_EQ(Json(Ask({"clip", "list", "--tag", "sharp", "--json"}, lab.path)).elements().size(),
            1u);
  const text::Json said = Json(Ask({"sql",
                                    "SELECT author, name, removed FROM ledger.entry WHERE "
                                    "author IN ('ben', 'eva') ORDER BY id",
                                    "--json"},
                                   lab.path));
  ASSERT_EQ(said.elements().size(), 4u);
  EXPECT_EQ(Text(said.elements()[2], "author"), "eva");
  EXPECT_EQ(Text(said.elements()[2], "removed"), "1");

  const auto untouched = Snapshot(lab.path);
  const RunResult empty =
      Ask({"clip", "tag", "stroke_001", "fine", "", "--author", "ben"}, lab.path);
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("TAG: an empty word"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"tag", "stroke_001", "\xff", "--author", "ben"},
        {"rate", "stroke_001", "4", "--author", "\xff"},
        {"rate", "stroke_001", "4", "--author="}}) {
    std::vector<std::string> all = {"clip"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(Ask(all, lab.path).exit_code, 2) << words[0];
  }
  EXPECT_EQ(Snapshot(lab.path), untouched) << "all tags or none";
  EXPECT_EQ(Ask({"clip", "list", "--limit", "-5"}, lab.path).exit_code, 2);
  EXPECT_EQ(Ask({"sql", "SELECT 1", "--limit", "-5"}, lab.path).exit_code, 2);
  const RunResult never = Ask({"sql", "SELECT 1", "--timeout", "-1s"}, lab.path);
  EXPECT_EQ(never.exit_code, 2);
  EXPECT_THAT(never.err, HasSubstr("--timeout: expected above 0 s, found '-1s'"));
  EXPECT_THAT(Ask({"sql", "SELECT 9e999 AS a, -9e999 AS b", "--json"}, lab.path).out,
              AllOf(HasSubstr("\"inf\""), HasSubstr("\"-inf\"")));
  const RunResult six = Ask({"clip", "rate", "stroke_001", "6", "--author", "ben"}, lab.path);
  EXPECT_EQ(six.exit_code, 2);
  const RunResult nobody = Ask({"clip", "rate", "stroke_001", "5"}, lab.path);
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_THAT(nobody.err, HasSubstr("--author"));
  EXPECT_EQ(Ask({"clip", "tag", "stroke_009", "x", "--author", "ben"}, lab.path).exit_code, 1);
}

TEST(LibraryVerbs, WhatPeopleSayOfAClipIsKeptBesideIt) {
  Lab lab(3);
  const auto clips = Snapshot(lab.path + "/clips");
  const auto say = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "clip");
    words.insert(words.end(), {"--author", "ana"});
    return Ask(words, lab.path);
  };
  EXPECT_EQ(say({"note", "stroke_001", "thumb slipped off the edge"}).exit_code, 0);
  EXPECT_EQ(say({"note", "stroke_001", ""}).exit_code, 2);
  EXPECT_EQ(say({"rename", "stroke_001", "left_001"}).exit_code, 0);
  const RunResult taken = say({"rename", "left_001", "stroke_002"});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_THAT(taken.err, HasSubstr("another clip is called 'stroke_002'"));
  EXPECT_EQ(say({"correct", "left_001", "--subject", "S42", "--task", "lift"}).exit_code, 0);
  EXPECT_EQ(say({"correct", "left_001"}).exit_code, 2);
  const RunResult shown = Ask({"clip", "show", "left_001", "--json"}, lab.path);
  const text::Json clip = Json(shown);
  EXPECT_EQ(Text(*clip.Find("clip"), "subject"), "S42");
  EXPECT_EQ(Text(*clip.Find("clip"), "task"), "lift");
  EXPECT_THAT(text::WriteJson(*clip.Find("said")).value(),
              AllOf(HasSubstr("thumb slipped off the edge"), HasSubstr("\"ana\"")));
  EXPECT_THAT(text::WriteJson(*clip.Find("channels")).value(), HasSubstr("\"RTIP.x\""));
  EXPECT_EQ(
      Json(Ask({"query", "text ~ 'thumb slipped off'", "--json"}, lab.path)).elements().size(), 1u);

  EXPECT_EQ(say({"withdraw", "stroke_002", "--why", "wrong prop"}).exit_code, 0);
  EXPECT_EQ(Json(Ask({"clip", "list", "--json"}, lab.path)).elements().size(), 2u);
  EXPECT_EQ(Json(Ask({"query", "closed", "--json"}, lab.path)).elements().size(), 2u);
  EXPECT_EQ(Json(Ask({"clip", "list", "--withdrawn", "--json"}, lab.path)).elements().size(), 1u);
  EXPECT_EQ(say({"withdraw", "stroke_002", "--undo"}).exit_code, 0);
  EXPECT_EQ(say({"withdraw", "stroke_002", "--undo"}).exit_code, 1) << "it is not withdrawn";
  EXPECT_EQ(Json(Ask({"clip", "list", "--json"}, lab.path)).elements().size(), 3u);

  EXPECT_EQ(say({"tag", "--where", "closed and name ~ stroke", "seen"}).exit_code, 0);
  EXPECT_EQ(Json(Ask({"clip", "list", "--tag", "seen", "--json"}, lab.path)).elements().size(), 2u);
  EXPECT_EQ(say({"tag", "--where", "closd", "seen"}).exit_code, 2);
  EXPECT_EQ(Snapshot(lab.path + "/clips"), clips) << "no clip changes";
  EXPECT_EQ(Ask({"library", "check"}, lab.path).exit_code, 0);
}

TEST(LibraryVerbs, NamesThatLookLikeAPersonsAreSpokenOf) {
  Lab lab(1);
  const auto correct = [&](const std::string& subject) {
    return Ask({"clip", "correct", "stroke_001", "--subject", subject, "--author", "ben"}, lab.path)
        .err;
  };
  for (const char* name : {"Ana", "Ana Kovac", "kovac, Ana", "Zo\xC3\xAB"}) {
    const bool flagged = correct(name).find("looks like a person's name") != std::string::npos;
    EXPECT_EQ(flagged, std::string(name) != "kovac, Ana") << name;
  }
  for (const char* code : {"S03", "subject", "left_hand", "AK", "P-12", "s7"})
    EXPECT_THAT(correct(code), Not(HasSubstr("looks like"))) << code;
}

TEST(LibraryVerbs, NothingFoundIsSaidWithTheNearestKnownValue) {
  const RunResult list = Ask({"clip", "list", "--task", "strok"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.err, AllOf(HasSubstr("0 of 6 clips"), HasSubstr("did you mean 'stroke'")));
  const RunResult query = Ask({"query", "tag = goood"});
  EXPECT_EQ(query.exit_code, 0);
  EXPECT_THAT(query.err,
              AllOf(HasSubstr("0 of 6 clips"), HasSubstr("no clip has the tag 'goood'")));
  EXPECT_THAT(Ask({"clip", "list", "--task", "strok", "-q"}).err, Not(HasSubstr("0 of")));
  const TempDir dir;
  Json(RunHandhold({"library", "create", dir / "new", "--json"}));
  EXPECT_THAT(Ask({"clip", "list"}, dir / "new").err, HasSubstr("0 of 0 clips"));
}

TEST(LibraryVerbs, AQueryCountsInGroups) {
  const text::Json by = Json(Ask({"query", "strokes where closed", "--by", "task", "--json"}));
  int64_t rows = 0;
  for (const text::Json& group : by.elements()) rows += std::stoll(Text(group, "rows"));
  const text::Json all = Json(Ask({"query", "strokes where closed", "--count", "--json"}));
  ASSERT_EQ(all.elements().size(), 1u);
  EXPECT_EQ(Text(all.elements()[0], "rows"), std::to_string(rows));
  EXPECT_EQ(Text(all.elements()[0], "clips"), "6");
  EXPECT_EQ(Ask({"query", "closed", "--by", "tsk"}).exit_code, 2);
}

TEST(LibraryVerbs, ATagThatAClipDoesNotHaveIsNotTakenOffInSilence) {
  Lab lab(1);
  const auto remove = [&](std::vector<std::string> tags) {
    std::vector<std::string> words = {"clip", "tag", "stroke_001", "--remove", "--author", "ben"};
    words.insert(words.end(), tags.begin(), tags.end());
    return Ask(words, lab.path);
  };
  const text::Json shown = Json(Ask(
      {"clip", "tag", "stroke_001", "sharp", "two words", "--author", "ben", "--json"}, lab.path));
  const auto before = Snapshot(lab.path);
  const RunResult none = remove({"sharp", "nosuch"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("the clip 'stroke_001' has no tag 'nosuch'; it has: "),
                              HasSubstr("sharp, two words"), HasSubstr("nothing was said")));
  EXPECT_EQ(remove({"nosuch", "--dry-run"}).exit_code, 1);
  EXPECT_EQ(Snapshot(lab.path), before) << "all or none";
  EXPECT_EQ(remove({"sharp"}).exit_code, 0);
  EXPECT_EQ(remove({"sharp"}).exit_code, 1) << "it is off already";
}

TEST(LibraryVerbs, CheckAndRebuildFindWhatIsDamagedAndExitWithLoss) {
  Lab lab(3);
  const RunResult sound = Ask({"library", "check", "--json"}, lab.path);
  const text::Json checked = Json(sound);
  EXPECT_EQ(Text(*checked.Find("checked"), "clips"), "3");
  EXPECT_EQ(Text(*checked.Find("checked"), "artefacts"), "0");
  EXPECT_GE(std::stoi(Text(*checked.Find("checked"), "ledger_entries")), 2);
  EXPECT_EQ(Text(*checked.Find("checked"), "verdict"), "all sound");
  EXPECT_EQ(checked.Find("findings")->elements().size(), 0u);
  EXPECT_THAT(Ask({"library", "check"}, lab.path).out,
              AllOf(HasSubstr("checked\n"), HasSubstr("all sound"), Not(HasSubstr("findings\n"))));
  EXPECT_THAT(Ask({"library", "rebuild"}, lab.path).out,
              AllOf(HasSubstr("rebuilt\n"), HasSubstr("all sound")));
  const auto before = Snapshot(lab.path);
  const RunResult dry = Ask({"library", "rebuild", "--dry-run", "--json"}, lab.path);
  EXPECT_EQ(Text(Json(dry), "clips"), "3");
  EXPECT_EQ(Snapshot(lab.path), before);
  fs::remove(lab.path + "/catalogue.db");
  EXPECT_EQ(Ask({"library", "rebuild", "--dry-run"}, lab.path).exit_code, 0);
  EXPECT_FALSE(fs::exists(lab.path + "/catalogue.db")) << "a dry run writes nothing";
  EXPECT_EQ(Ask({"library", "info"}, lab.path).exit_code, 0);
  const std::string victim =
      lab.path + "/clips/" + lab.world.takes[1].clip.info().id.ToString() + ".clip";
  const auto size = fs::file_size(victim);
  {
    std::fstream file(victim, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.write("damage damage damage", 20);
  }
  const RunResult check = Ask({"library", "check", "--format", "csv"}, lab.path);
  EXPECT_EQ(check.exit_code, 3) << check.out;
  EXPECT_THAT(check.out, AllOf(StartsWith("clips,artefacts,ledger_entries,wrong,verdict\n3,0,"),
                               HasSubstr("damaged or incomplete\n\nseverity,where,what\n"),
                               HasSubstr(lab.world.takes[1].clip.info().id.ToString())));
  EXPECT_THAT(check.err, HasSubstr("finished with loss"));
  const RunResult query =
      Ask({"query", "rms(normal_force) > 0.1 N within 0.2 s of contact_on"}, lab.path);
  EXPECT_THAT(query.exit_code, ::testing::AnyOf(0, 3));
  std::ofstream(victim, std::ios::trunc) << "rubbish";
  const RunResult rebuild = Ask({"library", "rebuild", "--json"}, lab.path);
  EXPECT_EQ(rebuild.exit_code, 3);
  EXPECT_EQ(Text(Json(Ask({"library", "info", "--json"}, lab.path)), "clips"), "2");
  EXPECT_EQ(Text(Json(Ask({"library", "info", "--json"}, lab.path)), "problems"), "1");
}

TEST(LibraryVerbs, ADryRunRefusesTheCatalogueThatTheRebuildRefuses) {
  Lab lab(1);
  std::ofstream(lab.path + "/catalogue.db", std::ios::trunc) << std::string(5000, 'x');
  const auto before = Snapshot(lab.path);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"library", "rebuild", "--dry-run"}, {"library", "rebuild"}}) {
    const RunResult run = Ask(words, lab.path);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("is not a Handhold catalogue"));
    EXPECT_THAT(run.out, Not(HasSubstr("replaces")));
  }
  EXPECT_EQ(Snapshot(lab.path), before);
}

TEST(LibraryVerbs, ARebuildOfAChangedClipExitsWithLoss) {
  Lab lab(1);
  const std::string sha256 =
      Text(*Json(Ask({"clip", "show", "stroke_001", "--json"}, lab.path)).Find("clip"), "sha256");
  for (const auto& entry : fs::directory_iterator(lab.path + "/clips")) {
    if (entry.path().extension() != ".clip") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(99);  // which SQLite wrote it
    file.put(static_cast<char>(0x7E));
  }
  const RunResult rebuilt = Ask({"library", "rebuild"}, lab.path);
  EXPECT_EQ(rebuilt.exit_code, 3) << rebuilt.err;
  EXPECT_THAT(rebuilt.out, HasSubstr("its SHA-256 was " + sha256.substr(0, 12) + "... and is "));
  EXPECT_EQ(Ask({"library", "rebuild"}, lab.path).exit_code, 0);
}

TEST(LibraryVerbs, ALibraryOnAFullDiskSaysSoWithoutItsStatements) {
  Lab lab(1);
  const RunResult full =
      RunHandhold({"clip", "tag", "stroke_001", "good", "--author", "ben", "--library", lab.path},
                  {.file_limit_bytes = 1});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, AllOf(HasSubstr("the library at " + lab.path + " cannot be written: "),
                              HasSubstr("nothing was said"), Not(HasSubstr("INSERT")),
                              Not(HasSubstr("UPDATE")), Not(HasSubstr("BEGIN"))));
}

// An artefact that cannot be read takes from every answer until it is made again, or forgotten.
// What was made of a clip whose bytes flipped: the clip is here, and damaged.
TEST(LibraryVerbs, AClipWithFlippedBytesIsDamagedAndNotGone) {
  Lab lab(1);
  const store::ClipRow row = lab.world.library->FindClip("stroke_001").value();
  artefact::Provenance made;
  made.step = "fit.skeleton";
  made.inputs = {{"clip", row.sha256, row.name}};
  ASSERT_TRUE(lab.world.library->Save(store::JsonArtefact{made, "skeleton", "{}"}));
  EXPECT_EQ(Ask({"library", "check"}, lab.path).exit_code, 0);
  {
    std::fstream file(lab.path + "/clips/" + row.path,
                      std::ios::in | std::ios::out | std::ios::binary);
    for (int64_t at = 4096; at < row.bytes; at += 512) {
      file.seekp(at);
      file.write("damage", 6);
    }
  }
  const RunResult check = Ask({"library", "check"}, lab.path);
  EXPECT_EQ(check.exit_code, 3);
  EXPECT_THAT(check.out + check.err, AllOf(HasSubstr("whose file is damaged: clips/" + row.path),
                                           Not(HasSubstr("not in this library"))));
}

TEST(LibraryVerbs, ALockedCatalogueSaysWhoMayHoldIt) {
  Lab lab(1);
  store::DatabaseOptions options;
  options.mode = store::OpenMode::kReadWrite;
  store::Database db = store::Database::Open(lab.path + "/catalogue.db", options).value();
  ASSERT_TRUE(db.Execute("BEGIN EXCLUSIVE"));
  const RunResult list = Ask({"clip", "list"}, lab.path);
  EXPECT_EQ(list.exit_code, 1);
  EXPECT_THAT(list.err, AllOf(HasSubstr("another program holds it"), HasSubstr("fuser ")));
}

TEST(LibraryVerbs, ADamagedArtefactsFileIsNamedWithWhatIsRidOfIt) {
  Lab lab(1);
  const std::string art = lab.path + "/derived/" + std::string(64, 'a') + ".art";
  std::ofstream(art) << "rubbish";
  EXPECT_EQ(Ask({"library", "rebuild"}, lab.path).exit_code, 3);
  const auto remedy = HasSubstr("`rm " + art + "` removes it, and 'handhold library rebuild'");
  const RunResult query = Ask({"query", "clips where keep or not keep"}, lab.path);
  EXPECT_EQ(query.exit_code, 3);
  EXPECT_THAT(query.err, AllOf(remedy, HasSubstr("makes it again")));
  EXPECT_THAT(Ask({"library", "check"}, lab.path).out, remedy);
  fs::remove(art);
  EXPECT_EQ(Ask({"library", "rebuild"}, lab.path).exit_code, 0);
  EXPECT_EQ(Ask({"query", "clips where keep or not keep"}, lab.path).exit_code, 0);
}

// A damaged clip is a loss before a rebuild, and no less after it.
TEST(LibraryVerbs, WhatARebuildCouldNotCatalogueIsSaidByEveryAnswer) {
  Lab lab(3);
  const std::string victim = lab.world.takes[1].clip.info().id.ToString();
  const std::string file = lab.path + "/clips/" + victim + ".clip";
  const std::vector<std::vector<std::string>> questions = {
      {"query", "clips where peak(normal_force) > 0 N"},
      {"clip", "list"},
      {"sql", "SELECT count(*) FROM clip"}};
  for (const auto& words : questions) {
    const RunResult run = Ask(words, lab.path);
    EXPECT_EQ(run.exit_code, 0) << words[0];
    EXPECT_EQ(run.err, "") << words[0];
  }
  const std::string whole = [&] {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  std::string spoilt = whole;
  for (size_t at = 4096; at + 6 < spoilt.size(); at += 512) spoilt.replace(at, 6, "damage");
  std::ofstream(file, std::ios::binary | std::ios::trunc) << spoilt;
  EXPECT_EQ(Ask({"library", "rebuild"}, lab.path).exit_code, 3);
  for (const auto& words : questions) {
    const RunResult run = Ask(words, lab.path);
    EXPECT_EQ(run.exit_code, words[0] == "query" ? 3 : 0) << words[0];
    EXPECT_THAT(run.err, HasSubstr("clips/" + victim + ".clip")) << words[0];
  }
  EXPECT_THAT(Ask({"query", "tag = nobody_said_this"}, lab.path).err, Not(HasSubstr("ledger.db")));
  // A copy takes nothing from an answer.
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole;
  fs::copy_file(file, lab.path + "/clips/copy.clip");
  EXPECT_EQ(Ask({"library", "rebuild"}, lab.path).exit_code, 3);
  for (const auto& words : questions) {
    const RunResult run = Ask(words, lab.path);
    EXPECT_EQ(run.exit_code, 0) << words[0];
    EXPECT_EQ(run.err, "") << words[0];
  }
}

TEST(LibraryVerbs, ALostRecordingIsALossAlsoWhenTheCatalogueHasForgottenIt) {
  Lab lab(2);
  const std::string id = lab.world.takes[0].clip.info().id.ToString();
  EXPECT_EQ(Ask({"clip", "rate", "stroke_001", "4", "--author", "ben"}, lab.path).exit_code, 0);
  EXPECT_EQ(Ask({"library", "check"}, lab.path).exit_code, 0);
  fs::remove(lab.path + "/clips/" + id + ".clip");
  const RunResult check = Ask({"library", "check"}, lab.path);
  EXPECT_EQ(check.exit_code, 3);
  EXPECT_THAT(check.out, HasSubstr("put it back from a copy"));
  const auto before = Snapshot(lab.path);
  const RunResult dry = Ask({"library", "rebuild", "--dry-run"}, lab.path);
  EXPECT_EQ(dry.exit_code, 3);
  EXPECT_THAT(dry.err, AllOf(HasSubstr(id), HasSubstr("forgets")));
  EXPECT_EQ(Snapshot(lab.path), before);
  const RunResult rebuild = Ask({"library", "rebuild"}, lab.path);
  EXPECT_EQ(rebuild.exit_code, 3);
  EXPECT_THAT(rebuild.out, AllOf(HasSubstr("clip " + id), HasSubstr("as 'stroke_001'")));
  for (int round = 0; round < 2; ++round) {
    const RunResult after = Ask({"library", "check"}, lab.path);
    EXPECT_EQ(after.exit_code, 3);
    EXPECT_THAT(after.out, AllOf(HasSubstr("clip " + id), HasSubstr("rating 4")));
    EXPECT_EQ(Text(Json(Ask({"library", "info", "--json"}, lab.path)), "problems"), "1");
    EXPECT_THAT(Ask({"clip", "list"}, lab.path).err, HasSubstr("clip " + id));
    EXPECT_EQ(Ask({"query", "clips where keep or not keep"}, lab.path).exit_code, 3);
    fs::remove(lab.path + "/catalogue.db");
  }
}

TEST(LibraryVerbs, ATakeWhoseRecorderDiedIsNamedByTheEverydayVerbs) {
  Lab lab(1);
  recording::ClipInfo info;
  info.id = ClipId::New();
  info.name = "lost_001";
  const std::string file = "clips/" + info.id.ToString() + ".clip";
  auto writer = store::ClipWriter::Create(lab.path + "/" + file, info, {}).value();
  const text::Json during = Json(Ask({"library", "info", "--json"}, lab.path));
  EXPECT_EQ(Text(during, "being_recorded_clips"), "1");
  EXPECT_EQ(Text(during, "uncatalogued_clips"), "0");
  EXPECT_EQ(Ask({"clip", "list"}, lab.path).err, "");
  EXPECT_EQ(Ask({"query", "clips where keep or not keep"}, lab.path).exit_code, 0);
  writer.reset();
  const std::string remedy = "`handhold library rebuild --finish --library " + lab.path + "`";
  const RunResult info_after = Ask({"library", "info", "--json"}, lab.path);
  EXPECT_EQ(Text(Json(info_after), "uncatalogued_clips"), "1");
  EXPECT_EQ(Text(Json(info_after), "uncatalogued_unfinished_clips"), "1");
  EXPECT_EQ(Text(Json(info_after), "being_recorded_clips"), "0");
  EXPECT_THAT(info_after.err, HasSubstr(remedy));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"clip", "list"}, {"sql", "SELECT count(*) FROM clip"}}) {
    const RunResult run = Ask(words, lab.path);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.err, AllOf(HasSubstr(file), HasSubstr(remedy))) << words[0];
  }
  const RunResult query = Ask({"query", "clips where keep or not keep"}, lab.path);
  EXPECT_EQ(query.exit_code, 3) << "a clip was not asked";
  EXPECT_THAT(query.err, AllOf(HasSubstr(file), HasSubstr(remedy)));
  EXPECT_EQ(Ask({"library", "rebuild", "--finish"}, lab.path).exit_code, 0);
  EXPECT_EQ(Ask({"library", "info"}, lab.path).err, "");
  EXPECT_THAT(Ask({"clip", "list"}, lab.path).out, HasSubstr("lost_001"));
}

TEST(LibraryVerbs, WhatADamagedEntryOfTheLedgerSaidIsUnknownAfterARebuild) {
  Lab lab(3);
  EXPECT_EQ(Ask({"clip", "rate", "stroke_001", "4", "--author", "zora"}, lab.path).exit_code, 0);
  EXPECT_EQ(Ask({"clip", "tag", "stroke_002", "mine", "--author", "ben"}, lab.path).exit_code, 0);
  const auto rows_of = [&](const std::string& text) {
    const RunResult run = Ask({"query", text, "--format", "ndjson"}, lab.path);
    EXPECT_EQ(run.exit_code, 0) << text;
    return Lines(run.out);
  };
  const size_t good = rows_of("rating >= 4");
  ASSERT_GT(good, 0u);
  ASSERT_GT(rows_of("not tag = pilot"), 0u);
  std::string bytes;
  {
    std::ifstream in(lab.path + "/ledger.db", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const size_t at = bytes.find("zora");
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  std::ofstream(lab.path + "/ledger.db", std::ios::binary | std::ios::trunc) << bytes;
  EXPECT_EQ(Ask({"library", "rebuild"}, lab.path).exit_code, 3);
  const auto ask = [&](const std::string& text, size_t rows) {
    const RunResult run = Ask({"query", text, "--format", "ndjson"}, lab.path);
    EXPECT_EQ(run.exit_code, 3) << text;
    EXPECT_EQ(Lines(run.out), rows) << text;
    EXPECT_THAT(run.err, HasSubstr("ledger.db, entry")) << text;
  };
  const auto doubt = AllOf(HasSubstr("ledger.db, entry"), HasSubstr("whether tags and rating"));
  EXPECT_THAT(Ask({"clip", "show", "stroke_001"}, lab.path).err, doubt);
  EXPECT_EQ(Ask({"clip", "show", "stroke_002"}, lab.path).err, "") << "nothing of it was lost";
  EXPECT_THAT(Ask({"clip", "list"}, lab.path).err, HasSubstr("ledger.db, entry"));
  ask("rating >= 4", good - 1);
  EXPECT_EQ(Ask({"query", "not rating >= 4"}, lab.path).exit_code, 3);
  ask("tag = mine", 1);
  ask("not tag = pilot", 0);
  ask("tag != mine", 0);
  ask("not text ~ \"slow\"", 0);
  EXPECT_EQ(Ask({"query", "clips where keep or not keep"}, lab.path).exit_code, 0);
}

TEST(LibraryVerbs, QueryAnswersInEveryFormatPageByPage) {
  const std::string text = "peak(normal_force) > 1 N within 0.2 s of contact_on";
  const text::Json all = Json(Ask({"query", text, "--json"}));
  ASSERT_GT(all.elements().size(), 4u);
  const text::Json& first = all.elements()[0];
  EXPECT_EQ(Text(first, "event"), "contact_on");
  EXPECT_GT(*first.Find("peak_normal_force_N")->number(), 1.0);
  EXPECT_EQ(Text(first, "t_ns").find_first_not_of("0123456789"), std::string::npos);
  const std::string csv = Ask({"query", text, "--format", "csv"}).out;
  EXPECT_EQ(Lines(csv), all.elements().size() + 1);
  EXPECT_THAT(csv, StartsWith("clip,event,number,t_ns,length_ns,text,origin,stroke,"
                              "peak_normal_force_N,subject,task,prop,utc_start_ns,id\n"));
  EXPECT_EQ(Lines(Ask({"query", text, "--format", "ndjson"}).out), all.elements().size());
  EXPECT_THAT(Ask({"query", text}).out, HasSubstr("contact_on"));
  const RunResult page = Ask({"query", text, "--limit", "2", "--offset", "1", "--json"});
  const text::Json two = Json(page);
  ASSERT_EQ(two.elements().size(), 2u);
  EXPECT_EQ(two.elements()[0], all.elements()[1]);
  EXPECT_THAT(page.err, HasSubstr("more rows: --offset 3"));
  EXPECT_EQ(Ask({"query", text, "--limit", "2", "-q"}).err, "");
  EXPECT_EQ(Json(Ask({"query", "clips where keep or not keep", "--json"})).elements().size(), 6u);
  EXPECT_EQ(Json(Ask({"query", "subject = nobody", "--json"})).elements().size(), 0u);

  const RunResult wrong = Ask({"query", "peak(normal_force) > 1 NN"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(wrong.err,
              AllOf(HasSubstr("column 24"), HasSubstr("did you mean 'N'"),
                    HasSubstr("\n  peak(normal_force) > 1 NN\n  " + std::string(23, ' ') + "^")));
  EXPECT_EQ(Ask({"query"}).exit_code, 2);
  EXPECT_EQ(Ask({"query", "keep", "--limit", "-3"}).exit_code, 2);
  EXPECT_THAT(RunHandhold({"help", "query"}).out,
              HasSubstr("peak(normal_force) > 5 N within 0.2 s"));
}

TEST(LibraryVerbs, SqlReadsAndOnlyReads) {
  const auto before = Snapshot(TheLab().path);
  const text::Json rows =
      Json(Ask({"sql",
                "SELECT name, duration_ns, 1 AS one, 1 AS one, NULL AS empty FROM clip "
                "ORDER BY name",
                "--json"}));
  ASSERT_EQ(rows.elements().size(), 6u);
  EXPECT_EQ(Text(rows.elements()[0], "name"), "stroke_001");
  EXPECT_NEAR(std::stod(Text(rows.elements()[0], "duration_ns")), 4e9, 1e7);
  EXPECT_TRUE(rows.elements()[0].Find("duration_ns")->string()) << "ns are strings in every output";
  EXPECT_EQ(Text(rows.elements()[0], "one_2"), "1");
  EXPECT_EQ(Text(rows.elements()[0], "empty"), "null");
  EXPECT_EQ(Ask({"sql", "SELECT 1 AS a, 'x,y' AS b", "--format", "csv"}).out, "a,b\n1,\"x,y\"\n");
  EXPECT_EQ(
      Lines(Ask({"sql", "SELECT * FROM samples('stroke_001', 'vicon/markers', 'RIFT.x', 1, 2)",
                 "--format", "ndjson"})
                .out),
      101u);
  EXPECT_EQ(Lines(Ask({"sql", "SELECT name FROM clip", "--limit", "2", "--format", "csv"}).out),
            3u);
  EXPECT_EQ(Ask({"sql", "SELECT :a AS a", "--param", "a=7", "--format", "csv"}).out, "a\n7\n");
  const RunResult writes = Ask({"sql", "DELETE FROM clip"});
  EXPECT_EQ(writes.exit_code, 2);
  EXPECT_THAT(writes.err, HasSubstr("only reads: DELETE is refused"));
  EXPECT_EQ(Ask({"sql", "SELECT nme FROM clip"}).exit_code, 2);
  EXPECT_EQ(Ask({"sql", "SELECT peak('stroke_1', 'plate', 'fx', 0, 1)"}).exit_code, 2);
  EXPECT_EQ(Ask({"sql", "SELECT 1", "--param", "a"}).exit_code, 2);
  EXPECT_EQ(
      Ask({"sql",
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n",
           "--timeout", "50ms"})
          .exit_code,
      1);
  // Rows that an error cut off do not read as a whole result.
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n WHERE i < 4";
  const RunResult cut = Ask({"sql", endless, "--timeout", "200ms", "--json"});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_EQ(cut.out, "[\n{\"i\":1},\n{\"i\":2},\n{\"i\":3}\n");
  const RunResult table = Ask({"sql", endless, "--timeout", "200ms", "--format", "csv"});
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_EQ(table.out, "i\n1\n2\n3\n");
  EXPECT_EQ(Ask({"sql", endless, "--limit", "2", "--json"}).out, "[\n{\"i\":1},\n{\"i\":2}\n]\n");
  EXPECT_EQ(Snapshot(TheLab().path), before);
}

}  // namespace
}  // namespace handhold::testing::library_verbs_test
