#include "tools/pipeline/regrasp.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "database/artefact/describe.h"
#include "database/store/artefact_file.h"
#include "database/text/json_view.h"
#include "synthesis/evaluate/grasp_metrics.h"
#include "synthesis/grasp_search/search_proposer.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::Grasp;
using synthesis::ProposerReport;
using text::Json;

constexpr int kRegraspVersion = 2;

/// What one part of the search hands on as it works.
struct PartSink {
  std::function<bool(const Grasp&)> grasp;
  std::function<bool(int tried)> tried;
};

/// Runs one part of one proposer in this process: proposes, tries, hands on.
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

/// A grasp space, ready to be searched.
struct FoundSpace {
  store::ArtefactInfo info;
  std::optional<synthesis::GraspSearcher> searcher;
};

Result<FoundSpace> FindSpace(const StepContext& context, const std::string& key,
                             const model::Skeleton& hand) {
  FoundSpace found;
  HANDHOLD_ASSIGN(found.info, key == "newest"
                                  ? NewestOf(context.library, "grasp_space", "fit grasp-space")
                                  : FindArtefact(context.library, key, "grasp_space"));
  HANDHOLD_ASSIGN(const auto space,
                  store::Load<artefact::GraspSpace>(context.library.ArtefactPath(found.info.hash)));
  HANDHOLD_ASSIGN(const auto surface, synthesis::HandSurface::Build(hand));
  HANDHOLD_ASSIGN(found.searcher, synthesis::GraspSearcher::Build(surface, space));
  return found;
}

/// The hand that grasps: `hand` where one is chosen, else the example's, else the space's.
Result<FoundSkeleton> HandOf(const StepContext& context, const std::optional<FoundExample>& from,
                             const std::string& space, const HandChoice& hand,
                             std::vector<std::string>* chosen) {
  if (!from) {
    HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                    space == "newest" ? NewestOf(context.library, "grasp_space", "fit grasp-space")
                                      : FindArtefact(context.library, space, "grasp_space"));
    HANDHOLD_ASSIGN(const auto of,
                    store::Load<artefact::GraspSpace>(context.library.ArtefactPath(info.hash)));
    return LoadSkeletonArtefact(context.library, of.skeleton_hash);
  }
  if (hand.key.empty()) return from->skeleton;
  HANDHOLD_ASSIGN(const FoundSkeleton found, FindSkeleton(context, hand, chosen));
  if (found.skeleton.dof_names() != from->skeleton.skeleton.dof_names()) {
    return Error{ErrorCode::kInvalid, "the example is of '" + from->skeleton.skeleton.name() +
                                          "': a hand of other degrees of freedom ('" +
                                          found.skeleton.name() + "') cannot close as it does"};
  }
  return found;
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

Json ToJson(const ProposerReport& report) {
  return Json::Object({{"tried", report.done.tried},
                       {"refused", artefact::ToJson(report.refused)},
                       {"stopped", report.stopped},
                       {"no_match", report.no_match}});
}

