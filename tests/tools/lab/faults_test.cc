// Planted faults of the sensors: each is in its streams with the size that was asked for, nothing
// else differs from the plain subject of the same seed to the bit, and the truth names it.
#include "tools/lab/faults.h"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <numbers>

#include "database/text/file.h"
#include "database/text/json.h"
#include "database/text/json_view.h"
#include "tools/lab/subject.h"

namespace handhold::lab::faults_test {
namespace {

using geometry::Vec3;

constexpr double kShort_m = 2e-7;  ///< what float32 leaves of a marker

SubjectOptions OneStroke(bool noise) {
  SubjectOptions options;
  options.plan = Plan::OneStroke();
  options.sensor.noise = noise;
  options.sensor.occlusions_per_minute = 0;
  options.counterfactual_friction = {};
  options.bump = false;
  return options;
}
const Subject& Plain() {
  static const Subject subject = MakeSubject(OneStroke(false)).value();
  return subject;
}
const Subject& Noisy() {
  static const Subject subject = MakeSubject(OneStroke(true)).value();
  return subject;
}
Subject Faulty(const SensorFaults& faults, bool noise = false) {
  SubjectOptions options = OneStroke(noise);
  options.sensor.faults = faults;
  return MakeSubject(options).value();
}

/// What no fault of a sensor may change: the engine's runs, and what a rig says of the feed.
void ExpectTheSameMotion(const Subject& faulty) {
  const TruthRun &a = *faulty.truth.FindRun("captured"), &b = *Plain().truth.FindRun("captured");
  EXPECT_EQ(a.session.theta, b.session.theta);
  const recording::ForceSensor &rig = faulty.feed.data().sensor,
                               &plain = Plain().feed.data().sensor;
  EXPECT_EQ(rig.X_MS.p, plain.X_MS.p);
  EXPECT_EQ(rig.X_MS.R, plain.X_MS.R);
}

Eigen::Map<const Eigen::Vector<float, 6>> Wrench(const Subject& subject, int64_t sample) {
  return Eigen::Map<const Eigen::Vector<float, 6>>(subject.feed.data().wrench_S.data() +
                                                   6 * sample);
}

TEST(SensorFaults, CrosstalkIsThatShareOfTheOtherChannels) {
  const Subject faulty = Faulty({.force_crosstalk = 0.03});
  ExpectTheSameMotion(faulty);
  EXPECT_EQ(faulty.feed.data().markers_m, Plain().feed.data().markers_m);
  const float c = 0.03f;
  float most = 0;
  ASSERT_EQ(faulty.feed.force_count(), Plain().feed.force_count());
  for (int64_t i = 0; i < faulty.feed.force_count(); ++i) {
    const auto w = Wrench(Plain(), i);
    Eigen::Vector<float, 6> read;
    read << w[0] + c * (w[1] + w[2]), w[1] + c * (w[0] + w[2]), w[2] + c * (w[0] + w[1]),
        w[3] + c * (w[4] + w[5]), w[4] + c * (w[3] + w[5]), w[5] + c * (w[3] + w[4]);
    ASSERT_LT((Wrench(faulty, i) - read).cwiseAbs().maxCoeff(), 1e-6f) << i;
    most = std::max(most, (read - w).cwiseAbs().maxCoeff());
  }
  EXPECT_GT(most, 0.015f) << "N: a stroke presses by more than 0.5";
}

/// Where the wrench's axis meets the sensor's plane 30 mm up, by what the rig says.
Vec3 Touched(const Subject& subject, int64_t sample) {
  const geometry::RigidTransform& X = subject.feed.data().sensor.X_MS;
  const Eigen::Vector<double, 6> w = Wrench(subject, sample).cast<double>();
  const Vec3 f = X.R * w.head<3>(), t = X.R * w.tail<3>();
  const double up_m = 0.030;
  return X.p + Vec3((-t.y() + up_m * f.x()) / f.z(), (t.x() + up_m * f.y()) / f.z(), up_m);
}

TEST(SensorFaults, ASensorThatStandsElsewhereMovesTheTouchedPoint) {
  const Vec3 off(0.002, -0.001, 0.0);
  const Subject faulty = Faulty({.sensor_off_W_m = off});
  ExpectTheSameMotion(faulty);
  EXPECT_EQ(faulty.feed.data().markers_m, Plain().feed.data().markers_m);
  int pressed = 0;
  for (int64_t i = 0; i < faulty.feed.force_count(); i += 7) {
    EXPECT_EQ(Vec3(Wrench(faulty, i).head<3>().cast<double>()),
              Vec3(Wrench(Plain(), i).head<3>().cast<double>()));
    if (Wrench(Plain(), i).head<3>().norm() < 0.3f) continue;
    ASSERT_LT((Touched(faulty, i) - Touched(Plain(), i) + off).norm(), 2e-6) << i;
    ++pressed;
  }
  EXPECT_GT(pressed, 200);
}

TEST(SensorFaults, AllMarkersFollowTheForceOnAForearmThatYields) {
  const Subject faulty = Faulty({.forearm_give_m_per_N = 1.2e-4});
  ExpectTheSameMotion(faulty);
  EXPECT_EQ(faulty.feed.data().wrench_S, Plain().feed.data().wrench_S);
  const TruthRun& run = *Plain().truth.FindRun("captured");
  const TruthSeries& series = run.strokes[static_cast<size_t>(run.contacts.front().stroke)];
  const size_t markers = Plain().feed.marker_names().size();
  std::vector<double> still(3 * markers), moved(3 * markers);
  int pressed = 0;
  for (int64_t i = 0; i < Plain().feed.frame_count(); ++i) {
    const double t = static_cast<double>(i) / 500.0;
    const bool within = t > series.begin_s + 0.002 && t < series.end_s() - 0.002;
    const Vec3 f = within ? Vec3(Interpolate(series, series.f_onHand_W, t)) : Vec3(0, 0, 0);
    Plain().feed.Markers(i, still);
    faulty.feed.Markers(i, moved);
    for (size_t m = 0; m < markers; ++m) {
      const Vec3 d(moved[3 * m] - still[3 * m], moved[3 * m + 1] - still[3 * m + 1],
                   moved[3 * m + 2] - still[3 * m + 2]);
      ASSERT_LT((d - 1.2e-4 * f).norm(), 5e-6) << t << " " << m;  // the truth's mean of two steps
    }
    pressed += f.norm() > 0.5;
  }
  EXPECT_GT(pressed, 100);
}

/// What a linear system between two records does at a frequency, by their cross-spectrum over
/// windows of `length` samples (Hann, half overlapping). Of their differences from sample to
/// sample, so that slow movement does not leak into what is faster.
std::complex<double> Response(const std::vector<double>& in, const std::vector<double>& out,
                              double frequency_hz, double rate_hz, size_t length) {
  std::complex<double> cross = 0;
  double power = 0;
  for (size_t first = 1; first + length <= in.size(); first += length / 2) {
    std::complex<double> x = 0, y = 0;
    for (size_t i = 0; i < length; ++i) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
      const auto turn =
          std::polar(1 - std::cos(angle), -2 * std::numbers::pi * frequency_hz *
                                              static_cast<double>(first + i) / rate_hz);
      const size_t at = first + i;
      x += (in[at] - in[at - 1]) * turn, y += (out[at] - out[at - 1]) * turn;
    }
    cross += y * std::conj(x), power += std::norm(x);
  }
  return cross / power;
}

std::vector<double> Channel(const std::vector<float>& values, size_t channels, size_t channel) {
  std::vector<double> out;
  for (size_t i = channel; i < values.size(); i += channels)
    out.push_back(static_cast<double>(values[i]));
  return out;
}

/// Butterworth's of second order, in continuous time.
std::complex<double> Butterworth(double frequency_hz, double cutoff_hz) {
  const std::complex<double> s(0.0, frequency_hz / cutoff_hz);
  return 1.0 / (1.0 + std::numbers::sqrt2 * s + s * s);
}

/// How late slow movement comes out, by the header of faults.h.
double Late_s(double cutoff_hz, double rate_hz) {
  return 1 / (std::numbers::sqrt2 * rate_hz * std::tan(std::numbers::pi * cutoff_hz / rate_hz));
}
double Late_s(const std::complex<double>& response, double frequency_hz) {
  return -std::arg(response) / (2 * std::numbers::pi * frequency_hz);
}

TEST(SensorFaults, TheForcesFilterIsButterworthsAndLate) {
  const Subject faulty = Faulty({.force_lowpass_hz = 200}, true);
  ExpectTheSameMotion(faulty);
  EXPECT_EQ(faulty.feed.data().markers_m, Noisy().feed.data().markers_m);
  const auto &in = Noisy().feed.data().wrench_S, &out = faulty.feed.data().wrench_S;
  ASSERT_EQ(in.size(), out.size());
  for (size_t c = 0; c < 6; ++c) {
    for (const double hz : {50.0, 100.0, 200.0, 400.0}) {
      const auto got = Response(Channel(in, 6, c), Channel(out, 6, c), hz, 7000, 1400);
      EXPECT_LT(std::abs(got - Butterworth(hz, 200)), 0.02) << c << " at " << hz << " Hz";
    }
  }
  const auto slow = Response(Channel(in, 6, 2), Channel(out, 6, 2), 20, 7000, 1400);
  EXPECT_NEAR(Late_s(slow, 20), Late_s(200, 7000), 5e-5);
  EXPECT_NEAR(Late_s(200, 7000), 1.12e-3, 5e-6);
}

TEST(SensorFaults, TheMarkersFilterIsLateAndHalvesThePowerAtItsFrequency) {
  const Subject faulty = Faulty({.marker_lowpass_hz = 100}, true);
  ExpectTheSameMotion(faulty);
  EXPECT_EQ(faulty.feed.data().wrench_S, Noisy().feed.data().wrench_S);
  const auto &in = Noisy().feed.data().markers_m, &out = faulty.feed.data().markers_m;
  ASSERT_EQ(in.size(), out.size());
  for (size_t c = 0; c < 27; ++c) {
    const auto got = Response(Channel(in, 27, c), Channel(out, 27, c), 100, 500, 500);
    EXPECT_LT(std::abs(got - std::complex<double>(0, -std::sqrt(0.5))), 0.03) << c;
    EXPECT_EQ(in[c], out[c]) << "at rest it begins where the marker is";
  }
  // A marker of the end segment, which moves: along x.
  const auto slow = Response(Channel(in, 27, 24), Channel(out, 27, 24), 10, 500, 1000);
  EXPECT_NEAR(Late_s(slow, 10), Late_s(100, 500), 1e-4);
  EXPECT_NEAR(Late_s(200, 500), 4.6e-4, 5e-6);
}

TEST(SensorFaults, AFilterLeavesOccludedWhatIsOccluded) {
  SubjectOptions options = OneStroke(true);
  options.sensor.occlusions_per_minute = 40;
  const Subject plain = MakeSubject(options).value();
  options.sensor.faults.marker_lowpass_hz = 200;
  const Subject faulty = MakeSubject(options).value();
  const auto &a = plain.feed.data().markers_m, &b = faulty.feed.data().markers_m;
  ASSERT_EQ(a.size(), b.size());
  int hidden = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(std::isnan(a[i]), std::isnan(b[i])) << i;
    hidden += std::isnan(a[i]);
  }
  EXPECT_GT(hidden, 100);
}

