/// From a recording of 0.1 s chunks to the file that is kept: 2 s chunks, zone maps, digests.
/// Internal to the store.
#pragma once

#include <functional>
#include <string>

#include "database/store/clip_file.h"
#include "database/store/clip_writer.h"

namespace handhold::store {

/// A lock file held while a clip is written. A process that dies loses it.
class WriterLock {
 public:
  WriterLock() = default;
  static Result<WriterLock> Take(const std::string& clip_path);
  /// Whether somebody, this process included, writes the clip now. Leaves nothing behind.
  static bool IsHeld(const std::string& clip_path);
  WriterLock(WriterLock&& other) noexcept;
  WriterLock& operator=(WriterLock&& other) noexcept;
  ~WriterLock();
  bool held() const { return fd_ >= 0; }

 private:
  std::string path_;
  int fd_ = -1;
};

/// Reads every chunk of `db` back, writes its zone maps and all digests and marks it closed.
/// `original`: the recording it was made from; every sample is compared with it.
/// `chunk_done` is called after each.
Status Seal(Database& db, const Database* original, bool recovered,
            const std::function<void()>& chunk_done);
/// Replaces the clip, which nobody writes and which has no log, by its compacted self. `progress`:
/// ClipWriter::Close.
Status Compact(const std::string& path, const ClipWriterOptions& options, bool recovered,
               const std::function<void(double share)>& progress);
/// Gap times left open (0, 0) from the clock maps of the clip.
Status PlaceGaps(Database& db);
/// Copies the log of a recording, which nobody writes any more, into the file and leaves WAL mode
/// where nobody else has it open; else Compact does without. Waits for read transactions as long as
/// the connection waits (5 s), then kBusy, naming the readers: those are the only ones in the way.
Status LeaveWal(Database& db);
/// Processes that hold a read lock on the log's index, from /proc/locks; empty where that cannot be
/// known.
std::string ReadersOf(const std::string& path);
/// fsync of a file that no SQLite connection of this process has open, then rename over `to`, then
/// fsync of the folder.
Status PublishFile(const std::string& from, const std::string& to, bool replace);

}  // namespace handhold::store
