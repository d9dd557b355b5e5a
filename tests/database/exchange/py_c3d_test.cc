// py-c3d (PyPI c3d 0.6.0, pinned by tools/setup) as a second oracle for residuals, masks and
// positions: a reader by others, in another language.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "database/exchange/c3d_reader.h"
#include "tests/database/exchange/c3d_bytes.h"
#include "tests/database/exchange/fixtures.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::exchange::py_c3d_test {
namespace {

const std::string kFolder = support::SharedDataDir() + "/c3d/";

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

/// Every position, residual and mask of a file, ours against py-c3d's.
void Compare(const std::string& python, const std::string& script, const std::string& path) {
  const auto run = support::RunCommand(python + " " + script + " " + path);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  std::istringstream in(run.output.substr(run.output.find("DATA")));
  std::string word;
  int frames = 0, points = 0;
  in >> word >> frames >> points;
  auto source = OpenC3d(path).value();
  const recording::Clip clip = ReadWhole(*source).value();
  const auto markers = testing::Stream(clip, "c3d/markers");
  recording::SampleWindow cameras;
  const bool with_cameras = !clip.FindStreams("c3d/cameras").empty();
  if (with_cameras) cameras = testing::Stream(clip, "c3d/cameras");
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
      if (with_cameras) {
        ASSERT_EQ(cameras.value(p, f), theirs[4]);
      }
    }
  }
  EXPECT_GT(compared, frames * points / 2);
}

class PyC3d : public testing::ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    ASSERT_TRUE(std::filesystem::exists(python_)) << "run tools/setup";
    script_ = PutFile("oracle.py", {kScript, kScript + std::strlen(kScript)});
  }
  const std::string python_ = support::Prefix() + "/oracles/python/bin/python";
  std::string script_;
};

TEST_F(PyC3d, PositionsResidualsAndMasksOfRealFiles) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << kFolder << " is absent";
  for (const char* name :
       {"sample_01/Eb015pi.c3d", "sample_01/Eb015sr.c3d", "sample_01/Eb015vi.c3d",
        "sample_02/dec_real.c3d", "sample_02/sgi_int.c3d", "sample_10/TYPE-3.c3d",
        "sample_25/analogfpscale04i.c3d"}) {
    SCOPED_TRACE(name);
    Compare(python_, script_, kFolder + name);
  }
}

// The same where the files of others are absent: made ones, in all six encodings.
TEST_F(PyC3d, PositionsResidualsAndMasksOfMadeFiles) {
  for (const auto processor :
       {testing::C3dBytes::kIntel, testing::C3dBytes::kDec, testing::C3dBytes::kMips}) {
    for (const bool is_float : {false, true}) {
      SCOPED_TRACE(std::to_string(processor) + (is_float ? " float" : " integer"));
      testing::C3dBytes made;
      made.processor = processor;
      made.is_float = is_float;
      made.word = [](int f, int p) {
        return f == 5 && p == 1 ? -1 : 256 * ((17 * f + p) % 128) + (31 * f + p) % 256;
      };
      Compare(python_, script_, PutFile("made.c3d", made.Build()));
    }
  }
}

}  // namespace
}  // namespace handhold::exchange::py_c3d_test
