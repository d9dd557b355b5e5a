#include "tools/lab/program.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "database/base/minimum_jerk.h"
#include "tools/lab/random.h"

namespace handhold::lab {
namespace {

using geometry::Vec3;
using Rows = std::vector<Eigen::VectorXd>;

constexpr double kDt = 1.0 / kProgramRate_Hz;
constexpr double kDegree = std::numbers::pi / 180.0;
constexpr double kSmoothing_s = 0.008;
constexpr double kRest_s = 0.050;  ///< at both ends of every segment: beyond the smoothing's reach
constexpr double kMaxAcceleration_rad_per_s2 = 100.0;
constexpr double kClearance_m = 0.004;
constexpr int kMaxRedraws = 200;
/// Fast dips go this gently: their sharp end, where the plate has long been touched, is no part of
/// what a polynomial reference can follow.
constexpr double kDipDeceleration_m_per_s2 = 3.0;
constexpr double kUsualFriction = 0.5;  ///< what the subject reckons with when it plans
constexpr double kMostWedged = 1.75;    ///< see InwardShare

Eigen::MatrixXd ToMatrix(const Rows& rows) {
  Eigen::MatrixXd m(static_cast<Eigen::Index>(rows.size()), rows.front().size());
  for (size_t i = 0; i < rows.size(); ++i)
    m.row(static_cast<Eigen::Index>(i)) = rows[i].transpose();
  return m;
}

/// Gaussian smoothing down the columns; beyond the ends the end value goes on.
Eigen::MatrixXd Smooth(const Eigen::MatrixXd& rows) {
  const int reach = static_cast<int>(std::ceil(5 * kSmoothing_s / kDt));
  Eigen::VectorXd kernel(2 * reach + 1);
  for (int k = -reach; k <= reach; ++k)
    kernel[k + reach] = std::exp(-0.5 * std::pow(k * kDt / kSmoothing_s, 2));
  kernel /= kernel.sum();
  const Eigen::Index n = rows.rows();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(n, rows.cols());
  for (Eigen::Index i = 0; i < n; ++i) {
    for (int k = -reach; k <= reach; ++k) {
      out.row(i) += kernel[k + reach] * rows.row(std::clamp<Eigen::Index>(i + k, 0, n - 1));
    }
  }
  return out;
}

double PeakAcceleration(const Eigen::MatrixXd& rows) {
  double peak = 0;
  for (Eigen::Index i = 1; i + 1 < rows.rows(); ++i) {
    peak =
        std::max(peak, (rows.row(i + 1) - 2 * rows.row(i) + rows.row(i - 1)).cwiseAbs().maxCoeff() /
                           (kDt * kDt));
  }
  return peak;
}

void AppendHold(double seconds, Rows* rows) {
  const int n = static_cast<int>(std::lround(seconds / kDt));
  for (int i = 0; i < n; ++i) rows->push_back(rows->back());
}

/// Minimum-jerk in joint space, with the wrist lifted on the way as far as clearance asks.
void AppendMove(const Chain& chain, const PlateGeometry& plate, const Eigen::VectorXd& to,
                Rows* rows) {
  const Eigen::VectorXd from = rows->back();
  const double distance = (to - from).cwiseAbs().maxCoeff();
  const int n =
      static_cast<int>(std::lround(std::max(0.20, std::sqrt(5.77 * distance / 60.0)) / kDt));
  const double floor = plate.top_z_m + plate.tip_radius_m + kClearance_m;
  for (double lift = 0.0; lift < 0.6; lift += 0.04) {
    Rows move;
    bool clear = true;
    for (int i = 1; i <= n; ++i) {
      const double s = static_cast<double>(i) / n;
      Eigen::VectorXd q = from + MinimumJerk(s) * (to - from);
      q[0] -= chain.flexion_sign()[0] * lift * 64 * std::pow(s * (1 - s), 3);
      clear = clear && chain.LowestPoint(q) > floor;
      move.push_back(std::move(q));
    }
    if (clear || lift > 0.55) {
      rows->insert(rows->end(), move.begin(), move.end());
      return;
    }
  }
}

/// The fingertip's height above touch through a stroke, and how far the sweep has come.
struct StrokeShape {
  double speed = 0.1, depth = 0.01, hold_s = 0.2, lift_speed = 0.1, hover = 0.015;
  static constexpr double kRamp_s = 0.060;

