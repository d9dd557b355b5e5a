// What importing and exporting may hold in memory, whatever the file: 64 MB (issue 4, section 4).
// Measured as the peak resident size of a process of its own, on files whose streams are so wide
// that two seconds of them are more. Labelled `fault`: a sanitizer's memory is not ours.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>

#include "tests/database/exchange/c3d_bytes.h"
#include "tests/database/store/clip_fixture.h"
#include "tools/pipeline/export.h"
#include "tools/pipeline/import.h"

namespace handhold::pipeline::memory_test {
namespace {

using store::TempDir;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr long kLimitKb = 64 * 1024;

/// Peak resident kB of a child that does `work`; -1 when it failed.
long PeakKb(const std::function<Status()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const Status done = work();
    if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
    _exit(done ? 0 : 1);
  }
  int status = 0;
  struct rusage usage {};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return -1;
  return usage.ru_maxrss;
}

Status PutC3d(const std::string& path, int points, float rate, int frames, int channels = 0) {
  testing::C3dBytes made;
  made.points = points;
  made.rate = rate;
  made.frames = frames;
  made.channels = channels;
  made.ratio = channels > 0 ? 10 : 0;
  made.default_labels = false;  // they would not fit the parameters' 128 kB
  made.analog_scale.assign(static_cast<size_t>(channels), 0.5f);
  made.analog_offset.assign(static_cast<size_t>(channels), 0);
  uint32_t state = 1;
  const auto noise = [&state] {
    return static_cast<int>((state = state * 1664525 + 1013904223) >> 20);
  };
  made.coordinate = [&](int f, int p, int k) { return 100 * p + k + f + noise(); };
  made.sample = [&](int, int) { return noise(); };
  const std::vector<uint8_t> bytes = made.Build();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return {};
}

struct Wide {
  const char* name;
  int points;
  float rate;
  int frames;
  int channels;
};
void PrintTo(const Wide& wide, std::ostream* out) { *out << wide.name; }

class Memory : public ::testing::TestWithParam<Wide> {};

TEST_P(Memory, ImportAndExportStayBelow64Megabytes) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's memory is not ours";
  const Wide& wide = GetParam();
  const TempDir dir;
  const std::string file = dir / "wide.c3d", folder = dir / "lab";
  ASSERT_GE(
      PeakKb([&] { return PutC3d(file, wide.points, wide.rate, wide.frames, wide.channels); }), 0);
  ASSERT_GE(PeakKb([&]() -> Status {
              HANDHOLD_ASSIGN(const auto library, store::Library::Create(folder));
              return {};
            }),
            0);
  const auto import = [&](const std::string& from, const std::string& name) -> Status {
    HANDHOLD_ASSIGN(const auto library, store::Library::Open(folder));
    ImportOptions options;
    options.name = name;
    HANDHOLD_ASSIGN(const auto imported, ImportFiles(library.get(), {from}, options));
    return imported[0].error ? Status(*imported[0].error) : Status();
  };
  const auto report = [&](const char* what, long peak) {
    std::printf("memory: %s, %s: peak %.1f MB\n", wide.name, what,
                static_cast<double>(peak) / 1024.0);
    EXPECT_GT(peak, 0);
    EXPECT_LE(peak, kLimitKb) << what;
  };
  report("import of C3D", PeakKb([&] { return import(file, "wide"); }));
  for (const char* name : {"wide.c3d", "wide.csv"}) {
    // C3D's parameters have no room for the labels of all; CSV has.
    if (wide.points > 15'000 && std::string(name) == "wide.c3d") continue;
    report(name, PeakKb([&]() -> Status {
             HANDHOLD_ASSIGN(const auto library, store::Library::Open(folder));
             HANDHOLD_ASSIGN(const auto exported,
                             ExportClip(*library, "wide", dir / ("out." + std::string(name))));
             return exported.frames >= wide.frames ? Status()
                                                   : Error{ErrorCode::kCorrupt, "frames lost"};
           }));
  }
  report("import of CSV", PeakKb([&] { return import(dir / "out.wide.csv", "again"); }));
}

INSTANTIATE_TEST_SUITE_P(, Memory,
                         ::testing::Values(Wide{"20 000 markers at 200 Hz", 20'000, 200, 150, 0},
                                           Wide{"4000 markers at 1 kHz", 4000, 1000, 800, 0},
                                           Wide{"4000 markers, 2000 channels at 2 kHz", 4000, 200,
                                                200, 2000}),
                         [](const auto& test) {
                           return "points" + std::to_string(test.param.points) + "channels" +
                                  std::to_string(test.param.channels);
                         });

// The canary: what the measure must see.
TEST(MemoryMeasure, SeesWhatIsHeld) {
  const long small = PeakKb([] { return Status(); });
  const long large = PeakKb([]() -> Status {
    std::vector<char> held(100 << 20, 1);
    return held[held.size() / 2] == 1 ? Status() : Error{ErrorCode::kCorrupt, "?"};
  });
  EXPECT_GT(small, 0);
  EXPECT_GT(large, small + 90 * 1024);
}

}  // namespace
}  // namespace handhold::pipeline::memory_test
