#include "fitting/skeleton/tangent_problem.h"

#include <algorithm>

#include "database/geometry/rotation.h"

namespace handhold::fitting {
namespace {

using model::JointType;

/// The nearest body above `body` whose joint moves; 0: none.
int MovingParent(const model::Skeleton& s, int body) {
  int p = s.body(body).parent;
  while (p > 0 && s.body(p).joint.nv() == 0) p = s.body(p).parent;
  return p;
}

}  // namespace

TreeBlocks CutAlongTree(const model::Skeleton& s) {
  const auto n = static_cast<size_t>(s.body_count());
  std::vector<int> children(n, 0);
  std::vector<char> forks(n, 0);  // the body or something beyond it divides
  for (int b = 1; b < s.body_count(); ++b) {
    if (s.body(b).joint.nv() > 0) ++children[static_cast<size_t>(MovingParent(s, b))];
  }
  for (int b = s.body_count() - 1; b > 0; --b) {
    const auto i = static_cast<size_t>(b);
    if (s.body(b).joint.nv() == 0) continue;
    forks[i] = forks[i] || children[i] > 1;
    if (forks[i]) forks[static_cast<size_t>(MovingParent(s, b))] = 1;
  }
  TreeBlocks blocks;
  blocks.branch_of_body.assign(n, -1);
  for (int b = 1; b < s.body_count(); ++b) {
    int& branch = blocks.branch_of_body[static_cast<size_t>(b)];
    const int nv = s.body(b).joint.nv();
    branch = blocks.branch_of_body[static_cast<size_t>(s.body(b).parent)];
    if (nv == 0) continue;
    const bool trunk = forks[static_cast<size_t>(b)] != 0;
    if (!trunk && branch < 0) {
      branch = static_cast<int>(blocks.branches.size());
      blocks.branches.emplace_back();
    }
    std::vector<int>& dofs = trunk ? blocks.trunk : blocks.branches[static_cast<size_t>(branch)];
    for (int k = 0; k < nv; ++k) dofs.push_back(s.v_index(b) + k);
  }
  return blocks;
}

/// The rows of one block, copied out of what the callback computed.
class TangentProblem::Part final : public ceres::CostFunction {
 public:
  struct Row {
    const Rows* from;
    Eigen::Index index;
  };
  Part(std::vector<Row> rows, std::vector<const std::vector<int>*> dofs)
      : rows_(std::move(rows)), dofs_(std::move(dofs)) {
    set_num_residuals(static_cast<int>(rows_.size()));
    for (const auto* d : dofs_)
      mutable_parameter_block_sizes()->push_back(static_cast<int>(d->size()));
  }
  bool Evaluate(double const* const*, double* residuals, double** jacobians) const override {
    for (const Row& row : rows_) *residuals++ = row.from->r[row.index];
    if (jacobians == nullptr) return true;
    for (size_t p = 0; p < dofs_.size(); ++p) {
      double* out = jacobians[p];
      if (out == nullptr) continue;
      for (const Row& row : rows_) {
        const double* from = row.from->J.row(row.index).data();
        for (const int d : *dofs_[p]) *out++ = from[d];
      }
    }
    return true;
  }

 private:
  std::vector<Row> rows_;
  std::vector<const std::vector<int>*> dofs_;
};

TangentProblem::TangentProblem(const model::Skeleton& skeleton, const PoseResidual& markers,
                               const PoseResidual& limits, const PoseResidual& prior,
                               int max_iterations)
    : skeleton_(skeleton), blocks_(CutAlongTree(skeleton)), v_(skeleton.nv()), q_(skeleton.nq()) {
  const PoseResidual* const residuals[] = {&markers, &limits, &prior};
  for (int k = 0; k < 3; ++k) {
    rows_[k].residual = residuals[k];
    rows_[k].r.setZero(residuals[k]->num_residuals());
    rows_[k].J.setZero(residuals[k]->num_residuals(), skeleton.nv());
  }
  if (!blocks_.trunk.empty()) dofs_.push_back(&blocks_.trunk);
  for (const auto& branch : blocks_.branches) dofs_.push_back(&branch);
  for (const auto* d : dofs_)
    x_.push_back(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(d->size())));

