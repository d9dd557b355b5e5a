#include "database/store/result_signal.h"

#include <algorithm>
#include <limits>
#include <set>

#include "database/artefact/kind.h"
#include "database/model/skeleton.h"
#include "database/model/skeleton_json.h"
#include "database/store/artefact_finder.h"
#include "database/text/json_view.h"

namespace handhold::store {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Result<model::Skeleton> LoadSkeleton(const std::string& path) {
  HANDHOLD_ASSIGN(const JsonArtefact file, LoadJsonArtefact(path));
  HANDHOLD_ASSIGN(const text::Json root, text::ParseJson(file.json, {.source = path}));
  HANDHOLD_ASSIGN(const text::JsonView content,
                  text::JsonView(root, path).At(artefact::kSkeletonKind));
  HANDHOLD_ASSIGN(model::SkeletonDraft draft, model::SkeletonDraftFromJson(content.value(), path));
  return model::Skeleton::Build(std::move(draft));
}

/// Of each dof: whether it is a place of a free joint, whose unit is m and whose force is in N.
std::vector<bool> Places(const model::Skeleton& skeleton) {
  std::vector<bool> places(static_cast<size_t>(skeleton.nv()), false);
  for (int b = 1; b < skeleton.body_count(); ++b) {
    if (skeleton.body(b).joint.type != model::JointType::kFree) continue;
    for (int d = skeleton.v_index(b) + 3; d < skeleton.v_index(b) + 6; ++d)
      places[static_cast<size_t>(d)] = true;
  }
  return places;
}

std::string NameOf(const artefact::Side& side) { return side.site.empty() ? side.name : side.site; }

/// Of two estimators' answers the one that is used.
void AddFits(const artefact::InteractionTrajectory& trajectory, const std::string& hash,
             std::vector<ResultSeries>* out) {
  for (const artefact::ComplianceFit& fit : trajectory.fits) {
    const bool better = std::ranges::any_of(trajectory.fits, [&](const auto& other) {
      return other.task == fit.task && other.estimator == "dynamic";
    });
    if (better && fit.estimator != "dynamic") continue;  // of two answers the one that is used
    for (const artefact::JointCompliance& joint : fit.joints)
      out->push_back({ResultQuantity::kCompliance,
                      joint.dof,
                      fit.task,
                      "rad/Nm",
                      hash,
                      {},
                      {joint.compliance_rad_per_Nm.value_or(kNaN)}});
  }
}

}  // namespace

std::string_view ResultQuantityName(ResultQuantity quantity) {
  switch (quantity) {
    case ResultQuantity::kAngle:
      return "angle";
    case ResultQuantity::kTorque:
      return "torque";
    case ResultQuantity::kContactForce:
      return "contact_force";
    case ResultQuantity::kCompliance:
      return "compliance";
  }
  return "";
}

std::optional<ResultQuantity> ParseResultQuantity(std::string_view name) {
  for (const ResultQuantity quantity : kResultQuantities)
    if (ResultQuantityName(quantity) == name) return quantity;
  return std::nullopt;
}

Result<std::vector<std::string>> ResultIndex::NewestFirst(const std::string& kind,
                                                          const std::string& clip) {
  HANDHOLD_ASSIGN(const std::vector<ArtefactInfo> made,
                  FindArtefacts(library_.catalogue(), {.kind = kind, .made_from = clip}));
  std::vector<std::string> hashes;
  for (const ArtefactInfo& info : made) {
    for (const artefact::ProvenanceInput& input : info.provenance.inputs)
      if (input.role == "clip" && input.hash == clip) hashes.push_back(info.hash);
  }
  return hashes;
}

Status ResultIndex::AddAngles(const std::string& clip, std::vector<ResultSeries>* out) {
  HANDHOLD_ASSIGN(const std::vector<std::string> hashes,
                  NewestFirst(artefact::KindOf<artefact::PoseTrack>::name, clip));
  std::set<std::string> hands;
  for (const std::string& hash : hashes) {
    HANDHOLD_ASSIGN(const auto track, Load<artefact::PoseTrack>(library_.ArtefactPath(hash)));
    if (!hands.insert(track.hand).second) continue;
    HANDHOLD_ASSIGN(const model::Skeleton skeleton,
                    LoadSkeleton(library_.ArtefactPath(track.skeleton_hash)));
    const std::vector<bool> places = Places(skeleton);
    if (track.dof_names.size() != places.size() || track.q.rows() != skeleton.nq() ||
        track.q.cols() != static_cast<Eigen::Index>(track.times.size()))
      return Error{ErrorCode::kCorrupt, library_.ArtefactPath(hash) + ": is not of its skeleton"};
    const size_t first = out->size();
    for (size_t d = 0; d < places.size(); ++d)
      out->push_back({ResultQuantity::kAngle,
                      track.dof_names[d],
                      "",
                      places[d] ? "m" : "rad",
                      hash,
                      track.times,
                      {}});
    const Eigen::VectorXd zero = skeleton.ZeroConfiguration();
    for (Eigen::Index k = 0; k < track.q.cols(); ++k) {
      const Eigen::VectorXd v = skeleton.Difference(zero, track.q.col(k));
      for (size_t d = 0; d < places.size(); ++d)
        (*out)[first + d].values.push_back(v[static_cast<Eigen::Index>(d)]);
    }
    if (track.hand.empty()) break;  // the only one
  }
  return {};
}

