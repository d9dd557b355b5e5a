#include "synthesis/regrasp/example_proposer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "database/geometry/rotation.h"
#include "database/model/site.h"
#include "synthesis/grasp_control/hand_world.h"
#include "synthesis/regrasp/surface_sample.h"

namespace handhold::synthesis {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr int kSurfacePoints = 1500;
constexpr double kAcross_m = 0.12;   // thicker than this no pinch spans
constexpr double kInside_m = 0.025;  // a hand closes round what lies so deep below its palm
constexpr double kAround_m = 0.06;   // the surface near a hand

Mat3 About(const Vec3& axis, double angle_rad) {
  return geometry::AxisAngle<double>(axis, angle_rad);
}

}  // namespace

struct ExampleProposer::Impl {
  Impl(const ExampleProposerOptions& o, const model::Skeleton& h, const artefact::Grasp& e)
      : options(o), hand(h), example(e) {}
  ExampleProposerOptions options;
  model::Skeleton hand;
  artefact::Grasp example;
  // How the example lay in its hand, in the frame of the palm body.
  bool envelops = true;
  double palm_gap_m = 0.0;
  Vec3 centre_Palm = Vec3::Zero();    // middle of its contacts
  Vec3 opposed_Palm = Vec3::UnitX();  // from the thumb's contacts to the others'
  std::optional<double> roll_rad;     // of the way its prop ran, from the palm's y to its x
  RigidTransform X_OpenPalm;          // palm in the skeleton's world, of q_open

  // Of the request in hand.
  std::unique_ptr<HandWorld> world;
  HandWorld::Saved built;
  std::vector<PropSurfacePoint> surface;

  PullGains gains() const {
    return {options.stiffness_per_s2, options.damping_per_s, options.inertia_floor_kgm2};
  }
  Status Build(const model::Prop& prop) {
    HandWorldOptions made;
    made.stepper = options.quick ? Stepper::kQuick : Stepper::kExact;
    made.quick_iterations = options.quick_iterations;
    HANDHOLD_ASSIGN(world, HandWorld::Create(made));
    HANDHOLD_TRY(world->AddHand(hand));
    HANDHOLD_TRY(world->AddProp(artefact::Placed(prop, {}, artefact::StageThing::Is::kFree,
                                                 options.mass_kg, options.friction)));
    built = world->Save();
    return {};
  }
  Status Open(const RigidTransform& X_WPalm) {
    return world->SetHand(0, world->Placed(0, example.q_open, X_WPalm * X_OpenPalm.Inverse()));
  }

  Status Learn(const model::Prop& example_prop);
  RigidTransform EnvelopingPose(const PropSurfacePoint& at, const Vec3& along,
                                CandidateRandom* random, bool rolls) const;
  RigidTransform PinchingPose(const PropSurfacePoint& at, double thickness_m,
                              CandidateRandom* random) const;
  Result<bool> ComeDown(const PropSurfacePoint& at, RigidTransform* X_WPalm);
  Result<bool> BackOff(RigidTransform* X_WPalm);
  bool UnderTable(const GraspWishes& wishes) const;
  Result<std::string> Try(const GraspRequest& request, int number,
                          const std::vector<PropSurfacePoint>& starts, artefact::Grasp* grasp);
  void Contacts(artefact::Grasp* grasp) const;
};

/// What the example says of how its prop lay in the hand.
Status ExampleProposer::Impl::Learn(const model::Prop& example_prop) {
  const auto invalid = [&](const std::string& what) {
    return Error{ErrorCode::kInvalid, "example '" + example.name + "' " + what};
  };
  if (example.q.size() != hand.nq() || example.q_open.size() != hand.nq() ||
      example.q_squeeze.size() != hand.nq()) {
    return invalid("needs q, q_open and q_squeeze of hand '" + hand.name() + "'");
  }
  if (example.contacts.empty()) return invalid("has no contacts");
  HANDHOLD_TRY(Build(example_prop));
  HANDHOLD_TRY(world->SetHand(0, world->Placed(0, example.q_open, RigidTransform())));
  X_OpenPalm = world->X_WPalm(0);
  HANDHOLD_TRY(world->SetHand(0, world->Placed(0, example.q, example.X_PH)));
  const RigidTransform X_PalmP = world->X_WPalm(0).Inverse();
  HANDHOLD_ASSIGN(palm_gap_m, world->PalmGap(0, 0));
  envelops = palm_gap_m < options.enveloping_m;
  Vec3 thumb = Vec3::Zero(), others = Vec3::Zero();
  double thumbs = 0, rest = 0;
  for (const artefact::GraspContact& c : example.contacts) {
    if (c.body < 1 || c.body >= hand.body_count()) return invalid("touches with no body");
    const Vec3 p = X_PalmP * c.p_P;
    const bool is_thumb = hand.body(c.body).name.starts_with("thumb");
    (is_thumb ? thumb : others) += p;
    (is_thumb ? thumbs : rest) += 1;
  }
  centre_Palm = (thumb + others) / (thumbs + rest);
  if (thumbs > 0 && rest > 0) {
    // Between the two sides, however many fingers are on one of them.
    if (!envelops) centre_Palm = 0.5 * (thumb / thumbs + others / rest);
    opposed_Palm = (others / rest - thumb / thumbs).normalized();
  } else if (!envelops) {
    return invalid("neither lies in the palm nor opposes the thumb");
  }
  HANDHOLD_ASSIGN(const std::vector<PropSurfacePoint> around,
                  SampleSurface(example_prop, kSurfacePoints, 1));
  const Vec3 up_P = X_PalmP.R.row(2).transpose();
  if (const auto along = RunsAlong(around, X_PalmP.Inverse() * centre_Palm, up_P, kAround_m)) {
    const Vec3 in_palm = X_PalmP.R * *along;
    roll_rad = std::atan2(in_palm.x(), in_palm.y());
  }
  return {};
}

