/// Small skeletons with every kind of joint, for tests.
#pragma once

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "database/model/skeleton.h"

namespace handhold::test_support {

/// free root, ball, universal, hinge: two branches, three markers on each body.
inline model::Skeleton EveryJoint() {
  using model::JointType;
  model::SkeletonDraft draft;
  draft.name = "every_joint";
  draft.side = "right";
  const struct {
    const char* name;
    int parent;
    JointType type;
    std::vector<std::string> dofs;
  } rows[] = {
      {"root", 0, JointType::kFree, {"rx", "ry", "rz", "tx", "ty", "tz"}},
      {"palm", 1, JointType::kBall, {"rot", "abd", "flex"}},
      {"a", 2, JointType::kUniversal, {"flex", "abd"}},
      {"b", 3, JointType::kHinge, {"flex"}},
      {"c", 2, JointType::kHinge, {"flex"}},
  };
  std::mt19937 random(4);
  std::uniform_real_distribution<double> u(-1, 1);
  int k = 0;
  for (const auto& row : rows) {
    model::Body body;
    body.name = row.name;
    body.parent = row.parent;
    body.joint.type = row.type;
    body.joint.name = std::string("j.") + row.name;
    body.joint.dof_names = row.dofs;
    body.joint.X_PJp.p << 0.04 * (k > 0), 0.01 * k, 0.0;
    body.joint.X_PJp.R =
        geometry::Exp<double>(0.3 * geometry::Vec3(u(random), u(random), u(random)));
    body.joint.axes[0] = geometry::Vec3(0.1, 1, 0.05).normalized();
    body.joint.axes[1] = geometry::Vec3(0, 0.1, 1).normalized();
    body.joint.lower_rad = Eigen::Vector3d(-0.5, -0.4, -0.6);
    body.joint.upper_rad = Eigen::Vector3d(1.0, 0.5, 0.9);
    if (row.type == JointType::kFree) {
      body.joint.lower_rad.setConstant(-std::numeric_limits<double>::infinity());
      body.joint.upper_rad.setConstant(std::numeric_limits<double>::infinity());
    }
    draft.bodies.push_back(body);
    for (int m = 0; m < 3; ++m) {
      draft.markers.push_back(
          {std::string(row.name) + "." + std::to_string(m),
           k + 1,
           geometry::Vec3(0.02 + 0.01 * u(random), 0.015 * u(random), 0.015 * u(random)),
           {}});
    }
    ++k;
  }
  auto skeleton = model::Skeleton::Build(draft);
  EXPECT_TRUE(skeleton) << skeleton.error().message;
  return *std::move(skeleton);
}

inline Eigen::VectorXd RandomPose(const model::Skeleton& skeleton, double spread_rad,
                                  unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-spread_rad, spread_rad);
  Eigen::VectorXd v(skeleton.nv());
  for (double& x : v) x = u(random);
  return skeleton.Integrate(skeleton.ZeroConfiguration(), v);
}

}  // namespace handhold::test_support
