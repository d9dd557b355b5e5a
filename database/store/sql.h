/// Read-only SQL over a library: the catalogue, the ledger (attached as `ledger`) and, through
/// functions and tables of ours, the samples themselves and what the newest results say.
///
///   samples(clip, stream, channels, t0, t1)       rows t_s, t_ns, counter, channel, value
///   peak(clip, stream, channel, t0, t1)           greatest value
///   rms(clip, stream, channel, t0, t1)            square root of the mean square
///   results(clip)                                 rows t_s, t_ns, quantity, name, value, unit, ...
///   contact_rows(clip)                            rows t_s, t_ns, touch, a, b, sensor, forces ...
///   contact_ms(clip, stream, t0, t1, threshold_N) how long normal_force is at or above it
///
/// `clip`: name, id, the beginning of one, or the integer clip.clip. `stream`: a stream's name, or
/// a force sensor's, whose channels are fx fy fz tx ty tz normal_force in N and N m. Times are
/// seconds of clip time, both ends included; NULL: open. Missing samples are NULL in `samples` and
/// nothing in functions. NULL where this clip has no such channel; an error where no clip has.
///
/// `results` and `contact_rows` are of the clip's newest results (result_signal.h): angle, torque,
/// contact_force over time, compliance without one.
///
/// Every statement that writes, attaches, or reaches outside is refused, by SQLite's authorizer and
/// by read-only connections both. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "database/store/library.h"

namespace handhold::store {

using SqlValue = std::variant<std::monostate, int64_t, double, std::string, std::vector<uint8_t>>;

struct SqlOptions {
  /// kTimeout beyond it.
  Duration time_limit = Duration::Seconds(60);
  /// Values of :name, @name or $name, without the sign.
  std::map<std::string, std::string> parameters = {};
};

class SqlSession {
 public:
  /// `library` must outlive the session.
  static Result<std::unique_ptr<SqlSession>> Open(const Library& library);
  virtual ~SqlSession() = default;

  struct Sink {
    std::function<Status(const std::vector<std::string>&)> columns;
    /// False: enough, the rest is not computed.
    std::function<Result<bool>(std::span<const SqlValue>)> row;
  };
  /// Runs one statement and hands its rows on as they come. kInvalid: no SQL, more than one
  /// statement, one that does not only read, or a name in it that nothing has. What a clip's file
  /// fails of (kCorrupt, kIo) keeps its code.
  virtual Status Run(std::string_view sql, const Sink& sink, const SqlOptions& options = {}) = 0;
};

}  // namespace handhold::store
