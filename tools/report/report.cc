#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "database/base/units.h"
#include "tools/report/html.h"
#include "tools/report/page_style.h"
#include "tools/report/report_data.h"
#include "tools/report/take_summary.h"

namespace handhold::report {
namespace {

const std::string kGap = "\xE2\x80\xAF";  // narrow, between a figure and its unit: never broken

// Sections write themselves one after the other; figures are numbered as they come.
class Page {
 public:
  explicit Page(const ReportData& data) : d_(data) {}

  std::string Write() {
    h_.Raw("<!DOCTYPE html>\n").Open("html", {{"lang", "en"}});
    h_.Open("head").Empty("meta", {{"charset", "utf-8"}});
    h_.Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    h_.Empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    h_.Element("title", d_.title + " – " + d_.take.name);
    h_.Open("style").Raw(kPageStyle).Close("style").Close("head");
    h_.Open("body").Open("main");
    Head();
    Stroke();
    Take();
    Motion();
    Compliance();
    Replay();
    Criteria();
    Provenance();
    h_.Close("main").Close("body").Close("html");
    return h_.Take();
  }

 private:
  void Section(const char* id, const char* title) { h_.Element("h2", title, {{"id", id}}); }
  void P(const std::string& text) { h_.Element("p", text); }
  void Th(const char* text, bool number = false) {
    h_.Element("th", text, {{"scope", "col"}, {"class", number ? "n" : ""}});
  }
  void Td(const std::string& text, bool number = false) {
    h_.Element("td", text, {{"class", number ? "n" : ""}});
  }
  void TableHead(const std::string& caption,
                 std::initializer_list<std::pair<const char*, bool>> columns) {
    h_.Open("div", {{"class", "scroll"}})
        .Open("table")
        .Element("caption", caption)
        .Open("thead")
        .Open("tr");
    for (const auto& [text, number] : columns) Th(text, number);
    h_.Close("tr").Close("thead").Open("tbody");
  }
  void TableEnd() { h_.Close("tbody").Close("table").Close("div"); }
  void Figures(const std::vector<Figure>& figures) {
    for (const Figure& figure : figures) WriteFigure(figure, ++figures_, &h_);
  }
  void Pictures(const std::vector<Picture>& pictures, const std::string& id,
                const std::string& caption) {
    if (pictures.empty()) return;
    h_.Open("figure", {{"id", id}}).Open("div", {{"class", "pictures"}});
    for (const Picture& picture : pictures) {
      h_.Open("div");
      WritePicture(picture, &h_);
      h_.Text(picture.title).Close("div");
    }
    h_.Close("div")
        .Open("figcaption")
        .Element("b", "Figure " + std::to_string(++figures_) + ".")
        .Text(" " + caption);
    h_.Close("figcaption").Close("figure");
  }

  int Count(Criterion::Verdict verdict) const {
    return static_cast<int>(
        std::count_if(d_.criteria.begin(), d_.criteria.end(),
                      [&](const Criterion& c) { return c.verdict == verdict; }));
  }
  void Tile(const std::string& figure, const std::string& text) {
    h_.Open("div", {{"class", "tile"}}).Element("b", figure).Text(text).Close("div");
  }

  void Head() {
    h_.Element("h1", d_.title);
    h_.Open("p", {{"class", "lead"}});
    h_.Text(
        "A finger stroked a surface while cameras followed its markers and a sensor below the "
        "surface felt its "
        "force.");
    if (!d_.compliance.empty()) {
      h_.Text(
          " From what the sensors saw, this run worked out how the finger moved, where it touched, "
          "how its joints yielded, and what it had been about to do");
      h_.Text(d_.replays.empty()
                  ? "."
                  : "; then it let the fitted finger touch surfaces that it never touched.");
    }
    h_.Close("p");
    P("The method is interaction capture (Kry and Pai, 2006); the marks of its Figures 3, 4 and "
      "Table 1 are kept, so that "
      "this page can be laid beside the paper.");
    std::string meta = "Clip " + (d_.take.name.empty() ? d_.take.clip_id : d_.take.name) +
                       ", subject " + d_.take.subject;
    if (!d_.made_utc.empty()) meta += "; made " + d_.made_utc;
    meta += " by " + d_.tool +
            ". Every figure on this page was computed in that run, but for Table 1 as published.";
    h_.Element("p", meta, {{"class", "meta"}});
    if (!d_.truth_note.empty()) h_.Element("p", d_.truth_note, {{"class", "meta"}});
    Tiles();
    for (const std::string& missing : d_.missing)
      h_.Element("p", missing, {{"class", "note missing"}});
    for (const std::string& issue : d_.issues) h_.Element("p", issue, {{"class", "note"}});
    h_.Open("nav", {{"aria-label", "Sections"}});
    for (const auto& [id, text] : {std::pair{"stroke", "One stroke"},
                                   {"take", "The take"},
                                   {"motion", "Motion and contact"},
                                   {"compliance", "Joint compliance"},
                                   {"replay", "Replay"},
                                   {"criteria", "Criteria"},
                                   {"provenance", "Provenance"}}) {
      h_.Element("a", text, {{"href", std::string("#") + id}});
    }
    h_.Close("nav");
  }

