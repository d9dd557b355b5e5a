// Rig files: what is right is read with its units, what is wrong is named with line, path and the
// nearest right key; the rigs that we ship parse, and README shows them as they are.
#include "capture/session/rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "capture/session/make_sources.h"
#include "database/text/file.h"
#include "tests/support/paths.h"

namespace handhold::capture::rig_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHead = R"(format = "handhold.rig"
version = 1
name = "r"
)";

constexpr const char* kVicon = R"([[source]]
name = "vicon"
kind = "vicon"
host = "10.0.0.2"
)";

constexpr const char* kPlate = R"([[source]]
name = "plate"
kind = "net_ft"
host = "10.0.0.3"
)";

/// Of a rig of these lines: the message, which must be an error.
std::string ErrorOf(const std::string& toml, ErrorCode code = ErrorCode::kInvalid) {
  const Result<Rig> rig = ParseRig(toml, "r.toml");
  if (rig) return "no error";
  EXPECT_EQ(rig.error().code, code);
  return rig.error().message;
}

TEST(Rig, ReadsEverythingInSi) {
  const Result<Rig> rig = ParseRig(std::string(kHead) + R"([take]
subject = "S01"
session = "a"
task = "stroke"
pre_roll_s = 1.5
stop_after_s = 20
[[thing]]
name = "cup"
prop = "mug"
position_mm = [100, 0, -20]
rotvec_deg = [0, 0, 90]
[[thing]]
name = "box"
prop = "box_3x5x7"
stream = "vicon/markers"
markers = ["B1", "B2", "B3"]
[[thing]]
name = "R"
hand = "hand27"
[limits]
visible_fraction = 0.8
disk_left_s = 60
[[source]]
name = "vicon"
kind = "vicon"
host = "10.0.0.2"
port = 802
x = "left"
y = "backward"
unlabelled = false
devices = false
delay_ms = 2.5
delay_sd_ms = 0.25
required = false
required_streams = ["markers"]
[[source]]
name = "tip"
kind = "net_ft"
host = "10.0.0.3"
port = 5000
http_port = 5001
rate_Hz = 1000
buffered = true
bias_on_start = true
[[source.sensor]]
on = "box"
position_mm = [1, -2, 3.5]
rotvec_deg = [0, 0, 90]
normal = [0, 0.6, 0.8]
sign = -1
full_scale_N = 65
[[source]]
name = "again"
kind = "playback"
clip = "a.clip"
speed = 20
loop = true
)",
                                   "r.toml");
  ASSERT_TRUE(rig) << rig.error().message;
  EXPECT_EQ(rig->subject, "S01");
  EXPECT_EQ(rig->session, "a");
  EXPECT_EQ(rig->task, "stroke");
  ASSERT_EQ(rig->things.size(), 3u);
  const recording::Thing& mug = rig->things[0];
  EXPECT_EQ(mug.name, "cup");
  EXPECT_EQ(mug.model, "mug");
  EXPECT_EQ(mug.pose, recording::Thing::Pose::kFixed);
  EXPECT_LT((mug.X_WT.p - geometry::Vec3(0.1, 0, -0.02)).norm(), 1e-15);
  EXPECT_LT((mug.X_WT.R * geometry::Vec3::UnitX() - geometry::Vec3::UnitY()).norm(), 1e-12);
  EXPECT_EQ(rig->things[1].pose, recording::Thing::Pose::kMarkers);
  EXPECT_EQ(rig->things[1].items.size(), 3u);
  EXPECT_EQ(rig->things[2].kind, recording::Thing::Kind::kHand);
  EXPECT_EQ(rig->things[2].pose, recording::Thing::Pose::kUnknown);
  const recording::ClipInfo take = rig->TakeInfo();
  EXPECT_EQ(take.subject, "S01");
  EXPECT_EQ(take.things, rig->things);
  EXPECT_EQ(rig->pre_roll, Duration::Milliseconds(1500));
  EXPECT_EQ(rig->stop_after, Duration::Seconds(20));
  EXPECT_THAT(rig->text, HasSubstr("[take]"));
  ASSERT_EQ(rig->sources.size(), 3u);

  const RigSource& vicon = rig->sources[0];
  EXPECT_EQ(vicon.kind, RigSource::Kind::kVicon);
  EXPECT_EQ(vicon.port, 802);
  EXPECT_EQ(vicon.x, ViconAxis::kLeft);
  EXPECT_EQ(vicon.y, ViconAxis::kBackward);
  EXPECT_EQ(vicon.z, ViconAxis::kUp);
  EXPECT_FALSE(vicon.unlabelled);
  EXPECT_FALSE(vicon.devices);
  EXPECT_FALSE(vicon.required);
  EXPECT_EQ(vicon.delay, Duration::Microseconds(2500));
  EXPECT_EQ(vicon.delay_sd, Duration::Microseconds(250));
  EXPECT_THAT(vicon.required_streams, ElementsAre("markers"));

  const RigSource& tip = rig->sources[1];
  EXPECT_EQ(tip.http_port, 5001);
  EXPECT_EQ(tip.rate_Hz, 1000);
  EXPECT_TRUE(tip.buffered);
  EXPECT_TRUE(tip.bias_on_start);
  EXPECT_TRUE(tip.required);
  ASSERT_EQ(tip.sensors.size(), 1u);
  EXPECT_EQ(tip.sensors[0].name, "tip");
  EXPECT_TRUE(tip.sensors[0].X_MS.p.isApprox(geometry::Vec3(1e-3, -2e-3, 3.5e-3), 1e-15));
  // 90 degrees about z takes the sensor's x to the laboratory's y.
  EXPECT_TRUE(
      (tip.sensors[0].X_MS.R * geometry::Vec3::UnitX()).isApprox(geometry::Vec3::UnitY(), 1e-12));
  EXPECT_TRUE(tip.sensors[0].normal_S.isApprox(geometry::Vec3(0, 0.6, 0.8), 1e-12));
  EXPECT_EQ(tip.sensors[0].sign, -1);
  EXPECT_EQ(tip.sensors[0].full_scale_N, 65);

  EXPECT_EQ(rig->sources[2].speed, 20);
  EXPECT_TRUE(rig->sources[2].loop);

  const HealthLimits limits = LimitsOf(rig->limits);
  EXPECT_EQ(limits.visible_fraction, 0.8);
  EXPECT_EQ(limits.disk_left_s, 60);
  EXPECT_EQ(limits.last_sample_age_s, HealthLimits().last_sample_age_s)
      << "not stated: the default";
}

