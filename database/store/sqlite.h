/// SQLite behind RAII and Result: connections, statements, blobs. Together with sqlite.cc the only
/// place with <sqlite3.h>, save for virtual tables and functions (query).
///
/// Every connection is opened hardened: trusted_schema off, DEFENSIVE, cell sizes checked, limits
/// lowered, no memory map unless asked for. One connection per thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "database/base/result.h"

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_blob;

namespace handhold::store {

/// The oldest SQLite whose write-ahead log does not corrupt (WAL-reset bug, 3.7.0 to 3.51.2;
/// reproduced in reference/storage.md 2.3).
inline constexpr int kOldestSqlite = 3'051'003;

/// kVersion when `version` (as sqlite3_libversion_number() gives it) is older than kOldestSqlite.
/// Every open asks.
Status CheckSqliteVersion(int version);
/// Of the library linked in.
int LinkedSqliteVersion();

class Database;
class Statement;

/// How a file is opened; nothing here creates a folder.
enum class OpenMode {
  kRead,       ///< read-only
  kReadWrite,  ///< an existing file
  kCreate,     ///< a new file; kBusy when there is one
};

struct DatabaseOptions {
  OpenMode mode = OpenMode::kRead;
  std::string vfs;  ///< empty: the system's; tests inject failing ones
  int busy_timeout_ms = 5000;
  int64_t mmap_bytes = 0;  ///< only for finished, trusted files
  bool immutable = false;  ///< read-only media: no locks, no sidecar files
  int cache_kib = 2048;
  std::function<Status(const Database&)> inspect;  ///< asked before any SQL reads the file; an
                                                   ///< error refuses it untouched
};

/// One connection; closed when destroyed, after its statements. Calls block for at most the busy
/// timeout, and for the disk.
class Database {
 public:
  Database() = default;
  /// `path`: a regular file (kInvalid for anything else); ":memory:"; or "" for a database that
  /// SQLite keeps in memory as far as its cache goes, and in a temporary file beyond.
  static Result<Database> Open(const std::string& path, const DatabaseOptions& options);
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  /// One statement or several, without results.
  Status Execute(const char* sql);
  Result<Statement> Prepare(std::string_view sql, bool persistent = false) const;
  /// First column of the first row; kNotFound without one.
  Result<int64_t> QueryInteger(std::string_view sql) const;
  Result<std::string> QueryText(std::string_view sql) const;
  int64_t last_row_id() const;
  int64_t changes() const;  ///< rows that the last statement changed
  bool is_open() const { return handle_ != nullptr; }
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }

  /// Bytes [offset, offset + size) of the file itself, past SQLite's cache, through its VFS: no
  /// lock is taken and closing does not release those of other connections of this process. Fewer
  /// bytes than asked: the end of the file.
  Result<std::vector<uint8_t>> ReadFileBytes(int64_t offset, int size) const;
  Result<int64_t> FileBytes() const;  ///< the file's size, asked in the same way
  /// Aborts any statement after about this many virtual-machine steps (hostile files); 0: never.
  void LimitWork(int64_t steps);
  /// Copies what the log holds into the file without waiting for anyone. The pages in the log, and
  /// how many were copied.
  struct Checkpointed {
    int log_pages = 0, copied_pages = 0;
  };
  Result<Checkpointed> CheckpointPassive();
  /// Copies everything and cuts the log to 0 bytes; kBusy while a read transaction needs it.
  Status CheckpointTruncate();
  /// Fills the log up to `bytes` with zeros and syncs it. A commit that stays within them
  /// overwrites blocks the file has: its sync has no metadata to write. Zeros are no frames, so
  /// recovery stops at them. To be called before other connections write.
  Status ReserveWal(int64_t bytes);
  /// Pages in the log after the last commit of this connection; counted by a hook, so free.
  int wal_pages() const { return wal_pages_ ? *wal_pages_ : 0; }
  void WatchWal();

  /// The error of the connection's last call, as ours: kBusy, kCorrupt, kIo (with "disk full"
  /// named) or kInvalid.
  Error LastError(std::string_view doing) const;
  /// Also what the destructor does; errors are lost: Commit is what says that data is safe.
  void Close();

 private:
  sqlite3* handle_ = nullptr;
  std::string path_;
  std::unique_ptr<int> wal_pages_;
  std::unique_ptr<int64_t> work_left_;
};

/// kCorrupt: what is wrong with the file of this database.
Error CorruptFile(const Database& db, const std::string& what);

/// A compiled statement; finalised when destroyed. Must not outlive its connection. Text and blobs
/// it returns live until its next step or reset.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Statement();

  /// Parameters from 1. Bytes and text must live until the statement is reset.
  Statement& Bind(int i, int64_t value);
  Statement& Bind(int i, int value) { return Bind(i, static_cast<int64_t>(value)); }
  Statement& Bind(int i, double value);  ///< NaN becomes NULL
  Statement& Bind(int i, std::string_view text);
  Statement& Bind(int i, const char* text) { return Bind(i, std::string_view(text)); }
  Statement& Bind(int i, std::span<const uint8_t> bytes);
  Statement& BindNull(int i);

  /// True: there is a row to look at.
  Result<bool> Step();
  /// Runs to the end and resets.
  Status Run();
  /// Calls `row` for each row, resets; stops at its first error.
  Status ForEach(const std::function<Status(Statement&)>& row);
  /// Ready to be bound and stepped again; bindings stay.
  void Reset();

  int column_count() const;
  /// Columns from 0.
  int64_t Integer(int column) const;
  int Int(int column) const { return static_cast<int>(Integer(column)); }
  double Real(int column) const;  ///< NULL reads as NaN
  std::string_view Text(int column) const;
  std::string String(int column) const { return std::string(Text(column)); }
  std::span<const uint8_t> Blob(int column) const;
  bool IsNull(int column) const;
  int Type(int column) const;  ///< SQLITE_INTEGER 1, FLOAT 2, TEXT 3, BLOB 4, NULL 5
  /// Appends columns [first, end) of the row so that equal bytes mean equal values: a byte of type;
  /// integers and reals as 8 bytes; text and blobs as 64 bits of length and the bytes. What digests
  /// are made over.
  void PutColumns(int first, int end, std::vector<uint8_t>& bytes) const;
  sqlite3_stmt* handle() const { return handle_; }

 private:
  friend class Database;
  sqlite3_stmt* handle_ = nullptr;
};

/// A blob read in place; Move goes to another row without a new lookup of table and column.
class BlobHandle {
 public:
  BlobHandle() = default;
  static Result<BlobHandle> Open(const Database& db, const char* table, const char* column,
                                 int64_t row);
  BlobHandle(BlobHandle&& other) noexcept
      : db_(other.db_), handle_(std::exchange(other.handle_, nullptr)) {}
  BlobHandle& operator=(BlobHandle&& other) noexcept {
    std::swap(db_, other.db_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~BlobHandle();
  Status Move(int64_t row);  ///< a failure closes the handle
  bool is_open() const { return handle_ != nullptr; }
  int size() const;  ///< bytes of this row's blob
  Status Read(int offset, std::span<uint8_t> into) const;

 private:
  sqlite3* db_ = nullptr;
  sqlite3_blob* handle_ = nullptr;
};

/// BEGIN IMMEDIATE ... COMMIT; rolls back when destroyed without Commit.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& db);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database* db) : db_(db) {}
  Database* db_ = nullptr;
};

}  // namespace handhold::store
