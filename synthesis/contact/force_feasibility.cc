#include "synthesis/contact/force_feasibility.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "database/base/check.h"

namespace handhold::synthesis {

using geometry::Vec3;
using geometry::Vec6;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Of a load of size 1, what forces that balance it may leave.
constexpr double kBalanced = 1e-8;
/// Pivots below this share of their column are rounding: a basis of nearly coincident contacts.
constexpr double kSmallPivot = 1e-9;

Vec6 WrenchOf(const Vec3& p, const Vec3& f, double length_m) {
  Vec6 w;
  w << p.cross(f) / length_m, f;
  return w;
}

/// A simplex of R rows, A x = b, x >= 0, whose columns come from a pricing function. Starts on
/// artificial columns (phase 1), which then stay at 0.
template <int R>
class Simplex {
 public:
  using Column = Eigen::Matrix<double, R, 1>;
  struct Entry {
    Column column;
    double cost = 0.0;
    int owner = -1;  ///< -1: artificial
  };

  explicit Simplex(const Column& b) : b_(b) {
    for (int i = 0; i < R; ++i) {
      basis_[static_cast<size_t>(i)] = {
          b[i] < 0 ? Column(-Column::Unit(i)) : Column(Column::Unit(i)), 0.0, -1};
      inverse_.row(i) = basis_[static_cast<size_t>(i)].column.transpose();
    }
    x_ = b.cwiseAbs();
  }

  /// Dual prices: artificials cost 1 in phase 1 and nothing later.
  Column Dual(bool phase1) const {
    Column cost;
    for (int i = 0; i < R; ++i) {
      const Entry& e = basis_[static_cast<size_t>(i)];
      cost[i] = e.owner < 0 ? (phase1 ? 1.0 : 0.0) : (phase1 ? 0.0 : e.cost);
    }
    return inverse_.transpose() * cost;
  }

  /// Sum of artificials: how far from A x = b.
  double Infeasibility() const {
    double sum = 0.0;
    for (int i = 0; i < R; ++i)
      sum += basis_[static_cast<size_t>(i)].owner < 0 ? std::max(0.0, x_[i]) : 0.0;
    return sum;
  }

  /// Brings a column in. False: nothing stops it (an unbounded ray).
  bool Enter(const Entry& entry, bool phase1) {
    const Column d = inverse_ * entry.column;
    const double scale = d.cwiseAbs().maxCoeff();
    int row = -1;
    double least = kInfinity;
    for (int i = 0; i < R; ++i) {
      const bool artificial = basis_[static_cast<size_t>(i)].owner < 0;
      // An artificial that has reached 0 must not grow again: it leaves at either sign.
      const bool pinned = artificial && !phase1 && std::abs(d[i]) > kSmallPivot * scale;
      if (!pinned && !(d[i] > kSmallPivot * scale)) continue;
      const double ratio = pinned ? 0.0 : std::max(0.0, x_[i]) / d[i];
      const bool tie = std::abs(ratio - least) <= 1e-14 * std::max(1.0, least);
      if (row < 0 || (tie ? std::abs(d[i]) > std::abs(d[row]) : ratio < least)) {
        least = ratio;
        row = i;
      }
    }
    if (row < 0) return false;
    const double pivot = 1.0 / d[row];
    inverse_.row(row) *= pivot;
    const double value = x_[row] * pivot;
    for (int i = 0; i < R; ++i) {
      if (i == row) continue;
      inverse_.row(i) -= d[i] * inverse_.row(row);
      x_[i] -= d[i] * value;
    }
    x_[row] = value;
    basis_[static_cast<size_t>(row)] = entry;
    if (std::abs(d[row]) < 1e-5 * scale) Refresh();
    return true;
  }

  /// From now on every column costs 1, whatever it cost before.
  void Unweigh() {
    for (Entry& e : basis_) e.cost = 1.0;
  }

  /// Sum of what is no artificial.
  double Total() const {
    double sum = 0.0;
    for (int i = 0; i < R; ++i)
      sum += basis_[static_cast<size_t>(i)].owner < 0 ? 0.0 : std::max(0.0, x_[i]);
    return sum;
  }

