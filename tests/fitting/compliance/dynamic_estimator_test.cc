/// The whole way from markers and a wrench to compliance and reference, against a finger simulated
/// by other code.
#include "fitting/compliance/dynamic_estimator.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "fitting/compliance/contact_fit.h"
#include "fitting/compliance/joint_pairs.h"
#include "fitting/compliance/palm_mass.h"
#include "fitting/compliance/paper_estimator.h"
#include "fitting/compliance/reference_trajectory.h"
#include "fitting/skeleton/pose_fit.h"
#include "tests/support/finger_take.h"

namespace handhold::fitting::dynamic_estimator_test {
namespace {

using test_support::FingerTake;
using test_support::Joints;
using test_support::MakeTake;
using test_support::TakePlan;

struct Chain {
  FingerTake take;
  artefact::PoseTrack pose;
  artefact::ContactTrack contact;
};

Chain RunChain(const TakePlan& plan) {
  Chain chain{MakeTake(plan), {}, {}};
  PoseFitOptions options;
  options.method = PoseMethod::kFast;
  auto pose = FitPose(chain.take.clip, chain.take.skeleton, options);
  EXPECT_TRUE(pose) << pose.error().message;
  chain.pose = pose->track;
  auto contact = FitContact(chain.take.clip, chain.take.skeleton, chain.pose, chain.take.plate,
                            chain.take.X_WPlate);
  EXPECT_TRUE(contact) << contact.error().message;
  chain.contact = contact->track;
  return chain;
}

/// The same recording with another sensor before its own: one that reads a third of the force.
class WithAnotherSensorFirst : public recording::Clip {
 public:
  explicit WithAnotherSensorFirst(const recording::Clip& clip)
      : Clip(clip), sensors_(clip.force_sensors()) {
    recording::ForceSensor other = sensors_.front();
    other.name = "another";
    other.calibration /= 3.0;
    sensors_.insert(sensors_.begin(), other);
  }
  const std::vector<recording::ForceSensor>& force_sensors() const override { return sensors_; }

