#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "database/base/digest.h"
#include "database/base/shell.h"
#include "database/store/catalogue.h"
#include "database/store/compaction.h"
#include "database/store/library_files.h"

namespace handhold::store {
namespace {

namespace fs = std::filesystem;

constexpr char kRebuild[] = "'handhold library rebuild'";

/// What the catalogue says, by the thing it says it of: the first column is its name (the id of a
/// clip, the hash of an artefact, the key of a setting). Keys of rows are left out, since another
/// catalogue numbers them otherwise, and the time of the file, which a copy changes.
struct Told {
  const char* table;
  const char* sql;
};
constexpr Told kOfClips[] = {
    {"clip",
     "SELECT id, path, name, subject, session, task, prop, take, utc_start_ns, duration_ns, "
     "closed, keep, red_count, gap_count, lost_samples, sha256, bytes, indexer FROM clip "
     "ORDER BY 1"},
    {"clip_property",
     "SELECT ifnull(id, ''), key, value FROM clip_property LEFT JOIN clip USING(clip) "
     "ORDER BY 1, 2"},
    {"clip_stream",
     "SELECT ifnull(id, ''), stream, s.name, kind, epoch, device, rate_hz, channels, samples, "
     "t_begin_ns, t_end_ns FROM clip_stream s LEFT JOIN clip USING(clip) ORDER BY 1, 2"},
    {"clip_channel",
     "SELECT ifnull(id, ''), stream, position, c.name, unit FROM clip_channel c "
     "LEFT JOIN clip USING(clip) ORDER BY 1, 2, 3"},
    {"clip_quality",
     "SELECT ifnull(id, ''), position, stream, what, value, worst, threshold, red, acknowledged "
     "FROM clip_quality LEFT JOIN clip USING(clip) ORDER BY 1, 2"},
    {"feature",
     "SELECT ifnull(id, ''), stream, channel, f.name, value, t_ns FROM feature f "
     "LEFT JOIN clip USING(clip) ORDER BY 1, 2, 3, 4"},
    {"clip_zone",
     "SELECT ifnull(id, ''), stream, sensor, data FROM clip_zone LEFT JOIN clip USING(clip) "
     "ORDER BY 1, 2, 3"},
    {"event",
     "SELECT ifnull(id, ''), t_ns, kind, origin, stream, length_ns, value, text FROM event "
     "LEFT JOIN clip USING(clip) ORDER BY 1, 2, 3, 4, 5, 6, 7, 8"},
    {"note",
     "SELECT ifnull(id, ''), source, text FROM note LEFT JOIN clip USING(clip) WHERE "
     "source<>'ledger' ORDER BY 1, 2, 3"},
};
constexpr Told kOfLedger[] = {
    {"tag",
     "SELECT ifnull(id, ''), kind, t.name, value, author, utc_ns, t_begin_ns, t_end_ns FROM tag t "
     "LEFT "
     "JOIN clip USING(clip) ORDER BY 1, 2, 3, 7, 8, 5"},
    {"note",
     "SELECT ifnull(id, ''), source, text FROM note LEFT JOIN clip USING(clip) WHERE "
     "source='ledger' ORDER BY 1, 2, 3"},
};
constexpr Told kOfArtefacts[] = {
    {"artefact",
     "SELECT hash, kind, step, version, parameters, made_utc_ns, tool, bytes, asked_utc_ns FROM "
     "artefact "
     "ORDER BY 1"},
    {"artefact_input",
     "SELECT hash, position, role, input, name FROM artefact_input ORDER BY 1, 2"},
};
constexpr Told kOfLibrary[] = {{"library", "SELECT key, value FROM library ORDER BY 1"}};

Result<std::map<std::string, Digest>> Digests(const Database& db, const char* sql) {
  std::map<std::string, Sha256> rows;
  HANDHOLD_ASSIGN(Statement list, db.Prepare(sql));
  std::vector<uint8_t> bytes;
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    bytes.clear();
    row.PutColumns(1, row.column_count(), bytes);
    rows[row.String(0)].Update(std::as_bytes(std::span(bytes)));
    return {};
  }));
  std::map<std::string, Digest> digests;
  for (const auto& [key, hash] : rows) digests[key] = hash.Finish();
  return digests;
}

