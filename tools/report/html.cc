#include "tools/report/html.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "database/base/check.h"
#include "database/base/utf8.h"

namespace handhold::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kNone = "\xE2\x80\x93";         // en dash
constexpr std::string_view kNarrowSpace = "\xE2\x80\xAF";  // does not break
constexpr std::string_view kMinus = "\xE2\x88\x92";

std::string WithMinus(std::string digits) {
  if (digits.find_first_not_of("-0.") == std::string::npos && digits.front() == '-') {
    return digits.substr(1);  // -0.00
  }
  return digits.front() == '-' ? std::string(kMinus) + digits.substr(1) : digits;
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const size_t n = Utf8Length(text, 0);
    const char c = text.front();
    if (n == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    if (n > 1) {
      out += text.substr(0, n);
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
      out += kReplacement;
    } else {
      out += c;
    }
    text.remove_prefix(n);
  }
  return out;
}

std::string Fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::string(kNone);
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return WithMinus(text);
}

std::string Significant(double value, int digits) {
  if (!std::isfinite(value)) return std::string(kNone);
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-4 || size >= 1e6) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
    std::string s = text;
    const size_t e = s.find('e');
    const int exponent = std::atoi(s.c_str() + e + 1);
    static constexpr std::string_view kSuperscript[] = {"⁰", "¹", "²", "³", "⁴",
                                                        "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string power = exponent < 0 ? "⁻" : "";
    for (const char c : std::to_string(std::abs(exponent))) power += kSuperscript[c - '0'];
    return WithMinus(s.substr(0, e)) + "·10" + power;
  }
  char rounded[64];
  std::snprintf(rounded, sizeof rounded, "%.*e", digits - 1, value);  // 0.09996 at 3 digits is
                                                                      // 0.100
  const int exponent =
      static_cast<int>(std::floor(std::log10(std::abs(std::atof(rounded))) + 1e-9));
  return Fixed(value, std::max(0, digits - 1 - exponent));
}

std::string Plain(double value) {
  if (!std::isfinite(value)) return std::string(kNone);
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return WithMinus(text);
}

std::string Grouped(long long value) {
  const std::string digits = std::to_string(std::llabs(value));
  std::string out(value < 0 ? kMinus : "");
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits.size() > 4) out += kNarrowSpace;
    out += digits[i];
  }
  return out;
}

void Html::Tag(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    out_ += Escape(value);
    out_ += '"';
  }
}

Html& Html::Open(std::string_view tag, Attributes attributes) {
  Tag(tag, attributes);
  out_ += '>';
  open_.emplace_back(tag);
  return *this;
}

Html& Html::Close(std::string_view tag) {
  CHECK(!open_.empty());
  CHECK_EQ(open_.back(), tag);
  open_.pop_back();
  out_ += "</";
  out_ += tag;
  out_ += '>';
  static constexpr std::string_view kBlocks[] = {"p",   "tr",    "table", "section", "figure",
                                                 "li",  "div",   "h1",    "h2",      "h3",
                                                 "svg", "style", "title", "g"};
  if (std::find(std::begin(kBlocks), std::end(kBlocks), tag) != std::end(kBlocks)) out_ += '\n';
  return *this;
}

Html& Html::Text(std::string_view text) {
  out_ += Escape(text);
  return *this;
}

Html& Html::Element(std::string_view tag, std::string_view text, Attributes attributes) {
  return Open(tag, attributes).Text(text).Close(tag);
}

Html& Html::Empty(std::string_view tag, Attributes attributes) {
  Tag(tag, attributes);
  out_ += "/>";
  return *this;
}

Html& Html::Raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

std::string Html::Take() {
  CHECK(open_.empty());
  return std::exchange(out_, {});
}

}  // namespace handhold::report
