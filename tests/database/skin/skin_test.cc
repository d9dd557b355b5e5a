// A hand's skin: closed, on its field, touching where the contact shapes touch, whole when bent,
// the same bytes each time; of every hand of ours, left and scaled.
#include "database/skin/skin.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/base/random.h"
#include "database/geometry/mesh.h"
#include "database/geometry/shape.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/skin/internal/anatomy.h"
#include "database/skin/internal/field.h"

namespace handhold::skin::skin_test {
namespace {

using geometry::Mesh;
using geometry::RigidTransform;
using geometry::Vec3;
using model::Skeleton;

Skeleton Named(const std::string& name) {
  if (name == "hand27 left") return model::Mirrored(*model::LoadHand("hand27"));
  if (name == "hand57 left") return model::Mirrored(*model::LoadHand("hand57"));
  if (name == "hand27 0.85") return *model::ScaledUniformly(*model::LoadHand("hand27"), 0.85);
  if (name == "hand27 long finger")
    return *model::ScaledToLengths(
        *model::LoadHand("hand27"),
        {{"index.prx", 1.25 * 0.0463}, {"index.mid", 1.25 * 0.027}, {"index.dst", 1.25 * 0.0183}});
  return *model::LoadHand(name);
}

/// Made once: several tests ask for the same.
const Skin& SkinOf(const std::string& name) {
  static std::map<std::string, Skin> made;
  const auto found = made.find(name);
  if (found != made.end()) return found->second;
  return made.emplace(name, MakeSkin(Named(name)).value()).first->second;
}

/// Without the nails.
Mesh Body(const Skin& skin, const std::vector<Vec3>& p) {
  const auto nails = static_cast<std::ptrdiff_t>(skin.first_nail_vertex);
  const auto triangles = static_cast<std::ptrdiff_t>(skin.first_nail_triangle);
  return {{p.begin(), p.begin() + nails},
          {skin.triangles.begin(), skin.triangles.begin() + triangles}};
}

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.at(static_cast<size_t>(share * static_cast<double>(values.size() - 1)));
}

/// The configuration with each finger's joints bent by so much, degrees; a thumb by its own.
Eigen::VectorXd Bent(const Skeleton& hand, std::array<double, 3> finger_deg,
                     std::array<double, 3> thumb_deg) {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
  for (int b = 1; b < hand.body_count(); ++b) {
    const std::string& name = hand.body(b).name;
    const bool thumb = name.starts_with("thumb.");
    const std::string part = name.substr(name.find('.') + 1);
    const int dof = hand.FindDof(hand.body(b).joint.name + ".flex");
    const std::array<std::string, 3> parts = thumb
                                                 ? std::array<std::string, 3>{"mtc", "prx", "dst"}
                                                 : std::array<std::string, 3>{"prx", "mid", "dst"};
    for (size_t k = 0; k < 3; ++k)
      if (dof >= 0 && part == parts[k]) v[dof] = (thumb ? thumb_deg : finger_deg)[k] * M_PI / 180.0;
  }
  return hand.Integrate(hand.ZeroConfiguration(), v);
}

std::vector<RigidTransform> PosesAt(const Skeleton& hand, const Eigen::VectorXd& q) {
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, q, &data);
  return data.X_WB;
}

std::vector<Vec3> SkinAt(const Skeleton& hand, const Skin& skin, const Eigen::VectorXd& q) {
  return DeformedVertices(skin, JointPoses(skin, PosesAt(hand, q)));
}

/// Where a segment passes through a triangle.
bool Passes(const Vec3& from, const Vec3& to, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 u = b - a, v = c - a, d = to - from, h = d.cross(v);
  const double det = u.dot(h);
  if (std::abs(det) < 1e-18) return false;
  const Vec3 s = from - a, q = s.cross(u);
  const double x = s.dot(h) / det, y = d.dot(q) / det, t = v.dot(q) / det;
  return x > 0 && y > 0 && x + y < 1 && t > 0 && t < 1;
}

