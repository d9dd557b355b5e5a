#include "synthesis/grasp_search/closing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kReach_m = 0.03;

}  // namespace

Closer::Closer(const HandSurface& hand, const HeldObject& object)
    : hand_(hand), object_(object), data_(hand.skeleton()), of_digit_(6) {
  for (size_t i = 0; i < hand.fine_spheres().size(); ++i) {
    const int digit = hand.fine_spheres()[i].digit;
    of_digit_[digit < 0 ? 5 : static_cast<size_t>(digit)].push_back(i);
  }
}

void Closer::Pose(const RigidTransform& X_PH, const Eigen::VectorXd& shape) {
  model::ComputePoses(hand_.skeleton(), hand_.Configuration(X_PH, shape), &data_);
}

double Closer::Gap(const SkinSphere& sphere, double reach_m, HeldObject::Answer* answer) {
  *answer = object_.Closest(data_.X_WB[static_cast<size_t>(sphere.body)] * sphere.p_B,
                            reach_m + sphere.radius_m);
  return answer->distance_m - sphere.radius_m;
}

double Closer::SelfGap(int digit) const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [i, j] : hand_.self_pairs()) {
    const SkinCapsule &x = hand_.capsules()[static_cast<size_t>(i)],
                      &y = hand_.capsules()[static_cast<size_t>(j)];
    if (digit >= 0 && x.digit != digit && y.digit != digit) continue;
    const RigidTransform &X = data_.X_WB[static_cast<size_t>(x.body)],
                         &Y = data_.X_WB[static_cast<size_t>(y.body)];
    double s = 0, t = 0;
    least = std::min(least, SegmentDistance(X * x.a_B, X * x.b_B, Y * y.a_B, Y * y.b_B, &s, &t) -
                                x.radius_m - y.radius_m);
  }
  return least;
}

bool Closer::Close(const ClosingOptions& options, RigidTransform* X_PH, Eigen::VectorXd* shape) {
  *shape = hand_.ClampedToLimits(*shape);
  HeldObject::Answer answer;
  Pose(*X_PH, *shape);
  double way = 0.0;
  for (int step = 0; options.palm && step < 20; ++step) {
    double least = options.palm_way_m;
    for (const size_t i : of_digit_[5])
      least = std::min(least, Gap(hand_.fine_spheres()[i], options.palm_way_m, &answer));
    const double go = std::min(least - 0.5 * options.touch_m, options.palm_way_m - way);
    if (std::abs(go) < 0.5 * options.touch_m) break;
    way += go;
    X_PH->p -= go * X_PH->R.col(2);
    Pose(*X_PH, *shape);
  }
  // Digits that enter open, by a degree or so at a time.
  for (size_t digit = 0; digit < 5; ++digit) {
    for (int step = 0; step < 30; ++step) {
      double deepest = 0.0;
      for (const size_t i : of_digit_[digit])
        deepest = std::min(deepest, Gap(hand_.fine_spheres()[i], kReach_m, &answer));
      if (deepest > -options.deepest_m && SelfGap(static_cast<int>(digit)) > -5e-4) break;
      const double turn = std::clamp(-deepest / 0.05, 0.02, 0.1);
      for (const int dof : hand_.flexion()[digit]) {
        double& angle = (*shape)[dof - 6];
        angle = std::max(hand_.lower()[dof - 6], angle - turn);
      }
      Pose(*X_PH, *shape);
    }
  }
  // What still enters pushes the whole hand off.
  for (int step = 0; step < 12; ++step) {
    double deepest = 0.0;
    Vec3 push = Vec3::Zero();
    for (const SkinSphere& sphere : hand_.fine_spheres()) {
      const double gap = Gap(sphere, kReach_m, &answer);
      if (gap > -options.deepest_m) continue;
      push -= gap * answer.normal_P;
      deepest = std::min(deepest, gap);
    }
    if (!(deepest < 0) || push.norm() < 1e-9) break;
    X_PH->p -= deepest * push.normalized();
    Pose(*X_PH, *shape);
  }

  for (size_t digit = 0; digit < 5 && options.keep_off_m > 0; ++digit) {
    if (options.digits[digit]) continue;
    const Eigen::VectorXd before = *shape;
    double nearest = 0.0;
    for (int step = 0; step < 14; ++step) {
      nearest = kReach_m;
      for (const size_t i : of_digit_[digit])
        nearest = std::min(nearest, Gap(hand_.fine_spheres()[i], kReach_m, &answer));
      if (nearest >= options.keep_off_m) break;
      for (const int dof : hand_.flexion()[digit]) {
        double& angle = (*shape)[dof - 6];
        angle = std::max(hand_.lower()[dof - 6], angle - 0.06);
      }
      Pose(*X_PH, *shape);
    }
    if (nearest < options.keep_off_m && SelfGap(static_cast<int>(digit)) < -1e-3) *shape = before;
    Pose(*X_PH, *shape);
  }
  for (size_t digit = 0; digit < 5; ++digit) {
    if (!options.digits[digit]) continue;
    std::vector<int> active = hand_.flexion()[digit];
    std::vector<double> turned(active.size(), 0.0);
    for (int step = 0; step < 60 && !active.empty(); ++step) {
      // How far each moving sphere can go, and how fast it goes per radian of all that turn.
      double safe = 0.3;
      int touching = -1;  // the outermost body that touches
      for (const size_t i : of_digit_[digit]) {
        const SkinSphere& sphere = hand_.fine_spheres()[i];
        const double gap = Gap(sphere, kReach_m, &answer);
        const Vec3 p = data_.X_WB[static_cast<size_t>(sphere.body)] * sphere.p_B;
        double lever = 0.0;
        for (const int dof : active) {
          for (int b = 2; b <= sphere.body; ++b) {
            const int k = dof - hand_.skeleton().v_index(b);
            if (k < 0 || k >= hand_.skeleton().body(b).joint.nv()) continue;
            if (hand_.skeleton().DofMovesBody(dof, sphere.body))
              lever += (p - data_.X_WB[static_cast<size_t>(b)].p).norm();
          }
        }
        if (lever <= 0) continue;
        if (gap < options.touch_m) {
          touching = std::max(touching, sphere.body);
        } else {
          safe = std::min(safe, std::min(gap, kReach_m) / (1.2 * lever));
        }
      }
      const double self = SelfGap(static_cast<int>(digit));
      if (touching < 0 && self > options.touch_m)
        safe = std::min(safe, std::max(self, 0.002) / 0.2);
      if (touching >= 0 || self <= options.touch_m) {
        if (options.precision || touching < 0) break;
        // What is before the touching link may not turn any more; what is beyond it may.
        std::erase_if(active,
                      [&](int dof) { return hand_.skeleton().DofMovesBody(dof, touching); });
        continue;
      }
      bool any = false;
      for (size_t k = 0; k < active.size(); ++k) {
        double& angle = (*shape)[active[k] - 6];
        const double to = std::min(angle + safe, hand_.upper()[active[k] - 6]);
        any |= to > angle + 1e-4;
        angle = to;
      }
      if (!any) break;
      Pose(*X_PH, *shape);
    }
  }
  return Penetration(*X_PH, *shape) < 0.003;
}

