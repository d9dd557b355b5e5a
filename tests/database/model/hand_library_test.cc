#include "database/model/hand_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "database/model/dynamics.h"
#include "database/model/kinematics.h"
#include "database/model/schemas.h"
#include "database/model/skeleton_json.h"
#include "database/text/json.h"
#include "tests/support/random_skeleton.h"

namespace handhold::model::hand_library_test {
namespace {

using geometry::Vec3;
using ::testing::HasSubstr;

Vec3 FramePoint(const Skeleton& s, const Eigen::VectorXd& q, const std::string& frame) {
  KinematicsData data(s);
  ComputePoses(s, q, &data);
  EXPECT_GE(s.FindFrame(frame), 0) << frame;
  return FramePose(s, data, s.FindFrame(frame)).p;
}

double AngleBetween(const Vec3& a, const Vec3& b) {
  return std::atan2(a.cross(b).norm(), std::abs(a.dot(b))) * 180 / M_PI;
}

TEST(Library, UnknownHandsAreToldTheNearOnes) {
  const auto hand = LoadHand("finger5");
  ASSERT_FALSE(hand);
  EXPECT_EQ(hand.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(hand.error().message, HasSubstr("'finger4'"));
}

TEST(Library, HandholdSchemasDecidesAndMustExist) {
  ASSERT_EQ(::setenv("HANDHOLD_SCHEMAS", "/nowhere/at/all", 1), 0);
  const auto hand = LoadHand("finger4");
  ::unsetenv("HANDHOLD_SCHEMAS");
  ASSERT_FALSE(hand);
  EXPECT_THAT(hand.error().message, HasSubstr("/nowhere/at/all"));
  EXPECT_TRUE(LoadHand("finger4"));
}

/// Paths of the numbers other than 0 with no `source` beside them or further out; one at the root
/// of the file tells of the whole and covers none, but friction_source covers friction, and so on.
void NumbersWithoutSource(const text::Json& json, const std::string& path, bool sourced,
                          std::vector<std::string>* out) {
  if (json.is_object()) {
    sourced = sourced || (!path.empty() && json.Find("source") != nullptr);
    for (const text::JsonMember& m : json.members()) {
      if (m.key == "version") continue;
      const bool own = json.Find(m.key.substr(0, m.key.find("_m")) + "_source") != nullptr;
      NumbersWithoutSource(m.value, path + "/" + m.key, sourced || own, out);
    }
  } else if (json.is_array()) {
    for (const text::Json& element : json.elements())
      NumbersWithoutSource(element, path + "/-", sourced, out);
  } else if (json.number() && *json.number() != 0 && !sourced) {
    out->push_back(path);
  }
}

TEST(Library, EveryNumberOfHandsAndPropsHasASource) {
  int files = 0;
  for (const char* folder : {"hands", "props"}) {
    for (const auto& entry : std::filesystem::directory_iterator(*SchemasFolder() / folder)) {
      if (entry.path().extension() != ".json") continue;
      ++files;
      std::vector<std::string> bare;
      NumbersWithoutSource(*text::ReadJsonFile(entry.path()), "", false, &bare);
      EXPECT_THAT(bare, ::testing::IsEmpty()) << entry.path();
    }
  }
  EXPECT_GE(files, 12);
  // It bites: a mass beside a source that is not its own.
  std::vector<std::string> bare;
  NumbersWithoutSource(
      *text::ParseJson(R"({"source": "all", "a": {"source": "x"}, "b": {"mass_kg": 1}})"), "",
      false, &bare);
  EXPECT_THAT(bare, ::testing::ElementsAre("/b/mass_kg"));
}

TEST(Finger4, HasTheStudysNumbers) {
  const Skeleton hand = *LoadHand("finger4");
  const double lengths_m[] = {0.080, 0.045, 0.026, 0.020};
  const double masses_kg[] = {0.1225, 0.00875, 0.0042, 0.0021};
  const double radii_m[] = {0.015, 0.008, 0.0075, 0.006};
  EXPECT_EQ(hand.markers().size(), 9u);
  std::vector<Vec3> axes;
  for (int i = 0; i < 4; ++i) {
    const Body& body = hand.body(i + 2);
    EXPECT_EQ(body.length_m, lengths_m[i]);
    EXPECT_EQ(body.mass.mass_kg, masses_kg[i]);
    const double across =
        masses_kg[i] * (lengths_m[i] * lengths_m[i] / 12 + radii_m[i] * radii_m[i] / 4);
    EXPECT_NEAR(body.mass.I_BCom_B(1, 1), across, 1e-5 * across);
    EXPECT_EQ(body.joint.type, JointType::kHinge);
    EXPECT_FALSE(body.source.empty());
    EXPECT_FALSE(body.joint.source.empty());
    axes.push_back(body.joint.axes[0]);
  }
  for (size_t i = 0; i < 4; ++i) {
    for (size_t k = 0; k < i; ++k) {
      EXPECT_GT(AngleBetween(axes[i], axes[k]), 2.0);
      EXPECT_LT(AngleBetween(axes[i], axes[k]), 5.0);
    }
  }
  const auto& tip = std::get<geometry::Sphere>(hand.body(5).shapes[0].shape);
  EXPECT_EQ(tip.radius_m, 0.006);
  EXPECT_EQ(hand.body(5).shapes[0].X_BS.p, Vec3(0.014, 0, 0));
}

class Hand57 : public ::testing::Test {
 protected:
  Skeleton hand_ = *LoadHand("hand57");
};

TEST_F(Hand57, IsNineteenBallJoints) {
  int balls = 0;
  for (int b = 1; b < hand_.body_count(); ++b) {
    balls += hand_.body(b).joint.type == JointType::kBall;
    EXPECT_FALSE(hand_.body(b).source.empty() && hand_.body(b).joint.source.empty());
  }
  EXPECT_EQ(balls, 19);
  EXPECT_EQ(hand_.nv(), 57);
  EXPECT_EQ(hand_.body_count(), 21);
  EXPECT_GE(hand_.FindDof("R.index.mcp.flex"), 0);
  EXPECT_GE(hand_.FindDof("R.thumb.ip.flex"), 0);
}

TEST_F(Hand57, LooksLikeARightHand) {
  const Eigen::VectorXd q = hand_.ZeroConfiguration();
  const Vec3 thumb = FramePoint(hand_, q, "thumb.tip"), index = FramePoint(hand_, q, "index.tip"),
             middle = FramePoint(hand_, q, "middle.tip"), ring = FramePoint(hand_, q, "ring.tip"),
             little = FramePoint(hand_, q, "little.tip");
  // Seen from above, fingers away from us: thumb left (+y), then index ... little; the middle
  // finger is the longest.
  EXPECT_GT(thumb.y(), index.y());
  EXPECT_GT(index.y(), middle.y());
  EXPECT_GT(middle.y(), ring.y());
  EXPECT_GT(ring.y(), little.y());
  for (const Vec3& tip : {thumb, index, ring, little}) EXPECT_LT(tip.x(), middle.x());
  EXPECT_LT(thumb.z(), -0.03);  // opposed: below the palm
  EXPECT_NEAR(FramePoint(hand_, q, "middle.end").x(), 0.189, 0.003);
  const auto all = [&] {
    DynamicsData data(hand_);
    return OutboardMass(hand_, q, 1, &data);
  }();
  EXPECT_NEAR(all.mass_kg, 0.46, 0.01);
}

TEST_F(Hand57, FlexingClosesTheHandOnItsPalm) {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(57);
  for (int k = 0; k < 57; ++k) {
    const std::string& name = hand_.dof_names()[static_cast<size_t>(k)];
    const bool flexes =
        name.find(".flex") != std::string::npos && name.find("cmc") == std::string::npos;
    if (flexes) v[k] = name.find("thumb") != std::string::npos ? 0.5 : 1.0;
  }
  const Eigen::VectorXd open = hand_.ZeroConfiguration(), fist = hand_.Integrate(open, v);
  for (const char* digit : {"index", "middle", "ring", "little", "thumb"}) {
    const std::string tip = std::string(digit) + ".tip";
    const Vec3 palm = FramePoint(hand_, open, "palm");
    EXPECT_LT(
        (FramePoint(hand_, fist, tip) - palm).norm(),
        (std::string(digit) == "thumb" ? 0.9 : 0.7) * (FramePoint(hand_, open, tip) - palm).norm())
        << digit;
    EXPECT_LT(FramePoint(hand_, fist, tip).z(), -0.02) << digit;
  }
  // Opposition: thumb and index come nearer to each other than when open.
  EXPECT_LT((FramePoint(hand_, fist, "thumb.tip") - FramePoint(hand_, fist, "index.tip")).norm(),
            (FramePoint(hand_, open, "thumb.tip") - FramePoint(hand_, open, "index.tip")).norm());
}

TEST_F(Hand57, WearsThirtyMarkersOrTwentyTwo) {
  EXPECT_EQ(hand_.markers().size(), 30u);
  const Skeleton fewer = *WithMarkerSet(hand_, "22");
  EXPECT_EQ(fewer.markers().size(), 22u);
  std::set<int> bodies;
  for (const MarkerAttachment& m : fewer.markers()) bodies.insert(m.body);
  EXPECT_EQ(bodies.size(), 20u);  // every segment is seen
  const auto none = WithMarkerSet(hand_, "23");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("'22'"));
}

class Markers : public ::testing::TestWithParam<const char*> {};

TEST_P(Markers, LieOutsideTheSkin) {
  const Skeleton hand = *LoadHand(GetParam());
  for (const MarkerAttachment& m : hand.markers()) {
    std::vector<geometry::PosedShape> shapes;
    for (const BodyShape& s : hand.body(m.body).shapes) shapes.push_back({s.shape, s.X_BS});
    const double above = geometry::SignedDistanceToUnion(shapes, m.p_BM).point.distance_m;
    EXPECT_GT(above, -0.0005) << m.name;
    EXPECT_LT(above, 0.008) << m.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Hands, Markers, ::testing::Values("hand27", "hand29", "arm35", "hand57"));

/// What each joint of a hand may be, by the table of the study: type, and degrees per dof.
struct JointRow {
  std::string name;
  JointType type;
  std::vector<double> lower_deg, upper_deg;
};

std::vector<JointRow> Hand27Table() {
  std::vector<JointRow> rows = {
      {"R.base", JointType::kFree, {}, {}},
      {"R.thumb.cmc", JointType::kUniversal, {-25, -35}, {35, 35}},
      {"R.thumb.mcp", JointType::kUniversal, {-10, -10}, {60, 10}},
      {"R.thumb.ip", JointType::kHinge, {-15}, {80}},
  };
  for (const std::string finger : {"index", "middle", "ring", "little"}) {
    rows.push_back({"R." + finger + ".cmc", JointType::kFixed, {}, {}});
    rows.push_back({"R." + finger + ".mcp", JointType::kUniversal, {-30, -20}, {90, 20}});
    rows.push_back({"R." + finger + ".pip", JointType::kHinge, {-5}, {105}});
    rows.push_back({"R." + finger + ".dip", JointType::kHinge, {-10}, {90}});
  }
  return rows;
}

void ExpectJoints(const Skeleton& hand, const std::vector<JointRow>& rows) {
  ASSERT_EQ(hand.body_count(), static_cast<int>(rows.size()) + 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(rows[i].name);
    const Joint& joint = hand.body(static_cast<int>(i) + 1).joint;
    EXPECT_EQ(joint.name, rows[i].name);
    EXPECT_EQ(joint.type, rows[i].type);
    for (size_t k = 0; k < rows[i].lower_deg.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      EXPECT_NEAR(joint.lower_rad[at], rows[i].lower_deg[k] * M_PI / 180, 1e-15);
      EXPECT_NEAR(joint.upper_rad[at], rows[i].upper_deg[k] * M_PI / 180, 1e-15);
      EXPECT_EQ(joint.axes[k], k == 0 ? Vec3::UnitY() : Vec3::UnitZ());
    }
  }
}

TEST(Hand27, HasTheTablesJointsAndNoOthers) {
  const Skeleton hand = *LoadHand(kDefaultHand);
  EXPECT_EQ(hand.name(), "hand27");
  EXPECT_EQ(hand.nv(), 27);
  ExpectJoints(hand, Hand27Table());
}

TEST(Hand29, AddsTheArchToHand27) {
  const Skeleton hand = *LoadHand("hand29");
  EXPECT_EQ(hand.nv(), 29);
  std::vector<JointRow> rows = Hand27Table();
  for (JointRow& row : rows) {
    if (row.name == "R.ring.cmc") row = {row.name, JointType::kHinge, {-3}, {12}};
    if (row.name == "R.little.cmc") row = {row.name, JointType::kHinge, {-5}, {25}};
  }
  ExpectJoints(hand, rows);
}

// Bodies, lengths, radii, masses, frames, markers, sites and zero poses are hand57's: only what
// moves differs.
TEST(WholeHands, DifferFromHand57InTheirJointsOnly) {
  const Skeleton reference = *WithFreeBase(*LoadHand("hand57"));
  for (const char* name : {"hand27", "hand29"}) {
    SkeletonDraft draft = LoadHand(name)->draft();
    ASSERT_EQ(draft.bodies.size(), reference.draft().bodies.size());
    for (size_t i = 0; i < draft.bodies.size(); ++i) {
      EXPECT_EQ(draft.bodies[i].joint.X_PJp.R, reference.draft().bodies[i].joint.X_PJp.R);
      EXPECT_EQ(draft.bodies[i].joint.X_PJp.p, reference.draft().bodies[i].joint.X_PJp.p);
      EXPECT_EQ(draft.bodies[i].joint.name, reference.draft().bodies[i].joint.name);
      draft.bodies[i].joint = reference.draft().bodies[i].joint;
    }
    draft.name = reference.name();
    draft.source = reference.draft().source;
    draft.sources = reference.draft().sources;
    EXPECT_EQ(*text::WriteJson(SkeletonToJson(*Skeleton::Build(draft))),
              *text::WriteJson(SkeletonToJson(reference)));
  }
}

// Liu 2008 as the study of manipulation has it: arm 8, wrist 2, thumb 6, fingers 16, arch 3.
TEST(Arm35, IsAnArmAndAHand) {
  const Skeleton arm = *LoadHand("arm35");
  EXPECT_EQ(arm.nv(), 35);
  EXPECT_EQ(arm.nq(), 35);  // no quaternions
  const auto dofs = [&](const std::string& begin) {
    return std::count_if(arm.dof_names().begin(), arm.dof_names().end(),
                         [&](const std::string& name) { return name.starts_with("R." + begin); });
  };
  for (const auto& [part, count] : std::vector<std::pair<std::string, int>>{{"sc.", 3},
                                                                            {"shoulder.", 3},
                                                                            {"elbow.", 1},
                                                                            {"forearm.", 1},
                                                                            {"wrist.", 2},
                                                                            {"thumb.", 6},
                                                                            {"index.", 4},
                                                                            {"middle.", 4},
                                                                            {"ring.", 5},
                                                                            {"little.", 6}}) {
    EXPECT_EQ(dofs(part), count) << part;
  }
  EXPECT_EQ(WithFreeBase(arm)->nv(), 41);
  // At zero the arm points forward, palm down, and the hand is hand57's.
  const Eigen::VectorXd zero = arm.ZeroConfiguration();
  KinematicsData data(arm);
  ComputePoses(arm, zero, &data);
  const geometry::RigidTransform& X_WPalm = data.X_WB[static_cast<size_t>(arm.FindBody("palm"))];
  EXPECT_LT((X_WPalm.R - geometry::Mat3::Identity()).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((X_WPalm.p - Vec3(-0.01 + 0.3255 + 0.2555, -0.175, -0.03)).norm(), 1e-12);
  const Skeleton hand = *LoadHand("hand57");
  for (const char* tip : {"thumb.tip", "index.tip", "little.tip"}) {
    EXPECT_LT(
        (FramePoint(arm, zero, tip) - X_WPalm.p - FramePoint(hand, hand.ZeroConfiguration(), tip))
            .norm(),
        1e-12);
  }
  double mass_kg = 0;
  for (int b = 1; b < arm.body_count(); ++b) mass_kg += arm.body(b).mass.mass_kg;
  EXPECT_NEAR(mass_kg, 1.2 + 2.0 + 1.2 + 0.46, 0.01);
}

// What each angle of the arm does to the hand, by its sign: none is taken for granted.
TEST(Arm35, AnglesMoveTheHandTheWayTheyAreNamed) {
  const Skeleton arm = *LoadHand("arm35");
  const auto moved = [&](const char* dof, const char* frame) -> Vec3 {
    Eigen::VectorXd q = arm.ZeroConfiguration();
    const Vec3 before = FramePoint(arm, q, frame);
    q[arm.FindDof(dof)] = 0.2;  // no quaternions: velocities are coordinates
    return FramePoint(arm, q, frame) - before;
  };
  EXPECT_GT(moved("R.sc.pro", "middle.tip").y(), 0.01);        // the arm turns to the middle
  EXPECT_LT(moved("R.sc.dep", "wrist").z(), -0.01);            // down
  EXPECT_LT(moved("R.shoulder.ext", "middle.tip").z(), -0.1);  // down
  EXPECT_GT(moved("R.shoulder.add", "middle.tip").y(), 0.1);   // to the middle
  EXPECT_GT(moved("R.elbow.flex", "middle.tip").z(), 0.03);    // up and in: turned in by half
  EXPECT_GT(moved("R.elbow.flex", "middle.tip").y(), 0.03);
  EXPECT_GT(moved("R.forearm.sup", "index.tip").z(), 0.0);  // the thumb's side comes up
  EXPECT_GT(moved("R.shoulder.turn.rot", "index.tip").z(), 0.0);
  EXPECT_LT(moved("R.wrist.flex", "middle.tip").z(), -0.02);
  EXPECT_GT(moved("R.wrist.abd", "middle.tip").y(), 0.02);
}

class Sites : public ::testing::TestWithParam<const char*> {};

TEST_P(Sites, LieOnTheSkinOfTheirShapesAndPointOut) {
  const Skeleton hand = *LoadHand(GetParam());
  EXPECT_FALSE(hand.sites().empty());
  for (const ContactSite& site : hand.sites()) {
    SCOPED_TRACE(site.name);
    EXPECT_TRUE(site.name.starts_with("R."));
    std::vector<geometry::PosedShape> shapes;
    for (const BodyShape& s : hand.body(site.body).shapes) {
      if (std::find(site.shapes.begin(), site.shapes.end(), s.name) != site.shapes.end()) {
        shapes.push_back({s.shape, s.X_BS});
      }
    }
    const auto nearest = geometry::SignedDistanceToUnion(shapes, site.p_BS).point;
    EXPECT_NEAR(nearest.distance_m, 0.0, 1e-12);
    EXPECT_NEAR(
        geometry::SignedDistanceToUnion(shapes, site.p_BS + 1e-3 * site.normal_B).point.distance_m,
        1e-3, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Hands, Sites,
                         ::testing::Values("finger4", "hand27", "hand29", "arm35", "hand57"));

// Wherever a whole hand is touched, there is a name for it.
TEST(Sites, OfAWholeHandClaimEveryShape) {
  const Skeleton hand = *LoadHand("hand27");
  for (int b = 1; b < hand.body_count(); ++b) {
    for (const BodyShape& shape : hand.body(b).shapes) {
      EXPECT_TRUE(std::any_of(hand.sites().begin(), hand.sites().end(),
                              [&](const ContactSite& site) {
                                return site.body == b &&
                                       std::find(site.shapes.begin(), site.shapes.end(),
                                                 shape.name) != site.shapes.end();
                              }))
          << hand.body(b).name << " " << shape.name;
    }
  }
  for (const std::string digit : {"thumb", "index", "middle", "ring", "little"}) {
    EXPECT_GE(hand.FindSite("R." + digit + ".pad"), 0);
    EXPECT_GE(hand.FindSite("R." + digit + ".side"), 0);
  }
  EXPECT_GE(hand.FindSite("R.palm"), 0);
  EXPECT_EQ(hand.FindSite("R.index.tip"), -1);
}

TEST(Sites, AreMirroredAndStretchedWithTheirHand) {
  const Skeleton hand = *LoadHand("hand27"), left = Mirrored(hand);
  const auto side = [](const Skeleton& s, const char* name) {
    return s.sites()[static_cast<size_t>(s.FindSite(name))];
  };
  const ContactSite right_side = side(hand, "R.index.side"), left_side = side(left, "L.index.side");
  EXPECT_EQ(left_side.p_BS, right_side.p_BS.cwiseProduct(Vec3(1, -1, 1)));
  EXPECT_EQ(left_side.normal_B, -right_side.normal_B);  // it points along y
  const Skeleton longer = *ScaledToLengths(hand, {{"index.mid", 0.054}});
  EXPECT_NEAR(side(longer, "R.index.side").p_BS.x(), 0.027, 1e-15);
  EXPECT_EQ(side(longer, "R.index.side").p_BS.y(), right_side.p_BS.y());
  EXPECT_THAT(side(longer, "R.index.side").source, HasSubstr("scaled"));
  const Skeleton twice = *ScaledUniformly(hand, 2);
  EXPECT_EQ(side(twice, "R.index.side").p_BS, 2 * right_side.p_BS);
}

class Mirror : public ::testing::TestWithParam<const char*> {};

TEST_P(Mirror, ReflectsEveryPointOfEveryPose) {
  const Skeleton right = *LoadHand(GetParam());
  const Skeleton left = Mirrored(right);
  EXPECT_EQ(left.draft().side, "left");
  std::mt19937 rng(6);
  const Vec3 mirror(1, -1, 1);
  KinematicsData data_r(right), data_l(left);
  DynamicsData dynamics_r(right), dynamics_l(left);
  for (int trial = 0; trial < 20; ++trial) {
    const Eigen::VectorXd q = testing::RandomConfiguration(rng, right);
    const Eigen::VectorXd v = testing::RandomVelocity(rng, right, 1.0);
    const Eigen::VectorXd q_l = MirrorConfiguration(right, q), v_l = MirrorVelocity(right, v);
    EXPECT_EQ(MirrorConfiguration(left, q_l), q);
    EXPECT_LT((left.Integrate(q_l, v_l) - MirrorConfiguration(right, right.Integrate(q, v))).norm(),
              1e-13);
    ComputePoses(right, q, &data_r);
    ComputePoses(left, q_l, &data_l);
    std::vector<Vec3> p_r, p_l;
    MarkerPositions(right, data_r, &p_r);
    MarkerPositions(left, data_l, &p_l);
    for (size_t i = 0; i < p_r.size(); ++i) {
      EXPECT_LT((p_l[i] - mirror.cwiseProduct(p_r[i])).norm(), 1e-14);
    }
    // The mirrored hand under the mirrored gravity feels the mirrored torques.
    const Vec3 g(3, -4, 5);
    Eigen::VectorXd tau_r(right.nv()), tau_l(right.nv());
    BiasForces(right, q, v, g, &dynamics_r, tau_r);
    BiasForces(left, q_l, v_l, mirror.cwiseProduct(g), &dynamics_l, tau_l);
    EXPECT_LT((tau_l - MirrorVelocity(right, tau_r)).norm(), 1e-12 * tau_r.norm());
  }
  for (const std::string& dof : left.dof_names()) EXPECT_EQ(dof.substr(0, 2), "L.");
  // Twice is back, to the bit.
  const Skeleton again = Mirrored(left);
  for (int b = 1; b < right.body_count(); ++b) {
    EXPECT_EQ(again.body(b).joint.X_PJp.R, right.body(b).joint.X_PJp.R);
    EXPECT_EQ(again.body(b).joint.lower_rad, right.body(b).joint.lower_rad);
    EXPECT_EQ(again.body(b).joint.axes[0], right.body(b).joint.axes[0]);
    EXPECT_EQ(again.body(b).mass.I_BCom_B, right.body(b).mass.I_BCom_B);
  }
}

INSTANTIATE_TEST_SUITE_P(Hands, Mirror,
                         ::testing::Values("finger4", "hand27", "hand29", "arm35", "hand57"));

TEST(Scale, MeasuredLengthsAreTheLengthsBetweenJoints) {
  const Skeleton hand = *LoadHand("finger4");
  const auto scaled =
      ScaledToLengths(hand, {{"palm", 0.084}, {"index.prx", 0.050}, {"index.dst", 0.022}});
  ASSERT_TRUE(scaled) << scaled.error().message;
  KinematicsData data(*scaled);
  ComputePoses(*scaled, Eigen::VectorXd::Zero(4), &data);
  EXPECT_NEAR(data.X_WB[3].p.x(), 0.084, 1e-15);
  EXPECT_NEAR(data.X_WB[4].p.x(), 0.084 + 0.050, 1e-15);
  EXPECT_NEAR(data.X_WB[5].p.x(), 0.084 + 0.050 + 0.026, 1e-15);
  EXPECT_NEAR(FramePoint(*scaled, Eigen::VectorXd::Zero(4), "index.end").x(), 0.182, 1e-15);
  EXPECT_NEAR(scaled->body(2).mass.mass_kg, 0.1225 * 84 / 80, 1e-15);
  EXPECT_EQ(scaled->body(2).length_m, 0.084);
  // A stretched thin rod: m L^2 / 12 with both grown.
  const double m = 0.1225 * 84 / 80, across = m * (0.084 * 0.084 / 12 + 0.015 * 0.015 / 4);
  EXPECT_NEAR(scaled->body(2).mass.I_BCom_B(1, 1), across, 1e-5 * across);
  const auto& tip = std::get<geometry::Sphere>(scaled->body(5).shapes[0].shape);
  EXPECT_EQ(tip.radius_m, 0.006);
}

TEST(Scale, UnknownOrImpossibleLengthsAreRefused) {
  const Skeleton hand = *LoadHand("finger4");
  const auto unknown = ScaledToLengths(hand, {{"index.pxr", 0.05}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("'index.prx'"));
  EXPECT_FALSE(ScaledToLengths(hand, {{"palm", 0.0}}));
  EXPECT_FALSE(ScaledToLengths(hand, {{"palm", std::nan("")}}));
  EXPECT_FALSE(ScaledToLengths(hand, {{"forearm", 0.2}}));  // it has no length to scale from
  EXPECT_FALSE(ScaledUniformly(hand, -1));
}

TEST(Scale, UniformlyKeepsTheDensity) {
  const Skeleton hand = *LoadHand("hand57"), twice = *ScaledUniformly(hand, 2.0);
  EXPECT_NEAR(FramePoint(twice, twice.ZeroConfiguration(), "index.tip").norm(),
              2 * FramePoint(hand, hand.ZeroConfiguration(), "index.tip").norm(), 1e-14);
  EXPECT_NEAR(twice.body(3).mass.mass_kg, 8 * hand.body(3).mass.mass_kg, 1e-15);
  EXPECT_LT((twice.body(3).mass.I_BCom_B - 32 * hand.body(3).mass.I_BCom_B).norm(),
            1e-12 * twice.body(3).mass.I_BCom_B.norm());
}

TEST(FreeBase, LetsTheHandGo) {
  const Skeleton hand = *LoadHand("hand57"), loose = *WithFreeBase(hand);
  EXPECT_EQ(loose.nv(), 63);
  EXPECT_EQ(loose.nq(), 76 + 7);
  const Vec3 fixed_tip = FramePoint(hand, hand.ZeroConfiguration(), "index.tip");
  Eigen::VectorXd q = loose.ZeroConfiguration();
  EXPECT_LT((FramePoint(loose, q, "index.tip") - fixed_tip).norm(), 1e-15);
  q.head<3>() = Vec3(1, 2, 3);
  EXPECT_LT((FramePoint(loose, q, "index.tip") - fixed_tip - Vec3(1, 2, 3)).norm(), 1e-14);
  EXPECT_FALSE(WithFreeBase(loose));
  // And holds it again, wherever it is wanted.
  EXPECT_FALSE(WithFixedBase(hand, {}));
  const geometry::RigidTransform X_WB(geometry::Exp(Vec3(0.3, -0.2, 1)), Vec3(1, 2, 3));
  const Skeleton held = *WithFixedBase(loose, X_WB);
  EXPECT_EQ(held.nv(), 57);
  EXPECT_LT((FramePoint(held, held.ZeroConfiguration(), "index.tip") - X_WB * fixed_tip).norm(),
            1e-15);
}

}  // namespace
}  // namespace handhold::model::hand_library_test
