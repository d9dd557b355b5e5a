#include "tools/pipeline/regrasp.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>

#include "database/artefact/describe.h"
#include "database/store/artefact_file.h"
#include "database/text/json_view.h"
#include "synthesis/evaluate/hand_scene.h"
#include "synthesis/grasp_search/search_proposer.h"
#include "tools/pipeline/find_grasp.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {
namespace {

using artefact::Grasp;
using synthesis::ProposerReport;
using text::Json;

/// What one part of the search hands on as it works.
struct PartSink {
  std::function<bool(const Grasp&)> grasp;
  std::function<bool(int tried)> tried;
};

/// Runs one part of one proposer: proposes, tries, hands on.
Result<ProposerReport> SearchPart(synthesis::Proposer* proposer,
                                  const synthesis::GraspRequest& request,
                                  const synthesis::HandTrialOptions& trial_options,
                                  const PartSink& out) {
  synthesis::HandTrial trial(request.hand, request.prop, trial_options);
  Status failed;
  synthesis::ProposerSink sink;
  sink.propose = [&](Grasp grasp) {
    failed = synthesis::TryCandidate(&trial, &grasp);
    return failed.has_value() && out.grasp(grasp);
  };
  sink.progress = [&](const synthesis::ProposerProgress& p) { return out.tried(p.tried); };
  HANDHOLD_ASSIGN(const ProposerReport report, proposer->Propose(request, sink));
  if (!failed) return failed.error();
  return report;
}

/// What candidates that are not kept failed of.
void CountNotKept(const std::vector<Grasp>& grasps, std::map<std::string, int>* refused) {
  for (const Grasp& grasp : grasps) {
    std::string why = "held, but not among the first";
    for (const artefact::GraspTest& test : grasp.tests) {
      if (!test.passed && test.protocol != "lift")
        why = "tried: " + test.cause.substr(0, test.cause.find(':'));
    }
    ++(*refused)[why];
  }
}

/// What is gathered of all parts.
struct Gathered {
  std::vector<Grasp> grasps;
  std::vector<int> tried;
  std::map<std::string, int> refused;
  bool stopped = false;
  std::string no_match;
  int lost_parts = 0;
};

Json ToJson(const ProposerReport& report) {
  return Json::Object({{"tried", report.done.tried},
                       {"refused", artefact::ToJson(report.refused)},
                       {"stopped", report.stopped},
                       {"no_match", report.no_match}});
}

/// What a part sent: a grasp, how far it is, its report.
Status Take(int part, const Json& found, Gathered* all) {
  const text::JsonView view(found, "a part of the search");
  if (view.Has("grasp")) {
    HANDHOLD_ASSIGN(const text::JsonView inner, view.At("grasp"));
    HANDHOLD_ASSIGN(Grasp grasp, artefact::FromJson<Grasp>(inner));
    all->grasps.push_back(std::move(grasp));
    return {};
  }
  HANDHOLD_ASSIGN(all->tried[static_cast<size_t>(part)], view.Get<int>("tried"));
  if (!view.Has("refused")) return {};
  HANDHOLD_ASSIGN(const text::JsonView counts, view.At("refused"));
  for (const text::JsonMember& member : counts.value().members())
    all->refused[member.key] += static_cast<int>(*member.value.number());
  HANDHOLD_ASSIGN(const bool stopped, view.Get<bool>("stopped"));
  all->stopped = all->stopped || stopped;
  HANDHOLD_ASSIGN(const std::string no_match, view.Get<std::string>("no_match"));
  if (!no_match.empty()) all->no_match = no_match;
  return {};
}

/// What the search is asked for; kNotFound: no such region.
Result<synthesis::GraspWishes> WishesOf(const RegraspStep& s) {
  synthesis::GraspWishes wishes;
  if (!s.region.empty()) {
    HANDHOLD_ASSIGN(wishes.region, synthesis::RegionNamed(*s.prop, s.region));
  }
  wishes.type = s.type;
  // Under its lowest point, normal to Z of P.
  if (s.avoid_table) wishes.X_PTable = artefact::TableUnder(artefact::Placed(*s.prop, {})).X_WP;
  wishes.poses = s.poses;
  wishes.seed = static_cast<std::uint64_t>(s.seed);
  wishes.seconds = s.seconds;
  wishes.parts = std::clamp(s.jobs, 1, std::max(1, s.poses));
  HANDHOLD_TRY(synthesis::CheckWishes(wishes));
  return wishes;
}

/// What was seen of a grasp beyond its tests.
struct Shown {
  std::optional<artefact::Motion> motion;
  std::string verdict;
};

/// One run of the step.
class Regrasping {
 public:
  using MakeProposer = std::function<Result<std::unique_ptr<synthesis::Proposer>>()>;

