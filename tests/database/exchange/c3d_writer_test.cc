#include "database/exchange/c3d_writer.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "database/exchange/c3d_reader.h"
#include "tests/database/exchange/clips.h"
#include "tests/database/exchange/fixtures.h"

namespace handhold::exchange::c3d_writer_test {
namespace {

namespace fs = std::filesystem;
using testing::All;
using testing::Column;
using ::testing::ElementsAre;
using testing::ExpectSameSamples;
using ::testing::HasSubstr;
using testing::Stream;

using C3dWriter = testing::ScratchFolder;

recording::Clip Reread(const std::string& path) {
  auto source = OpenC3d(path);
  EXPECT_TRUE(source.has_value()) << source.error().message;
  recording::Clip clip = ReadWhole(**source).value();
  EXPECT_FALSE(AnyLoss((*source)->issues())) << All((*source)->issues());
  return clip;
}

TEST_F(C3dWriter, MixedClipComesBack) {
  const recording::Clip clip = testing::MixedClip();
  const ExportReport report = WriteC3d(clip, Path("a.c3d")).value();
  EXPECT_EQ(report.frames, 250);
  EXPECT_EQ(report.bytes, static_cast<int64_t>(fs::file_size(Path("a.c3d"))));
  EXPECT_FALSE(AnyLoss(report.issues)) << All(report.issues);
  const recording::Clip back = Reread(Path("a.c3d"));

  // Positions: rounded to floats of millimetres; residuals: whole steps of 0.01 mm.
  const auto markers = Stream(clip, "vicon/markers"), markers_back = Stream(back, "c3d/markers");
  ExpectSameSamples(markers, markers_back, 1e-7);
  EXPECT_EQ(back.streams()[0].ItemNames(), clip.streams()[0].ItemNames());

  // Forces of the hand on the object, in the sensor's frame, which stands where it stood.
  const recording::ForceSensor *a = clip.FindForceSensor("plate"),
                               *b = back.FindForceSensor("plate1");
  ASSERT_NE(b, nullptr);
  EXPECT_TRUE(a->X_MS.R.isApprox(b->X_MS.R, 1e-6));
  EXPECT_TRUE(a->X_MS.p.isApprox(b->X_MS.p, 1e-6));
  const auto raw = Stream(clip, "plate/raw"), plate = Stream(back, "c3d/plate1");
  ASSERT_EQ(raw.count(), plate.count());
  for (int i = 0; i < raw.count(); ++i) {
    Eigen::VectorXd x(6), y(6);
    for (int c = 0; c < 6; ++c) {
      x(c) = raw.value(c, i);
      y(c) = plate.value(c, i);
    }
    ASSERT_LT((a->Wrench(x) - b->Wrench(y)).norm(), 1e-6) << i;
  }
  // Counts beside the calibrated components, bit for bit.
  for (int c = 0; c < 6; ++c) {
    const std::string name = "ch" + std::to_string(c);
    EXPECT_EQ(Column(clip, "plate/raw", name), Column(back, "c3d/analog", "plate.raw." + name));
  }
  EXPECT_EQ(back.FindStreams("c3d/analog")[0]->channels[0].unit, "count");
  for (const char* name : {"flexor", "trigger"})
    EXPECT_EQ(Column(clip, "daq/emg", name), Column(back, "c3d/analog", name));
  ExpectSameSamples(Stream(clip, "vicon/bodies"), Stream(back, "c3d/rotations"), 1e-6);
  ASSERT_EQ(back.events().size(), 1u);
  EXPECT_EQ(back.events()[0].kind, "touch");
  EXPECT_EQ(back.events()[0].text, "right");
  EXPECT_NEAR(back.events()[0].clip_time.seconds(), 1.25, 1e-6);
}

TEST_F(C3dWriter, AFileOnceReadIsWrittenAgainExactly) {
  ASSERT_TRUE(WriteC3d(testing::MixedClip(), Path("a.c3d")).has_value());
  const recording::Clip once = Reread(Path("a.c3d"));
  const ExportReport report = WriteC3d(once, Path("b.c3d")).value();
  EXPECT_THAT(All(report.issues), ::testing::Not(HasSubstr("residuals")));
  const recording::Clip twice = Reread(Path("b.c3d"));
  ASSERT_EQ(once.streams().size(), twice.streams().size());
  for (const recording::StreamInfo& stream : once.streams()) {
    SCOPED_TRACE(stream.name);
    // Rotations go through quaternions: an ulp or two of a float.
    ExpectSameSamples(once.ReadAll(stream.id).value(), twice.ReadAll(stream.id).value(),
                      stream.name == "c3d/rotations" ? 3e-7 : 0);
  }
}

TEST_F(C3dWriter, Integers) {
  const recording::Clip clip = testing::MixedClip();
  const ExportReport report = WriteC3d(clip, Path("a.c3d"), {.as_integers = true}).value();
  EXPECT_THAT(All(report.issues), HasSubstr("loss: values: are whole counts: positions at most"));
  const recording::Clip back = Reread(Path("a.c3d"));
  EXPECT_EQ(back.info().properties.at("c3d.encoding"), "Intel integer");
  // The largest coordinate is 0.7 m, in 32000 steps: 11 um off at most, residuals likewise.
  ExpectSameSamples(Stream(clip, "vicon/markers"), Stream(back, "c3d/markers"), 1.2e-5);
  for (const char* name : {"flexor", "trigger"}) {
    const auto a = Column(clip, "daq/emg", name), b = Column(back, "c3d/analog", name);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1.6e-5) << i;
  }
  EXPECT_EQ(Column(clip, "plate/raw", "ch3"), Column(back, "c3d/analog", "plate.raw.ch3"))
      << "counts that fit 16 bits stay what they are";
}

// Files of floating point name a scale, too, for residuals: as a step of positions it is nothing.
TEST_F(C3dWriter, IntegersOfWhatCameAsFloatingPointTakeTheirStepFromTheRange) {
  recording::Clip clip = testing::MixedClip();
  clip.mutable_info().properties["c3d.point_scale_mm"] = "1000";
  clip.mutable_info().properties["c3d.encoding"] = "Intel float";
  ASSERT_TRUE(WriteC3d(clip, Path("a.c3d"), {.as_integers = true}).has_value());
  ExpectSameSamples(Stream(clip, "vicon/markers"), Stream(Reread(Path("a.c3d")), "c3d/markers"),
                    1.2e-5);
  clip.mutable_info().properties["c3d.encoding"] = "Intel integer";
  clip.mutable_info().properties["c3d.point_scale_mm"] = "0.125";
  ASSERT_TRUE(WriteC3d(clip, Path("b.c3d"), {.as_integers = true}).has_value());
  EXPECT_EQ(Reread(Path("b.c3d")).info().properties.at("c3d.point_scale_mm"), "0.125");
}

TEST_F(C3dWriter, WhatSixteenBitsCannotHoldIsRefused) {
  for (const double far_m : {31.0, 33.0}) {
    recording::Clip clip{recording::ClipInfo{}};
    recording::StreamInfo markers;
    markers.name = "m";
    markers.kind = recording::StreamKind::kMarkers;
    markers.rate = {500, 1};
    for (const char* part : {"a.x", "a.y", "a.z"}) markers.channels.push_back({part, "m", 0});
    recording::SampleBlock block;
    block.stream_id = clip.AddStream(markers, recording::ClockMap::Identity());
    block.count = 2;
    block.values = {0.1, far_m, 0.1, 0.1, 0.1, 0.1};
    clip.Append(block);
    const std::string path = Path(far_m > 32 ? "far.c3d" : "near.c3d");
    const auto written = WriteC3d(clip, path, {.as_integers = true});
    ASSERT_EQ(written.has_value(), far_m < 32);
    EXPECT_EQ(fs::exists(path), far_m < 32);
    if (!written) {
      EXPECT_EQ(written.error().code, ErrorCode::kUnsupported);
    } else {
      const recording::Clip back = Reread(path);
      for (const char* axis : {"a.x", "a.y", "a.z"}) {
        const auto a = Column(clip, "m", axis), b = Column(back, "c3d/markers", axis);
        for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(a[i], b.at(i), 0.5e-3);
      }
    }
  }
}

// A model's angles at the points' rate, beside analog channels at another: they used to be dropped.
TEST_F(C3dWriter, ModelOutputsGoIntoTheGroupsOfPoints) {
  recording::Clip clip = testing::MixedClip(50);
  recording::StreamInfo outputs;
  outputs.name = "c3d/outputs";
  outputs.rate = {100, 1};
  const std::pair<const char*, const char*> made[] = {
      {"RKneeAngle", "deg"}, {"RKneeMoment", "Nmm/kg"}, {"RKneePower", "W/kg"}, {"Length", "mm"},
      {"RHipAngle", "deg"},  {"RKneeForce", "N/kg"},    {"RIFT", "rad"}};
  for (const auto& [name, unit] : made) {
    for (const char* axis : {".x", ".y", ".z"})
      outputs.channels.push_back({name + std::string(axis), unit, 0});
  }
  recording::SampleBlock block;
  block.stream_id =
      clip.AddStream(outputs, recording::ClockMap::Identity(clip.info().host_start_ns));
  block.count = 50;
  for (int i = 0; i < 21 * 50; ++i)
    block.values.push_back(i % 50 == 7 ? testing::kNan : 0.25 * i - 90);
  clip.Append(block);
  const ExportReport report = WriteC3d(clip, Path("a.c3d")).value();
  EXPECT_FALSE(AnyLoss(report.issues)) << All(report.issues);
  const recording::Clip back = Reread(Path("a.c3d"));
  ExpectSameSamples(Stream(clip, "c3d/outputs"), Stream(back, "c3d/outputs"), 0);
  for (size_t c = 0; c < 18; ++c)
    EXPECT_EQ(back.FindStreams("c3d/outputs")[0]->channels[c], outputs.channels[c]) << c;
  // A marker has the name already.
  EXPECT_EQ(back.FindStreams("c3d/outputs")[0]->channels[18].name, "RIFT#2.x");
  EXPECT_EQ(back.FindStreams("c3d/markers")[0]->ItemNames(),
            clip.FindStreams("vicon/markers")[0]->ItemNames());
  // Integers have one scale, that of positions.
  const ExportReport integers = WriteC3d(clip, Path("b.c3d"), {.as_integers = true}).value();
  EXPECT_THAT(All(integers.issues), HasSubstr("loss: c3d/outputs"));
  EXPECT_TRUE(Reread(Path("b.c3d")).FindStreams("c3d/outputs").empty());
}

// A Net F/T gives a million counts per newton: more than a float holds.
TEST_F(C3dWriter, CountsOfMoreThan24BitsAreListedAsLost) {
  recording::Clip clip{recording::ClipInfo{}};
  recording::StreamInfo force;
  force.name = "f/t";
  force.kind = recording::StreamKind::kForceTorque;
  force.rate = {1000, 1};
  for (int c = 0; c < 6; ++c) force.channels.push_back({"g" + std::to_string(c), "count", 1});
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(force, recording::ClockMap::Identity());
  block.count = 10;
  block.values.assign(60, 16'777'216.0);
  block.values[7] = 16'777'217.0;
  block.values[8] = -33'554'433.0;
  clip.Append(block);
  recording::ForceSensor sensor;
  sensor.name = "tip";
  sensor.stream_id = block.stream_id;
  sensor.calibration = Eigen::MatrixXd::Identity(6, 6) * 1e-6;
  sensor.bias = Eigen::VectorXd::Zero(6);
  clip.AddForceSensor(sensor);
  const ExportReport report = WriteC3d(clip, Path("a.c3d")).value();
  EXPECT_TRUE(AnyLoss(report.issues));
  EXPECT_THAT(All(report.issues), HasSubstr("loss: counts: 2 are larger than the 24 bits"));
  EXPECT_EQ(Column(Reread(Path("a.c3d")), "c3d/analog", "tip.raw.g2"), Column(clip, "f/t", "g2"));
}

TEST_F(C3dWriter, WhatC3dCannotHoldIsListed) {
  recording::Clip clip = testing::MixedClip(50);
  const auto clock = recording::ClockMap::Identity(clip.info().host_start_ns);
  recording::StreamInfo slow;
  slow.name = "thermo";
  slow.rate = {30, 1};
  slow.channels = {{"t", "K", 0}};
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(slow, clock);
  block.count = 2;
  block.values = {300, 301};
  clip.Append(block);
  recording::StreamInfo notes;
  notes.name = "notes";
  notes.kind = recording::StreamKind::kText;
  block = {};
  block.stream_id = clip.AddStream(notes, clock);
  block.count = 1;
  block.texts = {"x"};
  block.host_times = {Timestamp::FromNanoseconds(5'000'000'000)};
  clip.Append(block);
  clip.AddEvent({{}, Duration::Seconds(1), "contact_on", "indexer", 2, 3.5, ""});
  clip.SetClockPairs(2, {{0, 0, 5'000'000'000, 0}, {1000, 1'000'000'000, 6'000'000'000, 0}});
  recording::QualityRecord quality;
  quality.keep = false;
  clip.SetQuality(quality);
  clip.mutable_info().session = "monday";
  const ExportReport report = WriteC3d(clip, Path("a.c3d")).value();
  const std::string all = All(report.issues);
  EXPECT_THAT(
      all, HasSubstr("loss: thermo: its rate of 30 Hz is not C3D's one analog rate here, 1000 Hz"));
  EXPECT_THAT(all, HasSubstr("loss: notes: C3D has no place for text streams"));
  EXPECT_THAT(all, HasSubstr("loss: events: 1 have a length, a value or a stream"));
  EXPECT_THAT(all, HasSubstr("warning: plate/raw: 2 raw clock pairs and the clock fitted to them"));
  for (const char* what : {"the subject 'S01', the session 'monday', the task 'stroke'",
                           "the time it began", "its 1 properties: note", "the quality record"})
    EXPECT_THAT(all, HasSubstr(std::string("note: clip: C3D has no place for ") + what));
  EXPECT_THAT(report.streams, ElementsAre("vicon/markers", "plate/raw", "daq/emg", "vicon/bodies"));
  EXPECT_THAT(WriteC3d(clip, Path("b.c3d"), {.streams = {"notes"}}).error().message,
              HasSubstr("nothing in these streams"));
  EXPECT_THAT(WriteC3d(clip, Path("b.c3d"), {.streams = {"note"}}).error().message,
              HasSubstr("no stream 'note': did you mean 'notes'?"));
  EXPECT_THAT(WriteC3d(clip, Path("a.c3d")).error().message, HasSubstr("exists already"));
  ASSERT_TRUE(WriteC3d(clip, Path("c.c3d"), {.dry_run = true}).has_value());
  EXPECT_FALSE(fs::exists(Path("c.c3d")));
  EXPECT_FALSE(fs::exists(Path("c.c3d.part")));
}

// A platform of C3D stands still: of a sensor in a prop that moves the counts are kept, no
// platform.
TEST_F(C3dWriter, ASensorThatMovesIsNoPlatform) {
  const recording::Clip still = testing::MixedClip(50);
  recording::ClipInfo info = still.info();
  info.things = {{.name = "box",
                  .model = "box_3x5x7",
                  .pose = recording::Thing::Pose::kRigidPoses,
                  .stream = "vicon/bodies",
                  .items = {"box"}}};
  recording::Clip clip(info);
  for (const recording::StreamInfo& stream : still.streams()) {
    recording::SampleBlock block;
    const recording::SampleWindow all = still.ReadAll(stream.id).value();
    block.stream_id = clip.AddStream(stream, still.clock_map(stream.id));
    block.count = all.count();
    for (int c = 0; c < stream.channel_count(); ++c)
      for (int i = 0; i < all.count(); ++i) block.values.push_back(all.value(c, i));
    clip.Append(block);
  }
  recording::ForceSensor sensor = *still.FindForceSensor("plate");
  sensor.mounted_on = "box";
  clip.AddForceSensor(sensor);
  const ExportReport report = WriteC3d(clip, Path("a.c3d")).value();
  EXPECT_TRUE(AnyLoss(report.issues)) << "the platform";
  const recording::Clip back = Reread(Path("a.c3d"));
  EXPECT_TRUE(back.force_sensors().empty());
  bool counts = false;
  for (const recording::StreamInfo& stream : back.streams())
    counts |= stream.kind == recording::StreamKind::kAnalog;
  EXPECT_TRUE(counts);
}

// C3D counts frames through a gap: a break of weeks would be a billion empty ones.
TEST_F(C3dWriter, FramesInGapsAreSaidOrRefused) {
  const auto export_of = [&](int64_t gap, const std::string& name) {
    recording::Clip clip{recording::ClipInfo{}};
    recording::StreamInfo markers;
    markers.name = "m";
    markers.kind = recording::StreamKind::kMarkers;
    markers.rate = {500, 1};
    for (const char* part : {"a.x", "a.y", "a.z"}) markers.channels.push_back({part, "m", 0});
    recording::SampleBlock block;
    block.stream_id = clip.AddStream(markers, recording::ClockMap::Identity());
    block.count = 10;
    block.values.assign(30, 0.5);
    clip.Append(block);
    block.first_index = 10;
    block.first_counter = 10 + gap;
    clip.Append(block);
    return WriteC3d(clip, Path(name));
  };
  EXPECT_THAT(All(export_of(5, "a.c3d").value().issues), ::testing::Not(HasSubstr("in gaps")));
  EXPECT_THAT(All(export_of(80, "b.c3d").value().issues),
              HasSubstr("warning: frames: 80 of 100 frames lie in gaps and are empty"));
  const auto weeks = export_of(1'000'000'000, "c.c3d");
  EXPECT_THAT(weeks.error().message, HasSubstr("write CSV, which has gaps"));
  EXPECT_FALSE(fs::exists(Path("c.c3d")));
}

// A body that was not seen leaves as no numbers: a matrix of zeros looks like a pose to who
// overlooks the reliability.
TEST_F(C3dWriter, ABodyThatWasNotSeenIsNoMatrixOfZeros) {
  recording::Clip clip{recording::ClipInfo{}};
  recording::StreamInfo bodies;
  bodies.name = "bodies";
  bodies.kind = recording::StreamKind::kRigidPoses;
  bodies.rate = {100, 1};
  for (const char* part : {"B.x", "B.y", "B.z", "B.qw", "B.qx", "B.qy", "B.qz"})
    bodies.channels.push_back({part, part[2] == 'q' ? "1" : "m", 0});
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(bodies, recording::ClockMap::Identity());
  block.count = 2;
  for (const double v : {0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0}) {
    block.values.push_back(v);
    block.values.push_back(testing::kNan);
  }
  clip.Append(block);
  ASSERT_TRUE(WriteC3d(clip, Path("a.c3d")));
  std::ifstream in(Path("a.c3d"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  ASSERT_EQ(bytes.size() % 512, 0u);
  float m[34];
  std::memcpy(m, bytes.data() + bytes.size() - 512, sizeof m);
  EXPECT_EQ(m[0], 1.0f) << "the first is there";
  EXPECT_EQ(m[16], 1.0f);
  EXPECT_EQ(m[17 + 16], -1.0f);
  for (const size_t k : {0u, 5u, 10u, 12u, 13u, 14u}) EXPECT_TRUE(std::isnan(m[17 + k])) << k;
  const recording::Clip back = Reread(Path("a.c3d"));
  EXPECT_TRUE(std::isnan(Stream(back, "c3d/rotations").value(0, 1)));
}

TEST_F(C3dWriter, ADriftingClockIsPlacedByTheNearestSample) {
  recording::Clip clip{recording::ClipInfo{}};
  recording::StreamInfo markers;
  markers.name = "m";
  markers.kind = recording::StreamKind::kMarkers;
  markers.rate = {100, 1};
  for (const char* part : {"A.x", "A.y", "A.z"}) markers.channels.push_back({part, "m", 0});
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(markers, recording::ClockMap::Identity());
  block.count = 1000;
  block.values.assign(3000, 0.25);
  clip.Append(block);
  recording::StreamInfo analog;
  analog.name = "a";
  analog.rate = {1000, 1};
  analog.channels = {{"ramp", "V", 0}};
  recording::ClockMap slow = recording::ClockMap::Identity();
  slow.segments[0].rate_error = 1e-3;  // its second lasts 1.001 s: 10 samples fewer in 10 s
  block = {};
  block.stream_id = clip.AddStream(analog, slow);
  block.count = 9995;
  for (int i = 0; i < block.count; ++i) block.values.push_back(i);
  clip.Append(block);
  const ExportReport report = WriteC3d(clip, Path("a.c3d")).value();
  EXPECT_THAT(All(report.issues), HasSubstr("10 samples are repeated, 0 left out"));
  EXPECT_THAT(All(report.issues), HasSubstr("note: residuals: 1000 positions have none"));
  const auto back = Stream(Reread(Path("a.c3d")), "c3d/analog");
  for (int i = 0; i < back.count(); ++i) {
    ASSERT_NEAR(back.value(0, i), i / 1.001, 0.501) << i;
  }
}

TEST_F(C3dWriter, LongTakesWithManyLabels) {
  recording::Clip clip{recording::ClipInfo{}};
  recording::StreamInfo markers;
  markers.name = "m";
  markers.kind = recording::StreamKind::kMarkers;
  markers.rate = {500, 1};
  constexpr int kMarkers = 300, kFrames = 66'000;
  for (int m = 0; m < kMarkers; ++m) {
    for (const char* part : {".x", ".y", ".z"})
      markers.channels.push_back({"M" + std::to_string(m) + part, "m", 0});
  }
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(markers, recording::ClockMap::Identity());
  block.count = 1000;
  for (int f = 0; f < kFrames; f += 1000) {
    block.first_index = block.first_counter = f;
    block.values.assign(3 * kMarkers * 1000, 0.5 + f * 0x1p-20);
    clip.Append(block);
  }
  ASSERT_TRUE(WriteC3d(clip, Path("a.c3d"), {.as_integers = true}).has_value());
  auto source = OpenC3d(Path("a.c3d")).value();
  EXPECT_EQ(source->streams()[0].ItemNames().back(), "M299");
  int64_t frames = 0;
  ASSERT_TRUE(
      source->ForEachBlock(Duration::Seconds(2), [&](const recording::SampleBlock& b) -> Status {
        frames += b.count;
        return {};
      }));
  EXPECT_EQ(frames, kFrames);
  EXPECT_EQ(All(source->issues()), "");
}

}  // namespace
}  // namespace handhold::exchange::c3d_writer_test
