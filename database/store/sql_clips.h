/// The clips that one SQL session reads samples from, and the arguments that name them. Internal to
/// the store.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "database/store/library.h"
#include "database/store/result_signal.h"
#include "database/store/signal.h"
#include "database/store/sql.h"

struct sqlite3;
struct sqlite3_value;

namespace handhold::store {

class SqlClips {
 public:
  explicit SqlClips(const Library& library) : library_(library), results_(library) {}

  /// Opens, or answers one of the last few; null when the argument is NULL. Valid until the next
  /// call of Clip eight clips later.
  Result<const ClipReader*> Clip(sqlite3_value* clip);
  /// SHA-256 of the clip's file; empty when the argument is NULL.
  Result<std::string> ShaOf(sqlite3_value* clip);
  ResultIndex& results() { return results_; }
  /// Nothing: this clip has none, but another one has. Otherwise as FindSignal.
  Result<std::optional<Signal>> Find(const ClipReader& clip, const std::string& stream,
                                     const std::string& channel);
  /// The same for all channels of a stream or sensor.
  Result<std::vector<Signal>> FindAll(const ClipReader& clip, const std::string& stream);

  /// What our functions and table failed of, with its code: SQLite hands on the words alone.
  void Failed(const Error& error) { failure_ = error; }
  /// The last of them since it was last asked.
  std::optional<Error> TakeFailure() { return std::exchange(failure_, std::nullopt); }

 private:
  Result<bool> KnownSomewhere(const std::string& stream, const std::string& channel);
  Result<std::string> NameOf(sqlite3_value* clip);
  const Library& library_;
  ResultIndex results_;
  struct Open {
    std::string key;
    std::unique_ptr<ClipReader> reader;
  };
  std::list<Open> open_;  ///< the newest first
  std::optional<Error> failure_;
};

/// A number, nullopt for NULL; kInvalid, naming `what`, for text that is no number:
/// SQLite would take it as 0.
Result<std::optional<double>> NumberOf(sqlite3_value* value, const char* what);
/// [t0, t1] from two SQL values in seconds; NULL: open; kInvalid for what is no number.
Result<std::optional<Window>> WindowOf(sqlite3_value* t0, sqlite3_value* t1);
std::string TextOf(sqlite3_value* value);

/// Registers the table-valued function `samples` with a connection; `clips` must outlive it.
Status RegisterSamples(sqlite3* db, SqlClips& clips);
/// The same of `results` and `contact_rows`.
Status RegisterResults(sqlite3* db, SqlClips& clips);

}  // namespace handhold::store
