/// What a call that can fail for reasons outside our code returns: a value, or an error that names
/// the thing and the fix.
///
/// Result is the subset of std::expected that we use, so that it can become an alias of it. Broken
/// invariants are not Results: see check.h. Several findings in one input are not Results either:
/// see issue.h. Both kinds are [[nodiscard]]: a failure that nobody looks at is a
/// warning, which the presets that test make an error.
/// Success allocates nothing beyond the value; a failure allocates its message. Not for the 500 Hz
/// path, which counts its losses instead (house.md, section 5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace handhold {

/// Why a call failed, coarse enough to decide on; the message carries the rest.
enum class ErrorCode {
  kInvalid,         ///< the caller's input is wrong (a key, an option, a value)
  kNotFound,        ///< a named thing does not exist
  kCorrupt,         ///< stored or received bytes contradict themselves
  kVersion,         ///< written by a newer or foreign program
  kIo,              ///< the operating system refused (file, socket, device, full disk)
  kBusy,            ///< someone else holds it
  kTimeout,         ///< the peer did not answer in time
  kUnsupported,     ///< well-formed, but beyond what this program does
  kNotConverged,    ///< an iteration ended without an answer
  kUnidentifiable,  ///< the data do not determine what was asked
  kCancelled,       ///< somebody asked us to stop
};

/// "invalid", "not found", ...: stable, for machine-readable output.
std::string_view ErrorCodeName(ErrorCode code);

/// A failure as it is told to a person (message) and to a program (code).
struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;  ///< names the thing and, where there is one, the command or edit that fixes
                        ///< it

  /// The same error with `context + ": "` in front of its message.
  Error Within(std::string_view context) const& {
    return {code, std::string(context) + ": " + message};
  }
};

/// Aborts, printing the error: a Result was dereferenced without a look at it.
[[noreturn]] void AbortOnBadResult(const Error& error);

/// A T, or why there is none. T need not be copyable nor have a default. Moved from, it keeps its
/// side: a value that is moved from, or an error with an empty message.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  // Both implicit, so that a function returns either by `return`.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  /// Look here, or by `if (result)`, before any access below: a value that is not there aborts.
  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    return has_value() ? *std::get_if<0>(&state_)
                       : (AbortOnBadResult(error()), *std::get_if<0>(&state_));
  }
  const T& value() const& { return const_cast<Result*>(this)->value(); }
  /// By value, so that `for (auto& x : Load().value())` iterates over something that lives.
  T value() && { return std::move(this->value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  /// Into the Result: ends with it. Of a temporary use `value()`, never `->` in a range-for.
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The error. Precondition: !has_value().
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an error. Success by default: `return {};`.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  /// Aborts, printing the error, unless this is a success: for tests and examples.
  void value() const {
    if (error_) AbortOnBadResult(*error_);
  }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

#define HANDHOLD_CONCAT_INNER(a, b) a##b
#define HANDHOLD_CONCAT(a, b) HANDHOLD_CONCAT_INNER(a, b)

/// HANDHOLD_TRY(DoIt()); returns the error from the enclosing function when DoIt() failed.
#define HANDHOLD_TRY(expr)                                 \
  do {                                                     \
    if (auto handhold_status = (expr); !handhold_status) { \
      return handhold_status.error();                      \
    }                                                      \
  } while (false)

/// HANDHOLD_ASSIGN(auto clip, OpenClip(path)); the value, or the error returned from the enclosing
/// function.
#define HANDHOLD_ASSIGN(lhs, expr) \
  HANDHOLD_ASSIGN_INNER(lhs, expr, HANDHOLD_CONCAT(handhold_result_, __LINE__))
#define HANDHOLD_ASSIGN_INNER(lhs, expr, name) \
  auto name = (expr);                          \
  if (!name) return name.error();              \
  lhs = *std::move(name)

}  // namespace handhold
