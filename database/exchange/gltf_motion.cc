#include "database/exchange/gltf_motion.h"

#include <map>
#include <numeric>

#include "database/artefact/motion_nodes.h"
#include "database/exchange/gltf_hand.h"

namespace handhold::exchange {
namespace {

using artefact::ContactRow;
using artefact::Motion;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

constexpr int kSkin = 0, kObject = 1, kContact = 2, kForce = 3, kNail = 4, kCapsule = 5;
constexpr double kPoint_m = 0.002;

/// A thing: hands are armatures (gltf_hand.h).
GltfNode Written(const artefact::MotionNode& node, const Motion& motion) {
  GltfNode out{.name = node.name};
  if (node.X_PN.size() != 1) {
    out.moves = node.X_PN;
  } else {
    out.X_PN = node.X_PN.front();
  }
  for (const geometry::PosedShape& shape : node.shapes)
    out.shapes.push_back({.shape = shape.shape, .X_NS = shape.X_GS, .material = kObject});
  const artefact::StageThing& thing = motion.stage.things[node.index];
  if (thing.prop.there()) {
    out.extras = Json::Object({{"prop", thing.prop->name},
                               {"is", std::string(artefact::StageIsName(thing.is))},
                               {"mass_kg", thing.prop->mass.mass_kg},
                               {"friction", thing.prop->friction}});
  }
  return out;
}

std::string SideName(const artefact::Side& side) {
  return side.site.empty() ? side.name : side.site;
}

/// The turn that takes +Y to `f`.
geometry::Mat3 AlongY(const Vec3& f) {
  return Eigen::Quaterniond::FromTwoVectors(Vec3::UnitY(), f).toRotationMatrix();
}

/// Contacts of one touch that are there at the same time each have a node: the first, the second...
void AddContacts(const Motion& motion, double m_per_N, GltfFile* file) {
  const auto group = static_cast<int>(file->nodes.size());
  file->nodes.push_back({.name = "contacts"});
  const size_t frames = motion.times.size();
  std::map<std::pair<int, int>, std::vector<const ContactRow*>> lanes;  // (touch, nth) -> per frame
  std::map<std::pair<int, int>, int> used;                              // (frame, touch) -> rows
  for (const ContactRow& row : motion.rows) {
    if (!row.p_W.allFinite()) continue;
    const int nth = used[{row.frame, row.touch}]++;
    auto& lane = lanes[{row.touch, nth}];
    lane.resize(frames, nullptr);
    lane[static_cast<size_t>(row.frame)] = &row;
  }
  for (const auto& [key, lane] : lanes) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(key.first)];
    const std::string name = "contact " + SideName(touch.a) + " on " + SideName(touch.b) +
                             (key.second > 0 ? " " + std::to_string(key.second + 1) : "");
    GltfNode point{.name = name, .parent = group, .steps = true};
    GltfNode force{
        .name = name + " force", .parent = static_cast<int>(file->nodes.size()), .steps = true};
    point.shapes = {{.shape = geometry::Sphere{kPoint_m}, .material = kContact}};
    // One metre along +Y, scaled to the force.
    const RigidTransform up{
        AlongY(Vec3::UnitY()) * geometry::Exp<double>(Vec3(-1.57079632679489661923, 0, 0)),
        Vec3(0, 0.5, 0)};
    force.shapes = {{.shape = geometry::Cylinder{0.0008, 1.0}, .X_NS = up, .material = kForce}};
    RigidTransform at, along;
    double peak_N = 0.0;
    for (const ContactRow* row : lane) {
      const double size_N = row != nullptr ? row->f_onA_W.norm() : 0.0;
      if (row != nullptr) at = RigidTransform::Translation(row->p_W);
      if (size_N > 0.0) along.R = AlongY(row->f_onA_W / size_N);
      peak_N = std::max(peak_N, size_N);
      point.moves.push_back(at);
      point.scales.push_back(row != nullptr ? Vec3::Ones() : Vec3::Zero());
      force.moves.push_back(along);
      force.scales.push_back(size_N > 0.0 ? Vec3(1, m_per_N * size_N, 1) : Vec3::Zero());
    }
    point.extras = Json::Object({{"peak_force_N", peak_N}, {"m_per_N", m_per_N}});
    file->nodes.push_back(std::move(point));
    file->nodes.push_back(std::move(force));
  }
}

/// None for one hand; for more their sides, or their names where two have the same side.
std::string PrefixOf(size_t hand, const Motion& motion) {
  const std::vector<artefact::StageHand>& hands = motion.stage.hands;
  if (hands.size() == 1) return "";
  const std::string& side = hands[hand].skeleton->draft().side;
  bool alone = !side.empty();
  for (size_t i = 0; i < hands.size(); ++i)
    alone &= i == hand || hands[i].skeleton->draft().side != side;
  return (alone ? side : motion.hands[hand].name) + "-";
}

}  // namespace

Result<GltfFile> GltfOfMotion(const Motion& motion, const GltfMotionOptions& options) {
  HANDHOLD_TRY(artefact::CheckMotion(motion));
  std::vector<int> frames(motion.times.size());
  std::iota(frames.begin(), frames.end(), 0);
  HANDHOLD_ASSIGN(const std::vector<artefact::MotionNode> nodes, artefact::NodesOf(motion, frames));
  GltfFile file;
  file.scene_name = motion.provenance.step;
  file.generator = options.generator;
  // Colours that colour-blind people tell apart, too: #c59b81, #95aab6, #0072b2, #e69f00.
  file.materials = {{.name = "skin", .rgba = {0.56, 0.33, 0.22, 1}, .roughness = 0.55},
                    {.name = "object", .rgba = {0.30, 0.40, 0.47, 1}},
                    {.name = "contact", .rgba = {0.0, 0.17, 0.45, 1}},
                    {.name = "force", .rgba = {0.79, 0.35, 0.0, 1}},
                    {.name = "nail", .rgba = {0.67, 0.40, 0.26, 1}, .roughness = 0.3},
                    {.name = "capsule", .rgba = {0.42, 0.42, 0.42, 1}}};
  for (const Timestamp t : motion.times)
    file.times_s.push_back((t - motion.times.front()).seconds());
  for (size_t i = 0; i < motion.hands.size(); ++i) {
    HANDHOLD_TRY(AddHandToGltf(*motion.stage.hands[i].skeleton, motion.hands[i].q,
                               {.name = motion.hands[i].name,
                                .prefix = PrefixOf(i, motion),
                                .skin = options.skin,
                                .half_joints = options.half_joints,
                                .capsules = options.capsules,
                                .skin_material = kSkin,
                                .nail_material = kNail,
                                .capsule_material = kCapsule},
                               &file));
  }
  for (const artefact::MotionNode& node : nodes)
    if (node.of == artefact::MotionNode::Of::kThing) file.nodes.push_back(Written(node, motion));
  if (options.contacts) AddContacts(motion, options.m_per_N, &file);
  file.extras =
      Json::Object({{"step", motion.provenance.step},
                    {"verdict", artefact::VerdictName(motion.verdict.kind)},
                    {"begin_s", motion.times.empty() ? 0.0 : motion.times.front().seconds()}});
  return file;
}

}  // namespace handhold::exchange
