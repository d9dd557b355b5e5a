#include "database/artefact/reference_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/prop.h"

namespace handhold::artefact::reference_file_test {
namespace {

TEST(ReferenceFile, WhatShipsLoadsAndFitsItsHandAndProp) {
  const std::vector<std::string> names = ReferenceNames().value();
  EXPECT_THAT(names, ::testing::IsSupersetOf({"gaiting_light_bulb", "pinch_box_3x5x7",
                                              "power_box_3x5x7", "tripod_box_3x5x7"}));
  for (const std::string& name : names) {
    const auto file = LoadLibraryReference(name);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->name, name);
    auto hand = model::LoadHand(file->hand);
    ASSERT_TRUE(hand) << name;
    if (file->trajectory.hand == "L") hand = model::Mirrored(*hand);
    EXPECT_TRUE(model::LoadLibraryProp(file->prop)) << name;
    const InteractionTrajectory& t = file->trajectory;
    EXPECT_EQ(t.dof_names, hand->dof_names()) << name;
    ASSERT_EQ(t.q_reference.rows(), hand->nq()) << name;
    ASSERT_EQ(t.q_reference.cols(), static_cast<Eigen::Index>(t.times.size()));
    EXPECT_TRUE(t.q_reference.allFinite());
    EXPECT_EQ(t.q_reference, t.q_reference_dynamic);
    EXPECT_EQ(t.compliance_rad_per_Nm.rows(), hand->nv());
    EXPECT_GT(t.compliance_rad_per_Nm.minCoeff(), 0.0);
    if (file->hold.length() > Duration()) {
      EXPECT_GE(file->hold.begin, t.times.front()) << name;
      EXPECT_LE(file->hold.end, t.times.back()) << name;
    }
  }
}

TEST(ReferenceFile, RestsAreLeftOutAndComeBack) {
  ReferenceFile file{.name = "x", .source = "test", .hand = "h", .prop = "p", .X_WProp = {}};
  InteractionTrajectory& t = file.trajectory;
  t.dof_names = {"a.flex"};
  t.q_reference.resize(1, 7);
  t.q_reference << 0.1, 0.1, 0.1, 0.1234564, 0.3, 0.3, 0.3;
  for (int k = 0; k < 7; ++k) t.times.push_back(Timestamp::FromNanoseconds(4'000'000LL * k));
  t.compliance_rad_per_Nm = Eigen::MatrixXd::Constant(1, 7, 0.7);
  t.time_constant_s = Eigen::VectorXd::Constant(7, 0.014);
  file.hold = {t.times[2], t.times[5]};
  const auto path = std::filesystem::temp_directory_path() / "handhold_reference_file_test.json";
  ASSERT_TRUE(SaveReferenceFile(file, path));
  const auto read = LoadReferenceFile(path);
  ASSERT_TRUE(read) << read.error().message;
  // The second frame and the last but one lie between equal ones.
  ASSERT_EQ(read->trajectory.times.size(), 5u);
  EXPECT_EQ(read->trajectory.times[1], t.times[2]);
  EXPECT_EQ(read->trajectory.times[3], t.times[4]);
  EXPECT_NEAR(read->trajectory.q_reference(0, 2), 0.1234564, 1e-6);
  EXPECT_EQ(read->trajectory.compliance_rad_per_Nm(0, 4), 0.7);
  EXPECT_EQ(read->hold.begin, t.times[2]);
  EXPECT_EQ(read->hold.end, t.times[5]);
}

TEST(ReferenceFile, WhatIsNoReferenceIsRefusedByName) {
  const auto unknown = LoadLibraryReference("pinch_box_3x5x8");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("pinch_box_3x5x7"));
  const std::string path =
      (std::filesystem::temp_directory_path() / "handhold_reference_file_bad.json").string();
  const auto load = [&](const std::string& text) {
    std::ofstream(path) << text;
    return LoadReferenceFile(path).error();
  };
  EXPECT_EQ(load(R"({"format": "handhold.prop", "version": 1})").code, ErrorCode::kInvalid);
  EXPECT_EQ(load(R"({"format": "handhold.reference", "version": 2})").code, ErrorCode::kVersion);
  EXPECT_THAT(load(R"({"format": "handhold.reference", "version": 1, "name": "x"})").message,
              ::testing::HasSubstr("source"));
}

}  // namespace
}  // namespace handhold::artefact::reference_file_test
