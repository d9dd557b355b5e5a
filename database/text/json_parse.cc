#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "database/base/utf8.h"
#include "database/text/file.h"
#include "database/text/json.h"

namespace handhold::text {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Decimal exponent of the first significant digit of a JSON number: > 0 for 10 and more. Tells
/// overflow from underflow, which std::from_chars reports alike.
int64_t LeadingExponent(std::string_view token) {
  int64_t exponent = 0;
  const size_t e = token.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view digits = token.substr(e + 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc{})
      exponent = digits.front() == '-' ? -1'000'000'000'000 : 1'000'000'000'000;
  }
  const std::string_view mantissa = token.substr(0, e);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return -1'000'000'000'000;
  exponent = std::clamp<int64_t>(exponent, -1'000'000'000'000, 1'000'000'000'000);
  return exponent + static_cast<int64_t>(point) - static_cast<int64_t>(first) -
         (first < point ? 1 : 0);
}

/// A recursive-descent parser; its stack is bounded by options.max_depth.
class Parser {
 public:
  Parser(std::string_view text, const JsonParseOptions& options) : text_(text), options_(options) {}

  Result<Json> Document() {
    if (text_.size() > options_.max_bytes) {
      return Error{ErrorCode::kInvalid, (options_.source.empty() ? "JSON text" : options_.source) +
                                            ": " + std::to_string(text_.size()) +
                                            " bytes are more than the limit of " +
                                            std::to_string(options_.max_bytes)};
    }
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = line_begin_ = 3;
    HANDHOLD_ASSIGN(Json out, Value(0));
    SkipSpace();
    if (at_ < text_.size()) return Fail("expected the end of the text, found " + Here());
    return out;
  }

 private:
  /// "file:3:17: what (byte 52)", pointing at the current byte.
  Error Fail(const std::string& what) const {
    std::string where = options_.source.empty()
                            ? "line " + std::to_string(line_) + ", column "
                            : options_.source + ":" + std::to_string(line_) + ":";
    where += std::to_string(at_ - line_begin_ + 1) + ": ";
    return {ErrorCode::kInvalid, where + what + " (byte " + std::to_string(at_) + ")"};
  }

  std::string Here() const {
    if (at_ >= text_.size()) return "the end of the text";
    const size_t length = Utf8Length(text_, at_);
    if (length == 0) return "a byte that is not UTF-8";
    if (length == 1 && (text_[at_] < 0x20 || text_[at_] == 0x7F)) return "a control character";
    return "'" + std::string(text_.substr(at_, length)) + "'";
  }

  void SkipSpace() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<Json> Value(int depth) {
    SkipSpace();
    const uint32_t line = line_;
    Result<Json> out = Unplaced(depth);
    if (out) out->set_line(line);
    return out;
  }

  Result<Json> Unplaced(int depth) {
    if (at_ >= text_.size()) return Fail("expected a value, found the end of the text");
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      if (depth >= options_.max_depth) {
        return Fail("nested deeper than the limit of " + std::to_string(options_.max_depth));
      }
      return c == '{' ? Object(depth) : Array(depth);
    }
    if (c == '"') {
      HANDHOLD_ASSIGN(std::string string, String());
      return Json(std::move(string));
    }
    if (c == '-' || IsDigit(c)) return Number();
    for (const auto& [word, value] :
         {std::pair<std::string_view, Json>{"true", true}, {"false", false}, {"null", nullptr}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    return Fail("expected a value, found " + Here());
  }

  Result<Json> Array(int depth) {
    ++at_;
    Json out = Json::Array();
    SkipSpace();
    if (Take(']')) return out;
    for (;;) {
      HANDHOLD_ASSIGN(Json element, Value(depth + 1));
      out.Push(std::move(element));
      SkipSpace();
      if (Take(']')) return out;
      if (!Take(',')) return Fail("expected ',' or ']', found " + Here());
    }
  }

  Result<Json> Object(int depth) {
    ++at_;
    Json::Members members;
    SkipSpace();
    if (!Take('}')) {
      for (;;) {
        SkipSpace();
        if (at_ >= text_.size() || text_[at_] != '"')
          return Fail("expected a key in quotes, found " + Here());
        const size_t key_at = at_;
        HANDHOLD_ASSIGN(std::string key, String());
        // Small objects are searched as they grow, so that the error points at the second key;
        // large ones at their end.
        if (members.size() < kSearchedMembers && Repeated(members, key)) {
          at_ = key_at;
          return Fail("the key " + QuoteJson(key) + " stands twice in one object");
        }
        SkipSpace();
        if (!Take(':')) return Fail("expected ':', found " + Here());
        HANDHOLD_ASSIGN(Json value, Value(depth + 1));
        members.push_back({std::move(key), std::move(value)});
        SkipSpace();
        if (Take('}')) break;
        if (!Take(',')) return Fail("expected ',' or '}', found " + Here());
      }
    }
    if (members.size() >= kSearchedMembers) {
      if (const std::string* key = FirstRepeated(members)) {
        return Fail("the key " + QuoteJson(*key) + " stands twice in the object that ends here");
      }
    }
    return Json::FromMembers(std::move(members));
  }

  static bool Repeated(const Json::Members& members, std::string_view key) {
    return std::any_of(members.begin(), members.end(),
                       [&](const JsonMember& m) { return m.key == key; });
  }

  static const std::string* FirstRepeated(const Json::Members& members) {
    std::vector<const std::string*> keys;
    for (const JsonMember& m : members) keys.push_back(&m.key);
    std::sort(keys.begin(), keys.end(),
              [](const std::string* a, const std::string* b) { return *a < *b; });
    const auto twin =
        std::adjacent_find(keys.begin(), keys.end(),
                           [](const std::string* a, const std::string* b) { return *a == *b; });
    return twin == keys.end() ? nullptr : *twin;
  }

  Result<Json> Number() {
    const size_t begin = at_;
    Take('-');
    if (at_ >= text_.size() || !IsDigit(text_[at_]))
      return Fail("expected a digit, found " + Here());
    if (!Take('0')) SkipDigits();
    bool integral = true;
    if (Take('.')) {
      integral = false;
      if (!SkipDigits()) return Fail("expected a digit after '.', found " + Here());
    }
    if (Take('e') || Take('E')) {
      integral = false;
      if (!Take('+')) Take('-');
      if (!SkipDigits()) return Fail("expected a digit in the exponent, found " + Here());
    }
    if (at_ < text_.size() && IsDigit(text_[at_]))
      return Fail("a number may not begin with 0 followed by digits");
    return Convert(text_.substr(begin, at_ - begin), integral, begin);
  }

  bool SkipDigits() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return at_ > begin;
  }