 private:
  std::vector<recording::ForceSensor> sensors_;
};

// The compliance is that of the force which the touches were measured with, whatever sensor stands
// first in the clip.
TEST(DynamicEstimatorTest, ReadsTheSensorOfTheTouches) {
  TakePlan plan;
  plan.free_strokes = 8;
  plan.contact_strokes = 6;
  const Chain chain = RunChain(plan);
  const FingerTake& take = chain.take;
  const WithAnotherSensorFirst both(take.clip);
  const auto of_which = FitContact(both, take.skeleton, chain.pose, take.plate, take.X_WPlate);
  ASSERT_FALSE(of_which);
  EXPECT_EQ(of_which.error().code, ErrorCode::kInvalid);
  ContactFitOptions options;
  options.force_sensor = "plate";
  const auto contact =
      FitContact(both, take.skeleton, chain.pose, take.plate, take.X_WPlate, options);
  ASSERT_TRUE(contact) << contact.error().message;
  for (const artefact::Touch& touch : contact->track.touches) EXPECT_EQ(touch.sensor, "plate");
  const auto alone = FitDynamicCompliance(take.clip, take.skeleton, chain.pose, chain.contact);
  const auto beside = FitDynamicCompliance(both, take.skeleton, chain.pose, contact->track);
  ASSERT_TRUE(alone && beside);
  for (size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(beside->fits[0].joints[j].compliance_rad_per_Nm,
              alone->fits[0].joints[j].compliance_rad_per_Nm);
  }
  // The other sensor's force would have given thrice the compliance.
  options.force_sensor = "another";
  const auto third =
      FitContact(both, take.skeleton, chain.pose, take.plate, take.X_WPlate, options);
  ASSERT_TRUE(third) << third.error().message;
  const auto soft = FitDynamicCompliance(both, take.skeleton, chain.pose, third->track);
  ASSERT_TRUE(soft) << soft.error().message;
  const auto& stiff_joint = alone->fits[0].joints[1].compliance_rad_per_Nm;
  const auto& soft_joint = soft->fits[0].joints[1].compliance_rad_per_Nm;
  ASSERT_TRUE(stiff_joint);
  EXPECT_TRUE(!soft_joint || *soft_joint > 1.5 * *stiff_joint);
}

/// The covariance says what the joints' sd do; every interval is one and holds its value.
void ExpectConsistent(const artefact::ComplianceFit& fit) {
  Eigen::Index at = 0;
  for (const artefact::JointCompliance& joint : fit.joints) {
    EXPECT_GE(joint.lower_rad_per_Nm, 0.0) << joint.dof;
    EXPECT_GE(joint.upper_rad_per_Nm, joint.lower_rad_per_Nm) << joint.dof;
    EXPECT_NE(joint.compliance_rad_per_Nm.has_value(), !joint.refusal.empty()) << joint.dof;
    if (!joint.compliance_rad_per_Nm) continue;
    EXPECT_GT(*joint.compliance_rad_per_Nm, joint.lower_rad_per_Nm) << joint.dof;
    EXPECT_LT(*joint.compliance_rad_per_Nm, joint.upper_rad_per_Nm) << joint.dof;
    ASSERT_LT(at, fit.covariance_log.rows());
    EXPECT_NEAR(fit.covariance_log(at, at), joint.sd_log * joint.sd_log, 1e-12) << joint.dof;
    ++at;
  }
  EXPECT_EQ(at, fit.covariance_log.rows());
}

void Print(const artefact::ComplianceFit& fit, const Joints& truth) {
  for (size_t j = 0; j < fit.joints.size(); ++j) {
    const artefact::JointCompliance& joint = fit.joints[j];
    const double planted = truth[static_cast<Eigen::Index>(j)];
    std::printf("  %-18s %s sd %.3f, interval %+.0f to %+.0f %% of the planted\n",
                joint.dof.c_str(), joint.compliance_rad_per_Nm ? "answered" : "refused ",
                joint.sd_log, 100 * (joint.lower_rad_per_Nm / planted - 1),
                100 * (joint.upper_rad_per_Nm / planted - 1));
  }
}

TEST(DynamicEstimatorTest, RecoversPlantedComplianceFromMarkersAndWrench) {
  TakePlan plan;
  plan.free_strokes = 8;
  plan.contact_strokes = 18;
  plan.force_late_s = 0.0005;
  const Chain chain = RunChain(plan);
  auto fit = FitDynamicCompliance(chain.take.clip, chain.take.skeleton, chain.pose, chain.contact);
  ASSERT_TRUE(fit) << fit.error().message;
  ASSERT_EQ(fit->fits.size(), 1u);
  const artefact::ComplianceFit& answer = fit->fits[0];
  EXPECT_EQ(answer.task, "exploring");
  EXPECT_GE(answer.events_used, 16);
  EXPECT_NEAR(answer.time_shift_s.value(), 0.0005, 3e-4);
  EXPECT_NEAR(answer.inertia_scale.value() * answer.palm_inertia_scale.value(), 1.0, 0.1);
  EXPECT_NEAR(answer.time_constant_s.value(), 0.014, 0.002);
  for (int j = 0; j < 4; ++j) {
    const artefact::JointCompliance& joint = answer.joints[static_cast<size_t>(j)];
    const double truth = plan.impedance.compliance_rad_per_Nm[j];
    if (j < 2) {
      EXPECT_TRUE(joint.compliance_rad_per_Nm) << joint.dof << ": " << joint.refusal;
    }
    if (!joint.compliance_rad_per_Nm) {
      EXPECT_FALSE(joint.refusal.empty());
      continue;
    }
    EXPECT_LT(std::abs(std::log(*joint.compliance_rad_per_Nm / truth)), j < 2 ? 0.10 : 0.2)
        << joint.dof;
    EXPECT_LT(std::abs(std::log(*joint.compliance_rad_per_Nm / truth)), 3.5 * joint.sd_log)
        << joint.dof;
  }
  ExpectConsistent(answer);
  Print(answer, plan.impedance.compliance_rad_per_Nm);
  // An interval that holds everything is none: 0.33, 0.28, 0.92 and 1.06 were measured.
  const Joints widest(0.45, 0.4, 1.2, 1.4);
  for (size_t j = 0; j < 4; ++j) {
    EXPECT_LT(std::log(answer.joints[j].upper_rad_per_Nm / answer.joints[j].lower_rad_per_Nm),
              widest[static_cast<Eigen::Index>(j)])
        << answer.joints[j].dof;
  }
  for (const artefact::ComplianceFit::Event& e : answer.events) {
    EXPECT_TRUE(std::isnan(e.compliance_rad_per_Nm[3]))
        << "the end joint is refused for any single event";
  }
}

TEST(DynamicEstimatorTest, WhatTookUpSomethingElseIsToldByName) {
  DynamicEstimatorOptions options;
  artefact::ComplianceFit fit;
  fit.task = "exploring";
  fit.events_used = 20;
  fit.chi2_per_dof = 0.91;
  fit.inertia_scale = 1.3;
  fit.palm_inertia_scale = 0.8;
  fit.time_shift_s = -0.0009;
  EXPECT_TRUE(OddNuisances(fit, options).empty());
  const auto said = [&] {
    const Issues issues = OddNuisances(fit, options);
    return issues.size() == 1 && issues[0].severity == Severity::kWarning &&
                   issues[0].where == "dynamic, exploring"
               ? issues[0].what
               : std::to_string(issues.size()) + " issues";
  };
  fit.chi2_per_dof = 0.25;
  EXPECT_NE(said().find("claims 2.0 times the noise"), std::string::npos) << said();
  fit.chi2_per_dof = 0.57;  // a soft forearm
  EXPECT_NE(said().find("0.57, far below 1"), std::string::npos) << said();
  fit.chi2_per_dof = 0.85;  // a firmer one
  const Issues firmer = OddNuisances(fit, options);
  ASSERT_EQ(firmer.size(), 1u);
  EXPECT_EQ(firmer[0].severity, Severity::kNote);
  EXPECT_NE(firmer[0].what.find("forearm"), std::string::npos);
  fit.chi2_per_dof = 0.95;
  fit.inertia_scale = 0.2;  // 5.4 sd
  EXPECT_NE(said().find("inertia scale ended at 0.2, 5.4 prior"), std::string::npos) << said();
  fit.inertia_scale = 5.0;
  EXPECT_NE(said().find("inertia scale ended at 5, 5.4 prior"), std::string::npos) << said();
  fit.inertia_scale = 1.0;
  fit.palm_inertia_scale = 2.9;
  EXPECT_NE(said().find("palm ended 2.90 times as heavy"), std::string::npos) << said();
  fit.palm_inertia_scale = 1.0;
  fit.time_shift_s = 0.0014;
  EXPECT_NE(said().find("1.4 ms later than the markers: late clocks, or a causal filter"),
            std::string::npos)
      << said();
  fit.time_shift_s = 0.0112;
  EXPECT_NE(said().find("11.2 ms later than the markers, 5.6 prior"), std::string::npos) << said();
  fit.time_shift_s = -0.0112;
  EXPECT_NE(said().find("11.2 ms earlier"), std::string::npos) << said();
  EXPECT_TRUE(OddTouching(2.7e-4, options).empty()) << "others' plain takes";
  ASSERT_EQ(OddTouching(3.4e-4, options).size(), 1u);
  EXPECT_NE(OddTouching(3.4e-4, options)[0].what.find("0.34 mm off the wrench's axis"),
            std::string::npos);
  // The contacts of a plain take, of one whose sensor stands 1 mm off, of one without a point.
  const auto touching = [&](double skeleton_m, double shift_m) {
    DynamicEstimatorOptions with = options;
    with.touch_axis_rms_m = skeleton_m;
    artefact::ContactSummary contacts;
    contacts.axis_shift_m = shift_m, contacts.axis_left_rms_m = 3e-5;
    return TouchAxis_m(with, contacts);
  };
  EXPECT_EQ(touching(1.2e-4, 1.7e-4), 1.2e-4);
  EXPECT_NEAR(touching(1.2e-4, 1e-3), 0.984e-3, 1e-6);
  EXPECT_EQ(touching(2e-3, 1e-3), 2e-3);
  EXPECT_EQ(touching(1.2e-4, std::nan("")), 1.2e-4);
  fit.chi2_per_dof = 0.0;
  fit.events_used = 0;  // refused whole: nothing was fitted
  EXPECT_TRUE(OddNuisances(fit, options).empty());
}

// What a step before warned of, and what the fit shows beside its compliances, is in the intervals.
TEST(DynamicEstimatorTest, WarningsWidenTheIntervalsOrRefuse) {
  TakePlan plan;
  plan.free_strokes = 8;
  plan.contact_strokes = 7;
  const Chain chain = RunChain(plan);
  const auto fit_of = [&](const artefact::PoseTrack& pose, double axis_rms_m) {
    DynamicEstimatorOptions options;
    options.single_events = false;
    options.touch_axis_rms_m = axis_rms_m;
    auto fit =
        FitDynamicCompliance(chain.take.clip, chain.take.skeleton, pose, chain.contact, options);
    EXPECT_TRUE(fit) << fit.error().message;
    return fit->fits.front();
  };
  const artefact::ComplianceFit plain = fit_of(chain.pose, 1.2e-4),
                                crossed = fit_of(chain.pose, 2.4e-4),
                                misplaced = fit_of(chain.pose, 4.8e-4);
  EXPECT_TRUE(plain.joints[1].compliance_rad_per_Nm);
  for (size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(crossed.joints[j].sd_log,
                std::hypot(plain.joints[j].sd_log, 0.3 * std::sqrt(0.24 * 0.24 - 0.15 * 0.15)),
                1e-9);
    EXPECT_FALSE(misplaced.joints[j].compliance_rad_per_Nm);
    EXPECT_NE(misplaced.joints[j].refusal, "");
  }
  // The touches themselves say the same where the skeleton's fit does not, being another clip's.
  Chain elsewhere = chain;
  DynamicEstimatorOptions none;
  none.single_events = false;
  elsewhere.contact.summary.axis_left_rms_m = 0.0;
  // How often it is told that the touched point lies beside the axis.
  const auto told = [](const auto& fit) {
    return std::ranges::count_if(fit->summary.issues, [](const Issue& issue) {
      return issue.what.find("wrench's axis") != std::string::npos;
    });
  };
  const auto fit_elsewhere = [&](double shift_m) {
    elsewhere.contact.summary.axis_shift_m = shift_m;
    return FitDynamicCompliance(elsewhere.take.clip, elsewhere.take.skeleton, elsewhere.pose,
                                elsewhere.contact, none);
  };
  EXPECT_EQ(told(fit_elsewhere(0.0)), 0);
  const auto shifted = fit_elsewhere(std::hypot(2.4e-4, none.doubts.contact_axis_plain_m));
  ASSERT_TRUE(shifted) << shifted.error().message;
  EXPECT_EQ(told(shifted), 0) << "plain takes of others leave that";
  EXPECT_EQ(told(fit_elsewhere(std::hypot(3.4e-4, none.doubts.contact_axis_plain_m))), 1);
  for (size_t j = 0; j < 4; ++j)
    EXPECT_NEAR(shifted->fits[0].joints[j].sd_log, crossed.joints[j].sd_log, 1e-9);
  artefact::PoseTrack noisier = chain.pose;  // claims more noise than the events show
  const double claimed = 0.57 / plain.chi2_per_dof;
  for (auto& [frame, information] : noisier.information) information *= claimed;
  const artefact::ComplianceFit low = fit_of(noisier, 0.0);
  EXPECT_NEAR(low.chi2_per_dof, 0.57, 0.06);
  EXPECT_GT(low.joints[1].sd_log, std::hypot(plain.joints[1].sd_log, 0.09));
}

TEST(DynamicEstimatorTest, ARigidJointCastsDoubtOnItsNeighbours) {
  TakePlan plan;
  plan.free_strokes = 8;
  plan.contact_strokes = 10;
  plan.impedance.compliance_rad_per_Nm[2] = 0.02;
  plan.impedance.coupling = {0, 0, 0.2};
  const Chain chain = RunChain(plan);
  DynamicEstimatorOptions options;
  options.single_events = false;
  const auto fit = FitDynamicCompliance(chain.take.clip, chain.take.skeleton, chain.pose,
                                        chain.contact, options);
  ASSERT_TRUE(fit) << fit.error().message;
  const artefact::ComplianceFit& answer = fit->fits[0];
  ExpectConsistent(answer);
  Print(answer, plan.impedance.compliance_rad_per_Nm);
  EXPECT_FALSE(answer.joints[2].compliance_rad_per_Nm);
  EXPECT_EQ(answer.joints[2].lower_rad_per_Nm, 0.0);
  EXPECT_GT(answer.joints[2].upper_rad_per_Nm, 0.02) << "whatever its coupling with DIP does";
  EXPECT_LT(answer.joints[2].upper_rad_per_Nm, 0.3);
  EXPECT_GT(answer.joints[1].sd_log, options.doubts.sd_beside_rigid);
}

// One stroke, and a palm that the skeleton has twenty times too light or too heavy.
TEST(DynamicEstimatorTest, OneStrokeWithAPalmFarOffIsRefusedForThePalm) {
  TakePlan plan;
  plan.free_strokes = 8;
  plan.contact_strokes = 1;
  const Chain chain = RunChain(plan);
  for (const double times : {1.0 / 20, 20.0}) {
    model::SkeletonDraft draft = chain.take.skeleton.draft();
    draft.bodies[0].mass.mass_kg *= times;
    draft.bodies[0].mass.I_BCom_B *= times;
    const model::Skeleton hand = model::Skeleton::Build(std::move(draft)).value();
    const auto fit = FitDynamicCompliance(chain.take.clip, hand, chain.pose, chain.contact);
    ASSERT_TRUE(fit) << fit.error().message;
    const artefact::ComplianceFit& answer = fit->fits[0];
    ExpectConsistent(answer);
    Print(answer, plan.impedance.compliance_rad_per_Nm);
    std::printf("  inertia %.3g, palm %.3g\n", answer.inertia_scale.value_or(0),
                answer.palm_inertia_scale.value_or(0));
    for (size_t j = 0; j < 4; ++j) {
      const artefact::JointCompliance& joint = answer.joints[j];
      const double planted = plan.impedance.compliance_rad_per_Nm[static_cast<Eigen::Index>(j)];
      EXPECT_LE(joint.lower_rad_per_Nm, planted) << joint.dof;
      EXPECT_GE(joint.upper_rad_per_Nm, planted) << joint.dof;
      EXPECT_FALSE(joint.compliance_rad_per_Nm) << joint.dof;
      EXPECT_NE(joint.refusal.find("the palm would be"), std::string::npos) << joint.refusal;
    }
  }
}

// The same take fitted with a palm that is not known to hang on a wrist: the finger's joints are
// refused or right, and the palm's six coordinates are none of a compliance.
TEST(DynamicEstimatorTest, AFingerOfAFreePalmIsRefusedOrRight) {
  TakePlan plan;
  plan.free_strokes = 8;
  plan.contact_strokes = 14;
  Chain chain{MakeTake(plan), {}, {}};
  model::SkeletonDraft draft = chain.take.skeleton.draft();
  draft.bodies[0].joint.type = model::JointType::kFree;
  draft.bodies[0].joint.dof_names = {"x", "y", "z", "rx", "ry", "rz"};
  auto built = model::Skeleton::Build(std::move(draft));
  ASSERT_TRUE(built) << built.error().message;
  const model::Skeleton hand = *std::move(built);
  PoseFitOptions fast;
  fast.method = PoseMethod::kFast;
  const auto pose = FitPose(chain.take.clip, hand, fast);
  ASSERT_TRUE(pose) << pose.error().message;
  const auto contact =
      FitContact(chain.take.clip, hand, pose->track, chain.take.plate, chain.take.X_WPlate);
  ASSERT_TRUE(contact) << contact.error().message;
  DynamicEstimatorOptions options;
  options.single_events = false;
  const auto fit =
      FitDynamicCompliance(chain.take.clip, hand, pose->track, contact->track, options);
  ASSERT_TRUE(fit) << fit.error().message;
  const artefact::ComplianceFit& answer = fit->fits[0];
  ASSERT_EQ(answer.joints.size(), 9u);
  ExpectConsistent(answer);
  std::printf("  chi-square %.2f, inertia %.3g, palm %.3g, T %.1f ms, gain %.1f\n",
              answer.chi2_per_dof, answer.inertia_scale.value_or(0),
              answer.palm_inertia_scale.value_or(0), 1e3 * answer.time_constant_s.value_or(0),
              fit->summary.chi2_gain_own_T[0]);
  ASSERT_EQ(fit->summary.coupling[0].size(), 2) << "MP-PIP and PIP-DIP";
  EXPECT_GT(answer.palm_inertia_scale.value(), 3.0) << "the wrist that holds it";
  for (size_t j = 0; j < 9; ++j) {
    const artefact::JointCompliance& joint = answer.joints[j];
    if (j < 6) {
      EXPECT_FALSE(joint.compliance_rad_per_Nm);
      EXPECT_NE(joint.refusal, "");
      continue;
    }
    const double planted = plan.impedance.compliance_rad_per_Nm[static_cast<Eigen::Index>(j) - 5];
    std::printf("  %-18s %s %.2f in [%.2f, %.2f], planted %.2f, sd %.3f %s\n", joint.dof.c_str(),
                joint.compliance_rad_per_Nm ? "answered" : "refused",
                joint.compliance_rad_per_Nm.value_or(0), joint.lower_rad_per_Nm,
                joint.upper_rad_per_Nm, planted, joint.sd_log, joint.refusal.c_str());
    EXPECT_LE(joint.lower_rad_per_Nm, planted) << joint.dof;
    EXPECT_GE(joint.upper_rad_per_Nm, planted) << joint.dof;
  }
}

TEST(DynamicEstimatorTest, ATakeWithoutContactIsUnidentifiable) {
  TakePlan plan;
  plan.contact_strokes = 0;
  const Chain chain = RunChain(plan);
  auto fit = FitDynamicCompliance(chain.take.clip, chain.take.skeleton, chain.pose, chain.contact);
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().code, ErrorCode::kUnidentifiable);
}

double Degrees(double rad) { return rad * 57.29577951308232; }

/// Median over touches of the RMS error of theta_r, wrist and MP, from 50 ms after onset to
/// release, degrees.
double ReferenceError(const Chain& chain, const Eigen::MatrixXd& reference) {
  std::vector<double> errors;
  const std::vector<int> touch_of_frame = artefact::TouchOfFrame(chain.contact).value();
  for (size_t p = 0; p < chain.contact.touches.size(); ++p) {
    double sum = 0;
    int n = 0;
    for (size_t k = 0; k < chain.contact.times.size(); ++k) {
      if (touch_of_frame[k] != static_cast<int>(p) ||
          chain.contact.times[k] < chain.contact.touches[p].onset + Duration::Milliseconds(50))
        continue;
      for (int j = 0; j < 2; ++j)
        sum +=
            std::pow(reference(j, static_cast<Eigen::Index>(k)) - chain.take.theta_free[k][j], 2);
      n += 2;
    }
    if (n > 0) errors.push_back(Degrees(std::sqrt(sum / n)));
  }
  std::sort(errors.begin(), errors.end());
  return errors[errors.size() / 2];
}

TEST(ReferenceTrajectoryTest, ComesBackWithTheTrueComplianceAndNotWithTwiceIt) {
  TakePlan plan;
  plan.free_strokes = 2;
  plan.contact_strokes = 6;
  const Chain chain = RunChain(plan);
  artefact::ComplianceFit truth;
  truth.estimator = "dynamic";
  truth.task = "exploring";
  truth.time_constant_s = 0.014;
  for (int j = 0; j < 4; ++j) {
    truth.joints.push_back({});
    truth.joints.back().dof = chain.take.skeleton.dof_names()[static_cast<size_t>(j)];
    truth.joints.back().compliance_rad_per_Nm = plan.impedance.compliance_rad_per_Nm[j];
  }
  auto made = MakeInteractionTrajectory(chain.take.skeleton, chain.pose, chain.contact, {truth});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_LE(ReferenceError(chain, made->trajectory.q_reference), 0.75);
  EXPECT_LE(ReferenceError(chain, made->trajectory.q_reference_dynamic), 0.3);
  EXPECT_GT(ReferenceError(chain, chain.pose.q), 0.75) << "theta_r := theta must fail";
  for (const double factor : {0.5, 2.0}) {
    ReferenceTrajectoryOptions options;
    options.compliance_factor = factor;
    auto wrong =
        MakeInteractionTrajectory(chain.take.skeleton, chain.pose, chain.contact, {truth}, options);
    ASSERT_TRUE(wrong);
    EXPECT_GT(ReferenceError(chain, wrong->trajectory.q_reference), 0.75) << factor;
  }
  // Continuous where contact begins and ends: no step beyond what one frame of torque can do.
  EXPECT_LT(made->summary.onset_jump_rad, 0.02);
  EXPECT_LT(made->summary.release_jump_rad, 0.02);
  EXPECT_GT(made->summary.extrapolation_median_rad, 0.0);
}

// A palm that nothing holds goes along, and takes its share of the torque.
TEST(ReferenceTrajectoryTest, AFreePalmTakesItsShareOfTheTorque) {
  const model::Skeleton hand = model::LoadHand("hand27").value();
  artefact::PoseTrack pose;
  artefact::ContactTrack contact;
  artefact::Touch touch;
  for (int b = 1; b < hand.body_count(); ++b)
    if (hand.body(b).name.ends_with("index.dst")) touch.a.body = b;
  touch.task = "exploring";
  touch.onset = Timestamp::FromSeconds(0.1);
  touch.release = Timestamp::FromSeconds(0.6);
  const int frames = 300;
  const Eigen::VectorXd q =
      hand.Integrate(hand.ZeroConfiguration(), Eigen::VectorXd::Constant(hand.nv(), 0.2));
  pose.q.resize(hand.nq(), frames);
  contact.tau_Nm.setZero(hand.nv(), frames);
  const std::vector<int> dofs = FittedDofs(hand, {touch.a.body});
  const int root = FreeRoot(hand, {touch.a.body});
  ASSERT_GE(root, 0);
  Eigen::MatrixXd tau(dofs.size() + 6, 1);
  tau.setConstant(0.03);
  tau.bottomRows(3).setConstant(1.0);
  std::vector<int> coordinates = dofs;
  for (int k = 0; k < 6; ++k) coordinates.push_back(root + k);
  for (int k = 0; k < frames; ++k) {
    pose.times.push_back(Timestamp::FromSeconds(0.002 * k));
    pose.q.col(k) = q;
    if (pose.times.back() < touch.onset) continue;
    contact.tau_Nm(coordinates, k) = tau;
    contact.rows.emplace_back().frame = k;
  }
  contact.times = pose.times;
  contact.touches = {touch};
  artefact::ComplianceFit fit;
  fit.estimator = "dynamic";
  fit.task = "exploring";
  fit.time_constant_s = 0.014;
  for (const std::string& dof : hand.dof_names()) {
    fit.joints.emplace_back().dof = dof;
    fit.joints.back().compliance_rad_per_Nm = 0.5;
  }
  ReferenceTrajectoryOptions options;
  options.cutoff_Hz = 0.0;
  const auto made = MakeInteractionTrajectory(hand, pose, contact, {fit}, options);
  ASSERT_TRUE(made) << made.error().message;
  PalmMass masses(hand, {touch.a.body});
  Eigen::MatrixXd mass = masses.All(q)(coordinates, coordinates);
  const Eigen::VectorXd held = 0.5 * tau.topRows(static_cast<Eigen::Index>(dofs.size()));
  LetFloat(6, &mass, &tau);
  const Eigen::VectorXd bent =
      hand.Difference(made->trajectory.q_reference_dynamic.col(280), q)(dofs);
  EXPECT_LT((bent - 0.5 * tau.col(0)).norm(), 0.02 * bent.norm()) << bent.transpose();
  EXPECT_GT((held - 0.5 * tau.col(0)).norm(), 0.08 * bent.norm())
      << "a held palm is another answer";
}

TEST(ReferenceTrajectoryTest, RefusedJointsStayRefusedUnlessAssumedByName) {
  TakePlan plan;
  plan.free_strokes = 1;
  plan.contact_strokes = 2;
  const Chain chain = RunChain(plan);
  artefact::ComplianceFit fit;
  fit.estimator = "dynamic";
  fit.task = "exploring";
  for (int j = 0; j < 4; ++j) {
    fit.joints.push_back({});
    fit.joints.back().dof = chain.take.skeleton.dof_names()[static_cast<size_t>(j)];
    if (j < 3) fit.joints.back().compliance_rad_per_Nm = 0.5;
    if (j == 3) fit.joints.back().refusal = "not determined";
  }
  auto plain = MakeInteractionTrajectory(chain.take.skeleton, chain.pose, chain.contact, {fit});
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_TRUE(std::isnan(plain->trajectory.compliance_rad_per_Nm(3, 10)));
  EXPECT_EQ((plain->trajectory.q_reference.row(3) - chain.pose.q.row(3)).norm(), 0.0)
      << "theta_r is theta where C is refused";
  EXPECT_EQ(plain->summary.refused, std::vector<std::string>{"R.index.dip.flex"});
  ReferenceTrajectoryOptions options;
  options.assume_compliance = Table1Exploring(chain.take.skeleton);
  ASSERT_EQ(options.assume_compliance.size(), 4u);
  auto assumed =
      MakeInteractionTrajectory(chain.take.skeleton, chain.pose, chain.contact, {fit}, options);
  ASSERT_TRUE(assumed);
  EXPECT_EQ(assumed->trajectory.compliance_rad_per_Nm(3, 10), 2.0052);
  EXPECT_EQ(assumed->trajectory.compliance_rad_per_Nm(0, 10), 0.5)
      << "a fitted value is never replaced";
  EXPECT_EQ(assumed->trajectory.assumed[3], 1);
  EXPECT_EQ(assumed->trajectory.assumed[0], 0);
  // Held to what the refused fit leaves open, per task; a value given by name is taken as it is.
  fit.joints[3].lower_rad_per_Nm = 0.4;
  fit.joints[3].upper_rad_per_Nm = 0.9;
  const auto dip = [&](const ReferenceTrajectoryOptions& with) {
    auto made =
        MakeInteractionTrajectory(chain.take.skeleton, chain.pose, chain.contact, {fit}, with);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->trajectory.assumed[3], 1);
    return made->trajectory.compliance_rad_per_Nm(3, 10);
  };
  EXPECT_EQ(dip(options), 2.0052);
  std::swap(options.assume_compliance, options.assume_within_bounds);
  EXPECT_EQ(dip(options), 0.9);
  options.assume_within_bounds["R.index.dip.flex"] = 0.1;
  EXPECT_EQ(dip(options), 0.4);
  options.assume_within_bounds["R.index.dip.flex"] = 0.5;
  EXPECT_EQ(dip(options), 0.5);
  options.assumed_factor = 2.0;
  EXPECT_EQ(dip(options), 1.0) << "halved and doubled is asked of what was assumed";
  options.assume_compliance = {{"R.index.pipp.flex", 1.0}};
  EXPECT_EQ(
      MakeInteractionTrajectory(chain.take.skeleton, chain.pose, chain.contact, {fit}, options)
          .error()
          .code,
      ErrorCode::kInvalid);
}

TEST(PaperEstimatorTest, StraightFingerEventsAreDiscardedWithTheReason) {
  TakePlan plan;
  plan.free_strokes = 1;
  plan.contact_strokes = 4;
  plan.postures_deg = {test_support::StraightPosture()};
  const Chain chain = RunChain(plan);
  auto fits = FitPaperCompliance(chain.take.skeleton, chain.pose, chain.contact);
  ASSERT_TRUE(fits) << fits.error().message;
  ASSERT_EQ(fits->size(), 1u);
  int negative = 0;
  for (const auto& d : fits->front().discarded) {
    EXPECT_FALSE(d.reason.empty());
    negative += d.reason.find("Fig. 8") != std::string::npos;
    if (d.reason.find("Fig. 8") != std::string::npos) {
      EXPECT_LT(d.value_rad_per_Nm, 0.0);
    }
  }
  EXPECT_GT(negative, 0) << "extrapolation at a straight finger suggests negative compliance";
}

}  // namespace
}  // namespace handhold::fitting::dynamic_estimator_test
