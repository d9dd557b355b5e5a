#include "synthesis/grasp_search/squeeze.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace handhold::synthesis {
namespace {

using geometry::Vec3;
using geometry::Vec6;

constexpr int kEdges = 8, kRows = 6 + 5;
using Column = Eigen::Matrix<double, kRows, 1>;

}  // namespace

Squeeze BalanceSqueeze(const std::vector<SkinContact>& contacts, const Vec3& origin_P,
                       double friction, const SqueezeOptions& options) {
  Squeeze squeeze;
  squeeze.f_onObject_P.assign(contacts.size(), Vec3::Zero());
  if (contacts.empty()) {
    squeeze.unbalanced = 1.0;
    return squeeze;
  }
  const double mu = options.friction_scale * friction;
  std::array<double, 5> share{};
  double shares = 0.0;
  for (const SkinContact& c : contacts) {
    if (c.digit < 0) continue;
    auto& s = share[static_cast<size_t>(c.digit)];
    if (s == 0.0) s = c.digit == 0 ? options.thumb_share : 1.0, shares += s;
  }
  // Columns: cone edges; rows: wrench, then the normal force of each digit.
  std::vector<Column> columns;
  std::vector<Vec3> forces;
  constexpr double kShareWeight = 0.3;
  for (const SkinContact& c : contacts) {
    const Vec3 n = -c.normal_P;
    const Vec3 t1 = n.cross(std::abs(n.z()) < 0.9 ? Vec3::UnitZ() : Vec3::UnitX()).normalized();
    const Vec3 t2 = n.cross(t1);
    for (int k = 0; k < kEdges; ++k) {
      const double a = 2 * M_PI * k / kEdges;
      const Vec3 f = n + mu * (std::cos(a) * t1 + std::sin(a) * t2);
      Column column = Column::Zero();
      column.head<3>() = (c.p_P - origin_P).cross(f) / options.length_m;
      column.segment<3>(3) = f;
      if (c.digit >= 0) column[6 + c.digit] = kShareWeight;
      columns.push_back(column);
      forces.push_back(f);
    }
  }
  Column target = Column::Zero();
  for (int d = 0; d < 5; ++d)
    target[6 + d] = shares > 0 ? kShareWeight * share[static_cast<size_t>(d)] / shares : 0.0;
  // Nonnegative least squares, coordinate by coordinate.
  std::vector<double> x(columns.size(), 0.0);
  Column rest = target;
  for (int sweep = 0; sweep < 100; ++sweep) {
    double moved = 0.0;
    for (size_t i = 0; i < columns.size(); ++i) {
      const double to =
          std::max(0.0, x[i] + columns[i].dot(rest) / (columns[i].squaredNorm() + 1e-3) -
                            1e-3 * x[i] / (columns[i].squaredNorm() + 1e-3));
      rest -= (to - x[i]) * columns[i];
      moved = std::max(moved, std::abs(to - x[i]));
      x[i] = to;
    }
    if (moved < 1e-6) break;
  }
  Vec6 wrench = Vec6::Zero();
  for (size_t i = 0; i < columns.size(); ++i) {
    squeeze.f_onObject_P[i / kEdges] += x[i] * forces[i];
    wrench += x[i] * columns[i].head<6>();
  }
  // SolveLeastForce takes torques in N m.
  wrench.head<3>() *= options.length_m;
  std::vector<ForceContact> cones = ForceContactsOf(contacts, origin_P, mu);
  ForceOptions least;
  least.length_m = options.length_m;
  ForceWorkspace workspace;
  ForceAnswer answer;
  SolveLeastForce(cones, -wrench, least, &workspace, &answer);
  if (answer.outcome == ForceOutcome::kBalanced) {
    for (size_t i = 0; i < contacts.size(); ++i) squeeze.f_onObject_P[i] += answer.f_O[i];
  }
  double total = 0.0;
  wrench.setZero();
  for (size_t i = 0; i < contacts.size(); ++i) {
    const Vec3& f = squeeze.f_onObject_P[i];
    total += std::max(0.0, -f.dot(contacts[i].normal_P));
    wrench.head<3>() += (contacts[i].p_P - origin_P).cross(f) / options.length_m;
    wrench.tail<3>() += f;
  }
  if (!(total > 1e-9)) {
    squeeze.unbalanced = 1.0;
    return squeeze;
  }
  for (Vec3& f : squeeze.f_onObject_P) f *= options.total_N / total;
  squeeze.unbalanced = wrench.norm() / total;
  return squeeze;
}

Eigen::VectorXd SqueezeTorques(const model::Skeleton& skeleton, const model::KinematicsData& data,
                               const std::vector<SkinContact>& contacts, const Squeeze& squeeze) {
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(skeleton.nv());
  for (size_t i = 0; i < contacts.size(); ++i) {
    // AddForceTorques is what a force on the hand asks of the joints' holding back; pressing with f
    // on the object is J^T f itself.
    model::AddForceTorques(skeleton, data, contacts[i].body, contacts[i].p_P,
                           squeeze.f_onObject_P[i], tau);
  }
  tau.head<6>().setZero();
  return tau;
}

}  // namespace handhold::synthesis
