#include "tools/pipeline/fit_grasp_space.h"

#include <algorithm>

#include "database/model/grasp_taxonomy.h"
#include "database/store/query.h"
#include "tools/handhold/step_verb.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

Result<Issues> Print(Printer& out, const artefact::GraspSpace& space) {
  int poses = 0;
  for (const auto& [type, count] : space.poses_by_type) poses += count;
  double sum = 0.0;
  for (int k = 0; k < space.dimensions(); ++k) sum += space.variance[k];
  out.PrintRecord("space",
                  {{{.name = "hand"}, space.skeleton_name},
                   {{.name = "poses"}, static_cast<int64_t>(poses)},
                   {{.name = "origin"}, std::string(space.scripted ? "scripted" : "captured")},
                   {{.name = "with_prop"},
                    static_cast<int64_t>(std::ranges::count_if(
                        space.templates, [](const auto& t) { return !t.primitive.empty(); }))},
                   {{.name = "dimensions"}, static_cast<int64_t>(space.dimensions())},
                   {{.name = "variance", .decimals = 3}, sum / space.variance.sum()},
                   {{.name = "components"}, static_cast<int64_t>(space.mixture.size())},
                   {{.name = "log_threshold", .decimals = 3}, space.log_threshold},
                   {{.name = "quantile", .decimals = 3}, space.threshold_quantile}});
  {
    Table table = out.BeginTable(
        "types", {{.name = "taxonomy"}, {.name = "type"}, {.name = "poses"}, {.name = "model"}});
    for (const artefact::TypeModel& m : space.type_models) {
      // Cutkosky's names say little beside Feix's: to be read in the other formats.
      if (IsBrief(out) && m.taxonomy == model::kCutkosky) continue;
      table.Row({m.taxonomy, m.type, static_cast<int64_t>(m.poses),
                 m.mixture.empty() ? "none: " + m.refusal
                                   : std::to_string(m.mixture.size()) +
                                         (m.mixture.size() == 1 ? " Gaussian" : " Gaussians")});
    }
    if (const auto none = space.poses_by_type.find(""); none != space.poses_by_type.end())
      table.Row({"", "(not labelled)", static_cast<int64_t>(none->second), Cell(std::nullopt)});
  }
  {
    Table table = out.BeginTable("components", {{.name = "dimension"},
                                                {.name = "variance", .decimals = 4},
                                                {.name = "together", .decimals = 4}});
    double together = 0.0;
    const Eigen::Index rows =
        IsBrief(out) ? std::min<Eigen::Index>(10, space.variance.size()) : space.variance.size();
    for (Eigen::Index k = 0; k < rows; ++k) {
      together += space.variance[k] / space.variance.sum();
      table.Row({static_cast<int64_t>(k + 1), space.variance[k] / space.variance.sum(), together});
    }
  }
  if (!IsBrief(out)) {
    Table table = out.BeginTable("bic", {{.name = "gaussians"}, {.name = "bic", .decimals = 1}});
    for (const artefact::BicEntry& entry : space.bic)
      table.Row({static_cast<int64_t>(entry.components), entry.bic});
  }
  return Issues{};
}

/// What is wrong words, before a library is opened for it.
std::optional<Outcome> Look(const Arguments& given, text::Json*) {
  const bool captured = given.Has("--query") || given.Has("--clip");
  if (given.Flag("--scripted") == captured)
    return Outcome::Usage("say --query EXPR (captured poses) or --scripted, one of them");
  for (const char* scripts : {"--skeleton", "--side", "--per-type"}) {
    if (captured && given.Has(scripts))
      return Outcome::Usage(std::string(scripts) + " is of scripts: not with --query");
  }
  if (const auto known = model::FeixTypes(given.All("--type")); !known)
    return Outcome::Usage(known.error().message);
  if (!given.Has("--query")) return std::nullopt;
  const auto library = store::Library::Open(given.Text("--library"));
  if (!library) return Outcome(library.error());
  const Result<store::Query> query = store::Query::Parse(given.Text("--query"), **library);
  if (!query && query.error().code == ErrorCode::kInvalid)
    return Outcome::Usage(query.error().message);
  return std::nullopt;
}

}  // namespace

Verb FitGraspSpaceVerb() {
  return StepVerb(
      "fit.grasp-space",
      {.examples = {"handhold fit grasp-space --query 'task = \"grasp\"' --library lab",
                    "handhold fit grasp-space --query 'subject = \"S01\"' --type tripod --dims 3",
                    "handhold fit grasp-space --scripted --library lab"},
       .details =
           "Captured and scripted poses are never mixed. Too few poses are refused: five for\n"
           "each dimension, and for each Gaussian five times the dimensions.",
       .doing = "fitting a grasp space",
       .record = "fit",
       .look = Look,
       .print = PrintLoaded(Print)});
}

}  // namespace handhold::cli
