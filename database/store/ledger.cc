#include "database/store/ledger.h"

#include <algorithm>
#include <map>
#include <set>

#include "database/base/digest.h"
#include "database/base/utf8.h"
#include "database/store/bytes.h"
#include "database/store/schema.h"

namespace handhold::store {
namespace {

constexpr LedgerKind kLedgerKinds[] = {
    LedgerKind::kTag,     LedgerKind::kRating,  LedgerKind::kLabel,      LedgerKind::kNote,
    LedgerKind::kConsent, LedgerKind::kSetting, LedgerKind::kCorrection, LedgerKind::kWithdrawn};
/// All columns in their order: what the digest is over, then the digest.
constexpr char kAllEntries[] =
    "SELECT id, uid, clip, subject, kind, name, value, removed, t_begin_ns, t_end_ns, replaces, "
    "author, utc_ns, digest FROM entry NOT INDEXED WHERE id>?1 ORDER BY id";
constexpr char kOneEntry[] =
    "SELECT id, uid, clip, subject, kind, name, value, removed, t_begin_ns, t_end_ns, replaces, "
    "author, utc_ns, digest FROM entry NOT INDEXED WHERE id=?1";
constexpr int kDigestColumn = 13;
/// The folder, too, is synced once the journal is gone from it: a journal that comes back after a
/// power cut undoes what was said.
constexpr char kDurable[] = "PRAGMA synchronous=EXTRA";

LedgerEntry ReadEntry(Statement& row) {
  LedgerEntry e;
  e.uid = row.String(1);
  e.clip = row.String(2);
  e.subject = row.String(3);
  for (const LedgerKind kind : kLedgerKinds) {
    if (LedgerKindName(kind) == row.Text(4)) e.kind = kind;
  }
  e.name = row.String(5);
  e.value = row.String(6);
  e.removed = row.Integer(7) != 0;
  if (!row.IsNull(8))
    e.span = TimeRange{Timestamp::FromNanoseconds(row.Integer(8)),
                       Timestamp::FromNanoseconds(row.Integer(9))};
  e.replaces = row.String(10);
  e.author = row.String(11);
  e.utc = Timestamp::FromNanoseconds(row.Integer(12));
  return e;
}

/// Of the row at hand of kColumns, after an entry whose digest is `before`.
Digest DigestOf(const Statement& row, const Digest& before) {
  Bytes bytes(before.bytes.begin(), before.bytes.end());
  row.PutColumns(0, kDigestColumn, bytes);
  return Sha256Of(std::as_bytes(std::span(bytes)));
}

/// All zero when the column holds no digest.
Digest StoredDigest(const Statement& row, int column) {
  Digest digest;
  const std::span<const uint8_t> stored = row.Blob(column);
  if (stored.size() == digest.bytes.size()) std::ranges::copy(stored, digest.bytes.begin());
  return digest;
}

/// As a finding names it; a damaged entry's words may be damaged too.
std::string Named(const LedgerEntry& e, int64_t id) {
  std::string text = "entry " + std::to_string(id) + " (" + std::string(LedgerKindName(e.kind));
  if (!e.name.empty()) text += " '" + e.name + "'";
  if (!e.clip.empty()) text += " of clip " + e.clip;
  if (!e.subject.empty()) text += " of subject " + e.subject;
  return text + " by " + e.author + ")";
}

/// All reads until it ends see the file at one moment; within a transaction they do anyway.
class Snapshot {
 public:
  explicit Snapshot(const Database& db) : db_(db), began_(Run("BEGIN")) {}
  ~Snapshot() {
    if (began_) Run("COMMIT");
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  bool Run(const char* sql) const {
    Result<Statement> statement = db_.Prepare(sql);
    return statement && statement->Run();
  }
  const Database& db_;
  bool began_;
};

/// Writes the digests of entries that have none yet, after `from`, and where the chain ends.
Status Chain(Database& db, int64_t from, Digest before) {
  HANDHOLD_ASSIGN(Statement list, db.Prepare(kAllEntries));
  HANDHOLD_ASSIGN(Statement put, db.Prepare("UPDATE entry SET digest=?1 WHERE id=?2"));
  int64_t added = 0;
  list.Bind(1, from);
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    ++added;
    before = DigestOf(row, before);
    return put.Bind(1, std::span(before.bytes)).Bind(2, row.Integer(0)).Run();
  }));
  // Counted on, not anew: entries that were lost before stay missed.
  HANDHOLD_ASSIGN(Statement head,
                  db.Prepare("UPDATE head SET entries=entries+?1, digest=?2 WHERE one=1"));
  return head.Bind(1, added).Bind(2, std::span(before.bytes)).Run();
}

