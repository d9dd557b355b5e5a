// From stored poses and from scripts to grasp spaces, from spaces to grasps, labels and like
// shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>

#include "database/artefact/describe.h"
#include "database/artefact/grasp_file.h"
#include "database/model/grasp_taxonomy.h"
#include "database/model/hand_library.h"
#include "database/store/artefact_file.h"
#include "database/store/query.h"
#include "synthesis/grasp_search/grasp_step.h"
#include "tests/tools/pipeline/pipeline_fixture.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/find_grasp.h"
#include "tools/pipeline/fit_grasp_space.h"
#include "tools/pipeline/hand_poses.h"

namespace handhold::pipeline::grasp_steps_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Timestamp At(double seconds) { return Timestamp::FromSeconds(seconds); }

class GraspSteps : public ::testing::Test {
 protected:
  void SetUp() override { library_ = *store::Library::Create(folder_.path() + "/lab"); }
  StepContext Context() { return {.library = *library_, .tool = "test 1"}; }

  /// An empty clip and a stored pose track of it whose hand moves through scripted grasps, one a
  /// second at 20 Hz.
  std::string Take(const std::string& name, const std::vector<Eigen::VectorXd>& shapes) {
    recording::ClipInfo info;
    info.subject = "S01";
    info.task = "grasp";
    recording::Clip clip(info);
    recording::StreamInfo stream;
    stream.name = "clock";
    stream.kind = recording::StreamKind::kMarkers;
    stream.rate = {20, 1};
    stream.frame = "W";
    for (const char* c : {"m.x", "m.y", "m.z"}) stream.channels.push_back({c, "m", 0});
    recording::SampleBlock block;
    block.stream_id = clip.AddStream(stream, recording::ClockMap::Identity());
    block.count = static_cast<int>(20 * shapes.size());
    block.values.assign(static_cast<size_t>(3 * block.count), 0.0);
    clip.Append(block);
    const std::string id = testing::Keep(*library_, std::move(clip), name);
    const store::ClipRow row = *library_->FindClip(id);
    std::vector<std::string> chosen;
    const FoundSkeleton hand = *FindSkeleton(Context(), HandChoice{{}, "hand27"}, &chosen);
    artefact::PoseTrack track;
    track.skeleton_hash = hand.hash;
    track.dof_names = hand.skeleton.dof_names();
    const int frames = block.count;
    track.q.resize(hand.skeleton.nq(), frames);
    for (int k = 0; k < frames; ++k) {
      track.times.push_back(At(k / 20.0));
      Eigen::VectorXd q = hand.skeleton.ZeroConfiguration();
      const double closed = 0.5 - 0.5 * std::cos(2 * M_PI * (k % 20) / 20.0);
      q.tail(21) = closed * shapes[static_cast<size_t>(k / 20)];
      track.q.col(k) = q;
    }
    track.information_diagonal = Eigen::MatrixXd::Ones(hand.skeleton.nv(), frames);
    track.provenance.step = "fit.pose";
    track.provenance.version = 1;
    track.provenance.inputs = {{"clip", row.sha256, name}, hand.input()};
    track.provenance.parameters_json = "{}";
    track.provenance.made_utc = UtcNow();
    EXPECT_TRUE(library_->Save(track).has_value());
    return id;
  }
  std::vector<Eigen::VectorXd> Grasps(const std::string& type, int count) {
    const auto hand = *synthesis::HandSurface::Build(*model::LoadHand("hand27"));
    std::vector<Eigen::VectorXd> shapes;
    const synthesis::Preshapes made =
        *synthesis::ScriptPreshapes(hand, {type}, {.per_type = count});
    for (const artefact::GraspTemplate& grasp : made.grasps) shapes.push_back(grasp.pose_v);
    return shapes;
  }
  void Label(const std::string& clip, const std::string& type, double from, double to,
             const std::string& author = "ana", const std::string& name = "feix") {
    store::LedgerEntry entry;
    entry.kind = store::LedgerKind::kLabel;
    entry.clip = clip;
    entry.author = author;
    entry.name = name;
    entry.value = type;
    entry.span = TimeRange{At(from), At(to)};
    ASSERT_TRUE(library_->Say(std::vector<store::LedgerEntry>{entry}).has_value());
  }

