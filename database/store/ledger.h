/// What people say about clips: tags, ratings, grasp labels, notes, consent; append-only, with
/// author and time.
///
/// Nothing is ever changed or removed: a later entry replaces an earlier one and says which. The
/// catalogue copies what holds now. One writer at a time (SQLite's lock); a rollback journal, so
/// that any SQLite can read the file.
///
/// Every entry carries a SHA-256 over the one before it and its own values, and the file says where
/// that chain ends: an entry that is not as it was written is never answered.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/digest.h"
#include "database/base/id.h"
#include "database/base/issue.h"
#include "database/base/time.h"
#include "database/store/sqlite.h"

namespace handhold::store {

enum class LedgerKind {
  kTag,      ///< name: the tag
  kRating,   ///< value: "1" (bad) to "5"; one holds per clip
  kLabel,    ///< name: what ("grasp"), value: which ("tip pinch"), span: when; one holds per name,
             ///< span and, with a span, author
  kNote,     ///< value: text; each note stands for itself
  kConsent,  ///< of a subject, not a clip: name: what for ("publication"), value: "given",
             ///< "withdrawn", ...
  kCorrection,  ///< name: one of CorrectableFields, value: what it is instead of what the clip says
  kWithdrawn,   ///< value: why; the clip stays as it is, lists and queries leave it out
  kSetting,     ///< of the library: name "contact_on_N" or "contact_off_N", value: the number
};
std::string_view LedgerKindName(LedgerKind kind);
/// What a correction may be of: "name", "subject", "session", "task", "prop". Never removed: what
/// was said wrongly is corrected again.
std::span<const std::string_view> CorrectableFields();

struct LedgerEntry {
  std::string uid;      ///< set by Append
  std::string clip;     ///< clip id; empty for consent and settings
  std::string subject;  ///< pseudonym; for consent
  LedgerKind kind = LedgerKind::kTag;
  std::string name;
  std::string value;
  bool removed = false;           ///< this entry says that it no longer holds
  std::optional<TimeRange> span;  ///< clip time
  std::string replaces;  ///< uid of the entry it takes the place of; set by Append when empty and
                         ///< there is one
  std::string author;    ///< who says so; never empty
  Timestamp utc;
};

/// Why Append would refuse an entry: kInvalid, saying what is missing.
Status CheckEntry(const LedgerEntry& entry);

class Ledger {
 public:
  /// Opens, creating it when `create`; kVersion, kInvalid for foreign or newer files. A file of an
  /// earlier revision is brought to this program's, unless `read_only`: then kVersion.
  static Result<Ledger> Open(const std::string& path, bool create, bool read_only = false);
  /// Stands for a ledger that cannot be read, so that the clips beside it can: every call answers
  /// `why`, which should name the way out. Whoever needs consent gets none.
  static Ledger Unreadable(Error why);
  Ledger(Ledger&&) = default;
  Ledger& operator=(Ledger&&) = default;

  /// Why nothing can be read or said here; OK for a ledger that was opened.
  Status readable() const { return why_ ? Status(*why_) : Status(); }

  /// Appends and syncs; answers the uid. kInvalid: no author, an empty name, a rating that is none,
  /// consent without a subject or anything else without a clip. Verifies what Held verifies.
  Result<std::string> Append(LedgerEntry entry);
  /// The same for several: all of them or none.
  Result<std::vector<std::string>> Append(std::vector<LedgerEntry> entries);
  /// Every entry about a clip (or a subject's consent; empty: all), oldest first. The whole ledger
  /// is verified, some 5 us an entry: one that is damaged or missing, which may be about anything,
  /// is kCorrupt, naming it; with `damage` it is left out and told there.
  Result<std::vector<LedgerEntry>> History(const std::string& clip_or_subject,
                                           Issues* damage = nullptr) const;
  /// What holds now, of a clip, of a subject's consent, or (empty) of all. Damage: as History.
  Result<std::vector<LedgerEntry>> Current(const std::string& clip_or_subject = "",
                                           Issues* damage = nullptr) const;
  /// What Current answers, for whoever asks again and again: a Ledger verifies the whole file the
  /// first time, afterwards the entries that came since and those it answers, which are compared
  /// with what was verified. Damage that befalls other entries in the meantime is for Check. Costs
  /// about 100 bytes of memory an entry.
  Result<std::vector<LedgerEntry>> Held(const std::string& clip_or_subject, Issues& damage);
  /// Entries made so far: tells whether a catalogue's copy is still good.
  Result<int64_t> Count() const;
  /// Verifies every entry, the chain and its end, and SQLite's structure; findings name the entry.
  Result<Issues> Check() const;

 private:
  Ledger() = default;
  /// How far along the chain one is.
  struct Walk {
    Digest stored, computed;  ///< of the entry before: as it stands there, as it should be
    int64_t expected = 1;     ///< id of the next entry
    int64_t count = 0;        ///< entries that were there
    bool unreadable = false;  ///< and so not at the end
  };
  /// An entry that was found whole, and the digest that its own continues.
  struct Link {
    int64_t id;
    Digest before;
  };
  struct Verified {
    Verified();  ///< declared: clang 14 cannot see the implicit one from the optional below
    Walk walk;
    std::map<std::string, std::vector<Link>> about;  ///< by clip; consent also by subject
    Issues damage;
  };
  using Visit = std::function<void(LedgerEntry, const Link&)>;

  /// A finding: goes to `damage`, or with null is the error.
  Status Wrong(Issues* damage, const std::string& where, const std::string& what) const;
  /// Every entry from where `walk` is that is as it was written, oldest first.
  Status Follow(Walk& walk, Issues* damage, const Visit& visit) const;
  /// Whether the chain ends where the file says.
  Status CheckEnd(const Walk& walk, Issues* damage) const;
  /// The whole chain with its end, at one moment.
  Status Scan(Issues* damage, const Visit& visit) const;
  /// Brings `verified_` to the file's end; within a transaction.
  Status Verify();
  /// What `verified_` has about someone, oldest first, read and compared.
  Status VisitVerified(const std::string& about, Issues& damage,
                       const std::function<void(LedgerEntry)>& visit) const;

  Database db_;
  std::optional<Error> why_;  ///< of Unreadable
  std::optional<Verified> verified_;
};

}  // namespace handhold::store
