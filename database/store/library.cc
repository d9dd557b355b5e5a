#include "database/store/library.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "database/base/check.h"
#include "database/base/log.h"
#include "database/base/names.h"
#include "database/base/shell.h"
#include "database/store/artefact_finder.h"
#include "database/store/catalogue.h"
#include "database/store/compaction.h"
#include "database/store/library_files.h"
#include "database/store/network_path.h"
#include "database/store/schema.h"
#include "database/text/file.h"

namespace handhold::store {
namespace {

namespace fs = std::filesystem;

constexpr char kClipColumns[] =
    "SELECT clip, id, path, name, subject, session, task, prop, take, utc_start_ns, duration_ns, "
    "closed, keep, red_count, gap_count, "
    "lost_samples, sha256, bytes, (SELECT group_concat(name, char(10)) FROM tag WHERE "
    "tag.clip=clip.clip AND kind='tag'), "
    "(SELECT value FROM tag WHERE tag.clip=clip.clip AND kind='rating'), "
    "EXISTS(SELECT 1 FROM tag WHERE tag.clip=clip.clip AND kind='withdrawn') FROM clip ";

ClipRow ReadClipRow(Statement& s) {
  ClipRow row;
  row.row = s.Integer(0);
  row.id = s.String(1);
  row.path = s.String(2);
  row.name = s.String(3);
  row.subject = s.String(4);
  row.session = s.String(5);
  row.task = s.String(6);
  row.prop = s.String(7);
  row.take = s.Int(8);
  row.utc_start = Timestamp::FromNanoseconds(s.Integer(9));
  row.length = Duration::Nanoseconds(s.Integer(10));
  row.closed = s.Integer(11) != 0;
  row.keep = s.Integer(12) != 0;
  row.red_count = s.Integer(13);
  row.gap_count = s.Integer(14);
  row.lost_samples = s.Integer(15);
  row.sha256 = s.String(16);
  row.bytes = s.Integer(17);
  std::string tags = s.String(18);
  for (size_t at = 0; at < tags.size();) {
    const size_t end = std::min(tags.find('\n', at), tags.size());
    row.tags.push_back(tags.substr(at, end - at));
    at = end + 1;
  }
  if (!s.IsNull(19)) row.rating = s.Int(19);
  row.withdrawn = s.Integer(20) != 0;
  return row;
}

/// Whether the folder holds clips of ours. The ledger or the catalogue may be lost, not both and
/// all clips; the folder of the clips may be where there is a ledger of ours.
bool IsLibrary(const std::string& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path + "/clips", error)) &&
      fs::is_regular_file(path + "/ledger.db", error)) {
    DatabaseOptions open;
    open.immutable = true;
    open.inspect = HeaderCheck(FileKind::kLedger);
    return static_cast<bool>(Database::Open(path + "/ledger.db", open));
  }
  return fs::is_directory(path + "/clips", error) &&
         (fs::exists(path + "/ledger.db", error) || fs::exists(path + "/catalogue.db", error) ||
          !FilesIn(path + "/clips", ".clip").empty());
}

/// A catalogue that could not be opened is ours to make anew when it is a cache that is missing or
/// broken, nobody else's file.
bool CanBeMade(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kCorrupt;
}

/// A new ledger with the settings, under any name.
Status MakeLedger(const std::string& file, const IndexerOptions& indexer) {
  HANDHOLD_ASSIGN(Ledger ledger, Ledger::Open(file, true));
  // In the ledger, since the catalogue is a cache: made anew, it must find the same contacts.
  for (const auto& [name, value] : {std::pair("contact_on_N", indexer.contact_on_N),
                                    std::pair("contact_off_N", indexer.contact_off_N)}) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    LedgerEntry entry;
    entry.kind = LedgerKind::kSetting;
    entry.name = name;
    entry.value = text;
    entry.author = "handhold library create";
    HANDHOLD_TRY(ledger.Append(entry));
  }
  return {};
}

Error SeveralClips(const std::string& key, const std::vector<std::string>& ids) {
  std::string text = "'" + key + "' is several clips:";
  for (size_t i = 0; i < std::min<size_t>(ids.size(), 5); ++i) text += " " + ids[i];
  return Error{ErrorCode::kInvalid, text + "; give the id"};
}

class FolderLibrary final : public Library {
 public:
  explicit FolderLibrary(std::string path) : path_(std::move(path)) {}
  ~FolderLibrary() override {
    catalogue_.Close();
    std::error_code error;
    if (!aside_.empty()) fs::remove_all(aside_, error);
  }
  Status Make(const IndexerOptions& indexer);
  Status Start();

