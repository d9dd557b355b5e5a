/// Help texts, all made from the verbs' descriptions: examples before options, nothing that is not
/// registered.
#pragma once

#include <string>
#include <vector>

#include "tools/handhold/verb.h"

namespace handhold::cli {

/// Bare `handhold`: what it is, three examples, the verbs by noun.
std::string FrontHelp(const std::vector<Verb>& verbs);
/// `handhold help clip`: the verbs of one noun. Precondition: there is one.
std::string NounHelp(const std::string& noun, const std::vector<Verb>& verbs);
/// `handhold help clip list`.
std::string VerbHelp(const Verb& verb);
/// Every verb's help as one Markdown page: tools/handhold/REFERENCE.md, kept current by a test.
std::string MarkdownHelp(const std::vector<Verb>& verbs);

}  // namespace handhold::cli
