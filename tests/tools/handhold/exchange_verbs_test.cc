// clip import and clip export as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>

#include "database/base/digest.h"
#include "database/base/time.h"
#include "database/store/clip_writer.h"
#include "database/store/library.h"
#include "database/text/json.h"
#include "tests/database/exchange/c3d_bytes.h"
#include "tests/support/paths.h"
#include "tests/tools/handhold/run_binary.h"

namespace handhold::testing::exchange_verbs_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ExchangeVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(::testing::TempDir()) /
        ("verbs_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ASSERT_EQ(RunHandhold({"library", "create", Path("lab")}).exit_code, 0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string PutFile(const std::string& name, const std::vector<uint8_t>& bytes) const {
    std::ofstream out(Path(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    return Path(name);
  }
  RunResult Ask(std::vector<std::string> words) const {
    words.insert(words.end(), {"--library", Path("lab"), "--format", "json"});
    return RunHandhold(words);
  }
  static text::Json Parsed(const RunResult& run) {
    const auto json = text::ParseJson(run.out);
    EXPECT_TRUE(json.has_value()) << run.out << run.err;
    return json ? *json : text::Json();
  }
  /// rows of section `section`, one text per row.
  static std::vector<std::string> Rows(const RunResult& run, const char* section) {
    std::vector<std::string> rows;
    const text::Json json = Parsed(run);
    const text::Json* table = json.Find(section);
    EXPECT_NE(table, nullptr) << run.out;
    if (table == nullptr) return rows;
    for (const text::Json& row : table->elements()) rows.push_back(text::WriteJson(row).value());
    return rows;
  }
  int Clips() const { return static_cast<int>(Parsed(Ask({"clip", "list"})).elements().size()); }
  fs::path folder_;
};

TEST_F(ExchangeVerbs, ImportShowExportImport) {
  C3dBytes made;
  made.frames = 300;
  const std::string file = PutFile("walk.c3d", made.Build());
  const RunResult imported = Ask({"clip", "import", file, "--subject", "S07", "--task", "walk"});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  const auto files = Rows(imported, "files");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(files[0], HasSubstr("\"result\":\"whole\""));
  EXPECT_THAT(files[0], HasSubstr("\"format\":\"c3d\""));
  EXPECT_THAT(files[0], HasSubstr("\"length_ns\":\"3000000000\""));
  const auto findings = Rows(imported, "findings");
  ASSERT_EQ(findings.size(), 1u) << imported.out;
  EXPECT_THAT(findings[0], HasSubstr("--name gives another"));
  EXPECT_THAT(Ask({"clip", "list"}).out, HasSubstr("S07"));
  EXPECT_THAT(Ask({"clip", "show", "walk"}).out, HasSubstr("c3d/markers"));
  EXPECT_EQ(Ask({"library", "check"}).exit_code, 0);

  const RunResult csv = Ask({"clip", "export", "walk", "--to", Path("walk.csv")});
  // What a document says is no measurement: told, and no loss.
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  const RunResult c3d = Ask({"clip", "export", "walk", "--to", Path("again.c3d")});
  EXPECT_EQ(c3d.exit_code, 0) << c3d.err;
  for (const RunResult* lossy : {&csv, &c3d})
    EXPECT_THAT(lossy->out, HasSubstr("document 'c3d/parameters.json'"));
  EXPECT_EQ(Rows(csv, "findings").size(), 1u);
  EXPECT_THAT(c3d.out, HasSubstr("the subject 'S07', the task 'walk'"));
  EXPECT_GT(fs::file_size(Path("again.c3d")), 300u * 52);
  const RunResult again = Ask({"clip", "import", Path("walk.csv"), Path("again.c3d")});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(Clips(), 3);
  const text::Json rows = Parsed(again);
  const text::Json* from_csv = &rows.Find("files")->elements().front();
  const std::string shown = Ask({"clip", "show", *from_csv->Find("clip")->string()}).out;
  EXPECT_THAT(shown, HasSubstr("\"walk.csv\""));
  EXPECT_THAT(shown, HasSubstr("import.before.format"));
}

TEST_F(ExchangeVerbs, ATableOfOnesOwnBecomesASensorByItsHead) {
  const auto put = [&](const std::string& name, const std::string& text) {
    return PutFile(name, {text.begin(), text.end()});
  };
  const std::string table = put("force.csv", "time,Force Z\ns,N\n0.00,0\n0.01,-2.5\n0.02,0\n");
  const std::string head =
      put("plate.head",
          "#clip {\"task\": \"press\", \"force_sensors\": [{\"name\": \"plate\", \"stream\": 1, "
          "\"channels\": 1, \"calibration_by_columns\": [0, 0, 1, 0, 0, 0]}]}\n"
          "#stream {\"id\": 1, \"name\": \"plate/wrench\", \"kind\": \"force\", \"channels\": "
          "[[\"fz\", \"N\"]], \"columns\": [\"Force Z\"]}\n");
  EXPECT_EQ(Ask({"clip", "import", table, "--head", head}).exit_code, 0);
  EXPECT_THAT(Ask({"query", "peak(plate.normal_force) > 2.4 N and task = press"}).out,
              HasSubstr("force"));
  // The only date is the file's, and that is said.
  EXPECT_THAT(Ask({"clip", "show", "force"}).out, HasSubstr("the file's modification time"));
  EXPECT_THAT(Ask({"clip", "list"}).out, HasSubstr("\"start_is\":\"the file's date\""));
  const RunResult wrong = Ask({"clip", "import", table, "--head", table});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("force.csv:1"));
}