TEST(Rig, WrongKeysAreAllNamedWithLinePathAndTheNearestRightOne) {
  const std::string message = ErrorOf(std::string(kHead) + R"([[source]]
name = "vicon"
kind = "vicon"
hots = "10.0.0.2"
prot = 801
[[source]]
name = "plate"
kind = "net_ft"
host = "10.0.0.3"
rate_hz = 7000
[[source.sensor]]
postion_mm = [0, 0, 0]
[limits]
jitter_s = 0.1
[takes]
)");
  EXPECT_THAT(message, HasSubstr("r.toml:7: /source/0: unknown key 'hots': did you mean 'host'?"));
  EXPECT_THAT(message, HasSubstr("r.toml:8: /source/0: unknown key 'prot': did you mean 'port'?"));
  EXPECT_THAT(message,
              HasSubstr("r.toml:13: /source/1: unknown key 'rate_hz': did you mean 'rate_Hz'?"));
  EXPECT_THAT(
      message,
      HasSubstr(
          "r.toml:15: /source/1/sensor/0: unknown key 'postion_mm': did you mean 'position_mm'?"));
  EXPECT_THAT(message, HasSubstr("r.toml:17: /limits: unknown key 'jitter_s'"));
  EXPECT_THAT(message, HasSubstr("r.toml:18: unknown key 'takes': did you mean 'take'?"));
}

TEST(Rig, AUnitThatIsNotTheKeysIsAWrongKey) {
  EXPECT_THAT(ErrorOf(std::string(kHead) + kVicon + "delay_us = 5\n"),
              HasSubstr("unknown key 'delay_us': did you mean 'delay_ms'"));
  EXPECT_THAT(ErrorOf(std::string(kHead) + kPlate + "[[source.sensor]]\nposition_m = [0,0,0]\n"),
              HasSubstr("unknown key 'position_m': did you mean 'position_mm'?"));
  EXPECT_THAT(ErrorOf(std::string(kHead) + kVicon + "delay_ms = \"2 ms\"\n"),
              HasSubstr("r.toml:8: /source/0/delay_ms: expected a number, found string \"2 ms\""));
}

