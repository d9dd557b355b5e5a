#include "database/base/issue.h"

#include <gtest/gtest.h>

namespace handhold::issue_test {
namespace {

TEST(Issues, OnlyLossCountsAsLoss) {
  EXPECT_FALSE(AnyLoss({}));
  EXPECT_FALSE(AnyLoss(
      {{"POINT:USED", Severity::kNote, "zero"}, {"frame 3", Severity::kWarning, "guessed"}}));
  EXPECT_TRUE(AnyLoss({{"a", Severity::kNote, ""}, {"frame 4", Severity::kLoss, "truncated"}}));
}

TEST(Issues, SeveritiesHaveStableNames) {
  EXPECT_EQ(SeverityName(Severity::kNote), "note");
  EXPECT_EQ(SeverityName(Severity::kWarning), "warning");
  EXPECT_EQ(SeverityName(Severity::kLoss), "loss");
}

}  // namespace
}  // namespace handhold::issue_test
