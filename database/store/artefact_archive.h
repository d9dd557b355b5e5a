/// What artefacts say of themselves (database/artefact/describe.h), kept in a file: Saver turns
/// members into JSON and documents, Loader turns them back. A member that is written cannot be
/// forgotten when reading. Internal to the store.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/describe.h"
#include "database/artefact/touch.h"
#include "database/base/check.h"
#include "database/base/time.h"
#include "database/store/clip_reader.h"
#include "database/store/matrix_document.h"
#include "database/text/json.h"
#include "database/text/json_view.h"

namespace handhold::store {

/// 12 x n: a column each of R by columns, then p.
Eigen::MatrixXd PosesToMatrix(const std::vector<geometry::RigidTransform>& poses);
bool MatrixToPoses(const Eigen::MatrixXd& m, std::vector<geometry::RigidTransform>* poses);
/// 16 x n: a column each of frame, touch, f_onA_W, m_onA_W, p_W, normal_W, offset_m, slip_m_per_s.
Eigen::MatrixXd RowsToMatrix(const std::vector<artefact::ContactRow>& rows);
bool MatrixToRows(const Eigen::MatrixXd& m, std::vector<artefact::ContactRow>* rows);

template <typename T>
concept Matrix = requires(const T& t) { []<typename D>(const Eigen::PlainObjectBase<D>&) {}(t); };

class Saver {
 public:
  static constexpr bool kLoading = false;
  explicit Saver(std::map<std::string, Bytes>* documents, std::string path = "")
      : documents_(documents), path_(std::move(path)) {}

  template <typename T>
  void Field(const char* name, T& v, const artefact::About& = {}) {
    Save(name, std::as_const(v));
  }
  template <typename E>
  void Choice(const char* name, E& v, std::initializer_list<const char*> words,
              const artefact::About& = {}) {
    CHECK_LT(static_cast<size_t>(v), words.size());
    object_.Set(name, words.begin()[static_cast<size_t>(v)]);
  }
  template <typename T>
  void Skip(T&) {}
  text::Json Take() { return std::move(object_); }

 private:
  // What is small is JSON; matrices and long lists are documents.
  template <typename T>
    requires(!Matrix<T>)
  void Save(const char* name, const T& v) {
    if constexpr (artefact::Described<T>) {
      artefact::CheckDescribed<T>();
      Saver inner(documents_, path_ + name + "/");
      Visit(inner, const_cast<T&>(v));  // a saving visit does not write
      object_.Set(name, inner.Take());
    } else {
      object_.Set(name, artefact::Writable(artefact::describe::ToJson(v)));
    }
  }
  template <typename Derived>
  void Save(const char* name, const Eigen::PlainObjectBase<Derived>& v) {
    (*documents_)[path_ + name] = EncodeMatrix(v.template cast<double>());
  }
  void Save(const char* name, const geometry::Vec3& v) {
    object_.Set(name, artefact::Writable(artefact::describe::ToJson(v)));
  }
  void Save(const char* name, const std::vector<Timestamp>& v) {
    Integers(name, v, [](Timestamp t) { return t.ns(); });
  }
  void Save(const char* name, const std::vector<int>& v) {
    Integers(name, v, [](int i) { return int64_t{i}; });
  }
  void Save(const char* name, const std::vector<char>& v) {
    Integers(name, v, [](char c) { return int64_t{c}; });
  }
  void Save(const char* name, const std::vector<geometry::RigidTransform>& v) {
    Save(name, PosesToMatrix(v));
  }
  void Save(const char* name, const std::vector<artefact::ContactRow>& v) {
    Save(name, RowsToMatrix(v));
  }
  /// Square matrices of one size by frame: the frames, and a column each.
  void Save(const char* name, const std::map<int, Eigen::MatrixXd>& v) {
    std::vector<int> frames;
    Eigen::MatrixXd stack(v.empty() ? 0 : v.begin()->second.size(),
                          static_cast<Eigen::Index>(v.size()));
    for (const auto& [frame, matrix] : v) {
      stack.col(static_cast<Eigen::Index>(frames.size())) = matrix.reshaped();
      frames.push_back(frame);
    }
    Save((std::string(name) + "_frames").c_str(), frames);
    Save(name, stack);
  }
  template <artefact::Described T>
  void Save(const char* name, const std::vector<T>& list) {
    artefact::CheckDescribed<T>();
    text::Json array = text::Json::Array();
    for (size_t i = 0; i < list.size(); ++i) {
      Saver item(documents_, path_ + name + "/" + std::to_string(i) + "/");
      Visit(item, const_cast<T&>(list[i]));  // a saving visit does not write
      array.Push(item.Take());
    }
    object_.Set(name, std::move(array));
  }
  template <artefact::Described T>
  void Save(const char* name, const std::optional<T>& v) {
    if (v) {
      Save(name, *v);
    } else {
      object_.Set(name, text::Json());
    }
  }
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

