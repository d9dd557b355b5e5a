#include "tools/lab/sensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tools/lab/random.h"

namespace handhold::lab {
namespace {

using geometry::Vec3;
using geometry::Vec6;

/// The force on the plate and its torque about W's origin at any instant: straight lines between
/// the middles of steps.
class PlateLoad {
 public:
  PlateLoad(const std::vector<WrenchTrace>& traces, double step_s) : traces_(traces), h_(step_s) {}
  Vec6 At(double t_s) const {
    const auto after =
        std::upper_bound(traces_.begin(), traces_.end(), t_s,
                         [](double t, const WrenchTrace& w) { return t < w.begin_s; });
    if (after == traces_.begin()) return Vec6::Zero();
    const WrenchTrace& trace = *std::prev(after);
    const double x = (t_s - trace.begin_s) / h_ - 0.5;
    const auto i = static_cast<Eigen::Index>(std::floor(x));
    if (i < 0 || i + 1 >= trace.rows.rows()) return Vec6::Zero();
    const double s = x - static_cast<double>(i);
    return ((1 - s) * trace.rows.row(i) + s * trace.rows.row(i + 1)).transpose();
  }

 private:
  const std::vector<WrenchTrace>& traces_;
  double h_;
};

/// A causal Butterworth filter of second order, by the bilinear transform; it begins at rest on its
/// first sample.
class LowPass {
 public:
  LowPass(double cutoff_hz, double rate_hz) {
    const double k = std::tan(std::numbers::pi * cutoff_hz / rate_hz);
    const double norm = 1.0 / (1.0 + std::numbers::sqrt2 * k + k * k);
    b_ = k * k * norm;
    a1_ = 2.0 * (k * k - 1.0) * norm;
    a2_ = (1.0 - std::numbers::sqrt2 * k + k * k) * norm;
  }
  double Next(double x) {
    if (!begun_) {  // the state in which a constant x passes unchanged
      begun_ = true;
      z2_ = (b_ - a2_) * x;
      z1_ = z2_ + (2.0 * b_ - a1_) * x;
    }
    const double y = b_ * x + z1_;
    z1_ = 2.0 * b_ * x - a1_ * y + z2_;
    z2_ = b_ * x - a2_ * y;
    return y;
  }

