// Hand and prop files on arbitrary bytes: no crash and no exception, and what is accepted can be
// used: saved and loaded again, weighed, measured, moved.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "database/model/dynamics.h"
#include "database/model/prop.h"
#include "database/model/skeleton_json.h"

namespace {

using namespace handhold;

void TryProp(const text::Json& json) {
  const auto prop = model::PropFromJson(json, "/nonexistent/fuzz.json");
  if (!prop) {
    if (prop.error().message.empty()) std::abort();
    return;
  }
  for (const model::PropShape& shape : prop->shapes)
    (void)geometry::SignedDistance(shape.shape, {0.1, 0.2, 0.3});
  const text::Json written = model::PropToJson(*prop);
  const auto again = model::PropFromJson(written, "/nonexistent/again.json");
  if (!again || !(model::PropToJson(*again) == written)) std::abort();
}

void TrySkeleton(const text::Json& json) {
  auto draft = model::SkeletonDraftFromJson(json, "fuzz.json", "/nonexistent");
  if (!draft) return;
  const auto skeleton = model::Skeleton::Build(*std::move(draft));
  if (!skeleton || skeleton->nv() > 200) return;
  model::DynamicsData data(*skeleton);
  Eigen::VectorXd none = Eigen::VectorXd::Zero(skeleton->nv()), a = none;
  const Status moved = model::ForwardDynamics(*skeleton, skeleton->ZeroConfiguration(), none, none,
                                              geometry::Vec3(0, 0, -9.81), &data, a);
  if (!moved && moved.error().message.empty()) std::abort();
  const text::Json written = model::SkeletonToJson(*skeleton);
  auto again = model::SkeletonDraftFromJson(written, "again.json", "/nonexistent");
  if (!again) std::abort();
  const auto built = model::Skeleton::Build(*std::move(again));
  if (!built || !(model::SkeletonToJson(*built) == written)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = text::ParseJson({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  TryProp(*json);
  TrySkeleton(*json);
  return 0;
}
