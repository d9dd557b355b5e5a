#include <algorithm>
#include <cstdlib>

#include "database/base/log.h"
#include "database/store/library.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

Option AuthorOption() {
  return {.name = "--author",
          .value_name = "NAME",
          .help = "who says so",
          .environment = "HANDHOLD_AUTHOR",
          .required = true};
}

/// Makes `entries` of CLIP, by --author. The error says what of them cannot be said.
Status Complete(const Arguments& given, std::vector<store::LedgerEntry>* entries) {
  for (store::LedgerEntry& entry : *entries) {
    entry.clip = given.Text("CLIP");
    entry.author = given.Text("--author");
    HANDHOLD_TRY(store::CheckEntry(entry));
  }
  return {};
}

/// kNotFound for a tag to be taken off that the clip does not have. Where the ledger lost
/// something, it may have been said there: nothing is refused.
Status CheckTagsHeld(const store::Library& library, const store::ClipRow& clip,
                     const std::vector<store::LedgerEntry>& entries) {
  Issues damage;
  HANDHOLD_ASSIGN(const auto held, library.ledger().Current(clip.id, &damage));
  if (!damage.empty()) return {};
  std::vector<std::string> tags;
  std::string has;
  for (const store::LedgerEntry& entry : held) {
    if (entry.kind != store::LedgerKind::kTag) continue;
    tags.push_back(entry.name);
    has += (has.empty() ? "" : ", ") + entry.name;
  }
  for (const store::LedgerEntry& entry : entries) {
    if (!entry.removed || std::ranges::count(tags, entry.name) > 0) continue;
    return Error{ErrorCode::kNotFound,
                 "the clip '" + clip.name + "' has no tag '" + entry.name + "'" +
                     (has.empty() ? "; it has none" : "; it has: " + has) + "; nothing was said"};
  }
  return {};
}

/// Says `entries` of the clip that CLIP names, all or none; in a dry run nothing is said. Answers
/// the clip's row: as it is now, in a dry run as it was.
Result<store::ClipRow> SayOfClip(Context& context, std::vector<store::LedgerEntry> entries) {
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(context.arguments.Text("--library")));
  HANDHOLD_ASSIGN(store::ClipRow clip, library->FindClip(context.arguments.Text("CLIP")));
  for (store::LedgerEntry& entry : entries) entry.clip = clip.id;
  if (std::ranges::any_of(entries, &store::LedgerEntry::removed))
    HANDHOLD_TRY(CheckTagsHeld(*library, clip, entries));
  if (context.dry_run) return clip;
  HANDHOLD_TRY(library->Say(entries));
  return library->FindClip(clip.id);
}

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
            store::ClipFilter filter{given.Text("--subject"),  given.Text("--task"),
                                     given.Text("--prop"),     given.Text("--tag"),
                                     given.Integer("--limit"), given.Integer("--offset")};
            HANDHOLD_TRY(WarnOfProblems(*library));
            HANDHOLD_ASSIGN(const std::vector<store::ClipRow> clips, library->Clips(filter));
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
                                                      {.name = "tags"}});
            for (const store::ClipRow& c : clips) {
              table.Row({c.name, c.id, c.subject, c.task, c.prop, Utc{c.utc_start}, c.length,
                         c.lost_samples, c.red_count, c.keep, c.rating, c.tags});
              if (context.printer.reader_gone()) break;
            }
            return Outcome::Done();
          }};
}

