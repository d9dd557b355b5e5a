#include "synthesis/interaction/shipped_references.h"

#include <algorithm>

#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "synthesis/interaction/gaiting_reference.h"
#include "synthesis/interaction/scripted_reference.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

// Coarse enough for a file, fine enough that straight lines between frames stay within 0.02 mm at
// the fingertips.
constexpr double kGripFrame_s = 0.012, kGaitingFrame_s = 0.016;

struct Shipped {
  const char* name;
  const char* prop;
  Vec3 p_WProp;
  ScriptedGrip grip;
  double above_middle_m, depth_m;
  bool gaiting = false;
  bool flat = false;  ///< a quarter turn about y: the box on its 5 x 7 side
  bool left = false;  ///< the hand's mirror image
  bool lets_go = false;
  double along_m = 0.0;  ///< y of the place against the prop's
  double lift_s = PinchOptions().lift_s, hold_s = PinchOptions().hold_s;
};
// The 3 x 5 x 7 box stands at z = 0, 25 mm above its middle only fingertips touch it.
const Shipped kShipped[] = {
    {"gaiting_light_bulb", "light_bulb", Vec3(0.3, 0, 0.2), ScriptedGrip::kPinch, 0, 0.012, true},
    {.name = "pinch_beam_left",
     .prop = "beam_3x16x7",
     .p_WProp = Vec3(0.3, 0, 0.035),
     .grip = ScriptedGrip::kPinch,
     .above_middle_m = 0.025,
     .depth_m = 0.014,
     .left = true,
     .along_m = -0.05,
     .hold_s = 3.0},
    {.name = "pinch_beam_right",
     .prop = "beam_3x16x7",
     .p_WProp = Vec3(0.3, 0, 0.035),
     .grip = ScriptedGrip::kPinch,
     .above_middle_m = 0.025,
     .depth_m = 0.012,
     .lets_go = true,
     .along_m = 0.05,
     .hold_s = 0.6},
    {"pinch_box_3x5x7", "box_3x5x7", Vec3(0.3, 0, 0.035), ScriptedGrip::kPinch, 0.025, 0.012},
    {"pinch_flat_box_3x5x7", "box_3x5x7", Vec3(0.3, 0, 0.015), ScriptedGrip::kPinch, 0.0, 0.012,
     false, true},
    {.name = "pinch_slow_box_3x5x7",
     .prop = "box_3x5x7",
     .p_WProp = Vec3(0.3, 0, 0.035),
     .grip = ScriptedGrip::kPinch,
     .above_middle_m = 0.025,
     .depth_m = 0.006,
     .lift_s = 1.6},
    {"pinch_weak_box_3x5x7", "box_3x5x7", Vec3(0.3, 0, 0.035), ScriptedGrip::kPinch, 0.025, 0.006},
    {"power_box_3x5x7", "box_3x5x7", Vec3(0.3, 0, 0.035), ScriptedGrip::kPower, 0.015, 0.008},
    {"tripod_box_3x5x7", "box_3x5x7", Vec3(0.3, 0, 0.035), ScriptedGrip::kTripod, 0.025, 0.012},
};

}  // namespace

std::vector<std::string> ShippedReferenceNames() {
  std::vector<std::string> names;
  for (const Shipped& shipped : kShipped) names.emplace_back(shipped.name);
  return names;
}

Result<artefact::ReferenceFile> MakeShippedReference(const std::string& name) {
  const auto* const found = std::find_if(std::begin(kShipped), std::end(kShipped),
                                         [&](const Shipped& s) { return name == s.name; });
  if (found == std::end(kShipped))
    return Error{ErrorCode::kNotFound, "no scripted reference '" + name + "' ships"};
  HANDHOLD_ASSIGN(const model::Skeleton right, model::LoadHand("hand27"));
  const model::Skeleton hand = found->left ? model::Mirrored(right) : right;
  HANDHOLD_ASSIGN(const model::Prop prop, model::LoadLibraryProp(found->prop));
  artefact::ReferenceFile file;
  file.name = name;
  file.hand = right.name();
  file.prop = prop.name;
  file.X_WProp = RigidTransform::Translation(found->p_WProp);
  if (found->flat) file.X_WProp.R = geometry::Exp(Vec3(0, 0.5 * M_PI, 0));
  file.source = "Planted, not captured; script_references, synthesis/interaction";
  if (found->gaiting) {
    GaitingOptions options;
    options.depth_m = found->depth_m;
    options.frame_s = kGaitingFrame_s;
    HANDHOLD_ASSIGN(file.trajectory, GaitingReference(hand, {.p_W = found->p_WProp}, options));
    return file;
  }
  PinchOptions options;
  options.grip = found->grip;
  options.depth_m = found->depth_m;
  options.frame_s = kGripFrame_s;
  options.lift_s = found->lift_s;
  options.hold_s = found->hold_s;
  options.opens_in_the_air = found->lets_go;
  HANDHOLD_ASSIGN(PinchPlace place, PinchAcross(prop, file.X_WProp, found->above_middle_m));
  place.p_W += found->along_m * Vec3::UnitZ().cross(place.axis_W);
  HANDHOLD_ASSIGN(file.trajectory, PinchReference(hand, place, options));
  file.hold = PinchHold(options);
  return file;
}

}  // namespace handhold::synthesis
