#include "database/store/library.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "database/base/names.h"
#include "database/store/catalogue.h"
#include "database/store/clip_writer.h"
#include "database/store/compaction.h"
#include "database/store/network_path.h"
#include "database/store/schema.h"

namespace handhold::store {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> FilesIn(const std::string& folder, const char* extension) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

constexpr char kClipColumns[] =
    "SELECT clip, id, path, name, subject, session, task, prop, take, utc_start_ns, duration_ns, "
    "closed, keep, red_count, gap_count, "
    "lost_samples, sha256, bytes, (SELECT group_concat(name, char(10)) FROM tag WHERE "
    "tag.clip=clip.clip AND kind='tag'), "
    "(SELECT value FROM tag WHERE tag.clip=clip.clip AND kind='rating') FROM clip ";

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
  return row;
}

class FolderLibrary final : public Library {
 public:
  explicit FolderLibrary(std::string path) : path_(std::move(path)) {}
  Status Make(const IndexerOptions& indexer);
  Status Start();

  const std::string& path() const override { return path_; }
  Result<LibraryInfo> Info() const override;
  const Database& catalogue() const override { return catalogue_; }
  const Ledger& ledger() const override { return *ledger_; }
  Result<recording::ClipInfo> NewTake(recording::ClipInfo info) const override;
  std::string ClipPath(const ClipId& id) const override {
    return path_ + "/clips/" + id.ToString() + ".clip";
  }
  Status Index(const ClipId& id) override;
  Result<std::vector<ClipRow>> ClipsWhere(
      const std::string& condition, const std::function<void(Statement&)>& bind) const override;
  Result<std::vector<ClipRow>> Clips(const ClipFilter& filter) const override;
  Result<ClipRow> FindClip(const std::string& key) const override;
  Result<std::unique_ptr<ClipReader>> OpenClip(const std::string& key) const override {
    HANDHOLD_ASSIGN(const ClipRow row, FindClip(key));
    return ClipReader::Open(path_ + "/clips/" + row.path);
  }
  Result<std::string> Say(const LedgerEntry& entry) override;
  std::string ArtefactPath(const std::string& hash) const override {
    return derived_folder() + "/" + hash + ".art";
  }
  Result<std::optional<std::string>> FindArtefact(
      const artefact::Provenance& provenance) const override;
  Result<std::vector<ArtefactInfo>> Artefacts(const std::string& kind) const override;
  Result<std::vector<artefact::ProvenanceInput>> Inputs(const std::string& hash) const override;
  Result<std::vector<std::string>> MadeFrom(const std::string& hash) const override;
  Result<Issues> Rebuild(bool finish, const Progress& progress) override;
  Result<Issues> Check(const Progress& progress) const override;

 protected:
  std::string derived_folder() const override { return path_ + "/derived"; }
  Status IndexArtefact(const std::string& hash) override {
    HANDHOLD_TRY(MayWrite());
    return CatalogueArtefact(catalogue_, ArtefactPath(hash));
  }

 private:
  Status MayWrite() const;
  /// What the ledger says of the indexer.
  Result<IndexerOptions> Settings() const;
  std::string CataloguePath() const { return path_ + "/catalogue.db"; }
  std::string path_;
  Database catalogue_;
  std::optional<Ledger> ledger_;
};

Status FolderLibrary::Make(const IndexerOptions& indexer) {
  HANDHOLD_TRY(Library::MayCreate(path_));
  std::error_code error;
  for (const char* folder : {"", "/clips", "/derived", "/attachments"}) {
    fs::create_directories(path_ + folder, error);
    if (error)
      return Error{ErrorCode::kIo, path_ + folder + ": cannot be made: " + error.message()};
  }
  HANDHOLD_ASSIGN(ledger_, Ledger::Open(path_ + "/ledger.db", true));
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
    HANDHOLD_TRY(ledger_->Append(entry));
  }
  HANDHOLD_ASSIGN(catalogue_, CreateCatalogue(CataloguePath(), indexer));
  return {};
}