  Result<Json> Convert(std::string_view token, bool integral, size_t begin) {
    // "-0" is a double: an integer would lose the sign.
    if (integral && token != "-0") {
      int64_t integer = 0;
      if (std::from_chars(token.data(), token.data() + token.size(), integer).ec == std::errc{})
        return Json(integer);
    }
    double number = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), number).ec == std::errc{})
      return Json(number);
    if (LeadingExponent(token) < 0) return Json(token.front() == '-' ? -0.0 : 0.0);
    at_ = begin;
    return Fail("the number " + std::string(token.substr(0, 40)) +
                " is beyond the range of a double");
  }

  Result<std::string> String() {
    ++at_;
    std::string out;
    for (;;) {
      if (at_ >= text_.size()) return Fail("the text ends inside a string");
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (c == '\\') {
        HANDHOLD_TRY(Escape(out));
        continue;
      }
      if (static_cast<uint8_t>(c) < 0x20)
        return Fail("a control character in a string (write it as \\u00XX)");
      const size_t length = Utf8Length(text_, at_);
      if (length == 0) return Fail("a byte that is not UTF-8 in a string");
      out += text_.substr(at_, length);
      at_ += length;
    }
  }

  Status Escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    if (at_ + 1 >= text_.size()) return Fail("the text ends inside a string");
    const size_t which = kNames.find(text_[at_ + 1]);
    if (which != std::string_view::npos) {
      out += kValues[which];
      at_ += 2;
      return {};
    }
    if (text_[at_ + 1] != 'u') return Fail("unknown escape in a string");
    HANDHOLD_ASSIGN(uint32_t code, Hex4());
    if (code >= 0xDC00 && code <= 0xDFFF) return Fail("a lone low surrogate in a string");
    if (code >= 0xD800 && code <= 0xDBFF) {
      if (text_.substr(at_, 2) != "\\u") return Fail("a lone high surrogate in a string");
      HANDHOLD_ASSIGN(const uint32_t low, Hex4());
      if (low < 0xDC00 || low > 0xDFFF)
        return Fail("a high surrogate without its low one in a string");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendUtf8(code, out);
    return {};
  }

  /// Reads "\uXXXX" at the current byte.
  Result<uint32_t> Hex4() {
    const std::string_view digits = text_.substr(at_, 6).substr(2);
    uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || error != std::errc{} || end != digits.data() + 4) {
      return Fail("expected four hexadecimal digits after \\u");
    }
    at_ += 6;
    return code;
  }

  static constexpr size_t kSearchedMembers = 32;

  std::string_view text_;
  const JsonParseOptions& options_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Result<Json> ParseJson(std::string_view text, const JsonParseOptions& options) {
  return Parser(text, options).Document();
}

Result<Json> ReadJsonFile(const std::filesystem::path& path, JsonParseOptions options) {
  if (options.source.empty()) options.source = path.string();
  HANDHOLD_ASSIGN(const std::string text, ReadTextFile(path, options.max_bytes));
  return ParseJson(text, options);
}

}  // namespace handhold::text
