#include "tools/report/scene_load.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "database/artefact/kind.h"
#include "database/artefact/space_density.h"
#include "database/base/units.h"
#include "database/model/grasp_taxonomy.h"
#include "database/model/prop.h"
#include "synthesis/interaction/replay.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/lineage.h"
#include "tools/pipeline/stage_models.h"

namespace handhold::report {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using store::ArtefactInfo;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Groups of curves: by these the page's menu sorts them.
constexpr const char* kFingerForce = "finger force";
constexpr const char* kFrictionRatio = "friction to normal";
constexpr const char* kGripGroup = "grip";
constexpr const char* kVarianceGroup = "variance";
constexpr const char* kHeight = "height";

class Loader {
 public:
  Loader(const pipeline::StepContext& context, const SceneLimits& limits, Unreadable unreadable,
         LoadedScene* out)
      : context_(context),
        limits_(limits),
        unreadable_(unreadable),
        out_(*out),
        scene_(out->scene) {}

  Status Keys(const std::vector<std::string>& keys) {
    std::vector<std::variant<pipeline::FoundClip, ArtefactInfo>> found;
    for (const std::string& key : keys) {
      const Result<pipeline::FoundClip> clip = pipeline::FindClip(context_, key);
      if (clip) {
        found.emplace_back(*clip);
        continue;
      }
      if (clip.error().code != ErrorCode::kNotFound) return clip.error();
      const Result<ArtefactInfo> info = pipeline::FindArtefact(context_.library, key, "");
      if (!info) return info.error().code != ErrorCode::kNotFound ? info.error() : clip.error();
      asked_.insert(info->hash);
      found.emplace_back(*info);
    }
    for (const auto& one : found) {
      if (const auto* clip = std::get_if<pipeline::FoundClip>(&one)) {
        HANDHOLD_TRY(AddClip(*clip));
      } else if (!shown_.contains(std::get<ArtefactInfo>(one).hash)) {
        HANDHOLD_TRY(AddArtefact(std::get<ArtefactInfo>(one)));
      }
    }
    return {};
  }

  void Finish(const std::vector<std::string>& keys) {
    for (size_t i = 0; i < keys.size(); ++i) scene_.title += (i > 0 ? ", " : "") + TitleOf(keys[i]);
    NameApart();
    // Grasps and spaces have nothing to do with one another: not each the others' ghost.
    scene_.beside = scene_.motions.size() > 1 && apart_ == scene_.motions.size();
    // What a stranger sees first is the grasp; playing begins at the open hand.
    if (apart_ > 0 && apart_ == scene_.motions.size()) scene_.open_s = scene_.Extent()[1];
    std::vector<std::vector<std::string>> plots;
    std::vector<std::string> force, angles, torques, others;
    std::array<std::pair<std::string, std::vector<std::string>>, 4> grip = {
        {{kFingerForce, {}}, {kFrictionRatio, {}}, {kGripGroup, {}}, {kHeight, {}}}};
    for (const SceneChannel& c : scene_.channels) {
      if (c.group == "force" && c.name.ends_with("normal force")) force.push_back(c.name);
      if (c.group == "angle" && angles.size() < 6 && !Has(angles, c.name)) angles.push_back(c.name);
      if (c.group == "torque" && torques.size() < 6) torques.push_back(c.name);
      if ((c.group == "contact" || c.group == kVarianceGroup) && !Has(others, c.name))
        others.push_back(c.name);
      for (auto& [group, names] : grip)
        if (c.group == group && !Has(names, c.name)) names.push_back(c.name);
    }
    plots = {force};
    // Of a grip: who presses how hard, how near it is to slipping, what it did about it (Figures 13
    // and 14 of Kry & Pai 2006); else the whole force.
    if (grip[0].second.size() > 1) {
      for (const auto& [group, names] : grip) plots.push_back(names);
    } else {
      for (const std::string& name : others) plots.push_back({name});
      plots.push_back(grip[3].second);
    }
    plots.push_back(angles), plots.push_back(torques);
    PlotFirst(plots, &scene_);
    if (scene_.plots.size() > 5) scene_.plots.resize(5);
  }

 private:
  /// What is seen of a result says more than its hash.
  std::string TitleOf(const std::string& key) const {
    for (const SceneMotion& motion : scene_.motions) {
      if (!motion.hash.empty() && motion.hash.starts_with(key)) return motion.name;
    }
    return key;
  }

  /// Motions that share a name get their hash, or their place, behind it.
  void NameApart() {
    std::map<std::string, int> count;
    for (const SceneMotion& motion : scene_.motions) ++count[motion.name];
    for (size_t i = 0; i < scene_.motions.size(); ++i) {
      SceneMotion& motion = scene_.motions[i];
      if (count[motion.name] < 2) continue;
      motion.name +=
          " " + (motion.hash.empty() ? std::to_string(i + 1) : pipeline::ShortHash(motion.hash));
    }
    for (const auto& [event, motion] : touches_of_)
      if (motion > 0)
        scene_.events[event].lane = "touches: " + scene_.motions[static_cast<size_t>(motion)].name;
  }

  /// Runs `add` on what a clip brings along. Where it fails and that is to be borne, the scene is
  /// as before and a line says what is missing.
  template <typename Add>
  Status Bring(const std::string& what, Add add) {
    if (unreadable_ == Unreadable::kRefuse) return add();
    Scene before = scene_;
    const auto touches = touches_of_;
    const Status added = add();
    if (added) return {};
    scene_ = std::move(before), touches_of_ = touches;
    out_.left_out.push_back("The " + what + " cannot be shown: " + added.error().message);
    return {};
  }

