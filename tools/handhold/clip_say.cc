// Verbs that say something of clips: entries of the ledger, with author and time. No clip changes.
#include <algorithm>

#include "database/store/query.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

using store::LedgerEntry;
using store::LedgerKind;

Option AuthorOption() {
  return {.name = "--author",
          .value_name = "NAME",
          .help = "who says so",
          .environment = "HANDHOLD_AUTHOR",
          .required = true};
}

Positional ClipPositional() {
  return {.name = "CLIP", .help = "name, id, or the beginning of an id"};
}

LedgerEntry EntryOf(LedgerKind kind, const std::string& name, const std::string& value = "") {
  LedgerEntry entry;
  entry.kind = kind;
  entry.name = name;
  entry.value = value;
  return entry;
}

/// Makes `entries` of CLIP, by --author. The error says what of them cannot be said.
Status Complete(const Arguments& given, std::vector<LedgerEntry>* entries) {
  for (LedgerEntry& entry : *entries) {
    entry.clip = given.Text("CLIP");
    entry.author = given.Text("--author");
    HANDHOLD_TRY(store::CheckEntry(entry));
  }
  return {};
}

/// kNotFound for what is to be taken back and was not said. Where the ledger lost something, it may
/// have been said there: nothing is refused.
Status CheckHeld(const store::Library& library, const store::ClipRow& clip,
                 const std::vector<LedgerEntry>& entries) {
  Issues damage;
  HANDHOLD_ASSIGN(const auto held, library.ledger().Current(clip.id, &damage));
  if (!damage.empty()) return {};
  std::string has;
  for (const LedgerEntry& entry : held) {
    if (entry.kind == LedgerKind::kTag) has += (has.empty() ? "" : ", ") + entry.name;
  }
  for (const LedgerEntry& entry : entries) {
    if (!entry.removed || std::ranges::any_of(held, [&](const LedgerEntry& h) {
          return h.kind == entry.kind && h.name == entry.name;
        }))
      continue;
    if (entry.kind == LedgerKind::kWithdrawn)
      return Error{ErrorCode::kNotFound,
                   "the clip '" + clip.name + "' is not withdrawn; nothing was said"};
    return Error{ErrorCode::kNotFound,
                 "the clip '" + clip.name + "' has no tag '" + entry.name + "'" +
                     (has.empty() ? "; it has none" : "; it has: " + has) + "; nothing was said"};
  }
  return {};
}

/// Says `entries` of the clip that CLIP names, all or none; in a dry run nothing is said. Answers
/// the clip's row: as it is now, in a dry run as it was.
Result<store::ClipRow> SayOfClip(Context& context, std::vector<LedgerEntry> entries) {
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(context.arguments.Text("--library")));
  HANDHOLD_ASSIGN(store::ClipRow clip, library->FindClip(context.arguments.Text("CLIP")));
  for (LedgerEntry& entry : entries) entry.clip = clip.id;
  if (std::ranges::any_of(entries, &LedgerEntry::removed))
    HANDHOLD_TRY(CheckHeld(*library, clip, entries));
  if (context.dry_run) return clip;
  HANDHOLD_TRY(library->Say(entries));
  return library->FindClip(clip.id);
}

/// `entries` of every clip that the condition in CLIP finds, in one go.
Outcome SayOfFound(Context& context, const std::vector<LedgerEntry>& entries) {
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(context.arguments.Text("--library")));
  const Result<store::Query> query = store::Query::Parse(context.arguments.Text("CLIP"), *library);
  if (!query && query.error().code == ErrorCode::kInvalid)
    return Outcome::Usage(query.error().message);
  if (!query) return query.error();
  HANDHOLD_ASSIGN(const store::QueryResult found, query->Run({}, context.StepProgress("asking")));
  context.progress.End();
  if (AnyLoss(found.issues)) return Outcome::FromIssues(found.issues);
  std::vector<LedgerEntry> all;
  std::vector<const store::QueryRow*> clips;
  for (const store::QueryRow& row : found.rows) {
    if (!clips.empty() && clips.back()->clip_id == row.clip_id) continue;
    clips.push_back(&row);
    for (LedgerEntry entry : entries) {
      entry.clip = row.clip_id;
      all.push_back(std::move(entry));
    }
  }
  if (!context.dry_run && !all.empty()) HANDHOLD_TRY(library->Say(all));
  {
    Table table = context.printer.BeginTable({{.name = "clip"}, {.name = "id"}});
    for (const store::QueryRow* row : clips) table.Row({row->clip_name, row->clip_id});
  }
  if (clips.empty()) NoteNothingFound(context, found);
  return Outcome::Done();
}

