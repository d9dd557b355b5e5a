#include "database/store/compaction.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "database/base/check.h"
#include "database/store/clip_cursor.h"
#include "database/store/zone.h"

namespace handhold::store {
namespace {

constexpr size_t kPairsPerRow = 65'536;

Error SystemError(const std::string& path, const char* doing) {
  return {ErrorCode::kIo, path + ": " + doing + ": " + std::strerror(errno)};
}

Status SyncPath(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return SystemError(path, "open");
  const int rc = ::fsync(fd);
  ::close(fd);
  if (rc != 0) return SystemError(path, "fsync");
  return {};
}

Status SyncFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return SyncPath(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY);
}

/// Bit by bit, which for decoded columns is value by value: every NaN of a decoder is the same one.
bool SameColumns(const ChunkSamples& a, int a_begin, const ChunkSamples& b, int b_begin, int n) {
  if (a.columns() != b.columns() || a.has_origins() != b.has_origins()) return false;
  const int va = a.ValueBegin(a_begin), vb = b.ValueBegin(b_begin),
            values = a.ValueBegin(a_begin + n) - va;
  if (b.ValueBegin(b_begin + n) - vb != values) return false;
  for (int c = 0; c < a.columns() && values > 0; ++c) {
    if (std::memcmp(a.column(c) + va, b.column(c) + vb,
                    static_cast<size_t>(values) * sizeof(double)) != 0)
      return false;
    if (a.has_origins() && std::memcmp(a.origin_column(c) + va, b.origin_column(c) + vb,
                                       static_cast<size_t>(values)) != 0)
      return false;
  }
  const auto same = [&](const auto& x, const auto& y) {
    return x.empty() == y.empty() &&
           (x.empty() ||
            std::equal(x.begin() + a_begin, x.begin() + a_begin + n, y.begin() + b_begin));
  };
  if (!same(a.point_counts, b.point_counts) || !same(a.host_times, b.host_times) ||
      !same(a.texts, b.texts))
    return false;
  for (int i = 0; i < n; ++i) {
    if (a.CounterAt(a_begin + i) != b.CounterAt(b_begin + i)) return false;
  }
  return true;
}

/// The recording's samples, taken piece by piece for comparison.
class Original {
 public:
  Original(const Database& db, const recording::StreamInfo& info, std::vector<ChunkEntry> entries)
      : cursor_(db, info, std::move(entries)) {}

  Status Compare(const ChunkSamples& copy) {
    for (int at = 0; at < copy.count();) {
      if (used_ == samples_.count()) {
        if (cursor_.done()) return Differs();
        HANDHOLD_TRY(cursor_.Next(samples_));
        used_ = 0;
      }
      const int n = std::min(copy.count() - at, samples_.count() - used_);
      if (!SameColumns(copy, at, samples_, used_, n)) return Differs();
      at += n;
      used_ += n;
    }
    return {};
  }
  bool exhausted() const { return cursor_.done() && used_ == samples_.count(); }

 private:
  static Error Differs() {
    return {
        ErrorCode::kCorrupt,
        "compaction: what was re-read is not what was recorded; the recording was kept as it is"};
  }
  ClipCursor cursor_;
  ChunkSamples samples_;
  int used_ = 0;
};

/// Rows of some pairs each become rows of 65 536; a row at a time is in memory.
Status CopyClockPairs(const Database& from, int stream, Database& to) {
  std::vector<recording::ClockPair> waiting;
  uint32_t row = 0;
  const auto flush = [&](size_t least) -> Status {
    size_t at = 0;
    for (; waiting.size() - at >= least && at < waiting.size();) {
      const size_t n = std::min(kPairsPerRow, waiting.size() - at);
      HANDHOLD_TRY(PutClockPairs(to, ChunkId(stream, row++), std::span(waiting).subspan(at, n)));
      at += n;
    }
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(at));
    return {};
  };
  HANDHOLD_TRY(
      VisitClockPairs(from, stream, [&](std::span<const recording::ClockPair> pairs) -> Status {
        waiting.insert(waiting.end(), pairs.begin(), pairs.end());
        return flush(kPairsPerRow);
      }));
  return flush(1);
}

