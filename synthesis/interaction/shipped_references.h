/// The scripted references that ship, as programs: what schemas/references/*.json were made by.
///
/// Pinned by tests/synthesis/interaction/shipped_references_test.cc, which makes them again.
#pragma once

#include <string>
#include <vector>

#include "database/artefact/reference_file.h"
#include "database/base/result.h"

namespace handhold::synthesis {

/// "gaiting_light_bulb", "pinch_box_3x5x7", ...
std::vector<std::string> ShippedReferenceNames();
/// kNotFound for another name; else what the programs (scripted_reference.h, gaiting_reference.h)
/// answer, for hand27 and a prop of ours.
Result<artefact::ReferenceFile> MakeShippedReference(const std::string& name);

}  // namespace handhold::synthesis
