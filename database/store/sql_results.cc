// The table-valued functions results(clip) and contact_rows(clip): eponymous virtual tables that
// walk over what the clip's newest results say.
#include <sqlite3.h>

#include "database/store/sql_clips.h"

namespace handhold::store {
namespace {

/// What a cursor walks: series by series, or track by track and row by row.
struct Walk {
  std::string clip;  ///< as it was named: what the hidden column answers
  std::vector<ResultSeries> series;
  ResultIndex::ContactTracks contacts;
  size_t part = 0, row = 0;
};

struct Shape {
  const char* name;
  const char* declared;
  int columns;   ///< before the hidden argument
  int quantity;  ///< column whose equality is used, too; -1: none
  Status (*load)(SqlClips& clips, const std::string& sha256, const std::string& quantity,
                 Walk* walk);
  size_t (*parts)(const Walk& walk);
  size_t (*rows)(const Walk& walk);  ///< of the part
  SqlValue (*cell)(const Walk& walk, int column);
};

SqlValue Number(double value) {
  if (value != value) return std::monostate();
  return value;
}

Status LoadResults(SqlClips& clips, const std::string& sha256, const std::string& quantity,
                   Walk* walk) {
  for (const ResultQuantity one : kResultQuantities) {
    if (!quantity.empty() && quantity != ResultQuantityName(one)) continue;
    HANDHOLD_ASSIGN(const std::vector<ResultSeries>* all, clips.results().Series(sha256, one));
    walk->series.insert(walk->series.end(), all->begin(), all->end());
  }
  return {};
}

SqlValue ResultCell(const Walk& walk, int column) {
  const ResultSeries& series = walk.series[walk.part];
  switch (column) {
    case 0:
      if (series.times.empty()) return std::monostate();
      return series.times[walk.row].seconds();
    case 1:
      if (series.times.empty()) return std::monostate();
      return series.times[walk.row].ns();
    case 2:
      return std::string(ResultQuantityName(series.quantity));
    case 3:
      return series.name;
    case 4:
      return Number(series.values[walk.row]);
    case 5:
      return series.unit;
    case 6:
      return series.task;
    default:
      return series.hash;
  }
}

Status LoadContacts(SqlClips& clips, const std::string& sha256, const std::string&, Walk* walk) {
  HANDHOLD_ASSIGN(walk->contacts, clips.results().Contacts(sha256));
  return {};
}

SqlValue ContactCell(const Walk& walk, int column) {
  const artefact::ContactTrack& track = walk.contacts.tracks[walk.part];
  const artefact::ContactRow& row = track.rows[walk.row];
  const artefact::Touch& touch = track.touches[static_cast<size_t>(row.touch)];
  const auto name = [](const artefact::Side& s) { return s.site.empty() ? s.name : s.site; };
  switch (column) {
    case 0:
      return track.times[static_cast<size_t>(row.frame)].seconds();
    case 1:
      return track.times[static_cast<size_t>(row.frame)].ns();
    case 2:
      return int64_t{row.touch};
    case 3:
      return name(touch.a);
    case 4:
      return name(touch.b);
    case 5:
      return touch.sensor;
    case 6:
      return touch.task;
    case 19:
      return Number(row.offset_m);
    case 20:
      return walk.contacts.hashes[walk.part];
    default:
      break;
  }
  const geometry::Vec3* vectors[] = {&row.f_onA_W, &row.m_onA_W, &row.p_W, &row.normal_W};
  return Number((*vectors[(column - 7) / 3])[(column - 7) % 3]);
}

constexpr Shape kResults = {
    "results",
    "CREATE TABLE results(t_s REAL, t_ns INTEGER, quantity TEXT, name TEXT, value REAL, unit TEXT, "
    "task TEXT, hash TEXT, clip HIDDEN)",
    8,
    2,
    &LoadResults,
    [](const Walk& w) { return w.series.size(); },
    [](const Walk& w) { return w.series[w.part].values.size(); },
    &ResultCell};
constexpr Shape kContactRows = {
    "contact_rows",
    "CREATE TABLE contact_rows(t_s REAL, t_ns INTEGER, touch INTEGER, a TEXT, b TEXT, sensor TEXT, "
    "task TEXT, fx_onA_W_N REAL, fy_onA_W_N REAL, fz_onA_W_N REAL, mx_onA_W_Nm REAL, my_onA_W_Nm "
    "REAL, mz_onA_W_Nm REAL, px_W_m REAL, py_W_m REAL, pz_W_m REAL, nx_W REAL, ny_W REAL, nz_W "
    "REAL, offset_m REAL, hash TEXT, clip HIDDEN)",
    21,
    -1,
    &LoadContacts,
    [](const Walk& w) { return w.contacts.tracks.size(); },
    [](const Walk& w) { return w.contacts.tracks[w.part].rows.size(); },
    &ContactCell};

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
  Walk walk;
  int64_t count = 0;
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

/// Arguments: the clip, and the quantity where idxNum says that it is given.
int BestIndex(sqlite3_vtab* base, sqlite3_index_info* info) {
  const Shape& shape = *reinterpret_cast<Table*>(base)->of.shape;
  int clip = -1, quantity = -1;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& c = info->aConstraint[i];
    if (c.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (c.iColumn == shape.columns && clip < 0) {
      if (c.usable == 0) return SQLITE_CONSTRAINT;  // wait for the table it comes from
      clip = i;
    }
    if (c.iColumn == shape.quantity && c.usable != 0) quantity = i;
  }
  if (clip < 0)
    return Fail(base, {ErrorCode::kInvalid, std::string(shape.name) +
                                                " wants a clip: " + shape.name + "('stroke_001')"});
  info->aConstraintUsage[clip].argvIndex = 1;
  if (quantity >= 0) info->aConstraintUsage[quantity].argvIndex = 2;
  info->idxNum = quantity >= 0 ? 1 : 0;
  info->estimatedCost = quantity >= 0 ? 1e5 : 4e5;
  info->estimatedRows = 100'000;
  return SQLITE_OK;
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

/// To the next row that there is, from the place that the cursor is at.
void Settle(const Shape& shape, Walk* walk) {
  while (walk->part < shape.parts(*walk) && walk->row >= shape.rows(*walk))
    ++walk->part, walk->row = 0;
}

int Filter(sqlite3_vtab_cursor* base, int with_quantity, const char*, int count,
           sqlite3_value** values) {
  auto& cursor = *reinterpret_cast<Cursor*>(base);
  const Registered& of = reinterpret_cast<Table*>(base->pVtab)->of;
  cursor.walk = {};
  cursor.count = 0;
  if (count < 1) return SQLITE_OK;
  cursor.walk.clip = TextOf(values[0]);
  const Result<std::string> clip = of.clips->ShaOf(values[0]);
  if (!clip) return Fail(base->pVtab, clip.error());
  if (clip->empty()) return SQLITE_OK;
  const std::string quantity = with_quantity != 0 && count > 1 ? TextOf(values[1]) : "";
  const Status loaded = of.shape->load(*of.clips, *clip, quantity, &cursor.walk);
  if (!loaded) return Fail(base->pVtab, loaded.error());
  Settle(*of.shape, &cursor.walk);
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  auto& cursor = *reinterpret_cast<Cursor*>(base);
  ++cursor.walk.row, ++cursor.count;
  Settle(*reinterpret_cast<Table*>(base->pVtab)->of.shape, &cursor.walk);
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto& cursor = *reinterpret_cast<Cursor*>(base);
  const Shape& shape = *reinterpret_cast<Table*>(base->pVtab)->of.shape;
  return cursor.walk.part >= shape.parts(cursor.walk) ? 1 : 0;
}

int Answer(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto& cursor = *reinterpret_cast<Cursor*>(base);
  const Shape& shape = *reinterpret_cast<Table*>(base->pVtab)->of.shape;
  const SqlValue value =
      column == shape.columns ? SqlValue(cursor.walk.clip) : shape.cell(cursor.walk, column);
  if (const auto* n = std::get_if<int64_t>(&value)) sqlite3_result_int64(context, *n);
  if (const auto* x = std::get_if<double>(&value)) sqlite3_result_double(context, *x);
  if (const auto* text = std::get_if<std::string>(&value))
    sqlite3_result_text(context, text->c_str(), -1, SQLITE_TRANSIENT);
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* base, sqlite3_int64* row) {
  *row = reinterpret_cast<Cursor*>(base)->count;
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
