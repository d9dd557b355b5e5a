/// Which joints of a hand touches can tell something about, which of them are neighbours, and how
/// far each is from the tip: by the skeleton's tree, for one finger as for a hand of several.
///
/// Internal to the compliance fits. Tests: tests/fitting/compliance/joint_pairs_test.cc.
#pragma once

#include <vector>

#include "database/artefact/contact_track.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

/// Bodies that touch something, each once, in the skeleton's order.
std::vector<int> TouchingBodies(const artefact::ContactTrack& contact);

/// Dofs whose compliance touches of `bodies` can show: those that move one of them, without a free
/// root's.
std::vector<int> FittedDofs(const model::Skeleton& skeleton, const std::vector<int>& bodies);

/// Two of the dofs fitted, by their places among them.
struct JointPair {
  int first = -1, second = -1;  ///< of the joint nearer the root, of the one further out
  bool Has(int joint) const { return first == joint || second == joint; }
  bool operator==(const JointPair&) const = default;
};

/// Dofs of two joints with no fitted joint between them, one of which carries the other: fingers
/// are neighbours of the wrist, not of one another. Axes of the same joint are no pair.
std::vector<JointPair> NeighbourPairs(const model::Skeleton& skeleton,
                                      const std::vector<int>& dofs);

/// Per dof, how many fitted joints lie further out on the longest way: 0 at a tip.
std::vector<int> PlacesFromTip(const model::Skeleton& skeleton, const std::vector<int>& dofs);

/// The free joint that carries all of `bodies`: its first velocity coordinate (of six); -1: none.
int FreeRoot(const model::Skeleton& skeleton, const std::vector<int>& bodies);

}  // namespace handhold::fitting