  Regrasping(const RegraspStep& step, step::Work& work, std::optional<Grasp> from,
             const std::optional<synthesis::GraspSearcher>& searcher,
             const synthesis::GraspWishes& wishes)
      : step_(step),
        work_(work),
        from_(std::move(from)),
        searcher_(searcher),
        request_{step.skeleton->skeleton, step.skeleton.hash, *step.prop, step.prop.hash, wishes},
        proposing_(step.proposer),
        trying_(step.trial),
        recording_(step.motion) {
    proposing_.mass_kg = step.mass_kg, proposing_.friction = step.friction;
    trying_.scene.mass_kg = step.mass_kg, trying_.scene.friction = step.friction;
    if (wishes.X_PTable) trying_.scene.table_up_P = wishes.X_PTable->R.col(2);
    recording_.scene.mass_kg = step.mass_kg, recording_.scene.friction = step.friction;
    recording_.scene.table_up_P = trying_.scene.table_up_P;
    all_.tried.assign(static_cast<size_t>(wishes.parts), 0);
    made_.planned = ((from_ ? 1 : 0) + (searcher_ ? 1 : 0)) * step.poses;
  }

  Result<Regrasped> Run() {
    HANDHOLD_TRY(Search());
    made_.refused = all_.refused;
    if (made_.tried == 0 && !all_.no_match.empty())
      return Error{ErrorCode::kNotFound, all_.no_match};
    // An interrupt ends the exact tests, too: what is there is ranked as it is.
    doing_ = "testing exactly";
    exact_.emplace(request_.hand, request_.prop, trying_);
    HANDHOLD_TRY(synthesis::RankGrasps(step_.judge, &*exact_, &all_.grasps, [&] {
      return !(all_.stopped && step_.seconds == 0.0) && GoOn();
    }));
    doing_ = "recording";
    TakeFirst();
    for (Grasp& grasp : made_.grasps) HANDHOLD_TRY(Look(&grasp));
    synthesis::RankByLift(&made_.grasps);
    for (const Grasp& grasp : made_.grasps) {
      Shown& seen = shown_.at(grasp.name);
      made_.verdicts.push_back(seen.verdict);
      made_.motions.push_back(std::move(seen.motion));
    }
    return Ended();
  }

 private:
  /// What there is, unless that is nothing.
  Result<Regrasped> Ended() {
    if (!going_ || all_.stopped || all_.lost_parts > 0) {
      work_.CutShort(std::to_string(made_.tried) + " of " + std::to_string(made_.planned) +
                     " poses were tried");
    }
    if (!made_.grasps.empty()) return std::move(made_);
    if (!going_) return Error{ErrorCode::kCancelled, "regrasp: cancelled before a grasp held"};
    std::string why;
    for (const auto& [cause, count] : made_.refused)
      why += (why.empty() ? ": " : ", ") + std::to_string(count) + " " + cause;
    return Error{ErrorCode::kNotFound, "no grasp of '" + step_.prop.name + "' holds, of " +
                                           std::to_string(made_.tried) + " tried" + why +
                                           "; more poses, another region or example may find one"};
  }

  bool GoOn() {
    const double done = static_cast<double>(made_.tried) / std::max(made_.planned, 1);
    return going_ = going_ && work_.GoOn(done, "regrasp: " + doing_);
  }

  /// Progress of all parts of this proposer, after those before it.
  bool Tell() {
    made_.tried = before_, made_.survived = 0;
    double best = -1e9;
    for (const int n : all_.tried) made_.tried += n;
    for (const Grasp& grasp : all_.grasps) {
      made_.survived += grasp.scores.at("survived") > 0.0;
      best = std::max(best, grasp.scores.at("margin"));
    }
    char text[80] = "nothing holds yet";
    if (best > -1e8)
      std::snprintf(text, sizeof text, "best margin %.2f, %d hold", best, made_.survived);
    doing_ = std::string("trying poses (") + text + ")";
    return GoOn();
  }

  Status Ask(const MakeProposer& make) {
    std::fill(all_.tried.begin(), all_.tried.end(), 0);
    step::Parts parts;
    parts.count = request_.wishes.parts;
    parts.work = [&](int part, const step::Parts::Send& send) -> Status {
      synthesis::GraspRequest own{request_.hand, request_.hand_hash, request_.prop,
                                  request_.prop_hash, request_.wishes};
      own.wishes.part = part;
      PartSink out;
      out.grasp = [&](const Grasp& grasp) {
        return send(Json::Object({{"grasp", artefact::ToJson(grasp)}}));
      };
      out.tried = [&](int tried) { return send(Json::Object({{"tried", tried}})); };
      HANDHOLD_ASSIGN(const std::unique_ptr<synthesis::Proposer> asked, make());
      HANDHOLD_ASSIGN(const ProposerReport report, SearchPart(asked.get(), own, trying_, out));
      send(ToJson(report));
      return {};
    };
    parts.take = [&](int part, const Json& found) { return Take(part, found, &all_); };
    parts.go_on = [&] { return Tell(); };
    HANDHOLD_ASSIGN(const int lost, work_.Run(parts));
    all_.lost_parts += lost;
    Tell();
    before_ = made_.tried;
    return {};
  }

