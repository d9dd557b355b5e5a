#include "tools/pipeline/synth_grip.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "database/artefact/describe.h"
#include "database/artefact/reference_file.h"
#include "database/base/names.h"
#include "database/recording/pose_text.h"
#include "database/store/artefact_file.h"
#include "database/store/query.h"
#include "database/text/json_view.h"
#include "fitting/compliance/reference_trajectory.h"
#include "synthesis/interaction/placement.h"
#include "synthesis/interaction/retarget.h"
#include "tools/pipeline/fit_compliance.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::InteractionTrajectory;
using artefact::Motion;
using artefact::ProvenanceInput;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

/// Open fingertips off the faces of a prop that is no box: narrow ones stand close to its rest.
constexpr double kFacesClearance_m = 0.008;

/// Raised when reading a shipped reference gives something else.
constexpr int kImportReferenceVersion = 1;

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
// Trajectories

/// A trajectory that is played, with what it was made for.
struct Script {
  FoundSkeleton skeleton;
  std::string hash = {};
  InteractionTrajectory trajectory = {};
  std::string prop_hash = {};          ///< empty: made for none
  std::optional<FoundProp> prop = {};  ///< of one that ships: a dry run keeps none to load
  std::optional<RigidTransform> X_WProp = {};
  std::optional<TimeRange> hold = {};
  bool captured = false;
};

text::Json ParametersOf(const Json& what, const RigidTransform& X_WProp, const TimeRange& hold) {
  Json json = what;
  json.Set("X_WProp", artefact::ToJson(X_WProp));
  json.Set("hold_ns", artefact::ToJson(hold));
  return json;
}

/// A reference that ships, kept as an artefact.
Result<Script> Import(const StepContext& context, const std::string& name) {
  HANDHOLD_ASSIGN(const artefact::ReferenceFile file, artefact::LoadLibraryReference(name));
  std::vector<std::string> chosen;
  HandChoice hand;
  hand.key = file.hand;
  HANDHOLD_ASSIGN(FoundSkeleton skeleton, FindSkeleton(context, hand, &chosen));
  Script script{.skeleton = std::move(skeleton)};
  HANDHOLD_ASSIGN(const FoundProp prop, FindProp(context, file.prop, 1.0, &chosen));
  artefact::Provenance provenance = ProvenanceOf("import.reference", kImportReferenceVersion);
  HANDHOLD_ASSIGN(const std::string bytes,
                  text::CanonicalJson(artefact::Writable(artefact::ToJson(file.trajectory))));
  provenance.inputs = {
      {"file", Sha256Of(bytes).ToHex(), name}, script.skeleton.input(), prop.input("prop")};
  HANDHOLD_ASSIGN(
      provenance.parameters_json,
      Parameters(ParametersOf(Json::Object({{"name", name}}), file.X_WProp, file.hold)));
  script.trajectory = file.trajectory;
  script.trajectory.skeleton_hash = script.skeleton.hash;
  script.trajectory.provenance = provenance;
  HANDHOLD_ASSIGN(
      const StepResult kept,
      RunStep(StepContext{context.library, {}, context.tool, context.dry_run}, provenance, {},
              [&]() -> Result<InteractionTrajectory> { return script.trajectory; }));
  script.hash = kept.hash;
  script.prop_hash = prop.hash;
  script.prop = prop;
  script.X_WProp = file.X_WProp;
  if (file.hold.length() > Duration()) script.hold = file.hold;
  return script;
}

