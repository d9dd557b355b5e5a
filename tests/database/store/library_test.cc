#include "database/store/library.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "database/base/log.h"
#include "database/store/clip_writer.h"
#include "database/store/query.h"
#include "database/store/schema.h"
#include "database/store/sql.h"
#include "tests/database/store/clip_fixture.h"

namespace handhold::store::library_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A take of one transducer pressed twice: 2 N for 0.3 s, then 4 N for 0.2 s, with a ripple between
/// the two thresholds.
recording::Clip Presses(recording::ClipInfo info) {
  recording::Clip clip(std::move(info));
  const int stream =
      clip.AddStream(ForceStream(true), recording::ClockMap::Identity(clip.info().host_start_ns));
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.stream_id = stream;
  sensor.calibration = Eigen::Matrix<double, 6, 6>::Identity() * 0.01;
  clip.AddForceSensor(sensor);
  recording::SampleBlock block;
  block.stream_id = stream;
  block.count = 7000;  // 3 s at 7000/3 Hz
  block.values.assign(6 * 7000, 0.0);
  for (int i = 0; i < block.count; ++i) {
    const double t = i * 3.0 / 7000.0;
    double normal_N = 0.0;
    // Lands, bounces off for 6 ms, and stays: one contact.
    if (t >= 0.5 && t < 0.8) normal_N = t > 0.509 && t < 0.515 ? 0.0 : 2.0;
    if (t >= 1.0 && t < 1.1) normal_N = 0.4;  // below contact_on
    if (t >= 1.5 && t < 1.7)
      normal_N = t > 1.55 && t < 1.56 ? 0.3 : 4.0;  // dips, but stays above contact_off
    block.value(2, i) = -100.0 * normal_N;          // the hand pushes down: -z
  }
  clip.Append(block);
  return clip;
}

std::string AddTake(Library& library, const std::string& task, const std::string& subject) {
  recording::ClipInfo info;
  info.task = task;
  info.subject = subject;
  info.host_start_ns = 1'000'000'000'000;
  info.utc_start = UtcNow();
  info = library.NewTake(info).value();
  const Status written = WriteClip(Presses(info), library.ClipPath(info.id), {});
  EXPECT_TRUE(written) << written.error().message;
  const Status indexed = library.Index(info.id);
  EXPECT_TRUE(indexed) << indexed.error().message;
  return info.id.ToString();
}

LedgerEntry Tag(const std::string& clip, const std::string& name) {
  LedgerEntry e;
  e.clip = clip;
  e.kind = LedgerKind::kTag;
  e.name = name;
  e.author = "ana";
  return e;
}

/// Everything the catalogue answers, as text: to compare before and after a rebuild.
std::string Answers(const Library& library) {
  std::string text;
  const std::vector<ClipRow> clips = library.Clips().value();
  for (const ClipRow& c : clips) {
    text += c.id + " " + c.name + " " + c.sha256 + " " + std::to_string(c.length.ns()) + " " +
            std::to_string(c.rating.value_or(0));
    for (const std::string& tag : c.tags) text += " #" + tag;
    text += "\n";
  }
  for (const char* sql :
       {"SELECT group_concat(id||t_ns||kind||value, ' ') FROM (SELECT id, t_ns, kind, value FROM "
        "event JOIN clip USING(clip) ORDER BY id, t_ns, sequence)",
        "SELECT group_concat(id||channel||name||value, ' ') FROM (SELECT id, channel, feature.name "
        "AS name, value FROM feature JOIN clip USING(clip) ORDER BY 1, 2, 3)",
        "SELECT group_concat(hash||role||input, ' ') FROM artefact_input",
        "SELECT group_concat(text, ' ') FROM (SELECT text FROM note ORDER BY text)"}) {
    text += library.catalogue().QueryText(sql).value() + "\n";
  }
  return text;
}

TEST(LibraryTest, WhatIsSaidIsInTheLedgerWhateverTheCatalogueDoes) {
  const std::string path = ::testing::TempDir() + "say_" + std::to_string(::getpid());
  std::filesystem::remove_all(path);
  auto library = Library::Create(path, {}).value();
  // Left out by what copied the library, and taken away while it is open.
  std::filesystem::remove(path + "/attachments");
  EXPECT_TRUE(library->HoldNames());
  std::filesystem::remove(path + "/catalogue.db");
  LedgerEntry entry;
  entry.clip = ClipId::New().ToString();
  entry.kind = LedgerKind::kNote;
  entry.value = "ring on the left hand";
  entry.author = "ana";
  const auto said = library->Say(entry);
  EXPECT_TRUE(said) << said.error().message;
  library = Library::Open(path).value();
  const auto entries = library->ledger().Current(entry.clip).value();
  ASSERT_EQ(entries.size(), 1u) << "once";
  EXPECT_EQ(entries.front().value, entry.value);
  library.reset();
  std::filesystem::remove_all(path);
}

TEST(LibraryTest, ARecordingFinishedAfterItWasCataloguedIsNoLoss) {
  const std::string path = ::testing::TempDir() + "finished_" + std::to_string(::getpid());
  std::filesystem::remove_all(path);
  const auto library = Library::Create(path, {}).value();
  recording::ClipInfo info;
  info.task = "stroke";
  info = library->NewTake(info).value();
  const std::string file = library->ClipPath(info.id);
  ASSERT_TRUE(ClipWriter::Create(file, info, {}));  // and its recorder died
  ASSERT_TRUE(library->Rebuild(false));
  ASSERT_FALSE(library->FindClip(info.name).value().closed);
  ASSERT_TRUE(FinishClip(file));
  const Issues issues = library->Check({}).value();
  EXPECT_FALSE(issues.empty()) << "the catalogue says that it was cut off";
  for (const Issue& issue : issues)
    EXPECT_NE(issue.severity, Severity::kLoss) << issue.where << ": " << issue.what;
  ASSERT_TRUE(library->Rebuild(false));
  EXPECT_TRUE(library->Check({}).value().empty());
  std::filesystem::remove_all(path);
}

// A packet that did not come is missing from each of its device's streams, and counts once; what
// the disk did not take is in the quality alone.
TEST(LibraryTest, ALostPacketCountsOnceAndAFullDisksLossToo) {
  const std::string path = ::testing::TempDir() + "lost_" + std::to_string(::getpid());
  std::filesystem::remove_all(path);
  const auto library = Library::Create(path, {}).value();
  const auto add = [&](bool gaps, double unwritten) {
    recording::ClipInfo info;
    info.task = "press";
    info = library->NewTake(info).value();
    recording::Clip clip(info);
    for (const char* name : {"plate/wrench", "plate/status", "other/wrench"}) {
      recording::StreamInfo stream;
      stream.name = name;
      stream.device = stream.name.substr(0, stream.name.find('/'));
      stream.rate = {1000, 1};
      stream.channels = {{"a", "1", 0}};
      recording::SampleBlock block;
      block.stream_id = clip.AddStream(stream, recording::ClockMap::Identity());
      block.count = 10;
      block.values.assign(10, 1.0);
      clip.Append(block);
      block.first_index = 10;
      block.first_counter = gaps ? 14 : 10;
      clip.Append(block);
    }
    recording::QualityRecord quality;
    if (unwritten > 0)
      quality.items.push_back({"plate/wrench", "lost_samples", unwritten, unwritten, 0, true, false,
                               Timestamp(), "the disk is full"});
    clip.SetQuality(quality);
    EXPECT_TRUE(WriteClip(clip, library->ClipPath(info.id), {}));
    EXPECT_TRUE(library->Index(info.id));
    return library->FindClip(info.name).value().lost_samples;
  };
  EXPECT_EQ(add(true, 0), 8) << "4 of each of two devices";
  EXPECT_EQ(add(false, 300), 300);
  EXPECT_EQ(add(true, 300), 304);
  EXPECT_EQ(add(false, 0), 0);
  std::filesystem::remove_all(path);
}

TEST(LibraryTest, NoTwoStationsGetOneName) {
  const std::string path = ::testing::TempDir() + "stations_" + std::to_string(::getpid());
  std::filesystem::remove_all(path);
  ASSERT_TRUE(Library::Create(path, {}));
  std::vector<std::string> names(6);
  std::vector<std::thread> stations;
  for (std::string& name : names) {
    stations.emplace_back([&path, &name] {
      const auto library = Library::Open(path).value();
      const auto hold = library->HoldNames();
      ASSERT_TRUE(hold) << hold.error().message;
      recording::ClipInfo info;
      info.task = "stroke";
      info = library->NewTake(info).value();
      ASSERT_TRUE(ClipWriter::Create(library->ClipPath(info.id), info, {}));
      name = info.name;
    });
  }
  for (std::thread& station : stations) station.join();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  std::filesystem::remove_all(path);
}

TEST(LibraryTest, ATakeThatIsBeingRecordedIsSaidToBeAndKeepsItsName) {
  const std::string path = ::testing::TempDir() + "being_recorded_" + std::to_string(::getpid());
  std::filesystem::remove_all(path);
  auto library = Library::Create(path, {}).value();
  recording::ClipInfo info;
  info.task = "stroke";
  info = library->NewTake(info).value();
  EXPECT_EQ(info.name, "stroke_001");
  auto writer = ClipWriter::Create(library->ClipPath(info.id), info, {}).value();
  const auto issues = library->Check({});
  ASSERT_TRUE(issues) << issues.error().message;
  ASSERT_EQ(issues->size(), 1u);
  EXPECT_EQ(issues->front().severity, Severity::kNote);
  EXPECT_EQ(issues->front().what, "is being recorded");
  recording::ClipInfo next;
  next.task = "stroke";
  EXPECT_EQ(library->NewTake(next).value().name, "stroke_002");
  writer.reset();  // its recorder died
  EXPECT_EQ(library->NewTake(next).value().name, "stroke_002");
  bool advised = false;
  const Issues after = library->Check({}).value();
  for (const Issue& issue : after)
    advised |= issue.what.find("rebuild --finish") != std::string::npos;
  EXPECT_TRUE(advised);
  library.reset();
  std::filesystem::remove_all(path);
}

TEST(Library, TakesAreNumberedIndexedAndFound) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string first = AddTake(*library, "stroke", "S01"),
                    second = AddTake(*library, "stroke", "S02");
  AddTake(*library, "poke", "S01");
  EXPECT_EQ(library->FindClip(first).value().name, "stroke_001");
  EXPECT_EQ(library->FindClip(second).value().name, "stroke_002");
  EXPECT_EQ(library->FindClip("poke_001").value().subject, "S01");
  EXPECT_EQ(library->FindClip("stroke_002").value().id, second);
  EXPECT_THAT(library->FindClip("stroke_02").error().message, HasSubstr("stroke_002"));
  EXPECT_EQ(library->Clips({.task = "stroke"}).value().size(), 2u);
  EXPECT_EQ(library->Clips({.subject = "S01"}).value().size(), 2u);
  EXPECT_EQ(library->Clips({.limit = 1, .offset = 2}).value().front().id, first) << "newest first";
  EXPECT_EQ(library->OpenClip(first).value()->info().subject, "S01");
  EXPECT_NEAR(library->FindClip(first).value().length.seconds(), 3.0, 1e-9);
  ASSERT_TRUE(library->Index(ClipId::Parse(first).value())) << "again is the same";
  EXPECT_EQ(library->Info().value().clips, 3);
  EXPECT_THAT(Library::Create(dir / "lab").error().message, HasSubstr("already"));
  EXPECT_THAT(Library::Open(dir / "none").error().message, HasSubstr("library create"));
}

