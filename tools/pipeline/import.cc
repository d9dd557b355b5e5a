#include "tools/pipeline/import.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>

#include "database/base/digest.h"
#include "database/exchange/byte_source.h"
#include "database/exchange/csv_reader.h"
#include "database/exchange/ezc3d_reader.h"
#include "database/exchange/qualisys_tsv.h"
#include "database/store/clip_writer.h"
#include "database/text/file.h"

namespace handhold::pipeline {
namespace {

using exchange::ImportSource;

/// The file's modification time: the only date that C3D gives.
Timestamp FileTime(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return Timestamp::FromNanoseconds(int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
                                    status.st_mtim.tv_nsec);
}

recording::ClipInfo InfoFor(const ImportSource& source, const std::string& path,
                            const std::string& sha256, const ImportOptions& options) {
  recording::ClipInfo info = source.info();
  if (!options.subject.empty()) info.subject = options.subject;
  if (!options.session.empty()) info.session = options.session;
  if (!options.task.empty()) info.task = options.task;
  if (!options.prop.empty()) recording::SayProp(options.prop, &info);
  if (info.utc_start.ns() == 0) {
    info.utc_start = FileTime(path);
    info.properties["import.utc_start"] = "the file's modification time";
  }
  // Our own CSV carries the properties of the clip it was made from: where that came from is kept,
  // under a name that says so.
  std::string& format = info.properties["import.format"];
  if (format != source.format()) {
    if (!format.empty()) {
      info.properties["import.before.format"] = format;
      info.properties["import.before.file"] = info.properties["import.file"];
    }
    format = source.format();
    info.properties["import.file"] = std::filesystem::path(path).filename().string();
  }
  // The same holds for what it was read from: base name and SHA-256, never the path.
  std::string& hash = info.properties["import.sha256"];
  if (!hash.empty()) info.properties["import.before.sha256"] = hash;
  hash = sha256;
  if (!options.name.empty()) {
    info.name = options.name;
    info.properties.erase("import.file");
    info.properties.erase("import.before.file");
  }
  return info;
}

/// Who gives a pseudonym may not expect the person's name elsewhere in the clip.
void TellOfNames(const ImportSource& source, const recording::ClipInfo& info,
                 const ImportOptions& options, Issues& issues) {
  if (options.subject.empty()) return;
  if (options.name.empty())
    issues.push_back({"name", Severity::kNote,
                      "the clip is called '" + info.name +
                          "' and keeps the file's name; if that names the person, --name gives "
                          "another"});
  std::set<std::string> owners;  // "JaneRoe:RFIN": Vicon's subject stands before the label
  for (const recording::StreamInfo& stream : source.streams()) {
    for (const recording::Channel& channel : stream.channels) {
      const size_t colon = channel.name.find(':');
      if (colon != std::string::npos && colon > 0) owners.insert(channel.name.substr(0, colon));
    }
  }
  for (const std::string& owner : owners)
    issues.push_back({"channels", Severity::kNote,
                      "are called '" + owner +
                          ":...', as in the file; if that names the person, rename them there"});
}

void CountIn(const recording::SampleBlock& block, std::map<int, ImportedSamples>& samples) {
  if (block.count == 0) return;
  ImportedSamples& of = samples[block.stream_id];
  if (of.count == 0) of.begin_counter = block.first_counter;
  of.end_counter = block.first_counter + block.count;
  if (!block.host_times.empty()) {
    if (of.count == 0) of.first_host = block.host_times.front();
    of.last_host = block.host_times.back();
  }
  of.count += block.count;
}

Duration LengthOf(const std::map<int, ImportedSamples>& samples, const ImportSource& source) {
  Duration longest;
  for (const recording::StreamInfo& stream : source.streams()) {
    const auto found = samples.find(stream.id);
    if (found == samples.end()) continue;
    const ImportedSamples& of = found->second;
    longest = std::max(
        longest,
        stream.rate.numerator == 0
            ? of.last_host - of.first_host
            : Duration::Nanoseconds(recording::DeviceTimeOfCounter(of.end_counter, stream.rate) -
                                    recording::DeviceTimeOfCounter(of.begin_counter, stream.rate)));
  }
  return longest;
}

/// SHA-256 of a file, hex: what tells later which file a clip was made from, without its name.
Result<std::string> Sha256OfFile(const std::string& path, const std::function<bool()>& tick) {
  HANDHOLD_ASSIGN(const auto bytes, exchange::ByteSource::OpenFile(path));
  Sha256 hash;
  std::vector<uint8_t> part;
  for (int64_t at = 0; at < bytes->size(); at += std::ssize(part)) {
    if (tick && !tick()) return Error{ErrorCode::kCancelled, "cancelled"};
    part.resize(static_cast<size_t>(std::min<int64_t>(1 << 20, bytes->size() - at)));
    HANDHOLD_TRY(bytes->Read(at, part));
    hash.Update(std::as_bytes(std::span(part)));
  }
  return hash.Finish().ToHex();
}

/// When an id was made: the first 48 bits are milliseconds of UTC (RFC 9562).
std::string DayOf(const std::string& clip_id) {
  std::string digits = clip_id.substr(0, 13);
  std::erase(digits, '-');
  int64_t ms = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), ms, 16);
  return FormatUtc(Timestamp::FromNanoseconds(ms * 1'000'000)).substr(0, 10);
}

