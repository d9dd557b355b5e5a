#include "synthesis/grasp_search/preshape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "database/base/names.h"
#include "database/base/random.h"
#include "synthesis/grasp_search/closing.h"
#include "synthesis/grasp_search/contact_fit.h"

namespace handhold::synthesis {
namespace {

using artefact::GraspTemplate;
using geometry::RigidTransform;
using geometry::Vec3;

/// Flexion of knuckle, middle and end joint, rad.
struct Finger {
  double mcp, pip, dip;
};
/// Of the thumb: CMC flexion and abduction, MCP and IP flexion, rad.
struct Thumb {
  double cmc, abd, mcp, ip;
};

struct Script {
  std::string_view type;
  std::string_view primitive;     ///< "sphere", "cylinder", "box", "disk"
  std::array<double, 2> thin_mm;  ///< half size across: radius, or half thickness of a box
  std::array<double, 2> wide_mm;  ///< half length of a cylinder, half thickness of a disk, half
                                  ///< width of a box
  Vec3 centre_mm;  ///< where it begins, in the root's frame of a right hand; z: on the near surface
  Vec3 axis_H;     ///< the primitive's z at the start: a cylinder's axis, a box's thin side
  Thumb thumb;
  std::array<Finger, 4> fingers;  ///< index .. little
  /// Sites that must touch, without the hand's prefix.
  std::vector<std::string_view> sites;
  std::array<bool, 5> close;
  bool precision;
};

constexpr Finger kRest{0.45, 0.6, 0.35}, kOut{0.2, 0.25, 0.1}, kCurled{0.9, 1.2, 0.6};
constexpr std::array<bool, 5> kAll{true, true, true, true, true};
const Vec3 kAcross(0, 1, 0), kSlant(0.35, 0.94, 0), kOver(0, 0, 1), kAhead(0.55, 0, -0.83);

const std::vector<Script>& Scripts() {
  static const std::vector<Script> scripts = {
      {"large-diameter",
       "cylinder",
       {30, 45},
       {60, 100},
       {74, 0, -17},
       kSlant,
       {-0.1, 0.2, 0.2, 0.3},
       {{{0.55, 0.75, 0.4}, {0.55, 0.75, 0.4}, {0.55, 0.75, 0.4}, {0.6, 0.75, 0.4}}},
       {"palm.middle", "index.mid.pad", "middle.mid.pad", "ring.mid.pad", "index.pad", "middle.pad",
        "ring.pad", "little.pad", "thumb.pad"},
       kAll,
       false},
      {"small-diameter",
       "cylinder",
       {8, 13},
       {60, 100},
       {74, 0, -17},
       kSlant,
       {0.2, -0.1, 0.5, 0.5},
       {{{1.15, 1.5, 0.75}, {1.2, 1.5, 0.75}, {1.2, 1.5, 0.75}, {1.2, 1.5, 0.75}}},
       {"palm.middle", "index.prx.pad", "middle.prx.pad", "ring.prx.pad", "little.prx.pad",
        "index.mid.pad", "middle.mid.pad", "ring.mid.pad", "little.mid.pad"},
       kAll,
       false},
      {"medium-wrap",
       "cylinder",
       {15, 27},
       {60, 100},
       {76, 0, -17},
       kSlant,
       {0.1, 0.1, 0.3, 0.5},
       {{{0.85, 1.1, 0.6}, {0.85, 1.1, 0.6}, {0.85, 1.1, 0.6}, {0.9, 1.1, 0.6}}},
       {"palm.middle", "index.mid.pad", "middle.mid.pad", "ring.mid.pad", "index.pad", "middle.pad",
        "ring.pad", "little.pad", "thumb.pad"},
       kAll,
       false},
      {"adducted-thumb",
       "cylinder",
       {9, 16},
       {70, 110},
       {74, 0, -17},
       kSlant,
       {-0.2, -0.35, 0.0, 0.1},
       {{{1.0, 1.3, 0.7}, {1.05, 1.3, 0.7}, {1.1, 1.3, 0.7}, {1.1, 1.3, 0.7}}},
       {"palm.middle", "index.mid.pad", "middle.mid.pad", "ring.mid.pad", "index.pad", "middle.pad",
        "ring.pad", "thumb.pad"},
       kAll,
       false},
      {"light-tool",
       "cylinder",
       {5, 8},
       {50, 90},
       {76, 0, -16},
       kSlant,
       {0.2, -0.2, 0.4, 0.3},
       {{{1.2, 1.65, 0.9}, {1.25, 1.65, 0.9}, {1.25, 1.65, 0.9}, {1.25, 1.6, 0.9}}},
       {"palm.middle", "index.prx.pad", "middle.prx.pad", "ring.prx.pad", "middle.mid.pad",
        "ring.mid.pad"},
       kAll,
       false},
      {"prismatic-4-finger",
       "cylinder",
       {4, 12},
       {45, 80},
       {112, 0, -50},
       kAcross,
       {0.1, 0.2, 0.2, 0.2},
       {{{0.85, 0.6, 0.3}, {0.85, 0.6, 0.3}, {0.85, 0.6, 0.3}, {0.85, 0.6, 0.3}}},
       {"index.pad", "middle.pad", "ring.pad", "little.pad", "thumb.pad"},
       kAll,
       true},
      {"prismatic-3-finger",
       "cylinder",
       {4, 12},
       {40, 70},
       {112, 5, -50},
       kAcross,
       {0.1, 0.2, 0.2, 0.2},
       {{{0.85, 0.6, 0.3}, {0.85, 0.6, 0.3}, {0.85, 0.6, 0.3}, kRest}},
       {"index.pad", "middle.pad", "ring.pad", "thumb.pad"},
       {true, true, true, true, false},
       true},
      {"prismatic-2-finger",
       "cylinder",
       {4, 12},
       {30, 60},
       {112, 8, -50},
       kAcross,
       {0.1, 0.2, 0.2, 0.2},
       {{{0.85, 0.6, 0.3}, {0.85, 0.6, 0.3}, kRest, kRest}},
       {"index.pad", "middle.pad", "thumb.pad"},
       {true, true, true, false, false},
       true},
      {"palmar-pinch",
       "box",
       {1.5, 6},
       {12, 25},
       {112, 14, -48},
       kAhead,
       {0.1, 0.25, 0.2, 0.15},
       {{{0.85, 0.5, 0.15}, kRest, kRest, kRest}},
       {"index.pad", "thumb.pad"},
       {true, true, false, false, false},
       true},
      {"power-disk",
       "disk",
       {32, 46},
       {8, 14},
       {84, 0, -17},
       kOver,
       {-0.1, 0.1, 0.3, 0.3},
       {{{0.55, 0.7, 0.4}, {0.5, 0.7, 0.4}, {0.55, 0.7, 0.4}, {0.6, 0.7, 0.4}}},
       {"palm.middle", "index.pad", "middle.pad", "ring.pad", "little.pad", "thumb.pad"},
       kAll,
       false},
      {"power-sphere",
       "sphere",
       {26, 40},
       {0, 0},
       {76, 2, -17},
       kOver,
       {-0.1, 0.1, 0.3, 0.4},
       {{{0.6, 0.8, 0.5}, {0.6, 0.8, 0.5}, {0.6, 0.8, 0.5}, {0.6, 0.8, 0.5}}},
       {"palm.middle", "index.mid.pad", "middle.mid.pad", "ring.mid.pad", "index.pad", "middle.pad",
        "ring.pad", "little.pad", "thumb.pad"},
       kAll,
       false},
      {"precision-disk",
       "disk",
       {26, 42},
       {6, 12},
       {112, 5, -50},
       kAhead,
       {-0.2, 0.2, 0.1, 0.2},
       {{{0.55, 0.5, 0.3}, {0.55, 0.5, 0.3}, {0.55, 0.5, 0.3}, {0.55, 0.5, 0.3}}},
       {"index.pad", "middle.pad", "ring.pad", "little.pad", "thumb.pad"},
       kAll,
       true},
      {"precision-sphere",
       "sphere",
       {20, 34},
       {0, 0},
       {108, 6, -32},
       kOver,
       {-0.1, 0.2, 0.2, 0.2},
       {{{0.65, 0.6, 0.3}, {0.65, 0.6, 0.3}, {0.65, 0.6, 0.3}, {0.7, 0.6, 0.3}}},
       {"index.pad", "middle.pad", "ring.pad", "little.pad", "thumb.pad"},
       kAll,
       true},
      {"tripod",
       "sphere",
       {7, 16},
       {0, 0},
       {108, 12, -45},
       kOver,
       {0.1, 0.25, 0.2, 0.25},
       {{{0.8, 0.7, 0.35}, {0.8, 0.75, 0.35}, kRest, kRest}},
       {"index.pad", "middle.pad", "thumb.pad"},
       {true, true, true, false, false},
       true},
      {"fixed-hook",
       "cylinder",
       {8, 15},
       {50, 90},
       {122, 0, -12},
       kAcross,
       {-0.2, -0.1, 0.1, 0.1},
       {{{0.2, 1.35, 0.8}, {0.2, 1.35, 0.8}, {0.2, 1.35, 0.8}, {0.2, 1.35, 0.8}}},
       {"index.mid.pad", "middle.mid.pad", "ring.mid.pad", "little.mid.pad", "index.pad",
        "middle.pad", "ring.pad"},
       {false, true, true, true, true},
       false},
      {"lateral",
       "box",
       {1.2, 4},
       {10, 20},
       {100, 30, -20},
       {0, 0.5, 0.87},
       {0.15, -0.2, 0.2, 0.4},
       {{{0.75, 1.1, 0.5}, kCurled, kCurled, kCurled}},
       {"index.side", "thumb.pad"},
       {true, false, false, false, false},
       true},
      {"index-finger-extension",
       "cylinder",
       {8, 14},
       {70, 110},
       {74, -6, -17},
       kSlant,
       {0.1, -0.1, 0.3, 0.4},
       {{{0.7, 0.25, 0.15}, {1.0, 1.3, 0.7}, {1.0, 1.3, 0.7}, {1.0, 1.3, 0.7}}},
       {"palm.middle", "middle.mid.pad", "ring.mid.pad", "little.mid.pad", "middle.pad", "ring.pad",
        "thumb.pad"},
       {true, false, true, true, true},
       false},
      {"extension-type",
       "box",
       {4, 10},
       {35, 50},
       {125, 0, -35},
       kAhead,
       {0.0, 0.3, 0.1, 0.1},
       {{{0.85, 0.1, 0.05}, {0.85, 0.1, 0.05}, {0.85, 0.1, 0.05}, {0.85, 0.1, 0.05}}},
       {"index.mid.pad", "middle.mid.pad", "index.pad", "middle.pad", "ring.pad", "thumb.pad"},
       kAll,
       true},
      {"writing-tripod",
       "cylinder",
       {3.5, 6},
       {50, 80},
       {112, 15, -45},
       {0.3, 0.6, 0.74},
       {0.1, 0.2, 0.2, 0.3},
       {{{0.75, 0.75, 0.35}, {0.85, 0.95, 0.4}, kCurled, kCurled}},
       {"index.pad", "middle.side", "thumb.pad"},
       {true, true, false, false, false},
       true},
      {"parallel-extension",
       "box",
       {9, 20},
       {30, 45},
       {120, 0, -35},
       kAhead,
       {-0.1, 0.3, 0.1, 0.1},
       {{{0.75, 0.1, 0.05}, {0.75, 0.1, 0.05}, {0.75, 0.1, 0.05}, {0.75, 0.1, 0.05}}},
       {"index.pad", "middle.pad", "ring.pad", "little.pad", "thumb.pad"},
       kAll,
       true},
      {"tip-pinch",
       "sphere",
       {2.5, 6},
       {0, 0},
       {104, 15, -55},
       kOver,
       {0.15, 0.25, 0.3, 0.5},
       {{{0.8, 0.95, 0.65}, kRest, kRest, kRest}},
       {"index.pad", "thumb.pad"},
       {true, true, false, false, false},
       true},
      {"lateral-tripod",
       "cylinder",
       {4, 10},
       {20, 50},
       {108, 20, -40},
       {0.8, 0.3, -0.5},
       {0.15, 0.1, 0.2, 0.4},
       {{{0.7, 0.8, 0.4}, {0.8, 1.0, 0.4}, kCurled, kCurled}},
       {"index.pad", "middle.side", "thumb.pad"},
       {true, true, false, false, false},
       true},
      {"sphere-4-finger",
       "sphere",
       {22, 34},
       {0, 0},
       {96, 6, -22},
       kOver,
       {-0.1, 0.15, 0.2, 0.3},
       {{{0.65, 0.7, 0.4}, {0.65, 0.7, 0.4}, {0.65, 0.7, 0.4}, kOut}},
       {"index.mid.pad", "middle.mid.pad", "index.pad", "middle.pad", "ring.pad", "thumb.pad"},
       {true, true, true, true, false},
       false},
      {"quadpod",
       "sphere",
       {12, 24},
       {0, 0},
       {108, 8, -42},
       kOver,
       {0.0, 0.2, 0.2, 0.25},
       {{{0.75, 0.65, 0.35}, {0.75, 0.7, 0.35}, {0.75, 0.7, 0.35}, kRest}},
       {"index.pad", "middle.pad", "ring.pad", "thumb.pad"},
       {true, true, true, true, false},
       true},
      {"sphere-3-finger",
       "sphere",
       {18, 30},
       {0, 0},
       {96, 10, -24},
       kOver,
       {-0.05, 0.15, 0.2, 0.3},
       {{{0.65, 0.75, 0.4}, {0.65, 0.75, 0.4}, kOut, kOut}},
       {"index.mid.pad", "middle.mid.pad", "index.pad", "middle.pad", "thumb.pad"},
       {true, true, true, false, false},
       false},
      {"ring",
       "cylinder",
       {14, 26},
       {30, 60},
       {95, 20, -24},
       kAcross,
       {0.0, 0.1, 0.3, 0.5},
       {{{0.7, 0.9, 0.5}, kOut, kOut, kOut}},
       {"index.prx.pad", "index.mid.pad", "index.pad", "thumb.pad"},
       {true, true, false, false, false},
       false},
  };
  return scripts;
}

geometry::Shape ShapeOf(const std::string& primitive, const Vec3& half) {
  if (primitive == "sphere") return geometry::Sphere{half.x()};
  if (primitive == "box") return geometry::Box{2.0 * half};
  return geometry::Cylinder{half.x(), 2.0 * half.z()};
}

/// The rotation that takes z to `axis` by the shortest way.
geometry::Mat3 ZTo(const Vec3& axis) {
  return Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), axis.normalized()).toRotationMatrix();
}

