// The scenes of Pollard & Zordan 2005, section 7, with their figures printed; results/README.md
// keeps them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/ball_limits.h"
#include "tests/support/grasping_hand.h"
#include "tests/support/handshake.h"

namespace handhold::synthesis::scenarios_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using testing::GraspingHand;

constexpr double kStep_s = 2e-3, kDegree = M_PI / 180;
constexpr Blend kAllNeutral = {1, 0, 0, 0, 0, 0}, kAllOpen = {0, 1, 0, 0, 0, 0};

bool Long() { return std::getenv("HANDHOLD_LONG") != nullptr; }
/// For scenes that take long: hand27 alone, whose model is the faster one.
std::vector<const char*> Names() {
  if (Long()) return {"hand57_cylinder", "hand27_cylinder"};
  return {"hand27_cylinder"};
}

/// Way of each joint (by body) outside its limits, degrees: the larger of it and what is there.
void Outside(const model::Skeleton& hand, const Eigen::VectorXd& q, Eigen::VectorXd* most_deg) {
  for (int b = 1; b < hand.body_count(); ++b) {
    const model::Joint& j = hand.body(b).joint;
    const int k = hand.q_index(b);
    double most = 0.0;
    if (j.type == model::JointType::kBall) {
      most = testing::OutsideBallLimits(
          geometry::FromQuaternion(q[k], q[k + 1], q[k + 2], q[k + 3]), j.lower_rad, j.upper_rad);
    } else if (j.type == model::JointType::kHinge || j.type == model::JointType::kUniversal) {
      for (int a = 0; a < j.nq(); ++a)
        most = std::max({most, q[k + a] - j.upper_rad[a], j.lower_rad[a] - q[k + a]});
    }
    (*most_deg)[b] = std::max((*most_deg)[b], most / kDegree);
  }
}

double Largest_deg(const model::Skeleton& hand, const Eigen::VectorXd& a,
                   const Eigen::VectorXd& b) {
  return hand.Difference(a, b).tail(hand.nv() - 6).cwiseAbs().maxCoeff() / kDegree;
}

// 1. The palm, turned up, falls 20 cm and stops within 50 ms; passive control alone (Figure 2).
TEST(Scenario1, LimitsCatchTheFingersOfADroppedHand) {
  for (const char* name : {"hand57_cylinder", "hand27_cylinder"}) {
    double outside[2];
    for (const bool limits : {false, true}) {
      ControllerOptions options;
      options.active = false, options.limit_springs = limits;
      options.compensate_arm = options.compensate_gravity = false;
      GraspingHand g(name, options);
      HandWorld& w = *g.world;
      ASSERT_TRUE(w.SetProp(0, RigidTransform::Translation(Vec3(0, 0, -5))));
      const RigidTransform start{geometry::AxisAngle<double>(Vec3::UnitX(), M_PI), Vec3::Zero()};
      Eigen::VectorXd q = w.Placed(0, g.set.q_neutral, {});
      q.segment<4>(3) = geometry::ToQuaternion(start.R);
      ASSERT_TRUE(w.SetHand(0, q));
      w.SetGravity({.g_W = Vec3(0, 0, -9.81), .on_hands = true});
      const double fall_s = std::sqrt(2 * 0.2 / 9.81), speed = 9.81 * fall_s, stop_s = 0.05;
      Eigen::VectorXd most = Eigen::VectorXd::Zero(w.hand(0).body_count());
      for (double t = kStep_s; t < 1.0; t += kStep_s) {
        const double s = std::clamp(t - fall_s, 0.0, stop_s);
        const double z =
            t < fall_s ? -0.5 * 9.81 * t * t : -0.2 - speed * s + 0.5 * speed / stop_s * s * s;
        ASSERT_TRUE(w.MovePalm(0, {start.R, Vec3(0, 0, z)}, kStep_s));
        ASSERT_TRUE(g.controller->Apply(kAllNeutral));
        ASSERT_TRUE(w.Step(kStep_s));
        Outside(w.hand(0), w.q(0), &most);
      }
      int joints = 0;
      for (int b = 1; b < w.hand(0).body_count(); ++b) {
        const model::JointType type = w.hand(0).body(b).joint.type;
        joints += type != model::JointType::kFixed && type != model::JointType::kFree;
      }
      outside[limits ? 1 : 0] = most.sum() / joints;
    }
    std::printf(
        "1. %s: dropped, joints go %.1f degrees beyond their limits (mean of each joint's most) "
        "without "
        "k_JL, %.1f with\n",
        name, outside[0], outside[1]);
    EXPECT_GT(outside[0], 2.0) << name;
    EXPECT_LT(outside[1], 0.6 * outside[0]) << name;
  }
}