std::vector<SkinContact> Closer::Contacts(const RigidTransform& X_PH, const Eigen::VectorXd& shape,
                                          double margin_m) {
  Pose(X_PH, shape);
  std::vector<SkinContact> all;
  for (const SkinSphere& sphere : hand_.fine_spheres()) {
    HeldObject::Answer answer;
    const double gap = Gap(sphere, margin_m, &answer);
    if (!(gap <= margin_m)) continue;
    all.push_back({sphere.capsule, sphere.body, sphere.digit, answer.p_P, answer.normal_P, gap});
  }
  std::vector<SkinContact> kept;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && all[end].capsule == all[begin].capsule) ++end;
    const auto best = std::min_element(
        all.begin() + static_cast<std::ptrdiff_t>(begin),
        all.begin() + static_cast<std::ptrdiff_t>(end),
        [](const SkinContact& x, const SkinContact& y) { return x.distance_m < y.distance_m; });
    kept.push_back(*best);
    const SkinContact* second = nullptr;
    for (size_t i = begin; i < end; ++i) {
      if ((all[i].p_P - best->p_P).norm() < 0.010) continue;
      if (second == nullptr || all[i].distance_m < second->distance_m) second = &all[i];
    }
    if (second != nullptr) kept.push_back(*second);
    begin = end;
  }
  return kept;
}

double Closer::Penetration(const RigidTransform& X_PH, const Eigen::VectorXd& shape) {
  Pose(X_PH, shape);
  double deepest = 0.0;
  HeldObject::Answer answer;
  for (const SkinSphere& sphere : hand_.fine_spheres())
    deepest = std::min(deepest, Gap(sphere, 1.0, &answer));
  return std::max(0.0, -deepest);
}

double Closer::SelfContact(const RigidTransform& X_PH, const Eigen::VectorXd& shape) {
  Pose(X_PH, shape);
  return hand_.SelfContact(data_);
}

std::vector<ForceContact> ForceContactsOf(const std::vector<SkinContact>& contacts,
                                          const Vec3& origin_P, double friction) {
  std::vector<ForceContact> out;
  for (const SkinContact& c : contacts)
    out.push_back({.p_O = c.p_P - origin_P, .normal_O = -c.normal_P, .friction = friction});
  return out;
}

}  // namespace handhold::synthesis
