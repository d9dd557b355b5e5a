#include "database/store/artefact_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/database/store/clip_fixture.h"

namespace handhold::store::artefact_file_test {
namespace {

using ::testing::HasSubstr;

artefact::Provenance SomeProvenance(const std::string& step) {
  artefact::Provenance p;
  p.step = step;
  p.version = 3;
  p.inputs = {{"clip", std::string(64, 'a'), "stroke_007"},
              {"skeleton", std::string(64, 'b'), "finger4"}};
  p.parameters_json = R"({"cutoff_Hz": 20.0, "seed": 7})";
  p.made_utc = Timestamp::FromNanoseconds(1'763'000'000'000'000'001);
  p.tool = "handhold 0.1.0";
  return p;
}

Eigen::MatrixXd Random(Eigen::Index rows, Eigen::Index cols) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Random(rows, cols);
  if (m.size() > 2) {
    m(0, 0) = std::numeric_limits<double>::quiet_NaN();
    m(m.rows() - 1, m.cols() - 1) = -std::numeric_limits<double>::infinity();
    m(0, m.cols() - 1) = -0.0;
  }
  return m;
}

template <typename A, typename B>
void ExpectSame(const A& a, const B& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (Eigen::Index c = 0; c < a.cols(); ++c) {
    for (Eigen::Index r = 0; r < a.rows(); ++r) {
      const double x = static_cast<double>(a(r, c)), y = static_cast<double>(b(r, c));
      ASSERT_TRUE(std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y) ||
                  (std::isnan(x) && std::isnan(y)))
          << r << "," << c;
    }
  }
}

std::vector<Timestamp> Times(int n) {
  std::vector<Timestamp> times;
  for (int i = 0; i < n; ++i) times.push_back(Timestamp::FromNanoseconds(2'000'000ll * i + i % 3));
  return times;
}

TEST(ArtefactFile, PoseTrackComesBackToTheBit) {
  const TempDir dir;
  artefact::PoseTrack pose;
  pose.provenance = SomeProvenance("fit.pose");
  pose.skeleton_hash = "f00d";
  pose.dof_names = {"mp.flex", "pip.flex"};
  pose.times = Times(9000);  // more than one block of columns
  pose.q = Random(2, 9000);
  pose.information_diagonal = Random(2, 9000);
  pose.information = {{4, Random(2, 2)}, {77, Random(2, 2)}};
  pose.marker_names = {"A", "B", "C"};
  pose.marker_residual_m = Random(3, 9000);
  pose.at_limit = (Eigen::MatrixXd::Random(2, 9000).array() > 0).matrix();
  const std::string hash = SaveArtefact(dir.path(), pose).value();
  EXPECT_EQ(hash, ArtefactHash(pose.provenance).value());
  const std::string path = dir / (hash + ".art");
  const auto back = Load<artefact::PoseTrack>(path);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->provenance, pose.provenance);
  EXPECT_EQ(back->skeleton_hash, pose.skeleton_hash);
  EXPECT_EQ(back->dof_names, pose.dof_names);
  EXPECT_EQ(back->times, pose.times);
  ExpectSame(back->q, pose.q);
  ExpectSame(back->information_diagonal, pose.information_diagonal);
  ASSERT_EQ(back->information.size(), 2u);
  ExpectSame(back->information.at(4), pose.information.at(4));
  ExpectSame(back->information.at(77), pose.information.at(77));
  EXPECT_EQ(back->marker_names, pose.marker_names);
  ExpectSame(back->marker_residual_m, pose.marker_residual_m);
  ExpectSame(back->at_limit, pose.at_limit);
  EXPECT_EQ(ReadArtefactInfo(path).value().kind, "pose_track");
  EXPECT_EQ(ReadArtefactInfo(path).value().hash, hash);
  EXPECT_THAT(Load<artefact::Motion>(path).error().message,
              HasSubstr("holds a pose_track, not a motion"));
  EXPECT_TRUE(ClipReader::Open(path).value()->Check().value().empty());
}