// 2. The arm shakes by 4 cm at 2 Hz across the fingers; Table 1's gains.
TEST(Scenario2, FingersLagUnlessTheArmIsCompensated) {
  for (const char* name : {"hand57_cylinder", "hand27_cylinder"}) {
    double lag[2];
    for (const bool compensate : {false, true}) {
      ControllerOptions options;
      options.compensate_arm = compensate;
      GraspingHand g(name, options);
      HandWorld& w = *g.world;
      ASSERT_TRUE(w.SetProp(0, RigidTransform::Translation(Vec3(0, 0, 5))));
      ASSERT_TRUE(w.SetHand(0, w.Placed(0, g.set.q_neutral, {})));
      w.SetGravity({.g_W = Vec3(0, 0, -9.81), .on_hands = true});
      const RigidTransform start = w.X_WPalm(0);
      ASSERT_TRUE(g.Run(kAllNeutral, 1.0));
      const Eigen::VectorXd rest = w.q(0);
      lag[compensate ? 1 : 0] = 0;
      for (double t = kStep_s; t < 1.5; t += kStep_s) {
        // Begun softly: a sine's velocity does not begin at 0.
        const double grow = std::min(1.0, t / 0.25);
        const double z = 0.04 * grow * grow * std::sin(2 * M_PI * 2 * t);
        ASSERT_TRUE(w.MovePalm(0, {start.R, start.p + Vec3(0, 0, z)}, kStep_s));
        ASSERT_TRUE(g.controller->Apply(kAllNeutral));
        ASSERT_TRUE(w.Step(kStep_s));
        if (t > 0.5)
          lag[compensate ? 1 : 0] =
              std::max(lag[compensate ? 1 : 0], Largest_deg(w.hand(0), rest, w.q(0)));
      }
    }
    std::printf("2. %s: shaken, fingers lag %.2f degrees without tau_ARM, %.4f with\n", name,
                lag[0], lag[1]);
    EXPECT_GT(lag[0], 5 * lag[1]) << name;
    EXPECT_LT(lag[1], 1.0) << name;
  }
}

