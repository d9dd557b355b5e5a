#include "tools/pipeline/surface.h"

#include "database/recording/prop_pose.h"

namespace handhold::pipeline {

Result<PlacedSurface> FindSurface(const StepContext& context, const std::string& key,
                                  double metres_per_unit,
                                  const std::optional<geometry::RigidTransform>& X_WP,
                                  const FoundClip& clip, std::vector<std::string>* chosen) {
  std::string name = key;
  if (name.empty()) {
    name = clip.row.prop;
    if (name.empty()) {
      return Error{ErrorCode::kInvalid, "clip '" + clip.row.name +
                                            "' does not say which prop was touched: name it with "
                                            "--surface"};
    }
    chosen->push_back("surface '" + name + "' (the clip's prop)");
  }
  PlacedSurface placed;
  HANDHOLD_ASSIGN(placed.prop, FindProp(context, name, metres_per_unit, chosen));
  if (X_WP) {
    placed.X_WP = *X_WP;
    return placed;
  }
  HANDHOLD_ASSIGN(const auto reader, context.library.OpenClip(clip.row.id));
  HANDHOLD_ASSIGN(const std::optional<geometry::RigidTransform> said,
                  recording::PropPose(reader->info()));
  if (!said) {
    return Error{ErrorCode::kInvalid, "clip '" + clip.row.name + "' does not say where '" + name +
                                          "' stood: give its pose with --surface-pose \"x y z "
                                          "[qw qx qy qz]\", metres"};
  }
  placed.X_WP = *said;
  return placed;
}

}  // namespace handhold::pipeline
