/// The parts of a C3D file's parameters that name things: points, channels, force platforms,
/// events. Steps of DecideC3dContents (c3d_contents.h), which see the parts decided before them.
#pragma once

#include "database/exchange/c3d_contents.h"

namespace handhold::exchange {

/// `count` labels, none empty, none twice: repeated ones get "#2", "#3", missing ones are numbered
/// after `letter`, and never take a name that the file itself gives. What was changed is an issue
/// at `where`.
std::vector<std::string> UniqueLabels(std::vector<std::string> labels, int count,
                                      std::string_view letter, const std::string& where,
                                      Issues& issues);

void NameC3dPoints(const C3dParameters& parameters, int count, C3dContents& contents,
                   Issues& issues);
void NameC3dChannels(const C3dParameters& parameters, int count, C3dContents& contents,
                     Issues& issues);
/// Needs channels and unit.
void ReadC3dPlatforms(const C3dParameters& parameters, C3dContents& contents, Issues& issues);
/// Of the EVENT group, else of the header. Times of the group count from frame 1 of the recording,
/// those of the header from the file's first frame.
void ReadC3dEvents(const C3dParameters& parameters, std::span<const uint8_t> header,
                   C3dContents& contents, Issues& issues);

}  // namespace handhold::exchange
