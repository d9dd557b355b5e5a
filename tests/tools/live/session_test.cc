// A session with all its threads, as the verbs run it, at what the thread sanitizer can see whole:
// a simulated force sensor and a played clip, no vendor library.
#include "tools/live/session.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>

#include "capture/simulator/pattern_feed.h"
#include "database/store/clip_reader.h"
#include "database/store/clip_writer.h"
#include "tools/live/screen.h"

namespace handhold::live::session_test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class SessionTest : public ::testing::Test {
 protected:
  SessionTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("session_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~SessionTest() override { std::filesystem::remove_all(folder_); }

  static capture::Rig ForceRig() {
    capture::Rig rig = capture::FindRig("demo").value();
    std::erase_if(rig.sources, [](const capture::RigSource& source) {
      return source.kind != capture::RigSource::Kind::kNetFt;
    });
    return rig;
  }
  /// Records while another thread looks and steers as a screen and a program would; the wishes come
  /// one per quarter of a second.
  StoredTake Record(const capture::Rig& rig, const Rehearsal* rehearsal) {
    SessionOptions options;
    options.library = (folder_ / "lib").string();
    options.rehearsal = rehearsal;
    options.notes.task = "touch";
    options.notes.subject = subject_;
    auto session = Session::Open(rig, std::move(options));
    EXPECT_TRUE(session) << session.error().message;
    const auto lines = (*session)->Check();
    EXPECT_TRUE(lines);
    for (const capture::CheckLine& line : *lines) EXPECT_TRUE(line.ok) << line.text;
    std::vector<std::string> said;
    int watched = 0;
    Timestamp next = HostNow() + Duration::Milliseconds(250);
    std::vector<Wish> wishes = {{Wish::kRecord, ""},      {Wish::kMark, "one"},
                                {Wish::kAcknowledge, ""}, {Wish::kMark, "two"},
                                {Wish::kNothing, ""},     {Wish::kStop, ""}};
    Operator op;
    op.say = [&](std::string_view text) { said.emplace_back(text); };
    op.watch = [&](const capture::HealthSnapshot& health) {
      EXPECT_FALSE(Screen(health, {}).empty());
      ++watched;
    };
    op.wish = [&] {
      const bool recording = std::find(said.begin(), said.end(), "RECORDING") != said.end();
      if (HostNow() < next || wishes.empty() || (!recording && wishes.size() < 6)) return Wish();
      next = HostNow() + Duration::Milliseconds(250);
      const Wish wish = wishes.front();
      wishes.erase(wishes.begin());
      return wish;
    };
    const Status armed = (*session)->Arm(op);
    EXPECT_TRUE(armed) << armed.error().message;
    EXPECT_TRUE((*session)->AwaitRecord(op));
    auto stored = (*session)->RecordTake(op);
    EXPECT_TRUE(stored) << stored.error().message;
    EXPECT_GT(watched, 2);
    said_ = said;
    EXPECT_TRUE((*session)->Disarm());
    return *std::move(stored);
  }

  /// In front of a simulated force sensor that plays again and again; null: it failed, as said.
  std::unique_ptr<Session> CheckedForceSession() {
    capture::PatternOptions pattern;
    pattern.force_rate_hz = 1000;
    feed_ = std::make_unique<capture::PatternFeed>(pattern);
    RehearsalOptions rehearse;
    rehearse.lead = Duration::Milliseconds(100);
    rehearse.loop = true;
    auto rehearsal = Rehearsal::Start(ForceRig(), *feed_, std::move(rehearse));
    EXPECT_TRUE(rehearsal) << rehearsal.error().message;
    if (!rehearsal) return nullptr;
    rehearsal_ = *std::move(rehearsal);
    SessionOptions options;
    options.library = (folder_ / "lib").string();
    options.rehearsal = rehearsal_.get();
    options.notes.tags = {"early"};
    auto session = Session::Open(ForceRig(), std::move(options));
    EXPECT_TRUE(session) << session.error().message;
    if (!session) return nullptr;
    EXPECT_TRUE((*session)->Check());
    return *std::move(session);
  }

  /// How often a subject was said to be new in the last Record.
  int64_t FirstTimes() const {
    return std::ranges::count_if(said_, [this](const std::string& line) {
      return line.starts_with("first time seen") &&
             line.find("'" + subject_ + "'") != std::string::npos;
    });
  }

  std::filesystem::path folder_;
  std::string subject_ = "S03";
  std::vector<std::string> said_;
  std::unique_ptr<capture::PatternFeed> feed_;
  std::unique_ptr<Rehearsal> rehearsal_;
};

TEST_F(SessionTest, RecordsMarksStoresAndPlaysBackBesideALiveSensor) {
  capture::PatternOptions pattern;
  pattern.marker_rate_hz = 100;
  pattern.marker_count = 2;
  pattern.force_rate_hz = 1000;
  const capture::PatternFeed feed(pattern);
  RehearsalOptions options;
  options.lead = Duration::Milliseconds(100);
  options.loop = true;
  const capture::Rig rig = ForceRig();
  auto rehearsal = Rehearsal::Start(rig, feed, std::move(options));
  ASSERT_TRUE(rehearsal) << rehearsal.error().message;

  const StoredTake first = Record(rig, rehearsal->get());
  EXPECT_EQ(first.take.info.name, "touch_001");
  EXPECT_EQ(FirstTimes(), 1) << "a new subject, or a misspelt one";
  EXPECT_THAT(first.take.gaps, IsEmpty()) << first.take.page;
  auto clip = store::ClipReader::Open(first.take.path);
  ASSERT_TRUE(clip) << clip.error().message;
  ASSERT_THAT((*clip)->events(), SizeIs(2));
  EXPECT_EQ((*clip)->events()[1].text, "two");
  EXPECT_LT((*clip)->events()[0].clip_time, (*clip)->events()[1].clip_time);

  capture::Rig both = (*rehearsal)->rig();
  capture::RigSource played;
  played.name = "past";
  played.kind = capture::RigSource::Kind::kPlayback;
  played.clip = first.take.path;
  played.loop = true;
  both.sources.push_back(played);
  const StoredTake second = Record(both, nullptr);
  EXPECT_EQ(second.take.info.name, "touch_002");
  EXPECT_EQ(FirstTimes(), 0) << "known by now";
  EXPECT_THAT(second.take.gaps, IsEmpty()) << second.take.page;
  auto again = store::ClipReader::Open(second.take.path);
  ASSERT_TRUE(again) << again.error().message;
  // One stream of the sensor and its like of the clip, apart though they have one name.
  EXPECT_GE((*again)->streams().size(), 4u) << second.take.page;
}

// What a disk that stands still does to whoever makes a file there, a program that holds the
// library does as well.
TEST_F(SessionTest, WhileTheTakesFileIsWaitedForTheOperatorIsToldAndHeard) {
  const auto session = CheckedForceSession();
  ASSERT_TRUE(session);

  std::vector<std::string> said;
  const auto has_said = [&](std::string_view text) {
    return std::ranges::any_of(said,
                               [&](const std::string& line) { return line.starts_with(text); });
  };
  int shown_waiting = 0;
  std::vector<Wish> wishes = {{Wish::kMark, "too early"}, {Wish::kQuit, ""}};
  int asked_at_once = 0;
  std::shared_ptr<void> held;
  Operator op;
  op.say = [&](std::string_view text) { said.emplace_back(text); };
  op.watch = [&](const capture::HealthSnapshot& health) {
    if (health.trouble.starts_with("making the take's file takes long")) ++shown_waiting;
  };
  op.wish = [&] {
    asked_at_once += held && !has_said("RED: making") ? 1 : 0;
    if (!held || !has_said("RED: making the take's file takes long") || wishes.empty()) {
      if (has_said("heard: ")) held.reset();
      return Wish();
    }
    const Wish wish = wishes.front();
    wishes.erase(wishes.begin());
    return wish;
  };
  ASSERT_TRUE(session->Arm(op));
  auto other = store::Library::Open((folder_ / "lib").string());
  ASSERT_TRUE(other) << other.error().message;
  auto names = (*other)->HoldNames();
  ASSERT_TRUE(names) << names.error().message;
  held = *std::move(names);

  const auto stored = session->RecordTake(op);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_TRUE(stored->leave);
  EXPECT_GE(shown_waiting, 2);
  EXPECT_GE(asked_at_once, 10) << "keys wait for what takes long to be told";
  EXPECT_TRUE(has_said("heard: it ends as soon as the disk answers"));
  EXPECT_TRUE(has_said("no mark 'too early': it came before RECORDING"));
  EXPECT_THAT(stored->not_noted, IsEmpty());
  const auto row = (*other)->FindClip(stored->take.info.name);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->id, stored->take.info.id.ToString());
}

