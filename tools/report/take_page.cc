#include "tools/report/take_page.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "database/artefact/kind.h"
#include "database/base/shell.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/lineage.h"
#include "tools/report/html.h"
#include "tools/report/scene_load.h"
#include "tools/report/take_summary.h"

namespace handhold::report {
namespace {

using store::ArtefactInfo;
using text::Json;

Json Strings(const std::vector<std::string>& list) {
  return Json::Array(std::span<const std::string>(list));
}

/// A table in the making: words in cells.
class Rows {
 public:
  explicit Rows(const std::vector<std::string>& head) : head_(Strings(head)) {}
  void Add(const std::vector<std::string>& cells, bool red = false) {
    if (red) red_.Push(static_cast<int64_t>(rows_.elements().size()));
    rows_.Push(Strings(cells));
  }
  bool empty() const { return rows_.elements().empty(); }
  Json Take(const std::string& caption = "") {
    Json table = Json::Object({{"head", head_}, {"rows", rows_}, {"red", red_}});
    if (!caption.empty()) table.Set("caption", caption);
    return table;
  }

 private:
  Json head_, rows_ = Json::Array(), red_ = Json::Array();
};

Json Section(const std::string& id, const std::string& title, const std::vector<std::string>& lines,
             std::vector<Json> tables, bool folded = false) {
  Json list = Json::Array();
  for (Json& table : tables) list.Push(std::move(table));
  return Json::Object({{"id", id},
                       {"title", title},
                       {"lines", Strings(lines)},
                       {"tables", std::move(list)},
                       {"folded", folded}});
}

std::string Seconds(double s) { return Fixed(s, s < 10 ? 3 : 1) + " s"; }

std::string Utc(Timestamp t) {
  const std::string text = FormatUtc(t);
  return text.substr(0, std::min<size_t>(text.size(), 19)) + " UTC";
}

Json StreamsSection(const TakeSection& take) {
  Rows rows({"stream", "kind", "rate", "channels", "samples", "length", "gaps", "lost", "not seen",
             "clock", "late p99"});
  for (const StreamRow& s : take.streams) {
    rows.Add({s.name, s.kind, s.rate_Hz > 0 ? Significant(s.rate_Hz, 5) + " Hz" : "uneven",
              std::to_string(s.channels), Grouped(s.samples), Seconds(s.length_s),
              std::to_string(s.gaps), Grouped(s.missing_samples),
              Fixed(100 * s.missing_share, 2) + " %", Fixed(s.clock_ppm, 1) + " ppm",
              std::isfinite(s.clock_p99_s) ? Fixed(1e3 * s.clock_p99_s, 3) + " ms" : ""},
             s.gaps > 0);
  }
  return Section("streams", "Streams", {}, {rows.Take()});
}

Json GapsSection(const TakeSection& take) {
  Rows rows({"stream", "begin", "length", "samples", "cause"});
  for (const GapRow& gap : MergedGaps(take))
    rows.Add({gap.stream, Seconds(gap.begin_s), Fixed(1e3 * gap.length_s, 1) + " ms",
              Grouped(gap.samples), gap.cause});
  if (rows.empty()) return Section("gaps", "Gaps", {"Nothing is missing."}, {});
  return Section("gaps", "Gaps", {}, {rows.Take()});
}

Json HealthSection(const TakeSection& take) {
  if (!take.judged)
    return Section("health", "Health",
                   {"No recorder judged this take: it was imported, or made without one."}, {});
  Rows rows({"stream", "figure", "at the end", "worst", "limit", "cause"});
  bool red = false;
  for (const HealthLine& line : HealthLines(take)) {
    rows.Add({line.stream, line.figure, line.value, line.worst, line.limit, line.cause}, line.red);
    red |= line.red;
  }
  return Section("health", "Health", {take.advice.empty() ? "Keep it." : take.advice},
                 {rows.Take()}, !red);
}

/// What people said: the ledger's entries that hold now.
Result<Json> SaidSection(const store::Library& library, const store::ClipRow& row) {
  std::vector<std::string> lines;
  Rows rows({"kind", "what", "said", "at", "author", "when"});
  const auto current = library.ledger().Current(row.id);
  if (!current) {
    lines.push_back("The ledger cannot be read: " + current.error().message);
  } else {
    for (const store::LedgerEntry& entry : *current) {
      if (entry.removed) continue;
      const std::string at = entry.span ? Seconds(entry.span->begin.seconds()) : "";
      rows.Add({std::string(store::LedgerKindName(entry.kind)), entry.name, entry.value, at,
                entry.author, Utc(entry.utc)});
    }
  }
  if (rows.empty() && lines.empty())
    lines.push_back("Nobody has said anything about it: 'handhold clip tag' and 'clip rate' do.");
  std::vector<Json> tables;
  if (!rows.empty()) tables.push_back(rows.Take());
  return Section("said", "Notes, tags, rating", lines, std::move(tables));
}

Json MarksSection(const recording::ClipSource& clip) {
  constexpr int kMost = 200;
  Rows rows({"time", "kind", "length", "text", "value", "by"});
  int more = 0;
  for (const recording::Event& event : clip.events()) {
    if (event.origin == "indexer") continue;
    if (static_cast<int>(rows.Take().Find("rows")->elements().size()) >= kMost) {
      ++more;
      continue;
    }
    rows.Add({Seconds(event.clip_time.seconds()), event.kind,
              event.length.ns() > 0 ? Seconds(event.length.seconds()) : "", event.text,
              event.value != 0.0 ? Significant(event.value, 4) : "", event.origin});
  }
  if (rows.empty()) return Section("marks", "Marks", {"None."}, {});
  std::vector<std::string> lines;
  if (more > 0) lines.push_back(std::to_string(more) + " more are in the clip.");
  return Section("marks", "Marks", lines, {rows.Take()}, true);
}

/// What a result says of itself.
struct Told {
  std::string brief;  ///< in one line; empty where it says nothing
  Issues issues;
};

Result<Told> Ask(const store::Library& library, const ArtefactInfo& info) {
  Told told;
  std::string& text = told.brief;
  Status read;
  artefact::ForEachKind([&]<typename T>(const T&) {
    if (info.kind != artefact::KindOf<T>::name) return;
    const Result<T> value = store::Load<T>(library.ArtefactPath(info.hash));
    if (!value) {
      read = value.error();
      return;
    }
    if constexpr (requires(const T& t) { t.summary.issues; }) told.issues = value->summary.issues;
    if constexpr (requires(const T& t) { t.summary.Brief(); }) {
      text = value->summary.Brief();
    } else if constexpr (requires(const T& t) { t.verdict; }) {
      for (const auto& object : value->objects) text += (text.empty() ? "on " : ", ") + object.name;
      text += ": " + std::string(artefact::VerdictName(value->verdict.kind));
      for (const auto& [name, figure] : value->summary.figures)
        text += ", " + name + " " + Significant(figure, 3);
    }
  });
  if (!read) return read.error();
  return told;
}

/// What results warned of: a reader of their numbers sees it beside them. What a later result
/// carries on from an earlier one stands once, with the earlier.
std::vector<Json> WarningsTable(const std::vector<ArtefactInfo>& list,
                                const std::vector<Result<Told>>& told) {
  Rows rows({"warned by", "of", "what"});
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!told[i]) continue;
    for (const Issue& issue : told[i]->issues) {
      if (issue.severity < Severity::kWarning || !seen.emplace(issue.where, issue.what).second)
        continue;
      rows.Add({list[i].kind + " " + pipeline::ShortHash(list[i].hash), issue.where, issue.what},
               true);
    }
  }
  if (rows.empty()) return {};
  std::vector<Json> tables;
  tables.push_back(rows.Take("Warnings"));
  return tables;
}

