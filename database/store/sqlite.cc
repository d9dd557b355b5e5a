#include "database/store/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "database/base/check.h"
#include "database/base/shell.h"
#include "database/store/bytes.h"
#include "database/store/file_uri.h"

namespace handhold::store {
namespace {

ErrorCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kBusy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_CANTOPEN:
      return ErrorCode::kNotFound;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return ErrorCode::kIo;
    case SQLITE_INTERRUPT:
      return ErrorCode::kCancelled;
    default:
      return ErrorCode::kInvalid;
  }
}

int CountdownHandler(void* left) {
  auto& steps = *static_cast<int64_t*>(left);
  steps -= 1000;
  return steps <= 0 ? 1 : 0;
}

void Harden(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 128);
  sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
  sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 16);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 4);
  sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 4);
}

/// `doing`: what was asked; empty where it says nothing.
Error ErrorOf(sqlite3* db, std::string_view doing) {
  const int code = db != nullptr ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
  const char* path = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr;
  std::string message = path != nullptr && *path != 0 ? std::string(path) + ": " : std::string();
  if (!doing.empty()) message += std::string(doing) + ": ";
  message += db != nullptr ? sqlite3_errmsg(db) : "out of memory";
  if ((code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE)
    message += " (free space and try again)";
  return {CodeOf(code), std::move(message)};
}

/// The open file behind a database (SQLITE_FCNTL_FILE_POINTER) or its log (..._JOURNAL_POINTER);
/// null: there is none.
sqlite3_file* FileOf(sqlite3* db, int which) {
  sqlite3_file* file = nullptr;
  const int rc = sqlite3_file_control(db, "main", which, reinterpret_cast<void*>(&file));
  return rc == SQLITE_OK && file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

/// How an error names the statement it befell: by its beginning, and not at all where the disk is
/// to blame, which does not depend on what was asked.
std::string_view NameOf(sqlite3* db, std::string_view sql) {
  switch (db != nullptr ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM) {
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "";
    default:
      return sql.substr(0, 60);
  }
}

}  // namespace

Status CheckSqliteVersion(int version) {
  if (version >= kOldestSqlite) return {};
  return Error{ErrorCode::kVersion, "SQLite " + std::to_string(version / 1'000'000) + "." +
                                        std::to_string(version / 1000 % 1000) + "." +
                                        std::to_string(version % 1000) +
                                        " can corrupt a recording (WAL-reset bug); Handhold needs "
                                        "3.51.3 or newer: run tools/setup "
                                        "and build again"};
}

int LinkedSqliteVersion() { return sqlite3_libversion_number(); }

Result<Database> Database::Open(const std::string& path, const DatabaseOptions& options) {
  // Nobody asks how much memory SQLite holds; counting it takes a lock for each block. For the
  // whole process; refused, and no matter, where a program used SQLite before.
  static const int uncounted = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)uncounted;
  HANDHOLD_TRY(CheckSqliteVersion(LinkedSqliteVersion()));
  Database db;
  db.path_ = path;
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (options.mode) {
    case OpenMode::kRead:
      flags |= SQLITE_OPEN_READONLY;
      break;
    case OpenMode::kReadWrite:
    case OpenMode::kCreate:
      flags |= SQLITE_OPEN_READWRITE;
      break;
  }
  const bool named = !path.empty() && path != ":memory:";
  // A pipe would be waited for, for ever.
  struct stat status {};
  if (named && ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return Error{ErrorCode::kInvalid, path + ": is no file, but a folder, pipe or device"};
  if (options.mode == OpenMode::kCreate && named) {  // SQLite's own flag for it is ignored on main
                                                     // files
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
      return Error{errno == EEXIST ? ErrorCode::kBusy : ErrorCode::kIo,
                   path + ": cannot be created: " + std::strerror(errno)};
    ::close(fd);
  }
  const std::string uri = !named ? path : FileUri(path, options.immutable ? "immutable=1" : "");
  const int rc = sqlite3_open_v2(uri.c_str(), &db.handle_, flags,
                                 options.vfs.empty() ? nullptr : options.vfs.c_str());
  if (rc != SQLITE_OK) return db.LastError("opening");
  Harden(db.handle_);
  sqlite3_busy_timeout(db.handle_, options.busy_timeout_ms);
  if (options.inspect) HANDHOLD_TRY(options.inspect(db));
  HANDHOLD_TRY(db.Execute("PRAGMA cell_size_check=ON"));
  HANDHOLD_TRY(db.Execute(("PRAGMA mmap_size=" + std::to_string(options.mmap_bytes)).c_str()));
  HANDHOLD_TRY(db.Execute(("PRAGMA cache_size=-" + std::to_string(options.cache_kib)).c_str()));
  return db;
}

Database::Database(Database&& other) noexcept { *this = std::move(other); }

Database& Database::operator=(Database&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  std::swap(wal_pages_, other.wal_pages_);
  std::swap(work_left_, other.work_left_);
  return *this;
}

Database::~Database() { Close(); }

void Database::Close() {
  if (handle_ != nullptr) sqlite3_close_v2(handle_);
  handle_ = nullptr;
}

Error Database::LastError(std::string_view doing) const {
  Error error = ErrorOf(handle_, doing);
  if (error.message.find(path_) == std::string::npos) error.message = path_ + ": " + error.message;
  if (error.code == ErrorCode::kBusy) {
    error.message += ": another program holds it; try again when that has ended (`fuser " +
                     ShellWord(path_) + "` names it)";
  }
  return error;
}

Status Database::Execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return LastError(NameOf(handle_, sql));
  return {};
}

