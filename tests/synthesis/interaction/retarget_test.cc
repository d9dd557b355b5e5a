#include "synthesis/interaction/retarget.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/reference_file.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
#include "synthesis/evaluate/verdict.h"
#include "synthesis/interaction/replay.h"
#include "tests/support/chain_hands.h"

namespace handhold::synthesis::retarget_test {
namespace {

using artefact::InteractionTrajectory;
using geometry::Vec3;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

Vec3 TipOf(const model::Skeleton& hand, const Eigen::VectorXd& q, const char* name) {
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, q, &data);
  return model::FramePose<double>(hand, data, hand.FindFrame(name)).p;
}
Vec3 MiddleOf(const model::Skeleton& hand, const Eigen::VectorXd& q) {
  return 0.5 * (TipOf(hand, q, "thumb.tip") +
                0.5 * (TipOf(hand, q, "index.tip") + TipOf(hand, q, "middle.tip")));
}

// Section 3.5 on another hand: angles are copied, the grip's middle stays, 12 g are lifted.
TEST(OntoHand, SmallerAndLargerHandsKeepTheMiddleOfTheGripAndLiftTheBox) {
  const auto file = artefact::LoadLibraryReference("pinch_box_3x5x7").value();
  artefact::Stage scene;
  scene.Add(artefact::TableAt(Vec3(0.3, 0, 0)));
  scene.Add(artefact::Placed(model::LoadLibraryProp("box_3x5x7").value(), file.X_WProp,
                             artefact::StageThing::Is::kFree));
  ReplayOptions options;
  options.form = ReplayForm::kDamped;
  options.margin_m = 4e-3;
  options.step.root_compliance_m_per_N = 0.0;
  VerdictOptions judge;
  judge.hold = file.hold;
  for (const double scale : {0.9, 1.1}) {
    const model::Skeleton other = model::ScaledUniformly(Hand(), scale).value();
    const auto moved = OntoHand(Hand(), file.trajectory, other);
    ASSERT_TRUE(moved) << moved.error().message;
    for (const Eigen::Index k : {Eigen::Index{0}, moved->q_reference.cols() / 2}) {
      const Eigen::VectorXd was = file.trajectory.q_reference.col(k),
                            now = moved->q_reference.col(k);
      EXPECT_NEAR((MiddleOf(other, now) - MiddleOf(Hand(), was)).norm(), 0.0, 1e-9);
      EXPECT_EQ(now.tail(21), was.tail(21));
      EXPECT_GT((now - was).norm(), 0.005);
    }
    const auto motion = ReplayInteraction(other, *moved, scene, options);
    ASSERT_TRUE(motion) << motion.error().message;
    const auto verdict = JudgeHold(other, *motion, judge).value();
    EXPECT_EQ(verdict.kind, artefact::Verdict::Kind::kHeld) << scale << verdict.cause;
    EXPECT_EQ(UnsolvedSteps(*motion), 0);
  }
}

TEST(OntoHand, RefusesAHandWithOtherJoints) {
  const auto file = artefact::LoadLibraryReference("pinch_box_3x5x7").value();
  EXPECT_EQ(OntoHand(Hand(), file.trajectory, testing::ChainHand({0.08, 0.06}, 0.006)).error().code,
            ErrorCode::kInvalid);
}

artefact::ComplianceFit Fit(const char* estimator, const char* task,
                            std::vector<std::pair<std::string, std::optional<double>>> joints) {
  artefact::ComplianceFit fit;
  fit.estimator = estimator;
  fit.task = task;
  for (auto& [dof, value] : joints)
    fit.joints.push_back({.dof = dof, .compliance_rad_per_Nm = value, .refusal = ""});
  return fit;
}

TEST(BorrowCompliances, TakesWhatIsAcceptedByJointNameAndLeavesWhatIsKnown) {
  InteractionTrajectory lender;
  lender.fits = {Fit("paper", "stroking", {{"R.index.pip.flex", 9.0}, {"R.index.dip.flex", 2.1}}),
                 Fit("dynamic", "stroking",
                     {{"R.index.mcp.flex", 0.9},
                      {"R.index.pip.flex", 0.7},
                      {"R.index.dip.flex", std::nullopt}})};
  InteractionTrajectory borrower;
  borrower.dof_names = {"L.index.mcp.flex", "L.index.pip.flex", "L.index.dip.flex",
                        "L.thumb.ip.flex"};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  borrower.compliance_rad_per_Nm.resize(4, 2);
  borrower.compliance_rad_per_Nm << 0.5, 0.5, nan, nan, 1.0, 1.0, nan, nan;
  borrower.assumed = {0, 0, 1, 0};
  const auto borrowed = BorrowCompliances(lender, &borrower);
  ASSERT_TRUE(borrowed) << borrowed.error().message;
  ASSERT_EQ(borrowed->size(), 2u);
  EXPECT_EQ(borrowed->at(0).dof, "L.index.pip.flex");
  EXPECT_EQ(borrowed->at(0).estimator, "dynamic");
  EXPECT_EQ(borrowed->at(1).estimator, "paper");
  const Eigen::MatrixXd& C = borrower.compliance_rad_per_Nm;
  EXPECT_EQ(C(0, 1), 0.5);  // its own fit
  EXPECT_EQ(C(1, 0), 0.7);  // the dynamic estimator's, not 9
  EXPECT_EQ(C(2, 1), 2.1);  // refused by the dynamic one: the paper's
  EXPECT_TRUE(std::isnan(C(3, 0)));
  EXPECT_EQ(borrower.assumed, (std::vector<char>{0, 1, 1, 0}));
}

TEST(BorrowCompliances, RefusesALenderThatKnowsNothing) {
  InteractionTrajectory lender, borrower;
  lender.fits = {Fit("dynamic", "x", {{"R.index.pip.flex", std::nullopt}})};
  borrower.dof_names = {"R.index.pip.flex"};
  borrower.compliance_rad_per_Nm = Eigen::MatrixXd::Constant(1, 2, 1.0);
  borrower.assumed = {1};
  EXPECT_EQ(BorrowCompliances(lender, &borrower).error().code, ErrorCode::kUnidentifiable);
  EXPECT_EQ(borrower.compliance_rad_per_Nm(0, 0), 1.0);
}

}  // namespace
}  // namespace handhold::synthesis::retarget_test
