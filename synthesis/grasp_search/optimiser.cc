#include "synthesis/grasp_search/optimiser.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <Eigen/Eigenvalues>

#include "database/base/check.h"
#include "database/base/random.h"

namespace handhold::synthesis {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Counts, keeps the best, and speaks of coordinates in [0, 1].
class Task {
 public:
  Task(const std::function<double(const VectorXd&)>& function, const VectorXd& lower,
       const VectorXd& upper, const std::vector<VectorXd>& starts, const OptimiserOptions& options)
      : function_(function),
        lower_(lower),
        span_(upper - lower),
        left_(options.evaluations),
        random_(options.seed * 2654435761u + 17) {
    for (const VectorXd& s : starts) {
      VectorXd u = (s - lower).cwiseQuotient(span_.cwiseMax(1e-300));
      starts_.push_back(u.cwiseMax(0.0).cwiseMin(1.0));
    }
    best.value = std::numeric_limits<double>::infinity();
  }
  Index size() const { return lower_.size(); }
  bool done() const { return left_ <= 0; }
  double Ask(const VectorXd& u) {
    if (done()) return std::numeric_limits<double>::infinity();
    --left_;
    ++best.evaluations;
    const VectorXd x = lower_ + u.cwiseMax(0.0).cwiseMin(1.0).cwiseProduct(span_);
    const double value = function_(x);
    if (value < best.value || best.x.size() == 0) {
      best.value = value;
      best.x = x;
    }
    return value;
  }
  double Unit() { return random_.Unit(); }
  double Normal() { return random_.Normal(); }
  VectorXd Anywhere() {
    VectorXd u(size());
    for (Index k = 0; k < size(); ++k) u[k] = Unit();
    return u;
  }
  /// The next of the points to begin from; then anywhere.
  VectorXd Next() { return used_ < starts_.size() ? starts_[used_++] : Anywhere(); }
  bool begun() const { return used_ >= starts_.size(); }
  OptimiserResult best;