Result<Statement> Database::Prepare(std::string_view sql, bool persistent) const {
  Statement statement;
  const unsigned flags = persistent ? SQLITE_PREPARE_PERSISTENT : 0;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), flags,
                         &statement.handle_, nullptr) != SQLITE_OK) {
    return LastError(NameOf(handle_, sql));
  }
  return statement;
}

Result<int64_t> Database::QueryInteger(std::string_view sql) const {
  HANDHOLD_ASSIGN(Statement statement, Prepare(sql));
  HANDHOLD_ASSIGN(const bool row, statement.Step());
  if (!row) return Error{ErrorCode::kNotFound, path_ + ": no row: " + std::string(sql)};
  return statement.Integer(0);
}

Result<std::string> Database::QueryText(std::string_view sql) const {
  HANDHOLD_ASSIGN(Statement statement, Prepare(sql));
  HANDHOLD_ASSIGN(const bool row, statement.Step());
  if (!row) return Error{ErrorCode::kNotFound, path_ + ": no row: " + std::string(sql)};
  return statement.String(0);
}

int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(handle_); }
int64_t Database::changes() const { return sqlite3_changes64(handle_); }

Result<int64_t> Database::FileBytes() const {
  sqlite3_file* file = FileOf(handle_, SQLITE_FCNTL_FILE_POINTER);
  if (file == nullptr) return Error{ErrorCode::kIo, path_ + ": cannot be read"};
  sqlite3_int64 end = 0;
  if (file->pMethods->xFileSize(file, &end) != SQLITE_OK)
    return Error{ErrorCode::kIo, path_ + ": its size cannot be read"};
  return end;
}

Result<std::vector<uint8_t>> Database::ReadFileBytes(int64_t offset, int size) const {
  HANDHOLD_ASSIGN(const int64_t end, FileBytes());
  sqlite3_file* file = FileOf(handle_, SQLITE_FCNTL_FILE_POINTER);
  const int64_t available = std::clamp<int64_t>(end - offset, 0, size);
  std::vector<uint8_t> bytes(static_cast<size_t>(available));
  if (available > 0 &&
      file->pMethods->xRead(file, bytes.data(), static_cast<int>(available), offset) != SQLITE_OK) {
    return Error{ErrorCode::kIo, path_ + ": cannot be read"};
  }
  return bytes;
}

