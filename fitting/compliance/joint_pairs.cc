#include "fitting/compliance/joint_pairs.h"

#include <algorithm>

namespace handhold::fitting {
namespace {

bool MovesAny(const model::Skeleton& skeleton, int dof, const std::vector<int>& bodies) {
  return std::any_of(bodies.begin(), bodies.end(),
                     [&](int body) { return skeleton.DofMovesBody(dof, body); });
}

/// Per dof, the body whose joint it belongs to.
std::vector<int> BodiesOf(const model::Skeleton& skeleton, const std::vector<int>& dofs) {
  std::vector<int> bodies;
  for (const int dof : dofs) {
    int body = 1;
    while (body + 1 < skeleton.body_count() &&
           !(skeleton.v_index(body) <= dof &&
             dof < skeleton.v_index(body) + skeleton.body(body).joint.nv()))
      ++body;
    bodies.push_back(body);
  }
  return bodies;
}

/// The nearest body towards the root that is among `of`; 0: none.
int Carrier(const model::Skeleton& skeleton, int body, const std::vector<int>& of) {
  do body = skeleton.body(body).parent;
  while (body > 0 && std::find(of.begin(), of.end(), body) == of.end());
  return body;
}

}  // namespace

std::vector<int> TouchingBodies(const artefact::ContactTrack& contact) {
  std::vector<int> bodies;
  for (const artefact::Touch& touch : contact.touches) bodies.push_back(touch.a.body);
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  return bodies;
}

std::vector<int> FittedDofs(const model::Skeleton& skeleton, const std::vector<int>& bodies) {
  std::vector<int> dofs;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    if (skeleton.body(b).joint.type == model::JointType::kFree) continue;
    for (int k = 0; k < skeleton.body(b).joint.nv(); ++k) {
      if (MovesAny(skeleton, skeleton.v_index(b) + k, bodies))
        dofs.push_back(skeleton.v_index(b) + k);
    }
  }
  return dofs;
}

std::vector<JointPair> NeighbourPairs(const model::Skeleton& skeleton,
                                      const std::vector<int>& dofs) {
  const std::vector<int> bodies = BodiesOf(skeleton, dofs);
  std::vector<JointPair> pairs;
  for (size_t out = 0; out < dofs.size(); ++out) {
    const int carrier = Carrier(skeleton, bodies[out], bodies);
    for (size_t in = 0; in < dofs.size(); ++in) {
      if (carrier > 0 && bodies[in] == carrier)
        pairs.push_back({static_cast<int>(in), static_cast<int>(out)});
    }
  }
  return pairs;
}

std::vector<int> PlacesFromTip(const model::Skeleton& skeleton, const std::vector<int>& dofs) {
  const std::vector<int> bodies = BodiesOf(skeleton, dofs);
  std::vector<int> places(dofs.size(), 0);
  for (size_t tip = 0; tip < dofs.size(); ++tip) {
    int further = 0;
    for (int body = Carrier(skeleton, bodies[tip], bodies); body > 0;
         body = Carrier(skeleton, body, bodies)) {
      ++further;
      for (size_t i = 0; i < dofs.size(); ++i) {
        if (bodies[i] == body) places[i] = std::max(places[i], further);
      }
    }
  }
  return places;
}

int FreeRoot(const model::Skeleton& skeleton, const std::vector<int>& bodies) {
  for (int b = 1; b < skeleton.body_count(); ++b) {
    if (skeleton.body(b).joint.type == model::JointType::kFree &&
        MovesAny(skeleton, skeleton.v_index(b), bodies))
      return skeleton.v_index(b);
  }
  return -1;
}

}  // namespace handhold::fitting
