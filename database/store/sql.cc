#include "database/store/sql.h"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "database/base/names.h"
#include "database/store/file_uri.h"
#include "database/store/indexer.h"
#include "database/store/sql_clips.h"

namespace handhold::store {
namespace {

using recording::SampleWindow;

constexpr size_t kOpenClips = 8;

void Fail(sqlite3_context* context, const Error& error) {
  static_cast<SqlClips*>(sqlite3_user_data(context))->Failed(error);
  sqlite3_result_error(context, error.message.c_str(), -1);
}

/// peak and rms: (clip, stream, channel, t0, t1).
template <typename Figure>
void MeasureFunction(sqlite3_context* context, sqlite3_value** values, const Figure& figure) {
  auto& clips = *static_cast<SqlClips*>(sqlite3_user_data(context));
  const Result<const ClipReader*> clip = clips.Clip(values[0]);
  if (!clip) return Fail(context, clip.error());
  if (*clip == nullptr) return sqlite3_result_null(context);
  const Result<std::optional<Window>> window = WindowOf(values[3], values[4]);
  if (!window) return Fail(context, window.error());
  const auto signal = clips.Find(**clip, TextOf(values[1]), TextOf(values[2]));
  if (!signal) return Fail(context, signal.error());
  if (!*signal) return sqlite3_result_null(context);
  const Result<SignalStats> stats = MeasureSignal(**clip, **signal, *window);
  if (!stats) return Fail(context, stats.error());
  if (stats->values() == 0) return sqlite3_result_null(context);
  sqlite3_result_double(context, figure(*stats));
}

void Peak(sqlite3_context* context, int, sqlite3_value** values) {
  MeasureFunction(context, values, [](const SignalStats& s) { return s.max; });
}
void Rms(sqlite3_context* context, int, sqlite3_value** values) {
  MeasureFunction(context, values, [](const SignalStats& s) { return s.rms(); });
}

/// contact_ms(clip, stream, t0, t1, threshold_N): samples at or above it, times the period. Gaps
/// count nothing.
void ContactMs(sqlite3_context* context, int, sqlite3_value** values) {
  auto& clips = *static_cast<SqlClips*>(sqlite3_user_data(context));
  const Result<const ClipReader*> clip = clips.Clip(values[0]);
  if (!clip) return Fail(context, clip.error());
  const Result<std::optional<Window>> window = WindowOf(values[2], values[3]);
  if (!window) return Fail(context, window.error());
  const Result<std::optional<double>> threshold = NumberOf(values[4], "threshold_N");
  if (!threshold) return Fail(context, threshold.error());
  if (*clip == nullptr || !*threshold) return sqlite3_result_null(context);
  const auto signal = clips.Find(**clip, TextOf(values[1]), "normal_force");
  if (!signal) return Fail(context, signal.error());
  if (!*signal) return sqlite3_result_null(context);
  const double threshold_N = **threshold;
  double seconds = 0.0;
  for (const SignalPart& part : (*signal)->parts) {
    int64_t above = 0;
    const Status status = VisitSignal(
        **clip, part, *window, [&](const SampleWindow&, std::span<const double> samples) -> Status {
          above += std::count_if(samples.begin(), samples.end(),
                                 [&](double x) { return x >= threshold_N; });
          return {};
        });
    if (!status) return Fail(context, status.error());
    seconds += static_cast<double>(above) / (*clip)->FindStream(part.stream_id)->rate.hz();
  }
  sqlite3_result_double(context, 1000.0 * seconds);
}

/// What a statement was refused for; looked at when preparing fails.
struct Refusal {
  std::string what;
};

const char* ActionName(int action) {
  switch (action) {
    case SQLITE_INSERT:
      return "INSERT";
    case SQLITE_UPDATE:
      return "UPDATE";
    case SQLITE_DELETE:
      return "DELETE";
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
      return "ATTACH or DETACH";
    case SQLITE_PRAGMA:
      return "this PRAGMA";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "a transaction";
    case SQLITE_FUNCTION:
      return "this function";
    default:
      return "a statement that changes something";
  }
}

int Authorize(void* user, int action, const char* first, const char* second, const char*,
              const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      if (second != nullptr && std::strcmp(second, "load_extension") != 0) return SQLITE_OK;
      break;
    case SQLITE_PRAGMA: {
      // What describes tables, and what FTS5 asks for itself.
      static constexpr std::string_view kAllowed[] = {"table_info", "table_xinfo",  "table_list",
                                                      "index_list", "data_version", "index_info"};
      if (first != nullptr &&
          std::find(std::begin(kAllowed), std::end(kAllowed), first) != std::end(kAllowed))
        return SQLITE_OK;
      break;
    }
    default:
      break;
  }
  static_cast<Refusal*>(user)->what = ActionName(action);
  return SQLITE_DENY;
}

struct Deadline {
  Timestamp end;
  bool passed = false;
};

int LookAtClock(void* user) {
  auto& deadline = *static_cast<Deadline*>(user);
  deadline.passed = HostNow() > deadline.end;
  return deadline.passed ? 1 : 0;
}

SqlValue ValueOf(const Statement& row, int column) {
  switch (row.Type(column)) {
    case SQLITE_INTEGER:
      return row.Integer(column);
    case SQLITE_FLOAT:
      return row.Real(column);
    case SQLITE_TEXT:
      return row.String(column);
    case SQLITE_BLOB: {
      const std::span<const uint8_t> bytes = row.Blob(column);
      return std::vector<uint8_t>(bytes.begin(), bytes.end());
    }
    default:
      return std::monostate();
  }
}

class Session final : public SqlSession {
 public:
  explicit Session(const Library& library) : library_(library), clips_(library) {}

