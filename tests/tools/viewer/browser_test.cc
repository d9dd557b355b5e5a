// Pages in a browser: hands stand where kinematics says, arrows are as long as their forces, keys,
// links and pictures work, and nothing is fetched.
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/text/file.h"
#include "tests/tools/viewer/browse.h"
#include "tools/report/page.h"
#include "tools/report/scene_fill.h"

namespace handhold::report::browser_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using handhold::testing::Browse;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using text::Json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kFrames = 101;

Eigen::MatrixXd Grasp(const model::Skeleton& skeleton) {
  Eigen::MatrixXd q(skeleton.nq(), kFrames);
  for (int k = 0; k < kFrames; ++k) {
    Eigen::VectorXd v(skeleton.nv());
    for (int d = 0; d < v.size(); ++d) v[d] = 0.3 * std::sin(0.05 * k + d) * (d < 6 ? 0.1 : 1.0);
    q.col(k) = skeleton.Integrate(skeleton.ZeroConfiguration(), v);
  }
  return q;
}

/// A hand, a ball that moves, two motions, contacts with known forces, curves with a gap and a
/// band.
Scene Sample(const model::Skeleton& hand) {
  Scene scene;
  scene.title = "a <sample> & \"more\"";
  std::vector<double> times;
  std::vector<int> frames;
  std::vector<RigidTransform> ball;
  for (int k = 0; k < kFrames; ++k) {
    times.push_back(0.02 * k), frames.push_back(k);
    ball.push_back({geometry::Exp<double>(Vec3(0.02 * k, 0, 0)), Vec3(0.1, 0, 0.001 * k)});
  }
  const int time = scene.AddTimes(times);
  const Eigen::MatrixXd q = Grasp(hand);
  const model::Prop prop = *model::LoadLibraryProp("mug");
  for (const char* source : {"fitted", "synthesised"}) {
    SceneMotion motion{.name = source, .source = source};
    AddHand("R", hand, q, frames, time, &scene, &motion);
    AddProp("mug", "prop", prop, ball, time, &scene, &motion);
    SceneContacts& c = motion.contacts;
    c.time = time, c.touches = {"R on mug"};
    for (int k = 50; k < kFrames; ++k) {
      for (int row = 0; row < 2; ++row) {
        c.frame.push_back(k), c.touch.push_back(0);
        c.p_W.push_back(Vec3(0.1, 0.01 * row, 0.05)), c.normal_W.push_back(Vec3::UnitZ());
        c.f_onHand_W.push_back(Vec3(0, 0.5, 2.0 + row));
        c.friction.push_back(0.5), c.slip_m_per_s.push_back(row == 0 ? 0.0 : 0.02);
      }
    }
    motion.markers.time = time, motion.markers.names = {"A", "B"};
    std::vector<Vec3> seen(kFrames, Vec3(0.05, 0, 0.1)), hidden(kFrames, Vec3::Constant(kNaN));
    motion.markers.p_WM = {seen, hidden};
    scene.motions.push_back(std::move(motion));
  }
  SceneChannel force{.name = "normal force", .group = "force", .unit = "N", .time = time};
  SceneChannel angle{
      .name = "R.index.mcp.flex", .group = "angle", .unit = "rad", .motion = 0, .time = time};
  for (int k = 0; k < kFrames; ++k) {
    force.y.push_back(k < 50 ? 0.0 : 5.0);
    angle.y.push_back(k == 20 ? kNaN : 0.01 * k), angle.sd.push_back(0.05);
  }
  force.parts = {"plate"};
  scene.channels = {force, angle};
  scene.events = {{"touch", 1.0, 2.0, "R on mug", ""},
                  {"gap", 0.4, 0.5, "vicon: 50 samples", ""},
                  {"mark", 1.5, 1.5, "mark", ""}};
  scene.plots = {{0}, {1}};
  return scene;
}

std::string Folder() {
  const std::string folder = ::testing::TempDir() + "/browser_test";
  std::filesystem::create_directories(folder);
  return folder;
}

class BrowserTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Scene scene = Sample(hand_);
    ASSERT_TRUE(CheckScene(scene));
    const auto page = PageWith(Json::Object({{"page", "scene"}, {"scene", SceneToJson(scene)}}));
    ASSERT_TRUE(page) << page.error().message;
    path_ = Folder() + "/page.html";
    ASSERT_TRUE(text::WriteTextFile(path_, *page));
  }
  Json Step(const std::string& script, const std::string& hash = "") const {
    return Json::Object({{"url", "file://" + path_ + hash}, {"script", script}});
  }
  const model::Skeleton hand_ = *model::LoadHand("hand57");
  std::string path_;
};