  artefact::Grasp First(const StepResult& found) {
    const auto grasp =
        store::Load<artefact::Grasp>(library_->ArtefactPath(found.outputs.at(0).hash));
    EXPECT_TRUE(grasp) << grasp.error().message;
    return grasp ? *grasp : artefact::Grasp{};
  }

  store::TempDir folder_;
  std::unique_ptr<store::Library> library_;
};

TEST_F(GraspSteps, AScriptedSpaceIsMadeOnceAndSearchedFor) {
  const FitGraspSpaceStep step{.scripted = true,
                               .types = {"tripod", "cylindrical"},
                               .preshape = {.per_type = 12},
                               .options = {.dims = 4, .mixture = {.max_components = 2}}};
  const auto made = RunStep(Context(), step);
  ASSERT_TRUE(made) << made.error().message;
  const auto space = *store::Load<artefact::GraspSpace>(library_->ArtefactPath(made->hash));
  EXPECT_TRUE(space.scripted);
  EXPECT_EQ(space.poses_by_type.at("tripod"), 12);
  EXPECT_EQ(space.poses_by_type.count("lateral"), 0u);
  EXPECT_FALSE(space.skeleton_hash.empty());
  std::map<std::string, int> models;
  for (const artefact::TypeModel& m : space.type_models)
    models[m.taxonomy + " " + m.type] = m.poses;
  EXPECT_EQ(models.at("feix tripod"), 12);
  EXPECT_EQ(models.at("schlesinger palmar"), 12);
  EXPECT_GT(models.at("schlesinger cylindrical"), 12);
  EXPECT_TRUE(RunStep(Context(), step)->reused);

  const synthesis::SynthGraspStep grasp{.prop = "mug", .types = {"tripod"}, .candidates = 3};
  const auto found = RunStep(Context(), grasp);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->chosen, Contains(HasSubstr("newest")));
  ASSERT_FALSE(found->outputs.empty());
  EXPECT_LE(found->outputs.size(), 3u);
  const auto first = *store::Load<artefact::Grasp>(library_->ArtefactPath(found->outputs[0].hash));
  EXPECT_EQ(first.types.at("feix"), "tripod");
  EXPECT_EQ(first.prop, "mug");
  EXPECT_EQ(first.scores.at("rank"), 1.0);
  EXPECT_TRUE(first.scripted);
  const auto again = RunStep(Context(), grasp);
  EXPECT_TRUE(again->reused);
  EXPECT_EQ(again->outputs[0].hash, found->outputs[0].hash);
  // One that is gone is computed again: the same bits.
  ASSERT_TRUE(std::filesystem::remove(library_->ArtefactPath(found->outputs[0].hash)));
  EXPECT_FALSE(RunStep(Context(), grasp)->reused);
  const auto anew = *store::Load<artefact::Grasp>(library_->ArtefactPath(found->outputs[0].hash));
  EXPECT_EQ(anew.q, first.q);

  EXPECT_EQ(RunStep(Context(), synthesis::SynthGraspStep{.prop = "mug", .types = {"lateral"}})
                .error()
                .code,
            ErrorCode::kNotFound);
  const auto nowhere =
      RunStep(Context(), synthesis::SynthGraspStep{.prop = "mug", .region = "5,5,5,0.01"});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("no surface"));
}