// A misspelt prop was found out after the session, by the first fit.
TEST_F(SessionTest, APropThatDoesNotExistIsSaidByTheCheck) {
  capture::PatternOptions pattern;
  pattern.force_rate_hz = 1000;
  const capture::PatternFeed feed(pattern);
  RehearsalOptions options;
  options.loop = true;
  auto rehearsal = Rehearsal::Start(ForceRig(), feed, std::move(options));
  ASSERT_TRUE(rehearsal) << rehearsal.error().message;
  for (const char* model : {"flat_plate", "flat_plat", ""}) {
    capture::Rig rig = (*rehearsal)->rig();
    rig.things = {{.name = "plate", .model = model}};
    auto session = Session::Open(rig, {});
    ASSERT_TRUE(session) << session.error().message;
    const auto lines = (*session)->Check();
    ASSERT_TRUE(lines);
    const auto wrong = std::ranges::count_if(*lines, [](const capture::CheckLine& line) {
      return !line.ok && line.text.find("'flat_plat'") != std::string::npos &&
             line.text.find("did you mean 'flat_plate'") != std::string::npos;
    });
    EXPECT_EQ(wrong, std::string(model) == "flat_plat" ? 1 : 0) << model;
    EXPECT_FALSE(Session::Missing(*lines));
    EXPECT_TRUE((*session)->Health().watching) << "without a library nothing is recorded";
  }
}

