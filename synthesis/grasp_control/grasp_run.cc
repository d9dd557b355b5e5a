#include "synthesis/grasp_control/grasp_run.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "database/base/names.h"
#include "synthesis/grasp_control/contact_rows.h"
#include "synthesis/grasp_control/posture.h"

namespace handhold::synthesis {

using artefact::Motion;
using geometry::RigidTransform;
using geometry::Vec3;

namespace {

const std::vector<std::string>& Words() {
  static const std::vector<std::string> kWords = {"auto", "neutral", "open", "close", "release"};
  return kWords;
}

std::optional<GraspCommand> CommandOf(std::string_view word) {
  for (size_t i = 0; i < Words().size(); ++i)
    if (word == Words()[i]) return static_cast<GraspCommand>(i);
  return std::nullopt;
}

std::optional<double> NumberOf(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

/// Axis of "x", "y", "z"; -1: none of these.
int AxisOf(std::string_view what) {
  return what.size() == 1 && what[0] >= 'x' && what[0] <= 'z' ? what[0] - 'x' : -1;
}
bool HasValue(std::string_view what) { return what == "alpha" || AxisOf(what) >= 0; }

/// How fast a palm follows keys: critically damped, 90 % after 4 / this.
constexpr double kFollow_per_s = 15.0;

/// A hand touches its own gripping place from a little outside it.
constexpr double kArrived_m = 1e-3;

/// What a state of the machine is called as a phase.
const char* PhaseOf(GraspState state) {
  switch (state) {
    case GraspState::kNeutral:
    case GraspState::kOpeningI:
      return artefact::phase::kReach;
    case GraspState::kClosing:
      return artefact::phase::kClose;
    case GraspState::kGripping:
      return artefact::phase::kHold;
    default:
      return artefact::phase::kRelease;
  }
}

}  // namespace

Result<std::vector<GraspKey>> ParseKeys(std::string_view text, double step_s) {
  std::vector<GraspKey> keys;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t at = item.find('@');
    const auto refuse = [&](const std::string& why) {
      return Error{ErrorCode::kInvalid,
                   "'" + std::string(item) + "': " + why +
                       "; a sequence reads open@0.4,close@0.9,alpha=0.7@1.2,release@3"};
    };
    if (at == std::string_view::npos) return refuse("has no time");
    const auto time = NumberOf(item.substr(at + 1));
    if (!time || *time < 0 || *time > 1e6) return refuse("its time is no number of seconds");
    GraspKey key;
    key.step = std::llround(*time / step_s);
    const std::string_view what = item.substr(0, at);
    const size_t equals = what.find('=');
    if (equals != std::string_view::npos && HasValue(what.substr(0, equals))) {
      const auto value = NumberOf(what.substr(equals + 1));
      if (!value) return refuse("its value is no number");
      key.what = std::string(what.substr(0, equals)), key.value = *value;
    } else if (CommandOf(what)) {
      key.what = std::string(what);
    } else {
      return refuse("unknown word" + DidYouMean(what, Words()));
    }
    keys.push_back(std::move(key));
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const GraspKey& a, const GraspKey& b) { return a.step < b.step; });
  return keys;
}

std::string FormatKeys(const std::vector<GraspKey>& keys, double step_s) {
  std::string out;
  for (const GraspKey& key : keys) {
    char text[96];
    const double time = static_cast<double>(key.step) * step_s;
    if (HasValue(key.what)) {
      char value[40] = {};
      std::to_chars(value, value + sizeof value - 1, key.value);  // the shortest that reads back
      std::snprintf(text, sizeof text, "%s=%s@%.9g", key.what.c_str(), value, time);
    } else {
      std::snprintf(text, sizeof text, "%s@%.9g", key.what.c_str(), time);
    }
    out += (out.empty() ? "" : ",") + std::string(text);
  }
  return out;
}

