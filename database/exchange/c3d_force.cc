#include "database/exchange/c3d_force.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include <Eigen/Geometry>

namespace handhold::exchange {
namespace {

using geometry::Vec3;

/// Kistler's eight channels (fx12 fx34 fy14 fy23 fz1..fz4) to force and moment about the point
/// midway between the four transducers, a and b half their distances (c3d.org, type 3).
Eigen::MatrixXd KistlerMatrix(double a, double b) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(6, 8);
  m.row(0) << 1, 1, 0, 0, 0, 0, 0, 0;
  m.row(1) << 0, 0, 1, 1, 0, 0, 0, 0;
  m.row(2) << 0, 0, 0, 0, 1, 1, 1, 1;
  m.row(3) << 0, 0, 0, 0, b, b, -b, -b;
  m.row(4) << 0, 0, 0, 0, -a, a, a, -a;
  m.row(5) << -b, b, a, -a, 0, 0, 0, 0;
  return m;
}

constexpr double kJudgedLoad_N = 20.0;
constexpr double kOnPlate = 1.25;    // of the half sides: corners are given roughly
constexpr double kFarBeyond = 20.0;  // no drift of a plate's zero puts the pressure there
constexpr double kThousandth = 1e-3;
constexpr double kEmptyShare = 0.1;     // of the load in the frames that are called empty
constexpr double kEmptySamples = 0.02;  // of a take: more than a foot that is just set down

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// How far from the surface's centre a plate is pressed: the larger of the two shares of its half
/// sides. 1 is an edge.
struct Surface {
  Vec3 centre_S, half_m;  ///< of half_m, x and y
  double Share(const geometry::Vec6& w, double per_moment) const {
    const Vec3 f = w.head<3>();
    const Vec3 m = per_moment * w.tail<3>() - centre_S.cross(f);
    return std::max(std::fabs(m.y() / f.z()) / half_m.x(), std::fabs(m.x() / f.z()) / half_m.y());
  }
  double Share(std::span<const geometry::Vec6> loaded, double per_moment) const {
    std::vector<double> shares;
    for (const geometry::Vec6& w : loaded) shares.push_back(Share(w, per_moment));
    return Median(std::move(shares));
  }
};

}  // namespace

bool PlateAxes(const std::array<Vec3, 4>& c, geometry::RigidTransform& X_WC) {
  const Vec3 x = c[0] - c[1] + c[3] - c[2];
  const Vec3 z = x.cross(c[0] - c[3] + c[1] - c[2]);
  if (!(x.norm() > 1e-6 && z.norm() > 1e-9) || !std::isfinite(z.norm())) return false;
  X_WC.R.col(0) = x.normalized();
  X_WC.R.col(2) = z.normalized();
  X_WC.R.col(1) = X_WC.R.col(2).cross(X_WC.R.col(0));
  X_WC.p = 0.25 * (c[0] + c[1] + c[2] + c[3]);
  return true;
}

double NewtonMetresPerUnit(std::string_view unit, double metres_per_unit) {
  std::string letters;
  for (const char c : unit) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (letters == "nmm" || letters == "ntmm") return 1e-3;
  if (letters == "nm" || letters == "ntm") return 1.0;
  if (letters == "ncm" || letters == "ntcm") return 1e-2;
  return metres_per_unit > 0 ? metres_per_unit : 1e-3;
}

std::array<double, 6> WrenchOfType1(const std::array<double, 6>& v) {
  const Vec3 force(v[0], v[1], v[2]), at(v[3], v[4], 0);
  const Vec3 moment = at.cross(force) + Vec3(0, 0, v[5]);
  return {force.x(), force.y(), force.z(), moment.x(), moment.y(), moment.z()};
}