  const std::string& path() const override { return path_; }
  Result<LibraryInfo> Info() const override;
  const Database& catalogue() const override { return catalogue_; }
  const Ledger& ledger() const override { return *ledger_; }
  Result<recording::ClipInfo> NewTake(recording::ClipInfo info) const override;
  Result<std::shared_ptr<void>> HoldNames() override;
  std::string ClipPath(const ClipId& id) const override {
    return path_ + "/clips/" + id.ToString() + ".clip";
  }
  Status Index(const ClipId& id) override;
  Result<std::vector<ClipRow>> ClipsWhere(
      const std::string& condition, const std::function<void(Statement&)>& bind) const override;
  Result<std::vector<ClipRow>> Clips(const ClipFilter& filter) const override;
  Result<ClipRow> FindClip(const std::string& key) const override;
  Result<std::string> Nearest(const std::string& field, const std::string& value) const override;
  Result<std::unique_ptr<ClipReader>> OpenClip(const std::string& key,
                                               const ClipReaderOptions& options) const override {
    Result<ClipRow> row = FindClip(key);
    if (options.damage == nullptr) {
      if (!row) return row.error();
      return OpenRow(path_, *row, options);
    }
    if (!row && row.error().code != ErrorCode::kNotFound) return row.error();
    // A file that no row knows may be meant as well as the clip that one does.
    HANDHOLD_ASSIGN(const Uncatalogued others, FindUncatalogued(key));
    std::map<std::string, std::string> files = others.files;
    if (row) files.erase(row->id);  // a copy of it
    if (files.size() + (row ? 1 : 0) > 1) {
      std::vector<std::string> ids;
      if (row) ids.push_back(row->id);
      for (const auto& [id, file] : files) ids.push_back(id);
      return SeveralClips(key, ids);
    }
    if (row) return OpenRow(path_, *row, options);
    if (files.empty()) return row.error();
    return ClipReader::Open(path_ + "/clips/" + files.begin()->second, options);
  }
  Result<Issues> Problems() const override;
  Result<std::vector<std::string>> Say(const std::vector<LedgerEntry>& entries) override;
  std::string ArtefactPath(const std::string& hash) const override {
    return derived_folder() + "/" + hash + ".art";
  }
  Result<std::optional<std::string>> FindArtefact(
      const artefact::Provenance& provenance) const override;
  Result<std::vector<ArtefactInfo>> Artefacts(const std::string& kind) const override;
  Status Renew(const std::string& hash) override;
  Result<std::vector<artefact::ProvenanceInput>> Inputs(const std::string& hash) const override;
  Status MayStore() const override {
    HANDHOLD_TRY(MayWrite({"", "/clips", "/catalogue.db"}));
    return MakeFolders(path_);
  }
  Status MaySave() const override {
    HANDHOLD_TRY(MayWrite({"", "/derived", "/catalogue.db"}));
    return MakeFolders(path_);
  }
  Result<std::vector<std::string>> MadeFrom(const std::string& hash) const override;
  Result<Issues> Rebuild(bool finish, const Progress& progress) override;
  Result<Issues> Check(const Progress& progress) const override;

 protected:
  std::string derived_folder() const override { return path_ + "/derived"; }
  Status IndexArtefact(const std::string& hash) override {
    HANDHOLD_ASSIGN(const ArtefactRows rows, ReadArtefactRows(ArtefactPath(hash)));
    HANDHOLD_ASSIGN(const FolderLock lock, BeginWriting());
    return PutArtefactRows(catalogue_, rows);
  }

 private:
  /// Whether what lies at these paths within the library (with their '/'; "": the folder itself)
  /// may be written; what is not there may be.
  Status MayWrite(std::initializer_list<const char*> what) const;
  Error CannotBeWritten(const std::string& cause, const std::string& fix) const {
    return {ErrorCode::kIo,
            "the library at " + path_ + " cannot be written: " + cause + "; " + fix};
  }
  /// Opens the ledger, or what stands for one that cannot be read.
  Status OpenTheLedger();
  Status OpenOrMakeTheCatalogue();
  /// Makes one for this program alone, in a temporary folder, and opens it.
  Status MakeTheCatalogueAside(const Error& why);
  /// What a catalogue that was just made lacks, where nobody asked for it.
  static void TellOfProblems(const Issues& issues);
  /// Opens the catalogue that stands under the name now.
  Status OpenTheCatalogue();
  /// Before rows are added: until the lock is given up, the catalogue at hand is the one that
  /// counts.
  Result<FolderLock> BeginWriting();
  /// Files of clips/ that no row knows: being recorded, or left by a recorder that died.
  Result<std::vector<std::string>> UncataloguedFiles() const;
  struct Outside {
    std::vector<std::string> recorded;  ///< being written now
    std::vector<std::string> left;      ///< by nobody, and nobody has tried to catalogue them
  };
  /// UncataloguedFiles without those that the table `problem` names.
  Result<Outside> FilesOutside() const;
  struct Uncatalogued {
    std::map<std::string, std::string> files;  ///< that the key names: by the id of their clip
    std::vector<std::string> nameless;  ///< ids of clips that can be read, but for their name
    int unreadable = 0;                 ///< files that do not say which clip they hold
  };
  Result<Uncatalogued> FindUncatalogued(const std::string& key) const;
  /// Why a clip that is in this file of clips/ is not in the catalogue.
  Error NotCatalogued(const std::string& key, const std::string& file) const;
  /// What the ledger says of a clip, as far as it is whole.
  Status CopyEntries(const std::string& clip_id);
  std::string CataloguePath() const { return (aside_.empty() ? path_ : aside_) + "/catalogue.db"; }
  std::string path_;
  std::string aside_;  ///< temporary folder of the catalogue of a library that cannot be written
  Database catalogue_;
  ino_t catalogue_inode_ = 0;
  std::optional<Ledger> ledger_;
};

