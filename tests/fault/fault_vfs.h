/// An SQLite VFS that passes everything on to the real one, remembers every write and sync, and can
/// run out of space: from what it remembers, a disk is made as a power cut would have left it. What
/// is done to names outside SQLite (rename, link, unlink, fsync) comes from a test that is linked
/// with --wrap for them.
#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace handhold::fault {

/// What happened, in order, over all files.
struct DiskEvent {
  enum class Kind {
    kWrite,
    kTruncate,
    kSync,
    kDelete,
    kAcknowledged,
    kRename,
    kLink,
    kSyncFolder
  } kind;
  std::string file;    ///< of kSyncFolder: the folder
  int64_t offset = 0;  ///< or the new size; what was acknowledged; of a deletion: not 0, synced
  std::vector<uint8_t> bytes;
  std::string to = {};  ///< of kRename and kLink: the new name
};

enum class Survival { kNone, kPrefix, kRandomSectors };

class FaultVfs {
 public:
  static constexpr const char* kName = "handhold-fault";
  static FaultVfs& Get() {
    static FaultVfs vfs;
    return vfs;
  }

  void StartLog() {
    const std::lock_guard lock(mutex_);
    log_.clear();
    logging_ = true;
  }
  std::vector<DiskEvent> TakeLog() {
    const std::lock_guard lock(mutex_);
    logging_ = false;
    return std::move(log_);
  }
  void Acknowledge(int64_t durable) { Note({DiskEvent::Kind::kAcknowledged, "", durable, {}}); }
  /// Bytes that may still be written; negative: any number.
  std::atomic<int64_t> budget{-1};
  /// Pieces of 32 kB that the index of a log (-shm) may have; negative: any number.
  std::atomic<int> shm_regions{-1};

  /// Files after the first `events` events: what was synced, and of what was not, what `survival`
  /// says. The same of names: what was renamed, linked or deleted since the folder was synced is
  /// undone, done up to some point, or done in part, whatever the order. A new file has its name
  /// from its first byte on. `base`: what was on the disk before.
  using Disk = std::map<std::string, std::vector<uint8_t>>;
  static Disk DiskAfter(const std::vector<DiskEvent>& log, size_t events, Survival survival,
                        std::mt19937_64& rng, const Disk& base = {}) {
    struct File {
      std::vector<uint8_t> synced;
      std::vector<const DiskEvent*> waiting;
    };
    using Names = std::map<std::string, size_t>;
    std::vector<File> files;
    Names seen, durable;  // as programs see them; as they are on the disk
    for (const auto& [name, bytes] : base) {
      seen[name] = durable[name] = files.size();
      files.push_back({bytes, {}});
    }
    std::vector<const DiskEvent*> waiting_names;
    // Only what was done to names of that folder.
    const auto sync_names = [&](const std::string& folder) {
      std::erase_if(waiting_names, [&](const DiskEvent* w) {
        if (FolderOf(w->file) != folder && (w->to.empty() || FolderOf(w->to) != folder))
          return false;
        ApplyName(durable, *w);
        return true;
      });
    };
    for (size_t i = 0; i < events; ++i) {
      const DiskEvent& e = log[i];
      using Kind = DiskEvent::Kind;
      switch (e.kind) {
        case Kind::kAcknowledged:
          break;
        case Kind::kSyncFolder:
          sync_names(e.file);
          break;
        case Kind::kDelete:
        case Kind::kRename:
        case Kind::kLink:
          if (!seen.contains(e.file)) break;  // not of SQLite's files
          waiting_names.push_back(&e);
          ApplyName(seen, e);
          if (e.kind == Kind::kDelete && e.offset != 0) sync_names(FolderOf(e.file));
          break;
        case Kind::kSync: {
          const auto at = seen.find(e.file);
          if (at == seen.end()) break;
          File& file = files[at->second];
          for (const DiskEvent* w : file.waiting) Apply(file.synced, *w, 0, w->bytes.size());
          file.waiting.clear();
          break;
        }
        case Kind::kWrite:
        case Kind::kTruncate:
          if (!seen.contains(e.file)) {
            // What the name stood for before is gone for good when it is there again.
            std::erase_if(waiting_names, [&](const DiskEvent* w) {
              if (w->file != e.file && w->to != e.file) return false;
              ApplyName(durable, *w);
              return true;
            });
            seen[e.file] = durable[e.file] = files.size();
            files.emplace_back();
          }
          files[seen[e.file]].waiting.push_back(&e);
          break;
      }
    }
    const size_t done = survival == Survival::kPrefix ? rng() % (waiting_names.size() + 1)
                        : survival == Survival::kNone ? 0
                                                      : waiting_names.size();
    for (size_t k = 0; k < done; ++k) {
      if (survival == Survival::kPrefix || rng() % 2 == 0) ApplyName(durable, *waiting_names[k]);
    }
    Disk disk;
    for (const auto& [name, number] : durable) {
      File file = files[number];  // a file may have two names
      size_t kept = survival == Survival::kNone     ? 0
                    : survival == Survival::kPrefix ? rng() % (file.waiting.size() + 1)
                                                    : file.waiting.size();
      for (size_t k = 0; k < kept; ++k) {
        const DiskEvent& w = *file.waiting[k];
        if (survival == Survival::kPrefix) {
          Apply(file.synced, w, 0, k + 1 == kept ? rng() % (w.bytes.size() + 1) : w.bytes.size());
          continue;
        }
        if (w.kind == DiskEvent::Kind::kTruncate && rng() % 2 == 0) continue;
        for (size_t at = 0; at < std::max<size_t>(1, w.bytes.size()); at += 512) {
          if (rng() % 2 == 0)
            Apply(file.synced, w, at,
                  std::min<size_t>(512, w.bytes.size() - std::min(at, w.bytes.size())));
        }
      }
      disk[name] = std::move(file.synced);
    }
    return disk;
  }

