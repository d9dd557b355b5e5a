#include "database/text/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "database/text/toml.h"

namespace handhold::text::schema_test {
namespace {

using ::testing::HasSubstr;

/// The breaches of `value` as "PATH: what" lines, "" when there are none.
std::string Breaches(std::string_view schema_text, std::string_view value_text) {
  const Result<Schema> schema = Schema::Parse(*ParseJson(schema_text));
  if (!schema) return "bad schema: " + schema.error().message;
  std::string out;
  for (const SchemaFinding& f : schema->Check(*ParseJson(value_text)))
    out += (out.empty() ? "" : "\n") + f.path + ": " + f.what;
  return out;
}

std::string SchemaError(std::string_view schema_text) {
  const Result<Schema> schema = Schema::Parse(*ParseJson(schema_text), "s.json");
  return schema ? "accepted" : schema.error().message;
}

constexpr const char* kRig = R"({
  "type": "object", "additionalProperties": false, "required": ["subject", "sources"],
  "properties": {
    "subject": {"type": "string", "pattern": "^[a-z]+[0-9]+$"},
    "preroll_s": {"type": "number", "minimum": 0, "exclusiveMaximum": 60},
    "sources": {"type": "array", "minItems": 1, "items": {"oneOf": [{"$ref": "#/$defs/vicon"}, {"$ref": "#/$defs/netft"}]}}
  },
  "$defs": {
    "vicon": {"type": "object", "additionalProperties": false, "required": ["kind", "address"],
      "properties": {"kind": {"const": "vicon"}, "address": {"type": "string"}}},
    "netft": {"type": "object", "additionalProperties": false, "required": ["kind", "address"],
      "properties": {"kind": {"const": "netft"}, "address": {"type": "string"}, "normal": {"$ref": "#/$defs/vector"}}},
    "vector": {"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": "number"}}
  }
})";

TEST(Schema, AcceptsWhatHasTheForm) {
  EXPECT_EQ(Breaches(kRig, R"({"subject": "p07", "sources": [{"kind": "vicon", "address": "a"},
      {"kind": "netft", "address": "b", "normal": [0, 0, 1]}], "preroll_s": 0})"),
            "");
}

TEST(Schema, NamesUnknownKeysWithTheNearestValidOne) {
  EXPECT_EQ(
      Breaches(
          kRig,
          R"({"subjct": "p07", "sources": [{"kind": "netft", "adress": "b", "address": "c"}]})"),
      ": unknown key 'subjct': did you mean 'subject'?\n"
      "/sources/0: unknown key 'adress': known are 'normal'")
      << "and not that 'subject' is missing: that was said";
  EXPECT_EQ(
      Breaches(kRig, R"({"colour": 1, "sources": [{"kind": "vicon", "address": "c"}]})"),
      ": unknown key 'colour': known are 'subject', 'preroll_s'\n: the key 'subject' is missing");
}

TEST(Schema, FollowsTheKindIntoTheRightAlternative) {
  EXPECT_EQ(
      Breaches(
          kRig,
          R"({"subject": "p07", "sources": [{"kind": "netft", "address": "b", "normal": [0, "x"]}]})"),
      "/sources/0/normal: expected exactly 3 elements, found 2\n"
      "/sources/0/normal/1: expected a number, found string \"x\"");
  EXPECT_EQ(Breaches(kRig, R"({"subject": "p07", "sources": [{"kind": "vicno", "address": "b"}]})"),
            "/sources/0/kind: expected one of 'vicon', 'netft'; found string \"vicno\": did you "
            "mean 'vicon'?");
  EXPECT_EQ(Breaches(kRig, R"({"subject": "p07", "sources": [{"address": "b"}]})"),
            "/sources/0: the key 'kind' is missing");
  // A wrong kind hides nothing else that is wrong.
  EXPECT_EQ(Breaches(kRig, R"({"subject": "p07", "sources": [{"kind": "vicno", "adress": "b"}]})"),
            "/sources/0/kind: expected one of 'vicon', 'netft'; found string \"vicno\": did you "
            "mean 'vicon'?\n/sources/0: unknown key 'adress': did you mean 'address'?");
  EXPECT_EQ(Breaches(kRig, R"({"subject": "p07", "sources": [{"kind": "plate", "norml": 1}]})"),
            "/sources/0/kind: expected one of 'vicon', 'netft'; found string \"plate\"\n"
            "/sources/0: unknown key 'norml': did you mean 'normal'?");
}

