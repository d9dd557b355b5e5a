#include "synthesis/contact/contact_memory.h"

#include <cmath>

#include <gtest/gtest.h>

namespace handhold::synthesis::contact_memory_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

TEST(ContactMemory, WhatWasStoredTurnsWithTheObject) {
  RigidTransform body;
  ContactPoses poses;
  poses.bodies.push_back(&body);
  std::vector<RigidTransform> links(2);
  poses.trees.push_back(links);
  Contact c;
  c.a = ContactSide::Link(0, 1);
  c.b = ContactSide::Body(0);
  c.feature = 7;
  ContactMemory memory;
  EXPECT_FALSE(memory.Recall(c, poses));
  const Remembered now{Vec3(1e-4, 0, 0), Vec3(-0.5, 0, 2), Vec3(0, 1e-5, 0)};
  memory.Store({&c, 1}, {&now, 1}, poses);
  // Half a right angle about the normal, then about x: the stretch follows, and stays in the plane.
  body.R = geometry::AxisAngle<double>(Vec3::UnitZ(), M_PI / 4);
  auto last = memory.Recall(c, poses);
  ASSERT_TRUE(last);
  EXPECT_NEAR((last->stretch_W - 1e-4 * Vec3(1, 1, 0).normalized()).norm(), 0, 1e-16);
  EXPECT_NEAR((last->f_onA_W - (body.R * Vec3(-0.5, 0, 2))).norm(), 0, 1e-15);
  links[1].R = geometry::AxisAngle<double>(Vec3::UnitZ(), 1.0);  // the hand's own turn does not
                                                                 // count
  EXPECT_NEAR((memory.Recall(c, poses)->stretch_W - last->stretch_W).norm(), 0, 0);
  c.normal_W = Vec3(1, 0, 1).normalized();
  last = memory.Recall(c, poses);
  EXPECT_NEAR(last->stretch_W.dot(c.normal_W), 0, 1e-18);
  EXPECT_NEAR(last->stretch_W.norm(), 1e-4, 1e-16);
  c.feature = 8;
  EXPECT_FALSE(memory.Recall(c, poses));
}

TEST(ContactMemory, OnATableItStaysAsTheTableIs) {
  RigidTransform body;
  ContactPoses poses;
  poses.bodies.push_back(&body);
  Contact c;
  c.a = ContactSide::Body(0);
  c.b = ContactSide::Fixed();
  ContactMemory memory;
  const Remembered now{Vec3(1e-4, 0, 0), Vec3(-0.5, 0, 2), Vec3::Zero()};
  memory.Store({&c, 1}, {&now, 1}, poses);
  body.R = geometry::AxisAngle<double>(Vec3::UnitZ(), 1.0);
  EXPECT_EQ((memory.Recall(c, poses)->stretch_W - now.stretch_W).norm(), 0.0);
}

}  // namespace
}  // namespace handhold::synthesis::contact_memory_test
