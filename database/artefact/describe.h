/// Structs that describe themselves: one `Visit` beside a struct gives its JSON in both
/// directions; provenance parameters, summaries and storage follow from it.
///
///   struct Options { double step_s = 0.002; std::function<bool(double)> progress; };
///   template <typename A>
///   void Visit(A& a, Options& o) {
///     a.Field("step_s", o.step_s);
///     a.Skip(o.progress);  // no parameter: nothing of the result hangs on it
///   }
///
/// Every member is named, or skipped on purpose: a struct whose Visit passes over one ends the
/// program where it is first used (CheckDescribed), so any test that uses it fails. Units stand in
/// the names; times and durations are int64 ns and their names end in _ns. NaN is null, infinities
/// are "inf" and "-inf" (Writable). What people may set says more of itself (About). A step
/// (database/step) also has inputs, running limits and outputs in its Visit. Pinned by
/// tests/database/artefact/describe_test.cc.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/about.h"
#include "database/base/check.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"
#include "database/text/json.h"
#include "database/text/json_view.h"

namespace handhold::artefact {

namespace describe {

/// Stands for any member when members are counted; never made.
struct AnyMember {
  template <typename T>
  operator T&() const&;
  template <typename T>
  operator T&&() const&&;
};

template <typename T, size_t... I>
constexpr bool MadeFrom(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyMember{})...}; };
}

/// Members of an aggregate, at most 64; plain arrays count by their elements.
template <typename T, size_t N = 64>
constexpr int MemberCount() {
  static_assert(std::is_aggregate_v<T>, "what describes itself is a plain struct");
  if constexpr (N == 0 || MadeFrom<T>(std::make_index_sequence<N>{})) {
    return static_cast<int>(N);
  } else {
    return MemberCount<T, N - 1>();
  }
}

/// Counts what a Visit names.
class Counter {
 public:
  static constexpr bool kLoading = false;
  template <typename T>
  void Field(const char*, T&, const About& = {}) {
    ++count_;
  }
  template <typename T>
  void Choice(const char*, T&, std::initializer_list<const char*>, const About& = {}) {
    ++count_;
  }
  template <typename T>
  void Skip(T&) {
    ++count_;
  }
  template <typename T>
  void Inline(T&) {
    ++count_;
  }
  template <typename T>
  void Running(const char*, T&, const About& = {}) {
    ++count_;
  }
  template <typename T, typename Role>
  void Input(const char*, T&, const Role&) {
    ++count_;
  }
  template <typename T, typename... Of>
  void Output(const char*, T&, const Of&...) {
    ++count_;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

class Writer;
class Reader;

}  // namespace describe

/// A struct with a Visit beside it.
template <typename T>
concept Described = std::is_class_v<T> && requires(describe::Counter& a, T& t) { Visit(a, t); };

/// CHECKs that Visit names or skips every member of T.
template <Described T>
void CheckDescribed() {
  static const bool whole = [] {
    T value{};
    describe::Counter counter;
    Visit(counter, value);
    CHECK_EQ(counter.count(), describe::MemberCount<T>());
    return true;
  }();
  CHECK(whole);
}

namespace describe {

inline text::Json ToJson(const std::string& v) { return text::Json(v); }
inline text::Json ToJson(bool v) { return text::Json(v); }
inline text::Json ToJson(int v) { return text::Json(static_cast<int64_t>(v)); }
inline text::Json ToJson(int64_t v) { return text::Json(v); }
inline text::Json ToJson(double v) { return text::Json(v); }
inline text::Json ToJson(Timestamp v) { return text::Json(v.ns()); }
inline text::Json ToJson(Duration v) { return text::Json(v.ns()); }
inline text::Json ToJson(const TimeRange& v) {
  return text::Json::Array({v.begin.ns(), v.end.ns()});
}
inline text::Json ToJson(const Issue& v) {
  return text::Json::Object(
      {{"where", v.where}, {"severity", SeverityName(v.severity)}, {"what", v.what}});
}
/// A vector is a list; a matrix a list of rows.
template <typename Derived>
text::Json ToJson(const Eigen::DenseBase<Derived>& v) {
  text::Json rows = text::Json::Array();
  for (Eigen::Index r = 0; r < v.rows(); ++r) {
    if constexpr (Derived::ColsAtCompileTime == 1) {
      rows.Push(ToJson(static_cast<double>(v.derived()(r))));
    } else {
      text::Json row = text::Json::Array();
      for (Eigen::Index c = 0; c < v.cols(); ++c)
        row.Push(ToJson(static_cast<double>(v.derived()(r, c))));
      rows.Push(std::move(row));
    }
  }
  return rows;
}
inline text::Json ToJson(const geometry::RigidTransform& v) {
  text::Json R = text::Json::Array();
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index k = 0; k < 3; ++k) R.Push(text::Json(v.R(i, k)));
  }
  return text::Json::Object({{"p_m", ToJson(v.p)}, {"R", std::move(R)}});
}
template <Described T>
text::Json ToJson(const T& v);
template <typename T>
text::Json ToJson(const std::optional<T>& v) {
  return v ? ToJson(*v) : text::Json();
}
template <typename T>
text::Json ToJson(const std::vector<T>& v) {
  text::Json list = text::Json::Array();
  for (const T& x : v) list.Push(ToJson(x));
  return list;
}
template <typename T, size_t N>
text::Json ToJson(const std::array<T, N>& v) {
  text::Json list = text::Json::Array();
  for (const T& x : v) list.Push(ToJson(x));
  return list;
}
template <typename T>
text::Json ToJson(const std::map<std::string, T>& v) {
  text::Json object = text::Json::Object();
  for (const auto& [key, x] : v) object.Set(key, ToJson(x));
  return object;
}

