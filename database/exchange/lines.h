/// Lines of a text file, one after another in constant memory, and their cells.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/exchange/byte_source.h"

namespace handhold::exchange {

class LineReader {
 public:
  explicit LineReader(const ByteSource& bytes) : bytes_(bytes) {}

  /// The next line without its end ("\n" or "\r\n"), valid until the next call; nothing at the end
  /// of the file. A byte-order mark before the first line is skipped. kUnsupported for a line above
  /// 8 MB.
  Result<std::optional<std::string_view>> Next();
  /// Of the line last returned, from 1.
  int64_t number() const { return number_; }
  /// Byte where the next line begins.
  int64_t offset() const { return offset_ - static_cast<int64_t>(end_ - at_); }
  void Rewind();

 private:
  Status Fill();
  const ByteSource& bytes_;
  std::vector<uint8_t> buffer_;
  size_t at_ = 0, end_ = 0;
  int64_t offset_ = 0;  ///< of the byte after the buffer's last
  int64_t number_ = 0;
};

/// Cells between separators; a cell may stand in double quotes, inside which "" is a quote (one
/// line only).
void SplitCells(std::string_view line, char separator, std::vector<std::string_view>& cells);
/// A cell without its quotes.
std::string Unquoted(std::string_view cell);
/// The text as a cell: quoted where it must be.
std::string Quoted(std::string_view text);

/// A number, NaN for an empty cell; false when it is neither.
bool ParseNumber(std::string_view cell, double& number);
/// Appends the shortest text that reads back to the same bits; nothing for NaN.
void AppendNumber(double number, std::string& out);

}  // namespace handhold::exchange