Status FolderLibrary::Make(const IndexerOptions& indexer) {
  HANDHOLD_TRY(Library::MayCreate(path_));
  HANDHOLD_TRY(MakeFolders(path_));
  // Under other names first: a creation that is cut off leaves no half of a ledger or catalogue.
  const std::string fresh = path_ + "/ledger.db.new";
  const auto discard = [&] {
    for (const char* suffix : {"", "-journal"}) ::unlink((fresh + suffix).c_str());
  };
  discard();
  Status made = MakeLedger(fresh, indexer);
  if (made) made = PublishFile(fresh, path_ + "/ledger.db", false);
  discard();
  if (!made) return made;
  HANDHOLD_ASSIGN(ledger_, Ledger::Open(path_ + "/ledger.db", false));
  HANDHOLD_TRY(RebuildCatalogue(path_, *ledger_, false, {}));
  return OpenTheCatalogue();
}

Status FolderLibrary::MayWrite(std::initializer_list<const char*> what) const {
  if (const std::string kind = NetworkFileSystem(path_); !kind.empty()) {
    return Error{ErrorCode::kUnsupported,
                 path_ + ": lies on a network file system (" + kind +
                     "), whose locks cannot be trusted: it can be read there, but not written; "
                     "copy the library to a local disk"};
  }
  for (const char* part : what) {
    const std::string file = path_ + part;
    if (::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0 || errno == ENOENT) continue;
    const int why = errno;
    return CannotBeWritten(file + ": " + std::strerror(why),
                           why == EROFS
                               ? "copy the library to a disk that can be written"
                               : "ask its owner for the right to write it, or copy the library");
  }
  return {};
}

Status FolderLibrary::Start() {
  if (!IsLibrary(path_)) {
    return Error{ErrorCode::kNotFound,
                 path_ + ": is no library (no clips/ and ledger.db); `handhold library create " +
                     ShellWord(path_) + "` makes one"};
  }
  HANDHOLD_TRY(OpenTheLedger());
  HANDHOLD_TRY(OpenOrMakeTheCatalogue());
  const Result<int64_t> without =
      catalogue_.QueryInteger("SELECT count(*) FROM problem WHERE path='ledger.db'");
  if (ledger_->readable() && without && *without > 0) {
    Log(LogLevel::kWarning, "catalogue.without_ledger",
        {{"unknown",
          "tags, ratings and notes: the catalogue was written while the ledger could "
          "not be read"},
         {"fix", "'handhold library rebuild' copies them"}});
  }
  return {};
}

Status FolderLibrary::OpenTheLedger() {
  const std::string file = path_ + "/ledger.db";
  const auto open = [&]() -> Result<Ledger> {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(file, error)))
      return Error{ErrorCode::kNotFound, file + ": is missing"};
    HANDHOLD_TRY(RegularFile(file));
    // Bringing a ledger to this revision writes it, which a network's disk is not fit for.
    if (!NetworkFileSystem(path_).empty()) HANDHOLD_TRY(Ledger::Open(file, false, true));
    return Ledger::Open(file, false);
  };
  Result<Ledger> ledger = open();
  if (!ledger && ledger.error().code == ErrorCode::kBusy) return ledger.error();
  if (ledger) {
    ledger_ = *std::move(ledger);
    return {};
  }
  // A newer program's is whole, and says itself what helps.
  const bool newer = ledger.error().message.ends_with("update Handhold");
  const std::string fix =
      newer ? "update Handhold"
            : "put a copy of ledger.db in its place; without one, move away what is there, and "
              "`handhold library create " +
                  ShellWord(path_) + "` begins another, which says nothing yet";
  Log(LogLevel::kWarning, "ledger.unreadable",
      {{"why", ledger.error().message},
       {"unknown", "tags, ratings, labels, notes and consent; nothing can be said"},
       {"fix", fix}});
  ledger_ =
      Ledger::Unreadable({ledger.error().code, ledger.error().message + (newer ? "" : "; " + fix)});
  return {};
}

Status FolderLibrary::OpenOrMakeTheCatalogue() {
  Status opened = OpenTheCatalogue();
  if (opened || !CanBeMade(opened.error())) return opened;
  if (const Status may = MayWrite({""}); !may) return MakeTheCatalogueAside(may.error());
  // Several programs may have found it lost: one makes it, the others wait and take that.
  HANDHOLD_ASSIGN(const FolderLock alone,
                  FolderLock::Take(path_, true, Duration::Seconds(600),
                                   "another program is making the catalogue anew; try again"));
  Status again = OpenTheCatalogue();
  if (again || !CanBeMade(again.error())) return again;
  HANDHOLD_ASSIGN(const Issues issues, RebuildCatalogue(path_, *ledger_, false, {}));
  TellOfProblems(issues);
  return OpenTheCatalogue();
}

void FolderLibrary::TellOfProblems(const Issues& issues) {
  for (const Issue& issue : issues) {
    if (issue.severity < Severity::kWarning) continue;
    Log(LogLevel::kWarning, "catalogue.problem",
        {{"where", issue.where},
         {"what", issue.what},
         {"fix", "'handhold library check' says what is left"}});
  }
}

