#include <algorithm>
#include <cstdlib>
#include <set>

#include "database/base/log.h"
#include "database/recording/pose_text.h"
#include "database/store/library.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

/// Warns where the ledger lost something that may have been said of this clip: what it shows of
/// tags and rating may be what held before.
Status WarnOfDoubt(const store::Library& library, const std::string& id) {
  HANDHOLD_ASSIGN(const Issues problems, library.Problems());
  for (const Issue& problem : problems) {
    if (!problem.where.starts_with("ledger.db")) continue;
    const bool of_a_clip = problem.where.find(" of clip ") != std::string::npos;
    if (of_a_clip && problem.where.find(id) == std::string::npos) continue;
    Log(LogLevel::kWarning, "clip.said_in_doubt",
        {{"where", problem.where},
         {"what", problem.what},
         {"unknown", "whether tags and rating still hold"}});
  }
  return {};
}

/// Clips whose start is no more than the date of the file they were imported from.
Result<std::set<int64_t>> DatedByTheirFiles(const store::Library& library) {
  std::set<int64_t> rows;
  HANDHOLD_ASSIGN(store::Statement list,
                  library.catalogue().Prepare("SELECT clip FROM clip_property WHERE "
                                              "key='import.utc_start'"));
  HANDHOLD_TRY(list.ForEach([&](store::Statement& row) -> Status {
    rows.insert(row.Integer(0));
    return {};
  }));
  return rows;
}

/// Nothing was listed: of how many clips, and what of the filter no clip has.
Status TellOfNone(Context& context, const store::Library& library) {
  store::QueryResult none;
  HANDHOLD_ASSIGN(const store::LibraryInfo info, library.Info());
  none.clips = info.clips;
  for (const char* field : {"subject", "task", "prop", "tag"}) {
    const std::string value = context.arguments.Text(std::string("--") + field);
    if (value.empty()) continue;
    HANDHOLD_ASSIGN(std::string hint, library.Nearest(field, value));
    if (!hint.empty()) none.hints.push_back(std::move(hint));
  }
  NoteNothingFound(context, none);
  return {};
}

}  // namespace

Verb ClipListVerb() {
  return {.noun = "clip",
          .name = "list",
          .summary = "list the clips of a library, newest first",
          .examples = {"handhold clip list --library lab",
                       "handhold clip list --task stroke --subject S03 --format csv"},
          .options = {LibraryOption(),
                      {.name = "--task", .value_name = "TASK", .help = "only this task"},
                      {.name = "--subject",
                       .value_name = "SUBJECT",
                       .help = "only this subject (pseudonym)"},
                      {.name = "--prop", .value_name = "PROP", .help = "only with this prop"},
                      {.name = "--tag", .value_name = "TAG", .help = "only clips tagged so"},
                      {.name = "--withdrawn",
                       .help = "those withdrawn, which are left out otherwise",
                       .kind = ValueKind::kFlag},
                      {.name = "--limit",
                       .value_name = "N",
                       .help = "at most this many; -1: all",
                       .kind = ValueKind::kInteger,
                       .fallback = "-1",
                       .range = {.least = -1}},
                      {.name = "--offset",
                       .value_name = "N",
                       .help = "leave out the first",
                       .kind = ValueKind::kInteger,
                       .fallback = "0",
                       .range = {.least = 0}}},
          .run = [](Context& context) -> Outcome {
            const Arguments& given = context.arguments;
            HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
            const store::ClipFilter filter{.subject = given.Text("--subject"),
                                           .task = given.Text("--task"),
                                           .prop = given.Text("--prop"),
                                           .tag = given.Text("--tag"),
                                           .withdrawn = given.Flag("--withdrawn"),
                                           .limit = given.Integer("--limit"),
                                           .offset = given.Integer("--offset")};
            HANDHOLD_TRY(WarnOfProblems(*library));
            HANDHOLD_ASSIGN(const std::vector<store::ClipRow> clips, library->Clips(filter));
            HANDHOLD_ASSIGN(const std::set<int64_t> of_files, DatedByTheirFiles(*library));
            Table table = context.printer.BeginTable({{.name = "name"},
                                                      {.name = "id"},
                                                      {.name = "subject"},
                                                      {.name = "task"},
                                                      {.name = "prop"},
                                                      {.name = "utc_start_ns", .heading = "start"},
                                                      {.name = "length_ns", .heading = "length"},
                                                      {.name = "lost_samples", .heading = "lost"},
                                                      {.name = "red", .heading = "red"},
                                                      {.name = "keep"},
                                                      {.name = "rating"},
                                                      {.name = "tags"},
                                                      {.name = "start_is", .heading = "start is"}});
            for (const store::ClipRow& c : clips) {
              const char* start_is = of_files.contains(c.row) ? "the file's date" : "";
              table.Row({c.name, c.id, c.subject, c.task, c.prop, Utc{c.utc_start}, c.length,
                         c.lost_samples, c.red_count, c.keep, c.rating, c.tags, start_is});
              if (context.printer.reader_gone()) break;
            }
            if (clips.empty()) HANDHOLD_TRY(TellOfNone(context, *library));
            return Outcome::Done();
          }};
}