/// Pairs of triangles without a common vertex that pass through each other.
int Crossings(const Mesh& mesh) {
  struct Box {
    Vec3 min, max;
    size_t triangle;
  };
  std::vector<Box> boxes;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    geometry::Bounds box;
    for (const auto v : mesh.triangles[t]) box.Include(mesh.vertices[v]);
    boxes.push_back({box.min, box.max, t});
  }
  std::sort(boxes.begin(), boxes.end(),
            [](const Box& a, const Box& b) { return a.min.x() < b.min.x(); });
  int count = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t k = i + 1; k < boxes.size() && boxes[k].min.x() <= boxes[i].max.x(); ++k) {
      if ((boxes[k].min.array() > boxes[i].max.array()).any() ||
          (boxes[k].max.array() < boxes[i].min.array()).any())
        continue;
      const auto& s = mesh.triangles[boxes[i].triangle];
      const auto& t = mesh.triangles[boxes[k].triangle];
      if (std::any_of(s.begin(), s.end(),
                      [&](auto v) { return std::find(t.begin(), t.end(), v) != t.end(); }))
        continue;
      const auto p = [&](auto v) { return mesh.vertices[v]; };
      bool crosses = false;
      for (size_t c = 0; c < 3; ++c) {
        crosses |= Passes(p(s[c]), p(s[(c + 1) % 3]), p(t[0]), p(t[1]), p(t[2]));
        crosses |= Passes(p(t[c]), p(t[(c + 1) % 3]), p(s[0]), p(s[1]), p(s[2]));
      }
      count += crosses ? 1 : 0;
    }
  }
  return count;
}

class EveryHand : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryHand, IsOneClosedSkinOnItsField) {
  const std::string name = GetParam();
  const Skin& skin = SkinOf(name);
  const Mesh mesh = Body(skin, skin.p_R);
  const geometry::MeshReport report = geometry::InspectMesh(mesh);
  EXPECT_TRUE(report.watertight()) << report.Summary();
  EXPECT_EQ(report.components, 1u);
  EXPECT_GT(report.signed_volume_m3, 0.0) << "triangles look outward";
  EXPECT_LE(mesh.triangles.size(), 4000u);
  EXPECT_LE(skin.triangles.size(), 5000u) << "with nails";
  EXPECT_EQ(Crossings(mesh), 0);

  const Skeleton hand = Named(name);
  const bool left = hand.draft().side == "left";
  const internal::Anatomy anatomy = internal::Dissect(left ? model::Mirrored(hand) : hand);
  const internal::Field field(anatomy);
  const auto off_mm = [&](Vec3 p) {
    if (left) p.y() *= -1;
    return 1000.0 * std::abs(field.At(p).d);
  };
  std::vector<double> at_vertices, at_faces;
  for (const Vec3& p : mesh.vertices) at_vertices.push_back(off_mm(p));
  for (const auto& [a, b, c] : mesh.triangles)
    at_faces.push_back(off_mm((mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c]) / 3.0));
  EXPECT_LE(Quantile(at_vertices, 0.95), 0.01);
  EXPECT_LE(Quantile(at_faces, 0.95), name == "arm35" ? 1.0 : 0.35);
  RecordProperty("faces_p95_um", static_cast<int>(1000.0 * Quantile(at_faces, 0.95)));
}

TEST_P(EveryHand, SharesOfFourJointsMakeAWhole) {
  const Skin& skin = SkinOf(GetParam());
  ASSERT_EQ(skin.weight.size(), skin.p_R.size());
  ASSERT_EQ(skin.joint.size(), skin.p_R.size());
  ASSERT_EQ(skin.normal_R.size(), skin.p_R.size());
  for (size_t v = 0; v < skin.p_R.size(); ++v) {
    int sum = 0;
    std::set<int> joints;
    for (size_t k = 0; k < 4; ++k) {
      sum += skin.weight[v][k];
      ASSERT_LT(skin.joint[v][k], skin.joints.size());
      if (skin.weight[v][k] > 0) {
        EXPECT_TRUE(joints.insert(skin.joint[v][k]).second) << "named twice";
      } else {
        EXPECT_EQ(skin.joint[v][k], 0);
      }
      if (k > 0) {
        EXPECT_GE(skin.weight[v][k - 1], skin.weight[v][k]);
      }
    }
    EXPECT_EQ(sum, 65535);
    EXPECT_NEAR(skin.normal_R[v].norm(), 1.0, 1e-9);
  }
}

