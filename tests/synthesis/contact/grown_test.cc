#include "synthesis/contact/grown.h"

#include <gtest/gtest.h>

#include "tests/support/allocation_counter.h"

namespace handhold::synthesis::grown_test {
namespace {

TEST(Grown, KeepsItsMemoryAndIsAnEigenMatrix) {
  GrownMatrix m;
  EXPECT_EQ(m.size(), 0);
  m.SetZero(4, 6);
  const double* const at = m.data();
  const size_t before = testing::AllocationsOfThisThread();
  m.SetZero(3, 2);
  m(2, 1) = 5;
  m.Resize(5, 5);  // half as much again fits
  EXPECT_EQ(testing::AllocationsOfThisThread(), before);
  EXPECT_EQ(m.data(), at);
  m.SetZero(60, 60);
  EXPECT_GT(testing::AllocationsOfThisThread(), before);
  EXPECT_EQ(m.rows(), 60);
  EXPECT_EQ(m.cwiseAbs().maxCoeff(), 0.0);
}

TEST(Grown, IsAssignedFromExpressionsAndFromItself) {
  GrownVector v, w;
  v = Eigen::Vector3d(1, 2, 3);
  EXPECT_EQ(v.size(), 3);
  w = v;
  v = 2 * w.head(2);
  EXPECT_EQ(v.size(), 2);
  EXPECT_EQ(v[1], 4);
  EXPECT_EQ(w[2], 3);
  w.noalias() += Eigen::Matrix3d::Identity() * w;
  EXPECT_EQ(w[2], 6);
  const GrownVector copy = w;
  w[0] = 9;
  EXPECT_EQ(copy[0], 2);
  EXPECT_NE(copy.data(), w.data());
}

}  // namespace
}  // namespace handhold::synthesis::grown_test
