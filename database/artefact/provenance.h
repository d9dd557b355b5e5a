/// Where a derived thing came from: the step that made it, its version, its inputs and parameters.
#pragma once

#include <string>
#include <vector>

#include "database/base/time.h"

namespace handhold::artefact {

/// One thing a step read: a clip, a prop file, a skeleton, another artefact.
struct ProvenanceInput {
  std::string role;  ///< "clip", "skeleton", "pose"
  std::string hash;  ///< SHA-256, hex, of the thing's content
  std::string name;  ///< for people
  bool operator==(const ProvenanceInput&) const = default;
};

/// The identity of an artefact is the hash of step, version, inputs and parameters: the same four
/// are the same result, recognised and not computed twice. `made_utc` and `tool` are told, not
/// hashed.
struct Provenance {
  std::string step;  ///< "fit.pose"
  int version = 0;   ///< integer in the step's header, raised with each [numbers] line of the
                     ///< CHANGELOG
  std::vector<ProvenanceInput> inputs;
  std::string parameters_json;  ///< canonical JSON of every option, defaults included
  Timestamp made_utc;
  std::string tool;  ///< program and version
  bool operator==(const Provenance&) const = default;
};

}  // namespace handhold::artefact