TEST(Rig, WhatIsMissingIsNamed) {
  EXPECT_THAT(ErrorOf(std::string(kHead) + "[[source]]\nname = \"v\"\nkind = \"vicon\"\n"),
              AllOf(HasSubstr("r.toml:4: /source/0"), HasSubstr("'host'")));
  EXPECT_THAT(ErrorOf(std::string(kHead) + "[[source]]\nname = \"v\"\nhost = \"h\"\n"),
              HasSubstr("'kind'"));
  EXPECT_THAT(ErrorOf(kHead), HasSubstr("'source'"));
  EXPECT_THAT(ErrorOf("name = \"r\"\n"), HasSubstr("not a rig file: it begins with the lines"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a rig file"));
  EXPECT_THAT(ErrorOf("format = \"handhold.rig\"\nversion = 2\n", ErrorCode::kVersion),
              HasSubstr("r.toml:2: /version: version 2 is not known: this program reads 1"));
  EXPECT_THAT(ErrorOf("format = \"handhold.prop\"\nversion = 1\nname = \"r\"\n"),
              HasSubstr("handhold.rig"));
}

TEST(Rig, NamesAreUnique) {
  EXPECT_THAT(ErrorOf(std::string(kHead) + kVicon + kPlate + kVicon),
              AllOf(HasSubstr("r.toml:12: /source/2"),
                    HasSubstr("a second source called 'vicon', the first is on line 4")));
  EXPECT_THAT(ErrorOf(std::string(kHead) + kVicon +
                      "[[source.sensor]]\nname = \"P\"\n[[source.sensor]]\nname = \"P\"\n"),
              AllOf(HasSubstr("/source/0/sensor/1"), HasSubstr("a second sensor called 'P'")));
  EXPECT_THAT(ErrorOf(std::string(kHead) + kPlate + "[[source.sensor]]\nname = \"P\"\n"),
              HasSubstr("a Net F/T holds one sensor, called as its source: 'plate'"));
  EXPECT_THAT(ErrorOf(std::string(kHead) + "[[source]]\nname = \"a/b\"\nkind = \"vicon\"\n"
                                           "host = \"h\"\n"),
              HasSubstr("/source/0/name"));
}

TEST(Rig, PortsHostsRatesAndKinds) {
  for (const char* port : {"0", "-1", "65536", "801.5", "\"801\""}) {
    EXPECT_THAT(ErrorOf(std::string(kHead) + kVicon + "port = " + port + "\n"),
                HasSubstr("r.toml:8: /source/0/port"))
        << port;
  }
  EXPECT_THAT(ErrorOf(std::string(kHead) + "[[source]]\nname = \"v\"\nkind = \"vicon\"\nhost = "
                                           "\"10.0.0.2:801\"\n"),
              HasSubstr("r.toml:7: /source/0/host"));
  EXPECT_THAT(ErrorOf(std::string(kHead) + kPlate + "rate_Hz = 0\n"),
              HasSubstr("/source/0/rate_Hz"));
  EXPECT_THAT(ErrorOf(std::string(kHead) + kPlate + "rate_Hz = 1e9\n"),
              HasSubstr("/source/0/rate_Hz"));
  EXPECT_THAT(ErrorOf(std::string(kHead) + kPlate + "required_streams = [\"wrnch\"]\n"),
              HasSubstr("a Net F/T has no stream 'wrnch': did you mean 'wrench'?"));
  EXPECT_THAT(ErrorOf(std::string(kHead) + "[[source]]\nname = \"v\"\nkind = \"vicn\"\nhost = "
                                           "\"h\"\n"),
              AllOf(HasSubstr("/source/0/kind"), HasSubstr("vicn")));
  EXPECT_THAT(ErrorOf(std::string(kHead) + kVicon + "x = \"forwards\"\n"),
              AllOf(HasSubstr("/source/0/x"), HasSubstr("'forward'")));
}

TEST(Rig, PosesAndNormals) {
  const auto sensor = [](const char* line) {
    return std::string(kHead) + kPlate + "[[source.sensor]]\n" + line + "\n";
  };
  for (const char* line : {"position_mm = [nan, 0, 0]", "normal = [0, 0, nan]",
                           "rotvec_deg = [inf, 0, 0]", "R = [nan,0,0,0,1,0,0,0,1]"}) {
    EXPECT_THAT(ErrorOf(sensor(line)), HasSubstr("r.toml:9")) << line;
  }
  EXPECT_THAT(ErrorOf(sensor("position_mm = [0, 0]")), HasSubstr("/source/0/sensor/0/position_mm"));
  EXPECT_THAT(ErrorOf(sensor("normal = [0, 0, 2]")),
              AllOf(HasSubstr("r.toml:9: /source/0/sensor/0/normal"), HasSubstr("length is 2.0"),
                    HasSubstr("did you mean [0, 0, 1]?")));
  EXPECT_THAT(ErrorOf(sensor("normal = [0, 0, 0]")), HasSubstr("a normal of no direction"));
  EXPECT_THAT(ErrorOf(sensor("R = [1,0,0, 0,1,0, 0,0,-1]")), HasSubstr("not a rotation"));
  EXPECT_THAT(ErrorOf(sensor("R = [2,0,0, 0,1,0, 0,0,1]")), HasSubstr("not a rotation"));
  EXPECT_THAT(ErrorOf(sensor("R = [1,0,0, 0,1,0, 0,0,1]\nrotvec_deg = [0, 0, 0]")),
              HasSubstr("give R or rotvec_deg, not both"));
  EXPECT_THAT(ErrorOf(sensor("sign = 0.5")), HasSubstr("/source/0/sensor/0/sign"));

  const Result<Rig> typed = ParseRig(sensor("normal = [0, 0.447, 0.894]"), "r.toml");
  ASSERT_TRUE(typed) << "three typed decimals are enough";
  EXPECT_NEAR(typed->sources[0].sensors[0].normal_S.norm(), 1.0, 1e-15);
  const Result<Rig> turned = ParseRig(sensor("R = [0,-1,0, 1,0,0, 0,0,1]"), "r.toml");
  ASSERT_TRUE(turned);
  EXPECT_TRUE((turned->sources[0].sensors[0].X_MS.R * geometry::Vec3::UnitX())
                  .isApprox(geometry::Vec3::UnitY(), 1e-12));
}

TEST(Rig, SyntaxErrorsSayWhere) {
  EXPECT_THAT(ErrorOf(std::string(kHead) + "[[source]\n"), HasSubstr("r.toml:4"));
}

TEST(Rig, FilesAndBuiltInOnesAreFound) {
  EXPECT_THAT(FindRig("dmeo").error().message,
              AllOf(HasSubstr("no rig file 'dmeo'"), HasSubstr("did you mean 'demo'?")));
  for (const std::string& name : BuiltInRigNames()) {
    const Result<Rig> rig = FindRig(name);
    ASSERT_TRUE(rig) << rig.error().message;
    EXPECT_EQ(rig->name, name);
    const std::string file = support::SourceDir() + "/schemas/rigs/" + name + ".toml";
    const Result<Rig> read = FindRig(file);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->text, rig->text) << "what is built in is the file";
    EXPECT_EQ(read->path, file);
  }
}

TEST(Rig, AClipIsLookedForBesideTheRigFile) {
  const std::string folder = ::testing::TempDir() + "/rig_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/p.toml") << kHead
                                    << "[[source]]\nname = \"p\"\nkind = \"playback\"\nclip = "
                                       "\"a.clip\"\n";
  const Result<Rig> rig = ReadRig(folder + "/p.toml");
  ASSERT_TRUE(rig) << rig.error().message;
  EXPECT_EQ(rig->sources[0].clip, folder + "/a.clip");
}

