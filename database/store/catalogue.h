/// Rows of the catalogue: written when a clip, an artefact or an entry of the ledger is indexed.
/// Internal to the store.
#pragma once

#include "database/store/library.h"

namespace handhold::store {

/// Creates an empty catalogue file.
Result<Database> CreateCatalogue(const std::string& path, const IndexerOptions& indexer);
Result<Database> OpenCatalogue(const std::string& path);
Result<IndexerOptions> GetIndexerOptions(const Database& catalogue);

/// Opens, indexes and writes all rows of one clip, replacing earlier ones. Leaves tags to
/// CopyLedger.
Status CatalogueClip(Database& catalogue, const std::string& folder, const std::string& file,
                     const IndexerOptions& indexer);
Status CatalogueArtefact(Database& catalogue, const std::string& path);
/// Copies what the ledger says now about one clip (its id), or about all.
Status CopyLedger(Database& catalogue, const Ledger& ledger, const std::string& clip_id);
/// SHA-256 of a file, hex.
Result<std::string> HashFile(const std::string& path);

}  // namespace handhold::store
