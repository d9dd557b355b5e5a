// The readers of text (our CSV, foreign CSV, Qualisys TSV) on arbitrary bytes. The first byte
// chooses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "database/exchange/csv_reader.h"
#include "database/exchange/qualisys_tsv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace handhold;
  if (size == 0) return 0;
  const std::span<const uint8_t> bytes(data + 1, size - 1);
  auto source = data[0] % 2 == 0 ? exchange::OpenCsv(bytes, "fuzz.csv",
                                                     {.rate_Hz = data[0] % 4 == 0 ? 100.0 : 0.0})
                                 : exchange::OpenQualisysTsv(bytes, "fuzz.tsv");
  if (!source) {
    if (source.error().message.empty()) std::abort();
    return 0;
  }
  const auto clip = exchange::ReadWhole(**source);
  if (!clip && clip.error().message.empty()) std::abort();
  return 0;
}
