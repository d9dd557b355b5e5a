#include <limits>

#include "database/store/query.h"

#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/hand_poses.h"

namespace handhold::cli {
namespace {

constexpr char kDetails[] =
    R"(A condition on what is known of a clip (subject, task, prop, tag, rating, date, duration, name,
session, label, stream, marker, channel, take, gaps, lost, red, contacts, contact_time, closed, keep,
unrated, withdrawn, property.KEY, text ~ "words", quality(WHAT)), on its events (contact_on, A then B within 200 ms, count(mark) > 2)
and on what was measured: peak, min, mean, rms or range of a channel, occluded(MARKER), each compared
with a number and its unit, over the clip, the event, or 'within 0.2 s of|after|before EVENT'.
Fits, too: angle(DOF), torque(DOF), contact_force(SITE or THING) of the newest results, as in
peak(angle(R.index.pip.flex)) > 60 deg, and compliance(DOF) > 0.5 rad/Nm.
Markers have a speed (RIFT.speed) and distances (RIFT.to.RTHT); 'normal_force > 2 N for 0.5 s' asks
for how long it is held without a break.
Joined by and, or, not. Rows are the events the condition speaks of, else clips; 'clips where',
'contacts where', 'strokes where', 'events where' says which. normal_force: how hard the hand
presses, along the sensor's normal. The grammar: schemas/README.md, Queries.)";

std::vector<Column> ColumnsOf(const store::QueryResult& found) {
  std::vector<Column> columns = {{.name = "clip"}};
  if (found.rows_are_events) {
    const std::vector<Column> of_event = {{.name = "event"},
                                          {.name = "number"},
                                          {.name = "t_ns", .heading = "time"},
                                          {.name = "length_ns", .heading = "length"},
                                          {.name = "text"},
                                          {.name = "origin"},
                                          {.name = "stroke"}};
    columns.insert(columns.end(), of_event.begin(), of_event.end());
  } else {
    columns.push_back({.name = "length_ns", .heading = "length"});
  }
  for (const store::QueryColumn& column : found.columns) columns.push_back({.name = column.key});
  const std::vector<Column> of_clip = {{.name = "subject"},
                                       {.name = "task"},
                                       {.name = "prop"},
                                       {.name = "utc_start_ns", .heading = "start"},
                                       {.name = "id"}};
  columns.insert(columns.end(), of_clip.begin(), of_clip.end());
  return columns;
}

std::vector<Cell> CellsOf(const store::QueryRow& row) {
  std::vector<Cell> cells = {row.clip_name};
  if (row.event) {
    const recording::Event& event = *row.event;
    const Cell stroke = row.stroke == 0 ? Cell(std::nullopt) : Cell(row.stroke);
    for (const Cell& cell : {Cell(event.kind), Cell(row.number), Cell(event.clip_time),
                             Cell(event.length), Cell(event.text), Cell(event.origin), stroke})
      cells.push_back(cell);
  } else {
    cells.emplace_back(row.clip_length);
  }
  for (const std::optional<double>& value : row.values) cells.emplace_back(value);
  for (const Cell& cell : {Cell(row.subject), Cell(row.task), Cell(row.prop),
                           Cell(Utc{row.utc_start}), Cell(row.clip_id)})
    cells.push_back(cell);
  return cells;
}

Outcome PrintGroups(Context& context, const store::QueryResult& found) {
  const std::vector<std::string> by = context.arguments.All("--by");
  const auto groups = store::GroupRows(found, by);
  if (!groups) return Outcome::Usage(groups.error().message);
  std::vector<Column> columns;
  for (const std::string& field : by) columns.push_back({.name = field});
  columns.push_back({.name = "rows"});
  columns.push_back({.name = "clips"});
  {
    Table table = context.printer.BeginTable(columns);
    for (const store::QueryGroup& group : *groups) {
      std::vector<Cell> cells(group.keys.begin(), group.keys.end());
      cells.emplace_back(group.rows);
      cells.emplace_back(group.clips);
      table.Row(cells);
    }
  }
  if (found.rows.empty()) NoteNothingFound(context, found);
  return Outcome::FromIssues(found.issues);
}

}  // namespace