TEST(Library, ContactsAreFoundWithHysteresis) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  AddTake(*library, "poke", "S01");
  std::vector<std::pair<std::string, double>> events;
  std::vector<double> values, lengths;
  Statement list =
      library->catalogue()
          .Prepare(
              "SELECT kind, t_ns, value, length_ns FROM event WHERE origin='indexer' ORDER BY t_ns")
          .value();
  ASSERT_TRUE(list.ForEach([&](Statement& row) -> Status {
    events.push_back({row.String(0), static_cast<double>(row.Integer(1)) * 1e-9});
    values.push_back(row.Real(2));
    lengths.push_back(static_cast<double>(row.Integer(3)) * 1e-9);
    return {};
  }));
  ASSERT_EQ(events.size(), 4u) << "0.4 N does not reach contact_on; the dip to 0.3 N does not "
                                  "reach contact_off; a bounce of "
                                  "6 ms is no release";
  const double tick = 3.0 / 7000;
  EXPECT_EQ(events[0].first, "contact_on");
  EXPECT_NEAR(events[0].second, 0.5, tick);
  EXPECT_EQ(events[1].first, "contact_off");
  EXPECT_NEAR(events[1].second, 0.8, tick);
  EXPECT_NEAR(events[2].second, 1.5, tick);
  EXPECT_NEAR(events[3].second, 1.7, tick);
  EXPECT_NEAR(values[0], 2.0, 1e-9);
  EXPECT_NEAR(values[2], 4.0, 1e-9);
  EXPECT_NEAR(lengths[2], 0.2, 2 * tick);
  EXPECT_EQ(library->catalogue()
                .QueryInteger("SELECT count(*) FROM feature WHERE channel='plate.normal_force' AND "
                              "name='max' AND value=4.0")
                .value(),
            1);
  Statement zones =
      library->catalogue().Prepare("SELECT data FROM clip_zone WHERE sensor='plate'").value();
  ASSERT_TRUE(zones.Step().value());
  const auto decoded = DecodeSensorZones(zones.Blob(0)).value();
  ASSERT_EQ(decoded.size(), 2u);
  EXPECT_EQ(decoded[0].max[kNormalForceZone], 4.0f);
  EXPECT_EQ(decoded[1].max[kNormalForceZone], 0.0f);
}

TEST(Library, LosingTheCatalogueCostsAScanNotData) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab", {.contact_on_N = 0.5, .contact_off_N = 0.25}).value();
  const std::string id = AddTake(*library, "stroke", "S01");
  AddTake(*library, "poke", "S02");
  library->Say(Tag(id, "good")).value();
  LedgerEntry rating = Tag(id, "");
  rating.kind = LedgerKind::kRating;
  rating.value = "4";
  library->Say(rating).value();
  LedgerEntry note = Tag(id, "");
  note.kind = LedgerKind::kNote;
  note.value = "thumb slipped at the rim";
  library->Say(note).value();
  artefact::Provenance p;
  p.step = "fit.skeleton";
  p.inputs = {{"clip", library->FindClip(id).value().sha256, "stroke_001"}};
  const std::string hash = library->Save(JsonArtefact{p, "skeleton", "{}"}).value();
  const std::string before = Answers(*library);
  EXPECT_THAT(before, HasSubstr("#good"));
  EXPECT_EQ(library->catalogue()
                .QueryInteger("SELECT count(*) FROM note_text WHERE note_text MATCH 'slipped'")
                .value(),
            1);
  library.reset();
  std::filesystem::remove(dir / "lab/catalogue.db");
  library = Library::Open(dir / "lab").value();
  EXPECT_EQ(Answers(*library), before);
  EXPECT_EQ(library->catalogue()
                .QueryInteger("SELECT count(*) FROM note_text WHERE note_text MATCH 'slipped'")
                .value(),
            1);
  library.reset();
  {
    std::fstream file(dir / "lab/catalogue.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100) << "rubbish where its tables are named";
  }
  library = Library::Open(dir / "lab").value();
  EXPECT_EQ(Answers(*library), before);
  EXPECT_THAT(library->MadeFrom(library->FindClip(id).value().sha256).value(), ElementsAre(hash));
  EXPECT_EQ(library->Inputs(hash).value().size(), 1u);
  EXPECT_EQ(library->FindArtefact(p).value(), hash);
  p.version = 9;
  EXPECT_EQ(library->FindArtefact(p).value(), std::nullopt);
  EXPECT_THAT(library->Check().value(), IsEmpty());
}

TEST(Library, CheckAndRebuildNameWhatIsWrong) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string good = AddTake(*library, "a", "S01"), bad = AddTake(*library, "b", "S01"),
                    gone = AddTake(*library, "c", "S01");
  {
    std::fstream file(dir / ("lab/clips/" + bad + ".clip"),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-2500, std::ios::end);
    file.put(static_cast<char>(file.peek() ^ 0x40));
  }
  std::filesystem::remove(dir / ("lab/clips/" + gone + ".clip"));
  std::string found;
  const Issues issues = library->Check().value();
  for (const Issue& issue : issues) found += issue.where + ": " + issue.what + "\n";
  EXPECT_THAT(found, HasSubstr(bad));
  EXPECT_THAT(found, HasSubstr(gone));
  EXPECT_THAT(found, ::testing::Not(HasSubstr(good)));
  recording::ClipInfo unfinished;
  unfinished.id = ClipId::New();
  {
    auto writer = ClipWriter::Create(library->ClipPath(unfinished.id), unfinished, {}).value();
    std::mt19937_64 rng(1);
    const int stream = writer->AddStream(ForceStream(true)).value();
    ASSERT_TRUE(writer->Append(ForceBlock(rng, stream, 0, 0, 5000)));
  }
  ASSERT_TRUE(library->Rebuild(false));
  EXPECT_EQ(library->Info().value().unfinished, 1);
  ASSERT_TRUE(library->Rebuild(true));
  EXPECT_EQ(library->Info().value().unfinished, 0);
  EXPECT_EQ(library->OpenClip(unfinished.id.ToString()).value()->sample_count(1), 5000);
  EXPECT_EQ(library->Rebuild(false, [](double, std::string_view) { return false; }).error().code,
            ErrorCode::kCancelled);
  EXPECT_EQ(library->Info().value().unfinished, 0) << "a cancelled rebuild leaves the catalogue";
}

// SQLite before 3.51.3 can corrupt a write-ahead log; bytes 18 and 19 of a file say whether it has
// one.
TEST(Library, CatalogueAndLedgerHaveNoWriteAheadLogAndAnOpenClipHas) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string id = AddTake(*library, "a", "S01");
  library->Say(Tag(id, "good")).value();
  const auto log_bytes = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    char head[20] = {};
    in.read(head, sizeof head);
    return std::pair<int, int>(head[18], head[19]);
  };
  const std::pair<int, int> none(1, 1), wal(2, 2);
  EXPECT_EQ(log_bytes(dir / "lab/catalogue.db"), none);
  EXPECT_EQ(log_bytes(dir / "lab/ledger.db"), none);
  EXPECT_EQ(log_bytes(dir / ("lab/clips/" + id + ".clip")), none) << "closed";
  recording::ClipInfo open;
  open.id = ClipId::New();
  const auto writer = ClipWriter::Create(library->ClipPath(open.id), open, {}).value();
  ASSERT_TRUE(writer->AddStream(ForceStream(true)));
  EXPECT_EQ(log_bytes(library->ClipPath(open.id)), wal);
  for (const char* file : {"catalogue.db-wal", "ledger.db-wal"})
    EXPECT_FALSE(std::filesystem::exists(dir / (std::string("lab/") + file))) << file;
}

void ChangeLedger(const std::string& path, const char* sql) {
  DatabaseOptions open;
  open.mode = OpenMode::kReadWrite;
  Database db = Database::Open(path, open).value();
  const Status status = db.Execute(sql);
  ASSERT_TRUE(status) << status.error().message;
}

std::string Found(const Library& library) {
  const auto issues = library.Check();
  if (!issues) return issues.error().message;
  std::string text;
  for (const Issue& issue : *issues)
    text +=
        std::string(SeverityName(issue.severity)) + " " + issue.where + ": " + issue.what + "\n";
  return text;
}

artefact::ContactTrack TrackOf(const std::string& clip_sha256) {
  artefact::ContactTrack track;
  track.provenance.step = "fit.contact";
  track.provenance.inputs = {{"clip", clip_sha256, "a_001"}};
  track.times = {Timestamp()};
  track.tau_Nm = Eigen::MatrixXd::Zero(4, 1);
  artefact::Touch touch;
  touch.a = {artefact::Side::Kind::kHand, "R", "R.index.pad", 3};
  touch.b = {artefact::Side::Kind::kThing, "plate", "", 0};
  touch.sensor = "plate";
  touch.onset = Timestamp::FromNanoseconds(499'000'000);
  touch.release = Timestamp::FromNanoseconds(799'000'000);
  touch.peak_force_N = 2.0;
  touch.task = "a";
  track.touches = {touch};
  return track;
}

TEST(Library, CheckComparesTheCatalogueWithWhatItIsMadeOf) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string id = AddTake(*library, "a", "S01"), other = AddTake(*library, "b", "S02");
  library->Say(Tag(id, "good")).value();
  LedgerEntry note = Tag(id, "");
  note.kind = LedgerKind::kNote;
  note.value = "thumb slipped";
  library->Say(note).value();
  const std::string sha = library->FindClip(id).value().sha256;
  const std::string made = library->Save(TrackOf(sha)).value();
  EXPECT_EQ(Found(*library), "");
  const auto damaged = [&](const char* sql) {
    DatabaseOptions open;
    open.mode = OpenMode::kReadWrite;
    {
      Database db = Database::Open(dir / "lab/catalogue.db", open).value();
      const Status status = db.Execute(sql);
      EXPECT_TRUE(status) << sql << ": " << status.error().message;
      EXPECT_GT(db.changes(), 0) << sql;
    }
    const std::string found = Found(*library);
    EXPECT_TRUE(library->Rebuild(false)) << sql;
    EXPECT_EQ(Found(*library), "") << "a rebuild mends it: " << sql;
    return found;
  };
  for (const auto& [table, sql] : std::vector<std::pair<const char*, const char*>>{
           {"'clip'", "UPDATE clip SET subject='S09' WHERE name='a_001'"},
           {"'clip_stream'", "UPDATE clip_stream SET samples=samples+1 WHERE clip=1"},
           {"'clip_channel'", "UPDATE clip_channel SET unit='mN' WHERE clip=1 AND position=0"},
           {"'feature'", "UPDATE feature SET value=99 WHERE clip=1 AND name='contacts'"},
           {"'clip_zone'", "DELETE FROM clip_zone WHERE clip=1"},
           {"'event'", "UPDATE event SET t_ns=t_ns+1 WHERE clip=1 AND kind='contact_off'"},
           {"'event'", "DELETE FROM event WHERE origin LIKE 'fit.contact/%'"},
           {"'tag'", "UPDATE tag SET name='bad' WHERE kind='tag'"},
           {"'artefact'", "UPDATE artefact SET version=7"},
           {"'artefact_input'", "UPDATE artefact_input SET input='0'"},
           {"contact_on_N", "UPDATE library SET value=3.0 WHERE key='contact_on_N'"},
           {"no clip", "UPDATE feature SET clip=77 WHERE clip=1"},
           {"words", "UPDATE note SET text='thumb held' WHERE source='ledger'"},
           {"is not in the catalogue", "DELETE FROM clip WHERE name='a_001'"}}) {
    EXPECT_THAT(damaged(sql), HasSubstr(table)) << sql;
  }
  EXPECT_THAT(damaged("UPDATE clip SET sha256='0' WHERE name='a_001'"),
              ::testing::AllOf(HasSubstr("loss clips/" + id), HasSubstr("SHA-256 differs"),
                               ::testing::Not(HasSubstr(other))));
}