  double approach_s() const {
    return kRamp_s + std::max(0.0, hover - 0.5 * speed * kRamp_s) / speed;
  }
  double dip_s() const { return 0.5 * std::numbers::pi * depth / speed; }
  double lift_s() const { return 0.5 * std::numbers::pi * depth / lift_speed; }
  double retreat_s() const {
    return kRamp_s + std::max(0.0, hover - 0.5 * lift_speed * kRamp_s) / lift_speed;
  }
  double total_s() const { return approach_s() + dip_s() + hold_s + lift_s() + retreat_s(); }

  /// Distance covered by a speed that rises as half a cosine over kRamp_s to `v` and then stays.
  static double Ramp(double t, double v) {
    if (t < kRamp_s)
      return 0.5 * v * (t - kRamp_s / std::numbers::pi * std::sin(std::numbers::pi * t / kRamp_s));
    return 0.5 * v * kRamp_s + v * (t - kRamp_s);
  }
  double Height(double t) const {
    const double start = Ramp(approach_s(), speed), end = Ramp(retreat_s(), lift_speed);
    if (t < approach_s()) return start - Ramp(t, speed);
    t -= approach_s();
    if (t < dip_s()) return -depth * std::sin(speed * t / depth);
    t -= dip_s();
    if (t < hold_s) return -depth;
    t -= hold_s;
    if (t < lift_s()) return -depth * std::cos(lift_speed * t / depth);
    t -= lift_s();
    return end - Ramp(std::max(0.0, retreat_s() - t), lift_speed);
  }
  double Swept(double t) const {
    return MinimumJerk((t - approach_s()) / (dip_s() + hold_s + lift_s()));
  }
};

/// What a stroke must give inward per depth. A pressed finger gives outward: dipped straight down
/// its tip slides out along the plate, and where friction holds it, it wedges itself and presses
/// far more than it would sliding. Dipped inward by all that it gives, the tip stays where it
/// touched; but then every stroke of a posture loads the joints by one ratio, and none of them is
/// told from its neighbours. So: as straight down as keeps the force of a tip that sticks below
/// kMostWedged times that of one that slides.
double InwardSlant(const Eigen::Matrix3Xd& J, const Eigen::VectorXd& compliance,
                   double plate_compliance) {
  const auto between = [&](Eigen::Index a, Eigen::Index b) {
    return J.row(a).dot(compliance.cwiseProduct(J.row(b).transpose()));
  };
  const double gzz = between(2, 2) + plate_compliance, gxx = between(0, 0) + plate_compliance,
               gxz = between(0, 2);
  const double outward = gxz / gzz, coupled = gxz * outward / gxx;
  if (coupled < 1e-6) return 0.0;
  // Force per depth and 1/gzz of a tip that sticks, at a share s of the slant: (1 - s coupled) /
  // (1 - coupled).
  const double sliding = 1.0 / std::max(0.2, 1.0 - kUsualFriction * std::abs(outward));
  const double share = (1.0 - kMostWedged * sliding * (1.0 - coupled)) / coupled;
  return std::clamp(share, 0.0, 1.0) * outward;
}

struct PlannedStroke {
  TruthStroke truth;
  Rows rows;
};

struct StrokeRequest {
  const Posture* posture = nullptr;
  std::string task;
  const PlantedImpedance* impedance = nullptr;
  double speed = 0.1, force_low = 1.0, force_high = 2.0;
  double raise_m = 0.0;  ///< above the plate: free strokes
};

Result<PlannedStroke> DrawStroke(const StrokeRequest& request, const Chain& chain,
                                 const PlateGeometry& plate, Random* random, std::string* reason) {
  *reason = "out of reach";
  const Posture& posture = *request.posture;
  const int n = chain.nv();
  Eigen::VectorXd q(n);
  for (int j = 0; j < n; ++j) {
    const double jitter = j == 0 ? 0.0 : random->Uniform(-posture.jitter_deg, posture.jitter_deg);
    q[j] =
        chain.flexion_sign()[j] * kDegree * (posture.flexion_deg[static_cast<size_t>(j)] + jitter);
  }
  StrokeShape shape;
  shape.speed = request.speed;
  const double force = random->Uniform(request.force_low, request.force_high);
  const double sweep = random->Uniform(posture.min_sweep_m, posture.max_sweep_m) *
                       (posture.sweeps_outward ? 1.0 : -1.0);
  shape.hold_s = random->Uniform(0.15, 0.35);
  HANDHOLD_ASSIGN(const Eigen::VectorXd q_touch,
                  chain.TurnWristToHeight(q, plate.top_z_m + plate.tip_radius_m + request.raise_m));
  const Vec3 touch = chain.Tip(q_touch);
  const Eigen::Matrix3Xd J = chain.TipJacobian(q_touch);
  const Eigen::VectorXd CJz =
      request.impedance->compliance_rad_per_Nm.cwiseProduct(J.row(2).transpose());
  const double give = J.row(2).dot(CJz) + plate.compliance_m_per_N;
  const double slant =
      InwardSlant(J, request.impedance->compliance_rad_per_Nm, plate.compliance_m_per_N);
  // Slow strokes stay shallow so that the dip takes at most 0.45 s, fast ones go deep enough to be
  // stopped gently.
  const double gentle = shape.speed * shape.speed / kDipDeceleration_m_per_s2;
  shape.depth = std::clamp(force * give, gentle, std::max(shape.speed * 0.286, 1.02 * gentle));
  shape.lift_speed = std::max(shape.speed, 0.08);
  shape.hover = 0.010 + 0.05 * shape.speed;

  PlannedStroke stroke;
  stroke.truth.task = request.task;
  stroke.truth.posture = posture.name;
  stroke.truth.speed_m_per_s = shape.speed;
  stroke.truth.planned_force_N = shape.depth / give;
  stroke.truth.p_W_touch = touch;
  stroke.truth.q_touch = q_touch;
  stroke.truth.sweep_W = {sweep, 0, 0};
  Eigen::VectorXd ease = Eigen::VectorXd::Ones(n);
  ease[0] = 0.5;  // fingers stroke more than wrists
  Eigen::VectorXd last = q_touch;
  const int count = static_cast<int>(std::ceil(shape.total_s() / kDt));
  for (int i = 0; i <= count; ++i) {
    const double t = std::min(i * kDt, shape.total_s());
    HANDHOLD_ASSIGN(last, chain.Reach(q_touch, last,
                                      touch.x() + sweep * shape.Swept(t) + slant * shape.Height(t),
                                      touch.z() + shape.Height(t), ease));
    if ((last - chain.lower()).minCoeff() < 0.02 || (chain.upper() - last).minCoeff() < 0.02) {
      *reason = "into a joint's limit";
      return Error{ErrorCode::kInvalid,
                   "posture " + posture.name + ": a stroke runs into a joint's limit"};
    }
    stroke.rows.push_back(last);
  }
  const double peak = PeakAcceleration(Smooth(ToMatrix(stroke.rows)));
  if (peak > kMaxAcceleration_rad_per_s2) {
    *reason = "above 100 rad/s^2";
    return Error{ErrorCode::kInvalid, "posture " + posture.name + ": a stroke asks for " +
                                          std::to_string(peak) + " rad/s^2"};
  }
  return stroke;
}

struct Planner {
  const SubjectOptions& options;
  const Chain& chain;
  const PlateGeometry& plate;
  const std::vector<PlantedImpedance>& impedances;
  MotorProgram program;
  Eigen::VectorXd at;  ///< where the finger rests between segments
  double now_s = 0.0;

