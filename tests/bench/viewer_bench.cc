// The player in Debian's Chromium, headless: script time of a frame and the size of a page, with a
// minute of hand57 at 500 Hz, a prop of 10,000 triangles and five plots.
#include "tests/support/bench.h"

#include <cmath>
#include <filesystem>
#include <random>

#include "database/model/hand_library.h"
#include "database/text/file.h"
#include "tests/support/command.h"
#include "tools/report/page.h"
#include "tools/report/scene_fill.h"

namespace handhold {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

const int kFrames = bench::Brief() ? 500 : 30'000;  // a minute at 500 Hz

template <typename T>
T Or(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

/// A closed, bumpy ball: 2 x 50 x 100 triangles, less those of the poles.
geometry::Mesh BumpyBall() {
  constexpr int kRings = 51, kAround = 100;
  geometry::Mesh mesh;
  for (int r = 0; r <= kRings; ++r) {
    for (int a = 0; a < kAround; ++a) {
      const double u = M_PI * r / kRings, v = 2 * M_PI * a / kAround;
      const double size = 0.04 + 0.002 * std::sin(9 * u) * std::cos(7 * v);
      mesh.vertices.emplace_back(size * std::sin(u) * std::cos(v), size * std::sin(u) * std::sin(v),
                                 size * std::cos(u));
    }
  }
  for (uint32_t r = 0; r < kRings; ++r) {
    for (uint32_t a = 0; a < kAround; ++a) {
      const uint32_t b = (a + 1) % kAround, low = r * kAround, high = low + kAround;
      if (r > 0) mesh.triangles.push_back({low + a, high + a, low + b});
      if (r + 1 < kRings) mesh.triangles.push_back({low + b, high + a, high + b});
    }
  }
  return mesh;
}

report::Scene Minute(size_t* triangles) {
  const model::Skeleton hand = Or(model::LoadHand("hand57"));
  report::Scene scene;
  scene.title = "a minute";
  std::mt19937 random(1);
  std::normal_distribution<double> noise;
  Eigen::MatrixXd q(hand.nq(), kFrames);
  std::vector<Timestamp> times;
  for (int k = 0; k < kFrames; ++k) {
    const double t = 0.002 * k;
    Eigen::VectorXd v(hand.nv());
    for (int d = 0; d < v.size(); ++d)
      v[d] = 0.4 * std::sin(2.0 * t + d) + 0.002 * noise(random);  // as fitted poses tremble
    q.col(k) = hand.Integrate(hand.ZeroConfiguration(), v);
    times.push_back(Timestamp::FromNanoseconds(2'000'000LL * k));
  }
  const report::SceneLimits limits;
  const std::vector<int> frames = report::ShownFrames(times.size(), limits.frames);
  const int time = scene.AddTimes(report::SecondsOf(times, frames));
  report::SceneMotion motion{.name = "grasp", .source = "fitted"};
  report::AddHand("R", hand, q, frames, time, &scene, &motion);
  model::Prop prop;
  prop.name = "ball";
  const geometry::Mesh mesh = BumpyBall();
  *triangles = mesh.triangles.size();
  prop.shapes.push_back(
      {.name = "ball", .X_PS = {}, .shape = Or(geometry::MakeTriangleMesh(mesh)), .source = ""});
  std::vector<RigidTransform> poses;
  report::SceneContacts& c = motion.contacts;
  c.time = time, c.touches = {"R on ball"};
  for (size_t i = 0; i < frames.size(); ++i) {
    const double t = 0.01 * static_cast<double>(i);
    poses.push_back({geometry::Exp<double>(Vec3(0.3 * std::sin(t), 0.1 * t, 0)),
                     Vec3(0.12, 0.02 * std::sin(t), 0.01 * noise(random) * 0.01)});
    for (int row = 0; row < 5; ++row) {
      c.frame.push_back(static_cast<int>(i)), c.touch.push_back(0);
      c.p_W.push_back(Vec3(0.1, 0.01 * row, 0.02)), c.normal_W.push_back(Vec3::UnitZ());
      c.f_onHand_W.push_back(Vec3(noise(random) * 0.1, 0, 1 + std::sin(t)));
      c.friction.push_back(0.5), c.slip_m_per_s.push_back(0.0);
    }
  }
  report::AddProp("ball", "prop", prop, poses, time, &scene, &motion);
  scene.motions.push_back(std::move(motion));
  std::vector<double> fine, y;
  for (int i = 0; i < 420'000; ++i) fine.push_back(i / 7000.0), y.push_back(0);
  for (int plot = 0; plot < 5; ++plot) {
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = 2 + std::sin(fine[i] * (1 + plot)) + 0.02 * noise(random);
    report::AddCurve("force " + std::to_string(plot), "force", "N", -1, fine, y, limits.points,
                     &scene);
    scene.plots.push_back({plot});
  }
  if (const Status fits = report::CheckScene(scene); !fits)
    throw std::runtime_error(fits.error().message);
  return scene;
}

Json Play(const std::string& page) {
  const std::string steps = page + ".steps.json";
  // Every frame of the wall clock is drawn for 8 s at normal speed; the first are the compiler's.
  const std::string times =
      bench::Brief() ? "const first = 100, length = 1500;" : "const first = 2000, length = 8000;";
  const Json step = Json::Object(
      {{"url", "file://" + page}, {"width", 1400}, {"height", 860}, {"script", times + R"(
    player.setSide(false); player.clock.toggle();
    await wait(first); player.frameTimes.length = 0; const from = player.frames, began = performance.now();
    await wait(length);
    const times = [...player.frameTimes].sort((a, b) => a - b);
    return { median: times[times.length >> 1], p95: times[Math.floor(times.length * 0.95)], frames_per_s: 1000 * (player.frames - from) / (performance.now() - began),
      renderer: player.view.rendererName(), plots: player.plots.count };)"}});
  if (!text::WriteJsonFile(steps, Json::Array({step}))) throw std::runtime_error(steps);
  const auto run = support::RunCommand(
      HANDHOLD_PREFIX "/node/bin/node " HANDHOLD_SOURCE_DIR
                      "/tests/tools/viewer/browse.mjs " HANDHOLD_PREFIX "/viewer/node_modules " +
      steps);
  const Json answers = Or(text::ParseJson(run.output));
  const Json& answer = answers.elements().at(0);
  if (!answer.Find("errors")->elements().empty())
    throw std::runtime_error(*text::WriteJson(*answer.Find("errors")));
  return *answer.Find("value");
}

}  // namespace
}  // namespace handhold

int main(int argc, char** argv) {
  using namespace handhold;
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    size_t triangles = 0;
    const report::Scene scene = Minute(&triangles);
    const std::string page = Or(
        report::PageWith(Json::Object({{"page", "scene"}, {"scene", report::SceneToJson(scene)}})));
    const std::string path = std::filesystem::temp_directory_path() / "handhold_viewer_bench.html";
    if (!text::WriteTextFile(path, page)) throw std::runtime_error(path);
    std::vector<double> median, rate;
    std::string renderer;
    for (int i = 0; i < (Brief() ? 1 : 3); ++i) {
      const Json seen = Play(path);
      median.push_back(*seen.Find("median")->number());
      rate.push_back(*seen.Find("frames_per_s")->number());
      renderer = *seen.Find("renderer")->string();
      std::fprintf(
          stderr, "script %.2f ms (p95 %.2f), %.1f frames/s, %lld plots, %zu triangles, %s\n",
          median.back(), *seen.Find("p95")->number(), rate.back(),
          static_cast<long long>(*seen.Find("plots")->integer()), triangles, renderer.c_str());
    }
    reporter.Report("viewer.script",
                    {.value = Summarise(median), .unit = "ms/frame", .goal = Goal::SpeedAtMost(8)});
    reporter.Report(
        "viewer.frames",
        {.value = Summarise(rate), .unit = "frames/s, " + renderer, .goal = Goal::None()});
    reporter.Report("viewer.page_size",
                    {.value = Summarise({1e-6 * static_cast<double>(page.size())}),
                     .unit = "MB",
                     .goal = Goal::AtMost(3)});
    std::filesystem::remove(path);
  });
}
