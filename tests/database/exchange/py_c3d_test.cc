// py-c3d (PyPI c3d 0.6.0, pinned by tools/setup) as a second oracle for residuals, masks and
// positions: a reader by others, in another language. Skipped where the files are absent.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "database/exchange/c3d_reader.h"
#include "tests/support/command.h"

namespace handhold::exchange {
namespace {

const std::string kFolder = HANDHOLD_SHARED_DATA_DIR "/c3d/";

// Prints frames, points, and per point: x y z residual (mm) and the camera byte, all digits.
const char* const kScript = R"(
import sys, warnings
warnings.simplefilter('ignore')
import c3d
with open(sys.argv[1], 'rb') as f:
    frames = [p.copy() for _, p, _ in c3d.Reader(f).read_frames()]
print('DATA', len(frames), len(frames[0]))
for points in frames:
    for p in points:
        print(*(repr(float(v)) for v in p))
)";

TEST(PyC3d, PositionsResidualsAndMasks) {
  const std::string python = HANDHOLD_PREFIX "/oracles/python/bin/python";
  ASSERT_TRUE(std::filesystem::exists(python)) << "run tools/setup";
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << kFolder << " is absent";
  const std::string script = (std::filesystem::path(::testing::TempDir()) / "oracle.py").string();
  {
    std::FILE* file = std::fopen(script.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fputs(kScript, file);
    std::fclose(file);
  }
  for (const char* name :
       {"sample_01/Eb015pi.c3d", "sample_01/Eb015sr.c3d", "sample_01/Eb015vi.c3d",
        "sample_02/dec_real.c3d", "sample_02/sgi_int.c3d", "sample_10/TYPE-3.c3d",
        "sample_25/analogfpscale04i.c3d"}) {
    SCOPED_TRACE(name);
    const auto run = support::RunCommand(python + " " + script + " " + kFolder + name);
    ASSERT_EQ(run.exit_code, 0) << run.output;
    std::istringstream in(run.output.substr(run.output.find("DATA")));
    std::string word;
    int frames = 0, points = 0;
    in >> word >> frames >> points;
    auto source = OpenC3d(kFolder + name).value();
    const recording::Clip clip = ReadWhole(*source).value();
    const auto markers = clip.ReadAll(clip.FindStreams("c3d/markers")[0]->id).value();
    const auto found = clip.FindStreams("c3d/cameras");
    recording::SampleWindow cameras;
    if (!found.empty()) cameras = clip.ReadAll(found[0]->id).value();
    ASSERT_EQ(markers.count(), frames);
    ASSERT_EQ(markers.channel_count, 4 * points);
    int compared = 0;
    for (int f = 0; f < frames; ++f) {
      for (int p = 0; p < points; ++p) {
        double theirs[5];
        for (double& value : theirs) {
          in >> word;
          value = std::strtod(word.c_str(), nullptr);
        }
        if (std::isnan(markers.value(4 * p, f))) {
          EXPECT_TRUE(theirs[3] < 0 || (theirs[0] == 0 && theirs[1] == 0 && theirs[2] == 0));
          continue;
        }
        ++compared;
        for (int k = 0; k < 3; ++k)
          ASSERT_NEAR(markers.value(4 * p + k, f), theirs[k] * 1e-3, 1e-9) << f << " " << p;
        ASSERT_NEAR(markers.value(4 * p + 3, f), theirs[3] * 1e-3, 1e-9) << f << " " << p;
        if (!found.empty()) {
          ASSERT_EQ(cameras.value(p, f), theirs[4]);
        }
      }
    }
    EXPECT_GT(compared, frames * points / 2);
  }
}

}  // namespace
}  // namespace handhold::exchange
