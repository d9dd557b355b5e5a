// Every module has a README that says what it is for, shows an example and records decisions; every
// example is compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/house/source_tree.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::house::readme_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// README.md files by their path from the root.
std::map<std::string, std::string> LoadReadmes(const std::string& root) {
  std::map<std::string, std::string> pages;
  for (const char* top : {"database", "capture", "fitting", "synthesis", "tools", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / top)) {
      if (entry.path().filename() != "README.md") continue;
      pages[entry.path().lexically_relative(root).generic_string()] =
          ReadText(entry.path().string());
    }
  }
  return pages;
}

/// "README:line" of the first line of each block that is marked as C++, however it is spelled.
std::vector<std::string> CppBlocks(const std::string& path, const std::string& page) {
  std::vector<std::string> blocks;
  std::istringstream in(page);
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::size_t fence = line.find_first_not_of(' ');
    if (fence == std::string::npos || line.compare(fence, 3, "```") != 0) continue;
    inside = !inside;
    const std::string mark = line.substr(fence + 3);
    if (inside && (mark.starts_with("c") || mark.starts_with("C"))) {
      blocks.push_back(path + ":" + std::to_string(number + 1));
    }
  }
  return blocks;
}

/// Blocks of the pages that nobody compiles. A fence that is indented, or marked other than
/// ```cpp, is not compiled by tools/cmake/readme_examples.cmake, and therefore a finding.
std::vector<std::string> Uncompiled(const std::map<std::string, std::string>& pages,
                                    const std::set<std::string>& compiled) {
  std::vector<std::string> findings;
  for (const auto& [path, page] : pages) {
    for (const std::string& block : CppBlocks(path, page)) {
      if (compiled.count(block) == 0) findings.push_back(block + " is compiled by nobody");
    }
  }
  return findings;
}

/// What each module's README lacks. `modules`: folders with C++ files.
std::vector<std::string> Incomplete(const std::set<std::string>& modules,
                                    const std::map<std::string, std::string>& pages) {
  std::vector<std::string> findings;
  for (const std::string& module : modules) {
    const std::string path = module + "/README.md";
    const auto page = pages.find(path);
    if (page == pages.end()) {
      findings.push_back(path +
                         " does not exist: what the module is for, an example, its types, "
                         "## Decisions");
      continue;
    }
    if (CppBlocks(path, page->second).empty())
      findings.push_back(path + " shows no ```cpp example");
    if (page->second.find("\n## Decisions\n") == std::string::npos) {
      findings.push_back(path + " has no ## Decisions");
    }
  }
  return findings;
}

std::set<std::string> Compiled() {
  std::ifstream list(HANDHOLD_README_LIST);
  std::set<std::string> compiled;
  for (std::string line; std::getline(list, line);) compiled.insert(line);
  return compiled;
}

TEST(Readme, EveryCppBlockIsCompiled) {
  const auto compiled = Compiled();
  EXPECT_GE(compiled.size(), 18u) << HANDHOLD_README_LIST;
  EXPECT_THAT(Uncompiled(LoadReadmes(support::SourceDir()), compiled), IsEmpty());
}

TEST(Readme, EveryModuleHasOneWithAnExampleAndDecisions) {
  std::set<std::string> modules;
  for (const auto& [path, file] : LoadTree(support::SourceDir())) {
    // database/x, capture/x ...: two levels; the program's frame belongs to the program.
    const std::size_t second = path.find('/', path.find('/') + 1);
    if (second == std::string::npos || Under(path, "tests")) continue;
    if (path.ends_with(".cc")) modules.insert(path.substr(0, second));
  }
  EXPECT_GE(modules.size(), 15u);
  EXPECT_THAT(Incomplete(modules, LoadReadmes(support::SourceDir())), IsEmpty());
}

// ---- canaries ----

TEST(ReadmeCanary, ABlockThatIsNotCompiledIsFound) {
  const std::map<std::string, std::string> pages = {
      {"a/README.md", "# a\n```cpp\nint x;\n```\n```c++\nint y;\n```\n  ```cpp\n  int z;\n  ```\n"},
      {"b/README.md", "# b\n```toml\nx = 1\n```\n```\nplain\n```\n"}};
  EXPECT_THAT(
      Uncompiled(pages, {"a/README.md:3"}),
      ElementsAre("a/README.md:6 is compiled by nobody", "a/README.md:9 is compiled by nobody"));
  EXPECT_THAT(Uncompiled(pages, {"a/README.md:3", "a/README.md:6", "a/README.md:9"}), IsEmpty());
}

TEST(ReadmeCanary, WhatAModuleLacksIsFound) {
  EXPECT_THAT(
      Incomplete({"a", "b", "c"},
                 {{"a/README.md", "# a\n```cpp\nint x;\n```\n\n## Decisions\n- none\n"},
                  {"b/README.md", "# b\nDecisions are made elsewhere\n"}}),
      UnorderedElementsAre("b/README.md shows no ```cpp example", "b/README.md has no ## Decisions",
                           HasSubstr("c/README.md does not exist")));
}

// What the compiler says about the blocks of a page, taken out by the script that the build uses.
support::CommandResult CompileExamples(const std::string& name, const std::string& page) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("readme_" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "README.md") << page;
  const std::string in = folder.string();
  const auto made = support::RunCommand(
      std::string(HANDHOLD_CMAKE) + " -D ROOT=" + in + " -D README=README.md -D OUT_DIR=" + in +
      " -P " + support::SourceDir() + "/tools/cmake/readme_examples.cmake");
  EXPECT_EQ(made.exit_code, 0) << made.output;
  return support::RunCommand(std::string("LC_ALL=C ") + HANDHOLD_CXX_COMPILER +
                             " -std=c++20 -fsyntax-only -I" + support::SourceDir() + " " + in +
                             "/*.cc");
}

TEST(ReadmeCanary, AnExampleThatDoesNotCompileIsFoundOnItsLine) {
  const std::string good =
      "# a; [b]\n\n<!-- example\n#include \"database/base/time.h\"\ngiven Duration d, const char* s"
      "\n-->\n```cpp\nconst int a[] = {1, 2};\nif (!s) return Error{ErrorCode::kInvalid, \"; "
      "[\"};\n"
      "Use(d.ns(), a[0]);\n```\n";
  EXPECT_EQ(CompileExamples("good", good).exit_code, 0) << CompileExamples("good", good).output;
  // A second block, whose name changed since the page was written: line 16 of the page.
  const auto bad =
      CompileExamples("bad", good + "text\n\n```cpp\n#include <vector>\n\nUse(Nothing(1));\n```\n");
  EXPECT_NE(bad.exit_code, 0);
  EXPECT_THAT(bad.output, HasSubstr("README.md:17:"));
  EXPECT_THAT(bad.output, HasSubstr("'Nothing' was not declared in this scope"));
}

}  // namespace
}  // namespace handhold::house::readme_test
