// Power cuts beyond the recording itself: while a clip is closed (compacted, renamed over the
// recording) and while a file is imported. Every write and sync, and everything done to names, is
// remembered; from that, disks are made as a cut at any point may have left them. Linked with
// --wrap for what the store does to names outside SQLite. HANDHOLD_FAULT_FULL=1: the whole counts.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <fstream>

#include "database/store/clip_reader.h"
#include "database/store/clip_writer.h"
#include "database/store/library.h"
#include "tests/database/store/clip_fixture.h"
#include "tests/fault/fault_vfs.h"
#include "tests/fault/recording.h"

using handhold::fault::DiskEvent;
using handhold::fault::FaultVfs;

namespace {
int names_wrapped = 0;
int Told(int rc, DiskEvent event) {
  ++names_wrapped;
  if (rc == 0) FaultVfs::Get().Note(std::move(event));
  return rc;
}
}  // namespace

extern "C" {
int __real_rename(const char* from, const char* to);
int __real_link(const char* from, const char* to);
int __real_unlink(const char* name);
int __real_fsync(int fd);
int __wrap_rename(const char* from, const char* to) {
  return Told(__real_rename(from, to), {DiskEvent::Kind::kRename, from, 0, {}, to});
}
int __wrap_link(const char* from, const char* to) {
  return Told(__real_link(from, to), {DiskEvent::Kind::kLink, from, 0, {}, to});
}
int __wrap_unlink(const char* name) {
  return Told(__real_unlink(name), {DiskEvent::Kind::kDelete, name, 0, {}});
}
int __wrap_fsync(int fd) {  // the real disk need not be waited for
  char name[PATH_MAX] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t n = ::readlink(link.c_str(), name, sizeof name - 1);
  const std::string path(name, static_cast<size_t>(std::max<ssize_t>(0, n)));
  const bool folder = std::filesystem::is_directory(path);
  return Told(0, {folder ? DiskEvent::Kind::kSyncFolder : DiskEvent::Kind::kSync, path, 0, {}});
}
}

