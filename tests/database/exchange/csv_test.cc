#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "database/exchange/csv_reader.h"
#include "database/exchange/csv_writer.h"
#include "database/exchange/lines.h"
#include "tests/database/exchange/clips.h"
#include "tests/database/exchange/fixtures.h"
#include "tests/support/paths.h"

namespace handhold::exchange::csv_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Bytes;
using testing::ExpectSameSamples;
using ::testing::HasSubstr;

using Csv = testing::ScratchFolder;

Result<recording::Clip> ReadText(const std::string& text, Issues* issues = nullptr) {
  HANDHOLD_ASSIGN(const auto source, OpenCsv(Bytes(text), "made.csv"));
  HANDHOLD_ASSIGN(recording::Clip clip, ReadWhole(*source));
  if (issues != nullptr) *issues = source->issues();
  return clip;
}

std::string Message(const std::string& text) {
  const auto clip = ReadText(text);
  return clip ? "read" : clip.error().message;
}

std::string FileText(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Everything that CSV holds comes back bit for bit.
TEST_F(Csv, RoundTripOfEveryKindOfStream) {
  recording::Clip clip = testing::MixedClip();
  const auto clock = recording::ClockMap::Identity(clip.info().host_start_ns);
  recording::StreamInfo derived;
  derived.name = "filled";
  derived.made_by = "abc123";
  derived.rate = {100, 3};
  derived.channels = {{"a", "m", 0.0}, {"b \"q\";", "1", 0.25}};
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(derived, clock);
  block.count = 3;
  block.first_counter = -7;
  block.values = {1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308, testing::kNan, 2};
  block.origins = {recording::SampleOrigin::kMeasured,     recording::SampleOrigin::kPredicted,
                   recording::SampleOrigin::kInterpolated, recording::SampleOrigin::kMeasured,
                   recording::SampleOrigin::kMissing,      recording::SampleOrigin::kMeasured};
  clip.Append(block);
  block.first_counter = 10;  // a gap
  clip.Append(block);
  recording::StreamInfo points;
  points.name = "cloud";
  points.kind = recording::StreamKind::kUnlabelledPoints;
  points.rate = {50, 1};
  block = {};
  block.stream_id = clip.AddStream(points, clock);
  block.count = 3;
  block.point_counts = {2, 0, 1};
  block.values = {1, 2, 3, 7, 4, 5, 6, 8, 9, 10, 11, 7};
  clip.Append(block);
  recording::StreamInfo notes;
  notes.name = "notes";
  notes.kind = recording::StreamKind::kText;
  block = {};
  block.stream_id = clip.AddStream(notes, clock);
  block.count = 2;
  block.texts = {"said \"go\", then", "#hash"};
  block.host_times = {Timestamp::FromNanoseconds(5'000'000'123),
                      Timestamp::FromNanoseconds(6'500'000'000)};
  clip.Append(block);
  recording::QualityRecord quality;
  quality.keep = false;
  quality.items.push_back({"vicon/markers", "rate_Hz", 99.5, testing::kNan, 95, true, false,
                           Timestamp::FromNanoseconds(17), "slow"});
  clip.SetQuality(quality);

  const ExportReport report = WriteCsv(clip, Path("a.csv")).value();
  EXPECT_EQ(report.streams.size(), 7u);
  EXPECT_TRUE(report.issues.empty());
  EXPECT_EQ(report.bytes, static_cast<int64_t>(fs::file_size(Path("a.csv"))));
  const auto source = OpenCsv(Path("a.csv")).value();
  const recording::Clip back = ReadWhole(*source).value();
  EXPECT_TRUE(source->issues().empty());
  EXPECT_EQ(back.info(), clip.info());
  EXPECT_EQ(back.streams(), clip.streams());
  EXPECT_EQ(back.events(), clip.events());
  EXPECT_EQ(back.gaps(), clip.gaps());
  ASSERT_EQ(back.quality().items.size(), 1u);
  EXPECT_EQ(back.quality().items[0].cause, "slow");
  EXPECT_FALSE(back.quality().keep);
  for (const recording::StreamInfo& stream : clip.streams()) {
    SCOPED_TRACE(stream.name);
    EXPECT_EQ(back.clock_map(stream.id), clip.clock_map(stream.id));
    const auto x = clip.ReadAll(stream.id).value(), y = back.ReadAll(stream.id).value();
    ExpectSameSamples(x, y, 0);
    EXPECT_EQ(x.origins, y.origins);
  }
  ASSERT_EQ(back.force_sensors().size(), 1u);
  const recording::ForceSensor &a = clip.force_sensors()[0], &b = back.force_sensors()[0];
  EXPECT_TRUE(a.calibration == b.calibration && a.bias == b.bias && a.X_MS.R == b.X_MS.R &&
              a.X_MS.p == b.X_MS.p && a.normal_S == b.normal_S);
  EXPECT_EQ(b.sign, -1);
  EXPECT_EQ(b.serial, "FT1234");

  // And the text is the same again.
  ASSERT_TRUE(WriteCsv(back, Path("b.csv")).has_value());
  EXPECT_EQ(FileText(Path("a.csv")), FileText(Path("b.csv")));
}

TEST_F(Csv, OneStreamIsAPlainTable) {
  const recording::Clip clip = testing::MixedClip(3);
  ASSERT_TRUE(WriteCsv(clip, Path("a.csv"), {.streams = {"daq/emg"}}).has_value());
  const std::string text = FileText(Path("a.csv"));
  EXPECT_THAT(text, HasSubstr("\ntime_ns,counter,flexor,trigger\nns,1,V,V\n0,0,"));
  const recording::Clip back = ReadWhole(*OpenCsv(Path("a.csv")).value()).value();
  ASSERT_EQ(back.streams().size(), 1u);
  EXPECT_TRUE(back.force_sensors().empty()) << "its stream is not there";
  ExpectSameSamples(clip.ReadAll(3).value(), back.ReadAll(1).value(), 0);
}

TEST_F(Csv, ExportsNeverOverwriteAndDryRunsWriteNothing) {
  const recording::Clip clip = testing::MixedClip(3);
  std::ofstream(Path("a.csv")) << "mine";
  EXPECT_THAT(WriteCsv(clip, Path("a.csv")).error().message, HasSubstr("exists already"));
  EXPECT_EQ(FileText(Path("a.csv")), "mine");
  ASSERT_TRUE(WriteCsv(clip, Path("b.csv"), {.dry_run = true}).has_value());
  EXPECT_FALSE(fs::exists(Path("b.csv")));
  EXPECT_THAT(WriteCsv(clip, Path("b.csv"), {.streams = {"nope"}}).error().message,
              HasSubstr("no stream 'nope': known are 'vicon/markers'"));
}

TEST_F(Csv, CancelledExportsLeaveNothing) {
  const recording::Clip clip = testing::MixedClip(1000);
  for (const bool csv : {true, false}) {
    int asked = 0;
    const auto proceed = [&asked] { return ++asked < 3; };
    const auto report = csv ? WriteCsv(clip, Path("x"), {.proceed = proceed})
                            : WriteC3d(clip, Path("x"), {.proceed = proceed});
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
    EXPECT_TRUE(fs::is_empty(Path("")));
  }
}

TEST_F(Csv, EditedFilesAreRefusedByLine) {
  const recording::Clip clip = testing::MixedClip(3);
  ASSERT_TRUE(WriteCsv(clip, Path("a.csv"), {.streams = {"daq/emg"}}).has_value());
  const std::string text = FileText(Path("a.csv"));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    const size_t at = copy.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return copy.replace(at, from.size(), to);
  };
  EXPECT_THAT(Message(changed(",flexor,", ",extensor,")),
              HasSubstr("made.csv:5: column 3 should be 'flexor'"));
  EXPECT_THAT(Message(changed("\n1000000,1,", "\n1000000,x,")),
              HasSubstr("made.csv:8: wants time"));
  EXPECT_THAT(Message(changed("\n1000000,1,", "\n1000000,0,")), HasSubstr("runs backwards"));
  EXPECT_THAT(Message(changed("\n1000000,1,", "\n1000000,1,a")), HasSubstr("is no number"));
  EXPECT_THAT(Message(changed("\n1000000,1,", "\n1000000,1,7,")), HasSubstr("cells instead of 4"));
  EXPECT_THAT(Message(changed("#handhold-csv 1", "#handhold-csv 9")), HasSubstr("later program"));
  EXPECT_THAT(Message(changed("\"kind\":\"analog\"", "\"kind\":\"smell\"")),
              HasSubstr("no kind 'smell'"));
  Issues issues;
  ASSERT_TRUE(ReadText(text.substr(0, text.find("#data")), &issues).has_value());
  EXPECT_TRUE(AnyLoss(issues)) << "truncation is told";
}

// Also where the rest is a table with nothing odd about it.
TEST_F(Csv, ATableCutAnywhereOrWithRowsMoreOrLessIsToldAsLoss) {
  ASSERT_TRUE(WriteCsv(testing::MixedClip(3), Path("a.csv")).has_value());
  const std::string text = FileText(Path("a.csv"));
  Issues whole;
  ASSERT_TRUE(ReadText(text, &whole).has_value());
  EXPECT_FALSE(AnyLoss(whole));
  int cuts = 0;
  for (size_t end = text.find('\n', text.find("#data")); end + 1 < text.size();
       end = text.find('\n', end + 1)) {
    SCOPED_TRACE(text.substr(0, end + 1).size());
    Issues issues;
    const auto clip = ReadText(text.substr(0, end + 1), &issues);
    if (!clip) continue;  // names without units
    EXPECT_TRUE(AnyLoss(issues));
    ++cuts;
  }
  EXPECT_GT(cuts, 5);
  // A row in the middle that is gone.
  const size_t row = text.find("\n1000000,1,") + 1;
  ASSERT_NE(row, 0u);
  Issues issues;
  ASSERT_TRUE(
      ReadText(std::string(text).erase(row, text.find('\n', row) + 1 - row), &issues).has_value());
  EXPECT_TRUE(AnyLoss(issues));
}

TEST_F(Csv, ForeignTableWithUnitsAndTime) {
  Issues issues;
  const recording::Clip clip =
      ReadText("Time (ms);Fz;Fz;\"EMG; left\"\nms;N;N;mV\n100;1.5;2;\n110;2.5;3;4e-3\n140;3;4;5\n",
               &issues)
          .value();
  ASSERT_EQ(clip.streams().size(), 1u);
  const recording::StreamInfo& stream = clip.streams()[0];
  EXPECT_EQ(stream.rate, (recording::Rate{100, 1}));
  EXPECT_EQ(stream.channels[0], (recording::Channel{"Fz", "N", 0}));
  EXPECT_EQ(stream.channels[1].name, "Fz#3");
  EXPECT_EQ(stream.channels[2], (recording::Channel{"EMG; left", "mV", 0}));
  const auto window = clip.ReadAll(1).value();
  ASSERT_EQ(window.count(), 3);
  EXPECT_EQ(window.counters, (std::vector<int64_t>{0, 1, 4}));
  EXPECT_TRUE(std::isnan(window.value(2, 0)));
  EXPECT_EQ(window.value(0, 1), 2.5);
  ASSERT_EQ(clip.gaps().size(), 1u) << "the missing rows";
  EXPECT_EQ(clip.gaps()[0].count, 2);
  EXPECT_EQ(issues.size(), 1u);
}

/// The block of the page that begins with ```csv NAME.
std::string PageBlock(const std::string& name) {
  const std::string page = FileText(support::SourceDir() + "/schemas/exchange/csv.md");
  const std::string begin = "\n```csv " + name + "\n";
  const size_t at = page.find(begin);
  EXPECT_NE(at, std::string::npos) << name;
  const size_t from = at + begin.size();
  return page.substr(from, page.find("```", from) - from);
}

// What the page shows is read as it says: somebody will begin with a copy of it.
TEST_F(Csv, ThePagesExamplesAreRead) {
  Issues issues;
  const recording::Clip clip = ReadText(PageBlock("example"), &issues).value();
  EXPECT_TRUE(issues.empty()) << testing::All(issues);
  std::set<std::string_view> kinds;
  for (const recording::StreamInfo& stream : clip.streams())
    kinds.insert(recording::StreamKindName(stream.kind));
  EXPECT_EQ(kinds, (std::set<std::string_view>{"markers", "force", "poses", "pressure", "analog",
                                               "points", "text"}))
      << "every kind";
  EXPECT_TRUE(std::isnan(testing::Column(clip, "vicon/markers", "TIP.x")[2]));
  EXPECT_EQ(testing::Stream(clip, "vicon/points").point_counts, (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(testing::Stream(clip, "notes").texts[0], "thumb slipped");
  ASSERT_EQ(clip.info().things.size(), 2u);
  EXPECT_EQ(clip.info().things[0].pose, recording::Thing::Pose::kFixed);
  EXPECT_EQ(clip.info().things[0].X_WT.p.z(), 0.05);
  EXPECT_EQ(clip.info().things[1].pose, recording::Thing::Pose::kRigidPoses);
  EXPECT_EQ(clip.info().things[1].items, std::vector<std::string>{"cup"});
  const recording::ForceSensor* plate = clip.FindForceSensor("plate");
  ASSERT_NE(plate, nullptr);
  const auto raw = testing::Stream(clip, "plate/wrench");
  Eigen::VectorXd last(6);
  for (int c = 0; c < 6; ++c) last(c) = raw.value(c, 1);
  EXPECT_EQ(plate->NormalForce(last), 2.5) << "pressed";
  EXPECT_EQ(plate->mounted_on, "plate");
  EXPECT_NEAR(recording::FixedSensorPose(clip.info(), *plate)->p.z(), 0.02, 1e-12);
  ASSERT_EQ(clip.events().size(), 1u);
  EXPECT_EQ(clip.events()[0].text, "exploring");
  EXPECT_EQ(clip.events()[0].length.ns(), 20'000'000);
}

// What our own CSV says of things and sensors is held to: a misspelt or former member, a matrix
// that is no rotation, a place that nobody gave are refused by name, not taken for the lab's
// origin.
TEST_F(Csv, ThingsAndSensorsSayWhatTheyMustAndNothingElse) {
  const auto refused = [&](const std::string& head) {
    Issues issues;
    const auto clip =
        ReadText("#handhold-csv 1\n#clip {\"name\": \"a\", " + head +
                     "}\n#stream {\"id\": 1, \"name\": \"f\", \"kind\": \"force\", "
                     "\"rate\": [100, 1], \"channels\": [[\"fx\", \"N\"], [\"fy\", \"N\"], "
                     "[\"fz\", \"N\"], [\"tx\", \"N m\"], [\"ty\", \"N m\"], [\"tz\", \"N m\"]]}\n"
                     "#data 1\ntime_ns,fx,fy,fz,tx,ty,tz\n",
                 &issues);
    return clip ? std::string("read") : clip.error().message;
  };
  const auto sensor = [](const std::string& more) {
    return "\"force_sensors\": [{\"name\": \"plate\", \"stream\": 1" + more + "}]";
  };
  EXPECT_THAT(refused(sensor(", \"p_WS_m\": [0, 0, 1]")), HasSubstr("p_MS_m")) << "its former name";
  EXPECT_NE(refused(sensor(", \"normal_S\": [0, 0, 2]")), "read");
  EXPECT_NE(refused(sensor(", \"R_MS_by_columns\": [2, 0, 0, 0, 2, 0, 0, 0, 2]")), "read");
  const auto thing = [](const std::string& more) {
    return "\"things\": [{\"name\": \"box\"" + more + "}]";
  };
  EXPECT_NE(refused(thing(", \"pose\": \"fixed\"")), "read") << "where?";
  EXPECT_NE(refused(thing(", \"R_WT_by_columns\": [1, 0, 0, 0, 1, 0, 0, 0, 1]")), "read");
  EXPECT_NE(
      refused(thing(", \"p_WT_m\": [0, 0, 0], \"R_WT_by_columns\": [1, 0, 0, 0, 1, 0, 0, 0, -1]")),
      "read");
  EXPECT_THAT(refused(thing(", \"p_WT_mm\": [0, 0, 0]")), HasSubstr("p_WT_m"));
  EXPECT_NE(refused(thing(", \"stream\": \"f\", \"items\": [\"a\"]")), "read");
  EXPECT_THAT(refused("\"properties\": {\"prop_pose\": \"0 0 1\"}"), HasSubstr("things"));
}

TEST_F(Csv, ATableIsWhatItsHeadSaysItIs) {
  const std::string table = PageBlock("table"), head = PageBlock("head");
  const auto read = [&](const std::string& its_head, Issues* issues = nullptr) {
    return [&]() -> Result<recording::Clip> {
      HANDHOLD_ASSIGN(const auto source, OpenCsv(Bytes(table), "made.csv",
                                                 {.head = its_head, .head_name = "plate.head"}));
      HANDHOLD_ASSIGN(recording::Clip clip, ReadWhole(*source));
      if (issues != nullptr) *issues = source->issues();
      return clip;
    }();
  };
  Issues issues;
  const recording::Clip clip = read(head, &issues).value();
  EXPECT_TRUE(issues.empty()) << testing::All(issues);
  ASSERT_EQ(clip.streams().size(), 2u);
  EXPECT_EQ(clip.streams()[0].kind, recording::StreamKind::kForceTorque);
  EXPECT_EQ(clip.streams()[0].rate.hz(), 100) << "the table's";
  EXPECT_EQ(testing::Column(clip, "plate/wrench", "fz"), (std::vector<double>{0, 1.5, 3.5}));
  EXPECT_EQ(testing::Column(clip, "emg", "flexor"), (std::vector<double>{0.001, 0.002, 0.004}));
  Eigen::VectorXd raw = Eigen::VectorXd::Zero(6);
  raw(2) = 3.5;
  EXPECT_EQ(clip.FindForceSensor("plate")->NormalForce(raw), 3.5);
  EXPECT_EQ(clip.events()[0].kind, "stroke");
  EXPECT_EQ(clip.info().task, "press");

  const auto wrong = [&](const std::string& from, const std::string& to) {
    std::string changed = head;
    changed.replace(changed.find(from), from.size(), to);
    const auto got = read(changed);
    return got ? "read" : got.error().message;
  };
  EXPECT_THAT(wrong("\"Force Z\"", "\"Force ZZ\""),
              AllOf(HasSubstr("plate.head:2"), HasSubstr("did you mean 'Force Z'")));
  EXPECT_THAT(wrong("[\"flexor\", \"V\"]", "[\"flexor\", \"mV\"]"), HasSubstr("'EMG' is in 'V'"));
  EXPECT_THAT(wrong("\"kind\": \"force\"", "\"kind\": \"force_torque\""),
              AllOf(HasSubstr("plate.head:2"), HasSubstr("no kind 'force_torque': did you mean"),
                    HasSubstr("'force'")));
  EXPECT_THAT(wrong("\"stream\": 1", "\"stream\": 7"), HasSubstr("no #stream is"));
  // A column that no stream has: one note, or silence where the head ignores it.
  const std::string less = head.substr(0, head.rfind("#stream"));
  ASSERT_TRUE(read(less, &issues));
  EXPECT_FALSE(AnyLoss(issues));
  ASSERT_EQ(issues.size(), 1u) << testing::All(issues);
  EXPECT_THAT(issues[0].what, HasSubstr("'EMG'"));
  ASSERT_TRUE(read(less + "#table {\"ignore\": [\"EMG\"]}\n", &issues));
  EXPECT_TRUE(issues.empty()) << testing::All(issues);
  EXPECT_EQ(read(less + "#table {\"ignored\": [\"EMG\"]}\n").error().code, ErrorCode::kInvalid);
}

/// Our own CSV with six channels in these units, a sensor without a calibration, and one sample.
std::string SensorFile(const std::string& force, const std::string& moment,
                       const std::string& more = "") {
  std::string channels, names, units;
  for (const std::string name : {"fx", "fy", "fz", "tx", "ty", "tz"}) {
    const std::string& unit = name[0] == 'f' ? force : moment;
    channels += (channels.empty() ? "[\"" : ", [\"") + name + "\", \"" + unit + "\"]";
    names += "," + name;
    units += "," + unit;
  }
  return "#handhold-csv 1\n#clip {\"force_sensors\": [{\"name\": \"plate\", \"stream\": 1" + more +
         "}]}\n#stream {\"id\": 1, \"name\": \"f\", \"kind\": \"force\", \"rate\": [100, 1], "
         "\"channels\": [" +
         channels + "]}\n#data 1\ntime_ns,counter" + names + "\nns,1" + units +
         "\n0,0,0,0,-2000,0,0,500\n#end 1\n";
}

// A stranger's sensor in N mm came out a thousand times too strong, and one in volts as newtons.
TEST_F(Csv, ASensorWithoutCalibrationIsReadByItsUnitsOrRefused) {
  const auto wrench = [&](const std::string& text) {
    const recording::Clip clip = ReadText(text).value();
    Eigen::VectorXd raw(6);
    raw << 0, 0, -2000, 0, 0, 500;
    return clip.FindForceSensor("plate")->Wrench(raw);
  };
  EXPECT_EQ(wrench(SensorFile("N", "N m"))(2), -2000);
  EXPECT_NEAR(wrench(SensorFile("mN", "N mm"))(2), -2, 1e-12);
  EXPECT_NEAR(wrench(SensorFile("mN", "N mm"))(5), 0.5, 1e-12);
  EXPECT_NEAR(wrench(SensorFile("lbf", "lbf in"))(2), -8896.443230521, 1e-6);
  for (const char* unit : {"count", "V", "foo", "1"}) {
    const auto refused = ReadText(SensorFile(unit, "N m"));
    ASSERT_FALSE(refused) << unit;
    EXPECT_THAT(
        refused.error().message,
        AllOf(HasSubstr("'plate'"), HasSubstr("calibration_by_columns"), HasSubstr("'fx'")));
  }
  // With one, units are what it says.
  std::string ones;
  for (int k = 0; k < 36; ++k) ones += k % 7 == 0 ? ", 0.5" : ", 0";
  EXPECT_EQ(
      wrench(SensorFile("V", "V", ", \"calibration_by_columns\": [" + ones.substr(2) + "]"))(2),
      -1000);
  // A table's head is held to the same, and what leaves in SI is in N.
  const std::string table = "time,a,b,c,d,e,f\n0,0,0,-2,0,0,1\n0.01,0,0,-2,0,0,1\n";
  const auto head = [](const std::string& force) {
    return "#clip {\"force_sensors\": [{\"name\": \"plate\", \"stream\": 1}]}\n#stream {\"name\": "
           "\"f\", "
           "\"kind\": \"force\", \"channels\": [[\"a\", \"" +
           force + "\"], [\"b\", \"" + force + "\"], [\"c\", \"" + force +
           "\"], [\"d\", \"N mm\"], [\"e\", \"N mm\"], [\"f\", \"N mm\"]]}\n";
  };
  const std::string in_volts = head("V"), in_kgf = head("kgf");
  EXPECT_FALSE(OpenCsv(Bytes(table), "made.csv", {.head = in_volts, .head_name = "a.head"}));
  const auto source =
      OpenCsv(Bytes(table), "made.csv", {.head = in_kgf, .head_name = "a.head"}).value();
  ASSERT_TRUE(WriteCsv(ReadWhole(*source).value(), Path("si.csv"), {.in_si = true}));
  const recording::Clip back = ReadWhole(*OpenCsv(Path("si.csv")).value()).value();
  EXPECT_NEAR(testing::Column(back, "f", "fz")[0], -2 * 9.80665, 1e-12);
  EXPECT_NEAR(testing::Column(back, "f", "tz")[0], 1e-3, 1e-15);
}

TEST_F(Csv, AnEmptyClipsOwnFileGoesBackIn) {
  recording::ClipInfo info;
  info.name = "nothing";
  info.subject = "S01";
  const recording::Clip clip{info};
  ASSERT_TRUE(WriteCsv(clip, Path("a.csv")));
  const auto source = OpenCsv(Path("a.csv"));
  ASSERT_TRUE(source) << source.error().message;
  const recording::Clip back = ReadWhole(**source).value();
  EXPECT_EQ(back.info(), clip.info());
  EXPECT_TRUE(back.streams().empty());
  // Cut before its end it is no empty clip.
  std::string text = FileText(Path("a.csv"));
  text.resize(text.find("#end"));
  EXPECT_EQ(ReadText(text).error().code, ErrorCode::kCorrupt);
}

// For people and spreadsheets: what the hand did, not counts; and read again it is the same.
TEST_F(Csv, InSiForcesAreThoseOfTheHandOnTheObject) {
  recording::Clip clip = testing::MixedClip(20);
  recording::StreamInfo lengths;
  lengths.name = "lengths";
  lengths.rate = {100, 1};
  lengths.channels = {{"gap", "mm", 0.5}, {"bend", "deg", 0}, {"odd", "furlong", 0}};
  recording::SampleBlock block;
  block.stream_id =
      clip.AddStream(lengths, recording::ClockMap::Identity(clip.info().host_start_ns));
  block.count = 1;
  block.values = {1500, 180, 7};
  clip.Append(block);
  ASSERT_TRUE(WriteCsv(clip, Path("si.csv"), {.in_si = true}));
  const auto source = OpenCsv(Path("si.csv")).value();
  const recording::Clip back = ReadWhole(*source).value();
  const recording::ForceSensor &a = clip.force_sensors()[0], &b = back.force_sensors()[0];
  const auto counts = testing::Stream(clip, "plate/raw"), si = testing::Stream(back, "plate/raw");
  ASSERT_EQ(si.count(), counts.count());
  EXPECT_EQ(back.FindStreams("plate/raw")[0]->channels[3], (recording::Channel{"tx", "N m", 0}));
  for (int i = 0; i < counts.count(); ++i) {
    Eigen::VectorXd x(6), y(6);
    for (int c = 0; c < 6; ++c) x(c) = counts.value(c, i), y(c) = si.value(c, i);
    ASSERT_EQ(a.Wrench(x), y) << "the column is the wrench";
    ASSERT_EQ(b.Wrench(y), y);
  }
  EXPECT_EQ(b.X_MS.p, a.X_MS.p);
  const auto made = testing::Stream(back, "lengths");
  EXPECT_EQ(made.value(0, 0), 1.5);
  EXPECT_NEAR(made.value(1, 0), 3.14159265358979, 1e-14);
  EXPECT_EQ(made.value(2, 0), 7);
  EXPECT_EQ(back.FindStreams("lengths")[0]->channels[2].unit, "furlong");
}

TEST_F(Csv, UnitsRowOrFirstSamples) {
  const auto shape = [](const std::string& text) {
    const auto clip = ReadText(text);
    if (!clip) return clip.error().message;
    return clip->streams()[0].channels[0].unit + " " +
           std::to_string(clip->ReadAll(1).value().count());
  };
  EXPECT_EQ(shape("time,b\ns,N\n0,4\n0.01,5\n"), "N 2");
  EXPECT_EQ(shape("time,b,c\n,N,1\n0,4,1\n0.01,5,1\n"), "N 2") << "a time without its unit";
  EXPECT_EQ(shape("time,b\n0,4\n0.01,5\n"), "1 2");
  EXPECT_EQ(shape("time,b\n0,\n0.01,5\n"), "1 2") << "a missing value";
  EXPECT_EQ(shape("time,b\n0,nan\n0.01,NaN\n"), "1 2");
  // A row of samples with a bad cell is no row of units: it is named, not skipped.
  EXPECT_THAT(shape("time,b\n0,n/a\n0.01,5\n"), HasSubstr("made.csv:2: 'n/a' is no number"));
  EXPECT_EQ(OpenCsv(Bytes("a,b\nN,1\n3,4\n5,6\n"), "made.csv", {.rate_Hz = 10})
                .value()
                ->streams()[0]
                .channels[0]
                .unit,
            "N");
}

TEST_F(Csv, UnitsThatAreNotKnownOrStandInANameAreTold) {
  Issues issues;
  const recording::Clip clip =
      ReadText("time,Fx [mN],Fy (N),Elbow (R),d,q [blip]\n0,1,2,3,4,5\n0.01,1,2,3,4,5\n", &issues)
          .value();
  const auto& channels = clip.streams()[0].channels;
  EXPECT_EQ(channels[0], (recording::Channel{"Fx", "mN", 0}));
  EXPECT_EQ(channels[1], (recording::Channel{"Fy", "N", 0}));
  EXPECT_EQ(channels[2], (recording::Channel{"Elbow (R)", "1", 0}));
  EXPECT_EQ(channels[4], (recording::Channel{"q", "blip", 0}));
  EXPECT_THAT(testing::All(issues),
              HasSubstr("column 2 'Fx [mN]': is read as 'Fx' in the unit 'mN' (line 1)"));
  EXPECT_THAT(testing::All(issues),
              HasSubstr("warning: column 6 'q [blip]': its unit 'blip' (line 1) is none"));
  EXPECT_EQ(issues.size(), 4u) << testing::All(issues);
  issues.clear();
  EXPECT_EQ(ReadText("time,b\ns,furlong\n0,4\n0.01,5\n", &issues)->streams()[0].channels[0].unit,
            "furlong");
  EXPECT_THAT(
      testing::All(issues),
      HasSubstr("warning: column 2 'b': its unit 'furlong' (line 2) is none that is known"));
  EXPECT_THAT(Message("time,Fx [mN]\ns,N\n0,4\n0.01,5\n"),
              HasSubstr("made.csv:2: column 2 'Fx [mN]' has the unit 'N' in the row of units"));
  issues.clear();
  ASSERT_TRUE(ReadText("time,Fx [mN]\ns,mN\n0,4\n0.01,5\n", &issues));
  EXPECT_EQ(issues.size(), 1u) << testing::All(issues);
}

// Ids of unlabelled points and sets of cameras: half of one is nothing.
TEST_F(Csv, WhatMustBeAWholeNumberIsRefusedByLineAndColumn) {
  recording::Clip clip{recording::ClipInfo()};
  recording::StreamInfo points;
  points.name = "vicon/unlabelled";
  points.kind = recording::StreamKind::kUnlabelledPoints;
  points.rate = {100, 1};
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(points, recording::ClockMap::Identity());
  block.count = 1;
  block.point_counts = {2};
  block.values = {0.5, 1, 2, 17, 0.5, 1, 2, 18};
  clip.Append(block);
  recording::StreamInfo cameras;
  cameras.name = "c3d/cameras";
  cameras.rate = {100, 1};
  cameras.channels = {{"A", "1"}, {"B", "1"}};
  block = {};
  block.stream_id = clip.AddStream(cameras, recording::ClockMap::Identity());
  block.count = 1;
  block.values = {3, 99};
  clip.Append(block);
  ASSERT_TRUE(WriteCsv(clip, Path("a.csv")).has_value());
  const std::string text = FileText(Path("a.csv"));
  ASSERT_TRUE(ReadText(text).has_value());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    const size_t at = copy.find(from);
    EXPECT_NE(at, std::string::npos) << from << text;
    return Message(copy.replace(at, from.size(), to));
  };
  for (const char* id : {"17.5", "nan", ""}) {
    EXPECT_THAT(changed(",17,", "," + std::string(id) + ","),
                HasSubstr(": column 7: '" + std::string(id) + "' is no trajectory's id"));
  }
  for (const char* mask : {"99.5", "-1", "128"}) {
    EXPECT_THAT(changed(",3,99\n", ",3," + std::string(mask) + "\n"),
                HasSubstr(": column 4: '" + std::string(mask) + "' is no set of cameras"));
  }
  EXPECT_TRUE(ReadText(text).has_value());
}

TEST_F(Csv, DecimalCommasAreRefusedWithTheFix) {
  for (const char* text : {"time;b\n0,00;4,5\n0,01;4,5\n", "time;b\ns;N\n0,00;4,5\n0,01;4,5\n",
                           "time\tb\n0\t4,5\n1\t4,5\n"}) {
    EXPECT_THAT(Message(text), HasSubstr("write decimals with a point, not a comma")) << text;
  }
  EXPECT_THAT(Message("time,b\n0,00,4,5\n0,01,4,5\n"),
              HasSubstr("if its numbers have decimal commas, write points"));
}

TEST_F(Csv, EndsOfLinesMarksAndOtherEncodings) {
  const std::string plain = "time,b\ns,N\n0,4\n0.01,5\n";
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : plain) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const auto a = ReadText(plain).value(), b = ReadText(windows).value();
  EXPECT_EQ(a.streams()[0].channels, b.streams()[0].channels);
  ExpectSameSamples(a.ReadAll(1).value(), b.ReadAll(1).value(), 0);
  EXPECT_THAT(Message("\xFF\xFEt\0i\0"), HasSubstr("UTF-16 text; save it as UTF-8"));
  EXPECT_THAT(Message("time,b\r0,4\r1,5\r"), HasSubstr("a carriage return alone"));
  std::string wide = "time";
  for (int c = 0; c < 70'000; ++c) wide += ",x";
  EXPECT_THAT(Message(wide + "\n"), HasSubstr("70001 columns; at most 65536"));
}

/// A table whose sample k, of those wanted, has the time t(k), printed with so many decimals.
template <typename Time, typename Wanted>
std::string Table(int samples, int decimals, const Time& t, const Wanted& wanted) {
  std::string text = "time,k\n";
  for (int k = 0; k < samples; ++k) {
    if (!wanted(k)) continue;
    char row[64];
    std::snprintf(row, sizeof row, "%.*f,%d\n", decimals, t(k), k);
    text += row;
  }
  return text;
}

constexpr auto kAll = [](int) { return true; };

/// Every row is the sample that it was made as, at its time within `bound_s`.
void ExpectSamples(const recording::Clip& clip, size_t rows, double hz, double bound_s) {
  const auto window = clip.ReadAll(1).value();
  ASSERT_EQ(window.times.size(), rows);
  const auto first = static_cast<int64_t>(window.value(0, 0));
  for (size_t i = 0; i < rows; ++i) {
    const double k = window.value(0, static_cast<int>(i));
    ASSERT_EQ(window.counters[i], static_cast<int64_t>(k) - first) << i;
    ASSERT_NEAR(static_cast<double>(window.times[i].ns()) * 1e-9,
                (k - static_cast<double>(first)) / hz, bound_s)
        << i;
  }
}

TEST_F(Csv, TimesRoundedInPrintAtAnyRate) {
  for (const double hz : {25.0, 59.94, 60.0, 90.0, 100.0, 120.0, 144.0, 150.0, 240.0, 300.0, 333.0,
                          400.0, 480.0, 500.0, 1000.0}) {
    SCOPED_TRACE(hz);
    Issues issues;
    const auto clip = ReadText(Table(20'000, 3, [&](int k) { return 7 + k / hz; }, kAll), &issues);
    ASSERT_TRUE(clip.has_value()) << clip.error().message;
    EXPECT_EQ(testing::All(issues), "");
    EXPECT_TRUE(clip->gaps().empty());
    ExpectSamples(*clip, 20'000, hz, 1e-3);
  }
}

TEST_F(Csv, RatesThatAreNoWholeNumber) {
  for (const double hz : {499.99, 499.9, 500.05, 1e3 / 3, 0.37, 12'345.678}) {
    SCOPED_TRACE(hz);
    Issues issues;
    const auto clip = ReadText(Table(30'000, 9, [&](int k) { return k / hz; }, kAll), &issues);
    ASSERT_TRUE(clip.has_value()) << clip.error().message;
    EXPECT_EQ(testing::All(issues), "");
    ExpectSamples(*clip, 30'000, hz, 1e-4 / hz);
  }
  EXPECT_EQ(ReadText(Table(
                         30'000, 9, [](int k) { return k / 499.99; }, kAll))
                ->streams()[0]
                .rate,
            (recording::Rate{49'999, 100}));
}

TEST_F(Csv, MissingRowsOfRoundedTimesAreGaps) {
  const auto wanted = [](int k) { return k % 1000 < 995 || k > 3000; };
  for (const double hz : {60.0, 144.0, 400.0}) {
    SCOPED_TRACE(hz);
    Issues issues;
    const auto clip = ReadText(Table(9000, 3, [&](int k) { return k / hz; }, wanted), &issues);
    ASSERT_TRUE(clip.has_value()) << clip.error().message;
    ASSERT_EQ(clip->gaps().size(), 3u);
    EXPECT_EQ(clip->gaps()[1].first_missing_counter, 1995);
    EXPECT_EQ(clip->gaps()[1].count, 5);
    ExpectSamples(*clip, 9000 - 15, hz, 1e-3);
  }
}

// In milliseconds 900 Hz has nine steps of 1 and one of 2; 1 kHz with lost rows has steps of 2
// where they were lost. Both are read for what they are, and said to be doubtful.
TEST_F(Csv, TimesTooCoarseToTellLossesAreDoubted) {
  Issues issues;
  const auto even = ReadText(Table(9000, 3, [](int k) { return k / 900.0; }, kAll), &issues);
  ASSERT_TRUE(even.has_value()) << even.error().message;
  EXPECT_THAT(testing::All(issues), HasSubstr("look alike; taken as none missing"));
  ExpectSamples(*even, 9000, 900, 1e-3);
  std::mt19937 random(3);
  std::vector<bool> there(9000);
  size_t rows = 0;
  for (int k = 0; k < 9000; ++k) {
    there[static_cast<size_t>(k)] =
        k == 0 || !there[static_cast<size_t>(k) - 1] || random() % 20 != 0;
    rows += there[static_cast<size_t>(k)] ? 1 : 0;
  }
  const auto lost = ReadText(Table(
                                 9000, 3, [](int k) { return k / 1000.0; },
                                 [&](int k) { return there[static_cast<size_t>(k)]; }),
                             &issues);
  ASSERT_TRUE(lost.has_value()) << lost.error().message;
  EXPECT_THAT(testing::All(issues), HasSubstr("look alike; taken as missing"));
  ExpectSamples(*lost, rows, 1000, 1e-6);
}

// A clip keeps no time per row: how far the rows' own lay off is said, or the table refused.
TEST_F(Csv, JitterIsReportedWithItsLargestOrRefused) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<double> off(5000);
  for (double& o : off) o = 0.1 * unit(random);
  off[2345] = 0.14;
  const auto table = [&](double scale) {
    return Table(
        5000, 6, [&](int k) { return (k + scale * off[static_cast<size_t>(k)]) / 100; }, kAll);
  };
  Issues issues;
  const auto clip = ReadText(table(1), &issues);
  ASSERT_TRUE(clip.has_value()) << clip.error().message;
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].severity, Severity::kWarning);
  EXPECT_THAT(issues[0].what, HasSubstr("line 2347)"));
  const size_t number = issues[0].what.find("up to ") + 6;
  EXPECT_NEAR(std::strtod(issues[0].what.c_str() + number, nullptr), 0.0014, 3e-5);
  EXPECT_EQ(clip->streams()[0].rate, (recording::Rate{100, 1}));
  EXPECT_THAT(Message(table(2)), HasSubstr("made.csv:2347: is not evenly sampled"));
}

TEST_F(Csv, IntegersThatADoubleCannotHoldAreCounted) {
  Issues issues;
  const auto clip = ReadText(
      "time,a,b\n0,9007199254740992,1e300\n0.1,9007199254740993,0.1\n"
      "0.2,-9007199254740995,00018014398509481984\n0.3,1,123456789012345678901234567890\n",
      &issues);
  ASSERT_TRUE(clip) << clip.error().message;
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].severity, Severity::kWarning);
  EXPECT_THAT(issues[0].what, HasSubstr("3 integers are above 2^53"));
  EXPECT_THAT(issues[0].what, HasSubstr("line 3: 9007199254740993"));
  ReadText("time,a\n0,9007199254740992\n0.1,-36028797018963968\n", &issues).value();
  EXPECT_TRUE(issues.empty()) << "even ones that a double holds";
}

TEST_F(Csv, ARateForATableWithTimesIsSaidNotToBeUsed) {
  const std::string text = "time,a\n0,1\n0.1,2\n0.2,3\n";
  const auto source = OpenCsv(Bytes(text), "made.csv", {.rate_Hz = 500}).value();
  EXPECT_EQ(ReadWhole(*source).value().streams()[0].rate.hz(), 10);
  ASSERT_EQ(source->issues().size(), 1u);
  EXPECT_THAT(source->issues()[0].what, HasSubstr("10 Hz: --rate 500 is not used"));
  Issues issues;
  ReadText(text, &issues).value();
  EXPECT_TRUE(issues.empty());
}

// What six strangers' tables looked like.
TEST_F(Csv, TablesWithoutNamesWithPaddedNamesAndWithOtherTimesAreRead) {
  const auto opened = [](const std::string& text, const CsvReadOptions& options = {}) {
    return testing::ReadAll(OpenCsv(Bytes(text), "made.csv", options));
  };
  const auto names = [](const testing::ReadFile& file) {
    std::string all;
    for (const recording::Channel& c : file.streams.at(0).channels) all += c.name + "|";
    return all;
  };
  // No names: by number, where the rate or the times are said.
  const std::string bare = "0,1.5,2\n5,2.5,3\n10,3.5,4\n";
  const auto numbered = opened(bare, {.rate_Hz = 50});
  EXPECT_EQ(names(numbered), "column1|column2|column3|");
  EXPECT_EQ(numbered.clip.ReadAll(1)->count(), 3) << "the first row is data";
  const auto timed =
      opened(bare, {.head = "#table {\"time\": \"column1\", \"time_unit\": \"ms\"}\n#stream "
                            "{\"name\": \"s\", \"kind\": \"analog\", \"channels\": [[\"p\", "
                            "\"V\"]], \"columns\": [\"column3\"]}\n",
                    .head_name = "a.head"});
  EXPECT_EQ(timed.streams.at(0).rate.hz(), 200);
  EXPECT_EQ(testing::Column(timed.clip, "s", "p"), (std::vector<double>{2, 3, 4}));
  // An element is no unit; blanks are no part of a name.
  EXPECT_EQ(names(opened("time,C7[0],C7[1], \" Fx\" , Fy \n0,1,2,3,4\n0.1,1,2,3,4\n")),
            "C7[0]|C7[1]|Fx|Fy|");
  for (const char* name : {"timestamp", "Timestamp", "time_stamp", "Time stamp (s)", " time "}) {
    const auto file = opened(std::string(name) + ",a\n0,1\n0.1,2\n0.2,3\n");
    EXPECT_EQ(file.streams.at(0).rate.hz(), 10) << name;
  }
  // With a rate a "t" is data: a torque does not ascend.
  const auto torque = opened("t,a\n3,1\n2,2\n3,3\n", {.rate_Hz = 100});
  EXPECT_EQ(names(torque), "t|a|");
  EXPECT_EQ(torque.issues.size(), 1u) << testing::All(torque.issues);
  // Dates are no row of units.
  EXPECT_THAT(Message("timestamp,a\n2024-05-01 10:00:00.00,1\n2024-05-01 10:00:00.01,2\n"),
              HasSubstr("times are numbers"));
  EXPECT_THAT(OpenCsv(Bytes("a,b\n1,2\n3,4\n"), "made.csv", {.time_column = "c"}).error().message,
              HasSubstr("no column 'c'"));
}

// Files of several tables: named for what they are.
TEST_F(Csv, OthersTablesAreNamed) {
  EXPECT_THAT(Message("Trajectories\n100\n,,Hand:A,,\nFrame,Sub Frame,X,Y,Z\n,,mm,mm,mm\n"
                      "1,0,1,2,3\n"),
              HasSubstr("Nexus"));
  EXPECT_THAT(Message("PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\n100\t100\n"),
              HasSubstr("TRC"));
  EXPECT_THAT(Message("Coordinates\nversion=1\nnRows=2\nnColumns=2\ninDegrees=yes\nendheader\n"
                      "time\tflexion\n0\t1\n0.01\t2\n"),
              HasSubstr("MOT"));
  // A table whose first column is called so is none of them.
  EXPECT_EQ(OpenCsv(Bytes("Devices,time\n1,0\n2,0.1\n"), "made.csv").value()->streams().size(), 1u);
}

TEST_F(Csv, ForeignTablesThatAreRefused) {
  EXPECT_THAT(Message("1,2\n3,4\n"), HasSubstr("begins with numbers"));
  EXPECT_THAT(Message("a,b\n3,4\n"), HasSubstr("no column called time"));
  EXPECT_THAT(Message("time,b\n0,4\n0.01,4\n0.02,4\n0.03,1\n0.04,1\n0.05,1\n0.054,1\n"),
              HasSubstr("not evenly sampled"));
  EXPECT_THAT(Message("time,b\n0,4\n0.01,4\n0.02,4\n0.01,1\n"), HasSubstr("does not increase"));
  EXPECT_THAT(Message("time,b\n0,4\n0.01\n"), HasSubstr("made.csv:3: has 1 cells, the names 2"));
  EXPECT_THAT(Message("time,b\nparsec,m\n0,4\n1,4\n"), HasSubstr("unit 'parsec'"));
  EXPECT_THAT(Message(""), HasSubstr("is empty"));
  const std::string rows = "a,b\n3,4\n5,6\n";
  const auto source = OpenCsv(Bytes(rows), "made.csv", {.rate_Hz = 240}).value();
  EXPECT_EQ(ReadWhole(*source).value().ReadAll(1).value().count(), 2);
}

TEST(Lines, CellsAndQuotes) {
  std::vector<std::string_view> cells;
  SplitCells("a,\"b,\"\"c\"\"\",,d", ',', cells);
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(Unquoted(cells[1]), "b,\"c\"");
  EXPECT_EQ(cells[2], "");
  for (const char* text : {"plain", "com,ma", "qu\"ote", "", " lead", "semi;colon"}) {
    const std::string cell = Quoted(text) + ",x";
    SplitCells(cell, ',', cells);
    ASSERT_EQ(cells.size(), 2u) << text;
    EXPECT_EQ(Unquoted(cells[0]), text);
  }
  SplitCells("\"never ends, x", ',', cells);
  EXPECT_EQ(cells.size(), 1u);
}

TEST(Lines, EndsOfLinesAndOfFiles) {
  const std::string text =
      "\xEF\xBB\xBF"
      "one\r\n\ntwo";
  const auto bytes = ByteSource::OfBytes(Bytes(text));
  LineReader lines(*bytes);
  EXPECT_EQ(**lines.Next(), "one");
  EXPECT_EQ(**lines.Next(), "");
  EXPECT_EQ(**lines.Next(), "two");
  EXPECT_EQ(lines.number(), 3);
  EXPECT_FALSE(lines.Next().value().has_value());
  lines.Rewind();
  EXPECT_EQ(**lines.Next(), "one");
  const std::string endless(9 << 20, 'x');
  const auto long_bytes = ByteSource::OfBytes(Bytes(endless));
  LineReader one(*long_bytes);
  EXPECT_THAT(one.Next().error().message, HasSubstr("longer than 8 MB"));
}

}  // namespace
}  // namespace handhold::exchange::csv_test