/// Entries with the same key replace one another.
std::string KeyOf(const LedgerEntry& e) {
  std::string key = e.clip + '\n' + e.subject + '\n' + std::string(LedgerKindName(e.kind)) + '\n';
  if (e.kind != LedgerKind::kRating && e.kind != LedgerKind::kNote) key += e.name;
  if (e.kind == LedgerKind::kLabel && e.span)
    key += '\n' + std::to_string(e.span->begin.ns()) + ' ' + std::to_string(e.span->end.ns()) +
           '\n' + e.author;
  if (e.kind == LedgerKind::kNote) key += e.uid;
  return key;
}

/// What of a history still holds.
std::vector<LedgerEntry> Newest(const std::vector<LedgerEntry>& history) {
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

bool IsAbout(const LedgerEntry& e, const std::string& who) {
  return e.clip == who || (e.subject == who && e.kind == LedgerKind::kConsent);
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
    case LedgerKind::kCorrection:
      return "correction";
    case LedgerKind::kWithdrawn:
      return "withdrawn";
  }
  return "unknown";
}

std::span<const std::string_view> CorrectableFields() {
  static constexpr std::string_view kFields[] = {"name", "subject", "session", "task", "prop"};
  return kFields;
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
  if (e.kind == LedgerKind::kNote && e.value.empty()) return invalid("a note needs its text");
  if (e.kind == LedgerKind::kCorrection) {
    if (std::ranges::count(CorrectableFields(), e.name) == 0 || e.removed)
      return invalid("a correction is of name, subject, session, task or prop");
    if (e.name == "name" && e.value.empty()) return invalid("a clip needs a name");
  }
  if (e.kind == LedgerKind::kRating && !e.removed &&
      (e.value.size() != 1 || e.value[0] < '1' || e.value[0] > '5')) {
    return invalid("a rating is 1, 2, 3, 4 or 5");
  }
  for (const std::string* text : {&e.clip, &e.subject, &e.name, &e.value, &e.author}) {
    if (!IsUtf8(*text)) return invalid("an entry's words must be UTF-8");
  }
  return {};
}

Result<Ledger> Ledger::Open(const std::string& path, bool create, bool read_only) {
  Ledger ledger;
  DatabaseOptions options;
  if (create) {
    options.mode = OpenMode::kCreate;
    HANDHOLD_ASSIGN(ledger.db_, Database::Open(path, options));
    HANDHOLD_TRY(ledger.db_.Execute(kDurable));
    HANDHOLD_TRY(Migrate(ledger.db_, FileKind::kLedger, 0));
    return ledger;
  }
  options.mode = read_only ? OpenMode::kRead : OpenMode::kReadWrite;
  options.inspect = HeaderCheck(FileKind::kLedger);
  HANDHOLD_ASSIGN(ledger.db_, Database::Open(path, options));
  HANDHOLD_TRY(ledger.db_.Execute(kDurable));
  HANDHOLD_ASSIGN(const int revision, CheckHeader(ledger.db_, FileKind::kLedger));
  if (revision < NewestRevision(FileKind::kLedger)) {
    const Status migrated = read_only
                                ? Status(Error{ErrorCode::kIo, ""})
                                : Migrate(ledger.db_, FileKind::kLedger, revision,
                                          [](Database& db) { return Chain(db, 0, Digest()); });
    if (!migrated && migrated.error().code == ErrorCode::kIo) {
      return Error{ErrorCode::kVersion,
                   path + ": is of an earlier revision (" + std::to_string(revision) +
                       ") and can only be brought to this program's where it can be written: copy "
                       "the library to a local disk with room to write"};
    }
    if (!migrated) return migrated.error();
  }
  HANDHOLD_TRY(CheckSchema(ledger.db_, FileKind::kLedger));
  return ledger;
}

Ledger Ledger::Unreadable(Error why) {
  Ledger ledger;
  ledger.why_ = std::move(why);
  return ledger;
}

Result<std::string> Ledger::Append(LedgerEntry entry) {
  HANDHOLD_ASSIGN(const std::vector<std::string> uids, Append(std::vector{std::move(entry)}));
  return uids.front();
}