// 3. Force against alpha, and the mass that is held with the palm down.
TEST(Scenario3, ForceRisesWithAlphaAndMassWithGains) {
  for (const char* name : Names()) {
    struct Row {
      const char* what;
      ControllerOptions options;
    };
    ControllerOptions ten = ControllerOptions::Strong();
    ten.inertia_floor_kgm2 = 0;
    ControllerOptions one;
    one.rest_within_limits = true;
    ControllerOptions one_floor = one;
    one_floor.inertia_floor_kgm2 = 1e-5;
    for (const Row& row : {Row{"x1", one}, Row{"x1 + floor", one_floor}, Row{"x10", ten},
                           Row{"x10 + floor", ControllerOptions::Strong()}}) {
      const bool main_row = row.options.gain_factor == 1.0 ? row.options.inertia_floor_kgm2 == 0
                                                           : row.options.inertia_floor_kgm2 > 0;
      if (!Long() && !main_row) continue;
      std::printf("3. %s, %s:", name, row.what);
      double last = -1.0;
      for (const double alpha : {0.0, 0.25, 0.5, 1.0}) {
        GraspingHand g(name, row.options);
        const double close_s = 0.1 + 4.5 * 50 / (200 * std::sqrt(row.options.gain_factor));
        ASSERT_TRUE(g.Hold(alpha, close_s, 0.3));
        const double force = g.world->GripOn(0, 0).normal_N;
        // How heavy: pulled out of the palm, one second each.
        const HandWorld::Saved closed = g.world->Save();
        const Vec3 out_W = -g.world->X_WPalm(0).R.col(2);
        double held_g = 0;
        for (const double grams : {3.0, 10.0, 30.0, 100.0, 200.0, 400.0}) {
          ASSERT_TRUE(g.world->Restore(closed));
          g.world->SetGravity({.g_W = out_W * 9.81 * grams / 100.0});
          ASSERT_TRUE(g.Run(GraspingHand::Gripping(alpha), 1.0));
          if (g.world->GripOn(0, 0).contacts < 2 || g.world->X_WP(0).p.norm() > 0.05) break;
          held_g = grams;
        }
        std::printf("  alpha %.2f %.2f N %.0f g", alpha, force, held_g);
        if (alpha == 1.0 && row.options.inertia_floor_kgm2 > 0 && row.options.gain_factor == 10.0) {
          EXPECT_GE(held_g, 100) << name << row.what;
        }
        if (alpha > 0) {
          EXPECT_GT(force, 0.97 * last) << name << row.what;
        }
        last = force;
      }
      std::printf("\n");
    }
  }
}

// 5. Two hands of different size, each with its own controller; the larger one's arm shakes by 4 cm
// at 2 Hz for 2 s, the smaller one's wrist is soft (20 N/m) and follows only by the grip.
TEST(Scenario5, AHandshakeHoldsWhileItIsShaken) {
  for (const bool compensate : {false, true}) {
    double waver_deg = 0.0;
    ControllerOptions options;
    options.compensate_arm = compensate;
    testing::Handshake hands(options);
    HandWorld& w = *hands.world;
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(hands.Step(kStep_s));
    const auto [contacts, force_N] = hands.Touch();
    EXPECT_GE(contacts, 8);
    EXPECT_GT(force_N, 0.5);
    SoftRootDrive soft;
    soft.stiffness_N_per_m = 20, soft.damping_Ns_per_m = 3;
    soft.stiffness_Nm_per_rad = 0.5 * geometry::Mat3::Identity();
    soft.damping_Nms_per_rad = 0.02 * geometry::Mat3::Identity();
    ASSERT_TRUE(w.SoftenPalm(1, soft));
    const RigidTransform apart = w.X_WPalm(0).Inverse() * w.X_WPalm(1);
    const Eigen::VectorXd grip = w.q(0);
    double slip = 0, follows = 0;
    int least = contacts;
    for (double t = kStep_s; t < 2.0; t += kStep_s) {
      const double z = 0.04 * std::min(1.0, t / 0.2) * std::sin(2 * M_PI * 2 * t);
      ASSERT_TRUE(w.MovePalm(0, {hands.X_WFirst.R, hands.X_WFirst.p + Vec3(0, 0, z)}, kStep_s));
      ASSERT_TRUE(w.MovePalm(1, hands.X_WSecond, kStep_s));
      ASSERT_TRUE(hands.Step(kStep_s));
      slip = std::max(slip, ((w.X_WPalm(0).Inverse() * w.X_WPalm(1)).p - apart.p).norm());
      follows = std::max(follows, std::abs(w.X_WPalm(1).p.z() - hands.X_WSecond.p.z()));
      least = std::min(least, hands.Touch().first);
      waver_deg = std::max(waver_deg, Largest_deg(w.hand(0), grip, w.q(0)));
    }
    std::printf(
        "5. handshake, %s tau_ARM: %d contacts, %.2f N; palms slip %.1f mm, the soft wrist "
        "follows %.1f of 40 mm, never fewer than %d contacts, fingers waver %.1f degrees\n",
        compensate ? "with" : "without", contacts, force_N, slip * 1e3, follows * 1e3, least,
        waver_deg);
    EXPECT_LT(slip, 0.025);
    EXPECT_GE(least, 1);
    EXPECT_GT(follows, 0.02);
  }
  // What the other hand pulls is no arm motion of one's own: tau_ARM does not still it.
}

