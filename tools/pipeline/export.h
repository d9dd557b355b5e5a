/// Clips out of the library, as files that other programs read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "database/exchange/c3d_writer.h"
#include "database/store/library.h"

namespace handhold::pipeline {

struct ExportOptions {
  std::vector<std::string> streams = {};  ///< by name; empty: all
  bool as_integers = false;               ///< C3D of 16 bits per value
  bool raw = false;                       ///< CSV as recorded, bit for bit, not in SI
  bool damaged = false;                   ///< what can be read of a clip that is damaged
  bool dry_run = false;                   ///< say what would be lost, write nothing
  std::function<bool()> proceed = {};     ///< asked now and then; false cancels
};

/// kInvalid for a path whose extension is none that ExportClip writes, or not as integers.
Status CheckExportPath(const std::string& path, bool as_integers);

/// Writes the clip (id, its beginning, or name) to `path`, in the format of the path's extension:
/// .c3d or .csv. Fails with kInvalid for any other, when the file exists, or for a stream that
/// there is not, kCorrupt for a damaged clip, unless `damaged` is asked for; what the format cannot
/// hold, and what is damaged, is in the report. The file appears whole or not at
/// all; kCancelled leaves nothing behind.
Result<exchange::ExportReport> ExportClip(const store::Library& library, const std::string& key,
                                          const std::string& path,
                                          const ExportOptions& options = {});

}  // namespace handhold::pipeline
