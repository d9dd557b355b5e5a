/// CHECK: our own invariants, always on, aborting with the expression and its values.
///
/// For what only a bug of ours can break. What the world can break (files, devices, users) is a
/// Result. In every build type: a wrong number in a result costs more than a comparison. There is
/// no way to catch one, and no cleaning up: the store is made to survive it (a take keeps what it
/// had acknowledged). Thread-safe; allocates only when it fails. Pinned by
/// tests/database/base/check_test.cc.
#pragma once

#include <sstream>
#include <string>

namespace handhold {

/// Prints, on one line, `file:line: CHECK failed: expression detail` to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression,
                              const std::string& detail);

namespace internal {
// One call, so that temporaries in the operands live until the values are printed, and each operand
// is evaluated once. Both need a << that std::ostream knows.
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

/// Behind CHECK_EQ and its like; not for use elsewhere. The operator is written into the message,
/// so that it reads "a < b (3 against 2)".
#define HANDHOLD_CHECK_OP(op, a, b)                                                          \
  ::handhold::internal::CheckOp(                                                             \
      (a), (b), [](const auto& check_a, const auto& check_b) { return check_a op check_b; }, \
      __FILE__, __LINE__, #a " " #op " " #b)

/// The condition is evaluated once. CHECK_EQ and its like also print both values, with 17 digits;
/// NaN fails every one of them but CHECK_NE.
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
