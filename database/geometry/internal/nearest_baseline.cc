#include "database/geometry/internal/nearest_kernel.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace handhold::geometry::internal {
namespace {
#include "database/geometry/internal/nearest_kernel.inc"
}  // namespace

void NearestBaseline(NearestQuery& query) { Traverse(query); }

}  // namespace handhold::geometry::internal