Result<std::vector<std::string>> Ledger::Append(std::vector<LedgerEntry> entries) {
  HANDHOLD_TRY(readable());
  for (const LedgerEntry& e : entries) HANDHOLD_TRY(CheckEntry(e));
  std::vector<std::string> uids;
  if (entries.empty()) return uids;
  HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(db_));
  HANDHOLD_ASSIGN(Statement newest,
                  db_.Prepare("SELECT id, digest FROM entry ORDER BY id DESC LIMIT 1"));
  HANDHOLD_ASSIGN(const bool any, newest.Step());
  const int64_t last = any ? newest.Integer(0) : 0;
  const Digest before = any ? StoredDigest(newest, 1) : Digest();
  newest.Reset();
  // The newest entry of each key. A damaged one cannot be named as replaced; what is said now holds
  // all the same.
  std::map<std::string, std::string> held;
  std::set<std::string> clips;
  for (const LedgerEntry& e : entries) held[KeyOf(e)], clips.insert(e.clip);
  Issues damage;
  HANDHOLD_TRY(Verify());
  for (const std::string& clip : clips) {
    HANDHOLD_TRY(VisitVerified(clip, damage, [&](const LedgerEntry& e) {
      if (const auto key = held.find(KeyOf(e)); key != held.end()) key->second = e.uid;
    }));
  }
  HANDHOLD_ASSIGN(Statement put, db_.Prepare("INSERT INTO entry VALUES(NULL, ?1, ?2, ?3, ?4, ?5, "
                                             "?6, ?7, ?8, ?9, ?10, ?11, ?12, x'')"));
  for (LedgerEntry& e : entries) {
    const std::string key = KeyOf(e);
    e.uid = uids.emplace_back(Uuid::New().ToString());
    if (e.utc == Timestamp()) e.utc = UtcNow();
    if (e.replaces.empty() && e.kind != LedgerKind::kNote) e.replaces = held[key];
    held[key] = e.uid;
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
  }
  HANDHOLD_TRY(Chain(db_, last, before));
  HANDHOLD_TRY(transaction.Commit());
  return uids;
}

Ledger::Verified::Verified() = default;

Status Ledger::Wrong(Issues* damage, const std::string& where, const std::string& what) const {
  if (damage == nullptr) {
    return Error{ErrorCode::kCorrupt,
                 db_.path() + ", " + where + ": " + what +
                     "; 'handhold library check' lists all, a copy of ledger.db mends them"};
  }
  damage->push_back({"ledger.db, " + where, Severity::kLoss, what});
  return {};
}

Status Ledger::Follow(Walk& walk, Issues* damage, const Visit& visit) const {
  const auto missing = [](int64_t first, int64_t end) {
    return "entries " + std::to_string(first) + " to " + std::to_string(end - 1);
  };
  HANDHOLD_ASSIGN(Statement list, db_.Prepare(kAllEntries));
  list.Bind(1, walk.expected - 1);
  Status listed = list.ForEach([&](Statement& row) -> Status {
    const int64_t id = row.Integer(0);
    if (id > walk.expected) HANDHOLD_TRY(Wrong(damage, missing(walk.expected, id), "are missing"));
    walk.expected = id + 1;
    ++walk.count;
    LedgerEntry entry = ReadEntry(row);
    const Digest here = StoredDigest(row, kDigestColumn);
    // Where the entry before is whole and only its digest damaged, that is its finding, not ours.
    const Digest should = DigestOf(row, walk.computed);
    const Digest before = here == should ? walk.computed : walk.stored;
    const bool whole = here == should || here == DigestOf(row, walk.stored);
    walk.stored = here;
    walk.computed = whole ? here : should;
    if (whole) {
      visit(std::move(entry), {id, before});
      return {};
    }
    return Wrong(damage, Named(entry, id), "is not as it was written (its digest does not match)");
  });
  if (listed) return {};
  if (damage == nullptr || listed.error().code != ErrorCode::kCorrupt) return listed;
  walk.unreadable = true;
  return Wrong(damage, "entries from " + std::to_string(walk.expected), "cannot be read");
}

Status Ledger::CheckEnd(const Walk& walk, Issues* damage) const {
  HANDHOLD_ASSIGN(Statement head, db_.Prepare("SELECT entries, digest FROM head WHERE one=1"));
  HANDHOLD_ASSIGN(const bool row, head.Step());
  const Digest last = row ? StoredDigest(head, 1) : Digest();
  if (row && head.Integer(0) == walk.count && (last == walk.computed || last == walk.stored))
    return {};
  return Wrong(damage, "end",
               "is not as it was written: " +
                   (row ? std::to_string(head.Integer(0)) : std::string("unknown")) +
                   " entries were made, " + std::to_string(walk.count) + " are there");
}