  static bool Has(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  }
  std::string Path(const std::string& hash) const { return context_.library.ArtefactPath(hash); }

  void Fact(const std::string& what, const artefact::Provenance& made, const std::string& hash) {
    if (!shown_.insert(hash).second) return;
    scene_.facts.push_back({what, made.step + " version " + std::to_string(made.version) + ", " +
                                      pipeline::ShortHash(hash) + ", " + made.tool});
  }

  Status AddClip(const pipeline::FoundClip& found) {
    HANDHOLD_ASSIGN(const auto clip, context_.library.OpenClip(found.row.id));
    scene_.subtitle = found.row.subject + (found.row.task.empty() ? "" : ", " + found.row.task);
    scene_.facts.push_back({"clip", found.row.name + " (" + found.row.id + ")"});
    HANDHOLD_TRY(AddRecording(*clip, limits_, &scene_));
    SceneMotion motion{.name = found.row.name, .source = "captured"};
    if (const recording::StreamInfo* markers = clip->FirstOfKind(recording::StreamKind::kMarkers))
      HANDHOLD_TRY(AddMarkers(*clip, *markers, limits_, &scene_, &motion));
    for (const recording::ForceSensor& sensor : clip->force_sensors())
      AddSensor(clip->info(), sensor, &scene_, &motion);
    const size_t at = scene_.motions.size();
    scene_.motions.push_back(std::move(motion));

    const int motion_at = static_cast<int>(at);
    HANDHOLD_TRY(Bring("hand", [&]() -> Status {
      HANDHOLD_ASSIGN(const auto pose, Newest("pose_track", found));
      return pose ? AddPose(*pose, motion_at) : Status();
    }));
    HANDHOLD_TRY(Bring("contacts", [&]() -> Status {
      HANDHOLD_ASSIGN(const auto contact, Newest("contact_track", found));
      return contact ? AddContacts(*contact, motion_at) : Status();
    }));
    HANDHOLD_TRY(Bring("objects", [&] { return AddObjectTracks(found, motion_at); }));
    AddFixedThings(clip->info(), motion_at);
    return Bring("motion", [&]() -> Status {
      HANDHOLD_ASSIGN(const auto synthesised, NewestMotion(found));
      return synthesised && !shown_.contains(synthesised->hash) ? AddMotion(*synthesised)
                                                                : Status();
    });
  }

  /// Props that stood still, where no result shows them: those that ship with Handhold.
  void AddFixedThings(const recording::ClipInfo& info, int motion) {
    SceneMotion& to = scene_.motions[static_cast<size_t>(motion)];
    for (const recording::Thing& thing : info.things) {
      if (thing.kind != recording::Thing::Kind::kProp ||
          thing.pose != recording::Thing::Pose::kFixed ||
          std::ranges::count(to.things, thing.name, &SceneThing::name) > 0)
        continue;
      const Result<model::Prop> prop = model::LoadLibraryProp(thing.model);
      if (prop) AddProp(thing.name, "prop", *prop, {thing.X_WT}, -1, &scene_, &to);
    }
  }

  /// The newest motion made from the clip that is no other motion's variant; none where a key names
  /// one.
  Result<std::optional<ArtefactInfo>> NewestMotion(const pipeline::FoundClip& found) {
    constexpr size_t kMost = 24;  // looked into
    HANDHOLD_ASSIGN(auto all, pipeline::Descendants(context_.library, found.row.sha256));
    std::erase_if(all, [](const ArtefactInfo& info) {
      return info.kind != artefact::KindOf<artefact::Motion>::name;
    });
    for (const ArtefactInfo& info : all)
      if (asked_.contains(info.hash)) return std::optional<ArtefactInfo>();
    std::stable_sort(all.begin(), all.end(), [](const ArtefactInfo& a, const ArtefactInfo& b) {
      return a.provenance.made_utc > b.provenance.made_utc;
    });
    if (all.size() > kMost) all.resize(kMost);
    std::set<std::string> variants;
    for (const ArtefactInfo& info : all) {
      HANDHOLD_ASSIGN(const auto motion, store::Load<artefact::Motion>(Path(info.hash)));
      for (const artefact::MotionVariant& variant : motion.summary.variants)
        variants.insert(variant.motion);
    }
    for (const ArtefactInfo& info : all) {
      if (variants.contains(info.hash)) continue;
      out_.chosen.push_back("motion " + pipeline::ShortHash(info.hash) + " of " + found.row.name);
      return std::optional(info);
    }
    return std::optional<ArtefactInfo>();
  }

  /// The newest track of every thing.
  Status AddObjectTracks(const pipeline::FoundClip& found, int motion) {
    HANDHOLD_ASSIGN(const auto all, pipeline::Descendants(context_.library, found.row.sha256));
    std::map<std::string, ArtefactInfo> newest;
    for (const ArtefactInfo& info : all) {
      if (info.kind != artefact::KindOf<artefact::ObjectTrack>::name) continue;
      HANDHOLD_ASSIGN(const auto track, store::Load<artefact::ObjectTrack>(Path(info.hash)));
      const auto known = newest.find(track.thing);
      if (known == newest.end() || known->second.provenance.made_utc < info.provenance.made_utc)
        newest[track.thing] = info;
    }
    for (const auto& [thing, info] : newest) HANDHOLD_TRY(AddObjectTrack(info, motion));
    return {};
  }

