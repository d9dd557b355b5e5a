#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "tools/report/criteria.h"
#include "tools/report/fill_parts.h"
#include "tools/report/html.h"
#include "tools/report/scene_picture.h"

namespace handhold::report {
namespace {

using geometry::Vec3;
using synthesis::ReplayForm;

std::string SurfaceText(const lab::TruthRun& run) {
  const std::string what = run.surface == "bumped_plate" ? "bumped plate" : "flat plate";
  return what + ", friction " + Plain(run.friction);
}

std::string FormText(ReplayForm form) {
  return form == ReplayForm::kDamped ? "damped" : "quasi-static";
}

// The frames of one stroke of a whole session's trajectory; empty where the clip does not hold it
// whole.
artefact::InteractionTrajectory Slice(const artefact::InteractionTrajectory& all, double begin_s,
                                      double end_s) {
  artefact::InteractionTrajectory t;
  const auto first =
      std::lower_bound(all.times.begin(), all.times.end(), Timestamp::FromSeconds(begin_s));
  const auto last = std::upper_bound(first, all.times.end(), Timestamp::FromSeconds(end_s));
  const Eigen::Index a = first - all.times.begin(), n = last - first;
  if (n < 2 || all.times.front().seconds() > begin_s + 0.05 ||
      all.times.back().seconds() < end_s - 0.05)
    return t;
  t.skeleton_hash = all.skeleton_hash, t.dof_names = all.dof_names, t.assumed = all.assumed;
  t.times.assign(first, last);
  t.q = all.q.middleCols(a, n), t.q_reference = all.q_reference.middleCols(a, n);
  if (all.q_reference_dynamic.size() > 0)
    t.q_reference_dynamic = all.q_reference_dynamic.middleCols(a, n);
  t.compliance_rad_per_Nm = all.compliance_rad_per_Nm.middleCols(a, n);
  t.time_constant_s = all.time_constant_s.segment(a, n);
  return t;
}

// C of the assumed joints alone, times `factor`; their eq. 1 reference moves with it.
artefact::InteractionTrajectory ScaleAssumed(artefact::InteractionTrajectory t, double factor) {
  for (size_t d = 0; d < t.assumed.size(); ++d) {
    const auto row = static_cast<Eigen::Index>(d);
    if (!t.assumed[d]) continue;
    t.compliance_rad_per_Nm.row(row) *= factor;
    t.q_reference.row(row) = t.q.row(row) + factor * (t.q_reference.row(row) - t.q.row(row));
    if (t.q_reference_dynamic.size() > 0) {
      t.q_reference_dynamic.row(row) =
          t.q.row(row) + factor * (t.q_reference_dynamic.row(row) - t.q.row(row));
    }
  }
  return t;
}

ReplayRow RowOf(const ReplayScore& score) {
  ReplayRow row;
  row.strokes = static_cast<int>(score.force_late.size()),
  row.jams = static_cast<int>(score.jams.size());
  row.lcp_failures = score.lcp_failures;
  row.force_median = Quantile(score.force_late, 0.5),
  row.force_p90 = Quantile(score.force_late, 0.9);
  row.early_median = Quantile(score.force_early, 0.5);
  row.tip_median_m = Quantile(score.tip_m, 0.5), row.tip_p90_m = Quantile(score.tip_m, 0.9);
  row.slip_agreement = score.slip_agreement(), row.stick_recall = score.stick_recall();
  row.equilibrium_rad = score.equilibrium_rad;
  return row;
}

// Three panels of one surface: normal force, friction force, path.
void AddTraces(const lab::TruthRun& run, const std::string& surface, const std::string& replay,
               const ReplayExample& e, Figure* figure) {
  std::vector<double> ms, engine_x, engine_z, replay_x, replay_z;
  const auto contacts = run.ContactsOf(e.stroke);
  const double onset = contacts.front().onset_s, release = contacts.back().release_s;
  for (size_t k = 0; k < e.time_s.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const bool near = e.time_s[k] > onset - 0.05 && e.time_s[k] < release + 0.05;
    const double scale = near ? 1e3 : std::numeric_limits<double>::quiet_NaN();
    ms.push_back(scale * (e.time_s[k] - onset));
    engine_x.push_back(scale * e.engine_tip_W(0, i)),
        engine_z.push_back(scale * e.engine_tip_W(2, i));
    replay_x.push_back(scale * e.replay_tip_W(0, i)),
        replay_z.push_back(scale * e.replay_tip_W(2, i));
  }
  const Band band{0, 1e3 * (release - onset), "contact"};
  const std::string engine = "engine (truth)";
  figure->panels.push_back({surface + ": force up",
                            "time after onset, ms",
                            "force, N",
                            {{engine, Role::kTruth, ms, e.engine_normal_N, false},
                             {replay, Role::kReplay, ms, e.replay_normal_N, false}},
                            {band},
                            true});
  figure->panels.push_back({"along the stroke (x)",
                            "time after onset, ms",
                            "force, N",
                            {{engine, Role::kTruth, ms, e.engine_tangent_N, false},
                             {replay, Role::kReplay, ms, e.replay_tangent_N, false}},
                            {band},
                            true});
  figure->panels.push_back({"path of the fingertip",
                            "x, mm",
                            "height, mm",
                            {{engine, Role::kTruth, engine_x, engine_z, false},
                             {replay, Role::kReplay, replay_x, replay_z, false}},
                            {},
                            false});
}

void AddPath(const Camera& camera, const Eigen::Matrix3Xd& p_W, Role role,
             std::vector<Mark>* marks) {
  const Eigen::Index step = std::max<Eigen::Index>(1, p_W.cols() / 90);
  for (Eigen::Index k = step; k < p_W.cols(); k += step) {
    const Vec3 a = camera.Project(p_W.col(k - step)), b = camera.Project(p_W.col(k));
    marks->push_back({Mark::Kind::kLine, a.x(), a.y(), b.x(), b.y(), "", role});
  }
}

Picture Stroboscope(const Filling& f, const std::string& surface, const ReplayExample& e) {
  std::vector<size_t> touching;
  double peak = 0;
  Vec3 focus = Vec3::Zero();
  for (size_t k = 0; k < e.time_s.size(); ++k) {
    if (!e.p_WC[k].allFinite() || e.f_onHand_W[k].norm() < 0.05) continue;
    touching.push_back(k), focus += e.p_WC[k], peak = std::max(peak, e.f_onHand_W[k].norm());
  }
  Picture picture;
  picture.title = "Replayed on the " + surface;
  if (touching.empty()) return picture;
  focus /= static_cast<double>(touching.size());
  Camera camera = SideView(focus + Vec3(-0.045, 0, 0.032), 0.235);
  camera.width = f.options.picture_width, camera.height = f.options.picture_height;
  PictureScene scene;
  scene.skeleton = f.from.skeleton, scene.markers = false;
  scene.fade_begin_m = 0.095, scene.fade_end_m = 0.14;
  for (const artefact::StageThing& thing : e.stage.things)
    scene.props.push_back({thing.prop.value.get(), *thing.X_WP});
  const double m_per_N = 0.05 / std::max(0.1, peak);
  const double shares[] = {0.04, 0.35, 0.65, 0.96};
  std::vector<Mark> arrows;
  for (int i = 0; i < 4; ++i) {
    const size_t k =
        touching[static_cast<size_t>(shares[i] * static_cast<double>(touching.size() - 1))];
    scene.hands.push_back({e.q.col(static_cast<Eigen::Index>(k)), i == 3 ? 1.0 : 0.22 + 0.10 * i});
    std::vector<Mark> marks = ForceMarks(camera, e.p_WC[k], e.f_onHand_W[k], m_per_N);
    if (i != 2) marks.pop_back();  // one label is enough
    arrows.insert(arrows.end(), marks.begin(), marks.end());
  }
  picture.image = DrawScene(scene, camera);
  const size_t first = touching.front(), last = touching.back();
  const auto columns = [&](const Eigen::Matrix3Xd& m) {
    return Eigen::Matrix3Xd(m.middleCols(static_cast<Eigen::Index>(first),
                                         static_cast<Eigen::Index>(last - first + 1)));
  };
  picture.marks = ProfileMarks(scene, camera, focus, 0.06);
  AddPath(camera, columns(e.engine_tip_W), Role::kTruth, &picture.marks);
  AddPath(camera, columns(e.replay_tip_W), Role::kReplay, &picture.marks);
  picture.marks.insert(picture.marks.end(), arrows.begin(), arrows.end());
  picture.alternative =
      "Four instants of the replayed stroke; the largest force on the finger is " + Fixed(peak, 2) +
      " N.";
  return picture;
}

/// "PIP, DIP": the joints that were given a compliance where the fit refused it.
std::string AssumedJoints(const ReportSources& from) {
  std::string joints;
  if (!from.skeleton || !from.trajectory) return joints;
  const auto& assumed = from.trajectory->assumed;
  const auto& dofs = from.skeleton->dof_names();
  for (size_t d = 0; d < std::min(assumed.size(), dofs.size()); ++d)
    if (assumed[d]) joints += (joints.empty() ? "" : ", ") + JointTitle(dofs[d]);
  return joints;
}

/// What was assumed, value by value, and where that is what the subject was planted with.
std::string AssumedNote(const std::vector<ComplianceRow>& rows) {
  std::string list;
  bool kind = false;
  for (const ComplianceRow& row : rows) {
    if (!row.dynamic || !row.dynamic->assumed_rad_per_Nm) continue;
    const double value = *row.dynamic->assumed_rad_per_Nm;
    list += (list.empty() ? "" : "; ") + row.joint + ", " + row.task + ": " + Fixed(value, 3);
    if (!row.planted_rad_per_Nm) continue;
    list += " (planted " + Fixed(*row.planted_rad_per_Nm, 3) + ")";
    kind = kind || std::abs(value / *row.planted_rad_per_Nm - 1) < 1e-3;
  }
  if (list.empty()) return "";
  std::string note =
      "Where the fit refused a compliance the replays with fitted values take an "
      "assumed one, in rad/Nm: " +
      list + ".";
  if (kind) {
    note +=
        " An assumed value that is the planted one is no merit of the fit: the subject was "
        "planted with the table that the assumption is taken from.";
  }
  return note + " The rows with them halved and doubled show what hangs on it.";
}

class Replays {
 public:
  explicit Replays(Filling* f) : f_(*f), truth_(*f->from.truth), assumed_(AssumedJoints(f->from)) {
    planted_ = [this](const lab::TruthStroke& s) {
      if (!InClip(s)) return artefact::InteractionTrajectory{};
      return PlantedTrajectory(truth_, s);
    };
    fitted_ = [this](const lab::TruthStroke& s) {
      return Slice(*f_.from.trajectory, s.begin_s + f_.start_s, s.end_s + f_.start_s);
    };
  }

