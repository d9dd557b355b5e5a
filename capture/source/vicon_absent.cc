#include "capture/source/vicon_source.h"

namespace handhold::capture {

// By value as vicon_source.h says, which keeps them.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Result<std::unique_ptr<Source>> MakeViconSource(ViconSourceOptions options) {
  return Error{ErrorCode::kUnsupported,
               "device '" + options.name +
                   "': this program was built without the Vicon DataStream SDK; run tools/setup "
                   "and configure with -DHANDHOLD_VICON=ON"};
}

std::string ViconSdkVersion() { return ""; }

}  // namespace handhold::capture
