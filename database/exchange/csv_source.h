/// What the readers of CSV share: the lines of a file as an ImportSource, and rows collected into
/// blocks. Steps of csv_reader.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "database/exchange/byte_source.h"
#include "database/exchange/clip_json.h"
#include "database/exchange/csv_reader.h"
#include "database/exchange/import_source.h"
#include "database/exchange/lines.h"

namespace handhold::exchange {

inline constexpr std::string_view kCsvMagic = "#handhold-csv 1";
inline constexpr int kRowsPerBlock = 4096;
inline constexpr size_t kValuesPerBlock = 1 << 17;

/// Everything but the samples, filled by the reader that opens the file. Errors name file and line.
class CsvSource : public ImportSource {
 public:
  CsvSource(std::unique_ptr<ByteSource> bytes, std::string name)
      : bytes_(std::move(bytes)), path_(std::move(name)), lines_(*bytes_) {}
  std::string_view format() const override { return "csv"; }
  const recording::ClipInfo& info() const override { return head_.info; }
  const std::vector<recording::StreamInfo>& streams() const override { return head_.streams; }
  const recording::ClockMap& clock_map(int stream_id) const override {
    return head_.clocks[static_cast<size_t>(stream_id) - 1];
  }
  const std::vector<recording::ForceSensor>& force_sensors() const override {
    return head_.sensors;
  }
  const std::vector<recording::Event>& events() const override { return head_.events; }
  const std::vector<recording::Gap>& gaps() const override { return head_.gaps; }
  const recording::QualityRecord& quality() const override { return head_.quality; }
  const Issues& issues() const override { return issues_; }
  int64_t bytes() const override { return bytes_->size(); }

 protected:
  Error At(ErrorCode code, const std::string& what) const {
    return Error{code, path_ + ":" + std::to_string(lines_.number()) + ": " + what};
  }
  /// The next line; false at the end.
  Result<bool> NextLine() {
    HANDHOLD_ASSIGN(const std::optional<std::string_view> line, lines_.Next());
    if (line) line_ = *line;
    return line.has_value();
  }

  const std::unique_ptr<ByteSource> bytes_;
  const std::string path_;
  LineReader lines_;
  std::string_view line_;
  std::vector<std::string_view> cells_;
  ClipHead head_;
  Issues issues_;
};

/// CsvRows collected until they make a block: counters in sequence, values row by row.
struct CsvRows {
  recording::SampleBlock block;
  std::vector<double> by_row;
  size_t columns = 0;
  int64_t next_index = 0;

  /// Turns rows into columns and passes them on.
  Status Flush(const BlockVisitor& visit);
};

/// Our own (schemas/exchange/csv.md), and other people's tables.
Result<std::unique_ptr<ImportSource>> OpenOwnCsv(std::unique_ptr<ByteSource> bytes,
                                                 const std::string& name);
Result<std::unique_ptr<ImportSource>> OpenForeignCsv(std::unique_ptr<ByteSource> bytes,
                                                     const std::string& name,
                                                     const CsvReadOptions& options);

/// What a head says of the table itself: its line #table.
struct TableHead {
  std::string time, time_unit;
  std::vector<std::string> ignored;  ///< columns that nobody wants to hear of
};
Result<TableHead> ReadTableHead(const std::string& head, const std::string& name);

/// A table as the streams, sensors and events that `head` declares. kInvalid, naming head's line,
/// for a column that the table has not, or has in another unit.
Result<std::unique_ptr<ImportSource>> WithHead(std::unique_ptr<ImportSource> table,
                                               const std::string& head, const std::string& name);

}  // namespace handhold::exchange
