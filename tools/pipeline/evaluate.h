/// What grasps and motions are worth, by the published protocols and one verdict
/// (synthesis/evaluate). Reads a library, changes nothing in it but for keeping a grasp of ours
/// that is named. Pinned by tests/tools/pipeline/evaluate_test.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "synthesis/evaluate/grasp_metrics.h"
#include "synthesis/evaluate/verdict.h"
#include "synthesis/regrasp/hand_trial.h"
#include "tools/pipeline/find_grasp.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// One test or verdict.
struct Evaluated {
  std::string what;      ///< as it was asked for
  std::string protocol;  ///< "P1", "lift", "static", "verdict"
  std::string engine;    ///< of a test; empty: none
  std::string outcome;   ///< "passed", "failed"; of a verdict its name; of figures "measured"
  std::string cause;     ///< of a failure, or the verdict's
  std::map<std::string, double> figures;  ///< with units
};

struct EvaluateStep {
  std::string what = {};  ///< a grasp or motion, as FindExample
  double mass_kg = 0.1, friction = 0.6;
  bool p1 = true, lift = true;
  bool quick = false;  ///< P1 in the quick stepper
  synthesis::HandTrialOptions trial = {};
  synthesis::VerdictOptions judge = {};  ///< of a motion that says no verdict of its own

  /// A grasp: "static", "P1", "lift". A motion: "verdict" with its figures, over its last 40 %
  /// where nothing is said of a hold, and then the grasp that it shows, if it shows one.
  Result<std::vector<Evaluated>> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline
