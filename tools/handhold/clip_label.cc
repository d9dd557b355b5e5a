// clip label: which grasp a stretch of a clip shows; entries of the ledger, and what the type
// models would say.
#include <algorithm>

#include "database/model/grasp_taxonomy.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/fit_grasp_space.h"
#include "tools/pipeline/hand_poses.h"

namespace handhold::cli {
namespace {

using store::LedgerEntry;
using store::LedgerKind;

LedgerEntry LabelOf(const std::string& clip, const std::string& author, const TimeRange& span,
                    const std::string& name, const std::string& value) {
  LedgerEntry entry;
  entry.kind = LedgerKind::kLabel;
  entry.clip = clip;
  entry.author = author;
  entry.span = span;
  entry.name = name;
  entry.value = value;
  return entry;
}

/// --from .. --to; what was not given is the clip's end.
Result<TimeRange> SpanOf(const Arguments& given, const store::ClipRow& clip) {
  TimeRange span{Timestamp::FromNanoseconds(0), Timestamp::FromNanoseconds(clip.length.ns())};
  if (given.Has("--from")) span.begin = Timestamp::FromNanoseconds(given.Time("--from").ns());
  if (given.Has("--to")) span.end = Timestamp::FromNanoseconds(given.Time("--to").ns());
  if (!(span.begin < span.end))
    return Error{ErrorCode::kInvalid, "nothing lies between --from and --to"};
  if (span.begin < Timestamp() || span.end > Timestamp() + clip.length) {
    return Error{ErrorCode::kInvalid, "clip '" + clip.name + "' is " + FormatSeconds(clip.length) +
                                          " long: --from or --to lies outside"};
  }
  return span;
}

Outcome List(Context& context, const store::Library& library, const store::ClipRow& clip) {
  HANDHOLD_ASSIGN(const auto labels, pipeline::GraspLabels(library, clip.id));
  Table table = context.printer.BeginTable({{.name = "t_ns", .heading = "from"},
                                            {.name = "end_ns", .heading = "to"},
                                            {.name = "taxonomy"},
                                            {.name = "type"},
                                            {.name = "cutkosky"},
                                            {.name = "schlesinger"},
                                            {.name = "confidence", .decimals = 2},
                                            {.name = "author"}});
  for (const pipeline::LabelledSpan& label : labels) {
    const model::GraspTypeRow* row = label.feix.empty() ? nullptr : model::FindFeix(label.feix);
    table.Row({label.span.begin, label.span.end, label.taxonomy, label.type,
               row == nullptr ? Cell(std::nullopt) : Cell(std::string(row->cutkosky)),
               row == nullptr ? Cell(std::nullopt) : Cell(std::string(row->schlesinger)),
               label.confidence ? Cell(*label.confidence) : Cell(std::nullopt), label.author});
  }
  return Outcome::Done();
}

Outcome Suggest(Context& context, store::Library& library, const store::ClipRow& clip,
                const TimeRange& span, const std::string& taxonomy) {
  HANDHOLD_ASSIGN(const pipeline::LabelSuggestion found,
                  pipeline::SuggestLabel(StepContextOf(context, library, "suggesting"), clip.id,
                                         span, taxonomy));
  context.progress.Note("by the type models of grasp space " + pipeline::ShortHash(found.space) +
                        (found.scripted ? " (scripted)" : " (captured)") + ", over " +
                        std::to_string(found.frames) + " poses; nothing was said");
  Table table =
      context.printer.BeginTable({{.name = "type"}, {.name = "probability", .decimals = 3}});
  int rows = 0;
  for (const fitting::TypeGuess& guess : found.guesses) {
    if (++rows > 5 && IsBrief(context.printer)) break;
    table.Row({guess.type, guess.probability});
  }
  return Outcome::Done();
}

/// What has no effect where nothing is said (`how`: what is done instead).
std::optional<Outcome> Refuse(const Arguments& given, const std::string& how,
                              std::initializer_list<const char*> options) {
  for (const char* option : options) {
    if (given.Typed(option)) return Outcome::Usage(how + ": without " + option);
  }
  return std::nullopt;
}

Outcome RunLabel(Context& context) {
  const Arguments& given = context.arguments;
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  HANDHOLD_ASSIGN(const store::ClipRow clip, library->FindClip(given.Text("CLIP")));
  const Result<TimeRange> span = SpanOf(given, clip);
  if (!span) return Outcome::Usage(span.error().message);
  const std::string taxonomy = given.Text("--taxonomy");
  const bool removes = given.Flag("--remove");
  if (given.Flag("--suggest")) {
    if (given.Has("TYPE") || removes)
      return Outcome::Usage("--suggest asks for the type: without TYPE and --remove");
    if (const auto no = Refuse(given, "--suggest says nothing", {"--confidence", "--author"}))
      return *no;
    return Suggest(context, *library, clip, *span, taxonomy);
  }
  if (!given.Has("TYPE")) {
    if (removes) return Outcome::Usage("say which label no longer holds: TYPE");
    if (const auto no = Refuse(given, "without a TYPE all labels are listed",
                               {"--from", "--to", "--taxonomy", "--confidence", "--author"}))
      return *no;
    return List(context, *library, clip);
  }
  const Result<std::string> type = model::CanonicalType(given.Text("TYPE"), taxonomy);
  if (!type) return Outcome::Usage(type.error().message);
  if (removes && given.Has("--confidence"))
    return Outcome::Usage("--remove takes a label back: without --confidence");
  if (!given.Has("--author")) return Outcome::Usage("say who labels: --author NAME");
  const std::string author = given.Text("--author");
  HANDHOLD_ASSIGN(const auto labels, pipeline::GraspLabels(*library, clip.id));
  const auto mine = std::ranges::find_if(labels, [&](const pipeline::LabelledSpan& label) {
    return label.author == author && label.taxonomy == taxonomy &&
           label.span.begin == span->begin && label.span.end == span->end;
  });
  if (removes && (mine == labels.end() || mine->type != *type)) {
    return Error{ErrorCode::kNotFound, "clip '" + clip.name + "' has no label '" + *type + "' of " +
                                           author + " on that span: `handhold clip label " +
                                           given.Text("CLIP") + "` lists what there is"};
  }
  std::vector<LedgerEntry> entries = {LabelOf(clip.id, author, *span, taxonomy, *type)};
  entries.front().removed = removes;
  // A confidence is of the label it was said with: it goes when that goes or changes.
  const bool sure = given.Has("--confidence") && !removes;
  if (sure || (mine != labels.end() && mine->confidence)) {
    entries.push_back(
        LabelOf(clip.id, author, *span, taxonomy + pipeline::kConfidenceSuffix,
                sure ? given.Text("--confidence") : std::to_string(*mine->confidence)));
    entries.back().removed = !sure;
  }
  for (const LedgerEntry& entry : entries) {
    if (const Status sayable = store::CheckEntry(entry); !sayable)
      return Outcome::Usage(sayable.error().message);
  }
  if (!context.dry_run) HANDHOLD_TRY(library->Say(entries));
  context.printer.PrintRecord({{{.name = "id"}, clip.id},
                               {{.name = "taxonomy"}, taxonomy},
                               {{.name = "type"}, *type},
                               {{.name = "state"}, std::string(removes ? "removed" : "said")},
                               {{.name = "from_ns", .heading = "from"}, span->begin},
                               {{.name = "to_ns", .heading = "to"}, span->end}});
  return Outcome::Done();
}

}  // namespace

Verb ClipLabelVerb() {
  return {
      .noun = "clip",
      .name = "label",
      .summary =
          "say which grasp a stretch of a clip shows, list what was said, or have one suggested",
      .examples = {"handhold clip label grasp_007 tripod --from 1.2s --to 2.5s --author ana",
                   "handhold clip label grasp_007 cylindrical --taxonomy schlesinger --author ana",
                   "handhold clip label grasp_007",
                   "handhold clip label grasp_007 --suggest --from 1.2s --to 2.5s"},
      .positionals = {ClipPositional(),
                      {.name = "TYPE", .help = "name of the type; none: lists", .required = false}},
      .options = {LibraryOption(),
                  {.name = "--from",
                   .value_name = "TIME",
                   .help = "clip time; default: its start",
                   .kind = ValueKind::kDuration},
                  {.name = "--to",
                   .value_name = "TIME",
                   .help = "clip time; default: its end",
                   .kind = ValueKind::kDuration},
                  {.name = "--taxonomy",
                   .value_name = "NAME",
                   .help = "whose names: Feix's are put under the other two by our table",
                   .kind = ValueKind::kChoice,
                   .choices = {"feix", "cutkosky", "schlesinger"},
                   .fallback = "feix"},
                  {.name = "--confidence",
                   .value_name = "P",
                   .help = "how sure, 0 to 1; default: not said",
                   .kind = ValueKind::kNumber,
                   .range = {.least = 0, .most = 1}},
                  {.name = "--suggest",
                   .help = "what the newest grasp space's type models say; says nothing itself",
                   .kind = ValueKind::kFlag},
                  {.name = "--remove",
                   .help = "this label of --author no longer holds",
                   .kind = ValueKind::kFlag},
                  {.name = "--author",
                   .value_name = "NAME",
                   .help = "who says so",
                   .environment = "HANDHOLD_AUTHOR"}},
      .writes = true,
      .details =
          "Labels are found by queries: label = \"tripod\". 'fit grasp-space --type' takes the\n"
          "poses of labelled spans. Labels of several people stand side by side.",
      .run = RunLabel};
}

}  // namespace handhold::cli
