#include "database/store/clip_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "database/base/check.h"
#include "database/store/clip_cursor.h"
#include "database/store/compaction.h"
#include "database/store/network_path.h"

namespace handhold::store {
namespace {

using recording::SampleBlock;
using recording::StreamInfo;
using recording::StreamKind;

constexpr int kPageBytes = 4096;
constexpr int kCheckpointPages = 1000;  // 4 MB: when the checkpointer is woken
constexpr int kShortPages = 250;        // 1 MB: so little is copied while commits wait
constexpr int kHeldPages = 4000;        // 16 MB: a log this long is held by somebody
constexpr int64_t kLogReserve = 6 << 20;
constexpr size_t kMaxDocumentBytes = 32u << 20;
constexpr int64_t kMaxWaitingBytes = 5 << 20;  // over all streams of what is written directly

struct StreamState {
  StreamInfo info;
  ChunkLayout layout;    ///< of 0.1 s chunks, or of final ones when written directly
  ChunkSamples waiting;  ///< taken, not committed

  int64_t waiting_values() const {
    return static_cast<int64_t>(waiting.value_count()) * std::max(1, waiting.columns());
  }
  int64_t next_index = 0;  ///< of the next sample to be taken
  int64_t next_counter = 0;
  int64_t committed = 0;  ///< samples on disk
  uint32_t next_sequence = 0;
  uint32_t next_pairs = 0;
  std::vector<recording::ClockPair> pairs;
  int64_t newest_host_ns = 0;  ///< of the pairs taken
  int64_t commit_host_ns = 0;  ///< newest_host_ns when the last commit was made
  bool paired = false;         ///< pairs came after the last block: newest_host_ns is now
  Timestamp durable_host;
};

class Recorder final : public ClipWriter {
 public:
  Recorder(std::string path, ClipWriterOptions options)
      : path_(std::move(path)), options_(std::move(options)) {
    work_path_ = options_.already_complete ? path_ + ".part" : path_;
  }
  ~Recorder() override;
  Status Start(const recording::ClipInfo& info);
  /// After a Start that failed half-way: removes the file it made.
  void Abandon();

  Result<int> AddStream(const StreamInfo& info) override;
  Status AddForceSensor(const recording::ForceSensor& sensor) override;
  Status AddEvent(const recording::Event& event) override;
  Status AddGap(const recording::Gap& gap) override;
  Status AddClockPairs(int stream_id, std::span<const recording::ClockPair> pairs) override;
  Result<std::vector<recording::ClockPair>> ClockPairs(int stream_id, int64_t begin,
                                                       int64_t end) override;
  Status SetClockMap(int stream_id, const recording::ClockMap& map) override;
  Status SetQuality(const recording::QualityRecord& quality) override;
  Status SetInfo(const recording::ClipInfo& info) override;
  Status PutDocument(const std::string& name, std::span<const uint8_t> data) override;
  Status Append(const SampleBlock& block) override;
  Status Commit(bool partial) override;
  Result<std::vector<Durable>> durable() const override;
  WriterHealth health() const override;
  Status Close(const std::function<void(double share)>& progress) override;

 private:
  bool recording() const { return !options_.already_complete; }
  template <typename Work>
  Status InTransaction(const Work& work);
  Result<StreamState*> Find(int stream_id);
  Status CheckBlock(const StreamState& stream, const SampleBlock& block) const;
  bool Due(const StreamState& stream) const;
  /// Bytes of values and texts that wait; texts have no columns.
  static int64_t WaitingBytes(const StreamState& stream);
  /// What is written directly may wait for 2 s of samples, but not all streams for more than 5 MB:
  /// then the one with most is committed.
  bool Crowded() const;
  bool HasMost(const StreamState& stream) const;
  /// Where the last chunk that can grow no more ends; where there is none, the end.
  int WholeChunks(const StreamState& stream) const;
  /// Whether a due stream may wait for the one that led the last commit: until it has half as much
  /// again, so that all streams' samples share one sync whatever the packets' order.
  bool MayFollow(const StreamState& stream) const;
  Status CommitWaiting(bool everything);
  /// Samples [0, end) of the waiting ones; counts the chunks made of them.
  Status Insert(StreamState& stream, int end, uint32_t& chunks);
  void CheckpointLoop();
  void StopCheckpointer();
  void CloseDatabase() {
    insert_ = Statement();
    db_.Close();
  }

