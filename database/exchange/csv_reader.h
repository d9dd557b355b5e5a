/// Reads CSV: our own (schemas/exchange/csv.md), exactly; anybody's, when it has a row of names,
/// rows of numbers and a column of times.
///
/// Of a foreign file: UTF-8; separator ',', ';' or tab; decimal points, no commas; an optional row
/// of units under the names (a row whose time is no number); the time column is the one called
/// "time", "t" or "timestamp", with "_s", "_ms", "_us", "_ns", "(s)" ... or a unit below it (else
/// seconds). Blanks round names say nothing. A table that begins with numbers is read where a rate
/// or a head says when its rows were: its columns are column1, column2 and so on. Other programs'
/// tables in several parts (Nexus CSV, TRC, MOT) are refused by their names. An
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
  /// Of a foreign table: which column holds the times, and in which unit (s, ms, us, ns). Empty:
  /// the names that are taken for time, seconds. A head's #table says both.
  std::string time_column = {};
  std::string time_unit = {};
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
