/// Onset, point and torque of contact against a finger simulated by other code.
#include "fitting/compliance/contact_fit.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "fitting/skeleton/pose_fit.h"
#include "tests/support/finger_take.h"

namespace handhold::fitting::contact_fit_test {
namespace {

using test_support::FingerTake;
using test_support::Joints;
using test_support::MakeTake;

test_support::TakePlan Small(int contact_strokes) {
  test_support::TakePlan plan;
  plan.free_strokes = 1;
  plan.contact_strokes = contact_strokes;
  return plan;
}

artefact::PoseTrack PoseOf(const FingerTake& take) {
  PoseFitOptions options;
  options.method = PoseMethod::kFast;
  auto fit = FitPose(take.clip, take.skeleton, options);
  EXPECT_TRUE(fit) << fit.error().message;
  return fit->track;
}

TEST(ContactFitTest, OnsetPointAndTorqueAreThoseOfTheSimulation) {
  const FingerTake take = MakeTake({});
  const artefact::PoseTrack pose = PoseOf(take);
  auto fit = FitContact(take.clip, take.skeleton, pose, take.plate, take.X_WPlate);
  ASSERT_TRUE(fit) << fit.error().message;
  const artefact::ContactTrack& track = fit->track;
  ASSERT_EQ(track.touches.size(), take.onset_s.size());
  const test_support::PlanarFinger finger;
  const artefact::ContactFrames frames = artefact::LaidOut(track).value();
  for (size_t p = 0; p < track.touches.size(); ++p) {
    EXPECT_NEAR(track.touches[p].onset.seconds(), take.onset_s[p], 0.002) << p;
    EXPECT_EQ(track.touches[p].task, "exploring");
    EXPECT_EQ(track.touches[p].a.body, 4);
  }
  std::vector<double> point_errors;
  Joints error2 = Joints::Zero(), peak = Joints::Zero();
  int count = 0;
  for (size_t k = 0; k < track.times.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    if (frames.touch[k] < 0) {
      EXPECT_EQ(frames.f_onHand_W.col(i).norm(), 0.0);
      continue;
    }
    const Joints tau = finger.ContactJacobian(take.theta[k]).transpose() * take.force[k];
    error2 += (track.tau_Nm.col(i) - tau).cwiseAbs2();
    peak = peak.cwiseMax(tau.cwiseAbs());
    ++count;
    if (!std::isfinite(frames.p_WC(0, i))) continue;
    point_errors.push_back(
        std::hypot(frames.p_WC(0, i) - finger.Tip(take.theta[k]).x(), frames.p_WC(1, i)));
    EXPECT_NEAR(frames.normal_W(2, i), 1.0, 1e-9);
    EXPECT_NEAR(frames.p_WC(2, i), -0.075, 1e-6);
  }
  ASSERT_GT(point_errors.size(), 300u);
  std::sort(point_errors.begin(), point_errors.end());
  EXPECT_LE(point_errors[point_errors.size() * 95 / 100], 0.001);
  for (int j = 0; j < 4; ++j) EXPECT_LE(std::sqrt(error2[j] / count), 0.05 * peak[j]) << j;
  EXPECT_LE(fit->summary.point_offset_p95_m, 0.001);
  // The palm is heavy: inertia takes a visible share of the wrist's torque, and it is said.
  EXPECT_GT(track.inertia_share[0], 0.01);
}

TEST(ContactFitTest, PressingDownExtendsTheKnuckle) {
  const FingerTake take = MakeTake(Small(1));
  auto fit = FitContact(take.clip, take.skeleton, PoseOf(take), take.plate, take.X_WPlate);
  ASSERT_TRUE(fit) << fit.error().message;
  ASSERT_EQ(fit->track.touches.size(), 1u);
  // Axis (0, -1, 0): positive lifts, so extension is positive here.
  EXPECT_GT(fit->track.tau_Nm.row(1).maxCoeff(), 0.02);
  const artefact::ContactFrames frames = artefact::LaidOut(fit->track).value();
  EXPECT_GT(frames.f_onHand_W.row(2).maxCoeff(), 0.5);
  EXPECT_GT(frames.f_onHand_W.row(2).minCoeff(), -0.1);
}

TEST(ContactFitTest, AWrongSignOfTheSensorFindsNoOnset) {
  test_support::TakePlan plan = Small(2);
  plan.sensor_sign = -1;
  const FingerTake take = MakeTake(plan);
  auto fit = FitContact(take.clip, take.skeleton, PoseOf(take), take.plate, take.X_WPlate);
  // A plate that seems to pull: what then looks like pressing is the time between touches, and no
  // onset is where one was.
  if (!fit) return;
  for (const artefact::Touch& touch : fit->track.touches) {
    for (const double onset : take.onset_s)
      EXPECT_GT(std::abs(touch.onset.seconds() - onset), 0.002);
  }
}

TEST(ContactFitTest, InertiaIsTakenAwayOnlyWhenAskedFor) {
  const FingerTake take = MakeTake(Small(1));
  const artefact::PoseTrack pose = PoseOf(take);
  ContactFitOptions options;
  options.gravity_W.setZero();
  auto plain = FitContact(take.clip, take.skeleton, pose, take.plate, take.X_WPlate, options);
  options.correct_inertia_and_gravity = true;
  auto corrected = FitContact(take.clip, take.skeleton, pose, take.plate, take.X_WPlate, options);
  ASSERT_TRUE(plain && corrected);
  EXPECT_EQ(plain->track.inertia_share, corrected->track.inertia_share);
  EXPECT_GT((plain->track.tau_Nm - corrected->track.tau_Nm).row(0).norm(), 0.0);
  EXPECT_NE(plain->summary.Brief().find("1 touches"), std::string::npos);
}

TEST(ContactFitTest, WrongInputsAreNamed) {
  const FingerTake take = MakeTake(Small(1));
  const artefact::PoseTrack pose = PoseOf(take);
  ContactFitOptions options;
  options.site = "thumb";
  EXPECT_EQ(
      FitContact(take.clip, take.skeleton, pose, take.plate, take.X_WPlate, options).error().code,
      ErrorCode::kNotFound);
  options = {};
  options.force_sensor = "table";
  EXPECT_EQ(
      FitContact(take.clip, take.skeleton, pose, take.plate, take.X_WPlate, options).error().code,
      ErrorCode::kNotFound);
  EXPECT_EQ(FitContact(take.clip, take.skeleton, pose, model::Prop{}, take.X_WPlate).error().code,
            ErrorCode::kInvalid);
}

// A surface that the wrench never meets: every touch would be listed, and no point checked.
TEST(ContactFitTest, ASurfaceThatStandsElsewhereIsRefused) {
  const FingerTake take = MakeTake(Small(1));
  const artefact::PoseTrack pose = PoseOf(take);
  geometry::RigidTransform in_mm = take.X_WPlate;
  in_mm.p *= 1000;
  const auto fit = FitContact(take.clip, take.skeleton, pose, take.plate, in_mm);
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().code, ErrorCode::kInvalid);
  EXPECT_NE(fit.error().message.find("--surface-pose"), std::string::npos) << fit.error().message;
}

// A plate measured too high or too low: told, or refused where the skin next to the point faces
// away. Within a finger's thickness the wrench's point is never far from some skin.
TEST(ContactFitTest, APlateWithinTheFingerIsToldOrRefused) {
  const FingerTake take = MakeTake(Small(1));
  const artefact::PoseTrack pose = PoseOf(take);
  for (const double up_m :
       {-10e-3, -3e-3, 3e-3, 4e-3, 5e-3, 6e-3, 7e-3, 8e-3, 10e-3, 12e-3, 16e-3}) {
    SCOPED_TRACE(up_m);
    geometry::RigidTransform moved = take.X_WPlate;
    moved.p.z() += up_m;
    const auto fit = FitContact(take.clip, take.skeleton, pose, take.plate, moved);
    std::printf("plate %+5.1f mm: %s\n", 1e3 * up_m,
                fit ? fit->summary.Brief().c_str() : fit.error().message.c_str());
    if (!fit) {
      EXPECT_EQ(fit.error().code, ErrorCode::kInvalid);
      EXPECT_NE(fit.error().message.find("--surface-pose"), std::string::npos);
      continue;
    }
    bool told = false;
    for (const Issue& issue : fit->summary.issues)
      told = told || issue.what.find("--surface-pose") != std::string::npos;
    EXPECT_TRUE(told) << fit->summary.Brief();
  }
}

/// The same recording with its sensor said to stand elsewhere.
class WithSensorMoved : public recording::Clip {
 public:
  WithSensorMoved(const recording::Clip& clip, const geometry::Vec3& by_W)
      : Clip(clip), sensors_(clip.force_sensors()) {
    sensors_.front().X_MS.p += by_W;
  }
  const std::vector<recording::ForceSensor>& force_sensors() const override { return sensors_; }