void JudgePlatform(const C3dPlatform& platform, const std::string& where,
                   std::span<const geometry::Vec6> wrenches_S, recording::ForceSensor& sensor,
                   Issues& issues) {
  const auto warn = [&](const std::string& what) {
    issues.push_back({where, Severity::kWarning, what});
  };
  const bool no_distances = platform.type == 3 && platform.origin_m.head<2>().isZero();
  if (no_distances)
    warn(
        "is of type 3 and its ORIGIN does not say how far apart its transducers are: its moments "
        "are 0, and where it was pressed is not known");
  double pressed_N = 0, pulled_N = 0;
  for (const geometry::Vec6& w : wrenches_S) {
    const double press_N = -w.head<3>().dot(sensor.normal_S);
    if (!std::isfinite(press_N)) continue;
    pressed_N = std::max(pressed_N, press_N);
    pulled_N = std::max(pulled_N, -press_N);
  }
  const double largest_N = std::max(pressed_N, pulled_N);
  if (largest_N < kJudgedLoad_N) return;
  if (pressed_N < 0.05 * pulled_N)
    warn("is only ever pulled, by up to " + Number(pulled_N) +
         " N, and never pressed: a file that holds the force on the plate, not the reaction on the "
         "subject, is read with --plate-sign " +
         (sensor.sign < 0 ? "action" : "reaction"));

  geometry::RigidTransform X_WC;
  if (no_distances || !PlateAxes(platform.corners_m, X_WC)) return;
  std::vector<geometry::Vec6> loaded;
  for (const geometry::Vec6& w : wrenches_S) {
    if (w.allFinite() && std::fabs(w.z()) >= 0.5 * largest_N) loaded.push_back(w);
  }
  if (loaded.empty()) return;
  const auto& c = platform.corners_m;
  const Surface surface{sensor.X_MS.R.transpose() * (X_WC.p - sensor.X_MS.p),
                        {0.25 * ((c[0] - c[1]).norm() + (c[3] - c[2]).norm()),
                         0.25 * ((c[0] - c[3]).norm() + (c[1] - c[2]).norm()), 0}};
  const double as_said = surface.Share(loaded, 1.0);
  const bool has_unit = platform.type == 2 || platform.type == 4;
  const double smaller = surface.Share(loaded, kThousandth);
  const double larger = surface.Share(loaded, 1 / kThousandth);
  if (has_unit && as_said > kFarBeyond && smaller <= kOnPlate) {
    sensor.calibration.bottomRows(3) *= kThousandth;
    warn("its moments put the centre of pressure " + Number(as_said) +
         " half widths away from it: they are 1000 times what their unit says (N mm given as Nm) "
         "and are read so");
  } else if (has_unit && as_said < kThousandth && larger > 0.01 && larger <= kOnPlate) {
    sensor.calibration.bottomRows(3) /= kThousandth;
    warn(
        "its moments never leave its very centre: they are a thousandth of what their unit says "
        "(Nm given as N mm) and are read so");
  } else if (as_said > kOnPlate) {
    warn("is pressed beside its surface (median of the loaded samples: " + Number(as_said) +
         " half widths from its centre), in any unit: CORNERS, ORIGIN or its channels are not what "
         "the file says");
  }
}

void JudgeZero(const std::string& where, const geometry::Vec6& tare_S,
               std::span<const geometry::Vec6> wrenches_S, const recording::ForceSensor& sensor,
               Issues& issues) {
  const double load_N = -tare_S.head<3>().dot(sensor.normal_S);
  if (!(std::fabs(load_N) >= kJudgedLoad_N)) return;
  size_t empty = 0;
  for (const geometry::Vec6& w : wrenches_S)
    empty += (w + tare_S).head<3>().norm() < kEmptyShare * std::fabs(load_N) ? 1 : 0;
  if (static_cast<double>(empty) < kEmptySamples * static_cast<double>(wrenches_S.size()) ||
      empty == 0)
    return;
  issues.push_back(
      {where, Severity::kWarning,
       "carries " + Number(load_N) +
           " N in the frames that FORCE_PLATFORM:ZERO calls empty, by its channels' own offsets, "
           "and "
           "next to nothing in " +
           Number(100.0 * static_cast<double>(empty) / static_cast<double>(wrenches_S.size())) +
           " % of the take, where it now reads " + Number(-load_N) +
           " N: the plate zero 'channels' takes the offsets instead"});
}