Status FolderLibrary::MakeTheCatalogueAside(const Error& why) {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  std::string folder = (error ? fs::path("/tmp") : temporary) / "handhold-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    const std::string cause = std::strerror(errno);
    return Error{why.code, "its catalogue is missing and cannot be made: " + why.message +
                               "; nor one for now in " + folder + " (" + cause +
                               "): name a folder in TMPDIR that can be written"};
  }
  aside_ = folder;
  HANDHOLD_ASSIGN(const Issues issues, MakeCatalogueAside(path_, *ledger_, CataloguePath()));
  Log(LogLevel::kWarning, "catalogue.aside",
      {{"why", why.message},
       {"what",
        "its catalogue is missing or broken; one was made for this program alone, which takes as "
        "long as a rebuild each time"},
       {"fix",
        "copy the library to where it can be written, and 'handhold library rebuild' there"}});
  TellOfProblems(issues);
  return OpenTheCatalogue();
}

Status FolderLibrary::OpenTheCatalogue() {
  struct stat status {};
  const bool there = ::stat(CataloguePath().c_str(), &status) == 0;
  HANDHOLD_ASSIGN(catalogue_, OpenCatalogue(CataloguePath()));
  catalogue_inode_ = there ? status.st_ino : 0;
  return {};
}

Result<FolderLock> FolderLibrary::BeginWriting() {
  HANDHOLD_TRY(MayWrite({"", "/catalogue.db"}));
  HANDHOLD_TRY(MakeFolders(path_));
  HANDHOLD_ASSIGN(FolderLock lock,
                  FolderLock::Take(path_ + "/clips", false, Duration::Seconds(120),
                                   "a new catalogue is being put in place; try again"));
  // A catalogue that was made anew since we opened ours has taken its name.
  struct stat status {};
  if (::stat(CataloguePath().c_str(), &status) != 0 || status.st_ino != catalogue_inode_)
    HANDHOLD_TRY(OpenTheCatalogue());
  return lock;
}

Result<LibraryInfo> FolderLibrary::Info() const {
  LibraryInfo info;
  info.path = path_;
  HANDHOLD_ASSIGN(info.clips, catalogue_.QueryInteger("SELECT count(*) FROM clip"));
  HANDHOLD_ASSIGN(info.unfinished,
                  catalogue_.QueryInteger("SELECT count(*) FROM clip WHERE closed=0"));
  HANDHOLD_ASSIGN(info.artefacts, catalogue_.QueryInteger("SELECT count(*) FROM artefact"));
  HANDHOLD_ASSIGN(info.bytes,
                  catalogue_.QueryInteger("SELECT ifnull((SELECT sum(bytes) FROM clip), 0) + "
                                          "ifnull((SELECT sum(bytes) FROM artefact), 0)"));
  HANDHOLD_ASSIGN(info.problems, catalogue_.QueryInteger("SELECT count(*) FROM problem"));
  HANDHOLD_ASSIGN(const int64_t recorded_ns,
                  catalogue_.QueryInteger("SELECT ifnull(sum(duration_ns), 0) FROM clip"));
  info.recorded = Duration::Nanoseconds(recorded_ns);
  HANDHOLD_ASSIGN(const Outside outside, FilesOutside());
  info.being_recorded = std::ssize(outside.recorded);
  info.uncatalogued = std::ssize(outside.left);
  info.uncatalogued_unfinished = std::ranges::count_if(outside.left, [&](const std::string& file) {
    return !LookAt(path_ + "/clips/" + file).closed;
  });
  if (ledger_->readable()) {
    HANDHOLD_ASSIGN(info.ledger_entries, ledger_->Count());
  }
  HANDHOLD_ASSIGN(info.indexer, GetIndexerOptions(catalogue_));
  return info;
}

Result<std::vector<std::string>> FolderLibrary::UncataloguedFiles() const {
  // Listed first: a take that is stored meanwhile is in neither, rather than a file without a row.
  std::vector<std::string> files = FilesIn(path_ + "/clips", ".clip");
  std::set<std::string> catalogued;
  HANDHOLD_ASSIGN(Statement paths, catalogue_.Prepare("SELECT path FROM clip"));
  HANDHOLD_TRY(paths.ForEach([&](Statement& at) -> Status {
    catalogued.insert(at.String(0));
    return {};
  }));
  std::erase_if(files, [&](const std::string& file) { return catalogued.contains(file); });
  return files;
}