  ceres::Problem::Options problem_options;
  problem_options.cost_function_ownership = ceres::DO_NOT_TAKE_OWNERSHIP;
  problem_options.disable_all_safety_checks = true;
  problem_options.evaluation_callback = this;
  problem_ = std::make_unique<ceres::Problem>(problem_options);
  const bool has_trunk = !blocks_.trunk.empty();
  // Limit rows that are always 0 (limit_residual.h).
  std::vector<char> never_limited(static_cast<size_t>(skeleton.nv()), 0);
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const auto iv = static_cast<size_t>(skeleton.v_index(b));
    if (skeleton.body(b).joint.type == JointType::kBall) never_limited[iv + 2] = 1;
    for (size_t k = 0; skeleton.body(b).joint.type == JointType::kFree && k < 6; ++k)
      never_limited[iv + k] = 1;
  }
  for (size_t block = 0; block < dofs_.size(); ++block) {
    problem_->AddParameterBlock(x_[block].data(), static_cast<int>(x_[block].size()));
    // Markers that nothing moves count in the first block: a constant.
    std::vector<Part::Row> rows;
    for (size_t m = 0; m < skeleton.markers().size(); ++m) {
      const int branch = blocks_.branch_of_body[static_cast<size_t>(skeleton.markers()[m].body)];
      const size_t of = branch < 0 ? 0 : static_cast<size_t>(branch) + (has_trunk ? 1 : 0);
      for (Eigen::Index k = 0; of == block && k < 3; ++k)
        rows.push_back({&rows_[0], 3 * static_cast<Eigen::Index>(m) + k});
    }
    for (const int d : *dofs_[block]) {
      if (!never_limited[static_cast<size_t>(d)]) rows.push_back({&rows_[1], d});
      rows.push_back({&rows_[2], d});
    }
    std::vector<const std::vector<int>*> depends{dofs_[block]};
    std::vector<double*> x{x_[block].data()};
    if (has_trunk && block > 0) {
      depends.insert(depends.begin(), dofs_[0]);
      x.insert(x.begin(), x_[0].data());
    }
    parts_.push_back(std::make_unique<Part>(std::move(rows), std::move(depends)));
    problem_->AddResidualBlock(parts_.back().get(), nullptr, x);
  }
  if (dofs_.size() > 1) {
    options_.linear_solver_type = ceres::SPARSE_NORMAL_CHOLESKY;
    options_.sparse_linear_algebra_library_type = ceres::EIGEN_SPARSE;
  } else {
    options_.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;
  }
  options_.logging_type = ceres::SILENT;
  options_.num_threads = 1;
  options_.max_num_iterations = max_iterations;
  options_.initial_trust_region_radius = 1e8;
  options_.max_trust_region_radius = 1e16;
  // A step that changes the cost by less than this share lies within rounding of the minimum: the
  // pull, the weakest residual, has moved by less than 1e-6 rad.
  options_.jacobi_scaling = false;  // Levenberg's diagonal is the scale
  options_.function_tolerance = 1e-13;
  options_.parameter_tolerance = 1e-7;
  options_.gradient_tolerance = 1e-12;
}

TangentProblem::~TangentProblem() = default;

ceres::Solver::Summary TangentProblem::Solve(const Eigen::VectorXd& q_start, Eigen::VectorXd* q) {
  q_start_ = q_start;
  for (Eigen::VectorXd& x : x_) x.setZero();
  ceres::Solver::Summary summary;
  ceres::Solve(options_, problem_.get(), &summary);
  for (size_t block = 0; block < x_.size(); ++block) {
    for (size_t i = 0; i < dofs_[block]->size(); ++i)
      v_[(*dofs_[block])[i]] = x_[block][static_cast<Eigen::Index>(i)];
  }
  *q = skeleton_.Integrate(q_start_, v_);
  return summary;
}

void TangentProblem::PrepareForEvaluation(bool evaluate_jacobians, bool) {
  for (size_t block = 0; block < x_.size(); ++block) {
    for (size_t i = 0; i < dofs_[block]->size(); ++i)
      v_[(*dofs_[block])[i]] = x_[block][static_cast<Eigen::Index>(i)];
  }
  q_ = skeleton_.Integrate(q_start_, v_);
  for (Rows& rows : rows_) {
    if (evaluate_jacobians) rows.J.setZero();
    rows.residual->EvaluateTangent(q_, rows.r, evaluate_jacobians ? &rows.J : nullptr);
  }
  if (evaluate_jacobians) TurnToStart();
}

/// Columns along q become columns along x: Jr(x) = Jl(-x) for rotations, and the free joint's
/// translation is told in the starting frame.
void TangentProblem::TurnToStart() {
  for (int b = 1; b < skeleton_.body_count(); ++b) {
    const JointType type = skeleton_.body(b).joint.type;
    if (type != JointType::kBall && type != JointType::kFree) continue;
    const int iv = skeleton_.v_index(b);
    const geometry::Vec3 w = v_.segment<3>(iv);
    if (w.isZero(0.0)) continue;
    const geometry::Mat3 right = geometry::LeftJacobian(-w);
    const geometry::Mat3 back = geometry::Exp<double>(-w);
    const auto turn = [&](RowMajorMatrix* J, Eigen::Index first, Eigen::Index count) {
      for (Eigen::Index i = first; i < first + count; ++i) {
        auto about = J->block<1, 3>(i, iv);
        about = (about * right).eval();
        if (type != JointType::kFree) continue;
        auto along = J->block<1, 3>(i, iv + 3);
        along = (along * back).eval();
      }
    };
    for (size_t m = 0; m < skeleton_.markers().size(); ++m) {
      if (skeleton_.DofMovesBody(iv, skeleton_.markers()[m].body))
        turn(&rows_[0].J, 3 * static_cast<Eigen::Index>(m), 3);
    }
    // Limits and pull do not mix joints.
    turn(&rows_[1].J, iv, skeleton_.body(b).joint.nv());
    turn(&rows_[2].J, iv, skeleton_.body(b).joint.nv());
  }
}

}  // namespace handhold::fitting
