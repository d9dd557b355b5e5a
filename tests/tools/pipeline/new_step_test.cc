// A new step is one struct, one Visit, one function and one line of registry: from that alone come
// its verb, its help, a dry run, a recipe that is recognised, provenance, and results that say when
// they were cut short.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "database/artefact/pose_track.h"
#include "database/step/about.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "database/store/library.h"
#include "tests/database/store/clip_fixture.h"
#include "tests/tools/handhold/frame/sample_verbs.h"
#include "tools/handhold/frame/help.h"
#include "tools/handhold/frame/run.h"
#include "tools/handhold/step_verb.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/registry.h"
#include "tools/pipeline/step_adapter.h"

namespace handhold::pipeline::new_step_test {

// ---- the whole of a new step: a struct, its Visit, its function

struct SmoothStep {
  static constexpr step::Title kStep{"fit.smooth", 3, "smooth the joint angles of a hand"};
  step::Given<artefact::PoseTrack> pose = {};
  double span_s = 0.1;
  enum class Window { kFlat, kTent } window = Window::kFlat;
  int most_frames = 0;
};
template <typename A>
void Visit(A& a, SmoothStep& s) {
  a.Input("pose", s.pose,
          step::Role{.help = "pose track; default: the newest", .unsaid = step::Unsaid::kNewest});
  a.Field("span_s", s.span_s,
          artefact::About{.help = "of the window", .least = 0.0, .most = 1.0, .above = true});
  a.Choice("window", s.window, {"flat", "tent"}, artefact::About{.help = "its form"});
  a.Running("most_frames", s.most_frames,
            artefact::About{.help = "stop after so many; 0: never", .least = 0});
}

int computed = 0;

Result<artefact::PoseTrack> Compute(const SmoothStep& s, step::Work& work) {
  ++computed;
  artefact::PoseTrack smooth = *s.pose;
  const Eigen::Index frames = smooth.q.cols();
  for (Eigen::Index k = 0; k < frames; ++k) {
    if (s.most_frames > 0 && k == s.most_frames) {
      work.CutShort("stopped after " + std::to_string(k) + " frames");
      break;
    }
    HANDHOLD_TRY(work.Report(static_cast<double>(k) / static_cast<double>(frames), "smoothing"));
    double weights = 0.0;
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(smooth.q.rows());
    for (Eigen::Index j = 0; j < frames; ++j) {
      const double away_s =
          std::abs((s.pose->times[static_cast<size_t>(j)] - s.pose->times[static_cast<size_t>(k)])
                       .seconds());
      if (away_s > 0.5 * s.span_s) continue;
      const double weight =
          s.window == SmoothStep::Window::kFlat ? 1.0 : 1.0 - away_s / (0.5 * s.span_s + 1e-9);
      sum += weight * s.pose->q.col(j);
      weights += weight;
    }
    smooth.q.col(k) = sum / weights;
  }
  return smooth;
}

// ---- and one that makes several things

struct Halves {
  std::vector<artefact::PoseTrack> halves;
  int frames = 0;
};
template <typename A>
void Visit(A& a, Halves& h) {
  a.Output("half", h.halves);
  a.Field("frames", h.frames);
}
struct HalveStep {
  static constexpr step::Title kStep{"fit.halve", 1, "part a pose track in its middle"};
  step::Given<artefact::PoseTrack> pose = {};
  bool only_first = false;
};
template <typename A>
void Visit(A& a, HalveStep& s) {
  a.Input("pose", s.pose, step::Role{.help = "pose track"});
  a.Field("only_first", s.only_first);
}
Result<Halves> Compute(const HalveStep& s, step::Work& work) {
  ++computed;
  Halves made;
  const auto frames = static_cast<Eigen::Index>(s.pose->times.size());
  for (const Eigen::Index from : {Eigen::Index{0}, frames / 2}) {
    if (from > 0 && s.only_first) break;
    artefact::PoseTrack half = *s.pose;
    half.q = s.pose->q.middleCols(from, frames / 2);
    half.times.assign(s.pose->times.begin() + from, s.pose->times.begin() + from + frames / 2);
    half.information_diagonal.resize(0, 0);
    made.halves.push_back(std::move(half));
  }
  made.frames = static_cast<int>(frames);
  work.Note("the middle by frames");
  return made;
}

// The canary: its Visit passes over a member.
struct Forgetful {
  step::Given<artefact::PoseTrack> pose;
  double span_s = 0.1, forgotten_s = 0.1;
};
template <typename A>
void Visit(A& a, Forgetful& s) {
  a.Input("pose", s.pose, step::Role{});
  a.Field("span_s", s.span_s);
}

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using text::Json;

artefact::PoseTrack Wave(int frames, const std::string& name) {
  artefact::PoseTrack track;
  track.provenance.step = "import.wave";
  track.provenance.version = 1;
  track.provenance.parameters_json = "{}";
  track.provenance.inputs = {{"file", name, name}};
  track.provenance.made_utc = UtcNow();
  track.dof_names = {"R.a"};
  track.q.resize(1, frames);
  for (int k = 0; k < frames; ++k) {
    track.times.push_back(Timestamp::FromNanoseconds(int64_t{10'000'000} * k));
    track.q(0, k) = std::sin(0.9 * k);
  }
  return track;
}

class NewStep : public ::testing::Test {
 protected:
  void SetUp() override {
    auto library = store::Library::Create(folder_.path() + "/lab");
    ASSERT_TRUE(library) << library.error().message;
    library_ = *std::move(library);
    const auto wave = library_->Save(Wave(40, "wave"));
    ASSERT_TRUE(wave) << wave.error().message;
    wave_ = *wave;
    steps_.Add(EntryOf<SmoothStep>());  // the line of registry
    steps_.Add(EntryOf<HalveStep>());
    computed = 0;
  }
  StepContext Context() { return {.library = *library_, .tool = "test 1"}; }
  size_t Count() {
    const auto all = library_->Artefacts();
    EXPECT_TRUE(all);
    return all->size();
  }
  struct Ran {
    int code;
    std::string out, err;
  };
  Ran Type(std::vector<std::string> words) {
    const cli::Program program{
        .verbs = {cli::StepVerb(steps_.all()[0]), cli::StepVerb(steps_.all()[1])},
        .version = "1.2.3",
        .start_checks = {}};
    cli::MemoryFile out, err;
    words.insert(words.end(), {"--library", library_->path(), "--format", "json"});
    const int code = cli::Run(program, words, {.out = out.get(), .err = err.get()});
    return {code, out.Text(), err.Text()};
  }
  Result<StepResult> RunText(const std::string& recipe) {
    HANDHOLD_ASSIGN(const Json json, text::ParseJson(recipe));
    HANDHOLD_ASSIGN(const std::vector<StepResult> results, RunRecipes(Context(), steps_, json));
    return results.back();
  }
  void Remove(const std::string& hash) {
    ASSERT_TRUE(std::filesystem::remove(library_->ArtefactPath(hash)));
  }

