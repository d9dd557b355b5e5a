// ezc3d as second reader: what it can be trusted with agrees with ours, what it gets wrong is
// found, and nothing it does harms us. The figures are those of README.md, Decisions: a better
// ezc3d makes these tests fail, and then the default reader is to be decided again.
#include "database/exchange/ezc3d_reader.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>

#include "tests/database/exchange/c3d_bytes.h"
#include "tests/database/exchange/fixtures.h"
#include "tests/support/paths.h"

namespace handhold::exchange::ezc3d_reader_test {
namespace {

namespace fs = std::filesystem;
using testing::All;
using ::testing::AnyOf;
using testing::C3dBytes;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr ChildLimits kLimits{int64_t{1} << 30, Duration::Seconds(30)};
const std::string kFolder = support::SharedDataDir() + "/c3d/";

std::string PutFile(const std::string& name, const std::vector<uint8_t>& bytes) {
  const std::string path = (fs::path(::testing::TempDir()) / name).string();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::string Check(const std::string& path) { return All(CrossCheckC3d(path, {}, kLimits)); }

TEST(LimitedChild, AnswersWhatTheWorkWrote) {
  const auto file = internal::RunLimited(
      [](int out) { return ::write(out, "hello", 5) == 5 ? "" : "cannot write"; }, kLimits);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  char text[6] = "";
  EXPECT_EQ(::pread(*file, text, 5, 0), 5);
  EXPECT_STREQ(text, "hello");
  ::close(*file);
}

TEST(LimitedChild, ReportsEveryWayToFail) {
  const auto run = [](const std::function<std::string(int)>& work, ChildLimits limits = kLimits) {
    const auto file = internal::RunLimited(work, limits);
    return file ? "fine" : file.error().message;
  };
  EXPECT_THAT(run([](int) { return "no such thing"; }), HasSubstr("ezc3d refuses: no such thing"));
  EXPECT_THAT(run([](int) -> std::string { throw std::runtime_error("odd file"); }),
              HasSubstr("ezc3d refuses: odd file"));
  EXPECT_THAT(run([](int) -> std::string { throw std::bad_alloc(); }), HasSubstr("out of memory"));
  EXPECT_THAT(run([](int) -> std::string { std::abort(); }), HasSubstr("ezc3d crashed: Aborted"));
  EXPECT_THAT(run([](int) -> std::string { ::_exit(9); }), HasSubstr("ended with code 9"));
  EXPECT_THAT(run(
                  [](int) -> std::string {
                    for (;;) ::usleep(1000);
                  },
                  {kLimits.memory_bytes, Duration::Milliseconds(200)}),
              HasSubstr("stopped after 0.2"));
  EXPECT_THAT(run(
                  [](int) -> std::string {
                    std::vector<std::vector<char>> hoard;
                    for (;;) {
                      hoard.emplace_back(16 << 20, 'x');
                      ::usleep(1000);
                    }
                  },
                  {int64_t{400} << 20, Duration::Seconds(60)}),
              AnyOf(HasSubstr("more than 400 MB"), HasSubstr("out of memory")));
}

TEST(Ezc3d, AgreesOnWhatItIsTrustedWith) {
  for (const auto processor : {C3dBytes::kIntel, C3dBytes::kDec}) {
    for (const bool is_float : {false, true}) {
      C3dBytes made;
      made.processor = processor;
      made.is_float = is_float;
      made.word = [](int f, int p) { return f == 5 && p == 1 ? -1 : 257 * (p + 3); };
      const std::string path = PutFile("trusted.c3d", made.Build());
      // Residual byte and mask are equal here, so that swapping them does not show.
      const std::string said = Check(path);
      EXPECT_THAT(said, HasSubstr("note: c3d/markers: ezc3d agrees in all 180 values"));
      EXPECT_THAT(said, HasSubstr("note: c3d/cameras: ezc3d agrees in all 60 values"));
      EXPECT_THAT(said, HasSubstr("note: c3d/analog: ezc3d agrees in all 160 values"));
      auto source = OpenWithEzc3d(path, {}, kLimits);
      ASSERT_TRUE(source.has_value()) << source.error().message;
      EXPECT_EQ((*source)->info().name, "trusted");
      EXPECT_EQ((*source)->streams()[0].ItemNames(), (std::vector<std::string>{"P1", "P2", "P3"}));
    }
  }
}

// ---- figures of 1.7.2 that keep it from being the default ----

TEST(Ezc3dFigures, SwapsResidualAndMask) {
  C3dBytes made;
  made.word = [](int, int) { return 15888; };  // residual byte 16, mask 62
  const std::string said = Check(PutFile("swap.c3d", made.Build()));
  EXPECT_THAT(said, HasSubstr("warning: c3d/markers residuals: ezc3d differs in 60 of 60"));
  EXPECT_THAT(said, HasSubstr("warning: c3d/cameras: ezc3d differs in 60 of 60"));
  EXPECT_THAT(said, HasSubstr("known to swap"));
}

TEST(Ezc3dFigures, ReadsNothingWhereEveryPointIsMarkedInvalid) {
  C3dBytes made;
  made.word = [](int, int) { return -1; };
  const std::string path = PutFile("invalid.c3d", made.Build());
  const testing::ReadFile theirs = testing::ReadAll(OpenWithEzc3d(path, {}, kLimits));
  const testing::ReadFile ours = testing::ReadAll(OpenC3d(path));
  const auto a = testing::Column(theirs.clip, "c3d/markers", "P2.x"),
             b = testing::Column(ours.clip, "c3d/markers", "P2.x");
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(std::isnan(a[i])) << "a better ezc3d: decide again";
    EXPECT_TRUE(std::isfinite(b[i]));
  }
}

TEST(Ezc3dFigures, MakesGhostFramesOfPaddingBeyond65535) {
  C3dBytes made;
  made.frames = 66'001;
  made.with_trial = true;
  made.points = 1;
  made.channels = 0;
  made.ratio = 0;
  made.word = [](int, int) { return 0; };
  made.coordinate = [](int f, int, int k) { return 1 + (f + k) % 30'000; };
  EXPECT_THAT(Check(PutFile("long.c3d", made.Build())), HasSubstr("samples, this reader 66001"));
}

TEST(Ezc3dFigures, RefusesMips) {
  C3dBytes made;
  made.processor = C3dBytes::kMips;
  EXPECT_THAT(Check(PutFile("mips.c3d", made.Build())), HasSubstr("MIPS"));
}

TEST(Ezc3dFigures, IgnoresUnsignedAnalog) {
  C3dBytes made;
  made.is_float = false;
  made.is_unsigned = true;
  made.sample = [](int t, int c) { return 60'000 + t - c; };
  made.analog_offset = {32'768, 40'000};
  EXPECT_THAT(Check(PutFile("unsigned.c3d", made.Build())),
              HasSubstr("warning: c3d/analog: ezc3d differs"));
}

TEST(Ezc3dFigures, IsSilentAboutTruncation) {
  auto bytes = C3dBytes().Build();
  bytes.resize(bytes.size() - 1024);
  const std::string path = PutFile("cut.c3d", bytes);
  auto source = OpenWithEzc3d(path, {}, kLimits);
  ASSERT_TRUE(source.has_value()) << source.error().message;
  EXPECT_FALSE(AnyLoss((*source)->issues()));
  EXPECT_TRUE(AnyLoss(OpenC3d(path).value()->issues()));
}

TEST(Ezc3dFigures, ValidDescriptionsOf255CharactersAreFatal) {
  C3dBytes made;
  made.extras.push_back({7, "PAD", -1, {250}, {}, std::string(250, 'x')});
  const auto bytes = made.Build();
  // The description length is the byte after the last parameter's data; a group's is easier to
  // find: the first group record, "POINT": length 5, id -1, name, offset (2 bytes), description
  // length.
  std::vector<uint8_t> longer(bytes.begin(), bytes.begin() + 512 + 4 + 2 + 5);
  longer.push_back(203);
  longer.push_back(0);
  longer.push_back(200);
  longer.insert(longer.end(), 200, 'd');
  longer.insert(longer.end(), bytes.begin() + 512 + 4 + 2 + 5 + 3, bytes.end());
  // The section grows by 200 bytes, which its last block's padding takes up.
  const size_t section_end = 512 + 512u * bytes[512 + 2];
  std::vector<uint8_t> fitted(longer.begin(),
                              longer.begin() + static_cast<std::ptrdiff_t>(section_end));
  fitted.insert(fitted.end(), bytes.begin() + static_cast<std::ptrdiff_t>(section_end),
                bytes.end());
  const std::string path = PutFile("described.c3d", fitted);
  auto ours = OpenC3d(path);
  ASSERT_TRUE(ours.has_value()) << ours.error().message;
  EXPECT_FALSE(AnyLoss((*ours)->issues())) << All((*ours)->issues());
  auto theirs = OpenWithEzc3d(path, {}, {int64_t{1} << 30, Duration::Seconds(10)});
  ASSERT_FALSE(theirs.has_value()) << "a better ezc3d: decide again";
  EXPECT_THAT(Check(path), HasSubstr("warning: ezc3d: cannot be compared: "));
}

class Ezc3dSamples : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kFolder)) GTEST_SKIP() << kFolder << " is absent";
  }
};

