#include "tools/handhold/verbs.h"
#include "tools/pipeline/export.h"

namespace handhold::cli {
namespace {

/// A word as a shell takes it.
std::string Quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%=";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

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
    error.message += "; what can be read of it writes: handhold clip export " + Quoted(key);
    for (const char* option : {"--library", "--to"})
      error.message += " " + std::string(option) + " " + Quoted(given.Text(option));
    for (const std::string& stream : given.All("--streams"))
      error.message += " --streams " + Quoted(stream);
    error.message += given.Flag("--integers") ? " --integers --damaged" : " --damaged";
    return error;
  }
  return error;
}

}  // namespace

Verb ClipExportVerb() {
  return {.noun = "clip",
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
                      {.name = "--integers",
                       .help = "C3D of 16-bit integers, for programs that read nothing else",
                       .kind = ValueKind::kFlag}},
          .writes = true,
          .handles_interrupt = true,
          .details =
              "The exit code is 3 when data of the clip (samples, events, documents, raw clock\n"
              "pairs) are not in the file. The findings list them, and as notes what is said\n"
              "of them that the format has no place for. An existing file is never overwritten.\n"
              "A damaged clip is refused, unless --damaged asks for what can be read of it:\n"
              "samples that cannot are gaps, single channels that cannot are missing there.",
          .run = [](Context& context) -> Outcome {
            const Arguments& given = context.arguments;
            const std::string path = given.Text("--to");
            if (const Status known = pipeline::CheckExportPath(path); !known)
              return Outcome::Usage(known.error().message);
            HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
            const bool damaged = given.Flag("--damaged");
            std::string id;
            {
              Issues damage;  // ExportClip tells it
              store::ClipReaderOptions reading;
              reading.damage = damaged ? &damage : nullptr;
              const auto clip = library->OpenClip(given.Text("CLIP"), reading);
              if (!clip) return WithAdvice(clip.error(), *library, given);
              const Status known = exchange::CheckStreamNames(**clip, given.All("--streams"));
              if (!known) return Outcome::Usage(known.error().message);
              // Damage may have taken it; then the clip was found by its file.
              const ClipId of = (*clip)->info().id;
              id = of.is_nil() ? given.Text("CLIP") : of.ToString();
            }
            const Result<exchange::ExportReport> exported =
                pipeline::ExportClip(*library, given.Text("CLIP"), path,
                                     {.streams = given.All("--streams"),
                                      .as_integers = given.Flag("--integers"),
                                      .damaged = damaged,
                                      .dry_run = context.dry_run,
                                      .proceed = [&] { return !context.interrupted(); }});
            if (!exported) return WithAdvice(exported.error(), *library, given);
            const exchange::ExportReport& report = *exported;
            Printer& out = context.printer;
            out.BeginDocument();
            out.PrintRecord("file", {{{.name = "file"}, path},
                                     {{.name = "clip"}, id},
                                     {{.name = "streams"}, report.streams},
                                     {{.name = "frames"}, report.frames},
                                     {{.name = "bytes"}, report.bytes},
                                     {{.name = "written"}, !context.dry_run}});
            {
              Table table = out.BeginTable(
                  "findings", {{.name = "severity"}, {.name = "where"}, {.name = "what"}});
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