  static std::string GapsText(size_t gaps) {
    if (gaps == 0) return "no gaps";
    if (gaps == 1) return "1 gap, written down";
    return Grouped(static_cast<long long>(gaps)) + " gaps, each written down";
  }

  void Tiles() {
    h_.Open("div", {{"class", "tiles"}});
    Tile(Fixed(d_.take.length_s, 1) + kGap + "s",
         "recorded, " + GapsText(MergedGaps(d_.take).size()));
    int answered = 0, asked = 0;
    for (const ComplianceRow& row : d_.compliance) {
      if (!row.dynamic) continue;
      ++asked, answered += row.dynamic->value_rad_per_Nm.has_value();
    }
    if (asked)
      Tile(std::to_string(answered) + " of " + std::to_string(asked),
           "joint compliances answered; the others refused, with reasons");
    const ReplayRow* worst = nullptr;
    for (const ReplayRow& row : d_.replays) {
      if (row.inputs != "fitted" || row.tautology || !std::isfinite(row.force_median)) continue;
      if (worst == nullptr || row.force_median > worst->force_median) worst = &row;
    }
    if (worst != nullptr) {
      Tile(Percent(worst->force_median),
           "of peak force: median replay error with fitted values" +
               (worst->assumed.empty() ? "" : " (" + worst->assumed + " assumed)") +
               ", on the worst surface never recorded (" + worst->surface + ", " + worst->form +
               ")");
    }
    const int met = Count(Criterion::Verdict::kMet), not_met = Count(Criterion::Verdict::kNotMet);
    if (met + not_met)
      Tile(std::to_string(met) + " of " + std::to_string(met + not_met),
           "criteria decided by this run are met");
    h_.Close("div");
  }

  void Stroke() {
    Section("stroke", "One stroke");
    if (d_.stroke.empty()) {
      P("No picture: it needs a fitted skeleton, joint angles, contacts and the surface.");
      return;
    }
    Pictures(d_.stroke, "figure-stroke", d_.stroke_caption);
  }

  void Take() {
    Section("take", "The take");
    TableHead(
        "What was recorded. Clock: how fast the device's clock ran against the recorder's, how "
        "well that is known, and how late the "
        "latest 1 % of packets came.",
        {{"stream", false},
         {"rate", true},
         {"channels", true},
         {"samples", true},
         {"gaps", true},
         {"samples lost", true},
         {"values missing", true},
         {"clock, ppm", true},
         {"known to, µs", true},
         {"lateness p99, ms", true}});
    for (const StreamRow& s : d_.take.streams) {
      h_.Open("tr")
          .Open("th", {{"scope", "row"}})
          .Text(s.name)
          .Element("span", s.kind, {{"class", "sub"}})
          .Close("th");
      Td(Plain(s.rate_Hz) + kGap + "Hz", true);
      Td(Grouped(s.channels), true);
      Td(Grouped(s.samples), true);
      Td(Grouped(s.gaps), true);
      Td(Grouped(s.missing_samples), true);
      Td(Fixed(100 * s.missing_share, 2) + kGap + "%", true);
      Td(Fixed(s.clock_ppm, 1), true);
      Td(Fixed(1e6 * s.clock_sd_s, 1), true);
      Td(Fixed(1e3 * s.clock_p99_s, 2), true);
      h_.Close("tr");
    }
    TableEnd();
    if (d_.take.gaps.empty()) {
      P("No gaps: every sample that the devices numbered is there.");
    } else {
      TableHead(
          "Gaps: samples that the devices numbered and that did not come.",
          {{"stream", false}, {"at", true}, {"length", true}, {"samples", true}, {"cause", false}});
      for (const GapRow& g : MergedGaps(d_.take)) {
        h_.Open("tr").Element("th", g.stream, {{"scope", "row"}});
        Td(Fixed(g.begin_s, 3) + kGap + "s", true),
            Td(Fixed(1e3 * g.length_s, 1) + kGap + "ms", true), Td(Grouped(g.samples), true),
            Td(g.cause);
        h_.Close("tr");
      }
      TableEnd();
    }
    Health();
  }