// 6. A push on the held object for 10 ms, along the way out of the palm: how large before it is
// lost.
TEST(Scenario6, AFirmerGripStandsALargerPush) {
  for (const char* name : Names()) {
    double last = 0;
    std::printf("6. %s:", name);
    for (const double alpha : {0.25, 0.5, 1.0}) {
      GraspingHand g(name, ControllerOptions::Strong());
      ASSERT_TRUE(g.Hold(alpha));
      const HandWorld::Saved closed = g.world->Save();
      const Vec3 out_W = -g.world->X_WPalm(0).R.col(2), before = g.world->X_WP(0).p;
      double stood_Ns = 0;
      for (double impulse_Ns = 0.02; impulse_Ns < 1.5; impulse_Ns *= Long() ? 1.1 : 1.25) {
        ASSERT_TRUE(g.world->Restore(closed));
        for (int i = 0; i < 5; ++i) {
          const int body = g.world->prop_body(0);
          ASSERT_TRUE(g.world->world().AddForce(body, impulse_Ns / 0.01 * out_W,
                                                g.world->world().com_W(body)));
          ASSERT_TRUE(g.Run(GraspingHand::Gripping(alpha), kStep_s));
        }
        ASSERT_TRUE(g.Run(GraspingHand::Gripping(alpha), 0.6));
        if (g.world->GripOn(0, 0).contacts < 2 || (g.world->X_WP(0).p - before).norm() > 0.05)
          break;
        stood_Ns = impulse_Ns;
      }
      std::printf("  alpha %.2f: %.3f Ns", alpha, stood_Ns);
      EXPECT_GE(stood_Ns, last) << name;
      last = stood_Ns;
    }
    std::printf("\n");
    EXPECT_GT(last, 0.02);
  }
}

// 6. A push on a fingertip before, during and after the grasp: it gives, and comes back.
TEST(Scenario6, APushedFingerGivesAndComesBack) {
  for (const char* name : {"hand57_cylinder", "hand27_cylinder"}) {
    GraspingHand g(name, ControllerOptions::Strong());
    HandWorld& w = *g.world;
    const int tip = w.hand_in_world(0).engine_body(w.hand(0).FindBody("ring.dst"));
    const auto push = [&](const Blend& blend, double* gave_deg, double* back_deg) -> Status {
      const Eigen::VectorXd before = w.q(0);
      *gave_deg = 0;
      for (int i = 0; i < 300; ++i) {
        if (i < 5)
          HANDHOLD_TRY(w.world().AddForce(tip, 1.0 * w.X_WPalm(0).R.col(2), w.world().com_W(tip)));
        HANDHOLD_TRY(g.Run(blend, kStep_s));
        *gave_deg = std::max(*gave_deg, Largest_deg(w.hand(0), before, w.q(0)));
      }
      *back_deg = Largest_deg(w.hand(0), before, w.q(0));
      return {};
    };
    double gave[3], back[3];
    ASSERT_TRUE(g.Run(kAllOpen, 0.3));
    ASSERT_TRUE(push(kAllOpen, &gave[0], &back[0]));
    ASSERT_TRUE(g.Hold(1.0));
    ASSERT_TRUE(push(GraspingHand::Gripping(1.0), &gave[1], &back[1]));
    EXPECT_GE(w.GripOn(0, 0).contacts, 3);
    ASSERT_TRUE(g.Run(kAllOpen, 1.0));
    ASSERT_TRUE(push(kAllOpen, &gave[2], &back[2]));
    std::printf(
        "6. %s: a finger pushed by 0.01 Ns gives %.1f / %.1f / %.1f degrees before, during, "
        "after, and is back within %.2f / %.2f / %.2f after 0.6 s\n",
        name, gave[0], gave[1], gave[2], back[0], back[1], back[2]);
    for (const int i : {0, 2}) {
      EXPECT_GT(gave[i], 1.0);
      EXPECT_LT(back[i], 0.3 * gave[i]);
    }
  }
}

