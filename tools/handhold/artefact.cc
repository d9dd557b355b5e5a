#include <algorithm>
#include <map>

#include "database/artefact/describe.h"
#include "database/base/names.h"
#include "database/store/artefact_file.h"
#include "database/text/file.h"
#include "database/text/json_view.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/export_gltf.h"
#include "tools/pipeline/export_table.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/lineage.h"

namespace handhold::cli {
namespace {

Positional ArtefactPositional() {
  return {.name = "ARTEFACT", .help = "hash, or the beginning of one"};
}

/// The summary that the artefact keeps; null when its kind has none.
Result<text::Json> SummaryOf(const store::Library& library, const store::ArtefactInfo& info) {
  const std::string path = library.ArtefactPath(info.hash);
  std::optional<Result<text::Json>> found;
  artefact::ForEachKind([&]<typename T>(const T&) {
    if constexpr (requires(const T& t) { t.Brief(); }) {
      if (info.kind != artefact::KindOf<T>::name) return;
      const Result<T> value = store::Load<T>(path);
      if (!value) {
        found = value.error();
        return;
      }
      text::Json json = text::Json::Object({{"brief", value->Brief()}});
      if constexpr (std::is_same_v<T, artefact::Grasp>) {
        const text::Json all = artefact::Writable(artefact::ToJson(*value));
        for (const char* key : {"name", "prop", "region", "types", "scores"})
          json.Set(key, *all.Find(key));
      }
      found = std::move(json);
    } else if constexpr (requires(const T& t) { t.summary; }) {
      if (info.kind != artefact::KindOf<T>::name) return;
      const Result<T> value = store::Load<T>(path);
      if (!value) {
        found = value.error();
        return;
      }
      text::Json json = text::Json::Object();
      if constexpr (requires(const T& t) { t.summary.Brief(); })
        json.Set("brief", value->summary.Brief());
      const text::Json summary = artefact::Writable(artefact::ToJson(value->summary));
      for (const text::JsonMember& member : summary.members()) json.Set(member.key, member.value);
      found = std::move(json);
    }
  });
  if (found) return *found;
  if (info.kind != artefact::kSkeletonKind) return text::Json();
  HANDHOLD_ASSIGN(const store::JsonArtefact value, store::LoadJsonArtefact(path));
  HANDHOLD_ASSIGN(const text::Json root, text::ParseJson(value.json, {.source = path}));
  const text::Json* summary = root.Find("summary");
  return summary != nullptr ? *summary : text::Json();
}

/// What people read of a summary: the line in words.
std::string BriefOf(const text::Json& summary) {
  const text::Json* brief = summary.Find("brief");
  return brief != nullptr && brief->string() != nullptr ? *brief->string() : "";
}

/// The library's trajectories.
using ByHash = std::map<std::string, store::ArtefactInfo>;

/// "assumed x0.5", "assumed"; empty of a trajectory in which nothing was.
std::string AssumptionOf(const store::ArtefactInfo& trajectory) {
  if (trajectory.provenance.step != "fit.assume") return "";
  const auto parameters =
      text::ParseJson(trajectory.provenance.parameters_json, {.source = trajectory.hash});
  const text::Json* factor = parameters ? parameters->Find("assumed_factor") : nullptr;
  if (factor == nullptr || !factor->number() || *factor->number() == 1.0) return "assumed";
  return "assumed x" + Cell(*factor->number()).ToText(-1);
}

/// What people know a result by.
std::string NameOf(const store::ArtefactInfo& info, const ByHash& trajectories) {
  for (const char* role : {"clip", "file"}) {
    if (const auto* input = pipeline::FindInput(info.provenance, role)) return input->name;
  }
  if (info.kind == "interaction_trajectory") return AssumptionOf(info);
  const auto* touched = pipeline::FindInput(info.provenance, "surface");
  if (info.kind != "motion" || touched == nullptr) return "";
  std::string text = touched->name;
  const auto parameters = text::ParseJson(info.provenance.parameters_json, {.source = info.hash});
  if (!parameters) return text;
  const text::Json *friction = parameters->Find("friction"), *form = parameters->Find("form");
  if (friction != nullptr && friction->number())
    text += ", friction " + Cell(*friction->number()).ToText(-1);
  if (form != nullptr && form->string() != nullptr) text += ", " + *form->string();
  const auto* played = pipeline::FindInput(info.provenance, "trajectory");
  const auto trajectory = played != nullptr ? trajectories.find(played->hash) : trajectories.end();
  const std::string assumed =
      trajectory != trajectories.end() ? AssumptionOf(trajectory->second) : "";
  return text + (assumed.empty() ? "" : ", ") + assumed;
}

/// What a list without rows is a part of, and the nearest kind there is.
Status NoteNoResults(Context& context, const store::Library& library) {
  HANDHOLD_ASSIGN(const std::vector<store::ArtefactInfo> all, library.Artefacts(""));
  context.progress.Note("0 of " + std::to_string(all.size()) + " results");
  const std::string kind = context.arguments.Text("--kind");
  std::vector<std::string> kinds;
  for (const store::ArtefactInfo& info : all) {
    if (std::find(kinds.begin(), kinds.end(), info.kind) == kinds.end()) kinds.push_back(info.kind);
  }
  if (kind.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return {};
  context.progress.Note("no result is of the kind '" + kind + "'" + DidYouMean(kind, kinds));
  return {};
}

}  // namespace

Verb ArtefactListVerb() {
  return {.noun = "artefact",
          .name = "list",
          .summary = "list what was fitted and synthesised, newest first",
          .examples = {"handhold artefact list --library lab",
                       "handhold artefact list --kind motion --clip session"},
          .options = {LibraryOption(),
                      {.name = "--kind", .value_name = "KIND", .help = "only this kind: motion"},
                      {.name = "--clip",
                       .value_name = "CLIP",
                       .help = "only what was made from this clip, directly or not"}},
          .run = [](Context& context) -> Outcome {
            const Arguments& given = context.arguments;
            HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
            std::vector<store::ArtefactInfo> list;
            if (given.Has("--clip")) {
              HANDHOLD_ASSIGN(const store::ClipRow clip, library->FindClip(given.Text("--clip")));
              HANDHOLD_ASSIGN(list, pipeline::Descendants(*library, clip.sha256));
              std::erase_if(list, [&](const store::ArtefactInfo& info) {
                return given.Has("--kind") && info.kind != given.Text("--kind");
              });
            } else {
              HANDHOLD_ASSIGN(list, library->Artefacts(given.Text("--kind")));
            }
            std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
              return a.provenance.made_utc > b.provenance.made_utc;
            });
            if (list.empty()) HANDHOLD_TRY(NoteNoResults(context, *library));
            Table table = context.printer.BeginTable({{.name = "artefact"},
                                                      {.name = "kind"},
                                                      {.name = "step"},
                                                      {.name = "version"},
                                                      {.name = "of"},
                                                      {.name = "made_utc_ns", .heading = "made"}});
            HANDHOLD_ASSIGN(const std::vector<store::ArtefactInfo> trajectories,
                            library->Artefacts("interaction_trajectory"));
            ByHash by_hash;
            for (const store::ArtefactInfo& info : trajectories) by_hash[info.hash] = info;
            const bool text = context.printer.format() == Format::kText;
            for (const store::ArtefactInfo& info : list) {
              table.Row({text ? info.hash.substr(0, 12) : info.hash, info.kind,
                         info.provenance.step, info.provenance.version, NameOf(info, by_hash),
                         Utc{info.provenance.made_utc}});
            }
            return Outcome::Done();
          }};
}