void Database::LimitWork(int64_t steps) {
  if (steps == 0) {
    sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
    return;
  }
  work_left_ = std::make_unique<int64_t>(steps);
  sqlite3_progress_handler(handle_, 1000, &CountdownHandler, work_left_.get());
}

Result<Database::Checkpointed> Database::CheckpointPassive() {
  Checkpointed done;
  const int rc = sqlite3_wal_checkpoint_v2(handle_, "main", SQLITE_CHECKPOINT_PASSIVE,
                                           &done.log_pages, &done.copied_pages);
  if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY) return LastError("checkpoint");
  return done;
}

Status Database::CheckpointTruncate() {
  if (sqlite3_wal_checkpoint_v2(handle_, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr) !=
      SQLITE_OK) {
    return LastError("checkpoint");
  }
  return {};
}

Status Database::ReserveWal(int64_t bytes) {
  HANDHOLD_TRY(QueryInteger("SELECT count(*) FROM sqlite_schema"));  // opens the log
  sqlite3_file* log = FileOf(handle_, SQLITE_FCNTL_JOURNAL_POINTER);
  if (log == nullptr) return Error{ErrorCode::kInvalid, path_ + ": has no write-ahead log"};
  sqlite3_int64 at = 0;
  int rc = log->pMethods->xFileSize(log, &at);
  const std::vector<uint8_t> zeros(64 << 10);
  while (rc == SQLITE_OK && at < bytes) {
    const auto n = static_cast<int>(std::min<int64_t>(std::ssize(zeros), bytes - at));
    rc = log->pMethods->xWrite(log, zeros.data(), n, at);
    at += n;
  }
  if (rc == SQLITE_OK) rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (rc != SQLITE_OK)
    return Error{CodeOf(rc), path_ + ": no room for its log: " + sqlite3_errstr(rc)};
  return {};
}

void Database::WatchWal() {
  wal_pages_ = std::make_unique<int>(0);
  sqlite3_wal_hook(
      handle_,
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      wal_pages_.get());
}

Statement::~Statement() {
  if (handle_ != nullptr) sqlite3_finalize(handle_);
}

Statement& Statement::Bind(int i, int64_t value) {
  CHECK_EQ(sqlite3_bind_int64(handle_, i, value), SQLITE_OK);
  return *this;
}
Statement& Statement::Bind(int i, double value) {
  CHECK_EQ(sqlite3_bind_double(handle_, i, value), SQLITE_OK);
  return *this;
}
Statement& Statement::Bind(int i, std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() != nullptr ? text.data() : "";
  CHECK_EQ(sqlite3_bind_text64(handle_, i, data, text.size(), SQLITE_STATIC, SQLITE_UTF8),
           SQLITE_OK);
  return *this;
}
Statement& Statement::Bind(int i, std::span<const uint8_t> bytes) {
  const void* data = bytes.data() != nullptr ? static_cast<const void*>(bytes.data()) : "";
  CHECK_EQ(sqlite3_bind_blob64(handle_, i, data, bytes.size(), SQLITE_STATIC), SQLITE_OK);
  return *this;
}
Statement& Statement::BindNull(int i) {
  CHECK_EQ(sqlite3_bind_null(handle_, i), SQLITE_OK);
  return *this;
}

Result<bool> Statement::Step() {
  const int rc = sqlite3_step(handle_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  sqlite3* const db = sqlite3_db_handle(handle_);
  Error error = ErrorOf(db, NameOf(db, sqlite3_sql(handle_)));
  sqlite3_reset(handle_);
  return error;
}

Status Statement::Run() {
  for (;;) {
    HANDHOLD_ASSIGN(const bool row, Step());
    if (!row) break;
  }
  Reset();
  return {};
}

Status Statement::ForEach(const std::function<Status(Statement&)>& row) {
  for (;;) {
    HANDHOLD_ASSIGN(const bool more, Step());
    if (!more) break;
    if (Status status = row(*this); !status) {
      Reset();
      return status;
    }
  }
  Reset();
  return {};
}

void Statement::Reset() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
}

