/// Questions to a library: which clips, strokes or contacts satisfy a condition on what is known of
/// them and on what was measured.
///
///   auto query = Query::Parse("peak(normal_force) > 5 N within 0.2 s of contact_on", *library);
///   auto found = query->Run({.limit = 50});
///
/// The language is in schemas/README.md, "Queries". A condition is true, false, or unknown (a clip
/// without the channel, a window without samples); rows are those for which it is true.
///
/// Answered from the catalogue as far as that decides (fields, events, per-clip extremes, zone
/// maps); only what is left is read from the clips, so the answer is that of the samples. Memory:
/// one page of rows and one clip's windows. Not thread-safe; as valid as the library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/recording/stream.h"
#include "database/store/library.h"

namespace handhold::store {

struct QueryPlan;

struct QueryOptions {
  int64_t limit = -1;  ///< -1: all
  int64_t offset = 0;  ///< rows to leave out first
};

/// What a row answers for each measure in the query, in the order of the text.
struct QueryColumn {
  std::string key;  ///< "peak_normal_force_N": with its unit, unique in the query
  /// SI: "N", "N m", "m", "s", "" (fractions and counts); of angles and compliances the unit that
  /// the question compares them with ("deg").
  std::string unit;
};

struct QueryRow {
  std::string clip_id, clip_name, subject, task, prop;
  Timestamp utc_start;
  Duration clip_length;
  std::optional<recording::Event> event;  ///< when the rows are events
  int64_t number = 0;  ///< of the event among those of its kind and origin in the clip, from 1
  int64_t stroke = 0;  ///< number of the clip's "stroke" event that it began in; 0: none
  /// The measured value, in the column's unit; none where there is not one value (no samples, or a
  /// window at each of several events of a clip).
  std::vector<std::optional<double>> values;
};

struct QueryResult {
  bool rows_are_events = false;
  std::vector<QueryColumn> columns;
  std::vector<QueryRow> rows;  ///< by start of the clip, id, time of the event: pages do not shift
                               ///< when later takes are added
  bool more = false;           ///< there are rows beyond the limit
  Issues issues;  ///< clips that could not be read, or not be catalogued: they are in no
                  ///< row; and whether tags, ratings and notes are known, where the query
                  ///< asks for them
  // Where there are no rows:
  int64_t clips = 0;               ///< in the library
  std::vector<std::string> hints;  ///< values asked for that no clip has, with the nearest one
  int64_t clips_asked = 0;         ///< that the catalogue could not rule out as a whole
  int64_t clips_opened = 0;        ///< whose samples had to be looked at
};

/// Rows in groups: what they share, how many there are, of how many clips.
struct QueryGroup {
  std::vector<std::string> keys;  ///< in the order of the fields
  int64_t rows = 0, clips = 0;
};
/// By "clip", "subject", "task", "prop", "date" (UTC), "event", "text" or "origin" (of the rows'
/// events; empty of clips); by none: all together. Ordered by their keys. kInvalid for another
/// field, with the nearest.
Result<std::vector<QueryGroup>> GroupRows(const QueryResult& result,
                                          const std::vector<std::string>& fields);

class Query {
 public:
  /// kInvalid, with the column and the nearest name, when the text or a name in it is wrong; the
  /// message's further lines show the place. `library` must outlive the query.
  static Result<Query> Parse(std::string_view text, const Library& library);
  Result<QueryResult> Run(const QueryOptions& options = {}, const Progress& progress = {}) const;
  bool rows_are_events() const;

  Query(Query&&) noexcept;
  Query& operator=(Query&&) noexcept;
  ~Query();

 private:
  Query(const Library& library, std::unique_ptr<const QueryPlan> plan);
  const Library* library_;
  std::unique_ptr<const QueryPlan> plan_;
};

}  // namespace handhold::store
