#include "fitting/grasp_space/grasp_space_fit.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "database/artefact/space_density.h"
#include "database/base/check.h"
#include "database/model/grasp_taxonomy.h"
#include "fitting/grasp_space/type_models.h"

namespace handhold::fitting {
namespace {

using artefact::GraspSpace;
using artefact::GraspTemplate;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLeastSpread_rad = 1e-3;  ///< of all poses: less is one shape and its rounding

/// Velocities of the root: of a free joint of a body on the world.
int RootSize(const model::Skeleton& skeleton) {
  int count = 0;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    if (skeleton.body(b).parent == 0) count += skeleton.body(b).joint.nv();
  }
  return count;
}

Error Missing(Index have, Index needed, const std::string& what) {
  return {ErrorCode::kUnidentifiable, std::to_string(have) + " poses do not determine " + what +
                                          ": " + std::to_string(needed - have) + " are missing"};
}

}  // namespace

Status AddPoses(const model::Skeleton& skeleton, const artefact::PoseTrack& track,
                const std::optional<TimeRange>& span, const std::string& type,
                const TakePosesOptions& options, HandPoses* poses, const TakeTouches* touches) {
  const int root = RootSize(skeleton);
  if (track.dof_names != skeleton.dof_names())
    return Error{ErrorCode::kInvalid, "the pose track is not of hand '" + skeleton.name() + "'"};
  const std::vector<std::string> names(skeleton.dof_names().begin() + root,
                                       skeleton.dof_names().end());
  if (poses->dof_names.empty()) poses->dof_names = names;
  if (poses->dof_names != names)
    return Error{ErrorCode::kInvalid, "poses of hands with different joints do not make one space"};
  if (poses->scripted)
    return Error{ErrorCode::kInvalid, "scripted and captured poses are never mixed"};
  const VectorXd zero = skeleton.ZeroConfiguration();
  const Index n = skeleton.nv() - root;
  std::vector<VectorXd> kept;
  std::vector<int> frames;
  for (int frame = 0; frame < track.frame_count(); ++frame) {
    if (span && !(track.times[static_cast<size_t>(frame)] >= span->begin &&
                  track.times[static_cast<size_t>(frame)] <= span->end))
      continue;
    if (!ShapeIsKnown(track, frame, n)) {
      ++poses->undetermined;
      continue;
    }
    VectorXd q = track.q.col(frame);
    const VectorXd shape = skeleton.Difference(zero, q).tail(n);
    if (!kept.empty() && (shape - kept.back()).cwiseAbs().maxCoeff() < options.spacing_rad) {
      ++poses->thinned;
      continue;
    }
    kept.push_back(shape);
    frames.push_back(frame);
  }
  const auto most = static_cast<size_t>(std::max(1, options.most_per_span));
  if (kept.size() > most) {
    poses->thinned += static_cast<int>(kept.size() - most);
    for (size_t i = 0; i < most; ++i) {
      frames[i] = frames[i * kept.size() / most];
      kept[i] = kept[i * kept.size() / most];
    }
    kept.resize(most);
  }
  const Index before = poses->shapes_v.cols();
  poses->shapes_v.conservativeResize(n, before + static_cast<Index>(kept.size()));
  for (size_t i = 0; i < kept.size(); ++i) {
    poses->shapes_v.col(before + static_cast<Index>(i)) = kept[i];
    poses->types.push_back(type);
    GraspTemplate t;
    t.type = type;
    t.pose_v = kept[i];
    if (touches != nullptr) {
      const Touched held = TakePrimitive(skeleton, track, frames[i], *touches, &t);
      poses->holding += held == Touched::kThing;
      poses->holding_unknown += held == Touched::kUnknown;
    }
    poses->templates.push_back(std::move(t));
  }
  return {};
}

bool ShapeIsKnown(const artefact::PoseTrack& track, int frame, Index n) {
  return track.information_diagonal.cols() != track.q.cols() ||
         track.information_diagonal.col(frame).tail(n).minCoeff() > 0;
}

Status AddTemplates(const std::vector<std::string>& dof_names,
                    const std::vector<GraspTemplate>& grasps, HandPoses* poses) {
  if (poses->shapes_v.cols() > 0 && !poses->scripted)
    return Error{ErrorCode::kInvalid, "scripted and captured poses are never mixed"};
  if (!poses->dof_names.empty() && poses->dof_names != dof_names)
    return Error{ErrorCode::kInvalid, "poses of hands with different joints do not make one space"};
  poses->dof_names = dof_names;
  poses->scripted = true;
  const Index before = poses->shapes_v.cols();
  poses->shapes_v.conservativeResize(static_cast<Index>(dof_names.size()),
                                     before + static_cast<Index>(grasps.size()));
  for (size_t i = 0; i < grasps.size(); ++i) {
    poses->shapes_v.col(before + static_cast<Index>(i)) = grasps[i].pose_v;
    poses->types.push_back(grasps[i].type);
    poses->templates.push_back(grasps[i]);
  }
  return {};
}

