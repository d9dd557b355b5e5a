/// One step of the chain: load -> call -> save with provenance. Every verb, the demo and the tests
/// call steps.
///
/// A step names its inputs by hash, asks the library whether the same step on the same inputs with
/// the same parameters has been computed already, and only then computes. Progress goes to a
/// callback; nothing here prints.
#pragma once

#include <functional>
#include <string>

#include "database/artefact/provenance.h"
#include "database/base/result.h"

namespace handhold::pipeline {

/// Told now and then, from the calling thread; returning false cancels the step (kCancelled).
using Progress = std::function<bool(double fraction, std::string_view what)>;

/// What a step answers: the artefact's hash, whether it was already there, and its provenance.
struct StepResult {
  std::string hash;
  bool reused = false;
  artefact::Provenance provenance;
};

}  // namespace handhold::pipeline
