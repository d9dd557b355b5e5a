#include "fitting/grasp_space/pose_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace handhold::fitting::pose_index_test {
namespace {

std::vector<Timestamp> Times(int count, int64_t step_ms) {
  std::vector<Timestamp> times;
  for (int i = 0; i < count; ++i)
    times.push_back(Timestamp::FromNanoseconds(i * step_ms * 1'000'000));
  return times;
}

TEST(PoseIndex, IsExactAgainstASearchOfEveryShape) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0, 0.4);
  PoseIndex index(21);
  std::vector<Eigen::MatrixXd> takes;
  for (int t = 0; t < 3; ++t) {
    takes.push_back(Eigen::MatrixXd::NullaryExpr(21, 700, [&] { return normal(random); }));
    EXPECT_EQ(index.Add(takes.back(), Times(700, 300)), t);
  }
  for (int k = 0; k < 20; ++k) {
    const Eigen::VectorXd asked = Eigen::VectorXd::NullaryExpr(21, [&] { return normal(random); });
    std::vector<double> all;
    for (const Eigen::MatrixXd& m : takes)
      for (int i = 0; i < 700; ++i)
        all.push_back(std::sqrt((m.col(i) - asked).array().square().sum() / 21));
    std::ranges::sort(all);
    const auto found = index.Nearest(asked, {.limit = 10});  // 300 ms apart: nothing is passed over
    ASSERT_EQ(found.size(), 10u);
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(found[i].rms_rad, all[i], 1e-14);
      const Eigen::VectorXd shape = takes[static_cast<size_t>(found[i].take)].col(found[i].frame);
      EXPECT_NEAR(std::sqrt((shape - asked).squaredNorm() / 21), found[i].rms_rad, 1e-14);
    }
  }
}

TEST(PoseIndex, NeighboursOfOneFrameDoNotFillTheListNorDoesTheShapeItself) {
  PoseIndex index(1);
  Eigen::MatrixXd slow(1, 1000);  // 10 s at 100 Hz
  for (int i = 0; i < 1000; ++i) slow(0, i) = 1e-3 * i;
  index.Add(slow, Times(1000, 10));
  const auto found = index.Nearest(Eigen::VectorXd::Constant(1, 0.5), {.limit = 5});
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].frame, 500);
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_GE(std::abs(found[i].frame - found[j].frame), 25);
  const auto others = index.Nearest(
      Eigen::VectorXd::Constant(1, 0.5),
      {.limit = 1, .own_take = 0, .own_time = Timestamp::FromNanoseconds(5'000'000'000)});
  EXPECT_EQ(std::abs(others[0].frame - 500), 25);
  // More than there are.
  EXPECT_EQ(index.Nearest(Eigen::VectorXd::Zero(1), {.limit = 1000}).size(), 40u);
}

}  // namespace
}  // namespace handhold::fitting::pose_index_test
