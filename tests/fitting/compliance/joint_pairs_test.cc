/// Neighbours are told by the tree: along one finger in order, in a hand by finger, never across.
#include "fitting/compliance/joint_pairs.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/support/finger_take.h"

namespace handhold::fitting::joint_pairs_test {
namespace {

int BodyOf(const model::Skeleton& hand, const std::string& name) {
  for (int b = 1; b < hand.body_count(); ++b) {
    const std::string& of = hand.body(b).name;
    if (of == name || (of.size() > name.size() && of.ends_with("." + name))) return b;
  }
  ADD_FAILURE() << "no body " << name;
  return 0;
}

/// Names of the two joints of every pair, "mcp-pip", without their axes and hand.
std::multiset<std::string> Named(const model::Skeleton& hand, const std::vector<int>& dofs) {
  const auto joint = [&](int i) {
    std::string name = hand.dof_names()[static_cast<size_t>(dofs[static_cast<size_t>(i)])];
    name = name.substr(0, name.rfind('.'));
    return name.starts_with("R.") ? name.substr(2) : name;
  };
  std::multiset<std::string> names;
  for (const JointPair& pair : NeighbourPairs(hand, dofs))
    names.insert(joint(pair.first) + " " + joint(pair.second));
  return names;
}

TEST(JointPairsTest, JointsOfAFingerAreOneAfterTheOther) {
  const model::Skeleton finger = test_support::PlanarHand(test_support::PlanarFinger());
  const std::vector<int> dofs = FittedDofs(finger, {4});
  ASSERT_EQ(dofs, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(NeighbourPairs(finger, dofs), (std::vector<JointPair>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(PlacesFromTip(finger, dofs), (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(FreeRoot(finger, {4}), -1);
  EXPECT_TRUE(NeighbourPairs(finger, {0, 2}) == (std::vector<JointPair>{{0, 1}}))
      << "what lies between is not fitted";
}

TEST(JointPairsTest, FingersOfAHandAreNoNeighbours) {
  const model::Skeleton hand = model::LoadHand("hand27").value();
  const int thumb = BodyOf(hand, "thumb.dst"), index = BodyOf(hand, "index.dst");
  const std::vector<int> of_index = FittedDofs(hand, {index});
  EXPECT_EQ(of_index.size(), 4u) << "a universal, two hinges; the free palm is none";
  EXPECT_EQ(Named(hand, of_index).size(), 3u) << "both axes of the knuckle, and the two hinges";
  EXPECT_EQ(PlacesFromTip(hand, of_index), (std::vector<int>{2, 2, 1, 0}));
  const std::vector<int> of_both = FittedDofs(hand, {thumb, index});
  EXPECT_EQ(of_both.size(), 9u);
  const std::multiset<std::string> named = Named(hand, of_both);
  EXPECT_EQ(named.size(), 3u + 4u + 2u);
  for (const std::string& pair : named) {
    const std::string one = pair.substr(0, pair.find('.')), space = pair.substr(pair.find(' ') + 1);
    EXPECT_EQ(one, space.substr(0, space.find('.'))) << pair;
  }
  EXPECT_EQ(hand.v_index(BodyOf(hand, "palm")), FreeRoot(hand, {thumb, index}));
}

// A wrist carries all fingers: each one's knuckle is its neighbour.
TEST(JointPairsTest, AWristIsTheNeighbourOfEveryFinger) {
  const model::Skeleton arm = model::LoadHand("arm35").value();
  const std::vector<int> bodies = {BodyOf(arm, "index.dst"), BodyOf(arm, "middle.dst")};
  std::vector<int> dofs = FittedDofs(arm, bodies);
  const int wrist = arm.v_index(BodyOf(arm, "palm"));
  dofs.erase(dofs.begin(), std::find(dofs.begin(), dofs.end(), wrist));
  ASSERT_EQ(dofs.size(), 2u + 4u + 4u);
  EXPECT_EQ(NeighbourPairs(arm, dofs).size(), 2u * (4u + 2u + 1u));
  EXPECT_EQ(PlacesFromTip(arm, dofs)[0], 3);
}

}  // namespace
}  // namespace handhold::fitting::joint_pairs_test
