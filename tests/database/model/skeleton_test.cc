#include "database/model/skeleton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "database/model/configuration.h"
#include "tests/support/random_skeleton.h"

namespace handhold::model::skeleton_test {
namespace {

using geometry::Vec3;
using ::testing::HasSubstr;

SkeletonDraft TwoBodies() {
  SkeletonDraft draft;
  draft.name = "two";
  draft.side = "right";
  for (int i = 0; i < 2; ++i) {
    Body body;
    body.name = i == 0 ? "first" : "second";
    body.parent = i;
    body.joint.name = body.name + "_joint";
    body.joint.type = i == 0 ? JointType::kHinge : JointType::kBall;
    body.mass.mass_kg = 0.1;
    body.mass.I_BCom_B = 1e-4 * geometry::Mat3::Identity();
    body.shapes.push_back({"ball", {}, geometry::Sphere{0.01}, ""});
    draft.bodies.push_back(body);
  }
  draft.markers.push_back({"m", 2, Vec3(0, 0, 0.01), ""});
  draft.frames.push_back({"tip", 2, {}, ""});
  draft.sites.push_back({"pad", 2, {"ball"}, Vec3(0, 0, 0.01), Vec3::UnitZ(), ""});
  return draft;
}

TEST(Build, GivesEveryJointItsPlace) {
  const auto s = Skeleton::Build(TwoBodies());
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->body_count(), 3);
  EXPECT_EQ(s->body(0).name, "W");
  EXPECT_EQ(s->nq(), 5);
  EXPECT_EQ(s->nv(), 4);
  EXPECT_EQ(s->q_index(2), 1);
  EXPECT_EQ(s->v_index(2), 1);
  EXPECT_THAT(s->dof_names(), ::testing::ElementsAre("first_joint.flex", "second_joint.rot",
                                                     "second_joint.flex", "second_joint.abd"));
  EXPECT_EQ(s->FindDof("second_joint.abd"), 3);
  EXPECT_EQ(s->FindDof("abd"), -1);
  EXPECT_EQ(s->FindBody("second"), 2);
  EXPECT_EQ(s->FindMarker("m"), 0);
  EXPECT_EQ(s->FindFrame("none"), -1);
  EXPECT_EQ(s->FindSite("pad"), 0);
  EXPECT_EQ(s->FindSite("tip"), -1);
  EXPECT_TRUE(s->DofMovesBody(0, 2));
  EXPECT_FALSE(s->DofMovesBody(1, 1));
  EXPECT_FALSE(s->DofMovesBody(0, 0));
}

struct Spoiled {
  const char* what;
  std::function<void(SkeletonDraft*)> spoil;
};

TEST(Build, SaysWhatIsWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Spoiled> cases = {
      {"'first' is used twice", [](SkeletonDraft* d) { d->bodies[1].name = "first"; }},
      {"'W' is used twice", [](SkeletonDraft* d) { d->bodies[0].name = "W"; }},
      {"parent 2 does not come before", [](SkeletonDraft* d) { d->bodies[1].parent = 2; }},
      {"parent -1", [](SkeletonDraft* d) { d->bodies[0].parent = -1; }},
      {"not a unit vector", [](SkeletonDraft* d) { d->bodies[0].joint.axes[0] = Vec3(0, 0, 2); }},
      {"not a unit vector",
       [&](SkeletonDraft* d) { d->bodies[0].joint.axes[0] = Vec3(0, 0, nan); }},
      {"not a rigid transform", [](SkeletonDraft* d) { d->bodies[1].joint.X_PJp.R(0, 0) = 1.1; }},
      {"has no shape 'nail'", [](SkeletonDraft* d) { d->sites[0].shapes = {"nail"}; }},
      {"has no shapes", [](SkeletonDraft* d) { d->sites[0].shapes.clear(); }},
      {"contact site 'pad': no such body", [](SkeletonDraft* d) { d->sites[0].body = 0; }},
      {"normal is not a unit", [](SkeletonDraft* d) { d->sites[0].normal_B *= 2; }},
      {"contact site 1: the name 'pad' is used twice",
       [](SkeletonDraft* d) { d->sites.push_back(d->sites[0]); }},
      {"not a rigid transform", [](SkeletonDraft* d) { d->frames[0].X_BF.R.col(0) *= -1; }},
      {"lower is not <= upper",
       [](SkeletonDraft* d) {
         d->bodies[0].joint.lower_rad[0] = 1;
         d->bodies[0].joint.upper_rad[0] = 0;
       }},
      {"lower is not <= upper", [&](SkeletonDraft* d) { d->bodies[1].joint.lower_rad[2] = nan; }},
      {"body 'first'", [](SkeletonDraft* d) { d->bodies[0].mass.mass_kg = -1; }},
      {"body 'first'", [](SkeletonDraft* d) { d->bodies[0].mass.I_BCom_B(2, 2) = 1; }},
      {"no mass but an inertia", [](SkeletonDraft* d) { d->bodies[0].mass.mass_kg = 0; }},
      {"'ball'", [](SkeletonDraft* d) { d->bodies[0].shapes[0].shape = geometry::Sphere{-1}; }},
      {"no such body", [](SkeletonDraft* d) { d->markers[0].body = 3; }},
      {"not finite", [&](SkeletonDraft* d) { d->markers[0].p_BM.x() = nan; }},
      {"dof names", [](SkeletonDraft* d) { d->bodies[1].joint.dof_names = {"only"}; }},
      {"its joint has no name", [](SkeletonDraft* d) { d->bodies[0].joint.name = ""; }},
      {"'flex' or", [](SkeletonDraft* d) { d->side = "flex' or"; }},
      {"no marker 'x'", [](SkeletonDraft* d) { d->marker_sets = {{"set", {"x"}}}; }},
      {"has no bodies", [](SkeletonDraft* d) { *d = SkeletonDraft{}; }},
  };
  for (const Spoiled& c : cases) {
    SkeletonDraft draft = TwoBodies();
    c.spoil(&draft);
    const auto s = Skeleton::Build(draft);
    ASSERT_FALSE(s) << c.what;
    EXPECT_EQ(s.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(s.error().message, HasSubstr(c.what));
  }
}

TEST(Build, TellsAllFindingsAtOnce) {
  SkeletonDraft draft = TwoBodies();
  draft.bodies[0].joint.axes[0] = Vec3(0, 0, 2);
  draft.markers[0].body = 9;
  const auto s = Skeleton::Build(draft);
  ASSERT_FALSE(s);
  EXPECT_THAT(s.error().message, HasSubstr("unit vector"));
  EXPECT_THAT(s.error().message, HasSubstr("marker 'm'"));
}

TEST(Build, AUniversalJointNeedsTwoDirections) {
  SkeletonDraft draft = TwoBodies();
  draft.bodies[0].joint.type = JointType::kUniversal;
  draft.bodies[0].joint.axes[1] = -draft.bodies[0].joint.axes[0];
  const auto s = Skeleton::Build(draft);
  ASSERT_FALSE(s);
  EXPECT_THAT(s.error().message, HasSubstr("parallel"));
}

TEST(Configuration, IntegrateAndDifferenceUndoEachOther) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 50; ++trial) {
    const Skeleton s = testing::RandomSkeleton(rng, 3 + trial % 6);
    Eigen::VectorXd q0 = testing::RandomConfiguration(rng, s);
    const Eigen::VectorXd v = testing::RandomVelocity(rng, s, 1.5);
    const Eigen::VectorXd q1 = s.Integrate(q0, v);
    Eigen::VectorXd in_place = q0;
    IntegrateInto(s, in_place, v, in_place);
    EXPECT_EQ(in_place, q1);
    EXPECT_LT((s.Difference(q0, q1) - v).norm(), 1e-12);
    EXPECT_LT(s.Difference(q1, q1).norm(), 1e-15);
    // The sign of a quaternion is no difference.
    for (int b = 1; b < s.body_count(); ++b) {
      if (s.body(b).joint.type == JointType::kBall) q0.segment<4>(s.q_index(b)) *= -1;
    }
    EXPECT_LT((s.Difference(q0, q1) - v).norm(), 1e-12);
  }
}