  template <typename T>
  void Field(const char* name, T& v, const artefact::About& = {}) {
    Load(name, v);
  }
  template <typename E>
  void Choice(const char* name, E& v, std::initializer_list<const char*> words,
              const artefact::About& = {}) {
    if (*error_) return;
    artefact::describe::Reader reader(view_);
    reader.Choice(name, v, words);
    if (const Status read = reader.status(); !read) *error_ = read.error();
  }
  template <typename T>
  void Skip(T&) {}

 private:
  template <typename T>
    requires(!Matrix<T>)
  void Load(const char* name, T& v) {
    Take(view_.At(name), [&](const text::JsonView& member) {
      if constexpr (artefact::Described<T>) {
        Loader inner(reader_, member, path_ + name + "/", error_);
        Visit(inner, v);
      } else {
        if (const Status read = artefact::describe::TakeJson(member, v); !read)
          *error_ = read.error();
      }
    });
  }
  template <typename Derived>
  void Load(const char* name, Eigen::PlainObjectBase<Derived>& v) {
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
      if (!fits) return Misfit(name);
      v.derived() = m.template cast<typename Derived::Scalar>();
    });
  }
  void Load(const char* name, geometry::Vec3& v) {
    Take(view_.At(name), [&](const text::JsonView& member) {
      if (const Status read = artefact::describe::TakeJson(member, v); !read)
        *error_ = read.error();
    });
  }
  void Load(const char* name, std::vector<Timestamp>& v) {
    Integers(name, v, [](int64_t x) { return Timestamp::FromNanoseconds(x); });
  }
  void Load(const char* name, std::vector<int>& v) {
    Integers(name, v, [](int64_t x) { return static_cast<int>(x); });
  }
  void Load(const char* name, std::vector<char>& v) {
    Integers(name, v, [](int64_t x) { return static_cast<char>(x); });
  }
  void Load(const char* name, std::vector<geometry::RigidTransform>& v) {
    Eigen::MatrixXd m;
    Load(name, m);
    if (!*error_ && !MatrixToPoses(m, &v)) Misfit(name);
  }
  void Load(const char* name, std::vector<artefact::ContactRow>& v) {
    Eigen::MatrixXd m;
    Load(name, m);
    if (!*error_ && !MatrixToRows(m, &v)) Misfit(name);
  }
  void Load(const char* name, std::map<int, Eigen::MatrixXd>& v) {
    std::vector<int> frames;
    Eigen::MatrixXd stack;
    Load((std::string(name) + "_frames").c_str(), frames);
    Load(name, stack);
    if (*error_) return;
    v.clear();
    const auto side =
        static_cast<Eigen::Index>(std::llround(std::sqrt(static_cast<double>(stack.rows()))));
    if (side * side != stack.rows() || static_cast<size_t>(stack.cols()) != frames.size())
      return Misfit(name);
    for (Eigen::Index k = 0; k < stack.cols(); ++k)
      v[frames[static_cast<size_t>(k)]] = stack.col(k).reshaped(side, side);
  }
  template <artefact::Described T>
  void Load(const char* name, std::vector<T>& list) {
    list.clear();
    Take(view_.GetItems(name), [&](const std::vector<text::JsonView>& items) {
      for (size_t i = 0; i < items.size() && !*error_; ++i) {
        Loader item(reader_, items[i], path_ + name + "/" + std::to_string(i) + "/", error_);
        Visit(item, list.emplace_back());
      }
    });
  }
  template <artefact::Described T>
  void Load(const char* name, std::optional<T>& v) {
    v.reset();
    Take(view_.At(name), [&](const text::JsonView& member) {
      if (!member.value().is_null()) Load(name, v.emplace());
    });
  }

  void Misfit(const char* name) {
    *error_ = Error{ErrorCode::kCorrupt, "matrix '" + path_ + name + "' has the wrong shape"};
  }
  template <typename R, typename Fn>
  void Take(const R& result, const Fn& fn) {
    if (*error_) return;
    if (!result) {
      *error_ = result.error();
    } else {
      fn(*result);
    }
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
