/// Reading a Json tree with typed getters whose errors name file, line, path, what was expected and
/// what was found: `rig.toml:12: /bodies/3/mass_kg: expected a number, found string "x"`.
///
///   text::JsonView body(json, "hand.json");
///   HANDHOLD_ASSIGN(const double mass_kg, body.Get<double>("mass_kg"));
///   HANDHOLD_ASSIGN(const std::string joint, body.GetOr<std::string>("joint", "fixed"));
///   HANDHOLD_ASSIGN(const auto p_m, body.GetFixed<3>("position_m"));
///   HANDHOLD_ASSIGN(const auto markers, body.GetItems("markers"));  // vector<JsonView> with paths
///
/// Every error is kInvalid unless a caller of Fail says otherwise. Units are those of the key's
/// name; nothing is converted here. Pinned by tests/database/text/json_view_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/text/json.h"

namespace handhold::text {

/// A value in a tree together with its path. Holds a pointer into the tree: the Json it was made
/// from must outlive it and stay unchanged. Reading is const: many threads may read one tree.
/// Copying it copies the path; asking for a member is a linear search, as objects keep the order of
/// their file.
class JsonView {
 public:
  /// `source` is the file name (or other origin) that errors begin with; may be empty.
  explicit JsonView(const Json& root, std::string source = "");
  explicit JsonView(Json&&, std::string = "") = delete;  // it would dangle

  const Json& value() const { return *value_; }
  const std::string& path() const { return path_; }  ///< JSON pointer; "" is the root

  /// True when this is an object with a member of that name (null counts as present).
  bool Has(std::string_view key) const { return value_->Find(key) != nullptr; }

  /// The member, which must exist; the error of a missing one names the near keys that do exist.
  Result<JsonView> At(std::string_view key) const;
  /// The element, which must exist; the error of a missing one tells how many there are.
  Result<JsonView> At(size_t index) const;

  /// This value as T: double (finite by construction of the parser, also from an integer), int64_t,
  /// int (range checked), bool, std::string, std::vector<double>, std::vector<int64_t>,
  /// std::vector<std::string>.
  template <typename T>
  Result<T> As() const;

  /// Member `key` as T; missing is an error.
  template <typename T>
  Result<T> Get(std::string_view key) const {
    HANDHOLD_ASSIGN(const JsonView member, At(key));
    return member.As<T>();
  }
  /// Member `key` as T, or `fallback` when there is no such member. A member of the wrong type is
  /// still an error.
  template <typename T>
  Result<T> GetOr(std::string_view key, T fallback) const {
    if (!Has(key)) return fallback;
    return Get<T>(key);
  }
  /// Member `key` as exactly N numbers: points (3), matrices (9, row by row). Fewer or more is an
  /// error that tells how many were found.
  template <size_t N>
  Result<std::array<double, N>> GetFixed(std::string_view key) const {
    HANDHOLD_ASSIGN(const JsonView member, At(key));
    HANDHOLD_ASSIGN(const std::vector<double> numbers, member.As<std::vector<double>>());
    if (numbers.size() != N) {
      return member.Fail("expected " + std::to_string(N) + " numbers, found " +
                         std::to_string(numbers.size()));
    }
    std::array<double, N> out{};
    for (size_t i = 0; i < N; ++i) out[i] = numbers[i];
    return out;
  }

  /// The elements of this array, or members of this object (in order of the file), as views; an
  /// error when it is the other type.
  Result<std::vector<JsonView>> Items() const;
  Result<std::vector<std::pair<std::string, JsonView>>> Members() const;
  /// Items of member `key`; a missing member gives an empty list.
  Result<std::vector<JsonView>> GetItems(std::string_view key) const;

  /// An error unless this is an object whose keys are all in `known`; names the first unknown one
  /// and the nearest known. For every object of ours: a mistyped key is never silently a default.
  Status RequireKnownKeys(std::initializer_list<std::string_view> known) const;

  /// "SOURCE:LINE: PATH: message", for findings of the caller's own about this value. Parts that
  /// are not known (no source, a tree made in memory) are left out.
  Error Fail(std::string_view message, ErrorCode code = ErrorCode::kInvalid) const;

 private:
  JsonView(const Json& value, std::shared_ptr<const std::string> source, std::string path)
      : value_(&value), source_(std::move(source)), path_(std::move(path)) {}
  Error Expected(std::string_view what) const;
  template <typename T>
  Result<std::vector<T>> AsVector() const;

  const Json* value_;
  std::shared_ptr<const std::string> source_;
  std::string path_;
};

// The types As takes; any other does not link. Defined in json_view.cc.
template <>
Result<double> JsonView::As<double>() const;
template <>
Result<int64_t> JsonView::As<int64_t>() const;
template <>
Result<int> JsonView::As<int>() const;
template <>
Result<bool> JsonView::As<bool>() const;
template <>
Result<std::string> JsonView::As<std::string>() const;
template <>
Result<std::vector<double>> JsonView::As<std::vector<double>>() const;
template <>
Result<std::vector<int64_t>> JsonView::As<std::vector<int64_t>>() const;
template <>
Result<std::vector<std::string>> JsonView::As<std::vector<std::string>>() const;

}  // namespace handhold::text
