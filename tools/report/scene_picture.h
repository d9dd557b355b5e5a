/// Draws a hand and the props it touches, by ray casting on the CPU: the pictures of a report.
///
/// What is drawn is what is computed with: the skeleton's collision shapes and the prop's shapes,
/// in metres. Between neighbouring shapes of the hand the surface is rounded over for the eye, and
/// a segment whose shapes leave its joint bare gets a connecting capsule; neither is used in any
/// computation. Deterministic; one thread. Cost: about a second per 720 x 400 picture in release.
/// Tests: tests/tools/report/scene_picture_test.cc.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "tools/report/figure.h"

namespace handhold::report {

/// Where the picture is taken from. Pixels: x to the right, y down, (0, 0) the top left corner.
struct Camera {
  geometry::Vec3 eye_W = geometry::Vec3(0, -1, 0.3);
  geometry::Vec3 target_W = geometry::Vec3::Zero();
  double field_of_view_deg = 24.0;  ///< of the width
  int width = 720, height = 400;

  /// Pixel of a point in front of the eye, and its distance along the view direction.
  geometry::Vec3 Project(const geometry::Vec3& p_W) const;
  /// Unit direction in W of the ray through a pixel.
  geometry::Vec3 Ray(double x, double y) const;
};

/// A camera that looks across the plate at `focus_W`, showing `width_m` of it: from the hand's
/// right side (-Y), a little above.
Camera SideView(const geometry::Vec3& focus_W, double width_m);

struct PosedHand {
  Eigen::VectorXd q;
  double opacity = 1.0;  ///< earlier instants of a motion fainter
};

struct PictureScene {
  const model::Skeleton* skeleton = nullptr;  ///< not owned; null: no hand
  std::vector<PosedHand> hands;               ///< in order: later ones over earlier ones
  struct Placed {
    const model::Prop* prop = nullptr;  ///< not owned
    geometry::RigidTransform X_WP;
  };
  std::vector<Placed> props;
  bool markers = true;  ///< the last hand's markers as small spheres
  /// Props fade out between these distances from the camera's target, so that a plate needs no
  /// edge.
  double fade_begin_m = 0.11, fade_end_m = 0.17;
};

/// Ray-casts the scene: 2 x 2 rays per pixel, one light with soft shadows, background transparent.
/// Precondition: every q has the skeleton's nq.
Image DrawScene(const PictureScene& scene, const Camera& camera);

/// Marks for a force: an arrow that ends (points) along f from p, `pixels_per_N` long per newton,
/// and its size in words beside it.
std::vector<Mark> ForceMarks(const Camera& camera, const geometry::Vec3& p_W,
                             const geometry::Vec3& f_W, double m_per_N);

/// The props' upper side cut along x through `at_W`, `half_width_m` to both sides: what a shaded
/// slope of a few degrees does not show. Nothing where no prop is below a metre above `at_W`.
std::vector<Mark> ProfileMarks(const PictureScene& scene, const Camera& camera,
                               const geometry::Vec3& at_W, double half_width_m);

}  // namespace handhold::report