Status FolderLibrary::MayWrite() const {
  const std::string kind = NetworkFileSystem(path_);
  if (kind.empty()) return {};
  return Error{ErrorCode::kUnsupported,
               path_ + ": lies on a network file system (" + kind +
                   "), whose locks cannot be trusted: it can be read there, but not written; copy "
                   "the library to a local disk"};
}

Result<IndexerOptions> FolderLibrary::Settings() const {
  IndexerOptions indexer;
  HANDHOLD_ASSIGN(const std::vector<LedgerEntry> entries, ledger_->Current());
  for (const LedgerEntry& e : entries) {
    if (e.kind != LedgerKind::kSetting) continue;
    if (e.name == "contact_on_N") indexer.contact_on_N = std::strtod(e.value.c_str(), nullptr);
    if (e.name == "contact_off_N") indexer.contact_off_N = std::strtod(e.value.c_str(), nullptr);
  }
  return indexer;
}

Status FolderLibrary::Start() {
  if (!fs::is_directory(path_ + "/clips") || !fs::exists(path_ + "/ledger.db")) {
    return Error{ErrorCode::kNotFound,
                 path_ + ": is no library (no clips/ and ledger.db); 'handhold library create " +
                     path_ + "' makes one"};
  }
  HANDHOLD_ASSIGN(ledger_, Ledger::Open(path_ + "/ledger.db", false));
  if (fs::exists(CataloguePath())) {
    Result<Database> opened = OpenCatalogue(CataloguePath());
    if (opened) {
      catalogue_ = *std::move(opened);
      return {};
    }
    // A newer program's catalogue is not ours to replace; a broken one is only a cache.
    if (opened.error().message.find("newer Handhold") != std::string::npos) return opened.error();
  }
  HANDHOLD_ASSIGN(const Issues issues, Rebuild(false, {}));
  return {};
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
  HANDHOLD_ASSIGN(info.ledger_entries, ledger_->Count());
  HANDHOLD_ASSIGN(info.indexer, GetIndexerOptions(catalogue_));
  return info;
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
  std::set<std::string> catalogued;
  HANDHOLD_ASSIGN(Statement paths, catalogue_.Prepare("SELECT path FROM clip"));
  HANDHOLD_TRY(paths.ForEach([&](Statement& at) -> Status {
    catalogued.insert(at.String(0));
    return {};
  }));
  for (const std::string& file : FilesIn(path_ + "/clips", ".clip")) {
    if (catalogued.contains(file)) continue;
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

Status FolderLibrary::Index(const ClipId& id) {
  HANDHOLD_TRY(MayWrite());
  HANDHOLD_ASSIGN(const IndexerOptions indexer, GetIndexerOptions(catalogue_));
  HANDHOLD_TRY(CatalogueClip(catalogue_, path_ + "/clips", id.ToString() + ".clip", indexer));
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
  for (const std::string& hash : tracks)
    HANDHOLD_TRY(CatalogueArtefact(catalogue_, ArtefactPath(hash)));
  return CopyLedger(catalogue_, *ledger_, text);
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
      "(?1='' OR subject=?1) AND (?2='' OR task=?2) AND (?3='' OR prop=?3) AND (?4='' OR EXISTS("
      "SELECT 1 FROM tag WHERE tag.clip=clip.clip AND kind='tag' AND name=?4)) "
      "ORDER BY utc_start_ns DESC, id LIMIT ?5 OFFSET ?6",
      [&](Statement& list) {
        list.Bind(1, filter.subject)
            .Bind(2, filter.task)
            .Bind(3, filter.prop)
            .Bind(4, filter.tag)
            .Bind(5, filter.limit)
            .Bind(6, filter.offset);
      });
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
    std::string text = "'" + key + "' is several clips:";
    for (size_t i = 0; i < std::min<size_t>(rows.size(), 5); ++i) text += " " + rows[i].id;
    return Error{ErrorCode::kInvalid, text + "; give the id"};
  }
  std::vector<std::string> names;
  HANDHOLD_ASSIGN(Statement list, catalogue_.Prepare("SELECT DISTINCT name FROM clip LIMIT 10000"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    names.push_back(row.String(0));
    return {};
  }));
  return Error{ErrorCode::kNotFound, "no clip '" + key + "' in " + path_ + DidYouMean(key, names)};
}

