/// Natural grasps for a prop that nobody touched: templates of a grasp space are laid on its
/// surface, fitted, closed and ranked by how well they will hold.
///
/// Per type: starts are points of the surface within the place asked for, each with the template
/// whose thing is as thick (a palm's where the surface faces the place's approach); the best by
/// energy are fitted in the space (contact_fit.h), closed (closing.h), scored
/// (contact/force_feasibility.h) and ranked within their type. Where a place is asked for only its
/// surface pulls, digits that touch beside it keep off, and what touches within it comes first.
/// Where a type is asked for, the fit's prior is the type's own model if the space has one. Joint
/// limits and self-contact are imposed beside the space's likelihood, which is no anatomical limit.
/// The same space, prop, options and seed give the same bits. A GraspSearcher is const after Build
/// and may be shared by threads. Pinned by tests/synthesis/grasp_search/grasp_search_test.cc;
/// speed: marks `search.*`; how well they hold: tests/synthesis/grasp_search/results.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/artefact/grasp_space.h"
#include "database/artefact/space_density.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "synthesis/grasp_search/closing.h"
#include "synthesis/grasp_search/contact_fit.h"
#include "synthesis/grasp_search/hand_surface.h"
#include "synthesis/grasp_search/held_object.h"
#include "synthesis/grasp_search/optimiser.h"
#include "synthesis/grasp_search/squeeze.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns searches.
inline constexpr int kGraspSearchVersion = 3;

/// The paper's own search in place of the contact fit: eq. 6 minimised over the space's coordinates
/// and the hand's pose round each start (grasp_metric.h, optimiser.h), then closed and ranked
/// alike.
struct PaperSearchOptions {
  OptimiserKind optimiser = OptimiserKind::kDynamicHillClimbing;
  int evaluations = 600;
  double way_m = 0.03, turn_rad = 0.5;  ///< of the extrinsic parameters; 0: fixed where it starts
};
template <typename A>
void Visit(A& a, PaperSearchOptions& o) {
  a.Choice("optimiser", o.optimiser, {"dhc", "sa", "ga", "cma-es"});
  a.Field("evaluations", o.evaluations);
  a.Field("way_m", o.way_m);
  a.Field("turn_rad", o.turn_rad);
}

struct GraspSearchOptions {
  std::vector<std::string> types = {};  ///< of the space; empty: any, no type more than twice among
                                        ///< fits
  int starts = 64;                      ///< per type asked for
  int fits = 16;                        ///< of the starts, that are fitted; per type asked for
  int candidates = 8;                   ///< answered at most, per type asked for
  std::uint64_t seed = 1;
  double open_rad = 0.12;    ///< templates' digits are opened by so much before the fit
  double contact_m = 0.002;  ///< skin nearer than this touches
  double deepest_m = 0.003;  ///< in the prop or in itself: deeper is refused
  double in_place = 0.75;    ///< least share of contacts in the place asked for
  int min_contacts = 3;
  SqueezeOptions squeeze = {};
  ContactFitOptions fit = {};
  /// Only fits whose number leaves `part` when divided by `parts`: work in several processes.
  int part = 0, parts = 1;
  /// Asked before each fit with those done and planned; false ends the search with what it has.
  std::function<bool(int done, int planned)> go_on = {};
  std::optional<PaperSearchOptions> paper = {};  ///< the paper's method; empty: the contact fit
};
template <typename A>
void Visit(A& a, GraspSearchOptions& o) {
  int seed = static_cast<int>(o.seed);
  a.Field("types", o.types);
  a.Field("starts", o.starts);
  a.Field("fits", o.fits);
  a.Field("candidates", o.candidates);
  a.Field("seed", seed);
  a.Field("open_rad", o.open_rad);
  a.Field("contact_m", o.contact_m);
  a.Field("deepest_m", o.deepest_m);
  a.Field("in_place", o.in_place);
  a.Field("min_contacts", o.min_contacts);
  a.Field("squeeze", o.squeeze);
  a.Field("fit", o.fit);
  a.Skip(o.part);
  a.Skip(o.parts);
  a.Skip(o.go_on);
  a.Field("paper", o.paper);
  o.seed = static_cast<std::uint64_t>(seed);
}