  /// Basis values anew from the columns: removes what pivots gathered.
  void Refresh() {
    Eigen::Matrix<double, R, R> B;
    for (int i = 0; i < R; ++i) B.col(i) = basis_[static_cast<size_t>(i)].column;
    const Eigen::PartialPivLU<Eigen::Matrix<double, R, R>> lu(B);
    inverse_ = lu.inverse();
    x_ = lu.solve(b_);
  }

  const std::array<Entry, R>& basis() const { return basis_; }
  const Column& x() const { return x_; }

 private:
  Column b_, x_;
  Eigen::Matrix<double, R, R> inverse_;
  std::array<Entry, R> basis_;
};

/// The force per newton of normal force that does most along `g`, and how much that is.
struct BestRay {
  Vec3 f;
  double value = 0.0;
};

BestRay RayAlong(const ForceContact& c, double friction, const Vec3& g) {
  const double along_n = c.normal_O.dot(g);
  if (c.slides_O) {
    const Vec3 side = *c.slides_O - c.normal_O * c.normal_O.dot(*c.slides_O);
    const double length = side.norm();
    const Vec3 f = length > 0 ? Vec3(c.normal_O + (friction / length) * side) : c.normal_O;
    return {f, f.dot(g)};
  }
  const Vec3 side = g - along_n * c.normal_O;
  const double length = side.norm();
  if (!(length > 0)) return {c.normal_O, along_n};
  return {c.normal_O + (friction / length) * side, along_n + friction * length};
}

}  // namespace

void SolveLeastForce(std::span<const ForceContact> contacts, const Vec6& w_O,
                     const ForceOptions& options, ForceWorkspace* workspace, ForceAnswer* answer) {
  (void)workspace;
  const size_t n = contacts.size();
  answer->f_O.assign(n, Vec3::Zero());
  answer->total_N = 0.0;
  answer->iterations = 0;
  answer->missing.setZero();
  answer->outcome = ForceOutcome::kNotConverged;
  Vec6 wanted = w_O;
  wanted.head<3>() /= options.length_m;
  if (options.min_normal_N > 0) {
    for (size_t i = 0; i < n; ++i) {
      if (contacts[i].slides_O) continue;
      answer->f_O[i] = options.min_normal_N * contacts[i].normal_O;
      wanted -= WrenchOf(contacts[i].p_O, answer->f_O[i], options.length_m);
      answer->total_N += options.min_normal_N;
    }
  }
  const double size = wanted.norm();
  if (!std::isfinite(size)) return;
  if (size <= 1e-12) {
    answer->outcome =
        answer->total_N <= options.max_total_N ? ForceOutcome::kBalanced : ForceOutcome::kTooMuch;
    return;
  }
  wanted /= size;
  const double most = std::max(0.0, options.max_total_N - answer->total_N) / size;

  bool weighted = true;  // false once the cheapest forces have proved to be too many newtons
  Simplex<6> simplex(wanted);
  using Entry = Simplex<6>::Entry;
  const auto price = [&](const Vec6& y, bool phase1, Entry* best) {
    double best_gain = -kInfinity;
    for (size_t i = 0; i < n; ++i) {
      const ForceContact& c = contacts[i];
      // y . wrench(f) = f . (y_f + y_t x p / length).
      const Vec3 y_t = y.head<3>(), y_f = y.tail<3>();
      const BestRay ray = RayAlong(c, options.friction_scale * c.friction,
                                   y_f + y_t.cross(c.p_O) / options.length_m);
      const double weight = weighted ? c.weight : 1.0;
      const double cost = phase1 ? 0.0 : weight;
      const double gain = (ray.value - cost) / weight;
      if (gain > best_gain) {
        best_gain = gain;
        *best = {WrenchOf(c.p_O, ray.f, options.length_m), weight, static_cast<int>(i)};
      }
    }
    return best_gain;
  };

  bool phase1 = true, least = false;
  Entry entering;
  for (; answer->iterations < options.max_iterations; ++answer->iterations) {
    if (phase1 && simplex.Infeasibility() <= 1e-10) phase1 = false;
    const Vec6 y = simplex.Dual(phase1);
    const double gain = n > 0 ? price(y, phase1, &entering) : -kInfinity;
    if (phase1) {
      // For any admissible forces of total T: y . wanted <= gain T. So beyond `most` nothing helps.
      // y . wanted and not the artificials' sum: it stays a proof where the basis is nearly
      // singular.
      const double short_of = y.dot(wanted);
      if (!(gain > 0) || gain * entering.cost * most < short_of * (1 - 1e-9)) {
        double best_value = 0.0;  // the bound needs the largest value, not the largest per weight
        for (size_t i = 0; i < n; ++i) {
          const Vec3 y_t = y.head<3>(), y_f = y.tail<3>();
          best_value = std::max(best_value,
                                RayAlong(contacts[i], options.friction_scale * contacts[i].friction,
                                         y_f + y_t.cross(contacts[i].p_O) / options.length_m)
                                    .value);
        }
        // What rounding may have put into either side proves nothing.
        const double rounding = 1e-12 * y.norm() * (1 + most);
        if (best_value * most < short_of * (1 - 1e-9) - rounding) {
          answer->outcome = ForceOutcome::kImpossible;
          answer->missing = y.normalized();
          std::fill(answer->f_O.begin(), answer->f_O.end(), Vec3::Zero());
          answer->total_N = 0.0;
          return;
        }
        if (!(gain > 0)) break;  // neither proved nor nearer
      }
    } else if (gain <= options.tolerance) {
      least = !weighted || simplex.Total() <= most * (1 + 1e-9);
      if (least) break;
      weighted = false;
      simplex.Unweigh();
      continue;
    }
    if (!simplex.Enter(entering, phase1)) break;
    if (answer->iterations % 32 == 31) simplex.Refresh();
  }
  if (phase1) return;
  simplex.Refresh();
  Vec6 rest = wanted;  // what the forces answered leave of the load
  for (int i = 0; i < 6; ++i) {
    const Entry& e = simplex.basis()[static_cast<size_t>(i)];
    if (e.owner < 0) continue;
    const double share = std::max(0.0, simplex.x()[i]);
    rest -= share * e.column;
    const double amount = size * share;
    answer->f_O[static_cast<size_t>(e.owner)] += amount * e.column.tail<3>();
    answer->total_N += amount;
  }
  // Contacts that nearly coincide make bases nearly singular: no answer that does not balance.
  if (!least || !(rest.norm() <= kBalanced)) return;
  answer->outcome = answer->total_N <= options.max_total_N * (1 + 1e-9) ? ForceOutcome::kBalanced
                                                                        : ForceOutcome::kTooMuch;
}

