// Plants the grasps that ship in schemas/grasps: a random search over postures and places of a hand
// around a prop, closed in a HandWorld, shaken in six directions, the steadiest kept.
//
//   plant_grasps HAND cylinder|pinch TRIES SEED OUT.json
//
// The same arguments give the same file to the bit. What is planted is scripted, not captured.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "database/artefact/grasp_file.h"
#include "database/base/random.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
#include "database/model/site.h"
#include "synthesis/grasp_control/hand_world.h"
#include "synthesis/grasp_control/posture.h"
#include "synthesis/grasp_control/setpoints.h"

namespace handhold::synthesis {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kStep_s = 2e-3, kMass_kg = 0.1, kFriction = 0.6, kPush_m_per_s2 = 10.0;
constexpr double kShift_m = 0.05, kTurn_rad = 15.0 * M_PI / 180.0, kClearance_m = 2e-3,
                 kSame_rad = 4.0 * M_PI / 180.0;

struct Trial {
  Eigen::VectorXd q_open, q_closed;  ///< as loaded; closed: well into the prop
  RigidTransform X_PH;
};

struct Planter {
  using Found = std::optional<artefact::Grasp>;
  model::Skeleton skeleton;
  model::Prop prop;
  bool pinch;
  std::unique_ptr<HandWorld> world;
  HandWorld::Saved built;
  std::map<std::string, int> refused;  ///< tries, by why; or no steadier than the best

  void Add(Eigen::VectorXd* v, const std::string& dof, double angle) const {
    const int k = skeleton.FindDof((skeleton.draft().side == "left" ? "L." : "R.") + dof);
    if (k >= 0) (*v)[k] += angle;
  }
  Eigen::VectorXd At(const Eigen::VectorXd& v) const {
    return ClampedToLimits(skeleton, skeleton.Integrate(skeleton.ZeroConfiguration(), v));
  }

  Trial Sample(Random* random) const {
    Eigen::VectorXd open = Eigen::VectorXd::Zero(skeleton.nv()), closed = open;
    const double mcp0 = random->In(-0.1, 0.5), pip0 = random->In(0.0, pinch ? 0.6 : 0.4),
                 dip0 = random->In(0.0, 0.3);
    const double mcp1 = random->In(0.7, 1.5), pip1 = random->In(pinch ? 0.3 : 0.7, 1.6),
                 dip1 = random->In(0.1, 0.9);
    for (const std::string finger : {"index", "middle", "ring", "little"}) {
      const bool works = !pinch || finger == "index" || finger == "middle";
      Add(&open, finger + ".mcp.flex", mcp0), Add(&open, finger + ".pip.flex", pip0),
          Add(&open, finger + ".dip.flex", dip0);
      Add(&closed, finger + ".mcp.flex", works ? mcp1 : mcp0);
      Add(&closed, finger + ".pip.flex", works ? pip1 : pip0);
      Add(&closed, finger + ".dip.flex", works ? dip1 : dip0);
    }
    const double flex = random->In(-0.4, 0.4), abd = random->In(-0.5, 0.5),
                 rot = random->In(-0.3, 0.3);
    for (Eigen::VectorXd* v : {&open, &closed}) Add(v, "thumb.cmc.rot", rot);
    Add(&open, "thumb.cmc.abd", abd);
    Add(&closed, "thumb.cmc.abd", abd + random->In(-0.3, 0.3));
    Add(&open, "thumb.cmc.flex", flex);
    Add(&closed, "thumb.cmc.flex", flex + random->In(0.0, 0.5));
    Add(&open, "thumb.mcp.flex", random->In(0.0, 0.3));
    Add(&closed, "thumb.mcp.flex", random->In(0.3, 1.0));
    Add(&open, "thumb.ip.flex", random->In(0.0, 0.3));
    Add(&closed, "thumb.ip.flex", random->In(0.2, 1.0));
    Trial trial{At(open), At(closed), {}};
    trial.X_PH = pinch ? BetweenTips(trial, random) : UnderPalm(random);
    return trial;
  }

