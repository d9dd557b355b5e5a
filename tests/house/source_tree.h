/// The project's C++ files and what they include: what the guards of tests/house look at.
///
/// Trees are loaded from disk, or written by a test as a canary: a guard that does not report a
/// planted breach with the stated message guards nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace handhold::house {

/// One `#include` line.
struct Include {
  int line = 0;         ///< 1-based
  std::string path;     ///< as written: "database/base/result.h", "vector"
  bool quoted = false;  ///< "..." rather than <...>
};

struct SourceFile {
  std::string text;
  std::vector<Include> includes;
};

/// Files by their path from the root, with '/' separators; sorted, so that findings come in order.
using SourceTree = std::map<std::string, SourceFile>;

/// Includes outside comments. Conditional ones count too: a guard must hold in every configuration.
std::vector<Include> ParseIncludes(std::string_view text);

/// Adds a file to a tree that a test writes itself.
void AddFile(SourceTree& tree, std::string path, std::string text);

/// Every *.h, *.cc and *.inc under database, capture, fitting, synthesis, tools and tests of
/// `root`. Throws when `root` is not the project: an empty tree would please every guard.
SourceTree LoadTree(const std::string& root);

/// True for `path` itself and for everything below it: Under("a/b/c.h", "a/b") and ("a/b", "a/b").
bool Under(std::string_view path, std::string_view prefix);

/// Whole file as text; throws when it cannot be read.
std::string ReadText(const std::string& path);

}  // namespace handhold::house
