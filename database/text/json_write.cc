#include <algorithm>
#include <charconv>
#include <cmath>

#include "database/base/utf8.h"
#include "database/text/file.h"
#include "database/text/json.h"

namespace handhold::text {
namespace {

std::string ShortestText(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

/// Appends the quoted string; false, with what was valid so far appended, at the first byte that is
/// not UTF-8.
bool AppendQuoted(std::string_view text, bool repair, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t length = Utf8Length(text, at);
    if (length == 0) {
      if (!repair) return false;
      out += "\xEF\xBF\xBD";
      ++at;
      continue;
    }
    static constexpr std::string_view kNames = "\"\\bfnrt", kValues = "\"\\\b\f\n\r\t";
    const size_t which = kValues.find(c);
    if (which != std::string_view::npos) {
      out += '\\';
      out += kNames[which];
    } else if (static_cast<uint8_t>(c) < 0x20) {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  out += '"';
  return true;
}

class Writer {
 public:
  Writer(int indent, bool canonical) : indent_(indent), canonical_(canonical) {}

  Status Value(const Json& value, const std::string& path, int depth) {
    switch (value.type()) {
      case Json::Type::kNull:
        out_ += "null";
        return {};
      case Json::Type::kBool:
        out_ += *value.boolean() ? "true" : "false";
        return {};
      case Json::Type::kInteger:
        out_ += std::to_string(*value.integer());
        return {};
      case Json::Type::kNumber:
        return Number(*value.number(), path);
      case Json::Type::kString:
        return String(*value.string(), path);
      case Json::Type::kArray:
        return Array(value, path, depth);
      case Json::Type::kObject:
        return Object(value, path, depth);
    }
    return {};
  }

  std::string Take() { return std::move(out_); }

 private:
  static Error Fail(const std::string& path, const std::string& what) {
    return {ErrorCode::kInvalid, (path.empty() ? "the top value" : path) + ": " + what};
  }

  Status Number(double number, const std::string& path) {
    if (!std::isfinite(number)) {
      return Fail(path, std::isnan(number) ? "NaN cannot be written as JSON"
                                           : "an infinity cannot be written as JSON");
    }
    if (canonical_ && std::abs(number) <= kExactIntegers && std::trunc(number) == number) {
      out_ += std::to_string(static_cast<int64_t>(number));
      return {};
    }
    const std::string text = ShortestText(number);
    out_ += text;
    if (text.find_first_of(".e") == std::string::npos) out_ += ".0";
    return {};
  }

  Status String(const std::string& text, const std::string& path) {
    if (!AppendQuoted(text, false, out_))
      return Fail(path, "the string is not UTF-8: " + QuoteJson(text.substr(0, 60)));
    return {};
  }

  void NewLine(int depth) {
    out_ += '\n';
    out_.append(static_cast<size_t>(depth) * static_cast<size_t>(indent_), ' ');
  }

  Status Array(const Json& value, const std::string& path, int depth) {
    const Json::Elements& elements = value.elements();
    const bool flat = std::none_of(elements.begin(), elements.end(),
                                   [](const Json& e) { return e.is_array() || e.is_object(); });
    const bool lines = indent_ > 0 && !flat;
    out_ += '[';
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) out_ += indent_ > 0 && flat ? ", " : ",";
      if (lines) NewLine(depth + 1);
      HANDHOLD_TRY(Value(elements[i], JsonPathChild(path, i), depth + 1));
    }
    if (lines) NewLine(depth);
    out_ += ']';
    return {};
  }

  Status Object(const Json& value, const std::string& path, int depth) {
    std::vector<const JsonMember*> members;
    for (const JsonMember& m : value.members()) members.push_back(&m);
    if (canonical_) {
      std::sort(members.begin(), members.end(),
                [](const JsonMember* a, const JsonMember* b) { return a->key < b->key; });
    }
    out_ += '{';
    for (size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out_ += ',';
      if (indent_ > 0) NewLine(depth + 1);
      HANDHOLD_TRY(String(members[i]->key, path));
      out_ += indent_ > 0 ? ": " : ":";
      HANDHOLD_TRY(Value(members[i]->value, JsonPathChild(path, members[i]->key), depth + 1));
    }
    if (indent_ > 0 && !members.empty()) NewLine(depth);
    out_ += '}';
    return {};
  }

  const int indent_;
  const bool canonical_;
  std::string out_;
};

Result<std::string> Write(const Json& value, int indent, bool canonical) {
  Writer writer(indent, canonical);
  HANDHOLD_TRY(writer.Value(value, "", 0));
  return writer.Take();
}

}  // namespace

Result<std::string> WriteJson(const Json& value, const JsonWriteOptions& options) {
  return Write(value, options.indent, false);
}

Result<std::string> CanonicalJson(const Json& value) { return Write(value, 0, true); }

Status WriteJsonFile(const std::filesystem::path& path, const Json& value,
                     const JsonWriteOptions& options) {
  Result<std::string> text = WriteJson(value, options);
  if (!text) return text.error().Within(path.string());
  return WriteTextFile(path, *text + "\n");
}

std::string QuoteJson(std::string_view text) {
  std::string out;
  AppendQuoted(text, true, out);
  return out;
}

std::string DescribeJson(const Json& value) {
  constexpr size_t kLongest = 60;
  const std::string name(JsonTypeName(value.type()));
  switch (value.type()) {
    case Json::Type::kNull:
      return name;
    case Json::Type::kBool:
      return name + (*value.boolean() ? " true" : " false");
    case Json::Type::kInteger:
      return name + " " + std::to_string(*value.integer());
    case Json::Type::kNumber:
      return name + " " + ShortestText(*value.number());
    case Json::Type::kString:
      return name + " " +
             (value.string()->size() <= kLongest
                  ? QuoteJson(*value.string())
                  : QuoteJson(value.string()->substr(0, kLongest)) + "...");
    case Json::Type::kArray:
      return name + " of " + std::to_string(value.elements().size());
    case Json::Type::kObject:
      return name + " of " + std::to_string(value.members().size());
  }
  return name;
}

}  // namespace handhold::text
