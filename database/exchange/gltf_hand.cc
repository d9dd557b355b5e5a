#include "database/exchange/gltf_hand.h"

#include <algorithm>
#include <utility>

#include "database/model/kinematics.h"
#include "database/skin/skin.h"

namespace handhold::exchange {
namespace {

using geometry::RigidTransform;
using text::Json;

constexpr std::pair<const char*, const char*> kPart[] = {{"mtc", "metacarpal"},
                                                         {"prx", "phalanx-proximal"},
                                                         {"mid", "phalanx-intermediate"},
                                                         {"dst", "phalanx-distal"},
                                                         {"end", "tip"}};
constexpr std::pair<const char*, const char*> kDigit[] = {{"thumb", "thumb"},
                                                          {"index", "index-finger"},
                                                          {"middle", "middle-finger"},
                                                          {"ring", "ring-finger"},
                                                          {"little", "pinky-finger"}};

/// What never moves is told once: places in the parent come out of products, equal to rounding.
void SettleRounding(std::vector<RigidTransform>* moves) {
  for (RigidTransform& X : *moves) {
    if ((X.p - moves->front().p).norm() < 1e-12) X.p = moves->front().p;
    if ((X.R - moves->front().R).norm() < 1e-12) X.R = moves->front().R;
  }
}

class HandNodes {
 public:
  HandNodes(const model::Skeleton& skeleton, const GltfHandOptions& options, GltfFile* file)
      : skeleton_(skeleton),
        options_(options),
        file_(*file),
        root_(static_cast<int>(file->nodes.size())),
        X_BN_(GltfJointAxes()),
        X_NB_(X_BN_.Inverse()) {}

  void AddRoot() {
    const std::string& side = skeleton_.draft().side;
    GltfNode root{.name = options_.prefix + (side.empty() || !options_.prefix.empty()
                                                 ? std::string("hand")
                                                 : side + "-hand")};
    root.extras =
        Json::Object({{"hand", options_.name}, {"skeleton", skeleton_.name()}, {"side", side}});
    file_.nodes.push_back(std::move(root));
  }

  /// X_PB: per body, per frame.
  void AddBodies(std::vector<std::vector<RigidTransform>> X_PB) {
    for (int b = 1; b < skeleton_.body_count(); ++b) {
      const model::Body& body = skeleton_.body(b);
      GltfNode node{.name = options_.prefix + GltfJointName(body.name),
                    .parent = root_ + body.parent};
      const bool inmost = body.parent == 0;
      for (RigidTransform& X : X_PB[static_cast<size_t>(b)])
        X = (inmost ? RigidTransform() : X_NB_) * X * X_BN_;
      node.moves = std::move(X_PB[static_cast<size_t>(b)]);
      SettleRounding(&node.moves);
      node.extras = Json::Object({{"body", body.name}, {"joint", body.joint.name}});
      if (options_.capsules)
        for (const model::BodyShape& shape : body.shapes)
          node.shapes.push_back({.shape = shape.shape,
                                 .X_NS = X_NB_ * shape.X_BS,
                                 .material = options_.capsule_material});
      file_.nodes.push_back(std::move(node));
    }
  }

  void AddTips() {
    for (const model::NamedFrame& frame : skeleton_.frames()) {
      if (!frame.name.ends_with(".end")) continue;
      GltfNode node{.name = options_.prefix + GltfJointName(frame.name),
                    .parent = root_ + frame.body,
                    .X_PN = RigidTransform::Translation(X_NB_ * frame.X_BF.p)};
      node.extras = Json::Object({{"frame", frame.name}});
      file_.nodes.push_back(std::move(node));
    }
  }

