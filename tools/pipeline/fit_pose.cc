#include "tools/pipeline/fit_pose.h"

#include "fitting/skeleton/marker_map.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {

Result<StepResult> FitPoseStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const FoundClip found, FindClip(context, clip));
  HANDHOLD_ASSIGN(const FoundSkeleton hand,
                  FindSkeleton(context, {variant, skeleton, scale}, found, &chosen));
  HANDHOLD_ASSIGN(const auto reader, context.library.OpenClip(found.row.id));
  HANDHOLD_TRY(CheckMarkers(*reader, found, options.marker_stream, hand.skeleton, options.range));
  HANDHOLD_TRY(fitting::CheckLeftOut(options.leave_out, hand.skeleton));
  artefact::Provenance provenance = ProvenanceOf("fit.pose", fitting::kPoseFitVersion);
  provenance.inputs = {found.input(), hand.input()};
  text::Json parameters = artefact::ToJson(options);
  parameters.Set("scale", scale);
  parameters.Set("variant", artefact::ToJson(variant));
  HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(parameters));
  return RunStep(
      context, std::move(provenance), std::move(chosen), [&]() -> Result<artefact::PoseTrack> {
        fitting::PoseFitOptions used = options;
        used.progress = [&](double share) {
          return Report(context, share, "fit.pose").has_value();
        };
        HANDHOLD_ASSIGN(fitting::PoseFit fit, fitting::FitPose(*reader, hand.skeleton, used));
        fit.track.skeleton_hash = hand.hash;
        // Hands of one take are told apart by the side that their dofs begin with.
        const std::string& first = fit.track.dof_names.front();
        if (first.starts_with("L.") || first.starts_with("R.")) fit.track.hand = first.substr(0, 1);
        fit.track.summary = fit.summary;
        return std::move(fit.track);
      });
}

}  // namespace handhold::pipeline