TEST(Library, CheckNamesResultsThatAreGoneOrNotWhatTheyAreCalled) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string sha = library->FindClip(AddTake(*library, "a", "S01")).value().sha256;
  const std::string track = library->Save(TrackOf(sha)).value();
  artefact::Provenance fit;
  fit.step = "fit.compliance";
  fit.inputs = {{"contact", track, ""}};
  const std::string fitted = library->Save(JsonArtefact{fit, "report", "{}"}).value();
  fit.step = "import.skeleton";
  fit.inputs = {{"file", std::string(64, 'a'), "hand.json"}};
  library->Save(JsonArtefact{fit, "skeleton", "{}"}).value();
  EXPECT_EQ(Found(*library), "") << "a file is not expected in the library";
  const std::string elsewhere = std::string(64, 'b');
  std::filesystem::rename(library->ArtefactPath(track), library->ArtefactPath(elsewhere));
  const std::string found = Found(*library);
  EXPECT_THAT(found, HasSubstr("loss derived/" + elsewhere + ".art: "));
  EXPECT_THAT(found, HasSubstr("its name is " + track));
  EXPECT_THAT(found,
              HasSubstr("loss derived/" + track +
                        ".art: is in the catalogue, but its file is gone: `handhold fit contact"));
  EXPECT_THAT(found, HasSubstr("loss derived/" + fitted + ".art: was made from contact " + track));
  const Issues rebuilt = library->Rebuild(false).value();
  EXPECT_TRUE(AnyLoss(rebuilt));
  std::filesystem::rename(library->ArtefactPath(elsewhere), library->ArtefactPath(track));
  ASSERT_TRUE(library->Rebuild(false));
  EXPECT_EQ(Found(*library), "");
}

TEST(Library, CheckNamesDamagedEntriesOfTheLedger) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string id = AddTake(*library, "a", "S01");
  library->Say(Tag(id, "good")).value();
  library.reset();
  ChangeLedger(dir / "lab/ledger.db", "UPDATE entry SET name='bad' WHERE name='good'");
  library = Library::Open(dir / "lab").value();
  EXPECT_THAT(Found(*library), HasSubstr("loss ledger.db, entry 3 (tag 'bad' of clip " + id));
  const Issues issues = library->Rebuild(false).value();
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_THAT(issues[0].where, HasSubstr("entry 3"));
  EXPECT_THAT(library->FindClip(id).value().tags, IsEmpty()) << "what is damaged is not answered";
  EXPECT_TRUE(library->Say(Tag(id, "again"))) << "and what is said now holds";
  EXPECT_THAT(library->FindClip(id).value().tags, ElementsAre("again"));
}

// A disk that is full while the catalogue is written is not the clips' fault, and the old catalogue
// stays.
TEST(Library, ARebuildThatCannotWriteLeavesTheCatalogueAsItWas) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  for (int i = 0; i < 4; ++i) AddTake(*library, "a", "S01");
  const std::string before = Answers(*library);
  const auto size = static_cast<rlim_t>(std::filesystem::file_size(dir / "lab/catalogue.db"));
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  int refused = 0;
  for (const rlim_t bytes : {size / 8, size / 2, size - 4096}) {
    const rlimit lowered{bytes, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &lowered), 0);
    const auto rebuilt = library->Rebuild(false);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_FALSE(rebuilt) << bytes;
    refused += !rebuilt && rebuilt.error().code == ErrorCode::kIo;
    EXPECT_FALSE(std::filesystem::exists(dir / "lab/catalogue.db.new"));
    EXPECT_EQ(Answers(*library), before);
    EXPECT_EQ(Answers(*Library::Open(dir / "lab").value()), before);
  }
  EXPECT_EQ(refused, 3);
  ::signal(SIGXFSZ, old_handler);
}

TEST(Library, ManyProgramsThatFindTheCatalogueLostMakeItOnce) {
  const TempDir dir;
  {
    auto library = Library::Create(dir / "lab").value();
    for (int i = 0; i < 3; ++i) AddTake(*library, "a", "S01");
  }
  for (int round = 0; round < 5; ++round) {
    std::filesystem::remove(dir / "lab/catalogue.db");
    std::vector<std::thread> programs;
    std::atomic<int> good{0};
    for (int i = 0; i < 4; ++i) {
      programs.emplace_back([&] {
        const auto library = Library::Open(dir / "lab");
        good +=
            library && (*library)->Info().value().clips == 3 && (*library)->Clips()->size() == 3;
      });
    }
    for (std::thread& program : programs) program.join();
    EXPECT_EQ(good, 4) << round;
    EXPECT_FALSE(std::filesystem::exists(dir / "lab/catalogue.db.new"));
  }
}

TEST(Library, AForeignCatalogueIsRefusedAndStaysAsItIs) {
  const TempDir dir;
  { AddTake(*Library::Create(dir / "lab").value(), "a", "S01"); }
  const std::string path = dir / "lab/catalogue.db";
  const auto bytes_of = [&] {
    std::ifstream in(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  };
  const std::string ours = bytes_of();
  std::string newer = ours;
  newer[63] = 99;
  std::filesystem::remove(path);
  {
    DatabaseOptions create;
    create.mode = OpenMode::kCreate;
    Database db = Database::Open(path, create).value();
    ASSERT_TRUE(
        db.Execute("CREATE TABLE accounts(a); PRAGMA application_id=7; PRAGMA user_version=3"));
  }
  std::ifstream ledger(dir / "lab/ledger.db", std::ios::binary);
  const std::vector<std::pair<std::string, ErrorCode>> foreign = {
      {bytes_of(), ErrorCode::kInvalid},
      {"rubbish", ErrorCode::kInvalid},
      {std::string(5000, 'x'), ErrorCode::kInvalid},
      {std::string((std::istreambuf_iterator<char>(ledger)), {}), ErrorCode::kInvalid},
      {newer, ErrorCode::kVersion}};
  for (const auto& [bytes, code] : foreign) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const auto opened = Library::Open(dir / "lab");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    EXPECT_THAT(opened.error().message, HasSubstr("catalogue.db"));
    const auto planned = Library::PlanRebuild(dir / "lab");
    ASSERT_FALSE(planned);
    EXPECT_EQ(planned.error().code, code);
    EXPECT_EQ(planned.error().message, opened.error().message);
    EXPECT_EQ(bytes_of(), bytes);
  }
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Library::Open(dir / "lab").error().code, ErrorCode::kInvalid)
      << "and none is waited for";
  EXPECT_EQ(Library::PlanRebuild(dir / "lab").error().code, ErrorCode::kInvalid);
  std::filesystem::remove(path);
  for (const std::string& broken : {std::string(), ours.substr(0, 3000), "x" + ours.substr(1)}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << broken;
    EXPECT_TRUE(Library::PlanRebuild(dir / "lab").value().replaces);
    EXPECT_EQ(bytes_of(), broken);
    const auto opened = Library::Open(dir / "lab");
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ((*opened)->Clips().value().size(), 1u) << "ours, and broken: made anew";
  }
}

TEST(Library, WhatIsNoFileIsNamedAndNotWaitedFor) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  AddTake(*library, "a", "S01");
  ASSERT_EQ(::mkfifo((dir / "lab/clips/pipe.clip").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((dir / "lab/clips/pipe.clip-lock").c_str(), 0600), 0);
  std::filesystem::create_directory(dir / "lab/clips/folder.clip");
  std::filesystem::create_symlink(dir / "nowhere", dir / "lab/clips/dangling.clip");
  std::filesystem::create_symlink("/dev/zero", dir / "lab/derived/device.art");
  for (const bool finish : {false, true}) {
    const Issues rebuilt = library->Rebuild(finish).value();
    EXPECT_EQ(rebuilt.size(), 4u) << finish;
    EXPECT_TRUE(AnyLoss(rebuilt));
  }
  const std::string found = Found(*library);
  for (const char* name : {"pipe.clip: ", "folder.clip: ", "dangling.clip: ", "device.art: "})
    EXPECT_THAT(found, HasSubstr(name));
  EXPECT_EQ(library->Info().value().clips, 1);
  EXPECT_EQ(library->Info().value().problems, 4);
  EXPECT_EQ(ClipReader::Open(dir / "lab/clips/pipe.clip").error().code, ErrorCode::kNotFound);
}

TEST(Library, ContactsOfAClipWithoutForceSensorsAreUnknown) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  AddTake(*library, "poke", "S01");
  recording::ClipInfo info;
  info.name = "it's \"bare\"";
  info.id = ClipId::New();
  recording::Clip bare(info);
  bare.AddStream(MarkerStream(1, 1e-5), recording::ClockMap::Identity(0));
  ASSERT_TRUE(WriteClip(bare, library->ClipPath(info.id), {}));
  ASSERT_TRUE(library->Index(info.id));
  const auto count = [&](const std::string& text) {
    const auto query = Query::Parse(text, *library);
    EXPECT_TRUE(query) << query.error().message;
    return query ? query->Run().value().rows.size() : 0;
  };
  EXPECT_EQ(count("clips where contacts = 2"), 1u);
  EXPECT_EQ(count("clips where contacts < 2"), 0u) << "unknown is not 0";
  EXPECT_EQ(count("clips where not contacts = 2"), 0u);
  EXPECT_EQ(count("clips where contact_time < 1 h"), 1u);
  EXPECT_EQ(count("name = 'it''s \"bare\"'"), 1u) << "a quote within is written twice";
  EXPECT_EQ(count("name = \"it's \"\"bare\"\"\""), 1u);
  EXPECT_EQ(count("name = ''''"), 0u);
  EXPECT_FALSE(Query::Parse("name = 'it''s", *library));
}

TEST(Library, WhatCannotBeFinishedIsSaid) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  recording::ClipInfo info;
  info.id = ClipId::New();
  ASSERT_TRUE(ClipWriter::Create(library->ClipPath(info.id), info, {}));
  ChangeLedger(library->ClipPath(info.id), "UPDATE info SET value=9 WHERE key='min_writer'");
  const Issues issues = library->Rebuild(true).value();
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].severity, Severity::kLoss);
  EXPECT_THAT(issues[0].what,
              ::testing::AllOf(HasSubstr("cannot be closed"), HasSubstr("level 9")));
  EXPECT_EQ(library->Info().value().unfinished, 1) << "and it is in the catalogue as it is";
}

// A recorder has the library open while somebody makes the catalogue anew, and stores its take at
// whatever moment of it.
TEST(Library, ATakeStoredWhileTheCatalogueIsMadeAnewIsInIt) {
  const TempDir dir;
  auto recorder = Library::Create(dir / "lab").value();
  const std::string early = AddTake(*recorder, "a", "S01");
  auto other = Library::Open(dir / "lab").value();
  ASSERT_TRUE(other->Rebuild(false));
  const std::string after = AddTake(*recorder, "a", "S01");
  recorder->Say(Tag(early, "before")).value();
  EXPECT_EQ(Library::Open(dir / "lab").value()->Clips().value().size(), 2u);
  std::string during;
  ASSERT_TRUE(other->Rebuild(false, [&](double, std::string_view) {
    if (!during.empty()) return true;
    during = AddTake(*recorder, "a", "S01");
    recorder->Say(Tag(during, "meanwhile")).value();
    recorder->Save(TrackOf(recorder->FindClip(early).value().sha256)).value();
    EXPECT_EQ(Library::Open(dir / "lab").value()->Rebuild(false).error().code, ErrorCode::kBusy);
    return true;
  }));
  for (Library* library : {other.get(), Library::Open(dir / "lab").value().release()}) {
    EXPECT_EQ(library->Clips().value().size(), 3u);
    EXPECT_THAT(library->FindClip(during).value().tags, ElementsAre("meanwhile"));
    EXPECT_EQ(library->Artefacts().value().size(), 1u);
    EXPECT_EQ(Found(*library), "");
    if (library != other.get()) delete library;
  }
  AddTake(*recorder, "b", "S01");
  EXPECT_EQ(recorder->Clips().value().size(), 4u);
}

