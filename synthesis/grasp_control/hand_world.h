/// A World of hands and props: what grasp control, evaluation and regrasp simulate in.
///
/// Hands move as trees of ODE bodies; what touches what is found by `synthesis/contact` and handed
/// to the engine as candidates (the adapter is here, nowhere else). Built once, then stepped; one
/// Save after building and Restore per try make it cheap to try often: the mesh trees of props are
/// made when a prop is added, never again.
///
/// q. Each hand is the skeleton it was given, with a free root: `hand(i)` is WithFreeBase of a
/// skeleton whose palm is fixed (hand57: nq 7 + 76, nv 6 + 57), or the skeleton itself when its
/// root is free (hand27). q and v everywhere here are of `hand(i)`: entries 0-6 the palm's pose in
/// W (p, quaternion w x y z), then the joints in order of bodies. Placed() and Unplaced() convert
/// from and to what Grasp and SetpointSet store (q of the skeleton as it is loaded, and the pose of
/// its world).
///
/// Palm. It goes where it is told: MovePalm before each step (kinematic; else it rests), or, after
/// SoftenPalm, six springs pull it there. The prop is free, or held still (HoldProp) while a hand
/// closes.
///
/// A Grasp in it: Placed(hand, grasp.q, X_WP grasp.X_PH) with the prop at X_WP; it squeezes by Pull
/// towards Placed(hand, grasp.q_squeeze, the same pose).
///
/// Gravity is a force on each body, set at any time: on props always, on hands when
/// `Gravity::on_hands`. The engine's own is 0.
///
/// Contacts: springs of the props' surface (5000 N/m, 5 Ns/m) with friction from each contact's
/// last force (world_types.h, ContactLaw). Of a capsule and a prop: the nearest point, and the ends
/// that overlap too. A hand meets itself where bodies are neither joined nor overlapping at q = 0,
/// two hands meet each other, props meet props. At least one side must be round: of a hand only
/// spheres and capsules meet anything.
///
/// Cost of a step (hand57 holding a cylinder by 8 contacts, 3 more with itself; tools/bench grasp):
/// 0.29 ms, with Stepper::kQuick 0.13 ms, contacts, drives and engine together. Save and Restore
/// cost copies of what bodies, drives and contacts remember, no geometry.
///
/// Failure: Step answers the engine's error, kNotConverged with the body and the time, and the
/// world is dead until Restore. One thread per process (world.h). Pinned by
/// tests/synthesis/grasp_control/hand_world_test.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/stage.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/contact_finder.h"
#include "synthesis/grasp_control/outboard.h"
#include "synthesis/world/skeleton_in_world.h"
#include "synthesis/world/world.h"

namespace handhold::synthesis {

struct HandWorldOptions {
  Stepper stepper = Stepper::kExact;
  int quick_iterations = 50;
  std::uint32_t quick_seed = 1;
  double stiffness_N_per_m = 5000.0;  ///< of surfaces that say no compliance of their own
  double damping_Ns_per_m = 5.0;
  double skin_friction = 0.5;  ///< of hand against hand, and of a hand against itself
  bool self_contact = true;
  bool gravity_on_hands = false;  ///< the stage's, where the world is made from one
  bool hard_limits = false;  ///< the engine's own rows at the skeleton's limits, beside any springs
};

struct Gravity {
  geometry::Vec3 g_W = geometry::Vec3::Zero();  ///< m/s^2, (0, 0, -9.81) on earth
  bool on_hands = false;
};

/// Springs towards one configuration, in proportion to each joint's outboard inertia I (eq. 3):
///   torque = (I + inertia_floor) (stiffness (q_target - q) + damping (v_target - v))
/// Passive and active controllers together pull with TWICE k_S and k_D of Table 1 towards the mean
/// of their setpoints: the defaults are ten times Table 1.
struct PullGains {
  double stiffness_per_s2 = 4000.0;
  double damping_per_s = 316.0;
  /// Departs from the paper: without it fingertips, which have next to no inertia, hold nothing. 0:
  /// the paper's.
  double inertia_floor_kgm2 = 1e-5;
};

/// A contact of the last step with a hand: rows of a Motion, and what a score reads.
struct HandContact {
  int hand = 0, body = 0;  ///< of hand(hand)
  int prop = -1;           ///< -1: the other side is a hand
  int other_hand = -1, other_body = 0;
  geometry::Vec3 p_W, normal_W;  ///< normal into `body`
  geometry::Vec3 f_onHand_W;     ///< N, on `body`
  double depth_m = 0.0;
  geometry::Vec3 slip_W;  ///< m/s, `body` against the other side
};

/// q of a skeleton as it is loaded and the pose of its world.
struct Placement {
  Eigen::VectorXd q;
  geometry::RigidTransform X_WH;
};

class HandWorld {
 public:
  /// Everything later steps depend on.
  struct Saved {
    struct Palm {
      geometry::RigidTransform X_WPalm;
      geometry::Vec6 V_W, A_W;
      bool moved = false, soft = false;
      SoftRootDrive springs;
    };
    Snapshot world;
    std::vector<Palm> palms;  ///< what each was told last
    Gravity gravity;
    std::vector<char> held;  ///< by prop
    std::vector<geometry::RigidTransform> X_WP;
  };

