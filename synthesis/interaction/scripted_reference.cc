#include "synthesis/interaction/scripted_reference.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "database/base/check.h"
#include "synthesis/interaction/tip_hand.h"

namespace handhold::synthesis {
namespace {

using Eigen::VectorXd;
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

// Index and middle finger beside where they oppose the thumb: three tips round a thing.
constexpr double kTripodAngle_rad = 0.6;

struct Keys {
  explicit Keys(const PinchOptions& o)
      : close(o.wait_s),
        lift(close + o.close_s + o.settle_s),
        hold(lift + o.lift_s),
        down(hold + o.hold_s),
        open(o.opens_in_the_air ? down : down + o.lift_s + o.settle_s),
        end(open + o.open_s + o.wait_s) {}
  double close, lift, hold, down, open, end;  ///< seconds at which each begins
};

Status CheckPinch(const PinchPlace& place, const PinchOptions& o) {
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
  return {};
}

/// The outermost faces on the line through p_W along `axis`, met from outside by steps of the
/// distance; nothing where one of them is missed or looks elsewhere.
std::optional<PinchPlace> FacesAlong(std::span<const geometry::PosedShape> shapes, const Vec3& p_W,
                                     const Vec3& axis, double reach_m) {
  constexpr double kTouch_m = 1e-5, kLooksAlong = 0.95;
  double at_m[2];
  for (const int i : {0, 1}) {
    const Vec3 out = i == 0 ? axis : Vec3(-axis);
    double s = reach_m;
    geometry::SurfacePoint point;
    while (s > -reach_m) {
      point = geometry::SignedDistanceToUnion(shapes, p_W + s * out).point;
      if (point.distance_m < kTouch_m) break;
      s -= point.distance_m;
    }
    if (point.distance_m >= kTouch_m || point.normal_S.dot(out) < kLooksAlong) return std::nullopt;
    at_m[i] = s;
  }
  PinchPlace place;
  place.p_W = p_W + 0.5 * (at_m[0] - at_m[1]) * axis;
  place.axis_W = axis;
  place.width_m = at_m[0] + at_m[1];
  if (!(place.width_m > 0.0)) return std::nullopt;
  return place;
}

/// Which fingers touch, the thumb first, and where: an angle about the vertical from where they
/// oppose it, and steps of the spacing along the face.
struct Grip {
  std::vector<std::string_view> fingers;
  std::vector<double> angle_rad, step;
};

Grip GripOf(ScriptedGrip grip) {
  switch (grip) {
    case ScriptedGrip::kPinch:
      return {{"thumb", "index", "middle"}, {0, 0, 0}, {0, 0.5, -0.5}};
    case ScriptedGrip::kTripod:
      return {{"thumb", "index", "middle"}, {0, kTripodAngle_rad, -kTripodAngle_rad}, {0, 0, 0}};
    case ScriptedGrip::kPower:
      return {{"thumb", "index", "middle", "ring", "little"},
              {0, 0, 0, 0, 0},
              {0, 1.0, 0.0, -1.0, -2.0}};
  }
  CHECK(false);
}

/// Places of the tips with their skin `gap_m` off the faces (negative: inside).
TipHand::Places PlacesOf(const Grip& grip, const TipHand& hand, const PinchPlace& place,
                         const PinchOptions& options, double gap_m) {
  return [&, gap_m](const Vec3& across_W) {
    std::vector<Vec3> p_W;
    for (size_t i = 0; i < grip.fingers.size(); ++i) {
      const double out = 0.5 * place.width_m + gap_m + hand.radius_m(i);
      const double side = i == 0 ? 1.0 : -1.0;
      const Vec3 direction = side * std::cos(grip.angle_rad[i]) * place.axis_W +
                             std::sin(grip.angle_rad[i]) * across_W;
      p_W.push_back(place.p_W + out * direction +
                    grip.step[i] * options.finger_spacing_m * across_W);
    }
    return p_W;
  };
}

}  // namespace

Result<PinchPlace> PinchAcross(const model::Prop& prop, const RigidTransform& X_WP,
                               double above_middle_m) {
  if (prop.shapes.empty())
    return Error{ErrorCode::kInvalid, "prop '" + prop.name + "' has no shape to pinch"};
  const geometry::Bounds bounds = model::BoundsOf(prop);
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

Result<PinchPlace> PinchBetweenFaces(const model::Prop& prop, const RigidTransform& X_WP,
                                     double most_m) {
  constexpr double kStep_m = 5e-3, kOffTable_m = 0.012, kBelowTop_m = 0.008, kUnderPalm_m = 0.03,
                   kMostAside_m = 0.03;
  if (prop.shapes.empty())
    return Error{ErrorCode::kInvalid, "prop '" + prop.name + "' has no shape to pinch"};
  std::vector<geometry::PosedShape> shapes;
  for (const model::PropShape& shape : prop.shapes)
    shapes.push_back({shape.shape, X_WP * shape.X_PS});
  const geometry::Bounds bounds = model::BoundsOf(prop, X_WP);
  // Through the centre of mass, where one is said: what is gripped beside it tips.
  Vec3 middle = bounds.centre();
  if (prop.mass.mass_kg > 0.0) middle.head<2>() = (X_WP * prop.mass.p_BCom).head<2>();
  const double least = bounds.min.z() + kOffTable_m, most = bounds.max.z() - kBelowTop_m;
  if (least <= most) {
    // Of what is tall the upper part: the palm must stay above it.
    const double wanted =
        std::clamp(std::max(middle.z(), bounds.max.z() - kUnderPalm_m), least, most);
    const double reach_m = (bounds.max - bounds.min).norm();
    // Rings of steps up, down and sideways, the nearest first.
    for (int ring = 0; ring * kStep_m <= reach_m; ++ring) {
      std::optional<PinchPlace> best;
      for (int up = -ring; up <= ring; ++up) {
        for (const int aside : {ring - std::abs(up), std::abs(up) - ring}) {
          const double z = wanted + up * kStep_m;
          if (z < least || z > most || std::abs(aside) * kStep_m > kMostAside_m) continue;
          for (const int along : {0, 1}) {
            Vec3 p(middle.x(), middle.y(), z);
            p[1 - along] += aside * kStep_m;
            const auto place = FacesAlong(shapes, p, Vec3::Unit(along), reach_m);
            if (place && place->width_m <= most_m && (!best || place->width_m < best->width_m))
              best = place;
          }
        }
      }
      if (best) return *best;
    }
  }
  return Error{ErrorCode::kNotFound, "prop '" + prop.name +
                                         "' has no two upright faces opposite each other that a "
                                         "hand spans"};
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
  HANDHOLD_TRY(CheckPinch(place, options));
  const Grip grip = GripOf(options.grip);
  HANDHOLD_ASSIGN(TipHand hand, TipHand::Make(skeleton, grip.fingers, options.ik));
  const auto places = [&](double gap_m) { return PlacesOf(grip, hand, place, options, gap_m); };
  HANDHOLD_TRY(hand.Place(place.p_W, place.axis_W, places(0.0)));
  HANDHOLD_ASSIGN(const VectorXd compliance, PlantedCompliance(skeleton));
  const Keys keys(options);
  const auto frames = static_cast<Eigen::Index>(std::floor(keys.end / options.frame_s + 0.5)) + 1;
  artefact::InteractionTrajectory out;
  out.hand = std::string(skeleton.draft().side == "left" ? "L" : "R");
  out.dof_names = skeleton.dof_names();
  out.q_reference.resize(skeleton.nq(), frames);
  VectorXd fingers = hand.rest();
  double solved_gap = std::numeric_limits<double>::quiet_NaN();
  for (Eigen::Index k = 0; k < frames; ++k) {
    const double t_s = static_cast<double>(k) * options.frame_s;
    const double closed =
        MinimumJerk(t_s, keys.close, options.close_s) - MinimumJerk(t_s, keys.open, options.open_s);
    const double lowered =
        options.opens_in_the_air ? 0.0 : MinimumJerk(t_s, keys.down, options.lift_s);
    const double raised = MinimumJerk(t_s, keys.lift, options.lift_s) - lowered;
    const double gap_m = options.clearance_m - closed * (options.clearance_m + options.depth_m);
    if (gap_m != solved_gap) {
      HANDHOLD_ASSIGN(fingers, hand.Reach(places(gap_m), fingers));
      solved_gap = gap_m;
    }
    out.times.push_back(Timestamp() + Duration::FromSeconds(t_s));
    out.q_reference.col(k) = hand.Lifted(fingers, raised * options.lift_m);
  }
  out.q = out.q_reference_dynamic = out.q_reference;
  out.compliance_rad_per_Nm = (options.compliance_scale * compliance).replicate(1, frames);
  out.time_constant_s = VectorXd::Constant(frames, options.time_constant_s);
  out.assumed.assign(static_cast<size_t>(skeleton.nv()), 1);
  return out;
}

}  // namespace handhold::synthesis
