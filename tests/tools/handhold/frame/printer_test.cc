#include "tools/handhold/frame/printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/tools/handhold/frame/sample_verbs.h"

namespace handhold::cli::printer_test {
namespace {

std::string Printed(Format format, const std::function<void(Printer&)>& print, bool bold = false) {
  MemoryFile file;
  Printer printer(file.get(), format, bold);
  print(printer);
  EXPECT_TRUE(printer.Finish());
  return file.Text();
}

void TwoClips(Printer& printer) {
  Table table = printer.BeginTable({{.name = "id"},
                                    {.name = "length_ns", .heading = "length"},
                                    {.name = "peak_N", .heading = "peak", .decimals = 2},
                                    {.name = "note"}});
  table.Row({"a1", Duration::Milliseconds(1250), 5.125, std::nullopt});
  table.Row({"b22", Duration::Seconds(62), std::nan(""), "say \"hi\", then\nleave"});
}

TEST(Table, TheSameRowsInEveryFormat) {
  EXPECT_EQ(Printed(Format::kText, TwoClips),
            "id     length  peak  note\n"
            "a1    1.250 s  5.12  -\n"
            "b22  62.000 s   nan  say \"hi\", then\\x0aleave\n");
  EXPECT_EQ(Printed(Format::kJson, TwoClips),
            "[\n{\"id\":\"a1\",\"length_ns\":\"1250000000\",\"peak_N\":5.125,\"note\":null},\n"
            "{\"id\":\"b22\",\"length_ns\":\"62000000000\",\"peak_N\":null,\"note\":\"say "
            "\\\"hi\\\", then\\nleave\"}\n]\n");
  EXPECT_EQ(Printed(Format::kNdjson, TwoClips),
            "{\"id\":\"a1\",\"length_ns\":\"1250000000\",\"peak_N\":5.125,\"note\":null}\n"
            "{\"id\":\"b22\",\"length_ns\":\"62000000000\",\"peak_N\":null,\"note\":\"say "
            "\\\"hi\\\", then\\nleave\"}\n");
  EXPECT_EQ(Printed(Format::kCsv, TwoClips),
            "id,length_ns,peak_N,note\n"
            "a1,1250000000,5.125,\n"
            "b22,62000000000,,\"say \"\"hi\"\", then\nleave\"\n");
}

TEST(Table, TimesSurviveWhereADoubleWouldNot) {
  const Timestamp late = Timestamp::FromNanoseconds(9'007'199'254'740'993);  // 2^53 + 1
  const auto print = [&](Printer& p) {
    p.PrintRecord({{{.name = "t_ns"}, late},
                   {{.name = "utc_ns", .heading = "made"},
                    Utc{Timestamp::FromNanoseconds(1'795'003'200'123'456'789)}}});
  };
  EXPECT_EQ(Printed(Format::kJson, print),
            "{\"t_ns\":\"9007199254740993\",\"utc_ns\":\"1795003200123456789\"}\n");
  EXPECT_EQ(Printed(Format::kText, print), "t_ns  9007199.255 s\nmade  2026-11-18 12:00:00Z\n");
}

TEST(Table, EmptyOnesAreValidInEveryFormat) {
  const auto print = [](Printer& p) { p.BeginTable({{.name = "id"}}); };
  EXPECT_EQ(Printed(Format::kText, print), "");
  EXPECT_EQ(Printed(Format::kJson, print), "[]\n");
  EXPECT_EQ(Printed(Format::kNdjson, print), "");
  EXPECT_EQ(Printed(Format::kCsv, print), "id\n");
}

TEST(Table, OneThatAnErrorCutOffIsNoWholeArray) {
  const auto print = [](Printer& p) {
    Table table = p.BeginTable({{.name = "n"}});
    table.Row({1});
    table.Cut();
  };
  EXPECT_EQ(Printed(Format::kText, print), "n\n1\n");
  EXPECT_EQ(Printed(Format::kJson, print), "[\n{\"n\":1}\n");
  EXPECT_EQ(Printed(Format::kNdjson, print), "{\"n\":1}\n");
  EXPECT_EQ(Printed(Format::kCsv, print), "n\n1\n");
}

TEST(Table, LongTextIsPrintedAsItComesAndKeepsEveryRow) {
  const std::string text = Printed(Format::kText, [](Printer& p) {
    Table table = p.BeginTable({{.name = "n"}});
    for (int i = 0; i < 1000; ++i) table.Row({i});
    EXPECT_EQ(table.rows(), 1000u);
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1001);
  EXPECT_THAT(text, ::testing::StartsWith("  n\n  0\n"));
  EXPECT_THAT(text, ::testing::EndsWith("998\n999\n"));
}

TEST(Table, ColumnsAlignByCharactersNotBytes) {
  EXPECT_EQ(Printed(Format::kText,
                    [](Printer& p) {
                      Table table = p.BeginTable({{.name = "name"}, {.name = "x"}});
                      table.Row({"é", "1"});
                      table.Row({"eeeee", true});
                    }),
            "name   x\né      1\neeeee  yes\n");
}

TEST(Table, WordsAreAListForMachinesAndReadableForPeople) {
  const auto print = [](Printer& p) {
    Table table = p.BeginTable({{.name = "tags"}, {.name = "n"}});
    table.Row({std::vector<std::string>{"good", "two words"}, 1});
    table.Row({std::vector<std::string>{}, 2});
  };
  EXPECT_EQ(Printed(Format::kJson, print),
            "[\n{\"tags\":[\"good\",\"two words\"],\"n\":1},\n{\"tags\":[],\"n\":2}\n]\n");
  EXPECT_EQ(Printed(Format::kNdjson, print),
            "{\"tags\":[\"good\",\"two words\"],\"n\":1}\n{\"tags\":[],\"n\":2}\n");
  EXPECT_EQ(Printed(Format::kCsv, print), "tags,n\n\"good, two words\",1\n,2\n");
  EXPECT_THAT(Printed(Format::kText, print), ::testing::HasSubstr("good, two words  1\n"));
}

TEST(Table, ForeignTextCannotSteerTheTerminal) {
  const std::string text = Printed(
      Format::kText, [](Printer& p) { p.PrintRecord({{{.name = "s"}, "a\x1b[2Jb\xC2\x9B\xFF"}}); });
  EXPECT_EQ(text, "s  a\\x1b[2Jb\\xc2\\xff\n");
  const std::string json =
      Printed(Format::kJson, [](Printer& p) { p.PrintRecord({{{.name = "s"}, "a\xFF"}}); });
  EXPECT_EQ(json, "{\"s\":\"a\xEF\xBF\xBD\"}\n") << "JSON stays valid";
}

void Sections(Printer& p) {
  p.BeginDocument();
  p.PrintRecord("clip",
                {{{.name = "id"}, "a1"}, {{.name = "tags"}, text::Json::Array({"x", "y"})}});
  {
    Table table =
        p.BeginTable("streams", {{.name = "name"}, {.name = "rate_Hz", .heading = "rate"}});
    table.Row({"vicon", 500});
    table.Row({"netft", 7000.5});
  }
  p.EndDocument();
}

TEST(Document, SectionsInEveryFormat) {
  EXPECT_EQ(Printed(Format::kText, Sections),
            "clip\nid    a1\ntags  [\"x\",\"y\"]\n\nstreams\nname     rate\nvicon     500\nnetft  "
            "7000.5\n");
  const std::string json = Printed(Format::kJson, Sections);
  const text::Json parsed = *text::ParseJson(json);
  EXPECT_EQ(
      *text::WriteJson(parsed),
      R"({"clip":{"id":"a1","tags":["x","y"]},"streams":[{"name":"vicon","rate_Hz":500},{"name":"netft","rate_Hz":7000.5}]})");
  EXPECT_EQ(Printed(Format::kNdjson, Sections),
            "{\"section\":\"clip\",\"id\":\"a1\",\"tags\":[\"x\",\"y\"]}\n"
            "{\"section\":\"streams\",\"name\":\"vicon\",\"rate_Hz\":500}\n"
            "{\"section\":\"streams\",\"name\":\"netft\",\"rate_Hz\":7000.5}\n");
  EXPECT_EQ(Printed(Format::kCsv, Sections),
            "id,tags\na1,\"[\"\"x\"\",\"\"y\"\"]\"\n\nname,rate_Hz\nvicon,500\nnetft,7000.5\n");
  EXPECT_EQ(Printed(Format::kJson,
                    [](Printer& p) {
                      p.BeginDocument();
                      p.EndDocument();
                    }),
            "{}\n");
}

TEST(Document, ASectionWithoutRowsSaysNone) {
  const auto print = [](Printer& p) {
    p.BeginDocument();
    p.BeginTable("empty", {{.name = "name"}}).End();
    p.PrintRecord("clip", {{{.name = "id"}, "a1"}});
    p.EndDocument();
  };
  EXPECT_EQ(Printed(Format::kText, print), "empty\nnone\n\nclip\nid  a1\n");
  EXPECT_EQ(*text::WriteJson(*text::ParseJson(Printed(Format::kJson, print))),
            R"({"empty":[],"clip":{"id":"a1"}})");
  EXPECT_EQ(Printed(Format::kCsv, print), "name\n\nid\na1\n");
}

TEST(Document, AVerbThatFailsHalfWayLeavesWellFormedJson) {
  const std::string json = Printed(Format::kJson, [](Printer& p) {
    p.BeginDocument();
    Table table = p.BeginTable("streams", {{.name = "name"}});
    table.Row({"vicon"});
  });
  EXPECT_EQ(*text::WriteJson(*text::ParseJson(json)), R"({"streams":[{"name":"vicon"}]})");
}

TEST(Printer, ProseIsForPeopleOnly) {
  const auto print = [](Printer& p) { p.Prose("keep this take\n"); };
  EXPECT_EQ(Printed(Format::kText, print), "keep this take\n");
  EXPECT_EQ(Printed(Format::kJson, print), "");
}

TEST(Printer, BoldOnlyWhenAsked) {
  EXPECT_THAT(Printed(Format::kText, TwoClips, true), ::testing::StartsWith("\x1b[1mid "));
  EXPECT_EQ(Printed(Format::kCsv, TwoClips, true).find('\x1b'), std::string::npos);
}

TEST(Printer, AFullDiskIsReportedOnce) {
  FILE* full = std::fopen("/dev/full", "w");
  Printer printer(full, Format::kNdjson, false);
  {
    Table table = printer.BeginTable({{.name = "n"}});
    for (int i = 0; i < 100'000; ++i) table.Row({i});
  }
  const Status status = printer.Finish();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "cannot write the results: No space left on device");
  std::fclose(full);
}

TEST(Printer, ARowOfTheWrongLengthIsABug) {
  EXPECT_DEATH(Printed(Format::kText,
                       [](Printer& p) { p.BeginTable({{.name = "a"}, {.name = "b"}}).Row({1}); }),
               "CHECK failed");
}

}  // namespace
}  // namespace handhold::cli::printer_test