  store::TempDir folder_;
  std::unique_ptr<store::Library> library_;
  std::string wave_;
  Registry steps_;
};

TEST_F(NewStep, SaysWhatItReadsWhatMayBeSetAndWhatItMakes) {
  const StepDescription& d = steps_.all()[0].description;
  EXPECT_EQ(d.name, "fit.smooth");
  EXPECT_EQ(d.version, 3);
  EXPECT_THAT(d.makes, ElementsAre("pose_track"));
  ASSERT_EQ(d.roles.size(), 1u);
  EXPECT_EQ(d.roles[0].kind, "pose_track");
  ASSERT_EQ(d.options.size(), 3u);
  const OptionDescription& span = *d.FindOption("span_s");
  EXPECT_EQ(span.word(), "span");
  EXPECT_EQ(span.unit(), "s");
  EXPECT_EQ(*span.fallback.number(), 0.1);
  EXPECT_THAT(d.FindOption("window")->choices, ElementsAre("flat", "tent"));
  EXPECT_TRUE(d.FindOption("most_frames")->running);
  EXPECT_THAT(steps_.all()[1].description.makes, ElementsAre("pose_track"));
}

TEST_F(NewStep, GetsAVerbWithHelpAndChecks) {
  const cli::Verb verb = cli::StepVerb(steps_.all()[0]);
  EXPECT_EQ(verb.words(), "fit smooth");
  std::vector<std::string> names;
  for (const cli::Option& option : verb.options) names.push_back(option.name);
  EXPECT_THAT(names, ElementsAre("--library", "--pose", "--span", "--window", "--most-frames"));
  const std::string help = cli::VerbHelp(verb);
  for (const char* said : {"smooth the joint angles", "--span", "of the window", "tent", "0.1"})
    EXPECT_THAT(help, HasSubstr(said));
  EXPECT_EQ(Type({"fit", "smooth", "--span", "2"}).code, cli::kExitUsage) << "out of its range";
  EXPECT_EQ(Type({"fit", "smooth", "--window", "round"}).code, cli::kExitUsage);
  EXPECT_EQ(Type({"fit", "smooth", "--pose", "abcdef"}).code, cli::kExitFailed);
  EXPECT_EQ(computed, 0);
  const Ran ran = Type({"fit", "smooth", "--span", "0.05", "--window", "tent"});
  EXPECT_EQ(ran.code, cli::kExitDone) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(wave_.substr(0, 8))) << "which track was chosen is told";
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(Count(), 2u);
}