struct FoundGrasp {
  geometry::RigidTransform X_PH;  ///< the skeleton's root in the prop's frame
  Eigen::VectorXd shape, shape_open;
  std::string type;  ///< of the template that it grew from
  std::vector<SkinContact> contacts;
  Squeeze squeeze;
  Eigen::VectorXd tau_squeeze_Nm;  ///< nv
  /// "rank_score" (what ranks; more is better), "dfc", "fmax_N", "net", "min_weight", "epsilon",
  /// "energy" (of the fit; the paper's: M with its penalties), "eq6" (M alone, grasp_metric.h),
  /// "depth_m", "self_depth_m", "log_likelihood", "natural" (1: above the space's threshold),
  /// "of_type", "in_place", "unbalanced", "contacts", "candidate" (number of its fit),
  /// "rank_in_type".
  std::map<std::string, double> scores;
};

struct GraspSearchResult {
  std::vector<FoundGrasp> grasps;  ///< the first of each type by rank_score, then the seconds, ...
  std::map<std::string, int> refused;  ///< candidates by cause
  std::string reason;                  ///< where nothing was found: why, in a sentence
  /// Types asked for of which nothing was found: why ("3 few contacts, 13 too deep").
  std::map<std::string, std::string> without;
  long queries = 0;      ///< nearest points asked
  bool stopped = false;  ///< by go_on
};

class GraspSearcher {
 public:
  /// kInvalid: the space is of another hand, by its dof names; kCorrupt: SpaceDensity's. `hand` is
  /// copied. About 0.1 ms a template.
  static Result<GraspSearcher> Build(const HandSurface& hand, const artefact::GraspSpace& space);

  /// kNotFound: a type that the space has no template of, naming those it has. Nothing found is no
  /// error: the result says the reason.
  Result<GraspSearchResult> Search(const HeldObject& object, const geometry::Vec3& com_P,
                                   const GraspSearchOptions& options) const;

  /// Scores and squeeze of any placement: what Search does at the end; false: refused, `cause` why.
  bool Judge(const HeldObject& object, const geometry::Vec3& com_P,
             const GraspSearchOptions& options, FoundGrasp* grasp, std::string* cause) const;

  const HandSurface& hand() const { return hand_; }
  const artefact::GraspSpace& space() const { return space_; }
  const artefact::SpaceDensity& density() const { return density_; }
  std::vector<std::string> types() const;  ///< that have templates

  /// The grasp as it is stored; proposer "search". Hashes, prop's name and provenance are the
  /// caller's.
  artefact::Grasp ToGrasp(const FoundGrasp& found, const std::string& name) const;

 private:
  struct Ready {
    int number = 0;  ///< of the space's templates
    geometry::RigidTransform X_HO;
    geometry::Vec3 opposition_H;
    std::optional<geometry::Vec3> axis_H;  ///< of a cylinder: laid along the surface
    double half_m = 0.0;                   ///< half size along the opposition
    std::vector<double> pull;              ///< per sphere
    std::array<bool, 5> digits{};
    bool palm = false, precision = false;
  };
  GraspSearcher(const HandSurface& hand, const artefact::GraspSpace& space,
                artefact::SpaceDensity density)
      : hand_(hand), space_(space), density_(std::move(density)) {}
  Ready Prepare(int number) const;
  double MinimisePaper(const HeldObject& object, const PaperSearchOptions& options,
                       std::uint64_t seed, HandPlacement* at) const;
  struct Start;
  /// Sorted by energy; none where the place holds no surface.
  std::vector<Start> StartsOf(const HeldObject& object, const GraspSearchOptions& options,
                              const std::vector<int>& templates,
                              const artefact::SpaceDensity& prior, std::uint64_t seed,
                              long* queries) const;
  /// Closes as the start's template does; digits that touch beside the place keep off.
  void CloseOn(const HeldObject& object, const GraspSearchOptions& options, const Ready& ready,
               FoundGrasp* grasp) const;
  void SearchType(const HeldObject& object, const geometry::Vec3& com_P,
                  const GraspSearchOptions& options, const std::vector<int>& templates,
                  std::uint64_t seed, int most_per_type, std::vector<FoundGrasp>* found,
                  GraspSearchResult* result) const;

  HandSurface hand_;
  artefact::GraspSpace space_;
  artefact::SpaceDensity density_;
  std::map<std::string, artefact::SpaceDensity> type_densities_;  ///< of types with a model
  std::vector<Ready> ready_;
  Eigen::VectorXd least_a_, most_a_;  ///< the training poses' box
};

/// "rank_score" of scores: how well a grasp will hold, from dfc, fmax and net (those that predict
/// best together; tests/synthesis/grasp_search/results).
double RankScore(const GraspScores& scores);

/// The centre of mass, or the middle of the bounds of a prop without mass.
geometry::Vec3 CentreOf(const model::Prop& prop, const HeldObject& object);

}  // namespace handhold::synthesis
