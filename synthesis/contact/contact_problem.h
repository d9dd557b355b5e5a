/// All contacts and joint limits of one step as one problem, and its solution: the contact core of
/// every method.
///
///   motion of a against b:  du = u + G f,   G = J W J^T + surface compliance,   u = J x0
///   per contact:            0 <= f_n  _|_  s + du_n >= 0,   friction at Coulomb's bound against
///   slip per limit:              0 <= f    _|_  gap + du >= 0
///
/// (Kry & Pai 2006, eqs. 9 and 10, in absolute form.) A surface of stiffness k and damping c gives
/// under each row by c_n = 1 / (k + c / h), downwards and, as the stretch that friction carries,
/// sideways; with it G is positive definite, and every problem of the suite is solved
/// (contact_suite_test.cc); with rigid surfaces nearly all are.
///
/// Solved by Lemke on a cone of `sides` directions, and when that fails by block Gauss-Seidel on
/// the round cone; ContactSummary says who solved it. One ContactProblem per scene, reused from
/// step to step: its arrays grow and stay, and then nothing allocates. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "synthesis/contact/contact_memory.h"
#include "synthesis/contact/contact_set.h"
#include "synthesis/contact/grown.h"
#include "synthesis/contact/lcp.h"
#include "synthesis/contact/motion_model.h"

namespace handhold::synthesis {

enum class ContactSolver {
  kLemkeThenGaussSeidel,
  kGaussSeidel,  ///< round cone, warm from the contacts' last forces; wants surface compliance
};

struct SolveOptions {
  ContactSolver solver = ContactSolver::kLemkeThenGaussSeidel;
  int sides = 8;  ///< directions of friction per contact, 2m of 7.1.1; even, >= 4. 4 slip at 0.71
                  ///< mu, 8 at 0.92 mu at the worst
  LcpOptions lcp = {};
  int max_sweeps = 2000;      ///< of Gauss-Seidel
  double tolerance_N = 1e-7;  ///< its residual, newtons, beyond which it is not solved: x (1 +
                              ///< the largest force)
};

enum class SolvedBy {
  kNothing,  ///< no contact, no limit
  kLemke,
  kGaussSeidel,
  kNobody,  ///< forces are the best that Gauss-Seidel found: admissible (inside their cones), not
            ///< in balance by `residual_N`. A caller must look.
};
const char* SolvedByName(SolvedBy by);

struct ContactSummary {
  SolvedBy solved_by = SolvedBy::kNobody;
  LcpSummary lcp;           ///< what Lemke said, where it was asked
  int sweeps = 0;           ///< of Gauss-Seidel
  double residual_N = 0.0;  ///< how far the forces are from the solution of the cone used, newtons
  bool solved() const { return solved_by != SolvedBy::kNobody; }
};

/// Counts over many steps: no failure goes unseen.
struct SolveCounts {
  std::int64_t steps = 0, lemke = 0, gauss_seidel = 0, nobody = 0;
  void Count(const ContactSummary& summary);
};

/// One contact's answer.
struct ContactForce {
  geometry::Vec3 f_onA_W = geometry::Vec3::Zero();  ///< newtons, on side a (on b: its negative)
  geometry::Vec3 slip_W = geometry::Vec3::Zero();  ///< of a against b over the step, less what only
                                                   ///< stretched the surface, m
  geometry::Vec3 stretch_W = geometry::Vec3::Zero();  ///< of the surface at the step's end, m
};

class ContactProblem {
 public:
  /// Gathers a step: `models` are prepared, `contacts` were found at `poses`. Sides that no model
  /// owns do not move. A contact between two parts that neither move is our caller's bug: CHECK.
  /// `models` must stay as they are until Advance.
  void Assemble(std::span<MotionModel* const> models, std::span<const Contact> contacts,
                const ContactMemory& memory, const ContactPoses& poses, double step_s);

  /// Finds the forces. They are also there after kNobody: see SolvedBy.
  ContactSummary Solve(const SolveOptions& options);

  /// Moves every model by x0 + W J^T f, and remembers forces, slip and stretch.
  void Advance(ContactMemory* memory);

  const std::vector<ContactForce>& forces() const { return forces_; }  ///< in order of contacts
  const std::vector<double>& limit_forces() const { return limit_forces_; }  ///< N m, >= 0
  /// J^T f of model m: generalised contact forces (joint torques of a tree, limits included).
  Eigen::VectorXd GeneralisedForce(int model) const;
  /// The limits' share of it, what the joint limits of model m carry, added to `tau` (dofs).
  void AddLimitForce(int model, Eigen::Ref<Eigen::VectorXd> tau) const;
  /// J^T f of the contact forces that the memory holds, turned to now: what of contact kept the
  /// model in balance when the step began, at the contacts of now. Limits are not in it: their last
  /// force belongs to it too. Added to `tau`.
  void AddRememberedForce(int model, Eigen::Ref<Eigen::VectorXd> tau) const;
  /// For controllers that solve something else: 3 rows per contact, then one per limit.
  Eigen::Ref<const Eigen::MatrixXd> G() const { return G_; }
  Eigen::Ref<const Eigen::VectorXd> u() const { return u_; }
  int limit_count() const { return static_cast<int>(limit_forces_.size()); }

 private:
  struct Block {  ///< a model's part
    MotionModel* model = nullptr;
    std::vector<int> rows;  ///< first row (of three) of contacts that touch it, in order
    std::vector<LimitRow> limits;
    int first_limit = 0;      ///< row of its first limit
    Eigen::MatrixXd JT, WJT;  ///< J^T: dofs x (3 rows.size() + limits), and W J^T
    Eigen::Matrix<double, 3, Eigen::Dynamic> point, other;  ///< rows of one point
    Eigen::VectorXd x;
    int used = 0;  ///< columns of J^T in use
  };
  struct Frame {  ///< of a contact: normal, two tangents
    geometry::Vec3 n, t1, t2;
  };
  void AddRows(const Contact& contact, int row);
  void ScatterG();
  bool SolveLemke(const SolveOptions& options, ContactSummary* summary);
  void SolveGaussSeidel(const SolveOptions& options, bool warm, ContactSummary* summary);
  double ResidualOnRoundCone() const;
  void ReadForces();

  std::vector<Block> blocks_;
  size_t block_count_ = 0;
  std::vector<Contact> contacts_;
  std::vector<Remembered> last_;
  std::vector<char> known_;
  std::vector<double> give_;  ///< c_n per contact
  double step_s_ = 0.0;
  const ContactPoses* poses_ = nullptr;
  GrownMatrix G_;
  GrownVector u_, gap_, f_, w_;
  std::vector<Frame> frames_;
  GrownMatrix D_, GD_, M_;
  GrownVector q_lcp_;
  LcpWorkspace lcp_;
  std::vector<ContactForce> forces_;
  std::vector<double> limit_forces_;
  std::vector<Remembered> now_;
};

template <typename A>
void Visit(A& a, SolveOptions& o) {
  a.Choice("solver", o.solver, {"lemke, then gauss-seidel", "gauss-seidel"});
  a.Field("sides", o.sides);
  a.Field("lcp", o.lcp);
  a.Field("max_sweeps", o.max_sweeps);
  a.Field("tolerance_N", o.tolerance_N);
}

}  // namespace handhold::synthesis