  void Health() {
    if (!d_.take.judged) {
      P("No recorder judged this take: it was made in memory or imported.");
      return;
    }
    P(std::string("The recorder's advice: ") + (d_.take.keep ? "keep. " : "record it again. ") +
      d_.take.advice);
    const std::vector<HealthLine> lines = HealthLines(d_.take);
    const auto green =
        std::find_if(lines.begin(), lines.end(), [](const auto& l) { return !l.red; });
    if (green != lines.begin()) HealthTable("What was red while recording.", lines.begin(), green);
    if (green == lines.end()) return;
    h_.Open("details").Element(
        "summary", std::to_string(lines.end() - green) + " figures of the recorder stayed green");
    HealthTable("What stayed green while recording.", green, lines.end());
    h_.Close("details");
  }

  using HealthIterator = std::vector<HealthLine>::const_iterator;
  void HealthTable(const char* caption, HealthIterator begin, HealthIterator end) {
    TableHead(caption, {{"stream", false},
                        {"figure", false},
                        {"at the end", true},
                        {"worst", true},
                        {"limit", true},
                        {"verdict", false}});
    for (auto line = begin; line != end; ++line) {
      h_.Open("tr").Element("th", line->stream, {{"scope", "row"}});
      Td(line->figure), Td(line->value, true), Td(line->worst, true), Td(line->limit, true);
      h_.Open("td").Element("span", line->red ? "✗ red" : "✓ green",
                            {{"class", line->red ? "not-met" : "met"}});
      if (line->red && !line->cause.empty()) h_.Element("span", line->cause, {{"class", "sub"}});
      h_.Close("td").Close("tr");
    }
    TableEnd();
  }

  void Motion() {
    Section("motion", "Motion and contact");
    if (!d_.skeleton_line.empty()) P(d_.skeleton_line);
    if (!d_.lengths.empty()) {
      const bool planted = std::any_of(d_.lengths.begin(), d_.lengths.end(),
                                       [](const LengthRow& l) { return l.planted_m.has_value(); });
      h_.Open("div", {{"class", "scroll"}})
          .Open("table")
          .Element("caption", "Segment lengths across the joints' axes, mm.");
      h_.Open("thead").Open("tr");
      Th("segment"), Th("fitted", true);
      if (planted) Th("planted", true), Th("error", true);
      h_.Close("tr").Close("thead").Open("tbody");
      for (const LengthRow& l : d_.lengths) {
        h_.Open("tr").Element("th", l.segment, {{"scope", "row"}});
        Td(Fixed(1e3 * l.fitted_m, 2), true);
        if (planted) Td(l.planted_m ? Fixed(1e3 * *l.planted_m, 2) : "–", true);
        if (planted) Td(l.planted_m ? Fixed(1e3 * (l.fitted_m - *l.planted_m), 3) : "–", true);
        h_.Close("tr");
      }
      TableEnd();
    }
    if (!d_.pose_line.empty()) P(d_.pose_line);
    if (!d_.contact_line.empty()) P(d_.contact_line);
    if (d_.pose_line.empty() && d_.contact_line.empty()) P("Nothing fitted yet.");
    Figures(d_.contact_figures);
  }