Result<FolderLibrary::Outside> FolderLibrary::FilesOutside() const {
  for (int round = 0;; ++round) {
    HANDHOLD_ASSIGN(const std::vector<std::string> files, UncataloguedFiles());
    Outside outside;
    bool fresh = false;
    HANDHOLD_ASSIGN(Statement told, catalogue_.Prepare("SELECT 1 FROM problem WHERE path=?1"));
    for (const std::string& file : files) {
      const std::string where = "clips/" + file, path = path_ + "/" + where;
      HANDHOLD_ASSIGN(const bool problem, told.Bind(1, where).Step());
      told.Reset();
      if (problem) continue;
      if (WriterLock::IsHeld(path)) {
        outside.recorded.push_back(file);
        continue;
      }
      outside.left.push_back(file);
      std::error_code error;
      const auto age = fs::file_time_type::clock::now() - fs::last_write_time(path, error);
      fresh |= !error && age < std::chrono::seconds(5);
    }
    // Between the last byte of a take and its row there is a moment: asked twice before it is said
    // to be left.
    if (!fresh || round > 0) return outside;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

Result<recording::ClipInfo> FolderLibrary::NewTake(recording::ClipInfo info) const {
  if (info.id.is_nil()) info.id = ClipId::New();
  if (!info.name.empty()) return info;
  const std::string task = info.task.empty() ? "take" : info.task;
  HANDHOLD_ASSIGN(Statement newest,
                  catalogue_.Prepare("SELECT ifnull(max(take), 0) FROM clip WHERE name LIKE ?1 || "
                                     "'\\_%' ESCAPE '\\' AND task=?2"));
  newest.Bind(1, task).Bind(2, info.task);
  HANDHOLD_ASSIGN(const bool row, newest.Step());
  int last = row ? newest.Int(0) : 0;
  // What is being recorded, or was when its recorder died, is in no catalogue yet.
  HANDHOLD_ASSIGN(const std::vector<std::string> files, UncataloguedFiles());
  for (const std::string& file : files) {
    const auto clip = ClipReader::Open(path_ + "/clips/" + file);
    if (!clip || !(*clip)->info().name.starts_with(task + "_")) continue;
    const std::string digits = (*clip)->info().name.substr(task.size() + 1);
    if (!digits.empty() && digits.size() < 9 &&
        digits.find_first_not_of("0123456789") == std::string::npos)
      last = std::max(last, std::stoi(digits));
  }
  char number[16];
  std::snprintf(number, sizeof number, "%03d", last + 1);
  info.name = task + "_" + number;
  return info;
}

Result<std::shared_ptr<void>> FolderLibrary::HoldNames() {
  HANDHOLD_TRY(MayWrite({"/clips"}));
  HANDHOLD_TRY(MakeFolders(path_));
  // Any folder of the library that nothing else locks will do.
  HANDHOLD_ASSIGN(FolderLock lock,
                  FolderLock::Take(path_ + "/attachments", true, Duration::Seconds(30),
                                   "another program is naming its take; try again"));
  return std::shared_ptr<void>(std::make_shared<FolderLock>(std::move(lock)));
}

Status FolderLibrary::Index(const ClipId& id) {
  HANDHOLD_TRY(MayWrite({"", "/catalogue.db"}));
  HANDHOLD_ASSIGN(const IndexerOptions indexer, GetIndexerOptions(catalogue_));
  // Until it has its row, others see that it is at work, and not a file that was left. Where there
  // is no lock to be had (somebody else's, a full disk) it is catalogued all the same.
  const Result<WriterLock> at_work = WriterLock::Take(ClipPath(id));
  HANDHOLD_ASSIGN(const ClipRows rows, ReadClipRows(ClipPath(id), indexer, false));
  HANDHOLD_ASSIGN(const FolderLock lock, BeginWriting());
  HANDHOLD_TRY(PutClipRows(catalogue_, rows));
  // What fits found in this very file was dropped with its rows.
  std::vector<std::string> tracks;
  HANDHOLD_ASSIGN(Statement list,
                  catalogue_.Prepare("SELECT DISTINCT hash FROM artefact JOIN artefact_input "
                                     "USING(hash) WHERE kind='contact_track' AND input=(SELECT "
                                     "sha256 FROM clip WHERE id=?1)"));
  const std::string text = id.ToString();
  list.Bind(1, text);
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    tracks.push_back(row.String(0));
    return {};
  }));
  HANDHOLD_TRY(CopyEntries(text));
  for (const std::string& hash : tracks) {
    // One that is damaged is no fault of the clip's; Check names it.
    if (const auto track = ReadArtefactRows(ArtefactPath(hash)))
      HANDHOLD_TRY(PutArtefactRows(catalogue_, *track));
  }
  return {};
}

Result<std::vector<ClipRow>> FolderLibrary::ClipsWhere(
    const std::string& condition, const std::function<void(Statement&)>& bind) const {
  std::vector<ClipRow> rows;
  HANDHOLD_ASSIGN(Statement list,
                  catalogue_.Prepare(std::string(kClipColumns) + "WHERE " + condition));
  bind(list);
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    rows.push_back(ReadClipRow(row));
    return {};
  }));
  return rows;
}

Result<std::vector<ClipRow>> FolderLibrary::Clips(const ClipFilter& filter) const {
  return ClipsWhere(
      "(?1='' OR subject=?1) AND (?2='' OR task=?2) AND (?3='' OR " + HasProp("?3") +
          ") AND (?4='' OR EXISTS(SELECT 1 FROM tag WHERE tag.clip=clip.clip AND kind='tag' AND "
          "name=?4)) AND ?7=EXISTS(SELECT 1 FROM tag WHERE tag.clip=clip.clip AND "
          "kind='withdrawn') ORDER BY utc_start_ns DESC, id LIMIT ?5 OFFSET ?6",
      [&](Statement& list) {
        list.Bind(1, filter.subject)
            .Bind(2, filter.task)
            .Bind(3, filter.prop)
            .Bind(4, filter.tag)
            .Bind(5, filter.limit)
            .Bind(6, filter.offset)
            .Bind(7, filter.withdrawn ? 1 : 0);
      });
}

