#include "database/store/library_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "database/base/shell.h"
#include "database/store/catalogue.h"
#include "database/store/clip_writer.h"
#include "database/store/compaction.h"
#include "database/store/schema.h"

namespace handhold::store {

namespace fs = std::filesystem;

Result<FolderLock> FolderLock::Take(const std::string& folder, bool exclusive, Duration patience,
                                    const std::string& who) {
  FolderLock lock;
  lock.fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock.fd_ < 0) return Error{ErrorCode::kIo, folder + ": " + std::strerror(errno)};
  const Timestamp deadline = HostNow() + patience;
  while (::flock(lock.fd_, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return Error{ErrorCode::kIo, folder + ": cannot be locked: " + std::strerror(errno)};
    if (HostNow() >= deadline) return Error{ErrorCode::kBusy, folder + ": " + who};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return lock;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

Status MakeFolders(const std::string& path) {
  for (const char* folder : kFolders) {
    std::error_code error;
    fs::create_directories(path + "/" + folder, error);
    if (!error) continue;
    const bool full = error == std::errc::no_space_on_device;
    return Error{ErrorCode::kIo,
                 path + "/" + folder + ": cannot be made: " + error.message() +
                     (full ? "; free space there" : "; choose a folder that you may write in")};
  }
  return {};
}

std::vector<std::string> FilesIn(const std::string& folder, const char* extension) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status RegularFile(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {};
  return Error{ErrorCode::kInvalid,
               path +
                   (fs::exists(path, error) ? ": is no file, but a folder, pipe or device"
                                            : ": is a link to nothing") +
                   "; move it away"};
}

AsItLies LookAt(const std::string& file) {
  AsItLies clip;
  if (!RegularFile(file)) return clip;
  DatabaseOptions open;
  open.immutable = true;
  open.inspect = HeaderCheck(FileKind::kClip);
  const Result<Database> db = Database::Open(file, open);
  if (!db) return clip;
  const Result<int64_t> closed = db->QueryInteger("SELECT value FROM info WHERE key='closed'");
  clip.readable = static_cast<bool>(closed);
  clip.closed = closed && *closed != 0;
  if (const auto id = db->QueryText("SELECT value FROM info WHERE key='id'")) clip.id = *id;
  return clip;
}

Result<std::unique_ptr<ClipReader>> OpenRow(const std::string& path, const ClipRow& row,
                                            const ClipReaderOptions& options) {
  const std::string file = path + "/clips/" + row.path;
  ClipReaderOptions said = options;
  said.name = row.name;
  said.subject = row.subject;
  said.session = row.session;
  said.task = row.task;
  said.prop = row.prop;
  Result<std::unique_ptr<ClipReader>> clip = ClipReader::Open(file, said);
  if (!clip) {
    std::error_code error;
    if (clip.error().code != ErrorCode::kNotFound || fs::exists(file, error)) return clip;
    return Error{ErrorCode::kIo, file + ": clip " + row.id +
                                     " is in the catalogue, but its file is gone: put it back from "
                                     "a copy"};
  }
  if (const std::string id = (*clip)->info().id.ToString(); id != row.id) {
    return Error{ErrorCode::kCorrupt,
                 file + ": holds the clip " + id + " instead of " + row.id +
                     ": files were exchanged; 'handhold library rebuild' finds what is where"};
  }
  return clip;
}

std::string ClipOwners::Claim(const std::string& id, const std::string& file) {
  claimed_.insert(file);
  std::string& owner = owners_[id];
  if (owner.empty() || owner == file) {
    owner = file;
    return "";
  }
  return file == id + ".clip" ? std::exchange(owner, file) : file;
}

namespace {
constexpr char kCopyOf[] = "holds the clip ";
}

bool ClipOwners::IsCopy(const std::string& what) { return what.starts_with(kCopyOf); }

std::string ClipOwners::CopyOf(const std::string& id) const {
  return kCopyOf + id + ", which is taken from clips/" + owners_.at(id) + ": move the copy away";
}

bool ClipOwners::IsGone(const std::string& path, const std::string& id) const {
  if (owners_.contains(id)) return false;
  const std::string file = id + ".clip";
  std::error_code error;
  return claimed_.contains(file) || !fs::exists(fs::symlink_status(path + "/clips/" + file, error));
}

Result<std::map<std::string, std::string>> SaidOfClips(const Ledger& ledger) {
  struct Said {
    std::string rating;
    std::vector<std::string> tags;
    int labels = 0, notes = 0;
  };
  std::map<std::string, Said> clips;
  Issues damage;
  // All entries: of a clip that nobody speaks of any more there was a recording, too.
  HANDHOLD_ASSIGN(const std::vector<LedgerEntry> all, ledger.History("", &damage));
  for (const LedgerEntry& e : all) {
    if (!e.clip.empty()) clips[e.clip];
  }
  HANDHOLD_ASSIGN(const std::vector<LedgerEntry> now, ledger.Current("", &damage));
  for (const LedgerEntry& e : now) {
    if (e.clip.empty()) continue;
    Said& said = clips[e.clip];
    if (e.kind == LedgerKind::kRating) said.rating = e.value;
    if (e.kind == LedgerKind::kTag) said.tags.push_back(e.name);
    said.labels += e.kind == LedgerKind::kLabel ? 1 : 0;
    said.notes += e.kind == LedgerKind::kNote ? 1 : 0;
  }
  std::map<std::string, std::string> texts;
  for (const auto& [id, said] : clips) {
    std::string& text = texts[id];
    const auto add = [&text](const std::string& more) {
      text += (text.empty() ? "" : ", ") + more;
    };
    const auto count = [&add](int n, const char* what) {
      if (n > 0) add(std::to_string(n) + " " + what + (n == 1 ? "" : "s"));
    };
    if (!said.rating.empty()) add("rating " + said.rating);
    for (size_t i = 0; i < said.tags.size() && i < 5; ++i)
      add((i > 0 ? "" : said.tags.size() == 1 ? "tag " : "tags ") + said.tags[i]);
    if (said.tags.size() > 5) add("...");
    count(said.labels, "label");
    count(said.notes, "note");
    if (text.empty()) text = "what was taken back since";
  }
  return texts;
}

namespace {
constexpr char kBringBack[] =
    "put the file back into clips/ from a copy, then 'handhold library "
    "rebuild'";
std::string AlsoSaid(const std::string& said) {
  return said.empty() ? "" : ", and the ledger says of it: " + said;
}
}  // namespace

std::string NoFile(const std::string& said) {
  return "has no file" + AlsoSaid(said) + "; " + kBringBack;
}

namespace {
/// Two columns: keys and what they are of.
Result<std::map<std::string, std::string>> Pairs(const Database& catalogue, const char* sql) {
  std::map<std::string, std::string> pairs;
  HANDHOLD_ASSIGN(Statement list, catalogue.Prepare(sql));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    pairs[row.String(0)] = row.String(1);
    return {};
  }));
  return pairs;
}
}  // namespace

