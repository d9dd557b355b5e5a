/// Which results there are: by kind, by what they were made from, by subject, by hash. Every
/// question goes by an index of the catalogue; none reads a result (mark store.find). Tests:
/// tests/database/store/artefact_finder_test.cc.
#pragma once

#include <string>
#include <vector>

#include "database/store/artefact_file.h"
#include "database/store/sqlite.h"

namespace handhold::store {

/// Empty: any. At most one of made_from, subject and hash_begins.
struct ArtefactFilter {
  std::string kind = {};
  std::string made_from = {};    ///< SHA-256 of a clip or artefact that is among the inputs
  std::string subject = {};      ///< of a clip, not withdrawn, that is the input "clip"
  std::string hash_begins = {};  ///< lower-case hex
  int64_t newest = -1;           ///< so many; -1: all
};

/// Newest first: by when they were made, or last asked for again.
Result<std::vector<ArtefactInfo>> FindArtefacts(const Database& catalogue,
                                                const ArtefactFilter& filter);

/// UTC at which the result at `path` was last asked for again, by the file beside it
/// ("<hash>.renewed"); long ago where there is none, or it is damaged.
Timestamp RenewedAt(const std::string& path);
/// The file beside it.
std::string RenewedPath(const std::string& path);

}  // namespace handhold::store
