#include "synthesis/grasp_control/state_machine.h"

#include <algorithm>

#include "database/base/check.h"

namespace handhold::synthesis {

std::string_view GraspStateName(GraspState state) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "neutral",   "opening",          "closing",  "gripping",
      "releasing", "opening to leave", "relaxing", "neutral again"};
  return kNames[static_cast<size_t>(state)];
}

GraspState GraspStateMachine::Advance(double distance_m) {
  distance_m_ = distance_m;
  if (command_ != GraspCommand::kAutomatic) return state_;
  const double back = options_.hysteresis_m;
  for (;;) {
    GraspState next = state_;
    switch (state_) {
      case GraspState::kNeutral:
      case GraspState::kNeutralAgain:
        if (distance_m <= options_.begin_m) next = GraspState::kOpeningI;
        // Having left, the hand opens again only when it comes back.
        if (state_ == GraspState::kNeutralAgain && distance_m > options_.begin_m - back)
          next = state_;
        break;
      case GraspState::kOpeningI:
        if (distance_m <= options_.approach_m) next = GraspState::kClosing;
        if (distance_m > options_.begin_m + back) next = GraspState::kNeutral;
        break;
      case GraspState::kClosing:
        if (distance_m <= options_.near_m) next = GraspState::kGripping;
        if (distance_m > options_.approach_m + back) next = GraspState::kOpeningI;
        break;
      case GraspState::kGripping:
        // An object held moves with the palm: a wrist that leaves it has let go of it.
        if (distance_m > options_.approach_m + back) next = GraspState::kReleasing;
        break;
      case GraspState::kReleasing:
        if (distance_m > options_.near_m + back) next = GraspState::kOpeningII;
        break;
      case GraspState::kOpeningII:
        if (distance_m > options_.approach_m) next = GraspState::kRelaxing;
        break;
      case GraspState::kRelaxing:
        if (distance_m > options_.begin_m) next = GraspState::kNeutralAgain;
        break;
    }
    if (next == state_) return state_;
    state_ = next;
  }
}

void GraspStateMachine::Command(GraspCommand command) {
  command_ = command;
  switch (command) {
    case GraspCommand::kAutomatic:
      break;
    case GraspCommand::kNeutral:
      state_ = GraspState::kNeutral;
      break;
    case GraspCommand::kOpen:
      state_ = GraspState::kOpeningI;
      break;
    case GraspCommand::kClose:
      state_ = GraspState::kGripping;
      break;
    case GraspCommand::kRelease:
      state_ = GraspState::kReleasing;
      break;
  }
}

Blend GraspStateMachine::blend(double alpha) const {
  Blend b{};
  const auto share = [](double from, double to, double x) {
    return std::clamp((from - x) / (from - to), 0.0, 1.0);
  };
  const auto grip = [&] { b[kClose] = 1.0 + alpha, b[kOpen] = -alpha; };  // eqs. 15, 16
  switch (command_) {
    case GraspCommand::kAutomatic:
      break;
    case GraspCommand::kNeutral:
      b[kNeutral] = 1.0;
      return b;
    case GraspCommand::kOpen:
      b[kOpen] = 1.0;
      return b;
    case GraspCommand::kClose:
      grip();
      return b;
    case GraspCommand::kRelease:
      b[kRelease] = 1.0;
      return b;
  }
  const double far = share(options_.begin_m, options_.approach_m, distance_m_);
  const double close = share(options_.approach_m, options_.near_m, distance_m_);  // eq. 12
  switch (state_) {
    case GraspState::kNeutral:
      b[kNeutral] = 1.0;  // eq. 10
      break;
    case GraspState::kOpeningI:
      b[kOpen] = far, b[kNeutral] = 1.0 - far;
      break;
    case GraspState::kClosing:
      if (options_.open_while_closing) {
        b[kOpen] = 1.0;
      } else {
        b[kClose] = close, b[kOpen] = 1.0 - close;  // eq. 11
      }
      break;
    case GraspState::kGripping:
      grip();
      break;
    case GraspState::kReleasing:
      b[kRelease] = 1.0;
      break;
    case GraspState::kOpeningII:
      b[kRelease] = close, b[kRelax] = 1.0 - close;
      break;
    case GraspState::kRelaxing:
      b[kRelax] = far, b[kNeutralAgain] = 1.0 - far;
      break;
    case GraspState::kNeutralAgain:
      b[kNeutralAgain] = 1.0;
      break;
  }
  return b;
}

}  // namespace handhold::synthesis
