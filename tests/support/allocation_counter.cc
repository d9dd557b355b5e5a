#include "tests/support/allocation_counter.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace handhold::test {
namespace {
thread_local int64_t allocations = 0;

void* Take(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void* TakeAligned(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  void* p = nullptr;
  if (posix_memalign(&p, static_cast<std::size_t>(alignment), size == 0 ? 1 : size) == 0) return p;
  throw std::bad_alloc();
}
}  // namespace

int64_t ThreadAllocations() { return allocations; }

}  // namespace handhold::test

void* operator new(std::size_t size) { return handhold::test::Take(size); }
void* operator new[](std::size_t size) { return handhold::test::Take(size); }
void* operator new(std::size_t size, std::align_val_t a) {
  return handhold::test::TakeAligned(size, a);
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return handhold::test::TakeAligned(size, a);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