TEST_F(GraspSteps, ACapturedSpaceTakesLabelledSpansOfStoredPoses) {
  const std::string tripods = Take("tripods", Grasps("tripod", 8));
  Take("wraps", Grasps("medium-wrap", 8));
  Label(tripods, "tripod", 0, 8);
  const auto all = RunStep(
      Context(), FitGraspSpaceStep{.clip = {.query = "task = grasp"}, .options = {.dims = 2}});
  ASSERT_TRUE(all) << all.error().message;
  const auto space = *store::Load<artefact::GraspSpace>(library_->ArtefactPath(all->hash));
  EXPECT_FALSE(space.scripted);
  EXPECT_GT(space.poses_by_type.at("tripod"), 20);
  EXPECT_GT(space.poses_by_type.at(""), 20);      // the other take, not labelled
  EXPECT_EQ(space.provenance.inputs.size(), 5u);  // two clips, two tracks, the hand

  const auto one = RunStep(Context(), FitGraspSpaceStep{.clip = {.query = "task = grasp"},
                                                        .types = {"tripod"},
                                                        .options = {.dims = 2}});
  ASSERT_TRUE(one) << one.error().message;
  const auto only = *store::Load<artefact::GraspSpace>(library_->ArtefactPath(one->hash));
  EXPECT_EQ(only.poses_by_type.size(), 1u);
  EXPECT_EQ(only.provenance.inputs.size(), 3u);

  // Dry runs refuse what runs refuse.
  StepContext dry = Context();
  dry.dry_run = true;
  for (const FitGraspSpaceStep& step :
       {FitGraspSpaceStep{.clip = {.query = "task = grasp"}, .options = {.dims = 21}},
        FitGraspSpaceStep{.clip = {.query = "task = grasp"}, .options = {.dims = 50}},
        FitGraspSpaceStep{.scripted = true, .types = {"tripod"}, .preshape = {.per_type = 4}},
        FitGraspSpaceStep{.scripted = true, .types = {"tripod"}, .options = {.dims = 50}},
        FitGraspSpaceStep{.scripted = true, .types = {"palmar"}}}) {
    const auto said = RunStep(dry, step), run = RunStep(Context(), step);
    ASSERT_FALSE(run);
    ASSERT_FALSE(said) << run.error().message;
    EXPECT_EQ(said.error().code, run.error().code) << said.error().message;
  }
  EXPECT_TRUE(
      RunStep(dry, FitGraspSpaceStep{.clip = {.query = "task = grasp"}, .options = {.dims = 3}}));
  // Too few, none of the type, both origins at once, no query.
  EXPECT_EQ((RunStep(Context(),
                     FitGraspSpaceStep{.clip = {.query = "task = grasp"}, .options = {.dims = 21}}))
                .error()
                .code,
            ErrorCode::kUnidentifiable);
  EXPECT_EQ((RunStep(Context(),
                     FitGraspSpaceStep{.clip = {.query = "task = grasp"}, .types = {"lateral"}}))
                .error()
                .code,
            ErrorCode::kUnidentifiable);
  EXPECT_EQ(
      (RunStep(Context(), FitGraspSpaceStep{.clip = {.query = "task = grasp"}, .scripted = true}))
          .error()
          .code,
      ErrorCode::kInvalid);
  EXPECT_EQ(RunStep(Context(), FitGraspSpaceStep{}).error().code, ErrorCode::kInvalid);
}

