#include "tools/pipeline/export.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>

#include "database/exchange/c3d_properties.h"
#include "database/exchange/csv_writer.h"

namespace handhold::pipeline {
namespace {

std::string ExtensionOf(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

/// What people said of the clip stands in the library's ledger and goes with no file.
Issues LeftInTheLedger(const store::Library& library, const recording::ClipInfo& info,
                       const std::string& format) {
  const auto note = [&](const std::string& what) { return Issue{"ledger", Severity::kNote, what}; };
  if (const Status readable = library.ledger().readable(); !readable)
    return {note("cannot be read: what was said of the clip stays there")};
  std::vector<std::string> tags, labels, consents;
  std::string rating;
  size_t notes = 0;
  Issues issues, damage;
  for (const bool of_subject : {false, true}) {
    const std::string about = of_subject ? info.subject : info.id.ToString();
    if (about.empty()) continue;
    const auto entries = library.ledger().Current(about, &damage);
    if (!entries) return {note("cannot be read: " + entries.error().message)};
    for (const store::LedgerEntry& entry : *entries) {
      if ((entry.kind == store::LedgerKind::kConsent) != of_subject) continue;
      if (entry.kind == store::LedgerKind::kTag) tags.push_back(entry.name);
      if (entry.kind == store::LedgerKind::kRating) rating = entry.value;
      if (entry.kind == store::LedgerKind::kLabel) labels.push_back(entry.name + " " + entry.value);
      if (entry.kind == store::LedgerKind::kNote) ++notes;
      if (entry.kind == store::LedgerKind::kConsent)
        consents.push_back(entry.name + " " + entry.value);
    }
  }
  std::string said;
  const auto add = [&said](const char* what, const std::vector<std::string>& words) {
    for (size_t i = 0; i < words.size(); ++i)
      said += (i > 0 ? ", " : (said.empty() ? "" : "; ") + (what + std::string(" "))) + words[i];
  };
  add("tags", tags);
  if (!rating.empty()) add("rating", {rating});
  add("labels", labels);
  if (notes > 0) add("notes:", {std::to_string(notes)});
  add("consent of the subject:", consents);
  if (!said.empty())
    issues.push_back(note(format +
                          " has no place for what was said of the clip, which stays in "
                          "the library's ledger: " +
                          said));
  if (!damage.empty())
    issues.push_back(note("is damaged, and more may have been said: 'handhold library check'"));
  return issues;
}

}  // namespace

Status CheckExportPath(const std::string& path, bool as_integers) {
  const std::string extension = ExtensionOf(path);
  if (extension != ".c3d" && extension != ".csv")
    return Error{ErrorCode::kInvalid, path + ": its extension says the format: .c3d or .csv"};
  if (as_integers && extension == ".csv")
    return Error{ErrorCode::kInvalid, path + ": only C3D is written as integers"};
  return {};
}

Result<exchange::ExportReport> ExportClip(const store::Library& library, const std::string& key,
                                          const std::string& path, const ExportOptions& options) {
  HANDHOLD_TRY(CheckExportPath(path, options.as_integers));
  const bool csv = ExtensionOf(path) == ".csv";
  Issues damage;
  store::ClipReaderOptions reading;
  reading.damage = options.damaged ? &damage : nullptr;
  reading.read_around = options.damaged;
  HANDHOLD_ASSIGN(const auto clip, library.OpenClip(key, reading));
  std::vector<std::string> documents;
  if (Result<std::vector<std::string>> names = clip->DocumentNames(); names) {
    documents = *std::move(names);
  } else if (options.damaged) {
    damage.push_back({"documents", Severity::kLoss, names.error().message});
  } else {
    return names.error();
  }
  std::map<std::string, std::array<geometry::Vec3, 4>> corners_m;
  if (std::ranges::count(documents, exchange::kC3dParametersDocument) > 0) {
    if (const auto said = clip->Document(exchange::kC3dParametersDocument))
      corners_m = exchange::C3dCorners(*said);
  }
  HANDHOLD_ASSIGN(exchange::ExportReport report,
                  csv ? exchange::WriteCsv(*clip, path,
                                           {.streams = options.streams,
                                            .dry_run = options.dry_run,
                                            .in_si = !options.raw,
                                            .proceed = options.proceed})
                      : exchange::WriteC3d(*clip, path,
                                           {options.as_integers, options.streams, options.dry_run,
                                            corners_m, options.proceed}));
  for (Issue& issue : damage) issue.severity = Severity::kLoss;
  report.issues.insert(report.issues.begin(), damage.begin(), damage.end());
  const std::string format = csv ? "CSV" : "C3D";
  if (!clip->closed())
    report.issues.push_back(
        {"clip", Severity::kWarning,
         "is not finished: it is being recorded, or its recorder died; the file "
         "ends with what was stored by now ('handhold library rebuild "
         "--finish' closes one whose recorder died)"});
  for (const std::string& name : documents)
    report.issues.push_back(
        {"document '" + name + "'", Severity::kWarning, format + " has no place for it"});
  std::ranges::move(LeftInTheLedger(library, clip->info(), format),
                    std::back_inserter(report.issues));
  return report;
}

}  // namespace handhold::pipeline
