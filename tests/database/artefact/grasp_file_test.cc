#include "database/artefact/grasp_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"

namespace handhold::artefact::grasp_file_test {
namespace {

TEST(GraspFile, WhatShipsLoadsFitsItsHandAndPropAndComesBackToTheBit) {
  const std::vector<std::string> names = GraspNames().value();
  EXPECT_THAT(names, ::testing::IsSupersetOf(
                         {"hand27_cylinder", "hand27_pinch", "hand57_cylinder", "hand57_pinch"}));
  const std::string path =
      (std::filesystem::temp_directory_path() / "handhold_grasp_file_test.json").string();
  for (const std::string& name : names) {
    const auto grasp = LoadLibraryGrasp(name);
    ASSERT_TRUE(grasp) << grasp.error().message;
    EXPECT_EQ(grasp->name, name);
    EXPECT_TRUE(grasp->scripted);
    const model::Skeleton hand = model::LoadHand(grasp->skeleton_name).value();
    EXPECT_EQ(grasp->dof_names, hand.dof_names());
    for (const Eigen::VectorXd* q : {&grasp->q, &grasp->q_open, &grasp->q_squeeze})
      EXPECT_EQ(q->size(), hand.nq()) << name;
    EXPECT_TRUE(model::LoadLibraryProp(grasp->prop)) << grasp->prop;
    EXPECT_GE(grasp->contacts.size(), 3u);
    EXPECT_FALSE(grasp->types.empty());
    ASSERT_TRUE(SaveGraspFile(*grasp, "test", path));
    const auto again = LoadGraspFile(path);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*text::WriteJson(ToJson(*again)), *text::WriteJson(ToJson(*grasp)));
  }
}

TEST(GraspFile, WhatIsNoGraspIsRefusedByName) {
  const auto unknown = LoadLibraryGrasp("hand57_cylindre");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("hand57_cylinder"));
  const std::string path =
      (std::filesystem::temp_directory_path() / "handhold_grasp_file_bad.json").string();
  const auto load = [&](const std::string& text) {
    std::ofstream(path) << text;
    return LoadGraspFile(path).error();
  };
  EXPECT_EQ(load(R"({"format": "handhold.prop", "version": 1})").code, ErrorCode::kInvalid);
  EXPECT_EQ(load(R"({"format": "handhold.grasp", "version": 2})").code, ErrorCode::kVersion);
  EXPECT_THAT(load(R"({"format": "handhold.grasp", "version": 1, "name": "x"})").message,
              ::testing::HasSubstr("proposer"));
}

}  // namespace
}  // namespace handhold::artefact::grasp_file_test