Verb ClipShowVerb() {
  return {
      .noun = "clip",
      .name = "show",
      .summary =
          "show what a clip holds: streams, sensors, gaps, events, quality, where it is from",
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
        Printer& out = context.printer;
        out.BeginDocument();
        out.PrintRecord("clip", {{{.name = "name"}, row.name},
                                 {{.name = "id"}, row.id},
                                 {{.name = "subject"}, row.subject},
                                 {{.name = "session"}, row.session},
                                 {{.name = "task"}, row.task},
                                 {{.name = "prop"}, row.prop},
                                 {{.name = "utc_start_ns", .heading = "start"}, Utc{row.utc_start}},
                                 {{.name = "length_ns", .heading = "length"}, row.length},
                                 {{.name = "bytes"}, row.bytes},
                                 {{.name = "closed"}, row.closed},
                                 {{.name = "keep"}, row.keep},
                                 {{.name = "advice"}, clip->quality().advice},
                                 {{.name = "rating"}, row.rating},
                                 {{.name = "tags"}, row.tags},
                                 {{.name = "sha256"}, row.sha256}});
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
          Table sensors = out.BeginTable(
              "force_sensors",
              {{.name = "name"}, {.name = "stream"}, {.name = "serial"}, {.name = "full_scale_N"}});
          for (const recording::ForceSensor& s : clip->force_sensors())
            sensors.Row({s.name, s.stream_id, s.serial, s.full_scale_N});
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

Verb ClipTagVerb() {
  return {.noun = "clip",
          .name = "tag",
          .summary = "tag a clip, or take a tag off; the ledger keeps who and when",
          .examples = {"handhold clip tag stroke_007 good --author ana",
                       "handhold clip tag stroke_007 good --remove --author ana"},
          .positionals = {{.name = "CLIP", .help = "name, id, or the beginning of an id"},
                          {.name = "TAG", .help = "one word or several", .repeated = true}},
          .options = {LibraryOption(),
                      AuthorOption(),
                      {.name = "--remove",
                       .help = "the tags no longer hold",
                       .kind = ValueKind::kFlag}},
          .writes = true,
          .run = [](Context& context) -> Outcome {
            const bool remove = context.arguments.Flag("--remove");
            std::vector<store::LedgerEntry> entries;
            for (const std::string& tag : context.arguments.All("TAG")) {
              store::LedgerEntry& entry = entries.emplace_back();
              entry.kind = store::LedgerKind::kTag;
              entry.name = tag;
              entry.removed = remove;
            }
            if (const Status sayable = Complete(context.arguments, &entries); !sayable)
              return Outcome::Usage(sayable.error().message);
            HANDHOLD_ASSIGN(const store::ClipRow clip, SayOfClip(context, entries));
            std::vector<std::string> tags = clip.tags;
            if (context.dry_run) {
              for (const store::LedgerEntry& entry : entries) {
                std::erase(tags, entry.name);
                if (!remove) tags.push_back(entry.name);
              }
            }
            context.printer.PrintRecord({{{.name = "id"}, clip.id}, {{.name = "tags"}, tags}});
            return Outcome::Done();
          }};
}

Verb ClipRateVerb() {
  return {
      .noun = "clip",
      .name = "rate",
      .summary = "rate a clip from 1 (bad) to 5; the ledger keeps who and when",
      .examples = {"handhold clip rate stroke_007 4 --author ana"},
      .positionals = {{.name = "CLIP", .help = "name, id, or the beginning of an id"},
                      {.name = "RATING",
                       .help = "1 to 5",
                       .kind = ValueKind::kChoice,
                       .choices = {"1", "2", "3", "4", "5"}}},
      .options = {LibraryOption(), AuthorOption()},
      .writes = true,
      .run = [](Context& context) -> Outcome {
        std::vector<store::LedgerEntry> entries(1);
        entries[0].kind = store::LedgerKind::kRating;
        entries[0].value = context.arguments.Text("RATING");
        if (const Status sayable = Complete(context.arguments, &entries); !sayable)
          return Outcome::Usage(sayable.error().message);
        HANDHOLD_ASSIGN(const store::ClipRow clip, SayOfClip(context, entries));
        context.printer.PrintRecord(
            {{{.name = "id"}, clip.id}, {{.name = "rating"}, context.arguments.Integer("RATING")}});
        return Outcome::Done();
      }};
}

}  // namespace handhold::cli
