#include "database/artefact/grasp.h"

#include <cstdio>

namespace handhold::artefact {

std::string Grasp::Brief() const {
  std::string text = "grasp";
  for (const char* taxonomy : {"feix", "cutkosky", "schlesinger"}) {
    const auto type = types.find(taxonomy);
    if (type == types.end() || type->second.empty()) continue;
    text += " '" + type->second + "'";
    break;
  }
  text += " of '" + prop + "'" + (region.empty() ? "" : " at '" + region + "'") + " by hand '" +
          skeleton_name + "': " + std::to_string(contacts.size()) + " contacts";
  for (const char* score : {"rank", "dfc", "fmax_N", "epsilon", "margin"}) {
    const auto at = scores.find(score);
    if (at == scores.end()) continue;
    char one[64];
    std::snprintf(one, sizeof one, ", %s %.3g", score, at->second);
    text += one;
  }
  for (const GraspTest& test : tests)
    text += ", " + test.protocol + (test.passed ? " passed" : " failed");
  if (!proposer.empty()) text += " (" + proposer + (scripted ? ", scripted)" : ")");
  return text;
}

}  // namespace handhold::artefact
