#include "tools/report/load.h"

#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/model/hand_library.h"
#include "database/model/skeleton_json.h"
#include "database/store/clip_writer.h"
#include "fitting/compliance/reference_trajectory.h"

namespace handhold::report::load_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A library with one clip of one marker stream, and results by hand: what LoadReport must find.
class LoadReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = ::testing::TempDir() + "/report_load_" +
                               ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
    library_ = store::Library::Create(folder).value();
    recording::ClipInfo info;
    info.task = "stroke", info.subject = "S01", info.host_start_ns = 1'000'000'000;
    info.things = {{.name = "plate",
                    .model = "flat_plate",
                    .pose = recording::Thing::Pose::kFixed,
                    .X_WT = geometry::RigidTransform::Translation({0.12, 0, -0.075})}};
    info = library_->NewTake(info).value();
    recording::Clip clip(info);
    recording::StreamInfo stream;
    stream.name = "vicon/markers", stream.kind = recording::StreamKind::kMarkers,
    stream.rate = {500, 1};
    for (const char* c : {"M.x", "M.y", "M.z"}) stream.channels.push_back({c, "m", 1e-5});
    recording::SampleBlock block;
    block.stream_id = clip.AddStream(stream, recording::ClockMap::Identity(info.host_start_ns));
    block.count = 1000, block.values.assign(3000, 0.25);
    clip.Append(block);
    const Status written = store::WriteClip(clip, library_->ClipPath(info.id), {});
    ASSERT_TRUE(written) << written.error().message;
    ASSERT_TRUE(library_->Index(info.id));
    clip_ = library_->FindClip(info.name).value();
  }

  artefact::Provenance Made(const std::string& step, std::vector<artefact::ProvenanceInput> inputs,
                            const std::string& parameters = "{}") {
    artefact::Provenance p;
    p.made_utc = Timestamp::FromSeconds(1e9 + ++made_);  // newest is what was made last
    p.step = step, p.version = 1, p.inputs = std::move(inputs), p.parameters_json = parameters;
    return p;
  }
  artefact::PoseTrack Pose() const {
    artefact::PoseTrack pose;
    pose.dof_names = {"a"};
    pose.times = {Timestamp::FromSeconds(0), Timestamp::FromSeconds(0.002)};
    pose.q = pose.information_diagonal = Eigen::MatrixXd::Zero(1, 2);
    pose.marker_residual_m = Eigen::MatrixXd::Zero(0, 2);
    pose.at_limit.setConstant(1, 2, false);
    return pose;
  }
  artefact::ProvenanceInput ClipInput() const { return {"clip", clip_.sha256, clip_.name}; }
  Result<LoadedReport> Load(const std::string& truth = "") {
    return LoadReport({.library = *library_}, clip_.name, "", truth);
  }

  std::unique_ptr<store::Library> library_;
  store::ClipRow clip_;
  int made_ = 0;
};

TEST_F(LoadReportTest, AClipAloneIsAReportWithEverythingElseMissing) {
  const auto loaded = Load();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->pose, nullptr);
  EXPECT_EQ(loaded->trajectory, nullptr);
  EXPECT_THAT(loaded->steps, IsEmpty());
  const auto data = FillReport(loaded->sources());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->take.streams.at(0).samples, 1000);
  EXPECT_EQ(data->missing.size(), 6u);
  EXPECT_THAT(data->commands.at(0), HasSubstr("handhold lab report stroke_001 --library"));
}

TEST_F(LoadReportTest, TheNewestResultDecidesAndItsLineageIsFollowed) {
  artefact::PoseTrack old_pose = Pose();
  old_pose.provenance = Made("fit.pose", {ClipInput()}, "{\"n\":1}");
  const std::string first = library_->Save(old_pose).value();
  artefact::PoseTrack new_pose = Pose();
  new_pose.q.setConstant(0.5);
  new_pose.provenance = Made("fit.pose", {ClipInput()}, "{\"n\":2}");
  const std::string second = library_->Save(new_pose).value();
  ASSERT_NE(first, second);
  EXPECT_EQ(Load().value().pose->q(0, 0), 0.5) << "the newest pose";

  // A contact track made from the older pose: the page must show that pose, not the newest.
  artefact::ContactTrack contact;
  contact.times = old_pose.times;
  contact.tau_Nm = Eigen::MatrixXd::Zero(1, 2);
  contact.provenance = Made("fit.contact", {ClipInput(), {"pose", first, ""}});
  const std::string touched = library_->Save(contact).value();
  const auto loaded = Load();
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_NE(loaded->contact, nullptr);
  EXPECT_EQ(loaded->pose->q(0, 0), 0.0);
  ASSERT_EQ(loaded->steps.size(), 2u);
  EXPECT_EQ(loaded->steps[0].hash, first) << "in the order in which they were made";
  EXPECT_EQ(loaded->steps[1].hash, touched);
}

// Refused joints are assumed in three variants: as given, halved and doubled. The page shows the
// first, and an unreadable one is no reason to guess.
TEST_F(LoadReportTest, OfAssumedTrajectoriesTheOneWithTheFactorOneIsTaken) {
  artefact::InteractionTrajectory fitted;
  fitted.dof_names = {"a"};
  fitted.times = {Timestamp::FromSeconds(0), Timestamp::FromSeconds(0.002)};
  fitted.q = fitted.q_reference = fitted.compliance_rad_per_Nm = Eigen::MatrixXd::Zero(1, 2);
  fitted.time_constant_s = Eigen::VectorXd::Zero(2);
  fitted.assumed = {0};
  fitted.provenance = Made("fit.compliance", {ClipInput()});
  const std::string fit = library_->Save(fitted).value();
  int made = 0;
  const auto assume = [&](double factor,
                          const std::map<std::string, double>& by_name = {{"a", 1}}) {
    artefact::InteractionTrajectory t = fitted;
    t.assumed = {1};
    t.made_with.assume_compliance = by_name;
    t.made_with.assumed_factor = factor;
    t.provenance =
        Made("fit.assume", {{"trajectory", fit, ""}}, "{\"nth\":" + std::to_string(made++) + "}");
    return library_->Save(t).value();
  };
  assume(0.5), assume(12);
  EXPECT_EQ(Load().value().trajectory->assumed[0], 0) << "12 is not 1";
  assume(1.0), assume(2);
  const auto loaded = Load();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->trajectory->assumed[0], 1);
  EXPECT_EQ(loaded->steps.back().provenance.step, "fit.assume");
  // What somebody tries by name, later too, does not take the place of the default.
  const std::string tried = assume(1, {{"a", 1000}}), tried_first = loaded->steps.back().hash;
  EXPECT_EQ(Load().value().steps.back().hash, tried) << "the newest of those by name";
  const std::string by_default = assume(1, {});
  assume(1, {{"a", 7}});
  EXPECT_EQ(Load().value().steps.back().hash, by_default);
  EXPECT_NE(tried, tried_first);
  // A result that is there and cannot be read is an error.
  std::filesystem::resize_file(library_->path() + "/derived/" + by_default + ".art", 40);
  EXPECT_FALSE(Load());
}

TEST_F(LoadReportTest, WhatCannotBeFoundIsNamed) {
  EXPECT_EQ(LoadReport({.library = *library_}, "stroke_7", "", "").error().code,
            ErrorCode::kNotFound);
  const auto no_truth = Load(library_->path() + "/nowhere");
  ASSERT_FALSE(no_truth);
  EXPECT_THAT(no_truth.error().message, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace handhold::report::load_test
