#include <algorithm>
#include <cstdio>

#include "database/base/shell.h"
#include "database/text/json.h"
#include "tools/handhold/live_view.h"
#include "tools/handhold/verbs.h"
#include "tools/live/feeds.h"
#include "tools/live/screen.h"

namespace handhold::cli {
namespace {

using text::Json;

live::TakeNotes NotesOf(const Arguments& given) {
  live::TakeNotes notes;
  notes.subject = given.Text("--subject");
  notes.session = given.Text("--session");
  notes.task = given.Text("--task");
  notes.prop = given.Text("--prop");
  notes.note = given.Text("--note");
  notes.tags = given.All("--tag");
  notes.rating = given.Text("--rating");
  notes.author = given.Text("--author");
  if (given.Has("--pre-roll")) {
    notes.pre_roll = Duration::FromSeconds(given.Number("--pre-roll"));
  } else if (!given.Flag("--arm")) {
    // Nothing flows before a take that begins at once, whatever the rig keeps of what did.
    notes.pre_roll = Duration();
  }
  if (given.Has("--seconds")) notes.stop_after = Duration::FromSeconds(given.Number("--seconds"));
  return notes;
}

Json StoredJson(const live::StoredTake& stored, bool rehearsal) {
  Json gaps = Json::Array();
  for (const recording::Gap& g : stored.take.gaps) {
    gaps.Push(Json::Object({{"stream", g.stream_id},
                            {"begin_ns", std::to_string(g.clip_begin.ns())},
                            {"end_ns", std::to_string(g.clip_end.ns())},
                            {"samples", g.count},
                            {"cause", GapCauseName(g.cause)}}));
  }
  Json json = Json::Object({{"type", "stored"},
                            {"id", stored.take.info.id.ToString()},
                            {"name", stored.take.info.name},
                            {"path", stored.take.path},
                            {"length_ns", std::to_string(stored.take.length.ns())},
                            {"keep", stored.take.quality.keep},
                            {"advice", stored.take.quality.advice},
                            {"catalogued", stored.not_catalogued.empty()},
                            {"noted", stored.not_noted.empty()},
                            {"not_noted", stored.not_noted},
                            {"gaps", std::move(gaps)}});
  if (rehearsal) {
    json.Set("injected_gaps_reported_exactly", stored.gap_differences.empty());
    json.Set("injected_gaps", stored.injected_gaps);
  }
  if (stored.clocks) {
    json.Set("alignment_p99_s", stored.clocks->between_p99_s);
    json.Set("alignment_net_p99_s", stored.clocks->between_net_p99_s);
  }
  return json;
}

/// The page and what to do next; or one record for programs.
void Report(Context& context, LiveView& view, const live::Session& session,
            const live::StoredTake& stored, const live::Rehearsal* rehearsal) {
  const recording::ClipInfo& info = stored.take.info;
  Printer& out = context.printer;
  if (view.ndjson()) return view.Tell(StoredJson(stored, rehearsal != nullptr));
  if (out.format() != Format::kText) {
    out.PrintRecord({{{.name = "name"}, info.name},
                     {{.name = "id"}, info.id.ToString()},
                     {{.name = "path"}, stored.take.path},
                     {{.name = "length_ns"}, stored.take.length},
                     {{.name = "keep"}, stored.take.quality.keep},
                     {{.name = "advice"}, stored.take.quality.advice},
                     {{.name = "gaps"}, stored.take.gaps.size()},
                     {{.name = "catalogued"}, stored.not_catalogued.empty()}});
    return;
  }
  out.Prose(stored.take.page);
  if (rehearsal != nullptr && stored.gap_differences.empty()) {
    out.Prose("\nRehearsal: the gaps reported are the gaps injected, sample for sample (" +
              std::to_string(stored.injected_gaps) + " of " +
              std::to_string(rehearsal->gaps().size()) + " injected fell into the take).\n");
  }
  for (const std::string& difference : stored.gap_differences)
    out.Prose("Rehearsal: " + difference + "\n");
  if (stored.clocks) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "Rehearsal: by the simulators' own clocks, the two devices lie within %.0f us of "
                  "each other (99 %%).\n",
                  1e6 * stored.clocks->between_p99_s);
    out.Prose(text);
    for (const auto& device : stored.clocks->devices) {
      std::snprintf(text, sizeof text, "  %s: %+.0f us on average, 99 %% within %.0f us\n",
                    device.source.c_str(), 1e6 * device.mean_s, 1e6 * device.p99_s);
      out.Prose(text);
    }
  }
  const std::string library = " --library " + ShellWord(session.library_path());
  if (!stored.not_catalogued.empty() || !stored.take.closed) {
    const std::string finish = stored.take.closed ? "" : " --finish";
    out.Prose("\nNext:\n  handhold library rebuild" + finish + library + "\n");
    return;
  }
  const std::string tag = stored.take.quality.keep ? "good" : "again";
  out.Prose("\nNext:\n  handhold clip show " + ShellWord(info.name) + library +
            "\n  handhold query 'peak(normal_force) > 1 N within 0.2 s of contact_on'" + library +
            "\n");
  const std::vector<std::string> given = context.arguments.All("--tag");
  if (std::ranges::find(given, tag) == given.end()) {
    out.Prose("  handhold clip tag " + ShellWord(info.name) + " " + tag + " --author you" +
              library + "\n");
  }
}

