#include "tools/pipeline/fit_skeleton.h"

#include "database/artefact/kind.h"
#include "database/model/skeleton_json.h"
#include "fitting/signal/find_stream.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"
#include "tools/pipeline/surface.h"

namespace handhold::pipeline {
namespace {

using text::Json;

/// The stretch that the operator called "range_of_motion"; empty: the clip has none, or one that
/// has lost its length (C3D holds instants only).
std::optional<TimeRange> RangeOfMotion(const recording::ClipSource& clip) {
  for (const recording::Event& e : clip.events()) {
    if (e.kind == "take" && e.text == "range_of_motion" && e.length > Duration())
      return TimeRange{e.clip_time, e.clip_time + e.length};
  }
  return std::nullopt;
}

}  // namespace

Result<StepResult> FitSkeletonStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const FoundClip found, FindClip(context, clip));
  HANDHOLD_ASSIGN(const auto reader, context.library.OpenClip(found.row.id));
  HANDHOLD_ASSIGN(const FoundSkeleton hand,
                  FindTemplate(context, {variant, template_hand, template_scale}, found, &chosen));
  fitting::SkeletonFitOptions used = options;
  if (!used.range) {
    used.range = RangeOfMotion(*reader);
    if (used.range) chosen.push_back("range of motion from the take of that name in the clip");
  }
  HANDHOLD_TRY(CheckMarkers(*reader, found, used.marker_stream, hand.skeleton, used.range));
  artefact::Provenance provenance = ProvenanceOf("fit.skeleton", fitting::kSkeletonFitVersion);
  provenance.inputs = {found.input(), hand.input("template")};
  Json parameters = artefact::ToJson(used);
  parameters.Set("template_scale", template_scale);
  parameters.Set("template_variant", artefact::ToJson(variant));

  FoundClip touched = found;
  std::unique_ptr<store::ClipReader> touched_reader;
  if (!contact_clip.empty()) {
    HANDHOLD_ASSIGN(touched, FindClip(context, contact_clip));
    HANDHOLD_ASSIGN(touched_reader, context.library.OpenClip(touched.row.id));
    HANDHOLD_ASSIGN(const auto worn, fitting::FindMarkerStreams(*reader, used.marker_stream));
    const auto there = fitting::FindMarkerStreams(*touched_reader, worn.front()->name);
    if (!there) return there.error().Within("clip '" + touched.row.name + "' (--contact-clip)");
    provenance.inputs.push_back({"contact_clip", touched.row.sha256, touched.row.name});
  }
  std::optional<PlacedSurface> placed;
  const bool feels = !(touched_reader ? *touched_reader : *reader).force_sensors().empty();
  if (surface != "none" && (feels || !surface.empty())) {
    const std::string sensor = options.surface ? options.surface->force_sensor : std::string();
    if (const auto felt =
            fitting::FindForceSensor(touched_reader ? *touched_reader : *reader, sensor);
        !felt) {
      return Error{felt.error().code, felt.error().message +
                                          "; --contact-clip names it, --surface none fits the "
                                          "markers alone"}
          .Within("clip '" + touched.row.name + "'");
    }
    HANDHOLD_ASSIGN(placed,
                    FindSurface(context, surface, metres_per_unit, X_WSurface, touched, &chosen));
    provenance.inputs.push_back(placed->prop.input());
    parameters.Set("X_WSurface", artefact::ToJson(placed->X_WP));
    used.surface =
        fitting::TouchedSurface{&placed->prop.prop, placed->X_WP, sensor, touched_reader.get()};
    parameters.Set("force_sensor", used.surface->force_sensor);
  }
  HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(parameters));
  return RunStep(
      context, std::move(provenance), std::move(chosen), [&]() -> Result<store::JsonArtefact> {
        used.keep_going = [&] { return Report(context, 0.5, "fit.skeleton").has_value(); };
        HANDHOLD_ASSIGN(const fitting::SkeletonFit fit,
                        fitting::FitSkeleton(*reader, hand.skeleton, used));
        store::JsonArtefact value;
        value.kind = artefact::kSkeletonKind;
        Json summary = artefact::Writable(artefact::ToJson(fit.summary));
        summary.Set("brief", fit.summary.Brief());
        HANDHOLD_ASSIGN(
            value.json,
            text::WriteJson(Json::Object({{"skeleton", model::SkeletonToJson(fit.skeleton)},
                                          {"summary", std::move(summary)}})));
        return value;
      });
}

}  // namespace handhold::pipeline