/// z of the palm out of the surface, its y turned from `along` as the example's prop ran.
RigidTransform ExampleProposer::Impl::EnvelopingPose(const PropSurfacePoint& at, const Vec3& along,
                                                     CandidateRandom* random, bool rolls) const {
  const Vec3 n = at.normal_P;
  const double turn = rolls ? random->Between(-M_PI, M_PI)
                            : roll_rad.value_or(0.0) + (random->Unit() < 0.5 ? 0.0 : M_PI) +
                                  random->Between(-options.roll_rad, options.roll_rad);
  Mat3 R;
  R.col(2) = n;
  R.col(1) = About(n, turn) * along;
  R.col(0) = R.col(1).cross(n);
  const double lean = random->Between(0.0, 2 * M_PI);
  R = About(Vec3(std::cos(lean) * R.col(0) + std::sin(lean) * R.col(1)),
            random->Between(0.0, options.tilt_rad)) *
      R;
  Vec3 look = centre_Palm;
  look.x() += random->Between(-options.shift_m, options.shift_m);
  look.y() += random->Between(-options.shift_m, options.shift_m);
  look.z() = 0.0;
  // From well outside; ComeDown finds the height.
  return {geometry::NearestRotation(R), at.p_P - R * look + 0.25 * n};
}

/// The fingers' line along the surface normal, thumb on either side, the middle of the material
/// between them; roll about it anything.
RigidTransform ExampleProposer::Impl::PinchingPose(const PropSurfacePoint& at, double thickness_m,
                                                   CandidateRandom* random) const {
  const Vec3 n = random->Unit() < 0.5 ? at.normal_P : Vec3(-at.normal_P);
  Mat3 R = Eigen::Quaterniond::FromTwoVectors(opposed_Palm, n).toRotationMatrix();
  R = About(n, random->Between(-M_PI, M_PI)) * R;
  const Vec3 aside = About(n, random->Between(0.0, 2 * M_PI)) * n.unitOrthogonal();
  R = About(aside, random->Between(-options.tilt_rad, options.tilt_rad)) * R;
  const Vec3 middle =
      at.p_P - 0.5 * thickness_m * at.normal_P + random->Between(0.0, options.shift_m) * aside;
  return {geometry::NearestRotation(R), middle - R * centre_Palm};
}

Result<bool> ExampleProposer::Impl::ComeDown(const PropSurfacePoint& at, RigidTransform* X_WPalm) {
  const Vec3 down = -at.normal_P;
  double gap = 0.0, went = 0.0;
  for (int i = 0; i < 40; ++i) {
    HANDHOLD_TRY(Open(*X_WPalm));
    HANDHOLD_ASSIGN(gap, world->HandGap(0, 0));
    if (gap < 0.5 * options.clearance_m) {
      if (i == 0) return false;  // begins inside another part of the prop
      X_WPalm->p -= (options.clearance_m - gap) * down;
      continue;
    }
    if (gap < 1.5 * options.clearance_m) break;
    X_WPalm->p += (gap - options.clearance_m) * down;
    went += gap - options.clearance_m;
    if (went > 0.6) return false;  // it passes by
  }
  HANDHOLD_ASSIGN(const double palm, world->PalmGap(0, 0));
  return gap < 2.0 * options.clearance_m &&
         palm < std::max(palm_gap_m, 0.0) + options.palm_further_m;
}