std::string LossOf(const live::StoredTake& stored) {
  const std::string& name = stored.take.info.name;
  if (!stored.take.readable) return name + ": " + stored.take.quality.advice;
  if (!stored.not_catalogued.empty()) {
    return name + " is stored at " + stored.take.path +
           " but not in the catalogue: " + stored.not_catalogued +
           "\nhandhold library rebuild will put it there";
  }
  if (!stored.take.closed)
    return name +
           ": what reached the disk is kept, but not yet compacted; "
           "`handhold library rebuild --finish` will do that";
  if (!stored.not_noted.empty() && stored.take.gaps.empty() && stored.take.quality.keep)
    return name + " is stored; not in the ledger: " + stored.not_noted;
  if (stored.take.gaps.empty()) return name + " is stored. " + stored.take.quality.advice;
  int64_t lost = 0;
  for (const recording::Gap& gap : stored.take.gaps) lost += gap.count;
  return name + " is stored; " + std::to_string(lost) + " samples are missing in " +
         (stored.take.gaps.size() == 1
              ? "1 gap, written down in the clip"
              : std::to_string(stored.take.gaps.size()) + " gaps, each written down in the clip");
}

Outcome Record(Context& context, LiveView& view, live::Session& session, bool armed_by_key,
               const live::Rehearsal* rehearsal) {
  const live::Operator op = view.MakeOperator();
  HANDHOLD_ASSIGN(const auto lines, session.Check([&context] { return context.interrupted(); }));
  for (const capture::CheckLine& line : lines) view.Tell(live::CheckJson(line));
  if (context.interrupted()) {
    view.Close();
    return Error{ErrorCode::kCancelled, "ended while devices were asked; nothing was recorded"};
  }
  if (live::Session::Missing(lines)) {
    view.Close();
    if (!view.ndjson()) PrintCheck(context, lines);
    return MissingError(session.rig(), lines);
  }
  HANDHOLD_TRY(session.Arm(op));
  if (rehearsal == nullptr && !armed_by_key && session.rig().pre_roll > Duration() &&
      !context.arguments.Has("--pre-roll"))
    view.Say("the rig's pre_roll_s keeps nothing without --arm: the take begins now");
  Outcome outcome = Outcome::Done();
  bool first = true;
  while (!armed_by_key || session.AwaitRecord(op)) {
    auto stored = session.RecordTake(op);
    if (!stored) {
      if (stored.error().code == ErrorCode::kCancelled) {
        // The operator's wish, before a sample was kept: no failure. Back to armed, or the end.
        view.Say("nothing was recorded: ended before the streams flowed");
        if (armed_by_key && !session.left() && !context.interrupted()) continue;
        if (first && context.interrupted()) {
          view.Close();
          return stored.error();
        }
        if (first) outcome = Outcome::Loss("nothing was recorded");
        break;
      }
      // Devices return and disks are emptied while a session stays armed; a rehearsal's session
      // that has begun does not come again.
      const bool too_late = rehearsal != nullptr && stored.error().code == ErrorCode::kTimeout;
      if (armed_by_key && !too_late && !context.interrupted()) {
        view.Say("refused: " + stored.error().message);
        if (first) outcome = stored.error();
        continue;
      }
      view.Close();
      return stored.error();
    }
    if (first) outcome = Outcome::Done();
    first = false;
    const bool last = !armed_by_key || stored->leave || context.interrupted();
    // The next look would erase as many lines of the page as the screen had.
    view.Clear();
    if (last) view.Close();
    Report(context, view, session, *stored, rehearsal);
    const bool keep = stored->take.quality.keep;
    view.ShowLast(stored->take.info.name + (keep ? " KEEP" : " DO NOT RELY ON"), keep);
    if (!context.printer.Finish()) {
      view.Say(stored->take.info.name + " is stored at " + stored->take.path +
               ", though its report could not be written");
    }
    if (!stored->not_noted.empty()) view.Say("not in the ledger: " + stored->not_noted);
    if (stored->lost()) outcome = Outcome::Loss(LossOf(*stored));
    if (last) break;
  }
  view.Close();
  return outcome;
}

