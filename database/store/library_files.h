/// What a library consists of on disk: its files, the locks on its folders, the scan that makes
/// its catalogue, and the check of all of it. Internal to the store; library.h is what others use.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "database/store/library.h"

namespace handhold::store {

/// A lock on a folder itself (flock), so that nothing is left behind; given up when destroyed, and
/// when the process dies. Of a library:
///   the folder      exclusive: who makes the catalogue anew
///   clips/          shared: who adds rows; exclusive: who puts the new catalogue in its place
class FolderLock {
 public:
  FolderLock() = default;
  /// kBusy, saying `who` has it, when it was not to be had for `patience`.
  static Result<FolderLock> Take(const std::string& folder, bool exclusive, Duration patience,
                                 const std::string& who);
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FolderLock();

 private:
  int fd_ = -1;
};

/// Folders a library has. Empty ones are lost by what keeps files only (zip, git, sync).
inline constexpr const char* kFolders[] = {"clips", "derived", "attachments"};
/// Makes what is missing of them.
Status MakeFolders(const std::string& path);

/// Names in `folder` that end in `extension`, sorted: files and whatever else is called so.
std::vector<std::string> FilesIn(const std::string& folder, const char* extension);
/// kInvalid for a folder, a pipe, a device or a link to nothing: reading one may never end.
Status RegularFile(const std::string& path);

/// What a clip's file says as it lies there: by no connection that could recover a log or make its
/// index.
struct AsItLies {
  bool readable = false, closed = false;
  std::string id;  ///< empty: it does not say
};
AsItLies LookAt(const std::string& file);

/// The clip that the catalogue has in this row, out of the library at `path`. kCorrupt when the
/// file holds another one (files that were exchanged), kIo when it is gone.
Result<std::unique_ptr<ClipReader>> OpenRow(const std::string& path, const ClipRow& row,
                                            const ClipReaderOptions& options = {});

/// Which file of clips/ a clip is taken from when several hold it: the one that is named by it.
class ClipOwners {
 public:
  /// `file` (its name in clips/) holds the clip `id`. Answers the file that is not taken for it,
  /// this one or one claimed before; empty when there is none.
  std::string Claim(const std::string& id, const std::string& file);
  /// What is said of a file that is not taken.
  std::string CopyOf(const std::string& id) const;
  /// Whether `what` is from CopyOf.
  static bool IsCopy(const std::string& what);
  /// Whether the clip `id` of the library at `path` is in no file: none was claimed to hold it, and
  /// there is none of its name, which could not be read or is being written, unless that holds
  /// another clip.
  bool IsGone(const std::string& path, const std::string& id) const;

 private:
  std::map<std::string, std::string> owners_;  ///< file, by clip
  std::set<std::string> claimed_;              ///< files
};

/// What the ledger says of each clip that it knows, also of one of which nothing holds any more:
/// "rating 4, tags good, sharp, 2 notes". Damaged entries are left out: Ledger::Check names them.
Result<std::map<std::string, std::string>> SaidOfClips(const Ledger& ledger);
/// What is said of a clip that is in no file: that the ledger says `said` of it (empty: nothing),
/// and how it comes back.
std::string NoFile(const std::string& said);
/// Names of clips, by id, in the catalogue.
Result<std::map<std::string, std::string>> ClipNames(const Database& catalogue);
/// SHA-256 of the clips, by id, that were closed when the catalogue was written.
Result<std::map<std::string, std::string>> ClosedClipHashes(const Database& catalogue);
/// What is said of a clip that the catalogue calls `name`, that is in no file and that a rebuild
/// does not know any more. `said`: as NoFile.
std::string Forgotten(const std::string& name, const std::string& said);

/// What programs that were killed left in clips/ and derived/: parts of files that were never
/// acknowledged, and locks that nobody holds, but for those of recordings that are not closed.
Issues Leftovers(const std::string& path);
/// Removes them, each under its writer's lock, as far as they are named as ours are; answers what
/// was removed. What is being written stays.
Issues RemoveLeftovers(const std::string& path);
/// How many it would remove.
int64_t CountLeftovers(const std::string& path);

/// What the ledger says of the indexer; damaged entries go to `damage`, and what they said is taken
/// from `known`: other thresholds would find other contacts.
Result<IndexerOptions> IndexerOf(const Ledger& ledger, const IndexerOptions& known, Issues& damage);

/// Library::Rebuild of the library at `path`, up to the rename. A failure that is not a clip's or
/// artefact's own (the catalogue cannot be written) leaves the old catalogue. The caller holds the
/// lock on the folder.
Result<Issues> RebuildCatalogue(const std::string& path, const Ledger& ledger, bool finish,
                                const Progress& progress);

/// A catalogue of the library at `path` in another place, `file`, where its own folder cannot be
/// written. Writes nothing to the library.
Result<Issues> MakeCatalogueAside(const std::string& path, const Ledger& ledger,
                                  const std::string& file);

/// Library::Check.
Result<Issues> CheckLibrary(const std::string& path, const Database& catalogue,
                            const Ledger& ledger, const Progress& progress);

}  // namespace handhold::store