std::optional<PlatformPlan> PlanPlatform(const C3dContents& contents, int number, Issues& issues) {
  const C3dPlatform& platform = contents.platforms[static_cast<size_t>(number)];
  const std::string where = "force platform " + std::to_string(number + 1);
  const auto refuse = [&](const std::string& why) {
    issues.push_back({where, Severity::kWarning, why + ": its channels are kept as analog"});
    return std::nullopt;
  };
  if (platform.type < 1 || platform.type > 4)
    return refuse("is of type " + std::to_string(platform.type) + ", which C3D does not define");
  const size_t wanted = platform.type == 3 ? 8 : 6;
  if (platform.channels.size() < wanted) return refuse("names too few channels");
  PlatformPlan plan;
  plan.channels.assign(platform.channels.begin(),
                       platform.channels.begin() + static_cast<std::ptrdiff_t>(wanted));
  for (const int channel : plan.channels) {
    if (channel < 0) return refuse("names a channel that there is not");
  }

  recording::ForceSensor& sensor = plan.sensor;
  Vec3 origin = platform.origin_m;
  if (platform.type != 1 && origin.z() > 0) {
    // The transducers' origin lies below the surface; makers often give the opposite vector. Of
    // type 3 the first two are distances, so only z turns.
    origin = platform.type == 3 ? Vec3(origin.x(), origin.y(), -origin.z()) : Vec3(-origin);
    issues.push_back({where, Severity::kWarning,
                      "ORIGIN says that its origin is above its surface; read with the opposite "
                      "sign"});
  }
  if (!PlateAxes(platform.corners_m, sensor.X_MS))
    issues.push_back({where, Severity::kWarning,
                      "CORNERS give no rectangle: it stands at the "
                      "origin of the lab, axes along the lab's"});
  if (platform.type == 3) origin = Vec3(0, 0, origin.z());
  if (platform.type != 1) sensor.X_MS.p -= sensor.X_MS.R * origin;
  // Plates are touched from above, and their z points down in the guide; of one that stands on
  // edge, the guide's.
  sensor.normal_S = sensor.X_MS.R.col(2).z() > 0.5 ? Vec3::UnitZ() : Vec3(-Vec3::UnitZ());
  sensor.sign = -1.0;

  if (platform.type == 1) {
    plan.is_computed = true;
    sensor.calibration = Eigen::MatrixXd::Identity(6, 6);
    sensor.bias = Eigen::VectorXd::Zero(6);
    return plan;
  }
  Eigen::MatrixXd matrix = platform.type == 3
                               ? KistlerMatrix(platform.origin_m.x(), platform.origin_m.y())
                               : Eigen::MatrixXd(Eigen::MatrixXd::Identity(6, 6));
  if (platform.type == 4) {
    if (platform.calibration_rows != 6 || platform.calibration.size() != 36)
      return refuse("is of type 4 and has no 6 x 6 CAL_MATRIX");
    matrix = Eigen::Map<const Eigen::MatrixXd>(platform.calibration.data(), 6, 6);
    const double metres = contents.metres_per_unit > 0 ? contents.metres_per_unit : 1e-3;
    matrix.bottomRows(3) *= metres;
  }
  sensor.calibration.resize(6, static_cast<Eigen::Index>(wanted));
  sensor.bias.resize(static_cast<Eigen::Index>(wanted));
  for (size_t k = 0; k < wanted; ++k) {
    const C3dChannel& channel = contents.channels[static_cast<size_t>(plan.channels[k])];
    const auto column = static_cast<Eigen::Index>(k);
    const double unit = platform.type == 2 && k >= 3
                            ? NewtonMetresPerUnit(channel.unit, contents.metres_per_unit)
                            : 1.0;
    sensor.calibration.col(column) = matrix.col(column) * (channel.scale * unit);
    sensor.bias(column) = channel.offset;
  }
  return plan;
}

}  // namespace handhold::exchange
