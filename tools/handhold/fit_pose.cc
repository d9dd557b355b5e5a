#include "tools/pipeline/fit_pose.h"

#include <cmath>

#include "database/base/units.h"
#include "database/store/artefact_file.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

Result<Issues> Print(Printer& out, const std::string& path) {
  HANDHOLD_ASSIGN(const artefact::PoseTrack track, store::Load<artefact::PoseTrack>(path));
  double sum = 0, count = 0;
  for (const double r : track.marker_residual_m.reshaped()) {
    if (std::isfinite(r)) sum += r * r, count += 1;
  }
  out.PrintRecord(
      "frames",
      {{{.name = "fitted"}, track.frame_count()},
       {{.name = "marker_rms_m", .decimals = 6}, count > 0 ? std::sqrt(sum / count) : 0.0},
       {{.name = "coordinates_not_determined"},
        static_cast<int64_t>((track.information_diagonal.array() == 0).count())}});
  Table table = out.BeginTable("angles", {{.name = "dof"},
                                          {.name = "least_deg", .decimals = 1},
                                          {.name = "greatest_deg", .decimals = 1}});
  // Where every joint is a hinge q is an angle per dof; else the ranges are left out.
  for (size_t d = 0; d < track.dof_names.size(); ++d) {
    if (track.q.rows() != static_cast<Eigen::Index>(track.dof_names.size())) break;
    const auto row = track.q.row(static_cast<Eigen::Index>(d));
    table.Row(
        {track.dof_names[d], RadiansToDegrees(row.minCoeff()), RadiansToDegrees(row.maxCoeff())});
  }
  return track.summary.issues;
}

}  // namespace

Verb FitPoseVerb() {
  Verb verb{
      .noun = "fit",
      .name = "pose",
      .summary = "fit joint angles to the markers of a clip, frame by frame",
      .examples = {"handhold fit pose session --library lab",
                   "handhold fit pose stroke_007 --skeleton 1f0c2a9b --fast",
                   "handhold fit pose stroke_007 --skeleton finger4 --format json"},
      .positionals = {ClipPositional()},
      .options = {LibraryOption(),
                  {.name = "--skeleton",
                   .value_name = "HAND",
                   .help = "artefact, hand of ours or .json file; default: the newest fitted to "
                           "this clip, else for its subject"},
                  {.name = "--fast",
                   .help = "Gauss-Newton instead of ceres::Solve (the same to 1e-6 rad)",
                   .kind = ValueKind::kFlag}},
      .writes = true,
      .handles_interrupt = true,
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        pipeline::FitPoseStep step;
        step.clip = given.Text("CLIP");
        step.skeleton = given.Text("--skeleton");
        if (given.Flag("--fast")) step.options.method = fitting::PoseMethod::kFast;
        const auto range = RangeOf(given);
        if (!range) return Outcome::Usage(range.error().message);
        step.options.range = *range;
        return RunAndPrint(context, {"fitting poses", "pose",
                                     [&](const auto& where) { return step.Run(where); }, Print});
      }};
  for (Option& option : RangeOptions()) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace handhold::cli
