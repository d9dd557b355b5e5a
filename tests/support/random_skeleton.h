/// Random trees of every kind of joint, and random states of them: for tests that compare two ways
/// to compute the same thing.
#pragma once

#include <random>
#include <string>

#include <Eigen/Core>

#include "database/geometry/inertia.h"
#include "database/model/skeleton.h"

namespace handhold::testing {

inline double Uniform(std::mt19937& rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(rng);
}
inline geometry::Vec3 RandomVector(std::mt19937& rng, double size) {
  return {Uniform(rng, -size, size), Uniform(rng, -size, size), Uniform(rng, -size, size)};
}
inline geometry::Vec3 RandomDirection(std::mt19937& rng) {
  std::normal_distribution<double> normal;
  return geometry::Vec3(normal(rng), normal(rng), normal(rng)).normalized();
}
inline geometry::RigidTransform RandomPose(std::mt19937& rng, double size) {
  return {geometry::Exp<double>(RandomVector(rng, 1.8)), RandomVector(rng, size)};
}

/// A solid box of random size, mass and place: always physical.
inline geometry::MassProperties RandomMass(std::mt19937& rng) {
  geometry::MassProperties m;
  m.mass_kg = Uniform(rng, 0.05, 2.0);
  const geometry::Vec3 a(Uniform(rng, 0.02, 0.2), Uniform(rng, 0.02, 0.2), Uniform(rng, 0.02, 0.2));
  const geometry::Vec3 a2 = a.cwiseProduct(a);
  geometry::MassProperties box = m;
  box.I_BCom_B =
      (m.mass_kg / 12 * geometry::Vec3(a2.y() + a2.z(), a2.x() + a2.z(), a2.x() + a2.y()))
          .asDiagonal();
  const geometry::RigidTransform X = RandomPose(rng, 0.1);
  box.I_BCom_B = (X.R * box.I_BCom_B * X.R.transpose()).eval();
  box.I_BCom_B = (0.5 * (box.I_BCom_B + box.I_BCom_B.transpose())).eval();
  box.p_BCom = X.p;
  return box;
}

/// A tree of `bodies` bodies with joints of all five kinds, offset joint frames and tilted axes.
inline model::Skeleton RandomSkeleton(std::mt19937& rng, int bodies) {
  using model::JointType;
  model::SkeletonDraft draft;
  draft.name = "random";
  for (int i = 0; i < bodies; ++i) {
    model::Body body;
    body.name = "b" + std::to_string(i + 1);
    body.parent = std::uniform_int_distribution<int>(std::max(0, i - 3), i)(rng);
    constexpr JointType kTypes[] = {JointType::kFree, JointType::kBall, JointType::kHinge,
                                    JointType::kUniversal, JointType::kFixed};
    body.joint.type = kTypes[static_cast<size_t>((i + (bodies % 5)) % 5)];
    body.joint.name = "j" + std::to_string(i + 1);
    body.joint.X_PJp = RandomPose(rng, 0.2);
    if (i % 2 == 1) body.joint.X_BJc = RandomPose(rng, 0.1);
    body.joint.axes[0] = RandomDirection(rng);
    do {
      body.joint.axes[1] = RandomDirection(rng);
    } while (body.joint.axes[0].cross(body.joint.axes[1]).norm() < 0.3);
    body.mass = RandomMass(rng);
    draft.bodies.push_back(body);
  }
  return *model::Skeleton::Build(std::move(draft));
}

inline Eigen::VectorXd RandomVelocity(std::mt19937& rng, const model::Skeleton& s, double size) {
  Eigen::VectorXd v(s.nv());
  for (double& x : v) x = Uniform(rng, -size, size);
  return v;
}
inline Eigen::VectorXd RandomConfiguration(std::mt19937& rng, const model::Skeleton& s) {
  return s.Integrate(s.ZeroConfiguration(), RandomVelocity(rng, s, 1.7));
}

}  // namespace handhold::testing
