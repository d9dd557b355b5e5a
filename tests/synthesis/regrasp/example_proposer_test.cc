// From the cylinder example that ships to a small cylinder and a small cube: proposed, ranked, and
// one of them passes the protocol.
#include "synthesis/regrasp/example_proposer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/artefact/grasp_file.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "synthesis/regrasp/hand_trial.h"

namespace handhold::synthesis::example_proposer_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using ::testing::HasSubstr;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand57");
  return hand;
}
const artefact::Grasp& Example(const std::string& name) {
  static std::map<std::string, artefact::Grasp> loaded;
  if (!loaded.contains(name)) loaded[name] = artefact::LoadLibraryGrasp(name).value();
  return loaded[name];
}
std::unique_ptr<ExampleProposer> Make(const std::string& name = "hand57_cylinder",
                                      const ExampleProposerOptions& options = {}) {
  const artefact::Grasp& example = Example(name);
  auto made = ExampleProposer::Create(Hand(), example, model::LoadLibraryProp(example.prop).value(),
                                      options);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return std::move(*made);
}

// As the shared cylindersmall and cubesmall: 40 mm each way.
model::Prop Small(geometry::Shape shape) {
  model::Prop prop;
  prop.name = "small";
  prop.source = "test";
  prop.shapes.push_back({"it", {}, std::move(shape), "test"});
  return prop;
}
model::Prop CylinderSmall() { return Small(geometry::Cylinder{0.02, 0.04}); }
model::Prop CubeSmall() { return Small(geometry::Box{Vec3::Constant(0.04)}); }

struct Asked {
  std::vector<artefact::Grasp> grasps;
  ProposerReport report;
};
Asked Ask(ExampleProposer* proposer, const model::Prop& prop, const GraspWishes& wishes,
          GraspTrial* trial = nullptr) {
  Asked out;
  ProposerSink sink;
  sink.propose = [&](artefact::Grasp grasp) {
    EXPECT_TRUE(trial == nullptr || TryCandidate(trial, &grasp));
    out.grasps.push_back(std::move(grasp));
    return true;
  };
  const auto report = proposer->Propose({Hand(), "", prop, "", wishes}, sink);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (report) out.report = *report;
  return out;
}

TEST(ExampleProposer, OptionsDescribeThemselves) {
  artefact::CheckDescribed<ExampleProposerOptions>();
  artefact::CheckDescribed<HandTrialOptions>();
}

TEST(ExampleProposer, ACylinderEnvelopsAndAPinchDoesNot) {
  EXPECT_TRUE(Make()->envelops());
  EXPECT_FALSE(Make("hand57_pinch")->envelops());
}

TEST(Regrasp, ASmallCylinderAndASmallCubeAreHeldByP1) {
  for (const model::Prop& prop : {CylinderSmall(), CubeSmall()}) {
    const auto proposer = Make();
    HandTrialOptions options;
    options.quick_hold_s = 0.25;
    HandTrial trial(Hand(), prop, options);
    GraspWishes wishes;
    wishes.poses = 10;
    Asked asked = Ask(proposer.get(), prop, wishes, &trial);
    EXPECT_EQ(asked.report.done.tried, 10);
    ASSERT_GE(asked.grasps.size(), 5u);
    for (const artefact::Grasp& g : asked.grasps) {
      EXPECT_EQ(g.proposer, "control");
      EXPECT_EQ(g.prop, "small");
      EXPECT_GE(g.contacts.size(), 3u);
      for (const artefact::GraspContact& c : g.contacts)
        EXPECT_LT(std::abs(geometry::SignedDistance(prop.shapes[0].shape, c.p_P).distance_m), 1e-3);
    }
    ASSERT_TRUE(RankGrasps({.exact = 2, .stop_at_pass = true}, &trial, &asked.grasps));
    const artefact::GraspTest* test = ExactTestOf(asked.grasps.front());
    ASSERT_NE(test, nullptr);
    EXPECT_TRUE(test->passed) << geometry::ShapeKind(prop.shapes[0].shape) << ": " << test->cause;
    EXPECT_EQ(test->engine, "ode exact");
    EXPECT_EQ(test->figures.at("held"), 6);
  }
}

