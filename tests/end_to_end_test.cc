// The story of the house in one test: a known hand is recorded, kept in a library, fitted from what
// the sensors saw, and meets surfaces it never touched. Every step is a call of tools/pipeline,
// every result is judged against the truth behind the subject; the criteria are in
// tests/support/chain_judge.cc, their bounds in tools/report/criteria.h (issue "One finger, the
// whole chain", section 4). Each canary breaks one thing and must fail the criterion that watches
// it.
//
// One subject, 24 + 24 strokes, a short range of motion. Shares over many subjects are
// tests/chain's.

#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "database/store/clip_writer.h"
#include "database/store/library.h"
#include "tests/database/store/clip_fixture.h"
#include "tests/support/chain_criteria.h"
#include "tests/support/roof_mesh.h"
#include "tools/lab/subject.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/synth_interaction.h"

namespace handhold::end_to_end_test {
namespace {

using Until = chain::ChainOptions::Until;

// Writes a clip into the library as a recorder would, and catalogues it.
std::string Keep(store::Library& library, recording::Clip clip, const std::string& name) {
  clip.mutable_info().name = name;
  auto info = library.NewTake(clip.info());
  EXPECT_TRUE(info) << info.error().message;
  clip.mutable_info() = *info;
  const Status written = store::WriteClip(clip, library.ClipPath(info->id), {});
  EXPECT_TRUE(written) << written.error().message;
  const Status indexed = library.Index(info->id);
  EXPECT_TRUE(indexed) << indexed.error().message;
  return info->id.ToString();
}

class EndToEnd : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    lab::SubjectOptions options;
    options.seed = 7;
    options.plan = lab::Plan::Full();
    options.plan.range_of_motion_s = 10;
    options.processes = 2;
    auto made = lab::MakeSubject(options);
    ASSERT_TRUE(made) << made.error().message;
    subject_ = new lab::Subject(*std::move(made));
    folder_ = new store::TempDir();
    auto library = store::Library::Create(folder_->path() + "/lab");
    ASSERT_TRUE(library) << library.error().message;
    library_ = library->release();
    clip_id_ = new std::string(Keep(*library_, lab::MakeClip(subject_->feed), "session"));
    run_ = new chain::ChainRun(Run({.clip = "session"}));
    ASSERT_FALSE(run_->error) << run_->error->message;
    auto results = chain::LoadChain(*library_, run_->made);
    ASSERT_TRUE(results) << results.error().message;
    results_ = new chain::ChainResults(*std::move(results));
    judged_ = new std::vector<chain::Criterion>(
        chain::Judge(chain::GatherFits(subject_->truth, *results_)));
    chain::Print(*judged_);
    chain::PrintFits(subject_->truth, results_->trajectory);
  }
  static void TearDownTestSuite() {
    delete judged_;
    delete results_;
    delete run_;
    delete clip_id_;
    delete library_;
    delete folder_;
    delete subject_;
  }

  static chain::ChainRun Run(const chain::ChainOptions& options) {
    return chain::RunChain({.library = *library_}, options);
  }
  // What the chain makes of the same subject when its clip is changed by `change`.
  struct Altered {
    std::optional<Error> error;
    chain::Evidence evidence;
    std::vector<chain::Criterion> judged;
  };
  template <typename Change>
  static Altered Changed(const std::string& name, const Change& change,
                         chain::ChainOptions options) {
    lab::SensorFeed::Data data = subject_->feed.data();
    change(&data);
    options.clip = Keep(*library_, lab::MakeClip(lab::SensorFeed(std::move(data))), name);
    const chain::ChainRun run = Run(options);
    if (run.error) std::printf("%s: %s\n", name.c_str(), run.error->message.c_str());
    const auto results = chain::LoadChain(*library_, run.made);
    EXPECT_TRUE(results) << results.error().message;
    chain::Evidence gathered = chain::GatherFits(subject_->truth, *results);
    std::vector<chain::Criterion> judged = chain::Judge(gathered);
    return {run.error, std::move(gathered), std::move(judged)};
  }
  static void ExpectMet(const std::vector<chain::Criterion>& list, int number) {
    int judged = 0;
    for (const chain::Criterion& c : list) {
      if (c.number != number) continue;
      judged += !std::isnan(c.bound);
      EXPECT_TRUE(c.met) << c.number << ", " << c.name << ": " << c.value << " " << c.unit
                         << ", bound " << c.bound;
    }
    EXPECT_GT(judged, 0) << "nothing was judged for criterion " << number;
  }

