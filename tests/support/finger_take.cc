#include "tests/support/finger_take.h"

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "tests/support/marker_motion.h"

namespace handhold::test_support {
namespace {

constexpr double kRateHz = 7000;
constexpr int kPerFrame = 14;  // 500 Hz

/// Minimum-jerk way between two postures.
Joints Blend(const Joints& a, const Joints& b, double s) {
  return a + (b - a) * (10 * s * s * s - 15 * s * s * s * s + 6 * s * s * s * s * s);
}

}  // namespace

model::Skeleton PlanarHand(const PlanarFinger& finger) {
  model::SkeletonDraft draft;
  draft.name = "planar";
  draft.side = "right";
  const char* bodies[] = {"palm", "index.prx", "index.mid", "index.dst"};
  const char* joints[] = {"R.wrist", "R.index.mcp", "R.index.pip", "R.index.dip"};
  for (size_t i = 0; i < 4; ++i) {
    model::Body body;
    body.name = bodies[i];
    body.parent = static_cast<int>(i);
    body.joint.type = model::JointType::kHinge;
    body.joint.name = joints[i];
    body.joint.dof_names = {"flex"};
    body.joint.axes[0] = -geometry::Vec3::UnitY();
    if (i > 0) body.joint.X_PJp.p.x() = finger.length_m[i - 1];
    const double m = finger.mass_kg[i], l = finger.body_length_m[i], r = finger.radius_m[i];
    body.mass.mass_kg = m;
    body.mass.p_BCom.x() = 0.5 * l;
    body.mass.I_BCom_B =
        geometry::Vec3(m * r * r / 2, m * (l * l / 12 + r * r / 4), m * (l * l / 12 + r * r / 4))
            .asDiagonal();
    if (i == 3) {
      model::BodyShape tip;
      tip.name = "tip";
      tip.X_BS.p.x() = finger.length_m[3];
      tip.shape = geometry::Sphere{finger.tip_radius_m};
      body.shapes.push_back(tip);
    }
    draft.bodies.push_back(body);
  }
  const double markers[9][4] = {
      {1, .018, .012, .018},  {1, .022, -.011, .018}, {1, .066, .003, .018},
      {2, .011, .003, .011},  {2, .034, -.003, .011}, {3, .006, -.003, .0105},
      {3, .020, .003, .0105}, {4, .005, .0025, .009}, {4, .015, -.0025, .009}};
  for (int m = 0; m < 9; ++m) {
    model::MarkerAttachment marker;
    marker.name = "M" + std::to_string(m);
    marker.body = static_cast<int>(markers[m][0]);
    marker.p_BM = geometry::Vec3(markers[m][1], markers[m][2], markers[m][3]);
    draft.markers.push_back(marker);
  }
  model::NamedFrame tip;
  tip.name = "index.tip";
  tip.body = 4;
  tip.X_BF.p.x() = finger.length_m[3];
  draft.frames.push_back(tip);
  model::ContactSite pad;
  pad.name = "index.pad";
  pad.body = 4;
  pad.shapes = {draft.bodies[3].shapes.front().name};
  pad.p_BS = tip.X_BF.p - geometry::Vec3(0, 0, 0.006);
  pad.normal_B = -geometry::Vec3::UnitZ();
  draft.sites.push_back(pad);
  auto built = model::Skeleton::Build(draft);
  if (!built) {
    std::cerr << built.error().message << "\n";
    std::abort();
  }
  return *std::move(built);
}

FingerTake MakeTake(const TakePlan& plan) {
  const PlanarFinger finger;
  const Plate surface;
  std::mt19937 random(plan.seed);
  std::normal_distribution<double> white(0, 1);
  std::uniform_real_distribution<double> speed(plan.min_speed_m_per_s, plan.max_speed_m_per_s),
      push(plan.min_force_N, plan.max_force_N);
  std::vector<Joints> theta, theta_free;  // at 7 kHz
  std::vector<Eigen::Vector2d> force;
  std::vector<recording::Event> events;
  std::vector<double> onsets, releases;
  for (int s = 0; s < plan.free_strokes + plan.contact_strokes; ++s) {
    const bool touches = s >= plan.free_strokes;
    const Joints posture = plan.postures_deg[static_cast<size_t>(s) % plan.postures_deg.size()];
    const Stroke stroke =
        DrawStroke(finger, plan.impedance, surface, posture, speed(random), push(random), &random);
    const double duration = 1.3;
    const Run free = Simulate(finger, plan.impedance, stroke.program, nullptr, duration);
    const Run run =
        touches ? Simulate(finger, plan.impedance, stroke.program, &surface, duration) : free;
    if (!theta.empty()) {
      const Joints from = theta.back(), to = run.theta.front();
      const int blend = 2800;
      for (int i = 1; i <= blend; ++i) {
        theta.push_back(Blend(from, to, static_cast<double>(i) / blend));
        theta_free.push_back(theta.back());
        force.push_back(Eigen::Vector2d::Zero());
      }
    }
    const double begin = static_cast<double>(theta.size()) / kRateHz;
    recording::Event event;
    event.kind = "stroke";
    event.clip_time = Timestamp::FromSeconds(begin);
    event.length = Duration::FromSeconds(duration);
    event.text = touches ? "exploring" : "free";
    events.push_back(event);
    if (touches) onsets.push_back(begin + run.onset_s), releases.push_back(begin + run.release_s);
    theta.insert(theta.end(), run.theta.begin(), run.theta.end());
    theta_free.insert(theta_free.end(), free.theta.begin(), free.theta.end());
    force.insert(force.end(), run.force.begin(), run.force.end());
  }

  FingerTake take{PlanarHand(finger),
                  {},
                  {},
                  recording::Clip(recording::ClipInfo{}),
                  {},
                  {},
                  {},
                  onsets,
                  releases};
  take.plate.name = "plate";
  take.plate.surface_compliance_m_per_N = 1 / surface.stiffness;
  model::PropShape box;
  box.name = "top";
  box.X_PS.p.z() = -0.01;
  box.shape = geometry::Box{geometry::Vec3(0.4, 0.4, 0.02)};
  take.plate.shapes.push_back(box);
  take.X_WPlate.p << 0.12, 0.0, surface.height_m;
  const int frames = static_cast<int>(theta.size()) / kPerFrame;
  for (int i = 0; i < frames; ++i) {
    take.theta.push_back(theta[static_cast<size_t>(i * kPerFrame)]);
    take.theta_free.push_back(theta_free[static_cast<size_t>(i * kPerFrame)]);
    take.force.push_back(force[static_cast<size_t>(i * kPerFrame)]);
  }
  take.clip = MarkerClip(
      take.skeleton,
      [&](double t) {
        return Eigen::VectorXd(take.theta[static_cast<size_t>(std::lround(t * 500))]);
      },
      frames, plan.marker_noise_m, plan.seed + 1000, [](int, int) { return false; });

  recording::StreamInfo info;
  info.name = "plate/wrench";
  info.kind = recording::StreamKind::kForceTorque;
  info.rate = {7000, 1};
  for (const char* c : {"fx", "fy", "fz", "tx", "ty", "tz"})
    info.channels.push_back({c, "count", 0});
  const int id = take.clip.AddStream(
      info, recording::ClockMap::Identity(std::llround(plan.force_late_s * 1e9)));
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.stream_id = id;
  sensor.calibration = Eigen::Matrix<double, 6, 6>::Identity() * 1e-3;
  sensor.bias = Eigen::VectorXd::Constant(6, 25.0);
  sensor.sign = plan.sensor_sign;
  const double c = std::cos(0.5236), s = std::sin(0.5236);
  sensor.X_MS.R << c, -s, 0, s, c, 0, 0, 0, 1;
  sensor.X_MS.p << 0.12, 0.01, surface.height_m - 0.03;
  take.clip.AddForceSensor(sensor);
  recording::SampleBlock block;
  block.stream_id = id;
  block.count = static_cast<int>(theta.size());
  block.values.resize(6 * theta.size());
  for (int i = 0; i < block.count; ++i) {
    const auto k = static_cast<size_t>(i);
    const Eigen::Vector2d tip = finger.Tip(theta[k]);
    const Eigen::Vector3d on_object(-force[k].x(), 0, -force[k].y());
    const Eigen::Vector3d at(tip.x(), 0, tip.y() - finger.tip_radius_m);
    const Eigen::Vector3d f_S = sensor.X_MS.R.transpose() * on_object;
    const Eigen::Vector3d m_S = sensor.X_MS.R.transpose() * (at - sensor.X_MS.p).cross(on_object);
    for (int a = 0; a < 3; ++a) {
      block.value(a, i) = 25.0 + 1e3 * (f_S[a] + plan.force_noise_N * white(random));
      block.value(3 + a, i) = 25.0 + 1e3 * (m_S[a] + plan.torque_noise_Nm * white(random));
    }
  }
  take.clip.Append(block);
  for (recording::Event& e : events) take.clip.AddEvent(e);
  return take;
}

}  // namespace handhold::test_support
