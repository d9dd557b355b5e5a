// Compiled with -mavx2 where the processor family has it; run only after asking the processor
// (AvailableKernels).
#include "database/geometry/internal/nearest_kernel.h"

#if defined(__AVX2__)
#include <immintrin.h>

namespace handhold::geometry::internal {
namespace {
#include "database/geometry/internal/nearest_kernel.inc"

void NearestAvx2(NearestQuery& query) { Traverse(query); }
}  // namespace

const NearestKernel kNearestAvx2 = NearestAvx2;

}  // namespace handhold::geometry::internal
#else
namespace handhold::geometry::internal {
const NearestKernel kNearestAvx2 = nullptr;
}  // namespace handhold::geometry::internal
#endif