TEST(Library, APlanOfARebuildWritesNothing) {
  const TempDir dir;
  {
    auto library = Library::Create(dir / "lab").value();
    AddTake(*library, "a", "S01");
    recording::ClipInfo info;
    info.id = ClipId::New();
    auto writer = ClipWriter::Create(library->ClipPath(info.id), info, {}).value();
    ASSERT_TRUE(writer->AddStream(ForceStream(true)));
  }
  std::filesystem::remove(dir / "lab/catalogue.db");
  const auto listing = [&] {
    std::map<std::string, std::pair<uintmax_t, int64_t>> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir / "lab"))
      files[entry.path()] = {entry.is_regular_file() ? entry.file_size() : 0,
                             entry.last_write_time().time_since_epoch().count()};
    return files;
  };
  const auto before = listing();
  const Library::RebuildPlan plan = Library::PlanRebuild(dir / "lab").value();
  EXPECT_EQ(plan.clips, 2);
  EXPECT_EQ(plan.unfinished, 1);
  EXPECT_FALSE(plan.replaces);
  EXPECT_EQ(listing(), before);
  EXPECT_EQ(Library::PlanRebuild(dir / "none").error().code, ErrorCode::kNotFound);
}

TEST(Ledger, IsAppendOnlyAndSaysWhatHoldsNow) {
  const TempDir dir;
  Ledger ledger = Ledger::Open(dir / "ledger.db", true).value();
  const std::string first = ledger.Append(Tag("c1", "good")).value();
  ledger.Append(Tag("c2", "good")).value();
  LedgerEntry off = Tag("c1", "good");
  off.removed = true;
  off.author = "ben";
  ledger.Append(off).value();
  EXPECT_EQ(ledger.Current("c1").value().size(), 0u);
  EXPECT_EQ(ledger.Current().value().size(), 1u);
  const auto history = ledger.History("c1").value();
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[1].replaces, first);
  EXPECT_EQ(history[1].author, "ben");
  EXPECT_GE(history[1].utc, history[0].utc);
  for (const char* value : {"2", "5"}) {
    LedgerEntry rating = Tag("c1", "");
    rating.kind = LedgerKind::kRating;
    rating.value = value;
    ledger.Append(rating).value();
  }
  ASSERT_EQ(ledger.Current("c1").value().size(), 1u);
  EXPECT_EQ(ledger.Current("c1").value()[0].value, "5");
  LedgerEntry consent;
  consent.kind = LedgerKind::kConsent;
  consent.subject = "S01";
  consent.name = "publication";
  consent.value = "given";
  consent.author = "ana";
  ledger.Append(consent).value();
  consent.value = "withdrawn";
  ledger.Append(consent).value();
  ASSERT_EQ(ledger.Current("S01").value().size(), 1u);
  EXPECT_EQ(ledger.Current("S01").value()[0].value, "withdrawn");
  EXPECT_EQ(ledger.History("S01").value().size(), 2u);
  LedgerEntry nobody = Tag("c1", "x");
  nobody.author = "";
  EXPECT_THAT(ledger.Append(nobody).error().message, HasSubstr("author"));
  LedgerEntry six = Tag("c1", "");
  six.kind = LedgerKind::kRating;
  six.value = "6";
  EXPECT_EQ(ledger.Append(six).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ledger.Count().value(), 7);
}

/// A ledger of a dozen entries of every kind; answers what it says, as text.
std::string Told(const Ledger& ledger) {
  const auto history = ledger.History("");
  if (!history) return "refused";
  std::string text;
  for (const LedgerEntry& e : *history) {
    text += e.uid + e.clip + e.subject + std::string(LedgerKindName(e.kind)) + e.name + e.value +
            (e.removed ? "-" : "+") + e.replaces + e.author + std::to_string(e.utc.ns());
    if (e.span) text += std::to_string(e.span->begin.ns()) + "," + std::to_string(e.span->end.ns());
    text += "\n";
  }
  return text;
}

void FillLedger(const std::string& path) {
  Ledger ledger = Ledger::Open(path, true).value();
  for (int i = 0; i < 12; ++i) {
    LedgerEntry e = Tag("0192f3a0-0000-7000-8000-00000000000" + std::to_string(i % 3), "good");
    if (i % 4 == 1) e.kind = LedgerKind::kNote, e.name = "", e.value = "thumb slipped at the rim";
    if (i % 4 == 2) {
      e.kind = LedgerKind::kLabel;
      e.value = "tip pinch";
      e.span = TimeRange{Timestamp::FromNanoseconds(i), Timestamp::FromNanoseconds(1000 + i)};
    }
    if (i % 4 == 3) e.kind = LedgerKind::kRating, e.value = std::to_string(1 + i % 5);
    ledger.Append(e).value();
  }
}

TEST(Ledger, EveryFlippedBitThatChangesAnAnswerIsDetectedAndLocated) {
  const TempDir dir;
  FillLedger(dir / "ledger.db");
  const std::string truth = Told(Ledger::Open(dir / "ledger.db", false).value());
  std::ifstream in(dir / "ledger.db", std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  std::mt19937_64 rng(44);
  int refused = 0, located = 0, harmless = 0;
  for (int t = 0; t < 1200; ++t) {
    std::string bad = good;
    const size_t at = rng() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ 1 << rng() % 8);
    std::ofstream(dir / "flipped.db", std::ios::binary) << bad;
    const auto ledger = Ledger::Open(dir / "flipped.db", false);
    if (!ledger) {
      ++refused;
      continue;
    }
    const std::string told = Told(*ledger);
    const auto found = ledger->Check();
    if (told == truth) {
      ++harmless;
      continue;
    }
    ASSERT_EQ(told, "refused") << "byte " << at << " changed an answer unseen";
    ASSERT_TRUE(!found || AnyLoss(*found)) << "byte " << at;
    located += found.has_value();
    Issues damage;
    const auto rest = ledger->History("", &damage);
    EXPECT_TRUE(!rest || !damage.empty()) << "byte " << at;
  }
  EXPECT_GT(located, 50);
  EXPECT_GT(harmless, 100);
  EXPECT_EQ(refused + located + harmless, 1200) << "what cannot be located could not be opened";
}

TEST(Ledger, WhatIsHeldIsWhatIsCurrentAlsoAsOthersAppend) {
  const TempDir dir;
  FillLedger(dir / "ledger.db");
  Ledger ledger = Ledger::Open(dir / "ledger.db", false).value();
  Ledger other = Ledger::Open(dir / "ledger.db", false).value();
  std::mt19937_64 rng(45);
  const auto text = [](const std::vector<LedgerEntry>& entries) {
    std::string all;
    for (const LedgerEntry& e : entries) all += e.uid + " ";
    return all;
  };
  for (int i = 0; i < 200; ++i) {
    LedgerEntry e = Tag("0192f3a0-0000-7000-8000-00000000000" + std::to_string(rng() % 3),
                        "tag" + std::to_string(rng() % 4));
    e.removed = rng() % 3 == 0;
    if (rng() % 5 == 0) e.kind = LedgerKind::kRating, e.name = "", e.value = "4";
    if (rng() % 7 == 0) {
      e = LedgerEntry();
      e.kind = LedgerKind::kConsent;
      e.subject = "S0" + std::to_string(rng() % 2);
      e.name = "publication";
      e.value = rng() % 2 == 0 ? "given" : "withdrawn";
      e.author = "ana";
    }
    ASSERT_TRUE((rng() % 2 == 0 ? ledger : other).Append(e));
    for (const std::string& about : {e.clip.empty() ? e.subject : e.clip, std::string("S01")}) {
      Issues damage;
      EXPECT_EQ(text(ledger.Held(about, damage).value()), text(other.Current(about).value()));
      EXPECT_THAT(damage, IsEmpty());
    }
  }
}

TEST(Ledger, OneThatGrowsWhileItIsReadIsNotTakenForDamaged) {
  const TempDir dir;
  FillLedger(dir / "ledger.db");
  std::thread author([&] {
    Ledger ledger = Ledger::Open(dir / "ledger.db", false).value();
    for (int i = 0; i < 150; ++i) EXPECT_TRUE(ledger.Append(Tag("c1", std::to_string(i))));
  });
  Ledger ledger = Ledger::Open(dir / "ledger.db", false).value();
  size_t seen = 0;
  while (seen < 150) {
    const auto current = ledger.Current("c1");
    EXPECT_TRUE(current) << current.error().message;
    if (!current) break;
    Issues damage;
    seen = ledger.Held("c1", damage).value().size();
    EXPECT_THAT(damage, IsEmpty());
    EXPECT_GE(seen, current->size());
    if (HasFailure()) break;
  }
  author.join();
}

TEST(Ledger, DamageAfterTheFirstLookIsSeenInWhatIsHeld) {
  const TempDir dir;
  const std::string clip = "0192f3a0-0000-7000-8000-000000000000";  // of entries 1, 4, 7, 10
  const auto told_after = [&](const char* sql) {
    std::filesystem::remove(dir / "ledger.db");
    FillLedger(dir / "ledger.db");
    Ledger ledger = Ledger::Open(dir / "ledger.db", false).value();
    Issues damage;
    EXPECT_FALSE(ledger.Held(clip, damage).value().empty());
    EXPECT_THAT(damage, IsEmpty());
    ChangeLedger(dir / "ledger.db", sql);
    EXPECT_TRUE(ledger.Held(clip, damage));
    std::string text;
    for (const Issue& issue : damage) text += issue.where + ": " + issue.what + "\n";
    return text;
  };
  EXPECT_EQ(told_after("SELECT 1"), "");
  EXPECT_THAT(told_after("UPDATE entry SET value='5' WHERE id=4"), HasSubstr("entry 4 (rating"));
  EXPECT_THAT(told_after("UPDATE entry SET clip='elsewhere' WHERE id=4"), HasSubstr("entry 4 "));
  EXPECT_THAT(told_after("UPDATE entry SET digest=zeroblob(32) WHERE id=4"), HasSubstr("entry 4 "));
  EXPECT_THAT(told_after("DELETE FROM entry WHERE id=4"), HasSubstr("entry 4: is missing"));
  EXPECT_THAT(told_after("DELETE FROM entry WHERE id>10"), HasSubstr("12 entries were made, 10"));
  EXPECT_THAT(told_after("UPDATE head SET entries=13"), HasSubstr("13 entries were made, 12"));
  EXPECT_THAT(told_after("UPDATE entry SET digest=zeroblob(32) WHERE id=12"),
              HasSubstr("ledger.db, "));
}

