#include "database/text/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>  // an independent oracle: what it reads, and the bits it reads, must be what we read
#include <random>

namespace handhold::text::json_test {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text, const JsonParseOptions& options = {}) {
  const Result<Json> parsed = ParseJson(text, options);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(JsonParse, ReadsEveryTypeInOrderWithLines) {
  const Json json = *ParseJson(
      "{\"z\": [1, -2.5e3, true, null],\n \"a\": \"x\\u00e9\\ud83d\\ude00\\n\",\n\"o\": {}}");
  ASSERT_EQ(json.members().size(), 3u);
  EXPECT_EQ(json.members()[0].key, "z");
  EXPECT_EQ(json.Find("z")->elements()[0].type(), Json::Type::kInteger);
  EXPECT_EQ(json.Find("z")->elements()[1].number(), -2500.0);
  EXPECT_EQ(json.Find("z")->elements()[2].boolean(), true);
  EXPECT_TRUE(json.Find("z")->elements()[3].is_null());
  EXPECT_EQ(*json.Find("a")->string(), "x\xC3\xA9\xF0\x9F\x98\x80\n");
  EXPECT_EQ(json.Find("a")->line(), 2u);
  EXPECT_EQ(json.Find("o")->line(), 3u);
  EXPECT_EQ(json.Find("nothing"), nullptr);
}

TEST(JsonParse, ErrorsNameSourceLineColumnAndByte) {
  EXPECT_EQ(ErrorOf("{\n  \"a\": 1\n  \"b\": 2}", {.source = "hand.json"}),
            "hand.json:3:3: expected ',' or '}', found '\"' (byte 13)");
  EXPECT_THAT(ErrorOf("[1,]"), HasSubstr("line 1, column 4: expected a value, found ']'"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("found the end of the text"));
  EXPECT_THAT(ErrorOf("[1] 2"), HasSubstr("expected the end of the text, found '2'"));
  EXPECT_THAT(ErrorOf("{\"a\":1,\"a\":2}"), HasSubstr("\"a\" stands twice"));
  EXPECT_THAT(ErrorOf("[\"\\ud800x\"]"), HasSubstr("lone high surrogate"));
  EXPECT_THAT(ErrorOf("[\"\\udc00\"]"), HasSubstr("lone low surrogate"));
  EXPECT_THAT(ErrorOf("[\"\xC0\xAF\"]"), HasSubstr("not UTF-8"));
  EXPECT_THAT(ErrorOf("[1e400]"), HasSubstr("beyond the range of a double"));
  EXPECT_THAT(ErrorOf("[01]"), HasSubstr("may not begin with 0"));
}

TEST(JsonParse, FindsARepeatedKeyInLargeObjectsToo) {
  std::string text = "{";
  for (int i = 0; i < 500; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_THAT(ErrorOf(text + "\"k77\":1}"), HasSubstr("\"k77\" stands twice"));
  EXPECT_EQ(ErrorOf(text + "\"k500\":1}"), "accepted");
}

TEST(JsonParse, RefusesDeepAndLongTextBeforeItHurts) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(ErrorOf(deep), HasSubstr("nested deeper than the limit of 64"));
  EXPECT_EQ(ErrorOf("[[1]]", {.max_depth = 2}), "accepted");
  EXPECT_THAT(ErrorOf("[[1]]", {.max_depth = 1}), HasSubstr("limit of 1"));
  EXPECT_THAT(ErrorOf("[1,2,3]", {.source = "x.json", .max_bytes = 6}),
              HasSubstr("x.json: 7 bytes are more than the limit of 6"));
}

// Accepts and refuses exactly what nlohmann does, apart from what we refuse on purpose: repeated
// keys, lone surrogates (nlohmann refuses them as well), numbers beyond a double.
TEST(JsonParse, AgreesWithAnotherParserOnMutatedTexts) {
  const std::string seeds[] = {
      R"({"a":[1,-2,3.25e-3,true,false,null,"x\u0041\\\/\n"],"b":{"c":"é","d":[]}})",
      R"([0,-0,0.0,1E5,1e+5,12345678901234567890,-9223372036854775808,"😀"])",
      R"({"mass_kg":0.3,"position_m":[0.1,0.2,0.3],"name":"ball"})",
  };
  const std::string alphabet = "{}[]:,\"\\0123456789.eE+-truefalsn \n\tu\x01\xC3\xA9\x80";
  std::mt19937_64 random(7);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string text = seeds[random() % std::size(seeds)];
    const auto edits = random() % 4;
    for (uint64_t e = 0; e < edits && !text.empty(); ++e) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 3);
          break;
        default:
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
    }
    const Result<Json> ours = ParseJson(text);
    const auto theirs = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!ours && ours.error().message.find("stands twice") != std::string::npos) continue;
    ASSERT_EQ(ours.has_value(), !theirs.is_discarded()) << text << "\n"
                                                        << (ours ? "" : ours.error().message);
    if (ours) {
      ++accepted;
      const std::string written = *WriteJson(*ours);
      ASSERT_EQ(nlohmann::json::parse(written), theirs) << text;
      ASSERT_EQ(*ParseJson(written), *ours) << text;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(accepted, 5'000);
  EXPECT_GT(refused, 5'000);
}

TEST(JsonNumbers, EveryDoubleComesBackWithTheSameBits) {
  std::mt19937_64 random(11);
  std::vector<double> values = {0.0,
                                -0.0,
                                1.0,
                                -1.0,
                                0.1,
                                1e22,
                                1e23,
                                5e-324,
                                2.2250738585072011e-308,
                                1.7976931348623157e308,
                                9007199254740993.0,
                                9.223372036854776e18,
                                1.8446744073709552e19};
  while (values.size() < 100'000) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
  }
  for (const double value : values) {
    const std::string text = *WriteJson(Json(value));
    const Json back = *ParseJson(text);
    ASSERT_EQ(back.type(), Json::Type::kNumber) << text;
    ASSERT_EQ(std::bit_cast<uint64_t>(*back.number()), std::bit_cast<uint64_t>(value)) << text;
    const Json canonical_back = *ParseJson(*CanonicalJson(Json(value)));
    ASSERT_EQ(*canonical_back.number(), value) << text;
  }
}

TEST(JsonNumbers, ReadsDecimalTextToTheSameBitsAsStrtod) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 100'000; ++i) {
    std::string text = std::to_string(1 + random() % 9) + "." + std::to_string(random()) + "e" +
                       std::to_string(static_cast<int>(random() % 640) - 330);
    const double expected = strtod(text.c_str(), nullptr);
    const Result<Json> ours = ParseJson(text);
    if (std::isinf(expected)) {
      ASSERT_FALSE(ours) << text;
    } else {
      ASSERT_TRUE(ours) << text << ours.error().message;
      ASSERT_EQ(std::bit_cast<uint64_t>(*ours->number()), std::bit_cast<uint64_t>(expected))
          << text;
    }
  }
}

