#include "tools/pipeline/synth_grip.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "database/artefact/describe.h"
#include "database/base/names.h"
#include "synthesis/interaction/placement.h"
#include "synthesis/interaction/retarget.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/grip_script.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::InteractionTrajectory;
using artefact::Motion;
using artefact::ProvenanceInput;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

/// 1 x 1 m, its top in the middle below the object; so thick that nothing falls through it.
model::Prop Table() {
  model::Prop table;
  table.name = "table";
  table.source = "Ours: a fixed table of 1 x 1 m; T is the middle of its top, z up.";
  table.shapes.push_back(
      {"top", RigidTransform::Translation(Vec3(0, 0, -0.5)), geometry::Box{Vec3(1, 1, 1)}, "ours"});
  return table;
}

/// A mesh file and a fixed prop say no inertia: then its shapes are solid, an open mesh as its
/// hull.
Status GiveMass(model::Prop* prop, double mass_kg) {
  if (!(prop->mass.mass_kg > 0.0)) {
    std::vector<geometry::MassProperties> parts;
    for (const model::PropShape& shape : prop->shapes) {
      HANDHOLD_ASSIGN(const geometry::MassProperties part,
                      geometry::MassOf(shape.shape, 1000.0, geometry::OpenMesh::kUseHull));
      parts.push_back(geometry::Transformed(shape.X_PS, part));
    }
    prop->mass = geometry::Composed(parts);
    if (!(prop->mass.mass_kg > 0.0)) {
      return Error{ErrorCode::kInvalid, "'" + prop->name + "' has no volume: it cannot be free"};
    }
  }
  prop->mass = geometry::WithTotalMass(prop->mass, mass_kg);
  return {};
}

Result<geometry::Shape> ScaledShape(const geometry::Shape& shape, double factor) {
  geometry::Shape out = shape;
  if (auto* sphere = std::get_if<geometry::Sphere>(&out)) {
    sphere->radius_m *= factor;
  } else if (auto* capsule = std::get_if<geometry::Capsule>(&out)) {
    capsule->radius_m *= factor, capsule->length_m *= factor;
  } else if (auto* box = std::get_if<geometry::Box>(&out)) {
    box->size_m *= factor;
  } else if (auto* cylinder = std::get_if<geometry::Cylinder>(&out)) {
    cylinder->radius_m *= factor, cylinder->length_m *= factor;
  } else if (const auto* hull = std::get_if<geometry::ConvexHull>(&shape)) {
    std::vector<Vec3> points = hull->surface->mesh().vertices;
    for (Vec3& p : points) p *= factor;
    HANDHOLD_ASSIGN(out, geometry::MakeConvexHull(points));
  } else {
    geometry::Mesh mesh = std::get<geometry::TriangleMesh>(shape).surface->mesh();
    for (Vec3& p : mesh.vertices) p *= factor;
    HANDHOLD_ASSIGN(out, geometry::MakeTriangleMesh(std::move(mesh)));
  }
  return out;
}

/// Every length times `factor`; the mass stays.
Result<model::Prop> ScaledProp(model::Prop prop, double factor) {
  for (model::PropShape& shape : prop.shapes) {
    HANDHOLD_ASSIGN(shape.shape, ScaledShape(shape.shape, factor));
    shape.X_PS.p *= factor;
  }
  prop.mass.p_BCom *= factor;
  prop.mass.I_BCom_B *= factor * factor;
  for (model::GraspRegion& region : prop.grasp_regions)
    region.p_P *= factor, region.radius_m *= factor;
  for (model::PropMarker& marker : prop.markers) marker.p_P *= factor;
  char note[48];
  std::snprintf(note, sizeof note, "; scaled by %g", factor);
  prop.source += note;
  return prop;
}

// ---------------------------------------------------------------------------------------------
// Scenes

/// What is on stage, and under which hashes it is kept.
struct Stage {
  synthesis::ReplayScene scene;
  std::vector<std::string> fixed_hashes, object_hashes;
  std::optional<size_t> judged;  ///< into scene.objects
  double table_top_m = std::numeric_limits<double>::quiet_NaN();
};

Result<FoundProp> Dressed(const StepContext& context, FoundProp found, double scale,
                          const std::optional<double>& mass_kg,
                          const std::optional<double>& friction) {
  if (scale != 1.0) {
    HANDHOLD_ASSIGN(found.prop, ScaledProp(std::move(found.prop), scale));
    HANDHOLD_ASSIGN(found, KeepProp(context, found.prop));
  }
  if (mass_kg) HANDHOLD_TRY(GiveMass(&found.prop, *mass_kg));
  if (friction) found.prop.friction = *friction;
  return found;
}