TEST(Schema, ChecksNumbersStringsAndCounts) {
  EXPECT_EQ(Breaches(kRig, R"({"subject": "P7", "sources": [], "preroll_s": 60})"),
            "/subject: string \"P7\" does not have the form ^[a-z]+[0-9]+$\n"
            "/sources: expected at least 1 element, found 0\n"
            "/preroll_s: expected less than 60, found 60");
  EXPECT_EQ(
      Breaches(kRig, R"({"subject": "p7", "sources": 3, "preroll_s": -0.5})"),
      "/sources: expected an array, found integer 3\n/preroll_s: expected at least 0, found -0.5");
  EXPECT_EQ(Breaches(R"({"exclusiveMinimum": 0, "maximum": 2})", "0"),
            ": expected more than 0, found 0");
  EXPECT_EQ(Breaches(R"({"exclusiveMinimum": 0, "maximum": 2})", "2.5"),
            ": expected at most 2, found 2.5");
  EXPECT_EQ(Breaches(R"({"minLength": 2, "maxLength": 3})", R"("é")"),
            ": expected at least 2 characters, found 1");
  EXPECT_EQ(Breaches(R"({"minLength": 2, "maxLength": 3})", R"("éééé")"),
            ": expected at most 3 characters, found 4");
  EXPECT_EQ(Breaches(R"({"minProperties": 1, "maxProperties": 1})", R"({"a": 1, "b": 2})"),
            ": expected exactly 1 key, found 2");
  EXPECT_THAT(Breaches(R"({"pattern": "^a*$"})", "\"" + std::string(300, 'a') + "\""),
              HasSubstr("does not have the form"));
  EXPECT_THAT(Breaches(R"({"pattern": "^a*$"})", R"("a\u0000b")"),
              HasSubstr("does not have the form"));
}

TEST(Schema, TypesIncludeIntegersWrittenAsNumbers) {
  EXPECT_EQ(Breaches(R"({"type": "integer"})", "500.0"), "");
  EXPECT_EQ(Breaches(R"({"type": "integer"})", "500.5"),
            ": expected an integer, found number 500.5");
  EXPECT_EQ(Breaches(R"({"type": "number"})", "500"), "");
  EXPECT_EQ(Breaches(R"({"type": ["string", "null"]})", "null"), "");
  EXPECT_EQ(Breaches(R"({"type": ["string", "null"]})", "true"),
            ": expected a string or null, found boolean true");
}

TEST(Schema, EnumsAndConstants) {
  EXPECT_EQ(Breaches(R"({"enum": ["hinge", "ball", 3]})", "3.0"), "");
  EXPECT_EQ(Breaches(R"({"enum": ["hinge", "ball", 3]})", R"("hing")"),
            ": expected one of 'hinge', 'ball', 3; found string \"hing\": did you mean 'hinge'?");
  EXPECT_EQ(Breaches(R"({"const": {"a": [1]}})", R"({"a": [1.0]})"), "");
  EXPECT_EQ(Breaches(R"({"const": 1})", "2"), ": expected 1, found integer 2");
}

TEST(Schema, AlternativesReportTheLikeliestOne) {
  const char* any =
      R"({"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]})";
  EXPECT_EQ(Breaches(any, "1"), "");
  EXPECT_EQ(Breaches(any, "[1, \"x\"]"), "/1: expected a number, found string \"x\"");
  const char* one = R"({"oneOf": [{"type": "number"}, {"minimum": 5}]})";
  EXPECT_EQ(Breaches(one, "3"), "");
  EXPECT_EQ(Breaches(one, "7"), ": fits 2 of the alternatives, and must fit one only");
  EXPECT_EQ(Breaches(R"({"allOf": [{"minimum": 5}, {"maximum": 3}]})", "4"),
            ": expected at least 5, found 4\n: expected at most 3, found 4");
}

TEST(Schema, ObjectsAndArraysInDepth) {
  EXPECT_EQ(Breaches(R"({"additionalProperties": {"type": "number"}})", R"({"a": 1, "b": "x"})"),
            "/b: expected a number, found string \"x\"");
  EXPECT_EQ(Breaches(R"({"propertyNames": {"pattern": "^[a-z]+$"}})", R"({"ok": 1, "No": 2})"),
            ": string \"No\" does not have the form ^[a-z]+$");
  EXPECT_EQ(Breaches(R"({"uniqueItems": true})", R"([1, {"a": 1, "b": 2}, {"b": 2, "a": 1.0}])"),
            "/2: object of 2 stands twice, first as element 1");
  EXPECT_EQ(Breaches(R"({"items": false})", "[1]"),
            "/0: no value is allowed here, found integer 1");
  // A schema of trees: the reference goes down with the value, so it ends.
  const char* tree =
      R"({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "c": {"items": {"$ref": "#"}}}})";
  EXPECT_EQ(Breaches(tree, R"({"n": 1, "c": [{"n": 2, "c": [{"n": "x"}]}]})"),
            "/c/0/c/0/n: expected an integer, found string \"x\"");
}

