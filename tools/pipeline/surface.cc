#include "tools/pipeline/surface.h"

#include "database/recording/thing.h"

namespace handhold::pipeline {
namespace {

using recording::Thing;

/// The thing that is meant: by name, then by model; where nothing is said, the take's only prop.
/// Null: none of the take's.
Result<const Thing*> Meant(const recording::ClipInfo& info, const std::string& key) {
  if (const Thing* named = key.empty() ? nullptr : recording::FindThing(info, key)) return named;
  const Thing* meant = nullptr;
  std::string names;
  for (const Thing& thing : info.things) {
    if (thing.kind != Thing::Kind::kProp || (!key.empty() && thing.model != key)) continue;
    if (meant != nullptr || !names.empty())
      meant = nullptr;
    else
      meant = &thing;
    names += (names.empty() ? "'" : ", '") + thing.name + "'";
  }
  if (meant != nullptr || names.empty()) return meant;
  return Error{ErrorCode::kInvalid, "clip '" + info.name +
                                        "' has several things that may be meant: " + names +
                                        "; name one with --surface"};
}

}  // namespace

Result<PlacedSurface> FindSurface(const StepContext& context, const std::string& key,
                                  double metres_per_unit,
                                  const std::optional<geometry::RigidTransform>& X_WP,
                                  const FoundClip& clip, std::vector<std::string>* chosen) {
  HANDHOLD_ASSIGN(const auto reader, context.library.OpenClip(clip.row.id));
  HANDHOLD_ASSIGN(const Thing* thing, Meant(reader->info(), key));
  std::string model = thing != nullptr ? thing->model : key;
  if (model.empty()) {
    return Error{ErrorCode::kInvalid, "clip '" + clip.row.name +
                                          "' does not say which prop was touched: name it with "
                                          "--surface"};
  }
  if (key.empty())
    chosen->push_back("surface '" + thing->name + "' (the take's only prop, a " + model + ")");
  PlacedSurface placed;
  HANDHOLD_ASSIGN(placed.prop, FindProp(context, model, metres_per_unit, chosen));
  placed.thing = thing != nullptr ? thing->name : placed.prop.prop.name;
  if (X_WP) {
    placed.X_WP = *X_WP;
    return placed;
  }
  if (thing == nullptr) {
    // Another model of what stood there: a scan of it, say.
    HANDHOLD_ASSIGN(thing, Meant(reader->info(), ""));
    if (thing != nullptr && thing->pose == Thing::Pose::kFixed)
      chosen->push_back("pose of '" + thing->name + "' (the take's only prop)");
  }
  if (thing == nullptr || thing->pose != Thing::Pose::kFixed) {
    const bool moves = thing != nullptr && thing->pose != Thing::Pose::kUnknown;
    return Error{ErrorCode::kInvalid,
                 "clip '" + clip.row.name + "' " +
                     (moves ? "says that '" + thing->name + "' moves: give where it stood"
                            : "does not say where '" + model + "' stood: give its pose") +
                     " with --surface-pose \"x y z [qw qx qy qz]\", metres"};
  }
  placed.X_WP = thing->X_WT;
  return placed;
}

}  // namespace handhold::pipeline
