// A simulated hand in a browser while it runs: the page draws each moment that is shown, and
// nothing else is asked of anybody.
#include "tools/viewer/hand_page.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/tools/viewer/browse.h"

namespace handhold::viewer::hand_page_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using handhold::testing::Browse;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using text::Json;

TEST(HandPageTest, ABrowserFollowsWhatIsShown) {
  const model::Skeleton hand = *model::LoadHand("hand27");
  const model::Prop ball = *model::LoadLibraryProp("ball");
  const auto page = *HandPage::Serve(0, "hand27_cylinder");
  std::atomic<bool> stop{false};
  std::atomic<int> shown{0};
  // The ball rises by a millimetre a moment, the palm by two; the index closes.
  std::thread simulates([&] {
    for (int k = 0; !stop; ++k) {
      HandMoment moment{0.033 * k, hand, hand.ZeroConfiguration(), {}, {}, {}};
      moment.q[2] += 2e-3 * k;
      moment.things.push_back({&ball, RigidTransform::Translation(Vec3(0.1, 0, 1e-3 * k))});
      for (int c = 0; c < 3; ++c)
        moment.contacts.push_back({Vec3(0.1, 0.01 * c, 0.03), Vec3::UnitZ(), Vec3(0, 0, 1.5)});
      moment.words = {{"hand", "closing"}, {"grip", "4.50 N"}};
      EXPECT_TRUE(page->Show(moment).has_value());
      shown = k;
      std::this_thread::sleep_for(std::chrono::milliseconds(33));
    }
  });
  Json steps = Json::Array();
  steps.Push(Json::Object({{"url", page->url()}, {"script", R"(
    const hand = window.handhold.hand;
    for (let i = 0; i < 100 && !(hand.time_s > 0); ++i) await wait(100);
    const place = (name) => {
      const k = hand.stage.motion.nodes.findIndex((n) => n.name === name);
      return hand.stage.nodes[k].position.z;
    };
    const first = { t: hand.time_s, ball: place("ball") };
    await wait(1000);
    return { first, t: hand.time_s, ball: place("ball"), arrows: hand.stage.contacts.arrows,
      title: document.title, text: document.body.innerText };)"}}));
  const Json answers = Browse(steps);
  stop = true;
  simulates.join();
  ASSERT_EQ(answers.elements().size(), 1u);
  const Json& answer = answers.elements()[0];
  EXPECT_THAT(answer.Find("errors")->elements(), IsEmpty())
      << *text::WriteJson(*answer.Find("errors"));
  for (const Json& request : answer.Find("requests")->elements())
    EXPECT_THAT(*request.string(), HasSubstr(page->url())) << "nothing but this server";
  const Json& value = *answer.Find("value");
  const double t = *value.Find("t")->number(), t0 = *value.Find("first")->Find("t")->number();
  EXPECT_GT(t, t0 + 0.3);
  // What is drawn is one moment, whole: its time and its ball belong together.
  EXPECT_NEAR(*value.Find("ball")->number(), 1e-3 * t / 0.033, 1e-9);
  EXPECT_NEAR(*value.Find("first")->Find("ball")->number(), 1e-3 * t0 / 0.033, 1e-9);
  EXPECT_EQ(*value.Find("arrows")->number(), 3);
  EXPECT_EQ(*value.Find("title")->string(), "hand27_cylinder");
  EXPECT_THAT(*value.Find("text")->string(), HasSubstr("4.50 N"));
  EXPECT_THAT(*value.Find("text")->string(), HasSubstr("closing"));
}

TEST(HandPageTest, WithoutAMomentThereIsNoScene) {
  const auto page = *HandPage::Serve(0, "nothing yet");
  EXPECT_THAT(page->url(), HasSubstr("127.0.0.1"));
  const auto port =
      static_cast<uint16_t>(std::stoi(page->url().substr(page->url().rfind(':') + 1)));
  const auto taken = HandPage::Serve(port, "second");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace handhold::viewer::hand_page_test
