#include "synthesis/interaction/scripted_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "database/model/kinematics.h"

namespace handhold::synthesis {
namespace {

using Eigen::VectorXd;
using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

struct Planted {
  std::string_view joint, dof;  ///< parts of the velocity's name; empty: any
  double compliance;            ///< rad/Nm or m/N
};

// The first line that fits speaks. MCP flexion, PIP, DIP and wrist: Kry & Pai 2006, Table 1,
// exploring, rounded. The rest (thumb, abduction, the middle finger's DIP, a free root in place of
// arm and wrist) nobody measured: planted by our study of grips, where a hand with them lifts and
// holds boxes of 12 and 120 g.
constexpr Planted kPlanted[] = {
    {"thumb.cmc", "", 0.5},   {"thumb.mcp", "", 0.6},  {"thumb.ip", "", 0.9},
    {".mcp", "flex", 0.988},  {".mcp", "abd", 0.6},    {".pip", "", 0.672},
    {"middle.dip", "", 0.67}, {".dip", "", 2.005},     {".wrist", "", 0.349},
    {".base", "rot_", 0.35},  {".base", "lin_", 1e-3},
};

struct RestAngle {
  std::string_view dof;
  double rad;
};
// A natural pinch, ours: index and middle bent towards the opposed thumb, the other two fingers
// nearly straight and out of the way.
constexpr RestAngle kRest[] = {
    {"index.mcp.flex", 0.8},  {"index.pip.flex", 0.85},  {"index.dip.flex", 0.4},
    {"middle.mcp.flex", 0.8}, {"middle.pip.flex", 0.85}, {"middle.dip.flex", 0.4},
    {"ring.mcp.flex", 0.1},   {"ring.pip.flex", 0.2},    {"ring.dip.flex", 0.1},
    {"little.mcp.flex", 0.1}, {"little.pip.flex", 0.2},  {"little.dip.flex", 0.1},
    {"thumb.cmc.flex", 0.3},  {"thumb.cmc.abd", 0.05},   {"thumb.mcp.flex", 0.45},
    {"thumb.ip.flex", 0.3},
};

struct Tip {
  FingertipGoal goal;
  double radius_m = 0.0;
};

Result<Tip> FindTip(const model::Skeleton& skeleton, const std::string& name) {
  const int frame = skeleton.FindFrame(name);
  if (frame >= 0) {
    const model::NamedFrame& f = skeleton.frames()[static_cast<size_t>(frame)];
    for (const model::BodyShape& shape : skeleton.body(f.body).shapes) {
      if (const auto* capsule = std::get_if<geometry::Capsule>(&shape.shape))
        return Tip{{name, f.body, f.X_BF.p, Vec3::Zero()}, capsule->radius_m};
    }
  }
  return Error{ErrorCode::kInvalid, "skeleton '" + skeleton.name() + "' has no frame '" + name +
                                        "' in a capsule: a pinch needs it"};
}

/// 0 before, 1 after, minimum jerk between (Flash & Hogan 1985): 10 s^3 - 15 s^4 + 6 s^5.
double MinimumJerk(double t_s, double begin_s, double length_s) {
  const double s = std::clamp((t_s - begin_s) / length_s, 0.0, 1.0);
  return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
}

struct Keys {
  explicit Keys(const PinchOptions& o)
      : close(o.wait_s),
        lift(close + o.close_s + o.settle_s),
        hold(lift + o.lift_s),
        down(hold + o.hold_s),
        open(down + o.lift_s + o.settle_s),
        end(open + o.open_s + o.wait_s) {}
  double close, lift, hold, down, open, end;  ///< seconds at which each begins
};

Status CheckPinch(const model::Skeleton& skeleton, const PinchPlace& place, const PinchOptions& o) {
  const bool place_fits = place.p_W.allFinite() && place.axis_W.allFinite() &&
                          std::abs(place.axis_W.norm() - 1.0) < 1e-6 &&
                          std::abs(place.axis_W.z()) < 1e-6 && place.width_m > 0.0 &&
                          std::isfinite(place.width_m);
  if (!place_fits)
    return Error{ErrorCode::kInvalid, "a pinch needs a width and a unit horizontal axis"};
  const double lengths[] = {o.close_s, o.lift_s, o.open_s, o.frame_s};
  const double others[] = {o.clearance_m,     o.depth_m,          o.finger_spacing_m, o.wait_s,
                           o.time_constant_s, o.compliance_scale, o.settle_s,         o.hold_s};
  // Not the negation: NaN is refused too.
  const bool options_fit = std::all_of(std::begin(lengths), std::end(lengths),
                                       [](double s) { return s > 0.0 && s <= 3600.0; }) &&
                           std::all_of(std::begin(others), std::end(others),
                                       [](double v) { return v >= 0.0 && v <= 3600.0; }) &&
                           std::isfinite(o.lift_m) && Keys(o).end / o.frame_s < 1e6;
  if (!options_fit) {
    return Error{ErrorCode::kInvalid,
                 "a pinch's lengths and times are finite and not negative; closing, lift, opening "
                 "and frames last longer than nothing"};
  }
  if (skeleton.body_count() < 2 || skeleton.body(1).joint.type != model::JointType::kFree) {
    return Error{ErrorCode::kInvalid, "skeleton '" + skeleton.name() +
                                          "' has no free root: a scripted hand moves by it"};
  }
  return {};
}

/// A pinching hand: its three tips, where it stands, and how it moves up.
class Pinch {
 public:
  static Result<Pinch> Make(const model::Skeleton& skeleton, const PinchPlace& place,
                            const PinchOptions& options) {
    Pinch pinch(skeleton, place, options);
    constexpr std::array kNames = {"thumb.tip", "index.tip", "middle.tip"};
    for (size_t i = 0; i < kNames.size(); ++i) {
      HANDHOLD_ASSIGN(pinch.tips_[i], FindTip(skeleton, kNames[i]));
    }
    HANDHOLD_TRY(pinch.Place());
    return pinch;
  }