Verb ArtefactShowVerb() {
  return {.noun = "artefact",
          .name = "show",
          .summary = "show how a result was made and what the fit said of it",
          .examples = {"handhold artefact show 1f0c2a9b --library lab",
                       "handhold artefact show 1f0c2a9b --json"},
          .positionals = {ArtefactPositional()},
          .options = {LibraryOption()},
          .run = [](Context& context) -> Outcome {
            const Arguments& given = context.arguments;
            HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
            HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                            pipeline::FindArtefact(*library, given.Text("ARTEFACT"), ""));
            HANDHOLD_ASSIGN(const text::Json summary, SummaryOf(*library, info));
            HANDHOLD_ASSIGN(
                const text::Json parameters,
                text::ParseJson(info.provenance.parameters_json, {.source = info.hash}));
            Printer& out = context.printer;
            const bool text = out.format() == Format::kText;
            out.BeginDocument();
            out.PrintRecord(
                "artefact",
                {{{.name = "artefact"}, info.hash},
                 {{.name = "kind"}, info.kind},
                 {{.name = "step"}, info.provenance.step},
                 {{.name = "version"}, info.provenance.version},
                 {{.name = "made_utc_ns", .heading = "made"}, Utc{info.provenance.made_utc}},
                 {{.name = "tool"}, info.provenance.tool},
                 {{.name = "path"}, library->ArtefactPath(info.hash)},
                 {{.name = "summary"}, text ? Cell(BriefOf(summary)) : Cell(summary)}});
            {
              Table inputs =
                  out.BeginTable("inputs", {{.name = "role"}, {.name = "hash"}, {.name = "name"}});
              for (const artefact::ProvenanceInput& input : info.provenance.inputs)
                inputs.Row({input.role, input.hash, input.name});
            }
            Table table = out.BeginTable("parameters", {{.name = "parameter"}, {.name = "value"}});
            for (const text::JsonMember& member : parameters.members())
              table.Row({member.key, member.value});
            table.End();
            out.EndDocument();
            return Outcome::Done();
          }};
}

