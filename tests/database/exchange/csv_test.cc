#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "database/exchange/csv_reader.h"
#include "database/exchange/csv_writer.h"
#include "database/exchange/lines.h"
#include "tests/database/exchange/clips.h"
#include "tests/database/exchange/fixtures.h"

namespace handhold::exchange {
namespace {

namespace fs = std::filesystem;
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
  EXPECT_TRUE(a.calibration == b.calibration && a.bias == b.bias && a.X_WS.R == b.X_WS.R &&
              a.X_WS.p == b.X_WS.p && a.normal_S == b.normal_S);
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
              HasSubstr("no stream 'nope'; there are vicon/markers"));
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

TEST_F(Csv, ForeignTablesThatAreRefused) {
  EXPECT_THAT(Message("1,2\n3,4\n"), HasSubstr("begins with numbers"));
  EXPECT_THAT(Message("a,b\n3,4\n"), HasSubstr("no column called time"));
  EXPECT_THAT(Message("time,b\n0,4\n0.01,4\n0.02,4\n0.03,1\n0.04,1\n0.05,1\n0.0555,1\n"),
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
}  // namespace handhold::exchange