TEST(Ledger, ChangedLostAndExchangedEntriesAreNamed) {
  const TempDir dir;
  const auto found_after = [&](const char* sql) {
    std::filesystem::remove(dir / "ledger.db");
    FillLedger(dir / "ledger.db");
    ChangeLedger(dir / "ledger.db", sql);
    const Ledger ledger = Ledger::Open(dir / "ledger.db", false).value();
    EXPECT_FALSE(ledger.Current("")) << sql;
    std::string text;
    const Issues issues = ledger.Check().value();
    for (const Issue& issue : issues) text += issue.where + ": " + issue.what + "\n";
    return text;
  };
  EXPECT_THAT(found_after("UPDATE entry SET value='2' WHERE id=4"),
              ::testing::AllOf(HasSubstr("entry 4 (rating"), HasSubstr("by ana"),
                               ::testing::Not(HasSubstr("entry 5"))));
  EXPECT_THAT(found_after("UPDATE entry SET digest=zeroblob(32) WHERE id=4"),
              ::testing::AllOf(HasSubstr("entry 4 "), ::testing::Not(HasSubstr("entry 5"))));
  EXPECT_THAT(found_after("DELETE FROM entry WHERE id IN (6, 7)"),
              HasSubstr("entries 6 to 7: are missing"));
  EXPECT_THAT(found_after("DELETE FROM entry WHERE id>10"), HasSubstr("12 entries were made, 10"));
  EXPECT_THAT(found_after("UPDATE entry SET id=100 WHERE id=3; UPDATE entry SET id=3 WHERE id=7; "
                          "UPDATE entry SET id=7 WHERE id=100"),
              ::testing::AllOf(HasSubstr("entry 3 "), HasSubstr("entry 7 ")));
  // What is said later holds, and does not hide what was lost.
  std::filesystem::remove(dir / "ledger.db");
  FillLedger(dir / "ledger.db");
  ChangeLedger(dir / "ledger.db", "DELETE FROM entry WHERE id=12");
  Ledger ledger = Ledger::Open(dir / "ledger.db", false).value();
  ASSERT_TRUE(ledger.Append(Tag("c9", "late")));
  EXPECT_TRUE(AnyLoss(ledger.Check().value()));
  Issues damage;
  EXPECT_EQ(ledger.Current("c9", &damage).value().size(), 1u);
  EXPECT_EQ(damage.size(), 1u);
}

TEST(Ledger, AnEarlierRevisionIsBroughtToThisOne) {
  const TempDir dir;
  const std::string path = dir / "ledger.db";
  DatabaseOptions create;
  create.mode = OpenMode::kCreate;
  {
    Database db = Database::Open(path, create).value();
    ASSERT_TRUE(db.Execute(std::string(Migrations(FileKind::kLedger)[0].sql).c_str()));
    ASSERT_TRUE(db.Execute(
        "INSERT INTO entry VALUES(NULL,'u1','c1','','tag','good','',0,NULL,NULL,'','ana',7);"
        "INSERT INTO entry VALUES(NULL,'u2','c1','','rating','','4',0,NULL,NULL,'','ben',8);"
        "PRAGMA application_id=1212705841; PRAGMA user_version=1"));
  }
  EXPECT_EQ(Ledger::Open(path, false, true).error().code, ErrorCode::kVersion)
      << "cannot be raised";
  for (int round = 0; round < 2; ++round) {
    const auto ledger = Ledger::Open(path, false);
    ASSERT_TRUE(ledger) << ledger.error().message;
    const auto entries = ledger->Current("c1").value();
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[1].value, "4");
    EXPECT_EQ(entries[1].author, "ben");
    EXPECT_THAT(ledger->Check().value(), IsEmpty());
  }
  ChangeLedger(path, "UPDATE entry SET value='5' WHERE id=2");
  EXPECT_TRUE(AnyLoss(Ledger::Open(path, false).value().Check().value()));
}

TEST(Ledger, SeveralEntriesAreSaidTogetherOrNotAtAll) {
  const TempDir dir;
  Ledger ledger = Ledger::Open(dir / "ledger.db", true).value();
  EXPECT_FALSE(ledger.Append(std::vector{Tag("c1", "a"), Tag("c1", "")}));
  EXPECT_EQ(ledger.Count().value(), 0);
  const auto uids = ledger.Append(std::vector{Tag("c1", "a"), Tag("c1", "a")}).value();
  EXPECT_EQ(ledger.History("c1").value()[1].replaces, uids[0]);
  EXPECT_EQ(ledger.Current("c1").value().size(), 1u);
}

TEST(Library, NetworkFileSystemsAreTold) {
  EXPECT_EQ(NetworkFileSystem("/tmp"), "");
  EXPECT_EQ(NetworkFileSystem("/no/such/place"), "");
}

TEST(Library, OnANetworkFileSystemItIsReadAndNotWritten) {
  const TempDir dir;
  const std::string id = AddTake(*Library::Create(dir / "lab").value(), "a", "S01");
  const auto unsupported = [](const Status& status) {
    return !status && status.error().code == ErrorCode::kUnsupported &&
           status.error().message.find("nfs") != std::string::npos;
  };
  const auto failed = [](const auto& result) { return result ? Status() : Status(result.error()); };
  PretendNetworkFileSystem(dir.path());
  EXPECT_TRUE(unsupported(failed(Library::Create(dir / "other"))));
  auto library = Library::Open(dir / "lab").value();
  EXPECT_EQ(library->Clips().value().size(), 1u);
  EXPECT_EQ(library->OpenClip(id).value()->sample_count(1), 7000);
  EXPECT_TRUE(unsupported(library->Index(ClipId::Parse(id).value())));
  EXPECT_TRUE(unsupported(failed(library->Say(Tag(id, "x")))));
  EXPECT_TRUE(unsupported(failed(library->Rebuild(false))));
  artefact::Provenance p;
  p.step = "fit.skeleton";
  EXPECT_TRUE(unsupported(failed(library->Save(JsonArtefact{p, "skeleton", "{}"}))));
  EXPECT_TRUE(unsupported(failed(ClipWriter::Create(dir / "lab/clips/x.clip", {}, {}))));
  PretendNetworkFileSystem("");
  EXPECT_TRUE(library->Say(Tag(id, "x"))) << "and on a local disk it is written";
}

TEST(Library, ResultsAreRecognisedAndLineageIsWalkedBothWays) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string clip = library->FindClip(AddTake(*library, "a", "S01")).value().sha256;
  artefact::Provenance skeleton;
  skeleton.step = "fit.skeleton";
  skeleton.inputs = {{"clip", clip, "a_001"}};
  skeleton.parameters_json = "{\"b\": 1.0, \"a\": [1, 2]}";
  EXPECT_EQ(library->FindArtefact(skeleton).value(), std::nullopt);
  const std::string one = library->Save(JsonArtefact{skeleton, "skeleton", "{\"x\":1}"}).value();
  artefact::Provenance same = skeleton;
  same.parameters_json = "{ \"a\":[1,2.0],\"b\":1 }";  // the same, written otherwise
  same.tool = "another";
  same.inputs[0].name = "renamed";
  EXPECT_EQ(library->FindArtefact(same).value(), one);
  EXPECT_EQ(library->Save(JsonArtefact{same, "skeleton", "{\"x\":2}"}).value(), one);
  EXPECT_EQ(LoadJsonArtefact(library->ArtefactPath(one)).value().json, "{\"x\":1}")
      << "what is there already is not written again";
  for (int change = 0; change < 4; ++change) {
    artefact::Provenance other = skeleton;
    if (change == 0) other.version += 1;
    if (change == 1) other.parameters_json = "{\"a\":[1,3],\"b\":1}";
    if (change == 2) other.inputs[0].hash[0] = other.inputs[0].hash[0] == 'a' ? 'b' : 'a';
    if (change == 3) other.inputs[0].role = "free";
    EXPECT_EQ(library->FindArtefact(other).value(), std::nullopt) << change;
  }
  artefact::Provenance pose;
  pose.step = "fit.pose";
  pose.inputs = {{"clip", clip, "a_001"}, {"skeleton", one, ""}};
  const std::string two = library->Save(JsonArtefact{pose, "report", "{}"}).value();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(library->Inputs(two).value()[1].hash, one);
    EXPECT_EQ(library->Inputs(one).value()[0].hash, clip);
    EXPECT_THAT(library->MadeFrom(one).value(), ElementsAre(two));
    EXPECT_THAT(library->MadeFrom(clip).value(), ::testing::UnorderedElementsAre(one, two));
    EXPECT_THAT(library->MadeFrom(two).value(), IsEmpty());
    EXPECT_EQ(library->Artefacts("skeleton").value().size(), 1u);
    ASSERT_TRUE(library->Rebuild(false)) << "and another catalogue says the same";
  }
}

TEST(Library, FitsAddContactsUnderTheirOwnName) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string id = AddTake(*library, "a", "S01");
  const artefact::ContactTrack track = TrackOf(library->FindClip(id).value().sha256);
  const std::string hash = library->Save(track).value();
  const std::string fitted = "contact_on by fit.contact/" + hash.substr(0, 8);
  const auto ask = [&](const std::string& text) {
    const auto query = Query::Parse(text, *library);
    EXPECT_TRUE(query) << query.error().message;
    return query->Run().value().rows;
  };
  for (int round = 0; round < 3; ++round) {
    const auto rows = ask("peak(normal_force) > 1 N within 0.1 s of " + fitted);
    ASSERT_EQ(rows.size(), 1u) << round;
    EXPECT_EQ(rows[0].event->clip_time.ns(), 499'000'000);
    EXPECT_EQ(rows[0].event->stream_id, 1) << "the sensor that the fit names";
    EXPECT_EQ(ask("contact_on").size(), 2u) << "the indexer's, as before the fit";
    ASSERT_TRUE(round == 0 ? library->Index(ClipId::Parse(id).value())
                           : Status(library->Rebuild(false) ? Status() : Error{}));
  }
}

TEST(Library, ContactThresholdsOutliveTheCatalogue) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab", {.contact_on_N = 0.35, .contact_off_N = 0.1}).value();
  AddTake(*library, "poke", "S01");
  const auto contacts = [&] {
    return library->catalogue()
        .QueryInteger("SELECT count(*) FROM event WHERE kind='contact_on'")
        .value();
  };
  EXPECT_EQ(contacts(), 3) << "0.4 N is a contact here";
  library.reset();
  std::filesystem::remove(dir / "lab/catalogue.db");
  library = Library::Open(dir / "lab").value();
  EXPECT_EQ(contacts(), 3);
  EXPECT_EQ(library->Info().value().indexer, (IndexerOptions{0.35, 0.1}));
}

TEST(Library, ADamagedSettingLeavesTheThresholdsThatTheCatalogueKnows) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab", {.contact_on_N = 0.35, .contact_off_N = 0.1}).value();
  AddTake(*library, "poke", "S01");
  library.reset();
  ChangeLedger(dir / "lab/ledger.db", "UPDATE entry SET value='5' WHERE name='contact_on_N'");
  library = Library::Open(dir / "lab").value();
  EXPECT_THAT(Found(*library), HasSubstr("contact_on_N"));
  EXPECT_THAT(Found(*library), Not(HasSubstr("library rebuild"))) << "its contacts are right";
  ASSERT_TRUE(library->Rebuild(false));
  EXPECT_EQ(library->Info().value().indexer, (IndexerOptions{0.35, 0.1}));
}