  Result<std::optional<ArtefactInfo>> Newest(const std::string& kind,
                                             const pipeline::FoundClip& clip) {
    const Result<ArtefactInfo> found =
        pipeline::FindResult(context_, "", kind, clip, "show", &out_.chosen);
    if (found) return std::optional(*found);
    if (found.error().code == ErrorCode::kNotFound) return std::optional<ArtefactInfo>();
    return found.error();
  }

  Status AddArtefact(const ArtefactInfo& info) {
    const std::string name = pipeline::ShortHash(info.hash);
    if (info.kind == artefact::KindOf<artefact::Motion>::name) return AddMotion(info);
    if (info.kind == artefact::KindOf<artefact::Grasp>::name) return AddGrasp(info);
    if (info.kind == artefact::KindOf<artefact::GraspSpace>::name) return AddSpace(info);
    if (info.kind == artefact::KindOf<artefact::PoseTrack>::name) {
      scene_.motions.push_back({.name = name});
      return AddPose(info, static_cast<int>(scene_.motions.size()) - 1);
    }
    if (info.kind == artefact::KindOf<artefact::ContactTrack>::name) {
      // Forces without a hand say little: the poses that it was made from come along.
      HANDHOLD_ASSIGN(const auto pose, pipeline::RequireInput(info, "pose"));
      HANDHOLD_ASSIGN(const ArtefactInfo of_pose,
                      pipeline::FindArtefact(context_.library, pose.hash, ""));
      scene_.motions.push_back({.name = name});
      const int at = static_cast<int>(scene_.motions.size()) - 1;
      HANDHOLD_TRY(AddPose(of_pose, at));
      return AddContacts(info, at);
    }
    if (info.kind == artefact::KindOf<artefact::ObjectTrack>::name) {
      scene_.motions.push_back({.name = name});
      return AddObjectTrack(info, static_cast<int>(scene_.motions.size()) - 1);
    }
    if (info.kind == artefact::kSkeletonKind) {
      HANDHOLD_ASSIGN(const pipeline::FoundSkeleton found,
                      pipeline::LoadSkeletonArtefact(context_.library, info.hash));
      SceneMotion motion{.name = found.skeleton.name(), .source = "fitted", .hash = info.hash};
      const std::vector<int> frames = {0};
      const Eigen::MatrixXd q = found.skeleton.ZeroConfiguration();
      AddHand(found.skeleton.name(), found.skeleton, q, frames, scene_.AddTimes({0.0}), &scene_,
              &motion);
      scene_.motions.push_back(std::move(motion));
      Fact("skeleton", info.provenance, info.hash);
      return {};
    }
    if (info.kind == artefact::kPropKind) {
      HANDHOLD_ASSIGN(const pipeline::FoundProp found,
                      pipeline::LoadPropArtefact(context_.library, info.hash));
      SceneMotion motion{.name = found.prop.name, .source = "reference", .hash = info.hash};
      AddProp(found.prop.name, "prop", found.prop, {RigidTransform::Identity()}, -1, &scene_,
              &motion);
      scene_.motions.push_back(std::move(motion));
      Fact("prop", info.provenance, info.hash);
      return {};
    }
    return Error{ErrorCode::kUnsupported, "nothing can be seen of a " + info.kind + " (" +
                                              pipeline::ShortHash(info.hash) +
                                              "): show clips, pose_track, contact_track, "
                                              "object_track, motion, grasp, grasp_space, skeleton, "
                                              "prop"};
  }

  Result<model::Skeleton> LoadSkeleton(const ArtefactInfo& info, const std::string& hash) {
    std::string key = hash;
    if (key.empty()) {
      HANDHOLD_ASSIGN(const artefact::ProvenanceInput input,
                      pipeline::RequireInput(info, "skeleton"));
      key = input.hash;
    }
    HANDHOLD_ASSIGN(pipeline::FoundSkeleton found,
                    pipeline::LoadSkeletonArtefact(context_.library, key));
    return std::move(found.skeleton);
  }

  /// A curve for each dof: its coordinate, counted from the zero configuration, and the standard
  /// deviation where the fit tells one (the others held, so a lower bound).
  void AddAngles(const std::vector<std::string>& names, const model::Skeleton& skeleton,
                 const Eigen::MatrixXd& q, const Eigen::MatrixXd* information,
                 const std::vector<int>& frames, int time, int motion) {
    const Eigen::VectorXd zero = skeleton.ZeroConfiguration();
    std::vector<SceneChannel> channels(names.size());
    for (size_t d = 0; d < names.size(); ++d) {
      SceneChannel& c = channels[d];
      c.name = names[d], c.group = "angle", c.unit = "rad", c.motion = motion, c.time = time;
      c.step = 1e-4;
    }
    for (int b = 1; b < skeleton.body_count(); ++b) {
      for (int d = skeleton.v_index(b); d < skeleton.v_index(b) + skeleton.body(b).joint.nv(); ++d)
        channels[static_cast<size_t>(d)].parts = {skeleton.body(b).name};
      if (skeleton.body(b).joint.type != model::JointType::kFree) continue;
      for (int d = skeleton.v_index(b) + 3; d < skeleton.v_index(b) + 6; ++d) {
        SceneChannel& c = channels[static_cast<size_t>(d)];
        c.group = "place", c.unit = "m", c.step = 1e-5;
      }
    }
    for (const int k : frames) {
      const Eigen::VectorXd v = skeleton.Difference(zero, q.col(k));
      for (size_t d = 0; d < names.size(); ++d) {
        const auto row = static_cast<Eigen::Index>(d);
        channels[d].y.push_back(v[row]);
        if (information == nullptr || information->cols() == 0) continue;
        const double w = (*information)(row, k);
        channels[d].sd.push_back(w > 0.0 ? 1.0 / std::sqrt(w) : kNaN);
      }
    }
    for (SceneChannel& c : channels) scene_.channels.push_back(std::move(c));
  }

