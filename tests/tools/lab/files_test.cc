// Feeds and truth as files: what was written comes back, and damage is an error.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "database/text/file.h"
#include "tools/lab/subject.h"
#include "tools/lab/truth.h"

namespace handhold::lab::files_test {
namespace {

SubjectOptions SmallOptions() {
  SubjectOptions options;
  options.plan = Plan::OneStroke();
  options.plan.knocks = 1;
  options.counterfactual_friction = {};
  options.sensor.occlusions_per_minute = 20;
  options.sensor.marker_clock_ppm = 40;
  return options;
}
const Subject& Small() {
  static const Subject subject = MakeSubject(SmallOptions()).value();
  return subject;
}
std::filesystem::path Folder() {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "handhold_lab_files_test";
  std::filesystem::create_directories(folder);
  return folder;
}

// Bits, so that NaN equals NaN.
template <typename M>
bool SameBits(const M& a, const M& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size()) * sizeof(double)) == 0);
}

TEST(FeedFile, ComesBackToTheBit) {
  const std::string path = (Folder() / "a.feed").string();
  ASSERT_TRUE(WriteFeed(Small().feed, path));
  const SensorFeed back = ReadFeed(path).value();
  const SensorFeed::Data &a = Small().feed.data(), &b = back.data();
  EXPECT_EQ(a.subject, b.subject);
  EXPECT_EQ(a.marker_names, b.marker_names);
  EXPECT_EQ(a.wrench_S, b.wrench_S);
  ASSERT_EQ(a.markers_m.size(), b.markers_m.size());
  EXPECT_EQ(std::memcmp(a.markers_m.data(), b.markers_m.data(), a.markers_m.size() * sizeof(float)),
            0);
  EXPECT_EQ(a.marker_clock_ppm, b.marker_clock_ppm);
  EXPECT_EQ(a.events.size(), b.events.size());
  EXPECT_EQ(a.takes.size(), b.takes.size());
  EXPECT_TRUE(SameBits(a.sensor.X_MS.R, b.sensor.X_MS.R));
  EXPECT_EQ(a.sensor.normal_S, b.sensor.normal_S);
  EXPECT_EQ(a.sensor.calibration, b.sensor.calibration);
  int hidden = 0;
  for (const float v : a.markers_m) hidden += std::isnan(v);
  EXPECT_EQ(hidden % (3 * 40), 0);  // whole occlusions of 80 ms of one marker each
  EXPECT_GT(hidden, 0);
}

TEST(FeedFile, HoldsNothingPlanted) {
  const std::string path = (Folder() / "b.feed").string();
  ASSERT_TRUE(WriteFeed(Small().feed, path));
  const std::string bytes = text::ReadTextFile(path).value();
  const std::string header = bytes.substr(0, bytes.find("\n}") + 2);
  for (const char* word : {"complian", "stiff", "friction", "impedance", "posture", "seed", "speed",
                           "truth", "0.3488", "force_N"}) {
    EXPECT_EQ(header.find(word), std::string::npos) << word;
  }
}

TEST(FeedFile, DamageIsAnError) {
  const std::string path = (Folder() / "c.feed").string();
  ASSERT_TRUE(WriteFeed(Small().feed, path));
  const std::string bytes = text::ReadTextFile(path).value();
  EXPECT_EQ(ReadFeed((Folder() / "none.feed").string()).error().code, ErrorCode::kNotFound);
  for (const size_t length : {size_t{0}, size_t{7}, size_t{20}, size_t{900}, bytes.size() - 1}) {
    ASSERT_TRUE(text::WriteTextFile(path, std::string_view(bytes).substr(0, length)));
    EXPECT_FALSE(ReadFeed(path)) << length;
  }
  std::string longer = bytes + "x", huge = bytes;
  ASSERT_TRUE(text::WriteTextFile(path, longer));
  EXPECT_FALSE(ReadFeed(path));
  for (size_t i = 8; i < 16; ++i) huge[i] = '\xff';
  ASSERT_TRUE(text::WriteTextFile(path, huge));
  EXPECT_FALSE(ReadFeed(path));
}

