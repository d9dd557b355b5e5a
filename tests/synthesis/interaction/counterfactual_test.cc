// The replay against the engine's counterfactual: the planted hand, on the surface of the capture
// and on surfaces that were never recorded. Criteria: issue "One finger, the whole chain", section
// 4, number 9 (planted inputs) and its canaries.

#include <cstdio>

#include <gtest/gtest.h>

#include "tests/support/subject_measures.h"
#include "tools/lab/subject.h"

namespace handhold::counterfactual_test {
namespace {

using synthesis::ReplayForm;
using testing::RunReplay;
using testing::StrokeReplay;

class Counterfactual : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    lab::SubjectOptions options;
    options.seed = 7;
    options.plan = lab::Plan::Brief();
    options.processes = 2;
    auto made = lab::MakeSubject(options);
    ASSERT_TRUE(made) << made.error().message;
    subject_ = new lab::Subject(*std::move(made));
  }
  static void TearDownTestSuite() { delete subject_; }
  static lab::Subject* subject_;

  static RunReplay Replay(const char* run, ReplayForm form, double compliance_scale = 1.0,
                          double friction = -1.0) {
    const RunReplay r =
        testing::ReplayPlanted(subject_->truth, run, form, compliance_scale, friction);
    std::printf(
        "%s\n",
        testing::Describe(
            std::string(run) + (form == ReplayForm::kDamped ? ", damped" : ", quasi-static"), r)
            .c_str());
    return r;
  }
};
lab::Subject* Counterfactual::subject_ = nullptr;

// On the surface of the capture and on those that were never recorded.
TEST_F(Counterfactual, ThePlantedHandReplaysAsTheEngineMoved) {
  for (const char* name : {"captured", "friction_0.1", "friction_1.0"}) {
    const RunReplay damped = Replay(name, ReplayForm::kDamped);
    ASSERT_GE(damped.strokes.size(), 14u);
    EXPECT_EQ(damped.lcp_failures, 0);
    EXPECT_LE(damped.Median(&StrokeReplay::force_late), 0.04) << name;
    EXPECT_LE(damped.P90(&StrokeReplay::force_late), 0.08) << name;
    EXPECT_LE(damped.Median(&StrokeReplay::force_early), 0.15) << name;
    EXPECT_LE(damped.Median(&StrokeReplay::tip_m), 0.3e-3) << name;
    const RunReplay paper = Replay(name, ReplayForm::kQuasiStatic);
    EXPECT_EQ(paper.lcp_failures, 0);
    EXPECT_LE(paper.Median(&StrokeReplay::force_late), 0.10) << name;
    EXPECT_LE(paper.P90(&StrokeReplay::force_late), 0.15) << name;
    if (std::string(name) == "friction_0.1") continue;
    EXPECT_GE(damped.SlipAgreement(), 0.95) << name;
    EXPECT_GE(damped.StickRecall(), 0.85) << name;
  }
  const RunReplay bump = Replay("bump", ReplayForm::kDamped);
  EXPECT_EQ(bump.lcp_failures, 0);
  EXPECT_LE(bump.Median(&StrokeReplay::force_late), 0.04);
  EXPECT_LE(bump.P90(&StrokeReplay::force_late), 0.08);
  EXPECT_LE(bump.P90(&StrokeReplay::tip_m), 1.5e-3);
  EXPECT_LE(bump.jams * 10, static_cast<int>(bump.strokes.size()) + bump.jams);
}

// Criterion 10, canaries of 9: a doubled compliance and a wrong friction must be seen.
TEST_F(Counterfactual, ADoubledComplianceFailsTheReplay) {
  const RunReplay twice = Replay("friction_0.1", ReplayForm::kDamped, 2.0);
  EXPECT_GT(twice.Median(&StrokeReplay::force_late), 0.08);
}

TEST_F(Counterfactual, FrictionOfATenthInsteadOfOneFailsTheReplay) {
  const RunReplay smooth = Replay("friction_1.0", ReplayForm::kDamped, 1.0, 0.1);
  EXPECT_GT(smooth.Median(&StrokeReplay::force_late), 0.08);
  EXPECT_LT(smooth.StickRecall(), 0.85);
}

}  // namespace
}  // namespace handhold::counterfactual_test
