/// One step of the chain: load -> call -> save with provenance. Every verb, the demo and the tests
/// call steps.
///
/// A step names its inputs by hash, asks the library whether the same step on the same inputs with
/// the same parameters has been computed already, and only then computes. Progress goes to a
/// callback; nothing here prints. Each step is a struct of what the caller chooses, with defaults
/// for the rest, and one Run. Pinned by tests/tools/pipeline.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "database/artefact/provenance.h"
#include "database/base/result.h"
#include "database/store/library.h"

namespace handhold::pipeline {

/// Told now and then, from the calling thread; returning false cancels the step (kCancelled), and
/// nothing is saved.
using Progress = std::function<bool(double fraction, std::string_view what)>;

/// What a step runs in. The library must outlive the call; one thread.
struct StepContext {
  store::Library& library;
  Progress progress = {};
  std::string tool = "handhold";  ///< program and version, told in the provenance, never hashed
  bool dry_run = false;  ///< finds and checks every input and says what would be made; computes and
                         ///< saves nothing
};

/// What a step answers. With dry_run `hash` is the name the result would get.
struct StepResult {
  std::string hash = {};
  bool reused = false;  ///< the same inputs, parameters and version had been computed before; it
                        ///< is the newest of its kind from now on
  artefact::Provenance provenance = {};  ///< of a reused result: as it was made then
  /// What was chosen for the caller where nothing was said, one sentence each: "skeleton 1f0c2a9b
  /// (newest fitted for subject S03)". For stderr.
  std::vector<std::string> chosen = {};
};

/// Of a mesh file for which nothing is said: most are in millimetres. One rule for all steps.
inline constexpr double kMeshMetresPerUnit = 0.001;

/// Reports and answers whether to go on; kCancelled when the caller says stop.
Status Report(const StepContext& context, double fraction, std::string_view what);

}  // namespace handhold::pipeline
