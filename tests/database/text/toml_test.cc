#include "database/text/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/text/file.h"
#include "database/text/json_view.h"

namespace handhold::text::toml_test {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text, const JsonParseOptions& options = {}) {
  const Result<Json> parsed = ParseToml(text, options);
  return parsed ? "accepted" : parsed.error().message;
}

constexpr const char* kRig = R"(subject = "p07"
rate_Hz = 500
preroll_s = 2.5
armed = true
made = 2026-11-18T12:00:00Z

[[source]]
name = "vicon"
origin_m = [0.1, 0, -2e-3]

[[source]]
name = "netft"
limits = { force_N = 50, torque_Nm = 0.5 }

[a.b]
c = 0x10
)";

TEST(Toml, BecomesTheTreeInTheOrderOfTheFile) {
  const Json rig = *ParseToml(kRig);
  EXPECT_EQ(
      *WriteJson(rig),
      R"({"subject":"p07","rate_Hz":500,"preroll_s":2.5,"armed":true,"made":"2026-11-18T12:00:00Z",)"
      R"("source":[{"name":"vicon","origin_m":[0.1,0,-0.002]},{"name":"netft","limits":{"force_N":50,"torque_Nm":0.5}}],)"
      R"("a":{"b":{"c":16}}})");
}

TEST(Toml, KeepsTheLineOfEveryValue) {
  const Json rig = *ParseToml(kRig);
  EXPECT_EQ(rig.Find("rate_Hz")->line(), 2u);
  const Json& second = rig.Find("source")->elements()[1];
  EXPECT_EQ(second.Find("limits")->Find("torque_Nm")->line(), 13u);
  EXPECT_EQ(JsonView(second, "rig.toml").Get<double>("name").error().message,
            "rig.toml:12: /name: expected a number, found string \"netft\"");
}

TEST(Toml, NumbersAreExact) {
  const Json numbers = *ParseToml("a = 0.1\nb = 5e-324\nc = 9223372036854775807\nd = -0.0\n");
  EXPECT_EQ(*WriteJson(numbers), R"({"a":0.1,"b":5e-324,"c":9223372036854775807,"d":-0.0})");
}

TEST(Toml, SyntaxErrorsNameFileLineAndColumn) {
  EXPECT_THAT(ErrorOf("a = 1\nb = = 2\n", {.source = "rig.toml"}), HasSubstr("rig.toml:2:5: "));
  EXPECT_THAT(ErrorOf("a = 1\na = 2\n"), HasSubstr("line 2, column "));
  EXPECT_EQ(ErrorOf("a = 1\nb = \"\xFF\""), "line 2, column 6: a byte that is not UTF-8");
  EXPECT_EQ(ErrorOf(std::string("t = 07:3\0:00", 12)), "line 1, column 9: a control character");
}

// Texts that break assertions of toml++ 3.3, found by fuzzing.
// For people who write a rig file: what was expected, not what a parser was doing.
TEST(Toml, SyntaxErrorsAreInPlainWords) {
  const auto message = [](const char* text) { return ParseToml(text).error().message; };
  for (const char* text : {"name plate", "name = plate", "[source", "a = 1 b = 2"}) {
    EXPECT_THAT(message(text), ::testing::Not(::testing::HasSubstr("Error while parsing"))) << text;
    EXPECT_THAT(message(text), ::testing::HasSubstr("name = value, with text in quotes")) << text;
  }
}

TEST(Toml, MalformedTextIsAnErrorNotAnAbort) {
  EXPECT_NE(ErrorOf("[[= 'vicon'\n"), "accepted");
  EXPECT_NE(ErrorOf("[= 1"), "accepted");
  EXPECT_NE(ErrorOf("\xEF\xB9\xBF"), "accepted");  // U+FE7F
}

TEST(Toml, RefusesNanInfDepthAndLength) {
  EXPECT_EQ(ErrorOf("ok = 1\n[x]\ny = [1.0, nan]\n", {.source = "rig.toml"}),
            "rig.toml:3: /x/y/1: nan is not a value here");
  EXPECT_EQ(ErrorOf("y = -inf", {.source = "r"}), "r:1: /y: inf is not a value here");
  EXPECT_THAT(ErrorOf("a = " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested deeper than the limit of 64"));
  EXPECT_NE(ErrorOf("a = " + std::string(1'000'000, '[')), "accepted");
  EXPECT_THAT(ErrorOf("a = 1", {.max_bytes = 4}),
              HasSubstr("5 bytes are more than the limit of 4"));
}

TEST(Toml, KeysOfManyPartsDoNotEndTheStack) {
  std::string key = "a";
  for (int i = 0; i < 200'000; ++i) key += i % 2 ? ".a" : " . \"a,]=\"";
  EXPECT_THAT(ErrorOf("ok = 1\n" + key + " = 1\n", {.source = "rig.toml"}),
              ::testing::AllOf(::testing::StartsWith("rig.toml:2:"),
                               HasSubstr("a key nested deeper than the limit of 64")));
  EXPECT_THAT(ErrorOf("[" + key + "]\nx = 1\n"), HasSubstr("nested deeper"));
  EXPECT_THAT(ErrorOf("x = {" + key + " = 1}\n"), HasSubstr("nested deeper"));
  // Dots elsewhere are not keys: rulers, prose, numbers.
  const std::string dots(100, '.');
  const auto parsed = ParseToml("# " + dots + "\na = \"" + dots + "\\\"" + dots + "\"\nb = '" +
                                dots + "'\nc = \"\"\"\n" + dots + "\n\"\"\"\nd.e = [" +
                                [] {
                                  std::string list = "1.5";
                                  for (int i = 0; i < 100; ++i) list += ", 1.5";
                                  return list;
                                }() +
                                "]\n");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->Find("d")->Find("e")->elements().size(), 101u);
}

TEST(Toml, ReadsAFileAndNamesIt) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "toml_test_rig.toml";
  ASSERT_TRUE(WriteTextFile(path, "a = 1\nb = [\n"));
  EXPECT_THAT(ReadTomlFile(path).error().message, ::testing::StartsWith(path.string() + ":"));
  ASSERT_TRUE(WriteTextFile(path, "a = 1\n"));
  EXPECT_EQ(ReadTomlFile(path)->Find("a")->integer(), 1);
  EXPECT_EQ(ReadTomlFile("/nonexistent/rig.toml").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace handhold::text::toml_test
