// The whole page, from a simulated subject of one stroke: everything that is computed is on it,
// what is not there is said, nothing from outside becomes markup or a link.
#include "tools/report/fill.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fitting/compliance/contact_fit.h"
#include "fitting/compliance/reference_trajectory.h"
#include "tests/tools/report/well_formed.h"
#include "tools/lab/session_begin.h"
#include "tools/lab/subject.h"
#include "tools/report/html.h"
#include "tools/report/measure.h"

namespace handhold::report::report_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A pose track that says what the engine did, plus a constant per joint (joint zeros are a gauge).
artefact::PoseTrack TruePose(const lab::Truth& truth) {
  const lab::TruthSeries& session = truth.FindRun("captured")->session;
  artefact::PoseTrack pose;
  pose.dof_names = truth.skeleton->dof_names();
  pose.q = session.theta.transpose();
  for (int64_t i = 0; i < session.rows(); ++i)
    pose.times.push_back(Timestamp::FromSeconds(session.time_s(i)));
  pose.information_diagonal = Eigen::MatrixXd::Constant(4, pose.q.cols(), 1e8);
  pose.marker_names = {"a"};
  pose.marker_residual_m = Eigen::MatrixXd::Constant(1, pose.q.cols(), 1e-4);
  return pose;
}

artefact::ComplianceFit Fit(const lab::Truth& truth, const std::string& estimator, double factor) {
  artefact::ComplianceFit fit;
  fit.estimator = estimator, fit.task = "exploring", fit.events_used = 7, fit.chi2_per_dof = 1.0625;
  const lab::PlantedImpedance& planted = *truth.FindImpedance("exploring");
  for (int d = 0; d < 4; ++d) {
    artefact::JointCompliance joint;
    joint.dof = truth.skeleton->dof_names()[static_cast<size_t>(d)];
    const double value = factor * planted.compliance_rad_per_Nm[d];
    if (d < 3) {
      joint.compliance_rad_per_Nm = value;
      joint.lower_rad_per_Nm = 0.9 * value, joint.upper_rad_per_Nm = 1.1 * value;
    } else {
      joint.refusal = "not told from 0: <b>the end joint</b>";
    }
    fit.joints.push_back(joint);
  }
  if (estimator == "dynamic") fit.time_constant_s = planted.time_constant_s.mean();
  fit.discarded.push_back({0, fit.joints[3].dof, -0.4, "negative (Fig. 8)"});
  return fit;
}

class ReportTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    lab::SubjectOptions options;
    options.seed = 5;
    options.plan = lab::Plan::OneStroke();
    options.counterfactual_friction = {0.1};
    auto made = lab::MakeSubject(options);
    ASSERT_TRUE(made) << made.error().message;
    subject_ = new lab::Subject(*std::move(made));
    lab::ClipOptions clip_options;
    clip_options.name = "<script>alert('session')</script>";
    clip_ = new recording::Clip(lab::MakeClip(subject_->feed, clip_options));
    pose_ = new artefact::PoseTrack(TruePose(subject_->truth));
    plate_ = new model::Prop(model::LoadLibraryProp("flat_plate").value());
    auto contact = fitting::FitContact(*clip_, *subject_->truth.skeleton, *pose_, *plate_,
                                       subject_->truth.X_WPlate);
    ASSERT_TRUE(contact) << contact.error().message;
    contact_ = new artefact::ContactTrack(std::move(contact->track));
    fitting::ReferenceTrajectoryOptions assume;
    assume.assume_within_bounds = fitting::Table1Exploring(*subject_->truth.skeleton);
    auto trajectory = fitting::MakeInteractionTrajectory(
        *subject_->truth.skeleton, *pose_, *contact_,
        {Fit(subject_->truth, "dynamic", 1.02), Fit(subject_->truth, "paper", 1.5)}, assume);
    ASSERT_TRUE(trajectory) << trajectory.error().message;
    trajectory_ = new artefact::InteractionTrajectory(std::move(trajectory->trajectory));
    trajectory_->summary.issues = {
        {"palm", Severity::kWarning, "the palm ended 1.8 times as heavy"},
        {"event", Severity::kNote, "of no concern to a reader"}};
    auto data = FillReport(Sources(), Options());
    ASSERT_TRUE(data) << data.error().message;
    data_ = new ReportData(*std::move(data));
    page_ = new std::string(RenderReport(*data_));
    if (const char* to = std::getenv("HANDHOLD_REPORT_TEST_PAGE")) std::ofstream(to) << *page_;
  }
  static void TearDownTestSuite() {
    delete page_, delete data_, delete trajectory_, delete contact_, delete plate_, delete pose_,
        delete clip_, delete subject_;
  }
  static ReportSources Sources() {
    ReportSources s;
    s.clip = clip_, s.skeleton = subject_->truth.skeleton.get(), s.pose = pose_,
    s.contact = contact_;
    s.trajectory = trajectory_, s.surface = plate_, s.X_WSurface = subject_->truth.X_WPlate;
    s.truth = &subject_->truth, s.truth_name = "subject/truth";
    s.commands = {"handhold fit pose \"a & b\""};
    ReportSources::Step step;
    step.provenance.step = "fit.pose", step.provenance.version = 3;
    step.provenance.parameters_json = "{\"outlier_m\":0.005}";
    step.provenance.inputs = {{"clip", "0123456789abcdef", "session"}};
    step.hash = "fedcba9876543210";
    s.steps = {step};
    return s;
  }
  static ReportOptions Options() {
    ReportOptions options;
    options.picture_width = 60, options.picture_height = 40;
    return options;
  }
  static lab::Subject* subject_;
  static recording::Clip* clip_;
  static artefact::PoseTrack* pose_;
  static model::Prop* plate_;
  static artefact::ContactTrack* contact_;
  static artefact::InteractionTrajectory* trajectory_;
  static ReportData* data_;
  static std::string* page_;
};
lab::Subject* ReportTest::subject_ = nullptr;
recording::Clip* ReportTest::clip_ = nullptr;
artefact::PoseTrack* ReportTest::pose_ = nullptr;
model::Prop* ReportTest::plate_ = nullptr;
artefact::ContactTrack* ReportTest::contact_ = nullptr;
artefact::InteractionTrajectory* ReportTest::trajectory_ = nullptr;
ReportData* ReportTest::data_ = nullptr;
std::string* ReportTest::page_ = nullptr;

// A rehearsal's take begins before its session; the property says by how much.
TEST(SessionStartTest, IsWhereTheRehearsalLeftIt) {
  recording::ClipInfo info;
  info.host_start_ns = 1'000'000'000;
  info.properties[lab::kSessionBeginProperty] = "5985000001";
  const auto start = SessionStart(recording::Clip(info));
  ASSERT_TRUE(start) << start.error().message;
  EXPECT_DOUBLE_EQ(*start, 4.985000001);
  info.properties[lab::kSessionBeginProperty] = "5985000001 ns";
  const auto refused = SessionStart(recording::Clip(info));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
}

TEST_F(ReportTest, ThePageNestsAndHasEverySectionOnce) {
  const testing::Reading reading = testing::Read(*page_);
  ASSERT_EQ(reading.error, "");
  for (const char* id : {"stroke", "take", "motion", "compliance", "replay", "criteria",
                         "provenance", "table-1", "figure-stroke", "figure-onset", "figure-load",
                         "figure-compliance", "figure-resynthesis", "figure-replay"}) {
    EXPECT_EQ(reading.ids.count(id), 1u) << id;
  }
  EXPECT_THAT(reading.unnamed, IsEmpty()) << "a picture without words";
  EXPECT_EQ(reading.tags.at("h1"), 1);
  EXPECT_EQ(data_->stroke.size(), 4u);
  EXPECT_EQ(data_->resynthesis.size(), 2u);
  EXPECT_EQ(reading.tags.at("image"), 6);
}

