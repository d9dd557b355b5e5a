// The library, a take and a live recording as a browser shows them, from the server itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shown_library.h"
#include "tests/tools/viewer/browse.h"
#include "tools/viewer/http/server.h"
#include "tools/viewer/site.h"

namespace handhold::viewer::pages_test {
namespace {

using handhold::testing::Browse;
using handhold::testing::ShownLibrary;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using text::Json;

TEST(PagesTest, LibraryTakeAndLive) {
  ShownLibrary shown("served");
  ASSERT_TRUE(shown.Say(store::LedgerKind::kTag, "good", ""));
  ASSERT_TRUE(shown.Say(store::LedgerKind::kRating, "", "4"));
  auto listener = *live::LiveListener::Open(0);
  auto publisher = *live::LivePublisher::Open(listener->port());
  capture::HealthSnapshot health;
  health.state = capture::SessionState::kRecording, health.take = "stroke_002";
  health.sources = {{"vicon", false, true, "no answer"}};
  capture::NewestSample force;
  force.sensor = "plate", force.normal_force_N = 2.25, force.peak_normal_force_N = 3.5;
  capture::NewestSample markers;
  markers.info.kind = recording::StreamKind::kMarkers, markers.info.name = "vicon/markers";
  for (const char* c : {"TIP.x", "TIP.y", "TIP.z"}) markers.info.channels.push_back({c, "m"});
  markers.values.assign(3, std::numeric_limits<double>::quiet_NaN());
  health.newest = {force, markers};
  for (int i = 0; i < 100 && !listener->Newest(); ++i) {
    publisher.Say(health);
    capture::wire::SleepUntil(HostNow() + Duration::Milliseconds(20));
  }

  const auto server = *Server::Start({}, [&]() -> Result<Handler> {
    HANDHOLD_ASSIGN(std::shared_ptr<Site> site, Site::Open(shown.library->path(), listener.get()));
    return Handler([site](const Request& r) { return site->Answer(r); });
  });
  const std::string root = "http://" + server->address().ToString();
  Json steps = Json::Array();
  steps.Push(Json::Object({{"url", root + "/"}, {"script", R"(
    for (let i = 0; i < 50 && ![...document.images].every((m) => m.complete); ++i) await wait(100);
    const rows = () => document.querySelectorAll(".clips tbody tr").length;
    const before = rows(), facets = document.querySelectorAll(".facets label").length;
    const input = document.querySelector("input[type=search]");
    const ask = async (text) => { input.value = text; document.querySelector("form").requestSubmit(); await wait(500); return rows(); };
    const hard = await ask("peak(normal_force) > 2 N"), harder = await ask("peak(normal_force) > 4 N");
    const hash = location.hash;
    const wrong = await ask("peek(x) > 1");
    return { before, facets, hard, harder, hash, wrong, said: document.querySelector(".answer").textContent,
      quality: document.querySelector(".quality")?.textContent, thumb: document.images[0]?.naturalWidth };)"}}));
  steps.Push(Json::Object({{"url", root + "/clip/" + shown.clip.row.id}, {"script", R"(
    return { title: document.title, sections: document.querySelectorAll(".section").length, motions: player.scene.motions.length,
      back: document.querySelector("header a").href, text: document.body.innerText };)"}}));
  steps.Push(Json::Object({{"url", root + "/live"}, {"script", R"(
    await wait(600);
    return { text: document.body.innerText };)"}}));
  const Json answers = Browse(steps);
  ASSERT_EQ(answers.elements().size(), 3u);
  for (const Json& answer : answers.elements()) {
    EXPECT_THAT(answer.Find("errors")->elements(), IsEmpty())
        << *text::WriteJson(*answer.Find("errors"));
    for (const Json& request : answer.Find("requests")->elements())
      EXPECT_THAT(*request.string(), HasSubstr(root)) << "nothing but this server";
  }
  const Json& list = *answers.elements()[0].Find("value");
  EXPECT_EQ(*list.Find("before")->integer(), 1);
  EXPECT_EQ(*list.Find("hard")->integer(), 1);
  EXPECT_EQ(*list.Find("harder")->integer(), 0);
  EXPECT_THAT(*list.Find("hash")->string(), HasSubstr("q=peak")) << "a link that others can open";
  EXPECT_THAT(*list.Find("said")->string(), HasSubstr("peek"));
  EXPECT_EQ(*list.Find("quality")->string(), "whole");
  EXPECT_EQ(*list.Find("thumb")->integer(), 192);
  const Json& take = *answers.elements()[1].Find("value");
  EXPECT_EQ(*take.Find("title")->string(), shown.clip.row.name);
  EXPECT_GE(*take.Find("sections")->integer(), 7);
  EXPECT_EQ(*take.Find("motions")->integer(), 2);
  EXPECT_EQ(*take.Find("back")->string(), root + "/");
  EXPECT_THAT(*take.Find("text")->string(), HasSubstr("good"));
  const std::string live = *answers.elements()[2].Find("value")->Find("text")->string();
  for (const char* said :
       {"recording: stroke_002", "2.25 N", "peak 3.50 N", "hidden: TIP", "vicon: no answer"})
    EXPECT_THAT(live, HasSubstr(said));
}

}  // namespace
}  // namespace handhold::viewer::pages_test
