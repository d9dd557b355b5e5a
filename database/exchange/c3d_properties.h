/// What a C3D file's parameters say beside the samples, without what names a person.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "database/exchange/c3d_contents.h"
#include "database/recording/clip.h"

namespace handhold::exchange {

/// Name from the file's, who made the file, what it was encoded as. Names of subjects are left out,
/// with an issue.
recording::ClipInfo C3dClipInfo(const C3dParameters& parameters, const C3dContents& contents,
                                const std::string& path, Issues& issues);

/// "c3d/parameters.json": {"GROUP": {"PARAMETER": {"type", "dimensions", "values"}}}, all of them
/// but those that may name a person (SUBJECT, PATIENT in a group's or parameter's name).
std::map<std::string, std::vector<uint8_t>> C3dDocuments(const C3dParameters& parameters);

}  // namespace handhold::exchange