TEST_P(EveryHand, RestsWhereItIsBound) {
  const Skeleton hand = Named(GetParam());
  const Skin& skin = SkinOf(GetParam());
  const std::vector<RigidTransform> X_WB = PosesAt(hand, skin.q_rest);
  const std::vector<Vec3> p_W = SkinAt(hand, skin, skin.q_rest);
  double worst_m = 0.0;
  for (size_t v = 0; v < p_W.size(); ++v)
    worst_m = std::max(worst_m, (p_W[v] - X_WB[1] * skin.p_R[v]).norm());
  EXPECT_LT(worst_m, 1e-12);
}

// Nothing of a fingertip is left behind or follows another digit.
TEST_P(EveryHand, TipsFollowTheirOwnBone) {
  const Skeleton hand = Named(GetParam());
  const Skin& skin = SkinOf(GetParam());
  for (const model::NamedFrame& frame : hand.frames()) {
    if (!frame.name.ends_with(".end")) continue;
    const SkinJoint& joint = skin.joints[static_cast<size_t>(frame.body) - 1];
    const Vec3 tip = joint.X_RJ_rest * frame.X_BF.p;
    size_t nearest = 0;
    for (size_t v = 0; v < skin.first_nail_vertex; ++v)
      if ((skin.p_R[v] - tip).norm() < (skin.p_R[nearest] - tip).norm()) nearest = v;
    EXPECT_LT((skin.p_R[nearest] - tip).norm(), 0.004) << frame.name;
    EXPECT_EQ(skin.joint[nearest][0], frame.body - 1) << frame.name;
    EXPECT_GT(skin.weight[nearest][0], 64000) << frame.name;
  }
}

// A pad of the skin is a pad of the contact shapes, however the hand is bent.
TEST_P(EveryHand, TouchesWhereItsContactShapesTouch) {
  const Skeleton hand = Named(GetParam());
  const Skin& skin = SkinOf(GetParam());
  Random random(7);
  std::vector<double> off_mm;
  for (int posture = 0; posture < 6; ++posture) {
    const auto bend = [&](double most_deg) { return random.In(0.0, most_deg); };
    const Eigen::VectorXd q = Bent(hand, {bend(60), bend(80), bend(45)}, {0, bend(30), bend(40)});
    const std::vector<RigidTransform> X_WB = PosesAt(hand, q);
    const std::vector<Vec3> p_W = SkinAt(hand, skin, q);
    const Mesh mesh = Body(skin, p_W);
    const auto tree = geometry::MeshTree::Build(mesh).value();
    for (const model::ContactSite& site : hand.sites()) {
      // What lies inside of another contact shape cannot touch anything.
      const Vec3 p = X_WB[static_cast<size_t>(site.body)] * site.p_BS;
      bool covered = false;
      for (int b = 1; b < hand.body_count(); ++b)
        for (const model::BodyShape& shape : hand.body(b).shapes)
          covered |= b != site.body &&
                     geometry::SignedDistance(
                         shape.shape, (X_WB[static_cast<size_t>(b)] * shape.X_BS).Inverse() * p)
                             .distance_m < 0.002;
      if (covered) continue;
      const double one_mm = 1000.0 * tree->ClosestUnsigned(p).distance_m;
      // Between metacarpals the skin is filled on purpose.
      const std::string& body = hand.body(site.body).name;
      if (body == "palm" || body.ends_with(".mtc")) {
        EXPECT_LE(one_mm, 4.5) << site.name;
      } else {
        off_mm.push_back(one_mm);
      }
    }
  }
  ASSERT_GE(off_mm.size(), 6u);
  EXPECT_LE(Quantile(off_mm, 0.5), 0.4);
  EXPECT_LE(Quantile(off_mm, 0.95), 1.2);
  RecordProperty("sites_median_um", static_cast<int>(1000.0 * Quantile(off_mm, 0.5)));
  RecordProperty("sites_p95_um", static_cast<int>(1000.0 * Quantile(off_mm, 0.95)));
}

INSTANTIATE_TEST_SUITE_P(SkinTest, EveryHand,
                         ::testing::Values("finger4", "hand27", "hand29", "arm35", "hand57",
                                           "hand27 left", "hand57 left", "hand27 0.85",
                                           "hand27 long finger"));

