#include "tools/pipeline/fit_contact.h"

#include <algorithm>
#include <map>

#include "database/store/artefact_file.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

/// For people: a line per task and surface; -v has every touch.
void PrintTouchesByTask(Printer& out, const artefact::ContactTrack& track) {
  struct Group {
    int64_t touches = 0;
    double peak_N = 0.0;
    Timestamp first, last;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const artefact::Touch& touch : track.touches) {
    Group& group = groups[{touch.task, touch.b.name}];
    if (group.touches++ == 0) group.first = touch.onset;
    group.peak_N = std::max(group.peak_N, touch.peak_force_N);
    group.last = touch.release;
  }
  Table table = out.BeginTable("touches", {{.name = "task"},
                                           {.name = "thing"},
                                           {.name = "touches"},
                                           {.name = "peak_N", .decimals = 2},
                                           {.name = "first_ns", .heading = "first"},
                                           {.name = "last_ns", .heading = "last"}});
  for (const auto& [key, group] : groups)
    table.Row({key.first, key.second, group.touches, group.peak_N, group.first, group.last});
}

Result<Issues> Print(Printer& out, const std::string& path) {
  HANDHOLD_ASSIGN(const artefact::ContactTrack track, store::Load<artefact::ContactTrack>(path));
  if (IsBrief(out)) {
    PrintTouchesByTask(out, track);
  } else {
    Table table =
        out.BeginTable("touches", {{.name = "touch"},
                                   {.name = "task"},
                                   {.name = "onset_ns", .heading = "onset"},
                                   {.name = "onset_sd_ns", .heading = "sd", .decimals = 5},
                                   {.name = "release_ns", .heading = "release"},
                                   {.name = "peak_N", .decimals = 2},
                                   {.name = "site"},
                                   {.name = "thing"},
                                   {.name = "sensor"}});
    for (size_t p = 0; p < track.touches.size(); ++p) {
      const artefact::Touch& touch = track.touches[p];
      table.Row({static_cast<int64_t>(p), touch.task, touch.onset, touch.onset_sd, touch.release,
                 touch.peak_force_N, touch.a.site, touch.b.name, touch.sensor});
    }
  }
  out.PrintRecord("check", {{{.name = "point_to_fingertip_p95_m", .decimals = 5},
                             track.summary.point_offset_p95_m}});
  if (track.inertia_share.size() > 0) {
    Table shares = out.BeginTable("inertia_and_gravity",
                                  {{.name = "joint"}, {.name = "share_of_torque", .decimals = 3}});
    for (size_t d = 0; d < track.dof_names.size(); ++d)
      shares.Row({track.dof_names[d], track.inertia_share[static_cast<Eigen::Index>(d)]});
  }
  return track.summary.issues;
}

}  // namespace

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
                   .help = "force sensor; default: the clip's only one"},
                  {.name = "--site",
                   .value_name = "NAME",
                   .help = "part of the hand that touched: R.index.pad; default: its only one"},
                  {.name = "--inertia",
                   .help = "take inertia and gravity out of the torques (their share is told)",
                   .kind = ValueKind::kFlag}},
      .writes = true,
      .handles_interrupt = true,
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        pipeline::FitContactStep step;
        step.clip = given.Text("CLIP");
        step.pose = given.Text("--pose");
        step.surface = given.Text("--surface");
        step.metres_per_unit = MetresPerUnit(given);
        const auto pose = PoseOption(given, "--surface-pose");
        if (!pose) return Outcome::Usage(pose.error().message);
        step.X_WSurface = *pose;
        step.options.force_sensor = given.Text("--sensor");
        step.options.site = given.Text("--site");
        step.options.correct_inertia_and_gravity = given.Flag("--inertia");
        return RunAndPrint(context, {"finding contacts", "contact",
                                     [&](const auto& where) { return step.Run(where); }, Print});
      }};
  for (Option& option : SurfaceOptions()) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace handhold::cli