class Checker {
 public:
  Checker(std::string path, const Database& catalogue, const Ledger& ledger)
      : path_(std::move(path)), catalogue_(&catalogue), ledger_(ledger) {}

  Result<Issues> Run(const Progress& progress) {
    HANDHOLD_ASSIGN(issues_, ledger_.Check());
    Issues told;
    if (auto known = GetIndexerOptions(*catalogue_)) indexer_ = *known;
    if (ledger_.readable()) {
      HANDHOLD_ASSIGN(indexer_, IndexerOf(ledger_, indexer_, told));
    }
    HANDHOLD_ASSIGN(expected_, CreateCatalogue("", indexer_));
    clips_ = FilesIn(path_ + "/clips", ".clip");
    artefacts_ = FilesIn(path_ + "/derived", ".art");
    const double total = static_cast<double>(clips_.size() + artefacts_.size());
    double done = 0;
    for (const bool artefact : {false, true}) {
      for (const std::string& name : artefact ? artefacts_ : clips_) {
        HANDHOLD_TRY(CheckFile((artefact ? "derived/" : "clips/") + name, artefact));
        if (progress && !progress(++done / total, name))
          return Error{ErrorCode::kCancelled, "check cancelled"};
      }
    }
    std::ranges::move(Leftovers(path_), std::back_inserter(issues_));
    for (const char* folder : kFolders) {
      std::error_code error;
      if (fs::exists(path_ + "/" + folder, error)) continue;
      Add(std::string(folder) + "/", Severity::kWarning,
          std::string("the folder is missing: ") + kRebuild +
              " makes it, empty; what was in it has to come from a copy");
    }
    CheckLineage();
    HANDHOLD_TRY(CheckCatalogue());
    return std::move(issues_);
  }

 private:
  void Add(const std::string& where, Severity severity, const std::string& what) {
    issues_.push_back({where, severity, what});
  }

  /// The file itself; its rows into the expected catalogue.
  Status CheckFile(const std::string& file, bool artefact) {
    const std::string path = path_ + "/" + file;
    if (const Status regular = RegularFile(path); !regular) {
      Add(file, Severity::kLoss, regular.error().message);
      return {};
    }
    const bool being_recorded = WriterLock::IsHeld(path);
    const bool closed = !being_recorded && LookAt(path).closed;
    if (being_recorded) {
      Add(file, Severity::kNote, "is being recorded");
      recorded_.insert(fs::path(file).stem().string());
    }
    Issues damage;
    ClipReaderOptions options;
    options.damage = &damage;
    options.untrusted = true;
    const Result<std::unique_ptr<ClipReader>> reader = ClipReader::Open(path, options);
    if (!reader) {
      Add(file, Severity::kLoss, reader.error().message);
    } else {
      HANDHOLD_ASSIGN(Issues found, (*reader)->Check());
      for (const Issue& issue : damage) {
        if (std::none_of(found.begin(), found.end(),
                         [&](const Issue& f) { return f.what == issue.what; }))
          found.push_back(issue);
      }
      for (const Issue& issue : found) Add(file + ", " + issue.where, issue.severity, issue.what);
      // Damage may have taken the word that it was closed; and what is damaged is not finished.
      if (!being_recorded && !(*reader)->closed() && damage.empty())
        Add(file, Severity::kWarning, "was never closed: 'handhold library rebuild --finish'");
    }
    // A journal is not asked for: opening the clip plays back and removes that of a program that
    // died.
    if (closed && !WriterLock::IsHeld(path)) {
      std::error_code error;
      if (fs::exists(fs::symlink_status(path + "-wal", error)))
        Add(file + "-wal", Severity::kWarning,
            std::string("lies beside a closed ") + (artefact ? "result" : "clip") +
                " and is no part of it, but SQLite may read it into it: `rm " +
                ShellWord(path + "-wal") + "` removes it");
    }
    if (being_recorded) return {};
    return artefact ? ExpectArtefact(file) : ExpectClip(file);
  }