  Status AddPose(const ArtefactInfo& info, int motion) {
    HANDHOLD_ASSIGN(const auto pose, store::Load<artefact::PoseTrack>(Path(info.hash)));
    HANDHOLD_ASSIGN(const model::Skeleton skeleton, LoadSkeleton(info, pose.skeleton_hash));
    const std::vector<int> frames = ShownFrames(pose.times.size(), limits_.frames);
    const int time = scene_.AddTimes(SecondsOf(pose.times, frames));
    SceneMotion& to = scene_.motions[static_cast<size_t>(motion)];
    to.source = "fitted", to.hash = info.hash;
    AddHand(pose.hand.empty() ? skeleton.name() : pose.hand, skeleton, pose.q, frames, time,
            &scene_, &to);
    AddAngles(pose.dof_names, skeleton, pose.q, &pose.information_diagonal, frames, time, motion);
    AddResiduals(pose, motion);
    Fact("pose", info.provenance, info.hash);
    return {};
  }

  /// How far every marker lies from where the hand puts it.
  void AddResiduals(const artefact::PoseTrack& pose, int motion) {
    constexpr int kPoints = 400;  // a page of 30 markers stays small
    std::vector<double> seconds;
    for (const Timestamp t : pose.times) seconds.push_back(t.seconds());
    if (pose.marker_residual_m.cols() != static_cast<Eigen::Index>(seconds.size())) return;
    for (size_t m = 0; m < pose.marker_names.size(); ++m) {
      std::vector<double> y;
      for (Eigen::Index k = 0; k < pose.marker_residual_m.cols(); ++k)
        y.push_back(pose.marker_residual_m(static_cast<Eigen::Index>(m), k));
      AddCurve(pose.marker_names[m] + " residual", "residual", "m", motion, seconds, y,
               std::min(kPoints, limits_.points), &scene_);
      scene_.channels.back().parts = {pose.marker_names[m]};
      scene_.channels.back().step = 1e-5;
    }
  }

  Status AddObjectTrack(const ArtefactInfo& info, int motion) {
    HANDHOLD_ASSIGN(const auto track, store::Load<artefact::ObjectTrack>(Path(info.hash)));
    const std::vector<int> frames = ShownFrames(track.times.size(), limits_.frames);
    std::vector<RigidTransform> poses;
    for (const int k : frames) poses.push_back(track.X_WT[static_cast<size_t>(k)]);
    const int time = scene_.AddTimes(SecondsOf(track.times, frames));
    HANDHOLD_ASSIGN(const std::optional<model::Prop> prop, PropOf(track.prop_hash));
    AddProp(track.thing, "prop", prop.value_or(model::Prop{}), poses, time, &scene_,
            &scene_.motions[static_cast<size_t>(motion)]);
    Fact("object " + track.thing, info.provenance, info.hash);
    return {};
  }

  /// Empty where none was kept.
  Result<std::optional<model::Prop>> PropOf(const std::string& hash) {
    if (hash.empty()) return std::optional<model::Prop>();
    HANDHOLD_ASSIGN(pipeline::FoundProp found, pipeline::LoadPropArtefact(context_.library, hash));
    return std::optional(std::move(found.prop));
  }

  static std::string NameOf(const artefact::Side& side) {
    return side.site.empty() ? side.name : side.site;
  }

  /// Rows of the frames shown, and how hard and fast each frame's contacts are.
  void AddRows(const std::vector<artefact::Touch>& touches,
               const std::vector<artefact::ContactRow>& rows, const std::vector<Timestamp>& times,
               const std::map<std::string, double>& friction, const std::vector<int>& frames,
               int time, int motion) {
    SceneMotion& to = scene_.motions[static_cast<size_t>(motion)];
    SceneContacts& c = to.contacts;
    c.time = time;
    for (const artefact::Touch& touch : touches) {
      const std::string name = NameOf(touch.a) + " on " + NameOf(touch.b);
      c.touches.push_back(name);
      touches_of_[scene_.events.size()] = motion;
      scene_.events.push_back({"touch", touch.onset.seconds(), touch.release.seconds(),
                               name + (touch.task.empty() ? "" : ", " + touch.task), "touches"});
    }
    std::map<int, int> shown;
    for (size_t i = 0; i < frames.size(); ++i) shown[frames[i]] = static_cast<int>(i);
    std::vector<double> slip(times.size(), 0.0);
    bool slips = false;
    for (const artefact::ContactRow& row : rows) {
      const auto touch = static_cast<size_t>(row.touch);
      if (std::isfinite(row.slip_m_per_s)) {
        slips = true;
        double& at = slip[static_cast<size_t>(row.frame)];
        at = std::max(at, row.slip_m_per_s);
      }
      const auto found = shown.find(row.frame);
      if (found == shown.end()) continue;
      const auto mu = friction.find(touches[touch].b.name);
      c.frame.push_back(found->second), c.touch.push_back(row.touch);
      c.p_W.push_back(row.p_W), c.normal_W.push_back(row.normal_W);
      c.f_onHand_W.push_back(row.f_onA_W);
      c.friction.push_back(mu == friction.end() ? kNaN : mu->second);
      c.slip_m_per_s.push_back(row.slip_m_per_s);
    }
    const Eigen::Matrix3Xd f = artefact::ForceOnHand(touches, rows, times.size());
    std::vector<double> seconds, size;
    for (size_t k = 0; k < times.size(); ++k) {
      seconds.push_back(times[k].seconds());
      size.push_back(f.col(static_cast<Eigen::Index>(k)).norm());
    }
    std::vector<std::string> parts;
    for (const artefact::Touch& touch : touches)
      for (const artefact::Side* side : {&touch.a, &touch.b})
        if (!side->name.empty() && !Has(parts, side->name)) parts.push_back(side->name);
    AddCurve("contact force", "contact", "N", motion, seconds, size, limits_.points, &scene_);
    scene_.channels.back().parts = parts;
    if (!slips) return;
    AddCurve("slip", "slip", "m/s", motion, seconds, slip, limits_.points, &scene_);
    scene_.channels.back().parts = parts;
  }