  // Not for want of something to judge.
  static bool FailsByAFigure(const std::vector<chain::Criterion>& list, int number,
                             const std::string& prefix) {
    return std::any_of(list.begin(), list.end(), [&](const chain::Criterion& c) {
      return c.number == number && c.name.starts_with(prefix) && !c.met && !std::isnan(c.value);
    });
  }

  using Until = chain::ChainOptions::Until;
  static lab::Subject* subject_;
  static store::TempDir* folder_;
  static store::Library* library_;
  static std::string* clip_id_;
  static chain::ChainRun* run_;
  static chain::ChainResults* results_;
  static std::vector<chain::Criterion>* judged_;
};
lab::Subject* EndToEnd::subject_ = nullptr;
store::TempDir* EndToEnd::folder_ = nullptr;
store::Library* EndToEnd::library_ = nullptr;
std::string* EndToEnd::clip_id_ = nullptr;
chain::ChainRun* EndToEnd::run_ = nullptr;
chain::ChainResults* EndToEnd::results_ = nullptr;
std::vector<chain::Criterion>* EndToEnd::judged_ = nullptr;

// Criterion 3, reading: what is kept is what was measured, within half a quantum.
TEST_F(EndToEnd, TheTakeIsKeptAndFoundAgain) {
  const auto rows = library_->Clips({.subject = "finger4"});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_FALSE(rows->empty());
  const auto kept = library_->OpenClip("session");
  ASSERT_TRUE(kept) << kept.error().message;
  const recording::Clip given = lab::MakeClip(subject_->feed);
  ASSERT_EQ((*kept)->streams().size(), given.streams().size());
  for (const recording::StreamInfo& stream : given.streams()) {
    const auto there = (*kept)->FindStreams(stream.name);
    ASSERT_EQ(there.size(), 1u) << stream.name;
    const auto a = given.ReadAll(stream.id), b = (*kept)->ReadAll(there.front()->id);
    ASSERT_TRUE(a && b);
    ASSERT_EQ(a->count(), b->count());
    double worst = 0;  // in quanta
    for (int c = 0; c < stream.channel_count(); ++c) {
      for (int i = 0; i < a->count(); ++i) {
        if (std::isnan(a->value(c, i))) {
          ASSERT_TRUE(std::isnan(b->value(c, i))) << stream.name << " " << c << " " << i;
          continue;
        }
        worst = std::max(worst, std::abs(a->value(c, i) - b->value(c, i)) /
                                    stream.channels[static_cast<size_t>(c)].quantum);
      }
    }
    EXPECT_LE(worst, 0.5 + 1e-6) << stream.name;
    EXPECT_EQ(a->times, b->times) << stream.name;
  }
}

TEST_F(EndToEnd, Criterion4TheHardStrokesAreFoundByQuery) {
  const auto evidence = chain::GatherQueries(subject_->truth, *library_, "session");
  ASSERT_TRUE(evidence) << evidence.error().message;
  auto judged = chain::Judge(*evidence);
  std::erase_if(judged, [](const chain::Criterion& c) { return c.number != 4; });
  chain::Print(judged);
  ExpectMet(judged, 4);
}

TEST_F(EndToEnd, Criterion5TheHandAndItsAnglesAreThePlantedOnes) {
  ExpectMet(*judged_, 5);
  // Canary: two markers of neighbouring segments change names.
  const Altered swapped =
      Changed("swapped",
              [](lab::SensorFeed::Data* data) {
                const size_t markers = data->marker_names.size(), a = 3, b = 6;
                for (size_t f = 0; f < data->markers_m.size() / (3 * markers); ++f) {
                  for (size_t k = 0; k < 3; ++k) {
                    std::swap(data->markers_m[3 * (f * markers + a) + k],
                              data->markers_m[3 * (f * markers + b) + k]);
                  }
                }
              },
              {.until = Until::kPose});
  ASSERT_TRUE(swapped.error) << "the exchanged labels are refused by name";
  EXPECT_EQ(swapped.error->code, ErrorCode::kInvalid);
  for (const size_t marker : {3u, 6u}) {
    EXPECT_NE(swapped.error->message.find(subject_->feed.data().marker_names[marker]),
              std::string::npos)
        << swapped.error->message;
  }
}

