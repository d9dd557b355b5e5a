#include "tools/pipeline/fit_contact.h"

#include "fitting/signal/find_site.h"
#include "fitting/signal/find_stream.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step_runner.h"
#include "tools/pipeline/surface.h"

namespace handhold::pipeline {

Result<StepResult> FitContactStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const FoundClip found, FindClip(context, clip));
  HANDHOLD_ASSIGN(const store::ArtefactInfo track,
                  FindResult(context, pose, "pose_track", found, "fit pose", &chosen));
  HANDHOLD_TRY(RequireSameClip(track, found));
  HANDHOLD_ASSIGN(const PlacedSurface placed,
                  FindSurface(context, surface, metres_per_unit, X_WSurface, found, &chosen));
  HANDHOLD_ASSIGN(const artefact::ProvenanceInput hand, RequireInput(track, "skeleton"));
  HANDHOLD_ASSIGN(const auto reader, context.library.OpenClip(found.row.id));
  artefact::Provenance provenance = ProvenanceOf("fit.contact", fitting::kContactFitVersion);
  provenance.inputs = {found.input(), hand, {"pose", track.hash, ""}, placed.prop.input()};
  fitting::ContactFitOptions used = options;
  {
    const auto sensor = fitting::FindForceSensor(*reader, options.force_sensor);
    if (!sensor) return sensor.error().Within("clip '" + found.row.name + "'");
    HANDHOLD_ASSIGN(const FoundSkeleton skeleton, LoadSkeletonArtefact(context.library, hand.hash));
    HANDHOLD_ASSIGN(const model::ContactSite* site,
                    fitting::FindSite(skeleton.skeleton, options.site));
    if (options.force_sensor.empty())
      chosen.push_back("force sensor '" + (*sensor)->name + "' (the clip's only one)");
    if (options.site.empty())
      chosen.push_back("contact site '" + site->name + "' (the hand's only one)");
    used.force_sensor = (*sensor)->name;
    used.site = site->name;
  }
  text::Json parameters = artefact::ToJson(used);
  parameters.Set("X_WSurface", artefact::ToJson(placed.X_WP));
  parameters.Set("thing", placed.thing);
  HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(parameters));
  return RunStep(
      context, std::move(provenance), std::move(chosen), [&]() -> Result<artefact::ContactTrack> {
        HANDHOLD_ASSIGN(const artefact::PoseTrack poses,
                        store::Load<artefact::PoseTrack>(context.library.ArtefactPath(track.hash)));
        HANDHOLD_ASSIGN(const FoundSkeleton skeleton,
                        LoadSkeletonArtefact(context.library, hand.hash));
        HANDHOLD_ASSIGN(fitting::ContactFit fit,
                        fitting::FitContact(*reader, skeleton.skeleton, poses, placed.prop.prop,
                                            placed.X_WP, used));
        artefact::TouchedThing& touched = fit.track.things.front();
        touched.prop_hash = placed.prop.hash;
        for (artefact::Touch& touch : fit.track.touches)
          if (touch.b.name == touched.name) touch.b.name = placed.thing;
        touched.name = placed.thing;
        return std::move(fit.track);
      });
}

}  // namespace handhold::pipeline