TEST(SkinTest, AFistFoldsLittle) {
  for (const char* name : {"hand27", "hand57", "hand27 left", "hand27 0.85"}) {
    const Skeleton hand = Named(name);
    const Skin& skin = SkinOf(name);
    const Mesh fist = Body(skin, SkinAt(hand, skin, Bent(hand, {75, 95, 60}, {15, 30, 40})));
    const int crossings = Crossings(fist);
    EXPECT_LE(crossings, 0.06 * static_cast<double>(fist.triangles.size())) << name;
    RecordProperty(name, crossings);
  }
}

/// From the middle of the knuckle to the skin on its back, the finger bent by so much.
double KnuckleHeight(const Skeleton& hand, const Skin& skin, double bend_deg) {
  const Eigen::VectorXd q = Bent(hand, {0, bend_deg, 0}, {0, 0, 0});
  const std::vector<RigidTransform> X_WB = PosesAt(hand, q);
  const RigidTransform& inner = X_WB[static_cast<size_t>(hand.FindBody("middle.prx"))];
  const RigidTransform& outer = X_WB[static_cast<size_t>(hand.FindBody("middle.mid"))];
  const Vec3 back = (inner.R.col(2) + outer.R.col(2)).normalized();
  const Mesh mesh = Body(skin, SkinAt(hand, skin, q));
  for (const auto& [a, b, c] : mesh.triangles) {
    double near = 0.0, far = 0.03;
    if (!Passes(outer.p, outer.p + far * back, mesh.vertices[a], mesh.vertices[b],
                mesh.vertices[c]))
      continue;
    while (far - near > 1e-6) {
      const double half = 0.5 * (near + far);
      (Passes(outer.p, outer.p + half * back, mesh.vertices[a], mesh.vertices[b], mesh.vertices[c])
           ? far
           : near) = half;
    }
    return far;
  }
  return 0.0;
}

TEST(SkinTest, AKnuckleKeepsItsHeightByHalfJoints) {
  const Skeleton hand = Named("hand27");
  const double straight_m = KnuckleHeight(hand, SkinOf("hand27"), 0);
  EXPECT_NEAR(straight_m, 0.0095, 0.001);
  EXPECT_GE(KnuckleHeight(hand, SkinOf("hand27"), 100) / straight_m, 0.8);
  // The guard can bite: without them it falls in.
  const Skin without = MakeSkin(hand, {.half_joints = false}).value();
  EXPECT_LT(KnuckleHeight(hand, without, 100) / straight_m, 0.75);
  EXPECT_EQ(without.joints.size(), static_cast<size_t>(hand.body_count()) - 1);
  EXPECT_EQ(SkinOf("hand27").joints.size(), without.joints.size() + 14);
}

TEST(SkinTest, SameHandSameBytes) {
  const Skin& first = SkinOf("hand27");
  const Skin second = MakeSkin(Named("hand27")).value();
  EXPECT_EQ(first.p_R, second.p_R);
  EXPECT_EQ(first.triangles, second.triangles);
  EXPECT_EQ(first.joint, second.joint);
  EXPECT_EQ(first.weight, second.weight);
}

TEST(SkinTest, WhereTheBaseStandsDoesNotMatter) {
  const Skin& free = SkinOf("hand27");
  const Skeleton held =
      *model::WithFixedBase(Named("hand27"), RigidTransform::Translation(Vec3(0.3, -0.2, 1.1)));
  const Skin skin = MakeSkin(held).value();
  ASSERT_EQ(skin.triangles.size(), free.triangles.size());
  const RigidTransform X_WB = PosesAt(held, skin.q_rest)[1];
  EXPECT_NEAR((X_WB.p - Vec3(0.3, -0.2, 1.1)).norm(), 0.0, 1e-12);
}

TEST(SkinTest, ALeftHandIsAMirroredRightOne) {
  const Skin &right = SkinOf("hand57"), &left = SkinOf("hand57 left");
  ASSERT_EQ(left.p_R.size(), right.p_R.size());
  for (size_t v = 0; v < left.p_R.size(); ++v)
    EXPECT_EQ(left.p_R[v], Vec3(right.p_R[v].x(), -right.p_R[v].y(), right.p_R[v].z()));
  EXPECT_EQ(left.joint, right.joint);
}