TEST_F(ReportTest, NothingPointsOutsideAndNothingRuns) {
  const testing::Reading reading = testing::Read(*page_);
  for (const std::string& link : reading.links) {
    EXPECT_TRUE(link.starts_with("#") || link.starts_with("data:image/png;base64,"))
        << link.substr(0, 80);
    if (link.starts_with("#")) {
      EXPECT_EQ(reading.ids.count(link.substr(1)), 1u) << link;
    }
  }
  for (const char* outside :
       {"http:", "https:", "url(", "@import", "<script", "<iframe", "<link"}) {
    EXPECT_THAT(*page_, Not(HasSubstr(outside)));
  }
}

TEST_F(ReportTest, TextFromOutsideStaysText) {
  const testing::Reading reading = testing::Read(*page_);
  EXPECT_EQ(reading.tags.count("script"), 0u);
  EXPECT_THAT(reading.text, HasSubstr("<script>alert('session')</script>"));
  EXPECT_THAT(reading.text, HasSubstr("not told from 0: <b>the end joint</b>"));
  EXPECT_THAT(reading.text, HasSubstr("handhold fit pose \"a & b\""));
}

TEST_F(ReportTest, FiguresOnThePageAreTheComputedOnes) {
  const std::string text = testing::Read(*page_).text;
  ASSERT_EQ(data_->compliance.size(), 4u);
  for (const ComplianceRow& row : data_->compliance) {
    EXPECT_THAT(text, HasSubstr(Fixed(*row.planted_rad_per_Nm, 4)));
    if (row.dynamic->value_rad_per_Nm) {
      EXPECT_THAT(text, HasSubstr(Fixed(*row.dynamic->value_rad_per_Nm, 4)));
      EXPECT_THAT(text, HasSubstr(Fixed(row.dynamic->lower_rad_per_Nm, 4) + " … " +
                                  Fixed(row.dynamic->upper_rad_per_Nm, 4)));
    }
  }
  ASSERT_GE(data_->criteria.size(), 30u);
  for (const Criterion& c : data_->criteria) {
    EXPECT_THAT(text, HasSubstr(c.what));
    EXPECT_THAT(text, HasSubstr(c.bound));
    if (!c.figure.empty()) {
      EXPECT_THAT(text, HasSubstr(c.figure)) << c.what;
    }
    EXPECT_EQ(c.figure.empty(), c.verdict == Criterion::Verdict::kUndecided) << c.what;
  }
  for (const StreamRow& s : data_->take.streams) EXPECT_THAT(text, HasSubstr(Grouped(s.samples)));
  EXPECT_EQ(data_->take.streams[0].samples, subject_->feed.frame_count());
  EXPECT_EQ(data_->take.streams[1].samples, subject_->feed.force_count());
  EXPECT_THAT(text, HasSubstr("fedcba9876543210"));
  EXPECT_THAT(text, HasSubstr("{\"outlier_m\":0.005}"));
}

// Canary of criterion 4: a stroke that the library leaves out.
TEST_F(ReportTest, ALibraryThatForgetsAStrokeFailsCriterion4) {
  const auto hardness = HardnessOfStrokes(subject_->truth);
  ASSERT_FALSE(hardness.empty());
  ReportSources::Answer all{0.2, {}};  // every contact_on is above 0.5 N
  for (const auto& [stroke, peak_N] : hardness) {
    EXPECT_GT(peak_N, 0.5) << stroke;
    all.strokes.insert(stroke);
  }
  ReportOptions options;
  options.pictures = options.planted_replays = false, options.max_strokes = 1;
  const auto verdict = [&](const ReportSources::Answer& answer) {
    ReportSources s = Sources();
    s.answers = {answer};
    auto data = FillReport(s, options);
    EXPECT_TRUE(data) << data.error().message;
    for (const Criterion& c : data->criteria) {
      if (c.number == "4") return c.verdict;
    }
    ADD_FAILURE() << "criterion 4 is not on the page";
    return Criterion::Verdict::kUndecided;
  };
  EXPECT_EQ(verdict(all), Criterion::Verdict::kMet);
  all.strokes.erase(all.strokes.begin());
  EXPECT_EQ(verdict(all), Criterion::Verdict::kNotMet);
}