TEST_F(NewStep, ADryRunNamesTheResultAndMakesNothing) {
  const Ran dry = Type({"fit", "smooth", "--dry-run"});
  EXPECT_EQ(dry.code, cli::kExitDone) << dry.err;
  EXPECT_EQ(computed, 0);
  EXPECT_EQ(Count(), 1u);
  const auto made = RunStep(Context(), SmoothStep{});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(dry.out, HasSubstr(made->hash));
}

TEST_F(NewStep, TheResultCarriesItsProvenanceAndIsRecognisedUnread) {
  SmoothStep step{.pose = wave_.substr(0, 8), .span_s = 0.03};
  const auto made = RunStep(Context(), step);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->reused);
  const auto track = store::Load<artefact::PoseTrack>(library_->ArtefactPath(made->hash));
  ASSERT_TRUE(track) << track.error().message;
  EXPECT_NEAR(track->q(0, 7), (std::sin(5.4) + std::sin(6.3) + std::sin(7.2)) / 3, 1e-12);
  EXPECT_EQ(track->provenance, made->provenance);
  EXPECT_EQ(track->provenance.step, "fit.smooth");
  EXPECT_EQ(track->provenance.version, 3);
  EXPECT_EQ(track->provenance.tool, "test 1");
  ASSERT_EQ(track->provenance.inputs.size(), 1u);
  EXPECT_EQ(track->provenance.inputs[0].role, "pose");
  EXPECT_EQ(track->provenance.inputs[0].hash, wave_);
  EXPECT_EQ(track->provenance.parameters_json, R"({"span_s":0.03,"window":"flat"})");
  // Nothing is loaded for it: the input's file is gone.
  Remove(wave_);
  const auto again = RunStep(Context(), step);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->reused);
  EXPECT_EQ(again->hash, made->hash);
  EXPECT_EQ(computed, 1);
  step.span_s = 0.05;
  const auto other = RunStep(Context(), step);
  ASSERT_FALSE(other) << "the canary: another result needs the input";
  EXPECT_EQ(other.error().code, ErrorCode::kNotFound);
}

TEST_F(NewStep, ARecipeMakesItAgain) {
  const auto made = RunText(R"({"step": "fit.smooth", "inputs": {"pose": ")" + wave_.substr(0, 6) +
                            R"("}, "options": {"window": "tent"}})");
  ASSERT_TRUE(made) << made.error().message;
  const auto recipe = RecipeOf(steps_, made->provenance);
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(*recipe->Find("inputs")->Find("pose")->string(), wave_);
  EXPECT_EQ(*recipe->Find("options")->Find("span_s")->number(), 0.1) << "defaults are written";
  const auto written = text::WriteJson(*recipe);
  ASSERT_TRUE(written);
  Remove(wave_);
  const auto again = RunText(*written);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->reused);
  EXPECT_EQ(again->hash, made->hash);
  EXPECT_EQ(computed, 1);
}

TEST_F(NewStep, AListOfRecipesHandsResultsOn) {
  const auto json = text::ParseJson(R"([{"step": "fit.smooth", "inputs": {"pose": ")" + wave_ +
                                    R"("}}, {"step": "fit.halve", "inputs": {"pose": "#1"}}])");
  ASSERT_TRUE(json);
  const auto results = RunRecipes(Context(), steps_, *json);
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ(results->back().provenance.inputs[0].hash, results->front().hash);
}

