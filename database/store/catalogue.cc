#include "database/store/catalogue.h"

#include "database/store/artefact_finder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "database/base/digest.h"
#include "database/store/schema.h"

namespace handhold::store {
namespace {

/// "stroke_007" -> 7; 0 without digits at the end.
int TakeOfName(const std::string& name) {
  size_t begin = name.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0 &&
         name.size() - begin < 9)
    --begin;
  return begin == name.size() ? 0 : std::stoi(name.substr(begin));
}

/// Samples that a take misses. A packet that is lost carried a sample of each of its device's
/// streams: of a device, what the stream that misses most misses. Gaps say it, or, where the disk
/// took no more of them, the take's quality.
int64_t LostSamples(const ClipReader& clip) {
  std::map<std::string, int64_t> of_stream;
  for (const recording::Gap& gap : clip.gaps()) {
    if (const recording::StreamInfo* info = clip.FindStream(gap.stream_id))
      of_stream[info->name] += gap.count;
  }
  for (const recording::QualityItem& item : clip.quality().items) {
    if (item.what != "lost_samples" || !(item.value >= 0 && item.value < 0x1p53)) continue;
    int64_t& lost = of_stream[item.stream];
    lost = std::max(lost, static_cast<int64_t>(item.value));
  }
  std::map<std::string, int64_t> of_device;
  for (const auto& [name, lost] : of_stream) {
    const auto streams = clip.FindStreams(name);
    const std::string device =
        streams.empty() || streams.front()->device.empty() ? "/" + name : streams.front()->device;
    of_device[device] = std::max(of_device[device], lost);
  }
  int64_t all = 0;
  for (const auto& [device, lost] : of_device) all += lost;
  return all;
}

Status PutClipRow(Database& db, const ClipRows& rows, int64_t& row) {
  const ClipReader& clip = *rows.clip;
  const recording::ClipInfo& info = clip.info();
  Timestamp begin, end;
  bool any = false;
  for (const recording::StreamInfo& stream : clip.streams()) {
    const TimeRange extent = clip.Extent(stream.id);
    if (clip.sample_count(stream.id) == 0) continue;
    begin = any ? std::min(begin, extent.begin) : extent.begin;
    end = any ? std::max(end, extent.end) : extent.end;
    any = true;
  }
  int64_t red = 0;
  for (const recording::QualityItem& item : clip.quality().items) red += item.red ? 1 : 0;
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT INTO clip VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, "
                                            "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
                                            "?15, ?16, ?17, ?18, ?19)"));
  const std::string id = info.id.ToString();
  HANDHOLD_TRY(put.Bind(1, id)
                   .Bind(2, rows.file)
                   .Bind(3, info.name)
                   .Bind(4, info.subject)
                   .Bind(5, info.session)
                   .Bind(6, info.task)
                   .Bind(7, recording::PropNames(info))
                   .Bind(8, TakeOfName(info.name))
                   .Bind(9, info.utc_start.ns())
                   .Bind(10, (end - begin).ns())
                   .Bind(11, clip.closed() ? 1 : 0)
                   .Bind(12, clip.quality().keep ? 1 : 0)
                   .Bind(13, red)
                   .Bind(14, static_cast<int64_t>(clip.gaps().size()))
                   .Bind(15, LostSamples(clip))
                   .Bind(16, rows.sha256)
                   .Bind(17, rows.bytes)
                   .Bind(18, rows.mtime_ns)
                   .Bind(19, IndexerOptions::kVersion)
                   .Run());
  row = db.last_row_id();
  return {};
}