  Status Start() {
    HANDHOLD_ASSIGN(db_, Database::Open(library_.catalogue().path(), {}));
    // Without it, catalogue and samples can still be asked; its tables are not there.
    if (library_.ledger().readable()) HANDHOLD_TRY(AttachLedger());
    sqlite3* db = db_.handle();
    const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    for (const auto& [name, function] :
         {std::pair("peak", &Peak), std::pair("rms", &Rms), std::pair("contact_ms", &ContactMs)}) {
      if (sqlite3_create_function_v2(db, name, 5, flags, &clips_, function, nullptr, nullptr,
                                     nullptr) != SQLITE_OK)
        return db_.LastError("registering functions");
    }
    HANDHOLD_TRY(RegisterSamples(db, clips_));
    HANDHOLD_TRY(RegisterResults(db, clips_));
    HANDHOLD_TRY(db_.Execute("PRAGMA query_only=ON"));
    sqlite3_set_authorizer(db, &Authorize, &refusal_);
    return {};
  }

  Status Run(std::string_view sql, const Sink& sink, const SqlOptions& options) override {
    HANDHOLD_ASSIGN(Statement statement, Compile(sql));
    HANDHOLD_TRY(Bind(statement, options.parameters));
    (void)clips_.TakeFailure();  // of a statement that was only looked at
    Deadline deadline{HostNow() + options.time_limit};
    sqlite3_progress_handler(db_.handle(), 1000, &LookAtClock, &deadline);
    const Status status = Rows(statement, sink);
    sqlite3_progress_handler(db_.handle(), 0, nullptr, nullptr);
    if (deadline.passed)
      return Error{ErrorCode::kTimeout, "the statement takes longer than " +
                                            FormatSeconds(options.time_limit) +
                                            ": narrow it, or allow more"};
    return status;
  }

 private:
  Status AttachLedger() {
    // As a parameter: a path may hold any character.
    const std::string uri = FileUri(library_.path() + "/ledger.db", "mode=ro");
    HANDHOLD_ASSIGN(Statement attach, db_.Prepare("ATTACH ?1 AS ledger"));
    return attach.Bind(1, uri).Run();
  }

  Result<Statement> Compile(std::string_view sql) {
    // Statement is filled by Prepare alone, which looks at the first statement only.
    sqlite3_stmt* probe = nullptr;
    const char* tail = nullptr;
    refusal_.what.clear();
    const int rc = sqlite3_prepare_v3(db_.handle(), sql.data(), static_cast<int>(sql.size()), 0,
                                      &probe, &tail);
    const bool empty = probe == nullptr;
    const bool reads = !empty && sqlite3_stmt_readonly(probe) != 0;
    sqlite3_finalize(probe);
    if (!refusal_.what.empty()) {
      return Error{ErrorCode::kInvalid, "'handhold sql' only reads: " + refusal_.what +
                                            " is refused; clips are tagged and rated with "
                                            "'handhold clip tag' and 'handhold clip rate'"};
    }
    if (rc != SQLITE_OK) return Error{ErrorCode::kInvalid, Explained(sql)};
    if (empty) return Error{ErrorCode::kInvalid, "there is no SQL in the text"};
    if (!reads) return Error{ErrorCode::kInvalid, "'handhold sql' only reads"};
    const std::string_view rest = sql.substr(static_cast<size_t>(tail - sql.data()));
    if (HasStatement(rest))
      return Error{ErrorCode::kInvalid, "one statement at a time; after it comes '" +
                                            std::string(rest.substr(0, 40)) + "'"};
    return db_.Prepare(sql);
  }

