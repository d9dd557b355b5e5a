#include "database/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace handhold {
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
}  // namespace handhold