  void Note(DiskEvent event) {
    const std::lock_guard lock(mutex_);
    if (logging_) log_.push_back(std::move(event));
  }

 private:
  struct ShimFile {
    sqlite3_file base;
    FaultVfs* vfs;
    sqlite3_file* real;
    std::string* name;
    bool new_log;  ///< a journal or log that this made: its first sync is the folder's too, as unix
                   ///< does
  };

  static void Apply(std::vector<uint8_t>& content, const DiskEvent& e, size_t from, size_t size) {
    if (e.kind == DiskEvent::Kind::kTruncate) {
      content.resize(static_cast<size_t>(e.offset));
      return;
    }
    const size_t begin = static_cast<size_t>(e.offset) + from;
    if (content.size() < begin + size) content.resize(begin + size);
    std::copy_n(e.bytes.begin() + static_cast<std::ptrdiff_t>(from), size,
                content.begin() + static_cast<std::ptrdiff_t>(begin));
  }

  static std::string FolderOf(const std::string& file) {
    return file.substr(0, std::min(file.rfind('/'), file.size()));
  }

  static void ApplyName(std::map<std::string, size_t>& names, const DiskEvent& e) {
    const auto from = names.find(e.file);
    if (from == names.end()) return;
    const size_t file = from->second;
    if (e.kind != DiskEvent::Kind::kLink) names.erase(from);
    if (e.kind != DiskEvent::Kind::kDelete) names[e.to] = file;
  }

  static ShimFile* Of(sqlite3_file* file) { return reinterpret_cast<ShimFile*>(file); }
  static sqlite3_file* RealOf(sqlite3_file* file) { return Of(file)->real; }

