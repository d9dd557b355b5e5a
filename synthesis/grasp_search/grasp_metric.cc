#include "synthesis/grasp_search/grasp_metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kCentimetresPerMetre = 100.0;

double Angle(const Vec3& u, const Vec3& v) { return std::atan2(u.cross(v).norm(), u.dot(v)); }

}  // namespace

Result<std::vector<GraspSensor>> PaperSensors(const HandSurface& hand) {
  const model::Skeleton& skeleton = hand.skeleton();
  std::vector<std::pair<std::string, HandGroup>> names = {
      {"thumb.mtc.pad", HandGroup::kThumb}, {"thumb.prx.pad", HandGroup::kThumb},
      {"thumb.pad", HandGroup::kThumb},     {"palm", HandGroup::kPalm},
      {"palm.index", HandGroup::kPalm},     {"palm.little", HandGroup::kPalm}};
  for (const char* finger : {"index", "middle", "ring", "little"}) {
    for (const char* part : {".prx.pad", ".mid.pad", ".pad"})
      names.emplace_back(std::string(finger) + part, HandGroup::kFingers);
  }
  std::vector<GraspSensor> sensors;
  for (const auto& [name, group] : names) {
    const auto site = std::ranges::find_if(skeleton.sites(), [&, wanted = name](const auto& s) {
      return s.name.size() > 2 && s.name.substr(2) == wanted;
    });
    if (site == skeleton.sites().end()) {
      return Error{ErrorCode::kUnsupported,
                   "hand '" + skeleton.name() + "' has no contact site '" + name + "'"};
    }
    sensors.push_back({site->body, site->p_BS, group});
  }
  return sensors;
}

std::vector<std::pair<int, int>> OpposingPairs(const std::vector<GraspSensor>& sensors) {
  std::vector<std::pair<int, int>> pairs;
  for (size_t i = 0; i < sensors.size(); ++i) {
    for (size_t j = i + 1; j < sensors.size(); ++j) {
      if (sensors[i].group != sensors[j].group)
        pairs.emplace_back(static_cast<int>(i), static_cast<int>(j));
    }
  }
  return pairs;
}

GraspMetric::GraspMetric(const HandSurface& hand, const HeldObject& object,
                         std::vector<GraspSensor> sensors, const artefact::SpaceDensity* density,
                         const GraspMetricOptions& options)
    : hand_(hand),
      object_(object),
      sensors_(std::move(sensors)),
      pairs_(OpposingPairs(sensors_)),
      density_(density),
      options_(options),
      data_(hand.skeleton()),
      felt_(sensors_.size()) {}

double GraspMetric::Eq6(const RigidTransform& X_PH, const Eigen::VectorXd& shape) {
  model::ComputePoses(hand_.skeleton(), hand_.Configuration(X_PH, shape), &data_);
  // What a sensor brings to each of its pairs.
  std::array<double, 64> alone;
  for (size_t i = 0; i < sensors_.size(); ++i) {
    const Vec3 p = data_.X_WB[static_cast<size_t>(sensors_[i].body)] * sensors_[i].p_B;
    Felt& felt = felt_[i];
    const double bound =
        felt.asked
            ? (std::abs(felt.answer.distance_m) + (p - felt.sensor_P).norm()) * (1 + 1e-9) + 1e-9
            : std::numeric_limits<double>::infinity();
    felt.answer = object_.Closest(p, bound);
    felt.sensor_P = p;
    felt.asked = true;
    alone[i] = kCentimetresPerMetre * std::abs(felt.answer.distance_m) +
               (felt.answer.distance_m < -options_.violation_depth_m ? options_.violation : 0.0);
  }
  double m = 0.0;
  for (const auto& [i, j] : pairs_) {
    const Felt &f1 = felt_[static_cast<size_t>(i)], &f2 = felt_[static_cast<size_t>(j)];
    const Vec3 line = f2.answer.p_P - f1.answer.p_P;
    // Into the object from each side; where both touch the same point there is no line.
    const bool apart = line.squaredNorm() > 1e-18;
    const double alpha1 = apart ? Angle(line, -f1.answer.normal_P) : M_PI / 2;
    const double alpha2 = apart ? Angle(line, f2.answer.normal_P) : M_PI / 2;
    m += alone[static_cast<size_t>(i)] + alpha1 + alone[static_cast<size_t>(j)] + alpha2;
  }
  return m;
}

double GraspMetric::Evaluate(const RigidTransform& X_PH, const Eigen::VectorXd& a) {
  const double m = Eq6(X_PH, hand_.ClampedToLimits(density_->Expand(a)));
  if (!(options_.unnatural > 0)) return m;
  const double below = density_->log_threshold() - density_->LogLikelihood(a);
  return below > 0 ? m + options_.unnatural + below : m;
}

int GraspMetric::StablePairs(double touch_m) const {
  int stable = 0;
  for (const auto& [i, j] : pairs_) {
    const Felt &f1 = felt_[static_cast<size_t>(i)], &f2 = felt_[static_cast<size_t>(j)];
    if (std::abs(f1.answer.distance_m) > touch_m || std::abs(f2.answer.distance_m) > touch_m)
      continue;
    const Vec3 line = f2.answer.p_P - f1.answer.p_P;
    if (line.squaredNorm() < 1e-18) continue;
    stable += Angle(line, -f1.answer.normal_P) < options_.cone_rad &&
              Angle(line, f2.answer.normal_P) < options_.cone_rad;
  }
  return stable;
}

double GraspMetric::deepest_m() const {
  double deepest = 0.0;
  for (const Felt& felt : felt_) deepest = std::max(deepest, -felt.answer.distance_m);
  return deepest;
}

}  // namespace handhold::synthesis