Status AddTable(const StepContext& context, const Vec3& p_W, Stage* stage) {
  HANDHOLD_ASSIGN(const FoundProp table, KeepProp(context, Table()));
  stage->scene.fixed.insert(stage->scene.fixed.begin(),
                            {table.prop, RigidTransform::Translation(p_W)});
  stage->fixed_hashes.insert(stage->fixed_hashes.begin(), table.hash);
  stage->table_top_m = p_W.z();
  return {};
}

Status AddObject(const StepContext& context, const SceneObject& object, const Script& script,
                 std::vector<std::string>* chosen, Stage* stage) {
  HANDHOLD_ASSIGN(FoundProp found, FindProp(context, object.prop, object.metres_per_unit, chosen));
  HANDHOLD_ASSIGN(
      found, Dressed(context, std::move(found), object.scale, object.mass_kg, object.friction));
  const RigidTransform X = object.X_WP.value_or(script.X_WProp.value_or(RigidTransform()));
  if (object.kind == SceneObject::Kind::kFixed) {
    stage->scene.fixed.push_back({found.prop, X, object.name});
    stage->fixed_hashes.push_back(found.hash);
    return {};
  }
  synthesis::ReplayObject body{.prop = found.prop, .X_WP = X, .name = object.name};
  if (object.kind == SceneObject::Kind::kPivot) body.pivot = object.pivot;
  stage->scene.objects.push_back(std::move(body));
  stage->object_hashes.push_back(found.hash);
  return {};
}

Result<Stage> StageOf(const StepContext& context, const SceneFile& scene, const Script& script,
                      std::vector<std::string>* chosen) {
  Stage stage;
  for (const SceneObject& object : scene.objects) {
    if (const Status s = AddObject(context, object, script, chosen, &stage); !s)
      return s.error().Within("object '" + object.name + "'");
  }
  for (size_t i = 0; i < stage.scene.objects.size() && !stage.judged; ++i) {
    const synthesis::ReplayObject& object = stage.scene.objects[i];
    if (!object.pivot && (scene.judge.empty() || object.name == scene.judge)) stage.judged = i;
  }
  if (scene.table_top_m) {
    Vec3 p_W(0, 0, *scene.table_top_m);
    if (!scene.objects.empty() && scene.objects.front().X_WP)
      p_W.head<2>() = scene.objects.front().X_WP->p.head<2>();
    HANDHOLD_TRY(AddTable(context, p_W, &stage));
  }
  return stage;
}

/// One free prop, on a table or in the air.
Result<Stage> StageOf(const StepContext& context, const SynthGripStep& step, const Script& script,
                      std::vector<std::string>* chosen) {
  FoundProp found;
  if (step.prop.empty()) {
    if (script.prop_hash.empty()) {
      return Error{ErrorCode::kInvalid,
                   "the trajectory was captured: say what it shall meet, a prop or a scene"};
    }
    if (script.prop) {
      found = *script.prop;
    } else {
      HANDHOLD_ASSIGN(found, LoadPropArtefact(context.library, script.prop_hash));
    }
    chosen->push_back("prop '" + found.prop.name + "' (the one it was scripted for)");
  } else {
    HANDHOLD_ASSIGN(found, FindProp(context, step.prop, step.metres_per_unit, chosen));
  }
  HANDHOLD_ASSIGN(found,
                  Dressed(context, std::move(found), step.prop_scale, step.mass_kg, std::nullopt));
  if (!step.X_WProp && !script.X_WProp) {
    return Error{ErrorCode::kInvalid,
                 "the trajectory was captured: say where '" + found.prop.name + "' stands"};
  }
  Stage stage;
  const RigidTransform X = step.X_WProp ? *step.X_WProp : *script.X_WProp;
  stage.scene.objects.push_back({.prop = found.prop, .X_WP = X});
  stage.object_hashes.push_back(found.hash);
  stage.judged = 0;
  if (step.on_table) {
    const double low_m = model::LowestAlong(found.prop, X, Vec3::UnitZ());
    HANDHOLD_TRY(AddTable(context, Vec3(X.p.x(), X.p.y(), low_m), &stage));
  } else {
    return Error{ErrorCode::kInvalid, "nothing carries '" + found.prop.name +
                                          "': it wants a table, or a scene that says what does"};
  }
  return stage;
}