  /// SQLite's message, with the place it means.
  std::string Explained(std::string_view sql) const {
    std::string text = sqlite3_errmsg(db_.handle());
    const int at = sqlite3_error_offset(db_.handle());
    constexpr std::string_view kNoTable = "no such table: ";
    if (text.starts_with(kNoTable)) text += DidYouMean(text.substr(kNoTable.size()), Tables());
    if (at >= 0 && static_cast<size_t>(at) <= sql.size())
      text += ", at column " + std::to_string(at + 1) + ": '" +
              std::string(sql.substr(static_cast<size_t>(at), 30)) + "'";
    return text;
  }

  std::vector<std::string> Tables() const {
    std::vector<std::string> names;
    Result<Statement> list = db_.Prepare(
        "SELECT name FROM main.sqlite_schema WHERE type='table' AND name NOT LIKE 'note_text\\_%' "
        "ESCAPE '\\' UNION ALL SELECT 'ledger.' || name FROM ledger.sqlite_schema WHERE "
        "type='table'");
    if (!list) return names;
    (void)list
        ->ForEach([&](Statement& row) -> Status {
          names.push_back(row.String(0));
          return {};
        })
        .has_value();  // an answer without a suggestion is one too
    return names;
  }

  bool HasStatement(std::string_view rest) const {
    sqlite3_stmt* probe = nullptr;
    const int rc = sqlite3_prepare_v3(db_.handle(), rest.data(), static_cast<int>(rest.size()), 0,
                                      &probe, nullptr);
    sqlite3_finalize(probe);
    return rc != SQLITE_OK || probe != nullptr;
  }

  static Status Bind(Statement& statement, const std::map<std::string, std::string>& given) {
    std::map<std::string, bool> used;
    for (const auto& [name, value] : given) used[name] = false;
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement.handle()); ++i) {
      const char* written = sqlite3_bind_parameter_name(statement.handle(), i);
      const std::string name = written == nullptr ? "" : std::string(written + 1);
      const auto value = given.find(name);
      if (value == given.end())
        return Error{ErrorCode::kInvalid,
                     "the parameter '" + std::string(written == nullptr ? "?" : written) +
                         "' has no value: --param " + (name.empty() ? "NAME" : name) + "=..."};
      used[name] = true;
      const std::string& text = value->second;
      int64_t integer = 0;
      double real = 0;
      const char *begin = text.data(), *end = begin + text.size();
      if (std::from_chars(begin, end, integer).ptr == end && !text.empty()) {
        statement.Bind(i, integer);
      } else if (std::from_chars(begin, end, real).ptr == end && !text.empty()) {
        statement.Bind(i, real);
      } else {
        statement.Bind(i, std::string_view(text));
      }
    }
    for (const auto& [name, was] : used) {
      if (!was) return Error{ErrorCode::kInvalid, "the statement has no parameter ':" + name + "'"};
    }
    return {};
  }

  Status Rows(Statement& statement, const Sink& sink) {
    std::vector<std::string> columns;
    for (int c = 0; c < statement.column_count(); ++c) {
      const char* name = sqlite3_column_name(statement.handle(), c);
      std::string unique = name == nullptr ? "" : name;
      for (int n = 2; std::find(columns.begin(), columns.end(), unique) != columns.end(); ++n)
        unique = std::string(name == nullptr ? "" : name) + "_" + std::to_string(n);
      columns.push_back(unique);
    }
    HANDHOLD_TRY(sink.columns(columns));
    std::vector<SqlValue> values(columns.size());
    for (;;) {
      const Result<bool> row = statement.Step();
      // A name that nothing has is the statement's fault, a damaged clip is not. The catalogue's
      // path is no help.
      if (!row && row.error().code == ErrorCode::kInvalid) {
        const std::optional<Error> ours = clips_.TakeFailure();
        const bool mistake = !ours || ours->code == ErrorCode::kNotFound;
        return Error{mistake ? ErrorCode::kInvalid : ours->code,
                     sqlite3_errmsg(sqlite3_db_handle(statement.handle()))};
      }
      if (!row) return row.error();
      if (!*row) return {};
      for (size_t c = 0; c < values.size(); ++c)
        values[c] = ValueOf(statement, static_cast<int>(c));
      HANDHOLD_ASSIGN(const bool more, sink.row(values));
      if (!more) return {};
    }
  }

  const Library& library_;
  SqlClips clips_;
  Refusal refusal_;
  Database db_;
};

}  // namespace

Result<std::optional<double>> NumberOf(sqlite3_value* value, const char* what) {
  if (value == nullptr || sqlite3_value_type(value) == SQLITE_NULL) return std::optional<double>();
  const int type = sqlite3_value_numeric_type(value);  // '0.5', as a --param comes, is a number
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
    return std::optional<double>(sqlite3_value_double(value));
  return Error{ErrorCode::kInvalid,
               std::string(what) + " is '" + TextOf(value).substr(0, 40) + "', which is no number"};
}

