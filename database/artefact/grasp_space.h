/// A low-dimensional, probabilistic space of hand shapes (Ben Amor 2008): mean, basis, mixture,
/// threshold, and the templates that searches begin from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/geometry/transform.h"

namespace handhold::artefact {

/// One Gaussian of a mixture, in the space's own coordinates.
struct MixtureComponent {
  double weight = 0.0;
  Eigen::VectorXd mean;        ///< d
  Eigen::MatrixXd covariance;  ///< d x d
};

/// BIC of a mixture with so many components.
struct BicEntry {
  int components = 0;
  double bic = 0.0;
};

/// The poses of one type, as a mixture in the space's coordinates: of a Feix type one Gaussian, of
/// a coarser one a Gaussian per Feix type under it, weighted by poses.
struct TypeModel {
  std::string taxonomy;                   ///< "feix", "cutkosky", "schlesinger"
  std::string type;                       ///< in that taxonomy
  int poses = 0;                          ///< there are of it
  std::vector<MixtureComponent> mixture;  ///< empty: refused
  std::string refusal;                    ///< why there is none: too few poses
};

/// A training pose with the primitive that the hand held.
struct GraspTemplate {
  std::string type;        ///< label in the space's taxonomy
  Eigen::VectorXd pose_v;  ///< n: the hand's shape, as `mean` is
  std::string primitive;   ///< "sphere", "cylinder", "box", "disk"; empty: not known
  geometry::Vec3 half_size_m = geometry::Vec3::Zero();
  geometry::RigidTransform X_HO;  ///< of the primitive in the hand's root frame
  geometry::Vec3 opposition_H = geometry::Vec3::UnitZ();  ///< unit: the axis that it is held along
  bool precision = false;                                 ///< held by tips, not enveloped
};

struct GraspSpace {
  Provenance provenance;
  std::string skeleton_name;
  std::string skeleton_hash;
  std::vector<std::string> dof_names;  ///< n: of the shape, without the root
  bool scripted = false;               ///< poses were made by scripts, not captured
  std::string taxonomy;                ///< of the types: "feix", "cutkosky", "schlesinger"
  std::map<std::string, int> poses_by_type;
  Eigen::VectorXd mean;      ///< n, in v-space about the zero configuration (rotation vectors)
  Eigen::MatrixXd basis;     ///< n x d, orthonormal columns, by falling variance
  Eigen::VectorXd variance;  ///< of every principal component, n: the whole curve
  std::vector<MixtureComponent> mixture;
  double log_threshold = 0.0;        ///< log likelihood below which a shape counts as unnatural
  double threshold_quantile = 0.02;  ///< of the training poses, that lies below it
  std::vector<BicEntry> bic;
  std::vector<TypeModel> type_models;  ///< by taxonomy, finest first, then type
  std::vector<GraspTemplate> templates;

  int dimensions() const { return static_cast<int>(basis.cols()); }
  /// A line for people: poses, dimensions, types with a model.
  std::string Brief() const;
};

template <typename A>
void Visit(A& a, MixtureComponent& c) {
  a.Field("weight", c.weight);
  a.Field("mean", c.mean);
  a.Field("covariance", c.covariance);
}
template <typename A>
void Visit(A& a, BicEntry& e) {
  a.Field("components", e.components);
  a.Field("bic", e.bic);
}
template <typename A>
void Visit(A& a, TypeModel& m) {
  a.Field("taxonomy", m.taxonomy);
  a.Field("type", m.type);
  a.Field("poses", m.poses);
  a.Field("mixture", m.mixture);
  a.Field("refusal", m.refusal);
}
template <typename A>
void Visit(A& a, GraspTemplate& t) {
  a.Field("type", t.type);
  a.Field("pose_v", t.pose_v);
  a.Field("primitive", t.primitive);
  a.Field("half_size_m", t.half_size_m);
  a.Field("X_HO", t.X_HO);
  a.Field("opposition_H", t.opposition_H);
  a.Field("precision", t.precision);
}
template <typename A>
void Visit(A& a, GraspSpace& s) {
  a.Skip(s.provenance);
  a.Field("skeleton_name", s.skeleton_name);
  a.Field("skeleton_hash", s.skeleton_hash);
  a.Field("dof_names", s.dof_names);
  a.Field("scripted", s.scripted);
  a.Field("taxonomy", s.taxonomy);
  a.Field("poses_by_type", s.poses_by_type);
  a.Field("mean", s.mean);
  a.Field("basis", s.basis);
  a.Field("variance", s.variance);
  a.Field("mixture", s.mixture);
  a.Field("log_threshold", s.log_threshold);
  a.Field("threshold_quantile", s.threshold_quantile);
  a.Field("bic", s.bic);
  a.Field("type_models", s.type_models);
  a.Field("templates", s.templates);
}

}  // namespace handhold::artefact
