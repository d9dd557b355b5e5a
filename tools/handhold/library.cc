#include "database/store/library.h"

#include <algorithm>
#include <optional>

#include "database/base/log.h"
#include "database/base/shell.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {

Verb LibraryCreateVerb() {
  return {.noun = "library",
          .name = "create",
          .summary = "make a library: the folder that recordings and results live in",
          .examples = {"handhold library create lab",
                       "handhold library create lab --contact-on 0.3 --contact-off 0.15"},
          .positionals = {{.name = "DIR", .help = "folder to make", .kind = ValueKind::kPath}},
          .options = {{.name = "--contact-on",
                       .value_name = "N",
                       .help = "normal force at which a contact begins",
                       .kind = ValueKind::kNumber,
                       .fallback = "0.5",
                       .range = {.least = 0, .above = true, .unit = " N"}},
                      {.name = "--contact-off",
                       .value_name = "N",
                       .help = "normal force below which it ends",
                       .kind = ValueKind::kNumber,
                       .fallback = "0.25",
                       .range = {.least = 0, .above = true, .unit = " N"}}},
          .writes = true,
          .run = [](Context& context) -> Outcome {
            const store::IndexerOptions indexer{context.arguments.Number("--contact-on"),
                                                context.arguments.Number("--contact-off")};
            if (indexer.contact_off_N > indexer.contact_on_N)
              return Outcome::Usage("--contact-off must not be above --contact-on");
            const std::string path = context.arguments.Text("DIR");
            HANDHOLD_TRY(store::Library::MayCreate(path));
            if (!context.dry_run) HANDHOLD_TRY(store::Library::Create(path, indexer));
            context.printer.PrintRecord(
                {{{.name = "library"}, path}, {{.name = "created"}, !context.dry_run}});
            return Outcome::Done();
          }};
}

Verb LibraryInfoVerb() {
  return {
      .noun = "library",
      .name = "info",
      .summary = "say what a library holds",
      .examples = {"handhold library info --library lab"},
      .options = {LibraryOption()},
      .run = [](Context& context) -> Outcome {
        HANDHOLD_ASSIGN(const auto library,
                        store::Library::Open(context.arguments.Text("--library")));
        HANDHOLD_ASSIGN(const store::LibraryInfo info, library->Info());
        context.printer.PrintRecord(
            {{{.name = "path"}, info.path},
             {{.name = "clips"}, info.clips},
             {{.name = "unfinished_clips", .heading = "never closed"}, info.unfinished},
             {{.name = "uncatalogued_clips", .heading = "not in the catalogue"}, info.uncatalogued},
             {{.name = "uncatalogued_unfinished_clips", .heading = "of them never closed"},
              info.uncatalogued_unfinished},
             {{.name = "being_recorded_clips", .heading = "being recorded"}, info.being_recorded},
             {{.name = "recorded_ns", .heading = "recorded"}, info.recorded},
             {{.name = "artefacts"}, info.artefacts},
             {{.name = "bytes"}, info.bytes},
             {{.name = "ledger_entries", .heading = "ledger entries"}, info.ledger_entries},
             {{.name = "problems"}, info.problems},
             {{.name = "contact_on_N"}, info.indexer.contact_on_N},
             {{.name = "contact_off_N"}, info.indexer.contact_off_N}});
        if (info.uncatalogued > 0) {
          Log(LogLevel::kWarning, "library.uncatalogued",
              {{"not_in_the_catalogue", info.uncatalogued},
               {"never_closed", info.uncatalogued_unfinished},
               {"fix", "`handhold library rebuild --finish --library " + ShellWord(info.path) +
                           "` takes them in"}});
        }
        return Outcome::Done();
      }};
}

