#include "synthesis/contact/contact_problem.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "database/base/check.h"

namespace handhold::synthesis {

using Eigen::Index;
using geometry::Mat3;
using geometry::Vec3;

namespace {

/// Unit tangents to n, the first along `wish` where that has a tangential part worth the name.
void TangentFrame(const Vec3& n, const Vec3& wish, Vec3* t1, Vec3* t2) {
  const Vec3 along = wish - n * n.dot(wish);
  if (along.norm() > 1e-3 * wish.norm() && along.norm() > 1e-12) {
    *t1 = along.normalized();
  } else {
    *t1 = n.cross(std::abs(n.z()) < 0.9 ? Vec3::UnitZ() : Vec3::UnitX()).normalized();
  }
  *t2 = n.cross(*t1);
}

/// The f with least f.A f / 2 + b.f within the disk |f| <= r; A symmetric positive definite.
Eigen::Vector2d LeastOnDisk(const Eigen::Matrix2d& A, const Eigen::Vector2d& b, double r) {
  if (!(r > 0)) return Eigen::Vector2d::Zero();
  const double mean = 0.5 * (A(0, 0) + A(1, 1)), half = 0.5 * (A(0, 0) - A(1, 1));
  const double spread = std::hypot(half, A(0, 1));
  const double l1 = mean + spread, l2 = mean - spread;  // eigenvalues
  if (!(l1 > 0)) return Eigen::Vector2d::Zero();
  // Eigenvector of l1: the better conditioned of two forms.
  Eigen::Vector2d v1(1, 0);
  if (spread > 0) {
    v1 = half >= 0 ? Eigen::Vector2d(half + spread, A(0, 1))
                   : Eigen::Vector2d(A(0, 1), spread - half);
    v1.normalize();
  }
  const Eigen::Vector2d v2(-v1[1], v1[0]);
  const double b1 = v1.dot(b), b2 = v2.dot(b);
  const double least = std::max(l2, 1e-14 * l1);
  Eigen::Vector2d inside = -(b1 / l1) * v1 - (b2 / least) * v2;
  if (inside.squaredNorm() <= r * r) return inside;
  // |(A + lambda)^-1 b| = r by Newton on its inverse: concave, so it converges from the left.
  double lambda = 0.0;
  for (int i = 0; i < 30; ++i) {
    const double d1 = l1 + lambda, d2 = least + lambda;
    const double n2 = b1 * b1 / (d1 * d1) + b2 * b2 / (d2 * d2), norm = std::sqrt(n2);
    const double slope = (b1 * b1 / (d1 * d1 * d1) + b2 * b2 / (d2 * d2 * d2)) / norm;
    const double step = (norm / r - 1.0) * norm / slope;
    lambda += step;
    if (std::abs(step) <= 1e-14 * (l1 + lambda)) break;
  }
  const Eigen::Vector2d f = -(b1 / (l1 + lambda)) * v1 - (b2 / (least + lambda)) * v2;
  return f * (r / f.norm());
}

}  // namespace

const char* SolvedByName(SolvedBy by) {
  switch (by) {
    case SolvedBy::kNothing:
      return "nothing to solve";
    case SolvedBy::kLemke:
      return "Lemke";
    case SolvedBy::kGaussSeidel:
      return "Gauss-Seidel";
    case SolvedBy::kNobody:
      return "nobody";
  }
  return "unknown";
}

void SolveCounts::Count(const ContactSummary& summary) {
  ++steps;
  lemke += summary.solved_by == SolvedBy::kLemke;
  gauss_seidel += summary.solved_by == SolvedBy::kGaussSeidel;
  nobody += summary.solved_by == SolvedBy::kNobody;
}

void ContactProblem::AddRows(const Contact& contact, int row) {
  bool moved = false;
  for (size_t m = 0; m < block_count_; ++m) {
    Block& block = blocks_[m];
    const bool owns_a = block.model->Owns(contact.a), owns_b = block.model->Owns(contact.b);
    if (!owns_a && !owns_b) continue;
    moved = true;
    block.model->PointRows(owns_a ? contact.a : contact.b, contact.p_W, block.point);
    if (owns_a && owns_b) {
      block.model->PointRows(contact.b, contact.p_W, block.other);
      block.point -= block.other;
    }
    block.JT.middleCols<3>(block.used) = (owns_a ? 1.0 : -1.0) * block.point.transpose();
    block.rows.push_back(row);
    block.used += 3;
  }
  CHECK(moved);
}

void ContactProblem::Assemble(std::span<MotionModel* const> models,
                              std::span<const Contact> contacts, const ContactMemory& memory,
                              const ContactPoses& poses, double step_s) {
  const auto n = static_cast<Index>(contacts.size());
  contacts_.assign(contacts.begin(), contacts.end());
  poses_ = &poses;
  step_s_ = step_s;
  block_count_ = models.size();
  if (blocks_.size() < block_count_) blocks_.resize(block_count_);
  Index limits = 0;
  for (size_t m = 0; m < block_count_; ++m) {
    Block& block = blocks_[m];
    block.model = models[m];
    block.rows.clear();
    block.used = 0;
    block.limits.clear();
    block.model->AddLimits(&block.limits);
    block.first_limit = static_cast<int>(3 * n + limits);
    const auto own = static_cast<Index>(block.limits.size());
    limits += own;
    const Index dofs = block.model->dofs();
    if (block.JT.rows() != dofs || block.JT.cols() < 3 * n + own) {
      const Index most = std::max(3 * n + own, 2 * block.JT.cols());
      block.JT.resize(dofs, most);
      block.WJT.resize(dofs, most);
      block.point.resize(3, dofs);
      block.other.resize(3, dofs);
    }
  }
  const Index size = 3 * n + limits;
  G_.SetZero(size, size);
  u_.SetZero(size);
  gap_.SetZero(size);
  for (Index i = 0; i < n; ++i) AddRows(contacts_[static_cast<size_t>(i)], static_cast<int>(3 * i));
  ScatterG();

  last_.assign(contacts_.size(), {});
  known_.assign(contacts_.size(), 0);
  give_.resize(contacts_.size());
  frames_.resize(contacts_.size());
  for (size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& c = contacts_[i];
    const auto row = static_cast<Index>(3 * i);
    if (const auto last = memory.Recall(c, poses)) {
      last_[i] = *last;
      known_[i] = 1;
    }
    // The surface, spring and damper, implicit: with c_n = 1 / (k + c / h) the normal row holds the
    // gap s' = s + du_n against s' + c_n f_n = (c / h) c_n min(s, 0), the tangential ones the
    // stretch x' = (c / h) c_n x - c_n f_t; the rest of the motion is slip.
    const double damper = c.law.damping_Ns_per_m / step_s;
    const double give = 1.0 / (c.law.stiffness_N_per_m + damper);
    give_[i] = give;
    G_.block<3, 3>(row, row).diagonal().array() += give;
    const Vec3 stretch = (1.0 - damper * give) * last_[i].stretch_W;
    u_.segment<3>(row) += stretch - c.normal_W * c.normal_W.dot(stretch);
    gap_[row] = c.separation_m - damper * give * std::min(c.separation_m, 0.0);
    // A cone of few directions is exact only along its own: one of them is laid along where the
    // surface was stretched and slid in the last step, or, at a new contact, along where the point
    // would go without friction.
    frames_[i].n = c.normal_W;
    Vec3 pull = known_[i] ? Vec3(last_[i].slip_W + last_[i].stretch_W) : Vec3(Vec3::Zero());
    pull -= c.normal_W * c.normal_W.dot(pull);
    const Vec3 free_motion = u_.segment<3>(row);
    TangentFrame(c.normal_W, pull.norm() > 1e-9 ? pull : free_motion, &frames_[i].t1,
                 &frames_[i].t2);
  }
  f_.SetZero(size);
  forces_.assign(contacts_.size(), {});
  limit_forces_.assign(static_cast<size_t>(limits), 0.0);
}

void ContactProblem::ScatterG() {
  for (size_t m = 0; m < block_count_; ++m) {
    Block& block = blocks_[m];
    for (size_t k = 0; k < block.limits.size(); ++k) {
      const LimitRow& limit = block.limits[k];
      auto row = block.JT.col(block.used);
      row.setZero();
      row.segment(limit.first, limit.count) = limit.row.head(limit.count);
      gap_[block.first_limit + static_cast<Index>(k)] = limit.gap;
      ++block.used;
    }
    if (block.used == 0) continue;
    const auto JT = block.JT.leftCols(block.used);
    auto WJT = block.WJT.leftCols(block.used);
    block.model->ApplyW(JT, WJT);
    const Eigen::VectorXd& x0 = block.model->free_motion();
    const Index shared = 3 * static_cast<Index>(block.rows.size());
    // Block by block straight into G: places of this model's rows.
    const auto place = [&](Index local) {
      return local < shared
                 ? block.rows[static_cast<size_t>(local / 3)] + static_cast<int>(local % 3)
                 : block.first_limit + static_cast<int>(local - shared);
    };
    for (Index r = 0; r < block.used; ++r) {
      const Index row = place(r);
      u_[row] += JT.col(r).dot(x0);
      for (Index c = 0; c <= r; ++c) {
        const double g = JT.col(r).dot(WJT.col(c));
        const Index column = place(c);
        G_(row, column) += g;
        if (row != column) G_(column, row) += g;
      }
    }
  }
}

bool ContactProblem::SolveLemke(const SolveOptions& options, ContactSummary* summary) {
  const auto n = static_cast<Index>(contacts_.size()), limits = u_.size() - 3 * n;
  const Index half = options.sides / 2, per = options.sides + 1, base = half + 1;
  const Index first_limit = n * per, first_cone = first_limit + limits;
  // The base directions of each contact: normal, then half of the tangents; the others are their
  // opposites.
  D_.Resize(3, n * base);
  for (Index i = 0; i < n; ++i) {
    const Frame& frame = frames_[static_cast<size_t>(i)];
    D_.col(i * base) = frame.n;
    for (Index j = 0; j < half; ++j) {
      const double angle = std::numbers::pi * static_cast<double>(j) / static_cast<double>(half);
      D_.col(i * base + 1 + j) = std::cos(angle) * frame.t1 + std::sin(angle) * frame.t2;
    }
  }
  M_.SetZero(first_cone + n, first_cone + n);
  q_lcp_.SetZero(first_cone + n);
  GD_.Resize(3, base);
  double mean = 0.0;
  for (Index i = 0; i < n; ++i) {
    const auto D_i = D_.middleCols(i * base, base);
    for (Index j = 0; j <= i; ++j) {
      GD_.noalias() = G_.block<3, 3>(3 * i, 3 * j) * D_.middleCols(j * base, base);
      for (Index a = 0; a < base; ++a) {
        for (Index b = 0; b < base; ++b) {
          const double g = D_i.col(a).dot(GD_.col(b));
          // +d and -d of both.
          const Index ra = i * per + (a == 0 ? 0 : 2 * a - 1),
                      cb = j * per + (b == 0 ? 0 : 2 * b - 1);
          const Index more_a = a == 0 ? 0 : 1, more_b = b == 0 ? 0 : 1;
          for (Index p = 0; p <= more_a; ++p) {
            for (Index r = 0; r <= more_b; ++r) {
              const double value = p == r ? g : -g;
              M_(ra + p, cb + r) = value;
              if (i != j) M_(cb + r, ra + p) = value;
            }
          }
        }
      }
    }
    mean += M_(i * per, i * per);
    for (Index a = 0; a < base; ++a) {
      const double v = D_i.col(a).dot(u_.segment<3>(3 * i));
      const Index row = i * per + (a == 0 ? 0 : 2 * a - 1);
      q_lcp_[row] = v + (a == 0 ? gap_[3 * i] : 0.0);
      if (a > 0) q_lcp_[row + 1] = -v;
    }
    const Index cone = first_cone + i;
    M_(cone, i * per) = contacts_[static_cast<size_t>(i)].law.friction;  // F_i
    M_.block(cone, i * per + 1, 1, options.sides).setConstant(-1.0);
    M_.block(i * per + 1, cone, options.sides, 1).setConstant(1.0);  // - E_i^T
  }
  // Limits are scaled to the contacts' size, so that newtons and newton metres do not decide which
  // pivots look small.
  mean = n > 0 ? mean / static_cast<double>(n) : 1.0;
  const auto scale = [&](Index l) {
    const double g = G_(3 * n + l, 3 * n + l);
    return n > 0 && g > 0 && mean > 0 ? std::sqrt(mean / g) : 1.0;
  };
  for (Index l = 0; l < limits; ++l) {
    const double s = scale(l);
    const Index row = first_limit + l;
    for (Index k = 0; k < limits; ++k)
      M_(row, first_limit + k) = s * scale(k) * G_(3 * n + l, 3 * n + k);
    for (Index j = 0; j < n; ++j) {
      for (Index b = 0; b < base; ++b) {
        const double g = s * G_.block<1, 3>(3 * n + l, 3 * j).dot(D_.col(j * base + b).transpose());
        const Index column = j * per + (b == 0 ? 0 : 2 * b - 1);
        M_(row, column) = M_(column, row) = g;
        if (b > 0) M_(row, column + 1) = M_(column + 1, row) = -g;
      }
    }
    q_lcp_[row] = s * (u_[3 * n + l] + gap_[3 * n + l]);
  }
  summary->lcp = SolveLcp(M_, q_lcp_, options.lcp, &lcp_);
  if (summary->lcp.outcome != LcpOutcome::kSolved) return false;
  const GrownVector& z = lcp_.z;
  for (Index i = 0; i < n; ++i) {
    Vec3 f = z[i * per] * D_.col(i * base);
    for (Index j = 1; j <= half; ++j)
      f += (z[i * per + 2 * j - 1] - z[i * per + 2 * j]) * D_.col(i * base + j);
    f_.segment<3>(3 * i) = f;
  }
  for (Index l = 0; l < limits; ++l) f_[3 * n + l] = scale(l) * z[first_limit + l];
  summary->residual_N = summary->lcp.residual;
  return true;
}

double ContactProblem::ResidualOnRoundCone() const {
  const auto n = static_cast<Index>(contacts_.size());
  double worst = 0.0;
  for (Index i = 0; i < n; ++i) {
    const Frame& frame = frames_[static_cast<size_t>(i)];
    const Mat3 g = G_.block<3, 3>(3 * i, 3 * i);
    const Vec3 w = w_.segment<3>(3 * i), f = f_.segment<3>(3 * i);
    const double g_n = frame.n.dot(g * frame.n), f_n = frame.n.dot(f);
    const double g_t = 0.5 * (g.trace() - g_n);
    if (!(g_n > 0) || !(g_t > 0)) {
      worst = std::numeric_limits<double>::infinity();
      continue;
    }
    worst =
        std::max(worst, std::abs(f_n - std::max(0.0, f_n - (frame.n.dot(w) + gap_[3 * i]) / g_n)));
    const Vec3 f_t = f - f_n * frame.n, w_t = w - frame.n.dot(w) * frame.n;
    Vec3 wish = f_t - w_t / g_t;
    const double bound = contacts_[static_cast<size_t>(i)].law.friction * std::max(0.0, f_n),
                 length = wish.norm();
    if (length > bound) wish *= bound / length;
    worst = std::max(worst, (f_t - wish).norm());
  }
  for (Index l = 3 * n; l < u_.size(); ++l) {
    const double g = G_(l, l);
    if (g > 0)
      worst = std::max(worst, std::abs(f_[l] - std::max(0.0, f_[l] - (w_[l] + gap_[l]) / g)));
  }
  return worst;
}

// Contact by contact: the normal force that closes its gap, then the friction that does most work
// against the slip within the disk that this normal force allows.
void ContactProblem::SolveGaussSeidel(const SolveOptions& options, bool warm,
                                      ContactSummary* summary) {
  const auto n = static_cast<Index>(contacts_.size());
  f_.setZero();
  if (warm) {
    for (Index i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      const Vec3 last = last_[k].f_onA_W;
      const double f_n = std::max(0.0, frames_[k].n.dot(last));
      Vec3 f_t = last - frames_[k].n.dot(last) * frames_[k].n;
      const double bound = contacts_[k].law.friction * f_n, length = f_t.norm();
      if (length > bound) f_t *= bound / length;
      f_.segment<3>(3 * i) = f_n * frames_[k].n + f_t;
    }
  }
  w_ = u_;
  w_.noalias() += G_ * f_;
  summary->residual_N = std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (summary->sweeps = 0; summary->sweeps < options.max_sweeps;) {
    largest = 0.0;
    for (Index i = 0; i < n; ++i) {
      const Frame& frame = frames_[static_cast<size_t>(i)];
      const Mat3 g = G_.block<3, 3>(3 * i, 3 * i);
      Vec3 f = f_.segment<3>(3 * i);
      const Vec3 before = f;
      Vec3 w = w_.segment<3>(3 * i);
      const Vec3 g_along_n = g * frame.n;
      const double g_n = frame.n.dot(g_along_n), f_n = frame.n.dot(f);
      if (!(g_n > 0)) continue;
      const double normal = std::max(0.0, f_n - (frame.n.dot(w) + gap_[3 * i]) / g_n);
      w += g_along_n * (normal - f_n);
      const Vec3 g1 = g * frame.t1, g2 = g * frame.t2;
      Eigen::Matrix2d A;
      A << frame.t1.dot(g1), frame.t1.dot(g2), frame.t2.dot(g1), frame.t2.dot(g2);
      const Eigen::Vector2d f_t(frame.t1.dot(f), frame.t2.dot(f));
      const Eigen::Vector2d b = Eigen::Vector2d(frame.t1.dot(w), frame.t2.dot(w)) - A * f_t;
      const Eigen::Vector2d friction =
          LeastOnDisk(A, b, contacts_[static_cast<size_t>(i)].law.friction * normal);
      f = normal * frame.n + friction[0] * frame.t1 + friction[1] * frame.t2;
      f_.segment<3>(3 * i) = f;
      if (f != before) w_.noalias() += G_.middleCols<3>(3 * i) * (f - before);
      largest = std::max(largest, f.cwiseAbs().maxCoeff());
    }
    for (Index l = 3 * n; l < u_.size(); ++l) {
      if (!(G_(l, l) > 0)) continue;
      const double f = std::max(0.0, f_[l] - (w_[l] + gap_[l]) / G_(l, l));
      if (f != f_[l]) w_.noalias() += G_.col(l) * (f - f_[l]);
      f_[l] = f;
    }
    ++summary->sweeps;
    // Every fourth sweep is asked whether it is the last; what rounding gathered goes out on the
    // way.
    if (summary->sweeps % 4 == 0 || summary->sweeps < 4) {
      if (summary->sweeps % 64 == 0) {
        w_ = u_;
        w_.noalias() += G_ * f_;
      }
      summary->residual_N = ResidualOnRoundCone();
      if (summary->residual_N <= 0.01 * options.tolerance_N * (1.0 + largest)) break;
    }
  }
  summary->residual_N = ResidualOnRoundCone();
  summary->solved_by =
      f_.allFinite() && summary->residual_N <= options.tolerance_N * (1.0 + largest)
          ? SolvedBy::kGaussSeidel
          : SolvedBy::kNobody;
}

ContactSummary ContactProblem::Solve(const SolveOptions& options) {
  CHECK_GE(options.sides, 4);
  CHECK_EQ(options.sides % 2, 0);
  ContactSummary summary;
  if (u_.size() == 0) {
    summary.solved_by = SolvedBy::kNothing;
    return summary;
  }
  if (!G_.allFinite() || !u_.allFinite() || !gap_.allFinite()) {
    summary.residual_N = std::numeric_limits<double>::infinity();
    ReadForces();
    return summary;
  }
  if (options.solver == ContactSolver::kLemkeThenGaussSeidel && SolveLemke(options, &summary)) {
    summary.solved_by = SolvedBy::kLemke;
  } else {
    SolveGaussSeidel(options, true, &summary);
    if (!f_.allFinite()) f_.setZero();
  }
  ReadForces();
  return summary;
}

void ContactProblem::ReadForces() {
  w_ = u_;
  w_.noalias() += G_ * f_;
  for (size_t i = 0; i < contacts_.size(); ++i) {
    const auto row = static_cast<Index>(3 * i);
    const Vec3& n = contacts_[i].normal_W;
    ContactForce& force = forces_[i];
    force.f_onA_W = f_.segment<3>(row);
    const Vec3 w = w_.segment<3>(row);
    force.slip_W = w - n * n.dot(w);
    const Vec3 friction = force.f_onA_W - n * n.dot(force.f_onA_W);
    const double damper = contacts_[i].law.damping_Ns_per_m / step_s_;
    force.stretch_W = give_[i] * (damper * last_[i].stretch_W - friction);
  }
  for (size_t l = 0; l < limit_forces_.size(); ++l)
    limit_forces_[l] = f_[static_cast<Index>(3 * contacts_.size() + l)];
}

Eigen::VectorXd ContactProblem::GeneralisedForce(int model) const {
  const Block& block = blocks_[static_cast<size_t>(model)];
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(block.model->dofs());
  Index local = 0;
  for (const int row : block.rows) {
    tau += block.JT.middleCols<3>(local) * f_.segment<3>(row);
    local += 3;
  }
  AddLimitForce(model, tau);
  return tau;
}

void ContactProblem::AddLimitForce(int model, Eigen::Ref<Eigen::VectorXd> tau) const {
  const Block& block = blocks_[static_cast<size_t>(model)];
  auto local = 3 * static_cast<Index>(block.rows.size());
  for (size_t l = 0; l < block.limits.size(); ++l, ++local)
    tau += block.JT.col(local) * f_[block.first_limit + static_cast<Index>(l)];
}

void ContactProblem::AddRememberedForce(int model, Eigen::Ref<Eigen::VectorXd> tau) const {
  const Block& block = blocks_[static_cast<size_t>(model)];
  Index local = 0;
  for (const int row : block.rows) {
    tau.noalias() += block.JT.middleCols<3>(local) * last_[static_cast<size_t>(row / 3)].f_onA_W;
    local += 3;
  }
}

void ContactProblem::Advance(ContactMemory* memory) {
  now_.resize(contacts_.size());
  for (size_t i = 0; i < contacts_.size(); ++i)
    now_[i] = {forces_[i].stretch_W, forces_[i].f_onA_W, forces_[i].slip_W};
  // In the axes of the step's start, before the objects move.
  memory->Store(contacts_, now_, *poses_);
  for (size_t m = 0; m < block_count_; ++m) {
    Block& block = blocks_[m];
    block.x = block.model->free_motion();
    Index local = 0;
    for (const int row : block.rows) {
      block.x.noalias() += block.WJT.middleCols<3>(local) * f_.segment<3>(row);
      local += 3;
    }
    for (size_t l = 0; l < block.limits.size(); ++l, ++local)
      block.x += block.WJT.col(local) * f_[block.first_limit + static_cast<Index>(l)];
    block.model->Advance(block.x);
  }
}

}  // namespace handhold::synthesis
