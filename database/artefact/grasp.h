/// One way to hold one prop: a hand's posture in the prop's frame, its contacts, how it squeezes,
/// and how it did in tests. What grasp control, grasp search and every other proposer answer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/geometry/transform.h"

namespace handhold::artefact {

/// Where the hand touches the prop, in the prop's frame P.
struct GraspContact {
  std::string site;  ///< of the skeleton; empty: none is named there
  int body = 0;      ///< of the skeleton
  geometry::Vec3 p_P = geometry::Vec3::Zero();
  geometry::Vec3 normal_P = geometry::Vec3::UnitZ();   ///< unit, out of the prop, into the hand
  geometry::Vec3 f_onHand_P = geometry::Vec3::Zero();  ///< N, of the balanced squeeze; 0: not known
};

/// How a grasp did in one published test.
struct GraspTest {
  std::string protocol;  ///< "P1"
  std::string engine;    ///< "ode exact", "ode quick", "mujoco"
  bool passed = false;
  std::string cause;                      ///< of the failure, naming what gave way; empty: passed
  std::map<std::string, double> figures;  ///< with units: "shift_m", "mass_kg", "friction"
};

struct Grasp {
  Provenance provenance;
  std::string name;
  std::string proposer;       ///< "control", "search"
  bool scripted = false;      ///< made by a script or planted, not from a capture
  std::string skeleton_name;  ///< "hand27"
  std::string skeleton_hash;  ///< artefact of the skeleton; empty: the shipped hand of that name
  std::vector<std::string> dof_names;
  geometry::RigidTransform X_PH;  ///< of the skeleton's world in the prop's frame
  Eigen::VectorXd q;              ///< nq: the hand in contact
  Eigen::VectorXd q_open;         ///< nq: before it closes; empty: not known
  /// nq: where the springs of all joints together pull to (Pollard & Zordan: the mean of neutral
  /// and gripping setpoint, pulled to with twice their gains); empty: not known.
  Eigen::VectorXd q_squeeze;
  Eigen::VectorXd tau_squeeze_Nm;  ///< nv: torques of the balanced squeeze; empty: not known
  std::string prop;                ///< name
  std::string prop_hash;           ///< artefact of the prop; empty: the shipped prop of that name
  std::string region;              ///< of the prop, that was asked for; empty: any
  std::map<std::string, std::string> types;  ///< by taxonomy: "feix" -> "tripod"
  std::vector<GraspContact> contacts;
  std::map<std::string, double> scores;  ///< "margin", "epsilon", "rank"
  std::vector<GraspTest> tests;

  /// A line for people: type, prop, contacts, scores that were asked for most, tests.
  std::string Brief() const;
};

template <typename A>
void Visit(A& a, GraspContact& c) {
  a.Field("site", c.site);
  a.Field("body", c.body);
  a.Field("p_P", c.p_P);
  a.Field("normal_P", c.normal_P);
  a.Field("f_onHand_P", c.f_onHand_P);
}
template <typename A>
void Visit(A& a, GraspTest& t) {
  a.Field("protocol", t.protocol);
  a.Field("engine", t.engine);
  a.Field("passed", t.passed);
  a.Field("cause", t.cause);
  a.Field("figures", t.figures);
}
template <typename A>
void Visit(A& a, Grasp& g) {
  a.Skip(g.provenance);
  a.Field("name", g.name);
  a.Field("proposer", g.proposer);
  a.Field("scripted", g.scripted);
  a.Field("skeleton_name", g.skeleton_name);
  a.Field("skeleton_hash", g.skeleton_hash);
  a.Field("dof_names", g.dof_names);
  a.Field("X_PH", g.X_PH);
  a.Field("q", g.q);
  a.Field("q_open", g.q_open);
  a.Field("q_squeeze", g.q_squeeze);
  a.Field("tau_squeeze_Nm", g.tau_squeeze_Nm);
  a.Field("prop", g.prop);
  a.Field("prop_hash", g.prop_hash);
  a.Field("region", g.region);
  a.Field("types", g.types);
  a.Field("contacts", g.contacts);
  a.Field("scores", g.scores);
  a.Field("tests", g.tests);
}

}  // namespace handhold::artefact
