/// The hand itself from a recording: where joints sit, which way their axes point, where markers
/// are glued, with covariance.
///
/// All frames and all parameters together (bundle adjustment): parameters are a twist per joint
/// frame and an offset per marker, poses are eliminated frame by frame. Gauges, which no data can
/// fix, are conventions chosen after the fit (regauge.h): a hinge's zero, and with it its limits,
/// is where its bones meet as the template's do; its origin lies in the finger, as the template's
/// does between its markers; a ball's and a free joint's whole orientation is the template's.
/// Angles of two fits of one hand may still differ by one constant per joint. The end segment's
/// length is not seen by markers: it comes from contact (the fingertip is a sphere that rests on a
/// known surface) or is named as not determined. Tests:
/// tests/fitting/skeleton/skeleton_fit_test.cc.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "fitting/skeleton/pose_fit.h"

namespace handhold::fitting {

inline constexpr int kSkeletonFitVersion = 5;

/// A fit beyond the first three, RMS, is refused; beyond the others the summary warns.
inline constexpr double kMostMarkerRms_m = 3e-3, kMostContactDistance_m = 5e-4,
                        kMostContactAxis_m = 7.5e-4;
inline constexpr double kTellContactAxis_m = 4e-4;
/// The thumb's MCP is a universal joint that turns by 20 degrees only about its second axis: its
/// centre along the first slid by 11 to 50 mm with little noise or skin. It is held to the
/// template's by this prior, as a hinge's is by convention; the sds say so.
inline constexpr double kHeldCentrePriorSd_m = 2.5e-3;
/// Of any parameter from the template, in standard deviations of its prior.
inline constexpr double kFurthestFromTemplate = 5.0;

/// Something of known shape and place that the fingertip touches. `prop` must outlive the call.
struct TouchedSurface {
  const model::Prop* prop = nullptr;
  geometry::RigidTransform X_WP;
  std::string force_sensor;  ///< that feels it; empty: the clip's first
  /// The recording of the touching where it is another than that of the range of motion; null: the
  /// same. Must outlive the call.
  const recording::ClipSource* clip = nullptr;
};

struct SkeletonFitOptions {
  std::string marker_stream = {};       ///< empty: the clip's first marker stream
  std::optional<TimeRange> range = {};  ///< clip time of the range of motion; empty: all
  int frames = 150;                     ///< used, chosen to spread over the joints' ranges
  double marker_sd_m = 1e-4;            ///< starting value; the residual decides
  /// The farthest that skin is thought to carry a marker along its bone, with the posture. 0: the
  /// residual is noise, and decides how far the hand is known. Set: it does not, since a hand bends
  /// to follow its skin; frames then say less, the template more (its priors are at most 5 mm and
  /// 0.1 rad), and sds hold what skin may do.
  double skin_m = 0.0;
  /// How far the template may be off: standard deviations of weak priors. A direction whose data do
  /// not beat its prior threefold is not determined.
  double centre_prior_sd_m = 0.02;
  double axis_prior_sd_rad = 0.2;
  double marker_prior_sd_m = 0.02;
  std::optional<TouchedSurface> surface = {};  ///< set: the end segment is fitted from contact
  /// The contact site that touches the surface, on a fingertip; empty: the hand's only one.
  std::string site = {};
  int contact_frames = 150;
  double contact_force_N = 0.5;  ///< frames with at least this normal force are used
  /// Fails with kUnidentifiable on any direction not determined. Off: the value stays near the
  /// template's and the summary names it.
  bool require_all = false;
  /// Asked at every iteration; false cancels (kCancelled). Empty: always true.
  std::function<bool()> keep_going = {};
};

/// A length a person can check: between the axes (or centres) of two joints, or from the last joint
/// to the fingertip.
struct SegmentLength {
  std::string name;  ///< "wrist-mp", "dip-tip"; of hands with several fingers "index.mcp-pip"
  double length_m = 0.0, sd_m = 0.0, template_m = 0.0;
  std::string source;  ///< "markers", "contact", "prior" (not determined: near the template's, the
                       ///< sd is the prior's) or "template" (unchanged)
};

struct SkeletonFitSummary {
  int frames = 0, contact_frames = 0;
  double marker_rms_m = 0.0;  ///< |measured - modelled|
  double marker_sd_m = 0.0;   ///< one axis, from the residual and its degrees of freedom
  double take_sd_m = 0.0;  ///< one axis, from jumps between frames alone (take_noise.h); 0: unknown
  std::map<std::string, double> marker_rms_by_name_m;
  /// Over the frames in contact, 0 without: fingertip's surface to the touched surface, and the
  /// touched point to the wrench's axis.
  double contact_distance_rms_m = 0.0, contact_axis_rms_m = 0.0;
  std::vector<std::string> parameter_names;  ///< "mp.centre.x", "mp.axis.1", "R.IND.PRX.1.y",
                                             ///< "index.tip.x": in the body's frame
  Eigen::VectorXd parameter_change;  ///< fitted - template, m or rad, by the template's conventions
  Eigen::MatrixXd covariance;  ///< of the parameters about the fitted hand, weak priors included:
                               ///< along gauges the prior alone
  std::vector<SegmentLength> lengths;
  std::vector<std::string> gauges;        ///< conventions, in words
  std::vector<std::string> undetermined;  ///< directions the data leave open, each naming its
                                          ///< largest parameters
  /// Joints that no marker would determine if the ranges of some of their angles were not so narrow
  /// (joint_range.h).
  std::vector<std::string> held_by_range;
  Issues issues;
  std::string Brief() const;
};

struct SkeletonFit {
  model::Skeleton skeleton;
  SkeletonFitSummary summary;
};

/// What disagrees is refused rather than averaged. Measured on the virtual subject (markers of 0.05
/// to 0.3 mm, skin slip, 0.2 N of drift; tests/fitting/skeleton/skeleton_contact_test.cc): a right
/// setup leaves the touched point at most 0.3 mm RMS from the wrench axis; a plate 5 mm out of
/// place 1.5 mm, a reversed force sign 16 mm. Two labels that stand
/// for each other throughout are refused by name (kInvalid), when the hand leaves far less with
/// them exchanged, or as little and the template much less. Beyond 0.7 mm RMS a warning remains.
///
/// Begins with the template as it is; where that ends nowhere, or far from the noise, again with
/// the template in the place and size that the markers show (start.h), and says so.
///
/// Fails with kNotFound, kInvalid, kUnidentifiable (too few markers or motion; or require_all),
/// kNotConverged (markers further than kMostMarkerRms_m from the hand, or a hand more than
/// kFurthestFromTemplate priors from its template), kInvalid (the touched surface and the
/// sensor do not agree with the markers: kMostContactDistance_m, kMostContactAxis_m).
/// Cost: seconds for 150 frames of a finger.
Result<SkeletonFit> FitSkeleton(const recording::ClipSource& clip,
                                const model::Skeleton& template_skeleton,
                                const SkeletonFitOptions& options = {});

/// Without the surface, which is an input of its own.
template <typename A>
void Visit(A& a, SkeletonFitOptions& o) {
  using artefact::About;
  a.Field("marker_stream", o.marker_stream);
  a.Field("range_ns", o.range, About{.help = "clip time"});
  a.Field("frames", o.frames);
  a.Field("marker_sd_m", o.marker_sd_m);
  a.Field("skin_m", o.skin_m,
          About{.help = "the farthest that skin carries a marker; 0: none, all is noise",
                .value = "METRES",
                .least = 0.0,
                .most = 0.05});
  a.Field("centre_prior_sd_m", o.centre_prior_sd_m);
  a.Field("axis_prior_sd_rad", o.axis_prior_sd_rad);
  a.Field("marker_prior_sd_m", o.marker_prior_sd_m);
  a.Skip(o.surface);
  a.Field("site", o.site,
          About{.help = "contact site that touches the surface; default: the hand's only one",
                .value = "NAME"});
  a.Field("contact_frames", o.contact_frames);
  a.Field("contact_force_N", o.contact_force_N);
  a.Field("require_all", o.require_all);
  a.Skip(o.keep_going);
}
template <typename A>
void Visit(A& a, SegmentLength& o) {
  a.Field("name", o.name);
  a.Field("length_m", o.length_m);
  a.Field("sd_m", o.sd_m);
  a.Field("template_m", o.template_m);
  a.Field("source", o.source);
}
template <typename A>
void Visit(A& a, SkeletonFitSummary& o) {
  a.Field("frames", o.frames);
  a.Field("contact_frames", o.contact_frames);
  a.Field("marker_rms_m", o.marker_rms_m);
  a.Field("marker_sd_m", o.marker_sd_m);
  a.Field("take_sd_m", o.take_sd_m);
  a.Field("marker_rms_by_name_m", o.marker_rms_by_name_m);
  a.Field("held_by_range", o.held_by_range);
  a.Field("contact_distance_rms_m", o.contact_distance_rms_m);
  a.Field("contact_axis_rms_m", o.contact_axis_rms_m);
  a.Field("parameter_names", o.parameter_names);
  a.Field("parameter_change", o.parameter_change);
  a.Field("covariance", o.covariance);
  a.Field("lengths", o.lengths);
  a.Field("gauges", o.gauges);
  a.Field("undetermined", o.undetermined);
  a.Field("issues", o.issues);
}

}  // namespace handhold::fitting
