/// Which thing of a take somebody means by a word, and where it stood. Pinned by
/// tests/database/recording/meant_prop_test.cc.
#pragma once

#include <optional>
#include <string>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/recording/thing.h"

namespace handhold::recording {

/// The prop that is meant by `key`, its name, then its model; an empty one means the take's only
/// prop. Null: none of the take's. kInvalid names them where there are several.
Result<const Thing*> MeantProp(const ClipInfo& info, const std::string& key);

struct StandingProp {
  std::string thing;  ///< of the take; else `prop`
  geometry::RigidTransform X_WP;
  std::string chosen;  ///< a sentence, where its pose is that of another thing
};
/// Where `key` stood (as MeantProp; another model of what stood there, a scan say, where it is none
/// of the take's), or `X_WP` where that is given. `prop`: the name of the prop that was found.
/// kInvalid: the take does not say it.
Result<StandingProp> WhereItStood(const ClipInfo& info, const std::string& key,
                                  const std::string& prop,
                                  const std::optional<geometry::RigidTransform>& X_WP);

}  // namespace handhold::recording