/// Warns when the library has other clips of the very same file.
Status TellOfEarlier(const store::Library& library, ImportedFile& file) {
  HANDHOLD_ASSIGN(const std::vector<store::ClipRow> earlier,
                  library.ClipsWhere("id<>?1 AND clip IN (SELECT clip FROM clip_property WHERE "
                                     "key='import.sha256' AND value=?2) ORDER BY id",
                                     [&](store::Statement& list) {
                                       list.Bind(1, file.clip).Bind(2, file.sha256);
                                     }));
  if (earlier.empty()) return {};
  const store::ClipRow& first = earlier.front();
  std::string& what = file.earlier;
  what = "this very file is in the library already: imported as clip '" + first.name + "' (" +
         first.id + ") on " + DayOf(first.id);
  if (earlier.size() > 1) what += ", and " + std::to_string(earlier.size() - 1) + " times more";
  file.issues.push_back({"file", Severity::kWarning, what});
  return {};
}

/// What reading found, kept with the clip: properties that list, search and CSV carry on, numbered
/// after those of an import before (our own CSV has them); and what makes a loss stand out wherever
/// takes are judged.
Status KeepFindings(const ImportSource& source, recording::ClipInfo info,
                    store::ClipWriter& writer) {
  if (source.issues().empty()) return {};
  recording::QualityRecord quality = source.quality();
  std::string first_loss;
  int losses = 0, number = 0;
  for (const Issue& issue : source.issues()) {
    const std::string finding = issue.where + ": " + issue.what;
    std::string key;
    do {
      char text[32];
      std::snprintf(text, sizeof text, "import.finding.%03d", ++number);
      key = text;
    } while (info.properties.contains(key));
    info.properties[key] = std::string(SeverityName(issue.severity)) + ": " + finding;
    if (issue.severity != Severity::kLoss) continue;
    if (losses++ == 0) first_loss = finding;
    const bool of_stream = std::ranges::any_of(
        source.streams(), [&](const auto& stream) { return stream.name == issue.where; });
    recording::QualityItem item;
    item.stream = of_stream ? issue.where : "";
    item.what = "import_loss";
    item.value = item.worst = 1;
    item.red = true;
    item.cause = finding;
    quality.items.push_back(std::move(item));
  }
  HANDHOLD_TRY(writer.SetInfo(info));
  if (losses == 0) return {};
  quality.keep = false;
  quality.advice += (quality.advice.empty() ? "" : " ") +
                    std::string("Import it from a whole file if there is one: ") + first_loss +
                    (losses > 1 ? "; and " + std::to_string(losses - 1) + " more." : ".");
  return writer.SetQuality(quality);
}

/// By what the file begins with, then by its name.
Result<std::string> FormatOf(const std::string& path) {
  HANDHOLD_ASSIGN(const auto bytes, exchange::ByteSource::OpenFile(path));
  std::vector<uint8_t> beginning(static_cast<size_t>(std::min<int64_t>(4096, bytes->size())));
  HANDHOLD_TRY(bytes->Read(0, beginning));
  const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (exchange::IsQualisysTsv(text)) return std::string("qtm-tsv");
  const bool table = text.starts_with("#handhold-csv") || extension == ".csv" ||
                     extension == ".tsv" || extension == ".txt" || extension == ".trc" ||
                     extension == ".mot" || extension == ".sto";
  // A table's second letter may be the P that a C3D has there.
  if (extension == ".c3d" || (!table && text.size() > 1 && text[1] == 0x50))
    return std::string("c3d");
  if (table) return std::string("csv");
  return Error{ErrorCode::kUnsupported,
               path + ": is of no format that is known; name one with --format-in"};
}

