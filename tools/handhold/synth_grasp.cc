#include <algorithm>
#include <cmath>

#include "database/artefact/grasp.h"
#include "database/model/grasp_taxonomy.h"
#include "synthesis/regrasp/proposer.h"
#include "tools/handhold/step_verb.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

bool Resists(const artefact::Grasp& grasp) {
  const auto at = grasp.scores.find("fmax_N");
  return at != grasp.scores.end() && std::isfinite(at->second);
}

Outcome Say(Context& context, const store::Library& library, const pipeline::StepResult& result) {
  if (context.dry_run && !result.reused) {
    context.printer.PrintRecord(ResultFields(context, result));
    return Outcome::Done();
  }
  for (const text::JsonMember& cause : result.report.Find("refused")->members()) {
    context.progress.Note(std::to_string(*cause.value.integer()) +
                          " candidates left out: " + cause.key);
  }
  std::vector<artefact::Grasp> grasps;
  for (const pipeline::StepOutput& output : result.outputs) {
    HANDHOLD_ASSIGN(grasps.emplace_back(),
                    store::Load<artefact::Grasp>(library.ArtefactPath(output.hash)));
  }
  if (std::ranges::none_of(grasps, Resists))
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
  for (size_t i = 0; i < grasps.size(); ++i) {
    const artefact::Grasp& g = grasps[i];
    const auto score = [&](const char* key) {
      const auto at = g.scores.find(key);
      return at == g.scores.end() ? Cell(std::nullopt) : Cell(at->second);
    };
    table.Row({static_cast<int64_t>(i + 1), g.types.at("feix"),
               static_cast<int64_t>(g.contacts.size()), score("dfc"), score("fmax_N"),
               score("epsilon"), score("depth_m"),
               std::string(g.scores.at("natural") > 0 ? "yes" : "no"),
               std::string(result.reused ? "there already" : "made"), result.outputs[i].hash});
  }
  table.End();
  std::string without;
  for (const text::JsonMember& type : result.report.Find("without")->members())
    without +=
        (without.empty() ? "no grasp of " : "; of ") + type.key + ": " + *type.value.string();
  return without.empty() ? Outcome::Done() : Outcome::Loss(without);
}

/// What is wrong words, before a library is opened for it.
std::optional<Outcome> Look(const Arguments& given, text::Json*) {
  if (const auto refusal = MeshUnitRefusal(given, given.Text("--prop"))) return *refusal;
  const std::string region = given.Text("--region");
  if (given.Has("--region") && region.empty()) return Outcome::Usage("--region: nothing is named");
  // A point and radius that is none is wrong words; a name is asked of the prop.
  if (region.find(',') != std::string::npos) {
    if (const auto ball = synthesis::RegionNamed({}, region); !ball)
      return Outcome::Usage("--region: " + ball.error().message);
  }
  if (const auto known = model::FeixTypes(WordsOf(given.All("--type"))); !known)
    return Outcome::Usage(known.error().message);
  return std::nullopt;
}

}  // namespace

Verb SynthGraspVerb() {
  return StepVerb(
      "synth.grasp",
      {.examples =
           {"handhold synth grasp --prop mug --library lab",
            "handhold synth grasp --prop anything.stl --type tripod,large-diameter",
            "handhold synth grasp --prop hammer --region grip --candidates 4",
            "handhold synth grasp --prop anything.stl --region 0,0,0.1,0.03 --method paper"},
       .details =
           "dfc: how far the contacts' normals are from balancing (0 balances); fmax: most normal\n"
           "force needed to resist 1 N from six sides (empty: one of them cannot be resisted).\n"
           "epsilon: wrenches that 1 N of normal force in all resists from every side (0: not from "
           "every\n"
           "one). natural: the shape is likelier than the space's threshold. Nothing found is a "
           "failure\n"
           "(1) with the reason; nothing of one of several types ends with 3. Look at one: "
           "'handhold show ARTEFACT'.",
       .doing = "searching grasps",
       .look = Look,
       .say = Say});
}

}  // namespace handhold::cli
