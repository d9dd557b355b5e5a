#include "database/store/ledger.h"

#include <algorithm>
#include <map>
#include <set>

#include "database/store/schema.h"

namespace handhold::store {
namespace {

constexpr LedgerKind kKinds[] = {LedgerKind::kTag,  LedgerKind::kRating,  LedgerKind::kLabel,
                                 LedgerKind::kNote, LedgerKind::kConsent, LedgerKind::kSetting};
constexpr char kColumns[] =
    "SELECT uid, clip, subject, kind, name, value, removed, t_begin_ns, t_end_ns, replaces, "
    "author, utc_ns FROM entry ";

LedgerEntry ReadEntry(Statement& row) {
  LedgerEntry e;
  e.uid = row.String(0);
  e.clip = row.String(1);
  e.subject = row.String(2);
  for (const LedgerKind kind : kKinds) {
    if (LedgerKindName(kind) == row.Text(3)) e.kind = kind;
  }
  e.name = row.String(4);
  e.value = row.String(5);
  e.removed = row.Integer(6) != 0;
  if (!row.IsNull(7))
    e.span = TimeRange{Timestamp::FromNanoseconds(row.Integer(7)),
                       Timestamp::FromNanoseconds(row.Integer(8))};
  e.replaces = row.String(9);
  e.author = row.String(10);
  e.utc = Timestamp::FromNanoseconds(row.Integer(11));
  return e;
}

/// Entries with the same key replace one another.
std::string KeyOf(const LedgerEntry& e) {
  std::string key = e.clip + '\n' + e.subject + '\n' + std::string(LedgerKindName(e.kind)) + '\n';
  if (e.kind != LedgerKind::kRating && e.kind != LedgerKind::kNote) key += e.name;
  if (e.kind == LedgerKind::kLabel && e.span)
    key += '\n' + std::to_string(e.span->begin.ns()) + ' ' + std::to_string(e.span->end.ns());
  if (e.kind == LedgerKind::kNote) key += e.uid;
  return key;
}

Status CheckEntry(const LedgerEntry& e) {
  const auto invalid = [](const char* what) { return Error{ErrorCode::kInvalid, what}; };
  if (e.author.empty())
    return invalid("an entry needs its author: pass --author, or set HANDHOLD_AUTHOR");
  if (e.kind == LedgerKind::kConsent   ? e.subject.empty()
      : e.kind == LedgerKind::kSetting ? !e.clip.empty() || !e.subject.empty()
                                       : e.clip.empty())
    return invalid("an entry needs what it is about");
  if ((e.kind == LedgerKind::kTag || e.kind == LedgerKind::kLabel ||
       e.kind == LedgerKind::kConsent || e.kind == LedgerKind::kSetting) &&
      e.name.empty()) {
    return invalid("an entry needs a name");
  }
  if (e.kind == LedgerKind::kRating && !e.removed &&
      (e.value.size() != 1 || e.value[0] < '1' || e.value[0] > '5')) {
    return invalid("a rating is 1, 2, 3, 4 or 5");
  }
  return {};
}

}  // namespace

std::string_view LedgerKindName(LedgerKind kind) {
  switch (kind) {
    case LedgerKind::kTag:
      return "tag";
    case LedgerKind::kRating:
      return "rating";
    case LedgerKind::kLabel:
      return "label";
    case LedgerKind::kNote:
      return "note";
    case LedgerKind::kConsent:
      return "consent";
    case LedgerKind::kSetting:
      return "setting";
  }
  return "unknown";
}

Result<Ledger> Ledger::Open(const std::string& path, bool create, bool read_only) {
  Ledger ledger;
  DatabaseOptions options;
  if (create) {
    options.mode = OpenMode::kCreate;
    HANDHOLD_ASSIGN(ledger.db_, Database::Open(path, options));
    HANDHOLD_TRY(ledger.db_.Execute("PRAGMA synchronous=FULL"));
    HANDHOLD_TRY(Migrate(ledger.db_, FileKind::kLedger, 0));
    return ledger;
  }
  options.mode = read_only ? OpenMode::kRead : OpenMode::kReadWrite;
  options.inspect = HeaderCheck(FileKind::kLedger);
  HANDHOLD_ASSIGN(ledger.db_, Database::Open(path, options));
  HANDHOLD_TRY(CheckSchema(ledger.db_, FileKind::kLedger));
  HANDHOLD_TRY(ledger.db_.Execute("PRAGMA synchronous=FULL"));
  return ledger;
}

Result<std::string> Ledger::Append(LedgerEntry e) {
  HANDHOLD_TRY(CheckEntry(e));
  e.uid = Uuid::New().ToString();
  if (e.utc == Timestamp()) e.utc = UtcNow();
  HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(db_));
  if (e.replaces.empty() && e.kind != LedgerKind::kNote) {
    HANDHOLD_ASSIGN(const std::vector<LedgerEntry> history,
                    History(e.kind == LedgerKind::kConsent ? e.subject : e.clip));
    for (const LedgerEntry& before : history) {
      if (KeyOf(before) == KeyOf(e)) e.replaces = before.uid;
    }
  }
  HANDHOLD_ASSIGN(
      Statement put,
      db_.Prepare(
          "INSERT INTO entry VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"));
  put.Bind(1, e.uid)
      .Bind(2, e.clip)
      .Bind(3, e.subject)
      .Bind(4, LedgerKindName(e.kind))
      .Bind(5, e.name)
      .Bind(6, e.value)
      .Bind(7, e.removed ? 1 : 0)
      .BindNull(8)
      .BindNull(9)
      .Bind(10, e.replaces)
      .Bind(11, e.author)
      .Bind(12, e.utc.ns());
  if (e.span) put.Bind(8, e.span->begin.ns()).Bind(9, e.span->end.ns());
  HANDHOLD_TRY(put.Run());
  HANDHOLD_TRY(transaction.Commit());
  return e.uid;
}

Result<std::vector<LedgerEntry>> Ledger::History(const std::string& about) const {
  std::vector<LedgerEntry> entries;
  HANDHOLD_ASSIGN(
      Statement list,
      db_.Prepare(std::string(kColumns) +
                  "WHERE ?1='' OR clip=?1 OR (subject=?1 AND kind='consent') ORDER BY id"));
  list.Bind(1, about);
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    entries.push_back(ReadEntry(row));
    return {};
  }));
  return entries;
}

Result<std::vector<LedgerEntry>> Ledger::Current(const std::string& about) const {
  HANDHOLD_ASSIGN(const std::vector<LedgerEntry> history, History(about));
  std::map<std::string, size_t> newest;
  std::set<std::string> replaced;
  for (size_t i = 0; i < history.size(); ++i) {
    newest[KeyOf(history[i])] = i;
    replaced.insert(history[i].replaces);
  }
  std::vector<LedgerEntry> current;
  for (size_t i = 0; i < history.size(); ++i) {
    const LedgerEntry& e = history[i];
    if (newest[KeyOf(e)] == i && !e.removed && !replaced.contains(e.uid)) current.push_back(e);
  }
  return current;
}

Result<int64_t> Ledger::Count() const { return db_.QueryInteger("SELECT count(*) FROM entry"); }

}  // namespace handhold::store