  /// The skin, and its half joints; X_WB: per frame, per body.
  void AddSkin(skin::Skin skin, const std::vector<std::vector<RigidTransform>>& X_WB) {
    std::vector<std::vector<RigidTransform>> moves(skin.joints.size());
    for (const std::vector<RigidTransform>& X_WB_now : X_WB) {
      const std::vector<RigidTransform> X_WJ = skin::JointPoses(skin, X_WB_now);
      for (size_t j = 0; j < skin.joints.size(); ++j)
        if (skin.joints[j].half)
          moves[j].push_back(X_NB_ * X_WB_now[static_cast<size_t>(skin.joints[j].inner)].Inverse() *
                             X_WJ[j] * X_BN_);
    }
    GltfSkin out{.name = options_.prefix + "skin", .root = root_};
    for (size_t j = 0; j < skin.joints.size(); ++j) {
      const skin::SkinJoint& joint = skin.joints[j];
      out.X_MJ.push_back(joint.X_RJ_rest * X_BN_);
      if (!joint.half) {
        out.joints.push_back(root_ + joint.body);
        continue;
      }
      const std::string& body = skeleton_.body(joint.body).name;
      GltfNode node{.name = options_.prefix + GltfJointName(body) + "-half",
                    .parent = root_ + joint.inner};
      node.moves = std::move(moves[j]);
      SettleRounding(&node.moves);
      node.extras = Json::Object({{"body", body}, {"half", true}});
      out.joints.push_back(static_cast<int>(file_.nodes.size()));
      file_.nodes.push_back(std::move(node));
    }
    out.p_M = std::move(skin.p_R), out.normal_M = std::move(skin.normal_R);
    out.joint = std::move(skin.joint), out.weight = std::move(skin.weight);
    const auto nails = skin.triangles.begin() + static_cast<ptrdiff_t>(skin.first_nail_triangle);
    out.parts.resize(2);
    out.parts[0].triangles.assign(skin.triangles.begin(), nails);
    out.parts[0].material = options_.skin_material;
    out.parts[1].triangles.assign(nails, skin.triangles.end());
    out.parts[1].material = options_.nail_material;
    file_.skins.push_back(std::move(out));
  }

 private:
  const model::Skeleton& skeleton_;
  const GltfHandOptions& options_;
  GltfFile& file_;
  int root_;
  RigidTransform X_BN_, X_NB_;
};

}  // namespace

std::string GltfJointName(const std::string& ours) {
  if (ours == "palm") return "wrist";
  const size_t dot = ours.find('.');
  if (dot != std::string::npos) {
    for (const auto& [digit, theirs] : kDigit)
      for (const auto& [part, its] : kPart)
        if (ours.substr(0, dot) == digit && ours.substr(dot + 1) == part)
          return std::string(theirs) + "-" + its;
  }
  std::string name = ours;
  std::replace(name.begin(), name.end(), '.', '-');
  return name;
}

RigidTransform GltfJointAxes() {
  RigidTransform X_BN;
  X_BN.R << 0, 0, -1,  //
      -1, 0, 0,        //
      0, 1, 0;
  return X_BN;
}

Status AddHandToGltf(const model::Skeleton& skeleton, const Eigen::MatrixXd& q,
                     const GltfHandOptions& options, GltfFile* file) {
  if (q.rows() != skeleton.nq() || q.cols() != static_cast<Eigen::Index>(file->times_s.size()))
    return Error{ErrorCode::kInvalid,
                 "glTF: hand '" + options.name + "' has another number of coordinates or frames"};
  const auto bodies = static_cast<size_t>(skeleton.body_count());
  std::vector<std::vector<RigidTransform>> X_PB(bodies), X_WB;
  model::KinematicsData data(skeleton);
  for (Eigen::Index k = 0; k < q.cols(); ++k) {
    model::ComputePoses<double>(skeleton, q.col(k), &data);
    X_WB.push_back(data.X_WB);
    for (size_t b = 1; b < bodies; ++b) {
      const auto parent = static_cast<size_t>(skeleton.body(static_cast<int>(b)).parent);
      X_PB[b].push_back(data.X_WB[parent].Inverse() * data.X_WB[b]);
    }
  }
  HandNodes nodes(skeleton, options, file);
  nodes.AddRoot();
  nodes.AddBodies(std::move(X_PB));
  nodes.AddTips();
  if (!options.skin) return {};
  HANDHOLD_ASSIGN(skin::Skin skin, skin::MakeSkin(skeleton, {.half_joints = options.half_joints}));
  nodes.AddSkin(std::move(skin), X_WB);
  return {};
}

}  // namespace handhold::exchange
