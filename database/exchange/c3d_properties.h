/// What a C3D file's parameters say beside the samples, without what names a person.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "database/exchange/c3d_contents.h"
#include "database/recording/clip.h"

namespace handhold::exchange {

/// Name from the file's, which program made it, what it was encoded as. What C3dDocuments leaves
/// out is listed, an issue for each group.
recording::ClipInfo C3dClipInfo(const C3dParameters& parameters, const C3dContents& contents,
                                const std::string& path, Issues& issues);

/// "c3d/parameters.json": {"GROUP": {"PARAMETER": {"type", "dimensions", "values"}}}, all of them
/// but those that may tell who it was (SUBJECT, PATIENT, OPERATOR and the like in a group's or a
/// parameter's name).
std::map<std::string, std::vector<uint8_t>> C3dDocuments(const C3dParameters& parameters);

}  // namespace handhold::exchange