  /// The prop's axis (z of P) across the hand, under its palm; the height is found by closing in.
  static RigidTransform UnderPalm(Random* random) {
    const double x = random->In(0.06, 0.105), y = random->In(-0.02, 0.02),
                 roll = random->In(-0.4, 0.4);
    // In the hand: z of P along y, turned by roll about the palm's normal; far below.
    RigidTransform X_HP;
    X_HP.R = geometry::AxisAngle<double>(Vec3::UnitZ(), roll) *
             geometry::AxisAngle<double>(Vec3::UnitX(), -M_PI / 2);
    X_HP.p = Vec3(x, y, -0.2);
    return X_HP.Inverse();
  }
  /// The prop's x across thumb and fingertips of the hand on its way, its z anywhere about it.
  RigidTransform BetweenTips(const Trial& trial, Random* random) const {
    model::KinematicsData data(skeleton);
    model::ComputePoses(skeleton, Between(skeleton, trial.q_open, trial.q_closed, 0.45), &data);
    const auto tip = [&](const char* name) {
      return data.X_WB[static_cast<size_t>(skeleton.FindBody(name))] * Vec3(0.01, 0, 0);
    };
    const Vec3 thumb = tip("thumb.dst"), fingers = 0.5 * (tip("index.dst") + tip("middle.dst"));
    RigidTransform X_HP;
    const Vec3 x = (fingers - thumb).normalized();
    const Vec3 along = geometry::AxisAngle<double>(x, random->In(-0.6, 0.6)) *
                       (Vec3::UnitY() - x.y() * x).normalized();
    X_HP.R.col(0) = x, X_HP.R.col(1) = along.cross(x).normalized(), X_HP.R.col(2) = along;
    X_HP.R = geometry::NearestRotation(X_HP.R);
    X_HP.p = 0.5 * (thumb + fingers) +
             X_HP.R * Vec3(0, random->In(-0.02, 0.02), random->In(-0.02, 0.02));
    return X_HP.Inverse();
  }

  Status Close(const Eigen::VectorXd& target, double seconds) {
    double t = 0.0;
    while (t < seconds) {
      HANDHOLD_TRY(world->Pull(0, target, {}, {}));
      HANDHOLD_TRY(world->Step(kStep_s));
      t += kStep_s;
    }
    return {};
  }

  /// Opens at the trial's place, closes on the held prop towards `q_target` (as loaded), and lets
  /// it go.
  Status CloseFromOpen(const Trial& trial, const Eigen::VectorXd& q_target, bool let_go) {
    HANDHOLD_TRY(world->Restore(built));
    HANDHOLD_TRY(world->SetHand(0, world->Placed(0, trial.q_open, trial.X_PH)));
    HANDHOLD_TRY(world->HoldProp(0, true));
    const Eigen::VectorXd target = world->Placed(0, q_target, trial.X_PH);
    HANDHOLD_TRY(Close(target, 0.46));
    if (!let_go) return {};
    HANDHOLD_TRY(world->HoldProp(0, false));
    return Close(target, 0.5);
  }

  /// Closes in along the palm's normal until 2 mm are left; nullopt: no way, or in the prop.
  Result<bool> Approach(Trial* trial) {
    for (int i = 0; i < 60; ++i) {
      HANDHOLD_TRY(world->SetHand(0, world->Placed(0, trial->q_open, trial->X_PH)));
      HANDHOLD_ASSIGN(const double gap, world->HandGap(0, 0));
      if (pinch) return gap > 5e-4;
      if (gap < kClearance_m - 5e-4) return false;
      if (gap < kClearance_m + 5e-4) return true;
      trial->X_PH.p -= (gap - kClearance_m) * trial->X_PH.R.col(2);
    }
    return false;
  }