// A rod stood where the script's cylinder lies in the closed hand, and was touched then: the
// templates of those moments bring it, as a scripted template would.
TEST_F(GraspSteps, CapturedTemplatesBringTheTouchedPropsPrimitive) {
  const auto surface = *synthesis::HandSurface::Build(*model::LoadHand("hand27"));
  const artefact::GraspTemplate script =
      synthesis::ScriptPreshapes(surface, {"medium-wrap"}, {.per_type = 1})->grasps.at(0);
  ASSERT_EQ(script.primitive, "cylinder");
  const std::string id = Take("wraps", std::vector<Eigen::VectorXd>(4, script.pose_v));
  const FitGraspSpaceStep step{.clip = {.query = "task = grasp"}, .options = {.dims = 1}};
  const auto before = RunStep(Context(), step);
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_THAT(before->chosen, Contains(HasSubstr("no pose touches a prop")));

  model::Prop rod;
  rod.name = "rod";
  rod.shapes.push_back(
      {"rod", {}, geometry::Cylinder{script.half_size_m.x(), 2 * script.half_size_m.z()}, ""});
  const FoundProp kept = *KeepProp(Context(), rod);
  const store::ArtefactInfo poses = NewestPoseTracks(*library_)->at(library_->FindClip(id)->sha256);
  artefact::ContactTrack track;
  for (int k = 0; k < 80; ++k) track.times.push_back(At(k / 20.0));
  track.things.push_back({"post", "rod", kept.hash, script.X_HO});
  for (int second = 0; second < 4; ++second) {
    artefact::Touch touch;
    touch.a = {artefact::Side::Kind::kHand, "R", "R.palm", 1};
    touch.b = {artefact::Side::Kind::kThing, "post", "", 0};
    touch.onset = At(second + 0.45);
    touch.release = At(second + 0.55);
    track.touches.push_back(touch);
    artefact::ContactRow row;
    row.touch = second;
    row.normal_W = -script.opposition_H;
    row.p_W = script.X_HO.p;
    row.f_onA_W = row.normal_W;
    for (row.frame = 20 * second + 9; row.frame <= 20 * second + 11; ++row.frame)
      track.rows.push_back(row);
  }
  track.provenance = poses.provenance;
  track.provenance.step = "fit.contact";
  track.provenance.inputs.push_back({"pose", poses.hash, ""});
  const std::string contacts = *library_->Save(track);
  const auto made = RunStep(Context(), step);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_NE(made->hash, before->hash);
  const auto space = *store::Load<artefact::GraspSpace>(library_->ArtefactPath(made->hash));
  EXPECT_THAT(space.provenance.inputs,
              Contains(artefact::ProvenanceInput{"contact", contacts, "wraps"}));
  int with = 0;
  for (const artefact::GraspTemplate& t : space.templates) {
    if (t.primitive.empty()) continue;
    ++with;
    EXPECT_EQ(t.primitive, "cylinder");
    EXPECT_LT((t.half_size_m - script.half_size_m).norm(), 1e-12);
    EXPECT_LT((t.X_HO.p - script.X_HO.p).norm(), 1e-9);
    EXPECT_LT((t.opposition_H - script.opposition_H).norm(), 1e-9);
    EXPECT_LT((t.pose_v - script.pose_v).cwiseAbs().maxCoeff(), 0.1);
  }
  EXPECT_GE(with, 4);
  EXPECT_LT(with, static_cast<int>(space.templates.size()) / 2);
  EXPECT_THAT(made->chosen, Contains(HasSubstr("the thing in " + std::to_string(with) + " of " +
                                               std::to_string(space.templates.size()) + " poses")));
  // A search begins from them.
  const auto found = RunStep(
      Context(),
      synthesis::SynthGraspStep{.space = made->hash, .prop = "cylinder_50", .candidates = 2});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_GT(First(*found).contacts.size(), 4u);
}