  int ImpedanceOf(const std::string& task) const {
    for (size_t i = 0; i < impedances.size(); ++i) {
      if (impedances[i].task == task) return static_cast<int>(i);
    }
    return 0;
  }

  void Finish(const std::string& name, const std::string& task, int first_stroke, Rows rows) {
    AppendHold(kRest_s, &rows);
    while ((rows.size() - 1) % 10 != 0)
      rows.push_back(rows.back());  // takes begin on marker frames
    ProgramSegment segment;
    const double length = static_cast<double>(rows.size() - 1) * kDt;
    segment.take = {name, now_s, now_s + length};
    segment.impedance = ImpedanceOf(task);
    segment.first_stroke = first_stroke;
    segment.stroke_count = static_cast<int>(program.strokes.size()) - first_stroke;
    segment.q = Smooth(ToMatrix(rows));
    segment.command = segment.q;
    const Eigen::VectorXd& C =
        impedances[static_cast<size_t>(segment.impedance)].compliance_rad_per_Nm;
    for (Eigen::Index i = 0; i < segment.q.rows(); ++i) {
      segment.command.row(i) +=
          C.cwiseProduct(chain.GravityTorque(segment.q.row(i).transpose())).transpose();
    }
    at = rows.back();
    now_s += length;
    // Seconds as short decimals, so that files and prints do not carry rounding.
    now_s = std::round(now_s * 1000.0) / 1000.0;
    segment.take.end_s = now_s;
    program.segments.push_back(std::move(segment));
  }

