#include <algorithm>
#include <cmath>
#include <string>

#include "fitting/compliance/steps.h"
#include "tools/handhold/step_verb.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

void PrintTrajectory(Printer& out, const artefact::InteractionTrajectory& trajectory) {
  const bool dynamic = std::ranges::any_of(
      trajectory.fits, [](const auto& fit) { return fit.estimator == "dynamic"; });
  {
    Table table = out.BeginTable(
        "joints", {{.name = "estimator"},
                   {.name = "task"},
                   {.name = "dof"},
                   {.name = "compliance_rad_per_Nm", .heading = "rad/Nm", .decimals = 4},
                   {.name = "sd_log", .heading = "sd of log", .decimals = 3},
                   {.name = "lower_rad_per_Nm", .heading = "95 % from", .decimals = 4},
                   {.name = "upper_rad_per_Nm", .heading = "to", .decimals = 4},
                   {.name = "refusal"}});
    for (const artefact::ComplianceFit& fit : trajectory.fits) {
      if (IsBrief(out) && dynamic && fit.estimator != "dynamic") continue;
      for (const artefact::JointCompliance& joint : fit.joints) {
        const bool answered = joint.compliance_rad_per_Nm.has_value();
        // Of a whole hand most joints do not move what touched; -v says so of each.
        if (IsBrief(out) && fit.estimator == "dynamic" && fit.events_used > 0 && !answered &&
            joint.sd_log == 0.0)
          continue;
        // What a refused joint's imprecise fit leaves open is of use; [0, infinity] is not.
        const bool bounded = std::isfinite(joint.upper_rad_per_Nm);
        table.Row({fit.estimator, fit.task, joint.dof, joint.compliance_rad_per_Nm,
                   answered ? Cell(joint.sd_log) : Cell(std::nullopt),
                   bounded ? Cell(joint.lower_rad_per_Nm) : Cell(std::nullopt),
                   bounded ? Cell(joint.upper_rad_per_Nm) : Cell(std::nullopt), joint.refusal});
      }
    }
  }
  {
    Table table = out.BeginTable("fits", {{.name = "estimator"},
                                          {.name = "task"},
                                          {.name = "events"},
                                          {.name = "discarded"},
                                          {.name = "chi2_per_dof", .decimals = 2},
                                          {.name = "time_constant_s", .decimals = 4},
                                          {.name = "inertia_scale", .decimals = 3},
                                          {.name = "palm_inertia_scale", .decimals = 3},
                                          {.name = "time_shift_s", .decimals = 6}});
    for (const artefact::ComplianceFit& fit : trajectory.fits) {
      if (IsBrief(out) && dynamic && fit.estimator != "dynamic") continue;
      table.Row({fit.estimator, fit.task, fit.events_used,
                 static_cast<int64_t>(fit.discarded.size()),
                 fit.chi2_per_dof > 0 ? Cell(fit.chi2_per_dof) : Cell(std::nullopt),
                 fit.time_constant_s, fit.inertia_scale, fit.palm_inertia_scale, fit.time_shift_s});
    }
  }
  if (IsBrief(out) && dynamic) return;
  Table table = out.BeginTable("discarded", {{.name = "estimator"},
                                             {.name = "task"},
                                             {.name = "touch"},
                                             {.name = "dof"},
                                             {.name = "reason"}});
  for (const artefact::ComplianceFit& fit : trajectory.fits) {
    for (const auto& d : fit.discarded)
      table.Row({fit.estimator, fit.task, d.touch, d.dof, d.reason});
  }
}

Result<Issues> Print(Printer& out, const store::Library& library,
                     const pipeline::StepResult& result) {
  HANDHOLD_ASSIGN(const artefact::InteractionTrajectory trajectory,
                  store::Load<artefact::InteractionTrajectory>(library.ArtefactPath(result.hash)));
  PrintTrajectory(out, trajectory);
  Issues issues = trajectory.summary.issues;
  // What the take lacks was said before the fit.
  if (!result.reused)
    std::erase_if(issues, [](const Issue& issue) { return issue.where == fitting::kOfTheTake; });
  return issues;
}

}  // namespace

Verb FitComplianceVerb() {
  return StepVerb(
      "fit.compliance",
      {.examples = {"handhold fit compliance session --library lab",
                    "handhold fit compliance session --format json"},
       .details =
           "dynamic: fitted to the dynamics of all events of a task together. paper: section 3.3 "
           "of\n"
           "Kry & Pai 2006, shown beside it with -v, which also lists every value that was "
           "discarded. "
           "A joint\n"
           "that the data do not determine is refused, with the reason; 'synth interaction' "
           "assumes "
           "a value\n"
           "by name where one is needed.",
       .doing = "fitting compliance",
       .record = "trajectory",
       .print = Print});
}

}  // namespace handhold::cli