Result<std::string> FolderLibrary::Nearest(const std::string& field,
                                           const std::string& value) const {
  static const std::map<std::string, std::string> kTableOf = {
      {"tag", "name FROM tag WHERE kind='tag'"},
      {"label", "value FROM tag WHERE kind='label' AND name NOT LIKE '%.confidence'"},
      {"stream", "name FROM clip_stream"},
      {"marker",
       "substr(c.name, 1, length(c.name)-2) FROM clip_channel c JOIN clip_stream s ON "
       "s.clip=c.clip AND s.stream=c.stream WHERE s.kind IN ('markers', 'poses') AND "
       "substr(c.name, -2)='.x'"},
      {"channel", "name FROM clip_channel UNION SELECT sensor||'.normal_force' FROM clip_zone"}};
  const auto table = kTableOf.find(field);
  CHECK(table != kTableOf.end() || std::ranges::count(CorrectableFields(), field) > 0);
  std::vector<std::string> known;
  HANDHOLD_ASSIGN(
      Statement list,
      catalogue_.Prepare(
          "SELECT DISTINCT " +
          (table != kTableOf.end() ? table->second : field + " FROM clip WHERE " + field + "<>''") +
          " LIMIT 10000"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    for (std::string& one :
         field == "prop" ? PropsOf(row.String(0)) : std::vector<std::string>{row.String(0)})
      if (std::ranges::count(known, one) == 0) known.push_back(std::move(one));
    return {};
  }));
  if (std::ranges::count(known, value) > 0) return std::string();
  return "no clip has the " + field + " '" + value + "'" + DidYouMean(value, known);
}

Result<ClipRow> FolderLibrary::FindClip(const std::string& key) const {
  std::vector<ClipRow> rows;
  HANDHOLD_ASSIGN(
      Statement find,
      catalogue_.Prepare(
          std::string(kClipColumns) +
          "WHERE id=?1 OR name=?1 OR (length(?1)>=4 AND substr(id, 1, length(?1))=?1) LIMIT 20"));
  find.Bind(1, key);
  HANDHOLD_TRY(find.ForEach([&](Statement& row) -> Status {
    rows.push_back(ReadClipRow(row));
    return {};
  }));
  if (rows.size() == 1) return rows.front();
  if (rows.size() > 1) {
    std::vector<std::string> ids;
    for (const ClipRow& row : rows) ids.push_back(row.id);
    return SeveralClips(key, ids);
  }
  std::vector<std::string> names;
  HANDHOLD_ASSIGN(Statement list, catalogue_.Prepare("SELECT DISTINCT name FROM clip LIMIT 10000"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    names.push_back(row.String(0));
    return {};
  }));
  // A take whose recorder died is a file that no row knows, and so is one that is damaged.
  HANDHOLD_ASSIGN(const Uncatalogued others, FindUncatalogued(key));
  if (others.files.size() > 1) {
    std::vector<std::string> ids;
    for (const auto& [id, file] : others.files) ids.push_back(id);
    return SeveralClips(key, ids);
  }
  if (!others.files.empty()) return NotCatalogued(key, others.files.begin()->second);
  std::string text = "no clip '" + key + "' in " + path_ + DidYouMean(key, names);
  if (!others.nameless.empty()) {
    text += "; it may be one of those whose name is damaged:";
    for (size_t i = 0; i < std::min<size_t>(others.nameless.size(), 5); ++i)
      text += " " + others.nameless[i];
    text += "; what is left of one writes `handhold clip export " +
            ShellWord(others.nameless.front()) + " --library " + ShellWord(path_) +
            " --to FILE.csv --damaged`";
  }
  if (others.unreadable > 0) {
    text += "; it may be in one of " + std::to_string(others.unreadable) +
            (others.unreadable == 1 ? " file" : " files") +
            " of clips/ that cannot be read: 'handhold library check' names them";
  }
  return Error{ErrorCode::kNotFound, std::move(text)};
}

Result<FolderLibrary::Uncatalogued> FolderLibrary::FindUncatalogued(const std::string& key) const {
  HANDHOLD_ASSIGN(const std::vector<std::string> files, UncataloguedFiles());
  Uncatalogued found;
  for (const std::string& file : files) {
    const std::string stem = fs::path(file).stem().string();
    Issues damage;
    ClipReaderOptions options;
    options.damage = &damage;
    const auto clip = ClipReader::Open(path_ + "/clips/" + file, options);
    const std::string name = clip ? (*clip)->info().name : "";
    // A file that does not say whose it is goes by its own name.
    const bool known = clip && !(*clip)->info().id.is_nil();
    const std::string id = known ? (*clip)->info().id.ToString() : stem;
    const bool by_id = key.size() >= 4 && (stem.starts_with(key) || id.starts_with(key));
    if (by_id || (clip && name == key)) {
      // Of a file and its copies the one that is named by the clip.
      std::string& taken = found.files[id];
      if (taken.empty() || stem == id) taken = file;
    } else if (!clip) {
      ++found.unreadable;
    } else if (name.empty()) {
      found.nameless.push_back(stem);
    }
  }
  return found;
}

Error FolderLibrary::NotCatalogued(const std::string& key, const std::string& file) const {
  std::string text = "'" + key + "' is in " + path_ + "/clips/" + file;
  const std::string where = "clips/" + file;
  Result<Statement> problem = catalogue_.Prepare("SELECT what FROM problem WHERE path=?1");
  if (problem) {
    const Result<bool> found = problem->Bind(1, where).Step();
    if (found && *found) {
      return Error{ErrorCode::kNotFound,
                   text +
                       ", which could not be catalogued ('handhold library check' says what is "
                       "left of it): " +
                       problem->String(0)};
    }
  }
  return Error{ErrorCode::kNotFound,
               text +
                   " and not in the catalogue: it is being recorded, or its recorder died; then "
                   "`handhold library rebuild --finish` brings it in"};
}

