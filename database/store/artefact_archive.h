/// One description per artefact, walked in both directions: Saver turns members into JSON and
/// documents, Loader turns them back. A member that is written cannot be forgotten when reading.
/// Internal to the store.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/time.h"
#include "database/store/clip_reader.h"
#include "database/store/matrix_document.h"
#include "database/text/json.h"
#include "database/text/json_view.h"

namespace handhold::store {

/// JSON has no NaN and no infinity; here they are strings.
inline text::Json NumberToJson(double x) {
  if (std::isfinite(x)) return text::Json(x);
  return text::Json(std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}
inline Result<double> NumberFromJson(const text::JsonView& view) {
  if (const std::string* word = view.value().string()) {
    if (*word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (*word == "inf") return std::numeric_limits<double>::infinity();
    if (*word == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return view.As<double>();
}

class Saver {
 public:
  static constexpr bool kLoading = false;
  explicit Saver(std::map<std::string, Bytes>* documents, std::string path = "")
      : documents_(documents), path_(std::move(path)) {}

  void Field(const char* name, const std::string& v) { object_.Set(name, v); }
  void Field(const char* name, const int& v) { object_.Set(name, v); }
  void Field(const char* name, const bool& v) { object_.Set(name, v); }
  void Field(const char* name, const double& v) { object_.Set(name, NumberToJson(v)); }
  void Field(const char* name, const Timestamp& v) { object_.Set(name, v.ns()); }
  void Field(const char* name, const Duration& v) { object_.Set(name, v.ns()); }
  void Field(const char* name, const std::optional<double>& v) {
    object_.Set(name, v ? NumberToJson(*v) : text::Json());
  }
  void Field(const char* name, const std::vector<std::string>& v) {
    object_.Set(name, text::Json::Array(std::span<const std::string>(v)));
  }
  void Field(const char* name, const std::vector<Timestamp>& v) {
    Integers(name, v, [](Timestamp t) { return t.ns(); });
  }
  void Field(const char* name, const std::vector<int>& v) {
    Integers(name, v, [](int i) { return int64_t{i}; });
  }
  void Field(const char* name, const std::vector<char>& v) {
    Integers(name, v, [](char c) { return int64_t{c}; });
  }
  template <typename Derived>
  void Field(const char* name, const Eigen::PlainObjectBase<Derived>& v) {
    (*documents_)[path_ + name] = EncodeMatrix(v.template cast<double>());
  }
  template <typename T, typename Visit>
  void List(const char* name, const std::vector<T>& list, const Visit& visit) {
    text::Json array = text::Json::Array();
    for (size_t i = 0; i < list.size(); ++i) {
      Saver item(documents_, path_ + name + "/" + std::to_string(i) + "/");
      visit(item, const_cast<T&>(list[i]));  // a saving visit does not write
      array.Push(std::move(item.object_));
    }
    object_.Set(name, std::move(array));
  }
  text::Json Take() { return std::move(object_); }

 private:
  template <typename T, typename Fn>
  void Integers(const char* name, const std::vector<T>& v, const Fn& fn) {
    std::vector<int64_t> list;
    list.reserve(v.size());
    for (const T& x : v) list.push_back(fn(x));
    (*documents_)[path_ + name] = EncodeIntegerList(list);
  }
  std::map<std::string, Bytes>* documents_;
  std::string path_;
  text::Json object_ = text::Json::Object();
};

/// Keeps the first error; what follows it is left as it was.
class Loader {
 public:
  static constexpr bool kLoading = true;
  Loader(const ClipReader* reader, text::JsonView view, std::string path,
         std::optional<Error>* error)
      : reader_(reader), view_(std::move(view)), path_(std::move(path)), error_(error) {}

  void Field(const char* name, std::string& v) { Get(name, v); }
  void Field(const char* name, int& v) { Get(name, v); }
  void Field(const char* name, bool& v) { Get(name, v); }
  void Field(const char* name, double& v) {
    Take(view_.At(name), [&](const text::JsonView& member) {
      Take(NumberFromJson(member), [&](double x) { v = x; });
    });
  }
  void Field(const char* name, Timestamp& v) {
    Take(view_.Get<int64_t>(name), [&](int64_t ns) { v = Timestamp::FromNanoseconds(ns); });
  }
  void Field(const char* name, Duration& v) {
    Take(view_.Get<int64_t>(name), [&](int64_t ns) { v = Duration::Nanoseconds(ns); });
  }
  void Field(const char* name, std::optional<double>& v) {
    v.reset();
    Take(view_.At(name), [&](const text::JsonView& member) {
      if (!member.value().is_null()) Take(NumberFromJson(member), [&](double x) { v = x; });
    });
  }
  void Field(const char* name, std::vector<std::string>& v) { Get(name, v); }
  void Field(const char* name, std::vector<Timestamp>& v) {
    Integers(name, v, [](int64_t x) { return Timestamp::FromNanoseconds(x); });
  }
  void Field(const char* name, std::vector<int>& v) {
    Integers(name, v, [](int64_t x) { return static_cast<int>(x); });
  }
  void Field(const char* name, std::vector<char>& v) {
    Integers(name, v, [](int64_t x) { return static_cast<char>(x); });
  }
  template <typename Derived>
  void Field(const char* name, Eigen::PlainObjectBase<Derived>& v) {
    Take(reader_->Document(path_ + name), [&](const Bytes& bytes) {
      Eigen::MatrixXd m;
      if (const Status decoded = DecodeMatrix(bytes, m); !decoded) {
        *error_ = decoded.error();
        return;
      }
      const bool fits =
          (Derived::RowsAtCompileTime == Eigen::Dynamic ||
           m.rows() == Derived::RowsAtCompileTime) &&
          (Derived::ColsAtCompileTime == Eigen::Dynamic || m.cols() == Derived::ColsAtCompileTime);
      if (!fits) {
        *error_ = Error{ErrorCode::kCorrupt, "matrix '" + path_ + name + "' has the wrong shape"};
        return;
      }
      v.derived() = m.template cast<typename Derived::Scalar>();
    });
  }
  template <typename T, typename Visit>
  void List(const char* name, std::vector<T>& list, const Visit& visit) {
    list.clear();
    Take(view_.GetItems(name), [&](const std::vector<text::JsonView>& items) {
      for (size_t i = 0; i < items.size() && !*error_; ++i) {
        Loader item(reader_, items[i], path_ + name + "/" + std::to_string(i) + "/", error_);
        visit(item, list.emplace_back());
      }
    });
  }

 private:
  template <typename R, typename Fn>
  void Take(const R& result, const Fn& fn) {
    if (*error_) return;
    if (!result) {
      *error_ = result.error();
    } else {
      fn(*result);
    }
  }
  template <typename T>
  void Get(const char* name, T& v) {
    Take(view_.Get<T>(name), [&](const T& x) { v = x; });
  }
  template <typename T, typename Fn>
  void Integers(const char* name, std::vector<T>& v, const Fn& fn) {
    v.clear();
    Take(reader_->Document(path_ + name), [&](const Bytes& bytes) {
      Take(DecodeIntegerList(bytes), [&](const std::vector<int64_t>& list) {
        for (const int64_t x : list) v.push_back(fn(x));
      });
    });
  }

  const ClipReader* reader_;
  text::JsonView view_;
  std::string path_;
  std::optional<Error>* error_;
};

}  // namespace handhold::store
