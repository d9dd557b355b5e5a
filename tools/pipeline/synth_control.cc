#include "tools/pipeline/synth_control.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/artefact/describe.h"
#include "database/base/units.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/store/artefact_file.h"
#include "synthesis/grasp_control/approach.h"
#include "synthesis/grasp_control/posture.h"
#include "synthesis/grasp_control/setpoints.h"
#include "tools/pipeline/find_grasp.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/stage_models.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::Grasp;
using artefact::Motion;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

}  // namespace

struct SynthControlStep::Prepared {
  std::vector<std::string> chosen;
  artefact::Provenance provenance;
  std::optional<FoundSkeleton> skeleton, free;
  artefact::Stage stage;  ///< hand, prop and, if any, table
  const model::Prop& prop() const { return *stage.things.front().prop; }
  artefact::SetpointSet set;
  RigidTransform X_WGrip;
  synthesis::PalmPath path;
  synthesis::GraspRunOptions options;
};

// As the story says; of a track also its input.
Result<synthesis::PalmPath> SynthControlStep::PathTo(
    const StepContext& context, const RigidTransform& X_WGrip, const Vec3& way,
    std::vector<artefact::ProvenanceInput>* more) const {
  synthesis::PalmPath path;
  switch (story) {
    case PalmStory::kStill:
      path = {{0.0}, {X_WGrip}};
      break;
    case PalmStory::kReach: {
      const RigidTransform away{X_WGrip.R, X_WGrip.p + synthesis::kReachFrom_m * X_WGrip.R * way};
      path = synthesis::Reach(away, X_WGrip, 0.1, reach_s);
      if (lift_m != 0.0) {
        const RigidTransform up{X_WGrip.R, X_WGrip.p + Vec3(0, 0, lift_m)};
        synthesis::Append(up, wait_s, lift_s, &path);
      }
      break;
    }
    case PalmStory::kTrack: {
      HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                      FindArtefact(context.library, track, "motion"));
      HANDHOLD_ASSIGN(const Motion motion, LoadMotion(context.library, info.hash));
      if (motion.hands.empty() || motion.times.empty() || !motion.stage.hands[0].skeleton.there())
        return Error{ErrorCode::kInvalid, "motion " + ShortHash(info.hash) + " has no hand"};
      const model::Skeleton& led = *motion.stage.hands[0].skeleton;
      const int palm = synthesis::PalmOf(led);
      for (size_t i = 0; i < motion.times.size(); ++i) {
        path.times_s.push_back((motion.times[i] - motion.times.front()).seconds());
        path.X_WPalm.push_back(synthesis::PoseOfBody(
            led, motion.hands.front().q.col(static_cast<Eigen::Index>(i)), palm));
      }
      more->push_back({"track", info.hash, ""});
      break;
    }
  }
  return path;
}