  Status RangeOfMotion() {
    Random random(options.seed, "range of motion");
    const double seconds = options.plan.range_of_motion_s;
    const int n = chain.nv();
    Eigen::VectorXd middle(n), amplitude(n), frequency(n), phase(n);
    for (int j = 0; j < n; ++j) {
      // Wrist extended so that the finger clears the plate; the knuckles through most of their
      // range.
      const double mid[] = {-22, 30, 42, 25}, amp[] = {14, 30, 34, 22};
      const int k = std::min(j, 3);
      middle[j] = chain.flexion_sign()[j] * kDegree * mid[k];
      amplitude[j] = chain.flexion_sign()[j] * kDegree * amp[k] * random.Uniform(0.9, 1.0);
      frequency[j] = (0.31 + 0.17 * j) * random.Uniform(0.93, 1.07);
      phase[j] = random.Uniform(0.0, 2 * std::numbers::pi);
    }
    for (int attempt = 0; attempt < 12;
         ++attempt, middle[0] -= chain.flexion_sign()[0] * 3 * kDegree) {
      Rows rows(1, middle);
      AppendHold(kRest_s, &rows);
      const int count = static_cast<int>(std::lround((seconds - 2 * kRest_s) / kDt));
      bool fits = true;
      for (int i = 1; i <= count; ++i) {
        const double t = i * kDt, left = count * kDt - t;
        const double envelope = MinimumJerk(t / 1.0) * MinimumJerk(left / 1.0);
        Eigen::VectorXd q = middle;
        for (int j = 0; j < n; ++j)
          q[j] += amplitude[j] * envelope *
                  std::sin(2 * std::numbers::pi * frequency[j] * t + phase[j]);
        fits = fits && chain.LowestPoint(q) > plate.top_z_m + plate.tip_radius_m + kClearance_m &&
               (q - chain.lower()).minCoeff() > 0 && (chain.upper() - q).minCoeff() > 0;
        rows.push_back(std::move(q));
      }
      if (!fits) continue;
      Finish("range_of_motion", "free", 0, std::move(rows));
      return {};
    }
    return Error{ErrorCode::kInvalid,
                 "range of motion: the finger meets the plate or a joint's limit; give it other "
                 "limits or lengths"};
  }