  static Result<std::unique_ptr<HandWorld>> Create(const HandWorldOptions& options = {});

  /// The ODE side of a stage (CheckPlayable): its hands and things in order, hands where they begin
  /// (q, else at zero), its gravity. Trajectories and poses are not looked at: hands go where they
  /// are told. kUnsupported: things that are neither fixed nor free.
  static Result<std::unique_ptr<HandWorld>> Create(const artefact::Stage& stage,
                                                   const HandWorldOptions& options = {});

  /// Adds a hand at `skeleton`'s zero configuration, its world at W; SetHand puts it elsewhere. All
  /// hands and props before the first Step. kInvalid: several bodies on the world, or a root that
  /// is neither fixed nor free.
  Result<int> AddHand(const model::Skeleton& skeleton);
  /// A dressed thing that is fixed or free and has a place; the body's frame is the prop's P.
  Result<int> AddProp(const artefact::StageThing& thing);

  int hand_count() const { return static_cast<int>(hands_.size()); }
  int prop_count() const { return static_cast<int>(props_.size()); }
  const model::Skeleton& hand(int i) const { return Hand(i).in_world->skeleton(); }
  int palm_body(int i) const { return Hand(i).palm; }  ///< of hand(i)
  const SkeletonInWorld& hand_in_world(int i) const { return *Hand(i).in_world; }
  World& world() { return *world_; }
  const World& world() const { return *world_; }
  int prop_body(int prop) const { return Prop(prop).body; }  ///< in world(); kFixedBody: fixed
  const model::Prop& prop(int prop) const { return Prop(prop).prop; }
  double prop_mass_kg(int prop) const;  ///< 0: fixed

  /// q of hand(i) with the hand's own skeleton at `q` (as loaded) and its world at X_WH.
  Eigen::VectorXd Placed(int hand, const Eigen::VectorXd& q,
                         const geometry::RigidTransform& X_WH) const;
  /// Back: a free root is given all of its pose by X_WH and coordinates of zero.
  Placement Unplaced(int hand, const Eigen::VectorXd& q) const;

  /// Puts a hand at q, at rest; its contacts are forgotten. Its palm is kinematic again.
  Status SetHand(int hand, const Eigen::VectorXd& q);
  /// Puts a prop elsewhere, at rest; its contacts are forgotten (of a fixed one they are not).
  Status SetProp(int prop, const geometry::RigidTransform& X_WP);
  /// True: it stays where it is, whatever touches it.
  Status HoldProp(int prop, bool held);
  void SetGravity(const Gravity& gravity) { gravity_ = gravity; }
  const Gravity& gravity() const { return gravity_; }

  /// Where the palm shall be at the end of the next step of h_s.
  Status MovePalm(int hand, const geometry::RigidTransform& X_WPalm, double h_s);
  /// From now on six springs pull the palm to where MovePalm says; MovePalm gives the target.
  Status SoftenPalm(int hand, const SoftRootDrive& springs);
  /// Velocity (omega, v of the palm's origin) and acceleration of the palm's target, in W: over the
  /// step that MovePalm prepared; the acceleration is the change of velocity over it. A palm that
  /// was not told for a step rests: both are 0.
  const geometry::Vec6& palm_V_W(int i) const { return Hand(i).V_W; }
  const geometry::Vec6& palm_A_W(int i) const { return Hand(i).A_W; }

