// The main of every test program. A folder's tests are one program; `--file=clip_test.cc` runs
// those of one source file, as ctest does, so that each file is a test of its own there.
#include "tests/support/paths.h"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::support {

const std::string& SourceDir() {
  static const std::string path = HANDHOLD_SOURCE_DIR;
  return path;
}
const std::string& SharedDataDir() {
  static const std::string path = SourceDir() + "/../shared/data";
  return path;
}
const std::string& Prefix() {
  static const std::string path = HANDHOLD_PREFIX;
  return path;
}
const std::string& Binary() {
  static const std::string path = HANDHOLD_BINARY;
  return path;
}
const std::string& Node() {
  static const std::string path = Prefix() + "/node/bin/node";
  return path;
}
const std::string& NodeModules() {
  static const std::string path = Prefix() + "/viewer/node_modules";
  return path;
}

namespace {

// All tests that stand in the source file of this name, as a filter of GoogleTest.
std::string TestsOfFile(std::string_view name) {
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  std::string filter;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(t);
      const std::string_view file = test.file();
      const std::string_view base = file.substr(file.rfind('/') + 1);
      if (base == name) filter += std::string(suite.name()) + "." + test.name() + ":";
    }
  }
  return filter;
}

// Of this process and its children so far.
double ProcessorSeconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime})
      sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return sum;
}

// A unit test that computes for long holds up everybody: its long part belongs to a longer form.
// ctest says how much one may take (house_test).
bool TookTooLong() {
  const char* most = std::getenv("HANDHOLD_MOST_PROCESSOR_S");
  const double took_s = ProcessorSeconds();
  if (most == nullptr || took_s <= std::atof(most)) return false;
  std::fprintf(stderr, "took %.1f processor seconds; a unit test takes at most %s\n", took_s, most);
  return true;
}

}  // namespace
}  // namespace handhold::support

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  constexpr std::string_view kFile = "--file=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.substr(0, kFile.size()) != kFile) {
      std::fprintf(stderr, "no option %s; there are --file=NAME_test.cc and GoogleTest's\n",
                   argv[i]);
      return 2;
    }
    const std::string tests = handhold::support::TestsOfFile(word.substr(kFile.size()));
    if (tests.empty()) {
      std::fprintf(stderr, "no test stands in %s\n", argv[i] + kFile.size());
      return 2;
    }
    GTEST_FLAG_SET(filter, tests);
  }
  const int failed = RUN_ALL_TESTS();
  return handhold::support::TookTooLong() ? 1 : failed;
}