TEST_F(ExchangeVerbs, LossEndsWithThreeAndIsListed) {
  C3dBytes made;
  auto bytes = made.Build();
  bytes.resize(bytes.size() - 1024);
  const std::string file = PutFile("cut.c3d", bytes);
  const RunResult run = Ask({"clip", "import", file});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, HasSubstr("truncated: 20 frames are promised"));
  EXPECT_THAT(run.err, HasSubstr("not kept whole"));
  EXPECT_EQ(Clips(), 1) << "what is there is kept";
  const RunResult lossy = Ask({"clip", "export", "cut", "--to", Path("cut.int.c3d"), "--integers"});
  EXPECT_EQ(lossy.exit_code, 3);
  EXPECT_THAT(lossy.out, HasSubstr("are whole counts"));
}

// Half a file must not pass for a whole one, later and elsewhere: the terminal is gone then.
TEST_F(ExchangeVerbs, WhatAnImportLostOrGuessedStaysWithTheClip) {
  C3dBytes made;
  made.unit = "??";
  auto bytes = made.Build();
  bytes.resize(bytes.size() - 1024);  // 12 of 20 frames (80 bytes each) are left
  const auto id_of = [](const RunResult& run) {
    return *Parsed(run).Find("files")->elements().front().Find("clip")->string();
  };
  const auto expect_told = [&](const std::string& id) {
    SCOPED_TRACE(id);
    const std::string clip = "id = \"" + id + "\"";
    const RunResult shown = Ask({"clip", "show", id});
    EXPECT_THAT(shown.out, HasSubstr("\"keep\":false"));
    EXPECT_THAT(shown.out, HasSubstr("Import it from a whole file if there is one: frames"));
    const auto properties = Rows(shown, "properties");
    const auto quality = Rows(shown, "quality");
    const auto has = [](const std::vector<std::string>& rows, const std::string& what) {
      return std::any_of(rows.begin(), rows.end(), [&](const std::string& row) {
        return row.find(what) != std::string::npos;
      });
    };
    EXPECT_TRUE(has(properties, "loss: frames: truncated: 20 frames are promised")) << shown.out;
    EXPECT_TRUE(has(properties, "warning: POINT:UNITS")) << shown.out;
    ASSERT_EQ(quality.size(), 1u);
    EXPECT_THAT(quality[0], HasSubstr("\"what\":\"import_loss\""));
    EXPECT_THAT(quality[0], HasSubstr("\"red\":true"));
    const auto gaps = Rows(shown, "gaps");
    ASSERT_EQ(gaps.size(), 3u) << "markers, cameras, analog";
    EXPECT_THAT(gaps[0], HasSubstr("\"begin_ns\":\"120000000\""));
    EXPECT_THAT(gaps[0], HasSubstr("\"samples\":8"));
    EXPECT_EQ(Parsed(Ask({"query", clip + " and keep"})).elements().size(), 0u);
    EXPECT_EQ(Parsed(Ask({"query", clip + " and lost = 0"})).elements().size(), 0u);
    EXPECT_EQ(Parsed(Ask({"query", clip + " and red = 0"})).elements().size(), 0u);
    EXPECT_EQ(Parsed(Ask({"query", clip + " and text ~ \"truncated\""})).elements().size(), 1u);
  };
  const RunResult imported = Ask({"clip", "import", PutFile("cut.c3d", bytes)});
  EXPECT_EQ(imported.exit_code, 3);
  expect_told(id_of(imported));
  Ask({"clip", "export", "cut", "--to", Path("again.csv")});
  const RunResult again = Ask({"clip", "import", Path("again.csv")});
  EXPECT_EQ(again.exit_code, 0) << "of the CSV nothing is lost: " << again.err;
  expect_told(id_of(again));
}

