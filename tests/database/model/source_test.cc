// Where every number comes from, through files, mirroring and scaling: what is loaded and saved
// says the same as the file of people's own making.
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "database/base/units.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "database/model/schemas.h"
#include "database/model/skeleton_json.h"
#include "database/text/file.h"

namespace handhold::model::source_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using text::Json;
namespace fs = std::filesystem;

class TempFile {
 public:
  TempFile()
      : path_(fs::temp_directory_path() /
              ("handhold_source_" + std::to_string(::getpid()) + ".json")) {}
  ~TempFile() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<double> Numbers(const Json* list) {
  std::vector<double> out;
  if (list == nullptr) return out;
  for (const Json& n : list->elements()) out.push_back(n.number().value_or(NAN));
  return out;
}

bool Near(const std::vector<double>& a, const std::vector<double>& b, double within) {
  if (a.size() != b.size() || a.empty()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= within)) return false;
  }
  return true;
}

/// Zero, or the identity row by row.
bool IsDefaultPose(const std::string& key, const Json& value) {
  const std::vector<double> numbers = Numbers(&value);
  if (key == "R") return Near(numbers, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 0);
  return Near(numbers, {0, 0, 0}, 0);
}

/// True when member `key` of `from`, a form for people, is said in SI by its neighbours in `to`.
bool IsSaidInSi(const std::string& key, const Json& value, const Json& from, const Json& to) {
  if (key == "lower_deg" || key == "upper_deg") {
    std::vector<double> rad;
    for (double degrees : Numbers(&value)) rad.push_back(DegreesToRadians(degrees));
    return Near(Numbers(to.Find(key.substr(0, 5) + "_rad")), rad, 0);
  }
  if (key == "from_m" || key == "to_m") {
    const auto a = Numbers(from.Find("from_m")), b = Numbers(from.Find("to_m"));
    const Json* length = to.Find("length_m");
    const Json* pose = to.Find("pose");
    const Json* p = pose == nullptr ? nullptr : pose->Find("p_m");
    std::vector<double> middle(3), found = p == nullptr ? std::vector<double>(3) : Numbers(p);
    for (size_t i = 0; i < 3; ++i) middle[i] = 0.5 * (a[i] + b[i]);
    return length != nullptr && Near(found, middle, 1e-15) &&
           std::abs(*length->number() - std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2])) < 1e-15;
  }
  if (key == "points_m" || key == "profile_m" || key == "segments") {
    return !Numbers(to.Find("vertices_m")).empty() && !Numbers(to.Find("triangles")).empty();
  }
  if (key == "kind") return *value.string() == "revolution" && *to.Find("kind")->string() == "mesh";
  if (key == "from_shapes") return Numbers(to.Find("inertia_kg_m2")).size() == 9;
  if (key == "density_kg_m3") return to.Find("mass_kg") != nullptr;
  if (key == "mass_kg" && value.is_array()) {  // one for each shape
    double sum = 0;
    for (double share : Numbers(&value)) sum += share;
    return std::abs(*to.Find("mass_kg")->number() - sum) < 1e-15;
  }
  if (key == "rotvec_deg") return Numbers(to.Find("R")).size() == 9;
  return false;
}

/// What `from` says and `to` does not, by path.
void FindLost(const Json& from, const Json* to, const std::string& path,
              std::vector<std::string>* lost) {
  if (from.is_object()) {
    for (const text::JsonMember& member : from.members()) {
      const std::string at = text::JsonPathChild(path, member.key);
      const Json* found = to == nullptr ? nullptr : to->Find(member.key);
      if (found == nullptr && (member.key == "p_m" || member.key == "R") &&
          IsDefaultPose(member.key, member.value)) {
        continue;
      }
      if (to != nullptr && !(found != nullptr && *found == member.value) &&
          IsSaidInSi(member.key, member.value, from, *to)) {
        continue;
      }
      FindLost(member.value, found, at, lost);
    }
  } else if (from.is_array() && to != nullptr && to->elements().size() == from.elements().size()) {
    for (size_t i = 0; i < from.elements().size(); ++i) {
      FindLost(from.elements()[i], &to->elements()[i], text::JsonPathChild(path, i), lost);
    }
  } else if (to == nullptr || !(from == *to)) {
    lost->push_back(path + ": " + text::DescribeJson(from));
  }
}