Result<Script> Load(const StepContext& context, const store::ArtefactInfo& info) {
  HANDHOLD_ASSIGN(const ProvenanceInput hand, RequireInput(info, "skeleton"));
  HANDHOLD_ASSIGN(FoundSkeleton skeleton, LoadSkeletonArtefact(context.library, hand.hash));
  Script script{.skeleton = std::move(skeleton), .hash = info.hash};
  HANDHOLD_ASSIGN(script.trajectory,
                  store::Load<InteractionTrajectory>(context.library.ArtefactPath(info.hash)));
  const std::string& step = info.provenance.step;
  script.captured = step != "synth.reference" && step != "import.reference";
  if (script.captured) return script;
  HANDHOLD_ASSIGN(const ProvenanceInput prop, RequireInput(info, "prop"));
  script.prop_hash = prop.hash;
  const std::string source = "parameters of " + info.hash;
  HANDHOLD_ASSIGN(const Json json,
                  text::ParseJson(info.provenance.parameters_json, {.source = source}));
  const text::JsonView view(json, source);
  HANDHOLD_ASSIGN(const text::JsonView X, view.At("X_WProp"));
  RigidTransform X_WProp;
  HANDHOLD_TRY(artefact::describe::TakeJson(X, X_WProp));
  script.X_WProp = X_WProp;
  HANDHOLD_ASSIGN(const auto hold, view.Get<std::vector<int64_t>>("hold_ns"));
  if (hold.size() == 2 && hold[1] > hold[0])
    script.hold =
        TimeRange{Timestamp::FromNanoseconds(hold[0]), Timestamp::FromNanoseconds(hold[1])};
  return script;
}

/// A reference of ours by name, an artefact, or a clip's newest trajectory.
Result<Script> FindScript(const StepContext& context, const std::string& key,
                          std::vector<std::string>* chosen) {
  HANDHOLD_ASSIGN(const std::vector<std::string> names, artefact::ReferenceNames());
  if (std::find(names.begin(), names.end(), key) != names.end()) return Import(context, key);
  const auto info = FindArtefact(context.library, key, "interaction_trajectory");
  if (info) return Load(context, *info);
  if (info.error().code != ErrorCode::kNotFound) return info.error();
  const auto clip = FindClip(context, key);
  if (!clip) {
    if (clip.error().code != ErrorCode::kNotFound) return clip.error();
    return Error{ErrorCode::kNotFound, "no trajectory '" + key +
                                           "': neither a clip, nor an artefact, nor a scripted "
                                           "reference of ours" +
                                           DidYouMean(key, names)};
  }
  HANDHOLD_ASSIGN(
      const store::ArtefactInfo fitted,
      FindResult(context, "", "interaction_trajectory", *clip, "fit compliance", chosen));
  return Load(context, fitted);
}

/// Whose compliances are lent: an artefact, a clip, or the first clip of a query that has a
/// trajectory.
Result<store::ArtefactInfo> FindLender(const StepContext& context, const std::string& key,
                                       std::vector<std::string>* chosen) {
  auto info = FindArtefact(context.library, key, "interaction_trajectory");
  if (info || info.error().code != ErrorCode::kNotFound) return info;
  if (const auto clip = FindClip(context, key))
    return FindResult(context, "", "interaction_trajectory", *clip, "fit compliance", chosen);
  const auto query = store::Query::Parse(key, context.library);
  if (!query) {
    return Error{ErrorCode::kNotFound, "no lender '" + key +
                                           "': neither a trajectory's artefact, nor a clip, nor a "
                                           "query (" +
                                           query.error().message + ")"};
  }
  HANDHOLD_ASSIGN(const store::QueryResult rows, query->Run());
  for (const store::QueryRow& row : rows.rows) {
    const auto clip = FindClip(context, row.clip_id);
    if (!clip) continue;
    std::vector<std::string> said;
    const auto found =
        FindResult(context, "", "interaction_trajectory", *clip, "fit compliance", &said);
    if (!found) continue;
    chosen->push_back("compliances of clip '" + row.clip_name + "' (the query's first with some)");
    return found;
  }
  return Error{ErrorCode::kNotFound, "none of the " + std::to_string(rows.rows.size()) +
                                         " rows of '" + key +
                                         "' is of a clip with fitted compliances"};
}

std::string Said(const synthesis::BorrowedCompliance& lent, const std::string& lender) {
  char text[200];
  std::snprintf(text, sizeof text, "%s: compliance %.4g rad/Nm borrowed (%s%s%s, of %s)",
                lent.dof.c_str(), lent.compliance_rad_per_Nm, lent.estimator.c_str(),
                lent.task.empty() ? "" : ", ", lent.task.c_str(), ShortHash(lender).c_str());
  return text;
}

