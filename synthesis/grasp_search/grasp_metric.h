/// The paper's own grasp metric: 18 proximity sensors, 81 opposing pairs, equations 5 and 6 of Ben
/// Amor 2008.
///
///   M = sum over pairs of (d1 + alpha1 + v1) + (d2 + alpha2 + v2)
///
/// The paper gives no units; ours: d in centimetres (unsigned distance of a sensor to the surface),
/// alpha in radians (between the line of the two nearest surface points and each inward normal), v
/// = 100 for a sensor deeper than 2 mm. What is computed once per sensor (d, v) enters once for
/// each pair that it belongs to. A shape below the space's threshold costs `unnatural` + (log tau -
/// log p): graded, since a flat penalty is a plateau on which optimisers end. The metric sees 18
/// points and says little about holding; it is here as published. Not thread-safe: one per thread.
/// Pinned by tests/synthesis/grasp_search/grasp_metric_test.cc.
#pragma once

#include <utility>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/space_density.h"
#include "synthesis/grasp_search/hand_surface.h"
#include "synthesis/grasp_search/held_object.h"

namespace handhold::synthesis {

struct GraspSensor {
  int body = 0;
  geometry::Vec3 p_B = geometry::Vec3::Zero();  ///< on the skin: a contact site's middle
  HandGroup group = HandGroup::kPalm;
};

/// One on each finger segment (15) and three on the palm, at the hand's contact sites; kUnsupported
/// names the site that is missing.
Result<std::vector<GraspSensor>> PaperSensors(const HandSurface& hand);
/// Pairs of sensors of different groups: 3 x 12 + 3 x 3 + 12 x 3 = 81 of PaperSensors.
std::vector<std::pair<int, int>> OpposingPairs(const std::vector<GraspSensor>& sensors);

struct GraspMetricOptions {
  double violation = 100.0;          ///< V of eq. 5
  double violation_depth_m = 0.002;  ///< a sensor deeper than this penetrates
  double unnatural = 1000.0;         ///< of a shape below the threshold; 0: not asked
  double cone_rad = 0.5404;          ///< phi: atan of the friction, 0.6; only for Stable
};

class GraspMetric {
 public:
  /// All must outlive the metric. `density` null: shapes are not judged.
  GraspMetric(const HandSurface& hand, const HeldObject& object, std::vector<GraspSensor> sensors,
              const artefact::SpaceDensity* density, const GraspMetricOptions& options = {});

  /// M of a root pose in the prop's frame and a shape given by coordinates of the space. Keeps each
  /// sensor's last distance: the next query is bounded by it and the way since.
  double Evaluate(const geometry::RigidTransform& X_PH, const Eigen::VectorXd& a);
  /// M of eq. 6 alone, of any shape.
  double Eq6(const geometry::RigidTransform& X_PH, const Eigen::VectorXd& shape);
  /// Pairs of the last evaluation that touch within `touch_m` and lie in both cones.
  int StablePairs(double touch_m) const;
  double deepest_m() const;  ///< of the last evaluation's sensors; 0: none is inside

 private:
  struct Felt {
    geometry::Vec3 sensor_P = geometry::Vec3::Zero();
    HeldObject::Answer answer;
    bool asked = false;
  };
  const HandSurface& hand_;
  const HeldObject& object_;
  std::vector<GraspSensor> sensors_;
  std::vector<std::pair<int, int>> pairs_;
  const artefact::SpaceDensity* density_;
  GraspMetricOptions options_;
  model::KinematicsData data_;
  std::vector<Felt> felt_;
};

}  // namespace handhold::synthesis