  Status Strokes(const std::string& task, int count, const double force_N[2], double raise_m) {
    if (count == 0) return {};
    Random random(options.seed, task);
    const std::vector<Posture>& postures = options.plan.postures;
    const int first = static_cast<int>(program.strokes.size());
    Rows rows(1, at);
    AppendHold(kRest_s, &rows);
    const int m = static_cast<int>(postures.size());
    const PlantedImpedance& impedance = impedances[static_cast<size_t>(ImpedanceOf(task))];
    for (int p = 0; p < m; ++p) {
      const int here = count / m + (p < count % m ? 1 : 0);
      const std::vector<int> order = random.Permutation(std::max(here, 1));
      for (int k = 0; k < here; ++k) {
        StrokeRequest request{&postures[static_cast<size_t>(p)],
                              task,
                              &impedance,
                              0.1,
                              force_N[0],
                              force_N[1],
                              raise_m};
        const double low = options.plan.min_speed_m_per_s, high = options.plan.max_speed_m_per_s;
        Result<PlannedStroke> stroke = Error{};
        for (int attempt = 0; attempt < kMaxRedraws; ++attempt) {
          // Speeds spread evenly within each posture.
          const double u = (order[static_cast<size_t>(k)] + random.Uniform(0.0, 1.0)) / here;
          request.speed = low + (high - low) * u;
          // A nearly straight finger cannot press deep: what keeps failing is asked more and more
          // gently.
          request.force_low = force_N[0] * (1.0 - 0.5 * attempt / kMaxRedraws);
          request.force_high =
              std::max(request.force_low, force_N[1] * (1.0 - 0.9 * attempt / kMaxRedraws));
          std::string reason;
          stroke = DrawStroke(request, chain, plate, &random, &reason);
          if (stroke) break;
          ++program.redrawn[task + " " + request.posture->name + ", " + reason];
        }
        if (!stroke) {
          return stroke.error().Within(task + " stroke in posture " + request.posture->name +
                                       ", none of " + std::to_string(kMaxRedraws) +
                                       " draws can be done, the last at " +
                                       std::to_string(request.speed) + " m/s");
        }
        AppendMove(chain, plate, stroke->rows.front(), &rows);
        AppendHold(0.060, &rows);
        TruthStroke truth = stroke->truth;
        truth.index = static_cast<int>(program.strokes.size());
        truth.begin_s = now_s + static_cast<double>(rows.size() - 1) * kDt;
        rows.insert(rows.end(), stroke->rows.begin() + 1, stroke->rows.end());
        AppendHold(0.060, &rows);
        truth.end_s = now_s + static_cast<double>(rows.size() - 1) * kDt;
        program.strokes.push_back(std::move(truth));
      }
    }
    Finish(task, task, first, std::move(rows));
    return {};
  }
};

}  // namespace

Result<MotorProgram> PlanSession(const SubjectOptions& options, const Chain& chain,
                                 const PlateGeometry& plate,
                                 const std::vector<PlantedImpedance>& impedances) {
  Planner planner{options, chain, plate, impedances, {}, {}, 0.0};
  const Plan& plan = options.plan;
  HANDHOLD_TRY(planner.RangeOfMotion());
  // In the air, 30 mm above the plate: the deepest dip still clears it.
  HANDHOLD_TRY(planner.Strokes("free", plan.free_strokes, plan.exploring_force_N, 0.035));
  HANDHOLD_TRY(planner.Strokes("exploring", plan.exploring_strokes, plan.exploring_force_N, 0.0));
  HANDHOLD_TRY(
      planner.Strokes("scratching", plan.scratching_strokes, plan.scratching_force_N, 0.0));
  return std::move(planner.program);
}

CommandCurve::CommandCurve(const Eigen::MatrixXd& rows)
    : rows_(rows), rates_(Eigen::MatrixXd::Zero(rows.rows(), rows.cols())) {
  const Eigen::Index n = rows_.rows();
  const auto row = [&](Eigen::Index i) { return rows_.row(std::clamp<Eigen::Index>(i, 0, n - 1)); };
  for (Eigen::Index i = 0; i < n; ++i) {
    // Fourth-order central difference; segments rest at their ends.
    rates_.row(i) =
        (8.0 * (row(i + 1) - row(i - 1)) - (row(i + 2) - row(i - 2))) * (kProgramRate_Hz / 12.0);
  }
}

void CommandCurve::Evaluate(double t_s, Eigen::VectorXd* value, Eigen::VectorXd* rate) const {
  const Eigen::Index n = rows_.rows();
  const double x = std::clamp(t_s * kProgramRate_Hz, 0.0, static_cast<double>(n - 1));
  const Eigen::Index i = std::min<Eigen::Index>(static_cast<Eigen::Index>(x), n - 2);
  const double s = x - static_cast<double>(i), s2 = s * s, s3 = s2 * s, h = kDt;
  *value = (2 * s3 - 3 * s2 + 1) * rows_.row(i) + (s3 - 2 * s2 + s) * h * rates_.row(i) +
           (3 * s2 - 2 * s3) * rows_.row(i + 1) + (s3 - s2) * h * rates_.row(i + 1);
  *rate = (6 * s2 - 6 * s) / h * (rows_.row(i) - rows_.row(i + 1)) +
          (3 * s2 - 4 * s + 1) * rates_.row(i) + (3 * s2 - 2 * s) * rates_.row(i + 1);
}

double MinimumJerk(double s) {
  return s <= 0 ? 0.0 : s >= 1 ? 1.0 : s * s * s * (10 + s * (-15 + 6 * s));
}

}  // namespace handhold::lab
