// The table-valued functions results(clip) and contact_rows(clip): eponymous virtual tables that
// hold what the clip's newest results say. A table's rows are made when it is asked.
#include <sqlite3.h>

#include "database/store/sql_clips.h"

namespace handhold::store {
namespace {

/// Columns before the hidden argument, and the cell in a row; kText: text.
struct Shape {
  const char* name;
  const char* declared;
  int columns;
  Result<std::vector<std::vector<SqlValue>>> (*rows)(SqlClips& clips, const std::string& sha256);
};

SqlValue Number(double value) {
  if (value != value) return std::monostate();
  return value;
}

Result<std::vector<std::vector<SqlValue>>> Results(SqlClips& clips, const std::string& sha256) {
  std::vector<std::vector<SqlValue>> rows;
  for (const ResultQuantity quantity : kResultQuantities) {
    HANDHOLD_ASSIGN(const std::vector<ResultSeries>* all, clips.results().Series(sha256, quantity));
    for (const ResultSeries& series : *all) {
      for (size_t i = 0; i < series.values.size(); ++i) {
        SqlValue seconds, ns;
        if (!series.times.empty()) seconds = series.times[i].seconds(), ns = series.times[i].ns();
        rows.push_back({seconds, ns, std::string(ResultQuantityName(quantity)), series.name,
                        Number(series.values[i]), series.unit, series.task, series.hash});
      }
    }
  }
  return rows;
}

Result<std::vector<std::vector<SqlValue>>> ContactRows(SqlClips& clips, const std::string& sha256) {
  HANDHOLD_ASSIGN(const ResultIndex::ContactTracks contacts, clips.results().Contacts(sha256));
  std::vector<std::vector<SqlValue>> rows;
  for (size_t i = 0; i < contacts.tracks.size(); ++i) {
    const artefact::ContactTrack& track = contacts.tracks[i];
    const auto name = [](const artefact::Side& s) { return s.site.empty() ? s.name : s.site; };
    for (const artefact::ContactRow& row : track.rows) {
      const artefact::Touch& touch = track.touches[static_cast<size_t>(row.touch)];
      const Timestamp t = track.times[static_cast<size_t>(row.frame)];
      std::vector<SqlValue> cells = {t.seconds(),   t.ns(),       int64_t{row.touch}, name(touch.a),
                                     name(touch.b), touch.sensor, touch.task};
      for (const geometry::Vec3* v : {&row.f_onA_W, &row.m_onA_W, &row.p_W, &row.normal_W})
        for (int c = 0; c < 3; ++c) cells.push_back(Number((*v)[c]));
      cells.push_back(Number(row.offset_m));
      cells.push_back(contacts.hashes[i]);
      rows.push_back(std::move(cells));
    }
  }
  return rows;
}

constexpr Shape kResults = {
    "results",
    "CREATE TABLE results(t_s REAL, t_ns INTEGER, quantity TEXT, name TEXT, value REAL, unit TEXT, "
    "task TEXT, hash TEXT, clip HIDDEN)",
    8, &Results};
constexpr Shape kContactRows = {
    "contact_rows",
    "CREATE TABLE contact_rows(t_s REAL, t_ns INTEGER, touch INTEGER, a TEXT, b TEXT, sensor TEXT, "
    "task TEXT, fx_onA_W_N REAL, fy_onA_W_N REAL, fz_onA_W_N REAL, mx_onA_W_Nm REAL, "
    "my_onA_W_Nm REAL, mz_onA_W_Nm REAL, px_W_m REAL, py_W_m REAL, pz_W_m REAL, nx_W REAL, ny_W "
    "REAL, nz_W REAL, offset_m REAL, "
    "hash TEXT, clip HIDDEN)",
    21, &ContactRows};

struct Registered {
  const Shape* shape;
  SqlClips* clips;
};
struct Table {
  sqlite3_vtab base;
  Registered of;
};
struct Cursor {
  sqlite3_vtab_cursor base;
  std::vector<std::vector<SqlValue>> rows;
  size_t row = 0;
};

int Connect(sqlite3* db, void* registered, int, const char* const*, sqlite3_vtab** out, char**) {
  const Registered& of = *static_cast<Registered*>(registered);
  const int rc = sqlite3_declare_vtab(db, of.shape->declared);
  if (rc != SQLITE_OK) return rc;
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  auto* table = new Table{};
  table->of = of;
  *out = &table->base;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<Table*>(table);
  return SQLITE_OK;
}

int Fail(sqlite3_vtab* base, const Error& error) {
  reinterpret_cast<Table*>(base)->of.clips->Failed(error);
  sqlite3_free(base->zErrMsg);
  base->zErrMsg = sqlite3_mprintf("%s", error.message.c_str());
  return SQLITE_ERROR;
}

int BestIndex(sqlite3_vtab* base, sqlite3_index_info* info) {
  const Shape& shape = *reinterpret_cast<Table*>(base)->of.shape;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& c = info->aConstraint[i];
    if (c.iColumn != shape.columns || c.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (c.usable == 0) return SQLITE_CONSTRAINT;  // wait for the table it comes from
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->estimatedCost = 1e5;
    info->estimatedRows = 100'000;
    return SQLITE_OK;
  }
  return Fail(base, {ErrorCode::kInvalid,
                     std::string(shape.name) + " wants a clip: " + shape.name + "('stroke_001')"});
}

int OpenCursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  auto* cursor = new Cursor{};
  *out = &cursor->base;
  return SQLITE_OK;
}

int CloseCursor(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* base, int, const char*, int count, sqlite3_value** values) {
  auto& cursor = *reinterpret_cast<Cursor*>(base);
  const Registered& of = reinterpret_cast<Table*>(base->pVtab)->of;
  cursor.rows.clear();
  cursor.row = 0;
  if (count < 1) return SQLITE_OK;
  const Result<std::string> clip = of.clips->ShaOf(values[0]);
  if (!clip) return Fail(base->pVtab, clip.error());
  if (clip->empty()) return SQLITE_OK;
  auto rows = of.shape->rows(*of.clips, *clip);
  if (!rows) return Fail(base->pVtab, rows.error());
  cursor.rows = *std::move(rows);
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  ++reinterpret_cast<Cursor*>(base)->row;
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto& cursor = *reinterpret_cast<Cursor*>(base);
  return cursor.row >= cursor.rows.size() ? 1 : 0;
}

int Answer(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto& cursor = *reinterpret_cast<Cursor*>(base);
  const std::vector<SqlValue>& row = cursor.rows[cursor.row];
  if (column >= static_cast<int>(row.size())) return SQLITE_OK;  // the hidden argument: NULL
  const SqlValue& value = row[static_cast<size_t>(column)];
  if (const auto* n = std::get_if<int64_t>(&value)) sqlite3_result_int64(context, *n);
  if (const auto* x = std::get_if<double>(&value)) sqlite3_result_double(context, *x);
  if (const auto* text = std::get_if<std::string>(&value))
    sqlite3_result_text(context, text->c_str(), -1, SQLITE_TRANSIENT);
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* base, sqlite3_int64* row) {
  *row = static_cast<sqlite3_int64>(reinterpret_cast<Cursor*>(base)->row);
  return SQLITE_OK;
}

void Forget(void* registered) { delete static_cast<Registered*>(registered); }

}  // namespace

Status RegisterResults(sqlite3* db, SqlClips& clips) {
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
  for (const Shape* shape : {&kResults, &kContactRows}) {
    auto* registered = new Registered{shape, &clips};
    if (sqlite3_create_module_v2(db, shape->name, &module, registered, &Forget) != SQLITE_OK)
      return Error{ErrorCode::kIo,
                   "registering " + std::string(shape->name) + ": " + sqlite3_errmsg(db)};
  }
  return {};
}

}  // namespace handhold::store