TEST(ArtefactFile, ContactTrackComesBack) {
  const TempDir dir;
  artefact::ContactTrack track;
  track.provenance = SomeProvenance("fit.contact");
  track.times = Times(50);
  for (int frame = 1; frame < 50; frame += 7) {
    artefact::ContactRow& row = track.rows.emplace_back();
    row.frame = frame;
    row.f_onA_W = Random(3, 1);
    row.m_onA_W = Random(3, 1);
    if (frame > 10) row.p_W = Random(3, 1), row.normal_W = Random(3, 1), row.offset_m = 0.1;
  }
  track.things.push_back({"table", "plate", "ab", {}});
  track.things[0].X_WT.p = {1, 2, 3};
  track.tau_Nm = Random(4, 50);
  artefact::Touch touch;
  touch.a = {artefact::Side::Kind::kHand, "R", "R.index.pad", 3};
  touch.b = {artefact::Side::Kind::kThing, "table", "", 0};
  touch.sensor = "plate";
  touch.release_sd = Duration::Nanoseconds(8);
  touch.peak_force_N = 4.25;
  touch.task = "scratching";
  track.touches = {touch};
  track.summary.point_offset_p95_m = std::numeric_limits<double>::quiet_NaN();
  track.summary.issues = {{"contact", Severity::kWarning, "odd"}};
  const auto back =
      Load<artefact::ContactTrack>(dir / (SaveArtefact(dir.path(), track).value() + ".art"));
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->rows.size(), track.rows.size());
  for (size_t i = 0; i < track.rows.size(); ++i) {
    const artefact::ContactRow &a = back->rows[i], &b = track.rows[i];
    EXPECT_EQ(a.frame, b.frame);
    EXPECT_EQ(a.f_onA_W, b.f_onA_W);
    EXPECT_EQ(a.m_onA_W, b.m_onA_W);
    EXPECT_EQ(a.p_W.allFinite(), b.p_W.allFinite());
    if (b.p_W.allFinite()) {
      EXPECT_EQ(a.p_W, b.p_W);
      EXPECT_EQ(a.offset_m, 0.1);
    }
    EXPECT_TRUE(std::isnan(a.slip_m_per_s));
  }
  EXPECT_EQ(back->touches, track.touches);
  ASSERT_EQ(back->things.size(), 1u);
  EXPECT_EQ(back->things[0].X_WT.p, geometry::Vec3(1, 2, 3));
  EXPECT_TRUE(std::isnan(back->summary.point_offset_p95_m));
  ASSERT_EQ(back->summary.issues.size(), 1u);
  EXPECT_EQ(back->summary.issues[0].severity, Severity::kWarning);
  ExpectSame(back->tau_Nm, track.tau_Nm);
  EXPECT_EQ(back->inertia_share.size(), 0);
}

TEST(ArtefactFile, InteractionTrajectoryKeepsItsRefusals) {
  const TempDir dir;
  artefact::InteractionTrajectory t;
  t.provenance = SomeProvenance("fit.compliance");
  t.dof_names = {"mp.flex", "mp.abd"};
  t.times = Times(20);
  t.q = Random(2, 20);
  t.q_reference = Random(2, 20);
  t.compliance_rad_per_Nm = Random(2, 20);
  t.time_constant_s = Random(20, 1);
  t.assumed = {0, 1};
  artefact::ComplianceFit fit;
  fit.estimator = "dynamic";
  fit.task = "exploring";
  fit.joints = {{"mp.flex", 0.75, 0.1, 0.6, 0.9, ""},
                {"mp.abd", std::nullopt, 0.0, 0.0, std::numeric_limits<double>::infinity(),
                 "torque slope not told from 0"}};
  fit.covariance_log = Random(1, 1);
  fit.time_shift_s = -0.0015;
  fit.events_used = 6;
  fit.discarded = {{2, "mp.abd", std::numeric_limits<double>::quiet_NaN(), "negative (Fig. 8)"}};
  fit.events = {{0, Random(2, 1), 1.25}, {1, Random(2, 1), 0.5}};
  t.fits = {fit, fit};
  const auto back =
      Load<artefact::InteractionTrajectory>(dir / (SaveArtefact(dir.path(), t).value() + ".art"));
  ASSERT_TRUE(back) << back.error().message;
  ExpectSame(back->compliance_rad_per_Nm, t.compliance_rad_per_Nm);
  EXPECT_EQ(back->assumed, t.assumed);
  EXPECT_EQ(back->q_reference_dynamic.size(), 0);
  ASSERT_EQ(back->fits.size(), 2u);
  const artefact::ComplianceFit& f = back->fits[1];
  ASSERT_EQ(f.joints.size(), 2u);
  EXPECT_EQ(f.joints[0].compliance_rad_per_Nm, 0.75);
  EXPECT_FALSE(f.joints[1].compliance_rad_per_Nm.has_value());
  EXPECT_EQ(f.joints[1].upper_rad_per_Nm, std::numeric_limits<double>::infinity());
  EXPECT_EQ(f.joints[1].refusal, "torque slope not told from 0");
  EXPECT_FALSE(f.time_constant_s.has_value());
  EXPECT_EQ(f.time_shift_s, -0.0015);
  ASSERT_EQ(f.discarded.size(), 1u);
  EXPECT_TRUE(std::isnan(f.discarded[0].value_rad_per_Nm));
  ASSERT_EQ(f.events.size(), 2u);
  ExpectSame(f.events[1].compliance_rad_per_Nm, fit.events[1].compliance_rad_per_Nm);
}