  /// Worst of six pushes, relative to P1's limits; above 1 failed.
  Result<double> Shake(const Eigen::VectorXd& target, double seconds, double stop_at) {
    const HandWorld::Saved closed = world->Save();
    const RigidTransform X_WP = world->X_WP(0);
    double worst = 0.0;
    for (int k = 0; k < 6 && worst < stop_at; ++k) {
      HANDHOLD_TRY(world->Restore(closed));
      world->SetGravity({.g_W = (k % 2 ? -kPush_m_per_s2 : kPush_m_per_s2) * Vec3::Unit(k / 2)});
      for (double t = 0; t < seconds && worst < stop_at; t += kStep_s) {
        HANDHOLD_TRY(world->Pull(0, target, {}, {}));
        HANDHOLD_TRY(world->Step(kStep_s));
        const RigidTransform now = world->X_WP(0);
        worst = std::max({worst, (now.p - X_WP.p).norm() / kShift_m,
                          geometry::Log(X_WP.R.transpose() * now.R).norm() / kTurn_rad});
      }
    }
    HANDHOLD_TRY(world->Restore(closed));
    return worst;
  }

  Found Refused(const char* why) {
    ++refused[why];
    return {};
  }

  Result<bool> Reproduces(const artefact::Grasp& grasp) {
    const HandWorld::Saved closed = world->Save();
    const Status ran = CloseFromOpen({grasp.q_open, {}, grasp.X_PH}, grasp.q_squeeze, true);
    const Eigen::VectorXd off = skeleton.Difference(grasp.q, world->Unplaced(0, world->q(0)).q);
    const bool same = ran && off.norm() / std::sqrt(static_cast<double>(off.size())) < kSame_rad;
    HANDHOLD_TRY(world->Restore(closed));
    return same;
  }

