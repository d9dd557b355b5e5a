#include "synthesis/grasp_search/grasp_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "database/base/names.h"
#include "database/base/random.h"
#include "database/model/grasp_taxonomy.h"
#include "database/model/site.h"
#include "synthesis/grasp_search/grasp_metric.h"
#include "synthesis/grasp_search/preshape.h"

namespace handhold::synthesis {
namespace {

using artefact::GraspTemplate;
using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr std::string_view kNoSurface = "no surface in the place";
constexpr double kLast = 1e9;         ///< an energy behind all others
constexpr double kKeepOff_m = 0.004;  ///< of digits that are to touch nothing

std::uint64_t Mix(std::uint64_t seed, std::string_view word) {
  std::uint64_t h = 1469598103934665603ull ^ (seed * 0x9E3779B97F4A7C15ull);
  for (const char c : word) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

double SupportOf(const std::string& primitive, const Vec3& half, const Vec3& u_O) {
  if (primitive == "sphere") return half.x();
  if (primitive == "box") return half.dot(u_O.cwiseAbs()) / std::max(1e-9, u_O.norm());
  // A cylinder or disk: through its middle, across.
  const double across = u_O.head<2>().norm();
  return across > std::abs(u_O.z()) ? half.x() : half.z();
}

/// The frame with x along `x` and y as near to `y` as can be.
Mat3 FrameOf(const Vec3& x, const Vec3& y) {
  Mat3 R;
  R.col(0) = x.normalized();
  Vec3 across = y - y.dot(R.col(0)) * R.col(0);
  if (across.norm() < 1e-6)
    across = R.col(0).cross(std::abs(R(2, 0)) < 0.9 ? Vec3::UnitZ() : Vec3::UnitX());
  R.col(1) = across.normalized();
  R.col(2) = R.col(0).cross(R.col(1));
  return R;
}

/// "3 few contacts, 13 too deep", of what was refused since `before`.
std::string CausesSince(const std::map<std::string, int>& before,
                        const std::map<std::string, int>& refused) {
  std::string why;
  for (const auto& [cause, count] : refused) {
    const auto was = before.find(cause);
    const int more = count - (was == before.end() ? 0 : was->second);
    if (more == 0) continue;
    why += (why.empty() ? "" : ", ") +
           (cause == kNoSurface ? cause : std::to_string(more) + " " + cause);
  }
  return why;
}

/// The share of contacts in the place, in tenths; 10 where none was asked for.
double WithinPlace(const FoundGrasp& grasp) { return std::round(10 * grasp.scores.at("in_place")); }

}  // namespace

double RankScore(const GraspScores& s) {
  // Weights: those that put grasps that pass P1 first (tests/synthesis/grasp_search/results).
  return -0.5 * s.dfc - s.net - 0.15 * std::log2(1.0 + std::min(s.fmax_N, 1e3));
}

Vec3 CentreOf(const model::Prop& prop, const HeldObject& object) {
  return prop.mass.mass_kg > 0 ? prop.mass.p_BCom : object.middle_P();
}

GraspSearcher::Ready GraspSearcher::Prepare(int number) const {
  const GraspTemplate& t = space_.templates[static_cast<size_t>(number)];
  Ready ready;
  ready.number = number;
  ready.precision = t.precision;
  ready.pull.assign(hand_.spheres().size(), 0.25);
  model::KinematicsData data(hand_.skeleton());
  model::ComputePoses(hand_.skeleton(), hand_.Configuration({}, t.pose_v), &data);
  const auto centre = [&](const SkinSphere& s) {
    return Vec3(data.X_WB[static_cast<size_t>(s.body)] * s.p_B);
  };
  const Result<model::Prop> primitive = PrimitiveProp(t);
  // Fitted poses lie millimetres off the thing; scripted ones on it.
  const double near_m = space_.scripted ? 0.004 : 0.008;
  std::vector<bool> touches(hand_.spheres().size(), false);
  if (primitive) {
    const HeldObject object = *HeldObject::Build(*primitive);
    const RigidTransform X_OH = t.X_HO.Inverse();
    for (size_t i = 0; i < touches.size(); ++i) {
      const SkinSphere& s = hand_.spheres()[i];
      touches[i] = object.Closest(X_OH * centre(s)).distance_m - s.radius_m <= near_m;
    }
  }
  if (std::ranges::find(touches, true) == touches.end()) {
    // A captured shape without a thing that it touches: what lies between the thumb's end and the
    // fingers' ends.
    Vec3 thumb = Vec3::Zero(), fingers = Vec3::Zero();
    std::array<Vec3, 5> tip;
    tip.fill(Vec3::Zero());
    for (const SkinSphere& s : hand_.spheres()) {
      if (s.digit >= 0) tip[static_cast<size_t>(s.digit)] = centre(s);  // the last is the end
    }
    thumb = tip[0];
    fingers = 0.5 * (tip[1] + tip[2]);
    ready.X_HO.p = 0.5 * (thumb + fingers);
    ready.half_m = std::max(0.002, 0.5 * (fingers - thumb).norm() - 0.008);
    ready.opposition_H = (fingers - thumb).normalized();
    ready.digits.fill(true);
    ready.pull.assign(hand_.spheres().size(), 1.0);
    return ready;
  }
  ready.X_HO = t.X_HO;
  ready.opposition_H = t.opposition_H;
  const Vec3 u_O = t.X_HO.R.transpose() * t.opposition_H;
  ready.half_m = SupportOf(t.primitive, t.half_size_m, u_O);
  if (t.primitive == "cylinder") ready.axis_H = t.X_HO.R.col(2);
  for (size_t i = 0; i < hand_.spheres().size(); ++i) {
    const SkinSphere& s = hand_.spheres()[i];
    if (!touches[i]) continue;
    ready.pull[i] = 1.0;
    if (s.digit >= 0) ready.digits[static_cast<size_t>(s.digit)] = true;
    if (s.digit < 0) ready.palm = true;
  }
  // Digits that the type does without neither reach for the thing nor close.
  for (size_t i = 0; i < hand_.spheres().size(); ++i) {
    const int digit = hand_.spheres()[i].digit;
    if (digit >= 0 ? !ready.digits[static_cast<size_t>(digit)] : !ready.palm) ready.pull[i] = 0.0;
  }
  ready.palm = ready.palm && !t.precision;
  return ready;
}

Result<GraspSearcher> GraspSearcher::Build(const HandSurface& hand,
                                           const artefact::GraspSpace& space) {
  if (space.dof_names != hand.shape_names()) {
    return Error{ErrorCode::kInvalid,
                 "the grasp space is of another hand than '" + hand.skeleton().name() + "'"};
  }
  for (const GraspTemplate& t : space.templates) {
    if (t.pose_v.size() != space.mean.size())
      return Error{ErrorCode::kCorrupt, "a template of another size than the space's mean"};
  }
  HANDHOLD_ASSIGN(artefact::SpaceDensity density, artefact::SpaceDensity::Build(space));
  GraspSearcher searcher(hand, space, std::move(density));
  for (int i = 0; i < static_cast<int>(space.templates.size()); ++i)
    searcher.ready_.push_back(searcher.Prepare(i));
  for (const artefact::TypeModel& one : space.type_models) {
    if (one.taxonomy != space.taxonomy || one.mixture.empty()) continue;
    HANDHOLD_ASSIGN(artefact::SpaceDensity of_type,
                    artefact::SpaceDensity::Build(space, one.mixture));
    searcher.type_densities_.emplace(one.type, std::move(of_type));
  }
  searcher.least_a_ = Eigen::VectorXd::Constant(searcher.density_.dimensions(), 1e9);
  searcher.most_a_ = -searcher.least_a_;
  for (const GraspTemplate& t : space.templates) {
    const Eigen::VectorXd a = searcher.density_.Project(t.pose_v);
    searcher.least_a_ = searcher.least_a_.cwiseMin(a);
    searcher.most_a_ = searcher.most_a_.cwiseMax(a);
  }
  return searcher;
}

std::vector<std::string> GraspSearcher::types() const {
  std::vector<std::string> types;
  for (const GraspTemplate& t : space_.templates) {
    if (std::ranges::find(types, t.type) == types.end()) types.push_back(t.type);
  }
  return types;
}

double GraspSearcher::MinimisePaper(const HeldObject& object, const PaperSearchOptions& options,
                                    std::uint64_t seed, HandPlacement* at) const {
  // Every skeleton that has templates by script has the sites; others are refused before.
  GraspMetric metric(hand_, object, *PaperSensors(hand_), &density_);
  const Eigen::Index d = density_.dimensions();
  Eigen::VectorXd lower(6 + d), upper(6 + d), start(6 + d);
  lower << Vec3::Constant(-options.turn_rad), Vec3::Constant(-options.way_m), least_a_;
  upper << Vec3::Constant(options.turn_rad), Vec3::Constant(options.way_m), most_a_;
  start << Vec3::Zero(), Vec3::Zero(), at->a;
  const auto placed = [X = at->X_PH](const Eigen::VectorXd& x) {
    return RigidTransform{X.R * geometry::Exp<double>(x.head<3>()), X.p + X.R * x.segment<3>(3)};
  };
  const OptimiserResult best =
      Minimise(options.optimiser,
               [&](const Eigen::VectorXd& x) { return metric.Evaluate(placed(x), x.tail(d)); },
               lower, upper, {start}, {.evaluations = options.evaluations, .seed = seed});
  at->X_PH = placed(best.x);
  at->a = best.x.tail(d);
  return best.value;
}

bool GraspSearcher::Judge(const HeldObject& object, const Vec3& com_P,
                          const GraspSearchOptions& options, FoundGrasp* grasp,
                          std::string* cause) const {
  Closer closer(hand_, object);
  const double depth = closer.Penetration(grasp->X_PH, grasp->shape);
  const double self = closer.SelfContact(grasp->X_PH, grasp->shape);
  const auto refuse = [&](const char* why) {
    *cause = why;
    return false;
  };
  if (depth > options.deepest_m) return refuse("too deep");
  if (self > options.deepest_m) return refuse("self-contact");
  if (hand_.BeyondLimits(grasp->shape) > 1e-9) return refuse("beyond limits");
  grasp->contacts = closer.Contacts(grasp->X_PH, grasp->shape, options.contact_m);
  if (static_cast<int>(grasp->contacts.size()) < options.min_contacts)
    return refuse("few contacts");
  int in = 0;
  for (const SkinContact& c : grasp->contacts) in += object.InPlace(c.p_P);
  const double share = static_cast<double>(in) / static_cast<double>(grasp->contacts.size());
  if (share < options.in_place) return refuse("out of region");
  ForceWorkspace workspace;
  const GraspScores s =
      ScoreGrasp(ForceContactsOf(grasp->contacts, com_P, object.friction()), {}, &workspace);
  grasp->squeeze = BalanceSqueeze(grasp->contacts, com_P, object.friction(), options.squeeze);
  model::KinematicsData data(hand_.skeleton());
  model::ComputeJacobian(hand_.skeleton(), hand_.Configuration(grasp->X_PH, grasp->shape), &data);
  grasp->tau_squeeze_Nm = SqueezeTorques(hand_.skeleton(), data, grasp->contacts, grasp->squeeze);
  if (auto sensors = PaperSensors(hand_)) {
    GraspMetric metric(hand_, object, *std::move(sensors), nullptr);
    grasp->scores["eq6"] = metric.Eq6(grasp->X_PH, grasp->shape);
  }
  const double log_p = density_.LogLikelihood(density_.Project(grasp->shape));
  grasp->scores["rank_score"] = RankScore(s);
  grasp->scores["dfc"] = s.dfc;
  grasp->scores["fmax_N"] = s.fmax_N;
  grasp->scores["net"] = s.net;
  grasp->scores["min_weight"] = s.min_weight;
  grasp->scores["epsilon"] = s.epsilon;
  grasp->scores["depth_m"] = depth;
  grasp->scores["self_depth_m"] = self;
  grasp->scores["log_likelihood"] = log_p;
  grasp->scores["natural"] = log_p > density_.log_threshold() ? 1.0 : 0.0;
  grasp->scores["in_place"] = share;
  grasp->scores["unbalanced"] = grasp->squeeze.unbalanced;
  grasp->scores["contacts"] = static_cast<double>(grasp->contacts.size());
  return true;
}

struct GraspSearcher::Start {
  const Ready* ready;
  HandPlacement at;
  Eigen::VectorXd offset;
  double energy;
};

std::vector<GraspSearcher::Start> GraspSearcher::StartsOf(const HeldObject& object,
                                                          const GraspSearchOptions& options,
                                                          const std::vector<int>& templates,
                                                          const artefact::SpaceDensity& prior,
                                                          std::uint64_t seed, long* queries) const {
  std::vector<Start> starts;
  const std::vector<SurfaceSample> samples = object.Sample(options.starts, seed);
  if (samples.empty()) return starts;
  Random random(seed ^ 0x5DEECE66Dull);
  // A palm goes against the surface: along the place's approach, within 60 degrees.
  const auto comes_along = [&](const SurfaceSample& sample) {
    return object.approach_P().norm() < 0.5 || sample.normal_P.dot(object.approach_P()) < -0.5;
  };
  for (int i = 0; i < options.starts; ++i) {
    const SurfaceSample& sample = samples[static_cast<size_t>(i) % samples.size()];
    // Of six templates the one whose thing is as thick; tips need a far wall that faces back.
    const Ready* best = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 6; ++k) {
      const Ready& ready = ready_[static_cast<size_t>(templates[random.Below(templates.size())])];
      double off = std::abs(std::log((2 * ready.half_m + 0.004) / (sample.thickness_m + 0.004)));
      if (ready.precision && sample.far_wall < 0.7) off += 1.0;
      if (ready.palm && !comes_along(sample)) off += 1.0;
      if (off < least) {
        least = off;
        best = &ready;
      }
    }
    const GraspTemplate& t = space_.templates[static_cast<size_t>(best->number)];
    const Vec3 inward = -sample.normal_P;
    Vec3 along_P, along_H;
    if (best->axis_H) {
      const double turn = 0.15 * random.Normal();
      const double side = random.Unit() < 0.5 ? -1.0 : 1.0;
      along_P = geometry::AxisAngle<double>(inward, turn) * (side * sample.along_P);
      along_H = *best->axis_H;
    } else {
      along_P = geometry::AxisAngle<double>(inward, 2 * M_PI * random.Unit()) * sample.along_P;
      along_H = std::abs(best->opposition_H.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY();
    }
    Start start;
    start.ready = best;
    start.at.X_PH.R = geometry::NearestRotation(FrameOf(inward, along_P) *
                                                FrameOf(best->opposition_H, along_H).transpose());
    const double half = best->palm ? best->half_m : 0.5 * sample.thickness_m;
    start.at.X_PH.p = sample.p_P + half * inward - start.at.X_PH.R * best->X_HO.p;
    Eigen::VectorXd shape = t.pose_v;
    for (int digit = 0; digit < 5; ++digit) {
      if (!best->digits[static_cast<size_t>(digit)]) continue;
      for (const int dof : hand_.flexion()[static_cast<size_t>(digit)])
        shape[dof - 6] -= options.open_rad;
    }
    shape = hand_.ClampedToLimits(shape);
    start.at.a = density_.Project(shape);
    // What the space does not say of the template stays the template's.
    start.offset = shape - density_.basis() * start.at.a;
    ContactFit fit(hand_, object, start.offset, density_.basis(), options.fit);
    fit.set_mixture(&prior);
    fit.set_sphere_weights(best->pull);
    start.energy = fit.Energy(start.at);
    // Last, but not left out: there may be no surface that faces the approach.
    if (best->palm && !comes_along(sample)) start.energy += kLast;
    *queries += fit.queries();
    starts.push_back(std::move(start));
  }
  std::ranges::stable_sort(starts, {}, &Start::energy);
  return starts;
}

void GraspSearcher::CloseOn(const HeldObject& object, const GraspSearchOptions& options,
                            const Ready& ready, FoundGrasp* grasp) const {
  Closer closer(hand_, object);
  ClosingOptions closing{.digits = ready.digits,
                         .precision = ready.precision,
                         .keep_off_m = ready.precision ? kKeepOff_m : 0.0,
                         .palm = ready.palm,
                         .palm_way_m = 0.015};
  closer.Close(closing, &grasp->X_PH, &grasp->shape);
  if (object.has_place()) {
    // Digits that touch, but nowhere in the place, keep off.
    std::array<int, 5> in{}, out{};
    for (const SkinContact& c : closer.Contacts(grasp->X_PH, grasp->shape, options.contact_m)) {
      if (c.digit >= 0) ++(object.InPlace(c.p_P) ? in : out)[static_cast<size_t>(c.digit)];
    }
    bool beside = false;
    for (size_t digit = 0; digit < 5; ++digit) {
      if (in[digit] > 0 || out[digit] == 0) continue;
      closing.digits[digit] = false;
      beside = true;
    }
    closing.keep_off_m = kKeepOff_m;
    closing.palm = false;
    if (beside) closer.Close(closing, &grasp->X_PH, &grasp->shape);
  }
  grasp->shape_open = grasp->shape;
  for (int digit = 0; digit < 5; ++digit) {
    for (const int dof : hand_.flexion()[static_cast<size_t>(digit)])
      grasp->shape_open[dof - 6] -= 2 * options.open_rad;
  }
  grasp->shape_open = hand_.ClampedToLimits(grasp->shape_open);
}

void GraspSearcher::SearchType(const HeldObject& object, const Vec3& com_P,
                               const GraspSearchOptions& options, const std::vector<int>& templates,
                               std::uint64_t seed, int most_per_type,
                               std::vector<FoundGrasp>* found, GraspSearchResult* result) const {
  // One type's searches hold to its own model (Ben Amor 2008, "Taxonomy-Based Grasp Synthesis").
  const GraspTemplate& first = space_.templates[static_cast<size_t>(templates.front())];
  const auto of_type =
      options.types.empty() ? type_densities_.end() : type_densities_.find(first.type);
  const artefact::SpaceDensity& prior =
      of_type == type_densities_.end() ? density_ : of_type->second;
  std::vector<Start> starts = StartsOf(object, options, templates, prior, seed, &result->queries);
  if (starts.empty()) {
    ++result->refused[std::string(kNoSurface)];
    return;
  }
  std::map<std::string, int> taken;
  int fitted = 0;
  for (Start& start : starts) {
    if (fitted >= options.fits) break;
    const GraspTemplate& t = space_.templates[static_cast<size_t>(start.ready->number)];
    if (taken[t.type] >= most_per_type) continue;
    ++taken[t.type];
    const int number = fitted++;
    if (number % options.parts != options.part) continue;
    if (options.go_on && !options.go_on(number / options.parts, options.fits / options.parts)) {
      result->stopped = true;
      return;
    }
    ContactFit fit(hand_, object, start.offset, density_.basis(), options.fit);
    fit.set_mixture(&prior);
    fit.set_sphere_weights(start.ready->pull);
    FoundGrasp grasp;
    grasp.type = t.type;
    grasp.scores["candidate"] = number;
    if (options.paper) {
      grasp.scores["energy"] = MinimisePaper(object, *options.paper,
                                             seed + static_cast<std::uint64_t>(fitted), &start.at);
      grasp.shape = hand_.ClampedToLimits(density_.Expand(start.at.a));
    } else {
      grasp.scores["energy"] = fit.Fit(&start.at);
      grasp.shape = hand_.ClampedToLimits(fit.ShapeOf(start.at.a));
    }
    result->queries += fit.queries();
    grasp.X_PH = start.at.X_PH;
    CloseOn(object, options, *start.ready, &grasp);
    std::string cause;
    if (!Judge(object, com_P, options, &grasp, &cause)) {
      ++result->refused[cause];
      continue;
    }
    // By contacts: the digits that held the template's thing, and the palm where it did.
    std::array<bool, 5> touch{};
    bool palm = false;
    for (const SkinContact& c : grasp.contacts) {
      if (c.digit < 0) palm = true;
      if (c.digit >= 0) touch[static_cast<size_t>(c.digit)] = true;
    }
    const bool same = touch == start.ready->digits && palm == start.ready->palm;
    grasp.scores["of_type"] = same ? 1.0 : 0.0;
    found->push_back(std::move(grasp));
  }
}

Result<GraspSearchResult> GraspSearcher::Search(const HeldObject& object, const Vec3& com_P,
                                                const GraspSearchOptions& options) const {
  GraspSearchResult result;
  if (options.starts < 1 || options.fits < 1 || options.candidates < 1 || options.parts < 1 ||
      options.part < 0 || options.part >= options.parts)
    return Error{ErrorCode::kInvalid, "a search needs a start, a fit, a candidate and a part"};
  std::vector<std::vector<FoundGrasp>> by_type;
  const auto of = [&](const std::string& type) {
    std::vector<int> numbers;
    for (size_t i = 0; i < space_.templates.size(); ++i) {
      if (type.empty() || space_.templates[i].type == type) numbers.push_back(static_cast<int>(i));
    }
    return numbers;
  };
  if (options.paper) {
    if (auto sensors = PaperSensors(hand_); !sensors) return sensors.error();
  }
  if (space_.templates.empty()) {
    result.reason = "the grasp space has no templates to begin from";
    return result;
  }
  std::vector<std::string> asked = options.types;
  const bool any = asked.empty();
  if (any) asked.push_back("");
  for (const std::string& type : asked) {
    const std::vector<int> numbers = of(type);
    if (numbers.empty()) {
      return Error{ErrorCode::kNotFound, "the grasp space has no template of type '" + type + "'" +
                                             DidYouMean(type, types())};
    }
    std::vector<FoundGrasp>& found = by_type.emplace_back();
    const std::map<std::string, int> before = result.refused;
    SearchType(object, com_P, options, numbers, Mix(options.seed, type),
               any ? std::max(2, options.fits / 8) : options.fits, &found, &result);
    if (!any && found.empty()) result.without[type] = CausesSince(before, result.refused);
    // Who asks for a place gets what touches within it first, by tenths; who asks for a type what
    // touches like it.
    std::ranges::stable_sort(found, std::ranges::greater(), [any](const FoundGrasp& g) {
      return std::tuple(WithinPlace(g), any ? 0.0 : g.scores.at("of_type"),
                        g.scores.at("rank_score"));
    });
    if (static_cast<int>(found.size()) > options.candidates)
      found.resize(static_cast<size_t>(options.candidates));
  }
  for (size_t rank = 0;; ++rank) {
    bool more = false;
    std::vector<FoundGrasp*> row;
    for (std::vector<FoundGrasp>& found : by_type) {
      if (rank < found.size()) row.push_back(&found[rank]), more = true;
    }
    std::ranges::stable_sort(row, std::ranges::greater(), [](const FoundGrasp* g) {
      return std::pair(WithinPlace(*g), g->scores.at("rank_score"));
    });
    for (FoundGrasp* g : row) {
      g->scores["rank_in_type"] = static_cast<double>(rank + 1);
      result.grasps.push_back(std::move(*g));
    }
    if (!more) break;
  }
  if (result.grasps.empty()) {
    const std::string why = CausesSince({}, result.refused);
    result.reason = "no grasp of '" + object.name() + "'" + (why.empty() ? "" : ": " + why);
  }
  return result;
}

artefact::Grasp GraspSearcher::ToGrasp(const FoundGrasp& found, const std::string& name) const {
  artefact::Grasp grasp;
  const model::Skeleton& skeleton = hand_.skeleton();
  grasp.name = name;
  grasp.proposer = "search";
  grasp.scripted = space_.scripted;
  grasp.skeleton_name = skeleton.name();
  grasp.dof_names = skeleton.dof_names();
  // The skeleton's world is the prop's frame; the root carries the placement.
  grasp.q = hand_.Configuration(found.X_PH, found.shape);
  grasp.q_open = hand_.Configuration(found.X_PH, found.shape_open);
  grasp.tau_squeeze_Nm = found.tau_squeeze_Nm;
  grasp.types[std::string(model::kFeix)] = found.type;
  if (const model::GraspTypeRow* row = model::FindFeix(found.type)) {
    grasp.types[std::string(model::kCutkosky)] = row->cutkosky;
    grasp.types[std::string(model::kSchlesinger)] = row->schlesinger;
  }
  model::KinematicsData data(skeleton);
  model::ComputePoses(skeleton, grasp.q, &data);
  for (size_t i = 0; i < found.contacts.size(); ++i) {
    const SkinContact& c = found.contacts[i];
    artefact::GraspContact contact;
    contact.body = c.body;
    contact.p_P = c.p_P;
    contact.normal_P = c.normal_P;
    contact.f_onHand_P = -found.squeeze.f_onObject_P[i];
    const int site = model::SiteAt(
        skeleton, c.body, data.X_WB[static_cast<size_t>(c.body)].R.transpose() * -c.normal_P);
    if (site >= 0) contact.site = skeleton.sites()[static_cast<size_t>(site)].name;
    grasp.contacts.push_back(std::move(contact));
  }
  for (const auto& [key, value] : found.scores)
    if (std::isfinite(value)) grasp.scores[key] = value;
  return grasp;
}

}  // namespace handhold::synthesis
