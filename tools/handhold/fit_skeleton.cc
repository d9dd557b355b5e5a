#include "database/artefact/describe.h"
#include "database/text/json_view.h"
#include "fitting/skeleton/skeleton_fit.h"
#include "tools/handhold/step_verb.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

Result<Issues> Print(Printer& out, const store::Library& library,
                     const pipeline::StepResult& result) {
  const std::string path = library.ArtefactPath(result.hash);
  HANDHOLD_ASSIGN(const store::JsonArtefact file, store::LoadJsonArtefact(path));
  HANDHOLD_ASSIGN(const text::Json json, text::ParseJson(file.json, {.source = path}));
  HANDHOLD_ASSIGN(const text::JsonView view, text::JsonView(json, path).At("summary"));
  HANDHOLD_ASSIGN(const auto summary, artefact::FromJson<fitting::SkeletonFitSummary>(view));
  {
    Table table = out.BeginTable(
        "agreement", {{.name = "of"}, {.name = "frames"}, {.name = "rms_m", .decimals = 5}});
    table.Row({"markers to the hand", summary.frames, summary.marker_rms_m});
    if (summary.contact_frames > 0) {
      table.Row(
          {"fingertip to the surface", summary.contact_frames, summary.contact_distance_rms_m});
      table.Row({"touched point to the wrench's axis", summary.contact_frames,
                 summary.contact_axis_rms_m});
    }
  }
  {
    Table table = out.BeginTable("lengths", {{.name = "length"},
                                             {.name = "length_m", .decimals = 5},
                                             {.name = "sd_m", .decimals = 5},
                                             {.name = "template_m", .decimals = 5},
                                             {.name = "source"}});
    for (const fitting::SegmentLength& l : summary.lengths) {
      // The template's own length has no sd that anybody knows.
      table.Row({l.name, l.length_m, l.source == "template" ? Cell(std::nullopt) : Cell(l.sd_m),
                 l.template_m, l.source});
    }
  }
  {
    Table table = out.BeginTable("markers", {{.name = "marker"}, {.name = "rms_m", .decimals = 5}});
    std::vector<artefact::MarkerAgreement> markers;
    for (const auto& [marker, rms_m] : summary.marker_rms_by_name_m)
      markers.push_back({.marker = marker, .frames = summary.frames, .rms_m = rms_m});
    for (const artefact::MarkerAgreement& m : WorstMarkers(out, std::move(markers)))
      table.Row({m.marker, m.rms_m});
  }
  if (!summary.held_by_range.empty()) {
    Table table = out.BeginTable("rests_on_its_range_alone", {{.name = "joint"}});
    for (const std::string& joint : summary.held_by_range) table.Row({joint});
  }
  Table table = out.BeginTable("not_determined", {{.name = "direction"}});
  for (const std::string& direction : summary.undetermined) table.Row({direction});
  return summary.issues;
}

}  // namespace

Verb FitSkeletonVerb() {
  return StepVerb(
      "fit.skeleton",
      {.examples = {"handhold fit skeleton session --library lab",
                    "handhold fit skeleton rom_001 --contact-clip stroke_001 --template hand57",
                    "handhold fit skeleton dfki_recording --marker-map dfki --skin 0.002",
                    "handhold fit skeleton rom_004 --template hand29 --side left --marker-set 22",
                    "handhold fit skeleton session --surface none --from 0s --to 20s"},
       .details = "Joint axes, segment lengths and markers' places from the stretch that the "
                  "clip's event\n"
                  "'take: range_of_motion' marks, else from the whole clip; the end segment from "
                  "contact.\n"
                  "What the data do not determine stays near the template's value ('prior') and is "
                  "named.\n"
                  "A surface or a force sensor that does not agree with the markers is refused;\n"
                  "--surface none leaves contact out.",
       .doing = "fitting the skeleton",
       .record = "skeleton",
       .print = Print});
}

}  // namespace handhold::cli