  /// Implicit springs on all joints but the root for the following steps; set anew each step, since
  /// inertias change. `v_target`: nv entries, empty: 0.
  Status Pull(int hand, const Eigen::VectorXd& q_target, const Eigen::VectorXd& v_target,
              const PullGains& gains);
  /// No springs on any joint but the root.
  void LetGo(int hand);

  /// Mass, centre and inertia about its joint of what each body carries outboard, now (by body).
  const std::vector<Outboard>& OutboardOf(int hand);

  Status Step(double h_s);
  double time_s() const { return world_->time_s(); }

  Eigen::VectorXd q(int hand) const { return Hand(hand).in_world->q(); }
  Eigen::VectorXd v(int hand) const { return Hand(hand).in_world->v(); }
  geometry::RigidTransform X_WPalm(int hand) const;
  geometry::RigidTransform X_WP(int prop) const;
  /// Contacts of the last step with a side on a hand. Two hands: once, from the lower number.
  std::vector<HandContact> Contacts() const;
  /// Of the hand with a prop: how many, and the sum of their normal forces.
  struct Grip {
    int contacts = 0;
    double normal_N = 0.0, deepest_m = 0.0;
  };
  Grip GripOn(int hand, int prop) const;
  /// Least distance between the hand's palm body (its shapes) and a prop, now; for the state
  /// machine. Infinity beyond `reach_m`.
  Result<double> PalmGap(int hand, int prop, double reach_m = 1.0) const;
  /// Least distance of any of the hand's shapes to a prop, now; negative: depth.
  Result<double> HandGap(int hand, int prop, double reach_m = 1.0) const;

  Saved Save() const;
  Status Restore(const Saved& saved);

 private:
  struct HandPart {
    std::unique_ptr<model::Skeleton> given;
    std::unique_ptr<SkeletonInWorld> in_world;
    int palm = 0;
    bool moved = false;  ///< told where to go in the next step
    bool soft = false;
    SoftRootDrive springs;
    geometry::RigidTransform X_WPalm;  ///< told last
    geometry::Vec6 V_W = geometry::Vec6::Zero(), A_W = geometry::Vec6::Zero();
    std::vector<geometry::RigidTransform> X_WB;  ///< for the finder
    std::vector<Outboard> outboard;
    double outboard_at_s = -1.0;
    std::vector<std::pair<int, int>> shapes;  ///< (collider, body) in the finder
  };
  struct PropPart {
    model::Prop prop;
    int body = kFixedBody;
    int fixed = -1;  ///< number among fixed things
    geometry::RigidTransform X_WP;
    geometry::MassProperties mass;
    bool held = false;
  };

  explicit HandWorld(const HandWorldOptions& options) : options_(options) {}
  HandPart& Hand(int i) { return *hands_[static_cast<size_t>(i)]; }
  const HandPart& Hand(int i) const { return *hands_[static_cast<size_t>(i)]; }
  PropPart& Prop(int i) { return *props_[static_cast<size_t>(i)]; }
  const PropPart& Prop(int i) const { return *props_[static_cast<size_t>(i)]; }
  void IgnoreWithin(HandPart* hand, int tree);
  Status NumberShapes();
  Status AddWeight();
  int EngineBody(const ContactSide& side) const;
  void Candidates(std::vector<ContactCandidate>* out);
  Result<double> Gap(int hand, int prop, double reach_m, bool palm_only) const;

  HandWorldOptions options_;
  std::unique_ptr<World> world_;
  ContactFinder finder_;
  ContactPoses poses_;
  ContactSet found_;
  Status find_status_;
  std::vector<std::unique_ptr<HandPart>> hands_;
  std::vector<std::unique_ptr<PropPart>> props_;
  /// Of a collider: its engine body, and its number among those of that body; and back.
  std::vector<int> engine_, local_;
  std::vector<std::vector<int>> shape_of_;
  std::vector<std::pair<int, int>> who_;  ///< engine body -> (hand or -1, body or prop)
  Gravity gravity_;
};

}  // namespace handhold::synthesis