std::vector<std::string> Lost(const Json& from, const Json& to) {
  std::vector<std::string> lost;
  FindLost(from, &to, "", &lost);
  return lost;
}

/// Loads and writes a file of the library; nullopt, with a failure, when it cannot.
Json Rewritten(const std::string& folder, const fs::path& path) {
  if (folder == "hands") {
    const auto hand = LoadSkeleton(path);
    EXPECT_TRUE(hand) << hand.error().message;
    return hand ? SkeletonToJson(*hand) : Json();
  }
  const auto prop = LoadProp(path.string());
  EXPECT_TRUE(prop) << prop.error().message;
  return prop ? PropToJson(*prop) : Json();
}

class Library : public ::testing::TestWithParam<const char*> {};

TEST_P(Library, EveryFileSurvivesLoadingAndSaving) {
  const std::string folder = GetParam();
  const TempFile file;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(*SchemasFolder() / folder)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename());
    ++files;
    const Json original = *text::ReadJsonFile(entry.path());
    const Json once = Rewritten(folder, entry.path());
    EXPECT_THAT(Lost(original, once), IsEmpty());
    ASSERT_TRUE(text::WriteJsonFile(file.path(), once));
    const Json twice = Rewritten(folder, file.path());
    EXPECT_EQ(*text::WriteJson(once), *text::WriteJson(twice));
  }
  EXPECT_GE(files, folder == "hands" ? 2 : 10);
}

INSTANTIATE_TEST_SUITE_P(Schemas, Library, ::testing::Values("hands", "props"));

/// Calls `visit` with every string under the key "source" or "..._source".
void ForEachSource(Json* json, const std::function<void(std::string*)>& visit) {
  std::string text;
  if (json->is_object()) {
    Json out = Json::Object();
    for (const text::JsonMember& member : json->members()) {
      Json value = member.value;
      if (member.key.ends_with("source") && value.string() != nullptr) {
        text = *value.string();
        visit(&text);
        value = Json(text);
      } else {
        ForEachSource(&value, visit);
      }
      out.Set(member.key, std::move(value));
    }
    *json = std::move(out);
  } else if (json->is_array()) {
    Json out = Json::Array();
    for (Json value : json->elements()) {
      ForEachSource(&value, visit);
      out.Push(std::move(value));
    }
    *json = std::move(out);
  }
}

/// The comparison above bites: with any one source of any one file altered or dropped it answers.
TEST(LostMembers, CanaryASingleSourceThatIsMissingIsFound) {
  for (const char* file : {"props/bumped_plate.json", "props/mug.json", "hands/finger4.json"}) {
    Json original = *text::ReadJsonFile(*SchemasFolder() / file);
    int count = 0;
    ForEachSource(&original, [&](std::string*) { ++count; });
    ASSERT_GT(count, 8) << file;
    for (int changed = 0; changed < count; ++changed) {
      int at = 0;
      Json other = original;
      ForEachSource(&other, [&](std::string* source) {
        if (at++ == changed) *source = "someone else";
      });
      EXPECT_EQ(Lost(original, other).size(), 1u) << file << " " << changed;
    }
  }
}

TEST(LostMembers, CanaryANumberThatIsNotSaidInSiIsFound) {
  const Json original = *text::ParseJson(
      R"({"lower_deg": [90], "from_m": [0,0,0], "to_m": [0,0,2], "friction": 0.5})");
  const Json good = *text::ParseJson(
      R"({"lower_rad": [1.5707963267948966], "length_m": 2, "pose": {"p_m": [0,0,1]}, "friction": 0.5})");
  EXPECT_THAT(Lost(original, good), IsEmpty());
  for (const char* bad :
       {R"({"lower_rad": [1.5], "length_m": 2, "pose": {"p_m": [0,0,1]}, "friction": 0.5})",
        R"({"lower_rad": [1.5707963267948966], "length_m": 2, "friction": 0.5})",
        R"({"lower_rad": [1.5707963267948966], "pose": {"p_m": [0,0,1]}, "friction": 0.5})",
        R"({"lower_rad": [1.5707963267948966], "length_m": 2, "pose": {"p_m": [0,0,1]}})"}) {
    EXPECT_THAT(Lost(original, *text::ParseJson(bad)), Not(IsEmpty())) << bad;
  }
}

