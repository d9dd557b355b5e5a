// A recording of somebody else's hand, labels and all: DFKI's, through import, skeleton and pose
// with the map we ship. What two markers per digit leave open is named; what they show agrees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "database/artefact/describe.h"
#include "database/store/artefact_file.h"
#include "database/text/json.h"
#include "database/text/json_view.h"
#include "fitting/skeleton/steps.h"
#include "tests/support/paths.h"
#include "tests/tools/pipeline/pipeline_fixture.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/import.h"

namespace handhold::pipeline::recorded_hand_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

fitting::SkeletonFitSummary SummaryOf(const store::Library& library, const StepResult& made) {
  const auto file = store::LoadJsonArtefact(library.ArtefactPath(made.hash));
  EXPECT_TRUE(file) << file.error().message;
  const text::Json json = *text::ParseJson(file->json);
  const text::JsonView summary = *text::JsonView(json).At("summary");
  return *artefact::FromJson<fitting::SkeletonFitSummary>(summary);
}

class RecordedHand : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = support::SharedDataDir() + "/hand/dfki_recording.tsv";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
    auto library = store::Library::Create(folder_.path() + "/lab");
    ASSERT_TRUE(library) << library.error().message;
    library_ = *std::move(library);
    ImportOptions options;
    options.name = "dfki";
    const auto imported = ImportFiles(library_.get(), {path}, options);
    ASSERT_TRUE(imported) << imported.error().message;
    ASSERT_FALSE(imported->front().error.has_value());
  }
  StepContext Context() { return {.library = *library_, .tool = "test 1"}; }

  store::TempDir folder_;
  std::unique_ptr<store::Library> library_;
};

/// Median distance of a left-out marker from where the others put it, m.
double LeftOut_m(const StepContext& context, const StepResult& hand, const std::string& marker) {
  fitting::FitPoseStep pose{.clip = "dfki", .skeleton = hand.hash};
  pose.options.method = fitting::PoseMethod::kFast;
  pose.options.range = TimeRange{Timestamp(), Timestamp::FromSeconds(20)};
  pose.options.leave_out = {marker};
  const auto made = RunStep(context, pose);
  EXPECT_TRUE(made) << made.error().message;
  if (!made) return 1.0;
  const auto track = store::Load<artefact::PoseTrack>(context.library.ArtefactPath(made->hash));
  EXPECT_TRUE(track) << track.error().message;
  const artefact::MarkerAgreement& left = track->summary.left_out.at(0);
  EXPECT_EQ(left.marker, marker);
  std::printf("%s left out: median %.2f mm, 95 %% %.2f mm\n", marker.c_str(), 1e3 * left.median_m,
              1e3 * left.p95_m);
  return left.median_m;
}

TEST_F(RecordedHand, GoesThroughTheFitsUnderItsOwnLabels) {
  fitting::FitSkeletonStep skeleton{.clip = "dfki"};
  skeleton.template_hand.ask.hand.marker_map = "dfki";
  skeleton.options.frames = 60;
  skeleton.options.skin_m = 2e-3;
  const auto hand = RunStep(Context(), skeleton);
  ASSERT_TRUE(hand) << hand.error().message;
  EXPECT_THAT(hand->chosen, Contains(HasSubstr("marker map 'dfki'")));
  const fitting::SkeletonFitSummary summary = SummaryOf(*library_, *hand);
  EXPECT_LT(summary.marker_rms_m, 1.5e-3);
  EXPECT_EQ(summary.marker_rms_by_name_m.size(), 13u);
  for (const auto& [marker, rms_m] : summary.marker_rms_by_name_m)
    EXPECT_LT(rms_m, 2.5e-3) << marker;
  // Two markers per digit and a hand that mostly holds a pillow: lengths stay the template's, by
  // name, and so do places and axes of every digit's outer joints.
  EXPECT_GE(std::count_if(summary.lengths.begin(), summary.lengths.end(),
                          [](const auto& length) { return length.source == "prior"; }),
            10);
  std::string open;
  for (const std::string& direction : summary.undetermined) open += direction + "\n";
  for (const char* digit : {"thumb", "index", "middle", "ring", "little"})
    EXPECT_THAT(open, HasSubstr(digit));

  fitting::FitPoseStep pose{.clip = "dfki", .skeleton = hand->hash};
  pose.options.method = fitting::PoseMethod::kFast;
  pose.options.range = TimeRange{Timestamp(), Timestamp::FromSeconds(20)};
  const auto made = RunStep(Context(), pose);
  ASSERT_TRUE(made) << made.error().message;
  const auto track = store::Load<artefact::PoseTrack>(library_->ArtefactPath(made->hash));
  ASSERT_TRUE(track) << track.error().message;
  EXPECT_EQ(track->hand, "R");
  EXPECT_GT(track->frame_count(), 1700);
  EXPECT_EQ(track->marker_names.size(), 13u);
  EXPECT_LT(track->summary.marker_rms_m, 2e-3);
  EXPECT_EQ(track->summary.unmodelled_markers.size(), 8u);  // arm, back and pillow

  // What the others say of one that is left out: on the back of the hand, on a phalanx.
  EXPECT_LT(LeftOut_m(Context(), *hand, "hand_top"), 5e-3);
  LeftOut_m(Context(), *hand, "index_middle");
  LeftOut_m(Context(), *hand, "middle_middle");
  LeftOut_m(Context(), *hand, "ring_tip");
}

}  // namespace
}  // namespace handhold::pipeline::recorded_hand_test
