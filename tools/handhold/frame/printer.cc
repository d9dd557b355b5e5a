#include "tools/handhold/frame/printer.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "database/base/check.h"
#include "database/base/utf8.h"

namespace handhold::cli {
namespace {

constexpr size_t kHeldRows = 200;

/// Compact JSON. What JSON cannot hold (a number that is not finite) becomes null.
std::string Compact(const text::Json& json) {
  if (json.string()) return text::QuoteJson(*json.string());  // repairs what is not UTF-8
  const Result<std::string> text = text::WriteJson(json);
  return text ? *text : "null";
}

size_t Width(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) at += std::max<size_t>(1, Utf8Length(text, at));
  return count;
}

std::string Padded(const std::string& text, size_t width, bool right) {
  const size_t have = Width(text);
  const std::string space(width > have ? width - have : 0, ' ');
  return right ? space + text : text + space;
}

std::string Formatted(const char* format, int precision, double value) {
  char buffer[512];
  const int length = std::snprintf(buffer, sizeof buffer, format, precision, value);
  return std::string(buffer,
                     std::min<size_t>(static_cast<size_t>(std::max(length, 0)), sizeof buffer - 1));
}

std::string CsvQuoted(const std::string& text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (plain) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string JsonRow(const std::string& section, const std::vector<Column>& columns,
                    const std::vector<Cell>& cells) {
  std::string out = "{";
  if (!section.empty()) out += "\"section\":" + text::QuoteJson(section);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (out.size() > 1) out += ',';
    out += text::QuoteJson(columns[i].name) + ":" + Compact(cells[i].ToJson());
  }
  return out + "}";
}

std::string CsvRow(const std::vector<Cell>& cells) {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) out += (i > 0 ? "," : "") + cells[i].ToCsv();
  return out + "\n";
}

std::string CsvHeader(const std::vector<Column>& columns) {
  std::string out;
  for (size_t i = 0; i < columns.size(); ++i)
    out += (i > 0 ? "," : "") + CsvQuoted(columns[i].name);
  return out + "\n";
}

const std::string& Heading(const Column& column) {
  return column.heading.empty() ? column.name : column.heading;
}

/// Text that begins at column `at`, in lines that end before `columns` (0: one line), the further
/// ones indented to where it begins. Where little room is left they begin further to the left.
std::string Wrapped(const std::string& text, size_t at, int columns) {
  constexpr size_t kLeast = 30;
  const auto all = static_cast<size_t>(std::max(columns, 0));
  if (all <= kLeast || at + Width(text) <= all) return text;
  const size_t indent = at + kLeast > all ? 4 : at;
  std::string out;
  size_t column = at;
  bool fresh = true;  // nothing stands in this line yet
  for (size_t begin = 0; begin < text.size();) {
    // A piece ends with its blank or comma: JSON has no blanks.
    const size_t cut = text.find_first_of(" ,", begin);
    const size_t end = cut == std::string::npos ? text.size() : cut + 1;
    const std::string piece = text.substr(begin, end - begin);
    const size_t width = Width(piece) - (piece.back() == ' ' ? 1 : 0);
    if (!fresh && column + width > all) {
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    out += piece;
    column += Width(piece);
    fresh = false;
    begin = end;
  }
  return out;
}

}  // namespace

text::Json Cell::ToJson() const {
  // JSON has no such numbers. No number is null; an infinite one is something else, and says so.
  if (json_.type() == text::Json::Type::kNumber && !std::isfinite(*json_.number())) {
    if (std::isnan(*json_.number())) return nullptr;
    return *json_.number() > 0 ? "inf" : "-inf";
  }
  return json_;
}

std::string Cell::JoinedWords() const {
  std::string text;
  for (const text::Json& word : json_.elements())
    text += (text.empty() ? "" : ", ") + *word.string();
  return text;
}

std::string Cell::ToCsv() const {
  if (kind_ == Kind::kWords) return CsvQuoted(JoinedWords());
  const text::Json json = ToJson();
  if (json.is_null()) return "";
  return CsvQuoted(json.string() ? *json.string() : Compact(json));
}