double GripMargin(std::span<const ForceContact> contacts, const Vec6& w_O,
                  const ForceOptions& options, ForceWorkspace* workspace) {
  ForceAnswer answer;
  ForceOptions scaled = options;
  const auto holds = [&](double share) {
    scaled.friction_scale = options.friction_scale * share;
    SolveLeastForce(contacts, w_O, scaled, workspace, &answer);
    return answer.outcome == ForceOutcome::kBalanced;
  };
  if (holds(0.0)) return 1.0;
  double fails = 0.0, least = 1.0;
  if (!holds(1.0)) {
    if (!holds(2.0)) return -1.0;
    fails = 1.0;
    least = 2.0;
  }
  while (least - fails > 1.0 / 256) {
    const double middle = 0.5 * (fails + least);
    (holds(middle) ? least : fails) = middle;
  }
  return 1.0 - least;
}

namespace {

/// 192 directions over the unit sphere in six dimensions: Halton points through a Gaussian.
const std::array<Vec6, 192>& Directions() {
  static const std::array<Vec6, 192> directions = [] {
    std::array<Vec6, 192> out;
    constexpr std::array<int, 6> kPrimes = {2, 3, 5, 7, 11, 13};
    const auto halton = [](int index, int base) {
      double f = 1.0, r = 0.0;
      for (; index > 0; index /= base) {
        f /= base;
        r += f * (index % base);
      }
      return r;
    };
    for (int i = 0; i < 192; ++i) {
      Vec6 v;
      for (int k = 0; k < 6; k += 2) {
        const double u1 = halton(i / 2 + 20, kPrimes[static_cast<size_t>(k)]);
        const double u2 = halton(i / 2 + 20, kPrimes[static_cast<size_t>(k) + 1]);
        const double r = std::sqrt(-2 * std::log(u1));
        v[k] = r * std::cos(2 * M_PI * u2);
        v[k + 1] = r * std::sin(2 * M_PI * u2);
      }
      out[static_cast<size_t>(i)] = (i % 2 ? -1.0 : 1.0) * v.normalized();
    }
    return out;
  }();
  return directions;
}

/// Farthest that unit normal forces in all reach along y, and where.
double Support(std::span<const ForceContact> contacts, const ForceOptions& options, const Vec6& y,
               Vec6* at) {
  double best = -kInfinity;
  const Vec3 y_t = y.head<3>(), y_f = y.tail<3>();
  Vec3 f = Vec3::Zero(), p = Vec3::Zero();
  for (const ForceContact& c : contacts) {
    const BestRay ray =
        RayAlong(c, options.friction_scale * c.friction, y_f + y_t.cross(c.p_O) / options.length_m);
    if (ray.value > best) {
      best = ray.value;
      f = ray.f;
      p = c.p_O;
    }
  }
  *at = WrenchOf(p, f, options.length_m);
  return best;
}

/// Least |sum a_i w_i|, a >= 0, sum a = 1: the point of a hull nearest to the origin (Wolfe 1976).
double NearestOfHull(std::span<const Vec6> points) {
  if (points.empty()) return 0.0;
  std::vector<size_t> corral;
  std::vector<double> weight;
  size_t first = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].squaredNorm() < points[first].squaredNorm()) first = i;
  }
  corral = {first};
  weight = {1.0};
  Vec6 x = points[first];
  double scale = 0.0;
  for (const Vec6& p : points) scale = std::max(scale, p.squaredNorm());
  for (int major = 0; major < 200; ++major) {
    size_t next = 0;
    for (size_t i = 1; i < points.size(); ++i) {
      if (points[i].dot(x) < points[next].dot(x)) next = i;
    }
    if (points[next].dot(x) > x.squaredNorm() - 1e-12 * scale ||
        std::find(corral.begin(), corral.end(), next) != corral.end())
      break;
    corral.push_back(next);
    weight.push_back(0.0);
    while (true) {
      const auto m = static_cast<Eigen::Index>(corral.size());
      // The nearest point of their affine hull.
      Eigen::MatrixXd A(m, m);
      for (Eigen::Index i = 0; i < m; ++i) {
        for (Eigen::Index j = 0; j < m; ++j) {
          A(i, j) = scale + points[corral[static_cast<size_t>(i)]].dot(
                                points[corral[static_cast<size_t>(j)]]);
        }
      }
      Eigen::VectorXd mu = A.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(m));
      mu /= mu.sum();
      if (mu.minCoeff() > 1e-12) {
        for (Eigen::Index i = 0; i < m; ++i) weight[static_cast<size_t>(i)] = mu[i];
        break;
      }
      double theta = 1.0;
      size_t leaves = 0;
      for (size_t i = 0; i < corral.size(); ++i) {
        const double to = mu[static_cast<Eigen::Index>(i)];
        if (to > 1e-12) continue;
        const double share = weight[i] / (weight[i] - to);
        if (share <= theta) {
          theta = share;
          leaves = i;
        }
      }
      for (size_t i = 0; i < corral.size(); ++i)
        weight[i] += theta * (mu[static_cast<Eigen::Index>(i)] - weight[i]);
      corral.erase(corral.begin() + static_cast<std::ptrdiff_t>(leaves));
      weight.erase(weight.begin() + static_cast<std::ptrdiff_t>(leaves));
      if (corral.size() == 1) {
        weight[0] = 1.0;
        break;
      }
    }
    x.setZero();
    for (size_t i = 0; i < corral.size(); ++i) x += weight[i] * points[corral[i]];
  }
  return x.norm();
}

