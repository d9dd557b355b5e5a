#include "tools/handhold/steps.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "database/base/log.h"
#include "database/recording/pose_text.h"
#include "database/text/json.h"

namespace handhold::cli {

Positional ClipPositional() {
  return {.name = "CLIP", .help = "name, id, or the beginning of an id"};
}

Option MeshUnitOption() {
  return {.name = "--mesh-unit",
          .value_name = "UNIT",
          .help = "of a mesh file",
          .kind = ValueKind::kChoice,
          .choices = {"mm", "cm", "m", "in"},
          .fallback = "mm"};
}

std::optional<Outcome> MeshUnitRefusal(const Arguments& given, const std::string& prop) {
  if (!given.Has("--mesh-unit") || pipeline::IsMeshFile(prop)) return std::nullopt;
  return Outcome::Usage("--mesh-unit is of mesh files: '" + prop + "' is none");
}

double MetresPerUnit(const Arguments& given) {
  const std::string unit = given.Text("--mesh-unit");
  return unit == "m" ? 1.0 : unit == "cm" ? 0.01 : unit == "in" ? 0.0254 : 0.001;
}

std::vector<Option> HandOptions() {
  return {{.name = "--scale",
           .value_name = "FACTOR",
           .help = "the named hand made larger or smaller",
           .kind = ValueKind::kNumber,
           .fallback = "1",
           .range = {.least = 0.1, .most = 10}},
          {.name = "--side",
           .value_name = "SIDE",
           .help = "the hand of that side; default: as it is, or by the clip's markers",
           .kind = ValueKind::kChoice,
           .choices = {"right", "left"}},
          {.name = "--marker-set",
           .value_name = "SET",
           .help = "of the hand's markers those of this set: 22, 30"},
          {.name = "--free-base",
           .help = "let a hand go that is fixed in the world",
           .kind = ValueKind::kFlag},
          {.name = "--marker-map",
           .value_name = "MAP",
           .help = "a lab's own labels: a map of ours or a .json file that says hand and places"},
          {.name = "--map-hand",
           .value_name = "NAME",
           .help = "which hand of the map; default: its only one"}};
}

pipeline::HandVariant HandVariantOf(const Arguments& given) {
  return {.side = given.Text("--side"),
          .marker_set = given.Text("--marker-set"),
          .free_base = given.Flag("--free-base"),
          .marker_map = given.Text("--marker-map"),
          .map_hand = given.Text("--map-hand")};
}

std::vector<Option> RangeOptions() {
  return {{.name = "--from",
           .value_name = "TIME",
           .help = "from this clip time on: 1.25s",
           .kind = ValueKind::kDuration},
          {.name = "--to",
           .value_name = "TIME",
           .help = "up to this clip time",
           .kind = ValueKind::kDuration}};
}

Result<std::optional<geometry::RigidTransform>> PoseOption(const Arguments& given,
                                                           std::string_view name) {
  if (!given.Has(name)) return std::optional<geometry::RigidTransform>();
  Result<geometry::RigidTransform> pose = recording::ParsePose(given.Text(name));
  if (!pose) return pose.error().Within(name);
  return std::optional<geometry::RigidTransform>(*pose);
}

Result<std::optional<TimeRange>> RangeOf(const Arguments& given) {
  if (!given.Has("--from") && !given.Has("--to")) return std::optional<TimeRange>();
  TimeRange range{Timestamp(), Timestamp::FromNanoseconds(std::numeric_limits<int64_t>::max() / 4)};
  if (given.Has("--from")) range.begin = Timestamp() + given.Time("--from");
  if (given.Has("--to")) range.end = Timestamp() + given.Time("--to");
  if (range.length() <= Duration()) {
    return Error{ErrorCode::kInvalid, "--to " + FormatSeconds(range.end - Timestamp()) +
                                          " is not after --from " +
                                          FormatSeconds(range.begin - Timestamp())};
  }
  return std::optional<TimeRange>(range);
}

pipeline::StepContext StepContextOf(Context& context, store::Library& library, std::string what) {
  return {.library = library,
          .progress = context.StepProgress(std::move(what)),
          .tool = std::string("handhold ") + HANDHOLD_VERSION,
          .dry_run = context.dry_run,
          .tell = [&context](const std::string& said) { context.progress.Note(said); }};
}

void Tell(Context& context, const pipeline::StepResult& result) {
  context.progress.End();
  for (const std::string& sentence : result.chosen) context.progress.Note("using " + sentence);
  if (!result.cut_short.empty()) context.progress.Note("cut short: " + result.cut_short);
}

std::vector<Field> ResultFields(const Context& context, const pipeline::StepResult& result) {
  const char* state = result.reused ? "there already" : context.dry_run ? "would be made" : "made";
  return {{{.name = "artefact"}, result.hash},
          {{.name = "step"}, result.provenance.step},
          {{.name = "state"}, state}};
}

Outcome RunAndPrint(Context& context, const StepRun& step) {
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(context.arguments.Text("--library")));
  HANDHOLD_ASSIGN(const pipeline::StepResult result,
                  step.run(StepContextOf(context, *library, step.doing)));
  Tell(context, result);
  Printer& out = context.printer;
  out.BeginDocument();
  out.PrintRecord(step.record, ResultFields(context, result));
  Issues issues;
  if (!context.dry_run || result.reused) {
    HANDHOLD_ASSIGN(issues, step.print(out, library->ArtefactPath(result.hash)));
  }
  out.EndDocument();
  return Outcome::FromIssues(issues);
}

void PrintVerdict(Printer& out, const artefact::Verdict& verdict) {
  const bool judged = verdict.kind != artefact::Verdict::Kind::kNotJudged;
  out.PrintRecord(
      "verdict",
      {{{.name = "verdict"}, std::string(artefact::VerdictName(verdict.kind))},
       {{.name = "when_ns", .heading = "when"}, judged ? Cell(verdict.when) : Cell(std::nullopt)},
       {{.name = "cause"}, verdict.cause}});
}

std::vector<artefact::MarkerAgreement> WorstMarkers(
    const Printer& out, std::vector<artefact::MarkerAgreement> markers) {
  std::stable_sort(markers.begin(), markers.end(),
                   [](const auto& a, const auto& b) { return a.rms_m > b.rms_m; });
  if (IsBrief(out) && markers.size() > 5) markers.resize(5);
  return markers;
}

bool IsBrief(const Printer& out) {
  return out.format() == Format::kText && log_level() > LogLevel::kInfo;
}

std::optional<Outcome> PageRefusal(const std::string& to) {
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::path(to).parent_path();
  if (std::filesystem::is_directory(to, none) || to.ends_with("/"))
    return Outcome::Usage("--to: '" + to + "' is a folder; name the page: " + to +
                          (to.ends_with("/") ? "" : "/") + "report.html");
  if (!folder.empty() && !std::filesystem::is_directory(folder, none))
    return Outcome::Usage("--to: there is no folder '" + folder.string() +
                          "' to write the page in");
  return std::nullopt;
}

}  // namespace handhold::cli