  void Cell(const std::optional<ComplianceCell>& cell) {
    if (!cell) {
      Td("–", true);
      return;
    }
    h_.Open("td", {{"class", "n"}});
    if (cell->value_rad_per_Nm) {
      h_.Text(Fixed(*cell->value_rad_per_Nm, 4));
      h_.Element("span",
                 Fixed(cell->lower_rad_per_Nm, 4) + " … " + Fixed(cell->upper_rad_per_Nm, 4),
                 {{"class", "sub"}});
    } else {
      h_.Element("span", "refused", {{"class", "refused"}});
      if (cell->assumed_rad_per_Nm) {
        h_.Text(" ").Element("span", "assumed " + Fixed(*cell->assumed_rad_per_Nm, 4),
                             {{"class", "assumed"}});
        if (std::isfinite(cell->upper_rad_per_Nm)) {
          h_.Element("span",
                     "the refused fit leaves open " + Fixed(cell->lower_rad_per_Nm, 4) + " … " +
                         Fixed(cell->upper_rad_per_Nm, 4),
                     {{"class", "sub"}});
        }
      }
      h_.Element("span", cell->refusal, {{"class", "sub why"}});
    }
    h_.Close("td");
  }

  static std::string ErrorText(const ComplianceRow& row,
                               const std::optional<ComplianceCell>& cell) {
    if (!row.planted_rad_per_Nm || !cell || !cell->value_rad_per_Nm) return "–";
    const double error = *cell->value_rad_per_Nm / *row.planted_rad_per_Nm - 1;
    return std::string(error > 0 ? "+" : "") + Fixed(100 * error, 1) + kGap + "%";
  }

  void Compliance() {
    Section("compliance", "Joint compliance");
    if (d_.compliance.empty()) {
      P("No compliance fit in the library.");
      return;
    }
    P("How far a joint gives way per newton metre. A joint is answered only when the data "
      "determine it; otherwise it is "
      "refused, with the reason. Synthesis then needs a value by name, and everything made with it "
      "says assumed.");
    const bool planted = std::any_of(d_.compliance.begin(), d_.compliance.end(), [](const auto& r) {
      return r.planted_rad_per_Nm.has_value();
    });
    h_.Open("div", {{"class", "scroll"}}).Open("table", {{"id", "table-1"}});
    h_.Element("caption", std::string("Joint compliances in rad/Nm with 95 % intervals, in the "
                                      "order of the paper's Table 1") +
                              (planted ? ", beside what was planted in this subject." : "."));
    h_.Open("thead").Open("tr");
    Th("task"), Th("joint"), Th("published 2006", true);
    if (planted) Th("planted (truth)", true);
    Th("paper’s estimator", true);
    if (planted) Th("error", true);
    Th("dynamic estimator (E4)", true);
    if (planted) Th("error", true);
    h_.Close("tr").Close("thead").Open("tbody");
    std::string task;
    for (const ComplianceRow& row : d_.compliance) {
      h_.Open("tr", {{"class", row.task != task ? "first" : ""}})
          .Element("td", row.task != task ? row.task : "");
      h_.Open("th", {{"scope", "row"}}).Text(row.joint);
      if (row.joint != row.dof) h_.Element("span", row.dof, {{"class", "sub"}});
      h_.Close("th");
      Td(row.published.empty() ? "–" : row.published, true);
      if (planted) Td(row.planted_rad_per_Nm ? Fixed(*row.planted_rad_per_Nm, 4) : "–", true);
      Cell(row.paper);
      if (planted) Td(ErrorText(row, row.paper), true);
      Cell(row.dynamic);
      if (planted) Td(ErrorText(row, row.dynamic), true);
      h_.Close("tr");
      task = row.task;
    }
    TableEnd();
    P("Joints are taken to give way each for itself. The intervals of the dynamic estimator hold "
      "for "
      "elastic couplings of neighbours (a tendon across both) up to 20 % that the contacts do not "
      "exclude; its values are for none. No fit can see a force sensor whose gain is wrong (every "
      "compliance is then off by as much, the other way), a coupling of joints that are no "
      "neighbours, or compliance that changes with the force.");
    Estimators();
    Figures(d_.compliance_figures);
  }

