/// Writes clips as our own CSV: all of it, so that reading it back gives the same clip, bit for
/// bit; and plain enough that a spreadsheet or pandas reads it. Format: schemas/exchange/csv.md.
#pragma once

#include "database/exchange/c3d_writer.h"

namespace handhold::exchange {

struct CsvWriteOptions {
  std::vector<std::string> streams = {};  ///< by name; empty: all
  bool dry_run = false;
  /// Forces as the wrench of the hand on the object in N and N m, and what is in a unit of a known
  /// dimension in SI: for people and spreadsheets. Else as recorded: counts and their calibration,
  /// bit for bit.
  bool in_si = false;
  std::function<bool()> proceed = {};  ///< as C3dWriteOptions
};

/// Fails like WriteC3d. What CSV does not hold (clock pairs) is in the report's issues; documents,
/// which no ClipSource has, are named by tools/pipeline/export.h. Memory: 2 s
/// of a stream, or 4 MB where that is more.
Result<ExportReport> WriteCsv(const recording::ClipSource& clip, const std::string& path,
                              const CsvWriteOptions& options = {});

}  // namespace handhold::exchange
