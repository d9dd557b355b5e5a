#include <string>
#include <vector>

#include "tools/handhold/verbs.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return handhold::cli::Run(handhold::cli::HandholdProgram(), words,
                            handhold::cli::Streams::Detect());
}
