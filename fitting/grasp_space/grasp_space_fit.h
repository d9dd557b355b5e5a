/// From hand shapes to a grasp space (Ben Amor 2008): principal components, mixture, threshold, and
/// a model per type.
///
/// Shapes come as rotation vectors (the exponential map of each joint about the zero configuration;
/// of hinges and universals the angles themselves): HandPoses takes them from stored pose tracks,
/// thinned by spacing, else slow frames dominate; templates bring their own. Pinned by
/// tests/fitting/grasp_space/grasp_space_fit_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/about.h"
#include "database/artefact/grasp_space.h"
#include "database/artefact/pose_track.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/model/skeleton.h"
#include "fitting/grasp_space/gaussian_mixture.h"
#include "fitting/grasp_space/touched_primitive.h"

namespace handhold::fitting {

inline constexpr int kGraspSpaceFitVersion = 3;

/// Shapes of one hand, each with its type.
struct HandPoses {
  std::vector<std::string> dof_names;              ///< n, without the root
  Eigen::MatrixXd shapes_v;                        ///< n x count
  std::vector<std::string> types;                  ///< per column; empty: not labelled
  std::vector<artefact::GraspTemplate> templates;  ///< per column; none: the shapes alone
  bool scripted = false;
  int thinned = 0;          ///< frames left out as too like the one before, or of a span's too many
  int undetermined = 0;     ///< frames left out because markers left a coordinate open
  int holding = 0;          ///< of captured shapes: those with the primitive of the prop they touch
  int holding_unknown = 0;  ///< those that touch a thing without a known prop or place
};

struct TakePosesOptions {
  double spacing_rad = 0.0873;  ///< 5 degrees: the largest angle differs by so much from the last
                                ///< kept
  int most_per_span = 2000;     ///< of more, so many evenly
};
template <typename A>
void Visit(A& a, TakePosesOptions& o) {
  a.Field("spacing_rad", o.spacing_rad);
  a.Field("most_per_span", o.most_per_span);
}

/// Whether markers determined every one of a frame's last `n` coordinates; true where the track
/// says nothing of it.
bool ShapeIsKnown(const artefact::PoseTrack& track, int frame, Eigen::Index n);

/// Adds the shapes of a track within a span (empty: all of it), labelled `type`, each with the
/// primitive of what it touches (null: nothing is known of touches). kInvalid: the
/// track belongs to another hand than the poses so far or the skeleton, by its dof names. Frames in
/// which a coordinate was not determined by the markers are left out.
Status AddPoses(const model::Skeleton& skeleton, const artefact::PoseTrack& track,
                const std::optional<TimeRange>& span, const std::string& type,
                const TakePosesOptions& options, HandPoses* poses,
                const TakeTouches* touches = nullptr);
/// Adds scripted grasps, whose templates come along. kInvalid: captured ones are there already.
Status AddTemplates(const std::vector<std::string>& dof_names,
                    const std::vector<artefact::GraspTemplate>& grasps, HandPoses* poses);

struct GraspSpaceOptions {
  int dims = 8;           ///< 2 or 3 is the paper's own; 0: as many as reach `variance`
  double variance = 0.9;  ///< share, where dims is 0
  double tau_quantile = 0.02;
  double poses_per_dimension = 5.0;  ///< fewer are refused
  /// A type of fewer has no model of its own (type_models.h); 0: as many as dimensions.
  int poses_per_type = 0;
  MixtureOptions mixture = {};
};
template <typename A>
void Visit(A& a, MixtureOptions& o) {
  int seed = static_cast<int>(o.seed);
  a.Field("max_components", o.max_components);
  a.Field("points_per_dimension", o.points_per_dimension);
  a.Field("restarts", o.restarts);
  a.Field("iterations", o.iterations);
  a.Field("tolerance", o.tolerance);
  a.Field("ridge", o.ridge);
  a.Field("seed", seed);
  o.seed = static_cast<std::uint64_t>(seed);
}
template <typename A>
void Visit(A& a, GraspSpaceOptions& o) {
  a.Field("dims", o.dims,
          artefact::About{.help = "dimensions; 2 and 3 are the paper's own; 0: as many as say 90 %",
                          .word = "dims",
                          .value = "N",
                          .least = 0,
                          .most = 100});
  a.Field("variance", o.variance);
  a.Field("tau_quantile", o.tau_quantile);
  a.Field("poses_per_dimension", o.poses_per_dimension);
  a.Field("poses_per_type", o.poses_per_type);
  a.Field("mixture", o.mixture);
}

struct PrincipalComponents {
  Eigen::VectorXd mean;   ///< n
  Eigen::MatrixXd basis;  ///< n x n, orthonormal columns by falling variance; the largest entry of
                          ///< each is positive
  Eigen::VectorXd variance;  ///< n, of N - 1
};
/// Eq. 1 on the columns.
PrincipalComponents FindPrincipalComponents(const Eigen::MatrixXd& shapes_v);

struct SpaceAxes {
  PrincipalComponents components;
  int dims = 0;  ///< asked for, or that reach the share of variance
};
/// kUnidentifiable: fewer than poses_per_dimension * dims poses, saying how many are missing; or no
/// variance along a dimension asked for, or none to speak of at all (a milliradian: one pose, again
/// and again).
Result<SpaceAxes> FindSpaceAxes(const HandPoses& poses, const GraspSpaceOptions& options);

/// Refuses as FindSpaceAxes. `skeleton_name` is the caller's to set, as is provenance.
Result<artefact::GraspSpace> FitGraspSpace(const HandPoses& poses,
                                           const GraspSpaceOptions& options = {},
                                           const std::function<bool(double)>& progress = nullptr);

/// Root mean square of what a space cannot say of shapes, rad over all coordinates: |shape -
/// Expand(Project(shape))|.
double ReconstructionRms(const artefact::GraspSpace& space, const Eigen::MatrixXd& shapes_v);

}  // namespace handhold::fitting