PrincipalComponents FindPrincipalComponents(const MatrixXd& shapes_v) {
  PrincipalComponents out;
  const Index n = shapes_v.rows(), count = shapes_v.cols();
  out.mean = shapes_v.rowwise().mean();
  const MatrixXd off = shapes_v.colwise() - out.mean;
  const MatrixXd covariance =
      off * off.transpose() / static_cast<double>(std::max<Index>(1, count - 1));
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(covariance);
  out.basis = eigen.eigenvectors().rowwise().reverse();
  out.variance = eigen.eigenvalues().reverse().cwiseMax(0.0);
  for (Index k = 0; k < n; ++k) {
    Index at = 0;
    out.basis.col(k).cwiseAbs().maxCoeff(&at);
    if (out.basis(at, k) < 0) out.basis.col(k) *= -1.0;
  }
  return out;
}

Result<SpaceAxes> FindSpaceAxes(const HandPoses& poses, const GraspSpaceOptions& options) {
  const Index count = poses.shapes_v.cols(), n = poses.shapes_v.rows();
  if (options.dims < 0 || options.dims > n || !(options.tau_quantile > 0) ||
      !(options.tau_quantile < 1))
    return Error{ErrorCode::kInvalid, "a space of " + std::to_string(options.dims) +
                                          " dimensions of " + std::to_string(n)};
  const auto needed = [&](Index dimensions) {
    return std::max<Index>(2, static_cast<Index>(std::ceil(options.poses_per_dimension *
                                                           static_cast<double>(dimensions))));
  };
  const auto space_of = [](Index dimensions) {
    return "a space of " + std::to_string(dimensions) +
           (dimensions == 1 ? " dimension" : " dimensions");
  };
  Index d = options.dims;
  // What is asked for, else at least one dimension.
  if (const Index least = std::max<Index>(1, d); count < needed(least))
    return Missing(count, needed(least), space_of(least));
  CHECK(poses.templates.empty() || poses.templates.size() == static_cast<size_t>(count));
  if (!poses.shapes_v.allFinite()) return Error{ErrorCode::kInvalid, "poses that are not finite"};
  SpaceAxes axes{FindPrincipalComponents(poses.shapes_v), 0};
  const PrincipalComponents& found = axes.components;
  const double total = found.variance.sum();
  if (!(total > kLeastSpread_rad * kLeastSpread_rad)) {
    return Error{ErrorCode::kUnidentifiable,
                 "the " + std::to_string(count) + " poses are one hand shape"};
  }
  if (d == 0) {
    double sum = 0.0;
    while (d < n && sum < options.variance * total) sum += found.variance[d++];
  }
  if (count < needed(d)) return Missing(count, needed(d), space_of(d));
  if (!(found.variance[d - 1] > 1e-12 * total)) {
    Index rank = 0;
    while (rank < n && found.variance[rank] > 1e-12 * total) ++rank;
    return Error{ErrorCode::kUnidentifiable, "the poses vary along " + std::to_string(rank) +
                                                 " dimensions only, " + std::to_string(d) +
                                                 " were asked for"};
  }
  axes.dims = static_cast<int>(d);
  return axes;
}

Result<GraspSpace> FitGraspSpace(const HandPoses& poses, const GraspSpaceOptions& options,
                                 const std::function<bool(double)>& progress) {
  HANDHOLD_ASSIGN(const SpaceAxes axes, FindSpaceAxes(poses, options));
  const PrincipalComponents& found = axes.components;
  const Index count = poses.shapes_v.cols(), d = axes.dims;
  GraspSpace space;
  space.dof_names = poses.dof_names;
  space.scripted = poses.scripted;
  space.taxonomy = std::string(model::kFeix);
  for (const std::string& type : poses.types) ++space.poses_by_type[type];
  space.mean = found.mean;
  space.basis = found.basis.leftCols(d);
  space.variance = found.variance;
  const MatrixXd points = space.basis.transpose() * (poses.shapes_v.colwise() - space.mean);
  HANDHOLD_ASSIGN(MixtureChoice choice, ChooseMixture(points, options.mixture, progress));
  space.mixture = std::move(choice.best.components);
  space.bic = std::move(choice.bic);
  // The quantile: of N sorted values the one with floor(quantile N) below it.
  HANDHOLD_ASSIGN(const artefact::SpaceDensity density, artefact::SpaceDensity::Build(space));
  std::vector<double> logs;
  for (Index i = 0; i < count; ++i) logs.push_back(density.LogLikelihood(points.col(i)));
  std::ranges::sort(logs);
  space.log_threshold =
      logs[static_cast<size_t>(std::floor(options.tau_quantile * static_cast<double>(count)))];
  space.threshold_quantile = options.tau_quantile;
  space.type_models =
      FitTypeModels(points, poses.types,
                    options.poses_per_type > 0 ? options.poses_per_type : static_cast<int>(d));
  space.templates = poses.templates;
  for (Index i = 0; poses.templates.empty() && i < count; ++i) {
    GraspTemplate& t = space.templates.emplace_back();
    t.type = poses.types[static_cast<size_t>(i)];
    t.pose_v = poses.shapes_v.col(i);
  }
  return space;
}

double ReconstructionRms(const GraspSpace& space, const MatrixXd& shapes_v) {
  const MatrixXd off = shapes_v.colwise() - space.mean;
  const MatrixXd rest = off - space.basis * (space.basis.transpose() * off);
  return std::sqrt(rest.squaredNorm() / static_cast<double>(rest.size()));
}

}  // namespace handhold::fitting