Result<std::map<std::string, std::string>> ClipNames(const Database& catalogue) {
  return Pairs(catalogue, "SELECT id, name FROM clip");
}

Result<std::map<std::string, std::string>> ClosedClipHashes(const Database& catalogue) {
  return Pairs(catalogue, "SELECT id, sha256 FROM clip WHERE closed<>0 AND sha256<>''");
}

std::string Forgotten(const std::string& name, const std::string& said) {
  return "has no file" + AlsoSaid(said) +
         "; this rebuild forgets what the catalogue knew of it as '" + name + "': " + kBringBack;
}

namespace {

struct Leftover {
  std::string where;  ///< "clips/<id>.clip.part"
  std::string file;   ///< the same, whole path
  std::string of;     ///< path of the clip or result it was to become, or whose lock it was
  bool ours = false;  ///< named as Handhold names what it writes here
};

/// What nobody holds the lock of.
std::vector<Leftover> FindLeftovers(const std::string& path) {
  std::vector<Leftover> found;
  std::error_code error;
  for (const auto& [folder, extension] : {std::pair("clips", ".clip"), {"derived", ".art"}}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path + "/" + folder, error)) {
      const std::string name = entry.path().filename().string();
      const size_t end = name.rfind(extension);
      if (end == std::string::npos) continue;
      const std::string stem = name.substr(0, end);
      const std::string rest = name.substr(end + std::strlen(extension));
      const std::string whole = path + "/" + folder + "/" + stem + extension;
      const bool part = rest == ".part" || rest == ".part-journal";
      if (!part && rest != "-lock") continue;
      // The lock of a recording that is not closed is taken over by whoever finishes that.
      if (!part && fs::exists(whole, error) && !LookAt(whole).closed) continue;
      if (WriterLock::IsHeld(whole) || !fs::is_regular_file(entry.symlink_status(error))) continue;
      const bool hash =
          stem.size() == 64 && stem.find_first_not_of("0123456789abcdef") == std::string::npos;
      found.push_back(
          {std::string(folder) + "/" + name, entry.path().string(), whole,
           folder == std::string_view("clips") ? ClipId::Parse(stem).has_value() : hash});
    }
  }
  std::ranges::sort(found, {}, &Leftover::where);
  return found;
}