std::string NoteOf(const Skeleton& s, const std::string& key) {
  for (const SourceNote& note : s.draft().sources) {
    if (note.key == key) return note.text;
  }
  return "";
}

/// A hand each of whose numbers names a source of its own.
Skeleton Finger4WithSources() {
  SkeletonDraft draft = LoadHand("finger4")->draft();
  for (Body& body : draft.bodies) {
    if (body.mass.mass_kg != 0) body.mass_source = "mass of " + body.name;
  }
  return *Skeleton::Build(std::move(draft));
}

TEST(Sources, OfAMirroredHandAreThoseOfTheOriginal) {
  const Skeleton right = Finger4WithSources(), left = Mirrored(right);
  EXPECT_EQ(left.draft().source, right.draft().source + "; mirrored");
  Json a = SkeletonToJson(right), b = SkeletonToJson(left);
  std::vector<std::string> of_right, of_left;
  ForEachSource(&a, [&](std::string* s) { of_right.push_back(*s); });
  ForEachSource(&b, [&](std::string* s) { of_left.push_back(*s); });
  ASSERT_EQ(of_right.size(), of_left.size());
  of_left.front() = of_right.front();  // the skeleton's own
  EXPECT_EQ(of_left, of_right);
  EXPECT_EQ(*text::WriteJson(SkeletonToJson(Mirrored(left))), *text::WriteJson(a));
}

TEST(Sources, OfScaledLengthsSayWhatWasScaledAndNothingElse) {
  const Skeleton hand = Finger4WithSources();
  const Skeleton scaled = *ScaledToLengths(hand, {{"index.prx", 0.05}, {"palm", 0.08}});
  const int prx = hand.FindBody("index.prx"), mid = hand.FindBody("index.mid"),
            palm = hand.FindBody("palm");
  EXPECT_EQ(scaled.body(prx).source, hand.body(prx).source + "; scaled");
  EXPECT_EQ(scaled.body(prx).mass_source, "mass of index.prx; scaled");
  EXPECT_EQ(scaled.body(prx).shapes[0].source, hand.body(prx).shapes[0].source + "; scaled");
  EXPECT_EQ(scaled.body(mid).joint.source, hand.body(mid).joint.source + "; scaled");
  // The joint at the segment's own beginning stays where it is, and so do its other neighbours.
  EXPECT_EQ(scaled.body(prx).joint.source, hand.body(prx).joint.source);
  EXPECT_EQ(scaled.body(mid).source, hand.body(mid).source);
  EXPECT_EQ(scaled.body(palm).source, hand.body(palm).source);
  EXPECT_EQ(scaled.body(palm).mass_source, hand.body(palm).mass_source);
  EXPECT_THAT(NoteOf(scaled, "scaled"), HasSubstr("index.prx from 0.045 m to 0.05 m"));
  EXPECT_THAT(NoteOf(scaled, "scaled"), Not(HasSubstr("palm")));
  for (size_t i = 0; i < hand.markers().size(); ++i) {
    const bool moved = hand.markers()[i].p_BM != scaled.markers()[i].p_BM;
    EXPECT_EQ(scaled.markers()[i].source, hand.markers()[i].source + (moved ? "; scaled" : ""));
  }
  const Skeleton again = *ScaledToLengths(scaled, {{"index.prx", 0.04}});
  EXPECT_EQ(again.body(prx).source, hand.body(prx).source + "; scaled");
  EXPECT_THAT(NoteOf(again, "scaled"), HasSubstr("then stretched"));
  EXPECT_THAT(NoteOf(again, "scaled"), EndsWith("index.prx from 0.05 m to 0.04 m"));
}

TEST(Sources, OfAUniformlyScaledHandSayTheFactor) {
  const Skeleton hand = Finger4WithSources(), scaled = *ScaledUniformly(hand, 1.25);
  EXPECT_THAT(NoteOf(scaled, "scaled"), HasSubstr("all lengths times 1.25 at the same density"));
  EXPECT_EQ(scaled.frames()[0].source, hand.frames()[0].source + "; scaled");
  EXPECT_EQ(scaled.body(2).mass_source, hand.body(2).mass_source + "; scaled");
  const Skeleton same = *ScaledUniformly(hand, 1.0);
  EXPECT_EQ(*text::WriteJson(SkeletonToJson(same)), *text::WriteJson(SkeletonToJson(hand)));
}

}  // namespace
}  // namespace handhold::model::source_test