Result<SynthControlStep::Prepared> SynthControlStep::Prepare(const StepContext& context) const {
  Prepared p;
  p.options = run;
  artefact::ProvenanceInput source_input;
  std::optional<Grasp> grasp;
  Result<FoundGrasp> found = FindGrasp(context, source);
  if (found) {
    grasp = found->grasp;
    source_input = found->input();
  } else {
    Result<store::ArtefactInfo> info = FindArtefact(context.library, source, "setpoint_set");
    if (!info) return found.error();
    HANDHOLD_ASSIGN(p.set,
                    store::Load<artefact::SetpointSet>(context.library.ArtefactPath(info->hash)));
    source_input = {"setpoints", info->hash, ""};
  }
  HandChoice choice = hand;
  if (choice.key.empty()) {
    choice.key = grasp
                     ? (grasp->skeleton_hash.empty() ? grasp->skeleton_name : grasp->skeleton_hash)
                     : (p.set.skeleton_hash.empty() ? p.set.skeleton_name : p.set.skeleton_hash);
    p.chosen.push_back("hand '" + choice.key + "' (" + (grasp ? "the grasp's" : "the setpoints'") +
                       " own)");
  }
  HANDHOLD_ASSIGN(p.skeleton, FindSkeleton(context, choice, &p.chosen));
  HandChoice free = choice;
  free.free_base = true;
  std::vector<std::string> quiet;
  HANDHOLD_ASSIGN(p.free, FindSkeleton(context, free, &quiet));
  const model::Skeleton& skeleton = p.skeleton->skeleton;

  const std::string prop_key = !prop.empty() ? prop
                               : grasp ? (grasp->prop_hash.empty() ? grasp->prop : grasp->prop_hash)
                                       : "";
  if (prop_key.empty()) return Error{ErrorCode::kInvalid, "setpoints say no prop: name one"};
  artefact::StageHand staged;
  staged.skeleton = {choice.key, p.skeleton->hash,
                     std::make_shared<const model::Skeleton>(skeleton)};
  staged.q = skeleton.ZeroConfiguration();
  p.stage.Add(std::move(staged));
  p.stage.gravity_W = gravity_W;
  artefact::StageThing thing{.name = "prop",
                             .is = artefact::StageThing::Is::kFree,
                             .metres_per_unit = metres_per_unit,
                             .X_WP = X_WP,
                             .mass_kg = mass_kg,
                             .friction = friction};
  thing.prop.key = prop_key;
  HANDHOLD_TRY(FindStaged(context, &p.chosen, &thing));
  thing.name = thing.prop->name;
  p.stage.Add(std::move(thing));

  if (grasp) {
    const bool mirrored = grasp->skeleton_hash.empty() && choice.side == "left";
    if (mirrored) {
      HANDHOLD_ASSIGN(const model::Skeleton right, model::LoadHand(grasp->skeleton_name));
      grasp = synthesis::MirroredGrasp(right, *grasp);
    }
    HANDHOLD_ASSIGN(p.set, synthesis::SetpointsOf(skeleton, *grasp));
  }
  if (stiffness_per_s2 > 0) p.set.stiffness_per_s2 = stiffness_per_s2;
  if (damping_per_s > 0) p.set.damping_per_s = damping_per_s;
  if (limit_stiffness_per_s2 > 0) p.set.limit_stiffness_per_s2 = limit_stiffness_per_s2;
  HANDHOLD_TRY(synthesis::CheckSetpoints(skeleton, p.set));

  RigidTransform X_PGrip;
  if (X_PPalm) {
    X_PGrip = *X_PPalm;
  } else if (!grasp) {
    return Error{ErrorCode::kInvalid,
                 "setpoints say no place: give the palm's pose in the prop when it grips"};
  } else {
    X_PGrip = grasp->X_PH * synthesis::PoseOfBody(skeleton, grasp->q, synthesis::PalmOf(skeleton));
    if (prop_key != grasp->prop || choice.scale != 1.0) {
      if (prop_key != grasp->prop) {
        // The middle of the new prop where that of the example's was.
        HANDHOLD_ASSIGN(const FoundProp own,
                        FindProp(context, grasp->prop_hash.empty() ? grasp->prop : grasp->prop_hash,
                                 metres_per_unit, &quiet));
        X_PGrip.p += model::BoundsOf(p.prop()).centre() - model::BoundsOf(own.prop).centre();
      }
      HANDHOLD_ASSIGN(X_PGrip, synthesis::ClosedIn(skeleton, grasp->q_open, p.prop(), X_PGrip));
      p.chosen.push_back("palm 2 mm from the prop along the example's direction");
    }
  }
  p.X_WGrip = X_WP * X_PGrip;
  std::vector<artefact::ProvenanceInput> more;
  Vec3 way = Vec3::UnitZ();
  if (story == PalmStory::kReach) {
    HANDHOLD_ASSIGN(way, synthesis::ClearWay(skeleton, grasp ? grasp->q_open : p.set.q_neutral,
                                             p.prop(), X_PGrip));
  }
  HANDHOLD_ASSIGN(p.path, PathTo(context, p.X_WGrip, way, &more));
  if (table) {
    artefact::StageThing below = artefact::TableUnder(p.stage.things.front());
    HANDHOLD_TRY(FindStaged(context, &p.chosen, &below));
    more.push_back({"table", below.prop.hash, below.name});
    p.stage.Add(std::move(below));
  }
  p.provenance = ProvenanceOf("synth.control", synthesis::kGraspControlVersion);
  p.provenance.inputs = {source_input,
                         p.skeleton->input(),
                         p.free->input("hand"),
                         {"prop", p.stage.things.front().prop.hash, p.prop().name}};
  p.provenance.inputs.insert(p.provenance.inputs.end(), more.begin(), more.end());
  HANDHOLD_ASSIGN(
      p.provenance.parameters_json,
      Parameters(Json::Object({{"things", artefact::ToJson(p.stage.things)},
                               {"gravity_W", artefact::ToJson(gravity_W)},
                               {"X_WGrip", artefact::ToJson(p.X_WGrip)},
                               {"path", artefact::ToJson(p.path)},
                               {"setpoints", artefact::Writable(artefact::ToJson(p.set))},
                               {"run", artefact::ToJson(p.options)},
                               {"judge_version", synthesis::kVerdictVersion}})));
  return p;
}

