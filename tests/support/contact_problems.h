/// A suite of contact problems as interaction synthesis meets them: hand57 pressed against one free
/// object, in the linear complementarity form of Kry & Pai 2006, 7.1.3.
///
/// Assembled here from Jacobians and the paper's formulas, without synthesis/interaction. The same
/// seed gives the same problems on every machine but for the last bits of sine and cosine;
/// SuiteHash looks at 20 bits of each entry, so that it names the problems and not the library.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

namespace handhold::testing {

/// Find z >= 0 with w = M z + q >= 0 and z . w = 0. Rows: per contact the normal and `sides`
/// tangents, then one per contact for the cone. Newtons and metres.
struct ContactProblem {
  Eigen::MatrixXd M;
  Eigen::VectorXd q;
  int contacts = 0, sides = 0;
  double object_kg = 0.0;
  /// Contacts that repeat another: at the same point (`same_point`), or beside it on the same body
  /// with the same normal.
  int redundant = 0, same_point = 0;
  bool surface_compliance = false;  ///< 1e-4 m/N on the normals, besides the root's
  Eigen::VectorXd friction;         ///< per contact
};

inline constexpr int kContactProblems = 2000;

/// The suite: contacts 1 to 10, 4 and 8 sides, objects of 12 g and 300 g, in all combinations in
/// turn, `count` in all (the first `count` of the 2000).
std::vector<ContactProblem> MakeContactProblems(int count = kContactProblems);

/// How the contacts of a solved problem end: loaded ones (normal force above 1e-6 N), and which of
/// those slide (a cone's multiplier, which is their speed, above 1e-9 m per step).
struct ContactCount {
  int loaded = 0, sliding = 0;
};
ContactCount CountContacts(const ContactProblem& problem, const Eigen::VectorXd& z);

/// FNV-1a over sizes and entries, each rounded to 2^-20 of its problem's scale (mean diagonal, and
/// the largest |q|).
uint64_t SuiteHash(const std::vector<ContactProblem>& problems);

}  // namespace handhold::testing