int SiteNamed(const model::Skeleton& skeleton, std::string_view suffix) {
  for (size_t i = 0; i < skeleton.sites().size(); ++i) {
    const std::string_view name = skeleton.sites()[i].name;
    if (name.size() > 2 && name.substr(2) == suffix) return static_cast<int>(i);
  }
  return -1;
}

/// What the script begins from; the sd of each angle is the freedom that the fit has.
void Posture(const HandSurface& hand, const Script& script, Eigen::VectorXd* rest,
             Eigen::VectorXd* sd) {
  const std::vector<std::string> names = hand.shape_names();
  rest->setZero(hand.shape_size());
  sd->setConstant(hand.shape_size(), 0.1);
  constexpr std::string_view kFingers[] = {"index", "middle", "ring", "little"};
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = std::string_view(names[i]).substr(2);
    const auto at = static_cast<Eigen::Index>(i);
    const auto set = [&](std::string_view dof, double value, double freedom) {
      if (name == dof) (*rest)[at] = value, (*sd)[at] = freedom;
    };
    set("thumb.cmc.flex", script.thumb.cmc, 0.3);
    set("thumb.cmc.abd", script.thumb.abd, 0.3);
    set("thumb.mcp.flex", script.thumb.mcp, 0.3);
    set("thumb.ip.flex", script.thumb.ip, 0.3);
    for (size_t f = 0; f < 4; ++f) {
      const std::string finger(kFingers[f]);
      const double freedom = script.close[f + 1] ? 0.35 : 0.15;
      set(finger + ".mcp.flex", script.fingers[f].mcp, freedom);
      set(finger + ".pip.flex", script.fingers[f].pip, freedom);
      set(finger + ".dip.flex", script.fingers[f].dip, 0.7 * freedom);
      set(finger + ".mcp.abd", 0.0, 0.12);
    }
  }
}

