#include "database/text/file.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/report/page.h"
#include "tools/report/take_page.h"

namespace handhold::cli {
namespace {

Outcome WriteReport(Context& context) {
  const Arguments& given = context.arguments;
  const std::string to = given.Text("--to");
  if (const auto refused = PageRefusal(to)) return *refused;  // before the work, not after it
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  const pipeline::StepContext steps{.library = *library};
  HANDHOLD_ASSIGN(const report::TakePage take, report::MakeTakePage(steps, given.Text("CLIP")));
  for (const std::string& chosen : take.chosen) context.progress.Note(chosen);
  HANDHOLD_ASSIGN(const std::string page, report::PageWith(take.data));
  if (!context.dry_run) HANDHOLD_TRY(text::WriteTextFile(to, page));
  context.printer.PrintRecord({{{.name = "report"}, to},
                               {{.name = "clip"}, take.name},
                               {{.name = "results"}, take.results},
                               {{.name = "bytes"}, page.size()}});
  return Outcome::Done();
}

}  // namespace

Verb ReportVerb() {
  return {.noun = "report",
          .summary = "one self-contained page of a take: its quality, what was said, fits, motions",
          .examples = {"handhold report session --library lab --to report.html"},
          .positionals = {{.name = "CLIP", .help = "id, the beginning of one, or name"}},
          .options = {LibraryOption(),
                      {.name = "--to",
                       .value_name = "FILE",
                       .help = "the page to write",
                       .kind = ValueKind::kPath,
                       .fallback = "report.html"}},
          .writes = true,
          .headline = true,
          .details =
              "Of any take and task. The page plays the take (as 'handhold show' does) and "
              "needs no network. Nothing is\n"
              "fitted or saved. The study of one finger against its truth: 'handhold lab "
              "report'.",
          .run = WriteReport};
}

}  // namespace handhold::cli