TEST(ArtefactFile, MotionAndJsonAndStreamsComeBack) {
  const TempDir dir;
  artefact::Motion m;
  m.provenance = SomeProvenance("synthesise.interaction");
  m.times = Times(30);
  artefact::StageHand hand{.q = Random(1, 1), .assumed_dofs = {"a"}};
  hand.skeleton.hash = "hash";
  m.Add(hand) = {"R", {"a"}, Random(1, 30)};
  artefact::StageThing ball{.name = "ball", .X_WP = geometry::RigidTransform(), .mass_kg = 0.25};
  ball.v_P = {0, 0, 0.5};
  m.Add(ball).X_WP.resize(30);
  artefact::StageThing table{.name = "table", .is = artefact::StageThing::Is::kFixed};
  table.prop = {"flat_plate", "ab"};
  m.Add(table).X_WP.resize(1);
  m.stage.sensors.push_back({.name = "under", .mounted_on = "table"});
  m.phases = {{artefact::phase::kHold, {m.times[3], m.times[9]}}};
  m.objects[0].X_WP[7].p = {1, 2, 3};
  artefact::ContactRow row;
  row.frame = 7;
  row.touch = m.TouchBetween({artefact::Side::Kind::kHand, "R", "R.palm", 3},
                             {artefact::Side::Kind::kThing, "table", "", 0}, m.times[7]);
  row.f_onA_W = {0, 0, 4};
  row.slip_m_per_s = 0.125;
  m.rows = {row};
  m.series.push_back({"equilibrium_residual", "rad", Random(30, 1)});
  m.summary.figures["peak_force_N"] = 4;
  m.summary.variants = {{0.5, "ab", 1, 2, 3}};
  m.verdict = {artefact::Verdict::Kind::kSlipped, m.times[9], "the ball turned"};
  const auto back = Load<artefact::Motion>(dir / (SaveArtefact(dir.path(), m).value() + ".art"));
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->objects.size(), 2u);
  ExpectSame(back->stage.hands[0].q, m.stage.hands[0].q);
  EXPECT_EQ(back->stage.hands[0].skeleton.hash, "hash");
  EXPECT_EQ(back->stage.things[0].mass_kg, 0.25);
  EXPECT_EQ(back->stage.things[0].v_P, m.stage.things[0].v_P);
  EXPECT_FALSE(back->stage.things[1].X_WP);
  EXPECT_EQ(back->stage.sensors[0].mounted_on, "table");
  EXPECT_EQ(back->FindPhase("hold")->range.end, m.times[9]);
  EXPECT_TRUE(back->objects[1].stands_still());
  ExpectSame(back->hands[0].q, m.hands[0].q);
  ExpectSame(back->series[0].values, m.series[0].values);
  ASSERT_EQ(back->objects[0].X_WP.size(), 30u);
  EXPECT_EQ(back->objects[0].X_WP[7].p, m.objects[0].X_WP[7].p);
  EXPECT_EQ(back->objects[0].X_WP[8].R, geometry::Mat3::Identity());
  ASSERT_EQ(back->rows.size(), 1u);
  EXPECT_EQ(back->touches, m.touches);
  EXPECT_EQ(back->rows[0].f_onA_W, row.f_onA_W);
  EXPECT_EQ(back->rows[0].slip_m_per_s, 0.125);
  EXPECT_EQ(back->summary.figures, m.summary.figures);
  EXPECT_EQ(back->summary.variants[0].peak_force_N, 3);
  EXPECT_EQ(back->verdict.kind, artefact::Verdict::Kind::kSlipped);
  EXPECT_EQ(back->verdict.when, m.times[9]);
  // A row of a touch that there is not is no motion.
  m.rows[0].touch = 5;
  m.provenance.version += 1;
  const auto broken = Load<artefact::Motion>(dir / (SaveArtefact(dir.path(), m).value() + ".art"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kCorrupt);

  const JsonArtefact skeleton{SomeProvenance("fit.skeleton"), "skeleton", R"({"name": "finger4"})"};
  const auto json = LoadJsonArtefact(dir / (SaveArtefact(dir.path(), skeleton).value() + ".art"));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->json, skeleton.json);
  EXPECT_EQ(json->kind, "skeleton");

  const recording::Clip clip = MakeClip(3);
  const std::string filled = SaveArtefact(dir.path(), SomeProvenance("fill.gaps"), clip).value();
  ExpectSameClip(clip, *ClipReader::Open(dir / (filled + ".art")).value(), false);
}