/// Lines to the parent; false once nobody reads.
bool SendLine(int fd, const Json& message) {
  const auto line = text::WriteJson(message);
  if (!line) return false;
  std::string bytes = *line;
  std::replace(bytes.begin(), bytes.end(), '\n', ' ');
  bytes += '\n';
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + sent, bytes.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

struct Child {
  pid_t pid = -1;
  int fd = -1;
  std::string buffer;
  bool done = false;  ///< its report came
};

/// What the parent gathers of all parts.
struct Gathered {
  std::vector<Grasp> grasps;
  std::vector<int> tried;
  ProposerReport report;
  std::optional<Error> error;
  int lost_parts = 0;
};

Status TakeLine(const std::string& line, size_t part, Gathered* all, Child* child) {
  const std::string source = "a part of the search";
  HANDHOLD_ASSIGN(const Json json, text::ParseJson(line, {.source = source}));
  const text::JsonView view(json, source);
  if (json.Find("grasp") != nullptr) {
    HANDHOLD_ASSIGN(const text::JsonView inner, view.At("grasp"));
    HANDHOLD_ASSIGN(Grasp grasp, artefact::FromJson<Grasp>(inner));
    all->grasps.push_back(std::move(grasp));
  } else if (json.Find("tried") != nullptr) {
    HANDHOLD_ASSIGN(all->tried[part], view.Get<int>("tried"));
  } else if (json.Find("error") != nullptr) {
    HANDHOLD_ASSIGN(const std::string message, view.Get<std::string>("error"));
    all->error = Error{ErrorCode::kInvalid, message};
    child->done = true;
  } else {
    HANDHOLD_ASSIGN(const text::JsonView report, view.At("report"));
    child->done = true;
    std::map<std::string, int> refused;
    HANDHOLD_ASSIGN(const text::JsonView counts, report.At("refused"));
    for (const text::JsonMember& member : counts.value().members())
      all->report.refused[member.key] += static_cast<int>(*member.value.number());
    HANDHOLD_ASSIGN(const bool stopped, report.Get<bool>("stopped"));
    all->report.stopped = all->report.stopped || stopped;
    HANDHOLD_ASSIGN(all->report.no_match, report.Get<std::string>("no_match"));
    HANDHOLD_ASSIGN(all->tried[part], report.Get<int>("tried"));
  }
  return {};
}

/// One process per part. `watch` between lines; false ends them all.
Status SearchInProcesses(
    int jobs, const std::function<Result<ProposerReport>(int part, const PartSink& out)>& search,
    const std::function<bool(const Gathered&)>& watch, Gathered* all) {
  std::vector<Child> children;
  for (int part = 0; part < jobs; ++part) {
    int ends[2];
    if (::pipe(ends) != 0) return Error{ErrorCode::kIo, "no pipe for a part of the search"};
    const pid_t pid = ::fork();
    if (pid < 0) return Error{ErrorCode::kIo, "no process for a part of the search"};
    if (pid == 0) {
      ::close(ends[0]);
      for (const Child& other : children) ::close(other.fd);
      ::signal(SIGPIPE, SIG_IGN);
      ::signal(SIGINT, SIG_IGN);  // the parent decides
      PartSink out;
      out.grasp = [&](const Grasp& grasp) {
        return SendLine(ends[1], Json::Object({{"grasp", artefact::ToJson(grasp)}}));
      };
      out.tried = [&](int tried) { return SendLine(ends[1], Json::Object({{"tried", tried}})); };
      const auto report = search(part, out);
      SendLine(ends[1], report ? Json::Object({{"report", ToJson(*report)}})
                               : Json::Object({{"error", report.error().message}}));
      ::_exit(0);
    }
    ::close(ends[1]);
    children.push_back({pid, ends[0], {}, false});
  }
  Status status;
  bool stop = false;
  const auto open = [&] {
    return std::any_of(children.begin(), children.end(), [](const Child& c) { return c.fd >= 0; });
  };
  while (open() && !stop) {
    std::vector<pollfd> waits;
    for (const Child& c : children) waits.push_back({c.fd, POLLIN, 0});
    ::poll(waits.data(), waits.size(), 200);
    for (size_t i = 0; i < children.size(); ++i) {
      Child& child = children[i];
      if (child.fd < 0 || (waits[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      char bytes[65536];
      const ssize_t n = ::read(child.fd, bytes, sizeof bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        ::close(child.fd);
        child.fd = -1;
        if (!child.done) {  // killed: what it had found is here, the rest of its part is not
          ++all->lost_parts;
        }
        continue;
      }
      child.buffer.append(bytes, static_cast<size_t>(n));
      for (size_t end; (end = child.buffer.find('\n')) != std::string::npos;) {
        const Status taken = TakeLine(child.buffer.substr(0, end), i, all, &child);
        if (!taken && status) status = taken;
        child.buffer.erase(0, end + 1);
      }
    }
    stop = !watch(*all) || !status || all->error.has_value();
  }
  for (Child& child : children) {
    if (child.fd >= 0) {
      ::close(child.fd);
      ::kill(child.pid, SIGKILL);
    }
    ::waitpid(child.pid, nullptr, 0);
  }
  if (stop) all->report.stopped = true;
  if (all->error) return *all->error;
  return status;
}

/// Under the lowest point of the prop, normal to Z of P.
synthesis::GraspWishes::Table TableUnder(const model::Prop& prop) {
  const geometry::Vec3 up = geometry::Vec3::UnitZ();
  return {model::LowestAlong(prop, {}, up) * up, up};
}

/// What was seen of a grasp beyond its tests.
struct Shown {
  std::optional<synthesis::RecordedGrasp> recorded;
  std::string verdict;
  bool stands = false;  ///< it was lifted from a table
};

/// One run of the step, from what was found in the library.
class Regrasping {
 public:
  using MakeProposer = std::function<Result<std::unique_ptr<synthesis::Proposer>>()>;

  Regrasping(const RegraspStep& step, const StepContext& context, std::optional<FoundExample> from,
             FoundSkeleton skeleton, FoundSpace searched, FoundProp found,
             const synthesis::GraspWishes& wishes, RegraspResult* result)
      : step_(step),
        context_(context),
        from_(std::move(from)),
        skeleton_(std::move(skeleton)),
        searched_(std::move(searched)),
        found_(std::move(found)),
        request_{skeleton_.skeleton, skeleton_.hash, found_.prop, found_.hash, wishes},
        proposing_(step.proposer),
        trying_(step.trial),
        recording_(step.motion),
        result_(*result) {
    proposing_.mass_kg = step.mass_kg, proposing_.friction = step.friction;
    trying_.scene.mass_kg = step.mass_kg, trying_.scene.friction = step.friction;
    if (wishes.table) trying_.scene.table_up_P = wishes.table->normal_P;
    recording_.scene.mass_kg = step.mass_kg, recording_.scene.friction = step.friction;
    recording_.scene.table_up_P = trying_.scene.table_up_P;
    all_.tried.assign(static_cast<size_t>(wishes.parts), 0);
  }

  Status Run() {
    HANDHOLD_TRY(Search());
    result_.stopped = all_.report.stopped;
    result_.no_match = all_.report.no_match;
    result_.refused = all_.report.refused;
    if (!result_.no_match.empty()) return {};
    // An interrupt ends the exact tests, too: what is there is ranked as it is.
    result_.progress.doing = "testing exactly";
    exact_.emplace(request_.hand, request_.prop, trying_);
    HANDHOLD_TRY(synthesis::RankGrasps(step_.judge, &*exact_, &all_.grasps, [&] {
      return !(result_.stopped && step_.seconds == 0.0) && GoOn();
    }));
    result_.progress.doing = "recording";
    TakeFirst();
    for (Grasp& grasp : first_) HANDHOLD_TRY(Look(&grasp));
    synthesis::RankByLift(&first_);
    for (Grasp& grasp : first_) HANDHOLD_TRY(Keep(&grasp));
    if (!going_) result_.stopped = true;
    return {};
  }

 private:
  bool GoOn() { return going_ = going_ && (!step_.watch || step_.watch(result_.progress)); }

  /// Progress of all parts of this proposer, after those before it.
  bool Tell(const Gathered& all) {
    RegraspProgress& p = result_.progress;
    p.tried = before_, p.survived = 0;
    for (const int n : all.tried) p.tried += n;
    for (const Grasp& grasp : all.grasps) {
      p.survived += grasp.scores.at("survived") > 0.0;
      p.best_margin = std::max(p.best_margin, grasp.scores.at("margin"));
    }
    return !step_.watch || step_.watch(p);
  }

  Status Ask(const MakeProposer& make) {
    const auto search = [&](int part, const PartSink& out) -> Result<ProposerReport> {
      synthesis::GraspRequest own{request_.hand, request_.hand_hash, request_.prop,
                                  request_.prop_hash, request_.wishes};
      own.wishes.part = part;
      HANDHOLD_ASSIGN(const std::unique_ptr<synthesis::Proposer> asked, make());
      return SearchPart(asked.get(), own, trying_, out);
    };
    std::fill(all_.tried.begin(), all_.tried.end(), 0);
    if (request_.wishes.parts == 1) {
      PartSink out;
      out.grasp = [&](const Grasp& grasp) {
        all_.grasps.push_back(grasp);
        return Tell(all_);
      };
      out.tried = [&](int tried) {
        all_.tried[0] = tried;
        return Tell(all_);
      };
      HANDHOLD_ASSIGN(const ProposerReport report, search(0, out));
      all_.tried[0] = report.done.tried;
      all_.report.stopped |= report.stopped;
      all_.report.no_match = report.no_match;
      for (const auto& [cause, count] : report.refused) all_.report.refused[cause] += count;
    } else {
      HANDHOLD_TRY(SearchInProcesses(
          request_.wishes.parts, search, [&](const Gathered& now) { return Tell(now); }, &all_));
    }
    Tell(all_);
    before_ = result_.progress.tried;
    if (!all_.report.no_match.empty()) no_match_ = all_.report.no_match;
    return {};
  }

  Status Search() {
    if (from_) {
      HANDHOLD_TRY(Ask([&]() -> Result<std::unique_ptr<synthesis::Proposer>> {
        HANDHOLD_ASSIGN(auto made, synthesis::ExampleProposer::Create(
                                       request_.hand, from_->grasp, from_->prop.prop, proposing_));
        return std::unique_ptr<synthesis::Proposer>(std::move(made));
      }));
    }
    if (searched_.searcher && !(all_.report.stopped && step_.seconds == 0.0)) {
      HANDHOLD_TRY(Ask([&]() -> Result<std::unique_ptr<synthesis::Proposer>> {
        return std::unique_ptr<synthesis::Proposer>(
            std::make_unique<synthesis::SearchProposer>(*searched_.searcher));
      }));
    }
    all_.report.no_match = result_.progress.tried == 0 ? no_match_ : "";
    if (all_.lost_parts > 0) {
      result_.chosen.push_back("what was found: " + std::to_string(all_.lost_parts) + " of " +
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
          static_cast<int>(first_.size()) < step_.top && grasp.scores.at("survived") > 0.0;
      (wanted ? first_ : others).push_back(std::move(grasp));
    }
    all_.grasps.clear();
    CountNotKept(others, &result_.refused);
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
    Shown& seen = shown_[grasp->name];
    if (test != nullptr && test->passed && GoOn()) {
      HANDHOLD_ASSIGN(const artefact::GraspTest lift, exact_->Lift(*grasp));
      grasp->tests.push_back(lift);
      seen.stands = lift.passed;
    }
    if (!step_.motions || !GoOn()) return {};
    recording_.scene.table = seen.stands;
    auto recorded = synthesis::RecordGrasp(request_.hand, request_.prop, *grasp, recording_);
    if (!recorded && recorded.error().code != ErrorCode::kNotConverged) return recorded.error();
    seen.verdict = "lost";
    if (!recorded) return {};
    seen.recorded = *std::move(recorded);
    const artefact::Motion& m = seen.recorded->motion;
    seen.verdict = artefact::VerdictName(m.verdict.kind);
    const bool kept_still = m.summary.figures.at("moved_in_hand_m") <= trying_.protocol.shift_m &&
                            m.summary.figures.at("turned_in_hand_rad") <= trying_.protocol.turn_rad;
    if (m.verdict.kind == artefact::Verdict::Kind::kHeld && !kept_still) seen.verdict = "shifted";
    grasp->scores["shown_held"] = seen.verdict == "held" ? 1.0 : 0.0;
    return {};
  }

  Result<std::string> ParametersOf(const Grasp& grasp) const {
    return Parameters(Json::Object(
        {{"candidate", grasp.scores.at("candidate")},
         {"proposer_of_it", grasp.proposer},
         {"seed", step_.seed},
         {"poses", step_.poses},
         {"tried", result_.progress.tried},
         {"region", step_.region},
         {"type", step_.type},
         {"avoid_table", step_.avoid_table},
         {"exact_tested", synthesis::ExactTestOf(grasp) != nullptr},
         {"versions",
          Json::Array({synthesis::kExampleProposerVersion, synthesis::kHandSceneVersion,
                       synthesis::kP1Version, synthesis::kJudgeVersion,
                       synthesis::kGraspMetricsVersion, synthesis::kGraspSearchVersion})},
         {"proposer", artefact::ToJson(proposing_)},
         {"trial", artefact::ToJson(trying_)},
         {"judge", artefact::ToJson(step_.judge)}}));
  }

  Status Keep(Grasp* grasp) {
    artefact::Provenance provenance = ProvenanceOf("regrasp", kRegraspVersion);
    provenance.tool = context_.tool;
    provenance.inputs = {skeleton_.input(), found_.input("prop")};
    if (from_) provenance.inputs.push_back(from_->input("example"));
    if (searched_.searcher) provenance.inputs.push_back({"space", searched_.info.hash, ""});
    HANDHOLD_ASSIGN(provenance.parameters_json, ParametersOf(*grasp));
    provenance.made_utc = UtcNow();
    grasp->provenance = provenance;
    RegraspResult::Kept kept;
    HANDHOLD_ASSIGN(kept.hash, context_.library.Save(*grasp));
    Shown& seen = shown_.at(grasp->name);
    kept.verdict = seen.verdict;
    if (seen.recorded) {
      HANDHOLD_ASSIGN(kept.motion, KeepMotion(*grasp, kept.hash, &seen));
    }
    kept.grasp = *grasp;
    result_.kept.push_back(std::move(kept));
    return {};
  }

  Result<std::string> KeepMotion(const Grasp& grasp, const std::string& hash, Shown* seen) {
    HandChoice free_hand;
    free_hand.key = skeleton_.hash;
    free_hand.free_base = true;
    std::vector<std::string> unsaid;
    HANDHOLD_ASSIGN(const FoundSkeleton moving, FindSkeleton(context_, free_hand, &unsaid));
    artefact::Motion& m = seen->recorded->motion;
    m.hands.front().skeleton_hash = moving.hash;
    m.objects.front().prop_hash = found_.hash;
    recording_.scene.table = seen->stands;
    if (seen->stands) {
      HANDHOLD_ASSIGN(const FoundProp table, KeepProp(context_, synthesis::HandScene::Table()));
      m.objects.back().prop_hash = table.hash;
    }
    m.provenance = ProvenanceOf("regrasp.motion", synthesis::kGraspMotionVersion);
    m.provenance.tool = context_.tool;
    m.provenance.made_utc = UtcNow();
    m.provenance.inputs = {{"grasp", hash, grasp.name}, moving.input(), found_.input("prop")};
    HANDHOLD_ASSIGN(m.provenance.parameters_json, Parameters(artefact::ToJson(recording_)));
    return context_.library.Save(m);
  }

  const RegraspStep& step_;
  const StepContext& context_;
  const std::optional<FoundExample> from_;
  const FoundSkeleton skeleton_;
  const FoundSpace searched_;
  const FoundProp found_;
  const synthesis::GraspRequest request_;
  synthesis::ExampleProposerOptions proposing_;
  synthesis::HandTrialOptions trying_;
  synthesis::GraspMotionOptions recording_;
  RegraspResult& result_;
  Gathered all_;
  int before_ = 0;  ///< tried by the proposers before the one that is asked
  std::string no_match_;
  bool going_ = true;
  std::optional<synthesis::HandTrial> exact_;
  std::vector<Grasp> first_;
  std::map<std::string, Shown> shown_;  ///< by the grasp's name
};

}  // namespace

Result<RegraspResult> RegraspStep::Run(const StepContext& context) const {
  RegraspResult result;
  if (example.empty() && space.empty()) {
    return Error{ErrorCode::kInvalid,
                 "grasps come from an example or from a grasp space: say one, or both"};
  }
  std::optional<FoundExample> from;
  if (!example.empty()) {
    HANDHOLD_ASSIGN(from, FindExample(context, example, &result.chosen));
  }
  HANDHOLD_ASSIGN(FoundSkeleton skeleton, HandOf(context, from, space, hand, &result.chosen));
  FoundSpace searched;
  if (!space.empty()) {
    HANDHOLD_ASSIGN(searched, FindSpace(context, space, skeleton.skeleton));
    result.chosen.push_back("grasp space " + ShortHash(searched.info.hash) +
                            (example.empty() ? "" : " beside the example"));
  }
  HANDHOLD_ASSIGN(FoundProp found, FindProp(context, prop, metres_per_unit, &result.chosen));
  synthesis::GraspWishes wishes;
  if (!region.empty()) {
    auto named = synthesis::RegionNamed(found.prop, region);
    if (!named && named.error().code == ErrorCode::kNotFound) {
      result.no_match = named.error().message;
      return result;
    }
    if (!named) return named.error();
    wishes.region = *named;
  }
  wishes.type = type;
  if (avoid_table) wishes.table = TableUnder(found.prop);
  wishes.poses = poses;
  wishes.seed = static_cast<std::uint64_t>(seed);
  wishes.seconds = seconds;
  wishes.parts = std::clamp(jobs, 1, std::max(1, poses));
  HANDHOLD_TRY(synthesis::CheckWishes(wishes));
  result.progress.planned = ((from ? 1 : 0) + (space.empty() ? 0 : 1)) * poses;
  result.progress.doing = "trying poses";
  if (context.dry_run) return result;
  HANDHOLD_TRY(context.library.MaySave());
  Regrasping work(*this, context, std::move(from), std::move(skeleton), std::move(searched),
                  std::move(found), wishes, &result);
  HANDHOLD_TRY(work.Run());
  return result;
}

}  // namespace handhold::pipeline
