#include <cmath>

#include "database/artefact/pose_track.h"
#include "database/base/units.h"
#include "tools/handhold/step_verb.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

/// How far markers lie from the hand; nothing where there are none.
void PrintMarkers(Printer& out, const char* title,
                  const std::vector<artefact::MarkerAgreement>& markers) {
  if (markers.empty()) return;
  Table table = out.BeginTable(title, {{.name = "marker"},
                                       {.name = "frames"},
                                       {.name = "rms_m", .decimals = 5},
                                       {.name = "median_m", .decimals = 5},
                                       {.name = "p95_m", .decimals = 5}});
  for (const artefact::MarkerAgreement& m : WorstMarkers(out, markers))
    table.Row({m.marker, m.frames, m.rms_m, m.median_m, m.p95_m});
}

Result<Issues> Print(Printer& out, const artefact::PoseTrack& track) {
  double sum = 0, count = 0;
  for (const double r : track.marker_residual_m.reshaped()) {
    if (std::isfinite(r)) sum += r * r, count += 1;
  }
  out.PrintRecord(
      "frames",
      {{{.name = "fitted"}, track.frame_count()},
       {{.name = "not_converged"}, track.summary.frames_not_converged},
       {{.name = "at_limit"}, track.summary.frames_at_limit},
       {{.name = "marker_rms_m", .decimals = 6}, count > 0 ? std::sqrt(sum / count) : 0.0},
       {{.name = "coordinates_not_determined"},
        static_cast<int64_t>((track.information_diagonal.array() == 0).count())}});
  {
    Table table = out.BeginTable("angles", {{.name = "dof"},
                                            {.name = "least_deg", .decimals = 1},
                                            {.name = "greatest_deg", .decimals = 1}});
    // Where every joint is a hinge or a universal q is an angle per dof, but for a free base before
    // them; else the ranges are left out.
    const auto dofs = static_cast<Eigen::Index>(track.dof_names.size());
    const bool free_base = dofs >= 6 && track.dof_names[5].ends_with(".lin_z");
    const Eigen::Index base_q = free_base ? 7 : 0, base_v = free_base ? 6 : 0;
    for (Eigen::Index d = base_v; d < dofs; ++d) {
      if (track.q.rows() - base_q != dofs - base_v) break;
      const auto row = track.q.row(d - base_v + base_q);
      table.Row({track.dof_names[static_cast<size_t>(d)], RadiansToDegrees(row.minCoeff()),
                 RadiansToDegrees(row.maxCoeff())});
    }
  }
  PrintMarkers(out, "markers", track.summary.markers);
  PrintMarkers(out, "left_out_markers", track.summary.left_out);
  if (!track.summary.held_by_range.empty()) {
    Table table = out.BeginTable("rests_on_its_range_alone", {{.name = "coordinate"}});
    for (const std::string& coordinate : track.summary.held_by_range) table.Row({coordinate});
  }
  return track.summary.issues;
}

}  // namespace

Verb FitPoseVerb() {
  return StepVerb("fit.pose",
                  {.examples = {"handhold fit pose session --library lab",
                                "handhold fit pose stroke_007 --skeleton 1f0c2a9b --fast",
                                "handhold fit pose stroke_007 --skeleton finger4 --format json"},
                   .doing = "fitting poses",
                   .record = "pose",
                   .print = PrintLoaded(Print)});
}

}  // namespace handhold::cli
