#include "tools/pipeline/lineage.h"

#include <map>
#include <set>

namespace handhold::pipeline {
namespace {

class Walk {
 public:
  explicit Walk(const store::Library& library) : library_(library) {}

  Status Load() {
    HANDHOLD_ASSIGN(const auto all, library_.Artefacts());
    for (const store::ArtefactInfo& info : all) artefacts_[info.hash] = info;
    HANDHOLD_ASSIGN(const auto clips, library_.Clips());
    for (const store::ClipRow& clip : clips) clips_[clip.sha256] = clip.name;
    return {};
  }

  void Visit(const artefact::ProvenanceInput& input, int depth) {
    LineageNode node{
        depth, input.role, "file", input.hash, input.name, "", !seen_.insert(input.hash).second};
    const auto made = artefacts_.find(input.hash);
    const auto clip = clips_.find(input.hash);
    if (made != artefacts_.end()) {
      node.kind = made->second.kind;
      node.step = made->second.provenance.step;
    } else if (clip != clips_.end()) {
      node.kind = "clip";
      node.name = clip->second;
    }
    nodes.push_back(node);
    if (made == artefacts_.end() || node.seen) return;
    for (const artefact::ProvenanceInput& next : made->second.provenance.inputs)
      Visit(next, depth + 1);
  }

  std::vector<LineageNode> nodes;
  const std::map<std::string, store::ArtefactInfo>& artefacts() const { return artefacts_; }

 private:
  const store::Library& library_;
  std::map<std::string, store::ArtefactInfo> artefacts_;
  std::map<std::string, std::string> clips_;
  std::set<std::string> seen_;
};

}  // namespace

Result<std::vector<LineageNode>> Lineage(const store::Library& library, const std::string& hash) {
  Walk walk(library);
  HANDHOLD_TRY(walk.Load());
  walk.Visit({"", hash, ""}, 0);
  return std::move(walk.nodes);
}

Result<std::vector<store::ArtefactInfo>> Descendants(const store::Library& library,
                                                     const std::string& hash) {
  Walk walk(library);
  HANDHOLD_TRY(walk.Load());
  std::vector<store::ArtefactInfo> found;
  std::set<std::string> seen = {hash};
  std::vector<std::string> open = {hash};
  for (size_t at = 0; at < open.size(); ++at) {
    HANDHOLD_ASSIGN(const std::vector<std::string> made, library.MadeFrom(open[at]));
    for (const std::string& next : made) {
      const auto info = walk.artefacts().find(next);
      if (info == walk.artefacts().end() || !seen.insert(next).second) continue;
      found.push_back(info->second);
      open.push_back(next);
    }
  }
  return found;
}

}  // namespace handhold::pipeline