Status CopyTables(const Database& from, const ClipTables& tables, Database& to) {
  HANDHOLD_TRY(PutInfo(to, tables.info));
  for (const recording::StreamInfo& stream : tables.streams) {
    HANDHOLD_TRY(PutStream(to, stream));
    HANDHOLD_TRY(CopyClockPairs(from, stream.id, to));
  }
  for (size_t i = 0; i < tables.sensors.size(); ++i)
    HANDHOLD_TRY(PutForceSensor(to, static_cast<int>(i), tables.sensors[i]));
  for (const auto& [stream, map] : tables.clocks) HANDHOLD_TRY(PutClockMap(to, stream, map));
  for (const recording::Event& event : tables.events) HANDHOLD_TRY(PutEvent(to, event));
  for (const recording::Gap& gap : tables.gaps) HANDHOLD_TRY(PutGap(to, gap));
  HANDHOLD_TRY(PutQuality(to, tables.quality));
  HANDHOLD_ASSIGN(Statement documents, from.Prepare("SELECT name, data FROM document"));
  HANDHOLD_ASSIGN(Statement put, to.Prepare("INSERT INTO document VALUES(?1, ?2)"));
  return documents.ForEach(
      [&](Statement& row) { return put.Bind(1, row.Text(0)).Bind(2, row.Blob(1)).Run(); });
}

Status CopyChunks(const Database& from, const recording::StreamInfo& info, Duration length,
                  Database& to, const std::function<void()>& chunk_done) {
  HANDHOLD_ASSIGN(std::vector<ChunkEntry> entries, GetChunkEntries(from, info.id));
  HANDHOLD_ASSIGN(Statement insert, to.Prepare(kInsertChunk));
  // Every bit is kept, whatever the clip's mode: values on the grid stay counts, and a column that
  // had to be stored exactly for one value's sake is not quantised where a chunk's end parts it
  // from that value.
  const ChunkLayout layout = ChunkLayout::Of(info, true, true);
  ChunkEncoder encoder;
  ClipCursor cursor(from, info, std::move(entries));
  ChunkSamples piece, waiting(static_cast<int>(layout.quanta.size()));
  Bytes bytes;
  uint32_t sequence = 0;
  int64_t index = 0;
  const int nominal = NominalCount(info.rate, length);
  const auto flush = [&](bool all) -> Status {
    int at = 0;
    while (at < waiting.count()) {
      const int end = ChunkEnd(layout, waiting, at, length);
      if (!all && end == waiting.count() && end - at < nominal) break;  // it may still grow
      HANDHOLD_TRY(
          InsertChunk(insert, encoder, layout, sequence++, index, waiting, at, end, bytes));
      index += end - at;
      at = end;
    }
    if (at > 0) waiting.DropFront(at);
    return {};
  };
  while (!cursor.done()) {
    HANDHOLD_TRY(cursor.Next(piece));
    if (chunk_done) chunk_done();
    // Origins appear per chunk: a chunk holds them for all of its samples or for none.
    if (waiting.count() > 0 && waiting.has_origins() != piece.has_origins())
      HANDHOLD_TRY(flush(true));
    waiting.Append(piece, 0, piece.count());
    HANDHOLD_TRY(flush(false));
  }
  return flush(true);
}

}  // namespace

// ---- WriterLock

