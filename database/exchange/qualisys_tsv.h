/// Reads the TSV that Qualisys Track Manager exports of labelled 3D trajectories.
///
/// Header rows of a key and values, then rows of x y z per marker in mm, with or without the
/// columns Frame and Time. Markers become "qtm/markers" (x y z, metres); a marker is missing where
/// its cells are empty, "nan", or all three 0 (as older versions write). Header keys are kept as
/// properties.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "database/exchange/import_source.h"

namespace handhold::exchange {

/// True when `beginning` (the first few hundred bytes) looks like such a file.
bool IsQualisysTsv(std::string_view beginning);

/// Fails with kNotFound or kIo, or kCorrupt and kUnsupported (6D, analog and force exports) naming
/// the line. Memory: 16 MB at most.
Result<std::unique_ptr<ImportSource>> OpenQualisysTsv(const std::string& path);
/// `bytes` must outlive the source.
Result<std::unique_ptr<ImportSource>> OpenQualisysTsv(std::span<const uint8_t> bytes,
                                                      const std::string& name);

}  // namespace handhold::exchange
