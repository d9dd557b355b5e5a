#include "tools/pipeline/regrasp.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>

#include "database/artefact/describe.h"
#include "database/text/json_view.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::Grasp;
using synthesis::ProposerReport;
using text::Json;

constexpr int kRegraspVersion = 1;

/// What one part of the search hands on as it works.
struct PartSink {
  std::function<bool(Grasp)> grasp;
  std::function<bool(int tried)> tried;
};

/// Runs one part in this process: proposes, tries, hands on.
Result<ProposerReport> SearchPart(const FoundExample& example,
                                  const synthesis::GraspRequest& request,
                                  const synthesis::ExampleProposerOptions& proposer_options,
                                  const synthesis::HandTrialOptions& trial_options,
                                  const PartSink& out) {
  HANDHOLD_ASSIGN(const auto proposer,
                  synthesis::ExampleProposer::Create(request.hand, example.grasp, example.prop.prop,
                                                     proposer_options));
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
        if (!child.done && status)
          status = Error{ErrorCode::kNotConverged, "a part of the search ended without a word"};
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
  double lowest = std::numeric_limits<double>::infinity();
  for (const model::PropShape& s : prop.shapes) {
    const geometry::Bounds own = geometry::BoundsOf(s.shape);
    for (int corner = 0; corner < 8; ++corner) {
      const geometry::Vec3 p((corner & 1) != 0 ? own.max.x() : own.min.x(),
                             (corner & 2) != 0 ? own.max.y() : own.min.y(),
                             (corner & 4) != 0 ? own.max.z() : own.min.z());
      lowest = std::min(lowest, (s.X_PS * p).z());
    }
  }
  return {geometry::Vec3(0, 0, lowest), geometry::Vec3::UnitZ()};
}

}  // namespace