Outcome RunCorrect(Context& context) {
  const Arguments& given = context.arguments;
  std::vector<LedgerEntry> entries;
  for (const char* field : {"subject", "session", "task", "prop"}) {
    const std::string option = std::string("--") + field;
    if (given.Has(option))
      entries.push_back(EntryOf(LedgerKind::kCorrection, field, given.Text(option)));
  }
  if (entries.empty())
    return Outcome::Usage("say what to correct: --subject, --session, --task or --prop");
  if (const Status sayable = Complete(given, &entries); !sayable)
    return Outcome::Usage(sayable.error().message);
  if (given.Has("--subject")) HANDHOLD_TRY(AskAboutName(context, given.Text("--subject")));
  if (given.Has("--prop")) {
    HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
    HANDHOLD_ASSIGN(const store::ClipRow row, library->FindClip(given.Text("CLIP")));
    if (store::PropsOf(row.prop).size() > 1)
      return Outcome::Usage("clip '" + row.name + "' has several props (" + row.prop +
                            "): which of them --prop corrects cannot be said");
  }
  HANDHOLD_ASSIGN(const store::ClipRow clip, SayOfClip(context, entries));
  const auto now = [&](const char* field, const std::string& was) {
    const std::string option = std::string("--") + field;
    return given.Has(option) ? given.Text(option) : was;
  };
  context.printer.PrintRecord({{{.name = "id"}, clip.id},
                               {{.name = "name"}, clip.name},
                               {{.name = "subject"}, now("subject", clip.subject)},
                               {{.name = "session"}, now("session", clip.session)},
                               {{.name = "task"}, now("task", clip.task)},
                               {{.name = "prop"}, now("prop", clip.prop)}});
  return Outcome::Done();
}

Outcome RunRename(Context& context) {
  const Arguments& given = context.arguments;
  const std::string name = given.Text("NEW_NAME");
  std::vector<LedgerEntry> entries = {EntryOf(LedgerKind::kCorrection, "name", name)};
  if (const Status sayable = Complete(given, &entries); !sayable)
    return Outcome::Usage(sayable.error().message);
  {
    HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
    HANDHOLD_ASSIGN(const auto taken,
                    library->ClipsWhere("name=?1", [&](store::Statement& s) { s.Bind(1, name); }));
    HANDHOLD_ASSIGN(const store::ClipRow clip, library->FindClip(given.Text("CLIP")));
    if (!taken.empty() && taken.front().id != clip.id)
      return Error{ErrorCode::kInvalid, "another clip is called '" + name +
                                            "': " + taken.front().id + "; nothing was said"};
  }
  HANDHOLD_TRY(AskAboutName(context, name));
  HANDHOLD_ASSIGN(const store::ClipRow clip, SayOfClip(context, entries));
  context.printer.PrintRecord({{{.name = "id"}, clip.id}, {{.name = "name"}, name}});
  return Outcome::Done();
}

Outcome RunTag(Context& context) {
  const bool remove = context.arguments.Flag("--remove");
  std::vector<LedgerEntry> entries;
  for (const std::string& tag : context.arguments.All("TAG")) {
    entries.push_back(EntryOf(LedgerKind::kTag, tag));
    entries.back().removed = remove;
  }
  if (const Status sayable = Complete(context.arguments, &entries); !sayable)
    return Outcome::Usage(sayable.error().message);
  if (context.arguments.Flag("--where")) {
    if (remove) return Outcome::Usage("--remove takes tags off one clip, not off what is found");
    return SayOfFound(context, entries);
  }
  HANDHOLD_ASSIGN(const store::ClipRow clip, SayOfClip(context, entries));
  std::vector<std::string> tags = clip.tags;
  if (context.dry_run) {
    for (const LedgerEntry& entry : entries) {
      std::erase(tags, entry.name);
      if (!remove) tags.push_back(entry.name);
    }
  }
  context.printer.PrintRecord({{{.name = "id"}, clip.id}, {{.name = "tags"}, tags}});
  return Outcome::Done();
}

}  // namespace

Verb ClipTagVerb() {
  return {.noun = "clip",
          .name = "tag",
          .summary = "tag a clip, or take a tag off; the ledger keeps who and when",
          .examples = {"handhold clip tag stroke_007 good --author ana",
                       "handhold clip tag --where 'task = stroke and unrated' to_rate --author ana",
                       "handhold clip tag stroke_007 good --remove --author ana"},
          .positionals = {ClipPositional(),
                          {.name = "TAG", .help = "one word or several", .repeated = true}},
          .options = {LibraryOption(),
                      AuthorOption(),
                      {.name = "--where",
                       .help = "CLIP is a condition, as 'query' takes it: every clip it finds",
                       .kind = ValueKind::kFlag},
                      {.name = "--remove",
                       .help = "the tags no longer hold",
                       .kind = ValueKind::kFlag}},
          .writes = true,
          .handles_interrupt = true,
          .run = RunTag};
}

