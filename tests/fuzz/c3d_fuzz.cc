// The C3D reader on arbitrary bytes: no crash, no hang, bounded memory; what it refuses it names;
// what it reads has the shape it promised, within the file's length; and a small recording, however
// odd, can be exported again (as C3D and CSV, into nowhere) or is refused by name.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "database/exchange/c3d_reader.h"
#include "database/exchange/c3d_writer.h"
#include "database/exchange/csv_writer.h"

namespace {

void Export(handhold::exchange::ImportSource& source, bool as_integers) {
  using namespace handhold;
  const auto clip = exchange::ReadWhole(source);
  if (!clip) std::abort();
  const auto c3d = exchange::WriteC3d(*clip, "", {.as_integers = as_integers, .dry_run = true});
  if (!c3d && c3d.error().message.empty()) std::abort();
  const auto csv = exchange::WriteCsv(*clip, "", {.dry_run = true});
  if (!csv && csv.error().message.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace handhold;
  exchange::C3dReadOptions options;
  if (size > 0) {
    options.invalid = static_cast<exchange::C3dInvalid>(data[size - 1] % 3);
    options.rate_Hz = data[size - 1] % 2 == 0 ? 100 : 0;
  }
  auto source = exchange::OpenC3d(std::span(data, size), "fuzz.c3d", options);
  if (!source) {
    if (source.error().message.empty()) std::abort();
    return 0;
  }
  std::vector<int64_t> next((*source)->streams().size() + 1, 0);
  int64_t raw = 0;
  const Status status = (*source)->ForEachBlock(
      Duration::Seconds(2), [&](const recording::SampleBlock& block) -> Status {
        const auto id = static_cast<size_t>(block.stream_id);
        if (id == 0 || id >= next.size() || block.first_index != next[id] || block.count <= 0)
          std::abort();
        const auto& stream = (*source)->streams()[id - 1];
        if (block.values.size() != stream.channels.size() * static_cast<size_t>(block.count))
          std::abort();
        next[id] += block.count;
        raw += static_cast<int64_t>(block.values.size());
        return {};
      });
  if (!status) std::abort();  // bytes in memory do not shrink
  // Every value comes from at least a byte of the file; rotations give 7 of 68 bytes.
  if (raw > 8 * static_cast<int64_t>(size)) std::abort();
  for (const auto& sensor : (*source)->force_sensors()) {
    if (sensor.stream_id < 1 || static_cast<size_t>(sensor.stream_id) >= next.size()) std::abort();
    if (sensor.calibration.cols() !=
        (*source)->streams()[static_cast<size_t>(sensor.stream_id) - 1].channel_count())
      std::abort();
  }
  if (raw > 0 && raw < 20'000 && size < 20'000) Export(**source, data[size - 1] % 4 == 0);
  return 0;
}
