#include "fitting/compliance/palm_mass.h"

#include <utility>
#include <vector>

#include <Eigen/Cholesky>

namespace handhold::fitting {
namespace {

/// Bodies with a joint from the root to `touching_body`, a free one included.
std::vector<int> Way(const model::Skeleton& skeleton, int touching_body) {
  std::vector<int> way;
  for (int b = 1; b <= touching_body; ++b) {
    if (skeleton.body(b).joint.nv() > 0 &&
        skeleton.DofMovesBody(skeleton.v_index(b), touching_body))
      way.push_back(b);
  }
  return way;
}

/// Per body whether it is the palm's; empty where there is none.
std::vector<char> PalmBodies(const model::Skeleton& skeleton, const std::vector<int>& touching) {
  std::vector<char> palm(static_cast<size_t>(skeleton.body_count()), 0);
  int root = -1;
  for (const int body : touching) {
    const std::vector<int> way = Way(skeleton, body);
    if (way.size() < 2 || (root >= 0 && way[0] != root)) return {};
    if (root < 0) {
      for (int b = 1; b < skeleton.body_count(); ++b)
        palm[static_cast<size_t>(b)] =
            static_cast<char>(skeleton.DofMovesBody(skeleton.v_index(way[0]), b));
    }
    root = way[0];
    for (int b = 1; b < skeleton.body_count(); ++b) {
      if (skeleton.DofMovesBody(skeleton.v_index(way[1]), b)) palm[static_cast<size_t>(b)] = 0;
    }
  }
  return palm;
}

}  // namespace

PalmMass::PalmMass(const model::Skeleton& skeleton, const std::vector<int>& touching_bodies)
    : skeleton_(skeleton), data_(skeleton) {
  const std::vector<char> palm = PalmBodies(skeleton, touching_bodies);
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

void LetFloat(int floating, Eigen::MatrixXd* mass, Eigen::MatrixXd* tau) {
  const Eigen::Index n = mass->rows() - floating;
  const Eigen::MatrixXd along =
      mass->bottomRightCorner(floating, floating).ldlt().solve(mass->bottomLeftCorner(floating, n));
  const Eigen::MatrixXd held =
      mass->topLeftCorner(n, n) - mass->topRightCorner(n, floating) * along;
  const Eigen::MatrixXd torque = tau->topRows(n) - along.transpose() * tau->bottomRows(floating);
  *mass = held;
  *tau = torque;
}

}  // namespace handhold::fitting
