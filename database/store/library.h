/// The library: a folder of recordings, derived results, what people said of them, and a catalogue
/// that finds them.
///
///   catalogue.db   a cache of everything else: deleting it costs a scan (Rebuild), never data
///   clips/<id>.clip, derived/<hash>.art, ledger.db, attachments/
///
/// Clips and artefacts are immutable once closed. One process may write the catalogue at a time
/// (SQLite's lock, waited for up to 5 s); any number read. Not thread-safe: one Library per thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/store/artefact_file.h"
#include "database/store/clip_reader.h"
#include "database/store/indexer.h"
#include "database/store/ledger.h"
#include "database/store/network_path.h"
#include "database/store/sqlite.h"

namespace handhold::store {

/// Called now and then; false cancels (kCancelled), leaving the catalogue as it was.
using Progress = std::function<bool(double fraction, std::string_view what)>;

/// A clip as the catalogue knows it: name, subject, session, task and prop as the ledger corrects
/// them. `prop` holds the models of all the take's props, parted by ", ".
struct ClipRow {
  int64_t row = 0;  ///< key within the catalogue; changes with a rebuild
  std::string id, path, name, subject, session, task, prop;
  int take = 0;
  Timestamp utc_start;
  Duration length;
  bool closed = true, keep = true;
  int64_t red_count = 0, gap_count = 0, lost_samples = 0;
  std::string sha256;  ///< of the file; provenance inputs name clips by it
  int64_t bytes = 0;
  std::vector<std::string> tags;
  std::optional<int> rating;
  bool withdrawn = false;
};

/// The models in ClipRow::prop; one empty text where it is empty.
std::vector<std::string> PropsOf(const std::string& prop);
/// SQL that is true of a row of the catalogue's `clip` whose props have the model `text`, itself an
/// SQL expression.
std::string HasProp(const std::string& text);

struct ClipFilter {
  // Empty: any.
  std::string subject = {};
  std::string task = {};
  std::string prop = {};
  std::string tag = {};
  bool withdrawn = false;  ///< those instead of the others
  int64_t limit = -1;      ///< -1: all
  int64_t offset = 0;
};

struct LibraryInfo {
  std::string path;
  int64_t clips = 0, unfinished = 0, artefacts = 0, bytes = 0, problems = 0;
  std::optional<int64_t> ledger_entries;  ///< none: the ledger cannot be read
  /// Files of clips/ that the catalogue does not know and that nobody writes, as a recorder leaves
  /// them that is killed: Rebuild takes them in. Those that it could not take are in `problems`.
  int64_t uncatalogued = 0;
  int64_t uncatalogued_unfinished = 0;  ///< of them never closed: Rebuild closes them with `finish`
  int64_t being_recorded = 0;           ///< not in the catalogue yet
  Duration recorded;
  IndexerOptions indexer;
};

class Library {
 public:
  /// Makes the folder and its files, each whole or not at all. Where there are clips or a catalogue
  /// without a ledger (it was lost, or moved away because it is damaged), another ledger is begun,
  /// which says nothing of them yet. kBusy when there is a library already; kUnsupported on a
  /// network file system, whose locks are not to be trusted.
  static Result<std::unique_ptr<Library>> Create(const std::string& path,
                                                 const IndexerOptions& indexer = {});
  /// Why Create would refuse, as far as can be told without making anything.
  static Status MayCreate(const std::string& path);
  /// Opens; a missing catalogue, or one of ours that is broken, is made anew first, by one program
  /// while others wait. kNotFound, naming the path, when it is no library; kInvalid, kVersion when
  /// the catalogue is another or a newer program's: it is left as it is. On a network file system
  /// it can be read; what writes answers kUnsupported. Where the folder cannot be written
  /// (read-only media), the catalogue that is missing is made in a temporary folder, for this
  /// Library alone, and a warning says so.
  ///
  /// A ledger that is missing, damaged, another or a newer program's does not close the clips: a
  /// warning says so and names the way out, ledger() answers nothing but that error (see there),
  /// and the file is not written. The catalogue then shows the tags and ratings it copied earlier;
  /// where it had to be made without a ledger they are unknown, and queries say so.
  static Result<std::unique_ptr<Library>> Open(const std::string& path);
  virtual ~Library() = default;