// Artefacts are listed oldest first: what nobody names is the last.
TEST_F(GraspSteps, TheNewestSpaceAndTheNewestPosesAreTaken) {
  const auto tripod = Grasps("tripod", 2), wrap = Grasps("large-diameter", 2);
  Take("a", {tripod[0], tripod[1]});
  Take("b", {wrap[0], wrap[1]});
  // Fitted again: the newest track of clip a shows the wrap.
  auto tracks = *NewestPoseTracks(*library_);
  const store::ArtefactInfo first = tracks.at(library_->FindClip("a")->sha256);
  auto track = *store::Load<artefact::PoseTrack>(library_->ArtefactPath(first.hash));
  track.q.bottomRows(21).col(10) = wrap[0];
  track.information_diagonal(10, 11) = 0;
  track.provenance.parameters_json = "{\"again\":1}";
  track.provenance.made_utc = UtcNow() + Duration::Seconds(1);
  const std::string again = *library_->Save(track);
  EXPECT_EQ(NewestPoseTracks(*library_)->at(library_->FindClip("a")->sha256).hash, again);
  const auto like = FindLikePoses(Context(), "b", Duration::FromSeconds(0.5), 1);
  ASSERT_TRUE(like) << like.error().message;
  EXPECT_EQ(like->rows[0].pose, again);
  EXPECT_EQ(like->rows[0].time, At(0.5));
  EXPECT_EQ(like->shapes, 79u);  // one frame left a joint open: no shape

  const auto space = [&](const std::string& type) {
    return RunStep(Context(),
                   FitGraspSpaceStep{.scripted = true,
                                     .types = {type},
                                     .preshape = {.per_type = 10},
                                     .options = {.dims = 2, .mixture = {.max_components = 1}}})
        ->hash;
  };
  space("lateral");
  const std::string second = space("tripod");
  EXPECT_EQ(NewestOf(*library_, "grasp_space", "")->hash, second);
  const auto suggested = SuggestLabel(Context(), "a", {At(0), At(1)}, "feix");
  ASSERT_TRUE(suggested) << suggested.error().message;
  EXPECT_EQ(suggested->space, second);
  const auto found = RunStep(Context(), synthesis::SynthGraspStep{.prop = "mug", .candidates = 1});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(First(*found).types.at("feix"), "tripod");
  EXPECT_EQ(NewestOf(*library_, "grasp_set", "x").error().code, ErrorCode::kNotFound);
}

TEST_F(GraspSteps, LabelsOfSeveralPeopleAndSpansStandSideBySide) {
  const std::string clip = Take("a", Grasps("tripod", 4));
  Label(clip, "tripod", 0, 1);
  Label(clip, "0.4", 0, 1, "ana", "feix.confidence");
  Label(clip, "lateral", 2, 3);
  Label(clip, "ring", 0, 1, "bob");
  Label(clip, "cylindrical", 3, 4, "bob", "schlesinger");
  const auto labels = *GraspLabels(*library_, clip);
  ASSERT_EQ(labels.size(), 4u);
  std::map<std::string, std::optional<double>> confidence;
  for (const LabelledSpan& label : labels) confidence[label.type] = label.confidence;
  EXPECT_EQ(confidence.at("tripod"), 0.4);
  EXPECT_EQ(confidence.at("ring"), std::nullopt);  // bob said none: ana's is hers
  const auto found = [&](const std::string& expr) {
    return store::Query::Parse(expr, *library_)->Run()->rows.size();
  };
  for (const char* type : {"tripod", "lateral", "ring", "cylindrical"})
    EXPECT_EQ(found("label = " + std::string(type)), 1u) << type;
  EXPECT_EQ(found("label = \"0.4\""), 0u);
  // A label of a coarse taxonomy is asked for by its name, and its poses have no Feix type; spans
  // of one type that overlap count once.
  const auto poses_of = [&](const std::string& type) {
    const auto made = RunStep(
        Context(), FitGraspSpaceStep{
                       .clip = {.query = "task = grasp"}, .types = {type}, .options = {.dims = 1}});
    EXPECT_TRUE(made) << type << ": " << made.error().message;
    return store::Load<artefact::GraspSpace>(library_->ArtefactPath(made->hash))->poses_by_type;
  };
  EXPECT_GT(poses_of("cylindrical").at(""), 5);
  const int once = poses_of("tripod").at("tripod");
  Label(clip, "tripod", 0, 1, "eve");
  Label(clip, "tripod", 0.0001, 0.99, "ana");
  EXPECT_EQ(poses_of("tripod").at("tripod"), once);
  EXPECT_EQ(model::FeixTypes({"palmar"})->size(), 1u);  // Feix's own
  EXPECT_GT(model::FeixTypes({"schlesinger:palmar"})->size(), 1u);
  EXPECT_EQ(model::FeixTypes({"linnaeus:palmar"}).error().code, ErrorCode::kInvalid);
}

