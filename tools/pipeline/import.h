/// Other programs' recordings into the library: one clip per file, nothing rounded, every doubt
/// listed.
///
/// Files are read forward in bounded memory (exchange::ImportSource), written as final chunks
/// (store's already_complete) and catalogued. Several files go in parallel, a thread per core and
/// one more; the library itself is touched by the calling thread only. A file that fails leaves
/// nothing behind and does not stop the others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/exchange/c3d_reader.h"
#include "database/exchange/import_source.h"
#include "database/store/library.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

struct ImportOptions {
  /// "auto" (by content, then by name), "c3d", "csv", "qtm-tsv".
  std::string format = "auto";
  bool use_ezc3d = false;    ///< read C3D with ezc3d, in a child process
  bool cross_check = false;  ///< read C3D with both and list where they differ
  exchange::C3dReadOptions c3d;
  std::string head = {};  ///< a file that says what the columns of other programs' CSV are
  /// Of the clip. Empty: the file's name, which `import.file` then keeps too. With one, the clip
  /// does not carry the file's name: it may be a person's.
  std::string name = {};
  /// Of every clip; empty: not said.
  std::string subject = {};
  std::string session = {};
  std::string task = {};
  std::string prop = {};
  bool dry_run = false;  ///< read everything, write nothing
  int jobs = 0;          ///< files at once; 0: one per core, and one more
};

/// What an import took of one stream.
struct ImportedSamples {
  int64_t count = 0;
  int64_t begin_counter = 0, end_counter = 0;  ///< of the first, and one past the last
  Timestamp first_host, last_host;             ///< of uneven streams
};

struct ImportedFile {
  std::string path;
  std::optional<Error> error;  ///< nothing of it is in the library then
  std::string format;
  std::string clip;  ///< id; empty in a dry run
  std::string name;
  int streams = 0;
  int64_t samples = 0;  ///< of all streams
  Duration length;      ///< of the longest stream, with the gaps in it
  int64_t bytes = 0;    ///< of the file
  std::string sha256;   ///< of the file; the clip keeps it as its property import.sha256
  /// Which clip was made of this very file before, and when; empty: none. It is among the issues.
  std::string earlier;
  Issues issues;
  bool lost() const { return AnyLoss(issues); }
};

/// One result per path, in order. A file that has been imported before (its SHA-256 is that of a
/// clip of the library) is imported again, with a warning that names the clip. Fails as a whole
/// only when cancelled (what is complete stays). `library` may be null in a dry run.
Result<std::vector<ImportedFile>> ImportFiles(store::Library* library,
                                              const std::vector<std::string>& paths,
                                              const ImportOptions& options,
                                              const Progress& progress = {});

/// Opens a file of any format that is known. Errors name the path.
Result<std::unique_ptr<exchange::ImportSource>> OpenForeign(const std::string& path,
                                                            const ImportOptions& options);

/// Writes a source as a closed clip file; `path` must not exist. Memory: 2 s of the recording and
/// the source's own, below 64 MB for up to 2000 channels at 1 kHz. `samples` counts what was
/// written, by stream; `tick` is asked now and then and returns false to cancel. What reading found
/// stays with the clip: a property "import.finding.NNN" each, and for a loss a red QualityItem and
/// keep = false (schemas/README.md).
Status WriteImport(exchange::ImportSource& source, const recording::ClipInfo& info,
                   const std::string& path, std::map<int, ImportedSamples>& samples,
                   const std::function<bool()>& tick = {});

}  // namespace handhold::pipeline