  virtual const std::string& path() const = 0;
  virtual Result<LibraryInfo> Info() const = 0;
  virtual const Database& catalogue() const = 0;  ///< for queries
  /// Ledger::readable() says whether it can be read: what needs consent refuses when it cannot.
  virtual const Ledger& ledger() const = 0;

  /// Completes what is needed to record a take: a new id where nil, the name "<task>_<number, 3
  /// digits>" where empty. The number follows those of all clip files there are, catalogued or not.
  virtual Result<recording::ClipInfo> NewTake(recording::ClipInfo info) const = 0;
  /// Until what it returns is given up, no other program's HoldNames answers (it waits, up to 30 s,
  /// then kBusy): hold it from NewTake until the clip's file is there, and no two takes get one
  /// name.
  virtual Result<std::shared_ptr<void>> HoldNames() = 0;
  /// Why a new clip could not be stored and catalogued, as far as can be told without writing more
  /// than a folder that is missing.
  virtual Status MayStore() const = 0;
  virtual std::string ClipPath(const ClipId& id) const = 0;
  /// Puts a closed clip of clips/ into the catalogue, again when it is there already.
  virtual Status Index(const ClipId& id) = 0;

  /// Clips of the catalogue for which an SQL condition on the table `clip` holds, with whatever
  /// follows it (ORDER BY); `bind` sets its parameters. For queries: text from outside never goes
  /// into the SQL.
  virtual Result<std::vector<ClipRow>> ClipsWhere(
      const std::string& condition, const std::function<void(Statement&)>& bind) const = 0;
  /// Newest first.
  virtual Result<std::vector<ClipRow>> Clips(const ClipFilter& filter = {}) const = 0;
  /// By id, the beginning of one, or name; kNotFound names the nearest, or the file that could not
  /// be catalogued, kInvalid an ambiguity.
  virtual Result<ClipRow> FindClip(const std::string& key) const = 0;
  /// Why nothing was found: where no clip at all has `value` as its `field` (subject, task, prop,
  /// name, session, tag, label, stream, marker, channel), that, with the nearest that some has;
  /// else empty.
  virtual Result<std::string> Nearest(const std::string& field, const std::string& value) const = 0;
  /// As FindClip; its info() is as the ledger corrects it. kCorrupt when the file holds another
  /// clip (files that were exchanged), kIo when it is gone. Who asks for what is left
  /// (options.damage) gets a clip that could not be catalogued too.
  virtual Result<std::unique_ptr<ClipReader>> OpenClip(
      const std::string& key, const ClipReaderOptions& options = {}) const = 0;

  /// What the catalogue lacks. As it was when the catalogue was made or written: what could not be
  /// catalogued, and clips that the ledger speaks of and that have no file. As it is now: files of
  /// clips/ that were never catalogued. A loss where answers lack it (a clip, a result, entries of
  /// the ledger), a warning where they do not (a copy of a clip, one that cannot be closed), a note
  /// for a take that is being recorded. Cost: a listing of clips/, opening no file.
  virtual Result<Issues> Problems() const = 0;

  /// Appends to the ledger, all of them or none. Then the catalogue's copy follows; where it cannot
  /// (it is missing, broken or held by another program), that is logged, and Rebuild makes it good.
  virtual Result<std::vector<std::string>> Say(const std::vector<LedgerEntry>& entries) = 0;
  Result<std::string> Say(const LedgerEntry& entry) {
    HANDHOLD_ASSIGN(const std::vector<std::string> uids, Say(std::vector{entry}));
    return uids.front();
  }

