#include <variant>

#include "database/base/shell.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/export.h"

namespace handhold::cli {
namespace {

/// A damaged clip is not exported as if it were whole; how it is, says the refusal, where it helps.
Error WithAdvice(Error error, const store::Library& library, const Arguments& given) {
  if (given.Flag("--damaged")) return error;
  if (error.code != ErrorCode::kCorrupt && error.code != ErrorCode::kNotFound) return error;
  std::vector<std::string> keys = {given.Text("CLIP")};
  // Its name may be that of a damaged clip, too.
  if (const auto row = library.FindClip(keys.front())) keys.push_back(row->id);
  for (const std::string& key : keys) {
    Issues damage;
    store::ClipReaderOptions rest;
    rest.damage = &damage;
    const auto clip = library.OpenClip(key, rest);
    if (!clip) continue;
    // One that is being recorded, or was when its recorder died, is not damaged.
    if (error.code == ErrorCode::kNotFound && damage.empty() && !(*clip)->closed()) return error;
    error.message += "; what can be read of it writes: handhold clip export " + ShellWord(key);
    for (const char* option : {"--library", "--to"})
      error.message += " " + std::string(option) + " " + ShellWord(given.Text(option));
    for (const std::string& stream : given.All("--streams"))
      error.message += " --streams " + ShellWord(stream);
    error.message += given.Flag("--integers") ? " --integers --damaged" : " --damaged";
    return error;
  }
  return error;
}

/// Whether the command asks for what can be: the format, and streams that the clip has. Answers the
/// clip's id, or how it was named where damage took that. Of a clip that is not read the outcome is
/// the refusal.
std::variant<std::string, Outcome> Look(const store::Library& library, const Arguments& given) {
  Issues damage;  // ExportClip tells it
  store::ClipReaderOptions reading;
  reading.damage = given.Flag("--damaged") ? &damage : nullptr;
  const auto clip = library.OpenClip(given.Text("CLIP"), reading);
  if (!clip) return Outcome(WithAdvice(clip.error(), library, given));
  if (const Status known = exchange::CheckStreamNames(**clip, given.All("--streams")); !known)
    return Outcome::Usage(known.error().message);
  const ClipId id = (*clip)->info().id;
  return id.is_nil() ? given.Text("CLIP") : id.ToString();
}

Outcome Print(Context& context, const std::string& id, const exchange::ExportReport& report) {
  Printer& out = context.printer;
  out.BeginDocument();
  out.PrintRecord("file", {{{.name = "file"}, context.arguments.Text("--to")},
                           {{.name = "clip"}, id},
                           {{.name = "streams"}, report.streams},
                           {{.name = "frames"}, report.frames},
                           {{.name = "bytes"}, report.bytes},
                           {{.name = "written"}, !context.dry_run}});
  {
    Table table =
        out.BeginTable("findings", {{.name = "severity"}, {.name = "where"}, {.name = "what"}});
    for (const Issue& issue : report.issues)
      table.Row({SeverityName(issue.severity), issue.where, issue.what});
  }
  out.EndDocument();
  return AnyLoss(report.issues)
             ? Outcome::Loss("some of the clip is not in the file; the findings say what")
             : Outcome::Done();
}

Outcome RunExport(Context& context) {
  const Arguments& given = context.arguments;
  const std::string path = given.Text("--to");
  if (const Status known = pipeline::CheckExportPath(path, given.Flag("--integers")); !known)
    return Outcome::Usage(known.error().message);
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  const std::variant<std::string, Outcome> found = Look(*library, given);
  if (const Outcome* refused = std::get_if<Outcome>(&found)) return *refused;
  const Result<exchange::ExportReport> exported =
      pipeline::ExportClip(*library, given.Text("CLIP"), path,
                           {.streams = given.All("--streams"),
                            .as_integers = given.Flag("--integers"),
                            .raw = given.Flag("--raw"),
                            .damaged = given.Flag("--damaged"),
                            .dry_run = context.dry_run,
                            .proceed = [&] { return !context.interrupted(); }});
  if (!exported) return WithAdvice(exported.error(), *library, given);
  return Print(context, std::get<std::string>(found), *exported);
}

}  // namespace

Verb ClipExportVerb() {
  return {
      .noun = "clip",
      .name = "export",
      .summary = "write a clip as C3D or CSV, saying what the format cannot hold",
      .examples = {"handhold clip export stroke_007 --to stroke_007.c3d --library lab",
                   "handhold clip export stroke_007 --to force.csv --streams plate/raw",
                   "handhold clip export stroke_007 --to stroke_007.c3d --dry-run",
                   "handhold clip export stroke_007 --to stroke_007.csv --damaged"},
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
                  {.name = "--damaged",
                   .help = "of a damaged clip, what can be read; the findings list the rest",
                   .kind = ValueKind::kFlag},
                  {.name = "--raw",
                   .help = "CSV as recorded, bit for bit: counts and their calibration; else SI",
                   .kind = ValueKind::kFlag},
                  {.name = "--integers",
                   .help = "C3D of 16-bit integers, for programs that read nothing else",
                   .kind = ValueKind::kFlag}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "The exit code is 3 when what was measured (samples, events) is not in the file. The\n"
          "findings list it, as warnings documents and raw clock pairs, and as notes what is\n"
          "said of them that the format has no place for. CSV is in SI, forces as those of the\n"
          "hand on the object, N and N m. An existing file is never overwritten.\n"
          "A damaged clip is refused, unless --damaged asks for what can be read of it:\n"
          "samples that cannot are gaps, single channels that cannot are missing there.",
      .run = RunExport};
}

}  // namespace handhold::cli
