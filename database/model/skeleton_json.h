/// Skeletons as JSON files: the form of schemas/exchange/skeleton.schema.json (and its README.md),
/// read and written.
#pragma once

#include <filesystem>
#include <string>

#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "database/text/json.h"

namespace handhold::model {

/// What was read, still open to editing. Errors read "FILE:LINE: /bodies/3/joint: ...", with the
/// nearest valid name for a mistyped key or body. `folder` is where relative mesh files are looked
/// for.
Result<SkeletonDraft> SkeletonDraftFromJson(const text::Json& json, const std::string& source,
                                            const std::filesystem::path& folder = {});

/// Reads, checks and builds.
Result<Skeleton> LoadSkeleton(const std::filesystem::path& path);

/// Everything that a Skeleton holds. Loading what was written gives the same skeleton to the last
/// bit (skeleton_json_test.cc); shorthands of the file it once came from (degrees, capsules by
/// their ends, masses from shapes) are written out in SI.
text::Json SkeletonToJson(const Skeleton& skeleton);

/// Writes the file whole or not at all.
Status SaveSkeleton(const Skeleton& skeleton, const std::filesystem::path& path);

}  // namespace handhold::model