TEST_F(ReportTest, TableOneShowsRefusedAndAssumed) {
  const ComplianceRow& end = data_->compliance[3];
  EXPECT_EQ(end.joint, "DIP");
  EXPECT_FALSE(end.dynamic->value_rad_per_Nm.has_value());
  EXPECT_NEAR(end.dynamic->assumed_rad_per_Nm.value(), 2.0052, 1e-12);
  EXPECT_EQ(data_->compliance[0].published, "0.3488");
  const std::string text = testing::Read(*page_).text;
  EXPECT_THAT(text, HasSubstr("refused"));
  EXPECT_THAT(text, HasSubstr("assumed 2.0052"));
  EXPECT_THAT(text, HasSubstr("+2.0"));
  EXPECT_THAT(text, HasSubstr("+50.0"));
}

TEST_F(ReportTest, WarningsOfTheFitStandOnItsPage) {
  EXPECT_THAT(data_->issues, Contains(HasSubstr("the palm ended 1.8 times as heavy")));
  const std::string text = testing::Read(*page_).text;
  EXPECT_THAT(text, HasSubstr("the palm ended 1.8 times as heavy"));
  EXPECT_THAT(text, Not(HasSubstr("of no concern")));
}

const ReplayRow* FindReplay(const ReportData& data, const std::string& surface,
                            const std::string& inputs, const std::string& form) {
  for (const ReplayRow& row : data.replays) {
    if (row.surface == surface && row.inputs == inputs && row.form == form) return &row;
  }
  return nullptr;
}

// The planted hand replays the engine where a finger that slides is determined: friction 0.1.
TEST_F(ReportTest, ReplaysAreComparedWithTheSurfaceTheyWerePlayedOn) {
  const ReplayRow* planted = FindReplay(*data_, "flat plate, friction 0.1", "planted", "damped");
  ASSERT_NE(planted, nullptr);
  EXPECT_EQ(planted->strokes, 1);
  EXPECT_LT(planted->force_median, 0.05);
  EXPECT_LT(planted->tip_median_m, 0.3e-3);
  const ReplayRow* doubled =
      FindReplay(*data_, "flat plate, friction 0.1", "fitted, assumed C doubled", "quasi-static");
  ASSERT_NE(doubled, nullptr) << "the assumed joint's sensitivity";
  const ReplayRow* same = FindReplay(*data_, "flat plate, friction 0.5", "fitted", "quasi-static");
  ASSERT_NE(same, nullptr);
  EXPECT_TRUE(same->tautology);
  EXPECT_EQ(same->assumed, "DIP");
  EXPECT_EQ(planted->assumed, "");
  EXPECT_THAT(data_->assumed_note, HasSubstr("DIP, exploring: "));
  int judged = 0;
  for (const Criterion& c : data_->criteria) {
    if (c.what.find(", fitted values") == std::string::npos) continue;
    EXPECT_THAT(c.what, HasSubstr("fitted values (DIP assumed)"));
    ++judged;
  }
  EXPECT_GT(judged, 0);
  for (const Criterion& c : data_->criteria)
    EXPECT_THAT(c.what, Not(HasSubstr("flat plate, friction 0.5, fitted")))
        << "a tautology proves nothing";
  for (const ReplayRow& row : data_->replays) {
    EXPECT_EQ(row.failure, "");
    EXPECT_EQ(row.lcp_failures, 0);
  }
}