 private:
  double b_ = 1.0, a1_ = 0.0, a2_ = 0.0, z1_ = 0.0, z2_ = 0.0;
  bool begun_ = false;
};

/// One per channel, or none where `cutoff_hz` is 0.
std::vector<LowPass> Filters(double cutoff_hz, double rate_hz, size_t channels) {
  if (cutoff_hz == 0.0) return {};
  return {channels, LowPass(cutoff_hz, rate_hz)};
}

void SenseMarkers(const Laboratory& lab, const EngineRecord& captured, const PlateLoad& load,
                  SensorFeed::Data* data) {
  const SensorOptions& options = lab.options.sensor;
  const auto& markers = lab.skeleton->markers();
  const size_t n = markers.size();
  const int tip_body = lab.skeleton->frames()[static_cast<size_t>(lab.tip_frame)].body;
  Random noise(lab.options.seed, "marker noise");
  const double rate = data->marker_rate_hz * (1.0 + data->marker_clock_ppm * 1e-6);
  const SensorFaults& faults = options.faults;
  std::vector<LowPass> filters = Filters(faults.marker_lowpass_hz, data->marker_rate_hz, 3 * n);
  data->markers_m.resize(captured.markers_W.size());
  const size_t frames = captured.markers_W.size() / (3 * n);
  for (size_t f = 0; f < frames; ++f) {
    Vec3 slip = Vec3::Zero(), give = Vec3::Zero();
    if (faults.skin_slip_m_per_N != 0.0 || faults.forearm_give_m_per_N != 0.0) {
      const Vec3 f_onHand_W = -load.At(static_cast<double>(f) / rate).head<3>();
      slip = faults.skin_slip_m_per_N * f_onHand_W;
      give = faults.forearm_give_m_per_N * f_onHand_W;
    }
    for (size_t m = 0; m < n; ++m) {
      for (size_t k = 0; k < 3; ++k) {
        const size_t at = (f * n + m) * 3 + k;
        double value = captured.markers_W[at];
        if (markers[m].body == tip_body) value += slip[static_cast<Eigen::Index>(k)];
        value += give[static_cast<Eigen::Index>(k)];
        if (options.noise) value += options.marker_noise_m * noise.Normal();
        if (!filters.empty()) value = filters[m * 3 + k].Next(value);
        data->markers_m[at] = static_cast<float>(value);
      }
    }
  }
  if (!options.noise || frames == 0) return;
  Random occlusion(lab.options.seed, "occlusion");
  const double minutes = static_cast<double>(frames) / rate / 60.0;
  const int count = static_cast<int>(std::lround(minutes * options.occlusions_per_minute));
  const auto length = static_cast<size_t>(std::lround(options.occlusion_s * rate));
  for (int i = 0; i < count && length < frames; ++i) {
    const size_t m = static_cast<size_t>(occlusion.Index(static_cast<int>(n)));
    const auto begin =
        static_cast<size_t>(occlusion.Uniform(0.0, static_cast<double>(frames - length)));
    for (size_t f = begin; f < begin + length; ++f) {
      for (size_t k = 0; k < 3; ++k)
        data->markers_m[(f * n + m) * 3 + k] = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

void SenseForce(const Laboratory& lab, const PlateLoad& load, const std::vector<TruthKnock>& knocks,
                double length_s, SensorFeed::Data* data) {
  const SensorOptions& options = lab.options.sensor;
  const SensorFaults& faults = options.faults;
  geometry::RigidTransform X_MS = data->sensor.X_MS;  // where it truly stands
  X_MS.p += faults.sensor_off_W_m;
  std::vector<LowPass> filters = Filters(faults.force_lowpass_hz, data->force_rate_hz, 6);
  Random noise(lab.options.seed, "force noise");
  const double rate = data->force_rate_hz * (1.0 + data->force_clock_ppm * 1e-6);
  const auto count = static_cast<size_t>(std::floor(length_s * rate));
  data->wrench_S.resize(count * 6);
  for (size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / rate;
    Vec6 w = load.At(t);  // force, torque about W's origin, on the plate
    for (const TruthKnock& knock : knocks) {
      const double s = (t - knock.begin_s) / knock.length_s;
      if (s <= 0 || s >= 1) continue;
      const Vec3 f(0, 0, -knock.peak_N * std::sin(std::numbers::pi * s));
      w.head<3>() += f;
      w.tail<3>() += knock.p_W.cross(f);
    }
    Vec3 f_S = X_MS.R.transpose() * w.head<3>();
    Vec3 t_S = X_MS.R.transpose() * (w.tail<3>() - X_MS.p.cross(Vec3(w.head<3>())));
    if (faults.force_crosstalk != 0.0) {
      f_S += faults.force_crosstalk * (Vec3::Constant(f_S.sum()) - f_S);
      t_S += faults.force_crosstalk * (Vec3::Constant(t_S.sum()) - t_S);
    }
    f_S.z() += faults.force_drift_N *
               (t / length_s - 0.5 + 0.1 * std::sin(2 * std::numbers::pi * t / 37.0));
    if (options.noise) {
      for (Eigen::Index k = 0; k < 3; ++k) f_S[k] += options.force_noise_N * noise.Normal();
      for (Eigen::Index k = 0; k < 3; ++k) t_S[k] += options.torque_noise_Nm * noise.Normal();
    }
    for (size_t k = 0; k < 6; ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      double value = k < 3 ? f_S[at] : t_S[at - 3];
      if (!filters.empty()) value = filters[k].Next(value);
      data->wrench_S[i * 6 + k] = static_cast<float>(value);
    }
  }
}

}  // namespace

recording::ForceSensor MakeForceSensor(const geometry::RigidTransform& X_WPlate) {
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.calibration = Eigen::Matrix<double, 6, Eigen::Dynamic>::Identity(6, 6) * 1e-6;  // a Net
                                                                                         // F/T's
                                                                                         // counts
                                                                                         // per N
                                                                                         // and Nm
  sensor.bias = Eigen::VectorXd::Zero(6);
  sensor.X_MS = X_WPlate * geometry::RigidTransform{
                               geometry::AxisAngle<double>(Vec3::UnitZ(), std::numbers::pi / 6),
                               {0.015, -0.010, -0.030}};
  sensor.normal_S = Vec3::UnitZ();
  sensor.full_scale_N = 65.0;
  sensor.serial = "LAB-1";
  return sensor;
}

SensorFeed Sense(const Laboratory& lab, const EngineRecord& captured,
                 const std::vector<TruthTake>& takes, const std::vector<TruthKnock>& knocks) {
  SensorFeed::Data data;
  data.subject = lab.skeleton->name();
  for (const model::MarkerAttachment& marker : lab.skeleton->markers())
    data.marker_names.push_back(marker.name);
  data.marker_clock_ppm = lab.options.sensor.marker_clock_ppm;
  data.force_clock_ppm = lab.options.sensor.force_clock_ppm;
  data.sensor = MakeForceSensor(lab.X_WPlate);
  data.X_WPlate = lab.X_WPlate;
  data.takes = takes;
  const PlateLoad load(captured.traces, lab.options.step_s);
  SenseMarkers(lab, captured, load, &data);
  SenseForce(lab, load, knocks, lab.program.length_s(), &data);
  for (const TruthTake& take : takes)
    data.events.push_back({take.begin_s, take.end_s - take.begin_s, "take", take.name});
  for (const TruthStroke& stroke : lab.program.strokes) {
    data.events.push_back({stroke.begin_s, stroke.end_s - stroke.begin_s, "stroke", stroke.task});
  }
  std::stable_sort(data.events.begin(), data.events.end(),
                   [](const FeedEvent& a, const FeedEvent& b) { return a.begin_s < b.begin_s; });
  return SensorFeed(std::move(data));
}

}  // namespace handhold::lab