TEST(Configuration, QuaternionsStayUnitThroughTinyAndHugeSteps) {
  const Skeleton s = *Skeleton::Build(TwoBodies());
  Eigen::VectorXd q = s.ZeroConfiguration();
  for (double step : {1e-300, 1e-12, 1e-5, 1e-4, 1.0, 100.0}) {
    q = s.Integrate(q, Eigen::Vector4d(0, step, -step, 0.5 * step));
    EXPECT_NEAR(q.segment<4>(1).norm(), 1.0, 1e-15);
  }
  const Eigen::Vector4d tiny(0, 1e-9, -2e-9, 3e-9);
  EXPECT_LT((s.Difference(q, s.Integrate(q, tiny)) - tiny).norm(), 1e-15);
}

TEST(SwingTwist, ComesApartAsItWasPutTogether) {
  std::mt19937 rng(5);
  for (int i = 0; i < 1000; ++i) {
    const double twist = testing::Uniform(rng, -3.1, 3.1);
    Vec3 swing = testing::RandomVector(rng, 2.0);
    swing.x() = 0;
    if (swing.norm() > 3.0) continue;
    const geometry::Mat3 R =
        geometry::Exp<double>(swing) * geometry::Exp<double>(Vec3(twist, 0, 0));
    EXPECT_LT((SwingTwist(R) - Vec3(twist, swing.y(), swing.z())).norm(), 1e-9) << i;
  }
  EXPECT_EQ(SwingTwist(geometry::Mat3::Identity()), Vec3::Zero());
  // Swing by pi: no twist can be told.
  const geometry::Mat3 turned = geometry::Exp<double>(Vec3(0, M_PI, 0));
  EXPECT_NEAR(SwingTwist(turned).x(), 0, 1e-12);
  EXPECT_NEAR(SwingTwist(turned).norm(), M_PI, 1e-7);
}

}  // namespace
}  // namespace handhold::model::skeleton_test
