// Force platforms of types 1 to 4, and those C3D does not define, against statics done here by hand
// and against ezc3d's own platform module. The files are made byte by byte (c3d_bytes.h).
#include <ezc3d/ezc3d_all.h>
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "database/exchange/c3d_properties.h"
#include "database/exchange/c3d_reader.h"
#include "database/exchange/c3d_writer.h"
#include "tests/database/exchange/c3d_bytes.h"
#include "tests/database/exchange/fixtures.h"

namespace handhold::exchange::force_platform_test {
namespace {

namespace fs = std::filesystem;
using geometry::Vec3;
using testing::All;
using testing::C3dBytes;
using ::testing::HasSubstr;
using testing::ReadFile;
using ForcePlatform = testing::ScratchFolder;

// A plate whose z points down, turned by 30 degrees about the vertical; its surface is 600 x 400 mm
// with the centre here. Corners as the guide numbers them: +x +y, -x +y, -x -y, +x -y.
const Vec3 kCentre_m(0.7, -0.2, 0.05);
const double kTurn = 0.5235987755982988;

geometry::Mat3 PlateAxes() {
  geometry::Mat3 R;
  R << std::cos(kTurn), std::sin(kTurn), 0, std::sin(kTurn), -std::cos(kTurn), 0, 0, 0, -1;
  return R;
}

std::vector<double> Corners_mm() {
  std::vector<double> corners;
  for (const auto& [x, y] :
       {std::pair(0.3, 0.2), std::pair(-0.3, 0.2), std::pair(-0.3, -0.2), std::pair(0.3, -0.2)}) {
    const Vec3 at = kCentre_m + PlateAxes() * Vec3(x, y, 0);
    for (int k = 0; k < 3; ++k) corners.push_back(1000 * at(k));
  }
  return corners;
}

/// A file with one plate: channel c holds counts[c] + t at sample t, SCALE and OFFSET as given.
C3dBytes PlateFile(int type, const std::vector<int>& counts, const std::vector<double>& origin_mm,
                   const std::vector<double>& matrix = {}) {
  C3dBytes made;
  const auto n = static_cast<int>(counts.size());
  made.channels = n + 1;  // the last one is no plate's
  made.gen_scale = 0.5f;
  made.analog_scale.assign(static_cast<size_t>(made.channels), 0.25f);
  made.analog_offset.assign(static_cast<size_t>(made.channels), 100);
  made.sample = [counts](int t, int c) {
    return static_cast<size_t>(c) < counts.size() ? 100 + counts[static_cast<size_t>(c)] + t : t;
  };
  const auto number = [&](const char* name, int data_type, std::vector<int> dimensions,
                          std::vector<double> numbers) {
    made.extras.push_back({3, name, data_type, std::move(dimensions), std::move(numbers), ""});
  };
  std::vector<double> channels;
  for (int c = 1; c <= n; ++c) channels.push_back(c);
  number("USED", 2, {}, {1});
  number("TYPE", 2, {1}, {static_cast<double>(type)});
  number("ZERO", 2, {2}, {1, 0});
  number("CORNERS", 4, {3, 4, 1}, Corners_mm());
  number("ORIGIN", 4, {3, 1}, origin_mm);
  number("CHANNEL", 2, {n, 1}, channels);
  if (!matrix.empty()) number("CAL_MATRIX", 4, {6, 6, 1}, matrix);
  std::string units;
  for (int c = 0; c < made.channels; ++c) units += c < 3 ? "N   " : "Nmm ";
  made.extras.push_back({2, "UNITS", -1, {4, made.channels}, {}, units});
  return made;
}

constexpr double kScale = 0.125;  // SCALE x GEN_SCALE

/// Force and moment about the lab's origin.
struct WrenchInLab {
  Vec3 force, moment;
};

/// What the reader makes of sample t: hand on object, moved to the lab.
WrenchInLab Read(const ReadFile& file, int t) {
  const recording::ForceSensor* sensor = file.clip.FindForceSensor("plate1");
  EXPECT_NE(sensor, nullptr) << All(file.issues);
  if (sensor == nullptr) return {};
  const auto window = file.clip.ReadAll(sensor->stream_id).value();
  Eigen::VectorXd raw(window.channel_count);
  for (int c = 0; c < window.channel_count; ++c) raw(c) = window.value(c, t);
  const geometry::Vec6 wrench = sensor->Wrench(raw);
  const Vec3 force = sensor->X_MS.R * wrench.head<3>();
  return {force, sensor->X_MS.p.cross(force) + sensor->X_MS.R * wrench.tail<3>()};
}

/// A reaction force in plate axes that acts at a point given in plate axes from the surface's
/// centre, with a free moment: as the hand's action on the plate, in the lab.
WrenchInLab Action(const Vec3& reaction_N, const Vec3& at_m, const Vec3& free_Nm) {
  const Vec3 force = -(PlateAxes() * reaction_N);
  const Vec3 point = kCentre_m + PlateAxes() * at_m;
  return {force, point.cross(force) - PlateAxes() * free_Nm};
}

void ExpectNear(const WrenchInLab& a, const WrenchInLab& b) {
  EXPECT_LT((a.force - b.force).norm(), 1e-4 * b.force.norm()) << a.force.transpose();
  EXPECT_LT((a.moment - b.moment).norm(), 1e-4 * b.moment.norm()) << a.moment.transpose();
}

TEST_F(ForcePlatform, Type1CentreOfPressureAndFreeMoment) {
  // Fx Fy Fz Px Py Tz: a person of 800 N who stands 120 mm off the centre.
  const auto made = PlateFile(1, {160, -240, -6400, 960, -480, 12'000}, {0, 0, 0});
  const ReadFile file = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
  for (const int t : {0, 7}) {
    const double s = kScale, d = t;
    ExpectNear(Read(file, t), Action({s * (160 + d), s * (-240 + d), s * (-6400 + d)},
                                     {1e-3 * s * (960 + d), 1e-3 * s * (-480 + d), 0},
                                     {0, 0, 1e-3 * s * (12'000 + d)}));
  }
  // Not linear in its channels, so these are kept too, as the file has them.
  const auto px = testing::Column(file.clip, "c3d/analog", "C4");
  ASSERT_EQ(px.size(), 80u);
  EXPECT_EQ(px[3], kScale * 963);
  // Pressed from above: the lab's down.
  EXPECT_LT(Read(file, 0).force.z(), -790);
  EXPECT_GT(file.clip.FindForceSensor("plate1")->X_MS.R.col(2).dot(Vec3(0, 0, -1)), 0.999);
}

TEST_F(ForcePlatform, Type2ForcesAndMomentsAboutItsOrigin) {
  const Vec3 origin_m(0.001, -0.002, -0.04);  // from the transducers' origin to the surface
  const auto made = PlateFile(2, {160, -240, -6400, 8000, -12'000, 900}, {1, -2, -40});
  const ReadFile file = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
  for (const int t : {0, 7}) {
    const double s = kScale, d = t;
    const Vec3 force(s * (160 + d), s * (-240 + d), s * (-6400 + d));
    const Vec3 moment(1e-3 * s * (8000 + d), 1e-3 * s * (-12'000 + d), 1e-3 * s * (900 + d));
    // The moment about the transducers' origin, which lies at minus ORIGIN from the centre.
    ExpectNear(Read(file, t), Action(force, -origin_m, moment));
  }
  const auto raw = testing::Column(file.clip, "c3d/plate1", "C3");
  EXPECT_EQ(raw[5], 100 - 6400 + 5) << "raw, as stored: before OFFSET and SCALE";
  EXPECT_EQ(testing::Column(file.clip, "c3d/analog", "C7")[5], (5 - 100) * kScale);
}

/// Where a plate is pressed, from its surface's centre, m: by the moment about that centre.
Vec3 Pressed(const WrenchInLab& w) {
  const Vec3 f = PlateAxes().transpose() * w.force;
  const Vec3 m = PlateAxes().transpose() * (w.moment - kCentre_m.cross(w.force));
  return {-m.y() / f.z(), m.x() / f.z(), 0};
}

// A writer that says Nm and gives N mm, and one that does the opposite: the samples tell.
TEST_F(ForcePlatform, MomentsInAnotherUnitThanTheFileNamesAreJudgedByWhereThePlateIsPressed) {
  const std::vector<int> standing = {16, -24, -6400, 4800, -7200, 900};
  const auto with_unit = [](C3dBytes made, const std::string& moment) {
    for (auto& extra : made.extras) {
      if (extra.name != "UNITS") continue;
      extra.characters.clear();
      for (int c = 0; c < made.channels; ++c) {
        std::string unit = c < 3 ? "N" : moment;
        unit.resize(4, ' ');
        extra.characters += unit;
      }
    }
    return made;
  };
  // The same wrench, in both units: 144 mm aside are 115 Nm, or 115,200 N mm.
  C3dBytes right = PlateFile(2, standing, {0, 0, 0});
  right.analog_scale = {0.25f, 0.25f, 0.25f, 32.0f, 32.0f, 32.0f, 0.25f};
  const WrenchInLab truth = Read(testing::ReadAll(OpenC3d(right.Build(), "made.c3d")), 0);
  ASSERT_NEAR(Pressed(truth).norm(), 0.173, 0.01);
  for (const char* wrong : {"Nm", "N.m"}) {
    const ReadFile file = testing::ReadAll(OpenC3d(with_unit(right, wrong).Build(), "made.c3d"));
    EXPECT_THAT(All(file.issues), HasSubstr("warning: force platform 1: its moments"));
    ExpectNear(Read(file, 0), truth);
  }
  C3dBytes newton_metres = right;
  for (size_t c = 3; c < 6; ++c) newton_metres.analog_scale[c] = 32e-3f;
  const ReadFile thousandth = testing::ReadAll(OpenC3d(newton_metres.Build(), "made.c3d"));
  EXPECT_THAT(All(thousandth.issues), HasSubstr("its moments never leave its very centre"));
  ExpectNear(Read(thousandth, 0), truth);
  // What is right is neither changed nor spoken of; what no unit mends is not changed either.
  const ReadFile file = testing::ReadAll(OpenC3d(right.Build(), "made.c3d"));
  EXPECT_EQ(All(file.issues).find("force platform 1"), std::string::npos) << All(file.issues);
  C3dBytes beside = right;
  for (size_t c = 3; c < 6; ++c) beside.analog_scale[c] = 128.0f;
  const ReadFile off = testing::ReadAll(OpenC3d(beside.Build(), "made.c3d"));
  EXPECT_THAT(All(off.issues), HasSubstr("is pressed beside its surface"));
  EXPECT_NEAR(Pressed(Read(off, 0)).norm(), 4 * Pressed(truth).norm(), 0.01);
}

// Some writers hold the force on the plate: a person who stands on it seems to hang from it.
TEST_F(ForcePlatform, APlateThatIsOnlyEverPulledIsSaidAndReadTheOtherWayWhenAskedFor) {
  const auto made = PlateFile(2, {16, -24, 3200, 4800, 0, 0}, {0, 0, 0});
  const ReadFile pulled = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
  EXPECT_THAT(All(pulled.issues), HasSubstr("is only ever pulled"));
  EXPECT_THAT(All(pulled.issues), HasSubstr("--plate-sign action"));
  EXPECT_GT(Read(pulled, 0).force.z(), 390);
  const ReadFile turned =
      testing::ReadAll(OpenC3d(made.Build(), "made.c3d", {.plate_sign = C3dPlateSign::kAction}));
  EXPECT_EQ(All(turned.issues).find("pulled"), std::string::npos) << All(turned.issues);
  ExpectNear(Read(turned, 0), {-Read(pulled, 0).force, -Read(pulled, 0).moment});
}

// Somebody stood on the plate in the frames that the file calls empty, and left it: it then read
// the whole weight with the wrong sign, and nobody said so.
TEST_F(ForcePlatform, AZeroTakenUnderLoadIsSaidAndTheChannelsOwnIsOffered) {
  auto made = PlateFile(2, {0, 0, 0, 0, 0, 0}, {0, 0, -40});
  for (auto& extra : made.extras) {
    if (extra.name == "ZERO") extra.numbers = {1, 5};
  }
  const auto load = [](int last) {
    return [last](int t, int c) { return 100 + (c == 2 && t < last ? -23'200 : 0); };
  };
  made.sample = load(40);  // the first half: 23200 x 0.125 = 2900 N
  const ReadFile file = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
  EXPECT_THAT(All(file.issues), HasSubstr("warning: force platform 1: carries 2.9e+03 N"));
  EXPECT_NEAR(Read(file, 79).force.z(), 2900, 1) << "as the file says";
  const ReadFile raw =
      testing::ReadAll(OpenC3d(made.Build(), "made.c3d", {.plate_zero = C3dPlateZero::kChannels}));
  EXPECT_NEAR(Read(raw, 79).force.z(), 0, 1e-9);
  EXPECT_NEAR(Read(raw, 0).force.z(), -2900, 1);
  EXPECT_EQ(All(raw.issues).find("carries"), std::string::npos);
  // An amplifier that drifted by as much, on a plate that nobody left: nothing to say.
  made.sample = [](int t, int c) { return 100 + (c == 2 ? -23'200 - (t > 40 ? 4000 : 0) : 0); };
  const ReadFile drifted = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
  EXPECT_EQ(All(drifted.issues).find("carries"), std::string::npos) << All(drifted.issues);
}

TEST_F(ForcePlatform, Type3WithoutDistancesHasNoMomentsAndThatIsSaid) {
  const std::vector<int> counts = {80, -160, 240, 40, -1600, -2400, -800, -1200};
  const auto said = [&](const std::vector<double>& origin) {
    return All(testing::ReadAll(OpenC3d(PlateFile(3, counts, origin).Build(), "made.c3d")).issues);
  };
  EXPECT_THAT(said({0, 0, 0}), HasSubstr("warning: force platform 1: is of type 3 and its ORIGIN"));
  EXPECT_EQ(said({220, 150, -50}).find("force platform 1"), std::string::npos);
}

TEST_F(ForcePlatform, Type3EightShearAndNormalForces) {
  const double a = 0.22, b = 0.15, depth = 0.05;  // transducers at (+-a, +-b), below the surface
  const std::vector<int> counts = {80, -160, 240, 40, -1600, -2400, -800, -1200};
  const auto made = PlateFile(3, counts, {220, 150, -50});
  const ReadFile file = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
  for (const int t : {0, 7}) {
    std::vector<double> v;
    for (const int c : counts) v.push_back(kScale * (c + t));
    // One by one: fx12 at y = +b, fx34 at y = -b, fy14 at x = +a, fy23 at x = -a, fz1..4 at
    // (a, b), (-a, b), (-a, -b), (a, -b).
    const std::vector<std::pair<Vec3, Vec3>> loads = {
        {{0, b, depth}, {v[0], 0, 0}},   {{0, -b, depth}, {v[1], 0, 0}},
        {{a, 0, depth}, {0, v[2], 0}},   {{-a, 0, depth}, {0, v[3], 0}},
        {{a, b, depth}, {0, 0, v[4]}},   {{-a, b, depth}, {0, 0, v[5]}},
        {{-a, -b, depth}, {0, 0, v[6]}}, {{a, -b, depth}, {0, 0, v[7]}}};
    WrenchInLab sum{Vec3::Zero(), Vec3::Zero()};
    for (const auto& [at, force] : loads) {
      const WrenchInLab one = Action(force, at, Vec3::Zero());
      sum.force += one.force;
      sum.moment += one.moment;
    }
    ExpectNear(Read(file, t), sum);
  }
}

/// Not symmetric, so that rows and columns cannot be mistaken.
double MatrixElement(int row, int column) {
  return (row == column ? (row < 3 ? 2.0 : 500.0) : 0.0) + 0.01 * (row + 1) - 0.02 * (column + 2);
}

std::vector<double> MatrixAsStored() {  // the first index, the row, runs fastest
  std::vector<double> stored;
  for (int column = 0; column < 6; ++column) {
    for (int row = 0; row < 6; ++row) stored.push_back(MatrixElement(row, column));
  }
  return stored;
}

TEST_F(ForcePlatform, Type4CalibrationMatrix) {
  const Vec3 origin_m(0.003, 0.001, -0.03);
  const std::vector<int> counts = {160, -240, -3200, 80, -120, 90};
  const auto made = PlateFile(4, counts, {3, 1, -30}, MatrixAsStored());
  const ReadFile file = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
  for (const int t : {0, 7}) {
    double w[6] = {};
    for (int row = 0; row < 6; ++row) {
      for (int column = 0; column < 6; ++column)
        w[row] += MatrixElement(row, column) * kScale * (counts[static_cast<size_t>(column)] + t);
    }
    ExpectNear(Read(file, t),
               Action({w[0], w[1], w[2]}, -origin_m, {1e-3 * w[3], 1e-3 * w[4], 1e-3 * w[5]}));
  }
}

TEST_F(ForcePlatform, OthersAreKeptAsRawChannelsAndNamed) {
  for (const int type : {0, 5, 6, 7, 11, 12, 21}) {
    SCOPED_TRACE(type);
    const auto made = PlateFile(type, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 0, -40});
    const ReadFile file = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
    EXPECT_THAT(All(file.issues),
                HasSubstr("warning: force platform 1: is of type " + std::to_string(type) +
                          ", which C3D does not define: its channels are kept "
                          "as analog"));
    EXPECT_FALSE(AnyLoss(file.issues));
    EXPECT_TRUE(file.clip.force_sensors().empty());
    EXPECT_TRUE(file.clip.FindStreams("c3d/plate1").empty());
    for (int c = 0; c < 8; ++c)
      EXPECT_EQ(testing::Column(file.clip, "c3d/analog", "C" + std::to_string(c + 1))[10],
                kScale * (c + 1 + 10));
  }
}

TEST_F(ForcePlatform, WhatSaysTooLittleIsKeptAsRawChannelsAndNamed) {
  const auto said = [](const C3dBytes& made) {
    const ReadFile file = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
    EXPECT_TRUE(file.clip.force_sensors().empty());
    EXPECT_EQ(file.clip.FindStreams("c3d/analog")[0]->channel_count(), made.channels);
    return All(file.issues);
  };
  EXPECT_THAT(said(PlateFile(4, {1, 2, 3, 4, 5, 6}, {0, 0, -40})),
              HasSubstr("is of type 4 and has no 6 x 6 CAL_MATRIX"));
  EXPECT_THAT(said(PlateFile(2, {1, 2, 3, 4}, {0, 0, -40})), HasSubstr("names too few channels"));
  C3dBytes made = PlateFile(2, {1, 2, 3, 4, 5, 6}, {0, 0, -40});
  for (auto& extra : made.extras) {
    if (extra.name == "CHANNEL") extra.numbers[2] = 99;
  }
  EXPECT_THAT(said(made), HasSubstr("names a channel that there is not"));
}

/// ezc3d's platform module: force and moment about the surface's centre, in the lab, as the file
/// has them (the reaction), N and N mm.
WrenchInLab Ezc3d(const std::string& path, int t) {
  const ezc3d::c3d c3d(path);
  const ezc3d::Modules::ForcePlatforms plates(c3d);
  const auto& plate = plates.forcePlatform(0);
  const auto& f = plate.forces()[static_cast<size_t>(t)];
  const auto& m = plate.moments()[static_cast<size_t>(t)];
  const Vec3 force = -Vec3(f(0), f(1), f(2)), moment = -1e-3 * Vec3(m(0), m(1), m(2));
  return {force, kCentre_m.cross(force) + moment};
}

// The oracle for types 2, 3 and 4 (formats.md 1.3); of type 1 ezc3d 1.7.2 has the moment's sign
// the other way round: README.md, Decisions.
TEST_F(ForcePlatform, Ezc3dAgreesOnTypes2To4AndTurnsTheMomentOfType1) {
  const std::vector<int> six = {160, -240, -6400, 960, -480, 12'000};
  const std::vector<int> eight = {80, -160, 240, 40, -1600, -2400, -800, -1200};
  for (const auto& [type, counts, origin, matrix] :
       {std::tuple(2, six, std::vector<double>{1, -2, -40}, std::vector<double>{}),
        std::tuple(3, eight, std::vector<double>{220, 150, -50}, std::vector<double>{}),
        std::tuple(4, six, std::vector<double>{3, 1, -30}, MatrixAsStored())}) {
    SCOPED_TRACE(type);
    const std::string path = PutFile("plate.c3d", PlateFile(type, counts, origin, matrix).Build());
    const ReadFile file = testing::ReadAll(OpenC3d(path));
    for (const int t : {0, 7}) ExpectNear(Read(file, t), Ezc3d(path, t));
  }
  const std::string path = PutFile("one.c3d", PlateFile(1, six, {0, 0, 0}).Build());
  const WrenchInLab ours = Read(testing::ReadAll(OpenC3d(path)), 0), theirs = Ezc3d(path, 0);
  EXPECT_LT((ours.force - theirs.force).norm(), 1e-3);
  EXPECT_GT((ours.moment - theirs.moment).norm(), 0.1 * ours.moment.norm())
      << "a better ezc3d: decide again";
}

// What a clip keeps of the file it came from (its parameters) has the corners; a sensor has not.
TEST_F(ForcePlatform, AnExportHasTheCornersTheFileHadOrSaysThatItAssumesThem) {
  const std::vector<int> counts = {160, -240, -6400, 960, -480, 12'000};
  for (const char* unit : {"mm", "m"}) {
    SCOPED_TRACE(unit);
    const double per_mm = unit == std::string("m") ? 1e-3 : 1.0;
    C3dBytes made = PlateFile(2, counts, {1 * per_mm, -2 * per_mm, -40 * per_mm});
    made.unit = unit;
    for (auto& extra : made.extras) {
      if (extra.name != "CORNERS") continue;
      for (double& number : extra.numbers) number *= per_mm;
    }
    const auto source = OpenC3d(made.Build(), "made.c3d").value();
    const auto corners = C3dCorners(source->documents().at(kC3dParametersDocument));
    ASSERT_EQ(corners.size(), 1u);
    const ReadFile file = testing::ReadAll(OpenC3d(made.Build(), "made.c3d"));
    const std::string path = Path("again.c3d");
    const ExportReport report = WriteC3d(file.clip, path, {.corners_m = corners}).value();
    EXPECT_THAT(All(report.issues), HasSubstr("the corners are those of the file it came from"));
    const auto again = OpenC3d(path).value();
    const auto back = C3dCorners(again->documents().at(kC3dParametersDocument)).at("c3d/plate1");
    const std::vector<double> want_mm = Corners_mm();
    for (size_t k = 0; k < 12; ++k)
      EXPECT_NEAR(1e3 * back[k / 3](static_cast<Eigen::Index>(k % 3)), want_mm[k], 1e-3) << k;
    const ReadFile reread = testing::ReadAll(OpenC3d(path));
    for (const int t : {0, 7}) ExpectNear(Read(reread, t), Read(file, t));
    const geometry::RigidTransform &a = file.clip.FindForceSensor("plate1")->X_MS,
                                   &b = reread.clip.FindForceSensor("plate1")->X_MS;
    EXPECT_LT((a.p - b.p).norm(), 1e-6);
    EXPECT_LT((a.R - b.R).norm(), 1e-6);
    fs::remove(path);
  }
  // Not known, and of a plate that stands otherwise: assumed, and said.
  const ReadFile file =
      testing::ReadAll(OpenC3d(PlateFile(2, counts, {0, 0, -40}).Build(), "made.c3d"));
  std::map<std::string, std::array<Vec3, 4>> turned;
  turned["c3d/plate1"] = {Vec3(1, 1, 0), Vec3(0, 1, 0), Vec3(0, 0, 0), Vec3(1, 0, 0)};
  for (const auto& corners : {std::map<std::string, std::array<Vec3, 4>>{}, turned}) {
    const std::string path = Path("assumed.c3d");
    const ExportReport report = WriteC3d(file.clip, path, {.corners_m = corners}).value();
    EXPECT_THAT(All(report.issues), HasSubstr("CORNERS is an assumed square of 100 mm"));
    const ReadFile reread = testing::ReadAll(OpenC3d(path));
    ExpectNear(Read(reread, 0), Read(file, 0));
    fs::remove(path);
  }
}

}  // namespace
}  // namespace handhold::exchange::force_platform_test