TEST_F(BrowserTest, PlaysWhatCppMade) {
  Json steps = Json::Array();
  // 0: where nodes, arrows and markers are, at a frame and between two.
  steps.Push(Step(R"(
    const out = [];
    for (const t of [1.0, 1.5]) {
      player.clock.seek(t); player.draw();
      const stage = player.stages[0];
      stage.root.updateMatrixWorld(true);
      out.push(stage.nodes.map((n) => { const e = n.matrixWorld.elements; return [e[12], e[13], e[14]]; }));
    }
    return out;)"));
  // 1: contacts.
  steps.Push(Step(R"(
    const c = player.stages[0].contacts;
    player.clock.seek(0.5); player.draw();
    const before = c.arrows;
    player.clock.seek(1.5); player.draw();
    const matrix = [...c.heads.instanceMatrix.array.slice(0, 16)];
    const cones = c.cones.count, sliding = c.slipping.count, sticking = c.points.count;
    return { before, now: c.arrows, tip: matrix.slice(12, 15), total: c.total.toArray(), cones, sliding, sticking,
      hidden: player.stages[0].markers.mesh.instanceMatrix.array[16] === 0, seen: player.stages[0].markers.mesh.instanceMatrix.array[0] === 1,
      title: document.title, plots: player.plots.count, tags: document.querySelectorAll("sample").length };)"));
  // 2: the clock plays, at its speed, in its loop.
  steps.Push(Step(R"(
    const c = player.clock; c.setRange(0.2, 0.4); c.seek(0.2); c.setSpeed(0.5);
    c.advance(0); c.playing = true; c.advance(0.2); const a = c.t; c.advance(0.4); const b = c.t;
    c.setLoop(false); c.advance(2); const end = c.t, playing = c.playing;
    c.setSpeed(100); const fastest = c.speed; c.setSpeed(0.001); const slowest = c.speed;
    return { a, b, end, playing, fastest, slowest };)"));
  // 3: every key of the table does something without failing.
  steps.Push(Step(R"(
    const failed = [];
    for (const key of player.keys) for (const name of key.keys) {
      const parts = name.split("+").filter(Boolean);
      const last = name === "+" ? "+" : parts[parts.length - 1];
      try { window.dispatchEvent(Object.assign(new KeyboardEvent("keydown", { key: last === "Space" ? " " : last, shiftKey: name.startsWith("Shift+"), ctrlKey: name.startsWith("Ctrl+"), bubbles: true }), {})); }
      catch (e) { failed.push(name + e); }
    }
    await wait(300);
    return { failed, keys: player.keys.length, rows: document.querySelectorAll("dialog.help tr").length };)"));
  // 4: a place, as a link.
  steps.Push(Step(R"(
    player.clock.seek(1.23); player.view.place = [0.5, -0.4, 0.3, 0.1, 0, 0.05]; player.select("palm");
    player.setSide(true); player.view.place = [0.5, -0.4, 0.3, 0.1, 0, 0.05];
    await wait(500);
    return { place: player.place(), hash: location.hash, labels: [...document.querySelectorAll(".label")].filter((l) => l.style.display === "block").length };)"));
  // 5: figures and the picture.
  steps.Push(Step(R"(
    player.clock.seek(1.0); player.draw();
    const svg = player.plots.plots[1].svg();
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
    const png = await player.view.png();
    const gl = player.view.renderer.getContext(); const px = new Uint8Array(4 * 64 * 64);
    gl.readPixels(gl.drawingBufferWidth / 2 - 32, gl.drawingBufferHeight / 2 - 32, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, px);
    const colours = new Set(); for (let i = 0; i < px.length; i += 4) colours.add(px[i] << 16 | px[i + 1] << 8 | px[i + 2]);
    return { svg, wellFormed: parsed.querySelector("parsererror") === null, png: png.size, colours: colours.size,
      renderer: player.view.rendererName() };)"));
  Json phone = Step(
      "return { wide: document.documentElement.scrollWidth, canvas: "
      "document.querySelector('canvas').clientHeight };");
  phone.Set("width", 390).Set("height", 800).Set("touch", true);
  steps.Push(std::move(phone));
  // 7: the keyboard alone: what has the focus answers for itself, the camera's list follows, side
  // by side and back keeps the look, a frame is one of the motion, and without a hand markers are
  // home.
  steps.Push(Step(R"(
    const press = (key, at = window) => at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const summary = document.querySelector(".menu > summary");
    const own = press("Enter", summary) && press(" ", summary) && !player.clock.playing && !press(" ") && player.clock.playing;
    player.clock.pause(); press("v");
    const open = document.querySelector(".menu").open;
    press("3"); const list = player.camera.value;
    const before = player.view.place; press("b"); const side = player.view.side; press("b");
    const drift = Math.max(...before.map((x, i) => Math.abs(x - player.view.place[i])));
    press("ArrowUp"); const up = player.view.place[2] - before[2], free = player.camera.value;
    player.clock.seek(0.51); press("ArrowRight"); const next = player.clock.t;
    player.clock.seek(0.51); press("ArrowLeft"); const last = player.clock.t;
    for (const motion of player.scene.motions) for (const thing of motion.things) thing.role = "sensor";
    player.frameHome();
    // A part that has channels is plotted, one plot per unit; of another the page says so.
    const plots = player.plots.count, of = player.scene.channels.findIndex((c) => c.parts?.length);
    player.select("nothing of this name"); press("Enter"); const said = player.status.textContent, none = player.plots.count - plots;
    player.plots.clear(); player.select(player.scene.channels[of].parts[0]); press("Enter");
    const shownPart = player.plots.plots.some((p) => p.channels.includes(of));
    press("Enter"); const again = player.plots.count;
    return { said, none, shownPart, again, own, open, list, side, drift, up, free, next, last, home: [...player.view.home.min.toArray(), ...player.view.home.max.toArray()] };)"));
  const Json answers = Browse(steps);
  ASSERT_EQ(answers.elements().size(), 8u);
  for (const Json& answer : answers.elements()) {
    EXPECT_THAT(answer.Find("errors")->elements(), IsEmpty())
        << *text::WriteJson(*answer.Find("errors"));
    ASSERT_EQ(answer.Find("requests")->elements().size(), 1u) << "the page itself, nothing else";
  }
  const auto value = [&](size_t i) -> const Json& { return *answers.elements()[i].Find("value"); };
  const auto number = [](const Json& object, const char* name) {
    return *object.Find(name)->number();
  };

  model::KinematicsData data(hand_);
  const Eigen::MatrixXd q = Grasp(hand_);
  for (size_t i = 0; i < 2; ++i) {
    model::ComputePoses<double>(hand_, q.col(i == 0 ? 50 : 75), &data);
    const Json& nodes = value(0).elements()[i];
    double worst = 0.0;
    for (int b = 1; b < hand_.body_count(); ++b) {
      const Json& p = nodes.elements()[static_cast<size_t>(b) - 1];
      for (int c = 0; c < 3; ++c)
        worst = std::max(worst, std::abs(*p.elements()[static_cast<size_t>(c)].number() -
                                         data.X_WB[static_cast<size_t>(b)].p[c]));
    }
    EXPECT_LT(worst, 1e-4);
  }

  const Json& contacts = value(1);
  EXPECT_EQ(number(contacts, "before"), 0);
  EXPECT_EQ(number(contacts, "now"), 2);
  // 1 cm per N from the contact point along the force (0, 0.5, 2).
  EXPECT_NEAR(*contacts.Find("tip")->elements()[1].number(), 0.005, 1e-4);
  EXPECT_NEAR(*contacts.Find("tip")->elements()[2].number(), 0.05 + 0.02, 1e-4);
  EXPECT_NEAR(*contacts.Find("total")->elements()[2].number(), 5.0, 5e-3);
  EXPECT_EQ(number(contacts, "cones"), 2);
  EXPECT_EQ(number(contacts, "sliding"), 1);
  EXPECT_EQ(number(contacts, "sticking"), 1);
  EXPECT_TRUE(*contacts.Find("hidden")->boolean()) << "a missing marker is not drawn";
  EXPECT_TRUE(*contacts.Find("seen")->boolean());
  EXPECT_EQ(*contacts.Find("title")->string(), "a <sample> & \"more\"");
  EXPECT_EQ(number(contacts, "tags"), 0) << "a name is no markup";
  EXPECT_EQ(number(contacts, "plots"), 2);

  EXPECT_NEAR(number(value(2), "a"), 0.3, 1e-9);
  EXPECT_NEAR(number(value(2), "b"), 0.3, 1e-9) << "0.2 s later, once around";
  EXPECT_NEAR(number(value(2), "end"), 0.4, 1e-9);
  EXPECT_FALSE(*value(2).Find("playing")->boolean());
  EXPECT_DOUBLE_EQ(number(value(2), "fastest"), 4);
  EXPECT_DOUBLE_EQ(number(value(2), "slowest"), 0.05);

  EXPECT_THAT(value(3).Find("failed")->elements(), IsEmpty());
  EXPECT_EQ(number(value(3), "keys"), number(value(3), "rows")) << "the help shows every key";
  EXPECT_GE(number(value(3), "keys"), 30);

  EXPECT_EQ(number(value(4), "labels"), 2) << "two views, side by side";
  const std::string hash = *value(4).Find("hash")->string();
  ASSERT_THAT(hash, HasSubstr("t=1.2300"));
  EXPECT_EQ(hash.find("loop="), std::string::npos) << "the whole is no loop that was chosen";
  Json again = Json::Array();
  again.Push(Step("await wait(300); return player.place();", hash));
  // Without WebGL: a page that says so, with its plots and its bar.
  Json bare = Step(R"(
    player.clock.seek(1.0); player.draw();
    return { said: document.querySelectorAll(".nopicture").length, failures: [...document.querySelectorAll(".failure")].filter((e) => e.textContent).length,
      plots: player.plots.count, renderer: player.view.rendererName() };)");
  bare.Set("before", R"(
    const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return /webgl/.test(kind) ? null : get.call(this, kind, ...rest); };)");
  again.Push(std::move(bare));
  const Json restored = Browse(again);
  ASSERT_EQ(restored.elements().size(), 2u);
  const Json& plain = *restored.elements()[1].Find("value");
  EXPECT_EQ(number(plain, "said"), 1);
  EXPECT_EQ(number(plain, "failures"), 0);
  EXPECT_EQ(number(plain, "plots"), 2);
  EXPECT_EQ(*plain.Find("renderer")->string(), "none");
  const Json& there = *restored.elements()[0].Find("value");
  const Json& here = *value(4).Find("place");
  EXPECT_NEAR(number(there, "t"), 1.23, 1e-9);
  EXPECT_EQ(*there.Find("selected")->string(), "palm");
  EXPECT_TRUE(*there.Find("side")->boolean());
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(*there.Find("camera")->elements()[i].number(),
                *here.Find("camera")->elements()[i].number(), 2e-5);

  const std::string svg = *value(5).Find("svg")->string();
  EXPECT_TRUE(*value(5).Find("wellFormed")->boolean());
  EXPECT_THAT(svg, HasSubstr("[deg]"));
  EXPECT_THAT(svg, HasSubstr("time [s]"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity")) << "the band";
  EXPECT_GT(number(value(5), "png"), 5000);
  EXPECT_GT(number(value(5), "colours"), 20) << "something is drawn";
  EXPECT_LE(number(value(6), "wide"), 390) << "a phone need not scroll sideways";
  EXPECT_GT(number(value(6), "canvas"), 250);

  EXPECT_THAT(*value(7).Find("said")->string(), HasSubstr("nothing of this name"));
  EXPECT_EQ(number(value(7), "none"), 0);
  EXPECT_TRUE(*value(7).Find("shownPart")->boolean()) << "Enter plots what is selected";
  EXPECT_EQ(number(value(7), "again"), 1) << "once";
  EXPECT_TRUE(*value(7).Find("own")->boolean());
  EXPECT_TRUE(*value(7).Find("open")->boolean());
  EXPECT_EQ(*value(7).Find("list")->string(), "left");
  EXPECT_TRUE(*value(7).Find("side")->boolean());
  EXPECT_LT(number(value(7), "drift"), 1e-9);
  EXPECT_GT(number(value(7), "up"), 0.01);
  EXPECT_EQ(*value(7).Find("free")->string(), "");
  EXPECT_NEAR(number(value(7), "next"), 0.52, 1e-6);
  EXPECT_NEAR(number(value(7), "last"), 0.50, 1e-6);
  const double marker[] = {0.05, 0.0, 0.1};  // the one that is seen
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(*value(7).Find("home")->elements()[i].number(), marker[i % 3], 1e-5);
}

}  // namespace
}  // namespace handhold::report::browser_test
