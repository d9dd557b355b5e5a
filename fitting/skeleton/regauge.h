/// Conventions that no marker sees, chosen after a fit so that the hand reads like its template:
/// hinge origins in the finger, joint zeros and limits where the bones have the template's angles.
///
/// A fit keeps hinge origins at the template's place along their axes and leaves joint zeros where
/// the priors let them drift: a template laid 15 mm beside the hand puts every origin 15 mm beside
/// the finger, and one with other bones turns body frames, and with them limits and centres of
/// mass, by up to 26 degrees. Every pose stays as it was, up to one constant per angle. Internal to
/// the skeleton fit. Tests: tests/fitting/skeleton/regauge_test.cc.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/rotation.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

/// An origin is put elsewhere along its axis from here on: markers glued 2 mm elsewhere than on the
/// template explain less.
inline constexpr double kLeastOriginMove_m = 3e-3;

struct Regauged {
  model::Skeleton skeleton;
  Eigen::VectorXd angle_change;        ///< nv, to add to angles of the hand given; hinges only
  std::vector<double> origin_moved_m;  ///< per body, along its hinge's axis
};

/// `fitted`, markers, joint frames and the frame `tip` (-1: none was fitted) as they were found,
/// everything else still the template's. Hinges only; ball, universal and free joints keep their
/// conventions.
Result<Regauged> Regauge(const model::Skeleton& fitted, const model::Skeleton& original, int tip);

/// Hinges whose whole range is 30 degrees or less (the metacarpals of ring and little finger) with
/// their zeros shifted by as little as brings the angles of `poses` between their limits; of a
/// range that is too wide, to its middle. Zeros by bones alone put such a joint beyond its own
/// limits, which then bend every pose.
Result<Regauged> WithinNarrowLimits(const model::Skeleton& fitted,
                                    const std::vector<Eigen::VectorXd>& poses, int tip);

/// The turn that takes a body's bone in `original` (from its joint to the joints on it, or to
/// `tip`) onto that in `fitted`; identity where either is shorter than 5 mm or none.
geometry::Mat3 BoneTurn(const model::Skeleton& fitted, const model::Skeleton& original, int body,
                        int tip);

}  // namespace handhold::fitting