  Status ExpectClip(const std::string& file) {
    Result<ClipRows> rows = ReadClipRows(path_ + "/" + file, indexer_, false);
    if (rows) {
      hashes_.insert(rows->sha256);
      const std::string id = rows->clip->info().id.ToString();
      const std::string copy = owners_.Claim(id, rows->file);
      if (!copy.empty()) Add("clips/" + copy, Severity::kWarning, owners_.CopyOf(id));
      return copy == rows->file ? Status() : PutClipRows(expected_, *rows);
    }
    if (const Result<std::string> hash = HashFile(path_ + "/" + file)) hashes_.insert(*hash);
    unreadable_.insert(fs::path(file).stem().string());
    return {};
  }

  Status ExpectArtefact(const std::string& file) {
    const std::string stem = fs::path(file).stem().string();
    hashes_.insert(stem);
    Result<ArtefactRows> rows = ReadArtefactRows(path_ + "/" + file);
    if (rows) {
      made_.push_back(rows->info);
      return PutArtefactRows(expected_, *rows);
    }
    unreadable_.insert(stem);
    Add(file, Severity::kLoss, rows.error().message);
    return {};
  }

  /// The file of the clip that had this hash when it was catalogued, if it can no longer be read.
  std::string DamagedClip(const std::string& sha256) const {
    auto find = catalogue_->Prepare("SELECT path FROM clip WHERE sha256=?1");
    if (!find) return "";
    const Result<bool> row = find->Bind(1, sha256).Step();
    if (!row || !*row) return "";
    const std::string file = find->String(0);
    return unreadable_.contains(fs::path(file).stem().string()) ? "clips/" + file : "";
  }

  void CheckLineage() {
    for (const ArtefactInfo& info : made_) {
      for (const artefact::ProvenanceInput& in : info.provenance.inputs) {
        if (in.role == "file" || hashes_.contains(in.hash)) continue;
        // A clip that is damaged has another hash now: it is here, and told as damaged.
        if (const std::string damaged = DamagedClip(in.hash); !damaged.empty()) {
          Add("derived/" + info.hash + ".art", Severity::kWarning,
              "was made from " + in.role + (in.name.empty() ? "" : " '" + in.name + "'") +
                  ", whose file is damaged: " + damaged);
          continue;
        }
        Add("derived/" + info.hash + ".art", Severity::kLoss,
            "was made from " + in.role + " " + in.hash +
                (in.name.empty() ? "" : " (" + in.name + ")") + ", which is not in this library");
      }
    }
  }

  Status CheckCatalogue() {
    const Result<std::string> verdict = catalogue_->QueryText("PRAGMA quick_check(1)");
    if (!verdict && verdict.error().code == ErrorCode::kBusy) return verdict.error();
    if (!verdict || *verdict != "ok") {
      Add("catalogue.db", Severity::kWarning, std::string("is damaged: ") + kRebuild);
    }
    // The index of words against the notes it is of; needs a lock, so not on a network's disk.
    if (NetworkFileSystem(path_).empty()) {
      Result<Statement> words = catalogue_->Prepare(
          "INSERT INTO note_text(note_text, rank) VALUES('integrity-check', 1)");
      const Status same = words ? words->Run() : Status(words.error());
      if (!same && same.error().code == ErrorCode::kCorrupt)
        Add("catalogue.db", Severity::kWarning,
            std::string("its index of words is not that of its notes: ") + kRebuild);
    }
    // What was stored or said while the files were read is in the catalogue, or about to be: asked
    // twice before it is called wrong.
    const Issues before = issues_;
    for (int round = 0; round < 2; ++round) {
      if (round > 0) HANDHOLD_TRY(ReadWhatCame());
      issues_ = before;
      absent_.clear();
      HANDHOLD_TRY(CompareAll());
      if (issues_.size() == before.size()) break;
    }
    return {};
  }

