/// Whole text files: read with a size limit, written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "database/base/result.h"

namespace handhold::text {

/// The file's bytes. kNotFound when it does not exist; kIo with the system's reason; kInvalid when
/// longer than `max_bytes` (at most that much is read, so that a device or an endless pipe cannot
/// fill memory).
Result<std::string> ReadTextFile(const std::filesystem::path& path,
                                 size_t max_bytes = size_t{32} << 20);

/// Replaces the file whole or not at all: a temporary file in the same folder, fsync, rename, fsync
/// of the folder. On failure the old file is untouched and the temporary one removed.
Status WriteTextFile(const std::filesystem::path& path, std::string_view text);

}  // namespace handhold::text