// Rights, or too many open files: whatever keeps a sound catalogue from being opened.
TEST(Library, ACatalogueThatCannotBeOpenedNowIsNotMadeAnew) {
  const TempDir dir;
  Library::Create(dir / "lab").value();
  struct stat before {
  }, after{};
  const std::string catalogue = dir / "lab/catalogue.db";
  ASSERT_EQ(::stat(catalogue.c_str(), &before), 0);
  std::filesystem::create_directory(catalogue + "-journal");  // SQLite cannot look at its journal
  const auto shut = Library::Open(dir / "lab");
  ASSERT_FALSE(shut);
  EXPECT_THAT(shut.error().message, HasSubstr("catalogue.db"));
  ASSERT_EQ(::stat(catalogue.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  std::filesystem::remove(catalogue + "-journal");
  EXPECT_TRUE(Library::Open(dir / "lab"));
}

/// Gives each of two files the other's name.
void Exchange(const std::string& a, const std::string& b) {
  std::filesystem::rename(a, a + ".away");
  std::filesystem::rename(b, a);
  std::filesystem::rename(a + ".away", b);
}

TEST(Library, ExchangedFilesAreRefusedAndNotAnsweredUnderTheOthersName) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string a = AddTake(*library, "a", "S01"), b = AddTake(*library, "b", "S02");
  artefact::Provenance p;
  p.step = "fit.skeleton";
  const std::string one = library->Save(JsonArtefact{p, "skeleton", "{\"of\":1}"}).value();
  p.version = 2;
  const std::string two = library->Save(JsonArtefact{p, "skeleton", "{\"of\":2}"}).value();
  Exchange(dir / ("lab/clips/" + a + ".clip"), dir / ("lab/clips/" + b + ".clip"));
  Exchange(library->ArtefactPath(one), library->ArtefactPath(two));
  const auto opened = library->OpenClip("a_001");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  for (const std::string& part : {a, b, std::string("handhold library rebuild")})
    EXPECT_THAT(opened.error().message, HasSubstr(part));
  const QueryResult found =
      Query::Parse("rms(normal_force) > 0.1 N within 0.01 s of contact_on", *library)
          .value()
          .Run()
          .value();
  EXPECT_THAT(found.rows, IsEmpty());
  EXPECT_EQ(found.issues.size(), 2u);
  const auto artefact = LoadJsonArtefact(library->ArtefactPath(one));
  ASSERT_FALSE(artefact) << artefact->json;
  EXPECT_EQ(artefact.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(artefact.error().message, HasSubstr(two));
  EXPECT_FALSE(ReadArtefactInfo(library->ArtefactPath(two)));
  ASSERT_TRUE(library->Rebuild(false));
  EXPECT_EQ(library->OpenClip("a_001").value()->info().id.ToString(), a)
      << "a catalogue made anew knows where it is";
  std::filesystem::remove(dir / ("lab/clips/" + a + ".clip"));
  const auto gone = library->OpenClip("b_001");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kIo);
  EXPECT_THAT(gone.error().message, HasSubstr("gone"));
}

TEST(Library, OfTwoFilesOfOneClipTheOneThatHasItsNameIsTaken) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string id = AddTake(*library, "a", "S01"), name = id + ".clip";
  for (const char* copy : {"0.clip", "zzz.clip"}) {  // read before and after it
    std::filesystem::copy_file(dir / ("lab/clips/" + name),
                               dir / (std::string("lab/clips/") + copy));
  }
  EXPECT_THAT(Found(*library), ::testing::AllOf(HasSubstr("0.clip"), HasSubstr("zzz.clip")));
  const Issues issues = library->Rebuild(false).value();
  ASSERT_EQ(issues.size(), 2u);
  for (const Issue& issue : issues) {
    EXPECT_EQ(issue.severity, Severity::kLoss);
    EXPECT_THAT(issue.what, HasSubstr("clips/" + name));
  }
  EXPECT_EQ(library->FindClip(id).value().path, name);
  EXPECT_EQ(library->Info().value().problems, 2);
}

TEST(Library, AClipWhoseFileAnotherOneOverwroteIsNamed) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string a = AddTake(*library, "a", "S01"), c = AddTake(*library, "c", "S01");
  std::filesystem::copy_file(dir / ("lab/clips/" + c + ".clip"), dir / ("lab/clips/" + a + ".clip"),
                             std::filesystem::copy_options::overwrite_existing);
  const std::string found = Found(*library);
  EXPECT_THAT(found, HasSubstr("loss clips/" + a + ".clip: holds another clip, and the clip " + a));
  EXPECT_THAT(found, Not(HasSubstr("the clip " + c + " of the catalogue is in no file")));
  library->Rebuild(false).value();
  std::filesystem::remove(dir / ("lab/clips/" + a + ".clip"));
  library->Rebuild(false).value();
  EXPECT_EQ(Found(*library), "");
}

// What the ledger says of a clip outlives the clip's file, and so it tells that the file is lost.
TEST(Library, AClipThatTheLedgerSpeaksOfAndThatHasNoFileIsALoss) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string rated = AddTake(*library, "a", "S01"), kept = AddTake(*library, "a", "S01"),
                    silent = AddTake(*library, "a", "S01"), unsaid = AddTake(*library, "a", "S01");
  const auto file = [&](const std::string& id) { return dir / ("lab/clips/" + id + ".clip"); };
  LedgerEntry rating = Tag(rated, "");
  rating.kind = LedgerKind::kRating;
  rating.value = "4";
  library->Say(rating).value();
  for (const char* tag : {"good", "sharp"}) library->Say(Tag(rated, tag)).value();
  LedgerEntry taken_back = Tag(unsaid, "good");
  library->Say(taken_back).value();
  taken_back.removed = true;
  library->Say(taken_back).value();
  library->Say(Tag(kept, "good")).value();
  EXPECT_EQ(Found(*library), "");
  const std::filesystem::path copy = dir / "copy";
  std::filesystem::rename(file(rated), copy);
  std::filesystem::remove(file(silent));
  EXPECT_THAT(Found(*library),
              ::testing::AllOf(HasSubstr("loss clips/" + rated +
                                         ".clip: is in the catalogue, but "
                                         "its file is gone: put it back from a copy; 'handhold "
                                         "library rebuild' forgets what"),
                               Not(HasSubstr("clip " + rated)), Not(HasSubstr(kept))))
      << "told once";
  const Issues planned = Library::PlanRebuild(dir / "lab").value().forgets;
  ASSERT_EQ(planned.size(), 2u);
  EXPECT_EQ(planned[0].where, "clip " + std::min(rated, silent));
  std::filesystem::remove(file(unsaid));
  std::ofstream(file(kept), std::ios::trunc) << "rubbish";
  const Issues issues = library->Rebuild(false).value();
  std::map<std::string, std::string> told;
  for (const Issue& issue : issues) {
    EXPECT_EQ(issue.severity, Severity::kLoss);
    EXPECT_TRUE(told.emplace(issue.where, issue.what).second) << issue.where << " told twice";
  }
  EXPECT_EQ(told.size(), 4u);
  EXPECT_THAT(told["clip " + rated],
              ::testing::AllOf(HasSubstr("rating 4, tags good, sharp; this rebuild forgets"),
                               HasSubstr("as 'a_001': put the file back into clips/ from a copy")));
  EXPECT_THAT(told["clip " + silent],
              HasSubstr("has no file; this rebuild forgets what the catalogue knew of it as "
                        "'a_003'"));
  EXPECT_THAT(told["clip " + unsaid], HasSubstr("taken back"));
  EXPECT_THAT(told["clips/" + kept + ".clip"], Not(HasSubstr("has no file")))
      << "it is there, and cannot be read";
  const auto lost = ::testing::AllOf(
      HasSubstr("loss clip " + rated +
                ": has no file, and the ledger says of it: rating 4, tags "
                "good, sharp; put the file back into clips/ from a copy, then 'handhold library "
                "rebuild'"),
      HasSubstr("loss clip " + unsaid), Not(HasSubstr(silent)), Not(HasSubstr("clip " + kept)));
  // The catalogue, made anew or lost, knows nothing of it any more.
  for (const bool without : {false, true}) {
    if (without) {
      library.reset();
      std::filesystem::remove(dir / "lab/catalogue.db");
      library = Library::Open(dir / "lab").value();
    }
    EXPECT_THAT(Found(*library), lost);
    EXPECT_EQ(library->Info().value().problems, 3);
    const Issues problems = library->Problems().value();
    ASSERT_EQ(problems.size(), 3u);
    for (const Issue& problem : problems) EXPECT_EQ(problem.severity, Severity::kLoss);
    EXPECT_TRUE(library->Rebuild(false));
  }
  // Another clip's file under its name brings nothing back; its own does.
  const std::string other = AddTake(*library, "b", "S01");
  std::filesystem::copy_file(file(other), file(rated));
  library->Rebuild(false).value();
  EXPECT_THAT(Found(*library), HasSubstr("loss clip " + rated));
  std::filesystem::rename(copy, file(rated));
  library->Rebuild(false).value();
  EXPECT_THAT(Found(*library), Not(HasSubstr(rated)));
  EXPECT_EQ(library->FindClip("a_001").value().rating, 4);
}

// The take of a recorder that died is a file without a row.
TEST(Library, FilesThatAreNotInTheCatalogueAreCountedAndNamed) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  AddTake(*library, "a", "S01");
  recording::ClipInfo info;
  info.task = "stroke";
  info = library->NewTake(info).value();
  auto writer = ClipWriter::Create(library->ClipPath(info.id), info, {}).value();
  const auto counts = [&] {
    const LibraryInfo now = library->Info().value();
    return std::vector<int64_t>{now.clips, now.uncatalogued, now.uncatalogued_unfinished,
                                now.being_recorded, now.problems};
  };
  EXPECT_THAT(counts(), ElementsAre(1, 0, 0, 1, 0));
  Issues problems = library->Problems().value();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].severity, Severity::kNote);
  EXPECT_EQ(problems[0].what, "is being recorded");
  writer.reset();  // its recorder died
  const ClipId closed = ClipId::New();
  recording::ClipInfo other;
  other.id = closed;
  other.host_start_ns = 1'000'000'000'000;
  ASSERT_TRUE(WriteClip(Presses(other), library->ClipPath(closed), {}));
  EXPECT_THAT(counts(), ElementsAre(1, 2, 1, 0, 0));
  problems = library->Problems().value();
  ASSERT_EQ(problems.size(), 2u);
  for (const Issue& problem : problems) {
    EXPECT_EQ(problem.severity, Severity::kLoss);
    EXPECT_THAT(problem.what,
                HasSubstr("`handhold library rebuild --finish --library " + (dir / "lab")));
  }
  ASSERT_TRUE(library->Rebuild(true));
  EXPECT_THAT(counts(), ElementsAre(3, 0, 0, 0, 0));
  EXPECT_THAT(library->Problems().value(), IsEmpty());
  // One that cannot be read is a problem already, which --finish does not take in.
  std::ofstream(dir / "lab/clips/rubbish.clip") << "rubbish";
  EXPECT_THAT(counts(), ElementsAre(3, 1, 1, 0, 0));
  ASSERT_TRUE(library->Rebuild(true));
  EXPECT_THAT(counts(), ElementsAre(3, 0, 0, 0, 1));
}

TEST(Library, OfClipsOfOneNameNoneIsTakenForTheOther) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const auto add = [&] {
    recording::ClipInfo info;
    info.name = "a_001";
    info.host_start_ns = 1'000'000'000'000;
    info = library->NewTake(info).value();
    EXPECT_TRUE(WriteClip(Presses(info), library->ClipPath(info.id), {}));
    EXPECT_TRUE(library->Index(info.id));
    return info.id.ToString();
  };
  const std::string a = add(), b = add();
  const auto change = [&](const std::string& id, const char* sql) {
    ChangeLedger(dir / ("lab/clips/" + id + ".clip"), sql);
  };
  Issues damage;
  ClipReaderOptions rest;
  rest.damage = &damage;
  const auto of = [&](const std::string& key) {
    const auto clip = library->OpenClip(key, rest);
    return clip ? (*clip)->info().id.ToString() : clip.error().message;
  };
  change(a, "UPDATE chunk SET data=zeroblob(length(data))");
  library->Rebuild(false).value();
  ASSERT_EQ(library->Clips().value().size(), 1u);
  // One in the catalogue, one that is not.
  EXPECT_THAT(of("a_001"), ::testing::AllOf(HasSubstr("is several clips"), HasSubstr(a),
                                            HasSubstr(b), HasSubstr("give the id")));
  EXPECT_EQ(of(a), a);
  EXPECT_EQ(of(b), b);
  std::filesystem::copy_file(dir / ("lab/clips/" + b + ".clip"), dir / "lab/clips/copy.clip");
  EXPECT_EQ(of(b), b) << "its copy is no other clip";
  std::filesystem::remove(dir / "lab/clips/copy.clip");
  // Neither is in it.
  change(b, "UPDATE chunk SET data=zeroblob(length(data))");
  library->Rebuild(false).value();
  ASSERT_TRUE(library->Clips().value().empty());
  for (const std::string& said : {of("a_001"), library->FindClip("a_001").error().message})
    EXPECT_THAT(said, ::testing::AllOf(HasSubstr("is several clips"), HasSubstr(a), HasSubstr(b)));
  EXPECT_EQ(of(a), a);
  // One that does not say its name any more.
  change(a, "DELETE FROM info WHERE key='name'");
  const std::string none = library->FindClip("walk_007").error().message;
  EXPECT_THAT(none, ::testing::AllOf(HasSubstr("name is damaged: " + a),
                                     HasSubstr("handhold clip export " + a + " --library ")));
  EXPECT_THAT(none, Not(HasSubstr(b)));
  EXPECT_TRUE(library->OpenClip(a, rest));
}