Result<ResultIndex::ContactTracks> ResultIndex::Contacts(const std::string& clip) {
  HANDHOLD_ASSIGN(const std::vector<std::string> hashes,
                  NewestFirst(artefact::KindOf<artefact::ContactTrack>::name, clip));
  ContactTracks found;
  std::set<std::string> hands;
  for (const std::string& hash : hashes) {
    HANDHOLD_ASSIGN(auto track, Load<artefact::ContactTrack>(library_.ArtefactPath(hash)));
    if (!hands.insert(track.hand).second) continue;
    const bool only = track.hand.empty();
    found.hashes.push_back(hash);
    found.tracks.push_back(std::move(track));
    if (only) break;
  }
  return found;
}

Status ResultIndex::AddOfContacts(const std::string& clip, ResultQuantity quantity,
                                  std::vector<ResultSeries>* out) {
  HANDHOLD_ASSIGN(const ContactTracks contacts, Contacts(clip));
  for (size_t i = 0; i < contacts.tracks.size(); ++i) {
    const artefact::ContactTrack& track = contacts.tracks[i];
    const std::string& hash = contacts.hashes[i];
    if (quantity == ResultQuantity::kTorque) {
      if (track.tau_Nm.cols() == 0) continue;
      HANDHOLD_ASSIGN(const model::Skeleton skeleton,
                      LoadSkeleton(library_.ArtefactPath(track.skeleton_hash)));
      const std::vector<bool> places = Places(skeleton);
      if (track.dof_names.size() != places.size() ||
          track.tau_Nm.rows() != static_cast<Eigen::Index>(places.size()))
        return Error{ErrorCode::kCorrupt, library_.ArtefactPath(hash) + ": is not of its skeleton"};
      for (size_t d = 0; d < places.size(); ++d) {
        const Eigen::VectorXd row = track.tau_Nm.row(static_cast<Eigen::Index>(d));
        out->push_back({quantity, track.dof_names[d], "", places[d] ? "N" : "N m", hash,
                        track.times, std::vector<double>(row.begin(), row.end())});
      }
      continue;
    }
    std::map<std::string, std::vector<geometry::Vec3>> sums;
    for (const artefact::Touch& touch : track.touches)
      for (const artefact::Side* side : {&touch.a, &touch.b})
        if (!NameOf(*side).empty())
          sums.try_emplace(NameOf(*side), track.times.size(), geometry::Vec3::Zero());
    for (const artefact::ContactRow& row : track.rows) {
      const artefact::Touch& touch = track.touches[static_cast<size_t>(row.touch)];
      const auto frame = static_cast<size_t>(row.frame);
      if (!NameOf(touch.a).empty()) sums[NameOf(touch.a)][frame] += row.f_onA_W;
      if (!NameOf(touch.b).empty()) sums[NameOf(touch.b)][frame] -= row.f_onA_W;
    }
    for (const auto& [name, forces] : sums) {
      ResultSeries series{quantity, name, "", "N", hash, track.times, {}};
      for (const geometry::Vec3& f : forces) series.values.push_back(f.norm());
      out->push_back(std::move(series));
    }
  }
  return {};
}

Status ResultIndex::AddCompliances(const std::string& clip, std::vector<ResultSeries>* out) {
  HANDHOLD_ASSIGN(const std::vector<std::string> hashes,
                  NewestFirst(artefact::KindOf<artefact::InteractionTrajectory>::name, clip));
  std::set<std::string> hands;
  for (const std::string& hash : hashes) {
    HANDHOLD_ASSIGN(const auto trajectory,
                    Load<artefact::InteractionTrajectory>(library_.ArtefactPath(hash)));
    if (!hands.insert(trajectory.hand).second) continue;
    AddFits(trajectory, hash, out);
    if (trajectory.hand.empty()) break;
  }
  return {};
}

Result<const std::vector<ResultSeries>*> ResultIndex::Series(const std::string& clip,
                                                             ResultQuantity quantity) {
  if (clip_ != clip) series_.clear(), clip_ = clip;
  if (const auto known = series_.find(quantity); known != series_.end()) return &known->second;
  std::vector<ResultSeries> made;
  if (quantity == ResultQuantity::kAngle) {
    HANDHOLD_TRY(AddAngles(clip, &made));
  } else if (quantity == ResultQuantity::kCompliance) {
    HANDHOLD_TRY(AddCompliances(clip, &made));
  } else {
    HANDHOLD_TRY(AddOfContacts(clip, quantity, &made));
  }
  for (const ResultSeries& series : made) met_[quantity][series.name].insert(series.unit);
  return &series_.emplace(quantity, std::move(made)).first->second;
}

std::map<std::string, std::set<std::string>> ResultIndex::Met(ResultQuantity quantity) const {
  const auto known = met_.find(quantity);
  return known == met_.end() ? std::map<std::string, std::set<std::string>>() : known->second;
}

}  // namespace handhold::store
