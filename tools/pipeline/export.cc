#include "tools/pipeline/export.h"

#include <cctype>
#include <filesystem>

#include "database/exchange/csv_writer.h"

namespace handhold::pipeline {

Result<exchange::ExportReport> ExportClip(const store::Library& library, const std::string& key,
                                          const std::string& path, const ExportOptions& options) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (extension != ".c3d" && extension != ".csv")
    return Error{ErrorCode::kInvalid, path + ": its extension says the format: .c3d or .csv"};
  if (options.as_integers && extension != ".c3d")
    return Error{ErrorCode::kInvalid, "only C3D is written as integers"};
  HANDHOLD_ASSIGN(const auto clip, library.OpenClip(key));
  HANDHOLD_ASSIGN(const std::vector<std::string> documents, clip->DocumentNames());
  const bool csv = extension == ".csv";
  HANDHOLD_ASSIGN(
      exchange::ExportReport report,
      csv ? exchange::WriteCsv(*clip, path, {options.streams, options.dry_run, options.proceed})
          : exchange::WriteC3d(
                *clip, path,
                {options.as_integers, options.streams, options.dry_run, options.proceed}));
  for (const std::string& name : documents)
    report.issues.push_back({"document '" + name + "'", Severity::kLoss,
                             std::string(csv ? "CSV" : "C3D") + " has no place for it"});
  return report;
}

}  // namespace handhold::pipeline