TEST(Schema, AValueBuiltWithNanIsABreachNotACrash) {
  const Schema schema =
      *Schema::Parse(*ParseJson(R"({"items": {"minimum": 0}, "uniqueItems": true})"));
  const auto findings = schema.Check(Json::Array({std::nan(""), 1, std::nan("")}));
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].path, "/2");
  EXPECT_EQ(findings[1].what, "expected a finite number, found number nan");
}

TEST(Schema, RefusesASchemaItCannotHonour) {
  EXPECT_EQ(
      SchemaError("{\n\"minItem\": 1}"),
      "s.json:1: unknown or unsupported keyword 'minItem': did you mean 'minItems' or 'minimum'?");
  EXPECT_THAT(SchemaError(R"({"properties": {"a": {"dependentSchemas": {}}}})"),
              HasSubstr("/properties/a: unknown or unsupported keyword"));
  EXPECT_THAT(SchemaError(R"({"type": "strng"})"),
              HasSubstr("unknown type 'strng': did you mean 'string'?"));
  EXPECT_THAT(SchemaError(R"({"minItems": -1})"), HasSubstr("may not be negative"));
  EXPECT_THAT(SchemaError(R"({"minimum": "0"})"), HasSubstr("/minimum: expected a number"));
  EXPECT_THAT(SchemaError(R"({"oneOf": []})"), HasSubstr("at least one alternative"));
  EXPECT_THAT(SchemaError(R"({"items": 3})"), HasSubstr("a schema is an object, true or false"));
  EXPECT_THAT(SchemaError(R"({"pattern": "["})"), HasSubstr("is not a regular expression"));
  EXPECT_THAT(SchemaError(R"({"pattern": "^\\d+$"})"),
              HasSubstr("uses '\\d', which is not supported"));
  EXPECT_THAT(SchemaError(R"x({"pattern": "(?:a)"})x"),
              HasSubstr("uses '(?', which is not supported"));
  EXPECT_EQ(SchemaError(R"({"pattern": "^\\\\d\\.$"})"), "accepted");
  // What would take all memory to compile is refused; what a schema needs is not.
  const std::string plusses = "2z" + std::string(40, '+');
  const std::string nested = "(((a{255}){255}){255}){255}";
  const std::string behind_brackets = "((a{99}[^])]{9}){99}[[:alpha:])]){99}";
  for (const std::string& pattern : {plusses, nested, behind_brackets}) {
    EXPECT_THAT(SchemaError(R"({"pattern": ")" + pattern + R"("})"), HasSubstr("too often"));
  }
  EXPECT_EQ(SchemaError(R"({"pattern": "^([a-z]{1,8}(_[0-9]+)?){1,32}$"})"), "accepted");
  EXPECT_EQ(SchemaError(R"({"pattern": "^a{2,}[{}+*?]+$"})"), "accepted");
}

TEST(Schema, RefusesReferencesThatLeadNowhereOrInACircle) {
  EXPECT_THAT(SchemaError(R"({"$ref": "#/$defs/vectr", "$defs": {"vector": {}}})"),
              HasSubstr("no such definition: '#/$defs/vectr': did you mean '#/$defs/vector'?"));
  EXPECT_THAT(SchemaError(R"({"$ref": "other.json"})"), HasSubstr("no such definition"));
  EXPECT_THAT(SchemaError(R"({"$ref": "#"})"), HasSubstr("leads back to itself"));
  EXPECT_THAT(
      SchemaError(
          R"({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}})"),
      HasSubstr("leads back to itself"));
}

TEST(Schema, RequireGivesFileLinePathForEveryBreach) {
  const Schema schema = *Schema::Parse(*ParseJson(kRig));
  const Json rig = *ParseToml(
      "preroll_s = 90\nsubject = 'p1'\n\n[[sources]]\nkind = 'netft'\naddress = 'b'\nnormal = [0, "
      "0]\nnromal = 1\n");
  const Status status = schema.Require(rig, "rig.toml");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "rig.toml:1: /preroll_s: expected less than 60, found 90\n"
            "rig.toml:7: /sources/0/normal: expected exactly 3 elements, found 2\n"
            "rig.toml:8: /sources/0: unknown key 'nromal'");
  EXPECT_THAT(schema.Require(rig, "rig.toml", 1).error().message,
              ::testing::EndsWith("\nand 2 more"));
  EXPECT_TRUE(schema.Require(
      *ParseToml("subject = 'p1'\nsources = [{kind = 'vicon', address = 'x'}]"), "rig.toml"));
}

}  // namespace
}  // namespace handhold::text::schema_test