 private:
  const std::function<double(const VectorXd&)>& function_;
  VectorXd lower_, span_;
  int left_;
  Random random_;
  std::vector<VectorXd> starts_;
  size_t used_ = 0;
};

/// Steps along each axis and along the last success; a success doubles a step, a failure turns and
/// halves it. When all are small the place is kept, and the next climb begins far from all of them.
void DynamicHillClimbing(Task* task) {
  const Index n = task->size();
  std::vector<VectorXd> ended;
  constexpr double kFirst = 0.15, kSmall = 2e-3;
  while (!task->done()) {
    VectorXd at = task->Next();
    if (task->begun() && !ended.empty()) {
      // Of eight points the one farthest from where climbs ended.
      double far = -1;
      for (int k = 0; k < 8; ++k) {
        const VectorXd tried = task->Anywhere();
        double near = std::numeric_limits<double>::infinity();
        for (const VectorXd& e : ended) near = std::min(near, (tried - e).norm());
        if (near > far) far = near, at = tried;
      }
    }
    double value = task->Ask(at);
    VectorXd step = VectorXd::Constant(n, kFirst), last = VectorXd::Zero(n);
    while (!task->done() && (step.cwiseAbs().maxCoeff() > kSmall)) {
      // The longest step first; the last way gone is tried again with it.
      Index k = 0;
      step.cwiseAbs().maxCoeff(&k);
      VectorXd way = VectorXd::Zero(n);
      way[k] = step[k];
      bool moved = false;
      for (const double side : {1.0, -1.0}) {
        const VectorXd to = (at + side * way).cwiseMax(0.0).cwiseMin(1.0);
        const double there = task->Ask(to);
        if (there < value) {
          last = to - at;
          at = to;
          value = there;
          step[k] *= side * 1.6;
          moved = true;
          break;
        }
        if (task->done()) break;
      }
      if (!moved) {
        step[k] *= 0.5;
        if (last.squaredNorm() > 0 && !task->done()) {
          const VectorXd to = (at + last).cwiseMax(0.0).cwiseMin(1.0);
          const double there = task->Ask(to);
          if (there < value) {
            at = to;
            value = there;
            last *= 1.3;
          } else {
            last.setZero();
          }
        }
      }
      step = step.cwiseMax(-0.5).cwiseMin(0.5);
    }
    ended.push_back(at);
  }
}

void Annealing(Task* task, int evaluations) {
  const Index n = task->size();
  VectorXd at = task->Next();
  double value = task->Ask(at);
  // The first temperature is the spread of a few moves.
  double heat = 0.0;
  for (int k = 0; k < 10 && !task->done(); ++k) {
    VectorXd to = at;
    for (Index i = 0; i < n; ++i) to[i] += 0.15 * task->Normal();
    const double there = task->Ask(to.cwiseMax(0.0).cwiseMin(1.0));
    heat += std::min(std::abs(there - value), 1e3) / 10;
    if (there < value) at = to.cwiseMax(0.0).cwiseMin(1.0), value = there;
  }
  const double cooling = std::pow(1e-3, 1.0 / std::max(1, evaluations));
  double temperature = std::max(1e-12, heat), share = 1.0;
  while (!task->done()) {
    VectorXd to = at;
    const double sd = 0.15 * std::pow(share, 0.4) + 0.003;
    for (Index i = 0; i < n; ++i) to[i] += sd * task->Normal();
    to = to.cwiseMax(0.0).cwiseMin(1.0);
    const double there = task->Ask(to);
    if (there < value || task->Unit() < std::exp((value - there) / temperature)) {
      at = to;
      value = there;
    }
    temperature *= cooling;
    share *= cooling;
  }
}

void Genetic(Task* task) {
  struct One {
    VectorXd x;
    double value;
  };
  const Index n = task->size();
  constexpr size_t kSize = 30;
  std::vector<One> all;
  for (size_t i = 0; i < kSize && !task->done(); ++i) {
    One one{task->Next(), 0};
    one.value = task->Ask(one.x);
    all.push_back(one);
  }
  for (int generation = 0; !task->done(); ++generation) {
    const double sd = std::max(0.01, 0.12 * std::pow(0.93, generation));
    std::vector<One> next = {*std::ranges::min_element(all, {}, &One::value)};
    const auto pick = [&]() -> const One& {
      const auto any = [&] {
        return std::min(all.size() - 1,
                        static_cast<size_t>(task->Unit() * static_cast<double>(all.size())));
      };
      const One &a = all[any()], &b = all[any()];
      return a.value < b.value ? a : b;
    };
    while (next.size() < kSize && !task->done()) {
      const One &a = pick(), &b = pick();
      One child{VectorXd(n), 0};
      for (Index k = 0; k < n; ++k) {
        const double mix = -0.25 + 1.5 * task->Unit();
        child.x[k] = a.x[k] + mix * (b.x[k] - a.x[k]);
        if (task->Unit() < 0.4) child.x[k] += sd * task->Normal();
      }
      child.x = child.x.cwiseMax(0.0).cwiseMin(1.0);
      child.value = task->Ask(child.x);
      next.push_back(std::move(child));
    }
    all = std::move(next);
  }
}

void CmaEs(Task* task) {
  const Index n = task->size();
  const auto dn = static_cast<double>(n);
  while (!task->done()) {
    const int lambda = 4 + static_cast<int>(3 * std::log(dn)), mu = lambda / 2;
    VectorXd weight(mu);
    for (int i = 0; i < mu; ++i) weight[i] = std::log(mu + 0.5) - std::log(i + 1.0);
    weight /= weight.sum();
    const double mueff = 1 / weight.squaredNorm();
    const double cc = (4 + mueff / dn) / (dn + 4 + 2 * mueff / dn);
    const double cs = (mueff + 2) / (dn + mueff + 5);
    const double c1 = 2 / ((dn + 1.3) * (dn + 1.3) + mueff);
    const double cmu =
        std::min(1 - c1, 2 * (mueff - 2 + 1 / mueff) / ((dn + 2) * (dn + 2) + mueff));
    const double damps = 1 + 2 * std::max(0.0, std::sqrt((mueff - 1) / (dn + 1)) - 1) + cs;
    const double chi = std::sqrt(dn) * (1 - 1 / (4 * dn) + 1 / (21 * dn * dn));
    VectorXd mean = task->Next(), pc = VectorXd::Zero(n), ps = pc;
    MatrixXd C = MatrixXd::Identity(n, n);
    double sigma = 0.2;
    task->Ask(mean);
    for (int generation = 1; !task->done() && sigma > 1e-4; ++generation) {
      const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(C);
      const VectorXd d = eigen.eigenvalues().cwiseMax(1e-14).cwiseSqrt();
      const MatrixXd& B = eigen.eigenvectors();
      std::vector<std::pair<double, VectorXd>> born;
      for (int i = 0; i < lambda && !task->done(); ++i) {
        VectorXd z(n);
        for (Index k = 0; k < n; ++k) z[k] = task->Normal();
        VectorXd x = mean + sigma * (B * d.cwiseProduct(z));
        x = x.cwiseMax(0.0).cwiseMin(1.0);
        const double value = task->Ask(x);
        born.emplace_back(value, std::move(x));
      }
      if (static_cast<int>(born.size()) < lambda) break;
      std::ranges::stable_sort(born, {}, [](const auto& b) { return b.first; });
      const VectorXd before = mean;
      mean.setZero();
      for (int i = 0; i < mu; ++i) mean += weight[i] * born[static_cast<size_t>(i)].second;
      const VectorXd y = (mean - before) / sigma;
      ps = (1 - cs) * ps +
           std::sqrt(cs * (2 - cs) * mueff) * (B * (B.transpose() * y).cwiseQuotient(d));
      const bool long_enough =
          ps.norm() / std::sqrt(1 - std::pow(1 - cs, 2.0 * generation)) / chi < 1.4 + 2 / (dn + 1);
      pc = (1 - cc) * pc;
      if (long_enough) pc += std::sqrt(cc * (2 - cc) * mueff) * y;
      C *= 1 - c1 - cmu;
      C += c1 * (pc * pc.transpose());
      for (int i = 0; i < mu; ++i) {
        const VectorXd s = (born[static_cast<size_t>(i)].second - before) / sigma;
        C += cmu * weight[i] * (s * s.transpose());
      }
      sigma *= std::exp(cs / damps * (ps.norm() / chi - 1));
      sigma = std::min(sigma, 0.5);
    }
  }
}

}  // namespace