  void Estimators() {
    TableHead(
        "What each estimator used and left out. T is the joints' time constant; the shift is how "
        "late the force came after the "
        "markers by the fit's own account. The inertia scale is what the fit makes of the "
        "template's inertias, which nobody measured: 1 would mean they were right, a template 10 % "
        "too long gives about 0.75; the palm’s own is on top of that, against the fingers.",
        {{"task", false},
         {"estimator", false},
         {"events", true},
         {"χ² per dof", true},
         {"T, ms", true},
         {"planted T, ms", true},
         {"inertia scale", true},
         {"palm’s own", true},
         {"shift, ms", true},
         {"left out", false}});
    for (const EstimatorLine& e : d_.estimators) {
      h_.Open("tr");
      Td(e.task), Td(e.estimator == "paper"     ? "paper’s, section 3.3"
                     : e.estimator == "dynamic" ? "dynamic (E4)"
                                                : e.estimator);
      Td(Grouped(e.events_used), true),
          Td(e.chi2_per_dof > 0 ? Fixed(e.chi2_per_dof, 2) : "–", true);
      Td(Fixed(1e3 * e.time_constant_s.value_or(NAN), 1), true);
      Td(Fixed(1e3 * e.planted_time_constant_s.value_or(NAN), 1), true);
      Td(Fixed(e.inertia_scale.value_or(NAN), 3), true);
      Td(Fixed(e.palm_inertia_scale.value_or(NAN), 3), true);
      Td(Fixed(1e3 * e.time_shift_s.value_or(NAN), 3), true);
      h_.Open("td");
      for (const std::string& reason : e.discard_reasons)
        h_.Element("span", reason, {{"class", "sub"}});
      h_.Close("td").Close("tr");
    }
    TableEnd();
  }

  void Replay() {
    Section("replay", "Replay, also on surfaces that were never recorded");
    if (d_.replays.empty()) {
      P(d_.truth_note.empty()
            ? "Only of a simulated subject is it known what other surfaces would have done; no "
              "truth "
              "was given (--truth). Replays that were made are in the library: handhold artefact "
              "list --kind motion."
            : "No replay against truth: it needs an interaction trajectory (handhold fit "
              "compliance).");
      return;
    }
    P("A simulated subject has what no laboratory has: the same motor program, run in the physics "
      "engine on other "
      "surfaces. The fitted hand is replayed there, and compared with what the engine did. On the "
      "surface of the recording a replay gives back what the fit was made from, whatever the "
      "compliances are: that shows that the chain fits together, and proves nothing.");
    if (!d_.assumed_note.empty()) P(d_.assumed_note);
    Pictures(d_.resynthesis, "figure-resynthesis", d_.resynthesis_caption);
    Figures(d_.replay_figures);
    TableHead(
        "Replay against the engine. Force: RMS error of the whole force after the first 50 ms "
        "of contact, as share of the stroke's peak. Fingertip: RMS over "
        "contact. Slip: share of contact time in which both slip or both stick (1 mm/s); stick "
        "found: of the engine's stick. Strokes whose "
        "force in the engine exceeds twice that on the plate of the capture are jams, listed "
        "apart.",
        {{"surface", false},
         {"values", false},
         {"form", false},
         {"strokes", true},
         {"jams", true},
         {"force median", true},
         {"p90", true},
         {"first 50 ms", true},
         {"fingertip median, mm", true},
         {"p90, mm", true},
         {"slip agrees", true},
         {"stick found", true}});
    std::string surface;
    for (const ReplayRow& r : d_.replays) {
      h_.Open("tr", {{"class", r.surface != surface ? "first" : ""}});
      h_.Element("th", r.surface != surface ? r.surface : "", {{"scope", "row"}});
      h_.Open("td").Text(r.inputs);
      if (!r.assumed.empty() && r.inputs == "fitted")
        h_.Text(" ").Element("span", r.assumed + " assumed", {{"class", "assumed"}});
      if (r.tautology)
        h_.Element("span", "self-consistency only: the recording replayed on its own surface",
                   {{"class", "sub"}});
      if (r.lcp_failures)
        h_.Element("span", Grouped(r.lcp_failures) + " steps unsolved", {{"class", "refused"}});
      if (!r.failure.empty()) h_.Element("span", r.failure, {{"class", "refused"}});
      h_.Close("td");
      Td(r.form), Td(Grouped(r.strokes), true), Td(Grouped(r.jams), true);
      Td(Percent(r.force_median), true), Td(Percent(r.force_p90), true),
          Td(Percent(r.early_median), true);
      Td(Fixed(1e3 * r.tip_median_m, 2), true), Td(Fixed(1e3 * r.tip_p90_m, 2), true);
      Td(Percent(r.slip_agreement), true), Td(Percent(r.stick_recall), true);
      h_.Close("tr");
      surface = r.surface;
    }
    TableEnd();
    Equilibrium();
  }