  /// Planted values are replayed beside fitted ones only: alone they say nothing of the take.
  Status Run() {
    if (!f_.from.skeleton || !f_.from.trajectory) return {};
    for (const lab::TruthRun& run : truth_.runs) {
      if (run.surface == "none") continue;
      if (f_.options.planted_replays) {
        HANDHOLD_TRY(Planted(run));
      }
      HANDHOLD_TRY(Fitted(run));
      done_ += 1;
      if (!KeepGoing()) return Error{ErrorCode::kCancelled, "report cancelled"};
    }
    return {};
  }

 private:
  static std::string Capital(std::string text) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
  }

  static Figure EmptyTraces() {
    Figure figure;
    figure.id = "figure-replay", figure.title = "One stroke on every surface";
    figure.caption =
        "The stroke of the pictures above, captured on the first surface. Black is what the same "
        "motor "
        "program did on each surface in the physics engine; only the first was recorded, and no "
        "fit saw the others.";
    figure.alternative =
        "The figures are in the table below: force and fingertip errors per surface.";
    return figure;
  }

  // Whether the recording covers a stroke; without a pose every stroke counts.
  bool InClip(const lab::TruthStroke& s) const {
    const artefact::PoseTrack* pose = f_.from.pose;
    return !pose || (!pose->times.empty() &&
                     pose->times.front().seconds() <= s.begin_s + f_.start_s + 0.05 &&
                     pose->times.back().seconds() >= s.end_s + f_.start_s - 0.05);
  }