// The guide's rig is the file that is shipped, to the letter.
TEST(Rig, TheReadmeShowsTheRealWiring) {
  const Result<std::string> readme =
      text::ReadTextFile(support::SourceDir() + "/capture/README.md");
  ASSERT_TRUE(readme);
  EXPECT_THAT(*readme, HasSubstr("```toml\n" + std::string(BuiltInRigText("lab")) + "```"));
}

TEST(MakeSources, CarriesWhatTheDeviceCannotKnow) {
  const Result<Rig> rig = FindRig("lab");
  ASSERT_TRUE(rig);
  const Result<std::vector<RecordedSource>> sources = MakeSources(*rig);
  if (!sources && sources.error().code == ErrorCode::kUnsupported)
    GTEST_SKIP() << sources.error().message;
  ASSERT_TRUE(sources) << sources.error().message;
  ASSERT_EQ(sources->size(), 2u);
  const RecordedSource& vicon = sources->front();
  EXPECT_EQ(vicon.source->name(), "vicon");
  EXPECT_THAT(vicon.required_streams, ElementsAre("vicon/markers", "vicon/Plate1"));
  EXPECT_EQ(vicon.delay_sd, Duration::Microseconds(500));
  ASSERT_EQ(vicon.sensor_overrides.size(), 1u);
  EXPECT_EQ(vicon.sensor_overrides[0].name, "Plate1");
  EXPECT_EQ(vicon.sensor_overrides[0].sign, -1);
  EXPECT_EQ(vicon.sensor_overrides[0].full_scale_N, 500);
  // Turned upside down, with the touched surface's normal along -z: up, in the laboratory.
  EXPECT_TRUE((vicon.sensor_overrides[0].X_MS.R * vicon.sensor_overrides[0].normal_S)
                  .isApprox(geometry::Vec3::UnitZ(), 1e-12));
  EXPECT_EQ(sources->back().delay, Duration::Microseconds(100));
}

