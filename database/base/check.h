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
// One call, so that temporaries in the operands live until the values are printed.
template <typename A, typename B, typename Holds>
void CheckOp(const A& a, const B& b, Holds holds, const char* file, int line,
             const char* expression) {
  if (holds(a, b)) return;
  std::ostringstream out;
  out.precision(17);
  out << "(" << a << " against " << b << ")";
  CheckFailed(file, line, expression, out.str());
}
}  // namespace internal

#define HANDHOLD_CHECK_OP(op, a, b)                                                          \
  ::handhold::internal::CheckOp(                                                             \
      (a), (b), [](const auto& check_a, const auto& check_b) { return check_a op check_b; }, \
      __FILE__, __LINE__, #a " " #op " " #b)

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