/// Turns one bit of the first chunk of a stream.
void DamageChunk(const std::string& clip, int stream, int place) {
  std::ifstream in(clip, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  in.close();
  // "HHCK", layout, flags, then the stream and the number of the chunk: where it begins.
  std::string head("HHCK\0\0", 6);
  for (size_t at = bytes.find(head); at != std::string::npos; at = bytes.find(head, at + 1)) {
    if (bytes[at + 8] != stream || bytes[at + 12] != 0) continue;
    bytes[at + static_cast<size_t>(place)] ^= 1;
    std::ofstream(clip, std::ios::binary | std::ios::trunc) << bytes;
    return;
  }
  ADD_FAILURE() << "no chunk of stream " << stream << " in " << clip;
}

TEST_F(ExchangeVerbs, ADamagedClipIsRefusedAndItsRestExportedWhenAskedFor) {
  C3dBytes made;
  made.frames = 1000;  // 10 s: five chunks a stream
  const RunResult imported = Ask({"clip", "import", PutFile("walk.c3d", made.Build())});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const std::string id = *Parsed(imported).Find("files")->elements().front().Find("clip")->string();
  ASSERT_EQ(Ask({"clip", "export", "walk", "--to", Path("whole.csv")}).exit_code, 0);
  const RunResult same = Ask({"clip", "export", "walk", "--to", Path("same.csv"), "--damaged"});
  const auto of_damage = [](const std::vector<std::string>& rows) {
    return std::ranges::count_if(
        rows, [](const std::string& row) { return row.find(" s to ") != std::string::npos; });
  };
  EXPECT_EQ(of_damage(Rows(same, "findings")), 0) << "nothing is damaged yet";

  const std::string file = Path("lab") + "/clips/" + id + ".clip";
  DamageChunk(file, 1, 30);  // markers: the header, so the whole chunk
  DamageChunk(file, 3, 92);  // analog: its one frame
  const RunResult refused = Ask({"clip", "export", "walk", "--to", Path("cut.csv")});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("handhold clip export walk --library " + Path("lab") +
                                     " --to " + Path("cut.csv") + " --damaged"));
  EXPECT_FALSE(fs::exists(Path("cut.csv")));

  const RunResult rest = Ask({"clip", "export", "walk", "--to", Path("cut.csv"), "--damaged"});
  EXPECT_EQ(rest.exit_code, 3) << rest.err;
  EXPECT_EQ(*Parsed(rest).Find("file")->Find("clip")->string(), id);
  const auto findings = Rows(rest, "findings");
  EXPECT_EQ(of_damage(findings), 2) << rest.out;
  const auto has = [](const std::vector<std::string>& rows, const std::string& what) {
    return std::ranges::any_of(
        rows, [&](const std::string& row) { return row.find(what) != std::string::npos; });
  };
  EXPECT_TRUE(has(findings, "stream 'c3d/markers', 0.000000000 s to 2.000000000 s")) << rest.out;
  EXPECT_TRUE(has(findings, "200 samples are left out")) << rest.out;
  EXPECT_TRUE(has(findings, "stream 'c3d/analog', 0.000000000 s to 2.000000000 s")) << rest.out;
  EXPECT_TRUE(has(findings, "are missing there")) << rest.out;

  // What came out: the rest of the markers bit for bit, and the gap.
  const RunResult again = Ask({"clip", "import", Path("cut.csv")});
  const std::string cut = *Parsed(again).Find("files")->elements().front().Find("clip")->string();
  const auto gaps = Rows(Ask({"clip", "show", cut}), "gaps");
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_THAT(gaps[0], HasSubstr("\"samples\":200"));
  EXPECT_TRUE(has(Rows(Ask({"clip", "show", cut}), "properties"), "damage.001"));
  const auto lines_of = [&](const std::string& name) {
    std::set<std::string> lines;
    std::ifstream in(Path(name));
    for (std::string line; std::getline(in, line);) lines.insert(line);
    return lines;
  };
  const std::set<std::string> whole = lines_of("whole.csv"), left = lines_of("cut.csv");
  int kept = 0, changed = 0;
  for (const std::string& line : left) {
    if (line.starts_with("#")) continue;
    (whole.contains(line) ? kept : changed) += 1;
  }
  EXPECT_GT(kept, 4000) << "1000 cameras, 800 markers, 3200 of 4000 analog rows";
  EXPECT_EQ(changed, 800) << "the analog rows in which channels are missing";

  const RunResult as_c3d = Ask({"clip", "export", id, "--to", Path("cut.c3d"), "--damaged"});
  EXPECT_EQ(as_c3d.exit_code, 3) << as_c3d.err;
  EXPECT_EQ(of_damage(Rows(as_c3d, "findings")), 2);
}

