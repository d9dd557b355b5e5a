#include "tools/report/fill.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/report/fill_parts.h"
#include "tools/report/html.h"

namespace handhold::report {
namespace {

std::string UtcText(Timestamp utc) {
  if (utc.ns() <= 0) return "";
  const auto seconds = static_cast<std::time_t>(utc.ns() / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

Status CheckSources(const ReportSources& s) {
  if (s.clip == nullptr) return Error{ErrorCode::kInvalid, "a report needs a clip"};
  const auto same = [&](const std::vector<std::string>& names) {
    return s.skeleton == nullptr || names == s.skeleton->dof_names();
  };
  if (s.pose && (!same(s.pose->dof_names) || s.pose->q.cols() != s.pose->frame_count())) {
    return Error{ErrorCode::kInvalid,
                 "the pose track belongs to another hand than the skeleton given"};
  }
  if (s.trajectory && !same(s.trajectory->dof_names)) {
    return Error{ErrorCode::kInvalid,
                 "the interaction trajectory belongs to another hand than the skeleton given"};
  }
  if (s.pose && s.contact && s.pose->times != s.contact->times) {
    return Error{ErrorCode::kInvalid,
                 "pose and contact tracks do not share their times: they come from different fits"};
  }
  return {};
}

/// Recorded markers lie further from where another subject's truth has them. Its own leaves 0.1 mm
/// (median), and 0.5 mm of filters, slipping skin and a forearm that yields; where it plants none
/// of these, the furthest stay near, too. Of the same seed with a palm of 5 instead of 12 times the
/// mass the median is 0.1 mm and the last hundredth 7 mm.
bool AreOf(const MarkerDistance& off, const lab::SensorFaults& faults) {
  if (off.median_m > 0.002) return false;
  const bool exact = faults.skin_slip_m_per_N == 0 && faults.forearm_give_m_per_N == 0 &&
                     faults.marker_lowpass_hz == 0;
  return !exact || off.p99_m <= 0.001 + 5 * off.median_m;  // noise of any size
}

// The truth must be this clip's: its markers and contacts must be where they were found.
Status CheckTruth(const Filling& f) {
  const lab::Truth& truth = *f.from.truth;
  for (const char* run : {"captured", "reference"}) {
    if (truth.FindRun(run) == nullptr) {
      return Error{ErrorCode::kInvalid, std::string("the truth holds no run '") + run +
                                            "': make it with handhold lab make"};
    }
  }
  const Result<MarkerDistance> off = MarkersFromTruth(*f.from.clip, truth, f.start_s);
  if (!off && off.error().code != ErrorCode::kNotFound) return off.error();
  if (!off || !AreOf(*off, truth.faults)) {
    return Error{ErrorCode::kInvalid,
                 "this truth is not that of this clip: " +
                     (off ? "recorded markers lie " + Fixed(1e3 * off->median_m, 1) +
                                " mm (median; one in a hundred more than " +
                                Fixed(1e3 * off->p99_m, 1) + " mm) from where it has them"
                          : off.error().message) +
                     "; it is that of seed " + std::to_string(truth.seed) + ", plan " + truth.plan +
                     ". Give the --truth of the subject that was recorded"};
  }
  if (!f.from.contact || f.from.contact->touches.empty()) {
    return Error{ErrorCode::kInvalid,
                 "the clip has no contacts found yet, so that nothing shows whether this truth is "
                 "its own: first handhold fit contact, or leave out --truth"};
  }
  const ContactScore score = CompareContact(*f.from.contact, truth, f.start_s);
  if (2 * score.invented > static_cast<int>(f.from.contact->touches.size())) {
    return Error{ErrorCode::kInvalid,
                 "this truth is not that of this clip: " + std::to_string(score.invented) + " of " +
                     std::to_string(f.from.contact->touches.size()) +
                     " contacts found lie where none was planted; give the --truth of the subject "
                     "that was recorded"};
  }
  return {};
}

// A contact of middling strength, whole in the track, exploring when there is one: what is shown is
// neither the best nor the worst.
void ChooseShown(Filling* f) {
  const artefact::ContactTrack* contact = f->from.contact;
  if (contact == nullptr || contact->touches.empty()) return;
  std::vector<std::pair<double, int>> candidates;
  for (const bool exploring : {true, false}) {
    for (size_t p = 0; p < contact->touches.size(); ++p) {
      const artefact::Touch& touch = contact->touches[p];
      if (exploring && touch.task != "exploring") continue;
      if (touch.onset - Duration::Milliseconds(150) < contact->times.front()) continue;
      if (touch.release - touch.onset < Duration::Milliseconds(200)) continue;
      candidates.emplace_back(touch.peak_force_N, static_cast<int>(p));
    }
    if (!candidates.empty()) break;
  }
  if (candidates.empty()) candidates.emplace_back(0.0, 0);
  std::sort(candidates.begin(), candidates.end());
  f->shown_touch = candidates[candidates.size() / 2].second;
  if (f->from.truth == nullptr) return;
  const artefact::Touch& touch = contact->touches[static_cast<size_t>(f->shown_touch)];
  for (const lab::TruthContact& c : f->from.truth->FindRun("captured")->contacts) {
    if (touch.onset.seconds() - f->start_s < c.release_s &&
        touch.release.seconds() - f->start_s > c.onset_s) {
      f->shown_stroke = c.stroke;
      break;
    }
  }
}

void FillProvenance(Filling* f) {
  for (const ReportSources::Step& step : f->from.steps) {
    StepRow row;
    row.step = step.provenance.step, row.version = step.provenance.version, row.hash = step.hash;
    row.made_utc = UtcText(step.provenance.made_utc), row.tool = step.provenance.tool;
    row.parameters_json = step.provenance.parameters_json;
    for (const artefact::ProvenanceInput& input : step.provenance.inputs) {
      row.inputs.push_back(input.role + " " + (input.name.empty() ? "" : input.name + " ") +
                           input.hash.substr(0, 12));
    }
    f->data->steps.push_back(std::move(row));
  }
  f->data->commands = f->from.commands;
}

void FillMissing(Filling* f) {
  const std::string clip = f->from.clip->info().name.empty() ? "CLIP" : f->from.clip->info().name;
  const auto miss = [&](bool present, const std::string& what, const std::string& command) {
    if (!present) f->data->missing.push_back(what + ": handhold " + command + " " + clip);
  };
  miss(f->from.skeleton != nullptr, "No fitted skeleton", "fit skeleton");
  miss(f->from.pose != nullptr, "No joint angles", "fit pose");
  miss(f->from.contact != nullptr, "No contacts", "fit contact");
  miss(!f->from.fits.empty() || (f->from.trajectory && !f->from.trajectory->fits.empty()),
       "No joint compliances", "fit compliance");
  miss(f->from.trajectory != nullptr, "No reference trajectory", "fit compliance");
  if (f->from.truth == nullptr) {
    f->data->missing.push_back(
        "No truth was given, so nothing on this page is compared with one: --truth DIR "
        "takes that of a simulated subject");
  }
}

/// What the fit of the compliances warned of stands on the page of their numbers.
void FillWarnings(Filling* f) {
  if (!f->from.trajectory) return;
  for (const Issue& issue : f->from.trajectory->summary.issues) {
    if (issue.severity >= Severity::kWarning)
      f->data->issues.push_back("Joint compliances, " + issue.where + ": " + issue.what);
  }
}

bool Tell(const Filling& f, double share, std::string_view what) {
  return !f.options.progress || f.options.progress(share, what);
}

}  // namespace

const artefact::ComplianceFit* FindFit(const std::vector<artefact::ComplianceFit>& fits,
                                       const std::string& estimator, const std::string& task) {
  for (const artefact::ComplianceFit& fit : fits) {
    if (fit.estimator == estimator && fit.task == task) return &fit;
  }
  return nullptr;
}

std::string JointTitle(const std::string& dof) {
  const auto has = [&](std::string_view part) { return dof.find(part) != std::string::npos; };
  if (!has("flex")) return dof;
  if (has("wrist")) return "Wrist";
  if (has("mcp") || has("mp.")) return "MP";
  if (has("pip")) return "PIP";
  if (has("dip")) return "DIP";
  return dof;
}

void AddCriterion(Filling* f, std::string number, std::string what, double value, double bound,
                  bool at_most, double scale, int decimals, const std::string& unit,
                  const std::string& note) {
  Criterion c;
  c.number = std::move(number), c.what = std::move(what), c.note = note;
  const std::string gap = unit.empty() ? "" : "\xE2\x80\xAF" + unit;
  c.bound = (at_most ? "≤ " : "≥ ") + Plain(scale * bound) + gap;
  c.figure = Fixed(scale * value, decimals) + gap;
  if (std::isfinite(value)) {
    c.verdict = (at_most ? value <= bound : value >= bound) ? Criterion::Verdict::kMet
                                                            : Criterion::Verdict::kNotMet;
  }
  f->data->criteria.push_back(std::move(c));
}

Result<ReportData> FillReport(const ReportSources& given, const ReportOptions& options) {
  HANDHOLD_TRY(CheckSources(given));
  ReportSources sources = given;
  if (given.contact != nullptr) {
    HANDHOLD_ASSIGN(sources.contact_frames, artefact::LaidOut(*given.contact));
  }
  if (sources.fits.empty() && sources.trajectory) sources.fits = sources.trajectory->fits;
  ReportData data;
  data.tool = options.tool;
  data.made_utc = UtcText(options.made_utc);
  Filling f{sources, options, 0.0, -1, -1, &data};
  const Error cancelled{ErrorCode::kCancelled, "report cancelled"};
  if (sources.truth) {
    HANDHOLD_ASSIGN(f.start_s, SessionStart(*sources.clip));
    HANDHOLD_TRY(CheckTruth(f));
    data.truth_note = "Truth: simulated subject of seed " + std::to_string(sources.truth->seed) +
                      ", plan " + sources.truth->plan +
                      (sources.truth_name.empty() ? "" : ", " + sources.truth_name) +
                      "; read after the fits were stored.";
  }
  ChooseShown(&f);
  HANDHOLD_TRY(FillTake(&f));
  if (!Tell(f, 0.05, "drawing one stroke")) return cancelled;
  HANDHOLD_TRY(FillStroke(&f));
  if (!Tell(f, 0.25, "comparing fits")) return cancelled;
  FillContactFigures(&f);
  FillCompliance(&f);
  FillCriteria(&f);
  if (!Tell(f, 0.35, "replaying on surfaces that were never recorded")) return cancelled;
  HANDHOLD_TRY(FillReplays(&f));
  FillProvenance(&f);
  FillWarnings(&f);
  FillMissing(&f);
  if (!Tell(f, 1.0, "done")) return cancelled;
  return data;
}

}  // namespace handhold::report
