/// Can these contacts hold that load? Least normal forces on exact friction cones, the margin of a
/// grip, and the scores that rank grasps.
///
/// Everything in one frame of the object, O: contacts push on the object. Wrenches are (torque
/// about O's origin, force), as in geometry/transform.h, and torques are divided by a length so
/// that the two compare. Cones are round, not polyhedra: the columns of a 6-row simplex are
/// generated, each the ray of a cone that helps most. A sliding contact is one ray: its friction is
/// given by the slide. Pinned by tests/synthesis/contact/force_feasibility_test.cc; speed:
/// `contact.force_test`.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "database/geometry/transform.h"

namespace handhold::synthesis {

struct ForceContact {
  geometry::Vec3 p_O = geometry::Vec3::Zero();
  geometry::Vec3 normal_O = geometry::Vec3::UnitZ();  ///< unit, into the object: the way it pushes
  double friction = 0.5;
  double weight = 1.0;  ///< cost of a newton of normal force, > 0: 0.01 for a table, 1 for a finger
  /// Where it slides over the object (any length > 0; its tangential part counts): friction then
  /// drags the object that way with all of mu. nullopt: it may stick.
  std::optional<geometry::Vec3> slides_O = std::nullopt;
};

struct ForceOptions {
  double length_m = 0.05;     ///< torques are divided by it
  double min_normal_N = 0.0;  ///< every contact that does not slide presses at least so much along
                              ///< its normal, this share of it carrying no friction
  double max_total_N = 1e3;   ///< of normal forces, unweighted
  double friction_scale = 1.0;  ///< on every contact's friction: 0.8 leaves a margin
  double tolerance = 1e-4;      ///< the cost found is within this share of the least
  int max_iterations = 300;
};

enum class ForceOutcome {
  kBalanced,
  kImpossible,    ///< no admissible forces below max_total_N balance the wrench, or next to none
  kTooMuch,       ///< they balance, but need more than max_total_N
  kNotConverged,  ///< neither found nor disproved: contacts that nearly coincide, or a load that is
                  ///< not finite
};

struct ForceAnswer {
  ForceOutcome outcome = ForceOutcome::kNotConverged;
  std::vector<geometry::Vec3> f_O;  ///< per contact, on the object; their wrenches sum to the one
                                    ///< asked for, to 1e-8 of it, where kBalanced or kTooMuch
  double total_N = 0.0;             ///< sum of normal forces
  int iterations = 0;
  /// Where kImpossible: a direction (torque / length, force) in which the load pulls and no contact
  /// pushes.
  geometry::Vec6 missing = geometry::Vec6::Zero();
};

/// Scratch of ScoreGrasp, reused between calls. SolveLeastForce and GripMargin need none (an answer
/// allocates when its f_O grows; GripMargin one per call); ScoreGrasp allocates in any case.
struct ForceWorkspace {
  std::vector<geometry::Vec6> columns;
};

/// Least weighted sum of normal forces with which the contacts give the object the wrench w_O (to
/// hold it still: minus what gravity and inertia ask). Where these are more than max_total_N in
/// newtons, least newtons instead, whatever the weights: kTooMuch only when these are too many as
/// well.
void SolveLeastForce(std::span<const ForceContact> contacts, const geometry::Vec6& w_O,
                     const ForceOptions& options, ForceWorkspace* workspace, ForceAnswer* answer);

/// 1 - the least share of every friction coefficient with which w_O can still be balanced below
/// max_total_N: 0 is a grip about to slip, 1 needs no friction; negative: it does not hold, even at
/// -1 not with twice the friction. To 1/256.
double GripMargin(std::span<const ForceContact> contacts, const geometry::Vec6& w_O,
                  const ForceOptions& options, ForceWorkspace* workspace);

/// What a grasp is worth, without a load (definitions: the names by which the grasp search ranks).
struct GraspScores {
  /// Radius of the largest ball of wrenches that unit normal forces in all can give (L1, round
  /// cones); from 192 directions and descent: an upper bound; 0 where the cones' edges do
  /// not balance or one of fmax_N's six forces cannot be had.
  double epsilon = 0.0;
  double fmax_N = 0.0;  ///< most normal force needed for a force of 1 N, torque 0, along +-x, +-y,
                        ///< +-z; infinity where one of them cannot be had
  double dfc = 0.0;     ///< |sum of unit normal wrenches| / n: 0 is balanced
  double net = 0.0;     ///< least |sum of a_i normal wrenches|, a >= 0, sum a = 1
  double min_weight = 0.0;  ///< largest l for which cone edges (8 per contact) balance with weights
                            ///< >= l that sum to 1, times their number: 1 is even, 0 where they do
                            ///< not balance
};
GraspScores ScoreGrasp(std::span<const ForceContact> contacts, const ForceOptions& options,
                       ForceWorkspace* workspace);
double EpsilonBound(std::span<const ForceContact> contacts, const ForceOptions& options);

}  // namespace handhold::synthesis
