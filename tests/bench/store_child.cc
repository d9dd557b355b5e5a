// Links database/store only: records, closes and reads a clip of the reference kind, and prints its
// own peak memory in kB.
#include <sys/resource.h>

#include <cstdio>

#include "database/store/clip_reader.h"
#include "database/store/clip_writer.h"
#include "tests/support/reference_clip.h"

int main(int argc, char** argv) {
  using namespace handhold;
  if (argc != 2) return 2;
  auto writer = store::ClipWriter::Create(argv[1], {}, {});
  if (!writer) return 1;
  if (!(*writer)->AddStream(testing::ReferenceClip::MarkerInfo()) ||
      !(*writer)->AddStream(testing::ReferenceClip::ForceInfo()))
    return 1;
  {
    // One second of the clip, over and over: what is measured is the store, not the clip in memory.
    testing::ReferenceClip second(1);
    for (int s = 0; s < 60; ++s) {
      for (auto* list : {&second.markers, &second.force}) {
        for (recording::SampleBlock& block : *list) {
          if (!(*writer)->Append(block)) return 1;
          block.first_index = block.first_counter =
              block.first_index + static_cast<int64_t>(block.count) * 10;
        }
      }
    }
  }
  if (!(*writer)->Close()) return 1;
  const auto clip = store::ClipReader::Open(argv[1]);
  if (!clip) return 1;
  double sum = 0;
  for (const recording::StreamInfo& stream : (*clip)->streams()) {
    if (!(*clip)->Stream(stream.id, {}, [&](const recording::SampleWindow& window) -> Status {
          sum += window.values.back();
          return {};
        })) {
      return 1;
    }
  }
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%ld %.3g\n", usage.ru_maxrss, sum);
  return 0;
}