TEST(MakeSources, ALeftHandedMappingIsRefusedWithItsLine) {
  const Result<Rig> rig = ParseRig(std::string(kHead) + kVicon + "x = \"backward\"\n", "r.toml");
  ASSERT_TRUE(rig);
  const auto sources = MakeSources(*rig);
  ASSERT_FALSE(sources);
  if (sources.error().code == ErrorCode::kUnsupported) GTEST_SKIP() << sources.error().message;
  EXPECT_THAT(sources.error().message, HasSubstr("r.toml:4: source 'vicon'"));
}

TEST(MakeSources, PlaybackAsksForItsClip) {
  const Result<Rig> rig = ParseRig(
      std::string(kHead) +
          "[[source]]\nname = \"p\"\nkind = \"playback\"\nclip = \"a.clip\"\nrequired_streams = "
          "[\"plate/wrench\"]\n",
      "r.toml");
  ASSERT_TRUE(rig);
  std::string asked;
  const auto refused = MakeSources(*rig, [&](const std::string& path) {
    asked = path;
    return Result<std::shared_ptr<const recording::ClipSource>>(
        Error{ErrorCode::kNotFound, "no such clip"});
  });
  EXPECT_EQ(asked, "a.clip");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "r.toml:4: source 'p': no such clip");

  const auto sources = MakeSources(*rig, [](const std::string&) {
    return Result<std::shared_ptr<const recording::ClipSource>>(
        std::make_shared<recording::Clip>(recording::ClipInfo{}));
  });
  ASSERT_TRUE(sources);
  EXPECT_THAT(sources->front().required_streams, ElementsAre("plate/wrench"));
}

TEST(Rig, ThingsThatContradictThemselvesAreRefused) {
  const auto thing = [](const std::string& lines) {
    return ErrorOf(std::string(kHead) + "[[thing]]\nname = \"box\"\n" + lines + kPlate);
  };
  EXPECT_THAT(thing("item = \"b\"\nposition_mm = [1, 2, 3]\nstream = \"s\"\n"),
              HasSubstr("r.toml"));
  EXPECT_NE(thing("stream = \"vicon/segments\"\n"), "no error") << "which body of it?";
  EXPECT_NE(thing("item = \"b\"\n"), "no error") << "of which stream?";
  EXPECT_NE(thing("stream = \"s\"\nmarkers = [\"a\", \"b\"]\n"), "no error") << "two turn";
  EXPECT_NE(thing("prop = \"mug\"\nhand = \"hand27\"\n"), "no error");
  EXPECT_NE(thing("[[thing]]\nname = \"box\"\n"), "no error") << "twice";
  EXPECT_EQ(thing("prop = \"mug\"\n"), "no error");
  const std::string on = "[[source.sensor]]\non = \"bx\"\n";
  EXPECT_THAT(ErrorOf(std::string(kHead) + "[[thing]]\nname = \"box\"\n" + kPlate + on),
              HasSubstr("'box'"));
}

}  // namespace
}  // namespace handhold::capture::rig_test