  Status CompareAll() {
    for (const Told& told : kOfClips) HANDHOLD_TRY(Compare(told, &Checker::OfClip));
    for (const Told& told : kOfArtefacts) HANDHOLD_TRY(Compare(told, &Checker::OfArtefact));
    for (const Told& told : kOfLibrary) HANDHOLD_TRY(Compare(told, &Checker::OfSetting));
    if (!ledger_.readable()) return {};
    const Result<int64_t> without =
        catalogue_->QueryInteger("SELECT count(*) FROM problem WHERE path='ledger.db'");
    if (without && *without > 0)
      Add("catalogue.db", Severity::kWarning,
          std::string("was written while the ledger could not be read: ") + kRebuild);
    Issues damage;
    HANDHOLD_ASSIGN(const std::vector<LedgerEntry> entries, ledger_.Current("", &damage));
    HANDHOLD_TRY(CopyLedger(expected_, entries, ""));
    for (const Told& told : kOfLedger) HANDHOLD_TRY(Compare(told, &Checker::OfEntry));
    HANDHOLD_ASSIGN(const auto said, SaidOfClips(ledger_));
    for (const auto& [id, what] : said) {
      if (!absent_.contains(id) && owners_.IsGone(path_, id))
        Add("clip " + id, Severity::kLoss, NoFile(what));
    }
    return {};
  }

  /// Clips and results that came since the files were listed, and the catalogue that has the name
  /// now. A moment's wait: between a file and its row.
  Status ReadWhatCame() {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (const std::string& name : FilesIn(path_ + "/clips", ".clip")) {
      const bool listed = std::find(clips_.begin(), clips_.end(), name) != clips_.end();
      if (listed || !RegularFile(path_ + "/clips/" + name)) continue;
      clips_.push_back(name);
      if (WriterLock::IsHeld(path_ + "/clips/" + name)) {
        recorded_.insert(fs::path(name).stem().string());
      } else {
        HANDHOLD_TRY(ExpectClip("clips/" + name));
      }
    }
    for (const std::string& name : FilesIn(path_ + "/derived", ".art")) {
      const bool listed = std::find(artefacts_.begin(), artefacts_.end(), name) != artefacts_.end();
      if (listed || !RegularFile(path_ + "/derived/" + name)) continue;
      artefacts_.push_back(name);
      HANDHOLD_TRY(ExpectArtefact("derived/" + name));
    }
    if (auto now = OpenCatalogue(path_ + "/catalogue.db"); now) {
      reopened_ = *std::move(now);
      catalogue_ = &reopened_;
    }
    return {};
  }

  Status Compare(const Told& told,
                 void (Checker::*differs)(const std::string& key, const char* table, bool there,
                                          bool expected)) {
    const auto there = Digests(*catalogue_, told.sql);
    if (!there) {
      if (there.error().code == ErrorCode::kBusy) return there.error();
      Add("catalogue.db", Severity::kWarning,
          std::string("its table '") + told.table + "' cannot be read: " + kRebuild);
      return {};
    }
    HANDHOLD_ASSIGN(const auto expected, Digests(expected_, told.sql));
    std::set<std::string> keys;
    for (const auto& [key, digest] : *there) keys.insert(key);
    for (const auto& [key, digest] : expected) keys.insert(key);
    for (const std::string& key : keys) {
      const auto a = there->find(key), b = expected.find(key);
      if (a != there->end() && b != expected.end() && a->second == b->second) continue;
      (this->*differs)(key, told.table, a != there->end(), b != expected.end());
    }
    return {};
  }

  static std::string NotAs(const char* table, const char* source) {
    return std::string("the catalogue's table '") + table + "' does not say what " + source +
           " says: " + kRebuild;
  }