  /// With the tips' skin `gap_m` off the faces (negative: inside).
  Result<VectorXd> Posture(double gap_m, const VectorXd& begin) const {
    VectorXd q = begin;
    const std::array<FingertipGoal, 3> goals = Goals(gap_m);
    HANDHOLD_TRY(ReachFingertips(skeleton_, goals, q_rest_, root_locked_, options_.ik, &q));
    return q;
  }
  VectorXd Lifted(VectorXd q, double height_m) const {
    const RigidTransform& X_WJ = skeleton_.body(1).joint.X_PJp;
    q.segment<3>(skeleton_.q_index(1)) += X_WJ.R.transpose() * Vec3(0, 0, height_m);
    return q;
  }
  const VectorXd& rest() const { return q_rest_; }

 private:
  Pinch(const model::Skeleton& skeleton, const PinchPlace& place, const PinchOptions& options)
      : skeleton_(skeleton), place_(place), options_(options) {}

  std::array<FingertipGoal, 3> Goals(double gap_m) const {
    std::array<FingertipGoal, 3> goals;
    for (size_t i = 0; i < goals.size(); ++i) {
      goals[i] = tips_[i].goal;
      const double out = 0.5 * place_.width_m + gap_m + tips_[i].radius_m;
      goals[i].p_W = place_.p_W + (i == 0 ? out : -out) * place_.axis_W;
      if (i > 0) goals[i].p_W += (i == 1 ? 0.5 : -0.5) * options_.finger_spacing_m * across_W_;
    }
    return goals;
  }

