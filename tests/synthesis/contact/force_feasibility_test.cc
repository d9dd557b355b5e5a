// Force tests against cases worked out by hand and against an independent linear programme on fine
// polyhedra, by enumeration.
#include "synthesis/contact/force_feasibility.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "tests/support/allocation_counter.h"

namespace handhold::synthesis::force_feasibility_test {
namespace {

using geometry::Vec3;
using geometry::Vec6;

Vec6 Wrench(const Vec3& torque, const Vec3& force) {
  Vec6 w;
  w << torque, force;
  return w;
}

std::vector<ForceContact> Pinch(double friction) {
  return {{.p_O = Vec3(-0.015, 0, 0), .normal_O = Vec3::UnitX(), .friction = friction},
          {.p_O = Vec3(0.015, 0, 0), .normal_O = -Vec3::UnitX(), .friction = friction}};
}

// Two fingers on opposite faces hold a weight by friction alone: n = mg / (2 mu) each.
TEST(SolveLeastForce, APinchHoldsItsWeightByFriction) {
  const auto pinch = Pinch(0.4);
  const Vec6 up = Wrench(Vec3::Zero(), Vec3(0, 0, 0.5));
  ForceWorkspace workspace;
  ForceAnswer answer;
  SolveLeastForce(pinch, up, {}, &workspace, &answer);
  ASSERT_EQ(answer.outcome, ForceOutcome::kBalanced);
  EXPECT_NEAR(answer.total_N, 2 * 0.5 / (2 * 0.4), 1e-3);
  EXPECT_NEAR((answer.f_O[0] + answer.f_O[1] - Vec3(0, 0, 0.5)).norm(), 0, 1e-9);
  // Two points cannot turn it about the line through them.
  SolveLeastForce(pinch, Wrench(Vec3(0.01, 0, 0), Vec3::Zero()), {}, &workspace, &answer);
  EXPECT_EQ(answer.outcome, ForceOutcome::kImpossible);
  EXPECT_NEAR(std::abs(answer.missing[0]), 1.0, 1e-6);
  ForceOptions weak;
  weak.max_total_N = 1.0;  // it takes 1.25 N
  SolveLeastForce(pinch, up, weak, &workspace, &answer);
  EXPECT_NE(answer.outcome, ForceOutcome::kBalanced);
  EXPECT_NE(answer.outcome, ForceOutcome::kNotConverged);
}

// A contact that slides along +z drags the object that way with all of mu, and no other way.
TEST(SolveLeastForce, ASlidingContactIsOneRay) {
  auto contacts = Pinch(0.4);
  contacts[0].slides_O = Vec3(0, 0, 2);
  contacts[1].slides_O = Vec3(0, 0, 0.1);
  ForceWorkspace workspace;
  ForceAnswer answer;
  SolveLeastForce(contacts, Wrench(Vec3::Zero(), Vec3(0, 0, 0.5)), {}, &workspace, &answer);
  ASSERT_EQ(answer.outcome, ForceOutcome::kBalanced);
  EXPECT_NEAR(answer.f_O[0].z(), 0.25, 1e-9);
  EXPECT_NEAR(answer.f_O[0].x(), 0.25 / 0.4, 1e-9);
  SolveLeastForce(contacts, Wrench(Vec3::Zero(), Vec3(0, 0, -0.5)), {}, &workspace, &answer);
  EXPECT_EQ(answer.outcome, ForceOutcome::kImpossible);
}

TEST(SolveLeastForce, EveryFingerPressesAtLeastAsAsked) {
  ForceOptions options;
  options.min_normal_N = 3.0;
  ForceWorkspace workspace;
  ForceAnswer answer;
  SolveLeastForce(Pinch(0.4), Wrench(Vec3::Zero(), Vec3(0, 0, 0.5)), options, &workspace, &answer);
  ASSERT_EQ(answer.outcome, ForceOutcome::kBalanced);
  EXPECT_GE(answer.f_O[0].x(), 3.0);
  EXPECT_GE(-answer.f_O[1].x(), 3.0);
  EXPECT_NEAR((answer.f_O[0] + answer.f_O[1] - Vec3(0, 0, 0.5)).norm(), 0, 1e-9);
}

// At mu the pinch needs mg / (2 mu) and has 1 N a finger: it holds down to mu 0.25 of 0.4.
TEST(GripMargin, IsWhatIsLeftOfFriction) {
  ForceOptions options;
  options.max_total_N = 2.0;
  ForceWorkspace workspace;
  const Vec6 up = Wrench(Vec3::Zero(), Vec3(0, 0, 0.5));
  EXPECT_NEAR(GripMargin(Pinch(0.4), up, options, &workspace), 1 - 0.25 / 0.4, 1.0 / 128);
  EXPECT_NEAR(GripMargin(Pinch(0.2), up, options, &workspace), 1 - 0.25 / 0.2, 1.0 / 128);
  EXPECT_EQ(GripMargin(Pinch(0.1), up, options, &workspace), -1.0);
  // A pedestal needs none.
  const std::vector<ForceContact> pedestal = {
      {.p_O = Vec3(0, 0, -0.02), .normal_O = Vec3::UnitZ(), .friction = 0.4}};
  EXPECT_EQ(GripMargin(pedestal, up, options, &workspace), 1.0);
}

std::vector<ForceContact> OnASphere(std::mt19937& rng, int n, double friction) {
  std::normal_distribution<double> gauss;
  std::vector<ForceContact> contacts;
  for (int i = 0; i < n; ++i) {
    const Vec3 d = Vec3(gauss(rng), gauss(rng), gauss(rng)).normalized();
    const Vec3 lean = Vec3(gauss(rng), gauss(rng), gauss(rng));
    contacts.push_back(
        {.p_O = 0.04 * d, .normal_O = (-d + 0.2 * lean).normalized(), .friction = friction});
  }
  return contacts;
}

// Least cost by all bases of six out of the edges of fine pyramids: an upper bound of the round
// cone's, which pyramids approach from inside.
TEST(SolveLeastForce, IsTheLeastOfAllBases) {
  std::mt19937 rng(4);
  std::normal_distribution<double> gauss;
  ForceWorkspace workspace;
  ForceAnswer answer;
  int balanced = 0, impossible = 0;
  for (int trial = 0; trial < 24; ++trial) {
    const auto contacts = OnASphere(rng, 3, 0.5);
    Vec6 w;
    for (int k = 0; k < 6; ++k) w[k] = (k < 3 ? 0.01 : 1.0) * gauss(rng);
    if (trial % 2 == 0) {  // one that they can give: forces inside their cones
      w.setZero();
      for (const ForceContact& c : contacts) {
        const Vec3 f = c.normal_O * (0.5 + std::abs(gauss(rng))) +
                       0.15 * c.normal_O.unitOrthogonal() * gauss(rng) / 3;
        w += Wrench(c.p_O.cross(f), f);
      }
    }
    ForceOptions options;
    constexpr int kSides = 6;
    Eigen::Matrix<double, 6, 3 * kSides> edges;
    for (int i = 0; i < 3; ++i) {
      const Vec3& n = contacts[static_cast<size_t>(i)].normal_O;
      const Vec3 t1 = n.unitOrthogonal(), t2 = n.cross(t1);
      for (int k = 0; k < kSides; ++k) {
        const double a = 2 * M_PI * k / kSides;
        const Vec3 f = n + 0.5 * (std::cos(a) * t1 + std::sin(a) * t2);
        edges.col(kSides * i + k) << contacts[static_cast<size_t>(i)].p_O.cross(f), f;
      }
    }
    double least = std::numeric_limits<double>::infinity();
    constexpr int kEdges = 3 * kSides;
    int pick[6] = {0, 1, 2, 3, 4, 5};
    while (true) {
      Eigen::Matrix<double, 6, 6> B;
      for (int k = 0; k < 6; ++k) B.col(k) = edges.col(pick[k]);
      const Vec6 x = B.partialPivLu().solve(w);
      if (x.minCoeff() >= -1e-9 && (B * x - w).norm() < 1e-8) least = std::min(least, x.sum());
      int k = 5;
      while (k >= 0 && pick[k] == kEdges - 6 + k) --k;
      if (k < 0) break;
      ++pick[k];
      for (int j = k + 1; j < 6; ++j) pick[j] = pick[j - 1] + 1;
    }
    SolveLeastForce(contacts, w, options, &workspace, &answer);
    ASSERT_NE(answer.outcome, ForceOutcome::kNotConverged) << trial;
    if (std::isfinite(least)) {
      ASSERT_EQ(answer.outcome, ForceOutcome::kBalanced) << trial;
      EXPECT_LE(answer.total_N, least * (1 + 2e-4)) << trial;
      EXPECT_GE(answer.total_N, 0.6 * least) << trial;
    }
    if (answer.outcome == ForceOutcome::kBalanced) {
      ++balanced;
      Vec6 sum = Vec6::Zero();
      for (size_t i = 0; i < 3; ++i) {
        const Vec3 f = answer.f_O[i];
        sum += Wrench(contacts[i].p_O.cross(f), f);
        const double n = f.dot(contacts[i].normal_O);
        EXPECT_GE(n, -1e-9);
        EXPECT_LE((f - n * contacts[i].normal_O).norm(), 0.5 * n + 1e-9);
      }
      EXPECT_LE((sum - w).norm(), 1e-8 * w.norm());
    } else {
      ++impossible;
      // The direction that is missing: the load pulls along it, nobody pushes.
      const Vec6& y = answer.missing;
      Vec6 load = w;
      load.head<3>() /= options.length_m;
      EXPECT_GT(y.dot(load), 0.0);
      for (const ForceContact& c : contacts) {
        const Vec3 g = y.tail<3>() + Vec3(y.head<3>()).cross(c.p_O) / options.length_m;
        const double n = g.dot(c.normal_O), reach = n + 0.5 * (g - n * c.normal_O).norm();
        EXPECT_LE(reach * options.max_total_N, y.dot(load) * (1 + 1e-6) + 1e-9);
      }
    }
  }
  EXPECT_GE(balanced, 3);
  EXPECT_GE(impossible, 3);
}

/// What the answer's forces leave of the load w, torques over 0.05 m, as a share of it.
double Unbalanced(const std::vector<ForceContact>& contacts, const ForceAnswer& answer,
                  const Vec6& w) {
  Vec6 rest = w, load = w;
  for (size_t i = 0; i < contacts.size(); ++i)
    rest -= Wrench(contacts[i].p_O.cross(answer.f_O[i]), answer.f_O[i]);
  rest.head<3>() /= 0.05;
  load.head<3>() /= 0.05;
  return rest.norm() / load.norm();
}

// A load that the contacts can give: 0.2 to 3.2 N each, within their cones.
Vec6 LoadOf(std::mt19937& rng, const std::vector<ForceContact>& contacts) {
  std::uniform_real_distribution<double> u(0, 1);
  Vec6 w = Vec6::Zero();
  for (const ForceContact& c : contacts) {
    const Vec3 f =
        (0.2 + 3 * u(rng)) * (c.normal_O + 0.9 * c.friction * u(rng) * c.normal_O.unitOrthogonal());
    w += Wrench(c.p_O.cross(f), f);
  }
  return w;
}

// Contacts on top of one another make bases that are nearly singular: some loads are then not
// answered, none is answered wrongly.
TEST(SolveLeastForce, ContactsThatNearlyCoincideGiveNoWrongBalance) {
  ForceWorkspace workspace;
  ForceAnswer answer;
  for (const double apart_m : {0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4}) {
    std::mt19937 rng(1);
    std::normal_distribution<double> gauss;
    int open = 0;
    constexpr int kLoads = 400;
    for (int trial = 0; trial < kLoads; ++trial) {
      auto contacts = OnASphere(rng, 1, 0.5);
      while (static_cast<int>(contacts.size()) < 2 + trial % 4) {
        ForceContact next = contacts.back();
        next.p_O += apart_m * Vec3(gauss(rng), gauss(rng), gauss(rng));
        next.normal_O =
            (next.normal_O + 10 * apart_m * Vec3(gauss(rng), gauss(rng), gauss(rng))).normalized();
        contacts.push_back(next);
      }
      const Vec6 w = LoadOf(rng, contacts);
      SolveLeastForce(contacts, w, {}, &workspace, &answer);
      if (answer.outcome != ForceOutcome::kBalanced) {
        ++open;
        EXPECT_EQ(answer.outcome, ForceOutcome::kNotConverged) << apart_m << " " << trial;
        continue;
      }
      EXPECT_LE(Unbalanced(contacts, answer, w), 1e-7) << apart_m << " " << trial;
    }
    // Nanometres and less are what double precision cannot tell.
    EXPECT_LE(open, apart_m > 0 && apart_m < 1e-8 ? kLoads / 5 : 0) << apart_m;
  }
}

// The cheapest forces may be many newtons on cheap contacts: that they are more than allowed does
// not say that nothing balances.
TEST(SolveLeastForce, TooMuchIsJudgedByNewtonsNotByCost) {
  const std::vector<ForceContact> contacts = {
      {.p_O = Vec3::Zero(), .normal_O = Vec3::UnitX(), .friction = 0.1, .weight = 1},
      {.p_O = Vec3::Zero(), .normal_O = Vec3::UnitZ(), .friction = 0.1, .weight = 0.01},
      {.p_O = Vec3::Zero(), .normal_O = -Vec3::UnitZ(), .friction = 0.1, .weight = 0.01}};
  const Vec6 push = Wrench(Vec3::Zero(), Vec3::UnitX());
  ForceWorkspace workspace;
  ForceAnswer answer;
  SolveLeastForce(contacts, push, {}, &workspace, &answer);
  ASSERT_EQ(answer.outcome, ForceOutcome::kBalanced);
  EXPECT_NEAR(answer.total_N, 10.0, 0.01);  // squeezed between the cheap ones
  ForceOptions options;
  options.max_total_N = 5.0;
  SolveLeastForce(contacts, push, options, &workspace, &answer);
  ASSERT_EQ(answer.outcome, ForceOutcome::kBalanced);
  EXPECT_NEAR(answer.total_N, 1.0, 1e-3);
  EXPECT_NEAR(answer.f_O[0].x(), 1.0, 1e-3);

  // Any weights: balanced just above the least sum of newtons, and never below it.
  std::mt19937 rng(9);
  std::uniform_real_distribution<double> u(0, 1);
  int too_much = 0;
  for (int trial = 0; trial < 200; ++trial) {
    auto some = OnASphere(rng, 6, 0.5);
    const Vec6 w = LoadOf(rng, some);
    SolveLeastForce(some, w, {}, &workspace, &answer);
    ASSERT_EQ(answer.outcome, ForceOutcome::kBalanced) << trial;
    const double least_N = answer.total_N;
    for (ForceContact& c : some) c.weight = u(rng) < 0.5 ? 0.01 : 1.0;
    options.max_total_N = 1.001 * least_N;
    SolveLeastForce(some, w, options, &workspace, &answer);
    EXPECT_EQ(answer.outcome, ForceOutcome::kBalanced) << trial;
    EXPECT_LE(answer.total_N, options.max_total_N * (1 + 1e-9)) << trial;
    options.max_total_N = 0.999 * least_N;
    SolveLeastForce(some, w, options, &workspace, &answer);
    EXPECT_TRUE(answer.outcome == ForceOutcome::kTooMuch ||
                answer.outcome == ForceOutcome::kImpossible)
        << trial;
    if (answer.outcome != ForceOutcome::kTooMuch) continue;
    ++too_much;
    EXPECT_GE(answer.total_N, 0.9998 * least_N) << trial;
    EXPECT_LE(Unbalanced(some, answer, w), 1e-7) << trial;
  }
  EXPECT_GE(too_much, 20);
}

TEST(SolveLeastForce, DoesNotAllocateOnceItsAnswerHasGrown) {
  std::mt19937 rng(5);
  const auto contacts = OnASphere(rng, 15, 0.5);
  const Vec6 w = Wrench(Vec3(0.003, 0, 0.001), Vec3(0, 0, 1));
  ForceWorkspace workspace;
  ForceAnswer answer;
  SolveLeastForce(contacts, w, {}, &workspace, &answer);
  EXPECT_EQ(answer.outcome, ForceOutcome::kBalanced);
  const size_t before = testing::AllocationsOfThisThread();
  SolveLeastForce(contacts, w, {}, &workspace, &answer);
  EXPECT_EQ(testing::AllocationsOfThisThread(), before);
}

// Six frictionless-looking pushes against a cube's faces: balanced in every way one can say.
TEST(ScoreGrasp, KnownGrasps) {
  std::vector<ForceContact> cube;
  for (int k = 0; k < 6; ++k) {
    const Vec3 d = (k % 2 ? -1.0 : 1.0) * Vec3::Unit(k / 2);
    cube.push_back({.p_O = 0.05 * d, .normal_O = -d, .friction = 0.5});
  }
  ForceWorkspace workspace;
  const GraspScores scores = ScoreGrasp(cube, {}, &workspace);
  EXPECT_NEAR(scores.dfc, 0.0, 1e-12);
  EXPECT_NEAR(scores.net, 0.0, 1e-9);
  EXPECT_NEAR(scores.min_weight, 1.0, 1e-6);
  // A push along an axis: one face (1 N) or four by friction (2 N): 1 N; along all six the same.
  EXPECT_NEAR(scores.fmax_N, 1.0, 1e-3);
  EXPECT_GT(scores.epsilon, 0.2);
  EXPECT_LE(scores.epsilon, 0.5 + 1e-6);  // torque about an axis: 0.5 of friction at 0.05 m / 0.05
                                          // m

  // A single push balances nothing.
  const GraspScores one = ScoreGrasp({cube.data(), 1}, {}, &workspace);
  EXPECT_NEAR(one.dfc, 1.0, 1e-12);
  EXPECT_NEAR(one.net, 1.0, 1e-12);
  EXPECT_EQ(one.min_weight, 0.0);
  EXPECT_EQ(one.epsilon, 0.0);
  EXPECT_TRUE(std::isinf(one.fmax_N));

  // Two pushes a right angle apart: the hull's nearest point is half way.
  const std::vector<ForceContact> corner = {{.p_O = Vec3::Zero(), .normal_O = Vec3::UnitX()},
                                            {.p_O = Vec3::Zero(), .normal_O = Vec3::UnitY()}};
  EXPECT_NEAR(ScoreGrasp(corner, {}, &workspace).net, std::sqrt(0.5), 1e-9);
}

// Three contacts on one side of a ball hold it against nothing from below: no ball of wrenches,
// whatever direction a descent ends in.
TEST(ScoreGrasp, NoClosureIsNoEpsilon) {
  std::mt19937 rng(9);
  std::uniform_real_distribution<double> u(-1, 1);
  ForceWorkspace workspace;
  int finite = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<ForceContact> contacts;
    for (int i = 0; i < 5; ++i) {
      const Vec3 out = Vec3(u(rng), u(rng), 1 + u(rng)).normalized();
      contacts.push_back({.p_O = 0.05 * out, .normal_O = -out, .friction = 0.3});
    }
    const GraspScores s = ScoreGrasp(contacts, {}, &workspace);
    finite += std::isfinite(s.fmax_N);
    if (!std::isfinite(s.fmax_N)) {
      EXPECT_EQ(s.epsilon, 0.0) << trial;
    }
  }
  EXPECT_LT(finite, 150);
}

// No direction reaches less than the bound says, among many more than it looked at.
TEST(ScoreGrasp, EpsilonIsTheLeastReachOfAThousandDirections) {
  std::mt19937 rng(6);
  std::normal_distribution<double> gauss;
  int positive = 0;
  for (int trial = 0; trial < 6; ++trial) {
    const auto contacts = OnASphere(rng, 8, 0.7);
    const ForceOptions options;
    const double epsilon = EpsilonBound(contacts, options);
    positive += epsilon > 0.01;
    double least = 1e9;
    for (int i = 0; i < 20000; ++i) {
      Vec6 y;
      for (int k = 0; k < 6; ++k) y[k] = gauss(rng);
      y.normalize();
      double reach = -1e9;
      for (const ForceContact& c : contacts) {
        const Vec3 g = y.tail<3>() + Vec3(y.head<3>()).cross(c.p_O) / options.length_m;
        const double n = g.dot(c.normal_O);
        reach = std::max(reach, n + c.friction * (g - n * c.normal_O).norm());
      }
      least = std::min(least, reach);
    }
    EXPECT_LE(epsilon, std::max(0.0, least) + 1e-9) << trial;
    EXPECT_GE(epsilon, 0.4 * std::max(0.0, least)) << trial;
  }
  EXPECT_GE(positive, 3);
}

}  // namespace
}  // namespace handhold::synthesis::force_feasibility_test