  static int Close(sqlite3_file* file) {
    const int rc = RealOf(file)->pMethods != nullptr ? RealOf(file)->pMethods->xClose(RealOf(file))
                                                     : SQLITE_OK;
    sqlite3_free(Of(file)->real);
    delete Of(file)->name;
    return rc;
  }
  static int Read(sqlite3_file* file, void* into, int n, sqlite3_int64 at) {
    return RealOf(file)->pMethods->xRead(RealOf(file), into, n, at);
  }
  static int Write(sqlite3_file* file, const void* from, int n, sqlite3_int64 at) {
    FaultVfs& vfs = *Of(file)->vfs;
    if (vfs.budget >= 0 && (vfs.budget -= n) < 0) {
      vfs.budget = 0;
      return SQLITE_FULL;
    }
    const auto* bytes = static_cast<const uint8_t*>(from);
    vfs.Note(
        {DiskEvent::Kind::kWrite, *Of(file)->name, at, std::vector<uint8_t>(bytes, bytes + n)});
    return RealOf(file)->pMethods->xWrite(RealOf(file), from, n, at);
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    Of(file)->vfs->Note({DiskEvent::Kind::kTruncate, *Of(file)->name, size, {}});
    return RealOf(file)->pMethods->xTruncate(RealOf(file), size);
  }
  static int Sync(sqlite3_file* file, int) {  // the real disk need not be waited for
    Of(file)->vfs->Note({DiskEvent::Kind::kSync, *Of(file)->name, 0, {}});
    if (std::exchange(Of(file)->new_log, false)) {
      Of(file)->vfs->Note({DiskEvent::Kind::kSyncFolder, FolderOf(*Of(file)->name), 0, {}});
    }
    return SQLITE_OK;
  }
  static int FileSize(sqlite3_file* file, sqlite3_int64* size) {
    return RealOf(file)->pMethods->xFileSize(RealOf(file), size);
  }
  static int Lock(sqlite3_file* file, int level) {
    return RealOf(file)->pMethods->xLock(RealOf(file), level);
  }
  static int Unlock(sqlite3_file* file, int level) {
    return RealOf(file)->pMethods->xUnlock(RealOf(file), level);
  }
  static int CheckReserved(sqlite3_file* file, int* out) {
    return RealOf(file)->pMethods->xCheckReservedLock(RealOf(file), out);
  }
  static int Control(sqlite3_file* file, int op, void* arg) {
    return RealOf(file)->pMethods->xFileControl(RealOf(file), op, arg);
  }
  static int SectorSize(sqlite3_file*) { return 512; }
  static int Characteristics(sqlite3_file*) { return 0; }  // no promise of atomic or ordered writes
  static int ShmMap(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
    const int regions = Of(file)->vfs->shm_regions;
    if (extend != 0 && regions >= 0 && page >= regions)
      return SQLITE_IOERR_SHMSIZE;  // as unix says
    return RealOf(file)->pMethods->xShmMap(RealOf(file), page, size, extend, out);
  }
  static int ShmLock(sqlite3_file* file, int offset, int n, int flags) {
    return RealOf(file)->pMethods->xShmLock(RealOf(file), offset, n, flags);
  }
  static void ShmBarrier(sqlite3_file* file) { RealOf(file)->pMethods->xShmBarrier(RealOf(file)); }
  static int ShmUnmap(sqlite3_file* file, int remove) {
    return RealOf(file)->pMethods->xShmUnmap(RealOf(file), remove);
  }

  static int Open(sqlite3_vfs* self, sqlite3_filename name, sqlite3_file* file, int flags,
                  int* out_flags) {
    static const sqlite3_io_methods methods = [] {
      sqlite3_io_methods m{};
      m.iVersion = 2;
      m.xClose = &Close;
      m.xRead = &Read;
      m.xWrite = &Write;
      m.xTruncate = &Truncate;
      m.xSync = &Sync;
      m.xFileSize = &FileSize;
      m.xLock = &Lock;
      m.xUnlock = &Unlock;
      m.xCheckReservedLock = &CheckReserved;
      m.xFileControl = &Control;
      m.xSectorSize = &SectorSize;
      m.xDeviceCharacteristics = &Characteristics;
      m.xShmMap = &ShmMap;
      m.xShmLock = &ShmLock;
      m.xShmBarrier = &ShmBarrier;
      m.xShmUnmap = &ShmUnmap;
      return m;
    }();
    auto* vfs = static_cast<FaultVfs*>(self->pAppData);
    ShimFile* shim = Of(file);
    shim->vfs = vfs;
    shim->real = static_cast<sqlite3_file*>(sqlite3_malloc(vfs->real_->szOsFile));
    std::memset(shim->real, 0, static_cast<size_t>(vfs->real_->szOsFile));
    shim->name = new std::string(name != nullptr ? name : "");
    shim->new_log = (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0 &&
                    name != nullptr && ::access(name, F_OK) != 0;
    const int rc = vfs->real_->xOpen(vfs->real_, name, shim->real, flags, out_flags);
    if (rc != SQLITE_OK) {
      sqlite3_free(shim->real);
      delete shim->name;
      shim->base.pMethods = nullptr;
      return rc;
    }
    shim->base.pMethods = &methods;
    return rc;
  }
  static int Delete(sqlite3_vfs* self, const char* name, int sync) {
    auto* vfs = static_cast<FaultVfs*>(self->pAppData);
    vfs->Note({DiskEvent::Kind::kDelete, name, sync, {}});
    return vfs->real_->xDelete(vfs->real_, name, sync);
  }

  FaultVfs() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
    vfs_.szOsFile = static_cast<int>(sizeof(ShimFile));
    vfs_.zName = kName;
    vfs_.pAppData = this;
    vfs_.pNext = nullptr;
    vfs_.xOpen = &Open;
    vfs_.xDelete = &Delete;
    sqlite3_vfs_register(&vfs_, 0);
  }

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_;
  std::mutex mutex_;
  bool logging_ = false;
  std::vector<DiskEvent> log_;
};

}  // namespace handhold::fault