/// Every result; in red what cannot be read, what the picture therefore lacks, and warnings.
Json ResultsSection(const store::Library& library, std::vector<ArtefactInfo> list,
                    const std::vector<std::string>& left_out) {
  std::stable_sort(list.begin(), list.end(), [](const ArtefactInfo& a, const ArtefactInfo& b) {
    return a.provenance.made_utc < b.provenance.made_utc;
  });
  std::vector<Result<Told>> told;
  for (const ArtefactInfo& info : list) told.push_back(Ask(library, info));
  Rows rows({"result", "kind", "made by", "what it says", "made", "tool"});
  for (size_t i = 0; i < list.size(); ++i) {
    const ArtefactInfo& info = list[i];
    rows.Add({pipeline::ShortHash(info.hash), info.kind,
              info.provenance.step + " " + std::to_string(info.provenance.version),
              told[i] ? told[i]->brief : "cannot be read: " + told[i].error().message,
              Utc(info.provenance.made_utc), info.provenance.tool},
             !told[i]);
  }
  Rows missing({"not in the picture"});
  for (const std::string& line : left_out) missing.Add({line}, true);
  std::vector<Json> tables = WarningsTable(list, told);
  if (!missing.empty()) tables.push_back(missing.Take());
  if (rows.empty())
    return Section("results", "Fits and motions",
                   {"Nothing was fitted to it yet: 'handhold fit skeleton' begins."},
                   std::move(tables));
  tables.push_back(rows.Take());
  return Section("results", "Fits and motions",
                 {"'handhold artefact show HASH' tells more of each, 'artefact lineage HASH' what "
                  "it was made from."},
                 std::move(tables));
}