struct Maker {
  const HandSurface& hand;
  const Script& script;
  const PreshapeOptions& options;
  Eigen::VectorXd rest, sd;
  std::vector<SiteTarget> sites;

  std::optional<GraspTemplate> Try(Random* random) const {
    GraspTemplate grasp;
    grasp.type = script.type;
    grasp.primitive = script.primitive;
    grasp.precision = script.precision;
    const double thin = 1e-3 * random->In(script.thin_mm[0], script.thin_mm[1]);
    const double wide = 1e-3 * random->In(script.wide_mm[0], script.wide_mm[1]);
    const bool sphere = script.primitive == "sphere", box = script.primitive == "box";
    const Vec3 half = sphere ? Vec3::Constant(thin)
                      : box  ? Vec3(wide, wide * random->In(0.7, 1.0), thin)
                             : Vec3(thin, thin, wide);
    grasp.half_size_m = half;
    const HeldObject object = *HeldObject::Build(*PrimitiveProp(grasp));
    const double side = hand.skeleton().draft().side == "left" ? -1.0 : 1.0;
    Vec3 axis = script.axis_H;
    for (int k = 0; k < 3; ++k) axis[k] += 0.12 * random->Normal();
    RigidTransform X_HO;
    Vec3 centre = 1e-3 * script.centre_mm;
    // The near surface is named: the middle lies below it.
    centre.z() -= script.primitive == "disk" && script.axis_H == kOver ? wide : thin;
    for (int k = 0; k < 3; ++k) centre[k] += 0.004 * random->Normal();
    axis.y() *= side;
    centre.y() *= side;
    X_HO.R = ZTo(axis);
    X_HO.p = centre;
    Eigen::VectorXd mean = rest;
    for (Eigen::Index k = 0; k < mean.size(); ++k)
      mean[k] += options.noise_rad * (sd[k] > 0.11 ? 1.0 : 0.4) * random->Normal();
    mean = hand.ClampedToLimits(mean);
    HandPlacement at{X_HO.Inverse(), mean};
    ContactFitOptions fit_options;
    fit_options.prior_weight = 1.0;
    fit_options.placement_weight = 0.3;
    fit_options.iterations = 30;
    ContactFit fit(hand, object, Eigen::VectorXd::Zero(hand.shape_size()),
                   Eigen::MatrixXd::Identity(hand.shape_size(), hand.shape_size()), fit_options);
    fit.set_prior(mean, sd);
    fit.set_sphere_weights(std::vector<double>(hand.spheres().size(), 0.0));
    fit.set_sites(sites);
    fit.Fit(&at);
    Closer closer(hand, object);
    Eigen::VectorXd shape = at.a;
    const bool palm = std::ranges::any_of(
        script.sites, [](std::string_view site) { return site.starts_with("palm"); });
    const ClosingOptions closing{
        .digits = script.close, .precision = script.precision, .palm = palm};
    if (!closer.Close(closing, &at.X_PH, &shape)) return std::nullopt;
    if (closer.SelfContact(at.X_PH, shape) > 0.003) return std::nullopt;
    const std::vector<SkinContact> contacts = closer.Contacts(at.X_PH, shape, 0.003);
    for (const SiteTarget& site : sites) {
      // The palm is one: which metacarpal stands out depends on how the thing lies.
      const bool is_palm = hand.chain(site.body).size() == 6;
      if (std::ranges::none_of(contacts, [&](const SkinContact& c) {
            return is_palm ? c.digit < 0 : c.body == site.body;
          }))
        return std::nullopt;
    }
    const RigidTransform X_HP = at.X_PH.Inverse();
    grasp.pose_v = shape;
    grasp.X_HO = X_HP;
    grasp.opposition_H = Opposition(X_HP, contacts);
    return grasp;
  }