Json Described(const Stage& stage) {
  const auto prop = [](const std::string& name, const model::Prop& p, const RigidTransform& X,
                       const char* is) {
    return Json::Object({{"name", name},
                         {"prop", p.name},
                         {"X_WP", artefact::ToJson(X)},
                         {"is", is},
                         {"mass_kg", p.mass.mass_kg},
                         {"friction", p.friction}});
  };
  Json list = Json::Array();
  for (const auto& fixed : stage.scene.fixed)
    list.Push(prop(fixed.name, fixed.prop, fixed.X_WP, "fixed"));
  for (const synthesis::ReplayObject& object : stage.scene.objects) {
    Json json = prop(object.name, object.prop, object.X_WP, object.pivot ? "pivot" : "free");
    if (object.pivot) {
      json.Set("axis_P", artefact::ToJson(object.pivot->axis_P));
      json.Set("p_P", artefact::ToJson(object.pivot->p_P));
      json.Set("damping_Nms_per_rad", object.pivot->damping_Nms_per_rad);
    }
    list.Push(std::move(json));
  }
  return list;
}

// ---------------------------------------------------------------------------------------------
// Figures

double PeakForce(const Motion& motion) {
  std::vector<double> sum(motion.times.size(), 0.0);
  for (const artefact::ContactRow& row : motion.rows) {
    if (motion.touches[static_cast<size_t>(row.touch)].a.is_hand())
      sum[static_cast<size_t>(row.frame)] += row.f_onA_W.norm();
  }
  return *std::max_element(sum.begin(), sum.end());
}

double TurnedAbout(const artefact::MotionObject& object, const Vec3& axis_W) {
  double angle = 0.0;
  for (size_t k = 1; k < object.X_WP.size(); ++k)
    angle +=
        (object.X_WP[k - 1].R * geometry::Log(object.X_WP[k - 1].R.transpose() * object.X_WP[k].R))
            .dot(axis_W);
  return angle;
}

void Summarise(const Stage& stage, const std::optional<TimeRange>& hold, Motion* motion) {
  auto& figures = motion->summary.figures;
  figures["peak_force_N"] = PeakForce(*motion);
  figures["lcp_failures"] = synthesis::UnsolvedSteps(*motion);
  if (std::isfinite(stage.table_top_m)) figures["table_top_m"] = stage.table_top_m;
  const size_t first = stage.scene.fixed.size();
  for (size_t i = 0; i < stage.scene.objects.size(); ++i) {
    if (!stage.scene.objects[i].pivot) continue;
    const artefact::MotionObject& object = motion->objects[first + i];
    figures["turned_rad." + object.name] =
        TurnedAbout(object, synthesis::PivotInWorld(stage.scene.objects[i]).axis_W);
  }
  if (stage.judged && hold) {
    const artefact::MotionObject& object = motion->objects[first + *stage.judged];
    const auto frame = [&](Timestamp t) {
      const auto at = std::lower_bound(motion->times.begin(), motion->times.end(), t);
      return static_cast<size_t>(std::distance(motion->times.begin(), at)) -
             (at == motion->times.end() ? 1 : 0);
    };
    const size_t begin = frame(hold->begin), end = frame(hold->end), half = (begin + end) / 2;
    figures["lifted_m"] = object.pose(end).p.z() - object.pose(0).p.z();
    if (end > half) {
      figures["creep_m_per_s"] = (object.pose(end).p - object.pose(half).p).norm() /
                                 (motion->times[end] - motion->times[half]).seconds();
    }
    for (size_t i = 0; i < stage.scene.objects.size(); ++i) {
      if (i == *stage.judged || stage.scene.objects[i].pivot) continue;
      const artefact::MotionObject& other = motion->objects[first + i];
      const RigidTransform at_begin = object.pose(begin).Inverse() * other.pose(begin);
      double shift_m = 0.0;
      for (size_t k = begin; k <= end; ++k) {
        const RigidTransform now = object.pose(k).Inverse() * other.pose(k);
        shift_m = std::max(shift_m, (now.p - at_begin.p).norm());
      }
      figures["shift_m." + other.name] = shift_m;
    }
  }
  if (synthesis::UnsolvedSteps(*motion) > 0) {
    motion->summary.issues.push_back(
        {"contact", Severity::kLoss,
         std::to_string(synthesis::UnsolvedSteps(*motion)) + " steps of contact were not solved"});
  }
}

bool HasFreeRoot(const model::Skeleton& hand) {
  return hand.body_count() > 1 && hand.body(1).joint.type == model::JointType::kFree;
}

synthesis::ReplayHand Playing(const Script& script, bool touches_itself) {
  synthesis::ReplayHand hand{&script.skeleton.skeleton, &script.trajectory};
  if (!HasFreeRoot(script.skeleton.skeleton))
    hand.root_compliance_m_per_N = synthesis::StepOptions{}.root_compliance_m_per_N;
  hand.meet_self = touches_itself;
  return hand;
}

