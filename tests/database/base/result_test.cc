#include "database/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handhold::result_test {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::kInvalid, std::to_string(n) + " is odd"};
  return n / 2;
}

Result<int> Quarter(int n) {
  HANDHOLD_ASSIGN(const int half, Half(n));
  HANDHOLD_ASSIGN(const int quarter, Half(half));
  return quarter;
}

Status RequireEven(int n) {
  HANDHOLD_TRY(Half(n));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*Half(4), 2);
  ASSERT_FALSE(Half(3));
  EXPECT_EQ(Half(3).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Half(3).error().message, "3 is odd");
}

TEST(Result, MacrosPassTheErrorOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "3 is odd");
  EXPECT_TRUE(RequireEven(2));
  EXPECT_EQ(RequireEven(5).error().message, "5 is odd");
}

TEST(Result, CarriesMoveOnlyValues) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 7);
}

Result<std::vector<std::string>> Names() {
  return std::vector<std::string>{"long enough to be on the heap, first", "and the second one too"};
}

// Under AddressSanitizer (preset dev) this fails when value() && hands out a reference into the
// temporary; the types say the same where there is no sanitizer.
TEST(Result, ATemporarysValueOutlivesIt) {
  std::size_t length = 0;
  for (const std::string& name : Names().value()) length += name.size();
  for (const std::string& name : *Names()) length += name.size();
  EXPECT_EQ(length, 2u * (36 + 22));
  static_assert(std::is_same_v<decltype(std::declval<Result<std::string>>().value()), std::string>);
  static_assert(std::is_same_v<decltype(*std::declval<Result<std::string>>()), std::string>);
  static_assert(std::is_same_v<decltype(std::declval<Result<int>&>().value()), int&>);
  static_assert(std::is_same_v<decltype(std::declval<const Result<int>&>().value()), const int&>);
}

TEST(Result, TakingAValueMovesIt) {
  Result<std::vector<std::string>> names = Names();
  const std::string* const where = names->data();
  const std::vector<std::string> taken = std::move(names).value();
  EXPECT_EQ(taken.data(), where);
}

TEST(Result, AnErrorValueTypeIsNotConfusedWithFailure) {
  const Result<std::string> text = std::string("fine");
  EXPECT_TRUE(text);
  EXPECT_EQ(text->size(), 4u);
}

TEST(Result, AbortsWithTheErrorWhenDereferencedUnseen) {
  EXPECT_DEATH((void)*Half(3), "value\\(\\) of a failed Result: invalid: 3 is odd");
  const Status bad = Error{ErrorCode::kIo, "disk full"};
  EXPECT_DEATH(bad.value(), "io: disk full");
}

TEST(Error, WithinPutsTheContextInFront) {
  const Error inner{ErrorCode::kNotFound, "no such stream"};
  EXPECT_EQ(inner.Within("clip 7").message, "clip 7: no such stream");
  EXPECT_EQ(inner.Within("clip 7").code, ErrorCode::kNotFound);
}

TEST(ErrorCode, NamesAreStable) {
  EXPECT_EQ(ErrorCodeName(ErrorCode::kInvalid), "invalid");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kUnidentifiable), "unidentifiable");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kNotConverged), "not converged");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kCancelled), "cancelled");
}

}  // namespace
}  // namespace handhold::result_test