TEST(Plan, WithoutAirOnlyTheStrokesInTheAirAreMissing) {
  SubjectOptions options = OneStroke(false);
  options.plan = options.plan.WithoutAir();
  const Subject subject = MakeSubject(options).value();
  EXPECT_EQ(subject.truth.plan, "one_stroke_no_air");
  ASSERT_EQ(subject.truth.strokes.size(), Plain().truth.strokes.size() - 2);
  EXPECT_EQ(subject.truth.strokes[0].task, "exploring");
  EXPECT_EQ(subject.truth.strokes[0].p_W_touch, Plain().truth.strokes[2].p_W_touch);
  std::vector<std::string> takes;
  for (const TruthTake& take : subject.truth.takes) takes.push_back(take.name);
  EXPECT_THAT(takes, ::testing::ElementsAre("range_of_motion", "exploring"));
  const Eigen::Index rows = 500;
  EXPECT_EQ(subject.truth.FindRun("captured")->session.theta.topRows(rows),
            Plain().truth.FindRun("captured")->session.theta.topRows(rows));
}

SensorFaults All() {
  return {.skin_slip_m_per_N = 1e-4,
          .forearm_give_m_per_N = 2e-4,
          .marker_lowpass_hz = 200,
          .force_lowpass_hz = 300,
          .force_drift_N = 0.1,
          .force_crosstalk = 0.03,
          .sensor_off_W_m = {0.001, 0, 0.002}};
}