TEST(Library, WhatAKilledProgramLeftIsNamedAndClearedByARebuild) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string id = ClipId::New().ToString(), hash(64, 'a');
  recording::ClipInfo info, imported;
  info.id = ClipId::New(), imported.id = ClipId::New();
  const auto recorder = ClipWriter::Create(library->ClipPath(info.id), info, {}).value();
  ClipWriterOptions whole;
  whole.already_complete = true;
  const auto importer = ClipWriter::Create(library->ClipPath(imported.id), imported, whole).value();
  const std::string closed = AddTake(*library, "stroke", "S01"),
                    indexed = AddTake(*library, "stroke", "S01");
  recording::ClipInfo unfinished;
  unfinished.id = ClipId::New();
  const std::string cut_off = unfinished.id.ToString();
  (void)ClipWriter::Create(library->ClipPath(unfinished.id), unfinished, {}).value();
  const std::vector<std::string> ours = {"clips/" + id + ".clip.part", "clips/" + id + ".clip-lock",
                                         "clips/" + closed + ".clip-lock",  // of a program killed
                                                                            // before it had
                                                                            // catalogued it
                                         "derived/" + hash + ".art.part"};
  const std::vector<std::string> others = {
      "derived/0123.art.part",
      "clips/mine.clip.part",                            // not named as ours are
      "clips/" + cut_off + ".clip-lock",                 // of a recording that --finish closes
      "clips/" + indexed + ".clip-lock",                 // of a clip that is being catalogued
      "clips/" + imported.id.ToString() + ".clip.part",  // being written
      "clips/" + imported.id.ToString() + ".clip-lock",  //
      "clips/" + info.id.ToString() + ".clip-lock"};
  for (const std::string& file : ours) std::ofstream(dir / ("lab/" + file)) << "x";
  for (int i = 0; i < 3; ++i) std::ofstream(dir / ("lab/" + others[static_cast<size_t>(i)])) << "x";
  const std::string busy = dir / ("lab/" + others[3]);
  const int held = ::open(busy.c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);
  const std::string found = Found(*library);
  for (const std::string& file : ours) {
    EXPECT_THAT(found, HasSubstr(file + ": was left by a program that was killed"));
    EXPECT_THAT(found, HasSubstr("'handhold library rebuild', or `rm " + dir / ("lab/" + file)));
  }
  EXPECT_THAT(found, HasSubstr("`rm " + dir / "lab/derived/0123.art.part" + "` removes it"));
  for (size_t i = 2; i < others.size(); ++i)
    EXPECT_THAT(found, Not(HasSubstr(others[i] + ": was left"))) << "its writer lives";
  EXPECT_EQ(Library::PlanRebuild(dir / "lab").value().leftovers, std::ssize(ours));
  for (const std::string& file : ours)
    EXPECT_TRUE(std::filesystem::exists(dir / ("lab/" + file))) << "a plan changes nothing";
  std::string told;
  for (const Issue& issue : library->Rebuild(false).value())
    told +=
        std::string(SeverityName(issue.severity)) + " " + issue.where + ": " + issue.what + "\n";
  for (const std::string& file : ours) {
    EXPECT_FALSE(std::filesystem::exists(dir / ("lab/" + file))) << file;
    EXPECT_THAT(told, HasSubstr("note " + file + ": "));
  }
  for (const std::string& file : others)
    EXPECT_TRUE(std::filesystem::exists(dir / ("lab/" + file))) << file;
  EXPECT_THAT(told, HasSubstr("warning derived/0123.art.part: "));
  ASSERT_TRUE(importer->Close()) << "what was being written goes on";
  for (const std::string& clip : {closed, indexed, cut_off}) EXPECT_TRUE(library->FindClip(clip));
  // Nobody holds it any more.
  ::close(held);
  EXPECT_EQ(Library::PlanRebuild(dir / "lab").value().leftovers, 1);
  library->Rebuild(false).value();
  EXPECT_FALSE(std::filesystem::exists(busy));
  EXPECT_EQ(Library::PlanRebuild(dir / "lab").value().leftovers, 0);
}

/// For its life whoever is root is nobody, whom permissions bind.
class AsNobody {
 public:
  AsNobody() : root_(::geteuid() == 0) {
    if (root_) {
      EXPECT_EQ(::seteuid(65534), 0);
    }
  }
  ~AsNobody() {
    if (root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }

 private:
  const bool root_;
};

TEST(Library, OneThatCannotBeWrittenSaysWhatAndWhyInsteadOfItsStatements) {
  const TempDir dir;
  std::string id;
  {
    auto library = Library::Create(dir / "lab").value();
    id = AddTake(*library, "stroke", "S01");
  }
  const auto permit = [&](mode_t file, mode_t folder) {
    for (const char* name : {"lab/ledger.db", "lab/catalogue.db"})
      ASSERT_EQ(::chmod((dir / name).c_str(), file), 0);
    for (const char* name : {"lab/clips", "lab/derived", "lab/attachments", "lab"})
      ASSERT_EQ(::chmod((dir / name).c_str(), folder), 0);
  };
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  permit(0444, 0555);
  {
    const AsNobody nobody;
    auto library = Library::Open(dir / "lab").value();
    EXPECT_EQ(library->FindClip(id).value().name, "stroke_001") << "it is read";
    const auto refusal =
        ::testing::AllOf(HasSubstr("the library at " + dir / "lab" + " cannot be written: "),
                         HasSubstr(": Permission denied; ask its owner"));
    EXPECT_THAT(library->Say(Tag(id, "good")).error().message, refusal);
    EXPECT_THAT(library->HoldNames().error().message, refusal);
    EXPECT_THAT(library->MayStore().error().message, refusal);
    EXPECT_THAT(library->Index(ClipId::Parse(id).value()).error().message, refusal);
    EXPECT_THAT(library->Rebuild(false).error().message, refusal);
    artefact::Provenance p;
    p.step = "fit.skeleton";
    EXPECT_THAT(library->Save(JsonArtefact{p, "skeleton", "{}"}).error().message, refusal);
  }
  permit(0644, 0755);
  // A journal that cannot be made is known by trying only.
  auto library = Library::Open(dir / "lab").value();
  ASSERT_TRUE(std::filesystem::create_directory(dir / "lab/ledger.db-journal"));
  EXPECT_THAT(library->Say(Tag(id, "good")).error().message,
              ::testing::AllOf(HasSubstr("the library at " + dir / "lab" + " cannot be written: "),
                               HasSubstr("ledger.db"), HasSubstr("nothing was said"),
                               Not(HasSubstr("BEGIN")), Not(HasSubstr("INSERT"))));
}

TEST(Library, OneThatCannotBeWrittenIsReadWithoutItsCatalogue) {
  const TempDir dir;
  std::string id, answers;
  {
    auto library = Library::Create(dir / "lab").value();
    id = AddTake(*library, "stroke", "S01");
    ASSERT_TRUE(library->Say(Tag(id, "good")));
    answers = Answers(*library);
  }
  std::filesystem::remove(dir / "lab/catalogue.db");
  const auto permit = [&](mode_t file, mode_t folder) {
    ASSERT_EQ(::chmod((dir / "lab/ledger.db").c_str(), file), 0);
    for (const char* name : {"lab/clips", "lab/derived", "lab/attachments", "lab"})
      ASSERT_EQ(::chmod((dir / name).c_str(), folder), 0);
  };
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  permit(0444, 0555);
  std::string said, catalogue;
  SetLogSink([&](std::string_view line) { said += line; });
  {
    const AsNobody nobody;
    auto library = Library::Open(dir / "lab").value();
    EXPECT_EQ(Answers(*library), answers);
    EXPECT_EQ(library->OpenClip(id).value()->sample_count(1), 7000);
    EXPECT_THAT(library->Check().value(), IsEmpty());
    EXPECT_TRUE(SqlSession::Open(*library));
    catalogue = library->catalogue().path();
    EXPECT_TRUE(std::filesystem::exists(catalogue));
    EXPECT_THAT(library->Say(Tag(id, "bad")).error().message, HasSubstr("cannot be written"));
    EXPECT_FALSE(library->Rebuild(false));
  }
  SetLogSink({});
  EXPECT_THAT(said, ::testing::AllOf(HasSubstr("catalogue.aside"), HasSubstr("copy the library")));
  EXPECT_FALSE(std::filesystem::exists(catalogue)) << "nothing is left behind";
  permit(0644, 0755);
  EXPECT_FALSE(std::filesystem::exists(dir / "lab/catalogue.db"));
}

// Who changes a closed clip and has the catalogue made anew must not find it as good as new.
TEST(Library, ARebuildNamesAClosedClipThatIsAnotherFileNow) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string good = AddTake(*library, "a", "S01"), changed = AddTake(*library, "b", "S01");
  const std::string before = library->FindClip(changed).value().sha256;
  {
    // Bytes 96 to 99 of its head say which SQLite wrote it: nothing that the clip says.
    std::fstream file(dir / ("lab/clips/" + changed + ".clip"),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(99);
    file.put(static_cast<char>(0x7E));
  }
  std::string found;
  const Issues issues = library->Rebuild(false).value();
  for (const Issue& issue : issues) found += issue.where + ": " + issue.what + "\n";
  const std::string after = library->FindClip(changed).value().sha256;
  ASSERT_NE(after, before);
  EXPECT_THAT(found, HasSubstr("clips/" + changed +
                               ".clip: is not the file that was catalogued: "
                               "its SHA-256 was " +
                               before.substr(0, 12) + "... and is " + after.substr(0, 12)));
  EXPECT_THAT(found, ::testing::Not(HasSubstr(good)));
  EXPECT_TRUE(AnyLoss(issues));
  EXPECT_THAT(library->Rebuild(false).value(), IsEmpty()) << "told once: it is what it is now";
}

TEST(Library, ALogBesideAClosedClipIsNamed) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string clip = "clips/" + AddTake(*library, "a", "S01") + ".clip";
  EXPECT_THAT(library->Check().value(), IsEmpty());
  for (const char* suffix : {"-wal"}) {
    const std::string beside = dir / ("lab/" + clip + suffix);
    std::ofstream(beside) << std::string(5000, 'x');
    std::string found;
    for (const Issue& issue : library->Check().value())
      found += std::string(SeverityName(issue.severity)) + " " + issue.where + ": " + issue.what;
    EXPECT_THAT(found, HasSubstr("warning " + clip + suffix + ": lies beside a closed clip"));
    EXPECT_THAT(found, HasSubstr("`rm " + beside + "` removes it"));
    std::filesystem::remove(beside);
    std::filesystem::remove(dir / ("lab/" + clip + "-shm"));
  }
  EXPECT_THAT(library->Check().value(), IsEmpty());
}