inline Status TakeJson(const text::JsonView& view, double& v) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string* word = view.value().string();
  if (view.value().is_null()) {
    v = std::numeric_limits<double>::quiet_NaN();
  } else if (word != nullptr && (*word == "inf" || *word == "-inf")) {
    v = *word == "inf" ? kInfinity : -kInfinity;
  } else {
    HANDHOLD_ASSIGN(v, view.As<double>());
  }
  return {};
}
template <typename T>
  requires(std::is_same_v<T, std::string> || std::is_same_v<T, bool> || std::is_same_v<T, int> ||
           std::is_same_v<T, int64_t>)
Status TakeJson(const text::JsonView& view, T& v) {
  HANDHOLD_ASSIGN(v, view.As<T>());
  return {};
}
inline Status TakeJson(const text::JsonView& view, Timestamp& v) {
  HANDHOLD_ASSIGN(const int64_t ns, view.As<int64_t>());
  v = Timestamp::FromNanoseconds(ns);
  return {};
}
inline Status TakeJson(const text::JsonView& view, Duration& v) {
  HANDHOLD_ASSIGN(const int64_t ns, view.As<int64_t>());
  v = Duration::Nanoseconds(ns);
  return {};
}
inline Status TakeJson(const text::JsonView& view, TimeRange& v) {
  HANDHOLD_ASSIGN(const std::vector<text::JsonView> ends, view.Items());
  if (ends.size() != 2) return view.Fail("a range has two ends");
  HANDHOLD_TRY(TakeJson(ends[0], v.begin));
  return TakeJson(ends[1], v.end);
}
inline Status TakeJson(const text::JsonView& view, Issue& v) {
  HANDHOLD_ASSIGN(v.where, view.Get<std::string>("where"));
  HANDHOLD_ASSIGN(v.what, view.Get<std::string>("what"));
  HANDHOLD_ASSIGN(const std::string severity, view.Get<std::string>("severity"));
  v.severity = severity == SeverityName(Severity::kLoss)      ? Severity::kLoss
               : severity == SeverityName(Severity::kWarning) ? Severity::kWarning
                                                              : Severity::kNote;
  return {};
}
template <typename Derived>
Status TakeJson(const text::JsonView& view, Eigen::PlainObjectBase<Derived>& v) {
  HANDHOLD_ASSIGN(const std::vector<text::JsonView> rows, view.Items());
  const auto misfit = [&] { return view.Fail("has another size than expected"); };
  const auto n = static_cast<Eigen::Index>(rows.size());
  if (Derived::RowsAtCompileTime != Eigen::Dynamic && n != Derived::RowsAtCompileTime)
    return misfit();
  const auto take = [](const text::JsonView& from, typename Derived::Scalar& to) -> Status {
    double x = 0.0;
    HANDHOLD_TRY(TakeJson(from, x));
    to = static_cast<typename Derived::Scalar>(x);
    return {};
  };
  if constexpr (Derived::ColsAtCompileTime == 1) {
    v.derived().resize(n);
    for (Eigen::Index r = 0; r < n; ++r)
      HANDHOLD_TRY(take(rows[static_cast<size_t>(r)], v.derived()(r)));
  } else {
    for (Eigen::Index r = 0; r < n; ++r) {
      HANDHOLD_ASSIGN(const std::vector<text::JsonView> row, rows[static_cast<size_t>(r)].Items());
      const auto columns = static_cast<Eigen::Index>(row.size());
      if (r == 0) {
        if (Derived::ColsAtCompileTime != Eigen::Dynamic && columns != Derived::ColsAtCompileTime)
          return misfit();
        v.derived().resize(n, columns);
      }
      if (columns != v.cols()) return misfit();
      for (Eigen::Index c = 0; c < columns; ++c)
        HANDHOLD_TRY(take(row[static_cast<size_t>(c)], v.derived()(r, c)));
    }
    if (n == 0) v.derived().resize(0, v.cols());
  }
  return {};
}
inline Status TakeJson(const text::JsonView& view, geometry::RigidTransform& v) {
  HANDHOLD_ASSIGN(const auto p, view.GetFixed<3>("p_m"));
  HANDHOLD_ASSIGN(const auto R, view.GetFixed<9>("R"));
  v.p = geometry::Vec3(p[0], p[1], p[2]);
  for (size_t i = 0; i < 9; ++i)
    v.R(static_cast<Eigen::Index>(i / 3), static_cast<Eigen::Index>(i % 3)) = R[i];
  return {};
}
template <Described T>
Status TakeJson(const text::JsonView& view, T& v);
template <typename T>
Status TakeJson(const text::JsonView& view, std::vector<T>& v);
template <typename T>
Status TakeJson(const text::JsonView& view, std::optional<T>& v) {
  v.reset();
  if (view.value().is_null()) return {};
  return TakeJson(view, v.emplace());
}
template <typename T, size_t N>
Status TakeJson(const text::JsonView& view, std::array<T, N>& v) {
  HANDHOLD_ASSIGN(const std::vector<text::JsonView> items, view.Items());
  if (items.size() != N) return view.Fail("has another size than expected");
  for (size_t i = 0; i < N; ++i) HANDHOLD_TRY(TakeJson(items[i], v[i]));
  return {};
}
template <typename T>
Status TakeJson(const text::JsonView& view, std::map<std::string, T>& v) {
  v.clear();
  HANDHOLD_ASSIGN(const auto members, view.Members());
  for (const auto& [key, item] : members) HANDHOLD_TRY(TakeJson(item, v[key]));
  return {};
}
template <typename T>
Status TakeJson(const text::JsonView& view, std::vector<T>& v) {
  v.clear();
  HANDHOLD_ASSIGN(const std::vector<text::JsonView> items, view.Items());
  for (const text::JsonView& item : items) HANDHOLD_TRY(TakeJson(item, v.emplace_back()));
  return {};
}