TEST(TruthFiles, ComeBackToTheBit) {
  const std::string folder = (Folder() / "truth").string();
  const Truth& a = Small().truth;
  ASSERT_TRUE(WriteTruth(a, folder));
  const Truth b = ReadTruth(folder).value();
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.redrawn, b.redrawn);
  ASSERT_EQ(a.runs.size(), b.runs.size());
  for (size_t r = 0; r < a.runs.size(); ++r) {
    EXPECT_EQ(a.runs[r].name, b.runs[r].name);
    EXPECT_EQ(a.runs[r].friction, b.runs[r].friction);
    EXPECT_TRUE(SameBits(a.runs[r].session.theta, b.runs[r].session.theta));
    EXPECT_TRUE(SameBits(a.runs[r].session.p_W_tip, b.runs[r].session.p_W_tip));
    ASSERT_EQ(a.runs[r].strokes.size(), b.runs[r].strokes.size());
    for (size_t s = 0; s < a.runs[r].strokes.size(); ++s) {
      const TruthSeries &x = a.runs[r].strokes[s], &y = b.runs[r].strokes[s];
      EXPECT_EQ(x.begin_s, y.begin_s);
      EXPECT_EQ(x.rate_hz, y.rate_hz);
      for (const auto member :
           {&TruthSeries::theta, &TruthSeries::p_W_tip, &TruthSeries::theta_dot,
            &TruthSeries::f_onHand_W, &TruthSeries::p_W_contact, &TruthSeries::normal_W}) {
        EXPECT_TRUE(SameBits(x.*member, y.*member));
      }
      EXPECT_TRUE(SameBits(x.slip_m_per_s, y.slip_m_per_s));
    }
    ASSERT_EQ(a.runs[r].contacts.size(), b.runs[r].contacts.size());
    for (size_t c = 0; c < a.runs[r].contacts.size(); ++c) {
      EXPECT_EQ(a.runs[r].contacts[c].stroke, b.runs[r].contacts[c].stroke);
      EXPECT_EQ(a.runs[r].contacts[c].onset_s, b.runs[r].contacts[c].onset_s);
      EXPECT_EQ(a.runs[r].contacts[c].peak_normal_force_N,
                b.runs[r].contacts[c].peak_normal_force_N);
    }
  }
  ASSERT_EQ(a.strokes.size(), b.strokes.size());
  for (size_t s = 0; s < a.strokes.size(); ++s) {
    EXPECT_EQ(a.strokes[s].p_W_touch, b.strokes[s].p_W_touch);
    EXPECT_EQ(a.strokes[s].posture, b.strokes[s].posture);
    EXPECT_TRUE(SameBits(a.X_WBumped[s].R, b.X_WBumped[s].R));
    EXPECT_EQ(a.X_WBumped[s].p, b.X_WBumped[s].p);
  }
  EXPECT_EQ(a.FindImpedance("exploring")->compliance_rad_per_Nm,
            b.FindImpedance("exploring")->compliance_rad_per_Nm);
  EXPECT_EQ(a.skeleton->markers()[3].p_BM, b.skeleton->markers()[3].p_BM);
  ASSERT_EQ(a.knocks.size(), b.knocks.size());
  EXPECT_EQ(a.knocks[0].begin_s, b.knocks[0].begin_s);

  const std::string series = folder + "/captured.f64";
  const std::string bytes = text::ReadTextFile(series).value();
  ASSERT_TRUE(text::WriteTextFile(series, std::string_view(bytes).substr(0, bytes.size() - 8)));
  EXPECT_EQ(ReadTruth(folder).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ReadTruth(folder + "_none").error().code, ErrorCode::kNotFound);
}

TEST(SubjectFiles, AnotherSubjectIsNotOverwritten) {
  const std::string folder = (Folder() / "my subject").string();
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(MayWriteSubject(Small(), folder));
  EXPECT_FALSE(std::filesystem::exists(folder)) << "asking writes nothing";
  ASSERT_TRUE(WriteSubject(Small(), folder));
  const std::string truth = folder + "/truth/truth.json", feed = folder + "/session.feed";
  const std::string told = text::ReadTextFile(truth).value(),
                    seen = text::ReadTextFile(feed).value();
  EXPECT_TRUE(WriteSubject(Small(), folder)) << "the same again";
  const auto expect_refused = [&](const Subject& other) {
    const Status status = WriteSubject(other, folder);
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, ::testing::HasSubstr(folder + ": holds another subject"));
    EXPECT_THAT(status.error().message, ::testing::HasSubstr("rm -r '" + folder + "'"));
    EXPECT_EQ(text::ReadTextFile(truth).value(), told);
    EXPECT_EQ(text::ReadTextFile(feed).value(), seen);
  };
  Subject other = Small();
  other.truth.seed = 2;
  expect_refused(other);
  SensorFeed::Data noisier = Small().feed.data();
  noisier.wrench_S[7] += 0.5f;
  const Subject noise{SensorFeed(noisier), Small().truth};
  expect_refused(noise);
  // Half of one is completed, with its own other half only.
  std::filesystem::remove(truth);
  EXPECT_FALSE(MayWriteSubject(noise, folder));
  EXPECT_TRUE(WriteSubject(Small(), folder));
  EXPECT_EQ(text::ReadTextFile(truth).value(), told);
  std::filesystem::remove(feed);
  EXPECT_FALSE(MayWriteSubject(other, folder));
  ASSERT_TRUE(text::WriteTextFile(truth, "{"));
  EXPECT_FALSE(MayWriteSubject(Small(), folder)) << "nobody knows what it was";
}

TEST(SubjectFiles, AnotherSubjectIsRefusedBeforeItIsMade) {
  const std::string folder = (Folder() / "early").string();
  std::filesystem::remove_all(folder);
  const SubjectOptions same = SmallOptions();
  EXPECT_TRUE(MayMakeSubject(same, folder));
  EXPECT_FALSE(std::filesystem::exists(folder)) << "asking writes nothing";
  ASSERT_TRUE(WriteSubject(Small(), folder));
  EXPECT_TRUE(MayMakeSubject(same, folder)) << "the same again";
  SubjectOptions seed = same, plan = same, friction = same, surfaces = same, bump = same,
                 reflex = same, noise = same;
  seed.seed = 2;
  plan.plan = Plan::Brief();
  friction.friction = 0.6;
  surfaces.counterfactual_friction = {0.1};
  bump.bump = false;
  reflex.reflex_rad = 0.01;
  for (const SubjectOptions& other : {seed, plan, friction, surfaces, bump, reflex}) {
    const Status status = MayMakeSubject(other, folder);
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, ::testing::HasSubstr(folder + ": holds another subject"));
  }
  noise.sensor.force_noise_N = 1;
  EXPECT_TRUE(MayMakeSubject(noise, folder)) << "the truth does not say: told at the end";
  ASSERT_TRUE(text::WriteTextFile(folder + "/truth/truth.json", "{"));
  EXPECT_FALSE(MayMakeSubject(same, folder)) << "nobody knows what it was";
}

}  // namespace
}  // namespace handhold::lab::files_test
