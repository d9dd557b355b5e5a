#include "database/model/marker_map.h"

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "database/model/hand_library.h"

namespace handhold::model::marker_map_test {
namespace {

using geometry::Vec3;
using ::testing::HasSubstr;

/// A map as a file in the temporary folder.
class MapFile {
 public:
  explicit MapFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("handhold_map_" + std::to_string(::getpid()) + ".json")) {
    std::ofstream(path_) << text;
  }
  ~MapFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string TwoHands(const std::string& right_marker, const std::string& left_label = "tip") {
  return R"({"format": "handhold.marker_map", "version": 1, "name": "ours", "hands": [
    {"name": "right", "hand": "hand27", "prefix": "R1:", "scale": 1.1, "markers": [)" +
         right_marker + R"(,
      {"label": "a", "marker": "R.PLM.DOR.1"}, {"label": "b", "marker": "R.PLM.DOR.2"},
      {"label": "c", "body": "palm", "p_m": [0.05, 0.01, 0.02]}]},
    {"name": "left", "side": "left", "prefix": "L1:", "markers": [
      {"label": ")" +
         left_label + R"(", "marker": "R.IND.DST.1"}, {"label": "a", "marker": "R.PLM.DOR.1"},
      {"label": "b", "marker": "R.PLM.DOR.2"}, {"label": "c", "marker": "R.PLM.DOR.3"}]}],
    "ignored": ["pillow"]})";
}

constexpr char kTip[] = R"({"label": "tip", "marker": "R.IND.DST.1"})";

TEST(MarkerMap, PutsALabsLabelsOnHandsOfEitherSide) {
  const MapFile file(TwoHands(kTip));
  const auto map = LoadMarkerMap(file.path());
  ASSERT_TRUE(map) << map.error().message;
  const Skeleton plain = *LoadHand("hand27");
  const Vec3 tip = plain.markers()[static_cast<size_t>(plain.FindMarker("R.IND.DST.1"))].p_BM;

  const auto right = WearingMap(*map, *FindHand(*map, "right"));
  ASSERT_TRUE(right) << right.error().message;
  ASSERT_EQ(right->markers().size(), 4u);
  EXPECT_EQ(right->markers()[0].name, "R1:tip");
  EXPECT_EQ(right->body(right->markers()[0].body).name, "index.dst");
  EXPECT_LT((right->markers()[0].p_BM - 1.1 * tip).norm(), 1e-15);
  EXPECT_LT((right->markers()[3].p_BM - 1.1 * Vec3(0.05, 0.01, 0.02)).norm(), 1e-15);
  ASSERT_EQ(right->draft().marker_sets.size(), 1u);
  EXPECT_EQ(right->draft().marker_sets[0].name, "ours");

  const auto left = WearingMap(*map, *FindHand(*map, "left"));
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_EQ(left->draft().side, "left");
  EXPECT_EQ(left->markers()[0].name, "L1:tip");  // a label starting with R. would stay, too
  EXPECT_LT((left->markers()[0].p_BM - tip.cwiseProduct(Vec3(1, -1, 1))).norm(), 1e-15);
  EXPECT_GE(left->FindDof("L.index.mcp.flex"), 0);

  const auto several = FindHand(*map, "");
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(FindHand(*map, "lefd").error().code, ErrorCode::kNotFound);
}

TEST(MarkerMap, WhatIsWrongIsNamed) {
  struct Case {
    std::string text, says;
  };
  const std::string place = R"({"label": "tip", "body": "index.dst", "p_m": [10, 0, 9]})";
  for (const Case& c :
       {Case{TwoHands(R"({"label": "tip"})"), "'tip' needs its place once"},
        Case{TwoHands(R"({"label": "tip", "marker": "R.IND.DST.1", "body": "palm"})"), "once"},
        Case{TwoHands(R"({"label": "tip", "body": "palm"})"), "p_m goes with body"},
        Case{TwoHands(place), "is this in mm"}, Case{TwoHands(kTip, "a"), "'L1:a' is mapped twice"},
        Case{"{}", "format"}}) {
    const MapFile file(c.text);
    const auto map = LoadMarkerMap(file.path());
    ASSERT_FALSE(map) << c.says;
    EXPECT_THAT(map.error().message, HasSubstr(c.says));
  }
  const MapFile unknown(TwoHands(R"({"label": "tip", "marker": "R.IND.DTS.1"})"));
  const auto map = LoadMarkerMap(unknown.path());
  ASSERT_TRUE(map) << map.error().message;
  const auto hand = WearingMap(*map, map->hands[0]);
  ASSERT_FALSE(hand);
  EXPECT_EQ(hand.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(hand.error().message, HasSubstr("'R.IND.DST.1'"));
  EXPECT_EQ(LoadMarkerMap("dfky").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(LoadMarkerMap("dfky").error().message, HasSubstr("'dfki'"));
}

TEST(MarkerMap, OursAreWornByTheirHands) {
  const std::vector<std::string> names = *MarkerMapNames();
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    const auto map = LoadMarkerMap(name);
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_EQ(map->name, name);
    for (const MappedHand& entry : map->hands) {
      const auto hand = WearingMap(*map, entry);
      ASSERT_TRUE(hand) << hand.error().message;
      for (const MarkerAttachment& m : hand->markers()) {
        EXPECT_FALSE(m.source.empty()) << m.name;
        std::vector<geometry::PosedShape> shapes;
        for (const BodyShape& s : hand->body(m.body).shapes) shapes.push_back({s.shape, s.X_BS});
        EXPECT_GT(geometry::SignedDistanceToUnion(shapes, m.p_BM).point.distance_m, -0.002)
            << m.name;
      }
    }
    // What is written is read again as the same.
    const MapFile file(*text::WriteJson(MarkerMapToJson(*map)));
    const auto again = LoadMarkerMap(file.path());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*text::WriteJson(MarkerMapToJson(*again)), *text::WriteJson(MarkerMapToJson(*map)));
  }
}

}  // namespace
}  // namespace handhold::model::marker_map_test