Result<std::string> FolderLibrary::Say(const LedgerEntry& entry) {
  HANDHOLD_TRY(MayWrite());
  HANDHOLD_ASSIGN(std::string uid, ledger_->Append(entry));
  if (!entry.clip.empty()) HANDHOLD_TRY(CopyLedger(catalogue_, *ledger_, entry.clip));
  return uid;
}

Result<std::optional<std::string>> FolderLibrary::FindArtefact(
    const artefact::Provenance& provenance) const {
  HANDHOLD_ASSIGN(const std::string hash, ArtefactHash(provenance));
  // The file decides, not the catalogue.
  if (fs::exists(ArtefactPath(hash))) return std::optional<std::string>(hash);
  return std::optional<std::string>();
}

Result<std::vector<ArtefactInfo>> FolderLibrary::Artefacts(const std::string& kind) const {
  std::vector<ArtefactInfo> list;
  HANDHOLD_ASSIGN(
      Statement get,
      catalogue_.Prepare(
          "SELECT hash, kind, step, version, parameters, made_utc_ns, tool FROM artefact "
          "WHERE ?1='' OR kind=?1 ORDER BY made_utc_ns, hash"));
  get.Bind(1, kind);
  HANDHOLD_TRY(get.ForEach([&](Statement& row) -> Status {
    ArtefactInfo& info = list.emplace_back();
    info.hash = row.String(0);
    info.kind = row.String(1);
    info.provenance.step = row.String(2);
    info.provenance.version = row.Int(3);
    info.provenance.parameters_json = row.String(4);
    info.provenance.made_utc = Timestamp::FromNanoseconds(row.Integer(5));
    info.provenance.tool = row.String(6);
    return {};
  }));
  for (ArtefactInfo& info : list) {
    HANDHOLD_ASSIGN(info.provenance.inputs, Inputs(info.hash));
  }
  return list;
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
  HANDHOLD_TRY(MayWrite());
  HANDHOLD_ASSIGN(const IndexerOptions indexer, Settings());
  const std::string fresh = CataloguePath() + ".new";
  std::error_code error;
  fs::remove(fresh, error);
  Issues issues;
  {
    HANDHOLD_ASSIGN(Database db, CreateCatalogue(fresh, indexer));
    HANDHOLD_TRY(db.Execute("PRAGMA synchronous=OFF"));  // counts only once it is renamed
    HANDHOLD_ASSIGN(Statement problem, db.Prepare("INSERT OR REPLACE INTO problem VALUES(?1, ?2)"));
    const std::vector<std::string> clips = FilesIn(path_ + "/clips", ".clip"),
                                   artefacts = FilesIn(derived_folder(), ".art");
    const double total = static_cast<double>(clips.size() + artefacts.size());
    double done = 0;
    const auto report = [&](const std::string& file, const Status& status) -> Status {
      if (!status) {
        issues.push_back({file, Severity::kLoss, status.error().message});
        HANDHOLD_TRY(problem.Bind(1, file).Bind(2, status.error().message).Run());
      }
      if (progress && !progress(++done / total, file))
        return Error{ErrorCode::kCancelled, "rebuild cancelled; the catalogue is as it was"};
      return {};
    };
    for (const std::string& file : clips) {
      const std::string path = path_ + "/clips/" + file;
      if (finish) {
        if (const Status finished = FinishClip(path);
            !finished && finished.error().code == ErrorCode::kBusy) {
          issues.push_back({file, Severity::kNote, "is being recorded"});
        }
      }
      HANDHOLD_TRY(report(file, CatalogueClip(db, path_ + "/clips", file, indexer)));
    }
    for (const std::string& file : artefacts)
      HANDHOLD_TRY(report(file, CatalogueArtefact(db, derived_folder() + "/" + file)));
    HANDHOLD_TRY(CopyLedger(db, *ledger_, ""));
  }
  catalogue_ = Database();
  fs::rename(fresh, CataloguePath(), error);
  if (error) return Error{ErrorCode::kIo, CataloguePath() + ": " + error.message()};
  HANDHOLD_ASSIGN(catalogue_, OpenCatalogue(CataloguePath()));
  return issues;
}

