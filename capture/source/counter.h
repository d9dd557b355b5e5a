/// Device counters made 64 bits wide and ascending, across wraps of 32 bits.
#pragma once

#include <cstdint>

namespace handhold::capture {

/// Steps from `from` to `to` on a 32-bit circle, the short way: negative when `to` lies behind.
/// 0xffffffff -> 1 is 2.
inline int64_t CounterSteps(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }

}  // namespace handhold::capture
