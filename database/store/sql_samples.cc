// The table-valued function samples(clip, stream, channels, t0, t1): an eponymous virtual table
// that reads two seconds at a time, whatever the length of the clip.
#include <sqlite3.h>

#include <algorithm>
#include <cstring>

#include "database/store/sql_clips.h"

namespace handhold::store {
namespace {

using recording::SampleWindow;

enum Column { kSeconds, kNanoseconds, kCounter, kChannel, kValue, kClip };
constexpr int kArguments = 5;
constexpr Duration kPiece = Duration::Seconds(2);

struct SamplesTable {
  sqlite3_vtab base;
  SqlClips* clips;
};

/// One channel's part that reads the stream now being walked.
struct Reading {
  std::string name;
  SignalPart part;
  std::vector<double> values;
};

struct SamplesCursor {
  sqlite3_vtab_cursor base;
  const ClipReader* clip = nullptr;
  std::string clip_said;  ///< what the hidden column answers
  std::vector<Signal> signals;
  std::vector<int> streams;  ///< to walk, in order
  std::optional<Window> window;
  size_t stream = 0;
  Timestamp at, end;  ///< what is left of the stream
  std::vector<Reading> readings;
  std::vector<Timestamp> times;
  std::vector<int64_t> counters;
  size_t sample = 0, reading = 0;
  int64_t row = 0;
  bool done = true;
};

int Fail(sqlite3_vtab* table, const Error& error) {
  reinterpret_cast<SamplesTable*>(table)->clips->Failed(error);
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("%s", error.message.c_str());
  return SQLITE_ERROR;
}

int Connect(sqlite3* db, void* clips, int, const char* const*, sqlite3_vtab** out, char**) {
  const int rc = sqlite3_declare_vtab(
      db,
      "CREATE TABLE samples(t_s REAL, t_ns INTEGER, counter INTEGER, channel TEXT, value REAL, "
      "clip HIDDEN, stream HIDDEN, channels HIDDEN, t0 HIDDEN, t1 HIDDEN)");
  if (rc != SQLITE_OK) return rc;
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  auto* table = new SamplesTable{};
  table->clips = static_cast<SqlClips*>(clips);
  *out = &table->base;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<SamplesTable*>(table);
  return SQLITE_OK;
}

/// Arguments are equalities on the hidden columns; idxNum says which of them are given.
int BestIndex(sqlite3_vtab* table, sqlite3_index_info* info) {
  int given = 0, at[kArguments] = {-1, -1, -1, -1, -1};
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& c = info->aConstraint[i];
    if (c.iColumn < kClip || c.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (c.usable == 0) return SQLITE_CONSTRAINT;  // wait for the table it comes from
    given |= 1 << (c.iColumn - kClip);
    at[c.iColumn - kClip] = i;
  }
  if ((given & 3) != 3) {
    return Fail(table,
                {ErrorCode::kInvalid,
                 "samples wants a clip and a stream: samples('stroke_001', 'plate/wrench')"});
  }
  int argument = 0;
  for (const int i : at) {
    if (i < 0) continue;
    info->aConstraintUsage[i].argvIndex = ++argument;
    info->aConstraintUsage[i].omit = 1;
  }
  info->idxNum = given;
  info->estimatedCost = 1e5;
  info->estimatedRows = 10'000;
  return SQLITE_OK;
}

int OpenCursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  auto* cursor = new SamplesCursor{};
  *out = &cursor->base;
  return SQLITE_OK;
}

int CloseCursor(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<SamplesCursor*>(cursor);
  return SQLITE_OK;
}

void BeginStream(SamplesCursor& c) {
  const int id = c.streams[c.stream];
  c.readings.clear();
  for (const Signal& signal : c.signals) {
    for (const SignalPart& part : signal.parts) {
      if (part.stream_id == id) c.readings.push_back({signal.name, part, {}});
    }
  }
  const TimeRange extent = c.clip->Extent(id);
  c.at = extent.begin;
  c.end = extent.end;
  if (!c.window) return;
  c.at = std::max(c.at, c.window->first);
  if (c.window->last < c.end) c.end = c.window->last + Duration::Nanoseconds(1);
}

/// Reads until there is a sample to answer, or nothing more.
Status Refill(SamplesCursor& c) {
  c.sample = c.reading = 0;
  c.times.clear();
  while (c.times.empty()) {
    if (c.at >= c.end) {
      if (++c.stream >= c.streams.size()) {
        c.done = true;
        return {};
      }
      BeginStream(c);
      continue;
    }
    // A piece is half-open: it ends one nanosecond before the next begins.
    const Timestamp next = std::min(c.at + kPiece, c.end);
    const Window piece{c.at, next + Duration::Nanoseconds(-1)};
    for (Reading& reading : c.readings) {
      reading.values.clear();
      const bool first = &reading == c.readings.data();
      HANDHOLD_TRY(
          VisitSignal(*c.clip, reading.part, piece,
                      [&](const SampleWindow& w, std::span<const double> values) -> Status {
                        reading.values.insert(reading.values.end(), values.begin(), values.end());
                        if (!first) return {};
                        c.times.insert(c.times.end(), w.times.begin(), w.times.end());
                        c.counters.assign(w.counters.begin(), w.counters.end());
                        return {};
                      }));
    }
    c.at = next;
  }
  return {};
}

std::vector<std::string> Names(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    std::string name = list.substr(at, end - at);
    while (!name.empty() && name.front() == ' ') name.erase(0, 1);
    while (!name.empty() && name.back() == ' ') name.pop_back();
    if (!name.empty() && name != "*") names.push_back(name);
    at = end + 1;
  }
  return names;
}

