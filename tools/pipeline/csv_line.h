/// A line of CSV in the making. Internal to the pipeline.
#pragma once

#include <Eigen/Core>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace handhold::pipeline {

class CsvLine {
 public:
  void Word(std::string_view word) {
    if (begun_) text_ += ',';
    begun_ = true;
    if (word.find_first_of(",\"\n") == std::string_view::npos) {
      text_ += word;
      return;
    }
    text_ += '"';
    for (const char c : word) text_ += c == '"' ? std::string("\"\"") : std::string(1, c);
    text_ += '"';
  }
  /// Shortest text that reads back to the same bits; NaN: an empty cell.
  void Number(double value) {
    if (std::isnan(value)) return Word("");
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    Word(std::string_view(digits, static_cast<size_t>(end - digits)));
  }
  template <typename Vector>
  void Numbers(const Vector& v) {
    for (Eigen::Index i = 0; i < v.size(); ++i) Number(v[i]);
  }
  std::string Take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
  bool begun_ = false;
};

}  // namespace handhold::pipeline
