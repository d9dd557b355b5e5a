#include "tools/pipeline/export.h"

#include <cctype>
#include <filesystem>

#include "database/exchange/csv_writer.h"

namespace handhold::pipeline {
namespace {

std::string ExtensionOf(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
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
  HANDHOLD_ASSIGN(
      exchange::ExportReport report,
      csv ? exchange::WriteCsv(*clip, path, {options.streams, options.dry_run, options.proceed})
          : exchange::WriteC3d(
                *clip, path,
                {options.as_integers, options.streams, options.dry_run, options.proceed}));
  for (Issue& issue : damage) issue.severity = Severity::kLoss;
  report.issues.insert(report.issues.begin(), damage.begin(), damage.end());
  for (const std::string& name : documents)
    report.issues.push_back({"document '" + name + "'", Severity::kLoss,
                             std::string(csv ? "CSV" : "C3D") + " has no place for it"});
  return report;
}

}  // namespace handhold::pipeline
