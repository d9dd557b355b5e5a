#include <chrono>

#include "database/text/file.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/report/load.h"

namespace handhold::cli {
namespace {

Timestamp NowUtc() {
  return Timestamp::FromNanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

int64_t CountVerdicts(const report::ReportData& data, report::Criterion::Verdict verdict) {
  int64_t n = 0;
  for (const report::Criterion& c : data.criteria) n += c.verdict == verdict;
  return n;
}

Outcome WriteReport(Context& context) {
  const Arguments& given = context.arguments;
  const std::string to = given.Text("--to");
  if (const auto refused = PageRefusal(to)) return *refused;  // before the work, not after it
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  const pipeline::StepContext steps{.library = *library};
  HANDHOLD_ASSIGN(const report::LoadedReport loaded,
                  report::LoadReport(steps, given.Text("CLIP"), given.Text("--trajectory"),
                                     given.Text("--truth")));
  for (const std::string& chosen : loaded.chosen) context.progress.Note(chosen);
  report::ReportOptions options;
  options.tool = std::string("handhold ") + HANDHOLD_VERSION;
  options.made_utc = NowUtc();
  options.max_strokes = static_cast<int>(given.Integer("--strokes"));
  options.pictures = !given.Flag("--no-pictures");
  options.progress = context.StepProgress("report");
  HANDHOLD_ASSIGN(const report::ReportData data, report::FillReport(loaded.sources(), options));
  if (!context.dry_run) {
    HANDHOLD_TRY(text::WriteTextFile(to, report::RenderReport(data)));
  }
  using Verdict = report::Criterion::Verdict;
  context.printer.PrintRecord(
      {{{.name = "report"}, to},
       {{.name = "clip"}, data.take.name},
       {{.name = "criteria_met", .heading = "criteria met"}, CountVerdicts(data, Verdict::kMet)},
       {{.name = "criteria_not_met", .heading = "not met"}, CountVerdicts(data, Verdict::kNotMet)},
       {{.name = "criteria_undecided", .heading = "not decided"},
        CountVerdicts(data, Verdict::kUndecided)},
       {{.name = "missing"}, data.missing.size()}});
  return Outcome::Done();
}

}  // namespace

Verb LabReportVerb() {
  return {
      .noun = "lab",
      .name = "report",
      .summary = "the one-finger study as a page: fits, replays, criteria, and the truth",
      .examples =
          {"handhold lab report session --library lab --to study.html",
           "handhold lab report session --library lab --truth subject1/truth --to study.html"},
      .positionals = {{.name = "CLIP", .help = "id, the beginning of one, or name"}},
      .options = {LibraryOption(),
                  {.name = "--to",
                   .value_name = "FILE",
                   .help = "the page to write",
                   .kind = ValueKind::kPath,
                   .fallback = "study.html"},
                  {.name = "--truth",
                   .value_name = "DIR",
                   .help = "truth of the simulated subject, as 'lab make' wrote it: compares fits "
                           "with it and replays on "
                           "surfaces never recorded",
                   .kind = ValueKind::kPath},
                  {.name = "--trajectory",
                   .value_name = "HASH",
                   .help = "of this interaction trajectory instead of the newest"},
                  {.name = "--strokes",
                   .value_name = "N",
                   .help = "replay only the first N strokes; 0: all",
                   .kind = ValueKind::kInteger,
                   .fallback = "0",
                   .range = {.least = 0, .most = 1e6}},
                  {.name = "--no-pictures",
                   .help = "leave out the drawn pictures",
                   .kind = ValueKind::kFlag}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "Pictures and style are inside the page: it needs no network and no script. What the "
          "library does not\n"
          "hold is named on the page with the command that makes it. Nothing is fitted or saved.",
      .run = WriteReport};
}

}  // namespace handhold::cli