/// Lets the script borrow, and gives what is still refused the paper's values. A captured theta_r
/// hangs on its compliances by eq. 1: it is made again; a scripted one is what it is.
Status Complete(const StepContext& context, const std::string& borrow, Script* script,
                std::vector<ProvenanceInput>* inputs, std::vector<std::string>* chosen) {
  std::map<std::string, double> given, within_bounds;
  if (!borrow.empty()) {
    HANDHOLD_ASSIGN(const store::ArtefactInfo info, FindLender(context, borrow, chosen));
    HANDHOLD_ASSIGN(const auto lender,
                    store::Load<InteractionTrajectory>(context.library.ArtefactPath(info.hash)));
    InteractionTrajectory lent = script->trajectory;
    HANDHOLD_ASSIGN(const auto borrowed, synthesis::BorrowCompliances(lender, &lent));
    inputs->push_back({"lender", info.hash, ""});
    for (const synthesis::BorrowedCompliance& b : borrowed) {
      given[b.dof] = b.compliance_rad_per_Nm;
      chosen->push_back(Said(b, info.hash));
    }
    if (!script->captured) script->trajectory = std::move(lent);
  }
  if (!script->captured) return {};
  const std::map<std::string, double> table1 = fitting::Table1Exploring(script->skeleton.skeleton);
  bool refused = false;
  for (size_t d = 0; d < script->trajectory.dof_names.size(); ++d) {
    if (script->trajectory.compliance_rad_per_Nm.row(static_cast<Eigen::Index>(d)).allFinite())
      continue;
    refused = true;
    const std::string& dof = script->trajectory.dof_names[d];
    const auto general = table1.find(dof);
    if (given.contains(dof) || general == table1.end()) continue;
    within_bounds.insert(*general);
    chosen->push_back(dof + ": refused by the fit, the paper's compliance is assumed");
  }
  if (!refused) return {};
  HANDHOLD_ASSIGN(const StepResult made,
                  (AssumeComplianceStep{.trajectory = script->hash,
                                        .assume_compliance = given,
                                        .assume_within_bounds = within_bounds}
                       .Run(context)));
  if (context.dry_run && !made.reused) return {};
  script->hash = made.hash;
  HANDHOLD_ASSIGN(script->trajectory,
                  store::Load<InteractionTrajectory>(context.library.ArtefactPath(made.hash)));
  return {};
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

/// Section 8.3: pushes the judged object to where the first hand's grip expects it; says how far.
Result<std::string> PlaceJudged(const Script& script, const synthesis::ReplayOptions& options,
                                const synthesis::PlacementOptions& placement, Stage* stage) {
  if (!stage->judged) {
    return Error{ErrorCode::kInvalid,
                 "nothing to place: no object is free, or the one that is judged is not"};
  }
  synthesis::ReplayObject& object = stage->scene.objects[*stage->judged];
  HANDHOLD_ASSIGN(const synthesis::PlacedObject found,
                  synthesis::PlaceObject(script.skeleton.skeleton, script.trajectory, stage->scene,
                                         *stage->judged, options, placement));
  char text[160];
  std::snprintf(
      text, sizeof text,
      "placed by closing and reversing: moved %.1f mm, turned %.1f degrees (%zu closings)",
      1e3 * (found.X_WP.p - object.X_WP.p).norm(),
      geometry::Log(object.X_WP.R.transpose() * found.X_WP.R).norm() * 180.0 / M_PI,
      found.rounds.size());
  object.X_WP = found.X_WP;
  return std::string(text);
}

}  // namespace