TEST(SensorFaults, TheTruthNamesEachAndTheFeedNone) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "handhold_lab_faults_test";
  std::filesystem::remove_all(folder);
  const Subject faulty = Faulty(All());
  ASSERT_TRUE(WriteSubject(faulty, (folder / "faulty").string()));
  ASSERT_TRUE(WriteSubject(Plain(), (folder / "plain").string()));
  EXPECT_EQ(ReadTruth((folder / "faulty/truth").string()).value().faults, All());
  EXPECT_EQ(ReadTruth((folder / "plain/truth").string()).value().faults, SensorFaults());

  const text::Json json = text::ReadJsonFile(folder / "faulty/truth/truth.json").value();
  const auto faults = text::JsonView(json, "truth").At("faults").value().Members().value();
  std::vector<std::string> names;
  for (const auto& [name, value] : faults) names.push_back(name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                         "skin_slip_m_per_N", "forearm_give_m_per_N", "marker_lowpass_hz",
                         "force_lowpass_hz", "force_drift_N", "force_crosstalk", "sensor_off_W_m"));
  const text::Json plain = text::ReadJsonFile(folder / "plain/truth/truth.json").value();
  EXPECT_FALSE(text::JsonView(plain, "truth").Has("faults")) << "as before there were any";

  // The feed's header is the plain subject's.
  const auto header = [&](const char* name) {
    const std::string bytes = text::ReadTextFile(folder / name / "session.feed").value();
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + 8, sizeof length);
    return bytes.substr(0, 16 + length);
  };
  EXPECT_EQ(header("faulty"), header("plain"));
}

