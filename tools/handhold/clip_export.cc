#include "tools/handhold/verbs.h"
#include "tools/pipeline/export.h"

namespace handhold::cli {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Verb ClipExportVerb() {
  return {
      .noun = "clip",
      .name = "export",
      .summary = "write a clip as C3D or CSV, saying what the format cannot hold",
      .examples = {"handhold clip export stroke_007 --to stroke_007.c3d --library lab",
                   "handhold clip export stroke_007 --to force.csv --streams plate/raw",
                   "handhold clip export stroke_007 --to stroke_007.c3d --dry-run"},
      .positionals = {{.name = "CLIP", .help = "name, id, or the beginning of an id"}},
      .options = {LibraryOption(),
                  {.name = "--to",
                   .value_name = "FILE",
                   .help = "file to make; .c3d or .csv says the format",
                   .kind = ValueKind::kPath,
                   .required = true},
                  {.name = "--streams",
                   .value_name = "STREAM",
                   .help = "only this stream; may be given several times",
                   .repeated = true},
                  {.name = "--integers",
                   .help = "C3D of 16-bit integers, for programs that read nothing else",
                   .kind = ValueKind::kFlag}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "The exit code is 3 when data of the clip (samples, events, documents, raw clock\n"
          "pairs) are not in the file. The findings list them, and as notes what is said\n"
          "of them that the format has no place for. An existing file is never overwritten.",
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        const std::string path = given.Text("--to");
        if (const Status known = pipeline::CheckExportPath(path); !known)
          return Outcome::Usage(known.error().message);
        HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
        HANDHOLD_ASSIGN(const auto clip, library->OpenClip(given.Text("CLIP")));
        if (const Status known = exchange::CheckStreamNames(*clip, given.All("--streams")); !known)
          return Outcome::Usage(known.error().message);
        HANDHOLD_ASSIGN(const exchange::ExportReport report,
                        pipeline::ExportClip(*library, given.Text("CLIP"), path,
                                             {.streams = given.All("--streams"),
                                              .as_integers = given.Flag("--integers"),
                                              .dry_run = context.dry_run,
                                              .proceed = [&] { return !context.interrupted(); }}));
        Printer& out = context.printer;
        out.BeginDocument();
        out.PrintRecord("file", {{{.name = "file"}, path},
                                 {{.name = "streams"}, Joined(report.streams)},
                                 {{.name = "frames"}, report.frames},
                                 {{.name = "bytes"}, report.bytes},
                                 {{.name = "written"}, !context.dry_run}});
        {
          Table table = out.BeginTable("findings",
                                       {{.name = "severity"}, {.name = "where"}, {.name = "what"}});
          for (const Issue& issue : report.issues)
            table.Row({SeverityName(issue.severity), issue.where, issue.what});
        }
        out.EndDocument();
        return AnyLoss(report.issues)
                   ? Outcome::Loss("some of the clip is not in the file; the findings say what")
                   : Outcome::Done();
      }};
}

}  // namespace handhold::cli
