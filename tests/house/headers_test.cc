// Headers stand on their own, and every source file belongs to a target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/house/rules.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::house::headers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const SourceTree& Project() {
  static const SourceTree tree = LoadTree(support::SourceDir());
  return tree;
}

TEST(Headers, BeginAsTheyShould) {
  const auto headers = std::count_if(Project().begin(), Project().end(),
                                     [](const auto& entry) { return entry.first.ends_with(".h"); });
  EXPECT_GE(headers, 50);
  EXPECT_THAT(CheckHeaders(Project()), IsEmpty());
}

TEST(HeadersCanary, EachRuleBites) {
  SourceTree tree;
  AddFile(tree, "database/base/a.h", "/// What it is.\n#pragma once\n");
  AddFile(tree, "database/base/a.cc", "#include <vector>\n#include \"database/base/a.h\"\n");
  AddFile(tree, "database/base/b.h", "/// What it is.\n// #pragma once\n");
  AddFile(tree, "database/base/c.h", "\n#pragma once\n");
  EXPECT_THAT(CheckHeaders(tree),
              ElementsAre("database/base/a.cc: does not include \"database/base/a.h\" first",
                          "database/base/b.h: no #pragma once",
                          HasSubstr("database/base/c.h: does not begin with a /// sentence")));
}

// tests/house/CMakeLists.txt compiles, one by one, the headers that no source file includes first.
// Here: that none was left out.
TEST(Headers, WithoutSourceAreCompiledOnTheirOwn) {
  std::ifstream list(HANDHOLD_HEADER_LIST);
  ASSERT_TRUE(list.good()) << HANDHOLD_HEADER_LIST;
  std::set<std::string> compiled;
  for (std::string line; std::getline(list, line);) compiled.insert(line);
  EXPECT_GE(compiled.size(), 15u);
  for (const std::string& header : HeadersWithoutSource(Project())) {
    EXPECT_EQ(compiled.count(header), 1u) << header << " is compiled by nobody on its own";
  }
}

// The compiler's verdict on tests/house/canary/NAME, with the flags of the self-sufficiency build.
support::CommandResult Compile(const std::string& name) {
  return support::RunCommand(std::string("LC_ALL=C ") + HANDHOLD_CXX_COMPILER +
                             " -std=c++20 -fsyntax-only -I" + support::SourceDir() + " -x c++ " +
                             support::SourceDir() + "/tests/house/canary/" + name);
}

TEST(HeadersCanary, AHeaderThatLeansOnItsIncluderDoesNotCompile) {
  const auto leaning = Compile("leaning_header.txt");
  EXPECT_NE(leaning.exit_code, 0);
  EXPECT_THAT(leaning.output, HasSubstr("'vector' in namespace 'std'"));
  EXPECT_EQ(Compile("standing_header.txt").exit_code, 0);
}

// A source file that no CMakeLists.txt names is dead code that looks alive.
std::vector<std::string> UnlistedFiles(const std::string& root, const SourceTree& tree) {
  namespace fs = std::filesystem;
  std::vector<std::string> findings;
  for (const auto& [path, file] : tree) {
    fs::path folder = fs::path(path).parent_path();
    while (!fs::exists(fs::path(root) / folder / "CMakeLists.txt") && !folder.empty()) {
      folder = folder.parent_path();
    }
    std::string cmake = ReadText((fs::path(root) / folder / "CMakeLists.txt").string());
    std::string name = fs::path(path).lexically_relative(folder).generic_string();
    // Shared support is compiled where it is used: "../../support/faults.cc" in any test's list.
    if (Under(path, "tests/support")) {
      for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / "tests")) {
        if (entry.path().filename() == "CMakeLists.txt") cmake += ReadText(entry.path().string());
      }
      name = fs::path(path).filename().string();
    }
    // handhold_fuzz(NAME) names NAME_fuzz.cc.
    const std::string fuzz =
        name.ends_with("_fuzz.cc") ? "handhold_fuzz(" + name.substr(0, name.size() - 8) : name;
    bool named = false;
    const std::string ends = " \t\n)(\"/";
    for (const std::string& wanted : {name, fuzz}) {
      for (std::size_t at = cmake.find(wanted); at != std::string::npos && !named;
           at = cmake.find(wanted, at + 1)) {
        const std::size_t end = at + wanted.size();
        named = (at == 0 || ends.find(cmake[at - 1]) != std::string::npos) &&
                (end == cmake.size() || ends.find(cmake[end]) != std::string::npos);
      }
    }
    if (!named) findings.push_back(path + " is named in no CMakeLists.txt");
  }
  return findings;
}

TEST(Files, BelongToATarget) {
  SourceTree tree = Project();
  // Headers and .inc files are included; that every test is registered is checked at configure.
  std::erase_if(tree, [](const auto& entry) {
    return !entry.first.ends_with(".cc") || entry.first.ends_with("_test.cc");
  });
  EXPECT_GE(tree.size(), 50u);
  EXPECT_THAT(UnlistedFiles(support::SourceDir(), tree), IsEmpty());
}

TEST(FilesCanary, AnUnlistedFileIsFound) {
  SourceTree tree;
  AddFile(tree, "database/base/check.cc", "");
  AddFile(tree, "database/base/eck.cc", "");
  EXPECT_THAT(UnlistedFiles(support::SourceDir(), tree),
              ElementsAre("database/base/eck.cc is named in no CMakeLists.txt"));
}

}  // namespace
}  // namespace handhold::house::headers_test