TEST(ExampleProposer, PartsGiveWhatOneProcessGives) {
  const auto proposer = Make();
  GraspWishes wishes;
  wishes.poses = 4;
  const Asked whole = Ask(proposer.get(), CylinderSmall(), wishes);
  std::map<double, Eigen::VectorXd> by_number;
  for (const artefact::Grasp& g : whole.grasps) by_number[g.scores.at("candidate")] = g.q;
  wishes.parts = 2;
  size_t found = 0;
  for (wishes.part = 0; wishes.part < 2; ++wishes.part) {
    for (const artefact::Grasp& g : Ask(Make().get(), CylinderSmall(), wishes).grasps) {
      ++found;
      ASSERT_TRUE(by_number.contains(g.scores.at("candidate")));
      EXPECT_EQ(by_number[g.scores.at("candidate")], g.q);  // to the bit
    }
  }
  EXPECT_EQ(found, whole.grasps.size());
}

TEST(ExampleProposer, ARegionAndATableAreKept) {
  const model::Prop rod = Small(geometry::Cylinder{0.02, 0.3});
  GraspWishes wishes;
  wishes.poses = 6;
  wishes.region = model::GraspRegion{"top", Vec3(0, 0, 0.1), 0.07, Vec3::Zero(), ""};
  const Asked top = Ask(Make().get(), rod, wishes);
  ASSERT_FALSE(top.grasps.empty());
  for (const artefact::Grasp& g : top.grasps) {
    EXPECT_EQ(g.region, "top");
    EXPECT_GE(ShareInRegion(g, *wishes.region), 0.5);
  }
  // A rod across two stands, 10 cm above a table: no part of any hand below that.
  GraspWishes lying;
  lying.poses = 6;
  lying.X_PTable = RigidTransform{geometry::Exp<double>(Vec3(0, 0.5 * M_PI, 0)), Vec3(-0.12, 0, 0)};
  const Asked above = Ask(Make().get(), rod, lying);
  ASSERT_FALSE(above.grasps.empty());
  model::KinematicsData data(Hand());
  for (const artefact::Grasp& g : above.grasps) {
    model::ComputePoses<double>(Hand(), g.q, &data);
    for (int b = 1; b < Hand().body_count(); ++b) {
      const RigidTransform X = g.X_PH * data.X_WB[static_cast<size_t>(b)];
      for (const model::BodyShape& shape : Hand().body(b).shapes) {
        const auto& capsule = std::get<geometry::Capsule>(shape.shape);
        for (const double end : {-0.5, 0.5}) {
          const Vec3 p = X * (shape.X_BS * Vec3(0, 0, end * capsule.length_m));
          EXPECT_GE(p.x() - capsule.radius_m, -0.12 - 1e-9);
        }
      }
    }
  }
}

TEST(ExampleProposer, WhatDoesNotMatchSaysSo) {
  GraspWishes wishes;
  wishes.poses = 2;
  wishes.type = "tripod";
  const Asked typed = Ask(Make().get(), CylinderSmall(), wishes);
  EXPECT_THAT(typed.report.no_match, HasSubstr("cylinder"));
  EXPECT_EQ(typed.report.done.tried, 0);
  wishes.type = "";
  wishes.region = model::GraspRegion{"nowhere", Vec3(1, 0, 0), 0.01, Vec3::Zero(), ""};
  EXPECT_THAT(Ask(Make().get(), CylinderSmall(), wishes).report.no_match, HasSubstr("region"));
  const model::Skeleton other = *model::LoadHand("hand27");
  EXPECT_EQ(Make()->Propose({other, "", CylinderSmall(), "", {}}, {}).error().code,
            ErrorCode::kInvalid);
  artefact::Grasp bare = Example("hand57_cylinder");
  bare.q_squeeze.resize(0);
  EXPECT_EQ(
      ExampleProposer::Create(Hand(), bare, model::LoadLibraryProp(bare.prop).value()).error().code,
      ErrorCode::kInvalid);
}

TEST(ExampleProposer, ASinkStopsItAtOnce) {
  GraspWishes wishes;
  wishes.poses = 50;
  int asked = 0;
  ProposerSink sink;
  sink.progress = [&](const ProposerProgress&) { return ++asked < 2; };
  const model::Prop prop = CylinderSmall();
  const auto report = Make()->Propose({Hand(), "", prop, "", wishes}, sink);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->stopped);
  EXPECT_EQ(report->done.tried, 1);
}

}  // namespace
}  // namespace handhold::synthesis::example_proposer_test
