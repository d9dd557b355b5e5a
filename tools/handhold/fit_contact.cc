#include "tools/pipeline/fit_contact.h"

#include "database/store/artefact_file.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {

Verb FitContactVerb() {
  Verb verb{
      .noun = "fit",
      .name = "contact",
      .summary = "find where, when and how hard the hand touched, and the joint torques of it",
      .examples = {"handhold fit contact session --library lab",
                   "handhold fit contact stroke_007 --surface flat_plate --surface-pose \"0.12 0 "
                   "-0.075\""},
      .positionals = {ClipPositional()},
      .options = {LibraryOption(),
                  {.name = "--pose",
                   .value_name = "ARTEFACT",
                   .help = "pose track; default: the clip's newest"},
                  {.name = "--sensor",
                   .value_name = "NAME",
                   .help = "force sensor; default: the clip's first"},
                  {.name = "--inertia",
                   .help = "take inertia and gravity out of the torques (their share is told)",
                   .kind = ValueKind::kFlag}},
      .writes = true,
      .handles_interrupt = true,
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
        pipeline::FitContactStep step;
        step.clip = given.Text("CLIP");
        step.pose = given.Text("--pose");
        step.surface = given.Text("--surface");
        HANDHOLD_ASSIGN(step.X_WSurface, PoseOption(given, "--surface-pose"));
        step.options.force_sensor = given.Text("--sensor");
        step.options.correct_inertia_and_gravity = given.Flag("--inertia");
        HANDHOLD_ASSIGN(const pipeline::StepResult result,
                        step.Run(StepContextOf(context, *library, "finding contacts")));
        Tell(context, result);
        Printer& out = context.printer;
        out.BeginDocument();
        out.PrintRecord("contact", ResultFields(context, result));
        std::string summary = "{}";
        if (!context.dry_run || result.reused) {
          HANDHOLD_ASSIGN(const artefact::ContactTrack track,
                          store::LoadContactTrack(library->ArtefactPath(result.hash)));
          summary = track.summary_json;
          Table table =
              out.BeginTable("touches", {{.name = "touch"},
                                         {.name = "task"},
                                         {.name = "onset_ns", .heading = "onset"},
                                         {.name = "onset_sd_ns", .heading = "sd", .decimals = 5},
                                         {.name = "release_ns", .heading = "release"},
                                         {.name = "peak_N", .decimals = 2},
                                         {.name = "surface"}});
          for (size_t p = 0; p < track.phases.size(); ++p) {
            const artefact::ContactPhase& phase = track.phases[p];
            table.Row({static_cast<int64_t>(p), phase.task, phase.onset, phase.onset_sd,
                       phase.release, phase.peak_force_N, phase.surface});
          }
        }
        out.EndDocument();
        return OutcomeOf(summary);
      }};
  for (Option& option : SurfaceOptions()) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace handhold::cli
