/// Reads a clip file: random windows without loading the clip, and whole streams in constant
/// memory.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/recording/clip.h"

namespace handhold::store {

/// A clip on disk. Opens files that were never closed too (a killed recorder), read-only media, and
/// nothing that is not a clip: foreign and newer files are refused with a reason and stay
/// byte-identical.
class ClipReader : public recording::ClipSource {
 public:
  static Result<std::unique_ptr<ClipReader>> Open(const std::string& path);

  /// Calls `visit` with consecutive windows of a stream, none longer than about 2 s; stops at its
  /// first error.
  virtual Status Stream(
      int stream_id, const std::vector<int>& channels,
      const std::function<Status(const recording::SampleWindow&)>& visit) const = 0;
  /// True when the file was closed in order; false: recovered after a crash.
  virtual bool closed() const = 0;
  /// Verifies every checksum and digest; findings name stream and time span.
  virtual Result<Issues> Check() const = 0;
};

}  // namespace handhold::store
