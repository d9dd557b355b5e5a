#include "tools/report/scene_picture.h"

#include <cmath>

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"

namespace handhold::report::scene_picture_test {
namespace {

using geometry::Vec3;

struct Pixel {
  int r, g, b, a;
};
Pixel At(const Image& image, const Vec3& p) {
  const auto i = 4 * static_cast<size_t>(std::lround(p.y()) * image.width + std::lround(p.x()));
  return {image.rgba[i], image.rgba[i + 1], image.rgba[i + 2], image.rgba[i + 3]};
}

TEST(CameraTest, ARayThroughAPointsPixelMeetsThePoint) {
  Camera camera = SideView(Vec3(0.12, 0.01, -0.07), 0.25);
  const Vec3 p(0.15, -0.02, -0.05);
  const Vec3 pixel = camera.Project(p);
  const Vec3 ray = camera.Ray(pixel.x(), pixel.y());
  EXPECT_LT((p - camera.eye_W).cross(ray).norm(), 1e-12);
  EXPECT_GT(camera.Project(p + Vec3(0.01, 0, 0)).x(), pixel.x()) << "X goes right";
  EXPECT_LT(camera.Project(p + Vec3(0, 0, 0.01)).y(), pixel.y()) << "Z goes up";
}

class ScenePictureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto hand = model::LoadHand("finger4");
    ASSERT_TRUE(hand) << hand.error().message;
    hand_ = std::make_unique<model::Skeleton>(*std::move(hand));
    plate_ = model::LoadLibraryProp("flat_plate").value();
    q_ = Eigen::VectorXd::Constant(4, 0.35);
    camera_ = SideView(Vec3(0.09, 0, -0.05), 0.25);
    camera_.width = 80, camera_.height = 50;
    model::KinematicsData data(*hand_);
    model::ComputePoses<double>(*hand_, q_, &data);
    tip_ = model::FramePose<double>(*hand_, data, hand_->FindFrame("index.tip")).p;
    palm_ = data.X_WB[2] * Vec3(0.04, 0, 0);
  }
  PictureScene Scene() const {
    PictureScene scene;
    scene.skeleton = hand_.get();
    scene.hands = {{q_, 1.0}};
    scene.props = {{&plate_, geometry::RigidTransform::Translation(Vec3(0.1, 0, -0.11))}};
    scene.markers = false;
    return scene;
  }
  std::unique_ptr<model::Skeleton> hand_;
  model::Prop plate_;
  Eigen::VectorXd q_;
  Camera camera_;
  Vec3 tip_, palm_;
};

TEST_F(ScenePictureTest, HandPlateAndNothingAreWhereTheyAre) {
  const Image image = DrawScene(Scene(), camera_);
  for (const Vec3& p : {tip_, palm_}) {
    const Pixel skin = At(image, camera_.Project(p));
    EXPECT_EQ(skin.a, 255);
    EXPECT_GT(skin.r, skin.b + 30) << "skin is warm";
  }
  const Pixel plate = At(image, camera_.Project(Vec3(0.10, -0.02, -0.11)));
  EXPECT_GT(plate.a, 200);
  EXPECT_GE(plate.b, plate.r) << "the plate is cool";
  EXPECT_EQ(At(image, Vec3(78, 1, 0)).a, 0) << "the sky is transparent";
}

TEST_F(ScenePictureTest, AFainterHandLetsThePlateThrough) {
  PictureScene scene = Scene();
  scene.props.clear();
  scene.hands[0].opacity = 0.3;
  EXPECT_NEAR(At(DrawScene(scene, camera_), camera_.Project(palm_)).a, 0.3 * 255, 2);
}

TEST_F(ScenePictureTest, TheHandCastsAShadowOnThePlate) {
  PictureScene bare = Scene();
  bare.skeleton = nullptr;
  const Image with = DrawScene(Scene(), camera_), without = DrawScene(bare, camera_);
  int darker = 0;
  for (size_t i = 0; i < with.rgba.size(); i += 4) {
    const bool plate_in_both =
        with.rgba[i + 2] >= with.rgba[i] && without.rgba[i + 3] > 200 && with.rgba[i + 3] > 200;
    darker += plate_in_both && with.rgba[i] + 25 < without.rgba[i];
  }
  EXPECT_GT(darker, 20);
}

TEST_F(ScenePictureTest, TheSameSceneIsTheSamePicture) {
  EXPECT_EQ(DrawScene(Scene(), camera_).rgba, DrawScene(Scene(), camera_).rgba);
}

// 4 mm of bump, seen flat: the surface's cut rises by them, and on a flat plate it does not.
TEST_F(ScenePictureTest, TheProfileShowsTheBump) {
  const auto rise = [&](const char* name) {
    const auto prop = model::LoadLibraryProp(name);
    EXPECT_TRUE(prop);
    PictureScene scene;
    scene.props.push_back({&*prop, geometry::RigidTransform::Identity()});
    const Camera camera = SideView(Vec3::Zero(), 0.2);
    double most = 0;
    const std::vector<Mark> marks = ProfileMarks(scene, camera, Vec3::Zero(), 0.06);
    EXPECT_EQ(marks.size(), 80u);
    if (marks.empty()) return most;
    const Mark &first = marks.front(), &last = marks.back();
    for (const Mark& m : marks) {
      EXPECT_EQ(m.kind, Mark::Kind::kOutline);
      const double straight =
          first.y0 + (last.y1 - first.y0) * (m.x0 - first.x0) / (last.x1 - first.x0);
      most = std::max(most, straight - m.y0);
    }
    return most;
  };
  EXPECT_LT(rise("flat_plate"), 1.0);
  EXPECT_GT(rise("bumped_plate"), 8.0) << "pixels";
}

TEST_F(ScenePictureTest, AForceArrowPointsAlongTheForce) {
  const std::vector<Mark> marks = ForceMarks(camera_, tip_, Vec3(0, 0, 2), 0.02);
  ASSERT_FALSE(marks.empty());
  EXPECT_LT(marks[0].y1, marks[0].y0) << "up in the world is up in the picture";
  EXPECT_NEAR(marks[0].x0, camera_.Project(tip_).x(), 1e-9);
}

}  // namespace
}  // namespace handhold::report::scene_picture_test
