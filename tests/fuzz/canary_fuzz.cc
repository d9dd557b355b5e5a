// Reads one byte past its buffer when the input begins with "hand": tests/fuzz/run requires that
// the sanitizer reports it on canary/overflow and that the seed corpus passes, before it believes
// that the other targets' silence means anything.
#include <cstddef>
#include <cstdint>
#include <memory>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto copy = std::make_unique<std::uint8_t[]>(size);
  for (std::size_t i = 0; i < size; ++i) copy[i] = data[i];
  const bool planted =
      size >= 4 && copy[0] == 'h' && copy[1] == 'a' && copy[2] == 'n' && copy[3] == 'd';
  volatile std::uint8_t sink = planted ? copy.get()[size] : std::uint8_t{0};
  (void)sink;
  return 0;
}