  /// Per finger: normal force, and friction to normal force where it says something (section 8.1
  /// looks at contacts above 0.2 N), with the coefficient that it cannot exceed.
  void AddFingers(const artefact::Motion& motion,
                  const std::map<std::string, const model::Skeleton*>& hands,
                  const std::map<std::string, double>& friction, int at) {
    constexpr double kTells_N = 0.2;
    struct Finger {
      std::vector<double> normal_N, along_N;
      double mu = kNaN;
    };
    std::map<std::string, Finger> fingers;
    for (const artefact::ContactRow& row : motion.rows) {
      const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
      const auto hand = hands.find(touch.a.name);
      if (!touch.a.is_hand() || hand == hands.end() || !row.normal_W.allFinite()) continue;
      const std::string& body = hand->second->body(touch.a.body).name;
      Finger& finger = fingers[touch.a.name + "." + body.substr(0, body.find('.'))];
      finger.normal_N.resize(motion.times.size(), 0.0);
      finger.along_N.resize(motion.times.size(), 0.0);
      const double normal_N = row.f_onA_W.dot(row.normal_W);
      finger.normal_N[static_cast<size_t>(row.frame)] += normal_N;
      finger.along_N[static_cast<size_t>(row.frame)] +=
          (row.f_onA_W - normal_N * row.normal_W).norm();
      const auto mu = friction.find(touch.b.name);
      if (mu != friction.end()) finger.mu = mu->second;
    }
    std::vector<double> seconds;
    for (const Timestamp t : motion.times) seconds.push_back(t.seconds());
    double mu = kNaN;
    for (auto& [name, finger] : fingers) {
      AddCurve(name + " force", kFingerForce, "N", at, seconds, finger.normal_N, limits_.points,
               &scene_);
      scene_.channels.back().parts = {name.substr(0, name.find('.'))};
      std::vector<double> ratio;
      bool tells = false;
      for (size_t k = 0; k < seconds.size(); ++k) {
        ratio.push_back(finger.normal_N[k] > kTells_N ? finger.along_N[k] / finger.normal_N[k]
                                                      : kNaN);
        tells = tells || finger.normal_N[k] > kTells_N;
      }
      if (!tells) continue;
      AddCurve(name + " friction/normal", kFrictionRatio, "1", at, seconds, ratio, limits_.points,
               &scene_);
      scene_.channels.back().parts = {name.substr(0, name.find('.'))};
      mu = finger.mu;
    }
    if (std::isfinite(mu) && !seconds.empty()) {
      scene_.channels.push_back({.name = "friction coefficient",
                                 .group = kFrictionRatio,
                                 .unit = "1",
                                 .motion = at,
                                 .time = scene_.AddTimes({seconds.front(), seconds.back()}),
                                 .y = {mu, mu}});
    }
  }

  /// About the axis of its whole turn, unwrapped.
  static std::vector<double> Turned(const std::vector<RigidTransform>& X_WP) {
    Vec3 axis_W = Vec3::Zero();
    std::vector<Vec3> steps_W;
    for (size_t k = 0; k < X_WP.size(); ++k) {
      const size_t before = k == 0 ? 0 : k - 1;
      steps_W.push_back(X_WP[before].R * geometry::Log(X_WP[before].R.transpose() * X_WP[k].R));
      axis_W += steps_W.back();
    }
    std::vector<double> angle_rad;
    for (const Vec3& step_W : steps_W) {
      const double d = axis_W.norm() > 0 ? step_W.dot(axis_W.normalized()) : 0.0;
      angle_rad.push_back((angle_rad.empty() ? 0.0 : angle_rad.back()) + d);
    }
    return angle_rad;
  }