/// Time constants that were asked for, by velocity; NaN: the trajectory's.
Result<Eigen::VectorXd> TimeConstants(const Script& script,
                                      const std::map<std::string, double>& asked_s) {
  const model::Skeleton& hand = script.skeleton.skeleton;
  Eigen::VectorXd T_s = Eigen::VectorXd::Constant(asked_s.empty() ? 0 : hand.nv(),
                                                  std::numeric_limits<double>::quiet_NaN());
  if (!asked_s.empty() && script.trajectory.q_reference_dynamic.cols() == 0) {
    return Error{ErrorCode::kInvalid,
                 "time constants are of the damped form, and the trajectory has no dynamic "
                 "reference"};
  }
  for (const auto& [dof, T] : asked_s) {
    const int d = hand.FindDof(dof);
    if (d < 0) {
      return Error{ErrorCode::kInvalid, "time constant: '" + hand.name() + "' has no joint '" +
                                            dof + "'" + DidYouMean(dof, hand.dof_names())};
    }
    T_s[d] = T;
  }
  return T_s;
}

/// A push of the closing grip that is smaller than this is none.
constexpr double kNoPush_m = 5e-4;

/// Section 8.3: pushes the judged object to where the first hand's grip expects it; says how far,
/// and whether anything was won.
Status PlaceJudged(const Script& script, const synthesis::ReplayOptions& options,
                   const synthesis::PlacementOptions& placement, Stage* stage,
                   artefact::MotionSummary* summary) {
  if (!stage->judged) {
    return Error{ErrorCode::kInvalid,
                 "nothing to place: no object is free, or the one that is judged is not"};
  }
  synthesis::ReplayObject& object = stage->scene.objects[*stage->judged];
  HANDHOLD_ASSIGN(const synthesis::PlacedObject found,
                  synthesis::PlaceObject(script.skeleton.skeleton, script.trajectory, stage->scene,
                                         *stage->judged, options, placement));
  const double before_m = found.rounds.front().shift_m, after_m = found.rounds.back().shift_m;
  summary->figures["placed_m"] = (found.X_WP.p - object.X_WP.p).norm();
  summary->figures["placed_turn_rad"] =
      geometry::Log(object.X_WP.R.transpose() * found.X_WP.R).norm();
  summary->figures["pushed_before_m"] = before_m;
  summary->figures["pushed_after_m"] = after_m;
  object.X_WP = found.X_WP;
  if (before_m < kNoPush_m || after_m < 0.5 * before_m) return {};
  char text[200];
  std::snprintf(
      text, sizeof text,
      "placing won nothing: the closing grip pushes '%s' by %.1f mm, and by %.1f mm as it "
      "stood: it tips or turns instead of sliding; grip it lower, or place it by hand",
      object.prop.name.c_str(), 1e3 * after_m, 1e3 * before_m);
  summary->issues.push_back({"placement", Severity::kWarning, text});
  return {};
}

}  // namespace

