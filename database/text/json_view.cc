#include "database/text/json_view.h"

#include <algorithm>
#include <limits>

#include "database/base/names.h"

namespace handhold::text {

JsonView::JsonView(const Json& root, std::string source)
    : value_(&root), source_(std::make_shared<const std::string>(std::move(source))) {}

Error JsonView::Fail(std::string_view message, ErrorCode code) const {
  std::string out = *source_;
  if (value_->line() > 0) out += (out.empty() ? "line " : ":") + std::to_string(value_->line());
  if (!out.empty()) out += ": ";
  if (!path_.empty()) out += path_ + ": ";
  return {code, out + std::string(message)};
}

Error JsonView::Expected(std::string_view what) const {
  return Fail("expected " + std::string(what) + ", found " + DescribeJson(*value_));
}

Result<JsonView> JsonView::At(std::string_view key) const {
  if (!value_->is_object()) return Expected("an object");
  if (const Json* member = value_->Find(key))
    return JsonView(*member, source_, JsonPathChild(path_, key));
  std::vector<std::string> keys;
  for (const JsonMember& m : value_->members()) keys.push_back(m.key);
  const std::vector<std::string> near = NearestNames(key, keys);
  return Fail("the key '" + std::string(key) + "' is missing" +
              (near.empty() ? "" : DidYouMean(key, keys)));
}

Result<JsonView> JsonView::At(size_t index) const {
  if (!value_->is_array()) return Expected("an array");
  if (index >= value_->elements().size()) {
    return Fail("element " + std::to_string(index) + " is missing: the array has " +
                std::to_string(value_->elements().size()));
  }
  return JsonView(value_->elements()[index], source_, JsonPathChild(path_, index));
}

template <>
Result<double> JsonView::As<double>() const {
  if (const auto number = value_->number()) return *number;
  return Expected("a number");
}

template <>
Result<int64_t> JsonView::As<int64_t>() const {
  if (const auto integer = value_->integer()) return *integer;
  return Expected("an integer");
}

template <>
Result<int> JsonView::As<int>() const {
  HANDHOLD_ASSIGN(const int64_t wide, As<int64_t>());
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return Expected("an integer of 32 bits");
  }
  return static_cast<int>(wide);
}

template <>
Result<bool> JsonView::As<bool>() const {
  if (const auto boolean = value_->boolean()) return *boolean;
  return Expected("true or false");
}

template <>
Result<std::string> JsonView::As<std::string>() const {
  if (const std::string* string = value_->string()) return *string;
  return Expected("a string");
}

template <typename T>
Result<std::vector<T>> JsonView::AsVector() const {
  if (!value_->is_array()) return Expected("an array");
  std::vector<T> out;
  out.reserve(value_->elements().size());
  for (size_t i = 0; i < value_->elements().size(); ++i) {
    // The path is only built for an element that fails: this is how meshes and long number lists
    // are read.
    const JsonView element(value_->elements()[i], source_, "");
    Result<T> value = element.As<T>();
    if (!value)
      return JsonView(value_->elements()[i], source_, JsonPathChild(path_, i))
          .template As<T>()
          .error();
    out.push_back(*std::move(value));
  }
  return out;
}

template <>
Result<std::vector<double>> JsonView::As<std::vector<double>>() const {
  return AsVector<double>();
}

template <>
Result<std::vector<int64_t>> JsonView::As<std::vector<int64_t>>() const {
  return AsVector<int64_t>();
}

template <>
Result<std::vector<std::string>> JsonView::As<std::vector<std::string>>() const {
  return AsVector<std::string>();
}

Result<std::vector<JsonView>> JsonView::Items() const {
  if (!value_->is_array()) return Expected("an array");
  std::vector<JsonView> out;
  out.reserve(value_->elements().size());
  for (size_t i = 0; i < value_->elements().size(); ++i) {
    out.push_back(JsonView(value_->elements()[i], source_, JsonPathChild(path_, i)));
  }
  return out;
}

Result<std::vector<std::pair<std::string, JsonView>>> JsonView::Members() const {
  if (!value_->is_object()) return Expected("an object");
  std::vector<std::pair<std::string, JsonView>> out;
  for (const JsonMember& m : value_->members()) {
    out.emplace_back(m.key, JsonView(m.value, source_, JsonPathChild(path_, m.key)));
  }
  return out;
}

Result<std::vector<JsonView>> JsonView::GetItems(std::string_view key) const {
  if (!value_->is_object()) return Expected("an object");
  if (!Has(key)) return std::vector<JsonView>{};
  HANDHOLD_ASSIGN(const JsonView member, At(key));
  return member.Items();
}

Status JsonView::RequireKnownKeys(std::initializer_list<std::string_view> known) const {
  if (!value_->is_object()) return Expected("an object");
  for (const JsonMember& member : value_->members()) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    // Said at the line of the wrong key, about the object that holds it.
    const JsonView place(member.value, source_, path_);
    return place.Fail("unknown key '" + member.key + "'" + DidYouMean(member.key, names));
  }
  return {};
}

}  // namespace handhold::text