Result<std::unique_ptr<GraspRun>> GraspRun::Create(const GraspSetting& s,
                                                   const GraspRunOptions& options) {
  HANDHOLD_TRY(CheckPath(s.path));
  if (!(options.step_s > 0) || !(options.frame_s >= options.step_s) || !(options.seconds > 0) ||
      !(options.seconds / options.step_s < 1e8) || !std::isfinite(options.alpha)) {
    return Error{
        ErrorCode::kInvalid,
        "a grasp needs a step > 0, frames no shorter than it, a length and a finite alpha"};
  }
  std::unique_ptr<GraspRun> run(new GraspRun());
  run->options_ = options;
  run->path_ = s.path;
  if (s.stage.hands.size() != 1 || s.stage.things.empty() ||
      s.stage.things.front().is != artefact::StageThing::Is::kFree)
    return Error{ErrorCode::kInvalid, "a grasp is of one hand, on the first thing, which is free"};
  HANDHOLD_ASSIGN(
      run->world_,
      HandWorld::Create(s.stage, {.stepper = options.quick ? Stepper::kQuick : Stepper::kExact,
                                  .gravity_on_hands = options.gravity_on_hand}));
  HandWorld& w = *run->world_;
  const model::Skeleton& loaded = *s.stage.hands.front().skeleton;
  HANDHOLD_ASSIGN(run->controller_,
                  GraspController::Create(&w, 0, loaded, s.setpoints, options.controller));
  const auto at = [&](const RigidTransform& X_WPalm, const Eigen::VectorXd& posture) {
    Eigen::VectorXd q = w.Placed(0, posture, {});
    const model::Joint& root = w.hand(0).body(w.palm_body(0)).joint;
    const RigidTransform X = root.X_PJp.Inverse() * X_WPalm * root.X_BJc;
    q.head<3>() = X.p;
    q.segment<4>(3) = geometry::ToQuaternion(X.R);
    return q;
  };
  HANDHOLD_TRY(w.SetHand(0, at(s.X_WPalm_grip, s.setpoints.q_neutral)));
  HANDHOLD_ASSIGN(run->gap_of_grip_m_, w.PalmGap(0, 0));
  // A hand that begins round its prop begins open: neutral would be in it.
  HANDHOLD_TRY(w.SetHand(0, at(s.path.X_WPalm.front(), s.setpoints.q_neutral)));
  HANDHOLD_ASSIGN(const double gap, w.PalmGap(0, 0));
  if (gap - run->gap_of_grip_m_ < s.setpoints.approach_m) {
    HANDHOLD_TRY(w.SetHand(
        0, at(s.path.X_WPalm.front(),
              Between(loaded, s.setpoints.q_neutral, s.setpoints.setpoints[kOpen].q, 0.5))));
  }
  run->machine_ = GraspStateMachine({.near_m = s.setpoints.near_m,
                                     .approach_m = s.setpoints.approach_m,
                                     .begin_m = s.setpoints.begin_m,
                                     .open_while_closing = options.open_while_closing});
  const double factor = options.controller.gain_factor;
  run->closing_s_ =
      0.1 + 4.5 * s.setpoints.damping_per_s / (std::sqrt(factor) * s.setpoints.stiffness_per_s2);
  run->alpha_ = options.alpha;
  run->held_ = options.hold_until_closed;
  if (run->held_) HANDHOLD_TRY(w.HoldProp(0, true));
  run->steps_ = std::llround(options.seconds / options.step_s);
  run->frame_every_ = std::max<std::int64_t>(1, std::llround(options.frame_s / options.step_s));

  artefact::StageHand moves = s.stage.hands.front();
  moves.name = loaded.draft().side == "left" ? "L" : "R";
  moves.skeleton.value = std::make_shared<const model::Skeleton>(w.hand(0));
  moves.skeleton.hash.clear();  // as loaded its root is not free
  moves.q = w.q(0), moves.X_WH = {};
  run->motion_.Add(std::move(moves));
  for (const artefact::StageThing& thing : s.stage.things) run->motion_.Add(thing);
  run->motion_.stage.gravity_W = s.stage.gravity_W;
  run->motion_.objects.front().X_WP.clear();
  run->Frame();
  return run;
}

