#include "database/store/schema.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "database/base/check.h"

namespace handhold::store {

namespace migrations {
extern const std::string_view kClip0001;
extern const std::string_view kCatalogue0001;
extern const std::string_view kCatalogue0002;
extern const std::string_view kLedger0001;
extern const std::string_view kLedger0002;
}  // namespace migrations

namespace {

int32_t BigEndian(const uint8_t* p) {
  return static_cast<int32_t>(static_cast<uint32_t>(p[0]) << 24 |
                              static_cast<uint32_t>(p[1]) << 16 | static_cast<uint32_t>(p[2]) << 8 |
                              p[3]);
}

/// name -> SQL of every table a kind's newest schema has, as SQLite keeps it.
Result<std::map<std::string, std::string>> ExpectedTables(FileKind kind) {
  DatabaseOptions options;
  options.mode = OpenMode::kReadWrite;
  HANDHOLD_ASSIGN(Database memory, Database::Open(":memory:", options));
  for (const Migration& m : Migrations(kind))
    HANDHOLD_TRY(memory.Execute(std::string(m.sql).c_str()));
  std::map<std::string, std::string> tables;
  HANDHOLD_ASSIGN(Statement list,
                  memory.Prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    tables[row.String(0)] = row.String(1);
    return {};
  }));
  return tables;
}

}  // namespace

std::string_view FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kClip:
      return "clip";
    case FileKind::kCatalogue:
      return "catalogue";
    case FileKind::kLedger:
      return "ledger";
  }
  return "unknown";
}

const std::vector<Migration>& Migrations(FileKind kind) {
  static const std::vector<Migration> clip = {{1, migrations::kClip0001}};
  static const std::vector<Migration> catalogue = {{1, migrations::kCatalogue0001},
                                                   {2, migrations::kCatalogue0002}};
  static const std::vector<Migration> ledger = {{1, migrations::kLedger0001},
                                                {2, migrations::kLedger0002}};
  return kind == FileKind::kClip ? clip : kind == FileKind::kCatalogue ? catalogue : ledger;
}

int NewestRevision(FileKind kind) { return Migrations(kind).back().revision; }

Result<FileIdentity> IdentifyFile(const Database& db) {
  HANDHOLD_ASSIGN(const std::vector<uint8_t> head, db.ReadFileBytes(0, 100));
  if (head.size() < 100) return FileIdentity{};
  return FileIdentity{std::memcmp(head.data(), "SQLite format 3", 16) == 0,
                      BigEndian(head.data() + 68), BigEndian(head.data() + 60)};
}

Status CheckLength(const Database& db) {
  constexpr char kMagic[] = "SQLite format 3";  // with its final 0, what such a file begins with
  HANDHOLD_ASSIGN(const std::vector<uint8_t> head, db.ReadFileBytes(0, 100));
  if (head.empty() || std::memcmp(head.data(), kMagic, std::min(head.size(), sizeof kMagic)) != 0)
    return {};
  if (head.size() < 100) {
    return Error{ErrorCode::kCorrupt, db.path() + ": is cut off, with " +
                                          std::to_string(head.size()) +
                                          " bytes: copy it again from where it was whole"};
  }
  // A log or journal completes the file, or takes back what was begun. Asked for before the size:
  // whoever wrote removes it when the file is whole.
  for (const char* beside : {"-wal", "-journal"}) {
    std::error_code error;
    if (std::filesystem::file_size(db.path() + beside, error) > 0 && !error) return {};
  }
  const bool counted = std::memcmp(&head[24], &head[92], 4) == 0;  // else its page count is old
  const int64_t page = head[16] << 8 | head[17];
  const int64_t said = (page == 1 ? 65536 : page) *
                       static_cast<int64_t>(static_cast<uint32_t>(BigEndian(&head[28])));
  HANDHOLD_ASSIGN(const int64_t there, db.FileBytes());
  if (!counted || there >= said) return {};
  return Error{ErrorCode::kCorrupt, db.path() + ": is cut off, with " + std::to_string(there) +
                                        " of " + std::to_string(said) +
                                        " bytes: copy it again from where it was whole"};
}

