#include "fitting/compliance/palm_mass.h"

#include <utility>
#include <vector>

namespace handhold::fitting {
namespace {

/// Per body whether it is the palm's; empty where every joint on the way carries as much.
std::vector<char> PalmBodies(const model::Skeleton& skeleton, int touching_body) {
  std::vector<int> way;  // bodies with a joint, from the root to the touching one
  for (int b = 1; b <= touching_body; ++b) {
    const model::Joint& joint = skeleton.body(b).joint;
    if (joint.nv() == 0 || joint.type == model::JointType::kFree) continue;
    if (skeleton.DofMovesBody(skeleton.v_index(b), touching_body)) way.push_back(b);
  }
  if (way.size() < 2) return {};
  std::vector<char> palm(static_cast<size_t>(skeleton.body_count()), 0);
  for (int b = 1; b < skeleton.body_count(); ++b) {
    palm[static_cast<size_t>(b)] =
        static_cast<char>(skeleton.DofMovesBody(skeleton.v_index(way[0]), b) &&
                          !skeleton.DofMovesBody(skeleton.v_index(way[1]), b));
  }
  return palm;
}

}  // namespace

PalmMass::PalmMass(const model::Skeleton& skeleton, int touching_body)
    : skeleton_(skeleton), data_(skeleton) {
  const std::vector<char> palm = PalmBodies(skeleton, touching_body);
  if (palm.empty()) return;
  model::SkeletonDraft draft = skeleton.draft();
  double mass_kg = 0.0;
  for (size_t b = 1; b < palm.size(); ++b) {
    if (palm[b] == 0) continue;
    geometry::MassProperties& mass = draft.bodies[b - 1].mass;
    mass_kg += mass.mass_kg;
    mass.mass_kg *= 2;
    mass.I_BCom_B *= 2;
  }
  auto built = model::Skeleton::Build(std::move(draft));
  if (!built || !(mass_kg > 0)) return;
  twice_.emplace(*std::move(built));
  data_twice_.emplace(*twice_);
}

Eigen::MatrixXd PalmMass::All(const Eigen::VectorXd& q) {
  Eigen::MatrixXd mass(skeleton_.nv(), skeleton_.nv());
  model::MassMatrix<double>(skeleton_, q, &data_, mass);
  return mass;
}

Eigen::MatrixXd PalmMass::Palm(const Eigen::VectorXd& q) {
  if (!twice_) return Eigen::MatrixXd::Zero(skeleton_.nv(), skeleton_.nv());
  Eigen::MatrixXd mass(skeleton_.nv(), skeleton_.nv());
  model::MassMatrix<double>(*twice_, q, &*data_twice_, mass);
  return mass - All(q);
}

}  // namespace handhold::fitting