  bool KeepGoing() const {
    return !f_.options.progress ||
           f_.options.progress(0.35 + 0.6 * done_ / static_cast<double>(truth_.runs.size()),
                               "replaying");
  }

  ReplayCase Case(const lab::TruthRun& run, ReplayForm form) const {
    return {run.name, form, 1.0, -1.0, f_.options.max_strokes, [this] { return KeepGoing(); }};
  }

  static bool Cancelled(const Result<ReplayScore>& score) {
    return !score && score.error().code == ErrorCode::kCancelled;
  }

  void Add(const lab::TruthRun& run, const std::string& inputs, ReplayForm form,
           const Result<ReplayScore>& score) {
    ReplayRow row;
    if (score) {
      row = RowOf(*score);
    } else {
      row = RowOf(ReplayScore{});
      row.failure = score.error().message;
    }
    row.surface = SurfaceText(run), row.inputs = inputs, row.form = FormText(form);
    row.tautology = run.name == "captured" && inputs != "planted";
    if (inputs != "planted") row.assumed = assumed_;
    f_.data->replays.push_back(std::move(row));
  }

  Status Planted(const lab::TruthRun& run) {
    for (const ReplayForm form : {ReplayForm::kDamped, ReplayForm::kQuasiStatic}) {
      const auto score = ScoreReplay(truth_, *truth_.skeleton, planted_, 0.0, Case(run, form), -1);
      if (Cancelled(score)) return score.error();
      Add(run, "planted", form, score);
      if (!score) continue;
      const std::string where = SurfaceText(run) + ", planted values, " + FormText(form);
      const bool damped = form == ReplayForm::kDamped;
      Judge(where, *score, {}, criteria::ReplayBoundsOf(true, damped, run.name));
      Jams(run, where, *score);
      if (damped) Slip(run, where, *score);
    }
    return {};
  }