Result<Issues> FolderLibrary::Check(const Progress& progress) const {
  Issues issues;
  std::map<std::string, std::string> known;
  HANDHOLD_ASSIGN(Statement list, catalogue_.Prepare("SELECT path, sha256 FROM clip"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    known[row.String(0)] = row.String(1);
    return {};
  }));
  std::vector<std::string> files;
  for (const std::string& file : FilesIn(path_ + "/clips", ".clip"))
    files.push_back("clips/" + file);
  const size_t clips = files.size();
  for (const std::string& file : FilesIn(derived_folder(), ".art"))
    files.push_back("derived/" + file);
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& file = files[i];
    const bool being_recorded = WriterLock::IsHeld(path_ + "/" + file);
    if (being_recorded) issues.push_back({file, Severity::kNote, "is being recorded"});
    Issues damage;
    ClipReaderOptions options;
    options.damage = &damage;
    const Result<std::unique_ptr<ClipReader>> reader =
        ClipReader::Open(path_ + "/" + file, options);
    if (!reader) {
      issues.push_back({file, Severity::kLoss, reader.error().message});
    } else {
      HANDHOLD_ASSIGN(Issues found, (*reader)->Check());
      for (const Issue& issue : damage) {
        if (std::none_of(found.begin(), found.end(),
                         [&](const Issue& f) { return f.what == issue.what; }))
          found.push_back(issue);
      }
      for (Issue& issue : found)
        issues.push_back({file + ", " + issue.where, issue.severity, issue.what});
      if (!being_recorded && !(*reader)->closed())
        issues.push_back(
            {file, Severity::kWarning, "was never closed: 'handhold library rebuild --finish'"});
    }
    if (i < clips) {
      const std::string name = file.substr(6);
      const auto row = known.find(name);
      if (being_recorded) {
        known.erase(name);  // its row, if any, is made anew when it is stored
      } else if (row == known.end()) {
        issues.push_back(
            {file, Severity::kWarning, "is not in the catalogue: 'handhold library rebuild'"});
      } else {
        HANDHOLD_ASSIGN(const std::string hash, HashFile(path_ + "/" + file));
        if (hash != row->second)
          issues.push_back({file, Severity::kWarning,
                            "is not the file that was catalogued (its SHA-256 differs)"});
        known.erase(row);
      }
    }
    if (progress &&
        !progress(static_cast<double>(i + 1) / static_cast<double>(files.size()), file)) {
      return Error{ErrorCode::kCancelled, "check cancelled"};
    }
  }
  for (const auto& [file, hash] : known)
    issues.push_back(
        {"clips/" + file, Severity::kLoss, "is in the catalogue, but its file is gone"});
  if (const auto verdict = catalogue_.QueryText("PRAGMA quick_check(1)");
      !verdict || *verdict != "ok") {
    issues.push_back(
        {"catalogue.db", Severity::kWarning, "is damaged: 'handhold library rebuild'"});
  }
  return issues;
}

}  // namespace

Status Library::MayCreate(const std::string& path) {
  std::error_code error;
  if (fs::exists(path + "/ledger.db", error) || fs::exists(path + "/catalogue.db", error))
    return Error{ErrorCode::kBusy, path + ": there is a library already"};
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
  return {};
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
