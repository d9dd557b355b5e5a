#include "database/exchange/c3d_reader.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "database/exchange/c3d_contents.h"
#include "tests/database/exchange/c3d_bytes.h"
#include "tests/database/exchange/fixtures.h"

namespace handhold::exchange::c3d_reader_test {
namespace {

using testing::All;
using testing::C3dBytes;
using ::testing::HasSubstr;
using testing::ReadFile;

ReadFile Read(const std::vector<uint8_t>& bytes, const C3dReadOptions& options = {}) {
  return testing::ReadAll(OpenC3d(bytes, "made.c3d", options));
}

std::string Refusal(const std::vector<uint8_t>& bytes) {
  auto source = OpenC3d(bytes, "made.c3d");
  return source ? "opened" : source.error().message;
}

recording::SampleWindow Stream(const ReadFile& file, std::string_view name) {
  return testing::Stream(file.clip, name);
}

/// Every value a C3dBytes means, computed here from its functions.
void ExpectAsMade(const C3dBytes& made, const ReadFile& file) {
  const recording::SampleWindow markers = Stream(file, "c3d/markers");
  ASSERT_EQ(markers.count(), made.frames);
  for (int f = 0; f < made.frames; ++f) {
    for (int p = 0; p < made.points; ++p) {
      const int word = made.word(f, p);
      for (int k = 0; k < 4; ++k) {
        const double got = markers.value(4 * p + k, f);
        if (word < 0) {
          EXPECT_TRUE(std::isnan(got));
          continue;
        }
        const int count = k < 3 ? made.coordinate(f, p, k) : word & 255;
        EXPECT_EQ(got, static_cast<double>(static_cast<float>(count) * made.scale) * 1e-3)
            << "frame " << f << " point " << p << " component " << k;
      }
    }
  }
  if (made.channels == 0) return;
  const recording::SampleWindow analog = Stream(file, "c3d/analog");
  ASSERT_EQ(analog.count(), made.frames * made.ratio);
  for (int t = 0; t < analog.count(); ++t) {
    for (int c = 0; c < made.channels; ++c) {
      const auto k = static_cast<size_t>(c);
      const double scale =
          static_cast<double>(made.analog_scale[k]) * static_cast<double>(made.gen_scale);
      EXPECT_EQ(analog.value(c, t), (made.sample(t, c) - made.analog_offset[k]) * scale);
    }
  }
}

TEST(C3dReader, SixEncodingsDecodeToTheSameNumbers) {
  for (const auto processor : {C3dBytes::kIntel, C3dBytes::kDec, C3dBytes::kMips}) {
    for (const bool is_float : {false, true}) {
      SCOPED_TRACE(std::to_string(processor) + (is_float ? " float" : " integer"));
      C3dBytes made;
      made.processor = processor;
      made.is_float = is_float;
      const ReadFile file = Read(made.Build());
      ExpectAsMade(made, file);
      EXPECT_EQ(All(file.issues), "");
      const recording::StreamInfo& markers = file.streams[0];
      EXPECT_EQ(markers.ItemNames(), (std::vector<std::string>{"P1", "P2", "P3"}));
      EXPECT_EQ(markers.rate, (recording::Rate{100, 1}));
      EXPECT_EQ(markers.frame, "W");
      EXPECT_EQ(file.clip.info().properties.at("c3d.encoding"),
                std::string(processor == 84   ? "Intel"
                            : processor == 85 ? "DEC"
                                              : "MIPS") +
                    (is_float ? " float" : " integer"));
    }
  }
}

TEST(C3dReader, MaskIsTheHighByteResidualTheLowOne) {
  C3dBytes made;
  made.word = [](int, int p) { return p == 0 ? 15888 : 0; };  // 16 and 62, as in Eb015pi.c3d
  made.scale = 0.0833333358168602f;
  const ReadFile file = Read(made.Build());
  const auto markers = Stream(file, "c3d/markers"), cameras = Stream(file, "c3d/cameras");
  EXPECT_NEAR(markers.value(3, 0), 1.3333e-3, 1e-7);
  EXPECT_EQ(cameras.value(0, 0), 62);
  EXPECT_EQ(markers.value(7, 0), 0);
  EXPECT_EQ(cameras.value(1, 0), 0);
}

TEST(C3dReader, NoCameraStreamWithoutMasks) {
  C3dBytes made;
  made.word = [](int, int) { return 7; };
  EXPECT_TRUE(Read(made.Build()).clip.FindStreams("c3d/cameras").empty());
}

TEST(C3dReader, LayoutsDecodeAlike) {
  C3dBytes made;
  for (const int before : {0, 3}) {
    for (const int between : {0, 9}) {
      made.blocks_before_parameters = before;
      made.blocks_before_data = between;
      ExpectAsMade(made, Read(made.Build()));
    }
  }
  made.leading_zero_blocks = 2;
  const ReadFile shifted = Read(made.Build());
  ExpectAsMade(made, shifted);
  EXPECT_THAT(All(shifted.issues), HasSubstr("1024 zero bytes stand before it"));
}

TEST(C3dReader, MoreFramesThanSixteenBits) {
  for (const bool as_float : {true, false}) {
    C3dBytes made;
    made.frames = 66'001;
    made.points = 1;
    made.channels = 0;
    made.ratio = 0;
    made.is_float = false;
    made.point_frames_as_float = as_float;
    made.with_trial = !as_float;
    made.coordinate = [](int f, int, int k) { return 1 + (f + k) % 30'000; };
    made.word = [](int, int) { return 0; };
    const ReadFile file = Read(made.Build());
    EXPECT_FALSE(AnyLoss(file.issues)) << All(file.issues);
    const auto markers = Stream(file, "c3d/markers");
    ASSERT_EQ(markers.count(), 66'001) << (as_float ? "float FRAMES" : "TRIAL");
    EXPECT_EQ(markers.value(0, 66'000), static_cast<double>(6001.0f * made.scale) * 1e-3);
  }
}

TEST(C3dReader, MoreLabelsThanEightBits) {
  C3dBytes made;
  made.points = 600;
  made.channels = 250;
  made.ratio = 1;
  made.frames = 2;
  made.analog_scale.assign(250, 1.0f);
  made.analog_offset.assign(250, 0);
  made.word = [](int f, int p) { return 256 * (p % 120) + f; };
  const ReadFile file = Read(made.Build());
  EXPECT_EQ(file.streams[0].ItemNames()[599], "P600");
  ExpectAsMade(made, file);
}

TEST(C3dReader, UnsignedAnalog) {
  C3dBytes made;
  made.is_float = false;
  made.is_unsigned = true;
  made.sample = [](int t, int c) { return 60'000 + t - c; };
  made.analog_offset = {32'768, 40'000};
  ExpectAsMade(made, Read(made.Build()));
  made.is_unsigned = false;  // the same bits, signed
  made.sample = [](int t, int c) { return 60'000 + t - c - 65'536; };
  made.analog_offset = {-32'768, -100};
  ExpectAsMade(made, Read(made.Build()));
}

TEST(C3dReader, FirstFrameGivesCountersNotTimes) {
  C3dBytes made;
  made.first_frame = 251;
  made.with_trial = true;
  const ReadFile file = Read(made.Build());
  const auto markers = Stream(file, "c3d/markers"), analog = Stream(file, "c3d/analog");
  EXPECT_EQ(markers.counters[0], 250);
  EXPECT_EQ(analog.counters[0], 1000);
  EXPECT_EQ(markers.times[0].ns(), 0);
  EXPECT_EQ(analog.times[0].ns(), 0);
  EXPECT_EQ(markers.times[1].ns(), 10'000'000);
  EXPECT_EQ(analog.times[1].ns(), 2'500'000);
}

TEST(C3dReader, TruncationIsAlwaysReported) {
  C3dBytes made;
  const std::vector<uint8_t> whole = made.Build();
  const size_t frame = (3 * 4 + 2 * 4) * 4;
  const size_t data = whole.size() - (made.frames * frame + 511) / 512 * 512;
  for (size_t size = data; size < data + made.frames * frame; size += 37) {
    const ReadFile file = Read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_TRUE(AnyLoss(file.issues)) << size;
    EXPECT_THAT(All(file.issues), HasSubstr("truncated: 20 frames are promised"));
    // And a gap in its place: markers, camera masks (4 analog samples a frame) and analog.
    const auto there = static_cast<int64_t>((size - data) / frame);
    ASSERT_EQ(file.clip.gaps().size(), file.streams.size()) << size;
    for (const recording::Gap& gap : file.clip.gaps()) {
      const int64_t ratio =
          file.streams[static_cast<size_t>(gap.stream_id) - 1].name == "c3d/analog" ? 4 : 1;
      EXPECT_EQ(gap.first_missing_counter, there * ratio);
      EXPECT_EQ(gap.count, (20 - there) * ratio);
      EXPECT_EQ(gap.clip_begin.ns(), there * 10'000'000);
      EXPECT_EQ(gap.clip_end.ns(), 200'000'000);
    }
  }
  EXPECT_TRUE(Read(whole).clip.gaps().empty());
  for (size_t size = 0; size < data; size += 37)
    EXPECT_THAT(Refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
                ::testing::AnyOf(HasSubstr("truncated"), HasSubstr("shorter")))
        << size;
}

TEST(C3dReader, MarksThatCallEverythingInvalid) {
  C3dBytes made;
  made.word = [](int, int) { return -1; };
  const auto bytes = made.Build();
  const ReadFile file = Read(bytes);
  EXPECT_THAT(All(file.issues), HasSubstr("every point of the file is marked invalid"));
  const auto markers = Stream(file, "c3d/markers");
  EXPECT_EQ(markers.value(0, 0), static_cast<double>(100.0f * 0.1f) * 1e-3);
  EXPECT_TRUE(std::isnan(markers.value(3, 0)));
  EXPECT_TRUE(
      std::isnan(Stream(Read(bytes, {.invalid = C3dInvalid::kTrust}), "c3d/markers").value(0, 0)));
}

TEST(C3dReader, PointsAtTheOriginAreMissing) {
  C3dBytes made;
  made.coordinate = [](int f, int p, int k) { return p == 0 && f == 3 ? 0 : 10 + k; };
  made.word = [](int, int) { return 1; };
  const ReadFile file = Read(made.Build());
  EXPECT_TRUE(std::isnan(Stream(file, "c3d/markers").value(0, 3)));
  EXPECT_THAT(All(file.issues), HasSubstr("1 at exactly (0, 0, 0)"));
}

TEST(C3dReader, UnitsOfLength) {
  C3dBytes made;
  made.unit = "m";
  EXPECT_EQ(Stream(Read(made.Build()), "c3d/markers").value(0, 0),
            static_cast<double>(100.0f * 0.1f));
  made.unit = "";
  made.scale = 1.0f;
  const ReadFile guessed = Read(made.Build());
  EXPECT_EQ(Stream(guessed, "c3d/markers").value(0, 0), 0.1);
  EXPECT_THAT(All(guessed.issues), HasSubstr("taken as millimetres"));
  made.scale = 0.001f;
  EXPECT_THAT(All(Read(made.Build()).issues), HasSubstr("taken as metres"));
}

TEST(C3dReader, LabelsMissingRepeatedAndForeign) {
  C3dBytes made;
  made.default_labels = false;
  made.points = 4;
  made.extras.push_back({1, "LABELS", -1, {4, 3}, {}, "LFINLFIN\xDC   "});
  const ReadFile file = Read(made.Build());
  EXPECT_EQ(file.streams[0].ItemNames(),
            (std::vector<std::string>{"LFIN", "LFIN#2", "\xC3\x9C", "M4"}));
  EXPECT_THAT(All(file.issues), HasSubstr("occur more than once"));
  EXPECT_THAT(All(file.issues), HasSubstr("1 of 4 have no label"));
}

// A number for what has none must not take a name that the file gives.
TEST(C3dReader, EmptyLabelsDoNotShiftTheFilesOwn) {
  C3dBytes made;
  made.default_labels = false;
  made.points = 4;
  made.extras.push_back({1, "LABELS", -1, {2, 4}, {}, "  M1  M3"});
  const ReadFile file = Read(made.Build());
  EXPECT_EQ(file.streams[0].ItemNames(), (std::vector<std::string>{"M1#2", "M1", "M3#2", "M3"}));
  EXPECT_EQ(All(file.issues).find("more than once"), std::string::npos);
}

TEST(C3dReader, ModelOutputsAreNoMarkers) {
  C3dBytes made;
  made.extras.push_back({1, "ANGLES", -1, {2, 1}, {}, "P2"});
  made.extras.push_back({1, "ANGLE_UNITS", -1, {3, 1}, {}, "deg"});
  const ReadFile file = Read(made.Build());
  EXPECT_EQ(file.streams[0].ItemNames(), (std::vector<std::string>{"P1", "P3"}));
  const auto found = file.clip.FindStreams("c3d/outputs");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->channels[1], (recording::Channel{"P2.y", "deg", 0.0}));
  EXPECT_EQ(Stream(file, "c3d/outputs").value(1, 0), static_cast<double>(207.0f * 0.1f));
}

TEST(C3dReader, EventsOfTheGroupCountFromFrameOneOfTheRecording) {
  C3dBytes made;
  made.first_frame = 101;
  made.frames = 200;
  made.extras.push_back({4, "USED", 2, {}, {2}, ""});
  made.extras.push_back({4, "TIMES", 4, {2, 2}, {0, 1.5, 0, 2.25}, ""});
  made.extras.push_back({4, "LABELS", -1, {5, 2}, {}, "TouchLift "});
  made.extras.push_back({4, "CONTEXTS", -1, {5, 2}, {}, "RightRight"});
  made.extras.push_back({4, "SUBJECTS", -1, {5, 2}, {}, "Meier     "});
  const ReadFile file = Read(made.Build());
  ASSERT_EQ(file.clip.events().size(), 2u);
  EXPECT_EQ(file.clip.events()[0].kind, "Touch");
  EXPECT_EQ(file.clip.events()[0].text, "Right");
  EXPECT_EQ(file.clip.events()[0].origin, "c3d");
  EXPECT_EQ(file.clip.events()[0].clip_time.ns(), 500'000'000);
  EXPECT_EQ(file.clip.events()[1].clip_time.ns(), 1'250'000'000);
  // What may tell who it was is not kept, and not in silence.
  EXPECT_THAT(All(file.issues), HasSubstr("SUBJECTS: may tell who it was"));
}

// Minutes and seconds in one row: half the events used to lie at the minutes.
TEST(C3dReader, EventTimesInOneRowAreMinutesAndSeconds) {
  C3dBytes made;
  made.first_frame = 101;
  made.frames = 200;
  made.extras.push_back({4, "USED", 2, {}, {2}, ""});
  made.extras.push_back({4, "TIMES", 4, {4}, {0, 1.5, 0, 2.25}, ""});
  made.extras.push_back({4, "LABELS", -1, {5, 2}, {}, "TouchLift "});
  const ReadFile file = Read(made.Build());
  ASSERT_EQ(file.clip.events().size(), 2u);
  EXPECT_EQ(file.clip.events()[0].kind, "Touch");
  EXPECT_EQ(file.clip.events()[0].clip_time.ns(), 500'000'000);
  EXPECT_EQ(file.clip.events()[1].kind, "Lift");
  EXPECT_EQ(file.clip.events()[1].clip_time.ns(), 1'250'000'000);
  EXPECT_THAT(All(file.issues), HasSubstr("note: EVENT:TIMES: 4 numbers in one row for 2"));
  // As many numbers as events are seconds, as before.
  for (auto& extra : made.extras) {
    if (extra.name == "TIMES") extra = {4, "TIMES", 4, {2}, {1.5, 2.25}, ""};
  }
  EXPECT_EQ(Read(made.Build()).clip.events()[1].clip_time.ns(), 1'250'000'000);
}

TEST(C3dReader, HeaderEventsCountFromTheFirstFrame) {
  C3dBytes made;
  made.first_frame = 101;
  made.frames = 200;
  auto bytes = made.Build();
  std::vector<uint8_t> words;
  made.PutWord(words, 12345);
  made.PutWord(words, 2);
  std::copy(words.begin(), words.end(), bytes.begin() + 149 * 2);
  std::vector<uint8_t> times;
  made.PutFloat(times, 0.75);
  made.PutFloat(times, 1.0);
  std::copy(times.begin(), times.end(), bytes.begin() + 152 * 2);
  bytes[188 * 2] = 1;
  bytes[188 * 2 + 1] = 0;  // switched off
  const std::string labels = "RHS LTO ";
  std::copy(labels.begin(), labels.end(), bytes.begin() + 198 * 2);
  const ReadFile file = Read(bytes);
  ASSERT_EQ(file.clip.events().size(), 1u);
  EXPECT_EQ(file.clip.events()[0].kind, "RHS");
  EXPECT_EQ(file.clip.events()[0].clip_time.ns(), 750'000'000);
}

TEST(C3dReader, Rotations) {
  C3dBytes made;
  made.frames = 3;
  const std::vector<uint8_t> plain = made.Build();
  const double block = static_cast<double>(plain.size() / 512 + 1);
  made.extras = {{5, "USED", 2, {}, {1}, ""},
                 {5, "DATA_START", 2, {}, {block}, ""},
                 {5, "RATIO", 2, {}, {2}, ""},
                 {5, "LABELS", -1, {6, 1}, {}, "pelvis"}};
  ASSERT_EQ(made.Build().size(), plain.size()) << "the parameters grew beyond their block";
  for (int i = 0; i < 6; ++i) {
    // A quarter turn about z, by columns: x goes to y, y to -x.
    const double m[17] = {
        0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 100.0 + i, 200, 300, 1, i == 4 ? -1.0 : 0.5};
    for (const double v : m) made.PutFloat(made.after_data, v);
  }
  const ReadFile file = Read(made.Build());
  EXPECT_EQ(All(file.issues), "");
  const auto poses = Stream(file, "c3d/rotations");
  ASSERT_EQ(poses.count(), 6);
  EXPECT_EQ(file.clip.FindStreams("c3d/rotations")[0]->rate, (recording::Rate{200, 1}));
  EXPECT_NEAR(poses.value(0, 3), 0.103, 1e-9);
  EXPECT_NEAR(poses.value(3, 3), std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(poses.value(6, 3), std::sqrt(0.5), 1e-9);
  EXPECT_TRUE(std::isnan(poses.value(0, 4)));
  ExpectAsMade(made, file);

  // A matrix of zeros is no pose, and that is said.
  C3dBytes blank = made;
  std::fill(blank.after_data.begin(), blank.after_data.begin() + 17 * 4, uint8_t{0});
  const ReadFile with_blank = Read(blank.Build());
  EXPECT_TRUE(std::isnan(Stream(with_blank, "c3d/rotations").value(0, 0)));
  EXPECT_THAT(All(with_blank.issues),
              HasSubstr("note: rotations: 1 matrices of nothing but zeros"));

  made.after_data.resize(made.after_data.size() - 1);
  const ReadFile cut = Read(made.Build());
  EXPECT_THAT(All(cut.issues), HasSubstr("truncated: 6 samples are promised, 5"));
  ASSERT_EQ(cut.clip.gaps().size(), 1u) << "of the rotations alone";
  EXPECT_EQ(cut.clip.gaps()[0].first_missing_counter, 5);
  EXPECT_EQ(cut.clip.gaps()[0].count, 1);
}

TEST(C3dReader, AFileOfRotationsAloneIsReadAsRigidPoses) {
  C3dBytes made;
  made.points = made.channels = 0;
  made.analog_scale.clear();
  made.analog_offset.clear();
  made.frames = 34;
  constexpr int kBodies = 21;
  made.extras = {{5, "USED", 2, {}, {kBodies}, ""}, {5, "DATA_START", 2, {}, {9}, ""}};
  const auto block = static_cast<double>(made.Build().size() / 512 + 1);
  made.extras[1].numbers = {block};
  for (int f = 0; f < made.frames; ++f) {
    for (int b = 0; b < kBodies; ++b) {
      const double m[17] = {0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 100.0 + f, 10.0 * b, 300, 1, 0.5};
      for (const double v : m) made.PutFloat(made.after_data, v);
    }
  }
  const ReadFile file = Read(made.Build());
  EXPECT_FALSE(AnyLoss(file.issues)) << All(file.issues);
  ASSERT_EQ(file.streams.size(), 1u);
  const auto poses = Stream(file, "c3d/rotations");
  ASSERT_EQ(poses.count(), 34);
  ASSERT_EQ(poses.channel_count, 7 * kBodies);
  EXPECT_NEAR(poses.value(7 * 20 + 0, 33), 0.133, 1e-9);
  EXPECT_NEAR(poses.value(7 * 20 + 1, 33), 0.2, 1e-9);
  EXPECT_NEAR(poses.value(7 * 20 + 6, 33), std::sqrt(0.5), 1e-9);

  made.after_data.resize(made.after_data.size() - 1);
  const ReadFile cut = Read(made.Build());
  EXPECT_THAT(All(cut.issues), HasSubstr("truncated: 34 frames are promised"));
  EXPECT_EQ(Stream(cut, "c3d/rotations").count(), 33);
}

// A real exporter gives the points, of which there are none, a block before the rotations.
TEST(C3dReader, RotationsAloneBehindAPlaceOfPointsThatAreNotThere) {
  C3dBytes made;
  made.points = made.channels = 0;
  made.analog_scale.clear();
  made.analog_offset.clear();
  made.frames = 34;
  made.extras = {{5, "USED", 2, {}, {2}, ""}, {5, "DATA_START", 2, {}, {9}, ""}};
  const size_t begin = made.Build().size();
  made.extras[1].numbers = {static_cast<double>(begin / 512 + 2)};
  made.after_data.resize(512);
  for (int i = 0; i < 2 * made.frames; ++i) {
    const double m[17] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 100.0 + i, 200, 300, 1, 0};
    for (const double v : m) made.PutFloat(made.after_data, v);
  }
  const ReadFile file = Read(made.Build());
  EXPECT_FALSE(AnyLoss(file.issues)) << All(file.issues);
  const auto poses = Stream(file, "c3d/rotations");
  ASSERT_EQ(poses.count(), 34);
  EXPECT_NEAR(poses.value(0, 33), 0.166, 1e-9);
}

// 0 degrees is an angle; that a model may have written it for want of one is said.
TEST(C3dReader, ModelOutputsAtZeroAreKeptAndSaid) {
  C3dBytes made;
  made.extras.push_back({1, "ANGLES", -1, {2, 1}, {}, "P2"});
  made.extras.push_back({1, "ANGLE_UNITS", -1, {3, 1}, {}, "deg"});
  made.coordinate = [](int f, int p, int k) { return p == 1 && f < 4 ? 0 : 100 + f + k; };
  made.word = [](int f, int p) { return p == 1 && f == 3 ? -1 : 0; };
  const ReadFile file = Read(made.Build());
  const auto outputs = Stream(file, "c3d/outputs");
  EXPECT_EQ(outputs.value(0, 2), 0);
  EXPECT_TRUE(std::isnan(outputs.value(0, 3))) << "this one is marked invalid";
  EXPECT_THAT(All(file.issues), HasSubstr("note: c3d/outputs: 3 of a model's"));
}

TEST(C3dReader, SubjectsAreNotKept) {
  C3dBytes made;
  made.extras.push_back({7, "NAMES", -1, {12, 1}, {}, "Erika Muster"});
  auto bytes = made.Build();
  auto source = OpenC3d(bytes, "made.c3d").value();
  EXPECT_THAT(All(source->issues()), HasSubstr("pseudonym"));
  EXPECT_EQ(source->info().subject, "");
  const auto& document = source->documents().at("c3d/parameters.json");
  const std::string text(document.begin(), document.end());
  EXPECT_THAT(text, HasSubstr("GEN_SCALE"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("Erika")));
}

TEST(C3dReader, HeaderAndParametersDisagree) {
  C3dBytes made;
  auto bytes = made.Build();
  bytes[2] = 9;  // points in the header
  const ReadFile file = Read(bytes);
  ExpectAsMade(made, file);
  EXPECT_THAT(All(file.issues), HasSubstr("the parameters hold"));
}

TEST(C3dReader, RefusalsNameTheReason) {
  EXPECT_THAT(Refusal({}), HasSubstr("made.c3d: is shorter than"));
  EXPECT_THAT(Refusal(std::vector<uint8_t>(4096, 7)), HasSubstr("second byte is 7, not 80"));
  C3dBytes made;
  auto bytes = made.Build();
  bytes[512 + 3] = 90;
  EXPECT_THAT(Refusal(bytes), HasSubstr("names processor 90"));
  made.rate = 0;
  EXPECT_THAT(Refusal(made.Build()), HasSubstr("--rate"));
  made.rate = 100;
  made.points = made.channels = 0;
  EXPECT_THAT(Refusal(made.Build()), HasSubstr("neither points nor analog"));
  EXPECT_EQ(OpenC3d("/nonexistent/x.c3d").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(OpenC3d("/").error().code, ErrorCode::kInvalid);
}

TEST(C3dReader, DamagedParameters) {
  C3dBytes made;
  made.extras.push_back({7, "LONG", -1, {200}, {}, std::string(200, 'x')});
  auto bytes = made.Build();
  for (size_t at = 512 + 4; at < 1024; ++at) {  // no byte may make it crash or hang
    for (const int value : {0, 1, 127, 128, 255}) {
      auto damaged = bytes;
      damaged[at] = static_cast<uint8_t>(value);
      auto source = OpenC3d(damaged, "made.c3d");
      if (source) (void)ReadWhole(**source).has_value();
    }
  }
}

TEST(C3dContents, RatesAreExactFractions) {
  EXPECT_EQ(RateFromHz(500), (recording::Rate{500, 1}));
  EXPECT_EQ(RateFromHz(static_cast<double>(59.94f)), (recording::Rate{2997, 50}));
  EXPECT_EQ(RateFromHz(static_cast<double>(119.88012f)), (recording::Rate{120'000, 1001}));
  EXPECT_EQ(RateFromHz(0.5), (recording::Rate{1, 2}));
  EXPECT_FLOAT_EQ(static_cast<float>(RateFromHz(static_cast<double>(65.0530319f)).hz()),
                  65.0530319f);
}

}  // namespace
}  // namespace handhold::exchange::c3d_reader_test