Verb ClipRateVerb() {
  return {
      .noun = "clip",
      .name = "rate",
      .summary = "rate a clip from 1 (bad) to 5; the ledger keeps who and when",
      .examples = {"handhold clip rate stroke_007 4 --author ana"},
      .positionals = {ClipPositional(),
                      {.name = "RATING",
                       .help = "1 to 5",
                       .kind = ValueKind::kChoice,
                       .choices = {"1", "2", "3", "4", "5"}}},
      .options = {LibraryOption(), AuthorOption()},
      .writes = true,
      .run = [](Context& context) -> Outcome {
        std::vector<LedgerEntry> entries = {
            EntryOf(LedgerKind::kRating, "", context.arguments.Text("RATING"))};
        if (const Status sayable = Complete(context.arguments, &entries); !sayable)
          return Outcome::Usage(sayable.error().message);
        HANDHOLD_ASSIGN(const store::ClipRow clip, SayOfClip(context, entries));
        context.printer.PrintRecord(
            {{{.name = "id"}, clip.id}, {{.name = "rating"}, context.arguments.Integer("RATING")}});
        return Outcome::Done();
      }};
}

Verb ClipNoteVerb() {
  return {.noun = "clip",
          .name = "note",
          .summary = "note something about a clip; 'clip show' shows it, query 'text ~' finds it",
          .examples = {"handhold clip note stroke_007 'thumb slipped at the end' --author ana"},
          .positionals = {ClipPositional(), {.name = "TEXT", .help = "the note, in quotes"}},
          .options = {LibraryOption(), AuthorOption()},
          .writes = true,
          .run = [](Context& context) -> Outcome {
            std::vector<LedgerEntry> entries = {
                EntryOf(LedgerKind::kNote, "", context.arguments.Text("TEXT"))};
            if (const Status sayable = Complete(context.arguments, &entries); !sayable)
              return Outcome::Usage(sayable.error().message);
            HANDHOLD_ASSIGN(const store::ClipRow clip, SayOfClip(context, entries));
            context.printer.PrintRecord(
                {{{.name = "id"}, clip.id}, {{.name = "note"}, context.arguments.Text("TEXT")}});
            return Outcome::Done();
          }};
}

Verb ClipRenameVerb() {
  return {.noun = "clip",
          .name = "rename",
          .summary = "call a clip otherwise; an entry of the ledger, the clip stays as it is",
          .examples = {"handhold clip rename stroke_007 stroke_left_007 --author ana"},
          .positionals = {ClipPositional(), {.name = "NEW_NAME", .help = "what it is called now"}},
          .options = {LibraryOption(), AuthorOption()},
          .writes = true,
          .run = RunRename};
}

Verb ClipCorrectVerb() {
  return {.noun = "clip",
          .name = "correct",
          .summary = "correct subject, session, task or prop; the clip stays as it is",
          .examples = {"handhold clip correct stroke_007 --subject S03 --author ana",
                       "handhold clip correct stroke_007 --task scratch --prop wedge --author ana"},
          .positionals = {ClipPositional()},
          .options = {LibraryOption(),
                      AuthorOption(),
                      {.name = "--subject",
                       .value_name = "PSEUDONYM",
                       .help = "who it was; never a name"},
                      {.name = "--session", .value_name = "TEXT", .help = "the visit"},
                      {.name = "--task", .value_name = "TASK", .help = "what was done"},
                      {.name = "--prop", .value_name = "PROP", .help = "with which object"}},
          .writes = true,
          .details =
              "An entry of the ledger: lists, queries, 'clip show' and exports answer what was\n"
              "said last; what the recording itself says stays in its file.",
          .run = RunCorrect};
}

Verb ClipWithdrawVerb() {
  return {.noun = "clip",
          .name = "withdraw",
          .summary = "withdraw a take: lists and queries leave it out; its file stays as it is",
          .examples = {"handhold clip withdraw stroke_007 --why 'wrong prop' --author ana",
                       "handhold clip withdraw stroke_007 --undo --author ana",
                       "handhold clip list --withdrawn --library lab"},
          .positionals = {ClipPositional()},
          .options = {LibraryOption(),
                      AuthorOption(),
                      {.name = "--why", .value_name = "TEXT", .help = "kept with it"},
                      {.name = "--undo", .help = "it counts again", .kind = ValueKind::kFlag}},
          .writes = true,
          .run = [](Context& context) -> Outcome {
            const bool undo = context.arguments.Flag("--undo");
            std::vector<LedgerEntry> entries = {
                EntryOf(LedgerKind::kWithdrawn, "", context.arguments.Text("--why"))};
            entries[0].removed = undo;
            if (const Status sayable = Complete(context.arguments, &entries); !sayable)
              return Outcome::Usage(sayable.error().message);
            HANDHOLD_ASSIGN(const store::ClipRow clip, SayOfClip(context, entries));
            context.printer.PrintRecord({{{.name = "id"}, clip.id},
                                         {{.name = "name"}, clip.name},
                                         {{.name = "withdrawn"}, !undo}});
            return Outcome::Done();
          }};
}

}  // namespace handhold::cli
