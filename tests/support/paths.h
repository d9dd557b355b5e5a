/// Where a test finds the project's own files. The clone's path is compiled into one object alone
/// (test_main.cc), so that clones share all others through the compiler cache.
#pragma once

#include <string>

namespace handhold::support {

const std::string& SourceDir();      ///< the project's root
const std::string& SharedDataDir();  ///< recordings and meshes of others, beside the root; may not
                                     ///< exist
const std::string& Prefix();         ///< what tools/setup fetched and built (see its head)
const std::string& Binary();         ///< the program of this build
const std::string& Node();           ///< Node, by which pages are built and driven
const std::string& NodeModules();

}  // namespace handhold::support
