// The virtual subject: is its truth true, and is its sensor side what devices would have seen of
// it?
#include "tools/lab/subject.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"

namespace handhold::lab::subject_test {
namespace {

using geometry::Vec3;
using geometry::Vec6;

SubjectOptions OneStroke() {
  SubjectOptions options;
  options.plan = Plan::OneStroke();
  return options;
}
SubjectOptions Noiseless() {
  SubjectOptions options = OneStroke();
  options.sensor.noise = false;
  options.counterfactual_friction = {};
  options.bump = false;
  return options;
}
const Subject& Default() {
  static const Subject subject = MakeSubject(OneStroke()).value();
  return subject;
}
const Subject& Clean() {
  static const Subject subject = MakeSubject(Noiseless()).value();
  return subject;
}
const TruthStroke& FirstTouching(const Truth& truth) {
  for (const TruthStroke& s : truth.strokes) {
    if (s.task != "free") return s;
  }
  ADD_FAILURE();
  return truth.strokes.front();
}

TEST(Truth, TheTwoRunsAreOneUntilTheyTouchAndPartAfter) {
  const Truth& truth = Clean().truth;
  const TruthRun& reference = *truth.FindRun("reference");
  const TruthRun& captured = *truth.FindRun("captured");
  EXPECT_TRUE(reference.contacts.empty());
  ASSERT_EQ(captured.contacts.size(), 1u);
  const double onset = captured.contacts[0].onset_s;
  ASSERT_EQ(reference.session.rows(), captured.session.rows());
  double after = 0;
  for (int64_t i = 0; i < captured.session.rows(); ++i) {
    const double apart =
        (reference.session.theta.row(i) - captured.session.theta.row(i)).cwiseAbs().maxCoeff();
    if (captured.session.time_s(i) <= onset) {
      ASSERT_EQ(apart, 0.0) << i;
    } else {
      after = std::max(after, apart);
    }
  }
  EXPECT_GT(after, 0.02);
  // The program meant to be at the plate then.
  const TruthStroke& stroke = FirstTouching(truth);
  const TruthSeries& series = captured.strokes[static_cast<size_t>(stroke.index)];
  const Vec3 tip = Interpolate(series, series.p_W_tip, onset);
  EXPECT_NEAR(tip.z(), truth.plate_top_z_m + truth.tip_radius_m, 2e-5);
  EXPECT_LT((tip - stroke.p_W_touch).norm(), 0.004);
}

/// What joints gave way by while held on the plate, less `law` times torque, over its size.
double HeldMisfit(const Truth& truth, const Eigen::MatrixXd& law) {
  // In the middle of the hold only the sweep moves.
  const TruthRun& captured = *truth.FindRun("captured");
  const TruthRun& reference = *truth.FindRun("reference");
  const TruthStroke& stroke = FirstTouching(truth);
  const TruthSeries& series = captured.strokes[static_cast<size_t>(stroke.index)];
  model::KinematicsData data(*truth.skeleton);
  const int tip_body =
      truth.skeleton->frames()[static_cast<size_t>(truth.skeleton->FindFrame("index.tip"))].body;
  int compared = 0;
  double error = 0, size = 0;
  for (int64_t i = 0; i < series.rows(); ++i) {
    const double t = series.time_s(i);
    if (t < captured.contacts[0].onset_s + 0.3 || t > captured.contacts[0].release_s - 0.3)
      continue;
    const Eigen::VectorXd theta = series.theta.row(i).transpose();
    model::ComputeJacobian<double>(*truth.skeleton, theta, &data);
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(4);
    model::AddForceTorques<double>(*truth.skeleton, data, tip_body, Vec3(series.p_W_contact.row(i)),
                                   Vec3(series.f_onHand_W.row(i)), tau);
    const Eigen::VectorXd delta =
        theta - Interpolate(reference.session, reference.session.theta, t);
    error = std::max(error, (delta - law * tau).norm());
    size = std::max(size, delta.norm());
    ++compared;
  }
  EXPECT_GT(compared, 40);
  return error / size;
}

TEST(Truth, HeldAgainstThePlateTheJointsGiveByComplianceTimesTorque) {
  // The same law the engine was given, through Jacobians it knows nothing of.
  const Truth& truth = Clean().truth;
  const Eigen::MatrixXd law =
      truth.FindImpedance(FirstTouching(truth).task)->compliance_rad_per_Nm.asDiagonal();
  EXPECT_LT(HeldMisfit(truth, law), 0.08);  // the rest is gravity at the other posture and the
                                            // sweep's dynamics
}

TEST(Truth, CoupledJointsGiveWayTogether) {
  SubjectOptions options = Noiseless();
  options.coupling = Eigen::Vector3d(0.0, 0.3, 0.2);
  const Subject subject = MakeSubject(options).value();
  const PlantedImpedance& planted = *subject.truth.FindImpedance(FirstTouching(subject.truth).task);
  ASSERT_EQ(planted.coupling.size(), 3);
  const Eigen::VectorXd root = planted.compliance_rad_per_Nm.cwiseInverse().cwiseSqrt();
  Eigen::MatrixXd stiffness = root.cwiseAbs2().asDiagonal();
  for (Eigen::Index i = 0; i < 3; ++i)
    stiffness(i, i + 1) = stiffness(i + 1, i) = -planted.coupling[i] * root[i] * root[i + 1];
  EXPECT_LT(HeldMisfit(subject.truth, stiffness.inverse()), 0.08);
  EXPECT_GT(HeldMisfit(subject.truth, planted.compliance_rad_per_Nm.asDiagonal()), 0.16);
}

TEST(Subject, APalmOfAnotherMassIsThatOfTheTruthsSkeleton) {
  SubjectOptions options = Noiseless();
  options.palm_mass = 1.5;
  const Subject heavy = MakeSubject(options).value();
  double planted_kg = 0, plain_kg = 0;
  int differ = 0;
  for (int b = 1; b < heavy.truth.skeleton->body_count(); ++b) {
    const double kg = heavy.truth.skeleton->body(b).mass.mass_kg,
                 usual_kg = Clean().truth.skeleton->body(b).mass.mass_kg;
    if (kg == usual_kg) continue;
    planted_kg = kg, plain_kg = usual_kg, ++differ;
  }
  EXPECT_EQ(differ, 1);
  EXPECT_NEAR(planted_kg, 1.5 * plain_kg, 1e-12);
  EXPECT_GT(plain_kg, 0.1) << "the palm";
}

TEST(Truth, ContactForceObeysCoulombAndThePlate) {
  const Truth& truth = Clean().truth;
  const TruthRun& captured = *truth.FindRun("captured");
  const TruthSeries& series = captured.strokes[static_cast<size_t>(FirstTouching(truth).index)];
  double peak = 0;
  for (int64_t i = 0; i < series.rows(); ++i) {
    const Vec3 f = series.f_onHand_W.row(i);
    ASSERT_GE(f.z(), 0.0);
    ASSERT_LE(f.head<2>().norm(), 0.5 * f.z() * 1.035 + 2e-3);
    peak = std::max(peak, f.z());
    if (f.z() > 0.1) {
      EXPECT_NEAR(series.normal_W(i, 2), 1.0, 1e-12);
      EXPECT_NEAR(series.p_W_tip(i, 0), series.p_W_contact(i, 0), 1e-4);
    }
  }
  EXPECT_NEAR(peak, captured.contacts[0].peak_normal_force_N, 0.02 * peak);
  EXPECT_GT(peak, 0.5);
  EXPECT_LT(peak, 5.0);
}

TEST(Truth, CounterfactualsDiffer) {
  const Truth& truth = Default().truth;
  std::vector<std::string> names;
  for (const TruthRun& run : truth.runs) names.push_back(run.name);
  EXPECT_THAT(names, ::testing::ElementsAre("reference", "captured", "friction_0.1", "friction_1.0",
                                            "bump"));
  const size_t stroke = static_cast<size_t>(FirstTouching(truth).index);
  // Friction over normal force, its 98th percentile over the contact: in the first steps of a touch
  // the grip's direction is not settled and the cone may be exceeded, to the pyramid's corner.
  const auto sideways = [&](const char* run) {
    const TruthSeries& s = truth.FindRun(run)->strokes[stroke];
    std::vector<double> ratio;
    for (int64_t i = 0; i < s.rows(); ++i) {
      if (s.f_onHand_W(i, 2) > 0.2)
        ratio.push_back(s.f_onHand_W.row(i).head<2>().norm() / s.f_onHand_W(i, 2));
    }
    EXPECT_GT(ratio.size(), 100u);
    std::sort(ratio.begin(), ratio.end());
    EXPECT_LT(ratio.back(), 1.45 * truth.FindRun(run)->friction + 1e-3);
    return ratio[ratio.size() * 98 / 100];
  };
  EXPECT_NEAR(sideways("friction_0.1"), 0.1, 0.01);
  EXPECT_NEAR(sideways("captured"), 0.5, 0.03);
  EXPECT_GT(sideways("friction_1.0"), 0.7);
  const TruthSeries& bump = truth.FindRun("bump")->strokes[stroke];
  double tilt = 0;
  for (int64_t i = 0; i < bump.rows(); ++i) {
    if (bump.f_onHand_W(i, 2) > 0.1) tilt = std::max(tilt, std::abs(bump.normal_W(i, 0)));
  }
  EXPECT_GT(tilt, 0.15);   // the finger climbed the bump's flank
  EXPECT_LT(tilt, 0.386);  // whose steepest normal leans 22.6 degrees
}

TEST(Sensors, NoiseFreeMarkersAreTheAttachmentsOnTheBodies) {
  const auto& [feed, truth] = Clean();
  const TruthRun& captured = *truth.FindRun("captured");
  ASSERT_EQ(feed.frame_count(), captured.session.rows() - 1);
  model::KinematicsData data(*truth.skeleton);
  std::vector<double> xyz(3 * feed.marker_names().size());
  std::vector<Vec3> expected;
  for (int64_t frame = 0; frame < feed.frame_count(); frame += 7) {
    feed.Markers(frame, xyz);
    model::ComputePoses<double>(
        *truth.skeleton, Eigen::VectorXd(captured.session.theta.row(frame).transpose()), &data);
    model::MarkerPositions<double>(*truth.skeleton, data, &expected);
    for (size_t m = 0; m < expected.size(); ++m) {
      ASSERT_LT((Vec3(xyz[3 * m], xyz[3 * m + 1], xyz[3 * m + 2]) - expected[m]).norm(), 2e-7)
          << frame << " " << m;
    }
  }
  // No file in the tree holds the attachments.
  const model::Skeleton file = model::LoadHand("finger4").value();
  EXPECT_NE(file.markers()[0].p_BM, truth.skeleton->markers()[0].p_BM);
}

TEST(Sensors, TheWrenchIsTheForceOfTheHandOnThePlateAtTheContact) {
  const auto& [feed, truth] = Clean();
  const TruthRun& captured = *truth.FindRun("captured");
  const TruthSeries& series = captured.strokes[static_cast<size_t>(FirstTouching(truth).index)];
  const recording::ForceSensor& sensor = feed.data().sensor;
  EXPECT_GT(std::abs(sensor.X_MS.R(0, 1)), 0.1);  // its frame is turned against W, so that mixing
                                                  // them up shows
  int compared = 0;
  for (int64_t i = 0; i < series.rows(); ++i) {
    const double t = series.time_s(i);
    const Vec3 f = series.f_onHand_W.row(i);
    if (f.z() < 0.3 || std::abs(t * 7000 - std::round(t * 7000)) > 1e-6) continue;
    Vec6 w;
    feed.Wrench(std::llround(t * 7000), std::span<double, 6>(w.data(), 6));
    const Vec3 f_W = sensor.X_MS.R * w.head<3>();
    EXPECT_LT((f_W + f).norm(), 1e-5);
    EXPECT_NEAR(-w.head<3>().dot(sensor.normal_S), f.z(), 1e-5);
    // Where the wrench's axis meets the plate, with no free torque.
    const Vec3 t_W = sensor.X_MS.R * w.tail<3>();
    const double down = truth.plate_top_z_m - sensor.X_MS.p.z();
    const Vec3 p = sensor.X_MS.p + Vec3((-t_W.y() + down * f_W.x()) / f_W.z(),
                                        (t_W.x() + down * f_W.y()) / f_W.z(), down);
    EXPECT_LT((p - Vec3(series.p_W_contact.row(i))).head<2>().norm(), 3e-4);
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(Sensors, NoiseHasTheSizeAsked) {
  const SensorFeed &noisy = Default().feed, &clean = Clean().feed;
  double markers = 0, force = 0, torque = 0;
  ASSERT_EQ(noisy.frame_count(), clean.frame_count());
  for (size_t i = 0; i < clean.data().markers_m.size(); ++i)
    markers += std::pow(noisy.data().markers_m[i] - clean.data().markers_m[i], 2);
  for (size_t i = 0; i < clean.data().wrench_S.size(); ++i) {
    const double d = noisy.data().wrench_S[i] - clean.data().wrench_S[i];
    (i % 6 < 3 ? force : torque) += d * d;
  }
  EXPECT_NEAR(std::sqrt(markers / static_cast<double>(clean.data().markers_m.size())), 5e-5, 1e-6);
  EXPECT_NEAR(std::sqrt(force / static_cast<double>(clean.data().wrench_S.size() / 2)), 0.02, 2e-4);
  EXPECT_NEAR(std::sqrt(torque / static_cast<double>(clean.data().wrench_S.size() / 2)), 2e-4,
              2e-6);
}

TEST(Sensors, SkinSlipDragsTheEndSegmentsMarkersWithTheForce) {
  SubjectOptions options = Noiseless();
  options.sensor.faults.skin_slip_m_per_N = 5e-4;
  const Subject slipping = MakeSubject(options).value();
  const TruthRun& run = *Clean().truth.FindRun("captured");
  const TruthStroke& stroke = FirstTouching(Clean().truth);
  const TruthSeries& series = run.strokes[static_cast<size_t>(stroke.index)];
  const auto& markers = Clean().truth.skeleton->markers();
  const int tip_body = Clean().truth.skeleton->body_count() - 1;
  std::vector<double> still(27), moved(27);
  int pressed = 0;
  for (int64_t i = 0; i < Clean().feed.frame_count(); i += 5) {
    const double t = static_cast<double>(i) / 500.0;
    const bool within = t > series.begin_s + 0.002 && t < series.end_s() - 0.002;
    const Vec3 f = within ? Vec3(Interpolate(series, series.f_onHand_W, t)) : Vec3(0, 0, 0);
    Clean().feed.Markers(i, still);
    slipping.feed.Markers(i, moved);
    for (size_t m = 0; m < markers.size(); ++m) {
      const Vec3 d(moved[3 * m] - still[3 * m], moved[3 * m + 1] - still[3 * m + 1],
                   moved[3 * m + 2] - still[3 * m + 2]);
      // The plate pushes the skin as it pushes the hand.
      const Vec3 expected = markers[m].body == tip_body ? Vec3(5e-4 * f) : Vec3(0, 0, 0);
      EXPECT_LT((d - expected).norm(), 2e-5) << t << " " << markers[m].name;
    }
    pressed += f.norm() > 0.5;
  }
  EXPECT_GT(pressed, 20);
}

TEST(Sensors, DriftMovesOnlyTheNormalForcesZeroAndByWhatIsAsked) {
  SubjectOptions options = Noiseless();
  options.sensor.faults.force_drift_N = 0.2;
  const Subject drifting = MakeSubject(options).value();
  const auto &clean = Clean().feed.data().wrench_S, &drifted = drifting.feed.data().wrench_S;
  ASSERT_EQ(clean.size(), drifted.size());
  double lowest = 0, highest = 0;
  for (size_t i = 0; i < clean.size(); ++i) {
    const double d = drifted[i] - clean[i];
    if (i % 6 != 2) {
      EXPECT_EQ(d, 0.0) << i;
    } else {
      lowest = std::min(lowest, d), highest = std::max(highest, d);
    }
  }
  EXPECT_NEAR(drifted[drifted.size() - 4] - clean[clean.size() - 4] - (drifted[2] - clean[2]), 0.2,
              0.05);
  EXPECT_NEAR(highest - lowest, 0.2, 0.05);
  EXPECT_EQ(drifting.feed.data().markers_m, Clean().feed.data().markers_m);
}

TEST(Sensors, ClocksThatRunFastSampleEarlier) {
  SubjectOptions options = Noiseless();
  options.sensor.marker_clock_ppm = 500;
  options.sensor.force_clock_ppm = -800;
  const Subject fast = MakeSubject(options).value();
  const SensorFeed& clean = Clean().feed;
  EXPECT_GT(fast.feed.frame_count(), clean.frame_count());
  EXPECT_LT(fast.feed.force_count(), clean.force_count());
  // Late in the session: frame i of the fast clock lies between frames of the true one.
  const int64_t i = clean.frame_count() - 700;
  std::vector<double> got(27), a(27), b(27);
  fast.feed.Markers(i, got);
  const double exact = static_cast<double>(i) / 1.0005;
  clean.Markers(static_cast<int64_t>(exact), a);
  clean.Markers(static_cast<int64_t>(exact) + 1, b);
  const double s = exact - std::floor(exact);
  for (size_t k = 0; k < 27; ++k) EXPECT_NEAR(got[k], a[k] + s * (b[k] - a[k]), 2e-5);
  // The clip's clock map undoes it.
  const recording::Clip clip = MakeClip(fast.feed);
  const auto window = clip.ReadAll(clip.streams()[0].id).value();
  EXPECT_NEAR(window.times[static_cast<size_t>(i)].seconds(), exact / 500, 1e-8);
}

TEST(Clip, HoldsTheFeedOnItsGrid) {
  const SensorFeed& feed = Default().feed;
  const recording::Clip clip = MakeClip(feed);
  ASSERT_EQ(clip.streams().size(), 2u);
  const recording::StreamInfo& markers = *clip.FirstOfKind(recording::StreamKind::kMarkers);
  const recording::StreamInfo& wrench = *clip.FirstOfKind(recording::StreamKind::kForceTorque);
  EXPECT_EQ(markers.name, "vicon/markers");
  EXPECT_EQ(markers.ItemNames(), feed.marker_names());
  EXPECT_EQ(wrench.name, "plate/wrench");
  const recording::ForceSensor& sensor = *clip.FindForceSensor("plate");
  EXPECT_EQ(sensor.stream_id, wrench.id);
  const auto m = clip.ReadAll(markers.id).value();
  const auto w = clip.ReadAll(wrench.id).value();
  ASSERT_EQ(m.count(), feed.frame_count());
  ASSERT_EQ(w.count(), feed.force_count());
  EXPECT_TRUE(clip.gaps().empty());
  std::vector<double> xyz(27);
  Vec6 wrench_S;
  for (int i = 0; i < m.count(); i += 11) {
    feed.Markers(i, xyz);
    for (int c = 0; c < 27; ++c)
      ASSERT_NEAR(m.value(c, i), xyz[static_cast<size_t>(c)], 0.5e-5 + 1e-12);
    feed.Wrench(14 * i, std::span<double, 6>(wrench_S.data(), 6));
    Eigen::VectorXd raw(6);
    for (int c = 0; c < 6; ++c) raw[c] = w.value(c, 14 * i);
    ASSERT_LT((sensor.Wrench(raw) - wrench_S).cwiseAbs().maxCoeff(), 0.6e-6);
    ASSERT_EQ(m.times[static_cast<size_t>(i)], w.times[static_cast<size_t>(14 * i)]);
  }
  int strokes = 0;
  for (const recording::Event& event : clip.events()) {
    EXPECT_EQ(event.origin, "operator");
    if (event.kind == "stroke") ++strokes;
  }
  EXPECT_EQ(strokes, 3);
  ClipOptions off;
  off.clock_offset_sd_s = 30e-6;
  const recording::Clip drawn = MakeClip(feed, off);
  EXPECT_NE(drawn.ReadAll(markers.id).value().times[0], m.times[0]);
  EXPECT_LT(std::abs(drawn.ReadAll(markers.id).value().times[0].seconds()), 2e-4);
}

TEST(Feed, CutIsTheStretchFromZero) {
  const SensorFeed& feed = Default().feed;
  const TruthTake& take = feed.data().takes.back();
  const SensorFeed cut = feed.Cut(take.begin_s, take.end_s);
  EXPECT_EQ(cut.frame_count(), std::llround((take.end_s - take.begin_s) * 500));
  EXPECT_EQ(cut.force_count(), 14 * cut.frame_count());
  std::vector<double> a(27), b(27);
  cut.Markers(5, a);
  feed.Markers(std::llround(take.begin_s * 500) + 5, b);
  EXPECT_EQ(a, b);
  ASSERT_EQ(cut.data().events.size(), 2u);
  EXPECT_EQ(cut.data().events[0].begin_s, 0.0);
}

TEST(Subject, FollowsFromItsOptionsWhateverTheProcesses) {
  SubjectOptions options = OneStroke();
  options.processes = 3;
  const Subject again = MakeSubject(options).value();
  const Subject& first = Default();
  EXPECT_EQ(again.feed.data().wrench_S, first.feed.data().wrench_S);
  ASSERT_EQ(again.truth.runs.size(), first.truth.runs.size());
  const size_t stroke = static_cast<size_t>(FirstTouching(first.truth).index);
  for (size_t r = 1; r < first.truth.runs.size(); ++r) {
    EXPECT_EQ(again.truth.runs[r].strokes[stroke].theta, first.truth.runs[r].strokes[stroke].theta);
    EXPECT_EQ(again.truth.runs[r].contacts.size(), first.truth.runs[r].contacts.size());
  }
  options.seed = 2;
  options.counterfactual_friction = {};
  options.bump = false;
  const Subject other = MakeSubject(options).value();
  EXPECT_NE(other.truth.strokes[0].p_W_touch, first.truth.strokes[0].p_W_touch);
}

TEST(Subject, AReflexMovesTheFingerOnlyAfterItsDelay) {
  SubjectOptions options = Noiseless();
  options.reflex_rad = 0.0175;
  const Subject subject = MakeSubject(options).value();
  const TruthRun &with = *subject.truth.FindRun("captured"),
                 &without = *Clean().truth.FindRun("captured");
  const double onset = without.contacts[0].onset_s;
  double late = 0;
  for (int64_t i = 0; i < with.session.rows(); ++i) {
    const double apart =
        (with.session.theta.row(i) - without.session.theta.row(i)).cwiseAbs().maxCoeff();
    if (with.session.time_s(i) < onset + 0.059) {
      ASSERT_EQ(apart, 0.0);
    }
    late = std::max(late, apart);
  }
  EXPECT_GT(late, 0.004);
}

TEST(Subject, BadOptionsAreNamed) {
  const auto message = [](auto change) {
    SubjectOptions options = OneStroke();
    change(&options);
    const Result<Subject> subject = MakeSubject(options);
    return subject ? std::string("accepted") : subject.error().message;
  };
  EXPECT_THAT(message([](SubjectOptions* o) { o->step_s = 3e-4; }), ::testing::HasSubstr("step_s"));
  EXPECT_THAT(message([](SubjectOptions* o) { o->friction = -1; }),
              ::testing::HasSubstr("friction"));
  EXPECT_THAT(message([](SubjectOptions* o) { o->plan.min_speed_m_per_s = std::nan(""); }),
              ::testing::HasSubstr("speeds"));
  EXPECT_THAT(message([](SubjectOptions* o) { o->plan.postures[0].flexion_deg = {1, 2}; }),
              ::testing::HasSubstr("posture"));
  EXPECT_THAT(message([](SubjectOptions* o) {
                o->impedances = {{"exploring", Eigen::VectorXd::Zero(4), Eigen::VectorXd::Zero(4)}};
              }),
              ::testing::HasSubstr("compliances"));
  EXPECT_THAT(message([](SubjectOptions* o) {
                o->impedances = {{"dancing", Eigen::VectorXd::Ones(4), Eigen::VectorXd::Ones(4)}};
              }),
              ::testing::HasSubstr("dancing"));
  EXPECT_THAT(message([](SubjectOptions* o) { o->coupling = Eigen::Vector3d(0, 0, 0.6); }),
              ::testing::HasSubstr("couples 3 pairs"));
  EXPECT_THAT(message([](SubjectOptions* o) { o->palm_mass = 0; }),
              ::testing::HasSubstr("palm_mass"));
  const std::string heavy = message([](SubjectOptions* o) { o->palm_mass = 20; });
  EXPECT_THAT(heavy, ::testing::HasSubstr("palm_mass is 20")) << "it swings on into the plate";
  EXPECT_EQ(heavy.find("run captured"), heavy.rfind("run captured")) << "said once";
  EXPECT_THAT(message([](SubjectOptions* o) { o->plan.postures[0].flexion_deg = {-90, 0, 0, 0}; }),
              ::testing::HasSubstr("posture"));
}

}  // namespace
}  // namespace handhold::lab::subject_test
