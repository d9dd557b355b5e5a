/// Points on a prop's surface with what a hand asks there: normal, thickness, the way the thing
/// runs.
///
/// Any shapes; points that lie inside another shape of the prop are on no surface. Same seed, same
/// points. Pinned by tests/synthesis/regrasp/surface_sample_test.cc on shapes whose areas, depths
/// and axes are known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"

namespace handhold::synthesis {

struct PropSurfacePoint {
  geometry::Vec3 p_P = geometry::Vec3::Zero();
  geometry::Vec3 normal_P = geometry::Vec3::UnitZ();  ///< unit, outward
};

/// `count` points, by area. kInvalid: no shapes, or no surface was found.
Result<std::vector<PropSurfacePoint>> SampleSurface(const model::Prop& prop, int count,
                                                    std::uint64_t seed);

/// How far it is through the prop from a surface point against its normal, m; at most `most_m`.
double ThicknessAt(const model::Prop& prop, const PropSurfacePoint& sample, double most_m);

/// The direction, unit and at right angles to `normal_P`, in which the surface within `radius_m` of
/// p_P extends furthest; nullopt where none stands out (less than `ratio` times the other way).
std::optional<geometry::Vec3> RunsAlong(std::span<const PropSurfacePoint> surface,
                                        const geometry::Vec3& p_P, const geometry::Vec3& normal_P,
                                        double radius_m, double ratio = 1.25);

/// Numbers in [0, 1), the same on every machine; one per (seed, candidate).
class CandidateRandom {
 public:
  CandidateRandom(std::uint64_t seed, std::uint64_t candidate)
      : state_(seed * 0x9E3779B97F4A7C15ull + candidate * 0xD1B54A32D192ED03ull + 1) {}
  double Unit() {
    // splitmix64
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  double Between(double low, double high) { return low + (high - low) * Unit(); }

 private:
  std::uint64_t state_;
};

}  // namespace handhold::synthesis
