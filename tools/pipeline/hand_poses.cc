#include "tools/pipeline/hand_poses.h"

#include <algorithm>
#include <map>
#include <set>

#include "database/store/artefact_file.h"
#include "fitting/grasp_space/grasp_space_fit.h"
#include "tools/pipeline/fit_grasp_space.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {
namespace {

struct Shapes {
  std::vector<std::string> dofs;  ///< without the side's prefix
  Eigen::MatrixXd shapes_v;
  std::vector<Timestamp> times;
};

/// Shapes of a track: of a hand of hinges and universals the coordinates behind the root's, else
/// about the zero configuration. Frames in which the markers left a coordinate open are no shapes.
Result<Shapes> ShapesOf(const store::Library& library, const store::ArtefactInfo& info) {
  HANDHOLD_ASSIGN(const auto track,
                  store::Load<artefact::PoseTrack>(library.ArtefactPath(info.hash)));
  HANDHOLD_ASSIGN(const artefact::ProvenanceInput hand, RequireInput(info, "skeleton"));
  HANDHOLD_ASSIGN(const FoundSkeleton found, LoadSkeletonArtefact(library, hand.hash));
  const model::Skeleton& skeleton = found.skeleton;
  Eigen::Index root = 0;
  bool adds = true;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Joint& joint = skeleton.body(b).joint;
    if (skeleton.body(b).parent == 0) {
      root += joint.nv();
    } else {
      adds &= joint.nq() == joint.nv();
    }
  }
  Shapes out;
  const Eigen::Index n = skeleton.nv() - root;
  for (size_t i = static_cast<size_t>(root); i < skeleton.dof_names().size(); ++i) {
    const std::string& name = skeleton.dof_names()[i];
    out.dofs.push_back(name.size() > 2 && name[1] == '.' ? name.substr(2) : name);
  }
  std::vector<Eigen::Index> known;
  for (Eigen::Index i = 0; i < track.q.cols(); ++i) {
    if (!fitting::ShapeIsKnown(track, static_cast<int>(i), n)) continue;
    known.push_back(i);
    out.times.push_back(track.times[static_cast<size_t>(i)]);
  }
  if (adds) {
    out.shapes_v = track.q.bottomRows(n)(Eigen::all, known);
    return out;
  }
  out.shapes_v.resize(n, static_cast<Eigen::Index>(known.size()));
  const Eigen::VectorXd zero = skeleton.ZeroConfiguration();
  for (size_t k = 0; k < known.size(); ++k)
    out.shapes_v.col(static_cast<Eigen::Index>(k)) =
        skeleton.Difference(zero, track.q.col(known[k])).tail(n);
  return out;
}

Result<store::ArtefactInfo> TrackOf(const std::map<std::string, store::ArtefactInfo>& tracks,
                                    const FoundClip& clip) {
  const auto at = tracks.find(clip.row.sha256);
  if (at == tracks.end()) {
    return Error{ErrorCode::kNotFound,
                 "clip '" + clip.row.name + "' has no fitted poses: 'fit pose' makes them"};
  }
  return at->second;
}

}  // namespace

