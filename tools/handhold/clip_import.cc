#include <cmath>

#include "database/base/log.h"
#include "database/exchange/c3d_contents.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/import.h"

namespace handhold::cli {
namespace {

pipeline::ImportOptions OptionsFrom(const Context& context) {
  const Arguments& given = context.arguments;
  pipeline::ImportOptions options;
  options.format = given.Text("--format-in");
  options.use_ezc3d = given.Text("--reader") == "ezc3d";
  options.cross_check = given.Flag("--cross-check");
  const std::string invalid = given.Text("--invalid");
  options.c3d.invalid = invalid == "trust"    ? exchange::C3dInvalid::kTrust
                        : invalid == "ignore" ? exchange::C3dInvalid::kIgnore
                                              : exchange::C3dInvalid::kAuto;
  if (given.Has("--rate")) options.c3d.rate_Hz = given.Number("--rate");
  if (given.Has("--unit"))
    options.c3d.metres_per_unit = exchange::MetresPerUnit(given.Text("--unit"));
  options.c3d.plate_sign = given.Text("--plate-sign") == "action"
                               ? exchange::C3dPlateSign::kAction
                               : exchange::C3dPlateSign::kReaction;
  options.c3d.plate_zero = given.Text("--plate-zero") == "channels"
                               ? exchange::C3dPlateZero::kChannels
                               : exchange::C3dPlateZero::kFrames;
  options.head = given.Text("--head");
  options.name = given.Text("--name");
  options.subject = given.Text("--subject");
  options.session = given.Text("--session");
  options.task = given.Text("--task");
  options.prop = given.Text("--prop");
  options.jobs = static_cast<int>(given.Integer("--jobs"));
  options.dry_run = context.dry_run;
  return options;
}

Outcome PrintImported(Context& context, const std::vector<pipeline::ImportedFile>& files) {
  Printer& out = context.printer;
  size_t failed = 0, lost = 0;
  out.BeginDocument();
  {
    Table table = out.BeginTable("files", {{.name = "file"},
                                           {.name = "name"},
                                           {.name = "clip"},
                                           {.name = "format"},
                                           {.name = "streams"},
                                           {.name = "samples"},
                                           {.name = "length_ns", .heading = "length"},
                                           {.name = "bytes"},
                                           {.name = "result"}});
    for (const pipeline::ImportedFile& file : files) {
      failed += file.error ? 1 : 0;
      lost += file.lost() ? 1 : 0;
      const char* result = file.error ? "failed" : file.lost() ? "incomplete" : "whole";
      table.Row({file.path, file.name, file.clip, file.format, file.streams, file.samples,
                 file.length, file.bytes, result});
    }
  }
  {
    Table table = out.BeginTable(
        "findings", {{.name = "file"}, {.name = "severity"}, {.name = "where"}, {.name = "what"}});
    for (const pipeline::ImportedFile& file : files) {
      if (file.error) table.Row({file.path, "error", "file", file.error->message});
      for (const Issue& issue : file.issues)
        table.Row({file.path, SeverityName(issue.severity), issue.where, issue.what});
    }
  }
  out.EndDocument();
  for (const pipeline::ImportedFile& file : files) {
    if (!file.earlier.empty())
      Log(LogLevel::kWarning, "import.again", {{"file", file.path}, {"what", file.earlier}});
  }
  if (failed > 0) {
    for (const pipeline::ImportedFile& file : files) {
      if (file.error && files.size() == 1) return Outcome(*file.error);
    }
    return Outcome(
        Error{ErrorCode::kInvalid, std::to_string(failed) + " of " + std::to_string(files.size()) +
                                       " files were not imported; the findings say why"});
  }
  if (lost > 0)
    return Outcome::Loss(std::to_string(lost) + " of " + std::to_string(files.size()) +
                         " files were not kept whole; the findings say what is missing");
  return Outcome::Done();
}

}  // namespace

Verb ClipImportVerb() {
  return {
      .noun = "clip",
      .name = "import",
      .summary = "bring other programs' recordings (C3D, CSV, Qualisys TSV) into a library",
      .examples = {"handhold clip import walk.c3d --library lab --subject S03",
                   "handhold clip import *.c3d --dry-run",
                   "handhold clip import old.c3d --cross-check --format json"},
      .positionals = {{.name = "FILE",
                       .help = "files to read; one clip is made of each",
                       .repeated = true,
                       .kind = ValueKind::kPath}},
      .options =
          {LibraryOption(),
           {.name = "--format-in",
            .value_name = "FORMAT",
            .help = "what the files are; auto looks into them",
            .kind = ValueKind::kChoice,
            .choices = {"auto", "c3d", "csv", "qtm-tsv"},
            .fallback = "auto"},
           {.name = "--reader",
            .value_name = "NAME",
            .help = "who reads C3D",
            .kind = ValueKind::kChoice,
            .choices = {"own", "ezc3d"},
            .fallback = "own"},
           {.name = "--cross-check",
            .help = "read C3D with both and list where they differ",
            .kind = ValueKind::kFlag},
           {.name = "--name",
            .value_name = "NAME",
            .help = "of the clip; without it, the file's name, which the clip then keeps"},
           {.name = "--subject", .value_name = "SUBJECT", .help = "pseudonym of the subject"},
           {.name = "--session", .value_name = "SESSION", .help = "the session's name"},
           {.name = "--task", .value_name = "TASK", .help = "what was done"},
           {.name = "--prop", .value_name = "PROP", .help = "with which object"},
           {.name = "--rate",
            .value_name = "HZ",
            .help = "of C3D files that give no rate, and of tables without times",
            .kind = ValueKind::kNumber,
            .range = {.least = 1e-3, .most = 1e7, .unit = " Hz"}},
           {.name = "--unit",
            .value_name = "UNIT",
            .help = "of C3D files that name no unit of length",
            .kind = ValueKind::kChoice,
            .choices = {"mm", "cm", "m"}},
           {.name = "--invalid",
            .value_name = "WHAT",
            .help = "marks that call C3D points invalid: auto disbelieves a file in which "
                    "every point is marked",
            .kind = ValueKind::kChoice,
            .choices = {"auto", "trust", "ignore"},
            .fallback = "auto"},
           {.name = "--head",
            .value_name = "FILE",
            .help = "what the columns of other programs' CSV are: streams, sensors, events "
                    "(schemas/exchange/csv.md)",
            .kind = ValueKind::kPath},
           {.name = "--plate-sign",
            .value_name = "WHAT",
            .help = "what C3D platforms hold: the reaction on the subject, as the format has "
                    "it, or the subject's action on the plate",
            .kind = ValueKind::kChoice,
            .choices = {"reaction", "action"},
            .fallback = "reaction"},
           {.name = "--plate-zero",
            .value_name = "WHAT",
            .help = "what C3D platforms read when empty: the mean of the frames that "
                    "FORCE_PLATFORM:ZERO names, or the channels' own offsets",
            .kind = ValueKind::kChoice,
            .choices = {"frames", "channels"},
            .fallback = "frames"},
           {.name = "--jobs",
            .value_name = "N",
            .help = "files read at once; 0: one per core, and one more",
            .kind = ValueKind::kInteger,
            .fallback = "0",
            .range = {.least = 0, .most = 1024}}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "Samples are kept exactly. What a file holds and a clip cannot, what was guessed\n"
          "and what was odd is listed and kept with the clip; the exit code is 3 when\n"
          "something was lost, and the clip says keep no. The clip keeps the file's SHA-256\n"
          "(import.sha256), by which a file that is imported again is noticed, and said.",
      .run = [](Context& context) -> Outcome {
        const pipeline::ImportOptions options = OptionsFrom(context);
        if (options.use_ezc3d && options.cross_check)
          return Outcome::Usage("--cross-check compares both readers; leave out --reader ezc3d");
        const std::vector<std::string> paths = context.arguments.All("FILE");
        if (!options.name.empty() && paths.size() > 1)
          return Outcome::Usage("--name names one clip; import its file alone");
        HANDHOLD_TRY(AskAboutName(context, options.subject));
        std::unique_ptr<store::Library> library;
        if (!context.dry_run) {
          HANDHOLD_ASSIGN(library, store::Library::Open(context.arguments.Text("--library")));
        }
        const auto total = static_cast<int64_t>(paths.size());
        context.progress.Begin("importing", total, "file");
        const auto progress = [&](double fraction, std::string_view) {
          context.progress.Update(std::llround(fraction * static_cast<double>(total)));
          return !context.interrupted();
        };
        HANDHOLD_ASSIGN(const std::vector<pipeline::ImportedFile> files,
                        pipeline::ImportFiles(library.get(), paths, options, progress));
        context.progress.End();
        return PrintImported(context, files);
      }};
}

}  // namespace handhold::cli