Status PutDetails(Database& db, const ClipReader& clip, int64_t row) {
  HANDHOLD_ASSIGN(Statement property, db.Prepare("INSERT INTO clip_property VALUES(?1, ?2, ?3)"));
  for (const auto& [key, value] : clip.info().properties)
    HANDHOLD_TRY(property.Bind(1, row).Bind(2, key).Bind(3, value).Run());
  HANDHOLD_ASSIGN(
      Statement stream,
      db.Prepare("INSERT INTO clip_stream VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"));
  HANDHOLD_ASSIGN(Statement channel,
                  db.Prepare("INSERT INTO clip_channel VALUES(?1, ?2, ?3, ?4, ?5)"));
  for (const recording::StreamInfo& info : clip.streams()) {
    const TimeRange extent = clip.Extent(info.id);
    HANDHOLD_TRY(stream.Bind(1, row)
                     .Bind(2, info.id)
                     .Bind(3, info.name)
                     .Bind(4, StreamKindName(info.kind))
                     .Bind(5, info.epoch)
                     .Bind(6, info.device)
                     .Bind(7, info.rate.hz())
                     .Bind(8, info.channel_count())
                     .Bind(9, clip.sample_count(info.id))
                     .Bind(10, extent.begin.ns())
                     .Bind(11, extent.end.ns())
                     .Run());
    for (size_t c = 0; c < info.channels.size(); ++c) {
      HANDHOLD_TRY(channel.Bind(1, row)
                       .Bind(2, info.id)
                       .Bind(3, static_cast<int64_t>(c))
                       .Bind(4, info.channels[c].name)
                       .Bind(5, info.channels[c].unit)
                       .Run());
    }
  }
  HANDHOLD_ASSIGN(
      Statement quality,
      db.Prepare("INSERT INTO clip_quality VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  for (size_t i = 0; i < clip.quality().items.size(); ++i) {
    const recording::QualityItem& q = clip.quality().items[i];
    HANDHOLD_TRY(quality.Bind(1, row)
                     .Bind(2, static_cast<int64_t>(i))
                     .Bind(3, q.stream)
                     .Bind(4, q.what)
                     .Bind(5, q.value)
                     .Bind(6, q.worst)
                     .Bind(7, q.threshold)
                     .Bind(8, q.red ? 1 : 0)
                     .Bind(9, q.acknowledged ? 1 : 0)
                     .Run());
  }
  return {};
}

Status PutIndex(Database& db, const ClipReader& clip, const ClipIndex& index, int64_t row) {
  HANDHOLD_ASSIGN(Statement feature,
                  db.Prepare("INSERT OR REPLACE INTO feature VALUES(?1, ?2, ?3, ?4, ?5, ?6)"));
  const auto put = [&](int stream, const std::string& channel, std::string_view name, double value,
                       Timestamp at) {
    return feature.Bind(1, row)
        .Bind(2, stream)
        .Bind(3, channel)
        .Bind(4, name)
        .Bind(5, value)
        .Bind(6, at.ns())
        .Run();
  };
  for (const ChannelRange& c : index.channels) {
    const std::string& name =
        clip.FindStream(c.stream_id)->channels[static_cast<size_t>(c.channel)].name;
    HANDHOLD_TRY(put(c.stream_id, name, "missing", c.missing, c.begin));
    if (c.min > c.max) continue;
    HANDHOLD_TRY(put(c.stream_id, name, "min", c.min, c.begin));
    HANDHOLD_TRY(put(c.stream_id, name, "max", c.max, c.begin));
  }
  for (const Feature& f : index.features)
    HANDHOLD_TRY(put(f.stream_id, f.channel, f.name, f.value, f.clip_time));
  HANDHOLD_ASSIGN(Statement zone,
                  db.Prepare("INSERT OR REPLACE INTO clip_zone VALUES(?1, ?2, ?3, ?4)"));
  for (const ClipIndex::Sensor& sensor : index.sensors) {
    const Bytes bytes = EncodeSensorZones(sensor.zones);
    HANDHOLD_TRY(zone.Bind(1, row)
                     .Bind(2, sensor.stream_id)
                     .Bind(3, sensor.name)
                     .Bind(4, std::span(bytes))
                     .Run());
  }
  HANDHOLD_ASSIGN(Statement event,
                  db.Prepare("INSERT INTO event VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  int64_t sequence = 0;
  for (const std::vector<recording::Event>* list : {&clip.events(), &index.contacts}) {
    for (const recording::Event& e : *list) {
      HANDHOLD_TRY(event.Bind(1, row)
                       .Bind(2, e.clip_time.ns())
                       .Bind(3, sequence++)
                       .Bind(4, e.length.ns())
                       .Bind(5, e.kind)
                       .Bind(6, e.origin)
                       .Bind(7, e.stream_id)
                       .Bind(8, e.value)
                       .Bind(9, e.text)
                       .Run());
    }
  }
  return {};
}

Status PutNote(Database& db, int64_t row, const char* source, const std::string& text) {
  if (text.empty()) return {};
  HANDHOLD_ASSIGN(Statement note, db.Prepare("INSERT INTO note VALUES(NULL, ?1, ?2, ?3)"));
  HANDHOLD_TRY(note.Bind(1, row).Bind(2, source).Bind(3, text).Run());
  HANDHOLD_ASSIGN(Statement words, db.Prepare("INSERT INTO note_text(rowid, text) VALUES(?1, ?2)"));
  return words.Bind(1, db.last_row_id()).Bind(2, text).Run();
}

Status DropNotes(Database& db, int64_t row, const char* source_pattern) {
  HANDHOLD_ASSIGN(
      Statement words,
      db.Prepare(
          "INSERT INTO note_text(note_text, rowid, text) SELECT 'delete', note, text FROM note "
          "WHERE clip=?1 AND source LIKE ?2"));
  HANDHOLD_TRY(words.Bind(1, row).Bind(2, source_pattern).Run());
  HANDHOLD_ASSIGN(Statement notes, db.Prepare("DELETE FROM note WHERE clip=?1 AND source LIKE ?2"));
  return notes.Bind(1, row).Bind(2, source_pattern).Run();
}

Status DropClip(Database& db, const std::string& id) {
  HANDHOLD_ASSIGN(Statement find, db.Prepare("SELECT clip FROM clip WHERE id=?1"));
  find.Bind(1, id);
  HANDHOLD_ASSIGN(const bool known, find.Step());
  if (!known) return {};
  const int64_t row = find.Integer(0);
  find.Reset();
  HANDHOLD_TRY(DropNotes(db, row, "%"));
  for (const char* table : {"clip", "clip_property", "clip_stream", "clip_channel", "clip_quality",
                            "feature", "clip_zone", "event", "tag"}) {
    HANDHOLD_ASSIGN(Statement drop,
                    db.Prepare("DELETE FROM " + std::string(table) + " WHERE clip=?1"));
    HANDHOLD_TRY(drop.Bind(1, row).Run());
  }
  return {};
}

/// The contacts that a fit found, beside the indexer's, under an origin of its own: step, slash,
/// the beginning of the artefact's hash. Nothing when its clip is not in this library.
Status PutFittedContacts(Database& db, const ArtefactInfo& info,
                         const artefact::ContactTrack& track) {
  int64_t clip = 0;
  for (const artefact::ProvenanceInput& input : info.provenance.inputs) {
    HANDHOLD_ASSIGN(Statement find, db.Prepare("SELECT clip FROM clip WHERE sha256=?1"));
    HANDHOLD_ASSIGN(const bool found, find.Bind(1, input.hash).Step());
    if (found && (clip == 0 || input.role == "clip")) clip = find.Integer(0);
  }
  if (clip == 0) return {};
  const std::string origin = info.provenance.step + "/" + info.hash.substr(0, 8);
  HANDHOLD_ASSIGN(Statement drop, db.Prepare("DELETE FROM event WHERE clip=?1 AND origin=?2"));
  HANDHOLD_TRY(drop.Bind(1, clip).Bind(2, origin).Run());
  HANDHOLD_ASSIGN(
      Statement put,
      db.Prepare("INSERT INTO event VALUES(?1, ?2, (SELECT ifnull(max(sequence), 0) + 1 "
                 "FROM event WHERE clip=?1), ?3, ?4, ?5, ifnull((SELECT stream FROM "
                 "clip_zone WHERE clip=?1 AND sensor=?8), 0), ?6, ?7)"));
  for (const artefact::Touch& touch : track.touches) {
    const auto event = [&](const char* kind, Timestamp t, Duration length, double value) {
      return put.Bind(1, clip)
          .Bind(2, t.ns())
          .Bind(3, length.ns())
          .Bind(4, kind)
          .Bind(5, origin)
          .Bind(6, value)
          .Bind(7, touch.b.name)
          .Bind(8, touch.sensor)
          .Run();
    };
    HANDHOLD_TRY(event("contact_on", touch.onset, touch.release - touch.onset, touch.peak_force_N));
    HANDHOLD_TRY(event("contact_off", touch.release, Duration(), 0.0));
  }
  return {};
}

}  // namespace

Result<std::string> HashFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{ErrorCode::kIo, path + ": cannot be read"};
  Sha256 hash;
  std::vector<char> buffer(1 << 16);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.Update(std::string_view(buffer.data(), static_cast<size_t>(in.gcount())));
  }
  return hash.Finish().ToHex();
}