Verb ArtefactLineageVerb() {
  return {.noun = "artefact",
          .name = "lineage",
          .summary = "show what a result was made from, down to the recording, or made into",
          .examples = {"handhold artefact lineage 1f0c2a9b --library lab",
                       "handhold artefact lineage 1f0c2a9b --made-into"},
          .positionals = {ArtefactPositional()},
          .options = {LibraryOption(),
                      {.name = "--made-into",
                       .help = "the other way: everything that was made from it",
                       .kind = ValueKind::kFlag}},
          .run = [](Context& context) -> Outcome {
            const Arguments& given = context.arguments;
            HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
            HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                            pipeline::FindArtefact(*library, given.Text("ARTEFACT"), ""));
            const bool text = context.printer.format() == Format::kText;
            const auto shown = [text](const std::string& hash) {
              return text ? hash.substr(0, 12) : hash;
            };
            if (given.Flag("--made-into")) {
              HANDHOLD_ASSIGN(const auto list, pipeline::Descendants(*library, info.hash));
              Table table = context.printer.BeginTable(
                  {{.name = "kind"}, {.name = "artefact"}, {.name = "step"}});
              for (const store::ArtefactInfo& made : list)
                table.Row({made.kind, shown(made.hash), made.provenance.step});
              return Outcome::Done();
            }
            HANDHOLD_ASSIGN(const auto nodes, pipeline::Lineage(*library, info.hash));
            Table table = context.printer.BeginTable({{.name = "depth"},
                                                      {.name = "role"},
                                                      {.name = "kind"},
                                                      {.name = "hash"},
                                                      {.name = "step"},
                                                      {.name = "name"}});
            for (const pipeline::LineageNode& node : nodes) {
              if (node.seen && text) continue;
              const std::string indent =
                  text ? std::string(2 * static_cast<size_t>(node.depth), ' ') : "";
              table.Row({node.depth, indent + node.role, node.kind, shown(node.hash), node.step,
                         node.name});
            }
            return Outcome::Done();
          }};
}

Verb ArtefactExportVerb() {
  return {.noun = "artefact",
          .name = "export",
          .summary = "write a result as a table with units, or a motion as glTF",
          .examples = {"handhold artefact export 1f0c2a9b motion.csv --library lab",
                       "handhold artefact export 1f0c2a9b rows.csv --contacts --library lab",
                       "handhold artefact export 1f0c2a9b --to grasp.glb --library lab"},
          .positionals = {ArtefactPositional(),
                          {.name = "FILE",
                           .help = "to write: .csv or .glb; or --to",
                           .required = false,
                           .kind = ValueKind::kPath}},
          .options = {LibraryOption(),
                      {.name = "--to",
                       .value_name = "FILE",
                       .help = "the file, when it is not given as FILE",
                       .kind = ValueKind::kPath},
                      {.name = "--contacts",
                       .help = "of a motion: its contact rows instead of its frames",
                       .kind = ValueKind::kFlag}},
          .writes = true,
          .details =
              ".csv: frames of poses, objects, trajectories and motions; contact rows of contact "
              "tracks; member and value of anything else. .glb: glTF 2.0 with hands, props, "
              "animation and contact points; metres, Y up.",
          .run = [](Context& context) -> Outcome {
            const Arguments& given = context.arguments;
            if (given.Has("FILE") == given.Has("--to"))
              return Outcome::Usage("name one file to write: FILE, or --to FILE");
            const std::string file = given.Text(given.Has("FILE") ? "FILE" : "--to");
            const bool gltf = file.ends_with(".glb");
            if (!file.ends_with(".csv") && !gltf) {
              const std::string stem = file.substr(0, file.find_last_of('.'));
              return Outcome::Usage("'" + file +
                                    "': a result is written as a table, a motion as glTF too, "
                                    "and in no other format yet: name it " +
                                    stem + ".csv or " + stem + ".glb");
            }
            HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
            HANDHOLD_ASSIGN(
                const store::ArtefactInfo info,
                pipeline::FindArtefact(*library, given.Text("ARTEFACT"), gltf ? "motion" : ""));
            if (gltf) {
              HANDHOLD_ASSIGN(const pipeline::GltfExport done,
                              pipeline::ExportMotionGltf(*library, info, file, context.dry_run));
              context.printer.PrintRecord({{{.name = "file"}, file},
                                           {{.name = "motion"}, info.hash},
                                           {{.name = "frames"}, done.frames},
                                           {{.name = "nodes"}, done.nodes},
                                           {{.name = "bytes"}, done.bytes}});
              return Outcome::Done();
            }
            HANDHOLD_ASSIGN(const std::string table,
                            pipeline::ArtefactToCsv(*library, info, given.Flag("--contacts")));
            if (!context.dry_run) HANDHOLD_TRY(text::WriteTextFile(file, table));
            context.printer.PrintRecord(
                {{{.name = "file"}, file},
                 {{.name = "artefact"}, info.hash},
                 {{.name = "kind"}, info.kind},
                 {{.name = "lines"},
                  static_cast<int64_t>(std::count(table.begin(), table.end(), '\n'))}});
            return Outcome::Done();
          }};
}

}  // namespace handhold::cli