Result<std::optional<Window>> WindowOf(sqlite3_value* t0, sqlite3_value* t1) {
  HANDHOLD_ASSIGN(const std::optional<double> begin, NumberOf(t0, "t0 (seconds)"));
  HANDHOLD_ASSIGN(const std::optional<double> end, NumberOf(t1, "t1 (seconds)"));
  if (!begin && !end) return std::optional<Window>();
  // A thousand years either way: beyond any clip, and safe to add to.
  const auto time = [](double s) { return Timestamp::FromSeconds(std::clamp(s, -3e9, 3e9)); };
  return std::optional<Window>(Window{time(begin.value_or(-3e9)), time(end.value_or(3e9))});
}

std::string TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? "" : text;
}

Result<std::string> SqlClips::NameOf(sqlite3_value* clip) {
  if (sqlite3_value_type(clip) != SQLITE_INTEGER) return TextOf(clip);
  HANDHOLD_ASSIGN(Statement id, library_.catalogue().Prepare("SELECT id FROM clip WHERE clip=?1"));
  HANDHOLD_ASSIGN(const bool found, id.Bind(1, int64_t{sqlite3_value_int64(clip)}).Step());
  if (!found) return Error{ErrorCode::kNotFound, "no clip has the number " + TextOf(clip)};
  return id.String(0);
}

Result<std::string> SqlClips::ShaOf(sqlite3_value* clip) {
  if (sqlite3_value_type(clip) == SQLITE_NULL) return std::string();
  HANDHOLD_ASSIGN(const std::string name, NameOf(clip));
  HANDHOLD_ASSIGN(const ClipRow row, library_.FindClip(name));
  return row.sha256;
}

Result<const ClipReader*> SqlClips::Clip(sqlite3_value* clip) {
  if (sqlite3_value_type(clip) == SQLITE_NULL) return nullptr;
  std::string key = TextOf(clip);
  if (sqlite3_value_type(clip) == SQLITE_INTEGER) key = "#" + key;
  const auto known =
      std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.key == key; });
  if (known != open_.end()) {
    open_.splice(open_.begin(), open_, known);
    return open_.front().reader.get();
  }
  HANDHOLD_ASSIGN(const std::string name, NameOf(clip));
  HANDHOLD_ASSIGN(std::unique_ptr<ClipReader> reader, library_.OpenClip(name));
  if (open_.size() >= kOpenClips) open_.pop_back();
  open_.push_front({key, std::move(reader)});
  return open_.front().reader.get();
}

Result<bool> SqlClips::KnownSomewhere(const std::string& stream, const std::string& channel) {
  bool sensor_channel = channel.empty();
  for (int k = 0; k < kSensorZones; ++k)
    sensor_channel = sensor_channel || channel == SensorChannelName(k);
  HANDHOLD_ASSIGN(
      Statement find,
      library_.catalogue().Prepare(
          "SELECT 1 FROM clip_stream s JOIN clip_channel c USING(clip, stream) WHERE s.name=?1 AND "
          "(?2='' OR c.name=?2) UNION ALL SELECT 1 FROM clip_zone z LEFT JOIN clip_stream s "
          "USING(clip, stream) WHERE ?3 AND (z.sensor=?1 OR s.name=?1) LIMIT 1"));
  return find.Bind(1, stream).Bind(2, channel).Bind(3, sensor_channel ? 1 : 0).Step();
}

Result<std::optional<Signal>> SqlClips::Find(const ClipReader& clip, const std::string& stream,
                                             const std::string& channel) {
  Result<Signal> signal = FindSignal(clip, stream, channel);
  if (signal) return std::optional<Signal>(*std::move(signal));
  if (signal.error().code != ErrorCode::kNotFound) return signal.error();
  HANDHOLD_ASSIGN(const bool known, KnownSomewhere(stream, channel));
  if (known) return std::optional<Signal>();
  return signal.error();
}

Result<std::vector<Signal>> SqlClips::FindAll(const ClipReader& clip, const std::string& stream) {
  Result<std::vector<Signal>> signals = FindSignals(clip, stream);
  if (signals || signals.error().code != ErrorCode::kNotFound) return signals;
  HANDHOLD_ASSIGN(const bool known, KnownSomewhere(stream, ""));
  if (known) return std::vector<Signal>();
  return signals.error();
}

Result<std::unique_ptr<SqlSession>> SqlSession::Open(const Library& library) {
  auto session = std::make_unique<Session>(library);
  HANDHOLD_TRY(session->Start());
  return std::unique_ptr<SqlSession>(std::move(session));
}

}  // namespace handhold::store
