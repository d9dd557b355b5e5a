/// The setpoints, neutral pose, limits and gains with which a grasp controller drives one hand
/// (Pollard & Zordan 2005, eqs. 5-16 and Table 1).
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"

namespace handhold::artefact {

/// One state of the grasp: "open", "close", "release".
struct Setpoint {
  std::string name;
  Eigen::VectorXd q;               ///< nq: where the active controller pulls to
  Eigen::VectorXd rate_rad_per_s;  ///< nv: of the target; empty: 0
};

struct SetpointSet {
  Provenance provenance;
  std::string skeleton_name;
  std::string skeleton_hash;
  std::vector<std::string> dof_names;
  Eigen::VectorXd q_neutral;                              ///< nq: the relaxed hand
  std::vector<Setpoint> setpoints;                        ///< in the order of the grasp's states
  double stiffness_per_s2 = 200.0;                        ///< k_S
  double damping_per_s = 50.0;                            ///< k_D
  double limit_stiffness_per_s2 = 5000.0;                 ///< k_JL
  double near_m = 0.0, approach_m = 0.05, begin_m = 0.3;  ///< D0, D1, D2 of Fig. 3
  double alpha = 0.5;                                     ///< strength of the grasp
};

template <typename A>
void Visit(A& a, Setpoint& s) {
  a.Field("name", s.name);
  a.Field("q", s.q);
  a.Field("rate_rad_per_s", s.rate_rad_per_s);
}
template <typename A>
void Visit(A& a, SetpointSet& s) {
  a.Skip(s.provenance);
  a.Field("skeleton_name", s.skeleton_name);
  a.Field("skeleton_hash", s.skeleton_hash);
  a.Field("dof_names", s.dof_names);
  a.Field("q_neutral", s.q_neutral);
  a.Field("setpoints", s.setpoints);
  a.Field("stiffness_per_s2", s.stiffness_per_s2);
  a.Field("damping_per_s", s.damping_per_s);
  a.Field("limit_stiffness_per_s2", s.limit_stiffness_per_s2);
  a.Field("near_m", s.near_m);
  a.Field("approach_m", s.approach_m);
  a.Field("begin_m", s.begin_m);
  a.Field("alpha", s.alpha);
}

}  // namespace handhold::artefact
