/// Which files are ours and which we may read: application ids, revisions, migrations, and the
/// checks before any SQL runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/store/sqlite.h"

namespace handhold::store {

/// What a database file is, by its application_id.
enum class FileKind : int32_t {
  kClip = 0x48486331,       ///< "HHc1": a recording or a derived result
  kCatalogue = 0x48486B31,  ///< "HHk1"
  kLedger = 0x48486C31,     ///< "HHl1"
};
std::string_view FileKindName(FileKind kind);

struct Migration {
  int revision;          ///< user_version after it
  std::string_view sql;  ///< schemas/migrations/<kind>_<revision>.sql, embedded when building
};
/// All migrations of a kind, ascending from revision 1.
const std::vector<Migration>& Migrations(FileKind kind);
int NewestRevision(FileKind kind);

/// Oldest program that can read (write) a file this program creates; stored in its info table as
/// min_reader, min_writer.
inline constexpr int kMinReader = 1;
inline constexpr int kMinWriter = 1;
/// 0 until version 1 is frozen: may change without migration.
inline constexpr int kFormatVersion = 0;

/// What the first 100 bytes say a file is, read without locks or SQL.
struct FileIdentity {
  bool sqlite = false;      ///< it begins as SQLite's files do
  int32_t application = 0;  ///< a FileKind, or another program's
  int32_t revision = 0;
};
Result<FileIdentity> IdentifyFile(const Database& db);

/// Reads the file's first 100 bytes, without locks or SQL, and refuses what is not an SQLite file
/// of this kind (kInvalid) or is of a revision beyond ours (kVersion). Answers the revision.
Result<int> CheckHeader(const Database& db, FileKind kind);
/// kCorrupt, with what is there and what should be, for an SQLite file that has fewer bytes than
/// its header says and that no log or journal completes. Without locks or SQL.
Status CheckLength(const Database& db);
/// CheckHeader and CheckLength, for DatabaseOptions::inspect.
std::function<Status(const Database&)> HeaderCheck(FileKind kind);
/// Runs the migrations after `from` (0: a new, empty file) and sets application_id and
/// user_version; then `complete`, which fills what SQL cannot. All in one transaction; nothing when
/// another program has done it meanwhile.
Status Migrate(Database& db, FileKind kind, int from,
               const std::function<Status(Database&)>& complete = {});
/// Refuses views, triggers and virtual tables that are not ours, and tables of ours that read
/// differently: what a hostile file could make our statements run.
Status CheckSchema(const Database& db, FileKind kind);

}  // namespace handhold::store