// Canaries of the measures: what is wrong must show.
TEST_F(ReportTest, MeasuresNoticeWrongFits) {
  const lab::Truth& truth = subject_->truth;
  EXPECT_LT(AngleErrors(*pose_, truth, 0.0).maxCoeff(), 1e-6);
  artefact::PoseTrack bent = *pose_;
  bent.q.row(1).array() += 0.2;  // a joint's zero is a gauge
  EXPECT_LT(AngleErrors(bent, truth, 0.0)[1], 1e-6);
  for (Eigen::Index k = 0; k < bent.q.cols(); ++k)
    bent.q(2, k) += 0.02 * std::sin(0.01 * static_cast<double>(k));
  EXPECT_NEAR(AngleErrors(bent, truth, 0.0)[2], 0.02 / std::sqrt(2), 2e-3);

  const ContactScore right = CompareContact(*contact_, truth, 0.0);
  EXPECT_EQ(right.planted, 1);
  EXPECT_EQ(right.missed, 0);
  EXPECT_EQ(right.invented, 0);
  ASSERT_EQ(right.onset_errors_s.size(), 1u);
  EXPECT_LT(std::abs(right.onset_errors_s[0]), 0.002);
  EXPECT_LT(right.torque_rms_of_peak.maxCoeff(), 0.05);
  EXPECT_NEAR(CompareContact(*contact_, truth, 0.010).onset_errors_s.at(0),
              right.onset_errors_s[0] - 0.010, 1e-9);
  artefact::ContactTrack turned = *contact_;
  turned.tau_Nm *= -1;
  EXPECT_GT(CompareContact(turned, truth, 0.0).torque_rms_of_peak.minCoeff(), 0.2);
  EXPECT_GT(CompareContact(*contact_, truth, 3.0).invented, 0);

  ReplayCase replay{"friction_0.1", synthesis::ReplayForm::kDamped, 1.0, -1.0, 0, {}};
  const TrajectoryOf planted = [&](const lab::TruthStroke& s) {
    return PlantedTrajectory(truth, s);
  };
  const double good =
      Quantile(ScoreReplay(truth, *truth.skeleton, planted, 0, replay, -1).value().force_late, 0.5);
  replay.compliance_scale = 2;
  EXPECT_GT(
      Quantile(ScoreReplay(truth, *truth.skeleton, planted, 0, replay, -1).value().force_late, 0.5),
      4 * good);
  replay.compliance_scale = 1, replay.friction = 1.0;
  EXPECT_GT(
      Quantile(ScoreReplay(truth, *truth.skeleton, planted, 0, replay, -1).value().force_late, 0.5),
      4 * good);
  replay.keep_going = [] { return false; };
  EXPECT_EQ(ScoreReplay(truth, *truth.skeleton, planted, 0, replay, -1).error().code,
            ErrorCode::kCancelled);
  replay.run = "friction_7";
  EXPECT_EQ(ScoreReplay(truth, *truth.skeleton, planted, 0, replay, -1).error().code,
            ErrorCode::kNotFound);
}

TEST_F(ReportTest, WhatIsMissingIsSaidAndNotInvented) {
  ReportSources bare;
  bare.clip = clip_;
  const auto data = FillReport(bare, Options());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_TRUE(data->stroke.empty() && data->compliance.empty() && data->replays.empty() &&
              data->criteria.empty());
  const testing::Reading reading = testing::Read(RenderReport(*data));
  ASSERT_EQ(reading.error, "");
  for (const char* command :
       {"fit skeleton", "fit pose", "fit contact", "fit compliance", "--truth DIR"}) {
    EXPECT_THAT(reading.text, HasSubstr(command));
  }
  ReportData take = *data;
  take.take.gaps.clear();
  EXPECT_THAT(RenderReport(take), AllOf(HasSubstr("recorded, no gaps<"), Not(HasSubstr("0 gaps"))));
  take.take.gaps.resize(1);
  EXPECT_THAT(RenderReport(take), HasSubstr("recorded, 1 gap, written down"));
  EXPECT_EQ(reading.tags.count("image"), 0u);
  EXPECT_THAT(reading.text, Not(HasSubstr("0.3488"))) << "no Table 1 without a fit";
  EXPECT_THAT(reading.text, Not(HasSubstr("worked out")));
  // Planted values replayed beside no fit would decide criteria that the take had no part in.
  ReportSources unfitted = Sources();
  unfitted.trajectory = nullptr, unfitted.fits = {};
  const auto judged = FillReport(unfitted, Options());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_TRUE(judged->replays.empty());
  for (const Criterion& c : judged->criteria) EXPECT_NE(c.number, "9") << c.what;
  // Nothing to recognise the truth by.
  bare.truth = &subject_->truth;
  EXPECT_THAT(FillReport(bare, Options()).error().message, HasSubstr("handhold fit contact"));
}

