// A written scene is compiled by MuJoCo, and says there what it says here; a grasp that must hold
// holds there, one that must fail fails.
#include "database/exchange/mjcf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/grasp_file.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "synthesis/evaluate/p1.h"
#include "tests/support/mujoco_hand.h"

namespace handhold::mjcf_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using synthesis::GraspFault;
using testing::MujocoHand;

struct Shipped {
  explicit Shipped(const std::string& name)
      : grasp(artefact::LoadLibraryGrasp(name).value()),
        hand(model::LoadHand(grasp.skeleton_name).value()),
        prop(model::LoadLibraryProp(grasp.prop).value()) {}
  artefact::Grasp grasp;
  model::Skeleton hand;
  model::Prop prop;
  std::string Mjcf() const { return testing::MjcfOf(hand, prop, grasp, {}).value(); }
};

TEST(Mjcf, BodiesStandWhereOursDoAndWeighAsMuch) {
  for (const char* name : {"hand57_cylinder", "hand27_pinch"}) {
    const Shipped s(name);
    MujocoHand peer(s.Mjcf(), {});
    model::KinematicsData data(s.hand);
    model::ComputePoses<double>(s.hand, s.grasp.q, &data);
    double mass = 0.1;
    for (int b = 1; b < s.hand.body_count(); ++b) {
      const RigidTransform ours =
          s.grasp.X_PH * data.X_WB[static_cast<size_t>(b)] * s.hand.X_JcB(b).Inverse();
      const RigidTransform theirs = peer.BodyPose(s.hand.body(b).name);
      EXPECT_LT((ours.p - theirs.p).norm(), 1e-9) << s.hand.body(b).name;
      EXPECT_LT((ours.R - theirs.R).norm(), 1e-9) << s.hand.body(b).name;
      if (s.hand.body(b).parent != 0) mass += s.hand.body(b).mass.mass_kg;
    }
    EXPECT_LT(peer.X_WO().p.norm(), 1e-12);
    EXPECT_NEAR(peer.mass_kg(), 0.1, 1e-9);
    // A spring per velocity but the root's.
    const int root = s.hand.body(1).joint.nv();
    EXPECT_EQ(peer.actuators(), s.hand.nv() - root) << name;
    EXPECT_GE(peer.TotalMass(), mass - 1e-9);
  }
}

TEST(Mjcf, TheShippedCylinderGraspHoldsInMujocoAndALimpHandDoesNot) {
  const Shipped s("hand57_cylinder");
  MujocoHand peer(s.Mjcf(), {});
  ASSERT_EQ(peer.Form(), GraspFault::kNone);
  synthesis::P1Options brief;
  brief.hold_s = 0.3;
  const auto held = synthesis::RunP1(brief, &peer);
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_TRUE(held->passed()) << held->cause;
  EXPECT_EQ(held->engine, "mujoco");
  Shipped limp("hand57_cylinder");
  limp.grasp.q_squeeze = limp.grasp.q_open;
  MujocoHand opens(limp.Mjcf(), {});
  EXPECT_NE(opens.Form(), GraspFault::kNone);
}

TEST(Mjcf, ConvexPiecesStandForMeshesAndNonsenseIsRefused) {
  const Shipped s("hand57_cylinder");
  model::Prop mesh = s.prop;
  const geometry::Mesh tetrahedron{{{0, 0, 0}, {0.05, 0, 0}, {0, 0.05, 0}, {0, 0, 0.05}},
                                   {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  mesh.shapes = {{"it", {}, geometry::MakeTriangleMesh(tetrahedron).value(), "test"}};
  const std::string hull = testing::MjcfOf(s.hand, mesh, s.grasp, {}).value();
  EXPECT_THAT(hull, ::testing::HasSubstr("mesh=\"part0\""));
  EXPECT_THAT(hull, ::testing::Not(::testing::HasSubstr("mesh=\"part1\"")));
  const std::string pieces =
      testing::MjcfOf(s.hand, mesh, s.grasp, {}, {tetrahedron, tetrahedron}).value();
  EXPECT_THAT(pieces, ::testing::HasSubstr("mesh=\"part1\""));
  MujocoHand compiled(pieces, {});
  exchange::MjcfGrasp bad;
  bad.hand = &s.hand;
  bad.prop = &s.prop;
  EXPECT_EQ(exchange::WriteMjcf(bad).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::mjcf_test
