#include "database/model/skeleton_json.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "database/base/names.h"
#include "database/base/units.h"
#include "database/model/shape_json.h"
#include "database/text/json_view.h"

namespace handhold::model {
namespace {

using internal::PosedShape;
using internal::PoseFromJson;
using internal::PoseToJson;
using internal::Vec3FromJson;
using internal::Vec3ToJson;
using text::Json;
using text::JsonView;

constexpr double kFree = std::numeric_limits<double>::infinity();
constexpr std::array kTypes = {JointType::kFixed, JointType::kHinge, JointType::kUniversal,
                               JointType::kBall, JointType::kFree};

int LimitCount(JointType type) {
  Joint joint;
  joint.type = type;
  return type == JointType::kFree ? 0 : joint.nv();
}

/// Lengths in another unit: no hand reaches farther from a body's origin, and no laboratory farther
/// from the world's. Only files are asked: a fit may try such a step, and must survive it.
Status CheckReach(const JsonView& json, double distance_m, bool in_world, const std::string& what) {
  const int reach_m = in_world ? 100 : 5;
  if (!(distance_m > reach_m)) return {};
  return json.Fail(what + " is " + std::to_string(distance_m) + " m, beyond " +
                   std::to_string(reach_m) + " m: is this in mm? lengths are in m");
}

/// Twist and swing (SwingTwist) never exceed pi. The angle of a hinge may, where its zero lies at
/// one end, but no joint of a hand goes round more than once.
Status CheckLimit(const JsonView& item, JointType type, bool degrees, double limit_rad) {
  const bool ball = type == JointType::kBall;
  if (std::abs(limit_rad) <= (ball ? M_PI : 2 * M_PI) + 1e-9) return {};
  const std::string largest =
      degrees ? (ball ? "180 degrees" : "360 degrees") : (ball ? "pi rad" : "2 pi rad");
  return item.Fail("a limit of a " + std::string(JointTypeName(type)) + " joint beyond " + largest +
                   (degrees ? "" : ": are these degrees? limits are in rad"));
}

/// "lower_rad": [a, null] or "lower_deg"; null and a missing list mean free.
Status LimitsFromJson(const JsonView& joint, const std::string& which, JointType type,
                      Eigen::Vector3d* limits) {
  const int count = LimitCount(type);
  const std::string rad = which + "_rad", deg = which + "_deg";
  if (joint.Has(rad) && joint.Has(deg))
    return joint.Fail("give " + rad + " or " + deg + ", not both");
  const bool degrees = joint.Has(deg);
  if (!degrees && !joint.Has(rad)) return {};
  HANDHOLD_ASSIGN(const JsonView list, joint.At(degrees ? deg : rad));
  HANDHOLD_ASSIGN(const std::vector<JsonView> items, list.Items());
  if (static_cast<int>(items.size()) != count) {
    return list.Fail("expected " + std::to_string(count) + " limits, found " +
                     std::to_string(items.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].value().is_null()) continue;
    HANDHOLD_ASSIGN(const double value, items[i].As<double>());
    const double value_rad = degrees ? DegreesToRadians(value) : value;
    HANDHOLD_TRY(CheckLimit(items[i], type, degrees, value_rad));
    (*limits)[static_cast<int>(i)] = value_rad;
  }
  return {};
}

Json LimitsToJson(const Eigen::Vector3d& limits, int count) {
  Json list = Json::Array();
  for (int i = 0; i < count; ++i) {
    list.Push(std::isfinite(limits[i]) ? Json(limits[i]) : Json(nullptr));
  }
  return list;
}

Result<JointType> JointTypeFromJson(const JsonView& joint) {
  HANDHOLD_ASSIGN(const std::string type, joint.Get<std::string>("type"));
  std::vector<std::string> names;
  for (JointType t : kTypes) {
    if (type == JointTypeName(t)) return t;
    names.emplace_back(JointTypeName(t));
  }
  return joint.Fail("unknown joint type '" + type + "'" + DidYouMean(type, names));
}

Result<Joint> JointFromJson(const JsonView& json) {
  HANDHOLD_TRY(
      json.RequireKnownKeys({"type", "name", "dofs", "parent_pose", "child_pose", "axis", "axis2",
                             "lower_rad", "upper_rad", "lower_deg", "upper_deg", "source"}));
  Joint joint;
  HANDHOLD_ASSIGN(joint.type, JointTypeFromJson(json));
  HANDHOLD_ASSIGN(joint.name, json.GetOr<std::string>("name", ""));
  HANDHOLD_ASSIGN(joint.dof_names, json.GetOr<std::vector<std::string>>("dofs", {}));
  HANDHOLD_ASSIGN(joint.X_PJp, PoseFromJson(json, "parent_pose"));
  HANDHOLD_ASSIGN(joint.X_BJc, PoseFromJson(json, "child_pose"));
  HANDHOLD_ASSIGN(joint.source, json.GetOr<std::string>("source", ""));
  const int axes = joint.type == JointType::kHinge       ? 1
                   : joint.type == JointType::kUniversal ? 2
                                                         : 0;
  for (int i = 0; i < 2; ++i) {
    const char* key = i == 0 ? "axis" : "axis2";
    if (i < axes) {
      HANDHOLD_ASSIGN(joint.axes[i], Vec3FromJson(json, key));
    } else if (json.Has(key)) {
      return json.Fail(std::string("a ") + std::string(JointTypeName(joint.type)) +
                       " joint has no " + key);
    }
  }
  HANDHOLD_TRY(LimitsFromJson(json, "lower", joint.type, &joint.lower_rad));
  HANDHOLD_TRY(LimitsFromJson(json, "upper", joint.type, &joint.upper_rad));
  return joint;
}

void SetIfNotEmpty(Json* object, std::string_view key, const std::string& text) {
  if (!text.empty()) object->Set(key, text);
}

Json JointToJson(const Joint& joint) {
  Json json = Json::Object({{"type", JointTypeName(joint.type)}});
  SetIfNotEmpty(&json, "name", joint.name);
  if (!joint.dof_names.empty()) json.Set("dofs", Json::Array(joint.dof_names));
  if (auto pose = PoseToJson(joint.X_PJp)) json.Set("parent_pose", *std::move(pose));
  if (auto pose = PoseToJson(joint.X_BJc)) json.Set("child_pose", *std::move(pose));
  const bool universal = joint.type == JointType::kUniversal;
  if (joint.type == JointType::kHinge || universal) json.Set("axis", Vec3ToJson(joint.axes[0]));
  if (universal) json.Set("axis2", Vec3ToJson(joint.axes[1]));
  const int limits = LimitCount(joint.type);
  if (limits > 0) {
    json.Set("lower_rad", LimitsToJson(joint.lower_rad, limits));
    json.Set("upper_rad", LimitsToJson(joint.upper_rad, limits));
  }
  SetIfNotEmpty(&json, "source", joint.source);
  return json;
}

/// Index of the body that member `key` names; only bodies already read count, so that parents come
/// first.
Result<int> BodyFromJson(const JsonView& object, std::string_view key,
                         const std::vector<std::string>& names) {
  HANDHOLD_ASSIGN(const JsonView member, object.At(key));
  HANDHOLD_ASSIGN(const std::string name, member.As<std::string>());
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<int>(i);
  }
  return member.Fail("there is no body '" + name + "' before this" + DidYouMean(name, names));
}

Result<Body> ReadBody(const JsonView& json, const std::vector<std::string>& names,
                      const std::filesystem::path& folder) {
  HANDHOLD_TRY(
      json.RequireKnownKeys({"name", "parent", "joint", "mass", "shapes", "length_m", "source"}));
  Body body;
  HANDHOLD_ASSIGN(body.name, json.Get<std::string>("name"));
  HANDHOLD_ASSIGN(body.parent, BodyFromJson(json, "parent", names));
  HANDHOLD_ASSIGN(body.length_m, json.GetOr<double>("length_m", 0.0));
  HANDHOLD_ASSIGN(body.source, json.GetOr<std::string>("source", ""));
  HANDHOLD_ASSIGN(const JsonView joint, json.At("joint"));
  HANDHOLD_ASSIGN(body.joint, JointFromJson(joint));
  HANDHOLD_TRY(CheckReach(json, body.length_m, false, "length_m"));
  HANDHOLD_TRY(CheckReach(joint, body.joint.X_PJp.p.norm(), body.parent == 0,
                          "the offset p_m of parent_pose"));
  HANDHOLD_TRY(CheckReach(joint, body.joint.X_BJc.p.norm(), false, "the offset p_m of child_pose"));
  HANDHOLD_ASSIGN(const std::vector<JsonView> shapes, json.GetItems("shapes"));
  std::vector<PosedShape> posed;
  for (const JsonView& item : shapes) {
    HANDHOLD_ASSIGN(PosedShape shape, internal::ShapeFromJson(item, folder));
    HANDHOLD_TRY(CheckReach(item, shape.X.p.norm(), false, "its offset"));
    BodyShape& out = body.shapes.emplace_back(BodyShape{"", shape.X, shape.shape, ""});
    HANDHOLD_ASSIGN(out.name, item.Get<std::string>("name"));
    HANDHOLD_ASSIGN(out.source, item.GetOr<std::string>("source", ""));
    posed.push_back(std::move(shape));
  }
  if (json.Has("mass")) {
    HANDHOLD_ASSIGN(const JsonView mass, json.At("mass"));
    HANDHOLD_ASSIGN(body.mass, internal::MassFromJson(mass, posed));
    HANDHOLD_ASSIGN(body.mass_source, internal::MassSourceFromJson(mass));
  }
  return body;
}

Json BodyToJson(const Body& body, const std::string& parent) {
  Json json = Json::Object({{"name", body.name}, {"parent", parent}});
  if (body.length_m > 0) json.Set("length_m", body.length_m);
  SetIfNotEmpty(&json, "source", body.source);
  json.Set("joint", JointToJson(body.joint));
  json.Set("mass", internal::MassToJson(body.mass, body.mass_source));
  Json shapes = Json::Array();
  for (const BodyShape& shape : body.shapes) {
    Json item = Json::Object({{"name", shape.name}});
    internal::ShapeIntoJson({shape.X_BS, shape.shape}, &item);
    SetIfNotEmpty(&item, "source", shape.source);
    shapes.Push(std::move(item));
  }
  json.Set("shapes", std::move(shapes));
  return json;
}

Status ReadMarkersAndFrames(const JsonView& root, const std::vector<std::string>& names,
                            SkeletonDraft* draft) {
  HANDHOLD_ASSIGN(const std::vector<JsonView> markers, root.GetItems("markers"));
  for (const JsonView& item : markers) {
    HANDHOLD_TRY(item.RequireKnownKeys({"name", "body", "p_m", "source"}));
    MarkerAttachment& marker = draft->markers.emplace_back();
    HANDHOLD_ASSIGN(marker.name, item.Get<std::string>("name"));
    HANDHOLD_ASSIGN(marker.body, BodyFromJson(item, "body", names));
    HANDHOLD_ASSIGN(marker.p_BM, Vec3FromJson(item, "p_m"));
    HANDHOLD_TRY(CheckReach(item, marker.p_BM.norm(), marker.body == 0, "its offset p_m"));
    HANDHOLD_ASSIGN(marker.source, item.GetOr<std::string>("source", ""));
  }
  if (root.Has("marker_sets")) {
    HANDHOLD_ASSIGN(const JsonView sets, root.At("marker_sets"));
    HANDHOLD_ASSIGN(const auto members, sets.Members());
    for (const auto& [name, list] : members) {
      HANDHOLD_ASSIGN(auto set_markers, list.As<std::vector<std::string>>());
      draft->marker_sets.push_back({name, std::move(set_markers)});
    }
  }
  HANDHOLD_ASSIGN(const std::vector<JsonView> frames, root.GetItems("frames"));
  for (const JsonView& item : frames) {
    HANDHOLD_TRY(item.RequireKnownKeys({"name", "body", "pose", "source"}));
    NamedFrame& frame = draft->frames.emplace_back();
    HANDHOLD_ASSIGN(frame.name, item.Get<std::string>("name"));
    HANDHOLD_ASSIGN(frame.body, BodyFromJson(item, "body", names));
    HANDHOLD_ASSIGN(frame.X_BF, PoseFromJson(item, "pose"));
    HANDHOLD_TRY(CheckReach(item, frame.X_BF.p.norm(), frame.body == 0, "its offset p_m"));
    HANDHOLD_ASSIGN(frame.source, item.GetOr<std::string>("source", ""));
  }
  return {};
}

Status ReadSites(const JsonView& root, const std::vector<std::string>& names,
                 SkeletonDraft* draft) {
  HANDHOLD_ASSIGN(const std::vector<JsonView> sites, root.GetItems("sites"));
  for (const JsonView& item : sites) {
    HANDHOLD_TRY(item.RequireKnownKeys({"name", "body", "shapes", "p_m", "normal", "source"}));
    ContactSite& site = draft->sites.emplace_back();
    HANDHOLD_ASSIGN(site.name, item.Get<std::string>("name"));
    HANDHOLD_ASSIGN(site.body, BodyFromJson(item, "body", names));
    HANDHOLD_ASSIGN(site.shapes, item.Get<std::vector<std::string>>("shapes"));
    HANDHOLD_ASSIGN(site.p_BS, Vec3FromJson(item, "p_m"));
    HANDHOLD_TRY(CheckReach(item, site.p_BS.norm(), false, "its offset p_m"));
    HANDHOLD_ASSIGN(site.normal_B, Vec3FromJson(item, "normal"));
    HANDHOLD_ASSIGN(site.source, item.GetOr<std::string>("source", ""));
  }
  return {};
}

}  // namespace