  void Slip(const lab::TruthRun& run, const std::string& where, const ReplayScore& score) {
    AddCriterion(&f_, "9", where + ": slip or stick agrees", score.slip_agreement(),
                 criteria::kSlipAgreement, false, 100, 1, "%");
    if (run.surface == "plate" && run.friction >= 0.5) {
      AddCriterion(&f_, "9", where + ": stick found", score.stick_recall(), criteria::kStickRecall,
                   false, 100, 1, "%");
    }
  }

  void Jams(const lab::TruthRun& run, const std::string& where, const ReplayScore& score) {
    if (run.surface != "bumped_plate") return;
    const double jams = static_cast<double>(score.jams.size());
    AddCriterion(&f_, "9", where + ": strokes that jam, listed apart",
                 jams / (jams + static_cast<double>(score.force_late.size())), criteria::kJamShare,
                 true, 100, 1, "%");
  }

  /// `otherwise`: the same with the assumed compliances halved and doubled, where there are any. A
  /// figure that is within its bound only as assumed says so.
  void Judge(const std::string& where, const ReplayScore& score,
             const std::vector<ReplayScore>& otherwise, const criteria::ReplayBounds& bound) {
    const auto judge = [&](const char* what, const std::vector<double> ReplayScore::*values,
                           double quantile, const std::optional<double>& most, double scale,
                           int decimals, const char* unit) {
      if (!most) return;
      std::string others;
      bool hangs = false;
      for (const ReplayScore& other : otherwise) {
        const double value = Quantile(other.*values, quantile);
        hangs = hangs || !(value <= *most);
        others += (others.empty() ? "" : " and ") + Fixed(scale * value, decimals);
      }
      const double value = Quantile(score.*values, quantile);
      AddCriterion(&f_, "9", where + what, value, *most, true, scale, decimals, unit,
                   hangs && value <= *most
                       ? "hangs on what was assumed: halved and doubled " + others + " " + unit
                       : "");
    };
    judge(": force, median", &ReplayScore::force_late, 0.5, bound.force_median, 100, 1, "%");
    judge(": force, 90th percentile", &ReplayScore::force_late, 0.9, bound.force_p90, 100, 1, "%");
    judge(": force in the first 50 ms, median", &ReplayScore::force_early, 0.5, bound.early_median,
          100, 1, "%");
    judge(": fingertip, median", &ReplayScore::tip_m, 0.5, bound.tip_median_m, 1e3, 2, "mm");
    judge(": fingertip, 90th percentile", &ReplayScore::tip_m, 0.9, bound.tip_p90_m, 1e3, 2, "mm");
  }