Status Ledger::Scan(Issues* damage, const Visit& visit) const {
  const Snapshot snapshot(db_);
  Walk walk;
  HANDHOLD_TRY(Follow(walk, damage, visit));
  return CheckEnd(walk, damage);
}

Status Ledger::Verify() {
  if (verified_ && verified_->walk.expected > 1) {
    // A file that was put in this one's place in the meantime ends otherwise.
    HANDHOLD_ASSIGN(Statement last, db_.Prepare("SELECT digest FROM entry WHERE id=?1"));
    last.Bind(1, verified_->walk.expected - 1);
    HANDHOLD_ASSIGN(const bool row, last.Step());
    if (!row || StoredDigest(last, 0) != verified_->walk.stored) verified_.reset();
  }
  if (!verified_ || verified_->walk.unreadable) verified_.emplace();
  Verified& v = *verified_;
  const Status followed = Follow(v.walk, &v.damage, [&](const LedgerEntry& e, const Link& link) {
    v.about[e.clip].push_back(link);
    if (e.kind == LedgerKind::kConsent && e.subject != e.clip) v.about[e.subject].push_back(link);
  });
  if (!followed) verified_.reset();
  return followed;
}

Status Ledger::VisitVerified(const std::string& about, Issues& damage,
                             const std::function<void(LedgerEntry)>& visit) const {
  const auto links = verified_->about.find(about);
  if (links == verified_->about.end()) return {};
  HANDHOLD_ASSIGN(Statement get, db_.Prepare(kOneEntry));
  for (const Link& link : links->second) {
    get.Bind(1, link.id);
    HANDHOLD_ASSIGN(const bool row, get.Step());
    if (!row) {
      HANDHOLD_TRY(Wrong(&damage, "entry " + std::to_string(link.id), "is missing"));
    } else if (DigestOf(get, link.before) != StoredDigest(get, kDigestColumn)) {
      HANDHOLD_TRY(Wrong(&damage, Named(ReadEntry(get), link.id),
                         "is not as it was written (its digest does not match)"));
    } else {
      visit(ReadEntry(get));
    }
    get.Reset();
  }
  return {};
}

Result<std::vector<LedgerEntry>> Ledger::Held(const std::string& about, Issues& damage) {
  HANDHOLD_TRY(readable());
  const Snapshot snapshot(db_);
  HANDHOLD_TRY(Verify());
  damage.insert(damage.end(), verified_->damage.begin(), verified_->damage.end());
  HANDHOLD_TRY(CheckEnd(verified_->walk, &damage));
  std::vector<LedgerEntry> history;
  HANDHOLD_TRY(VisitVerified(about, damage, [&](LedgerEntry e) {
    if (IsAbout(e, about)) history.push_back(std::move(e));
  }));
  return Newest(history);
}

Result<std::vector<LedgerEntry>> Ledger::History(const std::string& about, Issues* damage) const {
  HANDHOLD_TRY(readable());
  std::vector<LedgerEntry> entries;
  HANDHOLD_TRY(Scan(damage, [&](LedgerEntry e, const Link&) {
    if (about.empty() || IsAbout(e, about)) entries.push_back(std::move(e));
  }));
  return entries;
}

Result<std::vector<LedgerEntry>> Ledger::Current(const std::string& about, Issues* damage) const {
  HANDHOLD_ASSIGN(const std::vector<LedgerEntry> history, History(about, damage));
  return Newest(history);
}

Result<int64_t> Ledger::Count() const {
  HANDHOLD_TRY(readable());
  return db_.QueryInteger("SELECT count(*) FROM entry");
}

Result<Issues> Ledger::Check() const {
  if (why_) return Issues{{"ledger.db", Severity::kLoss, why_->message}};
  Issues issues;
  const Result<std::string> verdict = db_.QueryText("PRAGMA integrity_check(1)");
  if (!verdict && verdict.error().code == ErrorCode::kBusy) return verdict.error();
  if (!verdict || *verdict != "ok") {
    issues.push_back({"ledger.db", Severity::kWarning,
                      "SQLite finds its structure damaged: " +
                          (verdict ? verdict->substr(0, 200) : verdict.error().message)});
  }
  HANDHOLD_TRY(Scan(&issues, [](const LedgerEntry&, const Link&) {}));
  return issues;
}

}  // namespace handhold::store