  /// From what presses on one side (the thumb; the palm in a power grasp) to the fingers.
  Vec3 Opposition(const RigidTransform& X_HP, const std::vector<SkinContact>& contacts) const {
    Vec3 one = Vec3::Zero(), other = Vec3::Zero();
    bool palm = false;
    for (const SkinContact& c : contacts) palm |= c.digit < 0;
    // A disk is held across its rim, whatever the palm does.
    const bool by_palm = palm && !script.precision && script.primitive != "disk";
    int thumbs = 0;
    for (const SkinContact& c : contacts) thumbs += c.digit == 0;
    for (const SkinContact& c : contacts) {
      const Vec3 n_H = X_HP.R * c.normal_P;
      if (by_palm ? c.digit < 0 : thumbs > 0 ? c.digit == 0 : c.p_P.z() > 1e9) one -= n_H;
      if (c.digit > 0) other += n_H;
    }
    // What no thumb and no palm opposes is held against its own load: into the fingers.
    const Vec3 axis = one.norm() > 1e-6 ? one : other;
    return axis.norm() > 1e-9 ? Vec3(axis.normalized()) : -Vec3::UnitZ();
  }
};

}  // namespace

std::vector<std::string> ScriptedTypes() {
  std::vector<std::string> names;
  for (const Script& script : Scripts()) names.emplace_back(script.type);
  return names;
}

