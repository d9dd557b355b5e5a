// What a hostile DataStream client may send to our server. Structure-aware: a custom mutator keeps
// packet and block lengths consistent half of the time, so that mutations reach the fields behind
// them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "capture/simulator/vicon_requests.h"
#include "database/base/check.h"

using handhold::capture::ViconRequest;
using handhold::capture::ViconRequestReader;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Whole, and in pieces whose size the first byte names: the same requests, or an error both
  // times.
  ViconRequestReader whole, pieces;
  std::vector<ViconRequest> a, b;
  const std::span<const uint8_t> input(data, size);
  const bool whole_ok = whole.Feed(input, a).has_value();
  CHECK_LE(whole.held(), handhold::capture::wire::vicon::kMaxClientPacketBytes + 8u);
  const size_t step = size > 0 ? data[0] % 61 + 1u : 1u;
  bool pieces_ok = true;
  for (size_t at = 0; at < size && pieces_ok; at += step) {
    pieces_ok = pieces.Feed(input.subspan(at, std::min(step, size - at)), b).has_value();
  }
  CHECK_EQ(whole_ok, pieces_ok);
  CHECK_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) {
    CHECK(a[k].kind == b[k].kind && a[k].ids == b[k].ids && a[k].ping == b[k].ping &&
          a[k].count == b[k].count);
    CHECK_LE(a[k].ids.size(), 1024u);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 2 == 0) return size;
  constexpr uint32_t kMagic = handhold::capture::wire::vicon::kPacketMagic;
  // Repairs framing: packets of a few blocks each, every length what really follows.
  for (size_t at = 0; at + 16 <= size;) {
    const size_t body = std::min<size_t>(size - at - 8, 8 + (seed >> 1) % 120);
    const auto put = [&](size_t where, uint32_t value) { std::memcpy(data + where, &value, 4); };
    put(at, kMagic);
    put(at + 4, static_cast<uint32_t>(body));
    put(at + 12, static_cast<uint32_t>(body - 8));
    at += 8 + body;
  }
  return size;
}