/// Away from the prop along the palm's back until the open hand is clear; a hand that has to go far
/// is not round the material any more.
Result<bool> ExampleProposer::Impl::BackOff(RigidTransform* X_WPalm) {
  for (int i = 0; i < 12; ++i) {
    HANDHOLD_TRY(Open(*X_WPalm));
    HANDHOLD_ASSIGN(const double gap, world->HandGap(0, 0));
    if (gap >= 0.25 * options.clearance_m) return true;
    X_WPalm->p += std::max(1.5e-3, options.clearance_m - gap) * X_WPalm->R.col(2);
  }
  return false;
}

bool ExampleProposer::Impl::UnderTable(const GraspWishes& wishes) const {
  if (!wishes.X_PTable) return false;
  const SkeletonInWorld& placed = world->hand_in_world(0);
  const model::Skeleton& s = world->hand(0);
  for (int b = 1; b < s.body_count(); ++b) {
    for (const model::BodyShape& shape : s.body(b).shapes) {
      const RigidTransform X = placed.X_WB(b) * shape.X_BS;
      double radius = 0.0, half = 0.0;
      if (const auto* capsule = std::get_if<geometry::Capsule>(&shape.shape)) {
        radius = capsule->radius_m, half = 0.5 * capsule->length_m;
      } else if (const auto* sphere = std::get_if<geometry::Sphere>(&shape.shape)) {
        radius = sphere->radius_m;
      }
      const Vec3 up = wishes.X_PTable->R.col(2);
      const double height =
          up.dot(X.p - wishes.X_PTable->p) - half * std::abs(up.dot(X.R.col(2))) - radius;
      if (height < 0.0) return true;
    }
  }
  return false;
}

void ExampleProposer::Impl::Contacts(artefact::Grasp* grasp) const {
  // The prop's frame is W: it is held.
  for (const HandContact& c : world->Contacts()) {
    if (c.prop != 0) continue;
    const RigidTransform X_WB = world->hand_in_world(0).X_WB(c.body);
    const int site = model::SiteAt(hand, c.body, -(X_WB.R.transpose() * c.normal_W));
    grasp->contacts.push_back({.site = site < 0 ? "" : hand.sites()[static_cast<size_t>(site)].name,
                               .body = c.body,
                               .p_P = c.p_W,
                               .normal_P = c.normal_W,
                               .f_onHand_P = c.f_onHand_W});
  }
}

/// "" with a grasp, or why there is none.
Result<std::string> ExampleProposer::Impl::Try(const GraspRequest& request, int number,
                                               const std::vector<PropSurfacePoint>& starts,
                                               artefact::Grasp* grasp) {
  CandidateRandom random(request.wishes.seed, static_cast<std::uint64_t>(number) + 1);
  RigidTransform X_WPalm;
  bool reached = false;
  HANDHOLD_TRY(world->Restore(built));
  const auto pick = [&]() -> const PropSurfacePoint& {
    return starts[std::min(
        starts.size() - 1,
        static_cast<size_t>(random.Unit() * static_cast<double>(starts.size())))];
  };
  for (int place = 0; place < options.places && !reached; ++place) {
    const PropSurfacePoint& at = pick();
    if (envelops) {
      const auto along =
          RunsAlong(surface, at.p_P - kInside_m * at.normal_P, at.normal_P, kAround_m);
      const bool rolls = !along || !roll_rad || random.Unit() < options.free_roll;
      X_WPalm = EnvelopingPose(at, along.value_or(at.normal_P.unitOrthogonal()), &random, rolls);
      HANDHOLD_ASSIGN(reached, ComeDown(at, &X_WPalm));
    } else {
      const double thickness = ThicknessAt(request.prop, at, kAcross_m);
      if (thickness >= kAcross_m) continue;
      X_WPalm = PinchingPose(at, thickness, &random);
      HANDHOLD_ASSIGN(reached, BackOff(&X_WPalm));
    }
    if (reached && UnderTable(request.wishes)) reached = false;
  }
  if (!reached) return std::string("not reached");

  HANDHOLD_TRY(Open(X_WPalm));
  HANDHOLD_TRY(world->HoldProp(0, true));
  const RigidTransform X_WH = X_WPalm * X_OpenPalm.Inverse();
  const Eigen::VectorXd target = world->Placed(0, example.q_squeeze, X_WH);
  const int steps = static_cast<int>(std::lround(options.close_s / options.step_s));
  for (int k = 0; k < steps; ++k) {
    if (!world->Pull(0, target, {}, gains()) || !world->Step(options.step_s))
      return std::string("lost");
  }
  const HandWorld::Grip grip = world->GripOn(0, 0);
  if (grip.contacts == 0) return std::string("not touched");
  if (grip.contacts < options.min_contacts) return std::string("loose");
  if (grip.deepest_m > options.depth_m) return std::string("too deep");
  if (UnderTable(request.wishes)) return std::string("table");
  *grasp = artefact::Grasp();
  Contacts(grasp);
  if (request.wishes.region && ShareInRegion(*grasp, *request.wishes.region) < options.region_share)
    return std::string("out of region");
  const Placement now = world->Unplaced(0, world->q(0));
  grasp->name = request.prop.name + "_" + example.name + "_" + std::to_string(number);
  grasp->proposer = "control";
  grasp->scripted = example.scripted;
  grasp->skeleton_name = hand.name();
  grasp->skeleton_hash = request.hand_hash;
  grasp->dof_names = hand.dof_names();
  // Pull leaves the palm where it was: the skeleton's world is where Unplaced says, for q and for
  // the target alike.
  grasp->X_PH = now.X_WH;
  grasp->q = now.q;
  grasp->q_open = world->Unplaced(0, world->Placed(0, example.q_open, X_WH)).q;
  grasp->q_squeeze = world->Unplaced(0, target).q;
  grasp->prop = request.prop.name;
  grasp->prop_hash = request.prop_hash;
  if (request.wishes.region) grasp->region = request.wishes.region->name;
  grasp->types = example.types;
  grasp->scores = {{"candidate", number}, {"grip_N", grip.normal_N}};
  return std::string();
}