Result<model::Prop> PrimitiveProp(const GraspTemplate& grasp) {
  model::Prop prop;
  prop.name = grasp.primitive;
  if (grasp.primitive != "sphere" && grasp.primitive != "box" && grasp.primitive != "cylinder" &&
      grasp.primitive != "disk")
    return Error{ErrorCode::kInvalid, "'" + grasp.primitive + "' is no primitive"};
  prop.shapes.push_back({grasp.primitive, {}, ShapeOf(grasp.primitive, grasp.half_size_m), ""});
  return prop;
}

Result<Preshapes> ScriptPreshapes(const HandSurface& hand, const std::vector<std::string>& types,
                                  const PreshapeOptions& options,
                                  const std::function<bool(double)>& progress) {
  const std::vector<std::string> known = ScriptedTypes();
  for (const std::string& type : types) {
    if (std::ranges::find(known, type) == known.end()) {
      return Error{ErrorCode::kNotFound,
                   "no script of grasp type '" + type + "'" + DidYouMean(type, known)};
    }
  }
  Preshapes out;
  out.dof_names = hand.shape_names();
  const size_t total = types.empty() ? known.size() : types.size();
  for (size_t at = 0; at < Scripts().size(); ++at) {
    const Script& script = Scripts()[at];
    if (!types.empty() && std::ranges::find(types, script.type) == types.end()) continue;
    Maker maker{hand, script, options, {}, {}, {}};
    Posture(hand, script, &maker.rest, &maker.sd);
    for (const std::string_view name : script.sites) {
      const int site = SiteNamed(hand.skeleton(), name);
      if (site < 0) {
        return Error{ErrorCode::kUnsupported, "hand '" + hand.skeleton().name() +
                                                  "' has no contact site '" + std::string(name) +
                                                  "'"};
      }
      const model::ContactSite& s = hand.skeleton().sites()[static_cast<size_t>(site)];
      maker.sites.push_back({s.body, s.p_BS, s.normal_B, 1.0});
    }
    Random random(options.seed * 1000003 + at);
    PreshapeCount count{std::string(script.type), 0, 0};
    while (count.made < options.per_type && count.tried < options.per_type * options.tries) {
      ++count.tried;
      if (std::optional<GraspTemplate> made = maker.Try(&random)) {
        ++count.made;
        out.grasps.push_back(*std::move(made));
      }
    }
    out.counts.push_back(count);
    if (progress && !progress(static_cast<double>(out.counts.size()) / static_cast<double>(total)))
      return Error{ErrorCode::kCancelled, "stopped while scripting grasps"};
  }
  return out;
}

}  // namespace handhold::synthesis
