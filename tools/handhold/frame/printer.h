/// Results on stdout, from the same rows in each format: text for people, json, ndjson and csv for
/// programs.
///
/// In machine formats times are decimal strings of integer nanoseconds (a double loses them),
/// missing values and numbers that are not finite are null (json) or empty (csv), keys are the
/// column names with their unit. Text is cut for reading and may change; machine output is an
/// interface.
#pragma once

#include <concepts>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/base/time.h"
#include "database/text/json.h"

namespace handhold::cli {

/// What --format says.
enum class Format { kText, kJson, kNdjson, kCsv };

/// An instant of the wall clock; text shows it as 2026-11-18 12:00:00Z, machine output as ns since
/// 1970.
struct Utc {
  Timestamp time;
};

/// One value of a row. Built from what the verb has at hand, so that units and times are written in
/// one way by every verb. Cheap to move; owns its text.
class Cell {
 public:
  Cell(std::nullopt_t) {}  ///< missing: "-" in text
  template <std::same_as<bool> B>
  Cell(B value) : json_(value) {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  Cell(I value) : json_(value) {}
  Cell(double value) : json_(value) {}
  Cell(std::string value) : json_(std::move(value)) {}
  Cell(std::string_view value) : json_(value) {}
  Cell(const char* value) : json_(value) {}
  Cell(Timestamp clip_time) : json_(std::to_string(clip_time.ns())), kind_(Kind::kTime) {}
  Cell(Duration length) : json_(std::to_string(length.ns())), kind_(Kind::kTime) {}
  Cell(Utc utc) : json_(std::to_string(utc.time.ns())), kind_(Kind::kUtc) {}
  /// A list in json and ndjson; "good, slip" in text and csv.
  Cell(const std::vector<std::string>& words)
      : json_(text::Json::Array(words)), kind_(Kind::kWords) {}
  Cell(text::Json nested) : json_(std::move(nested)) {}  ///< compact JSON in text and csv
  template <typename T>
  Cell(const std::optional<T>& value) : Cell(value ? Cell(*value) : Cell(std::nullopt)) {}

  text::Json ToJson() const;  ///< for json and ndjson; a number that is not finite is null
  std::string ToCsv() const;  ///< quoted where a comma, quote or line end asks for it
  /// `decimals` < 0: six significant digits, times with three decimals of a second.
  std::string ToText(int decimals) const;
  /// Numbers, lengths and clip times; not instants of the wall clock.
  bool is_number() const;  ///< aligned to the right in text

 private:
  enum class Kind { kPlain, kTime, kUtc, kWords };
  std::string JoinedWords() const;
  text::Json json_;
  Kind kind_ = Kind::kPlain;
};

/// What a column is called and how its numbers are shown.
struct Column {
  std::string name;          ///< key in machine formats, with the unit: "peak_N", "length_ns"
  std::string heading = {};  ///< in text; `name` when empty
  int decimals = -1;         ///< of numbers and times in text; -1: see Cell::ToText
};

/// One line of a record.
struct Field {
  Column column;
  Cell cell;
};

class Printer;

/// Rows as they come; a section of a document without rows says "none" in text. In text the first
/// 200 rows are held back to find the widths; memory is bounded whatever the number of rows. Ends
/// itself when destroyed.
class Table {
 public:
  Table(Table&&) noexcept = default;
  Table& operator=(Table&&) = delete;
  ~Table();
  /// CHECKs that there is a cell per column.
  void Row(std::vector<Cell> cells);
  /// Prints what was held back and closes the array; no rows after it. A second call does nothing.
  void End();
  /// The same, but leaves the array of json open: an error has cut off the rows, and who reads them
  /// must not take them for all.
  void Cut();
  size_t rows() const { return rows_; }

 private:
  friend class Printer;
  Table(Printer* printer, std::string section, std::vector<Column> columns);
  void PrintHeld();
  void PrintTextRow(const std::vector<std::string>& texts, const std::vector<bool>& right);

  struct OpenFlag {  // moves to false, so that a moved-from table does not end twice
    bool open = false;
    OpenFlag() = default;
    OpenFlag(OpenFlag&& other) noexcept : open(other.open) { other.open = false; }
  };
  Printer* printer_;
  std::string section_;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> held_;
  std::vector<std::vector<bool>> held_right_;
  std::vector<size_t> widths_;
  size_t rows_ = 0;
  OpenFlag state_;
};

/// Writes one result: a table, a record, or a document of named tables and records. One thread.
class Printer {
 public:
  /// `out` is not owned. `bold`: headings in bold (a terminal that wants colour). `columns`: of a
  /// terminal, within which long texts at the end of a row are wrapped; 0: rows are one line each.
  Printer(FILE* out, Format format, bool bold, int columns = 0)
      : out_(out), format_(format), bold_(bold), columns_(columns) {}

  /// For verbs whose text answer is another one than their rows.
  Format format() const { return format_; }

  /// The whole result is one table: json prints an array.
  Table BeginTable(std::vector<Column> columns) { return Table(this, "", std::move(columns)); }
  /// The whole result is one record: json prints an object, text one "heading  value" line each.
  void PrintRecord(const std::vector<Field>& fields);

  /// The result has sections: call BeginDocument, then sections in turn, then EndDocument. json:
  /// one object with a key per section; ndjson: rows with a leading "section" key; csv: each
  /// section with its own header, a blank line between; text: each under its title.
  void BeginDocument();
  Table BeginTable(const std::string& section, std::vector<Column> columns);
  void PrintRecord(const std::string& section, const std::vector<Field>& fields);
  void EndDocument();  ///< closes the object of json; a second call is CHECKed against

  /// Prose for people; printed in text format only.
  void Prose(std::string_view text);
  /// Bytes as they are, whatever the format: for verbs whose result is a script or a page.
  void Raw(std::string_view bytes);

  /// True when whoever reads our output has gone (a closed pipe): long listings may stop.
  bool reader_gone() const { return reader_gone_; }
  /// Flushes; an error when anything could not be written, except to a reader that has gone.
  Status Finish();

 private:
  friend class Table;
  void BeginSection(const std::string& section);

  FILE* out_;
  Format format_;
  bool bold_;
  int columns_;
  bool in_document_ = false;
  size_t sections_ = 0;
  bool reader_gone_ = false;
  int write_error_ = 0;
};

}  // namespace handhold::cli
