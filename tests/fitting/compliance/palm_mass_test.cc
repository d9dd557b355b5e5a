/// The palm's share of the mass matrix, hinged and free; a free palm follows by its mass alone.
#include "fitting/compliance/palm_mass.h"

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "fitting/compliance/deviation.h"
#include "fitting/compliance/joint_pairs.h"
#include "tests/support/finger_take.h"

namespace handhold::fitting::palm_mass_test {
namespace {

TEST(PalmMassTest, ThePalmsPartIsWhatOnlyTheFirstJointCarries) {
  test_support::PlanarFinger finger;
  const model::Skeleton hand = test_support::PlanarHand(finger);
  finger.mass_kg[0] *= 2;
  const model::Skeleton heavier = test_support::PlanarHand(finger);
  PalmMass mass(hand, {4}), twice(heavier, {4});
  const Eigen::Vector4d q(-0.1, -0.4, -0.5, -0.2);
  ASSERT_TRUE(mass.apart());
  EXPECT_TRUE((mass.All(q) + mass.Palm(q)).isApprox(twice.All(q), 1e-12));
  EXPECT_GT(mass.Palm(q)(0, 0), 1e-5);
  EXPECT_EQ(mass.Palm(q).bottomRightCorner(3, 3).cwiseAbs().maxCoeff(), 0.0);
  EXPECT_FALSE(PalmMass(hand, {1}).apart()) << "only the palm itself touches";
}

struct FreeHand {
  model::Skeleton hand = model::LoadHand("hand27").value();
  int palm = 0, thumb = 0, index = 0;
  FreeHand() {
    for (int b = 1; b < hand.body_count(); ++b) {
      if (hand.body(b).name.ends_with("palm")) palm = b;
      if (hand.body(b).name.ends_with("thumb.dst")) thumb = b;
      if (hand.body(b).name.ends_with("index.dst")) index = b;
    }
  }
  model::Skeleton WithPalmTwice() const {
    model::SkeletonDraft draft = hand.draft();
    draft.bodies[static_cast<size_t>(palm - 1)].mass.mass_kg *= 2;
    draft.bodies[static_cast<size_t>(palm - 1)].mass.I_BCom_B *= 2;
    return model::Skeleton::Build(std::move(draft)).value();
  }
  Eigen::VectorXd Posture() const {
    Eigen::VectorXd v = Eigen::VectorXd::Constant(hand.nv(), 0.2);
    return hand.Integrate(hand.ZeroConfiguration(), v);
  }
};

TEST(PalmMassTest, OfAFreeRootThePalmIsTheRootBody) {
  const FreeHand free;
  ASSERT_GT(free.palm, 0);
  PalmMass mass(free.hand, {free.thumb, free.index});
  ASSERT_TRUE(mass.apart());
  const Eigen::VectorXd q = free.Posture();
  const Eigen::MatrixXd palm = mass.Palm(q);
  const int root = FreeRoot(free.hand, {free.index});
  ASSERT_GE(root, 0);
  // Only the root's six coordinates move it. Fingers that touch nothing count as the palm's: they
  // move with their own joints, too.
  for (const int dof : FittedDofs(free.hand, {free.thumb, free.index})) {
    EXPECT_EQ(palm.col(dof).cwiseAbs().maxCoeff(), 0.0) << free.hand.dof_names()[(size_t)dof];
  }
  EXPECT_GT(palm.block(root, root, 6, 6).trace(), 1e-3);
  const model::Skeleton heavy_palm = free.WithPalmTwice();
  PalmMass twice(heavy_palm, {free.index});
  const Eigen::MatrixXd heavier = twice.All(q) - mass.All(q);
  EXPECT_GT(heavier.block(root, root, 6, 6).trace(), 1e-3);
  EXPECT_LE(heavier.block(root, root, 6, 6).trace(), palm.block(root, root, 6, 6).trace() + 1e-12);
}

// A body that nothing holds is a joint of boundless compliance.
TEST(PalmMassTest, AFreePalmFollowsByItsMassAlone) {
  const FreeHand free;
  PalmMass mass(free.hand, {free.index});
  const std::vector<int> dofs = FittedDofs(free.hand, {free.index});
  std::vector<int> coordinates = dofs;
  const int root = FreeRoot(free.hand, {free.index});
  for (int k = 0; k < 6; ++k) coordinates.push_back(root + k);
  const auto n = static_cast<Eigen::Index>(dofs.size());
  Eigen::MatrixXd m = mass.All(free.Posture())(coordinates, coordinates);
  Eigen::MatrixXd tau(n + 6, 160);
  for (Eigen::Index k = 0; k < tau.cols(); ++k) {
    const double t = 5e-4 * static_cast<double>(k);
    tau.col(k).setLinSpaced(0.02, 0.05);
    tau.col(k).tail(3).setConstant(1.0);
    tau.col(k) *= t / 0.08;
  }
  DeviationParameters all;
  all.compliance_rad_per_Nm.setConstant(n + 6, 0.7);
  all.compliance_rad_per_Nm.tail(6).setConstant(1e5);
  all.time_constant_s.setConstant(n + 6, 0.014);
  all.time_constant_s.tail(6).setZero();
  const Eigen::MatrixXd whole = SimulateDeviation(m, tau, 5e-4, all).topRows(n);
  DeviationParameters own;
  own.compliance_rad_per_Nm = all.compliance_rad_per_Nm.head(n);
  own.time_constant_s = all.time_constant_s.head(n);
  const Eigen::MatrixXd held = SimulateDeviation(m.topLeftCorner(n, n), tau.topRows(n), 5e-4, own);
  LetFloat(6, &m, &tau);
  const Eigen::MatrixXd floating = SimulateDeviation(m, tau, 5e-4, own);
  EXPECT_LT((floating - whole).norm(), 1e-3 * whole.norm());
  EXPECT_GT((held - whole).norm(), 0.05 * whole.norm()) << "a held palm is another answer";
}

}  // namespace
}  // namespace handhold::fitting::palm_mass_test
