/// Files of schemas/ that the program carries with it, so that a recording never depends on where
/// it was installed. Private to capture/session.
#pragma once

#include <string_view>

namespace handhold::capture::texts {

extern const std::string_view kRigSchema;  ///< schemas/exchange/rig.schema.json
extern const std::string_view kDemoRig;    ///< schemas/rigs/demo.toml
extern const std::string_view kLabRig;     ///< schemas/rigs/lab.toml

}  // namespace handhold::capture::texts
