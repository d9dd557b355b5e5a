/// A grip that adjusts itself: compliances shrink where an object is about to slip, or has slipped
/// (Kry & Pai 2006, section 8.1).
///
/// Two reactions, by what the hand can know. Anticipation: the ratio of friction to normal force
/// comes near the surface's coefficient, and the grip tightens at the next step. Reflex: the object
/// slides, and the grip tightens a reaction time later. Either way the compliances C of the fingers
/// are scaled down, not the reference: bent fingers then press harder by their own springs. The
/// dampers stay as they are, so the time constants T = damper x C scale with C. The scale never
/// rises again and never falls below a floor; it depends on the steps observed alone, so the same
/// run has the same bits. Pinned by tests/synthesis/interaction/grip_adjustment_test.cc.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/contact_set.h"
#include "synthesis/interaction/step.h"

namespace handhold::synthesis {

enum class GripKind {
  kNone,
  kReflex,      ///< on slip, after a reaction time: what nobody could foresee
  kAnticipate,  ///< before it slips: what is seen, or felt coming
};

/// Thresholds 0.9 mu and 0.2 N and the 100 ms are the paper's; the slip threshold, the factors and
/// the floor are ours (the paper says "a small factor").
struct GripOptions {
  GripKind kind = GripKind::kNone;
  double force_N = 0.2;             ///< contacts that carry less say nothing, slip included
  double ratio_share = 0.9;         ///< anticipation: of mu, friction to normal force
  double anticipate_factor = 0.99;  ///< on C, per kGripPace_s
  double slip_m_per_s = 1e-2;   ///< reflex: faster than this is a slip; a thumb that closes on a
                                ///< box rubs along it with some 5 mm/s
  double reaction_s = 0.1;      ///< from slip to tightening
  double reflex_factor = 0.97;  ///< on C, per kGripPace_s of slip
  double smallest_scale = 0.2;  ///< C shrinks no further: a human grip has an end too
};

/// What the factors are per, whatever the step: a step of h scales by factor^(h / pace).
inline constexpr double kGripPace_s = 0.002;

/// kInvalid, naming the number: factors and floor lie in (0, 1], all others are finite and >= 0.
Status CheckGrip(const GripOptions& options);

/// Watches one hand's contacts with the scene's bodies (kLink of its tree against kBody: fixed
/// things and other hands are no objects) and says how far its fingers have tightened. Any such
/// contact tightens the fingers together; a wrist, an arm and a free root keep their compliance.
/// Allocates in the constructor only.
class GripAdjuster {
 public:
  /// Precondition: CheckGrip passes, step_s > 0. `tree`: the hand's number in ContactSide.
  GripAdjuster(const model::Skeleton& skeleton, int tree, const GripOptions& options,
               double step_s);

  /// After every step, with its contacts and their forces (HandForce acts on side a).
  void Observe(std::span<const Contact> contacts, std::span<const HandForce> forces);

  /// On C and T of the next step, nv; 1 where nothing is adjusted.
  const Eigen::VectorXd& scale() const { return scale_; }
  /// The fingers' scale: 1 at first, never below smallest_scale.
  double finger_scale() const { return finger_scale_; }
  /// Scales the step's compliances, and its time constants where it has any.
  void Apply(HandStep* hand) const;

 private:
  GripOptions options_;
  int tree_;
  double factor_;              ///< per step
  std::vector<char> fingers_;  ///< nv: 1 for velocities of fingers
  std::vector<char> slipped_;  ///< reflex: a ring of the last steps, oldest at next_
  size_t next_ = 0;
  Eigen::VectorXd scale_;
  double finger_scale_ = 1.0;
};

/// Which velocities are a finger's, nv: those of joints beyond the last body that all branches
/// share (the palm), free joints never. A hand of one branch is a finger whole.
std::vector<char> FingerDofs(const model::Skeleton& skeleton);

template <typename A>
void Visit(A& a, GripOptions& o) {
  a.Choice("kind", o.kind, {"none", "reflex", "anticipate"});
  a.Field("force_N", o.force_N);
  a.Field("ratio_share", o.ratio_share);
  a.Field("anticipate_factor", o.anticipate_factor);
  a.Field("slip_m_per_s", o.slip_m_per_s);
  a.Field("reaction_s", o.reaction_s);
  a.Field("reflex_factor", o.reflex_factor);
  a.Field("smallest_scale", o.smallest_scale);
}

}  // namespace handhold::synthesis
