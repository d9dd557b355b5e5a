#include "synthesis/grasp_search/preshape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "database/model/grasp_taxonomy.h"
#include "database/model/hand_library.h"
#include "synthesis/grasp_search/closing.h"

namespace handhold::synthesis::preshape_test {
namespace {

HandSurface Hand() { return *HandSurface::Build(*model::LoadHand("hand27")); }

TEST(Preshape, EveryScriptIsATypeOfTheTaxonomy) {
  EXPECT_EQ(ScriptedTypes().size(), 26u);
  for (const std::string& type : ScriptedTypes()) EXPECT_NE(model::FindFeix(type), nullptr) << type;
  EXPECT_EQ(ScriptPreshapes(Hand(), {"ventral"}).error().code, ErrorCode::kNotFound);
}

TEST(Preshape, EveryTypeTouchesWithItsDigitsAndEntersNothing) {
  const HandSurface hand = Hand();
  const Preshapes made = *ScriptPreshapes(hand, {}, {.per_type = 3, .tries = 40});
  EXPECT_EQ(made.dof_names, hand.shape_names());
  EXPECT_EQ(made.grasps.size(), 26u * 3);
  for (const artefact::GraspTemplate& grasp : made.grasps) {
    SCOPED_TRACE(grasp.type);
    const HeldObject object = *HeldObject::Build(*PrimitiveProp(grasp));
    Closer closer(hand, object);
    const geometry::RigidTransform X_PH = grasp.X_HO.Inverse();
    EXPECT_EQ(hand.BeyondLimits(grasp.pose_v), 0.0);
    EXPECT_LT(closer.Penetration(X_PH, grasp.pose_v), 0.003);
    EXPECT_LE(closer.SelfContact(X_PH, grasp.pose_v), 0.003);
    std::set<int> digits;
    for (const SkinContact& c : closer.Contacts(X_PH, grasp.pose_v, 0.003)) digits.insert(c.digit);
    EXPECT_GE(digits.size(), 2u);
    EXPECT_NEAR(grasp.opposition_H.norm(), 1.0, 1e-12);
    const bool palm = digits.contains(-1);
    if (grasp.precision) {
      EXPECT_TRUE(digits.contains(0));
    }
    if (grasp.type == "tripod") {
      EXPECT_TRUE(digits.contains(1) && digits.contains(2) && !palm);
    }
    if (grasp.type == "large-diameter" || grasp.type == "power-sphere") {
      EXPECT_TRUE(palm && digits.contains(0) && digits.contains(3));
    }
  }
}

TEST(Preshape, TheSameSeedGivesTheSameBitsWhateverElseIsAsked) {
  const HandSurface hand = Hand();
  const Preshapes one = *ScriptPreshapes(hand, {"tripod"}, {.per_type = 4});
  const Preshapes two = *ScriptPreshapes(hand, {"quadpod", "tripod"}, {.per_type = 4});
  const Preshapes other = *ScriptPreshapes(hand, {"tripod"}, {.per_type = 4, .seed = 2});
  ASSERT_EQ(one.grasps.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const auto& twin = two.grasps[two.grasps[0].type == "tripod" ? i : i + 4];
    EXPECT_EQ(one.grasps[i].pose_v, twin.pose_v);
    EXPECT_EQ(one.grasps[i].X_HO.p, twin.X_HO.p);
    EXPECT_NE(one.grasps[i].pose_v, other.grasps[i].pose_v);
  }
}

TEST(Preshape, ALeftHandMirrorsTheScripts) {
  const HandSurface left = *HandSurface::Build(model::Mirrored(*model::LoadHand("hand27")));
  const Preshapes made = *ScriptPreshapes(left, {"medium-wrap", "tripod"}, {.per_type = 4});
  EXPECT_EQ(made.grasps.size(), 8u);
}

TEST(Preshape, AHandWithoutTheSitesIsToldSo) {
  model::SkeletonDraft draft = model::LoadHand("hand27")->draft();
  std::erase_if(draft.sites, [](const model::ContactSite& s) { return s.name == "R.index.pad"; });
  const HandSurface hand = *HandSurface::Build(*model::Skeleton::Build(std::move(draft)));
  EXPECT_EQ(ScriptPreshapes(hand, {"tripod"}).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace handhold::synthesis::preshape_test