  /// Turns the hand's natural pinch into the place's: fingers-to-thumb along its axis, the wrist
  /// above. Then, with the root free, the touch itself is solved for: where the wrist ends up is
  /// the wrist's place for the whole program, and the posture there what the fingers stay near.
  Status Place() {
    VectorXd v = VectorXd::Zero(skeleton_.nv());
    for (int d = 0; d < skeleton_.nv(); ++d) {
      const std::string& name = skeleton_.dof_names()[static_cast<size_t>(d)];
      for (const RestAngle& angle : kRest)
        if (name.ends_with(angle.dof)) v[d] = angle.rad;
    }
    VectorXd q = skeleton_.Integrate(skeleton_.ZeroConfiguration(), v);
    model::KinematicsData data(skeleton_);
    model::ComputePoses<double>(skeleton_, q, &data);
    const auto tip = [&](size_t i) -> Vec3 {
      return data.X_WB[static_cast<size_t>(tips_[i].goal.body)] * tips_[i].goal.p_B;
    };
    const Vec3 fingers = 0.5 * (tip(1) + tip(2)), middle = 0.5 * (fingers + tip(0));
    const Vec3 axis = (tip(0) - fingers).normalized();
    const RigidTransform X_WH = data.X_WB[1];
    Vec3 down = middle - X_WH.p;
    down = (down - down.dot(axis) * axis).normalized();
    Mat3 hand, world;
    hand << axis, down, axis.cross(down);
    const Vec3 down_W(0, 0, -1);
    world << place_.axis_W, down_W, place_.axis_W.cross(down_W);
    const Mat3 R = world * hand.transpose();
    across_W_ = R * (tip(1) - tip(2));
    across_W_ =
        (across_W_ - across_W_.dot(place_.axis_W) * place_.axis_W - across_W_.dot(down_W) * down_W)
            .normalized();
    // The root joint's own pose: X_WH = X_WJ X_q X_JH.
    const RigidTransform X_WH_placed{R * X_WH.R, place_.p_W + R * (X_WH.p - middle)};
    const model::Joint& root = skeleton_.body(1).joint;
    const RigidTransform X_q = root.X_PJp.Inverse() * X_WH_placed * root.X_BJc;
    const int at = skeleton_.q_index(1);
    q.segment<3>(at) = X_q.p;
    const Eigen::Quaterniond turn(X_q.R);
    q.segment<4>(at + 3) << turn.w(), turn.x(), turn.y(), turn.z();
    const VectorXd q_seed = q;
    const std::array<FingertipGoal, 3> touch = Goals(0.0);
    HANDHOLD_TRY(ReachFingertips(skeleton_, touch, q_seed, {}, options_.ik, &q));
    q_rest_ = q;
    root_locked_.assign(static_cast<size_t>(skeleton_.nv()), 0);
    for (int i = 0; i < 6; ++i) root_locked_[static_cast<size_t>(skeleton_.v_index(1) + i)] = 1;
    return {};
  }

  const model::Skeleton& skeleton_;
  const PinchPlace& place_;
  const PinchOptions& options_;
  std::array<Tip, 3> tips_;
  Vec3 across_W_ = Vec3::UnitY();  ///< from middle to index finger, in the world
  VectorXd q_rest_;
  std::vector<char> root_locked_;
};

}  // namespace

Result<PinchPlace> PinchAcross(const model::Prop& prop, const RigidTransform& X_WP,
                               double above_middle_m) {
  geometry::Bounds bounds;
  for (const model::PropShape& shape : prop.shapes) {
    const geometry::Bounds own = geometry::BoundsOf(shape.shape);
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 p(corner & 1 ? own.max.x() : own.min.x(), corner & 2 ? own.max.y() : own.min.y(),
                   corner & 4 ? own.max.z() : own.min.z());
      bounds.Include(shape.X_PS * p);
    }
  }
  if (prop.shapes.empty())
    return Error{ErrorCode::kInvalid, "prop '" + prop.name + "' has no shape to pinch"};
  int upright = 0;
  for (int i = 1; i < 3; ++i)
    if (std::abs(X_WP.R(2, i)) > std::abs(X_WP.R(2, upright))) upright = i;
  const Vec3 extent = bounds.max - bounds.min;
  int across = -1;
  for (int i = 0; i < 3; ++i) {
    if (i != upright && (across < 0 || extent[i] < extent[across] - 1e-9)) across = i;
  }
  PinchPlace place;
  place.p_W = X_WP * bounds.centre() + Vec3(0, 0, above_middle_m);
  place.axis_W = X_WP.R.col(across);
  place.axis_W.z() = 0.0;
  place.axis_W.normalize();
  place.width_m = extent[across];
  return place;
}