  /// How high things are that move, and where nothing moves, where the hand touches: over a bump
  /// the path of Figure 4.
  void AddHeights(const artefact::Motion& motion, int at) {
    std::vector<double> seconds;
    for (const Timestamp t : motion.times) seconds.push_back(t.seconds());
    bool moves = false;
    for (const artefact::MotionObject& object : motion.objects) {
      if (object.stands_still()) continue;
      moves = true;
      std::vector<double> z_m;
      double travel_m = 0.0;
      for (const RigidTransform& X : object.X_WP)
        travel_m = std::max(travel_m, (X.p - object.X_WP.front().p).norm());
      if (travel_m < 1e-6) {  // it only turns: on a pivot through its origin
        AddCurve(object.name + " turned", kHeight, "rad", at, seconds, Turned(object.X_WP),
                 limits_.points, &scene_);
        scene_.channels.back().parts = {object.name};
        continue;
      }
      for (const RigidTransform& X : object.X_WP) z_m.push_back(X.p.z());
      AddCurve(object.name + " height", kHeight, "m", at, seconds, z_m, limits_.points, &scene_);
      scene_.channels.back().parts = {object.name};
    }
    if (moves) return;
    std::vector<double> z_m(seconds.size(), kNaN);
    for (const artefact::ContactRow& row : motion.rows)
      if (motion.touches[static_cast<size_t>(row.touch)].a.is_hand() && row.p_W.allFinite())
        z_m[static_cast<size_t>(row.frame)] = row.p_W.z();
    AddCurve("height of contact", kHeight, "m", at, seconds, z_m, limits_.points, &scene_);
  }

  Status AddContacts(const ArtefactInfo& info, int motion) {
    HANDHOLD_ASSIGN(const auto track, store::Load<artefact::ContactTrack>(Path(info.hash)));
    const std::vector<int> frames = ShownFrames(track.times.size(), limits_.frames);
    const int time = scene_.AddTimes(SecondsOf(track.times, frames));
    std::map<std::string, double> friction;
    for (const artefact::TouchedThing& thing : track.things) {
      HANDHOLD_ASSIGN(const std::optional<model::Prop> prop, PropOf(thing.prop_hash));
      if (!prop) continue;
      friction[thing.name] = prop->friction;
      AddProp(thing.name, "prop", *prop, {thing.X_WT}, -1, &scene_,
              &scene_.motions[static_cast<size_t>(motion)]);
    }
    AddRows(track.touches, track.rows, track.times, friction, frames, time, motion);
    for (size_t d = 0; d < track.dof_names.size() && track.tau_Nm.cols() > 0; ++d) {
      SceneChannel channel{.name = track.dof_names[d] + " torque",
                           .group = "torque",
                           .unit = "N m",
                           .motion = motion,
                           .time = time};
      channel.step = 1e-5;
      for (const SceneChannel& c : scene_.channels)
        if (c.name == track.dof_names[d] && c.group == "angle") channel.parts = c.parts;
      for (const int k : frames) channel.y.push_back(track.tau_Nm(static_cast<Eigen::Index>(d), k));
      scene_.channels.push_back(std::move(channel));
    }
    Fact("contacts", info.provenance, info.hash);
    return {};
  }

  /// A grasp as a motion: open for a moment, closing, then held with its contacts.
  Status AddGrasp(const ArtefactInfo& info) {
    HANDHOLD_ASSIGN(const auto grasp, store::Load<artefact::Grasp>(Path(info.hash)));
    HANDHOLD_ASSIGN(const model::Skeleton skeleton, LoadSkeleton(info, grasp.skeleton_hash));
    if (grasp.q.size() != skeleton.nq())
      return Error{ErrorCode::kCorrupt, "grasp " + info.hash + ": q is not its hand's"};
    constexpr int kOpen = 15, kClosed = 60, kFrames = 91;  // at 60 Hz
    artefact::Stage stage = artefact::StageOfGrasp(grasp);
    if (const artefact::ProvenanceInput* input = pipeline::FindInput(info.provenance, "prop");
        stage.things[0].prop.hash.empty() && input != nullptr)
      stage.things[0].prop.hash = input->hash;
    HANDHOLD_TRY(pipeline::LoadModels(context_.library, &stage));
    artefact::Motion motion;
    artefact::StageHand& staged = stage.hands[0];
    staged.name = skeleton.name();
    staged.skeleton.value = std::make_shared<const model::Skeleton>(skeleton);
    artefact::MotionHand& hand = motion.Add(std::move(staged));
    const Eigen::VectorXd open = grasp.q_open.size() == grasp.q.size() ? grasp.q_open : grasp.q;
    const Eigen::VectorXd way = skeleton.Difference(open, grasp.q);
    hand.q.resize(skeleton.nq(), kFrames);
    for (int k = 0; k < kFrames; ++k) {
      motion.times.push_back(Timestamp::FromSeconds(k / 60.0));
      const double share = std::clamp(static_cast<double>(k - kOpen) / (kClosed - kOpen), 0.0, 1.0);
      hand.q.col(k) = skeleton.Integrate(open, (0.5 - 0.5 * std::cos(kPi * share)) * way);
    }
    const RigidTransform X_HP = grasp.X_PH.Inverse();
    stage.things[0].X_WP = X_HP;  // the hand's world is the page's
    motion.Add(std::move(stage.things[0]));
    for (const artefact::GraspContact& c : grasp.contacts) {
      const artefact::Side a{artefact::Side::Kind::kHand, hand.name, c.site, c.body};
      const artefact::Side b{artefact::Side::Kind::kThing, grasp.prop, "", 0};
      artefact::ContactRow row;
      row.touch = motion.TouchBetween(a, b, motion.times[kClosed]);
      row.p_W = X_HP * c.p_P;
      row.normal_W = X_HP.R * c.normal_P;
      row.f_onA_W = X_HP.R * c.f_onHand_P;
      for (row.frame = kClosed; row.frame < kFrames; ++row.frame) motion.rows.push_back(row);
    }
    for (artefact::Touch& touch : motion.touches) touch.release = motion.times.back();
    std::ranges::stable_sort(motion.rows, {}, [](const artefact::ContactRow& row) {
      return std::pair(row.frame, row.touch);
    });
    HANDHOLD_TRY(AddMotion(info, motion));
    SceneMotion& shown = scene_.motions.back();
    shown.name = grasp.name;
    ++apart_;
    for (const auto& [taxonomy, type] : grasp.types) scene_.facts.push_back({taxonomy, type});
    return {};
  }