Result<StepResult> SynthGripStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_TRY(synthesis::CheckGrip(grip));
  std::vector<Script> scripts;
  HANDHOLD_ASSIGN(Script first, FindScript(context, trajectory, &chosen));
  scripts.push_back(std::move(first));
  std::vector<ProvenanceInput> inputs;
  HANDHOLD_TRY(Complete(context, borrow, &scripts[0], &inputs, &chosen));
  if (!hand.key.empty() || hand.scale != 1.0) {
    HandChoice choice = hand;
    if (choice.key.empty())
      choice.key = scripts[0].prop ? scripts[0].skeleton.name : scripts[0].skeleton.hash;
    HANDHOLD_ASSIGN(FoundSkeleton other, FindSkeleton(context, choice, &chosen));
    HANDHOLD_ASSIGN(
        scripts[0].trajectory,
        synthesis::OntoHand(scripts[0].skeleton.skeleton, scripts[0].trajectory, other.skeleton));
    scripts[0].skeleton = std::move(other);
  }
  if (scene) {
    for (const std::string& key : scene->hands) {
      HANDHOLD_ASSIGN(Script script, FindScript(context, key, &chosen));
      HANDHOLD_TRY(Complete(context, "", &script, &inputs, &chosen));
      scripts.push_back(std::move(script));
    }
  }
  HANDHOLD_ASSIGN(Stage stage, scene ? StageOf(context, *scene, scripts[0], &chosen)
                                     : StageOf(context, *this, scripts[0], &chosen));
  const std::optional<TimeRange> hold = scene && scene->hold ? scene->hold : scripts[0].hold;

  artefact::Provenance provenance = ProvenanceOf("synth.grip", synthesis::kReplayVersion);
  provenance.inputs = {{"trajectory", scripts[0].hash, ""}, scripts[0].skeleton.input()};
  for (size_t i = 1; i < scripts.size(); ++i) {
    provenance.inputs.push_back({"trajectory_" + std::to_string(i + 1), scripts[i].hash, ""});
    provenance.inputs.push_back(scripts[i].skeleton.input("skeleton_" + std::to_string(i + 1)));
  }
  for (size_t i = 0; i < stage.scene.objects.size(); ++i) {
    const std::string role = i == 0 ? "prop" : "prop_" + std::to_string(i + 1);
    provenance.inputs.push_back({role, stage.object_hashes[i], stage.scene.objects[i].prop.name});
  }
  for (size_t i = 0; i < stage.scene.fixed.size(); ++i) {
    const std::string& name = stage.scene.fixed[i].prop.name;
    provenance.inputs.push_back({name == "table" ? "table" : "fixed_" + std::to_string(i + 1),
                                 stage.fixed_hashes[i], name});
  }
  provenance.inputs.insert(provenance.inputs.end(), inputs.begin(), inputs.end());
  const bool touches_itself = scene && scene->touches_itself;
  const bool damped = std::all_of(scripts.begin(), scripts.end(), [](const Script& s) {
    return s.trajectory.q_reference_dynamic.cols() > 0;
  });
  HANDHOLD_ASSIGN(const Eigen::VectorXd T_s, TimeConstants(scripts[0], time_constant_s));
  synthesis::VerdictOptions judged = judge;
  if (hold) judged.hold = *hold;
  HANDHOLD_ASSIGN(provenance.parameters_json,
                  Parameters(Json::Object({{"scene", Described(stage)},
                                           {"friction", friction},
                                           {"contact_margin_m", margin_m},
                                           {"damped", damped},
                                           {"touches_itself", touches_itself},
                                           {"step", artefact::ToJson(step)},
                                           {"grip", artefact::ToJson(grip)},
                                           {"time_constant_s", artefact::ToJson(time_constant_s)},
                                           {"placed", place ? artefact::ToJson(placement) : Json()},
                                           {"judge_version", synthesis::kVerdictVersion},
                                           {"judge", artefact::ToJson(judged)}})));
  return RunStep(context, std::move(provenance), chosen, [&]() -> Result<Motion> {
    synthesis::ReplayOptions options;
    options.form = damped ? synthesis::ReplayForm::kDamped : synthesis::ReplayForm::kQuasiStatic;
    options.friction = friction;
    options.margin_m = margin_m;
    options.step = step;
    options.grip = grip;
    options.progress = [&](double share) {
      return Report(context, share, "synth.grip").has_value();
    };
    std::vector<synthesis::ReplayHand> hands;
    for (const Script& script : scripts) hands.push_back(Playing(script, touches_itself));
    hands.front().time_constant_s = T_s;
    artefact::MotionSummary placed;
    if (place) HANDHOLD_TRY(PlaceJudged(scripts[0], options, placement, &stage, &placed));
    HANDHOLD_ASSIGN(Motion motion, synthesis::ReplayInteraction(hands, stage.scene, options));
    motion.summary.figures.merge(placed.figures);
    motion.summary.issues.insert(motion.summary.issues.end(), placed.issues.begin(),
                                 placed.issues.end());
    for (size_t i = 0; i < scripts.size(); ++i)
      motion.hands[i].skeleton_hash = scripts[i].skeleton.hash;
    std::vector<std::string> hashes = stage.fixed_hashes;
    hashes.insert(hashes.end(), stage.object_hashes.begin(), stage.object_hashes.end());
    for (size_t i = 0; i < hashes.size(); ++i) motion.objects[i].prop_hash = hashes[i];
    if (stage.judged && hold) {
      judged.object = motion.objects[stage.scene.fixed.size() + *stage.judged].name;
      HANDHOLD_ASSIGN(motion.verdict,
                      synthesis::JudgeHold(scripts[0].skeleton.skeleton, motion, judged));
    } else {
      motion.verdict.cause = stage.judged ? "no time is named in which it is to be held"
                                          : "no thing is free to be held or dropped";
    }
    for (const std::string& sentence : chosen)
      if (sentence.find(" borrowed (") != std::string::npos)
        motion.summary.issues.push_back({"compliance", Severity::kNote, sentence});
    Summarise(stage, hold, &motion);
    return motion;
  });
}

}  // namespace handhold::pipeline