Outcome RunRecord(Context& context) {
  const Arguments& given = context.arguments;
  HANDHOLD_ASSIGN(const capture::Rig rig, capture::FindRig(given.Text("--rig")));
  live::SessionOptions options{.notes = NotesOf(given), .library = given.Text("--library")};
  if (const Status notes = live::CheckNotes(options.notes); !notes)
    return Outcome::Usage(notes.error().message);
  if (options.notes.pre_roll.value_or(Duration()) > Duration() && !given.Flag("--arm")) {
    return Outcome::Usage(
        "--pre-roll goes with --arm: without it nothing flows before the take begins");
  }
  if (context.dry_run) {
    context.printer.PrintRecord({{{.name = "rig"}, rig.name},
                                 {{.name = "library"}, options.library},
                                 {{.name = "sources"}, rig.sources.size()}});
    return Outcome::Done();
  }
  HANDHOLD_TRY(AskAboutName(context, options.notes.subject));
  live::Feed feed;
  std::unique_ptr<live::Rehearsal> rehearsal;
  const Duration seconds = options.notes.stop_after.value_or(Duration::Seconds(20));
  if (given.Has("--simulate")) {
    HANDHOLD_ASSIGN(feed, live::OpenFeed(given.Text("--simulate"), seconds));
    live::RehearsalOptions rehearse{.lead = given.Time("--lead")};
    HANDHOLD_ASSIGN(rehearse.faults, live::LoadFaults(given.Text("--faults"), rig, feed.length));
    HANDHOLD_ASSIGN(rehearsal, live::Rehearsal::Start(rig, *feed.feed, std::move(rehearse)));
    options.rehearsal = rehearsal.get();
    options.feed = feed.subject;
    if (given.Has("--write-injected")) {
      HANDHOLD_TRY(text::WriteJsonFile(given.Text("--write-injected"), rehearsal->ToJson()));
    }
  } else if (given.Has("--write-injected") || given.Text("--faults") != "none") {
    return Outcome::Usage(
        "--faults and --write-injected go with --simulate: real devices need no help");
  }
  HANDHOLD_ASSIGN(const auto session, live::Session::Open(rig, std::move(options)));
  const bool arm = given.Flag("--arm");
  LiveView view(context,
                arm ? "r record   space mark   s stop   a acknowledge   q stop and leave"
                    : "space mark   a acknowledge   q stop",
                given.Flag("--control"));
  HANDHOLD_TRY(view.PublishAt(given.Integer("--publish")));
  return Record(context, view, *session, arm, rehearsal.get());
}