class Writer {
 public:
  static constexpr bool kLoading = false;
  /// `running`: limits of a run are written, too.
  explicit Writer(bool running = false) : running_(running) {}
  template <typename T>
  void Field(const char* name, T& v, const About& = {}) {
    object_.Set(name, describe::ToJson(std::as_const(v)));
  }
  /// An enum, by the word at its value.
  template <typename E>
  void Choice(const char* name, E& v, std::initializer_list<const char*> words, const About& = {}) {
    CHECK_LT(static_cast<size_t>(v), words.size());
    object_.Set(name, std::string(words.begin()[static_cast<size_t>(v)]));
  }
  template <typename T>
  void Skip(T&) {}
  /// The members of a struct beside the others.
  template <Described T>
  void Inline(T& v) {
    CheckDescribed<T>();
    Visit(*this, v);
  }
  /// A limit of a run (processes, wall time): a whole result does not hang on it.
  template <typename T>
  void Running(const char* name, T& v, const About& about = {}) {
    if (running_) Field(name, v, about);
  }
  template <typename T, typename Role>
  void Input(const char*, T&, const Role&) {}
  template <typename T, typename... Of>
  void Output(const char*, T&, const Of&...) {}
  text::Json Take() { return std::move(object_); }

 private:
  bool running_;
  text::Json object_ = text::Json::Object();
};