// Several programs make the same results at the same moment: each gets its name, and there is one
// whole file of each.
TEST(ArtefactFile, ProgramsThatMakeTheSameResultAtOnceShareIt) {
  const TempDir dir;
  constexpr int kPrograms = 4, kResults = 12;
  artefact::PoseTrack pose;
  pose.times = Times(50);
  pose.q = Random(7, 50);
  std::vector<pid_t> programs;
  for (int p = 0; p < kPrograms; ++p) {
    programs.push_back(::fork());
    ASSERT_GE(programs.back(), 0);
    if (programs.back() != 0) continue;
    int failed = 0;
    for (int k = 0; k < kResults; ++k) {
      pose.provenance = SomeProvenance("step " + std::to_string(k));
      const auto saved = SaveArtefact(dir.path(), pose);
      failed += !saved;
    }
    ::_exit(failed);
  }
  for (const pid_t program : programs) {
    int status = -1;
    ASSERT_EQ(::waitpid(program, &status, 0), program);
    EXPECT_EQ(status, 0);
  }
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(dir.path())) {
    EXPECT_EQ(file.path().extension(), ".art") << file.path();
    EXPECT_TRUE(Load<artefact::PoseTrack>(file.path().string()).has_value()) << file.path();
    ++files;
  }
  EXPECT_EQ(files, kResults);
}

TEST(ArtefactFile, OneThatIsDamagedOrGoneSaysWhatMakesItAgain) {
  const TempDir dir;
  artefact::PoseTrack pose;
  pose.provenance = SomeProvenance("fit.pose");
  pose.times = Times(400);
  pose.q = Random(5, 400);
  const std::string path = dir / (SaveArtefact(dir.path(), pose).value() + ".art");
  const std::string again = "`handhold fit pose CLIP` makes it again";
  const std::string rid =
      "`rm " + path + "` removes it, and 'handhold library rebuild' forgets it; ";
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (auto at = size / 4; at < size; at += 512) {
      file.seekp(static_cast<std::streamoff>(at));
      file.write("damage", 6);
    }
  }
  const auto damaged = Load<artefact::PoseTrack>(path);
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr(rid + again));
  std::ofstream(path, std::ios::trunc) << "rubbish";
  EXPECT_EQ(Load<artefact::PoseTrack>(path).error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(Load<artefact::PoseTrack>(path).error().message, HasSubstr(rid + again));
  EXPECT_THAT(ReadArtefactInfo(path).error().message, HasSubstr(rid + "the 'handhold fit' or"));
  EXPECT_THAT(ReadArtefactInfo(path, pose.provenance).error().message,
              HasSubstr("; `handhold fit pose stroke_007` makes it again"));
  std::filesystem::remove(path);
  EXPECT_THAT(Load<artefact::PoseTrack>(path).error().message,
              ::testing::AllOf(HasSubstr(again), ::testing::Not(HasSubstr("`rm "))));
  EXPECT_THAT(Load<artefact::Motion>(path).error().message, HasSubstr("the 'handhold fit' or"));
  EXPECT_EQ(MadeAgainBy("fit.contact", "Ana's take"), "`handhold fit contact 'Ana'\\''s take'`");
}

