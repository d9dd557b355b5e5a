// Subjects whose hand or sensor is not what the estimators assume. HANDHOLD_CHAIN_PLAN=full runs
// all (tests/chain/run --full); else the two whose answer is a rule and not a share.
//
// The estimators on whole subjects of tools/lab (the engine's own dynamics) whose hand or sensor
// breaks what the dynamic estimator assumes: it must refuse, or be right within 20 %. Criterion 7
// of the one-finger chain, its last sentences.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "fitting/compliance/contact_fit.h"
#include "fitting/compliance/dynamic_estimator.h"
#include "fitting/compliance/paper_estimator.h"
#include "fitting/skeleton/pose_fit.h"
#include "tests/support/subject_measures.h"
#include "tools/lab/subject.h"

namespace handhold::fitting {
namespace {

using testing::ComplianceAnswer;

bool Full() {
  const char* plan = std::getenv("HANDHOLD_CHAIN_PLAN");
  return plan != nullptr && std::string(plan) == "full";
}

/// A subject fitted with its own skeleton: what goes wrong here is not the skeleton's.
struct Fitted {
  std::optional<lab::Subject> subject;
  artefact::PoseTrack pose;
  artefact::ContactTrack contact;
  std::vector<artefact::ComplianceFit> dynamic, paper;
  std::vector<ComplianceAnswer> answers;
};

lab::SubjectOptions Subject(uint64_t seed) {
  lab::SubjectOptions options;
  options.seed = seed;
  options.processes = 2;
  options.counterfactual_friction = {};
  options.bump = false;
  return options;
}

lab::PlantedImpedance Planted(const char* task, std::initializer_list<double> compliance,
                              std::initializer_list<double> time_constant_s) {
  lab::PlantedImpedance p{task, Eigen::VectorXd(4), Eigen::VectorXd(4)};
  std::copy(compliance.begin(), compliance.end(), p.compliance_rad_per_Nm.data());
  std::copy(time_constant_s.begin(), time_constant_s.end(), p.time_constant_s.data());
  return p;
}

/// The hand with its palm's mass as the template has it: planted `times` as heavy.
model::Skeleton WithPalmOver(const model::Skeleton& hand, double times) {
  model::SkeletonDraft draft = hand.draft();
  for (model::Body& body : draft.bodies) {
    if (!(body.mass.mass_kg > 0)) continue;
    body.mass.mass_kg /= times;
    body.mass.I_BCom_B /= times;
    break;
  }
  return model::Skeleton::Build(std::move(draft)).value();
}

void Fit(const lab::SubjectOptions& options, Fitted* out, double palm_over = 1.0) {
  auto subject = lab::MakeSubject(options);
  ASSERT_TRUE(subject) << subject.error().message;
  out->subject = *std::move(subject);
  const lab::Truth& truth = out->subject->truth;
  const model::Skeleton hand = WithPalmOver(*truth.skeleton, palm_over);
  const recording::Clip clip = lab::MakeClip(out->subject->feed);
  PoseFitOptions pose_options;
  pose_options.method = PoseMethod::kFast;
  auto pose = FitPose(clip, hand, pose_options);
  ASSERT_TRUE(pose) << pose.error().message;
  out->pose = std::move(pose->track);
  auto contact = FitContact(clip, hand, out->pose, testing::PlateOf(truth), truth.X_WPlate);
  ASSERT_TRUE(contact) << contact.error().message;
  out->contact = std::move(contact->track);
  DynamicEstimatorOptions dynamic_options;
  dynamic_options.single_events = false;
  auto dynamic = FitDynamicCompliance(clip, hand, out->pose, out->contact, dynamic_options);
  ASSERT_TRUE(dynamic) << dynamic.error().message;
  out->dynamic = dynamic->fits;
  auto paper = FitPaperCompliance(hand, out->pose, out->contact);
  ASSERT_TRUE(paper) << paper.error().message;
  out->paper = *std::move(paper);
  out->answers = testing::MeasureCompliance(truth, out->dynamic);
  for (const artefact::ComplianceFit& fit : out->dynamic) {
    std::printf("  %s: %d events, chi2/dof %.2f, T %.1f ms, inertia %.3f, palm %.3f\n",
                fit.task.c_str(), fit.events_used, fit.chi2_per_dof,
                1e3 * fit.time_constant_s.value_or(0), fit.inertia_scale.value_or(0),
                fit.palm_inertia_scale.value_or(0));
  }
  for (const ComplianceAnswer& a : out->answers) {
    std::printf("    %-11s %-18s ", a.task.c_str(), a.dof.c_str());
    if (a.accepted) {
      std::printf("%+.1f %% (sd %.1f %%)\n", 100 * a.error, 100 * a.sd_log);
    } else {
      std::printf("refused (sd %.1f %%): %s\n", 100 * a.sd_log, a.refusal.c_str());
    }
  }
}

/// Answers off by more than 20 %.
int FalseAccepts(const Fitted& fitted) {
  int wrong = 0;
  for (const ComplianceAnswer& a : fitted.answers) {
    if (!a.accepted || std::abs(a.error) <= 0.2) continue;
    ++wrong;
    std::printf("  FALSE ACCEPT: %s %s %+.0f %%\n", a.task.c_str(), a.dof.c_str(), 100 * a.error);
  }
  return wrong;
}

TEST(SpecialSubjects, ARigidJointIsNotToldFromZero) {
  lab::SubjectOptions options = Subject(11);
  options.plan.scratching_strokes = 0;
  options.impedances = {
      Planted("exploring", {0.3488, 0.9882, 1e-4, 2.0052}, {0.014, 0.014, 0.014, 0.014})};
  Fitted fitted;
  ASSERT_NO_FATAL_FAILURE(Fit(options, &fitted));
  const artefact::JointCompliance& pip = fitted.dynamic.front().joints[2];
  EXPECT_FALSE(pip.compliance_rad_per_Nm.has_value());
  EXPECT_EQ(pip.refusal.substr(0, 15), "not told from 0") << pip.refusal;
  EXPECT_EQ(pip.lower_rad_per_Nm, 0.0);
  EXPECT_LT(pip.upper_rad_per_Nm, 0.3) << "the study: about 0.07 rad/Nm";
  EXPECT_EQ(FalseAccepts(fitted), 0);
}

TEST(SpecialSubjects, ATimeConstantPerJointIsRefusedOrWithinAFifth) {
  if (!Full()) GTEST_SKIP() << "a whole session: HANDHOLD_CHAIN_PLAN=full";
  lab::SubjectOptions options = Subject(12);
  options.impedances = {
      Planted("exploring", {0.3488, 0.9882, 0.6715, 2.0052}, {0.015, 0.035, 0.020, 0.040}),
      Planted("scratching", {0.1531, 0.4788, 0.60, 0.60}, {0.015, 0.035, 0.020, 0.040})};
  Fitted fitted;
  ASSERT_NO_FATAL_FAILURE(Fit(options, &fitted));
  EXPECT_EQ(FalseAccepts(fitted), 0);
}

TEST(SpecialSubjects, AReflexFromSixtyMillisecondsIsRefusedOrWithinAFifth) {
  if (!Full()) GTEST_SKIP() << "a whole session: HANDHOLD_CHAIN_PLAN=full";
  lab::SubjectOptions options = Subject(13);
  options.reflex_rad = 3.14159265358979 / 180;
  Fitted fitted;
  ASSERT_NO_FATAL_FAILURE(Fit(options, &fitted));
  EXPECT_EQ(FalseAccepts(fitted), 0);
}

// A nearly straight finger's PIP and DIP carry torques of either sign and little size: the paper's
// extrapolation is negative or undetermined for some of its events, and says so (section 4.3).
TEST(SpecialSubjects, ThePaperDiscardsStraightFingersWithTheReason) {
  lab::SubjectOptions options = Subject(14);
  options.plan.exploring_strokes = 8;
  options.plan.scratching_strokes = 0;
  options.plan.postures = {{"straight", {20, 14, 4, 3}, 2.0, 0.020, 0.040, false}};
  options.plan.exploring_force_N[0] = 0.3, options.plan.exploring_force_N[1] = 0.8;
  options.plan.max_speed_m_per_s = 0.08;  // it cannot be stopped gently from more
  Fitted fitted;
  ASSERT_NO_FATAL_FAILURE(Fit(options, &fitted));
  const artefact::ComplianceFit& fit = fitted.paper.front();
  int end_joints = 0;
  for (const auto& discarded : fit.discarded) {
    std::printf("  touch %d %s: %s\n", discarded.touch, discarded.dof.c_str(),
                discarded.reason.c_str());
    EXPECT_FALSE(discarded.reason.empty());
    end_joints += discarded.dof.find("pip") != std::string::npos ||
                  discarded.dof.find("dip") != std::string::npos;
  }
  EXPECT_GE(end_joints, 4) << "of 16";
}

// A sensor whose zero wanders by 0.2 N, and knocks on the plate: the touches are the planted ones.
TEST(SpecialSubjects, DriftAndKnocksMakeNoContact) {
  if (!Full()) GTEST_SKIP() << "a whole session: HANDHOLD_CHAIN_PLAN=full";
  lab::SubjectOptions options = Subject(15);
  options.sensor.faults.force_drift_N = 0.2;
  options.plan.scratching_strokes = 0;
  Fitted fitted;
  ASSERT_NO_FATAL_FAILURE(Fit(options, &fitted));
  const testing::ContactErrors c = testing::MeasureContact(fitted.subject->truth, fitted.contact);
  std::printf("  touches %d of %d, false %d; onset p90 %.2f ms\n", c.matched, c.planted,
              c.false_touches, 1e3 * c.onset_p90_s);
  EXPECT_EQ(c.matched, c.planted);
  EXPECT_EQ(c.touches, c.planted);
  EXPECT_EQ(c.false_touches, 0);
  EXPECT_LE(c.onset_p90_s, 0.002);
}

// Skin that slips by 0.1 mm/N under the end segment's markers biases PIP by -23 % in the study, and
// no covariance sees it. Wrist and MP are refused or within a fifth.
TEST(SpecialSubjects, SkinSlipIsRefusedOrWithinAFifthAtWristAndMp) {
  if (!Full()) GTEST_SKIP() << "a whole session: HANDHOLD_CHAIN_PLAN=full";
  lab::SubjectOptions options = Subject(16);
  options.sensor.faults.skin_slip_m_per_N = 1e-4;
  Fitted fitted;
  ASSERT_NO_FATAL_FAILURE(Fit(options, &fitted));
  FalseAccepts(fitted);
  for (const ComplianceAnswer& a : fitted.answers) {
    if (a.joint > 1) continue;
    EXPECT_TRUE(!a.accepted || std::abs(a.error) <= 0.2) << a.task << " " << a.dof;
  }
}

/// Answers whose interval does not hold the planted value.
int NotCovered(const Fitted& fitted) {
  int wrong = 0;
  for (const ComplianceAnswer& a : fitted.answers) wrong += a.accepted && !a.covered;
  return wrong;
}

// Neighbours that give way together look like other compliances; the intervals hold them.
TEST(SpecialSubjects, CoupledJointsAreRefusedOrWithinTheirIntervals) {
  if (!Full()) GTEST_SKIP() << "whole sessions: HANDHOLD_CHAIN_PLAN=full";
  for (const Eigen::Vector3d& coupling : {Eigen::Vector3d(0, 0, 0.2), Eigen::Vector3d(0, 0.1, 0)}) {
    lab::SubjectOptions options = Subject(17);
    options.coupling = coupling;
    std::printf("  coupling %.1f %.1f %.1f\n", coupling[0], coupling[1], coupling[2]);
    Fitted fitted;
    ASSERT_NO_FATAL_FAILURE(Fit(options, &fitted));
    EXPECT_EQ(NotCovered(fitted), 0);
  }
}

// The palm's mass against the fingers' is fitted: neither refused for it nor answered wrongly.
TEST(SpecialSubjects, APalmOfAnotherMassIsAnsweredAtWristAndMp) {
  if (!Full()) GTEST_SKIP() << "whole sessions: HANDHOLD_CHAIN_PLAN=full";
  for (const double factor : {0.7, 1.5, 3.0}) {
    lab::SubjectOptions options = Subject(18);
    options.palm_mass = factor;
    std::printf("  palm x %.1f\n", factor);
    Fitted fitted;
    ASSERT_NO_FATAL_FAILURE(Fit(options, &fitted, factor));
    EXPECT_EQ(FalseAccepts(fitted), 0);
    for (const ComplianceAnswer& a : fitted.answers)
      EXPECT_TRUE(a.joint > 1 || a.accepted) << a.task << " " << a.dof << ": " << a.refusal;
  }
}

}  // namespace
}  // namespace handhold::fitting