Result<Database> CreateCatalogue(const std::string& path, const IndexerOptions& indexer) {
  DatabaseOptions options;
  options.mode = OpenMode::kCreate;
  HANDHOLD_ASSIGN(Database db, Database::Open(path, options));
  HANDHOLD_TRY(Migrate(db, FileKind::kCatalogue, 0));
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT INTO library VALUES(?1, ?2)"));
  HANDHOLD_TRY(put.Bind(1, "contact_on_N").Bind(2, indexer.contact_on_N).Run());
  HANDHOLD_TRY(put.Bind(1, "contact_off_N").Bind(2, indexer.contact_off_N).Run());
  HANDHOLD_TRY(put.Bind(1, "indexer").Bind(2, IndexerOptions::kVersion).Run());
  return db;
}

Result<Database> OpenCatalogue(const std::string& path, bool as_it_lies) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    return Error{ErrorCode::kNotFound, path + ": does not exist"};
  const Error foreign{ErrorCode::kInvalid,
                      path +
                          ": is not a Handhold catalogue and is not overwritten; move it away, "
                          "and the catalogue is made anew"};
  if (!std::filesystem::is_regular_file(path, error)) return foreign;
  if (std::filesystem::file_size(path, error) == 0)
    return Error{ErrorCode::kCorrupt, path + ": was never completely created"};
  DatabaseOptions options;
  options.mode = as_it_lies ? OpenMode::kRead : OpenMode::kReadWrite;
  options.immutable = as_it_lies;
  options.inspect = [&](const Database& db) -> Status {
    HANDHOLD_ASSIGN(const FileIdentity is, IdentifyFile(db));
    if (is.application != static_cast<int32_t>(FileKind::kCatalogue)) return foreign;
    if (is.revision > NewestRevision(FileKind::kCatalogue))
      return HeaderCheck(FileKind::kCatalogue)(db);
    if (is.sqlite && is.revision >= 1) return {};
    return Error{ErrorCode::kCorrupt, path + ": its header is damaged"};
  };
  Result<Database> db = Database::Open(path, options);
  if (!db) {
    // It is there: what keeps it from being opened (rights, too many files) is no reason to make
    // another.
    const bool shut = db.error().code == ErrorCode::kNotFound;
    return Error{shut ? ErrorCode::kIo : db.error().code, db.error().message};
  }
  if (const Status schema = CheckSchema(*db, FileKind::kCatalogue); !schema) {
    // Another revision's tables, or damage: either way a cache of ours that can be made again.
    const bool ours =
        schema.error().code == ErrorCode::kVersion || schema.error().code == ErrorCode::kCorrupt;
    return Error{ours ? ErrorCode::kCorrupt : schema.error().code, schema.error().message};
  }
  return db;
}