Json ProvenanceSection(const std::vector<ArtefactInfo>& list) {
  std::vector<Json> tables;
  for (const ArtefactInfo& info : list) {
    Rows rows({"role or parameter", "what"});
    for (const artefact::ProvenanceInput& input : info.provenance.inputs)
      rows.Add({input.role, input.name + " " + pipeline::ShortHash(input.hash)});
    const auto parameters = text::ParseJson(info.provenance.parameters_json, {.source = info.hash});
    if (parameters) {
      for (const text::JsonMember& member : parameters->members()) {
        const auto text = text::WriteJson(member.value);
        rows.Add({member.key, text ? *text : ""});
      }
    }
    tables.push_back(rows.Take(info.kind + " " + pipeline::ShortHash(info.hash)));
  }
  return Section("provenance", "Inputs and parameters", {}, std::move(tables), true);
}

Json DataSection(const store::Library& library, const store::ClipRow& row) {
  const std::string word = ShellWord(row.name) + " --library " + ShellWord(library.path());
  Rows rows({"what", "where"});
  rows.Add({"file", row.path});
  rows.Add({"SHA-256", row.sha256});
  rows.Add({"id", row.id});
  rows.Add({"as CSV", "handhold clip export " + word + " --to " + ShellWord(row.name + ".csv")});
  rows.Add({"as C3D", "handhold clip export " + word + " --to " + ShellWord(row.name + ".c3d")});
  rows.Add({"this page", "handhold report " + word});
  return Section("data", "Data", {}, {rows.Take()});
}

}  // namespace

Result<TakePage> MakeTakePage(const pipeline::StepContext& context, const std::string& key,
                              const SceneLimits& limits) {
  const store::Library& library = context.library;
  HANDHOLD_ASSIGN(const pipeline::FoundClip found, pipeline::FindClip(context, key));
  const store::ClipRow& row = found.row;
  HANDHOLD_ASSIGN(const auto clip, library.OpenClip(row.id));
  HANDHOLD_ASSIGN(const TakeSection take, ReadTake(*clip));
  HANDHOLD_ASSIGN(std::vector<ArtefactInfo> results, pipeline::Descendants(library, row.sha256));
  // A damaged result must not take the rest of the page with it.
  Result<LoadedScene> loaded = LoadScene(context, {row.id}, limits, Unreadable::kLeaveOut);
  std::vector<std::string> left_out;
  if (loaded) {
    loaded->scene.title = row.name;
    left_out = loaded->left_out;
  } else {
    left_out.push_back("There is no picture: " + loaded.error().message);
  }

  TakePage page;
  page.name = row.name;
  if (loaded) page.chosen = loaded->chosen;
  Json sections = Json::Array();
  sections.Push(StreamsSection(take)).Push(GapsSection(take)).Push(HealthSection(take));
  HANDHOLD_ASSIGN(Json said, SaidSection(library, row));
  sections.Push(std::move(said)).Push(MarksSection(*clip));
  sections.Push(ResultsSection(library, results, left_out));
  page.results = static_cast<int64_t>(results.size());
  if (!results.empty()) sections.Push(ProvenanceSection(results));
  sections.Push(DataSection(library, row));

  Json facts = Json::Array();
  const auto fact = [&](const char* what, const std::string& value) {
    if (!value.empty()) facts.Push(Json::Array({what, value}));
  };
  std::string tags;
  for (const std::string& tag : row.tags) tags += (tags.empty() ? "" : ", ") + tag;
  fact("subject", row.subject), fact("session", row.session), fact("task", row.task);
  fact("prop", row.prop), fact("recorded", Utc(row.utc_start));
  fact("length", Seconds(row.length.seconds()));
  fact("rating", row.rating ? std::to_string(*row.rating) + " of 5" : "");
  fact("tags", tags);
  Json report = Json::Object({{"format", "handhold.report"},
                              {"version", 1},
                              {"title", row.name},
                              {"subtitle", row.task.empty() ? "a take" : "task " + row.task},
                              {"facts", std::move(facts)},
                              {"sections", std::move(sections)}});
  if (take.judged)
    report.Set("verdict",
               Json::Object({{"good", take.keep},
                             {"text", take.keep ? "The recorder's advice: keep it."
                                                : "The recorder's advice: " + take.advice}}));
  page.data = Json::Object({{"page", "report"},
                            {"report", std::move(report)},
                            {"scene", loaded ? SceneToJson(loaded->scene) : Json()}});
  return page;
}

}  // namespace handhold::report
