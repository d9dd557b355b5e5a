/// The rules of the house about who may see whom, as tables and as checks over a SourceTree.
///
/// A check returns its findings, one sentence each with file, line and the way out; an empty list
/// means that the tree keeps the rule. Files under tests/ may include what they like, except where
/// a check says otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/house/source_tree.h"

namespace handhold::house {

/// What the files of a module may include of the project, beside the module's own.
struct Layer {
  std::string_view module;
  std::vector<std::string_view> may_see;  ///< modules, folders of modules, or single headers
};

/// Who may include a foreign header.
struct Fence {
  std::string_view what;                     ///< "SQLite"
  std::vector<std::string_view> headers;     ///< "sqlite3.h", or a folder: "Eigen"
  std::vector<std::string_view> allowed_in;  ///< modules or folders; tests/ always may
};

/// No file of `from` may come to use a file of `never`, however many includes lie between.
struct Independence {
  std::string_view name;
  std::vector<std::string_view> from;
  std::vector<std::string_view> never;  ///< folders, or a header without its suffix
};

const std::vector<Layer>& Layers();
const std::vector<Fence>& Fences();
const std::vector<Independence>& Independences();

/// Every project include of a product file is allowed by its module's layer (the longest that
/// matches), exists, and is written from the root. A module without a layer is a finding.
std::vector<std::string> CheckLayers(const SourceTree& tree);

/// Foreign headers only where their fence allows.
std::vector<std::string> CheckFences(const SourceTree& tree);

/// Follows includes and, from a header, the source file that implements it (x.h -> x.cc): what a
/// file calls, not only what it sees. A finding shows the chain.
std::vector<std::string> CheckIndependence(const SourceTree& tree);

/// A header says `#pragma once` and begins with a `///` sentence; a source file includes its own
/// header first, which is what proves that header self-sufficient.
std::vector<std::string> CheckHeaders(const SourceTree& tree);

/// Product headers that no source file includes first; the build compiles each of them on its own.
std::vector<std::string> HeadersWithoutSource(const SourceTree& tree);

}  // namespace handhold::house