TEST_F(NewStep, WhatARecipeCannotMeanIsNamed) {
  const auto code = [&](const std::string& recipe) {
    const auto ran = RunText(recipe);
    EXPECT_FALSE(ran) << recipe;
    return ran ? std::pair{ErrorCode::kIo, std::string()}
               : std::pair{ran.error().code, ran.error().message};
  };
  EXPECT_EQ(code(R"({"step": "fit.smoth"})").first, ErrorCode::kNotFound);
  EXPECT_THAT(code(R"({"step": "fit.smoth"})").second, HasSubstr("fit.smooth"));
  const auto unknown = code(R"({"step": "fit.smooth", "options": {"spam_s": 0.1}})");
  EXPECT_EQ(unknown.first, ErrorCode::kInvalid);
  EXPECT_THAT(unknown.second, HasSubstr("span_s"));
  EXPECT_EQ(code(R"({"step": "fit.smooth", "options": {"span_s": 0}})").first, ErrorCode::kInvalid);
  EXPECT_EQ(code(R"({"step": "fit.smooth", "options": {"span_s": "wide"}})").first,
            ErrorCode::kInvalid);
  EXPECT_EQ(code(R"({"step": "fit.smooth", "inputs": {"poses": "a"}})").first, ErrorCode::kInvalid);
  EXPECT_EQ(code(R"({"step": "fit.halve"})").first, ErrorCode::kInvalid) << "it has to be said";
  EXPECT_EQ(computed, 0);
}

TEST_F(NewStep, WhatWasCutShortSaysSoAndIsNotTakenForTheWhole) {
  const auto cut = RunStep(Context(), SmoothStep{.most_frames = 5});
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_THAT(cut->cut_short, HasSubstr("5 frames"));
  EXPECT_THAT(cut->provenance.parameters_json, HasSubstr("cut_short"));
  const auto further = RunStep(Context(), SmoothStep{.pose = wave_, .most_frames = 9});
  ASSERT_TRUE(further) << further.error().message;
  EXPECT_FALSE(further->reused);
  EXPECT_NE(further->hash, cut->hash);
  const auto whole = RunStep(Context(), SmoothStep{.pose = wave_});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_FALSE(whole->reused);
  EXPECT_NE(whole->hash, cut->hash);
  EXPECT_EQ(whole->cut_short, "");
  // A limit that does not bite changes nothing: the whole result is there.
  const auto limited = RunStep(Context(), SmoothStep{.pose = wave_, .most_frames = 1000});
  ASSERT_TRUE(limited) << limited.error().message;
  EXPECT_TRUE(limited->reused);
  EXPECT_EQ(limited->hash, whole->hash);
}

TEST_F(NewStep, ACancelledOneKeepsNothing) {
  StepContext context = Context();
  context.progress = [](double fraction, std::string_view) { return fraction < 0.5; };
  const auto cancelled = RunStep(context, SmoothStep{});
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(Count(), 1u);
}

TEST_F(NewStep, SeveralOutputsAreKeptEachAndRecognisedTogether) {
  const auto made = RunStep(Context(), HalveStep{.pose = wave_});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->outputs.size(), 2u);
  EXPECT_THAT(made->chosen, ElementsAre("the middle by frames"));
  EXPECT_EQ(*made->report.Find("frames")->integer(), 40);
  for (const StepOutput& output : made->outputs) {
    const auto half = store::Load<artefact::PoseTrack>(library_->ArtefactPath(output.hash));
    ASSERT_TRUE(half) << half.error().message;
    EXPECT_EQ(half->frame_count(), 20);
    EXPECT_EQ(half->provenance.step, "fit.halve");
    const auto recipe = RecipeOf(steps_, half->provenance);
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_EQ(recipe->Find("options")->Find("made"), nullptr);
  }
  const auto again = RunStep(Context(), HalveStep{.pose = wave_});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->reused);
  ASSERT_EQ(again->outputs.size(), 2u);
  EXPECT_EQ(again->outputs[1].hash, made->outputs[1].hash);
  EXPECT_EQ(*again->report.Find("frames")->integer(), 40);
  EXPECT_EQ(computed, 1);
  // Where one is gone, they are made again.
  Remove(made->outputs[1].hash);
  const auto mended = RunStep(Context(), HalveStep{.pose = wave_});
  ASSERT_TRUE(mended) << mended.error().message;
  EXPECT_FALSE(mended->reused);
  EXPECT_EQ(computed, 2);
  EXPECT_TRUE(std::filesystem::exists(library_->ArtefactPath(made->outputs[1].hash)));
}

TEST(NewStepVisit, EveryMemberIsCountedSoThatNoneIsForgotten) {
  EXPECT_EQ(artefact::describe::MemberCount<SmoothStep>(), 4);
  EXPECT_DEATH(artefact::CheckDescribed<Forgetful>(), "");
}

}  // namespace
}  // namespace handhold::pipeline::new_step_test
