#include "database/recording/meant_prop.h"

#include "database/recording/clip.h"

namespace handhold::recording {

Result<const Thing*> MeantProp(const ClipInfo& info, const std::string& key) {
  if (const Thing* named = key.empty() ? nullptr : FindThing(info, key)) return named;
  const Thing* meant = nullptr;
  std::string names;
  for (const Thing& thing : info.things) {
    if (thing.kind != Thing::Kind::kProp || (!key.empty() && thing.model != key)) continue;
    meant = names.empty() ? &thing : nullptr;
    names += (names.empty() ? "'" : ", '") + thing.name + "'";
  }
  if (meant != nullptr || names.empty()) return meant;
  return Error{
      ErrorCode::kInvalid,
      "clip '" + info.name + "' has several things that may be meant: " + names + "; name one"};
}

Result<StandingProp> WhereItStood(const ClipInfo& info, const std::string& key,
                                  const std::string& prop,
                                  const std::optional<geometry::RigidTransform>& X_WP) {
  HANDHOLD_ASSIGN(const Thing* thing, MeantProp(info, key));
  StandingProp stands;
  stands.thing = thing != nullptr ? thing->name : prop;
  if (X_WP) {
    stands.X_WP = *X_WP;
    return stands;
  }
  if (thing == nullptr) {
    HANDHOLD_ASSIGN(thing, MeantProp(info, ""));
    if (thing != nullptr && thing->pose == Thing::Pose::kFixed)
      stands.chosen = "pose of '" + thing->name + "' (the take's only prop)";
  }
  if (thing == nullptr || thing->pose != Thing::Pose::kFixed) {
    const bool moves = thing != nullptr && thing->pose != Thing::Pose::kUnknown;
    return Error{ErrorCode::kInvalid,
                 "clip '" + info.name + "' " +
                     (moves ? "says that '" + thing->name + "' moves: give where it stood"
                            : "does not say where '" + prop + "' stood: give its pose") +
                     ", \"x y z [qw qx qy qz]\" in metres"};
  }
  stands.X_WP = thing->X_WT;
  return stands;
}

}  // namespace handhold::recording