Result<SynthControlStep> SynthControlStep::Play(
    const StepContext& context, const std::function<bool(synthesis::GraspRun&)>& tick) const {
  HANDHOLD_ASSIGN(const Prepared p, Prepare(context));
  HANDHOLD_ASSIGN(const auto running,
                  synthesis::GraspRun::Create({p.stage, p.set, p.X_WGrip, p.path}, p.options));
  while (!running->done()) {
    HANDHOLD_TRY(running->Step());
    if (!tick(*running)) break;
  }
  SynthControlStep played = *this;
  played.run.keys = running->keys();
  played.run.seconds = std::max(running->time_s(), p.options.step_s);
  return played;
}

Result<StepResult> SynthControlStep::Run(const StepContext& context) const {
  HANDHOLD_ASSIGN(Prepared p, Prepare(context));
  return RunStep(context, p.provenance, p.chosen, [&]() -> Result<Motion> {
    HANDHOLD_ASSIGN(const auto running,
                    synthesis::GraspRun::Create({p.stage, p.set, p.X_WGrip, p.path}, p.options));
    std::int64_t steps = 0;
    Status alive;
    while (!running->done() && alive) {
      alive = running->Step();
      if (++steps % 50 == 0)
        HANDHOLD_TRY(Report(context, running->time_s() / p.options.seconds, "synth.control"));
    }
    Motion motion = running->TakeMotion();
    motion.stage.hands.front().skeleton.hash = p.free->hash;
    const double begin_s = std::min(running->let_go_s().value_or(0.5 * p.options.seconds) + 0.3,
                                    (motion.times.back() - motion.times.front()).seconds());
    if (alive) {
      synthesis::VerdictOptions judge;
      judge.object = motion.stage.judged = motion.objects.front().name;
      judge.hold = {Timestamp::FromNanoseconds(std::llround(begin_s * 1e9)), motion.times.back()};
      // P1's: a hand of springs sways, and that is no slip.
      judge.slide_m = 0.05;
      motion.stage.hold = judge.hold;
      HANDHOLD_ASSIGN(motion.verdict, synthesis::JudgeHold(p.free->skeleton, motion, judge));
    }
    double peak = 0.0, grip = 0.0;
    int frames = 0;
    const Eigen::VectorXd& normal = motion.FindSeries("grip")->values;
    for (Eigen::Index i = 0; i < normal.size(); ++i) {
      peak = std::max(peak, normal[i]);
      if ((motion.times[static_cast<size_t>(i)] - motion.times.front()).seconds() >= begin_s)
        grip += normal[i], ++frames;
    }
    const artefact::MotionObject& object = motion.objects.front();
    motion.summary.figures = {
        {"peak_force_N", peak},
        {"grip_N", frames > 0 ? grip / frames : 0.0},
        {"lifted_m", object.X_WP.back().p.z() - object.X_WP.front().p.z()},
        {"let_go_s", running->let_go_s().value_or(std::numeric_limits<double>::quiet_NaN())},
        {"gain_factor", p.options.controller.gain_factor},
        {"inertia_floor_kgm2", p.options.controller.inertia_floor_kgm2},
        {"alpha", p.options.alpha},
        {"mass_kg", *p.stage.things.front().mass_kg},
        {"friction", *p.stage.things.front().friction}};
    return motion;
  });
}

}  // namespace handhold::pipeline