TEST_F(EndToEnd, Criterion6EveryContactIsFoundAndNoKnockIsOne) {
  ExpectMet(*judged_, 6);
  // Canary: the sensor's description has the wrong sign. The skeleton fit notices; with the right
  // skeleton the torques are wrong.
  const auto turn = [](lab::SensorFeed::Data* data) { data->sensor.sign = -data->sensor.sign; };
  const Altered refused = Changed("turned", turn, {.until = Until::kContact});
  ASSERT_TRUE(refused.error);
  EXPECT_NE(refused.error->message.find("sign"), std::string::npos) << refused.error->message;
  const Altered felt = Changed("turned with its skeleton", turn,
                               {.skeleton = run_->made.skeleton, .until = Until::kContact});
  ASSERT_FALSE(felt.error);
  EXPECT_TRUE(FailsByAFigure(felt.judged, 6, "torque"));
}

TEST_F(EndToEnd, Criterion7CompliancesAreThePlantedOnesOrRefused) {
  ExpectMet(*judged_, 7);
  for (const artefact::ComplianceFit& fit : results_->trajectory.fits) {
    for (const artefact::JointCompliance& joint : fit.joints) {
      EXPECT_NE(joint.compliance_rad_per_Nm.has_value(), !joint.refusal.empty())
          << fit.estimator << " " << fit.task << " " << joint.dof;
    }
  }
  // Canary: twice the compliance.
  chain::ChainResults twice = *results_;
  chain::DoubleCompliance(&twice.trajectory);
  EXPECT_TRUE(chain::Fails(chain::Judge(chain::GatherFits(subject_->truth, twice)), 7));
}

TEST_F(EndToEnd, Criterion7ThePapersEstimatorDiscardsStraightFingersWithReasons) {
  std::set<std::string> straight;  // reasons of discarded events in the straight posture
  int discarded = 0;
  for (const artefact::ComplianceFit& fit : results_->trajectory.fits) {
    if (fit.estimator != "paper") continue;
    for (const auto& d : fit.discarded) {
      EXPECT_FALSE(d.reason.empty());
      ++discarded;
      const double onset = results_->contact.touches[static_cast<size_t>(d.touch)].onset.seconds();
      for (const lab::TruthStroke& s : subject_->truth.strokes) {
        if (s.posture == "straight" && onset > s.begin_s && onset < s.end_s)
          straight.insert(d.reason);
      }
    }
  }
  std::printf("the paper's estimator discarded %d joint estimates\n", discarded);
  EXPECT_FALSE(straight.empty()) << "no event of a straight finger was discarded";
  for (const std::string& reason : straight) std::printf("  straight finger: %s\n", reason.c_str());
}

// Canary of 2 and 7: the force 10 ms late. E4's fitted shift must say so.
TEST_F(EndToEnd, AForceShiftedBy10MsIsSeenByTheDynamicEstimator) {
  const chain::Evidence straight = chain::GatherFits(subject_->truth, *results_);
  ASSERT_FALSE(straight.shifts.empty());
  for (const auto& shift : straight.shifts) {
    std::printf("shift %+.3f +- %.3f ms\n", 1e3 * shift.fitted_s, 1e3 * shift.sd_s);
    EXPECT_LE(std::abs(shift.fitted_s), 1.96 * shift.sd_s + 1e-4) << "the clocks agree";
  }
  const Altered late = Changed(
      "late",
      [](lab::SensorFeed::Data* data) {
        const size_t shift = static_cast<size_t>(std::lround(0.010 * data->force_rate_hz)) * 6;
        std::vector<float>& w = data->wrench_S;
        w.insert(w.begin(), w.begin(), w.begin() + static_cast<std::ptrdiff_t>(shift));
        w.resize(w.size() - shift);
      },
      {.skeleton = run_->made.skeleton});
  ASSERT_FALSE(late.error);
  ASSERT_FALSE(late.evidence.shifts.empty()) << "E4 gave no shift";
  for (const auto& shift : late.evidence.shifts) {
    std::printf("late: shift %+.3f +- %.3f ms\n", 1e3 * shift.fitted_s, 1e3 * shift.sd_s);
    EXPECT_GT(std::abs(shift.fitted_s), 1.96 * shift.sd_s);
  }
}

TEST_F(EndToEnd, Criterion8TheReferenceIsWhatTheHandWouldHaveDone) {
  ExpectMet(*judged_, 8);  // with its controls: no reference, C/2, 2C
  // Canary, through the step: a trajectory made with twice the compliance.
  chain::ChainOptions options{.clip = "session", .skeleton = run_->made.skeleton};
  options.compliance_factor = 2.0;
  const chain::ChainRun run = Run(options);
  ASSERT_FALSE(run.error) << run.error->message;
  const auto twice = chain::LoadChain(*library_, run.made);
  ASSERT_TRUE(twice);
  const auto judged = chain::Judge(chain::GatherFits(subject_->truth, *twice));
  EXPECT_TRUE(chain::Fails(judged, 8, "eq. 1"));
  EXPECT_TRUE(chain::Fails(judged, 8, "dynamic"));
}

