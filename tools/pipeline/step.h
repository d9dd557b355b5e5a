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
#include "database/step/given.h"
#include "database/store/library.h"
#include "database/text/json.h"

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
  /// What people should know while a step works (a take that lacks something).
  std::function<void(const std::string&)> tell = {};
};

/// One artefact of a result.
struct StepOutput {
  std::string role;  ///< "grasp"; empty: the result is this one alone
  std::string kind;
  int64_t rank = 1;  ///< among those of its role
  std::string hash;
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
  std::string cut_short = {};  ///< why the result is not the whole one; empty: it is
  std::vector<StepOutput> outputs = {};
  text::Json report = {};  ///< of several outputs: what else was said of them
};

using step::kMeshMetresPerUnit;

/// Reports and answers whether to go on; kCancelled when the caller says stop.
Status Report(const StepContext& context, double fraction, std::string_view what);

}  // namespace handhold::pipeline
