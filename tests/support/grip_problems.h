/// Contact problems of whole grips for the contact core: hand27 with a free, sprung root and a free
/// object on a table, 5 to 16 contacts of the hand and 4 of the table, objects of 1.2 to 300 g,
/// friction 0.2 to 1.
///
/// Two sources. Drawn ones put contacts on random bones of random postures, half with a memory of
/// random forces and stretches. Grips close the hand on a box step by step, so that memory and
/// forces belong together. Same seed, same problems (up to the last bits of sine and cosine).
#pragma once

#include <memory>
#include <vector>

#include "database/model/skeleton.h"
#include "synthesis/contact/contact_finder.h"
#include "synthesis/contact/contact_problem.h"
#include "tools/lab/random.h"

namespace handhold::testing {

inline constexpr double kGripStep_s = 0.002;

/// hand27's compliances as measured hands have them: fingers 0.5 to 2 rad/Nm, wrist 0.35 rad/Nm and
/// 1 mm/N.
Eigen::VectorXd GripCompliance(const model::Skeleton& hand);

/// One problem, ready to be assembled.
struct DrawnProblem {
  Eigen::VectorXd q;
  synthesis::CompliantStep step;
  synthesis::MovingBody object;
  std::vector<synthesis::Contact> contacts;   ///< the hand's, then 4 of the table
  std::vector<synthesis::Remembered> memory;  ///< one per contact, or none
};
DrawnProblem DrawProblem(const model::Skeleton& hand, int hand_contacts, lab::Random* random,
                         double stiffness_N_per_m = 5000.0);

/// The models, memory and problem of such a scene, reused from problem to problem.
class GripRig {
 public:
  explicit GripRig(const model::Skeleton& hand);
  /// Prepare, Assemble, Solve; Advance is the caller's.
  synthesis::ContactSummary Solve(const DrawnProblem& drawn,
                                  const synthesis::SolveOptions& options);
  void Load(const DrawnProblem& drawn);
  synthesis::ContactSummary AssembleAndSolve(const synthesis::SolveOptions& options);
  synthesis::ContactProblem problem;
  synthesis::CompliantTree tree;
  synthesis::FreeBody object;
  synthesis::ContactMemory memory;
  synthesis::ContactPoses poses;

 private:
  std::vector<synthesis::MotionModel*> models_;
  const DrawnProblem* drawn_ = nullptr;
};

/// A hand that closes on a box on a table.
class Grip {
 public:
  Grip(const model::Skeleton& hand, lab::Random* random);
  /// One step of 2 ms; the contacts it was found with stay readable.
  synthesis::ContactSummary Step(const synthesis::SolveOptions& options);
  int hand_contacts() const;
  bool over() const { return k_ >= 500; }
  synthesis::ContactProblem problem;
  synthesis::ContactSet contacts;
  std::vector<synthesis::MotionModel*> models;
  synthesis::ContactMemory memory;
  synthesis::ContactPoses poses;

 private:
  Eigen::VectorXd Reference(int k) const;
  const model::Skeleton& hand_;
  synthesis::CompliantTree tree_;
  std::unique_ptr<synthesis::FreeBody> object_;
  synthesis::ContactFinder finder_;
  synthesis::CompliantStep step_;
  Eigen::VectorXd open_, close_;
  int k_ = 0;
};

}  // namespace handhold::testing
