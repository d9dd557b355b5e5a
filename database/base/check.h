/// CHECK: our own invariants, always on, aborting with the expression and its values.
///
/// For what only a bug of ours can break. What the world can break (files, devices, users) is a
/// Result.
#pragma once

#include <sstream>
#include <string>

namespace handhold {

/// Prints `file:line: CHECK failed: expression detail` to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression,
                              const std::string& detail);

namespace internal {
template <typename A, typename B>
std::string CheckValues(const A& a, const B& b) {
  std::ostringstream out;
  out.precision(17);
  out << "(" << a << " against " << b << ")";
  return out.str();
}
}  // namespace internal

#define HANDHOLD_CHECK_OP(op, a, b)                                                 \
  do {                                                                              \
    const auto& check_a = (a);                                                      \
    const auto& check_b = (b);                                                      \
    if (!(check_a op check_b)) {                                                    \
      ::handhold::CheckFailed(__FILE__, __LINE__, #a " " #op " " #b,                \
                              ::handhold::internal::CheckValues(check_a, check_b)); \
    }                                                                               \
  } while (false)

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) ::handhold::CheckFailed(__FILE__, __LINE__, #condition, ""); \
  } while (false)
#define CHECK_EQ(a, b) HANDHOLD_CHECK_OP(==, a, b)
#define CHECK_NE(a, b) HANDHOLD_CHECK_OP(!=, a, b)
#define CHECK_LT(a, b) HANDHOLD_CHECK_OP(<, a, b)
#define CHECK_LE(a, b) HANDHOLD_CHECK_OP(<=, a, b)
#define CHECK_GT(a, b) HANDHOLD_CHECK_OP(>, a, b)
#define CHECK_GE(a, b) HANDHOLD_CHECK_OP(>=, a, b)

}  // namespace handhold