constexpr char kLeftBy[] = "was left by a program that was killed, and nobody writes it: ";

}  // namespace

Issues Leftovers(const std::string& path) {
  Issues issues;
  for (const Leftover& left : FindLeftovers(path)) {
    const std::string rm = "`rm " + ShellWord(left.file) + "` removes it";
    issues.push_back({left.where, Severity::kWarning,
                      kLeftBy + (left.ours ? "'handhold library rebuild', or " + rm : rm) +
                          (left.file.ends_with("-lock")
                               ? ""
                               : "; a file that was being imported is imported again")});
  }
  return issues;
}

int64_t CountLeftovers(const std::string& path) {
  return std::ranges::count_if(FindLeftovers(path), &Leftover::ours);
}

Issues RemoveLeftovers(const std::string& path) {
  Issues removed;
  for (const Leftover& left : FindLeftovers(path)) {
    if (!left.ours) continue;
    // Whoever begins to write it meanwhile has the lock, and it is no leftover any more.
    const Result<WriterLock> lock = WriterLock::Take(left.of);
    if (!lock) continue;
    const bool was_lock = left.file.ends_with("-lock");  // goes when it is given up
    if (!was_lock && ::unlink(left.file.c_str()) != 0) continue;
    removed.push_back({left.where, Severity::kNote, std::string(kLeftBy) + "it was removed"});
  }
  return removed;
}

Result<IndexerOptions> IndexerOf(const Ledger& ledger, const IndexerOptions& known,
                                 Issues& damage) {
  IndexerOptions indexer = known;
  HANDHOLD_ASSIGN(const std::vector<LedgerEntry> entries, ledger.Current("", &damage));
  for (const LedgerEntry& e : entries) {
    if (e.kind != LedgerKind::kSetting) continue;
    if (e.name == "contact_on_N") indexer.contact_on_N = std::strtod(e.value.c_str(), nullptr);
    if (e.name == "contact_off_N") indexer.contact_off_N = std::strtod(e.value.c_str(), nullptr);
  }
  return indexer;
}

