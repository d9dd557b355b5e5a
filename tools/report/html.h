/// Writes HTML that nests: elements are opened and closed by name, all text is escaped.
///
/// The page is XML-shaped (every element closed, every attribute quoted), so that it can be checked
/// by any XML reader. Nothing that came from a file reaches the page but through Text or an
/// attribute value. Not thread-safe. Tests: tests/tools/report/html_test.cc.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handhold::report {

/// & < > " ' as entities; control characters and broken UTF-8 as U+FFFD: fit for text and for
/// quoted attribute values.
std::string Escape(std::string_view text);

/// Numbers as the page shows them: `digits` significant digits, never an exponent for 1e-4 .. 1e6,
/// no trailing point; NaN is "–". The tests look for exactly these strings.
std::string Significant(double value, int digits);
/// With a fixed number of decimals; NaN is "–", -0 is 0.
std::string Fixed(double value, int decimals);
/// Up to six significant digits and no trailing zeros: 500, 0.5; NaN is "–".
std::string Plain(double value);
/// 12345678 -> "12 345 678", with narrow spaces that do not break.
std::string Grouped(long long value);

using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class Html {
 public:
  /// `attributes`: name and value, the value unescaped.
  Html& Open(std::string_view tag, Attributes attributes = {});
  /// CHECKs that `tag` is the innermost open element.
  Html& Close(std::string_view tag);
  Html& Text(std::string_view text);
  /// Open, Text, Close.
  Html& Element(std::string_view tag, std::string_view text, Attributes attributes = {});
  /// An element without content: <br/>.
  Html& Empty(std::string_view tag, Attributes attributes = {});
  /// Our own markup, already well-formed and escaped: the output of another Html, style sheets.
  Html& Raw(std::string_view markup);
  /// The markup; CHECKs that everything is closed. Leaves the writer empty.
  std::string Take();

 private:
  void Tag(std::string_view tag, Attributes attributes);
  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace handhold::report