// 7. Palm up, Table 1's gains, 50 g: somebody opens and closes three times, the cylinder rolls on.
TEST(Scenario7, OpeningAndClosingTurnsTheCylinderInThePalm) {
  struct Case {
    const char* name;
    double open_s;
  };
  for (const Case& c : {Case{"hand57_cylinder", 0.45}, Case{"hand27_cylinder", 0.15}}) {
    double net[2], moved = 0;
    for (const bool opens : {false, true}) {
      ControllerOptions options;
      options.rest_within_limits = true;
      GraspingHand g(c.name, options, {}, 0.05);
      HandWorld& w = *g.world;
      ASSERT_TRUE(g.Hold(1.0, 1.2, 0.2));
      w.SetGravity({.g_W = 9.81 * w.X_WPalm(0).R.col(2), .on_hands = true});
      ASSERT_TRUE(g.Run(GraspingHand::Gripping(1.0), 0.6));
      RigidTransform last = w.X_WP(0);
      const Vec3 before = last.p;
      double& turned = net[opens ? 1 : 0];
      turned = 0;
      for (int cycle = 0; cycle < 3; ++cycle) {
        for (double t = 0; t < 0.9; t += kStep_s) {
          const bool open = opens && t < c.open_s;
          ASSERT_TRUE(g.Run(open ? kAllOpen : GraspingHand::Gripping(1.0), kStep_s));
          const RigidTransform now = w.X_WP(0);
          turned += geometry::Log(last.R.transpose() * now.R).z() / kDegree;
          last = now;
        }
      }
      moved = (last.p - before).norm();
      EXPECT_GE(w.GripOn(0, 0).contacts, 3) << c.name;
    }
    std::printf("7. %s: %.1f degrees in three cycles (%.1f while it is only held), moved %.0f mm\n",
                c.name, net[1], net[0], moved * 1e3);
    EXPECT_GT(std::abs(net[1]), 20.0) << c.name;
    EXPECT_LT(std::abs(net[0]), 5.0) << c.name;
    EXPECT_LT(moved, 0.05) << c.name;
  }
}

// A held cylinder of 0.1 kg creeps less than 0.1 mm/s after the first second; palm down.
TEST(Creep, OfAHeldCylinderIsSmallAfterTheFirstSecond) {
  for (const char* name : {"hand57_cylinder", "hand27_cylinder"}) {
    GraspingHand g(name, ControllerOptions::Strong());
    ASSERT_TRUE(g.Hold(1.0));
    const Vec3 out_W = -g.world->X_WPalm(0).R.col(2);
    g.world->SetGravity({.g_W = 9.81 * out_W});
    ASSERT_TRUE(g.Run(GraspingHand::Gripping(1.0), 1.0));
    const Vec3 first = g.world->X_WP(0).p;
    ASSERT_TRUE(g.Run(GraspingHand::Gripping(1.0), 2.0));
    const double creep_mm_per_s = (g.world->X_WP(0).p - first).norm() * 1e3 / 2.0;
    std::printf("creep. %s: %.4f mm/s\n", name, creep_mm_per_s);
    EXPECT_LT(creep_mm_per_s, 0.1) << name;
  }
}

}  // namespace
}  // namespace handhold::synthesis::scenarios_test