TEST_F(Ezc3dSamples, PositionsAndForcesOfIntelAndDecAgree) {
  for (const char* name :
       {"sample_01/Eb015pi.c3d", "sample_01/Eb015vr.c3d", "sample_02/dec_int.c3d",
        "sample_08/TESTDPI.c3d", "sample_10/TYPE-4a.c3d"}) {
    SCOPED_TRACE(name);
    const std::string said = Check(kFolder + name);
    EXPECT_THAT(said, HasSubstr("note: c3d/markers: ezc3d agrees"));
    EXPECT_THAT(said, HasSubstr("note: c3d/plate1: ezc3d agrees"));
    EXPECT_THAT(said, HasSubstr("warning: c3d/markers residuals: ezc3d differs"));
  }
}

TEST_F(Ezc3dSamples, WhatItRefusesOrLosesThatWeRead) {
  for (const auto& [name, why] : std::vector<std::pair<std::string, std::string>>{
           {"sample_01/Eb015si.c3d", "MIPS"},
           {"sample_02/sgi_real.c3d", "MIPS"},
           {"sample_13/Dance.c3d", "OFFSET"},
           {"sample_13/golfswing.c3d", "OFFSET"},
           {"sample_20/phasespace_sample.c3d", "reads no frame"}}) {
    auto source = OpenWithEzc3d(kFolder + name, {}, kLimits);
    ASSERT_FALSE(source.has_value()) << name << ": a better ezc3d: decide again";
    EXPECT_THAT(source.error().message, HasSubstr(why)) << name;
    EXPECT_TRUE(OpenC3d(kFolder + name).has_value()) << name;
  }
}

}  // namespace
}  // namespace handhold::exchange::ezc3d_reader_test