TEST(SkinTest, FingersAreSpreadAtRestToTheirSides) {
  for (const char* name : {"hand27", "hand57", "hand27 left", "hand57 left"}) {
    const Skeleton hand = Named(name);
    const std::vector<RigidTransform> zero = PosesAt(hand, hand.ZeroConfiguration());
    const std::vector<RigidTransform> rest = PosesAt(hand, SkinOf(name).q_rest);
    const double side = hand.draft().side == "left" ? -1.0 : 1.0;  // of the thumb
    const auto turned_deg = [&](const char* body) {
      const auto b = static_cast<size_t>(hand.FindBody(body));
      return side * 180.0 / M_PI * geometry::Log((zero[b].R.transpose() * rest[b].R).eval()).z();
    };
    EXPECT_NEAR(turned_deg("index.prx"), 6.0, 0.5) << name;
    EXPECT_NEAR(turned_deg("middle.prx"), 0.0, 0.5) << name;
    EXPECT_NEAR(turned_deg("ring.prx"), -6.0, 0.5) << name;
    EXPECT_NEAR(turned_deg("little.prx"), -13.0, 0.5) << name;
  }
}

TEST(SkinTest, NailsSitOnTheBacksOfFiveFingers) {
  const Skin& skin = SkinOf("hand27");
  const Skeleton hand = Named("hand27");
  std::map<int, int> of_body;
  for (size_t v = skin.first_nail_vertex; v < skin.p_R.size(); ++v) {
    EXPECT_EQ(skin.weight[v][0], 65535);
    const SkinJoint& joint = skin.joints[skin.joint[v][0]];
    ++of_body[joint.body];
    EXPECT_GT((joint.X_RJ_rest.Inverse() * skin.p_R[v]).z(), 0.002) << "+z is the back";
  }
  EXPECT_EQ(of_body.size(), 5u);
  for (const auto& [body, count] : of_body) {
    EXPECT_TRUE(hand.body(body).name.ends_with(".dst")) << hand.body(body).name;
  }
  const Skin bare = MakeSkin(hand, {.nails = false}).value();
  EXPECT_EQ(bare.p_R.size(), bare.first_nail_vertex);
  EXPECT_EQ(SkinOf("finger4").p_R.size(), SkinOf("finger4").first_nail_vertex);
}

TEST(SkinTest, BonesAloneGrowNoSkin) {
  model::SkeletonDraft draft = Named("finger4").draft();
  for (model::Body& body : draft.bodies) body.shapes.clear();
  draft.sites.clear();
  EXPECT_EQ(MakeSkin(*Skeleton::Build(draft)).error().code, ErrorCode::kInvalid);
}

// The lengths of the recipe are those of hand27; its other sizes follow.
TEST(SkinTest, ThicknessIsMeasuredAgainstHand27) {
  EXPECT_NEAR(internal::Dissect(Named("hand27")).scale, 1.0, 1e-9);
  EXPECT_NEAR(internal::Dissect(Named("hand27 0.85")).scale, 0.85, 1e-9);
  EXPECT_NEAR(internal::Dissect(Named("hand27 long finger")).scale, 1.0, 1e-9);
}

TEST(SkinTest, ASmoothMinimumIsTheLesserOneBeyondItsLength) {
  const internal::Distance a{0.001, Vec3::UnitX()}, b{0.004, Vec3::UnitY()};
  EXPECT_EQ(internal::SmoothMin(a, b, 0.003).d, 0.001);
  EXPECT_EQ(internal::SmoothMin(a, a, 0.004).d, 0.0) << "a quarter of the length at the seam";
  // The gradient is that of the value: moving along it by h changes the value by h |g|^2.
  const double h = 1e-7;
  const internal::Distance mixed = internal::SmoothMin(a, b, 0.01);
  internal::Distance moved_a = a, moved_b = b;
  moved_a.d += h * a.gradient.dot(mixed.gradient);
  moved_b.d += h * b.gradient.dot(mixed.gradient);
  EXPECT_NEAR((internal::SmoothMin(moved_a, moved_b, 0.01).d - mixed.d) / h,
              mixed.gradient.squaredNorm(), 1e-5);
}

}  // namespace
}  // namespace handhold::skin::skin_test