std::string Cell::ToText(int decimals) const {
  if (json_.is_null()) return "-";
  if (kind_ == Kind::kWords) return Printable(JoinedWords());
  if (kind_ == Kind::kUtc) {
    const std::string utc = FormatUtc(Timestamp::FromNanoseconds(std::stoll(*json_.string())));
    return utc.substr(0, 10) + " " + utc.substr(11, 8) + "Z";
  }
  if (kind_ == Kind::kTime) {
    const auto ns = static_cast<double>(std::stoll(*json_.string()));
    return Formatted("%.*f s", decimals < 0 ? 3 : decimals, ns * 1e-9);
  }
  switch (json_.type()) {
    case text::Json::Type::kBool:
      return *json_.boolean() ? "yes" : "no";
    case text::Json::Type::kNumber:
      return decimals < 0 ? Formatted("%.*g", 6, *json_.number())
                          : Formatted("%.*f", decimals, *json_.number());
    case text::Json::Type::kString:
      return Printable(*json_.string());
    default:
      return Printable(Compact(json_));
  }
}

bool Cell::is_number() const {
  return kind_ == Kind::kTime || json_.type() == text::Json::Type::kInteger ||
         json_.type() == text::Json::Type::kNumber;
}

void Printer::Raw(std::string_view bytes) {
  if (write_error_ != 0 || reader_gone_ || bytes.empty()) return;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), out_) == bytes.size()) return;
  if (errno == EPIPE) {
    reader_gone_ = true;
  } else {
    write_error_ = errno == 0 ? EIO : errno;
  }
}

void Printer::Prose(std::string_view text) {
  if (format_ == Format::kText) Raw(text);
}

void Printer::BeginDocument() {
  CHECK(!in_document_);
  in_document_ = true;
  sections_ = 0;
  if (format_ == Format::kJson) Raw("{");
}

void Printer::EndDocument() {
  CHECK(in_document_);
  in_document_ = false;
  if (format_ == Format::kJson) Raw(sections_ > 0 ? "\n}\n" : "}\n");
}

void Printer::BeginSection(const std::string& section) {
  CHECK_EQ(in_document_, !section.empty());
  if (section.empty()) return;
  const bool first = sections_++ == 0;
  switch (format_) {
    case Format::kText:
      Raw((first ? "" : "\n") + (bold_ ? "\x1b[1m" + section + "\x1b[0m" : section) + "\n");
      break;
    case Format::kJson:
      Raw((first ? "\n" : ",\n") + text::QuoteJson(section) + ":");
      break;
    case Format::kCsv:
      Raw(first ? "" : "\n");
      break;
    case Format::kNdjson:
      break;
  }
}

void Printer::PrintRecord(const std::vector<Field>& fields) { PrintRecord("", fields); }

void Printer::PrintRecord(const std::string& section, const std::vector<Field>& fields) {
  BeginSection(section);
  std::vector<Column> columns;
  std::vector<Cell> cells;
  for (const Field& field : fields) {
    columns.push_back(field.column);
    cells.push_back(field.cell);
  }
  switch (format_) {
    case Format::kText: {
      size_t width = 0;
      for (const Column& column : columns) width = std::max(width, Width(Heading(column)));
      for (size_t i = 0; i < fields.size(); ++i) {
        Raw(Padded(Heading(columns[i]), width, false) + "  " +
            Wrapped(cells[i].ToText(columns[i].decimals), width + 2, columns_) + "\n");
      }
      break;
    }
    case Format::kJson:
      Raw(JsonRow("", columns, cells) + (in_document_ ? "" : "\n"));
      break;
    case Format::kNdjson:
      Raw(JsonRow(section, columns, cells) + "\n");
      break;
    case Format::kCsv:
      Raw(CsvHeader(columns) + CsvRow(cells));
      break;
  }
}

Table Printer::BeginTable(const std::string& section, std::vector<Column> columns) {
  CHECK(!section.empty());
  return Table(this, section, std::move(columns));
}