  Status Search() {
    if (from_) {
      HANDHOLD_TRY(Ask([&]() -> Result<std::unique_ptr<synthesis::Proposer>> {
        HANDHOLD_ASSIGN(auto made, synthesis::ExampleProposer::Create(
                                       request_.hand, *from_, *step_.example_prop, proposing_));
        return std::unique_ptr<synthesis::Proposer>(std::move(made));
      }));
    }
    const bool on = going_ && !(all_.stopped && step_.seconds == 0.0);
    if (searcher_ && on) {
      HANDHOLD_TRY(Ask([&]() -> Result<std::unique_ptr<synthesis::Proposer>> {
        return std::unique_ptr<synthesis::Proposer>(
            std::make_unique<synthesis::SearchProposer>(*searcher_));
      }));
    }
    if (all_.lost_parts > 0) {
      work_.Note("what was found: " + std::to_string(all_.lost_parts) + " of " +
                 std::to_string(request_.wishes.parts) +
                 " processes were killed before they had tried all of theirs");
    }
    return {};
  }

  /// The first ranks of those that held; the others are counted.
  void TakeFirst() {
    std::vector<Grasp> others;
    for (Grasp& grasp : all_.grasps) {
      const bool wanted =
          static_cast<int>(made_.grasps.size()) < step_.top && grasp.scores.at("survived") > 0.0;
      (wanted ? made_.grasps : others).push_back(std::move(grasp));
    }
    all_.grasps.clear();
    CountNotKept(others, &made_.refused);
  }

  /// Static figures, the lift and the motion of a grasp, as it settles; those tested exactly have.
  Status Look(Grasp* grasp) {
    if (synthesis::ExactTestOf(*grasp) == nullptr) {
      HANDHOLD_ASSIGN(*grasp, exact_->Settled(*grasp));
    }
    HANDHOLD_ASSIGN(
        const synthesis::GraspMetrics metrics,
        synthesis::MeasureGrasp(request_.hand, grasp->q, grasp->X_PH, request_.prop,
                                {.friction = step_.friction, .mass_kg = step_.mass_kg}));
    for (const auto& [name, value] : synthesis::ScoresOf(metrics)) grasp->scores[name] = value;
    const artefact::GraspTest* const test = synthesis::ExactTestOf(*grasp);
    bool stands = false;
    if (test != nullptr && test->passed && GoOn()) {
      HANDHOLD_ASSIGN(const artefact::GraspTest lift, exact_->Lift(*grasp));
      grasp->tests.push_back(lift);
      stands = lift.passed;
    }
    Shown& seen = shown_[grasp->name];
    if (!step_.motions || !GoOn()) return {};
    return Record(stands, grasp, &seen);
  }

  Status Record(bool stands, Grasp* grasp, Shown* seen) {
    recording_.scene.table = stands;
    auto recorded = synthesis::RecordGrasp(request_.hand, request_.prop, *grasp, recording_);
    if (!recorded && recorded.error().code != ErrorCode::kNotConverged) return recorded.error();
    seen->verdict = "lost";
    if (!recorded) return {};
    artefact::Motion& m = recorded->motion;
    seen->verdict = artefact::VerdictName(m.verdict.kind);
    const bool kept_still = m.summary.figures.at("moved_in_hand_m") <= trying_.protocol.shift_m &&
                            m.summary.figures.at("turned_in_hand_rad") <= trying_.protocol.turn_rad;
    if (m.verdict.kind == artefact::Verdict::Kind::kHeld && !kept_still) seen->verdict = "shifted";
    grasp->scores["shown_held"] = seen->verdict == "held" ? 1.0 : 0.0;
    m.stage.hands.front().skeleton.hash = step_.hand.hash;
    m.stage.things.front().prop.hash = step_.prop.hash;
    if (stands) m.stage.things.back().prop.hash = step_.table.hash;
    seen->motion = std::move(m);
    return {};
  }