TEST(JsonNumbers, IntegersAreExactAndBeyondInt64BecomeNumbers) {
  EXPECT_EQ(ParseJson("9223372036854775807")->integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParseJson("-9223372036854775808")->integer(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*WriteJson(Json(std::numeric_limits<int64_t>::min())), "-9223372036854775808");
  const Json beyond = *ParseJson("9223372036854775808");
  EXPECT_EQ(beyond.type(), Json::Type::kNumber);
  EXPECT_EQ(beyond.integer(), std::nullopt);
  EXPECT_EQ(Json(500.0).integer(), 500);
  EXPECT_EQ(Json(500.5).integer(), std::nullopt);
  EXPECT_EQ(Json(std::nan("")).integer(), std::nullopt);
  EXPECT_TRUE(std::signbit(*ParseJson("-0")->number()));
  EXPECT_EQ(*ParseJson("1e-400")->number(), 0.0);
  EXPECT_EQ(*ParseJson("0." + std::string(400, '0') + "1")->number(), 0.0);
  EXPECT_FALSE(ParseJson("1" + std::string(400, '0')));
  EXPECT_DEATH(Json(std::numeric_limits<uint64_t>::max()), "CHECK failed");
}

TEST(JsonWrite, NamesThePathOfWhatJsonCannotHold) {
  const Json bad =
      Json::Object({{"bodies", Json::Array({1, Json::Object({{"mass_kg", std::nan("")}})})}});
  EXPECT_EQ(WriteJson(bad).error().message, "/bodies/1/mass_kg: NaN cannot be written as JSON");
  EXPECT_EQ(CanonicalJson(Json::Array({-INFINITY})).error().message,
            "/0: an infinity cannot be written as JSON");
  EXPECT_THAT(WriteJson(Json("\xFF")).error().message, HasSubstr("not UTF-8"));
}

TEST(JsonWrite, PrettyFormKeepsNumberListsOnOneLine) {
  const Json json = Json::Object(
      {{"name", "ball"}, {"p_m", Json::Array({0.1, 2.0})}, {"o", Json::Array({Json::Object()})}});
  EXPECT_EQ(*WriteJson(json, {.indent = 2}),
            "{\n  \"name\": \"ball\",\n  \"p_m\": [0.1, 2.0],\n  \"o\": [\n    {}\n  ]\n}");
  EXPECT_EQ(*WriteJson(json), R"({"name":"ball","p_m":[0.1,2.0],"o":[{}]})");
  EXPECT_EQ(*WriteJson(Json("\x01\t\"\\\x7f")), "\"\\u0001\\t\\\"\\\\\x7f\"");
}

TEST(JsonCanonical, EqualValuesHaveEqualBytes) {
  const Json a = *ParseJson(R"({ "b": 1.0, "a": [1e0, -0.0, 0.1, "\u0041"], "é": null })");
  const Json b = *ParseJson(R"({"é":null,"a":[1,0,1e-1,"A"],"b":1})");
  EXPECT_EQ(a, b);
  EXPECT_EQ(*CanonicalJson(a), *CanonicalJson(b));
  EXPECT_EQ(*CanonicalJson(a), R"({"a":[1,0,0.1,"A"],"b":1,"é":null})");
  EXPECT_NE(*CanonicalJson(Json(0.1)), *CanonicalJson(Json(std::nextafter(0.1, 1.0))));
  // Frozen: artefacts are addressed by hashes of these bytes.
  EXPECT_EQ(
      *CanonicalJson(Json::Array({1e21, 1e-7, 123456.789, 9007199254740992.0, 1.5e300, 5e-324})),
      "[1e+21,1e-07,123456.789,9007199254740992,1.5e+300,5e-324]");
}

TEST(JsonBuild, KeepsOrderReplacesAndChecksTypes) {
  Json json;
  json.Set("b", 1).Set("a", Json::Array(std::vector<double>{1, 2}));
  json.Set("b", "x");
  EXPECT_EQ(*WriteJson(json), R"({"b":"x","a":[1.0,2.0]})");
  EXPECT_DEATH(json.Push(1), "CHECK failed: is_array");
  EXPECT_DEATH(Json::Object({{"a", 1}, {"a", 2}}), "CHECK failed");
  EXPECT_EQ(Json(true).type(), Json::Type::kBool);
  EXPECT_EQ(Json("x").type(), Json::Type::kString);
  EXPECT_EQ(Json(int64_t{1} << 60), Json(static_cast<double>(int64_t{1} << 60)));
  EXPECT_FALSE(Json((int64_t{1} << 60) + 1) == Json(static_cast<double>(int64_t{1} << 60)));
  EXPECT_FALSE(Json(std::numeric_limits<int64_t>::max()) == Json(9223372036854775808.0));
}

TEST(JsonFile, IsReplacedWholeAndReadBack) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "json_test_file.json";
  const Json json = Json::Object({{"a", 0.1}});
  ASSERT_TRUE(WriteJsonFile(path, json));
  EXPECT_EQ(*ReadJsonFile(path), json);
  ASSERT_FALSE(WriteJsonFile(path, Json(std::nan(""))));
  EXPECT_EQ(*ReadJsonFile(path), json);
  EXPECT_EQ(ReadJsonFile("/nonexistent/x.json").error().code, ErrorCode::kNotFound);
  // Inside a file there is no folder, whatever the machine holds and whoever runs this.
  const std::string nowhere = path / "x.json";
  EXPECT_THAT(WriteJsonFile(nowhere, json).error().message, HasSubstr(nowhere + ": cannot create"));
  EXPECT_THAT(ReadJsonFile("/dev/zero", {.max_bytes = 1000}).error().message,
              HasSubstr("longer than the limit of 1000"));
}

}  // namespace
}  // namespace handhold::text::json_test