Result<Issues> FolderLibrary::Problems() const {
  Issues problems;
  HANDHOLD_ASSIGN(Statement list,
                  catalogue_.Prepare("SELECT path, what, path IN (SELECT 'clips/'||path FROM clip) "
                                     "FROM problem ORDER BY path"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    const bool whole = row.Integer(2) != 0 || ClipOwners::IsCopy(row.String(1));
    problems.push_back(
        {row.String(0), whole ? Severity::kWarning : Severity::kLoss, row.String(1)});
    return {};
  }));
  HANDHOLD_ASSIGN(const Outside outside, FilesOutside());
  for (const std::string& file : outside.recorded)
    problems.push_back({"clips/" + file, Severity::kNote, "is being recorded"});
  for (const std::string& file : outside.left) {
    problems.push_back({"clips/" + file, Severity::kLoss,
                        "was never catalogued, as when its recorder dies: `handhold library "
                        "rebuild --finish --library " +
                            ShellWord(path_) + "` takes it in"});
  }
  return problems;
}

Result<std::vector<std::string>> FolderLibrary::Say(const std::vector<LedgerEntry>& entries) {
  HANDHOLD_TRY(MayWrite({"", "/ledger.db"}));
  Result<std::vector<std::string>> uids = ledger_->Append(entries);
  if (!uids) {
    // A disk that is full or fails, or a journal that cannot be made.
    const bool disk =
        uids.error().code == ErrorCode::kIo || uids.error().code == ErrorCode::kNotFound;
    if (!disk || !ledger_->readable()) return uids;
    return CannotBeWritten(uids.error().message, "nothing was said: say it again when it can");
  }
  // Said. The catalogue is a cache: where it cannot follow now, a rebuild brings it up to date.
  const auto copy = [&]() -> Status {
    HANDHOLD_ASSIGN(const FolderLock lock, BeginWriting());
    std::set<std::string> clips;
    for (const LedgerEntry& entry : entries) clips.insert(entry.clip);
    clips.erase("");
    for (const std::string& clip : clips) HANDHOLD_TRY(CopyEntries(clip));
    return {};
  };
  if (const Status copied = copy(); !copied) {
    Log(LogLevel::kWarning, "catalogue.behind",
        {{"why", copied.error().message},
         {"fix", "what was said is in the ledger; 'handhold library rebuild' copies it"}});
  }
  return uids;
}

Status FolderLibrary::CopyEntries(const std::string& clip_id) {
  HANDHOLD_ASSIGN(Statement put,
                  catalogue_.Prepare("INSERT OR REPLACE INTO problem VALUES(?1, ?2)"));
  if (const Status readable = ledger_->readable(); !readable)
    return put.Bind(1, "ledger.db").Bind(2, readable.error().message).Run();
  Issues damage;
  HANDHOLD_ASSIGN(const std::vector<LedgerEntry> entries, ledger_->Held(clip_id, damage));
  for (const Issue& issue : damage) {
    Log(LogLevel::kWarning, "ledger.damaged", {{"where", issue.where}, {"what", issue.what}});
    // What the copy lacks from now on, queries say.
    HANDHOLD_TRY(put.Bind(1, issue.where).Bind(2, issue.what).Run());
  }
  return CopyLedger(catalogue_, entries, clip_id);
}

Result<std::optional<std::string>> FolderLibrary::FindArtefact(
    const artefact::Provenance& provenance) const {
  HANDHOLD_ASSIGN(const std::string hash, ArtefactHash(provenance));
  // The file decides, not the catalogue.
  if (fs::exists(ArtefactPath(hash))) return std::optional<std::string>(hash);
  return std::optional<std::string>();
}

Result<std::vector<ArtefactInfo>> FolderLibrary::Artefacts(const std::string& kind) const {
  HANDHOLD_ASSIGN(std::vector<ArtefactInfo> list, FindArtefacts(catalogue_, {.kind = kind}));
  std::ranges::reverse(list);
  return list;
}

Status FolderLibrary::Renew(const std::string& hash) {
  HANDHOLD_TRY(MayWrite({"", "/derived"}));
  const int64_t now = UtcNow().ns();
  HANDHOLD_TRY(text::WriteTextFile(RenewedPath(ArtefactPath(hash)), std::to_string(now) + "\n"));
  HANDHOLD_ASSIGN(const FolderLock lock, BeginWriting());
  HANDHOLD_ASSIGN(Statement put,
                  catalogue_.Prepare("UPDATE artefact SET asked_utc_ns=?1 WHERE hash=?2"));
  return put.Bind(1, now).Bind(2, hash).Run();
}

Result<std::vector<artefact::ProvenanceInput>> FolderLibrary::Inputs(
    const std::string& hash) const {
  std::vector<artefact::ProvenanceInput> inputs;
  HANDHOLD_ASSIGN(
      Statement get,
      catalogue_.Prepare(
          "SELECT role, input, name FROM artefact_input WHERE hash=?1 ORDER BY position"));
  get.Bind(1, hash);
  HANDHOLD_TRY(get.ForEach([&](Statement& row) -> Status {
    inputs.push_back({row.String(0), row.String(1), row.String(2)});
    return {};
  }));
  return inputs;
}

