/// Many motions of one task that share their beginnings: what a sampling method answers, browsed
/// side by side. A chosen one becomes an ordinary Motion.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/artefact/stage.h"

namespace handhold::artefact {

/// A stretch that one or more solutions share.
struct MotionBranch {
  int parent = -1;        ///< branch that it goes on from; -1: from the beginning
  int first_frame = 0;    ///< of the task's frames
  Eigen::MatrixXd state;  ///< method's state per frame, rows named by MotionSet::rows
};

struct MotionSolution {
  int branch = 0;      ///< its last one
  std::string motion;  ///< artefact, once it is made whole; empty: not yet
  std::map<std::string, double> figures;
};

struct MotionSet {
  Provenance provenance;
  Stage stage;                    ///< of all its solutions: what is given moves by tracks
  std::vector<std::string> rows;  ///< of every branch's state
  std::vector<MotionBranch> branches;
  std::vector<MotionSolution> solutions;
  Eigen::MatrixXd distance;  ///< between solutions, as the method measures it; empty: not measured
};

template <typename A>
void Visit(A& a, MotionBranch& b) {
  a.Field("parent", b.parent);
  a.Field("first_frame", b.first_frame);
  a.Field("state", b.state);
}
template <typename A>
void Visit(A& a, MotionSolution& s) {
  a.Field("branch", s.branch);
  a.Field("motion", s.motion);
  a.Field("figures", s.figures);
}
template <typename A>
void Visit(A& a, MotionSet& s) {
  a.Skip(s.provenance);
  a.Field("stage", s.stage);
  a.Field("rows", s.rows);
  a.Field("branches", s.branches);
  a.Field("solutions", s.solutions);
  a.Field("distance", s.distance);
}

}  // namespace handhold::artefact