/// Keeps the first error. A member that is absent is an error: who reads older files says so there.
class Reader {
 public:
  static constexpr bool kLoading = true;
  explicit Reader(const text::JsonView& view) : view_(view) {}
  template <typename T>
  void Field(const char* name, T& v, const About& = {}) {
    const auto member = Member(name);
    if (!member) return;
    const Status read = describe::TakeJson(*member, v);
    if (!read) error_ = read.error();
  }
  template <typename E>
  void Choice(const char* name, E& v, std::initializer_list<const char*> words, const About& = {}) {
    std::string word;
    Field(name, word);
    if (error_) return;
    for (size_t i = 0; i < words.size(); ++i) {
      if (word == words.begin()[i]) {
        v = static_cast<E>(i);
        return;
      }
    }
    error_ = view_.Fail("'" + word + "' is no " + name);
  }
  template <typename T>
  void Skip(T&) {}
  template <Described T>
  void Inline(T& v) {
    Visit(*this, v);
  }
  /// Left as it is where nothing is said.
  template <typename T>
  void Running(const char* name, T& v, const About& about = {}) {
    if (view_.value().Find(name) != nullptr) Field(name, v, about);
  }
  template <typename T, typename Role>
  void Input(const char*, T&, const Role&) {}
  template <typename T, typename... Of>
  void Output(const char*, T&, const Of&...) {}
  Status status() const { return error_ ? Status(*error_) : Status(); }

 private:
  std::optional<text::JsonView> Member(const char* name) {
    if (error_) return std::nullopt;
    auto member = view_.At(name);
    if (!member) {
      error_ = member.error();
      return std::nullopt;
    }
    return *member;
  }
  const text::JsonView& view_;
  std::optional<Error> error_;
};

template <Described T>
text::Json ToJson(const T& v) {
  CheckDescribed<T>();
  Writer writer;
  Visit(writer, const_cast<T&>(v));  // a writing visit changes nothing
  return writer.Take();
}
template <Described T>
Status TakeJson(const text::JsonView& view, T& v) {
  CheckDescribed<T>();
  Reader reader(view);
  Visit(reader, v);
  return reader.status();
}

}  // namespace describe

/// ToJson(value): a described struct as a JSON object, members in the order of its Visit; also of
/// what may be its member.
using describe::ToJson;

/// The same with null for NaN and words for infinities: what can be written.
text::Json Writable(text::Json json);

/// What ToJson or Writable gave. kInvalid or kNotFound names the member. `value` brings what is
/// skipped.
template <Described T>
Result<T> FromJson(const text::JsonView& view, T value = {}) {
  HANDHOLD_TRY(describe::TakeJson(view, value));
  return value;
}

}  // namespace handhold::artefact
