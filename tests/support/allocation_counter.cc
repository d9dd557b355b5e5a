#include "tests/support/allocation_counter.h"

#include <cstddef>

namespace {
thread_local size_t allocations = 0;
}  // namespace

namespace handhold::testing {
size_t AllocationsOfThisThread() { return allocations; }
}  // namespace handhold::testing

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizer owns malloc, and tells of each call.
extern "C" void __sanitizer_malloc_hook(const volatile void*, size_t) { ++allocations; }
#else
extern "C" void* __libc_malloc(size_t size);
extern "C" void* __libc_memalign(size_t alignment, size_t size);
extern "C" void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
#endif
