/// Whether a path lies on a file system whose locks and shared memory cannot be trusted: there a
/// write-ahead log corrupts, and so neither recordings nor the catalogue are written there.
#pragma once

#include <string>

namespace handhold::store {

/// "nfs", "lustre", ...: the kind of network file system a path lies on; empty: a local one, or no
/// such path.
std::string NetworkFileSystem(const std::string& path);

/// Tests: paths that begin so are taken to lie on NFS, until called with "". Not thread-safe.
void PretendNetworkFileSystem(const std::string& prefix);

}  // namespace handhold::store