Result<RegraspResult> RegraspStep::Run(const StepContext& context) const {
  RegraspResult result;
  HANDHOLD_ASSIGN(const FoundExample found_example, FindExample(context, example, &result.chosen));
  FoundExample from = found_example;
  if (!hand.key.empty()) {
    HANDHOLD_ASSIGN(from.skeleton, FindSkeleton(context, hand, &result.chosen));
    if (from.skeleton.skeleton.dof_names() != found_example.skeleton.skeleton.dof_names()) {
      return Error{ErrorCode::kInvalid, "the example is of '" + found_example.skeleton.name +
                                            "': a hand of other degrees of freedom ('" +
                                            from.skeleton.name + "') cannot close as it does"};
    }
  }
  HANDHOLD_ASSIGN(const FoundProp found, FindProp(context, prop, metres_per_unit, &result.chosen));
  synthesis::GraspRequest request{
      from.skeleton.skeleton, from.skeleton.hash, found.prop, found.hash, {}};
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
  synthesis::GraspMotionOptions recording = motion;
  recording.scene.mass_kg = mass_kg, recording.scene.friction = friction;
  result.progress.planned = poses;
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
  const auto search = [&](int part, const PartSink& out) {
    synthesis::GraspRequest own{request.hand, request.hand_hash, request.prop, request.prop_hash,
                                request.wishes};
    own.wishes.part = part;
    return SearchPart(from, own, proposing, trying, out);
  };
  if (wishes.parts == 1) {
    PartSink out;
    out.grasp = [&](Grasp grasp) {
      all.grasps.push_back(std::move(grasp));
      return tell(all);
    };
    out.tried = [&](int tried) {
      all.tried[0] = tried;
      return tell(all);
    };
    HANDHOLD_ASSIGN(all.report, search(0, out));
    all.tried[0] = all.report.done.tried;
  } else {
    HANDHOLD_TRY(SearchInProcesses(wishes.parts, search, tell, &all));
  }
  tell(all);
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
  for (const Grasp& grasp : all.grasps) {
    for (const artefact::GraspTest& test : grasp.tests) {
      if (!test.passed && test.protocol != "P1")
        ++result.refused["failed: " + test.cause.substr(0, test.cause.find(':'))];
    }
  }

  // 3. Kept: grasps with static figures and the lift, then motions.
  result.progress.doing = "recording";
  HandChoice free_hand;
  free_hand.key = from.skeleton.hash;
  free_hand.free_base = true;
  std::vector<std::string> unsaid;
  for (size_t i = 0; i < all.grasps.size() && static_cast<int>(i) < top; ++i) {
    Grasp& grasp = all.grasps[i];
    HANDHOLD_ASSIGN(const synthesis::GraspMetrics metrics,
                    synthesis::MeasureGrasp(request.hand, grasp.q, grasp.X_PH, request.prop,
                                            {.friction = friction, .mass_kg = mass_kg}));
    for (const auto& [name, value] : synthesis::ScoresOf(metrics)) grasp.scores[name] = value;
    bool stands = false;
    const artefact::GraspTest* const test = synthesis::ExactTestOf(grasp);
    if (test != nullptr && test->passed && go_on()) {
      HANDHOLD_ASSIGN(const artefact::GraspTest lift, exact.Lift(grasp));
      grasp.tests.push_back(lift);
      stands = lift.passed;
    }
    artefact::Provenance provenance = ProvenanceOf("regrasp", kRegraspVersion);
    provenance.tool = context.tool;
    provenance.inputs = {from.input("example"), from.skeleton.input(), found.input("prop")};
    HANDHOLD_ASSIGN(
        provenance.parameters_json,
        Parameters(Json::Object(
            {{"candidate", grasp.scores.at("candidate")},
             {"seed", seed},
             {"poses", poses},
             {"tried", result.progress.tried},
             {"region", region},
             {"type", type},
             {"avoid_table", avoid_table},
             {"exact_tested", test != nullptr},
             {"versions",
              Json::Array({synthesis::kExampleProposerVersion, synthesis::kHandSceneVersion,
                           synthesis::kP1Version, synthesis::kJudgeVersion})},
             {"proposer", artefact::ToJson(proposing)},
             {"trial", artefact::ToJson(trying)},
             {"judge", artefact::ToJson(judge)}})));
    RegraspResult::Kept kept;
    provenance.made_utc = UtcNow();
    grasp.provenance = provenance;
    HANDHOLD_ASSIGN(kept.hash, context.library.Save(grasp));
    if (motions && go_on()) {
      recording.scene.table = stands;
      HANDHOLD_ASSIGN(const FoundSkeleton moving, FindSkeleton(context, free_hand, &unsaid));
      auto recorded = synthesis::RecordGrasp(request.hand, request.prop, grasp, recording);
      if (recorded) {
        artefact::Motion& m = recorded->motion;
        m.hands.front().skeleton_hash = moving.hash;
        m.objects.front().prop_hash = found.hash;
        if (stands) {
          HANDHOLD_ASSIGN(const FoundProp table, KeepProp(context, synthesis::HandScene::Table()));
          m.objects.back().prop_hash = table.hash;
        }
        m.provenance = ProvenanceOf("regrasp.motion", synthesis::kGraspMotionVersion);
        m.provenance.tool = context.tool;
        m.provenance.made_utc = UtcNow();
        m.provenance.inputs = {
            {"grasp", kept.hash, grasp.name}, moving.input(), found.input("prop")};
        HANDHOLD_ASSIGN(m.provenance.parameters_json, Parameters(artefact::ToJson(recording)));
        HANDHOLD_ASSIGN(kept.motion, context.library.Save(m));
        kept.verdict = artefact::VerdictName(m.verdict.kind);
      } else if (recorded.error().code != ErrorCode::kNotConverged) {
        return recorded.error();
      } else {
        kept.verdict = "lost";
      }
    }
    kept.grasp = grasp;
    result.kept.push_back(std::move(kept));
  }
  if (!going) result.stopped = true;
  return result;
}

}  // namespace handhold::pipeline