TEST_F(GraspSteps, AGraspOfOursIsKeptOnceWhoeverAsksForIt) {
  std::vector<std::string> chosen;
  const auto plain = FindGrasp(Context(), "hand27_cylinder");
  const auto example = FindExample(Context(), "hand27_cylinder", &chosen);
  ASSERT_TRUE(plain && example);
  EXPECT_EQ(plain->hash, example->hash);
  EXPECT_EQ(library_->Artefacts("grasp")->size(), 1u);
  EXPECT_EQ(plain->grasp.prop_hash, "");  // as it is written
  EXPECT_EQ(example->grasp.prop_hash, example->prop.hash);
  const auto info = FindArtefact(*library_, plain->hash, "grasp");
  EXPECT_EQ(RequireInput(*info, "skeleton")->hash, example->skeleton.hash);
  EXPECT_EQ(RequireInput(*info, "prop")->hash, example->prop.hash);
  EXPECT_EQ(FindGrasp(Context(), plain->hash.substr(0, 12))->hash, plain->hash);
  EXPECT_EQ(FindExample(Context(), plain->hash.substr(0, 12), &chosen)->hash, plain->hash);
  EXPECT_THAT(FindGrasp(Context(), "hand27_cylindr").error().message, HasSubstr("hand27_cylinder"));
  // Of a prop that nobody knows: a grasp, but no example.
  artefact::Grasp other = plain->grasp;
  other.prop = "nosuchprop";
  const std::string file = folder_.path() + "/other.json";
  ASSERT_TRUE(artefact::SaveGraspFile(other, "a test", file).has_value());
  EXPECT_TRUE(FindGrasp(Context(), file).has_value());
  EXPECT_EQ(FindExample(Context(), file, &chosen).error().code, ErrorCode::kNotFound);
}

TEST_F(GraspSteps, LikeShapesAreFoundAndLabelsSuggested) {
  const auto tripod = Grasps("tripod", 6), wrap = Grasps("large-diameter", 6);
  const std::string a = Take("a", {tripod[0], wrap[0]});
  Take("b", {wrap[1], tripod[0], wrap[2]});  // the same tripod, a second later
  Take("c", {wrap[3], wrap[4]});
  Label(a, "tripod", 0, 1);
  const auto like = FindLikePoses(Context(), "a", Duration::FromSeconds(0.5), 3);
  ASSERT_TRUE(like) << like.error().message;
  EXPECT_EQ(like->shapes, 7u * 20);
  ASSERT_EQ(like->rows.size(), 3u);
  EXPECT_EQ(like->rows[0].clip, "b");
  EXPECT_EQ(like->rows[0].time, At(1.5));
  EXPECT_LT(like->rows[0].rms_rad, 1e-9);
  const auto back = FindLikePoses(Context(), "b", Duration::FromSeconds(1.5), 1);
  EXPECT_EQ(back->rows[0].clip, "a");
  EXPECT_EQ(back->rows[0].label, "tripod");
  EXPECT_EQ(FindLikePoses(Context(), "a", Duration::FromSeconds(60), 1).error().code,
            ErrorCode::kNotFound);

  EXPECT_EQ(SuggestLabel(Context(), "a", {At(0.4), At(0.6)}, "feix").error().code,
            ErrorCode::kNotFound);  // no space yet
  ASSERT_TRUE(RunStep(Context(),
                      FitGraspSpaceStep{.scripted = true,
                                        .types = {"tripod", "large-diameter", "lateral"},
                                        .preshape = {.per_type = 20},
                                        .options = {.dims = 4, .mixture = {.max_components = 1}}})
                  .has_value());
  const auto suggested = SuggestLabel(Context(), "a", {At(0.45), At(0.55)}, "feix");
  ASSERT_TRUE(suggested) << suggested.error().message;
  EXPECT_EQ(suggested->guesses[0].type, "tripod");
  EXPECT_GT(suggested->guesses[0].probability, 0.8);
  EXPECT_EQ(SuggestLabel(Context(), "a", {At(1.45), At(1.55)}, "schlesinger")->guesses[0].type,
            "cylindrical");
}

}  // namespace
}  // namespace handhold::pipeline::grasp_steps_test
