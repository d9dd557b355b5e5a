#include "tools/pipeline/lineage.h"

#include <optional>
#include <set>

#include "database/store/artefact_finder.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {
namespace {

/// The artefact of this hash; empty: there is none.
Result<std::optional<store::ArtefactInfo>> InfoOf(const store::Library& library,
                                                  const std::string& hash) {
  HANDHOLD_ASSIGN(const std::vector<store::ArtefactInfo> found,
                  store::FindArtefacts(library.catalogue(), {.hash_begins = hash, .newest = 1}));
  if (found.empty()) return std::optional<store::ArtefactInfo>();
  return std::optional<store::ArtefactInfo>(found.front());
}

Status Visit(const store::Library& library, const artefact::ProvenanceInput& input, int depth,
             std::set<std::string>* seen, std::vector<LineageNode>* nodes) {
  LineageNode node{
      depth, input.role, "file", input.hash, input.name, "", !seen->insert(input.hash).second};
  HANDHOLD_ASSIGN(const std::optional<store::ArtefactInfo> made, InfoOf(library, input.hash));
  if (made) {
    node.kind = made->kind;
    node.step = made->provenance.step;
  } else if (const auto clip = FindClipByHash(library, input.hash)) {
    node.kind = "clip";
    node.name = clip->row.name;
  }
  nodes->push_back(node);
  if (!made || node.seen) return {};
  for (const artefact::ProvenanceInput& next : made->provenance.inputs)
    HANDHOLD_TRY(Visit(library, next, depth + 1, seen, nodes));
  return {};
}

}  // namespace

Result<std::vector<LineageNode>> Lineage(const store::Library& library, const std::string& hash) {
  std::vector<LineageNode> nodes;
  std::set<std::string> seen;
  HANDHOLD_TRY(Visit(library, {"", hash, ""}, 0, &seen, &nodes));
  return nodes;
}

Result<std::vector<store::ArtefactInfo>> Descendants(const store::Library& library,
                                                     const std::string& hash) {
  std::vector<store::ArtefactInfo> found;
  std::set<std::string> seen = {hash};
  std::vector<std::string> open = {hash};
  for (size_t at = 0; at < open.size(); ++at) {
    HANDHOLD_ASSIGN(const std::vector<std::string> made, library.MadeFrom(open[at]));
    for (const std::string& next : made) {
      if (!seen.insert(next).second) continue;
      HANDHOLD_ASSIGN(std::optional<store::ArtefactInfo> info, InfoOf(library, next));
      if (!info) continue;
      found.push_back(*std::move(info));
      open.push_back(next);
    }
  }
  return found;
}

}  // namespace handhold::pipeline