namespace {

/// What of a library was gone through.
struct Counts {
  int64_t clips = 0, artefacts = 0;
  std::optional<int64_t> ledger_entries;  ///< none: the ledger cannot be read
};

/// Under `done` ("checked") the counts and the verdict, then one row per finding; the outcome is a
/// loss when one of them is `serious`.
Outcome PrintIssues(Context& context, const char* done, const Counts& counts, const Issues& issues,
                    Severity serious, const char* loss) {
  const auto wrong = std::count_if(issues.begin(), issues.end(),
                                   [&](const Issue& issue) { return issue.severity >= serious; });
  const bool warned = std::any_of(issues.begin(), issues.end(), [](const Issue& issue) {
    return issue.severity >= Severity::kWarning;
  });
  const char* verdict = wrong > 0 ? "damaged or incomplete"
                        : warned  ? "whole, with warnings"
                                  : "all sound";
  Printer& out = context.printer;
  out.BeginDocument();
  out.PrintRecord(done,
                  {{{.name = "clips"}, counts.clips},
                   {{.name = "artefacts"}, counts.artefacts},
                   {{.name = "ledger_entries", .heading = "ledger entries"}, counts.ledger_entries},
                   {{.name = "wrong", .heading = "findings that are wrong"}, wrong},
                   {{.name = "verdict"}, verdict}});
  if (!issues.empty() || out.format() != Format::kText) {
    Table table =
        out.BeginTable("findings", {{.name = "severity"}, {.name = "where"}, {.name = "what"}});
    for (const Issue& issue : issues)
      table.Row({SeverityName(issue.severity), issue.where, issue.what});
  }
  out.EndDocument();
  return wrong > 0 ? Outcome::Loss(loss) : Outcome::Done();
}

}  // namespace

Verb LibraryCheckVerb() {
  return {.noun = "library",
          .name = "check",
          .summary = "verify every file, every entry of the ledger and every row of the catalogue",
          .examples = {"handhold library check --library lab"},
          .options = {LibraryOption()},
          .handles_interrupt = true,
          .run = [](Context& context) -> Outcome {
            const std::string path = context.arguments.Text("--library");
            HANDHOLD_ASSIGN(const auto library, store::Library::Open(path));
            HANDHOLD_ASSIGN(const Issues issues, library->Check(context.StepProgress("checking")));
            HANDHOLD_ASSIGN(const store::Library::RebuildPlan files,
                            store::Library::PlanRebuild(path));
            HANDHOLD_ASSIGN(const store::LibraryInfo info, library->Info());
            context.progress.End();
            return PrintIssues(
                context, "checked", {files.clips, files.artefacts, info.ledger_entries}, issues,
                Severity::kWarning,
                "the library is not as it was written; the rows above say what and when");
          }};
}

Verb LibraryRebuildVerb() {
  return {
      .noun = "library",
      .name = "rebuild",
      .summary = "make the catalogue anew from the files; clear what killed programs left",
      .examples = {"handhold library rebuild --library lab",
                   "handhold library rebuild --library lab --finish"},
      .options = {LibraryOption(),
                  {.name = "--finish",
                   .help = "close recordings whose recorder died",
                   .kind = ValueKind::kFlag}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "Parts of files and locks that a killed program left are removed: nothing in them was\n"
          "ever called stored. A recording whose recorder died is kept, and closed by --finish. "
          "What the\n"
          "catalogue knew of a clip whose file is gone is forgotten, and said (exit status 3; "
          "--dry-run\n"
          "says it before): put the file back from a copy first.",
      .run = [](Context& context) -> Outcome {
        const std::string path = context.arguments.Text("--library");
        if (context.dry_run) {
          HANDHOLD_ASSIGN(const store::Library::RebuildPlan plan,
                          store::Library::PlanRebuild(path));
          context.printer.PrintRecord({{{.name = "clips"}, plan.clips},
                                       {{.name = "unfinished_clips"}, plan.unfinished},
                                       {{.name = "artefacts"}, plan.artefacts},
                                       {{.name = "leftovers"}, plan.leftovers},
                                       {{.name = "replaces"}, plan.replaces},
                                       {{.name = "forgets"}, std::ssize(plan.forgets)}});
          for (const Issue& issue : plan.forgets) {
            Log(LogLevel::kWarning, "library.forgets",
                {{"where", issue.where}, {"what", issue.what}});
          }
          if (!plan.forgets.empty())
            return Outcome::Loss("clips whose files are gone would be forgotten");
          return Outcome::Done();
        }
        HANDHOLD_ASSIGN(const auto library, store::Library::Open(path));
        HANDHOLD_ASSIGN(const Issues issues, library->Rebuild(context.arguments.Flag("--finish"),
                                                              context.StepProgress("reading")));
        HANDHOLD_ASSIGN(const store::LibraryInfo info, library->Info());
        context.progress.End();
        return PrintIssues(
            context, "rebuilt", {info.clips, info.artefacts, info.ledger_entries}, issues,
            Severity::kLoss,
            "some clips or results could not be catalogued, or are not what they were; the "
            "rows above say why");
      }};
}

}  // namespace handhold::cli
