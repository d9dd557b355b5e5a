#include "database/store/sql.h"

#include <unistd.h>

#include <cstdio>
#include <optional>

#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

constexpr char kDetails[] =
    R"(Tables of the catalogue: clip, clip_stream, clip_channel, clip_property, clip_quality, feature, event,
tag, note, note_text (FTS5), artefact, artefact_input; of the ledger: ledger.entry. Samples:
samples(clip, stream, channels, t0, t1) with rows t_s, t_ns, counter, channel, value; functions
peak(clip, stream, channel, t0, t1), rms(...), contact_ms(clip, stream, t0, t1, threshold_N).
clip: name, id or clip.clip; stream: a stream or a force sensor (channels fx ... tz, normal_force, in N
and N m); times in seconds of the clip, NULL: open. Of a clip's newest results: results(clip) with
rows t_s, quantity (angle, torque, contact_force, compliance), name, value, unit; contact_rows(clip)
with touch, a, b, forces, points. Without SQL, or with '-', it is read from stdin.)";

Cell CellOf(const store::SqlValue& value, bool is_time) {
  if (const auto* integer = std::get_if<int64_t>(&value))
    return is_time ? Cell(std::to_string(*integer)) : Cell(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* bytes = std::get_if<std::vector<uint8_t>>(&value)) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string hex;
    for (const uint8_t b : *bytes) {
      hex += kHex[b >> 4];
      hex += kHex[b & 15];
    }
    return hex;
  }
  return std::nullopt;
}

/// Columns named ..._ns are times: strings of whole nanoseconds, as everywhere in our output.
bool IsTime(const std::string& column) {
  return column.size() > 3 && column.compare(column.size() - 3, 3, "_ns") == 0;
}

/// Seconds of a clip are shown to the nanosecond, not to six digits.
Column ColumnOf(const std::string& name) {
  return {.name = name, .decimals = name.ends_with("_s") ? 9 : -1};
}

Result<std::string> ReadStdin() {
  std::string sql;
  char buffer[4096];
  for (size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
    sql.append(buffer, got);
    if (sql.size() > 1'000'000) return Error{ErrorCode::kInvalid, "more than 1 MB of SQL"};
  }
  return sql;
}

}  // namespace

Verb SqlVerb() {
  return {
      .noun = "sql",
      .summary = "ask catalogue, ledger and samples in read-only SQL",
      .examples =
          {"handhold sql 'SELECT name, subject, duration_ns FROM clip' --library lab",
           "handhold sql \"SELECT name, peak(clip, 'plate', 'normal_force', 0, 2) AS peak_N FROM "
           "clip\"",
           "handhold sql \"SELECT t_s, value FROM samples('stroke_001', 'plate', 'normal_force', "
           "0.5, 0.6)\" --format csv",
           "handhold sql \"SELECT name, max(value) AS peak_rad FROM results('stroke_001') WHERE "
           "quantity='angle' GROUP BY name\"",
           "handhold sql 'SELECT * FROM event WHERE kind=:kind' --param kind=contact_on --json"},
      .positionals = {{.name = "SQL", .help = "one SELECT; '-': from stdin", .required = false}},
      .options = {LibraryOption(),
                  {.name = "--param",
                   .value_name = "NAME=VALUE",
                   .help = "the value of :NAME",
                   .repeated = true},
                  {.name = "--limit",
                   .value_name = "N",
                   .help = "at most this many rows; -1: all",
                   .kind = ValueKind::kInteger,
                   .fallback = "-1",
                   .range = {.least = -1}},
                  {.name = "--timeout",
                   .value_name = "TIME",
                   .help = "give up after this long",
                   .kind = ValueKind::kDuration,
                   .fallback = "60s",
                   .range = {.least = 0, .above = true, .unit = " s"}}},
      .details = kDetails,
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        std::string sql = given.Text("SQL");
        if (!given.Has("SQL") && ::isatty(STDIN_FILENO) == 1)
          return Outcome::Usage("no SQL: give it in quotes, or '-' to read it from stdin");
        if (!given.Has("SQL") || sql == "-") {
          HANDHOLD_ASSIGN(sql, ReadStdin());
        }
        store::SqlOptions options{.time_limit = given.Time("--timeout")};
        for (const std::string& parameter : given.All("--param")) {
          const size_t equals = parameter.find('=');
          if (equals == std::string::npos || equals == 0)
            return Outcome::Usage("--param wants NAME=VALUE, found '" + parameter + "'");
          options.parameters[parameter.substr(0, equals)] = parameter.substr(equals + 1);
        }
        HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
        HANDHOLD_TRY(WarnOfProblems(*library));
        HANDHOLD_ASSIGN(const auto session, store::SqlSession::Open(*library));
        std::optional<Table> table;
        std::vector<bool> times;
        const int64_t limit = given.Integer("--limit");
        int64_t rows = 0;
        const Status status =
            session->Run(sql,
                         {.columns = [&](const std::vector<std::string>& names) -> Status {
                            std::vector<Column> columns;
                            for (const std::string& name : names) {
                              columns.push_back(ColumnOf(name));
                              times.push_back(IsTime(name));
                            }
                            table.emplace(context.printer.BeginTable(std::move(columns)));
                            return {};
                          },
                          .row = [&](std::span<const store::SqlValue> values) -> Result<bool> {
                            if (rows++ == limit) return false;
                            std::vector<Cell> cells;
                            for (size_t c = 0; c < values.size(); ++c)
                              cells.push_back(CellOf(values[c], times[c]));
                            table->Row(std::move(cells));
                            return !context.printer.reader_gone();
                          }},
                         options);
        if (table && !status) table->Cut();
        table.reset();
        if (!status && status.error().code == ErrorCode::kInvalid && rows == 0)
          return Outcome::Usage(status.error().message);
        if (!status) return status.error();
        if (rows == 0) context.progress.Note("0 rows");
        return Outcome::Done();
      }};
}

}  // namespace handhold::cli