Verb ClipShowVerb() {
  return {
      .noun = "clip",
      .name = "show",
      .summary =
          "show what a clip holds: streams, channels, gaps, events, quality, what was said of it",
      .examples = {"handhold clip show stroke_007 --library lab",
                   "handhold clip show 0192f3a0 --json"},
      .positionals = {{.name = "CLIP", .help = "name, id, or the beginning of an id"}},
      .options = {LibraryOption()},
      .run = [](Context& context) -> Outcome {
        HANDHOLD_ASSIGN(const auto library,
                        store::Library::Open(context.arguments.Text("--library")));
        HANDHOLD_ASSIGN(const store::ClipRow row,
                        library->FindClip(context.arguments.Text("CLIP")));
        HANDHOLD_ASSIGN(const auto clip, library->OpenClip(row.id));
        HANDHOLD_TRY(WarnOfDoubt(*library, row.id));
        const auto dated = clip->info().properties.find("import.utc_start");
        const std::string start_is = dated == clip->info().properties.end() ? "" : dated->second;
        Printer& out = context.printer;
        out.BeginDocument();
        out.PrintRecord("clip", {{{.name = "name"}, row.name},
                                 {{.name = "id"}, row.id},
                                 {{.name = "subject"}, row.subject},
                                 {{.name = "session"}, row.session},
                                 {{.name = "task"}, row.task},
                                 {{.name = "prop"}, row.prop},
                                 {{.name = "utc_start_ns", .heading = "start"}, Utc{row.utc_start}},
                                 {{.name = "start_is"}, start_is},
                                 {{.name = "length_ns", .heading = "length"}, row.length},
                                 {{.name = "bytes"}, row.bytes},
                                 {{.name = "closed"}, row.closed},
                                 {{.name = "keep"}, row.keep},
                                 {{.name = "advice"}, clip->quality().advice},
                                 {{.name = "rating"}, row.rating},
                                 {{.name = "tags"}, row.tags},
                                 {{.name = "withdrawn"}, row.withdrawn},
                                 {{.name = "sha256"}, row.sha256}});
        if (library->ledger().readable()) {
          Issues damage;  // WarnOfDoubt tells it
          HANDHOLD_ASSIGN(const auto said, library->ledger().Current(row.id, &damage));
          Table table = out.BeginTable("said", {{.name = "kind"},
                                                {.name = "name"},
                                                {.name = "value"},
                                                {.name = "author"},
                                                {.name = "utc_ns", .heading = "when"}});
          for (const store::LedgerEntry& e : said)
            table.Row({LedgerKindName(e.kind), e.name, e.value, e.author, Utc{e.utc}});
        }
        {
          Table streams = out.BeginTable("streams", {{.name = "stream"},
                                                     {.name = "name"},
                                                     {.name = "epoch"},
                                                     {.name = "kind"},
                                                     {.name = "device"},
                                                     {.name = "rate_Hz", .heading = "rate (Hz)"},
                                                     {.name = "channels"},
                                                     {.name = "samples"},
                                                     {.name = "frame"}});
          for (const recording::StreamInfo& s : clip->streams()) {
            streams.Row({s.id, s.name, s.epoch, StreamKindName(s.kind), s.device, s.rate.hz(),
                         s.channel_count(), clip->sample_count(s.id), s.frame});
          }
        }
        {
          Table channels = out.BeginTable(
              "channels", {{.name = "stream"}, {.name = "channel"}, {.name = "unit"}});
          for (const recording::StreamInfo& s : clip->streams()) {
            for (const recording::Channel& c : s.channels) channels.Row({s.name, c.name, c.unit});
          }
        }
        {
          Table things = out.BeginTable("things", {{.name = "name"},
                                                   {.name = "kind"},
                                                   {.name = "model"},
                                                   {.name = "pose"},
                                                   {.name = "where"}});
          for (const recording::Thing& t : clip->info().things) {
            std::string where = t.stream;
            for (const std::string& item : t.items) where += " " + item;
            if (t.pose == recording::Thing::Pose::kFixed) where = recording::FormatPose(t.X_WT);
            things.Row({t.name, ThingKindName(t.kind), t.model, ThingPoseName(t.pose), where});
          }
        }
        {
          Table sensors = out.BeginTable("force_sensors", {{.name = "name"},
                                                           {.name = "stream"},
                                                           {.name = "mounted_on"},
                                                           {.name = "serial"},
                                                           {.name = "full_scale_N"}});
          for (const recording::ForceSensor& s : clip->force_sensors())
            sensors.Row({s.name, s.stream_id, s.mounted_on, s.serial, s.full_scale_N});
        }
        {
          Table gaps = out.BeginTable("gaps", {{.name = "stream"},
                                               {.name = "begin_ns", .heading = "begin"},
                                               {.name = "end_ns", .heading = "end"},
                                               {.name = "samples"},
                                               {.name = "cause"}});
          for (const recording::Gap& g : clip->gaps())
            gaps.Row({g.stream_id, g.clip_begin, g.clip_end, g.count, GapCauseName(g.cause)});
        }
        {
          Table events = out.BeginTable("events", {{.name = "t_ns", .heading = "time"},
                                                   {.name = "length_ns", .heading = "length"},
                                                   {.name = "kind"},
                                                   {.name = "origin"},
                                                   {.name = "value"},
                                                   {.name = "text"}});
          for (const recording::Event& e : clip->events())
            events.Row({e.clip_time, e.length, e.kind, e.origin, e.value, e.text});
        }
        {
          Table quality = out.BeginTable("quality", {{.name = "stream"},
                                                     {.name = "what"},
                                                     {.name = "value"},
                                                     {.name = "worst"},
                                                     {.name = "threshold"},
                                                     {.name = "red"},
                                                     {.name = "cause"}});
          for (const recording::QualityItem& q : clip->quality().items) {
            quality.Row({q.stream, q.what, q.value, q.worst, q.threshold, q.red, q.cause});
          }
        }
        {
          Table properties = out.BeginTable("properties", {{.name = "name"}, {.name = "value"}});
          for (const auto& [name, value] : clip->info().properties) properties.Row({name, value});
        }
        out.EndDocument();
        return Outcome::Done();
      }};
}

}  // namespace handhold::cli
