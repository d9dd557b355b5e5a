/// Which contact site of a hand a fit takes: by name, or the only one.
#pragma once

#include <string>

#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

/// The site `name` of the skeleton; empty: its only one. kNotFound names the near ones, kInvalid
/// the sites there are when several could be meant, or says that there is none. Pinned by
/// tests/fitting/signal/find_stream_test.cc.
Result<const model::ContactSite*> FindSite(const model::Skeleton& skeleton,
                                           const std::string& name);

}  // namespace handhold::fitting