  /// nullopt: loose, or lost while it was tried.
  Result<Found> Try(Trial trial, double best) {
    HANDHOLD_TRY(world->Restore(built));
    HANDHOLD_ASSIGN(const bool reached, Approach(&trial));
    if (!reached) return Refused("not reached");
    if (!CloseFromOpen(trial, trial.q_closed, false)) return Refused("lost");
    artefact::Grasp grasp;
    // The rest pose that squeezes and the pose it squeezes into belong together: taken again.
    for (int i = 0; i < 2; ++i) {
      if (world->GripOn(0, 0).contacts < 3)
        return Refused(i == 0 ? "loose" : "loose when squeezed");
      grasp.q = world->Unplaced(0, world->q(0)).q;
      grasp.q_squeeze = SqueezeTarget(skeleton, trial.q_open, grasp.q, 1.0);
      if (!CloseFromOpen(trial, grasp.q_squeeze, true)) return Refused("lost");
    }
    const HandWorld::Grip grip = world->GripOn(0, 0);
    if (grip.contacts < 3) return Refused("loose when squeezed");
    const Placement now = world->Unplaced(0, world->q(0));
    // In the prop as it lies after it was let go.
    const RigidTransform X_WP = world->X_WP(0);
    grasp.q = now.q;
    grasp.X_PH = X_WP.Inverse() * now.X_WH;
    grasp.q_open = trial.q_open;
    const Eigen::VectorXd target = world->Placed(0, grasp.q_squeeze, now.X_WH);
    HANDHOLD_ASSIGN(double worst, Shake(target, 0.3, std::min(best, 1.0)));
    if (worst >= std::min(best, 1.0)) return Refused("shaken out in 0.3 s");
    HANDHOLD_ASSIGN(worst, Shake(target, 2.0, std::min(best, 1.0)));
    if (worst >= std::min(best, 1.0)) return Refused("shaken out in 2 s");
    // Once more from the open hand where the prop now lies in it: an example must reproduce itself.
    HANDHOLD_ASSIGN(const bool again, Reproduces(grasp));
    if (!again) return Refused("another pose when closed again");
    for (const HandContact& c : world->Contacts()) {
      if (c.prop != 0) continue;
      const RigidTransform X_WB = world->hand_in_world(0).X_WB(c.body);
      const int site = model::SiteAt(skeleton, c.body, -(X_WB.R.transpose() * c.normal_W));
      grasp.contacts.push_back(
          {.site = site < 0 ? "" : skeleton.sites()[static_cast<size_t>(site)].name,
           .body = c.body,
           .p_P = X_WP.Inverse() * c.p_W,
           .normal_P = X_WP.R.transpose() * c.normal_W,
           .f_onHand_P = X_WP.R.transpose() * c.f_onHand_W});
    }
    grasp.scores = {{"worst_push", worst}, {"grip_N", grip.normal_N}};
    return Found(grasp);
  }
};

int Main(int argc, char** argv) {
  if (argc != 6 || (std::string(argv[2]) != "cylinder" && std::string(argv[2]) != "pinch")) {
    std::fprintf(stderr, "plant_grasps HAND cylinder|pinch TRIES SEED OUT.json\n");
    return 2;
  }
  const auto fail = [](const Error& e) {
    std::fprintf(stderr, "%s\n", e.message.c_str());
    return 1;
  };
  const std::string hand = argv[1], kind = argv[2];
  auto skeleton = model::LoadHand(hand);
  if (!skeleton) return fail(skeleton.error());
  auto prop = model::LoadLibraryProp(kind == "pinch" ? "box_3x5x7" : "cylinder_60");
  if (!prop) return fail(prop.error());
  Planter planter{*skeleton, *prop, kind == "pinch", nullptr, {}, {}};
  auto world = HandWorld::Create();
  if (!world) return fail(world.error());
  planter.world = std::move(*world);
  if (auto added = planter.world->AddHand(*skeleton); !added) return fail(added.error());
  if (auto added = planter.world->AddProp(
          artefact::Placed(*prop, {}, artefact::StageThing::Is::kFree, kMass_kg, kFriction));
      !added) {
    return fail(added.error());
  }
  planter.built = planter.world->Save();
  Random random(static_cast<std::uint64_t>(std::atoll(argv[4])));
  artefact::Grasp best;
  double worst = 1.0;
  const int tries = std::atoi(argv[3]);
  int held = 0;
  for (int i = 0; i < tries; ++i) {
    auto found = planter.Try(planter.Sample(&random), worst);
    if (!found) return fail(found.error());
    if (!*found) continue;
    ++held;
    best = **found;
    worst = best.scores.at("worst_push");
    std::printf("try %d: worst %.3f of P1's limits, %zu contacts, %.2f N\n", i, worst,
                best.contacts.size(), best.scores.at("grip_N"));
  }
  for (const auto& [why, count] : planter.refused) std::printf("%3d %s\n", count, why.c_str());
  if (held == 0) {
    std::fprintf(stderr, "none of %d tries holds\n", tries);
    return 1;
  }
  best.name = hand + "_" + kind;
  best.proposer = "planted";
  best.scripted = true;
  best.skeleton_name = hand;
  best.dof_names = skeleton->dof_names();
  best.prop = prop->name;
  best.types = {{"handhold", kind}};
  const std::string source =
      "Planted, not captured: the steadiest of " + std::to_string(tries) +
      " random tries under P1's six pushes (ODE exact, 2 ms, ten times Table 1, inertia floor "
      "1e-5 kg m^2, alpha 1, 0.1 kg, friction 0.6); plant_grasps " +
      hand + " " + kind + " " + argv[3] + " " + argv[4];
  if (Status saved = artefact::SaveGraspFile(best, source, argv[5]); !saved)
    return fail(saved.error());
  return 0;
}

}  // namespace
}  // namespace handhold::synthesis

int main(int argc, char** argv) { return handhold::synthesis::Main(argc, argv); }
