#include "synthesis/interaction/gaiting_reference.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "synthesis/interaction/scripted_reference.h"
#include "synthesis/interaction/tip_hand.h"

namespace handhold::synthesis {
namespace {

using Eigen::VectorXd;
using geometry::Vec3;

constexpr std::array<std::string_view, 4> kFingers = {"thumb", "index", "middle", "ring"};
// Which of the two pairs a finger is of.
constexpr std::array<int, 4> kPair = {0, 1, 0, 1};

double Period_s(const GaitingOptions& o) { return 2.0 * o.change_s + o.stroke_s; }
// Closing of stroke n's pair begins.
double Close_s(const GaitingOptions& o, int n) { return o.wait_s + n * Period_s(o); }
double StrokeBegin_s(const GaitingOptions& o, int n) { return Close_s(o, n) + 2.0 * o.change_s; }
// A pair opens when the other has closed; the last one after its stroke.
double Open_s(const GaitingOptions& o, int n) {
  return n + 1 < o.strokes ? Close_s(o, n + 1) + o.change_s : Close_s(o, n + 1);
}
double End_s(const GaitingOptions& o) { return Open_s(o, o.strokes - 1) + o.change_s + o.wait_s; }

/// What a pair is asked at one time.
struct PairPose {
  double closed = 0.0;  ///< 0 open, 1 closed
  double swing = -1.0;  ///< -1 to 1
};

PairPose PairAt(const GaitingOptions& o, int pair, double t_s) {
  PairPose pose;
  for (int n = pair; n < o.strokes; n += 2) {
    pose.closed +=
        MinimumJerk(t_s, Close_s(o, n), o.change_s) - MinimumJerk(t_s, Open_s(o, n), o.change_s);
    pose.swing += 2.0 * MinimumJerk(t_s, StrokeBegin_s(o, n), o.stroke_s);
    // Back while the other pair turns.
    if (n + 1 < o.strokes)
      pose.swing -= 2.0 * MinimumJerk(t_s, StrokeBegin_s(o, n + 1), o.stroke_s);
  }
  return pose;
}

Status Check(const GaitingPlace& place, const GaitingOptions& o) {
  const bool place_fits = place.p_W.allFinite() && place.axis_W.allFinite() &&
                          std::abs(place.axis_W.norm() - 1.0) < 1e-6 &&
                          std::abs(place.axis_W.z()) < 1e-6 && place.radius_m > 0.0 &&
                          std::isfinite(place.radius_m);
  const double lengths[] = {o.change_s, o.stroke_s, o.frame_s};
  const double others[] = {o.swing_rad, o.spread_rad,      o.clearance_m,     o.depth_m,
                           o.wait_s,    o.time_constant_s, o.compliance_scale};
  const bool fits = place_fits && o.strokes >= 1 && o.strokes <= 1000 &&
                    std::all_of(std::begin(lengths), std::end(lengths),
                                [](double s) { return s > 0.0 && s <= 3600.0; }) &&
                    std::all_of(std::begin(others), std::end(others),
                                [](double v) { return v >= 0.0 && v <= 3600.0; }) &&
                    End_s(o) / o.frame_s < 1e6;
  if (fits) return {};
  return Error{ErrorCode::kInvalid,
               "gaiting needs a radius, a unit horizontal axis, 1 to 1000 strokes, and lengths and "
               "times that are finite and not negative; strokes, changes and frames last longer "
               "than nothing"};
}

}  // namespace

TimeRange GaitingStroke(const GaitingOptions& options, int n) {
  const double begin_s = StrokeBegin_s(options, n);
  return {Timestamp() + Duration::FromSeconds(begin_s),
          Timestamp() + Duration::FromSeconds(begin_s + options.stroke_s)};
}

double GaitingTurn(const GaitingOptions& options, double radius_m, double tip_radius_m) {
  return options.strokes * 2.0 * options.swing_rad * (radius_m + tip_radius_m) / radius_m;
}

Result<artefact::InteractionTrajectory> GaitingReference(const model::Skeleton& skeleton,
                                                         const GaitingPlace& place,
                                                         const GaitingOptions& options) {
  HANDHOLD_TRY(Check(place, options));
  HANDHOLD_ASSIGN(TipHand hand, TipHand::Make(skeleton, kFingers, options.ik));
  HANDHOLD_ASSIGN(const VectorXd compliance, PlantedCompliance(skeleton));
  const auto places = [&](const std::array<PairPose, 2>& pairs) -> TipHand::Places {
    return [&hand, &place, &options, pairs](const Vec3& across_W) {
      // Angles about the vertical, from the thumb's direction towards the first finger.
      const double sense = place.axis_W.cross(across_W).z();
      const std::array<double, 4> at_rad = {0.0, M_PI - options.spread_rad, M_PI,
                                            M_PI + options.spread_rad};
      std::vector<Vec3> p_W;
      for (size_t i = 0; i < kFingers.size(); ++i) {
        const PairPose& pose = pairs[static_cast<size_t>(kPair[i])];
        const double gap_m =
            options.clearance_m - pose.closed * (options.clearance_m + options.depth_m);
        // Strokes turn by the right-hand rule about the vertical, whichever hand makes them.
        const double angle = at_rad[i] + sense * pose.swing * options.swing_rad;
        const Vec3 direction = std::cos(angle) * place.axis_W + std::sin(angle) * across_W;
        p_W.push_back(place.p_W + (place.radius_m + hand.radius_m(i) + gap_m) * direction);
      }
      return p_W;
    };
  };
  // The wrist is placed for the middle of a stroke.
  HANDHOLD_TRY(hand.Place(place.p_W, place.axis_W, places({PairPose{0.5, 0.0}, {0.5, 0.0}})));

  const auto frames =
      static_cast<Eigen::Index>(std::floor(End_s(options) / options.frame_s + 0.5)) + 1;
  artefact::InteractionTrajectory out;
  out.hand = std::string(skeleton.draft().side == "left" ? "L" : "R");
  out.dof_names = skeleton.dof_names();
  out.q_reference.resize(skeleton.nq(), frames);
  VectorXd q = hand.rest();
  for (Eigen::Index k = 0; k < frames; ++k) {
    const double t_s = static_cast<double>(k) * options.frame_s;
    HANDHOLD_ASSIGN(q, hand.Reach(places({PairAt(options, 0, t_s), PairAt(options, 1, t_s)}), q));
    out.times.push_back(Timestamp() + Duration::FromSeconds(t_s));
    out.q_reference.col(k) = q;
  }
  out.q = out.q_reference_dynamic = out.q_reference;
  out.compliance_rad_per_Nm = (options.compliance_scale * compliance).replicate(1, frames);
  out.time_constant_s = VectorXd::Constant(frames, options.time_constant_s);
  out.assumed.assign(static_cast<size_t>(skeleton.nv()), 1);
  return out;
}

}  // namespace handhold::synthesis
