#include "tools/pipeline/fit_grasp_space.h"

#include <algorithm>

#include "database/model/grasp_taxonomy.h"
#include "database/store/artefact_file.h"
#include "database/store/query.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

Result<Issues> Print(Printer& out, const std::string& path) {
  HANDHOLD_ASSIGN(const auto space, store::Load<artefact::GraspSpace>(path));
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

}  // namespace

Verb FitGraspSpaceVerb() {
  return {
      .noun = "fit",
      .name = "grasp-space",
      .summary = "fit a space of hand shapes: principal components, mixture, threshold",
      .examples = {"handhold fit grasp-space --query 'task = \"grasp\"' --library lab",
                   "handhold fit grasp-space --query 'subject = \"S01\"' --type tripod --dims 3",
                   "handhold fit grasp-space --scripted --library lab"},
      .options = {LibraryOption(),
                  {.name = "--query",
                   .value_name = "EXPR",
                   .help = "of which clips (or events) the fitted poses are taken"},
                  {.name = "--scripted",
                   .help = "of 26 scripted types on primitives instead; the result says so",
                   .kind = ValueKind::kFlag},
                  {.name = "--type",
                   .value_name = "TYPE",
                   .help =
                       "only spans labelled so ('clip label'), or scripts of it: a name of Feix, "
                       "Cutkosky or Schlesinger",
                   .repeated = true},
                  {.name = "--dims",
                   .value_name = "N",
                   .help = "dimensions; 2 and 3 are the paper's own; 0: as many as say 90 %",
                   .kind = ValueKind::kInteger,
                   .fallback = "8",
                   .range = {.least = 0, .most = 100}},
                  {.name = "--skeleton",
                   .value_name = "HAND",
                   .help = "with --scripted: a hand of ours, a .json file or an artefact; default: "
                           "hand27"},
                  {.name = "--side",
                   .value_name = "SIDE",
                   .help = "with --scripted: left or right",
                   .kind = ValueKind::kChoice,
                   .choices = {"left", "right"}},
                  {.name = "--per-type",
                   .value_name = "N",
                   .help = "with --scripted: poses of each type",
                   .kind = ValueKind::kInteger,
                   .fallback = "40",
                   .range = {.least = 2, .most = 1000}},
                  {.name = "--seed",
                   .value_name = "N",
                   .help = "the same seed gives the same bits",
                   .kind = ValueKind::kInteger,
                   .fallback = "1",
                   .range = {.least = 1, .most = 1000000}}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "Captured and scripted poses are never mixed. Too few poses are refused: five for\n"
          "each dimension, and for each Gaussian five times the dimensions.",
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        if (given.Flag("--scripted") == given.Has("--query"))
          return Outcome::Usage("say --query EXPR (captured poses) or --scripted, one of them");
        for (const char* scripts : {"--skeleton", "--side", "--per-type"}) {
          if (given.Has("--query") && given.Has(scripts))
            return Outcome::Usage(std::string(scripts) + " is of scripts: not with --query");
        }
        pipeline::FitGraspSpaceStep step;
        step.query = given.Text("--query");
        step.scripted = given.Flag("--scripted");
        step.types = given.All("--type");
        step.hand.key = given.Text("--skeleton");
        step.hand.side = given.Text("--side");
        step.options.dims = static_cast<int>(given.Integer("--dims"));
        step.preshape.per_type = static_cast<int>(given.Integer("--per-type"));
        step.preshape.seed = static_cast<std::uint64_t>(given.Integer("--seed"));
        step.options.mixture.seed = step.preshape.seed;
        if (const auto known = pipeline::FeixTypes(step.types); !known)
          return Outcome::Usage(known.error().message);
        if (given.Has("--query")) {
          HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
          const Result<store::Query> query = store::Query::Parse(step.query, *library);
          if (!query && query.error().code == ErrorCode::kInvalid)
            return Outcome::Usage(query.error().message);
        }
        return RunAndPrint(context, {"fitting a grasp space", "fit",
                                     [&](const auto& where) { return step.Run(where); }, Print});
      }};
}

}  // namespace handhold::cli