Result<SkeletonDraft> SkeletonDraftFromJson(const Json& json, const std::string& source,
                                            const std::filesystem::path& folder) {
  const JsonView root(json, source);
  HANDHOLD_TRY(root.RequireKnownKeys({"format", "version", "name", "side", "source", "sources",
                                      "bodies", "markers", "marker_sets", "frames", "sites"}));
  HANDHOLD_TRY(internal::CheckFormat(root, "handhold.skeleton"));
  SkeletonDraft draft;
  HANDHOLD_ASSIGN(draft.name, root.Get<std::string>("name"));
  HANDHOLD_ASSIGN(draft.side, root.GetOr<std::string>("side", ""));
  HANDHOLD_ASSIGN(draft.source, root.GetOr<std::string>("source", ""));
  HANDHOLD_ASSIGN(draft.sources, internal::SourcesFromJson(root));
  std::vector<std::string> names = {"W"};
  HANDHOLD_ASSIGN(const JsonView bodies, root.At("bodies"));
  HANDHOLD_ASSIGN(const std::vector<JsonView> items, bodies.Items());
  for (const JsonView& item : items) {
    HANDHOLD_ASSIGN(Body body, ReadBody(item, names, folder));
    names.push_back(body.name);
    draft.bodies.push_back(std::move(body));
  }
  HANDHOLD_TRY(ReadMarkersAndFrames(root, names, &draft));
  HANDHOLD_TRY(ReadSites(root, names, &draft));
  return draft;
}