TEST_F(EndToEnd, Criterion9TheHandMeetsSurfacesItNeverTouched) {
  chain::Evidence evidence;
  for (const char* run : {"captured", "friction_0.1", "friction_1.0", "bump"}) {
    evidence.Add(chain::GatherPlantedReplay(subject_->truth, {.run = run, .damped = true}));
    evidence.Add(chain::GatherPlantedReplay(subject_->truth, {.run = run, .damped = false}));
    if (std::string(run) == "captured") continue;  // a tautology by eq. 1
    evidence.Add(
        chain::GatherFittedReplay(subject_->truth, *results_, {.run = run, .damped = true}));
    evidence.Add(
        chain::GatherFittedReplay(subject_->truth, *results_, {.run = run, .damped = false}));
  }
  std::vector<chain::Criterion> judged = chain::Judge(evidence);
  std::erase_if(judged, [](const chain::Criterion& c) { return c.number != 9; });
  chain::Print(judged);
  ExpectMet(judged, 9);
}

TEST_F(EndToEnd, Criterion9SeesTwiceTheComplianceAndAWrongFriction) {
  chain::Evidence twice = chain::GatherFittedReplay(
      subject_->truth, *results_, {.run = "friction_0.1", .compliance_scale = 2.0});
  EXPECT_TRUE(
      chain::Fails(chain::Judge(twice), 9, "fitted, quasi-static, friction_0.1: force in plane"));
  chain::Evidence slippery = chain::GatherFittedReplay(subject_->truth, *results_,
                                                       {.run = "friction_1.0", .friction = 0.1});
  const auto judged = chain::Judge(slippery);
  EXPECT_TRUE(chain::Fails(judged, 9, "fitted, quasi-static, friction_1.0: force in plane"));
  EXPECT_TRUE(chain::Fails(judged, 9, "fitted, quasi-static, friction_1.0: stick"));
}

// A step on a mesh of one's own: everything is kept, and leads back to the recording.
TEST_F(EndToEnd, AMeshOfOnesOwnIsTouchedAndTheMotionKnowsWhereItComesFrom) {
  const std::string mesh = folder_->path() + "/roof.stl";
  testing::WriteRoof(mesh);
  pipeline::SynthInteractionStep step;
  step.clip = "session";
  step.prop = mesh;
  step.range = TimeRange{Timestamp::FromSeconds(subject_->truth.takes[2].begin_s),
                         Timestamp::FromSeconds(subject_->truth.takes[2].begin_s + 15)};
  step.trajectory = run_->made.trajectory;
  const auto made = step.Run({.library = *library_});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->reused);
  const auto motion = store::Load<artefact::Motion>(library_->ArtefactPath(made->hash));
  ASSERT_TRUE(motion) << motion.error().message;
  EXPECT_EQ(motion->stage.things.at(0).prop.key, "roof");
  EXPECT_FALSE(motion->rows.empty());
  EXPECT_EQ(synthesis::UnsolvedSteps(*motion), 0);
  EXPECT_EQ(motion->stage.hands.at(0).assumed_dofs, made->assumed_dofs);
  EXPECT_EQ(made->replays.size(), made->assumed_dofs.empty() ? 0u : 2u);
  // Back to the clip.
  std::set<std::string> seen, open = {made->hash};
  const auto row = library_->FindClip("session");
  ASSERT_TRUE(row);
  bool found = false;
  while (!open.empty()) {
    const std::string hash = *open.begin();
    open.erase(open.begin());
    if (!seen.insert(hash).second) continue;
    found = found || hash == row->sha256;
    const auto inputs = library_->Inputs(hash);
    ASSERT_TRUE(inputs);
    for (const auto& input : *inputs) open.insert(input.hash);
  }
  EXPECT_TRUE(found) << "no lineage from the motion to the recording";
}

TEST_F(EndToEnd, ASecondRunIsRecognisedAndComputesNothing) {
  const auto before = library_->Artefacts();
  ASSERT_TRUE(before);
  const chain::ChainRun again = Run({.clip = "session"});
  ASSERT_FALSE(again.error) << again.error->message;
  EXPECT_EQ(again.made.trajectory, run_->made.trajectory);
  EXPECT_EQ(again.made.skeleton, run_->made.skeleton);
  const auto after = library_->Artefacts();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->size(), before->size());
}

}  // namespace
}  // namespace handhold::end_to_end_test
