#include <algorithm>
#include <map>

#include "database/artefact/contact_track.h"
#include "tools/handhold/step_verb.h"
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

Result<Issues> Print(Printer& out, const artefact::ContactTrack& track) {
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
  return StepVerb(
      "fit.contact",
      {.examples = {"handhold fit contact session --library lab",
                    "handhold fit contact stroke_007 --surface flat_plate --surface-pose \"0.12 0 "
                    "-0.075\""},
       .doing = "finding contacts",
       .record = "contact",
       .print = PrintLoaded(Print)});
}

}  // namespace handhold::cli