Status Printer::Finish() {
  if (in_document_) EndDocument();  // the verb failed half-way: what there is stays well-formed
  errno = 0;
  if (write_error_ == 0 && !reader_gone_ && std::fflush(out_) != 0 && errno != EPIPE)
    write_error_ = errno;
  if (write_error_ == 0) return {};
  return Error{ErrorCode::kIo,
               std::string("cannot write the results: ") + std::strerror(write_error_)};
}

Table::Table(Printer* printer, std::string section, std::vector<Column> columns)
    : printer_(printer), section_(std::move(section)), columns_(std::move(columns)) {
  state_.open = true;
  printer_->BeginSection(section_);
  if (printer_->format() == Format::kJson) printer_->Raw("[");
  if (printer_->format() == Format::kCsv) printer_->Raw(CsvHeader(columns_));
}

Table::~Table() { End(); }

void Table::Row(std::vector<Cell> cells) {
  CHECK(state_.open);
  CHECK_EQ(cells.size(), columns_.size());
  ++rows_;
  switch (printer_->format()) {
    case Format::kJson:
      printer_->Raw((rows_ == 1 ? "\n" : ",\n") + JsonRow("", columns_, cells));
      return;
    case Format::kNdjson:
      printer_->Raw(JsonRow(section_, columns_, cells) + "\n");
      return;
    case Format::kCsv:
      printer_->Raw(CsvRow(cells));
      return;
    case Format::kText:
      break;
  }
  std::vector<std::string> texts;
  std::vector<bool> right;
  for (size_t i = 0; i < cells.size(); ++i) {
    texts.push_back(cells[i].ToText(columns_[i].decimals));
    right.push_back(cells[i].is_number());
  }
  if (!widths_.empty()) return PrintTextRow(texts, right);
  held_.push_back(std::move(texts));
  held_right_.push_back(std::move(right));
  if (held_.size() == kHeldRows) PrintHeld();
}

void Table::PrintHeld() {
  // A column of numbers has its heading on the right as well.
  std::vector<std::string> headings;
  std::vector<bool> right(columns_.size(), false);
  for (size_t i = 0; i < columns_.size(); ++i) {
    headings.push_back(Heading(columns_[i]));
    widths_.push_back(Width(headings.back()));
    for (size_t r = 0; r < held_.size(); ++r) {
      widths_.back() = std::max(widths_.back(), Width(held_[r][i]));
      if (held_right_[r][i]) right[i] = true;
    }
  }
  if (printer_->bold_) printer_->Raw("\x1b[1m");
  PrintTextRow(headings, right);
  if (printer_->bold_) printer_->Raw("\x1b[0m");
  for (size_t r = 0; r < held_.size(); ++r) PrintTextRow(held_[r], held_right_[r]);
  held_.clear();
  held_right_.clear();
}

void Table::PrintTextRow(const std::vector<std::string>& texts, const std::vector<bool>& right) {
  std::string line;
  size_t before = 0;  // of the last column
  for (size_t i = 0; i + 1 < texts.size(); ++i) before += widths_[i] + 2;
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool last = i + 1 == texts.size() && !right[i];
    line += (i > 0 ? "  " : "") + (last ? Wrapped(texts[i], before, printer_->columns_)
                                        : Padded(texts[i], widths_[i], right[i]));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  printer_->Raw(line + "\n");
}

void Table::Cut() {
  if (!state_.open) return;
  state_.open = false;
  if (printer_->format() == Format::kText && rows_ > 0 && widths_.empty()) PrintHeld();
  if (printer_->format() == Format::kJson) printer_->Raw("\n");
}

void Table::End() {
  if (!state_.open) return;
  state_.open = false;
  if (printer_->format() == Format::kText && rows_ > 0 && widths_.empty()) PrintHeld();
  if (printer_->format() == Format::kText && rows_ == 0 && !section_.empty())
    printer_->Raw("none\n");
  if (printer_->format() == Format::kJson) {
    printer_->Raw(std::string(rows_ > 0 ? "\n]" : "]") + (printer_->in_document_ ? "" : "\n"));
  }
}

}  // namespace handhold::cli