Status BeginWalk(SamplesCursor& c, SqlClips& clips, sqlite3_value* const* given) {
  c.done = true;
  c.signals.clear();
  c.streams.clear();
  c.row = 0;
  c.clip_said = TextOf(given[0]);
  HANDHOLD_ASSIGN(c.clip, clips.Clip(given[0]));
  if (c.clip == nullptr) return {};
  const std::string stream = TextOf(given[1]);
  const std::vector<std::string> names =
      given[2] == nullptr ? std::vector<std::string>() : Names(TextOf(given[2]));
  if (names.empty()) {
    HANDHOLD_ASSIGN(c.signals, clips.FindAll(*c.clip, stream));
  }
  for (const std::string& name : names) {
    HANDHOLD_ASSIGN(std::optional<Signal> signal, clips.Find(*c.clip, stream, name));
    if (signal) c.signals.push_back(*std::move(signal));
  }
  for (const Signal& signal : c.signals) {
    for (const SignalPart& part : signal.parts) {
      if (std::find(c.streams.begin(), c.streams.end(), part.stream_id) == c.streams.end())
        c.streams.push_back(part.stream_id);
    }
  }
  if (c.streams.empty()) return {};
  HANDHOLD_ASSIGN(c.window, WindowOf(given[3], given[4]));
  c.done = false;
  c.stream = 0;
  BeginStream(c);
  return Refill(c);
}

int Filter(sqlite3_vtab_cursor* base, int given, const char*, int, sqlite3_value** values) {
  auto& c = *reinterpret_cast<SamplesCursor*>(base);
  sqlite3_value* arguments[kArguments] = {};
  for (int k = 0, i = 0; k < kArguments; ++k) {
    if ((given & (1 << k)) != 0) arguments[k] = values[i++];
  }
  SqlClips& clips = *reinterpret_cast<SamplesTable*>(base->pVtab)->clips;
  const Status status = BeginWalk(c, clips, arguments);
  return status ? SQLITE_OK : Fail(base->pVtab, status.error());
}

int Next(sqlite3_vtab_cursor* base) {
  auto& c = *reinterpret_cast<SamplesCursor*>(base);
  ++c.row;
  if (++c.reading < c.readings.size()) return SQLITE_OK;
  c.reading = 0;
  if (++c.sample < c.times.size()) return SQLITE_OK;
  const Status status = Refill(c);
  return status ? SQLITE_OK : Fail(base->pVtab, status.error());
}

int Eof(sqlite3_vtab_cursor* base) { return reinterpret_cast<SamplesCursor*>(base)->done ? 1 : 0; }

int Answer(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  auto& c = *reinterpret_cast<SamplesCursor*>(base);
  const Reading& reading = c.readings[c.reading];
  switch (column) {
    case kSeconds:
      sqlite3_result_double(context, c.times[c.sample].seconds());
      break;
    case kNanoseconds:
      sqlite3_result_int64(context, c.times[c.sample].ns());
      break;
    case kCounter:
      sqlite3_result_int64(context, c.counters[c.sample]);
      break;
    case kChannel:
      sqlite3_result_text(context, reading.name.c_str(), -1, SQLITE_TRANSIENT);
      break;
    case kValue:
      sqlite3_result_double(context, reading.values[c.sample]);  // NaN becomes NULL
      break;
    case kClip:
      sqlite3_result_text(context, c.clip_said.c_str(), -1, SQLITE_TRANSIENT);
      break;
    default:
      break;
  }
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* base, sqlite3_int64* row) {
  *row = reinterpret_cast<SamplesCursor*>(base)->row;
  return SQLITE_OK;
}

}  // namespace

Status RegisterSamples(sqlite3* db, SqlClips& clips) {
  static const sqlite3_module module = [] {
    sqlite3_module m{};
    m.xConnect = &Connect;
    m.xDisconnect = &Disconnect;
    m.xDestroy = &Disconnect;
    m.xBestIndex = &BestIndex;
    m.xOpen = &OpenCursor;
    m.xClose = &CloseCursor;
    m.xFilter = &Filter;
    m.xNext = &Next;
    m.xEof = &Eof;
    m.xColumn = &Answer;
    m.xRowid = &RowId;
    return m;
  }();
  if (sqlite3_create_module_v2(db, "samples", &module, &clips, nullptr) != SQLITE_OK)
    return Error{ErrorCode::kIo, std::string("registering samples: ") + sqlite3_errmsg(db)};
  return {};
}

}  // namespace handhold::store