// An hour of 500 Hz is one column of 1.8 million rows; reading it asks for what it holds, not for a
// block of such columns (60 GB).
// What a reader would index by frame has the frames: else the file is refused, not its reader
// ended.
TEST(ArtefactFile, PartsOfAnotherLengthAreRefused) {
  const TempDir dir;
  const auto refused = [&]<typename T>(const char* step, auto change) {
    T value;
    value.provenance = SomeProvenance(step);
    value.times = Times(5);
    change(value);
    const std::string hash = SaveArtefact(dir.path(), value).value();
    return Load<T>(dir.path() + "/" + hash + ".art").error().code;
  };
  EXPECT_EQ(refused.operator()<artefact::PoseTrack>("a", [](auto& t) { t.q.setZero(3, 4); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(refused.operator()<artefact::PoseTrack>(
                "b", [](auto& t) { t.q.setZero(3, 5), t.at_limit.setConstant(3, 6, false); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(refused.operator()<artefact::ObjectTrack>("c", [](auto& t) { t.X_WT.resize(4); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(
      refused.operator()<artefact::ContactTrack>("d", [](auto& t) { t.tau_Nm.setZero(3, 1); }),
      ErrorCode::kCorrupt);
  EXPECT_EQ(refused.operator()<artefact::InteractionTrajectory>(
                "e", [](auto& t) { t.q.setZero(3, 5), t.q_reference.setZero(3, 2); }),
            ErrorCode::kCorrupt);
}

TEST(ArtefactFile, LongColumnsComeBack) {
  const TempDir dir;
  artefact::Motion m;
  m.provenance = SomeProvenance("synth.interaction");
  m.times = Times(1'800'000);
  m.series.push_back({"equilibrium_residual", "rad", Eigen::VectorXd::Zero(1'800'000)});
  m.series[0].values[1'700'000] = 0.25;
  const auto back = Load<artefact::Motion>(dir / (SaveArtefact(dir.path(), m).value() + ".art"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->series[0].values[1'700'000], 0.25);
  EXPECT_EQ(back->series[0].values.sum(), 0.25);
}

TEST(ArtefactFile, TheSameFourAreTheSameArtefact) {
  const TempDir dir;
  const artefact::Provenance p = SomeProvenance("fit.skeleton");
  const std::string hash = SaveArtefact(dir.path(), JsonArtefact{p, "skeleton", "{}"}).value();
  const auto modified = std::filesystem::last_write_time(dir / (hash + ".art"));
  artefact::Provenance told = p;
  told.made_utc = Timestamp::FromNanoseconds(1);
  told.tool = "another";
  told.inputs[0].name = "renamed";
  told.parameters_json = R"({ "seed":7 , "cutoff_Hz":20 })";  // the same JSON
  EXPECT_EQ(SaveArtefact(dir.path(), JsonArtefact{told, "skeleton", "{}"}).value(), hash);
  EXPECT_EQ(std::filesystem::last_write_time(dir / (hash + ".art")), modified) << "written once";
  for (int change = 0; change < 5; ++change) {
    artefact::Provenance other = p;
    if (change == 0) other.version = 4;
    if (change == 1) other.step = "fit.pose";
    if (change == 2) other.inputs[1].hash[0] = 'c';
    if (change == 3) std::swap(other.inputs[0], other.inputs[1]);
    if (change == 4) other.parameters_json = R"({"cutoff_Hz": 20.5, "seed": 7})";
    EXPECT_NE(ArtefactHash(other).value(), hash) << change;
  }
  artefact::Provenance bad = p;
  bad.parameters_json = "{";
  EXPECT_EQ(ArtefactHash(bad).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::store::artefact_file_test
