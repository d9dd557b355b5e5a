/// What a step was told, as parameters of its provenance. Internal to the pipeline.
#pragma once

#include <string>

#include "database/artefact/describe.h"
#include "database/base/result.h"
#include "database/text/json.h"

namespace handhold::pipeline {

/// Options as parameters, canonical: every one of them, defaults included. An option that is not
/// finite is the caller's mistake and is named.
Result<std::string> Parameters(const text::Json& json);

}  // namespace handhold::pipeline
