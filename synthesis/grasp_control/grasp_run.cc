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

model::Prop Table(double friction) {
  model::Prop table;
  table.name = "table";
  table.friction = friction;
  table.source = "Ours: a fixed table of 1 x 1 m; T is the middle of its top, z up.";
  table.shapes.push_back({"top", RigidTransform::Translation(Vec3(0, 0, -0.02)),
                          geometry::Box{Vec3(1, 1, 0.04)}, "ours"});
  return table;
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
  HANDHOLD_ASSIGN(run->world_, HandWorld::Create(
                                   {.stepper = options.quick ? Stepper::kQuick : Stepper::kExact}));
  HandWorld& w = *run->world_;
  HANDHOLD_ASSIGN([[maybe_unused]] const int hand, w.AddHand(s.hand));
  HANDHOLD_ASSIGN(
      [[maybe_unused]] const int prop,
      w.AddProp(s.prop, s.X_WP, {.mass_kg = options.mass_kg, .friction = options.friction}));
  if (options.table) {
    const Vec3 p(s.X_WP.p.x(), s.X_WP.p.y(), model::LowestAlong(s.prop, s.X_WP, Vec3::UnitZ()));
    HANDHOLD_ASSIGN(
        [[maybe_unused]] const int table,
        w.AddProp(Table(s.prop.friction), RigidTransform::Translation(p), {.fixed = true}));
  }
  w.SetGravity({.g_W = options.gravity_W, .on_hands = options.gravity_on_hand});
  HANDHOLD_ASSIGN(run->controller_,
                  GraspController::Create(&w, 0, s.hand, s.setpoints, options.controller));
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
              Between(s.hand, s.setpoints.q_neutral, s.setpoints.setpoints[kOpen].q, 0.5))));
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

  Motion& motion = run->motion_;
  run->hand_name_ = s.hand.draft().side == "left" ? "L" : "R";
  run->prop_name_ = s.prop.name;
  motion.hands.push_back({.name = run->hand_name_,
                          .skeleton_hash = "",
                          .dof_names = w.hand(0).dof_names(),
                          .assumed_dofs = {},
                          .q = {}});
  if (options.table) {
    motion.objects.push_back(
        {.name = "table", .prop = "table", .prop_hash = "", .X_WP = {w.X_WP(1)}});
  }
  motion.objects.push_back({.name = s.prop.name, .prop = s.prop.name, .prop_hash = "", .X_WP = {}});
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
  motion_.objects.back().X_WP.push_back(world_->X_WP(0));
  ContactNames names{hand_name_, {prop_name_, "table"}, ""};
  if (options_.table) names.ground = "table";
  const double grip = AddContactRows(*world_, names, frame, now, &motion_);
  series_.push_back({static_cast<double>(machine_.state()), alpha_, distance_m_, grip});
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