  virtual std::string ArtefactPath(const std::string& hash) const = 0;
  /// The hash when this step on these inputs with these parameters has been computed already.
  virtual Result<std::optional<std::string>> FindArtefact(
      const artefact::Provenance& provenance) const = 0;
  /// Why Save would refuse, as far as can be told without writing more than a folder that is
  /// missing: to be asked before long work.
  virtual Status MaySave() const = 0;
  /// Saves (see artefact_file.h) and catalogues.
  template <typename T>
  Result<std::string> Save(const T& value) {
    HANDHOLD_TRY(MaySave());
    HANDHOLD_ASSIGN(const std::string hash, SaveArtefact(derived_folder(), value));
    HANDHOLD_TRY(IndexArtefact(hash));
    return hash;
  }
  Result<std::string> Save(const artefact::Provenance& provenance,
                           const recording::ClipSource& streams) {
    HANDHOLD_TRY(MaySave());
    HANDHOLD_ASSIGN(const std::string hash, SaveArtefact(derived_folder(), provenance, streams));
    HANDHOLD_TRY(IndexArtefact(hash));
    return hash;
  }
  /// By when they were made, or last asked for again (Renew); the newest last.
  virtual Result<std::vector<ArtefactInfo>> Artefacts(const std::string& kind = "") const = 0;
  /// A result that is there was asked for again: from now on it is the newest. Kept in a file
  /// beside it, `derived/<hash>.renewed`, since its own is written once and the catalogue is a
  /// cache.
  virtual Status Renew(const std::string& hash) = 0;
  /// Lineage: what an artefact was made from, and what was made from a clip or artefact, directly.
  virtual Result<std::vector<artefact::ProvenanceInput>> Inputs(const std::string& hash) const = 0;
  virtual Result<std::vector<std::string>> MadeFrom(const std::string& hash) const = 0;

  /// Scans clips/, derived/ and the ledger into a new catalogue, which then replaces the old one
  /// whole. Files that cannot be read are listed and kept in the table `problem`; a catalogue that
  /// cannot be written (a full disk) ends the scan and leaves the old one. What killed programs
  /// left half-written, and never acknowledged, is removed and noted. `finish`: recordings that
  /// were cut off and that nobody writes are closed first. Takes may be recorded and stored
  /// meanwhile: what other programs add is in the new catalogue, and they find it by themselves.
  /// A loss is also a clip that the old catalogue knew, or that the ledger speaks of, and that is
  /// in no file: the new catalogue does not know it; and a closed clip whose file is not the one
  /// that the old catalogue knew (its SHA-256), which is taken as it is now. kBusy while another
  /// program does the same. Refused while the ledger cannot be read: the catalogue may hold the
  /// last copy of what was said.
  virtual Result<Issues> Rebuild(bool finish, const Progress& progress = {}) = 0;
  /// What Rebuild would do to the library at `path`. Writes nothing, not even a missing catalogue.
  /// Refused, as Rebuild is, where catalogue.db is another program's or a newer Handhold's.
  struct RebuildPlan {
    int64_t clips = 0, unfinished = 0, artefacts = 0;
    int64_t leftovers = 0;  ///< would be removed
    bool replaces = false;  ///< there is a catalogue
    Issues forgets;         ///< clips that it knows and that are in no file: losses
  };
  static Result<RebuildPlan> PlanRebuild(const std::string& path);
  /// Verifies every checksum of every file and every entry of the ledger, and that the catalogue
  /// says what they say: it is made anew beside (in a temporary file) and compared. A clip that the
  /// ledger speaks of and that is in no file is a loss; a log beside a closed clip a warning (a
  /// journal is played back as the clip is opened). Cost: that of reading every sample twice.
  virtual Result<Issues> Check(const Progress& progress = {}) const = 0;

 protected:
  virtual std::string derived_folder() const = 0;
  virtual Status IndexArtefact(const std::string& hash) = 0;
};

}  // namespace handhold::store