  /// The space as a picture (Ben Amor 2008, Fig. 2): hands over the plane of its first two
  /// components, from -2 to 2 standard deviations of each; one that is not natural says so. Then
  /// the mean of each type's model.
  Status AddSpace(const ArtefactInfo& info) {
    HANDHOLD_ASSIGN(const auto space, store::Load<artefact::GraspSpace>(Path(info.hash)));
    HANDHOLD_ASSIGN(const artefact::SpaceDensity density, artefact::SpaceDensity::Build(space));
    HANDHOLD_ASSIGN(const model::Skeleton skeleton, LoadSkeleton(info, space.skeleton_hash));
    const Eigen::Index n = density.Expand(Eigen::VectorXd::Zero(space.dimensions())).size();
    if (n > skeleton.nv())
      return Error{ErrorCode::kCorrupt, "grasp space " + info.hash + " is not of its hand"};
    constexpr double kApart_m = 0.22;
    const int time = scene_.AddTimes({0.0});
    const auto add = [&](SceneMotion* to, const std::string& name, const Eigen::VectorXd& a,
                         int row, int column) {
      Eigen::VectorXd v = Eigen::VectorXd::Zero(skeleton.nv());
      v.tail(n) = density.Expand(a);
      const Eigen::VectorXd q = skeleton.Integrate(skeleton.ZeroConfiguration(), v);
      const auto first = to->nodes.size();
      const std::vector<int> frames = {0};
      AddHand(name, skeleton, q, frames, time, &scene_, to);
      const RigidTransform place =
          RigidTransform::Translation(Vec3(kApart_m * row, kApart_m * column, 0));
      for (size_t i = first; i < to->nodes.size(); ++i) {
        if (to->nodes[i].parent < 0) to->nodes[i].X_PN = place * to->nodes[i].X_PN;
      }
    };
    SceneMotion motion{.name = skeleton.name() + ", components 1 and 2",
                       .source = space.scripted ? "reference" : "fitted",
                       .hash = info.hash};
    const int rows = space.dimensions() > 1 ? 2 : 0;
    for (int row = -rows; row <= rows; ++row) {
      for (int column = -2; column <= 2; ++column) {
        Eigen::VectorXd a = Eigen::VectorXd::Zero(space.dimensions());
        a[0] = column * std::sqrt(space.variance[0]);
        if (rows > 0) a[1] = row * std::sqrt(space.variance[1]);
        char name[80];
        std::snprintf(name, sizeof name, "%+d, %+d sd%s", column, row,
                      density.LogLikelihood(a) > density.log_threshold() ? "" : ", not natural");
        add(&motion, name, a, row, column);
      }
    }
    scene_.motions.push_back(std::move(motion));
    ++apart_;
    Fact("grasp space", info.provenance, info.hash);
    // A hand per type, at its model's mean: five in a row.
    for (const std::string_view taxonomy : {model::kFeix, model::kSchlesinger}) {
      SceneMotion types{.name = "types of " + std::string(taxonomy),
                        .source = space.scripted ? "reference" : "fitted",
                        .hash = info.hash};
      std::string refused;
      int count = 0;
      for (const artefact::TypeModel& one : space.type_models) {
        if (one.taxonomy != taxonomy) continue;
        if (one.mixture.empty()) {
          refused += (refused.empty() ? "" : ", ") + one.type + " (" + one.refusal + ")";
          continue;
        }
        Eigen::VectorXd a = Eigen::VectorXd::Zero(space.dimensions());
        for (const artefact::MixtureComponent& c : one.mixture) {
          if (c.mean.size() != a.size())
            return Error{ErrorCode::kCorrupt, "grasp space " + info.hash + ": model of type '" +
                                                  one.type + "' has other dimensions"};
          a += c.weight * c.mean;
        }
        add(&types, one.type + ", " + std::to_string(one.poses) + " poses", a, 2 - count / 5,
            count % 5 - 2);
        ++count;
      }
      if (count > 0) scene_.motions.push_back(std::move(types));
      ++apart_;
      if (!refused.empty())
        scene_.facts.push_back({"no model of " + std::string(taxonomy) + "'s", refused});
    }
    AddComponents(space, density, skeleton);
    std::string shares;
    double sum = 0.0;
    for (Eigen::Index k = 0; k < space.dimensions(); ++k) {
      sum += space.variance[k];
      char share[16];
      std::snprintf(share, sizeof share, "%s%.0f", k > 0 ? ", " : "",
                    100 * sum / space.variance.sum());
      shares += share;
    }
    scene_.facts.push_back({"variance within the first components, %", shares});
    scene_.facts.push_back({"poses are", space.scripted ? "scripted" : "captured"});
    return {};
  }