  /// "fitted values (PIP, DIP assumed), damped".
  std::string FittedText(ReplayForm form) const {
    return "fitted values" + (assumed_.empty() ? "" : " (" + assumed_ + " assumed)") + ", " +
           FormText(form);
  }

  Status Fitted(const lab::TruthRun& run) {
    const bool has_dynamic = f_.from.trajectory->q_reference_dynamic.size() > 0;
    std::optional<ReplayExample> example;  // of the last form that gave one
    ReplayForm example_form = ReplayForm::kQuasiStatic;
    for (const ReplayForm form : {ReplayForm::kQuasiStatic, ReplayForm::kDamped}) {
      if (form == ReplayForm::kDamped && !has_dynamic) continue;
      const auto score = ScoreReplay(truth_, *f_.from.skeleton, fitted_, f_.start_s,
                                     Case(run, form), f_.shown_stroke);
      if (Cancelled(score)) return score.error();
      Add(run, "fitted", form, score);
      if (!score) {
        f_.data->issues.push_back("no " + FormText(form) + " replay on the " + SurfaceText(run) +
                                  ": " + score.error().message);
        continue;
      }
      if (score->example.stroke >= 0) example = score->example, example_form = form;
      if (run.name == "captured") continue;  // with eq. 1's reference a tautology
      std::vector<ReplayScore> otherwise;
      if (form == ReplayForm::kQuasiStatic) {
        HANDHOLD_ASSIGN(otherwise, Sensitivity(run));
      }
      const std::string where = SurfaceText(run) + ", " + FittedText(form);
      Judge(where, *score, otherwise,
            criteria::ReplayBoundsOf(false, form == ReplayForm::kDamped, run.name));
      Jams(run, where, *score);
    }
    if (example) {
      if (f_.data->replay_figures.empty()) f_.data->replay_figures.push_back(EmptyTraces());
      AddTraces(run, Capital(SurfaceText(run)), "replay, " + FittedText(example_form), *example,
                &f_.data->replay_figures.front());
      const bool drawn = run.name == "captured" || run.surface == "bumped_plate";
      if (drawn && f_.options.pictures)
        f_.data->resynthesis.push_back(Stroboscope(
            f_, SurfaceText(run) + (run.name == "captured" ? ", as recorded" : ""), *example));
    }
    return {};
  }

  // A refused joint's assumed C halved and doubled: how much hangs on the assumption.
  Result<std::vector<ReplayScore>> Sensitivity(const lab::TruthRun& run) {
    std::vector<ReplayScore> scores;
    if (assumed_.empty()) return scores;
    for (const double factor : {0.5, 2.0}) {
      const TrajectoryOf scaled = [&](const lab::TruthStroke& s) {
        return ScaleAssumed(fitted_(s), factor);
      };
      const auto score = ScoreReplay(truth_, *f_.from.skeleton, scaled, f_.start_s,
                                     Case(run, ReplayForm::kQuasiStatic), -1);
      if (Cancelled(score)) return score.error();
      Add(run, std::string("fitted, assumed C ") + (factor < 1 ? "halved" : "doubled"),
          ReplayForm::kQuasiStatic, score);
      if (score) scores.push_back(*score);
    }
    return scores;
  }

  Filling& f_;
  const lab::Truth& truth_;
  std::string assumed_;  ///< "PIP, DIP"; empty: every compliance was fitted
  TrajectoryOf planted_, fitted_;
  double done_ = 0;
};

}  // namespace

Status FillReplays(Filling* f) {
  if (f->from.truth == nullptr) return {};
  HANDHOLD_TRY(Replays(f).Run());
  if (!f->data->replays.empty()) f->data->assumed_note = AssumedNote(f->data->compliance);
  f->data->resynthesis_caption =
      "The same interaction trajectory on two surfaces, as in the paper's Figure 4: four instants "
      "each, the last one "
      "solid; arrows are the forces that the replay computed; lines are the fingertip's path, in "
      "the replay and in the "
      "engine; the grey line is the surface, cut along the stroke.";
  return {};
}

}  // namespace handhold::report
