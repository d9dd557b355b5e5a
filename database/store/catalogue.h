/// Rows of the catalogue: written when a clip, an artefact or an entry of the ledger is indexed.
/// Internal to the store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "database/store/library.h"

namespace handhold::store {

/// Creates an empty catalogue file (":memory:" and "" as SQLite means them).
Result<Database> CreateCatalogue(const std::string& path, const IndexerOptions& indexer);
/// kNotFound: none; kCorrupt: ours, but damaged, half made or of an earlier revision: to be made
/// anew; kVersion: a newer program's; kInvalid: not ours. Others (kBusy, kIo): it cannot be told.
/// `as_it_lies`: read-only, without lock or journal: nothing is made beside it, nor recovered.
Result<Database> OpenCatalogue(const std::string& path, bool as_it_lies = false);
Result<IndexerOptions> GetIndexerOptions(const Database& catalogue);

/// What the catalogue keeps of a clip file. Reading and putting are apart, since their failures
/// mean different things: the first is the clip's, the second the catalogue's.
struct ClipRows {
  std::unique_ptr<ClipReader> clip;
  ClipIndex index;
  std::string file;  ///< within clips/
  std::string sha256;
  int64_t bytes = 0, mtime_ns = 0;
  std::vector<std::string> texts;  ///< of its text streams
};
/// `untrusted`: as ClipReaderOptions.
Result<ClipRows> ReadClipRows(const std::string& path, const IndexerOptions& indexer,
                              bool untrusted);
/// Replaces earlier rows of the same clip. Leaves tags to CopyLedger.
Status PutClipRows(Database& catalogue, const ClipRows& rows);

struct ArtefactRows {
  ArtefactInfo info;
  int64_t bytes = 0;
  Timestamp renewed_utc = {};
  std::optional<artefact::ContactTrack> track;
};
/// kCorrupt when the file is not named by what it says it was made from.
Result<ArtefactRows> ReadArtefactRows(const std::string& path);
Status PutArtefactRows(Database& catalogue, const ArtefactRows& rows);

/// Copies what the ledger says now, `entries`, about one clip (its id), or about all.
Status CopyLedger(Database& catalogue, const std::vector<LedgerEntry>& entries,
                  const std::string& clip_id);
/// SHA-256 of a file, hex.
Result<std::string> HashFile(const std::string& path);

}  // namespace handhold::store