/// Imports one file; everything but the catalogue.
ImportedFile ImportOne(const std::string& path, const ImportOptions& options,
                       const std::function<std::string(const ClipId&)>& clip_path,
                       const std::function<bool()>& tick) {
  ImportedFile result;
  result.path = path;
  const auto work = [&]() -> Status {
    HANDHOLD_ASSIGN(const std::unique_ptr<ImportSource> source, OpenForeign(path, options));
    result.format = source->format();
    result.bytes = source->bytes();
    result.streams = static_cast<int>(source->streams().size());
    HANDHOLD_ASSIGN(result.sha256, Sha256OfFile(path, tick));
    recording::ClipInfo info = InfoFor(*source, path, result.sha256, options);
    result.name = info.name;
    std::map<int, ImportedSamples> counts;
    Status status;
    if (options.dry_run) {
      status = source->ForEachBlock(Duration::Seconds(2),
                                    [&](const recording::SampleBlock& block) -> Status {
                                      CountIn(block, counts);
                                      if (tick && !tick())
                                        return Error{ErrorCode::kCancelled, "cancelled"};
                                      return {};
                                    });
    } else {
      info.id = ClipId::New();
      status = WriteImport(*source, info, clip_path(info.id), counts, tick);
      if (status) result.clip = info.id.ToString();
    }
    result.issues = source->issues();
    TellOfNames(*source, info, options, result.issues);
    for (Issue& issue :
         recording::FindThingIssues(info, source->streams(), source->force_sensors()))
      result.issues.push_back(std::move(issue));
    if (status && options.cross_check && result.format == "c3d") {
      for (Issue& issue : exchange::CrossCheckC3d(path, options.c3d))
        result.issues.push_back(std::move(issue));
    }
    for (const auto& [stream, of] : counts) result.samples += of.count;
    result.length = LengthOf(counts, *source);
    return status;
  };
  if (Status status = work(); !status) {
    const Error& error = status.error();
    result.error = error.message.find(path) == std::string::npos ? error.Within(path) : error;
    // A disk that is full or fails: what there was of the clip is gone with it.
    if (!options.dry_run && error.code == ErrorCode::kIo)
      result.error->message += "; nothing of it was stored: import it again";
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<ImportSource>> OpenForeign(const std::string& path,
                                                  const ImportOptions& options) {
  std::string format = options.format;
  if (format == "auto") {
    HANDHOLD_ASSIGN(format, FormatOf(path));
  }
  if (format == "csv") {
    exchange::CsvReadOptions csv{.rate_Hz = options.c3d.rate_Hz};
    if (!options.head.empty()) {
      HANDHOLD_ASSIGN(csv.head, text::ReadTextFile(options.head));
      csv.head_name = options.head;
    }
    return exchange::OpenCsv(path, csv);
  }
  if (!options.head.empty()) return Error{ErrorCode::kInvalid, path + ": a head is for CSV alone"};
  if (format == "qtm-tsv") return exchange::OpenQualisysTsv(path);
  if (options.use_ezc3d) return exchange::OpenWithEzc3d(path, options.c3d);
  return exchange::OpenC3d(path, options.c3d);
}

Status WriteImport(ImportSource& source, const recording::ClipInfo& info, const std::string& path,
                   std::map<int, ImportedSamples>& samples, const std::function<bool()>& tick) {
  store::ClipWriterOptions options;
  options.already_complete = true;
  options.lossless = true;
  HANDHOLD_ASSIGN(const std::unique_ptr<store::ClipWriter> writer,
                  store::ClipWriter::Create(path, info, options));
  for (const recording::StreamInfo& stream : source.streams()) {
    HANDHOLD_ASSIGN(const int id, writer->AddStream(stream));
    HANDHOLD_TRY(writer->SetClockMap(id, source.clock_map(stream.id)));
  }
  for (const recording::ForceSensor& sensor : source.force_sensors())
    HANDHOLD_TRY(writer->AddForceSensor(sensor));
  for (const recording::Event& event : source.events()) HANDHOLD_TRY(writer->AddEvent(event));
  const size_t told_gaps = source.gaps().size();
  for (const recording::Gap& gap : source.gaps()) HANDHOLD_TRY(writer->AddGap(gap));
  HANDHOLD_TRY(writer->SetQuality(source.quality()));
  for (const auto& [name, data] : source.documents()) HANDHOLD_TRY(writer->PutDocument(name, data));
  HANDHOLD_TRY(source.ForEachBlock(options.compacted_chunk,
                                   [&](const recording::SampleBlock& block) -> Status {
                                     if (tick && !tick())
                                       return Error{ErrorCode::kCancelled, "cancelled"};
                                     CountIn(block, samples);
                                     return writer->Append(block);
                                   }));
  for (size_t i = told_gaps; i < source.gaps().size(); ++i)
    HANDHOLD_TRY(writer->AddGap(source.gaps()[i]));
  HANDHOLD_TRY(KeepFindings(source, info, *writer));
  return writer->Close();
}

Result<std::vector<ImportedFile>> ImportFiles(store::Library* library,
                                              const std::vector<std::string>& paths,
                                              const ImportOptions& options,
                                              const Progress& progress) {
  if (library != nullptr) HANDHOLD_TRY(library->MayStore());
  std::vector<ImportedFile> results(paths.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> cancelled{false};
  std::mutex mutex;
  std::condition_variable ready;
  std::vector<size_t> finished;
  const auto tick = [&] { return !cancelled.load(); };
  const auto clip_path = [&](const ClipId& id) { return library->ClipPath(id); };
  const auto worker = [&] {
    for (size_t i = next++; i < paths.size() && !cancelled; i = next++) {
      ImportedFile result = ImportOne(paths[i], options, clip_path, tick);
      const std::lock_guard lock(mutex);
      results[i] = std::move(result);
      finished.push_back(i);
      ready.notify_one();
    }
  };
  // ezc3d runs in a forked child: no other thread may be in the middle of an allocation then.
  const bool forks = options.use_ezc3d || options.cross_check;
  // One more than cores: one of them waits for the disk at any time.
  const size_t usual = std::max(1u, std::thread::hardware_concurrency()) + 1;
  const size_t wanted = options.jobs > 0 ? static_cast<size_t>(options.jobs) : usual;
  const size_t jobs = std::min(paths.size(), forks ? size_t{1} : wanted);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < jobs; ++t) threads.emplace_back(worker);

  const auto report = [&](size_t done) {
    if (progress && !progress(static_cast<double>(done) / static_cast<double>(paths.size()),
                              done < paths.size() ? paths[done] : ""))
      cancelled = true;
  };
  size_t done = 0;
  while (done < paths.size() && !cancelled) {
    size_t i = 0;
    {
      std::unique_lock lock(mutex);
      ready.wait_for(lock, std::chrono::milliseconds(200), [&] { return !finished.empty(); });
      if (finished.empty()) {
        lock.unlock();
        report(done);
        continue;
      }
      i = finished.back();
      finished.pop_back();
    }
    ImportedFile& result = results[i];
    if (!result.error && !result.clip.empty()) {
      if (Status indexed = library->Index(ClipId::Parse(result.clip).value()); !indexed)
        result.error = indexed.error().Within(result.path);
      // Asked here, one after another: of a file that is named twice the second is told.
      if (const Status told = TellOfEarlier(*library, result); !told && !result.error)
        result.error = told.error().Within(result.path);
    }
    report(++done);
  }
  for (std::thread& thread : threads) thread.join();
  if (!cancelled) return results;
  // What was complete before the interruption is in clips/ and stays; it is catalogued too.
  int unknown = 0;
  for (const size_t i : finished) {
    if (!results[i].error && !results[i].clip.empty() &&
        !library->Index(ClipId::Parse(results[i].clip).value()))
      ++unknown;
  }
  std::string text =
      "stopped after " + std::to_string(done) + " of " + std::to_string(paths.size()) + " files" +
      (library == nullptr ? "" : "; nothing was stored of one that was not read whole");
  if (unknown > 0) {
    text += "; " + std::to_string(unknown) +
            " of them are stored but not in the catalogue: 'handhold library rebuild' adds them";
  }
  return Error{ErrorCode::kCancelled, std::move(text)};
}

}  // namespace handhold::pipeline