 private:
  std::vector<recording::ForceSensor> sensors_;
};

// Whatever skeleton is used: the wrench's axis stays off the touched skin by as much as the sensor
// does, or the surface's end of the finger.
TEST(ContactFitTest, ASensorThatStandsOffIsInTheShiftOfTheAxis) {
  const FingerTake take = MakeTake(Small(6));
  const artefact::PoseTrack pose = PoseOf(take);
  const auto summary_of = [&](const recording::ClipSource& clip, const model::Skeleton& hand) {
    const auto fit = FitContact(clip, hand, pose, take.plate, take.X_WPlate);
    EXPECT_TRUE(fit) << fit.error().message;
    EXPECT_EQ(fit->track.summary.axis_shift_m, fit->summary.axis_shift_m);
    std::printf("shift %.3f mm, left %.3f mm\n", 1e3 * fit->summary.axis_shift_m,
                1e3 * fit->summary.axis_left_rms_m);
    return fit->summary;
  };
  const artefact::ContactSummary plain = summary_of(take.clip, take.skeleton);
  EXPECT_LT(plain.axis_shift_m, 3e-5);
  EXPECT_LT(plain.axis_left_rms_m, 3e-5);
  for (const double off_m : {5e-4, 1e-3, 2e-3}) {
    for (const geometry::Vec3& along : {geometry::Vec3(1, 0, 0), geometry::Vec3(0, 1, 0)}) {
      const artefact::ContactSummary moved =
          summary_of(WithSensorMoved(take.clip, off_m * along), take.skeleton);
      // Along the strokes the axis leans by friction, now forth, now back.
      const double off_axis_m = std::hypot(moved.axis_shift_m, moved.axis_left_rms_m);
      EXPECT_GT(off_axis_m, (along.x() > 0 ? 0.8 : 0.97) * off_m);
      EXPECT_LT(off_axis_m, 1.03 * off_m);
    }
  }
  // A hand from elsewhere, its end segment 1 mm longer.
  model::SkeletonDraft draft = take.skeleton.draft();
  for (model::BodyShape& shape : draft.bodies.back().shapes)
    shape.X_BS.p += 1e-3 * draft.bodies.back().shapes.front().X_BS.p.normalized();
  const model::Skeleton longer = model::Skeleton::Build(std::move(draft)).value();
  const artefact::ContactSummary other = summary_of(take.clip, longer);
  EXPECT_GT(std::hypot(other.axis_shift_m, other.axis_left_rms_m), 2.5e-4);
}

TEST(ContactFitTest, WithoutATouchNothingIsClaimedOfThePoint) {
  const FingerTake take = MakeTake(Small(1));
  ContactFitOptions deaf;
  deaf.touch.enter_N = 1e3, deaf.touch.leave_N = 9e2;
  const auto fit =
      FitContact(take.clip, take.skeleton, PoseOf(take), take.plate, take.X_WPlate, deaf);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->summary.touches, 0);
  EXPECT_TRUE(std::isnan(fit->summary.point_offset_p95_m));
  EXPECT_TRUE(std::isnan(fit->summary.axis_shift_m));
  EXPECT_TRUE(std::isnan(fit->summary.axis_left_rms_m));
  EXPECT_EQ(fit->track.inertia_share.size(), 0);
  EXPECT_NE(fit->summary.Brief().find("no touch"), std::string::npos);
}

}  // namespace
}  // namespace handhold::fitting::contact_fit_test
