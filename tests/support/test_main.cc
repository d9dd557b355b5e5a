// The main of every test program. A folder's tests are one program; `--file=clip_test.cc` runs
// those of one source file, as ctest does, so that each file is a test of its own there.
#include "tests/support/paths.h"

#include <cstdio>
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
  return RUN_ALL_TESTS();
}