Result<std::vector<std::string>> FolderLibrary::MadeFrom(const std::string& hash) const {
  std::vector<std::string> made;
  HANDHOLD_ASSIGN(
      Statement get,
      catalogue_.Prepare("SELECT DISTINCT hash FROM artefact_input WHERE input=?1 ORDER BY hash"));
  get.Bind(1, hash);
  HANDHOLD_TRY(get.ForEach([&](Statement& row) -> Status {
    made.push_back(row.String(0));
    return {};
  }));
  return made;
}

Result<Issues> FolderLibrary::Rebuild(bool finish, const Progress& progress) {
  HANDHOLD_TRY(MayWrite({""}));
  if (const Status readable = ledger_->readable(); !readable) {
    return Error{readable.error().code,
                 "the catalogue may hold the last copy of tags and ratings, and is not made anew "
                 "without the ledger: " +
                     readable.error().message};
  }
  HANDHOLD_ASSIGN(
      const FolderLock alone,
      FolderLock::Take(path_, true, Duration(),
                       "another program is making the catalogue anew; it is as it was"));
  Issues issues = RemoveLeftovers(path_);
  HANDHOLD_ASSIGN(Issues found, RebuildCatalogue(path_, *ledger_, finish, progress));
  std::ranges::move(found, std::back_inserter(issues));
  HANDHOLD_TRY(OpenTheCatalogue());
  return issues;
}

Result<Issues> FolderLibrary::Check(const Progress& progress) const {
  return CheckLibrary(path_, catalogue_, *ledger_, progress);
}

}  // namespace

std::vector<std::string> PropsOf(const std::string& prop) {
  std::vector<std::string> props;
  for (size_t begin = 0;;) {
    const size_t end = prop.find(", ", begin);
    props.push_back(prop.substr(begin, end - begin));
    if (end == std::string::npos) return props;
    begin = end + 2;
  }
}

std::string HasProp(const std::string& text) {
  return "(prop=" + text + " OR instr(', '||prop||', ', ', '||" + text + "||', ')>0)";
}

Status Library::MayCreate(const std::string& path) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path + "/ledger.db", error)))
    return Error{ErrorCode::kBusy, path + ": there is a library already"};
  // It would be played back into the new one.
  if (fs::exists(path + "/ledger.db-journal", error)) {
    return Error{ErrorCode::kBusy, path +
                                       "/ledger.db-journal: belongs to a ledger that was here: put "
                                       "that back, or move this away, too"};
  }
  if (fs::exists(path, error) && !fs::is_directory(path, error))
    return Error{ErrorCode::kInvalid, path + ": is a file; a library is a folder"};
  // The folder itself need not exist yet: the nearest that does says where it will lie.
  fs::path there = fs::absolute(path, error);
  while (!there.empty() && there != there.root_path() && !fs::exists(there, error))
    there = there.parent_path();
  if (const std::string kind = NetworkFileSystem(there.string()); !kind.empty()) {
    return Error{ErrorCode::kUnsupported,
                 path + ": lies on a network file system (" + kind +
                     "), whose locks cannot be trusted; make the library on a local disk"};
  }
  // One of ours was left by a library that lost its ledger, and is made anew.
  const Result<Database> catalogue = OpenCatalogue(path + "/catalogue.db");
  if (!catalogue && !CanBeMade(catalogue.error())) return catalogue.error();
  return {};
}

Result<Library::RebuildPlan> Library::PlanRebuild(const std::string& path) {
  if (!IsLibrary(path))
    return Error{ErrorCode::kNotFound, path + ": is no library (no clips/ and ledger.db)"};
  // What Rebuild would not replace is refused before anything is counted.
  const std::string file = path + "/catalogue.db";
  if (const Result<Database> old = OpenCatalogue(file, true); !old && !CanBeMade(old.error()))
    return old.error();
  std::error_code error;
  RebuildPlan plan;
  ClipOwners owners;
  for (const std::string& name : FilesIn(path + "/clips", ".clip")) {
    if (!RegularFile(path + "/clips/" + name)) continue;
    ++plan.clips;
    const AsItLies clip = LookAt(path + "/clips/" + name);
    plan.unfinished += clip.readable && !clip.closed ? 1 : 0;
    if (!clip.id.empty()) owners.Claim(clip.id, name);
  }
  plan.artefacts = std::ssize(FilesIn(path + "/derived", ".art"));
  plan.leftovers = CountLeftovers(path);
  plan.replaces = fs::exists(file, error);
  if (!plan.replaces) return plan;
  DatabaseOptions open;
  open.immutable = true;
  open.inspect = HeaderCheck(FileKind::kCatalogue);
  const Result<Database> catalogue = Database::Open(file, open);
  if (!catalogue) return plan;
  if (const auto names = ClipNames(*catalogue)) {
    for (const auto& [id, name] : *names) {
      if (owners.IsGone(path, id))
        plan.forgets.push_back({"clip " + id, Severity::kLoss, Forgotten(name, "")});
    }
  }
  return plan;
}

Result<std::unique_ptr<Library>> Library::Create(const std::string& path,
                                                 const IndexerOptions& indexer) {
  auto library = std::make_unique<FolderLibrary>(path);
  HANDHOLD_TRY(library->Make(indexer));
  return std::unique_ptr<Library>(std::move(library));
}

Result<std::unique_ptr<Library>> Library::Open(const std::string& path) {
  auto library = std::make_unique<FolderLibrary>(path);
  HANDHOLD_TRY(library->Start());
  return std::unique_ptr<Library>(std::move(library));
}

}  // namespace handhold::store
