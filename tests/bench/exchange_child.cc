// Imports one C3D file as the program does and says how much memory that took: a process of its
// own, so that nothing else counts. exchange_child FILE CLIP -> peak resident kB on stdout.
#include <sys/resource.h>

#include <cstdio>

#include "tools/pipeline/import.h"

int main(int argc, char** argv) {
  using namespace handhold;
  if (argc != 3) return 2;
  auto source = exchange::OpenC3d(argv[1]);
  if (!source) {
    std::fprintf(stderr, "%s\n", source.error().message.c_str());
    return 1;
  }
  recording::ClipInfo info = (*source)->info();
  info.id = ClipId::New();
  std::map<int, pipeline::ImportedSamples> samples;
  if (Status status = pipeline::WriteImport(**source, info, argv[2], samples); !status) {
    std::fprintf(stderr, "%s\n", status.error().message.c_str());
    return 1;
  }
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%ld\n", usage.ru_maxrss);
}
