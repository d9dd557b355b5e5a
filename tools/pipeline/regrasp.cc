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
  std::function<bool(Grasp)> grasp;
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
    return failed.has_value() && out.grasp(std::move(grasp));
  };
  sink.progress = [&](const synthesis::ProposerProgress& p) { return out.tried(p.tried); };
  HANDHOLD_ASSIGN(const ProposerReport report, proposer->Propose(request, sink));
  HANDHOLD_TRY(failed);
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

/// What the candidates that are not among the kept ones failed of.
void CountNotKept(const std::vector<Grasp>& grasps, size_t kept,
                  std::map<std::string, int>* refused) {
  for (size_t i = kept; i < grasps.size(); ++i) {
    std::string why = "held, but not among the first";
    for (const artefact::GraspTest& test : grasps[i].tests) {
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
      out.grasp = [&](Grasp grasp) {
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
  HANDHOLD_ASSIGN(const FoundSkeleton skeleton, HandOf(context, from, space, hand, &result.chosen));
  FoundSpace searched;
  if (!space.empty()) {
    HANDHOLD_ASSIGN(searched, FindSpace(context, space, skeleton.skeleton));
    result.chosen.push_back("grasp space " + ShortHash(searched.info.hash) + " beside the example");
    if (example.empty()) result.chosen.back() = "grasp space " + ShortHash(searched.info.hash);
  }
  HANDHOLD_ASSIGN(const FoundProp found, FindProp(context, prop, metres_per_unit, &result.chosen));
  synthesis::GraspRequest request{skeleton.skeleton, skeleton.hash, found.prop, found.hash, {}};
  synthesis::GraspWishes& wishes = request.wishes;
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

  synthesis::ExampleProposerOptions proposing = proposer;
  proposing.mass_kg = mass_kg, proposing.friction = friction;
  synthesis::HandTrialOptions trying = trial;
  trying.scene.mass_kg = mass_kg, trying.scene.friction = friction;
  if (avoid_table) trying.scene.table_up_P = wishes.table->normal_P;
  synthesis::GraspMotionOptions recording = motion;
  recording.scene.mass_kg = mass_kg, recording.scene.friction = friction;
  recording.scene.table_up_P = trying.scene.table_up_P;
  const int proposers = (from ? 1 : 0) + (space.empty() ? 0 : 1);
  result.progress.planned = proposers * poses;
  result.progress.doing = "trying poses";
  if (context.dry_run) return result;
  HANDHOLD_TRY(context.library.MaySave());

  // 1. Candidates.
  const auto tell = [&](const Gathered& all) {
    RegraspProgress& p = result.progress;
    p.tried = 0, p.survived = 0;
    for (const int n : all.tried) p.tried += n;
    for (const Grasp& grasp : all.grasps) {
      p.survived += grasp.scores.at("survived") > 0.0;
      p.best_margin = std::max(p.best_margin, grasp.scores.at("margin"));
    }
    return !watch || watch(p);
  };
  Gathered all;
  all.tried.assign(static_cast<size_t>(wishes.parts), 0);
  int before = 0;  // tried by the proposers before this one
  std::string no_match;
  const auto ask =
      [&](const std::function<Result<std::unique_ptr<synthesis::Proposer>>()>& make) -> Status {
    const auto search = [&](int part, const PartSink& out) -> Result<ProposerReport> {
      synthesis::GraspRequest own{request.hand, request.hand_hash, request.prop, request.prop_hash,
                                  request.wishes};
      own.wishes.part = part;
      HANDHOLD_ASSIGN(const std::unique_ptr<synthesis::Proposer> asked, make());
      return SearchPart(asked.get(), own, trying, out);
    };
    const auto tell_all = [&](const Gathered& now) {
      const bool go = tell(now);
      result.progress.tried += before;
      return go;
    };
    std::fill(all.tried.begin(), all.tried.end(), 0);
    if (wishes.parts == 1) {
      PartSink out;
      out.grasp = [&](Grasp grasp) {
        all.grasps.push_back(std::move(grasp));
        return tell_all(all);
      };
      out.tried = [&](int tried) {
        all.tried[0] = tried;
        return tell_all(all);
      };
      HANDHOLD_ASSIGN(const ProposerReport report, search(0, out));
      all.tried[0] = report.done.tried;
      all.report.stopped |= report.stopped;
      all.report.no_match = report.no_match;
      for (const auto& [cause, count] : report.refused) all.report.refused[cause] += count;
    } else {
      HANDHOLD_TRY(SearchInProcesses(wishes.parts, search, tell_all, &all));
    }
    tell_all(all);
    before = result.progress.tried;
    if (!all.report.no_match.empty()) no_match = all.report.no_match;
    return {};
  };
  if (from) {
    HANDHOLD_TRY(ask([&]() -> Result<std::unique_ptr<synthesis::Proposer>> {
      HANDHOLD_ASSIGN(auto made, synthesis::ExampleProposer::Create(request.hand, from->grasp,
                                                                    from->prop.prop, proposing));
      return std::unique_ptr<synthesis::Proposer>(std::move(made));
    }));
  }
  if (searched.searcher && !(all.report.stopped && seconds == 0.0)) {
    HANDHOLD_TRY(ask([&]() -> Result<std::unique_ptr<synthesis::Proposer>> {
      return std::unique_ptr<synthesis::Proposer>(
          std::make_unique<synthesis::SearchProposer>(*searched.searcher));
    }));
  }
  all.report.no_match = result.progress.tried == 0 ? no_match : "";
  if (all.lost_parts > 0) {
    result.chosen.push_back("what was found: " + std::to_string(all.lost_parts) + " of " +
                            std::to_string(wishes.parts) +
                            " processes were killed before they had "
                            "tried all of theirs");
  }
  result.stopped = all.report.stopped;
  result.no_match = all.report.no_match;
  result.refused = all.report.refused;
  if (!result.no_match.empty()) return result;

  // 2. Exact tests and ranks. An interrupt ends them too: what is there is ranked as it is.
  result.progress.doing = "testing exactly";
  bool going = true;
  const auto go_on = [&] { return going = going && (!watch || watch(result.progress)); };
  synthesis::HandTrial exact(request.hand, request.prop, trying);
  HANDHOLD_TRY(synthesis::RankGrasps(
      judge, &exact, &all.grasps, [&] { return !(result.stopped && seconds == 0.0) && go_on(); }));

  // 3. The first ones: static figures, the lift, the motion; ranked anew by what they did.
  result.progress.doing = "recording";
  const auto holds = [](const Grasp& g) { return g.scores.at("survived") > 0.0; };
  std::vector<Grasp> first;
  for (const Grasp& grasp : all.grasps) {
    if (static_cast<int>(first.size()) < top && holds(grasp)) first.push_back(grasp);
  }
  std::erase_if(all.grasps, [&](const Grasp& g) {
    return std::ranges::any_of(
        first, [&](const Grasp& f) { return f.proposer == g.proposer && f.name == g.name; });
  });
  CountNotKept(all.grasps, 0, &result.refused);
  HandChoice free_hand;
  free_hand.key = skeleton.hash;
  free_hand.free_base = true;
  std::vector<std::string> unsaid;
  std::map<std::string, Shown> shown;  // by the grasp's name
  for (Grasp& grasp : first) {
    HANDHOLD_ASSIGN(const synthesis::GraspMetrics metrics,
                    synthesis::MeasureGrasp(request.hand, grasp.q, grasp.X_PH, request.prop,
                                            {.friction = friction, .mass_kg = mass_kg}));
    for (const auto& [name, value] : synthesis::ScoresOf(metrics)) grasp.scores[name] = value;
    const artefact::GraspTest* const test = synthesis::ExactTestOf(grasp);
    Shown& seen = shown[grasp.name];
    if (test != nullptr && test->passed && go_on()) {
      HANDHOLD_ASSIGN(const artefact::GraspTest lift, exact.Lift(grasp));
      grasp.tests.push_back(lift);
      seen.stands = lift.passed;
    }
    if (!motions || !go_on()) continue;
    recording.scene.table = seen.stands;
    auto recorded = synthesis::RecordGrasp(request.hand, request.prop, grasp, recording);
    if (!recorded && recorded.error().code != ErrorCode::kNotConverged) return recorded.error();
    seen.verdict = "lost";
    if (!recorded) continue;
    seen.recorded = *std::move(recorded);
    const artefact::Motion& m = seen.recorded->motion;
    seen.verdict = artefact::VerdictName(m.verdict.kind);
    const bool kept_still = m.summary.figures.at("moved_in_hand_m") <= trying.protocol.shift_m &&
                            m.summary.figures.at("turned_in_hand_rad") <= trying.protocol.turn_rad;
    if (m.verdict.kind == artefact::Verdict::Kind::kHeld && !kept_still) seen.verdict = "shifted";
    grasp.scores["shown_held"] = seen.verdict == "held" ? 1.0 : 0.0;
  }
  synthesis::RankByLift(&first);

  // 4. Kept, in that order.
  for (Grasp& grasp : first) {
    artefact::Provenance provenance = ProvenanceOf("regrasp", kRegraspVersion);
    provenance.tool = context.tool;
    provenance.inputs = {skeleton.input(), found.input("prop")};
    if (from) provenance.inputs.push_back(from->input("example"));
    if (searched.searcher) provenance.inputs.push_back({"space", searched.info.hash, ""});
    HANDHOLD_ASSIGN(
        provenance.parameters_json,
        Parameters(Json::Object(
            {{"candidate", grasp.scores.at("candidate")},
             {"proposer_of_it", grasp.proposer},
             {"seed", seed},
             {"poses", poses},
             {"tried", result.progress.tried},
             {"region", region},
             {"type", type},
             {"avoid_table", avoid_table},
             {"exact_tested", synthesis::ExactTestOf(grasp) != nullptr},
             {"versions",
              Json::Array({synthesis::kExampleProposerVersion, synthesis::kHandSceneVersion,
                           synthesis::kP1Version, synthesis::kJudgeVersion,
                           synthesis::kGraspMetricsVersion, synthesis::kGraspSearchVersion})},
             {"proposer", artefact::ToJson(proposing)},
             {"trial", artefact::ToJson(trying)},
             {"judge", artefact::ToJson(judge)}})));
    RegraspResult::Kept kept;
    provenance.made_utc = UtcNow();
    grasp.provenance = provenance;
    HANDHOLD_ASSIGN(kept.hash, context.library.Save(grasp));
    Shown& seen = shown.at(grasp.name);
    kept.verdict = seen.verdict;
    if (seen.recorded) {
      HANDHOLD_ASSIGN(const FoundSkeleton moving, FindSkeleton(context, free_hand, &unsaid));
      artefact::Motion& m = seen.recorded->motion;
      m.hands.front().skeleton_hash = moving.hash;
      m.objects.front().prop_hash = found.hash;
      recording.scene.table = seen.stands;
      if (seen.stands) {
        HANDHOLD_ASSIGN(const FoundProp table, KeepProp(context, synthesis::HandScene::Table()));
        m.objects.back().prop_hash = table.hash;
      }
      m.provenance = ProvenanceOf("regrasp.motion", synthesis::kGraspMotionVersion);
      m.provenance.tool = context.tool;
      m.provenance.made_utc = UtcNow();
      m.provenance.inputs = {{"grasp", kept.hash, grasp.name}, moving.input(), found.input("prop")};
      HANDHOLD_ASSIGN(m.provenance.parameters_json, Parameters(artefact::ToJson(recording)));
      HANDHOLD_ASSIGN(kept.motion, context.library.Save(m));
    }
    kept.grasp = grasp;
    result.kept.push_back(std::move(kept));
  }
  if (!going) result.stopped = true;
  return result;
}

}  // namespace handhold::pipeline
