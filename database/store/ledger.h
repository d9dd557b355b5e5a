/// What people say about clips: tags, ratings, grasp labels, notes, consent; append-only, with
/// author and time.
///
/// Nothing is ever changed or removed: a later entry replaces an earlier one and says which. The
/// catalogue copies what holds now. One writer at a time (SQLite's lock); a rollback journal, so
/// that any SQLite can read the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "database/base/id.h"
#include "database/base/time.h"
#include "database/store/sqlite.h"

namespace handhold::store {

enum class LedgerKind {
  kTag,     ///< name: the tag
  kRating,  ///< value: "1" (bad) to "5"; one holds per clip
  kLabel,  ///< name: what ("grasp"), value: which ("tip pinch"), span: when; one holds per name and
           ///< span
  kNote,   ///< value: text; each note stands for itself
  kConsent,  ///< of a subject, not a clip: name: what for ("publication"), value: "given",
             ///< "withdrawn", ...
  kSetting,  ///< of the library: name "contact_on_N" or "contact_off_N", value: the number
};
std::string_view LedgerKindName(LedgerKind kind);

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

class Ledger {
 public:
  /// Opens, creating it when `create`; kVersion, kInvalid for foreign or newer files.
  static Result<Ledger> Open(const std::string& path, bool create, bool read_only = false);
  Ledger(Ledger&&) = default;
  Ledger& operator=(Ledger&&) = default;

  /// Appends and syncs; answers the uid. kInvalid: no author, an empty name, a rating that is none,
  /// consent without a subject or anything else without a clip.
  Result<std::string> Append(LedgerEntry entry);
  /// Every entry about a clip (or a subject's consent), oldest first.
  Result<std::vector<LedgerEntry>> History(const std::string& clip_or_subject) const;
  /// What holds now, of a clip, of a subject's consent, or (empty) of all.
  Result<std::vector<LedgerEntry>> Current(const std::string& clip_or_subject = "") const;
  /// Entries made so far: tells whether a catalogue's copy is still good.
  Result<int64_t> Count() const;

 private:
  Ledger() = default;
  Database db_;
};

}  // namespace handhold::store
