/// Reads CSV: our own (schemas/exchange/csv.md), exactly; anybody's, when it has a row of names,
/// rows of numbers and a column of times.
///
/// Of a foreign file: UTF-8; separator ',', ';' or tab; decimal points, no commas; an optional row
/// of units under the names (a row whose time is no number); the time column is the one called
/// "time" or "t", with "_s", "_ms", "_us", "_ns", "(s)" ... or a unit below it (else seconds). An
/// empty cell and "nan" are missing values; any other cell that is no number refuses the file. Its
/// rate must be even: a missing row becomes a gap, an uneven one refuses the file. Other columns
/// become one analog stream, "csv/data".
#pragma once

#include <memory>
#include <span>
#include <string>

#include "database/exchange/import_source.h"

namespace handhold::exchange {

struct CsvReadOptions {
  double rate_Hz = 0.0;  ///< of a foreign file without times; 0: such a file is refused
  /// What a foreign table's columns are: the lines #clip and #stream of our own CSV
  /// (schemas/exchange/csv.md, "A table of your own"); empty: one analog stream, "csv/data".
  std::string head = {};
  std::string head_name = {};  ///< for messages
};

/// Fails with kNotFound or kIo, or kCorrupt and kUnsupported naming the line. Memory: 16 MB at
/// most.
Result<std::unique_ptr<ImportSource>> OpenCsv(const std::string& path,
                                              const CsvReadOptions& options = {});
/// `bytes` must outlive the source.
Result<std::unique_ptr<ImportSource>> OpenCsv(std::span<const uint8_t> bytes,
                                              const std::string& name,
                                              const CsvReadOptions& options = {});

}  // namespace handhold::exchange