  void OfClip(const std::string& id, const char* table, bool there, bool expected) {
    if (recorded_.contains(id) || unreadable_.contains(id)) return;
    const std::string file = "clips/" + id + ".clip";
    if (id.empty()) {
      Add("catalogue.db", Severity::kWarning,
          std::string("has rows of no clip in table '") + table + "': " + kRebuild);
    } else if (std::string_view(table) != "clip") {
      if (!absent_.contains(id)) Add(file, Severity::kWarning, NotAs(table, "the file"));
    } else if (!expected) {
      absent_.insert(id);
      std::error_code error;
      if (!fs::exists(path_ + "/" + file, error)) {
        Add(file, Severity::kLoss,
            std::string("is in the catalogue, but its file is gone: put it back from a copy; ") +
                kRebuild + " forgets what the catalogue knows of it");
      } else {
        Add(file, Severity::kLoss,
            "holds another clip, and the clip " + id +
                " of the catalogue is in no file: put a copy of it in its place");
      }
    } else if (!there) {
      absent_.insert(id);
      Add(file, Severity::kWarning, std::string("is not in the catalogue: ") + kRebuild);
    } else if (IsClosedIn(*catalogue_, id) && HashOf(*catalogue_, id) != HashOf(expected_, id)) {
      Add(file, Severity::kLoss,
          "is not the file that was catalogued (its SHA-256 differs): a recording does not change "
          "once it is closed");
    } else {
      Add(file, Severity::kWarning, NotAs(table, "the file"));
    }
  }

  /// A recording that was catalogued before it was closed is another file since.
  static bool IsClosedIn(const Database& db, const std::string& id) {
    Result<Statement> get = db.Prepare("SELECT closed FROM clip WHERE id=?1");
    if (!get) return true;
    const Result<bool> row = get->Bind(1, id).Step();
    return !row || !*row || get->Integer(0) != 0;
  }

  static std::string HashOf(const Database& db, const std::string& id) {
    Result<Statement> get = db.Prepare("SELECT sha256 FROM clip WHERE id=?1");
    if (!get) return "";
    const Result<bool> row = get->Bind(1, id).Step();
    return row && *row ? get->String(0) : "";
  }

  void OfArtefact(const std::string& hash, const char* table, bool, bool expected) {
    if (unreadable_.contains(hash)) return;
    const std::string file = "derived/" + hash + ".art";
    std::error_code error;
    if (expected) {
      Add(file, Severity::kWarning, NotAs(table, "the file"));
    } else if (std::string_view(table) == "artefact" && !fs::exists(path_ + "/" + file, error)) {
      Add(file, Severity::kLoss,
          "is in the catalogue, but its file is gone: " + MaderOf(*catalogue_, hash) +
              " makes it again, and " + kRebuild + " forgets it");
    }
  }

  /// What made a result that the catalogue knows.
  static std::string MaderOf(const Database& db, const std::string& hash) {
    Result<Statement> get = db.Prepare(
        "SELECT step, ifnull((SELECT name FROM artefact_input i WHERE i.hash=artefact.hash AND "
        "role='clip'), '') FROM artefact WHERE hash=?1");
    if (!get) return MadeAgainBy("", "");
    const Result<bool> row = get->Bind(1, hash).Step();
    return row && *row ? MadeAgainBy(get->String(0), get->String(1)) : MadeAgainBy("", "");
  }

  void OfSetting(const std::string& key, const char*, bool, bool) {
    Add("catalogue.db", Severity::kWarning,
        "its " + key + " is not the ledger's or this program's: " + kRebuild);
  }

  void OfEntry(const std::string& id, const char* table, bool, bool) {
    if (recorded_.contains(id) || unreadable_.contains(id) || absent_.contains(id)) return;
    Add("clips/" + id + ".clip", Severity::kWarning, NotAs(table, "the ledger"));
  }

  const std::string path_;
  const Database* catalogue_;
  Database reopened_;
  const Ledger& ledger_;
  IndexerOptions indexer_;
  Database expected_;  ///< what the catalogue should be: made anew, in memory or a temporary file
  std::vector<std::string> clips_, artefacts_;
  ClipOwners owners_;
  std::vector<ArtefactInfo> made_;
  std::set<std::string> hashes_;                          ///< of all clips and artefacts
  std::set<std::string> recorded_, unreadable_, absent_;  ///< by id or hash: told already
  Issues issues_;
};

}  // namespace

Result<Issues> CheckLibrary(const std::string& path, const Database& catalogue,
                            const Ledger& ledger, const Progress& progress) {
  return Checker(path, catalogue, ledger).Run(progress);
}

}  // namespace handhold::store