Result<IndexerOptions> GetIndexerOptions(const Database& catalogue) {
  IndexerOptions options;
  HANDHOLD_ASSIGN(Statement get, catalogue.Prepare("SELECT key, value FROM library"));
  HANDHOLD_TRY(get.ForEach([&](Statement& row) -> Status {
    if (row.Text(0) == "contact_on_N") options.contact_on_N = row.Real(1);
    if (row.Text(0) == "contact_off_N") options.contact_off_N = row.Real(1);
    return {};
  }));
  return options;
}

Result<ClipRows> ReadClipRows(const std::string& path, const IndexerOptions& indexer,
                              bool untrusted) {
  ClipRows rows;
  ClipReaderOptions options;
  options.untrusted = untrusted;
  struct stat status {};
  ::stat(path.c_str(), &status);
  HANDHOLD_ASSIGN(rows.clip, ClipReader::Open(path, options));
  HANDHOLD_ASSIGN(rows.index, IndexClip(*rows.clip, indexer));
  rows.file = std::filesystem::path(path).filename().string();
  HANDHOLD_ASSIGN(rows.sha256, HashFile(path));
  rows.bytes = static_cast<int64_t>(status.st_size);
  rows.mtime_ns =
      static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  for (const recording::StreamInfo& stream : rows.clip->streams()) {
    if (stream.kind != recording::StreamKind::kText) continue;
    HANDHOLD_ASSIGN(recording::SampleWindow texts, rows.clip->ReadAll(stream.id));
    std::ranges::move(texts.texts, std::back_inserter(rows.texts));
  }
  return rows;
}