Result<LikeResult> FindLikePoses(const StepContext& context, const std::string& clip, Duration at,
                                 int limit, const std::vector<std::string>& clips) {
  HANDHOLD_ASSIGN(const FoundClip asked, FindClip(context, clip));
  HANDHOLD_ASSIGN(const auto tracks, NewestPoseTracks(context.library));
  HANDHOLD_ASSIGN(const store::ArtefactInfo own, TrackOf(tracks, asked));
  HANDHOLD_ASSIGN(const Shapes mine, ShapesOf(context.library, own));
  const Timestamp when = Timestamp::FromNanoseconds(at.ns());
  const auto off = [&](Timestamp t) { return t < when ? when - t : t - when; };
  const auto frame = std::ranges::min_element(mine.times, {}, off);
  if (frame == mine.times.end() || off(*frame) > Duration::Milliseconds(500)) {
    return Error{
        ErrorCode::kNotFound,
        "clip '" + asked.row.name +
            "' has no pose within 0.5 s of that time in which markers determine every joint"};
  }
  LikeResult result;
  result.time = *frame;
  fitting::PoseIndex index(mine.shapes_v.rows());
  std::vector<std::pair<store::ClipRow, std::string>> takes;
  const std::set<std::string> only(clips.begin(), clips.end());
  HANDHOLD_ASSIGN(const auto rows, context.library.Clips({}));
  fitting::LikeOptions options{.limit = limit};
  for (const store::ClipRow& row : rows) {
    if (!only.empty() && !only.contains(row.id)) continue;
    const auto track = tracks.find(row.sha256);
    if (track == tracks.end()) continue;
    HANDHOLD_ASSIGN(const Shapes shapes, ShapesOf(context.library, track->second));
    if (shapes.dofs != mine.dofs) continue;
    const int take = index.Add(shapes.shapes_v, shapes.times);
    takes.emplace_back(row, track->second.hash);
    if (row.id == asked.row.id) {
      options.own_take = take;
      options.own_time = *frame;
    }
  }
  result.shapes = index.size();
  for (const fitting::LikePose& pose :
       index.Nearest(mine.shapes_v.col(frame - mine.times.begin()), options)) {
    const auto& [row, hash] = takes[static_cast<size_t>(pose.take)];
    LikeRow like{row.name, row.id, hash, pose.time, pose.rms_rad, ""};
    HANDHOLD_ASSIGN(const auto labels, GraspLabels(context.library, row.id));
    for (const LabelledSpan& label : labels) {
      if (pose.time >= label.span.begin && pose.time <= label.span.end) like.label = label.type;
    }
    result.rows.push_back(std::move(like));
  }
  return result;
}

Result<LabelSuggestion> SuggestLabel(const StepContext& context, const std::string& clip,
                                     const TimeRange& span, const std::string& taxonomy,
                                     const std::string& space) {
  HANDHOLD_ASSIGN(const FoundClip asked, FindClip(context, clip));
  HANDHOLD_ASSIGN(const auto tracks, NewestPoseTracks(context.library));
  HANDHOLD_ASSIGN(const store::ArtefactInfo track, TrackOf(tracks, asked));
  HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                  space.empty() ? NewestOf(context.library, "grasp_space", "fit grasp-space")
                                : FindArtefact(context.library, space, "grasp_space"));
  HANDHOLD_ASSIGN(const auto loaded,
                  store::Load<artefact::GraspSpace>(context.library.ArtefactPath(info.hash)));
  HANDHOLD_ASSIGN(const fitting::TypeModels models, fitting::TypeModels::Build(loaded, taxonomy));
  HANDHOLD_ASSIGN(const Shapes shapes, ShapesOf(context.library, track));
  if (shapes.shapes_v.rows() != loaded.mean.size()) {
    return Error{ErrorCode::kInvalid,
                 "the clip's hand and the grasp space's have different joints"};
  }
  LabelSuggestion result{{}, info.hash, 0, loaded.scripted};
  std::map<std::string, double> sum;
  for (size_t i = 0; i < shapes.times.size(); ++i) {
    if (shapes.times[i] < span.begin || shapes.times[i] > span.end) continue;
    ++result.frames;
    for (const fitting::TypeGuess& g :
         models.Guess(shapes.shapes_v.col(static_cast<Eigen::Index>(i))))
      sum[g.type] += g.probability;
  }
  if (result.frames == 0)
    return Error{ErrorCode::kNotFound,
                 "clip '" + asked.row.name +
                     "' has no pose in that span in which markers determine every joint"};
  for (const auto& [type, p] : sum) result.guesses.push_back({type, p / result.frames});
  std::ranges::stable_sort(result.guesses, std::ranges::greater(),
                           &fitting::TypeGuess::probability);
  return result;
}

}  // namespace handhold::pipeline
