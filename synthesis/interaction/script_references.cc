// Makes the scripted references that ship: script_references FOLDER writes
// schemas/references/*.json. The same program gives the same files.
#include <cstdio>
#include <filesystem>

#include "synthesis/interaction/shipped_references.h"

int main(int argc, char** argv) {
  using namespace handhold;
  if (argc != 2) {
    std::fprintf(stderr, "usage: script_references FOLDER\n");
    return 2;
  }
  for (const std::string& name : synthesis::ShippedReferenceNames()) {
    const auto reference = synthesis::MakeShippedReference(name);
    const Status saved = reference
                             ? artefact::SaveReferenceFile(
                                   *reference, std::filesystem::path(argv[1]) / (name + ".json"))
                             : Status(reference.error());
    if (!saved) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), saved.error().message.c_str());
      return 1;
    }
    std::printf("%s: %zu frames\n", name.c_str(), reference->trajectory.times.size());
  }
  return 0;
}
