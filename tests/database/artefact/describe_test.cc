#include "database/artefact/describe.h"

#include <gtest/gtest.h>

#include "database/artefact/kind.h"
#include "fitting/compliance/contact_fit.h"
#include "fitting/compliance/dynamic_estimator.h"
#include "fitting/compliance/paper_estimator.h"
#include "fitting/compliance/reference_trajectory.h"
#include "fitting/skeleton/skeleton_fit.h"
#include "synthesis/interaction/replay.h"

namespace handhold::described {

enum class Colour { kRed, kBlue };
struct Inner {
  double x_m = 1.0;
};
struct Outer {
  std::string name = "n";
  Colour colour = Colour::kBlue;
  std::optional<TimeRange> range;
  std::vector<Inner> inner = {{2.0}, {3.0}};
  std::map<std::string, double> by_name = {{"a", 0.5}};
  Eigen::MatrixXd m = Eigen::MatrixXd::Identity(2, 3);
  geometry::Vec3 v = {1, 2, 3};
  geometry::RigidTransform X_WP = geometry::RigidTransform::Translation({4, 5, 6});
  Issues issues = {{"w", Severity::kLoss, "what"}};
  std::function<bool()> proceed;
};
struct Forgetful {
  int told = 1;
  int forgotten = 2;
};
template <typename A>
void Visit(A& a, Inner& i) {
  a.Field("x_m", i.x_m);
}
template <typename A>
void Visit(A& a, Outer& o) {
  a.Field("name", o.name);
  a.Choice("colour", o.colour, {"red", "blue"});
  a.Field("range_ns", o.range);
  a.Field("inner", o.inner);
  a.Field("by_name", o.by_name);
  a.Field("m", o.m);
  a.Field("v", o.v);
  a.Field("X_WP", o.X_WP);
  a.Field("issues", o.issues);
  a.Skip(o.proceed);
}
template <typename A>
void Visit(A& a, Forgetful& f) {
  a.Field("told", f.told);
}

}  // namespace handhold::described

namespace handhold::artefact {
namespace {

using described::Outer;

TEST(Describe, WhatIsWrittenIsRead) {
  Outer o;
  o.range = TimeRange{Timestamp::FromNanoseconds(5), Timestamp::FromNanoseconds(7)};
  o.inner[1].x_m = std::numeric_limits<double>::infinity();
  o.m(1, 2) = std::numeric_limits<double>::quiet_NaN();
  const std::string text = text::WriteJson(Writable(ToJson(o))).value();
  const text::Json json = text::ParseJson(text).value();
  EXPECT_EQ(*json.Find("colour")->string(), "blue");
  const auto back = FromJson<Outer>(text::JsonView(json));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->colour, described::Colour::kBlue);
  EXPECT_EQ(back->range->end.ns(), 7);
  EXPECT_EQ(back->inner.at(0).x_m, 2.0);
  EXPECT_EQ(back->inner.at(1).x_m, o.inner[1].x_m);
  EXPECT_EQ(back->by_name, o.by_name);
  EXPECT_TRUE(std::isnan(back->m(1, 2)));
  EXPECT_EQ(back->m(1, 1), 1.0);
  EXPECT_EQ(back->v, o.v);
  EXPECT_EQ(back->X_WP.p, o.X_WP.p);
  EXPECT_EQ(back->issues.at(0).severity, Severity::kLoss);
}

TEST(Describe, WhatIsMissingOrOddIsNamed) {
  text::Json json = ToJson(Outer{});
  json.Set("colour", "green");
  EXPECT_EQ(FromJson<Outer>(text::JsonView(json)).error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(FromJson<Outer>(text::JsonView(text::Json::Object().Set("name", "x"))));
  // Parameters must be finite: the text of an infinite one is refused with its path.
  Outer o;
  o.inner[0].x_m = std::numeric_limits<double>::infinity();
  const auto refused = text::CanonicalJson(ToJson(o));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("/inner/0/x_m"), std::string::npos);
}

TEST(DescribeDeath, AForgottenMemberEndsTheProgram) {
  EXPECT_DEATH(ToJson(described::Forgetful{}), "");
}

template <typename T>
void Whole() {
  CheckDescribed<T>();
}

TEST(Describe, EveryArtefactAndEveryOptionIsDescribedWhole) {
  ForEachKind([]<typename T>(const T&) { CheckDescribed<T>(); });
  Whole<Side>(), Whole<Touch>(), Whole<ContactRow>(), Whole<TouchedThing>(), Whole<Verdict>();
  Whole<Stage>(), Whole<StageHand>(), Whole<StageThing>(), Whole<StageSensor>(), Whole<Phase>();
  Whole<StagePivot>(), Whole<StageSlider>(), Whole<StageImpedance>(), Whole<StageMeasured>();
  Whole<StageLink<model::Prop>>(), Whole<MotionHand>(), Whole<MotionObject>(), Whole<Series>(),
      Whole<MotionSummary>();
  Whole<MotionVariant>(), Whole<GraspContact>(), Whole<GraspTest>(), Whole<GraspTemplate>();
  Whole<JointCompliance>(), Whole<ComplianceFit>(), Whole<DynamicSummary>();
  Whole<fitting::ContactFitOptions>(), Whole<fitting::TouchOptions>(),
      Whole<fitting::KinkOptions>();
  Whole<fitting::PoseFitOptions>(), Whole<fitting::PoseSolverOptions>();
  Whole<fitting::SkeletonFitOptions>(), Whole<fitting::SkeletonFitSummary>();
  Whole<fitting::DynamicEstimatorOptions>(), Whole<fitting::RefusalRule>();
  Whole<fitting::PaperEstimatorOptions>(), Whole<fitting::ReferenceTrajectoryOptions>();
  Whole<synthesis::StepOptions>(), Whole<synthesis::SolveOptions>(), Whole<synthesis::LcpOptions>();
}

TEST(Touch, ForceOnAHandIsOfItsOwnSideAndSign) {
  const Side left{Side::Kind::kHand, "L", "", 1}, right{Side::Kind::kHand, "R", "", 1},
      mug{Side::Kind::kThing, "mug", "", 0};
  std::vector<Touch> touches(3);
  touches[0].a = right, touches[0].b = mug;
  touches[1].a = right, touches[1].b = left;
  touches[2].a = mug, touches[2].b = {Side::Kind::kThing, "table", "", 0};
  std::vector<ContactRow> rows(3);
  for (int i = 0; i < 3; ++i) {
    rows[static_cast<size_t>(i)].touch = i;
    rows[static_cast<size_t>(i)].f_onA_W[i] = 1.0;
  }
  EXPECT_EQ(ForceOnHand(touches, rows, 1, "R").col(0), geometry::Vec3(1, 1, 0));
  EXPECT_EQ(ForceOnHand(touches, rows, 1, "L").col(0), geometry::Vec3(0, -1, 0));
  rows[2].frame = 1;
  EXPECT_EQ(CheckRows(touches, rows, 1).error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(CheckRows(touches, rows, 2));
}

TEST(ContactTrack, TouchesThatOverlapAreNotTakenForOne) {
  ContactTrack track;
  track.times.resize(3);
  track.touches.resize(2);
  track.rows.resize(2);
  track.rows[0].frame = track.rows[1].frame = 1;
  EXPECT_EQ(TouchOfFrame(track).value(), (std::vector<int>{-1, 0, -1}));
  track.rows[1].touch = 1;
  EXPECT_EQ(TouchOfFrame(track).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace handhold::artefact