namespace {

/// A file as it was when it was read: what changed meanwhile is read again.
struct Seen {
  int64_t bytes = 0, mtime_ns = 0;
  bool operator==(const Seen&) const = default;
};

Seen Look(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {static_cast<int64_t>(status.st_size),
          static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
}

class Rebuilder {
 public:
  Rebuilder(std::string path, const Ledger& ledger, const IndexerOptions& indexer, bool finish,
            const Progress& progress)
      : path_(std::move(path)),
        ledger_(ledger),
        indexer_(indexer),
        finish_(finish),
        progress_(progress) {}

  Status Start(const std::string& fresh) {
    HANDHOLD_ASSIGN(db_, CreateCatalogue(fresh, indexer_));
    return db_.Execute("PRAGMA synchronous=OFF");  // synced as a whole before it is renamed
  }

  /// Reads what was not there, or was otherwise, when last asked.
  Status Scan(bool report_progress) {
    const std::vector<std::string> clips = FilesIn(path_ + "/clips", ".clip"),
                                   artefacts = FilesIn(path_ + "/derived", ".art");
    const double total = static_cast<double>(clips.size() + artefacts.size());
    double done = 0;
    for (const std::string& file : clips) {
      HANDHOLD_TRY(Take("clips/" + file, &Rebuilder::TakeClip));
      if (report_progress) HANDHOLD_TRY(Report(++done / total, file));
    }
    for (const std::string& file : artefacts) {
      HANDHOLD_TRY(Take("derived/" + file, &Rebuilder::TakeArtefact));
      if (report_progress) HANDHOLD_TRY(Report(++done / total, file));
    }
    return {};
  }

  Status CopyLedgerEntries() {
    if (const Status readable = ledger_.readable(); !readable)
      return Problem("ledger.db", readable.error().message);
    Issues damage;
    HANDHOLD_ASSIGN(const std::vector<LedgerEntry> entries, ledger_.Current("", &damage));
    for (const Issue& issue : damage) HANDHOLD_TRY(Problem(issue.where, issue.what));
    return CopyLedger(db_, entries, "");
  }

  /// Clips that were closed when the catalogue that is replaced was written, and whose file is
  /// another now (SHA-256 by id). Told once: the new catalogue takes the file as it is.
  Status NameWhatChanged(const std::map<std::string, std::string>& closed_before) {
    HANDHOLD_ASSIGN(Statement list, db_.Prepare("SELECT id, path, sha256 FROM clip"));
    return list.ForEach([&](Statement& row) -> Status {
      const auto was = closed_before.find(row.String(0));
      if (was == closed_before.end() || was->second == row.String(2)) return {};
      issues_.push_back({"clips/" + row.String(1), Severity::kLoss,
                         "is not the file that was catalogued: its SHA-256 was " +
                             was->second.substr(0, 12) + "... and is " +
                             row.String(2).substr(0, 12) +
                             "...; a recording does not change once it is closed: put a copy of it "
                             "in its place, unless the change was meant"});
      return {};
    });
  }

  /// Clips that are in no file, out of those that the ledger speaks of and those of the catalogue
  /// that is replaced (names by id). The latter are told once: nothing knows them afterwards.
  Status NameWhatIsGone(const std::map<std::string, std::string>& before) {
    std::map<std::string, std::string> said;
    if (ledger_.readable()) {
      HANDHOLD_ASSIGN(said, SaidOfClips(ledger_));
    }
    for (const auto& [id, what] : said) {
      if (!owners_.IsGone(path_, id)) continue;
      HANDHOLD_TRY(Problem("clip " + id, NoFile(what)));
    }
    for (const auto& [id, name] : before) {
      if (!owners_.IsGone(path_, id)) continue;
      const auto spoken_of = said.find(id);
      const bool known = spoken_of != said.end();
      const std::string where = "clip " + id;
      if (known) std::erase_if(issues_, [&](const Issue& issue) { return issue.where == where; });
      issues_.push_back({where, Severity::kLoss, Forgotten(name, known ? spoken_of->second : "")});
    }
    return {};
  }

  void Close() { db_.Close(); }
  Issues TakeIssues() { return std::move(issues_); }

 private:
  Status Report(double fraction, const std::string& file) {
    if (!progress_ || progress_(fraction, file)) return {};
    return Error{ErrorCode::kCancelled, "rebuild cancelled; the catalogue is as it was"};
  }

  Status Problem(const std::string& where, const std::string& what) {
    issues_.push_back({where, Severity::kLoss, what});
    HANDHOLD_ASSIGN(Statement put, db_.Prepare("INSERT OR REPLACE INTO problem VALUES(?1, ?2)"));
    return put.Bind(1, where).Bind(2, what).Run();
  }

  /// The file's own failure is written down; the catalogue's ends the rebuild.
  Status Take(const std::string& file, Result<Status> (Rebuilder::*read)(const std::string&)) {
    const Seen now = Look(path_ + "/" + file);
    if (const auto before = seen_.find(file); before != seen_.end() && before->second == now)
      return {};
    if (const Status regular = RegularFile(path_ + "/" + file); !regular) {
      seen_[file] = now;
      return Problem(file, regular.error().message);
    }
    HANDHOLD_ASSIGN(const Status own, (this->*read)(file));
    seen_[file] = read_;
    if (!own) {
      failed_.insert(file);
      return Problem(file, own.error().message);
    }
    if (failed_.erase(file) == 0) return {};
    // It was being made when it was first looked at.
    std::erase_if(issues_, [&](const Issue& issue) { return issue.where == file; });
    HANDHOLD_ASSIGN(Statement forget, db_.Prepare("DELETE FROM problem WHERE path=?1"));
    return forget.Bind(1, file).Run();
  }

  Result<Status> TakeClip(const std::string& file) {
    const std::string path = path_ + "/" + file;
    const Status finished = finish_ ? FinishClip(path) : Status();
    // Before it is read: a take that ends meanwhile is another file, and read again.
    read_ = Look(path);
    Result<ClipRows> rows = ReadClipRows(path, indexer_, true);
    if (!rows) return Status(rows.error());
    const std::string id = rows->clip->info().id.ToString();
    const std::string copy = owners_.Claim(id, rows->file);
    if (copy == rows->file) return Status(Error{ErrorCode::kInvalid, owners_.CopyOf(id)});
    HANDHOLD_TRY(PutClipRows(db_, *rows));
    if (!copy.empty()) HANDHOLD_TRY(Problem("clips/" + copy, owners_.CopyOf(id)));
    // Busy and closed: whoever recorded it is at the row of it.
    if (finished || (finished.error().code == ErrorCode::kBusy && rows->clip->closed()))
      return Status();
    if (finished.error().code == ErrorCode::kBusy && WriterLock::IsHeld(path)) {
      issues_.push_back({file, Severity::kNote, "is being recorded"});
    } else {
      HANDHOLD_TRY(Problem(file, "cannot be closed: " + finished.error().message));
    }
    return Status();
  }

  Result<Status> TakeArtefact(const std::string& file) {
    read_ = Look(path_ + "/" + file);
    Result<ArtefactRows> rows = ReadArtefactRows(path_ + "/" + file);
    if (!rows) return Status(rows.error());
    HANDHOLD_TRY(PutArtefactRows(db_, *rows));
    return Status();
  }

  const std::string path_;
  const Ledger& ledger_;
  const IndexerOptions indexer_;
  const bool finish_;
  const Progress& progress_;
  Database db_;
  std::map<std::string, Seen> seen_;
  Seen read_;  ///< the file being read, as it was before
  std::set<std::string> failed_;
  ClipOwners owners_;
  Issues issues_;
};

Result<Issues> MakeAndPublish(const std::string& path, const Ledger& ledger, bool finish,
                              const Progress& progress, const std::string& fresh) {
  IndexerOptions known;
  std::map<std::string, std::string> before, closed_before;
  if (const auto old = OpenCatalogue(path + "/catalogue.db")) {
    if (auto options = GetIndexerOptions(*old)) known = *options;
    if (auto names = ClipNames(*old)) before = *std::move(names);
    if (auto hashes = ClosedClipHashes(*old)) closed_before = *std::move(hashes);
  }
  Issues damage;  // told by CopyLedgerEntries
  IndexerOptions indexer = known;
  if (ledger.readable()) {
    HANDHOLD_ASSIGN(indexer, IndexerOf(ledger, known, damage));
  }
  Rebuilder rebuilder(path, ledger, indexer, finish, progress);
  HANDHOLD_TRY(rebuilder.Start(fresh));
  HANDHOLD_TRY(rebuilder.Scan(true));
  // Whoever stored a take meanwhile wrote its row into the old catalogue: nobody does from here on,
  // and what came since the scan is read now.
  HANDHOLD_ASSIGN(const FolderLock alone,
                  FolderLock::Take(path + "/clips", true, Duration::Seconds(60),
                                   "takes are being stored; the catalogue is as it was: try again "
                                   "when they are"));
  HANDHOLD_TRY(rebuilder.Scan(false));
  HANDHOLD_TRY(rebuilder.CopyLedgerEntries());
  HANDHOLD_TRY(rebuilder.NameWhatIsGone(before));
  HANDHOLD_TRY(rebuilder.NameWhatChanged(closed_before));
  rebuilder.Close();
  // A journal that a crashed program left belongs to the old file, not to what comes under its
  // name.
  ::unlink((path + "/catalogue.db-journal").c_str());
  HANDHOLD_TRY(PublishFile(fresh, path + "/catalogue.db", true));
  Issues issues = rebuilder.TakeIssues();
  std::ranges::move(Leftovers(path), std::back_inserter(issues));
  return issues;
}

}  // namespace

Result<Issues> RebuildCatalogue(const std::string& path, const Ledger& ledger, bool finish,
                                const Progress& progress) {
  HANDHOLD_TRY(MakeFolders(path));
  const std::string fresh = path + "/catalogue.db.new";
  const auto discard = [&] {
    for (const char* suffix : {"", "-journal"}) ::unlink((fresh + suffix).c_str());
  };
  discard();
  Result<Issues> issues = MakeAndPublish(path, ledger, finish, progress, fresh);
  if (!issues) discard();
  return issues;
}

Result<Issues> MakeCatalogueAside(const std::string& path, const Ledger& ledger,
                                  const std::string& file) {
  Issues damage;  // told by CopyLedgerEntries
  IndexerOptions indexer;
  if (ledger.readable()) {
    HANDHOLD_ASSIGN(indexer, IndexerOf(ledger, indexer, damage));
  }
  const Progress silent;
  Rebuilder rebuilder(path, ledger, indexer, false, silent);
  HANDHOLD_TRY(rebuilder.Start(file));
  HANDHOLD_TRY(rebuilder.Scan(false));
  HANDHOLD_TRY(rebuilder.CopyLedgerEntries());
  HANDHOLD_TRY(rebuilder.NameWhatIsGone({}));
  rebuilder.Close();
  return rebuilder.TakeIssues();
}

}  // namespace handhold::store
