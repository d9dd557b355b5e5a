#include "database/exchange/csv_reader.h"

#include "database/exchange/csv_source.h"

namespace handhold::exchange {

Status CsvRows::Flush(const BlockVisitor& visit) {
  if (block.count == 0) return {};
  const auto n = static_cast<size_t>(block.count);
  if (block.point_counts.empty()) {
    block.values.resize(columns * n);
    for (size_t i = 0; i < n; ++i) {
      for (size_t c = 0; c < columns; ++c) block.values[c * n + i] = by_row[i * columns + c];
    }
  } else {
    block.values = by_row;
  }
  if (!block.origins.empty()) {
    std::vector<recording::SampleOrigin> turned(block.origins.size());
    for (size_t i = 0; i < n; ++i) {
      for (size_t c = 0; c < columns; ++c) turned[c * n + i] = block.origins[i * columns + c];
    }
    block.origins = std::move(turned);
  }
  block.first_index = next_index;
  HANDHOLD_TRY(visit(block));
  next_index += block.count;
  block.count = 0;
  by_row.clear();
  block.origins.clear();
  block.point_counts.clear();
  block.texts.clear();
  block.host_times.clear();
  return {};
}

namespace {

/// What a table of another program is and what to do with it; empty: nothing that is known. Nexus
/// writes parts under their names with the rate in the second line; TRC and MOT have heads of their
/// own.
std::string NameOfOthersTable(LineReader& lines) {
  const auto next = [&]() -> std::string_view {
    const auto line = lines.Next();
    return line && *line ? **line : std::string_view();
  };
  const std::string first(next());
  if (first.starts_with("PathFileType"))
    return "is a TRC file (marker positions): give the C3D that it was made of; or delete its "
           "first "
           "three lines and write one row of names, 'time' and NAME.x, NAME.y, NAME.z of each "
           "marker, above its numbers";
  // The part's name stands alone, but for separators.
  const std::string part = first.substr(0, first.find_last_not_of(",;\t") + 1);
  for (const char* nexus : {"Trajectories", "Devices", "Joints", "Model Outputs", "Segments"}) {
    double rate_Hz = 0;
    if (part != nexus) continue;
    std::string_view second = next();
    second = second.substr(0, second.find_first_of(",;\t"));
    if (!second.empty() && ParseNumber(second, rate_Hz))
      return "is a CSV that Nexus wrote (" + part +
             " first): let Nexus write C3D, which holds all of it with rates and units; or keep "
             "one "
             "part, with one row of names above its numbers";
  }
  // MOT and STO: names and numbers of their own until a line that ends the head.
  std::string_view line = first;
  for (int row = 0; row < 40; ++row, line = next()) {
    if (line != "endheader") continue;
    return "is a MOT or STO file: delete its lines up to 'endheader'; what follows is a table that "
           "is read (a row of names with 'time', then rows)";
  }
  return "";
}

Result<std::unique_ptr<ImportSource>> Open(std::unique_ptr<ByteSource> bytes,
                                           const std::string& name, const CsvReadOptions& options) {
  bool own = false;
  {
    LineReader lines(*bytes);
    HANDHOLD_ASSIGN(const std::optional<std::string_view> first, lines.Next());
    own = first && *first == kCsvMagic;
    if (first && (first->starts_with("\xFF\xFE") || first->starts_with("\xFE\xFF")))
      return Error{ErrorCode::kUnsupported, name + ": is UTF-16 text; save it as UTF-8"};
    if (first && first->find('\r') != std::string_view::npos)
      return Error{ErrorCode::kUnsupported,
                   name + ": its lines end with a carriage return alone; save it with line feeds"};
    if (first && first->starts_with("#handhold-csv ") && !own)
      return Error{ErrorCode::kVersion,
                   name + ": is '" + std::string(first->substr(0, 40)) + "', of a later program"};
  }
  if (own && !options.head.empty())
    return Error{ErrorCode::kInvalid,
                 name + ": has its own head; import it without " + options.head_name};
  if (own) return OpenOwnCsv(std::move(bytes), name);
  {
    LineReader lines(*bytes);
    const std::string others = NameOfOthersTable(lines);
    if (!others.empty()) return Error{ErrorCode::kUnsupported, name + ": " + others};
  }
  CsvReadOptions used = options;
  if (!options.head.empty()) {
    HANDHOLD_ASSIGN(const TableHead table, ReadTableHead(options.head, options.head_name));
    if (!table.time.empty()) used.time_column = table.time;
    if (!table.time_unit.empty()) used.time_unit = table.time_unit;
  }
  HANDHOLD_ASSIGN(std::unique_ptr<ImportSource> table,
                  OpenForeignCsv(std::move(bytes), name, used));
  if (options.head.empty()) return table;
  return WithHead(std::move(table), options.head, options.head_name);
}

}  // namespace

Result<std::unique_ptr<ImportSource>> OpenCsv(const std::string& path,
                                              const CsvReadOptions& options) {
  HANDHOLD_ASSIGN(std::unique_ptr<ByteSource> bytes, ByteSource::OpenFile(path));
  return Open(std::move(bytes), path, options);
}

Result<std::unique_ptr<ImportSource>> OpenCsv(std::span<const uint8_t> bytes,
                                              const std::string& name,
                                              const CsvReadOptions& options) {
  return Open(ByteSource::OfBytes(bytes), name, options);
}

}  // namespace handhold::exchange