Status PutClipRows(Database& db, const ClipRows& rows) {
  const ClipReader& clip = *rows.clip;
  HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(db));
  HANDHOLD_TRY(DropClip(db, clip.info().id.ToString()));
  // A file that was exchanged, or first read before its id was written.
  HANDHOLD_ASSIGN(Statement same, db.Prepare("SELECT id FROM clip WHERE path=?1"));
  HANDHOLD_ASSIGN(const bool other, same.Bind(1, rows.file).Step());
  const std::string other_id = other ? same.String(0) : "";
  same.Reset();
  if (other) HANDHOLD_TRY(DropClip(db, other_id));
  HANDHOLD_ASSIGN(Statement mended, db.Prepare("DELETE FROM problem WHERE path='clips/'||?1"));
  HANDHOLD_TRY(mended.Bind(1, rows.file).Run());
  int64_t row = 0;
  HANDHOLD_TRY(PutClipRow(db, rows, row));
  HANDHOLD_TRY(PutDetails(db, clip, row));
  HANDHOLD_TRY(PutIndex(db, clip, rows.index, row));
  for (const recording::Event& event : clip.events())
    HANDHOLD_TRY(PutNote(db, row, "event", event.text));
  for (const auto& [key, value] : clip.info().properties)
    HANDHOLD_TRY(PutNote(db, row, "property", value));
  for (const std::string& text : rows.texts) HANDHOLD_TRY(PutNote(db, row, "stream", text));
  return transaction.Commit();
}

Result<ArtefactRows> ReadArtefactRows(const std::string& path) {
  ArtefactRows rows;
  HANDHOLD_ASSIGN(rows.info, ReadArtefactInfo(path));
  struct stat status {};
  ::stat(path.c_str(), &status);
  rows.bytes = static_cast<int64_t>(status.st_size);
  rows.renewed_utc = RenewedAt(path);
  if (rows.info.kind == artefact::KindOf<artefact::ContactTrack>::name) {
    HANDHOLD_ASSIGN(rows.track, Load<artefact::ContactTrack>(path));
  }
  return rows;
}