  const RegraspStep& step_;
  step::Work& work_;
  const std::optional<Grasp> from_;
  const std::optional<synthesis::GraspSearcher>& searcher_;
  const synthesis::GraspRequest request_;
  synthesis::ExampleProposerOptions proposing_;
  synthesis::HandTrialOptions trying_;
  synthesis::GraspMotionOptions recording_;
  Gathered all_;
  Regrasped made_;
  std::string doing_;
  int before_ = 0;  ///< tried by the proposers before the one that is asked
  bool going_ = true;
  std::optional<synthesis::HandTrial> exact_;
  std::map<std::string, Shown> shown_;  ///< by the grasp's name
};

/// The proposer of a grasp that was taken out of a motion.
constexpr const char* kOfMotion = "motion";

template <typename T, typename V>
void Give(const std::string& hash, const std::string& name, V value, step::Given<T>* given) {
  given->ask = {};
  given->hash = hash;
  given->name = name;
  given->at_hand = std::make_shared<const T>(std::move(value));
}

/// The example's grasp; none: there is no example.
Result<std::optional<Grasp>> ExampleOf(const RegraspStep& s) {
  if (s.example) return std::optional<Grasp>(*s.example);
  if (!s.shown) return std::optional<Grasp>();
  HANDHOLD_ASSIGN(Grasp grasp, GraspOfMotion(*s.shown, s.example_skeleton->skeleton));
  grasp.name = "motion_" + ShortHash(s.shown.hash);
  return std::optional<Grasp>(std::move(grasp));
}

}  // namespace

Status PrepareStep(const StepContext& context, RegraspStep* s, std::vector<std::string>* chosen) {
  const auto said = [](const step::Found& input) {
    return !input.ask.key.empty() && input.ask.key != step::kNone;
  };
  // A recipe names what an example brings.
  const bool named = !s->example_skeleton.ask.key.empty();
  if (!said(s->example) && !said(s->shown) && !said(s->space)) {
    return Error{ErrorCode::kInvalid,
                 "grasps come from an example or from a grasp space: say one, or both"};
  }
  if (said(s->example) && !named) {
    HANDHOLD_ASSIGN(FoundExample from, FindExample(context, s->example.ask.key, chosen));
    if (from.grasp.proposer == kOfMotion) {
      s->example = {};
      s->shown = from.hash;
    } else {
      Give(from.hash, from.grasp.name, from.grasp, &s->example);
    }
    Give(from.prop.hash, from.prop.prop.name, from.prop.prop, &s->example_prop);
    const step::Hand hand{from.skeleton.skeleton, from.skeleton.summary};
    Give(from.skeleton.hash, from.skeleton.name, hand, &s->example_skeleton);
    if (!said(s->skeleton)) Give(from.skeleton.hash, from.skeleton.name, hand, &s->skeleton);
  }
  if (said(s->space)) {
    if (s->space.ask.key == "newest") {
      HANDHOLD_ASSIGN(const store::ArtefactInfo newest,
                      NewestOf(context.library, "grasp_space", "fit grasp-space"));
      s->space = newest.hash;
    }
    HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                    FindArtefact(context.library, s->space.ask.key, "grasp_space"));
    s->space = info.hash;
    chosen->push_back("grasp space " + ShortHash(info.hash) +
                      (s->example || s->shown ? " beside the example" : ""));
    if (!s->skeleton && !said(s->skeleton)) {
      HANDHOLD_ASSIGN(const auto space,
                      store::Load<artefact::GraspSpace>(context.library.ArtefactPath(info.hash)));
      s->skeleton = space.skeleton_hash;
    }
  }
  if (!said(s->table)) {
    HANDHOLD_ASSIGN(const FoundProp table, KeepProp(context, artefact::TableProp()));
    Give(table.hash, table.prop.name, table.prop, &s->table);
  }
  return {};
}

Status Check(const RegraspStep& s) {
  for (const Status& loaded : {s.prop.Load(), s.skeleton.Load(), s.example_skeleton.Load()})
    HANDHOLD_TRY(loaded);
  if (s.example_skeleton &&
      s.skeleton->skeleton.dof_names() != s.example_skeleton->skeleton.dof_names()) {
    return Error{ErrorCode::kInvalid, "the example is of '" + s.example_skeleton->skeleton.name() +
                                          "': a hand of other degrees of freedom ('" +
                                          s.skeleton->skeleton.name() +
                                          "') cannot close as it does"};
  }
  HANDHOLD_TRY(WishesOf(s));
  return {};
}

Result<Regrasped> Compute(const RegraspStep& s, step::Work& work) {
  HANDHOLD_TRY(Check(s));
  HANDHOLD_ASSIGN(const synthesis::GraspWishes wishes, WishesOf(s));
  HANDHOLD_ASSIGN(std::optional<Grasp> from, ExampleOf(s));
  std::optional<synthesis::GraspSearcher> searcher;
  if (s.space) {
    HANDHOLD_ASSIGN(const auto surface, synthesis::HandSurface::Build(s.skeleton->skeleton));
    HANDHOLD_ASSIGN(searcher, synthesis::GraspSearcher::Build(surface, *s.space));
  }
  return Regrasping(s, work, std::move(from), searcher, wishes).Run();
}

}  // namespace handhold::pipeline