Result<WriterLock> WriterLock::Take(const std::string& clip_path) {
  WriterLock lock;
  lock.path_ = clip_path + "-lock";
  const int fd = ::open(lock.path_.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0644);
  if (fd < 0) {
    Error error = SystemError(lock.path_, "open");
    if (errno == ENOENT) error.code = ErrorCode::kNotFound;
    return error;
  }
  lock.fd_ = fd;
  struct stat held, named;
  const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  // The lock counts only while the file still has its name: the last holder may just have removed
  // it.
  if (!locked || ::fstat(fd, &held) != 0 || ::stat(lock.path_.c_str(), &named) != 0 ||
      held.st_ino != named.st_ino) {
    ::close(fd);
    lock.fd_ = -1;
    return Error{
        ErrorCode::kBusy,
        clip_path + ": is being written by another process; take another name or stop that one"};
  }
  return lock;
}

bool WriterLock::IsHeld(const std::string& clip_path) {
  const int fd = ::open((clip_path + "-lock").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return held;
}

WriterLock::WriterLock(WriterLock&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
WriterLock& WriterLock::operator=(WriterLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}
WriterLock::~WriterLock() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());  // before the lock is given up, so that nobody waits on a file without a
                            // name
  ::close(fd_);
}

// ---- files

Status PublishFile(const std::string& from, const std::string& to, bool replace) {
  HANDHOLD_TRY(SyncPath(from, O_RDONLY));
  if (replace) {
    if (::rename(from.c_str(), to.c_str()) != 0) return SystemError(to, "rename");
  } else if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
  } else if (errno == EEXIST) {
    return Error{ErrorCode::kBusy, to + ": exists already and is not overwritten"};
  } else if (::rename(from.c_str(), to.c_str()) != 0) {  // file systems without hard links
    return SystemError(to, "rename");
  }
  return SyncFolderOf(to);
}

std::string ReadersOf(const std::string& path) {
  struct stat index;
  if (::stat((path + "-shm").c_str(), &index) != 0) return "";
  std::ifstream locks("/proc/locks");
  std::set<std::string> holders;
  for (std::string line; std::getline(locks, line);) {
    char kind[16] = "", mode[16] = "", access[16] = "";
    long pid = 0;
    unsigned major = 0, minor = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%*d: %15s %15s %15s %ld %x:%x:%lu", kind, mode, access, &pid,
                    &major, &minor, &inode) != 7)
      continue;
    if (inode == index.st_ino && std::string_view(access) == "READ" && pid > 0 && pid != ::getpid())
      holders.insert(std::to_string(pid));
  }
  std::string text;
  for (const std::string& pid : holders) text += (text.empty() ? "process " : ", process ") + pid;
  return text;
}

Status LeaveWal(Database& db) {
  if (Status emptied = db.CheckpointTruncate(); !emptied) {
    if (emptied.error().code != ErrorCode::kBusy) return emptied;
    // Cut off it cannot be while somebody reads it; copied it can be, unless that reader began
    // before its end.
    HANDHOLD_ASSIGN(const Database::Checkpointed done, db.CheckpointPassive());
    if (done.copied_pages < done.log_pages) {
      std::string readers = ReadersOf(db.path());
      if (!readers.empty()) readers = " by " + readers;
      return Error{ErrorCode::kBusy,
                   db.path() + ": is being read" + readers +
                       " since before its end; it is whole and readable: end that reader, then "
                       "'handhold library rebuild --finish'"};
    }
  }
  // Who merely has the clip open keeps SQLite from giving up the log, which holds nothing any more:
  // Compact takes its name away.
  const Result<std::string> mode = db.QueryText("PRAGMA journal_mode=DELETE");
  if (!mode && mode.error().code != ErrorCode::kBusy) return mode.error();
  return {};
}

