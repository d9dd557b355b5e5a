#include "database/exchange/lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace handhold::exchange {
namespace {
constexpr size_t kRead = 1 << 20;
constexpr size_t kMaxLine = 8 << 20;
}  // namespace

void LineReader::Rewind() {
  at_ = end_ = 0;
  offset_ = number_ = 0;
}

Status LineReader::Fill() {
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  const auto more =
      static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(kRead), bytes_.size() - offset_));
  if (buffer_.size() < end_ + more) buffer_.resize(end_ + more);
  HANDHOLD_TRY(bytes_.Read(offset_, std::span(buffer_.data() + end_, more)));
  end_ += more;
  offset_ += static_cast<int64_t>(more);
  return {};
}

Result<std::optional<std::string_view>> LineReader::Next() {
  size_t searched = at_;
  for (;;) {
    const auto* begin = buffer_.data() + at_;
    const void* newline =
        end_ > searched ? std::memchr(buffer_.data() + searched, '\n', end_ - searched) : nullptr;
    const bool last = offset_ >= bytes_.size();
    if (newline == nullptr && end_ - at_ > kMaxLine)
      return Error{ErrorCode::kUnsupported,
                   "line " + std::to_string(number_ + 1) + " is longer than 8 MB"};
    if (newline == nullptr && !last) {
      const size_t seen = end_ - at_;
      HANDHOLD_TRY(Fill());
      searched = at_ + seen;
      continue;
    }
    if (newline == nullptr && at_ == end_) return std::optional<std::string_view>();
    const uint8_t* stop =
        newline != nullptr ? static_cast<const uint8_t*>(newline) : buffer_.data() + end_;
    std::string_view line(reinterpret_cast<const char*>(begin), static_cast<size_t>(stop - begin));
    at_ += line.size() + (newline != nullptr ? 1 : 0);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (++number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    return std::optional<std::string_view>(line);
  }
}

void SplitCells(std::string_view line, char separator, std::vector<std::string_view>& cells) {
  cells.clear();
  for (size_t begin = 0;;) {
    size_t end = begin;
    if (begin < line.size() && line[begin] == '"') {
      for (++end; end < line.size(); ++end) {
        if (line[end] != '"') continue;
        if (end + 1 < line.size() && line[end + 1] == '"') {
          ++end;
        } else {
          break;
        }
      }
    }
    end = line.find(separator, end);
    cells.push_back(line.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return;
    begin = end + 1;
  }
}

std::string Unquoted(std::string_view cell) {
  if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return std::string(cell);
  std::string text;
  for (size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"') ++i;
  }
  return text;
}

std::string Quoted(std::string_view text) {
  if (text.find_first_of("\",;\t#") == std::string_view::npos && !text.starts_with(' ') &&
      !text.ends_with(' '))
    return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + '"';
}

bool ParseNumber(std::string_view cell, double& number) {
  while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
  while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
  if (cell.empty()) {
    number = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (cell.front() == '+') cell.remove_prefix(1);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return error == std::errc() && end == cell.data() + cell.size();
}

void AppendNumber(double number, std::string& out) {
  if (std::isnan(number)) return;
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  out.append(text, end);
}

}  // namespace handhold::exchange
