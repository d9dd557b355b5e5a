#include "tools/pipeline/interaction_findings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "database/geometry/rotation.h"
#include "database/model/kinematics.h"
#include "synthesis/contact/contact_finder.h"
#include "synthesis/interaction/replay.h"

namespace handhold::pipeline {
namespace {

using artefact::Motion;
using geometry::RigidTransform;
using geometry::Vec3;
using Is = artefact::StageThing::Is;

constexpr double kTellResidual_rad = 0.1;

Eigen::Matrix3Xd Forces(const Motion& motion) {
  return artefact::ForceOnHand(motion.touches, motion.rows, motion.times.size());
}

/// Of the sum of the hands' contact forces' sizes.
double PeakForce(const Motion& motion) {
  std::vector<double> sum(motion.times.size(), 0.0);
  for (const artefact::ContactRow& row : motion.rows) {
    if (motion.touches[static_cast<size_t>(row.touch)].a.is_hand())
      sum[static_cast<size_t>(row.frame)] += row.f_onA_W.norm();
  }
  return sum.empty() ? 0.0 : *std::max_element(sum.begin(), sum.end());
}

double TurnedAbout(const artefact::MotionObject& object, const Vec3& axis_W) {
  double angle = 0.0;
  for (size_t k = 1; k < object.X_WP.size(); ++k)
    angle +=
        (object.X_WP[k - 1].R * geometry::Log(object.X_WP[k - 1].R.transpose() * object.X_WP[k].R))
            .dot(axis_W);
  return angle;
}

/// From one frame of the hold to another, how far things went against the judged one.
void SummariseHold(const TimeRange& hold, const std::string& judged, Motion* motion) {
  auto& figures = motion->summary.figures;
  const artefact::MotionObject& object = *motion->FindObject(judged);
  const auto frame = [&](Timestamp t) {
    const auto at = std::lower_bound(motion->times.begin(), motion->times.end(), t);
    return static_cast<size_t>(std::distance(motion->times.begin(), at)) -
           (at == motion->times.end() ? 1 : 0);
  };
  const size_t begin = frame(hold.begin), end = frame(hold.end), half = (begin + end) / 2;
  figures["lifted_m"] = object.pose(end).p.z() - object.pose(0).p.z();
  if (end > half) {
    figures["creep_m_per_s"] = (object.pose(end).p - object.pose(half).p).norm() /
                               (motion->times[end] - motion->times[half]).seconds();
  }
  for (const artefact::StageThing& thing : motion->stage.things) {
    if (thing.is != artefact::StageThing::Is::kFree || thing.name == judged) continue;
    const artefact::MotionObject& other = *motion->FindObject(thing.name);
    const RigidTransform at_begin = object.pose(begin).Inverse() * other.pose(begin);
    double shift_m = 0.0;
    for (size_t k = begin; k <= end; ++k) {
      const RigidTransform now = object.pose(k).Inverse() * other.pose(k);
      shift_m = std::max(shift_m, (now.p - at_begin.p).norm());
    }
    figures["shift_m." + other.name] = shift_m;
  }
}

/// How often hands touch, and how much of that slides.
void AddShares(Motion* motion) {
  std::vector<char> touched(motion->times.size(), 0);
  double rows = 0, sliding = 0;
  for (const artefact::ContactRow& row : motion->rows) {
    if (!motion->touches[static_cast<size_t>(row.touch)].a.is_hand()) continue;
    touched[static_cast<size_t>(row.frame)] = 1;
    rows += 1, sliding += row.slip_m_per_s > 1e-3;
  }
  const auto frames = static_cast<double>(std::max<size_t>(1, touched.size()));
  motion->summary.figures.insert(
      {{"contact_share", static_cast<double>(std::ranges::count(touched, 1)) / frames},
       {"slip_share", sliding / std::max(1.0, rows)}});
}

/// Least distance of the hands' round shapes to the things over the motion, 600 frames at the most;
/// infinity when the hands have none.
Result<double> NearestApproach(const Motion& motion) {
  synthesis::ContactFinder finder;
  synthesis::ContactPoses poses;
  std::vector<model::KinematicsData> hands;
  hands.reserve(motion.hands.size());
  for (size_t i = 0; i < motion.hands.size(); ++i) {
    const model::Skeleton& hand = *motion.stage.hands[i].skeleton;
    HANDHOLD_ASSIGN([[maybe_unused]] const std::vector<std::string> unusable,
                    finder.AddSkeleton(hand, static_cast<int>(i)));
    poses.trees.push_back(hands.emplace_back(hand).X_WB);
  }
  poses.fixed.resize(motion.objects.size());
  for (size_t i = 0; i < motion.objects.size(); ++i) {
    HANDHOLD_TRY(finder.AddProp(*motion.stage.things[i].prop,
                                synthesis::ContactSide::Fixed(static_cast<int>(i))));
  }
  synthesis::ContactSet contacts;
  double nearest_m = std::numeric_limits<double>::infinity();
  const size_t frames = motion.times.size(), step = std::max<size_t>(1, frames / 600);
  for (size_t k = 0; k < frames; k += step) {
    for (size_t i = 0; i < hands.size(); ++i) {
      model::ComputePoses<double>(*motion.stage.hands[i].skeleton,
                                  motion.hands[i].q.col(static_cast<Eigen::Index>(k)), &hands[i]);
    }
    for (size_t i = 0; i < poses.fixed.size(); ++i) poses.fixed[i] = motion.objects[i].pose(k);
    HANDHOLD_TRY(finder.Find(poses, std::min(nearest_m, 100.0), &contacts));
    for (const synthesis::Contact& c : contacts) {
      if (c.a.kind == synthesis::ContactSide::Kind::kLink && c.b.fixed())
        nearest_m = std::min(nearest_m, c.separation_m);
    }
  }
  return nearest_m;
}

/// Touches that press more than kJamForce times as hard as when they were captured.
std::optional<Issue> Jams(const artefact::ContactTrack& captured, const Motion& motion) {
  const Eigen::Matrix3Xd force = Forces(motion);
  const Eigen::Matrix3Xd felt =
      artefact::ForceOnHand(captured.touches, captured.rows, captured.times.size());
  const size_t count = captured.touches.size();
  int jams = 0, touches = 0;
  double worst = 0, worst_N = 0;
  Timestamp at;
  for (size_t p = 0; p < count; ++p) {
    const artefact::Touch& touch = captured.touches[p];
    // On another surface a touch begins and ends elsewhere: up to halfway to its neighbours.
    const auto halfway = [](Timestamp a, Timestamp b) {
      return a + Duration::Nanoseconds((b - a).ns() / 2);
    };
    const TimeRange around{
        p == 0 ? motion.times.front() : halfway(captured.touches[p - 1].release, touch.onset),
        p + 1 == count ? motion.times.back() + Duration::Nanoseconds(1)
                       : halfway(touch.release, captured.touches[p + 1].onset)};
    double captured_N = 0, peak_N = 0;
    for (size_t k = 0; k < captured.times.size(); ++k) {
      if (!around.Contains(captured.times[k])) continue;
      const Vec3 f = felt.col(static_cast<Eigen::Index>(k));
      if (f.allFinite()) captured_N = std::max(captured_N, f.norm());
    }
    Timestamp peak_at;
    for (size_t k = 0; k < motion.times.size(); ++k) {
      const double f_N = force.col(static_cast<Eigen::Index>(k)).norm();
      if (!around.Contains(motion.times[k]) || f_N <= peak_N) continue;
      peak_N = f_N, peak_at = motion.times[k];
    }
    touches += peak_N > 0;
    if (!(captured_N > 0) || peak_N <= synthesis::kJamForce * captured_N) continue;
    ++jams;
    if (peak_N / captured_N > worst) worst = peak_N / captured_N, worst_N = peak_N, at = peak_at;
  }
  if (jams == 0) return std::nullopt;
  char text[400];
  std::snprintf(text, sizeof text,
                "%d of %d touches jam: they press more than %g times as hard as when they were "
                "captured, the worst %.1f times, %.3g N at %.2f s; there the hand is caught, and "
                "force and path hang on every compliance",
                jams, touches, synthesis::kJamForce, worst, worst_N, (at - Timestamp()).seconds());
  std::string what = text;
  if (!motion.stage.hands.front().assumed_dofs.empty()) {
    what += " (assumed for";
    for (const std::string& dof : motion.stage.hands.front().assumed_dofs) what += " " + dof;
    what += ")";
  }
  return Issue{"jam", Severity::kWarning, what};
}

/// Where no pose was fitted the reference goes straight from one frame to the next.
std::optional<Issue> Gaps(const artefact::InteractionTrajectory& played, const Motion& motion) {
  const Duration bridged = Duration::Milliseconds(50);
  Duration sum, longest;
  Timestamp at;
  int gaps = 0;
  for (size_t k = 1; k < played.times.size(); ++k) {
    const Duration gap = played.times[k] - played.times[k - 1];
    if (gap <= bridged || played.times[k] <= motion.times.front() ||
        played.times[k - 1] >= motion.times.back())
      continue;
    ++gaps;
    sum = sum + gap;
    if (gap > longest) longest = gap, at = played.times[k - 1];
  }
  if (gaps == 0) return std::nullopt;
  char text[200];
  std::snprintf(text, sizeof text,
                "%.2f s without a fitted pose are bridged by straight lines (%d gaps, the "
                "longest %.2f s at %.2f s)",
                sum.seconds(), gaps, longest.seconds(), (at - Timestamp()).seconds());
  return Issue{"reference", Severity::kWarning, text};
}

/// The sites that touch in either motion.
std::vector<int> TouchingSites(const model::Skeleton& hand, const Motion& a, const Motion& b) {
  std::vector<int> sites;
  for (const Motion* motion : {&a, &b}) {
    for (const artefact::Touch& touch : motion->touches) {
      const int site = hand.FindSite(touch.a.site);
      if (site >= 0 && std::find(sites.begin(), sites.end(), site) == sites.end())
        sites.push_back(site);
    }
  }
  return sites;
}

}  // namespace

Status AddFigures(Motion* motion) {
  auto& figures = motion->summary.figures;
  const artefact::Stage& stage = motion->stage;
  AddShares(motion);
  const artefact::Series* const residual = motion->FindSeries(synthesis::kLcpResidual);
  figures.insert({{"peak_force_N", PeakForce(*motion)},
                  {"equilibrium_residual_max_rad", synthesis::LargestResidual_rad(*motion)},
                  {"lcp_residual_max", residual == nullptr ? 0.0 : residual->values.maxCoeff()},
                  {"lcp_failures", synthesis::UnsolvedSteps(*motion)}});
  if (figures.at("contact_share") == 0.0 && !stage.things.empty()) {
    HANDHOLD_ASSIGN(const double nearest_m, NearestApproach(*motion));
    if (std::isfinite(nearest_m)) figures["nearest_approach_m"] = nearest_m;
  }
  if (const artefact::StageThing* table = stage.FindThing("table"))
    figures["table_top_m"] = table->X_WP->p.z();
  for (const artefact::StageThing& thing : stage.things) {
    if (thing.is == Is::kPivot)
      figures["turned_rad." + thing.name] =
          TurnedAbout(*motion->FindObject(thing.name), artefact::BearingOf(thing).axis_W);
  }
  if (stage.Judged() != nullptr && stage.hold)
    SummariseHold(*stage.hold, stage.Judged()->name, motion);
  return {};
}

void AddFindings(const artefact::InteractionTrajectory* played,
                 const artefact::ContactTrack* captured, Motion* motion) {
  Issues& issues = motion->summary.issues;
  const auto& figures = motion->summary.figures;
  if (played != nullptr) {
    if (const std::optional<Issue> gaps = Gaps(*played, *motion)) issues.push_back(*gaps);
  }
  char text[200];
  if (const double off_rad = figures.at("equilibrium_residual_max_rad");
      off_rad > kTellResidual_rad) {
    std::snprintf(
        text, sizeof text,
        "out of balance by %.2f rad at the most, a sound replay by less than 0.05: is the "
        "surface closed, is an assumed compliance too large?",
        off_rad);
    issues.push_back({"balance", Severity::kWarning, text});
  }
  if (figures.at("contact_share") == 0.0 && !motion->objects.empty()) {
    std::string how;
    if (const auto nearest = figures.find("nearest_approach_m"); nearest != figures.end()) {
      std::snprintf(text, sizeof text, "; it comes no nearer than %.3g mm", 1e3 * nearest->second);
      how = text;
    }
    issues.push_back({"contact", Severity::kWarning,
                      "the hand never touches '" + motion->objects.back().name + "'" + how +
                          ": --prop-pose places it elsewhere, --from and --to choose when"});
  }
  if (captured != nullptr) {
    if (const std::optional<Issue> jams = Jams(*captured, *motion)) issues.push_back(*jams);
  }
  if (const int failures = synthesis::UnsolvedSteps(*motion); failures > 0) {
    issues.push_back({"contact", Severity::kLoss,
                      std::to_string(failures) +
                          " steps of contact were not solved: their forces are within the cones of "
                          "friction but not in balance"});
  }
}

void TellAsCaptured(Motion* motion) {
  // Eq. 1 made the reference from the very motion and forces that this gives back.
  const bool assumed = !motion->stage.hands.front().assumed_dofs.empty();
  motion->summary.issues.push_back(
      {"surface", assumed ? Severity::kWarning : Severity::kNote,
       "the captured surface as it was captured: the replay gives back what was recorded, "
       "whatever the compliances are" +
           std::string(assumed ? ", assumed ones too" : "") +
           "; it shows that the fits agree with each other, not that they are right (--prop, "
           "--prop-pose or --friction choose what was not captured)"});
}

artefact::MotionVariant Difference(const Motion& a, const Motion& b, double factor,
                                   std::string hash) {
  const model::Skeleton& hand = *a.stage.hands.front().skeleton;
  artefact::MotionVariant out{.factor = factor, .motion = std::move(hash)};
  const Eigen::Matrix3Xd fa = Forces(a), fb = Forces(b);
  out.peak_force_N = PeakForce(b);
  model::KinematicsData data(hand);
  const std::vector<int> sites = TouchingSites(hand, a, b);
  const auto places = [&](const Motion& motion, Eigen::Index k) {
    model::ComputePoses<double>(hand, motion.hands.front().q.col(k), &data);
    Eigen::Matrix3Xd p(3, static_cast<Eigen::Index>(sites.size()));
    for (size_t i = 0; i < sites.size(); ++i) {
      const model::ContactSite& site = hand.sites()[static_cast<size_t>(sites[i])];
      p.col(static_cast<Eigen::Index>(i)) = data.X_WB[static_cast<size_t>(site.body)] * site.p_BS;
    }
    return p;
  };
  double frames = 0;
  for (Eigen::Index k = 0; k < std::min(fa.cols(), fb.cols()); ++k) {
    if (fa.col(k).isZero() && fb.col(k).isZero()) continue;
    frames += 1;
    out.force_rms_N += (fa.col(k) - fb.col(k)).squaredNorm();
    if (!sites.empty())
      out.site_rms_m += (places(a, k) - places(b, k)).colwise().squaredNorm().mean();
  }
  out.force_rms_N = std::sqrt(out.force_rms_N / std::max(1.0, frames));
  out.site_rms_m = std::sqrt(out.site_rms_m / std::max(1.0, frames));
  return out;
}

}  // namespace handhold::pipeline