Status PlaceGaps(Database& db) {
  HANDHOLD_ASSIGN(const ClipTables tables, GetTables(db, nullptr));
  std::map<int, recording::ClockMap> clocks = tables.clocks;  // and where there is none, once
  HANDHOLD_ASSIGN(Statement update, db.Prepare("UPDATE gap SET t_begin_ns=?1, t_end_ns=?2 WHERE "
                                               "stream=?3 AND first_missing_counter=?4"));
  for (const recording::Gap& gap : tables.gaps) {
    if (gap.clip_begin.ns() != 0 || gap.clip_end.ns() != 0) continue;
    const auto stream = std::find_if(tables.streams.begin(), tables.streams.end(),
                                     [&](const auto& s) { return s.id == gap.stream_id; });
    if (stream == tables.streams.end() || stream->rate.numerator <= 0) continue;
    if (!clocks.contains(gap.stream_id)) {
      HANDHOLD_ASSIGN(clocks[gap.stream_id], FallbackClock(db, tables.info, gap.stream_id));
    }
    const recording::ClockMap& map = clocks.at(gap.stream_id);
    const auto time = [&](int64_t counter) {
      return map.ToHost(recording::DeviceTimeOfCounter(counter, stream->rate)).ns() -
             tables.info.host_start_ns;
    };
    HANDHOLD_TRY(update.Bind(1, time(gap.first_missing_counter))
                     .Bind(2, time(gap.first_missing_counter + gap.count))
                     .Bind(3, gap.stream_id)
                     .Bind(4, gap.first_missing_counter)
                     .Run());
  }
  return {};
}

Status Seal(Database& db, const Database* original, bool recovered,
            const std::function<void()>& chunk_done) {
  HANDHOLD_ASSIGN(const ClipTables tables, GetTables(db, nullptr));
  HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(db));
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT INTO zone VALUES(?1, ?2)"));
  ChunkSamples samples;
  for (const recording::StreamInfo& info : tables.streams) {
    std::vector<const recording::ForceSensor*> sensors;
    for (const recording::ForceSensor& sensor : tables.sensors) {
      if (sensor.stream_id == info.id) sensors.push_back(&sensor);
    }
    HANDHOLD_ASSIGN(std::vector<ChunkEntry> entries, GetChunkEntries(db, info.id));
    std::unique_ptr<Original> source;
    if (original != nullptr) {
      HANDHOLD_ASSIGN(std::vector<ChunkEntry> recorded, GetChunkEntries(*original, info.id));
      source = std::make_unique<Original>(*original, info, std::move(recorded));
    }
    ClipCursor cursor(db, info, std::move(entries));
    while (!cursor.done()) {
      const uint32_t sequence = cursor.entry().sequence;
      HANDHOLD_TRY(cursor.Next(samples));
      if (chunk_done) chunk_done();
      if (source != nullptr) HANDHOLD_TRY(source->Compare(samples));
      if (info.kind == recording::StreamKind::kText) continue;
      const Bytes zone = EncodeZone(ComputeZone(samples, info.id, sequence, sensors));
      HANDHOLD_TRY(put.Bind(1, ChunkId(info.id, sequence)).Bind(2, std::span(zone)).Run());
    }
    if (source != nullptr && !source->exhausted())
      return Error{ErrorCode::kCorrupt, "compaction: samples are missing from the copy"};
  }
  HANDHOLD_TRY(PutFlag(db, "closed", 1));
  HANDHOLD_TRY(PutFlag(db, "recovered", recovered ? 1 : 0));
  HANDHOLD_TRY(WriteDigests(db));
  return transaction.Commit();
}