Status PutArtefactRows(Database& db, const ArtefactRows& rows) {
  const ArtefactInfo& info = rows.info;
  HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(db));
  HANDHOLD_ASSIGN(
      Statement put,
      db.Prepare("INSERT OR REPLACE INTO artefact VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  HANDHOLD_TRY(put.Bind(1, info.hash)
                   .Bind(2, info.kind)
                   .Bind(3, info.provenance.step)
                   .Bind(4, info.provenance.version)
                   .Bind(5, info.provenance.parameters_json)
                   .Bind(6, info.provenance.made_utc.ns())
                   .Bind(7, info.provenance.tool)
                   .Bind(8, rows.bytes)
                   .Bind(9, std::max(info.provenance.made_utc, rows.renewed_utc).ns())
                   .Run());
  HANDHOLD_ASSIGN(Statement input,
                  db.Prepare("INSERT OR REPLACE INTO artefact_input VALUES(?1, ?2, ?3, ?4, ?5)"));
  for (size_t i = 0; i < info.provenance.inputs.size(); ++i) {
    const artefact::ProvenanceInput& in = info.provenance.inputs[i];
    HANDHOLD_TRY(input.Bind(1, info.hash)
                     .Bind(2, static_cast<int64_t>(i))
                     .Bind(3, in.role)
                     .Bind(4, in.hash)
                     .Bind(5, in.name)
                     .Run());
  }
  if (rows.track) HANDHOLD_TRY(PutFittedContacts(db, info, *rows.track));
  // One that could not be read was made again.
  HANDHOLD_ASSIGN(Statement forget, db.Prepare("DELETE FROM problem WHERE path=?1"));
  const std::string file = "derived/" + info.hash + ".art";
  HANDHOLD_TRY(forget.Bind(1, file).Run());
  return transaction.Commit();
}

Status CopyLedger(Database& db, const std::vector<LedgerEntry>& entries,
                  const std::string& clip_id) {
  HANDHOLD_ASSIGN(Transaction transaction, Transaction::Begin(db));
  HANDHOLD_ASSIGN(Statement clips, db.Prepare("SELECT clip, id FROM clip WHERE ?1='' OR id=?1"));
  std::map<std::string, int64_t> rows;
  clips.Bind(1, clip_id);
  HANDHOLD_TRY(clips.ForEach([&](Statement& row) -> Status {
    rows[row.String(1)] = row.Integer(0);
    return {};
  }));
  HANDHOLD_ASSIGN(Statement drop, db.Prepare("DELETE FROM tag WHERE clip=?1"));
  for (const auto& [id, row] : rows) {
    HANDHOLD_TRY(drop.Bind(1, row).Run());
    HANDHOLD_TRY(DropNotes(db, row, "ledger"));
  }
  HANDHOLD_ASSIGN(Statement put,
                  db.Prepare("INSERT OR REPLACE INTO tag VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  HANDHOLD_ASSIGN(Statement take, db.Prepare("UPDATE clip SET take=?1 WHERE clip=?2"));
  std::map<std::string_view, Statement> correct;
  for (const std::string_view field : CorrectableFields()) {
    HANDHOLD_ASSIGN(Statement statement,
                    db.Prepare("UPDATE clip SET " + std::string(field) + "=?1 WHERE clip=?2"));
    correct.emplace(field, std::move(statement));
  }
  for (const LedgerEntry& e : entries) {
    const auto row = rows.find(e.clip);
    if (row == rows.end()) continue;
    if (e.kind == LedgerKind::kNote) {
      HANDHOLD_TRY(PutNote(db, row->second, "ledger", e.value));
      continue;
    }
    if (e.kind == LedgerKind::kCorrection) {
      HANDHOLD_TRY(correct.at(e.name).Bind(1, e.value).Bind(2, row->second).Run());
      if (e.name == "name")
        HANDHOLD_TRY(take.Bind(1, TakeOfName(e.value)).Bind(2, row->second).Run());
    }
    put.Bind(1, row->second)
        .Bind(2, LedgerKindName(e.kind))
        .Bind(3, e.name)
        .Bind(4, e.value)
        .Bind(5, e.author)
        .Bind(6, e.utc.ns())
        .Bind(7, e.span ? e.span->begin.ns() : 0)
        .Bind(8, e.span ? e.span->end.ns() : 0);
    if (e.kind == LedgerKind::kRating) put.Bind(4, static_cast<int64_t>(e.value[0] - '0'));
    HANDHOLD_TRY(put.Run());
  }
  return transaction.Commit();
}

}  // namespace handhold::store
