// What the store promises when the world fails (reference/storage.md, section 5): killed processes,
// power cuts, full disks, flipped bits, hostile files, readers that hold the log. Numbers are
// printed; HANDHOLD_FAULT_FULL=1 runs the whole counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "database/store/clip_reader.h"
#include "database/store/clip_writer.h"
#include "database/store/ledger.h"
#include "database/store/sqlite.h"
#include "tests/database/store/clip_fixture.h"
#include "tests/fault/fault_vfs.h"
#include "tests/fault/recording.h"

namespace handhold::store::store_fault_test {
namespace {

using recording::SampleWindow;

struct Shared {
  std::atomic<int64_t> appended{0}, durable{0};
  std::atomic<int> closing{0};
};

/// Records 10 ms blocks until it is killed, closing after `close_after` samples.
[[noreturn]] void RecordUntilKilled(const std::string& path, int64_t close_after, Shared& shared) {
  auto writer = ClipWriter::Create(path, {}, {});
  if (!writer || !(*writer)->AddStream(KiloHertz())) _exit(3);
  for (int64_t at = 0; at < close_after; at += 10) {
    shared.appended = at + 10;
    if (!(*writer)->Append(BlockAt(at, 10))) _exit(4);
    shared.durable = (*writer)->durable().value()[0].durable_index;
  }
  shared.closing = 1;
  if (!(*writer)->Close()) _exit(5);
  shared.durable = close_after;
  for (;;) pause();
}

TEST(Fault, KillNineLosesNothingThatWasAcknowledged) {
  const TempDir dir;
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::mt19937_64 rng(1);
  const int trials = Count(30, 1000);
  int64_t worst_loss = 0, in_close = 0, unclean = 0, lost_acknowledged = 0, not_begun = 0;
  for (int t = 0; t < trials; ++t) {
    const std::string path = dir / "a.clip";
    RemoveClip(path);
    auto* shared = new (memory) Shared;
    const int64_t close_after = t % 3 == 0 ? 500 : 1'000'000;
    const pid_t child = fork();
    if (child == 0) RecordUntilKilled(path, close_after, *shared);
    const Timestamp deadline = HostNow() + Duration::Seconds(20);
    while (shared->appended == 0 && HostNow() < deadline) usleep(200);
    usleep(static_cast<useconds_t>(rng() % 60'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the recorder ended by itself: " << WEXITSTATUS(status);
    const int64_t appended = shared->appended, durable = shared->durable;
    in_close += shared->closing.load();
    if (appended == 0) {
      ++not_begun;
      continue;
    }
    const int64_t found = Verify(path);
    unclean += found < 0 ? 1 : 0;
    lost_acknowledged += std::max<int64_t>(0, durable - found);
    worst_loss = std::max(worst_loss, appended - found);
    const Status finished = FinishClip(path);
    EXPECT_TRUE(finished) << finished.error().message;
    EXPECT_EQ(Verify(path), found);
    EXPECT_TRUE(ClipReader::Open(path).value()->Check().value().empty());
  }
  std::printf(
      "kill -9: %d trials (%lld while closing, %lld before the first sample), %lld unclean, %lld "
      "acknowledged samples lost, "
      "worst loss %lld ms of signal\n",
      trials, static_cast<long long>(in_close), static_cast<long long>(not_begun),
      static_cast<long long>(unclean), static_cast<long long>(lost_acknowledged),
      static_cast<long long>(worst_loss));
  EXPECT_EQ(unclean, 0);
  EXPECT_EQ(lost_acknowledged, 0);
  EXPECT_LE(worst_loss, 150);
  munmap(memory, sizeof(Shared));
}

// Giving up the log writes a journal for a moment. Whoever is killed then leaves it to be rolled
// back, which a connection that only reads may not.
TEST(Fault, AClipThatIsKilledWhileItsLogIsGivenUpOpens) {
  const TempDir dir;
  const std::string path = dir / "a.clip", killed = dir / "killed.clip";
  {
    auto writer = ClipWriter::Create(path, {}, {});
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE((*writer)->AddStream(KiloHertz()));
    ASSERT_TRUE((*writer)->Append(BlockAt(0, 500)));
    ASSERT_TRUE((*writer)->Close());
  }
  // A change that is not finished, as the files lie there at that moment.
  DatabaseOptions writes;
  writes.mode = OpenMode::kReadWrite;
  auto db = Database::Open(path, writes);
  ASSERT_TRUE(db) << db.error().message;
  ASSERT_TRUE(db->Execute("PRAGMA synchronous=OFF"));  // the journal counts from its first byte on
  ASSERT_TRUE(db->Execute("BEGIN IMMEDIATE"));
  ASSERT_TRUE(db->Execute("PRAGMA user_version=0"));
  ASSERT_TRUE(std::filesystem::exists(path + "-journal"));
  std::filesystem::copy_file(path, killed);
  std::filesystem::copy_file(path + "-journal", killed + "-journal");
  EXPECT_EQ(Verify(killed), 500);
  EXPECT_FALSE(std::filesystem::exists(killed + "-journal"));
}

TEST(Fault, PowerCutsLoseNothingThatWasAcknowledged) {
  const TempDir dir;
  auto& vfs = fault::FaultVfs::Get();
  ClipWriterOptions options;
  options.vfs = fault::FaultVfs::kName;
  const std::string path = dir / "a.clip";
  vfs.StartLog();
  {
    auto writer = ClipWriter::Create(path, {}, options).value();
    ASSERT_TRUE(writer->AddStream(KiloHertz()));
    std::mt19937_64 noise(3);
    for (int64_t at = 0; at < 60'000; at += 100) {
      ASSERT_TRUE(writer->Append(BlockAt(at, 100)));
      vfs.Acknowledge(writer->durable().value()[0].durable_index);
    }
  }
  const std::vector<fault::DiskEvent> log = vfs.TakeLog();
  std::mt19937_64 rng(2);
  const int images = Count(150, 10'000);
  size_t first = 0;
  while (first < log.size() && log[first].kind != fault::DiskEvent::Kind::kAcknowledged) ++first;
  ASSERT_LT(first, log.size());
  int64_t unclean = 0, lost_acknowledged = 0, worst_loss = 0;
  for (int k = 0; k < images; ++k) {
    const size_t cut = first + 1 + rng() % (log.size() - first);
    int64_t acknowledged = 0;
    for (size_t i = 0; i < cut; ++i) {
      if (log[i].kind == fault::DiskEvent::Kind::kAcknowledged) acknowledged = log[i].offset;
    }
    const auto disk =
        fault::FaultVfs::DiskAfter(log, cut, static_cast<fault::Survival>(k % 3), rng);
    const std::string image = dir / "image.clip";
    RemoveClip(image);
    for (const auto& [name, bytes] : disk) {
      const std::string suffix = name.substr(std::min(name.size(), path.size()));
      std::ofstream(image + suffix, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
    const int64_t found = Verify(image);
    unclean += found < 0 ? 1 : 0;
    lost_acknowledged += std::max<int64_t>(0, acknowledged - found);
    worst_loss = std::max(worst_loss, acknowledged + 100 - found);
  }
  std::printf(
      "power cut: %d images of %zu disk events (none, prefix, random 512 B sectors survive), %lld "
      "unclean, %lld acknowledged "
      "samples lost\n",
      images, log.size(), static_cast<long long>(unclean),
      static_cast<long long>(lost_acknowledged));
  EXPECT_EQ(unclean, 0);
  EXPECT_EQ(lost_acknowledged, 0);
  EXPECT_LE(worst_loss, 100);

  // The canary: with what was synced taken away too, the harness must see a loss.
  std::vector<fault::DiskEvent> lying = log;
  std::erase_if(lying,
                [](const fault::DiskEvent& e) { return e.kind == fault::DiskEvent::Kind::kSync; });
  const auto empty = fault::FaultVfs::DiskAfter(lying, lying.size(), fault::Survival::kNone, rng);
  ASSERT_TRUE(empty.contains(path));
  EXPECT_TRUE(empty.at(path).empty()) << "a disk that never syncs keeps nothing";
}

TEST(Fault, AFullDiskIsReportedKeepsWhatIsCommittedAndRecordingResumes) {
  const TempDir dir;
  auto& vfs = fault::FaultVfs::Get();
  ClipWriterOptions options;
  options.vfs = fault::FaultVfs::kName;
  std::mt19937_64 rng(4);
  const int trials = Count(20, 300);
  int64_t refused_blocks = 0;
  for (int t = 0; t < trials; ++t) {
    const std::string path = dir / "a.clip";
    RemoveClip(path);
    vfs.budget = -1;
    auto writer = ClipWriter::Create(path, {}, options).value();
    ASSERT_TRUE(writer->AddStream(KiloHertz()));
    int64_t at = 0;
    for (; at < 2000; at += 50) ASSERT_TRUE(writer->Append(BlockAt(at, 50)));
    vfs.budget = static_cast<int64_t>(rng() % 60'000);
    Status full;
    while ((full = writer->Append(BlockAt(at, 50))) && at < 1'000'000) at += 50;
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, ErrorCode::kIo);
    EXPECT_THAT(full.error().message, ::testing::HasSubstr("free space"));
    const int64_t durable = writer->durable().value()[0].durable_index;
    EXPECT_GE(Verify(path), durable) << "the file is readable while the disk is full";
    for (int again = 0; again < 3; ++again) {
      refused_blocks += writer->Append(BlockAt(at, 50)) ? 0 : 1;
    }
    vfs.budget = -1;
    const int64_t resumed = at;
    for (; at < resumed + 500; at += 50)
      ASSERT_TRUE(writer->Append(BlockAt(at, 50)))
          << "space is back; nothing of a refused block was taken";
    const Status closed = writer->Close();
    ASSERT_TRUE(closed) << closed.error().message;
    EXPECT_EQ(Verify(path), at);
  }
  std::printf("full disk: %d trials, %lld blocks refused while full, 0 samples lost\n", trials,
              static_cast<long long>(refused_blocks));
}

// The index of the log (-shm) lies on the same disk. It is made with the recording and grows when
// the log has more than 4062 pages, which takes a reader that holds it.
TEST(Fault, ADiskTooFullForTheLogsIndexIsReportedAndRecordingResumes) {
  const TempDir dir;
  auto& vfs = fault::FaultVfs::Get();
  vfs.budget = -1;
  ClipWriterOptions options;
  options.vfs = fault::FaultVfs::kName;
  options.lossless = true;
  const std::string path = dir / "a.clip";
  struct Unlimited {
    ~Unlimited() { fault::FaultVfs::Get().shm_regions = -1; }
  } const unlimited_at_the_end;
  recording::StreamInfo info = KiloHertz();
  for (recording::Channel& channel : info.channels) channel.quantum = 0;
  vfs.shm_regions = 0;
  auto writer = ClipWriter::Create(path, {}, options).value();  // the file alone, no log yet
  const auto none = writer->AddStream(info);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kIo) << none.error().message;
  EXPECT_THAT(none.error().message, ::testing::HasSubstr("free space"));
  vfs.shm_regions = 1;
  const auto stream = writer->AddStream(info);
  ASSERT_TRUE(stream) << stream.error().message;
  std::mt19937_64 rng(9);
  int64_t at = 0;
  const auto append = [&] {
    recording::SampleBlock block = BlockAt(at, 500);
    for (double& v : block.values) v += 0.5 * std::generate_canonical<double, 53>(rng);
    const Status status = writer->Append(block);
    if (status) at += 500;
    return status;
  };
  ASSERT_TRUE(append());
  DatabaseOptions open;
  open.vfs = fault::FaultVfs::kName;
  Database holder = Database::Open(path, open).value();
  ASSERT_TRUE(holder.Execute("BEGIN"));
  ASSERT_TRUE(holder.QueryInteger("SELECT count(*) FROM chunk"));
  Status full;
  while ((full = append()) && at < 4'000'000) continue;
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kIo) << full.error().message;
  EXPECT_THAT(full.error().message, ::testing::HasSubstr("free space"));
  const auto count = [&] { return ClipReader::Open(path).value()->sample_count(1); };
  EXPECT_EQ(count(), writer->durable().value()[0].durable_index);
  EXPECT_FALSE(append()) << "still full";
  vfs.shm_regions = -1;
  ASSERT_TRUE(holder.Execute("COMMIT"));
  for (int b = 0; b < 10; ++b) {
    const Status again = append();
    ASSERT_TRUE(again) << again.error().message;
  }
  const Status closed = writer->Close();
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_EQ(count(), at);
  EXPECT_TRUE(ClipReader::Open(path).value()->Check().value().empty());
}

TEST(Fault, ClosingOnAFullDiskKeepsTheRecording) {
  const TempDir dir;
  auto& vfs = fault::FaultVfs::Get();
  ClipWriterOptions options;
  options.vfs = fault::FaultVfs::kName;
  vfs.budget = -1;
  auto writer = ClipWriter::Create(dir / "a.clip", {}, options).value();
  ASSERT_TRUE(writer->AddStream(KiloHertz()));
  for (int64_t at = 0; at < 5000; at += 50) ASSERT_TRUE(writer->Append(BlockAt(at, 50)));
  vfs.budget = 150'000;  // enough to empty the log, not for a second file
  EXPECT_FALSE(writer->Close());
  vfs.budget = -1;
  EXPECT_EQ(Verify(dir / "a.clip"), 5000);
  EXPECT_FALSE(std::filesystem::exists(dir / "a.clip.part"))
      << "the half-made copy gives its space back";
  const Status closed = writer->Close();
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_EQ(Verify(dir / "a.clip"), 5000);
}

/// Everything a reader answers, for comparison after damage.
struct Answer {
  std::optional<Error> refused;
  recording::ClipInfo info;
  std::vector<recording::StreamInfo> streams;
  std::vector<recording::Event> events;
  std::vector<recording::Gap> gaps;
  recording::QualityRecord quality;
  std::vector<recording::ClockMap> clocks;
  std::vector<SampleWindow> windows;
  std::vector<recording::ForceSensor> sensors;
  std::vector<std::vector<ClipReader::TimedZone>> zones;
  std::vector<std::vector<recording::ClockPair>> pairs;
  std::vector<uint8_t> document;
};

constexpr char kDocument[] = "notes.json";

Answer Ask(const std::string& path, const ClipReaderOptions& options = {}) {
  Answer a;
  const auto reader = ClipReader::Open(path, options);
  if (!reader) {
    a.refused = reader.error();
    return a;
  }
  a.info = (*reader)->info();
  a.streams = (*reader)->streams();
  a.events = (*reader)->events();
  a.gaps = (*reader)->gaps();
  a.quality = (*reader)->quality();
  a.sensors = (*reader)->force_sensors();
  if (auto document = (*reader)->Document(kDocument)) {
    a.document = *std::move(document);
  } else {
    a.refused = document.error();
  }
  for (const recording::StreamInfo& stream : a.streams) {
    a.clocks.push_back((*reader)->clock_map(stream.id));
    Result<SampleWindow> window = (*reader)->ReadAll(stream.id);
    auto zones = (*reader)->Zones(stream.id);
    auto pairs = (*reader)->ClockPairs(stream.id);
    if (!window || !zones || !pairs) {
      a.refused = !window ? window.error() : !zones ? zones.error() : pairs.error();
    } else {
      a.windows.push_back(*std::move(window));
      a.zones.push_back(*std::move(zones));
      a.pairs.push_back(*std::move(pairs));
    }
  }
  return a;
}

bool SameWindow(const SampleWindow& a, const SampleWindow& b) {
  return a.times == b.times && a.counters == b.counters && a.point_counts == b.point_counts &&
         a.texts == b.texts && a.origins == b.origins && a.values.size() == b.values.size() &&
         (a.values.empty() ||
          std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0);
}

bool SameRange(const ZoneRange& a, const ZoneRange& b) {
  return a.min == b.min && a.max == b.max && a.missing == b.missing;
}

bool SameZones(const std::vector<ClipReader::TimedZone>& a,
               const std::vector<ClipReader::TimedZone>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ClipReader::TimedZone& x, const ClipReader::TimedZone& y) {
                      return x.range.begin == y.range.begin && x.range.end == y.range.end &&
                             x.zone.stream_id == y.zone.stream_id &&
                             x.zone.sequence == y.zone.sequence && x.zone.count == y.zone.count &&
                             std::ranges::equal(x.zone.channels, y.zone.channels, SameRange) &&
                             std::ranges::equal(x.zone.calibrated, y.zone.calibrated, SameRange);
                    });
}

bool SameSensor(const recording::ForceSensor& a, const recording::ForceSensor& b) {
  return a.name == b.name && a.stream_id == b.stream_id && a.serial == b.serial &&
         a.calibration == b.calibration && a.bias == b.bias && a.sign == b.sign &&
         a.X_MS.R == b.X_MS.R && a.X_MS.p == b.X_MS.p && a.normal_S == b.normal_S &&
         a.full_scale_N == b.full_scale_N;
}

bool SameAnswer(const Answer& a, const Answer& b) {
  return std::ranges::equal(a.sensors, b.sensors, SameSensor) &&
         std::ranges::equal(a.zones, b.zones, SameZones) && a.pairs == b.pairs &&
         a.document == b.document && a.info == b.info && a.streams == b.streams &&
         a.events == b.events && a.gaps == b.gaps && a.quality == b.quality &&
         a.clocks == b.clocks && a.windows.size() == b.windows.size() &&
         std::equal(a.windows.begin(), a.windows.end(), b.windows.begin(), SameWindow);
}

void WriteBytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::vector<uint8_t> ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(in), {});
}

// The journal is what undoes an entry: an entry is safe once the journal's end is.
TEST(Fault, WhatIsSaidOutlivesAPowerCut) {
  const TempDir dir;
  auto& vfs = fault::FaultVfs::Get();
  sqlite3_vfs* usual = sqlite3_vfs_find(nullptr);
  sqlite3_vfs_register(sqlite3_vfs_find(fault::FaultVfs::kName), 1);
  {
    const std::string path = dir / "ledger.db";
    ASSERT_TRUE(Ledger::Open(path, true));
    for (const bool create : {true, false}) {
      if (create) std::filesystem::remove(path);
      Ledger ledger = Ledger::Open(path, create).value();
      vfs.StartLog();
      LedgerEntry entry;
      entry.clip = "c1";
      entry.name = "good";
      entry.author = "ana";
      EXPECT_TRUE(ledger.Append(entry));
      int journals = 0;
      for (const fault::DiskEvent& e : vfs.TakeLog()) {
        if (e.kind != fault::DiskEvent::Kind::kDelete) continue;
        ++journals;
        EXPECT_NE(e.offset, 0) << e.file << " may be back after a power cut";
      }
      EXPECT_EQ(journals, 1);
    }
  }
  sqlite3_vfs_register(usual, 1);
}

TEST(Fault, NoFlippedBitChangesAValueUnnoticed) {
  const TempDir dir;
  FixtureOptions fixture;
  fixture.seconds = 4;
  fixture.markers = 2;
  std::vector<uint8_t> document(3000);
  for (size_t i = 0; i < document.size(); ++i) document[i] = static_cast<uint8_t>(i % 251);
  ASSERT_TRUE(WriteClip(MakeClip(21, fixture), dir / "good.clip", {}, {{kDocument, document}}));
  const Answer truth = Ask(dir / "good.clip");
  ASSERT_FALSE(truth.refused);
  ASSERT_EQ(truth.document, document);
  ASSERT_FALSE(truth.sensors.empty());
  ASSERT_TRUE(std::ranges::any_of(truth.zones, [](const auto& zones) { return !zones.empty(); }));
  ASSERT_TRUE(std::ranges::any_of(truth.pairs, [](const auto& pairs) { return !pairs.empty(); }));
  // The canaries: each of them is compared.
  for (int what = 0; what < 4; ++what) {
    Answer other = truth;
    if (what == 0) other.sensors[0].calibration(2, 0) += 1e-9;
    if (what == 1)
      ++std::ranges::find_if(other.pairs, [](const auto& p) { return !p.empty(); })
            ->front()
            .latency_ns;
    if (what == 2)
      ++std::ranges::find_if(other.zones, [](const auto& z) { return !z.empty(); })
            ->front()
            .zone.channels.front()
            .missing;
    if (what == 3) ++other.document.back();
    EXPECT_FALSE(SameAnswer(other, truth)) << what;
  }
  const std::vector<uint8_t> good = ReadBytes(dir / "good.clip");
  std::mt19937_64 rng(6);
  const int trials = Count(200, 10'000);
  int detected = 0, harmless = 0, silent = 0, located = 0, in_time = 0, salvaged = 0;
  for (int t = 0; t < trials; ++t) {
    std::vector<uint8_t> bytes = good;
    const size_t at = rng() % bytes.size();
    bytes[at] ^= static_cast<uint8_t>(1u << (rng() % 8));
    WriteBytes(dir / "bad.clip", bytes);
    const Answer answer = Ask(dir / "bad.clip");
    if (answer.refused) {
      ++detected;
      Issues damage;
      ClipReaderOptions options;
      options.damage = &damage;
      const auto reader = ClipReader::Open(dir / "bad.clip", options);
      if (!reader) continue;  // the file's own header
      ++salvaged;
      Result<Issues> issues = (*reader)->Check();
      ASSERT_TRUE(issues);
      issues->insert(issues->end(), damage.begin(), damage.end());
      EXPECT_FALSE(issues->empty())
          << "byte " << at
          << " was refused, but a check finds nothing: " << answer.refused->message;
      located += std::any_of(issues->begin(), issues->end(),
                             [](const Issue& i) { return !i.where.empty(); })
                     ? 1
                     : 0;
      // Damage to samples is told by stream and time; what else is there by the table it is in.
      in_time += std::any_of(issues->begin(), issues->end(),
                             [](const Issue& i) {
                               return i.where.starts_with("stream '") &&
                                      i.where.find(" to ") != std::string::npos;
                             })
                     ? 1
                     : 0;
    } else if (SameAnswer(answer, truth)) {
      ++harmless;
    } else {
      ++silent;
      ADD_FAILURE() << "flip in byte " << at << " changed an answer unnoticed";
    }
  }
  std::printf(
      "bit flips: %d, detected %d (located %d of %d that still open, %d of them by stream and "
      "time), harmless %d, unnoticed %d\n",
      trials, detected, located, salvaged, in_time, harmless, silent);
  EXPECT_EQ(silent, 0);
  EXPECT_EQ(located, salvaged);
  EXPECT_GT(in_time, salvaged / 10) << "samples are most of the file";
}

TEST(Fault, HostileFilesAreRefusedOrReadNeverMore) {
  const TempDir dir;
  FixtureOptions fixture;
  fixture.seconds = 2;
  fixture.markers = 1;
  ASSERT_TRUE(WriteClip(MakeClip(22, fixture), dir / "good.clip", {}));
  const Answer truth = Ask(dir / "good.clip");
  const std::vector<uint8_t> good = ReadBytes(dir / "good.clip");
  std::mt19937_64 rng(7);
  const int trials = Count(150, 5000);
  int refused = 0, same = 0, silent = 0;
  for (int t = 0; t < trials; ++t) {
    std::vector<uint8_t> bytes = good;
    const size_t sector = rng() % (bytes.size() / 512) * 512,
                 page = rng() % (bytes.size() / 4096) * 4096;
    switch (t % 5) {
      case 0:
        for (size_t i = 0; i < 512; ++i) bytes[sector + i] = static_cast<uint8_t>(rng());
        break;
      case 1:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page), 4096, uint8_t{0});
        break;
      case 2:
        bytes.resize(rng() % bytes.size());
        break;
      case 3:
        std::copy_n(good.begin() + static_cast<std::ptrdiff_t>(rng() % (good.size() / 4096) * 4096),
                    4096, bytes.begin() + static_cast<std::ptrdiff_t>(page));
        break;
      default:
        for (int k = 0; k < 20; ++k) bytes[rng() % bytes.size()] = static_cast<uint8_t>(rng());
    }
    WriteBytes(dir / "bad.clip", bytes);
    ClipReaderOptions options;
    options.untrusted = t % 2 == 0;
    const Answer answer = Ask(dir / "bad.clip", options);
    refused += answer.refused ? 1 : 0;
    if (answer.refused) {
      Issues damage;
      ClipReaderOptions salvage;
      salvage.damage = &damage;
      if (const auto reader = ClipReader::Open(dir / "bad.clip", salvage))
        (void)(*reader)->Check().has_value();
      EXPECT_EQ(ReadBytes(dir / "bad.clip"), bytes) << "reading must not write";
    } else if (SameAnswer(answer, truth)) {
      ++same;
    } else {
      ++silent;
      ADD_FAILURE() << "trial " << t << " changed an answer unnoticed";
    }
  }
  std::printf("hostile files: %d, refused %d, same answers %d, unnoticed %d\n", trials, refused,
              same, silent);
}

}  // namespace
}  // namespace handhold::store::store_fault_test
