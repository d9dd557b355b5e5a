// What a library holds becomes what a page plays: the right poses, forces and names of the newest
// results, and the page of the take with what people said of it.
#include "tools/report/scene_load.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/grasp.h"
#include "fitting/grasp_space/grasp_space_fit.h"
#include "tests/support/shown_library.h"
#include "tools/report/page.h"
#include "tools/report/take_page.h"

namespace handhold::report::scene_load_test {
namespace {

using handhold::testing::ShownLibrary;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using text::Json;

const SceneChannel* Channel(const Scene& scene, const std::string& name, int motion) {
  for (const SceneChannel& c : scene.channels)
    if (c.name == name && c.motion == motion) return &c;
  return nullptr;
}

TEST(SceneLoadTest, AClipBringsItsNewestResults) {
  ShownLibrary shown("clip");
  const auto loaded = LoadScene(shown.context(), {shown.clip.row.name});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Scene& scene = loaded->scene;
  ASSERT_THAT(scene.motions, SizeIs(2)) << "the fitted one and the synthesised one";
  const SceneMotion& fitted = scene.motions[0];
  EXPECT_EQ(fitted.source, "fitted");
  EXPECT_EQ(fitted.hash, shown.pose);
  EXPECT_EQ(fitted.markers.names, (std::vector<std::string>{"A", "B"}));
  EXPECT_NEAR(fitted.markers.p_WM[0][3].x(), 0.25, 1e-9);
  EXPECT_FALSE(fitted.markers.p_WM[1][3].allFinite()) << "what was never seen stays missing";
  EXPECT_EQ(scene.times_s[static_cast<size_t>(fitted.contacts.time)].size(), 100u);
  ASSERT_THAT(fitted.contacts.frame, SizeIs(50));
  EXPECT_EQ(fitted.contacts.frame.front(), 25);
  EXPECT_NEAR(fitted.contacts.f_onHand_W.front().z(), 3.0, 1e-12);
  EXPECT_EQ(fitted.contacts.touches.front(), "R.index.pad on plate");
  EXPECT_DOUBLE_EQ(fitted.contacts.friction.front(), shown.plate->prop.friction);
  EXPECT_EQ(scene.motions[1].source, "synthesised");
  EXPECT_THAT(scene.motions[1].verdict, HasSubstr("slipped at 1.200 s: plate"));
  EXPECT_DOUBLE_EQ(scene.motions[1].contacts.slip_m_per_s.front(), 0.002);

  const SceneChannel* angle = Channel(scene, shown.hand->skeleton.dof_names()[0], 0);
  ASSERT_NE(angle, nullptr);
  EXPECT_NEAR(angle->y.at(50), 0.05, 1e-9);
  EXPECT_NEAR(angle->sd.at(50), 0.01, 1e-12) << "1 / sqrt(information)";
  const SceneChannel* force = Channel(scene, "plate normal force", -1);
  ASSERT_NE(force, nullptr);
  EXPECT_NEAR(*std::max_element(force->y.begin(), force->y.end()), 3.0, 1e-9);
  const SceneChannel* on_hand = Channel(scene, "plate force on hand z", -1);
  ASSERT_NE(on_hand, nullptr);
  EXPECT_NEAR(*std::max_element(on_hand->y.begin(), on_hand->y.end()), 3.0, 1e-9)
      << "pressing down, the plate pushes the hand up";
  EXPECT_NE(Channel(scene, "equilibrium_residual", 1), nullptr);
  std::vector<std::string> kinds, labels;
  for (const SceneEvent& event : scene.events) {
    kinds.push_back(event.kind), labels.push_back(event.label);
  }
  EXPECT_THAT(kinds, Contains("touch"));
  EXPECT_THAT(labels, Contains("mark: look here"));
  EXPECT_FALSE(scene.plots.empty());
}

TEST(SceneLoadTest, ResultsAreShownByHash) {
  ShownLibrary shown("hash");
  const auto both = LoadScene(shown.context(), {shown.pose.substr(0, 12), shown.motion});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_THAT(both->scene.motions, SizeIs(2));
  for (const std::string& hash : {shown.contact, shown.hand->hash, shown.plate->hash}) {
    const auto one = LoadScene(shown.context(), {hash});
    ASSERT_TRUE(one) << one.error().message;
    ASSERT_THAT(one->scene.motions, SizeIs(1));
    EXPECT_FALSE(one->scene.motions[0].nodes.empty());
  }
  const auto none = LoadScene(shown.context(), {"nosuchthing"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

// A grasp is seen to close: open for a moment, then on its way, then held with its contacts.
TEST(SceneLoadTest, AGraspOpensBeforeItCloses) {
  ShownLibrary shown("grasp");
  const model::Skeleton& hand = shown.hand->skeleton;
  artefact::Grasp grasp;
  grasp.provenance.step = "synth.grasp", grasp.provenance.version = 1;
  grasp.provenance.inputs = {shown.hand->input()}, grasp.provenance.parameters_json = "{}";
  grasp.provenance.made_utc = Timestamp::FromSeconds(2e9);
  grasp.name = "plate tripod 1";
  grasp.skeleton_hash = shown.hand->hash, grasp.dof_names = hand.dof_names();
  const Eigen::VectorXd zero = hand.ZeroConfiguration();
  grasp.q_open = hand.Integrate(zero, Eigen::VectorXd::Constant(hand.nv(), 0.1));
  grasp.q = hand.Integrate(zero, Eigen::VectorXd::Constant(hand.nv(), 0.4));
  grasp.prop = "flat_plate", grasp.prop_hash = shown.plate->hash;
  grasp.contacts.push_back({.site = "R.index.pad", .body = 1, .f_onHand_P = {0, 0, 2}});
  grasp.contacts.push_back({.site = "R.index.pad", .body = 2, .f_onHand_P = {0, 0, 1}});
  const std::string hash = shown.library->Save(grasp).value();
  const auto loaded = LoadScene(shown.context(), {hash});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Status whole = CheckScene(loaded->scene);
  EXPECT_TRUE(whole) << whole.error().message;
  ASSERT_THAT(loaded->scene.motions, SizeIs(1));
  const SceneChannel* angle = Channel(loaded->scene, hand.dof_names()[0], 0);
  ASSERT_NE(angle, nullptr);
  EXPECT_NEAR(angle->y.front(), 0.1, 1e-9);
  EXPECT_NEAR(angle->y.back(), 0.4, 1e-9);
  EXPECT_TRUE(std::ranges::is_sorted(angle->y));
  const auto& times = loaded->scene.times_s[static_cast<size_t>(angle->time)];
  const std::vector<int>& touching = loaded->scene.motions[0].contacts.frame;
  ASSERT_FALSE(touching.empty());
  for (size_t k = 0; k < angle->y.size(); ++k) {
    const bool held = std::ranges::find(touching, static_cast<int>(k)) != touching.end();
    EXPECT_EQ(held, angle->y[k] > 0.4 - 1e-9) << k;
  }
  EXPECT_GE(times.back() - times[static_cast<size_t>(touching.front())], 0.4);
  EXPECT_FALSE(loaded->scene.beside) << "alone";
  ASSERT_TRUE(loaded->scene.open_s.has_value());
  EXPECT_NEAR(*loaded->scene.open_s, times.back(), 1e-9) << "closed";
  grasp.name = "plate tripod 2", grasp.provenance.parameters_json = R"({"rank": 2})";
  const std::string second = shown.library->Save(grasp).value();
  EXPECT_TRUE(LoadScene(shown.context(), {hash, second})->scene.beside);
  const auto mixed = LoadScene(shown.context(), {hash, shown.motion});
  EXPECT_FALSE(mixed->scene.beside);
  EXPECT_FALSE(mixed->scene.open_s.has_value());
}

// Ben Amor 2008, Fig. 2 and its variance: hands over the plane, hands by type, a hand along each
// component with the share of the variance so far.
TEST(SceneLoadTest, AGraspSpaceIsAPictureAndACurve) {
  ShownLibrary shown("space");
  const model::Skeleton& hand = shown.hand->skeleton;
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  std::vector<artefact::GraspTemplate> made(90);
  for (artefact::GraspTemplate& t : made) {
    t.type = "tripod";
    t.pose_v = Eigen::VectorXd::NullaryExpr(hand.nv(), [&](Eigen::Index i) {
      return 0.3 / static_cast<double>(i + 1) * normal(random);
    });
  }
  fitting::HandPoses poses;
  ASSERT_TRUE(fitting::AddTemplates(hand.dof_names(), made, &poses).has_value());
  artefact::GraspSpace space = *fitting::FitGraspSpace(poses, {.dims = 3});
  space.skeleton_hash = shown.hand->hash;
  space.provenance.step = "fit.grasp-space", space.provenance.version = 1;
  space.provenance.inputs = {shown.hand->input()}, space.provenance.parameters_json = "{}";
  space.provenance.made_utc = Timestamp::FromSeconds(2e9);
  const auto loaded = LoadScene(shown.context(), {shown.library->Save(space).value()});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Status whole = CheckScene(loaded->scene);
  EXPECT_TRUE(whole) << whole.error().message;
  EXPECT_TRUE(loaded->scene.beside);
  ASSERT_THAT(loaded->scene.channels, SizeIs(1));
  const SceneChannel& held = loaded->scene.channels[0];
  ASSERT_EQ(held.y.size(), 4u);
  double sum = 0.0;
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(held.y[static_cast<size_t>(k)], 100 * sum / space.variance.sum(), 1e-9);
    EXPECT_EQ(loaded->scene.times_s[static_cast<size_t>(held.time)][static_cast<size_t>(k)], k);
    sum += space.variance[k];
  }
  EXPECT_THAT(loaded->scene.plots, SizeIs(1));
}

TEST(SceneLoadTest, LongMotionsAreThinnedAndKeepTheirRows) {
  ShownLibrary shown("thin");
  const auto loaded = LoadScene(shown.context(), {shown.motion}, {.frames = 20});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const SceneContacts& c = loaded->scene.motions[0].contacts;
  EXPECT_EQ(loaded->scene.times_s[static_cast<size_t>(c.time)].size(), 20u);
  EXPECT_THAT(c.frame, SizeIs(10)) << "frames 25, 30, ... 70 of every fifth";
  EXPECT_EQ(c.frame.front(), 5);
}

TEST(SceneLoadTest, NothingIsShownTwiceAndNamesDiffer) {
  ShownLibrary shown("twice");
  const std::string& clip = shown.clip.row.name;
  const auto once = LoadScene(shown.context(), {clip, shown.motion});
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_THAT(once->scene.motions, SizeIs(2)) << "the motion that the clip brings is the one asked";
  const std::string other = shown.SaveSecondMotion();
  const auto two = LoadScene(shown.context(), {clip, shown.motion, other, other});
  ASSERT_TRUE(two) << two.error().message;
  ASSERT_THAT(two->scene.motions, SizeIs(3));
  EXPECT_EQ(two->scene.motions[1].hash, shown.motion) << "in the order that was asked";
  EXPECT_EQ(two->scene.motions[2].hash, other);
  EXPECT_NE(two->scene.motions[1].name, two->scene.motions[2].name);
  std::set<std::string> lanes;
  for (const SceneEvent& event : two->scene.events)
    if (event.kind == "touch") lanes.insert(event.lane);
  EXPECT_THAT(lanes, SizeIs(3)) << "a lane for each";
  const auto newest = LoadScene(shown.context(), {clip});
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->scene.motions[1].hash, other);
}

TEST(SceneLoadTest, ChannelsKnowWhatTheyAreOf) {
  ShownLibrary shown("parts");
  const auto loaded = LoadScene(shown.context(), {shown.clip.row.name});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const model::Skeleton& hand = shown.hand->skeleton;
  for (int b = 1; b < hand.body_count(); ++b) {
    for (int d = hand.v_index(b); d < hand.v_index(b) + hand.body(b).joint.nv(); ++d) {
      const SceneChannel* angle =
          Channel(loaded->scene, hand.dof_names()[static_cast<size_t>(d)], 0);
      ASSERT_NE(angle, nullptr);
      EXPECT_EQ(angle->parts, std::vector<std::string>{hand.body(b).name});
    }
  }
  EXPECT_EQ(Channel(loaded->scene, "plate normal force", -1)->parts,
            std::vector<std::string>{"plate"});
  EXPECT_THAT(Channel(loaded->scene, "contact force", 0)->parts, Contains("plate"));
}

const Json* Section(const Json& report, const std::string& id) {
  for (const Json& section : report.Find("sections")->elements())
    if (*section.Find("id")->string() == id) return &section;
  return nullptr;
}

TEST(TakePageTest, SaysWhatWasRecordedSaidAndMade) {
  ShownLibrary shown("take");
  ASSERT_TRUE(shown.Say(store::LedgerKind::kNote, "", "the wrist slipped"));
  ASSERT_TRUE(shown.Say(store::LedgerKind::kRating, "", "4"));
  const auto page = MakeTakePage(shown.context(), shown.clip.row.name);
  ASSERT_TRUE(page) << page.error().message;
  const Json& report = *page->data.Find("report");
  EXPECT_EQ(*report.Find("title")->string(), shown.clip.row.name) << "its own name";
  const std::string text = *text::WriteJson(report);
  for (const char* said : {"the wrist slipped", "4 of 5", "look here", "plate/wrench", "fit.pose",
                           "slipped", "handhold clip export"})
    EXPECT_THAT(text, HasSubstr(said));
  const Json* streams = Section(report, "streams");
  ASSERT_NE(streams, nullptr);
  const auto& rows = streams->Find("tables")->elements()[0].Find("rows")->elements();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(*rows[0].elements()[8].string(), "50.00 %") << "one of two markers was never seen";
  EXPECT_EQ(page->results, 3);
  EXPECT_EQ(page->data.Find("scene")->Find("motions")->elements().size(), 2u);
}

TEST(TakePageTest, WhatFitsWarnedOfStandsBesideThem) {
  ShownLibrary shown("warned");
  const auto plain = MakeTakePage(shown.context(), shown.clip.row.name);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_THAT(Section(*plain->data.Find("report"), "results")->Find("tables")->elements(),
              SizeIs(1))
      << "nothing was warned of";

  const Issue filter{"dynamic, exploring", Severity::kWarning, "the force ended 1.4 ms later"},
      axis{"dynamic", Severity::kWarning, "the touched point 0.24 mm off the wrench's axis"},
      note{"event", Severity::kNote, "of no concern to a reader"};
  const auto save = [&](double utc_s, const Issues& issues) {
    artefact::InteractionTrajectory fit;
    fit.provenance.step = "fit.compliance", fit.provenance.version = 1;
    fit.provenance.made_utc = Timestamp::FromSeconds(utc_s);
    fit.provenance.inputs = {{"contact", shown.contact, ""}, shown.hand->input()};
    fit.provenance.parameters_json = "{\"at\": " + std::to_string(utc_s) + "}";
    fit.skeleton_hash = shown.hand->hash, fit.dof_names = shown.hand->skeleton.dof_names();
    fit.summary.issues = issues;
    return shown.library->Save(fit).value();
  };
  const std::string first = save(2e9, {filter, note}), second = save(3e9, {filter, axis});
  const auto page = MakeTakePage(shown.context(), shown.clip.row.name);
  ASSERT_TRUE(page) << page.error().message;
  const auto& tables = Section(*page->data.Find("report"), "results")->Find("tables")->elements();
  ASSERT_THAT(tables, SizeIs(2)) << "warnings stand above the results";
  const auto& rows = tables[0].Find("rows")->elements();
  ASSERT_THAT(rows, SizeIs(2)) << "what a later result repeats stands once";
  const auto expect = [&](const Json& row, const std::string& hash, const Issue& issue) {
    EXPECT_EQ(*row.elements()[0].string(),
              std::string("interaction_trajectory ") + pipeline::ShortHash(hash));
    EXPECT_EQ(*row.elements()[1].string(), issue.where);
    EXPECT_EQ(*row.elements()[2].string(), issue.what);
  };
  expect(rows[0], first, filter);
  expect(rows[1], second, axis);
  EXPECT_THAT(tables[0].Find("red")->elements(), SizeIs(2));
  EXPECT_THAT(*text::WriteJson(*page->data.Find("report")), ::testing::Not(HasSubstr(note.what)));
}

TEST(TakePageTest, ADamagedResultTakesNothingElseWithIt) {
  ShownLibrary shown("damaged");
  const auto spoil = [&](const std::string& hash, bool remove) {
    const std::string path = shown.library->ArtefactPath(hash);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    if (remove) {
      std::filesystem::remove(path);
    } else {
      std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    }
  };
  spoil(shown.motion, false);
  const auto halved = MakeTakePage(shown.context(), shown.clip.row.name);
  ASSERT_TRUE(halved) << halved.error().message;
  EXPECT_THAT(halved->data.Find("scene")->Find("motions")->elements(), SizeIs(1))
      << "the fitted hand is still played";
  const auto& tables = Section(*halved->data.Find("report"), "results")->Find("tables")->elements();
  ASSERT_THAT(tables, SizeIs(2)) << "what is not in the picture, and the results";
  EXPECT_THAT(tables[1].Find("rows")->elements(), SizeIs(3));
  EXPECT_THAT(tables[1].Find("red")->elements(), SizeIs(1));
  spoil(shown.pose, true);
  const auto missing = MakeTakePage(shown.context(), shown.clip.row.name);
  ASSERT_TRUE(missing) << missing.error().message;
  const auto& red = Section(*missing->data.Find("report"), "results")->Find("tables")->elements();
  EXPECT_THAT(red[1].Find("red")->elements(), SizeIs(2));
  EXPECT_FALSE(LoadScene(shown.context(), {shown.clip.row.name})) << "unless asked to leave it out";
}

TEST(PageTest, HoldsItsDataOnce) {
  const std::string empty = *EmptyPage();
  EXPECT_THAT(empty, HasSubstr("@@DATA@@"));
  for (const char* foreign : {"src=\"http", "href=\"http", "url(http", "@import"})
    EXPECT_THAT(empty, ::testing::Not(HasSubstr(foreign))) << "nothing is fetched";
  const auto page = PageWith(Json::Object({{"page", "live"}}));
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, ::testing::Not(HasSubstr("@@DATA@@")));
  EXPECT_GT(page->size(), 300'000u);
  EXPECT_LT(page->size(), 1'000'000u);
  EXPECT_FALSE(PageWith(Json(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace handhold::report::scene_load_test