  const std::string path_;
  const ClipWriterOptions options_;
  std::string work_path_;
  WriterLock lock_;
  Database db_;
  Statement insert_;  ///< after db_: finalised first
  std::vector<std::unique_ptr<StreamState>> streams_;
  std::vector<recording::Gap> gaps_;              ///< taken, not committed
  std::set<std::pair<int, int64_t>> named_gaps_;  ///< by AddGap, not yet met
  int sensors_ = 0;
  bool any_even_ = false;
  int leader_ = 0;  ///< the stream whose samples made the last commit due
  std::optional<ChunkEncoder> encoder_{std::in_place};
  Bytes bytes_;
  bool failed_ = false;
  enum class Stage { kOpen, kAlone, kClosed } stage_ = Stage::kOpen;

  std::mutex writing_;  ///< held by a transaction, and by the checkpointer when it must finish
  std::condition_variable let_by_;
  std::atomic<bool> exclusive_wanted_{false};
  std::mutex wake_;
  std::condition_variable woken_;
  bool checkpoint_due_ = false, stop_ = false;
  std::thread checkpointer_;
  std::atomic<int> log_pages_{0};
  std::atomic<int> next_checkpoint_{kCheckpointPages};  ///< log_pages_ at which it is woken
  std::atomic<bool> log_held_{false};
  int64_t commits_ = 0;
  Duration worst_commit_;
};

Recorder::~Recorder() {
  if (stage_ == Stage::kOpen && db_.is_open() && recording()) (void)Commit(true).has_value();
  StopCheckpointer();
  CloseDatabase();
  // Without the lock it is the file of whoever holds it.
  if (!recording() && stage_ != Stage::kClosed && lock_.held()) ::unlink(work_path_.c_str());
}

Status Recorder::Start(const recording::ClipInfo& info) {
  HANDHOLD_ASSIGN(lock_, WriterLock::Take(path_));
  if (::access(path_.c_str(), F_OK) == 0) {
    return Error{ErrorCode::kBusy,
                 path_ + ": exists already; takes are never overwritten: choose another name"};
  }
  if (!recording()) ::unlink(work_path_.c_str());  // left by a process that died
  DatabaseOptions create;
  create.mode = OpenMode::kCreate;
  create.vfs = options_.vfs;
  HANDHOLD_ASSIGN(db_, Database::Open(work_path_, create));
  // The schema is written with a rollback journal, so that id and revision stand in the file itself
  // from the first sync.
  HANDHOLD_TRY(db_.Execute(recording() ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF"));
  if (!recording()) HANDHOLD_TRY(db_.Execute("PRAGMA journal_mode=MEMORY"));
  HANDHOLD_TRY(CreateClipTables(db_, options_.is_artefact, options_.lossless));
  HANDHOLD_TRY(PutInfo(db_, info));
  if (!recording()) return db_.Execute("BEGIN");
  HANDHOLD_ASSIGN(const std::string mode, db_.QueryText("PRAGMA journal_mode=WAL"));
  if (mode != "wal")
    return Error{
        ErrorCode::kUnsupported,
        path_ + ": no write-ahead log here (a network file system?); record to a local disk"};
  HANDHOLD_TRY(db_.Execute("PRAGMA synchronous=FULL"));
  HANDHOLD_TRY(db_.Execute("PRAGMA wal_autocheckpoint=0"));
  db_.WatchWal();
  // Only speed depends on it: a disk too full for it will say so when samples come.
  (void)db_.ReserveWal(kLogReserve).has_value();
  checkpointer_ = std::thread([this] { CheckpointLoop(); });
  return {};
}

void Recorder::Abandon() {
  StopCheckpointer();
  if (!db_.is_open()) return;
  CloseDatabase();
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    ::unlink((work_path_ + suffix).c_str());
}

template <typename Work>
Status Recorder::InTransaction(const Work& work) {
  if (stage_ != Stage::kOpen) return Error{ErrorCode::kInvalid, path_ + ": is closed"};
  if (!recording()) {  // one transaction until Close; after a failure SQLite may have ended it
    if (failed_)
      return Error{ErrorCode::kIo,
                   path_ + ": an earlier write failed; nothing of this file is kept"};
    Status status = work();
    failed_ = !status;
    return status;
  }
  const Timestamp began = HostNow();
  const auto write = [&]() -> Status {
    std::unique_lock lock(writing_);
    // A mutex is not fair: without this the writer would take it again before the checkpointer
    // wakes, and the log would grow as long as samples come.
    let_by_.wait(lock, [this] { return !exclusive_wanted_; });
    HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(db_));
    HANDHOLD_TRY(work());
    return transaction.Commit();
  };
  if (Status written = write(); !written) {
    Error error = written.error();
    if (error.code == ErrorCode::kIo) error.message += "; what was committed before is safe";
    return error;
  }
  ++commits_;
  worst_commit_ = std::max(worst_commit_, HostNow() - began);
  log_pages_ = db_.wal_pages();
  if (log_pages_ >= next_checkpoint_) {
    const std::lock_guard lock(wake_);
    checkpoint_due_ = true;
    woken_.notify_one();
  }
  return {};
}

void Recorder::CheckpointLoop() {
  DatabaseOptions open;
  open.mode = OpenMode::kReadWrite;
  open.vfs = options_.vfs;
  open.cache_kib = 256;
  Result<Database> db = Database::Open(work_path_, open);
  if (!db || !db->Execute("PRAGMA synchronous=FULL") || !db->Execute("PRAGMA wal_autocheckpoint=0"))
    return;
  for (;;) {
    {
      std::unique_lock lock(wake_);
      woken_.wait(lock, [this] { return checkpoint_due_ || stop_; });
      if (stop_) return;
      checkpoint_due_ = false;
    }
    Result<Database::Checkpointed> done = db->CheckpointPassive();
    for (int round = 0; round < 3 && done && log_pages_ - done->copied_pages > kShortPages; ++round)
      done = db->CheckpointPassive();
    if (done && log_pages_ > done->copied_pages) {
      // The writer came between. The bulk is copied; with commits held for the rest, the log starts
      // afresh. Left half copied, it would be copied and synced again after every commit.
      exclusive_wanted_ = true;
      {
        const std::lock_guard lock(writing_);
        exclusive_wanted_ = false;
        done = db->CheckpointPassive();
      }
      let_by_.notify_one();
    }
    const bool held = done && done->copied_pages < done->log_pages;
    next_checkpoint_ = held ? done->log_pages + kShortPages : kCheckpointPages;
    log_held_ = held && done->log_pages >= kHeldPages;
  }
}

void Recorder::StopCheckpointer() {
  {
    const std::lock_guard lock(wake_);
    stop_ = true;
    woken_.notify_one();
  }
  if (checkpointer_.joinable()) checkpointer_.join();
}

Result<StreamState*> Recorder::Find(int stream_id) {
  if (stream_id < 1 || static_cast<size_t>(stream_id) > streams_.size()) {
    return Error{ErrorCode::kNotFound, path_ + ": no stream " + std::to_string(stream_id)};
  }
  return streams_[static_cast<size_t>(stream_id) - 1].get();
}

Result<int> Recorder::AddStream(const StreamInfo& info) {
  const auto invalid = [&](const std::string& what) {
    return Error{ErrorCode::kInvalid, "stream '" + info.name + "': " + what};
  };
  if (info.name.empty()) return invalid("needs a name");
  if (info.rate.denominator < 1 || info.rate.numerator < 0)
    return invalid("its rate is not a positive fraction");
  std::set<std::string_view> names;
  for (const recording::Channel& channel : info.channels) {
    if (!names.insert(channel.name).second)
      return invalid("has two channels called '" + channel.name + "'");
    if (!(channel.quantum >= 0) || std::isinf(channel.quantum))
      return invalid("channel '" + channel.name + "' has no valid quantum");
  }
  if (info.channels.empty() && info.kind != StreamKind::kText &&
      info.kind != StreamKind::kUnlabelledPoints)
    return invalid("has no channels");
  auto stream = std::make_unique<StreamState>();
  stream->info = info;
  stream->info.id = static_cast<int>(streams_.size()) + 1;
  stream->info.epoch =
      static_cast<int>(std::count_if(streams_.begin(), streams_.end(), [&](const auto& other) {
        return other->info.name == info.name;
      }));
  stream->layout = ChunkLayout::Of(stream->info, options_.already_complete, options_.lossless);
  stream->waiting = ChunkSamples(static_cast<int>(stream->layout.quanta.size()));
  HANDHOLD_TRY(InTransaction([&] { return PutStream(db_, stream->info); }));
  any_even_ = any_even_ || info.rate.numerator > 0;
  streams_.push_back(std::move(stream));
  return streams_.back()->info.id;
}

Status Recorder::AddForceSensor(const recording::ForceSensor& sensor) {
  HANDHOLD_ASSIGN(const StreamState* stream, Find(sensor.stream_id));
  if (sensor.calibration.cols() != stream->info.channel_count() ||
      (sensor.bias.size() != 0 && sensor.bias.size() != sensor.calibration.cols())) {
    return Error{ErrorCode::kInvalid, "force sensor '" + sensor.name +
                                          "': its calibration does not fit the " +
                                          std::to_string(stream->info.channel_count()) +
                                          " channels of stream '" + stream->info.name + "'"};
  }
  HANDHOLD_TRY(InTransaction([&] { return PutForceSensor(db_, sensors_, sensor); }));
  ++sensors_;
  return {};
}

Status Recorder::AddEvent(const recording::Event& event) {
  return InTransaction([&] { return PutEvent(db_, event); });
}

Status Recorder::AddGap(const recording::Gap& gap) {
  HANDHOLD_TRY(Find(gap.stream_id));
  if (gap.count < 1) return Error{ErrorCode::kInvalid, "a gap of no samples"};
  gaps_.push_back(gap);
  named_gaps_.insert({gap.stream_id, gap.first_missing_counter});
  return {};
}

Status Recorder::AddClockPairs(int stream_id, std::span<const recording::ClockPair> pairs) {
  HANDHOLD_ASSIGN(StreamState * stream, Find(stream_id));
  stream->pairs.insert(stream->pairs.end(), pairs.begin(), pairs.end());
  if (pairs.empty()) return {};
  stream->newest_host_ns = pairs.back().host_ns;
  stream->paired = true;
  return {};
}

Result<std::vector<recording::ClockPair>> Recorder::ClockPairs(int stream_id, int64_t begin,
                                                               int64_t end) {
  HANDHOLD_ASSIGN(const StreamState* stream, Find(stream_id));
  if (stage_ != Stage::kOpen) return Error{ErrorCode::kInvalid, path_ + ": is closed"};
  HANDHOLD_ASSIGN(std::vector<recording::ClockPair> pairs,
                  GetClockPairs(db_, stream_id, stream->next_pairs, begin, end));
  for (const recording::ClockPair& pair : stream->pairs)
    if (begin <= pair.counter && pair.counter < end) pairs.push_back(pair);
  return pairs;
}

Status Recorder::SetClockMap(int stream_id, const recording::ClockMap& map) {
  HANDHOLD_TRY(Find(stream_id));
  if (!map.valid()) return Error{ErrorCode::kInvalid, "a clock map without segments"};
  return InTransaction([&] { return PutClockMap(db_, stream_id, map); });
}

Status Recorder::SetQuality(const recording::QualityRecord& quality) {
  return InTransaction([&] { return PutQuality(db_, quality); });
}

Status Recorder::SetInfo(const recording::ClipInfo& info) {
  return InTransaction([&] { return PutInfo(db_, info); });
}

Status Recorder::PutDocument(const std::string& name, std::span<const uint8_t> data) {
  if (data.size() > kMaxDocumentBytes)
    return Error{ErrorCode::kInvalid, "document '" + name + "' is larger than 32 MB"};
  return InTransaction([&]() -> Status {
    HANDHOLD_ASSIGN(Statement put, db_.Prepare("INSERT OR REPLACE INTO document VALUES(?1, ?2)"));
    return put.Bind(1, name).Bind(2, data).Run();
  });
}

Status Recorder::CheckBlock(const StreamState& stream, const SampleBlock& block) const {
  const auto invalid = [&](const std::string& what) {
    return Error{ErrorCode::kInvalid, "stream '" + stream.info.name + "': " + what};
  };
  if (block.count <= 0) return invalid("a block without samples");
  if (block.count > kMaxFrameSamples)
    return invalid("a block of more than " + std::to_string(kMaxFrameSamples) +
                   " samples: split it");
  const auto count = static_cast<size_t>(block.count);
  size_t expected = count * static_cast<size_t>(stream.waiting.columns());
  if (stream.info.kind == StreamKind::kUnlabelledPoints) {
    if (block.point_counts.size() != count)
      return invalid("a block needs one point count per sample");
    expected = 0;
    for (const int32_t n : block.point_counts) {
      if (n < 0) return invalid("a negative point count");
      expected += static_cast<size_t>(n) * 4;
    }
    if (expected > static_cast<size_t>(kMaxChunkValues))
      return invalid("a block of too many points: split it");
  }
  if (stream.info.kind == StreamKind::kText && block.texts.size() != count)
    return invalid("a block needs one text per sample");
  for (const std::string& text : block.texts) {
    if (text.size() > kMaxTextBytes) return invalid("a text of more than 32 MB");
  }
  if (block.values.size() != expected) {
    return invalid("a block has " + std::to_string(block.values.size()) +
                   " values, its shape asks for " + std::to_string(expected));
  }
  if (!block.origins.empty() &&
      (block.origins.size() != expected || stream.info.kind == StreamKind::kUnlabelledPoints)) {
    return invalid("origins must be one per value, of labelled streams");
  }
  const bool uneven = stream.info.kind == StreamKind::kText || stream.info.rate.numerator == 0;
  if (uneven ? block.host_times.size() != count : !block.host_times.empty()) {
    return invalid(uneven ? "a block needs one host time per sample"
                          : "an even stream has no host times: they follow from its counters");
  }
  if (stream.next_index > 0 && block.first_counter < stream.next_counter) {
    return invalid("its counter runs backwards, from " + std::to_string(stream.next_counter) +
                   " to " + std::to_string(block.first_counter) +
                   ": unwrap it, or begin the next epoch of the stream");
  }
  if (block.first_index != stream.next_index) {
    return invalid("its next sample has index " + std::to_string(stream.next_index) +
                   ", the block begins with " + std::to_string(block.first_index));
  }
  return {};
}

int64_t Recorder::WaitingBytes(const StreamState& stream) {
  int64_t bytes = stream.waiting_values() * 8;
  for (const std::string& text : stream.waiting.texts) bytes += static_cast<int64_t>(text.size());
  return bytes;
}

bool Recorder::Crowded() const {
  if (recording()) return false;
  int64_t bytes = 0;
  for (const auto& stream : streams_) bytes += WaitingBytes(*stream);
  return bytes >= kMaxWaitingBytes;
}

bool Recorder::HasMost(const StreamState& stream) const {
  return std::ranges::all_of(
      streams_, [&](const auto& other) { return WaitingBytes(*other) <= WaitingBytes(stream); });
}

int Recorder::WholeChunks(const StreamState& stream) const {
  int end = 0;
  while (end < stream.waiting.count()) {
    const int next = ChunkEnd(stream.layout, stream.waiting, end, options_.compacted_chunk);
    if (next == stream.waiting.count() && end > 0) break;  // it may still grow
    end = next;
  }
  return end;
}

bool Recorder::Due(const StreamState& stream) const {
  const Duration length = recording() ? options_.chunk : options_.compacted_chunk;
  if (stream.waiting.count() == 0) return false;
  if (stream.waiting_values() >= kMaxChunkValues) return true;
  // A device that sends more than the rate it claims, or after a hold all at once, would otherwise
  // ask for a sync with every packet, and every other device would wait for it.
  if (recording() && stream.paired &&
      stream.newest_host_ns - stream.commit_host_ns < (options_.chunk / 2).ns())
    return false;
  if (stream.info.rate.numerator > 0)
    return stream.waiting.count() >= NominalCount(stream.info.rate, length);
  // Uneven streams ride along with even ones; alone they are committed as they come.
  return recording() ? !any_even_
                     : stream.waiting.count() >= NominalCount(stream.info.rate, length);
}

bool Recorder::MayFollow(const StreamState& stream) const {
  return recording() && leader_ != 0 && leader_ != stream.info.id &&
         stream.info.rate.numerator > 0 &&
         stream.waiting.count() < NominalCount(stream.info.rate, options_.chunk * 3 / 2) &&
         stream.waiting_values() < kMaxChunkValues;
}

Status Recorder::Append(const SampleBlock& block) {
  if (stage_ != Stage::kOpen) return Error{ErrorCode::kInvalid, path_ + ": is closed"};
  HANDHOLD_ASSIGN(StreamState * stream, Find(block.stream_id));
  HANDHOLD_TRY(CheckBlock(*stream, block));
  // A chunk has origins for all its samples or for none.
  if (stream->waiting.count() > 0 && stream->waiting.has_origins() == block.origins.empty())
    HANDHOLD_TRY(CommitWaiting(true));
  const int waited = stream->waiting.count();
  const size_t gaps = gaps_.size();
  const int64_t counter = stream->next_counter;
  if (stream->next_index > 0 && block.first_counter > counter &&
      stream->info.kind != StreamKind::kText &&
      named_gaps_.erase({block.stream_id, counter}) == 0) {
    gaps_.push_back({block.stream_id,
                     counter,
                     block.first_counter - counter,
                     recording::GapCause::kDeviceSkipped,
                     {},
                     {}});
  }
  stream->waiting.Append(stream->info.kind, block, 0, block.count);
  stream->next_index += block.count;
  stream->next_counter = block.first_counter + block.count;
  const bool commits = (Due(*stream) && !MayFollow(*stream)) || Crowded();
  stream->paired = false;
  if (!commits) return {};
  Status status = CommitWaiting(false);
  if (status) {
    if (stream->info.rate.numerator > 0) leader_ = stream->info.id;
    return status;
  }
  stream->waiting.Truncate(waited);
  stream->next_index -= block.count;
  stream->next_counter = counter;
  if (gaps_.size() == gaps && block.first_counter > counter && stream->next_index > 0)
    named_gaps_.insert({block.stream_id, counter});
  gaps_.resize(gaps);
  return status;
}

Status Recorder::Insert(StreamState& stream, int end, uint32_t& chunks) {
  if (insert_.handle() == nullptr) {
    HANDHOLD_ASSIGN(insert_, db_.Prepare(kInsertChunk, true));
  }
  int64_t index = stream.committed;
  const Duration length = recording() ? options_.chunk * 3 / 2 : options_.compacted_chunk;
  for (int at = 0; at < end;) {
    const int stop = std::min(end, ChunkEnd(stream.layout, stream.waiting, at, length));
    HANDHOLD_TRY(InsertChunk(insert_, *encoder_, stream.layout, stream.next_sequence + chunks++,
                             index, stream.waiting, at, stop, bytes_));
    index += stop - at;
    at = stop;
  }
  return {};
}

Status Recorder::CommitWaiting(bool everything) {
  std::vector<int> ends;
  const bool crowded = Crowded();
  for (const auto& stream : streams_) {
    int end = stream->waiting.count();
    if (!recording() && !everything) {
      const int nominal = NominalCount(stream->info.rate, options_.compacted_chunk);
      end = Due(*stream) ? std::max(end / nominal * nominal, std::min(end, nominal)) : 0;
      if (crowded && HasMost(*stream)) end = WholeChunks(*stream);
    }
    ends.push_back(end);
  }
  std::vector<uint32_t> chunks(streams_.size());
  const auto write = [&]() -> Status {
    for (size_t s = 0; s < streams_.size(); ++s) {
      StreamState& stream = *streams_[s];
      if (ends[s] > 0) HANDHOLD_TRY(Insert(stream, ends[s], chunks[s]));
      uint32_t row = stream.next_pairs;
      for (size_t at = 0; at < stream.pairs.size(); at += 65'536) {
        const size_t n = std::min<size_t>(65'536, stream.pairs.size() - at);
        HANDHOLD_TRY(PutClockPairs(db_, ChunkId(stream.info.id, row++),
                                   std::span(stream.pairs).subspan(at, n)));
      }
    }
    for (const recording::Gap& gap : gaps_) HANDHOLD_TRY(PutGap(db_, gap));
    return {};
  };
  HANDHOLD_TRY(InTransaction(write));
  for (size_t s = 0; s < streams_.size(); ++s) {
    StreamState& stream = *streams_[s];
    stream.commit_host_ns = stream.newest_host_ns;
    if (!stream.pairs.empty()) {
      stream.next_pairs += static_cast<uint32_t>((stream.pairs.size() + 65'535) / 65'536);
      stream.durable_host = Timestamp::FromNanoseconds(stream.newest_host_ns);
      stream.pairs.clear();
    }
    if (ends[s] == 0) continue;
    if (!stream.waiting.host_times.empty()) {
      stream.durable_host =
          Timestamp::FromNanoseconds(stream.waiting.host_times[static_cast<size_t>(ends[s]) - 1]);
    }
    stream.committed += ends[s];
    stream.next_sequence += chunks[s];
    stream.waiting.DropFront(ends[s]);
    // Room that one wide stream has needed is the next one's.
    if (crowded && stream.waiting.count() == 0)
      stream.waiting = ChunkSamples(stream.waiting.columns());
  }
  gaps_.clear();
  return {};
}

Status Recorder::Commit(bool partial) {
  if (!partial && recording()) {
    const bool due = std::any_of(streams_.begin(), streams_.end(),
                                 [&](const auto& stream) { return Due(*stream); });
    if (!due) return {};
  }
  return CommitWaiting(partial);
}

Result<std::vector<Durable>> Recorder::durable() const {
  std::vector<Durable> list;
  for (const auto& stream : streams_) {
    const bool counts = recording() || stage_ == Stage::kClosed;
    list.push_back({stream->info.id, counts ? stream->committed : 0,
                    counts ? stream->durable_host : Timestamp()});
  }
  return list;
}

WriterHealth Recorder::health() const {
  WriterHealth health;
  health.log_bytes = int64_t{log_pages_} * kPageBytes;
  if (log_held_) {
    health.log_held_by = ReadersOf(work_path_);
    if (health.log_held_by.empty()) health.log_held_by = "a reader in this process";
  }
  health.commits = commits_;
  health.worst_commit = worst_commit_;
  return health;
}

Status Recorder::Close(const std::function<void(double share)>& progress) {
  if (stage_ == Stage::kClosed) return {};
  if (stage_ == Stage::kOpen) {
    HANDHOLD_TRY(CommitWaiting(true));
    if (!recording()) {  // nothing can be taken any more: what follows needs the room
      for (const auto& stream : streams_) stream->waiting = ChunkSamples(stream->waiting.columns());
      encoder_.emplace();
      bytes_ = Bytes();  // {} would keep its room
    }
    HANDHOLD_TRY(InTransaction([&] { return PlaceGaps(db_); }));
    StopCheckpointer();
    if (!recording()) {
      HANDHOLD_TRY(db_.Execute("COMMIT"));
      HANDHOLD_TRY(Seal(db_, nullptr, false, {}));
      CloseDatabase();
      HANDHOLD_TRY(PublishFile(work_path_, path_, false));
      stage_ = Stage::kClosed;
      lock_ = WriterLock();
      return {};
    }
    insert_ = Statement();
    HANDHOLD_TRY(LeaveWal(db_));
    CloseDatabase();
    stage_ = Stage::kAlone;
  }
  HANDHOLD_TRY(Compact(path_, options_, false, progress));
  stage_ = Stage::kClosed;
  lock_ = WriterLock();
  return {};
}

}  // namespace

Result<std::unique_ptr<ClipWriter>> ClipWriter::Create(const std::string& path,
                                                       const recording::ClipInfo& info,
                                                       const ClipWriterOptions& options) {
  // A file written once needs no locks; a recording's log does.
  if (const std::string kind =
          NetworkFileSystem(std::filesystem::path(path).parent_path().string());
      !options.already_complete && !kind.empty()) {
    return Error{ErrorCode::kUnsupported,
                 path + ": lies on a network file system (" + kind +
                     "), where a recording's log can be corrupted; record to a local disk"};
  }
  auto recorder = std::make_unique<Recorder>(path, options);
  if (Status started = recorder->Start(info); !started) {
    recorder->Abandon();
    return started.error();
  }
  return std::unique_ptr<ClipWriter>(std::move(recorder));
}

}  // namespace handhold::store