/// Most l with sum of edges' wrenches 0, weights >= l, sum 1: weights = l + rest.
double MinWeight(std::span<const Vec6> edges) {
  using Column = Eigen::Matrix<double, 7, 1>;
  Column b = Column::Zero();
  b[6] = 1.0;
  Simplex<7> simplex(b);
  Column all = Column::Zero();
  for (const Vec6& w : edges) all.head<6>() += w;
  all[6] = static_cast<double>(edges.size());
  bool phase1 = true;
  for (int iteration = 0; iteration < 500; ++iteration) {
    if (phase1 && simplex.Infeasibility() <= 1e-10) phase1 = false;
    const Column y = simplex.Dual(phase1);
    Simplex<7>::Entry best;
    double gain = 0.0;
    // Most of l: it costs -1, the rest nothing.
    const auto consider = [&](const Column& column, double cost, int owner) {
      const double g = (column.dot(y) - (phase1 ? 0.0 : cost)) / column.norm();
      if (g > gain) {
        gain = g;
        best = {column, cost, owner};
      }
    };
    consider(all, -1.0, 0);
    for (size_t i = 0; i < edges.size(); ++i) {
      Column column;
      column << edges[i], 1.0;
      consider(column, 0.0, static_cast<int>(i) + 1);
    }
    if (!(gain > 1e-10)) break;
    if (!simplex.Enter(best, phase1)) break;
    if (iteration % 32 == 31) simplex.Refresh();
  }
  if (phase1) return 0.0;
  double l = 0.0;
  for (int i = 0; i < 7; ++i) {
    if (simplex.basis()[static_cast<size_t>(i)].owner == 0) l += std::max(0.0, simplex.x()[i]);
  }
  return l * static_cast<double>(edges.size());
}

}  // namespace

