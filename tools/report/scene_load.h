/// Finds in a library what is to be played: a clip with its newest results, or results by hash.
///
/// Nothing is fitted here. What is not there is left out; a result that is there and cannot be read
/// is an error, unless the caller would rather see the rest. Tests:
/// tests/tools/report/scene_load_test.cc.
#pragma once

#include <string>
#include <vector>

#include "tools/pipeline/step.h"
#include "tools/report/scene_fill.h"

namespace handhold::report {

/// What to do about a result of a clip that is there and cannot be read.
enum class Unreadable {
  kRefuse,   ///< the whole scene is refused
  kLeaveOut  ///< the scene is shown without it, and `left_out` says so
};

struct LoadedScene {
  Scene scene;
  std::vector<std::string> chosen;    ///< what was picked where nothing was said, for stderr
  std::vector<std::string> left_out;  ///< what cannot be read and why, a line each
};

/// Each of `keys` is a clip (id, the beginning of one, or name) or an artefact (hash, or the
/// beginning of one): a pose track, a contact track, a motion, a skeleton, a prop. A clip brings
/// its newest pose track, the contacts that were made from it, and its newest motion, unless
/// another key names a motion that was made from it; nothing is shown twice. The first key is drawn
/// solid, motions of the others are its ghosts, or stand beside it. Motions of one name are told
/// apart by their hashes. kNotFound names what is no clip and no artefact; kUnsupported a kind that
/// nothing moves in.
Result<LoadedScene> LoadScene(const pipeline::StepContext& context,
                              const std::vector<std::string>& keys, const SceneLimits& limits = {},
                              Unreadable unreadable = Unreadable::kRefuse);

}  // namespace handhold::report
