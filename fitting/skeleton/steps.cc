#include "fitting/skeleton/steps.h"

#include "database/artefact/describe.h"
#include "database/recording/meant_prop.h"
#include "fitting/signal/find_stream.h"
#include "fitting/skeleton/marker_map.h"

namespace handhold::fitting {
namespace {

/// The stretch that the operator called "range_of_motion"; empty: the clip has none, or one that
/// has lost its length (C3D holds instants only).
std::optional<TimeRange> RangeOfMotion(const recording::ClipSource& clip) {
  for (const recording::Event& e : clip.events()) {
    if (e.kind == "take" && e.text == "range_of_motion" && e.length > Duration())
      return TimeRange{e.clip_time, e.clip_time + e.length};
  }
  return std::nullopt;
}

/// What the fits of hands and poses ask of a clip's markers first: the stream, half of the hand's
/// markers, something in `range`.
Status CheckMarkers(const recording::ClipSource& clip, const std::string& stream,
                    const model::Skeleton& skeleton, const std::optional<TimeRange>& range) {
  HANDHOLD_ASSIGN(const auto streams, FindMarkerStreams(clip, stream));
  HANDHOLD_TRY(CheckWorn(streams, skeleton));
  return CheckRange(clip, streams, range);
}

Status Within(const Status& status, const step::Found& clip) {
  if (status) return {};
  return status.error().Within("clip '" + clip.name + "'");
}

/// Where the surface is touched.
const step::Given<recording::ClipSource>& TouchedClip(const FitSkeletonStep& s) {
  return s.contact_clip ? s.contact_clip : s.clip;
}

}  // namespace

Status Complete(FitSkeletonStep& s, step::Work& work) {
  if (!s.options.range) {
    HANDHOLD_TRY(s.clip.Load());
    s.options.range = RangeOfMotion(*s.clip);
    if (s.options.range) work.Note("range of motion from the take of that name in the clip");
  }
  if (!s.surface || s.X_WSurface) return {};
  const auto& touched = TouchedClip(s);
  HANDHOLD_TRY(touched.Load());
  HANDHOLD_ASSIGN(const recording::StandingProp stands,
                  recording::WhereItStood(touched->info(), s.surface.ask.key, s.surface.name, {}));
  s.X_WSurface = stands.X_WP;
  if (!stands.chosen.empty()) work.Note(stands.chosen);
  return {};
}

Status Check(const FitSkeletonStep& s) {
  for (const Status& loaded : {s.clip.Load(), s.template_hand.Load(), s.contact_clip.Load()})
    HANDHOLD_TRY(loaded);
  HANDHOLD_TRY(Within(
      CheckMarkers(*s.clip, s.options.marker_stream, s.template_hand->skeleton, s.options.range),
      s.clip));
  const auto& touched = TouchedClip(s);
  if (s.contact_clip) {
    HANDHOLD_ASSIGN(const auto worn, FindMarkerStreams(*s.clip, s.options.marker_stream));
    const auto there = FindMarkerStreams(*touched, worn.front()->name);
    if (!there) return there.error().Within("contact clip '" + touched.name + "'");
  }
  if (!s.surface) return {};
  if (const auto felt = FindForceSensor(*touched, s.force_sensor); !felt) {
    return Error{felt.error().code, felt.error().message +
                                        "; name the contact clip that has it, or fit the markers "
                                        "alone: surface none"}
        .Within("clip '" + touched.name + "'");
  }
  return {};
}

Result<step::Hand> Compute(const FitSkeletonStep& s, step::Work& work) {
  HANDHOLD_TRY(Check(s));
  SkeletonFitOptions options = s.options;
  if (s.surface)
    options.surface =
        TouchedSurface{s.surface.get(), *s.X_WSurface, s.force_sensor, s.contact_clip.get()};
  options.keep_going = [&] { return work.GoOn(0.5, s.kStep.name); };
  HANDHOLD_ASSIGN(SkeletonFit fit, FitSkeleton(*s.clip, s.template_hand->skeleton, options));
  text::Json summary = artefact::Writable(artefact::ToJson(fit.summary));
  summary.Set("brief", fit.summary.Brief());
  return step::Hand{std::move(fit.skeleton), std::move(summary)};
}

Status Check(const FitPoseStep& s) {
  HANDHOLD_TRY(s.clip.Load());
  HANDHOLD_TRY(s.skeleton.Load());
  HANDHOLD_TRY(
      Within(CheckMarkers(*s.clip, s.options.marker_stream, s.skeleton->skeleton, s.options.range),
             s.clip));
  return CheckLeftOut(s.options.leave_out, s.skeleton->skeleton);
}

Result<artefact::PoseTrack> Compute(const FitPoseStep& s, step::Work& work) {
  HANDHOLD_TRY(Check(s));
  PoseFitOptions options = s.options;
  options.progress = [&](double share) { return work.GoOn(share, s.kStep.name); };
  HANDHOLD_ASSIGN(PoseFit fit, FitPose(*s.clip, s.skeleton->skeleton, options));
  fit.track.skeleton_hash = s.skeleton.hash;
  // Hands of one take are told apart by the side that their dofs begin with.
  const std::string& first = fit.track.dof_names.front();
  if (first.starts_with("L.") || first.starts_with("R.")) fit.track.hand = first.substr(0, 1);
  fit.track.summary = fit.summary;
  return std::move(fit.track);
}

}  // namespace handhold::fitting