  /// How far the joints were from eq. 7's balance, by what was replayed; forms that do not tell are
  /// left out.
  void Equilibrium() {
    std::map<std::string, double> largest;
    for (const ReplayRow& r : d_.replays) {
      if (r.equilibrium_rad <= 0 || !r.failure.empty()) continue;
      double& most = largest[r.inputs + ", " + r.form];
      most = std::max(most, r.equilibrium_rad);
    }
    if (largest.empty()) return;
    std::string text;
    for (const auto& [what, rad] : largest) {
      text += (text.empty() ? "" : "; ") + what + " " + Significant(RadiansToDegrees(rad), 2) +
              kGap + "°";
    }
    P("Largest error of a joint's equilibrium (eq. 7) in any step of a replay: " + text + ".");
  }

  static std::string Percent(double share) {
    const std::string text = Fixed(100 * share, 1);
    return std::isfinite(share) ? text + kGap + "%" : text;
  }

  void Criteria() {
    Section("criteria", "What this run decides");
    if (d_.criteria.empty()) {
      P("Nothing: no truth was given.");
      return;
    }
    P(std::to_string(Count(Criterion::Verdict::kMet)) + " met, " +
      std::to_string(Count(Criterion::Verdict::kNotMet)) + " not met, " +
      std::to_string(Count(Criterion::Verdict::kUndecided)) + " not decided here.");
    TableHead(
        "Criteria of the one-finger chain, against truth.",
        {{"no.", false}, {"what", false}, {"bound", true}, {"this run", true}, {"verdict", false}});
    std::string number;
    for (const Criterion& c : d_.criteria) {
      h_.Open("tr", {{"class", c.number != number ? "first" : ""}});
      Td(c.number != number ? c.number : "");
      h_.Open("td").Text(c.what);
      if (!c.note.empty()) h_.Element("span", c.note, {{"class", "sub"}});
      h_.Close("td");
      Td(c.bound, true), Td(c.figure.empty() ? "–" : c.figure, true);
      const bool met = c.verdict == Criterion::Verdict::kMet,
                 decided = c.verdict != Criterion::Verdict::kUndecided;
      h_.Open("td").Element("span",
                            !decided ? "not decided"
                            : met    ? "✓ met"
                                     : "✗ not met",
                            {{"class", !decided ? "undecided"
                                       : met    ? "met"
                                                : "not-met"}});
      h_.Close("td").Close("tr");
      number = c.number;
    }
    TableEnd();
  }

  void Provenance() {
    Section("provenance", "Where it comes from");
    P("Clip " + d_.take.clip_id +
      ". An artefact's name is the hash of its step, version, inputs and parameters: the same four "
      "are the "
      "same result.");
    if (!d_.steps.empty()) {
      TableHead("The steps, in order.", {{"step", false},
                                         {"version", true},
                                         {"artefact", false},
                                         {"from", false},
                                         {"made", false}});
      for (const StepRow& s : d_.steps) {
        h_.Open("tr").Open("th", {{"scope", "row"}}).Text(s.step);
        if (!s.parameters_json.empty()) {
          h_.Open("details")
              .Element("summary", "parameters")
              .Element("code", s.parameters_json)
              .Close("details");
        }
        h_.Close("th");
        Td(std::to_string(s.version), true);
        h_.Open("td").Element("code", s.hash.substr(0, 16)).Close("td");
        h_.Open("td");
        for (const std::string& input : s.inputs) h_.Element("span", input, {{"class", "sub"}});
        h_.Close("td")
            .Open("td")
            .Text(s.made_utc)
            .Element("span", s.tool, {{"class", "sub"}})
            .Close("td")
            .Close("tr");
      }
      TableEnd();
    }
    if (!d_.commands.empty()) {
      P("The verbs that made it. Of their options only the template's scale and --inertia are "
        "shown; surface, pose, template, friction and the rest stand among the parameters above:");
      std::string all;
      for (const std::string& command : d_.commands) all += command + "\n";
      h_.Element("pre", all);
    }
  }

  const ReportData& d_;
  Html h_;
  int figures_ = 0;
};

}  // namespace

std::string RenderReport(const ReportData& data) { return Page(data).Write(); }

}  // namespace handhold::report