  /// A hand that goes along each component in turn, from -2 to 2 standard deviations and back
  /// within its second, and the curve of how much of the variance the components so far hold.
  void AddComponents(const artefact::GraspSpace& space, const artefact::SpaceDensity& density,
                     const model::Skeleton& skeleton) {
    constexpr int kPerComponent = 20;
    const int d = space.dimensions();
    std::vector<double> seconds, ends;
    std::vector<int> frames;
    Eigen::MatrixXd q(skeleton.nq(), d * kPerComponent + 1);
    for (int k = 0; k <= d * kPerComponent; ++k) {
      const int component = std::min(k / kPerComponent, d - 1);
      Eigen::VectorXd a = Eigen::VectorXd::Zero(d);
      a[component] = 2 * std::sqrt(space.variance[component]) *
                     std::sin(2 * kPi * (k - component * kPerComponent) / kPerComponent);
      const Eigen::VectorXd shape = density.Expand(a);
      Eigen::VectorXd v = Eigen::VectorXd::Zero(skeleton.nv());
      v.tail(shape.size()) = shape;
      q.col(k) = skeleton.Integrate(skeleton.ZeroConfiguration(), v);
      seconds.push_back(static_cast<double>(k) / kPerComponent);
      frames.push_back(k);
    }
    SceneMotion along{.name = "along component 1, 2, ... in turn, a second each",
                      .source = space.scripted ? "reference" : "fitted"};
    AddHand(skeleton.name(), skeleton, q, frames, scene_.AddTimes(seconds), &scene_, &along);
    scene_.motions.push_back(std::move(along));
    ++apart_;
    SceneChannel held{
        .name = "variance within the components so far", .group = kVarianceGroup, .unit = "%"};
    double sum = 0.0;
    for (int k = 0; k <= d; ++k) {
      if (k > 0) sum += space.variance[k - 1];
      held.y.push_back(100 * sum / space.variance.sum());
      ends.push_back(k);
    }
    held.time = scene_.AddTimes(ends);
    held.motion = static_cast<int>(scene_.motions.size()) - 1;
    scene_.channels.push_back(std::move(held));
  }

  Status AddMotion(const ArtefactInfo& info) {
    HANDHOLD_ASSIGN(const artefact::Motion motion,
                    pipeline::LoadMotion(context_.library, info.hash));
    return AddMotion(info, motion);
  }

  Status AddMotion(const ArtefactInfo& info, const artefact::Motion& motion) {
    const std::vector<int> frames = ShownFrames(motion.times.size(), limits_.frames);
    const std::vector<double> seconds = SecondsOf(motion.times, frames);
    const int time = scene_.AddTimes(seconds);
    std::string name;
    for (const artefact::MotionObject& object : motion.objects)
      name += (name.empty() ? "" : ", ") + object.name;
    scene_.motions.push_back(
        {.name = info.provenance.step + " " + name, .source = "synthesised", .hash = info.hash});
    const int at = static_cast<int>(scene_.motions.size()) - 1;
    HANDHOLD_TRY(AddMotionNodes(motion, frames, time, &scene_, &scene_.motions.back()));
    std::map<std::string, const model::Skeleton*> hands;
    for (size_t i = 0; i < motion.hands.size(); ++i) {
      const model::Skeleton& skeleton = *motion.stage.hands[i].skeleton;
      hands[motion.hands[i].name] = &skeleton;
      AddAngles(motion.hands[i].dof_names, skeleton, motion.hands[i].q, nullptr, frames, time, at);
    }
    std::map<std::string, double> friction;
    for (const artefact::StageThing& thing : motion.stage.things)
      if (thing.friction) friction[thing.name] = *thing.friction;
    AddRows(motion.touches, motion.rows, motion.times, friction, frames, time, at);
    AddFingers(motion, hands, friction, at);
    AddHeights(motion, at);
    for (const artefact::Series& series : motion.series) {
      const bool is_grip = series.name.starts_with(synthesis::kGripScale);
      SceneChannel channel{.name = series.name,
                           .group = is_grip ? kGripGroup : "series",
                           .unit = series.unit,
                           .motion = at,
                           .time = time};
      for (const int k : frames) channel.y.push_back(series.values[k]);
      scene_.channels.push_back(std::move(channel));
    }
    for (const artefact::Phase& phase : motion.phases)
      scene_.events.push_back(
          {"mark", phase.range.begin.seconds(), phase.range.end.seconds(), phase.name, "phases"});
    if (motion.verdict.kind != artefact::Verdict::Kind::kNotJudged) {
      char when[32];
      std::snprintf(when, sizeof when, " at %.3f s", motion.verdict.when.seconds());
      scene_.motions.back().verdict =
          std::string(artefact::VerdictName(motion.verdict.kind)) + when +
          (motion.verdict.cause.empty() ? "" : ": " + motion.verdict.cause);
      scene_.events.push_back({"mark", motion.verdict.when.seconds(), motion.verdict.when.seconds(),
                               scene_.motions.back().verdict, "marks"});
    }
    Fact("motion", info.provenance, info.hash);
    return {};
  }

  const pipeline::StepContext& context_;
  const SceneLimits limits_;
  const Unreadable unreadable_;
  LoadedScene& out_;
  Scene& scene_;
  size_t apart_ = 0;                     // motions that are no other's ghost
  std::set<std::string> asked_, shown_;  // artefacts: by key, and in the scene
  std::map<size_t, int> touches_of_;     // which motion an event of the scene is of
};

}  // namespace

Result<LoadedScene> LoadScene(const pipeline::StepContext& context,
                              const std::vector<std::string>& keys, const SceneLimits& limits,
                              Unreadable unreadable) {
  LoadedScene loaded;
  Loader loader(context, limits, unreadable, &loaded);
  HANDHOLD_TRY(loader.Keys(keys));
  loader.Finish(keys);
  HANDHOLD_TRY(CheckScene(loaded.scene));
  return loaded;
}

}  // namespace handhold::report
