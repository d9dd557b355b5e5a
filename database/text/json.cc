#include "database/text/json.h"

#include <algorithm>
#include <cmath>

#include "database/base/check.h"

namespace handhold::text {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

bool IntegerEqualsNumber(int64_t i, double d) {
  // Exact: the conversion back is only done where it is defined, and d must have no fraction.
  return d >= -kTwoTo63 && d < kTwoTo63 && std::trunc(d) == d && static_cast<int64_t>(d) == i;
}

}  // namespace

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(Boolean boolean) : value_(boolean.value) {}
Json::Json(Integer integer) : value_(integer.value) {}
Json::Json(double value) : value_(value) {}
Json::Json(float value) : value_(static_cast<double>(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

void Json::CheckFitsInt64(bool fits) { CHECK(fits); }

Json Json::Array(std::initializer_list<Json> elements) {
  Json out;
  out.value_ = Elements(elements);
  return out;
}

Json Json::Array(std::span<const double> elements) {
  Json out;
  out.value_ = Elements(elements.begin(), elements.end());
  return out;
}

Json Json::Array(std::span<const std::string> elements) {
  Json out;
  out.value_ = Elements(elements.begin(), elements.end());
  return out;
}

Json Json::Object(std::initializer_list<JsonMember> members) {
  Json out;
  out.value_ = Members{};
  for (const JsonMember& member : members) {
    CHECK(out.Find(member.key) == nullptr);
    std::get<Members>(out.value_).push_back(member);
  }
  return out;
}

Json Json::FromMembers(Members members) {
  Json out;
  out.value_ = std::move(members);
  return out;
}

std::optional<bool> Json::boolean() const {
  if (const bool* b = std::get_if<bool>(&value_)) return *b;
  return std::nullopt;
}

std::optional<int64_t> Json::integer() const {
  if (const int64_t* i = std::get_if<int64_t>(&value_)) return *i;
  if (const double* d = std::get_if<double>(&value_)) {
    if (std::abs(*d) <= kExactIntegers && std::trunc(*d) == *d) return static_cast<int64_t>(*d);
  }
  return std::nullopt;
}

std::optional<double> Json::number() const {
  if (const double* d = std::get_if<double>(&value_)) return *d;
  if (const int64_t* i = std::get_if<int64_t>(&value_)) return static_cast<double>(*i);
  return std::nullopt;
}

const Json::Elements& Json::elements() const {
  static const Elements kNone;
  const Elements* elements = std::get_if<Elements>(&value_);
  return elements ? *elements : kNone;
}

const Json::Members& Json::members() const {
  static const Members kNone;
  const Members* members = std::get_if<Members>(&value_);
  return members ? *members : kNone;
}

const Json* Json::Find(std::string_view key) const {
  for (const JsonMember& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json& Json::Push(Json element) {
  if (is_null()) value_ = Elements{};
  CHECK(is_array());
  std::get<Elements>(value_).push_back(std::move(element));
  return *this;
}

Json& Json::Set(std::string_view key, Json value) {
  if (is_null()) value_ = Members{};
  CHECK(is_object());
  auto& members = std::get<Members>(value_);
  const auto at = std::find_if(members.begin(), members.end(),
                               [&](const JsonMember& m) { return m.key == key; });
  if (at != members.end()) {
    at->value = std::move(value);
  } else {
    members.push_back({std::string(key), std::move(value)});
  }
  return *this;
}

bool Json::operator==(const Json& other) const {
  if (type() != other.type()) {
    const auto* i = std::get_if<int64_t>(&value_);
    const auto* d = std::get_if<double>(&other.value_);
    if (i && d) return IntegerEqualsNumber(*i, *d);
    i = std::get_if<int64_t>(&other.value_);
    d = std::get_if<double>(&value_);
    return i && d && IntegerEqualsNumber(*i, *d);
  }
  switch (type()) {
    case Type::kNull:
      return true;
    case Type::kBool:
      return std::get<bool>(value_) == std::get<bool>(other.value_);
    case Type::kInteger:
      return std::get<int64_t>(value_) == std::get<int64_t>(other.value_);
    case Type::kNumber:
      return std::get<double>(value_) == std::get<double>(other.value_);
    case Type::kString:
      return std::get<std::string>(value_) == std::get<std::string>(other.value_);
    case Type::kArray:
      return elements() == other.elements();
    case Type::kObject:
      break;
  }
  const Members& mine = members();
  if (mine.size() != other.members().size()) return false;
  // Sorted pointers, so that large objects do not cost the square of their size.
  const auto sorted = [](const Members& members) {
    std::vector<const JsonMember*> out;
    for (const JsonMember& m : members) out.push_back(&m);
    std::sort(out.begin(), out.end(),
              [](const JsonMember* a, const JsonMember* b) { return a->key < b->key; });
    return out;
  };
  const auto a = sorted(mine), b = sorted(other.members());
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const JsonMember* x, const JsonMember* y) {
                      return x->key == y->key && x->value == y->value;
                    });
}

std::string_view JsonTypeName(Json::Type type) {
  switch (type) {
    case Json::Type::kNull:
      return "null";
    case Json::Type::kBool:
      return "boolean";
    case Json::Type::kInteger:
      return "integer";
    case Json::Type::kNumber:
      return "number";
    case Json::Type::kString:
      return "string";
    case Json::Type::kArray:
      return "array";
    case Json::Type::kObject:
      return "object";
  }
  return "unknown";
}

std::string JsonPathChild(std::string_view path, std::string_view key) {
  std::string out(path);
  out += '/';
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string JsonPathChild(std::string_view path, size_t index) {
  return std::string(path) + "/" + std::to_string(index);
}

}  // namespace handhold::text