ExampleProposer::ExampleProposer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ExampleProposer::~ExampleProposer() = default;
bool ExampleProposer::envelops() const { return impl_->envelops; }

Result<std::unique_ptr<ExampleProposer>> ExampleProposer::Create(
    const model::Skeleton& hand, const artefact::Grasp& example, const model::Prop& example_prop,
    const ExampleProposerOptions& options) {
  auto impl = std::make_unique<Impl>(options, hand, example);
  HANDHOLD_TRY(impl->Learn(example_prop));
  return std::unique_ptr<ExampleProposer>(new ExampleProposer(std::move(impl)));
}

Result<ProposerReport> ExampleProposer::Propose(const GraspRequest& request,
                                                const ProposerSink& sink) {
  const GraspWishes& wishes = request.wishes;
  HANDHOLD_TRY(CheckWishes(wishes));
  if (request.hand.dof_names() != impl_->hand.dof_names()) {
    return Error{ErrorCode::kInvalid, "the example is of hand '" + impl_->hand.name() +
                                          "', asked for is '" + request.hand.name() + "'"};
  }
  ProposerReport report;
  if (!TypeMatches(impl_->example.types, wishes.type)) {
    std::string has;
    for (const auto& [taxonomy, label] : impl_->example.types)
      has += (has.empty() ? "" : ", ") + taxonomy + ":" + label;
    report.no_match = "no example of type '" + wishes.type + "': '" + impl_->example.name +
                      "' is " + (has.empty() ? "of no type" : has);
    return report;
  }
  HANDHOLD_ASSIGN(impl_->surface, SampleSurface(request.prop, kSurfacePoints, wishes.seed));
  std::vector<PropSurfacePoint> starts;
  for (const PropSurfacePoint& s : impl_->surface) {
    if (wishes.region && (s.p_P - wishes.region->p_P).norm() > wishes.region->radius_m) continue;
    // Within 60 degrees of the side that the region is approached from.
    if (wishes.region && wishes.region->approach_P.norm() > 0.5 && impl_->envelops &&
        s.normal_P.dot(wishes.region->approach_P) > -0.5)
      continue;
    if (wishes.X_PTable && impl_->envelops && s.normal_P.dot(wishes.X_PTable->R.col(2)) < -0.5)
      continue;
    starts.push_back(s);
  }
  if (starts.empty()) {
    report.no_match = "no surface of '" + request.prop.name + "' lies in the region";
    return report;
  }
  HANDHOLD_TRY(impl_->Build(request.prop));
  const auto begin = std::chrono::steady_clock::now();
  for (int k = wishes.part; k < wishes.poses; k += wishes.parts) ++report.done.planned;
  for (int k = wishes.part; k < wishes.poses; k += wishes.parts) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (wishes.seconds > 0.0 && spent.count() > wishes.seconds) report.stopped = true;
    if (!report.stopped && sink.progress && !sink.progress(report.done)) report.stopped = true;
    if (report.stopped) break;
    artefact::Grasp grasp;
    HANDHOLD_ASSIGN(const std::string refused, impl_->Try(request, k, starts, &grasp));
    ++report.done.tried;
    if (!refused.empty()) {
      ++report.refused[refused];
      continue;
    }
    ++report.done.proposed;
    if (sink.propose && !sink.propose(std::move(grasp))) report.stopped = true;
  }
  if (sink.progress) sink.progress(report.done);
  return report;
}

}  // namespace handhold::synthesis