double EpsilonBound(std::span<const ForceContact> contacts, const ForceOptions& options) {
  if (contacts.empty()) return 0.0;
  struct Start {
    double reach;
    Vec6 y;
  };
  std::array<Start, 6> best;
  best.fill({kInfinity, Vec6::Zero()});
  Vec6 at;
  for (const Vec6& y : Directions()) {
    const double reach = Support(contacts, options, y, &at);
    if (reach >= best.back().reach) continue;
    best.back() = {reach, y};
    for (size_t k = best.size() - 1; k > 0 && best[k].reach < best[k - 1].reach; --k)
      std::swap(best[k], best[k - 1]);
  }
  double least = kInfinity;
  for (const Start& start : best) {
    Vec6 y = start.y;
    double reach = start.reach, step = 0.3;
    for (int i = 0; i < 120 && step > 1e-6; ++i) {
      Support(contacts, options, y, &at);
      Vec6 down = at - y * y.dot(at);  // along the sphere: the slope of y . at
      const double slope = down.norm();
      if (!(slope > 1e-12)) break;
      const Vec6 trial = (y - step * down / slope).normalized();
      const double there = Support(contacts, options, trial, &at);
      if (there < reach) {
        reach = there;
        y = trial;
        step *= 1.3;
      } else {
        step *= 0.6;
      }
    }
    least = std::min(least, reach);
  }
  return std::max(0.0, least);
}

GraspScores ScoreGrasp(std::span<const ForceContact> contacts, const ForceOptions& options,
                       ForceWorkspace* workspace) {
  GraspScores scores;
  if (contacts.empty()) {
    scores.fmax_N = kInfinity;
    return scores;
  }
  std::vector<Vec6>& columns = workspace->columns;
  columns.clear();
  Vec6 sum = Vec6::Zero();
  for (const ForceContact& c : contacts) {
    columns.push_back(WrenchOf(c.p_O, c.normal_O, options.length_m));
    sum += columns.back();
  }
  scores.dfc = sum.norm() / static_cast<double>(contacts.size());
  scores.net = NearestOfHull(columns);

  columns.clear();
  for (const ForceContact& c : contacts) {
    Vec3 t1 = c.normal_O.cross(std::abs(c.normal_O.z()) < 0.9 ? Vec3::UnitZ() : Vec3::UnitX());
    t1.normalize();
    const Vec3 t2 = c.normal_O.cross(t1);
    for (int k = 0; k < 8; ++k) {
      const double angle = M_PI * k / 4, mu = options.friction_scale * c.friction;
      const Vec3 f = c.normal_O + mu * (std::cos(angle) * t1 + std::sin(angle) * t2);
      columns.push_back(WrenchOf(c.p_O, f, options.length_m));
    }
  }
  scores.min_weight = MinWeight(columns);
  ForceAnswer answer;
  for (int k = 0; k < 6; ++k) {
    Vec6 w = Vec6::Zero();
    w[3 + k / 2] = k % 2 ? -1.0 : 1.0;
    SolveLeastForce(contacts, w, options, workspace, &answer);
    scores.fmax_N = std::max(
        scores.fmax_N, answer.outcome == ForceOutcome::kBalanced ? answer.total_N : kInfinity);
  }
  // Descent can end in a dale beside the direction that cannot be had: asked for certain first.
  const bool closed = scores.min_weight > 0 && std::isfinite(scores.fmax_N);
  scores.epsilon = closed ? EpsilonBound(contacts, options) : 0.0;
  return scores;
}

}  // namespace handhold::synthesis
