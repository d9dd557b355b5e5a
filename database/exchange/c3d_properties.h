/// What a C3D file's parameters say beside the samples, without what names a person.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "database/exchange/c3d_contents.h"
#include "database/recording/clip.h"

namespace handhold::exchange {

/// Name from the file's, which program made it, what it was encoded as. What C3dDocuments leaves
/// out is listed, an issue for each group.
recording::ClipInfo C3dClipInfo(const C3dParameters& parameters, const C3dContents& contents,
                                const std::string& path, Issues& issues);

inline constexpr const char* kC3dParametersDocument = "c3d/parameters.json";

/// kC3dParametersDocument: {"GROUP": {"PARAMETER": {"type", "dimensions", "values"}}}, all of them
/// but those that may tell who it was (SUBJECT, PATIENT, OPERATOR and the like in a group's or a
/// parameter's name).
std::map<std::string, std::vector<uint8_t>> C3dDocuments(const C3dParameters& parameters);

/// Corners of the platforms that such a document speaks of, m, by the stream that a platform
/// becomes
/// ("c3d/plate1"). None where it does not say, nor in which unit.
std::map<std::string, std::array<geometry::Vec3, 4>> C3dCorners(std::span<const uint8_t> document);

}  // namespace handhold::exchange