Status GraspRun::Press(std::string_view what, double value) {
  const auto command = CommandOf(what);
  if (!command && !HasValue(what)) {
    return Error{ErrorCode::kInvalid, "'" + std::string(what) + "' is nothing a grasp can be told" +
                                          DidYouMean(what, Words())};
  }
  if (!std::isfinite(value))
    return Error{ErrorCode::kInvalid, std::string(what) + " must be finite"};
  if (command) {
    machine_.Command(*command);
  } else if (what == "alpha") {
    alpha_ = value;
  } else {
    moved_m_[AxisOf(what)] += value;
  }
  keys_.push_back({step_, std::string(what), value});
  return {};
}

Status GraspRun::Step() {
  HANDHOLD_TRY(failed_);
  while (next_key_ < options_.keys.size() && options_.keys[next_key_].step <= step_) {
    const GraspKey& key = options_.keys[next_key_++];
    HANDHOLD_TRY(Press(key.what, key.value));
  }
  const auto act = [&]() -> Status {
    const double h = options_.step_s;
    follow_m_per_s_ +=
        h * kFollow_per_s * (kFollow_per_s * (moved_m_ - followed_m_) - 2.0 * follow_m_per_s_);
    followed_m_ += h * follow_m_per_s_;
    RigidTransform X_WPalm = steered_ ? *steered_ : path_.At(time_s() + h);
    X_WPalm.p += followed_m_;
    HANDHOLD_TRY(world_->MovePalm(0, X_WPalm, h));
    HANDHOLD_ASSIGN(const double gap, world_->PalmGap(0, 0));
    distance_m_ = gap - gap_of_grip_m_ - kArrived_m;
    if (machine_.Advance(distance_m_) == GraspState::kGripping && !gripped_s_)
      gripped_s_ = time_s();
    if (held_ && gripped_s_ && time_s() - *gripped_s_ >= closing_s_) {
      held_ = false;
      let_go_s_ = time_s();
      HANDHOLD_TRY(world_->HoldProp(0, false));
    }
    HANDHOLD_TRY(controller_->Apply(machine_.blend(alpha_)));
    return world_->Step(h);
  };
  failed_ = act();
  if (!failed_) {
    motion_.verdict.kind = artefact::Verdict::Kind::kLost;
    motion_.verdict.cause = failed_.error().message;
    motion_.verdict.when = motion_.times.back();
    return failed_;
  }
  ++step_;
  if (step_ % frame_every_ == 0) Frame();
  return {};
}

// The state after the last step, and the contacts that acted in it.
void GraspRun::Frame() {
  const auto now = Timestamp::FromNanoseconds(std::llround(time_s() * 1e9));
  const int frame = static_cast<int>(motion_.times.size());
  motion_.times.push_back(now);
  q_.push_back(world_->q(0));
  motion_.objects.front().X_WP.push_back(world_->X_WP(0));
  const double grip = AddContactRows(*world_, frame, now, &motion_);
  Phase(now);
  series_.push_back({static_cast<double>(machine_.state()), alpha_, distance_m_, grip});
}

void GraspRun::Phase(Timestamp now) {
  const std::string name = PhaseOf(machine_.state());
  std::vector<artefact::Phase>& phases = motion_.phases;
  if (!phases.empty()) phases.back().range.end = now;
  if (phases.empty() || phases.back().name != name) phases.push_back({name, {now, now}});
}

Motion GraspRun::TakeMotion() {
  const auto frames = static_cast<Eigen::Index>(motion_.times.size());
  Eigen::MatrixXd& q = motion_.hands.front().q;
  q.resize(world_->hand(0).nq(), frames);
  static constexpr std::array<std::pair<const char*, const char*>, 4> kSeries = {
      {{"state", ""}, {"alpha", ""}, {"distance", "m"}, {"grip", "N"}}};
  motion_.series.clear();
  for (const auto& [name, unit] : kSeries)
    motion_.series.push_back({name, unit, Eigen::VectorXd(frames)});
  for (Eigen::Index i = 0; i < frames; ++i) {
    q.col(i) = q_[static_cast<size_t>(i)];
    for (size_t k = 0; k < kSeries.size(); ++k)
      motion_.series[k].values[i] = series_[static_cast<size_t>(i)][k];
  }
  return motion_;
}

}  // namespace handhold::synthesis