TEST_F(SessionTest, AWishToEndThatCameBeforeTheTakeKeepsItFromBeginning) {
  const auto session = CheckedForceSession();
  ASSERT_TRUE(session);
  Operator op;
  bool interrupted = false;
  op.interrupted = [&] { return interrupted; };
  ASSERT_TRUE(session->Arm(op));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // all flows: only the wish is
                                                                // against
  interrupted = true;
  const auto stored = session->RecordTake(op);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "lib" / "clips"));
}

TEST_F(SessionTest, RecordersThatStartAtOnceNeverShareAName) {
  capture::PatternOptions pattern;
  pattern.force_rate_hz = 1000;
  const capture::PatternFeed feed(pattern);
  RehearsalOptions options;
  options.lead = Duration::Milliseconds(100);
  options.loop = true;
  auto rehearsal = Rehearsal::Start(ForceRig(), feed, std::move(options));
  ASSERT_TRUE(rehearsal) << rehearsal.error().message;
  const StoredTake first = Record(ForceRig(), rehearsal->get());

  capture::Rig rig = ForceRig();  // the take played: a device that any number of programs may read
  rig.sources.clear();
  capture::RigSource played;
  played.name = "past";
  played.kind = capture::RigSource::Kind::kPlayback;
  played.clip = first.take.path;
  played.loop = true;
  rig.sources.push_back(played);
  constexpr int kRecorders = 6;
  std::vector<std::string> names(kRecorders);
  std::vector<std::thread> threads;
  for (int i = 0; i < kRecorders; ++i) {
    threads.emplace_back([&, i] {
      SessionOptions own;
      own.library = (folder_ / "lib").string();
      own.notes.task = "touch";
      own.notes.stop_after = Duration::Milliseconds(300);
      auto session = Session::Open(rig, std::move(own));
      if (!session || !(*session)->Check() || !(*session)->Arm({})) return;
      if (auto stored = (*session)->RecordTake({}); stored) names[i] = stored->take.info.name;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names, ::testing::ElementsAre("touch_002", "touch_003", "touch_004", "touch_005",
                                            "touch_006", "touch_007"));
}

// Armed by key, a stop while streams are waited for goes back to armed; leaving is leaving.
TEST_F(SessionTest, AStopOrALeaveWhileStreamsAreWaitedForIsToldApartAndKeepsNothing) {
  capture::PatternOptions pattern;
  pattern.force_rate_hz = 1000;
  const capture::PatternFeed feed(pattern);
  RehearsalOptions options;
  options.loop = true;
  for (const Wish::Kind kind : {Wish::kStop, Wish::kQuit}) {
    auto rehearsal = Rehearsal::Start(ForceRig(), feed, options);
    ASSERT_TRUE(rehearsal) << rehearsal.error().message;
    SessionOptions own;
    own.library = (folder_ / "lib").string();
    auto session = Session::Open((*rehearsal)->rig(), std::move(own));
    ASSERT_TRUE(session) << session.error().message;
    ASSERT_TRUE((*session)->Check());
    ASSERT_TRUE((*session)->Arm({}));
    // The sensor dies, for longer than a stream may be silent and count as flowing.
    rehearsal->reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    Operator op;
    op.wish = [&] { return Wish{kind, ""}; };
    const auto stored = (*session)->RecordTake(op);
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code, ErrorCode::kCancelled) << stored.error().message;
    EXPECT_EQ((*session)->left(), kind == Wish::kQuit);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "lib" / "clips"));
    EXPECT_TRUE((*session)->Disarm());
  }
}

