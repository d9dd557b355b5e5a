/// How much free movement bends within a window: the prior of the dynamic estimator's reference
/// polynomials.
///
/// Learned from stretches without contact, best from strokes in the air: they bend as strokes on a
/// surface would have. Tests:
/// tests/fitting/compliance/reference_prior_test.cc.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/contact_track.h"
#include "database/artefact/pose_track.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"

namespace handhold::fitting {

struct ReferencePrior {
  /// Variance of the Legendre coefficient of each degree (column) and dof (row), rad^2, over
  /// windows of `window`.
  Eigen::MatrixXd variance;
  /// Between dofs, nv x nv with ones on the diagonal, the same for all degrees: joints of one
  /// finger bend together. Empty: each for itself.
  Eigen::MatrixXd correlation;
  Duration window;
  int windows = 0;  ///< learned from
  /// Strokes in the air that all windows come from; 0: other free movement had to do.
  int strokes_in_the_air = 0;
  std::string source;  ///< for people
  bool empty() const { return variance.size() == 0; }
};

/// What stretches of free movement are.
enum class Stretches { kAnyMovement, kStrokes };

/// From all windows of `free` stretches in which the hand moves (mean speed above the median
/// window's), each fitted with degrees 0 .. `degree`; the variance that measurement noise alone
/// would give, told from what the polynomials leave, is subtracted, and degrees that do not stand
/// out of it are continued geometrically from those that do, slowly: what is too tight biases. The
/// correlation is that of degrees 3 and 4, shrunk by a tenth towards none. Fails with
/// kUnidentifiable when fewer than 20 windows are free.
Result<ReferencePrior> LearnReferencePrior(const model::Skeleton& skeleton,
                                           const artefact::PoseTrack& pose,
                                           const std::vector<TimeRange>& free, Duration window,
                                           int degree, Stretches kind = Stretches::kAnyMovement);

/// "stroke" events in which nothing is touched.
std::vector<TimeRange> StrokesInTheAir(const recording::ClipSource& clip,
                                       const artefact::ContactTrack& contact);

/// From the strokes in the air; where they are too few, from all free movement. Fails as
/// LearnReferencePrior does.
Result<ReferencePrior> ReferencePriorOfTake(const recording::ClipSource& clip,
                                            const model::Skeleton& skeleton,
                                            const artefact::PoseTrack& pose,
                                            const artefact::ContactTrack& contact, Duration window,
                                            int degree);

/// The stretches of `range` outside `busy` ranges widened by `margin` on both sides.
std::vector<TimeRange> FreeStretches(TimeRange range, std::vector<TimeRange> busy, Duration margin);

template <typename A>
void Visit(A& a, ReferencePrior& o) {
  a.Field("variance", o.variance);
  a.Field("correlation", o.correlation);
  a.Field("window_ns", o.window);
  a.Field("windows", o.windows);
  a.Field("strokes_in_the_air", o.strokes_in_the_air);
  a.Field("source", o.source);
}

}  // namespace handhold::fitting
