/// Reads a clip file: random windows without loading the clip, and whole streams in constant
/// memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/recording/clip.h"
#include "database/store/zone.h"

namespace handhold::store {

struct ClipReaderOptions {
  /// For files from elsewhere: the whole file is checked by SQLite before anything is read, and
  /// work is limited. Set where the library takes files it finds (Rebuild, Check); a clip that is
  /// in the catalogue has passed.
  bool untrusted = false;
  /// Opens a damaged file as far as it goes and appends what is wrong here, instead of refusing it.
  Issues* damage = nullptr;
  /// With `damage`: decodes the whole clip as it opens and reads around what cannot be. Samples
  /// that are lost are gaps of cause kDisconnected, channels that are lost for some time are
  /// missing there, and each such span is in `damage` and in the properties "damage.NNN".
  bool read_around = false;
  std::string vfs;
  /// What info() says instead of what the file does: as the ledger corrects it. None: the file's.
  std::optional<std::string> name = {}, subject = {}, session = {}, task = {}, prop = {};
};

/// A clip on disk. Opens files that were never closed too (a killed recorder), read-only media, and
/// nothing that is not a clip: foreign and newer files are refused with a reason and stay
/// byte-identical. Every value returned has passed the checksum of its frame, header and index.
/// Memory: about 40 bytes per chunk of the clip, and the window.
class ClipReader : public recording::ClipSource {
 public:
  static Result<std::unique_ptr<ClipReader>> Open(const std::string& path,
                                                  const ClipReaderOptions& options = {});

  /// Calls `visit` with consecutive windows of a stream, none longer than about 2 s; stops at its
  /// first error. The window is reused: copy what is to outlive the call.
  virtual Status Stream(
      int stream_id, const std::vector<int>& channels,
      const std::function<Status(const recording::SampleWindow&)>& visit) const = 0;
  /// True when the file was closed in order; false: left by a crash (or still being written).
  virtual bool closed() const = 0;
  /// Verifies every checksum and digest, decodes every chunk; findings name stream and time span.
  virtual Result<Issues> Check() const = 0;

  virtual const std::string& path() const = 0;
  virtual bool is_artefact() const = 0;
  virtual int64_t sample_count(int stream_id) const = 0;
  /// kNotFound without one of that name.
  virtual Result<std::vector<uint8_t>> Document(const std::string& name) const = 0;
  /// Of all documents, in order.
  virtual Result<std::vector<std::string>> DocumentNames() const = 0;

  /// Zone maps of a stream, in order, with the clip time each covers; stored ones in a closed clip,
  /// else computed by decoding. Cost: about 12 bytes per channel and chunk; of all at once with
  /// Zones.
  struct TimedZone {
    TimeRange range;
    Zone zone;
  };
  virtual Status VisitZones(int stream_id,
                            const std::function<Status(const TimedZone&)>& visit) const = 0;
  Result<std::vector<TimedZone>> Zones(int stream_id) const;
};

}  // namespace handhold::store