int Statement::column_count() const { return sqlite3_column_count(handle_); }
int64_t Statement::Integer(int column) const { return sqlite3_column_int64(handle_, column); }
double Statement::Real(int column) const {
  return IsNull(column) ? std::numeric_limits<double>::quiet_NaN()
                        : sqlite3_column_double(handle_, column);
}
std::string_view Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  return text == nullptr
             ? std::string_view()
             : std::string_view(text, static_cast<size_t>(sqlite3_column_bytes(handle_, column)));
}
std::span<const uint8_t> Statement::Blob(int column) const {
  const auto* bytes = static_cast<const uint8_t*>(sqlite3_column_blob(handle_, column));
  return bytes == nullptr ? std::span<const uint8_t>()
                          : std::span<const uint8_t>(
                                bytes, static_cast<size_t>(sqlite3_column_bytes(handle_, column)));
}
bool Statement::IsNull(int column) const { return Type(column) == SQLITE_NULL; }
int Statement::Type(int column) const { return sqlite3_column_type(handle_, column); }

void Statement::PutColumns(int first, int end, std::vector<uint8_t>& bytes) const {
  for (int c = first; c < end; ++c) {
    // The value itself: asking the statement for it again and again is most of the work.
    sqlite3_value* const value = sqlite3_column_value(handle_, c);
    const int type = sqlite3_value_type(value);
    bytes.push_back(static_cast<uint8_t>(type));
    if (type == SQLITE_INTEGER) {
      PutFixed<int64_t>(bytes, sqlite3_value_int64(value));
    } else if (type == SQLITE_FLOAT) {
      PutFixed(bytes, sqlite3_value_double(value));
    } else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
      const auto* data = static_cast<const uint8_t*>(sqlite3_value_blob(value));
      const auto size = static_cast<size_t>(sqlite3_value_bytes(value));
      PutFixed<uint64_t>(bytes, data == nullptr ? 0 : size);
      if (data != nullptr) bytes.insert(bytes.end(), data, data + size);
    }
  }
}

Result<BlobHandle> BlobHandle::Open(const Database& db, const char* table, const char* column,
                                    int64_t row) {
  BlobHandle blob;
  blob.db_ = db.handle();
  if (sqlite3_blob_open(db.handle(), "main", table, column, row, 0, &blob.handle_) != SQLITE_OK)
    return db.LastError("blob");
  return blob;
}

BlobHandle::~BlobHandle() {
  if (handle_ != nullptr) sqlite3_blob_close(handle_);
}

Status BlobHandle::Move(int64_t row) {
  if (sqlite3_blob_reopen(handle_, row) == SQLITE_OK) return {};
  Error error = ErrorOf(db_, "blob");
  sqlite3_blob_close(handle_);  // after a failed move the handle answers nothing but errors
  handle_ = nullptr;
  return error;
}

int BlobHandle::size() const { return sqlite3_blob_bytes(handle_); }

Status BlobHandle::Read(int offset, std::span<uint8_t> into) const {
  if (sqlite3_blob_read(handle_, into.data(), static_cast<int>(into.size()), offset) != SQLITE_OK)
    return ErrorOf(db_, "blob");
  return {};
}

Result<Transaction> Transaction::Begin(Database& db) {
  HANDHOLD_TRY(db.Execute("BEGIN IMMEDIATE"));
  return Transaction(&db);
}

Transaction::~Transaction() {
  // A failed statement (a full disk) may have rolled back already.
  if (db_ != nullptr && sqlite3_get_autocommit(db_->handle()) == 0)
    (void)db_->Execute("ROLLBACK").has_value();
}

Status Transaction::Commit() {
  HANDHOLD_TRY(db_->Execute("COMMIT"));
  db_ = nullptr;
  return {};
}

Error CorruptFile(const Database& db, const std::string& what) {
  return {ErrorCode::kCorrupt, db.path() + ": " + what};
}

}  // namespace handhold::store