// What keeps files only (zip, git, sync) loses folders that are empty.
TEST(Library, AFolderThatIsMissingIsNamedAndMadeAgain) {
  const TempDir dir;
  const auto folders = {"clips", "derived", "attachments"};
  { ASSERT_TRUE(Library::Create(dir / "lab")); }
  const auto lose = [&] {
    for (const char* folder : folders)
      std::filesystem::remove_all(std::filesystem::path(dir / "lab") / folder);
  };
  lose();
  {
    const auto library = Library::Open(dir / "lab");
    ASSERT_TRUE(library) << library.error().message;
    const Issues issues = (*library)->Check().value();
    ASSERT_EQ(issues.size(), 3u);
    for (const Issue& issue : issues) {
      EXPECT_EQ(issue.severity, Severity::kWarning) << issue.where;
      EXPECT_THAT(issue.what, HasSubstr("library rebuild"));
    }
    EXPECT_EQ(issues[1].where, "derived/");
    ASSERT_TRUE((*library)->Rebuild(false));
    EXPECT_THAT((*library)->Check().value(), IsEmpty());
  }
  lose();
  std::filesystem::remove(dir / "lab/catalogue.db");
  auto library = Library::Open(dir / "lab").value();
  lose();
  artefact::Provenance p;
  p.step = "fit.skeleton";
  const auto saved = library->Save(JsonArtefact{p, "skeleton", "{}"});
  ASSERT_TRUE(saved) << saved.error().message;
  lose();
  EXPECT_TRUE(library->HoldNames());
  EXPECT_TRUE(std::filesystem::is_directory(dir / "lab/clips"));
  lose();
  EXPECT_TRUE(library->MayStore());
  AddTake(*library, "a", "S01");
  // Nothing else becomes a library by a file that is called so.
  std::filesystem::create_directory(dir / "other");
  std::ofstream(dir / "other/ledger.db") << "mine";
  EXPECT_EQ(Library::Open(dir / "other").error().code, ErrorCode::kNotFound);
}

TEST(Library, ADamagedClipIsNotSaidToBeUnfinished) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const std::string id = AddTake(*library, "a", "S01");
  // The list of what it is, with whether it was closed, is lost; the file was.
  ChangeLedger(dir / ("lab/clips/" + id + ".clip"), "DELETE FROM info");
  EXPECT_THAT(Found(*library),
              ::testing::AllOf(HasSubstr("table 'info'"), Not(HasSubstr("--finish"))));
}

TEST(Library, APathMayBeginWithTwoSlashes) {
  const TempDir dir;
  auto library = Library::Create("/" + dir / "lab");
  ASSERT_TRUE(library) << library.error().message;
  AddTake(**library, "a", "S01");
  EXPECT_TRUE(SqlSession::Open(**library));
  EXPECT_EQ(Library::Open(dir / "lab").value()->Clips().value().size(), 1u);
}

TEST(Ledger, WordsThatAreNotUtf8AreRefused) {
  const TempDir dir;
  Ledger ledger = Ledger::Open(dir / "ledger.db", true).value();
  LedgerEntry entry = Tag("c1", "gr\xf6\xdf");  // Latin-1
  EXPECT_EQ(ledger.Append(entry).error().code, ErrorCode::kInvalid);
  EXPECT_THAT(ledger.Append(entry).error().message, HasSubstr("UTF-8"));
  entry = Tag("c1", "gr\u00f6\u00df");
  EXPECT_TRUE(ledger.Append(entry));
  for (std::string LedgerEntry::*text :
       {&LedgerEntry::value, &LedgerEntry::author, &LedgerEntry::subject}) {
    LedgerEntry bad = Tag("c1", "good");
    bad.*text = "\xff";
    EXPECT_FALSE(ledger.Append(bad));
  }
}

/// What is logged while `run` runs.
std::string Logged(const std::function<void()>& run) {
  std::string lines;
  SetLogSink([&](std::string_view line) { lines.append(line).append("\n"); });
  run();
  SetLogSink(nullptr);
  return lines;
}

/// What becomes of a ledger that cannot be read at all.
void SpoilLedger(const std::string& path, int how) {
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  if (how == 0) bytes[bytes.find("CREATE TABLE entry")] = 'X';  // SQLite's list of tables
  if (how == 1) bytes[3] ^= 0x10;                               // not even an SQLite file
  if (how == 2) bytes[71] ^= 0x01;                              // another program's
  if (how == 3) bytes[62] ^= 0x01;                              // a newer program's
  if (how == 4) bytes.clear();
  if (how == 5) {
    std::filesystem::remove(path);
    return;
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(Library, ClipsAreReadWithoutTheLedgerAndNothingIsWrittenToIt) {
  for (int how = 0; how < 6; ++how) {
    for (const bool catalogue : {true, false}) {
      SCOPED_TRACE(::testing::Message() << how << (catalogue ? "" : " without catalogue"));
      const TempDir dir;
      const std::string path = dir / "lab", ledger = path + "/ledger.db";
      std::string id;
      {
        auto library = Library::Create(path, {.contact_on_N = 0.35, .contact_off_N = 0.1}).value();
        id = AddTake(*library, "a", "S01");
        library->Say(Tag(id, "pilot")).value();
      }
      std::filesystem::copy_file(ledger, dir / "copy.db");
      SpoilLedger(ledger, how);
      if (!catalogue) std::filesystem::remove(path + "/catalogue.db");
      const auto bytes = [&] {
        std::ifstream in(ledger, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
      };
      const std::string spoilt = bytes();
      std::unique_ptr<Library> opened;
      const std::string said = Logged([&] {
        auto library = Library::Open(path);
        ASSERT_TRUE(library) << library.error().message;
        opened = *std::move(library);
      });
      ASSERT_TRUE(opened);
      Library& library = *opened;
      // A newer program's ledger is whole: nothing is to be moved away.
      const std::string way_out = how == 3 ? "update Handhold" : "handhold library create";
      EXPECT_THAT(
          said, ::testing::AllOf(HasSubstr("ledger.db"), HasSubstr("consent"), HasSubstr(way_out)));
      EXPECT_EQ(said.find("move away") == std::string::npos, how == 3) << said;
      EXPECT_EQ(library.OpenClip("a_001").value()->sample_count(1), 7000);
      EXPECT_EQ(library.Clips().value().size(), 1u);
      const std::optional<int64_t> entries = library.Info().value().ledger_entries;
      EXPECT_EQ(entries, std::nullopt);
      EXPECT_FALSE(library.ledger().Current("S01")) << "consent that is not known is not given";
      EXPECT_FALSE(library.ledger().History("S01"));
      const auto tag = library.Say(Tag(id, "x"));
      ASSERT_FALSE(tag);
      EXPECT_THAT(tag.error().message, HasSubstr(way_out));
      EXPECT_EQ(tag.error().message.find("move away") == std::string::npos, how == 3);
      EXPECT_THAT(Found(library), HasSubstr("loss ledger.db: "));
      EXPECT_FALSE(library.Rebuild(false)) << "the catalogue may be the last copy of what was said";
      EXPECT_TRUE(SqlSession::Open(library));
      for (const char* text : {"tag = pilot", "not tag = pilot", "rating >= 1"}) {
        const QueryResult asked = Query::Parse(text, library).value().Run().value();
        EXPECT_TRUE(AnyLoss(asked.issues)) << text;
        if (!catalogue) {
          EXPECT_THAT(asked.rows, IsEmpty()) << text << ": unknown is neither";
        }
      }
      EXPECT_THAT(Query::Parse("contacts >= 0", library).value().Run().value().issues, IsEmpty());
      const std::string late = AddTake(library, "a", "S01");
      EXPECT_EQ(library.Clips().value().size(), 2u) << "and a take can be stored";
      EXPECT_EQ(bytes(), spoilt);
      EXPECT_EQ(std::filesystem::exists(ledger), how != 5);
      opened.reset();
      std::filesystem::copy_file(dir / "copy.db", ledger,
                                 std::filesystem::copy_options::overwrite_existing);
      auto again = Library::Open(path).value();
      EXPECT_THAT(Found(*again), HasSubstr("library rebuild"));
      ASSERT_TRUE(again->Rebuild(false));
      EXPECT_EQ(Found(*again), "");
      EXPECT_THAT(again->FindClip(id).value().tags, ElementsAre("pilot"));
      EXPECT_EQ(again->Info().value().indexer, (IndexerOptions{0.35, 0.1}));
    }
  }
}

TEST(Library, ALibraryWhoseLedgerWasMovedAwayBeginsAnother) {
  const TempDir dir;
  const std::string path = dir / "lab";
  std::string id;
  {
    auto library = Library::Create(path).value();
    id = AddTake(*library, "a", "S01");
  }
  EXPECT_EQ(Library::Create(path).error().code, ErrorCode::kBusy);
  std::filesystem::rename(path + "/ledger.db", dir / "away.db");
  std::ofstream(path + "/ledger.db-journal") << "of the one that was here";
  EXPECT_EQ(Library::Create(path).error().code, ErrorCode::kBusy) << "it would be played back";
  std::filesystem::remove(path + "/ledger.db-journal");
  auto library = Library::Create(path);
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ((*library)->FindClip("a_001").value().id, id);
  EXPECT_TRUE((*library)->Say(Tag(id, "good")));
  library->reset();
  // What is in the way of a catalogue is still refused.
  std::filesystem::remove(path + "/ledger.db");
  std::ofstream(path + "/catalogue.db", std::ios::trunc) << "somebody's";
  EXPECT_EQ(Library::Create(path).error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(std::filesystem::exists(path + "/ledger.db"));
}

TEST(Library, ALostCatalogueNamesTheClipsItCannotReadAndTheEntriesToo) {
  const TempDir dir;
  std::string whole, victim;
  {
    auto library = Library::Create(dir / "lab").value();
    whole = AddTake(*library, "a", "S01");
    victim = AddTake(*library, "b", "S01");
    library->Say(Tag(whole, "good")).value();
  }
  const std::string file = dir / ("lab/clips/" + victim + ".clip");
  ChangeLedger(file, "UPDATE chunk SET data=zeroblob(length(data))");
  ChangeLedger(dir / "lab/ledger.db", "UPDATE entry SET name='bad' WHERE name='good'");
  std::filesystem::remove(dir / "lab/catalogue.db");
  std::unique_ptr<Library> library;
  const std::string said = Logged([&] { library = Library::Open(dir / "lab").value(); });
  for (const std::string& part : {"clips/" + victim + ".clip", std::string("ledger.db, entry 3"),
                                  std::string("handhold library check")})
    EXPECT_THAT(said, HasSubstr(part));
  EXPECT_EQ(library->Clips().value().size(), 1u);
  for (const std::string& key : {victim, victim.substr(0, 35), std::string("b_001")}) {
    const auto found = library->FindClip(key);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(found.error().message, ::testing::AllOf(HasSubstr("clips/" + victim + ".clip"),
                                                        HasSubstr("could not be catalogued"),
                                                        HasSubstr("handhold library check")));
  }
  EXPECT_THAT(library->FindClip("c_001").error().message, Not(HasSubstr("cannot be read")));
  std::ofstream(file, std::ios::trunc) << "rubbish";
  EXPECT_THAT(library->FindClip("b_001").error().message, HasSubstr("1 file of clips/"))
      << "whose name nobody knows any more";
}

TEST(Library, ACreationOnAFullDiskLeavesNoHalfOfALibrary) {
  const TempDir dir;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto usual = ::signal(SIGXFSZ, SIG_IGN);  // writing fails instead
  const rlimit full{5000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const auto made = Library::Create(dir / "lab");
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, usual);
  ASSERT_FALSE(made);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path()))
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
  const auto again = Library::Create(dir / "lab");
  EXPECT_TRUE(again) << again.error().message;
}

}  // namespace
}  // namespace handhold::store::library_test
