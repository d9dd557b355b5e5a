#include "synthesis/grasp_search/grasp_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/synthesis/grasp_search/scripted_space.h"

namespace handhold::synthesis::grasp_search_test {
namespace {

using geometry::Vec3;

const GraspSearcher& Searcher() {
  static const GraspSearcher searcher = *GraspSearcher::Build(
      test_support::Hand27(),
      test_support::ScriptedSpace(
          {"large-diameter", "medium-wrap", "tripod", "palmar-pinch", "power-sphere"}, 16));
  return searcher;
}

model::Prop Bar() {
  model::Prop prop;
  prop.name = "bar";
  prop.friction = 0.6;
  prop.shapes.push_back({"bar", {}, geometry::Cylinder{0.02, 0.3}, ""});
  prop.grasp_regions.push_back({"end", Vec3(0, 0, 0.13), 0.05, -Vec3::UnitZ(), ""});
  return prop;
}

GraspSearchResult Find(const model::Prop& prop, const GraspPlace& place,
                       const GraspSearchOptions& options) {
  const HeldObject object = *HeldObject::Build(prop, place);
  return *Searcher().Search(object, CentreOf(prop, object), options);
}

TEST(GraspSearch, FindsGraspsThatTouchBalanceAndKeepWithinLimits) {
  const GraspSearchResult found = Find(Bar(), {}, {});
  ASSERT_GE(found.grasps.size(), 4u);
  EXPECT_TRUE(found.reason.empty());
  const HandSurface hand = test_support::Hand27();
  const HeldObject object = *HeldObject::Build(Bar());
  Closer closer(hand, object);
  int balanced = 0;
  for (const FoundGrasp& g : found.grasps) {
    EXPECT_EQ(hand.BeyondLimits(g.shape), 0.0);
    EXPECT_LE(closer.SelfContact(g.X_PH, g.shape), 0.003);
    EXPECT_LE(closer.Penetration(g.X_PH, g.shape), 0.003);
    EXPECT_GE(g.contacts.size(), 3u);
    for (const SkinContact& c : g.contacts) {
      EXPECT_NEAR(object.Closest(c.p_P).distance_m, 0.0, 1e-9);
      EXPECT_LE(c.distance_m, 0.002);
    }
    balanced += g.squeeze.unbalanced < 1e-3;
    EXPECT_EQ(g.tau_squeeze_Nm.size(), 27);
  }
  EXPECT_GE(balanced, 2);
  // Ranked.
  for (size_t i = 0; i + 1 < found.grasps.size(); ++i)
    EXPECT_GE(found.grasps[i].scores.at("rank_score"), found.grasps[i + 1].scores.at("rank_score"));
}

TEST(GraspSearch, TheSameSeedGivesTheSameBits) {
  const GraspSearchResult a = Find(Bar(), {}, {.starts = 16, .fits = 3, .seed = 5}),
                          b = Find(Bar(), {}, {.starts = 16, .fits = 3, .seed = 5}),
                          c = Find(Bar(), {}, {.starts = 16, .fits = 3, .seed = 6});
  ASSERT_EQ(a.grasps.size(), b.grasps.size());
  for (size_t i = 0; i < a.grasps.size(); ++i) {
    EXPECT_EQ(a.grasps[i].shape, b.grasps[i].shape);
    EXPECT_EQ(a.grasps[i].X_PH.p, b.grasps[i].X_PH.p);
    EXPECT_EQ(a.grasps[i].scores, b.grasps[i].scores);
  }
  ASSERT_FALSE(c.grasps.empty());
  EXPECT_NE(a.grasps[0].X_PH.p, c.grasps[0].X_PH.p);
}

TEST(GraspSearch, TypesAskedForAreAllAnsweredEachRankedWithinItself) {
  const GraspSearchResult found = Find(
      Bar(), {}, {.types = {"tripod", "medium-wrap"}, .starts = 48, .fits = 6, .candidates = 3});
  std::map<std::string, std::vector<std::pair<double, double>>> by_type;
  for (const FoundGrasp& g : found.grasps)
    by_type[g.type].emplace_back(g.scores.at("of_type"), g.scores.at("rank_score"));
  ASSERT_EQ(by_type.size(), 2u);
  for (const auto& [type, scores] : by_type) {
    EXPECT_LE(scores.size(), 3u);
    EXPECT_TRUE(std::ranges::is_sorted(scores, std::ranges::greater())) << type;
  }
  // The first two are the best of each type.
  EXPECT_NE(found.grasps[0].type, found.grasps[1].type);
  // A wrap has the palm, a tripod its three digits (others may lie on so long a bar).
  for (const FoundGrasp& g : found.grasps) {
    std::set<int> digits;
    for (const SkinContact& c : g.contacts) digits.insert(c.digit);
    if (g.type == "medium-wrap") {
      EXPECT_TRUE(digits.contains(-1));
    } else {
      EXPECT_TRUE(digits.contains(0) && (digits.contains(1) || digits.contains(2)));
    }
  }
}

TEST(GraspSearch, TheRegionIsRespected) {
  // Four centimetres of the bar's middle: narrower than a hand.
  for (const char* type : {"tripod", "medium-wrap"}) {
    const GraspSearchResult found =
        Find(Bar(), {.point_P = Vec3(0, 0, 0.05), .radius_m = 0.04}, {.types = {type}, .fits = 32});
    ASSERT_FALSE(found.grasps.empty()) << type;
    double before = 1.0;
    for (const FoundGrasp& g : found.grasps) {
      int in = 0;
      for (const SkinContact& c : g.contacts) in += (c.p_P - Vec3(0, 0, 0.05)).norm() <= 0.04;
      const double share = in / static_cast<double>(g.contacts.size());
      EXPECT_NEAR(share, g.scores.at("in_place"), 1e-12);
      EXPECT_GE(share, 0.75) << type;
      EXPECT_LE(share, before + 0.1) << type;  // what lies within comes first
      before = share;
    }
    EXPECT_GE(found.grasps[0].scores.at("in_place"), 0.95) << type;
  }
}

// A palm comes along the region's approach: down onto a slab that could as well be held from below.
TEST(GraspSearch, PalmsComeAlongTheApproach) {
  model::Prop slab;
  slab.name = "slab";
  slab.friction = 0.6;
  slab.shapes.push_back({"slab", {}, geometry::Box{Vec3(0.06, 0.06, 0.05)}, ""});
  for (const double down : {-1.0, 1.0}) {
    slab.grasp_regions = {{"all", Vec3::Zero(), 0.1, down * Vec3::UnitZ(), ""}};
    const GraspSearchResult found =
        Find(slab, {.region = "all"}, {.types = {"power-sphere"}, .starts = 160, .fits = 8});
    ASSERT_FALSE(found.grasps.empty());
    int along = 0, palms = 0;
    for (const FoundGrasp& g : found.grasps) {
      for (const SkinContact& c : g.contacts) {
        if (c.digit >= 0) continue;
        ++palms;
        along += c.normal_P.dot(down * Vec3::UnitZ()) < -0.5;
      }
    }
    EXPECT_GT(palms, 0);
    EXPECT_GE(along, 0.75 * palms) << down;
  }
}

// A search for a type holds to the type's own model, where the space has one.
TEST(GraspSearch, ATypeAskedForIsHeldToItsModel) {
  artefact::GraspSpace space =
      test_support::ScriptedSpace({"large-diameter", "tripod", "palmar-pinch", "power-sphere"}, 20);
  std::vector<artefact::MixtureComponent> tripod;
  for (const artefact::TypeModel& one : space.type_models)
    if (one.taxonomy == "feix" && one.type == "tripod") tripod = one.mixture;
  ASSERT_FALSE(tripod.empty());
  const auto model = *artefact::SpaceDensity::Build(space, tripod);
  const auto likelihood = [&](const artefact::GraspSpace& with) {
    const auto searcher = *GraspSearcher::Build(test_support::Hand27(), with);
    const HeldObject bar = *HeldObject::Build(Bar());
    const auto found =
        *searcher.Search(bar, CentreOf(Bar(), bar), {.types = {"tripod"}, .fits = 8});
    double sum = 0;
    for (const FoundGrasp& g : found.grasps)
      sum += model.LogLikelihood(model.Project(g.shape)) / static_cast<double>(found.grasps.size());
    return sum;
  };
  const double with = likelihood(space);
  space.type_models.clear();
  EXPECT_GT(with, likelihood(space) + 0.2);
}

TEST(GraspSearch, NothingFoundHasAReason) {
  const GraspSearchResult nowhere = Find(Bar(), {.point_P = Vec3(1, 0, 0)}, {});
  EXPECT_TRUE(nowhere.grasps.empty());
  EXPECT_EQ(nowhere.refused.count("no surface in the place"), 1u);
  EXPECT_FALSE(nowhere.reason.empty());
  // More contacts asked for than a hand has.
  model::Prop wall;
  wall.name = "wall";
  wall.shapes.push_back({"wall", {}, geometry::Box{Vec3(2, 2, 2)}, ""});
  const GraspSearchResult wide = Find(wall, {}, {.starts = 12, .fits = 4, .min_contacts = 60});
  EXPECT_TRUE(wide.grasps.empty());
  EXPECT_GT(wide.refused.at("few contacts"), 0);
  const HeldObject object = *HeldObject::Build(Bar());
  EXPECT_EQ(Searcher().Search(object, Vec3::Zero(), {.types = {"hook"}}).error().code,
            ErrorCode::kNotFound);
}

TEST(GraspSearch, ThePapersOwnSearchLowersEq6) {
  GraspSearchOptions options{.types = {"tripod"}, .starts = 8, .fits = 2};
  options.paper = PaperSearchOptions{.evaluations = 1};
  options.min_contacts = 0;
  options.deepest_m = 1.0;
  const GraspSearchResult once = Find(Bar(), {}, options);
  options.paper->evaluations = 600;
  const GraspSearchResult far = Find(Bar(), {}, options);
  ASSERT_EQ(once.grasps.size(), 2u);
  ASSERT_EQ(far.grasps.size(), 2u);
  const auto sum = [](const GraspSearchResult& r) {
    return r.grasps[0].scores.at("energy") + r.grasps[1].scores.at("energy");
  };
  EXPECT_LT(sum(far), 0.9 * sum(once));
}

TEST(GraspSearch, AGraspIsStoredWithItsTypesContactsAndSqueeze) {
  const GraspSearchResult found = Find(Bar(), {}, {.types = {"tripod"}, .starts = 24, .fits = 4});
  ASSERT_FALSE(found.grasps.empty());
  const artefact::Grasp grasp = Searcher().ToGrasp(found.grasps[0], "bar 1");
  EXPECT_EQ(grasp.proposer, "search");
  EXPECT_TRUE(grasp.scripted);
  EXPECT_EQ(grasp.types.at("feix"), "tripod");
  EXPECT_EQ(grasp.types.at("schlesinger"), "palmar");
  EXPECT_EQ(grasp.q.size(), 28);
  EXPECT_EQ(grasp.contacts.size(), found.grasps[0].contacts.size());
  bool pad = false;
  for (const artefact::GraspContact& c : grasp.contacts) {
    pad |= c.site.ends_with(".pad");
    EXPECT_GE(c.f_onHand_P.dot(c.normal_P), -1e-9);  // the prop pushes the hand off
  }
  EXPECT_TRUE(pad);
}

TEST(GraspSearch, RefusesASpaceOfAnotherHand) {
  artefact::GraspSpace space = test_support::ScriptedSpace({"tripod"}, 40, 2);
  space.dof_names.pop_back();
  EXPECT_EQ(GraspSearcher::Build(test_support::Hand27(), space).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis::grasp_search_test
