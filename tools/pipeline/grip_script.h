/// A trajectory that is played, scripted or captured, with what it was made for. Internal to the
/// pipeline's syntheses.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/interaction_trajectory.h"
#include "database/text/json.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

struct Script {
  FoundSkeleton skeleton;
  std::string hash = {};
  artefact::InteractionTrajectory trajectory = {};
  std::string prop_hash = {};          ///< empty: made for none
  std::optional<FoundProp> prop = {};  ///< of one that ships: a dry run keeps none to load
  std::optional<geometry::RigidTransform> X_WProp = {};
  std::optional<TimeRange> hold = {};
  bool captured = false;
};

/// Whether a trajectory of this provenance was scripted and not captured.
bool IsScripted(const artefact::Provenance& provenance);

/// A reference of ours by name, an artefact, or a clip's newest trajectory.
Result<Script> FindScript(const StepContext& context, const std::string& key,
                          std::vector<std::string>* chosen);

/// What a script's provenance says besides its program: where its prop stands, and when it should
/// hang from the hand.
text::Json ScriptParameters(const text::Json& what, const geometry::RigidTransform& X_WProp,
                            const TimeRange& hold);

/// What a lender gives to joints that `borrower` does not know, rad/Nm (retarget.h).
struct Borrowed {
  artefact::ProvenanceInput lender;
  std::map<std::string, double> compliance_rad_per_Nm;  ///< by dof
};
/// `key`: a trajectory's artefact, a clip, or a query, whose first clip with a trajectory it is.
/// The borrower gets the values; each is told in `chosen`.
Result<Borrowed> Borrow(const StepContext& context, const std::string& key,
                        artefact::InteractionTrajectory* borrower,
                        std::vector<std::string>* chosen);

/// Lets the script borrow (`borrow` empty: from nobody), and gives what is still refused the
/// paper's values. A captured theta_r hangs on its compliances by eq. 1: it is made again; a
/// scripted one is what it is.
Status Complete(const StepContext& context, const std::string& borrow, Script* script,
                std::vector<artefact::ProvenanceInput>* inputs, std::vector<std::string>* chosen);

}  // namespace handhold::pipeline