Option Text(const char* name, const char* value_name, const char* help) {
  return {.name = name, .value_name = value_name, .help = help};
}
Option Seconds(const char* name, const char* help, double most_s) {
  return {.name = name,
          .value_name = "S",
          .help = help,
          .kind = ValueKind::kNumber,
          .range = {.least = 0, .most = most_s, .unit = " s"}};
}

}  // namespace

Verb LiveRecordVerb() {
  return {
      .noun = "live",
      .name = "record",
      .summary = "record a take from the devices of a rig into a library",
      .examples =
          {"handhold live record --rig demo --library mylib --seconds 20",
           "handhold live record --rig lab.toml --library mylib --subject S03 --task stroke "
           "--arm",
           "handhold live record --simulate subject1/session.feed --faults standard "
           "--library mylib"},
      .options = {RigOption(),
                  LibraryOption(),
                  Text("--subject", "PSEUDONYM", "who; never a name"),
                  Text("--session", "TEXT", "the visit"),
                  Text("--task", "TASK", "takes are called TASK_001, TASK_002, ..."),
                  Text("--prop", "PROP", "what is touched"),
                  Seconds("--seconds", "end the take after this time; 0 or none: q or Ctrl-C does",
                          kLongest_s),
                  Seconds("--pre-roll", "with --arm: begin the take this long before its start",
                          60),
                  Text("--note", "TEXT", "kept in the library's ledger"),
                  {.name = "--tag", .value_name = "TAG", .help = "tag the take", .repeated = true},
                  {.name = "--rating",
                   .value_name = "1-5",
                   .help = "rate the take",
                   .kind = ValueKind::kChoice,
                   .choices = {"1", "2", "3", "4", "5"}},
                  {.name = "--author",
                   .value_name = "NAME",
                   .help = "who says note, tag and rating",
                   .fallback = "operator",
                   .environment = "HANDHOLD_AUTHOR"},
                  {.name = "--arm",
                   .help = "wait for the key r; several takes until q",
                   .kind = ValueKind::kFlag},
                  {.name = "--control",
                   .help = "wishes as lines on stdin: mark TEXT, event KIND TEXT, acknowledge, "
                           "record, stop, quit",
                   .kind = ValueKind::kFlag},
                  PublishOption(),
                  {.name = "--simulate",
                   .value_name = "FEED",
                   .help = "play the devices from this session.feed (whole) or 'pattern'",
                   .kind = ValueKind::kPath},
                  {.name = "--faults",
                   .value_name = "FAULTS",
                   .help = "with --simulate: none, standard, or a script",
                   .kind = ValueKind::kPath,
                   .fallback = "none"},
                  {.name = "--write-injected",
                   .value_name = "FILE",
                   .help = "with --simulate: what went wrong on purpose, as JSON",
                   .kind = ValueKind::kPath},
                  {.name = "--lead",
                   .value_name = "TIME",
                   .help = "with --simulate: before the session begins",
                   .kind = ValueKind::kDuration,
                   .fallback = "5s",
                   .range = {.least = 0, .most = kLongestWait_s, .unit = " s"}}},
      .writes = true,
      .handles_interrupt = true,
      .headline = true,
      .details =
          "Keys: space or Enter a mark, a acknowledge what is red, q or Ctrl-C end the take and "
          "store it.\n"
          "Nothing is overwritten: takes number themselves. A device that goes away and comes back "
          "leaves a gap\n"
          "with its cause and no time shift. Exit code 3: stored, but samples are missing. With "
          "--format ndjson\n"
          "objects of type check, said, health (5 per second, as far as the reader keeps up) and "
          "stored. A terminal\nthat hangs up ends and stores the take, as Ctrl-C does; under nohup "
          "it goes on.",
      .run = RunRecord};
}

}  // namespace handhold::cli