/// The command that an error advises, as a shell runs it.
int RunAdvised(const std::string& err) {
  const size_t at = err.find("handhold clip export");
  EXPECT_NE(at, std::string::npos) << err;
  if (at == std::string::npos) return -1;
  const std::string line = err.substr(at, err.find('\n', at) - at);
  const int status = std::system(
      ("handhold() { '" + support::Binary() + "' \"$@\"; }\n" + line + " >/dev/null 2>&1").c_str());
  return WEXITSTATUS(status);
}

TEST_F(ExchangeVerbs, TheAdviceForADamagedClipRunsAsTypedAndIsGivenWhereItHelps) {
  const std::string file = PutFile("walk.c3d", C3dBytes().Build());
  const std::string name = "slow walk's end";
  const RunResult imported = Ask({"clip", "import", file, "--name", name, "--subject", "Quux07"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const std::string clip =
      Path("lab") + "/clips/" +
      *Parsed(imported).Find("files")->elements().front().Find("clip")->string() + ".clip";
  fs::copy_file(clip, Path("whole.clip"));
  DamageChunk(clip, 1, 30);
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"clip", "export", name, "--to"});
    const RunResult run = Ask(words);
    EXPECT_EQ(run.exit_code, 1) << run.out;
    return run.err;
  };
  EXPECT_EQ(RunAdvised(refused({Path("one cut.csv"), "--streams", "c3d/markers"})), 3);
  std::ifstream table(Path("one cut.csv"));
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(table), {}), Not(HasSubstr("c3d/analog")));
  std::string bytes;
  {
    std::ifstream in(clip, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (size_t at = bytes.find("Quux07"); at != std::string::npos; at = bytes.find("Quux07", at))
    bytes[at] ^= 1;
  std::ofstream(clip, std::ios::binary | std::ios::trunc) << bytes;
  EXPECT_EQ(Ask({"library", "rebuild"}).exit_code, 3);
  ASSERT_EQ(Clips(), 0);
  EXPECT_EQ(RunAdvised(refused({Path("two.c3d"), "--integers"})), 3) << "when not catalogued, too";
  EXPECT_TRUE(fs::exists(Path("two.c3d")));

  // Where nothing is left of it, or it is another clip's file, --damaged does not help.
  fs::resize_file(clip, 60);
  EXPECT_THAT(refused({Path("no.csv")}), Not(HasSubstr("--damaged")));
  EXPECT_THAT(refused({Path("no.csv"), "--damaged"}), Not(HasSubstr("--damaged")));
  fs::copy_file(Path("whole.clip"), clip, fs::copy_options::overwrite_existing);
  EXPECT_EQ(Ask({"clip", "import", file, "--name", "other"}).exit_code, 0);
  EXPECT_EQ(Ask({"library", "rebuild"}).exit_code, 0);
  for (const auto& entry : fs::directory_iterator(Path("lab") + "/clips"))
    fs::copy_file(Path("whole.clip"), entry.path(), fs::copy_options::overwrite_existing);
  const RunResult exchanged = Ask({"clip", "export", "other", "--to", Path("no.csv")});
  EXPECT_EQ(exchanged.exit_code, 1);
  EXPECT_THAT(exchanged.err, HasSubstr("files were exchanged"));
  EXPECT_THAT(exchanged.err, Not(HasSubstr("--damaged")));
}

TEST_F(ExchangeVerbs, CrossCheckListsWhereEzc3dDiffers) {
  C3dBytes made;
  made.word = [](int, int) { return 15888; };  // residual byte 16, mask 62, which ezc3d swaps
  const RunResult run = Ask({"clip", "import", PutFile("x.c3d", made.Build()), "--cross-check"});
  EXPECT_EQ(run.exit_code, 0) << "the import itself lost nothing: " << run.err;
  const std::string all = run.out;
  EXPECT_THAT(all, HasSubstr("ezc3d agrees in all 180 values"));
  EXPECT_THAT(all, HasSubstr("ezc3d differs in 60 of 60 values"));
  EXPECT_THAT(all, HasSubstr("c3d/markers residuals"));
  EXPECT_EQ(Clips(), 1);
  made.processor = C3dBytes::kMips;
  EXPECT_THAT(Ask({"clip", "import", PutFile("m.c3d", made.Build()), "--cross-check"}).out,
              HasSubstr("cannot be compared"));
}

// Who gives a pseudonym does not want the person's name in the clip.
TEST_F(ExchangeVerbs, NamesInsteadOfTheFiles) {
  C3dBytes made;
  made.default_labels = false;
  made.extras = {{1, "LABELS", -1, {12, 3}, {}, "JaneRoe:RFINJaneRoe:RTHMJaneRoe:RPNK"},
                 {2, "LABELS", -1, {4, 2}, {}, "EMG1EMG2"}};
  const std::string file = PutFile("Jane_Roe.c3d", made.Build());
  const RunResult told = Ask({"clip", "import", file, "--subject", "S09", "--dry-run"});
  EXPECT_THAT(told.out, HasSubstr("the clip is called 'Jane_Roe' and keeps the file's name"));
  EXPECT_THAT(told.out, HasSubstr("are called 'JaneRoe:...'"));
  EXPECT_TRUE(Rows(Ask({"clip", "import", file, "--dry-run"}), "findings").empty());
  const RunResult run = Ask({"clip", "import", file, "--subject", "S09", "--name", "reach_1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const RunResult shown = Ask({"clip", "show", "reach_1"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, Not(HasSubstr("Jane_Roe")));
  EXPECT_EQ(Ask({"clip", "import", file, file, "--name", "x"}).exit_code, 2);
}

TEST_F(ExchangeVerbs, OneBadFileDoesNotStopTheOthers) {
  std::vector<std::string> words = {"clip", "import"};
  for (int i = 0; i < 5; ++i)
    words.push_back(PutFile("t" + std::to_string(i) + ".c3d", C3dBytes().Build()));
  words.insert(words.begin() + 4, PutFile("bad.c3d", std::vector<uint8_t>(2048, 9)));
  words.push_back(Path("absent.c3d"));
  const RunResult run = Ask(words);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("2 of 7 files were not imported"));
  EXPECT_THAT(run.out, HasSubstr("its second byte is 9, not 80"));
  EXPECT_THAT(run.out, HasSubstr("No such file"));
  EXPECT_EQ(Clips(), 5);
  for (const auto& entry : fs::directory_iterator(Path("lab") + "/clips"))
    EXPECT_EQ(entry.path().extension(), ".clip") << "nothing half-written stays";
  const RunResult one = Ask({"clip", "import", Path("absent.c3d")});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_THAT(one.err, HasSubstr("absent.c3d"));
}

TEST_F(ExchangeVerbs, DryRunsWriteNothing) {
  const std::string file = PutFile("walk.c3d", C3dBytes().Build());
  const RunResult dry = Ask({"clip", "import", file, "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(Rows(dry, "files")[0], HasSubstr("\"samples\":120"));
  EXPECT_EQ(Clips(), 0);
  // Without a library too: to look into files.
  EXPECT_EQ(RunHandhold({"clip", "import", file, "--dry-run", "--library", Path("none")}).exit_code,
            0);
  ASSERT_EQ(Ask({"clip", "import", file}).exit_code, 0);
  EXPECT_EQ(Ask({"clip", "export", "walk", "--to", Path("x.csv"), "--dry-run"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(Path("x.csv")));
}

TEST_F(ExchangeVerbs, WrongUseIsSaid) {
  const std::string file = PutFile("walk.c3d", C3dBytes().Build());
  ASSERT_EQ(Ask({"clip", "import", file}).exit_code, 0);
  const RunResult format = Ask({"clip", "export", "walk", "--to", Path("x.bvh")});
  EXPECT_THAT(format.err, HasSubstr(".c3d or .csv"));
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_THAT(Ask({"clip", "export", "walk", "--to", file}).err, HasSubstr("exists already"));
  EXPECT_THAT(Ask({"clip", "export", "walk", "--to", Path("x.c3d"), "--streams", "c3d/marker"}).err,
              HasSubstr("did you mean 'c3d/markers'"));
  EXPECT_EQ(Ask({"clip", "export", "walk", "--to", Path("x.csv"), "--streams", "nope"}).exit_code,
            2);
  const RunResult integers =
      Ask({"clip", "export", "walk", "--to", Path("x.csv"), "--integers", "--dry-run"});
  EXPECT_EQ(integers.exit_code, 2);
  EXPECT_THAT(integers.err, HasSubstr("only C3D is written as integers"));
  const RunResult rate = Ask({"clip", "import", file, "--rate", "-5"});
  EXPECT_EQ(rate.exit_code, 2);
  EXPECT_THAT(rate.err, HasSubstr("--rate: expected 0.001 to 10000000 Hz, found '-5'"));
  EXPECT_EQ(Ask({"clip", "import", file, "--jobs", "-3"}).exit_code, 2);
  EXPECT_THAT(Ask({"clip", "import", PutFile("x.bin", {1, 2, 3})}).err, HasSubstr("--format-in"));
  EXPECT_EQ(Ask({"clip", "import", file, "--reader", "ezc3d", "--cross-check"}).exit_code, 2);
  ASSERT_EQ(::mkfifo(Path("pipe.c3d").c_str(), 0600), 0);
  EXPECT_THAT(Ask({"clip", "import", Path("pipe.c3d"), "--dry-run"}).err,
              HasSubstr("is not a file"));
}

TEST_F(ExchangeVerbs, AClipKeepsTheHashOfItsFileAndAFileThatComesAgainIsTold) {
  C3dBytes made;
  const std::vector<uint8_t> bytes = made.Build();
  const std::string file = PutFile("Jane_Roe.c3d", bytes);
  const std::string hash = Sha256Of(std::as_bytes(std::span(bytes))).ToHex();
  ASSERT_EQ(Ask({"clip", "import", file, "--name", "first"}).exit_code, 0);
  const RunResult shown = Ask({"clip", "show", "first"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("import.sha256"), HasSubstr(hash)));
  EXPECT_THAT(shown.out, AllOf(Not(HasSubstr("Jane_Roe")), Not(HasSubstr(folder_.string()))));
  // Under another name the same file.
  const std::string copy = PutFile("copy.c3d", made.Build());
  const RunResult again = Ask({"clip", "import", copy});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const std::string id = *Parsed(shown).Find("clip")->Find("id")->string();
  const std::string today = FormatUtc(UtcNow()).substr(0, 10);
  for (const std::string* text : {&again.out, &again.err}) {
    EXPECT_THAT(*text, AllOf(HasSubstr("imported as clip 'first' (" + id + ") on "),
                             HasSubstr(today.substr(0, 8))));
  }
  EXPECT_EQ(Clips(), 2);
  // Twice in one command, and of another file nothing.
  made.frames = 33;
  const std::string other = PutFile("other.c3d", made.Build());
  const RunResult twice = Ask({"clip", "import", other, other});
  EXPECT_THAT(twice.out, HasSubstr("imported as clip 'other'"));
  EXPECT_EQ(Rows(twice, "findings").size(), 1u) << twice.out;
  // Our CSV carries where its clip came from; that is kept as what was before.
  ASSERT_EQ(Ask({"clip", "export", "first", "--to", Path("first.csv")}).exit_code, 0);
  ASSERT_EQ(Ask({"clip", "import", Path("first.csv"), "--name", "back"}).exit_code, 0);
  const RunResult back = Ask({"clip", "show", "back"});
  EXPECT_THAT(back.out, AllOf(HasSubstr("import.before.sha256"), HasSubstr(hash)));
}

TEST_F(ExchangeVerbs, WhatWasSaidOfAClipIsListedAsLeftBehind) {
  const std::string file = PutFile("walk.c3d", C3dBytes().Build());
  ASSERT_EQ(Ask({"clip", "import", file, "--subject", "S07"}).exit_code, 0);
  const auto findings = [&](const char* to) {
    std::string text;
    for (const std::string& row :
         Rows(Ask({"clip", "export", "walk", "--to", Path(to), "--dry-run"}), "findings"))
      text += row + "\n";
    return text;
  };
  for (const char* to : {"x.c3d", "x.csv"}) EXPECT_THAT(findings(to), Not(HasSubstr("ledger")));
  ASSERT_EQ(Ask({"clip", "tag", "walk", "good", "sharp", "--author", "ana"}).exit_code, 0);
  ASSERT_EQ(Ask({"clip", "rate", "walk", "4", "--author", "ana"}).exit_code, 0);
  const auto library = store::Library::Open(Path("lab")).value();
  const std::string id = library->FindClip("walk").value().id;
  store::LedgerEntry label, note, consent, others;
  label.kind = store::LedgerKind::kLabel;
  label.name = "grasp";
  label.value = "tip pinch";
  label.span = TimeRange{Timestamp(), Timestamp::FromSeconds(0.1)};
  note.kind = store::LedgerKind::kNote;
  note.value = "slipped";
  consent.kind = others.kind = store::LedgerKind::kConsent;
  consent.subject = "S07";
  others.subject = "S08";
  consent.name = others.name = "publication";
  consent.value = "withdrawn";
  others.value = "given";
  label.clip = note.clip = id;
  label.author = note.author = consent.author = others.author = "ana";
  ASSERT_TRUE(library->Say({label, note, consent, others}));
  for (const char* to : {"x.c3d", "x.csv"}) {
    EXPECT_THAT(findings(to),
                AllOf(HasSubstr("\"severity\":\"note\",\"where\":\"ledger\""),
                      HasSubstr("tags good, sharp; rating 4; labels grasp tip pinch; notes: 1; "
                                "consent of the subject: publication withdrawn")));
  }
}

TEST_F(ExchangeVerbs, AnExportOfAnUnfinishedClipSaysSo) {
  {
    const auto library = store::Library::Open(Path("lab")).value();
    recording::ClipInfo info;
    info.id = ClipId::New();
    info.name = "cut";
    auto writer = store::ClipWriter::Create(library->ClipPath(info.id), info, {}).value();
    recording::StreamInfo stream;
    stream.name = "daq/emg";
    stream.rate = {100, 1};
    stream.channels = {{"flexor", "V"}};
    recording::SampleBlock block;
    block.stream_id = writer->AddStream(stream).value();
    block.count = 200;
    block.values.assign(200, 1.0);
    ASSERT_TRUE(writer->Append(block));
  }
  ASSERT_EQ(Ask({"library", "rebuild"}).exit_code, 0);
  for (const char* to : {"x.c3d", "x.csv"}) {
    const RunResult run = Ask({"clip", "export", "cut", "--to", Path(to), "--dry-run"});
    EXPECT_THAT(run.out, HasSubstr("is not finished")) << run.err;
    EXPECT_THAT(run.out, HasSubstr("library rebuild --finish"));
  }
  ASSERT_EQ(Ask({"library", "rebuild", "--finish"}).exit_code, 0);
  EXPECT_THAT(Ask({"clip", "export", "cut", "--to", Path("x.csv"), "--dry-run"}).out,
              Not(HasSubstr("is not finished")));
}

TEST_F(ExchangeVerbs, TheLengthOfAnImportHasItsGapsInIt) {
  const std::string text = "time,b\ns,N\n0,1\n0.01,2\n0.02,3\n1.0,4\n1.01,5\n";
  const std::string file = PutFile("gap.csv", {text.begin(), text.end()});
  const RunResult run = Ask({"clip", "import", file});
  EXPECT_THAT(Rows(run, "files")[0],
              AllOf(HasSubstr("\"length_ns\":\"1020000000\""), HasSubstr("\"samples\":5")));
}

TEST_F(ExchangeVerbs, AnImportOntoAFullDiskSaysThatNothingIsThere) {
  C3dBytes made;
  made.frames = 5000;
  made.coordinate = [](int f, int p, int k) {
    return (f * 7919 + p * 104729 + k * 1299709) % 9973;
  };
  const std::string file = PutFile("walk.c3d", made.Build());
  const RunResult full =
      RunHandhold({"clip", "import", file, "--library", Path("lab")}, {.file_limit_bytes = 60'000});
  EXPECT_EQ(full.exit_code, 1) << full.out;
  EXPECT_THAT(full.err, HasSubstr("nothing of it was stored: import it again"));
  EXPECT_THAT(full.err, Not(HasSubstr("safe")));
  EXPECT_EQ(Clips(), 0);
  EXPECT_TRUE(fs::is_empty(Path("lab") + "/clips"));
}

}  // namespace
}  // namespace handhold::testing::exchange_verbs_test