TEST_F(ReportTest, WithoutTruthNothingIsCalledTrue) {
  ReportSources s = Sources();
  s.truth = nullptr;
  ReportOptions options = Options();
  options.pictures = false;
  const auto data = FillReport(s, options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_TRUE(data->criteria.empty() && data->replays.empty());
  const testing::Reading reading = testing::Read(RenderReport(*data));
  EXPECT_EQ(reading.error, "");
  EXPECT_THAT(reading.text, Not(HasSubstr("planted (truth)")));
  EXPECT_EQ(data->compliance.size(), 4u);
}

lab::Subject OtherSubject(uint64_t seed, const lab::SensorFaults& faults, double palm_mass = 1) {
  lab::SubjectOptions options;
  options.seed = seed;
  options.plan = lab::Plan::OneStroke();
  options.counterfactual_friction = {}, options.bump = false;
  options.sensor.faults = faults;
  options.palm_mass = palm_mass;
  return lab::MakeSubject(options).value();
}

TEST_F(ReportTest, AnotherSubjectsTruthIsRefusedByItsMarkers) {
  const lab::Subject other = OtherSubject(6, {});
  const auto own = MarkersFromTruth(*clip_, subject_->truth, 0.0).value();
  EXPECT_LT(own.median_m, 1.5e-4);
  EXPECT_LT(own.p99_m, 3e-4);
  EXPECT_GT(MarkersFromTruth(*clip_, other.truth, 0.0)->median_m, 0.005);
  ReportSources s = Sources();
  // As far as contacts tell, it is this clip's.
  lab::Truth foreign = other.truth;
  for (lab::TruthRun& run : foreign.runs)
    run.contacts = subject_->truth.FindRun("captured")->contacts;
  s.truth = &foreign;
  const auto refused = FillReport(s, Options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("seed 6"));
  // Of the same seed: it moves alike until it touches, and swings on after that.
  const lab::Subject heavy = OtherSubject(5, {}, 8);
  EXPECT_LT(MarkersFromTruth(*clip_, heavy.truth, 0.0)->median_m, 0.002);
  s.truth = &heavy.truth;
  const auto alike = FillReport(s, Options());
  ASSERT_FALSE(alike);
  EXPECT_EQ(alike.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(alike.error().message, HasSubstr("seed 5"));
  // One whose sensors have faults is still recognised as its own.
  const lab::Subject faulty = OtherSubject(
      5, {.skin_slip_m_per_N = 2e-4, .forearm_give_m_per_N = 2e-4, .marker_lowpass_hz = 50});
  EXPECT_LT(MarkersFromTruth(lab::MakeClip(faulty.feed), faulty.truth, 0.0)->median_m, 5e-4);
  // Markers of another hand are none of it.
  recording::Clip bare{recording::ClipInfo()};
  EXPECT_EQ(MarkersFromTruth(bare, subject_->truth, 0.0).error().code, ErrorCode::kNotFound);
}

TEST_F(ReportTest, SourcesThatDoNotBelongTogetherAreRefused) {
  ReportSources s = Sources();
  artefact::ContactTrack other = *contact_;
  other.times.front() += Duration::Milliseconds(1);
  s.contact = &other;
  EXPECT_EQ(FillReport(s, Options()).error().code, ErrorCode::kInvalid);
  s = Sources();
  lab::Truth foreign = subject_->truth;
  for (lab::TruthRun& run : foreign.runs) {
    for (lab::TruthContact& c : run.contacts) c.onset_s += 2, c.release_s += 2;
  }
  s.truth = &foreign;
  EXPECT_THAT(FillReport(s, Options()).error().message, HasSubstr("not that of this clip"));
  ReportOptions cancelled = Options();
  cancelled.progress = [](double, std::string_view) { return false; };
  EXPECT_EQ(FillReport(Sources(), cancelled).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace handhold::report::report_test