namespace {

/// What to call after each chunk of `db`, so that `progress` goes from `begin` on by a half.
Result<std::function<void()>> Half(const Database& db, double begin,
                                   const std::function<void(double)>& progress) {
  if (!progress) return std::function<void()>();
  HANDHOLD_ASSIGN(const int64_t chunks, db.QueryInteger("SELECT count(*) FROM chunk"));
  return std::function<void()>([&progress, begin, chunks, done = int64_t{0}]() mutable {
    progress(begin + 0.5 * static_cast<double>(++done) / static_cast<double>(chunks));
  });
}

Status MakeCompacted(const std::string& path, const std::string& part,
                     const ClipWriterOptions& options, bool recovered,
                     const std::function<void(double)>& progress) {
  ::unlink(part.c_str());
  DatabaseOptions read, create;
  read.vfs = create.vfs = options.vfs;
  create.mode = OpenMode::kCreate;
  HANDHOLD_ASSIGN(const Database from, Database::Open(path, read));
  HANDHOLD_ASSIGN(ClipTables tables, GetTables(from, nullptr));
  // What an open file is taken to say of itself while it says nothing is not what it says closed.
  if (!recovered && !tables.advised) tables.quality = {};
  HANDHOLD_ASSIGN(Database to, Database::Open(part, create));
  // Nothing of the copy counts before it is synced as a whole and renamed.
  HANDHOLD_TRY(to.Execute("PRAGMA journal_mode=MEMORY"));
  HANDHOLD_TRY(to.Execute("PRAGMA synchronous=OFF"));
  HANDHOLD_TRY(CreateClipTables(to, tables.is_artefact, tables.lossless));
  HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(to));
  HANDHOLD_TRY(CopyTables(from, tables, to));
  HANDHOLD_ASSIGN(const std::function<void()> copied, Half(from, 0.0, progress));
  for (const recording::StreamInfo& info : tables.streams) {
    HANDHOLD_TRY(CopyChunks(from, info, options.compacted_chunk, to, copied));
  }
  HANDHOLD_TRY(transaction.Commit());
  HANDHOLD_ASSIGN(const std::function<void()> compared, Half(to, 0.5, progress));
  return Seal(to, &from, recovered, compared);
}

}  // namespace

namespace {
void RemoveLog(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm"}) ::unlink((path + suffix).c_str());
}
}  // namespace

Status Compact(const std::string& path, const ClipWriterOptions& options, bool recovered,
               const std::function<void(double)>& progress) {
  const std::string part = path + ".part";
  auto made = MakeCompacted(path, part, options, recovered, progress);
  if (!made) {
    ::unlink(part.c_str());
    return made;
  }
  // The recording's log is empty or copied (LeaveWal) and must not be met by the file that comes
  // under its name. Readers keep what they have open; one that opens the recording between these
  // two lines makes an empty log.
  RemoveLog(path);
  // Nor may a power cut bring the log, or the journal of giving it up, back beside that file.
  HANDHOLD_TRY(SyncFolderOf(path));
  HANDHOLD_TRY(PublishFile(part, path, true));
  RemoveLog(path);
  return {};
}

namespace {

/// kVersion when the file asks for a newer program than this to change it.
Status MayRewrite(const Database& db) {
  HANDHOLD_ASSIGN(const int64_t level,
                  db.QueryInteger("SELECT ifnull(max(value), 0) FROM info WHERE key IN "
                                  "('min_reader', 'min_writer')"));
  if (level <= kMinWriter) return {};
  return Error{
      ErrorCode::kVersion,
      db.path() + ": was written by a newer Handhold and asks for level " + std::to_string(level) +
          " to be written (this program: " + std::to_string(kMinWriter) + "): update Handhold"};
}

}  // namespace

Status FinishClip(const std::string& path, const ClipWriterOptions& options) {
  HANDHOLD_ASSIGN(const WriterLock lock, WriterLock::Take(path));
  DatabaseOptions open;
  open.mode = OpenMode::kReadWrite;
  open.vfs = options.vfs;
  {
    open.inspect = HeaderCheck(FileKind::kClip);
    HANDHOLD_ASSIGN(Database db, Database::Open(path, open));
    HANDHOLD_TRY(CheckSchema(db, FileKind::kClip));
    HANDHOLD_TRY(MayRewrite(db));
    HANDHOLD_ASSIGN(const int64_t closed,
                    db.QueryInteger("SELECT value FROM info WHERE key='closed'"));
    if (closed != 0) return {};
    HANDHOLD_TRY(PlaceGaps(db));
    HANDHOLD_TRY(LeaveWal(db));
  }
  return Compact(path, options, true, {});
}

}  // namespace handhold::store
