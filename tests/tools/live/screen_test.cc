// What a person sees: letters, the bar's colour and its reason; and keys and lines as wishes.
#include "tools/live/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tools/live/keyboard.h"

namespace handhold::live::screen_test {
namespace {

using capture::HealthSnapshot;
using capture::SessionState;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

recording::QualityItem Figure(const char* stream, const char* what, double value) {
  recording::QualityItem item;
  item.stream = stream;
  item.what = what;
  item.value = item.worst = value;
  return item;
}

HealthSnapshot Recording() {
  HealthSnapshot h;
  h.state = SessionState::kRecording;
  h.recorded = Duration::Seconds(72);
  h.take = "stroke_003";
  h.bytes = 3'200'000;
  h.sources = {{"vicon", true, true, ""}, {"plate", true, true, ""}};
  h.items = {Figure("vicon/markers", "rate_Hz", 500.02), Figure("vicon/markers", "lost_samples", 0),
             Figure("plate/wrench", "rate_Hz", 7000.1)};
  return h;
}

TEST(Screen, SaysWhatBecameOfTheLastTakeUntilTheNext) {
  HealthSnapshot armed = Recording();
  armed.state = SessionState::kArmed;
  ScreenOptions options{.columns = 80, .rows = 24, .colour = false};
  EXPECT_THAT(Screen(armed, options), Not(HasSubstr("last:")));
  options.last = "stroke_002 KEEP";
  EXPECT_THAT(Screen(armed, options), HasSubstr("\nlast: stroke_002 KEEP\n"));
  // However many figures are red, it stays in view, and so do the letters.
  for (int i = 0; i < 60; ++i) {
    armed.items.push_back(Figure("vicon/markers", "rate_Hz", 1));
    armed.items.back().stream += std::to_string(i);
    armed.items.back().red = true;
  }
  options.last = "stroke_003 DO NOT RELY ON";
  options.last_is_good = false;
  const std::string full = Screen(armed, options);
  EXPECT_THAT(full, HasSubstr("\nlast: stroke_003 DO NOT RELY ON\n"));
  EXPECT_LE(std::count(full.begin(), full.end(), '\n') + 1, 24);
  options.colour = true;
  EXPECT_THAT(Screen(armed, options), HasSubstr("\x1b[1;31mlast: stroke_003"));
  EXPECT_THAT(Screen(Recording(), options), Not(HasSubstr("last:")));
}

TEST(Screen, NamesEveryDeviceThatIsGone) {
  HealthSnapshot h = Recording();
  h.sources.push_back({"camera", false, false, "not asked for"});
  h.sources[0].connected = false;
  EXPECT_THAT(Screen(h, {.columns = 80, .colour = false}), HasSubstr("\n  vicon IS GONE"));
  h.sources[1].connected = false;
  EXPECT_THAT(Screen(h, {.columns = 80, .colour = false}), HasSubstr("\n  vicon, plate ARE GONE"));
  EXPECT_THAT(ScreenLine(h), HasSubstr("vicon, plate ARE GONE"));
}

TEST(BigText, IsFiveRowsOfLetters) {
  EXPECT_EQ(BigText("1:", 80),
            "  #\n"
            " ##     #\n"
            "  #\n"
            "  #     #\n"
            " ###\n");
  EXPECT_EQ(BigText("rec", 80), BigText("REC", 80));
  EXPECT_EQ(BigText("REC", 12), BigText("RE", 80)) << "what does not fit is left out";
}

TEST(Screen, IsGreenWhenAllIsWell) {
  const std::string screen =
      Screen(Recording(), {.columns = 80, .colour = false, .keys = "q stop"});
  EXPECT_THAT(screen, HasSubstr(BigText("REC 1:12", 80)));
  EXPECT_THAT(screen, AllOf(HasSubstr("ALL GOOD"), HasSubstr("stroke_003   3.2 MB"),
                            HasSubstr("ok    vicon   500.0 Hz"), HasSubstr("7000.1 Hz"),
                            HasSubstr("q stop"), Not(HasSubstr("\x1b")), Not(HasSubstr("RED"))));
  EXPECT_THAT(Screen(Recording(), {.columns = 80}), HasSubstr("\x1b[1;30;42m  ALL GOOD"));
  for (size_t at = 0; at < screen.size();) {
    const size_t end = std::min(screen.find('\n', at), screen.size());
    EXPECT_LE(end - at, 80u);
    at = end + 1;
  }
}

TEST(Screen, IsRedWithTheReasonUntilAcknowledged) {
  HealthSnapshot h = Recording();
  h.items[1] = Figure("vicon/markers", "lost_samples", 150);
  h.items[1].red = true;
  h.items[1].cause = "samples are missing";
  EXPECT_THAT(Screen(h, {.columns = 80}),
              AllOf(HasSubstr("\x1b[1;97;41m  LOOK: vicon/markers lost_samples"),
                    HasSubstr("RED   vicon/markers lost_samples 150, limit 0"),
                    HasSubstr("samples are missing"), Not(HasSubstr("ALL GOOD"))));
  EXPECT_THAT(ScreenLine(h), HasSubstr("recording 1:12  LOOK: vicon/markers lost_samples  vicon "
                                       "500.0 Hz lost 150  plate 7000.1 Hz"));
  // Seen, and still lost: not good.
  h.items[1].acknowledged = true;
  EXPECT_THAT(Screen(h, {.columns = 80}),
              AllOf(HasSubstr("\x1b[1;97;41m  SEEN: vicon/markers lost 150"),
                    Not(HasSubstr("ALL GOOD")), Not(HasSubstr("RED "))));
  EXPECT_THAT(ScreenLine(h), HasSubstr("SEEN: vicon/markers lost 150"));
  // What has mended is well again once it was seen.
  h.items[1] = Figure("vicon/markers", "jitter_p99_s", 0.001);
  h.items[1].red = h.items[1].acknowledged = true;
  EXPECT_THAT(Screen(h, {.columns = 80}), HasSubstr("ALL GOOD"));
}

TEST(Screen, LooksAtWhatIsRequiredFirst) {
  HealthSnapshot h = Recording();
  h.sources.insert(h.sources.begin(), {"camera", true, false, ""});
  for (const char* stream : {"camera/points", "plate/wrench"}) {
    h.items.push_back(Figure(stream, "lost_samples", 7));
    h.items.back().red = true;
  }
  EXPECT_THAT(Screen(h, {.columns = 80, .colour = false}),
              HasSubstr("LOOK: plate/wrench lost_samples and 1 more"));
}

// One outage of two devices: every stream, three figures each.
TEST(Screen, SaysHowWellTheTimesOfADeviceAreKnown) {
  HealthSnapshot h = Recording();
  h.items.push_back(Figure("vicon/markers", "last_sample_age_s", 0.003));
  h.items.push_back(Figure("vicon/markers", "visible_fraction", 1));
  h.clocks = {{"vicon/markers", 12e-6}, {"vicon/force", 25e-6}, {"plate/wrench", 8e-6}};
  EXPECT_THAT(Screen(h, {.columns = 79, .colour = false}),
              AllOf(HasSubstr("ok    vicon   500.0 Hz  last    3 ms  lost 0  visible 100 %  clock "
                              "+-25 us\n"),
                    HasSubstr("clock +-8 us")));
}

TEST(Screen, OneOutageLeavesTheLettersInView) {
  HealthSnapshot h = Recording();
  h.sources[0] = {"vicon", false, true, "cannot connect: is Vicon running?"};
  h.items.clear();
  for (const char* what : {"last_sample_age_s", "jitter_p99_s", "lost_samples"}) {
    for (const char* stream : {"vicon/markers", "vicon/plate/force", "plate/wrench"}) {
      h.items.push_back(Figure(stream, what, 7));
      h.items.back().red = true;
      h.items.back().cause = "a cause and what to do about it";
    }
  }
  const auto lines = [](const std::string& screen) {
    return 1 + std::count(screen.begin(), screen.end(), '\n');
  };
  const std::string screen =
      Screen(h, {.columns = 79, .rows = 24, .colour = false, .keys = "q stop"});
  EXPECT_LE(lines(screen), 24) << screen;
  EXPECT_THAT(screen, AllOf(HasSubstr(BigText("REC 1:12", 79)), HasSubstr("vicon IS GONE"),
                            HasSubstr("RED   vicon (2 streams) lost_samples 7, limit 0"),
                            HasSubstr("RED   plate/wrench lost_samples"), HasSubstr("a cause"),
                            HasSubstr("q stop"), Not(HasSubstr("more"))));
  const std::string few = Screen(h, {.columns = 79, .rows = 13, .colour = false, .keys = "q stop"});
  EXPECT_EQ(lines(few), 13) << few;
  EXPECT_THAT(few,
              AllOf(HasSubstr(BigText("REC 1:12", 79)), HasSubstr("GONE  vicon"),
                    HasSubstr("and 4 lines more"), HasSubstr("q stop"), Not(HasSubstr("a cause"))));
  EXPECT_LE(lines(Screen(h, {.columns = 79, .rows = 6, .colour = false, .keys = "q stop"})), 6);
}

TEST(Screen, ASourceThatFellSilentIsNotOkAndShowsNoRate) {
  HealthSnapshot h = Recording();
  h.items.push_back(Figure("vicon/markers", "last_sample_age_s", 3.04));
  h.items.push_back(Figure("plate/wrench", "last_sample_age_s", 0.002));
  EXPECT_THAT(ScreenLine(h), AllOf(HasSubstr("vicon SILENT 3.0 s"), HasSubstr("plate 7000.1 Hz")));
  EXPECT_THAT(Screen(h, {.columns = 100}),
              AllOf(HasSubstr("\x1b[1;31m  LOOK  vicon SILENT 3.0 s"), Not(HasSubstr("500.0 Hz")),
                    HasSubstr("\x1b[32m  ok    plate  7000.1 Hz")));
}

TEST(Screen, ASourceThatIsGoneIsTheFirstThingSaid) {
  HealthSnapshot h = Recording();
  h.sources[0] = {"vicon", false, true, "cannot connect: is Vicon running?"};
  EXPECT_THAT(Screen(h, {.columns = 80, .colour = false}),
              AllOf(HasSubstr("vicon IS GONE"), HasSubstr("GONE  vicon  cannot connect")));
  h.sources[0].required = false;
  EXPECT_THAT(Screen(h, {.columns = 80, .colour = false}),
              AllOf(HasSubstr("ALL GOOD"), HasSubstr("away  vicon")));
  h.trouble = "the disk is full";
  EXPECT_THAT(Screen(h, {.columns = 80, .colour = false}), HasSubstr("  the disk is full"));
}

TEST(Json, HoldsWhatAProgramNeeds) {
  HealthSnapshot h = Recording();
  h.items[0].value = std::numeric_limits<double>::quiet_NaN();
  h.clocks = {{"vicon/markers", 25e-6}};
  const Result<std::string> text = text::WriteJson(HealthJson(h));
  ASSERT_TRUE(text) << "a figure that is not known yet is null, not an error";
  EXPECT_THAT(*text, HasSubstr("\"clocks\":[{\"stream\":\"vicon/markers\","
                               "\"uncertainty_s\":2.5e-05}]"));
  EXPECT_THAT(*text, AllOf(HasSubstr("\"type\":\"health\""), HasSubstr("\"state\":\"recording\""),
                           HasSubstr("\"recorded_ns\":\"72000000000\""),
                           HasSubstr("\"value\":null"), HasSubstr("\"red\":false")));
}

TEST(Keys, AreWishes) {
  EXPECT_EQ(WishOfKey(' ').kind, Wish::kMark);
  EXPECT_EQ(WishOfKey('\n').kind, Wish::kMark);
  EXPECT_EQ(WishOfKey('a').kind, Wish::kAcknowledge);
  EXPECT_EQ(WishOfKey('r').kind, Wish::kRecord);
  EXPECT_EQ(WishOfKey('s').kind, Wish::kStop);
  EXPECT_EQ(WishOfKey('q').kind, Wish::kQuit);
  EXPECT_EQ(WishOfKey('x').kind, Wish::kNothing);
}

TEST(Lines, AreWishes) {
  EXPECT_EQ(WishOfLine("mark second grip").kind, Wish::kMark);
  EXPECT_EQ(WishOfLine("mark second grip").text, "second grip");
  EXPECT_EQ(WishOfLine("mark").text, "");
  EXPECT_EQ(WishOfLine("mark").event, "mark");
  EXPECT_EQ(WishOfLine("event stroke up and down").event, "stroke");
  EXPECT_EQ(WishOfLine("event stroke up and down").text, "up and down");
  EXPECT_EQ(WishOfLine("event").kind, Wish::kRefused);
  EXPECT_EQ(WishOfLine("stop\r").kind, Wish::kStop);
  EXPECT_EQ(WishOfLine("quit").kind, Wish::kQuit);
  EXPECT_EQ(WishOfLine("acknowledge").kind, Wish::kAcknowledge);
  EXPECT_EQ(WishOfLine("record").kind, Wish::kRecord);
  EXPECT_EQ(WishOfLine("").kind, Wish::kNothing);
}

TEST(Lines, ThatCannotBeGrantedAreRefusedWithTheReason) {
  EXPECT_EQ(WishOfLine("stopp").kind, Wish::kRefused);
  EXPECT_THAT(WishOfLine("stopp").text, HasSubstr("unknown line 'stopp'"));
  EXPECT_THAT(WishOfLine("event gr\xe4sp x").text, HasSubstr("not UTF-8"));
  EXPECT_THAT(WishOfLine("event a\tb").text, HasSubstr("event: holds a control character"));
  EXPECT_THAT(WishOfLine("event " + std::string(101, 'k')).text, HasSubstr("100 bytes"));
  EXPECT_EQ(WishOfLine("event gr\xc3\xa4sp x").kind, Wish::kMark);
}

TEST(Notes, ThatNothingCouldHoldAreRefusedByName) {
  EXPECT_TRUE(CheckNotes({.task = "gr\xc3\xa4sp", .note = "two\nlines", .tags = {"good"}}));
  EXPECT_THAT(CheckNotes({.task = "gr\xe4sp"}).error().message, HasSubstr("--task: not UTF-8"));
  EXPECT_THAT(CheckNotes({.task = "a\nb"}).error().message, HasSubstr("--task: holds a control"));
  EXPECT_THAT(CheckNotes({.task = std::string(101, 't')}).error().message, HasSubstr("100 bytes"));
  EXPECT_THAT(CheckNotes({.tags = {"good", ""}}).error().message, HasSubstr("--tag"));
  EXPECT_THAT(CheckNotes({.rating = "6"}).error().message, HasSubstr("--rating"));
  EXPECT_THAT(CheckNotes({.note = "x", .author = ""}).error().message, HasSubstr("--author"));
  StoredTake stored;
  stored.take.closed = stored.take.quality.keep = true;
  EXPECT_FALSE(stored.lost());
  stored.not_noted = "tag 'x': no";
  EXPECT_TRUE(stored.lost());
}

/// A pipe as stdin for one test.
class Stdin {
 public:
  Stdin() {
    EXPECT_EQ(pipe(pipe_), 0);
    before_ = dup(STDIN_FILENO);
    dup2(pipe_[0], STDIN_FILENO);
    close(pipe_[0]);
  }
  ~Stdin() {
    dup2(before_, STDIN_FILENO);
    close(before_);
    Close();
  }
  void Send(const std::string& text) {
    EXPECT_EQ(write(pipe_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Close() {
    if (pipe_[1] >= 0) close(pipe_[1]);
    pipe_[1] = -1;
  }

 private:
  int pipe_[2] = {-1, -1};
  int before_ = -1;
};

TEST(Lines, ThatComeTogetherHaveOneTimeAndTheLastNeedsNoEnd) {
  Stdin in;
  Keyboard keyboard(true);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "mark number " + std::to_string(i) + "\n";
  in.Send(many + "quit");
  const Timestamp before = HostNow();
  const Wish first = keyboard.Next();
  const Timestamp after = HostNow();
  EXPECT_EQ(first.text, "number 0");
  EXPECT_GE(first.at, before);
  EXPECT_LE(first.at, after);
  for (int i = 1; i < 100; ++i) {
    const Wish wish = keyboard.Next();
    EXPECT_EQ(wish.text, "number " + std::to_string(i));
    EXPECT_EQ(wish.at, first.at);
  }
  EXPECT_EQ(keyboard.Next().kind, Wish::kNothing) << "the line may go on";
  in.Close();
  EXPECT_EQ(keyboard.Next().kind, Wish::kQuit);
  EXPECT_EQ(keyboard.Next().kind, Wish::kNothing);
}

}  // namespace
}  // namespace handhold::live::screen_test
