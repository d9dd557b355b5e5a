#include "tools/pipeline/synth_grasp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "synthesis/regrasp/proposer.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/fit_grasp_space.h"

namespace handhold::cli {
namespace {

/// "tripod,large-diameter" and repeated options alike.
std::vector<std::string> Words(const std::vector<std::string>& given) {
  std::vector<std::string> words;
  for (const std::string& list : given) {
    std::istringstream in(list);
    for (std::string word; std::getline(in >> std::ws, word, ',');) {
      word.erase(word.find_last_not_of(' ') + 1);
      if (!word.empty()) words.push_back(word);
    }
  }
  return words;
}

bool Resists(const artefact::Grasp& grasp) {
  const auto at = grasp.scores.find("fmax_N");
  return at != grasp.scores.end() && std::isfinite(at->second);
}

Outcome RunSynthGrasp(Context& context) {
  const Arguments& given = context.arguments;
  pipeline::SynthGraspStep step;
  step.space = given.Text("--space");
  step.prop = given.Text("--prop");
  step.metres_per_unit = MetresPerUnit(given);
  step.types = Words(given.All("--type"));
  step.region = given.Text("--region");
  for (const auto& [option, words] : {std::pair("--type", Words(given.All("--type"))),
                                      std::pair("--region", Words(given.All("--region"))),
                                      std::pair("--faces", Words(given.All("--faces")))}) {
    if (given.Has(option) && words.empty())
      return Outcome::Usage(std::string(option) + ": nothing is named");
  }
  if (const auto refusal = MeshUnitRefusal(given, step.prop)) return *refusal;
  // A point and radius that is none is wrong words; a name is asked of the prop.
  if (step.region.find(',') != std::string::npos) {
    if (const auto ball = synthesis::RegionNamed({}, step.region); !ball)
      return Outcome::Usage("--region: " + ball.error().message);
  }
  for (const std::string& face : Words(given.All("--faces"))) {
    char* end = nullptr;
    const long number = std::strtol(face.c_str(), &end, 10);
    if (end == face.c_str() || *end != '\0' || number < 0 ||
        number > std::numeric_limits<int>::max())
      return Outcome::Usage("--faces: '" + face + "' is no triangle's number");
    step.faces.push_back(static_cast<int>(number));
  }
  step.candidates = static_cast<int>(given.Integer("--candidates"));
  step.paper = given.Text("--method") == "paper";
  step.seed = static_cast<int>(given.Integer("--seed"));
  if (const auto known = pipeline::FeixTypes(step.types); !known)
    return Outcome::Usage(known.error().message);
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  HANDHOLD_ASSIGN(const pipeline::SynthGraspResult result,
                  step.Run(StepContextOf(context, *library, "searching grasps")));
  context.progress.End();
  for (const std::string& sentence : result.chosen) context.progress.Note("using " + sentence);
  for (const auto& [cause, count] : result.refused)
    context.progress.Note(std::to_string(count) + " candidates left out: " + cause);
  if (context.dry_run) {
    context.printer.PrintRecord(ResultFields(context, result.grasps.front()));
    return Outcome::Done();
  }
  if (std::ranges::none_of(result.values, Resists))
    context.progress.Note("none of them holds the prop against a push from every side");
  Table table = context.printer.BeginTable({{.name = "rank"},
                                            {.name = "type"},
                                            {.name = "contacts"},
                                            {.name = "dfc", .decimals = 3},
                                            {.name = "fmax_N", .decimals = 2},
                                            {.name = "epsilon", .decimals = 4},
                                            {.name = "depth_m", .decimals = 5},
                                            {.name = "natural"},
                                            {.name = "state"},
                                            {.name = "artefact"}});
  for (size_t i = 0; i < result.values.size(); ++i) {
    const artefact::Grasp& g = result.values[i];
    const auto score = [&](const char* key) {
      const auto at = g.scores.find(key);
      return at == g.scores.end() ? Cell(std::nullopt) : Cell(at->second);
    };
    table.Row(
        {static_cast<int64_t>(i + 1), g.types.at("feix"), static_cast<int64_t>(g.contacts.size()),
         score("dfc"), score("fmax_N"), score("epsilon"), score("depth_m"),
         std::string(g.scores.at("natural") > 0 ? "yes" : "no"),
         std::string(result.grasps[i].reused ? "there already" : "made"), result.grasps[i].hash});
  }
  if (result.without.empty()) return Outcome::Done();
  std::string without;
  for (const auto& [type, why] : result.without)
    without += (without.empty() ? "no grasp of " : "; of ") + type + ": " + why;
  return Outcome::Loss(without);
}

}  // namespace

Verb SynthGraspVerb() {
  return {
      .noun = "synth",
      .name = "grasp",
      .summary = "find natural grasps for a prop that nobody touched, ranked by how they hold",
      .examples = {"handhold synth grasp --prop mug --library lab",
                   "handhold synth grasp --prop anything.stl --type tripod,large-diameter",
                   "handhold synth grasp --prop hammer --region grip --candidates 4",
                   "handhold synth grasp --prop anything.stl --region 0,0,0.1,0.03 --method paper"},
      .options =
          {LibraryOption(),
           {.name = "--prop",
            .value_name = "PROP",
            .help = "a prop of ours, a .json prop, a .stl, .obj or .ply mesh, or an artefact",
            .required = true},
           MeshUnitOption(),
           {.name = "--type",
            .value_name = "TYPES",
            .help =
                "grasp types, by comma: names of Feix, Cutkosky or Schlesinger, the finest first; "
                "'schlesinger:palmar' says whose; default: any",
            .repeated = true},
           {.name = "--region",
            .value_name = "REGION",
            .help = "a region of the prop by name, or x,y,z,radius in metres of its frame"},
           {.name = "--faces",
            .value_name = "NUMBERS",
            .help = "triangles of a mesh, from 0, by comma",
            .repeated = true},
           {.name = "--candidates",
            .value_name = "N",
            .help = "grasps answered, of each type asked for",
            .kind = ValueKind::kInteger,
            .fallback = "8",
            .range = {.least = 1, .most = 1000}},
           {.name = "--method",
            .value_name = "METHOD",
            .help = "fit: templates, contact fit, closing; paper: eq. 6 by dynamic hill climbing",
            .kind = ValueKind::kChoice,
            .choices = {"fit", "paper"},
            .fallback = "fit"},
           {.name = "--space",
            .value_name = "ARTEFACT",
            .help = "grasp space; default: the newest, else a scripted one is made"},
           {.name = "--seed",
            .value_name = "N",
            .help = "the same seed gives the same bits",
            .kind = ValueKind::kInteger,
            .fallback = "1",
            .range = {.least = 1, .most = 1000000}}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "dfc: how far the contacts' normals are from balancing (0 balances); fmax: most normal\n"
          "force needed to resist 1 N from six sides (empty: one of them cannot be resisted).\n"
          "epsilon: wrenches that 1 N of normal force in all resists from every side (0: not from "
          "every\n"
          "one). natural: the shape is likelier than the space's threshold. Nothing found is a "
          "failure\n"
          "(1) with the reason; nothing of one of several types ends with 3. Look at one: "
          "'handhold show ARTEFACT'.",
      .run = RunSynthGrasp};
}

}  // namespace handhold::cli