TimeRange PinchHold(const PinchOptions& options) {
  const Keys keys(options);
  return {Timestamp() + Duration::FromSeconds(keys.hold),
          Timestamp() + Duration::FromSeconds(keys.down)};
}

Result<VectorXd> PlantedCompliance(const model::Skeleton& skeleton) {
  VectorXd C(skeleton.nv());
  std::string unknown;
  for (int d = 0; d < skeleton.nv(); ++d) {
    const std::string& name = skeleton.dof_names()[static_cast<size_t>(d)];
    const auto* const planted =
        std::find_if(std::begin(kPlanted), std::end(kPlanted), [&](const Planted& p) {
          return name.find(p.joint) != std::string::npos && name.find(p.dof) != std::string::npos;
        });
    if (planted == std::end(kPlanted)) {
      if (!unknown.empty()) unknown += ", ";
      unknown += name;
      continue;
    }
    C[d] = planted->compliance;
  }
  if (unknown.empty()) return C;
  return Error{ErrorCode::kInvalid, "no compliance is planted for " + unknown};
}

Result<artefact::InteractionTrajectory> PinchReference(const model::Skeleton& skeleton,
                                                       const PinchPlace& place,
                                                       const PinchOptions& options) {
  HANDHOLD_TRY(CheckPinch(skeleton, place, options));
  HANDHOLD_ASSIGN(const Pinch pinch, Pinch::Make(skeleton, place, options));
  HANDHOLD_ASSIGN(const VectorXd compliance, PlantedCompliance(skeleton));
  const Keys keys(options);
  const auto frames = static_cast<Eigen::Index>(std::floor(keys.end / options.frame_s + 0.5)) + 1;
  artefact::InteractionTrajectory out;
  out.hand = std::string(skeleton.draft().side == "left" ? "L" : "R");
  out.dof_names = skeleton.dof_names();
  out.q_reference.resize(skeleton.nq(), frames);
  VectorXd fingers = pinch.rest();
  double solved_gap = std::numeric_limits<double>::quiet_NaN();
  for (Eigen::Index k = 0; k < frames; ++k) {
    const double t_s = static_cast<double>(k) * options.frame_s;
    const double closed =
        MinimumJerk(t_s, keys.close, options.close_s) - MinimumJerk(t_s, keys.open, options.open_s);
    const double raised =
        MinimumJerk(t_s, keys.lift, options.lift_s) - MinimumJerk(t_s, keys.down, options.lift_s);
    const double gap_m = options.clearance_m - closed * (options.clearance_m + options.depth_m);
    if (gap_m != solved_gap) {
      HANDHOLD_ASSIGN(fingers, pinch.Posture(gap_m, fingers));
      solved_gap = gap_m;
    }
    out.times.push_back(Timestamp() + Duration::FromSeconds(t_s));
    out.q_reference.col(k) = pinch.Lifted(fingers, raised * options.lift_m);
  }
  out.q = out.q_reference_dynamic = out.q_reference;
  out.compliance_rad_per_Nm = (options.compliance_scale * compliance).replicate(1, frames);
  out.time_constant_s = VectorXd::Constant(frames, options.time_constant_s);
  out.assumed.assign(static_cast<size_t>(skeleton.nv()), 1);
  return out;
}

}  // namespace handhold::synthesis