namespace {

/// --like CLIP@TIME [EXPR].
Outcome RunLike(Context& context, store::Library& library) {
  const Arguments& given = context.arguments;
  const std::string asked = given.Text("--like");
  const size_t at = asked.rfind('@');
  if (at == std::string::npos || at == 0)
    return Outcome::Usage("--like: say the clip and the time: grasp_007@1.85s");
  const Result<Duration> time = ParseDuration(asked.substr(at + 1));
  if (!time) return Outcome::Usage("--like: " + time.error().message);
  for (const char* other : {"--by", "--offset"}) {
    if (given.Has(other))
      return Outcome::Usage(std::string("--like lists poses: without ") + other);
  }
  if (given.Flag("--count")) return Outcome::Usage("--like lists poses: without --count");
  std::vector<std::string> only;
  if (given.Has("EXPR")) {
    const Result<store::Query> query = store::Query::Parse(given.Text("EXPR"), library);
    if (!query && query.error().code == ErrorCode::kInvalid)
      return Outcome::Usage(query.error().message);
    if (!query) return query.error();
    HANDHOLD_ASSIGN(const store::QueryResult found, query->Run({}, context.StepProgress("asking")));
    for (const store::QueryRow& row : found.rows) only.push_back(row.clip_id);
    if (only.empty()) {
      NoteNothingFound(context, found);
      return Outcome::FromIssues(found.issues);
    }
  }
  const int64_t limit = given.Has("--limit") ? given.Integer("--limit") : 10;
  HANDHOLD_ASSIGN(const pipeline::LikeResult found,
                  pipeline::FindLikePoses(
                      StepContextOf(context, library, "comparing"), asked.substr(0, at), *time,
                      limit < 0 ? std::numeric_limits<int>::max() : static_cast<int>(limit), only));
  context.progress.End();
  context.progress.Note("like the pose at " + FormatSeconds(found.time - Timestamp()) + ", of " +
                        std::to_string(found.shapes) + " stored hand shapes");
  Table table = context.printer.BeginTable({{.name = "clip"},
                                            {.name = "t_ns", .heading = "time"},
                                            {.name = "rms_rad", .decimals = 4},
                                            {.name = "label"},
                                            {.name = "pose"},
                                            {.name = "id"}});
  for (const pipeline::LikeRow& row : found.rows)
    table.Row({row.clip, row.time, row.rms_rad, row.label, row.pose, row.clip_id});
  if (found.rows.empty() && limit != 0)
    context.progress.Note("nothing to compare it with: no other stored pose of such a hand" +
                          std::string(only.empty() ? "" : " in the clips that EXPR finds"));
  return Outcome::Done();
}

}  // namespace

Verb QueryVerb() {
  return {
      .noun = "query",
      .summary = "find clips, strokes or contacts by a condition",
      .examples =
          {"handhold query 'peak(normal_force) > 5 N within 0.2 s of contact_on' --library lab",
           "handhold query 'task = stroke and rating >= 4 and not tag = pilot'",
           "handhold query 'strokes where rms(normal_force) > 800 mN and event_text = exploring'",
           "handhold query 'occluded(RIFT) > 10 % and date >= 2026-11-01' --format csv",
           "handhold query 'peak(angle(R.index.pip.flex)) > 60 deg within 0.5 s of stroke'",
           "handhold query 'peak(RIFT.speed) > 0.5 m/s and marker = RTHT and unrated'",
           "handhold query 'contacts where normal_force > 2 N for 0.5 s' --by subject --by task",
           "handhold query 'contact_on then contact_off within 200 ms' --limit 50 --offset 50",
           "handhold query --like grasp_007@1.85s --limit 10"},
      .positionals = {{.name = "EXPR",
                       .help = "the condition, in quotes; with --like it may be left out",
                       .required = false}},
      .options = {LibraryOption(),
                  {.name = "--count",
                   .help = "only how many rows, of how many clips",
                   .kind = ValueKind::kFlag},
                  {.name = "--by",
                   .value_name = "FIELD",
                   .help = "count in groups: clip, subject, task, prop, date, event, text, origin",
                   .repeated = true},
                  {.name = "--like",
                   .value_name = "CLIP@TIME",
                   .help = "the nearest stored hand shapes (root mean square over the joints), of "
                           "the clips that EXPR finds; --limit: default 10"},
                  {.name = "--limit",
                   .value_name = "N",
                   .help = "at most this many rows; -1: all",
                   .kind = ValueKind::kInteger,
                   .fallback = "-1",
                   .range = {.least = -1}},
                  {.name = "--offset",
                   .value_name = "N",
                   .help = "leave out the first rows",
                   .kind = ValueKind::kInteger,
                   .fallback = "0",
                   .range = {.least = 0}}},
      .handles_interrupt = true,
      .headline = true,
      .details = kDetails,
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
        if (given.Has("--like")) return RunLike(context, *library);
        if (!given.Has("EXPR"))
          return Outcome::Usage("say a condition, or --like CLIP@TIME for like hand shapes");
        const Result<store::Query> query = store::Query::Parse(given.Text("EXPR"), *library);
        if (!query) {
          if (query.error().code == ErrorCode::kInvalid)
            return Outcome::Usage(query.error().message);
          return query.error();
        }
        HANDHOLD_ASSIGN(
            const store::QueryResult found,
            query->Run({.limit = given.Integer("--limit"), .offset = given.Integer("--offset")},
                       context.StepProgress("asking")));
        if (given.Flag("--count") || given.Has("--by")) return PrintGroups(context, found);
        {
          Table table = context.printer.BeginTable(ColumnsOf(found));
          for (const store::QueryRow& row : found.rows) {
            table.Row(CellsOf(row));
            if (context.printer.reader_gone()) break;
          }
        }
        if (found.more) {
          const auto next = given.Integer("--offset") + static_cast<int64_t>(found.rows.size());
          context.progress.Note("more rows: --offset " + std::to_string(next));
        }
        if (found.rows.empty()) NoteNothingFound(context, found);
        return Outcome::FromIssues(found.issues);
      }};
}

}  // namespace handhold::cli