TEST_F(SessionTest, ATakeWhoseFileIsGoneIsNotShownAsGood) {
  capture::PatternOptions pattern;
  pattern.force_rate_hz = 1000;
  const capture::PatternFeed feed(pattern);
  RehearsalOptions options;
  options.lead = Duration::Milliseconds(100);
  options.loop = true;
  auto rehearsal = Rehearsal::Start(ForceRig(), feed, std::move(options));
  ASSERT_TRUE(rehearsal) << rehearsal.error().message;
  SessionOptions own;
  own.library = (folder_ / "lib").string();
  auto session = Session::Open((*rehearsal)->rig(), std::move(own));
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE((*session)->Check());
  Operator op;
  int looks = 0, red = 0, told = 0;
  const std::filesystem::path clips = folder_ / "lib" / "clips", away = folder_ / "away";
  op.say = [&](std::string_view text) { told += text.find("is gone") != text.npos ? 1 : 0; };
  op.watch = [&](const capture::HealthSnapshot& health) {
    if (health.state != capture::SessionState::kRecording) return;
    ++looks;
    if (looks == 2) std::filesystem::rename(clips, away);
    if (looks == 5) std::filesystem::rename(away, clips);
    if (looks < 3 || looks > 5) {
      EXPECT_THAT(health.trouble, IsEmpty()) << "look " << looks;
    } else {
      EXPECT_THAT(health.trouble, ::testing::HasSubstr("file is gone"));
      EXPECT_TRUE(health.red());
      ++red;
    }
  };
  op.wish = [&] { return Wish{looks < 8 ? Wish::kNothing : Wish::kStop, ""}; };
  ASSERT_TRUE((*session)->Arm(op));
  ASSERT_TRUE((*session)->RecordTake(op));
  EXPECT_EQ(red, 3);
  EXPECT_EQ(told, 1);
}

// As a recorder that was killed leaves it.
TEST_F(SessionTest, ATakeThatNoCatalogueKnowsIsFoundByItsNameAndSaidToBeUnfinished) {
  auto library = store::Library::Create((folder_ / "lib").string());
  ASSERT_TRUE(library);
  recording::ClipInfo asked;
  asked.task = "touch";
  auto info = (*library)->NewTake(asked);
  ASSERT_TRUE(info);
  ASSERT_TRUE(store::ClipWriter::Create((*library)->ClipPath(info->id), *info, {}));
  const auto found = (*library)->FindClip("touch_001");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, ::testing::AllOf(::testing::HasSubstr(info->id.ToString()),
                                                      ::testing::HasSubstr("rebuild --finish")));
  EXPECT_EQ((*library)->NewTake(asked)->name, "touch_002");
}

}  // namespace
}  // namespace handhold::live::session_test