Result<int> CheckHeader(const Database& db, FileKind kind) {
  HANDHOLD_ASSIGN(const FileIdentity identity, IdentifyFile(db));
  const std::string what(FileKindName(kind));
  if (!identity.sqlite) {
    HANDHOLD_TRY(CheckLength(db));
    HANDHOLD_ASSIGN(const int64_t bytes, db.FileBytes());
    return Error{ErrorCode::kInvalid,
                 db.path() + ": not a Handhold " + what +
                     (bytes == 0 ? " (it is empty)" : " (not even an SQLite file)")};
  }
  const int32_t application = identity.application, revision = identity.revision;
  if (application != static_cast<int32_t>(kind)) {
    std::string is = "made by another program";
    for (const FileKind other : {FileKind::kClip, FileKind::kCatalogue, FileKind::kLedger}) {
      if (application == static_cast<int32_t>(other))
        is = "it is a " + std::string(FileKindName(other));
    }
    return Error{ErrorCode::kInvalid, db.path() + ": not a Handhold " + what + " (" + is + ")"};
  }
  if (revision < 1)
    return Error{ErrorCode::kVersion,
                 db.path() + ": has no schema revision; it was never completely created"};
  if (revision > NewestRevision(kind)) {
    return Error{ErrorCode::kVersion,
                 db.path() + ": written by a newer Handhold (schema revision " +
                     std::to_string(revision) + ", this program reads up to " +
                     std::to_string(NewestRevision(kind)) + "): update Handhold"};
  }
  return static_cast<int>(revision);
}

std::function<Status(const Database&)> HeaderCheck(FileKind kind) {
  return [kind](const Database& db) -> Status {
    HANDHOLD_TRY(CheckHeader(db, kind));
    return CheckLength(db);
  };
}

Status Migrate(Database& db, FileKind kind, int from,
               const std::function<Status(Database&)>& complete) {
  HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(db));
  HANDHOLD_ASSIGN(const int64_t now, db.QueryInteger("PRAGMA user_version"));
  if (now > from) return {};  // another program was faster
  for (const Migration& m : Migrations(kind)) {
    if (m.revision > from) HANDHOLD_TRY(db.Execute(std::string(m.sql).c_str()));
  }
  HANDHOLD_TRY(
      db.Execute(("PRAGMA application_id=" + std::to_string(static_cast<int32_t>(kind))).c_str()));
  HANDHOLD_TRY(db.Execute(("PRAGMA user_version=" + std::to_string(NewestRevision(kind))).c_str()));
  if (complete) HANDHOLD_TRY(complete(db));
  return transaction.Commit();
}

Status CheckSchema(const Database& db, FileKind kind) {
  static const std::map<FileKind, std::map<std::string, std::string>> expected = [] {
    std::map<FileKind, std::map<std::string, std::string>> all;
    for (const FileKind k : {FileKind::kClip, FileKind::kCatalogue, FileKind::kLedger})
      all[k] = ExpectedTables(k).value();
    return all;
  }();
  const std::map<std::string, std::string>& ours = expected.at(kind);
  size_t found = 0;
  HANDHOLD_ASSIGN(Statement list,
                  db.Prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    const std::string type = row.String(0), name = row.String(1), sql = row.String(2);
    const auto known = ours.find(name);
    if (known != ours.end()) {
      ++found;
      if (sql == known->second) return {};
      return Error{ErrorCode::kVersion, db.path() + ": its table '" + name.substr(0, 40) +
                                            "' is not this program's (a damaged file, or one "
                                            "written while format 0 still changed)"};
    }
    if (type == "table" && sql.substr(0, 12) == "CREATE TABLE")
      return {};  // a later program's: left alone
    return Error{ErrorCode::kCorrupt, db.path() + ": has a " + type.substr(0, 10) + " '" +
                                          name.substr(0, 40) +
                                          "', which no Handhold file has; it is not trusted"};
  }));
  if (found != ours.size()) return Error{ErrorCode::kCorrupt, db.path() + ": tables are missing"};
  return {};
}

}  // namespace handhold::store