TEST(SensorFaults, ASubjectOfOtherFaultsIsRefusedBeforeItIsMade) {
  const std::string folder =
      (std::filesystem::path(::testing::TempDir()) / "handhold_lab_other_faults_test").string();
  std::filesystem::remove_all(folder);
  SubjectOptions options = OneStroke(false);
  options.sensor.faults = All();
  ASSERT_TRUE(WriteSubject(MakeSubject(options).value(), folder));
  EXPECT_TRUE(MayMakeSubject(options, folder));
  options.sensor.faults.force_crosstalk = 0.02;
  EXPECT_FALSE(MayMakeSubject(options, folder));
  EXPECT_FALSE(MayMakeSubject(OneStroke(false), folder));
}

TEST(SensorFaults, BadOnesAreNamed) {
  const auto message = [](const SensorFaults& faults) {
    SubjectOptions options = OneStroke(false);
    options.sensor.faults = faults;
    const Result<Subject> subject = MakeSubject(options);
    return subject ? std::string("accepted") : subject.error().message;
  };
  EXPECT_THAT(message({.marker_lowpass_hz = 250}), ::testing::HasSubstr("marker_lowpass_hz"));
  EXPECT_THAT(message({.marker_lowpass_hz = -1}), ::testing::HasSubstr("marker_lowpass_hz"));
  EXPECT_THAT(message({.force_lowpass_hz = std::nan("")}),
              ::testing::HasSubstr("force_lowpass_hz"));
  EXPECT_THAT(message({.force_crosstalk = std::nan("")}), ::testing::HasSubstr("faults"));
}

}  // namespace
}  // namespace handhold::lab::faults_test