std::string_view OptimiserName(OptimiserKind kind) {
  switch (kind) {
    case OptimiserKind::kDynamicHillClimbing:
      return "dhc";
    case OptimiserKind::kAnnealing:
      return "sa";
    case OptimiserKind::kGenetic:
      return "ga";
    case OptimiserKind::kCmaEs:
      break;
  }
  return "cma-es";
}

OptimiserResult Minimise(OptimiserKind kind, const std::function<double(const VectorXd&)>& function,
                         const VectorXd& lower, const VectorXd& upper,
                         const std::vector<VectorXd>& starts, const OptimiserOptions& options) {
  CHECK_EQ(lower.size(), upper.size());
  CHECK((upper - lower).minCoeff() >= 0);
  OptimiserOptions used = options;
  used.evaluations = std::max(1, used.evaluations);
  Task task(function, lower, upper, starts, used);
  switch (kind) {
    case OptimiserKind::kDynamicHillClimbing:
      DynamicHillClimbing(&task);
      break;
    case OptimiserKind::kAnnealing:
      Annealing(&task, used.evaluations);
      break;
    case OptimiserKind::kGenetic:
      Genetic(&task);
      break;
    case OptimiserKind::kCmaEs:
      CmaEs(&task);
      break;
  }
  return task.best;
}

}  // namespace handhold::synthesis
