#include "database/exchange/gltf_motion.h"

#include <map>

#include "database/model/kinematics.h"

namespace handhold::exchange {
namespace {

using artefact::ContactRow;
using artefact::Motion;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

constexpr int kSkin = 0, kObject = 1, kContact = 2, kForce = 3;
constexpr double kPoint_m = 0.002;

void AddHand(const artefact::MotionHand& hand, const model::Skeleton& skeleton, bool alone,
             GltfFile* file) {
  const auto first = static_cast<int>(file->nodes.size());
  const auto bodies = static_cast<size_t>(skeleton.body_count());
  std::vector<std::vector<RigidTransform>> X_PB(bodies);
  model::KinematicsData data(skeleton);
  for (Eigen::Index k = 0; k < hand.q.cols(); ++k) {
    model::ComputePoses<double>(skeleton, hand.q.col(k), &data);
    for (size_t b = 1; b < bodies; ++b) {
      const auto parent = static_cast<size_t>(skeleton.body(static_cast<int>(b)).parent);
      X_PB[b].push_back(data.X_WB[parent].Inverse() * data.X_WB[b]);
    }
  }
  for (size_t b = 1; b < bodies; ++b) {
    const model::Body& body = skeleton.body(static_cast<int>(b));
    GltfNode node{.name = alone ? body.name : hand.name + "/" + body.name};
    node.parent = body.parent == 0 ? -1 : first + body.parent - 1;
    // What never moves is told once: places in the parent come out of products, equal to rounding.
    for (RigidTransform& X : X_PB[b])
      if ((X.p - X_PB[b].front().p).norm() < 1e-12) X.p = X_PB[b].front().p;
    node.moves = std::move(X_PB[b]);
    for (const model::BodyShape& shape : body.shapes)
      node.shapes.push_back({.shape = shape.shape, .X_NS = shape.X_BS, .material = kSkin});
    if (body.parent == 0) node.extras = Json::Object({{"hand", hand.name}});
    file->nodes.push_back(std::move(node));
  }
}

void AddObject(const artefact::MotionObject& object, const model::Prop* prop, GltfFile* file) {
  GltfNode node{.name = object.name};
  if (object.stands_still()) {
    node.X_PN = object.X_WP.front();
  } else {
    node.moves = object.X_WP;
  }
  if (prop != nullptr) {
    for (const model::PropShape& shape : prop->shapes)
      node.shapes.push_back({.shape = shape.shape, .X_NS = shape.X_PS, .material = kObject});
    node.extras = Json::Object(
        {{"prop", prop->name}, {"mass_kg", prop->mass.mass_kg}, {"friction", prop->friction}});
  }
  file->nodes.push_back(std::move(node));
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
    GltfNode point{.name = name, .steps = true};
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

}  // namespace

Result<GltfFile> GltfOfMotion(const Motion& motion, const GltfMotionParts& parts,
                              const GltfMotionOptions& options) {
  const auto wrong = [](const std::string& what) {
    return Error{ErrorCode::kInvalid, "the motion's parts do not belong to it: " + what};
  };
  HANDHOLD_TRY(artefact::CheckMotion(motion));
  if (parts.hands.size() != motion.hands.size() || parts.props.size() != motion.objects.size())
    return wrong("another number of hands or objects");
  GltfFile file;
  file.scene_name = motion.provenance.step;
  file.generator = options.generator;
  file.materials = {{.name = "skin", .rgba = {0.62, 0.36, 0.24, 1}},
                    {.name = "object", .rgba = {0.42, 0.46, 0.5, 1}},
                    {.name = "contact", .rgba = {0.02, 0.3, 0.36, 1}},
                    {.name = "force", .rgba = {0.6, 0.03, 0.03, 1}}};
  for (const Timestamp t : motion.times)
    file.times_s.push_back((t - motion.times.front()).seconds());
  for (size_t i = 0; i < motion.hands.size(); ++i) {
    if (motion.hands[i].q.rows() != parts.hands[i]->nq())
      return wrong("hand " + motion.hands[i].name + " has another number of coordinates");
    AddHand(motion.hands[i], *parts.hands[i], motion.hands.size() == 1, &file);
  }
  for (size_t i = 0; i < motion.objects.size(); ++i)
    AddObject(motion.objects[i], parts.props[i], &file);
  if (options.contacts) AddContacts(motion, options.m_per_N, &file);
  file.extras =
      Json::Object({{"step", motion.provenance.step},
                    {"verdict", artefact::VerdictName(motion.verdict.kind)},
                    {"begin_s", motion.times.empty() ? 0.0 : motion.times.front().seconds()}});
  return file;
}

}  // namespace handhold::exchange