Result<StepResult> SynthReferenceStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const FoundSkeleton skeleton, FindSkeleton(context, hand, &chosen));
  HANDHOLD_ASSIGN(const FoundProp found, FindProp(context, prop, metres_per_unit, &chosen));
  ScriptedProgram made{.program = program,
                       .X_WProp = {},
                       .options = options,
                       .ball_radius_m = ball_radius_m,
                       .gaiting = gaiting};
  const std::vector<std::string> programs = {"pinch", "tripod", "power", "gaiting"};
  const auto known = std::find(programs.begin(), programs.end(), program);
  if (known == programs.end()) {
    return Error{ErrorCode::kInvalid,
                 "no program '" + program + "'" + DidYouMean(program, programs)};
  }
  const bool gaits = program == "gaiting";
  if (!gaits) made.options.grip = static_cast<synthesis::ScriptedGrip>(known - programs.begin());
  if (X_WProp) {
    made.X_WProp = *X_WProp;
  } else {
    made.X_WProp.p = Vec3(0.3, 0, -model::LowestAlong(found.prop, {}, Vec3::UnitZ()));
    chosen.push_back("pose \"" + recording::FormatPose(made.X_WProp) + "\": standing at z = 0");
  }
  const geometry::Bounds bounds = model::BoundsOf(found.prop, made.X_WProp);
  made.above_middle_m = above_middle_m.value_or(gaits ? 0.0 : 0.35 * (bounds.max - bounds.min).z());
  HANDHOLD_ASSIGN(synthesis::PinchPlace place,
                  synthesis::PinchAcross(found.prop, made.X_WProp, made.above_middle_m));
  const bool is_box = found.prop.shapes.size() == 1 &&
                      std::holds_alternative<geometry::Box>(found.prop.shapes.front().shape);
  if (!gaits && !is_box && !above_middle_m) {
    // Its bounding box says little of what is round or crooked: two faces of it, where there are.
    if (auto faces = synthesis::PinchBetweenFaces(found.prop, made.X_WProp)) {
      place = *faces;
      if (made.options.clearance_m == synthesis::PinchOptions().clearance_m)
        made.options.clearance_m = kFacesClearance_m;
      char text[120];
      std::snprintf(text, sizeof text, "faces %.0f mm apart, %.0f mm above its lowest point",
                    1e3 * place.width_m, 1e3 * (place.p_W.z() - bounds.min.z()));
      chosen.emplace_back(text);
    }
  }
  artefact::Provenance provenance =
      ProvenanceOf("synth.reference", synthesis::kScriptedReferenceVersion);
  provenance.inputs = {skeleton.input(), found.input("prop")};
  const TimeRange hold = gaits ? TimeRange() : synthesis::PinchHold(made.options);
  Json parameters = artefact::ToJson(made);
  parameters.Set("place", artefact::ToJson(place));
  HANDHOLD_ASSIGN(provenance.parameters_json,
                  Parameters(ParametersOf(parameters, made.X_WProp, hold)));
  return RunStep(
      context, std::move(provenance), std::move(chosen), [&]() -> Result<InteractionTrajectory> {
        const synthesis::GaitingPlace ball{.p_W = made.X_WProp.p + Vec3(0, 0, made.above_middle_m),
                                           .radius_m = made.ball_radius_m};
        HANDHOLD_ASSIGN(InteractionTrajectory trajectory,
                        gaits ? synthesis::GaitingReference(skeleton.skeleton, ball, made.gaiting)
                              : synthesis::PinchReference(skeleton.skeleton, place, made.options));
        trajectory.skeleton_hash = skeleton.hash;
        return trajectory;
      });
}

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
  const bool damped = scripts[0].trajectory.q_reference_dynamic.cols() > 0;
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
    std::string placed;
    if (place) {
      HANDHOLD_ASSIGN(placed, PlaceJudged(scripts[0], options, placement, &stage));
    }
    HANDHOLD_ASSIGN(Motion motion, synthesis::ReplayInteraction(hands, stage.scene, options));
    if (!placed.empty()) motion.summary.issues.push_back({"placement", Severity::kNote, placed});
    for (size_t i = 0; i < scripts.size(); ++i)
      motion.hands[i].skeleton_hash = scripts[i].skeleton.hash;
    std::vector<std::string> hashes = stage.fixed_hashes;
    hashes.insert(hashes.end(), stage.object_hashes.begin(), stage.object_hashes.end());
    for (size_t i = 0; i < hashes.size(); ++i) motion.objects[i].prop_hash = hashes[i];
    if (stage.judged && hold) {
      judged.object = motion.objects[stage.scene.fixed.size() + *stage.judged].name;
      HANDHOLD_ASSIGN(motion.verdict,
                      synthesis::JudgeHold(scripts[0].skeleton.skeleton, motion, judged));
    }
    for (const std::string& sentence : chosen)
      if (sentence.find(" borrowed (") != std::string::npos)
        motion.summary.issues.push_back({"compliance", Severity::kNote, sentence});
    Summarise(stage, hold, &motion);
    return motion;
  });
}

}  // namespace handhold::pipeline
