/// An input of a step: what somebody said of it, then the thing that was found, then its value.
///
/// Callers write what they would type (`step.clip = "session"`); the engine (tools/pipeline) finds
/// the thing and its hash; its value is loaded once, when somebody looks. Compute finds every value
/// there. Not synchronised. Tests without a library give values: Given<T>::Of.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "database/base/check.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "database/text/json.h"

namespace handhold::step {

/// How a hand is changed before it is used. What is left at its default changes nothing.
struct HandVariant {
  std::string side = {};        ///< "left", "right"; empty: as it is
  std::string marker_set = {};  ///< of the hand's: "22"
  bool free_base = false;       ///< let go, where it is fixed in the world
  /// Instead of key, side and marker set: a marker map (name or .json file; model/marker_map.h) and
  /// which of its hands; empty: its only one.
  std::string marker_map = {}, map_hand = {};
  bool operator==(const HandVariant&) const = default;
};
template <typename A>
void Visit(A& a, HandVariant& v) {
  a.Field("side", v.side);
  a.Field("marker_set", v.marker_set);
  a.Field("free_base", v.free_base);
  a.Field("marker_map", v.marker_map);
  a.Field("map_hand", v.map_hand);
}

/// One unit of a mesh file for which nothing is said: most are in millimetres.
inline constexpr double kMeshMetresPerUnit = 0.001;

/// What somebody says of an input.
struct Ask {
  std::string key = {};  ///< a name, a hash or its beginning (4 characters), a file; empty: nothing
  HandVariant hand = {};                        ///< of a hand
  double scale = 1.0;                           ///< of a hand
  double metres_per_unit = kMeshMetresPerUnit;  ///< of a mesh file
  bool operator==(const Ask&) const = default;
};
template <typename A>
void Visit(A& a, Ask& v) {
  a.Field("key", v.key);
  a.Field("hand", v.hand);
  a.Field("scale", v.scale);
  a.Field("metres_per_unit", v.metres_per_unit);
}

/// Said of an input that can be left out: it is.
inline constexpr const char* kNone = "none";

/// What of an input does not hang on its type.
struct Found {
  Ask ask = {};
  std::string hash = {};  ///< SHA-256, hex, of what was found; empty: left out
  std::string name = {};  ///< for people
  std::string id = {};    ///< of a clip in its library
  /// Its value, where whoever found it had it in hand; of the type that its kind says.
  std::shared_ptr<const void> at_hand = {};
  explicit operator bool() const { return !hash.empty(); }
};

/// One input; T is an artefact, recording::ClipSource, Hand or model::Prop.
template <typename T>
class Given : public Found {
 public:
  using Source = std::function<Result<std::shared_ptr<const T>>()>;

  Given() = default;
  Given(const char* key) : Given(std::string(key)) {}
  Given(std::string key) { ask.key = std::move(key); }
  Given(Ask said) { ask = std::move(said); }
  /// A value that lies in no library; `as` stands for its hash.
  static Given Of(std::shared_ptr<const T> value, std::string as = "given") {
    Given given;
    given.hash = given.name = std::move(as);
    given.value_ = std::move(value);
    return given;
  }

  void set_source(Source source) { source_ = std::move(source), value_.reset(); }
  /// Loads it, unless that was done; an input that was left out has nothing to load.
  Status Load() const {
    if (value_ != nullptr || hash.empty()) return {};
    CHECK(source_ != nullptr);
    HANDHOLD_ASSIGN(value_, source_());
    return {};
  }
  /// Precondition: loaded.
  const T& operator*() const {
    CHECK(value_ != nullptr);
    return *value_;
  }
  const T* operator->() const { return &**this; }
  /// Null when it was left out.
  const T* get() const { return value_.get(); }

 private:
  Source source_;
  mutable std::shared_ptr<const T> value_;
};

/// An input of many things of one kind: what was said, and what was found, in order.
template <typename T>
struct Many {
  std::vector<Ask> asks = {};
  std::string query = {};  ///< instead, of clips: those that it finds
  std::vector<Given<T>> items = {};
};

/// The kind "skeleton": a hand, and what its fit said of it (null: it was not fitted).
struct Hand {
  model::Skeleton skeleton;
  text::Json summary = {};
};

}  // namespace handhold::step