namespace handhold::store::store_power_fault_test {
namespace {

using fault::Survival;

/// What was acknowledged by the first `cut` events, or -1.
int64_t AcknowledgedBy(const std::vector<DiskEvent>& log, size_t cut) {
  int64_t acknowledged = -1;
  for (size_t i = 0; i < cut; ++i) {
    if (log[i].kind == DiskEvent::Kind::kAcknowledged) acknowledged = log[i].offset;
  }
  return acknowledged;
}

/// Where the event that acknowledged `what` is.
size_t AckOf(const std::vector<DiskEvent>& log, int64_t what) {
  for (size_t i = 0; i < log.size(); ++i) {
    if (log[i].kind == DiskEvent::Kind::kAcknowledged && log[i].offset == what) return i;
  }
  ADD_FAILURE() << "nothing acknowledged " << what;
  return 0;
}

void PutFile(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

constexpr int64_t kSamples = 3000, kClosed = kSamples + 1;

/// What the disk is told while a recording of kSamples samples is made and closed; `watched`: by a
/// reader that has it open, so that SQLite cannot give up the log.
std::vector<DiskEvent> LogOfRecordAndClose(const std::string& path, bool watched) {
  auto& vfs = FaultVfs::Get();
  ClipWriterOptions options;
  options.vfs = FaultVfs::kName;
  vfs.StartLog();
  auto writer = ClipWriter::Create(path, {}, options).value();
  EXPECT_TRUE(writer->AddStream(KiloHertz()));
  for (int64_t at = 0; at < kSamples; at += 100) {
    EXPECT_TRUE(writer->Append(BlockAt(at, 100)));
    vfs.Acknowledge(writer->durable().value()[0].durable_index);
  }
  ClipReaderOptions reading;
  reading.vfs = FaultVfs::kName;
  const auto reader = watched ? ClipReader::Open(path, reading).value() : nullptr;
  const Status closed = writer->Close();
  EXPECT_TRUE(closed) << closed.error().message;
  vfs.Acknowledge(kClosed);
  return vfs.TakeLog();
}

// Of the made disk itself: a folder's sync says nothing of another folder's names.
TEST(PowerCut, NamesAreDurableOnceTheirOwnFolderIsSynced) {
  using Kind = DiskEvent::Kind;
  const FaultVfs::Disk base = {{"/l/clips/a.part", {1}}, {"/l/b.new", {2}}};
  const std::vector<DiskEvent> log = {{Kind::kRename, "/l/clips/a.part", 0, {}, "/l/clips/a"},
                                      {Kind::kRename, "/l/b.new", 0, {}, "/l/b"},
                                      {Kind::kSyncFolder, "/l", 0, {}},
                                      {Kind::kSyncFolder, "/l/clips", 0, {}}};
  std::mt19937_64 rng(1);
  const FaultVfs::Disk half = FaultVfs::DiskAfter(log, 3, Survival::kNone, rng, base);
  EXPECT_TRUE(half.contains("/l/b"));
  EXPECT_TRUE(half.contains("/l/clips/a.part"));
  EXPECT_FALSE(half.contains("/l/clips/a"));
  EXPECT_TRUE(FaultVfs::DiskAfter(log, 4, Survival::kNone, rng, base).contains("/l/clips/a"));
}

TEST(PowerCut, WhileClosingTheRecordingIsWholeAsItWasOrAsClosed) {
  std::mt19937_64 rng(7);
  const int images = Count(150, 5000);
  for (const bool watched : {false, true}) {
    SCOPED_TRACE(watched ? "watched" : "alone");
    const TempDir dir;
    const std::string path = dir / "a.clip", image = dir / "image.clip";
    names_wrapped = 0;
    const std::vector<DiskEvent> log = LogOfRecordAndClose(path, watched);
    ASSERT_GT(names_wrapped, 0) << "not linked with --wrap: what is done to names is not seen";
    const size_t first = AckOf(log, kSamples), last = AckOf(log, kClosed);
    ASSERT_LT(first, last);
    int64_t unclean = 0, as_recorded = 0, as_closed = 0;
    for (int k = 0; k < images; ++k) {
      // The last steps, where names change, as often as all the copying before them.
      const size_t from = k % 2 == 0 ? first : std::max(first, last - std::min<size_t>(last, 12));
      const size_t cut = from + 1 + rng() % (last + 1 - from);
      const auto disk = FaultVfs::DiskAfter(log, cut, static_cast<Survival>(k / 2 % 3), rng);
      RemoveClip(image);
      for (const auto& [name, bytes] : disk) PutFile(image + name.substr(path.size()), bytes);
      SCOPED_TRACE("cut at event " + std::to_string(cut) + " of " + std::to_string(log.size()));
      unclean += Verify(image) == kSamples ? 0 : 1;
      auto opened = ClipReader::Open(image);
      ASSERT_TRUE(opened) << opened.error().message;
      const bool closed = (*opened)->closed();
      (closed ? as_closed : as_recorded) += 1;
      EXPECT_TRUE(closed || AcknowledgedBy(log, cut) != kClosed);
      (*opened).reset();
      const Status finished = FinishClip(image);
      EXPECT_TRUE(finished) << finished.error().message;
      EXPECT_EQ(Verify(image), kSamples);
      EXPECT_THAT(ClipReader::Open(image).value()->Check().value(), ::testing::IsEmpty());
      if (HasFailure()) break;
    }
    std::printf(
        "power cut while closing%s: %d images of %zu disk events, %lld unclean, %lld whole as "
        "recorded, %lld as closed\n",
        watched ? " (watched)" : "", images, last - first, static_cast<long long>(unclean),
        static_cast<long long>(as_recorded), static_cast<long long>(as_closed));
    EXPECT_EQ(unclean, 0);
    EXPECT_GT(as_recorded, 0);
    EXPECT_GT(as_closed, 0);

    // The canary: where folders are never synced, the old log is met by the new file, or its name
    // is missing, and that must be seen.
    std::vector<DiskEvent> lying = log;
    std::erase_if(lying, [](const DiskEvent& e) { return e.kind == DiskEvent::Kind::kSyncFolder; });
    bool back = false;
    for (int k = 0; k < 20; ++k) {
      const auto disk = FaultVfs::DiskAfter(lying, lying.size(), Survival::kNone, rng);
      back = back || disk.contains(path + ".part");
    }
    EXPECT_TRUE(back) << "a rename that was never synced is undone";
  }
}

std::map<std::string, std::vector<uint8_t>> FilesUnder(const std::string& folder) {
  std::map<std::string, std::vector<uint8_t>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().string()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

constexpr int64_t kStored = 1;

TEST(PowerCut, WhileImportingTheClipIsWholeOrNotThereAndWhatIsUnfinishedIsNamed) {
  const TempDir dir;
  const std::string folder = dir / "lab", image = dir / "image";
  ASSERT_TRUE(Library::Create(folder));
  const auto base = FilesUnder(folder);
  auto& vfs = FaultVfs::Get();
  sqlite3_vfs* usual = sqlite3_vfs_find(nullptr);
  std::string id;
  {
    sqlite3_vfs_register(sqlite3_vfs_find(FaultVfs::kName), 1);  // the catalogue's too
    auto library = Library::Open(folder).value();
    recording::ClipInfo info;
    info.task = "import";
    info = library->NewTake(info).value();
    id = info.id.ToString();
    vfs.StartLog();
    ClipWriterOptions options;
    options.already_complete = true;
    options.lossless = true;
    auto writer = ClipWriter::Create(library->ClipPath(info.id), info, options).value();
    ASSERT_TRUE(writer->AddStream(KiloHertz()));
    for (int64_t at = 0; at < kSamples; at += 100) ASSERT_TRUE(writer->Append(BlockAt(at, 100)));
    ASSERT_TRUE(writer->Close());
    vfs.Acknowledge(kStored);
    ASSERT_TRUE(library->Index(info.id));
    library.reset();
    sqlite3_vfs_register(usual, 1);
  }
  const std::vector<DiskEvent> log = vfs.TakeLog();
  const size_t stored = AckOf(log, kStored);
  std::mt19937_64 rng(8);
  const int images = Count(90, 3000);
  int64_t not_there = 0, named = 0, to_catalogue = 0, whole = 0;
  for (int k = 0; k < images; ++k) {
    // Anywhere, where the clip gets its name, and where the catalogue gets its row.
    const size_t last = log.size() - std::min<size_t>(log.size(), 4);
    const size_t from = k % 3 == 0 ? 0 : k % 3 == 1 ? stored - std::min<size_t>(stored, 8) : last;
    const size_t cut = from + 1 + rng() % (log.size() - from);
    const int64_t acknowledged = AcknowledgedBy(log, cut);
    SCOPED_TRACE("cut at event " + std::to_string(cut) + " of " + std::to_string(log.size()) +
                 ", acknowledged " + std::to_string(acknowledged));
    const auto disk = FaultVfs::DiskAfter(log, cut, static_cast<Survival>(k / 3 % 3), rng, base);
    std::filesystem::remove_all(image);
    for (const char* sub : {"clips", "derived", "attachments"})
      std::filesystem::create_directories(image + "/" + sub);
    for (const auto& [name, bytes] : disk) PutFile(image + name.substr(folder.size()), bytes);
    const std::string clip = image + "/clips/" + id + ".clip";
    auto library = Library::Open(image);
    ASSERT_TRUE(library) << library.error().message;
    const Issues found = (*library)->Check().value();
    std::string said;
    for (const Issue& issue : found) said += issue.where + ": " + issue.what + "\n";
    const bool part = std::filesystem::exists(clip + ".part");
    if (part) {
      EXPECT_THAT(said, ::testing::HasSubstr("or `rm " + clip + ".part` removes it"));
      ++named;
    }
    if (!std::filesystem::exists(clip)) {
      EXPECT_EQ(acknowledged, -1) << "a clip that was stored is gone";
      EXPECT_EQ((*library)->FindClip(id).error().code, ErrorCode::kNotFound);
      EXPECT_TRUE(part || said.empty()) << said;
      ++not_there;
      continue;
    }
    EXPECT_EQ(Verify(clip), kSamples) << said;
    EXPECT_TRUE(ClipReader::Open(clip).value()->closed());
    if (!(*library)->FindClip(id)) {
      EXPECT_THAT(said, ::testing::HasSubstr("handhold library rebuild"));
      ++to_catalogue;
      ASSERT_TRUE((*library)->Rebuild(false, {}));
    } else {
      ++whole;
    }
    EXPECT_TRUE((*library)->FindClip(id));
    if (HasFailure()) break;
  }
  std::printf(
      "power cut while importing: %d images of %zu disk events: %lld not there, %lld with a rest "
      "that is named, %lld whole and named as not catalogued, %lld whole\n",
      images, log.size(), static_cast<long long>(not_there), static_cast<long long>(named),
      static_cast<long long>(to_catalogue), static_cast<long long>(whole));
  EXPECT_GT(not_there, 0);
  EXPECT_GT(named, 0);
  EXPECT_GT(to_catalogue, 0);
  EXPECT_GT(whole, 0);

  // The canary: an import whose bytes were never synced must not pass for a whole one.
  std::vector<DiskEvent> lying = log;
  std::erase_if(lying, [](const DiskEvent& e) { return e.kind == DiskEvent::Kind::kSync; });
  const auto torn = FaultVfs::DiskAfter(lying, lying.size(), Survival::kNone, rng, base);
  const auto at = torn.find(folder + "/clips/" + id + ".clip");
  ASSERT_NE(at, torn.end());
  EXPECT_TRUE(at->second.empty()) << "a disk that never syncs keeps nothing";
}

}  // namespace
}  // namespace handhold::store::store_power_fault_test