Result<Skeleton> LoadSkeleton(const std::filesystem::path& path) {
  HANDHOLD_ASSIGN(const Json json, text::ReadJsonFile(path));
  HANDHOLD_TRY(internal::RequireSchema(json, "skeleton", path));
  HANDHOLD_ASSIGN(SkeletonDraft draft,
                  SkeletonDraftFromJson(json, path.string(), path.parent_path()));
  auto skeleton = Skeleton::Build(std::move(draft));
  if (!skeleton) return skeleton.error().Within(path.string());
  return skeleton;
}

Json SkeletonToJson(const Skeleton& skeleton) {
  const SkeletonDraft& draft = skeleton.draft();
  Json json = Json::Object({{"format", "handhold.skeleton"}, {"version", 1}, {"name", draft.name}});
  SetIfNotEmpty(&json, "side", draft.side);
  SetIfNotEmpty(&json, "source", draft.source);
  internal::SourcesIntoJson(draft.sources, &json);
  Json bodies = Json::Array(), markers = Json::Array(), frames = Json::Array();
  for (const Body& body : draft.bodies) {
    bodies.Push(BodyToJson(body, skeleton.body(body.parent).name));
  }
  for (const MarkerAttachment& m : draft.markers) {
    Json item = Json::Object({{"name", m.name}, {"body", skeleton.body(m.body).name}});
    item.Set("p_m", Vec3ToJson(m.p_BM));
    SetIfNotEmpty(&item, "source", m.source);
    markers.Push(std::move(item));
  }
  for (const NamedFrame& f : draft.frames) {
    Json item = Json::Object({{"name", f.name}, {"body", skeleton.body(f.body).name}});
    if (auto pose = PoseToJson(f.X_BF)) item.Set("pose", *std::move(pose));
    SetIfNotEmpty(&item, "source", f.source);
    frames.Push(std::move(item));
  }
  json.Set("bodies", std::move(bodies));
  json.Set("markers", std::move(markers));
  if (!draft.marker_sets.empty()) {
    Json sets = Json::Object();
    for (const MarkerSet& set : draft.marker_sets) sets.Set(set.name, Json::Array(set.markers));
    json.Set("marker_sets", std::move(sets));
  }
  json.Set("frames", std::move(frames));
  if (!draft.sites.empty()) {
    Json sites = Json::Array();
    for (const ContactSite& s : draft.sites) {
      Json item = Json::Object({{"name", s.name}, {"body", skeleton.body(s.body).name}});
      item.Set("shapes", Json::Array(s.shapes));
      item.Set("p_m", Vec3ToJson(s.p_BS));
      item.Set("normal", Vec3ToJson(s.normal_B));
      SetIfNotEmpty(&item, "source", s.source);
      sites.Push(std::move(item));
    }
    json.Set("sites", std::move(sites));
  }
  return json;
}

Status SaveSkeleton(const Skeleton& skeleton, const std::filesystem::path& path) {
  return text::WriteJsonFile(path, SkeletonToJson(skeleton));
}

}  // namespace handhold::model
