#include "synthesis/regrasp/proposer.h"

#include <charconv>
#include <cmath>

namespace handhold::synthesis {

bool TypeMatches(const std::map<std::string, std::string>& types, std::string_view wish) {
  if (wish.empty()) return true;
  const size_t colon = wish.find(':');
  for (const auto& [taxonomy, label] : types) {
    if (colon == std::string_view::npos
            ? label == wish
            : taxonomy == wish.substr(0, colon) && label == wish.substr(colon + 1)) {
      return true;
    }
  }
  return false;
}

Result<model::GraspRegion> RegionNamed(const model::Prop& prop, std::string_view text) {
  for (const model::GraspRegion& region : prop.grasp_regions) {
    if (region.name == text) return region;
  }
  const std::string asked(text);
  if (text.find(',') == std::string_view::npos) {
    std::string names;
    for (const model::GraspRegion& region : prop.grasp_regions)
      names += (names.empty() ? "" : ", ") + region.name;
    return Error{ErrorCode::kNotFound, "'" + prop.name + "' has no region '" + asked +
                                           "'; it has " + (names.empty() ? "none" : names) +
                                           "; a point and radius is x,y,z,r in metres"};
  }
  double values[4];
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (int i = 0; i < 4; ++i) {
    const auto [next, error] = std::from_chars(at, end, values[i]);
    const bool more = i < 3;
    if (error != std::errc() || (more && (next == end || *next != ',')) || (!more && next != end) ||
        !std::isfinite(values[i])) {
      return Error{ErrorCode::kInvalid, "'" + asked + "' is not x,y,z,r in metres"};
    }
    at = next + 1;
  }
  if (!(values[3] > 0.0))
    return Error{ErrorCode::kInvalid, "region '" + asked + "': the radius must be positive"};
  model::GraspRegion region;
  region.p_P = {values[0], values[1], values[2]};
  region.radius_m = values[3];
  region.approach_P.setZero();
  region.source = "asked for";
  return region;
}

double ShareInRegion(const artefact::Grasp& grasp, const model::GraspRegion& region) {
  if (grasp.contacts.empty()) return 0.0;
  int inside = 0;
  for (const artefact::GraspContact& contact : grasp.contacts)
    inside += (contact.p_P - region.p_P).norm() <= region.radius_m;
  return inside / static_cast<double>(grasp.contacts.size());
}

Status CheckWishes(const GraspWishes& wishes) {
  const auto invalid = [](const char* what) { return Error{ErrorCode::kInvalid, what}; };
  if (wishes.poses < 1) return invalid("at least one pose is tried");
  if (wishes.parts < 1 || wishes.part < 0 || wishes.part >= wishes.parts)
    return invalid("a part is 0 .. parts - 1");
  if (!(wishes.seconds >= 0.0)) return invalid("the time is not negative");
  if (wishes.region && !(wishes.region->radius_m > 0.0))
    return invalid("a region has a positive radius");
  return {};
}

}  // namespace handhold::synthesis
